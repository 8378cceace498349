// The events of a Jepsen-like file between parsing and pairing: one Event an op
// map, its micro-operations in columns. JSON, EDN and Knossos logs all parse
// into Chunks; jepsen_assemble.cpp turns Chunks into a History.
//
// A chunk is parsed by one thread and touches nothing shared, so the pieces of
// a file are parsed in parallel and joined in file order.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "data/formats/input.hpp"
#include "data/formats/interpretation.hpp"
#include "data/history/history.hpp"
#include "data/history/scalar.hpp"

namespace cupel::history {
struct ObjectHistory;
}

namespace cupel::formats::jepsen {

enum class Tag : std::uint8_t {
  kAbsent,  // the field is not there
  kNull,
  kInteger,
  kString,
  kKeyword,
  kLiteral,   // true, 1.5, #inst "…": kept as canonical EDN
  kMap,       // kept as canonical EDN, like a literal
  kVector,    // cells[first, first + size)
  kIntegers,  // a vector of integers only: integers[first, first + size)
};

// A value in 16 bytes. Text is borrowed: from the file or from the chunk's arena.
struct Cell {
  union {
    std::int64_t integer = 0;
    const char* text;
    std::uint64_t first;
  };
  std::uint32_t size = 0;
  Tag tag = Tag::kAbsent;
  std::uint8_t note = 0;  // MicroOp's: the kind, on the key; "not seen", on the value

  static Cell of(std::int64_t value) {
    Cell cell;
    cell.integer = value;
    cell.tag = Tag::kInteger;
    return cell;
  }
  static Cell of(Tag tag, std::string_view text) {
    Cell cell;
    cell.text = text.data();
    cell.size = static_cast<std::uint32_t>(text.size());
    cell.tag = tag;
    return cell;
  }
  static Cell null() {
    Cell cell;
    cell.tag = Tag::kNull;
    return cell;
  }
  static Cell vector(Tag tag, std::uint64_t first, std::size_t size) {
    Cell cell;
    cell.first = first;
    cell.size = static_cast<std::uint32_t>(size);
    cell.tag = tag;
    return cell;
  }
  [[nodiscard]] bool is_vector() const { return tag == Tag::kVector || tag == Tag::kIntegers; }
  [[nodiscard]] bool is_nothing() const { return tag == Tag::kAbsent || tag == Tag::kNull; }
  [[nodiscard]] bool is_name() const { return tag == Tag::kString || tag == Tag::kKeyword; }
  [[nodiscard]] std::string_view view() const { return {text, size}; }
};

enum class Micro : std::uint8_t { kRead, kWrite, kAppend, kCas, kInsert, kDelete, kRange };

// [f k v]. A cas holds [old new] in value; a range [low high] in key and the
// pairs it saw in value. value.note: a read that is not known, a cas that failed.
struct MicroOp {
  Cell key, value;
  [[nodiscard]] Micro kind() const { return static_cast<Micro>(key.note); }
};

enum class Type : std::uint8_t { kInvoke, kOk, kFail, kInfo };
enum class F : std::uint8_t {
  kAbsent,
  kTxn,
  kRead,
  kWrite,
  kCas,
  kAcquire,
  kRelease,
  kPut,
  kAppend,
  kGet,
  kSetup,  // init, setup
  kInitial,
  kMetadata,
  kSessions,  // our own header lines, under the nemesis
  kOther,
};

// What is wrong with a header line of that kind that does not fit.
std::string malformed_header(F f);

struct Event {
  std::uint64_t byte = 0;  // where its map starts
  Cell process;
  std::int64_t time = history::kNoTime;
  std::int64_t index = -1;
  // A transaction's micro-operations; otherwise value and :key are
  // values[first], values[first + 1].
  std::uint32_t first = 0, count = 0;
  std::uint32_t name = 0;  // of f, when kOther: names[name]
  Type type = Type::kInvoke;
  F f = F::kAbsent;
  bool client = false;  // not the nemesis
  bool nemesis = false;
  bool is_txn = false;   // its value is micro-operations, or would be if it said any
  bool dropped = false;  // its micro-operations, which do not count
  bool silent = false;   // no micro-operations, not even none: nothing, or an error

  [[nodiscard]] bool is_header() const {
    return f == F::kInitial || f == F::kMetadata || f == F::kSessions;
  }
};

struct ParseError {
  std::uint64_t byte;
  std::string message;
};

// The fields of one op map, as a parser finds them.
struct Fields {
  std::uint64_t byte = 0;
  Cell type, f, process, time, index, key;
};

struct Chunk {
  std::vector<Event> events;
  std::vector<MicroOp> ops;
  std::vector<Cell> cells;
  std::vector<std::int64_t> integers;
  std::vector<Cell> values;
  std::vector<std::string> names;
  std::vector<std::unique_ptr<char[]>> arena;
  std::size_t arena_left = 0;
  std::optional<ParseError> error;
  bool irregular = false;  // not JSON lines as expected: to be read the slow way

  std::string_view keep(std::string_view text);
  // Child i of a vector cell of either form.
  [[nodiscard]] Cell child(const Cell& vector, std::size_t i) const {
    return vector.tag == Tag::kIntegers ? Cell::of(integers[vector.first + i])
                                        : cells[vector.first + i];
  }
  // A vector cell of these children, as integers if they all are.
  Cell make_vector(const Cell* children, std::size_t count);

  // Reads the fields besides value; false after setting `error`.
  bool begin_event(const Fields& fields, Event& event);
  void add_key(const Event& event, const Cell& key, Cell& value);
  // The event with this value, its micro-operations checked; false after error.
  bool finish_event(Event event, Cell value, const Cell& key);
  // One micro-operation from a vector cell; false after error.
  bool add_micro_op(const Cell& op, std::uint64_t byte);
  // The writes of a set-up operation: [key value], a vector of such pairs, or a map. False if the
  // value is nothing of this, or after error.
  bool add_setup(const Cell& value, std::uint64_t byte);
  bool fail(std::uint64_t byte, std::string message);

  // Drops the operations of invocations or of completions that do not count, which is half of a
  // file's. An error if the two disagree: see op_pairing.hpp.
  void drop_unused_operations();
};

// Whether a value is a transaction whatever its f says: micro-operations, and one at least.
bool is_transaction(const Chunk& chunk, const Cell& value);
// The word of f, as in the file.
std::string_view word(const Chunk& chunk, const Event& event);

// A cell as a key or a value of a history. `text` holds that of a vector.
history::ScalarView scalar_of(const Chunk& chunk, const Cell& cell, std::string& text);

// Canonical EDN of a cell: nil, 7, "a", :a, [1 2].
void canonical(const Chunk& chunk, const Cell& cell, std::string& out);
// The same, at most 60 bytes, for messages.
std::string shown(const Chunk& chunk, const Cell& cell);
// Canonical text of a double, which always looks like one: 1.0, 2.5, 1e+30.
std::string canonical_double(double value);

// What an assembly needs to know about its source.
struct Source {
  std::string_view bytes;
  const std::string& file;
  std::string_view format;  // metadata "format"
  Interpretation as = {};
  bool failed_cas_was_seen = false;  // Knossos logs: a failed cas compared and found another value
  // JSON lines or a log that were cut while they were written: where the incomplete last line
  // begins, which is not among the chunks. Whoever committed has an invocation before, so nothing
  // is missing that somebody read; a file without invocations cannot promise that and is refused.
  std::optional<std::uint64_t> cut = {};
  history::ObjectHistory* objects = nullptr;  // as ReadOptions has it
};

// Pairs invocations and completions, decides what kind of history this is and
// builds it. Deterministic in the chunks' content and order.
base::Result<history::History> assemble(std::vector<Chunk> chunks, const Source& source,
                                        Reading reading = {});

// At a byte of the source: the line counted.
base::Error error_at(const Source& source, const ParseError& error);

// EDN op maps, in a vector, a list or bare; and JSON likewise.
std::vector<Chunk> parse_edn(std::string_view bytes, Reading reading = {});
std::vector<Chunk> parse_json(std::string_view bytes, unsigned threads, Reading reading = {});

}  // namespace cupel::formats::jepsen
