// The simulated store keeps, per key, the versions in commit order. A
// transaction runs in one step at a random place of the schedule, with a random
// behaviour: it reads the newest versions, an old snapshot, another snapshot for
// each key or for each operation, and may or may not abort when a key it writes
// was overwritten since its snapshot.
#include "property/random_history.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "base/random.hpp"

namespace cupel::test {

namespace {

using base::Random;
using history::OpKind;
using history::TxnStatus;

struct Shape {
  bool list = false, range = false, cas = false, times = false, one_key = false;
  bool multi_read = false, disturbed = false, rows = false;
  bool some_lists = false;  // of the keys some are lists
  double duplicates = 0, aborted = 0, indeterminate = 0, unknown = 0;
};

Shape shape_of(Kind kind, std::uint64_t seed) {
  Shape s;
  switch (kind) {
    case Kind::kRegister:
      break;
    case Kind::kDuplicates:
      s.duplicates = 0.4;
      break;
    case Kind::kStatuses:
      s.aborted = s.indeterminate = 0.2;
      break;
    case Kind::kList:
      s.list = true;
      break;
    case Kind::kListStatuses:
      s.list = true;
      s.aborted = s.indeterminate = 0.15;
      s.duplicates = 0.15;
      if (seed / kKindCount % 2 == 1) {
        s.aborted = s.indeterminate = 0.05;
        s.duplicates = 0.6;
        s.times = seed / kKindCount % 4 == 1;
      }
      break;
    case Kind::kRange:
      s.range = true;
      if (seed / kKindCount % 2 == 0) {
        s.cas = s.multi_read = true;
        s.duplicates = 0.5;
      }
      s.some_lists = seed / kKindCount % 4 == 1;
      break;
    case Kind::kCompareAndSet:
      s.cas = true;
      s.duplicates = 0.2;
      break;
    case Kind::kRealTime:
      s.times = true;
      break;
    case Kind::kMultiRead:
      s.multi_read = true;
      break;
    case Kind::kSingleObject:
      s.one_key = s.times = s.cas = true;
      s.indeterminate = 0.15;
      s.duplicates = 0.15;
      break;
    case Kind::kEverything:
      s.cas = s.times = s.multi_read = s.range = true;
      s.aborted = s.indeterminate = 0.1;
      s.duplicates = s.unknown = 0.1;
      s.some_lists = seed / kKindCount % 4 == 1;
      break;
    case Kind::kSessionOrder:
      s.disturbed = true;
      s.duplicates = 0.1;
      break;
    case Kind::kRangeRows:
      s.range = s.rows = s.cas = true;
      s.multi_read = seed / kKindCount % 3 == 0;
      s.aborted = 0.05;
      s.indeterminate = 0.2;
      s.duplicates = 0.1;
      break;
  }
  return s;
}

struct Version {
  int commit = 0;
  Atom value;              // registers
  bool absent = false;     // deleted, or never written
  std::vector<Atom> list;  // lists
};

class Store {
 public:
  Store(Kind kind, std::uint64_t seed)
      : random_(seed * kKindCount + static_cast<std::uint64_t>(kind)),
        shape_(shape_of(kind, seed)) {
    // Of the kinds about range reads, every fourth has keys that databases order differently.
    static constexpr const char* kPlain[] = {"a", "b", "c", "d", "e"};
    static constexpr const char* kMixed[] = {"aB", "B", "a_", "a", "b"};
    const bool ranges = kind == Kind::kRange || kind == Kind::kRangeRows;
    const auto* const names = ranges && seed / kKindCount % 4 == 3 ? kMixed : kPlain;
    const auto key_count = random_.between(1, shape_.one_key ? 2 : random_.chance(0.2) ? 5 : 3);
    for (int k = 0; k < key_count; ++k) {
      keys_.push_back(Atom::of(std::string_view(names[k])));
      versions_[keys_.back()] = {Version{.absent = true}};
      if (shape_.list || (shape_.some_lists && random_.chance(0.5))) lists_.insert(keys_.back());
    }
    weak_ = shape_.disturbed ? 0.1 : random_.unit();
  }

  Sketch run() {
    if (!shape_.list && !shape_.range && random_.chance(0.3)) sketch_.initial = Atom::of(0);
    for (auto& [key, versions] : versions_) versions[0].value = sketch_.initial;
    const auto sessions = random_.between(1, 4);
    std::vector<int> left;
    for (int s = 0; s < sessions; ++s) {
      sketch_.sessions.push_back({"s" + std::to_string(s + 1)});
      left.push_back(static_cast<int>(random_.between(1, sessions > 3 ? 2 : 3)));
    }
    session_seen_.assign(left.size(), 0);
    session_free_.assign(left.size(), 0);
    while (std::any_of(left.begin(), left.end(), [](int n) { return n > 0; })) {
      const auto s = random_.below(left.size());
      if (left[s] == 0) continue;
      --left[s];
      transaction(s);
    }
    if (random_.chance(shape_.disturbed ? 0.1 : 0.35)) mutate();
    if (shape_.disturbed) {
      for (auto& session : sketch_.sessions) random_.shuffle(std::span(session.txns));
    }
    return std::move(sketch_);
  }

 private:
  const Version& version_at(const Atom& key, int snapshot) const {
    const auto& all = versions_.at(key);
    auto i = all.size();
    while (i > 1 && all[i - 1].commit > snapshot) --i;
    return all[i - 1];
  }

  int old_snapshot() { return static_cast<int>(random_.between(0, clock_)); }

  Atom fresh_value() {
    if (next_value_ > 1 && random_.chance(shape_.duplicates)) {
      return Atom::of(random_.between(1, next_value_ - 1));
    }
    return Atom::of(next_value_++);
  }

  void transaction(std::size_t session) {
    enum { kNewest, kSnapshot, kPerKey, kPerOperation } behaviour = kNewest;
    if (random_.chance(weak_)) {
      behaviour = static_cast<decltype(behaviour)>(1 + random_.below(3));
    }
    int snapshot = behaviour == kNewest ? clock_ : old_snapshot();
    if (random_.chance(0.5)) snapshot = std::max(snapshot, session_seen_[session]);
    std::map<Atom, int> snapshot_of_key;
    for (const auto& key : keys_) snapshot_of_key[key] = old_snapshot();
    const bool first_committer_wins = random_.chance(0.5);

    SketchTxn txn;
    std::map<Atom, Version> own;
    std::map<Atom, Version> seen;  // so that a repeatable read is repeated
    const auto read = [&](const Atom& key) {
      if (const auto it = own.find(key); it != own.end()) return it->second;
      int at = snapshot;
      if (behaviour == kPerKey) at = snapshot_of_key[key];
      if (behaviour == kPerOperation) at = old_snapshot();
      return version_at(key, at);
    };
    const auto write = [&](const Atom& key, Atom value, bool absent) {
      own[key] = Version{.value = std::move(value), .absent = absent};
    };
    const Atom only_key = keys_[random_.below(keys_.size())];
    const auto ops = random_.between(1, 3);
    for (int o = 0; o < ops; ++o) {
      const Atom key = shape_.one_key ? only_key : keys_[random_.below(keys_.size())];
      if (lists_.contains(key) && !(shape_.range && random_.chance(0.35))) {
        if (random_.chance(0.5)) {
          Version list = read(key);
          const Atom element = fresh_value();
          const auto& all = list.list;
          if (std::find(all.begin(), all.end(), element) != all.end() && random_.chance(0.7))
            continue;
          if (own.count(key) == 0) list.list = {};  // an append does not read
          txn.ops.push_back({.kind = OpKind::kAppend, .key = key, .value = element});
          list.list.push_back(element);
          own[key] = list;
        } else {
          std::vector<Atom> list;
          if (own.count(key)) {
            list = version_at(key, first_committer_wins ? clock_ : snapshot).list;
            const auto& mine = own[key].list;
            list.insert(list.end(), mine.begin(), mine.end());
          } else {
            list = read(key).list;
          }
          txn.ops.push_back({.kind = OpKind::kListRead, .key = key, .list = list});
        }
        continue;
      }
      const auto dice = lists_.contains(key) ? 0 : random_.unit();
      if (shape_.range && dice < 0.35) {
        Atom low = keys_[random_.below(keys_.size())], high = keys_[random_.below(keys_.size())];
        if (high < low) std::swap(low, high);
        SketchOp op{.kind = OpKind::kRangeRead, .low = low, .high = high};
        bool list_there = false;  // which it cannot return
        for (const auto& k : keys_) {
          if (k < low || high < k) continue;
          const Version v = read(k);
          list_there = list_there || !v.list.empty();
          if (!v.absent && !lists_.contains(k)) op.entries.emplace_back(k, v.value);
        }
        if (list_there && random_.chance(0.8)) continue;
        if (shape_.rows) add_rows(op.entries);
        txn.ops.push_back(std::move(op));
      } else if (shape_.range && dice < 0.5) {
        const Atom tombstone = random_.chance(0.3) ? Atom::of(next_value_++) : Atom::null();
        txn.ops.push_back({.kind = OpKind::kDelete, .key = key, .value = tombstone});
        write(key, tombstone, true);
      } else if (shape_.cas && dice > 0.65) {
        const Version v = read(key);
        const bool succeeds = random_.chance(0.6);
        const Atom desired = fresh_value();
        const Atom expected = succeeds ? v.value : Atom::of(random_.between(1, next_value_));
        if (!succeeds && expected == v.value) continue;
        txn.ops.push_back({.kind = OpKind::kCompareAndSet,
                           .key = key,
                           .value = expected,
                           .desired = desired,
                           .succeeded = succeeds});
        if (succeeds) write(key, desired, false);
      } else if (random_.chance(0.5)) {
        const Atom value = fresh_value();
        const bool insert = shape_.range && random_.chance(0.5);
        txn.ops.push_back(
            {.kind = insert ? OpKind::kInsert : OpKind::kWrite, .key = key, .value = value});
        write(key, value, false);
      } else {
        const auto times = shape_.multi_read ? random_.between(1, 2) : 1;
        for (int i = 0; i < times; ++i) {
          Atom value = read(key).value;
          if (random_.chance(shape_.unknown)) value = Atom::unknown();
          txn.ops.push_back({.kind = OpKind::kRead, .key = key, .value = value});
        }
      }
    }

    if (random_.chance(shape_.aborted))
      txn.status = TxnStatus::kAborted;
    else if (random_.chance(shape_.indeterminate))
      txn.status = TxnStatus::kIndeterminate;
    if (first_committer_wins && behaviour == kSnapshot) {
      for (const auto& [key, version] : own) {
        if (versions_[key].back().commit > snapshot && shape_.aborted > 0) {
          txn.status = TxnStatus::kAborted;
        }
      }
    }
    const bool effective = txn.status == TxnStatus::kCommitted
                               ? true
                               : random_.chance(txn.status == TxnStatus::kAborted ? 0.1 : 0.6);
    if (effective) commit(own);
    session_seen_[session] = clock_;
    if (shape_.times) give_times(txn, session);
    sketch_.sessions[session].txns.push_back(std::move(txn));
  }

  // Rows that a range read returned twice, most of them with what another version holds.
  void add_rows(std::vector<std::pair<Atom, Atom>>& entries) {
    for (auto left = entries.size(); left > 0; --left) {
      if (random_.chance(0.4)) continue;
      const Atom key = entries[random_.below(entries.size())].first;
      const auto& all = versions_.at(key);
      const auto& version = all[random_.below(all.size())];
      const Atom value = !version.absent && random_.chance(0.95)
                             ? version.value
                             : Atom::of(random_.between(1, next_value_));
      const auto place = static_cast<std::ptrdiff_t>(random_.below(entries.size() + 1));
      entries.insert(entries.begin() + place, {key, value});
    }
  }

  void commit(const std::map<Atom, Version>& own) {
    ++clock_;
    for (const auto& [key, version] : own) {
      Version next = version;
      next.commit = clock_;
      if (lists_.contains(key)) {
        next.list = versions_[key].back().list;
        next.list.insert(next.list.end(), version.list.begin(), version.list.end());
      }
      versions_[key].push_back(std::move(next));
    }
  }

  void give_times(SketchTxn& txn, std::size_t session) {
    now_ += 10;
    txn.invoke = now_ - random_.between(0, 25);
    txn.complete = std::max(txn.invoke, now_ + random_.between(0, 25));
    if (random_.chance(0.9)) {  // clients are sequential, as a rule
      txn.invoke = std::max(txn.invoke, session_free_[session]);
      txn.complete = std::max(txn.complete, txn.invoke);
      session_free_[session] = txn.complete + 1;
    }
    if (txn.status == TxnStatus::kIndeterminate && random_.chance(0.7)) {
      txn.complete = history::kNoTime;
    }
  }

  // Changes what one read saw: to something else that was written, or to nothing.
  void mutate() {
    std::vector<SketchOp*> reads;
    for (auto& session : sketch_.sessions) {
      for (auto& txn : session.txns) {
        for (auto& op : txn.ops) {
          if (op.kind == OpKind::kRead || op.kind == OpKind::kListRead ||
              op.kind == OpKind::kRangeRead || op.kind == OpKind::kCompareAndSet) {
            reads.push_back(&op);
          }
        }
      }
    }
    if (reads.empty()) return;
    SketchOp& op = *reads[random_.below(reads.size())];
    const Atom value =
        random_.chance(0.2)
            ? sketch_.initial
            : Atom::of(random_.between(1, std::max<std::int64_t>(1, next_value_ - 1)));
    switch (op.kind) {
      case OpKind::kListRead:
        switch (random_.below(3)) {
          case 0:
            if (!op.list.empty()) op.list.pop_back();
            break;
          case 1:
            op.list.push_back(value);
            break;
          default:
            if (op.list.size() > 1) std::swap(op.list[0], op.list[op.list.size() - 1]);
        }
        break;
      case OpKind::kRangeRead:
        if (!op.entries.empty() && random_.chance(0.5))
          op.entries.pop_back();
        else if (!op.entries.empty())
          op.entries.back().second = value;
        break;
      case OpKind::kCompareAndSet:
        if (random_.chance(0.5))
          op.succeeded = !op.succeeded;
        else
          op.value = value;
        break;
      default:
        op.value = value;
    }
  }

  Random random_;
  Shape shape_;
  double weak_ = 0;
  Sketch sketch_;
  std::vector<Atom> keys_;
  std::set<Atom> lists_;
  std::map<Atom, std::vector<Version>> versions_;
  std::vector<int> session_seen_;
  std::vector<history::Time> session_free_;
  int clock_ = 0;
  history::Time now_ = 100;
  std::int64_t next_value_ = 1;
};

}  // namespace

std::string_view name(Kind kind) {
  static constexpr std::string_view kNames[kKindCount] = {
      "registers", "duplicates", "statuses",      "lists",      "list-statuses", "ranges",    "cas",
      "real-time", "multi-read", "single-object", "everything", "session-order", "range-rows"};
  return kNames[static_cast<std::size_t>(kind)];
}

Kind kind_of_seed(std::uint64_t seed) {
  return static_cast<Kind>(seed % kKindCount);
}

Sketch random_sketch(Kind kind, std::uint64_t seed) {
  return Store(kind, seed).run();
}

Sketch shrink(Sketch sketch, const std::function<bool(const Sketch&)>& fails) {
  const auto try_edit = [&](const std::function<void(Sketch&)>& edit) {
    Sketch smaller = sketch;
    edit(smaller);
    if (smaller == sketch || !fails(smaller)) return false;
    sketch = std::move(smaller);
    return true;
  };
  bool again = true;
  while (again) {
    again = false;
    for (std::size_t s = 0; s < sketch.sessions.size(); ++s) {
      if (try_edit([&](Sketch& k) { k.sessions.erase(k.sessions.begin() + s); })) {
        again = true;
        --s;
        continue;
      }
      for (std::size_t t = 0; t < sketch.sessions[s].txns.size(); ++t) {
        if (try_edit([&](Sketch& k) {
              auto& txns = k.sessions[s].txns;
              txns.erase(txns.begin() + t);
            })) {
          again = true;
          --t;
          continue;
        }
        for (std::size_t o = 0; o < sketch.sessions[s].txns[t].ops.size(); ++o) {
          if (try_edit([&](Sketch& k) {
                auto& ops = k.sessions[s].txns[t].ops;
                ops.erase(ops.begin() + o);
              })) {
            again = true;
            --o;
          }
        }
      }
    }
  }
  return sketch;
}

}  // namespace cupel::test
