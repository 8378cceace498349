// A window that slides: of levels for which no settled past can be cut off.
//
// It holds the newest transactions, and decides the level for them alone. A read whose writer is
// no longer held counts as unknown; so does one of the initial value, which may have been written
// or deleted again, and a range, of which keys may be absent for what is forgotten. Any order of
// the whole history that fits, without what was left out, fits what is held. So a violation here
// is one of the whole, unless a forgotten transaction wrote the same value as one that is held: so
// it is never sure. What is satisfied here is satisfied within the window, and no further.
#include <algorithm>

#include "base/hash_table.hpp"
#include "history/mask.hpp"
#include "online/window.hpp"

namespace cupel::online {

using history::History;
using history::KeyId;
using history::Operation;
using history::OpId;
using history::OpKind;
using history::TxnId;
using history::ValueId;
using levels::DecisionStatus;

namespace {

class Written {
 public:
  explicit Written(const History& h) : h_(h) {
    for (std::size_t o = 0; o < h.op_count(); ++o) {
      const auto op = h.op(OpId(o));
      switch (op.kind) {
        case OpKind::kWrite:
        case OpKind::kAppend:
        case OpKind::kInsert:
        case OpKind::kDelete:
          versions_.insert(version(op.key, op.value));
          break;
        case OpKind::kCompareAndSet:
          versions_.insert(version(op.key, h.compare_and_set(op).desired));
          break;
        default:
          break;
      }
    }
  }

  // Is it known who wrote what this operation saw?
  [[nodiscard]] bool knows(const Operation& op) const {
    switch (op.kind) {
      case OpKind::kRead:
        return !op.value.valid() || has(op.key, op.value);
      case OpKind::kListRead: {
        if (!h_.list_known(op)) return true;
        const auto elements = h_.list(op);
        return !elements.empty() && std::all_of(elements.begin(), elements.end(), [&](ValueId v) {
          return versions_.contains(version(op.key, v));
        });
      }
      case OpKind::kCompareAndSet: {
        const auto cas = h_.compare_and_set(op);
        return cas.succeeded && has(op.key, cas.expected);
      }
      case OpKind::kRangeRead:
        return false;
      default:
        return true;
    }
  }

 private:
  static std::uint64_t version(KeyId key, ValueId value) {
    return (std::uint64_t{key.raw} << 32) | value.raw;
  }
  [[nodiscard]] bool has(KeyId key, ValueId value) const {
    return value != h_.initial_value(key) && value != h_.null_value() &&
           versions_.contains(version(key, value));
  }

  const History& h_;
  base::HashSet<std::uint64_t> versions_;
};

}  // namespace

Look Window::slide(const history::OpenCompares& open, base::Budget& budget) {
  if (held_.forgotten > 0) {
    const Written written(history_);
    std::vector<OpId> unknown;
    for (std::size_t o = 0; o < history_.op_count(); ++o) {
      if (!written.knows(history_.op(OpId(o)))) unknown.emplace_back(o);
    }
    history_ = history::with_unknown(std::move(history_), unknown);
  }
  const bool masked = !open.reads.empty();
  const auto certain = masked ? history::with_unknown(history_, open.reads) : History();
  levels::Decider decider(masked ? certain : history_, options_.drift, 1, /*evidence=*/false);
  auto decision = decider.decide(options_.level, budget);
  Look look{decision.status, std::move(decision.detail),
            held_.forgotten == 0 && held_.doubt.empty()};
  if (decision.status != DecisionStatus::kSatisfied) return look;
  held_.open = 0;
  for (std::size_t t = 0; t < txns_.size(); ++t) {
    held_.open += txns_[t].open ? 1 : 0;
    if (txns_[t].open || txns_[t].born + options_.slide >= held_.transactions) continue;
    kept_[t] = 0;
    --held_.held;
    held_.forgotten += txns_[t].status == history::TxnStatus::kAborted ? 0 : 1;
  }
  return look;
}

void Window::forget_reads() {
  std::vector<OpId> reads;
  for (std::size_t o = 0; o < history_.op_count(); ++o) reads.emplace_back(o);
  history_ = history::with_unknown(std::move(history_), reads);
}

}  // namespace cupel::online
