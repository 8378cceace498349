// Adapter run: random operations on the replicas of an adapter, over a network that hurts.
//
// Messages come late, and as far as the library survives it (adapter.hpp) in any order, twice, or
// never. Partitions come and heal, replicas restart from what they saved, and the last one joins
// late. Everything heals before the last reads. The history says for each replica which updates it
// had applied (docs/formats/crdt.md#context, the rule `applied`).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crdt/workload/adapter.hpp"
#include "crdt/workload/generate.hpp"

namespace cupel::crdt {

struct AdapterRunOptions : Requests {
  std::string object;           // of the library; its type is that of the requests
  std::vector<Hazard> hazards;  // some of those that the library survives
  std::uint64_t ops = 200;
  double delivery =
      0.3;  // chance that the next message of another replica arrives before an operation
};

struct AdapterRecorded {
  std::string lines;  // the history
  std::uint64_t messages = 0, delivered = 0, again = 0, lost = 0;
  std::uint64_t partitions = 0, restarts = 0, syncs = 0;
  bool joined_late = false;
  // What the library threw, and how often; the message names the first request.
  std::uint64_t throws = 0;
  std::string first_throw;
  // Messages that were delivered and that a replica does not apply, though it has all others.
  std::uint64_t stuck = 0;
  std::string first_stuck;
};

// Errors: as those of run() in run.hpp.
base::Result<AdapterRecorded> run(Adapter& adapter, const AdapterRunOptions& options);

}  // namespace cupel::crdt
