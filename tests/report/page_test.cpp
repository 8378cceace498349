// The page: what is in it, that it is whole and safe, that it stays small. How it
// behaves in a browser is tests/browser's matter.
#include "report/page.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "data/history/builder.hpp"
#include "engine/check/check.hpp"
#include "engine/explain/counts/whole_history.hpp"
#include "engine/explain/power/test_power.hpp"
#include "engine/explain/why/glossary.hpp"
#include "report/timeline.hpp"
#include "support/history_language.hpp"

namespace cupel::report {
namespace {

using history::History;
using history::TxnId;
using levels::Level;

struct CheckedHistory {
  std::string file;
  History history;
  analysis::Analysis analysis;

  [[nodiscard]] std::vector<ReportFile> files(const PageOptions& options = {}) const {
    return report_files({file, history, analysis}, options);
  }
  [[nodiscard]] std::string page(const PageOptions& options = {}) const {
    return files(options).at(0).bytes;
  }
};

CheckedHistory checked(History history, std::string file = "history.jsonl") {
  CheckedHistory answer{std::move(file), std::move(history), {}};
  answer.analysis.check = check::check(answer.history, {});
  for (auto& level : answer.analysis.check.levels)
    level.seconds = 0;  // all else is the same each time
  return answer;
}

constexpr const char* kLostUpdate =
    "init=0 s1: w(x,1) @0-5 | s2: r(x,1) w(x,2) @10-40 | s3: r(x,1) w(x,3) @20-30";

nlohmann::json data_of(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const auto from = page.find(begin) + begin.size();
  return nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
}

// Elements open and close in order; attributes are quoted. Enough of HTML for what
// page.cpp writes, and it does not look into scripts and styles.
std::string flaw(std::string page) {
  for (const char* raw : {"script", "style"}) {
    const std::string open = std::string("<") + raw, close = std::string("</") + raw + ">";
    for (auto at = page.find(open); at != std::string::npos; at = page.find(open, at)) {
      const auto end = page.find(close, at);
      if (end == std::string::npos) return std::string(raw) + " is not closed";
      page.erase(at, end + close.size() - at);
    }
  }
  static const std::regex kTag(
      R"(^<(/?)([a-zA-Z][a-zA-Z0-9]*)((?:\s+[a-zA-Z:-]+(?:="[^"<]*")?)*)\s*(/?)>)");
  std::vector<std::string> open;
  for (auto at = page.find('<'); at != std::string::npos; at = page.find('<', at + 1)) {
    if (page.compare(at, 15, "<!doctype html>") == 0) continue;
    std::smatch match;
    // The longest tags are the labels of pictures.
    const auto piece = page.substr(at, page.find('>', at) + 1 - at);
    if (!std::regex_search(piece, match, kTag)) return "not a tag: " + piece.substr(0, 80);
    const std::string name = match[2];
    if (name == "meta" || name == "input" || match[4] == "/") continue;
    if (match[1] != "/") {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return "</" + name + "> closes " + (open.empty() ? "nothing" : open.back());
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back() + " is not closed";
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(Flaw, IsFoundWhereThereIsOne) {
  EXPECT_EQ(flaw("<!doctype html><p class=\"a\">x<input type=\"b\"></p>"), "");
  EXPECT_NE(flaw("<p><b></p></b>"), "");
  EXPECT_NE(flaw("<p>"), "");
  EXPECT_NE(flaw("<p class=a>"), "");
  EXPECT_NE(flaw("<script>"), "");
}

TEST(Page, OfAViolationHasItsPictureStepsAndEvidence) {
  const auto answer = checked(test::history_of(kLostUpdate));
  const auto files = answer.files();
  const auto& page = files.at(0).bytes;
  EXPECT_EQ(files[0].name, "index.html");
  EXPECT_EQ(flaw(page), "");
  const auto pictures = count(page, "<article class=\"violation\"");
  ASSERT_GE(pictures, 1u);
  ASSERT_EQ(files.size(), 1 + 2 * pictures);
  EXPECT_EQ(files[1].name, "counterexample-1.dot");
  EXPECT_EQ(files[2].name, "counterexample-1.svg");
  EXPECT_EQ(count(page, "<svg xmlns"), pictures);
  EXPECT_NE(page.find("lost-update"), std::string::npos);
  EXPECT_NE(page.find("class=\"tag\">inferred, because…"), std::string::npos);
  EXPECT_NE(page.find("class=\"tag\">recorded"), std::string::npos);
  EXPECT_NE(page.find("<tr class=\"violated\"><th scope=\"row\">snapshot-isolation"),
            std::string::npos);
  EXPECT_NE(page.find("<tr class=\"satisfied\"><th scope=\"row\">causal"), std::string::npos);
  EXPECT_EQ(data_of(page)["marked"].size(), pictures);
}

TEST(Page, TitlesHaveAllNamesOfTheAnomaly) {
  const auto page = checked(test::history_of("init=0 a: w(x,1) w(y,1) | b: r(y,0) r(x,1)")).page();
  const auto letters = explain::plume_letters("fractured-read");
  ASSERT_FALSE(letters.empty());
  EXPECT_NE(page.find(fmt::format("-title\">fractured-read <small>G-single, {}", letters.front())),
            std::string::npos);
}

// A lost update is no fault of a database that promises read committed.
TEST(Page, APromiseThatIsKeptComesFirst) {
  const auto page_of = [](const char* isolation) {
    auto history = history::HistoryBuilder::with_metadata(test::history_of(kLostUpdate), "database",
                                                          "PostgreSQL 15.6");
    history = history::HistoryBuilder::with_metadata(std::move(history), "isolation", isolation);
    return checked(std::move(history)).page();
  };
  const auto kept = page_of("read committed");
  EXPECT_EQ(flaw(kept), "");
  EXPECT_NE(kept.find("<section class=\"verdict satisfied\""), std::string::npos);
  EXPECT_NE(kept.find("<h1>Keeps the promise of PostgreSQL 15.6 at read committed: read-committed; "
                      "violates snapshot-isolation"),
            std::string::npos);
  EXPECT_NE(kept.find(", which it does not promise</h1>"), std::string::npos);
  EXPECT_NE(kept.find("\">What other levels forbid</h2>"), std::string::npos);
  const auto broken = page_of("repeatable read");
  EXPECT_NE(broken.find("<section class=\"verdict violated\""), std::string::npos);
  EXPECT_NE(broken.find("<h1>Violates snapshot-isolation"), std::string::npos);
  EXPECT_NE(broken.find("\">What went wrong</h2>"), std::string::npos);
}

TEST(Page, OfASatisfiedHistoryHasNoViolation) {
  const auto page = checked(test::history_of("init=0 s1: w(x,1) @0-5 | s2: r(x,1) @10-20")).page();
  EXPECT_EQ(flaw(page), "");
  EXPECT_EQ(page.find("class=\"violation\""), std::string::npos);
  EXPECT_NE(page.find("Satisfies"), std::string::npos);
  EXPECT_NE(page.find("id=\"timeline\""), std::string::npos);
  EXPECT_EQ(page.find("id=\"test-power\""), std::string::npos);
}

TEST(Page, ShowsTheTestPower) {
  auto answer = checked(test::history_of("init=0 s1: w(x,1) @0-5 | s2: r(x,1) @3-20"));
  base::Budget budget;
  answer.analysis.test_power = power::measure(answer.history, budget);
  const auto page = answer.page();
  EXPECT_EQ(flaw(page), "");
  EXPECT_NE(page.find("<h2 id=\"test-power-title\">"), std::string::npos);
  EXPECT_NE(page.find("<dt>concurrency</dt><dd>"), std::string::npos);
}

// Twenty aborted reads of one writer are one cause; a lost update is another.
TEST(Page, ReportsACauseOnce) {
  std::string text = "init=0 s1: ! w(x,1)";
  for (int i = 0; i < 20; ++i) text += fmt::format(" | a{}: r(x,1)", i);
  text += " | b1: r(y,0) w(y,2) | b2: r(y,0) w(y,3)";
  auto answer = checked(test::history_of(text));
  base::Budget budget;
  answer.analysis.whole_history =
      counts::analyze_history(answer.history, answer.analysis.check, {}, budget, 60);
  ASSERT_TRUE(answer.analysis.whole_history);
  const auto page = answer.page();
  EXPECT_EQ(flaw(page), "");
  EXPECT_EQ(count(page, "<article class=\"violation\""), 2u);
  EXPECT_EQ(count(page, "… and 19 more like it"), 1u);
  const auto first = page.find("-title\">aborted-read"), second = page.find("-title\">lost-update");
  ASSERT_NE(second, std::string::npos);
  EXPECT_LT(first, second);
  EXPECT_EQ(page.find("more of "), std::string::npos);
}

// Later pictures go first, then the timeline, then the first picture; the files stay.
TEST(Page, LeavesOutPicturesAndThenTheTimelineToStaySmall) {
  std::string text = "init=0 s1: ! w(x,1) w(y,1) w(z,1)";
  text += " | a: r(x,1) | b: r(y,1) | c: r(z,1)";
  const auto answer = checked(test::history_of(text));
  const auto whole = answer.page();
  ASSERT_EQ(count(whole, "<svg xmlns"), 3u);
  std::size_t most = whole.size();
  std::vector<std::size_t> pictures = {3};
  std::vector<bool> timeline = {true};
  while (pictures.back() > 0) {
    --most;
    const auto files = answer.files({.most_bytes = most});
    const auto& page = files.at(0).bytes;
    ASSERT_LE(page.size(), most);
    EXPECT_EQ(flaw(page), "");
    EXPECT_EQ(files.size(), 7u);
    const auto svgs = count(page, "<svg xmlns");
    EXPECT_EQ(count(page, "Its picture is left out"), 3 - svgs);
    pictures.push_back(svgs);
    timeline.push_back(page.find("id=\"timeline\"") != std::string::npos);
    EXPECT_EQ(timeline.back(), !data_of(page).is_null());
    most = page.size();
  }
  EXPECT_EQ(pictures.back(), 0u);
  for (std::size_t i = 1; i < pictures.size(); ++i) {
    EXPECT_LE(pictures[i], pictures[i - 1]);
    EXPECT_TRUE(timeline[i] || pictures[i] <= 1);
    EXPECT_TRUE(pictures[i] > 0 || !timeline[i]);
  }
}

// A wide picture has no least width that a page does not have.
TEST(Page, PicturesShrinkToThePage) {
  const auto page = checked(test::history_of(kLostUpdate)).page();
  const std::regex least(R"re(<svg[^>]*style="min-width:min\([0-9.]+px,45rem\)")re");
  EXPECT_TRUE(std::regex_search(page, least));
}

TEST(Page, LoadsNothing) {
  const auto page = checked(test::history_of(kLostUpdate)).page();
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_FALSE(std::regex_search(page, std::regex(R"((src|href)="(?!#))")));
  EXPECT_FALSE(std::regex_search(page, std::regex(R"(@import|url\((?!#))")));
}

TEST(Page, IsTheSameEveryTime) {
  const auto first = checked(test::history_of(kLostUpdate)).files();
  const auto second = checked(test::history_of(kLostUpdate)).files();
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].bytes, second[i].bytes);
}

// What a history says is shown and never run.
TEST(Page, EscapesTheWordsOfTheHistory) {
  const std::string nasty =
      "</script><script>alert(1)</script><img src=x onerror=\"alert(1)\">&'\xff";
  history::HistoryBuilder builder;
  const auto key = builder.key(history::ScalarView::of(std::string_view(nasty)));
  builder.set_metadata("database", nasty);
  builder.set_metadata("note", nasty);
  for (int i = 0; i < 2; ++i) {
    builder.begin(builder.session(nasty + std::to_string(i)), history::TxnStatus::kCommitted);
    builder.read(key, builder.null_value());
    builder.write(
        key, builder.value(history::ScalarView::of(std::string_view(nasty + std::to_string(i)))));
    builder.end();
  }
  const auto page = checked(std::move(builder).finish().value(), nasty).page();
  EXPECT_EQ(flaw(page), "");
  EXPECT_EQ(count(page, "<script"), 2u);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(data_of(page)["ids"].size(), 2u);
}

TEST(Page, OfAHistoryThatWasNotReadSaysSo) {
  const History nothing = history::HistoryBuilder().finish().value();
  const std::string file = "big.jsonl";
  const auto found = analysis::unread({}, "the time limit was met while reading");
  const auto files = report_files({file, nothing, found});
  EXPECT_EQ(flaw(files.at(0).bytes), "");
  EXPECT_NE(files.at(0).bytes.find("not read to its end"), std::string::npos);
  EXPECT_TRUE(data_of(files.at(0).bytes).is_null());
}

TEST(ContentsPage, LinksToTheReports) {
  const auto answer = checked(test::history_of(kLostUpdate));
  const std::vector<ReportLink> links = {{"1-a", "dir/a<b>.jsonl", &answer.analysis.check},
                                         {"2-b", "b.jsonl", &answer.analysis.check}};
  const auto page = contents_page(links);
  EXPECT_EQ(flaw(page), "");
  EXPECT_NE(page.find("href=\"1-a/index.html\""), std::string::npos);
  EXPECT_NE(page.find("a&lt;b&gt;.jsonl"), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

// `sessions` × `each` transactions that write x after one another; the last two of
// the first two sessions lose an update.
History large(std::size_t sessions, std::size_t each, bool times) {
  history::HistoryBuilder builder;
  for (std::size_t s = 0; s < sessions; ++s) {
    const auto session = builder.session("session-with-a-long-name-" + std::to_string(s));
    for (std::size_t i = 0; i < each; ++i) {
      const auto at = static_cast<history::Time>(1'000'000 * i + 100 * s);
      history::HistoryBuilder::TxnFacts facts{.label =
                                                  static_cast<std::uint32_t>(i * sessions + s)};
      if (times) facts.invoke = at, facts.complete = at + 900'000;
      builder.begin(session, history::TxnStatus::kCommitted, facts);
      for (std::size_t o = 0; o < 8; ++o) {
        const auto n = static_cast<std::int64_t>((s * each + i) * 8 + o);
        builder.write(builder.key(n % 1000), builder.value(1'000'000'000'000 + n));
      }
      if (s < 2 && i + 1 == each / 2) {
        const auto key = builder.key(history::ScalarView::of(std::string_view("contended")));
        builder.read(key, builder.null_value());
        builder.write(key, builder.value(static_cast<std::int64_t>(s)));
      }
      builder.end();
    }
  }
  return std::move(builder).finish().value();
}

class LargePage : public testing::TestWithParam<bool> {};

TEST_P(LargePage, StaysSmallAndShowsWhatMatters) {
  CheckedHistory answer{"large", large(100, 2000, GetParam()), {}};
  check::Options options;
  options.asked = {Level::kSnapshotIsolation};
  answer.analysis.check = check::check(answer.history, options);
  ASSERT_EQ(answer.analysis.check.levels[0].verdict, check::Verdict::kViolated);
  const auto page = answer.page();
  EXPECT_LE(page.size(), kMostPageBytes);
  EXPECT_GT(page.size(), 2'000'000u);  // the room is used
  const auto data = data_of(page);
  EXPECT_EQ(data["total"], 200'000);
  const auto& ids = data["ids"];
  ASSERT_EQ(data["shown"], ids.size());
  for (const char* column : {"labels", "start", "length", "ops"})
    EXPECT_EQ(data[column].size(), ids.size());
  EXPECT_EQ(data["status"].get<std::string>().size(), ids.size());
  // The transactions of the violation, and everything that goes on around them.
  for (const auto& id : data["marked"].at(0)) {
    const auto it = std::lower_bound(ids.begin(), ids.end(), id);
    ASSERT_TRUE(it != ids.end() && *it == id) << id;
    EXPECT_EQ(ids.at(static_cast<std::size_t>(it - ids.begin()) + 1), id.get<int>() + 1);
  }
  ASSERT_FALSE(data["windows"].empty());
  // A window shows every transaction that begins in it.
  std::size_t inside = 0, shown = 0;
  std::vector<bool> is_shown(answer.history.txn_count());
  for (const auto& id : ids) is_shown[id.get<std::size_t>()] = true;
  for (std::size_t i = 0; GetParam() && i < answer.history.txn_count(); ++i) {
    const auto start = answer.history.invoke(TxnId(i));
    for (const auto& window : data["windows"]) {
      if (start < window[0].get<history::Time>() || start > window[1].get<history::Time>())
        continue;
      ++inside;
      shown += is_shown[i];
      break;
    }
  }
  EXPECT_EQ(shown, inside);
  // The grid counts every transaction.
  std::size_t sum = 0;
  for (const auto& n : data["grid"]["count"]) sum += n.get<std::size_t>();
  EXPECT_EQ(sum, 200'000u);
}

INSTANTIATE_TEST_SUITE_P(Times, LargePage, testing::Bool(),
                         [](const auto& info) { return info.param ? "recorded" : "absent"; });

TEST(Timeline, HoldsWhatTheHistoryHolds) {
  const auto history = test::history_of(
      "init=0 s1: w(x,1) l(k,[1 2 3 4 5 6 7 8]) @100-150 ; ! r(x,1) @200-210 | s2: ? a(k,1) @120- "
      "; "
      "cas(y,1,2) d(x) i(z,v) range(a,c,[a=1]) @400-500");
  const auto data = nlohmann::json::parse(timeline_json(history, {}));
  EXPECT_EQ(data["clock"], true);
  EXPECT_EQ(data["to"], 400);
  EXPECT_EQ(data["status"], "caic");
  EXPECT_EQ(data["start"], nlohmann::json::parse("[0,100,20,300]"));
  EXPECT_EQ(data["length"], nlohmann::json::parse("[50,10,-1,100]"));
  EXPECT_EQ(data["sessions"], nlohmann::json::parse(R"([[0,"s1",0,2],[1,"s2",2,2]])"));
  EXPECT_EQ(data["ops"][0], nlohmann::json::parse(R"json([1,0,1,3,1,"[… 3 4 5 6 7 8] (8)"])json"));
}

TEST(Timeline, SaysWhichTimesArePlacesOfTheFile) {
  for (const bool places : {false, true}) {
    history::HistoryBuilder builder;
    if (places) builder.set_metadata("times", "line order");
    builder.begin(builder.session("a"), history::TxnStatus::kCommitted,
                  {.invoke = 3, .complete = 10});
    builder.end();
    const auto data = nlohmann::json::parse(timeline_json(*std::move(builder).finish(), {}));
    EXPECT_EQ(data["places"], places);
    EXPECT_EQ(data["pace"].is_null(), places);
    EXPECT_EQ(data["from"], places ? 3 : 0);
    EXPECT_EQ(data["start"], nlohmann::json::parse("[0]"));
    EXPECT_EQ(data["length"], nlohmann::json::parse("[7]"));
  }
}

// In columns of the whole time, by the end of a transaction; what aborted does not count.
TEST(Timeline, HasTheRateAndTheLatenciesOfWhatCommitted) {
  history::HistoryBuilder builder;
  const auto add = [&](history::TxnStatus status, history::Time from, history::Time to) {
    builder.begin(builder.session("a"), status, {.invoke = from, .complete = to});
    builder.end();
  };
  add(history::TxnStatus::kCommitted, 0, 5);
  add(history::TxnStatus::kCommitted, 0, 7);
  add(history::TxnStatus::kAborted, 0, 6);
  add(history::TxnStatus::kCommitted, 9'000, 24'000);
  const auto pace = nlohmann::json::parse(timeline_json(*std::move(builder).finish(), {}))["pace"];
  const auto last = pace["commits"].size() - 1;
  EXPECT_EQ(pace["commits"][0], 2);
  EXPECT_EQ(pace["p50"][0], 5);
  EXPECT_EQ(pace["commits"][1], 0);
  EXPECT_EQ(pace["p99"][1], -1);
  EXPECT_EQ(pace["commits"][last], 1);
  EXPECT_EQ(pace["p99"][last], 15'000);
}

TEST(Timeline, HasTheNodesOfTransactionsAndWhatEachCommitted) {
  const auto history = history::HistoryBuilder::with_metadata(
      history::HistoryBuilder::with_metadata(
          test::history_of("a: w(x,1) @0-10 ; w(x,2) @500-1000 | b: ! w(x,3) @0-10 ; r(x,2) "
                           "@500-1000 ; r(x,2) @600-1000 | z: r(x,2) @900-1000"),
          "nodes", "0 h:2\n1 h:1"),
      "final readers", "z h:1");
  // By label, which is the number of the transaction here.
  const NodesByLabel nodes{.names = {"h:1, replica", "h:2, primary", "h:1, primary"},
                           .of_label = {2, 3, 2, 1, 0, 1}};
  const auto data = nlohmann::json::parse(timeline_json(history, {}, {.nodes = &nodes}))["nodes"];
  EXPECT_EQ(data["names"], nlohmann::json::parse(R"json(["node 0 (h:2)","node 1 (h:1)"])json"));
  EXPECT_EQ(data["short"], nlohmann::json::parse(R"json(["node 0","node 1"])json"));
  EXPECT_EQ(data["of"], nlohmann::json::parse("[0,1,0,1,-1,1]"));
  EXPECT_EQ(data["role"], "pppr-r");
  const auto& commits = data["commits"];
  const auto last = commits[0].size() - 1;
  EXPECT_EQ(commits[0][2], 1) << "the aborted one does not count";
  EXPECT_EQ(commits[0][last], 0);
  EXPECT_EQ(commits[1][last], 2) << "the final read does not count";
  EXPECT_EQ(data["roles"][1].get<std::string>().back(), 'p') << "the primary for a moment at least";
  EXPECT_EQ(data["roles"][0].get<std::string>().front(), '-');
}

TEST(Timeline, HasNoNodesWhereThereIsOne) {
  const auto history = test::history_of("a: w(x,1) @0-10");
  const NodesByLabel one{.names = {"h:1"}, .of_label = {1}};
  EXPECT_TRUE(
      nlohmann::json::parse(timeline_json(history, {}, {.nodes = &one}))["nodes"].is_null());
  EXPECT_TRUE(nlohmann::json::parse(timeline_json(history, {}))["nodes"].is_null());
}

TEST(Timeline, FaultsAreReadFromTheMetadata) {
  history::HistoryBuilder builder;
  builder.set_metadata("faults", "5 9 kill -9 it\n12 - partition\nno fault");
  builder.begin(builder.session("a"), history::TxnStatus::kCommitted,
                {.invoke = 5, .complete = 20});
  builder.end();
  const auto history = std::move(builder).finish().value();
  const auto faults = faults_of(history);
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_EQ(faults[1].to, history::kNoTime);
  const auto data = nlohmann::json::parse(timeline_json(history, {}));
  EXPECT_EQ(data["faults"], nlohmann::json::parse(R"([[0,4,"kill -9 it"],[7,-1,"partition"]])"));
}

TEST(Timeline, OfNothing) {
  const auto data =
      nlohmann::json::parse(timeline_json(history::HistoryBuilder().finish().value(), {}));
  EXPECT_EQ(data["total"], 0);
  EXPECT_TRUE(data["ids"].empty());
}

}  // namespace
}  // namespace cupel::report
