// Generator: correct replicas are never accused, and each injected bug is found, and
// called by a name that fits it.
#include "crdt/workload/generate.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "crdt/explain/explain.hpp"
#include "crdt/families.hpp"
#include "crdt/io/certificate.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/verify/verify.hpp"
#include "support/parameter_name.hpp"

namespace cupel::crdt {
namespace {

GenerateOptions options_of(Type type, std::uint64_t seed) {
  GenerateOptions options;
  options.type = {type};
  options.ops = 60;
  options.seed = seed;
  return options;
}

Decision decided(const History& history) {
  base::Budget budget(std::chrono::duration<double>(30), 0);
  return decide(history, {}, budget);
}

class Generator : public testing::TestWithParam<Type> {};

TEST_P(Generator, CorrectReplicasAreNeverAccused) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    auto options = options_of(GetParam(), seed);
    options.keys = 1 + seed % 3;
    options.replicas = 2 + seed % 4;
    options.delivery = seed % 2 == 0 ? 0.1 : 0.6;
    options.duplicates = seed % 4 == 0 ? 0.5 : 0;
    const auto history = generate(options).value();
    ASSERT_EQ(decided(history).verdict, Verdict::kSatisfied) << "seed " << seed << "\n"
                                                             << write(history);
  }
}

// The names that a bug may show itself by; docs/reference/crdt.md has the same.
const std::map<std::string, std::set<std::string>>& names_of_bugs() {
  static const std::map<std::string, std::set<std::string>> names = {
      {"remove-kills-concurrent-add", {"concurrent-add-lost"}},
      {"add-undoes-concurrent-remove", {"concurrent-remove-lost"}},
      {"disable-kills-concurrent-enable", {"concurrent-enable-lost"}},
      {"enable-undoes-concurrent-disable", {"concurrent-disable-lost"}},
      {"second-add-removes", {"lost-add"}},
      {"add-undoes-remove", {"lost-remove"}},
      {"keeps-overwritten", {"stale-read"}},
      {"keeps-latest", {"stale-read"}},
      {"spends-rights-of-others", {"below-zero"}},
      {"write-drops-sibling", {"lost-sibling", "wrong-siblings"}},
      {"loses-increment", {"lost-increment", "lost-decrement"}},
      {"ignores-timestamp",
       {"order-disagreement", "stale-read", "order-against-causality", "interleaved-insertions"}},
      {"forgets-removed-neighbour", {"order-disagreement"}},
      {"removes-first-of-range",
       {"lost-character", "removed-character-shown", "order-disagreement"}},
      {"interleaves", {"interleaved-insertions", "order-disagreement", "order-against-causality"}},
  };
  return names;
}

TEST_P(Generator, InjectedBugsAreFoundAndNamed) {
  const Type type = GetParam();
  constexpr int kSeeds = 16;
  for (const auto& bug : bugs_of(type)) {
    std::map<std::string, int> named;
    int found = 0, proven = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      auto options = options_of(type, seed);
      options.bug = bug;
      options.times = false;  // or they show the bug, too, and name it otherwise
      if (is_flag(type)) {    // one flag says little about what was seen
        options.keys = 4;
        options.ops = 90;
      }
      const auto history = generate(options).value();
      const auto decision = decided(history);
      ASSERT_NE(decision.verdict, Verdict::kUnknown) << bug << " seed " << seed;
      if (decision.verdict != Verdict::kViolated) continue;
      ++found;
      if (found > 6) continue;
      const auto explanation = explain(history, *decision.violation, {}, {.seconds = 20});
      ++named[explanation.name];
      const auto verified = verify(history, certificate_of_core(history, {}, explanation.core));
      ASSERT_NE(verified.status, CertificateStatus::kNotValid) << verified.reason;
      proven += verified.status == CertificateStatus::kValid;
    }
    std::string text;
    for (const auto& [name, times] : named) text += " " + name + ":" + std::to_string(times);
    RecordProperty(bug, text);
    printf("%s %s: found in %d of %d,%s; %d of %d certificates proven\n",
           std::string(name(type)).c_str(), bug.c_str(), found, kSeeds, text.c_str(), proven,
           std::min(found, 6));
    EXPECT_GT(found, kSeeds / 4) << bug;
    EXPECT_GT(2 * proven, std::min(found, 6)) << bug;
    const auto& fitting = names_of_bugs().at(bug);
    for (const auto& [name, times] : named) {
      EXPECT_FALSE(name.empty());
      EXPECT_TRUE(fitting.contains(name)) << bug << " is called " << name;
    }
  }
}

// So many operations of a resettable counter are decided only with known deliveries
// (context_test.cpp).
std::vector<Type> decided_at_this_size() {
  auto types = decided_without_deliveries();
  std::erase(types, Type::kResettableCounter);
  return types;
}
INSTANTIATE_TEST_SUITE_P(Types, Generator, testing::ValuesIn(decided_at_this_size()),
                         test::parameter_name);

TEST(Generate, IsTheSameForTheSameSeed) {
  const auto one = write(generate(options_of(Type::kGrowableArray, 3)).value());
  EXPECT_EQ(one, write(generate(options_of(Type::kGrowableArray, 3)).value()));
  EXPECT_NE(one, write(generate(options_of(Type::kGrowableArray, 4)).value()));
}

TEST(Generate, RefusesABugThatTheTypeDoesNotHave) {
  auto options = options_of(Type::kCounter, 1);
  options.bug = "interleaves";
  const auto history = generate(options);
  ASSERT_FALSE(history.ok());
  EXPECT_EQ(history.error().message,
            "found the bug `interleaves`, expected a bug of the type counter: loses-increment, "
            "loses-update, applies-again");
}

}  // namespace
}  // namespace cupel::crdt
