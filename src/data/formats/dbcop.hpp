// dbcop bincode: `history.bincode`, little-endian, every length a u64:
//
//   i64 id, n_node, n_variable, n_transaction, n_event
//   string info, start, end
//   sessions { transactions { events { u8 write, u64 variable, u64 value, u8 success },
//                             u8 committed } }
//
// See docs/reference/formats/dbcop.md for what is made of the flags.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "data/formats/format_spec.hpp"
#include "data/formats/input.hpp"
#include "data/history/history.hpp"

namespace cupel::formats {

Match recognize_dbcop(std::string_view bytes);
base::Result<history::History> read_dbcop(std::string_view bytes, const std::string& file,
                                          Reading reading = {});
base::Status write_dbcop(const history::History& history, std::ostream& out);

}  // namespace cupel::formats
