// Looks once whether labels go up in each session and mix the sessions: see the header.
#include "engine/levels/hints.hpp"

#include <algorithm>
#include <vector>

namespace cupel::levels {

using history::History;
using history::SessionId;
using history::Time;
using history::TxnId;

namespace {

constexpr std::uint32_t kNoSession = 0xffffffff;

Time first_time(const History& h) {
  Time first = h.invoke(TxnId(0));
  for (std::size_t t = 1; t < h.txn_count(); ++t) first = std::min(first, h.invoke(TxnId(t)));
  return first;
}

bool go_up_in_sessions(const History& h) {
  for (std::size_t t = 1; t < h.txn_count(); ++t) {
    const TxnId before(t - 1), txn(t);
    if (h.session(before) == h.session(txn) && h.label(before) >= h.label(txn)) return false;
  }
  return true;
}

// The sessions of the transactions, by label.
std::vector<std::uint32_t> sessions_by_label(const History& h) {
  std::uint32_t last = 0;
  for (std::size_t t = 0; t < h.txn_count(); ++t) last = std::max(last, h.label(TxnId(t)));
  constexpr std::size_t kGaps = 4;  // so many labels for each transaction: by counting
  std::vector<std::uint32_t> sessions;
  if (last < kGaps * h.txn_count()) {
    sessions.assign(last + std::size_t{1}, kNoSession);
    for (std::size_t t = 0; t < h.txn_count(); ++t)
      sessions[h.label(TxnId(t))] = h.session(TxnId(t)).raw;
    return sessions;
  }
  std::vector<TxnId> order;
  for (std::size_t t = 0; t < h.txn_count(); ++t) order.emplace_back(t);
  std::sort(order.begin(), order.end(), [&](TxnId a, TxnId b) { return h.label(a) < h.label(b); });
  for (const TxnId t : order) sessions.push_back(h.session(t).raw);
  return sessions;
}

}  // namespace

bool labels_mix_sessions(const History& h) {
  if (!go_up_in_sessions(h)) return false;
  std::size_t sessions = 0, changes = 0;
  for (std::size_t s = 0; s < h.session_count(); ++s) {
    const SessionId session(s);
    sessions += h.session_begin(session) != h.session_end(session) ? 1 : 0;
  }
  std::uint32_t last = kNoSession;
  for (const auto session : sessions_by_label(h)) {
    if (session == kNoSession) continue;
    changes += session != last ? 1 : 0;
    last = session;
  }
  return changes > sessions || sessions == h.txn_count();
}

Hints::Hints(const History& history, bool by_label)
    : history_(history),
      by_(history.has_all_times() ? By::kTime
          : by_label              ? By::kLabel
                                  : By::kPlace) {
  if (by_ == By::kTime && history.txn_count() != 0) first_ = first_time(history);
}

// To the nanosecond: searches that meet equal hints take far longer.
std::uint64_t Hints::of_time(Time time) const {
  constexpr std::uint64_t kLast = (1ull << 62) - 1;
  if (time <= first_) return 0;
  return std::min(static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(first_), kLast);
}

std::uint64_t Hints::begin(TxnId txn) const {
  switch (by_) {
    case By::kTime:
      return of_time(history_.invoke(txn));
    case By::kLabel:
      return history_.label(txn);
    case By::kPlace:
      break;
  }
  const SessionId s = history_.session(txn);
  const std::uint64_t place = txn.raw - history_.session_begin(s).raw;
  const std::uint64_t length = history_.session_end(s).raw - history_.session_begin(s).raw;
  return (place << 32) / length;
}

std::uint64_t Hints::commit(TxnId txn) const {
  const bool ends = by_ == By::kTime && history_.status(txn) == history::TxnStatus::kCommitted;
  return ends ? of_time(history_.complete(txn)) : begin(txn);
}

}  // namespace cupel::levels
