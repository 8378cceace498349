// decide_visibility_by_cases: weak levels with several possible writers of a read.
//
// What holds whatever the choice comes first: a cycle there needs no choice. Then
// writers are guessed along one order (writer_guess.hpp), and co decides whether
// they pass. If not, each of its cycles excludes the choices it rests on, many
// cycles at a time, and the reads in them become a solver's: a Boolean for each of
// their candidates, none for the other reads, which are guessed again around what
// the solver proposes. Ends with a choice that passes or with clauses that leave
// none. The number of rounds may be exponential (Biswas & Enea's polynomial
// theorems are for unique values), so the budget may end it.
//
// A round costs one or two saturations and a guess.
#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <map>

#include "base/hash_table.hpp"
#include "base/solver/clause_solver.hpp"
#include "engine/order/co_graph.hpp"
#include "engine/order/writer_guess.hpp"

namespace cupel::order {

namespace {

using solver::Literal;

constexpr std::size_t kCasesKept = 64;  // nobody reads more

class Cases {
 public:
  Cases(const VisibilityProblem& problem, Visible visible,
        std::span<const std::span<const Owner>> candidates, std::span<const std::uint64_t> hint,
        std::uint64_t max_rounds, base::Budget& budget)
      : problem_(problem),
        visible_(visible),
        candidates_(candidates),
        hint_(hint),
        rounds_left_(max_rounds),
        budget_(budget),
        fixed_(candidates.size(), kUnresolved),
        open_(candidates.size(), 0),
        chain_(problem.owner_count, 0),
        position_(problem.owner_count, 0) {
    for (std::uint32_t c = 0; c < problem.chains.size(); ++c) {
      for (std::uint32_t i = 0; i < problem.chains[c].size(); ++i) {
        chain_[problem.chains[c][i]] = c;
        position_[problem.chains[c][i]] = i;
      }
    }
    for (std::size_t r = 0; r < candidates.size(); ++r) {
      assert(!candidates[r].empty());
      if (candidates[r].size() == 1) {
        fixed_[r] = candidates[r].front();
      } else {
        open_[r] = 1;
      }
    }
  }

  OrderResult run() {
    result_.stage = Stage::kSaturation;
    while (!step()) {
    }
    return std::move(result_);
  }

 private:
  // True if it is decided, or a limit was met.
  bool step() {
    if (rounds_left_-- == 0) return true;
    CoGraph proposed(problem_, visible_, fixed_, budget_);
    if (!proposed.saturate()) return true;
    if (!proposed.acyclic()) return learn(proposed) || propose();
    std::vector<Owner> writers = fixed_;
    result_.stage = std::max(result_.stage, Stage::kSchedule);
    if (!guess_writers({problem_, visible_, proposed, candidates_, hint_}, writers, rank_, budget_))
      return true;
    CoGraph guessed(problem_, visible_, writers, budget_);
    if (!guessed.saturate()) return true;
    if (guessed.acyclic()) {
      result_.solvability = Solvability::kYes;
      result_.order.assign(guessed.graph().topological().begin(),
                           guessed.graph().topological().end());
      result_.writers = std::move(writers);
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
      const auto parts = parts_of(proof);
      std::vector<Literal> clause;
      for (const auto& [r, part] : parts) {
        if ((part & kExact) != 0) {
          clause.push_back(-chosen(r).self);
          continue;
        }
        if ((part & kNoLater) != 0) clause.push_back(-chosen(r).no_later);
        if ((part & kNoEarlier) != 0) clause.push_back(-chosen(r).no_earlier);
      }
      if (clause.empty()) {
        result_.solvability = Solvability::kNo;
        result_.proof = std::move(proof);
        return true;
      }
      result_.stage = Stage::kRefine;
      std::sort(clause.begin(), clause.end());
      if (!seen_.insert(clause).second) continue;
      sat_.add_clause(clause);
      if (clause.size() == 1) exclude(parts.begin()->first, parts.begin()->second);
      keep_case(std::move(proof));
    }
    return false;
  }

  // How a cycle uses what a read sees. If w's version is too old for the read,
  // so is every earlier one of w's session; if w must not be seen because it
  // brings its past along, so does every later one of its session.
  enum Part : std::uint8_t { kNone = 0, kExact = 1, kNoLater = 2, kNoEarlier = 4 };

  std::map<std::uint32_t, std::uint8_t> parts_of(const Proof& proof) const {
    std::map<std::uint32_t, std::uint8_t> parts;
    std::vector<std::uint8_t> in_cycle(proof.arcs.size(), 0);
    for (const auto i : proof.cycles.front()) in_cycle[i] = 1;
    const bool initial = by_initial(proof);
    for (std::size_t i = 0; i < proof.arcs.size(); ++i) {
      const auto part = part_of(proof.arcs[i], in_cycle[i] != 0, initial);
      if (part != kNone) parts[proof.arcs[i].read_or_object] |= part;
    }
    return parts;
  }
  Part part_of(const ProofArc& arc, bool in_cycle, bool initial) const {
    const auto r = arc.read_or_object;
    switch (arc.kind) {
      case ArcKind::kRead:
        // A step of co may lead through the session. So may what is visible, if it
        // goes by paths: the steps in front of a forced arc, or after a read of the
        // initial version.
        if (!open_[r]) return kNone;
        return visible_ == Visible::kCausal || (in_cycle && !initial) ? kNoEarlier : kExact;
      case ArcKind::kVisible:
        if (!open_[r]) return kNone;
        return chain_[arc.other] == chain_[fixed_[r]] ? kExact : kNoLater;
      case ArcKind::kInitialRead:
        return open_[r] ? kExact : kNone;
      default:
        return kNone;
    }
  }
  static bool by_initial(const Proof& proof) {
    return std::any_of(proof.arcs.begin(), proof.arcs.end(),
                       [](const ProofArc& arc) { return arc.kind == ArcKind::kInitialRead; });
  }

  // What the solver knows of a read: literals for each candidate, which of them are
  // excluded for good, and which it should try first: the nearest to the first
  // guess, since what forced the next one is seldom far away.
  struct Literals {
    Literal self;
    Literal no_later;    // this one, or an earlier one of its session
    Literal no_earlier;  // this one, or a later one of its session
  };
  struct Choice {
    std::vector<Literals> literals;          // by candidate
    std::vector<std::uint8_t> excluded;      // by candidate
    std::vector<std::uint32_t> by_distance;  // candidate indexes
    std::size_t tried = 0;                   // into by_distance
  };

  std::size_t index_of(std::uint32_t r, Owner w) const {
    const auto options = candidates_[r];
    return static_cast<std::size_t>(std::find(options.begin(), options.end(), w) - options.begin());
  }

  // The literals of what fixed_ says of an open read, which becomes the solver's.
  const Literals& chosen(std::uint32_t r) {
    Choice& choice = choices_[r];
    const auto now = index_of(r, fixed_[r]);
    if (choice.literals.empty()) enter(r, choice, now);
    return choice.literals[now];
  }

  void enter(std::uint32_t r, Choice& choice, std::size_t now) {
    const auto options = candidates_[r];
    const auto rank = [&](std::size_t i) -> std::int64_t {
      return options[i] == kInitial ? 0 : rank_[options[i]];
    };
    std::vector<Literal> some;
    for (std::uint32_t i = 0; i < options.size(); ++i) {
      const Literal self = sat_.new_variable();
      sat_.prefer(i == now ? self : -self);
      some.push_back(self);
      choice.literals.push_back({self, self, self});
      choice.by_distance.push_back(i);
    }
    sat_.add_clause(some);
    choice.excluded.assign(options.size(), 0);

    // Along each session: literals that say how far.
    std::vector<std::uint32_t> by_session;
    for (std::uint32_t i = 0; i < options.size(); ++i) {
      if (options[i] != kInitial) by_session.push_back(i);
    }
    std::sort(by_session.begin(), by_session.end(), [&](auto a, auto b) {
      const Owner x = options[a], y = options[b];
      return chain_[x] != chain_[y] ? chain_[x] < chain_[y] : position_[x] < position_[y];
    });
    const auto implies = [&](Literal a, Literal b) {
      const Literal clause[] = {-a, b};
      sat_.add_clause(clause);
    };
    for (std::size_t i = 1; i < by_session.size(); ++i) {
      if (chain_[options[by_session[i]]] != chain_[options[by_session[i - 1]]]) continue;
      auto& mine = choice.literals[by_session[i]];
      mine.no_later = sat_.new_variable();
      implies(mine.self, mine.no_later);
      implies(choice.literals[by_session[i - 1]].no_later, mine.no_later);
    }
    for (std::size_t i = by_session.size(); i-- > 1;) {
      if (chain_[options[by_session[i]]] != chain_[options[by_session[i - 1]]]) continue;
      auto& mine = choice.literals[by_session[i - 1]];
      mine.no_earlier = sat_.new_variable();
      implies(mine.self, mine.no_earlier);
      implies(choice.literals[by_session[i]].no_earlier, mine.no_earlier);
    }
    std::stable_sort(choice.by_distance.begin(), choice.by_distance.end(), [&](auto a, auto b) {
      return std::abs(rank(a) - rank(now)) < std::abs(rank(b) - rank(now));
    });
  }

  // A cycle that rests on one read: candidates are out for good.
  void exclude(std::uint32_t r, std::uint8_t part) {
    Choice& choice = choices_.at(r);
    const auto options = candidates_[r];
    const Owner w = fixed_[r];
    for (std::size_t i = 0; i < options.size(); ++i) {
      const bool same = options[i] == w;
      const bool along = w != kInitial && options[i] != kInitial && chain_[options[i]] == chain_[w];
      if (same || (along && part == kNoLater && position_[options[i]] < position_[w]) ||
          (along && part == kNoEarlier && position_[options[i]] > position_[w])) {
        choice.excluded[i] = 1;
        sat_.prefer(-choice.literals[i].self);
      }
    }
    while (choice.tried + 1 < options.size() && choice.excluded[choice.by_distance[choice.tried]])
      ++choice.tried;
    sat_.prefer(choice.literals[choice.by_distance[choice.tried]].self);
  }

  // The solver's next choice, into fixed_. True if there is none.
  bool propose() {
    switch (sat_.solve(budget_)) {
      case solver::SolveResult::kGaveUp:
        return true;
      case solver::SolveResult::kUnsatisfiable:
        result_.solvability = Solvability::kNo;
        result_.proof = std::move(all_);
        return true;
      case solver::SolveResult::kModel:
        break;
    }
    for (const auto& [r, choice] : choices_) {
      const auto it = std::find_if(
          choice.by_distance.begin(), choice.by_distance.end(),
          [&, &literals = choice.literals](auto i) { return sat_.is_true(literals[i].self); });
      fixed_[r] = candidates_[r][*it];
    }
    return false;
  }

  void keep_case(Proof proof) {
    all_.by_cases = true;
    if (!problem_.whole_proofs && all_.cycles.size() >= kCasesKept) return;
    const auto offset = static_cast<std::uint32_t>(all_.arcs.size());
    std::vector<std::uint8_t> in_cycle(proof.arcs.size(), 0);
    for (const auto i : proof.cycles.front()) in_cycle[i] = 1;
    const bool initial = by_initial(proof);
    for (std::size_t i = 0; i < proof.arcs.size(); ++i) {
      ProofArc& arc = proof.arcs[i];
      for (auto& b : arc.because) b += offset;
      switch (part_of(arc, in_cycle[i] != 0, initial)) {
        case kNoLater:
          arc.bound = Bound::kEarlier;
          break;
        case kNoEarlier:
          arc.bound = Bound::kLater;
          break;
        default:
          break;
      }
      if (arc.kind == ArcKind::kRead && open_[arc.read_or_object])
        arc.kind = ArcKind::kAssumedWriter;
      all_.arcs.push_back(std::move(arc));
    }
    for (auto& i : proof.cycles.front()) i += offset;
    all_.cycles.push_back(std::move(proof.cycles.front()));
  }

  const VisibilityProblem& problem_;
  const Visible visible_;
  std::span<const std::span<const Owner>> candidates_;
  std::span<const std::uint64_t> hint_;
  std::uint64_t rounds_left_;
  base::Budget& budget_;
  std::vector<Owner> fixed_;        // by read: its only candidate, or the solver's choice
  std::vector<std::uint8_t> open_;  // by read: more than one candidate
  solver::ClauseSolver sat_;
  std::map<std::uint32_t, Choice> choices_;  // the solver's reads
  std::vector<std::uint32_t> rank_;          // of the last guess, by owner
  base::HashSet<std::vector<Literal>> seen_;
  std::vector<std::uint32_t> chain_, position_;  // by owner
  Proof all_;
  OrderResult result_;
};

}  // namespace

OrderResult decide_visibility_by_cases(const VisibilityProblem& problem, Visible visible,
                                       std::span<const std::span<const Owner>> candidates,
                                       std::span<const std::uint64_t> hint,
                                       std::uint64_t max_rounds, base::Budget& budget) {
  return Cases(problem, visible, candidates, hint, max_rounds, budget).run();
}

}  // namespace cupel::order
