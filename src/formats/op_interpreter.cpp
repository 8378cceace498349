// Op interpreter: see the header.
#include "formats/op_interpreter.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash_table.hpp"

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
    step.what = What::kHeader;
    return read_header(chunk, event);
  }
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
  if (step.process == open_.size()) open_.emplace_back();
  auto& open = open_[step.process];
  step.sets_up = only_writes(chunk, event);
  if (event.type == Type::kInvoke) {
    step.what = What::kInvocation;
    step.is_txn = event.is_txn;
    return open.invoke(event);
  }
  step.what = What::kCompletion;
  step.invoked = open.open;
  step.is_txn = open.completes_txn(event);
  step.status = event.type == Type::kOk     ? history::TxnStatus::kCommitted
                : event.type == Type::kFail ? history::TxnStatus::kAborted
                                            : history::TxnStatus::kIndeterminate;
  all_invoked_ = all_invoked_ && open.open;
  auto refused = open.complete(event);
  open.open = false;
  return refused;
}

// Initial values, metadata, or the order of sessions.
Refusal Interpreter::read_header(const Chunk& chunk, const Event& event) {
  header_ = {};
  const Cell value = chunk.values[event.first];
  const Refusal malformed = malformed_header(event.f);
  if (!value.is_vector()) return malformed;
  if (event.f == F::kMetadata) {
    for (std::size_t i = 0; i < value.size; ++i) {
      const Cell pair = chunk.child(value, i);
      if (!pair.is_vector() || pair.size != 2) return malformed;
      const Cell name = chunk.child(pair, 0), text = chunk.child(pair, 1);
      if (name.tag != Tag::kString || text.tag != Tag::kString) return malformed;
      header_.metadata.emplace_back(name.view(), text.view());
    }
    return std::nullopt;
  }
  if (event.f == F::kSessions) {
    auto& names = header_.sessions.emplace();
    for (std::size_t i = 0; i < value.size; ++i) {
      const Cell name = chunk.child(value, i);
      if (name.tag != Tag::kString) return malformed;
      names.push_back(name.view());
    }
    return std::nullopt;
  }
  if (value.size != 2 || !chunk.child(value, 1).is_vector()) return malformed;
  auto& initial = header_.initial.emplace();
  initial.of_all = chunk.child(value, 0);
  const Cell pairs = chunk.child(value, 1);
  history::ScalarTable keys;
  for (std::size_t i = 0; i < pairs.size; ++i) {
    const Cell pair = chunk.child(pairs, i);
    if (!pair.is_vector() || pair.size != 2) return malformed;
    const Cell key = chunk.child(pair, 0);
    if (keys.intern(scalar_of(chunk, key, text_)) != i)
      return fmt::format("found two initial values of key {}", shown(chunk, key));
    initial.of_keys.emplace_back(key, chunk.child(pair, 1));
  }
  return std::nullopt;
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

void Interpreter::save(history::StateWriter& out) const {
  out.flag(all_invoked_);
  out.flag(timed_);
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
    out.number(static_cast<std::uint64_t>(open.f));
    out.integer(open.invoked);
  }
}

void Interpreter::load(history::StateReader& in) {
  constexpr auto kFs = static_cast<std::size_t>(F::kOther) + 1;
  all_invoked_ = in.flag();
  timed_ = in.flag();
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

std::string words_of(const Kinds& kinds, std::uint64_t keys) {
  const auto counted = [](std::uint64_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  std::string words;
  switch (kinds.kind) {
    case Workload::kTransactions:
      if (!kinds.objects.empty()) {
        words = fmt::format("transactions, and single operations as such ({})",
                            fmt::join(kinds.objects, ", "));
      }
      break;
    case Workload::kRegisters:
      words = fmt::format("registers{}, {}", kinds.compares ? " with compare-and-set" : "",
                          counted(keys, "key"));
      break;
    case Workload::kMutex:
      words = "mutex: one owner, not reentrant";
      break;
    case Workload::kStrings:
      words = fmt::format("strings with append, {}", counted(keys, "key"));
      break;
  }
  if (kinds.set_ups == 0) return words;
  return fmt::format("{}, and {} as initial values", words.empty() ? "transactions" : words,
                     counted(kinds.set_ups, "set-up operation"));
}

}  // namespace cupel::formats::jepsen
