// SVG: a picture element by element, as text. For all pictures: the same look, the same bytes on
// every machine, and no references to other files.
//
//   SvgWriter svg({.width = 120, .height = 40}, {{"role", "img"}});
//   svg.sheet(".box { stroke: #8a939d; }", "a title", {14, 22});
//   svg.open("g", {{"class", "box"}});
//   svg.element("rect", {{"x", 10.0}, {"y", 10.0}, {"width", 100.0}, {"height", 20.0}});
//   svg.text({{"x", 14.0}, {"y", 24.0}}, "a < b");
//   svg.close();
//   const std::string file = svg.finish();
#pragma once

#include <concepts>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::text {

struct Point {
  double x = 0, y = 0;
};

// One decimal at most: 12.5, 12, 0.
std::string svg_number(double value);

// A name and its value, escaped. One with an empty text is left out.
struct SvgAttribute {
  SvgAttribute(std::string_view attribute, std::string_view text);
  SvgAttribute(std::string_view attribute, double number)
      : name(attribute), value(svg_number(number)) {}
  template <std::integral Integer>
  SvgAttribute(std::string_view attribute, Integer number)
      : name(attribute), value(std::to_string(number)) {}

  std::string_view name;
  std::string value;
};
using SvgAttributes = std::initializer_list<SvgAttribute>;

// The `d` of a path.
class SvgPath {
 public:
  SvgPath& move_to(Point p);
  SvgPath& line_to(Point p);
  SvgPath& curve_to(Point control_from, Point control_to, Point p);
  SvgPath& close();
  [[nodiscard]] const std::string& data() const { return data_; }

 private:
  SvgPath& add(char command, std::initializer_list<Point> points);
  std::string data_;
};

struct SvgSize {
  double width = 0, height = 0;
  double scale = 1;  // pixels a unit
};

// A part of a text with a class of its own; without one if the class is empty.
struct SvgSpan {
  std::string_view css_class;
  std::string_view text;
};

class SvgWriter {
 public:
  explicit SvgWriter(const SvgSize& size, SvgAttributes attributes = {});

  // For a file of its own: a style sheet with the fonts and colours that all pictures share and
  // the rules `style`, white paper, and a title.
  void sheet(std::string_view style, std::string_view title, Point at);
  // The head of an arrow, for marker-end="url(#id)".
  void marker(std::string_view id, std::string_view colour);

  void open(std::string_view name, SvgAttributes attributes = {});
  void close();  // the element that was opened last
  void element(std::string_view name, SvgAttributes attributes);
  // What a pointer over the open element shows.
  void title(std::string_view words);
  void text(SvgAttributes attributes, std::string_view words);
  void text(SvgAttributes attributes, std::span<const SvgSpan> spans);

  // The picture; what is open is closed.
  std::string finish();

 private:
  void begin(std::string_view name, SvgAttributes attributes);
  void add(SvgAttributes attributes);

  SvgSize size_;
  std::string out_;
  std::vector<std::string> open_;
};

// Columns of a font of fixed width that a text takes.
std::size_t columns(std::string_view text);
// At most so many columns, whole characters, and an ellipsis where something is left out.
std::string fitting(std::string text, std::size_t most_columns);

}  // namespace cupel::text
