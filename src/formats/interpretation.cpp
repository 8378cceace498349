// Interpretation: see the header.
#include "formats/interpretation.hpp"

#include <algorithm>
#include <array>

namespace cupel::formats {

namespace {

// In the order of Workload.
constexpr std::array<std::string_view, 4> kWorkloads = {"transactions", "registers", "mutex",
                                                        "strings"};

}  // namespace

bool Interpretation::ignores(std::string_view f) const {
  return std::find(ignore.begin(), ignore.end(), f) != ignore.end();
}

std::string_view name(Workload kind) {
  return kWorkloads[static_cast<std::size_t>(kind)];
}

std::optional<Workload> parse_workload(std::string_view text) {
  const auto* const found = std::find(kWorkloads.begin(), kWorkloads.end(), text);
  if (found == kWorkloads.end()) return std::nullopt;
  return static_cast<Workload>(found - kWorkloads.begin());
}

std::string workload_names() {
  std::string names;
  for (const auto name : kWorkloads) {
    if (!names.empty()) names += name == kWorkloads.back() ? " or " : ", ";
    names += name;
  }
  return names;
}

}  // namespace cupel::formats
