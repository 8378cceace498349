// Findings of `cupel doctor`: what of a program works on this machine.
#pragma once

#include <string>

#include "base/result.hpp"

namespace cupel::apps {

struct Finding {
  std::string name, what;
  std::string problem = {};  // empty: it works
};

std::string problem_of(const base::Status& status);

}  // namespace cupel::apps
