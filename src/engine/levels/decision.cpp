// gave_up: see the header.
#include "engine/levels/decision.hpp"

#include <fmt/format.h>

#include "base/interrupt.hpp"

namespace cupel::levels {

Decision gave_up(const base::Budget& budget, std::string_view reached) {
  Decision d;
  d.detail = budget.limit() == base::Limit::kNone
                 ? fmt::format("stopped in {} after as many proposals as were allowed", reached)
                 : fmt::format("{} in {}", base::event_of(budget.limit()), reached);
  return d;
}

std::string_view stage_name(order::Stage stage) {
  switch (stage) {
    case order::Stage::kSaturation:
      return "saturation";
    case order::Stage::kSchedule:
      return "schedule";
    case order::Stage::kRefine:
      return "refine";
  }
  return "?";
}

std::string team_question(Level level, std::uint64_t proposals) {
  return fmt::format("{} {}", name(level), proposals);
}

}  // namespace cupel::levels
