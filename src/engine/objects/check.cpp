// objects: see the header.
#include "engine/objects/check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/objects/kinds.hpp"

namespace cupel::objects {

namespace {

using history::ObjectHistory;
using history::ObjectKind;

Answer decide(const ObjectHistory& history, Ops ops, ByElement& scratch, base::Budget& budget) {
  switch (history.kind) {
    case ObjectKind::kSet:
      return decide_set(history, ops, scratch, budget);
    case ObjectKind::kCounter:
      return decide_counter(history, ops, budget);
    case ObjectKind::kUniqueIds:
      return decide_unique_ids(history, ops, scratch);
    case ObjectKind::kFifoQueue:
    case ObjectKind::kBag:
      return decide_queue(history, ops, scratch);
    case ObjectKind::kBank:
      return decide_bank(history, ops, scratch, budget);
  }
  return {};
}

Jepsen jepsen_of(const ObjectHistory& history, Ops ops, ByElement& scratch) {
  switch (history.kind) {
    case ObjectKind::kSet:
      return jepsen_set(history, ops, scratch);
    case ObjectKind::kCounter:
      return jepsen_counter(history, ops);
    case ObjectKind::kUniqueIds:
      return jepsen_unique_ids(history, ops, scratch);
    case ObjectKind::kFifoQueue:
    case ObjectKind::kBag:
      return jepsen_queue(history, ops, scratch);
    case ObjectKind::kBank:
      return jepsen_bank(history, ops);
  }
  return {};
}

// As Jepsen merges validities: false before unknown before true.
void merge(Jepsen& all, Jepsen one) {
  if (all.checker.empty()) {
    all = std::move(one);
    return;
  }
  const auto rank = [](Verdict verdict) {
    return verdict == Verdict::kViolated ? 2 : verdict == Verdict::kUnknown ? 1 : 0;
  };
  if (rank(one.verdict) > rank(all.verdict)) {
    all.verdict = one.verdict;
    all.error = one.error;
  }
  for (auto& found : one.classes) {
    const auto same = std::find_if(all.classes.begin(), all.classes.end(),
                                   [&](const auto& other) { return other.name == found.name; });
    if (same == all.classes.end()) {
      all.classes.push_back(std::move(found));
      continue;
    }
    same->count += found.count;
    for (const auto element : found.elements) {
      if (same->elements.size() < kElementsListed) same->elements.push_back(element);
    }
  }
}

// Whether no element that was put in has the form of one that came out: numbers and strings, for
// example. Then the client recorded them differently, and nothing can be said.
bool forms_differ(const ObjectHistory& history) {
  unsigned in = 0, out = 0;
  for (const auto& op : history.ops) {
    const bool puts = op.call == history::Call::kAdd || op.call == history::Call::kEnqueue;
    for (const auto element : history.values_of(op))
      (puts ? in : out) |= 1U << static_cast<unsigned>(history.elements.at(element).kind);
  }
  const bool both = history.kind == ObjectKind::kSet || history.kind == ObjectKind::kBag ||
                    history.kind == ObjectKind::kFifoQueue;
  return both && in != 0 && out != 0 && (in & out) == 0;
}

// Asks the verifier about the evidence; a rejection is a fault of cupel.
void confirm(const ObjectHistory& history, std::uint32_t object, Ops ops,
             certify::ObjectReplay& replay, Answer& answer) {
  std::string wrong;
  if (answer.verdict == Verdict::kSatisfied) {
    wrong = replay.replay(object, answer.order);
  } else if (answer.verdict == Verdict::kViolated) {
    wrong =
        answer.violation ? certify::refute(history, *answer.violation, ops) : "there is no pattern";
  }
  if (wrong.empty()) return;
  answer = {.detail = fmt::format("internal error, please report it with the history: the evidence "
                                  "for {} is rejected: {}",
                                  base::to_string(answer.verdict), wrong)};
}

}  // namespace

Result check(ObjectHistory& history, history::Time clock_drift, base::Budget& budget) {
  Result result;
  const auto groups = history.by_object();
  ByElement scratch(history.elements.size());
  for (const auto& ops : groups) {
    if (!ops.empty()) merge(result.jepsen, jepsen_of(history, ops, scratch));
  }
  if (forms_differ(history)) {
    result.detail =
        "the elements that were put in and those that came out have no form in common, such as "
        "numbers and strings, so the client recorded them differently";
    result.answers.resize(groups.size(), {.detail = result.detail});
    return result;
  }
  history.allow_drift(clock_drift);
  certify::ObjectReplay replay(history);
  result.verdict = Verdict::kSatisfied;
  for (std::uint32_t object = 0; object < groups.size(); ++object) {
    auto& answer = result.answers.emplace_back();
    if (groups[object].empty()) {
      answer.verdict = Verdict::kSatisfied;
      continue;
    }
    if (budget.exceeded()) {
      answer.detail = kLimitMet;
    } else {
      answer = decide(history, groups[object], scratch, budget);
      confirm(history, object, groups[object], replay, answer);
    }
    if (answer.verdict == Verdict::kViolated) {
      result.verdict = Verdict::kViolated;
    } else if (answer.verdict == Verdict::kUnknown && result.verdict == Verdict::kSatisfied) {
      result.verdict = Verdict::kUnknown;
      result.detail = answer.detail;
    }
  }
  return result;
}

}  // namespace cupel::objects
