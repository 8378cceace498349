// See the header.
#include "cli/findings.hpp"

#include <fmt/format.h>

#include "base/lazy_library.hpp"

namespace cupel::cli {

std::string problem_of(const base::Status& status) {
  return status.ok() ? "" : status.error().to_string();
}

std::string problem_of_library(std::string_view file, std::string_view package) {
  for (const auto& [found, why] : base::lazy_libraries(file)) {
    if (!found.starts_with(file) || why.empty()) continue;
    return fmt::format("found no usable {}; install the Debian package {} ({})", found, package,
                       why);
  }
  return "";
}

}  // namespace cupel::cli
