// The map, its undo, and its faults.
#include "memory_database.hpp"

#include <numeric>

namespace cupel::run {

using drivers::Cause;
using drivers::Failure;
using drivers::MaybeFailure;
using drivers::TxnOutcome;
using workload::Datum;
using workload::Reply;
using workload::Statement;
using workload::StatementKind;

class MemoryDatabase::Session : public drivers::Connection {
 public:
  Session(MemoryDatabase& database, std::uint64_t seed)
      : db_(database), random_(seed), lock_(database.mutex_, std::defer_lock) {}

  MaybeFailure begin() override {
    lock_.lock();
    undo_ = db_.cells_;
    statements_ = ended_at_ = 0;
    return {};
  }
  [[nodiscard]] std::size_t ended_at_statement() const override { return ended_at_; }

  MaybeFailure execute(const Statement& s, Reply& reply) override {
    auto failure = run(s, reply);
    ++statements_;
    if (!failure && ended_at_ == 0 && random_.chance(db_.bad_.silent_end)) {
      db_.cells_ = undo_;
      ended_at_ = statements_;
    }
    // Each statement for itself. A failure has given back the lock.
    if (!failure && ended_at_ != 0) undo_ = db_.cells_;
    return failure;
  }

  MaybeFailure run(const Statement& s, Reply& reply) {
    if (db_.commits >= db_.silent_after) return fail(Cause::kConnection, true);
    if (db_.commits >= db_.gone_after && --db_.back_after >= 0) return fail(Cause::kGone, false);
    if (db_.commits >= db_.refuse_after) return fail(Cause::kStatement, false);
    if (db_.bad_.refuse) return fail(Cause::kStatement, false);
    if (random_.chance(db_.bad_.conflict)) return fail(Cause::kConflict, false);
    if (random_.chance(db_.bad_.lost_before_commit)) return fail(Cause::kConnection, true);
    const auto& table = db_.schema_.tables[s.table];
    auto columns = s.columns;
    if (columns.empty()) {
      columns.resize(table.columns.size());
      std::iota(columns.begin(), columns.end(), 0U);
    }
    const RowId id{s.table, s.key};
    const auto row = db_.cells_.find(id);
    const bool there = row != db_.cells_.end();
    const auto take = [&](const RowId& at, const Cells& cells) {
      workload::Row result{.key = at.second, .values = {}};
      for (const auto c : columns) {
        const bool stale = random_.chance(db_.bad_.stale_read) && !cells.before.empty();
        result.values.push_back((stale ? cells.before : cells.values)[c]);
      }
      return result;
    };
    switch (s.kind) {
      case StatementKind::kRead:
        if (!there) break;
        reply.elements = row->second.elements;
        if (table.columns[columns[0]].type != workload::ColumnType::kList) {
          reply.rows.push_back(take(id, row->second));
        }
        break;
      case StatementKind::kInsert:
        if (there) return fail(Cause::kConstraint, false);
        [[fallthrough]];
      case StatementKind::kWrite: {
        auto& cells = db_.cells_[id];
        cells.before = cells.values;
        cells.values.resize(table.columns.size());
        for (std::size_t i = 0; i < columns.size(); ++i) cells.values[columns[i]] = s.values[i];
        break;
      }
      case StatementKind::kDelete:
        reply.succeeded = there;
        if (there) db_.cells_.erase(row);
        break;
      case StatementKind::kAppend:
        db_.cells_[id].elements.push_back(s.values[0]);
        break;
      case StatementKind::kRange:
        for (auto it = db_.cells_.lower_bound(id);
             it != db_.cells_.end() && it->first <= RowId{s.table, s.high}; ++it) {
          reply.rows.push_back(take(it->first, it->second));
        }
        break;
      case StatementKind::kCompareAndSet:
        reply.succeeded = (there ? row->second.values[0] : Datum{}) == s.values[0];
        if (reply.succeeded) db_.cells_[id].values = {s.values[1]};
        break;
    }
    return {};
  }

  MaybeFailure commit() override {
    if (random_.chance(db_.bad_.lost_at_commit)) {
      if (random_.chance(0.5)) db_.cells_ = undo_;
      lock_.unlock();
      return Failure{TxnOutcome::kUnknown, Cause::kConnection, "", "the connection broke", true};
    }
    if (random_.chance(db_.bad_.lost_commit)) db_.cells_ = undo_;
    lock_.unlock();
    ++db_.commits;
    db_.commits.notify_all();
    return {};
  }
  void rollback() override {
    db_.cells_ = undo_;
    lock_.unlock();
  }

 private:
  MaybeFailure fail(Cause cause, bool lost) {
    rollback();
    return Failure{ended_at_ == 0 ? TxnOutcome::kAborted : TxnOutcome::kUnknown, cause, "M1",
                   "made to fail", lost};
  }

  MemoryDatabase& db_;
  base::Random random_;
  std::unique_lock<std::mutex> lock_;
  std::map<RowId, Cells> undo_;
  std::size_t statements_ = 0, ended_at_ = 0;
};

class MemoryDatabase::SecondHost : public drivers::Connection {
 public:
  SecondHost(MemoryDatabase& database, std::unique_ptr<drivers::Connection> first)
      : db_(database), first_(std::move(first)) {}
  MaybeFailure begin() override { return first_->begin(); }
  MaybeFailure execute(const Statement& s, Reply& reply) override {
    return first_->execute(s, reply);
  }
  MaybeFailure commit() override { return first_->commit(); }
  void rollback() override { first_->rollback(); }
  MaybeFailure transact(std::span<const Statement> statements,
                        std::vector<Reply>& replies) override {
    constexpr int kCatchesUp = 3;
    auto failure = first_->transact(statements, replies);
    const bool lags = db_.second_host == Host::kLags && db_.reads_of_second < kCatchesUp;
    ++db_.reads_of_second;
    if (lags || db_.second_host == Host::kEmpty) replies.assign(replies.size(), {});
    return failure;
  }

 private:
  MemoryDatabase& db_;
  std::unique_ptr<drivers::Connection> first_;
};

base::Result<std::unique_ptr<drivers::Connection>> MemoryDatabase::connect_to_read(
    std::uint32_t host) {
  auto first = connect(0);
  if (host == 0 || !first.ok()) return first;
  if (second_host == Host::kAbsent) return base::Error{.message = "nobody is at two"};
  return std::unique_ptr<drivers::Connection>(
      std::make_unique<SecondHost>(*this, *std::move(first)));
}

base::Status MemoryDatabase::prepare(const workload::Workload& workload) {
  cells_.clear();
  schema_ = workload.schema();
  workload.load([&](std::uint32_t table, const workload::Row& row) {
    cells_[{table, row.key}] = {.values = row.values, .before = {}, .elements = {}};
  });
  return base::Ok{};
}

base::Result<std::unique_ptr<drivers::Connection>> MemoryDatabase::connect(std::uint32_t session) {
  const std::lock_guard lock(mutex_);
  if (refuse_connections || commits >= silent_after)
    return base::Error{.message = "nobody is there"};
  return std::unique_ptr<drivers::Connection>(
      std::make_unique<Session>(*this, session * 1000 + static_cast<unsigned>(connections++)));
}

}  // namespace cupel::run
