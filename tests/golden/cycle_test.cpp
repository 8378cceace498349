// One cycle: the explanation, the JSON and the picture of a violation show the same one.
// For every golden history that is violated, and for those beside the repository whose
// explanations matter most.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <regex>

#include "data/history/naming.hpp"
#include "engine/analysis/explanations.hpp"
#include "engine/explain/counts/severity.hpp"
#include "engine/explain/shrink/shrink.hpp"
#include "engine/explain/why/explain.hpp"
#include "engine/explain/why/words.hpp"
#include "golden/known_verdicts.hpp"
#include "report/figure.hpp"
#include "report/render.hpp"
#include "source_dir.hpp"

namespace cupel::golden {
namespace {

namespace fs = std::filesystem;
using levels::EdgeKind;
using Names = std::vector<std::string>;

struct Violated {
  fs::path path;
  std::string name;
  std::vector<levels::Level> levels;
};
void PrintTo(const Violated& c, std::ostream* out) {
  *out << c.path.string();
}

std::vector<Violated> violated() {
  std::vector<Violated> all;
  const fs::path top = fs::path(CUPEL_SOURCE_DIR) / "tests/golden";
  for (const auto level : levels::all_levels()) {
    const fs::path folder = top / levels::name(level) / "violated";
    if (!fs::exists(folder)) continue;
    for (const auto& entry : fs::directory_iterator(folder)) {
      all.push_back({entry.path(), test_name(fs::relative(entry.path(), top).string()), {level}});
    }
  }
  const char* elsewhere = std::getenv("CUPEL_HISTORIES");
  const fs::path shared = elsewhere != nullptr ? fs::path(elsewhere)
                                               : fs::path(CUPEL_SOURCE_DIR) / "../shared/histories";
  for (const char* name :
       {"polysi/violations/galera/galera.txt", "polysi/violations/dgraph/history.bincode",
        "polysi/violations/yugabyte/yugabyte.txt", "isovista/dgraph_si.txt",
        "isovista/pg_ser_bug.txt", "isovista/yugabyte_tcc.txt", "real/galera-rr-rmw.jsonl",
        "real/pg-repeatable-read-rw.jsonl", "elle/paper-example.edn"}) {
    if (fs::exists(shared / name)) all.push_back({shared / name, test_name(name), {}});
  }
  std::sort(all.begin(), all.end(),
            [](const Violated& a, const Violated& b) { return a.name < b.name; });
  return all;
}

// The cycle that an explanation ends in: "So under serializable T1 commits < T2 begins <
// T2 commits < T1 begins: a contradiction!" gives T1, T2, each once in a row.
struct StatedCycle {
  bool found = false;        // the sentence is there
  bool abbreviated = false;  // and leaves out a part of the cycle
  Names names;
};

StatedCycle cycle_in(const std::string& explanation) {
  const auto plain = std::regex_replace(explanation, std::regex("\\s+"), " ");
  StatedCycle cycle;
  std::smatch found;
  cycle.found =
      std::regex_search(plain, found, std::regex("So under [a-z-]+ (.*?): a contradiction!"));
  if (!cycle.found) return cycle;
  cycle.abbreviated = found[1].str().find("...") != std::string::npos;
  if (cycle.abbreviated) return cycle;
  Names& names = cycle.names;
  std::string rest = found[1].str() + " < ";
  for (auto at = rest.find(" < "); at != std::string::npos; at = rest.find(" < ")) {
    auto name = std::regex_replace(rest.substr(0, at), std::regex(" (begins|commits)$"), "");
    if (names.empty() || names.back() != name) names.push_back(std::move(name));
    rest.erase(0, at + 3);
  }
  if (names.size() > 1) names.pop_back();  // where it began
  return cycle;
}

TEST(StatedCycle, IsReadFromItsSentence) {
  const auto cycle = cycle_in(
      "Then:\n  So under serializable T1 commits < T2 begins <\n  T2 commits < T1 commits: a "
      "contradiction!");
  EXPECT_TRUE(cycle.found);
  EXPECT_EQ(cycle.names, (Names{"T1", "T2"}));
  EXPECT_FALSE(cycle_in("Thus under serializable T1 < T2 < T1: a contradiction!").found);
  EXPECT_TRUE(cycle_in("So under prefix T1 < ... < T1: a contradiction!").abbreviated);
}

class Cycle : public testing::TestWithParam<Violated> {};

TEST_P(Cycle, IsOneInWordsJsonAndPictures) {
  const auto history = read(GetParam().path);
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  check::Options options;
  options.asked = GetParam().levels;
  options.timeout_seconds = 60;
  const auto result = check::check(*history, options);
  const analysis::Analysis found{
      .check = result,
      .counterexamples = shrink::counterexamples(*history, result, {.seconds = 2})};
  const auto file = GetParam().path.string();
  const report::Checked checked{file, *history, found};
  const auto json = nlohmann::json::parse(report::json(checked));

  // The most severe first.
  for (const auto& level : json["levels"]) {
    const auto& all = level["anomalies"];
    for (std::size_t i = 1; i < all.size(); ++i) {
      EXPECT_LE(counts::severity(all[i - 1]["name"].get<std::string>()),
                counts::severity(all[i]["name"].get<std::string>()));
    }
  }

  std::size_t compared = 0, without_cycle = 0, too_long = 0;
  for (const auto& level : result.levels) {
    if (!level.violation) continue;
    if (!level.violation->internal.empty()) {
      ++without_cycle;
      continue;
    }
    const auto at = level.explained_at.value_or(level.level);
    const auto whole = explain::explain(*history, at, *level.violation);
    const auto* one = analysis::counterexample_of(found, level, whole, 0);
    const auto& of = one != nullptr ? one->history : *history;
    const auto& explained = one != nullptr ? one->anomaly : whole.at(0);
    const auto figure =
        report::figure_of(of, at, one != nullptr ? one->violation : *level.violation, explained);
    if (figure.left_out > 0) {
      ++too_long;
      continue;
    }
    ++compared;

    // The picture's arrows and the edges of the anomaly: the same, in the same order. The initial
    // transaction has no box; a step of several cases has one arrow.
    std::vector<std::array<std::string, 3>> arrows, edges;
    for (const auto& arrow : figure.arrows) {
      if (!arrow.in_cycle) continue;
      arrows.push_back({figure.boxes[arrow.from].name, figure.boxes[arrow.to].name,
                        std::string(report::kind_name(arrow.kind)) + arrow.about});
    }
    Names around;
    std::uint32_t cases = 0;
    for (const auto& edge : explained.edges) {
      cases = std::max(cases, edge.case_number);
      if (edge.case_number <= 1) around.push_back(transaction_name(of, edge.from));
      if (!edge.from.valid() || !edge.to.valid()) continue;
      const auto key = edge.key.valid() ? explain::Words(of, {}).key(edge.key) : std::string();
      const std::array<std::string, 3> step = {transaction_name(of, edge.from),
                                               transaction_name(of, edge.to),
                                               std::string(explain::to_string(edge.kind)) + key};
      if (std::find(edges.begin(), edges.end(), step) == edges.end()) edges.push_back(step);
    }
    EXPECT_EQ(arrows, edges) << levels::name(level.level) << "\n" << explained.explanation;

    const auto stated = cycle_in(explained.explanation);
    ASSERT_TRUE(stated.found) << levels::name(level.level) << "\n" << explained.explanation;
    if (!stated.abbreviated) {
      EXPECT_EQ(stated.names, around) << levels::name(level.level) << "\n" << explained.explanation;
    }
    // JSON has these edges, and the same words.
    bool listed = false;
    for (const auto& entry : json["levels"]) {
      if (entry["level"] != std::string(levels::name(level.level))) continue;
      for (const auto& anomaly : entry["anomalies"]) {
        if (anomaly["explanation"] != explained.explanation) continue;
        listed = true;
        ASSERT_EQ(anomaly["edges"].size(), explained.edges.size());
        for (std::size_t i = 0; i < explained.edges.size(); ++i) {
          const auto label = [&](history::TxnId t) {
            return t.valid() ? nlohmann::json(of.label(t)) : nlohmann::json(nullptr);
          };
          EXPECT_EQ(anomaly["edges"][i]["from"], label(explained.edges[i].from));
          EXPECT_EQ(anomaly["edges"][i]["to"], label(explained.edges[i].to));
        }
      }
    }
    EXPECT_TRUE(listed) << levels::name(level.level);
  }
  ASSERT_GT(compared + without_cycle + too_long, 0u) << "nothing is violated";
  if (compared == 0) {
    GTEST_SKIP() << "no cycle (the anomaly shows in one read), or one too long for a picture";
  }
}

TEST(Cycles, HistoriesAreThere) {
  EXPECT_GE(violated().size(), 20u);
}

INSTANTIATE_TEST_SUITE_P(History, Cycle, testing::ValuesIn(violated()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace cupel::golden
