// Op pairing: which completion belongs to which invocation, and which of the two counts. The rules
// are those of docs/reference/formats/jepsen.md#interpretation, for all readers of operation maps
// (op_interpreter.hpp).
//
// A completion repeats the operations of its invocation, with the results. If it writes something
// else, one of the two lines is wrong, and a verdict could rest on the wrong one: it is refused.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/formats/interpretation.hpp"
#include "data/formats/jepsen_events.hpp"
#include "data/history/operations.hpp"

namespace cupel::formats::jepsen {

// A message that says what is wrong and what to do.
using Refusal = std::optional<std::string>;

// A process between two events.
struct OpenOperation {
  bool open = false, has_invoked = false;
  bool is_txn = false;  // the open one
  F f = F::kAbsent;
  history::Time invoked = history::kNoTime;
  bool has_value = false;  // of an operation on an object
  std::string key = {};    // the field of this name, as canonical text; empty: none

  Refusal invoke(const Event& event);
  // `open` remains until the caller clears it.
  [[nodiscard]] Refusal complete(const Event& event) const;
  // Whether the completion is that of a transaction. It may say nothing of it but its end.
  [[nodiscard]] bool completes_txn(const Event& event) const {
    return event.is_txn || (open && is_txn);
  }
  // What is wrong with the field `key` of a completion on an object.
  [[nodiscard]] Refusal other_key(const Event& event, const Cell& value,
                                  const std::string& name) const;
};

// The kind of object to which operations with this f belong; none: to none of these.
std::optional<Workload> object_of(F f);

// Which operations count once a transaction has ended.
struct Agreement {
  bool completion_counts = true;
  Refusal refusal = {};
};
Agreement agreement(const Chunk& tried_in, const Event& invoke, const Chunk& done_in,
                    const Event& completion);
Agreement agreement(const history::Operations& tried, const history::Operations& done, Type type);

// Whether operations are named only once they are done: an ok says what its invocation does not.
// Then nobody knows what a write did whose outcome is unknown, if neither of its lines says.
class SaidAtTheEnd {
 public:
  // An operation at this place of its file; whether its lines say what it does.
  void note(history::TxnStatus status, bool invocation, bool completion, std::uint64_t place) {
    if (invocation) return;
    if (status == history::TxnStatus::kCommitted) said_later_ |= completion;
    if (status == history::TxnStatus::kIndeterminate && !completion && !unsaid_) unsaid_ = place;
  }
  // The place of the first operation that may have written anything.
  [[nodiscard]] std::optional<std::uint64_t> unknowable() const {
    return said_later_ ? unsaid_ : std::nullopt;
  }

 private:
  bool said_later_ = false;
  std::optional<std::uint64_t> unsaid_;
};
// For fmt::format with the label of the transaction that read.
inline constexpr const char* kMayHaveWritten =
    "the outcome of this operation is not known, nor all that it wrote, and T{} read what nobody "
    "else is known to have written: it may come from here. Record in each invocation what the "
    "client asked for";
inline constexpr const char* kUnsaidWrite =
    "the write has no value and its outcome is not known, and an \"ok\" elsewhere has a value that "
    "its invocation lacks: cupel cannot know what this one wrote. Record the value in each "
    "invocation";

// One operation on a register as a micro-operation, in the cells of its chunk. `pairs`: its value
// is [key value].
struct RegisterOperation {
  MicroOp op;
  Refusal refusal = {};
};
std::string no_pair(std::string_view shown);  // of a value in a file of pairs
RegisterOperation register_operation(const Chunk& chunk, const Event& event, bool pairs);
// What is wrong with an ok on a register, beside its invocation.
Refusal register_disagreement(const Chunk& tried_in, const MicroOp& tried, const Chunk& done_in,
                              const MicroOp& done);
// What a fail or an info on a register says beside its invocation. A value of another type is an
// error of the client; one of the same type is another operation.
struct Attempt {
  history::ScalarView key, value, other = {};  // `other`: desired, of a cas
};
Refusal other_attempt(const Event& event, bool keyed, const Attempt& tried, const Attempt& done);
// Of an operation on a register. `texts` hold what is borrowed.
Attempt attempt_of(const Chunk& chunk, const MicroOp& op, std::array<std::string, 3>& texts);
// The value that a read was invoked with, in canonical form; empty: none, as it should be.
std::string invoked_value(const Chunk& chunk, const MicroOp& read);
bool reads_another_value(const std::string& invoked, const Chunk& done_in, const MicroOp& done);
inline constexpr const char* kInvokedWithAValue =
    "the read was invoked with a value, and returned another one: not a read of a register. Invoke "
    "reads with null";
// Whether the value of a register operation is [key value]; none if it says nothing. A read of a
// register with keys is invoked with [key nil], so null belongs to a single register.
std::optional<bool> is_pair(const Chunk& chunk, const Event& event);
bool reads_without_key(const Chunk& chunk, const Event& event);
inline constexpr const char* kReadWithoutKey =
    "the read was invoked with null, but other values are pairs, as of registers with keys ([key "
    "value]). Invoke such reads with [key nil], or add --kind registers if this is one register "
    "whose values are pairs";

// A vector, a map or a set.
bool is_collection(const Cell& cell);
bool is_collection(history::ScalarView scalar);
// Single values are written, and a read returned a collection. `kind` is the one to state if the
// database may do that.
std::string collection_read(std::string_view shown, Workload kind);
// The same of a row of a range read; of a row of a list to which somebody appended.
std::string collection_row(std::string_view key, std::string_view shown, Workload kind);
std::string listed_in_range(std::string_view key);
// The key, as the file has it.
std::string used_as_both(std::string_view key);
inline constexpr const char* kRangeWithoutResult =
    "found a range read without what it saw, expected [[key value] …]";
// Operations beside transactions of which nobody knows what they wrote: each f, and how many op
// maps have it.
std::string left_out(const std::vector<std::pair<std::string, std::uint64_t>>& words);

}  // namespace cupel::formats::jepsen
