// A tiny language for histories, so that a test shows its history in one line.
//
//   "s1: w(x,1) | s2: r(x,1) w(x,2) ; r(y,nil)"
//
// Sessions are separated by `|` or by newlines, transactions by `;`, operations
// by blanks. `s1:` names a session (default: s1, s2 … by place; a name that comes
// again continues its session; `s3:` alone is an empty session).
//
//   r(x,1)  r(x,nil)  r(x,?)           read; of the null value; of who knows what
//   w(x,1)  i(x,1)                     write, insert
//   d(x)    d(x,9)                     delete; with a tombstone value
//   a(x,1)  l(x,[1 2])  l(x,?)         append, list read
//   range(a,c,[a=1 b=2])               range read; keys not listed were absent; a key may be
//                                      listed several times
//   cas(x,1,2)  cas!(x,1,2)            compare-and-set that succeeded, that failed
//   ()                                 no operation (an empty transaction)
//
// Before its operations a transaction may have `!` (aborted) or `?`
// (indeterminate); after them `@10-20`, its invocation and completion (`@10-`:
// the end was not seen). A text that starts with `init=0` sets the initial value,
// which is null otherwise. Words are strings, numbers integers, `:k` a keyword.
//
// A Sketch is the same thing as data: tests edit it, then build the History.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/history/history.hpp"

namespace cupel::test {

struct Atom {
  bool known = true;  // false: `?`
  history::ScalarKind kind = history::ScalarKind::kNull;
  std::int64_t integer = 0;
  std::string text = {};

  static Atom null() { return {}; }
  static Atom unknown() { return {.known = false}; }
  static Atom of(std::int64_t value) {
    return {.kind = history::ScalarKind::kInteger, .integer = value};
  }
  static Atom of(std::string_view word) {
    return {.kind = history::ScalarKind::kString, .text = std::string(word)};
  }
  [[nodiscard]] history::ScalarView view() const { return {kind, integer, text}; }
  friend auto operator<=>(const Atom&, const Atom&) = default;
};

struct SketchOp {
  history::OpKind kind = history::OpKind::kRead;
  Atom key = {};
  Atom value = {};              // also: the element, the tombstone, what a
                                // compare-and-set expects; unknown: an unknown list
  Atom desired = {};            // compare-and-set
  bool succeeded = true;        // compare-and-set
  std::vector<Atom> list = {};  // list read
  Atom low = {}, high = {};     // range read
  std::vector<std::pair<Atom, Atom>> entries = {};
  friend bool operator==(const SketchOp&, const SketchOp&) = default;
};

struct SketchTxn {
  history::TxnStatus status = history::TxnStatus::kCommitted;
  std::vector<SketchOp> ops = {};
  history::Time invoke = history::kNoTime;
  history::Time complete = history::kNoTime;
  friend bool operator==(const SketchTxn&, const SketchTxn&) = default;
};

struct SketchSession {
  std::string name;
  std::vector<SketchTxn> txns = {};
  friend bool operator==(const SketchSession&, const SketchSession&) = default;
};

struct Sketch {
  Atom initial = {};
  std::vector<SketchSession> sessions = {};
  friend bool operator==(const Sketch&, const Sketch&) = default;
};

// All throw std::invalid_argument, with the place, on a mistake in the test.
Sketch parse_sketch(std::string_view text);
history::History build(const Sketch& sketch);
history::History history_of(std::string_view text);

// The other way; parse_sketch(to_text(s)) == s.
Sketch sketch_of(const history::History& history);
std::string to_text(const Sketch& sketch);
std::string to_text(const history::History& history);

// A drift of clocks to decide it with: of every third history that has clocks.
history::Time drift_for(const history::History& history);

}  // namespace cupel::test
