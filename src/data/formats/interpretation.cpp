// Interpretation: see the header.
#include "data/formats/interpretation.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/spelling.hpp"
#include "base/text.hpp"

namespace cupel::formats {

namespace {

// In the order of Workload.
constexpr std::array<std::string_view, 4> kWorkloads = {"transactions", "registers", "mutex",
                                                        "strings"};

constexpr std::pair<std::string_view, ObjectsOf> kObjects[] = {
    {"set", {.kind = history::ObjectKind::kSet}},
    {"set-full", {.kind = history::ObjectKind::kSet, .full = true}},
    {"counter", {.kind = history::ObjectKind::kCounter}},
    {"unique-ids", {.kind = history::ObjectKind::kUniqueIds}},
    {"total-queue", {.kind = history::ObjectKind::kBag}},
    {"fifo-queue", {.kind = history::ObjectKind::kFifoQueue}},
    {"bank", {.kind = history::ObjectKind::kBank}}};

}  // namespace

bool Interpretation::ignores(std::string_view f) const {
  return std::find(ignore.begin(), ignore.end(), f) != ignore.end();
}

void Interpretation::add_ignored(std::string_view words) {
  for (std::size_t from = 0; from <= words.size();) {
    const auto comma = std::min(words.find(',', from), words.size());
    if (from < comma && words[from] == ':') ++from;
    if (from < comma) ignore.emplace_back(words.substr(from, comma - from));
    from = comma + 1;
  }
}

std::string_view name(Workload kind) {
  return kWorkloads[static_cast<std::size_t>(kind)];
}

std::optional<Workload> parse_workload(std::string_view text) {
  const auto* const found = std::find(kWorkloads.begin(), kWorkloads.end(), text);
  if (found == kWorkloads.end()) return std::nullopt;
  return static_cast<Workload>(found - kWorkloads.begin());
}

std::optional<Workload> meant_workload(std::string_view text) {
  constexpr std::pair<std::string_view, Workload> kOtherNames[] = {
      {"txn", Workload::kTransactions},
      {"txns", Workload::kTransactions},
      {"list-append", Workload::kTransactions},
      {"append", Workload::kTransactions},
      {"rw-register", Workload::kTransactions},
      {"wr", Workload::kTransactions},
      {"cas-register", Workload::kRegisters},
      {"cas", Workload::kRegisters},
      {"linearizable-register", Workload::kRegisters},
      {"multi-register", Workload::kRegisters},
      {"lock", Workload::kMutex},
      {"locks", Workload::kMutex},
      {"kv", Workload::kStrings},
      {"key-value", Workload::kStrings}};
  const auto word = base::to_lower(text, " _", '-');
  for (const auto& [name, kind] : kOtherNames) {
    if (word == name) return kind;
  }
  const std::vector<std::string> names(kWorkloads.begin(), kWorkloads.end());
  return parse_workload(base::nearest(word, names));
}

std::string workload_names() {
  std::string names;
  for (const auto name : kWorkloads) {
    if (!names.empty()) names += name == kWorkloads.back() ? " or " : ", ";
    names += name;
  }
  return names;
}

std::string_view name(const ObjectsOf& objects) {
  for (const auto& [name, one] : kObjects) {
    if (one.kind == objects.kind && one.full == objects.full) return name;
  }
  return {};
}

std::optional<ObjectsOf> parse_objects(std::string_view text) {
  for (const auto& [name, one] : kObjects) {
    if (name == text) return one;
  }
  return std::nullopt;
}

std::string object_names() {
  std::string names;
  for (const auto& [name, one] : kObjects) names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

}  // namespace cupel::formats
