// Keys that range reads did not return and that may lie outside: counted, and no others.
#include "engine/analysis/unsure_absences.hpp"

#include <gtest/gtest.h>

#include "support/history_language.hpp"

namespace cupel::analysis {
namespace {

// "2: B from A to b"; empty: none.
std::string unsure(std::string_view text) {
  const auto history = test::history_of(text);
  const auto found = unsure_absences(history);
  if (!found) return "";
  return std::to_string(found->count) + ": " + found->key.to_string() + " from " +
         found->low.to_string() + " to " + found->high.to_string();
}

TEST(UnsureAbsences, OfKeysThatOrdersMoveOut) {
  EXPECT_EQ(unsure("s1: w(B,1) | s2: range(A,b,[]) range(A,b,[]) range(A,C,[])"),
            "2: B from A to b");
  EXPECT_EQ(unsure("s1: w(B,1) w(a_,1) | s2: range(A,b,[a_=1])"), "1: B from A to b");
}

TEST(UnsureAbsences, NoOthers) {
  EXPECT_EQ(unsure("s1: w(B,1) | s2: range(A,C,[])"), "");
  EXPECT_EQ(unsure("s1: w(B,1) | s2: range(A,b,[B=1])"), "") << "returned";
  EXPECT_EQ(unsure("s1: r(B,nil) | s2: range(A,b,[])"), "") << "never anything but absent";
  EXPECT_EQ(unsure("s1: w(B,1) | s2: !range(A,b,[])"), "") << "aborted";
  EXPECT_EQ(unsure("s1: w(1,1) w(2,2) | s2: range(1,2,[])"), "");
  EXPECT_EQ(unsure("s1: w(B,1)"), "");
}

}  // namespace
}  // namespace cupel::analysis
