// Stream: see the header.
#include "online/stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/hash_table.hpp"
#include "base/newlines.hpp"
#include "history/scalar.hpp"
#include "history/times.hpp"

namespace cupel::online {

using formats::jepsen::Cell;
using formats::jepsen::Chunk;
using formats::jepsen::Event;
using formats::jepsen::F;
using formats::jepsen::Micro;
using formats::jepsen::MicroOp;
using formats::jepsen::Tag;
using formats::jepsen::Type;
using history::kNoTime;
using history::OpKind;
using history::ScalarView;
using history::Time;
using history::TxnStatus;

namespace {

constexpr auto kFs = static_cast<std::size_t>(F::kOther) + 1;
constexpr std::uint64_t kInvocationsToTrust = 1000;
constexpr Time kSlack = 10'000'000;  // ns

template <typename Use>
auto with_scalar(const Chunk& chunk, const Cell& cell, Use&& use) {
  switch (cell.tag) {
    case Tag::kAbsent:
    case Tag::kNull:
      return use(ScalarView::null());
    case Tag::kInteger:
      return use(ScalarView::of(cell.integer));
    case Tag::kString:
      return use(ScalarView::of(cell.view()));
    case Tag::kKeyword:
      return use(ScalarView::keyword(cell.view()));
    case Tag::kLiteral:
    case Tag::kMap:
      return use(ScalarView::literal(cell.view()));
    case Tag::kVector:
    case Tag::kIntegers:
      break;
  }
  std::string text;
  canonical(chunk, cell, text);
  return use(ScalarView::literal(text));
}

}  // namespace

base::Error Stream::error(std::string message) const {
  return {.message = std::move(message), .file = name_, .line = lines_ + 1};
}

base::Status Stream::take(std::string_view lines) {
  for (const auto& chunk : formats::jepsen::parse_json(lines, 1)) {
    if (chunk.error) {
      lines_ += base::count_newlines(lines.substr(0, chunk.error->byte));
      auto why = error(chunk.error->message);
      if (lines_ == 0) {
        why.message +=
            "; a watch takes Jepsen's op maps in JSON, one a line, which `cupel convert` writes";
      }
      return why;
    }
    for (const auto& event : chunk.events) {
      if (auto taken = take(chunk, event); !taken.ok()) {
        auto why = std::move(taken).error();
        why.line = lines_ + 1 + base::count_newlines(lines.substr(0, event.byte));
        return why;
      }
      ++ordinal_;
    }
  }
  lines_ += base::count_newlines(lines);
  if (times_ == Times::kLineOrder) {
    window_.set_no_earlier(static_cast<Time>(ordinal_));
  } else if (invocations_ >= kInvocationsToTrust && latest_ != kNoTime) {
    window_.set_no_earlier(latest_ - 2 * backward_ - kSlack);
  }
  return base::Ok{};
}

base::Status Stream::take(const Chunk& chunk, const Event& event) {
  if (event.is_header()) return header(chunk, event);
  if (!event.client) return base::Ok{};
  if (!as_.ignore.empty() && as_.ignores(word(chunk, event))) return base::Ok{};
  if (event.process.tag == Tag::kAbsent) {
    return error(
        "found an operation without a process, which a watch cannot place; `cupel check` can read "
        "the whole file");
  }
  auto& process = process_of(chunk, event);
  if (auto fit = classify(chunk, event, process.rules.completes_txn(event)); !fit.ok()) return fit;
  if (auto good = timed(event); !good.ok()) return good;
  return event.type == Type::kInvoke ? invoke(chunk, event, process)
                                     : complete(chunk, event, process);
}

// Transactions, or operations on registers. Those on registers of several keys may also stand
// beside transactions.
base::Status Stream::classify(const Chunk& chunk, const Event& event, bool txn) {
  const bool transactions = kind_ == Kind::kTransactions;
  const bool setup = event.f == F::kSetup && !transactions &&
                     (event.type != Type::kInvoke || formats::jepsen::is_pair(chunk, event));
  const bool on_register =
      setup || event.f == F::kRead || event.f == F::kWrite || event.f == F::kCas;
  if (!txn && !on_register) {
    if (transactions) return error(formats::jepsen::left_out(word(chunk, event), 1));
    return error(fmt::format(
        "found f={}, expected txn, or read, write and cas: a watch takes transactions and "
        "registers; `cupel check` can read the whole file",
        word(chunk, event)));
  }
  if (!kind_) {
    if (as_.kind && *as_.kind != formats::Workload::kTransactions &&
        (txn || *as_.kind != formats::Workload::kRegisters)) {
      return error(
          fmt::format("found operations of another kind than --kind {}", formats::name(*as_.kind)));
    }
    const bool as_transactions = txn || as_.kind == formats::Workload::kTransactions;
    kind_ = as_transactions ? Kind::kTransactions : Kind::kRegisters;
  }
  if (txn && *kind_ == Kind::kRegisters) {
    if (independent_ != true || as_.kind) {
      return error(
          "found a transaction after operations on registers, expected one of the two; `cupel "
          "check` can read the whole file");
    }
    kind_ = Kind::kTransactions;
  } else if (!txn && *kind_ == Kind::kTransactions) {
    independent_ = true;
    const bool counts = event.type == Type::kInvoke || event.type == Type::kOk;
    if (counts && formats::jepsen::is_pair(chunk, event) != true)
      return error(formats::jepsen::left_out(word(chunk, event), 1));
  }
  return base::Ok{};
}

base::Status Stream::header(const Chunk& chunk, const Event& event) {
  const Cell value = chunk.values[event.first];
  const auto malformed = [&] { return error(formats::jepsen::malformed_header(event.f)); };
  if (value.tag != Tag::kVector) return malformed();
  if (event.f == F::kMetadata) {
    for (std::size_t i = 0; i < value.size; ++i) {
      const Cell pair = chunk.child(value, i);
      if (pair.tag != Tag::kVector || pair.size != 2) return malformed();
      const Cell name = chunk.child(pair, 0), text = chunk.child(pair, 1);
      if (name.tag != Tag::kString || text.tag != Tag::kString) return malformed();
      metadata_.insert_or_assign(std::string(name.view()), std::string(text.view()));
    }
    return base::Ok{};
  }
  if (event.f == F::kSessions) {
    metadata_.try_emplace("sessions", std::to_string(value.size));
    return base::Ok{};
  }
  if (value.size != 2 || !chunk.child(value, 1).is_vector()) return malformed();
  note_written(chunk.child(value, 0));
  with_scalar(chunk, chunk.child(value, 0),
              [&](ScalarView scalar) { window_.set_default_initial(scalar); });
  const Cell pairs = chunk.child(value, 1);
  base::HashSet<Key> keys;
  for (std::size_t i = 0; i < pairs.size; ++i) {
    const Cell pair = chunk.child(pairs, i);
    if (!pair.is_vector() || pair.size != 2) return malformed();
    const Key key = key_of(chunk, chunk.child(pair, 0));
    if (!keys.insert(key).second) {
      return error(
          fmt::format("found two initial values of key {}", window_.keys().name(key).to_string()));
    }
    note_written(chunk.child(pair, 1));
    with_scalar(chunk, chunk.child(pair, 1),
                [&](ScalarView scalar) { window_.set_initial(key, scalar); });
  }
  return base::Ok{};
}

// All have times, or none has. When an operation ended of which nobody knows the outcome, or that
// did nothing, does not matter.
base::Status Stream::timed(const Event& event) {
  if (event.type == Type::kInfo || event.type == Type::kFail) return base::Ok{};
  if (!times_) {
    times_ = event.time != kNoTime         ? Times::kClock
             : event.type == Type::kInvoke ? Times::kLineOrder
                                           : Times::kNone;
    if (*times_ != Times::kClock && window_.drift() != 0)
      return error(history::drift_without_clock(window_.drift()));
  }
  if ((*times_ == Times::kClock) != (event.time != kNoTime)) {
    return error("found operations with a time and others without, expected times for all");
  }
  if (event.time != kNoTime && event.type != Type::kInvoke) latest_ = std::max(latest_, event.time);
  return base::Ok{};
}

Time Stream::time_of(const Event& event) const {
  if (*times_ == Times::kClock) return event.time;
  return *times_ == Times::kLineOrder ? static_cast<Time>(ordinal_) : kNoTime;
}

Stream::Process& Stream::process_of(const Chunk& chunk, const Event& event) {
  std::string name;
  if (event.process.tag != Tag::kInteger) {
    name = (event.process.tag == Tag::kKeyword ? ":" : "") + std::string(event.process.view());
  }
  (void)chunk;
  auto& process =
      event.process.tag == Tag::kInteger ? numbered_[event.process.integer] : named_[name];
  if (!process.session) {
    process.session =
        window_.session(prefix_ + (name.empty() ? std::to_string(event.process.integer) : name));
  }
  return process;
}

void Stream::note_invocation(Time time) {
  ++invocations_;
  if (latest_ != kNoTime && time < latest_)
    backward_ = std::max(backward_, history::between(time, latest_));
  latest_ = std::max(latest_, time);
}

base::Status Stream::invoke(const Chunk& chunk, const Event& event, Process& process) {
  if (auto refused = process.rules.invoke(event)) return error(*std::move(refused));
  if (times_ == Times::kNone) {
    return error(
        "found an invocation after completions without one, expected invocations for all or none");
  }
  if (event.time != kNoTime) note_invocation(event.time);
  if (auto read = operations(chunk, event, false); !read.ok()) return read;
  window_.begin(
      *process.session,
      {time_of(event), static_cast<std::uint32_t>(std::min<std::uint64_t>(ordinal_, 0xffffffff))},
      operations_);
  return base::Ok{};
}

base::Status Stream::complete(const Chunk& chunk, const Event& event, Process& process) {
  const bool open = process.rules.open, txn = process.rules.completes_txn(event);
  if (auto refused = process.rules.complete(event)) return error(*std::move(refused));
  // Without invocations nobody can say whether what it read is still to come.
  if (!open && event.type == Type::kOk) {
    return error(
        "found a completion without an invocation, so that a value may be read whose write is "
        "still to come; a watch needs the invocations, `cupel check` can read the whole file");
  }
  const auto status = event.type == Type::kOk     ? TxnStatus::kCommitted
                      : event.type == Type::kFail ? TxnStatus::kAborted
                                                  : TxnStatus::kIndeterminate;
  const auto label = event.index >= 0 ? static_cast<std::uint64_t>(event.index) : ordinal_;
  const Moment at{times_ ? time_of(event) : kNoTime,
                  static_cast<std::uint32_t>(std::min<std::uint64_t>(label, 0xffffffff))};
  // A completion says again what was done, or only how it ended.
  const bool says =
      txn ? event.is_txn
          : !open || (status == TxnStatus::kCommitted &&
                      (event.f == F::kRead || !chunk.values[event.first].is_nothing()));
  if (says) {
    if (auto read = operations(chunk, event, status == TxnStatus::kCommitted); !read.ok()) {
      return read;
    }
  }
  if (open) {
    if (auto chosen = choose(window_.tried(*process.session), event, says, txn); !chosen.ok())
      return chosen;
  }
  process.rules.open = false;
  window_.end(*process.session, status, at, operations_);
  return base::Ok{};
}

// The operations of the completion, or those of its invocation. A masked key changes both, and a
// stream with masks has been read without them before.
base::Status Stream::choose(const Operations& tried, const Event& event, bool says, bool txn) {
  formats::jepsen::Agreement agreed{.completion_counts = false};
  if (says && masked_.empty()) {
    agreed = formats::jepsen::agreement(tried, operations_, event.type);
    if (agreed.refusal) return error(*std::move(agreed.refusal));
    if (!txn && formats::jepsen::reads_another_value(tried, operations_))
      return error(formats::jepsen::kInvokedWithAValue);
  } else if (says) {
    agreed.completion_counts = event.type == Type::kOk || tried.empty() ||
                               (event.count != 0 && operations_.size() == tried.size());
  }
  if (agreed.completion_counts) return base::Ok{};
  operations_.clear();
  operations_.append(tried);
  return base::Ok{};
}

Key Stream::key_of(const Chunk& chunk, const Cell& cell) {
  if (cell.tag == Tag::kInteger) return window_.keys().of(cell.integer);
  return with_scalar(chunk, cell, [&](ScalarView scalar) { return window_.keys().of(scalar); });
}

Value Stream::value_of(const Chunk& chunk, const Cell& cell) {
  return with_scalar(chunk, cell, [&](ScalarView scalar) { return operations_.keep(scalar); });
}

base::Status Stream::operations(const Chunk& chunk, const Event& event, bool seen) {
  operations_.clear();
  if (!event.is_txn) return register_operation(chunk, event, seen);
  for (std::uint32_t i = event.first; i < event.first + event.count; ++i) {
    if (auto taken = operation(chunk, chunk.ops[i], seen); !taken.ok()) return taken;
  }
  return base::Ok{};
}

// Is a masked key in the range?
bool Stream::masks_between(ScalarView low, ScalarView high) const {
  return std::any_of(masked_.begin(), masked_.end(), [&](Key key) {
    const auto name = window_.keys().name(key);
    return !(name < low) && !(high < name);
  });
}

base::Status Stream::operation(const Chunk& chunk, const MicroOp& op, bool seen) {
  if (op.kind() == Micro::kRange) {
    if (op.value.is_nothing() && seen) {
      return error("found a range read without what it saw, expected [[key value] …]");
    }
    const bool masked = with_scalar(chunk, chunk.child(op.key, 0), [&](ScalarView low) {
      return with_scalar(chunk, chunk.child(op.key, 1),
                         [&](ScalarView high) { return masks_between(low, high); });
    });
    if (masked) return base::Ok{};
    const auto low = value_of(chunk, chunk.child(op.key, 0));
    operations_.range_read(low, value_of(chunk, chunk.child(op.key, 1)));
    for (std::size_t i = 0; i < op.value.size; ++i) {
      const Cell entry = chunk.child(op.value, i);
      const Key key = key_of(chunk, chunk.child(entry, 0));
      window_.keys().note_register(key);
      operations_.entry(key, value_of(chunk, chunk.child(entry, 1)));
    }
    return base::Ok{};
  }
  if (op.kind() == Micro::kRead) return read(chunk, op, seen);
  const Key key = key_of(chunk, op.key);
  if (op.kind() == Micro::kAppend) {
    window_.keys().note_list(key);
  } else {
    window_.keys().note_register(key);
  }
  if (window_.keys().is_both(key)) {
    return error(
        fmt::format("found key {} used both as a list (append) and as a register (write, "
                    "read of one value, initial value), expected one of the two; a list starts "
                    "empty",
                    window_.keys().name(key).to_string()));
  }
  if (op.kind() == Micro::kWrite || op.kind() == Micro::kInsert) note_written(op.value);
  switch (op.kind()) {
    case Micro::kWrite:
      operations_.write(OpKind::kWrite, key, value_of(chunk, op.value));
      break;
    case Micro::kAppend:
      operations_.write(OpKind::kAppend, key, value_of(chunk, op.value));
      break;
    case Micro::kInsert:
      operations_.write(OpKind::kInsert, key, value_of(chunk, op.value));
      break;
    case Micro::kDelete:
      operations_.write(OpKind::kDelete, key, value_of(chunk, op.value));
      break;
    default: {
      note_written(chunk.child(op.value, 1));
      compare_and_set(key, chunk, op.value, op.value.note == 0);
    }
  }
  return base::Ok{};
}

base::Status Stream::read(const Chunk& chunk, const MicroOp& op, bool seen) {
  auto& keys = window_.keys();
  const Key key = key_of(chunk, op.key);
  const bool known = seen && op.value.note == 0 && !masked_.contains(key);
  if (op.value.is_vector() && !keys.is_register(key)) {
    keys.note_list(key);
    operations_.list_read(key, known);
    for (std::size_t i = 0; known && i < op.value.size; ++i) {
      operations_.element(value_of(chunk, chunk.child(op.value, i)));
    }
    return base::Ok{};
  }
  if (known && !op.value.is_nothing()) {
    keys.note_register(key);
    if (keys.is_both(key)) {
      return error(
          fmt::format("found a read of one value of key {}, which is a list elsewhere, "
                      "expected a vector",
                      keys.name(key).to_string()));
    }
  }
  if (known && !collection_written_ && formats::jepsen::is_collection(op.value) && !as_.kind) {
    return error(formats::jepsen::collection_read(
        shown(chunk, op.value), *kind_ == Kind::kTransactions ? formats::Workload::kTransactions
                                                              : formats::Workload::kRegisters));
  }
  operations_.read(key, value_of(chunk, op.value), known);
  return base::Ok{};
}

void Stream::note_written(const Cell& value) {
  collection_written_ = collection_written_ || formats::jepsen::is_collection(value);
}

// `pair`: expected and desired.
void Stream::compare_and_set(Key key, const Chunk& chunk, const Cell& pair, bool succeeded) {
  const Cell expected = chunk.child(pair, 0), desired = chunk.child(pair, 1);
  if (!masked_.contains(key)) {
    const auto value = value_of(chunk, expected);
    operations_.compare_and_set(key, value, value_of(chunk, desired), succeeded);
  } else if (succeeded) {
    operations_.write(OpKind::kWrite, key, value_of(chunk, desired));
  } else {
    operations_.read(key, value_of(chunk, expected), /*known=*/false);
  }
}

base::Status Stream::register_operation(const Chunk& chunk, const Event& event, bool seen) {
  if (!independent_) independent_ = formats::jepsen::is_pair(chunk, event);
  if (formats::jepsen::reads_without_key(chunk, event)) {
    if (independent_ == true) return error(formats::jepsen::kReadWithoutKey);
    independent_ = false;
  }
  auto found = formats::jepsen::register_operation(chunk, event, independent_ == true);
  if (found.refusal) return error(*std::move(found.refusal));
  if (*kind_ == Kind::kRegisters) window_.keys().note_register(key_of(chunk, found.op.key));
  return operation(chunk, found.op, seen);
}

void Stream::end() {
  for (auto& [number, process] : numbered_) window_.close(*process.session);
  for (auto& [name, process] : named_) window_.close(*process.session);
}

void Stream::save_process(StateWriter& out, const Process& process) {
  out.flag(process.session.has_value());
  if (process.session) out.number(*process.session);
  out.flag(process.rules.open);
  out.flag(process.rules.has_invoked);
  out.flag(process.rules.is_txn);
  out.number(static_cast<std::uint64_t>(process.rules.f));
  out.integer(process.rules.invoked);
}

Stream::Process Stream::load_process(StateReader& in, std::size_t sessions) {
  Process process;
  if (in.flag()) process.session = in.below(sessions);
  process.rules.open = in.flag();
  process.rules.has_invoked = in.flag();
  process.rules.is_txn = in.flag();
  process.rules.f = static_cast<F>(in.below(kFs));
  process.rules.invoked = in.integer();
  return process;
}

void Stream::save(StateWriter& out) const {
  out.number(metadata_.size());
  for (const auto& [name, text] : metadata_) {
    out.text(name);
    out.text(text);
  }
  out.number(ordinal_);
  out.number(lines_);
  out.number(kind_ ? 1 + static_cast<std::uint64_t>(*kind_) : 0);
  out.number(independent_ ? 1 + static_cast<std::uint64_t>(*independent_) : 0);
  out.flag(collection_written_);
  out.number(times_ ? 1 + static_cast<std::uint64_t>(*times_) : 0);
  out.integer(latest_);
  out.integer(backward_);
  out.number(invocations_);
  out.number(numbered_.size());
  for (const auto& [number, process] : numbered_) {
    out.integer(number);
    save_process(out, process);
  }
  out.number(named_.size());
  for (const auto& [name, process] : named_) {
    out.text(name);
    save_process(out, process);
  }
}

void Stream::load(StateReader& in) {
  const auto facts = in.count();
  for (std::size_t i = 0; i < facts && in.good(); ++i) {
    std::string name(in.text());
    metadata_.insert_or_assign(std::move(name), std::string(in.text()));
  }
  ordinal_ = in.number();
  lines_ = in.number();
  if (const auto kind = in.below(3); kind > 0) kind_ = static_cast<Kind>(kind - 1);
  if (const auto pairs = in.below(3); pairs > 0) independent_ = pairs == 2;
  collection_written_ = in.flag();
  if (const auto times = in.below(4); times > 0) times_ = static_cast<Times>(times - 1);
  latest_ = in.integer();
  backward_ = in.integer();
  invocations_ = in.number();
  const auto sessions = window_.session_count();
  const auto numbered = in.count();
  for (std::size_t i = 0; i < numbered && in.good(); ++i) {
    const auto number = in.integer();
    numbered_.insert_or_assign(number, load_process(in, sessions));
  }
  const auto named = in.count();
  for (std::size_t i = 0; i < named && in.good(); ++i) {
    std::string name(in.text());
    named_.insert_or_assign(name, load_process(in, sessions));
  }
}

}  // namespace cupel::online
