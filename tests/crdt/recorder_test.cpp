// Recorder: several objects in one history. One object is recorded in adapter_test.cpp and the
// tests of `cupel crdt run`.
#include "crdt/workload/recorder.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "crdt/analysis/analyze.hpp"
#include "crdt/io/reader.hpp"

namespace cupel::crdt {
namespace {

using Json = nlohmann::json;

// Replicas that never hear of each other.
class LonelyReplicas {
 public:
  Json answer(std::uint32_t replica, const Json& question) {
    const std::string f = question["f"];
    const auto at = std::pair(replica, question["key"].get<std::string>());
    if (f == "inc" || f == "dec") numbers_[at] += f == "inc" ? 1 : -1;
    if (f == "inc" || f == "dec") return {{"type", "ok"}, {"value", 1}};
    auto& elements = elements_[at];
    if (f == "add") elements.insert(question["value"]);
    if (f == "remove") elements.erase(question["value"]);
    if (f == "contains") return {{"type", "ok"}, {"value", elements.contains(question["value"])}};
    if (f != "read") return {{"type", "ok"}};
    if (at.second.starts_with("hits")) return {{"type", "ok"}, {"value", numbers_[at]}};
    return {{"type", "ok"}, {"value", elements}};
  }

 private:
  std::map<std::pair<std::uint32_t, std::string>, std::set<Json>> elements_;
  std::map<std::pair<std::uint32_t, std::string>, int> numbers_;
};

Requests requests() {
  Requests requests;
  requests.replicas = 2;
  requests.keys = 2;
  requests.seed = 3;
  return requests;
}
const std::vector<RecordedObject> kObjects = {{"tags", {Type::kAddWinsSet}},
                                              {"hits", {Type::kCounter}}};

TEST(Recorder, RecordsSeveralObjectsInOneHistory) {
  Recorder recorder(requests(), Arguments::kAsAnswered, kObjects);
  EXPECT_EQ(recorder.keys(),
            (std::vector<std::string>{"tags x0", "tags x1", "hits x0", "hits x1"}));
  LonelyReplicas replicas;
  std::map<std::string, int> asked;
  std::set<std::string> ids;
  for (std::uint32_t i = 0; i < 200; ++i) {
    const auto op = recorder.next(i % 2);
    const auto question = recorder.question(op);
    ++asked[question["key"]];
    const auto outcome = recorder.record(op, question, replicas.answer(i % 2, question));
    ASSERT_FALSE(outcome.wrong) << *outcome.wrong;
    if (!outcome.update.empty()) {
      EXPECT_TRUE(ids.insert(outcome.update).second);
    }
  }
  EXPECT_EQ(asked.size(), 4U);
  EXPECT_EQ(recorder.type_of(1).type, Type::kAddWinsSet);
  EXPECT_EQ(recorder.type_of(2).type, Type::kCounter);
  const auto read = recorder.read_of(1, 3);
  EXPECT_EQ(recorder.question(read), (Json{{"f", "read"}, {"key", "hits x1"}}));

  const auto history = read_recording(recorder.lines(), "h");
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  ASSERT_EQ(history->objects.size(), 2U);
  EXPECT_EQ(history->combined.ops.size(), 200U);
  for (const auto& object : history->objects) {
    EXPECT_EQ(object.history.keys.size(), 2U);
    EXPECT_GT(object.history.ops.size(), 50U);
  }
  base::Budget budget;
  EXPECT_EQ(analyze(*history, {}, budget).decided, Verdict::kSatisfied);
}

TEST(Recorder, AnAnswerOfAnotherObjectIsRefused) {
  Recorder recorder(requests(), Arguments::kAsAnswered, kObjects);
  const auto set = recorder.read_of(0, 0), counter = recorder.read_of(0, 2);
  EXPECT_TRUE(recorder.record(set, recorder.question(set), {{"type", "ok"}, {"value", 7}}).wrong);
  EXPECT_TRUE(
      recorder.record(counter, recorder.question(counter), {{"type", "ok"}, {"value", {"a"}}})
          .wrong);
  EXPECT_FALSE(
      recorder.record(counter, recorder.question(counter), {{"type", "ok"}, {"value", 7}}).wrong);
}

// A library that shows a character twice deletes it twice; a text names it once.
TEST(Recorder, ACharacterThatIsDeletedTwiceIsNamedOnce) {
  for (const auto type : {Type::kText, Type::kMarkedText}) {
    Requests asked = requests();
    asked.type = {type};
    Recorder recorder(asked, Arguments::kAsAnswered);
    Operation op;
    op.kind = Kind::kDelete;
    Json question = {{"f", "delete"}, {"key", recorder.keys()[0]}, {"value", "ab"}};
    const auto deleted = recorder.record(op, question, {{"type", "ok"}, {"value", "aéaéb"}});
    EXPECT_FALSE(deleted.wrong) << *deleted.wrong;
    EXPECT_NE(recorder.lines().find(R"("value":"aéb"})"), std::string::npos) << recorder.lines();
    if (type == Type::kText) continue;
    op.kind = Kind::kMark;
    question["f"] = "mark";
    const auto marked =
        recorder.record(op, question, {{"type", "ok"}, {"value", {"bb", "bold", true}}});
    EXPECT_FALSE(marked.wrong) << *marked.wrong;
    EXPECT_NE(recorder.lines().find(R"("value":["b","bold",true])"), std::string::npos)
        << recorder.lines();
  }
}

}  // namespace
}  // namespace cupel::crdt
