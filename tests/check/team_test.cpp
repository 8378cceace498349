// A check by several processes says what one process says, to the byte of the certificate. The
// processes are here objects that answer each other at once; `cupel-mpi` is tested in tests/scale.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "data/workload/generate.hpp"
#include "engine/check/check.hpp"
#include "report/certificate.hpp"

namespace cupel::check {
namespace {

using workload::GenerateOptions;
using workload::Store;

class LocalTeam : public base::Team {
 public:
  LocalTeam(const history::History& history, const Options& options, std::uint32_t size)
      : size_(size) {
    for (std::uint32_t i = 1; i < size; ++i) {
      members_.push_back(std::make_unique<TeamMember>(history, options, base::TeamPart{i, size}));
    }
  }
  [[nodiscard]] std::uint32_t size() const override { return size_; }
  void ask(std::string_view question) override {
    ++asked;
    answers_.clear();
    for (std::size_t i = 0; i < members_.size(); ++i) {
      answers_.push_back(i == unable ? std::string() : members_[i]->answer(question));
    }
  }
  std::vector<std::string> answers() override { return answers_; }

  std::size_t asked = 0;
  std::size_t unable = -1;  // this member cannot answer

 private:
  std::uint32_t size_;
  std::vector<std::unique_ptr<TeamMember>> members_;
  std::vector<std::string> answers_;
};

std::string told(const history::History& history, const CheckResult& result) {
  std::string text = report::certificate(history, result, 0).json;
  for (const auto& level : result.levels) {
    text += std::string(levels::name(level.level)) + ' ' + std::string(to_string(level.verdict)) +
            ' ' + level.decided_by + ' ' + level.detail + '\n';
  }
  return text;
}

struct Counts {
  std::size_t asked = 0, violated = 0, histories = 0;
};

void compare(const GenerateOptions& generated, Counts& counts) {
  const auto history = workload::generate(generated);
  ASSERT_TRUE(history.ok()) << history.error().message;
  Options options;
  options.evidence = true;
  options.threads = 1 + static_cast<unsigned>(generated.seed % 2);
  const auto alone = check(*history, options);
  const auto expected = told(*history, alone);
  ++counts.histories;
  counts.violated += alone.weakest_violated.empty() ? 0 : 1;
  for (const std::uint32_t size : {2U, 3U, 8U}) {
    SCOPED_TRACE(testing::Message() << "team of " << size << ", seed " << generated.seed);
    LocalTeam team(*history, options, size);
    if (generated.seed % 5 == 0) team.unable = size / 2 - (size > 2 ? 1 : 0);
    auto with_team = options;
    with_team.team = &team;
    ASSERT_EQ(told(*history, check(*history, with_team)), expected);
    counts.asked += team.asked;
  }
  // The weak levels by themselves: the ladder seldom needs all of them.
  for (const auto level :
       {levels::Level::kReadCommitted, levels::Level::kReadAtomic, levels::Level::kCausal}) {
    auto one = options;
    one.asked = {level};
    const auto single = told(*history, check(*history, one));
    LocalTeam team(*history, one, 4);
    one.team = &team;
    ASSERT_EQ(told(*history, check(*history, one)), single) << levels::name(level);
    counts.asked += team.asked;
  }
}

TEST(Team, SaysWhatOneProcessSays) {
  Counts counts;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    for (const auto store : {Store::kReadCommitted, Store::kReadAtomic, Store::kCausal,
                             Store::kPrefix, Store::kStrictSerializable}) {
      GenerateOptions options;
      options.store = store;
      options.seed = seed;
      options.sessions = 2 + seed % 5;
      options.txns_per_session = 4 + seed % 7;
      options.keys = 3 + seed % 9;
      options.min_ops = 1;
      options.max_ops = 5;
      options.shape = seed % 3 == 1 ? workload::Shape::kListAppend : workload::Shape::kRegister;
      const bool lists = options.shape == workload::Shape::kListAppend;
      options.duplicates = !lists && seed % 7 == 0 ? 0.3 : 0;
      options.indeterminate_rate = seed % 4 == 0 ? 0.1 : 0;
      compare(options, counts);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_EQ(counts.histories, 600U);
  EXPECT_GT(counts.violated, 200U);
  EXPECT_GT(counts.asked, 2000U);
}

// Operations on single objects: each key is a part.
TEST(Team, DecidesLinearizabilityKeyByKey) {
  Counts counts;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    for (const auto store : {Store::kPrefix, Store::kStrictSerializable}) {
      GenerateOptions options;
      options.store = store;
      options.seed = seed;
      options.sessions = 3 + seed % 3;
      options.txns_per_session = 10;
      options.keys = 1 + seed % 12;
      options.min_ops = options.max_ops = 1;
      options.duplicates = seed % 4 == 0 ? 0.4 : 0;
      options.indeterminate_rate = seed % 3 == 0 ? 0.1 : 0;
      compare(options, counts);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(counts.violated, 50U);
  EXPECT_GT(counts.asked, 500U);
}

// A question that is no level's gets no answer.
TEST(Team, AnswersNothingToNonsense) {
  GenerateOptions options;
  options.sessions = 2;
  options.txns_per_session = 3;
  const auto history = workload::generate(options);
  ASSERT_TRUE(history.ok());
  TeamMember member(*history, {}, {1, 2});
  EXPECT_EQ(member.answer("causal"), "");
  EXPECT_EQ(member.answer("chaos 3"), "");
  EXPECT_EQ(member.answer("causal x"), "");
  EXPECT_NE(member.answer("causal 3"), "");
}

}  // namespace
}  // namespace cupel::check
