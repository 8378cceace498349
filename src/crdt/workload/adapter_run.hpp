// Adapter run: random operations on the replicas of an adapter, over a network that hurts.
//
// Messages come late, and as far as the library survives it (adapter.hpp) in any order, twice, or
// never. Partitions come and heal, replicas restart from what they saved, at once or long ago,
// merge what others saved, speak the library's own protocol, and forget their history; their clocks
// jump, and the last one joins late. Everything heals before the last reads. The history says for
// each replica which updates it had applied (docs/reference/formats/crdt.md#context, the rule
// `applied`).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "crdt/model/history.hpp"
#include "crdt/workload/adapter.hpp"
#include "crdt/workload/editing_trace.hpp"
#include "crdt/workload/generate.hpp"
#include "crdt/workload/recorder.hpp"

namespace cupel::crdt {

// What was done in a run, so that some of it can be done again. Replicas have numbers.
struct AdapterStep {
  enum class Kind : std::uint8_t {
    kOperation,
    kDeliver,
    kSync,     // with `other`
    kRestart,  // from what it saves now
    kSave,
    kCrash,
    kJoin,  // from what `other` saves
    kClock,
    kMerge,    // what `other` saved last
    kGreet,    // begins an exchange with `other`
    kHear,     // the next message of an exchange with `other`
    kCompact,  // from what it saves now without its history
  };
  Kind kind = Kind::kOperation;
  std::uint32_t replica = 0, other = 0;
  std::size_t message = 0;       // delivered, or made by the operation: its number in the run
  std::int64_t ahead = 0;        // kClock: milliseconds
  Operation operation = {};      // of AdapterRecorded::names
  nlohmann::json question = {};  // kOperation: with the argument as it was executed
  std::uint64_t line = 0;        // kOperation: its line of the history; 0: it is none
};

struct AdapterRunOptions : Requests {
  std::string object;                        // of the library; its type is that of the requests
  std::vector<RecordedObject> objects = {};  // or several of the library, each with `keys`
  std::vector<Hazard> hazards;               // some of those that the library survives
  std::uint64_t ops = 200;
  double delivery =
      0.3;  // chance that the next message of another replica arrives before an operation
  // Of a text: its edits in place of random requests, and then `ops` does not count and `keys` is
  // one. Of several objects: of the only text, with random requests to the others between. A
  // replica for each agent; with one agent also `replicas` - 1 that only receive, else one. What an
  // agent has seen is given by the trace, so its replica does not crash; and with several agents
  // there are no partitions and no replica that joins late.
  const RecordedEdits* edits = nullptr;
  bool keep_steps = false;  // for replay(); not with `edits`
};

// An exception of the library.
struct Threw {
  std::optional<std::uint32_t> replica;  // none: the request is to all
  std::string operation;                 // the request as JSON, without the bytes of messages
  std::string message;
};

// A message that was delivered and that a replica does not apply, though it has all others.
struct NotApplied {
  std::uint32_t replica = 0;
  std::string message;  // as `deliver` lines name it
};

struct AdapterRecorded {
  static constexpr std::size_t kMostNamed = 20;  // of what went wrong; all are counted

  std::string lines;  // the history
  std::uint64_t messages = 0, delivered = 0, again = 0, lost = 0;
  std::uint64_t partitions = 0, restarts = 0, syncs = 0, crashes = 0;
  std::uint64_t merges = 0, exchanges = 0, compactions = 0;
  bool joined_late = false;
  // What the library threw, and how often; the message names the first request.
  std::uint64_t throws = 0;
  std::string first_throw;
  std::vector<Threw> threw;
  // Messages that are not applied.
  std::uint64_t stuck = 0;
  std::string first_stuck;
  std::vector<NotApplied> not_applied;
  // Of a trace: do the last reads show its endContent?
  std::optional<bool> ends_as_traced;
  // If they were asked for.
  std::vector<AdapterStep> steps;
  std::vector<History> names;          // by object, that the operations of the steps refer to
  std::vector<std::string> processes;  // at the end, as JSON; others have crashed
  bool has_everything = false;         // each replica has applied every message
};

// Errors: as those of run() in run.hpp; a trace whose edits do not fit its text, or end in another
// one; one with an agent that begins a transaction without its own last one among what it has seen.
base::Result<AdapterRecorded> run(Adapter& adapter, const AdapterRunOptions& options);

// Does these steps of a run again, from new replicas on, and nothing else. What cannot be done or
// what the library does not survive without the steps that are missing is left out: a message that
// was not made, one that comes before others where the options have no `reordering`. The result has
// the steps that were done. `script`: then script() can be asked of it.
base::Result<AdapterRecorded> replay(Adapter& adapter, const AdapterRunOptions& options,
                                     const std::vector<AdapterStep>& steps,
                                     const std::vector<History>& names, bool script = false);

}  // namespace cupel::crdt
