// Lines and text: see the header. json.cpp has the rest.
#include "report/render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/visible.hpp"
#include "data/history/ignored.hpp"
#include "data/history/naming.hpp"
#include "engine/analysis/explanations.hpp"
#include "engine/explain/why/explain.hpp"
#include "engine/explain/why/words.hpp"
#include "engine/levels/product.hpp"
#include "report/evidence.hpp"
#include "report/final_reads.hpp"
#include "report/promise.hpp"
#include "report/violations_text.hpp"
#include "report/wording.hpp"

namespace cupel::report {

using analysis::Explanation;
using check::LevelResult;
using check::Verdict;
using levels::Level;

namespace {

std::string names(const std::vector<Level>& list) {
  std::string text;
  for (const Level level : list) {
    if (!text.empty()) text += ", ";
    text += levels::name(level);
  }
  return text.empty() ? "none" : text;
}

std::vector<Level> with_verdict(const check::CheckResult& result, Verdict verdict) {
  std::vector<Level> list;
  for (const auto& one : result.levels) {
    if (one.verdict == verdict) list.push_back(one.level);
  }
  return list;
}

std::string decided(const LevelResult& result) {
  if (result.decided_by.starts_with("implied-by:"))
    return "follows from " + result.decided_by.substr(11);
  return result.decided_by;
}

std::string facts(const history::History& history) {
  std::size_t committed = 0;
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    if (history.status(history::TxnId(t)) == history::TxnStatus::kCommitted) ++committed;
  }
  const auto& metadata = history.metadata();
  const auto say = [&](const char* name) {
    const auto it = metadata.find(name);
    return it == metadata.end() ? std::string() : base::visible(it->second);
  };
  std::string text = say("format");
  if (!text.empty()) text += ": ";
  text +=
      fmt::format("{} ({} committed) of {}, {} on {}", counted(history.txn_count(), "transaction"),
                  grouped(committed), counted(history.session_count(), "session"),
                  counted(history.op_count(), "operation"), counted(history.key_count(), "key"));
  if (const auto kind = say("kind"); !kind.empty()) text += ", read as " + kind;
  if (const auto ignored = history.fact("ignored"); !ignored.empty())
    text += ", without " + ignored_text(ignored);
  const auto database = say("database"), isolation = say("isolation");
  if (!database.empty()) text += ", recorded from " + database;
  if (!isolation.empty()) text += (database.empty() ? ", recorded at " : " at ") + isolation;
  return text;
}

}  // namespace

std::string named_level(const Checked& checked, Level level) {
  const auto product = base::visible(levels::product_name(checked.history, level));
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

std::string painted(Verdict verdict, const TextStyle& style, std::size_t width) {
  auto word = fmt::format("{:<{}}", check::to_string(verdict), width);
  if (!style.colour) return word;
  const char* code = verdict == Verdict::kSatisfied  ? "32"
                     : verdict == Verdict::kViolated ? "31"
                     : verdict == Verdict::kRefused  ? "2"
                                                     : "33";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, word);
}

std::string without_own_name(Level level, const std::string& detail) {
  const std::string own = std::string(levels::name(level)) + " ";
  return detail.starts_with(own) ? detail.substr(own.size()) : detail;
}

std::string ignored_text(const std::string& fact) {
  std::string text;
  for (const auto& [f, count] : history::ignored_op_maps(fact)) {
    text += text.empty() ? counted(count, "op map") : ", " + grouped(count);
    text += " with f=" + base::visible(f);
  }
  return text;
}

std::string lines(const Checked& checked) {
  std::string text;
  for (const auto& result : checked.analysis.check.levels) {
    if (result.verdict == Verdict::kRefused) continue;
    text += fmt::format("{}\t{}\t{}\n", base::visible(checked.file), levels::name(result.level),
                        check::to_string(result.verdict));
  }
  return text;
}

std::string explanation(const Checked& checked, const TextStyle& style) {
  std::string text;
  for (const auto& result : checked.analysis.check.levels) {
    if (result.verdict != Verdict::kUnknown) continue;
    append_indented(text,
                    fmt::format("unknown: {}: {}", named_level(checked, result.level),
                                without_own_name(result.level, result.detail)),
                    "  ");
  }
  const auto [paragraphs, listed] = violations_text(checked, style);
  text += counts(checked, listed);
  for (const auto& paragraph : paragraphs) text += paragraph;
  return text;
}

namespace {

// Who reads "serializable, but not read-committed" thinks that the tool is broken.
std::string about_sessions(const check::CheckResult& result) {
  std::vector<Level> without, with;
  for (const Level level : result.strongest_satisfied) {
    if (!levels::has_session_order(level)) without.push_back(level);
  }
  for (const Level level : result.weakest_violated) {
    if (levels::is_weak(level)) with.push_back(level);
  }
  if (without.empty() || with.empty()) return {};
  return fmt::format(
      "  {} {} transactions of one session change places; {} and the strong-session levels {} "
      "not.\n",
      names(without), without.size() == 1 ? "lets" : "let", names(with), "do");
}

}  // namespace

std::string windows_text(const Checked& checked) {
  if (!checked.analysis.windows) return {};
  const auto& w = *checked.analysis.windows;
  std::string text =
      fmt::format("  {}: {} ({} committed) of {}, {} on {}; at most {} held\n", w.format,
                  counted(w.transactions, "transaction"), grouped(w.committed),
                  counted(w.sessions, "session"), counted(w.operations, "operation"),
                  counted(w.keys, "key"), counted(w.most_held, "transaction"));
  for (const auto& [level, promise] : w.promises) append_indented(text, promise, "  ");
  if (w.violated) {
    append_indented(text,
                    fmt::format("what follows is about the part that was held after {}, in which "
                                "keys start with what had been forgotten",
                                counted(w.violated->second, "transaction")),
                    "  ");
  }
  return text;
}

std::string strongest_and_weakest(const Checked& checked) {
  const auto& result = checked.analysis.check;
  auto text = fmt::format("strongest satisfied: {}; weakest violated: {}",
                          names(result.strongest_satisfied), names(result.weakest_violated));
  if (const auto unknown = with_verdict(result, Verdict::kUnknown); !unknown.empty())
    text += "; unknown: " + names(unknown);
  return text;
}

namespace {

std::string row_of_level(const Checked& checked, const LevelResult& one, std::size_t width,
                         const TextStyle& style) {
  auto line = fmt::format("  {:<{}}  {}", named_level(checked, one.level), width,
                          painted(one.verdict, style, 9));
  const bool decided_here = !one.decided_by.empty() && !one.decided_by.starts_with("implied-by:");
  if (one.verdict == Verdict::kRefused || one.verdict == Verdict::kUnknown) {
    line += "  " + without_own_name(one.level, one.detail);
  } else {
    line += "  " + decided(one);
  }
  if (decided_here && one.verdict != Verdict::kRefused)
    line += fmt::format(", {:.3f} s", one.seconds);
  return line + "\n";
}

}  // namespace

std::string levels_text(const Checked& checked, const TextStyle& style) {
  const auto& result = checked.analysis.check;
  std::string text;
  if (style.verbose) {
    std::size_t width = 0;
    for (const auto& one : result.levels)
      width = std::max(width, named_level(checked, one.level).size());
    for (const auto& one : result.levels) text += row_of_level(checked, one, width, style);
    return text;
  }
  for (const auto verdict : {Verdict::kSatisfied, Verdict::kViolated}) {
    if (const auto list = with_verdict(result, verdict); !list.empty())
      text += fmt::format("  {}  {}\n", painted(verdict, style, 9), names(list));
  }
  std::vector<std::pair<std::string, std::vector<Level>>> reasons;  // the limit and its levels
  for (const auto& one : result.levels) {
    if (one.verdict != Verdict::kUnknown) continue;
    const auto why = without_own_name(one.level, one.detail);
    const auto known = std::find_if(reasons.begin(), reasons.end(),
                                    [&](const auto& reason) { return reason.first == why; });
    if (known != reasons.end()) {
      known->second.push_back(one.level);
    } else {
      reasons.emplace_back(why, std::vector{one.level});
    }
  }
  for (const auto& [why, list] : reasons) {
    text += fmt::format("  {}  {}: {}\n", painted(Verdict::kUnknown, style, 9), names(list), why);
  }
  if (const auto list = with_verdict(result, Verdict::kRefused); !list.empty()) {
    text += fmt::format("  {}  {} (--verbose says why)\n", painted(Verdict::kRefused, style, 9),
                        names(list));
  }
  return text;
}

std::string findings_text(const Checked& checked, const TextStyle& style) {
  std::string text;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += "\n" + part;
  };
  const auto [paragraphs, listed] = violations_text(checked, style);
  add(counts(checked, listed));
  for (const auto& paragraph : paragraphs) add(paragraph);
  add(final_reads_text(checked));
  add(style.verbose || style.test_power ? test_power_text(checked) : test_power_line(checked));
  return text;
}

std::string ladder(const Checked& checked, const TextStyle& style) {
  const bool little = !evidence_warnings(checked).empty();
  auto text = fmt::format("{}: {}{}", base::visible(checked.file),
                          little ? "little evidence; " : "", strongest_and_weakest(checked));
  if (checked.analysis.windows) {
    text += "; decided in windows\n" + warnings_text(checked) + windows_text(checked);
  } else {
    text += "\n" + warnings_text(checked) + "  " +
            (checked.analysis.whole ? facts(checked.history) : "not read to its end") + "\n";
  }
  if (const auto promise = promise_text(checked); !promise.empty()) text += "  " + promise + "\n";
  return text + about_sessions(checked.analysis.check) + "\n" + levels_text(checked, style) +
         findings_text(checked, style);
}

}  // namespace cupel::report
