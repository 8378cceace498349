// Rows, loading and the mix of the application workloads.
#include "data/workload/application.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "data/workload/key_value.hpp"

namespace cupel::workload {

namespace {

std::vector<Datum> datums(const RowKey& key) {
  return {key.begin(), key.end()};
}

// The next key within the extent, the last column fastest; false after the last one.
bool advance(RowKey& key, const RowKey& extent) {
  for (std::size_t i = key.size(); i-- > 0;) {
    if (++key[i] <= extent[i]) return true;
    key[i] = 1;
  }
  return false;
}

}  // namespace

std::int64_t scaled(std::int64_t number, double scale, std::int64_t least) {
  return std::max(least,
                  static_cast<std::int64_t>(std::llround(static_cast<double>(number) * scale)));
}

ReadRow::ReadRow(const Reply& reply, std::size_t columns)
    : exists_(!reply.rows.empty()), payloads_(columns) {
  if (!exists_) return;
  const auto& values = reply.rows[0].values;
  for (std::size_t i = 0; i < std::min(columns, values.size()); ++i) {
    payloads_[i] = payload_of(values[i]);
  }
}

ReadRow Rows::read(std::uint32_t table, const RowKey& key, Columns columns) {
  const auto count = columns.size();
  return {transaction_.execute({.kind = StatementKind::kRead,
                                .table = table,
                                .key = datums(key),
                                .columns = std::move(columns)}),
          count};
}

void Rows::write(std::uint32_t table, const RowKey& key, const std::vector<Update>& updates) {
  Statement s{.kind = StatementKind::kWrite, .table = table, .key = datums(key)};
  const auto unique = transaction_.unique();
  for (const auto& update : updates) {
    s.columns.push_back(update.column);
    s.values.push_back(make_cell(update.payload, unique));
  }
  transaction_.execute(s);
}

void Rows::insert(std::uint32_t table, const RowKey& key,
                  const std::vector<std::string>& payloads) {
  Statement s{.kind = StatementKind::kInsert, .table = table, .key = datums(key)};
  const auto unique = transaction_.unique();
  for (const auto& payload : payloads) s.values.push_back(make_cell(payload, unique));
  transaction_.execute(s);
}

void Rows::erase(std::uint32_t table, const RowKey& key) {
  transaction_.execute({.kind = StatementKind::kDelete, .table = table, .key = datums(key)});
}

Application::Application(const WorkloadOptions& options, std::vector<TableSpec> tables,
                         bool deletes)
    : tables_(std::move(tables)), needs_{.interactive = true, .tables = true, .deletes = deletes} {
  for (const auto& spec : tables_) {
    Table table{.name = spec.name, .key = {}, .columns = {}};
    for (const auto& name : spec.key) table.key.push_back({name, ColumnType::kInteger});
    for (const auto& name : spec.columns) table.columns.push_back({name, ColumnType::kText});
    schema_.tables.push_back(std::move(table));
  }
  for (std::uint32_t s = 0; s < options.sessions; ++s) {
    randoms_.push_back(session_random(options.seed, s));
  }
}

void Application::load(const RowSink& sink) const {
  for (std::uint32_t t = 0; t < tables_.size(); ++t) {
    const auto& spec = tables_[t];
    if (spec.extent.empty()) continue;
    RowKey key(spec.extent.size(), 1);
    do {
      Row row{.key = datums(key), .values = {}};
      for (const auto& payload : spec.loaded(key)) row.values.push_back(make_cell(payload, 0));
      assert(row.values.size() == spec.columns.size());
      sink(t, row);
    } while (advance(key, spec.extent));
  }
}

Datum Application::loaded(std::uint32_t table, const std::vector<Datum>& key,
                          std::uint32_t column) const {
  const auto& spec = tables_[table];
  if (spec.extent.empty()) return {};
  RowKey numbers;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const auto* number = std::get_if<std::int64_t>(&key[i]);
    if (!number || *number < 1 || *number > spec.extent[i]) return {};
    numbers.push_back(*number);
  }
  return make_cell(spec.loaded(numbers)[column], 0);
}

std::optional<Job> Application::next(std::uint32_t session) {
  base::Random& random = randoms_[session];
  double total = 0;
  for (const auto& kind : kinds_) total += kind.weight;
  double drawn = random.unit() * total;
  std::size_t k = 0;
  while (k + 1 < kinds_.size() && drawn >= kinds_[k].weight) drawn -= kinds_[k++].weight;
  Job job{.name = kinds_[k].name};
  job.program = [program = kinds_[k].make(random)](Transaction& transaction) {
    Rows rows(transaction);
    program(rows);
  };
  return job;
}

}  // namespace cupel::workload
