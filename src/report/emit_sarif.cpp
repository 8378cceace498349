// The log: one run of one tool. Rules come from the glossary.
#include "report/emit_sarif.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "base/budget.hpp"
#include "base/text/json.hpp"
#include "data/history/naming.hpp"
#include "engine/explain/why/glossary.hpp"
#include "report/final_reads.hpp"

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

// At the first of the transactions, related to the others.
void locate(Json& result, const Emission& emission, const history::History& history,
            std::span<const history::TxnId> txns) {
  result["locations"] = Json::array({txns.empty() ? file_location(emission.checked.file)
                                                  : location_of(emission, history, txns.front())});
  if (txns.size() < 2) return;
  auto& related = result["relatedLocations"] = Json::array();
  for (const auto txn : txns.subspan(1)) related.push_back(location_of(emission, history, txn));
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

std::size_t Sarif::rule(const std::string& name) {
  for (const auto& entry : explain::anomalies()) {
    if (entry.name == name) return rule(name, entry.definition, entry.example);
  }
  for (const auto& entry : explain::terms()) {
    if (entry.name == name) return rule(name, entry.definition, {});
  }
  return rule(name, {}, {});
}

std::size_t Sarif::rule(const std::string& name, std::string_view definition,
                        std::string_view example) {
  const auto [known, fresh] = rule_index_.try_emplace(name, lists_->rules.size());
  if (!fresh) return known->second;
  Json rule{{"id", name}};
  if (!definition.empty()) rule["shortDescription"] = message(std::string(definition));
  if (!example.empty()) {
    rule["fullDescription"] = message(fmt::format("{} Smallest example: {}.", definition, example));
  }
  rule["help"] = message(fmt::format("`cupel explain {}` says more.", name));
  rule["defaultConfiguration"] = {{"level", "error"}};
  lists_->rules.push_back(std::move(rule));
  return known->second;
}

void Sarif::notify(const std::string& file, const std::string& text, const char* level) {
  lists_->notifications.push_back({{"level", level},
                                   {"message", message(text)},
                                   {"locations", Json::array({file_location(file)})}});
}

void Sarif::add_final_reads(const Emission& emission) {
  const Checked& checked = emission.checked;
  if (!final_reads_decide(checked)) return;
  for (const auto& finding : final_reads_findings(checked, kMostFindings)) {
    const std::string name(finding.name);
    Json one{{"ruleId", name}, {"ruleIndex", rule(name)}, {"level", "error"}};
    one["message"] = message(
        fmt::format("{} on {}: {}", name, finding.key, sentences_of(checked.history, finding)));
    locate(one, emission, checked.history, transactions_of(checked.history, finding));
    std::string print = fmt::format("{} {} {}", checked.file, name, finding.key);
    for (const auto& write : finding.by) {
      print += fmt::format(" {}", checked.history.label(write.txn));
    }
    one["partialFingerprints"] = {{"anomaly/v1", print}};
    one["properties"] = {{"key", finding.key}};
    lists_->results.push_back(std::move(one));
  }
}

void Sarif::add(const Emission& emission) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  const Checked& checked = emission.checked;
  add_final_reads(emission);
  if (const auto failed = final_reads_unknown(checked); !failed.empty())
    notify(checked.file, failed, "warning");
  for (const auto& level : checked.analysis.check.levels) {
    if (level.verdict != Verdict::kUnknown) continue;
    notify(checked.file, fmt::format("{} is unknown: {}", levels::name(level.level), level.detail),
           "warning");
  }
  const auto result = [&](const explain::Anomaly& anomaly, const history::History& history,
                          levels::Level at) {
    Json one{{"ruleId", anomaly.name}, {"ruleIndex", rule(anomaly.name)}, {"level", "error"}};
    one["message"] = message(title_of(anomaly) + ": " + anomaly.explanation);
    std::vector<history::TxnId> txns;
    for (const auto txn : anomaly.transactions) {
      if (txn.valid()) txns.push_back(txn);
    }
    locate(one, emission, history, txns);
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
