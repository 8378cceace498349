// What the drivers of key-value stores share: that a transaction goes to the database in one piece,
// which statements they take, and how a stored text becomes a reply.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "databases/drivers/driver.hpp"

namespace cupel::drivers {

// What a store says of what it cannot do: ends of sentences.
struct KeyValueLimits {
  std::string_view interactive;  // "etcd has no interactive transactions: …"
  // Why several statements are refused; empty: they are taken.
  std::string_view several;
  std::string_view ranges;  // "Redis has no order of keys"
};

// Where a level is about one object.
inline constexpr std::string_view kOnlyOne =
    "at a level that is about one; run with --isolation serializable";

class KeyValueConnection : public Connection {
 public:
  MaybeFailure begin() final;
  MaybeFailure execute(const workload::Statement&, workload::Reply&) final { return begin(); }
  MaybeFailure commit() final { return begin(); }
  void rollback() final {}
  MaybeFailure transact(std::span<const workload::Statement> statements,
                        std::vector<workload::Reply>& replies) final;

 protected:
  KeyValueConnection(KeyValueLimits limits, workload::Schema schema)
      : limits_(limits), schema_(std::move(schema)) {}

  // The statements fit the schema, there is at least one, and `replies` are parallel to them. Of a
  // failure that is kAborted the replies are dropped; else comparisons were decided before, and
  // hold if it did commit.
  virtual MaybeFailure run(std::span<const workload::Statement> statements,
                           std::span<workload::Reply> replies) = 0;
  // A further reason to refuse a statement; none: it is taken.
  [[nodiscard]] virtual MaybeFailure refuse(const workload::Statement& /*statement*/) const {
    return std::nullopt;
  }

  [[nodiscard]] const workload::Table& table_of(const workload::Statement& statement) const {
    return schema_.tables[statement.table];
  }
  [[nodiscard]] workload::ColumnType column_type(const workload::Statement& statement) const {
    return table_of(statement).columns[0].type;
  }
  // Of a row stored as text, a list as its elements with commas; none: there is no row.
  void fill(const workload::Statement& statement, const std::optional<std::string>& value,
            workload::Reply& reply) const;

 private:
  KeyValueLimits limits_;
  workload::Schema schema_;
};

// Whether a row that holds `value` is what a compare-and-set expects.
bool holds_expected(const workload::Statement& statement, const std::optional<std::string>& value);

// Of what is asked of a connection that is gone: it was not sent.
Failure lost_before();

// The failure of an insert: certainly aborted.
Failure there_already(std::string_view key);

// The same failure, of what changed nothing.
Failure aborted(Failure failure);

}  // namespace cupel::drivers
