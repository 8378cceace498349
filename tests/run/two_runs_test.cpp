// Two runs at the same time on one SQLite file, and on one file behind a client program.
#include "support/two_runs.hpp"

#include "run/tables_of_run.hpp"

namespace cupel::run {
namespace {

class TwoRuns : public testing::Test {
 protected:
  RunAndCheckOptions load(const std::string& url, const std::string& workload) {
    RunAndCheckOptions options;
    options.url = url;
    options.workload = workload;
    options.run.sessions = 2;
    options.run.txns = 60;
    options.shape.keys = 5;
    return options;
  }
  const test::ScratchFolder scratch_;
};

TEST_F(TwoRuns, OnOneSqliteFile) {
  for (const auto* workload : {"general", "append", "range-idh"}) {
    test::two_runs_keep_the_promise(load("sqlite:" + scratch_.path("shared.sqlite"), workload));
  }
}

TEST_F(TwoRuns, BehindOneClientProgram) {
  test::two_runs_keep_the_promise(load(std::string("exec:python3 ") + CUPEL_SOURCE_DIR +
                                           "/examples/exec_client.py " + scratch_.path("shared.db"),
                                       "general"));
}

TEST_F(TwoRuns, TheirNamesDiffer) {
  workload::WorkloadOptions shape;
  const auto workload = workload::make_workload("general", shape);
  ASSERT_TRUE(workload.ok());
  const TablesOfRun first(**workload, new_run_name()), second(**workload, new_run_name());
  EXPECT_NE(first.schema().tables[0].name, second.schema().tables[0].name);
  EXPECT_TRUE(first.schema().tables[0].name.starts_with("cupel_kv_"));
  EXPECT_EQ((*workload)->schema().tables[0].name, "cupel_kv");
}

}  // namespace
}  // namespace cupel::run
