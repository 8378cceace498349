// A number, then a unit: see the header.
#include "base/duration.hpp"

#include <charconv>
#include <cmath>
#include <string_view>

namespace cupel::base {

Result<double> parse_duration(const std::string& text, double bare_unit_seconds) {
  const Error error{.message = "found `" + text +
                               "`, expected a duration: a number, 0 or more, and a unit: ns, us, "
                               "ms, s, m or h, as in 90s or 1.5m"};
  double number = 0;
  const auto* const last = text.data() + text.size();
  const auto [end, failed] = std::from_chars(text.data(), last, number);
  if (failed != std::errc() || !std::isfinite(number) || number < 0) return error;
  const std::string_view unit(end, static_cast<std::size_t>(last - end));
  if (unit.empty()) return number * bare_unit_seconds;
  if (unit == "ns") return number * 1e-9;
  if (unit == "us") return number * 1e-6;
  if (unit == "ms") return number * 1e-3;
  if (unit == "s") return number;
  if (unit == "m" || unit == "min") return number * 60;
  if (unit == "h") return number * 3600;
  return error;
}

}  // namespace cupel::base
