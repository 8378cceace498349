// Page: the pictures are those of picture.hpp, on white paper in dark pages too.
#include "crdt/io/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/text/escape.hpp"
#include "crdt/io/picture.hpp"

namespace cupel::crdt {

namespace {

constexpr std::string_view kPageStyle = R"(
:root { color-scheme: light dark; --paper: #f6f7f9; --card: #ffffff; --ink: #1d232a; --soft: #59626d; --line: #d5dae0;
  --good: #1a7f37; --bad: #b3261e; --open: #7d5700; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171b; --card: #1c2126; --ink: #e4e8ec; --soft: #a2abb5;
  --line: #363d45; --good: #57c273; --bad: #ff8a80; --open: #e0b24c; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
header, main, footer { max-width: 75rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 1.5rem; }
h1 { font-size: 1.6rem; line-height: 1.3; margin: .2rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; overflow-wrap: anywhere; }
.violated h1 span, h2.violated { color: var(--bad); } .satisfied h1 span { color: var(--good); } .unknown h1 span { color: var(--open); }
.file, .facts, .hint { color: var(--soft); margin: .2rem 0; overflow-wrap: anywhere; }
.file { font-family: ui-monospace, monospace; font-size: .9rem; }
.hint { display: none; font-size: .9rem; }
.wide { overflow-x: auto; background: #ffffff; border: 1px solid var(--line); border-radius: 8px; padding: .25rem; }
.wide svg { display: block; }
pre { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 1rem;
  font: .85rem/1.5 ui-monospace, monospace; }
@media print { .wide, pre { overflow: visible; white-space: pre-wrap; } .wide svg { max-width: 100%; height: auto; } }
)";

struct Sign {
  std::string_view css_class, sign, words;
};
Sign sign_of(Verdict verdict) {
  if (verdict == Verdict::kSatisfied) return {"satisfied", "✓", "Satisfied"};
  if (verdict == Verdict::kViolated) return {"violated", "✗", "Violated"};
  return {"unknown", "?", "Unknown"};
}

std::string answer(const RecordingReport& report, Verdict verdict) {
  const auto& objects = report.analysis.objects;
  const auto explained = std::find_if(objects.begin(), objects.end(),
                                      [](const Analysis& one) { return one.explanation; });
  if (verdict == Verdict::kViolated && explained != objects.end())
    return fmt::format("{}: {}", explained->explanation->name, explained->explanation->summary);
  if (verdict == Verdict::kViolated && report.analysis.decided == Verdict::kViolated)
    return "no happens-before explains all objects together";
  if (verdict == Verdict::kViolated) return "the last reads of the replicas differ";
  if (verdict == Verdict::kUnknown) return "cupel could not decide this history";
  return "the page shows an execution that explains every read";
}

// The pictures of several objects would have the same ids.
std::string with_ids(std::string svg, std::size_t picture) {
  for (const std::string_view mark : {"id=\"tip", "url(#tip"}) {
    const auto tip = mark.size() - 3;
    for (auto at = svg.find(mark); at != std::string::npos; at = svg.find(mark, at + mark.size()))
      svg.insert(at + tip, fmt::format("p{}-", picture));
  }
  return svg;
}

double width_of_svg(const std::string& svg) {
  const auto at = svg.find(" width=\"");
  return at == std::string::npos ? 0 : std::strtod(svg.c_str() + at + 8, nullptr);
}

// `number` is that of the picture on the page.
void add_picture(std::string& out, const std::string& picture, std::size_t number,
                 std::string_view about) {
  const auto svg = with_ids(picture, number);
  // Shown only in a window that cuts the picture; 60 pixels are the margins.
  out += fmt::format(
      "<style>@media (max-width: {:.0f}px) {{ #hint-{} {{ display: block; }} }}</style>\n"
      "<p class=\"hint\" id=\"hint-{}\">The picture is wider than this window: scroll it "
      "sideways.</p>\n",
      width_of_svg(svg) + 60, number, number);
  out += fmt::format(
      "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Picture {}: "
      "{}\">\n{}</div>\n",
      number, about, svg);
}

void add_object(std::string& out, const Report& report, std::size_t& pictures) {
  const auto verdict = verdict_of(report.analysis);
  out += fmt::format("<section>\n<h2 class=\"{}\">{}: {}, {}</h2>\n", sign_of(verdict).css_class,
                     text::in_markup(report.file), name(report.history->type), to_string(verdict));
  add_picture(out, as_svg(report), ++pictures, "replicas as rows, deliveries as arrows");
  if (const auto all = recording_svg(report); !all.empty()) {
    out += "<p class=\"facts\">All operations, with the recorded deliveries:</p>\n";
    add_picture(out, all, ++pictures, "all operations with their deliveries");
  }
  out += "</section>\n";
}

}  // namespace

std::string as_page(const RecordingReport& report, std::string_view text) {
  const auto verdict = verdict_of(report.analysis);
  const auto [css_class, sign, words] = sign_of(verdict);
  const auto file = text::in_markup(report.file);
  auto out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta "
      "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; img-src data:\">\n<title>{} — cupel</title>\n<link rel=\"icon\" "
      "href=\"data:,\">\n<style>{}</style>\n</head>\n<body>\n<header class=\"{}\">\n<p "
      "class=\"file\">{}</p>\n<h1><span>{} {}:</span> {}</h1>\n",
      file, kPageStyle, css_class, file, sign, words, text::in_markup(answer(report, verdict)));
  const History& whole = report.recording->is_named() ? report.recording->combined
                                                      : report.recording->objects[0].history;
  const auto replicas = report.of_adapter ? replicas_of_run(whole) : processes_of(whole);
  out += fmt::format("<p class=\"facts\">{} {} · {} operations</p>\n</header>\n<main>\n", replicas,
                     replicas == 1 ? "replica" : "replicas", whole.ops.size());
  std::vector<std::size_t> objects(report.analysis.objects.size());
  for (std::size_t i = 0; i < objects.size(); ++i) objects[i] = i;
  const auto rank = [&](std::size_t object) {
    const auto one = verdict_of(report.analysis.objects[object]);
    return one == Verdict::kViolated ? 0 : one == Verdict::kUnknown ? 1 : 2;
  };
  std::stable_sort(objects.begin(), objects.end(),
                   [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  std::size_t pictures = 0;
  for (std::size_t i = 0; i < objects.size() && i < kMostObjectsShown; ++i)
    add_object(out, report.of_object(objects[i]), pictures);
  if (objects.size() > kMostObjectsShown) {
    out += fmt::format("<p class=\"facts\">{} more objects have no picture here.</p>\n",
                       objects.size() - kMostObjectsShown);
  }
  out += fmt::format(
      "<section>\n<h2>The report as text</h2>\n<pre tabindex=\"0\" role=\"region\" "
      "aria-label=\"The report as text\">{}</pre>\n</section>\n</main>\n</body>\n</html>\n",
      text::in_markup(text, "\n\t"));
  return out;
}

}  // namespace cupel::crdt
