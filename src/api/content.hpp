// Content: the data of the public History.
#pragma once

#include <string>

#include "cupel/check.hpp"
#include "history/history.hpp"

namespace cupel {

struct History::Content {
  history::History columns;
  std::string source = {};  // the file it was read from; empty: none
};

}  // namespace cupel
