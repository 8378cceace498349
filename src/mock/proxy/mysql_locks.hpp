// Who waits for a lock, as MariaDB and MySQL say it without a delay. Their tables of InnoDB's locks
// are copies that are up to 100 ms old; the status of the engine is not.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>

namespace cupel::proxy {

// The connections whose transactions wait, in the text of SHOW ENGINE INNODB STATUS.
std::set<std::int32_t> waiting_connections(std::string_view innodb_status);

// Whether a connection in this state, in the server's list of processes, waits for a lock that is
// not InnoDB's: of LOCK TABLES, GET_LOCK() or DDL.
bool waits_for_lock(std::string_view state);

}  // namespace cupel::proxy
