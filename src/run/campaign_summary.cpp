// The table of a campaign: anomalies down, databases at their levels across.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/budget.hpp"
#include "base/text/json.hpp"
#include "report/wording.hpp"
#include "run/campaign.hpp"

namespace cupel::run {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostColumns = 8;  // of a table that people can read

// A column of the table.
struct Column {
  std::string database, isolation, faults, product, asked;
  std::size_t runs = 0, violated = 0, unknown = 0, errors = 0, without_faults = 0;
  std::uint64_t committed = 0, aborted = 0;
  std::string error;                        // the first
  std::map<std::string, std::size_t> seen;  // anomaly → runs
};

std::vector<Column> columns_of(const CampaignSummary& summary) {
  std::vector<Column> columns;
  for (const auto& result : summary.results) {
    auto it = std::find_if(columns.begin(), columns.end(), [&](const Column& column) {
      return column.database == result.database && column.isolation == result.isolation &&
             column.faults == result.faults;
    });
    if (it == columns.end()) {
      it = columns.emplace(columns.end());
      it->database = result.database;
      it->isolation = result.isolation;
      it->faults = result.faults;
    }
    ++it->runs;
    if (!result.product.empty()) it->product = result.product;
    if (!result.asked.empty()) it->asked = result.asked;
    it->violated += result.verdict == "violated" ? 1 : 0;
    it->unknown += result.verdict == "unknown" ? 1 : 0;
    it->without_faults += result.without_faults ? 1 : 0;
    if (result.verdict == "error") {
      ++it->errors;
      if (it->error.empty()) it->error = result.error;
    }
    it->committed += result.committed;
    it->aborted += result.aborted;
    for (const auto& anomaly : result.anomalies) ++it->seen[anomaly];
  }
  return columns;
}

// The mild ones of every database first would bury the rest: by how many columns
// show it, fewest last, then by name.
std::vector<std::string> anomalies_of(const std::vector<Column>& columns) {
  std::map<std::string, std::size_t> in_columns;
  for (const auto& column : columns) {
    for (const auto& [anomaly, runs] : column.seen) ++in_columns[anomaly];
  }
  std::vector<std::string> names;
  for (const auto& [name, count] : in_columns) names.push_back(name);
  std::stable_sort(names.begin(), names.end(),
                   [&](const auto& a, const auto& b) { return in_columns[a] > in_columns[b]; });
  return names;
}

std::string escaped(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) {
    text.insert(at, "\\");
  }
  return text;
}

std::string verdict_cell(const Column& column) {
  if (column.runs == column.errors) return "error";
  const std::string without = column.without_faults > 0 ? ", without faults" : "";
  if (column.violated > 0)
    return fmt::format("**violated** in {} of {}{}", column.violated, column.runs, without);
  if (column.unknown > 0) {
    return fmt::format("unknown in {} of {}{}", column.unknown, column.runs, without);
  }
  return fmt::format("satisfied in {}{}", column.runs - column.errors, without);
}

// Anomalies down, databases across.
std::string table_across(const std::vector<Column>& columns) {
  std::string text = "|  |";
  const auto row = [&](const std::string& head, const auto& cell) {
    text += "| " + escaped(head) + " |";
    for (const auto& column : columns) text += ' ' + escaped(cell(column)) + " |";
    text += '\n';
  };
  for (const auto& column : columns) {
    text += fmt::format(" {}<br>{}{} |", escaped(column.database), escaped(column.isolation),
                        column.faults.empty() ? "" : "<br>" + escaped(column.faults));
  }
  text += "\n|---|";
  for (std::size_t i = 0; i < columns.size(); ++i) text += "---|";
  text += '\n';
  row("product", [](const Column& c) { return c.product.empty() ? "?" : c.product; });
  row("asked for", [](const Column& c) { return c.asked.empty() ? "?" : c.asked; });
  row("verdict", [](const Column& c) { return verdict_cell(c); });
  row("committed, aborted",
      [](const Column& c) { return fmt::format("{}, {}", c.committed, c.aborted); });
  for (const auto& anomaly : anomalies_of(columns)) {
    row(anomaly, [&](const Column& c) -> std::string {
      if (c.runs == c.errors) return "not run";
      const auto it = c.seen.find(anomaly);
      if (it == c.seen.end()) return "not seen";
      return fmt::format("**seen** in {} of {}", it->second, c.runs - c.errors);
    });
  }
  return text;
}

// "lost-update in 3 of 10, fractured-read in 1 of 10", in the order of the names; "nothing".
std::string seen_cell(const Column& column, const std::vector<std::string>& anomalies) {
  std::string seen;
  for (const auto& anomaly : anomalies) {
    const auto it = column.seen.find(anomaly);
    if (it == column.seen.end()) continue;
    seen += fmt::format("{}{} in {} of {}", seen.empty() ? "" : ", ", anomaly, it->second,
                        column.runs - column.errors);
  }
  return seen.empty() ? "nothing" : seen;
}

// Where that would be too wide: a line for each database, level and faults.
std::string table_down(const std::vector<Column>& columns) {
  std::string text =
      "| database | level | faults | product | asked for | verdict | committed, aborted | seen |\n"
      "|---|---|---|---|---|---|---|---|\n";
  const auto anomalies = anomalies_of(columns);
  for (const auto& c : columns) {
    text +=
        fmt::format("| {} | {} | {} | {} | {} | {} | {}, {} | {} |\n", escaped(c.database),
                    escaped(c.isolation), c.faults.empty() ? "none" : escaped(c.faults),
                    c.product.empty() ? "?" : escaped(c.product), c.asked.empty() ? "?" : c.asked,
                    verdict_cell(c), c.committed, c.aborted, seen_cell(c, anomalies));
  }
  return text;
}

}  // namespace

std::string summary_markdown(const CampaignSummary& summary) {
  const auto columns = columns_of(summary);
  std::string text =
      "# Campaign\n\nWhich anomalies were seen, of how many runs. \"Not seen\" is no "
      "proof that there is none.\n\n";
  text += columns.size() > kMostColumns ? table_down(columns) : table_across(columns);
  for (const auto& column : columns) {
    if (column.errors == 0) continue;
    text += fmt::format("\n- {} at {}: {} of {} runs failed: {}\n", column.database,
                        column.isolation.empty() ? "its default" : column.isolation, column.errors,
                        column.runs, column.error);
  }
  std::string kept;
  for (const auto& result : summary.results) {
    if (!result.history.empty()) {
      kept += fmt::format("- `{}`: {} {} at {}, workload {}{}, seed {}{}\n", result.history,
                          result.asked, result.verdict, result.isolation, result.workload,
                          result.faults.empty() ? "" : ", faults " + result.faults, result.seed,
                          result.error.empty() ? "" : ": " + result.error);
    }
  }
  if (!kept.empty()) text += "\nHistories kept (`cupel check FILE` explains them):\n\n" + kept;
  if (summary.left > 0) {
    text += fmt::format("\n{} runs are left; the same command goes on with them.\n", summary.left);
  }
  return text;
}

std::string summary_text(const CampaignSummary& summary) {
  const auto columns = columns_of(summary);
  const auto anomalies = anomalies_of(columns);
  std::string text =
      "Which anomalies were seen, of how many runs. An anomaly that was not seen may still "
      "exist.\n";
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<14}{}\n", name, value);
  };
  for (const auto& c : columns) {
    text +=
        fmt::format("\n{} at {}{}\n", c.database, c.isolation.empty() ? "its default" : c.isolation,
                    c.faults.empty() ? "" : ", faults " + c.faults);
    if (!c.product.empty()) line("product", c.product);
    if (!c.asked.empty()) line("asked for", c.asked);
    auto verdict = verdict_cell(c);
    for (std::size_t at = 0; (at = verdict.find("**")) != std::string::npos;) verdict.erase(at, 2);
    line("verdict", verdict);
    if (c.runs > c.errors) {
      line("transactions", fmt::format("{} committed, {} aborted", report::grouped(c.committed),
                                       report::grouped(c.aborted)));
      line("seen", seen_cell(c, anomalies));
    }
    if (c.errors > 0) line("failed", fmt::format("{} of {} runs: {}", c.errors, c.runs, c.error));
  }
  std::string kept;
  for (const auto& result : summary.results) {
    if (result.history.empty()) continue;
    kept += fmt::format("  {}: {} {} at {}, workload {}{}, seed {}{}\n", result.history,
                        result.asked, result.verdict, result.isolation, result.workload,
                        result.faults.empty() ? "" : ", faults " + result.faults, result.seed,
                        result.error.empty() ? "" : ": " + result.error);
  }
  if (!kept.empty()) text += "\nHistories kept (`cupel check FILE` explains them):\n" + kept;
  if (summary.left > 0) {
    text += fmt::format("\n{} runs are left; the same command goes on with them.\n",
                        report::grouped(summary.left));
  }
  return text;
}

std::string summary_json(const CampaignSummary& summary) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  Json object;
  object["runs"] = summary.results.size();
  object["resumed"] = summary.resumed;
  object["left"] = summary.left;
  object["exit_code"] = exit_code(summary);
  object["columns"] = Json::array();
  const auto columns = columns_of(summary);
  const auto anomalies = anomalies_of(columns);
  for (const auto& column : columns) {
    Json seen = Json::object();
    for (const auto& anomaly : anomalies) {
      const auto it = column.seen.find(anomaly);
      seen[anomaly] = it == column.seen.end() ? 0 : it->second;
    }
    object["columns"].push_back({{"database", column.database},
                                 {"isolation", column.isolation},
                                 {"faults", column.faults},
                                 {"product", column.product},
                                 {"asked", column.asked},
                                 {"runs", column.runs},
                                 {"violated", column.violated},
                                 {"unknown", column.unknown},
                                 {"errors", column.errors},
                                 {"error", column.error},
                                 {"committed", column.committed},
                                 {"aborted", column.aborted},
                                 {"anomalies", seen}});
  }
  return text::dump(object) + "\n";
}

}  // namespace cupel::run
