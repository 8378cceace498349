// Final reads: when the sessions have ended and all is repaired, the rows that were written, the
// last 10,000 of them, are read once more from every host, and recorded, so that acknowledged
// writes that are gone and nodes that differ are found whatever the workload
// (engine/analysis/final_reads.hpp).
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

using RowName = std::pair<std::uint32_t, std::vector<workload::Datum>>;  // table, key
using RowSet = base::HashSet<RowName>;

inline constexpr std::size_t kMostFinalRows = 10'000;

// The rows that a session wrote: the last `most` of them at least, and twice as many at most.
class WrittenRows {
 public:
  explicit WrittenRows(std::size_t most) : most_(most) {}
  void add(std::uint32_t table, const std::vector<workload::Datum>& key) {
    newer_.emplace(table, key);
    if (newer_.size() < most_) return;
    forgotten_ = forgotten_ || !older_.empty();
    older_ = std::exchange(newer_, {});
  }
  [[nodiscard]] const RowSet& newer() const { return newer_; }
  [[nodiscard]] const RowSet& older() const { return older_; }
  [[nodiscard]] bool forgotten() const { return forgotten_; }  // some may be in neither

 private:
  std::size_t most_;
  RowSet newer_, older_;
  bool forgotten_ = false;
};

struct FinalReadsOptions {
  double quiet = 10;    // seconds
  double longest = 70;  // seconds
};

struct FinalReadsDone {
  std::vector<std::string> warnings;  // a host that did not answer, rows that were left out
  std::string failed;                 // RunResult::final_reads_failed
  std::string gone;                   // RunResult::data_gone: which tables; empty: none
};

// Replicas may need a while: the hosts are asked until they agree; or until those that differ have
// not changed for `quiet` seconds, within which replication must have come back after the longest
// fault. Then the reads are recorded. If the hosts still change after `longest` seconds, no reads
// are: a host that lags is not accused. A host that refuses such reads is not waited for. If a
// table is still gone after `quiet` seconds (drivers::Cause::kGone), its rows are recorded as
// absent, so that the writes to them count as lost.
FinalReadsDone read_finally(const RunParts& parts, InitialValues& initials,
                            const std::vector<const WrittenRows*>& rows,
                            const FinalReadsOptions& options, const std::atomic<bool>& stop);

}  // namespace cupel::run
