// See the header.
#include "report/dot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/wording.hpp"

namespace cupel::report {

using levels::EdgeKind;

namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

std::string_view arrowhead(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::kWriteRead:
      return "normal";
    case EdgeKind::kWriteWrite:
      return "normalnormal";
    case EdgeKind::kReadWrite:
      return "onormal";
    default:
      return "vee";
  }
}

std::string port(std::size_t box, std::size_t line) {
  return line == Figure::kHead ? fmt::format("b{}:h", box) : fmt::format("b{}:l{}", box, line);
}

std::string cell(std::string_view name, double width, double height, std::string_view attributes,
                 std::string_view text) {
  return fmt::format(R"(<TR><TD{} FIXEDSIZE="TRUE" WIDTH="{:.0f}" HEIGHT="{:.0f}"{}>{}</TD></TR>)",
                     name.empty() ? "" : fmt::format(R"( PORT="{}")", name), std::ceil(width),
                     height, attributes, text);
}

std::string node(const Figure& figure, std::size_t index, bool text) {
  const auto& box = figure.boxes[index];
  std::string out = fmt::format(
      "  b{} [label=<<TABLE BORDER=\"1\" CELLBORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"0\" "
      "COLOR=\"#3a424c\" STYLE=\"ROUNDED\">\n",
      index);
  std::string head;
  if (text) {
    head = fmt::format("<B>{}</B>", in_markup(box.name));
    if (!box.place.empty()) {
      head += fmt::format(R"(<BR/><FONT POINT-SIZE="10" COLOR="#5f6770">{}</FONT>)",
                          in_markup(box.place));
    }
  }
  out +=
      "    " + cell("h", box.width, kHeadHeight, text ? R"( BGCOLOR="#e9edf1")" : "", head) + "\n";
  for (std::size_t i = 0; i < box.lines.size(); ++i) {
    const auto& line = box.lines[i];
    std::string words;
    if (text) {
      words = line.marked ? in_markup(line.text)
                          : fmt::format(R"(<FONT COLOR="#5f6770">{}</FONT>)", in_markup(line.text));
    }
    out += "    " + cell(fmt::format("l{}", i), box.width, kLineHeight, "", words) + "\n";
  }
  return out + "  </TABLE>>];\n";
}

std::string edge(const Figure& figure, std::size_t index, bool text) {
  const auto& arrow = figure.arrows[index];
  std::string words;
  if (text) {
    words = fmt::format("{} <B>{}</B>{}", arrow.number, kind_name(arrow.kind),
                        arrow.about.empty() ? "" : " " + in_markup(arrow.about));
  }
  const auto label = fmt::format(
      R"(<<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0">{}</TABLE>>)",
      cell("", label_width(figure, index), kLabelHeight, "", words));
  std::string out = fmt::format(
      "  {} -> {} [label={}, color=\"{}\", fontcolor=\"{}\", arrowhead={}, "
      "style={}, penwidth={}",
      port(arrow.from, arrow.from_line), port(arrow.to, arrow.to_line), label,
      colour_of(arrow.kind), colour_of(arrow.kind), arrowhead(arrow.kind),
      arrow.certain     ? "solid"
      : arrow.otherwise ? "dotted"
                        : "dashed",
      arrow.in_cycle ? "2.4" : "1.1");
  // The cycle is laid out straight; what explains it goes around.
  out += fmt::format(", weight={}", arrow.in_cycle ? 4 : 1);
  if (text) out += fmt::format(", tooltip={}", quoted(arrow.sentence));
  return out + "];\n";
}

}  // namespace

std::string dot(const Figure& figure, const DotOptions& options) {
  std::string out = "digraph counterexample {\n";
  if (options.text) {
    auto title = figure.title;
    if (figure.left_out > 0)
      title += fmt::format(" ({} dependencies are left out)", figure.left_out);
    out += fmt::format("  // {}\n  label={}; labelloc=b; fontname=\"monospace\"; fontsize=11;\n",
                       quoted(title), quoted(title));
  }
  out += runs_down(figure) ? "  rankdir=TB; nodesep=0.42; ranksep=0.45;"
                           : "  rankdir=LR; nodesep=0.42; ranksep=0.65;";
  out +=
      " bgcolor=\"white\";\n"
      "  node [shape=plain, fontname=\"monospace\", fontsize=11];\n"
      "  edge [fontname=\"monospace\", fontsize=11, arrowsize=0.8];\n";
  for (std::size_t i = 0; i < figure.boxes.size(); ++i) out += node(figure, i, options.text);
  for (std::size_t i = 0; i < figure.arrows.size(); ++i) out += edge(figure, i, options.text);
  return out + "}\n";
}

}  // namespace cupel::report
