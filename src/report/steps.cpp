// A topological order of begins, operations and ends: certain edges first, then
// wishes by rank, each kept if no edge before it says the contrary.
#include "report/steps.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "data/history/text_order.hpp"
#include "engine/explain/why/words.hpp"

namespace cupel::report {

using history::History;
using history::KeyId;
using history::kNoTime;
using history::OpId;
using history::OpKind;
using history::SessionId;
using history::TxnId;
using history::TxnStatus;
using history::ValueId;

namespace {

using StepNode = std::uint32_t;

class Order {
 public:
  Order(const History& history, const explain::Anomaly& anomaly)
      : history_(history), anomaly_(anomaly) {
    for (std::size_t i = 0; i < history.txn_count(); ++i) {
      const TxnId t(i);
      begin_.push_back(static_cast<StepNode>(steps_.size()));
      steps_.push_back({Step::What::kBegin, t, OpId::none(), {}});
      for (auto op = history.first_op(t); op < history.last_op(t); ++op) {
        steps_.push_back({Step::What::kOperation, t, OpId(op), {}});
      }
      steps_.push_back({Step::What::kEnd, t, OpId::none(), {}});
    }
    after_.resize(steps_.size());
  }

  std::vector<Step> steps() {
    certain();
    real_time();
    reads_from();
    misses();
    writers_apart();
    return sorted();
  }

 private:
  [[nodiscard]] StepNode begin(TxnId t) const { return begin_[t.index()]; }
  [[nodiscard]] StepNode end(TxnId t) const {
    return t.index() + 1 < begin_.size() ? begin_[t.index() + 1] - 1
                                         : static_cast<StepNode>(steps_.size() - 1);
  }
  [[nodiscard]] StepNode at(TxnId t, std::uint32_t op) const {
    return begin(t) + 1 + (op - history_.first_op(t));
  }
  [[nodiscard]] StepNode at(OpId op) const { return at(history_.txn_of(op), op.raw); }

  [[nodiscard]] bool reaches(StepNode from, StepNode to) const {
    std::vector<bool> seen(steps_.size(), false);
    std::vector<StepNode> stack = {from};
    while (!stack.empty()) {
      const StepNode node = stack.back();
      stack.pop_back();
      if (node == to) return true;
      if (seen[node]) continue;
      seen[node] = true;
      stack.insert(stack.end(), after_[node].begin(), after_[node].end());
    }
    return false;
  }
  bool wish(StepNode before, StepNode later) {
    if (reaches(later, before)) return false;
    after_[before].push_back(later);
    return true;
  }

  void certain() {
    for (std::size_t i = 0; i < history_.txn_count(); ++i) {
      const TxnId t(i);
      for (StepNode n = begin(t); n < end(t); ++n) after_[n].push_back(n + 1);
      const TxnId next(i + 1);
      if (next.index() < history_.txn_count() && history_.session(next) == history_.session(t)) {
        after_[end(t)].push_back(begin(next));
      }
    }
  }

  void real_time() {
    for (std::size_t i = 0; i < history_.txn_count(); ++i) {
      for (std::size_t j = 0; j < history_.txn_count(); ++j) {
        const auto ended = history_.complete(TxnId(i)), begun = history_.invoke(TxnId(j));
        if (i == j || ended == kNoTime || begun == kNoTime || ended >= begun) continue;
        wish(end(TxnId(i)), begin(TxnId(j)));
      }
    }
  }

  // What the operation wrote, if it wrote the key.
  [[nodiscard]] std::optional<ValueId> written(OpId id, KeyId key) const {
    const auto op = history_.op(id);
    if (op.key != key) return std::nullopt;
    switch (op.kind) {
      case OpKind::kWrite:
      case OpKind::kAppend:
      case OpKind::kInsert:
        return op.value;
      case OpKind::kDelete:
        return op.value.valid() ? op.value : history_.null_value();
      case OpKind::kCompareAndSet: {
        const auto swap = history_.compare_and_set(op);
        if (!swap.succeeded) return std::nullopt;
        return swap.desired;
      }
      default:
        return std::nullopt;
    }
  }

  struct Seen {
    OpId op;
    KeyId key;
    ValueId value;  // of a list: its last element, none() if it was empty
  };
  template <typename Use>
  void each_read(Use use) const {
    for (std::uint32_t i = 0; i < history_.op_count(); ++i) {
      const auto op = history_.op(OpId(i));
      switch (op.kind) {
        case OpKind::kRead:
          if (op.value.valid()) use(Seen{OpId(i), op.key, op.value});
          break;
        case OpKind::kListRead:
          if (history_.list_known(op)) {
            const auto list = history_.list(op);
            use(Seen{OpId(i), op.key, list.empty() ? ValueId::none() : list.back()});
          }
          break;
        case OpKind::kCompareAndSet:
          if (const auto swap = history_.compare_and_set(op); swap.succeeded) {
            use(Seen{OpId(i), op.key, swap.expected});
          }
          break;
        case OpKind::kRangeRead: {
          const auto range = history_.range(op);
          std::set<KeyId> found;
          for (const auto& entry : range.entries) {
            found.insert(entry.key);
            use(Seen{OpId(i), entry.key, entry.value});
          }
          history::for_each_sure_key(history_, range, [&](KeyId key) {
            const bool list = history_.is_list(key);
            if (!found.contains(key))
              use(Seen{OpId(i), key, list ? ValueId::none() : history_.null_value()});
          });
          break;
        }
        default:
          break;
      }
    }
  }
  // The writes of that value by other transactions than the reader.
  [[nodiscard]] std::vector<OpId> writers(const Seen& seen) const {
    std::vector<OpId> found;
    for (std::uint32_t i = 0; i < history_.op_count(); ++i) {
      const auto value = written(OpId(i), seen.key);
      if (value && *value == seen.value && seen.value.valid() &&
          history_.txn_of(OpId(i)) != history_.txn_of(seen.op)) {
        found.push_back(OpId(i));
      }
    }
    return found;
  }
  [[nodiscard]] bool initial(const Seen& seen) const {
    return history_.is_list(seen.key) ? !seen.value.valid()
                                      : seen.value == history_.initial_value(seen.key);
  }

  void reads_from() {
    each_read([&](const Seen& seen) {
      const auto from = writers(seen);
      if (from.size() != 1 || initial(seen)) return;
      const OpId write = from.front();
      const TxnId writer = history_.txn_of(write);
      StepNode next = end(writer);  // the writer's next write of the key, or its end
      for (auto op = write.raw + 1; op < history_.last_op(writer); ++op) {
        if (written(OpId(op), seen.key)) {
          next = at(OpId(op));
          break;
        }
      }
      if (next == end(writer) && history_.status(writer) != TxnStatus::kAborted) {
        if (wish(end(writer), at(seen.op))) wish(end(writer), begin(history_.txn_of(seen.op)));
      } else {  // it was there only between the two
        wish(at(write), at(seen.op));
        wish(at(seen.op), next);
      }
    });
  }

  void misses() {
    for (const auto& edge : anomaly_.edges) {
      if (!edge.from.valid() || !edge.to.valid()) continue;
      if (edge.kind == levels::EdgeKind::kReadWrite && edge.from_op.valid()) {
        wish(at(edge.from_op), end(edge.to));
      } else if (edge.kind == levels::EdgeKind::kWriteWrite && edge.to_op.valid()) {
        wish(end(edge.from), at(edge.to_op));
      }
    }
    each_read([&](const Seen& seen) {
      if (!initial(seen) || !writers(seen).empty()) return;
      for (std::uint32_t i = 0; i < history_.op_count(); ++i) {
        const TxnId writer = history_.txn_of(OpId(i));
        if (writer == history_.txn_of(seen.op) || !written(OpId(i), seen.key)) continue;
        if (history_.status(writer) != TxnStatus::kAborted) wish(at(seen.op), end(writer));
      }
    });
  }

  void writers_apart() {
    for (std::uint32_t i = 0; i < history_.op_count(); ++i) {
      for (std::uint32_t j = i + 1; j < history_.op_count(); ++j) {
        const KeyId key = history_.op(OpId(i)).key;
        if (!key.valid() || !written(OpId(i), key) || !written(OpId(j), key)) continue;
        const TxnId a = history_.txn_of(OpId(i)), b = history_.txn_of(OpId(j));
        if (a == b || history_.session(a) == history_.session(b)) continue;
        if (!wish(end(a), at(OpId(j)))) wish(end(b), at(OpId(i)));
      }
    }
  }

  // Of transactions that can all end, the one that began first.
  template <typename Ready>
  [[nodiscard]] StepNode first_to_end(const std::vector<Step>& order, const std::vector<bool>& done,
                                      StepNode otherwise, Ready ready) const {
    for (const Step& step : order) {
      const StepNode last = end(step.txn);
      if (step.what == Step::What::kBegin && !done[last] && ready(last)) return last;
    }
    return otherwise;
  }

  // Stays with a transaction as long as nothing else has to come first.
  std::vector<Step> sorted() {
    std::vector<std::uint32_t> waits(steps_.size(), 0);
    for (const auto& list : after_) {
      for (const StepNode n : list) ++waits[n];
    }
    std::vector<bool> done(steps_.size(), false);
    const auto ready = [&](StepNode n) { return !done[n] && waits[n] == 0; };
    // A begin is taken if the first operation can follow.
    const auto useful = [&](StepNode n) {
      return steps_[n].what != Step::What::kBegin || waits[n + 1] <= 1;
    };
    std::vector<Step> order;
    std::optional<StepNode> last;
    while (order.size() < steps_.size()) {
      std::optional<StepNode> next;
      if (last && steps_[*last].what != Step::What::kEnd && ready(*last + 1)) next = *last + 1;
      if (next && steps_[*next].what == Step::What::kEnd)
        next = first_to_end(order, done, *next, ready);
      for (StepNode n = 0; !next && n < steps_.size(); ++n) {
        if (ready(n) && steps_[n].what != Step::What::kBegin) next = n;
      }
      for (const bool any : {false, true}) {
        for (StepNode n = 0; !next && n < steps_.size(); ++n) {
          if (ready(n) && (any || useful(n))) next = n;
        }
      }
      done[*next] = true;  // there is one: wishes never close a cycle
      for (const StepNode n : after_[*next]) --waits[n];
      order.push_back(steps_[*next]);
      last = next;
    }
    return order;
  }

  const History& history_;
  const explain::Anomaly& anomaly_;
  std::vector<Step> steps_;
  std::vector<StepNode> begin_;
  std::vector<std::vector<StepNode>> after_;
};

// What one copy of the data would have answered each read of one key.
void note_missed(const History& history, std::vector<Step>& steps) {
  std::vector<TxnId> all;
  for (std::size_t t = 0; t < history.txn_count(); ++t) all.emplace_back(t);
  const explain::Words words(history, all);
  std::map<KeyId, std::vector<ValueId>> committed;
  std::map<std::pair<TxnId, KeyId>, std::vector<ValueId>> own;
  const auto put = [](auto& place, bool append, ValueId value) {
    if (!append) place.clear();
    place.push_back(value);
  };
  for (Step& step : steps) {
    if (step.what == Step::What::kEnd) {
      if (history.status(step.txn) == TxnStatus::kAborted) continue;
      for (const auto& [whose, values] : own) {
        if (whose.first != step.txn) continue;
        const bool list = history.is_list(whose.second);
        for (const ValueId value : values) put(committed[whose.second], list, value);
      }
      continue;
    }
    if (step.what != Step::What::kOperation) continue;
    const auto op = history.op(step.op);
    if (!op.key.valid()) continue;  // a range read
    const bool list = history.is_list(op.key);
    const auto mine = own.find({step.txn, op.key});
    std::vector<ValueId> there;
    if (const auto found = committed.find(op.key); found != committed.end()) there = found->second;
    if (there.empty() && !list) there = {history.initial_value(op.key)};
    if (op.kind == OpKind::kRead && op.value.valid()) {
      if (mine != own.end() ? op.value != mine->second.back() && there != std::vector{op.value}
                            : there != std::vector{op.value}) {
        step.missed = words.key(op.key) + " = " + words.value(there.back());
        step.missed_initial = !committed.contains(op.key);
      }
    } else if (op.kind == OpKind::kListRead && history.list_known(op)) {
      auto expected = there;
      if (mine != own.end())
        expected.insert(expected.end(), mine->second.begin(), mine->second.end());
      const auto seen = history.list(op);
      if (!std::equal(seen.begin(), seen.end(), expected.begin(), expected.end())) {
        step.missed = words.key(op.key) + " = [";
        for (std::size_t i = 0; i < expected.size(); ++i) {
          step.missed += (i > 0 ? " " : "") + words.value(expected[i]);
        }
        step.missed += "]";
      }
    }
    if (words.writes(step.op, op.key)) {
      ValueId value = words.written(step.op);
      if (!value.valid()) value = history.null_value();
      put(own[{step.txn, op.key}], list, value);
    }
  }
}

}  // namespace

std::vector<Step> steps_of(const History& history, const explain::Anomaly& anomaly) {
  if (history.txn_count() == 0) return {};
  auto steps = Order(history, anomaly).steps();
  note_missed(history, steps);
  return steps;
}

std::vector<SessionId> sessions_of(const History& history, const std::vector<Step>& steps) {
  std::vector<SessionId> sessions;
  for (const Step& step : steps) {
    const auto session = history.session(step.txn);
    if (std::find(sessions.begin(), sessions.end(), session) == sessions.end()) {
      sessions.push_back(session);
    }
  }
  return sessions;
}

}  // namespace cupel::report
