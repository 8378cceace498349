// Read explainer: what a type needs to describe a violation (ReplicatedType::explain_read and
// explain_cycle).
#pragma once

#include <algorithm>
#include <string>

#include "crdt/explain/explain.hpp"
#include "crdt/model/replicated_type.hpp"

namespace cupel::crdt {

// "read(x) = 3 of replica 1".
std::string with_replica(const History& history, OpId op);

// A read that no execution explains, in the small part of the history that shows it.
class ReadExplainer {
 public:
  ReadExplainer(Explanation& explanation, const Claim& claim, const Axioms& axioms,
                base::Budget& budget)
      : explanation_(explanation),
        claim_(claim),
        h_(explanation.part.history),
        axioms_(axioms),
        budget_(budget) {}

  [[nodiscard]] const History& history() const { return h_; }
  [[nodiscard]] const Axioms& axioms() const { return axioms_; }
  [[nodiscard]] OpId id() const { return explanation_.read; }
  [[nodiscard]] const Operation& read() const { return h_.ops[explanation_.read]; }
  [[nodiscard]] std::string text() const { return with_replica(h_, explanation_.read); }
  // Sets and flags: the claim of the read about the object that is wrong.
  [[nodiscard]] const Claim& claim() const { return claim_; }

  // Is it an update of what the read is about?
  [[nodiscard]] bool concerns(const Operation& update) const {
    if (is_read(update.kind) || update.key != read().key) return false;
    return !replicated_type(h_).traits().objects_are_elements || update.element == claim_.element;
  }
  // In every execution of the other reads; filled in by find_visibility().
  [[nodiscard]] bool must_see(OpId update) const { return contains(explanation_.must_see, update); }
  [[nodiscard]] bool cannot_see(OpId update) const {
    return contains(explanation_.cannot_see, update);
  }
  [[nodiscard]] const std::vector<OpId>& must_see() const { return explanation_.must_see; }
  void find_visibility();
  // Has a history with another result of this read an execution?
  [[nodiscard]] bool would_be_right(const History& other) const {
    return decide(other, axioms_, budget_).verdict == Verdict::kSatisfied;
  }
  template <typename Test>
  [[nodiscard]] bool any_operation(Test test) const {
    return std::any_of(h_.ops.begin(), h_.ops.end(), test);
  }

  void report(std::string name, std::string summary) {
    explanation_.name = std::move(name);
    explanation_.summary = std::move(summary);
  }

 private:
  static bool contains(const std::vector<OpId>& ops, OpId op) {
    return std::find(ops.begin(), ops.end(), op) != ops.end();
  }

  Explanation& explanation_;
  const Claim claim_;
  const History& h_;
  const Axioms& axioms_;
  base::Budget& budget_;
};

// A cycle with steps of the linearization that reads ask for.
struct ArbitrationCycle {
  Explanation& explanation;
  bool one_step;  // one step of it is of the linearization, the others are happens-before
  bool one_read;  // one read asks for all of them

  [[nodiscard]] std::string read() const {
    return with_replica(explanation.part.history, explanation.read);
  }
  void report(std::string name, std::string summary) const {
    explanation.name = std::move(name);
    explanation.summary = std::move(summary);
  }
};

}  // namespace cupel::crdt
