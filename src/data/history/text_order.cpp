// The order of keys that databases agree on: see the header.
#include "data/history/text_order.hpp"

#include <algorithm>
#include <string_view>

#include "data/history/naming.hpp"

namespace cupel::history {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_alphanumeric(char c) {
  return is_digit(c) || is_lower(c) || is_upper(c);
}

bool agreed_below(char a, char b) {
  const bool one_case = !(is_lower(a) && is_upper(b)) && !(is_upper(a) && is_lower(b));
  return is_alphanumeric(a) && is_alphanumeric(b) && one_case && a < b;
}

bool agreed_at_most(std::string_view a, std::string_view b) {
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (in_b == b.end()) return in_a == a.end();
  if (in_a == a.end()) return is_alphanumeric(*in_b);
  return agreed_below(*in_a, *in_b);
}

}  // namespace

std::string shown_bound(ScalarView bound) {
  if (bound.kind == ScalarKind::kNull) return "the start";
  return bound == kAboveAll ? "the end" : shown_key(bound);
}

bool agreed_at_most(ScalarView a, ScalarView b) {
  if (a == b || a.kind == ScalarKind::kNull || b == kAboveAll) return true;
  if (a.kind == ScalarKind::kLiteral || b.kind == ScalarKind::kLiteral) return false;
  if (a.kind != b.kind) return a.kind < b.kind;
  if (a.kind == ScalarKind::kInteger) return a.integer <= b.integer;
  return agreed_at_most(a.text, b.text);
}

}  // namespace cupel::history
