// The order of keys that databases agree on: no usual order contradicts it.
#include "data/history/text_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace cupel::history {
namespace {

bool agreed(std::string_view a, std::string_view b) {
  return agreed_at_most(ScalarView::of(a), ScalarView::of(b));
}

TEST(TextOrder, OfNumbersAndBounds) {
  const auto null = ScalarView::null(), one = ScalarView::of(std::int64_t{1}),
             ten = ScalarView::of(std::int64_t{10}), text = ScalarView::of("a"),
             real = ScalarView::literal("1.5");
  EXPECT_TRUE(agreed_between(one, one, ten));
  EXPECT_FALSE(agreed_between(ten, one, ten));
  EXPECT_TRUE(agreed_between(null, ten, kAboveAll));
  EXPECT_TRUE(agreed_between(null, text, kAboveAll));
  EXPECT_TRUE(agreed_between(one, ten, text));
  EXPECT_FALSE(agreed_between(one, ten, real)) << "10 is above 1.5 where numbers are compared";
  EXPECT_FALSE(agreed_between(null, real, ScalarView::literal("9.5")));
  EXPECT_TRUE(agreed_between(real, real, real));
  EXPECT_TRUE(
      agreed_between(ScalarView::keyword("a"), ScalarView::keyword("b"), ScalarView::keyword("c")));
}

TEST(TextOrder, OfTexts) {
  EXPECT_TRUE(agreed("user:1", "user:20"));
  EXPECT_TRUE(agreed("user", "user1"));
  EXPECT_TRUE(agreed("a", "a"));
  EXPECT_TRUE(agreed("7f-x", "a0-x"));
  EXPECT_TRUE(agreed("7", "A"));
  EXPECT_TRUE(agreed("aZ", "b-"));
  EXPECT_FALSE(agreed("B", "a")) << "not where case does not matter";
  EXPECT_FALSE(agreed("b", "a"));
  EXPECT_FALSE(agreed("user1", "user_")) << "marks are below digits in many orders";
  EXPECT_FALSE(agreed("user", "user_")) << "and may be ignored";
  EXPECT_FALSE(agreed("a", "a ")) << "equal where blanks are added";
  EXPECT_FALSE(agreed("z", "\u00e4"));
}

// Orders like those of databases, each as a text that is compared by bytes.
std::string in_order(int which, const std::string& text) {
  std::string first, second, third;
  for (const char c : text) {
    const bool mark = std::isalnum(static_cast<unsigned char>(c)) == 0;
    const char folded = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    switch (which) {
      case 0:  // bytes
        first += c;
        break;
      case 1:  // without case
        first += folded;
        break;
      case 2:  // lower case first at the second level, marks below digits and letters
        first += mark ? static_cast<char>(' ' + c % 8) : folded;
        second += std::isupper(static_cast<unsigned char>(c)) != 0 ? '1' : '0';
        break;
      case 3:  // marks ignored until nothing else differs
        if (!mark) first += folded;
        second += c;
        break;
      case 4:  // each letter's capital before it, marks above letters
        first += mark ? static_cast<char>('~' + 1 + c % 8) : folded;
        second += c;
        break;
      default:  // without case, blanks added, as MySQL does
        first += folded;
        break;
    }
  }
  if (which == 5) first.resize(16, ' ');
  return first + '\0' + second;
}

TEST(TextOrder, NoUsualOrderContradicts) {
  std::mt19937 random(7);
  const std::string alphabet = "aAbBzZ019_-: .";
  const auto text = [&] {
    std::string t(random() % 5, ' ');
    for (char& c : t) c = alphabet[random() % alphabet.size()];
    return t;
  };
  int sure = 0;
  for (int i = 0; i < 200'000; ++i) {
    const std::string a = text(), b = text();
    if (!agreed(a, b)) continue;
    ++sure;
    for (int order = 0; order < 6; ++order) {
      ASSERT_LE(in_order(order, a), in_order(order, b))
          << "'" << a << "' and '" << b << "' in order " << order;
    }
  }
  EXPECT_GT(sure, 20'000);
}

}  // namespace
}  // namespace cupel::history
