// Picture: the column of an operation is the length of the longest path to it, so that arrows from
// the past point to the right. Boxes are as wide as their text in a font of fixed width.
#include "crdt/io/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/text/svg.hpp"

namespace cupel::crdt {

using text::SvgPath;
using text::SvgWriter;

namespace {

constexpr double kCharacter = 6.7, kPadding = 7, kBox = 22, kRow = 74, kGap = 34, kMargin = 16;
constexpr double kTitle = 22, kLine = 17;

double width_of(std::string_view text) {
  return kCharacter * static_cast<double>(text::columns(text));
}

struct ArrowStyle {
  const char* css_class;  // of kStyle
  const char* marker;
};
constexpr ArrowStyle kDelivery{"arrow", "tip"}, kMustSee{"arrow must", "tip-must"},
    kCannotSee{"arrow cannot", "tip-red"}, kCycle{"arrow cycle", "tip-red"};

struct Arrow {
  OpId from, to;
  const ArrowStyle* style;
  std::string tooltip;  // a title that a pointer shows
};

constexpr std::string_view kStyle = R"(
  .legend, .replica { fill: #5f6770; }
  .time { stroke: #c5ccd3; stroke-width: 1.5; }
  .box { fill: #ffffff; stroke: #8a939d; }
  .read .box { fill: #f3f6f9; }
  .wrong .box { fill: #fdecea; stroke: #b3261e; stroke-width: 2; }
  .arrow { fill: none; stroke: #4a6fa5; stroke-width: 1.4; }
  .must { stroke: #1d7a4c; stroke-width: 1.8; }
  .cannot { stroke: #b3261e; stroke-dasharray: 5 4; }
  .cycle { stroke: #b3261e; stroke-width: 1.8; }
)";

class Drawing {
 public:
  Drawing(const History& history, std::vector<OpId> ops, std::vector<Arrow> arrows, OpId wrong)
      : h_(history), ops_(std::move(ops)), arrows_(std::move(arrows)), wrong_(wrong) {
    shown_.assign(h_.ops.size(), false);
    for (const OpId id : ops_) shown_[id] = true;
    std::erase_if(arrows_, [&](const Arrow& a) { return !shown_[a.from] || !shown_[a.to]; });
    place_columns();
    place_boxes();
  }

  std::string draw(const std::string& title, const std::vector<std::string>& legend) {
    const double left = label_width_ + kMargin;
    const double top = kMargin + kTitle + 26;
    double widest = std::max(right_ + kMargin, width_of(title) * 1.19 + 2 * kMargin);
    for (const auto& line : legend) widest = std::max(widest, width_of(line) + 2 * kMargin);
    const double bottom = top + kRow * static_cast<double>(rows_.size());
    const double height = bottom + kLine * static_cast<double>(legend.size()) + kMargin;
    SvgWriter svg({.width = std::ceil(widest), .height = std::ceil(height)},
                  {{"role", "img"}, {"aria-label", title}});
    svg.sheet(kStyle, title, {kMargin, kMargin + 13});
    svg.open("defs");
    svg.marker("tip", "#4a6fa5");
    svg.marker("tip-must", "#1d7a4c");
    svg.marker("tip-red", "#b3261e");
    svg.close();
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const double y = top + kRow * static_cast<double>(r) + kBox / 2;
      svg.text({{"class", "replica"}, {"x", kMargin}, {"y", y + 4}}, row_label(rows_[r]));
      svg.element("line", {{"class", "time"}, {"x1", left}, {"y1", y}, {"x2", right_}, {"y2", y}});
    }
    for (const Arrow& arrow : arrows_) draw(svg, arrow, top);
    for (const OpId id : ops_) draw(svg, id, top);
    double y = bottom + 2;
    for (const auto& line : legend) {
      svg.text({{"class", "legend"}, {"x", kMargin}, {"y", y}}, line);
      y += kLine;
    }
    return svg.finish();
  }

 private:
  struct Box {
    double x = 0, width = 0, row = 0;
  };

  [[nodiscard]] std::string label(OpId id) const { return text::fitting(h_.text(id), 44); }
  [[nodiscard]] std::string row_label(std::uint32_t replica) const {
    return "replica " + text::fitting(h_.replicas[replica], 16);
  }

  void place_columns() {
    column_.assign(h_.ops.size(), 0);
    std::vector<std::vector<OpId>> next(h_.ops.size());
    const auto reaches = [&](OpId from, OpId to) {
      std::vector<OpId> stack{from};
      std::vector<bool> met(h_.ops.size(), false);
      while (!stack.empty()) {
        const OpId at = stack.back();
        stack.pop_back();
        if (at == to) return true;
        if (met[at]) continue;
        met[at] = true;
        stack.insert(stack.end(), next[at].begin(), next[at].end());
      }
      return false;
    };
    for (const auto& line : h_.by_replica) {
      OpId last = kNone;
      for (const OpId id : line) {
        if (!shown_[id]) continue;
        if (last != kNone) next[last].push_back(id);
        last = id;
      }
    }
    for (const Arrow& arrow : arrows_) {
      // Those that close a cycle point back.
      if (arrow.style != &kCannotSee && !reaches(arrow.to, arrow.from))
        next[arrow.from].push_back(arrow.to);
    }
    // As many rounds as the longest path; pictures are small.
    for (bool moved = true; moved;) {
      moved = false;
      for (const OpId id : ops_) {
        for (const OpId to : next[id]) {
          if (column_[to] > column_[id]) continue;
          column_[to] = column_[id] + 1;
          moved = true;
        }
      }
    }
  }

  void place_boxes() {
    for (std::uint32_t r = 0; r < h_.replicas.size(); ++r) {
      if (std::any_of(h_.by_replica[r].begin(), h_.by_replica[r].end(),
                      [&](OpId id) { return shown_[id]; }))
        rows_.push_back(r);
    }
    for (const auto r : rows_) {
      label_width_ = std::max(label_width_, width_of(row_label(r)) + 12);
    }
    std::size_t columns = 0;
    for (const OpId id : ops_) columns = std::max(columns, column_[id] + 1);
    std::vector<double> widths(columns, 0);
    for (const OpId id : ops_)
      widths[column_[id]] = std::max(widths[column_[id]], width_of(label(id)) + 2 * kPadding);
    std::vector<double> starts(columns, label_width_ + kMargin + 10);
    for (std::size_t c = 1; c < columns; ++c) starts[c] = starts[c - 1] + widths[c - 1] + kGap;
    right_ = columns == 0 ? label_width_ + kMargin : starts.back() + widths.back() + 10;
    boxes_.resize(h_.ops.size());
    for (const OpId id : ops_) {
      const auto row = std::find(rows_.begin(), rows_.end(), h_.ops[id].replica) - rows_.begin();
      const double width = width_of(label(id)) + 2 * kPadding;
      boxes_[id] = {starts[column_[id]], width, static_cast<double>(row)};
    }
  }

  void draw(SvgWriter& svg, const Arrow& arrow, double top) const {
    const Box &from = boxes_[arrow.from], &to = boxes_[arrow.to];
    SvgPath path;
    const double y_from = top + kRow * from.row, y_to = top + kRow * to.row;
    if (from.row == to.row) {
      // Over the boxes, in an arc as high as it is long.
      const bool forward = from.x < to.x;
      const double x_from = forward ? from.x + from.width * 0.75 : from.x + from.width * 0.25;
      const double x_to = forward ? to.x + to.width * 0.25 : to.x + to.width * 0.75;
      const double lift = std::min(40.0, 14 + std::abs(x_to - x_from) / 12);
      const double y = forward ? y_from : y_from + kBox;
      const double bend = forward ? y - lift : y + lift;
      path.move_to({x_from, y}).curve_to({x_from, bend}, {x_to, bend}, {x_to, y});
    } else {
      const bool down = from.row < to.row;
      // Of two that lead there and back each keeps to its side.
      const bool both = std::any_of(arrows_.begin(), arrows_.end(), [&](const Arrow& other) {
        return other.from == arrow.to && other.to == arrow.from;
      });
      const double aside = !both ? 0 : down ? -6 : 6;
      const double x_from = from.x + from.width / 2 + aside, x_to = to.x + to.width / 2 + aside;
      const double y = down ? y_from + kBox : y_from, end = down ? y_to : y_to + kBox;
      const double bend = std::abs(end - y) * 0.45 * (down ? 1 : -1);
      path.move_to({x_from, y}).curve_to({x_from, y + bend}, {x_to, end - bend}, {x_to, end});
    }
    svg.open("path", {{"class", arrow.style->css_class},
                      {"marker-end", fmt::format("url(#{})", arrow.style->marker)},
                      {"d", path.data()}});
    svg.title(arrow.tooltip);
    svg.close();
  }

  void draw(SvgWriter& svg, OpId id, double top) const {
    const Box& box = boxes_[id];
    const double y = top + kRow * box.row;
    svg.open("g", {{"class", id == wrong_               ? "wrong"
                             : is_read(h_.ops[id].kind) ? "read"
                                                        : "update"}});
    svg.element("rect", {{"class", "box"},
                         {"x", box.x},
                         {"y", y},
                         {"width", box.width},
                         {"height", kBox},
                         {"rx", 3}});
    svg.text({{"x", box.x + kPadding}, {"y", y + 15}}, label(id));
    svg.close();
  }

  const History& h_;
  std::vector<OpId> ops_;
  std::vector<Arrow> arrows_;
  OpId wrong_;
  std::vector<bool> shown_;
  std::vector<std::size_t> column_;
  std::vector<std::uint32_t> rows_;
  std::vector<Box> boxes_;
  double label_width_ = 0, right_ = 0;
};

std::vector<std::string> wrapped(const std::string& text, const std::string& indent,
                                 std::size_t width = 120) {
  std::vector<std::string> lines;
  std::string line;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const auto end = std::min(text.find(' ', begin), text.size());
    const auto word = text.substr(begin, end - begin);
    if (!line.empty() && text::columns(line) + 1 + text::columns(word) > width) {
      lines.push_back(indent + line);
      line = "  ";
    }
    line += (line.empty() || line == "  " ? "" : " ") + word;
    begin = end + 1;
  }
  lines.push_back(indent + line);
  return lines;
}

// The recorded deliveries among operations, each of which is one of the history. Adds those that
// have no arrow yet. Their number.
std::size_t add_deliveries(const Visibility& visibility, const History& part,
                           const std::function<OpId(OpId)>& origin, std::vector<Arrow>& arrows) {
  const auto sees = [&](OpId op, OpId update) {
    return visibility.sees(origin(op), origin(update));
  };
  const auto before = arrows.size();
  for (const auto& line : part.by_replica) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      for (OpId update = 0; update < part.ops.size(); ++update) {
        if (is_read(part.ops[update].kind) ||
            part.ops[update].replica == part.ops[line[i]].replica || !sees(line[i], update) ||
            (i > 0 && sees(line[i - 1], update)))
          continue;
        const bool is_drawn = std::any_of(arrows.begin(), arrows.end(), [&](const Arrow& arrow) {
          return arrow.from == update && arrow.to == line[i];
        });
        if (!is_drawn)
          arrows.push_back(
              {update, line[i], &kDelivery, fmt::format("{} is delivered", part.text(update))});
      }
    }
  }
  return arrows.size() - before;
}

std::size_t add_deliveries(const Report& report, const Explanation& explanation,
                           std::vector<Arrow>& arrows) {
  if (report.visibility == nullptr) return 0;
  const auto& part = explanation.part;
  return add_deliveries(
      *report.visibility, part.history, [&](OpId op) { return part.origin[op]; }, arrows);
}

}  // namespace

std::string as_svg(const Report& report) {
  const History& h = *report.history;
  const std::string title = fmt::format("{}: {}, {}", report.file, name(h.type),
                                        to_string(report.analysis.decision.verdict));
  std::vector<std::string> legend;
  std::vector<Arrow> arrows;
  if (report.analysis.explanation) {
    const auto& explanation = *report.analysis.explanation;
    const auto& part = explanation.part.history;
    std::vector<OpId> ops;
    for (OpId id = 0; id < part.ops.size() && id < kMostDrawn; ++id) ops.push_back(id);
    for (const Step& step : explanation.cycle)
      arrows.push_back({step.from, step.to, &kCycle, sentence(part, step)});
    if (explanation.cycle.empty() && explanation.read != kNone) {
      for (const OpId u : explanation.must_see) {
        arrows.push_back({u, explanation.read, &kMustSee, "must have been seen"});
      }
      for (const OpId u : explanation.cannot_see)
        arrows.push_back({u, explanation.read, &kCannotSee, "cannot have been seen"});
    }
    const auto delivered = add_deliveries(report, explanation, arrows);
    for (auto& line : wrapped(explanation.name + ": " + explanation.summary, ""))
      legend.push_back(std::move(line));
    if (explanation.cycle.empty()) {
      if (arrows.size() > delivered)
        legend.emplace_back(
            "green: what it must have seen; red and dashed: what it cannot have seen");
    } else {
      for (const auto& reason : explanation.because) {
        for (auto& line : wrapped(reason, "  ")) legend.push_back(std::move(line));
      }
    }
    if (delivered > 0) legend.emplace_back("blue: recorded deliveries");
    if (ops.size() < part.ops.size())
      legend.push_back(
          fmt::format("the first {} of {} operations that it takes", ops.size(), part.ops.size()));
    return Drawing(part, std::move(ops), std::move(arrows), explanation.read).draw(title, legend);
  }
  if (!has_execution(report))
    return Drawing(h, {}, {}, kNone).draw(title, {"a limit was met: there is nothing to show"});
  const auto& witness = *report.analysis.decision.witness;
  std::vector<OpId> ops(witness.order.begin(),
                        witness.order.begin() + static_cast<std::ptrdiff_t>(
                                                    std::min(kMostDrawn, witness.order.size())));
  for (const OpId id : ops) {
    for (const OpId from : newly_seen(report, id))
      arrows.push_back({from, id, &kDelivery, fmt::format("{} is delivered", h.text(from))});
  }
  legend.emplace_back("an arrow: what its replica has newly seen there");
  if (ops.size() < h.ops.size())
    legend.push_back(fmt::format("the first {} of {} operations", ops.size(), h.ops.size()));
  return Drawing(h, std::move(ops), std::move(arrows), kNone).draw(title, legend);
}

std::string recording_svg(const Report& report) {
  const History& h = *report.history;
  const auto& explanation = report.analysis.explanation;
  if (report.visibility == nullptr || !explanation || h.ops.size() > kMostDrawn) return {};
  std::vector<OpId> ops;
  for (OpId id = 0; id < h.ops.size(); ++id) ops.push_back(id);
  std::vector<Arrow> arrows;
  add_deliveries(
      *report.visibility, h, [](OpId op) { return op; }, arrows);
  const OpId wrong =
      explanation->read == kNone ? kNone : explanation->part.origin[explanation->read];
  return Drawing(h, std::move(ops), std::move(arrows), wrong)
      .draw(report.file + ": all operations", {"an arrow: a recorded delivery"});
}

}  // namespace cupel::crdt
