// Where databases agree on the order of keys.
//
// A range read that does not return a key saw it absent, if the key is in the range. Numbers have
// one order. Texts have many: by bytes, without case, as a language has it, with marks ignored. So
// a database may have left out a key only because it is not in the range there.
#pragma once

#include <string>

#include "data/history/history.hpp"
#include "data/history/scalar.hpp"

namespace cupel::history {

// A bound that is above every key, as null is below every key.
inline constexpr ScalarView kAboveAll = {ScalarKind::kLiteral, 0, "nil"};

// Whether it is one of the two: nothing is below null, nothing above kAboveAll.
inline bool is_no_bound(ScalarView bound) {
  return bound.kind == ScalarKind::kNull || bound == kAboveAll;
}
// As shown to people, between "from" and "to": a key, "the start" or "the end".
std::string shown_bound(ScalarView bound);

// Whether a <= b here and in every usual order of a database: they are equal, or a is null or b is
// kAboveAll, or they are integers, or an integer and a text, or texts. Of two texts, b goes on
// after a with an ASCII letter or digit, or they first differ in two letters of one case, in two
// digits, or in a digit and a letter. Not known here are the languages that move letters even so
// (Danish aa, Czech ch). A literal such as 1.5 is in no order.
bool agreed_at_most(ScalarView a, ScalarView b);

inline bool agreed_between(ScalarView low, ScalarView key, ScalarView high) {
  if (low.kind == ScalarKind::kInteger && key.kind == ScalarKind::kInteger &&
      high.kind == ScalarKind::kInteger) {
    return low.integer <= key.integer && key.integer <= high.integer;
  }
  return agreed_at_most(low, key) && agreed_at_most(key, high);
}

// The keys that every usual order has in the range, in key order: a range read that does not return
// one saw it absent.
template <typename Use>
void for_each_sure_key(const History& history, const RangeRead& range, Use use) {
  const auto low = history.value(range.low), high = history.value(range.high);
  for (const KeyId key : history.keys_between(low, high)) {
    if (agreed_between(low, history.key(key), high)) use(key);
  }
}

}  // namespace cupel::history
