// UPDATE and DELETE while they run.
#include "sql/exec/change_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sql/exec/query_run.hpp"
#include "sql/exec/writer.hpp"

namespace cupel::sql {

namespace {

class ChangeRun {
 public:
  ChangeRun(const Change& change, ExecutionContext& context)
      : change_(change),
        writer_(change.target),
        context_(context),
        frame_{context, nullptr, {}, nullptr} {}

  Result run(const std::vector<Column>& columns) {
    find();
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
  };

  // All rows, and their new values, before the first is written.
  void find() {
    const auto& select = *change_.select;
    frame_.rows.resize(select.sources.size(), &context_.null_row);
    const bool open = std::all_of(select.gate.begin(), select.gate.end(),
                                  [&](const auto& condition) { return holds(condition, frame_); });
    if (!open) return;
    std::set<const Row*> seen;
    enumerate(*select.from, select.sources, frame_, [&] {
      if (seen.contains(frame_.rows[0]) || !lock_found(select, frame_)) return true;
      seen.insert(frame_.rows[0]);
      auto* row = static_cast<StoredRow*>(frame_.rows[0]);
      found_.push_back({row, frame_.rows, &context_.keep<Overlay>(*row)});
      if (change_.update) compute(change_.set, frame_, *found_.back().over);
      return true;
    });
  }

  void write() {
    std::vector<ParentChange> pending;
    const auto changed = columns_set(change_.set);
    for (auto& one : found_) {
      if (change_.update) {
        one.rows[0] = &rewrite(context_, writer_, {*one.row, *one.over, changed}, pending);
      } else {
        pending.push_back(parent_change(context_, change_.table, *one.row));
        one.row->set_present(false);
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
  std::vector<Found> found_;
};

}  // namespace

Result run(const Change& change, const std::vector<Column>& columns, ExecutionContext& context) {
  return ChangeRun(change, context).run(columns);
}

}  // namespace cupel::sql
