// Context explainer: what a type needs to describe a read that is wrong for what its replica had
// received (ReplicatedType::explain_received), and the explanation of such a history.
#pragma once

#include <string>
#include <vector>

#include "crdt/explain/explain.hpp"
#include "crdt/model/replicated_type.hpp"
#include "crdt/solve/context.hpp"

namespace cupel::crdt {

class ContextExplainer {
 public:
  ContextExplainer(const History& history, const Visibility& visibility, const WrongRead& wrong,
                   Explanation& explanation)
      : h_(history), visibility_(visibility), wrong_(wrong), explanation_(explanation) {}

  [[nodiscard]] const History& history() const { return h_; }
  [[nodiscard]] const Operation& read() const { return h_.ops[wrong_.read]; }
  [[nodiscard]] OpId read_id() const { return wrong_.read; }
  // The element or key that is wrong.
  [[nodiscard]] std::uint32_t object() const { return wrong_.object; }
  // Of more than one read: all operations that show it, and a cycle where there is one.
  [[nodiscard]] const std::vector<OpId>& operations() const { return wrong_.operations; }
  [[nodiscard]] const std::vector<Step>& cycle() const { return wrong_.cycle; }
  // "line 16 (replica 1)", or the read itself where it has no line.
  [[nodiscard]] std::string where() const;
  [[nodiscard]] std::string where(OpId op) const;
  // "remove("a") of replica 0 (line 7)".
  [[nodiscard]] std::string text(OpId op) const;
  [[nodiscard]] const Visibility& visibility() const { return visibility_; }
  [[nodiscard]] bool sees(OpId op, OpId update) const { return visibility_.sees(op, update); }

  // The updates of the object that the read had seen, and those that it had not.
  [[nodiscard]] std::vector<OpId> visible(Kind kind) const { return updates(kind, true); }
  [[nodiscard]] std::vector<OpId> not_visible(Kind kind) const { return updates(kind, false); }
  // Of those of its key, the updates that its replica's lines name more than once.
  [[nodiscard]] std::vector<OpId> received_again() const;
  // The read of the key before, on the same replica; kNone: there is none.
  [[nodiscard]] OpId previous_read() const;
  template <typename Test>
  [[nodiscard]] bool any_operation(Test test) const {
    return std::any_of(h_.ops.begin(), h_.ops.end(), test);
  }

  // Arrays and lists: a character that is missing, twice, removed, or not there yet. False: its
  // place is wrong.
  bool explain_content();

  // A line beside what is reported.
  void because(std::string line) { explanation_.because.push_back(std::move(line)); }
  // The operations that show it, without the read; elements that its list keeps, without the
  // object.
  void report(std::string name, std::string summary, std::vector<OpId> operations,
              std::vector<std::uint32_t> elements = {});

 private:
  [[nodiscard]] std::vector<OpId> updates(Kind kind, bool seen) const;

  const History& h_;
  const Visibility& visibility_;
  const WrongRead& wrong_;
  Explanation& explanation_;
};

// Two reads that had seen the same updates and returned different values.
Explanation explain_unequal(const History& history, OpId one, OpId other);

// A cycle is made smaller within the time of the options.
Explanation explain_context(const History& history, const Visibility& visibility,
                            const WrongRead& wrong, const Axioms& axioms,
                            const ExplainOptions& options);

}  // namespace cupel::crdt
