// Content: what is behind the public History.
#pragma once

#include "cupel/check.hpp"
#include "history/history.hpp"

namespace cupel {

struct History::Content {
  history::History columns;
};

}  // namespace cupel
