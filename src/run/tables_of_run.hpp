// TablesOfRun: a workload as one run has it, its tables under names that no other run uses, so that
// two runs on one database do not touch each other's rows. What is recorded keeps the
// workload's own names.
#pragma once

#include <string>

#include "data/workload/workload.hpp"

namespace cupel::run {

// Eight letters and digits, from the system's random numbers: not by a seed, for runs with the
// same seed are the ones that would meet.
std::string new_run_name();

// The same for the tables that several workers share under a name: with a checksum of their columns
// and rows, so that a worker with other options finds no tables. If it found those of the others,
// it would record that keys start with what is not there.
std::string shared_run_name(const std::string& name, const workload::Workload& workload);

class TablesOfRun : public workload::Workload {
 public:
  // `workload` is borrowed. "cupel_kv" becomes "cupel_kv_" and the name of the run,
  // and stays as it is if that is empty.
  TablesOfRun(workload::Workload& workload, const std::string& run_name);

  [[nodiscard]] const workload::Schema& schema() const override { return schema_; }
  [[nodiscard]] workload::Needs needs() const override { return workload_.needs(); }
  [[nodiscard]] std::uint32_t sessions() const override { return workload_.sessions(); }
  void load(const RowSink& sink) const override { workload_.load(sink); }
  [[nodiscard]] workload::Datum loaded(std::uint32_t table, const std::vector<workload::Datum>& key,
                                       std::uint32_t column) const override {
    return workload_.loaded(table, key, column);
  }
  [[nodiscard]] workload::Datum default_initial() const override {
    return workload_.default_initial();
  }
  std::optional<workload::Job> next(std::uint32_t session) override {
    return workload_.next(session);
  }

 private:
  workload::Workload& workload_;
  workload::Schema schema_;
};

}  // namespace cupel::run
