// Registers whose values are written once (thesis, algorithm 1): the read-from is
// what it must be, and the least happens-before that contains it decides.
//
// Last writer wins: happens-before is the closure of replica order and read-from.
// Each read asks that the writes it has seen are linearized before the one it
// returns; of a replica only the last of them need be said. A cycle, or none.
//
// Multi-value: algorithm 1 as printed takes the same closure, and rejects too much.
// A read that has seen write(a) and returns {b} alone is admitted if write(b) had
// seen write(a), which the closure need not contain: ReadAllMaximals asks for
// happens-before steps of its own (r1: write a, read {b}; r2: write b). We add those
// steps, where only one returned value can have overwritten, until none is missing. Where
// several could have, one is guessed; if the guess fails, the exact method decides.
//
// Cost: sorting and one sweep of clocks a round, (operations × replicas); a round more
// only after new steps.
#include <algorithm>
#include <map>

#include "crdt/decide.hpp"

namespace cupel::crdt {

namespace {

class Registers {
 public:
  Registers(const History& history, const Axioms&) : history_(history), graph_(history) {}

  std::optional<Decision> decide() {
    if (!fixed_writers()) return std::nullopt;
    if (decision_.violation) return violated();
    for (OpId id = 0; id < history_.ops.size(); ++id) {
      const Operation& op = history_.ops[id];
      if (op.kind != Kind::kValues) continue;
      for (const auto e : history_.list(op)) graph_.add({writer_[e], id, Why::kReadFrom});
    }
    return history_.type == Type::kLastWriterWinsRegister ? last_writer() : multi_value();
  }

 private:
  // False: some value is written twice. A value that nobody wrote is a violation.
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
      for (const auto e : history_.list(op)) {
        if (writer_[e] == kNone) {
          decision_.violation = Violation{.core = {.ops = {id}, .elements = {}}, .cycle = {}};
          return true;
        }
      }
    }
    return true;
  }

  // The last write of the read's key on each replica that it has seen.
  template <typename Do>
  void for_last_seen(OpId read, const Clocks& clocks, Do work) {
    const auto row = clocks.row(read);
    const auto& of_key = writes_[history_.ops[read].key];
    for (std::size_t j = 0; j < row.size(); ++j) {
      const auto& writes = of_key[j];
      const auto end = std::partition_point(writes.begin(), writes.end(), [&](OpId w) { return history_.ops[w].seq < row[j]; });
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
      if (history_.ops[ops[i]].kind == Kind::kValues) with_writes(ops[i], decision_.violation->core);
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
          if (other.from == step.from && other.to == step.to && other.why == step.why && other.read == step.read) index = s;
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
        if (step.why == Why::kOverwritten && other.from == step.from && other.to == step.to && other.read == step.read) index = s;
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
    return std::move(decision_);
  }

  std::optional<Decision> last_writer() {
    auto closed = graph_.close();
    const std::size_t hb_steps = graph_.steps().size();
    if (!closed) return cycle_found(graph_.cycle(), hb_steps);
    for (OpId id = 0; id < history_.ops.size(); ++id) {
      const Operation& op = history_.ops[id];
      if (op.kind != Kind::kValues) continue;
      const auto list = history_.list(op);
      OpId wrong = kNone;
      for_last_seen(id, closed->clocks, [&](OpId w) {
        if (list.empty()) wrong = w;
        else if (w != writer_[list[0]]) graph_.add({w, writer_[list[0]], Why::kArbitrated, id});
      });
      if (wrong != kNone) return read_found(id, {wrong}, hb_steps);
    }
    if (auto order = graph_.order()) return satisfied(std::move(closed->clocks), std::move(*order));
    return cycle_found(graph_.cycle(), hb_steps);
  }

  std::optional<Decision> multi_value() {
    bool guessed = false;
    while (true) {
      const std::size_t known = graph_.steps().size();
      auto closed = graph_.close();
      if (!closed) return guessed ? std::nullopt : cycle_found(graph_.cycle(), known);
      std::vector<std::pair<OpId, OpId>> open;  // a write, and a read that has seen and not returned it
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
          else open.push_back({w, id});
        });
        if (!wrong.empty()) return guessed ? std::nullopt : read_found(id, wrong, known);
      }
      if (graph_.steps().size() > known) continue;
      // Several could have overwritten it. The first that was written later, by the
      // order of the file, is a guess: if it works it is a witness as good as any.
      for (const auto& [w, read] : open) {
        OpId chosen = kNone;
        for (const auto e : history_.list(history_.ops[read])) {
          const OpId returned = writer_[e];
          if (chosen == kNone || (returned > w && (chosen < w || returned < chosen))) chosen = returned;
        }
        graph_.add({w, chosen, Why::kOverwritten, read});
        guessed = true;
      }
      if (!open.empty()) continue;
      return satisfied(std::move(closed->clocks), std::move(closed->order));
    }
  }

  const History& history_;
  StepGraph graph_;
  std::vector<OpId> writer_;                          // by element
  std::vector<std::vector<std::vector<OpId>>> writes_;  // by key and replica
  Decision decision_;
};

}  // namespace

std::optional<Decision> decide_register(const History& history, const Axioms& axioms) {
  return Registers(history, axioms).decide();
}

}  // namespace cupel::crdt
