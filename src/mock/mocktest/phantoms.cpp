// Inserted rows by key, then the reads of missing rows; see the header.
#include "mock/mocktest/phantoms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "data/history/naming.hpp"

namespace cupel::mocktest {

namespace {

using history::History;
using history::KeyId;
using history::OpId;
using history::OpKind;
using history::TxnId;

// The value says that the row is not there.
bool is_missing(const History& history, history::ValueId value) {
  if (value == history.null_value()) return true;
  const auto seen = history.value(value);
  if (seen.kind != history::ScalarKind::kString) return false;
  return seen.text == "absent" || seen.text.starts_with("absent#");
}

class PhantomSearch {
 public:
  explicit PhantomSearch(const History& history)
      : history_(history), timed_(history.has_all_times()), inserters_(history.key_count()) {
    std::vector<TxnId> txns;
    for (std::uint32_t at = 0; at < history.txn_count(); ++at) {
      note_insertions(TxnId(at));
      txns.emplace_back(at);
    }
    std::sort(txns.begin(), txns.end(), [&](TxnId one, TxnId other) {
      return std::pair(history.session(one).index(), begin_of(one)) <
             std::pair(history.session(other).index(), begin_of(other));
    });
    next_.resize(txns.size());
    for (std::size_t i = 0; i + 1 < txns.size(); ++i) {
      if (history.session(txns[i]) == history.session(txns[i + 1]))
        next_[txns[i].index()] = txns[i + 1];
    }
  }

  std::vector<Phantom> run(std::size_t most) {
    std::vector<Phantom> found;
    std::set<std::pair<std::uint32_t, std::uint32_t>> known;
    for (std::uint32_t at = 0; at < history_.txn_count() && found.size() < most; ++at) {
      const TxnId reader(at);
      const auto end = end_of_unit(reader);
      for (auto op = history_.first_op(reader); op < history_.last_op(reader); ++op) {
        const auto read = history_.op(OpId(op));
        if (read.kind != OpKind::kRead || !is_missing(history_, read.value)) continue;
        for (const auto inserter : inserters_[read.key.index()]) {
          if (history_.session(inserter) == history_.session(reader)) continue;
          if (begin_of(inserter) >= end || (timed_ && end_of(inserter) <= begin_of(reader)))
            continue;
          if (known.emplace(at, static_cast<std::uint32_t>(inserter.index())).second)
            found.push_back({reader, inserter, read.key});
        }
      }
    }
    if (found.size() > most) found.resize(most);
    return found;
  }

 private:
  void note_insertions(TxnId txn) {
    if (history_.status(txn) != history::TxnStatus::kCommitted) return;
    std::set<std::uint32_t> keys;
    for (auto op = history_.first_op(txn); op < history_.last_op(txn); ++op) {
      const auto write = history_.op(OpId(op));
      if (write.kind == OpKind::kWrite && !is_missing(history_, write.value) &&
          keys.insert(static_cast<std::uint32_t>(write.key.index())).second)
        inserters_[write.key.index()].push_back(txn);
    }
  }

  // Without times, transactions ran one after another.
  [[nodiscard]] std::int64_t begin_of(TxnId txn) const {
    return timed_ ? history_.invoke(txn) : std::int64_t{history_.label(txn)};
  }
  [[nodiscard]] std::int64_t end_of(TxnId txn) const {
    return timed_ ? history_.complete(txn) : std::int64_t{history_.label(txn)};
  }
  [[nodiscard]] bool writes(TxnId txn) const {
    for (auto op = history_.first_op(txn); op < history_.last_op(txn); ++op) {
      if (history_.kind(OpId(op)) == OpKind::kWrite) return true;
    }
    return false;
  }

  // When the client has acted on what the transaction read: at its end, or at that of the next
  // transaction of the session that writes, if that is the next one.
  [[nodiscard]] std::int64_t end_of_unit(TxnId reader) const {
    if (writes(reader)) return end_of(reader);
    const auto next = next_[reader.index()];
    return next && writes(*next) ? end_of(*next) : end_of(reader);
  }

  const History& history_;
  const bool timed_;
  std::vector<std::vector<TxnId>> inserters_;  // by key
  std::vector<std::optional<TxnId>> next_;     // of the session
};

}  // namespace

std::vector<Phantom> find_phantoms(const History& history, std::size_t most) {
  return PhantomSearch(history).run(most);
}

std::string sentence_of(const History& history, const Phantom& phantom) {
  return fmt::format("{} did not find {}, which {} inserted at the same time.",
                     history::transaction_in_full(history, phantom.reader),
                     history::shown_key(history.key(phantom.row)),
                     history::transaction_in_full(history, phantom.inserter));
}

}  // namespace cupel::mocktest
