// Joined histories: a history that is cut into recordings with clocks of their own and joined again
// gets the verdicts that it had, and no level of real time accuses it for the clocks. Workers that
// are missing, cut or of another run are refused.
#include "data/merge/join.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "data/history/builder.hpp"
#include "data/workload/generate.hpp"
#include "engine/check/check.hpp"
#include "support/history_language.hpp"

namespace cupel::merge {
namespace {

using check::Verdict;
using history::History;
using history::HistoryBuilder;
using history::SessionId;
using history::TxnId;

// The sessions s with s % of == number, their times shifted.
History recording(const History& whole, std::size_t number, std::size_t of, Time shift) {
  HistoryBuilder builder;
  for (std::size_t s = number; s < whole.session_count(); s += of) {
    const SessionId session(static_cast<std::uint32_t>(s));
    const auto id = builder.session(whole.session_name(session));
    for (auto t = whole.session_begin(session).raw; t < whole.session_end(session).raw; ++t) {
      const TxnId txn(t);
      const auto moved = [&](Time time) { return time == history::kNoTime ? time : time + shift; };
      builder.begin(id, whole.status(txn),
                    {.invoke = moved(whole.invoke(txn)),
                     .complete = moved(whole.complete(txn)),
                     .label = whole.label(txn)});
      for (auto i = whole.first_op(txn); i < whole.last_op(txn); ++i) {
        builder.copy(whole, history::OpId(i));
      }
      builder.end();
    }
  }
  builder.set_default_initial(builder.value(whole.value(whole.default_initial_value())));
  return std::move(builder).finish().value();
}

std::map<levels::Level, Verdict> verdicts(const History& history) {
  std::map<levels::Level, Verdict> found;
  for (const auto& level : check::check(history, {}).levels) found[level.level] = level.verdict;
  return found;
}

TEST(Join, GivesTheVerdictsOfTheWhole) {
  std::mt19937_64 random(7);
  std::size_t measured = 0, violated = 0;
  for (std::uint64_t seed = 1; seed <= 250; ++seed) {
    SCOPED_TRACE(seed);
    workload::GenerateOptions options;
    options.seed = seed;
    options.store =
        seed % 2 == 0 ? workload::Store::kStrictSerializable : workload::Store::kSnapshotIsolation;
    options.shape = seed % 3 == 0 ? workload::Shape::kListAppend : workload::Shape::kRegister;
    options.sessions = 4 + seed % 4;
    options.txns_per_session = 15;
    options.keys = 5;
    options.indeterminate_rate = seed % 5 == 0 ? 0.1 : 0;
    const auto whole = workload::generate(options);
    ASSERT_TRUE(whole.ok());
    const std::size_t of = 2 + seed % 3;
    std::vector<Part> parts;
    std::vector<Time> shifts;
    for (std::size_t i = 0; i < of; ++i) {
      shifts.push_back(static_cast<Time>(random() % 2'000'000'000) - 1'000'000'000);
      parts.push_back({"part " + std::to_string(i), recording(*whole, i, of, shifts.back())});
    }
    const auto joined = join(parts, {});
    ASSERT_TRUE(joined.ok()) << joined.error().message;
    ASSERT_EQ(joined->history.txn_count(), whole->txn_count());
    // The true offsets are in the intervals.
    for (std::size_t i = 0; i < joined->clocks.size(); ++i) {
      const Time true_offset = shifts[0] - shifts[i];
      EXPECT_LE(joined->clocks[i].least, true_offset);
      EXPECT_GE(joined->clocks[i].most, true_offset);
      ++measured;
    }
    auto before = verdicts(*whole), after = verdicts(joined->history);
    for (const auto& [level, verdict] : before) {
      SCOPED_TRACE(levels::name(level));
      if (levels::needs_real_time(level)) {
        // Wider intervals order less: what was allowed stays so.
        if (verdict == Verdict::kSatisfied) {
          EXPECT_NE(after[level], Verdict::kViolated);
        }
      } else {
        EXPECT_EQ(after[level], verdict);
        violated += verdict == Verdict::kViolated ? 1 : 0;
      }
    }
  }
  EXPECT_GT(measured, 500U);
  EXPECT_GT(violated, 100U);
}

// T2 read nothing of T1, which had ended: not strictly serializable, by one clock. With clocks that
// are 100 apart nobody knows, unless the offset is given, or the clock is known to be the same.
TEST(Join, DoesNotAccuseForTheClocks) {
  const std::vector<Part> parts{{"a", test::history_of("init=0 w(x,1) @10-20")},
                                {"b", test::history_of("init=0 r(x,0) @130-140")}};
  const auto strict = [](const base::Result<Joined>& joined) {
    EXPECT_TRUE(joined.ok()) << joined.error().message;
    return verdicts(joined->history)[levels::Level::kStrictSerializable];
  };
  EXPECT_EQ(strict(join(parts, {})), Verdict::kRefused);
  EXPECT_EQ(strict(join(parts, {.offsets = {0, -100}})), Verdict::kViolated);
  EXPECT_EQ(strict(join(parts, {.offsets = {0, -100}, .drift = 4})), Verdict::kViolated);
  EXPECT_EQ(strict(join(parts, {.offsets = {0, -100}, .drift = 5})), Verdict::kSatisfied);
  EXPECT_EQ(strict(join(parts, {.offsets = {0, -115}})), Verdict::kSatisfied);
  EXPECT_EQ(strict(join(parts, {.offsets = {0, -100}, .times = false})), Verdict::kRefused);
  // The same difference, by a clock that both have: b's recording began at 1000, a's at 1100.
  std::vector<Part> same;
  for (const auto& [file, h] : parts) {
    same.push_back(
        {file, HistoryBuilder::with_metadata(h, kClockFact, file == "a" ? "m 1100" : "m 1000")});
  }
  EXPECT_EQ(strict(join(same, {})), Verdict::kViolated);
  same[1].history = HistoryBuilder::with_metadata(parts[1].history, kClockFact, "n 1000");
  EXPECT_EQ(strict(join(same, {})), Verdict::kRefused);
}

// Reads in both directions bound the difference: b's clock is 100 ahead, and is known to be from 90
// to 115 ahead.
TEST(Join, MeasuresTheClocksByWhoReadWhat) {
  const std::vector<Part> parts{
      {"a", test::history_of("init=0 w(x,1) @10-20 ; r(y,2) @45-55")},
      {"b", test::history_of("init=0 r(x,1) @115-125 ; w(y,2) @145-150")}};
  const auto joined = join(parts, {});
  ASSERT_TRUE(joined.ok()) << joined.error().message;
  ASSERT_EQ(joined->clocks.size(), 2U);
  EXPECT_EQ(joined->clocks[0].least, 0);
  EXPECT_EQ(joined->clocks[0].most, 0);
  EXPECT_EQ(joined->clocks[1].least, 10 - 125);
  EXPECT_EQ(joined->clocks[1].most, 55 - 145);
  // A value that two transactions wrote says nothing, nor one that the key starts with.
  const std::vector<Part> twice{
      {"a", test::history_of("init=0 w(x,1) @10-20 ; r(y,2) @45-55")},
      {"b", test::history_of("init=0 r(x,1) @115-125 ; w(y,2) @145-150 ; w(x,1) @160-170")}};
  const auto less = join(twice, {});
  ASSERT_TRUE(less.ok());
  EXPECT_TRUE(less->clocks.empty());
  EXPECT_FALSE(less->notes.empty());
}

// A clock that Linux sets right may lose one in 2,000: half a second later, 250 us.
TEST(Join, AllowsForThePaceOfClocks) {
  const auto part = [](const char* end) {
    return test::history_of(std::string("init=0 w(x,1) @0-10 ; r(y,2) @30-40 ; r(z,0) @") + end);
  };
  const std::vector<Part> parts{
      {"a", part("1000000000-1000000010")},
      {"b",
       test::history_of("init=0 r(x,1) @10-20 ; w(y,2) @25-35 ; w(z,1) @999600000-999600010")}};
  const auto joined = join(parts, {});
  ASSERT_TRUE(joined.ok()) << joined.error().message;
  EXPECT_EQ(joined->drift, 500'000);
  EXPECT_EQ(verdicts(joined->history)[levels::Level::kStrictSerializable], Verdict::kSatisfied);
  const auto exact = join(parts, {.drift = 0});
  ASSERT_TRUE(exact.ok());
  EXPECT_EQ(verdicts(exact->history)[levels::Level::kStrictSerializable], Verdict::kViolated);
}

TEST(Join, RefusesTimesThatContradictTheReads) {
  // b read x before a wrote it, and a read y before b wrote it, whatever the offset.
  const std::vector<Part> parts{{"a", test::history_of("init=0 r(y,2) @10-20 ; w(x,1) @50-60")},
                                {"b", test::history_of("init=0 r(x,1) @10-20 ; w(y,2) @50-60")}};
  const auto joined = join(parts, {});
  ASSERT_FALSE(joined.ok());
  EXPECT_NE(joined.error().message.find("--clock-drift"), std::string::npos);
  EXPECT_TRUE(join(parts, {.drift = 15}).ok());
  EXPECT_TRUE(join(parts, {.times = false}).ok());
}

History worker(const char* text, const char* run, const char* sessions, const char* ended) {
  auto h = HistoryBuilder::with_metadata(test::history_of(text), kRunFact, run);
  h = HistoryBuilder::with_metadata(std::move(h), kSessionsFact, sessions);
  return HistoryBuilder::with_metadata(std::move(h), kEndedFact, ended);
}

TEST(Join, TakesWorkersOnlyWhole) {
  const auto first = worker("init=0 w(x,1)", "t", "0-1 of 5", "yes");
  const auto second = worker("init=0 r(x,1)", "t", "2-3 of 5", "yes");
  const auto third = worker("init=0 w(x,9)", "t", "4-4 of 5", "yes");
  const auto all = join({{"b", second}, {"c", third}, {"a", first}}, {});
  ASSERT_TRUE(all.ok()) << all.error().message;
  EXPECT_EQ(all->history.fact(kSessionsFact), "");
  EXPECT_EQ(verdicts(all->history)[levels::Level::kSerializable], Verdict::kSatisfied);
  // A part by itself gets no verdict: what it read seems to come from nobody.
  for (const auto& [level, verdict] : verdicts(second)) EXPECT_EQ(verdict, Verdict::kRefused);
  struct Case {
    std::vector<Part> parts;
    const char* word;
  };
  const Case cases[] = {
      {{{"a", first}, {"b", second}}, "session 4 nowhere"},
      {{{"b", second}, {"c", third}}, "sessions 0 to 1 nowhere"},
      {{{"a", first}, {"c", third}}, "sessions 2 to 3 nowhere"},
      {{{"a", first}, {"b", second}, {"c", third}, {"b2", second}}, "each once"},
      {{{"a", first}, {"b", second}, {"c", worker("init=0 w(x,9)", "u", "4-4 of 5", "yes")}},
       "different runs"},
      {{{"a", first}, {"b", second}, {"c", worker("init=0 w(x,9)", "t", "4-4 of 5", "")}},
       "no end"},
      {{{"a", first}, {"b", second}, {"c", worker("init=0 w(x,9)", "t", "3-4 of 5", "yes")}},
       "another history has too"},
      {{{"a", first}, {"b", second}, {"c", worker("init=0 w(x,9)", "t", "4-4 of 6", "yes")}},
       "expected 5"},
      {{{"a", first}, {"b", second}, {"c", test::history_of("init=0 w(x,9)")}}, "different runs"},
      {{{"a", first}, {"b", second}, {"c", worker("w(x,9)", "t", "4-4 of 5", "yes")}},
       "start with null"},
  };
  for (const auto& [parts, word] : cases) {
    const auto joined = join(parts, {});
    ASSERT_FALSE(joined.ok()) << word;
    EXPECT_NE(joined.error().message.find(word), std::string::npos) << joined.error().message;
  }
}

// Of other tools' histories nobody knows whether they belong together.
TEST(Join, SaysThatItDoesNotKnow) {
  const auto joined =
      join({{"a", test::history_of("w(x,1)")}, {"b", test::history_of("r(x,1)")}}, {});
  ASSERT_TRUE(joined.ok());
  ASSERT_FALSE(joined->notes.empty());
  EXPECT_NE(joined->notes.front().find("one run"), std::string::npos);
}

TEST(Clocks, AreSolvedAlongChains) {
  // 1 is 10 to 20 from 0, and 2 is 5 from 1.
  const std::vector<OffsetBound> bounds{{1, 0, 20}, {0, 1, -10}, {2, 1, 5}, {1, 2, -5}};
  const auto offsets = solve(4, bounds);
  EXPECT_FALSE(offsets.contradicted);
  ASSERT_TRUE(offsets.ranges[2].has_value());
  EXPECT_EQ(offsets.ranges[2]->least, 15);
  EXPECT_EQ(offsets.ranges[2]->most, 25);
  EXPECT_EQ(offsets.ranges[2]->middle(), 20);
  EXPECT_EQ(offsets.ranges[2]->error(), 5);
  EXPECT_FALSE(offsets.ranges[3].has_value());
  const std::vector<OffsetBound> impossible{{1, 0, 20}, {0, 1, -21}};
  EXPECT_TRUE(solve(2, impossible).contradicted);
}

// A recording that only read nil from a key does not know that the key is a list.
TEST(Join, NilIsTheEmptyListWhereAnotherRecordingAppends) {
  const auto part = [](const char* file, auto fill) {
    HistoryBuilder b;
    b.begin(b.session("0"), history::TxnStatus::kCommitted, {.invoke = 1, .complete = 2});
    fill(b);
    b.end();
    return Part{file, std::move(b).finish().value()};
  };
  const auto x = [](HistoryBuilder& b) { return b.key(history::ScalarView::of("x")); };
  const auto nil = part("nil", [&](HistoryBuilder& b) {
    b.read(x(b), b.null_value());
    b.read(x(b), history::ValueId::none());
    b.read(b.key(7), b.null_value());
  });
  const auto appends = part("appends", [&](HistoryBuilder& b) { b.append(x(b), b.value(1)); });
  for (const bool nil_first : {true, false}) {
    const auto joined =
        join(nil_first ? std::vector<Part>{nil, appends} : std::vector<Part>{appends, nil},
             {.times = false});
    ASSERT_TRUE(joined.ok()) << joined.error().message;
    const auto& h = joined->history;
    const history::OpId first(nil_first ? 0 : 1);
    EXPECT_EQ(h.op(first).kind, history::OpKind::kListRead);
    EXPECT_TRUE(h.list_known(h.op(first)));
    EXPECT_TRUE(h.list(h.op(first)).empty());
    EXPECT_FALSE(h.list_known(h.op(history::OpId(first.raw + 1))));
    EXPECT_EQ(h.op(history::OpId(first.raw + 2)).kind, history::OpKind::kRead);
    EXPECT_EQ(verdicts(h).at(levels::Level::kSerializable), Verdict::kSatisfied);
  }
  // Another value is none of a list.
  const auto seven = part("seven", [&](HistoryBuilder& b) { b.read(x(b), b.value(7)); });
  const auto refused = join({seven, appends}, {.times = false});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("used both as a list"), std::string::npos);
}

// The whole has no final reads: it must not hide what the parts say of theirs.
TEST(Join, KeepsThatDataWereGoneAndFinalReadsFailed) {
  const auto part = [](const std::string& file, int value,
                       const std::map<std::string, std::string>& facts) {
    HistoryBuilder builder;
    builder.begin(builder.session("0"), history::TxnStatus::kCommitted, {});
    builder.write(builder.key(history::ScalarView::of(std::string_view("x"))),
                  builder.value(value));
    builder.end();
    for (const auto& [name, text] : facts) builder.set_metadata(name, text);
    return Part{file, std::move(builder).finish().value()};
  };
  std::vector<Part> parts;
  parts.push_back(part("a", 1, {{"final readers", "1 the database"}, {"data gone", "kv is gone"}}));
  parts.push_back(part("b", 2, {{"final reads failed", "nobody is there"}}));
  parts.push_back(part("c", 3, {}));
  const auto joined = join(parts, {.times = false});
  ASSERT_TRUE(joined.ok()) << joined.error().to_string();
  EXPECT_EQ(joined->history.fact("final reads failed"), "a: kv is gone; b: nobody is there");
  EXPECT_EQ(joined->history.fact("data gone"), "");
  EXPECT_EQ(std::count(joined->notes.begin(), joined->notes.end(),
                       "a has final reads, which become ordinary reads. Check it alone for lost "
                       "writes"),
            1);
}

}  // namespace
}  // namespace cupel::merge
