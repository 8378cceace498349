// The databases that the mock answers as.
#pragma once

#include <cstdint>

namespace cupel::sql {

enum class Product : std::uint8_t { kPostgres, kMysql };

}  // namespace cupel::sql
