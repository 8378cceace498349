// See the header. The HTML is written here whole, so that it reads without its
// script; web/report.js adds the timeline, the search, the highlighting and keys.
#include "report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

#include "data/history/naming.hpp"
#include "engine/analysis/final_reads.hpp"
#include "engine/analysis/violations.hpp"
#include "engine/explain/why/counterexample.hpp"
#include "engine/explain/why/explain.hpp"
#include "engine/explain/why/glossary.hpp"
#include "engine/explain/why/layout.hpp"
#include "engine/explain/why/words.hpp"
#include "engine/levels/product.hpp"
#include "report/dot.hpp"
#include "report/figure.hpp"
#include "report/final_reads.hpp"
#include "report/page_final_reads.hpp"
#include "report/promise.hpp"
#include "report/stats.hpp"
#include "report/svg.hpp"
#include "report/timeline.hpp"
#include "report/web_assets.hpp"
#include "report/wording.hpp"

namespace cupel::report {

using check::Verdict;
using history::TxnId;
using levels::Level;

namespace {

constexpr std::size_t kDeepestEvidence = 6;
constexpr std::size_t kLongestNarrative = 40'000;  // bytes

std::string in_page(std::string_view text) {
  return in_markup(text, "\n\t");
}

std::string_view sign(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSatisfied:
      return "✓";
    case Verdict::kViolated:
      return "✗";
    case Verdict::kUnknown:
      return "?";
    case Verdict::kRefused:
      return "–";
  }
  return "";
}

std::string names(const std::vector<Level>& list) {
  std::vector<std::string> words;
  for (const Level level : list) words.emplace_back(levels::name(level));
  return explain::enumerate(words);
}

// The answer in a sentence, and whether it is a bad one.
std::string answer(const check::CheckResult& result) {
  bool unknown = false;
  for (const auto& one : result.levels) unknown |= one.verdict == Verdict::kUnknown;
  std::string text;
  if (!result.weakest_violated.empty()) text = "Violates " + names(result.weakest_violated);
  if (!result.strongest_satisfied.empty()) {
    text += (text.empty() ? "Satisfies " : "; satisfies ") + names(result.strongest_satisfied);
  }
  if (unknown)
    text += text.empty() ? "Not decided within the limits" : "; some levels are undecided";
  return text.empty() ? "Nothing was decided" : text;
}
// What the final reads found comes first; `lost` may be empty.
std::string with_lost(const std::string& lost, std::string text) {
  if (lost.empty()) return text;
  text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
  return explain::capitalised(lost) + "; " + text;
}
std::string_view mood(const check::CheckResult& result) {
  if (!result.weakest_violated.empty()) return "violated";
  for (const auto& one : result.levels) {
    if (one.verdict == Verdict::kUnknown) return "unknown";
  }
  return result.strongest_satisfied.empty() ? "unknown" : "satisfied";
}

// The answer where the levels that decide are satisfied; see promise.hpp.
std::string answer_of_promise(const Checked& checked) {
  auto text = explain::capitalised(promise_text(checked));
  if (text.empty()) text = "Satisfies " + names(decisive_levels(checked));
  const auto other = not_promised_text(checked);
  return other.empty() ? text : text + "; " + other;
}

// What follows the name in the title: Adya's name and Plume's letters.
std::string also_called(const explain::Anomaly& anomaly) {
  auto rest = title_of(anomaly).substr(heading_of(anomaly).size());
  if (rest.starts_with(" (")) rest = rest.substr(2, rest.size() - 3);
  return rest;
}

// Below a picture: its kinds of arrows.
void legend(std::string& out, const Figure& figure) {
  using levels::EdgeKind;
  std::set<EdgeKind> kinds;
  bool inferred = false, otherwise = false;
  for (const auto& arrow : figure.arrows) {
    kinds.insert(arrow.kind);
    inferred |= !arrow.certain && !arrow.otherwise;
    otherwise |= arrow.otherwise;
  }
  if (kinds.empty()) return;
  static constexpr std::pair<EdgeKind, std::string_view> kCaptions[] = {
      {EdgeKind::kWriteRead, "the second reads what the first wrote"},
      {EdgeKind::kWriteWrite, "the second overwrites what the first wrote"},
      {EdgeKind::kReadWrite, "the second overwrites what the first read"},
      {EdgeKind::kSession, "earlier in the same session"},
      {EdgeKind::kRealTime, "completed before the second began"}};
  out += "<figcaption><ul class=\"legend\">";
  for (const auto& [kind, caption] : kCaptions) {
    if (!kinds.contains(kind)) continue;
    out += fmt::format("<li><b class=\"kind {0}\">{0}</b> {1}</li>", kind_name(kind), caption);
  }
  out += "<li><i class=\"stroke thick\"></i> the cycle</li>";
  if (inferred) {
    out +=
        "<li><i class=\"stroke\"></i> recorded</li><li><i class=\"stroke dashed\"></i> "
        "inferred: open its step to see from what</li>";
  }
  if (otherwise) {
    out +=
        "<li><i class=\"stroke dotted\"></i> would hold if its step were the other way round: "
        "part of "
        "the cycle that the name counts</li>";
  }
  if (figure.left_out > 0) {
    out += fmt::format("<li>not drawn: {} more dependencies</li>", figure.left_out);
  }
  out += "</ul></figcaption>\n";
}

class Page {
 public:
  Page(const Checked& checked, const PageOptions& options)
      : checked_(checked),
        options_(options),
        violations_(analysis::violations_of(checked.history, checked.analysis, kMostViolationsShown,
                                            decisive_levels(checked))),
        kept_(keeps_promise(checked)) {}

  std::vector<ReportFile> write() {
    std::vector<ReportFile> files(1);
    for (std::size_t i = 0; i < violations_.shown.size(); ++i) {
      const auto& reported = violations_.shown[i];
      figures_.push_back(figure_of(reported, checked_.analysis.fields));
      auto drawn = pictures_of(figures_.back());
      pictures_.push_back(std::move(drawn.in_page));
      const auto name = fmt::format("counterexample-{}", i + 1);
      files.push_back({name + ".dot", dot(figures_.back())});
      files.push_back({name + ".svg", std::move(drawn.standalone)});
    }
    files[0] = {"index.html", fitting()};
    return files;
  }

 private:
  // The page, within its bytes: without the pictures of later violations, then without the
  // timeline, and in the end without any picture.
  std::string fitting() {
    auto page = html();
    while (page.size() > options_.most_bytes) {
      const auto excess = page.size() - options_.most_bytes;
      std::size_t saved = 0;
      const auto drop = [&](std::string& picture) {
        saved += picture.size();
        picture.clear();
      };
      for (std::size_t i = pictures_.size(); i > 1 && saved < excess; --i) drop(pictures_[i - 1]);
      if (saved == 0 && with_timeline_) {
        with_timeline_ = false;
      } else if (saved == 0) {
        if (pictures_.empty() || pictures_.front().empty()) break;  // words are not left out
        drop(pictures_.front());
      }
      page = html();
    }
    return page;
  }

  std::string html() {
    const auto file = in_page(checked_.file);
    std::string out =
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        // Nothing is loaded, and nothing that a history says can be run.
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n";
    out += fmt::format("<title>{} — cupel</title>\n<style>\n{}</style>\n</head>\n<body>\n", file,
                       report_css());
    header(out);
    out += "<main id=\"main\">\n";
    // What went wrong first; where nothing did, what was found and what the test could show.
    const bool kept_all = final_reads_verdict(checked_).empty();
    const bool well = violations_.shown.empty() && kept_all;
    if (!kept_all) out += final_reads_section(checked_);
    if (!well) {
      violations(out);
      timeline(out);
    }
    out += "<div class=\"pair\">\n";
    ladder(out);
    statistics(out);
    out += "</div>\n";
    if (kept_all) out += final_reads_section(checked_);
    test_power(out);
    if (well) timeline(out);
    out += "</main>\n";
    help(out);
    const std::string tail =
        fmt::format("</script>\n<script>\n{}</script>\n</body>\n</html>\n", report_js());
    std::vector<std::vector<TxnId>> marked;
    for (std::size_t i = 0; i < figures_.size(); ++i) {
      // Who is in the picture, those of the cycle first.
      std::vector<TxnId> all = violations_.shown[i].originals;
      for (const auto& box : figures_[i].boxes) {
        if (std::find(all.begin(), all.end(), box.txn) == all.end()) all.push_back(box.txn);
      }
      marked.push_back(std::move(all));
    }
    out += "<script type=\"application/json\" id=\"data\">";
    const auto used = out.size() + tail.size();
    const auto room = options_.most_bytes > used ? options_.most_bytes - used : 0;
    if (with_timeline_) {
      // Half of what there is room for shows 20,000 transactions; more only makes the page slow.
      out += timeline_json(checked_.history, marked,
                           {.most_bytes = std::min<std::size_t>(room, 3'000'000),
                            .also = writers_in_section(checked_),
                            .nodes = &options_.nodes});
    } else {
      out += "null";
    }
    return out + tail;
  }

  // With what the final reads say.
  [[nodiscard]] std::string_view mood_of_answer(bool lost, bool unknown) const {
    if (lost) return "violated";
    const auto of_levels = check::to_string(verdict_of_levels(checked_));
    return unknown && of_levels == "satisfied" ? "unknown" : of_levels;
  }

  void header(std::string& out) {
    const auto& history = checked_.history;
    out += fmt::format(
        "<a class=\"skip\" href=\"#main\">Skip to the report</a>\n"
        "<header class=\"top\">\n<div class=\"bar\">\n<span class=\"brand\">cupel</span>\n"
        "<div class=\"find\" role=\"search\"><label class=\"hidden\" for=\"search\">Find a "
        "transaction or a "
        "key</label><input id=\"search\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\" "
        "placeholder=\"Find a transaction or key\" role=\"combobox\" aria-expanded=\"false\" "
        "aria-controls=\"results\" aria-autocomplete=\"list\"><kbd aria-hidden=\"true\">/</kbd>"
        "<ul id=\"results\" role=\"listbox\" aria-label=\"Results\" hidden></ul></div>\n"
        "<nav class=\"tools\" aria-label=\"Tools\">");
    if (!violations_.shown.empty()) {
      out +=
          "<button type=\"button\" id=\"previous\" aria-label=\"Previous violation\" "
          "title=\"Previous violation (p)\">‹</button><span id=\"which\" class=\"which\" "
          "role=\"status\"></span><button type=\"button\" id=\"next\" aria-label=\"Next "
          "violation\" title=\"Next violation (n)\">›</button>";
    }
    out +=
        "<button type=\"button\" id=\"theme\" aria-label=\"Light or dark\" title=\"Light or dark "
        "(d)\">◐</button><button type=\"button\" id=\"help-open\" aria-label=\"Keys\" "
        "title=\"Keys (?)\">?</button></nav>\n</div>\n</header>\n";
    std::string facts;
    const auto add = [&](const std::string& text) {
      if (!text.empty()) facts += (facts.empty() ? "" : " · ") + in_page(text);
    };
    const auto database = history.fact("database"), isolation = history.fact("isolation");
    if (!database.empty()) add(database + (isolation.empty() ? "" : " at " + isolation));
    if (const auto& windows = checked_.analysis.windows) {
      add(counted(windows->transactions, "transaction"));
      add(counted(windows->sessions, "session"));
      add(counted(windows->keys, "key"));
      add("decided in windows; below is the part that was held when the violation was found");
    } else if (checked_.analysis.whole) {
      add(counted(history.txn_count(), "transaction"));
      add(counted(history.session_count(), "session"));
      add(counted(history.key_count(), "key"));
    } else {
      add("not read to its end");
    }
    const auto& result = checked_.analysis.check;
    auto text = kept_ ? answer_of_promise(checked_) : answer(result);
    const auto lost = final_reads_verdict(checked_);
    text = with_lost(lost, std::move(text));
    const auto unknown = final_reads_unknown(checked_);
    if (!unknown.empty()) text += "; " + unknown;
    out += fmt::format(
        "<section class=\"verdict {}\" aria-label=\"Answer\">\n<p class=\"file\">{}</p>\n"
        "<h1>{}</h1>\n<p class=\"facts\">{}</p>\n</section>\n",
        mood_of_answer(!lost.empty(), !unknown.empty()), in_page(checked_.file), in_page(text),
        facts);
  }

  // ---- violations

  void violations(std::string& out) {
    if (violations_.shown.empty()) return;
    out += fmt::format(
        "<section id=\"violations\" aria-labelledby=\"violations-title\">\n<h2 "
        "id=\"violations-title\">{}</h2>\n",
        kept_ ? "What other levels forbid" : "What went wrong");
    for (std::size_t i = 0; i < violations_.shown.size(); ++i) violation(out, i);
    for (const auto& [name, count] : violations_.left_out) {
      out +=
          fmt::format("<p class=\"more\">… and {} more of {}</p>\n", grouped(count), in_page(name));
    }
    out += "</section>\n";
  }

  void violation(std::string& out, std::size_t index) {
    const auto& reported = violations_.shown[index];
    const auto& figure = figures_[index];
    const auto& text = reported.anomaly.explanation;
    const auto& lead = reported.anomaly.summary;
    const auto also = also_called(reported.anomaly);
    out += fmt::format(
        "<article class=\"violation\" id=\"violation-{0}\" data-violation=\"{1}\" tabindex=\"-1\" "
        "aria-labelledby=\"violation-{0}-title\">\n<header>\n<h3 "
        "id=\"violation-{0}-title\">{2}{3}</h3>\n"
        "<p class=\"forbids\">forbidden by {4}</p>\n</header>\n<p class=\"lead\">{5}</p>\n",
        index + 1, index, in_page(heading_of(reported.anomaly)),
        also.empty() ? "" : fmt::format(" <small>{}</small>", in_page(also)),
        in_page(names(reported.levels)), in_page(lead));
    if (const auto definition = definition_of(reported.anomaly); !definition.empty()) {
      out += fmt::format("<p class=\"definition\">{}</p>\n", in_page(definition));
    }
    if (reported.small != nullptr) {
      out +=
          fmt::format("<p class=\"definition\">{} and {} of the history suffice for this{}.</p>\n",
                      counted(reported.history->txn_count(), "transaction"),
                      counted(reported.history->op_count(), "operation"),
                      reported.small->minimal ? "; none can be left out"
                                              : "; the time for making it smaller was up");
    }
    if (reported.occurrences > 1) {
      out += fmt::format("<p class=\"definition\">… and {} more like it, of the same cause.</p>\n",
                         grouped(reported.occurrences - 1));
    }
    picture(out, index);
    if (!figure.arrows.empty()) {
      std::vector<bool> shown_before(figure.arrows.size());
      const bool cycle = reported.violation->internal.empty();
      out += fmt::format("<h4>{}</h4>\n<ol class=\"steps\">\n",
                         cycle ? "The cycle, step by step" : "The read at fault");
      for (std::size_t a = 0; a < figure.arrows.size(); ++a) {
        if (figure.arrows[a].in_cycle) step(out, figure, a, shown_before, 0);
      }
      out += "</ol>\n";
    }
    auto narrative = text;
    if (narrative.size() > kLongestNarrative) {
      const auto line = narrative.rfind('\n', kLongestNarrative);
      auto end = line == std::string::npos ? kLongestNarrative : line;
      while (end > 0 && (static_cast<unsigned char>(narrative[end]) & 0xc0) == 0x80) --end;
      narrative.resize(end);
      narrative += "\n    ...";
    }
    out += fmt::format(
        "<details class=\"narrative\"><summary>The same as text</summary>\n<pre "
        "tabindex=\"0\">{}</pre></details>\n</article>\n",
        in_page(narrative));
  }

  void picture(std::string& out, std::size_t index) const {
    if (pictures_[index].empty()) {
      out += fmt::format(
          "<p class=\"definition\">Its picture is left out, as the page would be too large; it is "
          "in "
          "counterexample-{}.svg.</p>\n",
          index + 1);
      return;
    }
    out +=
        "<figure class=\"drawing\">\n<div class=\"scroll\" tabindex=\"0\" role=\"group\" "
        "aria-label=\"Dependency graph\">\n" +
        pictures_[index] + "</div>\n";
    legend(out, figures_[index]);
    out += "</figure>\n";
  }

  static std::string definition_of(const explain::Anomaly& anomaly) {
    for (const auto& entry : explain::anomalies()) {
      if (entry.name == heading_of(anomaly)) return std::string(entry.definition);
    }
    return {};
  }

  static void step(std::string& out, const Figure& figure, std::size_t index,
                   std::vector<bool>& shown_before, std::size_t depth) {
    const auto& arrow = figure.arrows[index];
    const auto kind = kind_name(arrow.kind);
    const auto head = fmt::format(
        "<span class=\"number\">{}</span> <span class=\"pair-of\">{} → {}</span> <b class=\"kind "
        "{}\">{}</b> <span class=\"sentence\">{}</span>",
        in_page(arrow.number), in_page(figure.boxes[arrow.from].name),
        in_page(figure.boxes[arrow.to].name), kind, kind, in_page(arrow.sentence));
    out += fmt::format("<li data-step=\"{}\">", index);
    const bool again = shown_before[index];
    shown_before[index] = true;
    if (arrow.certain || arrow.evidence.empty() || again || depth >= kDeepestEvidence) {
      out += fmt::format(
          "<div class=\"fact\" tabindex=\"0\">{} <span class=\"tag\">{}</span></div>", head,
          arrow.certain            ? "recorded"
          : arrow.otherwise        ? "if the step were the other way round"
          : again                  ? "as explained above"
          : arrow.evidence.empty() ? "assumed: one of the possible orders"
                                   : "inferred");
    } else {
      out += fmt::format(
          "<details><summary>{} <span class=\"tag\">inferred, because…</span></summary>\n<ol>\n",
          head);
      for (const auto evidence : arrow.evidence)
        step(out, figure, evidence, shown_before, depth + 1);
      out += "</ol></details>";
    }
    out += "</li>\n";
  }

  // ---- timeline

  void timeline(std::string& out) {
    if (!checked_.analysis.whole) return;
    if (!with_timeline_) {
      out += "<p class=\"more\">The timeline is left out: the page would be too large.</p>\n";
      return;
    }
    out +=
        "<section id=\"timeline\" aria-labelledby=\"timeline-title\">\n<h2 "
        "id=\"timeline-title\">Timeline</h2>\n"
        "<noscript><p>The timeline and the search need scripts.</p></noscript>\n"
        "<div id=\"timeline-here\"></div>\n</section>\n";
  }

  // ---- ladder, statistics

  void ladder(std::string& out) {
    out +=
        "<section id=\"ladder\" aria-labelledby=\"ladder-title\">\n<h2 "
        "id=\"ladder-title\">Levels</h2>\n<table class=\"ladder\">\n<thead><tr><th "
        "scope=\"col\">level, strongest first</th><th scope=\"col\">verdict</th><th "
        "scope=\"col\">decided by"
        "</th><th scope=\"col\" class=\"figure\">seconds</th></tr></thead>\n<tbody>\n";
    for (auto it = checked_.analysis.check.levels.rbegin();
         it != checked_.analysis.check.levels.rend(); ++it) {
      const auto& one = *it;
      const auto product = levels::product_name(checked_.history, one.level);
      const bool implied = one.decided_by.starts_with("implied-by:");
      std::string by = implied ? "follows from " + one.decided_by.substr(11) : one.decided_by;
      if (one.verdict == Verdict::kRefused || one.verdict == Verdict::kUnknown) {
        by = without_own_name(one.level, one.detail);
      }
      std::string where;
      for (std::size_t i = 0; i < violations_.shown.size() && one.verdict == Verdict::kViolated;
           ++i) {
        const auto& levels = violations_.shown[i].levels;
        if (std::find(levels.begin(), levels.end(), one.level) == levels.end()) continue;
        where = fmt::format(" <a href=\"#violation-{}\">why</a>", i + 1);
        break;
      }
      const bool decided_here =
          !one.decided_by.empty() && !implied && one.verdict != Verdict::kRefused;
      out += fmt::format(
          "<tr class=\"{0}\"><th scope=\"row\">{1}{2}</th><td><span class=\"pill {0}\"><span "
          "aria-hidden=\"true\">{3}</span> {0}</span>{4}</td><td>{5}</td><td "
          "class=\"figure\">{6}</td></tr>\n",
          check::to_string(one.verdict), levels::name(one.level),
          product.empty() ? "" : fmt::format(" <small>{}</small>", in_page(product)),
          sign(one.verdict), where, in_page(by),
          decided_here ? fmt::format("{:.3f}", one.seconds) : "");
    }
    out += "</tbody>\n</table>\n</section>\n";
  }

  void statistics(std::string& out) {
    if (!checked_.analysis.whole) return;
    const auto stats = compute_stats(checked_.history);
    out +=
        "<section id=\"statistics\" aria-labelledby=\"statistics-title\">\n<h2 "
        "id=\"statistics-title\">The history</h2>\n<dl class=\"facts-list\">\n";
    const auto row = [&](std::string_view name, const std::string& value) {
      out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", in_page(name), in_page(value));
    };
    std::string split = grouped(stats.committed) + " committed";
    if (stats.aborted > 0) split += fmt::format(", {} aborted", grouped(stats.aborted));
    if (stats.indeterminate > 0) split += fmt::format(", {} unknown", grouped(stats.indeterminate));
    row("transactions", fmt::format("{} ({})", grouped(stats.transactions), split));
    row("sessions", grouped(stats.sessions));
    row("keys",
        grouped(stats.keys) +
            (stats.list_keys > 0 ? fmt::format(" ({})", counted(stats.list_keys, "list")) : ""));
    std::string kinds;
    for (std::size_t k = 0; k < stats.operations_by_kind.size(); ++k) {
      if (stats.operations_by_kind[k] == 0) continue;
      kinds +=
          fmt::format("{}{} {}", kinds.empty() ? "" : ", ", grouped(stats.operations_by_kind[k]),
                      history::to_string(static_cast<history::OpKind>(k)));
    }
    row("operations", fmt::format("{} ({})", grouped(stats.operations), kinds));
    row("reads of the initial value",
        fmt::format("{} of {}", grouped(stats.initial_reads), grouped(stats.reads)));
    row("reads with several writers", grouped(stats.ambiguous_reads));
    row("values written more than once", grouped(stats.duplicated_values));
    if (stats.timed_transactions > 0) {
      if (stats.times_are_places) {
        row("recorded", span_in_places(stats));
      } else {
        row("recorded for", explain::duration(stats.span_ns));
      }
      row("open at a time",
          fmt::format("{:.1f} on average, at most {}", stats.mean_open, grouped(stats.most_open)));
    }
    for (const auto& [name, value] : stats.metadata) {
      if (name == "faults" || name == analysis::kFinalReaders || name == kNodes) continue;
      row(name, history::cut(value));
    }
    out += "</dl>\n</section>\n";
  }

  // The lines of the text, "    what   how much", as a table of two columns.
  void test_power(std::string& out) {
    std::istringstream lines(test_power_text(checked_));
    std::string line;
    if (!std::getline(lines, line)) return;  // its title
    out +=
        "<section id=\"test-power\" aria-labelledby=\"test-power-title\">\n"
        "<h2 id=\"test-power-title\">Test power</h2>\n<dl class=\"facts-list\">\n";
    while (std::getline(lines, line)) {
      const auto begin = std::min(line.find_first_not_of(' '), line.size());
      const auto gap = std::min(line.find("  ", begin), line.size());
      const auto rest = std::min(line.find_first_not_of(' ', gap), line.size());
      out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n",
                         in_page(line.substr(begin, gap - begin)), in_page(line.substr(rest)));
    }
    out += "</dl>\n</section>\n";
  }

  static void help(std::string& out) {
    out +=
        "<aside id=\"inspector\" aria-label=\"Transaction\" hidden></aside>\n"
        "<p id=\"live\" class=\"hidden\" role=\"status\" aria-live=\"polite\"></p>\n"
        "<dialog id=\"help\" aria-labelledby=\"help-title\"><h2 id=\"help-title\">Keys</h2><dl>";
    static constexpr std::pair<const char*, const char*> kKeys[] = {
        {"/", "find a transaction or a key"},
        {"n p", "next, previous violation"},
        {"d", "light or dark"},
        {"t", "go to the timeline"},
        {"← →", "in the timeline: the session's previous, next transaction"},
        {"↑ ↓", "in the timeline: the session above, below"},
        {"+ − 0", "in the timeline: closer, further, everything"},
        {"Enter", "open a step's evidence; show a transaction"},
        {"Esc", "close what is open"}};
    for (const auto& [key, what] : kKeys)
      out += fmt::format("<div><dt><kbd>{}</kbd></dt><dd>{}</dd></div>", key, what);
    out += "</dl><form method=\"dialog\"><button>Close</button></form></dialog>\n";
  }

  const Checked& checked_;
  const PageOptions& options_;
  analysis::Violations violations_;
  bool kept_;  // the decisive levels are satisfied
  std::vector<Figure> figures_;
  std::vector<std::string> pictures_;  // empty: left out
  bool with_timeline_ = checked_.analysis.whole;
};

}  // namespace

std::vector<ReportFile> report_files(const Checked& checked, const PageOptions& options) {
  return Page(checked, options).write();
}

std::string contents_page(std::span<const ReportLink> links) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n"
      // As on the reports, but there is no script.
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; img-src data:\">\n<title>{} — "
      "cupel</title>\n<style>\n{}</style>\n"
      "</head>\n<body>\n<main class=\"contents\">\n<h1>{}</h1>\n<ul>\n",
      fmt::format("{} histories", links.size()), report_css(),
      fmt::format("{} histories", links.size()));
  for (const auto& link : links) {
    if (link.result == nullptr) {
      out += fmt::format("<li class=\"verdict unknown\">{}<p>Could not be read: {}</p></li>\n",
                         in_page(link.file), in_page(link.error));
      continue;
    }
    const auto name = link.folder.empty() ? in_page(link.file)
                                          : fmt::format("<a href=\"{}/index.html\">{}</a>",
                                                        in_page(link.folder), in_page(link.file));
    out += fmt::format("<li class=\"verdict {}\">{}<p>{}</p></li>\n",
                       link.lost.empty() ? mood(*link.result) : "violated", name,
                       in_page(with_lost(link.lost, answer(*link.result))));
  }
  return out + "</ul>\n</main>\n</body>\n</html>\n";
}

}  // namespace cupel::report
