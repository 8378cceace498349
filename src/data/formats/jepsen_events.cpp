// Chunks: checking op maps and micro-operations as they are parsed. What the
// words of the format are is here and nowhere else.
#include "data/formats/jepsen_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/hash_table.hpp"
#include "base/text/excerpt.hpp"
#include "base/text/json.hpp"
#include "data/formats/edn.hpp"
#include "data/formats/op_pairing.hpp"
#include "data/history/text_order.hpp"

namespace cupel::formats::jepsen {

namespace {

constexpr std::size_t kArenaBlock = 64 * 1024;
constexpr std::size_t kMaxColumn = 0xf0000000;

std::optional<Type> type_of(std::string_view word) {
  if (word == "invoke") return Type::kInvoke;
  if (word == "ok") return Type::kOk;
  if (word == "fail") return Type::kFail;
  if (word == "info") return Type::kInfo;
  return std::nullopt;
}

F f_of(std::string_view word) {
  static const base::HashMap<std::string_view, F> words = {{"txn", F::kTxn},
                                                           {"read", F::kRead},
                                                           {"write", F::kWrite},
                                                           {"cas", F::kCas},
                                                           {"acquire", F::kAcquire},
                                                           {"release", F::kRelease},
                                                           {"put", F::kPut},
                                                           {"append", F::kAppend},
                                                           {"get", F::kGet},
                                                           {"init", F::kSetup},
                                                           {"setup", F::kSetup},
                                                           {"cupel.initial", F::kInitial},
                                                           {"cupel.metadata", F::kMetadata},
                                                           {"cupel.sessions", F::kSessions}};
  const auto it = words.find(word);
  return it == words.end() ? F::kOther : it->second;
}

std::optional<Micro> micro_of(std::string_view word) {
  if (word == "r" || word == "read") return Micro::kRead;
  if (word == "w" || word == "write") return Micro::kWrite;
  if (word == "append") return Micro::kAppend;
  if (word == "cas") return Micro::kCas;
  if (word == "insert") return Micro::kInsert;
  if (word == "delete") return Micro::kDelete;
  if (word == "range") return Micro::kRange;
  return std::nullopt;
}

}  // namespace

std::string malformed_header(F f) {
  const auto expected = f == F::kMetadata   ? "cupel.metadata line, expected [[NAME, TEXT], …]"
                        : f == F::kSessions ? "cupel.sessions line, expected [NAME, …]"
                                            : "cupel.initial line, expected [VALUE, [[KEY, VALUE], "
                                              "…]]: of all keys, and of single ones";
  return std::string("found a malformed ") + expected;
}

std::string_view Chunk::keep(std::string_view text) {
  if (text.empty()) return "";
  if (arena_left < text.size()) {
    arena_left = std::max(kArenaBlock, text.size());
    arena.push_back(std::make_unique<char[]>(arena_left));
    // The block's size is not stored: texts fill it from its end downwards.
  }
  arena_left -= text.size();
  char* place = arena.back().get() + arena_left;
  text.copy(place, text.size());
  return {place, text.size()};
}

Cell Chunk::make_vector(const Cell* children, std::size_t count) {
  const bool all_integers =
      std::all_of(children, children + count, [](const Cell& c) { return c.tag == Tag::kInteger; });
  if (all_integers) {
    const auto first = integers.size();
    for (std::size_t i = 0; i < count; ++i) integers.push_back(children[i].integer);
    return Cell::vector(Tag::kIntegers, first, count);
  }
  const auto first = cells.size();
  cells.insert(cells.end(), children, children + count);
  return Cell::vector(Tag::kVector, first, count);
}

bool Chunk::fail(std::uint64_t byte, std::string message) {
  if (!error) error = ParseError{byte, std::move(message)};
  return false;
}

bool Chunk::begin_event(const Fields& fields, Event& event) {
  event.byte = fields.byte;
  if (std::max(ops.size(), values.size()) > kMaxColumn) {
    return fail(fields.byte, "found more than 4 billion operations, expected fewer");
  }
  if (fields.type.tag == Tag::kAbsent) {
    return fail(fields.byte,
                "found an operation without a type, expected invoke, ok, fail or info");
  }
  const auto type = fields.type.is_name() ? type_of(fields.type.view()) : std::nullopt;
  if (!type) {
    return fail(fields.byte,
                "found type " + shown(*this, fields.type) + ", expected invoke, ok, fail or info");
  }
  event.type = *type;

  if (fields.f.is_name()) {
    event.f = f_of(fields.f.view());
    if (event.f == F::kOther || event.f == F::kSetup) {
      const std::string_view name = fields.f.view();
      auto it = std::find(names.rbegin(), names.rend(), name);
      if (it == names.rend()) {
        names.emplace_back(name);
        it = names.rbegin();
      }
      event.name = static_cast<std::uint32_t>(names.rend() - it - 1);
    }
  } else if (!fields.f.is_nothing()) {
    return fail(fields.byte, "found f " + shown(*this, fields.f) + ", expected a name such as txn");
  }

  event.process = fields.process;
  if (event.process.tag == Tag::kNull) event.process.tag = Tag::kAbsent;
  if (event.process.tag == Tag::kString) {
    const auto text = event.process.view();
    std::int64_t number = 0;
    const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (bad == std::errc() && end == text.data() + text.size() && std::to_string(number) == text) {
      event.process = Cell::of(number);
    }
  } else if (event.process.tag != Tag::kInteger && event.process.tag != Tag::kKeyword &&
             event.process.tag != Tag::kAbsent) {
    return fail(fields.byte,
                "found process " + shown(*this, event.process) + ", expected a number or a name");
  }

  if (fields.time.tag == Tag::kInteger && fields.time.integer != history::kNoTime) {
    event.time = fields.time.integer;
  } else if (!fields.time.is_nothing()) {
    return fail(fields.byte,
                "found time " + shown(*this, fields.time) + ", expected whole nanoseconds");
  }
  if (fields.index.tag == Tag::kInteger && fields.index.integer >= 0) {
    event.index = fields.index.integer;
  } else if (!fields.index.is_nothing()) {
    return fail(fields.byte,
                "found index " + shown(*this, fields.index) + ", expected a number from 0");
  }
  event.nemesis = event.process.is_name() && event.process.view() == "nemesis";
  event.client = !event.nemesis;
  event.is_txn = event.client && (event.f == F::kTxn || event.f == F::kAbsent);
  return true;
}

bool is_transaction(const Chunk& chunk, const Cell& value) {
  if (value.tag != Tag::kVector || value.size == 0) return false;
  for (std::size_t i = 0; i < value.size; ++i) {
    const Cell op = chunk.child(value, i);
    if (op.tag != Tag::kVector || op.size < 2 || op.size > 4) return false;
    const Cell head = chunk.child(op, 0);
    if (!head.is_name() || !micro_of(head.view())) return false;
  }
  return true;
}

namespace {

// Of a set-up that did not end well: its value repeats what was written, and is no error.
bool is_set_up(const Chunk& chunk, const Cell& value) {
  if (!value.is_vector() || value.size == 0) return false;
  bool pairs = true;
  for (std::size_t i = 0; pairs && i < value.size; ++i) {
    const Cell pair = chunk.child(value, i);
    pairs = pair.is_vector() && pair.size == 2;
  }
  if (pairs || value.size != 2) return pairs;
  const Cell first = chunk.child(value, 0), second = chunk.child(value, 1);
  return (first.tag == Tag::kInteger || first.tag == Tag::kString) && !second.is_vector() &&
         second.tag != Tag::kMap;
}

}  // namespace

std::string_view word(const Chunk& chunk, const Event& event) {
  switch (event.f) {
    case F::kTxn:
      return "txn";
    case F::kRead:
      return "read";
    case F::kWrite:
      return "write";
    case F::kCas:
      return "cas";
    case F::kAcquire:
      return "acquire";
    case F::kRelease:
      return "release";
    case F::kPut:
      return "put";
    case F::kAppend:
      return "append";
    case F::kGet:
      return "get";
    case F::kSetup:
    case F::kOther:
      return chunk.names[event.name];
    default:
      return "";
  }
}

bool Chunk::add_setup(const Cell& value, std::uint64_t byte) {
  const auto write = [&](Cell key, Cell initial) {
    key.note = static_cast<std::uint8_t>(Micro::kWrite);
    initial.note = 0;
    ops.push_back({key, initial});
  };
  if (value.tag == Tag::kMap && value.view().starts_with('{')) {
    EdnReader reader(value.view(), *this);
    reader.advance();
    for (;;) {
      reader.skip();
      if (reader.at_end() || reader.peek() == '}') return true;
      Cell key, initial;
      if (!reader.value(key, 2) || !reader.value(initial, 2)) {
        error->byte = byte;
        return false;
      }
      write(key, initial);
    }
  }
  if (!value.is_vector() || value.size == 0) return false;
  const auto is_pair = [&](const Cell& cell) { return cell.is_vector() && cell.size == 2; };
  bool pairs = true;
  for (std::size_t i = 0; pairs && i < value.size; ++i) pairs = is_pair(child(value, i));
  if (!pairs && !is_pair(value)) return false;
  if (!pairs) write(child(value, 0), child(value, 1));
  for (std::size_t i = 0; pairs && i < value.size; ++i) {
    const Cell pair = child(value, i);
    write(child(pair, 0), child(pair, 1));
  }
  return true;
}

// The field `key` names the register: its value is [key value], as of jepsen.independent.
void Chunk::add_key(const Event& event, const Cell& key, Cell& value) {
  const bool read = event.f == F::kRead, set_up = event.f == F::kSetup;
  if (key.is_nothing() || (!read && !set_up && event.f != F::kWrite && event.f != F::kCas)) return;
  const bool says = event.type == Type::kInvoke || (read && event.type == Type::kOk);
  if (value.is_nothing() && (!says || set_up)) return;
  const Cell pair[] = {key, value.is_nothing() ? Cell::null() : value};
  value = make_vector(pair, 2);
  if (set_up) value = make_vector(&value, 1);  // a vector of pairs
}

bool Chunk::finish_event(Event event, Cell value, const Cell& key) {
  if (!event.is_txn && event.client && !event.is_header()) {
    event.is_txn = is_transaction(*this, value);
    if (!event.is_txn) add_key(event, key, value);
    const bool says = event.type == Type::kInvoke || event.type == Type::kOk ||
                      is_set_up(*this, value);  // else an error
    if (!event.is_txn && event.f == F::kSetup && says) {
      event.first = static_cast<std::uint32_t>(ops.size());
      if (add_setup(value, event.byte)) {
        event.is_txn = true;
        event.count = static_cast<std::uint32_t>(ops.size() - event.first);
        events.push_back(event);
        return true;
      }
      if (error) return false;
    }
  }
  if (!event.is_txn) {
    if (event.client || event.nemesis || event.is_header()) {
      event.first = static_cast<std::uint32_t>(values.size());
      values.push_back(value);
      values.push_back(key);
    }
    events.push_back(event);
    return true;
  }
  event.first = static_cast<std::uint32_t>(ops.size());
  if (event.type == Type::kFail || event.type == Type::kInfo) {
    // Often nothing or an error message: the invocation says what was tried.
    bool transaction = value.tag == Tag::kVector;
    for (std::size_t i = 0; transaction && i < value.size; ++i) {
      transaction = cells[value.first + i].is_vector();
    }
    if (!transaction) {
      event.silent = !value.is_vector() || value.size > 0;
      events.push_back(event);
      return true;
    }
  } else if (!value.is_vector()) {
    return fail(event.byte, "found value " + shown(*this, value) +
                                ", expected a transaction: a vector of [f key value]");
  }
  for (std::size_t i = 0; i < value.size; ++i) {
    if (!add_micro_op(child(value, i), event.byte)) return false;
  }
  event.count = static_cast<std::uint32_t>(ops.size() - event.first);
  events.push_back(event);
  return true;
}

bool Chunk::add_micro_op(const Cell& op, std::uint64_t byte) {
  const auto bad = [&](std::string_view expected) {
    return fail(byte, fmt::format("found operation {}, expected {}", shown(*this, op), expected));
  };
  if (!op.is_vector()) return bad("a vector [f key value]");
  const Cell head = op.size > 0 ? child(op, 0) : Cell();
  const auto kind = head.is_name() ? micro_of(head.view()) : std::nullopt;
  if (!kind) return bad("one of r, w, append, cas, insert, delete, range");
  const bool extended = op.size == 4;
  if (op.size < 2 || op.size > 4 ||
      (op.size == 2 && *kind != Micro::kRead && *kind != Micro::kDelete) ||
      (extended && *kind != Micro::kRead && *kind != Micro::kCas && *kind != Micro::kRange)) {
    return bad("three elements [f key value]");
  }
  if (extended) {
    const Cell last = child(op, 3);
    if (last.tag != Tag::kLiteral || last.view() != "false")
      return bad("false as fourth element, or none");
  }
  MicroOp micro;
  micro.key = child(op, 1);
  micro.value = op.size > 2 ? child(op, 2) : Cell::null();
  if (*kind == Micro::kCas && !(micro.value.is_vector() && micro.value.size == 2)) {
    return bad("[cas key [old new]]");
  }
  if (*kind == Micro::kRange) {
    bool good = micro.key.is_vector() && micro.key.size == 2 &&
                (micro.value.is_vector() || micro.value.is_nothing());
    for (std::size_t i = 0; good && i < micro.value.size; ++i) {
      const Cell pair = child(micro.value, i);
      good = pair.is_vector() && pair.size == 2;
    }
    if (!good) return bad("[range [low high] [[key value] …]]");
    // No upper bound, as null is below every key. The cell is replaced in its place: a reader frees
    // the cells that come after those of the operation.
    if (child(micro.key, 1).is_nothing())
      cells[micro.key.first + 1] = Cell::of(Tag::kLiteral, history::kAboveAll.text);
  }
  micro.key.note = static_cast<std::uint8_t>(*kind);
  micro.value.note = extended || (op.size == 2 && *kind == Micro::kRead);
  ops.push_back(micro);
  return true;
}

void Chunk::drop_unused_operations() {
  base::HashMap<std::int64_t, std::uint32_t> pending;
  std::vector<bool> dead(events.size());
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    if (!event.client || event.process.tag != Tag::kInteger) continue;
    if (event.type == Type::kInvoke) {
      pending[event.process.integer] = i;
      continue;
    }
    const auto it = pending.find(event.process.integer);
    if (it == pending.end()) continue;
    const auto at = it->second;
    pending.erase(it);
    const Event& invoke = events[at];
    if (!invoke.is_txn || !event.is_txn || invoke.f != event.f) continue;
    if (event.f == F::kSetup) continue;  // each says whether it only writes
    const auto agreed = agreement(*this, invoke, *this, event);
    if (agreed.refusal) continue;  // an error, unless --ignore leaves the operation out
    dead[agreed.completion_counts ? at : i] = true;
  }
  std::size_t kept = 0;
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    Event& event = events[i];
    if (!event.is_txn) continue;
    event.dropped = dead[i] && event.count > 0;
    if (event.dropped) event.count = 0;
    if (kept != event.first) {
      std::copy_n(ops.begin() + event.first, event.count,
                  ops.begin() + static_cast<std::ptrdiff_t>(kept));
    }
    event.first = static_cast<std::uint32_t>(kept);
    kept += event.count;
  }
  ops.resize(kept);
}

history::ScalarView scalar_of(const Chunk& chunk, const Cell& cell, std::string& text) {
  using history::ScalarView;
  switch (cell.tag) {
    case Tag::kAbsent:
    case Tag::kNull:
      return ScalarView::null();
    case Tag::kInteger:
      return ScalarView::of(cell.integer);
    case Tag::kString:
      return ScalarView::of(cell.view());
    case Tag::kKeyword:
      return ScalarView::keyword(cell.view());
    case Tag::kLiteral:
    case Tag::kMap:
      return ScalarView::literal(cell.view());
    case Tag::kVector:
    case Tag::kIntegers:
      break;
  }
  text.clear();
  canonical(chunk, cell, text);
  return ScalarView::literal(text);
}

void canonical(const Chunk& chunk, const Cell& cell, std::string& out) {
  switch (cell.tag) {
    case Tag::kAbsent:
    case Tag::kNull:
      out += "nil";
      return;
    case Tag::kInteger:
      out += std::to_string(cell.integer);
      return;
    case Tag::kString:
      text::append_quoted(cell.view(), out);
      return;
    case Tag::kKeyword:
      out += ':';
      out += cell.view();
      return;
    case Tag::kLiteral:
    case Tag::kMap:
      out += cell.view();
      return;
    case Tag::kVector:
    case Tag::kIntegers:
      out += '[';
      for (std::size_t i = 0; i < cell.size; ++i) {
        if (i > 0) out += ' ';
        canonical(chunk, chunk.child(cell, i), out);
      }
      out += ']';
  }
}

std::string shown(const Chunk& chunk, const Cell& cell) {
  if (cell.tag == Tag::kAbsent) return "nothing";
  std::string text;
  canonical(chunk, cell, text);
  return text::excerpt(text, text::kShortExcerpt);
}

std::string canonical_double(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

base::Error error_at(const Source& source, const ParseError& error) {
  const auto end = std::min<std::uint64_t>(error.byte, source.bytes.size());
  const auto line = 1 + std::count(source.bytes.begin(),
                                   source.bytes.begin() + static_cast<std::ptrdiff_t>(end), '\n');
  return {.message = error.message, .file = source.file, .line = static_cast<std::uint64_t>(line)};
}

}  // namespace cupel::formats::jepsen
