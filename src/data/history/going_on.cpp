// going on: see the header.
#include "data/history/going_on.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/hash_table.hpp"
#include "data/history/mask.hpp"
#include "data/history/written.hpp"

namespace cupel::history {

namespace {

struct Compare {
  OpId op;
  KeyId key;
  ValueId desired;
  bool seen = false;        // by a committed transaction, which can have seen no other write
  std::vector<OpId> reads;  // that may be of it
};

class OpenOnes {
 public:
  OpenOnes(const History& h, std::span<const TxnId> going_on) : h_(h) {
    for (const TxnId t : going_on) add(t);
  }

  OpenCompares run() && {
    OpenCompares open;
    open.reads = reads_of_unknown_kind();
    if (!compares_.empty()) {
      find_writes();
      find_reads();
    }
    for (auto& compare : compares_) {
      if (compare.seen) continue;
      open.failed.push_back(compare.op);
      open.reads.insert(open.reads.end(), compare.reads.begin(), compare.reads.end());
    }
    std::sort(open.reads.begin(), open.reads.end(), [](OpId a, OpId b) { return a.raw < b.raw; });
    open.reads.erase(std::unique(open.reads.begin(), open.reads.end()), open.reads.end());
    return open;
  }

 private:
  // Versions of a key that has an open compare-and-set.
  struct Written {
    std::vector<std::uint32_t> compares;                // into compares_
    base::HashMap<std::uint32_t, std::uint32_t> times;  // by value: how often it was written
    std::uint32_t all = 0;
  };

  // Reads of null from keys that are neither used as lists nor as registers.
  [[nodiscard]] std::vector<OpId> reads_of_unknown_kind() const {
    std::vector<OpId> reads;
    if (h_.default_initial_value() == h_.null_value()) return reads;
    std::vector<std::uint8_t> known(h_.key_count(), 0);
    for (const auto& [key, value] : h_.initial_overrides()) known[key.index()] = 1;
    const auto is_null_read = [&](const Operation& op) {
      return op.kind == OpKind::kRead && op.key.valid() && op.value == h_.null_value();
    };
    for (std::size_t o = 0; o < h_.op_count(); ++o) {
      const auto op = h_.op(OpId(o));
      if (op.kind == OpKind::kRangeRead) {
        for (const auto& entry : h_.range(op).entries) known[entry.key.index()] = 1;
      } else if (op.key.valid() && !is_null_read(op) &&
                 (op.kind != OpKind::kRead || op.value.valid())) {
        known[op.key.index()] = 1;
      }
    }
    for (std::size_t o = 0; o < h_.op_count(); ++o) {
      const auto op = h_.op(OpId(o));
      if (is_null_read(op) && known[op.key.index()] == 0) reads.emplace_back(o);
    }
    return reads;
  }

  // One that writes nothing else counts by its own write alone, so nothing needs to be supposed.
  void add(TxnId t) {
    std::size_t writes = 0, compares = 0;
    for (auto i = h_.first_op(t); i < h_.last_op(t); ++i) {
      const auto op = h_.op(OpId(i));
      if (!written(h_, op).valid()) continue;
      ++writes;
      compares += op.kind == OpKind::kCompareAndSet;
    }
    if (compares == 0 || writes < 2) return;
    for (auto i = h_.first_op(t); i < h_.last_op(t); ++i) {
      const auto op = h_.op(OpId(i));
      if (op.kind != OpKind::kCompareAndSet || !written(h_, op).valid()) continue;
      keys_[op.key.raw].compares.push_back(static_cast<std::uint32_t>(compares_.size()));
      compares_.push_back({.op = OpId(i), .key = op.key, .desired = written(h_, op), .reads = {}});
    }
  }

  template <typename Use>
  void for_each_that_counts(const Use& use) {
    for (std::uint32_t t = 0; t < h_.txn_count(); ++t) {
      const auto status = h_.status(TxnId(t));
      if (status == TxnStatus::kAborted) continue;
      for (auto i = h_.first_op(TxnId(t)); i < h_.last_op(TxnId(t)); ++i) {
        use(OpId(i), status == TxnStatus::kCommitted);
      }
    }
  }

  void find_writes() {
    for (auto& [key, of] : keys_) note_write(of, h_.initial_value(KeyId(key)));
    for_each_that_counts([&](OpId id, bool) {
      const auto op = h_.op(id);
      const auto value = written(h_, op);
      if (!value.valid()) return;
      if (const auto it = keys_.find(op.key.raw); it != keys_.end()) note_write(it->second, value);
    });
  }
  static void note_write(Written& of, ValueId value) {
    ++of.times[value.raw];
    ++of.all;
  }
  static std::uint32_t times(const Written& of, ValueId value) {
    const auto it = of.times.find(value.raw);
    return it == of.times.end() ? 0 : it->second;
  }

  void find_reads() {
    const bool nulls = std::any_of(compares_.begin(), compares_.end(), [&](const Compare& compare) {
      return compare.desired == h_.null_value();
    });
    for_each_that_counts([&](OpId id, bool committed) {
      const auto op = h_.op(id);
      if (op.kind == OpKind::kRangeRead) {
        for (const auto& entry : h_.range(op).entries) saw(id, entry.key, entry.value, committed);
        if (nulls) saw_absence(id);
      } else if (op.kind == OpKind::kRead && op.value.valid()) {
        saw(id, op.key, op.value, committed);
      } else if (op.kind == OpKind::kCompareAndSet) {
        const auto compare = h_.compare_and_set(op);
        if (compare.succeeded) {
          saw(id, op.key, compare.expected, committed);
        } else {
          saw_another(id, op.key, compare.expected, committed);
        }
      }
    });
  }

  // `only`: no other version fits.
  void note(Compare& compare, OpId read, bool only) {
    compare.seen = compare.seen || only;
    compare.reads.push_back(read);
  }

  void saw(OpId read, KeyId key, ValueId value, bool committed) {
    const auto it = keys_.find(key.raw);
    if (it == keys_.end()) return;
    const bool once = times(it->second, value) == 1 && value != h_.null_value();
    for (const auto c : it->second.compares) {
      if (compares_[c].desired == value) note(compares_[c], read, committed && once);
    }
  }
  // A compare-and-set that failed saw any version but those of this value.
  void saw_another(OpId read, KeyId key, ValueId value, bool committed) {
    const auto it = keys_.find(key.raw);
    if (it == keys_.end()) return;
    const bool once = it->second.all - times(it->second, value) == 1;
    for (const auto c : it->second.compares) {
      const bool fits = compares_[c].desired != value;
      if (fits) note(compares_[c], read, committed && once && value != h_.null_value());
    }
  }
  // A range: keys that it does not list may hold null.
  void saw_absence(OpId read) {
    for (auto& compare : compares_) {
      if (compare.desired == h_.null_value()) note(compare, read, false);
    }
  }

  const History& h_;
  std::vector<Compare> compares_;
  base::HashMap<std::uint32_t, Written> keys_;
};

}  // namespace

std::vector<TxnId> going_on(const History& history) {
  std::vector<TxnId> open;
  for (std::size_t s = 0; history.has_times() && s < history.session_count(); ++s) {
    const auto end = history.session_end(SessionId(s));
    if (end == history.session_begin(SessionId(s))) continue;
    const TxnId last(end.raw - 1);
    const bool ended =
        history.status(last) != TxnStatus::kIndeterminate || history.complete(last) != kNoTime;
    if (!ended) open.push_back(last);
  }
  return open;
}

OpenCompares open_compares(const History& history, std::span<const TxnId> going_on) {
  return OpenOnes(history, going_on).run();
}

History with_open_compares(History history, const OpenCompares& open) {
  return with_unknown(with_failed(std::move(history), open.failed), open.reads);
}

}  // namespace cupel::history
