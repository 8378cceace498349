// Final reads: when the sessions have ended and all is repaired, every row that was written is
// read once more from every host, and recorded, so that acknowledged writes that are gone and
// nodes that differ are found whatever the workload (analysis/final_reads.hpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/hash_table.hpp"
#include "run/cells.hpp"
#include "run/run.hpp"

namespace cupel::run {

using RowSet = base::HashSet<std::pair<std::uint32_t, std::vector<workload::Datum>>>;

// Replicas may need a while: the hosts are asked until they agree, as long as what they hold still
// changes, and at most a minute; then the reads are recorded. At most 10,000 rows are read.
// Returns warnings: a host that did not answer, rows that were left out.
std::vector<std::string> read_finally(const RunParts& parts, InitialValues& initials,
                                      const RowSet& rows, const std::atomic<bool>& stop);

}  // namespace cupel::run
