// What a transaction touched is kept until it ends; see the header.
#include "mock/proxy/sessions.hpp"

#include <algorithm>
#include <utility>

namespace cupel::proxy {

const std::vector<StatementText>& Sessions::read(const std::string& text) {
  const auto found = read_.find(text);
  if (found != read_.end()) return found->second;
  return read_.emplace(text, statements_of(text, dialect_)).first->second;
}

// Its locks are given back.
void Sessions::end(Session& session, Footprint& footprint) {
  const auto& kept = session.transaction;
  footprint.ends = true;
  footprint.ended_unknown |= kept.unknown;
  footprint.serializable |= kept.serializable;
  footprint.ended_shares.insert(kept.shares.begin(), kept.shares.end());
  footprint.ended_writes.insert(kept.writes.begin(), kept.writes.end());
}

void Sessions::start_over(Session& session) {
  session.transaction = {};
  session.has_snapshot = false;
  session.level = session.next_level.value_or(session.default_level);
}

// What of a statement depends on the level of its transaction.
void Sessions::take_level(Session& session, const StatementText& statement,
                          Footprint& touched) const {
  if (dialect_ == Dialect::kPostgres) {
    if (session.level != Isolation::kReadCommitted && !session.has_snapshot) {
      touched.takes_snapshot = true;
      session.has_snapshot = !statement.unknown;
    }
    touched.serializable = session.level == Isolation::kSerializable;
    return;
  }
  if (session.level >= Isolation::kRepeatableRead && !session.has_snapshot) {
    const bool sees_committed = !statement.unknown && statement.tables.size() == 1 &&
                                (!statement.reads_only || statement.locks);
    touched.takes_snapshot = !sees_committed;
    session.has_snapshot = is_plain_select(statement) && !statement.unknown;
  }
  // A SELECT locks, or sees what is not committed.
  if (session.level == Isolation::kSerializable || session.level == Isolation::kReadUncommitted)
    touched.shares.insert(touched.reads.begin(), touched.reads.end());
}

void Sessions::follow(Session& session, const StatementText& statement, Footprint touched,
                      Footprint& footprint) const {
  if (statement.commits_first) {
    end(session, footprint);
    start_over(session);
  }
  if (statement.word == TransactionWord::kBegin && session.transaction.nothing())
    session.level = session.next_level.value_or(session.default_level);
  if (statement.level_here) session.level = *statement.level_here;
  if (statement.level_next) session.next_level = statement.level_next;
  const bool works = !statement.local && statement.word == TransactionWord::kNone;
  if (works) {
    take_level(session, statement, touched);
    session.transaction.add(touched);
  }
  if (statement.takes_snapshot && session.level >= Isolation::kRepeatableRead)
    touched.takes_snapshot = session.has_snapshot = true;
  footprint.add(touched);
  switch (statement.word) {
    case TransactionWord::kCommit:
    case TransactionWord::kRollback:
      end(session, footprint);
      session.next_level.reset();
      if (statement.resets) session.default_level = default_;
      start_over(session);
      break;
    case TransactionWord::kRollbackTo:
      end(session, footprint);
      break;
    default:
      break;
  }
}

Footprint Sessions::begun(const Executed& executed, const Catalog& catalog) {
  const auto kept = sessions_;
  auto open = executed;
  open.after = 'T';
  auto footprint = follow(open, catalog).footprint;
  footprint.waits = true;
  sessions_ = kept;
  return footprint;
}

Sessions::Followed Sessions::follow(const Executed& executed, const Catalog& catalog) {
  auto [found, is_new] = sessions_.try_emplace(executed.client);
  auto& session = found->second;
  if (is_new && !executed.own_settings) session.default_level = session.level = default_;
  if (executed.before == 'I') start_over(session);
  Followed followed;
  bool worked = executed.unreadable;
  if (executed.unreadable) {
    session.transaction.unknown = true;
    followed.footprint.unknown = true;
  }
  for (const auto& request : executed.requests) {
    for (const auto& statement : read(request.text)) {
      const auto level = session.level;
      follow(session, statement, footprint_of(statement, request.parameters, catalog),
             followed.footprint);
      followed.level = statement.word == TransactionWord::kNone ? session.level : level;
      worked |= !statement.local;
      if (!statement.level_from_now) continue;
      session.default_level = executed.before == 'I' || dialect_ == Dialect::kMysql
                                  ? *statement.level_from_now
                                  : std::max(session.default_level, *statement.level_from_now);
    }
  }
  followed.footprint.waits =
      std::any_of(executed.answers.begin(), executed.answers.end(), [](const Answer& answer) {
        return answer.code == "40P01" || answer.code == "1213";  // a deadlock
      });
  // A transaction that fails gives its locks back at once, or those since the last savepoint.
  if (executed.after == 'E' && executed.before != 'E') end(session, followed.footprint);
  if (executed.after == 'I') {
    end(session, followed.footprint);
    followed.footprint.takes_snapshot = false;
    session.transaction = {};
    if (worked) session.next_level.reset();
  }
  if (executed.left) sessions_.erase(found);
  return followed;
}

}  // namespace cupel::proxy
