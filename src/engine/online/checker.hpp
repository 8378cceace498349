// Checker: a watch and the record of what it watches, so that it can ask the record where the
// window cannot know.
//
// A violation counts once the recorded history as a whole has it; where the record says
// otherwise, something had been forgotten on a bet that was lost, and the window is built
// again from the record. So no bet can accuse anybody.
//
// Where the memory limit is met, the window is given up, and only the record is asked: at once,
// whenever it has grown by half, and at the end. The answer is unknown once the record's is.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/verdict.hpp"
#include "engine/online/chain.hpp"
#include "engine/online/watch.hpp"

namespace cupel::online {

class Checker {
 public:
  using State = base::Verdict;
  struct Question {
    // The window has proved a violation: whoever checks the record later may say so at once.
    bool certain = false;
    // It has proved one if no value was written twice to the same key.
    bool certain_if_unique = false;
    // More may come: the outcomes of unfinished transactions are open (data/history/going_on.hpp).
    bool going_on = false;
    // The window does not fit into memory: worth a check of the record in windows of its own
    // (file_check.hpp), if it does not fit as a whole.
    bool in_windows = false;
    // No longer than that; none: as long as the limits of whoever is asked allow.
    std::optional<double> seconds = {};
  };
  // What the recorded history says at the level: kUnknown where a limit was met.
  using Ask = std::function<base::Result<State>(Question)>;

  // `record`: the file that holds, from its beginning, all lines that are taken, when `ask` is
  // called.
  Checker(const WatchOptions& options, std::string name, std::string record, Ask ask);

  // Each window that is closed goes there. With the option `evidence`. Borrowed.
  void leave(Chain& chain) { chain_ = &chain; }

  // The record holds all that will come, though not all of it was taken.
  void expect_nothing_more() { nothing_more_comes_ = true; }

  base::Status take(std::string_view lines);
  // `idle`: nothing more can be read at the moment.
  base::Result<State> look_if_due(bool idle);
  // Nothing more is taken. `over`: nothing more comes either, so that what is going on counts as a
  // check of the record counts it.
  base::Result<State> finish(bool over = true);

  // After kViolated: goes on with what is independent of it. What was seen of these keys counts as
  // unknown from the beginning of the record on.
  base::Status go_on_without(const std::vector<history::ScalarView>& keys);
  // Of how many violations it has gone on, and without which keys.
  [[nodiscard]] std::size_t passed_over() const { return passed_over_; }
  [[nodiscard]] const history::ScalarTable& masked() const { return masked_; }

  // Whether everything that was taken has been looked at, so that a state can be saved.
  [[nodiscard]] bool can_save() const { return looked_at_ == taken_ && !only_record_; }
  void save(StateWriter& out) const;
  // Into a new Checker with the same options, for the same record. Errors: the state is of other
  // options, or is no state.
  base::Status load(StateReader& in);
  // After load(): the chain, as it was when the state was saved.
  base::Result<Chain> chain_again(const std::string& file) const {
    return Chain::go_on(file, {watch_->watched(), chain_windows_, chain_bytes_, chain_ended_});
  }
  // Whether the windows can still show that the history is satisfied: not once only the record can.
  [[nodiscard]] bool leaves_windows() const { return !slides_ && !only_record_; }
  // How many bytes of lines it has taken.
  [[nodiscard]] std::uint64_t taken() const { return taken_; }

  [[nodiscard]] const Watch& watch() const { return *watch_; }
  [[nodiscard]] std::size_t most_held() const { return most_held_; }
  // kViolated, and the record was too large to say so: the window has the violation.
  [[nodiscard]] bool from_window() const { return from_window_; }
  // The memory limit was met: so many transactions had been taken by then.
  [[nodiscard]] std::optional<std::uint64_t> only_record_after() const {
    return only_record_ ? std::optional(taken_before_) : std::nullopt;
  }
  // So many windows were given up, because they took longer than WatchOptions::window_seconds. The
  // history is satisfied then only if the recorded history is, as a whole.
  [[nodiscard]] std::uint64_t windows_given_up() const { return windows_given_up_; }
  // kUnknown: why.
  [[nodiscard]] const std::string& why() const { return why_; }
  // Sentences for the user, each once.
  std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }

 private:
  void make_watch();
  base::Result<State> look(bool ended = false);
  base::Result<State> end_chain(bool over);
  base::Result<State> ask_record(Question question);
  base::Result<State> ask(Question question);
  base::Result<State> go_on();
  base::Result<State> begin_to_slide();
  void note_given_up();
  base::Result<State> begin_to_ask(std::string why);
  base::Result<State> ask_instead(bool going_on);
  void start_again();
  base::Status feed_again();
  [[nodiscard]] bool is_full() const;
  State unknown(std::string why);

  const WatchOptions options_;
  const std::string name_, record_;
  const Ask ask_;
  Chain* chain_ = nullptr;
  std::unique_ptr<Watch> watch_;
  std::uint64_t taken_ = 0, looked_at_ = 0, asked_at_ = 0;
  std::uint64_t chain_windows_ = 0, chain_bytes_ = 0;
  bool chain_ended_ = false;
  std::uint64_t satisfied_at_ = 0;  // so many bytes of the record are, as a whole
  // The level that implies the one that is asked is violated, that one is not: the window slides.
  bool slides_ = false;
  // There is no window any more.
  bool only_record_ = false, nothing_more_comes_ = false;
  bool record_satisfied_ = false;   // since there is none, up to satisfied_at_
  std::uint64_t taken_before_ = 0;  // transactions
  std::uint64_t decided_ = 0;       // so many transactions are satisfied, from the beginning on
  std::string limit_;               // that was met
  bool from_window_ = false;
  std::optional<Finding> fed_finding_;  // while the record was fed again
  bool full_ = false;                   // the memory limit was met meanwhile
  int restarts_ = 0;
  std::size_t passed_over_ = 0;
  history::ScalarTable masked_;
  std::size_t most_held_ = 0;
  std::uint64_t windows_given_up_ = 0, transactions_given_up_ = 0;
  std::string why_;
  std::vector<std::string> notes_;
};

}  // namespace cupel::online
