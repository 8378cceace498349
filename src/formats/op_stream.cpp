// Op stream: see the header.
#include "formats/op_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/newlines.hpp"
#include "formats/jepsen_reader.hpp"
#include "formats/op_setup.hpp"
#include "history/starts_empty.hpp"

namespace cupel::formats {

using history::Key;
using history::kNoTime;
using history::Moment;
using history::Operations;
using history::OpKind;
using history::ScalarView;
using history::Time;
using history::TxnStatus;
using history::Value;
using jepsen::Cell;
using jepsen::F;
using jepsen::Interpreter;
using jepsen::Micro;
using jepsen::MicroOp;
using jepsen::Tag;
using jepsen::Type;

namespace {

// Of a source that windows cannot take, but the reader of whole files can.
constexpr const char* kNeedsTheWhole = "; `cupel check` can read the whole file";

// A read without a key, which its completion may name.
bool asks_nothing(const jepsen::Chunk& chunk, const jepsen::Event& event) {
  return event.f == F::kRead && !event.is_txn && chunk.values[event.first].is_nothing();
}

}  // namespace

base::Error OpStream::error(std::string message) const {
  return {.message = std::move(message),
          .file = name_,
          .line = lines_ + 1 + base::count_newlines(piece_.substr(0, byte_))};
}

void OpStream::give(std::string_view lines) {
  lines_ += base::count_newlines(piece_);
  piece_ = lines;
  byte_ = 0;
  if (!edn_ && lines.find_first_not_of(" \t\r\n") != std::string_view::npos) edn_ = is_edn(lines);
  chunks_ = edn_ == true ? jepsen::parse_edn(lines) : jepsen::parse_json(lines, 1);
  chunk_ = event_ = 0;
}

base::Result<bool> OpStream::step() {
  for (; chunk_ < chunks_.size(); ++chunk_, event_ = 0) {
    const auto& chunk = chunks_[chunk_];
    if (event_ < chunk.events.size()) {
      const Event& event = chunk.events[event_++];
      byte_ = event.byte;
      if (auto refused = take(chunk, event)) return error(*std::move(refused));
      ++ordinal_;
      return true;
    }
    if (!chunk.error) continue;
    byte_ = chunk.error->byte;
    auto why = error(chunk.error->message);
    if (lines_ == 0) why.message += "; expected op maps one a line, as `cupel convert` writes them";
    return why;
  }
  lines_ += base::count_newlines(piece_);
  piece_ = {};
  byte_ = 0;
  return false;
}

OpStream::Refusal OpStream::take(const Chunk& chunk, const Event& event) {
  Step step;
  if (auto refused = interpreter_.take(chunk, event, step)) return refused;
  if (step.what == Interpreter::What::kHeader) return header(chunk);
  if (step.what == Interpreter::What::kNothing) return std::nullopt;
  if (event.process.tag == Tag::kAbsent) {
    return std::string(
               "found an operation without a process, whose place in the order is not known") +
           kNeedsTheWhole;
  }
  if (step.process == processes_.size()) processes_.emplace_back().name = session_name(event);
  auto& process = processes_[step.process];
  if (auto refused = classify(chunk, event, step.is_txn)) return refused;
  if (auto refused = note_times(event)) return refused;
  if (setting_up_ && (!step.sets_up || sink_.has_begun())) {
    const bool begins = event.type == Type::kInvoke;
    if (auto refused = end_set_up(/*others=*/true, begins ? event.time : kNoTime)) return refused;
  }
  return event.type == Type::kInvoke ? invoke(chunk, event, step, process)
                                     : complete(chunk, event, step, process);
}

OpStream::Refusal OpStream::header(const Chunk& chunk) {
  const auto& found = interpreter_.header();
  for (const auto& [name, text] : found.metadata) facts_.insert_or_assign(std::string(name), text);
  if (found.sessions) facts_.try_emplace("sessions", std::to_string(found.sessions->size()));
  if (!found.initial) return std::nullopt;
  if (found_) {
    return std::string("found initial values after the first operation, expected them before it") +
           kNeedsTheWhole;
  }
  const auto& [of_all, of_keys] = *found.initial;
  sink_.set_default_initial(scalar_of(chunk, of_all, text_));
  starts_as_collection_ = jepsen::is_collection(of_all);
  note_written(of_all);
  for (const auto& [name, value] : of_keys) {
    const Key key = key_of(chunk, name);
    const auto scalar = scalar_of(chunk, value, text_);
    sink_.set_initial(key, scalar);
    if (history::starts_empty(scalar)) continue;
    sink_.use(key, kRegister);
    note_written(value);
  }
  return std::nullopt;
}

// Transactions, or operations on registers. Those on registers of several keys may also stand
// beside transactions.
OpStream::Refusal OpStream::classify(const Chunk& chunk, const Event& event, bool txn) {
  const auto& as = interpreter_.as();
  const bool transactions = found_ && kinds_.kind == Workload::kTransactions;
  const auto pair = txn ? std::optional<bool>() : jepsen::is_pair(chunk, event);
  const bool setup = event.f == F::kSetup && !transactions && (event.type != Type::kInvoke || pair);
  const bool on_register =
      setup || event.f == F::kRead || event.f == F::kWrite || event.f == F::kCas;
  if (!txn && !on_register) {
    if (transactions) return jepsen::left_out({{std::string(word(chunk, event)), 1}});
    return fmt::format("found f={}, expected txn, or read, write and cas{}", word(chunk, event),
                       kNeedsTheWhole);
  }
  if (!found_) {
    if (as.kind && *as.kind != Workload::kTransactions &&
        (txn || *as.kind != Workload::kRegisters)) {
      return fmt::format("found operations of another kind than --kind {}", name(*as.kind));
    }
    const bool as_transactions = txn || as.kind == Workload::kTransactions;
    kinds_.kind = as_transactions ? Workload::kTransactions : Workload::kRegisters;
    found_ = true;
  }
  if (txn && kinds_.kind == Workload::kRegisters) {
    if (keyed_ != true || as.kind) {
      return std::string(
                 "found a transaction after operations on registers, expected one of the two") +
             kNeedsTheWhole;
    }
    kinds_.kind = Workload::kTransactions;
  } else if (!txn && kinds_.kind == Workload::kTransactions) {
    keyed_ = true;
    const bool counts =
        event.type == Type::kOk || (event.type == Type::kInvoke && !asks_nothing(chunk, event));
    if (counts && pair != true) return jepsen::left_out({{std::string(word(chunk, event)), 1}});
  }
  if (txn) return std::nullopt;
  auto& objects = kinds_.objects;
  if (std::find(objects.begin(), objects.end(), word(chunk, event)) == objects.end())
    objects.emplace_back(word(chunk, event));
  return std::nullopt;
}

// All have times, or none has. When an operation ended of which nobody knows the outcome, or that
// did nothing, does not matter.
OpStream::Refusal OpStream::note_times(const Event& event) {
  if (event.type == Type::kInfo || event.type == Type::kFail) return std::nullopt;
  if (!clock_) clock_ = event.time != kNoTime;
  if (*clock_ == (event.time != kNoTime)) return std::nullopt;
  return "found operations with a time and others without, expected times for all";
}

Moment OpStream::moment_of(const Event& event) const {
  return {.time = clock_ != false ? event.time : static_cast<Time>(ordinal_),
          .label = label_of(event, ordinal_)};
}

OpStream::Refusal OpStream::invoke(const Chunk& chunk, const Event& event, const Step& step,
                                   Process& process) {
  process.invoked = moment_of(event);
  if (auto refused = operations(chunk, event, false, process.tried)) return refused;
  if (setting_up_) {
    set_ups_.push_back(
        {.process = step.process, .invoked_at = ordinal_, .invoked = process.invoked});
    return std::nullopt;
  }
  const auto ended = sink_.note_set_up(kNoTime);
  if (clock_ == true && ended != kNoTime && event.time < ended) {
    return fmt::format(
        "found an operation invoked at {}, before the set-up ended at {}, so that the set-up is "
        "not what the keys start with{}",
        event.time, ended, kNeedsTheWhole);
  }
  sink_.begin(session_of(process), process.invoked, process.tried);
  return std::nullopt;
}

OpStream::Refusal OpStream::complete(const Chunk& chunk, const Event& event, const Step& step,
                                     Process& process) {
  const bool committed = step.status == TxnStatus::kCommitted;
  if (!step.invoked && committed) {
    return std::string(
               "found a completion without an invocation, so that a value may be read whose write "
               "is still to come") +
           kNeedsTheWhole;
  }
  // A completion says again what was done, or only how it ended.
  const bool says =
      step.is_txn
          ? event.is_txn
          : !step.invoked ||
                (committed && (event.f == F::kRead || !chunk.values[event.first].is_nothing()));
  seen_.clear();
  if (says) {
    if (auto refused = operations(chunk, event, committed, seen_)) return refused;
  }
  if (step.invoked) {
    const auto agreed = says ? jepsen::agreement(process.tried, seen_, event.type)
                             : jepsen::Agreement{.completion_counts = false};
    if (agreed.refusal) return agreed.refusal;
    if (!step.is_txn && says && jepsen::reads_another_value(process.tried, seen_))
      return jepsen::kInvokedWithAValue;
    if (!agreed.completion_counts) std::swap(seen_, process.tried);
  }
  const Moment invoked = step.invoked ? process.invoked : Moment{};
  if (setting_up_) {
    const auto begun = std::find_if(set_ups_.rbegin(), set_ups_.rend(), [&](const SetUp& one) {
      return one.process == step.process && !one.ended_at;
    });
    auto& one = begun != set_ups_.rend() ? *begun : set_ups_.emplace_back();
    one.process = step.process;
    one.ended_at = ordinal_;
    one.ended = moment_of(event);
    one.status = step.status;
    std::swap(one.seen, seen_);
  } else {
    sink_.end(session_of(process), step.status, invoked, moment_of(event), seen_);
  }
  process.tried.clear();
  if (step.status == TxnStatus::kIndeterminate) process.tried = {};  // most never come back
  return std::nullopt;
}

// --- set-up ---

base::Status OpStream::finish() {
  if (auto refused = end_set_up(/*others=*/false, kNoTime)) return error(*std::move(refused));
  return base::Ok{};
}

std::uint32_t OpStream::session_of(Process& process) {
  if (!process.session) process.session = sink_.session(std::exchange(process.name, {}));
  return *process.session;
}

OpStream::Refusal OpStream::end_set_up(bool others, Time others_begin) {
  setting_up_ = false;
  const auto written_by = [&](const SetUp& one) -> const Operations& {
    return one.ended_at ? one.seen : processes_[one.process].tried;
  };
  const auto last = [](const SetUp& one) { return one.ended_at.value_or(~std::uint64_t{0}); };
  std::stable_sort(set_ups_.begin(), set_ups_.end(),
                   [&](const SetUp& a, const SetUp& b) { return last(a) < last(b); });
  std::vector<jepsen::SetUp> all;
  history::ScalarTable values;
  for (const auto& one : set_ups_) {
    auto& found = all.emplace_back();
    found.invoked = one.invoked_at;
    if (others && !sink_.has_begun()) found.ended = one.ended_at;
    found.committed = one.status == TxnStatus::kCommitted;
    if (clock_ == true) found.end_time = one.ended.time;
    for (const auto& op : written_by(one).all())
      found.writes.emplace_back(op.key, values.intern(written_by(one).view(op.value)));
  }
  const auto contents = jepsen::initial_contents(all, others_begin);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!contents[i]) continue;
    if (auto refused = take_content(set_ups_[i].seen)) return refused;
    sink_.note_set_up(all[i].end_time);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (contents[i]) continue;
    auto& one = set_ups_[i];
    for (const auto& op : written_by(one).all()) {
      if (auto refused = use(op.key, kRegister)) return refused;
    }
    auto& process = processes_[one.process];
    const auto session = session_of(process);
    if (one.invoked_at) sink_.begin(session, one.invoked, written_by(one));
    if (one.ended_at) sink_.end(session, one.status, one.invoked, one.ended, one.seen);
  }
  set_ups_.clear();
  return std::nullopt;
}

OpStream::Refusal OpStream::take_content(const Operations& written) {
  ++kinds_.set_ups;
  for (const auto& op : written.all()) {
    const auto value = written.view(op.value);
    sink_.set_initial(op.key, value);
    if (history::starts_empty(value)) continue;
    if (auto refused = use(op.key, kRegister)) return refused;
  }
  return std::nullopt;
}

std::string OpStream::fact(const std::string& name) const {
  if (name == "ignored") return interpreter_.ignored();
  if (name == jepsen::kNotIgnored) return interpreter_.missing();
  if (name == "times" && clock_ == false) return "line order";
  if (name == "kind" && found_) {
    if (auto words = words_of(kinds_, keys_); !words.empty()) return words;
  }
  const auto found = facts_.find(name);
  return found == facts_.end() ? std::string() : found->second;
}

// --- operations ---

Key OpStream::key_of(const Chunk& chunk, const Cell& cell) {
  const Key key = sink_.key_of(scalar_of(chunk, cell, text_));
  keys_ = std::max<std::uint64_t>(keys_, key + std::uint64_t{1});
  return key;
}

Value OpStream::value_of(const Chunk& chunk, const Cell& cell, Operations& out) {
  return out.keep(scalar_of(chunk, cell, text_));
}

OpStream::Refusal OpStream::use(Key key, std::uint8_t as) {
  if (setting_up_) return std::nullopt;  // not yet: a set-up may say that a list is empty
  if (sink_.use(key, as) != (kRegister | kList)) return std::nullopt;
  return fmt::format(
      "found key {} used both as a list (append) and as a register (write, read of one value, "
      "initial value), expected one of the two; a list starts empty",
      sink_.name_of(key).to_string());
}

void OpStream::note_written(const Cell& value) {
  collection_written_ = collection_written_ || jepsen::is_collection(value);
}

OpStream::Refusal OpStream::operations(const Chunk& chunk, const Event& event, bool seen,
                                       Operations& out) {
  out.clear();
  if (!event.is_txn) return single(chunk, event, seen, out);
  for (auto i = event.first; i < event.first + event.count; ++i) {
    if (auto refused = operation(chunk, chunk.ops[i], seen, out)) return refused;
  }
  return std::nullopt;
}

OpStream::Refusal OpStream::operation(const Chunk& chunk, const MicroOp& op, bool seen,
                                      Operations& out) {
  if (op.kind() == Micro::kRange) return range_read(chunk, op, seen, out);
  if (op.kind() == Micro::kRead) return read(chunk, op, seen, out);
  const Key key = key_of(chunk, op.key);
  if (auto refused = use(key, op.kind() == Micro::kAppend ? kList : kRegister)) return refused;
  const auto write = [&](OpKind kind) { out.write(kind, key, value_of(chunk, op.value, out)); };
  switch (op.kind()) {
    case Micro::kInsert:
    case Micro::kWrite:
      note_written(op.value);
      write(op.kind() == Micro::kWrite ? OpKind::kWrite : OpKind::kInsert);
      break;
    case Micro::kDelete:
      write(OpKind::kDelete);
      break;
    case Micro::kAppend:
      write(OpKind::kAppend);
      break;
    default: {
      note_written(chunk.child(op.value, 1));
      const auto expected = value_of(chunk, chunk.child(op.value, 0), out);
      out.compare_and_set(key, expected, value_of(chunk, chunk.child(op.value, 1), out),
                          op.value.note == 0);
    }
  }
  return std::nullopt;
}

OpStream::Refusal OpStream::range_read(const Chunk& chunk, const MicroOp& op, bool seen,
                                       Operations& out) {
  if (op.value.note != 0) return std::nullopt;  // its result is not known, so it says nothing
  if (op.value.is_nothing() && seen)
    return "found a range read without what it saw, expected [[key value] …]";
  const auto low = value_of(chunk, chunk.child(op.key, 0), out);
  out.range_read(low, value_of(chunk, chunk.child(op.key, 1), out));
  for (std::size_t i = 0; i < op.value.size; ++i) {
    const Cell entry = chunk.child(op.value, i);
    const Cell name = chunk.child(entry, 0), value = chunk.child(entry, 1);
    const Key key = key_of(chunk, name);
    const auto before = sink_.use(key, 0);
    if ((before & kList) != 0) return jepsen::listed_in_range(shown(chunk, name));
    const bool written = starts_as_collection_ || (before & kRegister) != 0;
    const bool list = !collection_written_ || (value.is_vector() && value.size == 0 && !written);
    if (list && jepsen::is_collection(value) && !interpreter_.as().kind)
      return jepsen::collection_row(shown(chunk, name), shown(chunk, value), kinds_.kind);
    if (auto refused = use(key, kRegister)) return refused;
    out.entry(key, value_of(chunk, value, out));
  }
  return std::nullopt;
}

OpStream::Refusal OpStream::read(const Chunk& chunk, const MicroOp& op, bool seen,
                                 Operations& out) {
  const Key key = key_of(chunk, op.key);
  const bool known = seen && op.value.note == 0;
  if (op.value.is_vector() && (sink_.use(key, 0) & kRegister) == 0) {
    sink_.use(key, kList);
    out.list_read(key, known);
    for (std::size_t i = 0; known && i < op.value.size; ++i)
      out.element(value_of(chunk, chunk.child(op.value, i), out));
    return std::nullopt;
  }
  if (known && !op.value.is_nothing() && sink_.use(key, kRegister) == (kRegister | kList)) {
    return fmt::format(
        "found a read of one value of key {}, which is a list elsewhere, expected a vector",
        sink_.name_of(key).to_string());
  }
  if (known && !collection_written_ && jepsen::is_collection(op.value) && !interpreter_.as().kind)
    return jepsen::collection_read(shown(chunk, op.value), kinds_.kind);
  out.read(key, value_of(chunk, op.value, out), known);
  return std::nullopt;
}

OpStream::Refusal OpStream::single(const Chunk& chunk, const Event& event, bool seen,
                                   Operations& out) {
  if (kinds_.kind == Workload::kTransactions && !seen && asks_nothing(chunk, event))
    return std::nullopt;
  if (!keyed_) keyed_ = jepsen::is_pair(chunk, event);
  if (jepsen::reads_without_key(chunk, event)) {
    if (keyed_ == true) return jepsen::kReadWithoutKey;
    keyed_ = false;
  }
  auto found = jepsen::register_operation(chunk, event, keyed_ == true);
  if (found.refusal) return std::move(found.refusal);
  if (kinds_.kind == Workload::kRegisters) {
    if (auto refused = use(key_of(chunk, found.op.key), kRegister)) return refused;
  }
  kinds_.compares = kinds_.compares || found.op.kind() == Micro::kCas;
  return operation(chunk, found.op, seen, out);
}

// --- state ---

void OpStream::save(history::StateWriter& out) const {
  const auto optional = [&](std::optional<bool> value) { out.number(value ? 1 + *value : 0); };
  interpreter_.save(out);
  out.number(facts_.size());
  for (const auto& [name, text] : facts_) {
    out.text(name);
    out.text(text);
  }
  out.number(ordinal_);
  out.number(lines_);
  optional(edn_);
  out.flag(found_);
  out.number(static_cast<std::uint64_t>(kinds_.kind));
  out.flag(kinds_.compares);
  out.number(kinds_.set_ups);
  out.number(kinds_.objects.size());
  for (const auto& f : kinds_.objects) out.text(f);
  optional(keyed_);
  out.flag(collection_written_);
  out.flag(starts_as_collection_);
  optional(clock_);
  out.number(keys_);
  out.flag(setting_up_);
  for (const auto& process : processes_) {
    out.number(process.session ? 1 + *process.session : 0);
    out.text(process.name);
    out.integer(process.invoked.time);
    out.number(process.invoked.label);
    process.tried.save(out);
  }
  out.number(set_ups_.size());
  for (const auto& one : set_ups_) {
    out.number(one.process);
    for (const auto& at : {one.invoked_at, one.ended_at}) out.number(at ? 1 + *at : 0);
    for (const auto& moment : {one.invoked, one.ended}) {
      out.integer(moment.time);
      out.number(moment.label);
    }
    out.number(static_cast<std::uint64_t>(one.status));
    one.seen.save(out);
  }
}

void OpStream::load(history::StateReader& in, std::size_t sessions, std::size_t keys) {
  const auto optional = [&]() -> std::optional<bool> {
    const auto value = in.below(3);
    return value == 0 ? std::nullopt : std::optional(value == 2);
  };
  interpreter_.load(in);
  const auto facts = in.count();
  for (std::size_t i = 0; i < facts && in.good(); ++i) {
    std::string name(in.text());
    facts_.insert_or_assign(std::move(name), std::string(in.text()));
  }
  ordinal_ = in.number();
  lines_ = in.number();
  edn_ = optional();
  found_ = in.flag();
  kinds_.kind = static_cast<Workload>(in.below(2));
  kinds_.compares = in.flag();
  kinds_.set_ups = in.number();
  const auto objects = in.count();
  for (std::size_t i = 0; i < objects && in.good(); ++i) kinds_.objects.emplace_back(in.text());
  keyed_ = optional();
  collection_written_ = in.flag();
  starts_as_collection_ = in.flag();
  clock_ = optional();
  keys_ = in.number();
  setting_up_ = in.flag();
  for (std::size_t i = 0; i < interpreter_.process_count() && in.good(); ++i) {
    auto& process = processes_.emplace_back();
    if (const auto session = in.below(sessions + 1); session > 0) process.session = session - 1;
    process.name = in.text();
    process.invoked.time = in.integer();
    process.invoked.label = static_cast<std::uint32_t>(in.number());
    process.tried.load(in, keys);
  }
  const auto set_ups = in.count();
  for (std::size_t i = 0; i < set_ups && in.good(); ++i) {
    auto& one = set_ups_.emplace_back();
    one.process = in.below(processes_.size());
    for (auto* const at : {&one.invoked_at, &one.ended_at}) {
      if (const auto place = in.number(); place > 0) *at = place - 1;
    }
    for (auto* const moment : {&one.invoked, &one.ended}) {
      moment->time = in.integer();
      moment->label = static_cast<std::uint32_t>(in.number());
    }
    one.status = static_cast<TxnStatus>(in.below(3));
    one.seen.load(in, keys);
  }
}

}  // namespace cupel::formats
