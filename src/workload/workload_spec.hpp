// The workloads behind make_workload(), one function each. Options are in range.
#pragma once

#include <memory>

#include "workload/workload.hpp"

namespace cupel::workload {

using WorkloadPointer = std::unique_ptr<Workload>;

WorkloadPointer make_general(const WorkloadOptions& options);
WorkloadPointer make_mini(const WorkloadOptions& options);
WorkloadPointer make_lwt(const WorkloadOptions& options);
WorkloadPointer make_blindw_rm(const WorkloadOptions& options);
WorkloadPointer make_blindw_rw(const WorkloadOptions& options);
WorkloadPointer make_range_b(const WorkloadOptions& options);
WorkloadPointer make_range_rqh(const WorkloadOptions& options);
WorkloadPointer make_range_idh(const WorkloadOptions& options);
WorkloadPointer make_append(const WorkloadOptions& options);
WorkloadPointer make_tpcc(const WorkloadOptions& options);
WorkloadPointer make_rubis(const WorkloadOptions& options);
WorkloadPointer make_twitter(const WorkloadOptions& options);
WorkloadPointer make_smallbank(const WorkloadOptions& options);
WorkloadPointer make_courseware(const WorkloadOptions& options);

}  // namespace cupel::workload
