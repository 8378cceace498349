// Cells: what a statement and its reply say in the words of a history.
#pragma once

#include <array>
#include <mutex>
#include <string>

#include "base/hash_table.hpp"
#include "cupel/record.hpp"
#include "data/workload/statement.hpp"
#include "data/workload/workload.hpp"

namespace cupel::run {

// Gives a recorder the values that cells held before the run, each at its first use: an
// application's tables have far more cells than a run touches. Thread-safe.
class InitialValues {
 public:
  InitialValues(const workload::Workload& workload, Recorder& recorder)
      : workload_(workload), recorder_(recorder), default_(workload.default_initial()) {}

  void touch(std::uint32_t table, const std::vector<workload::Datum>& key, std::uint32_t column,
             const workload::Datum& name);

 private:
  struct Shard {
    std::mutex mutex;
    base::HashSet<workload::Datum> initialized;
  };
  const workload::Workload& workload_;
  Recorder& recorder_;
  workload::Datum default_;
  std::array<Shard, 64> shards_;
};

// Records one statement. `reply` null: not answered; reads are then left out, and
// what would have been written is recorded. With `planned`, reads are recorded
// without a value, as an invocation has them.
void record(const workload::Schema& schema, const workload::Statement& statement,
            const workload::Reply* reply, bool planned, InitialValues& initials,
            RecordedSession& session);

}  // namespace cupel::run
