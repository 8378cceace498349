// UPDATE and DELETE while they run.
#include "sql/exec/change_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "sql/exec/query_run.hpp"
#include "sql/exec/writer.hpp"

namespace cupel::sql {

namespace {

// LIMIT of UPDATE and DELETE.
std::size_t rows_asked(const ExpressionPtr& limit, const Frame& frame) {
  if (limit == nullptr) return std::numeric_limits<std::size_t>::max();
  const auto value = limit->value(frame);
  if (is_null(value)) not_supported("LIMIT NULL");
  const auto count = std::get<std::int64_t>(value);
  if (count < 0) raise("42601", "LIMIT must not be negative");
  return static_cast<std::size_t>(count);
}

class ChangeRun {
 public:
  ChangeRun(const Change& change, ExecutionContext& context)
      : change_(change),
        writer_(change.target),
        context_(context),
        frame_{context, nullptr, {}, nullptr} {}

  Result run(const std::vector<Column>& columns) {
    find();
    if (!change_.select->sorts.empty()) sort();
    write();
    Result result;
    result.has_rows = change_.back.any;
    result.columns = columns;
    for (auto& one : found_) {
      return_row(change_.back, Frame{context_, nullptr, one.rows, nullptr}, result);
    }
    result.affected = found_.size();
    result.tag = fmt::format("{} {}", change_.update ? "UPDATE" : "DELETE", found_.size());
    return result;
  }

 private:
  struct Found {
    StoredRow* row;
    std::vector<Row*> rows;
    Overlay* over;
    std::vector<Scalar> order;
  };

  void assign_values(Found& one, std::size_t number) {
    if (change_.update) compute(*change_.table, change_.set, frame_, 0, *one.over, number);
  }

  // All rows, and their new values, before the first is written.
  void find() {
    const auto& select = *change_.select;
    frame_.rows.resize(select.sources.size(), &context_.null_row);
    const bool open = std::all_of(select.gate.begin(), select.gate.end(),
                                  [&](const auto& condition) { return holds(condition, frame_); });
    most_ = rows_asked(select.limit, frame_);
    if (!open || most_ == 0) return;
    std::set<const Row*> seen;
    enumerate(*select.from, select.sources, frame_, [&] {
      if (seen.contains(frame_.rows[0]) || !lock_found(select, frame_)) return true;
      seen.insert(frame_.rows[0]);
      auto* row = static_cast<StoredRow*>(frame_.rows[0]);
      found_.push_back({row, frame_.rows, &context_.keep<Overlay>(*row), {}});
      for (const auto& sort : select.sorts) {
        found_.back().order.push_back(sort.value->value(frame_));
      }
      if (!select.sorts.empty()) return true;
      assign_values(found_.back(), found_.size());
      return found_.size() != most_;
    });
  }

  void sort() {
    const auto& rules = context_.facts.dialect.rules().values;
    std::stable_sort(found_.begin(), found_.end(), [&](const Found& left, const Found& right) {
      return sorted_before(change_.select->sorts, left.order, right.order, rules);
    });
    if (found_.size() > most_) {
      found_.erase(found_.begin() + static_cast<std::ptrdiff_t>(most_), found_.end());
    }
    std::size_t number = 0;
    for (auto& one : found_) {
      frame_.rows = one.rows;
      assign_values(one, ++number);
    }
  }

  void write() {
    std::vector<ParentChange> pending;
    const auto changed = columns_set(change_.set);
    std::size_t number = 0;
    for (auto& one : found_) {
      ++number;
      if (change_.update) {
        one.rows[0] = &rewrite(context_, writer_, {*one.row, *one.over, changed, number}, pending);
      } else {
        pending.push_back(parent_change(context_, change_.table, *one.row));
        one.row->set_present(false);
      }
      if (context_.facts.dialect.rules().writes.children_row_by_row) {
        apply_foreign_keys(context_, std::exchange(pending, {}));
      }
    }
    if (change_.update) {
      for (auto& one : found_) writer_.check_parents(context_, *one.rows[0], &changed);
    }
    apply_foreign_keys(context_, std::move(pending));
  }

  const Change& change_;
  Writer writer_;
  ExecutionContext& context_;
  Frame frame_;
  std::size_t most_ = 0;
  std::vector<Found> found_;
};

}  // namespace

Result run(const Change& change, const std::vector<Column>& columns, ExecutionContext& context) {
  return ChangeRun(change, context).run(columns);
}

}  // namespace cupel::sql
