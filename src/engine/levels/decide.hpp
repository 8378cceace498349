// decide: one level of one history, by describing the level to the engine.
//
// Puts together what the other files decide: order levels (order_levels.hpp),
// weak levels (weak_levels.hpp), what indeterminate compare-and-sets did
// (outcome_branches.hpp), and the places of elements appended twice.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/budget.hpp"
#include "data/history/history.hpp"
#include "engine/levels/accesses.hpp"
#include "engine/levels/decision.hpp"
#include "engine/levels/level.hpp"

namespace cupel::levels {

// Holds what all levels share (the accesses), computed at the first decision.
class Decider {
 public:
  // `threads`: for parts that are decided apart; 0: as many as the machine has.
  // `evidence`: witnesses, and derivations that can be checked without the engine, are wanted.
  // `team`: other processes, each of which has a Decider of the same history; borrowed.
  Decider(const history::History& history, history::Time clock_drift_ns, unsigned threads,
          bool evidence, base::Team* team = nullptr);
  ~Decider();
  // Why the level has no meaning for this history (times missing; more than one
  // object in a transaction), if so. Cheap, and asked before anything implied.
  [[nodiscard]] std::optional<std::string> refusal(Level level) const;
  Decision decide(Level level, base::Budget& budget);
  // True if decide() takes polynomial time: a weak level, and every read has one possible writer.
  // False before prepare().
  [[nodiscard]] bool is_polynomial(Level level) const;
  // Collects what all levels share, which the first question needs.
  void prepare(base::Budget& budget);
  // What this process of a team answers when another's decide() asks it (Team::answers()). Empty:
  // it cannot.
  std::string answer(std::string_view question, base::TeamPart part, base::Budget& budget);
  // What all levels share, with the first of the list choices and all outcomes open; null
  // before the first decision, or where a limit ended the collecting.
  [[nodiscard]] std::shared_ptr<const Accesses> accesses() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace cupel::levels
