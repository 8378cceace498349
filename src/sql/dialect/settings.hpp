// The settings of a session that SHOW and SET know by name: what they are at first, and which
// values they take. A value that would mean something else than what is done here is refused, never
// taken and ignored.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::sql {

// By name, in lower case.
using Settings = std::map<std::string, std::string, std::less<>>;

inline constexpr std::string_view kFirstDatabase = "cupel";

// A setting of transactions: of the one that is open, or of those of the session to come.
struct TransactionSetting {
  enum class Of : std::uint8_t { kIsolation, kReadOnly, kDeferrable };
  Of of = Of::kIsolation;
  bool session = false;
  bool shown = true;  // false: SET knows it, SHOW does not
};

// How long a client may send nothing, and the error that ends its connection.
struct IdleLimit {
  double seconds;
  std::string sqlstate, message;
};

// The name as SHOW writes it over its value: "TimeZone".
std::string shown_name(const std::string& name);

// What blanks separate, of a table of settings: "off on".
std::vector<std::string_view> words_of(std::string_view text);

}  // namespace cupel::sql
