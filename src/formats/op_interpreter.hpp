// Op interpreter: operation maps one after the other, paired. The rules that hold from one map to
// the next are here, once for all readers (docs/formats/jepsen.md#interpretation):
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
#include <utility>
#include <vector>

#include "formats/interpretation.hpp"
#include "formats/jepsen_events.hpp"
#include "formats/op_pairing.hpp"
#include "history/scalar.hpp"
#include "history/state.hpp"

namespace cupel::formats::jepsen {

// Metadata of a history: what --ignore names and no op map has.
inline constexpr const char* kNotIgnored = "not ignored";

// A header line of cupel's own, as its chunk holds it.
struct Header {
  struct Initial {
    Cell of_all;
    std::vector<std::pair<Cell, Cell>> of_keys;  // each key once
  };
  std::vector<std::pair<std::string_view, std::string_view>> metadata;
  std::optional<std::vector<std::string_view>> sessions;
  std::optional<Initial> initial;
};

class Interpreter {
 public:
  explicit Interpreter(Interpretation as) : as_(std::move(as)) {}

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

  // After a step kHeader.
  [[nodiscard]] const Header& header() const { return header_; }
  [[nodiscard]] const Interpretation& as() const { return as_; }
  [[nodiscard]] std::size_t process_count() const { return open_.size(); }
  [[nodiscard]] bool is_open(std::uint32_t process) const { return open_[process].open; }
  [[nodiscard]] bool all_invoked() const { return all_invoked_; }  // what was completed
  [[nodiscard]] bool any_anonymous() const { return anonymous_; }  // an operation without a process
  [[nodiscard]] bool any_time() const { return timed_; }
  // The op maps that --ignore left out, a line "COUNT F" for each f.
  [[nodiscard]] std::string ignored() const;
  // What --ignore names and no op map has, as a sentence with the words that there are. Empty:
  // nothing.
  [[nodiscard]] std::string missing() const;

  void save(history::StateWriter& out) const;
  // Into a new interpreter.
  void load(history::StateReader& in);

 private:
  Refusal read_header(const Chunk& chunk, const Event& event);

  const Interpretation as_;
  Header header_;
  history::ScalarTable processes_;
  std::vector<OpenOperation> open_;  // by process
  std::map<std::string, std::uint64_t> ignored_;
  std::set<std::string> words_;  // of f, if --ignore names some
  bool all_invoked_ = true, anonymous_ = false, timed_ = false;
  std::string text_;
};

// The session of a process that has a name or a number.
std::string session_name(const Event& event);
// The label of the transaction that this event ends, or whose only event it is. `ordinal`: its
// place in the source.
std::uint32_t label_of(const Event& event, std::uint64_t ordinal);

// What the operations of a source are: found out or stated.
struct Kinds {
  Workload kind = Workload::kTransactions;
  bool keyed = false;                // the value of a single operation is [key value]
  bool compares = false;             // some register has a compare-and-set
  std::vector<std::string> objects;  // f of single operations beside transactions
  std::uint64_t set_ups = 0;         // operations that are the initial contents
};
// Said in text and JSON: "registers with compare-and-set, 3 keys". Empty: transactions only.
std::string words_of(const Kinds& kinds, std::uint64_t keys);

}  // namespace cupel::formats::jepsen
