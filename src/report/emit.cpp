// What the formats share: see the header.
#include "report/emit.hpp"

#include <utility>

#include "base/visible.hpp"
#include "engine/analysis/violations.hpp"
#include "report/final_reads.hpp"

namespace cupel::report {

using check::Verdict;
using history::History;

std::vector<Finding> findings_of(const Checked& checked, std::size_t most) {
  std::vector<Finding> all;
  for (auto& one : analysis::violations_of(checked.history, checked.analysis, most).shown) {
    all.push_back(
        {std::move(one.anomaly), *one.history, one.level, one.small, std::move(one.levels)});
  }
  return all;
}

std::string sentence_of(const explain::Anomaly& anomaly) {
  return anomaly.summary;
}

std::string verdict_of(const Checked& checked) {
  if (!checked.analysis.whole) return "it was not read to its end";
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
  for (const auto& level : checked.analysis.check.levels) {
    if (level.verdict == Verdict::kUnknown) unknown.push_back(level.level);
  }
  add("strongest satisfied: ", checked.analysis.check.strongest_satisfied);
  add("weakest violated: ", checked.analysis.check.weakest_violated);
  add("unknown: ", unknown);
  if (const auto lost = final_reads_verdict(checked); !lost.empty()) text += "; " + lost;
  if (text.empty()) text = "no level was decided";
  if (const auto failed = final_reads_unknown(checked); !failed.empty()) text += "; " + failed;
  return text;
}

std::string recorded_from(const History& history) {
  const auto database = base::visible(history.fact("database"));
  auto isolation = base::visible(history.fact("isolation"));
  if (database.empty()) return isolation;
  return isolation.empty() ? database : database + " at " + isolation;
}

std::vector<std::uint32_t> labels_of(const Checked& checked) {
  std::vector<std::uint32_t> labels;
  for (const auto& finding : findings_of(checked)) {
    for (const auto txn : finding.anomaly.transactions) {
      if (txn.valid()) labels.push_back(finding.history.label(txn));
    }
  }
  if (!final_reads_decide(checked)) return labels;
  for (const auto& finding : final_reads_findings(checked, kMostFindings)) {
    for (const auto txn : transactions_of(checked.history, finding)) {
      labels.push_back(checked.history.label(txn));
    }
  }
  return labels;
}

}  // namespace cupel::report
