// A row's cells are keys of the history; a range of a table with one column is a
// range of the history, of any other table its rows are reads.
#include "run/cells.hpp"

namespace cupel::run {

using workload::Datum;
using workload::Reply;
using workload::Schema;
using workload::Statement;
using workload::StatementKind;

void InitialValues::touch(std::uint32_t table, const std::vector<Datum>& key, std::uint32_t column,
                          const Datum& name) {
  const Datum loaded = workload_.loaded(table, key, column);
  if (loaded == default_) return;
  auto& shard = shards_[absl::HashOf(name) % shards_.size()];
  const std::lock_guard lock(shard.mutex);
  if (shard.initialized.insert(name).second) recorder_.initial(name, loaded);
}

namespace {

// Those that a statement names, or all of the table's: made for every statement of a
// run, so that it may not allocate.
class Columns {
 public:
  Columns(const workload::Table& table, const Statement& statement)
      : listed_(statement.columns), count_(static_cast<std::uint32_t>(listed_.size())) {
    all_ = listed_.empty() || statement.kind == StatementKind::kInsert ||
           statement.kind == StatementKind::kDelete;
    if (all_) count_ = static_cast<std::uint32_t>(table.columns.size());
  }
  [[nodiscard]] std::uint32_t size() const { return count_; }
  std::uint32_t operator[](std::uint32_t i) const { return all_ ? i : listed_[i]; }

 private:
  const std::vector<std::uint32_t>& listed_;
  std::uint32_t count_;
  bool all_;
};

}  // namespace

void record(const Schema& schema, const Statement& statement, const Reply* reply, bool planned,
            InitialValues& initials, RecordedSession& session) {
  const auto& table = schema.tables[statement.table];
  const Columns columns(table, statement);
  const auto cell = [&](const std::vector<Datum>& key, std::uint32_t column) {
    Datum name = workload::cell_name(table, key, column);
    initials.touch(statement.table, key, column, name);
    return name;
  };
  const bool known = reply != nullptr;
  if (!known && !planned &&
      (statement.kind == StatementKind::kRead || statement.kind == StatementKind::kRange)) {
    return;
  }

  switch (statement.kind) {
    case StatementKind::kRead:
      if (table.columns[columns[0]].type == workload::ColumnType::kList) {
        const Datum name = cell(statement.key, columns[0]);
        if (known) {
          session.read_list(name, reply->elements);
        } else {
          session.read(name, {});
        }
        break;
      }
      for (std::uint32_t i = 0; i < columns.size(); ++i) {
        const bool there = known && !reply->rows.empty() && i < reply->rows.front().values.size();
        session.read(cell(statement.key, columns[i]),
                     there ? reply->rows.front().values[i] : Datum{});
      }
      break;
    case StatementKind::kWrite:
      for (std::uint32_t i = 0; i < columns.size(); ++i) {
        session.write(cell(statement.key, columns[i]), statement.values[i]);
      }
      break;
    case StatementKind::kInsert:
      for (std::uint32_t i = 0; i < columns.size(); ++i) {
        session.insert(cell(statement.key, columns[i]), statement.values[i]);
      }
      break;
    case StatementKind::kDelete:
      // A delete that found no row wrote nothing, but it saw that the row is absent.
      for (std::uint32_t i = 0; i < columns.size(); ++i) {
        if (known && !reply->succeeded) {
          session.read(cell(statement.key, columns[i]), {});
        } else {
          session.erase(cell(statement.key, columns[i]));
        }
      }
      break;
    case StatementKind::kAppend:
      session.append(cell(statement.key, columns[0]), statement.values.front());
      break;
    case StatementKind::kCompareAndSet:
      session.compare_and_set(cell(statement.key, columns[0]), statement.values[0],
                              statement.values[1], !known || reply->succeeded);
      break;
    case StatementKind::kRange: {
      if (!table.plain) {
        if (!known) break;
        for (const auto& row : reply->rows) {
          for (std::uint32_t i = 0; i < columns.size(); ++i) {
            session.read(cell(row.key, columns[i]), row.values[i]);
          }
        }
        break;
      }
      // A row that the range misses is an observation too, so every key of the
      // range needs an initial value in the record.
      const auto* low = std::get_if<std::int64_t>(&statement.key.front());
      const auto* high = std::get_if<std::int64_t>(&statement.high.front());
      if (low != nullptr && high != nullptr) {
        for (auto k = *low; k < *high; ++k) cell({Datum{k}}, 0);
        if (*low <= *high) cell({Datum{*high}}, 0);
      }
      std::vector<std::pair<Scalar, Scalar>> found;
      if (known) {
        for (const auto& row : reply->rows) {
          found.emplace_back(row.key.front(), row.values.front());
        }
      }
      session.read_range(statement.key.front(), statement.high.front(), found);
      break;
    }
  }
}

}  // namespace cupel::run
