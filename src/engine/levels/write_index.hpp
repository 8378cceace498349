// WriteIndex: all writes of a history, found by key and value.
//
// Linear in operations, but for sorting each key's writes by value. A write takes 16 bytes, an
// operation one, a key and a value four each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/budget.hpp"
#include "base/offsets.hpp"
#include "data/history/history.hpp"
#include "data/history/written.hpp"

namespace cupel::levels {

struct WriteEntry {
  history::ValueId value;
  history::OpId op;
  history::TxnId txn;
  bool final_write = false;  // the last of its transaction to the key
  bool aborted = false;      // its transaction
};

// All writes of all transactions, by key, then by value, then by transaction.
class WriteIndex {
 public:
  // When the budget ends, it is left unfinished.
  explicit WriteIndex(const history::History& h, base::Budget* budget = nullptr)
      : first_(h.key_count() + 1, 0), final_(h.op_count(), 0) {
    const auto ended = [&](std::size_t i) {
      return (i & 0xfff) == 0 && budget != nullptr && budget->exceeded();
    };
    std::vector<std::uint32_t> seen_in(h.key_count(), history::TxnId::kNoneRaw);
    for (std::uint32_t t = 0; t < h.txn_count(); ++t) {
      if (ended(t)) return;
      const history::TxnId txn(t);
      for (std::uint32_t i = h.last_op(txn); i > h.first_op(txn); --i) {
        const history::Operation op = h.op(history::OpId(i - 1));
        if (!written(h, op).valid()) continue;
        ++first_[op.key.index() + 1];
        if (seen_in[op.key.index()] == t) continue;
        seen_in[op.key.index()] = t;
        final_[i - 1] = 1;
      }
    }
    base::counts_to_offsets(first_);
    entries_.resize(first_.back());
    auto next = first_;
    for (std::uint32_t t = 0; t < h.txn_count(); ++t) {
      if (ended(t)) return;
      const history::TxnId txn(t);
      const bool aborted = h.status(txn) == history::TxnStatus::kAborted;
      for (std::uint32_t i = h.first_op(txn); i < h.last_op(txn); ++i) {
        const history::Operation op = h.op(history::OpId(i));
        const history::ValueId value = written(h, op);
        if (!value.valid()) continue;
        entries_[next[op.key.index()]++] = {value, history::OpId(i), txn,
                                            is_final(history::OpId(i)), aborted};
      }
    }
    for (std::size_t k = 0; k < h.key_count(); ++k) {
      if (ended(k)) return;
      std::sort(entries_.begin() + first_[k], entries_.begin() + first_[k + 1],
                [](const WriteEntry& a, const WriteEntry& b) {
                  if (a.value != b.value) return a.value < b.value;
                  return a.txn != b.txn ? a.txn < b.txn : a.op < b.op;
                });
    }
    if (entries_.size() >= kSeveral) return;
    only_.assign(h.value_count(), kNone);
    for (std::uint32_t e = 0; e < entries_.size(); ++e) {
      auto& only = only_[entries_[e].value.index()];
      only = only == kNone ? e : kSeveral;
    }
  }

  [[nodiscard]] std::span<const WriteEntry> of_key(history::KeyId k) const {
    return std::span(entries_).subspan(first_[k.index()],
                                       first_[k.index() + 1] - first_[k.index()]);
  }
  [[nodiscard]] std::span<const WriteEntry> of(history::KeyId k, history::ValueId value) const {
    const auto all = of_key(k);
    if (const auto e = only_.empty() ? kSeveral : only_[value.index()]; e != kSeveral) {
      const bool here = e != kNone && e >= first_[k.index()] && e < first_[k.index() + 1];
      return here ? std::span(entries_).subspan(e, 1) : std::span<const WriteEntry>();
    }
    const auto begin =
        std::lower_bound(all.begin(), all.end(), value,
                         [](const WriteEntry& e, history::ValueId v) { return e.value < v; });
    const auto end =
        std::upper_bound(begin, all.end(), value,
                         [](history::ValueId v, const WriteEntry& e) { return v < e.value; });
    return {begin, end};
  }
  // Soon to be asked of_key(k).
  void prefetch_key(history::KeyId k) const { __builtin_prefetch(&first_[k.index()]); }
  // Soon to be asked of(k, value): its two places in memory, the first well before the second.
  void prefetch(history::KeyId k, history::ValueId value) const {
    __builtin_prefetch(&first_[k.index()]);
    if (!only_.empty() && value.valid()) __builtin_prefetch(&only_[value.index()]);
  }
  void prefetch_entry(history::ValueId value) const {
    if (only_.empty() || !value.valid()) return;
    if (const auto e = only_[value.index()]; e < entries_.size()) __builtin_prefetch(&entries_[e]);
  }
  // The last write of its transaction to its key.
  [[nodiscard]] bool is_final(history::OpId op) const { return final_[op.index()] != 0; }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t kSeveral = kNone - 1;

  std::vector<std::uint32_t> first_;
  std::vector<WriteEntry> entries_;
  std::vector<std::uint32_t>
      only_;  // by value: its entry, if there is one of it in the whole history
  std::vector<std::uint8_t> final_;
};

}  // namespace cupel::levels
