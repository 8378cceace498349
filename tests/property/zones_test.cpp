// Registers of unique values: what zones answer against what the engine says of the
// same history at strict serializability, which is the same question for one object.
// Every answer's certificate is verified.
//
// A true register takes effect at a random moment of each operation's interval; then
// some reads see another version, some intervals move, and some answers are lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "data/formats/cupel_binary.hpp"
#include "data/history/builder.hpp"
#include "engine/certify/verify.hpp"
#include "engine/check/check.hpp"
#include "engine/levels/streamed_zones.hpp"
#include "report/certificate.hpp"
#include "support/rounds.hpp"

namespace cupel {
namespace {

using check::Verdict;
using history::History;
using history::Time;
using history::TxnStatus;
using levels::Level;

struct Register {
  History history;
  Time drift = 0;
};

// Of key `key`; values but the initial 0 are above `base`, in sessions of its own.
void add_register(history::HistoryBuilder& b, base::Random& random, std::uint64_t seed,
                  std::int64_t key_name, std::int64_t base) {
  struct Operation {
    Time invoke, effect, complete;
    std::uint32_t session;
    bool reads, writes, known = true;
    std::int64_t saw = 0, wrote = 0;
  };
  const auto sessions = 1 + random.below(5);
  const auto length = 2 + random.below(seed % 20 == 0 ? 200 : 12);
  const Time apart =
      seed % 4 == 0 ? 0 : 1;  // so that an operation may begin when the last one ends
  const Time coarse = random.chance(0.3) ? 10 : 1;
  const double compare = random.chance(0.2) ? 1 : random.chance(0.5) ? 0.3 : 0;
  const double write = random.chance(0.5) ? 0.5 : 0.2;
  const double lies = random.chance(0.4) ? 0 : 0.15, late = random.chance(0.7) ? 0 : 0.2;
  const double lost = random.chance(0.7) ? 0 : 0.2;
  std::vector<Time> clock(sessions, 0);
  std::vector<Operation> all;
  for (std::uint64_t i = 0; i < length; ++i) {
    Operation o{};
    o.session = static_cast<std::uint32_t>(random.below(sessions));
    o.invoke = clock[o.session] + apart + static_cast<Time>(random.below(8));
    const auto lasted = static_cast<Time>(1 + random.below(20));
    o.effect = o.invoke + static_cast<Time>(random.below(static_cast<std::uint64_t>(lasted) + 1));
    o.complete = clock[o.session] = o.invoke + lasted;
    const bool compares = random.chance(compare);
    o.writes = compares || random.chance(write);
    o.reads = compares || !o.writes;
    o.known = !o.writes || compares || !random.chance(lost);
    all.push_back(o);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& x, const auto& y) { return x.effect < y.effect; });
  std::int64_t now = 0, last = 0;
  for (Operation& o : all) {
    if (o.reads) o.saw = now;
    if (o.writes && (o.known || random.chance(0.5))) o.wrote = now = ++last;
    if (o.writes && o.wrote == 0) o.wrote = ++last;  // it never happened
  }
  for (Operation& o : all) {
    if (o.reads && random.chance(lies)) {
      o.saw = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(last) + 1));
      if (o.saw == o.wrote) o.saw = 0;
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& x, const auto& y) { return x.invoke < y.invoke; });
  const auto key = b.key(key_name);
  const auto value = [&](std::int64_t v) { return b.value(v == 0 ? v : v + base); };
  for (std::uint32_t s = 0; s < sessions; ++s) {
    const auto session = b.session("s" + std::to_string(base + s));
    Time free = 0;
    for (const Operation& o : all) {
      if (o.session != s) continue;
      const bool moves = random.chance(late);
      const Time invoke = std::max(free + apart, o.invoke / coarse * coarse);
      const Time complete = std::max(invoke, (o.complete + (moves ? 15 : 0)) / coarse * coarse);
      free = complete;
      b.begin(session, o.known ? TxnStatus::kCommitted : TxnStatus::kIndeterminate,
              {invoke, complete, 0});
      if (o.reads && o.writes) {
        b.compare_and_set(key, value(o.saw), value(o.wrote), true);
      } else if (o.reads) {
        b.read(key, value(o.saw));
      } else {
        b.write(key, value(o.wrote));
      }
      b.end();
    }
  }
}

Register random_register(std::uint64_t seed, int keys = 1) {
  base::Random random(seed);
  history::HistoryBuilder b;
  b.set_default_initial(b.value(std::int64_t{0}));
  for (int k = 0; k < keys; ++k) add_register(b, random, seed, k, 1000 * k);
  auto built = std::move(b).finish();
  EXPECT_TRUE(built.ok());
  return {*std::move(built), random.chance(0.2) ? Time{3} : Time{0}};
}

check::LevelResult decided(const Register& given, Level level, bool verify) {
  check::Options options;
  options.asked = {level};
  options.clock_drift_ns = given.drift;
  options.evidence = verify;
  const auto result = check::check(given.history, options);
  if (verify) {
    const auto made = report::certificate(given.history, result, given.drift);
    EXPECT_TRUE(made.missing.empty());
    const auto report = certify::verify(given.history, made.json, given.drift);
    EXPECT_EQ(report.validity, certify::Validity::kValid) << report.reason;
  }
  return result.levels[0];
}

TEST(Zones, AgreeWithTheEngine) {
  std::map<std::pair<std::string, Verdict>, int> seen;
  for (std::uint64_t seed = 1; seed <= test::rounds(20'000u); ++seed) {
    const Register given = random_register(seed);
    const auto here = decided(given, Level::kLinearizable, seed % 4 == 0);
    const auto there = decided(given, Level::kStrictSerializable, false);
    ASSERT_EQ(check::to_string(here.verdict), check::to_string(there.verdict))
        << "seed " << seed << ", by " << here.decided_by;
    ++seen[{here.decided_by, here.verdict}];
  }
  // Not only the easy ones, and each answer often.
  EXPECT_GT((seen[{"zones", Verdict::kSatisfied}]), test::rounds(3000));
  EXPECT_GT((seen[{"chain", Verdict::kSatisfied}]), test::rounds(300));
  EXPECT_GT((seen[{"saturation", Verdict::kViolated}]), test::rounds(3000));
}

// The same question while the file goes by: yes only where it is yes, and wherever zones say so,
// unless clocks are too coarse for the sessions' order.
TEST(Zones, AgreeWithThemselvesStreamed) {
  int yes = 0, chains = 0, left = 0;
  for (std::uint64_t seed = 1; seed <= test::rounds(20'000u); ++seed) {
    Register given = random_register(seed, 1 + static_cast<int>(seed % 2));
    given.drift = 0;
    std::ostringstream file;
    ASSERT_TRUE(formats::write_cupel(given.history, file).ok());
    base::Budget budget;
    levels::StreamedZones zones(budget);
    const bool streamed_all = formats::stream_cupel(file.str(), {}, 0, zones);
    const auto streamed = streamed_all ? zones.decide() : std::nullopt;
    const auto held = decided(given, Level::kLinearizable, false);
    if (streamed) {
      ASSERT_EQ(held.verdict, Verdict::kSatisfied) << "seed " << seed;
      if (held.decided_by != "saturation") {
        ASSERT_EQ(held.decided_by, *streamed) << "seed " << seed;
      }
      ++yes;
      chains += *streamed == "chain";
    } else {
      left += held.verdict == Verdict::kSatisfied &&
              (held.decided_by == "zones" || held.decided_by == "chain");
    }
  }
  EXPECT_GT(yes, test::rounds(5000));
  EXPECT_GT(chains, test::rounds(100));
  EXPECT_LT(left, yes / 2);
}

}  // namespace
}  // namespace cupel
