// The suite of conformance.hpp: each statement, what is absent, what is undone,
// what is seen by whom, and what a failure says.
#include "drivers/conformance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <limits>
#include <optional>
#include <thread>

#include "support/polling.hpp"

namespace cupel::drivers::testing {

using workload::ColumnType;
using workload::Datum;
using workload::kv_schema;
using workload::Needs;
using workload::Reply;
using workload::Row;
using workload::Schema;
using workload::Statement;
using workload::StatementKind;

std::string subject_name(const ::testing::TestParamInfo<Subject>& info) {
  return info.param.name;
}

Tables& Tables::row(std::uint32_t table, std::vector<Datum> key, std::vector<Datum> values) {
  rows_.resize(schema_.tables.size());
  rows_[table].push_back({std::move(key), std::move(values)});
  return *this;
}

void Tables::load(const RowSink& sink) const {
  for (std::uint32_t table = 0; table < rows_.size(); ++table) {
    for (const auto& row : rows_[table]) sink(table, row);
  }
}

Datum Tables::loaded(std::uint32_t table, const std::vector<Datum>& key,
                     std::uint32_t column) const {
  if (table >= rows_.size()) return {};
  for (const auto& row : rows_[table]) {
    if (row.key == key) return row.values[column];
  }
  return {};
}

Statement read(Datum key, std::uint32_t table) {
  return {.kind = StatementKind::kRead, .table = table, .key = {std::move(key)}};
}
Statement write(Datum key, Datum value, std::uint32_t table) {
  return {.kind = StatementKind::kWrite,
          .table = table,
          .key = {std::move(key)},
          .values = {std::move(value)}};
}
Statement insert(Datum key, Datum value) {
  return {.kind = StatementKind::kInsert, .key = {std::move(key)}, .values = {std::move(value)}};
}
Statement remove(Datum key) {
  return {.kind = StatementKind::kDelete, .key = {std::move(key)}};
}
Statement append(Datum key, Datum value) {
  return {.kind = StatementKind::kAppend, .key = {std::move(key)}, .values = {std::move(value)}};
}
Statement range(Datum low, Datum high) {
  return {.kind = StatementKind::kRange, .key = {std::move(low)}, .high = {std::move(high)}};
}
Statement compare_and_set(Datum key, Datum expected, Datum value) {
  return {.kind = StatementKind::kCompareAndSet,
          .key = {std::move(key)},
          .values = {std::move(expected), std::move(value)}};
}

namespace {

std::string shown(const std::vector<Datum>& data) {
  std::string text;
  for (const auto& datum : data) {
    // Text is quoted, so that "7" and 7 do not look alike.
    if (!text.empty()) text += ' ';
    text += std::holds_alternative<std::string>(datum) ? '"' + workload::to_string(datum) + '"'
                                                       : workload::to_string(datum);
  }
  return text;
}

}  // namespace

std::string shown(const Reply& reply) {
  std::string text;
  if (!reply.elements.empty()) text += '[' + shown(reply.elements) + ']';
  for (const auto& row : reply.rows) {
    if (!text.empty()) text += ", ";
    text += shown(row.key) + '=' + shown(row.values);
  }
  if (!reply.succeeded) text += "not set";
  return text;
}

std::string shown(const MaybeFailure& outcome) {
  if (!outcome) return "ok";
  return fmt::format("{}, {}, {}: {}{}",
                     outcome->txn_outcome == TxnOutcome::kAborted ? "aborted" : "unknown",
                     name(outcome->cause), outcome->code, outcome->message,
                     outcome->connection_lost ? " (connection lost)" : "");
}

std::unique_ptr<Database> opened(const std::string& url, const std::string& isolation,
                                 double timeout) {
  auto database = open(url, {.isolation = isolation, .statement_timeout = timeout});
  EXPECT_TRUE(database.ok()) << database.error().message;
  return database.ok() ? *std::move(database) : nullptr;
}

std::unique_ptr<Connection> connected(Database& database, std::uint32_t session) {
  auto connection = database.connect(session);
  EXPECT_TRUE(connection.ok()) << connection.error().message;
  return connection.ok() ? *std::move(connection) : nullptr;
}

Tables two_rows() {
  return Tables(workload::kv_schema()).row(0, {1}, {10}).row(0, {2}, {20});
}

std::vector<std::string> run(Connection& connection, const std::vector<Statement>& statements) {
  std::vector<Reply> replies;
  const auto outcome = connection.transact(statements, replies);
  EXPECT_FALSE(outcome) << shown(outcome);
  std::vector<std::string> texts;
  for (const auto& reply : replies) texts.push_back(shown(reply));
  return texts;
}

void Conformance::SetUp() {
  auto database = GetParam().open();
  ASSERT_TRUE(database.ok()) << database.error().to_string();
  database_ = *std::move(database);
}

void Conformance::TearDown() {
  if (database_) database_->clean();
}

void Conformance::prepare(const Tables& tables) {
  const auto status = database_->prepare(tables);
  ASSERT_TRUE(status.ok()) << status.error().to_string();
}

std::unique_ptr<Connection> Conformance::connect(std::uint32_t session) {
  auto connection = database_->connect(session);
  EXPECT_TRUE(connection.ok()) << connection.error().to_string();
  return connection.ok() ? *std::move(connection) : nullptr;
}

void Conformance::others_see(const std::vector<Statement>& statements,
                             const std::vector<std::string>& expected) {
  const int tries = GetParam().others_lag ? 20000 : 1;
  std::vector<std::string> seen;
  for (int i = 0; i < tries && seen != expected; ++i) seen = run(*connect(1), statements);
  EXPECT_EQ(seen, expected);
}

namespace {

using Texts = std::vector<std::string>;
constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

#define CUPEL_NEEDS(capability)                                                 \
  if (!database_->can().capability) {                                           \
    GTEST_SKIP() << GetParam().name << " cannot do what needs " << #capability; \
  }

Tables integers() {
  return Tables(kv_schema());
}

}  // namespace

TEST_P(Conformance, SaysWhatItIs) {
  const auto facts = database_->facts();
  EXPECT_FALSE(facts.product.empty());
  EXPECT_FALSE(facts.version.empty());
  EXPECT_FALSE(facts.isolation.empty());
}

TEST_P(Conformance, ReadsWhatWasLoadedAndNothingElse) {
  ASSERT_NO_FATAL_FAILURE(prepare(integers().row(0, {1}, {10}).row(0, {2}, {-20})));
  const auto connection = connect();
  EXPECT_EQ(run(*connection, {read(1)}), (Texts{"1=10"}));
  EXPECT_EQ(run(*connection, {read(2)}), (Texts{"2=-20"}));
  EXPECT_EQ(run(*connection, {read(3)}), (Texts{""}));
}

TEST_P(Conformance, WritesMakeAndReplace) {
  ASSERT_NO_FATAL_FAILURE(prepare(integers().row(0, {1}, {10})));
  const auto connection = connect();
  EXPECT_EQ(run(*connection, {write(1, 11)}), (Texts{""}));
  EXPECT_EQ(run(*connection, {write(-5, kLowest)}), (Texts{""}));
  EXPECT_EQ(run(*connection, {write(kHighest, kHighest)}), (Texts{""}));
  // The value that is there already is a write like any other, and no second row.
  EXPECT_EQ(run(*connection, {write(1, 11)}), (Texts{""}));
  others_see({read(1)}, {"1=11"});
  others_see({read(-5)}, {fmt::format("-5={}", kLowest)});
  others_see({read(kHighest)}, {fmt::format("{}={}", kHighest, kHighest)});
}

TEST_P(Conformance, SeveralStatementsAreOneTransaction) {
  CUPEL_NEEDS(multiple);
  ASSERT_NO_FATAL_FAILURE(prepare(integers().row(0, {1}, {10})));
  const auto connection = connect();
  EXPECT_EQ(run(*connection, {read(1), write(1, 11), write(2, 12), read(1), read(2), read(3)}),
            (Texts{"1=10", "", "", "1=11", "2=12", ""}));
  others_see({read(1), read(2)}, {"1=11", "2=12"});
}

TEST_P(Conformance, PrepareDropsWhatWasThere) {
  ASSERT_NO_FATAL_FAILURE(prepare(integers().row(0, {1}, {10}).row(0, {2}, {20})));
  run(*connect(), {write(3, 30)});
  ASSERT_NO_FATAL_FAILURE(prepare(integers().row(0, {2}, {21})));
  const auto connection = connect();
  EXPECT_EQ(run(*connection, {read(1)}), (Texts{""}));
  EXPECT_EQ(run(*connection, {read(2)}), (Texts{"2=21"}));
  EXPECT_EQ(run(*connection, {read(3)}), (Texts{""}));
}

TEST_P(Conformance, ManyRowsAreLoaded) {
  auto tables = integers();
  constexpr std::int64_t kRows = 20011;  // no multiple of any batch
  for (std::int64_t i = 0; i < kRows; ++i) tables.row(0, {i}, {i * 3});
  ASSERT_NO_FATAL_FAILURE(prepare(tables));
  const auto connection = connect();
  for (const std::int64_t i : {std::int64_t{0}, std::int64_t{10000}, kRows - 1}) {
    EXPECT_EQ(run(*connection, {read(i)}), (Texts{fmt::format("{}={}", i, i * 3)}));
  }
  EXPECT_EQ(run(*connection, {read(kRows)}), (Texts{""}));
  if (!database_->can().ranges) return;
  std::vector<Reply> replies;
  const std::vector<Statement> all{range(0, kHighest)};
  ASSERT_FALSE(connection->transact(all, replies));
  ASSERT_EQ(replies[0].rows.size(), static_cast<std::size_t>(kRows));
  for (std::int64_t i = 0; i < kRows; ++i) {
    const auto& row = replies[0].rows[static_cast<std::size_t>(i)];
    ASSERT_EQ(row.key, (std::vector<Datum>{i}));
    ASSERT_EQ(row.values, (std::vector<Datum>{i * 3}));
  }
}

TEST_P(Conformance, InsertsAndDeletes) {
  CUPEL_NEEDS(deletes);
  ASSERT_NO_FATAL_FAILURE(prepare(integers().row(0, {1}, {10})));
  const auto connection = connect();
  EXPECT_EQ(run(*connection, {insert(2, 20)}), (Texts{""}));
  EXPECT_EQ(run(*connection, {read(2)}), (Texts{"2=20"}));
  EXPECT_EQ(run(*connection, {remove(1)}), (Texts{""}));
  EXPECT_EQ(run(*connection, {read(1)}), (Texts{""}));
  // Not there: nothing to do, which the SQL drivers say.
  const auto again = run(*connection, {remove(1)});
  EXPECT_TRUE(again == Texts{""} || again == Texts{"not set"}) << again.at(0);
  EXPECT_EQ(run(*connection, {insert(1, 11)}), (Texts{""}));
  EXPECT_EQ(run(*connection, {read(1)}), (Texts{"1=11"}));
}

TEST_P(Conformance, InsertOfWhatIsThereAbortsAll) {
  CUPEL_NEEDS(deletes);
  ASSERT_NO_FATAL_FAILURE(prepare(integers().row(0, {1}, {10})));
  const auto connection = connect();
  std::vector<Reply> replies;
  const std::vector<Statement> statements =
      database_->can().multiple ? std::vector<Statement>{write(2, 20), insert(1, 11)}
                                : std::vector<Statement>{insert(1, 11)};
  const auto outcome = connection->transact(statements, replies);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->txn_outcome, TxnOutcome::kAborted) << shown(outcome);
  EXPECT_EQ(outcome->cause, Cause::kConstraint) << shown(outcome);
  EXPECT_FALSE(outcome->connection_lost);
  EXPECT_EQ(run(*connection, {read(1)}), (Texts{"1=10"}));
  EXPECT_EQ(run(*connection, {read(2)}), (Texts{""}));
}

TEST_P(Conformance, RangesHoldBothEnds) {
  CUPEL_NEEDS(ranges);
  auto tables = integers();
  for (const int k : {-3, -1, 0, 2, 5, 9, 10, 100}) tables.row(0, {k}, {k * 10});
  ASSERT_NO_FATAL_FAILURE(prepare(tables));
  const auto connection = connect();
  EXPECT_EQ(run(*connection, {range(-1, 9)}), (Texts{"-1=-10, 0=0, 2=20, 5=50, 9=90"}));
  EXPECT_EQ(run(*connection, {range(3, 4)}), (Texts{""}));
  EXPECT_EQ(run(*connection, {range(5, 5)}), (Texts{"5=50"}));
  EXPECT_EQ(run(*connection, {range(9, 2)}), (Texts{""}));
  EXPECT_EQ(run(*connection, {range(9, 100)}), (Texts{"9=90, 10=100, 100=1000"}));
  if (!database_->can().deletes) return;
  run(*connection, {remove(2)});
  run(*connection, {insert(1, 1)});
  EXPECT_EQ(run(*connection, {range(0, 5)}), (Texts{"0=0, 1=1, 5=50"}));
}

TEST_P(Conformance, AppendsKeepTheirOrder) {
  CUPEL_NEEDS(lists);
  ASSERT_NO_FATAL_FAILURE(prepare(Tables(kv_schema(ColumnType::kList)).row(0, {5}, {Datum()})));
  const auto connection = connect();
  EXPECT_EQ(run(*connection, {read(1)}), (Texts{""}));
  EXPECT_EQ(run(*connection, {append(1, 3)}), (Texts{""}));
  EXPECT_EQ(run(*connection, {append(1, -4)}), (Texts{""}));
  others_see({read(1)}, {"[3 -4]"});
  EXPECT_EQ(run(*connection, {read(5)}), (Texts{""}));  // loaded as the empty list
  EXPECT_EQ(run(*connection, {append(5, kHighest)}), (Texts{""}));
  EXPECT_EQ(run(*connection, {read(5)}), (Texts{fmt::format("[{}]", kHighest)}));
  std::string expected = "[";
  for (int i = 0; i < 300; ++i) {
    run(*connection, {append(2, i + 1000000)});
    expected += fmt::format("{}{}", i == 0 ? "" : " ", i + 1000000);
  }
  EXPECT_EQ(run(*connection, {read(2)}), (Texts{expected + ']'}));
  if (!database_->can().multiple) return;
  EXPECT_EQ(run(*connection, {append(1, 5), read(1), append(6, 1), append(6, 2), read(6)}),
            (Texts{"", "[3 -4 5]", "", "", "[1 2]"}));
}

TEST_P(Conformance, ComparesAndSets) {
  CUPEL_NEEDS(compare_and_set);
  ASSERT_NO_FATAL_FAILURE(prepare(integers().row(0, {1}, {10})));
  const auto connection = connect();
  EXPECT_EQ(run(*connection, {compare_and_set(1, 11, 12)}), (Texts{"not set"}));
  EXPECT_EQ(run(*connection, {read(1)}), (Texts{"1=10"}));
  EXPECT_EQ(run(*connection, {compare_and_set(1, 10, 12)}), (Texts{""}));
  EXPECT_EQ(run(*connection, {compare_and_set(1, 12, 12)}),
            (Texts{""}));  // changes nothing, and succeeds
  EXPECT_EQ(run(*connection, {read(1)}), (Texts{"1=12"}));
  EXPECT_EQ(run(*connection, {compare_and_set(2, 0, 5)}), (Texts{"not set"}));
  EXPECT_EQ(run(*connection, {read(2)}), (Texts{""}));
  EXPECT_EQ(run(*connection, {compare_and_set(2, Datum(), 5)}), (Texts{""}));
  EXPECT_EQ(run(*connection, {compare_and_set(2, Datum(), 6)}), (Texts{"not set"}));
  others_see({read(2)}, {"2=5"});
}

// A comparison that fails is an answer, not an error: what was done before stays.
TEST_P(Conformance, AFailedComparisonUndoesNothing) {
  CUPEL_NEEDS(compare_and_set);
  CUPEL_NEEDS(multiple);
  ASSERT_NO_FATAL_FAILURE(prepare(integers().row(0, {1}, {10})));
  EXPECT_EQ(run(*connect(), {write(2, 20), compare_and_set(1, Datum(), 11),
                             compare_and_set(1, 7, 11), write(3, 30)}),
            (Texts{"", "not set", "not set", ""}));
  others_see({read(1), read(2), read(3)}, {"1=10", "2=20", "3=30"});
}

TEST_P(Conformance, TextComesBackAsItWent) {
  CUPEL_NEEDS(tables);
  const Schema schema{{{.name = "cupel_words",
                        .key = {{"word", ColumnType::kText}},
                        .columns = {{"meaning", ColumnType::kText}}}}};
  const Texts words{"a",  "A",    "it's", "back\\slash", "\"quoted\"", "naïve \xe2\x82\xac", "a ",
                    " a", "a%_b", "",     "7",           "null",       std::string(255, 'x')};
  Tables tables(schema);
  for (std::size_t i = 0; i < words.size(); i += 2) tables.row(0, {words[i]}, {words[i]});
  ASSERT_NO_FATAL_FAILURE(prepare(tables));
  const auto connection = connect();
  for (std::size_t i = 1; i < words.size(); i += 2) {
    run(*connection, {write(words[i], words[i])});
  }
  for (const auto& word : words) {
    EXPECT_EQ(run(*connection, {read(word)}), (Texts{fmt::format("\"{}\"=\"{}\"", word, word)}));
  }
  // An integer for a text column is its decimals.
  run(*connection, {write("number", 42)});
  EXPECT_EQ(run(*connection, {read("number")}), (Texts{"\"number\"=\"42\""}));
}

TEST_P(Conformance, TablesHaveCompositeKeysAndColumns) {
  CUPEL_NEEDS(tables);
  const Schema schema{{{.name = "cupel_district",
                        .key = {{"w_id", ColumnType::kInteger}, {"d_id", ColumnType::kInteger}},
                        .columns = {{"d_name", ColumnType::kText},
                                    {"d_tax", ColumnType::kInteger},
                                    {"d_ytd", ColumnType::kInteger}}},
                       {.name = "cupel_wide",
                        .key = {{"a", ColumnType::kText},
                                {"b", ColumnType::kText},
                                {"c", ColumnType::kText},
                                {"d", ColumnType::kText}},
                        .columns = {{"v", ColumnType::kInteger}}}}};
  ASSERT_NO_FATAL_FAILURE(prepare(Tables(schema)
                                      .row(0, {1, 1}, {"north", 7, 100})
                                      .row(0, {1, 2}, {"south", 8, 200})
                                      .row(1, {"a", "b", "c", "d"}, {1})));
  const auto connection = connect();
  const auto at = [](std::int64_t w, std::int64_t d, std::vector<std::uint32_t> columns) {
    return Statement{.kind = StatementKind::kRead, .key = {w, d}, .columns = std::move(columns)};
  };
  EXPECT_EQ(run(*connection, {at(1, 2, {})}), (Texts{"1 2=\"south\" 8 200"}));
  EXPECT_EQ(run(*connection, {at(1, 2, {2, 0})}), (Texts{"1 2=200 \"south\""}));
  EXPECT_EQ(run(*connection, {at(2, 1, {})}), (Texts{""}));
  Statement update{
      .kind = StatementKind::kWrite, .key = {1, 2}, .columns = {2, 1}, .values = {201, 9}};
  run(*connection, {update});
  EXPECT_EQ(run(*connection, {at(1, 2, {})}), (Texts{"1 2=\"south\" 9 201"}));
  EXPECT_EQ(run(*connection, {at(1, 1, {})}), (Texts{"1 1=\"north\" 7 100"}));
  update.key = {2, 2};  // makes the row; what is not written is null
  run(*connection, {update});
  EXPECT_EQ(run(*connection, {at(2, 2, {})}), (Texts{"2 2=null 9 201"}));
  run(*connection, {{.kind = StatementKind::kInsert, .key = {3, 1}, .values = {"east", 1, 2}}});
  EXPECT_EQ(run(*connection, {at(3, 1, {0})}), (Texts{"3 1=\"east\""}));
  run(*connection, {{.kind = StatementKind::kDelete, .key = {1, 1}}});
  EXPECT_EQ(run(*connection, {at(1, 1, {})}), (Texts{""}));
  EXPECT_EQ(
      run(*connection, {{.kind = StatementKind::kRead, .table = 1, .key = {"a", "b", "c", "d"}}}),
      (Texts{"\"a\" \"b\" \"c\" \"d\"=1"}));
}

TEST_P(Conformance, RollbackUndoes) {
  CUPEL_NEEDS(interactive);
  ASSERT_NO_FATAL_FAILURE(prepare(integers().row(0, {1}, {10})));
  const auto connection = connect();
  Reply reply;
  ASSERT_FALSE(connection->begin());
  ASSERT_FALSE(connection->execute(write(1, 11), reply));
  ASSERT_FALSE(connection->execute(write(2, 20), reply));
  ASSERT_FALSE(connection->execute(read(1), reply));
  EXPECT_EQ(shown(reply), "1=11");
  connection->rollback();
  EXPECT_EQ(run(*connection, {read(1), read(2)}), (Texts{"1=10", ""}));
  EXPECT_EQ(run(*connection, {write(1, 12)}), (Texts{""}));
  others_see({read(1)}, {"1=12"});
}

// As when cupel itself is killed: what was not committed never was.
TEST_P(Conformance, AConnectionThatGoesAwayUndoes) {
  CUPEL_NEEDS(interactive);
  ASSERT_NO_FATAL_FAILURE(prepare(integers().row(0, {1}, {10})));
  {
    const auto connection = connect();
    Reply reply;
    ASSERT_FALSE(connection->begin());
    ASSERT_FALSE(connection->execute(write(1, 11), reply));
  }
  const auto other = connect(1);
  // A dirty read may come before the server has seen that the connection is gone.
  const auto undone = [&] { return run(*other, {read(1)}) == Texts{"1=10"}; };
  EXPECT_TRUE(GetParam().sees_uncommitted ? test::poll_until(undone) : undone());
  EXPECT_EQ(run(*other, {write(1, 12)}), (Texts{""}));
}

// No database says that a statement waits for a lock: one that is not done by then does.
constexpr std::chrono::milliseconds kUntilBlocked{200};

TEST_P(Conformance, UncommittedWritesAreSeenOnlyWhereTheLevelSaysSo) {
  CUPEL_NEEDS(interactive);
  ASSERT_NO_FATAL_FAILURE(prepare(integers().row(0, {1}, {10})));
  const auto writer = connect(0);
  Reply reply;
  ASSERT_FALSE(writer->begin());
  ASSERT_FALSE(writer->execute(write(1, 11), reply));
  // In a thread of its own: at a level with read locks it waits for the commit, or
  // gives up.
  auto reader = std::async(std::launch::async, [&] {
    const auto connection = connect(1);
    Reply answer;
    auto failure = connection->begin();
    if (!failure) failure = connection->execute(read(1), answer);
    auto text = failure ? shown(failure) : shown(answer);
    if (!failure) connection->rollback();
    return text;
  });
  reader.wait_for(kUntilBlocked);
  ASSERT_FALSE(writer->commit());
  const auto seen = reader.get();
  if (seen.find("aborted, conflict") == std::string::npos) {
    EXPECT_TRUE(seen == "1=10" || seen == "1=11") << seen;
    if (GetParam().sees_uncommitted) {
      EXPECT_EQ(seen, "1=11");
    }
  }
  others_see({read(1)}, {"1=11"});
}

// The same with a rollback: where the level forbids dirty reads, 11 is never seen.
TEST_P(Conformance, WhatIsRolledBackIsNeverSeen) {
  CUPEL_NEEDS(interactive);
  if (GetParam().sees_uncommitted) GTEST_SKIP() << GetParam().name << " allows dirty reads";
  ASSERT_NO_FATAL_FAILURE(prepare(integers().row(0, {1}, {10})));
  const auto writer = connect(0);
  Reply reply;
  ASSERT_FALSE(writer->begin());
  ASSERT_FALSE(writer->execute(write(1, 11), reply));
  auto reader = std::async(std::launch::async, [&] {
    const auto connection = connect(1);
    Reply answer;
    auto failure = connection->begin();
    if (!failure) failure = connection->execute(read(1), answer);
    auto text = failure ? shown(failure) : shown(answer);
    if (!failure) connection->rollback();
    return text;
  });
  reader.wait_for(kUntilBlocked);
  writer->rollback();
  const auto seen = reader.get();
  if (seen.find("aborted, conflict") == std::string::npos) {
    EXPECT_EQ(seen, "1=10");
  }
}

// What a read of a counter saw; none if that is no number.
std::optional<std::int64_t> counted(const Reply& reply) {
  if (reply.rows.size() != 1 || reply.rows[0].values.size() != 1) return std::nullopt;
  const auto* number = std::get_if<std::int64_t>(&reply.rows[0].values[0]);
  return number == nullptr ? std::nullopt : std::optional(*number);
}

// Four sessions count the same two counters up, retrying what was aborted. Where
// the level forbids lost updates, every acknowledged step is in the sum; and
// whatever was aborted must be a conflict.
TEST_P(Conformance, CountersCountAcknowledgedSteps) {
  CUPEL_NEEDS(interactive);
  ASSERT_NO_FATAL_FAILURE(prepare(integers().row(0, {1}, {0}).row(0, {2}, {0})));
  constexpr int kThreads = 4;
  constexpr int kSteps = 25;
  std::vector<std::string> problems(kThreads);
  std::vector<std::jthread> threads;  // joined also if the system has no more of them
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const auto connection = connect(static_cast<std::uint32_t>(t));
      if (connection == nullptr) return;
      int done = 0;
      for (int tries = 0; done < kSteps && tries < 5000; ++tries) {
        const std::int64_t key = 1 + (t + tries) % 2;
        Reply reply;
        auto failure = connection->begin();
        if (!failure) failure = connection->execute(read(key), reply);
        if (!failure) {
          const auto now = counted(reply);
          if (!now) {
            problems[static_cast<std::size_t>(t)] = "a read of " + shown(reply);
            return;
          }
          failure = connection->execute(write(key, *now + 1), reply);
        }
        if (!failure) failure = connection->commit();
        if (!failure) {
          ++done;
        } else if (failure->cause != Cause::kConflict ||
                   failure->txn_outcome != TxnOutcome::kAborted) {
          problems[static_cast<std::size_t>(t)] = shown(failure);
          return;
        } else {
          // Or one that retries at once keeps the others from ever being done.
          cupel::test::back_off(std::chrono::microseconds(100 * (1 + (t + tries) % 5)));
        }
      }
      if (done < kSteps) problems[static_cast<std::size_t>(t)] = "no end of conflicts";
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& problem : problems) EXPECT_EQ(problem, "");
  const std::vector<Statement> both{read(1), read(2)};
  const auto sum = [&] {
    std::vector<Reply> replies;
    EXPECT_FALSE(connect()->transact(both, replies));
    return std::get<std::int64_t>(replies.at(0).rows.at(0).values.at(0)) +
           std::get<std::int64_t>(replies.at(1).rows.at(0).values.at(0));
  };
  const bool lags = GetParam().others_lag && GetParam().prevents_lost_update;
  std::int64_t greatest = 0;
  for (int i = 0; i < (lags ? 20000 : 1) && greatest < kThreads * kSteps; ++i) {
    greatest = std::max(greatest, sum());
  }
  if (GetParam().prevents_lost_update) {
    EXPECT_EQ(greatest, kThreads * kSteps);
  }
  EXPECT_LE(greatest, kThreads * kSteps);
}

// The same with compare-and-set alone, for databases that have no more.
TEST_P(Conformance, ComparedCountersCountAcknowledgedSteps) {
  CUPEL_NEEDS(compare_and_set);
  ASSERT_NO_FATAL_FAILURE(prepare(integers().row(0, {1}, {0})));
  constexpr int kThreads = 4;
  constexpr std::int64_t kSteps = 20;
  std::vector<std::string> problems(kThreads);
  std::vector<std::jthread> threads;  // joined also if the system has no more of them
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const auto connection = connect(static_cast<std::uint32_t>(t));
      if (connection == nullptr) return;
      std::int64_t done = 0;
      for (int tries = 0; done < kSteps && tries < 5000; ++tries) {
        std::vector<Reply> replies;
        const std::vector<Statement> look{read(1)};
        auto failure = connection->transact(look, replies);
        if (!failure) {
          const auto now = counted(replies.at(0));
          if (!now) {
            problems[static_cast<std::size_t>(t)] = "a read of " + shown(replies.at(0));
            return;
          }
          const std::vector<Statement> step{compare_and_set(1, *now, *now + 1)};
          failure = connection->transact(step, replies);
          if (!failure && replies.at(0).succeeded) ++done;
        }
        if (failure) cupel::test::back_off(std::chrono::microseconds(100 * (1 + (t + tries) % 5)));
        if (failure &&
            (failure->cause != Cause::kConflict || failure->txn_outcome != TxnOutcome::kAborted)) {
          problems[static_cast<std::size_t>(t)] = shown(failure);
          return;
        }
      }
      if (done < kSteps) problems[static_cast<std::size_t>(t)] = "no end of conflicts";
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& problem : problems) EXPECT_EQ(problem, "");
  // The mock store's comparisons are a read and a write, and may lose updates as these do.
  if (!GetParam().prevents_lost_update) return;
  others_see({read(1)}, {fmt::format("1={}", kThreads * kSteps)});
}

TEST_P(Conformance, AStatementThatDoesNotFitIsRefusedAndUndone) {
  CUPEL_NEEDS(interactive);
  ASSERT_NO_FATAL_FAILURE(prepare(integers().row(0, {1}, {10})));
  const auto connection = connect();
  Reply reply;
  ASSERT_FALSE(connection->begin());
  ASSERT_FALSE(connection->execute(write(1, 11), reply));
  const auto outcome = connection->execute(read(1, 9), reply);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->txn_outcome, TxnOutcome::kAborted) << shown(outcome);
  EXPECT_EQ(outcome->cause, Cause::kStatement) << shown(outcome);
  EXPECT_FALSE(outcome->message.empty());
  EXPECT_EQ(run(*connection, {read(1)}), (Texts{"1=10"}));
}

// A table that someone dropped under a run: refused, certainly not committed, and
// the connection goes on.
TEST_P(Conformance, AMissingTableIsRefused) {
  CUPEL_NEEDS(tables);
  if (!GetParam().same_data)
    GTEST_SKIP() << GetParam().name << " has tables of its own each time it is opened";
  ASSERT_NO_FATAL_FAILURE(prepare(integers()));
  Tables other(Schema{{{.name = "cupel_gone",
                        .key = {{"k", ColumnType::kInteger}},
                        .columns = {{"v", ColumnType::kInteger}},
                        .plain = true}}});
  ASSERT_NO_FATAL_FAILURE(prepare(other.row(0, {1}, {10})));
  const auto connection = connect();
  {
    auto second = GetParam().open();
    ASSERT_TRUE(second.ok());
    ASSERT_TRUE((*second)->prepare(other).ok());
    (*second)->clean();
  }
  std::vector<Reply> replies;
  const std::vector<Statement> statements{read(1)};
  const auto outcome = connection->transact(statements, replies);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->txn_outcome, TxnOutcome::kAborted) << shown(outcome);
  EXPECT_EQ(outcome->cause, Cause::kGone) << shown(outcome);
  EXPECT_FALSE(outcome->connection_lost);
  ASSERT_NO_FATAL_FAILURE(prepare(other));
  others_see({read(1)}, {"1=10"});
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Conformance);

}  // namespace cupel::drivers::testing
