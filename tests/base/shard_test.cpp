// Which shard a text means, alone and with the variables of each scheduler.
#include "base/shard.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace cupel::base {
namespace {

using Variables = std::map<std::string, std::string>;

Result<Shard> parse(const std::string& text, const Variables& variables = {}) {
  return parse_shard(text, [&](const char* name) {
    const auto it = variables.find(name);
    return it == variables.end() ? std::nullopt : std::optional(it->second);
  });
}

std::string shown(const Result<Shard>& shard) {
  return shard.ok() ? shard->text() : "error: " + shard.error().message;
}

Variables array(const char* id, const char* count, const char* min, const char* max) {
  return {{"SLURM_ARRAY_TASK_ID", id},   {"SLURM_ARRAY_TASK_COUNT", count},
          {"SLURM_ARRAY_TASK_MIN", min}, {"SLURM_ARRAY_TASK_MAX", max},
          {"SLURM_PROCID", "0"},         {"SLURM_NTASKS", "1"}};
}

TEST(Shard, EveryTaskIsOfOneShard) {
  for (std::uint32_t of = 1; of < 40; ++of) {
    for (std::size_t task = 0; task < 100; ++task) {
      std::uint32_t owners = 0;
      for (std::uint32_t number = 1; number <= of; ++number)
        owners += Shard{number, of}.takes(task);
      EXPECT_EQ(owners, 1U) << task << " of " << of;
    }
  }
}

TEST(Shard, IsSaidByItsNumber) {
  EXPECT_EQ(shown(parse("3/32")), "3/32");
  EXPECT_EQ(shown(parse("1/1")), "1/1");
  for (const auto* wrong : {"0/4", "5/4", "4", "/4", "4/", "a/4", "1/0", "-1/4", "1/4/2",
                            "1/9999999", "auto/", "auto/0"}) {
    const auto shard = parse(wrong, array("1", "4", "1", "4"));
    ASSERT_FALSE(shard.ok()) << wrong;
    EXPECT_NE(shard.error().message.find("found `"), std::string::npos) << shard.error().message;
  }
}

TEST(Shard, IsWhatTheEnvironmentSays) {
  EXPECT_EQ(shown(parse("auto", array("1", "32", "1", "32"))), "1/32");
  EXPECT_EQ(shown(parse("auto", array("31", "32", "0", "31"))), "32/32");
  EXPECT_EQ(shown(parse("auto/32", array("0", "32", "0", "31"))), "1/32");
  auto steps = array("9", "3", "5", "13");
  steps["SLURM_ARRAY_TASK_STEP"] = "4";
  EXPECT_EQ(shown(parse("auto", steps)), "2/3");
  EXPECT_EQ(shown(parse("auto", {{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}})),
            "4/4");
  EXPECT_EQ(shown(parse("auto", {{"PMI_RANK", "0"}, {"PMI_SIZE", "4"}})), "1/4");
  EXPECT_EQ(shown(parse("auto/8", {{"JOB_COMPLETION_INDEX", "7"}})), "8/8");
  EXPECT_EQ(shown(parse("auto/8", {{"PARALLEL_SEQ", "8"}})), "8/8");
  EXPECT_EQ(shown(parse("auto", {{"SLURM_PROCID", "2"}, {"SLURM_NTASKS", "5"}})), "3/5");
  // mpirun in a job of Slurm: the processes of MPI are the shards.
  EXPECT_EQ(shown(parse("auto", {{"SLURM_PROCID", "0"},
                                 {"SLURM_NTASKS", "2"},
                                 {"OMPI_COMM_WORLD_RANK", "3"},
                                 {"OMPI_COMM_WORLD_SIZE", "4"}})),
            "4/4");
}

// A wrong guess would leave tasks out.
TEST(Shard, IsNotGuessed) {
  struct Case {
    const char* text;
    Variables variables;
    const char* word;
  };
  const Case cases[] = {
      {"auto", {}, "found no number in the environment"},
      {"auto", {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}}, "found no number"},
      {"auto", array("7", "2", "3", "7"), "gaps"},  // --array=3,7
      {"auto", array("3", "2", "3", "3"), "gaps"},
      {"auto/32", array("3", "16", "1", "16"), "one of 16"},
      {"auto", {{"SLURM_ARRAY_TASK_ID", "3"}}, "SLURM_ARRAY_TASK_COUNT"},
      {"auto", {{"JOB_COMPLETION_INDEX", "7"}}, "auto/N"},
      {"auto", {{"PARALLEL_SEQ", "1"}}, "auto/N"},
      {"auto/8", {{"JOB_COMPLETION_INDEX", "8"}}, "at most 8"},
      {"auto/8", {{"PARALLEL_SEQ", "9"}}, "at most 8"},
      {"auto/8", {{"PARALLEL_SEQ", "2"}, {"JOB_COMPLETION_INDEX", "7"}}, "found both"},
      {"auto", {{"OMPI_COMM_WORLD_RANK", "x"}, {"OMPI_COMM_WORLD_SIZE", "4"}}, "a whole number"},
  };
  for (const auto& one : cases) {
    const auto shard = parse(one.text, one.variables);
    ASSERT_FALSE(shard.ok()) << one.text << ' ' << one.word;
    EXPECT_NE(shard.error().message.find(one.word), std::string::npos) << shard.error().message;
  }
  auto both = array("1", "4", "1", "4");
  both["PARALLEL_SEQ"] = "2";
  EXPECT_NE(shown(parse("auto/4", both)).find("found both"), std::string::npos);
}

// Nothing surprises a user who merely works inside a job.
TEST(Shard, TheEnvironmentIsReadForAutoOnly) {
  EXPECT_EQ(shown(parse("2/3", array("1", "32", "1", "32"))), "2/3");
}

}  // namespace
}  // namespace cupel::base
