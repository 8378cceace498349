// What a fuzz target does with a history that a reader accepted: use every id
// in it, so that one out of range cannot pass, and write it out and read it
// back where a writer accepts it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include "data/history/history.hpp"

namespace cupel::fuzz {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

inline std::uint64_t touch(const history::History& h) {
  using namespace history;
  std::uint64_t sum = 0;
  const auto use_key = [&](KeyId k) {
    require(k.index() < h.key_count(), "a key id is in range");
    sum += h.key(k).text.size() + h.is_list(k) + h.initial_value(k).raw;
  };
  const auto use_value = [&](ValueId v) {
    require(v.index() < h.value_count(), "a value id is in range");
    sum += h.value(v).text.size();
  };
  for (std::size_t s = 0; s < h.session_count(); ++s) {
    require(h.session_begin(SessionId(s)) <= h.session_end(SessionId(s)), "a session is a range");
    sum += h.session_name(SessionId(s)).size();
  }
  for (const auto& [key, value] : h.initial_overrides()) {
    use_key(key);
    use_value(value);
  }
  for (std::size_t i = 0; i < h.txn_count(); ++i) {
    const TxnId t(i);
    require(h.session(t).index() < h.session_count(), "a session id is in range");
    sum += static_cast<std::uint64_t>(h.invoke(t)) + static_cast<std::uint64_t>(h.complete(t)) +
           h.label(t);
    for (auto o = h.first_op(t); o < h.last_op(t); ++o) {
      const auto op = h.op(OpId(o));
      if (op.kind != OpKind::kRangeRead) use_key(op.key);
      switch (op.kind) {
        case OpKind::kListRead:
          if (h.list_known(op)) {
            for (const auto v : h.list(op)) use_value(v);
          }
          break;
        case OpKind::kRangeRead: {
          const auto range = h.range(op);
          use_value(range.low);
          use_value(range.high);
          for (const auto& entry : range.entries) {
            use_key(entry.key);
            use_value(entry.value);
          }
          break;
        }
        case OpKind::kCompareAndSet:
          use_value(h.compare_and_set(op).expected);
          use_value(h.compare_and_set(op).desired);
          break;
        case OpKind::kRead:
          if (op.value.valid()) use_value(op.value);
          break;
        default:
          use_value(op.value);
      }
    }
  }
  return sum;
}

// `write` then `read` must give the same transactions and operations back.
template <typename Write, typename Read>
void round_trip(const history::History& h, Write write, Read read) {
  std::ostringstream out;
  if (!write(h, out).ok()) return;  // the format cannot hold it
  const std::string bytes = std::move(out).str();
  const auto back = read(bytes);
  require(back.ok(), "what a writer wrote can be read");
  touch(*back);
  require(back->txn_count() == h.txn_count(), "a round trip keeps the transactions");
  require(back->op_count() == h.op_count(), "a round trip keeps the operations");
  require(back->session_count() == h.session_count(), "a round trip keeps the sessions");
}

}  // namespace cupel::fuzz
