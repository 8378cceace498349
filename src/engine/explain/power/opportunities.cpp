// Where an anomaly could have shown. Each search goes through the keys, or pairs of
// keys, of the transactions given; those that give up somewhere (long transactions, hot
// keys) say that they are not certain.
#include "engine/explain/power/opportunities.hpp"

#include <algorithm>
#include <deque>
#include <optional>

#include "base/hash_table.hpp"

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

void put(std::vector<TxnId>& list, TxnId txn) {
  const auto at = std::lower_bound(list.begin(), list.end(), txn);
  if (at == list.end() || *at != txn) list.insert(at, txn);
}

Opportunity opportunity(std::initializer_list<TxnId> txns, std::vector<InjectedRead> seen) {
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
  base::HashMap<KeyId, std::size_t> place_of;
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
          // A range read that returns lists cannot be recorded, so no other answer can be tried.
          if (std::any_of(keys.begin(), keys.end(), [&](KeyId k) { return history.is_list(k); }))
            break;
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

// A shape about one key: a transaction with which it starts, and the rest of it.
struct OpportunityFinder::Shape {
  std::string_view anomaly;
  std::string_view absent;      // the reason where nothing starts it
  std::string_view unfinished;  // the reason where something does, and the rest is missing
  bool (*starts)(const Touch& touch);
  std::optional<Opportunity> (*finish)(const std::vector<Touch>& touches, const Touch& start);
};

namespace {

// The first transaction of the key other than `one` that passes.
template <typename Touches, typename Touch, typename Passes>
const Touch* other_transaction(const Touches& touches, const Touch& one, Passes passes) {
  for (const Touch& two : touches) {
    if (two.txn != one.txn && passes(two)) return &two;
  }
  return nullptr;
}

// The same, and one of another session if there is one.
template <typename Touches, typename Touch, typename Passes>
const Touch* other_session(const Touches& touches, const Touch& one, Passes passes) {
  const Touch* apart = other_transaction(
      touches, one, [&](const Touch& two) { return two.session != one.session && passes(two); });
  return apart != nullptr ? apart : other_transaction(touches, one, passes);
}

constexpr auto kReads = [](const auto& touch) { return touch.committed && touch.read.valid(); };
constexpr auto kWrites = [](const auto& touch) {
  return touch.may_commit && touch.last_write.valid();
};
constexpr auto kUpdates = [](const auto& touch) {
  return touch.committed && touch.read.valid() && touch.last_write.valid();
};

}  // namespace

// A read of `start`'s transaction alone that returns something else.
std::optional<Opportunity> OpportunityFinder::alone(const Touch& start, OpId read,
                                                    ReadAnswer answer, OpId write) {
  return opportunity({start.txn}, {{read, start.key, answer, write}});
}

// Another transaction reads `write`, which `start`'s transaction made.
std::optional<Opportunity> OpportunityFinder::read_by_another(const std::vector<Touch>& touches,
                                                              const Touch& start, OpId write) {
  const Touch* reader = other_transaction(touches, start, kReads);
  if (reader == nullptr) return std::nullopt;
  return opportunity({start.txn, reader->txn},
                     {{reader->read, start.key, ReadAnswer::kWrite, write}});
}

std::span<const OpportunityFinder::Shape> OpportunityFinder::shapes() {
  using Touches = std::vector<Touch>;
  static const Shape kShapes[] = {
      {"thin-air-read", "no committed transaction reads", "",
       [](const Touch& t) { return t.committed && (t.read.valid() || t.read_after_write.valid()); },
       [](const Touches&, const Touch& t) {
         return alone(t, t.read.valid() ? t.read : t.read_after_write, ReadAnswer::kNothingWritten,
                      {});
       }},
      {"aborted-read", "no aborted transaction that writes was recorded",
       "no transaction reads a key that an aborted one wrote",
       [](const Touch& t) { return !t.may_commit && t.last_write.valid(); },
       [](const Touches& all, const Touch& t) { return read_by_another(all, t, t.last_write); }},
      {"future-read", "no transaction reads a key and writes it afterwards", "",
       [](const Touch& t) { return t.committed && t.read_before_write.valid(); },
       [](const Touches&, const Touch& t) {
         return alone(t, t.read_before_write, ReadAnswer::kWrite, t.write_after_read);
       }},
      {"not-my-last-write", "no transaction writes a key twice and then reads it", "",
       [](const Touch& t) { return t.committed && t.read_after_two.valid(); },
       [](const Touches&, const Touch& t) {
         return alone(t, t.read_after_two, ReadAnswer::kWrite, t.first_write);
       }},
      {"not-my-own-write", "no transaction reads a key that it has written", "",
       [](const Touch& t) { return t.committed && t.read_after_write.valid(); },
       [](const Touches&, const Touch& t) {
         return alone(t, t.read_after_write, ReadAnswer::kInitial, {});
       }},
      {"intermediate-read", "no transaction writes a key twice",
       "no transaction reads a key that another one writes twice",
       [](const Touch& t) { return t.may_commit && t.first_write != t.last_write; },
       [](const Touches& all, const Touch& t) { return read_by_another(all, t, t.first_write); }},
      {"non-repeatable-read", "no transaction reads a key twice",
       "no transaction reads a key twice that another one writes",
       [](const Touch& t) { return t.committed && t.reread.valid(); },
       [](const Touches& all, const Touch& t) -> std::optional<Opportunity> {
         const Touch* writer = other_session(all, t, kWrites);
         if (writer == nullptr) return std::nullopt;
         return opportunity({t.txn, writer->txn},
                            {{t.read, t.key, ReadAnswer::kInitial},
                             {t.reread, t.key, ReadAnswer::kWrite, writer->last_write}});
       }},
      {"session-guarantee-violation",
       "no session reads a key that it wrote in an earlier transaction", "",
       [](const Touch& t) { return kWrites(t); },
       [](const Touches& all, const Touch& t) -> std::optional<Opportunity> {
         const Touch* reader = other_transaction(all, t, [&](const Touch& later) {
           return later.session == t.session && later.txn > t.txn && kReads(later);
         });
         if (reader == nullptr) return std::nullopt;
         return opportunity({t.txn, reader->txn}, {{reader->read, t.key, ReadAnswer::kInitial}});
       }},
      {"lost-update", "no transaction reads a key and then writes it",
       "no two transactions read and then write the same key",
       [](const Touch& t) { return kUpdates(t); },
       [](const Touches& all, const Touch& t) -> std::optional<Opportunity> {
         const Touch* second = other_session(all, t, kUpdates);
         if (second == nullptr) return std::nullopt;
         return opportunity({t.txn, second->txn}, {{t.read, t.key, ReadAnswer::kInitial},
                                                   {second->read, t.key, ReadAnswer::kInitial}});
       }},
  };
  return kShapes;
}

// Those about one key.
Opportunities OpportunityFinder::simple(std::string_view anomaly, std::size_t most) const {
  Opportunities opportunities;
  auto& found = opportunities.found;
  const auto all = shapes();
  const auto shape = std::find_if(all.begin(), all.end(),
                                  [&](const Shape& one) { return one.anomaly == anomaly; });
  if (shape == all.end()) return opportunities;
  bool started = false;
  for (const auto& touches : by_key_) {
    if (found.size() >= most) break;
    for (const Touch& touch : touches) {
      if (!shape->starts(touch)) continue;
      started = true;
      if (auto one = shape->finish(touches, touch)) {
        found.push_back(std::move(*one));
        break;  // one a key, so that opportunities differ
      }
    }
  }
  if (found.empty()) {
    opportunities.reason =
        started && !shape->unfinished.empty() ? shape->unfinished : shape->absent;
  }
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
  base::HashMap<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> readers;
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
// reader by session order and reads of other keys, of more than one step: a search in
// breadth. Loose: reads alone, which may contradict session order.
class OpportunityFinder::PathSearch {
 public:
  PathSearch(const OpportunityFinder& finder, const Touch& writer, const Touch& reader, bool loose)
      : finder_(finder),
        reader_(reader),
        loose_(loose),
        start_(finder.number_[writer.txn.index()]),
        goal_(finder.number_[reader.txn.index()]) {}

  std::optional<Opportunity> run() {
    came_.emplace(start_, Step{kNone, {}, {}, {}});
    queue_.push_back(start_);
    while (!queue_.empty() && came_.size() < kPathNodes) {
      const auto at = queue_.front();
      queue_.pop_front();
      if (writes_key(at) || finder_.history_.status(finder_.txns_[at]) == TxnStatus::kAborted) {
        continue;
      }
      if (follow_session(at) || read_at_goal(at) || read_elsewhere(at)) return path();
    }
    if (came_.size() >= kPathNodes) certain_ = false;
    return std::nullopt;
  }
  [[nodiscard]] bool certain() const { return certain_; }

 private:
  struct Step {
    std::uint32_t from;  // an index into txns_
    OpId read, write;    // none(): session order
    KeyId key;
  };

  [[nodiscard]] bool writes_key(std::uint32_t at) const {
    const auto& touches = finder_.by_txn_[at];
    return at != start_ && std::any_of(touches.begin(), touches.end(), [&](const Touch& t) {
             return t.key == reader_.key && t.last_write.valid();
           });
  }

  // True: this step reaches the goal.
  bool go(std::uint32_t to, const Step& step) {
    if (to == kNone || came_.contains(to)) return false;
    if (to == goal_ && step.from == start_) return false;  // one step is another anomaly
    came_.emplace(to, step);
    queue_.push_back(to);
    return to == goal_;
  }

  // A session goes on; more steps of it are one.
  bool follow_session(std::uint32_t at) {
    const auto& history = finder_.history_;
    const TxnId t = finder_.txns_[at];
    const auto end = history.session_end(history.session(t));
    if (loose_ || t.raw + 1 >= end.raw) return false;
    if (history.session(t) == reader_.session && t >= reader_.txn) return false;
    return go(finder_.number_[t.raw + 1], {at, {}, {}, {}});
  }

  bool follow_read(std::uint32_t at, const Touch& mine, const Touch& other) {
    if (!other.committed || !other.read.valid() || other.txn == finder_.txns_[at]) return false;
    const auto to = finder_.number_[other.txn.index()];
    if (to == goal_ && other.key == reader_.key) return false;
    if (!loose_ && other.session == mine.session && other.txn < mine.txn) return false;
    return go(to, {at, other.read, mine.last_write, mine.key});
  }

  // The goal first: most have many readers.
  bool read_at_goal(std::uint32_t at) {
    for (const Touch& mine : finder_.by_txn_[at]) {
      for (const Touch& other : finder_.by_txn_[goal_]) {
        if (mine.last_write.valid() && other.key == mine.key && follow_read(at, mine, other)) {
          return true;
        }
      }
    }
    return false;
  }

  bool read_elsewhere(std::uint32_t at) {
    for (const Touch& mine : finder_.by_txn_[at]) {
      if (!mine.last_write.valid()) continue;
      const auto& others = finder_.by_key_[mine.key.index()];
      const auto stride = (others.size() + kReadersFollowed - 1) / kReadersFollowed;
      if (stride > 1) certain_ = false;
      for (std::size_t i = 0; i < others.size(); i += stride) {
        if (follow_read(at, mine, others[i])) return true;
      }
    }
    return false;
  }

  std::optional<Opportunity> path() {
    Opportunity one{{}, {{reader_.read, reader_.key, ReadAnswer::kInitial}}};
    std::vector<SessionId> sessions;
    for (auto i = goal_; i != kNone; i = came_.at(i).from) {
      const auto session = finder_.history_.session(finder_.txns_[i]);
      if (sessions.empty() || sessions.back() != session) {
        // Back in a session: a cycle of its own.
        if (!loose_ && std::find(sessions.begin(), sessions.end(), session) != sessions.end()) {
          certain_ = false;
          return std::nullopt;
        }
        sessions.push_back(session);
      }
      put(one.transactions, finder_.txns_[i]);
      const Step& step = came_.at(i);
      if (step.read.valid()) {
        one.seen.push_back({step.read, step.key, ReadAnswer::kWrite, step.write});
      }
    }
    return one;
  }

  const OpportunityFinder& finder_;
  const Touch& reader_;
  const bool loose_;
  const std::uint32_t start_, goal_;
  bool certain_ = true;
  base::HashMap<std::uint32_t, Step> came_;
  std::deque<std::uint32_t> queue_;
};

// One opportunity of a key, if there is one.
void OpportunityFinder::causality_of(const std::vector<Touch>& touches, bool loose,
                                     std::size_t& searches, Opportunities& opportunities) const {
  for (const Touch& reader : touches) {
    if (!reader.committed || !reader.read.valid()) continue;
    for (const Touch& writer : touches) {
      if (!writer.may_commit || !writer.last_write.valid() || writer.txn == reader.txn ||
          (!loose && writer.session == reader.session)) {
        continue;
      }
      if (++searches > kPathSearches) {
        opportunities.certain = false;
        return;
      }
      PathSearch search(*this, writer, reader, loose);
      auto one = search.run();
      opportunities.certain = opportunities.certain && search.certain();
      if (one) {
        opportunities.found.push_back(std::move(*one));
        return;
      }
    }
  }
}

Opportunities OpportunityFinder::causality(std::size_t most) const {
  Opportunities opportunities;
  std::size_t searches = 0;
  // Levels without session order also find ways by reads alone that contradict it.
  for (const bool loose : {false, true}) {
    if (loose && !opportunities.found.empty()) break;
    for (const auto& touches : by_key_) {
      if (opportunities.found.size() < most) {
        causality_of(touches, loose, searches, opportunities);
      }
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
  base::HashMap<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> readers;
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
  for (const auto& pair : pairs) {
    if (opportunities.found.size() >= most) break;
    const auto x = pair.first, y = pair.second;
    const auto& list = readers.at(pair);
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
  base::HashMap<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> known;
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
