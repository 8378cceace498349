// Edit distance with swaps (Damerau's, in the restricted form): see the header.
#include "base/spelling.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace cupel::base {

namespace {

std::string normal(std::string_view text) {
  return to_lower(text, " _", '-');
}

std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> two_back, back, row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    two_back = std::move(back);
    back = row;
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({back[j] + 1, row[j - 1] + 1, back[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], two_back[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

// The words between dashes, sorted: "timeout-window" and "window-timeout" have the same.
std::vector<std::string> words_of(std::string_view normal) {
  std::vector<std::string> words;
  for (std::size_t from = 0; from <= normal.size();) {
    const auto dash = std::min(normal.find('-', from), normal.size());
    if (dash > from) words.emplace_back(normal.substr(from, dash - from));
    from = dash + 1;
  }
  std::sort(words.begin(), words.end());
  return words;
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> names) {
  constexpr std::size_t kLongest = 64;
  if (word.empty() || word.size() > kLongest) return {};
  const std::string wanted = normal(word);
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, wanted.size() / 3) + 1;
  for (const auto& name : names) {
    const auto away = distance(wanted, normal(name));
    // Of a name as short as the mistake nothing would be left.
    if (away < best_distance && away < name.size()) {
      best = name;
      best_distance = away;
    }
  }
  if (!best.empty() || wanted.size() < 3) return best;
  const auto words = words_of(wanted);
  for (const auto& name : names) {
    if (words.size() > 1 && words_of(normal(name)) == words) return name;
  }
  for (const auto& name : names) {
    if (!normal(name).starts_with(wanted)) continue;
    if (!best.empty()) return {};
    best = name;
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> names) {
  const auto name = nearest(word, names);
  return name.empty() ? "" : "; did you mean `" + name + "`?";
}

std::string suggestion(std::string_view word, std::span<const std::string> names) {
  const auto name = nearest(word, names);
  return name.empty() ? "" : " Did you mean `" + name + "`?";
}

std::string one_of(std::span<const std::string> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

}  // namespace cupel::base
