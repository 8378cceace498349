// Faults of a node's processes: kill, pause, restart.
#include "run/faults/kinds.hpp"

namespace cupel::faults {

namespace {

base::Status begin_kill(Effects& effects, FaultId id, const Fault& fault) {
  return effects.stop(id, fault.nodes, Effects::Stop::kKill);
}

base::Status begin_shut_down(Effects& effects, FaultId id, const Fault& fault) {
  return effects.stop(id, fault.nodes, Effects::Stop::kShutDown);
}

base::Result<bool> start_again(Effects& effects, FaultId id, const Fault& fault,
                               const GiveUp& give_up) {
  return effects.start(id, fault.nodes, give_up);
}

base::Status begin_pause(Effects& effects, FaultId id, const Fault& fault) {
  return effects.freeze(id, fault.nodes);
}

base::Result<bool> end_pause(Effects& effects, FaultId id, const Fault& fault,
                             const GiveUp& /*give_up*/) {
  auto done = effects.thaw(id, fault.nodes);
  if (!done.ok()) return std::move(done).error();
  return true;
}

}  // namespace

const Kind kKill{.name = "kill",
                 .family = "kill",
                 .summary = "the nodes' processes are killed (SIGKILL), and started again",
                 .order = Kind::Order::kStart,
                 .begin = begin_kill,
                 .end = start_again};

const Kind kPause{.name = "pause",
                  .family = "pause",
                  .summary = "the nodes' processes stand still (SIGSTOP), and go on",
                  .order = Kind::Order::kPause,
                  .begin = begin_pause,
                  .end = end_pause};

const Kind kRestartCrash{.name = "restart-crash",
                         .family = "restart",
                         .summary = "the nodes' processes are killed and started again at once",
                         .order = Kind::Order::kStart,
                         .momentary = true,
                         .begin = begin_kill,
                         .end = start_again};

const Kind kRestartOrderly{.name = "restart-orderly",
                           .family = "restart",
                           .summary = "the nodes are shut down and started again at once",
                           .order = Kind::Order::kStart,
                           .momentary = true,
                           .begin = begin_shut_down,
                           .end = start_again};

}  // namespace cupel::faults
