// Op interpreter: see the header.
#include "data/formats/op_interpreter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/spelling.hpp"

namespace cupel::formats::jepsen {

namespace {

// An operation of init or setup that only writes, as far as this event says.
bool only_writes(const Chunk& chunk, const Event& event) {
  if (event.f != F::kSetup) return false;
  const auto begin = chunk.ops.begin() + event.first;
  return !event.is_txn || std::all_of(begin, begin + event.count, [](const MicroOp& op) {
    return op.kind() == Micro::kWrite || op.kind() == Micro::kInsert;
  });
}

}  // namespace

Refusal Interpreter::take(const Chunk& chunk, const Event& event, Step& step) {
  step = {};
  if (event.is_header()) {
    header_ = true;
    step.what = What::kHeader;
    return std::nullopt;
  }
  (event.client ? client_ : nemesis_) = true;
  if (!event.client) return std::nullopt;
  if (!as_.ignore.empty()) {
    const auto name = word(chunk, event);
    if (as_.ignores(name)) {
      ++ignored_[std::string(name)];
      return std::nullopt;
    }
    if (!words_.contains(std::string(name))) words_.emplace(name.empty() ? "txn" : name);
  }
  anonymous_ = anonymous_ || event.process.tag == Tag::kAbsent;
  timed_ = timed_ || event.time != history::kNoTime;
  step.process = processes_.intern(scalar_of(chunk, event.process, text_));
  if (step.process == open_.size()) {
    open_.emplace_back();
    if (auto refused = named_alike(event.process)) return refused;
  }
  auto& open = open_[step.process];
  step.sets_up = only_writes(chunk, event);
  if (!open.open || event.type == Type::kInvoke) {
    if (auto refused = begins_anew(event)) return refused;
  }
  if (event.type == Type::kInvoke) {
    step.what = What::kInvocation;
    step.is_txn = event.is_txn;
    auto refused = open.invoke(event);
    return refused ? refused : take_key(chunk, event, open);
  }
  step.what = What::kCompletion;
  step.invoked = open.open;
  step.is_txn = open.completes_txn(event);
  step.status = event.type == Type::kOk     ? history::TxnStatus::kCommitted
                : event.type == Type::kFail ? history::TxnStatus::kAborted
                                            : history::TxnStatus::kIndeterminate;
  all_invoked_ = all_invoked_ && open.open;
  auto refused = open.complete(event);
  if (!refused) refused = take_key(chunk, event, open);
  open.open = false;
  return refused;
}

// Sessions go by name, and :a is the name of the keyword and of the string.
Refusal Interpreter::named_alike(const Cell& process) const {
  const bool keyword = process.tag == Tag::kKeyword;
  if (!keyword && !(process.tag == Tag::kString && process.view().starts_with(':')))
    return std::nullopt;
  const auto name = (keyword ? ":" : "") + std::string(process.view());
  const auto other = keyword ? history::ScalarView::of(name)
                             : history::ScalarView::keyword(process.view().substr(1));
  if (!processes_.find(other)) return std::nullopt;
  return fmt::format(
      "found two processes of the name {}, a keyword and a string. Give them different names",
      name);
}

// The field `key` of an operation on an object.
Refusal Interpreter::take_key(const Chunk& chunk, const Event& event, OpenOperation& open) {
  if (event.is_txn || (open.open && open.is_txn) || !object_of(event.f)) return std::nullopt;
  const Cell &value = chunk.values[event.first], &key = chunk.values[event.first + 1];
  std::string name;
  if (!key.is_nothing()) canonical(chunk, key, name);
  if (event.type == Type::kInvoke) {
    open.key = name;
    open.has_value = !value.is_nothing();
  } else if (open.open) {
    return open.other_key(event, value, name);
  } else if (event.type != Type::kOk) {
    return std::nullopt;
  }
  if (object_of(event.f) == Workload::kStrings || (event.f == F::kSetup && value.is_nothing()))
    return std::nullopt;
  if (!keyed_) keyed_ = !name.empty();
  if (*keyed_ == name.empty()) {
    return fmt::format(
        "found f={} with{} the field key, and the operations before with{} it. Record the key in "
        "every operation, or in none",
        word(chunk, event), name.empty() ? "out" : "", name.empty() ? "" : "out");
  }
  if (object_of(event.f) != Workload::kMutex || name.empty()) return std::nullopt;
  if (lock_.empty()) lock_ = name;
  if (lock_ == name) return std::nullopt;
  return fmt::format(
      "found f={} of the lock {}, and before it operations of the lock {}: cupel checks one mutex. "
      "Record the operations of each lock in a file of their own",
      word(chunk, event), name, lock_);
}

Refusal Interpreter::begins_anew(const Event& event) {
  if (event.index < 0) return std::nullopt;
  if (first_index_ < 0) {
    first_index_ = event.index;
    return std::nullopt;
  }
  if (event.index != first_index_) return std::nullopt;
  return fmt::format(
      "found index {} again, with which the first operation begins: another history follows in "
      "this file. Check each by itself, or join recordings of one database by cupel merge",
      event.index);
}

std::string Interpreter::ignored() const {
  std::string lines;
  for (const auto& [f, count] : ignored_)
    lines += fmt::format("{}{} {}", lines.empty() ? "" : "\n", count, f);
  return lines;
}

std::string Interpreter::missing() const {
  std::vector<std::string> names;
  for (const auto& name : as_.ignore) {
    if (!ignored_.contains(name)) names.push_back(name);
  }
  if (names.empty()) return {};
  return fmt::format("no op map has f={}, which --ignore names; the others have f={}",
                     fmt::join(names, ", f="), fmt::join(words_, ", "));
}

std::string Interpreter::misspelling() const {
  const std::vector<std::string> words(words_.begin(), words_.end());
  for (const auto& name : as_.ignore) {
    if (base::nearest(name, words).empty()) continue;
    return fmt::format("found no op map with f={}, which --ignore names.{}", name,
                       base::suggestion(name, words));
  }
  return {};
}

Refusal Interpreter::misspelled() const {
  auto found = ignored_.empty() ? misspelling() : std::string();
  return found.empty() ? std::nullopt : Refusal(std::move(found));
}

void Interpreter::save(history::StateWriter& out) const {
  out.flag(all_invoked_);
  out.flag(timed_);
  for (const bool came : {client_, nemesis_, header_}) out.flag(came);
  out.number(keyed_ ? 1 + *keyed_ : 0);
  out.text(lock_);
  out.integer(first_index_);
  out.number(ignored_.size());
  for (const auto& [f, count] : ignored_) {
    out.text(f);
    out.number(count);
  }
  out.number(open_.size());
  for (std::uint32_t process = 0; process < open_.size(); ++process) {
    out.scalar(processes_.at(process));
    const auto& open = open_[process];
    out.flag(open.open);
    out.flag(open.has_invoked);
    out.flag(open.is_txn);
    out.text(open.key);
    out.flag(open.has_value);
    out.number(static_cast<std::uint64_t>(open.f));
    out.integer(open.invoked);
  }
}

void Interpreter::load(history::StateReader& in) {
  constexpr auto kFs = static_cast<std::size_t>(F::kOther) + 1;
  all_invoked_ = in.flag();
  timed_ = in.flag();
  for (bool* const came : {&client_, &nemesis_, &header_}) *came = in.flag();
  const auto keyed = in.below(3);
  keyed_ = keyed == 0 ? std::nullopt : std::optional(keyed == 2);
  lock_ = in.text();
  first_index_ = in.integer();
  const auto ignored = in.count();
  for (std::size_t i = 0; i < ignored && in.good(); ++i) {
    std::string f(in.text());
    ignored_[std::move(f)] = in.number();
  }
  const auto processes = in.count();
  for (std::size_t i = 0; i < processes && in.good(); ++i) {
    if (processes_.intern(in.scalar()) != i) return in.spoil();  // it was there already
    auto& open = open_.emplace_back();
    open.open = in.flag();
    open.has_invoked = in.flag();
    open.is_txn = in.flag();
    open.key = in.text();
    open.has_value = in.flag();
    open.f = static_cast<F>(in.below(kFs));
    open.invoked = in.integer();
  }
}

std::string session_name(const Event& event) {
  if (event.process.tag == Tag::kInteger) return std::to_string(event.process.integer);
  return (event.process.tag == Tag::kKeyword ? ":" : "") + std::string(event.process.view());
}

std::uint32_t label_of(const Event& event, std::uint64_t ordinal) {
  const auto label = event.index >= 0 ? static_cast<std::uint64_t>(event.index) : ordinal;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(label, 0xffffffff));
}

}  // namespace cupel::formats::jepsen
