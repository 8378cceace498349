// decide_order_level: see the header.
#include "engine/levels/order_levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <optional>
#include <vector>

#include "base/offsets.hpp"
#include "base/parallel.hpp"
#include "engine/levels/describe.hpp"
#include "engine/levels/outcome_branches.hpp"
#include "engine/levels/refutation.hpp"
#include "engine/levels/zones.hpp"

namespace cupel::levels {

using history::SessionId;

namespace {

// What came of one part.
struct PartResult {
  bool by_zones = false, one_chain = false;
  order::Stage stage = order::Stage::kSaturation;
  Decision decision;  // kSatisfied without text; kGaveUp without detail
  TxnId suspect = TxnId::none();
  std::vector<TxnId> order;  // kSatisfied: its witness, if the evidence was asked for
};

// The part's order in transactions: each once, or, begin and commit, twice.
std::vector<TxnId> events_of(const DecisionInput& input, const Described& d,
                             const order::OrderResult& outcome) {
  std::vector<Owner> read_from;
  for (const auto w : outcome.writers) {
    if (w != order::kInitial) read_from.push_back(d.owners[w]);
  }
  const auto effect = took_effect(input, read_from);
  std::vector<TxnId> events;
  events.reserve(outcome.order.size());
  for (const order::Node v : outcome.order) {
    if (d.problem.is_helper(v)) continue;
    const order::Owner o = d.problem.owner_of(v);
    if (effect[d.owners[o]] != 0) events.push_back(input.accesses.txns[d.owners[o]]);
  }
  return events;
}

// One order out of those of the parts, which contradict each other nowhere (parts
// share sessions, and each keeps session order): a topological order of their union.
// Transactions that are in no part follow their session.
std::vector<TxnId> merged(const DecisionInput& input, const LevelShape& shape,
                          std::span<const PartResult> parts) {
  const History& h = input.history;
  const Accesses& a = input.accesses;
  if (parts.size() == 1 && parts[0].order.size() == a.txns.size() * (shape.split ? 2 : 1))
    return parts[0].order;
  const std::uint32_t width = shape.split ? 2 : 1;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs;
  std::vector<std::uint8_t> there(h.txn_count() * width, 0), begun(h.txn_count(), 0);
  for (const PartResult& part : parts) {
    std::fill(begun.begin(), begun.end(), 0);
    std::uint32_t previous = 0;
    for (std::size_t i = 0; i < part.order.size(); ++i) {
      const TxnId txn = part.order[i];
      const std::uint32_t event = txn.raw * width + (shape.split ? begun[txn.index()] : 0);
      begun[txn.index()] = 1;
      there[event] = 1;
      if (i != 0) arcs.emplace_back(previous, event);
      previous = event;
    }
  }
  SessionId session;
  std::uint32_t last = 0;
  for (const TxnId txn : a.txns) {
    const std::uint32_t event = txn.raw * width;
    if (!there[event] && h.status(txn) != history::TxnStatus::kCommitted) continue;
    for (std::uint32_t i = 0; i < width; ++i) there[event + i] = 1;
    if (shape.split) arcs.emplace_back(event, event + 1);
    if (h.status(txn) != history::TxnStatus::kCommitted) continue;  // its part knows its place
    if (!shape.optional_session_order && session == h.session(txn)) arcs.emplace_back(last, event);
    session = h.session(txn);
    last = event + width - 1;
  }
  std::vector<std::uint32_t> missing(there.size(), 0), first(there.size() + 1, 0), out(arcs.size());
  for (const auto& [from, to] : arcs) {
    ++missing[to];
    ++first[from + 1];
  }
  base::counts_to_offsets(first);
  auto next = first;
  for (const auto& [from, to] : arcs) out[next[from]++] = to;
  std::vector<std::uint32_t> ready;
  for (std::uint32_t v = 0; v < there.size(); ++v) {
    if (there[v] && missing[v] == 0) ready.push_back(v);
  }
  std::vector<TxnId> order;
  for (std::size_t i = 0; i < ready.size(); ++i) {
    order.push_back(TxnId(ready[i] / width));
    for (auto j = first[ready[i]]; j < first[ready[i] + 1]; ++j) {
      if (--missing[out[j]] == 0) ready.push_back(out[j]);
    }
  }
  return order;
}

PartResult decide_part(const DecisionInput& input, const Part& part, const LevelShape& shape,
                       base::Budget& budget) {
  const Accesses& a = input.accesses;
  Described described = [&] {
    const base::Stopwatch::Lap lap(budget.stopwatch(), "describe");
    return describe_order(input.history, a, part, shape, input.drift, budget);
  }();
  if (budget.exceeded()) return {};
  described.problem.max_proposals = input.proposals;
  described.problem.whole_proofs = input.evidence;
  const order::OrderResult outcome = order::decide(described.problem, budget);
  PartResult result;
  result.stage = outcome.stage;
  if (outcome.solvability == order::Solvability::kGaveUp) return result;
  if (outcome.solvability == order::Solvability::kYes) {
    result.decision.status = Verdict::kSatisfied;
    if (input.evidence) result.order = events_of(input, described, outcome);
    if (!input.unsure_compare_and_sets) return result;
    std::vector<std::uint8_t> met(a.txns.size(), 0);
    note_met(input, described, outcome, met);
    std::vector<Owner> read_from;
    for (const auto w : outcome.writers) {
      if (w != order::kInitial) read_from.push_back(described.owners[w]);
    }
    result.suspect = find_suspect(input, read_from, &met);
    return result;
  }
  result.decision.status = Verdict::kViolated;
  result.decision.decided_by = stage_name(outcome.stage);
  const base::AllocationWatch unwatched(
      nullptr);  // a proven violation is described whatever the limit
  result.decision.violation.emplace();
  auto& derivation = result.decision.violation->derivation;
  derivation = translate(a, outcome.proof,
                         {.split = shape.split,
                          .owners = described.owners,
                          .keys = described.keys,
                          .reads = described.reads});
  if (input.evidence) refute_cases(input.history, derivation, budget);
  return result;
}

struct Parts {
  std::vector<Part> all;
  bool by_key = false;
};

// Is a history one part at this level, because real time connects everything?
bool is_whole(Level level) {
  return needs_real_time(level) && !spec_of(level).single_object;
}

Parts parts_of(const DecisionInput& input, Level level) {
  const History& h = input.history;
  const Accesses& a = input.accesses;
  if (spec_of(level).single_object) return {split_by_key(h, a), true};
  if (is_whole(level)) return {{whole(a)}};
  return {split_into_parts(h, a, has_session_order(level))};
}

// Decides parts one by one, by any number of threads and processes.
class PartDecider {
 public:
  PartDecider(const DecisionInput& input, Level level, base::Budget& budget)
      : input_(input),
        shape_(shape_of(level)),
        budget_(budget),
        parts_(parts_of(input, level)),
        results_(parts_.all.size()),
        stop_(parts_.all.size()) {}

  [[nodiscard]] const Parts& parts() const { return parts_; }
  [[nodiscard]] const LevelShape& shape() const { return shape_; }
  [[nodiscard]] std::vector<PartResult>& results() { return results_; }
  // The first part, by number, that is known to say no; none: their number.
  [[nodiscard]] std::size_t first_no() const { return stop_; }

  // Those with a number of `part` modulo the number of processes. A part is left out only if one
  // with a smaller number is known to say no.
  void decide(base::TeamPart part) {
    const std::size_t all = parts_.all.size();
    const std::size_t own = all > part.number ? (all - part.number - 1) / part.of + 1 : 0;
    base::for_each_index(own, input_.threads, [&](std::size_t i) {
      const std::size_t number = part.number + i * part.of;
      if (number > stop_) return;
      const base::AllocationWatch watch(&budget_);
      decide_one(number);
    });
  }

  // What decide(part) found, for the process that asked.
  [[nodiscard]] std::string found(base::TeamPart part) const {
    std::string bytes;
    for (std::size_t i = part.number; i < results_.size(); i += part.of) {
      const PartResult& result = results_[i];
      base::put_bytes(bytes, result.decision.status);
      base::put_bytes(bytes, result.by_zones);
      base::put_bytes(bytes, result.one_chain);
      base::put_bytes(bytes, result.stage);
      base::put_bytes(bytes, result.suspect);
      const bool wanted = input_.evidence;
      base::put_bytes(bytes, wanted ? std::uint64_t{result.order.size()} : 0);
      for (std::size_t j = 0; wanted && j < result.order.size(); ++j) {
        base::put_bytes(bytes, result.order[j]);
      }
    }
    return bytes;
  }

  // Takes what another process found, or decides its parts where it could not. Of a part that says
  // no, the first is decided again: its derivation is here then.
  void take(base::TeamPart part, std::string_view answer) {
    if (answer.empty()) return decide(part);
    base::AnswerBytes bytes(answer);
    for (std::size_t i = part.number; i < results_.size(); i += part.of) {
      PartResult& result = results_[i];
      result.decision.status = bytes.take<Verdict>();
      result.by_zones = bytes.take<bool>();
      result.one_chain = bytes.take<bool>();
      result.stage = bytes.take<order::Stage>();
      result.suspect = bytes.take<TxnId>();
      result.order.resize(bytes.take<std::uint64_t>());
      for (auto& txn : result.order) txn = bytes.take<TxnId>();
      if (result.decision.status == Verdict::kViolated && i < stop_) {
        result = {};
        decide_one(i);
      }
    }
  }

 private:
  void decide_one(std::size_t i) {
    const Accesses& a = input_.accesses;
    const Part& part = parts_.all[i];
    PartResult& result = results_[i];
    const ZonesResult zones =
        parts_.by_key ? decide_by_zones(input_.history, a, part, input_.drift) : ZonesResult{};
    if (zones.kind == ZonesResult::Kind::kLinearizable) {
      result.by_zones = true;
      result.one_chain = zones.one_chain;
      result.decision.status = Verdict::kSatisfied;
      for (const Owner o : zones.order) result.order.push_back(a.txns[o]);
    } else {
      if (zones.kind == ZonesResult::Kind::kContradiction) {
        result = decide_part(input_, {zones.suspects, part.keys, false}, shape_, budget_);
        assert(result.decision.status != Verdict::kSatisfied);
      }
      if (result.decision.status != Verdict::kViolated) {
        result = decide_part(input_, part, shape_, budget_);
      }
    }
    if (result.decision.status != Verdict::kViolated) return;
    std::size_t known = stop_;
    while (i < known && !stop_.compare_exchange_weak(known, i)) {
    }
  }

  const DecisionInput& input_;
  const LevelShape shape_;
  base::Budget& budget_;
  const Parts parts_;
  std::vector<PartResult> results_;
  std::atomic<std::size_t> stop_;
};

void decide_with_team(PartDecider& decider, base::Team& team) {
  decider.decide({0, team.size()});
  const auto answers = team.answers();
  for (std::uint32_t i = 1; i < team.size(); ++i) decider.take({i, team.size()}, answers[i - 1]);
}

}  // namespace

std::optional<std::string> decide_team_part(const DecisionInput& input, Level level,
                                            base::TeamPart part, base::Budget& budget) {
  PartDecider decider(input, level, budget);
  decider.decide(part);
  if (budget.exceeded()) return std::nullopt;
  return decider.found(part);
}

BranchDecision decide_order_level(const DecisionInput& input, Level level, base::Budget& budget) {
  // The answer is that of the first part, by number, that says no; else of the first
  // that does not know. A part is left out only if one with a smaller number is known
  // to say no, so whatever the threads do, all parts up to that first one are decided.
  // They look for the parts at the same time as this process.
  if (input.team != nullptr && !is_whole(level))
    input.team->ask(team_question(level, input.proposals));
  PartDecider decider(input, level, budget);
  const auto& parts = decider.parts().all;
  const bool by_key = decider.parts().by_key;
  auto& results = decider.results();
  constexpr std::size_t kFewParts = 100;  // of more, timing the stages of each would cost too much
  std::optional<base::Stopwatch::Lap> lap;
  if (parts.size() > kFewParts) {
    lap.emplace(budget.stopwatch(), "parts", base::Stopwatch::Within::kWhole);
  }
  if (input.team != nullptr && parts.size() > 1) {
    decide_with_team(decider, *input.team);
  } else {
    decider.decide({});
  }
  lap.reset();
  if (const std::size_t i = decider.first_no(); i < parts.size())
    return {std::move(results[i].decision)};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (results[i].decision.status == Verdict::kSatisfied) continue;
    const std::string stage(stage_name(results[i].stage));
    return {gave_up(budget, parts.size() == 1
                                ? stage
                                : fmt::format("{} of part {} of {}", stage, i + 1, parts.size()))};
  }
  // The deepest stage that any part needed names the decision.
  order::Stage deepest = order::Stage::kSaturation;
  bool all_by_zones = !parts.empty(), all_chains = true;
  TxnId suspect;
  for (const PartResult& result : results) {
    all_by_zones = all_by_zones && result.by_zones;
    all_chains = all_chains && result.one_chain;
    deepest = std::max(deepest, result.stage);
    if (!suspect.valid()) suspect = result.suspect;
  }
  Decision d;
  d.status = Verdict::kSatisfied;
  d.decided_by = !all_by_zones ? std::string(stage_name(deepest)) : all_chains ? "chain" : "zones";
  if (input.evidence) {
    auto witness = std::make_shared<Witness>();
    witness->level = level;
    if (by_key) {
      for (std::size_t i = 0; i < parts.size(); ++i) {
        witness->by_key.push_back({parts[i].keys.front(), std::move(results[i].order)});
      }
    } else {
      witness->order = merged(input, decider.shape(), results);
    }
    d.witness = std::move(witness);
  }
  return {std::move(d), suspect};
}

}  // namespace cupel::levels
