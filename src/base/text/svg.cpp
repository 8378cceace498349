// SVG: see the header. An element a line, so that two pictures can be compared by lines.
#include "base/text/svg.hpp"

#include <fmt/format.h>

#include "base/text/escape.hpp"

namespace cupel::text {

namespace {

std::string escaped(std::string_view text) {
  return in_markup(text, "\n");
}

std::string pair(Point p) {
  return svg_number(p.x) + "," + svg_number(p.y);
}

// Dark pages show the pictures on their white paper.
constexpr std::string_view kSharedStyle = R"(
  text { font-family: 'DejaVu Sans Mono', ui-monospace, Menlo, Consolas, monospace; font-size: 11px; fill: #1d232a; }
  .title { font-weight: bold; font-size: 13px; }
  .paper { fill: #ffffff; })";

}  // namespace

std::string svg_number(double value) {
  auto text = fmt::format("{:.1f}", value);
  if (text == "-0.0") text = "0.0";
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

SvgAttribute::SvgAttribute(std::string_view attribute, std::string_view text)
    : name(attribute), value(escaped(text)) {}

SvgPath& SvgPath::add(char command, std::initializer_list<Point> points) {
  if (!data_.empty()) data_ += ' ';
  data_ += command;
  bool first = true;
  for (const Point& p : points) {
    if (!first) data_ += ' ';
    first = false;
    data_ += pair(p);
  }
  return *this;
}
SvgPath& SvgPath::move_to(Point p) {
  return add('M', {p});
}
SvgPath& SvgPath::line_to(Point p) {
  return add('L', {p});
}
SvgPath& SvgPath::curve_to(Point control_from, Point control_to, Point p) {
  return add('C', {control_from, control_to, p});
}
SvgPath& SvgPath::close() {
  return add('Z', {});
}

SvgWriter::SvgWriter(const SvgSize& size, SvgAttributes attributes) : size_(size) {
  begin("svg",
        {{"xmlns", "http://www.w3.org/2000/svg"},
         {"width", size.width * size.scale},
         {"height", size.height * size.scale},
         {"viewBox", fmt::format("0 0 {} {}", svg_number(size.width), svg_number(size.height))}});
  add(attributes);
  out_ += ">\n";
  open_.emplace_back("svg");
}

void SvgWriter::sheet(std::string_view style, std::string_view title, Point at) {
  out_ += fmt::format("<style>{}{}</style>\n", kSharedStyle, style);
  element("rect", {{"class", "paper"}, {"width", size_.width}, {"height", size_.height}});
  text({{"class", "title"}, {"x", at.x}, {"y", at.y}}, title);
}

void SvgWriter::marker(std::string_view id, std::string_view colour) {
  open("marker", {{"id", id},
                  {"viewBox", "0 0 8 8"},
                  {"refX", 7.5},
                  {"refY", 4},
                  {"markerWidth", 8},
                  {"markerHeight", 8},
                  {"markerUnits", "userSpaceOnUse"},
                  {"orient", "auto"}});
  element("path", {{"d", "M0,0.5 L8,4 L0,7.5 Z"}, {"fill", colour}});
  close();
}

void SvgWriter::begin(std::string_view name, SvgAttributes attributes) {
  out_ += '<';
  out_ += name;
  add(attributes);
}

void SvgWriter::add(SvgAttributes attributes) {
  for (const auto& attribute : attributes) {
    if (attribute.value.empty()) continue;
    out_ += ' ';
    out_ += attribute.name;
    out_ += "=\"";
    out_ += attribute.value;
    out_ += '"';
  }
}

void SvgWriter::open(std::string_view name, SvgAttributes attributes) {
  begin(name, attributes);
  out_ += ">\n";
  open_.emplace_back(name);
}

void SvgWriter::close() {
  out_ += "</" + open_.back() + ">\n";
  open_.pop_back();
}

void SvgWriter::element(std::string_view name, SvgAttributes attributes) {
  begin(name, attributes);
  out_ += "/>\n";
}

void SvgWriter::title(std::string_view words) {
  out_ += "<title>" + escaped(words) + "</title>\n";
}

void SvgWriter::text(SvgAttributes attributes, std::string_view words) {
  const SvgSpan whole{{}, words};
  text(attributes, std::span(&whole, 1));
}

void SvgWriter::text(SvgAttributes attributes, std::span<const SvgSpan> spans) {
  begin("text", attributes);
  out_ += '>';
  for (const auto& span : spans) {
    if (span.css_class.empty()) {
      out_ += escaped(span.text);
    } else {
      out_ += fmt::format(R"(<tspan class="{}">{}</tspan>)", span.css_class, escaped(span.text));
    }
  }
  out_ += "</text>\n";
}

std::string SvgWriter::finish() {
  while (!open_.empty()) close();
  return std::move(out_);
}

std::size_t columns(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) == 0x80) continue;
    // East Asian characters and pictures are two wide: nearly all from U+1100 on that matter
    // begin with E1 84 or above, of which E2 is punctuation and symbols.
    count += (byte >= 0xE3 && byte <= 0xED) || byte >= 0xF0 ? 2 : 1;
  }
  return count;
}

std::string fitting(std::string text, std::size_t most_columns) {
  if (columns(text) <= most_columns) return text;
  while (!text.empty() && columns(text) >= most_columns) {
    do {
      const bool middle = (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80;
      text.pop_back();
      if (!middle) break;
    } while (!text.empty());
  }
  return text + "…";
}

}  // namespace cupel::text
