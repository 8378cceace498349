// PostgreSQL's numeric: decimal numbers of any length with the number of digits after
// the point that is shown (its "display scale"). Addition, multiplication, division and
// remainder give the digits and the scale that PostgreSQL 15 gives (its numeric.c:
// select_div_scale for division). No NaN and no infinity.
#pragma once

#include <gmpxx.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cupel::sql {

class Decimal {
 public:
  Decimal() = default;
  explicit Decimal(std::int64_t number);
  Decimal(mpz_class units, int scale) : units_(std::move(units)), scale_(scale) {}
  // "-1.50", "2e3"; nothing else around it. nullopt if it is no number or too long (over
  // 2,000 digits).
  static std::optional<Decimal> parse(std::string_view text);
  [[nodiscard]] std::string to_string() const;

  [[nodiscard]] int scale() const { return scale_; }
  [[nodiscard]] int sign() const { return sgn(units_); }
  // Digits before the point; 0 for a number below 1.
  [[nodiscard]] int whole_digits() const;
  // Half away from zero.
  [[nodiscard]] Decimal rounded(int scale) const;
  // Rounded; nullopt if it does not fit.
  [[nodiscard]] std::optional<std::int64_t> to_integer() const;
  // Without zeros at the end: equal numbers have equal texts.
  [[nodiscard]] std::string canonical() const;

  friend Decimal operator+(const Decimal& left, const Decimal& right);
  friend Decimal operator-(const Decimal& left, const Decimal& right);
  friend Decimal operator*(const Decimal& left, const Decimal& right);
  // The divisor is not zero.
  [[nodiscard]] Decimal divided_by(const Decimal& right) const;
  [[nodiscard]] Decimal remainder(const Decimal& right) const;
  friend std::strong_ordering operator<=>(const Decimal& left, const Decimal& right);
  friend bool operator==(const Decimal& left, const Decimal& right) {
    return (left <=> right) == 0;
  }

 private:
  [[nodiscard]] mpz_class units_at(int scale) const;  // scale >= scale_
  mpz_class units_;                                   // value times 10^scale_
  int scale_ = 0;
};

}  // namespace cupel::sql
