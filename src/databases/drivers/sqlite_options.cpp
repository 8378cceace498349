// SqliteOptions: see the header.
#include "databases/drivers/sqlite_options.hpp"

#include <algorithm>
#include <cstdint>

namespace cupel::drivers {

base::Result<SqliteOptions> take_sqlite_options(Url& url, double timeout) {
  SqliteOptions options;
  auto mode = take_choice(url, "mode", options.mode, {"deferred", "immediate", "exclusive"});
  if (!mode) return std::move(mode).error();
  options.mode = *std::move(mode);
  if (const auto busy = take_option(url, "busy_timeout")) {
    const auto number = option_number("busy_timeout", *busy, 0, 3'600'000);
    if (!number) return number.error();
    options.busy_timeout = std::chrono::milliseconds(*number);
  }
  options.busy_timeout = std::min(
      options.busy_timeout, std::chrono::milliseconds(static_cast<std::int64_t>(timeout * 1000)));
  const auto lists = sql::parse_list_form(take_option(url, "list"));
  if (!lists) return lists.error();
  options.dialect = {sql::Product::kSqlite, *lists};
  return options;
}

}  // namespace cupel::drivers
