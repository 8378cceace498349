// Summary and annotations: see the header.
#include "report/emit_github.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/text/escape.hpp"
#include "engine/levels/product.hpp"
#include "report/emit_markdown.hpp"
#include "report/final_reads.hpp"

namespace cupel::report {

using check::Verdict;
using text::annotation_property;
using text::annotation_text;
using text::markdown_block;
using text::markdown_code;
using text::markdown_text;

namespace {

constexpr std::size_t kAnnotations = 10;
constexpr std::size_t kAnomalies = 20;
constexpr std::size_t kFinalReads = 20;            // keys in the summary
constexpr std::size_t kFinalReadsAnnotations = 3;  // of lost writes, and of nodes that differ

std::string command(std::string_view kind, const std::string& file,
                    const std::optional<std::uint64_t>& line, const std::string& title,
                    const std::string& text) {
  return fmt::format("::{} file={}{},title={}::{}\n", kind, annotation_property(file),
                     line ? fmt::format(",line={}", *line) : "", annotation_property(title),
                     annotation_text(text));
}

// Of the first of the transactions that was found in the file.
std::optional<std::uint64_t> line_of(const Emission& emission, const history::History& history,
                                     std::span<const history::TxnId> txns) {
  for (const auto txn : txns) {
    if (!txn.valid()) continue;
    const auto at = emission.lines.find(history.label(txn));
    if (at != emission.lines.end()) return at->second;
  }
  return std::nullopt;
}

const char* sign(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSatisfied:
      return "✅ satisfied";
    case Verdict::kViolated:
      return "❌ violated";
    case Verdict::kUnknown:
      return "❔ unknown";
    case Verdict::kRefused:
      return "➖ refused";
  }
  return "";
}

std::string folded(const std::string& summary, const std::string& body) {
  return "<details><summary>" + summary + "</summary>\n\n" + body + "\n</details>\n\n";
}

}  // namespace

std::string emit_github(const Emission& emission) {
  const Checked& checked = emission.checked;
  std::string text = fmt::format("### cupel: {}\n\n{}\n\n", markdown_code(checked.file),
                                 markdown_text(verdict_of(checked)));
  if (const auto tables = final_reads_tables(checked, kFinalReads); !tables.empty()) {
    text += folded("<b>Final reads</b>: " + markdown_text(final_reads_verdict(checked)), tables);
  }
  for (const auto& finding : findings_of(checked, kAnomalies)) {
    const auto& anomaly = finding.anomaly;
    std::string body;
    if (finding.small == nullptr) {
      body = markdown_block(anomaly.explanation);
    } else {
      body = markdown_text(sentence_of(anomaly)) + "\n\n" + markdown_table(*finding.small) + "\n" +
             markdown_block(title_of(anomaly) + ": " + anomaly.explanation);
      if (!emission.command.empty()) body += "\n" + markdown_code(emission.command) + "\n";
    }
    text += folded(fmt::format("<b>{}</b> violates {}", markdown_text(title_of(anomaly)),
                               levels::name(finding.level)),
                   body);
  }
  std::string table = "| level | verdict | |\n|---|---|---|\n";
  for (const auto& level : checked.analysis.check.levels) {
    const auto product = levels::product_name(checked.history, level.level);
    const bool says = level.verdict == Verdict::kUnknown || level.verdict == Verdict::kRefused;
    table +=
        fmt::format("| {}{} | {} | {} |\n", levels::name(level.level),
                    product.empty() ? "" : " (" + markdown_text(product) + ")", sign(level.verdict),
                    says ? markdown_text(without_own_name(level.level, level.detail)) : "");
  }
  return text + folded("All levels", table);
}

std::string emit_github(const std::string& file, const base::Error& error) {
  return fmt::format("### cupel: {}\n\n❌ not checked: {}\n\n", markdown_code(file),
                     markdown_text(error.to_string()));
}

std::string github_annotations(const Emission& emission) {
  const Checked& checked = emission.checked;
  std::string text;
  const auto add = [&](const explain::Anomaly& anomaly, const history::History& history,
                       levels::Level level) {
    text += command("error", checked.file, line_of(emission, history, anomaly.transactions),
                    fmt::format("{} violates {}", title_of(anomaly), levels::name(level)),
                    anomaly.explanation);
  };
  std::size_t left = kAnnotations;
  if (final_reads_decide(checked)) {
    for (const auto& finding : final_reads_findings(checked, kFinalReadsAnnotations)) {
      text += command("error", checked.file,
                      line_of(emission, checked.history, transactions_of(checked.history, finding)),
                      fmt::format("{} on {}", finding.name, finding.key),
                      sentences_of(checked.history, finding));
      --left;
    }
  }
  for (const auto& finding : findings_of(checked, left)) {
    add(finding.anomaly, finding.history, finding.level);
  }
  if (const auto failed = final_reads_unknown(checked); !failed.empty())
    text += command("warning", checked.file, std::nullopt, "the final reads failed", failed);
  std::vector<std::string> unknown;
  std::string why;
  for (const auto& level : checked.analysis.check.levels) {
    if (level.verdict != Verdict::kUnknown) continue;
    unknown.emplace_back(levels::name(level.level));
    why = level.detail;
  }
  if (!unknown.empty()) {
    text += command("warning", checked.file, std::nullopt, "cupel could not decide",
                    fmt::format("unknown: {}: {}", fmt::join(unknown, ", "), why));
  }
  return text;
}

std::string github_annotation(const std::string& file, const base::Error& error) {
  return command("error", file, error.line, "cupel could not check", error.to_string());
}

}  // namespace cupel::report
