// The commands of all programs, for manual pages, completions and tests.
#pragma once

#include <span>

#include "apps/command.hpp"

namespace cupel::apps {

// Without those of programs that are left out of this build.
std::span<const NamedCommand> all_commands();

}  // namespace cupel::apps
