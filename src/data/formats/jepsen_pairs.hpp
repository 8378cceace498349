// Pairs: the operations of a whole file, each with its invocation and its completion, and the
// micro-operations that it comes to. jepsen_assemble.cpp makes them and builds the history of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/formats/interpretation.hpp"
#include "data/formats/jepsen_events.hpp"
#include "data/formats/op_interpreter.hpp"
#include "data/formats/op_kinds.hpp"
#include "data/history/history.hpp"

namespace cupel::formats::jepsen {

// An event of a chunk.
struct Ref {
  static constexpr std::uint32_t kNone = 0xffffffff;
  std::uint32_t chunk = kNone, event = 0;
  [[nodiscard]] bool valid() const { return chunk != kNone; }
};

struct PairedOp {
  Ref invoke, completion;
  std::uint32_t session = 0;
  history::TxnStatus status = history::TxnStatus::kCommitted;
  bool is_txn = false;       // else one operation on an object
  bool from_invoke = false;  // the operations are what was tried, not what was seen
  // Its operations: of an event's chunk, or of the extra one.
  std::uint32_t chunk = 0, first = 0, count = 0;

  [[nodiscard]] Ref anchor() const { return completion.valid() ? completion : invoke; }
  // Where it says what was tried: a completion may say nothing.
  [[nodiscard]] Ref tried() const { return invoke.valid() ? invoke : completion; }
};

struct Pairs {
  std::vector<Chunk> chunks;
  std::vector<std::uint64_t> first_ordinal;  // of each chunk's events
  std::vector<PairedOp> ops;                 // in the order of their completions
  std::uint32_t extra = 0;                   // the chunk of operations that no event has
  std::optional<ParseError> error;
  std::optional<std::uint64_t> unsaid;  // the first that may have written what its lines do not say

  [[nodiscard]] const Event& event(Ref ref) const { return chunks[ref.chunk].events[ref.event]; }
  [[nodiscard]] const Event& event(const PairedOp& op) const { return event(op.anchor()); }
  [[nodiscard]] std::uint64_t ordinal(Ref ref) const {
    return first_ordinal[ref.chunk] + ref.event;
  }
  // The values of an event that is not a transaction.
  [[nodiscard]] Cell value(Ref ref) const { return chunks[ref.chunk].values[event(ref).first]; }
  [[nodiscard]] Cell key(Ref ref) const { return chunks[ref.chunk].values[event(ref).first + 1]; }

  void note_unsaid(std::uint64_t byte) {
    if (!unsaid) unsaid = byte;
  }
  bool fail(std::uint64_t byte, std::string message) {
    error = ParseError{byte, std::move(message)};
    return false;
  }
  bool fail(const PairedOp& op, std::string message) {
    return fail(event(op).byte, std::move(message));
  }

  Chunk& extra_chunk() { return chunks[extra]; }
  void add_extra_chunk() {
    extra = static_cast<std::uint32_t>(chunks.size());
    chunks.emplace_back();
  }
  // Text of other chunks stays where it is; a vector becomes a literal.
  Cell scalar(const Chunk& chunk, Cell cell) {
    if (!cell.is_vector()) return cell;
    std::string text;
    canonical(chunk, cell, text);
    return Cell::of(Tag::kLiteral, extra_chunk().keep(text));
  }
  void extra_op(PairedOp& op, Micro kind, Cell key, Cell value, bool note = false) {
    op.chunk = extra;
    op.first = static_cast<std::uint32_t>(extra_chunk().ops.size());
    op.count = 1;
    key.note = static_cast<std::uint8_t>(kind);
    value.note = note ? 1 : 0;
    extra_chunk().ops.push_back({key, value});
  }
  void extra_cas(PairedOp& op, Cell key, Cell expected, Cell desired) {
    const auto first = extra_chunk().cells.size();
    extra_chunk().cells.push_back(expected);
    extra_chunk().cells.push_back(desired);
    extra_op(op, Micro::kCas, key, Cell::vector(Tag::kVector, first, 2));
  }
};

// Each operation on a register as a micro-operation; false after an error. `failed_cas_was_seen`:
// as Source says.
bool resolve_registers(Pairs& pairs, Reading& reading, Kinds& kinds, bool failed_cas_was_seen);
// Each operation on a store of strings, with put, append and get, as one on a register of whole
// strings; false after an error.
bool resolve_strings(Pairs& pairs, Reading& reading);
// Each acquire and release as a compare-and-set. Unless the user has said that it is a mutex, what
// looks like another lock is an error.
bool resolve_mutex(Pairs& pairs, Reading& reading, bool stated);

// The key of a mutex, and its value while somebody has it.
inline constexpr std::string_view kMutexKey = "mutex", kHeld = "held";
// What is wrong with the value of an acquire or a release.
Refusal mutex_value(const Chunk& chunk, const Event& event);
// What is wrong with one that has ended. `holds`: whether its process has the lock, as far as it
// says.
Refusal mutex_step(bool& holds, bool acquire, history::TxnStatus status);

}  // namespace cupel::formats::jepsen
