// Certificates of objects: those of the engine are valid, and changed ones are refused, unless they
// still say something true.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "engine/certify/object_certificate.hpp"
#include "engine/objects/check.hpp"
#include "objects/exhaustive.hpp"
#include "objects/random_objects.hpp"
#include "report/objects.hpp"
#include "support/rounds.hpp"

namespace cupel::objects_test {
namespace {

using certify::Validity;
using history::ObjectHistory;
using history::ObjectKind;
using objects::Verdict;

constexpr ObjectKind kKinds[] = {ObjectKind::kSet,       ObjectKind::kCounter,
                                 ObjectKind::kUniqueIds, ObjectKind::kFifoQueue,
                                 ObjectKind::kBag,       ObjectKind::kBank};

struct Certified {
  ObjectHistory history;
  objects::Result result;

  [[nodiscard]] std::string certificate() const {
    return report::object_certificate({"file", history, result}, history::digest(history), 0);
  }
};

Certified certified(ObjectKind kind, std::mt19937& random) {
  Certified made{.history = random_objects(kind, random), .result = {}};
  base::Budget budget;
  made.result = objects::check(made.history, 0, budget);
  return made;
}

certify::Report verify(ObjectHistory history, const std::string& certificate) {
  return certify::verify_objects(history, certificate, 0);
}

TEST(ObjectCertificate, OfTheEngineIsValid) {
  std::mt19937 random(3);
  for (const auto kind : kKinds) {
    for (std::size_t round = 0; round < test::rounds<std::size_t>(2000); ++round) {
      const auto made = certified(kind, random);
      ASSERT_NE(made.result.verdict, Verdict::kUnknown) << made.result.detail;
      const auto report = verify(made.history, made.certificate());
      ASSERT_EQ(report.validity, Validity::kValid) << report.reason << "\n" << made.certificate();
      ASSERT_EQ(report.answers.size(), 1U);
      ASSERT_EQ(report.answers[0].satisfied, made.result.verdict == Verdict::kSatisfied);
    }
  }
}

// Other evidence for the other verdict, or changed evidence for the same one.
void forge(Certified& made, std::mt19937& random) {
  auto& result = made.result;
  const auto any = [&](std::size_t limit) { return static_cast<std::uint32_t>(random() % limit); };
  const auto count = made.history.ops.size();
  constexpr std::string_view kNames[] = {
      "set-stale",    "set-fork",        "set-future",         "set-reverse",  "thin-air-read",
      "counter-step", "counter-range",   "id-twice",           "fifo-order",   "fifo-lost",
      "no-order",     "aborted-dequeue", "dequeued-too-often", "set-duplicate"};
  if (random() % 2 == 0) {
    certify::ObjectPattern pattern{.name = std::string(kNames[random() % std::size(kNames)]),
                                   .object = any(made.history.objects.size())};
    if (result.verdict == Verdict::kViolated && random() % 2 == 0) {
      for (const auto& answer : result.answers) {
        if (answer.violation) pattern = *answer.violation;
      }
    }
    if (pattern.ops.empty()) pattern.ops.resize(random() % 5);
    if (pattern.elements.empty()) pattern.elements.resize(random() % 3);
    for (auto& op : pattern.ops) op = random() % 3 != 0 ? any(count) : op;
    for (auto& element : pattern.elements) element = any(made.history.elements.size());
    result.verdict = Verdict::kViolated;
    for (auto& answer : result.answers) answer.verdict = Verdict::kSatisfied;
    result.answers[pattern.object].verdict = Verdict::kViolated;
    result.answers[pattern.object].violation = pattern;
    return;
  }
  result.verdict = Verdict::kSatisfied;
  for (std::uint32_t object = 0; object < result.answers.size(); ++object) {
    auto& answer = result.answers[object];
    answer.violation.reset();
    answer.verdict = Verdict::kSatisfied;
    if (answer.order.empty()) {
      for (std::uint32_t i = 0; i < count; ++i) {
        if (made.history.ops[i].object == object && made.history.ops[i].certain())
          answer.order.push_back(i);
      }
    }
    auto& order = answer.order;
    if (order.empty()) continue;
    switch (random() % 4) {
      case 0:
        std::swap(order[any(order.size())], order[any(order.size())]);
        break;
      case 1:
        order.erase(order.begin() + any(order.size()));
        break;
      case 2:
        order.insert(order.begin() + any(order.size()), any(count));
        break;
      default:
        std::shuffle(order.begin(), order.end(), random);
        break;
    }
  }
}

TEST(ObjectCertificate, ThatIsForgedProvesNothingWrong) {
  std::mt19937 random(4);
  for (const auto kind : kKinds) {
    std::size_t refused = 0;
    for (std::size_t round = 0; round < test::rounds<std::size_t>(4000); ++round) {
      auto made = certified(kind, random);
      forge(made, random);
      const auto report = verify(made.history, made.certificate());
      if (report.validity != Validity::kValid) {
        ++refused;
        continue;
      }
      ASSERT_EQ(report.answers[0].satisfied, is_linearizable(made.history)) << made.certificate();
    }
    EXPECT_GT(refused, test::rounds<std::size_t>(1000));
  }
}

TEST(ObjectCertificate, OfAnotherHistoryOrFormIsRefused) {
  std::mt19937 random(5);
  const auto made = certified(ObjectKind::kSet, random),
             other = certified(ObjectKind::kSet, random);
  EXPECT_EQ(verify(other.history, made.certificate()).validity, Validity::kNotValid);
  EXPECT_EQ(verify(made.history, "{").validity, Validity::kBadInput);
  for (const auto* text : {R"({"cupel_object_certificate": 1, "more": 2})",
                           R"({"cupel_object_certificate": 1, "kind": "set", "kind": "set"})",
                           R"({"cupel_object_certificate": 1, "kind": 5})",
                           R"({"cupel_object_certificate": 1, "proofs": [{"order": []}]})",
                           R"({"cupel_object_certificate": 1, "proofs": [{"object": 0}]})"})
    EXPECT_EQ(verify(made.history, text).validity, Validity::kNotValid) << text;
  EXPECT_EQ(verify(made.history, R"({"cupel_object_certificate": 2})").validity,
            Validity::kBadInput);
}

}  // namespace
}  // namespace cupel::objects_test
