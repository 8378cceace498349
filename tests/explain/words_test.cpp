// Words: operations, lists and numbers as phrases.
#include "explain/words.hpp"

#include <gtest/gtest.h>

#include "support/history_language.hpp"

namespace cupel::explain {
namespace {

using test::history_of;

TEST(Words, Durations) {
  EXPECT_EQ(duration(350), "350 ns");
  EXPECT_EQ(duration(1500), "1.5 us");
  EXPECT_EQ(duration(2'000'000), "2 ms");
  EXPECT_EQ(duration(90'000'000'000), "90 s");
}

TEST(Words, EveryKindOfOperation) {
  const auto h = history_of(
      "a: r(x,1) w(x,2) i(y,3) d(y) cas(x,2,4) cas!(x,9,5) range(x,z,[x=4]) r(x,?) ; a(l,1) l(l,[1 "
      "2]) l(l,?)");
  const TxnId both[] = {TxnId(0), TxnId(1)};
  Words w(h, both);
  const auto x = h.op(OpId(0)).key, y = h.op(OpId(2)).key, l = h.op(OpId(8)).key;
  EXPECT_EQ(w.read_clause(OpId(0), x), "read x = 1");
  EXPECT_EQ(w.write_clause(OpId(1)), "wrote x = 2");
  EXPECT_EQ(w.write_clause(OpId(2)), "inserted y = 3");
  EXPECT_EQ(w.write_clause(OpId(3)), "deleted y");
  EXPECT_EQ(w.read_clause(OpId(4), x), "found x = 2 and set it to 4");
  EXPECT_EQ(w.write_clause(OpId(4)), "set x from 2 to 4");
  EXPECT_EQ(w.read_clause(OpId(5), x), "found x to be something else than 9");
  EXPECT_EQ(w.read_clause(OpId(6), x), "read the range x to z and saw x = 4");
  EXPECT_EQ(w.read_clause(OpId(6), y), "read the range x to z and saw no y");
  EXPECT_EQ(w.read_clause(OpId(7), x), "read x = an unknown value");
  EXPECT_EQ(w.write_clause(OpId(8)), "appended 1 to l");
  EXPECT_EQ(w.read_clause(OpId(9), l), "read l = [1 2]");
  EXPECT_EQ(w.read_clause(OpId(10), l), "read l");
  EXPECT_EQ(w.version(OpId(8), l), "1 in the list l");
  EXPECT_EQ(w.version(OpId(4), x), "x = 4");
  EXPECT_EQ(w.version(OpId::none(), x), "x = null");
  EXPECT_EQ(w.find_read(TxnId(0), x), OpId(0));
  EXPECT_EQ(w.find_write(TxnId(0), x), OpId(4));
  EXPECT_EQ(w.find_read(TxnId(1), l), OpId::none());  // it wrote the list first
  EXPECT_EQ(w.find_read(TxnId::none(), x), OpId::none());
}

TEST(Words, ListsAreCutToWhatMatters) {
  std::string list;
  for (int i = 1; i <= 40; ++i) list += (i == 1 ? "" : " ") + std::to_string(i);
  const auto h = history_of("a: l(x,[" + list + "]) | b: a(x,20)");
  Words w(h, {});
  const auto focus = h.op(OpId(1)).value;
  EXPECT_EQ(w.read_clause(OpId(0), h.op(OpId(0)).key, std::span(&focus, 1)),
            "read x = [... 18 19 20 21 22 ... 38 39 40] (40 elements)");
}

TEST(Words, StringsAreQuotedAndNumbersAreNot) {
  const auto h = history_of("a: w(x,1) w(x,abc) cas(x,abc,d)");
  Words w(h, {});
  EXPECT_EQ(w.write_clause(OpId(0)), "wrote x = 1");
  EXPECT_EQ(w.write_clause(OpId(1)), "wrote x = \"abc\"");
  EXPECT_EQ(w.write_clause(OpId(2)), "set x from \"abc\" to \"d\"");
}

TEST(Words, WhatWasSeenWithoutWhatWasWritten) {
  const auto h = history_of("a: r(x,1) cas(x,2,4) range(x,z,[x=4]) ; l(l,[1 2]) l(l,?)");
  Words w(h, {});
  const auto x = h.op(OpId(0)).key, l = h.op(OpId(3)).key;
  EXPECT_EQ(w.seen(OpId(0), x), "1");
  EXPECT_EQ(w.seen(OpId(1), x), "2");
  EXPECT_EQ(w.seen(OpId(2), x), "4");
  EXPECT_EQ(w.seen(OpId(2), l), "nothing");
  EXPECT_EQ(w.seen(OpId(3), l), "[1 2]");
  EXPECT_EQ(w.seen(OpId(4), l), "an unknown list");
}

TEST(Words, LongTextsAreCut) {
  const auto h = history_of("a: w(x," + std::string(100, 'y') + ")");
  Words w(h, {});
  EXPECT_EQ(w.write_clause(OpId(0)), "wrote x = \"" + std::string(45, 'y') + "\"...");
}

TEST(Words, TransactionsAreShownWithWhatMatters) {
  const auto h = history_of("a: r(x,1) ; r(a,1) r(b,1) r(c,1) r(d,1) r(e,1) w(f,1)");
  const TxnId both[] = {TxnId(0), TxnId(1)};
  Words w(h, both);
  w.read_clause(OpId(3), h.op(OpId(3)).key);
  EXPECT_EQ(w.line(TxnId(0), 2), "T0  session a, its 1st transaction: read x = 1");
  EXPECT_EQ(w.line(TxnId(1), 2),
            "T1  session a, its 2nd transaction: read c = 1; 1 of its 6 operations");
}

}  // namespace
}  // namespace cupel::explain
