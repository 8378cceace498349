// The limits of a check that goes on while a run is recorded.
#include "run/live.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <optional>
#include <string>

#include "base/temp_dir.hpp"
#include "base/verdict.hpp"

namespace cupel::run {
namespace {

// A window has no time here, so it is given up, and only the record can tell.
LiveResult judge(std::optional<double> window_seconds) {
  const auto folder = base::TempDir::make("cupel-test-");
  EXPECT_TRUE(folder.ok());
  const auto record = folder->file("history.jsonl");
  std::ofstream(record) << R"({"type":"invoke","process":0,"f":"txn","value":[["w","x",1]],"time":0}
{"type":"ok","process":0,"f":"txn","value":[["w","x",1]],"time":1}
{"type":"invoke","process":1,"f":"txn","value":[["r","x",null]],"time":2}
{"type":"ok","process":1,"f":"txn","value":[["r","x",1]],"time":3}
)";
  std::atomic<bool> enough = false;
  Live live({.level = levels::Level::kSerializable, .window_seconds = window_seconds}, record,
            enough);
  return live.end();
}

TEST(Live, AsksTheRecordNoLongerThanAWindow) {
  const auto result = judge(0);
  EXPECT_EQ(result.state, base::Verdict::kUnknown);
  EXPECT_NE(result.why.find("nor could the recorded history"), std::string::npos) << result.why;
}

TEST(Live, DecidesWithinTheTimeOfAWindow) {
  for (const auto seconds : {std::optional<double>(60), std::optional<double>()}) {
    const auto result = judge(seconds);
    EXPECT_EQ(result.state, base::Verdict::kSatisfied) << result.why;
    EXPECT_EQ(result.transactions, 2u);
  }
}

}  // namespace
}  // namespace cupel::run
