// The schedule: orders the end of the witness again, greedily.
#include <functional>
#include <queue>

#include "engine/mock/order_admissibility.hpp"

namespace cupel::mock {

// One attempt. Runs what nothing is before that has not run, the first in the old order first; the
// open transaction when nothing else can run. An event that cannot run yet waits:
//   a begin, until the transaction in progress that writes one of its keys has committed (first
//   committer wins);
//   a write, until the version that it overwrites has no reader to come.
class OrderAdmissibility::Schedule {
 public:
  // From this place of the witness on. `reversed`: arcs that reverse choices of earlier attempts.
  Schedule(OrderAdmissibility& owner, std::size_t from, std::vector<Arc>& reversed)
      : owner_(owner),
        from_(from),
        reversed_(reversed),
        begin_(owner.begin_of(owner.txn_)),
        commit_(owner.commit_of(owner.txn_)) {}

  // The whole order. Empty: it fails; if a choice is to blame, `reversed` has one more arc, which
  // forbids it.
  std::vector<Event> run() {
    if (!prepare()) return {};
    while (!ready_.empty()) {
      const Event event = ready_.top().second;
      ready_.pop();
      if (wait_for_holder(event)) continue;
      if (!reads_are_current(event)) return {};
      if (wait_for_readers(event)) continue;
      append(event);
    }
    if (order_.size() == from_ + events_.size()) return std::move(order_);
    reverse_choice();
    return {};
  }

 private:
  // What an event waits for that nothing forced is before.
  struct Wait {
    enum class Kind : std::uint8_t { kNone, kHolder, kReaders } kind = Kind::kNone;
    Txn holder = 0;       // kHolder: writes one of the keys
    Version version = 0;  // kReaders: to be overwritten
  };
  using Item = std::pair<std::int64_t, Event>;  // by rank

  [[nodiscard]] bool later(Event e) const {
    return e == begin_ || e == commit_ || owner_.at_[e] >= from_;
  }
  [[nodiscard]] std::int64_t rank(Event e) const {
    const auto end = static_cast<std::int64_t>(owner_.clocks_.size());
    if (e == commit_ && owner_.split_ && !owner_.first_wins_) return end + 1;
    return e == begin_ || e == commit_ ? end : static_cast<std::int64_t>(owner_.at_[e]);
  }
  void make_ready(Event e) { ready_.emplace(rank(e), e); }
  void wake(std::vector<Event>& waiting) {
    for (const Event e : waiting) make_ready(e);
    waiting.clear();
  }
  // The version of the key after what ran so far.
  Version current(Key key) {
    if (current_[key] != kNone) return current_[key];
    const auto& order = owner_.keys_[key].in_witness;
    const auto next = owner_.in_witness_after(order, from_);
    return current_[key] =
               next == order.begin() ? owner_.keys_[key].initial : owner_.version(key, *(next - 1));
  }

  bool prepare();
  bool wait_for_holder(Event event);
  [[nodiscard]] bool reads_are_current(Event event);
  bool wait_for_readers(Event event);
  void append(Event event);

  void reverse_choice();
  void find_predecessors();
  [[nodiscard]] Event blocker(Event event) const;
  [[nodiscard]] Event find_cycle() const;
  bool reverse_wait(Event event, Wait::Kind kind);

  OrderAdmissibility& owner_;
  const std::size_t from_;
  std::vector<Arc>& reversed_;
  const Event begin_, commit_;  // of the open transaction

  std::vector<Event> events_, order_;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> ready_;
  std::vector<bool> ran_;               // by event
  std::vector<std::uint32_t> before_;   // by event: how many events before it have not run
  std::vector<Wait> waits_;             // by event
  std::vector<Version> current_;        // by key; kNone: as in the witness before from_
  std::vector<std::uint32_t> to_read_;  // by version: how many have still to read it
  std::vector<Txn> holder_;             // by key: in progress and writes it (first committer wins)
  std::vector<std::vector<Event>> for_readers_;  // by version: waits until it is read
  std::vector<std::vector<Event>> for_commit_;   // by transaction: waits for its commit
  // Of what has not run: an event before it, and two readers of a version.
  std::vector<Event> one_before_, one_reader_, other_reader_;
};

// False: an event before the place comes after one that is to run.
bool OrderAdmissibility::Schedule::prepare() {
  const auto& o = owner_;
  const auto begin = o.witness_.begin() + static_cast<std::ptrdiff_t>(from_);
  events_.assign(begin, o.witness_.end());
  events_.push_back(begin_);
  if (o.split_) events_.push_back(commit_);
  order_.assign(o.witness_.begin(), begin);
  before_.assign(o.clocks_.size(), 0);
  for (const Event e : events_) {
    for (const Event next : o.out_[e]) {
      if (!later(next)) return false;
      ++before_[next];
    }
  }
  for (const Arc& arc : reversed_) ++before_[arc.to];
  ran_.assign(o.clocks_.size(), false);
  waits_.assign(o.clocks_.size(), {});
  to_read_.assign(o.versions_.size(), 0);
  for (const Event e : events_) {
    if (!o.reads_from(e)) continue;
    for (const Access& read : o.of(e).reads) ++to_read_[read.version];
  }
  current_.assign(o.keys_.size(), kNone);
  for_readers_.resize(o.versions_.size());
  if (o.first_wins_) {
    for_commit_.resize(o.known_.size());
    holder_.assign(o.keys_.size(), kInitial);
    for (const Event e : events_) {
      if (e == commit_ || !o.writes_at(e) || o.at_[o.begin_of(e / 2)] >= from_) continue;
      for (const Access& write : o.of(e).writes) holder_[write.key] = e / 2;
    }
  }
  for (const Event e : events_) {
    if (before_[e] == 0) make_ready(e);
  }
  return true;
}

bool OrderAdmissibility::Schedule::wait_for_holder(Event event) {
  if (!owner_.first_wins_ || !owner_.reads_from(event) || owner_.writes_at(event)) return false;
  for (const Access& write : owner_.of(event).writes) {
    const Txn holder = holder_[write.key];
    if (holder == kInitial) continue;
    for_commit_[holder].push_back(event);
    waits_[event] = {Wait::Kind::kHolder, holder, 0};
    return true;
  }
  return false;
}

// False: a version that it reads is overwritten, or not there yet: a wrong choice.
bool OrderAdmissibility::Schedule::reads_are_current(Event event) {
  if (!owner_.reads_from(event)) return true;
  const auto& reads = owner_.of(event).reads;
  return std::all_of(reads.begin(), reads.end(),
                     [&](const Access& read) { return current(read.key) == read.version; });
}

bool OrderAdmissibility::Schedule::wait_for_readers(Event event) {
  if (!owner_.writes_at(event)) return false;
  const TxnState& t = owner_.of(event);
  for (const Access& write : t.writes) {
    const Version version = current(write.key);
    std::uint32_t readers = to_read_[version];
    if (!owner_.split_) {
      for (const Access& read : t.reads) readers -= read.version == version;
    }
    if (readers == 0) continue;
    for_readers_[version].push_back(event);
    waits_[event] = {Wait::Kind::kReaders, 0, version};
    return true;
  }
  return false;
}

// It runs, and what waits for it may be ready.
void OrderAdmissibility::Schedule::append(Event event) {
  const TxnState& t = owner_.of(event);
  order_.push_back(event);
  ran_[event] = true;
  if (owner_.reads_from(event)) {
    for (const Access& read : t.reads) {
      // At 1 the last that is left may be the overwriter itself.
      if (--to_read_[read.version] <= 1) wake(for_readers_[read.version]);
    }
    if (owner_.first_wins_) {
      for (const Access& write : t.writes) holder_[write.key] = event / 2;
    }
  }
  if (owner_.writes_at(event)) {
    for (const Access& write : t.writes) {
      wake(for_readers_[current(write.key)]);  // they look at the new version
      current_[write.key] = write.version;
      if (owner_.first_wins_) holder_[write.key] = kInitial;
    }
    if (owner_.first_wins_) wake(for_commit_[event / 2]);
  }
  for (const Event next : owner_.out_[event]) {
    if (--before_[next] == 0) make_ready(next);
  }
  for (const Arc& arc : reversed_) {
    if (arc.from == event && --before_[arc.to] == 0) make_ready(arc.to);
  }
}

// Every event that is left waits. Follows who waits for whom to a cycle, and reverses one choice in
// it: two writers of a key change places. First it looks at writers of which one keeps the other
// from beginning, then at those of which one waits for the readers of the other.
void OrderAdmissibility::Schedule::reverse_choice() {
  find_predecessors();
  const Event start = find_cycle();
  if (start == kNone) return;
  for (const auto kind : {Wait::Kind::kHolder, Wait::Kind::kReaders}) {
    Event event = start;
    do {
      if (before_[event] == 0 && waits_[event].kind == kind && reverse_wait(event, kind)) return;
      event = blocker(event);
    } while (event != start);
  }
}

void OrderAdmissibility::Schedule::find_predecessors() {
  one_before_.assign(owner_.clocks_.size(), kNone);
  one_reader_.assign(owner_.versions_.size(), kNone);
  other_reader_.assign(owner_.versions_.size(), kNone);
  for (const Event e : events_) {
    if (ran_[e]) continue;
    for (const Event next : owner_.out_[e]) one_before_[next] = e;
    for (const Arc& arc : reversed_) {
      if (arc.from == e) one_before_[arc.to] = e;
    }
    if (!owner_.reads_from(e)) continue;
    for (const Access& read : owner_.of(e).reads) {
      other_reader_[read.version] = one_reader_[read.version];
      one_reader_[read.version] = e;
    }
  }
}

// An event that this one waits for; kNone: none is known.
OrderAdmissibility::Event OrderAdmissibility::Schedule::blocker(Event event) const {
  if (before_[event] > 0) return one_before_[event];
  const Wait& wait = waits_[event];
  switch (wait.kind) {
    case Wait::Kind::kHolder:
      return owner_.commit_of(wait.holder);
    case Wait::Kind::kReaders: {
      const Event reader = one_reader_[wait.version];
      return reader == event ? other_reader_[wait.version] : reader;
    }
    default:
      return kNone;
  }
}

// An event of a cycle of blockers; kNone: none is found.
OrderAdmissibility::Event OrderAdmissibility::Schedule::find_cycle() const {
  std::vector<bool> seen(owner_.clocks_.size(), false);
  Event event = *std::find_if(events_.begin(), events_.end(), [&](Event e) { return !ran_[e]; });
  while (event != kNone && !seen[event]) {
    seen[event] = true;
    event = blocker(event);
  }
  return event;
}

// The event's transaction goes before the one that it waits for. False: that was tried before, or
// it cannot be.
bool OrderAdmissibility::Schedule::reverse_wait(Event event, Wait::Kind kind) {
  const Txn other = kind == Wait::Kind::kHolder ? waits_[event].holder
                                                : owner_.versions_[waits_[event].version].writer;
  if (other == kInitial || other == event / 2) return false;
  const Arc arc{owner_.commit_of(event / 2), owner_.target_of(other)};
  const bool tried = std::any_of(reversed_.begin(), reversed_.end(), [&](const Arc& a) {
    return (a.from == arc.from && a.to == arc.to) ||
           (a.from == owner_.commit_of(other) && a.to == owner_.target_of(event / 2));
  });
  if (tried || !later(arc.to) || owner_.before(arc.to, arc.from)) return false;
  reversed_.push_back(arc);
  return true;
}

// Orders the witness again from this place on, with the open transaction. Where an attempt comes
// to where each event waits for another, one of the choices that led there is reversed, and the
// next attempt starts.
bool OrderAdmissibility::schedule(std::size_t from) {
  constexpr std::size_t kMostReversed = 64;
  std::vector<Arc> reversed;  // in effect for these attempts only
  while (reversed.size() < kMostReversed) {
    const auto size = reversed.size();
    const auto order = Schedule(*this, from, reversed).run();
    if (!order.empty()) {
      set_witness(order);
      return find_insertion().has_value();
    }
    if (reversed.size() == size) return false;
  }
  return false;
}

}  // namespace cupel::mock
