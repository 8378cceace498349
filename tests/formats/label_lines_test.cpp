// Lines of labels: found by the name of the field that the format gives them.
#include "data/formats/label_lines.hpp"

#include <gtest/gtest.h>

#include "support/scratch_folder.hpp"

namespace cupel::formats {
namespace {

using Lines = std::map<std::uint32_t, std::uint64_t>;

class LabelLines : public testing::Test {
 protected:
  Lines lines(const char* text, const char* format, std::vector<std::uint32_t> labels) {
    return lines_of_labels(folder_.file("history", text), format, std::move(labels));
  }
  const test::ScratchFolder folder_;
};

TEST_F(LabelLines, OfJepsenInJson) {
  const auto* text =
      "{\"index\":0,\"type\":\"ok\"}\n{\"type\":\"ok\",\"index\": 12}\n{\"index\":1}\n";
  EXPECT_EQ(lines(text, "jepsen", {12, 0, 12, 7}), (Lines{{0, 1}, {12, 2}}));
  EXPECT_EQ(lines(text, "jepsen", {}), Lines());
}

TEST_F(LabelLines, OfJepsenInEdn) {
  EXPECT_EQ(lines("{:index 3, :type :ok}\n{:type :ok :index 30}\n", "jepsen", {30, 3}),
            (Lines{{3, 1}, {30, 2}}));
}

// The transaction is the last number; its first line counts.
TEST_F(LabelLines, OfPlume) {
  EXPECT_EQ(lines("w(1,2,0,5)\nw(1,3,0,5)\nr(5,3,1,6)\n", "plume", {5, 6}),
            (Lines{{5, 1}, {6, 3}}));
}

TEST_F(LabelLines, OfAnotherFormatOrNoFile) {
  EXPECT_EQ(lines("{\"index\":0}\n", "cupel", {0}), Lines());
  EXPECT_EQ(lines_of_labels(folder_.path("none"), "jepsen", {0}), Lines());
  EXPECT_EQ(lines_of_labels(folder_.path(), "jepsen", {0}), Lines());
}

TEST_F(LabelLines, ANumberTooLargeIsNoLabel) {
  EXPECT_EQ(lines("{\"index\":4294967296}\n{\"index\":4294967295}\n", "jepsen", {0, 4294967295}),
            (Lines{{4294967295, 2}}));
}

}  // namespace
}  // namespace cupel::formats
