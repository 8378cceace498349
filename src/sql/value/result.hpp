// What a statement gives back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sql/value/type.hpp"

namespace cupel::sql {

struct Column {
  std::string name;
  Type type = Type::kText;
  // As PostgreSQL describes rows: the type's modifier, -1: none; the table, 0: of none; its column,
  // from 1.
  std::int32_t modifier = -1;
  std::uint32_t table_id = 0;
  std::uint16_t number = 0;
};

// What is said beside a result: "table "t" does not exist, skipping".
struct Notice {
  std::string message;
  std::string sqlstate = "00000";
  bool warning = false;
};

struct Result {
  std::string tag;        // "SELECT 2", "INSERT 0 1", "BEGIN": PostgreSQL's command tag
  bool has_rows = false;  // a SELECT or RETURNING or SHOW, even of no rows
  std::vector<Column> columns = {};
  std::vector<std::vector<Datum>> rows = {};
  std::uint64_t affected = 0;  // rows written
  std::vector<Notice> notices = {};
};

}  // namespace cupel::sql
