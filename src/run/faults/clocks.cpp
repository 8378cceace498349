// Faults of the nodes' clocks: offset, jumps, drift.
#include "run/faults/kinds.hpp"

namespace cupel::faults {

namespace {

constexpr double kYear = 365.0 * 86400;  // seconds; further, some servers know no date

base::Status begin_clocks(Effects& effects, FaultId id, const Fault& fault) {
  const bool drifts = fault.parameters.contains("rate");
  return effects.set_clocks(id, fault.nodes,
                            {.offset = value_of(fault, "offset"),
                             .rate = drifts ? value_of(fault, "rate") : 1,
                             .jump = value_of(fault, "jump"),
                             .period = value_of(fault, "period")});
}

base::Result<bool> end_clocks(Effects& effects, FaultId id, const Fault& /*fault*/,
                              const GiveUp& /*give_up*/) {
  auto done = effects.right_clocks(id);
  if (!done.ok()) return std::move(done).error();
  return true;
}

std::string unfit_clocks(Cluster& cluster) {
  return cluster.unfit_clocks();
}

}  // namespace

const Kind kClockOffset{.name = "clock-offset",
                        .family = "clock",
                        .summary = "the nodes' clocks show a time that is wrong by so much",
                        .parameters = {{.name = "offset",
                                        .unit = Parameter::Unit::kSeconds,
                                        .least = -kYear,
                                        .most = kYear,
                                        .choices = {-3600, -60, -1, -0.1, 0.1, 1, 60, 3600},
                                        .summary = "how far ahead"}},
                        .needs = Kind::Needs::kClocks,
                        .begin = begin_clocks,
                        .end = end_clocks,
                        .unfit = unfit_clocks};

const Kind kClockJump{.name = "clock-jump",
                      .family = "clock",
                      .summary = "the nodes' clocks jump forth and back all the time",
                      .parameters = {{.name = "jump",
                                      .unit = Parameter::Unit::kSeconds,
                                      .least = -kYear,
                                      .most = kYear,
                                      .choices = {-60, -1, -0.1, 0.1, 1, 60},
                                      .summary = "how far ahead"},
                                     {.name = "period",
                                      .unit = Parameter::Unit::kSeconds,
                                      .least = 0.001,
                                      .most = 3600,
                                      .choices = {0.01, 0.1, 1},
                                      .summary = "from one jump forth to the next"}},
                      .needs = Kind::Needs::kClocks,
                      .begin = begin_clocks,
                      .end = end_clocks,
                      .unfit = unfit_clocks};

const Kind kClockDrift{.name = "clock-drift",
                       .family = "clock",
                       .summary = "the nodes' clocks are too fast or too slow",
                       .parameters = {{.name = "rate",
                                       .unit = Parameter::Unit::kNumber,
                                       .least = 0.1,
                                       .most = 10,
                                       .choices = {0.5, 0.9, 0.999, 1.001, 1.1, 2},
                                       .summary = "seconds that they count in a second"}},
                       .needs = Kind::Needs::kClocks,
                       .begin = begin_clocks,
                       .end = end_clocks,
                       .unfit = unfit_clocks};

}  // namespace cupel::faults
