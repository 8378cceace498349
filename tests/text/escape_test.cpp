// Escapes: every byte, alone and between others, in every format.
#include "base/text/escape.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/visible.hpp"

namespace cupel::text {
namespace {

using base::visible;

bool has_control(const std::string& text, const std::string& kept = "") {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 || byte == 0x7f) && kept.find(c) == std::string::npos) return true;
  }
  return text.find("\xc2\x9b") != std::string::npos ||
         text.find("\xe2\x80\xae") != std::string::npos;
}

TEST(Visible, EscapesWhatMovesTheCursorOrTheText) {
  EXPECT_EQ(visible("plain ü 日本 😀"), "plain ü 日本 😀");
  EXPECT_EQ(visible("a\tb\nc\r\x1b[31m\x7f"), "a\\tb\\nc\\r\\x1b[31m\\u007f");
  EXPECT_EQ(visible("a\tb\nc\x1b", "\n\t"), "a\tb\nc\\x1b");
  EXPECT_EQ(visible(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(visible("\xc2\x9b"
                    "31m"),
            "\\u009b31m");
  EXPECT_EQ(visible("\x9b"
                    "31m\xff\xc3"),
            "\\x9b31m\\xff\\xc3");
  EXPECT_EQ(visible("\xe2\x80\xae"
                    "x\xe2\x80\xa8\xe2\x81\xa6\xef\xbb\xbf"),
            "\\u202ex\\u2028\\u2066\\ufeff");
}

TEST(Escape, NoByteGetsThrough) {
  for (int byte = 0; byte < 256; ++byte) {
    for (const auto& text : {std::string(1, static_cast<char>(byte)),
                             "a" + std::string(1, static_cast<char>(byte)) + "b",
                             "\xc2" + std::string(1, static_cast<char>(byte)),
                             "\xe2\x80" + std::string(1, static_cast<char>(byte))}) {
      EXPECT_FALSE(has_control(visible(text))) << byte;
      EXPECT_FALSE(has_control(in_markup(text))) << byte;
      EXPECT_FALSE(has_control(xml_text(text))) << byte;
      EXPECT_FALSE(has_control(markdown_text(text))) << byte;
      EXPECT_FALSE(has_control(markdown_code(text))) << byte;
      EXPECT_FALSE(has_control(markdown_block(text), "\n\t")) << byte;
      EXPECT_FALSE(has_control(annotation_text(text))) << byte;
      EXPECT_FALSE(has_control(annotation_property(text))) << byte;
      for (const auto& out : {visible(text), in_markup(text), xml_text(text), markdown_text(text),
                              markdown_code(text), markdown_block(text), annotation_text(text)}) {
        EXPECT_EQ(as_utf8(out), out) << byte;
      }
    }
  }
}

TEST(Escape, EachFormatKeepsItsOwnSigns) {
  EXPECT_EQ(in_markup("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;'");
  EXPECT_EQ(in_markup("a\nb\tc", "\n"), "a\nb c");
  EXPECT_EQ(xml_text("a\n\t\r<\x01"), "a&#10;&#9;&#13;&lt;\xef\xbf\xbd");
  EXPECT_EQ(annotation_property("x,title=OK::y%\n"), "x%2Ctitle=OK%3A%3Ay%25%0A");
  EXPECT_EQ(annotation_text("a::b,%0A"), "a::b,%250A");
  EXPECT_EQ(annotation_text("a ##[error]"), "a ##\\u005berror]");
  EXPECT_EQ(markdown_text("<b>|`"), "&lt;b&gt;\\|\\`");
}

TEST(Escape, NoLineIsACommandOfGitHub) {
  EXPECT_EQ(without_commands("a ::error::x\n  ::error::x\n::add-mask::y"),
            "a ::error::x\n  \\u003a:error::x\n\\u003a:add-mask::y");
  EXPECT_EQ(without_commands("x ##[error]y #[z] ###[q]"), "x ##\\u005berror]y #[z] ###\\u005bq]");
  EXPECT_EQ(without_commands("{\"k\":\"##[error]\"}"), "{\"k\":\"##\\u005berror]\"}");
}

}  // namespace
}  // namespace cupel::text
