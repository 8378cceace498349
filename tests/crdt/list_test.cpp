// Lists: what real libraries return is satisfied, and each near miss is not; additions have a
// place.
#include <gtest/gtest.h>

#include "crdt/analysis/analyze.hpp"
#include "crdt/io/certificate.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/solve/list_order.hpp"
#include "crdt/verify/verify.hpp"
#include "crdt/workload/generate.hpp"

namespace cupel::crdt {
namespace {

History list_history(const std::string& text, const std::string& type = "list") {
  auto history = read(text, "h", *type_of(type));
  EXPECT_TRUE(history.ok()) << (history.ok() ? "" : history.error().to_string());
  return std::move(history).value();
}

// The verdict, whose certificate is checked.
Verdict verdict(const std::string& text, const std::string& type = "list") {
  const History history = list_history(text, type);
  base::Budget budget;
  std::optional<Visibility> visibility;
  if (history.context.is_known()) visibility = Visibility::of(history).value();
  const auto found = analyze(history, {.visibility = visibility ? &*visibility : nullptr}, budget);
  if (found.decision.verdict != Verdict::kUnknown) {
    const auto verified = verify(history, certificate_of(history, found));
    EXPECT_EQ(verified.status, CertificateStatus::kValid) << verified.reason << "\n" << text;
  }
  return found.decision.verdict;
}

// The smallest histories on which libraries differ from a growable array: made by Yjs, Automerge,
// Loro, json-joy, diamond-types and others. `reversed`: with the replicas' ids the other way round.
std::string order_of_libraries(bool reversed) {
  return std::string(R"({"process":0,"f":"addAfter","value":[null,"0-0"]}
{"process":1,"f":"addAfter","value":["0-0","1-1"]}
{"process":1,"f":"addAfter","value":[null,"1-2"]}
{"process":0,"f":"addAfter","value":[null,"0-3"]}
{"process":2,"f":"read","value":["0-3","0-0"]}
{"process":2,"f":"addAfter","value":["0-0","2-4"]}
{"process":2,"f":"read","value":)") +
         (reversed ? R"(["1-2","0-3","0-0","2-4","1-1"]})" : R"(["0-3","1-2","0-0","1-1","2-4"]})");
}

const char* const kBesideARemoved = R"({"process":0,"f":"addAfter","value":[null,"0-0"]}
{"process":0,"f":"addAfter","value":["0-0","0-1"]}
{"process":0,"f":"remove","value":"0-1"}
{"process":0,"f":"addAfter","value":["0-0","0-2"]}
{"process":1,"f":"addAfter","value":["0-1","1-3"]}
)";

// Two replicas return these characters after the first one.
std::string beside_a_removed(const std::string& one, const std::string& other) {
  const auto read = [](const char* replica, const std::string& rest) {
    return std::string("{\"process\":") + replica + R"(,"f":"read","value":["0-0",)" + rest +
           "]}\n";
  };
  return kBesideARemoved + read("0", one) + read("1", other);
}
const char* const kNewFirst = R"("0-2","1-3")";
const char* const kOldFirst = R"("1-3","0-2")";

TEST(List, TheOrdersOfLibrariesAreSatisfied) {
  for (const bool reversed : {false, true})
    EXPECT_EQ(verdict(order_of_libraries(reversed)), Verdict::kSatisfied);
  for (const auto* const order : {kNewFirst, kOldFirst})
    EXPECT_EQ(verdict(beside_a_removed(order, order)), Verdict::kSatisfied);
  EXPECT_EQ(verdict(order_of_libraries(false), "growable-array"), Verdict::kViolated);
  EXPECT_EQ(verdict(beside_a_removed(kOldFirst, kOldFirst), "growable-array"), Verdict::kViolated);
}

TEST(List, TwoReadsThatDisagreeAreViolated) {
  EXPECT_EQ(verdict(beside_a_removed(kNewFirst, kOldFirst)), Verdict::kViolated);
}

// Three reads of two characters each, and no two that disagree: weak lists allow it.
TEST(List, AnOrderWithACycleIsViolated) {
  std::string text;
  for (int r = 0; r < 3; ++r) {
    const auto c = std::to_string(r);
    text += "{\"process\":" + c + ",\"f\":\"addAfter\",\"value\":[null," + c + "]}\n";
  }
  text += R"({"process":"a","f":"read","value":[0,1]}
{"process":"b","f":"read","value":[1,2]}
)";
  EXPECT_EQ(verdict(text + R"({"process":"c","f":"read","value":[0,2]})"), Verdict::kSatisfied);
  EXPECT_EQ(verdict(text + R"({"process":"c","f":"read","value":[2,0]})"), Verdict::kViolated);
}

TEST(List, ACharacterComesDirectlyAfterItsNeighbour) {
  const std::string added = R"({"process":0,"f":"addAfter","value":[null,"a"]}
{"process":0,"f":"addAfter","value":["a","b"]}
{"process":0,"f":"addAfter","value":["a","c"]}
)";
  EXPECT_EQ(verdict(added + R"({"process":0,"f":"read","value":["a","c","b"]})"),
            Verdict::kSatisfied);
  EXPECT_EQ(verdict(added + R"({"process":0,"f":"read","value":["a","b","c"]})"),
            Verdict::kViolated);
}

// What the replica had not received may be anywhere.
TEST(List, OnlyWhatItsReplicaShowedCounts) {
  const std::string added = R"({"process":0,"f":"addAfter","value":[null,"a"]}
{"process":0,"f":"addAfter","value":["a","b"]}
DELIVER{"process":1,"f":"addAfter","value":["a","c"]}
{"process":2,"f":"version","value":["0:1","1:0"]}
{"process":2,"f":"read","value":["a","b","c"]}
)";
  const auto with = [&](const std::string& ids) {
    std::string text = added;
    return text.replace(text.find("DELIVER"), 7,
                        "{\"process\":1,\"f\":\"deliver\",\"value\":[" + ids + "]}\n");
  };
  EXPECT_EQ(verdict(with(R"("0:0")")), Verdict::kSatisfied);
  EXPECT_EQ(verdict(with(R"("0:0","0:1")")), Verdict::kViolated);
}

// Both orders of two concurrent characters are tried.
TEST(List, AFreeChoiceIsTakenBack) {
  EXPECT_EQ(verdict(R"({"process":0,"f":"addAfter","value":[null,"l"]}
{"process":1,"f":"version","value":["0:0"]}
{"process":1,"f":"addAfter","value":["l","x"]}
{"process":2,"f":"version","value":["0:0"]}
{"process":2,"f":"addAfter","value":["l","e"]}
{"process":3,"f":"version","value":["1:0","2:0"]}
{"process":3,"f":"addAfter","value":["x","y"]}
{"process":4,"f":"version","value":["3:0"]}
{"process":4,"f":"addAfter","value":["e","z"]}
{"process":4,"f":"read","value":["l","x","y","e","z"]}
)"),
            Verdict::kSatisfied);
}

TEST(List, BothInjectedBugsAreFoundWithAndWithoutDeliveries) {
  for (const auto& bug : bugs_of(Type::kStrongList)) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      GenerateOptions options;
      options.type = {Type::kStrongList};
      options.bug = bug;
      options.seed = seed;
      options.ops = 300;
      options.context = true;
      const auto history = generate(options).value();
      const auto visibility = Visibility::of(history).value();
      base::Budget budget;
      const auto found = analyze(history, {.visibility = &visibility}, budget);
      EXPECT_EQ(found.decision.verdict, Verdict::kViolated) << bug << " " << seed;
      const auto verified = verify(history, certificate_of(history, found));
      EXPECT_EQ(verified.status, CertificateStatus::kValid) << verified.reason;
      EXPECT_EQ(decide(history, {}, budget).verdict, Verdict::kViolated) << bug << " " << seed;
    }
  }
}

// A read that shows a character twice is a cycle of one step, which has no path back to look for.
TEST(List, ACharacterInFrontOfItselfIsACycleOfOneStep) {
  auto history = list_history(R"({"process":0,"f":"addAfter","value":[null,"a"]}
{"process":0,"f":"read","value":["a","a"]}
)");
  const Clocks clocks(history);
  const auto visibility = Visibility::of_clocks(history, clocks, {0, 1});
  const Axioms axioms;
  base::Budget budget;
  const auto found = order_of_list({history, visibility, axioms, budget}, /*certain=*/false);
  EXPECT_EQ(found.verdict, Verdict::kViolated);
  EXPECT_EQ(found.operations, (std::vector<OpId>{0, 1}));
  ASSERT_EQ(found.cycle.size(), 1U);
  EXPECT_EQ(found.cycle[0].shown, found.cycle[0].over);
}

}  // namespace
}  // namespace cupel::crdt
