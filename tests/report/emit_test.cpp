// The formats for others: what is in them, that the steps are in an order that shows
// the anomaly, and that no key or value breaks out of its place.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "base/text/escape.hpp"
#include "report/emit_github.hpp"
#include "report/emit_junit.hpp"
#include "report/emit_markdown.hpp"
#include "report/emit_sarif.hpp"
#include "report/emit_sql.hpp"
#include "report/page.hpp"
#include "report/steps.hpp"
#include "support/counterexamples.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::report {
namespace {

using explain::Counterexample;
using history::History;
using history::HistoryBuilder;
using history::OpId;
using history::ScalarView;
using history::TxnId;
using levels::Level;
using test::counterexample_of;
using test::history_of;
using text::markdown_block;
using text::markdown_code;
using text::markdown_text;

// What the command has when it emits.
struct Case {
  std::string file;
  History history;
  analysis::Analysis analysis;

  Case(std::string name, History given, std::vector<Level> asked, bool shrunk = true)
      : file(std::move(name)), history(std::move(given)) {
    check::Options options;
    options.asked = std::move(asked);
    analysis.check = check::check(history, options);
    if (!shrunk) return;
    for (const Level level : analysis.check.weakest_violated) {
      analysis.counterexamples.push_back(counterexample_of(History(history), level));
    }
  }
  [[nodiscard]] Checked checked() const { return {file, history, analysis}; }
  template <typename Use>
  auto with(Use use, std::map<std::uint32_t, std::uint64_t> lines = {}) const {
    const auto all = checked();
    return use(Emission{all, "cupel check -l si " + file, std::move(lines)});
  }
};

constexpr const char* kLostUpdate = "init=0 a: r(x,0) w(x,1) | b: r(x,0) w(x,2)";
constexpr const char* kWriteSkew = "init=0 a: r(x,0) r(y,0) w(x,1) | b: r(x,0) r(y,0) w(y,1)";

std::string steps_text(const Counterexample& example) {
  std::string text;
  for (const Step& step : steps_of(example.history, example.anomaly)) {
    if (!text.empty()) text += ' ';
    text += "T" + std::to_string(example.history.label(step.txn));
    if (step.what == Step::What::kBegin) text += ":begin";
    if (step.what == Step::What::kEnd) text += ":end";
    if (step.what == Step::What::kOperation) {
      const auto op = example.history.op(step.op);
      text += std::string(":") + std::string(history::to_string(op.kind)).substr(0, 1) +
              (op.key.valid() ? example.history.key(op.key).to_string() : "");
    }
    if (!step.missed.empty()) text += "!";
  }
  return text;
}

TEST(Steps, ALostUpdateReadsBeforeEitherCommit) {
  EXPECT_EQ(steps_text(counterexample_of(history_of(kLostUpdate), Level::kSnapshotIsolation)),
            "T0:begin T0:rx T0:wx T1:begin T1:rx T0:end T1:wx T1:end");
}

TEST(Steps, AWriteSkewReadsBeforeEitherCommit) {
  EXPECT_EQ(steps_text(counterexample_of(history_of(kWriteSkew), Level::kSerializable)),
            "T0:begin T0:rx T0:ry T0:wx T1:begin T1:rx T1:ry T1:wy T0:end T1:end");
}

TEST(Steps, ADirtyReadIsBetweenTheWriteAndTheRollback) {
  EXPECT_EQ(
      steps_text(counterexample_of(history_of("a: !w(x,1) | b: r(x,1)"), Level::kReadCommitted)),
      "T0:begin T0:wx T1:begin T1:rx! T0:end T1:end");
}

TEST(Steps, AnIntermediateReadIsBetweenTheWrites) {
  EXPECT_EQ(steps_text(counterexample_of(history_of("a: w(x,1) w(x,2) | b: r(x,1)"),
                                         Level::kReadCommitted)),
            "T0:begin T0:wx T1:begin T1:rx! T1:end T0:wx T0:end");
}

// No turns on one copy of the data explain a causality violation: the step says so.
TEST(Steps, WhatOneCopyWouldNotAnswerIsMarked) {
  const auto example = counterexample_of(
      history_of("init=0 a: w(x,1) | b: r(x,1) w(y,2) | c: r(y,2) r(x,0)"), Level::kCausal);
  EXPECT_EQ(steps_text(example),
            "T0:begin T0:wx T0:end T1:begin T1:rx T1:wy T1:end T2:begin T2:ry T2:rx! T2:end");
  const auto steps = steps_of(example.history, example.anomaly);
  EXPECT_EQ(steps[9].missed, "x = 1");
}

TEST(Steps, RealTimeIsKept) {
  const auto example = counterexample_of(history_of("init=0 a: w(x,1) @10-20 | b: r(x,0) @30-40"),
                                         Level::kStrictSerializable);
  EXPECT_EQ(steps_text(example), "T0:begin T0:wx T0:end T1:begin T1:rx! T1:end");
}

// Every operation once, in the order of its transaction, sessions in order.
TEST(Steps, HoldEveryOperationInItsOrder) {
  for (const auto* text :
       {kLostUpdate, kWriteSkew, "a: w(x,1) | b: w(y,2) | c: r(x,1) r(y,nil) | d: r(x,nil) r(y,2)",
        "a: w(x,1) ; r(x,nil)", "a: l(x,[1 2]) a(x,3) | b: a(x,1) ; a(x,2) ; l(x,[2 1])"}) {
    const auto history = history_of(text);
    explain::Anomaly none;
    std::vector<int> seen(history.op_count(), 0);
    std::vector<bool> begun(history.txn_count()), ended(history.txn_count());
    std::uint32_t operations = 0;
    for (const Step& step : steps_of(history, none)) {
      const auto t = step.txn.index();
      if (step.what == Step::What::kBegin) {
        EXPECT_FALSE(begun[t]);
        begun[t] = true;
        if (t > 0 && history.session(TxnId(t - 1)) == history.session(step.txn)) {
          EXPECT_TRUE(ended[t - 1]) << text;
        }
      } else if (step.what == Step::What::kEnd) {
        ended[t] = true;
      } else {
        EXPECT_TRUE(begun[t] && !ended[t]);
        if (step.op.raw > history.first_op(step.txn)) {
          EXPECT_EQ(seen[step.op.index() - 1], 1);
        }
        ++seen[step.op.index()];
        ++operations;
      }
    }
    EXPECT_EQ(operations, history.op_count());
    EXPECT_TRUE(std::all_of(ended.begin(), ended.end(), [](bool b) { return b; }));
  }
}

// ---- Markdown

TEST(Markdown, IsATableOfSessionsAndSteps) {
  const Case given("h.jsonl", history_of(kLostUpdate), {Level::kSnapshotIsolation});
  EXPECT_EQ(given.with(emit_markdown),
            "### lost-update (G-single) violates snapshot-isolation\n\n"
            "An update was lost. T0 and T1 both read x = 0 and both wrote x. "
            "They are concurrent: neither is visible to the other. The later update overwrote "
            "the earlier one.\n\n"
            "| | session a | session b |\n"
            "|---|---|---|\n"
            "| 1 | T0 began, `read x = 0` | |\n"
            "| 2 | `wrote x = 1` | |\n"
            "| 3 | | T1 began, `read x = 0` |\n"
            "| 4 | T0 committed | |\n"
            "| 5 | | `wrote x = 2`, committed |\n"
            "\n"
            "- isolation level checked: snapshot-isolation\n"
            "- history: `h.jsonl`, 2 transactions\n"
            "- to see it again: `cupel check -l si h.jsonl`\n"
            "- smallest: without any of these operations the violation is gone\n"
            "\n<details><summary>Why</summary>\n\n```text\nlost-update (G-single): " +
                given.analysis.counterexamples[0].anomaly.explanation + "\n```\n\n</details>\n");
}

// Without time to make it small there is still an answer, in the history's own terms.
TEST(Markdown, AndSqlShowEveryRowOfARange) {
  const Case given("h.jsonl", history_of("a: w(3,5) | b: w(3,6) | c: range(1,9,[3=5 3=6 3=5])"),
                   {Level::kReadAtomic});
  for (const auto& [text, rows] :
       {std::pair(given.with(emit_markdown),
                  "`read the range 1 to 9: key 3 = 5, key 3 = 6, key 3 = 5`"),
        std::pair(given.with(emit_sql), "-- T2: saw key 3 = 5, key 3 = 6, key 3 = 5")}) {
    EXPECT_NE(text.find(rows), std::string::npos) << text;
  }
}

TEST(Markdown, ReportsWhatWasNotShrunk) {
  const Case given("h.jsonl", history_of(kLostUpdate), {Level::kSnapshotIsolation}, false);
  const auto text = given.with(emit_markdown);
  EXPECT_TRUE(text.starts_with("### lost-update (G-single) violates snapshot-isolation\n")) << text;
  EXPECT_EQ(text.find("No counterexample"), std::string::npos);
  const auto script = given.with(emit_sql);
  EXPECT_TRUE(script.starts_with("-- lost-update (G-single) in h.jsonl was not made small"))
      << script;
}

TEST(Markdown, SaysWhatIsSatisfied) {
  const Case given("h.jsonl", history_of("a: w(x,1) | b: r(x,1)"), {Level::kSerializable});
  EXPECT_EQ(given.with(emit_markdown),
            "No counterexample in `h.jsonl`: strongest satisfied: serializable\n");
}

constexpr std::string_view kHostile[] = {
    "a|b",
    "`code` ``more``",
    "<script>alert(1)</script>",
    "line\nbreak\r\n\t",
    "'; drop table users; --",
    "\\'; drop table users; --",
    "]]> & \"quotes\"",
    "@octocat #1 https://example.org/ [x](y) **b** _i_ $m$",
    "\x01\x7f\xff\xfe",
    "${jndi} ::error::x %0A",
    "\x1b[2J\x1b]0;x\x07 \xc2\x9b"
    "31m \xe2\x80\xae \xe2\x80\xa8",
    "",
};

// A lost update on a key, by values, in sessions, all with that text in their names.
History hostile(std::string_view text, const std::string& database = "PostgreSQL 15") {
  HistoryBuilder b;
  const auto key = b.key(ScalarView::of(text));
  b.set_metadata("database", database + std::string(text));
  b.set_metadata("isolation", "repeatable read");
  for (int i = 0; i < 2; ++i) {
    b.begin(b.session(std::string(text) + std::to_string(i)), history::TxnStatus::kCommitted,
            {.label = static_cast<std::uint32_t>(i)});
    b.read(key, b.null_value());
    b.write(key, b.value(ScalarView::of(std::string_view(std::string(text) + std::to_string(i)))));
    b.end();
  }
  return std::move(b).finish().value();
}

TEST(Markdown, HostileTextStaysInItsCell) {
  for (const auto text : kHostile) {
    const Case given("f", hostile(text), {Level::kSnapshotIsolation});
    const auto markdown = given.with(emit_markdown);
    std::istringstream in(markdown);
    int rows = 0;
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("```")) break;  // what follows is a block of code
      // Outside code nothing of it may be markup.
      const auto bare = std::regex_replace(line, std::regex("(`+)(.*?[^`])\\1(?!`)"), "");
      EXPECT_EQ(bare.find("<script"), std::string::npos) << line;
      EXPECT_FALSE(std::regex_search(bare, std::regex("@octocat|#1|https://|[^\\\\]\\]\\(")))
          << line;
      if (!line.starts_with("|")) continue;
      ++rows;
      // Four bars that are no text: three columns.
      int bars = 0;
      for (std::size_t i = 0; i < line.size(); ++i) {
        bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1 : 0;
      }
      EXPECT_EQ(bars, 4) << line;
    }
    EXPECT_EQ(rows, 7) << markdown;
  }
}

TEST(Markdown, CodeOutlivesItsBackticks) {
  EXPECT_EQ(markdown_code("a`b"), "``a`b``");
  EXPECT_EQ(markdown_code("`a``"), "``` `a`` ```");
  EXPECT_EQ(markdown_code(""), "`  `");
  EXPECT_EQ(markdown_block("x\n```\ny"), "````text\nx\n```\ny\n````\n");
  EXPECT_EQ(markdown_text("*a* <b> @me a@ C#1"), "\\*a\\* &lt;b&gt; @<!-- -->me a@ C#<!-- -->1");
}

// ---- SQL

TEST(Sql, IsAScriptInTheMannerOfHermitage) {
  Case given("h.jsonl", history_of(kLostUpdate), {Level::kSnapshotIsolation});
  EXPECT_EQ(given.with(emit_sql),
            "-- lost-update (G-single): An update was lost. T0 and T1 both read x = 0 and both "
            "wrote x. They are concurrent: neither is visible to the other. The later update "
            "overwrote the earlier one.\n"
            "-- Violates snapshot-isolation.\n"
            "-- Found by: cupel check -l si h.jsonl\n"
            "-- 2 connections, for: T0; T1. Issue the lines in this order, each on the\n"
            "-- connection of the transaction that its comment names. A database that gives\n"
            "-- the level waits, fails or returns other values at one of them.\n"
            "\n"
            "create table cupel_example (id text primary key, value bigint);\n"
            "insert into cupel_example (id, value) values ('x', 0);\n"
            "\n"
            "begin transaction isolation level repeatable read; -- T0\n"
            "select value from cupel_example where id = 'x'; -- T0: saw 0\n"
            "update cupel_example set value = 1 where id = 'x'; -- T0\n"
            "begin transaction isolation level repeatable read; -- T1\n"
            "select value from cupel_example where id = 'x'; -- T1: saw 0\n"
            "commit; -- T0\n"
            "update cupel_example set value = 2 where id = 'x'; -- T1\n"
            "commit; -- T1\n"
            "\n"
            "drop table cupel_example;\n");
}

TEST(Sql, SpeaksMysqlWhereTheDatabaseDoes) {
  HistoryBuilder b;
  b.set_metadata("database", "MariaDB 10.11");
  b.set_metadata("isolation", "repeatable read");
  b.set_metadata("settings", "innodb_snapshot_isolation=ON");
  const auto x = b.key(7);
  for (int i = 0; i < 2; ++i) {
    b.begin(b.session(std::to_string(i)), history::TxnStatus::kCommitted);
    b.list_read(x, {});
    b.append(x, b.value(i));
    b.end();
  }
  const Case given("f", std::move(b).finish().value(), {Level::kSnapshotIsolation});
  const auto sql = given.with(emit_sql);
  EXPECT_NE(sql.find("(id bigint primary key, value text)"), std::string::npos) << sql;
  EXPECT_NE(sql.find("set transaction isolation level repeatable read; -- T0"), std::string::npos);
  EXPECT_NE(sql.find("set session innodb_snapshot_isolation = on"), std::string::npos);
  EXPECT_NE(sql.find("set value = concat(value, ' 1') where id = 7;"), std::string::npos) << sql;
  EXPECT_NE(sql.find("saw []"), std::string::npos) << sql;
}

TEST(Sql, QuotesByDialect) {
  EXPECT_EQ(sql_string("it's", Dialect::kPostgres), "'it''s'");
  EXPECT_EQ(sql_string("a\\'b", Dialect::kPostgres), "E'a\\\\''b'");
  EXPECT_EQ(sql_string("a\\'b", Dialect::kMysql), "'a\\\\''b'");
  EXPECT_EQ(sql_string("a\nb", Dialect::kPostgres), "E'a\\nb'");
  EXPECT_EQ(sql_string("\xff", Dialect::kMysql), "'\xef\xbf\xbd'");
  EXPECT_EQ(sql_string("\x1b[2J'", Dialect::kPostgres), R"(E'\x1b[2J''')");
  EXPECT_EQ(sql_string("\x1b[2J'", Dialect::kMysql), "cast(x'1b5b324a27' as char)");
  EXPECT_EQ(sql_string("\xe2\x80\xae", Dialect::kPostgres), R"(E'\xe2\x80\xae')");
}

// The number 5 and the text "5" are two keys, and stay two.
TEST(Sql, KeysThatLookAlikeStayApart) {
  HistoryBuilder b;
  const auto number = b.key(5), text = b.key(ScalarView::of(std::string_view("5")));
  for (int i = 0; i < 2; ++i) {
    b.begin(b.session(std::to_string(i)), history::TxnStatus::kCommitted);
    b.read(number, b.null_value());
    b.read(text, b.null_value());
    b.write(i == 0 ? number : text, b.value(1));
    b.end();
  }
  const Case given("f", std::move(b).finish().value(), {Level::kSerializable});
  const auto sql = given.with(emit_sql);
  EXPECT_NE(sql.find("('5', null), ('\"5\"', null)"), std::string::npos) << sql;
}

std::string run(const std::string& command, const std::string& input, int& code) {
  const test::ScratchFolder folder;
  const auto in = folder.file("in", input);
  FILE* pipe = popen((command + " <'" + in + "' 2>&1").c_str(), "r");
  std::string out;
  char buffer[4096];
  for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
  code = pclose(pipe);
  return out;
}

// On one connection, turns or not, each statement is understood: with a transaction
// given up, because SQLite has no isolation levels, and no E'' strings.
TEST(Sql, SqliteUnderstandsEveryStatement) {
  std::vector<std::string> texts = {
      kLostUpdate,
      kWriteSkew,
      "a: l(x,[]) a(x,1) | b: l(x,[]) a(x,2)",
      "a: range(1,9,[]) i(1,5) | b: range(1,9,[]) i(2,6)",
      "init=0 a: cas(x,0,1) | b: cas(x,0,2) ; cas!(x,0,3)",
      "a: range(1,9,[]) i(1,5) d(1) w(3,3) | b: range(1,9,[]) i(2,6)",
      "a: !w(x,1) | b: r(x,1)",
  };
  for (const auto& text : texts) {
    const Case given("f", history_of(text),
                     {text[0] == 'a' && text[3] == '!' ? Level::kReadCommitted
                                                       : Level::kStrongSessionSerializable});
    auto sql = given.with(emit_sql);
    ASSERT_NE(sql.find("create table"), std::string::npos) << text;
    sql = std::regex_replace(
        sql, std::regex("(begin transaction isolation level [a-z ]+|commit|rollback);"), ";");
    int code = 0;
    const auto out = run("sqlite3 -bail :memory:", sql, code);
    EXPECT_EQ(code, 0) << out << "\n" << sql;
  }
  for (const auto text : kHostile) {
    // As MySQL's, whose strings are SQLite's but for what a backslash means.
    const Case given("f", hostile(text, "MariaDB "), {Level::kSnapshotIsolation});
    auto sql = given.with(emit_sql);
    sql = std::regex_replace(
        sql, std::regex("(set transaction isolation level [a-z ]+|begin|commit);"), ";");
    sql += "select count(*) from sqlite_master;\n";
    int code = 0;
    const auto out = run("sqlite3 -bail :memory:", sql, code);
    EXPECT_EQ(code, 0) << out << "\n" << sql;
    EXPECT_TRUE(out.ends_with("0\n")) << out;  // the script's table came and went
  }
}

// ---- JUnit

int count(const std::string& text, const std::string& what) {
  int n = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++n;
  return n;
}

TEST(JunitXml, HasACaseForEachLevelAndFile) {
  Case given("dir/h.jsonl", history_of(kLostUpdate),
             {Level::kPrefix, Level::kSnapshotIsolation, Level::kSerializable,
              Level::kStrictSerializable});
  given.analysis.check.levels.emplace_back().level = Level::kCausal;
  given.analysis.check.levels.back().detail = "time limit met";
  Junit junit;
  given.with([&](const Emission& e) {
    junit.add(e);
    return 0;
  });
  junit.add("gone.jsonl", base::Error{.message = "no such <file>", .file = "gone.jsonl"});
  const auto xml = junit.text();
  EXPECT_NE(
      xml.find("<testsuites name=\"cupel\" tests=\"6\" failures=\"2\" errors=\"2\" skipped=\"1\""),
      std::string::npos)
      << xml;
  EXPECT_NE(xml.find("<testcase classname=\"dir/h.jsonl\" name=\"prefix\""), std::string::npos);
  EXPECT_NE(xml.find("<failure type=\"lost-update\" message=\"lost-update (G-single): An update"),
            std::string::npos)
      << xml;
  EXPECT_NE(xml.find("<skipped message=\"refused: needs"), std::string::npos) << xml;
  EXPECT_NE(xml.find("gone.jsonl: no such &lt;file&gt;"), std::string::npos) << xml;
}

TEST(JunitXml, LostWritesAreACaseOfTheirOwn) {
  Case given("h", history_of("init=0 a: w(x,1) | b: r(x,1)"), {});
  const auto text = [&] {
    Junit junit;
    given.with([&](const Emission& e) {
      junit.add(e);
      return 0;
    });
    return junit.text();
  };
  EXPECT_EQ(text().find("final-reads"), std::string::npos);
  analysis::FinalReads reads;
  reads.nodes = {{.name = "n", .session = history::SessionId(1)}};
  reads.keys = 1;
  given.analysis.final_reads = reads;
  EXPECT_NE(text().find("name=\"final-reads\" time=\"0.000\"/>"), std::string::npos) << text();
  reads.lost.push_back({.key = history::KeyId(0),
                        .writes = 1,
                        .last = history::OpId(0),
                        .found = {history::OpId(1)}});
  given.analysis.final_reads = reads;
  EXPECT_NE(text().find("failures=\"1\""), std::string::npos) << text();
  EXPECT_NE(text().find("<failure type=\"lost-write\" message=\"acknowledged writes are lost\">"),
            std::string::npos)
      << text();
  EXPECT_NE(given.with([](const Emission& e) { return verdict_of(e.checked); })
                .find("; acknowledged writes are lost"),
            std::string::npos);
}

TEST(JunitXml, ReportsAViolationAtItsLevelAndRefersToItAtTheOthers) {
  const Case given("h", history_of(kLostUpdate), {});
  Junit junit;
  given.with([&](const Emission& e) {
    junit.add(e);
    return 0;
  });
  const auto xml = junit.text();
  EXPECT_NE(
      xml.find("message=\"because snapshot-isolation is violated: lost-update (G-single): An"),
      std::string::npos)
      << xml;
  EXPECT_EQ(count(xml, "a contradiction!"), 1) << xml;
}

TEST(JunitXml, IsWellFormedWhateverTheText) {
  for (const auto text : kHostile) {
    const Case given(std::string(text) + "\xc3.jsonl", hostile(text), {Level::kSnapshotIsolation});
    Junit junit;
    given.with([&](const Emission& e) {
      junit.add(e);
      return 0;
    });
    int code = 0;
    const auto out = run("xmllint --noout -", junit.text(), code);
    EXPECT_EQ(code, 0) << out << junit.text();
    EXPECT_EQ(count(junit.text(), "<testcase "), 1);
    EXPECT_EQ(count(junit.text(), "<failure "), 1);
  }
  EXPECT_EQ(text::xml_text("\xef\xbf\xbf\x01\x7f"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

// ---- SARIF

// What the schema of SARIF 2.1.0 requires of the objects that are written.
void expect_sarif(const nlohmann::json& log) {
  ASSERT_EQ(log.at("version"), "2.1.0");
  ASSERT_TRUE(log.at("runs").is_array());
  const auto location = [](const nlohmann::json& one) {
    const auto& physical = one.at("physicalLocation");
    const auto uri = physical.at("artifactLocation").at("uri").get<std::string>();
    EXPECT_TRUE(std::regex_match(uri, std::regex("(file://)?([A-Za-z0-9._~/-]|%[0-9A-F]{2})*")))
        << uri;
    if (physical.contains("region")) {
      EXPECT_GE(physical["region"].at("startLine").get<int>(), 1);
    }
  };
  for (const auto& run : log["runs"]) {
    const auto& driver = run.at("tool").at("driver");
    EXPECT_FALSE(driver.at("name").get<std::string>().empty());
    std::set<std::string> ids;
    for (const auto& rule : driver.at("rules")) {
      EXPECT_TRUE(ids.insert(rule.at("id").get<std::string>()).second) << "ids are unique";
      for (const char* name : {"shortDescription", "fullDescription", "help"}) {
        if (rule.contains(name)) {
          EXPECT_TRUE(rule[name].at("text").is_string());
        }
      }
    }
    for (const auto& result : run.at("results")) {
      EXPECT_TRUE(result.at("message").at("text").is_string());
      EXPECT_EQ(result.at("level"), "error");
      EXPECT_EQ(driver["rules"].at(result.at("ruleIndex").get<std::size_t>()).at("id"),
                result.at("ruleId"));
      for (const auto& one : result.at("locations")) location(one);
      if (result.contains("relatedLocations")) {
        for (const auto& one : result["relatedLocations"]) location(one);
      }
    }
    for (const auto& invocation : run.at("invocations")) {
      EXPECT_TRUE(invocation.at("executionSuccessful").is_boolean());
      if (!invocation.contains("toolExecutionNotifications")) continue;
      for (const auto& one : invocation["toolExecutionNotifications"]) {
        EXPECT_TRUE(one.at("message").at("text").is_string());
      }
    }
  }
}

TEST(SarifLog, HasAResultForEachViolation) {
  const Case given("dir/my h.jsonl", history_of(kLostUpdate),
                   {Level::kSnapshotIsolation, Level::kSerializable});
  Sarif sarif("1.2.3");
  given.with(
      [&](const Emission& e) {
        sarif.add(e);
        return 0;
      },
      {{1, 17}});
  sarif.add("gone", base::Error{.message = "no such file", .file = "gone"});
  const auto log = nlohmann::json::parse(sarif.text());
  expect_sarif(log);
  const auto& run = log["runs"][0];
  EXPECT_EQ(run["tool"]["driver"]["version"], "1.2.3");
  ASSERT_EQ(run["results"].size(), 1u);
  const auto& result = run["results"][0];
  EXPECT_EQ(result["ruleId"], "lost-update");
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "dir/my%20h.jsonl");
  EXPECT_FALSE(result["locations"][0]["physicalLocation"].contains("region"));
  EXPECT_EQ(result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 17);
  EXPECT_FALSE(run["invocations"][0]["executionSuccessful"].get<bool>());
}

TEST(SarifLog, BracesAreNoPlaceholders) {
  const Case given("h", hostile("{0} {"), {Level::kSnapshotIsolation});
  Sarif sarif("0");
  given.with([&](const Emission& e) {
    sarif.add(e);
    return 0;
  });
  sarif.add("gone", base::Error{.message = "found `}`", .file = "gone"});
  const auto log = nlohmann::json::parse(sarif.text());
  expect_sarif(log);
  const auto& run = log["runs"][0];
  const auto text = run["results"][0]["message"]["text"].get<std::string>();
  EXPECT_NE(text.find("{{0}} {{"), std::string::npos) << text;
  EXPECT_FALSE(std::regex_search(text, std::regex("(^|[^{])\\{([^{]|$)"))) << text;
  EXPECT_NE(log.dump().find("found `}}`"), std::string::npos);
}

// A lost update, which the check comes upon, and a write skew of others.
TEST(Findings, OfTheWholeHistoryAreInEveryFormat) {
  for (const bool shrunk : {true, false}) {
    Case given("h", history_of(kLostUpdate),
               {Level::kPrefix, Level::kSnapshotIsolation, Level::kSerializable}, shrunk);
    // As the analysis of the whole history would find it, made small or not.
    const Case skew("h", history_of(kWriteSkew), {Level::kSerializable});
    counts::WholeHistory analysis;
    counts::RootCause own{
        Level::kSnapshotIsolation, {}, "lost-update", "G-single", {}, 2, 1, true, {}};
    analysis.causes.found.push_back(own);
    counts::RootCause other{Level::kSerializable,
                            {},
                            "write-skew",
                            "G2-item",
                            {},
                            2,
                            1,
                            false,
                            skew.analysis.counterexamples.front()};
    analysis.causes.found.push_back(other);
    given.analysis.whole_history = analysis;
    const auto checked = given.checked();
    const Emission emission{checked, "cupel check h"};

    Sarif sarif("0");
    sarif.add(emission);
    const auto log = nlohmann::json::parse(sarif.text());
    expect_sarif(log);
    const auto& results = log["runs"][0]["results"];
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(results[0]["ruleId"], "lost-update");
    EXPECT_EQ(results[1]["ruleId"], "write-skew");
    EXPECT_EQ(results[1]["properties"]["isolationLevel"], "serializable");

    Junit junit;
    junit.add(emission);
    EXPECT_EQ(count(junit.text(), "Apart from that, write-skew"), 1) << junit.text();
    EXPECT_EQ(count(junit.text(), "<failure "), 2);

    EXPECT_EQ(count(emit_markdown(emission), "### write-skew"), 1);
    EXPECT_EQ(count(emit_markdown(emission), "### "), 2);
    EXPECT_EQ(count(emit_sql(emission), "create table"), shrunk ? 2 : 1);
    EXPECT_EQ(count(emit_github(emission), "<b>write-skew"), 1);
    EXPECT_EQ(count(github_annotations(emission), "::error "), 2);
  }
}

TEST(Findings, LabelsAreThoseOfWhatIsEmitted) {
  Case given("h", history_of(kLostUpdate), {Level::kSnapshotIsolation});
  // The counterexample of another run of the same names: T2 and T3 instead of T0 and T1.
  const Case later("h",
                   history_of("init=0 a: r(y,0) | b: r(y,0) | c: r(x,0) w(x,1) | d: r(x,0) w(x,2)"),
                   {Level::kSnapshotIsolation});
  given.analysis.counterexamples = later.analysis.counterexamples;
  const auto found = labels_of(given.checked());
  EXPECT_EQ(std::set<std::uint32_t>(found.begin(), found.end()), (std::set<std::uint32_t>{2, 3}));
}

TEST(Findings, NoMoreThanAreAskedFor) {
  const Case given("h", history_of("a: r(x,7) | b: r(x,8) | c: r(x,9)"), {Level::kReadCommitted},
                   false);
  EXPECT_EQ(findings_of(given.checked(), 1).size(), 1u);
  EXPECT_EQ(findings_of(given.checked(), 2).size(), 2u);
  EXPECT_EQ(findings_of(given.checked(), 9).size(), 3u);
}

// "lost-update@snapshot-isolation", in the order in which they are reported.
std::string reported(const Checked& checked) {
  std::string text;
  for (const auto& finding : findings_of(checked)) {
    if (!text.empty()) text += ' ';
    text += finding.anomaly.name + "@" + std::string(levels::name(finding.level)) +
            (finding.small != nullptr ? "" : "*");  // not made small
  }
  return text;
}

// Every format reports these, and only these, in this order.
void expect_everywhere(const Checked& checked, const std::vector<std::string>& names) {
  const Emission emission{checked, "cupel check h"};
  Sarif sarif("0");
  sarif.add(emission);
  const auto log = nlohmann::json::parse(sarif.text());
  expect_sarif(log);
  std::vector<std::string> rules;
  for (const auto& result : log["runs"][0]["results"]) rules.push_back(result["ruleId"]);
  EXPECT_EQ(rules, names);
  const auto files = report_files(checked);
  const std::pair<std::string, std::string> texts[] = {
      {emit_markdown(emission), "### "},
      {emit_github(emission), "<summary><b>"},
      {github_annotations(emission), ",title="},
      {files.front().bytes, "-title\">"},
  };
  for (const auto& [text, before] : texts) {
    std::size_t at = 0;
    for (const auto& name : names) {
      const auto next = text.find(before + name, at);
      ASSERT_NE(next, std::string::npos) << name << " in " << text;
      at = next + 1;
    }
    if (before == "### ") {
      EXPECT_EQ(count(text, before), static_cast<int>(names.size()));
    }
  }
}

constexpr const char* kCircleOfThree =
    "init=0 a: r(x,0) w(y,1) | b: r(y,0) w(z,1) | c: r(z,0) w(x,1)";

// The check finds a cycle of three, the analysis of the whole history a write skew of two besides.
TEST(Findings, BeginWithTheMostSevereAndSmallest) {
  const Case skew("h", history_of(kWriteSkew), {Level::kSerializable});
  for (const bool shrunk : {true, false}) {
    Case given("h", history_of(kCircleOfThree), {Level::kSerializable}, shrunk);
    counts::WholeHistory analysis;
    counts::RootCause other{Level::kSerializable,
                            {},
                            "write-skew",
                            "G2-item",
                            {},
                            2,
                            1,
                            false,
                            skew.analysis.counterexamples.front()};
    analysis.causes.found.push_back(other);
    counts::RootCause own{Level::kSerializable, {}, "G2-item", "G2-item", {}, 3, 1, true, {}};
    analysis.causes.found.push_back(own);
    given.analysis.whole_history = analysis;
    const auto checked = given.checked();
    EXPECT_EQ(reported(checked), shrunk ? "write-skew@serializable G2-item@serializable"
                                        : "write-skew@serializable G2-item@serializable*");
    expect_everywhere(checked, {"write-skew", "G2-item"});

    const Emission emission{checked, "cupel check h"};
    Junit junit;
    junit.add(emission);
    EXPECT_NE(junit.text().find("<failure type=\"write-skew\" message=\"write-skew (G2-item): "),
              std::string::npos)
        << junit.text();
    EXPECT_EQ(count(junit.text(), "Apart from that, G2-item"), 1) << junit.text();
    const auto sql = emit_sql(emission);
    EXPECT_TRUE(sql.starts_with("-- write-skew (G2-item): ")) << sql;
    EXPECT_EQ(count(sql, "-- G2-item in h was not made small enough"), shrunk ? 0 : 1) << sql;
  }
}

// Without the analysis the order is the same: two levels, of which neither implies the other.
constexpr const char* kStaleAndSkewed =
    "init=0 a: w(v,1) @0-10 | b: r(v,0) @20-30 | "
    "c: r(x,0) r(y,0) w(x,1) @0-30 | d: r(x,0) r(y,0) w(y,1) @0-30";

TEST(Findings, OfALevelStayWhereAnotherWasMadeSmall) {
  Case given("h", history_of(kStaleAndSkewed),
             {Level::kStrongSnapshotIsolation, Level::kSerializable});
  ASSERT_EQ(given.analysis.counterexamples.size(), 2u);
  const auto names = [](const Checked& checked) {
    std::vector<std::string> all;
    for (const auto& finding : findings_of(checked)) all.push_back(finding.anomaly.name);
    return all;
  };
  const auto both = names(given.checked());
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[1], "write-skew");
  const auto examples = given.analysis.counterexamples;
  for (const auto& one : examples) {
    given.analysis.counterexamples = {one};
    const bool first = one.level == Level::kStrongSnapshotIsolation;
    EXPECT_EQ(reported(given.checked()), both[0] + "@strong-snapshot-isolation" +
                                             (first ? "" : "*") + " write-skew@serializable" +
                                             (first ? "*" : ""));
    expect_everywhere(given.checked(), both);
    // No script for the other, which is said.
    const auto sql = given.with(emit_sql);
    EXPECT_EQ(count(sql, "create table"), 1) << sql;
    EXPECT_EQ(count(sql, "was not made small enough"), 1) << sql;
  }
}

// The same fractured read violates two levels, and was made small at one or none of them.
TEST(Findings, ReportOneViolationOfTwoLevelsOnceShrunkOrNot) {
  Case given("h", history_of("init=0 z: w(q,7) | y: r(q,7) | a: w(x,1) w(y,1) | b: r(y,0) r(x,1)"),
             {Level::kReadAtomic, Level::kSnapshotIsolation}, false);
  ASSERT_EQ(given.analysis.check.weakest_violated.size(), 2u);
  EXPECT_EQ(reported(given.checked()), "fractured-read@read-atomic*");
  for (const auto level : {Level::kReadAtomic, Level::kSnapshotIsolation}) {
    // A part, with other numbers for transactions and keys.
    auto small = counterexample_of(history_of("init=0 a: w(x,1) w(y,1) | b: r(y,0) r(x,1)"), level);
    small.original_txn = {TxnId(2), TxnId(3)};
    small.original_op = {OpId(2), OpId(3), OpId(4), OpId(5)};
    given.analysis.counterexamples = {small};
    EXPECT_EQ(reported(given.checked()), "fractured-read@" + std::string(levels::name(level)));
    const auto all = findings_of(given.checked());
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].levels, (std::vector<Level>{Level::kReadAtomic, Level::kSnapshotIsolation}));
    expect_everywhere(given.checked(), {"fractured-read"});
    Junit junit;
    given.with([&](const Emission& e) {
      junit.add(e);
      return 0;
    });
    EXPECT_EQ(count(junit.text(), "<failure type=\"fractured-read\""), 2) << junit.text();
    EXPECT_EQ(count(junit.text(), "because snapshot-isolation is"), 0) << junit.text();
  }
}

// What the check came upon at a level that is not among the weakest is a cause as well,
// where the analysis of the whole history says so.
TEST(Findings, HoldTheChecksOwnOfStrongerLevels) {
  Case given("h", history_of(kStaleAndSkewed), {Level::kSerializable, Level::kStrictSerializable},
             false);
  ASSERT_EQ(given.analysis.check.weakest_violated, std::vector{Level::kSerializable});
  const Case stale("h", history_of("init=0 a: w(v,1) @0-10 | b: r(v,0) @20-30"),
                   {Level::kStrictSerializable});
  counts::WholeHistory analysis;
  counts::RootCause first{Level::kSerializable, {}, "write-skew", "G2-item", {}, 2, 1, true, {}};
  analysis.causes.found.push_back(first);
  counts::RootCause second{Level::kStrictSerializable,
                           *stale.analysis.check.levels.back().violation,
                           "",
                           "",
                           {},
                           2,
                           1,
                           true,
                           stale.analysis.counterexamples.front()};
  second.name = stale.analysis.counterexamples.front().anomaly.name;
  analysis.causes.found.push_back(second);
  const auto checked = given.checked();
  EXPECT_EQ(reported(checked), "write-skew@serializable*");
  given.analysis.whole_history = analysis;
  EXPECT_EQ(reported(checked), "write-skew@serializable* " + second.name + "@strict-serializable");
}

TEST(SarifLog, IsValidWhateverTheTextAndWithoutCounterexamples) {
  for (const bool shrunk : {true, false}) {
    Sarif sarif("0");
    for (const auto text : kHostile) {
      const Case given("/tmp/" + std::string(text), hostile(text), {Level::kSnapshotIsolation},
                       shrunk);
      given.with([&](const Emission& e) {
        sarif.add(e);
        return 0;
      });
    }
    const auto log = nlohmann::json::parse(sarif.text());
    expect_sarif(log);
    EXPECT_EQ(log["runs"][0]["results"].size(), std::size(kHostile));
    EXPECT_EQ(log["runs"][0]["tool"]["driver"]["rules"].size(), 1u);
  }
}

// ---- GitHub

TEST(Github, SummaryFoldsTheDetails) {
  const Case given("h.jsonl", history_of(kLostUpdate), {Level::kPrefix, Level::kSnapshotIsolation});
  const auto text = given.with([](const Emission& e) { return emit_github(e); });
  EXPECT_TRUE(
      text.starts_with("### cupel: `h.jsonl`\n\nstrongest satisfied: prefix; weakest violated: "
                       "snapshot-isolation\n\n"
                       "<details><summary><b>lost-update (G-single)</b> violates "
                       "snapshot-isolation</summary>\n\n"))
      << text;
  EXPECT_NE(text.find("| snapshot-isolation | ❌ violated |"), std::string::npos) << text;
  EXPECT_EQ(count(text, "<details>"), count(text, "</details>"));
  EXPECT_EQ(count(text, "<details>"), 2);
}

TEST(Github, AnnotationsAreOneLineEach) {
  for (const auto text : kHostile) {
    const Case given(std::string(text) + ",a:b", hostile(text), {Level::kSnapshotIsolation});
    const auto lines = given.with(github_annotations, {{0, 5}});
    EXPECT_EQ(count(lines, "\n"), 1) << lines;
    EXPECT_EQ(lines.find('\r'), std::string::npos);
    EXPECT_TRUE(
        std::regex_search(lines, std::regex("^::error file=[^:,]*%2Ca%3Ab,line=5,title=[^:,]*::")))
        << lines;
  }
  EXPECT_EQ(github_annotation("f", base::Error{.message = "bad", .file = "f", .line = 3}),
            "::error file=f,line=3,title=cupel could not check::f:3: bad\n");
}

}  // namespace
}  // namespace cupel::report
