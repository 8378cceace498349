// UPDATE and DELETE while they run.
#include "sql/exec/change_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sql/exec/query_run.hpp"
#include "sql/exec/writer.hpp"

namespace cupel::sql {

namespace {

class ChangeRun {
 public:
  ChangeRun(const Change& change, ExecutionContext& context)
      : change_(change),
        writer_(change.table),
        context_(context),
        frame_{context, nullptr, {}, nullptr} {}

  Result run(const std::vector<Column>& columns) {
    find();
    write();
    Result result;
    result.has_rows = change_.back.any;
    result.columns = columns;
    for (auto& one : found_) {
      return_row(change_.back, Frame{context_, nullptr, {one.now}, nullptr}, result);
    }
    result.affected = found_.size();
    result.tag = fmt::format("{} {}", change_.update ? "UPDATE" : "DELETE", found_.size());
    return result;
  }

 private:
  struct Found {
    StoredRow* row;
    StoredRow* now;  // after it was written
    Overlay* over;
  };

  // All rows, and their new values, before the first is written.
  void find() {
    const auto& select = *change_.select;
    frame_.rows.resize(1, &context_.null_row);
    const bool open = std::all_of(select.gate.begin(), select.gate.end(),
                                  [&](const auto& condition) { return holds(condition, frame_); });
    if (!open) return;
    enumerate(*select.from, select.sources, frame_, [&] {
      if (!lock_found(select, frame_)) return true;
      auto* row = static_cast<StoredRow*>(frame_.rows[0]);
      found_.push_back({row, row, &context_.keep<Overlay>(*row)});
      if (change_.update) compute(change_.set, frame_, *found_.back().over);
      return true;
    });
  }

  void write() {
    std::vector<FormerParent> former;
    const auto changed = columns_set(change_.set);
    for (auto& one : found_) {
      if (change_.update) {
        one.now = &rewrite(context_, writer_, {*one.row, *one.over, changed}, former);
      } else {
        former.push_back(former_parent(context_, change_.table, *one.row));
        one.row->set_present(false);
      }
    }
    if (change_.update) {
      for (auto& one : found_) writer_.check_parents(context_, *one.now, &changed);
    }
    check_children(context_, former);
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
