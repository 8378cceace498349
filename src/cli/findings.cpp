// See the header.
#include "cli/findings.hpp"

namespace cupel::cli {

std::string problem_of(const base::Status& status) {
  return status.ok() ? "" : status.error().to_string();
}

}  // namespace cupel::cli
