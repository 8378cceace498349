// Op pairing: see the header.
#include "data/formats/op_pairing.hpp"

#include <fmt/format.h>

namespace cupel::formats::jepsen {

namespace {

// The process as people write it, for messages.
std::string process_name(const Event& e) {
  if (e.process.tag == Tag::kInteger) return "process " + std::to_string(e.process.integer);
  if (e.process.tag == Tag::kAbsent) return "the operations without a process";
  return "process " + std::string(e.process.view());
}

std::string_view word(Type type) {
  switch (type) {
    case Type::kInvoke:
      return "invoke";
    case Type::kOk:
      return "ok";
    case Type::kFail:
      return "fail";
    case Type::kInfo:
      break;
  }
  return "info";
}

std::string f_word(F f) {
  static const Chunk kNoNames;
  Event event;
  event.f = f;
  return f == F::kOther || f == F::kSetup ? "another f"
                                          : fmt::format("f={}", word(kNoNames, event));
}

// Scalars that are kept as text, whatever the spelling they had.
bool is_literal(const Cell& cell) {
  return cell.is_vector() || cell.tag == Tag::kMap || cell.tag == Tag::kLiteral;
}

bool same_cell(const Chunk& a_in, const Cell& a, const Chunk& b_in, const Cell& b) {
  if (a.tag == Tag::kInteger && b.tag == Tag::kInteger) return a.integer == b.integer;
  if (a.is_nothing() || b.is_nothing()) return a.is_nothing() && b.is_nothing();
  if (is_literal(a) && is_literal(b)) {
    std::string a_text, b_text;
    canonical(a_in, a, a_text);
    canonical(b_in, b, b_text);
    return a_text == b_text;
  }
  if (a.tag != b.tag) return false;
  return a.view() == b.view();
}

// The operations of an event in a chunk, and those of a stream, under the same names.
struct InChunk {
  const Chunk& chunk;
  const Event& event;

  [[nodiscard]] std::size_t size() const { return event.count; }
  [[nodiscard]] const MicroOp& at(std::size_t i) const { return chunk.ops[event.first + i]; }
  [[nodiscard]] bool reads(std::size_t i) const {
    return at(i).kind() == Micro::kRead || at(i).kind() == Micro::kRange;
  }
  [[nodiscard]] bool deletes(std::size_t i) const { return at(i).kind() == Micro::kDelete; }
  [[nodiscard]] bool same_target(std::size_t i, const InChunk& other, std::size_t j) const {
    const bool range = at(i).kind() == Micro::kRange;
    return range == (other.at(j).kind() == Micro::kRange) &&
           same_cell(chunk, at(i).key, other.chunk, other.at(j).key);
  }
  [[nodiscard]] bool same_write(std::size_t i, const InChunk& other, std::size_t j) const {
    return at(i).kind() == other.at(j).kind() && same_target(i, other, j) &&
           (deletes(i) || same_cell(chunk, at(i).value, other.chunk, other.at(j).value));
  }
};

struct InStream {
  const history::Operations& operations;

  [[nodiscard]] std::size_t size() const { return operations.size(); }
  [[nodiscard]] const history::Operations::Operation& at(std::size_t i) const {
    return operations.all()[i];
  }
  [[nodiscard]] history::OpKind kind(std::size_t i) const { return at(i).kind; }
  [[nodiscard]] bool reads(std::size_t i) const {
    return kind(i) == history::OpKind::kRead || kind(i) == history::OpKind::kListRead ||
           kind(i) == history::OpKind::kRangeRead;
  }
  [[nodiscard]] bool deletes(std::size_t i) const { return kind(i) == history::OpKind::kDelete; }
  [[nodiscard]] bool same_target(std::size_t i, const InStream& other, std::size_t j) const {
    const bool range = kind(i) == history::OpKind::kRangeRead;
    if (range != (other.kind(j) == history::OpKind::kRangeRead)) return false;
    return range ? same_values(i, other, j) : at(i).key == other.at(j).key;
  }
  [[nodiscard]] bool same_write(std::size_t i, const InStream& other, std::size_t j) const {
    return kind(i) == other.kind(j) && same_target(i, other, j) &&
           (deletes(i) || same_values(i, other, j));
  }
  [[nodiscard]] bool same_values(std::size_t i, const InStream& other, std::size_t j) const {
    return operations.view(at(i).value) == other.operations.view(other.at(j).value) &&
           operations.view(at(i).other) == other.operations.view(other.at(j).other);
  }
};

// Operation by operation. A delete may turn out to have found nothing, which is a read.
template <typename Ops>
bool repeats(const Ops& tried, const Ops& done) {
  if (tried.size() != done.size()) return false;
  for (std::size_t i = 0; i < tried.size(); ++i) {
    const bool read = done.reads(i) && (tried.reads(i) || tried.deletes(i));
    if (read ? !tried.same_target(i, done, i) : !tried.same_write(i, done, i)) return false;
  }
  return true;
}

enum class Writes : std::uint8_t { kAll, kSome, kOthers };

// Only the writes: a scan is invoked without the rows that it reads.
template <typename Ops>
Writes writes_of(const Ops& tried, const Ops& done) {
  std::size_t i = 0;
  for (std::size_t j = 0; j < done.size(); ++j) {
    if (done.reads(j)) continue;
    while (i < tried.size() && !tried.same_write(i, done, j)) {
      if (!tried.reads(i) && !tried.deletes(i)) return Writes::kOthers;
      ++i;
    }
    if (i++ == tried.size()) return Writes::kOthers;
  }
  for (; i < tried.size(); ++i) {
    if (!tried.reads(i) && !tried.deletes(i)) return Writes::kSome;
  }
  return Writes::kAll;
}

// Most operations: reads and writes of numbers, as they were invoked.
bool repeats_numbers(const InChunk& tried, const InChunk& done) {
  if (tried.size() != done.size()) return false;
  for (std::size_t i = 0; i < tried.size(); ++i) {
    const MicroOp &a = tried.at(i), &b = done.at(i);
    if (a.key.tag != Tag::kInteger || b.key.tag != Tag::kInteger || a.kind() != b.kind() ||
        a.key.integer != b.key.integer) {
      return false;
    }
    if (a.kind() == Micro::kRead) continue;
    if (a.value.tag != Tag::kInteger || b.value.tag != Tag::kInteger ||
        a.value.integer != b.value.integer) {
      return false;
    }
  }
  return true;
}
bool repeats_numbers(const InStream& /*tried*/, const InStream& /*done*/) {
  return false;
}

template <typename Ops>
Agreement agree(const Ops& tried, const Ops& done, Type type) {
  const bool ok = type == Type::kOk;
  if (tried.size() == 0) return {.completion_counts = ok || done.size() > 0};
  if (repeats_numbers(tried, done) || repeats(tried, done)) return {};
  // With as many operations, a read of another key is another transaction too.
  const auto writes = tried.size() == done.size() ? Writes::kOthers : writes_of(tried, done);
  if (writes == Writes::kAll && ok) return {};
  if (writes != Writes::kOthers && !ok) return {.completion_counts = false};
  return {.refusal = fmt::format(
              "the \"{}\" has other operations than its invocation. Record in both lines what the "
              "client asked for{}",
              word(type), ok ? "" : ", or leave the operations out of this one")};
}

}  // namespace

Refusal OpenOperation::invoke(const Event& event) {
  if (open) {
    return fmt::format(
        "found a second invocation of {} before the completion of its first, "
        "expected ok, fail or info",
        process_name(event));
  }
  *this = {.open = true,
           .has_invoked = true,
           .is_txn = event.is_txn,
           .f = event.f,
           .invoked = event.time};
  return std::nullopt;
}

Refusal OpenOperation::complete(const Event& event) const {
  if (!open) {
    if (!has_invoked || event.type == Type::kInfo || event.process.tag == Tag::kAbsent)
      return std::nullopt;
    return fmt::format(
        "found a completion of {}, which has nothing open: its last operation is already "
        "completed",
        process_name(event));
  }
  if (f != event.f && f != F::kAbsent && event.f != F::kAbsent) {
    return fmt::format("found a completion of {} for {}, which invoked {}", f_word(event.f),
                       process_name(event), f_word(f));
  }
  if (invoked != history::kNoTime && event.time != history::kNoTime && event.time < invoked) {
    return fmt::format(
        "found a completion at time {}, before its invocation at {}, expected "
        "times of one clock",
        event.time, invoked);
  }
  if (!is_txn && event.f == F::kAbsent) {
    return fmt::format(
        "found a completion of {} without f, and its invocation has {}. Record f in both lines",
        process_name(event), f_word(f));
  }
  if (!is_txn && event.is_txn && has_value) {
    return fmt::format(
        "the \"{}\" has a transaction, and its invocation a single operation. Record in both lines "
        "what the client asked for",
        word(event.type));
  }
  // The invocation of a set-up says what was written.
  if (is_txn && !event.is_txn && event.type == Type::kOk && f != F::kSetup) {
    return std::string(
        "found an ok without the operations that its invocation has. Record them in both lines, "
        "with the results in this one");
  }
  return std::nullopt;
}

std::optional<Workload> object_of(F f) {
  switch (f) {
    case F::kRead:
    case F::kWrite:
    case F::kCas:
    case F::kSetup:
      return Workload::kRegisters;
    case F::kAcquire:
    case F::kRelease:
      return Workload::kMutex;
    case F::kPut:
    case F::kAppend:
    case F::kGet:
      return Workload::kStrings;
    default:
      return std::nullopt;
  }
}

Refusal OpenOperation::other_key(const Event& event, const Cell& value,
                                 const std::string& name) const {
  if (name == key) return std::nullopt;
  // Without a value, the key of the invocation is enough.
  const bool result = object_of(event.f) == Workload::kRegisters && event.type == Type::kOk &&
                      (event.f == F::kRead || !value.is_nothing());
  if (name.empty() && !result) return std::nullopt;
  return fmt::format(
      "the \"{}\" has {}, and its invocation {}. Record the invoked key in both lines",
      word(event.type), name.empty() ? "no key" : "the key " + name, key.empty() ? "none" : key);
}

Agreement agreement(const Chunk& tried_in, const Event& invoke, const Chunk& done_in,
                    const Event& completion) {
  return agree(InChunk{tried_in, invoke}, InChunk{done_in, completion}, completion.type);
}

Agreement agreement(const history::Operations& tried, const history::Operations& done, Type type) {
  return agree(InStream{tried}, InStream{done}, type);
}

std::optional<bool> is_pair(const Chunk& chunk, const Event& event) {
  if (event.is_txn) return std::nullopt;
  const Cell value = chunk.values[event.first];
  if (value.is_nothing()) return std::nullopt;
  return value.is_vector() && value.size == 2 &&
         (event.f != F::kCas || chunk.child(value, 1).is_vector());
}

bool reads_without_key(const Chunk& chunk, const Event& event) {
  return event.f == F::kRead && event.type == Type::kInvoke && !is_pair(chunk, event);
}

std::string no_pair(std::string_view shown) {
  return fmt::format("found value {}, expected [key value] as elsewhere in this file", shown);
}

RegisterOperation register_operation(const Chunk& chunk, const Event& event, bool pairs) {
  const Cell value = chunk.values[event.first];
  RegisterOperation found{.op = {Cell::of(Tag::kString, "register"), value}};
  if (pairs) {
    if (!value.is_vector() || value.size != 2) {
      found.refusal = no_pair(shown(chunk, value));
      return found;
    }
    found.op = {chunk.child(value, 0), chunk.child(value, 1)};
  }
  const auto kind = event.f == F::kRead  ? Micro::kRead
                    : event.f == F::kCas ? Micro::kCas
                                         : Micro::kWrite;
  found.op.key.note = static_cast<std::uint8_t>(kind);
  found.op.value.note = 0;
  const auto& payload = found.op.value;
  if (kind == Micro::kCas && (!payload.is_vector() || payload.size != 2)) {
    found.refusal = "found a cas of " + shown(chunk, value) + ", expected [old new]";
  }
  return found;
}

std::string invoked_value(const Chunk& chunk, const MicroOp& read) {
  std::string text;
  if (!read.value.is_nothing()) canonical(chunk, read.value, text);
  return text;
}

bool reads_another_value(const std::string& invoked, const Chunk& done_in, const MicroOp& done) {
  if (invoked.empty()) return false;
  std::string answered;
  canonical(done_in, done.value, answered);
  return answered != invoked;
}

Refusal register_disagreement(const Chunk& tried_in, const MicroOp& tried, const Chunk& done_in,
                              const MicroOp& done) {
  const bool read = done.kind() == Micro::kRead;
  const bool same_key = same_cell(tried_in, tried.key, done_in, done.key);
  const bool same = read ? !reads_another_value(invoked_value(tried_in, tried), done_in, done)
                         : same_cell(tried_in, tried.value, done_in, done.value);
  if (same_key && same) return std::nullopt;
  const auto pair_of = [](const Chunk& chunk, const MicroOp& op) {
    return fmt::format("[{} {}]", shown(chunk, op.key), shown(chunk, op.value));
  };
  if (!same_key) {
    return fmt::format(
        "the \"ok\" has {} and its invocation {}: another key{}. Record the invoked key in both "
        "lines",
        pair_of(done_in, done), pair_of(tried_in, tried),
        tried.key.is_nothing() ? ", or a register with versions ([version value]), which cupel "
                                 "does not check"
                               : "");
  }
  if (read) return kInvokedWithAValue;
  const bool versions = done.value.is_vector() && done.value.size == 2 &&
                        !tried.value.is_vector() &&
                        same_cell(tried_in, tried.value, done_in, done_in.child(done.value, 1));
  return fmt::format(
      "the \"ok\" wrote {}, and its invocation {}{}. Record the invoked value in both lines",
      shown(done_in, done.value), shown(tried_in, tried.value),
      versions ? ": a register with versions ([version value]), which cupel does not check" : "");
}

namespace {

bool is_another(history::ScalarView tried, history::ScalarView done) {
  using Kind = history::ScalarKind;
  if (tried.kind != done.kind || tried == done) return false;
  if (done.kind == Kind::kLiteral) {
    const bool list = done.text.starts_with('[');
    return list == tried.text.starts_with('[') && (list || !is_collection(done)) &&
           !done.text.starts_with("[:");
  }
  return done.kind == Kind::kInteger || done.kind == Kind::kString;
}

}  // namespace

Attempt attempt_of(const Chunk& chunk, const MicroOp& op, std::array<std::string, 3>& texts) {
  Attempt attempt{.key = scalar_of(chunk, op.key, texts[0]), .value = {}};
  const bool cas = op.kind() == Micro::kCas;
  attempt.value = scalar_of(chunk, cas ? chunk.child(op.value, 0) : op.value, texts[1]);
  if (cas) attempt.other = scalar_of(chunk, chunk.child(op.value, 1), texts[2]);
  return attempt;
}

Refusal other_attempt(const Event& event, bool keyed, const Attempt& tried, const Attempt& done) {
  const bool cas = event.f == F::kCas;
  // In [old new], null is a value.
  const auto differs = [&](history::ScalarView a, history::ScalarView b) {
    const bool null = a.kind == history::ScalarKind::kNull;
    return is_another(a, b) || (cas && null != (b.kind == history::ScalarKind::kNull));
  };
  const bool same = event.f == F::kRead ||
                    (!differs(tried.value, done.value) && !differs(tried.other, done.other));
  if (same && !is_another(tried.key, done.key)) return std::nullopt;
  const auto text = [&](const Attempt& attempt) {
    auto value = attempt.value.to_string();
    if (cas) value = fmt::format("[{} {}]", value, attempt.other.to_string());
    return keyed ? fmt::format("[{} {}]", attempt.key.to_string(), value) : value;
  };
  return fmt::format(
      "the \"{}\" has {}, and its invocation {}. Record in both lines what the client asked for, "
      "or leave the value out of this one",
      word(event.type), text(done), text(tried));
}

bool is_collection(const Cell& cell) {
  return cell.is_vector() || cell.tag == Tag::kMap ||
         (cell.tag == Tag::kLiteral && is_collection(history::ScalarView::literal(cell.view())));
}

bool is_collection(history::ScalarView scalar) {
  return scalar.kind == history::ScalarKind::kLiteral &&
         (scalar.text.starts_with('[') || scalar.text.starts_with('{') ||
          scalar.text.starts_with("#{"));
}

std::string collection_read(std::string_view shown, Workload kind) {
  return fmt::format(
      "the read returned {}, a collection, but every write wrote a single value: "
      "this is a set, a bank or another object, not a register. If the database "
      "may store such a value, add --kind {}",
      shown, name(kind));
}

std::string collection_row(std::string_view key, std::string_view shown, Workload kind) {
  return fmt::format(
      "the range read returned {} for key {}, a collection, but every write wrote a single value. "
      "A range read cannot return a list: leave the whole range read out, or record a read of each "
      "key. If the database may store such a value, add --kind {}",
      shown, key, name(kind));
}

std::string listed_in_range(std::string_view key) {
  return fmt::format(
      "found key {} in a range read and with appends, expected one of the two: a range read cannot "
      "return a list, and a row that is left out says that the list is empty. Leave the whole "
      "range read out, or record a read of each key",
      key);
}

std::string used_as_both(std::string_view key) {
  return fmt::format(
      "found key {} used both as a list (append) and as a register (write, read of one value, "
      "initial value), expected one of the two; a list starts empty",
      key);
}

std::string left_out(const std::vector<std::pair<std::string, std::uint64_t>>& words) {
  std::string found, options;
  for (const auto& [f, count] : words) {
    found += fmt::format("{}{}f={}", found.empty() ? "" : ", ",
                         count > 1 ? fmt::format("{} op maps with ", count) : "", f);
    options += fmt::format(" --ignore {}", f);
  }
  return fmt::format(
      "found {} beside transactions, and {} neither [key value] nor a transaction, so cupel cannot "
      "know what {} wrote. Record {}, or add{} if {} wrote nothing that a transaction reads",
      found, words.size() > 1 ? "their values are" : "its value is",
      words.size() > 1 ? "they" : "it",
      words.size() > 1 ? "them as transactions" : "it as a transaction", options,
      words.size() > 1 ? "they" : "it");
}

}  // namespace cupel::formats::jepsen
