// What a level says of a history in the history language, and of two that differ by one edit.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "base/budget.hpp"
#include "engine/levels/decide.hpp"
#include "support/history_language.hpp"

namespace cupel::levels {

// What a level says of a history of no limits: kSatisfied, kViolated or kRefused.
inline Verdict status_of(const char* text, Level level, history::Time drift = 0) {
  const auto history = test::history_of(text);
  Decider decider(history, drift, 1, true);
  base::Budget budget;
  const auto decision = decider.decide(level, budget);
  EXPECT_EQ(decision.violation.has_value(), decision.status == Verdict::kViolated);
  EXPECT_EQ(decision.witness != nullptr, decision.status == Verdict::kSatisfied);
  return decision.status;
}

inline std::size_t edits(const std::string& one, const std::string& other) {
  std::istringstream a(one), b(other);
  std::string x, y;
  std::size_t count = 0;
  while (true) {
    const bool more_a = static_cast<bool>(a >> x), more_b = static_cast<bool>(b >> y);
    if (!more_a && !more_b) return count;
    count += !more_a || !more_b || x != y ? 1 : 0;
  }
}

inline void expect_apart(Level level, const char* rejected, const char* accepted) {
  EXPECT_EQ(status_of(rejected, level), Verdict::kViolated) << name(level) << ": " << rejected;
  EXPECT_EQ(status_of(accepted, level), Verdict::kSatisfied) << name(level) << ": " << accepted;
  EXPECT_EQ(edits(rejected, accepted), 1u) << "more than one edit apart";
}

// The name of the transaction's session, and its place in it, if it is not the first: s1, s1.2.
inline std::string name_of(const history::History& h, history::TxnId txn) {
  std::uint32_t place = 1;
  for (std::uint32_t t = 0; t < txn.raw; ++t) {
    if (h.session(history::TxnId(t)) == h.session(txn)) ++place;
  }
  return h.session_name(h.session(txn)) + (place == 1 ? "" : "." + std::to_string(place));
}

}  // namespace cupel::levels
