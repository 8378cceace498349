// WorkloadSpec: the registration of a workload. Each is defined in the workload's source
// file; workload.cpp lists them.
//
// To add a workload: a source file with its WorkloadSpec, and a line in workload.cpp.
#pragma once

#include <memory>

#include "data/workload/workload.hpp"

namespace cupel::workload {

using WorkloadPointer = std::unique_ptr<Workload>;

struct WorkloadSpec {
  WorkloadInfo info;
  WorkloadPointer (*make)(const WorkloadOptions& options);  // which are in range
};

}  // namespace cupel::workload
