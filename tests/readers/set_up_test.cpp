// Operations that set up: what they wrote is what keys start with, to every reader; and no database
// that keeps its promise is accused, however the lines of a set-up overlap.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "data/formats/formats.hpp"
#include "data/formats/jepsen_reader.hpp"
#include "engine/online/stream.hpp"
#include "engine/online/window.hpp"
#include "readers/agreement.hpp"
#include "readers/set_up_agreement.hpp"
#include "support/rounds.hpp"

namespace cupel::test {
namespace {

using levels::Level;

std::string both(int process, const std::string& f, const std::string& invoked,
                 const std::string& completed, const std::string& type = "ok") {
  return op_line("invoke", process, f, invoked) + op_line(type, process, f, completed);
}
std::string read_of(int process, const std::string& key, const std::string& value) {
  return both(process, "txn", fmt::format(R"([["r",{},null]])", key),
              fmt::format(R"([["r",{},{}]])", key, value));
}

// The number of transactions; all readers agree on them and on the verdict.
std::size_t read_by_all(const std::string& text, Level level, bool wrong) {
  std::size_t transactions = 0;
  EXPECT_EQ(compare_readers(text, level, wrong, transactions), "");
  return transactions;
}

TEST(SetUp, ALostWriteIsAViolation) {
  for (const Level level : {Level::kReadCommitted, Level::kCausal, Level::kStrictSerializable}) {
    for (const auto* f : {"init", "setup"}) {
      for (const auto* value : {R"(["x",1])", R"([["x",1],["y",2]])", R"({"x":1,"y":2})",
                                R"([["w","x",1],["insert","y",2]])"}) {
        const auto set_up = both(0, f, value, value);
        // Whoever wrote it, also the reader itself.
        for (const int process : {0, 1}) {
          EXPECT_EQ(read_by_all(set_up + read_of(process, R"("x")", "1"), level, false), 1u);
          EXPECT_EQ(read_by_all(set_up + read_of(process, R"("x")", "null"), level, true), 1u);
        }
      }
    }
    const auto registers = both(0, "init", "5", "5");
    EXPECT_EQ(read_by_all(registers + both(1, "read", "null", "5"), level, false), 1u);
    EXPECT_EQ(read_by_all(registers + both(1, "read", "null", "null"), level, true), 1u);
  }
}

TEST(SetUp, AFailedWriteNeverHappenedAndAnUnknownOneMayHave) {
  const Level level = Level::kStrictSerializable;
  const auto with = [&](const std::string& type, const std::string& seen, bool wrong) {
    return read_by_all(both(0, "init", R"(["x",1])", "null", type) + read_of(1, R"("x")", seen),
                       level, wrong);
  };
  EXPECT_EQ(with("fail", "null", false), 2u);
  EXPECT_EQ(with("fail", "1", true), 2u);
  EXPECT_EQ(with("info", "null", false), 2u);
  EXPECT_EQ(with("info", "1", false), 2u);
}

TEST(SetUp, InDoubtItIsATransaction) {
  const Level level = Level::kReadCommitted;  // where a transaction may be missed
  const auto set_up = both(0, "init", R"(["x",1])", R"(["x",1])");
  const auto missed = read_of(1, R"("x")", "null");
  // Somebody else had begun.
  EXPECT_EQ(read_by_all(op_line("invoke", 1, "txn", R"([["r","x",null]])") + set_up +
                            op_line("ok", 1, "txn", R"([["r","x",null]])"),
                        level, false),
            2u);
  EXPECT_EQ(read_by_all(read_of(1, R"("y")", "null") + set_up + missed, level, false), 3u);
  // It does more than to write.
  const std::string reads = R"([["r","x",null],["w","x",1]])";
  EXPECT_EQ(read_by_all(both(0, "init", reads, reads) + missed, level, false), 2u);
  // There is nothing else.
  EXPECT_EQ(read_by_all(set_up, level, false), 1u);
  // Another one writes the same key at the same time.
  EXPECT_EQ(read_by_all(op_line("invoke", 0, "init", R"(["x",1])") +
                            op_line("invoke", 2, "init", R"(["x",2])") +
                            op_line("ok", 0, "init", R"(["x",1])") +
                            op_line("ok", 2, "init", R"(["x",2])") + read_of(1, R"("x")", "1"),
                        Level::kStrictSerializable, false),
            3u);
}

TEST(SetUp, TimesDecideWhoHadBegun) {
  const auto text = [](int invoked) {
    return op_line("invoke", 0, "init", R"(["x",1])", 10) +
           op_line("ok", 0, "init", R"(["x",1])", 20) +
           op_line("invoke", 1, "txn", R"([["r","x",null]])", invoked) +
           op_line("ok", 1, "txn", R"([["r","x",null]])", 30);
  };
  EXPECT_EQ(read_by_all(text(15), Level::kStrictSerializable, false), 2u);
  EXPECT_EQ(read_by_all(text(20), Level::kReadCommitted, true), 1u);
  // What a watch has taken for initial values overlaps with an operation that comes later.
  const auto late = text(25) + op_line("invoke", 2, "txn", R"([["w","y",1]])", 5);
  online::Window window({.level = Level::kCausal});
  online::Stream stream(window, "input");
  const auto taken = stream.take(late);
  ASSERT_FALSE(taken.ok());
  EXPECT_NE(taken.error().to_string().find("input:5: found an operation invoked at 5, before"),
            std::string::npos)
      << taken.error().to_string();
  const auto whole = formats::read_jepsen(late, "input", 1);
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole->txn_count(), 3u);
}

TEST(SetUp, SaysHowManyItWereAndKeepsThemBesideInitialValues) {
  const auto text = both(0, "init", R"(["x",1])", R"(["x",1])") + read_of(1, R"("x")", "1") +
                    read_of(1, R"("y")", "0");
  const auto whole = formats::read_jepsen(text, "input", 1);
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole->fact("kind"), "transactions, and 1 set-up operation as initial values");
  const auto with = [&](const std::vector<std::string>& texts) {
    const auto values = formats::parse_initial_values(texts);
    EXPECT_TRUE(values.ok());
    return formats::with_initial_values(*whole, *values);
  };
  const auto started = with({"0"});
  ASSERT_TRUE(started.ok()) << started.error().to_string();
  EXPECT_FALSE(is_violated(*started, Level::kStrictSerializable));
  EXPECT_FALSE(with({"x=5"}).ok());
}

TEST(SetUp, NoSerialStoreIsAccused) {
  SetUpAgreement agreement;
  EXPECT_EQ(first_difference(agreement, 0, rounds(1000u)), "");
  const auto& tally = agreement.tally();
  EXPECT_GT(tally.contents, rounds(300u));
  EXPECT_GT(tally.lost_writes, rounds(100u));
  EXPECT_GT(tally.found, rounds(50u));
}

}  // namespace
}  // namespace cupel::test
