// What a session of the server has of the engine: its transaction, which lives as long as the
// session's connection and as its database's generation.
#pragma once

#include "engines/mariadb/server.hpp"
#include "engines/mariadb/transaction.hpp"
#include "engines/mariadb/weak_table.hpp"

namespace cupel::engines::mariadb {

Catalog& catalog();
// Unique constraints are checked on what was committed last.
bool constraints_are_strong();

Transaction& transaction_of(THD* thd);
// The statement that runs uses a table of the engine.
Transaction& join_transaction(THD* thd);
// After a failure of the transaction: the server's error, and the server rolls back.
int error_of_failure(THD* thd, const StoreClient::Failure& failure);
// Tells the client.
void report_failure(const StoreClient::Failure& failure);

}  // namespace cupel::engines::mariadb
