// Workload files: the exact transactions of every session (docs/reference/workloads/plan.md).
//
//   {"cupel_plan":1,"workload":"mini","seed":1,"values":"integer",
//    "default_initial":0,"initial":[[1,0],[2,0]],
//    "sessions":[[[["r",1,null],["w",1,null]],[["r",2,null]]],[[["w",2,7]]]]}
//
// A null value stands for one that was never written before: the runner fills it
// in. Reading takes memory in proportion to the file, about 40 bytes an operation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "data/workload/workload.hpp"

namespace cupel::workload {

// Errors: a file that cannot be read, that is no JSON, or not of this form; they
// name the place inside: "sessions[2][5][0]: found …, expected …".
base::Result<std::unique_ptr<Workload>> read_plan(const std::string& path);

// The first `txns` transactions of each session of a workload. The file is there
// whole or not at all; "-" is standard output. Errors: those of make_workload(); a workload whose
// jobs depend on what they read; a file that cannot be written.
base::Status write_plan(std::string_view workload, const WorkloadOptions& options,
                        std::uint32_t txns, const std::string& path);

}  // namespace cupel::workload
