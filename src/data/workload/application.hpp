// Application: what the application workloads share. Tables of text cells, a mix of
// transactions by weight, and programs that see rows as payloads and numbers.
//
// A table's first rows are those with every key column in 1 … its extent, and a
// function gives their payloads: so load() and loaded() cannot disagree, and nothing
// is kept.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "data/workload/cells.hpp"
#include "data/workload/workload.hpp"

namespace cupel::workload {

using RowKey = std::vector<std::int64_t>;

// A row as a program reads it. What is absent or makes no sense reads as nothing and 0.
class ReadRow {
 public:
  ReadRow(const Reply& reply, std::size_t columns);
  [[nodiscard]] bool exists() const { return exists_; }
  // Of the i-th column asked for.
  [[nodiscard]] const std::string& text(std::size_t i) const { return payloads_[i]; }
  [[nodiscard]] std::int64_t number(std::size_t i) const { return number_of(payloads_[i]); }

 private:
  bool exists_;
  std::vector<std::string> payloads_;
};

// A transaction, in terms of payloads.
class Rows {
 public:
  explicit Rows(Transaction& transaction) : transaction_(transaction) {}

  using Columns = std::vector<std::uint32_t>;
  struct Update {
    std::uint32_t column;
    std::string payload;
    Update(std::uint32_t c, std::string p) : column(c), payload(std::move(p)) {}
    Update(std::uint32_t c, std::int64_t n) : column(c), payload(std::to_string(n)) {}
  };

  [[nodiscard]] bool ok() const { return transaction_.ok(); }
  ReadRow read(std::uint32_t table, const RowKey& key, Columns columns);
  void write(std::uint32_t table, const RowKey& key, const std::vector<Update>& updates);
  // All columns, in their order.
  void insert(std::uint32_t table, const RowKey& key, const std::vector<std::string>& payloads);
  void erase(std::uint32_t table, const RowKey& key);
  void give_up() { transaction_.give_up(); }
  std::int64_t unique() { return transaction_.unique(); }

 private:
  Transaction& transaction_;
};

class Application : public Workload {
 public:
  struct TableSpec {
    std::string name;
    std::vector<std::string> key;      // integers
    std::vector<std::string> columns;  // text cells
    RowKey extent = {};                // of the rows loaded; empty: none
    // The payloads of such a row, one for each column.
    std::function<std::vector<std::string>(const RowKey&)> loaded = {};
  };
  // Draws all that the transaction needs to know and returns what it does: a retry
  // does the same again.
  using Program = std::function<void(Rows&)>;
  struct Kind {
    const char* name;
    double weight;
    std::function<Program(base::Random&)> make;
  };

  [[nodiscard]] const Schema& schema() const override { return schema_; }
  [[nodiscard]] Needs needs() const override { return needs_; }
  [[nodiscard]] std::uint32_t sessions() const override {
    return static_cast<std::uint32_t>(randoms_.size());
  }
  void load(const RowSink& sink) const override;
  [[nodiscard]] Datum loaded(std::uint32_t table, const std::vector<Datum>& key,
                             std::uint32_t column) const override;
  [[nodiscard]] Datum default_initial() const override { return {}; }
  std::optional<Job> next(std::uint32_t session) override;

 protected:
  Application(const WorkloadOptions& options, std::vector<TableSpec> tables,
              bool deletes);  // or inserts
  void set_kinds(std::vector<Kind> kinds) { kinds_ = std::move(kinds); }

 private:
  std::vector<TableSpec> tables_;
  Schema schema_;
  Needs needs_;
  std::vector<Kind> kinds_;
  std::vector<base::Random> randoms_;  // of each session
};

// `number` times `scale`, at least `least`.
std::int64_t scaled(std::int64_t number, double scale, std::int64_t least = 1);

}  // namespace cupel::workload
