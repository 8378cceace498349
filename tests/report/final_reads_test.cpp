// What the final reads found, in words and in every format: who wrote what, when, where, and which
// fault was in force.
#include "report/final_reads.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <span>

#include "data/history/builder.hpp"
#include "engine/analysis/final_reads.hpp"
#include "engine/check/check.hpp"
#include "report/emit_github.hpp"
#include "report/emit_junit.hpp"
#include "report/emit_markdown.hpp"
#include "report/emit_sarif.hpp"
#include "report/nodes.hpp"
#include "report/page.hpp"
#include "report/timeline.hpp"
#include "support/history_language.hpp"

namespace cupel::report {
namespace {

using history::HistoryBuilder;

// Sessions m and n read at the end, from the nodes h:1 and h:2.
struct Given {
  std::string file = "h.jsonl";
  history::History history;
  analysis::Analysis analysis = {};

  Given(std::string_view text, std::string_view faults, bool numbered = false)
      : history(test::history_of(text)) {
    const auto say = [&](std::string_view name, std::string_view value) {
      history = HistoryBuilder::with_metadata(std::move(history), name, value);
    };
    say(analysis::kFinalReaders, "m h:1\nn h:2");
    if (!faults.empty()) say("faults", faults);
    if (numbered) say(kNodes, "0 h:1\n1 h:2");
    analysis.check = check::check(history, {});
    analysis.final_reads = analysis::final_reads(history);
  }
  [[nodiscard]] Checked checked() const { return {file, history, analysis}; }
  [[nodiscard]] std::string sentences(std::size_t which = 0) const {
    return sentences_of(history, final_reads_findings(checked(), 10).at(which));
  }
};

// The second write of x is on no node, though the first one is.
constexpr const char* kLost =
    "init=0 a: w(x,1) @0-1000000000 | b: w(x,2) @2000000000-2500000000 | m: r(x,1) "
    "@9000000000-9100000000 | n: r(x,1) @9000000000-9100000000";
constexpr const char* kDivergent =
    "init=0 a: a(k,1) @0-10 | b: a(k,2) @20-2500000000 | m: l(k,[1 2]) "
    "@9000000000-9100000000 | n: l(k,[1]) @9000000000-9100000000";

TEST(FinalReadsWords, SayWhoWroteWhatIsLostWhenAndWhere) {
  Given given(kLost, "2400000000 3000000000 kill: 0");
  EXPECT_EQ(given.sentences(),
            "T1 of session b wrote x = 2, acknowledged at 2.500 s, during kill: 0. No node has it. "
            "Every node holds 1.");
  given.analysis.fields[1] = {{"node", "\"h:1, primary\""}};
  EXPECT_NE(given.sentences().find("acknowledged at 2.500 s by h:1, primary, during kill: 0."),
            std::string::npos)
      << given.sentences();
  Given numbered(kLost, "", true);
  numbered.analysis.fields[1] = {{"node", "\"h:1\""}};
  EXPECT_NE(numbered.sentences().find("acknowledged at 2.500 s by node 0 (h:1)."),
            std::string::npos)
      << numbered.sentences();
}

TEST(FinalReadsWords, NameTheNearestFaultIfNoneWasInForce) {
  EXPECT_NE(Given(kLost, "1 400000000 pause: 1\n3000000000 4000000000 failover: 0")
                .sentences()
                .find("0.500 s before failover: 0."),
            std::string::npos);
  EXPECT_NE(Given(kLost, "1 2400000000 pause: 1\n3000000000 - failover: 0")
                .sentences()
                .find("0.100 s after pause: 1."),
            std::string::npos);
  EXPECT_NE(Given(kLost, "1 - pause: 1\n2000000000 4000000000 kill: 0")
                .sentences()
                .find("during pause: 1 and kill: 0."),
            std::string::npos);
}

TEST(FinalReadsWords, SayOfNodesThatDifferWhichWriteIsMissingWhere) {
  const Given given(kDivergent, "", true);
  EXPECT_EQ(given.sentences(),
            "Node 0 (h:1) holds [1 2], node 1 (h:2) holds [1]. T1 of session b appended 2 to k, "
            "acknowledged at 2.500 s; missing on node 1 (h:2).");
}

// The older value was replaced on one node, so that it is not missing there.
TEST(FinalReadsWords, SayWhoHoldsTheValuesOfARegister) {
  const Given given(
      "init=0 a: w(x,1) @0-10 | b: w(x,2) @20-30 | m: r(x,2) @90-91 | n: r(x,1) @90-91", "");
  EXPECT_EQ(given.sentences(),
            "h:1 holds 2, h:2 holds 1. T1 of session b wrote x = 2, acknowledged at 0.000 s; held "
            "by h:1. T0 of session a wrote x = 1, acknowledged at 0.000 s; held by h:2.");
}

TEST(FinalReadsWords, CountTheWritesOfAKeyThatAreLost) {
  const Given given(
      "init=0 a: w(x,1) @0-1 | b: w(x,2) @20-25 ; w(x,3) @30-35 | m: r(x,1) @90-91 | n: r(x,1) "
      "@90-91",
      "");
  EXPECT_NE(given.sentences().find("No node has it, nor 1 acknowledged write of x before."),
            std::string::npos)
      << given.sentences();
}

TEST(FinalReadsJson, HasTheNodeTheTimeAndTheFault) {
  Given given(kLost, "2400000000 3000000000 kill: 0");
  given.analysis.fields[1] = {{"node", "\"h:1, primary\""}};
  const auto lost = final_reads_object(given.checked())["lost_writes"].at(0);
  EXPECT_EQ(lost["node"], "h:1");
  EXPECT_EQ(lost["acknowledged"], 2'500'000'000);
  EXPECT_EQ(lost["fault"], "during kill: 0");
}

struct Outputs {
  nlohmann::json sarif;
  std::string junit, markdown, summary, annotations;
};
Outputs outputs_of(const Checked& checked) {
  const Emission emission{checked, "cupel check h", {{1, 7}}};
  Sarif sarif("0");
  sarif.add(emission);
  Junit junit;
  junit.add(emission);
  return {nlohmann::json::parse(sarif.text()), junit.text(), emit_markdown(emission),
          emit_github(emission), github_annotations(emission)};
}

TEST(FinalReadsFormats, EachHasLostWritesAndNodesThatDiffer) {
  for (const auto& [text, name] :
       {std::pair(kLost, "lost-write"), std::pair(kDivergent, "divergent-replicas")}) {
    const Given given(text, "2400000000 3000000000 kill: 0");
    const auto outputs = outputs_of(given.checked());
    const auto& run = outputs.sarif["runs"][0];
    ASSERT_GE(run["results"].size(), 1u) << "what real time forbids comes after it";
    const auto& result = run["results"][0];
    EXPECT_EQ(result["ruleId"], name);
    EXPECT_EQ(run["tool"]["driver"]["rules"].at(0)["id"], name);
    EXPECT_TRUE(run["tool"]["driver"]["rules"].at(0).contains("shortDescription"));
    EXPECT_EQ(result["locations"][0]["physicalLocation"]["region"]["startLine"], 7);
    EXPECT_EQ(result["relatedLocations"].size(), 2u) << "those who read at the end";
    for (const auto& one : {result["message"]["text"].get<std::string>(), outputs.junit,
                            outputs.markdown, outputs.summary, outputs.annotations}) {
      EXPECT_NE(one.find(name), std::string::npos) << one;
      EXPECT_NE(one.find("2.500 s"), std::string::npos) << one;
      EXPECT_NE(one.find("during kill"), std::string::npos) << one;
    }
    EXPECT_NE(outputs.annotations.find("::error file=h.jsonl,line=7,title="), std::string::npos)
        << outputs.annotations;
    EXPECT_EQ(outputs.markdown.find("No counterexample"), std::string::npos);
  }
}

// One key less, or a level that is asked for by name, and there is nothing to report.
TEST(FinalReadsFormats, SayNothingOfWhatDoesNotDecide) {
  Given asked(kLost, "");
  check::Options options;
  options.asked = {levels::Level::kReadCommitted};
  asked.analysis.check = check::check(asked.history, options);
  const Given kept("init=0 a: w(x,1) @0-1 | b: w(x,2) @20-25 | m: r(x,2) @90-91 | n: r(x,2) @90-91",
                   "");
  for (const Given* given : std::initializer_list<const Given*>{&asked, &kept}) {
    const auto outputs = outputs_of(given->checked());
    EXPECT_EQ(outputs.sarif["runs"][0]["results"].size(), 0u);
    for (const auto& one : {outputs.markdown, outputs.summary, outputs.annotations}) {
      EXPECT_EQ(one.find("lost-write"), std::string::npos) << one;
    }
  }
}

TEST(FinalReadsPage, StandAtTheTopIfSomethingIsWrong) {
  const auto page_of = [](const Given& given) { return report_files(given.checked()).at(0).bytes; };
  const auto lost = page_of(Given(kLost, "2400000000 3000000000 kill: 0"));
  EXPECT_NE(lost.find("<h1>Acknowledged writes are lost; violates "), std::string::npos);
  const auto section = lost.find("<section id=\"final-reads\"");
  EXPECT_LT(section, lost.find("<section id=\"violations\""));
  EXPECT_LT(section, lost.find("<section id=\"timeline\""));
  for (const char* cell : {"<td>wrote x = 2</td>", "<td class=\"txns\">T1 of session b</td>",
                           "<td>2.500 s</td>", "<td>during kill: 0</td>"}) {
    EXPECT_NE(lost.find(cell, section), std::string::npos) << cell;
  }
  const auto kept = page_of(
      Given("init=0 a: w(x,1) @0-1 | b: w(x,2) @20-25 | m: r(x,2) @90-91 | n: r(x,2) @90-91", ""));
  EXPECT_GT(kept.find("<section id=\"final-reads\""), kept.find("<section id=\"ladder\""));
  EXPECT_EQ(kept.find("<article class=\"finding\""), std::string::npos);
}

TEST(FinalReadsPage, AreInTheListOfSeveralReports) {
  const Given given(kLost, "");
  ReportLink link{"1-h", "h.jsonl", &given.analysis.check};
  EXPECT_EQ(contents_page(std::span(&link, 1)).find("writes are lost"), std::string::npos);
  link.lost = final_reads_verdict(given.checked());
  const auto page = contents_page(std::span(&link, 1));
  EXPECT_NE(page.find("<li class=\"verdict violated\">"), std::string::npos);
  EXPECT_NE(page.find("<p>Acknowledged writes are lost; violates "), std::string::npos) << page;
}

TEST(FinalReadsPage, AreNotPartOfTheRateAndTheLatency) {
  const Given given(kLost, "");
  const auto pace = nlohmann::json::parse(timeline_json(given.history, {}))["pace"];
  std::size_t commits = 0;
  for (const auto& n : pace["commits"]) commits += n.get<std::size_t>();
  EXPECT_EQ(commits, 2u);
  EXPECT_EQ(pace["p50"].back(), -1);
}

TEST(Nodes, HaveARoleOnlyIfItIsSaid) {
  EXPECT_EQ(parse_node("h:1, primary").name, "h:1");
  EXPECT_EQ(parse_node("h:1, primary").role, "primary");
  EXPECT_EQ(parse_node("h:1, replica").role, "replica");
  EXPECT_EQ(parse_node("primary").name, "primary");
  EXPECT_EQ(parse_node("n1").role, "");
}

}  // namespace
}  // namespace cupel::report
