// Queries at work: nested loops, groups, order; see the header.
#include <algorithm>
#include <map>
#include <set>

#include "mock/sql/exec/run.hpp"

namespace cupel::sql {

namespace {

bool all_hold(const Conditions& conditions, const Frame& frame) {
  return std::all_of(conditions.begin(), conditions.end(),
                     [&](const auto& condition) { return holds(condition, frame); });
}

// Whether conditions on the primary key alone rule the row out before it is read. One
// that raises an error is asked again once the row is known to be there.
bool ruled_out(const Conditions& conditions, const Frame& frame) {
  try {
    return !all_hold(conditions, frame);
  } catch (const SqlException& exception) {
    if (exception.ended) throw;
    return false;
  }
}

// What is done about locks before a row of a table is read. Rows are locked when they have been
// found; before that only the one row that a whole key names, and those of a transaction that reads
// what it has locked. False: the row is skipped.
bool prepare(StoredRow& row, const Source& source, bool whole_key,
             const ExecutionContext& context) {
  const auto& locking = context.facts.locking;
  if (!locking.locks) return true;
  if (!source.lock) return !context.reads_lock() || row.lock({.mode = mock::LockMode::kShare});
  if (locking.snapshot_filters) return true;
  if (whole_key) return row.lock(*source.lock);
  row.read_latest();
  return true;
}

class NestedLoop {
 public:
  NestedLoop(const Select& select, Frame& frame, const std::function<bool()>& found)
      : select_(select), frame_(frame), found_(found) {}

  // The tables from this one on; false to end.
  bool run(std::size_t at) {
    if (at == select_.sources.size()) return found_();
    const auto& source = select_.sources[at];
    bool partner = false;
    if (const auto key = key_of(source)) {
      auto& context = frame_.context;
      const bool whole = !key->empty() && key->size() == source.table->key.size();
      if (!whole && (source.lock || context.reads_lock())) context.lock_gaps(*source.table);
      for (auto* row : context.rows(source.table, *key)) {
        context.facts.check_interrupts();
        frame_.rows[at] = row;
        if (ruled_out(source.early, frame_) || !prepare(*row, source, whole, context)) continue;
        if (!row->present()) continue;
        if (!all_hold(source.on, frame_)) continue;
        partner = true;
        if (all_hold(source.filters, frame_) && !run(at + 1)) return false;
      }
    }
    if (!source.optional || partner) return true;
    frame_.rows[at] = &frame_.context.null_row;
    return !all_hold(source.filters, frame_) || run(at + 1);
  }

 private:
  // The first values of the primary key; none if no row can have them.
  [[nodiscard]] std::optional<std::vector<Scalar>> key_of(const Source& source) const {
    std::vector<Scalar> key;
    for (const auto& part : source.key) {
      const auto value = part->value(frame_);
      if (is_null(value)) return std::nullopt;
      try {
        key.push_back(
            cast(value, part->type.type, {source.table->type_of(source.table->key[key.size()])}));
      } catch (const SqlException&) {  // a number that the column's type cannot hold
        return std::nullopt;
      }
    }
    return key;
  }

  const Select& select_;
  Frame& frame_;
  const std::function<bool()>& found_;
};

// One aggregate over one group.
class Accumulator {
 public:
  explicit Accumulator(const Aggregate& aggregate) : aggregate_(aggregate) {}

  void add(const Frame& frame) {
    if (aggregate_.argument == nullptr) {
      ++count_;
      return;
    }
    const auto value = aggregate_.argument->value(frame);
    if (is_null(value)) return;
    if (aggregate_.distinct && !seen_.insert(value).second) return;
    ++count_;
    if (kind() == Kind::kSum || kind() == Kind::kAverage) {
      const auto part = cast(value, type(), {Type::kNumeric});
      sum_ = sum_ + std::get<Decimal>(part);
    } else if (kind() != Kind::kCount) {
      const bool better = kind() == Kind::kGreatest ? value > best_ : value < best_;
      if (is_null(best_) || better) best_ = value;
    }
  }

  [[nodiscard]] Scalar value() const {
    if (kind() == Kind::kCount) return count_;
    if (count_ == 0) return {};
    if (kind() == Kind::kSum) return cast(sum_, Type::kNumeric, aggregate_.type);
    if (kind() == Kind::kAverage) return sum_.divided_by(Decimal(count_));
    return best_;
  }

 private:
  using Kind = Aggregate::Kind;
  [[nodiscard]] Kind kind() const { return aggregate_.kind; }
  [[nodiscard]] Type type() const { return aggregate_.argument->type.type; }

  const Aggregate& aggregate_;
  std::int64_t count_ = 0;
  Decimal sum_;
  Scalar best_;
  std::set<Scalar> seen_;
};

struct Group {
  std::vector<Row*> rows;  // of its first member
  std::vector<Accumulator> totals;
};

// A row on its way out, before its outputs are asked for.
struct Candidate {
  std::vector<Row*> rows;
  std::vector<Scalar> aggregates;
  std::vector<Scalar> order;
  std::vector<Scalar> outputs;  // known already when DISTINCT
};

std::int64_t row_count(const ExpressionPtr& expression, const Frame& frame, const char* sqlstate,
                       std::int64_t if_null) {
  const auto value = expression == nullptr ? Scalar() : expression->value(frame);
  if (is_null(value)) return if_null;
  const auto count = std::get<std::int64_t>(value);
  if (count < 0) raise(sqlstate, "LIMIT and OFFSET must not be negative");
  return count;
}

// Null is above all else.
bool sorted_before(const std::vector<Sort>& sorts, const std::vector<Scalar>& left,
                   const std::vector<Scalar>& right) {
  for (std::size_t at = 0; at < sorts.size(); ++at) {
    if (left[at] == right[at]) continue;
    const bool null = is_null(left[at]) || is_null(right[at]);
    return (null ? is_null(right[at]) : left[at] < right[at]) != sorts[at].descending;
  }
  return false;
}

// A query while it runs.
class SelectRun {
 public:
  SelectRun(const Select& select, ExecutionContext& context, const Frame* outer, const RowSink& row)
      : select_(select), row_(row), frame_{context, outer, {}, nullptr} {
    frame_.rows.resize(select.sources.size(), &context.null_row);
    for (const auto& output : select.outputs) outputs_.push_back(output.value);
  }

  void run() {
    skip_ = row_count(select_.offset, frame_, "2201X", 0);
    most_ = row_count(select_.limit, frame_, "2201W", -1);
    if (most_ == 0) return;
    if (select_.grouped) {
      take_groups();
    } else {
      enumerate(select_, frame_, [&] { return take(); });
    }
    std::stable_sort(waiting_.begin(), waiting_.end(), [&](const auto& left, const auto& right) {
      return sorted_before(select_.sorts, left.order, right.order);
    });
    for (auto& candidate : waiting_) {
      frame_.rows = candidate.rows;
      frame_.aggregates = &candidate.aggregates;
      if (!give(candidate)) return;
    }
  }

 private:
  // Takes a row that all conditions hold for; false when enough is there.
  bool take() {
    Candidate candidate;
    if (select_.distinct) {
      candidate.outputs = values_of(outputs_);
      if (!seen_.insert(candidate.outputs).second) return true;
    }
    if (select_.sorts.empty()) return give(candidate);
    for (const auto& sort : select_.sorts) candidate.order.push_back(sort.value->value(frame_));
    candidate.rows = frame_.rows;
    if (frame_.aggregates != nullptr) candidate.aggregates = *frame_.aggregates;
    waiting_.push_back(std::move(candidate));
    return true;
  }

  bool give(Candidate& candidate) {
    if (!lock_found(select_, frame_)) return true;
    if (passed_++ < skip_) return true;
    if (!select_.distinct) candidate.outputs = values_of(outputs_);
    if (!row_(candidate.outputs)) return false;
    return most_ < 0 || passed_ - skip_ < most_;
  }

  [[nodiscard]] std::vector<Scalar> values_of(const std::vector<ExpressionPtr>& expressions) const {
    std::vector<Scalar> values;
    for (const auto& one : expressions) values.push_back(one->value(frame_));
    return values;
  }

  // All rows go into their groups before the first group is taken.
  [[nodiscard]] std::vector<Group> groups() {
    std::vector<Group> groups;
    std::map<std::vector<Scalar>, std::size_t> places;
    const auto place_of = [&](const std::vector<Scalar>& key) {
      const auto [place, fresh] = places.emplace(key, groups.size());
      if (fresh) {
        groups.push_back({frame_.rows, {}});
        for (const auto& one : select_.aggregates) groups.back().totals.emplace_back(one);
      }
      return place->second;
    };
    if (select_.groups.empty()) (void)place_of({});
    enumerate(select_, frame_, [&] {
      const auto place = place_of(values_of(select_.groups));
      for (auto& total : groups[place].totals) total.add(frame_);
      return true;
    });
    return groups;
  }

  void take_groups() {
    for (const auto& group : groups()) {
      std::vector<Scalar> totals;
      for (const auto& total : group.totals) totals.push_back(total.value());
      frame_.rows = group.rows;
      frame_.aggregates = &totals;
      if (select_.having != nullptr && !holds(select_.having, frame_)) continue;
      if (!take()) break;
    }
    frame_.aggregates = nullptr;
  }

  const Select& select_;
  const RowSink& row_;
  Frame frame_;
  std::vector<ExpressionPtr> outputs_;
  std::set<std::vector<Scalar>> seen_;
  std::vector<Candidate> waiting_;  // to be sorted
  std::int64_t skip_ = 0, most_ = -1, passed_ = 0;
};

}  // namespace

void enumerate(const Select& select, Frame& frame, const std::function<bool()>& found) {
  if (all_hold(select.gate, frame)) NestedLoop(select, frame, found).run(0);
}

bool lock_found(const Select& select, const Frame& frame) {
  bool locked = false;
  for (std::size_t at = 0; at < select.sources.size(); ++at) {
    const auto& lock = select.sources[at].lock;
    if (!lock || !frame.context.facts.locking.locks) continue;
    auto* row = dynamic_cast<StoredRow*>(frame.rows[at]);
    if (row == nullptr) continue;
    if (!row->lock(*lock)) return false;
    locked = true;
  }
  if (!locked) return true;
  for (std::size_t at = 0; at < select.sources.size(); ++at) {
    const auto& source = select.sources[at];
    auto* row = dynamic_cast<StoredRow*>(frame.rows[at]);
    if (row != nullptr && !(row->present() && all_hold(source.on, frame))) return false;
    if (!all_hold(source.filters, frame)) return false;
  }
  return true;
}

void run(const Select& select, ExecutionContext& context, const Frame* outer, const RowSink& row) {
  SelectRun(select, context, outer, row).run();
}

}  // namespace cupel::sql
