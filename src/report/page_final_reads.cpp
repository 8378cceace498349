// See the header. The cells are the parts that every output has.
#include "report/page_final_reads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "engine/analysis/final_reads.hpp"
#include "engine/explain/why/glossary.hpp"
#include "report/final_reads.hpp"
#include "report/wording.hpp"

namespace cupel::report {

namespace {

constexpr std::size_t kMostWritesInTable = 3;

std::string in_cell(std::string_view text) {
  return in_markup(text, "\n\t");
}

std::string definition(std::string_view name) {
  for (const auto& term : explain::terms()) {
    if (term.name != name) continue;
    std::string text(term.definition);
    std::erase(text, '`');
    return text;
  }
  return {};
}

std::string cell(const std::string& text) {
  return fmt::format("<td>{}</td>", text.empty() ? "–" : in_cell(text));
}

// A row for each write; the key and what the nodes hold stand beside all of them.
std::string rows(const history::History& history, const FinalReadsFinding& finding) {
  const auto writes = std::span(finding.by).first(std::min(finding.by.size(), kMostWritesInTable));
  const auto span = fmt::format(" rowspan=\"{}\"", std::max<std::size_t>(writes.size(), 1));
  auto out = fmt::format("<tr><th scope=\"row\"{}>{}</th>", span, in_cell(finding.key));
  const auto held = fmt::format("<td{}>{}</td></tr>\n", span, in_cell(finding.holdings));
  if (writes.empty()) return out + "<td colspan=\"5\">no write is known</td>" + held;
  for (const auto& write : writes) {
    const bool first = &write == &writes.front();
    auto clause = write.clause;
    if (!write.where.empty()) clause += ", " + write.where;
    if (finding.writes > 1) {
      clause += fmt::format(", and {} before", counted(finding.writes - 1, "lost write"));
    }
    if (!first) out += "<tr>";
    out += cell(clause) +
           fmt::format("<td class=\"txns\">{}</td>", in_cell(writer_of(history, write))) +
           cell(write.acknowledged) + cell(write.node) + cell(write.fault);
    out += first ? held : "</tr>\n";
  }
  return out;
}

void table(std::string& out, const Checked& checked, std::span<const FinalReadsFinding> findings,
           std::string_view name, std::size_t all) {
  if (all == 0) return;
  const bool lost = name == "lost-write";
  out += fmt::format(
      "<article class=\"finding\"><h3>{} <small>{}</small></h3>\n<p class=\"definition\">{}</p>\n"
      "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"{}\"><table class=\"ladder\">"
      "<thead><tr><th scope=\"col\">key</th><th scope=\"col\">{}</th><th scope=\"col\">written "
      "by</th><th scope=\"col\">acknowledged at</th><th scope=\"col\">by node</th><th "
      "scope=\"col\">fault</th><th scope=\"col\">at the end</th></tr></thead>\n<tbody>\n",
      name, counted(all, "key"), in_cell(definition(name)), name,
      lost ? "lost write" : "write that is not on every node");
  for (const auto& finding : findings) {
    if (finding.name == name) out += rows(checked.history, finding);
  }
  out += "</tbody>\n</table></div>\n";
  if (all > kMostKeysOnPage) {
    out += fmt::format(
        "<p class=\"definition\">… and {}; <code>cupel check --json</code> lists "
        "them.</p>\n",
        counted(all - kMostKeysOnPage, "more key"));
  }
  out += "</article>\n";
}

}  // namespace

std::string final_reads_section(const Checked& checked) {
  const auto& found = checked.analysis.final_reads;
  if (!found) return {};
  std::string out = fmt::format(
      "<section id=\"final-reads\" aria-labelledby=\"final-reads-title\">\n"
      "<h2 id=\"final-reads-title\">Final reads</h2>\n<p class=\"definition\">{}.</p>\n",
      in_cell(final_reads_summary(checked)));
  const auto findings = final_reads_findings(checked, kMostKeysOnPage);
  table(out, checked, findings, "lost-write", found->lost.size());
  table(out, checked, findings, "divergent-replicas", found->divergent.size());
  return out + "</section>\n";
}

std::vector<history::TxnId> writers_in_section(const Checked& checked) {
  std::vector<history::TxnId> txns;
  for (const auto& finding : final_reads_findings(checked, kMostKeysOnPage)) {
    for (const auto& write : finding.by) txns.push_back(write.txn);
  }
  return txns;
}

}  // namespace cupel::report
