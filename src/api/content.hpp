// Content: the data of the public History.
#pragma once

#include <optional>

#include "analysis/source.hpp"
#include "cupel/check.hpp"
#include "history/history.hpp"

namespace cupel {

struct History::Content {
  history::History columns;
  std::optional<analysis::Source> source = {};  // the file it was read from
};

}  // namespace cupel
