// The lines of a history, through a stream and a window, give the verdicts of a check of the
// file; and what a stream refuses.
#include "engine/online/stream.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/read_file.hpp"
#include "base/temp_dir.hpp"
#include "base/verdict.hpp"
#include "data/formats/formats.hpp"
#include "data/history/mask.hpp"
#include "engine/levels/decide.hpp"
#include "engine/online/window.hpp"
#include "property/random_history.hpp"
#include "support/rounds.hpp"

namespace cupel::online {
namespace {

using base::Verdict;
using levels::Level;

// In pieces of some lines, with a look after each.
struct Fed {
  base::Status status = base::Ok{};
  Look look;
  Held held;
};
Fed feed(Level level, std::string_view text, std::size_t lines_at_once,
         const std::vector<history::ScalarView>& masked = {}) {
  Window window({.level = level});
  Stream stream(window, "test");
  for (const auto& key : masked) stream.mask(key);
  base::Budget budget;
  Fed fed;
  while (!text.empty()) {
    std::size_t end = 0;
    for (std::size_t i = 0; i < lines_at_once && end < text.size(); ++i) {
      end = std::min(text.find('\n', end), text.size() - 1) + 1;
    }
    fed.status = stream.take(text.substr(0, end));
    if (!fed.status.ok()) return fed;
    text.remove_prefix(end);
    if (!text.empty()) continue;
    fed.status = stream.end();
    fed.look = window.look(budget);
  }
  fed.held = window.held();
  return fed;
}

// Of random histories of every kind. `mask`: what is seen of every other key counts as unknown.
void expect_the_verdict_of_the_file(bool mask) {
  const auto folder = base::TempDir::make("cupel-test-");
  ASSERT_TRUE(folder.ok());
  const auto file = folder->file("history.jsonl");
  std::size_t compared = 0, violated = 0;
  for (std::uint64_t seed = 0; seed < test::rounds(400u); ++seed) {
    const auto sketch = test::random_sketch(test::kind_of_seed(seed), seed);
    const auto history = test::build(sketch);
    if (!formats::write(history, file, {}).ok()) continue;
    const auto read = formats::read(file);
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    const auto bytes = base::read_file(file);
    ASSERT_TRUE(bytes.ok());
    std::vector<history::ScalarView> masked;
    history::ScalarTable names;
    for (std::uint32_t k = seed % 2; mask && k < read->key_count(); k += 2) {
      masked.push_back(read->key(history::KeyId(k)));
      names.find_or_add(masked.back());
    }
    const auto known = history::with_unknown(*read, history::operations_on(*read, names));
    for (const Level level :
         {Level::kCausal, Level::kStrongSessionSerializable, Level::kStrictSerializable}) {
      levels::Decider decider(known, 0, 1, false);
      base::Budget budget;
      const auto whole = decider.decide(level, budget).status;
      if (whole == Verdict::kRefused) continue;
      const auto fed = feed(level, *bytes, 1 + seed % 7, masked);
      if (!fed.status.ok()) {
        // Histories without times have no invocations.
        ASSERT_NE(fed.status.error().message.find("without an invocation"), std::string::npos)
            << fed.status.error().to_string() << "\n"
            << *bytes;
        continue;
      }
      ASSERT_EQ(static_cast<int>(fed.look.status), static_cast<int>(whole))
          << "seed " << seed << " " << levels::name(level) << "\n"
          << test::to_text(sketch);
      ++compared;
      violated += whole == Verdict::kViolated;
    }
  }
  EXPECT_GT(compared, test::rounds(200u));
  EXPECT_GT(violated, test::rounds(mask ? 25u : 50u));
}

TEST(OnlineStream, LinesGiveTheVerdictOfTheFile) {
  expect_the_verdict_of_the_file(/*mask=*/false);
}

// A look after each completion, as of a watch of a file that grows slowly.
Look look_after_each_completion(Window& window, std::string_view text) {
  Stream stream(window, "test");
  base::Budget budget;
  Look look;
  while (!text.empty() && look.status == Verdict::kSatisfied) {
    const auto end = text.find('\n') + 1;
    const auto line = text.substr(0, end);
    const auto taken = stream.take(line);
    EXPECT_TRUE(taken.ok()) << taken.error().to_string();
    text.remove_prefix(end);
    if (line.find("invoke") == std::string_view::npos) look = window.look(budget);
  }
  return look;
}

TEST(OnlineStream, NullIsNoReadOfAListWhoseAppendsAreForgotten) {
  for (const auto* seen : {"null", "[]"}) {
    Window window({.level = Level::kCausal});
    const auto look = look_after_each_completion(
        window, fmt::format(
                    R"({{"type":"invoke","process":0,"f":"txn","value":[["append","x",1]],"time":5}}
{{"type":"ok","process":0,"f":"txn","value":[["append","x",1]],"time":6}}
{{"type":"invoke","process":0,"f":"txn","value":[["r","x",null]],"time":10}}
{{"type":"ok","process":0,"f":"txn","value":[["r","x",{}]],"time":12}}
)",
                    seen));
    EXPECT_EQ(look.status, Verdict::kViolated) << seen;
    EXPECT_TRUE(look.sure) << seen;
    EXPECT_EQ(window.held().forgotten, 1u);
  }
}

// Registers start with 0 here, and lists empty. What x is, is known by the next transaction.
TEST(OnlineStream, NullMayBeReadOfAListThatIsNotKnownYet) {
  const std::string_view begin =
      R"({"type":"info","process":"nemesis","f":"cupel.initial","value":[0,[]]}
{"type":"invoke","process":0,"f":"txn","value":[["r","x",null]],"time":1}
{"type":"ok","process":0,"f":"txn","value":[["r","x",null]],"time":2}
{"type":"invoke","process":0,"f":"txn","value":[["w","y",1]],"time":3}
{"type":"ok","process":0,"f":"txn","value":[["w","y",1]],"time":4}
)";
  const auto next = [&](std::string_view operation) {
    return std::string(begin) +
           fmt::format(R"({{"type":"invoke","process":0,"f":"txn","value":[{0}],"time":5}}
{{"type":"ok","process":0,"f":"txn","value":[{0}],"time":6}}
)",
                       operation);
  };
  for (const auto level :
       {Level::kCausal, Level::kStrongSessionSnapshotIsolation, Level::kStrictSerializable}) {
    Window list({.level = level});
    EXPECT_EQ(look_after_each_completion(list, begin).status, Verdict::kSatisfied);
    base::Budget budget;
    EXPECT_EQ(list.look(budget, /*ended=*/true).status, Verdict::kViolated);
    Window appended({.level = level});
    EXPECT_EQ(look_after_each_completion(appended, next(R"(["append","x",1])")).status,
              Verdict::kSatisfied);
    EXPECT_EQ(appended.look(budget, /*ended=*/true).status, Verdict::kSatisfied);
    EXPECT_GT(appended.held().forgotten, 0u);
    Window written({.level = level});
    EXPECT_EQ(look_after_each_completion(written, next(R"(["w","x",1])")).status,
              Verdict::kViolated);
    // What y is was known before its writer was forgotten.
    Window known({.level = level});
    EXPECT_EQ(look_after_each_completion(known, next(R"(["r","y",null])")).status,
              Verdict::kViolated);
  }
}

constexpr std::string_view kKeyThatComesLater =
    R"({"type":"info","process":"nemesis","f":"cupel.initial","value":[1,[]]}
{"type":"invoke","process":0,"f":"txn","value":[["range",[2,2],null]],"time":463}
{"type":"ok","process":0,"f":"txn","value":[["range",[2,2],[]]],"time":575}
{"type":"invoke","process":0,"f":"txn","value":[["w",1,100]],"time":591}
{"type":"ok","process":0,"f":"txn","value":[["w",1,100]],"time":981}
{"type":"invoke","process":0,"f":"txn","value":[["r",2,null]],"time":1262}
{"type":"ok","process":0,"f":"txn","value":[["r",2,1]],"time":1447}
)";

TEST(OnlineStream, AForgottenRangeMissedAKeyThatComesLater) {
  Window window({.level = Level::kStrictSerializable});
  const auto look = look_after_each_completion(window, kKeyThatComesLater);
  EXPECT_EQ(look.status, Verdict::kViolated);
  EXPECT_TRUE(look.sure);
  EXPECT_GT(window.held().forgotten, 0u);
  base::Budget budget;
  levels::Decider decider(window.history(), 0, 1, false);
  EXPECT_EQ(decider.decide(Level::kReadCommitted, budget).status, Verdict::kViolated);
  // Without real time, somebody may have deleted the key: the record is asked.
  Window causal({.level = Level::kCausal});
  const auto asks = look_after_each_completion(causal, kKeyThatComesLater);
  EXPECT_EQ(asks.status, Verdict::kViolated);
  EXPECT_FALSE(asks.sure);
  // In the range of no forgotten read.
  std::string other(kKeyThatComesLater);
  for (std::size_t at; (at = other.find("[2,2]")) != std::string::npos;)
    other.replace(at, 5, "[5,9]");
  Window satisfied({.level = Level::kStrictSerializable});
  EXPECT_EQ(look_after_each_completion(satisfied, other).status, Verdict::kSatisfied);
}

TEST(OnlineStream, AWindowThatIsGivenUpTakesItsForgottenRangesAlong) {
  // The key that the forgotten range read lacked comes with the last transaction.
  const auto last =
      kKeyThatComesLater.find(R"({"type":"invoke","process":0,"f":"txn","value":[["r")");
  Window window({.level = Level::kStrictSerializable});
  const auto before = look_after_each_completion(window, kKeyThatComesLater.substr(0, last));
  ASSERT_EQ(before.status, Verdict::kSatisfied);
  ASSERT_GT(window.held().forgotten, 0u);
  window.give_up(Level::kStrictSerializable, 50);
  const auto after = look_after_each_completion(window, kKeyThatComesLater.substr(last));
  EXPECT_EQ(after.status, Verdict::kSatisfied) << after.detail;
}

TEST(OnlineStream, AForgottenListMissesInNoRange) {
  for (const auto* seen : {"[]", "[[4,7]]"}) {
    for (const auto* range : {"[1,9]", "[null,9]", "[3,4]", "[6,null]"}) {
      Window window({.level = Level::kCausal});
      const auto look = look_after_each_completion(
          window,
          fmt::format(
              R"({{"type":"invoke","process":0,"f":"txn","value":[["append",5,1],["w",4,7]],"time":5}}
{{"type":"ok","process":0,"f":"txn","value":[["append",5,1],["w",4,7]],"time":6}}
{{"type":"invoke","process":0,"f":"txn","value":[["range",{0},null]],"time":10}}
{{"type":"ok","process":0,"f":"txn","value":[["range",{0},{1}]],"time":12}}
)",
              range, seen));
      const std::string_view bounds(range);
      const bool missed = bounds == "[1,9]" || bounds == "[null,9]";
      const bool wrong = missed || (bounds == "[3,4]" && std::string_view(seen) == "[]");
      EXPECT_EQ(look.status, wrong ? Verdict::kViolated : Verdict::kSatisfied)
          << range << " " << seen;
      EXPECT_TRUE(look.sure);
      EXPECT_GE(window.held().forgotten, 1u);
    }
  }
}

TEST(OnlineStream, AClockDriftNeedsTimes) {
  const std::string_view lines =
      R"({"type":"invoke","process":0,"f":"txn","value":[["w","x",1]]}
)";
  for (const history::Time drift : {0, 1'000'000}) {
    Window window({.level = Level::kStrictSerializable, .drift = drift});
    Stream stream(window, "test");
    const auto taken = stream.take(lines);
    EXPECT_EQ(taken.ok(), drift == 0);
    if (!taken.ok()) {
      EXPECT_NE(taken.error().message.find("needs times"), std::string::npos);
    }
  }
}

TEST(OnlineStream, MaskedKeysCountAsUnknown) {
  expect_the_verdict_of_the_file(/*mask=*/true);
}

std::string error_of(Level level, std::string_view text) {
  const auto fed = feed(level, text, 1);
  return fed.status.ok() ? "" : fed.status.error().to_string();
}

TEST(OnlineStream, RegistersOfSingleOperations) {
  constexpr std::string_view kGood =
      R"({"type":"invoke","process":0,"f":"write","value":1,"time":1}
{"type":"ok","process":0,"f":"write","value":1,"time":2}
{"type":"invoke","process":1,"f":"cas","value":[1,2],"time":3}
{"type":"ok","process":1,"f":"cas","value":[1,2],"time":4}
{"type":"invoke","process":0,"f":"read","value":null,"time":5}
{"type":"ok","process":0,"f":"read","value":2,"time":6}
)";
  EXPECT_EQ(feed(Level::kLinearizable, kGood, 1).look.status, Verdict::kSatisfied);
  std::string bad(kGood);
  bad.replace(bad.rfind("\"value\":2"), 9, "\"value\":1");
  EXPECT_EQ(feed(Level::kLinearizable, bad, 1).look.status, Verdict::kViolated);
}

TEST(OnlineStream, RefusesWhatNeedsTheWholeFile) {
  EXPECT_NE(error_of(Level::kCausal, R"({"type":"invoke","process":0,"f":"put","key":1,"value":"a"}
)")
                .find("cupel check"),
            std::string::npos);
  EXPECT_NE(error_of(Level::kCausal, R"({"type":"ok","f":"txn","value":[["w","x",1]]}
)")
                .find("without a process"),
            std::string::npos);
  EXPECT_NE(
      error_of(Level::kCausal, R"({"type":"invoke","process":0,"f":"txn","value":[["w","x",1]]}
{"type":"invoke","process":0,"f":"txn","value":[["w","x",2]]}
)")
          .find("test:2:"),
      std::string::npos);
  EXPECT_NE(
      error_of(Level::kCausal, R"({"type":"invoke","process":0,"f":"txn","value":[["append","x",1]]}
{"type":"invoke","process":1,"f":"txn","value":[["w","x",2]]}
)")
          .find("used both as a list"),
      std::string::npos);
  for (const char* ops :
       {R"(["append",5,1],["range",[1,9],[[5,[1]]]])", R"(["w",1,1],["range",[1,9],[[5,[]]]])",
        R"(["w",1,[7]],["range",[1,9],[[1,[7]],[5,[]]]])"}) {
    std::string lines;
    for (const char* type : {"invoke", "ok"}) {
      lines += std::string(R"({"type":")") + type + R"(","process":0,"f":"txn","value":[)" + ops +
               "]}\n";
    }
    EXPECT_NE(error_of(Level::kCausal, lines).find("range read cannot return a list"),
              std::string::npos)
        << ops;
  }
  EXPECT_NE(error_of(Level::kCausal, R"({"type":"ok","process":0,"f":"txn","value":[["r","x",1]]}
)")
                .find("without an invocation"),
            std::string::npos);
  EXPECT_NE(error_of(Level::kCausal, "{\"type\":\"ok\",\n").find("test:1"), std::string::npos);
}

// An invocation without operations agrees with every completion, so what it writes may be read
// before anything is known of it.
TEST(OnlineStream, AnOpenTransactionWithoutOperationsMayHaveWrittenAnything) {
  const std::string lines = R"({"type":"invoke","process":0,"f":"txn","value":[]}
{"type":"invoke","process":1,"f":"txn","value":[["r","x",null]]}
{"type":"ok","process":1,"f":"txn","value":[["r","x",2]]}
)";
  for (const Level level : {Level::kReadCommitted, Level::kCausal, Level::kSerializable}) {
    for (const bool ends : {true, false}) {
      Window window({.level = level});
      Stream stream(window, "test");
      base::Budget budget;
      ASSERT_TRUE(stream.take(lines).ok());
      EXPECT_EQ(window.look(budget).status, Verdict::kSatisfied) << levels::name(level);
      if (ends) {
        ASSERT_TRUE(stream
                        .take(R"({"type":"ok","process":0,"f":"txn","value":[["w","x",2]]}
)")
                        .ok());
      }
      ASSERT_TRUE(stream.end().ok());
      EXPECT_EQ(window.look(budget, /*ended=*/true).status,
                ends ? Verdict::kSatisfied : Verdict::kUnknown)
          << levels::name(level);
    }
  }
}

// Alone, and beside its invocation in one piece, which other code compares.
TEST(OnlineStream, RefusesACompletionThatWritesSomethingElse) {
  const auto found = [](const std::string& invoked, const std::string& type,
                        const std::string& completed, std::size_t lines, const char* f = "txn") {
    const auto line = [&](const std::string& kind, const std::string& value) {
      return R"({"type":")" + kind + R"(","process":0,"f":")" + f + R"(","value":)" + value + "}\n";
    };
    const auto fed = feed(Level::kCausal, line("invoke", invoked) + line(type, completed), lines);
    return fed.status.ok() ? std::string("read") : fed.status.error().to_string();
  };
  for (const std::size_t lines : {1, 2}) {
    for (const std::string type : {"ok", "fail", "info"}) {
      EXPECT_EQ(found(R"([["w","x",1]])", type, R"([["w","y",2]])", lines),
                "test:2: the \"" + type +
                    "\" has other operations than its invocation. Record in both lines what the "
                    "client asked for" +
                    (type == "ok" ? "" : ", or leave the operations out of this one"));
      EXPECT_EQ(found(R"([["r","x",null],["delete","y",null]])", type,
                      R"([["r","x",1],["r","y",null]])", lines),
                "read");
      EXPECT_EQ(found("[]", type, R"([["w","y",2]])", lines), "read");
      EXPECT_EQ(found(R"([["r","x",null]])", type, R"([["r","y",null]])", lines).find("read"),
                std::string::npos);
    }
    EXPECT_EQ(found(R"([["w","x",1],["w","y",1]])", "info", R"([["w","x",1]])", lines), "read");
    EXPECT_NE(found("5", "ok", "6", lines, "write").find("test:2: the \"ok\" has other operations"),
              std::string::npos);
    EXPECT_EQ(found("5", "info", "\"timeout\"", lines, "write"), "read");
    EXPECT_NE(found("5", "ok", "6", lines, "read").find("invoked with a value"), std::string::npos);
    EXPECT_NE(found("null", "ok", "[6,7,8]", lines, "read").find("whole collections"),
              std::string::npos);
  }
}

TEST(OnlineStream, OperationsBesideTransactionsAreTransactions) {
  constexpr std::string_view kBoth =
      R"({"type":"invoke","process":0,"f":"init","value":[["x",1],["y",1]],"time":1}
{"type":"ok","process":0,"f":"init","value":[["x",1],["y",1]],"time":2}
{"type":"invoke","process":1,"f":"write","value":["x",5],"time":3}
{"type":"ok","process":1,"f":"write","value":["x",5],"time":4}
{"type":"invoke","process":2,"f":"txn","value":[["r","x",null],["r","y",null]],"time":5}
{"type":"ok","process":2,"f":"txn","value":[["r","x",5],["r","y",1]],"time":6}
{"type":"invoke","process":2,"f":"read","value":["x",null],"time":7}
{"type":"ok","process":2,"f":"read","value":["x",5],"time":8}
)";
  EXPECT_EQ(feed(Level::kStrictSerializable, kBoth, 1).look.status, Verdict::kSatisfied);
  std::string lost(kBoth);
  lost.replace(lost.rfind("5],\"time\":8"), 1, "1");
  EXPECT_EQ(feed(Level::kStrictSerializable, lost, 1).look.status, Verdict::kViolated);
  const std::string unknown = std::string(kBoth) +
                              R"({"type":"invoke","process":2,"f":"nap","value":3,"time":9}
)";
  EXPECT_NE(error_of(Level::kCausal, unknown).find("test:9: found f=nap beside transactions"),
            std::string::npos);
  Window window({.level = Level::kCausal});
  Stream stream(window, "test", "", {.kind = {}, .ignore = {"nap"}});
  EXPECT_TRUE(stream.take(unknown).ok());
}

}  // namespace
}  // namespace cupel::online
