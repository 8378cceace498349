// Known deliveries: the decision against the axioms, read for exactly the updates that each replica
// had seen, over random histories with random deliveries; and what a user reads about it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "crdt/analysis/analyze.hpp"
#include "crdt/families.hpp"
#include "crdt/io/certificate.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/io/report.hpp"
#include "crdt/model/times.hpp"
#include "crdt/verify/verify.hpp"
#include "crdt/workload/generate.hpp"
#include "oracle.hpp"
#include "random_deliveries.hpp"
#include "random_history.hpp"
#include "support/parameter_name.hpp"
#include "support/rounds.hpp"

namespace cupel::crdt {
namespace {

Analysis analyzed(const History& history, bool strict = false, bool also_without = false) {
  const auto visibility = Visibility::of(history);
  EXPECT_TRUE(visibility.ok()) << (visibility.ok() ? "" : visibility.error().to_string());
  base::Budget budget;
  return analyze(
      history,
      {.axioms = {.strict = strict}, .visibility = &*visibility, .also_without = also_without},
      budget);
}

History with_context(const std::string& type, const std::string& text) {
  auto history = read(text, "h", *type_of(type));
  EXPECT_TRUE(history.ok()) << (history.ok() ? "" : history.error().to_string());
  return std::move(history).value();
}

std::string summary(const std::string& type, const std::string& text) {
  const auto found = analyzed(with_context(type, text));
  if (!found.explanation) return "";
  return found.explanation->name + ": " + found.explanation->summary;
}

class Contexts : public testing::TestWithParam<Type> {};

TEST_P(Contexts, DecideAsTheAxiomsAndTheirCertificatesAreValid) {
  const Type type = GetParam();
  base::Random random(77 + static_cast<std::uint64_t>(type));
  int satisfied = 0, violated = 0;
  for (int i = 0; i < test::rounds(CUPEL_CRDT_HISTORIES); ++i) {
    History h = random_history(type, small_shape(type, i, random), random);
    const auto rule = random.chance(0.6)   ? DeliveryRule::kCausal
                      : random.chance(0.5) ? DeliveryRule::kFifo
                                           : DeliveryRule::kApplied;
    const RandomDeliveries deliveries(h, rule, random);
    if (!h.context.is_known()) continue;
    const auto visibility = Visibility::of(h);
    ASSERT_TRUE(visibility.ok()) << visibility.error().to_string() << "\n" << write(h);
    for (OpId id = 0; id < h.ops.size(); ++id) {
      for (OpId u = 0; u < h.ops.size(); ++u) {
        if (is_read(h.ops[u].kind) || u == id) continue;
        ASSERT_EQ(visibility->sees(id, u), (deliveries.seen[id] >> u & 1U) != 0)
            << id << " " << u << "\n"
            << write(h);
      }
    }
    const bool strict = random.chance(0.3);
    const auto found = analyzed(h, strict);
    ASSERT_NE(found.decision.verdict, Verdict::kUnknown);
    const bool well = found.decision.verdict == Verdict::kSatisfied;
    const bool admitted = rule == DeliveryRule::kCausal
                              ? admitted_with(h, deliveries.past, strict)
                              : admitted_as_seen(h, deliveries.seen_and_own(), strict);
    ASSERT_EQ(well, admitted) << write(h);
    const auto verified = verify(h, certificate_of(h, found));
    ASSERT_EQ(verified.status, CertificateStatus::kValid)
        << verified.verdict << ": " << verified.reason << "\n"
        << write(h) << certificate_of(h, found);
    if (!well) {
      ASSERT_TRUE(found.explanation);
      ASSERT_FALSE(found.explanation->summary.empty());
    }
    ++(well ? satisfied : violated);
  }
  EXPECT_GT(satisfied, test::rounds(CUPEL_CRDT_HISTORIES) / 40);
  EXPECT_GT(violated, test::rounds(CUPEL_CRDT_HISTORIES) / 40);
}

// Times beside deliveries, of a clock that all share. An update that was invoked after the end of
// an operation that had seen it is found, by definition; without one, the decision is that of the
// axioms. Where the deliveries are only checked, no delivery from the future explains the reads.
TEST_P(Contexts, NoReadIsExplainedByALaterUpdateWhereTimesAreGiven) {
  const Type type = GetParam();
  const bool needs_deliveries = replicated_type(type).traits().needs_deliveries;
  const int kHistories = CUPEL_CRDT_HISTORIES;
  base::Random random(177 + static_cast<std::uint64_t>(type));
  int in_time = 0, too_late = 0, only_by_times = 0;
  for (int i = 0; i < kHistories; ++i) {
    History h = random_history(type, small_shape(type, i, random), random);
    std::vector<std::int64_t> now(h.replicas.size(), 0);
    for (Operation& op : h.ops) {
      auto& clock = now[op.replica];
      if (random.chance(0.6)) op.begun = clock = clock + random.between(0, 20);
      if (random.chance(0.6)) op.ended = clock = clock + random.between(0, 10);
    }
    const auto rule = random.chance(0.7)   ? DeliveryRule::kCausal
                      : random.chance(0.5) ? DeliveryRule::kFifo
                                           : DeliveryRule::kApplied;
    const RandomDeliveries deliveries(h, rule, random);
    if (!h.context.is_known()) continue;
    // By the operation's own times, and those that its replica's others give it.
    std::optional<std::pair<OpId, OpId>> expected;
    for (OpId id = 0; id < h.ops.size(); ++id) {
      for (OpId u = 0; u < h.ops.size(); ++u) {
        if (!(deliveries.seen[id] >> u & 1U) || h.ops[u].replica == h.ops[id].replica) continue;
        std::int64_t begun = kAlways, ended = kNever;
        for (const Operation& op : h.ops) {
          if (op.replica == h.ops[u].replica && op.seq <= h.ops[u].seq)
            begun = std::max(begun, op.begun);
          if (op.replica == h.ops[id].replica && op.seq >= h.ops[id].seq)
            ended = std::min(ended, op.ended);
        }
        if (begun > ended) expected = {id, u};
      }
    }
    spread_times(h);
    ASSERT_EQ(h.backward_clock_line, 0U);
    const auto visibility = Visibility::of(h);
    ASSERT_TRUE(visibility.ok());
    const auto late = late_update(h, *visibility);
    ASSERT_EQ(late.has_value(), expected.has_value()) << write(h);
    if (late) {
      ASSERT_TRUE(deliveries.seen[late->op] >> late->update & 1U) << write(h);
      ASSERT_GT(h.ops[late->update].begun, h.ops[late->op].ended) << write(h);
    }
    ++(late ? too_late : in_time);
    const auto found = analyzed(h, false, /*also_without=*/!needs_deliveries);
    if (!late && rule == DeliveryRule::kCausal) {
      ASSERT_EQ(found.decision.verdict == Verdict::kSatisfied,
                admitted_with(h, deliveries.past, false))
          << write(h);
    }
    if (needs_deliveries) continue;
    const bool explained = admitted_by_oracle(h, false);
    ASSERT_EQ(found.without_context, explained ? Verdict::kSatisfied : Verdict::kViolated)
        << write(h);
    only_by_times += !explained && found.decision.verdict == Verdict::kSatisfied;
  }
  EXPECT_GT(in_time, kHistories / 20);
  EXPECT_GT(too_late, kHistories / 20);
  if (!needs_deliveries) {
    EXPECT_GT(only_by_times, 0);
  }
}

TEST_P(Contexts, OfCorrectReplicasAreSatisfiedAndOfWrongOnesViolated) {
  const Type type = GetParam();
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    GenerateOptions options;
    options.type = {type};
    options.seed = seed;
    options.ops = is_map(type) ? 1200 : 400;  // a document has many places
    options.keys = 2;
    options.context = true;
    const auto correct = generate(options).value();
    const auto read_again = read(write(correct), "h", {type});
    ASSERT_TRUE(read_again.ok());
    EXPECT_EQ(analyzed(*read_again).decision.verdict, Verdict::kSatisfied) << seed;
    for (const auto& bug : bugs_of(type)) {
      options.bug = bug;
      const auto wrong = generate(options).value();
      const auto found = analyzed(wrong);
      ASSERT_EQ(found.decision.verdict, Verdict::kViolated) << bug << " " << seed;
      // The moves of a tree are made fewer by leaving out one after the other.
      EXPECT_LE(found.explanation->core.ops.size(), type == Type::kTree ? 24U : 10U)
          << bug << " " << seed;
      const auto verified = verify(wrong, certificate_of(wrong, found));
      EXPECT_EQ(verified.status, CertificateStatus::kValid) << verified.reason;
    }
    options.bug.clear();
  }
}

TEST_P(Contexts, AreUnknownWithoutTime) {
  GenerateOptions options;
  options.type = {GetParam()};
  options.context = true;
  const auto history = generate(options).value();
  const auto visibility = Visibility::of(history).value();
  base::Budget budget(std::chrono::duration<double>(0), 0);
  const auto found = analyze(history, {.visibility = &visibility}, budget);
  EXPECT_EQ(found.decision.verdict, Verdict::kUnknown);
  EXPECT_EQ(found.limit, "time");
}

INSTANTIATE_TEST_SUITE_P(Types, Contexts, testing::ValuesIn(all_types()), test::parameter_name);

// The set of delta-crdts: the remove arrives, and has no effect.
const char* const kRemoveWithoutEffect = R"({"process":0,"f":"add","value":"a"}
{"process":1,"f":"deliver","value":["0:0"]}
{"process":1,"f":"read","value":["a"]}
{"process":0,"f":"remove","value":"a"}
{"process":1,"f":"deliver","value":["0:1"]}
{"process":1,"f":"read","value":["a"]}
)";

TEST(Context, FindsARemoveThatArrivedWithoutEffect) {
  const auto history = with_context("or-set", kRemoveWithoutEffect);
  base::Budget budget;
  EXPECT_EQ(decide(history, {}, budget).verdict, Verdict::kSatisfied);
  const auto found = analyzed(history, false, /*also_without=*/true);
  EXPECT_EQ(
      as_text({.file = "h", .history = &history, .analysis = found}),
      "h\tadd-wins-set\tviolated\n"
      "  lost-remove: line 6 (replica 1) shows \"a\"; it had received remove(\"a\") of replica "
      "0 (line 4), which had seen every add that it had received\n"
      "  it takes 3 of 4 operations:\n"
      "    line 1  replica 0  add(\"a\")\n"
      "    line 4  replica 0  remove(\"a\")\n"
      "    line 6  replica 1  read() = {\"a\"}  <- this one\n"
      "  context-contradiction: other deliveries explain the reads, but not the recorded ones\n");
}

TEST(Context, NamesWhatAReadHadReceived) {
  EXPECT_EQ(
      summary("or-set", R"({"process":0,"f":"add","value":"a"}
{"process":1,"f":"deliver","value":["0:0"]}
{"process":1,"f":"contains","value":["a",false]}
)"),
      "lost-add: line 3 (replica 1) does not show \"a\"; it had received add(\"a\") of replica 0 "
      "(line 1), and no remove that had seen this add");
  EXPECT_EQ(summary("or-set", R"({"process":0,"f":"add","value":"a"}
{"process":1,"f":"version","value":[]}
{"process":1,"f":"read","value":["a"]}
)"),
            "not-received: line 3 (replica 1) shows \"a\"; it had not received add(\"a\") of "
            "replica 0 (line 1)");
  // A dec of 3 that was lost would explain it as well, but only the inc came twice.
  EXPECT_EQ(
      summary("counter", R"({"process":0,"f":"inc","value":3}
{"process":0,"f":"dec","value":3}
{"process":1,"f":"deliver","value":["0:0","0:1"]}
{"process":1,"f":"deliver","value":["0:0"]}
{"process":1,"f":"read","value":3}
)"),
      "doubled-increment: line 5 (replica 1) returned 3; what it had received adds up to 0; it "
      "would be right if inc(3) of replica 0 (line 1), which it had received more than once, had "
      "counted twice");
  EXPECT_EQ(
      summary("counter", R"({"process":0,"f":"inc","value":3}
{"process":1,"f":"deliver","value":["0:0"]}
{"process":1,"f":"read","value":6}
)"),
      "doubled-increment: line 3 (replica 1) returned 6; what it had received adds up to 3; it "
      "would be right if inc(3) of replica 0 (line 1) had counted twice");
  EXPECT_EQ(
      summary("lww", R"({"process":0,"f":"write","value":1}
{"process":0,"f":"write","value":2}
{"process":1,"f":"version","value":["0:1"]}
{"process":1,"f":"read","value":1}
)"),
      "stale-read: line 4 (replica 1) returned 1; it had received write(2) of replica 0 (line "
      "2), which had overwritten it");
  EXPECT_EQ(
      summary("rga", R"({"process":0,"f":"addAfter","value":[null,"a"]}
{"process":0,"f":"remove","value":"a"}
{"process":1,"f":"deliver","value":{"0":2}}
{"process":1,"f":"read","value":["a"]}
)"),
      "removed-character-shown: line 4 (replica 1) shows \"a\"; it had received remove(\"a\") of "
      "replica 0 (line 2)");
}

// The rules differ where an update arrives before one that its replica had seen.
TEST(Context, TheRuleSaysWhenAnEarlyUpdateIsVisible) {
  const std::string lines = R"({"process":0,"f":"inc","value":1}
{"process":1,"f":"deliver","value":["0:0"]}
{"process":1,"f":"inc","value":10}
{"process":2,"f":"deliver","value":["1:0"]}
{"process":2,"f":"read","value":VALUE}
{"process":2,"f":"deliver","value":["0:0"]}
{"process":2,"f":"read","value":11}
)";
  const auto verdict = [&](const std::string& rule, const std::string& value) {
    auto text = lines;
    text.replace(text.find("VALUE"), 5, value);
    return analyzed(
               with_context("counter", "{\"f\":\"delivery\",\"value\":\"" + rule + "\"}\n" + text))
        .decision.verdict;
  };
  EXPECT_EQ(verdict("causal", "0"), Verdict::kSatisfied);
  EXPECT_EQ(verdict("causal", "10"), Verdict::kViolated);
  EXPECT_EQ(verdict("fifo", "10"), Verdict::kSatisfied);
  EXPECT_EQ(verdict("applied", "0"), Verdict::kViolated);
}

// By the rule `applied` there are no clocks, but the lines say what was newly seen.
TEST(Context, AnExecutionOfWhatWasAppliedIsShown) {
  const auto history = with_context("or-set", R"({"f":"delivery","value":"applied"}
{"process":0,"f":"add","value":"a"}
{"process":1,"f":"deliver","value":["0:0"]}
{"process":1,"f":"read","value":["a"]}
)");
  const auto visibility = Visibility::of(history).value();
  EXPECT_EQ(as_text({.file = "h",
                     .history = &history,
                     .analysis = analyzed(history),
                     .show_witness = true,
                     .visibility = &visibility}),
            "h\tadd-wins-set\tsatisfied\n"
            "  an execution, each operation with what its replica had newly seen:\n"
            "       1  0  add(\"a\")\n"
            "       2  1  read() = {\"a\"}  sees 1\n");
}

TEST(Context, NotConvergedNamesWhatIsMissing) {
  const auto history = with_context("or-set", R"({"process":0,"f":"add","value":"a"}
{"process":0,"f":"read","value":["a"]}
{"process":1,"f":"version","value":[]}
{"process":1,"f":"read","value":[]}
)");
  const auto visibility = Visibility::of(history).value();
  base::Budget budget;
  const auto text =
      as_text({.file = "h",
               .history = &history,
               .analysis = analyze(history, {.visibility = &visibility, .converge = true}, budget),
               .visibility = &visibility});
  EXPECT_NE(text.find("replica 1 had not received add(\"a\") of replica 0 (line 1)"),
            std::string::npos)
      << text;
}

// A restart from a saved document is a new process.
TEST(Context, ASavedDocumentBringsWhatItsReplicaHadSeen) {
  const std::string lines = R"({"process":0,"f":"add","value":"a"}
{"process":0,"f":"send","id":"saved"}
{"process":0,"f":"add","value":"lost"}
{"process":"0 again","f":"deliver","value":["saved"]}
)";
  EXPECT_EQ(summary("or-set", lines + R"({"process":"0 again","f":"read","value":["a"]})"), "");
  EXPECT_EQ(summary("or-set", lines + R"({"process":"0 again","f":"read","value":["a","lost"]})"),
            "not-received: line 5 (replica \"0 again\") shows \"lost\"; it had not received "
            "add(\"lost\") of replica 0 (line 3)");
}

// Each returns what arrived last: no last writer, and no convergence.
TEST(Context, ReadsThatHadSeenTheSameMustAgree) {
  const std::string writes = R"({"process":0,"f":"write","value":1}
{"process":1,"f":"write","value":2}
{"process":0,"f":"deliver","value":["1:0"]}
{"process":1,"f":"deliver","value":["0:0"]}
{"process":0,"f":"read","value":2}
)";
  const auto compared = [&](const std::string& last) {
    const auto history = with_context("lww", writes + last);
    const auto visibility = Visibility::of(history).value();
    base::Budget budget;
    const auto found =
        analyze(history, {.visibility = &visibility, .converged_only = true}, budget);
    const auto verified = verify(history, certificate_of(history, found));
    EXPECT_EQ(verified.status, CertificateStatus::kValid) << verified.reason;
    return found.explanation ? found.explanation->summary : "";
  };
  EXPECT_EQ(compared(R"({"process":1,"f":"read","value":2})"), "");
  EXPECT_EQ(
      compared(R"({"process":1,"f":"read","value":1})"),
      "read() = 2 of replica 0 (line 5) and read() = 1 of replica 1 (line 6) had received the "
      "same updates");
  EXPECT_EQ(compared(R"({"process":2,"f":"read","value":7})"), "");
}

// Two concurrent writes of one value: whichever a read returned, the orders contradict each other,
// and the certificate has all that shows it.
TEST(Context, NoChoiceAmongEqualWritesFits) {
  const auto history = with_context("lww", R"({"process":0,"f":"write","value":1}
{"process":1,"f":"write","value":1}
{"process":2,"f":"write","value":2}
{"process":3,"f":"version","value":["0:0","1:0","2:0"]}
{"process":3,"f":"read","value":1}
{"process":4,"f":"version","value":["0:0","2:0"]}
{"process":4,"f":"read","value":2}
{"process":5,"f":"version","value":["1:0","2:0"]}
{"process":5,"f":"read","value":2}
{"process":6,"f":"write","value":7}
{"process":6,"f":"read","value":7}
)");
  const auto found = analyzed(history);
  ASSERT_EQ(found.decision.verdict, Verdict::kViolated);
  EXPECT_EQ(found.explanation->core.ops, (std::vector<OpId>{0, 1, 2, 3, 4, 5}));
  EXPECT_NE(found.explanation->summary.find("whichever of the writes of one value"),
            std::string::npos);
  const auto verified = verify(history, certificate_of(history, found));
  EXPECT_EQ(verified.status, CertificateStatus::kValid) << verified.reason;
}

// A map of Yjs: its keys have an order each, and one of a timestamp for all of them does not exist.
const char* const kKeysApart = R"({"process":2,"f":"write","key":"x4","value":0}
{"process":0,"f":"write","key":"x4","value":7}
{"process":0,"f":"write","key":"x3","value":10}
{"process":1,"f":"write","key":"x3","value":11}
{"process":1,"f":"write","key":"x4","value":16}
{"process":0,"f":"version","value":["1:0"]}
{"process":0,"f":"read","key":"x3","value":11}
{"process":1,"f":"version","value":["0:0"]}
{"process":1,"f":"read","key":"x4","value":7}
)";

TEST(Context, TheKeysOfAMapHaveAnOrderEach) {
  for (const auto& [type, expected] :
       {std::pair{"lww", Verdict::kViolated}, std::pair{"lww-map", Verdict::kSatisfied}}) {
    const auto history = with_context(type, kKeysApart);
    const auto found = analyzed(history, false, /*also_without=*/true);
    EXPECT_EQ(found.decision.verdict, expected) << type;
    EXPECT_EQ(found.without_context, expected) << type;
    const auto verified = verify(history, certificate_of(history, found));
    EXPECT_EQ(verified.status, CertificateStatus::kValid) << verified.reason;
  }
}

// Seeds whose simulated keys are in no common order.
TEST(Context, TheMapThatIsGeneratedIsNoRegister) {
  int no_register = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    GenerateOptions options;
    options.type = {Type::kLastWriterWinsMap};
    options.seed = seed;
    options.ops = 300;
    options.keys = 4;
    const auto map = write(generate(options).value());
    base::Budget budget;
    EXPECT_EQ(decide(with_context("lww-map", map), {}, budget).verdict, Verdict::kSatisfied);
    no_register += decide(with_context("lww", map), {}, budget).verdict == Verdict::kViolated;
  }
  EXPECT_GT(no_register, 3);
}

// Characters that come after each other, or after one that nobody added, have no order in which a
// read could show them.
TEST(Context, AReadOfCharactersThatNoTreeHasIsViolated) {
  for (const char* text : {R"({"process":1,"f":"addAfter","value":["b","a"]}
{"process":1,"f":"addAfter","value":["a","b"]}
{"process":1,"f":"addAfter","value":[null,"c"]}
)",
                           R"({"process":1,"f":"addAfter","value":["d","a"]}
{"process":1,"f":"addAfter","value":[null,"b"]}
{"process":1,"f":"addAfter","value":["b","c"]}
)"}) {
    const auto history =
        with_context("rga", std::string(text) + R"({"process":1,"f":"read","value":["a","c","b"]}
{"process":2,"f":"deliver","value":["1:0","1:1","1:2"]}
{"process":2,"f":"read","value":["a","c","b"]}
)");
    auto found = analyzed(history);
    ASSERT_EQ(found.decision.verdict, Verdict::kViolated);
    for (const OpId named : {found.explanation->core.ops.front(), OpId{4}}) {
      found.explanation->core.ops = {named};
      const auto verified = verify(history, certificate_of(history, found));
      EXPECT_EQ(verified.status, CertificateStatus::kValid) << verified.reason;
    }
  }
}

// The add was invoked after the read had ended.
TEST(Times, NoReadIsExplainedByALaterUpdate) {
  const std::string future = R"({"process":0,"f":"contains","value":["a",true],"time":1000}
{"process":1,"f":"add","value":"a","time":2000}
)";
  auto history = with_context("or-set", future);
  base::Budget budget;
  const auto found = analyze(history, {}, budget);
  ASSERT_EQ(found.decision.verdict, Verdict::kViolated);
  EXPECT_EQ(found.explanation->name, "read-from-the-future");
  EXPECT_EQ(found.explanation->because,
            (std::vector<std::string>{"add(\"a\") of replica 1 was invoked at least 1000 ns after "
                                      "contains(\"a\") = true of replica 0 had ended"}));
  EXPECT_EQ(verify(history, certificate_of(history, found)).status, CertificateStatus::kValid);
  allow_clock_drift(history, 500);
  const auto drifted = analyze(history, {}, budget);
  EXPECT_EQ(drifted.decision.verdict, Verdict::kSatisfied);
  EXPECT_EQ(verify(history, certificate_of(history, drifted)).status, CertificateStatus::kValid);
  EXPECT_EQ(verify(with_context("or-set", future), certificate_of(history, drifted)).status,
            CertificateStatus::kNotValid);
}

// It was open while the read was.
TEST(Times, AnInvocationBeforeTheEndIsEarlyEnough) {
  const auto history =
      with_context("or-set", R"({"type":"invoke","process":1,"f":"add","value":"a","time":900}
{"process":0,"f":"contains","value":["a",true],"time":1000}
{"type":"ok","process":1,"f":"add","value":"a","time":2000}
)");
  base::Budget budget;
  EXPECT_EQ(analyze(history, {}, budget).decision.verdict, Verdict::kSatisfied);
}

// Times are those of a replica's other operations, too: the read ended before 1500, and the add
// began after 1600.
TEST(Times, OperationsBetweenBoundThoseWithoutTimes) {
  const auto verdict = [](const char* begun) {
    const auto history = with_context("or-set", fmt::format(
                                                    R"({{"process":0,"f":"read","value":["a"]}}
{{"process":0,"f":"read","value":["a"],"time":1500}}
{{"process":1,"f":"read","value":[],"time":{}}}
{{"process":1,"f":"add","value":"a"}}
)",
                                                    begun));
    base::Budget budget;
    return analyze(history, {}, budget).decision.verdict;
  };
  EXPECT_EQ(verdict("1600"), Verdict::kViolated);
  EXPECT_EQ(verdict("1500"), Verdict::kSatisfied);
}

// The clock of replica 1 was set back, so its times say nothing, nor do the others.
TEST(Times, AClockThatRanBackwardsIsNotBelieved) {
  const auto history =
      with_context("or-set", R"({"process":0,"f":"contains","value":["a",true],"time":1000}
{"process":1,"f":"add","value":"a","time":2000}
{"process":1,"f":"add","value":"b","time":1900}
)");
  EXPECT_EQ(history.backward_clock_line, 2U);
  base::Budget budget;
  EXPECT_EQ(analyze(history, {}, budget).decision.verdict, Verdict::kSatisfied);
}

// Nobody knows when the update of an `info` line without an invocation began.
TEST(Times, AnInfoLineIsNoInvocation) {
  const auto history =
      with_context("or-set", R"({"process":0,"f":"contains","value":["a",true],"time":1000}
{"type":"info","process":1,"f":"add","value":"a","time":2000}
)");
  base::Budget budget;
  EXPECT_EQ(analyze(history, {}, budget).decision.verdict, Verdict::kSatisfied);
}

TEST(Times, ADeliveryFromTheFutureIsFound) {
  const auto history = with_context("or-set", R"({"process":1,"f":"deliver","value":["0:0"]}
{"process":1,"f":"read","value":["a"],"time":1000}
{"process":0,"f":"add","value":"a","time":2000}
)");
  const auto late = late_update(history, Visibility::of(history).value());
  ASSERT_TRUE(late);
  EXPECT_EQ(late->op, 0U);
  EXPECT_EQ(late->update, 1U);
}

// Two concurrent moves, each below the other's node: one of them has no effect.
TEST(Context, OfTwoMovesThatMakeACycleTheLaterHasNoEffect) {
  const std::string moves = R"({"process":0,"f":"move","value":["a",null]}
{"process":0,"f":"move","value":["b",null]}
{"process":1,"f":"deliver","value":["0:0","0:1"]}
{"process":0,"f":"move","value":["a","b"]}
{"process":1,"f":"move","value":["b","a"]}
{"process":1,"f":"deliver","value":["0:2"]}
)";
  const auto shown = [&](const std::string& tree) {
    return summary("tree", moves + R"({"process":1,"f":"read","value":)" + tree + "}");
  };
  EXPECT_EQ(shown(R"([["b",null],["a","b"]])"), "");
  EXPECT_EQ(shown(R"([["a",null],["b","a"]])"), "");
  EXPECT_EQ(shown(R"([["b","a"],["a","b"]])"),
            "not-a-tree: line 7 (replica 1) shows \"a\" below itself");
  EXPECT_EQ(shown(R"([["a",null],["b",null]])"),
            "stale-move: line 7 (replica 1) shows \"b\" at the top; it had received move(\"b\", "
            "\"a\") of replica 1 (line 5), which is later");
  EXPECT_EQ(
      shown("[]"),
      "order-disagreement: line 7 (replica 1) shows a tree that no order of the moves that it "
      "had received makes: \"a\" is not there");
  EXPECT_EQ(summary("tree", moves + R"({"process":0,"f":"read","value":[["b","a"],["a",null]]})"),
            "not-received: line 7 (replica 0) shows \"b\" below \"a\"; it had not received "
            "move(\"b\", \"a\") of replica 1 (line 5)");
}

TEST(Context, DeliveriesThatContradictEachOtherAreAnError) {
  const auto visibility =
      Visibility::of(with_context("counter", R"({"process":0,"f":"version","value":["1:0"]}
{"process":0,"f":"inc"}
{"process":1,"f":"version","value":["0:0"]}
{"process":1,"f":"inc"}
)"));
  ASSERT_FALSE(visibility.ok());
  EXPECT_EQ(visibility.error().line, 1U);
}

TEST(Context, ARuleWithoutDeliveriesSaysThatNothingArrived) {
  const std::string text = R"({"process":0,"f":"add","value":"a"}
{"process":1,"f":"read","value":["a"]})";
  EXPECT_FALSE(with_context("or-set", text).context.is_known());
  EXPECT_EQ(
      summary("or-set", R"({"f":"delivery","value":"causal"}
)" + text),
      "not-received: line 3 (replica 1) shows \"a\"; it had not received add(\"a\") of replica 0 "
      "(line 2)");
}

TEST(Context, ARegisterReturnsAValueAtMostAsOftenAsItWasWritten) {
  const std::string one = R"({"process":0,"f":"write","value":1}
)",
                    two = one + R"({"process":1,"f":"write","value":1}
{"process":0,"f":"deliver","value":["1:0"]}
)",
                    twice = R"({"process":0,"f":"read","value":[1,1]})";
  EXPECT_EQ(
      summary("mv-register", R"({"f":"delivery","value":"causal"}
)" + one + twice),
      "value-twice: line 3 (replica 0) returned 1 more often than the writes of it that it had "
      "received and that nothing had overwritten");
  EXPECT_EQ(summary("mv-register", two + twice), "");
  EXPECT_EQ(
      summary("mv-register", two + R"({"process":0,"f":"write","value":1}
)" + twice),
      "value-twice: line 5 (replica 0) returned 1 more often than the writes of it that it had "
      "received and that nothing had overwritten");
  const auto without = [](const std::string& text) {
    const auto history = with_context("mv-register", text);
    base::Budget budget;
    const auto found = analyze(history, {}, budget);
    return found.explanation ? found.explanation->name + ": " + found.explanation->summary : "";
  };
  EXPECT_EQ(without(one + twice),
            "value-twice: read() = {1, 1} of replica 0 returned 1 more often than replicas have "
            "written it, and each overwrites its own writes");
  EXPECT_EQ(without(R"({"process":1,"f":"write","value":1}
)" + one + twice),
            "");
  EXPECT_EQ(without(R"({"process":0,"f":"write","value":1}
{"process":0,"f":"write","value":1}
)" + twice),
            without(one + twice));
}

// Without deliveries, however many writes there are, and in however many ways they could have been
// seen: decided, and verified.
TEST(Context, WhatReplicasCanWriteConcurrentlyIsCounted) {
  struct Shape {
    int replicas, writes;               // of each
    std::vector<std::string> returned;  // times of each value
    std::size_t times;
  };
  for (const auto& [replicas, writes, values, times] :
       {Shape{12, 1, {"a"}, 13}, Shape{5, 10, {"a"}, 6}, Shape{5, 6, {"a", "b"}, 3}}) {
    std::string text, list;
    for (int i = 0; i < replicas * writes; ++i) {
      text += "{\"process\":" + std::to_string(i % replicas) + R"(,"f":"write","value":")" +
              values[static_cast<std::size_t>(i / replicas) % values.size()] + "\"}\n";
    }
    for (const auto& value : values) {
      for (std::size_t time = 0; time < times; ++time)
        list += (list.empty() ? "\"" : ",\"") + value + "\"";
    }
    text += R"({"process":99,"f":"read","value":[)" + list + "]}";
    const auto history = with_context("mv-register", text);
    base::Budget budget(std::chrono::seconds(30), 0);
    const auto found = analyze(history, {}, budget);
    ASSERT_EQ(found.decision.verdict, Verdict::kViolated) << text;
    const auto verified = verify(history, certificate_of(history, found));
    EXPECT_EQ(verified.status, CertificateStatus::kValid) << verified.reason << "\n" << text;
  }
}

TEST(Context, OneReplicaReceivesNothing) {
  const std::string text = R"({"process":0,"f":"move","value":["a",null]}
{"process":0,"f":"read","value":[["a",null]]})";
  EXPECT_TRUE(with_context("tree", text).context.is_known());
  EXPECT_EQ(summary("tree", text), "");
  EXPECT_FALSE(with_context("tree", text + R"(
{"process":1,"f":"read","value":[]})")
                   .context.is_known());
  EXPECT_FALSE(with_context("tree", R"({"process":1,"type":"info","f":"move","value":["b",null]}
)" + text)
                   .context.is_known());
}

}  // namespace
}  // namespace cupel::crdt
