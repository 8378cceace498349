// Op stream: see the header.
#include "data/formats/op_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/newlines.hpp"
#include "data/formats/jepsen_reader.hpp"

namespace cupel::formats {

using history::kNoTime;
using history::Moment;
using history::Operations;
using history::Time;
using history::TxnStatus;
using jepsen::Interpreter;
using jepsen::Tag;
using jepsen::Type;

namespace {

// Whether the first line has a map from its beginning to its end.
bool is_one_map(std::string_view lines) {
  const auto line = lines.substr(0, lines.find_first_of("\r\n"));
  return (line.starts_with('{') || line.starts_with("#jepsen")) && line.ends_with('}');
}

// A write that may have been invoked without its value. The reader of whole files takes the value
// of the ok, if no such write has another outcome.
bool writes_null(const jepsen::Event& event, const Operations& tried) {
  return event.f == jepsen::F::kWrite && !event.is_txn && !tried.empty() &&
         tried.all()[0].value.kind == history::ScalarKind::kNull;
}

// It may write what it does not say. What it only reads is not among what it tries.
bool is_silent(const jepsen::Event& event, const Operations& tried) {
  if (event.is_txn) return event.count == 0 && !event.dropped;
  return event.f != jepsen::F::kRead && (tried.empty() || writes_null(event, tried));
}

bool leaves_open(const std::string& refusal) {
  return refusal.ends_with(kNeedsTheWhole);
}

std::string left_open(std::string_view refusal) {
  return std::string(refusal) + kNeedsTheWhole;
}

std::string_view without_byte_order_mark(std::string_view lines) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  return lines.starts_with(kMark) ? lines.substr(kMark.size()) : lines;
}

}  // namespace

base::Error OpStream::error(std::string message) const {
  return {.message = std::move(message),
          .file = name_,
          .line = lines_ + 1 + base::count_newlines(piece_.substr(0, byte_))};
}

base::Error OpStream::refused(std::string message) {
  const auto line = kinds_.refused_place();
  if (const auto also = line ? interpreter_.misspelling() : ""; !also.empty()) {
    const bool later = message.ends_with(kNeedsTheWhole);
    const auto end = message.size() - (later ? std::string_view(kNeedsTheWhole).size() : 0);
    message.insert(end, "; also " + also);
  }
  auto found = error(std::move(message));
  if (line) found.line = *line;
  return found;
}

std::uint64_t OpStream::line() {
  counted_lines_ += base::count_newlines(piece_.substr(counted_, byte_ - counted_));
  counted_ = byte_;
  return lines_ + 1 + counted_lines_;
}

void OpStream::give(std::string_view lines) {
  if (!edn_ && lines_ == 0) lines = without_byte_order_mark(lines);
  lines_ += base::count_newlines(piece_);
  piece_ = lines;
  byte_ = counted_ = counted_lines_ = 0;
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
      if (auto wrong = take(chunk, event)) return refused(*std::move(wrong));
      ++ordinal_;
      return true;
    }
    if (!chunk.error) continue;
    byte_ = chunk.error->byte;
    auto why = error(chunk.error->message);
    if (lines_ == 0 && !is_one_map(piece_)) why.message += kOneMapALine;
    return why;
  }
  lines_ += base::count_newlines(piece_);
  piece_ = {};
  byte_ = counted_ = counted_lines_ = 0;
  return false;
}

base::Status OpStream::finish() {
  note_open();
  if (auto wrong = kinds_.decide(/*again=*/true)) return refused(*std::move(wrong));
  if (auto wrong = end_set_up(/*others=*/false, kNoTime)) return refused(*std::move(wrong));
  return base::Ok{};
}

void OpStream::note_open() {
  for (std::uint32_t process = 0; process < processes_.size(); ++process) {
    if (auto& said = processes_[process].said; said && is_open(process)) kinds_.never_ended(*said);
  }
}

bool OpStream::nothing_happened() const {
  return interpreter_.nothing_happened(says_nothing_happened()) &&
         (says_nothing_happened() || interpreter_.any_nemesis());
}

std::string OpStream::fact(const std::string& name) const {
  if (name == "ignored") return interpreter_.ignored();
  if (name == jepsen::kNotIgnored) return interpreter_.missing();
  if (name == "times" && clock_ == false) return "line order";
  if (name == "kind" && any_client()) {
    const auto& kinds = kinds_.kinds();
    const bool one = kinds.kind == Workload::kRegisters && !kinds.keyed;
    if (auto words = words_of(kinds, one ? 1 : operations_.keys()); !words.empty()) return words;
  }
  const auto found = facts_.find(name);
  return found == facts_.end() ? std::string() : found->second;
}

// --- one map ---

OpStream::Refusal OpStream::take(const Chunk& chunk, const Event& event) {
  Step step;
  if (auto wrong = interpreter_.take(chunk, event, step)) return wrong;
  if (step.what == Interpreter::What::kHeader) {
    auto wrong = take_header(chunk, event);
    if (!said_kind().empty()) kinds_.converted(said_kind());
    if (collection_held()) {
      kinds_.collection_held();
      operations_.allow_collections(starts_as_collection());
    }
    return wrong;
  }
  if (step.what == Interpreter::What::kNothing) return std::nullopt;
  if (event.process.tag == Tag::kAbsent) {
    return left_open("found an operation without a process, whose place in the order is not known");
  }
  if (step.process == processes_.size()) processes_.emplace_back().name = session_name(event);
  auto wrong = take_operation(chunk, event, step, processes_[step.process]);
  if (!wrong) return wrong;
  // The reader of whole files finds the kind of all operations first.
  note_open();
  auto kind = kinds_.decide(/*again=*/true);
  if (!kind) return wrong;
  if (leaves_open(*wrong) && !leaves_open(*kind)) *kind += kNeedsTheWhole;
  return kind;
}

OpStream::Refusal OpStream::take_operation(const Chunk& chunk, const Event& event, const Step& step,
                                           Process& process) {
  const auto place = kinds_.needs_place(step) ? line() : 0;
  if (auto wrong = kinds_.take(chunk, event, step, process.said, place)) return wrong;
  if (auto wrong = note_times(event)) return wrong;
  if (!set_up_.is_over() && (!step.sets_up || sink_.has_begun())) {
    const bool begins = event.type == Type::kInvoke;
    if (auto wrong = end_set_up(/*others=*/true, begins ? event.time : kNoTime)) return wrong;
  }
  return event.type == Type::kInvoke ? invoke(chunk, event, step, process)
                                     : complete(chunk, event, step, process);
}

OpStream::Refusal OpStream::may_set_initial() const {
  if (!any_client()) return std::nullopt;
  return left_open("found initial values after the first operation, expected them before it");
}

OpStream::Refusal OpStream::set_initial(history::ScalarView key, history::ScalarView value,
                                        bool is_register) {
  const auto id = operations_.key_of(key);
  sink_.set_initial(id, value);
  return is_register ? operations_.claim(id, kRegister) : std::nullopt;
}

// All have times, or none has. When an operation ended of which nobody knows the outcome, or that
// did nothing, does not matter.
OpStream::Refusal OpStream::note_times(const Event& event) {
  if (event.type == Type::kInfo || event.type == Type::kFail) return std::nullopt;
  if (!clock_) clock_ = event.time != kNoTime;
  if (*clock_ == (event.time != kNoTime)) return std::nullopt;
  return left_open("found operations with a time and others without, expected times for all");
}

Moment OpStream::moment_of(const Event& event) const {
  return {.time = clock_ != false ? event.time : static_cast<Time>(ordinal_),
          .label = label_of(event, ordinal_)};
}

OpStream::Refusal OpStream::invoke(const Chunk& chunk, const Event& event, const Step& step,
                                   Process& process) {
  process.invoked = moment_of(event);
  process.tried.clear();
  process.read_with.clear();
  if (event.f == jepsen::F::kRead && !event.is_txn) {
    const auto read = jepsen::register_operation(chunk, event, kinds_.kinds().keyed);
    if (!read.refusal) process.read_with = jepsen::invoked_value(chunk, read.op);
  }
  if (!kinds_.tries_nothing(event, process.said)) {
    kinds_.taken(event);
    if (auto wrong = operations_.take(chunk, event, /*seen=*/false, kinds_.kinds(), process.tried))
      return wrong;
  }
  if (!set_up_.is_over()) {
    set_up_.invoked(step.process, ordinal_, process.invoked);
    return std::nullopt;
  }
  const auto ended = sink_.note_set_up(kNoTime);
  if (clock_ == true && ended != kNoTime && event.time < ended) {
    return fmt::format(
        "found an operation invoked at {}, before the set-up ended at {}, so that the set-up is "
        "not what the keys start with{}",
        event.time, ended, kNeedsTheWhole);
  }
  sink_.begin(session_of(process), process.invoked, process.tried, is_silent(event, process.tried));
  return std::nullopt;
}

OpStream::Refusal OpStream::complete(const Chunk& chunk, const Event& event, const Step& step,
                                     Process& process) {
  const bool committed = step.status == TxnStatus::kCommitted;
  if (!step.invoked) {
    return left_open(
        "found a completion without an invocation, so that a value may be read whose write "
        "is still to come");
  }
  // A completed set-up may be silent.
  const bool silent = event.f == jepsen::F::kSetup && !event.is_txn && !process.tried.empty() &&
                      chunk.values[event.first].is_nothing();
  const bool says = !silent && kinds_.says_what_was_done(chunk, event, step);
  seen_.clear();
  if (says) {
    kinds_.taken(event);
    if (auto wrong = operations_.take(chunk, event, committed, kinds_.kinds(), seen_)) return wrong;
  }
  if (auto wrong = kinds_.wrong_lock(chunk, event, step.status, process.holds)) return wrong;
  if (!says && !step.is_txn) {
    const bool writes = event.f == jepsen::F::kWrite || event.f == jepsen::F::kCas;
    if (writes && process.tried.empty()) return jepsen::no_pair("nil");
    auto wrong = operations_.disagreement(chunk, event, kinds_.kinds(), process.tried);
    if (wrong) return wrong;
  }
  const auto agreed = says ? jepsen::agreement(process.tried, seen_, event.type)
                           : jepsen::Agreement{.completion_counts = false};
  if (agreed.refusal)
    return *agreed.refusal + (writes_null(event, process.tried) ? kNeedsTheWhole : "");
  if (!process.read_with.empty() && says) {
    const auto done = jepsen::register_operation(chunk, event, kinds_.kinds().keyed);
    if (jepsen::reads_another_value(process.read_with, chunk, done.op))
      return jepsen::kInvokedWithAValue;
  }
  if (!agreed.completion_counts) std::swap(seen_, process.tried);
  if (set_up_.is_over()) {
    sink_.end(session_of(process), step.status, process.invoked, moment_of(event), seen_);
  } else {
    set_up_.ended(step.process, ordinal_, moment_of(event), step.status, seen_);
  }
  process.tried.clear();
  if (step.status == TxnStatus::kIndeterminate) process.tried = {};  // most never come back
  return std::nullopt;
}

// --- set-up ---

std::uint32_t OpStream::session_of(Process& process) {
  if (!process.session) process.session = sink_.session(std::exchange(process.name, {}));
  return *process.session;
}

OpStream::Refusal OpStream::end_set_up(bool others, Time others_begin) {
  operations_.end_set_up();
  const auto tried = [this](std::uint32_t process) -> const Operations& {
    return processes_[process].tried;
  };
  auto all = set_up_.end({.others = others && !sink_.has_begun(),
                          .others_begin = others_begin,
                          .has_clock = clock_ == true,
                          .tried = tried});
  for (auto& one : all) {
    if (!one.is_content) continue;
    ++kinds_.kinds().set_ups;
    for (const auto& op : one.seen.all()) {
      if (auto wrong = start_with(sink_.name_of(op.key), one.seen.view(op.value))) return wrong;
    }
    sink_.note_set_up(clock_ == true ? one.ended.time : kNoTime);
  }
  for (auto& one : all) {
    if (one.is_content) continue;
    const auto& written = one.ended_at ? one.seen : tried(one.process);
    for (const auto& op : written.all()) {
      if (auto wrong = operations_.use(op.key, kRegister)) return wrong;
    }
    auto& process = processes_[one.process];
    const auto session = session_of(process);
    if (one.invoked_at) sink_.begin(session, one.invoked, written, written.empty());
    if (one.ended_at) sink_.end(session, one.status, one.invoked, one.ended, one.seen);
  }
  return std::nullopt;
}

// --- state ---

void OpStream::save(history::StateWriter& out) const {
  const auto optional = [&](std::optional<bool> value) { out.number(value ? 1 + *value : 0); };
  interpreter_.save(out);
  kinds_.save(out);
  operations_.save(out);
  out.number(facts_.size());
  for (const auto& [name, text] : facts_) {
    out.text(name);
    out.text(text);
  }
  out.number(ordinal_);
  out.number(lines_);
  optional(edn_);
  optional(clock_);
  for (const auto& process : processes_) {
    out.number(process.session ? 1 + *process.session : 0);
    out.text(process.name);
    out.integer(process.invoked.time);
    out.number(process.invoked.label);
    process.tried.save(out);
    out.text(process.read_with);
    out.flag(process.said.has_value());
    if (process.said) process.said->save(out);
    out.flag(process.holds);
  }
  set_up_.save(out);
}

void OpStream::load(history::StateReader& in, std::size_t sessions, std::size_t keys) {
  const auto optional = [&]() -> std::optional<bool> {
    const auto value = in.below(3);
    return value == 0 ? std::nullopt : std::optional(value == 2);
  };
  interpreter_.load(in);
  kinds_.load(in);
  operations_.load(in);
  const auto facts = in.count();
  for (std::size_t i = 0; i < facts && in.good(); ++i) {
    std::string name(in.text());
    facts_.insert_or_assign(std::move(name), std::string(in.text()));
  }
  ordinal_ = in.number();
  lines_ = in.number();
  edn_ = optional();
  clock_ = optional();
  for (std::size_t i = 0; i < interpreter_.process_count() && in.good(); ++i) {
    auto& process = processes_.emplace_back();
    if (const auto session = in.below(sessions + 1); session > 0) process.session = session - 1;
    process.name = in.text();
    process.invoked.time = in.integer();
    process.invoked.label = static_cast<std::uint32_t>(in.number());
    process.tried.load(in, keys);
    process.read_with = in.text();
    if (in.flag()) process.said.emplace().load(in);
    process.holds = in.flag();
  }
  set_up_.load(in, processes_.size(), keys);
}

}  // namespace cupel::formats
