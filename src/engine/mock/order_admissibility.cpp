// What is forced at prefix, snapshot isolation and serializability; see the header.
#include "engine/mock/order_admissibility.hpp"

namespace cupel::mock {

void OrderAdmissibility::begin(Txn t, Session session, Level /*level*/) {
  txn_ = t;
  known_.resize(t + 1);
  clocks_.resize(2 * t + 2);
  out_.resize(2 * t + 2);
  at_.resize(2 * t + 2, kNone);
  if (session >= sessions_.size()) sessions_.resize(session + 1);
  TxnState& k = known_[t];
  k.session = session;
  k.index = static_cast<std::uint32_t>(sessions_[session].size());
  undo_log_.clear();
  to_add_.clear();
  impossible_ = false;
  open_reads_.clear();
  forget_ranges();
  if (k.index > 0) add(commit_of(sessions_[session].back()), begin_of(t));
  if (split_) add(begin_of(t), commit_of(t));
}

// Candidates: not before a writer that the transaction must see, in any order.
void OrderAdmissibility::candidates(Key key, std::vector<Txn>& found) {
  found.clear();
  const auto read = open_reads_.find(key);
  if (read != open_reads_.end()) return found.push_back(versions_[read->second].writer);
  KeyFacts& k = facts(key);
  Clock floor;  // places of commits' targets that are before a writer that must be seen
  bool seen = false;
  for (const SessionTxns& part : k.writers) {
    const Txn last = last_before(part.all, clock(begin_of(txn_), part.session),
                                 [&](Txn t) { return commit_of(t); });
    if (last == kInitial) continue;
    seen = true;
    const Clock& past = clocks_[commit_of(last)];
    if (floor.size() < past.size()) floor.resize(past.size(), 0);
    for (std::size_t s = 0; s < past.size(); ++s) {
      // Its own begin is no reason against itself.
      const Position place =
          s == part.session ? std::min(past[s], 2 * known_[last].index) : past[s];
      floor[s] = std::max(floor[s], place);
    }
  }
  if (!seen) found.push_back(kInitial);
  for (const SessionTxns& part : k.writers) {
    const Position from = part.session < floor.size() ? floor[part.session] : 0;
    for (auto w = part.all.rbegin(); w != part.all.rend() && position(target_of(*w)) >= from; ++w) {
      if (*w != txn_) found.push_back(*w);
    }
  }
  std::sort(found.begin(), found.end(), [](Txn a, Txn b) { return a + 1 < b + 1; });
}

bool OrderAdmissibility::try_read(Key key, Txn writer) {
  saved_ = undo_log_.size();
  const auto read = open_reads_.find(key);
  if (read != open_reads_.end()) return versions_[read->second].writer == writer;
  KeyFacts& k = facts(key);
  const Version v = version(key, writer);
  known_[txn_].reads.push_back({key, v});
  open_reads_.emplace(key, v);
  undo_log_.push_back({Undo::What::kRead});
  const Session session = known_[txn_].session;
  auto& readers = versions_[v].readers;
  const auto of_session = std::find_if(readers.begin(), readers.end(),
                                       [&](const LastReader& r) { return r.session == session; });
  if (of_session == readers.end()) {
    undo_log_.push_back({Undo::What::kReader, v, kNone});
    readers.push_back({session, txn_});
  } else {
    undo_log_.push_back({Undo::What::kReader, v,
                         static_cast<std::uint32_t>(of_session - readers.begin()),
                         of_session->txn});
    of_session->txn = txn_;
  }
  in_session(k.readers, session).push_back(txn_);
  undo_log_.push_back({Undo::What::kKeyReader, key});
  if (read_forces(key, v) && make_room()) return true;
  undo_to(saved_);
  return false;
}

bool OrderAdmissibility::try_write(Key key) {
  saved_ = undo_log_.size();
  KeyFacts& k = facts(key);
  const auto v = static_cast<Version>(versions_.size());
  if (!written_.emplace(std::pair(key, txn_), v).second) return true;
  known_[txn_].writes.push_back({key, v});
  versions_.push_back({key, txn_, {}});
  in_session(k.writers, known_[txn_].session).push_back(txn_);
  undo_log_.push_back({Undo::What::kWrite, key});
  if (write_forces(key) && make_room()) return true;
  undo_to(saved_);
  return false;
}

// Nothing is forced, since nobody has written the key; and nothing is to be undone.
void OrderAdmissibility::saw_absent(Key key, Txn reader) {
  KeyFacts& k = facts(key);
  const Session session = known_[reader].session;
  known_[reader].reads.push_back({key, k.initial});
  auto& last = versions_[k.initial].readers;
  const auto of_session = std::find_if(last.begin(), last.end(),
                                       [&](const LastReader& r) { return r.session == session; });
  if (of_session == last.end()) {
    last.push_back({session, reader});
  } else {
    of_session->txn = std::max(of_session->txn, reader);
  }
  auto& all = in_session(k.readers, session);
  all.insert(std::upper_bound(all.begin(), all.end(), reader), reader);
}

bool OrderAdmissibility::commit() {
  const auto where = find_insertion();
  assert(where && "what was read and written has a place in the witness");
  const Event b = begin_of(txn_), c = commit_of(txn_);
  if (split_) witness_.insert(witness_.begin() + static_cast<std::ptrdiff_t>(where->commit), c);
  witness_.insert(witness_.begin() + static_cast<std::ptrdiff_t>(where->begin), b);
  for (std::size_t i = where->begin; i < witness_.size(); ++i)
    at_[witness_[i]] = static_cast<Position>(i);
  for (const Access& w : known_[txn_].writes) {
    auto& order = keys_[w.key].in_witness;
    order.insert(std::partition_point(order.begin(), order.end(),
                                      [&](Txn t) { return at_[commit_of(t)] < at_[c]; }),
                 txn_);
  }
  known_[txn_].committed = true;
  sessions_[known_[txn_].session].push_back(txn_);
  undo_log_.clear();
  return true;
}

void OrderAdmissibility::abort() {
  undo_to(0);
  known_[txn_] = {};
}

// ---- what is forced ----

// Adds what is to be added, and what that forces, until nothing is left.
bool OrderAdmissibility::drain() {
  while (!to_add_.empty() && !impossible_) {
    const Arc arc = to_add_.back();
    to_add_.pop_back();
    if (!add(arc.from, arc.to)) impossible_ = true;
  }
  const bool possible = !impossible_;
  to_add_.clear();
  impossible_ = false;
  return possible;
}

bool OrderAdmissibility::add(Event from, Event to) {
  if (from == to || before(to, from)) return false;
  if (before(from, to)) return true;
  out_[from].push_back(to);
  undo_log_.push_back({Undo::What::kArc, from});
  if (!raise(to, clocks_[from], of(from).session, position(from))) return false;
  // Depth first; each event takes over the clock of what is before it.
  stack_.assign(1, to);
  while (!stack_.empty()) {
    const Event event = stack_.back();
    stack_.pop_back();
    for (const Event next : out_[event]) {
      const auto changes = undo_log_.size();
      if (!raise(next, clocks_[event], of(event).session, position(event))) return false;
      if (undo_log_.size() != changes) stack_.push_back(next);
    }
  }
  return true;
}

// False: a cycle. Logs what it changes, and notes what that forces.
bool OrderAdmissibility::raise(Event event, const Clock& past, Session own, Position own_position) {
  Clock& mine = clocks_[event];
  const auto size = std::max<std::size_t>(past.size(), own + 1);
  if (mine.size() < size) mine.resize(size, 0);
  changed_.clear();
  const auto lift = [&](Session s, Position to) {
    if (mine[s] >= to) return;
    changed_.emplace_back(s, mine[s]);
    undo_log_.push_back({Undo::What::kClock, event, s, mine[s]});
    mine[s] = to;
  };
  for (Session s = 0; s < past.size(); ++s) lift(s, past[s]);
  lift(own, own_position + 1);
  if (changed_.empty()) return true;
  if (clock(event, of(event).session) > position(event)) return false;
  consequences(event);
  return true;
}

// The clock of the event rose in the sessions changed_: who is new in its past?
void OrderAdmissibility::consequences(Event event) {
  const Txn t = event / 2;
  if (reads_from(event)) {
    for (const Access& read : known_[t].reads) {
      const Txn w = versions_[read.version].writer;
      for (const SessionTxns& part : keys_[read.key].writers) {
        for (const auto& [session, was] : changed_) {
          if (session != part.session) continue;
          // A writer that is seen is before the one that was read.
          const Txn k =
              last_before(part.all, clock(event, session), [&](Txn x) { return commit_of(x); });
          if (k == kInitial || k == w || k == t || position(commit_of(k)) < was) continue;
          if (w == kInitial) {
            impossible_ = true;
            return;
          }
          add_later(commit_of(k), target_of(w));
        }
      }
    }
  }
  if (writes_at(event)) {
    for (const Access& write : known_[t].writes) {
      for (const SessionTxns& part : keys_[write.key].writers) {
        for (const auto& [session, was] : changed_) {
          if (session != part.session) continue;
          const Txn w =
              last_before(part.all, clock(event, session), [&](Txn x) { return target_of(x); });
          if (w == kInitial || w == t || position(target_of(w)) < was) continue;
          if (first_wins_) add_later(commit_of(w), begin_of(t));
          for (const LastReader& r : versions_[version(write.key, w)].readers) {
            if (r.txn != t) add_later(begin_of(r.txn), commit_of(t));
          }
        }
      }
    }
  }
}

// The open transaction reads v: with what was in its past already, and before what
// overwrites v.
bool OrderAdmissibility::read_forces(Key key, Version v) {
  const Txn w = versions_[v].writer;
  const Event b = begin_of(txn_);
  if (w != kInitial) add_later(commit_of(w), b);
  if (!drain()) return false;
  for (const SessionTxns& part : keys_[key].writers) {
    const Txn k =
        last_before(part.all, clock(b, part.session), [&](Txn x) { return commit_of(x); });
    if (k != kInitial && k != w && k != txn_) {
      if (w == kInitial) return false;
      add_later(commit_of(k), target_of(w));
    }
    // The first that cannot be before w.
    const auto first = w == kInitial
                           ? part.all.begin()
                           : std::partition_point(part.all.begin(), part.all.end(), [&](Txn x) {
                               return !before(target_of(w), commit_of(x)) || x == w;
                             });
    if (first != part.all.end() && *first != txn_) add_later(b, commit_of(*first));
  }
  return drain();
}

bool OrderAdmissibility::write_forces(Key key) {
  const Event b = begin_of(txn_), c = commit_of(txn_);
  const KeyFacts& k = keys_[key];
  for (const LastReader& r : versions_[k.initial].readers) {
    if (r.txn != txn_) add_later(begin_of(r.txn), c);
  }
  for (const SessionTxns& part : k.writers) {
    // After those whose place is before its commit …
    const Txn w = [&] {
      const auto end = std::partition_point(part.all.begin(), part.all.end(), [&](Txn x) {
        return x != txn_ && position(target_of(x)) < clock(c, part.session);
      });
      return end == part.all.begin() ? kInitial : *(end - 1);
    }();
    if (w != kInitial) {
      if (first_wins_) add_later(commit_of(w), b);
      for (const LastReader& r : versions_[version(key, w)].readers) {
        if (r.txn != txn_) add_later(begin_of(r.txn), c);
      }
    }
    // … and before those that it cannot follow.
    if (first_wins_) {
      const auto first = std::partition_point(part.all.begin(), part.all.end(), [&](Txn x) {
        return x == txn_ || !before(b, commit_of(x));
      });
      if (first != part.all.end() && part.session != known_[txn_].session)
        add_later(c, begin_of(*first));
    }
  }
  if (!drain()) return false;
  if (out_[c].empty()) return true;
  // Readers after it that saw something else saw something later.
  for (const SessionTxns& part : k.readers) {
    auto r = std::partition_point(part.all.begin(), part.all.end(),
                                  [&](Txn x) { return !before(c, begin_of(x)); });
    for (; r != part.all.end(); ++r) {
      for (const Access& read : known_[*r].reads) {
        if (read.key != key) continue;
        const Txn w = versions_[read.version].writer;
        if (w == kInitial) return to_add_.clear(), false;
        if (w != txn_) add_later(c, target_of(w));
      }
    }
  }
  return drain();
}

void OrderAdmissibility::undo_to(std::size_t size) {
  while (undo_log_.size() > size) {
    undo_one(undo_log_.back());
    undo_log_.pop_back();
  }
  to_add_.clear();
  impossible_ = false;
}

void OrderAdmissibility::undo_one(const Undo& undo) {
  TxnState& open = known_[txn_];
  switch (undo.what) {
    case Undo::What::kClock:
      clocks_[undo.a][undo.b] = undo.c;
      break;
    case Undo::What::kArc:
      out_[undo.a].pop_back();
      break;
    case Undo::What::kRead:
      open_reads_.erase(open.reads.back().key);
      open.reads.pop_back();
      begin_ranges_.resize(std::min(begin_ranges_.size(), open.reads.size()));
      break;
    case Undo::What::kReader:
      if (undo.b == kNone) {
        versions_[undo.a].readers.pop_back();
      } else {
        versions_[undo.a].readers[undo.b].txn = undo.c;
      }
      break;
    case Undo::What::kKeyReader:
      in_session(keys_[undo.a].readers, open.session).pop_back();
      break;
    case Undo::What::kWrite:
      in_session(keys_[undo.a].writers, open.session).pop_back();
      written_.erase({undo.a, txn_});
      open.writes.pop_back();
      for (auto& [place, all] : commit_ranges_)
        all.resize(std::min(all.size(), open.writes.size()));
      break;
  }
}

std::unique_ptr<AdmissibilityChecker> order_admissibility(Level level) {
  return std::make_unique<OrderAdmissibility>(level);
}

}  // namespace cupel::mock
