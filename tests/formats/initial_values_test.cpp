// Initial values beside the file: how words are read, and what the history holds then.
#include "data/formats/initial_values.hpp"

#include <gtest/gtest.h>

#include "data/formats/formats.hpp"
#include "data/history/digest.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::formats {
namespace {

using history::History;
using history::KeyId;
using Texts = std::vector<std::string>;

std::string shown(const History& h, const std::string& key) {
  for (std::size_t k = 0; k < h.key_count(); ++k) {
    if (h.key(KeyId(k)).to_string() != key) continue;
    const auto value = h.value(h.initial_value(KeyId(k)));
    return std::to_string(static_cast<int>(value.kind)) + " " + value.to_string();
  }
  return "no such key";
}
constexpr const char* kNull = "0 null";

class InitialValuesTest : public testing::Test {
 protected:
  base::Result<History> read(const std::string& text, const Texts& texts) {
    const auto values = parse_initial_values(texts);
    if (!values.ok()) return values.error();
    return formats::read(folder_.file("h", text), {.format = {}, .initial = *values});
  }
  std::string error(const Texts& texts, const std::string& text = kHistory) {
    const auto history = read(text, texts);
    return history.ok() ? "none" : history.error().to_string();
  }
  static constexpr const char* kHistory =
      R"({"type":"ok","process":0,"f":"txn","value":[["r","x",0],["w","y","s"],["w","y",1.5],["append","list",1]]}
{"type":"ok","process":1,"f":"txn","value":[["r",7,"5"],["r","a=b",{"keyword":"up"}]]}
)";
  const test::ScratchFolder folder_;
};

TEST_F(InitialValuesTest, OfAllKeysAndOfOne) {
  const auto none = read(kHistory, {});
  ASSERT_TRUE(none.ok()) << none.error().to_string();
  EXPECT_EQ(shown(*none, "x"), kNull);
  const auto all = read(kHistory, {"0"});
  ASSERT_TRUE(all.ok()) << all.error().to_string();
  EXPECT_EQ(shown(*all, "x"), "1 0");
  EXPECT_EQ(shown(*all, "7"), "1 0");
  const auto one = read(kHistory, {"x=3", "7=null", "0", "x=4"});
  ASSERT_TRUE(one.ok()) << one.error().to_string();
  EXPECT_EQ(shown(*one, "x"), "1 4");
  EXPECT_EQ(shown(*one, "7"), kNull);
  EXPECT_EQ(shown(*one, "y"), "1 0");
  EXPECT_NE(history::digest(*all), history::digest(*none));
}

// 1: integer, 2: string, 3: keyword, 4: anything else.
TEST_F(InitialValuesTest, WordsMeanWhatTheHistoryHas) {
  const std::pair<const char*, const char*> cases[] = {
      {"0", "1 0"},         {"-9", "1 -9"},           {"5", "2 5"},    {"s", "2 s"},
      {"other", "2 other"}, {"1.5", "4 1.5"},         {"up", "3 :up"}, {":down", "3 :down"},
      {"\"0\"", "2 0"},     {"\"\\u0041=\"", "2 A="}, {"null", kNull}, {"\"null\"", "2 null"}};
  for (const auto& [word, expected] : cases) {
    const auto history = read(kHistory, {std::string(word)});
    ASSERT_TRUE(history.ok()) << history.error().to_string();
    EXPECT_EQ(shown(*history, "x"), expected) << word;
  }
  const auto quoted = read(kHistory, {"\"a=b\"=2"});
  ASSERT_TRUE(quoted.ok()) << quoted.error().to_string();
  EXPECT_EQ(shown(*quoted, "a=b"), "1 2");
}

TEST_F(InitialValuesTest, TheWordOfTheUserReplacesThatOfTheFile) {
  const std::string header =
      R"({"type":"info","process":"nemesis","f":"cupel.initial","value":[1,[["x",2],[7,3]]]})";
  const auto own = read(header + "\n" + kHistory, {});
  ASSERT_TRUE(own.ok()) << own.error().to_string();
  EXPECT_EQ(shown(*own, "x"), "1 2");
  EXPECT_EQ(shown(*own, "y"), "1 1");
  const auto one = read(header + "\n" + kHistory, {"x=9"});
  EXPECT_EQ(shown(*one, "x"), "1 9");
  EXPECT_EQ(shown(*one, "7"), "1 3");
  const auto all = read(header + "\n" + kHistory, {"8"});
  EXPECT_EQ(shown(*all, "x"), "1 8");
  EXPECT_EQ(shown(*all, "7"), "1 8");
}

TEST_F(InitialValuesTest, MistakesAreNamed) {
  EXPECT_NE(error({""}).find("expected VALUE or KEY=VALUE"), std::string::npos);
  EXPECT_NE(error({"=1"}).find("expected KEY=VALUE"), std::string::npos);
  EXPECT_NE(error({"x="}).find("expected KEY=VALUE"), std::string::npos);
  EXPECT_NE(error({"\"x"}).find("found `\"x`"), std::string::npos);
  EXPECT_NE(error({"0", "1"}).find("found `0` and `1`"), std::string::npos);
  EXPECT_NE(error({"z=1"}).find("the history has no key z"), std::string::npos);
  EXPECT_NE(error({"list=1"}).find("list is a list, which starts empty"), std::string::npos);
  EXPECT_EQ(error({"0", "0", "x=0"}), "none");
}

}  // namespace
}  // namespace cupel::formats
