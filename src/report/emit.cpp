// What the formats share: see the header.
#include "report/emit.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace cupel::report {

using check::Verdict;
using history::History;

namespace {

constexpr std::size_t kFindingsSought = 1000;

// The length of the character of UTF-8 at the front of the text; 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong, surrogates, beyond U+10FFFF.
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) >= 0xa0) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) >= 0x90) return 0;
  return length;
}

}  // namespace

std::vector<explain::Anomaly> anomalies_of(const Checked& checked, std::size_t most) {
  std::vector<explain::Anomaly> all;
  std::set<std::tuple<std::string, std::vector<history::TxnId>, std::vector<history::KeyId>>> known;
  const auto& weakest = checked.result.weakest_violated;
  for (const auto& level : checked.result.levels) {
    if (level.verdict != Verdict::kViolated || !level.violation ||
        std::find(weakest.begin(), weakest.end(), level.level) == weakest.end()) {
      continue;
    }
    const auto at = level.explained_at.value_or(level.level);
    const auto add = [&](const levels::Violation& violation) {
      for (auto& anomaly :
           explain::explain(checked.history, at, violation, {.fields = checked.fields})) {
        auto who = anomaly.transactions;
        auto what = anomaly.keys;
        std::sort(who.begin(), who.end());
        std::sort(what.begin(), what.end());
        if (all.size() < most && known.emplace(anomaly.name, who, what).second) {
          all.push_back(std::move(anomaly));
        }
      }
    };
    // One by one: there may be as many as there are reads, and not all are wanted.
    auto violation = by_cause(checked, level).violation;
    for (const auto& one : std::exchange(violation.internal, {})) {
      if (all.size() >= most) return all;
      levels::Violation single;
      single.internal.push_back(one);
      add(single);
    }
    if (all.size() >= most) return all;
    add(violation);
  }
  return all;
}

std::vector<Finding> further_of(const Checked& checked, std::size_t most) {
  std::vector<Finding> all;
  if (checked.survey == nullptr) return all;
  for (const auto& cause : checked.survey->causes.found) {
    if (all.size() >= most) break;
    if (cause.from_check) continue;
    if (cause.small) {
      const auto& small = *cause.small;
      all.push_back({small.anomaly, small.history, small.level, &small});
      continue;
    }
    auto anomalies =
        explain::explain(checked.history, cause.level, cause.violation, {.fields = checked.fields});
    if (anomalies.empty()) continue;
    all.push_back({std::move(anomalies.front()), checked.history, cause.level});
  }
  return all;
}

std::vector<Finding> findings_of(const Checked& checked, std::size_t most) {
  std::vector<Finding> all;
  for (const auto& example : checked.counterexamples) {
    if (all.size() == most) return all;
    all.push_back({example.anomaly, example.history, example.level, &example});
  }
  if (all.empty()) {
    for (auto& anomaly : anomalies_of(checked, most)) {
      const auto at = anomaly.at;
      all.push_back({std::move(anomaly), checked.history, at});
    }
  }
  for (auto& finding : further_of(checked, most - all.size())) all.push_back(std::move(finding));
  return all;
}

std::string sentence_of(const explain::Anomaly& anomaly) {
  return anomaly.summary;
}

std::string verdict_of(const Checked& checked) {
  if (!checked.whole) return "it was not read to its end";
  const auto names = [](const std::vector<levels::Level>& list) {
    std::string text;
    for (const auto level : list) {
      if (!text.empty()) text += ", ";
      text += levels::name(level);
    }
    return text;
  };
  std::string text;
  const auto add = [&](const char* what, const std::vector<levels::Level>& list) {
    if (list.empty()) return;
    if (!text.empty()) text += "; ";
    text += what + names(list);
  };
  std::vector<levels::Level> unknown;
  for (const auto& level : checked.result.levels) {
    if (level.verdict == Verdict::kUnknown) unknown.push_back(level.level);
  }
  add("strongest satisfied: ", checked.result.strongest_satisfied);
  add("weakest violated: ", checked.result.weakest_violated);
  add("unknown: ", unknown);
  return text.empty() ? "no level was decided" : text;
}

std::string recorded_from(const History& history) {
  const auto database = metadata_of(history, "database"),
             isolation = metadata_of(history, "isolation");
  if (database.empty()) return isolation;
  return isolation.empty() ? database : database + " at " + isolation;
}

std::vector<std::uint32_t> labels_of(const Checked& checked) {
  std::vector<std::uint32_t> labels;
  for (const auto& finding : findings_of(checked, kFindingsSought)) {
    for (const auto txn : finding.anomaly.transactions) {
      if (txn.valid()) labels.push_back(finding.history.label(txn));
    }
  }
  return labels;
}

std::string as_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const auto length = utf8_length(text);
    if (length == 0) {
      valid += "\xef\xbf\xbd";
      text.remove_prefix(1);
    } else {
      valid += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return valid;
}

}  // namespace cupel::report
