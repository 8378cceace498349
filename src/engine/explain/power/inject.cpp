// Injection: see the header.
#include "engine/explain/power/inject.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "data/history/builder.hpp"
#include "engine/check/check.hpp"
#include "engine/explain/why/explain.hpp"

namespace cupel::power {

using history::HistoryBuilder;
using history::OpKind;
using history::RangeEntry;
using history::ValueId;

namespace {

class Injector {
 public:
  Injector(const History& history, const Opportunity& opportunity)
      : history_(history), place_(opportunity) {
    for (const InjectedRead& seen : opportunity.seen) seen_[{seen.read, seen.key}] = seen;
  }

  std::optional<History> history() {
    if (history_.default_initial_value().valid()) {
      builder_.set_default_initial(value(history_.default_initial_value()));
    }
    for (const auto& [key, initial] : history_.initial_overrides()) {
      if (used(key)) builder_.set_initial(builder_.key(history_.key(key)), value(initial));
    }
    for (const TxnId t : place_.transactions) {
      builder_.begin(builder_.session(history_.session_name(history_.session(t))),
                     history_.status(t), {.label = history_.label(t)});
      for (auto op = history_.first_op(t); op < history_.last_op(t); ++op) {
        if (!add(OpId(op))) return std::nullopt;
      }
      builder_.end();
    }
    auto made = std::move(builder_).finish();
    if (!made.ok()) return std::nullopt;
    return std::move(made).value();
  }

 private:
  ValueId value(ValueId v) { return builder_.value(history_.value(v)); }
  [[nodiscard]] bool used(KeyId key) const {
    return std::any_of(seen_.begin(), seen_.end(),
                       [&](const auto& one) { return one.first.second == key; });
  }
  [[nodiscard]] ValueId written(OpId id) const {
    const auto op = history_.op(id);
    if (op.kind == OpKind::kCompareAndSet) return history_.compare_and_set(op).desired;
    return op.value.valid() ? op.value : history_.null_value();
  }
  // In the ids of the whole history; none() if nobody wrote it.
  [[nodiscard]] ValueId seen_value(const InjectedRead& seen) const {
    switch (seen.what) {
      case ReadAnswer::kInitial:
        return history_.initial_value(seen.key);
      case ReadAnswer::kWrite:
        return written(seen.write);
      case ReadAnswer::kNothingWritten:
        break;
    }
    return {};
  }
  // A value that no transaction of the history wrote.
  ValueId fresh() {
    auto number = std::numeric_limits<std::int64_t>::max();
    for (std::size_t v = 0; v < history_.value_count(); ++v) {
      const auto scalar = history_.value(ValueId(v));
      if (scalar.kind == history::ScalarKind::kInteger && scalar.integer == number) --number;
    }
    return builder_.value(number);
  }

  bool add(OpId id) {
    const auto op = history_.op(id);
    const auto find = [&](KeyId key) { return seen_.find({id, key}); };
    switch (op.kind) {
      case OpKind::kRead: {
        const auto key = builder_.key(history_.key(op.key));
        const auto seen = find(op.key);
        if (seen == seen_.end()) {
          builder_.read(key, ValueId::none());
        } else {
          const auto what = seen_value(seen->second);
          builder_.read(key, what.valid() ? value(what) : fresh());
        }
        return true;
      }
      case OpKind::kListRead: {
        const auto key = builder_.key(history_.key(op.key));
        const auto seen = find(op.key);
        if (seen == seen_.end()) {
          builder_.list_read_unknown(key);
          return true;
        }
        std::vector<ValueId> elements;
        if (seen->second.what == ReadAnswer::kNothingWritten) {
          elements.push_back(fresh());
        } else if (seen->second.what == ReadAnswer::kWrite) {
          // What the writer appended up to there.
          const OpId write = seen->second.write;
          for (auto o = history_.first_op(history_.txn_of(write)); o <= write.raw; ++o) {
            const auto append = history_.op(OpId(o));
            if (append.kind == OpKind::kAppend && append.key == op.key) {
              elements.push_back(value(append.value));
            }
          }
        }
        builder_.list_read(key, elements);
        return true;
      }
      case OpKind::kRangeRead: {
        const auto range = history_.range(op);
        std::vector<RangeEntry> entries;
        bool any = false;
        for (const auto& [opportunity, seen] : seen_) {
          if (opportunity.first != id) continue;
          any = true;
          const auto what = seen_value(seen);
          if (what.valid() && what == history_.null_value()) continue;  // absent
          entries.push_back({builder_.key(history_.key(opportunity.second)),
                             what.valid() ? value(what) : fresh()});
        }
        // Of which nothing is said, it saw nothing that is known.
        if (any) builder_.range_read(value(range.low), value(range.high), entries);
        return true;
      }
      case OpKind::kCompareAndSet: {
        const auto swap = history_.compare_and_set(op);
        if (!swap.succeeded) return true;
        const auto key = builder_.key(history_.key(op.key));
        const auto seen = find(op.key);
        if (seen == seen_.end()) {  // its read is not asked about
          builder_.read(key, ValueId::none());
          builder_.write(key, value(swap.desired));
          return true;
        }
        if (seen_value(seen->second) != swap.expected) return false;
        builder_.compare_and_set(key, value(swap.expected), value(swap.desired), true);
        return true;
      }
      default:
        builder_.copy(history_, id);
        return true;
    }
  }

  const History& history_;
  const Opportunity& place_;
  std::map<std::pair<OpId, KeyId>, InjectedRead> seen_;
  HistoryBuilder builder_;
};

}  // namespace

std::optional<History> injected(const History& history, const Opportunity& opportunity) {
  return Injector(history, opportunity).history();
}

bool finds(const History& injected, std::string_view anomaly) {
  using levels::Level;
  check::Options options;
  options.asked = {Level::kReadCommitted, Level::kReadAtomic,        Level::kCausal,
                   Level::kPrefix,        Level::kSnapshotIsolation, Level::kSerializable};
  options.threads = 1;
  const auto result = check::check(injected, options);
  const auto& weakest = result.weakest_violated;
  for (const auto& level : result.levels) {
    if (!level.violation ||
        std::find(weakest.begin(), weakest.end(), level.level) == weakest.end()) {
      continue;
    }
    for (const auto& found :
         explain::explain(injected, level.explained_at.value_or(level.level), *level.violation)) {
      if (found.name == anomaly) return true;
    }
  }
  return false;
}

}  // namespace cupel::power
