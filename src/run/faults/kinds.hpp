// Kinds of faults, one row of a table each: what it is called, what it needs, how it begins and
// how it ends.
//
// To add a fault: write a Kind in a file of its own, declare it below, and give it a place in the
// table of kinds.cpp. If it does something to a node that Cluster cannot do yet, add a function
// there and to LabCluster. The command line, its help, plan files and the schedule read the table.
// Describe the fault in docs/reference/faults.md, and measure its effect in a test.
//
//   base::Status begin_fill(Effects& effects, FaultId id, const Fault& fault) {
//     return effects.cluster().fill_disk(fault.nodes);
//   }
//   base::Result<bool> end_fill(Effects& effects, FaultId id, const Fault& fault, const GiveUp&) …
//   const Kind kDiskFull{.name = "disk-full", .family = "disk-full",
//                        .summary = "the nodes' disks are full",
//                        .begin = begin_fill, .end = end_fill};
//
// Several kinds of one family are variants: `--faults partition` picks one of them each time.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "base/result.hpp"
#include "run/faults/effects.hpp"
#include "run/faults/fault.hpp"

namespace cupel::faults {

// A quantity of a fault. If no plan gives it, one of `choices` is drawn.
struct Parameter {
  std::string_view name;
  enum class Unit : std::uint8_t { kSeconds, kShare, kBytesPerSecond, kNumber } unit;
  double least, most;
  std::vector<double> choices;
  std::string_view summary;
};

// The text of a value for names and plans: "200 ms", "20 %"; "0.2s", "0.2".
std::string shown(const Parameter& parameter, double value);

// What a fault is chosen from when it begins.
struct Choice {
  Cluster& cluster;
  base::Random& random;
  // Nodes that another fault of the same moment stops or pauses: better others.
  std::vector<std::size_t>& taken;
};

struct Kind {
  std::string_view name;    // "partition-halves"
  std::string_view family;  // "partition"; of a kind without variants its name
  std::string_view summary;
  // In this order at the end of several faults: first the network, last the nodes that start.
  enum class Order : std::uint8_t { kNetwork, kPause, kOther, kStart } order = Order::kOther;
  // It ends by itself as soon as its end can be brought about: `lasts` is of no use.
  bool momentary = false;
  // It comes only if it is asked for by name, and not with "all".
  bool by_name_only = false;
  // Whether targets decide whom it hits. If the user says targets, such variants are preferred.
  bool follows_targets = true;
  // Another node takes the writes afterwards: what is promised of one server is not of both.
  bool moves_primary = false;
  // What of all that it acknowledged a database that keeps its promises still has: all, what it
  // had synced, or whatever the fault left.
  enum class Leaves : std::uint8_t { kAll, kSynced, kAnything } leaves = Leaves::kAll;
  std::vector<Parameter> parameters = {};
  // What the servers have to be started with.
  enum class Needs : std::uint8_t { kNothing, kClocks, kDisks } needs = Needs::kNothing;

  // Causes the fault, and returns when it is in force. After an error, `end` is called too.
  base::Status (*begin)(Effects& effects, FaultId id, const Fault& fault) = nullptr;
  // Heals it, and returns when it is healed: true. False: `give_up` turned true before that. It may
  // be called again after both, and after an error.
  base::Result<bool> (*end)(Effects& effects, FaultId id, const Fault& fault,
                            const GiveUp& give_up) = nullptr;

  // What a kind may leave out:
  // Why a cluster cannot have it, in a sentence; empty: it can.
  std::string (*unfit)(Cluster& cluster) = nullptr;
  // Chooses nodes or links, if neither is given. By default nodes according to fault.targets.
  void (*choose)(Fault& fault, Choice& choice) = nullptr;
  // Whom it hits: "0 1 | 2". By default the nodes.
  std::string (*whom)(const Fault& fault) = nullptr;
};

std::span<const Kind* const> all_kinds();
const Kind* find_kind(std::string_view name);
// The kinds of a family, or the one kind of that name; empty: there is none.
std::vector<const Kind*> kinds_named(std::string_view name);
// Every family once.
std::vector<std::string_view> all_families();

// Why this fault cannot be here; empty: it can.
std::string unfit(const Kind& kind, Cluster& cluster);
// Fills in what the fault leaves open: nodes or links, and parameters.
void choose(Fault& fault, Choice& choice);
// A parameter; 0 if it is not there.
double value_of(const Fault& fault, const char* name);
// "partition halves: 0 1 | 2", "delay 200 ms: 0". One line.
std::string describe(const Fault& fault);

// Why a cluster has no such targets, in a sentence; empty: it has.
std::string unfit(Targets targets, const Cluster& cluster);
// Nodes for `targets`. kSeeded draws one of those that differ in this cluster.
std::vector<std::size_t> choose_nodes(Targets targets, Choice& choice);

// The kinds, by file.
extern const Kind kPartitionSplit, kPartitionHalves, kPartitionOne, kPartitionRing,
    kPartitionOneWay, kPartitionPrimary, kPartitionBridge, kPartitionClients;  // partition.cpp
extern const Kind kKill, kPause, kRestartCrash, kRestartOrderly;               // processes.cpp
extern const Kind kFailover;                                                   // failover.cpp
extern const Kind kMembership;                                                 // membership.cpp
extern const Kind kLoss, kDelay, kBandwidth, kReset;                           // links.cpp
extern const Kind kClockOffset, kClockJump, kClockDrift;                       // clocks.cpp
extern const Kind kDiskFull, kDiskErrors, kUnsynced, kCorrupt;                 // disks.cpp

}  // namespace cupel::faults
