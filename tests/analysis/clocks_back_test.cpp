// Clocks that went back: found within a session, and only there.
#include "engine/analysis/clocks_back.hpp"

#include <gtest/gtest.h>

#include "support/history_language.hpp"

namespace cupel::analysis {
namespace {

// "1: T1 90 before T0, 90 at most"; empty: none.
std::string back(std::string_view text) {
  const auto h = test::history_of(text);
  const auto found = clocks_back(h);
  if (!found) return "";
  return std::to_string(found->count) + ": T" + std::to_string(found->later.raw) + " " +
         std::to_string(h.invoke(found->earlier) - h.complete(found->later)) + " before T" +
         std::to_string(found->earlier.raw) + ", " + std::to_string(found->most) + " at most";
}

TEST(ClocksBack, WithinASession) {
  EXPECT_EQ(back("s1: w(x,1) @100-110 ; w(x,2) @10-20"), "1: T1 80 before T0, 80 at most");
  EXPECT_EQ(back("s1: w(x,1) @100-110 ; w(x,2) @10-20 ; w(x,3) @1-3"),
            "2: T1 80 before T0, 97 at most");
}

TEST(ClocksBack, NowhereElse) {
  EXPECT_EQ(back("s1: w(x,1) @100-110 | s2: w(x,2) @10-20"), "") << "of two sessions";
  EXPECT_EQ(back("s1: w(x,1) @100-110 ; w(x,2) @90-100"), "") << "at once, at most";
  EXPECT_EQ(back("s1: w(x,1) @100-110 ; ?w(x,2) @10-"), "") << "its end is not known";
  EXPECT_EQ(back("s1: w(x,1) ; w(x,2)"), "") << "no times";
}

}  // namespace
}  // namespace cupel::analysis
