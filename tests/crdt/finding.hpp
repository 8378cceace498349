// Finding: what a check with known deliveries says of a history, with its certificate checked.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "crdt/analysis/analyze.hpp"
#include "crdt/io/certificate.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/verify/verify.hpp"
#include "crdt/workload/generate.hpp"

namespace cupel::crdt {

inline Analysis by_deliveries(const History& history) {
  const auto visibility = Visibility::of(history);
  EXPECT_TRUE(visibility.ok());
  base::Budget budget;
  return analyze(history, {.visibility = &*visibility}, budget);
}

// "satisfied", or the name and the summary.
inline std::string finding(const std::string& text, Type type) {
  const auto history = read(text, "h", {type});
  EXPECT_TRUE(history.ok()) << (history.ok() ? "" : history.error().to_string());
  const auto analysis = by_deliveries(*history);
  const auto verified = verify(*history, certificate_of(*history, analysis));
  EXPECT_EQ(verified.status, CertificateStatus::kValid) << verified.reason << "\n" << text;
  if (!analysis.explanation) return "satisfied";
  return analysis.explanation->name + ": " + analysis.explanation->summary;
}

// Each bug of the type's generator in ten seeds of a thousand operations, or so many, by a valid
// certificate and in at most ten operations.
inline void expect_bugs_are_found(Type type, std::uint64_t seeds = 10) {
  auto bugs = bugs_of(type);
  for (auto& bug : injected_bugs_of(type)) bugs.push_back(std::move(bug));
  const bool flag = type == Type::kEnableWinsFlag || type == Type::kDisableWinsFlag;
  for (const auto& bug : bugs) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      GenerateOptions options;
      options.type = {type};
      options.bug = bug;
      options.seed = seed;
      options.ops = 1000;
      options.keys = flag ? 4 : 1;  // several say more about what a replica had seen
      options.context = true;
      const auto history = generate(options).value();
      const auto analysis = by_deliveries(history);
      ASSERT_EQ(analysis.decision.verdict, Verdict::kViolated) << bug << " " << seed;
      EXPECT_LE(analysis.explanation->core.ops.size(), 10U) << bug << " " << seed;
      EXPECT_EQ(verify(history, certificate_of(history, analysis)).status,
                CertificateStatus::kValid)
          << bug << " " << seed;
    }
  }
}

}  // namespace cupel::crdt
