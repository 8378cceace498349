// Report and picture: what is said of a violation is about the operations that make it,
// and the picture is XML with a box for each.
#include "crdt/io/report.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <nlohmann/json.hpp>
#include <set>

#include "crdt/io/picture.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/model/visibility.hpp"

namespace cupel::crdt {
namespace {

History history_of(Type type, const std::string& text) {
  auto history = read(text, "test", {type});
  EXPECT_TRUE(history.ok()) << (history.ok() ? "" : history.error().to_string());
  return std::move(history).value();
}

Report report_of(const History& history) {
  static std::deque<Analysis> all;
  base::Budget budget;
  return {.file = "h<1>.jsonl",
          .history = &history,
          .analysis = all.emplace_back(analyze(history, {.shrink_seconds = 60}, budget)),
          .show_witness = true};
}

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t found = 0;
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++found;
  return found;
}

// Beside it: one read more, of what both replicas agree on.
constexpr const char* kLostAdd =
    "{\"process\":1,\"f\":\"add\",\"value\":\"<a>\"}\n"
    "{\"process\":1,\"f\":\"add\",\"value\":\"b\"}\n"
    "{\"process\":2,\"f\":\"contains\",\"value\":[\"b\",true]}\n"
    "{\"process\":2,\"f\":\"contains\",\"value\":[\"<a>\",false]}\n"
    "{\"process\":1,\"f\":\"contains\",\"value\":[\"b\",true]}\n";

// The read leaves out "a". That "b" was seen shows that "a" was; its updates are no reason.
TEST(Report, AWholeReadIsExplainedByTheElementInQuestionOnly) {
  const auto history =
      history_of(Type::kAddWinsSet, R"({"process":2,"f":"contains","value":["b",true]}
{"process":2,"f":"remove","value":"b"}
{"process":1,"f":"add","value":"a"}
{"process":1,"f":"add","value":"b"}
{"process":2,"f":"read","value":[]}
)");
  const auto report = report_of(history);
  ASSERT_TRUE(report.analysis.explanation);
  EXPECT_EQ(report.analysis.explanation->because,
            (std::vector<std::string>{
                "it must have seen add(\"a\") of replica 1 (line 3)",
                "that follows from the order of each replica and from contains(\"b\") = true of "
                "replica 2 (line 1)"}))
      << as_text(report);
}

void expect_blamed(const History& history, const char* words) {
  const auto report = report_of(history);
  ASSERT_TRUE(report.analysis.explanation);
  EXPECT_NE(report.analysis.explanation->summary.find(words), std::string::npos) << as_text(report);
}

// That "b" is gone shows that its remove was seen, and with it the add of "a".
TEST(Report, OfAWholeReadAnElementThatIsRightlyAbsentIsNotBlamed) {
  const auto history = history_of(Type::kAddWinsSet, R"({"process":1,"f":"add","value":"a"}
{"process":2,"f":"add","value":"b"}
{"process":1,"f":"remove","value":"b"}
{"process":2,"f":"read","value":[]}
)");
  expect_blamed(history, "\"a\" is not in");
}

// It shows nothing of "b", which its own replica removed: that an earlier read did.
TEST(Report, OfAWholeReadAnElementIsBlamedWithoutWhichItWouldBeRight) {
  const auto history = history_of(Type::kAddWinsSet, R"({"process":1,"f":"remove","value":"a"}
{"process":1,"f":"add","value":"a"}
{"process":2,"f":"add","value":"b"}
{"process":1,"f":"remove","value":"b"}
{"process":2,"f":"contains","value":["b",false]}
{"process":2,"f":"remove","value":"b"}
{"process":2,"f":"read","value":[]}
)");
  expect_blamed(history, "\"a\" is not in");
}

TEST(Report, AnOverwrittenSiblingIsStale) {
  const auto history = history_of(Type::kMultiValueRegister, R"({"process":1,"f":"write","value":1}
{"process":1,"f":"write","value":2}
{"process":2,"f":"read","value":[2]}
{"process":2,"f":"read","value":[1]}
)");
  const auto report = report_of(history);
  ASSERT_TRUE(report.analysis.explanation);
  EXPECT_EQ(report.analysis.explanation->name, "stale-read") << as_text(report);
  const auto lost = history_of(Type::kMultiValueRegister, R"({"process":1,"f":"write","value":1}
{"process":2,"f":"write","value":2}
{"process":3,"f":"read","value":[1,2]}
{"process":3,"f":"read","value":[1]}
)");
  const auto other = report_of(lost);
  ASSERT_TRUE(other.analysis.explanation);
  EXPECT_EQ(other.analysis.explanation->name, "lost-sibling") << as_text(other);
}

TEST(Report, SaysThatThereAreNoOperations) {
  const auto text = as_text(report_of(history_of(Type::kCounter, "; nothing\n")));
  EXPECT_NE(text.find("satisfied\n  0 operations\n"), text.npos) << text;
}

TEST(Report, SaysWhatItTakes) {
  const auto history = history_of(Type::kAddWinsSet, kLostAdd);
  const auto report = report_of(history);
  ASSERT_TRUE(report.analysis.explanation);
  EXPECT_EQ(report.analysis.explanation->name, "lost-add");
  EXPECT_EQ(report.analysis.explanation->part.origin, (std::vector<OpId>{0, 1, 2, 3}));
  EXPECT_EQ(report.analysis.explanation->part.origin[report.analysis.explanation->read], 3U);
  const auto text = as_text(report);
  EXPECT_EQ(text.substr(0, text.find('\n')), "h<1>.jsonl\tadd-wins-set\tviolated");
  EXPECT_NE(text.find("it must have seen add(\"<a>\") of replica 1"), text.npos) << text;
  EXPECT_NE(text.find("it takes 4 of 5 operations"), text.npos) << text;
  EXPECT_NE(text.find("line 4"), text.npos) << text;
  const auto json = nlohmann::json::parse(as_json(report));
  EXPECT_EQ(json["verdict"], "violated");
  EXPECT_EQ(json["explanation"]["read"], 3);
  EXPECT_EQ(json["explanation"]["must_have_seen"], nlohmann::json::array({0}));
  EXPECT_EQ(json["explanation"]["operations"].size(), 4U);
  EXPECT_FALSE(json.contains("witness"));
}

TEST(Report, ShowsAnExecutionInWhichEveryReadIsRight) {
  const auto history =
      history_of(Type::kAddWinsSet,
                 std::string(kLostAdd).replace(std::string(kLostAdd).find("false"), 5, "true"));
  const auto report = report_of(history);
  ASSERT_EQ(report.analysis.decision.verdict, Verdict::kSatisfied);
  const auto json = nlohmann::json::parse(as_json(report));
  ASSERT_EQ(json["witness"].size(), 5U);
  // Replica 2 must have had one delivery, of the second add at least.
  std::size_t seen = 0;
  for (const auto& one : json["witness"]) {
    if (one["replica"] == "2") seen += one["newly_seen"].size();
  }
  EXPECT_EQ(seen, 1U);
  EXPECT_NE(as_text(report).find("sees"), std::string::npos);
}

TEST(Report, ACycleIsExplainedStepByStep) {
  const auto history = history_of(
      Type::kLastWriterWinsRegister,
      "{\"process\":1,\"f\":\"write\",\"value\":1}\n{\"process\":2,\"f\":\"write\",\"value\":2}\n"
      "{\"process\":1,\"f\":\"read\",\"value\":2}\n{\"process\":2,\"f\":\"read\",\"value\":1}\n");
  const auto report = report_of(history);
  ASSERT_TRUE(report.analysis.explanation);
  EXPECT_EQ(report.analysis.explanation->name, "order-disagreement");
  ASSERT_EQ(report.analysis.explanation->cycle.size(), 2U);
  EXPECT_EQ(report.analysis.explanation->because.size(), 2U);
  const auto json = nlohmann::json::parse(as_json(report));
  EXPECT_EQ(json["explanation"]["cycle"][0]["why"], "arbitrated");
  const auto svg = as_svg(report);
  EXPECT_EQ(count(svg, "class=\"arrow cycle\""), 2U);
  // There and back are two lines, not one with two heads.
  std::set<std::string> from;
  for (auto at = svg.find("class=\"arrow cycle\""); at != svg.npos;
       at = svg.find("class=\"arrow cycle\"", at + 1)) {
    const auto path = svg.find(" d=\"M", at) + 5;
    from.insert(svg.substr(path, svg.find(',', path) - path));
  }
  EXPECT_EQ(from.size(), 2U) << svg;
}

TEST(Picture, HasABoxForEachOperationAndAnArrowForEachDelivery) {
  const auto history = history_of(Type::kAddWinsSet, kLostAdd);
  const auto report = report_of(history);
  const auto svg = as_svg(report);
  EXPECT_EQ(count(svg, "class=\"box\""), 4U);
  EXPECT_EQ(count(svg, "class=\"wrong\""), 1U);
  EXPECT_EQ(count(svg, "class=\"arrow must\""), 1U);
  EXPECT_EQ(count(svg, "class=\"time\""), 2U);  // a row each
  EXPECT_EQ(svg.find("<a>"), svg.npos);         // escaped
  EXPECT_NE(svg.find("&lt;a&gt;"), svg.npos);
}

TEST(Picture, ShowsTheRecordedDeliveriesOfAViolation) {
  // Replica 1 removes what it has received, and replica 2 has received both.
  const auto history =
      history_of(Type::kAddWinsSet,
                 "{\"process\":0,\"f\":\"add\",\"value\":1,\"id\":\"a\"}\n"
                 "{\"process\":1,\"f\":\"remove\",\"value\":1,\"id\":\"r\",\"seen\":[\"a\"]}\n"
                 "{\"process\":2,\"f\":\"contains\",\"value\":[1,true],\"seen\":[\"a\",\"r\"]}\n");
  const auto visibility = Visibility::of(history);
  ASSERT_TRUE(visibility.ok());
  base::Budget budget;
  const auto analysis = analyze(history, {.visibility = &*visibility}, budget);
  ASSERT_TRUE(analysis.explanation);
  Report report{.file = "f", .history = &history, .analysis = analysis};
  EXPECT_EQ(count(as_svg(report), "class=\"arrow\""), 0U);
  report.visibility = &*visibility;
  const auto svg = as_svg(report);
  EXPECT_GE(count(svg, "class=\"arrow\""), 1U) << svg;
  EXPECT_NE(svg.find("blue: recorded deliveries"), svg.npos);
  const auto all = recording_svg(report);
  EXPECT_EQ(count(all, "class=\"box\""), 3U);
  EXPECT_EQ(count(all, "class=\"wrong\""), 1U);
  EXPECT_EQ(count(all, "class=\"arrow\""), 3U) << all;  // a to both, r to the last
  report.visibility = nullptr;
  EXPECT_EQ(recording_svg(report), "");
}

TEST(Picture, OfALongExecutionSaysThatItIsTheBeginning) {
  std::string lines;
  for (int i = 0; i < 400; ++i)
    lines += "{\"process\":" + std::to_string(i % 3) + ",\"f\":\"inc\"}\n";
  const auto history = history_of(Type::kCounter, lines);
  const auto svg = as_svg(report_of(history));
  EXPECT_EQ(count(svg, "class=\"box\""), kMostDrawn);
  EXPECT_NE(svg.find("the first 150 of 400 operations"), svg.npos);
}

}  // namespace
}  // namespace cupel::crdt
