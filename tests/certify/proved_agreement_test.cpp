// The verifier that is proved and the one in C++ on many random histories: at each level a
// certificate of that level alone, changed certificates, certificates of histories that were
// changed afterwards, and changed texts.
//
// CUPEL_PROVED_HISTORIES=N: so many histories at each level, each with one change of each kind.
// CUPEL_PROVED_FIRST=N: the first seed.
#include <gtest/gtest.h>

#include <cstdlib>

#include "certify/both_verifiers.hpp"
#include "certify/certificates.hpp"
#include "certify/mutate.hpp"
#include "engine/certify/proof_text.hpp"
#include "property/random_history.hpp"
#include "report/certificate.hpp"

namespace cupel::test {
namespace {

using base::Random;
using history::History;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

class ProvedAtLevel : public testing::TestWithParam<std::size_t> {};

TEST_P(ProvedAtLevel, BothSayTheSame) {
  const auto level = static_cast<levels::Level>(GetParam());
  BothVerifiers both;
  const auto wanted = from_environment("CUPEL_PROVED_HISTORIES", 20);
  const auto first = from_environment("CUPEL_PROVED_FIRST", 500000);
  std::uint64_t done = 0, satisfied = 0;
  // At linearizable few kinds of histories have an answer.
  for (std::uint64_t seed = first; done < wanted && seed < first + 40 * wanted; ++seed) {
    const Sketch sketch = random_sketch(kind_of_seed(seed), seed);
    const History h = build(sketch);
    const auto drift = drift_for(h);
    const auto result = check_at(h, level, drift);
    const auto json = report::certificate(h, result, drift).json;
    const Json original = Json::parse(json);
    if (original["answers"].empty()) continue;
    ++done;
    if (result.levels.front().verdict == check::Verdict::kSatisfied) ++satisfied;
    const auto expect = [&](const std::string& trouble, const std::string& what) {
      EXPECT_EQ(trouble, "") << "seed " << seed << ", " << what << ":\n" << to_text(sketch);
    };
    ASSERT_EQ(certify::verify(h, json, drift).validity, certify::Validity::kValid);
    expect(both.compare(h, json, drift), json);

    Random random(seed);
    Json changed = original;
    const auto how = mutate(changed, random);
    if (changed.is_object()) {
      // The program is not told the digest, nor the drift that the certificate names.
      changed["history"] = original["history"];
      expect(both.compare(h, changed.dump(), drift), how + " " + changed.dump());
    }
    if (const auto other = built(changed_history(sketch, random))) {
      Json moved = original;
      moved["history"] = empty_certificate(*other)["history"];
      expect(both.compare(*other, moved.dump(), drift), to_text(*other) + " " + moved.dump());
    }
    const auto text = changed_text(certify::proof_text(h, json, drift).text, random);
    expect(both.compare_text(h, text, drift), text);
  }
  printf("%zu histories, %zu satisfied\n", static_cast<std::size_t>(done),
         static_cast<std::size_t>(satisfied));
  for (const auto& [what, count] : both.seen()) printf("%8zu %s\n", count, what.c_str());
  for (const auto& [why, count] : both.left_out())
    printf("%8zu not proved: %s\n", count, why.c_str());
  printf("%8zu of %zu certificates that C++ rejects were shown to the proved verifier\n",
         both.rejected_and_shown(), both.rejected());
  EXPECT_EQ(done, wanted);
  // The others cannot be written down: they speak of reads and edges that are not there.
  EXPECT_GE(10 * both.rejected_and_shown(), 7 * both.rejected());
}

INSTANTIATE_TEST_SUITE_P(Proved, ProvedAtLevel,
                         testing::Range<std::size_t>(0, levels::kLevelCount));

}  // namespace
}  // namespace cupel::test
