// The verifier that is proved and the one in C++ on the real histories of tests/golden: what the
// engine says of each at every level, both accept.
//
// CUPEL_PROVED_HISTORIES, set to anything: also the largest certificates, of one history of a mutex
// in two formats, which take half a minute each.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "certify/both_verifiers.hpp"
#include "engine/certify/verify.hpp"
#include "engine/levels/level.hpp"
#include "golden/known_verdicts.hpp"
#include "report/certificate.hpp"
#include "source_dir.hpp"

namespace cupel::test {
namespace {

namespace fs = std::filesystem;

// LEVEL/VERDICT/HISTORY, a file or a directory.
std::vector<fs::path> golden_histories() {
  std::vector<fs::path> found;
  for (const auto& level : fs::directory_iterator(fs::path(CUPEL_SOURCE_DIR) / "tests/golden")) {
    if (!level.is_directory() || !levels::parse_level(level.path().filename().string())) continue;
    for (const auto& verdict : fs::directory_iterator(level)) {
      for (const auto& history : fs::directory_iterator(verdict)) found.push_back(history.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

// A few are hard at levels that nobody asked them for.
check::CheckResult check_within_seconds(const history::History& history, levels::Level level,
                                        history::Time drift) {
  check::Options options;
  options.asked = {level};
  options.threads = 1;
  options.evidence = true;
  options.clock_drift_ns = drift;
  options.timeout_seconds = 2;
  return check::check(history, options);
}

constexpr std::size_t kLargeCertificate = 2'000'000;  // bytes

TEST(ProvedGolden, BothAcceptWhatTheEngineSays) {
  const auto paths = golden_histories();
  ASSERT_GE(paths.size(), 75U);
  BothVerifiers both;
  const bool all = std::getenv("CUPEL_PROVED_HISTORIES") != nullptr;
  std::size_t answers = 0, too_large = 0;
  for (const auto& path : paths) {
    const auto history = golden::read(path);
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    const auto drift = drift_for(*history);
    for (const auto level : levels::all_levels()) {
      const auto result = check_within_seconds(*history, level, drift);
      const auto made = report::certificate(*history, result, drift);
      if (!all && made.json.size() > kLargeCertificate) {
        ++too_large;
        continue;
      }
      const auto verified = certify::verify(*history, made.json, drift);
      ASSERT_EQ(verified.validity, certify::Validity::kValid) << path << ": " << verified.reason;
      if (verified.answers.empty())
        continue;  // the level has no meaning for it, or it is not known
      ++answers;
      EXPECT_EQ(both.compare(*history, made.json, drift), "")
          << path << " at " << levels::name(level);
    }
  }
  std::printf("%zu histories, %zu answers, %zu left to the long test\n", paths.size(), answers,
              too_large);
  for (const auto& [what, count] : both.seen()) std::printf("%8zu %s\n", count, what.c_str());
  for (const auto& [why, count] : both.left_out())
    std::printf("%8zu not proved: %s\n", count, why.c_str());
  EXPECT_GE(answers, 800U);
  EXPECT_LE(too_large, 8U);
  EXPECT_TRUE(both.left_out().empty());
}

}  // namespace
}  // namespace cupel::test
