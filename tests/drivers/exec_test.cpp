// exec: the example client passes the conformance suite; and what becomes of clients
// that fail, fall silent, die, or talk nonsense.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "drivers/conformance.hpp"
#include "source_dir.hpp"
#include "support/process_event.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::drivers::testing {
namespace {

using workload::ColumnType;
using workload::Datum;
using workload::kv_schema;
using workload::Reply;
using workload::Statement;

// Of this process.
std::string folder() {
  static const test::ScratchFolder made;
  return made.path();
}

const std::string kExample = std::string("exec:python3 ") + CUPEL_SOURCE_DIR +
                             "/examples/exec_client.py " + folder() + "/example.db";

INSTANTIATE_TEST_SUITE_P(Exec, Conformance,
                         ::testing::Values(Subject{.name = "Example",
                                                   .open = [] { return open(kExample, {}); }}),
                         subject_name);

// A client in shell: answers the empty transaction of open(), and every later line
// by the script, which finds it in $line.
std::string client(const std::string& script) {
  return "exec:"
         R"(while read -r line; do case "$line" in '{"value":[]}') )"
         R"(echo '{"type":"ok","value":[],"database":"Shell","version":"7"}';; *) )" +
         script + ";; esac; done";
}

struct Asked {
  std::string outcome;
  std::string again;  // of the same once more, on the same connection
  std::vector<std::string> replies;
};

Asked ask(const std::string& url, const std::vector<Statement>& statements, double timeout = 20) {
  auto database = open(url, {.isolation = {}, .statement_timeout = timeout});
  if (!database.ok()) return {"open: " + database.error().to_string(), "", {}};
  auto connection = (*database)->connect(0);
  if (!connection.ok()) return {"connect: " + connection.error().to_string(), "", {}};
  std::vector<Reply> replies;
  Asked asked{shown((*connection)->transact(statements, replies)), "", {}};
  for (const auto& reply : replies) asked.replies.push_back(shown(reply));
  asked.again = shown((*connection)->transact(statements, replies));
  return asked;
}

const std::string kEnded =
    "aborted, connection lost, : the client was ended before (connection lost)";

TEST(Exec, FailIsAbortedAndInfoIsUnknown) {
  auto asked = ask(client(R"(echo '{"type":"fail","error":"lost a race"}')"), {write(1, 2)});
  EXPECT_EQ(asked.outcome, "aborted, conflict, fail: lost a race");
  EXPECT_EQ(asked.again, asked.outcome);  // the client goes on
  asked =
      ask(client(R"(echo '{"type":"fail","error":"constraint: there already"}')"), {write(1, 2)});
  EXPECT_EQ(asked.outcome, "aborted, constraint, fail: constraint: there already");
  asked = ask(client(R"(echo '{"type":"info","error":{"code":7}}')"), {write(1, 2)});
  EXPECT_EQ(asked.outcome, R"(unknown, timeout, info: {"code":7})");
  asked = ask(client(R"(echo '{"type":"info"}')"), {write(1, 2)});
  EXPECT_EQ(asked.outcome, "unknown, timeout, info: the client gives no reason");
}

TEST(Exec, SaysWhatTheClientSaysOfItself) {
  auto database = open(client("exit"), {.isolation = "causal"});
  ASSERT_TRUE(database.ok()) << database.error().to_string();
  const auto facts = (*database)->facts();
  EXPECT_EQ(facts.product, "Shell");
  EXPECT_EQ(facts.version, "7");
  EXPECT_EQ(facts.isolation, "causal");
}

TEST(Exec, TheClientKnowsItsSessionAndIsolation) {
  const auto url =
      client(R"(echo '{"type":"ok","value":[["r",1,"'$CUPEL_SESSION' at '$CUPEL_ISOLATION'"]]}')");
  auto database = open(url, {.isolation = "snapshot"});
  ASSERT_TRUE(database.ok()) << database.error().to_string();
  EXPECT_EQ(run(**(*database)->connect(12), {read(1)}),
            (std::vector<std::string>{R"(1="12 at snapshot")"}));
}

TEST(Exec, WhatNoOneWroteIsRecordedAsItCame) {
  const auto answer = [](const std::string& value) {
    return ask(client(fmt::format(R"(echo '{{"type":"ok","value":[["r",1,{}]]}}')", value)),
               {read(1)})
        .replies;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(answer("1.5"), Texts{R"(1="1.5")"});
  EXPECT_EQ(answer("true"), Texts{R"(1="true")"});
  EXPECT_EQ(answer("18446744073709551615"), Texts{R"(1="18446744073709551615")"});
  EXPECT_EQ(answer(R"({"a":[1]})"), Texts{R"(1="{"a":[1]}")"});
  EXPECT_EQ(answer(R"([1,"x",null])"), Texts{R"([1 "x" null])"});
  EXPECT_EQ(answer("null"), Texts{""});
}

TEST(Exec, SilenceIsUnknownAndEndsTheClient) {
  const auto began = std::chrono::steady_clock::now();
  const auto asked = ask(client("sleep 1000"), {write(1, 2)}, 1.5);
  EXPECT_EQ(asked.outcome,
            "unknown, timeout, : the client did not answer in 1.5 s (connection lost)");
  EXPECT_EQ(asked.again, kEnded);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(15));
}

TEST(Exec, DeathAfterTheLineIsUnknown) {
  auto asked = ask(client("exit 9"), {write(1, 2)});
  EXPECT_EQ(
      asked.outcome,
      "unknown, connection lost, : the client exited with 9 and did not answer (connection lost)");
  EXPECT_EQ(asked.again, kEnded);
  asked = ask(client("kill -9 $$"), {write(1, 2)});
  EXPECT_EQ(asked.outcome,
            "unknown, connection lost, : the client was ended by signal 9 (Killed) and did not "
            "answer (connection lost)");
}

TEST(Exec, DeathBeforeTheLineIsAborted) {
  // Answers once and is gone; the second transaction never reaches anyone.
  const auto url = client("echo $$ >" + folder() + "/client.pid; " +
                          R"(echo '{"type":"ok","value":[["w",1,2]]}'; exit 4)");
  auto database = open(url, {});
  ASSERT_TRUE(database.ok()) << database.error().to_string();
  auto connection = (*database)->connect(0);
  ASSERT_TRUE(connection.ok());
  run(**connection, {write(1, 2)});
  std::vector<Reply> replies;
  const std::vector<Statement> statements{write(1, 2)};
  pid_t id = 0;
  std::ifstream(folder() + "/client.pid") >> id;
  ASSERT_TRUE(test::wait_for_end(id));
  EXPECT_EQ(shown((*connection)->transact(statements, replies)),
            "aborted, connection lost, : the client exited with 4 (connection lost)");
}

TEST(Exec, NonsenseNamesItsLine) {
  const auto expect = [](const std::string& answer, const std::string& expected) {
    const auto asked = ask(client("echo '" + answer + "'"), {write(1, 2)});
    EXPECT_EQ(
        asked.outcome,
        fmt::format("unknown, statement refused, : line 1 of the client's output: found `{}`, "
                    "expected {} (connection lost)",
                    answer, expected));
    EXPECT_EQ(asked.again, kEnded);
  };
  expect("hello", "a JSON object");
  expect("[1]", "a JSON object");
  expect(R"({"type":"ok","value":[["w",1,2]])", "a JSON object");
  expect("{}", R"(a `type` of "ok", "fail" or "info")");
  expect(R"({"type":"OK"})", R"(a `type` of "ok", "fail" or "info")");
  expect(R"({"type":"ok"})", "a `value` with an operation for each that was asked");
  expect(R"({"type":"ok","value":[]})", "a `value` with an operation for each that was asked");

  const auto answers = [](const std::string& operation, Statement statement) {
    return ask(client(fmt::format(R"(echo '{{"type":"ok","value":[{}]}}')", operation)),
               {std::move(statement)})
        .outcome;
  };
  const auto refused = [&](const std::string& operation, Statement statement,
                           const std::string& asked) {
    EXPECT_EQ(
        answers(operation, std::move(statement)),
        fmt::format("unknown, statement refused, : line 1 of the client's output: found `{}`, "
                    "expected an answer to {} (connection lost)",
                    operation, asked));
  };
  refused(R"(["r",2,7])", read(1), R"(["r",1,null])");
  refused(R"(["w",1,7])", read(1), R"(["r",1,null])");
  refused(R"(["w",1,3])", write(1, 2), R"(["w",1,2])");
  refused(R"(["range",[1,2],[[1]]])", range(1, 2), R"(["range",[1,2],null])");
  refused(R"(["cas",1,[2,3],7])", compare_and_set(1, 2, 3), R"(["cas",1,[2,3]])");
  EXPECT_EQ(answers(R"(["cas",1,[2,3],false])", compare_and_set(1, 2, 3)), "ok");
  EXPECT_EQ(answers(R"(["delete",1,"gone"])", remove(1)), "ok");
}

TEST(Exec, ALineTooManyIsSeenBeforeTheNextIsSent) {
  const auto asked = ask(
      client(R"(printf '%s\n%s\n' '{"type":"ok","value":[["w",1,2]]}' '{"type":"ok","value":[]}')"),
      {write(1, 2)});
  EXPECT_EQ(asked.outcome, "ok");
  EXPECT_EQ(
      asked.again,
      "aborted, statement refused, : line 2 of the client's output answers nothing: found "
      R"(`{"type":"ok","value":[]}`, expected one line for each that it reads (connection lost))");
}

TEST(Exec, InteractiveTransactionsAreRefused) {
  auto database = open(client("exit"), {});
  ASSERT_TRUE(database.ok());
  EXPECT_FALSE((*database)->can().interactive);
  auto connection = (*database)->connect(0);
  ASSERT_TRUE(connection.ok());
  const auto words = "aborted, statement refused, : the exec driver runs whole transactions only";
  Reply reply;
  EXPECT_EQ(shown((*connection)->begin()), words);
  EXPECT_EQ(shown((*connection)->execute(read(1), reply)), words);
  EXPECT_EQ(shown((*connection)->commit()), words);
}

TEST(Exec, SaysWhatIsWrongWithACommand) {
  const auto message = [](const std::string& url) {
    const auto database = open(url, {.isolation = {}, .statement_timeout = 1.5});
    return database.ok() ? "opened" : database.error().to_string();
  };
  EXPECT_EQ(message("exec:"),
            "found `exec:`, expected a command after exec:, as in `exec:python3 client.py`");
  const std::string begin =
      "does not answer an empty transaction as a client of cupel must "
      "(docs/reference/drivers/exec.md): ";
  // Whether it is dead before the line is sent, or after, is a matter of luck.
  const auto missing = message("exec:no-such-program-of-cupel 2>/dev/null");
  EXPECT_EQ(missing.substr(0, missing.find(" and did not")),
            "`no-such-program-of-cupel 2>/dev/null` " + begin +
                "the client exited with 127 (command not found)");
  EXPECT_EQ(message("exec:sleep 1000"),
            "`sleep 1000` " + begin + "the client did not answer in 1.5 s");
  EXPECT_EQ(message("exec:cat"),
            "`cat` " + begin +
                "line 1 of the client's output: found `{\"value\":[]}`, expected a "
                "`type` of \"ok\", \"fail\" or \"info\"");
}

TEST(Exec, TheInitialRowsAreSentAsTransactions) {
  const auto file = folder() + "/lines";
  const auto url =
      "exec:"
      R"(while read -r line; do echo "$CUPEL_SESSION $line" >>)" +
      file + R"(; printf '{"type":"ok",%s\n' "${line#?}"; done)";  // echoes the value
  auto database = open(url, {});
  ASSERT_TRUE(database.ok()) << database.error().to_string();
  ASSERT_TRUE(
      (*database)
          ->prepare(Tables(kv_schema()).row(0, {1}, {10}).row(0, {2}, {Datum()}).row(0, {3}, {30}))
          .ok());
  ASSERT_TRUE((*database)->prepare(Tables(kv_schema(ColumnType::kList)).row(0, {1}, {10})).ok());
  std::ostringstream lines;
  lines << std::ifstream(file).rdbuf();
  EXPECT_EQ(lines.str(),
            "probe {\"value\":[]}\n"
            "setup {\"value\":[]}\nsetup {\"value\":[[\"w\",1,10],[\"w\",3,30]]}\n"
            "setup {\"value\":[]}\nsetup {\"value\":[[\"append\",1,10]]}\n");
}

}  // namespace
}  // namespace cupel::drivers::testing
