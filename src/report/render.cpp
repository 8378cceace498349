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
#include "report/wording.hpp"

namespace cupel::report {

using analysis::Explanation;
using check::LevelResult;
using check::Verdict;
using levels::Level;

namespace {

constexpr std::size_t kAnomaliesShown = 5;
constexpr std::size_t kCausesInFull = 1;  // besides those of the paragraphs
constexpr std::size_t kTransactionsNamed = 6;

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

// What makes two anomalies of two levels the same: the name, with the transactions
// and keys, or with what was read and overwritten (the cycle may be closed
// elsewhere, by another real-time edge).
using Identity = std::tuple<std::string, bool, std::vector<std::uint32_t>>;

std::vector<Identity> identities(const explain::Anomaly& anomaly) {
  std::vector<std::uint32_t> who, what;
  for (const auto txn : anomaly.transactions) who.push_back(txn.raw);
  std::sort(who.begin(), who.end());
  for (const auto key : anomaly.keys) what.push_back(key.raw);
  std::sort(what.begin(), what.end());
  who.push_back(history::TxnId::none().raw);
  who.insert(who.end(), what.begin(), what.end());
  std::vector<Identity> all = {{anomaly.name, false, who}};
  std::set<std::array<std::uint32_t, 4>> data;
  for (const auto& edge : anomaly.edges) {
    if (edge.kind == levels::EdgeKind::kSession || edge.kind == levels::EdgeKind::kRealTime)
      continue;
    data.insert({edge.from.raw, edge.to.raw, edge.key.raw, static_cast<std::uint32_t>(edge.kind)});
  }
  if (!data.empty()) {
    std::vector<std::uint32_t> flat;
    for (const auto& edge : data) flat.insert(flat.end(), edge.begin(), edge.end());
    all.emplace_back(anomaly.name, true, std::move(flat));
  }
  return all;
}

// Reports anomalies level by level, each in full once.
class Reporter {
 public:
  explicit Reporter(const Checked& checked) : checked_(checked) {}

  // The anomalies of a violated level, each line indented by two blanks.
  std::string anomalies(const LevelResult& result) {
    const auto explanations =
        analysis::explanations_of(checked_.history, checked_.analysis, result).shown;
    std::string text;
    std::map<std::string, std::size_t> left_out;
    std::map<std::pair<std::string, Level>, std::vector<const Explanation*>> again;
    std::size_t shown = 0;
    for (const auto& one : explanations) {
      const auto before = one.small != nullptr ? reported_before(*one.small, result.level)
                                               : reported_before(one.anomaly, result.level);
      if (before) {
        again[{title_of(one.anomaly), *before}].push_back(&one);
      } else if (shown < kAnomaliesShown) {
        append_indented(text, title_of(one.anomaly) + ": " + one.anomaly.explanation, "  ");
        if (one.small != nullptr) text += size_of(*one.small);
        text += alike(one.occurrences);
        note(one);
        ++shown;
      } else {
        note(one);
        ++left_out[one.anomaly.name];
      }
    }
    for (const auto& [name, count] : left_out) {
      text += fmt::format("  ... and {} more of {}\n", grouped(count), name);
    }
    for (const auto& [which, list] : again) text += reference(which.first, which.second, list);
    return text;
  }

  // In one line.
  std::string line(const counts::RootCause& cause) {
    std::string text;
    for (const auto& one : explanations_of(cause)) {
      note(one);
      const auto& [history, anomaly, small, occurrences] = one;
      text += fmt::format("  {}: {}", title_of(anomaly), explain::enumerate(named(one)));
      if (!anomaly.keys.empty()) {
        std::vector<std::string> keys;
        for (const auto key : anomaly.keys)
          keys.push_back(base::visible(history->key(key).to_string()));
        text +=
            fmt::format(" on {} {}", keys.size() == 1 ? "key" : "keys", explain::enumerate(keys));
      }
      text += '\n';
    }
    return text + alike(cause.occurrences);
  }

  std::string paragraph(const counts::RootCause& cause) {
    const auto* small = analysis::counterexample_of(checked_.analysis, cause);
    std::string text;
    for (const auto& one : explanations_of(cause)) {
      note(one);
      append_indented(text, title_of(one.anomaly) + ": " + one.anomaly.explanation, "  ");
    }
    return text + (small != nullptr ? size_of(*small) : "") + alike(cause.occurrences);
  }

  // Was all of it reported before, perhaps at another level?
  [[nodiscard]] bool has_reported(const counts::RootCause& cause) const {
    const auto all = explanations_of(cause);
    return std::all_of(all.begin(), all.end(),
                       [&](const auto& one) { return noted_.contains(in_whole(one)); });
  }
  // How many were reported, by name.
  [[nodiscard]] const NamedCounts& listed() const { return listed_; }

 private:
  // The name, with the transactions of the whole history and the keys.
  using Noted = std::tuple<std::string, std::vector<history::TxnId>, std::vector<std::string>>;
  [[nodiscard]] static Noted in_whole(const Explanation& one) {
    std::vector<history::TxnId> who;
    for (const auto txn : one.anomaly.transactions) {
      if (txn.valid()) who.push_back(one.small ? one.small->original_txn[txn.index()] : txn);
    }
    std::sort(who.begin(), who.end());
    std::vector<std::string> keys;
    for (const auto key : one.anomaly.keys) keys.push_back(one.history->key(key).to_string());
    std::sort(keys.begin(), keys.end());
    return {one.anomaly.name, std::move(who), std::move(keys)};
  }
  void note(const Explanation& one) {
    if (noted_.insert(in_whole(one)).second) ++listed_[one.anomaly.name];
  }

  [[nodiscard]] std::vector<Explanation> explanations_of(const counts::RootCause& cause) const {
    return analysis::explanations_of(checked_.history, checked_.analysis, cause);
  }

  static std::string alike(std::uint64_t occurrences) {
    if (occurrences < 2) return {};
    return fmt::format("  ... and {} more like it, of the same cause\n", grouped(occurrences - 1));
  }

  // How little of the history it takes; nothing where that is no news.
  std::string size_of(const explain::Counterexample& small) const {
    const auto& whole = checked_.history;
    if (small.violation.internal.size() == 1 || small.history.op_count() == whole.op_count()) {
      return {};
    }
    const auto text = fmt::format("  {} and {} of {} and {} suffice for this",
                                  counted(small.history.txn_count(), "transaction"),
                                  counted(small.history.op_count(), "operation"),
                                  grouped(whole.txn_count()), grouped(whole.op_count()));
    return text +
           (small.minimal ? "; none can be left out."
                          : "; the time for making it smaller was up.") +
           (cuts_lists(small)
                ? " Lists are shown without the elements whose appends are left out.\n"
                : "\n");
  }

  bool cuts_lists(const explain::Counterexample& small) const {
    for (std::size_t i = 0; i < small.history.op_count(); ++i) {
      const auto op = small.history.op(history::OpId(i));
      if (op.kind != history::OpKind::kListRead || !small.history.list_known(op)) continue;
      const auto whole = checked_.history.op(small.original_op[i]);
      if (small.history.list(op).size() < checked_.history.list(whole).size()) return true;
    }
    return false;
  }

  std::optional<Level> reported_before(const explain::Counterexample& small, Level now) {
    const auto known = reported_small_.try_emplace(&small, now).first->second;
    return known == now ? std::nullopt : std::optional(known);
  }

  // The other level at which the anomaly was reported; it counts as reported from now on.
  std::optional<Level> reported_before(const explain::Anomaly& anomaly, Level now) {
    std::optional<Level> before;
    const auto all = identities(anomaly);
    for (const auto& one : all) {
      const auto known = reported_.find(one);
      if (known != reported_.end() && known->second != now && !before) before = known->second;
    }
    for (const auto& one : all) reported_.try_emplace(one, before.value_or(now));
    return before;
  }

  std::string reference(const std::string& name, Level level,
                        const std::vector<const Explanation*>& list) const {
    const auto where = fmt::format("as explained above for {}", levels::name(level));
    if (list.size() > 1) return fmt::format("  {}, {} of them: {}\n", name, list.size(), where);
    return fmt::format("  {} of {}: {}\n", name, explain::enumerate(named(*list.front())), where);
  }

  // The transactions by name, the last ones as a number if they are many.
  static std::vector<std::string> named(const Explanation& explanation) {
    std::vector<std::string> who;
    for (const auto txn : explanation.anomaly.transactions)
      who.push_back(history::transaction_name(*explanation.history, txn));
    if (who.size() > kTransactionsNamed) {
      const auto more = who.size() - kTransactionsNamed;
      who.resize(kTransactionsNamed);
      who.push_back(fmt::format("{} more", more));
    }
    return who;
  }

  const Checked& checked_;
  std::set<Noted> noted_;
  NamedCounts listed_;
  std::map<Identity, Level> reported_;  // at which level
  std::map<const explain::Counterexample*, Level> reported_small_;
};

// The cause to begin with at a level, if it is not the one that the check came upon: of it or
// a weaker level. Causes are sorted, the most severe and smallest first.
const counts::RootCause* better_cause(const Checked& checked, Level level) {
  if (!checked.analysis.whole_history) return nullptr;
  for (const auto& cause : checked.analysis.whole_history->causes.found) {
    if (!levels::implies(level, cause.level)) continue;
    return cause.from_check && cause.level == level ? nullptr : &cause;
  }
  return nullptr;
}

// How a level is called above the causes filed at it: one that was not asked for, by one that was.
std::string level_of_causes(const Checked& checked, Level level) {
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

// The other causes, level by level, the first in full, and how far they were looked for.
// `reported`: those that are in the paragraphs already.
void add_causes(const Checked& checked, Reporter& reporter,
                const std::set<const counts::RootCause*>& reported,
                std::vector<std::string>& paragraphs) {
  const auto& causes = checked.analysis.whole_history->causes;
  std::optional<Level> level;
  std::size_t in_full = 0;
  for (const auto& cause : causes.found) {
    if (reported.contains(&cause) || reporter.has_reported(cause)) continue;
    if (level != cause.level) {
      paragraphs.push_back(
          fmt::format("  violated, apart from that: {}\n", level_of_causes(checked, cause.level)));
    }
    level = cause.level;
    paragraphs.back() +=
        in_full++ < kCausesInFull ? reporter.paragraph(cause) : reporter.line(cause);
  }
  std::string left;
  for (const auto& [name, number] : causes.left_out) {
    left += fmt::format("  {} of {} left out here\n", counted(number, "more cause"), name);
  }
  if (!causes.all) left += "  There may be more causes: the search for them met a limit.\n";
  if (!left.empty()) paragraphs.push_back(left);
}

struct Reasons {
  std::vector<std::string> paragraphs;
  NamedCounts listed;  // the anomalies in them
};

// A paragraph for each way in which the weakest violated levels are violated.
Reasons reasons(const Checked& checked) {
  struct Paragraph {
    std::string who, alone, text;  // who is violated; the anomalies, as if reported alone
  };
  std::vector<Paragraph> found;
  Reporter reporter(checked);
  std::set<const counts::RootCause*> reported;
  const auto report_with_check = [&](Level at) {
    if (!checked.analysis.whole_history) return;
    for (const auto& cause : checked.analysis.whole_history->causes.found) {
      if (cause.from_check && cause.level == at) reported.insert(&cause);
    }
  };
  const auto& weakest = checked.analysis.check.weakest_violated;
  for (const auto& result : checked.analysis.check.levels) {
    if (result.verdict != Verdict::kViolated || !result.violation ||
        std::find(weakest.begin(), weakest.end(), result.level) == weakest.end()) {
      continue;
    }
    std::string who = named_level(checked, result.level);
    if (result.explained_at.value_or(result.level) != result.level) {
      who += fmt::format(" (because {} is violated)", levels::name(*result.explained_at));
    }
    const Level at = result.explained_at.value_or(result.level);
    if (const auto* cause = better_cause(checked, at)) {
      if (at == result.level && cause->level != at) {
        who += fmt::format(" (because {} is violated)", levels::name(cause->level));
      }
      const auto same = [&](const auto& other) { return other.alone == cause->name; };
      const auto it = std::find_if(found.begin(), found.end(), same);
      if (it != found.end()) {
        it->who += ", " + who;
        continue;
      }
      found.push_back({std::move(who), cause->name, reporter.paragraph(*cause)});
      reported.insert(cause);
      continue;
    }
    report_with_check(at);
    auto alone = Reporter(checked).anomalies(result);
    const auto same = std::find_if(found.begin(), found.end(),
                                   [&](const auto& other) { return other.alone == alone; });
    if (same == found.end()) {
      found.push_back({std::move(who), std::move(alone), reporter.anomalies(result)});
    } else {
      same->who += ", " + who;
    }
  }
  std::vector<std::string> paragraphs;
  for (const auto& one : found) paragraphs.push_back("  violated: " + one.who + "\n" + one.text);
  if (checked.analysis.whole_history) add_causes(checked, reporter, reported, paragraphs);
  return {std::move(paragraphs), reporter.listed()};
}

}  // namespace

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

std::string explanation(const Checked& checked) {
  std::string text;
  for (const auto& result : checked.analysis.check.levels) {
    if (result.verdict != Verdict::kUnknown) continue;
    append_indented(text,
                    fmt::format("unknown: {}: {}", named_level(checked, result.level),
                                without_own_name(result.level, result.detail)),
                    "  ");
  }
  const auto [paragraphs, listed] = reasons(checked);
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
  const auto [paragraphs, listed] = reasons(checked);
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
