// Held alone: see the header.
#include "engine/online/held_alone.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "data/history/builder.hpp"
#include "data/history/unwritten.hpp"
#include "engine/online/window.hpp"

namespace cupel::online {

using history::History;
using history::HistoryBuilder;
using history::KeyId;
using history::Operation;
using history::OpId;
using history::OpKind;
using history::SessionId;
using history::TxnId;
using history::TxnStatus;
using history::ValueId;

namespace {

class Written {
 public:
  Written(const History& h, bool frontier_known)
      : h_(h), frontier_known_(frontier_known), values_(h) {}

  // Is it known who wrote what this operation saw?
  [[nodiscard]] bool knows(const Operation& op) const {
    switch (op.kind) {
      case OpKind::kRead:
        return !op.value.valid() || has(op.key, op.value);
      case OpKind::kListRead: {
        if (!h_.list_known(op)) return true;
        const auto elements = h_.list(op);
        return !elements.empty() && std::all_of(elements.begin(), elements.end(),
                                                [&](ValueId v) { return values_.has(op.key, v); });
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
  [[nodiscard]] bool has(KeyId key, ValueId value) const {
    if (value == h_.null_value()) return false;
    if (value == h_.initial_value(key)) return frontier_known_;
    return values_.has(key, value);
  }

  const History& h_;
  const bool frontier_known_;
  const history::WrittenValues values_;
};

// What an operation saw of a register; none: it is no such operation, or not known.
ValueId seen(const History& h, const Operation& op) {
  if (op.kind == OpKind::kRead) return op.value;
  if (op.kind == OpKind::kCompareAndSet && h.compare_and_set(op).succeeded)
    return h.compare_and_set(op).expected;
  return ValueId::none();
}

}  // namespace

std::vector<OpId> reads_of_others(const History& held, bool frontier_known) {
  const Written written(held, frontier_known);
  std::vector<OpId> unknown;
  for (std::size_t o = 0; o < held.op_count(); ++o) {
    if (!written.knows(held.op(OpId(o)))) unknown.emplace_back(o);
  }
  return unknown;
}

History with_writers_of_frontier(const History& held) {
  HistoryBuilder builder;
  std::vector<std::uint8_t> read(held.key_count());
  for (std::size_t o = 0; o < held.op_count(); ++o) {
    const auto op = held.op(OpId(o));
    const auto value = seen(held, op);
    if (value.valid() && value == held.initial_value(op.key)) read[op.key.index()] = 1;
  }
  std::vector<SessionId> sessions;
  for (std::uint32_t s = 0; s < held.session_count(); ++s)
    sessions.push_back(builder.session(held.session_name(SessionId(s))));
  for (std::uint32_t k = 0; k < held.key_count(); ++k) {
    const auto value = held.initial_value(KeyId(k));
    if (!read[k] || value == held.null_value()) continue;
    builder.begin(builder.session(fmt::format("what was forgotten of key {}", k)),
                  TxnStatus::kCommitted);
    builder.write(builder.key(held.key(KeyId(k))), builder.value(held.value(value)));
    builder.end();
  }
  for (std::uint32_t t = 0; t < held.txn_count(); ++t) {
    const TxnId txn(t);
    builder.begin(sessions[held.session(txn).index()], held.status(txn),
                  {.invoke = held.invoke(txn), .complete = held.complete(txn)});
    for (auto o = held.first_op(txn); o < held.last_op(txn); ++o) {
      if (!is_unknown_range(held.op(OpId(o)))) builder.copy(held, OpId(o));
    }
    builder.end();
  }
  return *std::move(builder).finish();
}

}  // namespace cupel::online
