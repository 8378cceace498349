// Replay: see the header. What is checked, in this order: who stands in the order
// and how often; session order; real time; then the values.
#include "engine/certify/replay.hpp"

#include <fmt/format.h>

#include <limits>

namespace cupel::certify {

namespace {

using history::OpKind;
using history::SessionId;
using history::Time;

class Replay {
 public:
  Replay(const Subject& subject, const Shape& shape, Time drift)
      : subject_(subject),
        h_(subject.history()),
        shape_(shape),
        drift_(drift),
        begin_at_(h_.txn_count(), kNone),
        commit_at_(h_.txn_count(), kNone),
        own_(h_.key_count()),
        current_(h_.key_count()),
        writing_(h_.key_count()) {
    for (std::size_t k = 0; k < h_.key_count(); ++k) {
      current_[k] = subject.initial(KeyId(k));
      has_lists_ = has_lists_ || h_.is_list(KeyId(k));
    }
    if (has_lists_) lists_.resize(h_.key_count());
  }

  // Where everybody stands. For linearizable `key` is the one they all touch.
  Rejection enter(const std::vector<Number>& order, KeyId key) {
    for (std::uint32_t at = 0; at < order.size(); ++at) {
      const TxnId t(order[at]);
      const auto wrong = [&](std::string_view what) {
        return fmt::format("{}order[{}]: {} {}", of_key(key), at, shown(subject_, t), what);
      };
      if (subject_.aborted(t))
        return wrong("is aborted, and an aborted transaction has no place in an order");
      if (shape_.one_object && subject_.only_key(t) != key) return wrong("does not touch the key");
      if (begin_at_[t.index()] == kNone) {
        begin_at_[t.index()] = at;
        if (!shape_.begin_and_commit) commit_at_[t.index()] = at;
      } else if (commit_at_[t.index()] == kNone) {
        commit_at_[t.index()] = at;
      } else {
        return wrong(shape_.begin_and_commit
                         ? "stands there for the third time, expected its begin and its commit"
                         : "stands there for the second time");
      }
    }
    return std::nullopt;
  }

  Rejection everybody_is_there() const {
    for (std::uint32_t i = 0; i < h_.txn_count(); ++i) {
      const TxnId t(i);
      if (begin_at_[i] != kNone && commit_at_[i] == kNone) {
        return fmt::format("{} stands once in the order, expected its begin and its commit",
                           shown(subject_, t));
      }
      if (begin_at_[i] != kNone || !subject_.committed(t)) continue;
      if (shape_.one_object && !subject_.only_key(t).valid()) continue;
      return fmt::format("{} is committed, and stands in no order", shown(subject_, t));
    }
    return std::nullopt;
  }

  // Every committed transaction commits before a later one of its session begins. At
  // linearizable, of its session and key.
  Rejection session_order() const {
    if (!shape_.session_order) return std::nullopt;
    const std::size_t groups = shape_.one_object ? h_.key_count() : 1;
    std::vector<TxnId> latest(groups);  // the committed one of the session with the last commit
    for (std::uint32_t i = 0; i < h_.txn_count(); ++i) {
      const TxnId t(i);
      if (begin_at_[i] == kNone) continue;
      TxnId& before = latest[shape_.one_object ? subject_.only_key(t).index() : 0];
      const bool same = before.valid() && h_.session(before) == h_.session(t);
      if (same && commit_at_[before.index()] > begin_at_[i]) {
        return fmt::format("{} is after {} in session order, and before it in the order",
                           shown(subject_, t), shown(subject_, before));
      }
      // In a well ordered session the last committed one is also the latest.
      if (subject_.committed(t)) before = t;
    }
    return std::nullopt;
  }

  // Once through the order: whoever completes may not have been completed before
  // somebody was invoked who stands earlier. The latest invocation decides.
  Rejection real_time(const std::vector<Number>& order) const {
    if (!shape_.real_time()) return std::nullopt;
    TxnId latest;
    for (std::uint32_t at = 0; at < order.size(); ++at) {
      const TxnId t(order[at]);
      const bool begins = begin_at_[t.index()] == at, commits = commit_at_[t.index()] == at;
      if (commits && subject_.committed(t) && latest.valid() && latest != t &&
          subject_.before_in_real_time(t, latest, drift_)) {
        return fmt::format("order[{}]: {} completed before {} was invoked, and stands after it", at,
                           shown(subject_, t), shown(subject_, latest));
      }
      const bool counts = shape_.begins_in_real_time ? begins : commits;
      if (counts && (!latest.valid() || h_.invoke(t) > h_.invoke(latest))) latest = t;
    }
    return std::nullopt;
  }

  Rejection run(const std::vector<Number>& order, KeyId key) {
    for (std::uint32_t at = 0; at < order.size(); ++at) {
      const TxnId t(order[at]);
      if (begin_at_[t.index()] == at) {
        if (auto wrong = begin(t)) return fmt::format("{}order[{}]: {}", of_key(key), at, *wrong);
      }
      if (commit_at_[t.index()] == at) {
        if (auto wrong = commit(t)) return fmt::format("{}order[{}]: {}", of_key(key), at, *wrong);
      }
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::string of_key(KeyId key) const {
    return key.valid() ? shown_key(subject_, key) + ": " : std::string();
  }
  [[nodiscard]] std::string operation(TxnId t, OpId op) const {
    return fmt::format("operation {} of {}", op.raw - h_.first_op(t), shown(subject_, t));
  }

  Rejection begin(TxnId t) {
    if (shape_.no_overlap) {
      for (auto i = h_.first_op(t); i < h_.last_op(t); ++i) {
        const auto op = h_.op(OpId(i));
        if (!subject_.writes(op)) continue;
        TxnId& other = writing_[op.key.index()];
        if (other.valid() && other != t) {
          return fmt::format("{} begins while {} is open, and both write {}", shown(subject_, t),
                             shown(subject_, other), shown_key(subject_, op.key));
        }
        other = t;
      }
    }
    return walk_reads(
        subject_, t, own_,
        [&](OpId op, KeyId key, const Seen& seen) -> Rejection {
          const bool fits = seen.what == Seen::kList
                                ? std::equal(seen.list.begin(), seen.list.end(),
                                             lists_[key.index()].begin(), lists_[key.index()].end())
                                : seen.fits(current_[key.index()], h_.null_value());
          if (fits) return std::nullopt;
          return fmt::format("{} did not read what {} is at this place", operation(t, op),
                             shown_key(subject_, key));
        },
        [&](OpId op, KeyId key, const Seen& seen, OpId last) -> Rejection {
          if (sees_own(subject_, t, op, key, seen, last)) return std::nullopt;
          return fmt::format("{} did not read the transaction's own write of {}", operation(t, op),
                             shown_key(subject_, key));
        });
  }

  Rejection commit(TxnId t) {
    if (has_lists_ && subject_.committed(t)) {
      if (auto wrong = lists_before_own_appends(t)) return wrong;
    }
    for (auto i = h_.first_op(t); i < h_.last_op(t); ++i) {
      const auto op = h_.op(OpId(i));
      if (!subject_.writes(op)) continue;
      if (op.kind == OpKind::kAppend) {
        lists_[op.key.index()].push_back(op.value);
      } else {
        current_[op.key.index()] = subject_.version(OpId(i));
      }
      writing_[op.key.index()] = TxnId::none();
    }
    return std::nullopt;
  }

  // A list read after own appends fixes the order only: before the own appends stands
  // what the commit appends to.
  Rejection lists_before_own_appends(TxnId t) const {
    for (auto i = h_.first_op(t); i < h_.last_op(t); ++i) {
      const auto op = h_.op(OpId(i));
      if (op.kind != OpKind::kListRead || !h_.list_known(op)) continue;
      const auto own = own_appends_before(h_, t, OpId(i), op.key);
      if (own == 0) continue;
      const auto list = h_.list(op);
      const auto& now = lists_[op.key.index()];
      if (list.size() == now.size() + own && std::equal(now.begin(), now.end(), list.begin()))
        continue;
      return fmt::format(
          "{} read a list of {} in which the transaction's own appends do not stand where it "
          "commits",
          operation(t, OpId(i)), shown_key(subject_, op.key));
    }
    return std::nullopt;
  }

  const Subject& subject_;
  const History& h_;
  const Shape shape_;
  const Time drift_;
  std::vector<std::uint32_t> begin_at_, commit_at_;
  OwnWrites own_;
  std::vector<Version> current_;
  bool has_lists_ = false;
  std::vector<std::vector<ValueId>> lists_;
  std::vector<TxnId> writing_;  // who is open and writes the key; with no_overlap
};

}  // namespace

Rejection replay(const Subject& subject, const Shape& shape, Time drift,
                 const std::vector<Number>& order) {
  Replay replay(subject, shape, drift);
  if (auto wrong = replay.enter(order, KeyId::none())) return wrong;
  if (auto wrong = replay.everybody_is_there()) return wrong;
  if (auto wrong = replay.session_order()) return wrong;
  if (auto wrong = replay.real_time(order)) return wrong;
  return replay.run(order, KeyId::none());
}

Rejection replay_by_key(const Subject& subject, const Shape& shape, Time drift,
                        const std::vector<KeyOrder>& orders) {
  Replay replay(subject, shape, drift);
  std::vector<std::uint8_t> seen(subject.history().key_count(), 0);
  for (const auto& [key, order] : orders) {
    if (seen[key]++ != 0) return fmt::format("{} has two orders", shown_key(subject, KeyId(key)));
    if (auto wrong = replay.enter(order, KeyId(key))) return wrong;
  }
  if (auto wrong = replay.everybody_is_there()) return wrong;
  if (auto wrong = replay.session_order()) return wrong;
  for (const auto& [key, order] : orders) {
    if (auto wrong = replay.real_time(order)) return wrong;
    if (auto wrong = replay.run(order, KeyId(key))) return wrong;
  }
  return std::nullopt;
}

Rejection touches_more_than_one(const Subject& subject) {
  const History& h = subject.history();
  for (std::uint32_t i = 0; i < h.txn_count(); ++i) {
    const TxnId t(i);
    if (subject.aborted(t)) continue;
    for (auto o = h.first_op(t); o < h.last_op(t); ++o) {
      const auto op = h.op(OpId(o));
      if (op.kind != OpKind::kRangeRead && op.key == subject.only_key(t)) continue;
      return shown(subject, t) + " touches more than one key";
    }
  }
  return std::nullopt;
}

}  // namespace cupel::certify
