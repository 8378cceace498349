// One session: a job, its attempts, what came of them.
#include "run/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "data/history/naming.hpp"

namespace cupel::run {

using drivers::Cause;
using drivers::Failure;
using drivers::TxnOutcome;
using workload::Datum;
using workload::Job;
using workload::Reply;
using workload::Statement;
using workload::StatementKind;

namespace {

// So many refused statements, and nothing else ever, mean that the run is of no use.
constexpr std::uint64_t kRefusalsToEnd = 20;
// A host that did not answer is left alone so long where another may be asked.
constexpr std::chrono::seconds kRetryHost{1};

void pause(double seconds, const Shared& shared) {
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(seconds));
  for (auto now = Clock::now(); now < until && !shared.over(); now = Clock::now()) {
    std::this_thread::sleep_for(
        std::min<Clock::duration>(until - now, std::chrono::milliseconds(50)));
  }
}

bool is_read(StatementKind kind) {
  return kind == StatementKind::kRead || kind == StatementKind::kRange;
}

// A program decides while it runs: it may write.
bool only_reads(const Job& job) {
  return !job.program && std::all_of(job.statements.begin(), job.statements.end(),
                                     [](const Statement& one) { return is_read(one.kind); });
}

}  // namespace

ClientSession::ClientSession(Shared& shared, std::uint32_t number)
    : shared_(shared),
      number_(number),
      random_(shared.options.seed * 0x9e3779b97f4a7c15ULL + number),
      recorded_(shared.recorder.session()),
      connections_(std::max<std::size_t>(shared.hosts.size(), 1)),
      lost_(connections_.size(), false),
      unanswered_(connections_.size(), false),
      retry_at_(connections_.size()),
      written_(std::max<std::size_t>(kMostFinalRows / shared.options.sessions, 20)) {}

std::vector<std::uint32_t> ClientSession::hosts_for(const Job& job, std::string& why) {
  const auto hosts = static_cast<std::uint32_t>(shared_.hosts.size());
  const auto read_from = shared_.options.read_from;
  if (hosts < 2) return {0};
  if (read_from == ReadFrom::kOwnHost) return {number_ % hosts};
  if (read_from == ReadFrom::kPrimary || !only_reads(job)) {
    const std::uint32_t last = shared_.primary;
    if (lost_[last] || unanswered_[last]) {  // after a failover it is another
      const auto now = shared_.database.primary();
      if (!now.ok()) {
        why = now.error().message;
        return {};
      }
      shared_.primary = *now;
    }
    return {shared_.primary};
  }
  std::vector<std::uint32_t> all;
  const auto turn = number_ + report_.reads++;
  for (std::uint32_t i = 0; i < hosts; ++i) {
    const auto host = static_cast<std::uint32_t>((turn + i) % hosts);
    if (read_from == ReadFrom::kAny || host != shared_.primary) all.push_back(host);
  }
  return all;
}

// Values are numbers of this session's own, so that they depend on nothing but
// what the session did: the n-th fresh value of session s of S is n·S + s + 1.
void ClientSession::fill_in(Statement& statement) {
  const auto fresh = [&] {
    return Datum{
        static_cast<std::int64_t>(writes_++ * shared_.options.sessions_in_all() + number_ + 1)};
  };
  const auto& options = shared_.options;
  if ((options.final_reads || options.final_reads_if_needed) && !is_read(statement.kind)) {
    written_.add(statement.table, statement.key);
  }
  switch (statement.kind) {
    case StatementKind::kWrite:
    case StatementKind::kInsert:
    case StatementKind::kAppend:
      for (auto& value : statement.values) {
        if (value == Datum{}) value = fresh();
      }
      break;
    case StatementKind::kCompareAndSet:
      if (statement.values[1] == Datum{}) statement.values[1] = fresh();
      break;
    case StatementKind::kRead:
    case StatementKind::kDelete:
    case StatementKind::kRange:
      break;
  }
}

// A program's view of the transaction: executes and records.
class ClientSession::Live : public workload::Transaction {
 public:
  explicit Live(ClientSession& session) : session_(session) {}

  const Reply& execute(const Statement& asked) override {
    reply_ = {};
    if (!ok()) return reply_;
    Statement statement = asked;
    session_.fill_in(statement);
    auto& shared = session_.shared_;
    failure = session_.connection().execute(statement, reply_);
    record(shared.workload.schema(), statement, failure ? nullptr : &reply_, false, shared.initials,
           session_.recorded_);
    if (failure) reply_ = {};
    return reply_;
  }
  [[nodiscard]] bool ok() const override { return !failure && !given_up; }
  void give_up() override { given_up = true; }
  std::int64_t unique() override {
    return static_cast<std::int64_t>(
        session_.writes_++ * session_.shared_.options.sessions_in_all() + session_.number_ + 1);
  }
  base::Random& random() override { return session_.random_; }

  drivers::MaybeFailure failure;
  bool given_up = false;

 private:
  ClientSession& session_;
  Reply reply_;
};

bool ClientSession::connect_to_one_of(const std::vector<std::uint32_t>& hosts, std::string& why) {
  const bool own = shared_.hosts.size() < 2 || shared_.options.read_from == ReadFrom::kOwnHost;
  for (const auto host : hosts) {
    if (connections_[host] == nullptr) {
      if (hosts.size() > 1 && Clock::now() < retry_at_[host]) continue;
      auto made = own ? shared_.database.connect(number_) : shared_.database.connect_to_host(host);
      if (!made.ok()) {
        why = made.error().message;
        retry_at_[host] = Clock::now() + kRetryHost;  // after what the attempt itself took
        unanswered_[host] = true;
        continue;
      }
      connections_[host] = std::move(made).value();
      if (lost_[host]) ++report_.reconnects;
      lost_[host] = unanswered_[host] = false;
    }
    host_ = host;
    return true;
  }
  return false;
}

bool ClientSession::connect(const Job& job) {
  std::string why;
  if (connect_to_one_of(hosts_for(job, why), why)) return true;
  const auto give_up_at = Clock::now() + std::chrono::duration<double>(shared_.options.patience);
  double wait = 0.05;
  bool connected = false;
  ++shared_.progress.sessions_waiting;
  while (!connected && !shared_.over() && Clock::now() < give_up_at) {
    pause(wait, shared_);
    wait = std::min(1.0, wait * 2);
    connected = connect_to_one_of(hosts_for(job, why), why);
  }
  --shared_.progress.sessions_waiting;
  if (!connected && !shared_.over()) {
    report_.warning = fmt::format("session {} ended early, after {} s without a connection: {}",
                                  number_, shared_.options.patience, why);
  }
  return connected;
}

// The host, and its part where one of them takes all writes.
std::string ClientSession::node() const {
  const auto& host = shared_.hosts[host_];
  if (shared_.options.read_from == ReadFrom::kOwnHost) return host;
  return host + (host_ == shared_.primary ? ", primary" : ", replica");
}

bool ClientSession::wait_for_turn(std::uint64_t turn) {
  if (shared_.options.rate > 0) {
    const double due = static_cast<double>(turn * shared_.options.sessions_in_all() + number_) /
                       shared_.options.rate;
    const std::chrono::duration<double> passed = Clock::now() - shared_.begin;
    if (due > passed.count()) pause(due - passed.count(), shared_);
  }
  return !shared_.over();
}

void ClientSession::work() {
  ++shared_.progress.sessions_running;
  try {
    issue_jobs();
  } catch (...) {
    thrown_ = std::current_exception();
    shared_.done = true;
  }
  for (auto& connection : connections_) connection.reset();
  --shared_.progress.sessions_running;
}

void ClientSession::issue_jobs() {
  const auto txns = shared_.options.txns;
  for (std::uint64_t turn = 0; (txns == 0 || turn < txns) && wait_for_turn(turn); ++turn) {
    const auto job = shared_.workload.next(number_);
    if (!job) break;
    issue(*job);
    if (!report_.warning.empty() || !report_.error.empty()) break;
  }
}

void ClientSession::issue(const Job& job) {
  for (std::uint32_t tries = 0;; ++tries) {
    if (!connect(job)) return;
    if (connection().node()) {
      recorded_.on("");  // known only afterwards
    } else if (shared_.hosts.size() > 1) {
      recorded_.on(node());
    }
    const auto begin = Clock::now();
    const auto ending = attempt(job);
    const std::chrono::duration<double, std::milli> took = Clock::now() - begin;
    auto& tally = report_.jobs[job.name];
    switch (ending) {
      case Ending::kCommitted:
        ++tally.committed;
        ++shared_.progress.committed;
        report_.last_commit = std::chrono::duration<double>(Clock::now() - shared_.begin).count();
        tally.latencies.add(took.count());
        break;
      case Ending::kGivenUp:
        ++tally.given_up;
        [[fallthrough]];
      case Ending::kAborted:
        ++tally.aborted;
        ++shared_.progress.aborted;
        break;
      case Ending::kUnknown:
        ++tally.unknown;
        ++shared_.progress.unknown;
        break;
    }
    if (ending != Ending::kAborted || tries >= shared_.options.retries || shared_.over() ||
        !report_.error.empty()) {
      return;
    }
    // 0.5 ms, 1 ms … 64 ms: whoever was in the way needs the time to get out of it.
    pause(0.0005 * static_cast<double>(1U << std::min(tries, 7U)), shared_);
  }
}

ClientSession::Ending ClientSession::attempt(const Job& job) {
  const auto ending = job.program ? attempt_program(job) : attempt_fixed(job);
  if (ending == Ending::kCommitted) {
    refusals_ = 0;
    report_.unanswered = false;
    if (job.committed) job.committed();
    if (!shared_.any_answer.load(std::memory_order_relaxed)) shared_.any_answer = true;
  }
  return ending;
}

// False: the server did not end the transaction by itself.
bool ClientSession::note_silent_end() {
  const auto statement = connection().ended_at_statement();
  if (statement == 0) return false;
  ++report_.reasons["the server ended the transaction without an error"];
  recorded_.note(fmt::format(
      "the server reported that the transaction was no longer open after its {} statement",
      history::ordinal(statement)));
  return true;
}

ClientSession::Ending ClientSession::failed(const Failure& failure) {
  // Some drivers have no code but the cause's own word: "connection lost" once is enough.
  const std::string cause(name(failure.cause));
  const auto what = cause.ends_with(failure.code) ? cause : cause + ' ' + failure.code;
  ++report_.reasons[what];
  report_.first_errors.try_emplace(what, failure.message);
  const auto why = fmt::format("{}: {}", what, failure.message);
  // A primary that became a standby refuses writes: the new one is looked for.
  const bool other_host =
      shared_.options.read_from != ReadFrom::kOwnHost && failure.cause == Cause::kConnection;
  if (failure.connection_lost || other_host) {
    connections_[host_].reset();
    lost_[host_] = true;
  }
  report_.broke = report_.broke || failure.connection_lost || failure.cause == Cause::kConnection ||
                  failure.cause == Cause::kGone;
  report_.unanswered = failure.cause != Cause::kConflict && failure.cause != Cause::kConstraint;
  if (failure.cause == Cause::kStatement || failure.cause == Cause::kGone) {
    if (++refusals_ >= kRefusalsToEnd && !shared_.any_answer) {
      report_.error = fmt::format(
          "the database refuses every transaction, and the last one with: {}", failure.message);
      shared_.done = true;
    }
  } else if (failure.cause == Cause::kConflict) {
    shared_.any_answer = true;
  }
  if (failure.txn_outcome == TxnOutcome::kAborted) {
    recorded_.aborted(why);
    return Ending::kAborted;
  }
  recorded_.indeterminate(why);
  return Ending::kUnknown;
}

ClientSession::Ending ClientSession::attempt_fixed(const Job& job) {
  statements_ = job.statements;  // into the memory of the last transaction's
  for (auto& statement : statements_) fill_in(statement);
  const auto& schema = shared_.workload.schema();
  recorded_.begin();
  for (const auto& statement : statements_) {
    record(schema, statement, nullptr, true, shared_.initials, recorded_);
  }
  recorded_.committing();
  replies_.clear();
  const auto failure = connection().transact(statements_, replies_);
  if (const auto chosen = connection().node()) recorded_.on(*chosen);
  note_silent_end();
  // What was planned stands, with its reads unknown, unless all was answered. If it
  // was, it matters to an unknown transaction too: which comparisons failed, and
  // which deletes found nothing.
  if (!failure ||
      (failure->txn_outcome == TxnOutcome::kUnknown && replies_.size() == statements_.size())) {
    for (std::size_t i = 0; i < statements_.size(); ++i) {
      record(schema, statements_[i], &replies_[i], false, shared_.initials, recorded_);
    }
  }
  if (failure) return failed(*failure);
  recorded_.committed();
  if (job.seen) job.seen(statements_, replies_);
  return Ending::kCommitted;
}

ClientSession::Ending ClientSession::attempt_program(const Job& job) {
  recorded_.begin();
  if (const auto failure = connection().begin()) return failed(*failure);
  Live live(*this);
  job.program(live);
  const bool ended = note_silent_end();
  if (live.failure) return failed(*live.failure);
  if (live.given_up) {
    connection().rollback();
    if (ended) {
      recorded_.indeterminate("given up by the program");
      return Ending::kUnknown;
    }
    recorded_.aborted("given up by the program");
    return Ending::kGivenUp;
  }
  recorded_.committing();
  if (const auto failure = connection().commit()) return failed(*failure);
  recorded_.committed();
  return Ending::kCommitted;
}

}  // namespace cupel::run
