// Adapter run: random operations on the replicas of an adapter, over a network that hurts.
//
// Messages come late, and as far as the library survives it (adapter.hpp) in any order, twice, or
// never. Partitions come and heal, replicas restart from what they saved, at once or long ago,
// their clocks jump, and the last one joins late. Everything heals before the last reads. The
// history says for each replica which updates it had applied (docs/formats/crdt.md#context, the
// rule `applied`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "crdt/workload/adapter.hpp"
#include "crdt/workload/editing_trace.hpp"
#include "crdt/workload/generate.hpp"

namespace cupel::crdt {

struct AdapterRunOptions : Requests {
  std::string object;           // of the library; its type is that of the requests
  std::vector<Hazard> hazards;  // some of those that the library survives
  std::uint64_t ops = 200;
  double delivery =
      0.3;  // chance that the next message of another replica arrives before an operation
  // Of a text: its edits in place of random requests, and then neither `ops` nor `keys` count. A
  // replica for each agent; with one agent also `replicas` - 1 that only receive, else one. What an
  // agent has seen is given by the trace, so its replica does not crash; and with several agents
  // there are no partitions and no replica that joins late.
  const RecordedEdits* edits = nullptr;
};

struct AdapterRecorded {
  std::string lines;  // the history
  std::uint64_t messages = 0, delivered = 0, again = 0, lost = 0;
  std::uint64_t partitions = 0, restarts = 0, syncs = 0, crashes = 0;
  bool joined_late = false;
  // What the library threw, and how often; the message names the first request.
  std::uint64_t throws = 0;
  std::string first_throw;
  // Messages that were delivered and that a replica does not apply, though it has all others.
  std::uint64_t stuck = 0;
  std::string first_stuck;
  // Of a trace: do the last reads show its endContent?
  std::optional<bool> ends_as_traced;
};

// Errors: as those of run() in run.hpp; a trace whose edits do not fit its text, or end in another
// one; one with an agent that begins a transaction without its own last one among what it has seen.
base::Result<AdapterRecorded> run(Adapter& adapter, const AdapterRunOptions& options);

}  // namespace cupel::crdt
