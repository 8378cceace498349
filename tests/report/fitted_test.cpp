// Texts on a terminal that is narrower than they are: the same words, and no line that is too wide.
#include "report/fitted.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "engine/explain/why/layout.hpp"

namespace cupel::report {
namespace {

TEST(Fitted, ShortLinesStayAsTheyAre) {
  const std::string text = "one\n  two  three\n\n\ta tab\n";
  EXPECT_EQ(fitted(text, 20), text);
  EXPECT_EQ(fitted("no line feed", 20), "no line feed");
  EXPECT_EQ(fitted("", 20), "");
}

TEST(Fitted, ALongLineGoesOnBelowItsIndent) {
  EXPECT_EQ(fitted("  one two three four five\n", 16), "  one two three\n      four five\n");
  EXPECT_EQ(fitted("FILE: satisfied: causal\n", 16), "FILE: satisfied:\n  causal\n");
}

TEST(Fitted, TheLastColumnOfATableKeepsItsPlace) {
  EXPECT_EQ(
      fitted("causal  cc  sees everything that its writer had seen\nra      ra  all or none\n", 36),
      "causal  cc  sees everything that its\n            writer had seen\n"
      "ra      ra  all or none\n");
  EXPECT_EQ(fitted("  T2 = read x = null, write x = 1    session 0, 1st transaction\n", 36),
            "  T2 = read x = null, write x = 1\n      session 0, 1st transaction\n");
  EXPECT_EQ(fitted("  causal    \x1b[32msatisfied\x1b[0m  by saturation of all\n", 40),
            "  causal    \x1b[32msatisfied\x1b[0m  by saturation of\n                       all\n");
}

TEST(Fitted, AParagraphThatWasBrokenBeforeIsBrokenAnew) {
  std::string words;
  for (int i = 0; i < 60; ++i)
    words += (i == 0 ? "" : " ") + std::string("word") + std::to_string(i);
  const auto before = "      (1) " + explain::broken(words, 10, 10, explain::kTextWidth + 2) + "\n";
  const auto wanted = "      (1) " + explain::broken(words, 10, 10, 80) + "\n";
  EXPECT_EQ(fitted(before + "    Then:\n", 80), wanted + "    Then:\n");
}

TEST(Fitted, ALineThatIsTooLongItselfTakesNoOther) {
  const auto wide = std::string(explain::kTextWidth, 'a') + " satisfied";
  EXPECT_EQ(fitted(wide + "\n  jepsen: 5 transactions\n", 80),
            std::string(explain::kTextWidth, 'a') + "\n  satisfied\n  jepsen: 5 transactions\n");
}

TEST(Fitted, AHeadingContinuesNoParagraphAboveIt) {
  std::string above = "  lost-update: ";
  while (above.size() < explain::kTextWidth - 5) above += "word ";
  above.pop_back();
  const auto out = fitted(above + "\n    Interleaving:\n      1  session a  T1 began\n", 60);
  EXPECT_NE(out.find("word\n    Interleaving:\n      1  session a"), std::string::npos) << out;
}

// As the reasons of aborts do below the long line with the latencies of a run.
TEST(Fitted, ARowOfATableContinuesNoLongLineAboveIt) {
  std::string above = "  ";
  for (int i = 0; i < 19; ++i) above += "word ";
  above.pop_back();
  ASSERT_LE(above.size(), explain::kTextWidth + 2);
  const auto out = fitted(above + "\n          10  conflict-40001\n          2  timeout\n", 80);
  EXPECT_NE(out.find("word\n          10  conflict-40001\n          2  timeout\n"),
            std::string::npos)
      << out;
}

TEST(Fitted, LinesForScriptsStayAsTheyAre) {
  const std::string line = "a/long/name/of/a/file.jsonl\tserializable\tsatisfied\n";
  EXPECT_EQ(fitted(line, 20), line);
}

}  // namespace
}  // namespace cupel::report
