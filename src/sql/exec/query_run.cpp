// Queries at work: nested loops, groups, order; see the header.
#include "sql/exec/query_run.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

namespace cupel::sql {

namespace {

bool all_hold(const std::vector<ExpressionPtr>& conditions, const Frame& frame) {
  return std::all_of(conditions.begin(), conditions.end(),
                     [&](const auto& condition) { return holds(condition, frame); });
}

// Whether conditions on the primary key alone rule the row out before it is read. One
// that raises an error is asked again once the row is known to be there.
bool ruled_out(const std::vector<ExpressionPtr>& conditions, const Frame& frame) {
  try {
    return !all_hold(conditions, frame);
  } catch (const SqlException& exception) {
    if (exception.ended) throw;
    return false;
  }
}

void nulls(const Join& join, Frame& frame) {
  if (join.kind == Join::Kind::kLeaf) {
    frame.rows[join.source] = &frame.context.null_row;
    return;
  }
  nulls(*join.left, frame);
  nulls(*join.right, frame);
}

// What is done about locks before a row of a table is read. Rows are locked when they have been
// found; before that only the one row that a whole key names, and those of a transaction that reads
// what it has locked.
class Locker {
 public:
  Locker(ExecutionContext& context, const Source& source, std::size_t known)
      : lock_(source.lock),
        locks_(context.facts.locking.locks && source.lock),
        shares_(context.reads_lock()),
        snapshot_(context.facts.locking.snapshot_filters),
        one_(known > 0 && known == source.table->key.size()) {
    if ((locks_ || shares_) && !one_) context.lock_gaps(*source.table);
  }
  // False: the row is skipped.
  bool prepare(StoredRow& row) const {
    if (locks_ && !snapshot_) {
      if (one_) return row.lock(*lock_);
      row.read_latest();
    } else if (shares_ && !locks_) {
      return row.lock({.mode = mock::LockMode::kShare});
    }
    return true;
  }

 private:
  const std::optional<RowLock>& lock_;
  bool locks_, shares_, snapshot_, one_;
};

bool leaf(const Join& join, const std::vector<Source>& sources, Frame& frame,
          const std::function<bool()>& found) {
  const auto& source = sources[join.source];
  auto& place = frame.rows[join.source];
  std::vector<Scalar> first;
  for (const auto& part : join.key) {
    auto value = part->value(frame);
    if (is_null(value)) return true;
    const auto& type = source.table->columns[source.table->key[first.size()]].type;
    try {
      // A number that the column's type cannot hold is no row's.
      first.push_back(cast(value, part->type.type, {type.type}));
    } catch (const SqlException&) {
      return true;
    }
  }
  const Locker locker(frame.context, source, first.size());
  for (auto* row : frame.context.rows(source.table, first)) {
    frame.context.facts.check_interrupts();
    place = row;
    if (ruled_out(join.early, frame)) continue;
    if (!locker.prepare(*row)) continue;
    if (!row->present()) continue;
    if (all_hold(join.filters, frame) && !found()) return false;
  }
  return true;
}

std::string text_key(const std::vector<Scalar>& values, const std::vector<Type>& types) {
  std::string text;
  for (std::size_t at = 0; at < values.size(); ++at) {
    if (is_null(values[at])) {
      text += "n";
      continue;
    }
    const auto one = canonical(values[at], types[at]);
    text += std::to_string(one.size()) + ":" + one;
  }
  return text;
}

// One aggregate over one group.
class Accumulator {
 public:
  explicit Accumulator(const Aggregate& aggregate) : aggregate_(aggregate) {}

  void add(const Frame& frame) {
    if (aggregate_.arguments.empty()) {
      ++count_;
      return;
    }
    auto value = aggregate_.arguments[0]->value(frame);
    if (is_null(value)) return;
    if (aggregate_.distinct && !seen_.insert(canonical(value, type())).second) return;
    ++count_;
    take(std::move(value));
  }

  [[nodiscard]] Scalar value() const {
    const auto kind = aggregate_.kind;
    if (kind == Kind::kCount) return count_;
    if (count_ == 0) return {};
    if (kind != Kind::kSum && kind != Kind::kAverage) return best_;
    if (type() == Type::kDouble) {
      const double total = kind == Kind::kSum ? real_ : real_ / static_cast<double>(count_);
      if (std::isinf(total)) raise("22003", "value out of range: overflow");
      return total;
    }
    if (kind == Kind::kAverage) return exact_.divided_by(Decimal(count_));
    if (aggregate_.type.type != Type::kBigint) return exact_;
    const auto whole = exact_.to_integer();
    if (!whole) raise("22003", "bigint out of range");
    return *whole;
  }

 private:
  using Kind = Aggregate::Kind;
  [[nodiscard]] Type type() const { return aggregate_.arguments[0]->type.type; }
  void take(Scalar value) {
    switch (aggregate_.kind) {
      case Kind::kSum:
      case Kind::kAverage:
        add_number(value);
        break;
      case Kind::kLeast:
      case Kind::kGreatest: {
        const int wanted = aggregate_.kind == Kind::kGreatest ? 1 : -1;
        if (is_null(best_) || compare(value, best_, type()) * wanted > 0) {
          best_ = std::move(value);
        }
        break;
      }
      case Kind::kCount:
        break;
    }
  }
  void add_number(const Scalar& value) {
    if (type() == Type::kDouble) {
      real_ += std::get<double>(value);
    } else if (is_integer(type())) {
      exact_ = exact_ + Decimal(std::get<std::int64_t>(value));
    } else {
      exact_ = exact_ + std::get<Decimal>(value);
    }
  }
  const Aggregate& aggregate_;
  std::int64_t count_ = 0;
  Decimal exact_;
  double real_ = 0;
  Scalar best_;
  std::unordered_set<std::string> seen_;
};

struct Group {
  std::vector<Row*> rows;  // of its first member
  std::vector<Accumulator> totals;
  std::vector<Scalar> values;
};

// A row on its way out, before its outputs are asked for.
struct Candidate {
  std::vector<Row*> rows;
  std::vector<Scalar> aggregates;
  std::vector<Scalar> order;
  std::vector<Scalar> outputs;  // known already when DISTINCT
};

std::int64_t bound_of(const ExpressionPtr& expression, const Frame& frame, const char* what,
                      std::int64_t if_null) {
  if (expression == nullptr) return if_null;
  const auto value = expression->value(frame);
  if (is_null(value)) return if_null;
  const auto count = std::get<std::int64_t>(value);
  if (count < 0) {
    raise(what[0] == 'L' ? "2201W" : "2201X", std::string(what) + " must not be negative");
  }
  return count;
}

std::vector<Scalar> outputs_of(const Select& select, const Frame& frame) {
  std::vector<Scalar> values;
  values.reserve(select.outputs.size());
  for (const auto& output : select.outputs) {
    values.push_back(output.value == nullptr ? Scalar() : output.value->value(frame));
  }
  return values;
}

}  // namespace

bool still_holds(const Join& join, const std::vector<Source>& sources, const Frame& frame) {
  if (join.kind == Join::Kind::kLeaf) {
    auto* stored = dynamic_cast<StoredRow*>(frame.rows[join.source]);
    const bool there = stored == nullptr || stored->present();
    const bool none = frame.rows[join.source] == &frame.context.null_row;
    return there && (none || all_hold(join.filters, frame));
  }
  return still_holds(*join.left, sources, frame) && still_holds(*join.right, sources, frame) &&
         (join.kind == Join::Kind::kLeft || all_hold(join.filters, frame));
}

bool lock_found(const Select& select, const Frame& frame) {
  bool locked = false;
  for (std::size_t at = 0; at < select.sources.size(); ++at) {
    if (!select.sources[at].lock || !frame.context.facts.locking.locks) continue;
    auto* row = dynamic_cast<StoredRow*>(frame.rows[at]);
    if (row == nullptr) continue;
    if (!row->lock(*select.sources[at].lock)) return false;
    locked = true;
  }
  return !locked || still_holds(*select.from, select.sources, frame);
}

bool enumerate(const Join& join, const std::vector<Source>& sources, Frame& frame,
               const std::function<bool()>& found) {
  if (join.kind == Join::Kind::kLeaf) return leaf(join, sources, frame, found);
  if (join.kind == Join::Kind::kInner) {
    return enumerate(*join.left, sources, frame, [&] {
      return enumerate(*join.right, sources, frame,
                       [&] { return !all_hold(join.filters, frame) || found(); });
    });
  }
  return enumerate(*join.left, sources, frame, [&] {
    bool partner = false;
    bool continues = true;
    if (all_hold(join.gate, frame)) {
      continues = enumerate(*join.right, sources, frame, [&] {
        partner = true;
        return !all_hold(join.filters, frame) || found();
      });
    }
    if (!continues || partner) return continues;
    nulls(*join.right, frame);
    return !all_hold(join.filters, frame) || found();
  });
}

namespace {

// Whether a row of these values of `sorts` comes before another.
bool sorted_before(const std::vector<Sort>& sorts, const std::vector<Scalar>& left,
                   const std::vector<Scalar>& right) {
  for (std::size_t at = 0; at < sorts.size(); ++at) {
    const auto& sort = sorts[at];
    if (is_null(left[at]) || is_null(right[at])) {
      if (is_null(left[at]) == is_null(right[at])) continue;
      return is_null(left[at]) == sort.nulls_first;
    }
    const int order = compare(left[at], right[at], sort.value->type.type);
    if (order != 0) return sort.descending ? order > 0 : order < 0;
  }
  return false;
}

std::vector<Type> order_types(const std::vector<ExpressionPtr>& values) {
  std::vector<Type> types;
  for (const auto& value : values) {
    types.push_back(value == nullptr ? Type::kNull : value->type.type);
  }
  return types;
}

// A query while it runs.
class SelectRun {
 public:
  SelectRun(const Select& select, ExecutionContext& context, const Frame* outer, const RowSink& row)
      : select_(select), row_(row), frame_{context, outer, {}, nullptr} {
    frame_.rows.resize(select.sources.size(), &context.null_row);
    std::vector<ExpressionPtr> outputs;
    for (const auto& output : select.outputs) outputs.push_back(output.value);
    output_types_ = order_types(outputs);
  }

  void run() {
    skip_ = bound_of(select_.offset, frame_, "OFFSET", 0);
    most_ = bound_of(select_.limit, frame_, "LIMIT", -1);
    if (most_ == 0) return;
    if (select_.grouped) {
      take_groups();
    } else {
      all_rows([&] { return take(); });
    }
    if (!select_.sorts.empty()) give_sorted();
  }

 private:
  void all_rows(const std::function<bool()>& found) {
    if (!all_hold(select_.gate, frame_)) return;
    if (select_.from == nullptr) {
      found();
    } else {
      enumerate(*select_.from, select_.sources, frame_, found);
    }
  }

  // Takes a row that all conditions hold for; false when enough is there.
  bool take() {
    Candidate candidate;
    if (select_.distinct) {
      candidate.outputs = outputs_of(select_, frame_);
      if (!seen_.insert(text_key(candidate.outputs, output_types_)).second) return true;
    }
    if (select_.sorts.empty()) {
      if (!lock_found(select_, frame_)) return true;
      if (passed_++ < skip_) return true;
      if (!select_.distinct) candidate.outputs = outputs_of(select_, frame_);
      if (!row_(candidate.outputs)) return false;
      return most_ < 0 || passed_ - skip_ < most_;
    }
    for (const auto& sort : select_.sorts) candidate.order.push_back(sort.value->value(frame_));
    candidate.rows = frame_.rows;
    if (frame_.aggregates != nullptr) candidate.aggregates = *frame_.aggregates;
    waiting_.push_back(std::move(candidate));
    return true;
  }

  // All rows go into their groups before the first group is taken.
  [[nodiscard]] std::vector<Group> groups() {
    std::vector<Group> groups;
    std::unordered_map<std::string, std::size_t> places;
    const auto types = order_types(select_.groups);
    const auto new_group = [&] {
      groups.push_back({frame_.rows, {}, {}});
      for (const auto& aggregate : select_.aggregates) {
        groups.back().totals.emplace_back(aggregate);
      }
    };
    if (select_.groups.empty()) {
      new_group();
      places.emplace("", 0);
    }
    all_rows([&] {
      std::vector<Scalar> values;
      for (const auto& group : select_.groups) values.push_back(group->value(frame_));
      const auto [place, fresh] = places.emplace(text_key(values, types), groups.size());
      if (fresh) new_group();
      for (auto& total : groups[place->second].totals) total.add(frame_);
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

  void give_sorted() {
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [&](const Candidate& left, const Candidate& right) {
                       return sorted_before(select_.sorts, left.order, right.order);
                     });
    for (auto& candidate : waiting_) {
      frame_.rows = candidate.rows;
      frame_.aggregates = &candidate.aggregates;
      if (!lock_found(select_, frame_)) continue;
      if (passed_++ < skip_) continue;
      if (!select_.distinct) candidate.outputs = outputs_of(select_, frame_);
      if (!row_(candidate.outputs)) return;
      if (most_ >= 0 && passed_ - skip_ >= most_) return;
    }
  }

  const Select& select_;
  const RowSink& row_;
  Frame frame_;
  std::vector<Type> output_types_;
  std::unordered_set<std::string> seen_;
  std::vector<Candidate> waiting_;  // to be sorted
  std::int64_t skip_ = 0, most_ = -1, passed_ = 0;
};

}  // namespace

void run(const Select& select, ExecutionContext& context, const Frame* outer, const RowSink& row) {
  SelectRun(select, context, outer, row).run();
}

}  // namespace cupel::sql
