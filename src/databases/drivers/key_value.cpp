// Key-value connections: see the header.
#include "databases/drivers/key_value.hpp"

#include <fmt/format.h>

#include "databases/drivers/cells.hpp"
#include "databases/drivers/sql.hpp"

namespace cupel::drivers {

using workload::Reply;
using workload::Statement;
using workload::StatementKind;

MaybeFailure KeyValueConnection::begin() {
  return refused(std::string(limits_.interactive));
}

MaybeFailure KeyValueConnection::transact(std::span<const Statement> statements,
                                          std::vector<Reply>& replies) {
  replies.clear();
  if (statements.size() > 1 && !limits_.several.empty()) {
    return refused(fmt::format("several statements in a transaction {}", limits_.several));
  }
  for (const auto& statement : statements) {
    if (auto wrong = misfit(schema_, statement); !wrong.empty()) {
      return refused("a statement that does not fit the schema: " + wrong);
    }
    if (statement.kind == StatementKind::kRange) {
      return refused(fmt::format("a range: {}", limits_.ranges));
    }
    if (auto refusal = refuse(statement)) return refusal;
  }
  if (statements.empty()) return std::nullopt;
  replies.resize(statements.size());
  auto failure = run(statements, replies);
  if (failure && failure->txn_outcome == TxnOutcome::kAborted) replies.clear();
  return failure;
}

void KeyValueConnection::fill(const Statement& statement, const std::optional<std::string>& value,
                              Reply& reply) const {
  if (!value) return;
  const auto type = column_type(statement);
  if (type == workload::ColumnType::kList) {
    reply.elements = sql::list_elements(sql::ListForm::kText, *value);
  } else {
    reply.rows.push_back({statement.key, {from_text(type, *value)}});
  }
}

bool holds_expected(const Statement& statement, const std::optional<std::string>& value) {
  const auto& expected = statement.values[0];
  return std::holds_alternative<std::monostate>(expected) ? !value
                                                          : value == workload::to_string(expected);
}

Failure lost_before() {
  return {.txn_outcome = TxnOutcome::kAborted,
          .cause = Cause::kConnection,
          .code = "lost",
          .message = "the connection was lost before",
          .connection_lost = true};
}

Failure there_already(std::string_view key) {
  return {.txn_outcome = TxnOutcome::kAborted,
          .cause = Cause::kConstraint,
          .code = "exists",
          .message = fmt::format("the key {} is there already", key)};
}

Failure aborted(Failure failure) {
  failure.txn_outcome = TxnOutcome::kAborted;
  return failure;
}

}  // namespace cupel::drivers
