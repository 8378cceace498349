// What the public History holds, and the two halves of check_history(), for the interface in C.
#pragma once

#include <optional>

#include "cupel/check.hpp"
#include "data/history/history.hpp"
#include "engine/analysis/analyze.hpp"
#include "engine/analysis/source.hpp"

namespace cupel {

struct History::Content {
  history::History columns;
  std::optional<analysis::Source> source = {};  // the file it was read from
};

// What only the interface in C has an option for.
struct CheckOptions : Options {
  bool evidence = false;  // for a certificate
};

analysis::Analysis analyze(const History& history, const CheckOptions& options);
Answer answer_of(const History& history, const analysis::Analysis& found);

}  // namespace cupel
