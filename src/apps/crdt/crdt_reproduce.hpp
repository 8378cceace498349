// cupel crdt run --adapter --reproduce: what went wrong in a run, as a short program in the
// library's own API (crdt/workload/reproduce.hpp), written, run once and reported.
#pragma once

#include <cstdint>
#include <string>

#include "crdt/workload/reproduce.hpp"

namespace cupel::apps {

struct ReproduceArguments {
  std::string file;
  bool strict = false;        // axioms
  double shrink_seconds = 5;  // for the words
  std::uint64_t memory_bytes = 0;
  double timeout_seconds = 10;  // of an answer, and of the program
};

// After a run with its steps. Nothing is written if nothing went wrong. False: it was wanted and
// could not be made, which is printed.
bool write_reproduction(const crdt::AdapterCommand& command, crdt::Adapter& adapter,
                        const crdt::AdapterRunOptions& options,
                        const crdt::AdapterRecorded& recorded, const ReproduceArguments& arguments);

}  // namespace cupel::apps
