// Window: see the header. Each look builds the history of what is held, asks the engine,
// and cuts; what stays is copied into the next one.
#include "engine/online/window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/offsets.hpp"
#include "base/verdict.hpp"
#include "data/history/mask.hpp"
#include "data/history/starts_empty.hpp"
#include "data/history/text_order.hpp"
#include "engine/online/held_alone.hpp"

namespace cupel::online {

using base::Verdict;
using history::HistoryBuilder;
using history::KeyId;
using history::kNoTime;
using history::OpId;
using history::OpKind;
using history::ScalarView;
using history::SessionId;
using history::Time;
using history::TxnId;
using history::TxnStatus;
using history::ValueId;

namespace {

// What a list read saw that does not begin as the list began when its beginning was forgotten.
constexpr std::string_view kAnotherBeginning = "another beginning of the list";

}  // namespace

void Window::set_default_initial(ScalarView value) {
  default_text_ = value.text;
  default_initial_ = {value.kind, value.integer, default_text_};
  digest_.add(default_initial_);
}

void Window::set_initial(Key key, ScalarView value) {
  digest_.add(keys_.name(key));
  digest_.add(value);
  keys_.hold(key, value);
  if (!history::starts_empty(value)) keys_.note_register(key);
}

Session Window::session(std::string_view name) {
  sessions_.emplace_back().name = name;
  return static_cast<Session>(sessions_.size() - 1);
}

void Window::doubt(std::string why) {
  if (held_.doubt.empty()) held_.doubt = std::move(why);
}

void Window::note_began(SessionFacts& session, Time invoke) {
  const bool real_time = levels::needs_real_time(level_);
  if (held_.forgotten > 0) {
    if (real_time && invoke != kNoTime && invoke < cut_at_) {
      doubt(fmt::format("session {} was invoked before what had been forgotten by then ended",
                        session.name));
    } else if (!real_time && !session.began) {
      doubt(fmt::format("session {} began after something had been forgotten", session.name));
    } else if (!real_time && session.closed) {
      doubt(fmt::format("session {} had been counted as ended", session.name));
    }
  }
  if (session.closed) {
    session.closed = false;
    session.never_closes = true;
  }
  session.began = true;
}

void Window::begin(Session session, Moment at, const Operations& tried) {
  auto& s = sessions_[session];
  note_began(s, at.time);
  s.open = true;
  s.invoked = at;
  s.silent = false;
  s.forgotten = held_.forgotten;
  s.tried.clear();
  s.tried.append(tried);
}

void Window::end(Session session, TxnStatus status, Moment at, const Operations& seen,
                 std::optional<std::uint64_t> number) {
  auto& s = sessions_[session];
  if (!s.open) {
    s.invoked = {kNoTime, at.label};
    note_began(s, kNoTime);
  }
  if (s.open && s.silent && !seen.empty() && held_.forgotten != s.forgotten)
    doubt(fmt::format("the invocation of session {} named no operations", s.name));
  unsaid_ = unsaid_ || (s.open && s.silent && status == TxnStatus::kIndeterminate);
  s.open = false;
  ++s.count;
  if (at.time != kNoTime) s.ended = std::max(s.ended, at.time);
  if (status == TxnStatus::kIndeterminate && options_.doubt_ends_session && !s.never_closes) {
    s.closed = true;
  }
  const Time complete = status == TxnStatus::kCommitted ? at.time : kNoTime;
  if (options_.evidence && !number)
    digest(digest_, session, status, s.invoked.time, complete, seen);
  const bool aborted = status == TxnStatus::kAborted;
  if (!aborted) counted_digest_ = digest_.value();
  if (aborted && slide_ == 0) return;
  const auto first = fresh_operations_.size();
  fresh_operations_.append(seen);
  fresh_.push_back({.session = session,
                    .status = status,
                    .invoke = s.invoked.time,
                    .complete = complete,
                    .label = at.label,
                    .place = s.count,
                    .born = held_.transactions,
                    .number = number.value_or(held_.transactions),
                    .first = first,
                    .last = fresh_operations_.size()});
  if (!aborted) ++held_.transactions;
  if (status == TxnStatus::kCommitted) ++held_.committed;
}

void Window::close(Session session) {
  auto& s = sessions_[session];
  if (!s.open && !s.never_closes) s.closed = true;
}

// Builds the history of what is held.
class Window::Build {
 public:
  explicit Build(Window& window) : w_(window), keys_(window.keys_) {}

  void run() {
    builder_.set_default_initial(builder_.value(w_.default_initial_));
    key_ids_.assign(keys_.size(), KeyId::none());
    values_.assign(w_.history_.value_count(), ValueId::none());
    for (auto& session : w_.sessions_) session.id = SessionId::none();
    copy_kept();
    for (const auto& txn : w_.fresh_) add(txn, w_.fresh_operations_, txn.first, txn.last);
    for (Session s = 0; s < w_.sessions_.size(); ++s) add_open(s);
    if (ranges_) {
      for (Key key = 0; key < keys_.size(); ++key) key_id(key);
    }
    for (const Key key : used_) {
      if (keys_.is_list(key)) {
        // Without an operation that is held, the history does not know that it is a list.
        builder_.set_initial(key_ids_[key], builder_.null_value());
      } else if (const auto held = keys_.held(key)) {
        builder_.set_initial(key_ids_[key], builder_.value(*held));
      }
    }
    finish();
  }

 private:
  void begin(const Transaction& txn) {
    auto& session = w_.sessions_[txn.session];
    if (!session.id.valid()) session.id = builder_.session(session.name);
    builder_.begin(
        session.id, txn.status,
        {.invoke = txn.invoke, .complete = txn.complete, .label = txn.label, .place = txn.place});
    txns_.push_back(txn);
    ids_.push_back(session.id.raw);
  }

  KeyId key_id(Key key) {
    auto& id = key_ids_[key];
    if (!id.valid()) {
      id = builder_.key(keys_.name(key));
      used_.push_back(key);
    }
    return id;
  }

  void add_open(Session s) {
    const auto& session = w_.sessions_[s];
    if (!session.open) return;
    add({.session = s,
         .status = TxnStatus::kIndeterminate,
         .invoke = session.invoked.time,
         .complete = kNoTime,
         .label = session.invoked.label,
         .place = session.count + 1,
         .born = w_.held_.transactions,
         .open = true},
        session.tried, 0, session.tried.size());
  }

  void add(const Transaction& txn, const Operations& from, std::size_t first, std::size_t last) {
    begin(txn);
    for (auto i = first; i < last; ++i) {
      const auto& op = from.all()[i];
      add_operation(from, op);
      if (op.kind == OpKind::kRangeRead && txn.status == TxnStatus::kCommitted)
        add_forgotten_lists(from, op);
    }
    builder_.end();
  }

  // Beside a range read: the lists that it should have returned, as reads of another beginning. One
  // is enough, for no level allows it.
  void add_forgotten_lists(const Operations& from, const Operations::Operation& range) {
    if (!forgotten_lists_) find_forgotten_lists();
    const auto low = from.view(range.value), high = from.view(range.other);
    const auto entries = from.entries(range);
    auto it = std::lower_bound(forgotten_lists_->begin(), forgotten_lists_->end(), low,
                               [&](Key key, ScalarView bound) { return keys_.name(key) < bound; });
    for (; it != forgotten_lists_->end() && !(high < keys_.name(*it)); ++it) {
      const bool returned = std::any_of(entries.begin(), entries.end(),
                                        [&](const auto& entry) { return entry.key == *it; });
      if (returned || !history::agreed_between(low, keys_.name(*it), high)) continue;
      add_another_beginning();
      return add_list_read(*it, /*known=*/true);
    }
  }

  void find_forgotten_lists() {
    forgotten_lists_.emplace();
    for (Key key = 0; key < keys_.size(); ++key) {
      if (keys_.forgotten(key) > 0) forgotten_lists_->push_back(key);
    }
    std::sort(forgotten_lists_->begin(), forgotten_lists_->end(),
              [this](Key a, Key b) { return keys_.name(a) < keys_.name(b); });
  }

  void add_operation(const Operations& from, const Operations::Operation& op) {
    const auto value = [&](const Value& v) { return builder_.value(from.view(v)); };
    switch (op.kind) {
      case OpKind::kRead:
        if (keys_.is_list(op.key)) {
          if (op.known && keys_.forgotten(op.key) > 0) add_another_beginning();
          return add_list_read(op.key, op.known);
        }
        return builder_.read(key_id(op.key), op.known ? value(op.value) : ValueId::none());
      case OpKind::kWrite:
        return builder_.write(key_id(op.key), value(op.value));
      case OpKind::kAppend:
        return builder_.append(key_id(op.key), value(op.value));
      case OpKind::kInsert:
        return builder_.insert(key_id(op.key), value(op.value));
      case OpKind::kDelete:
        return builder_.erase(key_id(op.key), value(op.value));
      case OpKind::kCompareAndSet:
        return builder_.compare_and_set(key_id(op.key), value(op.value), value(op.other),
                                        op.succeeded);
      case OpKind::kListRead: {
        elements_.clear();
        const auto all = from.elements(op);
        if (op.known && !keys_.begins_with_forgotten(op.key, from, all)) {
          add_another_beginning();
        } else if (op.known) {
          for (auto i = keys_.forgotten(op.key); i < all.size(); ++i) {
            elements_.push_back(value(all[i]));
          }
        }
        return add_list_read(op.key, op.known);
      }
      case OpKind::kRangeRead: {
        ranges_ = true;
        entries_.clear();
        for (const auto& entry : from.entries(op)) {
          entries_.push_back({key_id(entry.key), value(entry.value)});
        }
        return builder_.range_read(value(op.value), value(op.other), entries_);
      }
    }
  }

  // To elements_: the read did not see the elements that are forgotten.
  void add_another_beginning() {
    elements_.push_back(builder_.value(ScalarView::literal(kAnotherBeginning)));
  }

  // Of elements_, if the read is known. A read of null of what turned out to be a list saw none.
  void add_list_read(Key key, bool known) {
    if (!known) return builder_.list_read_unknown(key_id(key));
    builder_.list_read(key_id(key), elements_);
    elements_.clear();
  }

  // --- what is left of the last history ---

  void copy_kept() {
    const auto& h = w_.history_;
    for (std::uint32_t t = 0; t < h.txn_count(); ++t) {
      if (!w_.kept_[t] || w_.txns_[t].open) continue;
      begin(w_.txns_[t]);
      for (auto i = h.first_op(TxnId(t)); i < h.last_op(TxnId(t)); ++i) copy(h, h.op(OpId(i)));
      builder_.end();
    }
  }

  ValueId again(ValueId v) {
    if (!v.valid()) return v;
    auto& id = values_[v.index()];
    if (!id.valid()) id = builder_.value(w_.history_.value(v));
    return id;
  }
  KeyId again(KeyId k) { return key_id(w_.key_of_[k.index()]); }

  void copy(const history::History& h, const history::Operation& op) {
    if (is_unknown_range(op)) return;
    switch (op.kind) {
      case OpKind::kRead:
        if (keys_.is_list(w_.key_of_[op.key.index()])) {
          return add_list_read(w_.key_of_[op.key.index()], op.value.valid());
        }
        return builder_.read(again(op.key), again(op.value));
      case OpKind::kWrite:
        return builder_.write(again(op.key), again(op.value));
      case OpKind::kAppend:
        return builder_.append(again(op.key), again(op.value));
      case OpKind::kInsert:
        return builder_.insert(again(op.key), again(op.value));
      case OpKind::kDelete:
        return builder_.erase(again(op.key), again(op.value));
      case OpKind::kCompareAndSet: {
        const auto cas = h.compare_and_set(op);
        return builder_.compare_and_set(again(op.key), again(cas.expected), again(cas.desired),
                                        cas.succeeded);
      }
      case OpKind::kListRead: {
        elements_.clear();
        if (h.list_known(op)) {
          const auto all = h.list(op);
          for (std::size_t i = w_.newly_forgotten_[op.key.index()]; i < all.size(); ++i) {
            elements_.push_back(again(all[i]));
          }
        }
        return add_list_read(w_.key_of_[op.key.index()], h.list_known(op));
      }
      case OpKind::kRangeRead: {
        ranges_ = true;
        const auto range = h.range(op);
        entries_.clear();
        for (const auto& entry : range.entries) {
          entries_.push_back({again(entry.key), again(entry.value)});
        }
        return builder_.range_read(again(range.low), again(range.high), entries_);
      }
    }
  }

  // Transactions are numbered session by session, in the order in which they were added.
  void finish() {
    std::vector<std::uint32_t> next(w_.sessions_.size() + 1, 0);
    for (const auto id : ids_) ++next[id + 1];
    base::counts_to_offsets(next);
    w_.txns_.resize(txns_.size());
    for (std::size_t i = 0; i < txns_.size(); ++i) w_.txns_[next[ids_[i]]++] = txns_[i];
    w_.key_of_ = std::move(used_);
    auto built = std::move(builder_).finish();
    error_ = built.ok() ? "" : built.error().message;
    w_.history_ = built.ok() ? std::move(built).value() : history::History();
  }

 public:
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  Window& w_;
  Keys& keys_;
  HistoryBuilder builder_;
  std::vector<KeyId> key_ids_;   // by key
  std::vector<ValueId> values_;  // by value of the last history
  std::vector<Key> used_;        // by KeyId
  std::vector<Transaction> txns_;
  std::vector<std::uint32_t> ids_;  // of their sessions
  std::vector<ValueId> elements_;
  std::vector<history::RangeEntry> entries_;
  std::optional<std::vector<Key>> forgotten_lists_;  // with forgotten elements, in key order
  bool ranges_ = false;
  std::string error_;
};

Look Window::look(base::Budget& budget, bool ended) {
  if (auto missing = look_for_missing_key()) return *std::move(missing);
  Build build(*this);
  build.run();
  if (!build.error().empty()) return {Verdict::kRefused, build.error(), true};
  fresh_.clear();
  fresh_operations_.clear();
  kept_.assign(history_.txn_count(), 1);
  newly_forgotten_.assign(history_.key_count(), 0);
  held_before_ = std::exchange(held_.held, history_.txn_count());
  evidence_.reset();
  auto open = going_on();
  waits_ = !open.failed.empty();
  if (!ended) history_ = history::with_failed(std::move(history_), open.failed);
  if (ended) open = {};
  const bool silent = any_silent();
  if (slide_ > 0) return slide(open, silent, budget);
  if (ended && !silent) return decide(open, /*may_forget=*/!waits_, budget);
  auto look = decide(open, /*may_forget=*/true, budget);
  if (look.status != Verdict::kViolated) return look;
  auto reads = open.reads;
  if (silent) reads = reads_of_others(history_, /*frontier_known=*/false);
  if (reads.empty()) return look;
  // Perhaps it only means that one of them has succeeded, or what an open transaction writes.
  auto known = history_;
  history_ = history::with_unknown(std::move(history_), reads);
  look = decide({}, /*may_forget=*/false, budget);
  if (look.status == Verdict::kSatisfied) history_ = std::move(known);
  waits_ = waits_ || silent;
  if (ended && look.status == Verdict::kSatisfied) {
    return {Verdict::kUnknown,
            "a transaction of unknown outcome names no operations, so it may have written what "
            "others read"};
  }
  return look;
}

bool Window::any_silent() const {
  return unsaid_ || std::any_of(sessions_.begin(), sessions_.end(),
                                [](const SessionFacts& s) { return s.open && s.silent; });
}

history::OpenCompares Window::going_on() const {
  std::vector<TxnId> open;
  for (std::uint32_t t = 0; t < txns_.size(); ++t) {
    if (txns_[t].open) open.emplace_back(t);
  }
  auto found = history::open_compares(history_, open);
  // What is forgotten may have said that a key is a register.
  std::erase_if(found.reads, [&](OpId read) {
    const auto op = history_.op(read);
    return op.kind == OpKind::kRead && op.value == history_.null_value() &&
           history_.default_initial_value() != history_.null_value() &&
           keys_.is_register(key_of_[op.key.index()]);
  });
  return found;
}

// The engine's answer for history_.
Look Window::decide(const history::OpenCompares& open, bool may_forget, base::Budget& budget) {
  levels::Decider decider(history_, options_.drift, 1, /*evidence=*/true);
  auto decision = decider.decide(level_, budget);
  note_repeated_values(decider, open);
  Look look{decision.status, std::move(decision.detail), held_.doubt.empty()};
  if (decision.status == Verdict::kSatisfied && decision.witness) {
    if (may_forget) forget(decider, *decision.witness, open);
    if (options_.evidence) note_evidence(*decision.witness);
  }
  return look;
}

namespace {

bool may_be_of_several(const levels::Decider& decider, const history::OpenCompares& open) {
  const auto accesses = decider.accesses();
  return accesses && std::any_of(accesses->reads.begin(), accesses->reads.end(), [&](auto& read) {
           return read.joint_last - read.joint_first >= 2 ||
                  std::binary_search(open.reads.begin(), open.reads.end(), read.op);
         });
}

}  // namespace

// Without real time, a read may turn out to be of a write that comes only later, if it writes the
// same: a check of the whole history thinks so too.
void Window::note_repeated_values(const levels::Decider& decider,
                                  const history::OpenCompares& open) {
  if (!held_.doubt.empty() || levels::needs_real_time(level_) || !may_be_of_several(decider, open))
    return;
  doubt("a read may be of several writes, and without real time also of one that came later");
}

void Window::digest(history::Fold& fold, Session session, TxnStatus status, Time invoke,
                    Time complete, const Operations& operations) const {
  history::StreamedTransaction txn;
  txn.session = session;
  txn.status = status;
  txn.invoke = invoke;
  txn.complete = complete;
  history::add_transaction(fold, txn, operations, [this](Key key) { return keys_.name(key); });
}

std::uint64_t Window::digest_with_open() const {
  if (read_) return read_->all;
  auto fold = digest_;
  for (Session s = 0; s < sessions_.size(); ++s) {
    const auto& session = sessions_[s];
    if (!session.open) continue;
    digest(fold, s, TxnStatus::kIndeterminate, session.invoked.time, kNoTime, session.tried);
  }
  return fold.value();
}

// By transaction of history_: as the stream counts those that ended; then those that are open,
// session by session.
std::vector<std::uint64_t> Window::numbers() const {
  std::vector<std::uint64_t> rank(sessions_.size(), 0);
  std::uint64_t next = held_.transactions;
  for (Session s = 0; s < sessions_.size(); ++s) {
    if (sessions_[s].open) rank[s] = next++;
  }
  std::vector<std::uint64_t> numbers(txns_.size());
  for (std::size_t t = 0; t < txns_.size(); ++t) {
    numbers[t] = txns_[t].open ? rank[txns_[t].session] : txns_[t].number;
  }
  return numbers;
}

void Window::note_evidence(const levels::Witness& witness) {
  const auto open = static_cast<std::uint64_t>(std::count_if(
      sessions_.begin(), sessions_.end(), [](const SessionFacts& s) { return s.open; }));
  evidence_ = evidence_of(history_, witness, kept_, numbers());
  evidence_->transactions = held_.transactions;
  evidence_->open = open;
  evidence_->history = counted_digest_;
  evidence_->frontier = keys_.digest();
  if (!read_) return;
  evidence_->transactions = read_->transactions;
  evidence_->open = 0;  // they have been read
  evidence_->history = read_->counted;
}

// Of what comes, and of what is open.
Time Window::earliest() const {
  Time earliest = std::numeric_limits<Time>::max();
  for (const auto& session : sessions_) {
    if (session.open) {
      earliest = std::min(earliest, session.invoked.time);
    } else if (!session.closed) {
      earliest = std::min(earliest, std::max(session.ended, no_earlier_));
    }
  }
  return earliest;
}

bool Window::all_seen() const {
  std::size_t seen = 0;
  for (const auto& session : sessions_) seen += session.count > 0 || session.closed;
  return seen >= options_.sessions;
}

void Window::forget(const levels::Decider& decider, const levels::Witness& witness,
                    const history::OpenCompares& open_compares) {
  const auto accesses = decider.accesses();
  if (!accesses || !all_seen() || levels::ListChoices(history_).any()) return;
  std::vector<std::uint8_t> continues(history_.session_count(), 0);
  std::vector<std::uint8_t> open(txns_.size(), 0), unread(txns_.size(), 0);
  std::vector<std::uint8_t> stays(txns_.size(), 0);
  bool unseen = false;
  for (const auto& session : sessions_) {
    if (session.closed) continue;
    if (session.id.valid()) {
      continues[session.id.index()] = 1;
    } else {
      unseen = true;
    }
  }
  bool bets = false;
  for (std::size_t t = 0; t < txns_.size(); ++t) {
    open[t] = txns_[t].open;
    // A verifier has not read it yet.
    stays[t] = read_ && !txns_[t].open && txns_[t].number >= read_->transactions;
    unread[t] = txns_[t].status == TxnStatus::kIndeterminate && !txns_[t].open &&
                held_.transactions - txns_[t].born > options_.forget_outcome_after;
    bets = bets || unread[t];
  }
  const auto from = earliest();
  auto cut = find_cut({.history = history_,
                       .accesses = *accesses,
                       .witness = witness,
                       .level = level_,
                       .drift = options_.drift,
                       .continues = continues,
                       .open = open,
                       .stays = stays,
                       .unsure_reads = open_compares.reads,
                       .unseen_session = unseen,
                       .earliest = from,
                       .unread = unread,
                       .bet_on_order = held_before_ > options_.bet_above});
  if (bets) doubt("an indeterminate transaction that nobody had read from was forgotten");
  if (cut.lost_bet_possible) doubt("the order of two blind writes was taken to be the likely one");
  if (cut.forgotten > 0) cut_at_ = std::max(cut_at_, from);
  for (const auto& settled : cut.settled) {
    const Key key = key_of_[settled.key.index()];
    if (history_.is_list(settled.key)) {
      for (const auto op : settled.writes) {
        keys_.forget_element(key, history_.value(history_.op(op).value));
      }
      newly_forgotten_[settled.key.index()] = static_cast<std::uint32_t>(settled.writes.size());
      continue;
    }
    const auto op = history_.op(settled.writes.back());
    const auto value =
        op.kind == OpKind::kCompareAndSet ? history_.compare_and_set(op).desired : op.value;
    keys_.hold(key, history_.value(value));
  }
  held_.open = static_cast<std::size_t>(std::count(open.begin(), open.end(), 1));
  held_.uncovered = cut.uncovered;
  held_.undecided = cut.undecided;
  held_.outcome = cut.outcome;
  held_.forgotten += cut.forgotten;
  held_.held -= cut.forgotten;
  kept_ = std::move(cut.kept);
  note_forgotten_ranges();
}

}  // namespace cupel::online
