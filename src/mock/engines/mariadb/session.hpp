// What a session of the server has of the engine: its transaction, which lives as long as the
// session's connection and as its database's generation.
#pragma once

#include <chrono>

#include "mock/engines/mariadb/server.hpp"
#include "mock/engines/mariadb/transaction.hpp"
#include "mock/engines/mariadb/weak_table.hpp"

namespace cupel::engines::mariadb {

Catalog& catalog();
// Unique constraints are checked on what was committed last.
bool constraints_are_strong();

// Of a statement that locks rows.
std::chrono::milliseconds lock_wait_limit(THD* thd);

Transaction& transaction_of(THD* thd);
// The statement that runs uses a table of the engine.
Transaction& join_transaction(THD* thd);
// Whether foreign keys are checked and followed.
bool checks_foreign_keys(THD* thd);
class RelatedTables;
RelatedTables& related_tables(THD* thd);
// After a failure of the transaction: the server's error, and the server rolls back.
int error_of_failure(THD* thd, const StoreClient::Failure& failure);
// Tells the client.
void report_failure(const StoreClient::Failure& failure);

}  // namespace cupel::engines::mariadb
