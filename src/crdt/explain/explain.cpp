// Explain: delta debugging (Zeller & Hildebrandt 2002) over the parts that can be dropped. Then the
// exact method finds the updates that the read must have seen.
#include "crdt/explain/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "base/leave_out.hpp"
#include "crdt/explain/read_explainer.hpp"
#include "crdt/model/replicated_type.hpp"
#include "crdt/model/times.hpp"

namespace cupel::crdt {

std::string with_replica(const History& h, OpId id) {
  return fmt::format("{} of replica {}", h.text(id), h.replicas[h.ops[id].replica]);
}

namespace {

ReadClaims claims_of_reads(const History& history, const Core& core) {
  const ReplicatedType& type = replicated_type(history);
  ReadClaims claims;
  for (const OpId id : core.ops) {
    const auto& op = history.ops[id];
    const auto list = history.list(op);
    if (op.kind == Kind::kTest) {
      claims.add_object(type.object(op), op.returned);
    } else if (op.kind == Kind::kState || op.kind == Kind::kList) {
      for (const auto e : core.elements) {
        if (history.elements[e].key == op.key)
          claims.add_object(e, std::find(list.begin(), list.end(), e) != list.end());
      }
    } else if (op.kind == Kind::kValues) {
      for (const auto e : list) claims.add_value(op.key, e);
    } else if (op.kind == Kind::kValue) {
      claims.add_number(op.key, op.amount);
    }
  }
  return claims;
}

class Shrinker {
 public:
  Shrinker(const History& history, const std::function<bool(const Core&)>& is_violated,
           base::Budget& budget)
      : history_(history),
        type_(replicated_type(history)),
        is_violated_(is_violated),
        budget_(budget) {}

  Core run(Core core) {
    core = tidy(core);
    for (int round = 0; round < 3 && !budget_.exceeded(); ++round) {
      const auto size = core.ops.size() + core.elements.size();
      if (round == 0) core = first_reads(core);
      if (type_.traits().reads_list_elements) core = without_elements(core);
      core = without_reads(core);
      core = without_updates(core);
      if (core.ops.size() + core.elements.size() == size) break;
    }
    return core;
  }

 private:
  bool violated(const Core& core) { return !budget_.exceeded() && is_violated_(core); }

  // Without the parts that no remaining read depends on.
  Core tidy(const Core& core) const {
    const TypeTraits& traits = type_.traits();
    Core kept;
    const std::set<std::uint32_t> elements(core.elements.begin(), core.elements.end());
    std::set<std::uint32_t> read_objects;  // elements, or keys
    std::set<std::uint32_t> whole_keys;
    for (const OpId id : core.ops) {
      const auto& op = history_.ops[id];
      if (op.kind == Kind::kTest)
        read_objects.insert(type_.object(op));
      else if (is_read(op.kind) && op.kind != Kind::kState)
        read_objects.insert(op.key);
      if (op.kind == Kind::kState) whole_keys.insert(op.key);
    }
    for (const auto e : core.elements) {
      if (!traits.objects_are_elements || whole_keys.contains(history_.elements[e].key) ||
          read_objects.contains(e))
        kept.elements.push_back(e);
    }
    for (const OpId id : core.ops) {
      const auto& op = history_.ops[id];
      bool needed = true;
      if (traits.objects_are_elements) {
        needed = op.kind == Kind::kState ||
                 (elements.contains(op.element) &&
                  (read_objects.contains(op.element) || whole_keys.contains(op.key)));
      } else if (traits.reads_list_elements) {
        needed = is_read(op.kind) ||
                 history_.any_changed(op, [&](std::uint32_t e) { return elements.contains(e); });
      } else if (!is_read(op.kind)) {
        needed = read_objects.contains(op.key);
      }
      if (needed) kept.ops.push_back(id);
    }
    return kept;
  }

  // The least part of `units` that still does it; the core without the others.
  template <typename Unit>
  Core reduce(const Core& core, std::vector<Unit> units,
              const std::function<Core(const Core&, const std::set<Unit>&)>& without) {
    std::vector<Unit> kept = units;
    Core best = core;
    const auto half = +[](std::size_t chunk, std::size_t) { return (chunk + 1) / 2; };
    base::leave_out(
        {.first = half(kept.size(), 0), .to_the_end = true, .next = half},
        [&] { return kept.size(); },
        [&](std::size_t begin, std::size_t end) -> std::optional<std::size_t> {
          auto rest = base::without_range(kept, begin, end);
          std::set<Unit> gone(units.begin(), units.end());
          for (const auto& u : rest) gone.erase(u);
          Core smaller = tidy(without(core, gone));
          if (!violated(smaller)) return std::nullopt;
          kept = std::move(rest);
          best = std::move(smaller);
          return begin;
        },
        [&] { return !budget_.exceeded(); });
    return best;
  }

  static Core without_ops(const Core& core, const std::set<OpId>& gone) {
    Core rest{{}, core.elements};
    for (const OpId id : core.ops) {
      if (!gone.contains(id)) rest.ops.push_back(id);
    }
    return rest;
  }

  // Reads of the file's beginning, up to the first that cannot be explained.
  Core first_reads(const Core& core) {
    std::vector<OpId> reads;
    for (const OpId id : core.ops) {
      if (is_read(history_.ops[id].kind)) reads.push_back(id);
    }
    std::size_t low = 0, high = reads.size();  // the first `high` do it
    Core best = core;
    while (low + 1 < high && !budget_.exceeded()) {
      const auto middle = (low + high) / 2;
      Core smaller = tidy(
          without_ops(core, {reads.begin() + static_cast<std::ptrdiff_t>(middle), reads.end()}));
      if (violated(smaller)) {
        high = middle;
        best = std::move(smaller);
      } else {
        low = middle;
      }
    }
    return best;
  }

  Core without_reads(const Core& core) {
    std::vector<OpId> reads;
    for (const OpId id : core.ops) {
      if (is_read(history_.ops[id].kind)) reads.push_back(id);
    }
    return reduce<OpId>(core, std::move(reads), without_ops);
  }

  Core without_elements(const Core& core) {
    const auto neighbours = neighbours_of(history_);
    return reduce<std::uint32_t>(
        core, core.elements, [&](const Core& from, const std::set<std::uint32_t>& gone) {
          Core rest;
          for (const auto e : from.elements) {
            // A character goes with those before it on the way to the beginning.
            bool lost = gone.contains(e);
            std::size_t steps = 0;
            for (auto at = neighbours[e];
                 !lost && at != kNone && steps++ < history_.elements.size(); at = neighbours[at])
              lost = gone.contains(at);
            if (!lost) rest.elements.push_back(e);
          }
          const std::set<std::uint32_t> kept(rest.elements.begin(), rest.elements.end());
          for (const OpId id : from.ops) {
            const auto& op = history_.ops[id];
            if (op.element == kNone ||
                history_.any_changed(op, [&](std::uint32_t e) { return kept.contains(e); }))
              rest.ops.push_back(id);
          }
          return rest;
        });
  }

  Core without_updates(const Core& core) {
    const ReadClaims claims = claims_of_reads(history_, core);
    std::vector<OpId> may_go;
    for (const OpId id : core.ops) {
      const auto& op = history_.ops[id];
      if (!is_read(op.kind) && type_.update_may_go(op, claims)) may_go.push_back(id);
    }
    return reduce<OpId>(core, std::move(may_go), without_ops);
  }

  const History& history_;
  const ReplicatedType& type_;
  const std::function<bool(const Core&)>& is_violated_;
  base::Budget& budget_;
};

std::string listed(const History& h, const std::vector<OpId>& ops) {
  std::string text;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (i == 6 && ops.size() > 7) return text + fmt::format(" and {} more", ops.size() - i);
    text += (i == 0 ? "" : i + 1 == ops.size() ? " and " : ", ") + with_replica(h, ops[i]);
    if (const auto line = h.ops[ops[i]].line; line != 0) text += fmt::format(" (line {})", line);
  }
  return text;
}

class Explainer {
 public:
  Explainer(Explanation& explanation, const Axioms& axioms, base::Budget& budget)
      : explanation_(explanation),
        h_(explanation.part.history),
        type_(replicated_type(h_)),
        axioms_(axioms),
        budget_(budget) {}

  // `by_times`: without the times of the operations there is an execution.
  void run(const Decision& decision, bool by_times) {
    if (decision.violation) explanation_.cycle = decision.violation->cycle;
    blame();
    if (by_times) {
      explain_times();
    } else if (!explanation_.cycle.empty()) {
      explain_cycle(explanation_);
    } else if (explanation_.read != kNone) {
      ReadExplainer explainer(explanation_, claim_, axioms_, budget_);
      explainer.find_visibility();
      type_.explain_read(explainer);
    } else {
      report("used-unseen-character",
             fmt::format("{} names a character that its replica cannot have seen",
                         with_replica(h_, 0)));
    }
  }

 private:
  void report(std::string name, std::string summary) {
    explanation_.name = std::move(name);
    explanation_.summary = std::move(summary);
  }

  // The first of them, operation by operation.
  [[nodiscard]] std::vector<LateUpdate> late_updates() const {
    constexpr std::size_t kMost = 6;
    std::vector<LateUpdate> late;
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      for (std::uint32_t j = 0; j < h_.replicas.size(); ++j) {
        const auto& line = h_.by_replica[j];
        for (auto at = most_by_times(h_, h_.ops[id], j); at < line.size(); ++at) {
          if (is_read(h_.ops[line[at]].kind)) continue;
          late.push_back({id, line[at]});
          if (late.size() == kMost) return late;
        }
      }
    }
    return late;
  }

  void explain_times() {
    explanation_.cycle.clear();
    const auto late = late_updates();
    for (const auto& [op, update] : late) {
      const auto after = static_cast<std::uint64_t>(h_.ops[update].begun) -
                         static_cast<std::uint64_t>(h_.ops[op].ended);
      explanation_.because.push_back(fmt::format("{} was invoked at least {} ns after {} had ended",
                                                 with_replica(h_, update), after,
                                                 with_replica(h_, op)));
    }
    // Without a read, an update uses a character that was added later.
    const OpId subject =
        explanation_.read == kNone && !late.empty() ? late[0].op : explanation_.read;
    report("read-from-the-future",
           fmt::format("{} needs an update that was invoked only after it, or after another "
                       "operation that it depends on, had ended",
                       with_replica(h_, subject)));
  }

  // How good it is to call this claim the wrong one; more is better.
  [[nodiscard]] int blame_value(const Claim& claim) const {
    const bool up_wins = type_.traits().membership->up_wins;
    bool up = false, down = false;
    for (const Operation& op : h_.ops) {
      if (is_read(op.kind) || type_.object(op) != claim.element) continue;
      (op.kind == Kind::kUp ? up : down) = true;
    }
    const bool gave_way = claim.returned != up_wins && (up_wins ? up : down);
    const bool unopposed = gave_way && !(up && down);
    return claim.returned && !up ? 4 : unopposed ? 3 : gave_way ? 2 : claim.returned || up ? 1 : 0;
  }

  // All reads of what is left together have no execution, so that any of them could be
  // called the wrong one. The last, but of a set or a flag the last that returned the
  // side that has to give way, if there is one: a correct replica returns it seldom; best one
  // to which nothing was done but what would win. Of a read of the whole an element without
  // which it would be right.
  void blame() {
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      if (is_read(h_.ops[id].kind)) explanation_.read = id;
    }
    if (!type_.traits().membership) return;
    std::vector<std::pair<int, Claim>> claims;
    for (const Claim& claim : claims_of(h_)) claims.emplace_back(blame_value(claim), claim);
    std::reverse(claims.begin(), claims.end());
    std::stable_sort(claims.begin(), claims.end(),
                     [](const auto& one, const auto& other) { return one.first > other.first; });
    if (claims.empty()) return;
    claim_ = claims.front().second;
    constexpr int kMostTries = 20;
    int tries = 0;
    for (const auto& [value, claim] : claims) {
      if (++tries > kMostTries || budget_.exceeded()) break;
      if (!would_be_right(claim)) continue;
      claim_ = claim;
      break;
    }
    explanation_.read = claim_.op;
  }

  // Is there an execution if the read had said the opposite of this element? Of a read that
  // says something of one alone there is, as there is one without the read.
  [[nodiscard]] bool would_be_right(const Claim& claim) const {
    if (h_.ops[claim.op].kind != Kind::kState) return true;
    History other = h_;
    Operation& op = other.ops[claim.op];
    const auto list = h_.list(op);
    std::vector<std::uint32_t> flipped(list.begin(), list.end());
    if (claim.returned)
      std::erase(flipped, claim.element);
    else
      flipped.push_back(claim.element);
    op.list_begin = static_cast<std::uint32_t>(other.lists.size());
    other.lists.insert(other.lists.end(), flipped.begin(), flipped.end());
    op.list_end = static_cast<std::uint32_t>(other.lists.size());
    return decide(other, axioms_, budget_).verdict == Verdict::kSatisfied;
  }

  Explanation& explanation_;
  Claim claim_{kNone, kNone, false};
  const History& h_;
  const ReplicatedType& type_;
  const Axioms& axioms_;
  base::Budget& budget_;
};

}  // namespace

// The updates that this read sees in every execution of the others, and those that it sees in none.
void ReadExplainer::find_visibility() {
  auto& must_see = explanation_.must_see;
  auto& cannot_see = explanation_.cannot_see;
  constexpr std::size_t kMost = 80;
  std::size_t tried = 0;
  for (OpId u = 0; u < h_.ops.size() && tried < kMost; ++u) {
    if (!concerns(h_.ops[u])) continue;
    ++tried;
    const auto possible = [&](bool seen) {
      return decide_exact(h_, axioms_, budget_, {id(), {{u, seen}}}).verdict;
    };
    if (possible(false) == Verdict::kViolated)
      must_see.push_back(u);
    else if (possible(true) == Verdict::kViolated)
      cannot_see.push_back(u);
  }
  // The updates of its own replica are not listed, unless there are no others.
  std::vector<OpId> from_others;
  for (const OpId u : must_see) {
    if (h_.ops[u].replica != read().replica) from_others.push_back(u);
  }
  if (from_others.empty()) from_others = must_see;
  auto& because = explanation_.because;
  if (!from_others.empty())
    because.push_back(fmt::format("it must have seen {}", listed(h_, from_others)));
  if (!cannot_see.empty())
    because.push_back(fmt::format("it cannot have seen {}", listed(h_, cannot_see)));
  std::vector<OpId> other_reads;
  for (OpId op = 0; op < h_.ops.size(); ++op) {
    if (op != id() && is_read(h_.ops[op].kind)) other_reads.push_back(op);
  }
  if (!other_reads.empty())
    because.push_back(fmt::format("that follows from the order of each replica and from {}",
                                  listed(h_, other_reads)));
}

std::string sentence(const History& h, const Step& step) {
  const auto from = with_replica(h, step.from), to = with_replica(h, step.to);
  switch (step.why) {
    case Why::kReplicaOrder:
      return fmt::format("{} was before {}, on the same replica", from, h.text(step.to));
    case Why::kReceived:
      return fmt::format("{} was before {}, which had received it", from, to);
    case Why::kReadFrom:
      return fmt::format("{} was before {}, which used it", from, to);
    case Why::kOverwritten:
      return fmt::format("{} was before {}: {} had seen the first and returned only the second",
                         from, to, with_replica(h, step.read));
    case Why::kRemoved:
      return fmt::format("{} was before {}, which had seen the character and does not show it",
                         from, to);
    case Why::kListed:
      if (is_read(h.ops[step.read].kind))
        return fmt::format("{} is in front of {}: {} shows them so", h.element_text(step.shown),
                           h.element_text(step.over), with_replica(h, step.read));
      if (h.ops[step.to].kind == Kind::kMove ? h.ops[step.to].parent == step.shown
                                             : neighbours_of(h)[step.over] == step.shown) {
        if (step.read == step.to)
          return fmt::format("{} is in front of {}, which was {} after it",
                             h.element_text(step.shown), h.element_text(step.over),
                             h.ops[step.to].kind == Kind::kMove ? "moved" : "added");
      }
      return fmt::format(
          "{} is in front of {}: {} showed one of them and put the other next to its neighbour",
          h.element_text(step.shown), h.element_text(step.over), with_replica(h, step.read));
    case Why::kArbitrated:
      if (step.shown != kNone)
        return fmt::format("{} was linearized before {}: {} shows {} before {}", from, to,
                           with_replica(h, step.read), h.element_text(step.shown),
                           h.element_text(step.over));
      return fmt::format("{} was linearized before {}: {} had seen both and {} the second", from,
                         to, with_replica(h, step.read),
                         replicated_type(h).traits().membership ? "follows" : "returned");
  }
  return {};
}

namespace {

// The nodes that moves are of, or the elements of a set: ": \"a\", \"b\"".
std::string updated_elements(const History& h) {
  constexpr std::size_t kMost = 6;
  const bool members = replicated_type(h).traits().membership.has_value();
  const bool moves = std::any_of(h.ops.begin(), h.ops.end(),
                                 [](const Operation& op) { return op.kind == Kind::kMove; });
  if (!members && !moves) return "";
  std::vector<std::uint32_t> elements;
  for (const Operation& op : h.ops) {
    const bool known = std::find(elements.begin(), elements.end(), op.element) != elements.end();
    if (!is_read(op.kind) && op.element != kNone && !known) elements.push_back(op.element);
  }
  std::string text;
  for (std::size_t i = 0; i < elements.size() && i < kMost; ++i)
    text += (i == 0 ? ": " : ", ") + h.element_text(elements[i]);
  return elements.size() > kMost ? text + ", …" : text;
}

}  // namespace

void explain_cycle(Explanation& explanation) {
  std::size_t arbitrated = 0;
  OpId reason = kNone, other = kNone;
  for (const Step& step : explanation.cycle) {
    if (step.why == Why::kArbitrated || step.why == Why::kListed) {
      ++arbitrated;
      if (reason == kNone)
        reason = step.read;
      else if (step.read != reason)
        other = step.read;
    }
    if (step.why == Why::kOverwritten || step.why == Why::kRemoved) reason = step.read;
  }
  if (reason != kNone) explanation.read = std::max(reason, other == kNone ? reason : other);
  const auto has = [&](Why why) {
    return std::any_of(explanation.cycle.begin(), explanation.cycle.end(),
                       [&](const Step& step) { return step.why == why; });
  };
  const auto report = [&](std::string name, std::string summary) {
    explanation.name = std::move(name);
    explanation.summary = std::move(summary);
  };
  const History& part = explanation.part.history;
  if (has(Why::kOverwritten)) {
    report("lost-sibling",
           "reads leave out writes that they have seen, so that what they return would have had to "
           "overwrite them, which happened before");
  } else if (has(Why::kRemoved)) {
    report("lost-character",
           "reads leave out characters that they have seen, so that they would have had to see "
           "removes that happened after");
  } else if (explanation.cycle.empty()) {
    report("order-disagreement", std::string(replicated_type(part).traits().summary_of_no_order) +
                                     updated_elements(part));
  } else if (arbitrated == 0) {
    const bool read =
        std::any_of(explanation.cycle.begin(), explanation.cycle.end(), [&](const Step& step) {
          return step.why == Why::kReadFrom && is_read(part.ops[step.to].kind);
        });
    report("causality-cycle",
           read ? "what was read came from operations that happened after the read"
                : "operations used characters that were added by operations that happened after");
  } else {
    replicated_type(part).explain_cycle({explanation, arbitrated == 1, other == kNone});
  }
  for (const Step& step : explanation.cycle) explanation.because.push_back(sentence(part, step));
}

Core closed_core(const History& history, const std::vector<OpId>& operations) {
  const ReplicatedType& type = replicated_type(history);
  if (type.traits().reads_list_elements) return core_of_list(history, operations);
  Core core{.ops = operations, .elements = {}};
  const ReadClaims claims = claims_of_reads(history, core);
  std::set<OpId> ops(operations.begin(), operations.end());
  std::set<std::uint32_t> keys, elements;
  for (const OpId id : operations) {
    if (is_read(history.ops[id].kind)) keys.insert(history.ops[id].key);
  }
  for (OpId id = 0; id < history.ops.size(); ++id) {
    const Operation& op = history.ops[id];
    if (!is_read(op.kind) && keys.contains(op.key) && !type.update_may_go(op, claims))
      ops.insert(id);
  }
  for (const OpId id : ops) {
    const auto list = history.list(history.ops[id]);
    elements.insert(list.begin(), list.end());
    if (history.ops[id].element != kNone) elements.insert(history.ops[id].element);
  }
  return {{ops.begin(), ops.end()}, {elements.begin(), elements.end()}};
}

Core shrink(const History& history, const Core& core,
            const std::function<bool(const Core&)>& is_violated, base::Budget& budget) {
  return Shrinker(history, is_violated, budget).run(core);
}

Explanation explain(const History& history, const Violation& violation, const Axioms& axioms,
                    const ExplainOptions& options) {
  Core core = violation.core;
  if (has_times(history)) {
    // Evidence that does not need the times says more.
    base::Budget quick(std::chrono::duration<double>(std::max(1.0, options.seconds / 2)),
                       options.memory_bytes);
    const History bare = without_times(history);
    if (const auto other = decide(bare, axioms, quick); other.violation)
      return explain(bare, *other.violation, axioms, options);
    base::Budget check(std::chrono::duration<double>(options.seconds + 1), options.memory_bytes);
    if (decide(part_of(history, core).history, axioms, check).verdict != Verdict::kViolated)
      core = whole(history);
  }
  Explanation explanation;
  // A second more than what making it small may take: the words need some of it.
  base::Budget budget(std::chrono::duration<double>(options.seconds + 1), options.memory_bytes);
  base::Budget shrinking(std::chrono::duration<double>(options.seconds), options.memory_bytes);
  const auto is_violated = [&](const Core& smaller) {
    const auto part = part_of(history, smaller);
    return decide(part.history, axioms, shrinking).verdict == Verdict::kViolated;
  };
  explanation.core = shrink(history, core, is_violated, shrinking);
  explanation.part = part_of(history, explanation.core);
  History& part = explanation.part.history;
  auto again = decide(part, axioms, budget);
  bool by_times = has_times(part);
  if (by_times) {
    History bare = without_times(part);
    if (auto other = decide(bare, axioms, budget); other.violation) {
      by_times = false;
      part = std::move(bare);
      again = std::move(other);
    }
  }
  Explainer(explanation, axioms, budget).run(again, by_times);
  return explanation;
}

}  // namespace cupel::crdt
