// Registers whose values are written once (thesis, algorithm 1): the read-from is
// determined, and the least happens-before that contains it decides.
//
// Last writer wins: happens-before is the closure of replica order and read-from.
// Each read requires that its visible writes are linearized before the one it
// returns; for each replica the last of them is enough. The history is satisfied if
// there is no cycle. If each key has a linearization of its own, no cycle may be within one key.
//
// Multi-value: algorithm 1 as printed takes the same closure, and rejects too much.
// A read that has seen write(a) and returns only {b} is admitted if write(b) had
// seen write(a), which the closure need not contain: ReadAllMaximals requires
// happens-before steps of its own (r1: write a, read {b}; r2: write b). We add those
// steps, and choose if several of the returned values could have overwritten
// (siblings.cpp). A violation is explained by the steps without a choice if they are
// enough.
//
// Cost: sorting and one sweep of clocks, (operations × replicas).
#include <algorithm>
#include <set>

#include "crdt/model/replicated_type.hpp"
#include "crdt/solve/decide.hpp"
#include "crdt/solve/object_orders.hpp"

namespace cupel::crdt {

namespace {

class Registers {
 public:
  Registers(const History& history, base::Budget& budget)
      : history_(history), budget_(budget), graph_(history) {}

  std::optional<Decision> decide(bool last_writer_wins) {
    if (!fixed_writers()) return std::nullopt;
    if (decision_.violation) return violated();
    read_from();
    return last_writer_wins ? last_writer() : multi_value();
  }

 private:
  // False: some value is written twice. A value without a write is a violation, and one that a read
  // returned twice.
  bool fixed_writers() {
    writer_.assign(history_.elements.size(), kNone);
    writes_.resize(history_.keys.size());
    for (auto& of_key : writes_) of_key.resize(history_.replicas.size());
    for (OpId id = 0; id < history_.ops.size(); ++id) {
      const Operation& op = history_.ops[id];
      if (op.kind != Kind::kWrite) continue;
      if (writer_[op.element] != kNone) return false;
      writer_[op.element] = id;
      writes_[op.key][op.replica].push_back(id);
    }
    for (OpId id = 0; id < history_.ops.size(); ++id) {
      const Operation& op = history_.ops[id];
      if (op.kind != Kind::kValues) continue;
      const auto list = history_.list(op);
      for (auto e = list.begin(); e != list.end(); ++e) {
        if (writer_[*e] == kNone || std::find(list.begin(), e, *e) != e) {
          decision_.violation = Violation{.core = {.ops = {id}, .elements = {}}, .cycle = {}};
          return true;
        }
      }
    }
    return true;
  }

  void read_from() {
    for (OpId id = 0; id < history_.ops.size(); ++id) {
      const Operation& op = history_.ops[id];
      if (op.kind != Kind::kValues) continue;
      for (const auto e : history_.list(op)) graph_.add({writer_[e], id, Why::kReadFrom});
    }
  }

  // The last write of the read's key on each replica that it has seen.
  template <typename Do>
  void for_last_seen(OpId read, const Clocks& clocks, Do work) {
    const auto row = clocks.row(read);
    const auto& of_key = writes_[history_.ops[read].key];
    for (std::size_t j = 0; j < row.size(); ++j) {
      const auto& writes = of_key[j];
      const auto end = std::partition_point(writes.begin(), writes.end(),
                                            [&](OpId w) { return history_.ops[w].seq < row[j]; });
      if (end != writes.begin()) work(*std::prev(end));
    }
  }

  std::optional<Decision> violated() {
    decision_.verdict = Verdict::kViolated;
    decision_.decided_by = "registers";
    auto& ops = decision_.violation->core.ops;
    // A read that only lies on the way is a read all the same: a core without what it
    // returned would say less than it is to say.
    for (std::size_t i = 0, count = ops.size(); i < count; ++i) {
      if (history_.ops[ops[i]].kind == Kind::kValues)
        with_writes(ops[i], decision_.violation->core);
    }
    std::sort(ops.begin(), ops.end());
    ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
    return std::move(decision_);
  }

  // The operations that make the step true, and those that make it known.
  void evidence(const Step& step, std::size_t index, Core& core) {
    core.ops.push_back(step.from);
    core.ops.push_back(step.to);
    if (step.why == Why::kReadFrom) return with_writes(step.to, core);
    if (step.read == kNone) return;
    core.ops.push_back(step.read);
    with_writes(step.read, core);
    evidence_of_path(step.from, step.read, index, core);
  }
  void with_writes(OpId read, Core& core) {
    for (const auto e : history_.list(history_.ops[read])) {
      if (writer_[e] != kNone) core.ops.push_back(writer_[e]);
    }
  }
  // Of "from happens before to", by steps that were there before step `limit`.
  void evidence_of_path(OpId from, OpId to, std::size_t limit, Core& core) {
    for (const Step& step : graph_.path(from, to, limit)) {
      // A step of a multi-value register asks for a path of its own, of older steps.
      std::size_t index = limit;
      if (step.why == Why::kOverwritten) {
        for (std::size_t s = 0; s < limit; ++s) {
          const Step& other = graph_.steps()[s];
          if (other.from == step.from && other.to == step.to && other.why == step.why &&
              other.read == step.read)
            index = s;
        }
      }
      evidence(step, index, core);
    }
  }
  std::optional<Decision> cycle_found(std::vector<Step> cycle, std::size_t hb_steps) {
    Violation violation;
    for (const Step& step : cycle) {
      std::size_t index = hb_steps;
      for (std::size_t s = 0; s < graph_.steps().size(); ++s) {
        const Step& other = graph_.steps()[s];
        if (step.why == Why::kOverwritten && other.from == step.from && other.to == step.to &&
            other.read == step.read)
          index = s;
      }
      evidence(step, index, violation.core);
    }
    violation.cycle = std::move(cycle);
    decision_.violation = std::move(violation);
    return violated();
  }
  // The read cannot be explained: it has seen this write, or one and what overwrote it.
  std::optional<Decision> read_found(OpId read, std::vector<OpId> seen, std::size_t hb_steps) {
    Violation violation;
    violation.core.ops.push_back(read);
    with_writes(read, violation.core);
    if (seen.size() == 2) evidence_of_path(seen[0], seen[1], hb_steps, violation.core);
    for (const OpId w : seen) {
      violation.core.ops.push_back(w);
      evidence_of_path(w, read, hb_steps, violation.core);
    }
    decision_.violation = std::move(violation);
    return violated();
  }

  std::optional<Decision> satisfied(Clocks clocks, std::vector<OpId> order) {
    decision_.verdict = Verdict::kSatisfied;
    decision_.decided_by = "registers";
    decision_.witness = Witness{std::move(clocks), std::move(order)};
    decision_.least = true;
    return std::move(decision_);
  }

  std::optional<Decision> last_writer() {
    auto closed = graph_.close();
    const std::size_t hb_steps = graph_.steps().size();
    if (!closed) return cycle_found(graph_.cycle(), hb_steps);
    const bool by_key = replicated_type(history_).traits().order_by_object;
    std::vector<Step> arbitrated;
    for (OpId id = 0; id < history_.ops.size(); ++id) {
      const Operation& op = history_.ops[id];
      if (op.kind != Kind::kValues) continue;
      const auto list = history_.list(op);
      OpId wrong = kNone;
      for_last_seen(id, closed->clocks, [&](OpId w) {
        if (list.empty())
          wrong = w;
        else if (w != writer_[list[0]])
          arbitrated.push_back({w, writer_[list[0]], Why::kArbitrated, id});
      });
      if (wrong != kNone) return read_found(id, {wrong}, hb_steps);
    }
    if (by_key) return last_writer_of_keys(std::move(*closed), arbitrated);
    for (const Step& step : arbitrated) graph_.add(step);
    if (auto order = graph_.order()) return satisfied(std::move(closed->clocks), std::move(*order));
    return cycle_found(graph_.cycle(), hb_steps);
  }

  std::optional<Decision> last_writer_of_keys(StepGraph::Closed closed,
                                              const std::vector<Step>& arbitrated) {
    auto orders = orders_of_objects(history_, closed.clocks, closed.order, arbitrated);
    if (orders.cycle.empty()) {
      auto decision = satisfied(std::move(closed.clocks), std::move(closed.order));
      decision->witness->writes = std::move(orders.writes);
      return decision;
    }
    std::vector<Step> cycle;
    for (const Step& step : orders.cycle) {
      if (step.why == Why::kArbitrated) {
        cycle.push_back(step);
        continue;
      }
      const auto path = graph_.path(step.from, step.to, graph_.steps().size());
      cycle.insert(cycle.end(), path.begin(), path.end());
    }
    return cycle_found(std::move(cycle), graph_.steps().size());
  }

  std::optional<Decision> multi_value() {
    auto closed = graph_.close();
    if (!closed) return cycle_found(graph_.cycle(), graph_.steps().size());
    auto decision = decide_siblings(history_, closed->order, budget_);
    if (decision.verdict != Verdict::kViolated) return decision;
    // One key alone, where that is enough; a cycle, where what leaves no choice makes one.
    std::set<std::uint32_t> keys;
    for (const OpId id : decision.violation->core.ops) keys.insert(history_.ops[id].key);
    if (keys.size() > 1) {
      for (const auto key : keys) {
        Core core;
        for (OpId id = 0; id < history_.ops.size(); ++id) {
          if (history_.ops[id].key == key) core.ops.push_back(id);
        }
        const Part part = part_of(history_, core);
        auto alone = Registers(part.history, budget_).decide(/*last_writer_wins=*/false);
        if (alone && alone->violation) return of_whole(part, std::move(*alone));
      }
    }
    const Part part = part_of(history_, decision.violation->core);
    Registers of_part(part.history, budget_);
    auto plain = of_part.fixed_writers() ? of_part.without_choice() : std::nullopt;
    return plain ? of_whole(part, std::move(*plain)) : decision;
  }
  static Decision of_whole(const Part& part, Decision decision) {
    for (OpId& id : decision.violation->core.ops) id = part.origin[id];
    for (Step& step : decision.violation->cycle) {
      step.from = part.origin[step.from];
      step.to = part.origin[step.to];
      if (step.read != kNone) step.read = part.origin[step.read];
    }
    return decision;
  }

  // A contradiction of the steps that must be: of what is seen and not returned, where one
  // value is returned.
  std::optional<Decision> without_choice() {
    read_from();
    while (true) {
      const std::size_t known = graph_.steps().size();
      const auto closed = graph_.close();
      if (!closed) return cycle_found(graph_.cycle(), known);
      for (OpId id = 0; id < history_.ops.size(); ++id) {
        const Operation& op = history_.ops[id];
        if (op.kind != Kind::kValues) continue;
        const auto list = history_.list(op);
        std::vector<OpId> wrong;
        for_last_seen(id, closed->clocks, [&](OpId w) {
          if (!wrong.empty()) return;
          if (list.empty()) {
            wrong = {w};
            return;
          }
          bool explained = false;
          for (const auto e : list) {
            const OpId returned = writer_[e];
            if (returned == w || before(history_, closed->clocks, w, returned)) explained = true;
            if (returned != w && before(history_, closed->clocks, returned, w) && wrong.empty()) {
              wrong = {returned, w};  // overwritten, and seen to be
            }
          }
          if (explained || !wrong.empty()) return;
          if (list.size() == 1) graph_.add({w, writer_[list[0]], Why::kOverwritten, id});
        });
        if (!wrong.empty()) return read_found(id, wrong, known);
      }
      if (graph_.steps().size() == known) return std::nullopt;
    }
  }

  const History& history_;
  base::Budget& budget_;
  StepGraph graph_;
  std::vector<OpId> writer_;                            // by element
  std::vector<std::vector<std::vector<OpId>>> writes_;  // by key and replica
  Decision decision_;
};

}  // namespace

std::optional<Decision> decide_register(const History& history, bool last_writer_wins,
                                        base::Budget& budget) {
  return Registers(history, budget).decide(last_writer_wins);
}

}  // namespace cupel::crdt
