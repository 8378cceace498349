// Few tables have many rows: the names of their columns are stored once.
#include "mock/engines/row_texts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "mock/engines/messages.hpp"

namespace cupel::engines {

namespace {

using Parts = std::vector<std::string_view>;

Parts columns_of(std::string_view text) {
  Parts parts;
  for (;;) {
    const auto end = std::min(text.find(kNextColumn), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

RowTexts::Text RowTexts::of(std::string_view text) {
  std::vector<std::string> names;
  Parts values;
  for (const auto column : columns_of(text)) {
    const auto end = std::min(column.find(kValue), column.size());
    names.emplace_back(column.substr(0, end));
    values.push_back(column.substr(std::min(end + 1, column.size())));
  }
  const auto [known, added] =
      known_.try_emplace(std::move(names), static_cast<std::uint32_t>(names_.size()));
  if (added) names_.push_back(known->first);
  return {known->second, fmt::format("{}", fmt::join(values, std::string_view(&kNextColumn, 1)))};
}

std::vector<std::size_t> RowTexts::differing(const std::vector<const Text*>& versions) const {
  std::vector<std::size_t> differ;
  if (versions.empty()) return differ;
  const auto& first = *versions.front();
  const auto values = columns_of(first.values);
  for (const auto* version : versions) {
    if (version->columns != first.columns) return {};
    const auto others = columns_of(version->values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (others[i] != values[i]) differ.push_back(i);
    }
  }
  std::sort(differ.begin(), differ.end());
  differ.erase(std::unique(differ.begin(), differ.end()), differ.end());
  return differ;
}

std::string RowTexts::words(const Text& text, const std::vector<std::size_t>& columns) const {
  const auto values = columns_of(text.values);
  if (columns.empty()) return fmt::format("({})", fmt::join(values, ", "));
  std::vector<std::string> words;
  for (const auto column : columns)
    words.push_back(fmt::format("{}={}", names_[text.columns][column], values[column]));
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace cupel::engines
