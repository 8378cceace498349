// Schedule: builds a total order greedily; reaching the end is acceptance.
//
// Stage 2 of the engine (docs/internals/algorithms/schedule.md). An event may run when its
// predecessors have; a commit of x when no reader of x's current version is still to begin; where
// overlapping writers are forbidden, a begin when no open owner writes one of its objects; a read
// with several possible writers when the current version is one of them. Among the events that may
// run the hints choose: they guide, they never decide. When nothing may run, the blocked event with
// the smallest hint runs all the same, and what that breaks is reported: those are the choices that
// stage 3 must make. Cost: (arcs + accesses) log events, plus the retries of blocked events.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "engine/order/saturation.hpp"
#include "engine/order/versions.hpp"

namespace cupel::order {

// Owner `later` overwrote `earlier`'s version of an object too soon (or their
// events overlapped, or both): their order has to be chosen.
struct PairBreak {
  Owner earlier, later;
};

struct ScheduleResult {
  bool finished = false;  // false only if the budget ended
  std::vector<Node> order;
  std::vector<Owner> writers;        // per read
  std::vector<PairBreak> pairs;      // empty, with reads: the order is a witness
  std::vector<std::uint32_t> reads;  // open reads that found none of their candidates current
  [[nodiscard]] bool is_witness() const { return finished && pairs.empty() && reads.empty(); }
};

struct ScheduleInput {
  const Problem& problem;
  const Versions& versions;
  const OpenReads& open;
  std::span<const Owner> writer_of;  // by read; kUnresolved: any of its open candidates
  const graph::Digraph& known;
  std::span<const graph::Arc> extra = {};  // acyclic together with `known`
  std::span<const std::uint64_t> hint;     // by node; smaller runs earlier
  // kRepair: asked before the first, second, fourth, eighth … repair, with the events that ran. Is
  // there no order whatever comes? Then the schedule ends.
  std::function<bool(std::span<const Node> ran)> hopeless = {};
};

// What happens when every event that might run is blocked.
enum class WhenBlocked : std::uint8_t {
  kBreak,   // one runs all the same, and the result says what that breaks
  kRepair,  // one that ran too soon is taken back; unfinished if that does not help
  kStop,    // nothing: unfinished
};
ScheduleResult schedule(const ScheduleInput& input, base::Budget& budget,
                        WhenBlocked when_blocked = WhenBlocked::kBreak);

}  // namespace cupel::order
