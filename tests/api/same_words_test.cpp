// The public API explains a history in the same words as the tool: the golden histories that
// violate a level, checked by `cupel check --json` and by check_history().
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "cupel/check.hpp"
#include "data/formats/formats.hpp"
#include "golden/known_verdicts.hpp"
#include "source_dir.hpp"
#include "support/scratch_folder.hpp"

namespace {

namespace fs = std::filesystem;

// Long enough that every counterexample becomes minimal: then both are the same, whatever the
// speed of the machine.
constexpr double kShrinkSeconds = 60;

// What an anomaly says: name, Adya's name, transactions, keys, explanation.
using Words = std::tuple<std::string, std::string, std::vector<std::uint32_t>,
                         std::vector<std::string>, std::string>;

Words words_of(const cupel::Anomaly& anomaly) {
  return {anomaly.name, anomaly.adya, anomaly.transactions, anomaly.keys, anomaly.explanation};
}

Words words_of(const nlohmann::json& anomaly) {
  Words words;
  auto& [name, adya, transactions, keys, explanation] = words;
  name = anomaly["name"];
  if (!anomaly["adya"].is_null()) adya = anomaly["adya"];
  for (const auto& txn : anomaly["transactions"]) {
    if (!txn.is_null()) transactions.push_back(txn);
  }
  for (const auto& key : anomaly["keys"]) {
    keys.push_back(key.is_string() ? key.get<std::string>() : key.dump());
  }
  explanation = anomaly["explanation"];
  return words;
}

template <typename Anomalies>
std::vector<Words> all_words(const Anomalies& anomalies) {
  std::vector<Words> all;
  for (const auto& anomaly : anomalies) all.push_back(words_of(anomaly));
  std::sort(all.begin(), all.end());
  return all;
}

nlohmann::json checked_by_tool(const std::string& file, double shrink_seconds,
                               const std::string& options) {
  const auto command = fmt::format("'{}' check --json --shrink-time {} {} '{}'", CUPEL_BINARY,
                                   shrink_seconds, options, file);
  FILE* pipe = popen(command.c_str(), "r");
  std::string out;
  char buffer[4096];
  for (std::size_t got = 0; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    out.append(buffer, got);
  }
  pclose(pipe);
  return nlohmann::json::parse(out);
}

struct Violated {
  fs::path path;
  cupel::Level level;
  std::string name;
};
void PrintTo(const Violated& violated, std::ostream* out) {
  *out << cupel::name(violated.level);
}

// A history of each folder LEVEL/violated.
std::vector<Violated> violated() {
  std::vector<Violated> all;
  const fs::path golden = CUPEL_SOURCE_DIR "/tests/golden";
  for (const auto& folder : fs::directory_iterator(golden)) {
    const auto level = cupel::parse_level(folder.path().filename().string());
    if (!level || !fs::exists(folder.path() / "violated")) continue;
    for (const auto& history : fs::directory_iterator(folder.path() / "violated")) {
      all.push_back({history.path(), *level,
                     cupel::golden::test_name(fs::relative(history.path(), golden).string())});
    }
  }
  std::sort(all.begin(), all.end(),
            [](const Violated& a, const Violated& b) { return a.name < b.name; });
  return all;
}

// A file that both can read: packed histories are converted.
std::string readable(const fs::path& path, const fs::path& scratch) {
  if (path.extension() != ".zst") return path.string();
  const auto history = cupel::golden::read(path);
  EXPECT_TRUE(history.ok()) << path;
  auto file = (scratch / "history.cupel").string();
  const auto written =
      cupel::formats::write(*history, file, {.format = cupel::formats::Format::kCupel});
  EXPECT_TRUE(written.ok()) << path;
  return file;
}

class SameWords : public testing::TestWithParam<Violated> {};

TEST_P(SameWords, InTheToolAndTheApi) {
  const cupel::test::ScratchFolder scratch;
  const auto file = readable(GetParam().path, scratch.path());
  // This lock's counterexample is not minimal after 60 s either.
  const bool shrinks = GetParam().path.string().find("knossos-mutex") == std::string::npos;
  const double shrink_seconds = shrinks ? kShrinkSeconds : 0;
  const auto tool =
      checked_by_tool(file, shrink_seconds,
                      "--no-history-analysis -l " + std::string(cupel::name(GetParam().level)));
  std::string error;
  const auto history = cupel::read_history(file, error);
  ASSERT_TRUE(history) << error;
  cupel::Options options;
  options.levels = {GetParam().level};
  options.shrink_seconds = shrink_seconds;
  const auto answer = cupel::check_history(*history, options);
  ASSERT_EQ(answer.levels.size(), 1u);
  ASSERT_EQ(tool["levels"].size(), 1u);
  const auto& level = tool["levels"][0];
  if (level.contains("anomalies_left_out")) GTEST_SKIP() << "the tool shows only some anomalies";
  EXPECT_FALSE(level["anomalies"].empty());
  EXPECT_EQ(all_words(answer.levels[0].anomalies), all_words(level["anomalies"]));
}

INSTANTIATE_TEST_SUITE_P(Golden, SameWords, testing::ValuesIn(violated()),
                         [](const auto& one) { return one.param.name; });

// All levels at once, with the counts and further causes of the whole history.
TEST(WholeHistory, HasTheSameWordsInTheToolAndTheApi) {
  const std::string file =
      CUPEL_SOURCE_DIR "/tests/golden/read-committed/violated/elle-rw-register.edn";
  const auto tool = checked_by_tool(file, kShrinkSeconds, "");
  std::string error;
  const auto history = cupel::read_history(file, error);
  ASSERT_TRUE(history) << error;
  cupel::Options options;
  options.history_analysis = true;
  options.shrink_seconds = kShrinkSeconds;
  const auto answer = cupel::check_history(*history, options);
  std::size_t compared = 0;
  for (const auto& level : answer.levels) {
    for (const auto& other : tool["levels"]) {
      if (other["level"] != cupel::name(level.level)) continue;
      ++compared;
      // The tool lists further causes among the anomalies of a level.
      const auto theirs = all_words(other["anomalies"]);
      for (const auto& own : all_words(level.anomalies)) {
        EXPECT_TRUE(std::find(theirs.begin(), theirs.end(), own) != theirs.end())
            << std::get<0>(own) << " of " << cupel::name(level.level);
      }
    }
  }
  EXPECT_GT(compared, 5u);
  EXPECT_EQ(answer.counts.size(), tool["counts"].size());
  for (const auto& count : answer.counts) {
    EXPECT_EQ(tool["counts"][count.name]["count"], count.count) << count.name;
  }
}

}  // namespace
