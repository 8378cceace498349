// See the header.
#include "apps/findings.hpp"

namespace cupel::apps {

std::string problem_of(const base::Status& status) {
  return status.ok() ? "" : status.error().to_string();
}

}  // namespace cupel::apps
