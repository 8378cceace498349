// What the schedule draws: the same by the same seed, and only what the cluster can have.
#include "run/faults/schedule.hpp"

#include <gtest/gtest.h>

#include <set>

#include "faults/fake_cluster.hpp"

namespace cupel::faults {
namespace {

std::vector<std::string> drawn(FakeCluster& cluster, const Options& options, int rounds,
                               std::vector<std::string>* warnings = nullptr) {
  std::vector<std::string> own;
  auto schedule = Schedule::make(options, cluster, warnings != nullptr ? *warnings : own);
  EXPECT_TRUE(schedule.ok()) << schedule.error().message;
  std::vector<std::string> list;
  for (int i = 0; i < rounds; ++i) {
    std::vector<std::size_t> taken;
    for (auto fault : schedule->next(0)) {
      base::Random random(fault.seed);
      Choice choice{cluster, random, taken};
      choose(fault, choice);
      list.push_back(fmt::format("{:g} {}", fault.at, describe(fault)));
    }
  }
  return list;
}

std::string why_not(FakeCluster& cluster, const Options& options) {
  std::vector<std::string> warnings;
  const auto schedule = Schedule::make(options, cluster, warnings);
  return schedule.ok() ? "" : schedule.error().message;
}

// As one node of so many hits another, of a fault with that many targets.
std::set<std::size_t> sizes(std::size_t nodes, Targets targets) {
  FakeCluster cluster(nodes);
  std::set<std::size_t> all;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    base::Random random(seed);
    std::vector<std::size_t> taken;
    Choice choice{cluster, random, taken};
    const auto chosen = choose_nodes(targets, choice);
    EXPECT_EQ(std::set(chosen.begin(), chosen.end()).size(), chosen.size());
    for (const auto node : chosen) EXPECT_LT(node, nodes);
    all.insert(chosen.size());
  }
  return all;
}

// When each round begins, and how long the first lasts.
std::vector<double> moments(const Options& options, int rounds, double& lasts) {
  FakeCluster cluster(3);
  std::vector<std::string> warnings;
  auto schedule = Schedule::make(options, cluster, warnings);
  std::vector<double> all;
  for (int i = 0; i < rounds; ++i) {
    const auto faults = schedule->next(0);
    if (i == 0) lasts = faults.front().lasts;
    all.push_back(faults.front().at);
  }
  return all;
}

TEST(Schedule, ATimeToKeepToGivesEachGroupItsTurn) {
  double lasts = 0;
  // Four groups in 24 seconds: one every 6 seconds.
  EXPECT_EQ(moments({.list = "kill,pause,partition,delay", .within = 24}, 4, lasts),
            (std::vector<double>{4, 10, 16, 22}));
  EXPECT_EQ(lasts, 2);
  // No shorter than 3 seconds, no longer than by default.
  EXPECT_EQ(moments({.list = "kill,pause,partition,delay", .within = 5}, 2, lasts),
            (std::vector<double>{2, 5}));
  EXPECT_EQ(moments({.list = "kill,pause", .within = 600}, 2, lasts),
            (std::vector<double>{10, 25}));
  EXPECT_EQ(lasts, 5);
}

TEST(Schedule, TheSameSeedDrawsTheSameFaults) {
  FakeCluster cluster(5);
  const Options options{.list = "partition,kill+pause,delay,restart", .seed = 7};
  const auto once = drawn(cluster, options, 40);
  EXPECT_EQ(once, drawn(cluster, options, 40));
  auto other = options;
  other.seed = 8;
  EXPECT_NE(once, drawn(cluster, other, 40));
}

TEST(Schedule, RoundsComeAtFixedTimesAndTakeTurns) {
  FakeCluster cluster(1);
  const auto list =
      drawn(cluster, {.list = "kill,pause,restart-crash", .every = 10, .lasts = 5}, 6);
  ASSERT_EQ(list.size(), 6U);
  for (int pass = 0; pass < 2; ++pass) {
    std::set<std::string> kinds;
    for (int i = 0; i < 3; ++i) {
      const auto& one = list[static_cast<std::size_t>(3 * pass + i)];
      EXPECT_TRUE(one.starts_with(fmt::format("{} ", 10 + 15 * (3 * pass + i)))) << one;
      kinds.insert(one.substr(one.find(' ')));
    }
    EXPECT_EQ(kinds.size(), 3U) << "of each pass every fault once";
  }
}

TEST(Schedule, DrawsEveryVariantAndEveryValue) {
  FakeCluster cluster(5);
  std::set<std::string> partitions, losses;
  for (const auto& one : drawn(cluster, {.list = "partition,loss"}, 400)) {
    const auto what = one.substr(one.find(' ') + 1);
    (what.starts_with("loss") ? losses : partitions).insert(what.substr(0, what.find(':')));
  }
  EXPECT_EQ(partitions.size(), kinds_named("partition").size());
  EXPECT_EQ(losses, (std::set<std::string>{"loss 5 %", "loss 20 %", "loss 50 %"}));
}

// What comes at a time does not depend on what came before: a round that was missed is left out.
TEST(Schedule, SkipsRoundsWhoseTimeHasPassed) {
  FakeCluster cluster(3);
  std::vector<std::string> warnings;
  const Options options{.list = "partition,kill", .every = 10, .lasts = 5};
  auto schedule = Schedule::make(options, cluster, warnings);
  auto late = Schedule::make(options, cluster, warnings);
  ASSERT_TRUE(schedule.ok() && late.ok());
  for (int i = 0; i < 3; ++i) schedule->next(0);
  const auto expected = schedule->next(0);
  const auto found = late->next(41);
  EXPECT_EQ(found.at(0).at, 55);
  EXPECT_EQ(found.at(0).at, expected.at(0).at);
  EXPECT_EQ(found.at(0).seed, expected.at(0).seed);
}

TEST(Schedule, WithoutAPauseTheFirstRoundComesAtOnce) {
  FakeCluster cluster(3);
  std::vector<std::string> warnings;
  auto schedule = Schedule::make({.list = "kill", .every = 0, .lasts = 3}, cluster, warnings);
  ASSERT_TRUE(schedule.ok());
  EXPECT_EQ(schedule->next(0.01).at(0).at, 0);
  EXPECT_EQ(schedule->next(3.1).at(0).at, 6);
}

TEST(Schedule, FaultsOfAGroupComeAtOnceAndHitDifferentNodes) {
  FakeCluster cluster(5);
  std::vector<std::string> warnings;
  auto schedule =
      Schedule::make({.list = "kill+pause", .targets = Targets::kMinority}, cluster, warnings);
  ASSERT_TRUE(schedule.ok());
  for (int i = 0; i < 20; ++i) {
    std::vector<std::size_t> taken;
    auto faults = schedule->next(0);
    ASSERT_EQ(faults.size(), 2U);
    EXPECT_EQ(faults[0].at, faults[1].at);
    for (auto& fault : faults) {
      base::Random random(fault.seed);
      Choice choice{cluster, random, taken};
      choose(fault, choice);
      EXPECT_EQ(fault.nodes.size(), 2U);
    }
    EXPECT_EQ(std::set(taken.begin(), taken.end()).size(), 4U);
  }
}

TEST(Schedule, AFaultThatIsNotPossibleIsAnErrorOrLeftOut) {
  FakeCluster cluster(3);
  cluster.no_delay_ = "this kernel delays nothing";
  EXPECT_NE(
      why_not(cluster, {.list = "kill,delay"}).find("delay is not possible here: this kernel"),
      std::string::npos);
  EXPECT_EQ(why_not(cluster, {.list = "kill,loss"}), "");
  EXPECT_NE(why_not(cluster, {.list = "partition-ring"}).find("expected at least 4"),
            std::string::npos);
  std::vector<std::string> warnings;
  for (const auto& one : drawn(cluster, {.list = "kill,delay", .optional = true}, 9, &warnings)) {
    EXPECT_NE(one.find("kill"), std::string::npos) << one;
  }
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("left out"), std::string::npos) << warnings[0];

  warnings.clear();
  EXPECT_TRUE(drawn(cluster, {.list = "delay", .optional = true}, 3, &warnings).empty());
  EXPECT_EQ(warnings.size(), 2U);
  warnings.clear();
  EXPECT_FALSE(drawn(cluster, {.list = "all"}, 3, &warnings).empty());
  EXPECT_EQ(warnings.size(), 1U);
}

TEST(Schedule, ThereIsNoMinorityOfTwoNodes) {
  FakeCluster two(2), three(3);
  const Options asked{.list = "kill", .targets = Targets::kMinority};
  EXPECT_EQ(why_not(two, asked),
            "the fault kill is not possible here: found 2 nodes, expected at least 3 for the "
            "targets `minority`; leave it out, or say --faults-optional");
  EXPECT_EQ(why_not(three, asked), "");
  EXPECT_EQ(why_not(two, {.list = "kill", .targets = Targets::kMajority}), "");
  // Also of a partition, whose other variants have no targets.
  EXPECT_NE(why_not(two, {.list = "partition", .targets = Targets::kMinority}), "");
  EXPECT_EQ(why_not(two, {.list = "partition-one", .targets = Targets::kMinority}), "");
  EXPECT_NE(why_not(two, {.plan = {{.kind = "kill", .targets = Targets::kMinority}}}), "");
  EXPECT_EQ(why_not(two, {.plan = {{.kind = "kill", .targets = Targets::kMinority, .nodes = {1}}}}),
            "");
}

TEST(Schedule, ReadsTheList) {
  const auto list = parse_list("partition, kill+pause");
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(*list, (std::vector<std::vector<std::string>>{{"partition"}, {"kill", "pause"}}));
  // Corruption comes by name only.
  EXPECT_EQ(parse_list("all")->size(), all_families().size() - 1);
  for (const auto* bad : {"", "kil", "kill,", "kill++pause", "kill,all"}) {
    EXPECT_FALSE(parse_list(bad).ok()) << bad;
  }
}

TEST(Faults, SayWhatTheServersNeed) {
  using Needs = Kind::Needs;
  EXPECT_FALSE(asks_for({.list = "partition,kill+corrupt"}, Needs::kClocks));
  EXPECT_FALSE(asks_for({.list = "partition,clock"}, Needs::kDisks));
  EXPECT_TRUE(asks_for({.list = "partition,kill+clock"}, Needs::kClocks));
  EXPECT_TRUE(asks_for({.list = "all"}, Needs::kDisks));
  EXPECT_TRUE(asks_for({.plan = {{.kind = "unsynced"}}}, Needs::kDisks));
  EXPECT_FALSE(asks_for({.plan = {{.kind = "unsynced"}}}, Needs::kClocks));
}

TEST(Targets, AreAsManyAsTheirNamesSay) {
  using Sizes = std::set<std::size_t>;
  EXPECT_EQ(sizes(5, Targets::kMinority), Sizes{2});
  EXPECT_EQ(sizes(5, Targets::kMajority), Sizes{3});
  EXPECT_EQ(sizes(4, Targets::kMinority), Sizes{1});
  EXPECT_EQ(sizes(4, Targets::kMajority), Sizes{3});
  EXPECT_EQ(sizes(3, Targets::kMinority), Sizes{1});
  EXPECT_EQ(sizes(3, Targets::kMajority), Sizes{2});
  EXPECT_EQ(sizes(3, Targets::kOne), Sizes{1});
  EXPECT_EQ(sizes(3, Targets::kAll), Sizes{3});
  EXPECT_EQ(sizes(1, Targets::kSeeded), Sizes{1});
  EXPECT_EQ(sizes(5, Targets::kSeeded), (Sizes{1, 2, 3, 5}));
}

TEST(Targets, PrimariesAreThoseOfTheMoment) {
  FakeCluster cluster(3);
  base::Random random(1);
  std::vector<std::size_t> taken;
  Choice choice{cluster, random, taken};
  cluster.primaries_ = {2};
  EXPECT_EQ(choose_nodes(Targets::kPrimaries, choice), std::vector<std::size_t>{2});
  cluster.primaries_ = {0, 1, 2};
  EXPECT_EQ(choose_nodes(Targets::kPrimaries, choice).size(), 3U);
  cluster.primaries_ = {};
  EXPECT_EQ(choose_nodes(Targets::kPrimaries, choice).size(), 1U);
}

// The links that a shape cuts, as text; `seed` draws.
std::string shape(const char* kind, std::size_t nodes, std::uint64_t seed,
                  Targets targets = Targets::kSeeded, std::vector<std::size_t> given = {}) {
  FakeCluster cluster(nodes);
  cluster.primaries_ = {1};
  Fault fault{.kind = kind, .targets = targets, .nodes = std::move(given)};
  base::Random random(seed);
  std::vector<std::size_t> taken;
  Choice choice{cluster, random, taken};
  choose(fault, choice);
  const std::set<Link> cut(fault.links.begin(), fault.links.end());
  EXPECT_EQ(cut.size(), fault.links.size()) << "a link is cut twice";
  return describe(fault);
}

TEST(Partition, ShapesCutWhatTheyPromise) {
  EXPECT_EQ(shape("partition-halves", 4, 1, {}, {0, 1}), "partition halves: 0 1 | 2 3");
  EXPECT_EQ(shape("partition-one", 3, 1, {}, {1}), "partition one: 0 2 | 1");
  EXPECT_EQ(shape("partition-primary", 3, 1), "partition primary: 0 2 | 1");
  EXPECT_EQ(shape("partition-primary", 3, 1, {}, {2}), "partition primary: 0 1 | 2");
  EXPECT_EQ(shape("partition-split", 3, 1, Targets::kAll), "partition split: 0 | 1 | 2");
  EXPECT_EQ(shape("partition-split", 5, 1, Targets::kPrimaries), "partition split: 0 2 3 4 | 1");
  EXPECT_EQ(shape("partition-clients", 2, 1, Targets::kAll), "partition clients: 0 1 | clients");
  EXPECT_EQ(shape("partition-bridge", 3, 1, {}, {1}), "partition bridge: 0 | 2");
  EXPECT_EQ(shape("partition-ring", 5, 1, {}, {0, 1, 2, 3, 4}),
            "partition ring: 0-2 0-3 1-3 1-4 2-4");
  std::set<std::string> ways;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    ways.insert(shape("partition-one-way", 3, seed, {}, {0}));
  }
  EXPECT_EQ(ways,
            (std::set<std::string>{"partition one way: 0 -> 1 2", "partition one way: 1 2 -> 0"}));
}

// Each node of a ring hears a majority, with itself, and no two the same one.
TEST(Partition, ARingLeavesEachNodeAMajorityOfItsOwn) {
  for (std::size_t nodes = 4; nodes <= 9; ++nodes) {
    FakeCluster cluster(nodes);
    Fault fault{.kind = "partition-ring"};
    base::Random random(3);
    std::vector<std::size_t> taken;
    Choice choice{cluster, random, taken};
    choose(fault, choice);
    const std::set<Link> cut(fault.links.begin(), fault.links.end());
    std::set<std::set<std::size_t>> heard;
    for (std::size_t a = 0; a < nodes; ++a) {
      std::set<std::size_t> all{a};
      for (std::size_t b = 0; b < nodes; ++b) {
        EXPECT_EQ(cut.contains({a, b}), cut.contains({b, a}));
        if (!cut.contains({a, b})) all.insert(b);
      }
      EXPECT_GT(2 * all.size(), nodes);
      EXPECT_TRUE(heard.insert(all).second);
    }
  }
}

TEST(Effects, FaultsOfOneLinkAddUp) {
  const auto sum = Effects::sum({
      {1, {{.from = 0, .to = 1, .loss = 0.5, .delay = 0.1, .bytes_per_second = 500}}},
      {2, {{.from = 0, .to = 1, .loss = 0.5, .reset = true, .delay = 0.2}, {.from = 1, .to = 0}}},
      {3, {{.from = 0, .to = 1, .jitter = 0.3, .bytes_per_second = 100}}},
  });
  ASSERT_EQ(sum.size(), 2U);
  EXPECT_DOUBLE_EQ(sum[0].loss, 0.75);
  EXPECT_DOUBLE_EQ(sum[0].delay, 0.3);
  EXPECT_DOUBLE_EQ(sum[0].jitter, 0.3);
  EXPECT_EQ(sum[0].bytes_per_second, 100U);
  EXPECT_TRUE(sum[0].reset);
  EXPECT_FALSE(sum[1].reset);
}

TEST(Effects, ANodeRunsAgainAfterTheLastFaultThatStoppedIt) {
  FakeCluster cluster(2);
  Effects effects(cluster);
  const GiveUp never = [] { return false; };
  ASSERT_TRUE(effects.stop(1, {0}, Effects::Stop::kKill).ok());
  ASSERT_TRUE(effects.stop(2, {0, 1}, Effects::Stop::kKill).ok());
  ASSERT_TRUE(effects.start(1, {0}, never).ok());
  EXPECT_FALSE(cluster.running(0));
  EXPECT_FALSE(effects.freeze(3, {1}).ok()) << "it does not run";
  ASSERT_TRUE(effects.start(2, {0, 1}, never).ok());
  EXPECT_TRUE(cluster.running(0));
  EXPECT_EQ(cluster.notes(), (std::vector<std::string>{"kill 0", "kill 1", "start 0 1"}));
}

TEST(Membership, OneNodeLeavesThatMay) {
  FakeCluster cluster(3);  // node 0 is the primary
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    base::Random random(seed);
    std::vector<std::size_t> taken{2};
    Choice choice{cluster, random, taken};
    Fault fault{.kind = "membership"};
    choose(fault, choice);
    EXPECT_EQ(fault.nodes, std::vector<std::size_t>{1});
    EXPECT_EQ(taken, (std::vector<std::size_t>{2, 1}));
    Fault planned{.kind = "membership", .nodes = {0}};
    choose(planned, choice);
    EXPECT_EQ(planned.nodes, std::vector<std::size_t>{0});
  }
  EXPECT_EQ(why_not(cluster, {.list = "membership"}), "");
  cluster.no_membership_ = "one server has no members";
  EXPECT_NE(why_not(cluster, {.list = "membership"}).find("one server has no members"),
            std::string::npos);
}

TEST(Membership, ANodeThatLeftStaysAwayUntilTheLastFaultOfItEnds) {
  FakeCluster cluster(3);
  Effects effects(cluster);
  const GiveUp never = [] { return false; };
  ASSERT_TRUE(effects.leave(1, {2}).ok());
  EXPECT_FALSE(effects.leave(2, {2}).ok()) << "it does not run";
  ASSERT_TRUE(effects.stop(3, {2}, Effects::Stop::kKill).ok());
  ASSERT_TRUE(effects.start(1, {2}, never).ok());
  EXPECT_FALSE(cluster.running(2));
  ASSERT_TRUE(effects.start(3, {2}, never).ok());
  EXPECT_TRUE(cluster.running(2));
  EXPECT_EQ(cluster.notes(), (std::vector<std::string>{"leave 2", "start 2"}));
}

TEST(Effects, ANodeThatIsStartedWhileItIsPausedStandsStillAgain) {
  FakeCluster cluster(1);
  Effects effects(cluster);
  ASSERT_TRUE(effects.freeze(1, {0}).ok());
  ASSERT_TRUE(effects.stop(2, {0}, Effects::Stop::kKill).ok());
  ASSERT_TRUE(effects.start(2, {0}, [] { return false; }).ok());
  ASSERT_TRUE(effects.thaw(1, {0}).ok());
  EXPECT_EQ(cluster.notes(),
            (std::vector<std::string>{"pause 0", "kill 0", "start 0", "pause 0", "resume 0"}));
}

}  // namespace
}  // namespace cupel::faults
