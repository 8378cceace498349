// What plume, awdit and dbcop files can hold: reads and writes of integer
// registers whose initial value is 0, by transactions whose outcome is known.
// A writer of such a format asks here before it writes a byte.
//
// A history's own initial value (null in jepsen histories, a value a key in
// cobra and viper ones) is written as 0, unless the history uses 0 on that key
// for something else: then the two would become one, and the history is refused. So it is
// where a transaction writes the initial value, since readers take a written 0 for no other.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.hpp"
#include "data/history/history.hpp"

namespace cupel::formats {

struct IntegerRegisterLimits {
  std::string_view format;
  bool aborted = false;   // the format knows aborted transactions
  bool empty = false;     // … and transactions without operations
  bool negative = false;  // … and negative keys and values
};

// Ok, or the first transaction that the format cannot hold and why.
base::Status fits_integer_registers(const history::History& history,
                                    const IntegerRegisterLimits& limits);

// The key, and the value as a reader of the file will see it. Only of a history that fits.
std::int64_t integer_key(const history::History& history, history::KeyId key);
std::int64_t integer_value(const history::History& history, history::KeyId key,
                           history::ValueId value);

}  // namespace cupel::formats
