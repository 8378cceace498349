// counts: see render.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "data/history/naming.hpp"
#include "engine/explain/why/layout.hpp"
#include "engine/explain/why/words.hpp"
#include "report/render.hpp"
#include "report/wording.hpp"

namespace cupel::report {

namespace {

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

std::string counts(const Checked& checked, const NamedCounts& listed) {
  if (!checked.analysis.whole_history) return {};
  std::string text = "Anomalies in the whole history:";
  const auto add = [&](const std::string& item) { text += " " + item; };
  const auto& all = checked.analysis.whole_history->counts;
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto count = all[i].count;
    if (const auto found = listed.find(all[i].name); found != listed.end() && !all[i].exact) {
      count = std::max(count, found->second);
    }
    add(fmt::format("{} {}{}{}{}", all[i].name, all[i].exact ? "" : "≥ ", grouped(count),
                    keys_of(checked.history, all[i]), i + 1 == all.size() ? "" : ","));
  }
  if (!checked.analysis.whole_history->counted) add("(counting stopped at a limit)");
  return "  " + explain::broken(text, 4, 2, explain::kTextWidth + 2) + "\n";
}

}  // namespace cupel::report
