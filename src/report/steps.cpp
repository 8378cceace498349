// A topological order of begins, operations and ends: certain edges first, then
// wishes by rank, each kept if no edge before it says the contrary.
#include "report/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "data/history/naming.hpp"
#include "data/history/text_order.hpp"
#include "engine/explain/why/layout.hpp"
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
  // `all`: the transactions, in the order of the history.
  Order(const History& history, const explain::Anomaly& anomaly, std::vector<TxnId> all)
      : history_(history), anomaly_(anomaly), all_(std::move(all)) {
    for (const TxnId t : all_) {
      place_.emplace(t, begin_.size());
      begin_.push_back(static_cast<StepNode>(steps_.size()));
      steps_.push_back({Step::What::kBegin, t, OpId::none(), {}});
      for (auto op = history.first_op(t); op < history.last_op(t); ++op) {
        steps_.push_back({Step::What::kOperation, t, OpId(op), {}});
        ops_.emplace_back(op);
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
  [[nodiscard]] bool has(TxnId t) const { return place_.contains(t); }
  [[nodiscard]] StepNode begin(TxnId t) const { return begin_[place_.at(t)]; }
  [[nodiscard]] StepNode end(TxnId t) const {
    const auto next = place_.at(t) + 1;
    return next < begin_.size() ? begin_[next] - 1 : static_cast<StepNode>(steps_.size() - 1);
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
    std::map<SessionId, TxnId> last;
    for (const TxnId t : all_) {
      for (StepNode n = begin(t); n < end(t); ++n) after_[n].push_back(n + 1);
      const auto [before, first] = last.try_emplace(history_.session(t), t);
      if (!first) after_[end(before->second)].push_back(begin(t));
      before->second = t;
    }
  }

  void real_time() {
    for (const TxnId i : all_) {
      for (const TxnId j : all_) {
        const auto ended = history_.complete(i), begun = history_.invoke(j);
        if (i == j || ended == kNoTime || begun == kNoTime || ended >= begun) continue;
        wish(end(i), begin(j));
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
    for (const OpId i : ops_) {
      const auto op = history_.op(i);
      switch (op.kind) {
        case OpKind::kRead:
          if (op.value.valid()) use(Seen{i, op.key, op.value});
          break;
        case OpKind::kListRead:
          if (history_.list_known(op)) {
            const auto list = history_.list(op);
            use(Seen{i, op.key, list.empty() ? ValueId::none() : list.back()});
          }
          break;
        case OpKind::kCompareAndSet:
          if (const auto swap = history_.compare_and_set(op); swap.succeeded) {
            use(Seen{i, op.key, swap.expected});
          }
          break;
        case OpKind::kRangeRead: {
          const auto range = history_.range(op);
          std::set<KeyId> found;
          for (const auto& entry : range.entries) {
            found.insert(entry.key);
            use(Seen{i, entry.key, entry.value});
          }
          history::for_each_sure_key(history_, range, [&](KeyId key) {
            const bool list = history_.is_list(key);
            if (!found.contains(key))
              use(Seen{i, key, list ? ValueId::none() : history_.null_value()});
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
    for (const OpId i : ops_) {
      const auto value = written(i, seen.key);
      if (value && *value == seen.value && seen.value.valid() &&
          history_.txn_of(i) != history_.txn_of(seen.op)) {
        found.push_back(i);
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
      if (!has(edge.from) || !has(edge.to)) continue;
      if (edge.kind == levels::EdgeKind::kReadWrite && edge.from_op.valid()) {
        wish(at(edge.from_op), end(edge.to));
      } else if (edge.kind == levels::EdgeKind::kWriteWrite && edge.to_op.valid()) {
        wish(end(edge.from), at(edge.to_op));
      }
    }
    each_read([&](const Seen& seen) {
      if (!initial(seen) || !writers(seen).empty()) return;
      for (const OpId i : ops_) {
        const TxnId writer = history_.txn_of(i);
        if (writer == history_.txn_of(seen.op) || !written(i, seen.key)) continue;
        if (history_.status(writer) != TxnStatus::kAborted) wish(at(seen.op), end(writer));
      }
    });
  }

  void writers_apart() {
    for (auto i = ops_.begin(); i != ops_.end(); ++i) {
      for (auto j = std::next(i); j != ops_.end(); ++j) {
        const KeyId key = history_.op(*i).key;
        if (!key.valid() || !written(*i, key) || !written(*j, key)) continue;
        const TxnId a = history_.txn_of(*i), b = history_.txn_of(*j);
        if (a == b || history_.session(a) == history_.session(b)) continue;
        if (!wish(end(a), at(*j))) wish(end(b), at(*i));
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
  std::vector<TxnId> all_;
  std::map<TxnId, std::size_t> place_;  // in all_
  std::vector<OpId> ops_;
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

std::string clause(const History& history, explain::Words& words, OpId id) {
  const auto op = history.op(id);
  if (op.kind == history::OpKind::kRangeRead) {
    const auto range = history.range(op);
    std::string seen;
    for (const auto& entry : range.entries) {
      if (!seen.empty()) seen += ", ";
      seen += words.key(entry.key) + " = " + words.value(entry.value);
    }
    return fmt::format(
        "read the range {} to {}: {}", history::shown_bound(history.value(range.low)),
        history::shown_bound(history.value(range.high)), seen.empty() ? "nothing" : seen);
  }
  if (op.kind == history::OpKind::kRead && !op.value.valid()) return "read " + words.key(op.key);
  if (op.kind == history::OpKind::kListRead && !history.list_known(op)) {
    return "read " + words.key(op.key);
  }
  return words.writes(id, op.key) ? words.write_clause(id) : words.read_clause(id, op.key);
}

std::string ending_of(TxnStatus status) {
  switch (status) {
    case TxnStatus::kCommitted:
      return "committed";
    case TxnStatus::kAborted:
      return "rolled back";
    case TxnStatus::kIndeterminate:
      return "asked to commit, outcome unknown";
  }
  return {};
}

std::vector<TxnId> transactions_of(const History& history) {
  std::vector<TxnId> all;
  for (std::size_t t = 0; t < history.txn_count(); ++t) all.emplace_back(t);
  return all;
}

}  // namespace

std::vector<Step> steps_of(const History& history, const explain::Anomaly& anomaly) {
  if (history.txn_count() == 0) return {};
  auto steps = Order(history, anomaly, transactions_of(history)).steps();
  note_missed(history, steps);
  return steps;
}

std::vector<Step> steps_of(const History& history, const explain::Anomaly& anomaly,
                           std::span<const TxnId> only) {
  std::vector<TxnId> all(only.begin(), only.end());
  std::erase_if(all, [](TxnId t) { return !t.valid(); });
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all.empty()) return {};
  auto steps = Order(history, anomaly, std::move(all)).steps();
  std::erase_if(steps, [&](const Step& step) {
    if (step.what != Step::What::kOperation) return false;
    const auto key = history.op(step.op).key;
    return key.valid() &&
           std::find(anomaly.keys.begin(), anomaly.keys.end(), key) == anomaly.keys.end();
  });
  return steps;
}

std::vector<StepRow> rows_of(const History& history, const std::vector<Step>& steps,
                             const RowMarkup& markup) {
  std::vector<TxnId> all;
  for (const Step& step : steps) {
    if (step.what == Step::What::kBegin) all.push_back(step.txn);
  }
  explain::Words words(history, all);
  std::vector<StepRow> rows;
  for (const Step& step : steps) {
    const bool follows = !rows.empty() && rows.back().txn == step.txn;
    switch (step.what) {
      case Step::What::kBegin:
        rows.push_back({step.txn, markup.words(words.name(step.txn)) + " began"});
        break;
      case Step::What::kOperation: {
        auto text = markup.operation(clause(history, words, step.op));
        if (!step.missed.empty()) {
          text += ", although " + markup.operation(step.missed) +
                  (step.missed_initial ? " was not overwritten yet" : " was committed");
        }
        if (follows && !rows.back().operation) {
          rows.back().text += ", " + text;
          rows.back().operation = true;
        } else {
          rows.push_back({step.txn, text, true});
        }
        break;
      }
      case Step::What::kEnd:
        if (follows) {
          rows.back().text += ", " + ending_of(history.status(step.txn));
        } else {
          rows.push_back({step.txn, markup.words(words.name(step.txn)) + " " +
                                        ending_of(history.status(step.txn))});
        }
        break;
    }
  }
  return rows;
}

std::string interleaving_text(const History& history, const explain::Anomaly& anomaly, bool small) {
  constexpr std::size_t kMostOperations = 300, kMostRows = 60;
  auto only = small ? transactions_of(history) : anomaly.transactions;
  if (!small) only.insert(only.end(), anomaly.listed.begin(), anomaly.listed.end());
  std::size_t operations = 0;
  for (const TxnId t : only) {
    if (t.valid()) operations += history.last_op(t) - history.first_op(t);
  }
  if (operations > kMostOperations) return {};
  const auto steps = small ? steps_of(history, anomaly) : steps_of(history, anomaly, only);
  const auto as_it_is = [](std::string_view text) { return std::string(text); };
  const auto rows = rows_of(history, steps, {as_it_is, as_it_is});
  if (rows.size() > kMostRows) return {};
  std::size_t width = 0;
  const auto session = [&](const StepRow& row) {
    return "session " + history::session_text(history, history.session(row.txn));
  };
  for (const StepRow& row : rows) width = std::max(width, explain::columns(session(row)));
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto head = fmt::format("{:>3}  {:<{}}  ", i + 1, session(rows[i]), width);
    text +=
        head + explain::broken(rows[i].text, explain::columns(head), explain::columns(head)) + "\n";
  }
  return text;
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
