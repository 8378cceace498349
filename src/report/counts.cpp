// counts and by_cause: see render.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "explain/why/words.hpp"
#include "history/naming.hpp"
#include "report/render.hpp"
#include "report/wording.hpp"

namespace cupel::report {

namespace {

constexpr std::size_t kColumns = 100;

std::string keys_of(const history::History& history, const counts::AnomalyCount& count) {
  if (count.keys.empty()) return {};
  std::vector<std::string> names;
  for (const auto key : count.keys) names.push_back(history::shown_key(history.key(key)));
  if (count.key_count > names.size()) {
    names.push_back(fmt::format("{} more", grouped(count.key_count - names.size())));
  }
  return fmt::format(" ({} {})", count.key_count == 1 ? "key" : "keys", explain::enumerate(names));
}

}  // namespace

ByCause by_cause(const Checked& checked, const check::LevelResult& result) {
  ByCause all{*result.violation, {}};
  if (checked.survey == nullptr) return all;
  const bool internal = !all.violation.internal.empty();
  std::vector<const counts::RootCause*> causes;
  for (const auto& cause : checked.survey->causes.found) {
    if (cause.from_check && cause.violation.internal.empty() != internal &&
        result.explained_at.value_or(result.level) == cause.level) {
      causes.push_back(&cause);
    }
  }
  if (causes.empty()) return all;
  if (!internal) {
    all.occurrences.push_back(causes.front()->occurrences);
    return all;
  }
  std::sort(causes.begin(), causes.end(), [](const auto* a, const auto* b) {
    return a->violation.internal.front().read < b->violation.internal.front().read;
  });
  all.violation.internal.clear();
  for (const auto* cause : causes) {
    all.violation.internal.push_back(cause->violation.internal.front());
    all.occurrences.push_back(cause->occurrences);
  }
  return all;
}

std::string counts(const Checked& checked) {
  if (checked.survey == nullptr) return {};
  std::string text = "  Anomalies in the whole history:";
  std::size_t column = text.size();
  const auto add = [&](const std::string& item) {
    if (column + 1 + item.size() > kColumns) {
      text += "\n   ";
      column = 3;
    }
    text += " " + item;
    column += 1 + item.size();
  };
  const auto& all = checked.survey->counts;
  for (std::size_t i = 0; i < all.size(); ++i) {
    add(fmt::format("{} {}{}{}{}", all[i].name, all[i].exact ? "" : "≥ ", grouped(all[i].count),
                    keys_of(checked.history, all[i]), i + 1 == all.size() ? "" : ","));
  }
  if (!checked.survey->counted) add("(counting stopped at a limit)");
  return text + "\n";
}

}  // namespace cupel::report
