// Names and texts of hand-written derivations. The texts are in expected.txt,
// under the name of the test; CUPEL_REWRITE=1 writes them anew, to be read over.
#include "engine/explain/why/explain.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "data/history/builder.hpp"
#include "explain/why/derivation_sketch.hpp"
#include "source_dir.hpp"
#include "support/history_language.hpp"

namespace cupel::explain {
namespace {

using levels::InternalAnomaly;
using levels::InternalKind;
using levels::Level;
using levels::Point;
using levels::Reason;
using test::DerivationSketch;
using test::history_of;

const std::string kExpected = CUPEL_SOURCE_DIR "/tests/explain/why/expected.txt";

std::map<std::string, std::string> expected_texts() {
  std::map<std::string, std::string> texts;
  std::ifstream in(kExpected);
  std::string name;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("== ")) {
      name = line.substr(3);
    } else if (!name.empty()) {
      texts[name] += line + "\n";
    }
  }
  return texts;
}

// The text as in expected.txt under the running test's name.
void expect_text(const Anomaly& anomaly) {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  const std::string name = std::string(info->test_suite_name()) + "." + info->name();
  const std::string text = anomaly.name + " (" + anomaly.adya + ") at " +
                           std::string(levels::name(anomaly.at)) + "\n" + anomaly.explanation +
                           "\n";
  auto texts = expected_texts();
  if (std::getenv("CUPEL_REWRITE") != nullptr) {
    texts[name] = text;
    std::ofstream out(kExpected);
    for (const auto& [key, value] : texts) {
      out << "== " << key << "\n" << value;
    }
    return;
  }
  EXPECT_EQ(text, texts[name]);
}

Anomaly only(std::vector<Anomaly> anomalies) {
  EXPECT_EQ(anomalies.size(), 1u);
  return anomalies.empty() ? Anomaly{} : anomalies.front();
}

// ---- inside one transaction or one read

struct InternalCase {
  const char* history;
  InternalKind kind;
  int txn;
  std::uint32_t read;
  int other_txn;  // -1: none
  std::uint32_t other;
};

Anomaly internal(const InternalCase& c) {
  const auto history = history_of(c.history);
  DerivationSketch at(history);
  levels::Violation violation;
  const auto read = at.op(c.txn, c.read);
  violation.internal.push_back({c.kind, at.txn(c.txn), read, history.op(read).key,
                                c.other_txn < 0 ? OpId::none() : at.op(c.other_txn, c.other),
                                at.txn(c.other_txn)});
  return only(explain(history, levels::forbidden_by(c.kind), violation));
}

TEST(Internal, ThinAirRead) {
  expect_text(
      internal({"a: w(y,1) ; r(y,1) | b: r(x,7)", InternalKind::kThinAirRead, 2, 0, -1, 0}));
}
TEST(Internal, ThinAirReadOfANearlyEqualValue) {
  history::HistoryBuilder b;
  const auto session = b.session("a");
  const auto x = b.key(history::ScalarView::of("x"));
  const auto written = [&](history::ScalarView value) {
    b.begin(session, history::TxnStatus::kCommitted);
    b.write(x, b.value(value));
    b.end();
  };
  written(history::ScalarView::of(70));
  written(history::ScalarView::of(" Seven"));
  written(history::ScalarView::of("7"));
  b.begin(session, history::TxnStatus::kCommitted);
  b.read(x, b.value(history::ScalarView::of(7)));
  b.read(x, b.value(history::ScalarView::of("seven")));
  b.read(x, b.value(history::ScalarView::of(8)));
  b.end();
  const auto h = std::move(b).finish();
  ASSERT_TRUE(h.ok());
  const auto text = [&](std::uint32_t read) {
    levels::Violation violation;
    const history::TxnId t(3);
    violation.internal.push_back({InternalKind::kThinAirRead, t,
                                  history::OpId(h->first_op(t) + read), x, history::OpId::none(),
                                  history::TxnId::none()});
    return only(explain(*h, Level::kReadCommitted, violation)).summary;
  };
  EXPECT_NE(text(0).find("a string and not an integer"), std::string::npos) << text(0);
  EXPECT_NE(text(1).find("in another spelling"), std::string::npos) << text(1);
  EXPECT_EQ(text(2).find("was written to x"), std::string::npos) << text(2);
}
TEST(Internal, AbortedRead) {
  expect_text(internal({"a: ! w(x,1) | b: r(x,1)", InternalKind::kAbortedRead, 1, 0, 0, 0}));
}
TEST(Internal, IntermediateRead) {
  expect_text(
      internal({"a: w(x,1) w(x,2) | b: r(x,1)", InternalKind::kIntermediateRead, 1, 0, 0, 0}));
}
TEST(Internal, FutureRead) {
  expect_text(internal({"a: r(x,1) w(x,1)", InternalKind::kFutureRead, 0, 0, 0, 1}));
}
TEST(Internal, NotMyOwnWrite) {
  expect_text(internal({"a: w(x,1) | b: w(x,2) r(x,1)", InternalKind::kNotMyOwnWrite, 1, 1, 1, 0}));
}
TEST(Internal, NotMyLastWrite) {
  expect_text(internal({"a: w(x,1) w(x,2) r(x,1)", InternalKind::kNotMyLastWrite, 0, 2, 0, 1}));
}
TEST(Internal, NonRepeatableRead) {
  expect_text(internal(
      {"a: w(x,1) | b: w(x,2) | c: r(x,1) r(x,2)", InternalKind::kNonRepeatableRead, 2, 1, 2, 0}));
}
// A range read that returned x several times: the text is about the row that is meant.
Anomaly of_rows(const InternalCase& c) {
  const auto history = history_of(c.history);
  DerivationSketch at(history);
  const auto x = history.op(at.op(0, 0)).key;
  levels::Violation violation;
  violation.internal.push_back({c.kind, at.txn(c.txn), at.op(c.txn, c.read), x,
                                c.other_txn < 0 ? OpId::none() : at.op(c.other_txn, c.other),
                                at.txn(c.other_txn)});
  return only(explain(history, levels::forbidden_by(c.kind), violation));
}
TEST(Internal, NonRepeatableRowsOfOneRange) {
  expect_text(of_rows({"a: w(3,5) | b: w(3,6) | c: range(1,9,[3=5 3=6 3=5])",
                       InternalKind::kNonRepeatableRead, 2, 0, 2, 0}));
}
TEST(Internal, OneOfTheRowsIsMeant) {
  const auto says = [](const InternalCase& c, std::string_view words) {
    const auto text = of_rows(c).explanation;
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  says({"a: w(x,1) | b: range(w,y,[x=1 x=7])", InternalKind::kThinAirRead, 1, 0, -1, 0},
       "T1 found x = 7 from w to y, but no transaction wrote that");
  says({"a: w(x,1) w(x,2) w(x,3) | b: range(w,y,[x=3 x=2])", InternalKind::kIntermediateRead, 1, 0,
        0, 1},
       "T1 saw T0's write of 2 to x");
  says({"a: w(x,2) range(w,y,[x=2 x=1]) | b: w(x,1)", InternalKind::kNotMyOwnWrite, 0, 1, 0, 0},
       "T0 wrote x = 2 and then found x = 1 from w to y: a contradiction!");
  says({"a: w(x,1) w(x,2) range(w,y,[x=2 x=1])", InternalKind::kNotMyLastWrite, 0, 2, 0, 1},
       "and after that it found x = 1 from w to y again");
  says({"a: w(x,1) | b: w(x,2) | c: r(x,1) range(w,y,[x=2 x=1])", InternalKind::kNonRepeatableRead,
        2, 1, 2, 0},
       "T2 read 1 from x and later found x = 2 from w to y");
}
TEST(Internal, IncompatibleOrder) {
  expect_text(
      internal({"a: l(x,[1 2 3 4 5 6 7 8 9 10 11 12 13 14 15]) | b: l(x,[1 2 3 4 6 5 7 8 9 10 11 "
                "12 13 14 15])",
                InternalKind::kIncompatibleOrder, 1, 0, 0, 0}));
}
TEST(Internal, DuplicateElement) {
  expect_text(
      internal({"a: a(x,1) | b: l(x,[1 1])", InternalKind::kDuplicateElement, 1, 0, -1, 0}));
}
TEST(Internal, FailedCompareRead) {
  expect_text(internal({"init=0 a: cas!(x,0,1)", InternalKind::kFailedCompareRead, 0, 0, -1, 0}));
}

// ---- read committed to causal

TEST(Weak, CircularInformationFlow) {
  const auto history = history_of("a: r(x,1) w(y,1) | b: r(y,1) w(x,1)");
  DerivationSketch d(history);
  const auto there = d.wr(0, 1, "y"), back = d.wr(1, 0, "x");
  const auto anomaly = only(explain(history, Level::kReadCommitted, d.cycle({there, back})));
  expect_text(anomaly);
  EXPECT_EQ(anomaly.name, "G1c");
  ASSERT_EQ(anomaly.edges.size(), 2u);
  EXPECT_EQ(anomaly.edges[0].kind, levels::EdgeKind::kWriteRead);
  EXPECT_EQ(anomaly.edges[0].sentence, "T1 saw T0's write of 1 to y");
  EXPECT_EQ(anomaly.transactions, (std::vector<TxnId>{TxnId(0), TxnId(1)}));
}
TEST(Weak, DirtyWriteOfLists) {
  const auto history = history_of("a: a(x,1) a(y,1) | b: a(x,2) a(y,2) | c: l(x,[1 2]) l(y,[2 1])");
  DerivationSketch d(history);
  const auto x = d.ww(0, 1, "x", Reason::kListOrder), y = d.ww(1, 0, "y", Reason::kListOrder);
  d.edges()[x].witness = d.op(2, 0);
  d.edges()[y].witness = d.op(2, 1);
  const auto anomaly = only(explain(history, Level::kReadCommitted, d.cycle({x, y})));
  expect_text(anomaly);
  EXPECT_EQ(anomaly.name, "G0");
}
TEST(Weak, NonMonotonicRead) {
  const auto history = history_of("a: w(x,1) ; w(x,2) w(y,2) | b: r(y,2) r(x,1)");
  DerivationSketch d(history);
  const auto saw = d.wr(1, 2, "y"), session = d.so(0, 1);
  d.edges()[saw].to_op = d.op(2, 0);
  const auto forced = d.visible(1, 0, 2, "x", {saw});
  d.edges()[forced].witness = d.op(2, 1);
  const auto violation = d.cycle({session, forced});
  expect_text(only(explain(history, Level::kReadCommitted, violation)));
  EXPECT_EQ(only(explain(history, Level::kReadCommitted, violation)).name, "non-monotonic-read");
  // Found by a stronger level, it still goes by the name of the weakest.
  EXPECT_EQ(only(explain(history, Level::kCausal, violation)).name, "non-monotonic-read");
}
TEST(Weak, FracturedRead) {
  const auto history = history_of("a: w(x,1) w(y,1) | b: r(x,nil) r(y,1)");
  DerivationSketch d(history);
  const auto saw = d.wr(0, 1, "y"), missed = d.rw(1, 0, "x");
  d.edges()[saw].to_op = d.op(1, 1);
  d.edges()[missed].from_op = d.op(1, 0);
  const auto violation = d.cycle({missed, saw});
  expect_text(only(explain(history, Level::kReadAtomic, violation)));
  for (const Level level : {Level::kReadAtomic, Level::kCausal, Level::kSerializable}) {
    EXPECT_EQ(only(explain(history, level, violation)).name, "fractured-read");
  }
}
TEST(Weak, SessionGuaranteeViolation) {
  const auto history = history_of("a: w(x,1) ; r(y,nil) ; r(x,nil)");
  DerivationSketch d(history);
  const auto first = d.so(0, 1), second = d.so(1, 2), missed = d.rw(2, 0, "x");
  const auto anomaly = only(explain(history, Level::kReadAtomic, d.cycle({missed, first, second})));
  expect_text(anomaly);  // the two session edges are one step
  EXPECT_EQ(anomaly.name, "session-guarantee-violation");
  EXPECT_EQ(anomaly.edges.size(), 2u);
}
TEST(Weak, CausalityViolation) {
  const auto history = history_of("a: w(x,1) ; w(x,2) | b: r(x,2) w(y,1) | c: r(y,1) ; r(x,1)");
  DerivationSketch d(history);
  const auto past = d.so(0, 1), r1 = d.wr(1, 2, "x"), r2 = d.wr(2, 3, "y"), s = d.so(3, 4);
  const auto forced = d.visible(1, 0, 4, "x", {r1, r2, s});
  const auto anomaly = only(explain(history, Level::kCausal, d.cycle({past, forced})));
  expect_text(anomaly);
  EXPECT_EQ(anomaly.name, "causality-violation");
  EXPECT_EQ(anomaly.adya, "G-single-process");
}

// ---- order levels

TEST(Order, LongFork) {
  const auto history =
      history_of("a: w(x,1) | b: w(y,1) | c: r(x,1) r(y,nil) | d: r(x,nil) r(y,1)");
  DerivationSketch d(history);
  const auto a = d.wr(0, 2, "x"), b = d.rw(2, 1, "y"), c = d.wr(1, 3, "y"), e = d.rw(3, 0, "x");
  d.from_to(a, Point::kCommit, Point::kBegin).from_to(b, Point::kBegin, Point::kCommit);
  d.from_to(c, Point::kCommit, Point::kBegin).from_to(e, Point::kBegin, Point::kCommit);
  const auto anomaly = only(explain(history, Level::kPrefix, d.cycle({a, b, c, e})));
  expect_text(anomaly);
  EXPECT_EQ(anomaly.name, "long-fork");
  EXPECT_EQ(anomaly.adya, "G-nonadjacent");
}
TEST(Order, LostUpdate) {
  const auto history = history_of("init=0 a: r(x,0) w(x,1) | b: r(x,0) w(x,2)");
  DerivationSketch d(history);
  const auto there = d.rw(0, 1, "x"), back = d.rw(1, 0, "x");
  const auto forced = d.ww(0, 1, "x", Reason::kNoOverlap, {there});
  d.from_to(there, Point::kBegin, Point::kCommit).from_to(back, Point::kBegin, Point::kCommit);
  d.from_to(forced, Point::kCommit, Point::kBegin);
  const auto anomaly = only(explain(history, Level::kSnapshotIsolation, d.cycle({forced, back})));
  expect_text(anomaly);
  EXPECT_EQ(anomaly.name, "lost-update");
  EXPECT_EQ(anomaly.adya, "G-single");
  // Prefix allows lost updates: there it cannot be what is wrong.
  EXPECT_EQ(only(explain(history, Level::kPrefix, d.cycle({there, back}))).name, "G2-item");
}
TEST(Order, LostUpdateNeedsOneVersion) {
  // Both read 1, but it was written twice.
  const auto history = history_of("a: w(x,1) | b: w(x,1) | c: r(x,1) w(x,2) | d: r(x,1) w(x,3)");
  DerivationSketch d(history);
  d.wr(0, 2, "x", Reason::kOnlyWriter);
  d.wr(1, 3, "x", Reason::kOnlyWriter);
  const auto there = d.rw_assumed(2, 3, "x"), back = d.rw_assumed(3, 2, "x");
  EXPECT_EQ(only(explain(history, Level::kSerializable, d.cycle({there, back}))).name, "G2-item");
}
// One set 2 to 1 and the other 2 to 2: both read the 2, and each wrote its own.
TEST(Order, LostUpdateByCompareAndSet) {
  const auto history = history_of("init=2 a: cas(x,2,1) | b: cas(x,2,3)");
  DerivationSketch d(history);
  const auto there = d.rw(0, 1, "x"), back = d.rw(1, 0, "x");
  const auto anomaly = only(explain(history, Level::kSerializable, d.cycle({there, back})));
  EXPECT_EQ(anomaly.name, "lost-update");
  EXPECT_EQ(anomaly.adya, "G-single");
  EXPECT_TRUE(anomaly.explanation.starts_with(
      "An update was lost. T0 and T1 both read x = 2 and both wrote x. "))
      << anomaly.explanation;
}
// Two versions have this value: whether both saw the same one, nobody knows.
TEST(Order, LostUpdateNeedsToBeSureOfTheVersion) {
  for (const bool twice : {false, true}) {
    const auto history = history_of(std::string("a: w(x,2) | b: w(x,") + (twice ? "2" : "4") +
                                    ") | c: r(x,2) w(x,1) | d: r(x,2) w(x,3)");
    DerivationSketch d(history);
    const auto there = d.rw_assumed(2, 3, "x"), back = d.rw_assumed(3, 2, "x");
    EXPECT_EQ(only(explain(history, Level::kSerializable, d.cycle({there, back}))).name,
              twice ? "G2-item" : "lost-update");
  }
}
TEST(Order, SessionOrderBelowTheCycleIsNamed) {
  const auto history = history_of("s: w(x,1) ; w(x,2) r(y,nil) | b: r(x,1) w(y,1)");
  DerivationSketch d(history);
  const auto so = d.so(0, 1);
  const auto there = d.rw(2, 1, "x", 0, {so}), back = d.rw(1, 2, "y");
  const auto anomaly =
      only(explain(history, Level::kStrongSessionSerializable, d.cycle({there, back})));
  EXPECT_EQ(anomaly.name, "G2-item-process");  // no write skew: serializable allows it
}
TEST(Order, LostUpdateOfLists) {
  const auto history = history_of("a: l(x,[]) a(x,1) | b: l(x,[]) a(x,2) | c: l(x,[1 2])");
  DerivationSketch d(history);
  const auto order = d.ww(0, 1, "x", Reason::kListOrder), missed = d.list_rw(1, 0, "x");
  d.edges()[order].witness = d.op(2, 0);
  EXPECT_EQ(only(explain(history, Level::kSerializable, d.cycle({order, missed}))).name,
            "lost-update");
}
TEST(Order, WriteSkew) {
  const auto history = history_of("z: w(x,1) w(y,1) | a: r(x,1) w(y,2) | b: r(y,1) w(x,3)");
  DerivationSketch d(history);
  const auto x = d.wr(0, 1, "x"), y = d.wr(0, 2, "y");
  const auto there = d.rw(1, 2, "x", 0, {y}), back = d.rw(2, 1, "y", 0, {x});
  const auto anomaly = only(explain(history, Level::kSerializable, d.cycle({there, back})));
  expect_text(anomaly);
  EXPECT_EQ(anomaly.name, "write-skew");
  EXPECT_EQ(anomaly.adya, "G2-item");
}
TEST(Order, StaleReadIsRealTime) {
  const auto history = history_of("a: w(x,1) @0-1500 | b: r(x,nil) @3000-2000000");
  DerivationSketch d(history);
  const auto missed = d.rw(1, 0, "x"), before = d.rt(0, 1);
  const auto anomaly =
      only(explain(history, Level::kStrictSerializable, d.cycle({missed, before})));
  expect_text(anomaly);
  EXPECT_EQ(anomaly.name, "G-single-realtime");
}
TEST(Order, AdjacentReadsAroundThree) {
  const auto history = history_of("a: r(x,nil) w(y,1) | b: r(y,nil) w(z,1) | c: r(z,nil) w(x,1)");
  DerivationSketch d(history);
  const auto a = d.rw(0, 2, "x"), b = d.rw(2, 1, "z"), c = d.rw(1, 0, "y");
  const auto anomaly = only(explain(history, Level::kSerializable, d.cycle({a, b, c})));
  expect_text(anomaly);
  EXPECT_EQ(anomaly.name, "G2-item");
}
TEST(Order, NonadjacentIsCyclic) {
  // rw wr rw: the first and the last touch where the cycle closes.
  const auto history = history_of("a: r(x,nil) w(z,5) | b: w(x,1) | c: r(x,1) r(z,nil)");
  DerivationSketch d(history);
  const auto a = d.rw(0, 1, "x"), b = d.wr(1, 2, "x"), c = d.rw(2, 0, "z");
  EXPECT_EQ(only(explain(history, Level::kSerializable, d.cycle({a, b, c}))).adya, "G2-item");
}
TEST(Order, OwnEdgesVanish) {
  const auto history = history_of("init=0 a: w(x,1) | b: r(x,1) w(y,1) | c: r(y,1) r(x,0)");
  DerivationSketch d(history);
  const auto r1 = d.wr(0, 1, "x"), own = d.own(1), r2 = d.wr(1, 2, "y"), missed = d.rw(2, 0, "x");
  d.from_to(r1, Point::kCommit, Point::kBegin).from_to(own, Point::kBegin, Point::kCommit);
  d.from_to(r2, Point::kCommit, Point::kBegin).from_to(missed, Point::kBegin, Point::kCommit);
  const auto anomaly =
      only(explain(history, Level::kSnapshotIsolation, d.cycle({r1, own, r2, missed})));
  expect_text(anomaly);
  EXPECT_EQ(anomaly.edges.size(), 3u);
  EXPECT_EQ(anomaly.name, "causality-violation");
}
TEST(Order, NoOneOrderIsForced) {
  const auto history = history_of("a: w(x,1) w(y,1) | b: w(x,2) w(y,2) | c: r(x,1) | d: r(y,2)");
  DerivationSketch d(history);
  const auto x = d.wr(0, 2, "x"), y = d.wr(1, 3, "y");
  const auto first = d.ww(0, 1, "x", Reason::kAssumed), second = d.ww(1, 0, "x", Reason::kAssumed);
  const auto back = d.rw_assumed(3, 0, "y");
  (void)x;
  const auto anomaly =
      only(explain(history, Level::kSerializable, d.cases({{first, y, back}, {second, first}})));
  expect_text(anomaly);
  EXPECT_EQ(anomaly.adya, "G-single");  // the weaker claim of the two cases
  EXPECT_EQ(anomaly.edges.size(), 5u);
  EXPECT_EQ(anomaly.edges.back().case_number, 2u);
}
TEST(Order, EveryWriterIsTried) {
  const auto history = history_of("a: w(x,1) ; w(x,2) | b: w(x,1) ; w(x,3) | c: r(x,1)");
  DerivationSketch d(history);
  const auto after_a = d.rt(1, 4), after_b = d.rt(3, 4);
  std::vector<std::uint32_t> missed;
  for (const int writer : {0, 2}) {
    const auto session = d.so(writer, writer + 1);
    missed.push_back(d.rw_assumed(4, writer + 1, "x"));
    d.edges()[missed.back()].because = {session};
  }
  expect_text(only(explain(history, Level::kStrictSerializable,
                           d.cases({{missed[0], after_a}, {missed[1], after_b}}))));
}
TEST(Order, SpeaksOfDuplicateValues) {
  const auto history = history_of("a: w(x,1) | b: w(x,1) r(y,2) | c: r(x,1) w(y,2)");
  DerivationSketch d(history);
  const auto writer = d.wr(1, 2, "x", Reason::kOnlyWriter), back = d.wr(2, 1, "y");
  expect_text(only(explain(history, Level::kSerializable, d.cycle({writer, back}))));
}

// ---- bounds

TEST(Bounds, LongPathsAndListsAreCut) {
  std::string text = "init=0 ";
  for (int i = 0; i < 30; ++i) {
    text += "s" + std::to_string(i) + ": r(k" + std::to_string(i) + ",1) w(k" +
            std::to_string((i + 1) % 30) + ",1) | ";
  }
  text += "z: l(q,[1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16])";
  const auto history = history_of(text);
  DerivationSketch d(history);
  std::vector<std::uint32_t> cycle;
  for (int i = 0; i < 30; ++i)
    cycle.push_back(d.wr(i, (i + 1) % 30, "k" + std::to_string((i + 1) % 30)));
  const auto anomaly = only(explain(history, Level::kCausal, d.cycle(cycle)));
  expect_text(anomaly);
  EXPECT_EQ(anomaly.edges.size(), 30u);  // the structure is whole
}
// That T3 missed T1's write rests on its read of T0's 1, which follows from an order.
TEST(Bounds, AProofThatTakesAnInferredReadForGrantedIsAbridged) {
  const auto history = history_of("a: w(x,1) ; w(x,2) | b: w(x,1) | c: r(x,1)");
  DerivationSketch d(history);
  const auto read = d.wr(0, 3, "x", Reason::kOnlyWriter);
  const auto missed = d.rw(3, 1, "x", 0, {d.so(0, 1)});
  const auto later = d.rt(3, 2), earlier = d.rt(1, 3), back = d.rt(1, 0);
  const auto abridged = [&](const std::vector<std::uint32_t>& cycle) {
    const auto text = only(explain(history, Level::kLinearizable, d.cycle(cycle))).explanation;
    return text.find("This proof is abridged.") != std::string::npos;
  };
  EXPECT_FALSE(abridged({earlier, missed}));  // the read was given
  d.edges()[read].because = {later};
  EXPECT_TRUE(abridged({earlier, missed}));
  EXPECT_FALSE(abridged({read, missed, back}));  // a sentence says why
}
TEST(Bounds, SharedLabelsAreQualified) {
  history::History history = history_of("a: r(x,1) w(y,1) | b: r(y,1) w(x,1)");
  // Two histories of one transaction each number from 0; put together, both are 0.
  history::HistoryBuilder b;
  for (const auto t : {TxnId(0), TxnId(1)}) {
    b.begin(b.session(history.session_name(history.session(t))), history::TxnStatus::kCommitted,
            {.label = 0});
    for (auto i = history.first_op(t); i < history.last_op(t); ++i) b.copy(history, OpId(i));
    b.end();
  }
  const auto both = std::move(b).finish().value();
  levels::Violation violation;
  levels::Edge there, back;
  there.kind = back.kind = levels::EdgeKind::kWriteRead;
  there.from = back.to = TxnId(0);
  there.to = back.from = TxnId(1);
  there.key = both.op(OpId(both.first_op(TxnId(0)) + 1)).key;
  back.key = both.op(OpId(both.first_op(TxnId(0)))).key;
  violation.derivation.edges = {there, back};
  violation.derivation.cycle = {0, 1};
  expect_text(only(explain(both, Level::kCausal, violation)));
}

}  // namespace
}  // namespace cupel::explain
