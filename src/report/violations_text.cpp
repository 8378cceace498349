// Paragraph by paragraph: see the header.
#include "report/violations_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/visible.hpp"
#include "data/history/naming.hpp"
#include "engine/analysis/violations.hpp"
#include "engine/explain/why/words.hpp"
#include "report/promise.hpp"
#include "report/steps.hpp"
#include "report/wording.hpp"

namespace cupel::report {

using analysis::ReportedViolation;
using check::LevelResult;
using check::Verdict;
using levels::Level;

namespace {

constexpr std::size_t kShown = 12;
constexpr std::size_t kFurther = 5;  // of those that explain no level, unless all are in full
constexpr std::size_t kTransactionsNamed = 6;

// How a level is called that a violation violates: one that was not asked for, by one that was.
std::string level_asked_for(const Checked& checked, Level level) {
  const LevelResult* stronger = nullptr;  // asked for, and the weakest such
  for (const auto& result : checked.analysis.check.levels) {
    if (result.level == level) return named_level(checked, level);
    if (result.verdict != Verdict::kViolated || !levels::implies(result.level, level)) continue;
    if (stronger == nullptr || levels::implies(stronger->level, result.level)) stronger = &result;
  }
  if (stronger == nullptr) return named_level(checked, level);
  return fmt::format("{} (because {} is violated)", named_level(checked, stronger->level),
                     levels::name(level));
}

// The transactions by name, the last ones as a number if they are many.
std::vector<std::string> names_of(const ReportedViolation& one) {
  std::vector<std::string> who;
  for (const auto txn : one.anomaly.transactions)
    who.push_back(history::transaction_name(*one.history, txn));
  if (who.size() > kTransactionsNamed) {
    const auto more = who.size() - kTransactionsNamed;
    who.resize(kTransactionsNamed);
    who.push_back(fmt::format("{} more", more));
  }
  return who;
}

std::string alike(const ReportedViolation& one) {
  if (one.occurrences < 2) return {};
  return fmt::format("  ... and {} more like it, of the same cause\n",
                     grouped(one.occurrences - 1));
}

bool cuts_lists(const Checked& checked, const explain::Counterexample& small) {
  for (std::size_t i = 0; i < small.history.op_count(); ++i) {
    const auto op = small.history.op(history::OpId(i));
    if (op.kind != history::OpKind::kListRead || !small.history.list_known(op)) continue;
    const auto whole = checked.history.op(small.original_op[i]);
    if (small.history.list(op).size() < checked.history.list(whole).size()) return true;
  }
  return false;
}

// How little of the history it takes; nothing where that is no news.
std::string size_of(const Checked& checked, const explain::Counterexample& small) {
  const auto& whole = checked.history;
  if (small.violation.internal.size() == 1 || small.history.op_count() == whole.op_count())
    return {};
  return fmt::format(
      "  {} and {} of {} and {} suffice for this{}{}\n",
      counted(small.history.txn_count(), "transaction"),
      counted(small.history.op_count(), "operation"), grouped(whole.txn_count()),
      grouped(whole.op_count()),
      small.minimal ? "; none can be left out." : "; the time for making it smaller was up.",
      cuts_lists(checked, small)
          ? " Lists are shown without the elements whose appends are left out."
          : "");
}

// What went wrong, the interleaving, the proof.
std::string in_full(const Checked& checked, const ReportedViolation& one, const TextStyle& style) {
  const auto title = title_of(one.anomaly);
  const std::string_view why = one.anomaly.explanation;
  const auto proof = std::min(why.find("\n  Let:"), why.size());
  std::string text;
  append_indented(text,
                  (style.colour ? "\x1b[1m" + title + "\x1b[0m" : title) + ": " +
                      std::string(why.substr(0, proof)),
                  "  ");
  auto steps = style.interleaving
                   ? interleaving_text(*one.history, one.anomaly, one.small != nullptr)
                   : std::string();
  if (!steps.empty()) {
    steps.pop_back();
    text += "    Interleaving:\n";
    append_indented(text, steps, "    ");
  }
  if (proof < why.size()) append_indented(text, why.substr(proof + 1), "  ");
  return text + (one.small != nullptr ? size_of(checked, *one.small) : "") + alike(one);
}

std::string in_a_line(const Checked& checked, const ReportedViolation& one) {
  auto text = fmt::format("    {}: {}", title_of(one.anomaly), explain::enumerate(names_of(one)));
  std::vector<std::string> keys;
  for (const auto key : one.anomaly.keys)
    keys.push_back(base::visible(one.history->key(key).to_string()));
  if (!keys.empty())
    text += fmt::format(" on {} {}", keys.size() == 1 ? "key" : "keys", explain::enumerate(keys));
  if (one.occurrences > 1)
    text += fmt::format(", and {} more like it", grouped(one.occurrences - 1));
  return text + fmt::format("; violates {}\n", level_asked_for(checked, one.level));
}

class Writer {
 public:
  Writer(const Checked& checked, const TextStyle& style) : checked_(checked), style_(style) {
    for (const auto& result : checked.analysis.check.levels) {
      const auto& weakest = checked.analysis.check.weakest_violated;
      if (std::find(weakest.begin(), weakest.end(), result.level) != weakest.end())
        unexplained_.insert(result.level);
    }
  }

  ViolationsText write() && {
    const auto decisive = decisive_levels(checked_);
    auto all = analysis::violations_of(checked_.history, checked_.analysis, kShown, decisive);
    bool others = false;
    std::vector<const ReportedViolation*> further;
    for (const auto& one : all.shown) {
      const auto explained = take_explained(one);
      if (explained.empty() && !style_.verbose) {
        further.push_back(&one);
        continue;
      }
      if (!others && !decisive.empty() && !analysis::is_of(one, decisive)) {
        others = true;
        text_.paragraphs.push_back(bold("  What other levels forbid") + "\n");
      }
      text_.paragraphs.push_back(violated(explained.empty() ? level_asked_for(checked_, one.level)
                                                            : enumerated(explained, one.level)) +
                                 in_full(checked_, one, style_));
      ++text_.listed[one.anomaly.name];
    }
    add_further(further, all.left_out);
    const auto& whole = checked_.analysis.whole_history;
    if (whole && !whole->causes.all)
      text_.paragraphs.emplace_back(
          "  There may be more causes: the search for them met a limit.\n");
    return std::move(text_);
  }

 private:
  [[nodiscard]] std::string bold(const std::string& words) const {
    return style_.colour ? "\x1b[1m" + words + "\x1b[0m" : words;
  }
  [[nodiscard]] std::string violated(const std::string& levels) const {
    return "  " + painted(Verdict::kViolated, style_) + ": " + levels + "\n";
  }

  // The levels that the violation is the first to explain.
  std::vector<Level> take_explained(const ReportedViolation& one) {
    std::vector<Level> taken;
    for (const Level level : unexplained_) {
      const bool named = std::find(one.levels.begin(), one.levels.end(), level) != one.levels.end();
      if (named || levels::implies(level, one.level)) taken.push_back(level);
    }
    for (const Level level : taken) unexplained_.erase(level);
    return taken;
  }

  [[nodiscard]] std::string enumerated(const std::vector<Level>& list, Level found_at) const {
    std::string text;
    for (const Level level : list) {
      text += (text.empty() ? "" : ", ") + named_level(checked_, level);
      if (level != found_at && levels::implies(level, found_at))
        text += fmt::format(" (because {} is violated)", levels::name(found_at));
    }
    return text;
  }

  void add_further(const std::vector<const ReportedViolation*>& further,
                   std::map<std::string, std::uint64_t> left_out) {
    std::string text;
    for (std::size_t i = 0; i < further.size(); ++i) {
      const auto& one = *further[i];
      if (i >= kFurther) {
        ++left_out[one.anomaly.name];
        continue;
      }
      text += in_a_line(checked_, one);
      ++text_.listed[one.anomaly.name];
    }
    if (!text.empty()) text = bold("  Further violations") + " (--verbose explains them)\n" + text;
    std::string left;
    for (const auto& [name, number] : left_out)
      left += fmt::format("{}{} {}", left.empty() ? "" : ", ", grouped(number), name);
    if (!left.empty()) text += fmt::format("  ... and more: {}\n", left);
    if (!text.empty()) text_.paragraphs.push_back(text);
  }

  const Checked& checked_;
  const TextStyle& style_;
  ViolationsText text_;
  std::set<Level> unexplained_;
};

}  // namespace

ViolationsText violations_text(const Checked& checked, const TextStyle& style) {
  return Writer(checked, style).write();
}

}  // namespace cupel::report
