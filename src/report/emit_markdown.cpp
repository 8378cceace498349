// Tables in GitHub's dialect, which is the common one.
#include "report/emit_markdown.hpp"

#include <fmt/format.h>

#include <vector>

#include "base/text/escape.hpp"
#include "data/history/naming.hpp"
#include "data/history/text_order.hpp"
#include "engine/explain/why/words.hpp"
#include "engine/levels/product.hpp"
#include "report/final_reads.hpp"
#include "report/steps.hpp"
#include "report/wording.hpp"

namespace cupel::report {

using explain::Counterexample;
using history::History;
using history::OpId;
using history::SessionId;
using history::TxnId;
using history::TxnStatus;
using text::markdown_block;
using text::markdown_code;
using text::markdown_text;

namespace {

// In a cell a bar ends the cell, even inside code, unless a backslash is before it.
std::string in_cell(const std::string& text) {
  std::string cell;
  for (const char c : text) cell += c == '|' ? "\\|" : std::string(1, c);
  return cell;
}

std::string as_words(std::string_view text) {
  return markdown_text(text);
}
std::string as_operation(std::string_view text) {
  return in_cell(markdown_code(text));
}

// Where it is from and how to see it again, as a list.
std::string facts(const Emission& emission, const Counterexample& example) {
  const Checked& checked = emission.checked;
  std::string text = fmt::format("- isolation level checked: {}", levels::name(example.level));
  if (const auto product = levels::product_name(checked.history, example.level); !product.empty()) {
    text += fmt::format(", which is {}", markdown_text(product));
  }
  text += "\n";
  if (const auto from = recorded_from(checked.history); !from.empty()) {
    text += fmt::format("- recorded from: {}\n", markdown_text(from));
  }
  if (const auto settings = checked.history.fact("settings"); !settings.empty()) {
    text += fmt::format("- settings: {}\n", markdown_text(settings));
  }
  text += fmt::format("- history: {}, {}\n", markdown_code(checked.file),
                      counted(checked.history.txn_count(), "transaction"));
  if (!emission.command.empty()) {
    text += fmt::format("- to see it again: {}\n", markdown_code(emission.command));
  }
  text += example.minimal
              ? "- smallest: without any of these operations the violation is gone\n"
              : "- perhaps not the smallest: the search for a smaller one met a limit\n";
  return text + "\n";
}

constexpr std::size_t kMostTableRows = 20;  // of what the final reads found

std::string row_of(const Checked& checked, const FinalReadsFinding& finding) {
  if (finding.by.empty())
    return fmt::format("| {} | | | {} |\n", markdown_text(finding.key),
                       markdown_text(finding.holdings));
  const auto& write = finding.by.front();
  auto when = write.acknowledged;
  for (const auto& part : {write.node.empty() ? "" : "by " + write.node, write.fault}) {
    if (!part.empty()) when += (when.empty() ? "" : ", ") + part;
  }
  auto what = fmt::format("{} {}", writer_of(checked.history, write), write.clause);
  if (finding.writes > 1) what += fmt::format(", and {} more before", finding.writes - 1);
  if (!write.where.empty()) what += "; " + write.where;
  return fmt::format("| {} | {} | {} | {} |\n", markdown_text(finding.key), markdown_text(what),
                     markdown_text(when), markdown_text(finding.holdings));
}

}  // namespace

std::string final_reads_tables(const Checked& checked, std::size_t most) {
  if (!final_reads_decide(checked)) return {};
  const auto findings = final_reads_findings(checked, most);
  const auto& found = *checked.analysis.final_reads;
  std::string text;
  const auto add = [&](std::string_view name, std::size_t all, const std::string& head) {
    if (all == 0) return;
    text += fmt::format(
        "### {}: {}\n\n{}|---|---|---|---|\n", name,
        name == "lost-write" ? "acknowledged writes are lost" : "the nodes differ at the end",
        head);
    for (const auto& finding : findings) {
      if (finding.name == name) text += row_of(checked, finding);
    }
    if (all > most) text += fmt::format("\n… and {}\n", counted(all - most, "more key"));
    text += "\n";
  };
  add("lost-write", found.lost.size(), "| key | lost write | acknowledged | at the end |\n");
  add("divergent-replicas", found.divergent.size(),
      "| key | write that some nodes miss | acknowledged | at the end |\n");
  return text;
}

std::string markdown_table(const Counterexample& example) {
  const History& history = example.history;
  const auto steps = steps_of(history, example.anomaly);
  const auto sessions = sessions_of(history, steps);
  std::string text = "| |", rule = "|---|";
  for (const SessionId session : sessions) {
    text += " session " + markdown_text(history::session_text(history, session)) + " |";
    rule += "---|";
  }
  text += "\n" + rule + "\n";
  std::size_t number = 0;
  for (const StepRow& row : rows_of(history, steps, {as_words, as_operation})) {
    text += fmt::format("| {} |", ++number);
    for (const SessionId session : sessions) {
      text += history.session(row.txn) == session ? " " + row.text + " |" : " |";
    }
    text += "\n";
  }
  return text;
}

std::string emit_markdown(const Emission& emission) {
  const Checked& checked = emission.checked;
  auto text = final_reads_tables(checked, kMostTableRows);
  for (const auto& finding : findings_of(checked)) {
    if (!text.empty() && !text.ends_with("\n\n")) text += "\n";
    const auto& anomaly = finding.anomaly;
    text += fmt::format("### {} violates {}\n\n{}\n\n", markdown_text(title_of(anomaly)),
                        levels::name(finding.level), markdown_text(sentence_of(anomaly)));
    // What was not made small is explained in the terms of the whole history, without a table.
    if (finding.small != nullptr)
      text += markdown_table(*finding.small) + "\n" + facts(emission, *finding.small);
    text += "<details><summary>Why</summary>\n\n" +
            markdown_block(title_of(anomaly) + ": " + anomaly.explanation) + "\n</details>\n";
  }
  if (text.empty()) {
    return fmt::format("No counterexample in {}: {}\n", markdown_code(checked.file),
                       markdown_text(verdict_of(checked)));
  }
  return text;
}

}  // namespace cupel::report
