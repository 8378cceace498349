// A number, then a unit from a table: see the header.
#include "apps/units.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

namespace cupel::apps {

namespace {

struct Quantity {
  double number;
  std::string unit;
};

std::optional<Quantity> split(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
  return Quantity{number, std::string(end, text.data() + text.size())};
}

}  // namespace

base::Result<std::int64_t> parse_nanoseconds(const std::string& text) {
  const auto quantity = split(text);
  const std::string unit = quantity ? quantity->unit : "";
  if (!quantity || (!unit.empty() && unit != "ns" && unit != "us" && unit != "ms" && unit != "s")) {
    return base::Error{.message = fmt::format(
                           "found `{}`, expected a duration: a number, 0 or more, and a unit: ns, "
                           "us, ms or s, as in 1ms{}",
                           text, unit == "m" ? " (minutes are said in seconds)" : "")};
  }
  const auto seconds = parse_duration(text, 1e-9);
  if (!seconds.ok()) return seconds.error();
  if (*seconds > 1e9) {
    return base::Error{
        .message = fmt::format("found `{}`, expected a duration of less than thirty years", text)};
  }
  return static_cast<std::int64_t>(std::llround(*seconds * 1e9));
}

base::Result<std::uint64_t> parse_size(const std::string& text) {
  const base::Error error{.message = fmt::format("found `{}`, expected a size: a number, 0 or "
                                                 "more, of bytes or with K, M, G or T, as in "
                                                 "512M or 4G",
                                                 text)};
  const auto quantity = split(text);
  if (!quantity) return error;
  auto [number, unit] = *quantity;
  if (unit.ends_with("iB")) unit.resize(unit.size() - 2);
  if (unit.ends_with("B")) unit.resize(unit.size() - 1);
  double factor = 1;
  if (unit == "K" || unit == "k") {
    factor = 1024.0;
  } else if (unit == "M" || unit == "m") {
    factor = 1024.0 * 1024;
  } else if (unit == "G" || unit == "g") {
    factor = 1024.0 * 1024 * 1024;
  } else if (unit == "T" || unit == "t") {
    factor = 1024.0 * 1024 * 1024 * 1024;
  } else if (!unit.empty()) {
    return error;
  }
  const double bytes = number * factor;
  if (bytes >= 1.8e19) return error;
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace cupel::apps
