// By std::chrono's civil calendar: see the header.
#include "wire/calendar.hpp"

#include <fmt/format.h>

#include <chrono>
#include <limits>

namespace cupel::wire {

namespace {

using std::chrono::day;
using std::chrono::days;
using std::chrono::month;
using std::chrono::sys_days;
using std::chrono::year;
using std::chrono::year_month_day;

constexpr auto kEpoch = sys_days(year(2000) / month(1) / day(1));
constexpr std::int64_t kDay = 86'400'000'000;

class Digits {
 public:
  explicit Digits(std::string_view text) : text_(text) {}
  // `least` to `most` digits.
  bool number(std::size_t least, std::size_t most, unsigned& value) {
    std::size_t count = 0;
    value = 0;
    while (count < most && count < text_.size() && text_[count] >= '0' && text_[count] <= '9') {
      value = value * 10 + static_cast<unsigned>(text_[count++] - '0');
    }
    text_.remove_prefix(count);
    taken_ = count;
    return count >= least;
  }
  bool one_of(std::string_view characters) {
    if (text_.empty() || characters.find(text_[0]) == std::string_view::npos) return false;
    text_.remove_prefix(1);
    return true;
  }
  [[nodiscard]] bool at_end() const { return text_.empty(); }
  [[nodiscard]] std::size_t taken() const { return taken_; }

 private:
  std::string_view text_;
  std::size_t taken_ = 0;
};

}  // namespace

std::optional<Timestamp> parse_timestamp(std::string_view text) {
  Digits in(text);
  Timestamp t;
  unsigned years = 0;
  if (!in.number(4, 4, years) || !in.one_of("-") || !in.number(1, 2, t.month) || !in.one_of("-") ||
      !in.number(1, 2, t.day)) {
    return std::nullopt;
  }
  t.year = years;
  if (!in.at_end()) {
    if (!in.one_of(" T") || !in.number(1, 2, t.hour) || !in.one_of(":") ||
        !in.number(2, 2, t.minute)) {
      return std::nullopt;
    }
    if (in.one_of(":") && !in.number(2, 2, t.second)) return std::nullopt;
    if (in.one_of(".")) {
      if (!in.number(1, 6, t.microsecond)) return std::nullopt;
      for (auto digits = in.taken(); digits < 6; ++digits) t.microsecond *= 10;
    }
    if (in.one_of("+") && (!in.one_of("0") || !in.one_of("0"))) return std::nullopt;
  }
  const year_month_day date{year(static_cast<int>(t.year)), month(t.month), day(t.day)};
  const bool well = in.at_end() && date.ok() && t.hour < 24 && t.minute < 60 && t.second < 60;
  return well ? std::optional(t) : std::nullopt;
}

std::string to_string(const Timestamp& t, bool with_time) {
  auto text = fmt::format("{:04}-{:02}-{:02}", t.year, t.month, t.day);
  if (!with_time) return text;
  text += fmt::format(" {:02}:{:02}:{:02}", t.hour, t.minute, t.second);
  if (t.microsecond != 0) {
    text += fmt::format(".{:06}", t.microsecond);
    while (text.back() == '0') text.pop_back();
  }
  return text;
}

std::int64_t days_of(const Timestamp& t) {
  const sys_days date = year(static_cast<int>(t.year)) / month(t.month) / day(t.day);
  return (date - kEpoch).count();
}

std::int64_t microseconds_of(const Timestamp& t) {
  const std::int64_t seconds = (std::int64_t{t.hour} * 60 + t.minute) * 60 + t.second;
  return days_of(t) * kDay + seconds * 1'000'000 + t.microsecond;
}

std::optional<Timestamp> timestamp_of_days(std::int64_t count) {
  if (count < -730'119 || count > 2'921'939) return std::nullopt;  // the years 1 to 9999
  const year_month_day date(kEpoch + days(count));
  return Timestamp{
      .year = int(date.year()), .month = unsigned(date.month()), .day = unsigned(date.day())};
}

std::optional<Timestamp> timestamp_of_microseconds(std::int64_t microseconds) {
  auto count = microseconds / kDay;
  auto rest = microseconds % kDay;
  if (rest < 0) {
    rest += kDay;
    --count;
  }
  auto t = timestamp_of_days(count);
  if (!t) return t;
  t->microsecond = static_cast<unsigned>(rest % 1'000'000);
  const auto seconds = static_cast<unsigned>(rest / 1'000'000);
  t->second = seconds % 60;
  t->minute = seconds / 60 % 60;
  t->hour = seconds / 3600;
  return t;
}

}  // namespace cupel::wire
