// initial_values: what keys held before the history, said beside the file that does not say it.
//
// A history written by hand often lacks it: its first reads return 0, and no line says that keys
// start with 0. The words of the command line name keys and values as the history has them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "data/history/history.hpp"

namespace cupel::formats {

struct InitialValues {
  std::optional<std::string> of_all;                         // of every key, whatever the file says
  std::vector<std::pair<std::string, std::string>> of_keys;  // of single keys; the last one counts

  [[nodiscard]] bool empty() const { return !of_all && of_keys.empty(); }
};

// Each text is VALUE or KEY=VALUE. A text in double quotes is a JSON string, and may contain `=`.
base::Result<InitialValues> parse_initial_values(std::span<const std::string> texts);

// The history with these initial values. An integer, null, a string in double quotes and a keyword
// with its colon are taken as such; other words, and integers that the history has only as
// strings, for what the history has under that name, else a string. Errors: a key that the history
// does not have, or a list, which starts empty.
base::Result<history::History> with_initial_values(history::History history,
                                                   const InitialValues& values);

}  // namespace cupel::formats
