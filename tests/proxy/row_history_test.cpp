// What a run on a true database comes to as a history: with a database of one table of two columns
// that is in this test, and reads and writes it by a few statements.
#include "mock/proxy/row_history.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cupel::proxy {
namespace {

using nlohmann::json;
constexpr std::uint32_t kCounters = 1;

json counter_row(int id, int n) {
  return {{"id", std::to_string(id)}, {"n", std::to_string(n)}};
}

// counters (id, n). It knows "SELECT n FROM counters WHERE id = I" and "UPDATE counters SET n = N
// WHERE id = I".
class Counters final : public TestConnection {
 public:
  explicit Counters(std::vector<json> at_the_end) : at_the_end_(std::move(at_the_end)) {}

  base::Result<Catalog> read_catalog() override {
    Catalog catalog;
    catalog.tables[kCounters] = {.oid = kCounters,
                                 .schema = "public",
                                 .name = "counters",
                                 .key = {{"id", TableFacts::KeyColumn::Kind::kInteger}}};
    return catalog;
  }
  base::Result<Isolation> read_default_level() override { return Isolation::kReadCommitted; }
  base::Result<Rows> read_rows(const Catalog& /*catalog*/, std::size_t /*most*/) override {
    return Rows{{kCounters, at_the_end_}};
  }
  base::Result<Blockers> read_blockers(const std::vector<std::int32_t>& /*of*/) override {
    return Blockers();
  }
  base::Result<std::vector<std::string>> read_recorded(std::int32_t /*backend*/) override {
    return std::vector<std::string>();
  }
  bool make_table(const TableFacts& /*table*/) override { return true; }
  bool fill_table(const TableFacts& /*table*/, const std::vector<json>& rows) override {
    rows_ = rows;
    return true;
  }
  std::optional<Answers> answer(const Request& request) override {
    Answers answers;
    for (const auto& one : rows_) {
      if (one["id"] == last_word(request.text)) answers.push_back({one["n"].get<std::string>()});
    }
    return answers;
  }
  std::optional<Changed> change(const Request& request, const TableFacts& /*table*/) override {
    Changed changed;
    const auto at = request.text.find("= ") + 2;
    const auto value = request.text.substr(at, request.text.find(' ', at) - at);
    for (auto one : rows_) {
      const bool written = one["id"] == last_word(request.text);
      if (written) one["n"] = value;
      changed.rows.push_back(one);
      changed.written.push_back(written);
    }
    return changed;
  }

 private:
  static std::string last_word(const std::string& text) { return text.substr(text.rfind(' ') + 1); }
  const std::vector<json> at_the_end_;
  std::vector<json> rows_;
};

class RowHistoryTest : public ::testing::Test {
 protected:
  // A statement of its client, in a transaction unless it is the last of one.
  void run(const std::string& client, const std::string& sql, Answer answer = {}) {
    Executed one{.client = client,
                 .requests = {{.text = sql, .simple = true}},
                 .answers = {std::move(answer)},
                 .before = sql == "BEGIN" ? 'I' : 'T',
                 .after = sql == "COMMIT" || sql == "ROLLBACK" ? 'I' : 'T'};
    one.answers[0].tag = sql.substr(0, sql.find(' '));
    one.began = std::chrono::nanoseconds(++time_);
    one.ended = std::chrono::nanoseconds(++time_);
    executed_.push_back(std::move(one));
  }
  void read(const std::string& client, int n) {
    run(client, "SELECT n FROM counters WHERE id = 1",
        {.columns = {{.name = "n"}}, .rows = {{std::to_string(n)}}});
  }
  void write(const std::string& client, int before, int after) {
    const json said{
        {"table", kCounters}, {"old", counter_row(1, before)}, {"new", counter_row(1, after)}};
    run(client, "UPDATE counters SET n = " + std::to_string(after) + " WHERE id = 1",
        {.recorded = {said.dump()}});
  }
  // At first id 1 has 0 and id 2 has 7; at the end id 1 has `last`.
  RowHistory record(int last) {
    Counters counters({counter_row(1, last), counter_row(2, 7)});
    auto recorded =
        record_rows(executed_, {{kCounters, {counter_row(1, 0), counter_row(2, 7)}}}, counters);
    if (!recorded.ok()) throw std::runtime_error(recorded.error().to_string());
    return std::move(*recorded);
  }
  // "a: r counters(1).n=0, w counters(1).n=1", in the order of the transactions' ends.
  static std::vector<std::string> transactions(const RowHistory& recorded) {
    const auto& history = recorded.history;
    std::vector<std::string> lines(history.txn_count());
    for (std::uint32_t i = 0; i < history.txn_count(); ++i) {
      const history::TxnId txn(i);
      auto& line = lines.at(history.label(txn));
      line = std::string(history.session_name(history.session(txn)));
      if (history.status(txn) != history::TxnStatus::kCommitted) line += " (not committed)";
      for (auto at = history.first_op(txn); at < history.last_op(txn); ++at) {
        const auto op = history.op(history::OpId(at));
        line += std::string(op.kind == history::OpKind::kRead ? ", r " : ", w ") +
                history.key(op.key).to_string() + "=" + history.value(op.value).to_string();
      }
    }
    return lines;
  }
  using Lines = std::vector<std::string>;

 private:
  std::vector<Executed> executed_;
  std::int64_t time_ = 0;
};

TEST_F(RowHistoryTest, HasReadsAndWritesOfRows) {
  for (const auto* client : {"a", "b"}) run(client, "BEGIN");
  for (const auto* client : {"a", "b"}) read(client, 0);
  write("a", 0, 1);
  run("a", "COMMIT");
  write("b", 1, 1);
  run("b", "COMMIT");
  const auto recorded = record(1);
  EXPECT_EQ(recorded.nothing_recorded, "");
  EXPECT_EQ(recorded.not_recorded, Lines());
  // What is written again has a number.
  EXPECT_EQ(transactions(recorded), (Lines{"a, r counters(1).n=0, w counters(1).n=1",
                                           "b, r counters(1).n=0, w counters(1).n=1#2"}));
  EXPECT_EQ(recorded.executed, (std::vector<std::vector<std::size_t>>{{0, 2, 4, 5}, {1, 3, 6, 7}}));
}

// A read of what is not committed would be an accusation of the server.
TEST_F(RowHistoryTest, LeavesOutAReadThatTheVersionsDoNotGive) {
  for (const auto* client : {"a", "b"}) run(client, "BEGIN");
  write("a", 0, 1);
  read("b", 1);
  run("a", "COMMIT");
  run("b", "COMMIT");
  const auto recorded = record(1);
  EXPECT_EQ(recorded.not_recorded,
            Lines{"SELECT n FROM counters WHERE id = 1: its answer is not what the versions give"});
  EXPECT_EQ(transactions(recorded), (Lines{"a", "b"}));
}

TEST_F(RowHistoryTest, UndoesWhatIsRolledBack) {
  run("a", "BEGIN");
  write("a", 0, 1);
  read("a", 1);
  run("a", "ROLLBACK");
  run("b", "BEGIN");
  read("b", 0);
  write("b", 0, 2);
  run("b", "COMMIT");
  const auto recorded = record(2);
  EXPECT_EQ(recorded.nothing_recorded, "");
  EXPECT_EQ(recorded.not_recorded, Lines());
  EXPECT_EQ(transactions(recorded),
            (Lines{"a (not committed), w counters(1).n=1, r counters(1).n=1",
                   "b, r counters(1).n=0, w counters(1).n=2"}));
}

TEST_F(RowHistoryTest, UndoesWhatIsRolledBackToASavepoint) {
  run("a", "BEGIN");
  run("a", "SAVEPOINT s");
  write("a", 0, 1);
  run("a", "ROLLBACK TO s");
  read("a", 0);
  write("a", 0, 3);
  run("a", "COMMIT");
  const auto recorded = record(3);
  EXPECT_EQ(recorded.nothing_recorded, "");
  EXPECT_EQ(recorded.not_recorded, Lines());
  EXPECT_EQ(transactions(recorded), Lines{"a, r counters(1).n=0, w counters(1).n=3"});
}

// Something wrote what the recorder did not see.
TEST_F(RowHistoryTest, IsEmptyWhereTheTablesHoldOtherRows) {
  run("a", "BEGIN");
  read("a", 0);
  write("a", 0, 1);
  run("a", "COMMIT");
  const auto recorded = record(5);
  EXPECT_EQ(recorded.nothing_recorded,
            "the table counters holds other rows than were seen to be written");
  EXPECT_EQ(transactions(recorded), Lines{"a"});
}

}  // namespace
}  // namespace cupel::proxy
