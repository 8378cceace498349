// Names before they are compared.
#include "base/text.hpp"

#include <gtest/gtest.h>

namespace cupel::base {
namespace {

TEST(ToLower, ChangesAsciiLettersOnly) {
  EXPECT_EQ(to_lower("Read-Committed 9_Z"), "read-committed 9_z");
  EXPECT_EQ(to_lower("\xc3\x84@[`{"), "\xc3\x84@[`{");
}

TEST(ToLower, MakesSeparatorsOne) {
  EXPECT_EQ(to_lower("Read_Committed x-y", " _", '-'), "read-committed-x-y");
}

}  // namespace
}  // namespace cupel::base
