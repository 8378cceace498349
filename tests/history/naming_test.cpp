// How transactions, keys and values are called.
#include "data/history/naming.hpp"

#include <gtest/gtest.h>

#include "support/history_language.hpp"

namespace cupel::history {
namespace {

TEST(Naming, Ordinals) {
  EXPECT_EQ(ordinal(1), "1st");
  EXPECT_EQ(ordinal(2), "2nd");
  EXPECT_EQ(ordinal(3), "3rd");
  EXPECT_EQ(ordinal(11), "11th");
  EXPECT_EQ(ordinal(112), "112th");
  EXPECT_EQ(ordinal(21), "21st");
}

TEST(Naming, Transactions) {
  const auto h = test::history_of("a: w(x,1) ; w(x,2) | b: r(x,1)");
  EXPECT_EQ(transaction_name(h, TxnId(1)), "T1");
  EXPECT_EQ(transaction_name(h, TxnId::none()), "the initial state");
  EXPECT_EQ(transaction_in_full(h, TxnId(1)), "T1 (session a, its 2nd transaction)");
}

TEST(Naming, TheStringFiveIsNotTheNumber) {
  EXPECT_EQ(shown(ScalarView::of(std::int64_t{5})), "5");
  EXPECT_EQ(shown(ScalarView::of(std::string_view("5"))), "\"5\"");
  EXPECT_EQ(shown(ScalarView::null()), "null");
  EXPECT_EQ(shown(ScalarView::of(std::string_view("null"))), "\"null\"");
  EXPECT_EQ(shown(ScalarView::keyword("a")), ":a");
  EXPECT_EQ(shown(ScalarView::literal("1.5")), "1.5");
  EXPECT_EQ(shown(ScalarView::of(std::string_view("a\"b\\\n\x01"))), R"("a\"b\\\n\x01")");
}

TEST(Naming, KeysThatReadAsWordsStayBare) {
  for (const char* word : {"x", "key_1", "user:7", "été"}) {
    EXPECT_EQ(shown_key(ScalarView::of(std::string_view(word))), word);
  }
  for (const char* odd : {"5", "", "null", "a b", "-1", ":x", "a,b"}) {
    EXPECT_EQ(shown_key(ScalarView::of(std::string_view(odd))), '"' + std::string(odd) + '"');
  }
}

TEST(Naming, LongTextsAreCutBetweenCharacters) {
  EXPECT_EQ(cut(std::string(48, 'y')), std::string(48, 'y'));
  EXPECT_EQ(cut(std::string(49, 'y')), std::string(45, 'y') + "...");
  EXPECT_EQ(cut(std::string(44, 'y') + "éééé"), std::string(44, 'y') + "...");
  EXPECT_EQ(shown(ScalarView::of(std::string_view(std::string(99, 'y')))),
            '"' + std::string(45, 'y') + "\"...");
}

}  // namespace
}  // namespace cupel::history
