// Lines "COUNT F": see the header.
#include "data/history/ignored.hpp"

#include <charconv>
#include <sstream>

namespace cupel::history {

IgnoredOpMaps ignored_op_maps(const std::string& fact) {
  IgnoredOpMaps counts;
  std::istringstream lines(fact);
  std::string line;
  while (std::getline(lines, line)) {
    const auto space = line.find(' ');
    std::uint64_t count = 0;
    if (space == std::string::npos) continue;
    std::from_chars(line.data(), line.data() + space, count);
    counts.emplace(line.substr(space + 1), count);
  }
  return counts;
}

std::string ignored_fact(const IgnoredOpMaps& counts) {
  std::string fact;
  for (const auto& [f, count] : counts)
    fact += (fact.empty() ? "" : "\n") + std::to_string(count) + ' ' + f;
  return fact;
}

}  // namespace cupel::history
