// The log: one run of one tool. Rules come from the glossary.
#include "report/emit_sarif.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/budget.hpp"
#include "explain/why/glossary.hpp"
#include "history/naming.hpp"
#include "text/json.hpp"

namespace cupel::report {

using Json = nlohmann::ordered_json;
using check::Verdict;

namespace {

// In every message "{0}" is a place for an argument, and a brace of the text stands twice
// (SARIF 2.1.0, 3.11.5).
Json message(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += std::string(c == '{' || c == '}' ? 2 : 1, c);
  return {{"text", escaped}};
}

Json file_location(const std::string& file) {
  return {{"physicalLocation", {{"artifactLocation", {{"uri", uri_of(file)}}}}}};
}

Json location_of(const Emission& emission, const history::History& history, history::TxnId txn) {
  auto location = file_location(emission.checked.file);
  const auto line = emission.lines.find(history.label(txn));
  if (line != emission.lines.end()) {
    location["physicalLocation"]["region"] = {{"startLine", line->second}};
  }
  location["logicalLocations"] =
      Json::array({{{"name", history::transaction_name(history, txn)},
                    {"fullyQualifiedName", history::transaction_in_full(history, txn)},
                    {"kind", "transaction"}}});
  return location;
}

}  // namespace

std::string uri_of(std::string_view path) {
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte < 0x80 && (std::isalnum(byte) != 0 ||
                                       std::string_view("-._~/").find(c) != std::string_view::npos);
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return uri;
}

struct Sarif::Lists {
  Json rules = Json::array(), results = Json::array(), notifications = Json::array();
};

Sarif::Sarif(std::string version)
    : version_(std::move(version)), lists_(std::make_unique<Lists>()) {}
Sarif::~Sarif() {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  lists_.reset();
}

std::size_t Sarif::rule(const explain::Anomaly& anomaly) {
  const auto [known, fresh] = rule_index_.try_emplace(anomaly.name, lists_->rules.size());
  if (!fresh) return known->second;
  Json rule{{"id", anomaly.name}};
  for (const auto& entry : explain::anomalies()) {
    if (entry.name != anomaly.name) continue;
    rule["shortDescription"] = message(std::string(entry.definition));
    if (!entry.example.empty()) {
      rule["fullDescription"] =
          message(fmt::format("{} Smallest example: {}.", entry.definition, entry.example));
    }
  }
  rule["help"] = message(fmt::format("`cupel explain {}` says more.", anomaly.name));
  rule["defaultConfiguration"] = {{"level", "error"}};
  lists_->rules.push_back(std::move(rule));
  return known->second;
}

void Sarif::notify(const std::string& file, const std::string& text, const char* level) {
  lists_->notifications.push_back({{"level", level},
                                   {"message", message(text)},
                                   {"locations", Json::array({file_location(file)})}});
}

void Sarif::add(const Emission& emission) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  const Checked& checked = emission.checked;
  for (const auto& level : checked.analysis.check.levels) {
    if (level.verdict != Verdict::kUnknown) continue;
    notify(checked.file, fmt::format("{} is unknown: {}", levels::name(level.level), level.detail),
           "warning");
  }
  const auto result = [&](const explain::Anomaly& anomaly, const history::History& history,
                          levels::Level at) {
    Json one{{"ruleId", anomaly.name}, {"ruleIndex", rule(anomaly)}, {"level", "error"}};
    one["message"] = message(title_of(anomaly) + ": " + anomaly.explanation);
    std::vector<history::TxnId> txns;
    for (const auto txn : anomaly.transactions) {
      if (txn.valid()) txns.push_back(txn);
    }
    one["locations"] = Json::array({txns.empty() ? file_location(checked.file)
                                                 : location_of(emission, history, txns.front())});
    if (txns.size() > 1) {
      auto& related = one["relatedLocations"] = Json::array();
      for (std::size_t i = 1; i < txns.size(); ++i) {
        related.push_back(location_of(emission, history, txns[i]));
      }
    }
    // The same anomaly of the same transactions is the same finding in the next run.
    std::string print = checked.file + " " + anomaly.name;
    for (const auto txn : txns) print += fmt::format(" {}", history.label(txn));
    one["partialFingerprints"] = {{"anomaly/v1", print}};
    one["properties"] = {{"isolationLevel", levels::name(at)}, {"adya", anomaly.adya}};
    lists_->results.push_back(std::move(one));
  };
  for (const auto& finding : findings_of(checked)) {
    result(finding.anomaly, finding.history, finding.level);
  }
}

void Sarif::add(const std::string& file, const base::Error& error) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  successful_ = false;
  notify(file, error.to_string(), "error");
}

std::string Sarif::text() const {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  Json invocation{{"executionSuccessful", successful_}};
  if (!lists_->notifications.empty())
    invocation["toolExecutionNotifications"] = lists_->notifications;
  const Json run{
      {"tool", {{"driver", {{"name", "cupel"}, {"version", version_}, {"rules", lists_->rules}}}}},
      {"invocations", Json::array({invocation})},
      {"columnKind", "unicodeCodePoints"},
      {"results", lists_->results}};
  const Json log{{"$schema",
                  "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
                  "sarif-schema-2.1.0.json"},
                 {"version", "2.1.0"},
                 {"runs", Json::array({run})}};
  return text::dump_indented(log) + "\n";
}

}  // namespace cupel::report
