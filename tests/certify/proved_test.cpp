// The verifier that is proved agrees with the one in C++: on certificates of random histories,
// and on certificates that were changed. It is the program cupel-proved, which is there if OCaml
// was when this was built. CUPEL_PROVED_SEEDS=N: so many histories of each kind.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "certify/certificates.hpp"
#include "certify/mutate.hpp"
#include "certify/proved_program.hpp"
#include "engine/certify/proof_text.hpp"
#include "engine/check/check.hpp"
#include "property/random_history.hpp"
#include "report/certificate.hpp"

namespace cupel::test {
namespace {

using base::Random;
using history::History;

constexpr int kMutationsEach = 4;

std::uint64_t seeds_per_kind() {
  const char* said = std::getenv("CUPEL_PROVED_SEEDS");
  return said == nullptr ? 6 : std::strtoull(said, nullptr, 10);
}

std::string certificate(const History& h, history::Time drift) {
  check::Options options;
  options.threads = 1;
  options.evidence = true;
  options.clock_drift_ns = drift;
  return report::certificate(h, check::check(h, options), drift).json;
}

using Said = ProvedProgram::Said;

class ProvedOfKind : public testing::TestWithParam<int> {};

TEST_P(ProvedOfKind, AcceptsWhatTheOtherAccepts) {
  const auto kind = static_cast<Kind>(GetParam());
  ProvedProgram program;
  std::size_t answers = 0;
  std::map<std::string, std::size_t> left_out;
  for (std::uint64_t i = 0; i < seeds_per_kind(); ++i) {
    const std::uint64_t seed = i * kKindCount + static_cast<std::uint64_t>(kind);
    const Sketch sketch = random_sketch(kind, seed);
    const History h = build(sketch);
    const auto drift = drift_for(h);
    const auto json = certificate(h, drift);
    const auto proof = certify::proof_text(h, json, drift);
    ASSERT_EQ(proof.trouble, "");
    for (const std::string& why : proof.left_out) {
      ++answers;
      if (!why.empty()) ++left_out[why];
    }
    ASSERT_EQ(program.run(h, proof.text, drift), Said::kProved) << "seed " << seed << ":\n"
                                                                << to_text(sketch) << "\n"
                                                                << program.output() << json << "\n"
                                                                << proof.text;
  }
  // Rules without a counterpart are known, and how often they are needed is bounded.
  std::size_t all = 0;
  for (const auto& [why, count] : left_out) {
    all += count;
    if (std::getenv("CUPEL_PROVED_SEEDS") != nullptr)
      printf("%zu of %zu: %s\n", count, answers, why.c_str());
  }
  EXPECT_LE(5 * all, answers);
}

// Does a proof of a satisfied level fail?
bool fails_at_an_order(const certify::Report& report) {
  const auto& reason = report.reason;
  if (!reason.starts_with("proofs[") || reason.find(" satisfied: ") == std::string::npos)
    return false;
  // Two orders of one key are right, if they are, to the verifier that is proved.
  return reason.find(" has two orders") == std::string::npos;
}

std::size_t proofs_in(const std::string& text) {
  std::size_t found = 0;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    if (text.compare(at, 2, "P ") == 0) ++found;
  }
  return found;
}

// An order that was changed is accepted by both or by neither.
TEST_P(ProvedOfKind, RejectsWhatTheOtherRejects) {
  const auto kind = static_cast<Kind>(GetParam());
  ProvedProgram program;
  for (std::uint64_t i = 0; i < seeds_per_kind(); ++i) {
    const std::uint64_t seed = i * kKindCount + static_cast<std::uint64_t>(kind);
    const History h = build(random_sketch(kind, seed));
    const auto drift = drift_for(h);
    const auto json = certificate(h, drift);
    Random random(seed);
    for (int j = 0; j < kMutationsEach; ++j) {
      Json changed = Json::parse(json);
      for (std::uint64_t n = 1 + random.below(2); n > 0 && changed.is_object(); --n)
        mutate(changed, random);
      // The program is not told the digest, nor the drift that the certificate names.
      if (!changed.is_object()) continue;
      changed["history"] = Json::parse(json)["history"];
      const auto text = changed.dump();
      const auto proof = certify::proof_text(h, text, drift);
      const auto report = certify::verify(h, text, drift);
      if (!proof.trouble.empty()) {
        EXPECT_NE(report.validity, certify::Validity::kValid);
        continue;
      }
      // A proof that is not in the text may have another in its place.
      const bool whole = proofs_in(proof.text) == changed["proofs"].size() &&
                         std::all_of(proof.left_out.begin(), proof.left_out.end(),
                                     [](const std::string& why) { return why.empty(); });
      const auto said = program.run(h, proof.text, drift);
      EXPECT_NE(said, Said::kBadInput) << program.output() << proof.text;
      if (report.validity == certify::Validity::kValid) {
        EXPECT_EQ(said, Said::kProved) << "seed " << seed << "\n" << program.output() << text;
      } else if (whole && fails_at_an_order(report)) {
        EXPECT_EQ(said, Said::kNotProved) << "seed " << seed << "\n"
                                          << report.reason << "\n"
                                          << text;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Proved, ProvedOfKind, testing::Range(0, kKindCount));

}  // namespace
}  // namespace cupel::test
