// Operations that set up: what they wrote is what keys start with, to every reader; and no database
// that keeps its promise is accused, however the lines of a set-up overlap.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "certify/plain_reader.hpp"
#include "check/check.hpp"
#include "formats/jepsen_reader.hpp"
#include "formats/transaction_stream.hpp"
#include "levels/decide.hpp"
#include "online/stream.hpp"
#include "online/window.hpp"
#include "readers/agreement.hpp"
#include "support/rounds.hpp"

namespace cupel::test {
namespace {

using levels::DecisionStatus;
using levels::Level;

std::string line(const std::string& type, int process, const std::string& f,
                 const std::string& value, std::optional<int> time = {}) {
  return fmt::format(R"({{"type":"{}","process":{},"f":"{}","value":{}{}}})", type, process, f,
                     value, time ? fmt::format(R"(,"time":{})", *time) : "") +
         "\n";
}
std::string both(int process, const std::string& f, const std::string& invoked,
                 const std::string& completed, const std::string& type = "ok") {
  return line("invoke", process, f, invoked) + line(type, process, f, completed);
}
std::string read_of(int process, const std::string& key, const std::string& value) {
  return both(process, "txn", fmt::format(R"([["r",{},null]])", key),
              fmt::format(R"([["r",{},{}]])", key, value));
}

bool violated(const history::History& h, Level level) {
  base::Budget budget;
  return levels::Decider(h, 0, 1, false).decide(level, budget).status == DecisionStatus::kViolated;
}

// The number of transactions; all readers agree on them, and a watch on the verdict.
std::size_t read_by_all(const std::string& text, Level level, bool wrong) {
  const auto whole = formats::read_jepsen(text, "input", 1);
  EXPECT_TRUE(whole.ok()) << whole.error().to_string() << "\n" << text;
  if (!whole.ok()) return 0;
  const auto plain = certify::read_plainly(text, "input");
  EXPECT_TRUE(plain.ok()) << text;
  if (plain.ok()) {
    EXPECT_EQ(certify::compare(*whole, *plain), "") << text;
  }
  EXPECT_EQ(violated(*whole, level), wrong) << levels::name(level) << "\n" << text;
  EXPECT_EQ(compare_as_it_comes(text, *whole), "") << text;
  online::Window window({.level = level});
  online::Stream stream(window, "input");
  const auto taken = stream.take(text);
  EXPECT_TRUE(taken.ok() && stream.end().ok()) << text;
  base::Budget budget;
  EXPECT_EQ(window.look(budget).status == DecisionStatus::kViolated, wrong) << text;
  return whole->txn_count();
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
  EXPECT_EQ(read_by_all(line("invoke", 1, "txn", R"([["r","x",null]])") + set_up +
                            line("ok", 1, "txn", R"([["r","x",null]])"),
                        level, false),
            2u);
  EXPECT_EQ(read_by_all(read_of(1, R"("y")", "null") + set_up + missed, level, false), 3u);
  // It does more than to write.
  const std::string reads = R"([["r","x",null],["w","x",1]])";
  EXPECT_EQ(read_by_all(both(0, "init", reads, reads) + missed, level, false), 2u);
  // There is nothing else.
  EXPECT_EQ(read_by_all(set_up, level, false), 1u);
  // Another one writes the same key at the same time.
  EXPECT_EQ(read_by_all(line("invoke", 0, "init", R"(["x",1])") +
                            line("invoke", 2, "init", R"(["x",2])") +
                            line("ok", 0, "init", R"(["x",1])") +
                            line("ok", 2, "init", R"(["x",2])") + read_of(1, R"("x")", "1"),
                        Level::kStrictSerializable, false),
            3u);
}

TEST(SetUp, TimesDecideWhoHadBegun) {
  const auto text = [](int invoked) {
    return line("invoke", 0, "init", R"(["x",1])", 10) + line("ok", 0, "init", R"(["x",1])", 20) +
           line("invoke", 1, "txn", R"([["r","x",null]])", invoked) +
           line("ok", 1, "txn", R"([["r","x",null]])", 30);
  };
  EXPECT_EQ(read_by_all(text(15), Level::kStrictSerializable, false), 2u);
  EXPECT_EQ(read_by_all(text(20), Level::kReadCommitted, true), 1u);
  // What a watch has taken for initial values overlaps with an operation that comes later.
  const auto late = text(25) + line("invoke", 2, "txn", R"([["w","y",1]])", 5);
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
  EXPECT_FALSE(violated(*started, Level::kStrictSerializable));
  EXPECT_FALSE(with({"x=5"}).ok());
}

// Set-ups that overlap in any way, and a store that applies each at one moment of its own.
std::string random_run(std::uint64_t seed, bool& lost) {
  base::Random random(seed);
  struct SetUp {
    std::string value, type;
    std::map<int, int> writes;
    bool applied;
  };
  std::string text;
  std::map<int, int> store;
  std::vector<std::optional<SetUp>> open(3);
  const bool timed = random.chance(0.5);
  int now = 0;
  const auto say = [&](const std::string& type, int process, const std::string& f,
                       const std::string& value) {
    ++now;
    text += line(type, process, f, value, timed ? std::optional(now) : std::nullopt);
  };
  const auto apply = [&](SetUp& one) {
    if (one.applied || one.type == "fail") return;
    one.applied = true;
    for (const auto& [key, value] : one.writes) store[key] = value;
  };
  int next = 0;
  const auto set_up_step = [&] {
    const int process = static_cast<int>(random.below(3));
    auto& at = open[process];
    if (!at) {
      SetUp one{.value = "[",
                .type = random.chance(0.7)   ? "ok"
                        : random.chance(0.5) ? "fail"
                                             : "info",
                .writes = {},
                .applied = false};
      for (int i = 1 + static_cast<int>(random.below(2)); i > 0; --i) {
        const int key = static_cast<int>(random.below(3));
        const int value = random.chance(0.3) ? 1 : ++next + 10;
        one.writes[key] = value;
        one.value += fmt::format("{}[{},{}]", one.value.size() > 1 ? "," : "", key, value);
      }
      one.value += "]";
      say("invoke", process, "init", one.value);
      at = one;
    } else if (random.chance(0.5)) {
      if (at->type == "ok" || random.chance(0.5)) apply(*at);
    } else {
      if (at->type == "ok") apply(*at);
      say(at->type, process, "init", random.chance(0.5) ? at->value : "null");
      at.reset();
    }
  };
  for (std::uint64_t i = random.below(14); i > 0; --i) set_up_step();
  for (int i = 0; i < 6; ++i) {
    if (random.chance(0.3)) set_up_step();
    const int key = static_cast<int>(random.below(3));
    const bool write = random.chance(0.3);
    const int value = ++next + 100;
    const auto held = store.contains(key) ? std::to_string(store[key]) : "null";
    const bool loses = lost && i == 5 && !write && held != "null" && store[key] < 100;
    const std::string asks = write ? fmt::format(R"([["w",{},{}]])", key, value)
                                   : fmt::format(R"([["r",{},null]])", key);
    const std::string says =
        write ? asks : fmt::format(R"([["r",{},{}]])", key, loses ? "null" : held);
    say("invoke", 3 + i % 2, "txn", asks);
    if (write) store[key] = value;
    say("ok", 3 + i % 2, "txn", says);
    if (i == 5) lost = loses;
  }
  return text;
}

TEST(SetUp, NoSerialStoreIsAccused) {
  std::size_t contents = 0, found = 0, lost_writes = 0;
  for (std::uint64_t seed = 0; seed < rounds(1000u); ++seed) {
    bool lost = false;
    const auto text = random_run(seed, lost);
    const auto transactions = read_by_all(text, Level::kStrictSerializable, false);
    ASSERT_FALSE(HasFailure()) << seed;
    const auto whole = formats::read_jepsen(text, "input", 1);
    contents += !whole->fact("set-up").empty();
    ASSERT_GE(transactions, 6u);
    lost = true;
    const auto with_loss = random_run(seed, lost);
    if (!lost) continue;
    ++lost_writes;
    const auto read = formats::read_jepsen(with_loss, "input", 1);
    ASSERT_TRUE(read.ok());
    found += violated(*read, Level::kReadCommitted);
  }
  EXPECT_GT(contents, rounds(300u));
  EXPECT_GT(lost_writes, rounds(100u));
  EXPECT_GT(found, rounds(50u));
}

}  // namespace
}  // namespace cupel::test
