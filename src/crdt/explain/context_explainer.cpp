// Context explainer: nothing is searched for. One read and the updates that it had received show
// what is wrong, or the steps of a cycle do. Operations of a cycle go as long as the rest, which
// saw of each other what it had seen, has a cycle.
#include "crdt/explain/context_explainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "crdt/explain/read_explainer.hpp"

namespace cupel::crdt {

std::string ContextExplainer::where() const {
  return where(wrong_.read);
}
std::string ContextExplainer::where(OpId op) const {
  const auto line = h_.ops[op].line;
  if (line == 0) return with_replica(h_, op);
  return fmt::format("line {} (replica {})", line, h_.replicas[h_.ops[op].replica]);
}

namespace {

std::string with_line(const History& h, OpId op) {
  const auto line = h.ops[op].line;
  return with_replica(h, op) + (line == 0 ? "" : fmt::format(" (line {})", line));
}

}  // namespace

std::string ContextExplainer::text(OpId op) const {
  return with_line(h_, op);
}

std::vector<OpId> ContextExplainer::updates(Kind kind, bool seen) const {
  const ReplicatedType& type = replicated_type(h_);
  const bool by_element = type.traits().reads_list_elements;
  std::vector<OpId> found;
  for (OpId id = 0; id < h_.ops.size(); ++id) {
    const Operation& op = h_.ops[id];
    if (op.kind != kind || op.key != read().key) continue;
    if (by_element && !h_.any_changed(op, [&](std::uint32_t e) { return e == wrong_.object; }))
      continue;
    if (sees(wrong_.read, id) == seen) found.push_back(id);
  }
  return found;
}

std::vector<OpId> ContextExplainer::received_again() const {
  std::set<OpId> once;
  std::vector<OpId> again;
  for (const Reception& reception : h_.context.receptions) {
    if (reception.replica != read().replica || reception.seq > read().seq) continue;
    for (const NamedUpdates& named : h_.context.updates(reception)) {
      if (named.kind == NamedUpdates::Kind::kUpdate && h_.ops[named.of].key == read().key &&
          !once.insert(named.of).second)
        again.push_back(named.of);
    }
  }
  return again;
}

OpId ContextExplainer::previous_read() const {
  OpId previous = kNone;
  for (const OpId id : h_.by_replica[read().replica]) {
    if (id == wrong_.read) break;
    if (h_.ops[id].kind == read().kind && h_.ops[id].key == read().key) previous = id;
  }
  return previous;
}

bool ContextExplainer::explain_content() {
  const std::string what = h_.element_text(wrong_.object);
  const auto added = visible(Kind::kInsert), removed = visible(Kind::kDelete),
             elsewhere = not_visible(Kind::kInsert);
  if (!is_read(read().kind)) {
    report("used-unseen-character",
           fmt::format("{} names {}, {}", where(), what,
                       elsewhere.empty() ? "which nobody added" : "which it had not received"),
           elsewhere);
    return true;
  }
  const auto list = h_.list(read());
  const auto times = std::count(list.begin(), list.end(), wrong_.object);
  if (times > 1) {
    report("character-twice", fmt::format("{} shows {} twice", where(), what), added);
  } else if (times == 0) {
    report("lost-character",
           fmt::format("{} does not show {}; it had received {}, and no remove of it", where(),
                       what, text(added[0])),
           added);
  } else if (added.empty()) {
    report(elsewhere.empty() ? "thin-air" : "not-received",
           elsewhere.empty() ? fmt::format("{} shows {}, which nobody added", where(), what)
                             : fmt::format("{} shows {}; it had not received {}", where(), what,
                                           text(elsewhere[0])),
           elsewhere);
  } else if (!removed.empty()) {
    report("removed-character-shown",
           fmt::format("{} shows {}; it had received {}", where(), what, text(removed[0])),
           {added[0], removed[0]});
  } else {
    return false;
  }
  return true;
}

void ContextExplainer::report(std::string name, std::string summary, std::vector<OpId> operations,
                              std::vector<std::uint32_t> elements) {
  constexpr std::size_t kMost = 60;
  if (operations.size() > kMost) operations.resize(kMost);
  explanation_.name = std::move(name);
  explanation_.summary = std::move(summary);
  std::set<OpId> ops(operations.begin(), operations.end());
  ops.insert(wrong_.read);
  Core& core = explanation_.core;
  core.ops.assign(ops.begin(), ops.end());
  std::set<std::uint32_t> kept(elements.begin(), elements.end());
  if (replicated_type(h_).traits().reads_list_elements) {
    kept.insert(wrong_.object);
    for (const OpId id : ops) {
      if (is_read(h_.ops[id].kind) && h_.ops[id].element == kNone) continue;
      for (const auto e : h_.changed(h_.ops[id])) kept.insert(e);
    }
  }
  core.elements.assign(kept.begin(), kept.end());
}

Explanation explain_unequal(const History& history, OpId one, OpId other) {
  Explanation explanation;
  explanation.name = "not-converged";
  explanation.summary = fmt::format("{} and {} had received the same updates",
                                    with_line(history, one), with_line(history, other));
  explanation.core = {.ops = {one, other}, .elements = {}};
  for (const OpId id : explanation.core.ops) {
    const auto list = history.list(history.ops[id]);
    explanation.core.elements.insert(explanation.core.elements.end(), list.begin(), list.end());
    if (history.ops[id].element != kNone)
      explanation.core.elements.push_back(history.ops[id].element);
  }
  std::sort(explanation.core.elements.begin(), explanation.core.elements.end());
  explanation.part = part_of(history, explanation.core);
  explanation.read = 1;
  return explanation;
}

namespace {

Explanation explain_wrong(const History& history, const Visibility& visibility,
                          const WrongRead& wrong) {
  Explanation explanation;
  if (wrong.read != kNone) {
    ContextExplainer explainer(history, visibility, wrong, explanation);
    replicated_type(history).explain_received(explainer);
  } else {
    std::set<OpId> ops(wrong.operations.begin(), wrong.operations.end());
    std::set<std::uint32_t> elements;
    for (const Step& step : wrong.cycle) {
      for (const OpId id : {step.from, step.to, step.read}) {
        if (id != kNone) ops.insert(id);
      }
      for (const auto e : {step.shown, step.over}) {
        if (e != kNone) elements.insert(e);
      }
    }
    for (OpId id = 0; id < history.ops.size(); ++id) {
      if (history.ops[id].kind == Kind::kInsert &&
          history.any_changed(history.ops[id],
                              [&](std::uint32_t e) { return elements.contains(e); }))
        ops.insert(id);
    }
    for (const OpId id : ops) {
      if (is_read(history.ops[id].kind) && history.ops[id].element == kNone) continue;
      for (const auto e : history.changed(history.ops[id])) elements.insert(e);
    }
    explanation.core.ops.assign(ops.begin(), ops.end());
    explanation.core.elements.assign(elements.begin(), elements.end());
  }
  explanation.part = part_of(history, explanation.core);
  const auto& origin = explanation.part.origin;
  const auto part_op = [&](OpId id) {
    return id == kNone ? kNone
                       : static_cast<OpId>(std::lower_bound(origin.begin(), origin.end(), id) -
                                           origin.begin());
  };
  if (wrong.read != kNone) {
    explanation.read = part_op(wrong.read);
    return explanation;
  }
  const auto element = [&](std::uint32_t e) {
    const auto& elements = explanation.part.elements;
    return e == kNone ? kNone
                      : static_cast<std::uint32_t>(std::find(elements.begin(), elements.end(), e) -
                                                   elements.begin());
  };
  for (Step step : wrong.cycle) {
    step.from = part_op(step.from);
    step.to = part_op(step.to);
    step.read = part_op(step.read);
    step.shown = element(step.shown);
    step.over = element(step.over);
    explanation.cycle.push_back(step);
  }
  explain_cycle(explanation);
  return explanation;
}

// What is left of a history, and what its operations had seen of each other.
struct SeenPart {
  SeenPart(const History& history, const Visibility& whole, const Core& core)
      : part(part_of(history, core)), visibility(whole.of_part(part.history, part.origin)) {
    part.history.context.rule = history.context.rule;
  }
  SeenPart(const SeenPart&) = delete;  // its visibility refers to its history
  SeenPart& operator=(const SeenPart&) = delete;

  Part part;
  Visibility visibility;
};

}  // namespace

Explanation explain_context(const History& history, const Visibility& visibility,
                            const WrongRead& wrong, const Axioms& axioms,
                            const ExplainOptions& options) {
  // A cycle of it breaks the rules of any list, which leave out operations more simply.
  if (history.type == Type::kNonInterleavingList && wrong.read == kNone) {
    History list = history;
    list.type = Type::kStrongList;
    return explain_context(list, visibility, wrong, axioms, options);
  }
  base::Budget budget(std::chrono::duration<double>(options.seconds), options.memory_bytes);
  Explanation own;
  if (replicated_type(history).explain_known({history, visibility, axioms, budget}, wrong, options,
                                             own))
    return own;
  auto explanation = explain_wrong(history, visibility, wrong);
  if (wrong.read != kNone) return explanation;
  const auto decided = [&](const SeenPart& seen) {
    return decide_context({seen.part.history, seen.visibility, axioms, budget});
  };
  const auto is_violated = [&](const Core& core) {
    return decided(SeenPart(history, visibility, core)).verdict == Verdict::kViolated;
  };
  const Core core = closed_core(history, explanation.core.ops);
  if (!is_violated(core)) return explanation;
  const SeenPart small(history, visibility, shrink(history, core, is_violated, budget));
  const auto again = decided(small);
  if (!again.wrong) return explanation;
  auto smaller = explain_wrong(small.part.history, small.visibility, *again.wrong);
  for (auto* ops : {&smaller.core.ops, &smaller.part.origin}) {
    for (OpId& id : *ops) id = small.part.origin[id];
  }
  for (auto* elements : {&smaller.core.elements, &smaller.part.elements}) {
    for (auto& e : *elements) e = small.part.elements[e];
  }
  std::sort(smaller.core.elements.begin(), smaller.core.elements.end());
  return smaller;
}

}  // namespace cupel::crdt
