// Nodes: see the header.
#include "report/nodes.hpp"

#include <fmt/format.h>

#include <sstream>

#include "base/visible.hpp"

namespace cupel::report {

Node parse_node(std::string_view text) {
  for (const std::string_view role : {"primary", "replica"}) {
    if (!text.ends_with(role)) continue;
    const auto name = text.substr(0, text.size() - role.size());
    if (name.ends_with(", ")) {
      return {std::string(name.substr(0, name.size() - 2)), std::string(role)};
    }
  }
  return {std::string(text), {}};
}

Node node_in(const explain::FieldsByLabel& fields, std::uint32_t label) {
  const auto found = fields.find(label);
  if (found == fields.end()) return {};
  for (const auto& [name, text] : found->second) {
    if (name != "node") continue;
    const std::string_view whole = text;
    const bool quoted = whole.size() >= 2 && whole.front() == '"' && whole.back() == '"';
    return parse_node(quoted ? whole.substr(1, whole.size() - 2) : whole);
  }
  return {};
}

std::string number_of_node(const history::History& history, std::string_view name) {
  std::istringstream lines(history.fact(kNodes));
  for (std::string line; std::getline(lines, line);) {
    const auto blank = line.find(' ');
    if (blank != std::string::npos && std::string_view(line).substr(blank + 1) == name) {
      return line.substr(0, blank);
    }
  }
  return {};
}

std::string numbered_name(const history::History& history, const std::string& name) {
  const auto number = number_of_node(history, name);
  const auto shown = base::visible(name);
  return number.empty() ? shown : fmt::format("node {} ({})", number, shown);
}

}  // namespace cupel::report
