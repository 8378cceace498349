// plume text: what is read, what is refused and where, what is written.
#include "data/formats/plume.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "data/formats/formats.hpp"
#include "data/history/builder.hpp"
#include "formats/files.hpp"
#include "formats/history_text.hpp"

namespace cupel::formats {
namespace {

using namespace history;

std::string read_text(std::string_view bytes) {
  const auto history = read_plume(bytes, "f");
  return history.ok() ? text_of(*history) : history.error().to_string();
}

std::string written(const History& h) {
  std::ostringstream out;
  const auto status = write_plume(h, out);
  return status.ok() ? out.str() : "refused: " + status.error().message;
}

TEST(PlumeReader, ReadsOperationsInOrder) {
  EXPECT_EQ(read_text("w(1,2,0,7)\nr(1,2,0,7)\nr(2,0,3,8)\n"),
            "0: #7 w(1,2) r(1,2)\n3: #8 r(2,0)\n");
  EXPECT_EQ(read_text("\n w(1,2,0,7) \r\n\r\nr(1, 2, 0, 9)"), "0: #7 w(1,2) | #9 r(1,2)\n");
}

TEST(PlumeReader, ZeroIsTheInitialValue) {
  const auto h = read_plume("r(1,0,0,0)\n", "f");
  ASSERT_TRUE(h.ok());
  EXPECT_EQ(h->initial_value(KeyId(0)), h->op(OpId(0)).value);
}

TEST(PlumeReader, AKeyToWhichATransactionWritesZeroStartsAbsent) {
  const auto h = read_plume("w(1,0,0,0)\nr(1,0,1,1)\nw(2,0,1,-1)\nr(2,0,1,2)\n", "f");
  ASSERT_TRUE(h.ok());
  EXPECT_EQ(h->initial_value(KeyId(0)), h->null_value());
  EXPECT_EQ(h->value(h->initial_value(KeyId(1))), ScalarView::of(0));  // the write was aborted
}

TEST(PlumeReader, PutsTheLinesOfATransactionTogether) {
  EXPECT_EQ(read_text("w(1,1,0,0)\nw(1,2,1,1)\nr(1,2,0,0)\nw(3,3,0,2)\nr(3,3,1,1)\n"),
            "0: #0 w(1,1) r(1,2) | #2 w(3,3)\n1: #1 w(1,2) r(3,3)\n");
}

TEST(PlumeReader, ConsecutiveAbortedOperationsAreOneTransaction) {
  EXPECT_EQ(
      read_text("w(1,1,0,-1)\nw(2,1,0,-1)\nw(1,2,0,5)\nw(1,3,0,-1)\nw(1,4,1,-1)\nw(1,5,0,-1)\n"),
      "0: aborted #1 w(1,1) w(2,1) | #5 w(1,2) | aborted #4 w(1,3) w(1,5)\n1: aborted #5 w(1,4)\n");
}

TEST(PlumeReader, RefusesAnIdOfTwoSessionsNamingBothLines) {
  EXPECT_EQ(read_text("w(1,1,0,7)\nw(1,2,0,8)\nw(1,3,1,7)\n"),
            "f:3: found transaction id 7 in session 1, which another session used on line 1; "
            "expected ids that no "
            "two sessions share");
  EXPECT_EQ(read_text("w(1,1,0,7)\nw(1,2,0,8)\nw(1,3,0,7)\n"), "0: #7 w(1,1) w(1,3) | #8 w(1,2)\n");
}

TEST(PlumeReader, NamesTheLineOfWhatIsMalformed) {
  for (const std::string line :
       {"w(1,1,0)", "x(1,1,0,0)", "w(1,1,0,0", "w(1,1,0,0) x", "w 1 1", "w(1,,0,0)",
        "w(9223372036854775808,1,0,0)", "w(1,99999999999999999999,0,0)", "(", "\x01\x02"}) {
    const auto h = read_plume("w(1,1,0,0)\n" + line + "\nr(1,1,0,0)\n", "f");
    ASSERT_FALSE(h.ok()) << line;
    EXPECT_EQ(h.error().line, 2u) << line;
    EXPECT_NE(h.error().message.find("expected r(key,value,session,transaction)"),
              std::string::npos);
  }
  EXPECT_TRUE(read_plume("w(9223372036854775807,1,0,4294967294)", "f").ok());
  EXPECT_EQ(read_text("w(1,1,0,4294967295)"),
            "f:1: found the transaction id 4294967295, expected -1 (aborted) to 4294967294");
  EXPECT_FALSE(read_plume("w(1,1,0,-2)", "f").ok());
  EXPECT_FALSE(read_plume("", "f").ok());
  EXPECT_FALSE(read_plume("\n\n", "f").ok());
}

TEST(PlumeWriter, WritesBackWhatItRead) {
  const std::string text = "w(1,2,0,7)\nr(1,2,0,7)\nw(1,3,0,-1)\nr(2,0,1,8)\n";
  const auto h = read_plume(text, "f");
  ASSERT_TRUE(h.ok());
  EXPECT_EQ(written(*h), text);
}

TEST(PlumeWriter, WritesANullInitialValueAsZeroUnlessZeroIsUsed) {
  const auto history = [](std::int64_t other) {
    HistoryBuilder b;
    const auto x = b.key(1);
    b.begin(b.session("a"), TxnStatus::kCommitted, {.label = 3});
    b.read(x, b.null_value());
    b.write(x, b.value(other));
    b.end();
    return *std::move(b).finish();
  };
  EXPECT_EQ(written(history(5)), "r(1,0,0,3)\nw(1,5,0,3)\n");
  EXPECT_NE(written(history(0))
                .find("refused: T3 (session a, its 1st transaction) has an absent value of key 1"),
            std::string::npos);
}

TEST(PlumeWriter, RefusesWhatItCannotHold) {
  const auto refusal = [](auto fill, TxnStatus status = TxnStatus::kCommitted) {
    HistoryBuilder b;
    b.begin(b.session("a"), status, {.label = 3});
    fill(b);
    b.end();
    return written(*std::move(b).finish());
  };
  const auto starts = [](const std::string& text, const std::string& with) {
    return text.starts_with("refused: T3 (session a, its 1st transaction) " + with);
  };
  EXPECT_PRED2(starts, refusal([](auto& b) { b.append(b.key(1), b.value(1)); }),
               "has an operation of kind append");
  EXPECT_PRED2(starts, refusal([](auto& b) { b.write(b.key(ScalarView::of("x")), b.value(1)); }),
               "uses the key x");
  EXPECT_PRED2(starts, refusal([](auto& b) { b.write(b.key(1), b.value(ScalarView::of("x"))); }),
               "writes the value \"x\"");
  EXPECT_PRED2(starts, refusal([](auto& b) { b.read(b.key(1), ValueId::none()); }),
               "has a read of 1 whose result");
  EXPECT_PRED2(starts, refusal([](auto& b) { b.write(b.key(-1), b.value(1)); }),
               "uses the negative key -1");
  EXPECT_PRED2(starts, refusal([](auto&) {}), "has no operation");
  EXPECT_PRED2(starts,
               refusal([](auto& b) { b.write(b.key(1), b.value(1)); }, TxnStatus::kIndeterminate),
               "is indeterminate");
  EXPECT_EQ(refusal([](auto& b) { b.write(b.key(1), b.value(1)); }, TxnStatus::kAborted),
            "w(1,1,0,-1)\n");
}

TEST(PlumeRecorded, IsoVistaAndPolySI) {
  CUPEL_RECORDED(dgraph, "isovista/dgraph_si.txt");
  const auto h = read(dgraph);
  ASSERT_TRUE(h.ok()) << h.error().to_string();
  EXPECT_EQ(h->metadata().at("format"), "plume");
  EXPECT_EQ(h->op_count(), 10600u);
  for (const char* file :
       {"isovista/pg_ser_bug.txt", "isovista/yugabyte_tcc.txt",
        "polysi/violations/galera/galera.txt", "polysi/violations/yugabyte/yugabyte.txt"}) {
    const auto other = read(recorded(file));
    ASSERT_TRUE(other.ok()) << other.error().to_string();
    const auto back = read_plume(written(*other), "back");
    ASSERT_TRUE(back.ok()) << back.error().to_string();
    // Sessions are numbered anew, by first appearance.
    EXPECT_EQ(back->txn_count(), other->txn_count());
    EXPECT_EQ(back->op_count(), other->op_count());
  }
}

}  // namespace
}  // namespace cupel::formats
