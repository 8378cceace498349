// Two runs at the same time on one SQLite file, and on one file behind a client program.
#include "support/two_runs.hpp"

#include <filesystem>

#include "databases/drivers/driver.hpp"
#include "run/tables_of_run.hpp"
#include "source_dir.hpp"

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

// The run that made the file ends first, and must leave it to the other.
TEST_F(TwoRuns, TheFileStaysForTheOther) {
  const auto path = scratch_.path("shared.sqlite");
  const auto opened = [&] {
    auto database = drivers::open("sqlite:" + path, {});
    EXPECT_TRUE(database.ok());
    return std::move(database).value();
  };
  const auto workload = workload::make_workload("general", {});
  ASSERT_TRUE(workload.ok());
  const TablesOfRun of_first(**workload, "first"), of_second(**workload, "second");
  auto first = opened();
  auto second = opened();
  ASSERT_TRUE(first->prepare(of_first).ok());
  ASSERT_TRUE(second->prepare(of_second).ok());
  first->clean();
  first.reset();
  EXPECT_TRUE(std::filesystem::exists(path));
  EXPECT_TRUE(second->connect(0).ok());
  second->clean();
  second.reset();
  EXPECT_FALSE(std::filesystem::exists(path + "-cupel"));
  // Alone, and the file is there already: not ours to remove.
  auto third = opened();
  third->clean();
  EXPECT_TRUE(std::filesystem::exists(path));
  third.reset();
  std::filesystem::remove(path);
  auto fourth = opened();
  ASSERT_TRUE(fourth->prepare(of_first).ok());
  fourth->clean();
  fourth.reset();
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(std::filesystem::exists(path + "-cupel"));
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
