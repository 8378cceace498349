// Bounds: each clock of a happens-before between what it must and what it may be.
//
// The clock of an operation is how many operations of each other replica it has seen. The
// axioms of a type move the least up and the most down; what follows from that for other
// clocks, as seeing is transitive, is moved here, to a fixpoint. What the axioms leave open is
// chosen, one bound at a time. A contradiction is traced back to the choices that it rests on,
// by the reasons that each bound has; the last of them is undone and forbidden as long as the
// others stand (backjumping). If it rests on none there is no execution, and the trace is the
// evidence. If nothing is left to choose the least clocks are an execution.
//
// Of siblings (siblings.cpp) and of sets and flags (element_constraints.cpp), which say what to ask
// when a bound has moved, and what the answers move.
//
// Cost: the bounds of one replica's operations for another are a row that only grows along
// it, and moving one moves a stretch of the row. A sweep of (operations × replicas), and
// then the stretches that are moved.
#pragma once

#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "crdt/model/clocks.hpp"

namespace cupel::crdt {

using Number = std::uint32_t;

// What a type says; the numbers are its own.
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
  struct Place {
    Number replica, of, seq;
  };
  // What an axiom is asked about, and where in the order a choice stands.
  struct Question {
    std::uint32_t first, second;
  };
  struct Open {
    Number place;
    Question question;
    bool operator>(const Open& o) const {
      return std::tie(place, question.first, question.second) >
             std::tie(o.place, o.question.first, o.question.second);
    }
  };

  // The type's part. After the least clocks of a replica's operations from at.seq to `until`
  // were raised from `before` or more to `value`; after the most of those from `begin` to at.seq
  // were lowered to `value` from `before` or less.
  virtual void was_raised(const Place& at, Number until, Number before, Number value) = 0;
  virtual void was_lowered(const Place& at, Number begin, Number before, Number value) = 0;
  virtual bool answer(const Question& question) = 0;  // false: a contradiction
  virtual void forget(const Question& question) = 0;  // asked, and not answered
  // The next choice that is still one, by choose_least(); false: none is left.
  virtual bool choose() = 0;
  virtual void offer(const Open& open) = 0;  // again

  // False: the budget does not have the memory.
  bool take(std::size_t bytes_a_cell);
  // The least clocks by one sweep in this order, the most without a bound but their own. Each
  // operation has seen those that `seen` names.
  template <typename Seen>
  void start(std::span<const OpId> order, Seen seen);
  // What has seen an operation it has not seen.
  void start_most();
  // All that follows. False: a contradiction, or the budget is spent.
  bool settle();
  enum class Found : std::uint8_t { kExecution, kNoExecution, kGaveUp };
  // An execution, the least clocks; none; or it gave up, because the budget is spent or after so
  // many contradictions.
  Found search(std::size_t most_contradictions);

  // Moves a bound of an operation, and with it those of its replica's others. False:
  // a contradiction, contradiction_ is why.
  bool raise(const Place& at, Number value, Number first, Number second, Axiom axiom = {});
  bool lower(const Place& at, Number value, Number first, Number second, Axiom axiom = {});
  // Makes a choice of it, possible as far as the bounds say.
  void choose_least(const Open& open, const Place& at, Number value);
  // It is not one as long as the choices stand.
  void pass(const Open& open) {
    if (!levels_.empty()) passed_.push_back(open);
  }
  void undo();

  Number reason(Number first, Number second, Axiom axiom = {});

  // What a contradiction rests on.
  struct Ground {
    std::vector<Number> levels;
    std::vector<Axiom> axioms;
  };
  Ground ground(std::pair<Number, Number> of);

  [[nodiscard]] const std::vector<OpId>& line(std::size_t replica) const {
    return h_.by_replica[replica];
  }
  [[nodiscard]] std::size_t row(std::size_t replica, std::size_t of) const {
    return start_[replica] * width_ + of * line(replica).size();
  }
  [[nodiscard]] std::size_t cell(OpId op, std::size_t of) const {
    return row(h_.ops[op].replica, of) + h_.ops[op].seq;
  }
  [[nodiscard]] Place place(OpId op, std::size_t of) const {
    return {h_.ops[op].replica, static_cast<Number>(of), h_.ops[op].seq};
  }
  [[nodiscard]] Clocks clocks() const;

  const History& h_;
  base::Budget& budget_;
  const std::size_t width_;
  std::vector<Number> least_, most_, why_least_, why_most_;  // by cell()
  std::vector<Question> asked_;
  std::pair<Number, Number> contradiction_;

 private:
  struct Moved {
    Place at;
    bool upper;
  };
  // What a stretch of a row was, for taking back.
  struct Stretch {
    std::size_t begin;
    Number count, value, reason;
    bool upper;
  };
  struct Level {
    std::size_t stretches, passed, learned;
    Number reasons;
    Place at;      // what was chosen: that this operation
    Number value;  // has seen so many
  };

  bool raised(const Place& at);
  bool lowered(const Place& at);

  std::vector<std::size_t> start_;  // by replica: operations before its first
  std::vector<Reason> reasons_;
  std::vector<Level> levels_;
  std::vector<Stretch> stretches_;
  std::vector<Moved> moved_;
  std::vector<Open> passed_;
  std::vector<std::vector<Axiom>> learned_;
  std::vector<bool> marked_;
};

template <typename Seen>
void Bounds::start(std::span<const OpId> order, Seen seen) {
  const std::size_t cells = h_.ops.size() * width_;
  reasons_.assign(1, {0, 0, {}});
  least_.assign(cells, 0);
  most_.assign(cells, 0);
  why_least_.assign(cells, kGiven);
  why_most_.assign(cells, kGiven);
  for (const OpId id : order) {
    const Operation& op = h_.ops[id];
    for (std::size_t j = 0; j < width_; ++j) {
      const std::size_t c = cell(id, j);
      most_[c] = j == op.replica ? op.seq : static_cast<Number>(line(j).size());
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
