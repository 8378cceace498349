// Bounds: constraint propagation on the clocks of a happens-before, with a least and a most value
// for each clock.
//
// The clock of an operation is the number of operations of each other replica that it has seen. The
// axioms of a type raise the least values and lower the most values. Seeing is transitive, so other
// clocks follow; this class moves them, to a fixpoint. Then the search chooses one bound at a time.
// Each bound has a reason. The reasons trace a contradiction back to the choices that it depends
// on: the last of these is undone, and excluded as long as the others stand (backjumping). If it
// depends on no choice, there is no execution, and the trace is the evidence. If no choice is left,
// the least clocks are an execution.
//
// The derived classes, siblings.cpp and element_constraints.cpp (sets and flags), queue the
// constraints of a bound that moved, and propagate them.
//
// Cost: the bounds of one replica's operations for another are a row of ascending numbers; moving
// one moves a stretch of the row. One sweep of (operations × replicas), then the moved stretches.
#pragma once

#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "crdt/model/times.hpp"

namespace cupel::crdt {

using Number = std::uint32_t;

// The part of an axiom that a reason names; the numbers are the type's own.
struct BoundAxiom {
  std::uint32_t first = kNone, second = kNone;
};

class Bounds {
 public:
  Bounds(const Bounds&) = delete;
  Bounds& operator=(const Bounds&) = delete;

 protected:
  Bounds(const History& history, base::Budget& budget)
      : h_(history), budget_(budget), width_(history.replicas.size()) {}
  ~Bounds() = default;

  // Why a bound is where it is: because of two others, and by an axiom. One with kChosen is a
  // choice, its second the level; with kLearned the axioms are learned_[its second].
  using Axiom = BoundAxiom;
  struct Reason {
    Number first, second;
    Axiom axiom;
  };
  static constexpr std::uint32_t kChosen = kNone - 1, kLearned = kNone - 2;
  static constexpr Number kGiven = 0;  // the reason of what needs none

  // The operation `seq` of a replica, and how many of `of` it has seen.
  struct BoundIndex {
    Number replica, of, seq;
  };
  // An axiom of the type, of one claim or of one read and replica; the numbers are the type's own.
  struct Constraint {
    std::uint32_t first, second;
  };
  struct OpenChoice {
    Number rank;  // choices are made in this order
    Constraint constraint;
    bool operator>(const OpenChoice& o) const {
      return std::tie(rank, constraint.first, constraint.second) >
             std::tie(o.rank, o.constraint.first, o.constraint.second);
    }
  };

  // The type's part. After the least clocks of a replica's operations from at.seq to `until`
  // were raised from `before` or more to `value`; after the most of those from `begin` to at.seq
  // were lowered to `value` from `before` or less.
  virtual void on_raised(const BoundIndex& at, Number until, Number before, Number value) = 0;
  virtual void on_lowered(const BoundIndex& at, Number begin, Number before, Number value) = 0;
  virtual bool propagate(const Constraint& constraint) = 0;  // false: a contradiction
  virtual void unqueue(
      const Constraint& constraint) = 0;  // it is about to be propagated, or dropped
  // The next choice that is still one, by choose_least(); false: none is left.
  virtual bool choose() = 0;
  virtual void offer(const OpenChoice& open) = 0;  // again

  // False: the budget does not have the memory.
  bool reserve(std::size_t bytes_a_cell);
  // The least clocks by one sweep in this order, the most as the times say. Each operation has seen
  // those that `seen` names.
  template <typename Seen>
  void start(std::span<const OpId> order, Seen seen);
  // Does no bound contradict another one at the start? Else contradiction_ is why.
  bool start_fits();
  // What has seen an operation it has not seen.
  void start_most();
  // All that follows. False: a contradiction, or the budget is spent.
  bool settle();
  enum class SearchResult : std::uint8_t { kExecution, kNoExecution, kGaveUp };
  // An execution, the least clocks; none; or it gave up, because the budget is spent or after so
  // many contradictions.
  SearchResult search(std::size_t most_contradictions);

  // Moves a bound of an operation, and with it those of its replica's others. False:
  // a contradiction, contradiction_ is why.
  bool raise(const BoundIndex& at, Number value, Number first, Number second, Axiom axiom = {});
  bool lower(const BoundIndex& at, Number value, Number first, Number second, Axiom axiom = {});
  // Makes a choice of it, possible as far as the bounds say.
  void choose_least(const OpenChoice& open, const BoundIndex& at, Number value);
  // It is not one as long as the choices stand.
  void pass(const OpenChoice& open) {
    if (!levels_.empty()) passed_.push_back(open);
  }
  void undo();

  Number reason(Number first, Number second, Axiom axiom = {});

  // The choices and axioms that a contradiction follows from.
  struct Conflict {
    std::vector<Number> levels;
    std::vector<Axiom> axioms;
  };
  Conflict conflict_of(std::pair<Number, Number> of);

  [[nodiscard]] const std::vector<OpId>& line(std::size_t replica) const {
    return h_.by_replica[replica];
  }
  [[nodiscard]] std::size_t row(std::size_t replica, std::size_t of) const {
    return start_[replica] * width_ + of * line(replica).size();
  }
  [[nodiscard]] std::size_t cell(OpId op, std::size_t of) const {
    return row(h_.ops[op].replica, of) + h_.ops[op].seq;
  }
  [[nodiscard]] BoundIndex index(OpId op, std::size_t of) const {
    return {h_.ops[op].replica, static_cast<Number>(of), h_.ops[op].seq};
  }
  [[nodiscard]] Clocks clocks() const;

  const History& h_;
  base::Budget& budget_;
  const std::size_t width_;
  std::vector<Number> least_, most_, why_least_, why_most_;  // by cell()
  std::vector<Constraint> queue_;
  std::pair<Number, Number> contradiction_;

 private:
  struct MovedBound {
    BoundIndex at;
    bool upper;
  };
  // A stretch of a row as it was, for backtracking.
  struct TrailEntry {
    std::size_t begin;
    Number count, value, reason;
    bool upper;
  };
  struct Level {
    std::size_t trail, passed, learned;
    Number reasons;
    BoundIndex at;  // what was chosen: that this operation
    Number value;   // has seen so many
  };

  bool propagate_raised(const BoundIndex& at);
  bool propagate_lowered(const BoundIndex& at);

  std::vector<std::size_t> start_;  // by replica: operations before its first
  std::vector<Reason> reasons_;
  std::vector<Level> levels_;
  std::vector<TrailEntry> trail_;
  std::vector<MovedBound> moved_;
  std::vector<OpenChoice> passed_;
  std::vector<std::vector<Axiom>> learned_;
  std::vector<bool> marked_;
};

template <typename Seen>
void Bounds::start(std::span<const OpId> order, Seen seen) {
  const std::size_t cells = h_.ops.size() * width_;
  const bool timed = has_times(h_);
  reasons_.assign(1, {0, 0, {}});
  least_.assign(cells, 0);
  most_.assign(cells, 0);
  why_least_.assign(cells, kGiven);
  why_most_.assign(cells, kGiven);
  for (const OpId id : order) {
    const Operation& op = h_.ops[id];
    for (std::size_t j = 0; j < width_; ++j) {
      const std::size_t c = cell(id, j);
      most_[c] = j == op.replica ? op.seq
                 : timed         ? most_by_times(h_, op, static_cast<Number>(j))
                                 : static_cast<Number>(line(j).size());
      if (op.seq == 0) continue;
      least_[c] = j == op.replica ? op.seq : least_[c - 1];
      why_least_[c] = j == op.replica ? kGiven : why_least_[c - 1];
    }
    seen(id, [&](OpId w, Axiom axiom) {
      const auto from = h_.ops[w].replica;
      if (from == op.replica || least_[cell(id, from)] > h_.ops[w].seq) return;
      const Number known = reason(kGiven, kGiven, axiom);
      for (std::size_t j = 0; j < width_; ++j) {
        const Number count = j == from ? h_.ops[w].seq + 1 : least_[cell(w, j)];
        Number& mine = least_[cell(id, j)];
        if (count <= mine) continue;
        mine = count;
        why_least_[cell(id, j)] = j == from ? known : reason(known, why_least_[cell(w, j)]);
      }
    });
  }
}

}  // namespace cupel::crdt
