// Finding: what a check with known deliveries says of a history, with its certificate checked.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "crdt/analysis/analyze.hpp"
#include "crdt/io/certificate.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/verify/verify.hpp"

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

}  // namespace cupel::crdt
