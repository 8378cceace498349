// The store of a server of its own: each of its connections has a thread and is a session.
#include "mock/engines/store_service.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "base/no_thread.hpp"
#include "engine/mock/level_names.hpp"
#include "mock/engines/client_sockets.hpp"
#include "mock/engines/commit_count.hpp"
#include "mock/engines/messages.hpp"
#include "mock/engines/rows.hpp"
#include "mock/wire/acceptor.hpp"
#include "mock/wire/short_wait.hpp"
#include "mock/wire/socket.hpp"

namespace cupel::engines {

namespace {

using wire::Seconds;
using wire::Socket;

constexpr Seconds kWriting(10);
// For a client that has hung up, while the engine ends its backend.
constexpr auto kLeaving = std::chrono::seconds(2);
constexpr std::size_t kTogether = 8;       // at least so many rows are
constexpr std::size_t kStatements = 1024;  // that a transaction goes back to

std::string sentence_of(const mock::Failure& failure) {
  constexpr std::string_view kPrefix = "could not serialize access";
  const bool conflict = failure.kind == mock::Failure::Kind::kConflict;
  if (!conflict || failure.message.starts_with(kPrefix)) return failure.message;
  return fmt::format("{}: {}", kPrefix, failure.message);
}

FailureKind kind_of(const mock::Failure& failure) {
  switch (failure.kind) {
    case mock::Failure::Kind::kConflict:
      return FailureKind::kConflict;
    case mock::Failure::Kind::kDeadlock:
      return FailureKind::kDeadlock;
    case mock::Failure::Kind::kEnded:
      return FailureKind::kEnded;
    case mock::Failure::Kind::kStopped:
      return FailureKind::kStopped;
  }
  return FailureKind::kStopped;
}

// What all connections share.
struct Shared {
  explicit Shared(CommitCount count) : commits(std::move(count)) {}

  // Nobody commits at the store before it any more.
  void start_store(const mock::Options& its_options) {
    options = its_options;
    commits.set(0);
    auto counting = options;
    counting.committed = [this](std::uint32_t number) { commits.set(number); };
    store = std::make_shared<mock::Store>(counting);
  }

  CommitCount commits;  // of the store, which sets it
  std::mutex mutex;     // of what follows, but for `stop`
  std::shared_ptr<mock::Store> store;
  mock::Options options;  // of the store
  Rows rows;
  std::map<std::string, std::uint32_t> databases;  // that connected last, by name
  std::uint32_t kept_database = 0;
  std::uint16_t engine_port = 0;
  struct Client {
    std::string session;
    std::uint16_t port = 0;
  };
  std::map<std::uint64_t, Client> clients;  // by connection
  std::condition_variable client_left;
  wire::StopEvent stop;
};

// One connection.
class Session {
 public:
  Session(Shared& shared, Socket& socket, std::uint64_t number)
      : shared_(shared), socket_(socket), number_(number) {}
  ~Session() {
    transaction_.reset();
    if (session_) store_->close_session(*session_);
    const std::lock_guard lock(shared_.mutex);
    shared_.clients.erase(number_);
    shared_.client_left.notify_all();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] bool has_transaction() const { return transaction_ != nullptr; }
  // The reply, empty if there is none. None: the connection ends. `more_came`: bytes after it.
  std::optional<std::string> reply(const Request& request, bool more_came) {
    more_came_ = more_came;
    const bool opens = std::holds_alternative<OpenRequest>(request);
    if (opens == session_.has_value()) return std::nullopt;
    if (!failure_.empty() && belongs_to_transaction(request))
      return has_reply(request) ? failure_ : std::string();
    auto reply = std::visit([this](const auto& asked) { return reply_to(asked); }, request);
    if (reply && is_failure(*reply)) failure_ = *reply;
    return reply;
  }

 private:
  std::optional<std::string> reply_to(const OpenRequest& request) {
    if (request.protocol != kProtocol) return std::nullopt;
    database_ = request.database;
    std::unique_lock lock(shared_.mutex);
    shared_.rows.name_database(request.database, request.database_name);
    shared_.databases[request.database_name] = request.database;
    wait_for_leaving(lock, request.session);
    shared_.clients[number_] = {request.session, request.client_port};
    store_ = shared_.store;
    session_ = store_->continue_session(request.session);
    return opened_reply({.refuses = shared_.options.abort_rate > 0,
                         .keeps_statements = shared_.options.keep_statements,
                         .locks = store_->locks(),
                         .gaps = store_->locks_gaps(),
                         .isolation = isolation_of_product(shared_.options)});
  }

  // Who asks for more before it has the reply still asks it of the transaction that failed.
  static bool belongs_to_transaction(const Request& request) {
    return !std::holds_alternative<AbortRequest>(request) &&
           !std::holds_alternative<FinishRequest>(request) &&
           !std::holds_alternative<CopyDatabaseRequest>(request);
  }
  static bool is_failure(const std::string& reply) { return reply.size() > 4 && reply[4] == 'f'; }
  static bool has_reply(const Request& request) {
    return !std::holds_alternative<EndStatementRequest>(request) &&
           !std::holds_alternative<TextRequest>(request) &&
           !std::holds_alternative<UnlockRequest>(request) &&
           !std::holds_alternative<StopWaitingRequest>(request);
  }

  // An earlier client of the same name may have hung up while its session is still open.
  void wait_for_leaving(std::unique_lock<std::mutex>& lock, const std::string& name) {
    std::vector<std::pair<std::uint64_t, std::uint16_t>> leaving;  // and their ports
    for (const auto& [number, client] : shared_.clients) {
      if (client.session == name && client.port != 0) leaving.emplace_back(number, client.port);
    }
    if (leaving.empty()) return;
    const auto port = shared_.engine_port;
    lock.unlock();  // others connect meanwhile
    const auto connected = connected_clients(port);
    lock.lock();
    if (!connected) return;
    std::erase_if(leaving, [&](const auto& one) { return connected->contains(one.second); });
    shared_.client_left.wait_for(lock, kLeaving, [&] {
      return shared_.stop.signaled() ||
             std::none_of(leaving.begin(), leaving.end(),
                          [&](const auto& one) { return shared_.clients.contains(one.first); });
    });
  }

  // False: the store is shutting down.
  bool begin() {
    if (transaction_) return true;
    auto options = std::exchange(chosen_, {});
    options.give_up = [this] { return socket_.hung_up(); };
    transaction_ = store_->begin(*session_, options);
    if (transaction_) {
      for (const auto& text : texts_) transaction_->note_statement(text);
    }
    texts_.clear();
    return transaction_ != nullptr;
  }

  static std::string stopped() {
    return failure_reply(FailureKind::kStopped, "the mock store is shutting down");
  }

  std::string fail() {
    const auto failure = transaction_->failure();
    end();
    if (!failure) return failure_reply(FailureKind::kConflict, "the transaction is over");
    const std::lock_guard lock(shared_.mutex);
    return failure_reply(kind_of(*failure), shared_.rows.with_names(sentence_of(*failure)));
  }

  void end() {
    transaction_.reset();
    statement_.reset();
    statements_.clear();
    texts_.clear();
    found_.clear();
    locked_.clear();
    failure_.clear();
  }

  std::optional<std::string> reply_to(const ChooseRequest& request) {
    chosen_ = {};
    mock::Store::BeginOptions options;
    if (store_->is_versioned()) {
      if (!request.level.empty())
        return invalid("level", request.level, "none: the level is that of the whole mock");
      options.level = std::max(shared_options().level, level_of(request.isolation));
    } else if (!request.level.empty()) {
      options.level = mock::level_of(request.level);
      if (!options.level) {
        return invalid(
            "level", request.level,
            "one of " + joined(mock::kLevels, [](mock::Level level) { return name(level); }));
      }
    }
    options.policy = mock::policy_of(request.policy);
    if (!request.policy.empty() && !options.policy) {
      return invalid(
          "policy", request.policy,
          "one of " + joined(mock::kPolicies, [](const auto& policy) { return policy.name; }));
    }
    chosen_ = std::move(options);
    return done_reply();
  }

  mock::Options shared_options() {
    const std::lock_guard lock(shared_.mutex);
    return shared_.options;
  }

  static mock::Level level_of(ChooseRequest::Isolation isolation) {
    switch (isolation) {
      case ChooseRequest::Isolation::kReadCommitted:
        return mock::Level::kReadCommitted;
      case ChooseRequest::Isolation::kRepeatableRead:
        return mock::Level::kStrongSessionSnapshotIsolation;
      case ChooseRequest::Isolation::kSerializable:
        break;
    }
    return mock::Level::kStrongSessionSerializable;
  }

  template <typename List, typename Name>
  static std::string joined(const List& list, const Name& name) {
    std::vector<std::string_view> names;
    for (const auto& one : list) names.push_back(name(one));
    return fmt::format("{}", fmt::join(names, ", "));
  }

  static std::string invalid(std::string_view what, const std::string& value,
                             const std::string& expected) {
    return failure_reply(FailureKind::kInvalid,
                         fmt::format("found the {} `{}`, expected {}", what, value, expected));
  }

  std::optional<std::string> reply_to(const ReadRequest& request) {
    const Rows::File file{database_, request.table};
    if (request.latest) return latest(file, request);
    if (!begin()) return stopped();
    continue_with(request.statement, request.commits);
    if (request.absent && !look_for_others(file, request.commits)) return fail();
    const auto commits = shared_.commits.get();  // before anything is found
    auto asked = rows_to_read(file, request.rows);
    // A row that nobody has committed yet is absent, which is a read, too.
    if (asked && !request.absent &&
        std::any_of(asked->begin(), asked->end(), [](const auto& row) { return !row.id; })) {
      if (!look_for_others(file, request.commits)) return fail();
      asked = rows_to_read(file, request.rows);
    }
    if (!asked) return stopped();
    const bool known = request.find ? find_all(request.statement, *asked) : see_all(*asked);
    if (!known) return fail();
    std::vector<FoundVersion> versions;
    versions.reserve(asked->size());
    {
      const std::lock_guard lock(shared_.mutex);
      if (store_ != shared_.store) return stopped();  // its rows are gone
      for (const auto& row : *asked) {
        versions.push_back(
            {row.id ? shared_.rows.version(*row.id, row.seen) : Position(), row.last});
      }
    }
    return request.wants_last ? found_reply(versions, commits)
                              : versions_reply(positions_of(versions));
  }

  // By the store, which gives a committed transaction's locks to others at once.
  std::string latest(const Rows::File& file, const ReadRequest& request) {
    std::vector<Position> versions;
    const std::lock_guard lock(shared_.mutex);
    if (store_ != shared_.store) return stopped();  // its rows are gone
    for (const auto& row : request.rows) {
      const auto id = shared_.rows.find(file, row);
      versions.push_back(
          id ? shared_.rows.version(*id, store_->latest(Rows::store_key(*id), request.commits))
             : Position());
    }
    return versions_reply(versions);
  }

  // A row that the engine asks for.
  struct AskedRow {
    std::optional<RowId> id;  // none: nobody committed a row that begins there
    mock::KeyNumber key = 0;
    bool unwritten = false;  // it has its base version only
    bool known = false;      // the transaction sees what is below
    bool last = false;       // the version was committed last
    std::uint64_t seen = 0;  // as in Rows::version()
  };
  // None: the store is not that of the rows any more.
  std::optional<std::vector<AskedRow>> rows_to_read(const Rows::File& file,
                                                    const std::vector<Position>& positions) {
    std::vector<AskedRow> asked(positions.size());
    const std::lock_guard lock(shared_.mutex);
    if (store_ != shared_.store) return std::nullopt;
    const auto found = shared_.rows.find_each(file, positions);
    for (std::size_t i = 0; i < found.size(); ++i) {
      asked[i].id = found[i];
      asked[i].known = !found[i];
      if (!found[i]) continue;
      asked[i].key = shared_.rows.number(*found[i], *store_);
      asked[i].unwritten = shared_.rows.has_only_base(*found[i]);
    }
    return asked;
  }

  // Rows whose keys follow each other and that nobody has written since they are there: the
  // transaction sees that there is nothing in the store between the first and the last. False: it
  // is over.
  bool see_together(std::vector<AskedRow>& asked) {
    std::vector<AskedRow*> unwritten;
    for (auto& row : asked) {
      if (row.unwritten) unwritten.push_back(&row);
    }
    if (unwritten.size() < kTogether) return true;
    std::sort(unwritten.begin(), unwritten.end(),
              [](const AskedRow* a, const AskedRow* b) { return *a->id < *b->id; });
    for (auto first = unwritten.begin(); first != unwritten.end();) {
      auto end = std::next(first);
      while (end != unwritten.end() && follows(*(*std::prev(end))->id, *(*end)->id)) ++end;
      if (end - first >= static_cast<std::ptrdiff_t>(kTogether)) {
        const auto& last = *(*std::prev(end))->id;
        const auto there = transaction_->scan_between(
            Rows::store_key(*(*first)->id), Rows::store_key({last.table, last.row + 1}), "");
        if (transaction_->failure()) return false;
        // What another has committed meanwhile is read as it is.
        std::for_each(first, end, [&](AskedRow* row) {
          row->known = !std::binary_search(there.begin(), there.end(), Rows::store_key(*row->id));
        });
      }
      first = end;
    }
    return true;
  }
  static bool follows(const RowId& row, const RowId& next) {
    return next.table == row.table && next.row == row.row + 1;
  }

  // False: the transaction is over.
  bool see_all(std::vector<AskedRow>& asked) {
    if (!see_together(asked)) return false;
    std::vector<mock::KeyNumber> keys;
    keys.reserve(asked.size());
    for (auto& row : asked) {
      if (row.known) continue;
      const auto locked = locked_.find(*row.id);
      // A cursor that is older than the lock sees its own snapshot.
      row.known = locked != locked_.end() && !store_->is_of_product();
      if (row.known) {
        row.seen = Rows::number_of(locked->second);
      } else {
        keys.push_back(row.key);
      }
    }
    auto next = asked.begin();
    return transaction_->read_each(keys, [&](const mock::Value& value) {
      while (next->known) ++next;
      next->seen = Rows::number_of(value);
      ++next;
    });
  }

  // The same for a statement that locks what it finds.
  bool find_all(std::uint32_t statement, std::vector<AskedRow>& asked) {
    for (auto& row : asked) {
      if (row.known) continue;
      const auto locked = locked_.find(*row.id);
      if (locked != locked_.end()) {
        row.seen = Rows::number_of(locked->second);
        continue;
      }
      auto found = transaction_->find(Rows::store_key(*row.id), false);
      if (!found) return false;
      row.seen = Rows::number_of(found->value);
      row.last = found->last;
      found_[statement].insert_or_assign(*row.id, std::move(*found));
    }
    return true;
  }

  static std::vector<Position> positions_of(const std::vector<FoundVersion>& found) {
    std::vector<Position> positions;
    positions.reserve(found.size());
    for (const auto& one : found) positions.push_back(one.version);
    return positions;
  }

  // What the transaction does now is of this statement of the engine, which it may have left for
  // others.
  void continue_with(std::uint32_t statement, std::uint32_t commits) {
    if (statement_ == statement) return;
    statement_ = statement;
    const auto known = statements_.find(statement);
    if (known != statements_.end()) return transaction_->continue_statement(known->second, commits);
    if (statements_.size() >= kStatements) statements_.erase(statements_.begin());
    statements_[statement] = transaction_->begin_statement({}, commits);
  }

  std::string table_key(const Rows::File& file) {
    const std::lock_guard lock(shared_.mutex);
    return shared_.rows.table_key(file);
  }

  std::string value_key(const Rows::File& file, std::string_view text) {
    const std::lock_guard lock(shared_.mutex);
    return shared_.rows.value_key(file, text);
  }

  // None: nobody committed a row that begins there.
  std::optional<RowId> row_at(const Rows::File& file, const Position& position) {
    const std::lock_guard lock(shared_.mutex);
    return shared_.rows.find(file, position);
  }

  // Also those that others have added while the engine scanned, and that it does not ask for: a row
  // without a base version is there for the statement only if somebody committed it before.
  bool look_for_others(const Rows::File& file, std::uint32_t commits) {
    std::vector<Rows::Range> ranges;
    {
      const std::lock_guard lock(shared_.mutex);
      ranges = shared_.rows.keys_without_base(file);
    }
    return std::all_of(ranges.begin(), ranges.end(), [&](const Rows::Range& keys) {
      return transaction_->look_between(keys.first, keys.second, commits);
    });
  }

  // Others are excluded from the row, so what was committed last stays that.
  std::optional<std::string> reply_to(const LockRequest& request) {
    if (!begin()) return stopped();
    continue_with(request.statement, request.commits);
    const auto row = row_at({database_, request.table}, request.row);
    if (!row) return versions_reply({Position()});
    const auto as_found = found_version(request, *row);
    if (request.found && !as_found && !locked_.contains(*row)) return std::nullopt;
    const auto key = Rows::store_key(*row);
    if (auto refused = lock(key, mode_of(request.shared), request.no_wait, request.found))
      return refused;
    const auto last = as_found ? as_found : transaction_->find(key, true);
    if (!last) return fail();
    if (transaction_->read_found(key, *last, request.observed)) {
      locked_.insert_or_assign(*row, last->value);
    } else if (transaction_->failure()) {
      return fail();
    }
    for (auto& [statement, found] : found_) found.erase(*row);
    if (request.found) return done_reply();
    const std::lock_guard lock(shared_.mutex);
    if (store_ != shared_.store) return stopped();
    return versions_reply({shared_.rows.version(*row, last->value)});
  }

  static mock::LockMode mode_of(bool shared) {
    return shared ? mock::LockMode::kShare : mock::LockMode::kUpdate;
  }

  // The reply, unless it is granted.
  std::optional<std::string> lock(const std::string& name, mock::LockMode mode, bool no_wait,
                                  bool goes_on = false) {
    // An engine that does not go on writes nothing while it waits but that it gives up.
    const mock::LockOptions options{
        .wait = !no_wait, .give_up = [this, goes_on] {
          if (socket_.hung_up()) return true;
          return !goes_on && (more_came_ || socket_.wait(Seconds(0)) != Socket::Outcome::kTimeout);
        }};
    switch (transaction_->lock(name, mode, options)) {
      case mock::LockResult::kGranted:
      case mock::LockResult::kGrantedLater:
        return std::nullopt;
      case mock::LockResult::kNotAvailable:
      case mock::LockResult::kGivenUp:
        return not_locked_reply();
      case mock::LockResult::kEnded:
        break;
    }
    return fail();
  }

  std::optional<std::string> reply_to(const GuardRequest& request) {
    using Kind = GuardRequest::Kind;
    if (!begin()) return stopped();
    const auto table = table_key({database_, request.table});
    std::optional<std::string> refused;
    switch (request.kind) {
      case Kind::kGaps:
        refused = lock(table, mock::LockMode::kGap, request.no_wait);
        break;
      case Kind::kInsertion:
        refused = lock(table, mock::LockMode::kInsertion, request.no_wait);
        break;
      case Kind::kRow:
        refused =
            lock(Rows::store_key(row_to_be(request)), mode_of(request.shared), request.no_wait);
        break;
      case Kind::kValue:
        refused = lock(value_key({database_, request.table}, request.text), mode_of(false),
                       request.no_wait);
        break;
    }
    return refused ? refused : done_reply();
  }

  // So that it has a name before it is there.
  RowId row_to_be(const GuardRequest& request) {
    const std::lock_guard lock(shared_.mutex);
    if (const auto there = shared_.rows.find({database_, request.table}, request.row))
      return *there;
    Write insertion{.table = request.table, .row = request.row, .version = {}};
    insertion.table_name = request.table_name;
    insertion.key = request.text;
    return shared_.rows.add(database_, insertion);
  }

  std::optional<std::string> reply_to(const UnlockRequest& request) {
    const auto row = row_at({database_, request.table}, request.row);
    if (row && transaction_) {
      transaction_->unlock(Rows::store_key(*row), mode_of(request.shared));
      locked_.erase(*row);
    }
    return std::string();
  }

  std::optional<std::string> reply_to(const StopWaitingRequest& /*request*/) {
    return std::string();
  }

  // What the engine says that its statement found; it holds the lock, so that stays the last.
  std::optional<mock::Transaction::Found> found_version(const LockRequest& request,
                                                        const RowId& row) const {
    const auto statement = found_.find(request.statement);
    if (!request.found || statement == found_.end()) return std::nullopt;
    const auto found = statement->second.find(row);
    return found == statement->second.end() ? std::nullopt : std::optional(found->second);
  }

  std::optional<std::string> reply_to(const EndStatementRequest& request) {
    const auto found = found_.find(request.statement);
    if (found == found_.end()) return std::string();
    if (!request.failed)
      read_all(found->second);  // if the transaction is over, its next request gets to know
    found_.erase(found);
    return std::string();
  }

  std::optional<std::string> reply_to(const TextRequest& request) {
    if (transaction_) {
      transaction_->note_statement(request.text);
    } else {
      texts_.push_back(request.text);
    }
    return "";
  }

  // What a statement found and did not lock, it read.
  bool read_all(const std::map<RowId, mock::Transaction::Found>& found) {
    for (const auto& [row, version] : found) {
      if (!transaction_->read_found(Rows::store_key(row), version, false) &&
          transaction_->failure())
        return false;
    }
    return true;
  }

  bool end_statements() {
    return std::all_of(found_.begin(), found_.end(),
                       [this](const auto& found) { return read_all(found.second); });
  }

  std::optional<std::string> reply_to(const FinishRequest& /*request*/) {
    if (transaction_) transaction_->commit();  // who only reads is never refused
    end();
    return std::string();
  }

  std::optional<std::string> reply_to(const CommitRequest& request) {
    const auto& writes = request.writes;
    const bool all_base =
        std::all_of(writes.begin(), writes.end(), [](const Write& write) { return write.base; });
    if (!transaction_ && !writes.empty() && all_base) {
      apply_base(writes);
      return done_reply();
    }
    if (!begin()) return stopped();
    if (!end_statements()) return fail();
    std::vector<RowId> written;
    for (const auto& write : writes) {
      if (write.base) continue;
      const auto id = row_of(write);
      if (!id) return std::nullopt;
      if (write.insert && !write.checked && inserts_what_is_there(*id)) {
        if (!transaction_ || transaction_->failure()) return fail();
        return fail_duplicate(*id);
      }
      if (!transaction_->write(Rows::store_key(*id), value_of(write))) return fail();
      written.push_back(*id);
    }
    if (!transaction_->commit()) return fail();
    {
      const std::lock_guard lock(shared_.mutex);
      if (store_ != shared_.store) {  // its rows are gone
        end();
        return stopped();
      }
      // Another may have committed meanwhile.
      for (const auto& id : written)
        shared_.rows.set_latest(id, store_->latest(Rows::store_key(id)));
    }
    apply_base(writes);
    end();
    return done_reply();
  }

  std::optional<RowId> row_of(const Write& write) {
    const std::lock_guard lock(shared_.mutex);
    if (write.insert) return shared_.rows.add(database_, write);
    return shared_.rows.find({database_, write.table}, write.row);
  }

  mock::Value value_of(const Write& write) {
    const std::lock_guard lock(shared_.mutex);
    return shared_.rows.add_version(write.version, write.value);
  }

  // An insertion reads that the primary key is not there, unless the engine has asked before. True:
  // it is there, or the transaction is over.
  bool inserts_what_is_there(const RowId& id) {
    if (transaction_->has_read(Rows::store_key(id))) return false;
    const auto value = transaction_->read(Rows::store_key(id));
    if (!value) return true;
    const std::lock_guard lock(shared_.mutex);
    return store_ == shared_.store && shared_.rows.version(id, *value).valid();
  }

  std::string fail_duplicate(const RowId& id) {
    end();
    const std::lock_guard lock(shared_.mutex);
    return failure_reply(FailureKind::kDuplicate,
                         "duplicate key value violates unique constraint: " +
                             shared_.rows.name(id) + " already exists");
  }

  void apply_base(const std::vector<Write>& writes) {
    const std::lock_guard lock(shared_.mutex);
    for (const auto& write : writes) {
      if (!write.base || !write.version.valid()) continue;
      shared_.rows.set_base(shared_.rows.add(database_, write), write.version, write.value);
    }
  }

  std::optional<std::string> reply_to(const AbortRequest& /*request*/) {
    end();
    return std::string();
  }

  std::optional<std::string> reply_to(const CopyDatabaseRequest& request) {
    const std::lock_guard lock(shared_.mutex);
    shared_.rows.copy_database(request.from, request.to);
    return done_reply();
  }

  Shared& shared_;
  Socket& socket_;
  std::uint64_t number_;
  std::uint32_t database_ = 0;
  std::shared_ptr<mock::Store> store_;
  std::optional<std::uint32_t> session_;
  std::unique_ptr<mock::Transaction> transaction_;
  bool more_came_ = false;
  std::string failure_;               // a reply: the transaction failed, and is not rolled back yet
  mock::Store::BeginOptions chosen_;  // of the next transaction
  // Of the transaction: the engine's statement, and what the store calls those that there were;
  // what they found and have not locked; the rows that it locked and read then.
  std::optional<std::uint32_t> statement_;
  std::vector<std::string> texts_;  // what the client asked for, before the transaction began
  std::map<std::uint32_t, std::uint32_t> statements_;
  std::map<std::uint32_t, std::map<RowId, mock::Transaction::Found>> found_;
  std::map<RowId, mock::Value> locked_;
};

// Talks until the connection ends.
void converse(Shared& shared, base::Descriptor descriptor, std::uint64_t number) {
  Socket socket(std::move(descriptor), shared.stop);
  Session session(shared, socket, number);
  wire::ShortWait within, between;  // transactions
  std::string bytes, more, replies;
  std::size_t at = 0;  // what was read is taken up to here
  for (;;) {
    const auto left = std::string_view(bytes).substr(at);
    const auto length = message_length(left);
    if (length && *length > kLongestMessage) return;
    if (!length || left.size() < 4 + std::size_t{*length}) {
      bytes.erase(0, std::exchange(at, 0));
      if (!replies.empty() && socket.write(replies, kWriting) != Socket::Outcome::kWell) return;
      replies.clear();
      auto& wait = session.has_transaction() ? within : between;
      if (!wait.until([&] { return socket.read_now(more); }) &&
          socket.read(more, std::nullopt) != Socket::Outcome::kWell)
        return;
      bytes += more;
      continue;
    }
    const auto request = decode(left.substr(4, *length));
    at += 4 + std::size_t{*length};
    if (!request) return;
    const auto reply = session.reply(*request, at < bytes.size());
    if (!reply) return;
    replies += *reply;
  }
}

base::Result<base::Descriptor> listen_on_file(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return base::Error{.message = "the name is too long for a socket; set TMPDIR to a shorter one",
                       .file = path};
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  base::Descriptor made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made || ::bind(made.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path.c_str(), 0666) != 0 || ::listen(made.get(), 128) != 0) {
    return base::Error{.message = std::strerror(errno), .file = path};
  }
  return made;
}

}  // namespace

std::optional<ChooseRequest::Isolation> isolation_of_product(const mock::Options& options) {
  using Isolation = ChooseRequest::Isolation;
  if (options.product == mock::Product::kNone) return std::nullopt;
  if (options.level <= mock::Level::kCausal) return Isolation::kReadCommitted;
  return options.level <= mock::Level::kStrongSessionSnapshotIsolation ? Isolation::kRepeatableRead
                                                                       : Isolation::kSerializable;
}

class StoreService::State {
 public:
  State(base::Descriptor listening, CommitCount commits, const mock::Options& options)
      : shared(std::move(commits)),
        listening_(std::move(listening)),
        acceptor_(shared.stop, std::numeric_limits<std::size_t>::max()) {
    shared.start_store(options);
    acceptor_.start({listening_.get()}, [this](wire::Acceptor::Connection connection) {
      converse(shared, std::move(connection.socket), connection.number);
    });
  }
  ~State() {
    shared.stop.signal();
    store()->shut_down();
    {
      const std::lock_guard lock(shared.mutex);
      shared.client_left.notify_all();
    }
    acceptor_.join();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::shared_ptr<mock::Store> store() {
    const std::lock_guard lock(shared.mutex);
    return shared.store;
  }

  Shared shared;

 private:
  base::Descriptor listening_;
  wire::Acceptor acceptor_;
};

StoreService::StoreService(std::unique_ptr<State> state) : state_(std::move(state)) {}
StoreService::~StoreService() = default;

base::Result<std::unique_ptr<StoreService>> StoreService::start(const std::string& socket,
                                                                const mock::Options& options) {
  auto listening = listen_on_file(socket);
  if (!listening.ok()) return std::move(listening).error();
  auto commits = CommitCount::make(socket + ".commits");
  if (!commits.ok()) return std::move(commits).error();
  try {
    return std::unique_ptr<StoreService>(new StoreService(
        std::make_unique<State>(std::move(*listening), std::move(*commits), options)));
  } catch (const std::system_error& error) {
    return base::no_thread("the store of the server", error);
  }
}

std::string StoreService::known_levels(const mock::Options& options) {
  if (mock::is_versioned(options)) return "";
  return fmt::format("{}", fmt::join(mock::level_names(), ","));
}

std::string StoreService::known_policies() {
  std::vector<std::string_view> names;
  for (const auto& policy : mock::kPolicies) names.push_back(policy.name);
  return fmt::format("{}", fmt::join(names, ","));
}

void StoreService::set_engine_port(std::uint16_t port) {
  const std::lock_guard lock(state_->shared.mutex);
  state_->shared.engine_port = port;
}

void StoreService::keep_database(const std::string& name) {
  auto& shared = state_->shared;
  const std::lock_guard lock(shared.mutex);
  const auto known = shared.databases.find(name);
  if (known != shared.databases.end()) shared.kept_database = known->second;
}

void StoreService::start_over(const mock::Options& options) {
  auto& shared = state_->shared;
  state_->store()->shut_down();
  const std::lock_guard lock(shared.mutex);
  shared.start_store(options);
  shared.rows.start_over(shared.kept_database);
}

base::Result<history::History> StoreService::history() const {
  auto history = state_->store()->history();
  if (!history.ok()) return std::move(history).error();
  const std::lock_guard lock(state_->shared.mutex);
  return state_->shared.rows.in_words(*history);
}

std::map<std::uint32_t, std::vector<std::string>> StoreService::statements() const {
  return state_->store()->statements();
}

std::uint64_t StoreService::asked_for() const {
  return state_->store()->asked_for();
}
std::uint32_t StoreService::commits() const {
  return state_->store()->commits();
}
std::uint64_t StoreService::conflicts() const {
  return state_->store()->conflicts();
}

}  // namespace cupel::engines
