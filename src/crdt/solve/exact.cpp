// The exact method: a SAT solver decides whether a happens-before exists.
//
// The variables are the numbers of visible updates (encoder.hpp). The axioms of the type become
// clauses over them (ReplicatedType::encode). Two conditions remain: visibility is transitive, and
// for registers and arrays that linearize, a linear order contains everything. Both are added
// lazily: a model that violates them gets the violated clauses, until a model violates none or
// there is no model. If each key has a linearization of its own, there is such an order for each.
// Small problems get all clauses for transitivity at once, which saves rounds.
//
// Several objects share one solver and one happens-before.
//
// Size: (operations × updates) variables, at most (reads × updates² of one object) clauses. This is
// not for 100,000 operations; search.cpp runs first.
#include <algorithm>
#include <memory>
#include <set>

#include "crdt/model/times.hpp"
#include "crdt/solve/common_order.hpp"
#include "crdt/solve/encoder.hpp"
#include "crdt/solve/object_orders.hpp"

namespace cupel::crdt {

namespace {

constexpr std::size_t kMostEagerTriples = 400'000;
// A few thousand operations. Larger histories take many rounds, of all objects each.
constexpr std::size_t kMostPairsTogether = 4'000'000;

// The axioms of one history as clauses, and what the solver's models still break.
class Exact {
 public:
  Exact(const History& history, const Axioms& axioms, base::Budget& budget, const Probe& probe,
        solver::ClauseSolver* shared = nullptr)
      : history_(history),
        budget_(budget),
        probe_(probe),
        encoder_(history, axioms, budget, probe.read, shared),
        width_(history.replicas.size()) {}

  // False: too many, or the budget is spent.
  bool state() {
    if (!encoder_.make_variables()) return false;
    if (!replicated_type(history_).encode(encoder_)) return false;
    for (const auto& [update, is_seen] : probe_.seen) {
      if (encoder_.place(update) == kNone) continue;
      const Literal seen = encoder_.seen(probe_.read, update);
      encoder_.clause({is_seen ? seen : -seen});
    }
    say_times();
    return say_triples();
  }

  Decision decide() {
    Decision decision;
    decision.decided_by = "sat";
    if (!state()) return decision;
    while (true) {
      const auto answer = encoder_.solver().solve(budget_);
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

  [[nodiscard]] Encoder& encoder() { return encoder_; }
  // In the model, how many of the updates on a replica an operation sees.
  [[nodiscard]] std::uint32_t count(OpId op, std::size_t replica) const {
    return count_[op * width_ + replica];
  }

  void take_model() {
    count_.assign(history_.ops.size() * width_, 0);
    for (const OpId o : encoder_.nodes()) {
      const auto i = history_.ops[o].replica;
      for (std::size_t j = 0; j < width_; ++j) {
        auto& count = count_[o * width_ + j];
        if (i == j) {
          count = encoder_.own(o);
          continue;
        }
        // At least is monotone: the first that is false.
        std::uint32_t low = 0,
                      high = !encoder_.may_see_others(o)
                                 ? 0
                                 : static_cast<std::uint32_t>(encoder_.updates_on(j).size());
        while (low < high) {
          const auto middle = (low + high + 1) / 2;
          if (encoder_.solver().is_true(encoder_.at_least(o, j, middle)))
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
    for (const OpId o : encoder_.nodes()) {
      const auto replica = history_.ops[o].replica;
      for (std::size_t j = 0; j < width_; ++j) {
        const auto c = count_[o * width_ + j];
        if (j == replica || c == 0) continue;
        const OpId u = encoder_.updates_on(j)[c - 1];
        for (std::size_t i = 0; i < width_; ++i) {
          const auto there = count_[u * width_ + i];
          if (there <= count_[o * width_ + i]) continue;
          const auto k = i == replica ? encoder_.own(o) + 1 : there;
          encoder_.clause({-encoder_.at_least(o, j, c), -encoder_.at_least(u, i, k),
                           encoder_.at_least(o, i, k)});
          broken = true;
        }
      }
    }
    return broken;
  }

  // Cycles of the linearization in the model, each a clause.
  bool say_broken_order() {
    if (!replicated_type(history_).traits().order_by_object) return say_broken_order_of(kNone);
    std::set<std::uint32_t> objects;
    for (const Encoder::Arc& arc : encoder_.arcs()) objects.insert(object_of(arc));
    // A clause ends the model, so that the next object waits for the next one.
    return std::any_of(objects.begin(), objects.end(),
                       [&](std::uint32_t object) { return say_broken_order_of(object); });
  }

  Witness witness() {
    Witness made{Clocks(history_), {}};
    std::vector<Step> steps;
    for (const Encoder::Arc& arc : encoder_.arcs()) {
      if (arc.literal == encoder_.always() || holds(arc.literal)) steps.push_back(arc.step);
    }
    // Updates that no read depends on, and operations between, see what the one before saw.
    for (std::size_t i = 0; i < width_; ++i) {
      std::vector<std::uint32_t> seen_so_far(width_, 0);
      for (const OpId id : history_.by_replica[i]) {
        if (is_read(history_.ops[id].kind) || encoder_.place(id) != kNone) {
          for (std::size_t j = 0; j < width_; ++j) {
            const auto c = count_[id * width_ + j];
            if (j != i && c > 0)
              seen_so_far[j] =
                  std::max(seen_so_far[j], history_.ops[encoder_.updates_on(j)[c - 1]].seq + 1);
          }
        }
        auto row = made.clocks.row(id);
        for (std::size_t j = 0; j < width_; ++j) {
          if (j != i) row[j] = seen_so_far[j];
        }
      }
    }
    const bool by_object = replicated_type(history_).traits().order_by_object;
    auto order = linear_order(history_, made.clocks, by_object ? std::vector<Step>() : steps);
    if (order) made.order = std::move(*order);
    if (by_object) made.writes = orders_of_objects(history_, made.clocks, made.order, steps).writes;
    return made;
  }

 private:
  // Of each replica the first update that was invoked too late is not seen.
  void say_times() {
    if (!has_times(history_)) return;
    for (const OpId o : encoder_.nodes()) {
      for (std::uint32_t j = 0; j < width_; ++j) {
        const auto& updates = encoder_.updates_on(j);
        const auto late = std::partition_point(updates.begin(), updates.end(), [&](OpId u) {
          return !is_too_late(history_.ops[u], history_.ops[o]);
        });
        if (late != updates.end()) encoder_.clause({-encoder_.seen(o, *late)});
      }
    }
  }

  // All of transitivity, where that is little.
  bool say_triples() {
    if (encoder_.nodes().size() * encoder_.count_of_updates() * width_ > kMostEagerTriples)
      return true;
    for (const OpId o : encoder_.nodes()) {
      for (std::size_t j = 0; j < width_; ++j) {
        if (j == history_.ops[o].replica) continue;
        for (const OpId u : encoder_.updates_on(j)) {
          const Literal s = encoder_.seen(o, u);
          if (s == encoder_.never()) continue;
          for (std::size_t i = 0; i < width_; ++i) {
            if (i == j) continue;
            if (i == history_.ops[o].replica) {
              // What comes later here cannot have been seen there.
              const Literal late = encoder_.at_least(u, i, encoder_.own(o) + 1);
              if (late != encoder_.never()) encoder_.clause({-s, -late});
              continue;
            }
            for (std::uint32_t k = 1; k <= encoder_.updates_on(i).size(); ++k) {
              if (encoder_.too_much()) return false;
              const Literal there = encoder_.at_least(u, i, k);
              if (there != encoder_.never())
                encoder_.clause({-s, -there, encoder_.at_least(o, i, k)});
            }
          }
        }
      }
    }
    return true;
  }

  // In the model; the solver has values of variables only.
  [[nodiscard]] bool holds(Literal l) const {
    return l > 0 ? encoder_.solver().is_true(l) : !encoder_.solver().is_true(-l);
  }

  [[nodiscard]] std::uint32_t object_of(const Encoder::Arc& arc) const {
    return replicated_type(history_).object(history_.ops[arc.step.from]);
  }

  // kNone: of all objects together.
  bool say_broken_order_of(std::uint32_t object) {
    if (encoder_.arcs().empty()) return false;
    StepGraph graph(history_);
    std::vector<Literal> literals;
    std::vector<std::size_t> chosen;
    for (const OpId o : encoder_.nodes()) {
      for (std::size_t j = 0; j < width_; ++j) {
        const auto c = count_[o * width_ + j];
        if (j == history_.ops[o].replica || c == 0) continue;
        graph.add(
            {encoder_.updates_on(j)[c - 1], o, Why::kReadFrom, static_cast<OpId>(literals.size())});
        literals.push_back(encoder_.at_least(o, j, c));
      }
    }
    for (const Encoder::Arc& arc : encoder_.arcs()) {
      if (arc.literal != encoder_.always() && !holds(arc.literal)) continue;
      if (object != kNone && object != object_of(arc)) continue;
      Step step = arc.step;
      step.read = static_cast<OpId>(literals.size());
      chosen.push_back(graph.steps().size());
      graph.add(step);
      literals.push_back(arc.literal);
    }
    if (graph.order()) return false;
    const auto forbid = [&](const std::vector<Step>& cycle) {
      Clause one;
      for (const Step& step : cycle) {
        if (step.why != Why::kReplicaOrder && literals[step.read] != encoder_.always())
          one.push_back(-literals[step.read]);
      }
      encoder_.clause(one);
    };
    forbid(graph.cycle());
    constexpr std::size_t kMostCycles = 40;
    std::size_t found = 0;
    for (std::size_t c = 0; c < chosen.size() && found < kMostCycles; ++c) {
      const Step step = graph.steps()[chosen[c]];
      if (auto back = graph.path(step.to, step.from, graph.steps().size()); !back.empty()) {
        back.push_back(step);
        forbid(back);
        ++found;
      }
      if (budget_.exceeded()) break;
    }
    return true;
  }

  const History& history_;
  base::Budget& budget_;
  const Probe probe_;
  Encoder encoder_;
  const std::size_t width_;
  std::vector<std::uint32_t> count_;  // of the model, as at_least() counts
};

// Several objects in one solver. What an operation has seen of one object brings along what had
// been seen before it of the others. This is added lazily as well: a path through several objects
// implies that its end sees its beginning.
class ExactTogether {
 public:
  ExactTogether(const Recording& recording, const Axioms& axioms, base::Budget& budget)
      : recording_(recording), budget_(budget) {
    for (const ObjectHistory& object : recording.objects) {
      objects_.push_back(
          std::make_unique<Exact>(object.history, axioms, budget, Probe{}, &solver_));
    }
  }

  CommonDecision decide() {
    for (const auto& object : objects_) {
      if (!object->state()) return {};
    }
    for (;;) {
      const auto answer = solver_.solve(budget_);
      if (answer == solver::SolveResult::kUnsatisfiable) return {.verdict = Verdict::kViolated};
      if (answer == solver::SolveResult::kGaveUp || budget_.exceeded()) return {};
      for (const auto& object : objects_) object->take_model();
      // A clause ends the model, so that the next object waits for the next one.
      const auto any = [&](auto say) {
        return std::any_of(objects_.begin(), objects_.end(), [&](auto& o) { return say(*o); });
      };
      if (any([](Exact& object) { return object.say_broken_transitivity(); })) continue;
      if (any([](Exact& object) { return object.say_broken_order(); })) continue;
      if (say_broken_union()) continue;
      CommonDecision decision{.verdict = Verdict::kSatisfied};
      for (const auto& object : objects_) decision.witnesses.push_back(object->witness());
      return decision;
    }
  }

 private:
  bool say_broken_union() {
    StepGraph graph(recording_.combined);
    literals_.clear();
    for (std::size_t o = 0; o < objects_.size(); ++o) add_steps(o, graph);
    const auto closed = graph.close();
    if (!closed) {
      say(graph.cycle(), objects_[0]->encoder(), {});
      return true;
    }
    bool broken = false;
    if (const auto late = late_update(recording_.combined, closed->clocks)) {
      say(graph.path(late->update, late->op, graph.steps().size()), objects_[0]->encoder(), {});
      broken = true;
    }
    for (std::size_t o = 0; o < objects_.size(); ++o)
      broken = say_unseen(o, graph, closed->clocks) || broken;
    return broken;
  }

  void add_steps(std::size_t o, StepGraph& graph) {
    const ObjectHistory& object = recording_.objects[o];
    const Encoder& encoder = objects_[o]->encoder();
    for (const OpId id : encoder.nodes()) {
      for (std::size_t j = 0; j < encoder.replicas(); ++j) {
        const auto count = objects_[o]->count(id, j);
        if (j == object.history.ops[id].replica || count == 0) continue;
        graph.add({object.origin[encoder.updates_on(j)[count - 1]], object.origin[id],
                   Why::kReadFrom, static_cast<OpId>(literals_.size())});
        literals_.push_back(encoder.at_least(id, j, count));
      }
    }
  }

  // Updates of the object that an operation on it sees by the others, and not in the model.
  bool say_unseen(std::size_t o, const StepGraph& graph, const Clocks& whole) {
    constexpr std::size_t kMostPaths = 500;
    const ObjectHistory& object = recording_.objects[o];
    Encoder& encoder = objects_[o]->encoder();
    std::size_t found = 0;
    for (const OpId id : encoder.nodes()) {
      for (std::size_t j = 0; j < encoder.replicas() && found < kMostPaths; ++j) {
        const auto& updates = encoder.updates_on(j);
        if (j == object.history.ops[id].replica || updates.empty()) continue;
        const auto row = whole.row(object.origin[id]);
        const auto unseen = std::partition_point(updates.begin(), updates.end(), [&](OpId u) {
          const Operation& update = recording_.combined.ops[object.origin[u]];
          return update.seq < row[update.replica];
        });
        const auto count = static_cast<std::uint32_t>(unseen - updates.begin());
        if (count <= objects_[o]->count(id, j)) continue;
        say(graph.path(object.origin[updates[count - 1]], object.origin[id], graph.steps().size()),
            encoder, {encoder.at_least(id, j, count)});
        ++found;
      }
    }
    return found > 0;
  }

  // If all steps hold, then one of the literals.
  void say(const std::vector<Step>& steps, Encoder& encoder, Clause then) {
    for (const Step& step : steps) {
      if (step.why != Why::kReplicaOrder) then.push_back(-literals_[step.read]);
    }
    encoder.clause(then);
  }

  const Recording& recording_;
  base::Budget& budget_;
  solver::ClauseSolver solver_;
  std::vector<std::unique_ptr<Exact>> objects_;
  std::vector<Literal> literals_;  // by step of the union: what implies it
};

}  // namespace

Decision decide_exact(const History& history, const Axioms& axioms, base::Budget& budget,
                      const Probe& probe) {
  return Exact(history, axioms, budget, probe).decide();
}

CommonDecision decide_exact_together(const Recording& recording, const Axioms& axioms,
                                     base::Budget& budget) {
  std::size_t pairs = 0;  // of operations and updates
  for (const ObjectHistory& object : recording.objects) {
    const auto& ops = object.history.ops;
    const auto updates =
        std::count_if(ops.begin(), ops.end(), [](const auto& op) { return !is_read(op.kind); });
    pairs += ops.size() * static_cast<std::size_t>(updates);
  }
  if (pairs > kMostPairsTogether) return {};
  return ExactTogether(recording, axioms, budget).decide();
}

}  // namespace cupel::crdt
