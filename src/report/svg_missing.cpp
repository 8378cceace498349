// SVG in a program without Graphviz (cupel-core).
#include "report/svg.hpp"

namespace cupel::report {

base::Result<std::string> svg(const Figure& /*figure*/, const SvgOptions& /*options*/) {
  return base::Error{.message = "this program has no Graphviz and draws no pictures; `cupel` does"};
}

}  // namespace cupel::report
