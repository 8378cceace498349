// What a window holds, saved and loaded. The transactions that stay are saved one by one, with the
// keys of the window and the values as they are; loading builds their history again, session by
// session in the same order, so that the next look finds what it would have found.
#include <algorithm>
#include <cassert>
#include <span>
#include <utility>
#include <vector>

#include "data/history/builder.hpp"
#include "engine/online/window.hpp"

namespace cupel::online {

using history::HistoryBuilder;
using history::KeyId;
using history::Operation;
using history::OpId;
using history::OpKind;
using history::TxnId;
using history::TxnStatus;
using history::ValueId;

namespace {

constexpr auto kKinds = static_cast<std::size_t>(OpKind::kCompareAndSet) + 1;
constexpr auto kStatuses = static_cast<std::size_t>(TxnStatus::kIndeterminate) + 1;

}  // namespace

void Window::save(StateWriter& out) const {
  assert(fresh_.empty() && "a state is of the moment after a look");
  keys_.save(out);
  out.scalar(default_initial_);
  out.number(digest_.value());
  out.number(counted_digest_);
  out.integer(no_earlier_);
  out.integer(set_up_ended_);
  out.integer(cut_at_);
  out.number(sessions_.size());
  for (const auto& session : sessions_) {
    out.text(session.name);
    out.number((session.open ? 1u : 0u) | (session.closed ? 2u : 0u) | (session.began ? 4u : 0u) |
               (session.never_closes ? 8u : 0u) | (session.silent ? 16u : 0u));
    out.integer(session.invoked.time);
    out.number(session.invoked.label);
    out.integer(session.ended);
    out.number(session.count);
    if (session.open) session.tried.save(out);
    out.number(session.forgotten);
  }
  for (const std::uint64_t number :
       {held_.transactions, held_.committed, held_.forgotten, std::uint64_t{held_.held},
        std::uint64_t{held_.uncovered}, std::uint64_t{held_.undecided},
        std::uint64_t{held_.outcome}, std::uint64_t{held_.open}, std::uint64_t{held_before_}}) {
    out.number(number);
  }
  out.text(held_.doubt);
  out.flag(unsaid_);
  forgotten_ranges_.save(out);
  save_transactions(out);
}

void Window::save_transactions(StateWriter& out) const {
  const auto stays = [&](std::uint32_t t) { return kept_[t] != 0 && !txns_[t].open; };
  std::size_t count = 0;
  for (std::uint32_t t = 0; t < txns_.size(); ++t) count += stays(t) ? 1 : 0;
  out.number(count);
  for (std::uint32_t t = 0; t < txns_.size(); ++t) {
    if (!stays(t)) continue;
    const auto& txn = txns_[t];
    out.number(txn.session);
    out.number(static_cast<std::uint64_t>(txn.status));
    out.integer(txn.invoke);
    out.integer(txn.complete);
    out.number(txn.label);
    out.number(txn.place);
    out.number(txn.born);
    const auto first = history_.first_op(TxnId(t)), last = history_.last_op(TxnId(t));
    std::size_t saved = 0;
    for (auto i = first; i < last; ++i) saved += is_unknown_range(history_.op(OpId(i))) ? 0 : 1;
    out.number(saved);
    for (auto i = first; i < last; ++i) {
      const auto op = history_.op(OpId(i));
      if (!is_unknown_range(op)) save_operation(out, op);
    }
  }
}

void Window::save_operation(StateWriter& out, const Operation& op) const {
  const auto value = [&](ValueId v) {
    out.flag(v.valid());
    if (v.valid()) out.scalar(history_.value(v));
  };
  if (op.kind == OpKind::kRangeRead) {
    const auto range = history_.range(op);
    out.number(static_cast<std::uint64_t>(op.kind));
    value(range.low);
    value(range.high);
    out.number(range.entries.size());
    for (const auto& entry : range.entries) {
      out.number(key_of_[entry.key.index()]);
      value(entry.value);
    }
    return;
  }
  const Key key = key_of_[op.key.index()];
  // A read of null of what turned out to be a list saw an empty one.
  const bool of_list = op.kind == OpKind::kRead && keys_.is_list(key);
  out.number(static_cast<std::uint64_t>(of_list ? OpKind::kListRead : op.kind));
  out.number(key);
  if (of_list) {
    out.flag(op.value.valid());
    out.number(0);
  } else if (op.kind == OpKind::kListRead) {
    const bool known = history_.list_known(op);
    out.flag(known);
    const auto all = known ? history_.list(op) : std::span<const ValueId>();
    const auto skipped = known ? newly_forgotten_[op.key.index()] : 0;
    out.number(all.size() - skipped);
    for (std::size_t i = skipped; i < all.size(); ++i) value(all[i]);
  } else if (op.kind == OpKind::kCompareAndSet) {
    const auto cas = history_.compare_and_set(op);
    value(cas.expected);
    value(cas.desired);
    out.flag(cas.succeeded);
  } else {
    value(op.value);
  }
}

void Window::load(StateReader& in) {
  keys_.load(in);
  set_default_initial(in.scalar());
  digest_.set_value(in.number());
  counted_digest_ = in.number();
  no_earlier_ = in.integer();
  set_up_ended_ = in.integer();
  cut_at_ = in.integer();
  load_sessions(in);
  const auto size = [&] { return static_cast<std::size_t>(in.number()); };
  held_.transactions = in.number();
  held_.committed = in.number();
  held_.forgotten = in.number();
  held_.held = size();
  held_.uncovered = size();
  held_.undecided = size();
  held_.outcome = size();
  held_.open = size();
  held_before_ = size();
  held_.doubt = in.text();
  unsaid_ = in.flag();
  forgotten_ranges_.load(in, sessions_.size());
  load_transactions(in);
}

void Window::load_sessions(StateReader& in) {
  const auto count = in.count();
  for (std::size_t i = 0; i < count && in.good(); ++i) {
    auto& session = sessions_.emplace_back();
    session.name = in.text();
    const auto bits = in.below(32);
    session.open = (bits & 1) != 0;
    session.closed = (bits & 2) != 0;
    session.began = (bits & 4) != 0;
    session.never_closes = (bits & 8) != 0;
    session.silent = (bits & 16) != 0;
    session.invoked.time = in.integer();
    session.invoked.label = in.below(0x100000000);
    session.ended = in.integer();
    session.count = in.below(0x100000000);
    if (session.open) session.tried.load(in, keys_.size());
    session.forgotten = in.number();
  }
}

class Window::Load {
 public:
  Load(Window& window, StateReader& in)
      : w_(window), in_(in), key_ids_(window.keys_.size(), KeyId::none()) {}

  void run() {
    const auto count = in_.count();
    for (std::size_t i = 0; i < count && in_.good(); ++i) transaction();
    auto built = std::move(builder_).finish();
    if (!built.ok() || !in_.good()) return in_.spoil();
    w_.history_ = std::move(built).value();
    w_.kept_.assign(w_.txns_.size(), 1);
    w_.newly_forgotten_.assign(w_.key_of_.size(), 0);
  }

 private:
  void transaction() {
    Transaction txn{};
    txn.session = in_.below(w_.sessions_.size());
    txn.status = static_cast<TxnStatus>(in_.below(kStatuses));
    txn.invoke = in_.integer();
    txn.complete = in_.integer();
    txn.label = in_.below(0x100000000);
    txn.place = in_.below(0x100000000);
    txn.born = txn.number = in_.number();
    const auto operations = in_.count();
    // They come session by session: TxnIds are in this order then, as they were.
    const bool in_order =
        w_.txns_.empty() || w_.txns_.back().session == txn.session || !builder_has(txn.session);
    if (!in_.good() || !in_order) return in_.spoil();
    const auto id = builder_.session(w_.sessions_[txn.session].name);
    seen_.push_back(txn.session);
    builder_.begin(
        id, txn.status,
        {.invoke = txn.invoke, .complete = txn.complete, .label = txn.label, .place = txn.place});
    for (std::size_t i = 0; i < operations && in_.good(); ++i) operation();
    builder_.end();
    w_.txns_.push_back(txn);
  }

  [[nodiscard]] bool builder_has(Session session) const {
    return std::find(seen_.begin(), seen_.end(), session) != seen_.end();
  }

  KeyId key() { return key_id(in_.below(w_.keys_.size())); }
  KeyId key_id(Key key) {
    if (!in_.good()) return builder_.key(0);
    auto& id = key_ids_[key];
    if (!id.valid()) {
      id = builder_.key(w_.keys_.name(key));
      w_.key_of_.push_back(key);
    }
    return id;
  }
  ValueId value() { return in_.flag() ? builder_.value(in_.scalar()) : ValueId::none(); }

  void operation() {
    const auto kind = static_cast<OpKind>(in_.below(kKinds));
    if (kind == OpKind::kRangeRead) return range_read();
    const auto of = key();
    switch (kind) {
      case OpKind::kRead:
        return builder_.read(of, value());
      case OpKind::kWrite:
        return builder_.write(of, value());
      case OpKind::kAppend:
        return builder_.append(of, value());
      case OpKind::kInsert:
        return builder_.insert(of, value());
      case OpKind::kDelete:
        return builder_.erase(of, value());
      case OpKind::kCompareAndSet: {
        const auto expected = value(), desired = value();
        return builder_.compare_and_set(of, expected, desired, in_.flag());
      }
      default:
        return list_read(of);
    }
  }

  void list_read(KeyId of) {
    const bool known = in_.flag();
    const auto count = in_.count();
    std::vector<ValueId> elements;
    for (std::size_t i = 0; i < count && in_.good(); ++i) elements.push_back(value());
    if (!known) return builder_.list_read_unknown(of);
    builder_.list_read(of, elements);
  }

  void range_read() {
    const auto low = value(), high = value();
    const auto count = in_.count();
    std::vector<history::RangeEntry> entries;
    for (std::size_t i = 0; i < count && in_.good(); ++i) {
      const auto of = key();
      entries.push_back({of, value()});
    }
    builder_.range_read(low, high, entries);
  }

  Window& w_;
  StateReader& in_;
  HistoryBuilder builder_;
  std::vector<KeyId> key_ids_;  // by key
  std::vector<Session> seen_;
};

void Window::load_transactions(StateReader& in) {
  Load(*this, in).run();
}

}  // namespace cupel::online
