// Narratives: the explanation of each anomaly, byte by byte as in narratives/NAME.txt.
// CUPEL_WRITE_GOLDEN=1 golden_narratives_test writes them anew; they are to be read
// then as if for the first time, because that is how their readers meet them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "engine/check/check.hpp"
#include "engine/explain/why/explain.hpp"
#include "source_dir.hpp"
#include "support/history_language.hpp"

namespace cupel::golden {
namespace {

using levels::Level;

struct Tale {
  const char* name;
  Level level;
  std::string history;
};
void PrintTo(const Tale& tale, std::ostream* out) {
  *out << tale.name;
}

// Every entry of a log, each appended by a transaction of its own, and two readers
// whom it looks different to.
std::string disagreement() {
  std::string text = "writer:", one, two;
  for (int i = 1; i <= 500; ++i) {
    const auto entry = std::to_string(i);
    text += (i == 1 ? " a(log," : " ; a(log,") + entry + ")";
    one += (i == 1 ? "" : " ") + entry;
    two += (i == 1 ? "" : " ") + std::to_string(i == 401 ? 402 : i == 402 ? 401 : i);
  }
  return text + " | alice: l(log,[" + one + "]) | bob: l(log,[" + two + "])";
}

const Tale kTales[] = {
    {"thin-air-read", Level::kReadCommitted, "init=0 bob: w(balance,70) | alice: r(balance,700)"},
    {"aborted-read", Level::kReadCommitted,
     "init=0 alice: ! w(balance,1000) | bob: r(balance,1000) w(limit,500)"},
    {"future-read", Level::kReadCommitted, "init=0 alice: r(status,shipped) w(status,shipped)"},
    {"not-my-last-write", Level::kReadCommitted, "init=0 alice: w(cart,1) w(cart,2) r(cart,1)"},
    {"not-my-own-write", Level::kReadCommitted,
     "init=0 bob: w(nickname,bobby) | alice: w(nickname,ally) r(nickname,bobby)"},
    {"intermediate-read", Level::kReadCommitted,
     "init=0 alice: w(balance,900) w(balance,100) | bob: r(balance,900)"},
    {"non-repeatable-read", Level::kReadAtomic,
     "init=100 alice: w(price,120) | bob: r(price,100) r(price,120)"},
    {"session-guarantee-violation", Level::kReadAtomic,
     "init=none alice: w(avatar,cat) ; r(avatar,none)"},
    {"non-monotonic-read", Level::kReadCommitted,
     "init=0 alice: w(inbox,1) ; w(inbox,2) w(unread,2) | bob: r(unread,2) r(inbox,1)"},
    {"fractured-read", Level::kReadAtomic,
     "init=100 alice: w(savings,50) w(checking,150) | bob: r(checking,100) r(savings,50)"},
    {"causality-violation", Level::kCausal,
     "init=none alice: w(question,why) | bob: r(question,why) w(answer,because) | carol: "
     "r(answer,because) r(question,none)"},
    {"long-fork", Level::kPrefix,
     "init=0 alice: w(north,1) | bob: w(south,1) | carol: r(north,1) r(south,0) | dave: "
     "r(north,0) r(south,1)"},
    {"lost-update", Level::kSnapshotIsolation,
     "init=10 alice: r(stock,10) w(stock,9) @100-400 | bob: r(stock,10) w(stock,8) @200-300"},
    {"write-skew", Level::kSerializable,
     "init=on_call alice: r(bob,on_call) w(alice,off) | bob: r(alice,on_call) w(bob,off)"},
    {"G0", Level::kReadCommitted,
     "alice: a(x,1) a(y,1) | bob: a(x,2) a(y,2) | carol: l(x,[1 2]) l(y,[2 1])"},
    {"G1c", Level::kReadCommitted,
     "init=0 alice: r(tea,2) w(coffee,1) | bob: r(coffee,1) w(tea,2)"},
    {"G-single", Level::kSnapshotIsolation,
     "alice: a(orders,1) a(log,1) | bob: a(log,2) a(invoices,2) | carol: l(invoices,[2]) "
     "l(orders,[]) | dave: l(log,[1 2])"},
    {"G-nonadjacent", Level::kSnapshotIsolation,
     "alice: a(orders,1) a(log,1) | bob: a(log,2) a(invoices,2) | carol: l(invoices,[2]) "
     "l(returns,[]) | dave: a(returns,3) | erin: l(returns,[3]) l(orders,[]) | frank: l(log,[1 "
     "2])"},
    {"G2-item", Level::kSerializable,
     "init=0 alice: r(rock,0) w(paper,1) | bob: r(paper,0) w(scissors,1) | carol: r(scissors,0) "
     "w(rock,1)"},
    {"incompatible-order", Level::kReadCommitted, disagreement()},
    {"G0-realtime", Level::kGeneralizedSnapshotIsolation,
     "bob: a(log,2) @0-1000 | alice: a(log,1) @5000-6000 | carol: l(log,[1 2]) @9000-9500"},
    {"G-single-realtime", Level::kStrictSerializable,
     "init=open alice: w(shop,closed) @1000000-2500000 | bob: r(shop,open) @3700000-4000000"},
    {"G2-item-realtime", Level::kStrictSerializable,
     "init=0 carol: w(deposit,1) @0-10 | bob: r(deposit,0) w(fee,1) @5-50 | alice: r(fee,0) "
     "@20-100"},
};

class Narratives : public testing::TestWithParam<Tale> {};

TEST_P(Narratives, AreAsTheyWere) {
  const Tale& tale = GetParam();
  const auto history = test::history_of(tale.history);
  check::Options options;
  options.asked = {tale.level};
  const auto found = check::check(history, options).levels.front();
  ASSERT_EQ(found.verdict, check::Verdict::kViolated);
  ASSERT_TRUE(found.violation);
  const auto anomalies =
      explain::explain(history, found.explained_at.value_or(tale.level), *found.violation);
  ASSERT_FALSE(anomalies.empty());
  const auto& anomaly = anomalies.front();
  EXPECT_EQ(anomaly.name, tale.name);
  const auto text = explain::title_of(anomaly) + ": " + anomaly.explanation + "\n";

  const auto path = std::string(CUPEL_SOURCE_DIR "/tests/golden/narratives/") + tale.name + ".txt";
  if (std::getenv("CUPEL_WRITE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::ifstream in(path);
  const std::string known{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  EXPECT_EQ(text, known) << "if this is the right text: CUPEL_WRITE_GOLDEN=1 "
                            "golden_narratives_test, and read what has changed in "
                         << path;
}

INSTANTIATE_TEST_SUITE_P(Tales, Narratives, testing::ValuesIn(kTales), [](const auto& info) {
  std::string name = info.param.name;
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace cupel::golden
