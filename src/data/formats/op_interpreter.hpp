// Op interpreter: operation maps one after the other, paired. The rules that hold from one map to
// the next are here, once for all readers (docs/reference/formats/jepsen.md#interpretation):
//
//   bytes → events (jepsen_json, jepsen_edn) → Interpreter → { jepsen_assemble: a History
//                                                            | op_stream: a watch, a transaction
//                                                            stream }
//
// `--kind` and `--ignore` reach it as an Interpretation.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "data/formats/interpretation.hpp"
#include "data/formats/jepsen_events.hpp"
#include "data/formats/op_pairing.hpp"
#include "data/history/facts.hpp"
#include "data/history/scalar.hpp"
#include "data/history/state.hpp"

namespace cupel::formats::jepsen {

using history::kNotIgnored;

class Interpreter {
 public:
  explicit Interpreter(Interpretation as) : as_(std::move(as)) {}

  // Header lines are for op_header.hpp.
  enum class What : std::uint8_t { kNothing, kHeader, kInvocation, kCompletion };
  struct Step {
    What what = What::kNothing;
    std::uint32_t process = 0;  // numbered from 0 in the order in which they appear
    bool invoked = false;       // a completion has an invocation
    bool is_txn = false;        // of a transaction
    bool sets_up = false;       // init or setup, and nothing but writes
    history::TxnStatus status = history::TxnStatus::kIndeterminate;
  };
  // The next event of the source.
  Refusal take(const Chunk& chunk, const Event& event, Step& step);

  [[nodiscard]] const Interpretation& as() const { return as_; }
  [[nodiscard]] std::size_t process_count() const { return open_.size(); }
  [[nodiscard]] bool is_open(std::uint32_t process) const { return open_[process].open; }
  [[nodiscard]] bool all_invoked() const { return all_invoked_; }  // what was completed
  [[nodiscard]] bool any_anonymous() const { return anonymous_; }  // an operation without a process
  [[nodiscard]] bool any_time() const { return timed_; }
  // Whether there is no op map of a client. A header belongs to a run with operations, unless it
  // says (`said`) that there were none.
  [[nodiscard]] bool nothing_happened(bool said) const { return !client_ && (said || !header_); }
  [[nodiscard]] bool any_nemesis() const { return nemesis_; }
  // The op maps that --ignore left out, a line "COUNT F" for each f.
  [[nodiscard]] std::string ignored() const;
  // What --ignore names and no op map has, as a sentence with the words that there are. Empty:
  // nothing.
  [[nodiscard]] std::string missing() const;

  // What --ignore names and no op map has, if another word of the source is spelled like it. Empty:
  // nothing.
  [[nodiscard]] std::string misspelling() const;
  // The same if --ignore left nothing out.
  [[nodiscard]] Refusal misspelled() const;

  void save(history::StateWriter& out) const;
  // Into a new interpreter.
  void load(history::StateReader& in);

 private:
  Refusal take_key(const Chunk& chunk, const Event& event, OpenOperation& open);
  // A new process whose session would be that of another one.
  [[nodiscard]] Refusal named_alike(const Cell& process) const;
  // An operation that begins with the first one's index: another history begins.
  Refusal begins_anew(const Event& event);

  const Interpretation as_;
  history::ScalarTable processes_;
  std::vector<OpenOperation> open_;  // by process
  std::map<std::string, std::uint64_t> ignored_;
  std::set<std::string> words_;  // of f, if --ignore names some
  bool all_invoked_ = true, anonymous_ = false, timed_ = false;
  bool client_ = false, nemesis_ = false, header_ = false;  // whose op maps came
  std::optional<bool> keyed_;      // registers and mutexes have the field key
  std::string lock_;               // the key of the mutex; empty: none
  std::int64_t first_index_ = -1;  // of a client; -1: none has one
  std::string text_;
};

// The session of a process that has a name or a number.
std::string session_name(const Event& event);
// The label of the transaction that this event ends, or whose only event it is. `ordinal`: its
// place in the source.
std::uint32_t label_of(const Event& event, std::uint64_t ordinal);

}  // namespace cupel::formats::jepsen
