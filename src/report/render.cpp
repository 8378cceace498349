// Lines and text: see the header. json.cpp has the rest.
#include "report/render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "explain/explain.hpp"
#include "report/product.hpp"

namespace cupel::report {

using check::LevelResult;
using check::Verdict;
using levels::Level;

namespace {

constexpr std::size_t kAnomaliesShown = 5;

std::string painted(Verdict verdict, std::size_t width, const TextStyle& style) {
  const auto word = fmt::format("{:<{}}", check::to_string(verdict), width);
  if (!style.colour) return word;
  const char* code = verdict == Verdict::kSatisfied  ? "32"
                     : verdict == Verdict::kViolated ? "31"
                                                     : "33";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, word);
}

std::string names(const std::vector<Level>& list) {
  std::string text;
  for (const Level level : list) {
    if (!text.empty()) text += ", ";
    text += levels::name(level);
  }
  return text.empty() ? "none" : text;
}

std::string decided(const LevelResult& result) {
  if (result.decided_by.starts_with("implied-by:"))
    return "follows from " + result.decided_by.substr(11);
  return result.decided_by;
}

std::string counted(std::size_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string facts(const history::History& history) {
  std::size_t committed = 0;
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    if (history.status(history::TxnId(t)) == history::TxnStatus::kCommitted) ++committed;
  }
  const auto& metadata = history.metadata();
  const auto say = [&](const char* name) {
    const auto it = metadata.find(name);
    return it == metadata.end() ? std::string() : it->second;
  };
  std::string text = say("format");
  if (!text.empty()) text += ": ";
  text +=
      fmt::format("{} ({} committed) of {}, {} on {}", counted(history.txn_count(), "transaction"),
                  committed, counted(history.session_count(), "session"),
                  counted(history.op_count(), "operation"), counted(history.key_count(), "key"));
  const auto database = say("database"), isolation = say("isolation");
  if (!database.empty()) text += ", recorded from " + database;
  if (!isolation.empty()) text += (database.empty() ? ", recorded at " : " at ") + isolation;
  return text;
}

std::string named_level(const Checked& checked, Level level) {
  const auto product = product_name(checked.history, level);
  return product.empty() ? std::string(levels::name(level))
                         : fmt::format("{} ({})", levels::name(level), product);
}

void append_indented(std::string& out, std::string_view text, std::string_view indent) {
  std::size_t at = 0;
  while (at <= text.size()) {
    const auto end = std::min(text.find('\n', at), text.size());
    out += indent;
    out += text.substr(at, end - at);
    out += '\n';
    at = end + 1;
  }
}

std::string anomalies_text(const Checked& checked, const LevelResult& result) {
  std::string text;
  const Level at = result.explained_at.value_or(result.level);
  const auto anomalies = explain::explain(checked.history, at, *result.violation);
  std::map<std::string, std::size_t> left_out;
  for (std::size_t i = 0; i < anomalies.size(); ++i) {
    const auto& anomaly = anomalies[i];
    if (i >= kAnomaliesShown) {
      ++left_out[anomaly.name];
      continue;
    }
    std::string name = anomaly.name;
    if (!anomaly.adya.empty() && anomaly.adya != anomaly.name) name += " (" + anomaly.adya + ")";
    append_indented(text, name + ": " + anomaly.explanation, "  ");
  }
  for (const auto& [name, count] : left_out) {
    text += fmt::format("  ... and {} more of {}\n", count, name);
  }
  return text;
}

// A paragraph for each way in which the weakest violated levels are violated.
std::vector<std::string> reasons(const Checked& checked) {
  std::vector<std::pair<std::string, std::string>> found;  // who is violated, and the anomalies
  const auto& weakest = checked.result.weakest_violated;
  for (const auto& result : checked.result.levels) {
    if (result.verdict != Verdict::kViolated || !result.violation ||
        std::find(weakest.begin(), weakest.end(), result.level) == weakest.end()) {
      continue;
    }
    std::string who = named_level(checked, result.level);
    if (result.explained_at.value_or(result.level) != result.level) {
      who += fmt::format(" (because {} is)", levels::name(*result.explained_at));
    }
    auto text = anomalies_text(checked, result);
    const auto same = std::find_if(found.begin(), found.end(),
                                   [&](const auto& other) { return other.second == text; });
    if (same == found.end()) {
      found.emplace_back(std::move(who), std::move(text));
    } else {
      same->first += ", " + who;
    }
  }
  std::vector<std::string> paragraphs;
  for (const auto& [who, text] : found) paragraphs.push_back("  violated: " + who + "\n" + text);
  return paragraphs;
}

}  // namespace

std::string lines(const Checked& checked) {
  std::string text;
  for (const auto& result : checked.result.levels) {
    if (result.verdict == Verdict::kRefused) continue;
    text += fmt::format("{}\t{}\t{}\n", checked.file, levels::name(result.level),
                        check::to_string(result.verdict));
  }
  return text;
}

std::string explanation(const Checked& checked) {
  std::string text;
  for (const auto& result : checked.result.levels) {
    if (result.verdict != Verdict::kUnknown) continue;
    append_indented(
        text, fmt::format("unknown: {}: {}", named_level(checked, result.level), result.detail),
        "  ");
  }
  for (const auto& paragraph : reasons(checked)) text += paragraph;
  return text;
}

std::string ladder(const Checked& checked, const TextStyle& style) {
  const auto& result = checked.result;
  std::string text = fmt::format("{}: strongest satisfied: {}; weakest violated: {}", checked.file,
                                 names(result.strongest_satisfied), names(result.weakest_violated));
  std::vector<Level> unknown;
  std::size_t width = 0;
  for (const auto& one : result.levels) {
    if (one.verdict == Verdict::kUnknown) unknown.push_back(one.level);
    width = std::max(width, named_level(checked, one.level).size());
  }
  if (!unknown.empty()) text += "; unknown: " + names(unknown);
  text += "\n  " + facts(checked.history) + "\n\n";
  for (const auto& one : result.levels) {
    std::string line = fmt::format("  {:<{}}  {}", named_level(checked, one.level), width,
                                   painted(one.verdict, 9, style));
    const bool decided_here = !one.decided_by.empty() && !one.decided_by.starts_with("implied-by:");
    if (one.verdict == Verdict::kRefused || one.verdict == Verdict::kUnknown) {
      // "serializable needs …" in a line about serializable.
      const std::string own = std::string(levels::name(one.level)) + " ";
      line += "  " + (one.detail.starts_with(own) ? one.detail.substr(own.size()) : one.detail);
    } else {
      line += "  " + decided(one);
    }
    if (decided_here && one.verdict != Verdict::kRefused)
      line += fmt::format(", {:.3f} s", one.seconds);
    text += line + "\n";
  }
  for (const auto& paragraph : reasons(checked)) text += "\n" + paragraph;
  return text;
}

}  // namespace cupel::report
