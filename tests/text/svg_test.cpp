// The SVG writer: elements, escaping, numbers; and how texts are measured and cut.
#include "base/text/svg.hpp"

#include <gtest/gtest.h>

namespace cupel::text {
namespace {

TEST(Svg, WritesAnElementALine) {
  SvgWriter svg({.width = 10, .height = 20.25, .scale = 2}, {{"role", "img"}, {"style", ""}});
  svg.open("g", {{"class", "a&b"}, {"data-txn", 7U}});
  svg.title("<1>");
  svg.element("rect", {{"x", -0.01}, {"y", 1.25}});
  const SvgSpan spans[] = {{"kind", "wr"}, {{}, " \"x\""}};
  svg.text({{"x", 3}}, spans);
  EXPECT_EQ(svg.finish(),
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"20\" height=\"40.5\" "
            "viewBox=\"0 0 10 20.2\" role=\"img\">\n"
            "<g class=\"a&amp;b\" data-txn=\"7\">\n"
            "<title>&lt;1&gt;</title>\n"
            "<rect x=\"0\" y=\"1.2\"/>\n"
            "<text x=\"3\"><tspan class=\"kind\">wr</tspan> &quot;x&quot;</text>\n"
            "</g>\n"
            "</svg>\n");
}

TEST(Svg, ASheetHasItsStyleItsPaperAndItsTitle) {
  SvgWriter svg({.width = 10, .height = 20});
  svg.sheet("\n  .box { fill: none; }\n", "a < b", {14, 22});
  const auto text = svg.finish();
  EXPECT_NE(text.find(".box { fill: none; }\n</style>"), text.npos) << text;
  EXPECT_NE(text.find("<rect class=\"paper\" width=\"10\" height=\"20\"/>"), text.npos) << text;
  EXPECT_NE(text.find("<text class=\"title\" x=\"14\" y=\"22\">a &lt; b</text>"), text.npos)
      << text;
}

TEST(Svg, PathsAreMadeOfPoints) {
  SvgPath path;
  path.move_to({0, 1}).line_to({2.5, 3}).curve_to({1, 1}, {2, 2}, {3, 3}).close();
  EXPECT_EQ(path.data(), "M0,1 L2.5,3 C1,1 2,2 3,3 Z");
}

TEST(Svg, WideCharactersTakeTwoColumns) {
  EXPECT_EQ(columns("aé…"), 3U);
  EXPECT_EQ(columns("日本"), 4U);
  EXPECT_EQ(fitting("abcd", 4), "abcd");
  EXPECT_EQ(fitting("abcde", 4), "abc…");
  EXPECT_EQ(fitting("日本語", 4), "日…");
}

}  // namespace
}  // namespace cupel::text
