// Cells of application tables: "PAYLOAD#UNIQUE", where UNIQUE is the number of the
// write that made it, 0 for what was loaded. So no two writes of a cell are alike,
// and every read shows which write it saw (as VIPER's and Cobra's collectors have
// it; the form of cupel::tag in include/cupel/record.hpp).
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "data/workload/statement.hpp"

namespace cupel::workload {

inline Datum make_cell(std::string_view payload, std::int64_t unique) {
  return std::string(payload) + '#' + std::to_string(unique);
}

// The part before the last '#'; of anything that is no cell, nothing. A view into
// the datum.
inline std::string_view payload_of(const Datum& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  const auto mark = text ? text->rfind('#') : std::string::npos;
  return mark == std::string::npos ? std::string_view() : std::string_view(*text).substr(0, mark);
}

// The payload as a number, or `fallback` if it is none: a database may return
// anything, and a program must live with it.
inline std::int64_t number_of(std::string_view payload, std::int64_t fallback = 0) {
  std::int64_t value = 0;
  const auto* end = payload.data() + payload.size();
  const auto [stop, error] = std::from_chars(payload.data(), end, value);
  return error == std::errc() && stop == end ? value : fallback;
}

// The number of the write that made a cell; -1 if it is no cell.
inline std::int64_t unique_of(const Datum& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  const auto mark = text ? text->rfind('#') : std::string::npos;
  return mark == std::string::npos ? -1 : number_of(std::string_view(*text).substr(mark + 1), -1);
}

}  // namespace cupel::workload
