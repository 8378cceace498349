// Satisfied: orders by hand. Beside each that is accepted stand others, one edit
// away, that are not, and the words of the refusal.
#include <gtest/gtest.h>

#include "certify/certificates.hpp"

namespace cupel::test {
namespace {

using ::testing::Test;

std::string at(std::string_view level, std::string_view order, std::string_view more = "") {
  return R"({"level":")" + std::string(level) + R"(","verdict":"satisfied","order":)" +
         std::string(order) + std::string(more) + "}";
}

// Accepted, or refused with a reason that has these words in it.
void accepts(std::string_view history, const std::string& proof, history::Time drift = 0) {
  EXPECT_EQ(trouble(history, proof, drift), "") << history << "\n" << proof;
}
void refuses(std::string_view history, const std::string& proof, std::string_view words,
             history::Time drift = 0) {
  const auto found = trouble(history, proof, drift);
  EXPECT_NE(found, "") << history << "\n" << proof;
  EXPECT_NE(found.find(words), std::string::npos) << found;
}

TEST(Order, IsReplayedByValue) {
  const auto history = "s1: w(x,1) | s2: r(x,1) w(x,2) | s3: r(x,2)";
  accepts(history, at("serializable", "[0,1,2]"));
  refuses(history, at("serializable", "[1,0,2]"), "did not read what key 0");
  refuses(history, at("serializable", "[0,2,1]"), "did not read what key 0");
  refuses("s1: w(x,1) | s2: r(x,1) w(x,2) | s3: r(x,3)", at("serializable", "[0,1,2]"),
          "did not read");
}

TEST(Order, HasEveryCommittedTransactionOnce) {
  const auto history = "s1: w(x,1) | s2: r(x,1) | s3: ! w(x,9) | s4: ? w(x,7)";
  accepts(history, at("serializable", "[0,1]"));
  accepts(history, at("serializable", "[0,1,3]"));
  refuses(history, at("serializable", "[0,3,1]"), "did not read");
  refuses(history, at("serializable", "[0]"), "stands in no order");
  refuses(history, at("serializable", "[0,1,1]"), "second time");
  refuses(history, at("serializable", "[0,1,2]"), "is aborted");
  refuses(history, at("serializable", "[0,1,4]"), "numbered from 0");
  accepts(history, at("snapshot-isolation", "[0,0,1,1]"));
  refuses(history, at("snapshot-isolation", "[0,0,1]"), "stands once");
  refuses(history, at("snapshot-isolation", "[0,0,1,1,1]"), "third time");
}

TEST(Order, KeepsSessionsWhereTheLevelDoes) {
  const auto history = "s1: w(x,1) ; r(x,nil)";
  accepts(history, at("serializable", "[1,0]"));
  refuses(history, at("strong-session-serializable", "[1,0]"), "session order");
  accepts(history, at("snapshot-isolation", "[1,0,1,0]"));
  refuses(history, at("strong-session-snapshot-isolation", "[1,0,1,0]"), "session order");
  refuses(history, at("prefix", "[0,1,1,0]"), "session order");
  // Nothing follows an indeterminate transaction; it follows others.
  accepts("s1: ? w(x,1) ; r(x,nil) | s2: r(x,1)", at("strong-session-serializable", "[1,0,2]"));
  refuses("s1: w(x,1) ; ? w(x,2) | s2: r(x,2) | s3: r(x,1)",
          at("strong-session-serializable", "[1,2,0,3]"), "session order");
}

TEST(Order, KeepsRealTimeWhereTheLevelDoes) {
  const auto history = "s1: w(x,1) @10-20 | s2: r(x,nil) @30-40";
  accepts(history, at("strong-session-serializable", "[1,0]"));
  refuses(history, at("strict-serializable", "[1,0]"), "completed before");
  accepts(history, at("strict-serializable", "[1,0]"), 5);
  refuses(history, at("strict-serializable", "[1,0]"), "completed before", 4);
  accepts("s1: w(x,1) @10-30 | s2: r(x,nil) @30-40", at("strict-serializable", "[1,0]"));
  // Commits in real time; begins as well at strong-snapshot-isolation.
  accepts(history, at("generalized-snapshot-isolation", "[1,0,0,1]"));
  refuses(history, at("generalized-snapshot-isolation", "[1,0,1,0]"), "completed before");
  refuses(history, at("strong-snapshot-isolation", "[1,0,0,1]"), "completed before");
  // Nobody knows when an indeterminate transaction ends.
  accepts("s1: ? w(x,1) @10-20 | s2: r(x,nil) @30-40 | s3: r(x,1) @50-60",
          at("strict-serializable", "[1,0,2]"));
  // No times, no real time.
  refuses("s1: w(x,1)", at("strict-serializable", "[0]"), "needs the times");
}

TEST(Order, KeepsWritersOfAKeyApartAtSnapshotIsolation) {
  const auto lost = "s1: r(x,nil) w(x,1) | s2: r(x,nil) w(x,2)";
  accepts(lost, at("prefix", "[0,1,0,1]"));
  refuses(lost, at("snapshot-isolation", "[0,1,0,1]"), "both write key 0");
  accepts("s1: r(x,nil) w(x,1) | s2: r(x,nil) w(y,2)", at("snapshot-isolation", "[0,1,0,1]"));
  refuses("s1: w(x,1) | s2: w(x,2)", at("snapshot-isolation", "[0,1,1,0]"), "both write key 0");
}

TEST(Order, SnapshotsAreTakenAtTheBegin) {
  const auto skew = "s1: r(x,nil) w(y,1) | s2: r(y,nil) w(x,1)";
  accepts(skew, at("snapshot-isolation", "[0,1,0,1]"));
  refuses(skew, at("snapshot-isolation", "[0,0,1,1]"), "did not read");
  refuses(skew, at("serializable", "[0,1]"), "did not read");
}

TEST(Order, OwnWritesComeFirst) {
  accepts("s1: w(x,1) r(x,1) w(x,2) r(x,2)", at("serializable", "[0]"));
  refuses("s1: w(x,1) r(x,1) w(x,2) r(x,1)", at("serializable", "[0]"), "own write");
  refuses("s1: w(x,1) r(x,nil)", at("serializable", "[0]"), "own write");
}

TEST(Order, KnowsListsDeletesRangesAndComparisons) {
  accepts("s1: a(x,1) a(x,2) | s2: l(x,[1 2])", at("serializable", "[0,1]"));
  refuses("s1: a(x,1) a(x,2) | s2: l(x,[1])", at("serializable", "[0,1]"), "did not read");
  accepts("s1: a(x,1) | s2: a(x,2) l(x,[1 2])", at("serializable", "[0,1]"));
  refuses("s1: a(x,1) | s2: a(x,2) l(x,[1 2])", at("serializable", "[1,0]"),
          "own appends do not stand");
  refuses("s1: a(x,1) | s2: a(x,2) l(x,[2 1])", at("serializable", "[0,1]"), "own write");
  // At prefix what precedes own appends is what the commit appends to.
  accepts("s1: a(x,1) | s2: l(x,[]) a(x,2) l(x,[1 2])", at("prefix", "[1,0,0,1]"));
  refuses("s1: a(x,1) | s2: l(x,[]) a(x,2) l(x,[2])", at("prefix", "[1,0,0,1]"),
          "own appends do not stand");
  accepts("s1: i(a,1) i(b,2) ; d(a) | s2: range(a,b,[b=2])", at("serializable", "[0,1,2]"));
  refuses("s1: i(a,1) i(b,2) ; d(a) | s2: range(a,b,[b=2])", at("serializable", "[0,2,1]"),
          "did not read");
  accepts("s1: i(a,1) ; d(a,9) | s2: range(a,b,[])", at("serializable", "[0,1,2]"));
  accepts("s1: w(x,1) | s2: cas(x,1,2) | s3: cas!(x,1,3)", at("serializable", "[0,1,2]"));
  refuses("s1: w(x,1) | s2: cas(x,1,2) | s3: cas!(x,1,3)", at("serializable", "[0,2,1]"),
          "did not read");
  accepts("init=0 s1: r(x,0)", at("serializable", "[0]"));
  // A comparison of an indeterminate transaction that took effect saw what it expected.
  accepts("s1: w(x,1) | s2: ? cas(x,1,2) | s3: r(x,2)", at("serializable", "[0,1,2]"));
  refuses("s1: w(x,1) | s2: ? cas(x,5,2) | s3: r(x,2)", at("serializable", "[0,1,2]"),
          "did not read");
  accepts("s1: w(x,1) | s2: ? cas(x,5,2) | s3: r(x,1)", at("serializable", "[0,2]"));
}

TEST(Order, ByKeyIsLinearizable) {
  const auto history = "s1: w(x,1) @10-20 ; r(y,nil) @30-40 | s2: r(x,1) @15-35 ; w(y,1) @36-50";
  const auto proof = [](std::string_view orders) {
    return R"({"level":"linearizable","verdict":"satisfied","orders":)" + std::string(orders) + "}";
  };
  accepts(history, proof(R"([{"key":0,"order":[0,2]},{"key":1,"order":[1,3]}])"));
  refuses(history, proof(R"([{"key":0,"order":[2,0]},{"key":1,"order":[1,3]}])"), "did not read");
  refuses(history, proof(R"([{"key":0,"order":[0,2]},{"key":1,"order":[3,1]}])"), "did not read");
  refuses(history, proof(R"([{"key":0,"order":[0,2]}])"), "stands in no order");
  refuses(history, proof(R"([{"key":0,"order":[0,2,1]},{"key":1,"order":[3]}])"), "does not touch");
  refuses(history, proof(R"([{"key":0,"order":[0,2]},{"key":0,"order":[1,3]}])"), "two orders");
  refuses("s1: w(x,1) w(y,1) @10-20", proof(R"([{"key":0,"order":[0]}])"), "more than one key");
  refuses("s1: w(x,1) @10-20 | s2: r(x,nil) @30-40", proof(R"([{"key":0,"order":[1,0]}])"),
          "completed before");
}

TEST(WeakOrder, ExtendsSessionsAndReads) {
  const auto history = "s1: w(x,1) ; w(y,1) | s2: r(y,1)";
  for (const auto level : {"read-committed", "read-atomic", "causal"}) {
    accepts(history, at(level, "[0,1,2]"));
    refuses(history, at(level, "[1,0,2]"), "session order");
    refuses(history, at(level, "[0,2,1]"), "stands after it");
    refuses(history, at(level, "[0,1]"), "does not stand in the order");
  }
  accepts("s1: ? w(x,1) ; w(y,1) | s2: r(x,1)", at("causal", "[1,0,2]"));
}

TEST(WeakOrder, ReadCommittedLooksAtEarlierReads) {
  const auto history = "s1: w(x,1) | s2: w(x,2) w(y,2) | s3: r(y,2) r(x,1)";
  accepts(history, at("read-committed", "[1,0,2]"));
  refuses(history, at("read-committed", "[0,1,2]"),
          "an earlier read of the transaction is from it");
  // The other way round nothing was seen before.
  accepts("s1: w(x,1) | s2: w(x,2) w(y,2) | s3: r(x,1) r(y,2)", at("read-committed", "[0,1,2]"));
  // Each read counts.
  accepts("s1: w(x,1) | s2: w(x,2) | s3: r(x,1) r(x,2)", at("read-committed", "[0,1,2]"));
  refuses("s1: w(x,1) | s2: w(x,2) | s3: r(x,1) r(x,2)", at("read-committed", "[1,0,2]"),
          "earlier read");
  refuses("s1: w(x,1) | s2: r(x,1) r(x,nil)", at("read-committed", "[0,1]"), "earlier read");
  // The keys of one range read are read at one moment.
  accepts("s1: i(a,1) i(b,1) | s2: i(b,2) | s3: range(a,b,[a=1 b=2])",
          at("read-committed", "[1,0,2]"));
}

TEST(WeakOrder, FurtherRowsOfARangeOrderNothingAtReadCommitted) {
  const auto rc = "read-committed";
  const auto history = "s1: w(a,1) | s2: ? w(a,2) | s3: range(a,b,[a=1 a=2])";
  // Whatever the order; but somebody in it wrote each row.
  accepts(history, at(rc, "[0,1,2]"));
  accepts(history, at(rc, "[1,0,2]"));
  accepts(history, at(rc, "[0,2,1]"));
  refuses(history, at(rc, "[0,2]"), "a row of key 0, a that nobody in the order wrote");
  accepts("s1: w(a,1) | s2: ? w(a,2) | s3: range(a,b,[a=1 a=1])", at(rc, "[0,2]"));
  refuses("s1: w(a,1) | s2: w(a,2) w(a,3) | s3: range(a,b,[a=1 a=2])", at(rc, "[0,1,2]"),
          "nobody in the order wrote");
  accepts("init=0 s1: w(a,1) | s2: range(a,b,[a=1 a=0])", at(rc, "[0,1]"));
  refuses("s1: w(a,1) | s2: range(a,b,[a=1 a=0])", at(rc, "[0,1]"), "nobody in the order wrote");
  // The first row is a read like any other.
  refuses(history, at(rc, "[1,2,0]"), "stands after it");
  refuses("s1: w(a,1) | s2: w(a,2) | s3: w(a,3) range(a,b,[a=3 a=1])", at(rc, "[0,1,2]"),
          "own write");
  for (const auto level : {"read-atomic", "causal"})
    refuses(history, at(level, "[0,1,2]"), "nobody in the order wrote");
  refuses("s1: w(a,1) | s2: w(a,2) | s3: range(a,b,[a=1 a=2])",
          at("strong-session-serializable", "[0,1,2]"), "did not read what");
}

TEST(WeakOrder, ReadAtomicLooksAtOneStep) {
  const auto fractured = "s1: w(x,1) w(y,1) | s2: w(y,2) | s3: r(y,2) r(x,1)";
  accepts(fractured, at("read-atomic", "[0,1,2]"));
  refuses(fractured, at("read-atomic", "[1,0,2]"), "the transaction reads from it");
  accepts(fractured, at("read-committed", "[1,0,2]"));
  const auto session = "s1: w(x,1) | s2: w(x,2) ; r(x,1)";
  accepts(session, at("read-atomic", "[1,0,2]"));
  refuses(session, at("read-atomic", "[0,1,2]"), "earlier in its session");
  accepts(session, at("read-committed", "[0,1,2]"));
  refuses("s1: w(x,1) | s2: w(x,2) | s3: r(x,1) r(x,2)", at("read-atomic", "[0,1,2]"),
          "nobody in the order wrote");
}

TEST(WeakOrder, CausalLooksAtPaths) {
  const auto history = "s1: w(x,1) | s2: w(x,2) w(y,2) | s3: r(y,2) w(z,3) | s4: r(z,3) r(x,1)";
  accepts(history, at("causal", "[1,0,2,3]"));
  refuses(history, at("causal", "[0,1,2,3]"), "steps of session order and reads");
  accepts(history, at("read-atomic", "[0,1,2,3]"));
  // The same after an indeterminate transaction.
  const auto lone = "s1: w(x,1) | s2: ? w(x,2) w(y,2) | s3: r(y,2) w(z,3) | s4: r(z,3) r(x,1)";
  accepts(lone, at("causal", "[1,0,2,3]"));
  refuses(lone, at("causal", "[0,1,2,3]"), "steps of session order and reads");
}

TEST(WeakOrder, SaysWhoseVersionWasReadWhereSeveralFit) {
  const auto history = "s1: w(x,1) | s2: w(x,1) | s3: r(x,1)";
  accepts(history, at("causal", "[0,1,2]", R"(,"reads_from":[[2,0,1]])"));
  accepts(history, at("causal", "[0,1,2]", R"(,"reads_from":[[2,0,0]])"));
  refuses(history, at("causal", "[0,1,2]"), "several transactions");
  refuses(history, at("causal", "[0,1,2]", R"(,"reads_from":[[2,0,null]])"), "cannot have read");
  refuses(history, at("causal", "[0,1,2]", R"(,"reads_from":[[2,0,2]])"), "cannot have read");
  refuses(history, at("causal", "[0,1,2]", R"(,"reads_from":[[2,0,0],[2,0,1]])"), "named twice");
  refuses(history, at("causal", "[0,1,2]", R"(,"reads_from":[[2,0,0],[1,0,0]])"), "does not read");
  refuses(history, at("causal", "[0,2,1]", R"(,"reads_from":[[2,0,1]])"), "stands after it");
}

TEST(WeakOrder, LaysListsOneAfterTheOther) {
  const auto history = "s1: a(x,1) a(x,2) | s2: a(x,3) | s3: l(x,[1 2 3]) | s4: l(x,[1 2])";
  accepts(history, at("causal", "[0,1,2,3]"));
  refuses(history, at("causal", "[1,0,2,3]"), "is not how the list begins");
  refuses("s1: a(x,1) a(x,2) | s2: l(x,[1])", at("causal", "[0,1]"), "in the middle");
  accepts("s1: a(x,1) | s2: a(x,2) l(x,[1 2])", at("causal", "[0,1]"));
  refuses("s1: a(x,1) | s2: a(x,2) l(x,[1 2])", at("causal", "[1,0]"),
          "is not how the list begins");
  refuses("s1: a(x,1) | s2: l(x,[1 2]) a(x,2)", at("causal", "[0,1]"), "appended later");
  accepts("s1: a(x,1) ; a(x,2) | s2: l(x,[1]) l(x,[1 2])", at("read-committed", "[0,1,2]"));
  refuses("s1: a(x,1) ; a(x,2) | s2: l(x,[1]) l(x,[1 2])", at("read-atomic", "[0,1,2]"),
          "another list");
}

TEST(Certificate, AnswersFollowFromProofs) {
  const auto h = history_of("s1: w(x,1) | s2: r(x,1)");
  auto c = certificate(h, at("strong-session-serializable", "[0,1]"));
  for (const auto level :
       {"serializable", "snapshot-isolation", "strong-session-snapshot-isolation", "prefix",
        "causal", "read-atomic", "read-committed"}) {
    c["answers"][0]["level"] = level;
    EXPECT_EQ(trouble(h, c), "") << level;
  }
  for (const auto level :
       {"strict-serializable", "generalized-snapshot-isolation", "linearizable"}) {
    c["answers"][0]["level"] = level;
    EXPECT_NE(trouble(h, c), "") << level;
  }
  c["answers"][0]["level"] = "serializable";
  c["answers"].push_back(c["answers"][0]);
  EXPECT_NE(trouble(h, c).find("has an answer already"), std::string::npos);
  c["answers"].erase(1);
  c["answers"][0]["verdict"] = "violated";
  EXPECT_NE(trouble(h, c).find("proves that"), std::string::npos);
  c["answers"][0]["verdict"] = "satisfied";
  c["answers"][0]["proof"] = 1;
  EXPECT_NE(trouble(h, c).find("there are 1 proofs"), std::string::npos);
}

TEST(Certificate, IsOfOneHistory) {
  const auto h = history_of("s1: w(x,1) | s2: r(x,1)"),
             other = history_of("s1: w(x,1) | s2: r(x,nil)");
  const auto c = certificate(h, at("serializable", "[0,1]"));
  EXPECT_EQ(trouble(h, c), "");
  EXPECT_NE(trouble(other, c).find("another history"), std::string::npos);
  const auto longer = history_of("s1: w(x,1) | s2: r(x,1) r(x,1)");
  EXPECT_NE(trouble(longer, c).find("operations"), std::string::npos);
}

// With clocks that are wrong enough every order fits: the certificate does not choose.
TEST(Certificate, ClocksAreTheCallersToSay) {
  const auto h = history_of("init=0 a: w(x,1) @0-10 | b: r(x,0) @20-30");
  const auto c = certificate(h, at("strict-serializable", "[1, 0]"), 6);
  EXPECT_EQ(trouble(h, c, 6), "");
  EXPECT_EQ(trouble(h, c, 5), "");
  EXPECT_NE(trouble(h, c, 4).find("for clocks up to 6 ns wrong, and was checked for 4 ns"),
            std::string::npos);
  EXPECT_NE(trouble(h, c), "");
}

TEST(Certificate, IsACertificate) {
  const auto h = history_of("s1: w(x,1)");
  using certify::Validity;
  const auto validity = [&](std::string_view text) { return certify::verify(h, text).validity; };
  EXPECT_EQ(validity(""), Validity::kBadInput);
  EXPECT_EQ(validity("[]"), Validity::kBadInput);
  EXPECT_EQ(validity("{"), Validity::kBadInput);
  EXPECT_EQ(validity(R"({"cupel_certificate": 2})"), Validity::kBadInput);
  EXPECT_EQ(validity(R"({"cupel_certificate": 1})"), Validity::kNotValid);
  auto c = certificate(h, at("serializable", "[0]"));
  EXPECT_EQ(validity(c.dump()), Validity::kValid);
  c["keys"] = {{"0", "x"}};
  EXPECT_EQ(validity(c.dump()), Validity::kValid);
  c["keys"] = {{"1", "x"}};
  EXPECT_EQ(validity(c.dump()), Validity::kNotValid);
  c.erase("keys");
  for (const auto field : {"history", "clock_drift_ns", "answers", "proofs"}) {
    auto without = c;
    without.erase(field);
    EXPECT_EQ(validity(without.dump()), Validity::kNotValid) << field;
  }
  c["more"] = 1;
  EXPECT_NE(trouble(h, c).find("`more`"), std::string::npos);
  c.erase("more");
  c["proofs"][0]["orders"] = Json::array();
  EXPECT_NE(trouble(h, c), "");
}

}  // namespace
}  // namespace cupel::test
