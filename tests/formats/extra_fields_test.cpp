// What is looked up again in op maps: by index or by place, in JSON and in EDN.
#include "data/formats/extra_fields.hpp"

#include <gtest/gtest.h>

#include "support/scratch_folder.hpp"

namespace cupel::formats {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

class ExtraFields : public testing::Test {
 protected:
  auto of(const std::string& text, const std::set<std::uint32_t>& labels,
          std::string_view format = "jepsen") {
    const auto path = folder_.file("h", text);
    return extra_fields(path, format, labels);
  }
  test::ScratchFolder folder_;
};

TEST_F(ExtraFields, OfJsonLinesByIndex) {
  const std::string text =
      R"({"index":4,"type":"invoke","process":0,"f":"txn","value":[["w",1,{"index":9}]],"node":"n1"})"
      "\n"
      R"({"node":"n3","index":9,"type":"ok","process":0,"f":"txn","value":[["w",1,2]],"time":3,"link":{"a": [1, 2]}})"
      "\n";
  const auto found = of(text, {9, 77});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.at(9), (Fields{{"node", "\"n3\""}, {"link", R"({"a":[1,2]})"}}));
  EXPECT_TRUE(of(text, {9}, "plume").empty());
  EXPECT_TRUE(of(text, {}).empty());
}
TEST_F(ExtraFields, OfMapsWithoutAnIndexByPlace) {
  const std::string text = R"([{"type":"ok","f":"txn","value":[["r","}",null]],"node":1},
    {"type":"ok","f":"txn","value":[["w","{",2]],"node":2}])";
  EXPECT_EQ(of(text, {1}).at(1), (Fields{{"node", "2"}}));
}
TEST_F(ExtraFields, OfEdn) {
  const std::string text =
      "; recorded\n[{:type :ok, :f :txn, :value [[:w :x 1]], :index 0, :node \"n1\"}\n"
      "#_{:index 1 :node :discarded}\n"
      "#jepsen.history.Op{:index 1, :type :ok, :f :txn, :value [[:r :x 1]], :link [:a 7], :error "
      "nil}]";
  const auto found = of(text, {0, 1});
  EXPECT_EQ(found.at(0), (Fields{{"node", "\"n1\""}}));
  EXPECT_EQ(found.at(1), (Fields{{"link", "[:a 7]"}, {"error", "nil"}}));
}
TEST_F(ExtraFields, OfEdnWithDiscardedForms) {
  const std::string text =
      "#_ #_ {:index 0} {:index 1} {:type :ok, :f :txn, :value [[:w :x 1]], :node #_ 1 2 #_ 3}\n"
      "^{:node 7} {#_ :a :type :ok, :f :txn, :value [[:w :x 2]], :node 4 #_ {:node 5}} #_ {}";
  const auto found = of(text, {0, 1});
  EXPECT_EQ(found.at(0), (Fields{{"node", "2"}}));
  EXPECT_EQ(found.at(1), (Fields{{"node", "4"}}));
}
TEST_F(ExtraFields, NodesOfAllMaps) {
  const auto nodes_of = [&](const std::string& text) {
    return nodes_of_file(folder_.file("h", text), "jepsen");
  };
  const std::string ok = R"("type":"ok","process":0,"f":"txn","value":[["w",1,2]])";
  const auto found = nodes_of("{" + ok + R"(,"index":0,"node":"a, primary"})" + "\n{" + ok +
                              R"(,"index":2,"node":"b, replica"})" + "\n{" + ok + R"(,"index":4})" +
                              "\n{" + ok + R"(,"index":5,"node":"a, primary"})");
  EXPECT_EQ(found.names, (std::vector<std::string>{"a, primary", "b, replica"}));
  ASSERT_GE(found.of_label.size(), 6u);
  EXPECT_EQ(found.of_label[0], 1);
  EXPECT_EQ(found.of_label[2], 2);
  EXPECT_EQ(found.of_label[4], 0);
  EXPECT_EQ(found.of_label[5], 1);
  EXPECT_TRUE(nodes_of("{" + ok + "}").names.empty());
  EXPECT_EQ(nodes_of("[{:type :ok, :f :txn, :value [[:w :x 1]], :node \"n1\"}]").names,
            (std::vector<std::string>{"n1"}));
  // An index may be any number, and costs no memory.
  EXPECT_TRUE(nodes_of("{" + ok + R"(,"index":4000000000,"node":"a"})").of_label.empty());
}
TEST_F(ExtraFields, OfNothingWhereTheFileCannotBeReadAgain) {
  EXPECT_TRUE(extra_fields("-", "jepsen", {0}).empty());
  EXPECT_TRUE(extra_fields("no/such/file", "jepsen", {0}).empty());
  EXPECT_TRUE(of("{\"index\":0,\"node\"", {0}).empty());
}

}  // namespace
}  // namespace cupel::formats
