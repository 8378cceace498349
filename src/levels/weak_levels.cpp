// decide_weak_level: see the header.
#include "levels/weak_levels.hpp"

#include <absl/container/flat_hash_map.h>

#include <algorithm>

#include "levels/describe.hpp"
#include "levels/fates.hpp"
#include "levels/order_levels.hpp"
#include "solver/clause_solver.hpp"

namespace cupel::levels {

namespace {

// What a cheap yes may cost; a count, so that it is the same on every machine.
constexpr std::uint64_t kCheapProposals = 300;

class WeakDecider {
 public:
  WeakDecider(const Given& given, Level level, base::Budget& budget)
      : given_(given),
        level_(level),
        budget_(budget),
        visible_(level == Level::kReadCommitted ? order::Visible::kEarlierRead
                 : level == Level::kReadAtomic  ? order::Visible::kDirect
                                                : order::Visible::kCausal),
        described_(describe_visibility(given.history, given.accesses, level == Level::kReadCommitted)),
        writers_(described_.reads.size()) {
    for (std::uint32_t r = 0; r < described_.reads.size(); ++r) {
      writers_[r] = candidates(r).front();
      if (candidates(r).size() > 1) open_.push_back(r);
    }
  }

  Judged run() {
    if (!open_.empty()) return by_cases();
    return judged(order::decide_visibility(described_.problem, visible_, writers_, budget_));
  }

 private:
  [[nodiscard]] std::span<const Owner> candidates(std::uint32_t r) const {
    const Accesses& a = given_.accesses;
    const ExternalRead& read = a.reads[described_.reads[r]];
    return level_ == Level::kReadCommitted
               ? std::span(a.candidates).subspan(read.first_candidate, read.last_candidate - read.first_candidate)
               : std::span(a.candidates).subspan(read.joint_first, read.joint_last - read.joint_first);
  }

  [[nodiscard]] std::uint64_t hint(Owner o) const {
    const History& h = given_.history;
    const TxnId txn = given_.accesses.txns[o];
    if (h.has_all_times()) return (static_cast<std::uint64_t>(h.invoke(txn)) ^ (1ull << 63)) >> 2;
    const auto s = h.session(txn);
    return (static_cast<std::uint64_t>(txn.raw - h.session_begin(s).raw) << 32) /
           (h.session_end(s).raw - h.session_begin(s).raw);
  }

  [[nodiscard]] Derivation derivation(const order::Proof& proof) const {
    return translate(given_.accesses, proof, false, described_.owners, described_.keys, described_.reads,
                     writers_);
  }

  // The outcome with the writers as they are.
  [[nodiscard]] Judged judged(const order::Outcome& outcome) const {
    if (outcome.answer == order::Answer::kGaveUp) return {gave_up(budget_, "saturation")};
    Judged result;
    result.decision.decided_by = "saturation";
    result.decision.answer = outcome.answer == order::Answer::kYes ? Answer::kYes : Answer::kNo;
    if (result.decision.answer == Answer::kNo) {
      result.decision.violation.emplace();
      result.decision.violation->derivation = derivation(outcome.proof);
    } else if (given_.unsure_compare_and_sets) {
      result.suspect = find_suspect(given_, writers_, nullptr);
    }
    return result;
  }

  // A solver proposes writers, saturation judges them, and the reads that took
  // part in its cycle become a clause. Before that, an order at prefix (or, for
  // all three, anything stronger) is a cheap yes.
  Judged by_cases() {
    const Accesses& a = given_.accesses;
    const bool repeatable = std::none_of(a.internal.begin(), a.internal.end(), [](const auto& anomaly) {
      return anomaly.kind == InternalKind::kNonRepeatableRead;
    });
    if (repeatable) {
      for (const Level stronger : {Level::kStrongSessionSerializable, Level::kPrefix}) {
        Judged cheap = decide_order_level(given_, stronger, budget_, kCheapProposals);
        if (cheap.decision.answer == Answer::kYes) return cheap;
      }
    }
    solver::ClauseSolver sat;
    absl::flat_hash_map<std::uint32_t, std::vector<solver::Literal>> literals;
    for (const auto r : open_) {
      auto& mine = literals[r];
      // First guess: the writer that comes last before the reader by time, or by
      // place in the session; the truth is seldom far from it.
      const auto reader = hint(a.reads[described_.reads[r]].owner);
      const auto options = candidates(r);
      const auto distance = [&](Owner w) {
        const auto writer = w == kInitialOwner ? 0 : hint(w);
        return writer <= reader ? reader - writer : (1ull << 63) + (writer - reader);
      };
      const auto guess = std::min_element(options.begin(), options.end(), [&](Owner x, Owner y) {
        return distance(x) < distance(y);
      });
      for (auto it = options.begin(); it != options.end(); ++it) {
        mine.push_back(sat.new_variable());
        sat.prefer(it == guess ? mine.back() : -mine.back());
      }
      sat.add_clause(mine);
    }
    Decision violated;
    violated.answer = Answer::kNo;
    violated.decided_by = "refine";
    violated.violation.emplace();
    Derivation& all = violated.violation->derivation;
    constexpr std::size_t kCasesKept = 64;
    while (true) {
      switch (sat.solve(budget_)) {
        case solver::Answer::kGaveUp: return {gave_up(budget_, "refine")};
        case solver::Answer::kNone: return {std::move(violated)};
        case solver::Answer::kModel: break;
      }
      for (const auto r : open_) {
        const auto& mine = literals.at(r);
        const auto it = std::find_if(mine.begin(), mine.end(), [&](auto l) { return sat.is_true(l); });
        writers_[r] = candidates(r)[static_cast<std::size_t>(it - mine.begin())];
      }
      const order::Outcome outcome = order::decide_visibility(described_.problem, visible_, writers_, budget_);
      if (outcome.answer != order::Answer::kNo) {
        Judged result = judged(outcome);
        result.decision.decided_by = "refine";
        return result;
      }
      // The choices that the cycle rests on.
      std::vector<solver::Literal> clause;
      for (const auto& arc : outcome.proof.arcs) {
        const bool of_read = arc.kind == order::ArcKind::kRead || arc.kind == order::ArcKind::kVisible ||
                             arc.kind == order::ArcKind::kInitialRead;
        if (!of_read) continue;
        const auto it = literals.find(arc.read_or_object);
        if (it == literals.end()) continue;
        const auto options = candidates(arc.read_or_object);
        const auto chosen = std::find(options.begin(), options.end(), writers_[arc.read_or_object]);
        clause.push_back(-it->second[static_cast<std::size_t>(chosen - options.begin())]);
      }
      std::sort(clause.begin(), clause.end());
      clause.erase(std::unique(clause.begin(), clause.end()), clause.end());
      const Derivation one = derivation(outcome.proof);
      if (clause.empty()) {
        violated.violation->derivation = one;
        violated.decided_by = "saturation";
        return {std::move(violated)};
      }
      sat.add_clause(clause);
      if (all.cases.size() < kCasesKept) {
        const auto offset = static_cast<std::uint32_t>(all.edges.size());
        for (Edge e : one.edges) {
          for (auto& b : e.because) b += offset;
          const bool open_read = e.kind == EdgeKind::kWriteRead && e.reason == Reason::kGiven &&
                                 std::any_of(open_.begin(), open_.end(), [&](auto r) {
                                   return a.reads[described_.reads[r]].op == e.to_op;
                                 });
          if (open_read) e.reason = Reason::kAssumed;
          all.edges.push_back(std::move(e));
        }
        Case one_case{one.cycle};
        for (auto& i : one_case.cycle) i += offset;
        all.cases.push_back(std::move(one_case));
      }
    }
  }

  const Given& given_;
  const Level level_;
  base::Budget& budget_;
  const order::Visible visible_;
  const DescribedVisibility described_;
  std::vector<Owner> writers_;        // by read of described_
  std::vector<std::uint32_t> open_;   // reads with several candidates
};

}  // namespace

Judged decide_weak_level(const Given& given, Level level, base::Budget& budget) {
  return WeakDecider(given, level, budget).run();
}

}  // namespace cupel::levels
