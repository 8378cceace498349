// JSON helpers: strings and excerpts of any bytes, and what is rejected before it is parsed.
#include "base/text/json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/text/excerpt.hpp"

namespace cupel::text {
namespace {

std::string appended(std::string_view text) {
  std::string out;
  append_quoted(text, out);
  return out;
}

TEST(Json, BothWaysToQuoteAgree) {
  for (const std::string text : {"", "a", "a\"b\\c/", "\n\t\r\b\f\x01\x1f\x7f", "é😀"}) {
    EXPECT_EQ(text::quoted(text), appended(text));
    EXPECT_EQ(nlohmann::json::parse(text::quoted(text)), text);
  }
  EXPECT_EQ(text::quoted("\x01\n"), R"("\u0001\n")");
}

TEST(Json, BytesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(text::quoted("a\xff"), "\"a\xef\xbf\xbd\"");
  EXPECT_EQ(dump(nlohmann::json{{"b", "\xff"}, {"a", 1}}), "{\"a\":1,\"b\":\"\xef\xbf\xbd\"}");
  EXPECT_EQ(dump(nlohmann::ordered_json{{"b", 2}, {"a", 1}}), R"({"b":2,"a":1})");
  EXPECT_EQ(dump_indented(nlohmann::ordered_json{{"b", 2}, {"a", 1}}),
            "{\n  \"b\": 2,\n  \"a\": 1\n}");
}

TEST(Json, ExcerptsEndBetweenCharacters) {
  EXPECT_EQ(excerpt("abc", 3), "abc");
  EXPECT_EQ(excerpt("abcd", 3), "abc…");
  EXPECT_EQ(excerpt("abé", 3), "ab…");
  EXPECT_EQ(dump_excerpt(std::string(100, 'a')), "\"" + std::string(59, 'a') + "…");
}

TEST(Json, HoldsNothingThatMovesTheCursorOrTheText) {
  const std::string text = "a\x7f\xc2\x9b\xe2\x80\xae\xe6\x97\xa5\x1b\n";
  EXPECT_EQ(dump(nlohmann::json(text)), "\"a\\u007f\\u009b\\u202e\xe6\x97\xa5\\u001b\\n\"");
  EXPECT_EQ(nlohmann::json::parse(dump_indented(nlohmann::json{{text, {1, text}}})),
            (nlohmann::json{{text, {1, text}}}));
}

TEST(Json, BoundsAreOfDepthAndOfWholeNumbers) {
  const auto nested = [](int depth) { return std::string(static_cast<std::size_t>(depth), '['); };
  EXPECT_FALSE(beyond_bounds(nested(100)));
  EXPECT_EQ(beyond_bounds(nested(101)), "found more than 100 arrays and objects within each other");
  EXPECT_FALSE(beyond_bounds("\"" + nested(101) + "\\\"" + nested(101)));
  for (const char* const fits : {"18446744073709551615", "-9223372036854775808", "1e400",
                                 "0.18446744073709551616", "\"18446744073709551616\""}) {
    EXPECT_FALSE(beyond_bounds(fits)) << fits;
  }
  for (const std::string large : {"18446744073709551616", "-9223372036854775809"}) {
    EXPECT_EQ(beyond_bounds("[1," + large + "]"),
              "found the number " + large +
                  ", expected a whole number that fits in 64 bits; write it as a text");
  }
}

}  // namespace
}  // namespace cupel::text
