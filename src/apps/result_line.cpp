// A line of `cupel check --json`: see the header.
#include "apps/result_line.hpp"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "apps/command.hpp"
#include "base/budget.hpp"
#include "engine/analysis/final_reads.hpp"
#include "engine/analysis/levels_by_name.hpp"

namespace cupel::apps {

using check::Verdict;

namespace {

using Json = nlohmann::json;

std::optional<Verdict> verdict_of(std::string_view word) {
  for (const Verdict verdict : {Verdict::kSatisfied, Verdict::kViolated, Verdict::kUnknown}) {
    if (word == check::to_string(verdict)) return verdict;
  }
  return std::nullopt;
}

// What final reads lost.
bool is_lost(const Json& result) {
  const auto reads = result.find("final_reads");
  if (reads == result.end() || !reads->is_object()) return false;
  const auto more_than_none = [&](const char* name) {
    const auto count = reads->find(name);
    return count != reads->end() && count->is_number_unsigned() && *count != 0;
  };
  return more_than_none("keys_with_lost_writes") || more_than_none("divergent_keys");
}

std::string text_of(const Json& result, const char* name) {
  const auto text = result.find(name);
  return text != result.end() && text->is_string() ? text->get<std::string>() : std::string();
}

int code_of(const ResultLine& line, const Json& result) {
  const bool by_name = analysis::levels_by_name(line.verdicts.size());
  const analysis::Losses losses{.shown = is_lost(result),
                                .gone = text_of(result, "data_gone"),
                                .failed = text_of(result, "final_reads_failed"),
                                .by_name = by_name};
  int code = kSatisfied;
  for (const auto& [level, verdict] : line.verdicts) {
    if (verdict == Verdict::kViolated) code = std::max<int>(code, kViolated);
    if (verdict == Verdict::kUnknown) code = std::max<int>(code, kUnknown);
    if (verdict == Verdict::kRefused && by_name) code = kBad;
  }
  return exit_code_with(losses.verdict(), code);
}

}  // namespace

int exit_code_with(Verdict losses, int code) {
  if (losses == Verdict::kViolated) return std::max<int>(code, kViolated);
  return losses == Verdict::kUnknown && code == kSatisfied ? kUnknown : code;
}

bool begins_as_result(const std::string& line) {
  return line.starts_with("{\"file\":");
}

std::optional<ResultLine> result_of(const std::string& line) {
  if (!begins_as_result(line)) return std::nullopt;
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  const auto json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("levels") || !json["levels"].is_array() ||
      !json.contains("file") || !json["file"].is_string()) {
    return std::nullopt;
  }
  ResultLine result{.file = json["file"].get<std::string>(), .verdicts = {}, .code = kSatisfied};
  const auto word = [](const Json& one, const char* name) {
    return one.is_object() ? text_of(one, name) : std::string();
  };
  for (const auto& one : json["levels"]) {
    const auto level = levels::parse_level(word(one, "level"));
    const auto verdict = verdict_of(word(one, "verdict"));
    if (!level || !verdict) return std::nullopt;
    result.verdicts.emplace_back(*level, *verdict);
  }
  if (json.contains("refused") && json["refused"].is_array()) {
    for (const auto& one : json["refused"]) {
      if (const auto level = levels::parse_level(word(one, "level")))
        result.verdicts.emplace_back(*level, Verdict::kRefused);
    }
  }
  result.code = code_of(result, json);
  return result;
}

}  // namespace cupel::apps
