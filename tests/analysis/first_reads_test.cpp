// The start that a history forgot to say: found in first reads, and never where it is not sure.
#include "engine/analysis/first_reads.hpp"

#include <gtest/gtest.h>

#include "data/formats/formats.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::analysis {
namespace {

// "0: 3 of 4"; empty: none. The history in the words of plume: its keys start with 0.
std::string start(const std::string& text, const std::string& initial = "null") {
  const test::ScratchFolder folder;
  const auto history = formats::read(
      folder.file("h", text),
      {.format = formats::Format::kPlume, .initial = {.of_all = initial, .of_keys = {}}});
  EXPECT_TRUE(history.ok()) << history.error().to_string();
  const auto found = unwritten_start(*history);
  if (!found) return "";
  return history->value(found->value).to_string() + ": " + std::to_string(found->keys) + " of " +
         std::to_string(found->of);
}

TEST(FirstReads, OfOneValueThatNobodyWrote) {
  EXPECT_EQ(start("r(1,0,0,1)\nw(1,5,0,1)\nr(2,0,1,2)\nr(1,5,1,3)\n"), "0: 2 of 2");
  EXPECT_EQ(start("r(1,9,0,1)\nr(2,9,0,1)\nr(3,9,0,1)\nr(4,8,0,1)\n"), "9: 3 of 4");
  EXPECT_EQ(start("r(1,9,0,1)\nr(2,8,0,1)\n"), "") << "no value of nearly all keys";
  EXPECT_EQ(start("r(1,0,0,1)\nr(2,0,0,1)\nw(3,0,1,2)\n"), "") << "written, if to another key";
  EXPECT_EQ(start("r(1,0,0,1)\nr(2,0,0,1)\n", "0"), "") << "said already";
  EXPECT_EQ(start("w(1,1,0,1)\nr(1,0,0,2)\n"), "") << "the first access is a write";
  EXPECT_EQ(start("r(1,0,0,1)\nw(2,1,0,2)\nr(2,7,0,3)\n"), "0: 1 of 1");
}

}  // namespace
}  // namespace cupel::analysis
