// decide: one level of one history, by describing the level to the engine.
//
// The description is a table row (levels.md): one event or two, where a ww arc
// ends, whether sessions order, what real time orders. The histories' parts that
// cannot influence each other are decided apart: biconnected components of the
// communication graph for levels with session order and without real time
// (Biswas 2021, theorem 3.4.1); connected ones for levels without session order,
// to which the theorem does not apply; objects for linearizability.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/budget.hpp"
#include "history/history.hpp"
#include "levels/derivation.hpp"
#include "levels/level.hpp"

namespace cupel::levels {

enum class Answer : std::uint8_t { kYes, kNo, kGaveUp, kRefused };

struct Decision {
  Answer answer = Answer::kGaveUp;
  std::string decided_by;              // "internal", "saturation", "schedule", "refine", "chain"
  std::string detail;                  // kGaveUp: what was reached; kRefused: why
  std::optional<Violation> violation;  // kNo
};

// Holds what all levels share (the accesses), computed at the first decision.
class Decider {
 public:
  Decider(const history::History& history, history::Time clock_drift_ns);
  ~Decider();
  // Why the level has no meaning for this history (times missing; more than one
  // object in a transaction), if so. Cheap, and asked before anything implied.
  [[nodiscard]] std::optional<std::string> refusal(Level level) const;
  Decision decide(Level level, base::Budget& budget);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace cupel::levels
