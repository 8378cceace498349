// INSERT while it runs.
#include "sql/exec/insert_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sql/exec/query_run.hpp"
#include "sql/exec/writer.hpp"

namespace cupel::sql {

namespace {

class InsertRun {
 public:
  InsertRun(const Insert& insert, ExecutionContext& context)
      : insert_(insert),
        writer_(insert.table),
        context_(context),
        columns_(insert.table->columns),
        outside_{context, nullptr, {}, nullptr} {}

  Result run(const std::vector<Column>& columns) {
    result_.has_rows = insert_.back.any;
    result_.columns = columns;
    for (auto& known : given_rows()) add(known);
    for (auto* row : written_) writer_.check_parents(context_, *row, nullptr);
    check_children(context_, former_);
    for (auto* row : written_) {
      return_row(insert_.back, Frame{context_, nullptr, {row}, nullptr}, result_);
    }
    result_.affected = count_;
    result_.tag = fmt::format("INSERT 0 {}", count_);
    return std::move(result_);
  }

 private:
  using Values = std::map<std::size_t, Scalar>;

  // All that is read for the new rows is read before the first is written.
  std::vector<Values> given_rows() {
    std::vector<Values> given;
    for (const auto& values : insert_.rows) {
      Values row;
      for (const auto& value : values) {
        row[value.column] = value.value->value(outside_);
      }
      given.push_back(std::move(row));
    }
    return given;
  }

  // The row with its defaults.
  ValueRow& completed(Values& known) {
    std::vector<Scalar> values(columns_.size());
    for (std::size_t at = 0; at < values.size(); ++at) {
      const auto found = known.find(at);
      values[at] =
          found == known.end() ? insert_.defaults[at]->value(outside_) : std::move(found->second);
    }
    return context_.keep<ValueRow>(std::move(values));
  }

  StoredRow* find_duplicate(Row& row) {
    for (const auto& columns : insert_.conflict.arbiters) {
      if (auto* other = writer_.find_duplicate(context_, row, columns, nullptr)) return other;
    }
    return nullptr;
  }

  void add(Values& known) {
    auto& row = completed(known);
    writer_.check_nulls(row, nullptr);
    auto* other = find_duplicate(row);
    if (other != nullptr && insert_.conflict.action == Conflict::Action::kDoNothing) return;
    if (other != nullptr) return update(*other, row);
    writer_.check_unique(context_, row, nullptr, nullptr);
    auto& fresh = writer_.add(context_, row);
    touched_.insert(&fresh);
    written_.push_back(&fresh);
    ++count_;
  }

  void update(StoredRow& other, ValueRow& row) {
    if (touched_.count(&other) != 0) {
      raise("21000", "ON CONFLICT DO UPDATE command cannot affect row a second time");
    }
    other.lock({.mode = mock::LockMode::kNoKeyUpdate});
    const auto& conflict = insert_.conflict;
    Frame frame{context_, nullptr, {&other, &row}, nullptr};
    if (conflict.where != nullptr && !holds(conflict.where, frame)) return;
    auto& over = context_.keep<Overlay>(other);
    compute(conflict.set, frame, over);
    const auto changed = columns_set(conflict.set);
    auto& fresh = rewrite(context_, writer_, {other, over, changed}, former_);
    touched_.insert(&fresh);
    ++count_;
    written_.push_back(&fresh);
  }

  const Insert& insert_;
  Writer writer_;
  ExecutionContext& context_;
  const std::vector<ColumnInfo>& columns_;
  Frame outside_;
  Result result_;
  std::vector<Row*> written_;
  std::vector<FormerParent> former_;
  std::set<const StoredRow*> touched_;
  std::uint64_t count_ = 0;
};

}  // namespace

Result run(const Insert& insert, const std::vector<Column>& columns, ExecutionContext& context) {
  return InsertRun(insert, context).run(columns);
}

}  // namespace cupel::sql
