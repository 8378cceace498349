// Two early-ending passes: over the sessions in the order of time, and over a sample of the reads
// and then the writes.
#include "engine/analysis/evidence.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "base/hash_table.hpp"
#include "data/history/values_read.hpp"
#include "engine/analysis/final_reads.hpp"

namespace cupel::analysis {

namespace {

using history::History;
using history::KeyId;
using history::kNoTime;
using history::OpId;
using history::OpKind;
using history::SessionId;
using history::Time;
using history::TxnId;
using history::TxnStatus;
using history::ValueId;

// Values that reads returned, in the first sample and in the second. If the second holds none of
// another session either, and there are more, nothing is said.
constexpr std::size_t kSamples[] = {1'000, 1'000'000};

class EvidenceSearch {
 public:
  explicit EvidenceSearch(const History& history) : history_(history) {
    std::set<std::uint32_t> readers;
    for (const auto& node : readers_of(history)) readers.insert(node.session.raw);
    for (std::uint32_t s = 0; s < history.session_count(); ++s) {
      if (!readers.contains(s)) sessions_.push_back(SessionId(s));
    }
  }

  Evidence run() && {
    Evidence found;
    for (const auto session : sessions_) {
      std::uint64_t committed = 0;
      for_each(session, [&](TxnId txn) {
        ++found.transactions;
        if (history_.status(txn) == TxnStatus::kCommitted) ++committed;
      });
      found.committed += committed;
      found.sessions += committed > 0 ? 1 : 0;
    }
    if (found.committed == 0) return found;
    found.never_overlaps = never_overlaps();
    find_reads(found);
    return found;
  }

 private:
  template <typename Visit>
  void for_each(SessionId session, const Visit& visit) const {
    for (auto t = history_.session_begin(session); t != history_.session_end(session);
         t = TxnId(t.raw + 1)) {
      visit(t);
    }
  }

  // The next committed transaction of the session from `t` on; its end if there is none.
  [[nodiscard]] TxnId committed_from(SessionId session, TxnId t) const {
    while (t != history_.session_end(session) && history_.status(t) != TxnStatus::kCommitted) {
      t = TxnId(t.raw + 1);
    }
    return t;
  }

  // The sessions are merged by the begins of their transactions. Times that go back within a
  // session, and intervals without length, as of a file with completions only, decide nothing.
  [[nodiscard]] bool never_overlaps() const {
    if (!history_.has_all_times()) return false;
    struct Next {
      Time begin;
      TxnId txn;
      bool operator>(const Next& other) const {
        return std::pair(begin, txn.raw) > std::pair(other.begin, other.txn.raw);
      }
    };
    std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
    const auto push = [&](SessionId session, TxnId from) {
      const auto txn = committed_from(session, from);
      if (txn != history_.session_end(session)) queue.push({history_.invoke(txn), txn});
    };
    for (const auto session : sessions_) push(session, history_.session_begin(session));
    Time last_end = kNoTime, last_begin = kNoTime;
    bool any_length = false;
    while (!queue.empty()) {
      const auto [begin, txn] = queue.top();
      queue.pop();
      const Time end = history_.complete(txn);
      if (begin == kNoTime || end == kNoTime) return false;
      if (last_begin != kNoTime && (begin < last_begin || begin < last_end)) return false;
      any_length = any_length || end > begin;
      last_begin = begin;
      last_end = std::max(last_end, end);
      push(history_.session(txn), TxnId(txn.raw + 1));
    }
    return any_length;
  }

  [[nodiscard]] static bool reads(OpKind kind) {
    return kind == OpKind::kRead || kind == OpKind::kListRead || kind == OpKind::kRangeRead ||
           kind == OpKind::kCompareAndSet;
  }

  static std::uint64_t cell(KeyId key, ValueId value) {
    return (std::uint64_t{key.raw} << 32) | value.raw;
  }

  void find_reads(Evidence& found) const {
    for (const auto most : kSamples) {
      const bool whole = sample(most, found);
      if (some_is_of_another()) return;
      if (!whole) continue;
      found.never_reads_others = true;
      return;
    }
  }

  // The first values that were read. False: there are more.
  bool sample(std::size_t most, Evidence& found) const {
    readers_.clear();
    bool whole = true;
    for (const auto session : sessions_) {
      for (auto t = committed_from(session, history_.session_begin(session));
           whole && t != history_.session_end(session);
           t = committed_from(session, TxnId(t.raw + 1))) {
        for (auto i = history_.first_op(t); whole && i < history_.last_op(t); ++i) {
          const auto op = history_.op(OpId(i));
          found.reads = found.reads || reads(op.kind);
          history::for_each_value_read(history_, op, [&](KeyId key, ValueId value) {
            if (readers_.size() >= most) {
              whole = false;
              return;
            }
            const auto [at, fresh] = readers_.try_emplace(cell(key, value), session.raw);
            if (!fresh && at->second != session.raw) at->second = kSeveral;
          });
        }
      }
    }
    return whole;
  }

  [[nodiscard]] bool some_is_of_another() const {
    if (readers_.empty()) return false;
    for (std::uint32_t t = 0; t < history_.txn_count(); ++t) {
      const TxnId txn(t);
      if (history_.status(txn) == TxnStatus::kAborted) continue;
      const auto session = history_.session(txn).raw;
      for (auto i = history_.first_op(txn); i < history_.last_op(txn); ++i) {
        const auto op = history_.op(OpId(i));
        const bool plain = op.kind == OpKind::kWrite || op.kind == OpKind::kAppend ||
                           op.kind == OpKind::kInsert || op.kind == OpKind::kDelete;
        auto value = op.value;
        if (op.kind == OpKind::kCompareAndSet) {
          const auto cas = history_.compare_and_set(op);
          if (!cas.succeeded) continue;
          value = cas.desired;
        } else if (!plain) {
          continue;
        }
        const auto reader = readers_.find(cell(op.key, value));
        if (reader != readers_.end() && reader->second != session) return true;
      }
    }
    return false;
  }

  static constexpr std::uint32_t kSeveral = ~std::uint32_t{0};

  const History& history_;
  std::vector<SessionId> sessions_;  // without those of final reads
  // By key and value: the session that read it, or kSeveral.
  mutable base::HashMap<std::uint64_t, std::uint32_t> readers_;
};

}  // namespace

Evidence evidence_of(const History& history) {
  return EvidenceSearch(history).run();
}

}  // namespace cupel::analysis
