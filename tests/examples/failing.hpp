// Which assertions of an application fail at a level, in runs with seeds 0, 1 …
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "application.hpp"

namespace cupel::applications {

using Names = std::set<std::string>;
inline const Names kAll = {"A1", "A2", "A3", "A4",  "A5",  "A6",
                           "A7", "A8", "A9", "A10", "A11", "A12"};

inline Names without(Names names, const Names& some) {
  for (const auto& name : some) names.erase(name);
  return names;
}

// What failed in some run, of at most so many: no further ones when that is `expected`,
// unless nothing is.
inline Names failed(Application& application, mock::Level level, const Names& expected, int runs,
                    int transactions = 100, int sessions = 3) {
  Names names;
  RunOptions options;
  options.level = level;
  options.transactions = transactions;
  options.sessions = sessions;
  for (int i = 0; i < runs && (expected.empty() || names != expected); ++i) {
    options.seed = static_cast<std::uint64_t>(i);
    const auto outcome = run(application, options);
    EXPECT_GT(outcome.committed, transactions / 20) << outcome.first_refusal;
    for (std::size_t a = 0; a < outcome.violated.size(); ++a) {
      if (outcome.violated[a]) names.insert(application.assertions()[a].name);
    }
  }
  return names;
}

}  // namespace cupel::applications
