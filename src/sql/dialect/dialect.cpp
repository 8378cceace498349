// What both dialects share, and the choice between them.
#include "sql/dialect/dialect.hpp"

#include <fmt/format.h>

namespace cupel::sql {

mock::Level Dialect::least_level(const std::string& isolation) const {
  if (isolation == "read uncommitted" || isolation == "read committed") {
    return mock::Level::kReadCommitted;
  }
  // PostgreSQL's is snapshot isolation.
  if (isolation == "repeatable read") return mock::Level::kStrongSessionSnapshotIsolation;
  if (isolation == "serializable") return mock::Level::kStrongSessionSerializable;
  raise("22023",
        fmt::format("invalid value for parameter \"transaction_isolation\": \"{}\"", isolation));
}

const Dialect& dialect_of(Product product) {
  return product == Product::kPostgres ? postgres_dialect() : mysql_dialect();
}

}  // namespace cupel::sql
