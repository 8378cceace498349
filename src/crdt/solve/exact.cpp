// The exact method: is there a happens-before? As a question to a SAT solver.
//
// A happens-before is, for each operation o and each other replica j, how many of the
// updates of j it has seen; only updates that some read asks about count. "At least k"
// is a variable, and those of an operation imply those of the next on its replica. The
// axioms become clauses over them, read by read. What is left to say is that seeing is
// transitive (seeing an update is seeing what it has seen) and, for registers and
// arrays that linearize, that a linear order contains everything. Both are asked
// lazily: a model that breaks them gets the clauses it breaks, until one does not or
// none is left. Small problems get transitivity at once, which spares the rounds.
//
// Counters: seeing more than the last read of a replica saw can wait for its next read,
// because increments commute; updates therefore take the clock of the read before them,
// and the value of a read is a sum over replicas, a variable for each partial sum.
//
// Size: (operations × updates) variables, (reads × updates² of one object) clauses at
// most. Not for 100,000 operations; search.cpp is before it.
#include <algorithm>
#include <map>

#include "crdt/solve/decide.hpp"
#include "solver/clause_solver.hpp"

namespace cupel::crdt {

namespace {

using solver::Literal;

constexpr std::size_t kMostVariables = 60'000'000;
constexpr std::size_t kMostEagerTriples = 400'000;

class Exact {
 public:
  Exact(const History& history, const Axioms& axioms, base::Budget& budget, const Probe& probe = {})
      : history_(history), axioms_(axioms), budget_(budget), probe_(probe) {
    width_ = history.replicas.size();
    true_ = solver_.new_variable();
    clause({true_});
  }

  Decision decide() {
    Decision decision;
    decision.decided_by = "sat";
    choose();
    if (!make_variables()) return decision;
    if (!say_axioms()) return decision;
    for (const auto& [update, is_seen] : probe_.seen) {
      if (place_[update] != kNone)
        clause({is_seen ? seen(probe_.read, update) : -seen(probe_.read, update)});
    }
    if (!say_triples()) return decision;
    while (true) {
      const auto answer = solver_.solve(budget_);
      if (answer == solver::SolveResult::kGaveUp) return decision;
      if (answer == solver::SolveResult::kUnsatisfiable) {
        decision.verdict = Verdict::kViolated;
        decision.violation = Violation{whole(history_), {}};
        return decision;
      }
      if (budget_.exceeded()) return decision;
      take_model();
      if (say_broken_transitivity()) continue;
      if (say_broken_order()) continue;
      decision.verdict = Verdict::kSatisfied;
      decision.witness = witness();
      return decision;
    }
  }

 private:
  using Clause = std::vector<Literal>;

  void clause(const Clause& literals) {
    for (const Literal l : literals) {
      if (l == true_) {
        if (literals.size() > 1) return;
      }
    }
    solver_.add_clause(literals);
  }
  bool too_much() {
    return (++asked_ % 1024 == 0 && budget_.exceeded()) || budget_.limit() != base::Limit::kNone;
  }

  // The object of an update or a read: an element of a set, else the key.
  [[nodiscard]] std::uint32_t object(const Operation& op) const {
    return is_set(history_.type) ? op.element : op.key;
  }

  // Which updates are asked about, and which operations matter: those and the reads.
  void choose() {
    claims_ = is_set(history_.type) || is_flag(history_.type) ? claims_of(history_)
                                                              : std::vector<Claim>{};
    std::vector<bool> asked(std::max(history_.keys.size(), history_.elements.size()), false);
    for (const Claim& claim : claims_) asked[claim.element] = true;
    for (const Operation& op : history_.ops) {
      if (op.kind == Kind::kValue || op.kind == Kind::kValues) asked[op.key] = true;
    }
    updates_.resize(width_);
    of_object_.resize(asked.size());
    place_.assign(history_.ops.size(), kNone);
    own_.assign(history_.ops.size(), 0);
    for (std::size_t j = 0; j < width_; ++j) {
      for (const OpId id : history_.by_replica[j]) {
        const Operation& op = history_.ops[id];
        own_[id] = static_cast<std::uint32_t>(updates_[j].size());
        if (is_read(op.kind)) {
          nodes_.push_back(id);
        } else if (history_.type == Type::kGrowableArray || asked[object(op)]) {
          place_[id] = own_[id];
          updates_[j].push_back(id);
          nodes_.push_back(id);
          if (history_.type != Type::kGrowableArray) of_object_[object(op)].push_back(id);
        }
      }
    }
  }

  bool make_variables() {
    std::size_t all = 0;
    for (const auto& u : updates_) all += u.size();
    total_updates_ = all;
    std::size_t count = 0;
    for (const OpId id : nodes_) count += all - updates_[history_.ops[id].replica].size();
    if (count > kMostVariables || budget_.would_exceed(count * 60)) return false;
    first_.assign(history_.ops.size(), 0);
    offset_.assign(width_ * width_, 0);
    for (std::size_t i = 0; i < width_; ++i) {
      std::uint32_t at = 0;
      for (std::size_t j = 0; j < width_; ++j) {
        offset_[i * width_ + j] = at;
        if (i != j) at += static_cast<std::uint32_t>(updates_[j].size());
      }
    }
    std::vector<OpId> last(width_, kNone);
    for (const OpId id : nodes_) {  // along each replica
      const auto i = history_.ops[id].replica;
      const OpId previous = last[i];
      last[i] = id;
      if (history_.type == Type::kCounter && place_[id] != kNone) {
        if (previous != kNone) {
          first_[id] = first_[previous];
          continue;
        }
        first_[id] = 0;  // nothing seen
        continue;
      }
      for (std::size_t j = 0; j < width_; ++j) {
        if (j == i) continue;
        for (std::size_t k = 0; k < updates_[j].size(); ++k) {
          if (too_much()) return false;
          const Literal v = solver_.new_variable();
          if (k == 0 && first_[id] == 0) first_[id] = v;
          solver_.prefer(-v);
          if (k > 0) clause({-v, v - 1});
        }
      }
      if (previous == kNone || first_[previous] == 0) continue;
      for (std::uint32_t k = 0; first_[id] != 0 && k < all - updates_[i].size(); ++k)
        clause(
            {-(first_[previous] + static_cast<Literal>(k)), first_[id] + static_cast<Literal>(k)});
    }
    return true;
  }

  // o has seen at least k of the updates of replica j.
  [[nodiscard]] Literal at_least(OpId o, std::size_t j, std::uint32_t k) const {
    if (k == 0) return true_;
    const auto i = history_.ops[o].replica;
    if (i == j) return k <= own_[o] ? true_ : -true_;
    if (k > updates_[j].size() || first_[o] == 0) return -true_;
    return first_[o] + static_cast<Literal>(offset_[i * width_ + j] + k - 1);
  }
  [[nodiscard]] Literal seen(OpId o, OpId update) const {
    return update == o ? -true_ : at_least(o, history_.ops[update].replica, place_[update] + 1);
  }
  // Both, as a literal that implies them.
  Literal both(Literal a, Literal b) {
    if (a == true_) return b;
    if (b == true_) return a;
    if (a == -true_ || b == -true_) return -true_;
    const Literal v = solver_.new_variable();
    clause({-v, a});
    clause({-v, b});
    return v;
  }

  bool say_axioms() {
    if (is_set(history_.type) || is_flag(history_.type)) {
      for (const Claim& claim : claims_) {
        if (claim.op != probe_.read && !say_membership(claim)) return false;
      }
      return true;
    }
    for (const OpId id : nodes_) {
      if (budget_.exceeded()) return false;
      if (id == probe_.read) continue;
      const Operation& op = history_.ops[id];
      switch (op.kind) {
        case Kind::kValue:
          if (!say_sum(id)) return false;
          break;
        case Kind::kValues:
          if (!say_register(id)) return false;
          break;
        case Kind::kInsert:
        case Kind::kDelete: {
          const auto used = op.kind == Kind::kInsert ? op.parent : op.element;
          if (used != kNone) say_read(id, used);
          break;
        }
        case Kind::kList:
          say_array(id);
          break;
        default:
          break;
      }
    }
    if (history_.type == Type::kGrowableArray) {
      const auto order = array_order(history_, axioms_);
      if (order.impossible) clause({});
      for (const Step& step : order.steps) arcs_.push_back({step, true_});
    }
    return true;
  }

  // The winning side is returned if an update of it is maximal among those seen.
  bool say_membership(const Claim& claim) {
    const Kind winner = up_wins(history_.type) ? Kind::kUp : Kind::kDown;
    const bool wins = claim.returned == up_wins(history_.type);
    std::vector<OpId> winners, losers;
    for (const OpId id : of_object_[claim.element])
      (history_.ops[id].kind == winner ? winners : losers).push_back(id);
    if (!wins) {
      // Each winner seen has been overwritten by a loser that is seen too.
      for (const OpId w : winners) {
        Clause one{-seen(claim.op, w)};
        if (one[0] == true_) continue;
        for (const OpId l : losers) {
          if (too_much()) return false;
          const Literal v = both(seen(claim.op, l), seen(l, w));
          if (v != -true_) one.push_back(v);
        }
        clause(one);
      }
      // Off is how it begins: `true` of a type where `false` wins needs an add.
      if (claim.returned) {
        Clause some;
        for (const OpId l : losers) some.push_back(seen(claim.op, l));
        clause(some);
      }
      return true;
    }
    Clause some;
    for (const OpId w : winners) {
      const Literal s = seen(claim.op, w);
      if (s == -true_) continue;
      const Literal v = solver_.new_variable();
      some.push_back(v);
      clause({-v, s});
      for (const OpId l : losers) {
        if (too_much()) return false;
        clause({-v, -seen(claim.op, l), -seen(l, w)});
      }
    }
    if (!claim.returned) {
      // Nothing was added yet.
      const Literal v = solver_.new_variable();
      some.push_back(v);
      for (const OpId l : losers) clause({-v, -seen(claim.op, l)});
    }
    clause(some);
    return true;
  }

  bool say_sum(OpId read) {
    const Operation& op = history_.ops[read];
    std::vector<std::vector<std::pair<std::uint32_t, std::int64_t>>> levels(
        width_);  // seen at least, sum
    std::int64_t own = 0;
    for (const OpId u : of_object_[op.key]) {
      const Operation& update = history_.ops[u];
      if (update.replica == op.replica) {
        if (place_[u] < own_[read]) own += update.amount;
        continue;
      }
      auto& of_replica = levels[update.replica];
      if (of_replica.empty()) of_replica.emplace_back(0, 0);
      of_replica.emplace_back(place_[u] + 1, of_replica.back().second + update.amount);
    }
    std::vector<std::size_t> others;
    for (std::size_t j = 0; j < width_; ++j) {
      if (!levels[j].empty()) others.push_back(j);
    }
    // What the replicas from each on can add.
    std::vector<std::int64_t> least(others.size() + 1, 0), most(others.size() + 1, 0);
    for (std::size_t p = others.size(); p-- > 0;) {
      const auto [low, high] =
          std::minmax_element(levels[others[p]].begin(), levels[others[p]].end(),
                              [](const auto& a, const auto& b) { return a.second < b.second; });
      least[p] = least[p + 1] + low->second;
      most[p] = most[p + 1] + high->second;
    }
    std::map<std::int64_t, Literal> sums{{own, true_}};
    if (own + least[0] > op.amount || own + most[0] < op.amount) {
      clause({});
      return true;
    }
    for (std::size_t p = 0; p < others.size(); ++p) {
      std::map<std::int64_t, Literal> next;
      const auto& of_replica = levels[others[p]];
      for (const auto& [sum, state] : sums) {
        for (std::size_t q = 0; q < of_replica.size(); ++q) {
          if (too_much()) return false;
          const std::int64_t then = sum + of_replica[q].second;
          Clause one{-state, -at_least(read, others[p], of_replica[q].first)};
          if (q + 1 < of_replica.size())
            one.push_back(at_least(read, others[p], of_replica[q + 1].first));
          if (then + least[p + 1] <= op.amount && op.amount <= then + most[p + 1]) {
            auto& v = next[then];
            if (v == 0) v = p + 1 == others.size() ? true_ : solver_.new_variable();
            one.push_back(v);
          }
          clause(one);
        }
      }
      sums = std::move(next);
    }
    return true;
  }

  // Literal of "a is linearized before b".
  Literal earlier(OpId a, OpId b) {
    const auto [it, fresh] = earlier_.try_emplace({std::min(a, b), std::max(a, b)}, 0);
    if (fresh) {
      it->second = solver_.new_variable();
      arcs_.push_back({{std::min(a, b), std::max(a, b), Why::kArbitrated}, it->second});
      arcs_.push_back({{std::max(a, b), std::min(a, b), Why::kArbitrated}, -it->second});
      const Literal first = seen(std::max(a, b), std::min(a, b)),
                    second = seen(std::min(a, b), std::max(a, b));
      clause({-first, it->second});
      clause({-second, -it->second});
    }
    return a < b ? it->second : -it->second;
  }

  bool say_register(OpId read) {
    const Operation& op = history_.ops[read];
    const auto& writes = of_object_[op.key];
    const auto list = history_.list(op);
    if (list.empty()) {
      for (const OpId w : writes) clause({-seen(read, w)});
      return true;
    }
    if (history_.type == Type::kLastWriterWinsRegister) {
      Clause some;
      for (const OpId w : writes) {
        if (history_.ops[w].element != list[0] || seen(read, w) == -true_) continue;
        const Literal v = solver_.new_variable();
        some.push_back(v);
        clause({-v, seen(read, w)});
        for (const OpId other : writes) {
          if (too_much()) return false;
          if (other != w && seen(read, other) != -true_)
            clause({-v, -seen(read, other), earlier(other, w)});
        }
      }
      clause(some);
      return true;
    }
    std::map<std::uint32_t, Clause> returned;
    for (const auto e : list) returned[e];
    for (const OpId w : writes) {
      const Literal s = seen(read, w);
      if (s == -true_) continue;
      Clause explained{-s};
      const auto value = returned.find(history_.ops[w].element);
      Literal maximal = 0;
      if (value != returned.end()) {
        maximal = solver_.new_variable();
        value->second.push_back(maximal);
        explained.push_back(maximal);
        clause({-maximal, s});
      }
      for (const OpId other : writes) {
        if (too_much()) return false;
        if (other == w) continue;
        if (maximal != 0) clause({-maximal, -seen(read, other), -seen(other, w)});
        const Literal v = both(seen(read, other), seen(other, w));
        if (v != -true_) explained.push_back(v);
      }
      clause(explained);
    }
    for (const auto& [value, some] : returned) {
      clause(some);
      for (std::size_t a = 0; axioms_.letter && a < some.size(); ++a) {
        for (std::size_t b = a + 1; b < some.size(); ++b) clause({-some[a], -some[b]});
      }
    }
    return true;
  }

  void prepare_array() {
    if (!inserts_.empty()) return;
    inserts_ = inserts_of(history_);
    removes_.resize(history_.elements.size());
    chars_.resize(history_.keys.size());
    for (OpId id = 0; id < history_.ops.size(); ++id) {
      const Operation& op = history_.ops[id];
      if (op.kind == Kind::kDelete) removes_[op.element].push_back(id);
      if (op.kind == Kind::kInsert) chars_[op.key].push_back(op.element);
    }
  }
  void say_read(OpId id, std::uint32_t e) {
    prepare_array();
    if (inserts_[e] == kNone)
      clause({});
    else
      clause({seen(id, inserts_[e])});
  }
  void say_array(OpId read) {
    prepare_array();
    const auto list = history_.list(history_.ops[read]);
    std::vector<bool> shown(history_.elements.size(), false);
    for (const auto e : list) {
      shown[e] = true;
      say_read(read, e);
      for (const OpId d : removes_[e]) {
        if (!axioms_.letter) clause({-seen(read, d)});
      }
    }
    for (const auto e : chars_[history_.ops[read].key]) {
      if (shown[e]) continue;
      Clause one{-seen(read, inserts_[e])};
      for (const OpId d : removes_[e]) one.push_back(seen(read, d));
      clause(one);
    }
  }

  // All of transitivity, where that is little.
  bool say_triples() {
    if (nodes_.size() * total_updates_ * width_ > kMostEagerTriples) return true;
    for (const OpId o : nodes_) {
      for (std::size_t j = 0; j < width_; ++j) {
        if (j == history_.ops[o].replica) continue;
        for (const OpId u : updates_[j]) {
          const Literal s = seen(o, u);
          if (s == -true_) continue;
          for (std::size_t i = 0; i < width_; ++i) {
            if (i == j) continue;
            if (i == history_.ops[o].replica) {
              // What comes later here cannot have been seen there.
              const Literal late = at_least(u, i, own_[o] + 1);
              if (late != -true_) clause({-s, -late});
              continue;
            }
            for (std::uint32_t k = 1; k <= updates_[i].size(); ++k) {
              if (too_much()) return false;
              const Literal there = at_least(u, i, k);
              if (there != -true_) clause({-s, -there, at_least(o, i, k)});
            }
          }
        }
      }
    }
    return true;
  }

  // Of the model; the solver is asked about variables only.
  [[nodiscard]] bool holds(Literal l) const {
    return l > 0 ? solver_.is_true(l) : !solver_.is_true(-l);
  }

  void take_model() {
    count_.assign(history_.ops.size() * width_, 0);
    for (const OpId o : nodes_) {
      const auto i = history_.ops[o].replica;
      for (std::size_t j = 0; j < width_; ++j) {
        auto& count = count_[o * width_ + j];
        if (i == j) {
          count = own_[o];
          continue;
        }
        // At least is monotone: the first that is false.
        std::uint32_t low = 0,
                      high = first_[o] == 0 ? 0 : static_cast<std::uint32_t>(updates_[j].size());
        while (low < high) {
          const auto middle = (low + high + 1) / 2;
          if (solver_.is_true(at_least(o, j, middle)))
            low = middle;
          else
            high = middle - 1;
        }
        count = low;
      }
    }
  }

  bool say_broken_transitivity() {
    bool broken = false;
    for (const OpId o : nodes_) {
      const auto replica = history_.ops[o].replica;
      for (std::size_t j = 0; j < width_; ++j) {
        const auto c = count_[o * width_ + j];
        if (j == replica || c == 0) continue;
        const OpId u = updates_[j][c - 1];
        for (std::size_t i = 0; i < width_; ++i) {
          const auto there = count_[u * width_ + i];
          if (there <= count_[o * width_ + i]) continue;
          const auto k = i == replica ? own_[o] + 1 : there;
          clause({-at_least(o, j, c), -at_least(u, i, k), at_least(o, i, k)});
          broken = true;
        }
      }
    }
    return broken;
  }

  struct Arc {
    Step step;
    Literal literal;
  };

  // Cycles of the linearization in the model, each a clause.
  bool say_broken_order() {
    if (arcs_.empty()) return false;
    StepGraph graph(history_);
    std::vector<Literal> literals;
    std::vector<std::size_t> chosen;
    for (const OpId o : nodes_) {
      for (std::size_t j = 0; j < width_; ++j) {
        const auto c = count_[o * width_ + j];
        if (j == history_.ops[o].replica || c == 0) continue;
        graph.add({updates_[j][c - 1], o, Why::kReadFrom, static_cast<OpId>(literals.size())});
        literals.push_back(at_least(o, j, c));
      }
    }
    for (const Arc& arc : arcs_) {
      if (arc.literal != true_ && !holds(arc.literal)) continue;
      Step step = arc.step;
      step.read = static_cast<OpId>(literals.size());
      chosen.push_back(graph.steps().size());
      graph.add(step);
      literals.push_back(arc.literal);
    }
    if (graph.order()) return false;
    const auto say = [&](const std::vector<Step>& cycle) {
      Clause one;
      for (const Step& step : cycle) {
        if (step.why != Why::kReplicaOrder && literals[step.read] != true_)
          one.push_back(-literals[step.read]);
      }
      clause(one);
    };
    say(graph.cycle());
    constexpr std::size_t kMostCycles = 40;
    std::size_t found = 0;
    for (std::size_t c = 0; c < chosen.size() && found < kMostCycles; ++c) {
      const Step step = graph.steps()[chosen[c]];
      if (auto back = graph.path(step.to, step.from, graph.steps().size()); !back.empty()) {
        back.push_back(step);
        say(back);
        ++found;
      }
      if (budget_.exceeded()) break;
    }
    return true;
  }

  Witness witness() {
    Witness made{Clocks(history_), {}};
    std::vector<Step> steps;
    for (const Arc& arc : arcs_) {
      if (arc.literal == true_ || holds(arc.literal)) steps.push_back(arc.step);
    }
    // Updates nobody asks about, and operations between, see what the one before saw.
    for (std::size_t i = 0; i < width_; ++i) {
      std::vector<std::uint32_t> seen_so_far(width_, 0);
      for (const OpId id : history_.by_replica[i]) {
        if (is_read(history_.ops[id].kind) || place_[id] != kNone) {
          for (std::size_t j = 0; j < width_; ++j) {
            const auto c = count_[id * width_ + j];
            if (j != i && c > 0)
              seen_so_far[j] = std::max(seen_so_far[j], history_.ops[updates_[j][c - 1]].seq + 1);
          }
        }
        auto row = made.clocks.row(id);
        for (std::size_t j = 0; j < width_; ++j) {
          if (j != i) row[j] = seen_so_far[j];
        }
      }
    }
    auto order = linear_order(history_, made.clocks, steps);
    if (order) made.order = std::move(*order);
    return made;
  }

  const History& history_;
  const Axioms& axioms_;
  base::Budget& budget_;
  const Probe probe_;
  solver::ClauseSolver solver_;
  std::size_t width_ = 0, total_updates_ = 0, asked_ = 0;
  Literal true_ = 0;
  std::vector<Claim> claims_;
  std::vector<OpId> nodes_;                   // by replica, in its order
  std::vector<std::vector<OpId>> updates_;    // by replica: those asked about
  std::vector<std::vector<OpId>> of_object_;  // by object: its updates
  std::vector<std::uint32_t> place_,
      own_;  // by operation: index in updates_; how many of its replica before it
  std::vector<Literal> first_;         // by operation: its first variable; 0: has seen nothing
  std::vector<std::uint32_t> offset_;  // by two replicas
  std::vector<std::uint32_t> count_;   // of the model, as at_least() counts
  std::map<std::pair<OpId, OpId>, Literal> earlier_;
  std::vector<Arc> arcs_;
  std::vector<OpId> inserts_;
  std::vector<std::vector<OpId>> removes_;
  std::vector<std::vector<std::uint32_t>> chars_;  // by key
};

}  // namespace

Decision decide_exact(const History& history, const Axioms& axioms, base::Budget& budget,
                      const Probe& probe) {
  return Exact(history, axioms, budget, probe).decide();
}

}  // namespace cupel::crdt
