// Subject: see the header.
#include "engine/certify/subject.hpp"

#include <fmt/format.h>

#include "base/offsets.hpp"
#include "data/history/naming.hpp"

namespace cupel::certify {

using history::OpKind;

Subject::Subject(const History& history) : h_(history) {
  starts_.reserve(h_.txn_count());
  for (std::size_t t = 0; t < h_.txn_count(); ++t) {
    if (h_.first_op(TxnId(t)) != h_.last_op(TxnId(t)))
      starts_.emplace_back(h_.first_op(TxnId(t)), TxnId(t));
  }
  // Transactions are by session, operations where the source has them.
  if (!std::is_sorted(starts_.begin(), starts_.end())) std::sort(starts_.begin(), starts_.end());
  initial_.assign(h_.key_count(), h_.default_initial_value());
  for (const auto& [key, value] : h_.initial_overrides()) initial_[key.index()] = value;
}

TxnId Subject::txn_of(OpId op) const {
  const auto it =
      std::upper_bound(starts_.begin(), starts_.end(), op.raw,
                       [](std::uint32_t raw, const auto& start) { return raw < start.first; });
  return (it - 1)->second;
}

bool Subject::before_in_real_time(TxnId i, TxnId j, history::Time drift) const {
  const auto end = h_.complete(i), start = h_.invoke(j);
  // The difference fits into 64 bits without a sign, and twice the drift as well.
  return end<start&& static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(end)> 2 *
         static_cast<std::uint64_t>(drift);
}

void Subject::index_writes() {
  if (indexed_) return;
  indexed_ = true;
  final_first_.push_back(0);
  written_first_.assign(h_.key_count() + 1, 0);
  std::vector<TxnId> seen_in(h_.key_count());
  std::vector<std::uint8_t> is_final(h_.op_count(), 0);
  for (std::uint32_t t = 0; t < h_.txn_count(); ++t) {
    const TxnId txn(t);
    const auto first = finals_.size();
    for (auto i = h_.last_op(txn); i > h_.first_op(txn); --i) {
      const auto op = h_.op(OpId(i - 1));
      if (!writes(op)) continue;
      ++written_first_[op.key.index() + 1];
      if (seen_in[op.key.index()] == txn) continue;
      seen_in[op.key.index()] = txn;
      finals_.push_back({op.key, OpId(i - 1)});
      is_final[i - 1] = 1;
    }
    std::sort(finals_.begin() + static_cast<std::ptrdiff_t>(first), finals_.end(),
              [](const FinalWrite& a, const FinalWrite& b) { return a.key < b.key; });
    final_first_.push_back(static_cast<std::uint32_t>(finals_.size()));
  }
  base::counts_to_offsets(written_first_);
  written_.resize(written_first_.back());
  auto next = written_first_;
  for (std::uint32_t t = 0; t < h_.txn_count(); ++t) {
    for (auto i = h_.first_op(TxnId(t)); i < h_.last_op(TxnId(t)); ++i) {
      const auto op = h_.op(OpId(i));
      if (!writes(op)) continue;
      written_[next[op.key.index()]++] = {version(OpId(i)).value, TxnId(t), OpId(i),
                                          is_final[i] != 0};
    }
  }
  for (std::size_t k = 0; k < h_.key_count(); ++k) {
    std::sort(written_.begin() + written_first_[k], written_.begin() + written_first_[k + 1],
              [](const Written& a, const Written& b) {
                if (a.value != b.value) return a.value < b.value;
                return a.txn != b.txn ? a.txn < b.txn : a.op < b.op;
              });
  }
}

std::span<const FinalWrite> Subject::final_writes(TxnId t) const {
  return std::span(finals_).subspan(final_first_[t.index()],
                                    final_first_[t.index() + 1] - final_first_[t.index()]);
}

OpId Subject::final_write(TxnId t, KeyId key) const {
  const auto all = final_writes(t);
  const auto it = std::lower_bound(all.begin(), all.end(), key,
                                   [](const FinalWrite& w, KeyId k) { return w.key < k; });
  return it != all.end() && it->key == key ? it->op : OpId::none();
}

std::span<const Written> Subject::written(KeyId key) const {
  return std::span(written_).subspan(written_first_[key.index()],
                                     written_first_[key.index() + 1] - written_first_[key.index()]);
}

std::span<const Written> Subject::written(KeyId key, ValueId value) const {
  const auto all = written(key);
  const auto begin = std::lower_bound(all.begin(), all.end(), value,
                                      [](const Written& w, ValueId v) { return w.value < v; });
  const auto end = std::upper_bound(begin, all.end(), value,
                                    [](ValueId v, const Written& w) { return v < w.value; });
  return {begin, end};
}

std::span<const ValueId> Subject::longest_list(KeyId key) {
  if (!lists_known_) {
    lists_known_ = true;
    longest_.resize(h_.key_count());
    for (std::uint32_t t = 0; t < h_.txn_count(); ++t) {
      if (!committed(TxnId(t))) continue;
      for (auto i = h_.first_op(TxnId(t)); i < h_.last_op(TxnId(t)); ++i) {
        const auto op = h_.op(OpId(i));
        if (op.kind != OpKind::kListRead || !h_.list_known(op)) continue;
        auto& longest = longest_[op.key.index()];
        if (h_.list(op).size() > longest.size()) longest = h_.list(op);
      }
    }
  }
  return longest_[key.index()];
}

std::size_t own_appends_before(const History& h, TxnId txn, OpId read, KeyId key) {
  std::size_t count = 0;
  for (auto i = h.first_op(txn); i < read.raw; ++i) {
    const auto op = h.op(OpId(i));
    count += op.kind == OpKind::kAppend && op.key == key;
  }
  return count;
}

bool sees_own(const Subject& subject, TxnId txn, OpId read, KeyId key, const Seen& seen,
              OpId last) {
  const History& h = subject.history();
  if (seen.what != Seen::kList) return seen.fits(subject.version(last), h.null_value());
  std::size_t end = seen.list.size();
  for (auto i = read.raw; i > h.first_op(txn); --i) {
    const auto op = h.op(OpId(i - 1));
    if (op.kind != OpKind::kAppend || op.key != key) continue;
    if (end == 0 || seen.list[end - 1] != op.value) return false;
    --end;
  }
  return true;
}

std::string shown(const Subject& subject, TxnId txn) {
  return fmt::format("transaction {}, {}", txn.raw,
                     history::transaction_in_full(subject.history(), txn));
}
std::string shown_key(const Subject& subject, KeyId key) {
  return fmt::format("key {}, {}", key.raw, history::shown_key(subject.history().key(key)));
}
std::string counted(std::size_t number, std::string_view one, std::string_view many) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return fmt::format("{} {}", digits, number == 1 ? one : many);
}

}  // namespace cupel::certify
