// Op stream: operation maps as they come, one a line in JSON or EDN, as the transactions of
// sessions. It keeps the rules that need no later line; a source that needs the whole file is
// refused with the reason.
//
// Whoever reads on without a History takes it from here: a watch (online/stream) and the
// transaction stream of a check in windows and of `cupel verify` (transaction_stream).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "formats/interpretation.hpp"
#include "formats/jepsen_events.hpp"
#include "formats/op_interpreter.hpp"
#include "history/operations.hpp"
#include "history/state.hpp"
#include "history/streamed.hpp"

namespace cupel::formats {

class OpStream {
 public:
  // The uses of a key, as bits.
  static constexpr std::uint8_t kRegister = 1, kList = 2;

  // Takes what the source says, in its order.
  class Sink {
   public:
    virtual history::Key key_of(history::ScalarView name) = 0;
    virtual history::ScalarView name_of(history::Key key) = 0;
    // Adds a use; all uses of the key so far.
    virtual std::uint8_t use(history::Key key, std::uint8_t as) = 0;
    virtual void set_default_initial(history::ScalarView value) = 0;
    virtual void set_initial(history::Key key, history::ScalarView value) = 0;
    // Whether an operation of another source has come, so that nothing here can precede all.
    [[nodiscard]] virtual bool has_begun() const = 0;
    // Operations that are initial contents ended at this time. The latest of all sources.
    virtual history::Time note_set_up(history::Time ended) = 0;
    // A session that has not been there before.
    virtual std::uint32_t session(const std::string& name) = 0;
    virtual void begin(std::uint32_t session, history::Moment at,
                       const history::Operations& tried) = 0;
    // `invoked` without a time: there was no begin(). The sink may take `seen` away.
    virtual void end(std::uint32_t session, history::TxnStatus status, history::Moment invoked,
                     history::Moment at, history::Operations& seen) = 0;

   protected:
    ~Sink() = default;
  };

  // `name`: of the source, for messages. The sink is borrowed.
  OpStream(Sink& sink, std::string name, Interpretation as)
      : sink_(sink), name_(std::move(name)), interpreter_(std::move(as)) {}

  // Whole lines, when those before them have been read; borrowed until then.
  void give(std::string_view lines);
  // Nothing more comes.
  base::Status finish();
  // Reads the next map. False: all lines that were given have been read. After an error, nothing
  // more.
  base::Result<bool> step();

  // At the map at hand.
  [[nodiscard]] base::Error error(std::string message) const;
  // What the source says of itself: of its header lines, and "kind", "ignored", "times".
  [[nodiscard]] std::string fact(const std::string& name) const;
  [[nodiscard]] const std::map<std::string, std::string>& facts() const { return facts_; }
  [[nodiscard]] std::uint64_t maps() const { return ordinal_; }
  [[nodiscard]] std::uint64_t lines() const { return lines_; }
  // Whether moments are those of a clock, or places of lines; none: nothing has come.
  [[nodiscard]] std::optional<bool> has_clock() const { return clock_; }
  [[nodiscard]] bool any_client() const { return found_; }

  // What a process has open.
  struct Process {
    std::optional<std::uint32_t> session;  // none: it has only set up
    std::string name;                      // until it has a session
    history::Moment invoked;
    history::Operations tried;
  };
  [[nodiscard]] bool is_open(std::uint32_t process) const { return interpreter_.is_open(process); }
  [[nodiscard]] std::size_t process_count() const { return processes_.size(); }
  [[nodiscard]] const Process& process(std::uint32_t number) const { return processes_[number]; }

  // When all lines that were given have been read.
  void save(history::StateWriter& out) const;
  // Into a new stream, whose sink has so many sessions and keys.
  void load(history::StateReader& in, std::size_t sessions, std::size_t keys);

 private:
  // An operation that sets up, before any other operation; kept back until that one comes.
  struct SetUp {
    std::uint32_t process = 0;
    std::optional<std::uint64_t> invoked_at = {}, ended_at = {};  // places in the source
    history::Moment invoked = {}, ended = {};
    history::TxnStatus status = history::TxnStatus::kIndeterminate;
    history::Operations seen = {};  // once it has ended
  };

  using Chunk = jepsen::Chunk;
  using Event = jepsen::Event;
  using Step = jepsen::Interpreter::Step;
  using Refusal = jepsen::Refusal;

  Refusal take(const Chunk& chunk, const Event& event);
  Refusal header(const Chunk& chunk);
  Refusal classify(const Chunk& chunk, const Event& event, bool txn);
  Refusal note_times(const Event& event);
  [[nodiscard]] history::Moment moment_of(const Event& event) const;
  Refusal invoke(const Chunk& chunk, const Event& event, const Step& step, Process& process);
  Refusal complete(const Chunk& chunk, const Event& event, const Step& step, Process& process);
  std::uint32_t session_of(Process& process);
  // The set-up is over. `others_begin`: when the first other operation was invoked, if there are
  // `others`.
  Refusal end_set_up(bool others, history::Time others_begin);
  Refusal take_content(const history::Operations& written);

  // `seen`: as the database answered; else as the client asked.
  Refusal operations(const Chunk& chunk, const Event& event, bool seen, history::Operations& out);
  Refusal operation(const Chunk& chunk, const jepsen::MicroOp& op, bool seen,
                    history::Operations& out);
  Refusal read(const Chunk& chunk, const jepsen::MicroOp& op, bool seen, history::Operations& out);
  Refusal range_read(const Chunk& chunk, const jepsen::MicroOp& op, bool seen,
                     history::Operations& out);
  Refusal single(const Chunk& chunk, const Event& event, bool seen, history::Operations& out);
  history::Key key_of(const Chunk& chunk, const jepsen::Cell& cell);
  history::Value value_of(const Chunk& chunk, const jepsen::Cell& cell, history::Operations& out);
  Refusal use(history::Key key, std::uint8_t as);
  void note_written(const jepsen::Cell& value);

  Sink& sink_;
  const std::string name_;
  jepsen::Interpreter interpreter_;
  std::string_view piece_;
  std::vector<Chunk> chunks_;  // of the piece
  std::size_t chunk_ = 0, event_ = 0;
  std::uint64_t byte_ = 0;                 // of the piece, where the map at hand is
  std::uint64_t lines_ = 0, ordinal_ = 0;  // before the piece; of the next map
  std::optional<bool> edn_;
  bool found_ = false;  // an operation of a client
  jepsen::Kinds kinds_;
  std::optional<bool> keyed_;  // registers: values are [key value]
  bool collection_written_ = false;
  bool starts_as_collection_ = false;  // every key
  std::optional<bool> clock_;
  std::uint64_t keys_ = 0;  // that there are
  std::deque<Process> processes_;
  std::map<std::string, std::string> facts_;
  bool setting_up_ = true;  // no other operation has come
  std::vector<SetUp> set_ups_;
  history::Operations seen_;
  std::string text_;
};

}  // namespace cupel::formats
