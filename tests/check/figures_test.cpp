// The engine against the known histories: the thesis's figure 3.3, the 14
// anomalies of MTC, what the peers get wrong, Adya's and Cerone & Gotsman's
// examples, real time; beside most, a neighbour that a stronger level accepts.
#include <gtest/gtest.h>

#include "engine/check/check.hpp"
#include "support/examples.hpp"
#include "support/history_language.hpp"

namespace cupel::test {
namespace {

class Figure : public testing::TestWithParam<Example> {};

// Refused levels (no times, two objects) are neither satisfied nor violated;
// a weak level's violation may still answer for a real-time level.
TEST_P(Figure, HasTheKnownAnswer) {
  const auto& example = GetParam();
  const auto h = history_of(example.text);
  check::Options options;
  options.asked.assign(levels::all_levels().begin(), levels::all_levels().end());
  options.threads = 1;
  const auto result = check::check(h, options);
  std::vector<levels::Level> satisfied, violated;
  for (const auto& r : result.levels) {
    EXPECT_NE(r.verdict, check::Verdict::kUnknown) << levels::name(r.level);
    if (levels::needs_real_time(r.level) && !h.has_all_times()) continue;
    if (r.verdict == check::Verdict::kSatisfied) satisfied.push_back(r.level);
    if (r.verdict == check::Verdict::kViolated) violated.push_back(r.level);
  }
  EXPECT_EQ(strongest_of(satisfied), example.strongest) << example.text;
  EXPECT_EQ(weakest_of(violated), example.weakest) << example.text;
}

const auto kName = [](const auto& info) { return std::string(info.param.name); };
INSTANTIATE_TEST_SUITE_P(Classic, Figure, testing::ValuesIn(classic_examples()), kName);
INSTANTIATE_TEST_SUITE_P(Thesis, Figure, testing::ValuesIn(thesis_figures()), kName);
INSTANTIATE_TEST_SUITE_P(MiniTransactions, Figure, testing::ValuesIn(mini_transactions()), kName);
INSTANTIATE_TEST_SUITE_P(PeersGetWrong, Figure, testing::ValuesIn(peer_mistakes()), kName);
INSTANTIATE_TEST_SUITE_P(AdyaAndCerone, Figure, testing::ValuesIn(adya_and_cerone()), kName);
INSTANTIATE_TEST_SUITE_P(RealTime, Figure, testing::ValuesIn(real_time_examples()), kName);
INSTANTIATE_TEST_SUITE_P(Corners, Figure, testing::ValuesIn(corner_cases()), kName);

}  // namespace
}  // namespace cupel::test
