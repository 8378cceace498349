// What the kinds of PostgreSQL share.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "databases/lab/kinds.hpp"

namespace cupel::lab {

// A program of PostgreSQL's newest version here; empty: not found.
std::string postgres_program(const std::string& name);
// What a primary with standbys needs.
base::Status find_standby();
// KindSpec::shared_memory and clear_remains.
inline constexpr std::string_view kPostgresSharedMemory = "/dev/shm/PostgreSQL.";
void clear_postgres(const Node& node);

}  // namespace cupel::lab
