// KeyValueWorkload: what the workloads on the table cupel_kv share. Keys are the
// integers 1 … `keys`; each session draws from a generator of its own, so its jobs
// do not depend on the other sessions.
#pragma once

#include <vector>

#include "data/workload/keys.hpp"
#include "data/workload/workload.hpp"

namespace cupel::workload {

// The generator of one session; a different one for each seed and session.
base::Random session_random(std::uint64_t seed, std::uint32_t session);

Statement read_of(std::int64_t key);
Statement write_of(std::int64_t key, Datum value);  // null: a fresh one

class KeyValueWorkload : public Workload {
 public:
  explicit KeyValueWorkload(const WorkloadOptions& options, ColumnType type = ColumnType::kInteger);

  [[nodiscard]] const Schema& schema() const override { return schema_; }
  [[nodiscard]] Needs needs() const override { return {.multiple = true}; }
  [[nodiscard]] std::uint32_t sessions() const override { return options_.sessions; }
  void load(const RowSink& sink) const override;
  [[nodiscard]] Datum loaded(std::uint32_t table, const std::vector<Datum>& key,
                             std::uint32_t column) const override;
  [[nodiscard]] Datum default_initial() const override { return std::int64_t{0}; }
  std::optional<Job> next(std::uint32_t session) override;

 protected:
  // What row `key`, one of 1 … keys, holds before the run; null: it is not there.
  [[nodiscard]] virtual Datum initial(std::int64_t key) const;
  virtual Job job(std::uint32_t session, base::Random& random) = 0;

  [[nodiscard]] const WorkloadOptions& options() const { return options_; }
  [[nodiscard]] std::int64_t choose_key(base::Random& random) const;
  [[nodiscard]] std::uint64_t choose_count(base::Random& random) const;  // of statements
  // Null, a fresh value; for a share of `duplicates` one of a few, all negative so
  // that they are no fresh value's.
  [[nodiscard]] Datum choose_value(base::Random& random) const;
  [[nodiscard]] Statement random_read(base::Random& random) const;
  [[nodiscard]] Statement random_write(base::Random& random) const;

 private:
  WorkloadOptions options_;
  Schema schema_;
  KeyDistribution keys_;
  std::vector<base::Random> randoms_;  // of each session
};

}  // namespace cupel::workload
