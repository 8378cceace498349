// SerialStore: maps in memory that run one transaction after the other. What every
// database should look like, and enough to run every workload on.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "data/workload/workload.hpp"

namespace cupel::test {

using workload::Datum;
using workload::Job;
using workload::Reply;
using workload::Row;
using workload::Statement;
using workload::StatementKind;
using workload::Workload;
using Key = std::vector<Datum>;
using RowsByKey = std::map<Key, std::vector<Datum>>;

// What became of a job.
struct Ran {
  std::string name;
  bool given_up = false, failed = false;
  std::vector<Statement> statements;  // as issued, fresh values filled in
  std::vector<Reply> replies;
};

class SerialStore {
 public:
  explicit SerialStore(const Workload& workload)
      : schema_(workload.schema()), tables_(schema_.tables.size()), lists_(schema_.tables.size()) {
    workload.load([&](std::uint32_t table, const Row& row) {
      EXPECT_EQ(row.key.size(), schema_.tables[table].key.size());
      EXPECT_EQ(row.values.size(), schema_.tables[table].columns.size());
      EXPECT_TRUE(tables_[table].emplace(row.key, row.values).second) << "loaded twice";
    });
  }

  [[nodiscard]] const RowsByKey& table(std::uint32_t t) const { return tables_[t]; }

  Ran run(const Job& job) {
    undo_.clear();
    Running running(*this);
    if (job.program) {
      EXPECT_TRUE(job.statements.empty()) << job.name;
      job.program(running);
    }
    for (const auto& statement : job.statements) running.execute(statement);
    running.ran.name = job.name;
    if (running.ran.given_up || running.ran.failed) {
      for (auto it = undo_.rbegin(); it != undo_.rend(); ++it) {
        it->rows->erase(it->key);
        if (it->before) it->rows->emplace(it->key, *it->before);
      }
    } else {
      if (job.seen) job.seen(running.ran.statements, running.ran.replies);
      if (job.committed) job.committed();
    }
    return std::move(running.ran);
  }

 private:
  struct Running final : workload::Transaction {
    explicit Running(SerialStore& s) : store(s) {}
    const Reply& execute(const Statement& statement) override {
      reply = {};
      if (!ok()) return reply;
      ran.statements.push_back(statement);
      if (store.perform(ran.statements.back(), reply)) {
        ran.replies.push_back(reply);
      } else {
        ran.failed = true;
        reply = {};
      }
      return reply;
    }
    [[nodiscard]] bool ok() const override { return !ran.given_up && !ran.failed; }
    void give_up() override { ran.given_up = true; }
    std::int64_t unique() override { return ++store.unique_; }
    base::Random& random() override { return store.random_; }

    SerialStore& store;
    Reply reply;
    Ran ran;
  };

  static bool null(const Datum& datum) { return std::holds_alternative<std::monostate>(datum); }

  // Columns asked for, all if none are named.
  [[nodiscard]] std::vector<std::uint32_t> columns_of(const Statement& s) const {
    if (!s.columns.empty()) return s.columns;
    std::vector<std::uint32_t> all;
    for (std::uint32_t c = 0; c < schema_.tables[s.table].columns.size(); ++c) all.push_back(c);
    return all;
  }

  void fill(Datum& value) {
    if (null(value)) value = ++unique_;
  }
  // Every value is written once into a cell, but for the few negative duplicates.
  void expect_new(const Statement& s, std::uint32_t column, const Datum& value) {
    if (const auto* n = std::get_if<std::int64_t>(&value); n && *n < 0) return;
    const auto cell = workload::to_string(cell_name(schema_.tables[s.table], s.key, column));
    EXPECT_TRUE(written_.insert(cell + "=" + workload::to_string(value)).second)
        << cell << " is written twice with " << workload::to_string(value);
  }

  // To be called before a row is changed.
  void remember(RowsByKey& rows, const Key& key) {
    const auto it = rows.find(key);
    undo_.push_back({&rows, key, it == rows.end() ? std::nullopt : std::optional(it->second)});
  }

  // False: the transaction fails.
  bool perform(Statement& s, Reply& reply) {
    const auto& shape = schema_.tables.at(s.table);
    EXPECT_EQ(s.key.size(), shape.key.size());
    auto& rows = tables_[s.table];
    const auto columns = columns_of(s);
    const auto pick = [&](const std::vector<Datum>& row) {
      std::vector<Datum> values;
      for (const auto c : columns) values.push_back(row.at(c));
      return values;
    };
    switch (s.kind) {
      case StatementKind::kRead:
        if (shape.columns[0].type == workload::ColumnType::kList) {
          reply.elements = lists_[s.table][s.key];
        } else if (const auto it = rows.find(s.key); it != rows.end()) {
          reply.rows = {{s.key, pick(it->second)}};
        }
        return true;
      case StatementKind::kInsert:
        if (rows.contains(s.key)) return false;
        [[fallthrough]];
      case StatementKind::kWrite: {
        EXPECT_EQ(s.values.size(), columns.size());
        remember(rows, s.key);
        auto& row = rows[s.key];
        row.resize(shape.columns.size());
        for (std::size_t i = 0; i < columns.size(); ++i) {
          fill(s.values[i]);
          expect_new(s, columns[i], s.values[i]);
          if (const auto* text = std::get_if<std::string>(&s.values[i])) {
            EXPECT_LE(text->size(), 255u);
          }
          row[columns[i]] = s.values[i];
        }
        return true;
      }
      case StatementKind::kDelete:
        remember(rows, s.key);
        rows.erase(s.key);
        return true;
      case StatementKind::kAppend:
        fill(s.values.at(0));
        expect_new(s, 0, s.values[0]);
        remember(lists_[s.table], s.key);
        lists_[s.table][s.key].push_back(s.values[0]);
        return true;
      case StatementKind::kRange:
        EXPECT_LE(s.key, s.high);
        for (auto it = rows.lower_bound(s.key); it != rows.end() && it->first <= s.high; ++it) {
          reply.rows.push_back({it->first, pick(it->second)});
        }
        return true;
      case StatementKind::kCompareAndSet: {
        fill(s.values.at(1));
        const auto it = rows.find(s.key);
        reply.succeeded = (it == rows.end() ? Datum() : it->second[0]) == s.values[0];
        if (!reply.succeeded) return true;
        expect_new(s, 0, s.values[1]);
        remember(rows, s.key);
        rows[s.key] = {s.values[1]};
        return true;
      }
    }
    return false;
  }

  struct Change {
    RowsByKey* rows;
    Key key;
    std::optional<std::vector<Datum>> before;
  };

  const workload::Schema schema_;
  std::vector<RowsByKey> tables_, lists_;
  std::vector<Change> undo_;  // of the transaction that runs
  std::set<std::string> written_;
  std::int64_t unique_ = 0;
  base::Random random_{7};
};

}  // namespace cupel::test
