// The store: turns, sessions and the life of a transaction. What a read may return is
// ReadPolicy's (read_policy.hpp); what happened is in the TransactionLog.
//
// One mutex guards everything. Where transactions run one after another, a turn is a ticket in a
// queue. Each who waits is woken alone: the one in front when a transaction ends, the one whose
// turn it is, everybody at shut-down.
#include "engine/mock/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "base/budget.hpp"
#include "base/random.hpp"
#include "engine/levels/level.hpp"
#include "engine/mock/interleave.hpp"
#include "engine/mock/lock_table.hpp"
#include "engine/mock/read_policy.hpp"
#include "engine/mock/transaction_log.hpp"

namespace cupel::mock {

namespace {

using Clock = std::chrono::steady_clock;

Clock::duration milliseconds(double number) {
  return std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double, std::milli>(number));
}

// By Level.
constexpr std::array kEngineLevels = {
    levels::Level::kReadCommitted,
    levels::Level::kReadAtomic,
    levels::Level::kCausal,
    levels::Level::kPrefix,
    levels::Level::kStrongSessionSnapshotIsolation,
    levels::Level::kStrongSessionSerializable,
    levels::Level::kStrictSerializable,
};

// A store at these levels is of no use with one transaction at a time, nor without locks.
Options completed(Options options) {
  if (!is_versioned(options)) return options;
  options.overlap = options.locks = true;
  options.settle_ms = 0;
  return options;
}

}  // namespace

std::string_view name(Level level) {
  return levels::name(kEngineLevels[static_cast<std::size_t>(level)]);
}

std::optional<Policy> policy_of(std::string_view name) {
  for (const auto& known : kPolicies) {
    if (known.name == name) return known.policy;
  }
  return std::nullopt;
}

double& weight_of(Options& options, Policy policy) {
  switch (policy) {
    case Policy::kUniform:
      return options.uniform;
    case Policy::kLatest:
      return options.latest;
    case Policy::kAdversarial:
      break;
  }
  return options.adversarial;
}

std::optional<Level> level_of(std::string_view text) {
  auto parsed = levels::parse_level(text);
  // Sessions are always ordered here.
  if (parsed == levels::Level::kSnapshotIsolation)
    parsed = levels::Level::kStrongSessionSnapshotIsolation;
  if (parsed == levels::Level::kSerializable) parsed = levels::Level::kStrongSessionSerializable;
  for (std::size_t i = 0; parsed && i < kEngineLevels.size(); ++i) {
    if (kEngineLevels[i] == *parsed) return static_cast<Level>(i);
  }
  return std::nullopt;
}

std::string_view title(const Options& options) {
  for (const auto& known : kProductLevels) {
    if (known.product == options.product && known.level == options.level) return known.name;
  }
  return name(options.level);
}

// What the handle of a transaction and the store share of it.
class Store::Open {
 public:
  Txn txn = 0;
  Session session = 0;
  Level level = Level::kCausal;
  std::uint32_t commits = kAllCommits;  // that its statement may see
  bool asking = false;                  // a call of it is under way
  Clock::time_point idle_since;         // or since when somebody waits for it
  std::optional<Failure> failure;
  bool over = false;
};

class Store::State : public std::enable_shared_from_this<Store::State> {
 public:
  explicit State(const Options& options) : options_(completed(options)) { start(options.seed); }

  std::uint32_t open_session(std::string name) {
    const std::lock_guard lock(mutex_);
    return new_session(std::move(name));
  }

  std::uint32_t continue_session(std::string name) {
    const std::lock_guard lock(mutex_);
    const auto last = std::find_if(closed_.rbegin(), closed_.rend(),
                                   [&](Session session) { return names_asked_[session] == name; });
    if (last == closed_.rend()) return new_session(std::move(name));
    const Session session = *last;
    closed_.erase(std::next(last).base());
    return session;
  }

  void close_session(std::uint32_t session) {
    const std::lock_guard lock(mutex_);
    if (const auto open = open_of(session)) {
      end(*open, Failure{Failure::Kind::kEnded,
                         "the transaction was rolled back, its session was closed"});
    }
    std::erase(closed_, session);
    closed_.push_back(session);
  }

  std::unique_ptr<Transaction> begin(std::uint32_t session, const BeginOptions& options);
  bool wait_for_turn(std::unique_lock<std::mutex>& lock, Session session,
                     const BeginOptions& options);
  std::size_t waiting() {
    const std::lock_guard lock(mutex_);
    return queue_.size();
  }
  std::uint64_t asked_for() {
    const std::lock_guard lock(mutex_);
    return next_ticket_;
  }
  std::uint64_t conflicts() {
    const std::lock_guard lock(mutex_);
    return conflicts_;
  }
  bool set_initial(std::string_view key, Value value) {
    const std::lock_guard lock(mutex_);
    if (log_.count() > 0) return false;
    log_.set_initial(log_.key(key), std::move(value));
    return true;
  }
  void reset(std::uint64_t seed);
  void shut_down();
  base::Result<history::History> history() {
    const std::lock_guard lock(mutex_);
    return log_.history(session_names_, has_times());
  }
  std::map<std::uint32_t, std::vector<std::string>> statements() {
    const std::lock_guard lock(mutex_);
    return log_.statements(has_times());
  }
  // One transaction after another has no order in time that a client could rely on.
  [[nodiscard]] bool has_times() const { return options_.overlap || mock::is_versioned(options_); }
  void interleave(std::span<const std::function<void()>> functions) {
    mock::interleave(
        functions,
        [this](std::size_t waiting) {
          return options_.choose ? options_.choose(waiting) : turns_.below(waiting);
        },
        [this](std::span<const std::uint64_t> turns) {
          const std::lock_guard lock(mutex_);
          reached(turns);
        });
  }
  Digest digest(bool in_order) {
    const std::lock_guard lock(mutex_);
    return log_.digest(session_names_, in_order);
  }
  [[nodiscard]] const Options& options() const { return options_; }
  std::uint32_t commits() {
    const std::lock_guard lock(mutex_);
    return static_cast<std::uint32_t>(log_.committed().size());
  }
  KeyNumber number(std::string_view name) {
    const std::lock_guard lock(mutex_);
    return log_.key(name);
  }
  Value latest(std::string_view name, std::uint32_t commits) {
    const std::lock_guard lock(mutex_);
    const Key key = log_.key(name);
    return log_.value(log_.last_writer(key, commits), key);
  }
  bool mixed() {
    const std::lock_guard lock(mutex_);
    return read_policy_->mixed();
  }
  std::string observed() {
    const std::lock_guard lock(mutex_);
    return log_.observed(session_names_);
  }

 private:
  class Handle;

  void start(std::uint64_t seed) {
    log_ = TransactionLog();
    locks_.clear();
    conflicts_ = 0;
    read_policy_.emplace(options_, log_, seed);
    // Apart, so that delays, aborts and turns that are asked for change no choice of a read.
    delays_ = base::Random(seed ^ 0x64656c6179ULL);
    aborts_ = base::Random(seed ^ 0x61626f7274ULL);
    turns_ = base::Random(seed ^ 0x7475726e73ULL);
  }

  std::uint32_t new_session(std::string name) {
    std::string unique = name;
    while (names_taken_.contains(unique)) unique = fmt::format("{}#{}", name, ++names_taken_[name]);
    names_taken_.emplace(unique, 1);
    session_names_.push_back(std::move(unique));
    names_asked_.push_back(std::move(name));
    return static_cast<std::uint32_t>(session_names_.size() - 1);
  }

  std::shared_ptr<Open> open_of(Session session) const {
    const auto found = std::find_if(open_.begin(), open_.end(),
                                    [&](const auto& open) { return open->session == session; });
    return found == open_.end() ? nullptr : *found;
  }
  // Whose end the session's begin() waits for.
  [[nodiscard]] std::shared_ptr<Open> in_the_way(Session session) const {
    if (options_.overlap) return open_of(session);
    return open_.empty() ? nullptr : open_.front();
  }

  // The transaction that the calls below are about.
  void select(const Open& open) {
    log_.select(open.txn);
    read_policy_->select(open.txn);
  }

  // Before the selected transaction does anything with a key: who scanned and did not see it?
  void report_absent(Key key) {
    for (const Txn t : log_.absent_for(key)) read_policy_->saw_absent(key, t);
  }

  void reached(std::span<const std::uint64_t> turns) {
    if (!options_.before_turn) return;
    options_.before_turn({.history = log_.digest(session_names_, false),
                          .in_order = log_.digest(session_names_, true),
                          .turns = {turns.begin(), turns.end()}});
  }

  // Whose turn it is, or else who is in front and sees to it.
  void wake() {
    if (options_.overlap) {
      for (const auto& waiting : queue_) waiting.woken->notify_one();
      return;
    }
    const auto turn = std::find_if(queue_.begin(), queue_.end(), [this](const Waiting& waiting) {
      return turn_of_ == waiting.ticket;
    });
    if (turn != queue_.end()) {
      turn->woken->notify_one();
    } else if (!queue_.empty()) {
      queue_.front().woken->notify_one();
    }
  }

  // Nothing is open, the caller is in front: gives the turn to one, or waits for others to come.
  void give_turn(std::unique_lock<std::mutex>& lock) {
    if (options_.settle_ms <= 0) {
      turn_of_ = queue_.front().ticket;
    } else {
      const auto until = quiet_since_ + milliseconds(options_.settle_ms);
      if (Clock::now() < until) {
        queue_.front().woken->wait_until(lock, until);
        return;
      }
      reached({});
      auto waiting = std::vector(queue_.begin(), queue_.end());
      std::sort(waiting.begin(), waiting.end(), [this](const Waiting& a, const Waiting& b) {
        return session_names_[a.session] < session_names_[b.session];
      });
      std::size_t chosen = 0;
      if (waiting.size() > 1) {
        chosen = options_.choose ? options_.choose(waiting.size()) : turns_.below(waiting.size());
      }
      turn_of_ = waiting[std::min(chosen, waiting.size() - 1)].ticket;
    }
    wake();
  }

  // Not while holding the lock for the time of the sleep; ends early at shut-down.
  void sleep(std::unique_lock<std::mutex>& lock, Clock::duration time) {
    if (time <= Clock::duration::zero()) return;
    const auto until = Clock::now() + time;
    while (!stopped_ && stop_.wait_until(lock, until) != std::cv_status::timeout) {
    }
  }

  // The transaction ends: by itself, or with a failure.
  void end(Open& open, std::optional<Failure> failure) {
    select(open);
    read_policy_->abort();
    log_.abort();
    ended(open, std::move(failure));
  }

  bool commit(Open& open) {
    if (options_.overlap) report_new_keys(open);
    select(open);
    if (!read_policy_->commit()) {
      end(open, Failure{Failure::Kind::kConflict,
                        fmt::format("other transactions committed what contradicts this one, its "
                                    "level {} does not allow it to commit",
                                    mock::name(log_.at(open.txn).level))});
      return false;
    }
    log_.commit();
    if (options_.committed) options_.committed(static_cast<std::uint32_t>(log_.committed().size()));
    ended(open, std::nullopt);
    return true;
  }

  // Of the keys that come into being: who scanned and did not see them, and is open or committed
  // since they were written?
  void report_new_keys(const Open& open) {
    select(open);
    const auto scanners = log_.concurrent_scanners();
    for (const Key key : log_.open_writes()) {
      if (!log_.writers(key).empty() || log_.has_initial(key)) continue;
      report_absent(key);
      // Not only the last of each session, so that the history has all scans that a row escaped.
      for (const Txn scanner : scanners) {
        if (log_.note_absent(scanner, key)) read_policy_->saw_absent(key, scanner);
      }
      for (const auto& other : open_) {
        if (other->txn == open.txn) continue;
        select(*other);
        // If it is not allowed any more, its next call finds out.
        if (log_.saw_absent(key) && read_policy_->read(key, kAllCommits)) log_.read_absent(key);
      }
      select(open);
    }
  }

  // Rolls back who holds the lock, has asked for nothing for long, and keeps others waiting.
  void lose_patience(Txn own, std::string_view name, LockMode mode, Clock::time_point began) {
    const auto now = Clock::now();
    for (const Txn holder : locks_.blockers(own, name, mode)) {
      const auto found = std::find_if(open_.begin(), open_.end(),
                                      [&](const auto& open) { return open->txn == holder; });
      if (found == open_.end() || (*found)->asking) continue;
      const auto idle = now - std::max((*found)->idle_since, began);
      if (idle < milliseconds(options_.patience_s * 1000)) continue;
      const auto open = *found;
      end(*open, Failure{Failure::Kind::kEnded,
                         fmt::format("the transaction was rolled back: it asked for nothing for "
                                     "{:g} s while others waited for its locks",
                                     options_.patience_s)});
    }
  }

  void wait_for_release(std::unique_lock<std::mutex>& lock) {
    if (interleaved()) {
      lock.unlock();
      await_turn();
      lock.lock();
    } else {
      released_.wait_for(lock, std::chrono::milliseconds(20));
    }
  }

  void ended(Open& open, std::optional<Failure> failure) {
    open.over = true;
    if (failure &&
        (failure->kind == Failure::Kind::kConflict || failure->kind == Failure::Kind::kDeadlock)) {
      ++conflicts_;
    }
    locks_.release(open.txn);
    if (options_.locks) released_.notify_all();
    open.failure = std::move(failure);
    std::erase_if(open_, [&](const auto& one) { return one.get() == &open; });
    quiet_since_ = Clock::now();
    wake();
  }

  void end_all(Failure::Kind kind, const char* why) {
    while (!open_.empty()) {
      const auto open = open_.back();
      end(*open, Failure{kind, why});
    }
  }

  const Options options_;
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopped_ = false;
  struct Waiting {
    std::uint64_t ticket;
    Session session;
    std::condition_variable* woken;  // of the thread that waits
  };
  std::deque<Waiting> queue_;  // begins that wait
  std::uint64_t next_ticket_ = 0;
  std::optional<std::uint64_t> turn_of_;  // a ticket, while nothing is open
  Clock::time_point quiet_since_;         // nobody came and nothing ended
  std::vector<std::shared_ptr<Open>> open_;

  std::vector<std::string> session_names_;
  std::vector<std::string> names_asked_;    // of each session, before #2 and so on
  std::map<std::string, int> names_taken_;  // and how many asked for it
  std::vector<Session> closed_;             // the one closed last is the last
  TransactionLog log_;
  std::optional<ReadPolicy> read_policy_;
  LockTable locks_;
  std::condition_variable released_;
  std::uint64_t conflicts_ = 0;
  base::Random delays_{0}, aborts_{0}, turns_{0};
};

class Store::State::Handle final : public Transaction {
 public:
  Handle(std::shared_ptr<State> state, std::shared_ptr<Open> open)
      : state_(std::move(state)), open_(std::move(open)) {}
  ~Handle() override {
    const base::AllocationWatch::Deferral deferral;  // what ends a transaction allocates
    rollback();
  }

  std::optional<Value> read(std::string_view name) override {
    Call call(*this);
    const Value* seen = call ? read_in(call, state_->log_.key(name)) : nullptr;
    return seen != nullptr ? std::optional(*seen) : std::nullopt;
  }

  bool read_each(std::span<const KeyNumber> keys,
                 const std::function<void(const Value&)>& seen) override {
    // Each read has its pause, if there are any.
    const std::size_t together = state_->options_.latency_ms > 0 ? 1 : keys.size();
    for (; !keys.empty(); keys = keys.subspan(together)) {
      Call call(*this);
      if (!call) return false;
      for (const Key key : keys.first(together)) {
        const Value* value = read_in(call, key);
        if (value == nullptr) return false;
        seen(*value);
      }
    }
    return true;
  }

  [[nodiscard]] bool has_read(std::string_view name) override {
    const Call call(*this);
    return call && state_->log_.has_read(state_->log_.key(name));
  }

  std::optional<Value> read_latest(std::string_view name) override {
    const Call call(*this);
    if (!call) return std::nullopt;
    const Key key = state_->log_.key(name);
    if (state_->log_.own(key) != nullptr) return state_->log_.read_own(key);
    state_->report_absent(key);
    const auto writer = state_->read_policy_->read_latest(key);
    if (writer) return state_->log_.read(key, *writer);
    fail_reading(name);
    return std::nullopt;
  }

  LockResult lock(std::string_view name, LockMode mode, const LockOptions& options) override {
    Call call(*this);
    if (!call) return LockResult::kEnded;
    return state_->options_.locks ? lock_in(call, name, mode, options) : LockResult::kGranted;
  }

  void unlock(std::string_view name, LockMode mode) override {
    const Call call(*this);
    if (!call) return;
    state_->locks_.release(open_->txn, lock_name(name), mode);
    state_->released_.notify_all();
  }

  std::optional<Found> find(std::string_view name, bool last) override {
    const Call call(*this);
    if (!call) return std::nullopt;
    const Key key = state_->log_.key(name);
    if (const auto* own = state_->log_.own(key)) return Found{*own, open_->txn, false};
    const auto newest = state_->log_.last_writer(key, kAllCommits);
    auto writer = last ? std::nullopt : state_->read_policy_->only_candidate(key);
    if (!writer) writer = last ? newest : state_->log_.last_writer(key, open_->commits);
    return Found{state_->log_.value(*writer, key), *writer, *writer == newest};
  }

  bool read_found(std::string_view name, const Found& found, bool must) override {
    const Call call(*this);
    if (!call) return false;
    const Key key = state_->log_.key(name);
    if (found.writer == open_->txn) {
      state_->log_.read_own(key);
      return true;
    }
    const bool may_omit = level() <= Level::kPrefix && !must;
    if (may_omit && state_->log_.has_read_other(key, found.writer)) return false;
    state_->report_absent(key);
    if (state_->read_policy_->read_version(key, found.writer)) {
      state_->log_.read(key, found.writer);
      return true;
    }
    if (!may_omit) fail({Failure::Kind::kConflict, concurrent_update(name)});
    return false;
  }

  std::uint32_t begin_statement(std::string_view text, std::uint32_t commits) override {
    const Call call(*this, true);
    open_->commits = commits;
    if (!call) return 0;
    state_->log_.began_after(commits);
    if (state_->options_.keep_statements) state_->log_.note_statement(text);
    return state_->read_policy_->begin_statement(commits);
  }

  void note_statement(std::string_view text) override {
    const Call call(*this);
    if (call && state_->options_.keep_statements) state_->log_.note_statement(text);
  }

  void continue_statement(std::uint32_t number, std::uint32_t commits) override {
    const Call call(*this);
    open_->commits = commits;
    if (call) state_->read_policy_->continue_statement(number);
  }

  [[nodiscard]] bool reads_lock() const override {
    const auto product = state_->options_.product;
    return (product == Product::kMysql || product == Product::kMariadbSnapshot) &&
           open_->level >= Level::kStrongSessionSerializable;
  }

  std::vector<std::string> keys_with_prefix(std::string_view prefix) override {
    const Call call(*this);
    return call ? state_->log_.keys_with_prefix(prefix) : std::vector<std::string>();
  }

  std::vector<std::string> scan(std::string_view prefix, char end) override {
    const Call call(*this);
    return call ? state_->log_.scan(prefix, end) : std::vector<std::string>();
  }

  std::vector<std::string> scan_between(std::string_view low, std::string_view high,
                                        std::string_view ending) override {
    const Call call(*this);
    return call ? state_->log_.scan_between(low, high, ending) : std::vector<std::string>();
  }

  bool look_between(std::string_view low, std::string_view high, std::uint32_t commits) override {
    const Call call(*this);
    if (!call) return false;
    auto& log = state_->log_;
    log.look_between(low, high);
    // If it has seen what came after one of them, its level does not allow that. A cursor can do
    // so that is older than another statement of its transaction.
    for (const Key key : log.new_since(commits, low, high)) {
      if (state_->read_policy_->read_version(key, kInitial)) log.read_absent(key);
    }
    return true;
  }

  bool write(std::string_view name, Value value) override {
    Call call(*this);
    if (!call) return false;
    if (state_->options_.locks && !lock_covering(call, name, LockMode::kUpdate)) return false;
    const Key key = state_->log_.key(name);
    state_->report_absent(key);
    // What it saw and then wrote itself: null was the only answer.
    if (state_->log_.saw_absent(key)) {
      if (!state_->read_policy_->read(key, kAllCommits)) {
        fail_reading(name);
        return false;
      }
      state_->log_.read_absent(key);
    }
    const bool allowed = state_->read_policy_->write(key);
    state_->log_.write(key, std::move(value));
    if (allowed) return true;
    fail({Failure::Kind::kConflict,
          fmt::format(
              "the write of {} contradicts what the transaction has read, its level {} does not "
              "allow it to commit",
              name, mock::name(level()))});
    return false;
  }

  bool commit() override {
    const Call call(*this, true);
    if (!call) return false;
    if (state_->options_.abort_rate > 0 && state_->aborts_.chance(state_->options_.abort_rate)) {
      fail({Failure::Kind::kConflict, "the transaction was aborted as abort-rate asks"});
      return false;
    }
    if (state_->commit(*open_)) return true;
    failure_ = open_->failure;
    return false;
  }

  void rollback() override {
    const std::lock_guard lock(state_->mutex_);
    if (!open_->over) state_->end(*open_, std::nullopt);
  }

  std::size_t savepoint() override {
    const std::lock_guard lock(state_->mutex_);
    return open_->over ? 0 : state_->log_.at(open_->txn).operations.size();
  }

  void rollback_to(std::size_t savepoint) override {
    const Call call(*this);
    if (!call) return;
    state_->log_.take_back(savepoint);
    if (state_->read_policy_->writes_removed()) return;
    fail({Failure::Kind::kConflict,
          fmt::format("other transactions committed what contradicts this one, its level {} does "
                      "not allow it to commit",
                      mock::name(level()))});
  }

  [[nodiscard]] const std::optional<Failure>& failure() const override { return failure_; }

 private:
  // A call of the client: holds the lock, and the patience of those who wait.
  class Call {
   public:
    explicit Call(Handle& handle, bool pauses = false) : handle_(handle) {
      auto& state = *handle_.state_;
      if (state.options_.overlap) await_turn();
      lock_ = std::unique_lock(state.mutex_);
      if (live()) {
        handle_.open_->asking = true;
        state.sleep(lock_, milliseconds(state.options_.latency_ms));
        if (pauses && state.options_.overlap && state.options_.delay_ms > 0)
          state.sleep(lock_, milliseconds(state.delays_.unit() * state.options_.delay_ms));
      }
      if (live()) state.select(*handle_.open_);
      handle_.failure_ = handle_.open_->failure;
    }
    ~Call() {
      handle_.open_->asking = false;
      handle_.open_->idle_since = Clock::now();
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    explicit operator bool() const { return live(); }
    std::unique_lock<std::mutex>& lock() { return lock_; }

   private:
    [[nodiscard]] bool live() const { return !handle_.open_->over; }
    Handle& handle_;
    std::unique_lock<std::mutex> lock_;
  };

  void fail(Failure failure) {
    failure_ = failure;
    state_->end(*open_, std::move(failure));
  }
  void fail_reading(std::string_view name) {
    fail({Failure::Kind::kConflict,
          fmt::format("no value of {} agrees with what the transaction has read and written, its "
                      "level {} does not allow it to commit",
                      name, mock::name(level()))});
  }
  static std::string concurrent_update(std::string_view name) {
    return fmt::format("could not serialize access due to concurrent update of {}", name);
  }
  [[nodiscard]] Level level() const { return open_->level; }

  // Null: the transaction ended.
  const Value* read_in(Call& call, Key key) {
    auto& log = state_->log_;
    if (reads_lock() && !lock_covering(call, log.name(key), LockMode::kShare)) return nullptr;
    if (log.own(key) != nullptr) return &log.read_own(key);
    state_->report_absent(key);
    const auto writer = state_->read_policy_->read(key, open_->commits);
    if (writer) return &log.read(key, *writer);
    fail_reading(log.name(key));
    return nullptr;
  }

  // Locks the key unless a lock on it or above it is held already. False: the transaction ended.
  bool lock_covering(Call& call, std::string_view name, LockMode mode) {
    for (auto above = name;; above = above.substr(0, above.rfind('/'))) {
      if (state_->locks_.owns(open_->txn, lock_name(above))) return true;
      if (above.find('/') == above.npos) break;
    }
    return lock_in(call, name, mode, {}) != LockResult::kEnded;
  }

  // A node of a cluster knows its own locks only.
  [[nodiscard]] std::string lock_name(std::string_view name) const {
    if (state_->options_.product != Product::kGalera) return std::string(name);
    return fmt::format("{} {}", open_->session % kGaleraNodes, name);
  }

  LockResult lock_in(Call& call, std::string_view key, LockMode mode, const LockOptions& options) {
    auto& state = *state_;
    const auto name = lock_name(key);
    const Txn own = open_->txn;
    const auto began = Clock::now();
    bool waited = false;
    while (!state.locks_.acquire(own, name, mode)) {
      if (!options.wait) return LockResult::kNotAvailable;
      waited = true;
      if (!state.locks_.wait(own, name, mode)) {
        fail(
            {Failure::Kind::kDeadlock,
             fmt::format("deadlock detected: {} waits for a lock on {}, and those who hold it wait "
                         "for it",
                         state.session_names_[open_->session], key)});
        return LockResult::kEnded;
      }
      if (options.give_up && options.give_up()) {
        state.locks_.stop_waiting(own);
        return LockResult::kGivenUp;
      }
      state.lose_patience(own, name, mode, began);
      state.wait_for_release(call.lock());
      if (open_->over) {
        failure_ = open_->failure;
        return LockResult::kEnded;
      }
    }
    state.select(*open_);
    const bool of_row =
        mode == LockMode::kShare || mode == LockMode::kNoKeyUpdate || mode == LockMode::kUpdate;
    if (of_row && !state.read_policy_->lock(state.log_.key(key))) {
      fail({Failure::Kind::kConflict, concurrent_update(key)});
      return LockResult::kEnded;
    }
    return waited ? LockResult::kGrantedLater : LockResult::kGranted;
  }

  std::shared_ptr<State> state_;
  std::shared_ptr<Open> open_;
  std::optional<Failure> failure_;  // a copy, made under the lock
};

std::unique_ptr<Transaction> Store::State::begin(std::uint32_t session,
                                                 const BeginOptions& options) {
  await_turn();
  std::unique_lock lock(mutex_);
  assert(session < session_names_.size());
  if (options_.delay_ms > 0) sleep(lock, milliseconds(delays_.unit() * options_.delay_ms));
  if (!wait_for_turn(lock, session, options) || stopped_) return nullptr;
  wake();  // there may be a new one in front
  auto open = std::make_shared<Open>();
  open->session = session;
  open->idle_since = Clock::now();
  Level level = options.level.value_or(options_.level);
  // Strict-serializable is of whole stores: real time orders the others too.
  level = mock::is_versioned(options_) ? std::max(level, options_.level)
                                       : std::min(level, Level::kStrongSessionSerializable);
  open->level = level;
  open->txn = log_.begin(session, level);
  read_policy_->begin(open->txn, session, level, options.policy);
  open_.push_back(open);
  return std::make_unique<Handle>(shared_from_this(), std::move(open));
}

// False: the caller gave up.
bool Store::State::wait_for_turn(std::unique_lock<std::mutex>& lock, Session session,
                                 const BeginOptions& options) {
  const auto ticket = next_ticket_++;
  if (const auto open = in_the_way(session); open && queue_.empty())
    open->idle_since = Clock::now();
  std::condition_variable woken;
  queue_.push_back({ticket, session, &woken});
  quiet_since_ = Clock::now();
  const auto patient = [&](Clock::time_point until) {
    constexpr auto kAsked = std::chrono::milliseconds(20);
    return options.give_up ? std::min(until, Clock::now() + kAsked) : until;
  };
  bool given_up = false;
  while (!stopped_) {
    const auto open = in_the_way(session);
    if (!open && (options_.overlap || turn_of_ == ticket)) break;
    if (options.give_up && options.give_up()) {
      given_up = true;
      break;
    }
    const bool in_front = options_.overlap || queue_.front().ticket == ticket;
    if (in_front && !open && !turn_of_) {
      give_turn(lock);
      continue;
    }
    if (!in_front || !open) {
      if (options.give_up) {
        woken.wait_until(lock, patient(Clock::time_point::max()));
      } else {
        woken.wait(lock);
      }
      continue;
    }
    // The first of those who wait looks after their patience.
    const auto until = open->idle_since + milliseconds(options_.patience_s * 1000);
    if (!open->asking && Clock::now() >= until) {
      end(*open, Failure{Failure::Kind::kEnded,
                         fmt::format("the transaction was rolled back: it asked for nothing for "
                                     "{:g} s while others waited for their turn",
                                     options_.patience_s)});
    } else if (open->asking) {
      woken.wait_until(lock, patient(Clock::now() + milliseconds(50)));
    } else {
      woken.wait_until(lock, patient(until));
    }
  }
  std::erase_if(queue_, [&](const Waiting& waiting) { return waiting.ticket == ticket; });
  if (given_up) {
    wake();
    return false;
  }
  turn_of_.reset();
  return true;
}

void Store::State::reset(std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  end_all(Failure::Kind::kEnded, "the transaction was rolled back, the store was reset");
  start(seed);
}

void Store::State::shut_down() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  end_all(Failure::Kind::kStopped, "the transaction was rolled back, the store is shutting down");
  for (const auto& waiting : queue_) waiting.woken->notify_one();
  released_.notify_all();
  stop_.notify_all();
}

Store::Store(const Options& options) : state_(std::make_shared<State>(options)) {}
Store::~Store() {
  const base::AllocationWatch::Deferral deferral;  // what ends a transaction allocates
  state_->shut_down();
}
std::uint32_t Store::open_session(std::string name) {
  return state_->open_session(std::move(name));
}
std::uint32_t Store::continue_session(std::string name) {
  return state_->continue_session(std::move(name));
}
void Store::close_session(std::uint32_t session) {
  state_->close_session(session);
}
std::unique_ptr<Transaction> Store::begin(std::uint32_t session, const BeginOptions& options) {
  return state_->begin(session, options);
}
bool Store::locks() const {
  return state_->options().locks;
}
bool Store::is_versioned() const {
  return mock::is_versioned(state_->options());
}
bool Store::is_of_product() const {
  return state_->options().product != Product::kNone;
}
bool Store::locks_by_snapshot() const {
  return state_->options().product == Product::kPostgres;
}
bool Store::locks_gaps() const {
  return is_of_product() && !locks_by_snapshot();
}
std::size_t Store::waiting() const {
  return state_->waiting();
}
bool Store::set_initial(std::string_view key, Value value) {
  return state_->set_initial(key, std::move(value));
}
void Store::reset(std::uint64_t seed) {
  state_->reset(seed);
}
void Store::shut_down() {
  state_->shut_down();
}
void Store::interleave(std::span<const std::function<void()>> functions) {
  state_->interleave(functions);
}
base::Result<history::History> Store::history() const {
  return state_->history();
}
std::map<std::uint32_t, std::vector<std::string>> Store::statements() const {
  return state_->statements();
}
Digest Store::digest(bool in_order) const {
  return state_->digest(in_order);
}
std::uint32_t Store::commits() const {
  return state_->commits();
}
KeyNumber Store::number(std::string_view key) {
  return state_->number(key);
}
Value Store::latest(std::string_view key, std::uint32_t commits) const {
  return state_->latest(key, commits);
}
std::uint64_t Store::asked_for() const {
  return state_->asked_for();
}
std::uint64_t Store::conflicts() const {
  return state_->conflicts();
}
bool Store::mixed() const {
  return state_->mixed();
}
std::string Store::observed() const {
  return state_->observed();
}

}  // namespace cupel::mock
