// Words: operations, lists and numbers as phrases.
#include "engine/explain/why/words.hpp"

#include <gtest/gtest.h>

#include "data/history/mask.hpp"
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

// As in a history that still grows, whose open compare-and-sets leave reads unknown.
TEST(Words, ARangeReadOfUnknownAnswerHasNoKey) {
  const OpId ranges[] = {OpId(1)};
  const auto h = history::with_unknown(history_of("a: w(x,2) range(x,z,[x=2])"), ranges);
  const TxnId only[] = {TxnId(0)};
  Words w(h, only);
  static_cast<void>(w.txn(TxnId(0)));
  const auto listing = w.listing(4, 4);
  EXPECT_NE(listing.find("write x = 2, read a range = an unknown value"), std::string::npos)
      << listing;
}

TEST(Words, ListsAreCutToWhatMatters) {
  std::string list;
  for (int i = 1; i <= 40; ++i) list += (i == 1 ? "" : " ") + std::to_string(i);
  const auto h = history_of("a: l(x,[" + list + "]) | b: a(x,20)");
  Words w(h, {});
  const auto focus = h.op(OpId(1)).value;
  EXPECT_EQ(w.read_clause(OpId(0), h.op(OpId(0)).key, std::span(&focus, 1)),
            "read x = [...+17 18 19 20 21 22 ...+18]");
  // Nothing of it matters more than its end.
  EXPECT_EQ(w.read_clause(OpId(0), h.op(OpId(0)).key), "read x = [...+37 38 39 40]");
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
  EXPECT_EQ(w.operations(TxnId(0)), "read x = 1");
  EXPECT_EQ(w.details(TxnId(0)), "session a, 1st transaction");
  EXPECT_EQ(w.operations(TxnId(1)), "read c = 1, +5 more");
  w.txn(TxnId(0));
  w.txn(TxnId(1));
  EXPECT_EQ(w.listing(9, 2),
            "\n  T0 = read x = 1             session a, 1st transaction"
            "\n  T1 = read c = 1, +5 more    session a, 2nd transaction");
  EXPECT_EQ(w.listing(1, 2),
            "\n  T0 = read x = 1    session a, 1st transaction"
            "\n  ... and 1 more");
}

TEST(Words, WhatAnOperationDidAsAThing) {
  const auto h = history_of(
      "init=0 a: r(x,1) w(x,2) i(y,3) d(y) cas(x,2,4) cas!(x,9,5) range(x,z,[x=4]) ; a(l,1) l(l,[1 "
      "2]) l(l,?)");
  Words w(h, {});
  const auto x = h.op(OpId(0)).key, y = h.op(OpId(2)).key, l = h.op(OpId(7)).key;
  EXPECT_EQ(w.answer(OpId(0), x), "read 1");
  EXPECT_EQ(w.write_noun(OpId(1)), "write of 2 to x");
  EXPECT_EQ(w.write_noun(OpId(2)), "insert of y = 3");
  EXPECT_EQ(w.write_noun(OpId(3)), "delete of y");
  EXPECT_EQ(w.write_noun(OpId(4)), "compare-and-set of x from 2 to 4");
  EXPECT_EQ(w.answer(OpId(4), x), "found 2");
  EXPECT_EQ(w.answer(OpId(5), x), "found something else than 9");
  EXPECT_EQ(w.answer(OpId(6), x), "found x = 4 from x to z");
  EXPECT_EQ(w.answer(OpId(6), y), "found no y from x to z");
  EXPECT_EQ(w.write_noun(OpId(7)), "append of 1 to l");
  EXPECT_EQ(w.answer(OpId(8), l), "read [1 2]");
  EXPECT_EQ(w.answer(OpId(9), l), "read it");
  EXPECT_EQ(w.versions_owner(TxnId(0), OpId::none(), x), "T0's 4");
  EXPECT_EQ(w.versions_owner(TxnId(0), OpId::none(), y), "T0's delete");
  EXPECT_EQ(w.versions_owner(TxnId::none(), OpId::none(), x), "the initial 0");
  EXPECT_EQ(w.versions_owner(TxnId::none(), OpId::none(), l), "the empty list");
}

TEST(Words, TimesAreShownAsTheyWereRecorded) {
  EXPECT_EQ(moment(350), "350 ns");
  EXPECT_EQ(moment(12'503), "12.503 us");
  EXPECT_EQ(moment(12'503'441), "12.503441 ms");
  EXPECT_EQ(moment(12'000'000'000), "12 s");
  EXPECT_EQ(moment(-20), "-20 ns");
  EXPECT_EQ(moment(350, 12'503), "0.350 us");
  EXPECT_EQ(moment(1'700'000'000'250'000'000), "2023-11-14 22:13:20.250 UTC");
  const auto h =
      history_of("a: r(x,1) @20-40 ; r(x,1) @20000-40000 | b: r(x,1) @5-9 | c: ? w(x,1) @10-");
  Words w(h, {});
  EXPECT_EQ(w.details(TxnId(0)), "session a, 1st transaction, 20 to 40 ns");
  EXPECT_EQ(w.details(TxnId(1)), "session a, 2nd transaction, 20 to 40 us");
  EXPECT_EQ(w.details(TxnId(3)), "session c, 1st transaction, indeterminate, from 10 ns on");
}

// A part of a history: places and numbers are those of the whole, and what else the
// source said of a transaction stands at its end.
TEST(Words, AreOfTheWholeHistory) {
  const auto whole = history_of("a: w(y,1) ; r(x,1) r(y,1) w(z,1) | b: w(x,1)");
  const auto part = history_of("a: r(x,1) | b: w(x,1)");
  const TxnId origin[] = {TxnId(1), TxnId(2)};
  const FieldsByLabel fields = {{part.label(TxnId(1)), {{"node", "\"n3\""}, {"link", "7"}}}};
  Words w(part, {}, {.origin = Origin{whole, origin}, .fields = &fields});
  EXPECT_EQ(w.details(TxnId(0)), "session a, 2nd transaction");
  EXPECT_EQ(w.operations(TxnId(0)), "read x = 1, +2 more");
  EXPECT_EQ(w.details(TxnId(1)), "session b, 1st transaction, node = \"n3\", link = 7");
}

TEST(Words, ListStatementsOnLinesOfTheirOwn) {
  const auto whole = history_of("a: r(x,0) w(x,1)");
  FieldsByLabel fields;
  auto& known = fields[whole.label(TxnId(0))];
  known = {{"statement", "SELECT 1"}, {"statement", "SELECT 2"}, {"statement", "SELECT 3"}};
  const Words w(whole, {}, {.fields = &fields});
  EXPECT_EQ(w.details(TxnId(0)), "session a, 1st transaction");
  using Lines = std::vector<std::string>;
  EXPECT_EQ(w.statements(TxnId(0), 3), (Lines{"SELECT 1", "SELECT 2", "SELECT 3"}));
  EXPECT_EQ(w.statements(TxnId(0), 2), (Lines{"SELECT 1", "SELECT 2", "+1 more statement"}));
  EXPECT_EQ(w.statements(TxnId(0), 1), (Lines{"SELECT 1", "+2 more statements"}));
}

}  // namespace
}  // namespace cupel::explain
