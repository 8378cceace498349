// Counterexamples of histories in the mini-language, as the shrinker would give them:
// the whole history, the violation that the engine finds, and its anomaly.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "data/history/builder.hpp"
#include "engine/check/check.hpp"
#include "engine/explain/why/counterexample.hpp"
#include "support/history_language.hpp"

namespace cupel::test {

// Of what the engine finds in `history` at `level`; throws if that is satisfied.
inline explain::Counterexample counterexample_of(history::History history, levels::Level level) {
  explain::Counterexample example;
  check::Options options;
  options.asked = {level};
  const auto result = check::check(history, options);
  if (result.levels.front().verdict != check::Verdict::kViolated) {
    throw std::invalid_argument("not violated: " + to_text(history));
  }
  example.level = level;
  example.violation = *result.levels.front().violation;
  example.anomaly = explain::explain(history, level, example.violation).front();
  example.minimal = true;
  for (std::size_t t = 0; t < history.txn_count(); ++t) example.original_txn.emplace_back(t);
  for (std::size_t op = 0; op < history.op_count(); ++op) example.original_op.emplace_back(op);
  example.history = std::move(history);
  return example;
}

}  // namespace cupel::test
