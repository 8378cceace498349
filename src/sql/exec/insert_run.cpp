// INSERT while it runs.
#include "sql/exec/insert_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sql/exec/query_run.hpp"
#include "sql/exec/writer.hpp"
#include "sql/plan/row_errors.hpp"

namespace cupel::sql {

namespace {

// Of a column with a counter. Numbers beyond 63 bits do not move it.
std::int64_t counted_number(const Scalar& value) {
  if (const auto* number = std::get_if<std::uint64_t>(&value)) {
    if (!std::in_range<std::int64_t>(*number)) {
      not_supported("a value beyond 63 bits in an AUTO_INCREMENT column");
    }
    return static_cast<std::int64_t>(*number);
  }
  return std::get<std::int64_t>(value);
}

class InsertRun {
 public:
  InsertRun(const Insert& insert, ExecutionContext& context)
      : insert_(insert),
        writer_(insert.target),
        context_(context),
        rules_(context.facts.dialect.rules().writes),
        columns_(insert.table->columns),
        outside_{context, nullptr, {}, nullptr} {}

  Result run(const std::vector<Column>& columns) {
    result_.has_rows = insert_.back.any;
    result_.columns = columns;
    auto given = given_rows();
    if (rules_.needs_defaults && !given.empty()) check_defaults();
    for (auto& known : given) {
      ++number_;
      add(known);
    }
    for (auto* row : written_) writer_.check_parents(context_, *row, nullptr);
    if (rules_.zero_counts && !written_.empty()) note_given_id();
    apply_foreign_keys(context_, std::move(pending_));
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
    const auto& dialect = context_.facts.dialect;
    if (insert_.query != nullptr) {
      sql::run(*insert_.query, context_, nullptr, [&](std::vector<Scalar>& values) {
        Values row;
        for (std::size_t at = 0; at < values.size(); ++at) {
          const auto from = insert_.query->outputs[at].value->type.type;
          const auto& column = columns_[insert_.targets[at]];
          row[insert_.targets[at]] = in_range(dialect, column, given.size() + 1, [&] {
            return dialect.assigned(values[at], from, column.type);
          });
        }
        given.push_back(std::move(row));
        return true;
      });
    }
    for (const auto& values : insert_.rows) {
      Values row;
      for (const auto& value : values) {
        row[value.column] = in_range(dialect, columns_[value.column], given.size() + 1,
                                     [&] { return value.value->value(outside_); });
      }
      given.push_back(std::move(row));
    }
    return given;
  }

  // A column without a default is given in every INSERT.
  void check_defaults() const {
    for (std::size_t at = 0; at < columns_.size(); ++at) {
      const auto& column = columns_[at];
      if (!column.not_null || column.counter != nullptr || !column.default_value.is_null()) {
        continue;
      }
      const auto& targets = insert_.targets;
      if (std::find(targets.begin(), targets.end(), at) != targets.end()) continue;
      throw SqlException{
          {.sqlstate = "HY000",
           .message = fmt::format("Field '{}' doesn't have a default value", column.name),
           .mysql_number = 1364}};
    }
  }

  // The row with its defaults; `counted` is what a counter gave it, first.
  ValueRow& completed(Values& known, std::uint64_t& counted) {
    std::vector<Scalar> values(columns_.size());
    for (std::size_t at = 0; at < values.size(); ++at) {
      const auto found = known.find(at);
      const auto& counter = columns_[at].counter;
      // NULL and 0 ask for the next value; another moves the counter.
      const bool asks =
          rules_.zero_counts && counter != nullptr &&
          (found == known.end() || is_null(found->second) || counted_number(found->second) == 0);
      if (found == known.end() || asks) {
        values[at] = insert_.defaults[at]->value(outside_);
        if (counter != nullptr && rules_.zero_counts && counted == 0) {
          counted = static_cast<std::uint64_t>(counted_number(values[at]));
        }
      } else {
        values[at] = std::move(found->second);
        if (rules_.zero_counts && counter != nullptr) counter->reached(counted_number(values[at]));
      }
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
    std::uint64_t counted = 0;
    auto& row = completed(known, counted);
    writer_.check(context_, row, nullptr, number_);
    auto* other = find_duplicate(row);
    if (other != nullptr && insert_.conflict.action == Conflict::Action::kDoNothing) return;
    if (other != nullptr && insert_.conflict.action == Conflict::Action::kReplace) {
      for (; other != nullptr; other = find_duplicate(row)) remove(*other);
    }
    if (other != nullptr) return update(*other, row);
    writer_.check_unique(context_, row, nullptr, nullptr);
    auto& fresh = writer_.add(context_, row);
    if (result_.last_insert_id == 0) result_.last_insert_id = counted;
    touched_.insert(&fresh);
    written_.push_back(&fresh);
    ++count_;
  }

  // REPLACE deletes, and what it puts there instead comes too late for children.
  void remove(StoredRow& other) {
    other.lock({});
    std::vector<ParentChange> replaced{parent_change(context_, insert_.table, other)};
    other.set_present(false);
    apply_foreign_keys(context_, std::move(replaced));
    ++count_;
  }

  void update(StoredRow& other, ValueRow& row) {
    if (rules_.changes_row_once && touched_.count(&other) != 0) {
      raise("21000", "ON CONFLICT DO UPDATE command cannot affect row a second time");
    }
    other.lock({.mode = mock::LockMode::kNoKeyUpdate});
    const auto& conflict = insert_.conflict;
    Frame frame{context_, nullptr, {&other, &row}, nullptr};
    if (conflict.where != nullptr && !holds(conflict.where, frame)) return;
    auto& over = context_.keep<Overlay>(other);
    compute(*insert_.table, conflict.set, frame, 0, over, number_);
    const auto changed = columns_set(conflict.set);
    auto& fresh = rewrite(context_, writer_, {other, over, changed, number_}, pending_);
    if (rules_.children_row_by_row) apply_foreign_keys(context_, std::exchange(pending_, {}));
    touched_.insert(&fresh);
    count_ += rules_.updates_count;
    written_.push_back(&fresh);
  }

  // LAST_INSERT_ID() of a statement that gave the value of the counter's column itself.
  void note_given_id() {
    for (std::size_t at = 0; at < columns_.size(); ++at) {
      if (columns_[at].counter == nullptr || result_.last_insert_id != 0) continue;
      result_.last_insert_id =
          static_cast<std::uint64_t>(counted_number(written_.back()->cell(at)));
      result_.given_insert_id = true;
    }
  }

  const Insert& insert_;
  Writer writer_;
  ExecutionContext& context_;
  const Dialect::WriteRules& rules_;
  const std::vector<ColumnInfo>& columns_;
  Frame outside_;
  Result result_;
  std::vector<Row*> written_;
  std::vector<ParentChange> pending_;
  std::set<const StoredRow*> touched_;
  std::uint64_t count_ = 0;
  std::size_t number_ = 0;  // of the row, from 1
};

}  // namespace

Result run(const Insert& insert, const std::vector<Column>& columns, ExecutionContext& context) {
  const auto work = [&] { return InsertRun(insert, context).run(columns); };
  return insert.ignore ? as_insert_ignore(work) : work();
}

}  // namespace cupel::sql
