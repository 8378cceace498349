// Violated: evidence by hand, one rule after the other. Beside what is accepted stand
// others, one edit away, that are not, and the words of the refusal.
#include <gtest/gtest.h>

#include "certify/certificates.hpp"
#include "data/history/builder.hpp"

namespace cupel::test {
namespace {

std::string at(std::string_view level, std::string_view body) {
  return R"({"level":")" + std::string(level) + R"(","verdict":"violated",)" + std::string(body) +
         "}";
}
std::string derivation(std::string_view level, std::string_view edges, std::string_view ending) {
  return at(level,
            R"("derivation":{"edges":[)" + std::string(edges) + "]," + std::string(ending) + "}");
}
std::string replaced(std::string text, std::string_view what, std::string_view with) {
  const auto found = text.find(what);
  EXPECT_NE(found, std::string::npos) << what;
  return text.replace(found, what.size(), with);
}

void accepts(std::string_view history, const std::string& proof, history::Time drift = 0) {
  EXPECT_EQ(trouble(history, proof, drift), "") << history << "\n" << proof;
}
void refuses(std::string_view history, const std::string& proof, std::string_view words,
             history::Time drift = 0) {
  const auto found = trouble(history, proof, drift);
  EXPECT_NE(found, "") << history << "\n" << proof;
  EXPECT_NE(found.find(words), std::string::npos) << found << "\n" << proof;
}

// --- internal ---

std::string internal(std::string_view level, std::string_view name, int transaction, int read,
                     int key, std::string_view other = "null",
                     std::string_view other_transaction = "null") {
  return at(level, R"("internal":[{"name":")" + std::string(name) + R"(","transaction":)" +
                       std::to_string(transaction) + R"(,"read":)" + std::to_string(read) +
                       R"(,"key":)" + std::to_string(key) + R"(,"other":)" + std::string(other) +
                       R"(,"other_transaction":)" + std::string(other_transaction) + "}]");
}

TEST(Internal, ThinAirAbortedIntermediateAndFutureReads) {
  const auto rc = "read-committed";
  accepts("s1: r(x,7)", internal(rc, "thin-air-read", 0, 0, 0));
  refuses("s1: r(x,7) | s2: w(x,7)", internal(rc, "thin-air-read", 0, 0, 0), "no such thing");
  refuses("s1: r(x,7) | s2: ? w(x,7)", internal(rc, "thin-air-read", 0, 0, 0), "no such thing");
  refuses("s1: r(x,nil)", internal(rc, "thin-air-read", 0, 0, 0), "no such thing");
  refuses("s1: ? r(x,7)", internal(rc, "thin-air-read", 0, 0, 0), "not known what");
  accepts("s1: ! w(x,1) | s2: r(x,1)", internal(rc, "aborted-read", 1, 1, 0, "0", "0"));
  refuses("s1: ! w(x,1) | s2: r(x,1)", internal(rc, "aborted-read", 1, 1, 0), "no such thing");
  refuses("s1: ! w(x,1) | s2: r(x,1)", internal(rc, "aborted-read", 1, 1, 0, "0", "1"),
          "other_transaction");
  refuses("s1: ! w(x,1) | s2: r(x,1) | s3: w(x,1)", internal(rc, "aborted-read", 1, 1, 0, "0", "0"),
          "no such thing");
  refuses("s1: w(x,1) | s2: r(x,1)", internal(rc, "aborted-read", 1, 1, 0, "0", "0"),
          "no such thing");
  accepts("s1: w(x,1) w(x,2) | s2: r(x,1)", internal(rc, "intermediate-read", 1, 2, 0, "0", "0"));
  refuses("s1: w(x,1) w(x,2) | s2: r(x,2)", internal(rc, "intermediate-read", 1, 2, 0, "1", "0"),
          "no such thing");
  refuses("s1: w(x,1) w(x,2) | s2: r(x,1)", internal(rc, "intermediate-read", 1, 2, 0, "1", "0"),
          "no such thing");
  accepts("s1: r(x,1) w(x,1)", internal(rc, "future-read", 0, 0, 0, "1", "0"));
  refuses("s1: r(x,1) w(x,1) | s2: w(x,1)", internal(rc, "future-read", 0, 0, 0, "1", "0"),
          "no such thing");
  refuses("s1: r(x,7)", internal(rc, "thin-air", 0, 0, 0), "the name of an internal anomaly");
}

TEST(Internal, OwnWrites) {
  const auto rc = "read-committed";
  accepts("s1: w(x,1) r(x,nil)", internal(rc, "not-my-own-write", 0, 1, 0, "0", "0"));
  refuses("s1: w(x,1) r(x,1)", internal(rc, "not-my-own-write", 0, 1, 0, "0", "0"),
          "no such thing");
  accepts("s1: w(x,1) w(x,2) r(x,1)", internal(rc, "not-my-last-write", 0, 2, 0, "1", "0"));
  refuses("s1: w(x,1) w(x,2) r(x,3)", internal(rc, "not-my-last-write", 0, 2, 0, "1", "0"),
          "no such thing");
  accepts("s1: a(x,1) a(x,2) l(x,[2])", internal(rc, "not-my-own-write", 0, 2, 0, "1", "0"));
  refuses("s1: a(x,1) a(x,2) l(x,[1 2])", internal(rc, "not-my-own-write", 0, 2, 0, "1", "0"),
          "no such thing");
}

TEST(Internal, NonRepeatableReadsAreAllowedAtReadCommitted) {
  const auto history = "s1: w(x,1) | s2: r(x,nil) r(x,1)";
  accepts(history, internal("read-atomic", "non-repeatable-read", 1, 2, 0, "1", "1"));
  refuses(history, internal("read-committed", "non-repeatable-read", 1, 2, 0, "1", "1"), "allows");
  refuses("s1: w(x,1) | s2: r(x,1) r(x,1)",
          internal("read-atomic", "non-repeatable-read", 1, 2, 0, "1", "1"), "no such thing");
  refuses("s1: w(x,1) | s2: r(x,nil) w(x,1) r(x,1)",
          internal("read-atomic", "non-repeatable-read", 1, 3, 0, "1", "1"), "no such thing");
}

// What is claimed of a range read that returned a key several times is true of one of the rows.
TEST(Internal, RowsOfOneRangeRead) {
  const auto rc = "read-committed", ra = "read-atomic", different = "non-repeatable-read";
  const auto two = "s1: w(x,1) ; w(x,2) | s2: range(x,x,[x=1 x=2])";
  accepts(two, internal(ra, different, 2, 2, 0, "2", "2"));
  refuses(two, internal(rc, different, 2, 2, 0, "2", "2"), "allows");
  refuses(two, internal(ra, different, 2, 2, 0), "no such thing");
  refuses(two, internal(ra, different, 2, 2, 0, "1", "1"), "no such thing");
  const auto same = "s1: w(x,1) ; w(x,2) | s2: range(x,x,[x=2 x=2])";
  refuses(same, internal(ra, different, 2, 2, 0, "2", "2"), "no such thing");
  const auto once = "s1: w(x,1) ; w(x,2) | s2: range(x,x,[x=2])";
  refuses(once, internal(ra, different, 2, 2, 0, "2", "2"), "no such thing");
  refuses("s1: range(x,x,[x=7 x=7])", internal(ra, different, 0, 0, 0, "0", "0"), "no such thing");
  for (const auto* rows : {"[x=1 x=7]", "[x=7 x=1]"}) {
    accepts("s1: w(x,1) | s2: range(x,x," + std::string(rows) + ")",
            internal(rc, "thin-air-read", 1, 1, 0));
    refuses("s1: w(x,1) | s2: range(x,x," + std::string(rows) + ") | s3: w(x,7)",
            internal(rc, "thin-air-read", 1, 1, 0), "no such thing");
  }
  accepts("s1: w(x,1) ; ! w(x,2) | s2: range(x,x,[x=1 x=2])",
          internal(rc, "aborted-read", 2, 2, 0, "1", "1"));
  refuses("s1: w(x,1) ; ? w(x,2) | s2: range(x,x,[x=1 x=2])",
          internal(rc, "aborted-read", 2, 2, 0, "1", "1"), "no such thing");
  accepts("s1: w(x,1) range(x,x,[x=1 x=2]) | s2: w(x,2)",
          internal(rc, "not-my-own-write", 0, 1, 0, "0", "0"));
  refuses("s1: w(x,1) range(x,x,[x=1 x=1]) | s2: w(x,2)",
          internal(rc, "not-my-own-write", 0, 1, 0, "0", "0"), "no such thing");
}

TEST(Internal, Lists) {
  const auto rc = "read-committed";
  accepts("s1: l(x,[1 2]) | s2: l(x,[2 1]) | s3: a(x,1) | s4: a(x,2)",
          internal(rc, "incompatible-order", 1, 1, 0, "0", "0"));
  refuses("s1: l(x,[1 2]) | s2: l(x,[1]) | s3: a(x,1) | s4: a(x,2)",
          internal(rc, "incompatible-order", 1, 1, 0, "0", "0"), "no such thing");
  accepts("s1: a(x,1) a(x,2) | s2: l(x,[2 1])", internal(rc, "incompatible-order", 1, 2, 0));
  refuses("s1: a(x,1) a(x,2) | s2: l(x,[1 2])", internal(rc, "incompatible-order", 1, 2, 0),
          "no such thing");
  accepts("s1: a(x,1) | s2: l(x,[1 1])", internal(rc, "duplicate-element", 1, 1, 0));
  refuses("s1: a(x,1) | s2: l(x,[1 1]) | s3: a(x,1)", internal(rc, "duplicate-element", 1, 1, 0),
          "no such thing");
  accepts("s1: a(x,1) a(x,2) | s2: l(x,[1])", internal(rc, "intermediate-read", 1, 2, 0, "0", "0"));
  refuses("s1: a(x,1) a(x,2) | s2: l(x,[1 2])",
          internal(rc, "intermediate-read", 1, 2, 0, "0", "0"), "no such thing");
  accepts("s1: a(x,1) ; a(x,2) | s2: l(x,[1]) l(x,[1 2])",
          internal("causal", "non-repeatable-read", 2, 3, 0, "2", "2"));
}

TEST(Internal, FailedComparisons) {
  accepts("init=0 s1: cas!(x,0,1)", internal("read-committed", "failed-compare-read", 0, 0, 0));
  refuses("init=0 s1: cas!(x,0,1) | s2: w(x,5)",
          internal("read-committed", "failed-compare-read", 0, 0, 0), "no such thing");
}

// --- derivations ---

// Transactions 0 and 1 both read x = nil and write x.
constexpr auto kLostUpdate = "s1: r(x,nil) w(x,1) | s2: r(x,nil) w(x,2)";
constexpr auto kInitialReads =
    R"({"from":0,"to":1,"kind":"rw","reason":"initial","key":0,"read":0,"write":3},
       {"from":1,"to":0,"kind":"rw","reason":"initial","key":0,"read":2,"write":1})";

TEST(Cycle, OfTwoInitialReads) {
  const auto proof = derivation("serializable", kInitialReads, R"("cycle":[0,1])");
  accepts(kLostUpdate, proof);
  refuses(kLostUpdate, replaced(proof, "[0,1]", "[0]"), "begins in");
  refuses(kLostUpdate, replaced(proof, "[0,1]", "[0,0]"), "ends in");
  refuses(kLostUpdate, replaced(proof, "[0,1]", "[]"), "at least one");
  refuses(kLostUpdate, replaced(proof, "[0,1]", "[0,2]"), "edge 2");
  refuses(kLostUpdate, replaced(proof, R"("read":2)", R"("read":0)"), "not of transaction 1");
  refuses(kLostUpdate, replaced(proof, R"("write":3)", R"("write":2)"), "the last write");
  refuses(kLostUpdate, replaced(proof, R"("reason":"initial")", R"("reason":"given")"),
          "no such rule");
  refuses(kLostUpdate, replaced(proof, R"("from":0,"to":1)", R"("from":0,"to":1,"at":"bc")"),
          "one event");
  refuses("s1: r(x,nil) w(x,1) | s2: r(x,1) w(x,2)", proof, "cannot have seen");
  // Who else wrote null may have been read from.
  refuses("s1: r(x,nil) w(x,1) | s2: r(x,nil) w(x,2) | s3: w(x,nil)", proof, "under a choice");
  refuses("s1: r(x,nil) w(x,1) | s2: r(x,nil) w(x,2) | s3: ? w(x,nil)", proof, "under a choice");
  accepts("s1: r(x,nil) w(x,1) | s2: r(x,nil) w(x,2) | s3: ! w(x,nil)", proof);
  // At causal the same is no contradiction.
  refuses(kLostUpdate, derivation("causal", kInitialReads, R"("cycle":[0,1])"), "only so and wr");
}

TEST(Cycle, OfOverlappingWriters) {
  // 0 begins before 1 commits, so it commits before 1 begins; but 1 begins before 0 commits.
  const auto edges =
      R"({"from":0,"to":1,"at":"bc","kind":"rw","reason":"initial","key":0,"read":0},
         {"from":0,"to":1,"at":"cb","kind":"ww","reason":"no-overlap","key":0,"writes":[1,3],"because":[0]},
         {"from":1,"to":0,"at":"bc","kind":"rw","reason":"initial","key":0,"read":2})";
  const auto proof = derivation("snapshot-isolation", edges, R"("cycle":[1,2])");
  accepts(kLostUpdate, proof);
  refuses(kLostUpdate, replaced(proof, "[1,2]", "[0,2]"), "ends in");
  refuses(kLostUpdate, replaced(proof, R"("because":[0])", R"("because":[1])"), "before edge 1");
  refuses(kLostUpdate, replaced(proof, R"("because":[0])", R"("because":[])"), "at least one");
  refuses(kLostUpdate, replaced(proof, R"("at":"cb")", R"("at":"cc")"), "it ends in");
  refuses(kLostUpdate, replaced(proof, R"("writes":[1,3])", R"("writes":[3,1])"), "the last write");
  refuses(kLostUpdate, derivation("prefix", edges, R"("cycle":[1,2])"), "it ends in");
  refuses("s1: r(x,nil) w(y,1) | s2: r(x,nil) w(x,2)", proof, "does not write");
}

TEST(Cycle, SessionsAndRealTime) {
  const auto history = "s1: w(x,1) @10-20 ; r(x,nil) @30-40";
  const auto edges = R"({"from":0,"to":1,"kind":"so","reason":"given"},
                        {"from":1,"to":0,"kind":"rw","reason":"initial","key":0,"read":1})";
  const auto so = [&](std::string_view level) {
    return derivation(level, edges, R"("cycle":[0,1])");
  };
  accepts(history, so("strong-session-serializable"));
  refuses(history, so("serializable"), "no session order");
  for (const auto level : {"read-atomic", "causal"}) accepts(history, so(level));
  refuses(history, so("read-committed"), "not of an earlier read");
  refuses("s1: ? w(x,1) @10- ; r(x,nil) @30-40", so("strong-session-serializable"),
          "indeterminate");
  refuses("s1: w(x,1) @10-20 | s2: r(x,nil) @30-40", so("strong-session-serializable"),
          "the same session");
  const auto rt = replaced(so("strict-serializable"), R"("so")", R"("rt")");
  accepts(history, rt);
  accepts("s1: w(x,1) @10-20 | s2: r(x,nil) @30-40", rt);
  accepts(history, rt, 4);
  refuses(history, rt, "not before", 5);
  refuses("s1: w(x,1) @10-20 | s2: r(x,nil) @20-40", rt, "not before");
  refuses("s1: ? w(x,1) @10-20 | s2: r(x,nil) @30-40", rt, "indeterminate");
  refuses(history, replaced(so("strong-session-serializable"), R"("so")", R"("rt")"),
          "no real time");
  accepts("s1: w(x,1) @10-20 | s2: r(x,nil) @30-40",
          replaced(so("linearizable"), R"("so")", R"("rt")"));
  refuses("s1: w(x,1) @10-20 | s2: r(x,nil) @30-40 | s3: w(y,1) @50-60",
          derivation("linearizable", R"({"from":0,"to":2,"kind":"rt","reason":"given"})",
                     R"("cycle":[0])"),
          "different keys");
  // Commits only, at generalized-snapshot-isolation.
  const auto split = [](std::string_view points) {
    return derivation(
        "generalized-snapshot-isolation",
        R"({"from":0,"to":1,"at":")" + std::string(points) + R"(","kind":"rt","reason":"given"})",
        R"("cycle":[0])");
  };
  refuses(history, split("cb"), "about commits");
  refuses(history, split("cc"), "it ends in");
  refuses(history, split("bc"), "it ends in");
}

// Transactions without operations, whose times contradict their session: no object has
// them, so linearizable does not see them; strict serializability does.
TEST(Cycle, TransactionsWithoutOperationsTouchNoObject) {
  history::HistoryBuilder b;
  const auto session = b.session("s");
  b.begin(session, history::TxnStatus::kCommitted, {.invoke = 30, .complete = 40, .label = 0});
  b.end();
  b.begin(session, history::TxnStatus::kCommitted, {.invoke = 10, .complete = 20, .label = 1});
  b.end();
  const auto h = std::move(b).finish();
  ASSERT_TRUE(h.ok());
  const auto cycle_at = [&](std::string_view level) {
    const auto proof = derivation(level, R"({"from":0,"to":1,"kind":"so","reason":"given"},
                                            {"from":1,"to":0,"kind":"rt","reason":"given"})",
                                  R"("cycle":[0,1])");
    return trouble(*h, certificate(*h, proof));
  };
  EXPECT_EQ(cycle_at("strict-serializable"), "");
  EXPECT_NE(cycle_at("linearizable").find("or none"), std::string::npos);
}

// 0 writes x = 1, 1 after it x = 2 and y = 2; 2 reads that y and then the old x.
constexpr auto kMonotonic = "s1: w(x,1) ; w(x,2) w(y,2) | s2: r(y,2) r(x,1)";

TEST(Cycle, ForcedByWhatIsVisible) {
  const auto edges = R"({"from":1,"to":2,"kind":"wr","reason":"given","key":1,"write":2,"read":3},
                        {"from":1,"to":0,"kind":"ww","reason":"visible","key":0,"writes":[1,0],"read":4,"because":[0]},
                        {"from":0,"to":1,"kind":"so","reason":"given"})";
  for (const auto level :
       {"read-committed", "read-atomic", "causal", "strong-session-serializable"}) {
    const auto proof = derivation(level, edges, R"("cycle":[1,2])");
    accepts(kMonotonic, proof);
    refuses(kMonotonic, replaced(proof, R"("write":2)", R"("write":1)"), "the last write");
    refuses(kMonotonic, replaced(proof, R"("read":4)", R"("read":3)"), "not known to read");
    refuses(kMonotonic, replaced(proof, R"("from":1,"to":0,)", R"("from":0,"to":1,)"),
            "the last write");
    refuses(kMonotonic, replaced(proof, R"("kind":"so")", R"("kind":"wr")"), "expected the field");
    refuses("s1: w(x,1) ; w(x,2) w(y,2) | s2: r(y,2) r(x,1) | s3: w(x,1)", proof, "under a choice");
    refuses("s1: w(x,1) ; w(x,2) w(y,2) | s2: r(y,2) r(x,1) | s3: w(y,2)", proof,
            "another transaction's version");
  }
  // The other way round, y is read after x.
  const auto later = "s1: w(x,1) ; w(x,2) w(y,2) | s2: r(x,1) r(y,2)";
  const auto swapped = replaced(replaced(edges, R"("read":3)", R"("read":4)"),
                                R"("read":4,"because")", R"("read":3,"because")");
  refuses(later, derivation("read-committed", swapped, R"("cycle":[1,2])"),
          "not of an earlier read");
  accepts(later, derivation("read-atomic", swapped, R"("cycle":[1,2])"));
}

// Only the first row of a key is a read that orders: a cycle through another proves nothing.
TEST(Cycle, NoEdgeComesFromAFurtherRow) {
  const auto edges = R"({"from":0,"to":1,"kind":"wr","reason":"given","key":0,"write":0,"read":2},
                        {"from":1,"to":0,"kind":"wr","reason":"given","key":1,"write":3,"read":1})";
  const auto proof = derivation("read-committed", edges, R"("cycle":[0,1])");
  accepts("s1: w(y,1) range(x,x,[x=2 x=1]) | s2: r(y,1) w(x,2) | s3: w(x,1)", proof);
  refuses("s1: w(y,1) range(x,x,[x=1 x=2]) | s2: r(y,1) w(x,2) | s3: w(x,1)", proof,
          "cannot have seen");
}

TEST(Cycle, OneStepIsNotAPath) {
  const auto history = "s1: w(x,1) ; w(x,2) w(y,2) | s2: r(y,2) w(z,3) | s3: r(z,3) r(x,1)";
  const auto edges = R"({"from":1,"to":2,"kind":"wr","reason":"given","key":1,"write":2,"read":3},
                        {"from":2,"to":3,"kind":"wr","reason":"given","key":2,"write":4,"read":5},
                        {"from":1,"to":0,"kind":"ww","reason":"visible","key":0,"writes":[1,0],"read":6,"because":[0,1]},
                        {"from":0,"to":1,"kind":"so","reason":"given"})";
  const auto proof = derivation("causal", edges, R"("cycle":[2,3])");
  accepts(history, proof);
  refuses(history, derivation("read-atomic", edges, R"("cycle":[2,3])"), "expected one");
  refuses(history, replaced(proof, "[0,1]", "[1]"), "the path begins in");
  refuses(history, replaced(proof, "[0,1]", "[1,0]"), "begins in");
}

TEST(Cycle, ListsOrderTheirWriters) {
  const auto history =
      "s1: a(x,1) | s2: a(x,2) | s3: a(x,3) | s4: l(x,[1 2]) w(y,1) | s5: r(y,1) w(z,1) | s6: "
      "r(z,1)";
  const auto edge = [](int from, int to, int first, int second) {
    return R"({"from":)" + std::to_string(from) + R"(,"to":)" + std::to_string(to) +
           R"(,"kind":"ww","reason":"list-order","key":0,"writes":[)" + std::to_string(first) +
           "," + std::to_string(second) + R"(],"read":3})";
  };
  // No cycle, but the edge is what is checked: the message shows it.
  const auto rejected = [&](int from, int to) {
    return trouble(history, derivation("causal", edge(from, to, from, to), R"("cycle":[0])"));
  };
  EXPECT_NE(rejected(0, 1).find("begins in"), std::string::npos) << rejected(0, 1);
  EXPECT_NE(rejected(0, 2).find("begins in"), std::string::npos);
  EXPECT_NE(rejected(1, 2).find("begins in"), std::string::npos);
  EXPECT_NE(rejected(1, 0).find("no append"), std::string::npos);
  EXPECT_NE(rejected(2, 0).find("no element"), std::string::npos);
  EXPECT_NE(rejected(0, 0).find("two transactions"), std::string::npos);
  EXPECT_NE(rejected(0, 3).find("does not write"), std::string::npos);
  // Appends of one transaction stand together.
  accepts(
      "s1: a(x,1) a(x,3) | s2: a(x,2) | s3: l(x,[1 2 3])",
      derivation(
          "read-committed",
          R"({"from":0,"to":1,"kind":"ww","reason":"list-order","key":0,"writes":[1,2],"read":3},
                        {"from":1,"to":0,"kind":"ww","reason":"list-order","key":0,"writes":[2,1],"read":3})",
          R"("cycle":[0,1])"));
  // It is not known whose an element is that two appended.
  EXPECT_NE(
      trouble(
          "s1: a(x,1) | s2: a(x,1) | s3: a(x,2) | s4: l(x,[1 2])",
          derivation(
              "read-committed",
              R"({"from":0,"to":2,"kind":"ww","reason":"list-order","key":0,"writes":[0,2],"read":3})",
              R"("cycle":[0])"))
          .find("no element"),
      std::string::npos);
}

TEST(Cycle, OverwrittenAndAssumed) {
  const auto history = "s1: w(x,1) ; w(x,2) w(y,1) | s2: r(x,1) r(y,1)";
  const auto edges = R"({"from":0,"to":1,"kind":"so","reason":"given"},
                        {"from":2,"to":1,"kind":"rw","reason":"overwritten","key":0,"read":3,"writer":0,"because":[0]},
                        {"from":1,"to":2,"kind":"wr","reason":"given","key":1,"write":2,"read":4})";
  const auto proof = derivation("strong-session-serializable", edges, R"("cycle":[1,2])");
  accepts(history, proof);
  refuses(history, replaced(proof, R"("writer":0)", R"("writer":1)"), "cannot have seen");
  refuses(history, replaced(proof, R"("writer":0)", R"("writer":null)"), "other than the initial");
  refuses(history, replaced(proof, R"("because":[0])", R"("because":[2])"), "before edge 1");
  refuses(history, replaced(proof, R"("reason":"overwritten")", R"("reason":"initial")"),
          "no meaning here");
  const auto assumed =
      replaced(replaced(proof, R"("reason":"overwritten")", R"("reason":"assumed")"),
               R"(,"because":[0])", "");
  refuses(history, assumed, "under a choice (transaction 0 before 1)");
}

// Two writers of each value: who was read is a choice.
TEST(Choices, ExcludedWriters) {
  // 0 and 1 write x = 1; 2, after 1 in its session, overwrites it; 3 reads
  // 2's y, then x = 1: not from 1, so from 0.
  const auto history =
      "s1: w(x,1) w(z,1) | s2: w(x,1) ; w(x,2) w(y,2) | s3: r(y,2) r(x,1) r(z,nil)";
  const auto edges =
      R"({"from":1,"to":2,"kind":"so","reason":"given"},
         {"from":2,"to":3,"kind":"wr","reason":"given","key":2,"write":4,"read":5},
         {"from":2,"to":1,"kind":"ww","reason":"visible","key":0,"writes":[3,2],"read":6,"because":[1]},
         {"from":0,"to":3,"kind":"wr","reason":"only-writer","key":0,"write":0,"read":6,"excluded":[{"writer":1,"cycle":[0,2]}]},
         {"from":3,"to":0,"kind":"rw","reason":"initial","key":1,"read":7})";
  const auto proof = derivation("causal", edges, R"("cycle":[3,4])");
  accepts(history, proof);
  accepts(history, derivation("strong-session-serializable", edges, R"("cycle":[3,4])"));
  refuses(history, replaced(proof, R"({"writer":1,"cycle":[0,2]})", ""), "are excluded");
  refuses(history, replaced(proof, R"("writer":1)", R"("writer":2)"), "need not be");
  refuses(history,
          replaced(proof, R"("cycle":[0,2]})", R"("cycle":[2,0]},{"writer":1,"cycle":[0,2]})"),
          "twice");
  refuses(history, replaced(proof, R"("only-writer")", R"("given")"), "no meaning here");
  refuses(
      "s1: w(x,1) w(z,1) | s2: w(x,1) ; w(x,2) w(y,2) | s3: r(y,2) r(x,1) r(z,nil) | s4: w(x,1)",
      proof, "are excluded");
  const auto assumed = replaced(replaced(proof, R"("only-writer")", R"("assumed")"),
                                R"(,"excluded":[{"writer":1,"cycle":[0,2]}])", "");
  refuses(history, assumed, "under a choice (operation 6 saw transaction 0");
}

TEST(Choices, BothOrdersOfTwoWriters) {
  // Half of each: whichever of the two writers comes first, a read is wrong.
  const auto history = "s1: w(x,1) w(y,1) | s2: w(x,2) w(y,2) | s3: r(x,1) r(y,2)";
  const auto edges =
      R"({"from":0,"to":2,"kind":"wr","reason":"given","key":0,"write":0,"read":4},
         {"from":1,"to":2,"kind":"wr","reason":"given","key":1,"write":3,"read":5},
         {"from":2,"to":1,"kind":"rw","reason":"assumed","key":0,"read":4,"writer":0},
         {"from":2,"to":0,"kind":"rw","reason":"assumed","key":1,"read":5,"writer":1})";
  const std::string choices = R"("choices":[{"before":[0,1]}],)";
  const auto proof =
      derivation("serializable", edges, choices + R"("clauses":[[1,2],[0,3]],"refutation":[[]])");
  accepts(history, proof);
  refuses(history, replaced(proof, "[[1,2],[0,3]]", "[[1,2]]"), "unit propagation");
  refuses(history, replaced(proof, "[[1,2],[0,3]]", "[[1,2],[1,3]]"), "begins in");
  refuses(history, replaced(proof, R"("refutation":[[]])", R"("refutation":[])"), "empty clause");
  refuses(history, replaced(proof, R"("refutation":[[]])", R"("refutation":[[1]])"),
          "empty clause");
  refuses(history, replaced(proof, R"({"before":[0,1]})", R"({"before":[0,2]})"),
          "no key in common");
  refuses(history, replaced(proof, R"({"before":[0,1]})", R"({"before":[0,1]},{"before":[1,0]})"),
          "the same choice twice");
  accepts(history, replaced(proof, R"({"before":[0,1]})", R"({"before":[1,0]})"));
  refuses(history, replaced(proof, choices, R"("choices":[],)"), "none of the choices");
  refuses("s1: w(x,1) w(y,1) | s2: w(x,2) w(y,2) | s3: r(x,1) r(y,2) | s4: w(x,1)", proof,
          "another transaction's version");
}

TEST(Choices, ReadsAndBounds) {
  // x = 1 was written twice in one session; whichever was read, s2 overwrote it before.
  const auto history =
      "s1: w(x,1) ; w(x,1) w(z,1) ; w(y,1) | s2: r(z,1) w(x,2) w(y,2) | s3: r(y,2) r(x,1)";
  const auto edges =
      R"({"from":3,"to":4,"kind":"wr","reason":"given","key":2,"write":6,"read":7},
         {"from":3,"to":1,"kind":"ww","reason":"visible","key":0,"writes":[5,1],"read":8,"bound":"earlier","because":[0]},
         {"from":1,"to":3,"kind":"wr","reason":"given","key":1,"write":2,"read":4})";
  const auto choices = R"("choices":[{"read":8,"key":0,"writer":0},{"read":8,"key":0,"writer":1},
                                    {"read":8,"key":0,"writer":1,"bound":"earlier"}],)";
  const auto proof =
      derivation("causal", edges, std::string(choices) + R"("clauses":[[1,2]],"refutation":[[]])");
  accepts(history, proof);
  refuses(history,
          replaced(proof, R"("bound":"earlier","because")", R"("bound":"later","because")"),
          "found the bound");
  refuses(history,
          replaced(proof, R"("read":8,"bound":"earlier","because")", R"("read":8,"because")"),
          "unit propagation");
  refuses(history, replaced(proof, R"({"read":8,"key":0,"writer":0},)", ""), "unit propagation");
  refuses(history,
          replaced(proof, R"({"read":8,"key":0,"writer":0},)", R"({"read":8,"key":0,"writer":3},)"),
          "cannot have seen");
  // Nothing follows an indeterminate transaction: the first of them is no earlier one.
  refuses("s1: ? w(x,1) ; w(x,1) w(z,1) ; w(y,1) | s2: r(z,1) w(x,2) w(y,2) | s3: r(y,2) r(x,1)",
          proof, "unit propagation");
  // At a level without sessions a bound means nothing.
  refuses(history,
          derivation("serializable", edges,
                     std::string(choices) + R"("clauses":[[1,2]],"refutation":[[]])"),
          "no session order");
}

TEST(Cases, AssumedTransactions) {
  // The comparison was read from, so it happened; but it cannot have seen 5.
  const auto history = "s1: ? cas(x,5,2) | s2: r(x,2)";
  const std::string happened =
      R"({"internal":[{"name":"thin-air-read","transaction":0,"read":0,"key":0,"other":null,"other_transaction":null}]})";
  const std::string never =
      R"({"internal":[{"name":"aborted-read","transaction":1,"read":1,"key":0,"other":0,"other_transaction":0}]})";
  const auto proof = [&](std::string_view t, const std::string& one, const std::string& two) {
    return at("read-committed", R"("suppose":{"transaction":)" + std::string(t) +
                                    R"(,"happened":)" + one + R"(,"never":)" + two + "}");
  };
  accepts(history, proof("0", happened, never));
  refuses(history, proof("0", never, happened), "no such thing");
  refuses(history, proof("0", happened, happened), "not known what");
  refuses(history, proof("1", happened, never), "not indeterminate");
  refuses(history,
          proof("0",
                R"({"suppose":{"transaction":0,"happened":)" + happened + R"(,"never":)" +
                    happened + "}}",
                never),
          "is assumed already");
  refuses("s1: ? cas(x,5,2) | s2: r(x,2) | s3: w(x,5)", proof("0", happened, never),
          "no such thing");
  refuses(history,
          at("read-committed", R"("suppose":{"transaction":0,"happened":)" + happened + "}"),
          "expected the field `never`");
}

TEST(Cases, PlacesOfRepeatedElements) {
  // 1 was appended by s1 and by s2; whichever follows 2, the 1 that s1 appended before 2
  // does not precede it.
  const auto history = "s1: a(x,1) a(x,2) | s2: a(x,1) | s3: l(x,[2 1])";
  const auto entry = [](int position, int operation, int read) {
    return R"({"places":[[0,)" + std::to_string(position) + "," + std::to_string(operation) +
           R"(]],"proof":{"internal":[{"name":"incompatible-order","transaction":2,"read":)" +
           std::to_string(read) + R"(,"key":0,"other":null,"other_transaction":null}]}})";
  };
  const auto proof = [](const std::string& entries) {
    return at("read-committed", R"("placings":[)" + entries + "]");
  };
  accepts(history, proof(entry(1, 0, 3) + "," + entry(1, 2, 3)));
  refuses(history, proof(entry(1, 0, 3)), "is missing");
  refuses(history, proof(entry(1, 0, 3) + "," + entry(1, 0, 3)), "twice");
  refuses(history, proof(entry(1, 0, 3) + "," + entry(1, 1, 3)), "is missing");
  refuses(history, proof(entry(1, 0, 3) + "," + entry(1, 2, 3) + "," + entry(1, 1, 3)),
          "cannot stand");
  refuses(history, proof(entry(2, 0, 3) + "," + entry(2, 2, 3)), "has no place");
  refuses(history, proof(""), "at least one");
  refuses("s1: a(x,1) a(x,2) | s2: a(x,1) | s3: l(x,[1 2])",
          proof(entry(0, 0, 3) + "," + entry(0, 2, 3)), "no such thing");
}

}  // namespace
}  // namespace cupel::test
