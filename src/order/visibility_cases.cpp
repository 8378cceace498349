// decide_visibility_by_cases: weak levels with several possible writers of a read.
//
// What holds whatever the choice comes first: a cycle there needs no choice. Then
// writers are guessed along one order (writer_guess.hpp), and co tells whether
// they pass. If not, each of its cycles excludes the choices it rests on, many
// cycles at a time, and the reads in them become a solver's: a Boolean for each of
// their candidates, none for the other reads, which are guessed again around what
// the solver proposes. Ends with a choice that passes or with clauses that leave
// none. Deciding these levels with several writers of a value is NP-complete
// (Biswas & Enea's theorems are for unique values), so the budget may end it.
//
// A round costs one or two saturations and a guess.
#include <absl/container/btree_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <cassert>

#include "order/co_graph.hpp"
#include "order/writer_guess.hpp"
#include "solver/clause_solver.hpp"

namespace cupel::order {

namespace {

using solver::Literal;

constexpr std::size_t kCasesKept = 64;  // nobody reads more

class Cases {
 public:
  Cases(const VisibilityProblem& problem, Visible visible,
        std::span<const std::span<const Owner>> candidates, std::span<const std::uint64_t> hint,
        base::Budget& budget)
      : problem_(problem),
        visible_(visible),
        candidates_(candidates),
        hint_(hint),
        budget_(budget),
        fixed_(candidates.size(), kUnresolved),
        open_(candidates.size(), 0) {
    for (std::size_t r = 0; r < candidates.size(); ++r) {
      assert(!candidates[r].empty());
      if (candidates[r].size() == 1) {
        fixed_[r] = candidates[r].front();
      } else {
        open_[r] = 1;
      }
    }
  }

  Outcome run() {
    outcome_.stage = Stage::kSaturation;
    while (!step()) {
    }
    return std::move(outcome_);
  }

 private:
  // True if it is decided, or the budget ended.
  bool step() {
    CoGraph proposed(problem_, visible_, fixed_, budget_);
    if (!proposed.saturate()) return true;
    if (!proposed.acyclic()) return learn(proposed) || propose();
    std::vector<Owner> writers = fixed_;
    outcome_.stage = std::max(outcome_.stage, Stage::kSchedule);
    if (!guess_writers(problem_, visible_, proposed, candidates_, hint_, writers, budget_)) return true;
    CoGraph guessed(problem_, visible_, writers, budget_);
    if (!guessed.saturate()) return true;
    if (guessed.acyclic()) {
      outcome_.answer = Answer::kYes;
      outcome_.order.assign(guessed.graph().topological().begin(), guessed.graph().topological().end());
      outcome_.writers = std::move(writers);
      return true;
    }
    writers.swap(fixed_);  // the clauses are about the guess
    const bool decided = learn(guessed);
    writers.swap(fixed_);
    return decided || propose();
  }

  // Clauses from the cycles under fixed_. True if one rests on no choice.
  bool learn(const CoGraph& co) {
    for (Proof& proof : co.proofs(open_)) {
      std::vector<Literal> clause;
      for (const ProofArc& arc : proof.arcs) {
        const bool of_read = arc.kind == ArcKind::kRead || arc.kind == ArcKind::kVisible ||
                             arc.kind == ArcKind::kInitialRead;
        if (of_read && open_[arc.read_or_object]) clause.push_back(-chosen(arc.read_or_object));
      }
      if (clause.empty()) {
        outcome_.answer = Answer::kNo;
        outcome_.proof = std::move(proof);
        return true;
      }
      outcome_.stage = Stage::kRefine;
      std::sort(clause.begin(), clause.end());
      clause.erase(std::unique(clause.begin(), clause.end()), clause.end());
      if (!seen_.insert(clause).second) continue;
      sat_.add_clause(clause);
      keep_case(std::move(proof));
    }
    return false;
  }

  // The literal of what fixed_ says of an open read, which becomes the solver's.
  Literal chosen(std::uint32_t r) {
    const auto options = candidates_[r];
    auto& literals = literals_[r];
    const auto now = std::find(options.begin(), options.end(), fixed_[r]);
    if (literals.empty()) {
      for (auto it = options.begin(); it != options.end(); ++it) {
        literals.push_back(sat_.new_variable());
        sat_.prefer(it == now ? literals.back() : -literals.back());
      }
      sat_.add_clause(literals);
    }
    return literals[static_cast<std::size_t>(now - options.begin())];
  }

  // The solver's next choice, into fixed_. True if there is none.
  bool propose() {
    switch (sat_.solve(budget_)) {
      case solver::Answer::kGaveUp: return true;
      case solver::Answer::kNone:
        outcome_.answer = Answer::kNo;
        outcome_.proof = std::move(all_);
        return true;
      case solver::Answer::kModel: break;
    }
    for (const auto& [r, literals] : literals_) {
      const auto it = std::find_if(literals.begin(), literals.end(), [&](Literal l) { return sat_.is_true(l); });
      fixed_[r] = candidates_[r][static_cast<std::size_t>(it - literals.begin())];
    }
    return false;
  }

  void keep_case(Proof proof) {
    all_.by_cases = true;
    if (all_.cycles.size() >= kCasesKept) return;
    const auto offset = static_cast<std::uint32_t>(all_.arcs.size());
    for (ProofArc& arc : proof.arcs) {
      for (auto& b : arc.because) b += offset;
      if (arc.kind == ArcKind::kRead && open_[arc.read_or_object]) arc.kind = ArcKind::kAssumedWriter;
      all_.arcs.push_back(std::move(arc));
    }
    for (auto& i : proof.cycles.front()) i += offset;
    all_.cycles.push_back(std::move(proof.cycles.front()));
  }

  const VisibilityProblem& problem_;
  const Visible visible_;
  std::span<const std::span<const Owner>> candidates_;
  std::span<const std::uint64_t> hint_;
  base::Budget& budget_;
  std::vector<Owner> fixed_;         // by read: its only candidate, or the solver's choice
  std::vector<std::uint8_t> open_;   // by read: more than one candidate
  solver::ClauseSolver sat_;
  absl::btree_map<std::uint32_t, std::vector<Literal>> literals_;  // the solver's reads, by candidate
  absl::flat_hash_set<std::vector<Literal>> seen_;
  Proof all_;
  Outcome outcome_;
};

}  // namespace

Outcome decide_visibility_by_cases(const VisibilityProblem& problem, Visible visible,
                                   std::span<const std::span<const Owner>> candidates,
                                   std::span<const std::uint64_t> hint, base::Budget& budget) {
  return Cases(problem, visible, candidates, hint, budget).run();
}

}  // namespace cupel::order
