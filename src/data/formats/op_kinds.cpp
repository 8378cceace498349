// Op kinds: see the header.
#include "data/formats/op_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace cupel::formats::jepsen {

namespace {

using history::TxnStatus;

constexpr std::string_view kAnotherKind = "workload of another kind";

bool is_register(F f) {
  return f == F::kRead || f == F::kWrite || f == F::kCas;
}

std::string_view words_of(Workload kind) {
  switch (kind) {
    case Workload::kTransactions:
      return "f=txn";
    case Workload::kRegisters:
      return "f=read, write or cas";
    case Workload::kMutex:
      return "f=acquire or release";
    case Workload::kStrings:
      break;
  }
  return "f=put, append or get";
}

}  // namespace

Said said_by(const Chunk& chunk, const Event& event, std::uint64_t place) {
  Said said;
  said.place = place;
  said.type = event.type;
  said.f = event.f;
  said.word = word(chunk, event);
  const Cell value = chunk.values[event.first];
  said.nothing = value.is_nothing();
  if (is_register(event.f) || event.f == F::kSetup) said.pair = is_pair(chunk, event);
  said.without_key = reads_without_key(chunk, event);
  said.collection = said.pair == false && event.f != F::kCas && is_collection(value);
  return said;
}

void Classifier::first(std::uint64_t& place, std::uint64_t at) {
  if (place == kNone) ++changes_;
  place = std::min(place, at);
}

void Classifier::note(Said& said) {
  said.noted = true;
  auto& word = words_[said.word];
  first(word.first, said.place);
  ++word.count;
  word.f = said.f;
  if (said.type != Type::kInvoke && said.type != Type::kOk) return;  // it may be an error
  if (said.without_key && !said.pair) first(without_key_, said.place);
  if (!said.pair) return;
  first(*said.pair ? pairs_ : plain_, said.place);
  if (said.collection)
    first(said.f == F::kRead ? collection_read_ : collection_written_, said.place);
}

void Classifier::invoked(Said& said) {
  note(said);
  if (!is_register(said.f) || said.pair == false) compare(&said, nullptr, /*committed=*/false);
}

void Classifier::ended(Said* invocation, Said completion, TxnStatus status) {
  if (invocation != nullptr && !invocation->noted) note(*invocation);
  note(completion);
  compare(invocation, &completion, status == TxnStatus::kCommitted);
}

void Classifier::never_ended(Said& invocation) {
  if (!invocation.noted) note(invocation);
  compare(&invocation, nullptr, /*committed=*/false);
}

void Classifier::became_transaction(const Said& invocation) {
  if (!invocation.noted) return;
  const auto word = words_.find(invocation.word);
  ++changes_;
  if (--word->second.count == 0) words_.erase(word);
}

// Beside transactions, an operation on one of several registers counts: the invocation and the ok
// have no other value than [key value], and one of them has it. A read that did not end well says
// nothing.
void Classifier::compare(const Said* invocation, const Said* completion, bool committed) {
  const Said& last = completion != nullptr ? *completion : *invocation;
  bool known = is_register(last.f), says = false;
  for (const Said* said : {invocation, completion}) {
    if (said == nullptr || !known) continue;
    says = says || said->pair == true;
    if (committed || said->type == Type::kInvoke) known = said->pair != false;
  }
  if (known && (says || (last.f == F::kRead && !committed))) return;
  auto& word = words_[last.word];
  if (!word.unknown) ++changes_;
  word.unknown = true;
}

Classifier::Words Classifier::words() const {
  Words all;
  for (const auto& [name, word] : words_) all.emplace_back(name, &word);
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.second->first < b.second->first; });
  return all;
}

void Classifier::converted(std::string_view kind) {
  converted_ = as_.kind && is_of_kind(kind, *as_.kind);
  ++changes_;
}

Classifier::Answer Classifier::decide() const {
  const bool transactions =
      as_.kind && !converted_ ? *as_.kind == Workload::kTransactions : transaction_ != kNone;
  return transactions ? as_transactions() : as_single();
}

Classifier::Answer Classifier::as_transactions() const {
  Answer answer{.kinds = {.kind = Workload::kTransactions, .keyed = true}};
  std::vector<std::pair<std::string, std::uint64_t>> unknown;
  for (const auto& [name, word] : words()) {
    if (!word->unknown) {
      answer.kinds.objects.emplace_back(name);
      continue;
    }
    if (unknown.empty()) answer.place = word->first;
    unknown.emplace_back(name, word->count);
  }
  if (unknown.empty()) return answer;
  answer.refusal =
      transaction_ == kNone
          ? fmt::format(
                "found f={} whose value is neither a transaction nor [key value], and no "
                "transaction, which --kind transactions asks for. Leave out --kind, or "
                "state another kind",
                unknown.front().first)
          : left_out(unknown);
  return answer;
}

Classifier::Answer Classifier::as_single() const {
  const auto all = words();
  const auto fits = [&](Workload kind) {
    return (!as_.kind || *as_.kind == kind) && transaction_ == kNone &&
           std::all_of(all.begin(), all.end(),
                       [&](const auto& word) { return object_of(word.second->f) == kind; });
  };
  const auto set_up = std::find_if(all.begin(), all.end(),
                                   [](const auto& word) { return word.second->f == F::kSetup; });
  const bool silent_set_up = set_up != all.end() && !any_said();
  const bool collection = !as_.kind && collection_read_ != kNone && collection_written_ == kNone;
  if (fits(Workload::kRegisters) && !silent_set_up && !collection) {
    Answer answer{.kinds = {.kind = Workload::kRegisters}};
    answer.kinds.keyed = pairs_ != kNone && plain_ == kNone && !(as_.kind && without_key_ != kNone);
    if (!answer.kinds.keyed || without_key_ == kNone) return answer;
    answer.refusal = kReadWithoutKey;
    answer.place = without_key_;
    answer.is_final = false;  // a plain value may come
    return answer;
  }
  for (const auto kind : {Workload::kMutex, Workload::kStrings}) {
    if (fits(kind)) return {.kinds = {.kind = kind}};
  }
  if (as_.kind) return misfit();
  constexpr std::pair<std::string_view, std::string_view> kGuesses[] = {
      {"transfer", "bank workload"},
      {"add", "counter or set workload"},
      {"inc", "counter or set workload"},
      {"increment", "counter or set workload"},
      {"decrement", "counter or set workload"},
      {"enqueue", "queue workload"},
      {"dequeue", "queue workload"}};
  for (const auto& [name, guess] : kGuesses) {
    const auto word = words_.find(name);
    if (word != words_.end()) return looks_like(guess, word->second.first);
  }
  if (fits(Workload::kRegisters) && collection) {
    auto answer = looks_like("set or bank workload (reads of whole collections)", collection_read_);
    *answer.refusal += ". If the database may store a collection, add --kind registers";
    answer.is_final = false;  // a collection may be written yet
    return answer;
  }
  if (fits(Workload::kRegisters)) {
    auto answer = looks_like(kAnotherKind, set_up->second->first);
    answer.is_final = false;
    return answer;
  }
  // Where operations of no kind, or of another kind than the first one, begin.
  auto odd = std::find_if(all.begin(), all.end(),
                          [](const auto& word) { return !object_of(word.second->f); });
  if (odd == all.end()) {
    odd = std::find_if(all.begin(), all.end(), [&](const auto& word) {
      return object_of(word.second->f) != object_of(all.front().second->f);
    });
  }
  return looks_like(kAnotherKind, odd->second->first);
}

// The first operation that is not of the stated kind.
Classifier::Answer Classifier::misfit() const {
  const auto kind = *as_.kind;
  std::uint64_t place = transaction_;
  bool is_final = true;
  std::string found = "a transaction";
  for (const auto& [name, word] : words_) {
    const bool odd = object_of(word.f) != kind || (word.f == F::kSetup && !any_said());
    if (!odd || word.first >= place) continue;
    place = word.first;
    is_final = object_of(word.f) != kind;
    found = fmt::format("f={}", name);
  }
  return {.refusal = fmt::format("found {}, which does not fit --kind {}: expected {}. Leave out "
                                 "--kind, or name the kind that the file has",
                                 found, formats::name(kind), words_of(kind)),
          .place = place,
          .is_final = is_final};
}

Classifier::Answer Classifier::looks_like(std::string_view guess, std::uint64_t place) const {
  std::string found, unknown, options;
  for (const auto& [name, word] : words()) {
    found += fmt::format("{}f={}", found.empty() ? "" : ", ", name);
    if (object_of(word->f)) continue;
    unknown += fmt::format("{}f={}", unknown.empty() ? "" : ", ", name);
    options += fmt::format(" --ignore {}", name);
  }
  auto refusal = fmt::format(
      "found {}, which looks like a {}: not a transactional or single-object history; expected "
      "f=txn, read/write/cas, acquire/release, or put/append/get with a key",
      found, guess);
  if (!options.empty() && guess == kAnotherKind) {
    refusal += fmt::format(". If {} wrote nothing that the other operations read, add{}", unknown,
                           options);
  }
  return {.refusal = std::move(refusal), .place = place};
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

bool is_of_kind(std::string_view words, Workload kind) {
  if (kind == Workload::kTransactions) return words.empty() || words.starts_with("transactions");
  return words.starts_with(formats::name(kind));
}

// --- state ---

void Said::save(history::StateWriter& out) const {
  out.number(place);
  out.number(static_cast<std::uint64_t>(type));
  out.number(static_cast<std::uint64_t>(f));
  out.text(word);
  out.number(pair ? 1 + *pair : 0);
  for (const bool flag : {nothing, collection, without_key, noted}) out.flag(flag);
}

void Said::load(history::StateReader& in) {
  place = in.number();
  type = static_cast<Type>(in.below(static_cast<std::size_t>(Type::kInfo) + 1));
  f = static_cast<F>(in.below(static_cast<std::size_t>(F::kOther) + 1));
  word = in.text();
  const auto said = in.below(3);
  pair = said == 0 ? std::nullopt : std::optional(said == 2);
  for (bool* const flag : {&nothing, &collection, &without_key, &noted}) *flag = in.flag();
}

void Classifier::save(history::StateWriter& out) const {
  for (const auto place :
       {transaction_, pairs_, plain_, collection_read_, collection_written_, without_key_})
    out.number(place + 1);  // none is 0
  out.number(words_.size());
  for (const auto& [name, word] : words_) {
    out.text(name);
    out.number(word.count);
    out.number(word.first);
    out.number(static_cast<std::uint64_t>(word.f));
    out.flag(word.unknown);
  }
  out.flag(converted_);
}

void Classifier::load(history::StateReader& in) {
  for (auto* const place :
       {&transaction_, &pairs_, &plain_, &collection_read_, &collection_written_, &without_key_})
    *place = in.number() - 1;
  const auto words = in.count();
  for (std::size_t i = 0; i < words && in.good(); ++i) {
    auto& word = words_[std::string(in.text())];
    word.count = in.number();
    word.first = in.number();
    word.f = static_cast<F>(in.below(static_cast<std::size_t>(F::kOther) + 1));
    word.unknown = in.flag();
  }
  converted_ = in.flag();
  ++changes_;
}

}  // namespace cupel::formats::jepsen
