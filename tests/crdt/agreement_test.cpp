// Agreement: on tens of thousands of random small histories a type, what decide() says
// is what the exhaustive oracle says, by every method, and its witnesses satisfy the
// axioms as the oracle reads them. Siblings also of simulated replicas, and larger.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.hpp"
#include "crdt/analysis/analyze.hpp"
#include "crdt/io/certificate.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/model/times.hpp"
#include "crdt/solve/decide.hpp"
#include "crdt/verify/verify.hpp"
#include "crdt/workload/generate.hpp"
#include "oracle.hpp"
#include "random_history.hpp"
#include "support/parameter_name.hpp"
#include "support/rounds.hpp"

namespace cupel::crdt {
namespace {

std::vector<std::uint32_t> past_of(const History& h, const Clocks& clocks) {
  std::vector<std::uint32_t> past(h.ops.size(), 0);
  for (OpId o = 0; o < h.ops.size(); ++o) {
    for (OpId p = 0; p < h.ops.size(); ++p) {
      if (before(h, clocks, p, o)) past[o] |= 1U << p;
    }
  }
  return past;
}

class Agreement : public testing::TestWithParam<Type> {};

TEST_P(Agreement, WithExhaustiveSearch) {
  const Type type = GetParam();
  const int kHistories = test::rounds(CUPEL_CRDT_HISTORIES);
  base::Random random(7 + static_cast<std::uint64_t>(type));
  int admitted = 0, rejected = 0;
  for (int i = 0; i < kHistories; ++i) {
    const History h = random_history(type, small_shape(type, i, random), random);
    const bool strict = random.chance(0.3);
    const bool expected = admitted_by_oracle(h, strict);
    (expected ? admitted : rejected) += 1;
    constexpr Methods kMethods[] = {{},
                                    {.polynomial = false, .search = false},
                                    {.polynomial = false, .search = false, .bounds = false}};
    for (const Methods& methods : kMethods) {
      base::Budget budget;
      const auto decision = decide(h, {.strict = strict}, budget, methods);
      ASSERT_NE(decision.verdict, Verdict::kUnknown);
      ASSERT_EQ(decision.verdict == Verdict::kSatisfied, expected)
          << decision.decided_by << (strict ? ", strict\n" : "\n") << write(h);
      if (decision.witness) {
        ASSERT_TRUE(admitted_with(h, past_of(h, decision.witness->clocks), strict))
            << decision.decided_by << "\n"
            << write(h);
        ASSERT_EQ(decision.witness->order.size(), h.ops.size());
      } else {
        ASSERT_EQ(decision.decided_by == "members",
                  methods.bounds && has_element_constraints(type));
        // The core is a history by itself, and admitted no more than the whole.
        const auto part = part_of(h, decision.violation->core);
        ASSERT_LE(part.history.ops.size(), 24U);
        if (part.history.ops.size() <= 9) {
          ASSERT_FALSE(admitted_by_oracle(part.history, strict)) << decision.decided_by << "\n"
                                                                 << write(h) << "core\n"
                                                                 << write(part.history);
        }
      }
    }
  }
  EXPECT_GT(admitted, kHistories / 20);
  EXPECT_GT(rejected, kHistories / 20);
}

// Operations have times, of a clock that all share: none is explained by a later one.
TEST_P(Agreement, WithTimes) {
  const Type type = GetParam();
  const int kHistories = test::rounds(CUPEL_CRDT_HISTORIES) / 4;
  base::Random random(87 + static_cast<std::uint64_t>(type));
  int admitted = 0, rejected = 0, by_times = 0;
  for (int i = 0; i < kHistories; ++i) {
    History h = random_history(type, small_shape(type, i, random), random);
    const bool without = admitted_by_oracle(h, false);
    std::vector<std::int64_t> now(h.replicas.size(), 0);
    for (Operation& op : h.ops) {
      auto& clock = now[op.replica];
      if (random.chance(0.8)) op.begun = clock = clock + random.between(0, 20);
      if (random.chance(0.8)) op.ended = clock = clock + random.between(0, 10);
    }
    const bool expected = admitted_by_oracle(h, false);
    spread_times(h);
    ASSERT_EQ(h.backward_clock_line, 0U);
    constexpr Methods kMethods[] = {{},
                                    {.polynomial = false, .search = false},
                                    {.polynomial = false, .search = false, .bounds = false}};
    for (const Methods& methods : kMethods) {
      base::Budget budget;
      const auto decision = decide(h, {}, budget, methods);
      ASSERT_NE(decision.verdict, Verdict::kUnknown);
      ASSERT_EQ(decision.verdict == Verdict::kSatisfied, expected) << decision.decided_by << "\n"
                                                                   << write(h);
      if (decision.witness) {
        ASSERT_TRUE(admitted_with(h, past_of(h, decision.witness->clocks), false)) << write(h);
      } else {
        const auto part = part_of(h, decision.violation->core);
        ASSERT_FALSE(admitted_by_oracle(part.history, false)) << write(h) << write(part.history);
      }
    }
    base::Budget budget;
    const auto found = analyze(h, {.shrink_seconds = 60}, budget);
    const auto verified = verify(h, certificate_of(h, found));
    ASSERT_EQ(verified.status, CertificateStatus::kValid) << verified.reason << "\n" << write(h);
    if (found.explanation && without) {
      ASSERT_EQ(found.explanation->name, "read-from-the-future") << write(h);
    }
    (expected ? admitted : rejected) += 1;
    by_times += without && !expected;
  }
  EXPECT_GT(admitted, kHistories / 40);
  EXPECT_GT(rejected, kHistories / 20);
  EXPECT_GT(by_times, kHistories / 200);
}

// Some updates failed, and the outcome of some is unknown: the history is satisfied if it is with
// some of those, each at most seen by others.
TEST_P(Agreement, OfUnknownOutcomesSomeMayHaveHappened) {
  const Type type = GetParam();
  const int kHistories = test::rounds(CUPEL_CRDT_HISTORIES) / 4;
  base::Random random(57 + static_cast<std::uint64_t>(type));
  int admitted = 0, rejected = 0;
  for (int i = 0; i < kHistories; ++i) {
    const History whole = random_history(type, small_shape(type, i, random), random);
    std::vector<std::string> lines;
    std::vector<std::size_t> open;
    for (OpId id = 0; id < whole.ops.size(); ++id) {
      if (!is_read(whole.ops[id].kind) && random.chance(0.5)) {
        if (random.chance(0.5)) continue;
        open.push_back(lines.size());
      }
      lines.push_back(write(whole, id, false));
    }
    std::string text;
    bool expected = false;
    for (std::size_t chosen = 0; chosen <= std::size_t{1} << open.size(); ++chosen) {
      // The last has all, as what they are.
      const bool last = chosen == std::size_t{1} << open.size();
      text.clear();
      for (std::size_t l = 0; l < lines.size(); ++l) {
        const auto it = std::find(open.begin(), open.end(), l);
        if (it == open.end()) {
          text += lines[l] + "\n";
        } else if (last) {
          text += "{\"type\":\"info\"," + lines[l].substr(1) + "\n";
        } else if (chosen >> (it - open.begin()) & 1U) {
          text += "{\"process\":\"new" + std::to_string(l) + "\"" +
                  lines[l].substr(lines[l].find(',')) + "\n";
        }
      }
      if (last) break;
      expected = expected || admitted_by_oracle(read(text, "chosen", {type}).value(), false);
    }
    const auto h = read(text, "all", {type}).value();
    base::Budget budget;
    const auto decision = decide(h, {}, budget);
    ASSERT_EQ(decision.verdict == Verdict::kSatisfied, expected) << text;
    (expected ? admitted : rejected) += 1;
  }
  EXPECT_GT(admitted, kHistories / 20);
  EXPECT_GT(rejected, kHistories / 20);
}

INSTANTIATE_TEST_SUITE_P(Types, Agreement, testing::ValuesIn(decided_without_deliveries()),
                         test::parameter_name);

// Siblings of replicas, some misread: small ones against the exhaustive search, larger ones
// against SAT, which shares nothing with the method for values written once.
class Siblings : public testing::TestWithParam<bool> {};

TEST_P(Siblings, AreDecidedAsTheyAreByTheOtherMethods) {
  const bool small = GetParam();
  const int kHistories =
      small ? test::rounds(CUPEL_CRDT_HISTORIES) : test::rounds(CUPEL_CRDT_HISTORIES) / 8;
  base::Random random(small ? 91 : 92);
  int admitted = 0, rejected = 0, several = 0;
  for (int i = 0; i < kHistories; ++i) {
    GenerateOptions options;
    options.type = {Type::kMultiValueRegister};
    options.seed = random.below(std::uint64_t{1} << 40);
    options.replicas = small ? 2 + static_cast<std::uint32_t>(random.below(3))
                             : 3 + static_cast<std::uint32_t>(random.below(4));
    options.keys = 1 + static_cast<std::uint32_t>(random.below(small ? 2 : 3));
    options.ops = small ? 5 + random.below(options.replicas == 4 ? 2 : 3) : 10 + random.below(40);
    options.delivery = 0.1 + 0.2 * static_cast<double>(random.below(4));
    options.read_share = 0.3 + 0.1 * static_cast<double>(random.below(4));
    options.final_reads = !small && random.chance(0.5);
    const History h = misread(generate(options).value(), random);
    base::Budget budget;
    const auto decision = decide(h, {}, budget);
    ASSERT_EQ(decision.decided_by, "registers");
    ASSERT_NE(decision.verdict, Verdict::kUnknown);
    const bool expected = small ? admitted_by_oracle(h, false)
                                : decide_exact(h, {}, budget).verdict == Verdict::kSatisfied;
    (expected ? admitted : rejected) += 1;
    several += std::any_of(h.ops.begin(), h.ops.end(),
                           [&](const Operation& op) { return h.list(op).size() > 1; });
    ASSERT_EQ(decision.verdict == Verdict::kSatisfied, expected) << write(h);
    if (expected) {
      const auto proof = certificate_of_witness(h, {}, *decision.witness);
      const auto verified = verify(h, proof);
      ASSERT_EQ(verified.status, CertificateStatus::kValid) << verified.reason << "\n" << write(h);
    } else {
      const auto proof = certificate_of_core(h, {}, decision.violation->core);
      const auto verified = verify(h, proof);
      ASSERT_NE(verified.status, CertificateStatus::kNotValid) << verified.reason << "\n"
                                                               << write(h) << proof;
      ASSERT_TRUE(!small || verified.status == CertificateStatus::kValid) << write(h);
    }
  }
  EXPECT_GT(admitted, kHistories / 20);
  EXPECT_GT(rejected, kHistories / 20);
  EXPECT_GT(several, kHistories / (small ? 20 : 2));
}

INSTANTIATE_TEST_SUITE_P(Sizes, Siblings, testing::Bool(),
                         [](const auto& small) { return small.param ? "small" : "larger"; });

}  // namespace
}  // namespace cupel::crdt
