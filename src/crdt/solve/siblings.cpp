// Siblings: a complete decision for multi-value registers whose values are written once and whose
// reads return several of them.
//
// The write of each value that a read returns is known. The other axioms (thesis, figure 2.1) are
// constraints on clocks, the numbers of operations of each replica that each operation has seen:
// - A read has seen what it returns, and its clock contains the clocks of what it has seen.
// - Writes that are returned together have not seen each other.
// - A write that a read has seen and did not return was seen by a write that it returned.
// Only the last leaves a choice: which sibling had seen the write.
//
// Each clock has a least and a most value (bounds.hpp), and every axiom moves one of them, to a
// fixpoint. If all siblings but one cannot have seen the write, no choice is left. If no sibling
// can have seen it, the read has not seen it either. If several can, the search chooses the one to
// which the past of the write adds the fewest operations. Propagation then follows at once, so that
// a choice is hardly ever wrong if the replicas were correct.
//
// Exponential at worst: three-colouring is such a history (tests/crdt/colouring.hpp).
#include <algorithm>
#include <cassert>
#include <limits>
#include <queue>

#include "crdt/solve/bounds.hpp"
#include "crdt/solve/decide.hpp"

namespace cupel::crdt {

namespace {

class Siblings final : Bounds {
 public:
  Siblings(const History& history, base::Budget& budget) : Bounds(history, budget) {}

  Decision decide(std::span<const OpId> order) {
    Decision decision;
    decision.decided_by = "registers";
    if (!take_history()) return decision;
    order_.assign(order.begin(), order.end());
    start_least();
    const auto found = start_fits() && axioms() ? search(std::numeric_limits<std::size_t>::max())
                                                : SearchResult::kNoExecution;
    if (budget_.exceeded()) return decision;
    if (found == SearchResult::kNoExecution) {
      decision.verdict = Verdict::kViolated;
      decision.violation = Violation{core(), {}};
      return decision;
    }
    auto least = clocks();
    auto sorted = linear_order(h_, least, {});
    assert(sorted);
    decision.verdict = Verdict::kSatisfied;
    decision.witness = Witness{std::move(least), std::move(*sorted)};
    return decision;
  }

 private:
  bool take_history() {
    const std::size_t count = h_.ops.size();
    if (!reserve(20)) return false;
    writer_.assign(h_.elements.size(), kNone);
    writes_.resize(h_.keys.size() * width_);
    reads_.resize(h_.keys.size() * width_);
    readers_.resize(count);
    for (OpId id = 0; id < count; ++id) {
      const Operation& op = h_.ops[id];
      auto& of_kind = op.kind == Kind::kWrite ? writes_ : reads_;
      of_kind[op.key * width_ + op.replica].push_back(id);
      if (op.kind == Kind::kWrite) writer_[op.element] = id;
    }
    for (OpId id = 0; id < count; ++id) {
      for (const auto e : h_.list(h_.ops[id])) readers_[writer_[e]].push_back(id);
    }
    return true;
  }

  [[nodiscard]] const std::vector<OpId>& writes(OpId read, std::size_t of) const {
    return writes_[h_.ops[read].key * width_ + of];
  }
  // The first of these, all of one replica, that is not among the first `seq` of it.
  [[nodiscard]] auto from_seq(const std::vector<OpId>& ops, Number seq) const {
    return std::partition_point(ops.begin(), ops.end(),
                                [&](OpId o) { return h_.ops[o].seq < seq; });
  }

  void start_least() {
    const std::size_t cells = h_.ops.size() * width_;
    queued_.assign(cells, false);
    offered_.assign(cells, false);
    place_.resize(h_.ops.size());
    for (Number p = 0; p < order_.size(); ++p) place_[order_[p]] = p;
    start(order_, [&](OpId id, auto has_seen) {
      for (const auto e : h_.list(h_.ops[id])) has_seen(writer_[e], Axiom{id, writer_[e]});
    });
  }

  // What reads say at the beginning. False: a contradiction, or the budget is spent.
  bool axioms() {
    for (const OpId id : order_) {
      const Operation& op = h_.ops[id];
      if (op.kind != Kind::kValues) continue;
      if (budget_.exceeded()) return false;
      const auto list = h_.list(op);
      // Siblings have not seen each other.
      for (const auto a : list) {
        for (const auto b : list) {
          const OpId v = writer_[a], w = writer_[b];
          if (a != b && !lower(index(w, h_.ops[v].replica), h_.ops[v].seq, kGiven, kGiven, {id, v}))
            return false;
        }
      }
      // Nothing of a replica after what is returned of it; nothing if nothing is returned.
      std::vector<Number> returned(width_, 0);
      for (const auto e : list) returned[h_.ops[writer_[e]].replica] = h_.ops[writer_[e]].seq + 1;
      for (std::size_t j = 0; j < width_; ++j) {
        if (returned[j] == 0 && !list.empty()) {
          queue(id, j);
          continue;
        }
        const auto& of = writes(id, j);
        const auto next = from_seq(of, returned[j]);
        if (next != of.end() &&
            !lower(index(id, j), h_.ops[*next].seq, kGiven, kGiven, {id, *next}))
          return false;
      }
    }
    // First what follows from this by itself, which is explained more briefly.
    if (!settle()) return false;
    start_most();
    for (const OpId id : order_) {
      if (h_.ops[id].kind != Kind::kValues) continue;
      for (std::size_t j = 0; j < width_; ++j) queue(id, j);
    }
    return settle();
  }

  // Reads that now have seen more writes of their key.
  void on_raised(const BoundIndex& at, Number until, Number before, Number value) override {
    const auto queue_those = [&](std::uint32_t key) {
      const auto& reads = reads_[key * width_ + at.replica];
      for (auto r = from_seq(reads, at.seq); r != reads.end() && h_.ops[*r].seq < until; ++r)
        queue(*r, at.of);
    };
    if (value - before < until - at.seq) {
      for (Number s = before; s < value; ++s) {
        const Operation& op = h_.ops[line(at.of)[s]];
        if (op.kind == Kind::kWrite) queue_those(op.key);
      }
    } else {
      for (Number s = at.seq; s < until; ++s) {
        if (h_.ops[line(at.replica)[s]].kind == Kind::kValues) queue(line(at.replica)[s], at.of);
      }
    }
  }
  // Reads that return what now can have seen less.
  void on_lowered(const BoundIndex& at, Number begin, Number, Number) override {
    for (Number s = begin; s <= at.seq; ++s) {
      for (const OpId r : readers_[line(at.replica)[s]]) queue(r, at.of);
    }
  }

  void queue(OpId read, std::size_t of) {
    if (queued_[cell(read, of)]) return;
    queued_[cell(read, of)] = true;
    queue_.push_back({read, static_cast<Number>(of)});
  }

  void unqueue(const Constraint& constraint) override {
    queued_[cell(constraint.first, constraint.second)] = false;
  }

  // The last write of a replica that a read has seen was seen by something it returned.
  bool propagate(const Constraint& constraint) override {
    const auto [read, of] = constraint;
    const auto list = h_.list(h_.ops[read]);
    const auto& written = writes(read, of);
    if (list.empty() || written.empty()) return true;
    Number most = 0, least = 0;
    for (const auto e : list) {
      const OpId w = writer_[e];
      if (h_.ops[w].replica == of) return true;
      most = std::max(most, most_[cell(w, of)]);
      least = std::max(least, least_[cell(w, of)]);
    }
    const Operation& op = h_.ops[read];
    const auto beyond = from_seq(written, most);
    if (beyond != written.end() && h_.ops[*beyond].seq < most_[cell(read, of)]) {
      Number why = kGiven;
      for (const auto e : list) why = reason(why, why_most_[cell(writer_[e], of)]);
      if (!lower({op.replica, of, op.seq}, h_.ops[*beyond].seq, why, kGiven, {read, *beyond}))
        return false;
    }
    const auto end = from_seq(written, least_[cell(read, of)]);
    if (end == written.begin()) return true;
    const OpId last = *std::prev(end);
    const Number needed = h_.ops[last].seq + 1;
    if (least >= needed) return true;
    OpId only = kNone;
    for (const auto e : list) {
      if (most_[cell(writer_[e], of)] < needed || writer_[e] == only) continue;
      if (only != kNone) {
        offer({place_[read], constraint});
        return true;
      }
      only = writer_[e];
    }
    assert(only != kNone);
    Number why = why_least_[cell(read, of)];
    for (const auto e : list) {
      if (writer_[e] != only) why = reason(why, why_most_[cell(writer_[e], of)]);
    }
    return raise({h_.ops[only].replica, of, h_.ops[only].seq}, needed, why, kGiven, {read, last});
  }

  void offer(const OpenChoice& open) override {
    const std::size_t at = cell(open.constraint.first, open.constraint.second);
    if (offered_[at]) return;
    offered_[at] = true;
    open_.push(open);
  }

  // The next choice that is still one; false: none is left.
  bool choose() override {
    while (!open_.empty()) {
      const OpenChoice open = open_.top();
      open_.pop();
      const auto [read, of] = open.constraint;
      offered_[cell(read, of)] = false;
      const auto& written = writes(read, of);
      const auto end = from_seq(written, least_[cell(read, of)]);
      if (end == written.begin()) {
        pass(open);
        continue;
      }
      const OpId last = *std::prev(end);
      const Number needed = h_.ops[last].seq + 1;
      OpId best = kNone;
      std::uint64_t fewest = 0;
      bool done = false;
      for (const auto e : h_.list(h_.ops[read])) {
        const OpId w = writer_[e];
        done = done || least_[cell(w, of)] >= needed;
        if (most_[cell(w, of)] < needed) continue;
        std::uint64_t brings = 0;
        for (std::size_t j = 0; j < width_; ++j) {
          const Number past = j == of ? needed : least_[cell(last, j)];
          const Number mine = least_[cell(w, j)];
          brings += past > mine ? past - mine : 0;
        }
        if (best != kNone && brings >= fewest) continue;
        best = w;
        fewest = brings;
      }
      if (done) {
        pass(open);
        continue;
      }
      assert(best != kNone);
      choose_least(open, index(best, of), needed);
      return true;
    }
    return false;
  }

  // The operations that the last contradiction rests on.
  Core core() {
    Core found;
    auto& ops = found.ops;
    for (const Axiom& axiom : conflict_of(contradiction_).axioms) {
      ops.push_back(axiom.first);
      ops.push_back(axiom.second);
    }
    for (std::size_t i = 0, count = ops.size(); i < count; ++i) {
      for (const auto e : h_.list(h_.ops[ops[i]])) ops.push_back(writer_[e]);
    }
    std::sort(ops.begin(), ops.end());
    ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
    return found;
  }

  std::vector<OpId> writer_;                       // by element
  std::vector<std::vector<OpId>> writes_, reads_;  // by key and replica
  std::vector<std::vector<OpId>> readers_;         // by write
  std::vector<OpId> order_;
  std::vector<Number> place_;  // in the order
  std::vector<bool> queued_, offered_;
  std::priority_queue<OpenChoice, std::vector<OpenChoice>, std::greater<>> open_;
};

}  // namespace

Decision decide_siblings(const History& history, std::span<const OpId> order,
                         base::Budget& budget) {
  return Siblings(history, budget).decide(order);
}

}  // namespace cupel::crdt
