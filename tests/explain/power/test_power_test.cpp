// Test power: the measures on histories of known answers; and that an anomaly
// said to be impossible is found under no answers to the workload's reads whatever, while
// one said to be seen was.
#include "engine/explain/power/test_power.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "data/workload/generate.hpp"
#include "engine/check/check.hpp"
#include "engine/explain/power/inject.hpp"
#include "engine/explain/power/opportunities.hpp"
#include "engine/explain/why/explain.hpp"
#include "support/history_language.hpp"
#include "support/rounds.hpp"

namespace cupel::power {
namespace {

using levels::Level;
using test::history_of;

TestPower power_of(const history::History& history) {
  base::Budget budget;
  return measure(history, budget);
}
const Anomaly& anomaly(const TestPower& power, std::string_view name) {
  for (const auto& one : power.anomalies) {
    if (one.name == name) return one;
  }
  throw std::out_of_range(std::string(name));
}
std::set<std::string> seen(const TestPower& power) {
  std::set<std::string> names;
  for (const auto& one : power.anomalies) {
    if (one.detection == Detection::kDetected) names.insert(one.name);
  }
  return names;
}

TEST(TestPower, EachAnomalyIsSeenInItsSmallestWorkloadWithTheAnswersOfAGoodDatabase) {
  const std::pair<const char*, const char*> workloads[] = {
      {"thin-air-read", "a: r(x,nil)"},
      {"aborted-read", "a: !w(x,1) | b: r(x,nil)"},
      {"future-read", "a: r(x,nil) w(x,1)"},
      {"not-my-last-write", "a: w(x,1) w(x,2) r(x,2)"},
      {"not-my-own-write", "a: w(x,1) r(x,1)"},
      {"intermediate-read", "a: w(x,1) w(x,2) | b: r(x,2)"},
      {"non-repeatable-read", "a: w(x,1) | b: r(x,1) r(x,1)"},
      {"session-guarantee-violation", "a: w(x,1) ; r(x,1)"},
      {"non-monotonic-read", "a: w(x,1) w(y,1) | b: r(x,1) r(y,1)"},
      {"fractured-read", "a: w(x,1) w(y,1) | b: r(x,1) r(y,1)"},
      {"causality-violation", "a: w(x,1) | b: r(x,1) w(y,2) | c: r(y,2) r(x,1)"},
      {"long-fork", "a: w(x,1) | b: w(y,2) | c: r(x,1) r(y,2) | d: r(x,1) r(y,2)"},
      {"lost-update", "a: r(x,nil) w(x,1) | b: r(x,1) w(x,2)"},
      {"write-skew", "a: r(x,nil) r(y,nil) w(x,1) | b: r(x,1) r(y,nil) w(y,2)"},
      // The same with lists and ranges.
      {"lost-update", "a: l(x,[]) a(x,1) | b: l(x,[1]) a(x,2)"},
      {"long-fork", "a: a(x,1) | b: a(y,2) | c: l(x,[1]) l(y,[2]) | d: l(x,[1]) l(y,[2])"},
      {"future-read", "a: l(x,[]) a(x,1)"},
      {"intermediate-read", "a: a(x,1) a(x,2) | b: l(x,[1 2])"},
      {"write-skew", "a: range(1,9,[]) i(1,5) | b: range(1,9,[1=5]) i(2,6)"},
      {"lost-update", "init=0 a: cas(x,0,1) | b: cas(x,0,2)"},
      // By way of sessions.
      {"causality-violation", "a: w(x,1) | b: r(x,1) ; w(y,2) | c: r(y,2) r(x,1)"},
      {"causality-violation", "a: w(x,1) ; w(y,2) | c: r(y,2) r(x,1)"},
      {"causality-violation", "a: w(x,1) w(y,1) | c: r(y,1) ; r(x,1)"},
  };
  for (const auto& [name, text] : workloads) {
    const auto power = power_of(history_of(text));
    EXPECT_EQ(anomaly(power, name).detection, Detection::kDetected)
        << name << " in " << text << ": " << anomaly(power, name).reason;
    EXPECT_EQ(power.anomalies.size(), 14u);
  }
}

TEST(TestPower, SaysWhichFeatureIsMissing) {
  const std::tuple<const char*, const char*, const char*> workloads[] = {
      {"thin-air-read", "a: w(x,1)", "no committed transaction reads"},
      {"aborted-read", "a: w(x,1) | b: r(x,1)", "no aborted transaction that writes was recorded"},
      {"future-read", "a: r(x,nil) | b: w(x,1)",
       "no transaction reads a key and writes it afterwards"},
      {"not-my-last-write", "a: w(x,1) r(x,1)",
       "no transaction writes a key twice and then reads it"},
      {"intermediate-read", "a: w(x,1) w(x,2) r(x,2)",
       "no transaction reads a key that another one writes twice"},
      {"non-repeatable-read", "a: w(x,1) | b: r(x,1)", "no transaction reads a key twice"},
      {"session-guarantee-violation", "a: w(x,1) | b: r(x,1)",
       "no session reads a key that it wrote in an earlier transaction"},
      {"fractured-read", "a: w(x,1) | b: r(x,1) r(y,nil)", "no transaction writes two keys"},
      {"fractured-read", "a: w(x,1) w(y,1) | b: r(x,1)", "no transaction reads two keys"},
      {"long-fork", "a: w(x,1) | b: r(x,1)", "fewer than two keys are both written and read"},
      {"lost-update", "a: r(x,nil) w(x,1) | b: w(x,2)",
       "no two transactions read and then write the same key"},
      {"lost-update", "a: w(x,1) | b: r(x,1)", "no transaction reads a key and then writes it"},
      {"write-skew", "a: r(x,nil) w(x,1) | b: r(x,1)",
       "no transaction reads one key and writes another"},
  };
  for (const auto& [name, text, reason] : workloads) {
    const auto power = power_of(history_of(text));
    EXPECT_EQ(anomaly(power, name).detection, Detection::kImpossible) << name << " in " << text;
    EXPECT_EQ(anomaly(power, name).reason, reason) << text;
  }
}

// Every answer to every read: nothing, the initial version, any write of the key, a
// value that nobody wrote, nothing known.
std::set<std::string> shown_by_any_answers(const test::Sketch& workload) {
  std::vector<test::SketchOp*> reads;
  test::Sketch sketch = workload;
  std::map<std::string, std::vector<test::Atom>> answers;
  for (auto& session : sketch.sessions) {
    for (auto& txn : session.txns) {
      for (auto& op : txn.ops) {
        auto& list = answers[op.key.text];
        if (list.empty()) list = {test::Atom::unknown(), test::Atom::null(), test::Atom::of(999)};
        if (op.kind == history::OpKind::kWrite) {
          list.push_back(op.value);
        } else if (txn.status == history::TxnStatus::kCommitted) {
          reads.push_back(&op);
        }
      }
    }
  }
  std::set<std::string> names;
  std::vector<std::size_t> digits(reads.size(), 0);
  for (;;) {
    for (std::size_t i = 0; i < reads.size(); ++i) {
      reads[i]->value = answers[reads[i]->key.text][digits[i]];
    }
    const auto history = test::build(sketch);
    check::Options options;
    options.threads = 1;
    options.asked = {Level::kReadCommitted, Level::kReadAtomic,        Level::kCausal,
                     Level::kPrefix,        Level::kSnapshotIsolation, Level::kSerializable};
    const auto result = check::check(history, options);
    const auto& weakest = result.weakest_violated;
    for (const auto& level : result.levels) {
      if (!level.violation ||
          std::find(weakest.begin(), weakest.end(), level.level) == weakest.end()) {
        continue;
      }
      for (const auto& found :
           explain::explain(history, level.explained_at.value_or(level.level), *level.violation)) {
        names.insert(found.name);
      }
    }
    std::size_t at = 0;
    while (at < reads.size() && ++digits[at] == answers[reads[at]->key.text].size())
      digits[at++] = 0;
    if (at == reads.size()) return names;
  }
}

TEST(TestPower, WhatIsImpossibleNoAnswersShow) {
  std::mt19937_64 random(7);
  std::map<Detection, int> count;
  for (int round = 0; round < test::rounds(400); ++round) {
    test::Sketch sketch;
    int value = 0, reads = 0;
    const auto sessions = 2 + random() % 2;
    for (std::size_t s = 0; s < sessions; ++s) {
      test::SketchSession session{std::string(1, static_cast<char>('a' + s)), {}};
      for (std::size_t t = 0; t < 1 + random() % 2; ++t) {
        test::SketchTxn txn;
        if (random() % 8 == 0) txn.status = history::TxnStatus::kAborted;
        for (std::size_t o = 0; o < 1 + random() % 3; ++o) {
          test::SketchOp op;
          op.key = test::Atom::of(std::string_view(random() % 2 == 0 ? "x" : "y"));
          const bool read = random() % 2 == 0 && reads < 4;
          op.kind = read ? history::OpKind::kRead : history::OpKind::kWrite;
          op.value = read ? test::Atom::null() : test::Atom::of(std::int64_t{++value});
          reads += read && txn.status == history::TxnStatus::kCommitted ? 1 : 0;
          txn.ops.push_back(op);
        }
        session.txns.push_back(txn);
      }
      sketch.sessions.push_back(session);
    }
    const auto power = power_of(test::build(sketch));
    const auto possible = shown_by_any_answers(sketch);
    for (const auto& one : power.anomalies) {
      ++count[one.detection];
      if (one.detection == Detection::kImpossible) {
        EXPECT_FALSE(possible.contains(one.name)) << one.name << " is said to be impossible ("
                                                  << one.reason << ") in " << to_text(sketch);
      }
      if (one.detection == Detection::kDetected) {
        // In its transactions alone.
        test::Sketch part;
        std::uint32_t number = 0;
        for (const auto& session : sketch.sessions) {
          test::SketchSession kept{session.name, {}};
          for (const auto& txn : session.txns) {
            const history::TxnId id(number++);
            const auto& all = one.transactions;
            if (std::find(all.begin(), all.end(), id) != all.end()) kept.txns.push_back(txn);
          }
          part.sessions.push_back(kept);
        }
        EXPECT_TRUE(shown_by_any_answers(part).contains(one.name))
            << one.name << " is said to be seen in " << to_text(part);
      }
    }
  }
  EXPECT_GT(count[Detection::kDetected], test::rounds(200));
  EXPECT_GT(count[Detection::kImpossible], test::rounds(200));
  EXPECT_LT(count[Detection::kNotFound], test::rounds(200));
}

// A workload that could have shown all of them does so with the generator's own injection.
TEST(TestPower, AGeneralWorkloadCouldShowAlmostAll) {
  for (const auto shape : {workload::Shape::kRegister, workload::Shape::kListAppend}) {
    workload::GenerateOptions options;
    options.store = workload::Store::kStrictSerializable;
    options.shape = shape;
    options.keys = 20;
    options.abort_rate = 0.05;
    const auto power = power_of(workload::generate(options).value());
    EXPECT_EQ(seen(power).size(), 14u);
    EXPECT_GT(power.met, 0u);
  }
  // Mini-transactions read before they write and never write a key twice.
  workload::GenerateOptions mini;
  mini.shape = workload::Shape::kMini;
  mini.keys = 20;
  const auto power = power_of(workload::generate(mini).value());
  EXPECT_TRUE(seen(power).contains("lost-update"));
  EXPECT_TRUE(seen(power).contains("write-skew"));
  for (const char* name : {"aborted-read", "not-my-last-write", "not-my-own-write",
                           "intermediate-read", "non-repeatable-read"}) {
    EXPECT_EQ(anomaly(power, name).detection, Detection::kImpossible) << name;
  }
}

TEST(TestPower, CountsWhatMetInTime) {
  const auto power = power_of(history_of(
      "a: w(x,1) @0-10 ; w(x,2) @20-30 | b: r(x,1) @5-15 ; r(y,nil) @20-30 | c: w(y,9) @40-50"));
  EXPECT_EQ(power.transactions, 5u);
  EXPECT_EQ(power.timed, 5u);
  EXPECT_EQ(power.most_open, 2u);
  EXPECT_EQ(power.pairs, 4u);             // x: three; y: one
  EXPECT_EQ(power.pairs_overlapped, 1u);  // the first two
  EXPECT_EQ(power.met, 2u);
  EXPECT_EQ(power_of(history_of("a: w(x,1) | b: r(x,1)")).timed, 0u);
}

TEST(TestPower, CountsReadsThatConstrain) {
  // x: seen, and the initial one of a key that is written; y: nobody writes it; z: its own.
  const auto power =
      power_of(history_of("a: w(x,1) | b: r(x,1) r(y,nil) w(z,1) r(z,1) | c: r(x,nil) r(x,nil)"));
  EXPECT_EQ(power.reads, 3u);
  EXPECT_EQ(power.constraining, 2u);
}

TEST(TestPower, CountsKeysOfKnownOrder) {
  const auto ordered = [](const char* text) {
    const auto power = power_of(history_of(text));
    return std::to_string(power.ordered_keys) + "/" + std::to_string(power.written_keys) + " " +
           std::to_string(power.ordered_by_one_writer) + std::to_string(power.ordered_by_list) +
           std::to_string(power.ordered_by_chain);
  };
  EXPECT_EQ(ordered("a: w(x,1) | b: r(y,nil)"), "1/1 100");
  EXPECT_EQ(ordered("a: w(x,1) | b: w(x,2)"), "0/1 000");
  EXPECT_EQ(ordered("a: w(x,1) | b: r(x,1) w(x,2)"), "1/1 001");
  EXPECT_EQ(ordered("a: w(x,1) ; w(x,2)"), "1/1 001");
  EXPECT_EQ(ordered("a: w(x,1) | b: w(x,2) | c: r(x,2) ; r(x,1)"), "1/1 001");
  EXPECT_EQ(ordered("a: w(x,1) | b: r(x,1) w(x,2) | c: r(x,1) w(x,3)"), "0/1 000");
  EXPECT_EQ(ordered("a: a(x,1) | b: a(x,2) | c: l(x,[2 1])"), "1/1 010");
  EXPECT_EQ(ordered("a: a(x,1) | b: a(x,2) | c: l(x,[2])"), "0/1 000");
}

TEST(TestPower, StopsAtItsBudget) {
  base::Budget budget(std::chrono::duration<double>(0), 0);
  const auto power = measure(history_of("a: w(x,1) | b: r(x,1)"), budget);
  EXPECT_TRUE(power.limit_met);
  EXPECT_TRUE(power.anomalies.empty());
}

}  // namespace
}  // namespace cupel::power
