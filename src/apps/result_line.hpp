// A line of `cupel check --json`, read again: what merge and --results count.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/check/check.hpp"
#include "engine/levels/level.hpp"

namespace cupel::apps {

struct ResultLine {
  std::string file;
  std::vector<std::pair<levels::Level, check::Verdict>> verdicts;  // as the line has them
  int code;  // the exit code of `cupel check` for this history
};

// The exit code of a check with the verdict of analysis::Losses, which no violated level needs.
int exit_code_with(check::Verdict losses, int code);

// Does it begin as such a line? It may have been cut.
bool begins_as_result(const std::string& line);

// None: it is no whole line of `check --json`.
std::optional<ResultLine> result_of(const std::string& line);

}  // namespace cupel::apps
