// Where an anomaly could have shown. Each search goes through the keys, or pairs of
// keys, of the transactions given; those that give up somewhere (long transactions, hot
// keys) say that they are not certain.
#include "explain/power/opportunities.hpp"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <deque>
#include <optional>

namespace cupel::power {

using history::OpKind;
using history::TxnStatus;

namespace {

constexpr std::uint32_t kNone = 0xffffffff;
constexpr std::size_t kRangeKeys = 64;        // of a range read that are looked at
constexpr std::size_t kKeysOfTxn = 24;        // whose pairs are looked at
constexpr std::size_t kPerPair = 4;           // transactions kept for a pair of keys
constexpr std::size_t kPerKey = 8;            // transactions of a key tried against each other
constexpr std::size_t kPathNodes = 2000;      // looked at for one path
constexpr std::size_t kReadersFollowed = 64;  // of a written key, on a path
constexpr std::size_t kPathSearches = 2000;

using ReadAnswer = Seen::ReadAnswer;

void put(std::vector<TxnId>& list, TxnId txn) {
  const auto at = std::lower_bound(list.begin(), list.end(), txn);
  if (at == list.end() || *at != txn) list.insert(at, txn);
}

Opportunity opportunity(std::initializer_list<TxnId> txns, std::vector<Seen> seen) {
  Opportunity one{{}, std::move(seen)};
  for (const TxnId txn : txns) put(one.transactions, txn);
  return one;
}

}  // namespace

std::vector<TxnId> sample(const History& history, std::size_t most_operations) {
  std::vector<TxnId> all;
  const double share =
      history.op_count() <= most_operations
          ? 1.0
          : static_cast<double>(most_operations) / static_cast<double>(history.op_count());
  for (std::size_t s = 0; s < history.session_count(); ++s) {
    const auto first = history.session_begin(SessionId(s)), end = history.session_end(SessionId(s));
    const auto whole = end.raw - first.raw;
    const auto take =
        share >= 1 ? whole
                   : std::min<std::uint32_t>(
                         whole, static_cast<std::uint32_t>(share * static_cast<double>(whole)) + 1);
    for (std::uint32_t i = 0; i < take; ++i) all.emplace_back(first.raw + i);
  }
  return all;
}

OpportunityFinder::OpportunityFinder(const History& history, std::span<const TxnId> transactions)
    : history_(history), txns_(transactions.begin(), transactions.end()) {
  by_txn_.resize(txns_.size());
  by_key_.resize(history.key_count());
  number_.assign(history.txn_count(), kNone);
  absl::flat_hash_map<KeyId, std::size_t> place_of;
  for (std::size_t i = 0; i < txns_.size(); ++i) {
    const TxnId t = txns_[i];
    number_[t.index()] = static_cast<std::uint32_t>(i);
    auto& touches = by_txn_[i];
    place_of.clear();
    const auto touch = [&](KeyId key) -> Touch& {
      const auto [it, fresh] = place_of.try_emplace(key, touches.size());
      if (fresh) {
        touches.push_back({t,
                           history.session(t),
                           key,
                           history.status(t) == TxnStatus::kCommitted,
                           history.status(t) != TxnStatus::kAborted,
                           {},
                           {},
                           {},
                           {},
                           {},
                           {},
                           {},
                           {}});
      }
      return touches[it->second];
    };
    const auto read = [&](KeyId key, OpId op) {
      Touch& one = touch(key);
      if (one.first_write.valid()) {
        if (!one.read_after_write.valid()) one.read_after_write = op;
        if (one.first_write != one.last_write) one.read_after_two = op;
      } else if (!one.read.valid()) {
        one.read = op;
      } else if (!one.reread.valid()) {
        one.reread = op;
      }
      if (!one.write_after_read.valid()) one.read_before_write = op;
    };
    const auto write = [&](KeyId key, OpId op) {
      Touch& one = touch(key);
      if (!one.first_write.valid()) one.first_write = op;
      one.last_write = op;
      if (one.read_before_write.valid() && !one.write_after_read.valid()) one.write_after_read = op;
    };
    for (auto raw = history.first_op(t); raw < history.last_op(t); ++raw) {
      const OpId id(raw);
      const auto op = history.op(id);
      switch (op.kind) {
        case OpKind::kRead:
        case OpKind::kListRead:
          read(op.key, id);
          break;
        case OpKind::kRangeRead: {
          const auto range = history.range(op);
          const auto keys =
              history.keys_between(history.value(range.low), history.value(range.high));
          cut_ = cut_ || keys.size() > kRangeKeys;
          for (std::size_t k = 0; k < std::min(keys.size(), kRangeKeys); ++k) read(keys[k], id);
          break;
        }
        case OpKind::kCompareAndSet:
          if (!history.compare_and_set(op).succeeded) break;
          read(op.key, id);
          write(op.key, id);
          break;
        default:
          write(op.key, id);
          break;
      }
    }
    for (Touch& one : touches) {
      if (!one.write_after_read.valid()) one.read_before_write = OpId::none();
      by_key_[one.key.index()].push_back(one);
    }
  }
}

const std::vector<OpportunityFinder::Touch>& OpportunityFinder::of(TxnId txn) const {
  static const std::vector<Touch> none;
  const auto number = number_[txn.index()];
  return number == kNone ? none : by_txn_[number];
}

Opportunities OpportunityFinder::find(std::string_view anomaly, std::size_t most) const {
  Opportunities opportunities = anomaly == "fractured-read" || anomaly == "non-monotonic-read"
                                    ? two_keys(anomaly, most)
                                : anomaly == "causality-violation" ? causality(most)
                                : anomaly == "long-fork"           ? long_fork(most)
                                : anomaly == "write-skew"          ? write_skew(most)
                                                                   : simple(anomaly, most);
  opportunities.certain = opportunities.certain && !cut_;
  return opportunities;
}

// Those about one key.
Opportunities OpportunityFinder::simple(std::string_view anomaly, std::size_t most) const {
  Opportunities opportunities;
  auto& found = opportunities.found;
  // The first transaction of the key that is not `txn` (of another session) and passes.
  const auto other = [](const std::vector<Touch>& touches, const Touch& one, bool other_session,
                        auto passes) -> const Touch* {
    for (const Touch& two : touches) {
      if (two.txn != one.txn && (!other_session || two.session != one.session) && passes(two)) {
        return &two;
      }
    }
    return nullptr;
  };
  bool part = false;  // some of the shape is there
  for (const auto& touches : by_key_) {
    if (found.size() >= most) break;
    const auto before = found.size();
    for (const Touch& t : touches) {
      if (found.size() > before) break;  // one a key, so that opportunities differ
      if (anomaly == "thin-air-read") {
        const OpId read = t.read.valid() ? t.read : t.read_after_write;
        if (t.committed && read.valid()) {
          found.push_back(opportunity({t.txn}, {{read, t.key, ReadAnswer::kNothingWritten}}));
        }
      } else if (anomaly == "aborted-read") {
        if (t.may_commit || !t.last_write.valid()) continue;
        part = true;
        if (const Touch* reader = other(
                touches, t, false, [](const Touch& o) { return o.committed && o.read.valid(); })) {
          found.push_back(opportunity({t.txn, reader->txn},
                                      {{reader->read, t.key, ReadAnswer::kWrite, t.last_write}}));
        }
      } else if (anomaly == "future-read") {
        if (t.committed && t.read_before_write.valid()) {
          found.push_back(opportunity(
              {t.txn}, {{t.read_before_write, t.key, ReadAnswer::kWrite, t.write_after_read}}));
        }
      } else if (anomaly == "not-my-last-write") {
        if (t.committed && t.read_after_two.valid()) {
          found.push_back(
              opportunity({t.txn}, {{t.read_after_two, t.key, ReadAnswer::kWrite, t.first_write}}));
        }
      } else if (anomaly == "not-my-own-write") {
        if (t.committed && t.read_after_write.valid()) {
          found.push_back(
              opportunity({t.txn}, {{t.read_after_write, t.key, ReadAnswer::kInitial}}));
        }
      } else if (anomaly == "intermediate-read") {
        if (!t.may_commit || t.first_write == t.last_write) continue;
        part = true;
        if (const Touch* reader = other(
                touches, t, false, [](const Touch& o) { return o.committed && o.read.valid(); })) {
          found.push_back(opportunity({t.txn, reader->txn},
                                      {{reader->read, t.key, ReadAnswer::kWrite, t.first_write}}));
        }
      } else if (anomaly == "non-repeatable-read") {
        if (!t.committed || !t.reread.valid()) continue;
        part = true;
        const auto writes = [](const Touch& o) { return o.may_commit && o.last_write.valid(); };
        const Touch* writer = other(touches, t, true, writes);
        if (writer == nullptr) writer = other(touches, t, false, writes);
        if (writer != nullptr) {
          found.push_back(opportunity({t.txn, writer->txn},
                                      {{t.read, t.key, ReadAnswer::kInitial},
                                       {t.reread, t.key, ReadAnswer::kWrite, writer->last_write}}));
        }
      } else if (anomaly == "session-guarantee-violation") {
        if (!t.may_commit || !t.last_write.valid()) continue;
        if (const Touch* reader = other(touches, t, false, [&](const Touch& o) {
              return o.session == t.session && o.txn > t.txn && o.committed && o.read.valid();
            })) {
          found.push_back(
              opportunity({t.txn, reader->txn}, {{reader->read, t.key, ReadAnswer::kInitial}}));
        }
      } else if (anomaly == "lost-update") {
        const auto updates = [](const Touch& o) {
          return o.committed && o.read.valid() && o.last_write.valid();
        };
        if (!updates(t)) continue;
        part = true;
        const Touch* second = other(touches, t, true, updates);
        if (second == nullptr) second = other(touches, t, false, updates);
        if (second != nullptr) {
          found.push_back(
              opportunity({t.txn, second->txn}, {{t.read, t.key, ReadAnswer::kInitial},
                                                 {second->read, t.key, ReadAnswer::kInitial}}));
        }
      }
    }
  }
  if (!found.empty()) return opportunities;
  opportunities.reason =
      anomaly == "thin-air-read"  ? "no committed transaction reads"
      : anomaly == "aborted-read" ? (part ? "no transaction reads a key that an aborted one wrote"
                                          : "no aborted transaction that writes was recorded")
      : anomaly == "future-read"  ? "no transaction reads a key and writes it afterwards"
      : anomaly == "not-my-last-write" ? "no transaction writes a key twice and then reads it"
      : anomaly == "not-my-own-write"  ? "no transaction reads a key that it has written"
      : anomaly == "intermediate-read"
          ? (part ? "no transaction reads a key that another one writes twice"
                  : "no transaction writes a key twice")
      : anomaly == "non-repeatable-read"
          ? (part ? "no transaction reads a key twice that another one writes"
                  : "no transaction reads a key twice")
      : anomaly == "session-guarantee-violation"
          ? "no session reads a key that it wrote in an earlier transaction"
          : (part ? "no two transactions read and then write the same key"
                  : "no transaction reads a key and then writes it");
  return opportunities;
}

// Reads of two keys that one transaction writes: fractured-read, non-monotonic-read.
Opportunities OpportunityFinder::two_keys(std::string_view anomaly, std::size_t most) const {
  const bool fractured = anomaly == "fractured-read";
  Opportunities opportunities;
  struct Pair {
    std::uint32_t x, y;
    bool operator==(const Pair&) const = default;
  };
  absl::flat_hash_map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> readers;
  const auto keys_of = [&](std::size_t i, auto passes) {
    std::vector<const Touch*> keys;
    for (const Touch& t : by_txn_[i]) {
      if (!passes(t)) continue;
      if (keys.size() == kKeysOfTxn) {
        opportunities.certain = false;
        break;
      }
      keys.push_back(&t);
    }
    std::sort(keys.begin(), keys.end(), [](auto* a, auto* b) { return a->key < b->key; });
    return keys;
  };
  bool wrote_two = false, read_two = false;
  for (std::size_t i = 0; i < txns_.size(); ++i) {
    const auto keys = keys_of(i, [](const Touch& t) { return t.committed && t.read.valid(); });
    for (std::size_t a = 0; a < keys.size(); ++a) {
      for (std::size_t b = a + 1; b < keys.size(); ++b) {
        if (!fractured && keys[a]->read == keys[b]->read) continue;  // one range read sees both
        read_two = true;
        auto& list = readers[{keys[a]->key.raw, keys[b]->key.raw}];
        // Of different sessions, as far as there are.
        const bool known = std::any_of(list.begin(), list.end(), [&](std::uint32_t other) {
          return history_.session(txns_[other]) == history_.session(txns_[i]);
        });
        if (list.size() < kPerPair && (list.size() < 2 || !known)) {
          list.push_back(static_cast<std::uint32_t>(i));
        } else if (list.size() == 2 && !known) {
          list.back() = static_cast<std::uint32_t>(i);
        }
      }
    }
  }
  const auto touch_of = [&](std::uint32_t i, std::uint32_t key) -> const Touch& {
    return *std::find_if(by_txn_[i].begin(), by_txn_[i].end(),
                         [&](const Touch& t) { return t.key.raw == key; });
  };
  for (std::size_t i = 0; i < txns_.size() && opportunities.found.size() < most; ++i) {
    const auto keys =
        keys_of(i, [](const Touch& t) { return t.may_commit && t.last_write.valid(); });
    wrote_two = wrote_two || keys.size() > 1;
    const auto before = opportunities.found.size();
    for (std::size_t a = 0; a < keys.size() && opportunities.found.size() == before; ++a) {
      for (std::size_t b = a + 1; b < keys.size() && opportunities.found.size() == before; ++b) {
        const auto list = readers.find({keys[a]->key.raw, keys[b]->key.raw});
        if (list == readers.end()) continue;
        for (const auto reader : list->second) {
          if (reader == i) continue;
          const Touch* early = &touch_of(reader, keys[a]->key.raw);
          const Touch* late = &touch_of(reader, keys[b]->key.raw);
          if (late->read < early->read) std::swap(early, late);
          const Touch* saw = fractured ? late : early;
          const Touch* missed = fractured ? early : late;
          const OpId write = saw->key == keys[a]->key ? keys[a]->last_write : keys[b]->last_write;
          opportunities.found.push_back(opportunity(
              {txns_[i], txns_[reader]}, {{saw->read, saw->key, ReadAnswer::kWrite, write},
                                          {missed->read, missed->key, ReadAnswer::kInitial}}));
          break;
        }
      }
    }
  }
  // One key read twice, the older version last.
  for (const auto& touches : by_key_) {
    if (fractured || opportunities.found.size() >= most) break;
    for (const Touch& t : touches) {
      if (!t.committed || !t.reread.valid()) continue;
      const auto writer = std::find_if(touches.begin(), touches.end(), [&](const Touch& o) {
        return o.txn != t.txn && o.may_commit && o.last_write.valid();
      });
      if (writer == touches.end()) continue;
      opportunities.found.push_back(opportunity(
          {t.txn, writer->txn}, {{t.read, t.key, ReadAnswer::kWrite, writer->last_write},
                                 {t.reread, t.key, ReadAnswer::kInitial}}));
      break;
    }
  }
  // Lists of readers are cut only where they hold two sessions, which is enough.
  if (opportunities.found.empty()) {
    opportunities.reason =
        !fractured   ? "no transaction reads two keys that another one writes, nor one twice"
        : !wrote_two ? "no transaction writes two keys"
        : !read_two  ? "no transaction reads two keys"
                     : "no transaction reads two keys that another one writes";
  }
  return opportunities;
}

// A reader of x, a writer of x in another session, and a path from the writer to the
// reader by session order and reads of other keys, of more than one step.
Opportunities OpportunityFinder::causality(std::size_t most) const {
  Opportunities opportunities;
  std::size_t searches = 0;
  struct Step {
    std::uint32_t from;  // a opportunity in txns_
    OpId read, write;    // none(): session order
    KeyId key;
  };
  const auto path_to = [&](const Touch& writer, const Touch& reader,
                           bool loose) -> std::optional<Opportunity> {
    absl::flat_hash_map<std::uint32_t, Step> came;
    const auto start = number_[writer.txn.index()], goal = number_[reader.txn.index()];
    std::deque<std::uint32_t> queue = {start};
    came.emplace(start, Step{kNone, {}, {}, {}});
    const auto writes_x = [&](std::uint32_t i) {
      return i != start && std::any_of(by_txn_[i].begin(), by_txn_[i].end(), [&](const Touch& t) {
               return t.key == reader.key && t.last_write.valid();
             });
    };
    while (!queue.empty() && came.size() < kPathNodes) {
      const auto at = queue.front();
      queue.pop_front();
      if (writes_x(at) || history_.status(txns_[at]) == TxnStatus::kAborted) continue;
      const auto go = [&](std::uint32_t to, const Step& step) {
        if (to == kNone || came.contains(to)) return false;
        if (to == goal && at == start) return false;  // one step is another anomaly
        came.emplace(to, step);
        queue.push_back(to);
        return to == goal;
      };
      bool there = false;
      const TxnId t = txns_[at];
      // A session goes on; more steps of it are one.
      const auto end = history_.session_end(history_.session(t));
      if (!loose && t.raw + 1 < end.raw &&
          (history_.session(t) != reader.session || t < reader.txn)) {
        there = go(number_[t.raw + 1], {at, {}, {}, {}});
      }
      const auto reads = [&](const Touch& mine, const Touch& other) {
        if (!other.committed || !other.read.valid() || other.txn == t) return false;
        const auto to = number_[other.txn.index()];
        if (to == goal && other.key == reader.key) return false;
        if (!loose && other.session == mine.session && other.txn < mine.txn) return false;
        return go(to, {at, other.read, mine.last_write, mine.key});
      };
      for (const Touch& mine : by_txn_[at]) {  // the goal first: most have many readers
        for (const Touch& other : by_txn_[goal]) {
          there = there || (mine.last_write.valid() && other.key == mine.key && reads(mine, other));
        }
      }
      for (const Touch& mine : by_txn_[at]) {
        if (there || !mine.last_write.valid()) continue;
        const auto& others = by_key_[mine.key.index()];
        const auto stride = (others.size() + kReadersFollowed - 1) / kReadersFollowed;
        if (stride > 1) opportunities.certain = false;
        for (std::size_t i = 0; i < others.size() && !there; i += stride) {
          there = reads(mine, others[i]);
        }
      }
      if (!there) continue;
      Opportunity one{{}, {{reader.read, reader.key, ReadAnswer::kInitial}}};
      std::vector<SessionId> sessions;
      for (auto i = goal; i != kNone; i = came.at(i).from) {
        const auto session = history_.session(txns_[i]);
        if (sessions.empty() || sessions.back() != session) {
          // Back in a session: a cycle of its own.
          if (!loose && std::find(sessions.begin(), sessions.end(), session) != sessions.end()) {
            opportunities.certain = false;
            return std::nullopt;
          }
          sessions.push_back(session);
        }
        put(one.transactions, txns_[i]);
        const Step& step = came.at(i);
        if (step.read.valid())
          one.seen.push_back({step.read, step.key, ReadAnswer::kWrite, step.write});
      }
      return one;
    }
    if (came.size() >= kPathNodes) opportunities.certain = false;
    return std::nullopt;
  };
  const auto search = [&](const std::vector<Touch>& touches, bool loose) {
    bool done = false;
    for (const Touch& reader : touches) {
      if (done) break;
      if (!reader.committed || !reader.read.valid()) continue;
      for (const Touch& writer : touches) {
        if (!writer.may_commit || !writer.last_write.valid() || writer.txn == reader.txn ||
            (!loose && writer.session == reader.session)) {
          continue;
        }
        if (++searches > kPathSearches) {
          opportunities.certain = false;
          done = true;
          break;
        }
        if (auto one = path_to(writer, reader, loose)) {
          opportunities.found.push_back(std::move(*one));
          done = true;
          break;
        }
      }
    }
  };
  // Levels without session order also find ways by reads alone that contradict it.
  for (const bool loose : {false, true}) {
    if (loose && !opportunities.found.empty()) break;
    for (const auto& touches : by_key_) {
      if (opportunities.found.size() < most) search(touches, loose);
    }
  }
  if (opportunities.found.empty()) {
    opportunities.reason =
        "no transaction reads a key whose writer can reach it through a third transaction";
  }
  return opportunities;
}

Opportunities OpportunityFinder::long_fork(std::size_t most) const {
  Opportunities opportunities;
  absl::flat_hash_map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> readers;
  for (std::size_t i = 0; i < txns_.size(); ++i) {
    std::vector<std::uint32_t> keys;
    for (const Touch& t : by_txn_[i]) {
      if (t.committed && t.read.valid() && keys.size() < kKeysOfTxn) keys.push_back(t.key.raw);
    }
    std::sort(keys.begin(), keys.end());
    for (std::size_t a = 0; a < keys.size(); ++a) {
      for (std::size_t b = a + 1; b < keys.size(); ++b) {
        auto& list = readers[{keys[a], keys[b]}];
        const bool same =
            list.size() > 1 && history_.session(txns_[list.back()]) == history_.session(txns_[i]);
        if (list.size() < kPerKey && !same) list.push_back(static_cast<std::uint32_t>(i));
      }
    }
  }
  const auto touch_of = [&](std::uint32_t i, std::uint32_t key) -> const Touch* {
    const auto& list = by_txn_[i];
    const auto at =
        std::find_if(list.begin(), list.end(), [&](const Touch& t) { return t.key.raw == key; });
    return at == list.end() ? nullptr : &*at;
  };
  const auto writers = [&](std::uint32_t key, std::uint32_t not_this) {
    std::vector<const Touch*> list;
    for (const Touch& t : by_key_[key]) {  // one of each session, as far as there are
      if (!t.may_commit || !t.last_write.valid() || list.size() >= kPerKey) continue;
      if (list.size() > 1 && list.back()->session == t.session) continue;
      const Touch* both = touch_of(number_[t.txn.index()], not_this);
      if (both == nullptr || !both->last_write.valid()) list.push_back(&t);
    }
    return list;
  };
  // In an order that does not depend on the hash.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const auto& [pair, list] : readers) {
    if (list.size() > 1) pairs.push_back(pair);
  }
  std::sort(pairs.begin(), pairs.end());
  for (const auto& [x, y] : pairs) {
    if (opportunities.found.size() >= most) break;
    const auto& list = readers.at({x, y});
    const auto of_x = writers(x, y), of_y = writers(y, x);
    bool done = false;
    const auto attempt = [&](const Touch& wx, const Touch& wy, std::uint32_t r, std::uint32_t s) {
      const auto session = [&](std::uint32_t i) { return history_.session(txns_[i]); };
      const TxnId tr = txns_[r], ts = txns_[s];
      if (wx.session == wy.session || session(r) == session(s) || session(r) == wy.session ||
          session(s) == wx.session || tr == wx.txn || ts == wy.txn) {
        return false;
      }
      if ((session(r) == wx.session && tr < wx.txn) || (session(s) == wy.session && ts < wy.txn)) {
        return false;
      }
      opportunities.found.push_back(
          opportunity({wx.txn, wy.txn, tr, ts},
                      {{touch_of(r, x)->read, wx.key, ReadAnswer::kWrite, wx.last_write},
                       {touch_of(r, y)->read, wy.key, ReadAnswer::kInitial},
                       {touch_of(s, y)->read, wy.key, ReadAnswer::kWrite, wy.last_write},
                       {touch_of(s, x)->read, wx.key, ReadAnswer::kInitial}}));
      return true;
    };
    for (const Touch* wx : of_x) {
      for (const Touch* wy : of_y) {
        for (const auto r : list) {
          for (const auto s : list) {
            if (!done && r != s) done = attempt(*wx, *wy, r, s);
          }
        }
      }
    }
  }
  if (!opportunities.found.empty()) return opportunities;
  // Longer forks go through more transactions; only this is sure to exclude them.
  std::size_t read_and_written = 0;
  for (const auto& touches : by_key_) {
    const bool read = std::any_of(touches.begin(), touches.end(),
                                  [](const Touch& t) { return t.committed && t.read.valid(); });
    const bool written = std::any_of(touches.begin(), touches.end(), [](const Touch& t) {
      return t.may_commit && t.last_write.valid();
    });
    read_and_written += read && written ? 1 : 0;
  }
  if (read_and_written < 2) {
    opportunities.reason = "fewer than two keys are both written and read";
  } else if (history_.session_count() < 2) {
    opportunities.reason = "there is one session";
  } else {
    opportunities.reason = "no two sessions read the same two keys, written by two others";
    opportunities.certain = false;
  }
  return opportunities;
}

Opportunities OpportunityFinder::write_skew(std::size_t most) const {
  Opportunities opportunities;
  absl::flat_hash_map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> known;
  bool part = false;
  std::vector<Opportunity> impure;
  for (std::size_t i = 0; i < txns_.size() && opportunities.found.size() < most; ++i) {
    std::vector<const Touch*> reads, writes;
    for (const Touch& t : by_txn_[i]) {
      if (!t.committed) continue;
      if (t.read.valid()) reads.push_back(&t);
      if (t.last_write.valid()) writes.push_back(&t);
    }
    for (auto* list : {&reads, &writes}) {
      if (list->size() > kKeysOfTxn) {
        list->resize(kKeysOfTxn);
        opportunities.certain = false;
      }
    }
    const auto before = opportunities.found.size();
    for (const Touch* read : reads) {
      for (const Touch* written : writes) {
        if (read->key == written->key) continue;
        part = true;
        const auto mirror = known.find({written->key.raw, read->key.raw});
        if (mirror != known.end() && opportunities.found.size() == before) {
          for (const auto other : mirror->second) {
            const auto& list = by_txn_[other];
            const auto back = std::find_if(list.begin(), list.end(),
                                           [&](const Touch& t) { return t.key == written->key; });
            // Where one writes both keys the two may lose an update instead.
            const bool pure = !read->last_write.valid() && !back->last_write.valid();
            auto& kept = pure ? opportunities.found : impure;
            if (kept.size() >= most) continue;
            kept.push_back(opportunity({txns_[other], txns_[i]},
                                       {{read->read, read->key, ReadAnswer::kInitial},
                                        {back->read, back->key, ReadAnswer::kInitial}}));
            if (pure) break;
          }
        }
        auto& list = known[{read->key.raw, written->key.raw}];
        if (list.size() < kPerPair) list.push_back(static_cast<std::uint32_t>(i));
      }
    }
  }
  if (opportunities.found.empty()) opportunities.found = std::move(impure);
  if (opportunities.found.empty()) {
    opportunities.reason = part ? "no two transactions each write a key that the other one reads"
                                : "no transaction reads one key and writes another";
  }
  return opportunities;
}

}  // namespace cupel::power
