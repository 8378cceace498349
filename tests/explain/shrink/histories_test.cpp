// The violations of the histories beside the repository, made small in seconds.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <ostream>

#include "data/formats/formats.hpp"
#include "engine/check/check.hpp"
#include "engine/explain/shrink/shrink.hpp"
#include "golden/known_verdicts.hpp"
#include "source_dir.hpp"

namespace cupel::shrink {
namespace {

namespace fs = std::filesystem;
using levels::Level;

fs::path shared() {
  if (const char* place = std::getenv("CUPEL_HISTORIES")) return place;
  return fs::path(CUPEL_SOURCE_DIR) / "../shared/histories";
}

struct Expected {
  const char* file;
  const char* name;  // of the first counterexample
  Level level;
  std::size_t most_txns;
  friend void PrintTo(const Expected& one, std::ostream* out) { *out << one.file; }
};

// As the papers have them: Galera's lost update is of three transactions on key 0.
const Expected kExpected[] = {
    {"polysi/violations/galera/galera.txt", "lost-update", Level::kSnapshotIsolation, 3},
    {"polysi/violations/dgraph/history.bincode", "causality-violation", Level::kCausal, 6},
    {"polysi/violations/yugabyte/yugabyte.txt", "session-guarantee-violation", Level::kReadAtomic,
     3},
    {"elle/huge-scc.edn", "G-nonadjacent-realtime", Level::kStrongSnapshotIsolation, 4},
    {"real/galera-rr-rmw.jsonl", "lost-update", Level::kSnapshotIsolation, 3},
    {"real/mariadb-repeatable-read-rmw.jsonl", "lost-update", Level::kSnapshotIsolation, 3},
    {"real/pg-repeatable-read-rw.jsonl", "G2-item", Level::kSerializable, 6},
    {"real/pg-repeatable-read-append.jsonl", "write-skew", Level::kSerializable, 2},
};

class Histories : public testing::TestWithParam<Expected> {};

TEST_P(Histories, AreExplainedBySmallParts) {
  const auto path = shared() / GetParam().file;
  if (!fs::exists(path)) GTEST_SKIP() << path << " is not there";
  const auto h = formats::read(path.string(), {});
  ASSERT_TRUE(h.ok());
  const auto result = check::check(*h, {});
  const auto begin = std::chrono::steady_clock::now();
  const auto found = counterexamples(*h, result);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(took.count(), 2);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().anomaly.name, GetParam().name);
  EXPECT_EQ(found.front().level, GetParam().level);
  EXPECT_LE(found.front().history.txn_count(), GetParam().most_txns);
  for (const auto& one : found) {
    EXPECT_TRUE(one.minimal) << one.anomaly.name;
    EXPECT_LE(one.history.txn_count(), 12u) << one.anomaly.explanation;
    const auto again = check::check(one.history, {.asked = {one.level}, .timeout_seconds = {}});
    EXPECT_EQ(again.levels.front().verdict, check::Verdict::kViolated);
  }
}

INSTANTIATE_TEST_SUITE_P(Shared, Histories, testing::ValuesIn(kExpected), [](const auto& info) {
  std::string text = fs::path(info.param.file).stem().string();
  for (char& c : text) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return text == "history" ? std::string("dgraph") : text;
});

// All that are violated, of whatever kind.
TEST(Histories, OfRealDatabasesAllShrink) {
  int violated = 0;
  for (const char* folder : {"isovista", "real", "porcupine-kv", "elle"}) {
    if (!fs::exists(shared() / folder)) GTEST_SKIP() << "no shared histories";
    for (const auto& file : fs::directory_iterator(shared() / folder)) {
      const auto h = golden::read(file.path());
      ASSERT_TRUE(h.ok()) << file.path();
      const auto result = check::check(*h, {});
      if (result.weakest_violated.empty()) continue;
      ++violated;
      const auto found = counterexamples(*h, result);
      EXPECT_FALSE(found.empty()) << file.path();
      for (const auto& one : found) {
        EXPECT_TRUE(one.minimal) << file.path() << " " << one.anomaly.name;
        EXPECT_LE(one.history.txn_count(), 12u) << file.path() << " " << one.anomaly.explanation;
      }
    }
  }
  EXPECT_GE(violated, 10);
}

}  // namespace
}  // namespace cupel::shrink
