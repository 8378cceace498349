// Boxes, arrows and their words where a layout puts them.
#include "report/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/text/svg.hpp"
#include "report/layout.hpp"

namespace cupel::report {

using levels::EdgeKind;
using text::columns;
using text::Point;
using text::SvgPath;
using text::SvgWriter;

namespace {

constexpr double kMargin = 14, kTitle = 30, kLegendLine = 17;

constexpr std::string_view kStyle = R"(
  .legend, .place, .plain { fill: #5f6770; }
  .place, .legend { font-size: 10px; }
  .name { font-weight: bold; font-size: 13px; }
  .frame { fill: #ffffff; stroke: #8a939d; }
  .head { fill: #e9edf1; }
  .cycle .frame { stroke: #1d232a; stroke-width: 1.8; }
  .cycle .head { fill: #dbe2e9; }
  .uncommitted .frame { stroke-dasharray: 5 3; }
  .mark { fill: #fff4cf; }
  .line { fill: none; stroke-width: 1.2; }
  .cycle .line { stroke-width: 2.6; }
  .inferred .line { stroke-dasharray: 6 4; }
  .otherwise .line { stroke-dasharray: 1.5 3; }
  .label { paint-order: stroke; stroke: #ffffff; stroke-width: 4px; stroke-linejoin: round; }
  .number, .kind { font-weight: bold; }
  .tip { stroke-width: 1.2; stroke-linejoin: round; }
  .wr .line, .wr .tip { stroke: #009e73; } .wr .tip { fill: #009e73; } .wr .kind { fill: #00704f; }
  .ww .line, .ww .tip { stroke: #d55e00; } .ww .tip { fill: #d55e00; } .ww .kind { fill: #a34700; }
  .rw .line, .rw .tip { stroke: #0072b2; } .rw .tip { fill: #ffffff; } .rw .kind { fill: #005b8f; }
  .so .line, .so .tip { stroke: #5f6770; } .so .tip { fill: none; } .so .kind { fill: #4a5159; }
  .rt .line, .rt .tip { stroke: #a8508a; } .rt .tip { fill: none; } .rt .kind { fill: #85386b; }
)";

// Between where the spline ends and the tip: a filled or open triangle, two of
// them, or two strokes, as in dot.cpp.
void draw_tip(SvgWriter& svg, EdgeKind kind, Point base, Point end) {
  const double dx = end.x - base.x, dy = end.y - base.y;
  const double length = std::max(1e-6, std::hypot(dx, dy));
  const double ux = dx / length, uy = dy / length;
  const auto triangle = [&](double from, double to, bool open) {
    const double half = 3.6;
    const Point a{base.x + ux * from - uy * half, base.y + uy * from + ux * half};
    const Point b{base.x + ux * from + uy * half, base.y + uy * from - ux * half};
    const Point c{base.x + ux * to, base.y + uy * to};
    SvgPath path;
    path.move_to(a).line_to(c).line_to(b);
    if (!open) path.close();
    svg.element("path", {{"class", "tip"}, {"d", path.data()}});
  };
  switch (kind) {
    case EdgeKind::kWriteRead:
    case EdgeKind::kReadWrite:
      return triangle(0, length, false);
    case EdgeKind::kWriteWrite:
      triangle(0, length / 2, false);
      return triangle(length / 2, length, false);
    default:
      return triangle(0, length, true);
  }
}

class Painter {
 public:
  Painter(const Figure& figure, const Layout& layout, bool standalone)
      : figure_(figure), layout_(layout), standalone_(standalone) {}

  std::string paint() {
    const auto legend = legend_lines();
    const double top = standalone_ ? kTitle : 0;
    double width = layout_.width + 2 * kMargin;
    if (standalone_) {
      width = std::max(width, static_cast<double>(columns(figure_.title)) * 7.9 + 2 * kMargin);
      for (const auto& line : legend) {
        width = std::max(width, static_cast<double>(columns(line)) * 6.05 + 2 * kMargin);
      }
    }
    const double height = top + layout_.height + 2 * kMargin +
                          (standalone_ ? kLegendLine * static_cast<double>(legend.size()) : 0);
    origin_ = {(width - layout_.width) / 2, top + kMargin};
    // A point is drawn a little larger than a pixel: 11 points would be too small to read.
    // In a page it shrinks to its column. It scrolls only on a screen that is narrower than a page.
    const auto least =
        standalone_ ? std::string()
                    : fmt::format("min-width:min({}px,45rem)", text::svg_number(width * 0.82));
    SvgWriter svg(
        {.width = width, .height = height, .scale = 1.2},
        {{"class", "figure"}, {"role", "img"}, {"style", least}, {"aria-label", spoken()}});
    if (standalone_) svg.sheet(kStyle, figure_.title, {kMargin, 22});
    for (std::size_t i = 0; i < figure_.boxes.size(); ++i) box(svg, i);
    // The cycle on top of what explains it.
    for (const bool cycle : {false, true}) {
      for (std::size_t i = 0; i < figure_.arrows.size(); ++i) {
        if (figure_.arrows[i].in_cycle == cycle) arrow(svg, i);
      }
    }
    if (standalone_) {
      double y = top + layout_.height + 2 * kMargin + 8;
      for (const auto& line : legend) {
        svg.text({{"class", "legend"}, {"x", kMargin}, {"y", y}}, line);
        y += kLegendLine;
      }
    }
    return svg.finish();
  }

 private:
  [[nodiscard]] std::string spoken() const {
    std::string text = figure_.title + ".";
    for (const auto& arrow : figure_.arrows) {
      if (arrow.in_cycle) text += fmt::format(" {}. {}.", arrow.number, arrow.sentence);
    }
    return text;
  }

  [[nodiscard]] std::vector<std::string> legend_lines() const {
    std::vector<std::string> lines;
    bool inferred = false, otherwise = false, kinds[6] = {};
    for (const auto& arrow : figure_.arrows) {
      inferred |= !arrow.certain && !arrow.otherwise;
      otherwise |= arrow.otherwise;
      kinds[static_cast<std::size_t>(arrow.kind)] = true;
    }
    static constexpr std::pair<EdgeKind, std::string_view> kCaptions[] = {
        {EdgeKind::kWriteRead, "wr: reads what the other wrote"},
        {EdgeKind::kWriteWrite, "ww: overwritten by the other"},
        {EdgeKind::kReadWrite, "rw: read what the other overwrote"},
        {EdgeKind::kSession, "so: earlier in the same session"},
        {EdgeKind::kRealTime, "rt: completed before the other began"}};
    std::string line;
    for (const auto& [kind, caption] : kCaptions) {
      if (!kinds[static_cast<std::size_t>(kind)]) continue;
      if (!line.empty() && columns(line) + columns(caption) > 70)
        lines.push_back(std::exchange(line, {}));
      line += (line.empty() ? "" : " · ") + std::string(caption);
    }
    if (!line.empty()) lines.push_back(line);
    if (!figure_.arrows.empty()) {
      lines.push_back(std::string("thick: the cycle · solid: recorded") +
                      (inferred ? " · dashed: inferred" : "") +
                      (otherwise ? " · dotted: if the step were the other way round" : ""));
    }
    if (figure_.left_out > 0) {
      lines.push_back(fmt::format("{} more dependencies are left out", figure_.left_out));
    }
    return lines;
  }

  [[nodiscard]] Point shifted(Point p) const { return {p.x + origin_.x, p.y + origin_.y}; }

  void box(SvgWriter& svg, std::size_t index) const {
    const auto& box = figure_.boxes[index];
    const Point at = shifted(layout_.boxes[index]);
    const double width = std::ceil(box.width);
    const double height = box_height(box);
    bool cycle = false;
    for (const auto& arrow : figure_.arrows) {
      cycle |= arrow.in_cycle && (arrow.from == index || arrow.to == index);
    }
    svg.open("g", {{"class", fmt::format("box{}{}", cycle ? " cycle" : "",
                                         box.committed ? "" : " uncommitted")},
                   {"data-txn", box.txn.raw}});
    svg.element("rect", {{"class", "frame"},
                         {"x", at.x},
                         {"y", at.y},
                         {"width", width},
                         {"height", height},
                         {"rx", 5}});
    // The head, with the upper corners round as the frame's are.
    const double r = 4;
    using text::svg_number;
    svg.element("path",
                {{"class", "head"},
                 {"d", fmt::format("M{0},{1} v-{2} a{3},{3} 0 0 1 {3},-{3} h{4} a{3},{3} 0 0 1 "
                                   "{3},{3} v{2} Z",
                                   svg_number(at.x + 1), svg_number(at.y + kHeadHeight),
                                   svg_number(kHeadHeight - 1 - r), svg_number(r),
                                   svg_number(width - 2 - 2 * r))}});
    const auto line_top = [&](std::size_t i) {
      return at.y + kHeadHeight + kLineHeight * static_cast<double>(i);
    };
    for (std::size_t i = 0; i < box.lines.size(); ++i) {
      if (!box.lines[i].marked) continue;
      svg.element("rect", {{"class", "mark"},
                           {"x", at.x + 4},
                           {"y", line_top(i) + 1.5},
                           {"width", width - 8},
                           {"height", kLineHeight - 3}});
    }
    const auto words = [&](std::string_view what, double y, std::string_view text) {
      svg.text({{"class", what}, {"x", at.x + 10}, {"y", y}}, text);
    };
    words("name", at.y + (box.place.empty() ? 24 : 17), box.name);
    if (!box.place.empty()) words("place", at.y + 31, box.place);
    for (std::size_t i = 0; i < box.lines.size(); ++i) {
      words(box.lines[i].marked ? "operation" : "operation plain",
            line_top(i) + kLineHeight / 2 + 4, box.lines[i].text);
    }
    svg.close();
  }

  void arrow(SvgWriter& svg, std::size_t index) const {
    const auto& arrow = figure_.arrows[index];
    const auto& route = layout_.arrows[index];
    if (route.spline.empty()) return;
    const auto kind = kind_name(arrow.kind);
    svg.open("g",
             {{"class",
               fmt::format("arrow {} {}{}{}", kind, arrow.certain ? "certain" : "inferred",
                           arrow.in_cycle ? " cycle" : "", arrow.otherwise ? " otherwise" : "")},
              {"data-arrow", index},
              {"data-from", figure_.boxes[arrow.from].txn.raw},
              {"data-to", figure_.boxes[arrow.to].txn.raw}});
    svg.title(fmt::format("{}. {}", arrow.number, arrow.sentence));
    SvgPath path;
    path.move_to(shifted(route.spline[0]));
    for (std::size_t i = 1; i + 2 < route.spline.size(); i += 3) {
      path.curve_to(shifted(route.spline[i]), shifted(route.spline[i + 1]),
                    shifted(route.spline[i + 2]));
    }
    svg.element("path", {{"class", "line"}, {"d", path.data()}});
    draw_tip(svg, arrow.kind, shifted(route.spline.back()), shifted(route.tip));
    const Point at = shifted(route.label);
    const std::string about = arrow.about.empty() ? "" : " " + arrow.about;
    const text::SvgSpan label[] = {
        {"number", arrow.number}, {{}, " "}, {"kind", kind}, {{}, about}};
    svg.text({{"class", "label"}, {"x", at.x}, {"y", at.y + 4}, {"text-anchor", "middle"}}, label);
    svg.close();
  }

  const Figure& figure_;
  const Layout& layout_;
  bool standalone_;
  Point origin_;
};

}  // namespace

std::string svg(const Figure& figure, const SvgOptions& options) {
  const Layout layout = layered_layout(figure);
  return Painter(figure, layout, options.standalone).paint();
}

Pictures pictures_of(const Figure& figure) {
  const Layout layout = layered_layout(figure);
  return {.in_page = Painter(figure, layout, /*standalone=*/false).paint(),
          .standalone = Painter(figure, layout, /*standalone=*/true).paint()};
}

}  // namespace cupel::report
