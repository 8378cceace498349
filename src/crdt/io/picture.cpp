// Picture: columns by longest path, so that an arrow of the past points to the right;
// boxes as wide as their text in a font of fixed width.
#include "crdt/io/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "text/markup.hpp"

namespace cupel::crdt {

namespace {

constexpr double kLetter = 6.7, kPadding = 7, kBox = 22, kRow = 74, kGap = 34, kMargin = 16;
constexpr double kTitle = 22, kLine = 17;

// Characters, not bytes.
std::size_t length(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::string cut(const std::string& text, std::size_t most) {
  if (length(text) <= most) return text;
  std::string out;
  std::size_t letters = 0;
  for (const char c : text) {
    const bool begins = (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    if (begins && ++letters == most) break;
    out += c;
  }
  return out + "…";
}

struct Arrow {
  OpId from, to;
  const char* style;    // a class of kStyle
  std::string tooltip;  // a title that a pointer shows
};

constexpr std::string_view kStyle = R"(
  text { font-family: 'DejaVu Sans Mono', ui-monospace, Menlo, Consolas, monospace; font-size: 11px; fill: #1d232a; }
  .title { font-weight: bold; font-size: 13px; }
  .said, .replica { fill: #5f6770; }
  .paper { fill: #ffffff; }
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

  std::string draw(const std::string& title, const std::vector<std::string>& said) {
    const double left = label_width_ + kMargin;
    const double top = kMargin + kTitle + 26;
    double widest = right_ + kMargin;
    widest = std::max(widest, kLetter * 1.19 * static_cast<double>(length(title)) + 2 * kMargin);
    for (const auto& line : said) {
      widest = std::max(widest, kLetter * static_cast<double>(length(line)) + 2 * kMargin);
    }
    const double bottom = top + kRow * static_cast<double>(rows_.size());
    const double height = bottom + kLine * static_cast<double>(said.size()) + kMargin;
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n<style>{2}</style>\n<defs>\n",
        std::ceil(widest), std::ceil(height), kStyle);
    for (const auto& [id, colour] : {std::pair{"tip", "#4a6fa5"}, std::pair{"tip-must", "#1d7a4c"},
                                     std::pair{"tip-red", "#b3261e"}}) {
      svg += fmt::format(
          "<marker id=\"{}\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"8\" "
          "markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0,0.5 L8,4 "
          "L0,7.5 z\" fill=\"{}\"/></marker>\n",
          id, colour);
    }
    svg += "</defs>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n";
    svg += fmt::format("<text class=\"title\" x=\"{}\" y=\"{}\">{}</text>\n", kMargin, kMargin + 13,
                       text::in_markup(title));
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const double y = top + kRow * static_cast<double>(r) + kBox / 2;
      svg += fmt::format("<text class=\"replica\" x=\"{}\" y=\"{:.1f}\">{}</text>\n", kMargin,
                         y + 4, text::in_markup(row_label(rows_[r])));
      svg += fmt::format(
          "<line class=\"time\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\"/>\n",
          left, y, right_);
    }
    for (const Arrow& arrow : arrows_) svg += path(arrow, top);
    for (const OpId id : ops_) {
      const auto& box = boxes_[id];
      const double y = top + kRow * box.row;
      svg += fmt::format(
          "<g class=\"{}\"><rect class=\"box\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
          "height=\"{}\" rx=\"3\"/><text x=\"{:.1f}\" y=\"{:.1f}\">{}</text></g>\n",
          id == wrong_               ? "wrong"
          : is_read(h_.ops[id].kind) ? "read"
                                     : "update",
          box.x, y, box.width, kBox, box.x + kPadding, y + 15, text::in_markup(label(id)));
    }
    double y = bottom + 2;
    for (const auto& line : said) {
      svg += fmt::format("<text class=\"said\" x=\"{}\" y=\"{:.1f}\">{}</text>\n", kMargin, y,
                         text::in_markup(line));
      y += kLine;
    }
    return svg + "</svg>\n";
  }

 private:
  struct Box {
    double x = 0, width = 0, row = 0;
  };

  [[nodiscard]] std::string label(OpId id) const { return cut(h_.text(id), 44); }
  [[nodiscard]] std::string row_label(std::uint32_t replica) const {
    return "replica " + cut(h_.replicas[replica], 16);
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
      const bool dashed = std::string_view(arrow.style) == "arrow cannot";
      if (!dashed && !reaches(arrow.to, arrow.from)) next[arrow.from].push_back(arrow.to);
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
      label_width_ =
          std::max(label_width_, kLetter * static_cast<double>(length(row_label(r))) + 12);
    }
    std::size_t columns = 0;
    for (const OpId id : ops_) columns = std::max(columns, column_[id] + 1);
    std::vector<double> widths(columns, 0);
    for (const OpId id : ops_)
      widths[column_[id]] = std::max(
          widths[column_[id]], kLetter * static_cast<double>(length(label(id))) + 2 * kPadding);
    std::vector<double> starts(columns, label_width_ + kMargin + 10);
    for (std::size_t c = 1; c < columns; ++c) starts[c] = starts[c - 1] + widths[c - 1] + kGap;
    right_ = columns == 0 ? label_width_ + kMargin : starts.back() + widths.back() + 10;
    boxes_.resize(h_.ops.size());
    for (const OpId id : ops_) {
      const auto row = std::find(rows_.begin(), rows_.end(), h_.ops[id].replica) - rows_.begin();
      const double width = kLetter * static_cast<double>(length(label(id))) + 2 * kPadding;
      boxes_[id] = {starts[column_[id]], width, static_cast<double>(row)};
    }
  }

  [[nodiscard]] std::string path(const Arrow& arrow, double top) const {
    const Box &from = boxes_[arrow.from], &to = boxes_[arrow.to];
    const std::string_view style = arrow.style;
    const char* const tip = style == "arrow"        ? "tip"
                            : style == "arrow must" ? "tip-must"
                                                    : "tip-red";
    std::string d;
    const double y_from = top + kRow * from.row, y_to = top + kRow * to.row;
    if (from.row == to.row) {
      // Over the boxes, in an arc as high as it is long.
      const bool forward = from.x < to.x;
      const double x_from = forward ? from.x + from.width * 0.75 : from.x + from.width * 0.25;
      const double x_to = forward ? to.x + to.width * 0.25 : to.x + to.width * 0.75;
      const double lift = std::min(40.0, 14 + std::abs(x_to - x_from) / 12);
      const double y = forward ? y_from : y_from + kBox;
      const double bend = forward ? y - lift : y + lift;
      d = fmt::format("M{:.1f},{:.1f} C{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}", x_from, y,
                      x_from, bend, x_to, bend, x_to, y);
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
      d = fmt::format("M{:.1f},{:.1f} C{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}", x_from, y,
                      x_from, y + bend, x_to, end - bend, x_to, end);
    }
    return fmt::format(
        "<path class=\"{}\" marker-end=\"url(#{})\" d=\"{}\"><title>{}</title></path>\n", style,
        tip, d, text::in_markup(arrow.tooltip));
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
    if (!line.empty() && length(line) + 1 + length(word) > width) {
      lines.push_back(indent + line);
      line = "  ";
    }
    line += (line.empty() || line == "  " ? "" : " ") + word;
    begin = end + 1;
  }
  lines.push_back(indent + line);
  return lines;
}

}  // namespace

std::string as_svg(const Answer& answer) {
  const History& h = *answer.history;
  const std::string title =
      fmt::format("{}: {}, {}", answer.file, name(h.type), name(answer.decision.verdict));
  std::vector<std::string> said;
  std::vector<Arrow> arrows;
  if (answer.explanation) {
    const auto& explanation = *answer.explanation;
    const auto& part = explanation.part.history;
    std::vector<OpId> ops;
    for (OpId id = 0; id < part.ops.size() && id < kMostDrawn; ++id) ops.push_back(id);
    for (const Step& step : explanation.cycle)
      arrows.push_back({step.from, step.to, "arrow cycle", sentence(part, step)});
    if (explanation.cycle.empty() && explanation.read != kNone) {
      for (const OpId u : explanation.must_see) {
        arrows.push_back({u, explanation.read, "arrow must", "must have been seen"});
      }
      for (const OpId u : explanation.cannot_see)
        arrows.push_back({u, explanation.read, "arrow cannot", "cannot have been seen"});
    }
    for (auto& line : wrapped(explanation.name + ": " + explanation.summary, ""))
      said.push_back(std::move(line));
    if (explanation.cycle.empty()) {
      said.emplace_back("green: what it must have seen; red and dashed: what it cannot have seen");
    } else {
      for (const auto& reason : explanation.because) {
        for (auto& line : wrapped(reason, "  ")) said.push_back(std::move(line));
      }
    }
    if (ops.size() < part.ops.size())
      said.push_back(
          fmt::format("the first {} of {} operations that it takes", ops.size(), part.ops.size()));
    return Drawing(part, std::move(ops), std::move(arrows), explanation.read).draw(title, said);
  }
  if (!answer.decision.witness)
    return Drawing(h, {}, {}, kNone).draw(title, {"a limit was met: there is nothing to show"});
  const auto& witness = *answer.decision.witness;
  std::vector<OpId> ops(witness.order.begin(),
                        witness.order.begin() + static_cast<std::ptrdiff_t>(
                                                    std::min(kMostDrawn, witness.order.size())));
  for (const OpId id : ops) {
    for (const OpId from : newly_seen(h, witness.clocks, id))
      arrows.push_back({from, id, "arrow", fmt::format("{} is delivered", h.text(from))});
  }
  said.emplace_back("an arrow: what its replica has newly seen there");
  if (ops.size() < h.ops.size())
    said.push_back(fmt::format("the first {} of {} operations", ops.size(), h.ops.size()));
  return Drawing(h, std::move(ops), std::move(arrows), kNone).draw(title, said);
}

}  // namespace cupel::crdt
