// Findings of `cupel doctor`: what of a program works on this machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cupel::cli {

struct Finding {
  std::string name, what;
  std::string problem = {};  // empty: it works
};

std::string problem_of(const base::Status& status);
// Of a library that is loaded at the first need, by the beginning of its file's name; `package`:
// the Debian package that has it. Empty: it can be loaded.
std::string problem_of_library(std::string_view file, std::string_view package);

}  // namespace cupel::cli
