// Reproduce: what went wrong in an adapter run, as a short program in the library's own API.
//
// The steps of the run are done again without some of them, from new replicas on, for as long as it
// still goes wrong: first without what the explanation does not need, then without parts that are
// halved again and again (Zeller, Hildebrandt: Simplifying and Isolating Failure-Inducing Input,
// IEEE TSE 2002). The adapter then writes the program (docs/reference/crdt-adapters.md#reproduce),
// which is run once. Cost: the time of a run of as many requests, some dozens to hundreds of times.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "crdt/workload/adapter.hpp"
#include "crdt/workload/adapter_run.hpp"

namespace cupel::crdt {

struct Wrong {
  std::string name;                  // "lost-remove", "threw", "not-converged"
  std::vector<std::string> words;    // lines
  std::vector<std::uint64_t> lines;  // of the history, the operations that suffice; none: unknown
};
// What is wrong with a run, if it is what is looked for; `explain`: also in words and lines.
using CheckRun = std::function<std::optional<Wrong>(const AdapterRecorded&, bool explain)>;

struct Reproduction {
  std::vector<std::string> program = {};  // lines
  std::size_t operations = 0;             // of it; deliveries, syncs and the like do not count
  std::uint64_t replays = 0;
  bool minimal = true;                   // no step can be left out; else the time was over
  std::vector<std::string> prints = {};  // that the program writes to standard output
  std::string throws = {};  // that its last line throws, as far as standard error has it
};

// `recorded` has its steps. Errors: the run does not go wrong again; the adapter cannot write
// programs.
base::Result<Reproduction> reproduce(Adapter& adapter, AdapterRunOptions options,
                                     const AdapterRecorded& recorded, const CheckRun& check,
                                     double seconds);

// The program of this file, run where the adapter finds its library: nothing if it prints what the
// replay has returned, or else what it did.
std::optional<std::string> refuted(const AdapterCommand& command, const std::string& file,
                                   const Reproduction& reproduction, double timeout_seconds);

}  // namespace cupel::crdt
