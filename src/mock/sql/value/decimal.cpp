// Decimals as an integer of units and a scale; see the header.
#include "mock/sql/value/decimal.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace cupel::sql {

namespace {

constexpr int kLongest = 2000;

mpz_class power_of_ten(int exponent) {
  mpz_class power;
  mpz_ui_pow_ui(power.get_mpz_t(), 10, static_cast<unsigned long>(std::max(exponent, 0)));
  return power;
}

// Division half away from zero.
mpz_class divide_rounded(const mpz_class& left, const mpz_class& right) {
  mpz_class quotient;
  mpz_class rest;
  mpz_tdiv_qr(quotient.get_mpz_t(), rest.get_mpz_t(), left.get_mpz_t(), right.get_mpz_t());
  if (mpz_cmpabs(mpz_class(rest * 2).get_mpz_t(), right.get_mpz_t()) >= 0)
    quotient += sgn(left) * sgn(right);
  return quotient;
}

// PostgreSQL keeps numbers in digits of base 10,000; the scale of a quotient depends on
// the first such digit and its weight.
struct Leading {
  int weight = 0;
  int digit = 0;
};

Leading leading(const mpz_class& units, int scale) {
  if (sgn(units) == 0) return {};
  const std::string text = mpz_class(abs(units)).get_str();
  const int exponent = static_cast<int>(text.size()) - 1 - scale;
  const int weight = exponent >= 0 ? exponent / 4 : -((3 - exponent) / 4);
  const int digits = exponent - 4 * weight + 1;  // 1 to 4
  std::string first = text.substr(0, static_cast<std::size_t>(digits));
  first.resize(static_cast<std::size_t>(digits), '0');
  return {weight, std::atoi(first.c_str())};
}

}  // namespace

Decimal::Decimal(std::int64_t number) : units_(static_cast<long>(number)) {}

std::optional<Decimal> Decimal::parse(std::string_view text) {
  const auto mark = std::min(text.find_first_of("eE"), text.size());
  int exponent = 0;
  if (mark < text.size()) {
    auto power = text.substr(mark + 1);
    if (power.starts_with('+')) power.remove_prefix(1);
    const auto read = std::from_chars(power.data(), power.data() + power.size(), exponent);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
    if (std::abs(exponent) > kLongest) return std::nullopt;
  }
  std::string digits(text.substr(0, mark));
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.erase(0, 1);
  int scale = -exponent;
  if (const auto point = digits.find('.'); point != digits.npos) {
    digits.erase(point, 1);
    scale += static_cast<int>(digits.size() - point);
  }
  if (digits.empty() || digits.size() > kLongest ||
      digits.find_first_not_of("0123456789") != digits.npos) {
    return std::nullopt;
  }
  mpz_class units(digits, 10);
  if (negative) units = -units;
  if (scale < 0) units *= power_of_ten(-scale);
  return Decimal(std::move(units), std::max(scale, 0));
}

std::string Decimal::to_string() const {
  std::string text = mpz_class(abs(units_)).get_str();
  const auto scale = static_cast<std::size_t>(scale_);
  if (text.size() <= scale) text.insert(0, scale + 1 - text.size(), '0');
  if (scale > 0) text.insert(text.size() - scale, ".");
  if (sgn(units_) < 0) text.insert(0, "-");
  return text;
}

std::string Decimal::canonical() const {
  auto text = to_string();
  if (text.find('.') == text.npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

int Decimal::whole_digits() const {
  if (sgn(units_) == 0) return 0;
  return std::max(0, static_cast<int>(mpz_class(abs(units_)).get_str().size()) - scale_);
}

mpz_class Decimal::units_at(int scale) const {
  return scale == scale_ ? units_ : mpz_class(units_ * power_of_ten(scale - scale_));
}

Decimal Decimal::rounded(int scale) const {
  if (scale >= scale_) return {units_at(scale), scale};
  auto units = divide_rounded(units_, power_of_ten(scale_ - scale));
  return {std::move(units), scale};
}

std::optional<std::int64_t> Decimal::to_integer() const {
  const auto whole = rounded(0);
  if (!whole.units_.fits_slong_p()) return std::nullopt;
  return whole.units_.get_si();
}

Decimal operator+(const Decimal& left, const Decimal& right) {
  const int scale = std::max(left.scale_, right.scale_);
  return {left.units_at(scale) + right.units_at(scale), scale};
}

Decimal operator-(const Decimal& left, const Decimal& right) {
  return left + Decimal(-right.units_, right.scale_);
}

Decimal operator*(const Decimal& left, const Decimal& right) {
  return {left.units_ * right.units_, left.scale_ + right.scale_};
}

Decimal Decimal::divided_by(const Decimal& right) const {
  const auto above = leading(units_, scale_);
  const auto below = leading(right.units_, right.scale_);
  int weight = above.weight - below.weight;
  if (above.digit <= below.digit) --weight;
  const int scale = std::min(1000, std::max({16 - weight * 4, scale_, right.scale_, 0}));
  // left/10^a / (right/10^b) * 10^scale
  mpz_class dividend = units_;
  mpz_class divisor = right.units_;
  const int shift = scale + right.scale_ - scale_;
  if (shift >= 0) {
    dividend *= power_of_ten(shift);
  } else {
    divisor *= power_of_ten(-shift);
  }
  return {divide_rounded(dividend, divisor), scale};
}

Decimal Decimal::remainder(const Decimal& right) const {
  const int scale = std::max(scale_, right.scale_);
  return {units_at(scale) % right.units_at(scale), scale};
}

std::strong_ordering operator<=>(const Decimal& left, const Decimal& right) {
  const int scale = std::max(left.scale_, right.scale_);
  return cmp(left.units_at(scale), right.units_at(scale)) <=> 0;
}

}  // namespace cupel::sql
