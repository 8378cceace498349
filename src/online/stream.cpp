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
  if (!kind_) {
    if (auto known = classify(chunk, event); !known.ok()) return known;
  }
  if (event.is_txn != (*kind_ == Kind::kTransactions)) {
    if (*kind_ == Kind::kTransactions) return base::Ok{};  // as check skips them
    return error(
        "found a transaction after operations on registers, expected one of the two; `cupel "
        "check` can read the whole file");
  }
  if (event.process.tag == Tag::kAbsent) {
    return error(
        "found an operation without a process, which a watch cannot place; `cupel check` can read "
        "the whole file");
  }
  if (auto good = timed(event); !good.ok()) return good;
  auto& process = process_of(chunk, event);
  return event.type == Type::kInvoke ? invoke(chunk, event, process)
                                     : complete(chunk, event, process);
}

base::Status Stream::classify(const Chunk& chunk, const Event& event) {
  if (event.is_txn) {
    kind_ = Kind::kTransactions;
  } else if (event.f == F::kRead || event.f == F::kWrite || event.f == F::kCas) {
    kind_ = Kind::kRegisters;
  } else {
    const auto word =
        event.f == F::kOther ? chunk.names[event.name] : std::string("acquire, put …");
    return error(fmt::format(
        "found f={}, expected txn, or read, write and cas: a watch takes transactions and "
        "registers; `cupel check` can read the whole file",
        word));
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
  if (window_.is_open(*process.session)) {
    return error(
        "found a second invocation of a process before the completion of its first, "
        "expected ok, fail or info");
  }
  if (times_ == Times::kNone) {
    return error(
        "found an invocation after completions without one, expected invocations for all or none");
  }
  process.has_invoked = true;
  process.f = event.f;
  process.invoked = time_of(event);
  if (event.time != kNoTime) note_invocation(event.time);
  if (auto read = operations(chunk, event, false); !read.ok()) return read;
  window_.begin(
      *process.session,
      {time_of(event), static_cast<std::uint32_t>(std::min<std::uint64_t>(ordinal_, 0xffffffff))},
      operations_);
  return base::Ok{};
}

base::Status Stream::complete(const Chunk& chunk, const Event& event, Process& process) {
  const bool open = window_.is_open(*process.session);
  if (open && process.f != event.f && process.f != F::kAbsent && event.f != F::kAbsent) {
    return error("found a completion of another f than its process invoked");
  }
  if (open && event.time != kNoTime && event.time < process.invoked) {
    return error(fmt::format(
        "found a completion at time {}, before its invocation at {}, expected times of one clock",
        event.time, process.invoked));
  }
  if (!open && process.has_invoked && event.type != Type::kInfo) {
    return error(
        "found a completion of a process that has nothing open: its last operation is already "
        "completed");
  }
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
  // A completion that repeats the operations may know what some reads saw; else the invocation
  // says what was tried.
  const auto& tried = window_.tried(*process.session);
  const bool registers = *kind_ == Kind::kRegisters;
  bool repeats = status == TxnStatus::kCommitted || !open ||
                 (event.count != 0 && (event.count == tried.size() || tried.empty()));
  if (registers && open && chunk.values[event.first].is_nothing()) {
    repeats = event.f == F::kRead && status == TxnStatus::kCommitted;  // a read of nothing
  }
  if (registers && open && status != TxnStatus::kCommitted) repeats = false;
  if (repeats) {
    if (auto read = operations(chunk, event, status == TxnStatus::kCommitted); !read.ok()) {
      return read;
    }
  } else {
    operations_.clear();
    operations_.append(tried);
  }
  window_.end(*process.session, status, at, operations_);
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
  if (*kind_ == Kind::kRegisters) return register_operation(chunk, event, seen);
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
  operations_.read(key, value_of(chunk, op.value), known);
  return base::Ok{};
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
  Cell payload = chunk.values[event.first];
  if (!independent_ && !payload.is_nothing()) {
    const bool pair = payload.is_vector() && payload.size == 2;
    independent_ = pair && (event.f != F::kCas || chunk.child(payload, 1).is_vector());
  }
  Key key = window_.keys().of(ScalarView::of(std::string_view("register")));
  if (independent_ == true) {
    if (!payload.is_vector() || payload.size != 2) {
      return error("found " + shown(chunk, payload) +
                   ", expected [key value] as elsewhere in this stream");
    }
    key = key_of(chunk, chunk.child(payload, 0));
    payload = chunk.child(payload, 1);
  }
  window_.keys().note_register(key);
  if (event.f == F::kRead) {
    operations_.read(key, value_of(chunk, payload), seen && !masked_.contains(key));
  } else if (event.f == F::kWrite) {
    operations_.write(OpKind::kWrite, key, value_of(chunk, payload));
  } else if (payload.is_vector() && payload.size == 2) {
    compare_and_set(key, chunk, payload, true);
  } else {
    return error("found a cas of " + shown(chunk, payload) + ", expected [old new]");
  }
  return base::Ok{};
}

void Stream::end() {
  for (auto& [number, process] : numbered_) window_.close(*process.session);
  for (auto& [name, process] : named_) window_.close(*process.session);
}

void Stream::save_process(StateWriter& out, const Process& process) {
  out.flag(process.session.has_value());
  if (process.session) out.number(*process.session);
  out.flag(process.has_invoked);
  out.number(static_cast<std::uint64_t>(process.f));
  out.integer(process.invoked);
}

Stream::Process Stream::load_process(StateReader& in, std::size_t sessions) {
  Process process;
  if (in.flag()) process.session = in.below(sessions);
  process.has_invoked = in.flag();
  process.f = static_cast<F>(in.below(kFs));
  process.invoked = in.integer();
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
