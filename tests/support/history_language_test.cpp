// The mini-language itself: every operation goes there and back, and a mistake
// in a test is distinguished from a history.
#include "support/history_language.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace cupel::test {
namespace {

TEST(HistoryLanguage, EveryOperationGoesThereAndBack) {
  const char* text =
      "init=0 s1: w(x,1) r(x,1) r(y,nil) r(y,?) i(x,2) d(x) d(x,9) cas(x,1,2) cas!(x,3,4) @10-20 ; "
      "!a(l,1) l(l,[]) l(l,[1 2]) l(l,?) ; ?range(a,c,[a=1 b=nil]) range(a,c,[]) range(a,c,[a=1 "
      "a=2 a=1]) @30- ; () | "
      "s2: | other: r(7,:k)";
  const Sketch sketch = parse_sketch(text);
  EXPECT_EQ(to_text(sketch), text);
  EXPECT_EQ(sketch_of(build(sketch)), sketch);
}

TEST(HistoryLanguage, SessionsByPlaceByNameAndByLine) {
  const Sketch sketch = parse_sketch("\n  w(x,1)\n  b: w(x,2)\n\n  s1: r(x,2)\n");
  ASSERT_EQ(sketch.sessions.size(), 2u);
  EXPECT_EQ(sketch.sessions[0].name, "s1");
  EXPECT_EQ(sketch.sessions[0].txns.size(), 2u);
  EXPECT_EQ(sketch.sessions[1].name, "b");
}

TEST(HistoryLanguage, MistakesInATestThrow) {
  for (const char* bad : {"w(x)", "w(x,1", "q(x,1)", "w(x,1) ;", "w(x,1) ; | r(x,1)", "r(,1)",
                          "w(x,1) & r(x,1)", "l(x,[1", "w(x,1) a(x,2)", "w(x,1) @20-10"}) {
    EXPECT_THROW(history_of(bad), std::invalid_argument) << bad;
  }
}

}  // namespace
}  // namespace cupel::test
