// Agreement: on tens of thousands of random small histories a type, what decide() says
// is what the exhaustive oracle says, by every method, and its witnesses satisfy the
// axioms as the oracle reads them.
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "crdt/decide.hpp"
#include "crdt/reader.hpp"
#include "oracle.hpp"
#include "random_history.hpp"

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
  const int kHistories = CUPEL_CRDT_HISTORIES;
  base::Random random(7 + static_cast<std::uint64_t>(type));
  int admitted = 0, rejected = 0;
  for (int i = 0; i < kHistories; ++i) {
    const History h = random_history(type, small_shape(type, i, random), random);
    const bool letter = random.chance(0.3);
    const bool expected = admitted_by_oracle(h, letter);
    (expected ? admitted : rejected) += 1;
    for (const bool quick : {true, false}) {
      base::Budget budget;
      const auto decision =
          decide(h, {.letter = letter}, budget, {.polynomial = quick, .search = quick});
      ASSERT_NE(decision.verdict, Verdict::kUnknown);
      ASSERT_EQ(decision.verdict == Verdict::kSatisfied, expected)
          << decision.decided_by << (letter ? ", letter\n" : "\n") << write(h);
      if (decision.witness) {
        ASSERT_TRUE(admitted_with(h, past_of(h, decision.witness->clocks), letter))
            << decision.decided_by << "\n"
            << write(h);
        ASSERT_EQ(decision.witness->order.size(), h.ops.size());
      } else {
        // The core is a history by itself, and admitted no more than the whole.
        const auto part = part_of(h, decision.violation->core);
        ASSERT_LE(part.history.ops.size(), 24U);
        if (part.history.ops.size() <= 9) {
          ASSERT_FALSE(admitted_by_oracle(part.history, letter)) << decision.decided_by << "\n"
                                                                 << write(h) << "core\n"
                                                                 << write(part.history);
        }
      }
    }
  }
  EXPECT_GT(admitted, kHistories / 20);
  EXPECT_GT(rejected, kHistories / 20);
}

INSTANTIATE_TEST_SUITE_P(Types, Agreement,
                         testing::ValuesIn(all_types().begin(), all_types().end()),
                         [](const auto& type) {
                           std::string text(name(type.param));
                           std::replace(text.begin(), text.end(), '-', '_');
                           return text;
                         });

}  // namespace
}  // namespace cupel::crdt
