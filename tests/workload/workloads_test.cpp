// Workloads, each run on a serial store: the shares and shapes that were asked for,
// values written once, jobs that depend on the seed and the session alone, and
// programs that survive whatever a database answers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <regex>

#include "data/workload/cells.hpp"
#include "data/workload/workload.hpp"
#include "source_dir.hpp"
#include "workload/serial_store.hpp"

namespace cupel::workload {
void PrintTo(const WorkloadInfo& info, std::ostream* out) {
  *out << info.name;
}
}  // namespace cupel::workload

namespace cupel::test {
namespace {

using workload::all_workloads;
using workload::ColumnType;
using workload::Distribution;
using workload::make_workload;
using workload::WorkloadInfo;
using workload::WorkloadOptions;

std::unique_ptr<Workload> made(std::string_view name, const WorkloadOptions& options) {
  auto result = make_workload(name, options);
  EXPECT_TRUE(result.ok()) << (result ? "" : result.error().to_string());
  return std::move(result).value();
}

// The source's options, with tables small enough to be copied often.
WorkloadOptions small(const WorkloadInfo& info) {
  auto options = info.defaults;
  options.sessions = 4;
  options.scale = 0.01;
  return options;
}

// Runs jobs of all sessions in turn.
std::vector<Ran> run(Workload& workload, SerialStore& store, int jobs) {
  std::vector<Ran> ran;
  for (int i = 0; i < jobs; ++i) {
    const auto session = static_cast<std::uint32_t>(i) % workload.sessions();
    ran.push_back(store.run(workload.next(session).value()));
  }
  return ran;
}

bool writes(const Statement& s) {
  return s.kind != StatementKind::kRead && s.kind != StatementKind::kRange;
}
std::int64_t key_of(const Statement& s) {
  return std::get<std::int64_t>(s.key.front());
}

std::map<std::string, double> shares_by_name(const std::vector<Ran>& ran) {
  std::map<std::string, double> shares;
  for (const auto& r : ran) shares[r.name] += 1.0 / static_cast<double>(ran.size());
  return shares;
}

std::string to_text(const Statement& s) {
  std::string text = fmt::format("{} {}:", static_cast<int>(s.kind), s.table);
  for (const auto* part : {&s.key, &s.values, &s.high}) {
    for (const auto& datum : *part) text += workload::to_string(datum) + ",";
    text += ";";
  }
  for (const auto c : s.columns) text += std::to_string(c) + ",";
  return text;
}

// Answers nothing (or rubbish) and writes down what it is asked.
class Deaf : public workload::Transaction {
 public:
  const Reply& execute(const Statement& s) override {
    asked += to_text(s) + "\n";
    ++statements;
    answer(s);
    return reply_;
  }
  [[nodiscard]] bool ok() const override { return !given_up; }
  void give_up() override { given_up = true; }
  std::int64_t unique() override { return 1; }
  base::Random& random() override { return random_; }

  std::string asked;
  int statements = 0;
  bool given_up = false;

 protected:
  virtual void answer(const Statement&) { reply_ = {}; }
  Reply reply_;
  base::Random random_{3};
};

class Lying final : public Deaf {
  void answer(const Statement& s) override {
    static const std::vector<Datum> kLies = {{},
                                             std::int64_t{-1},
                                             std::int64_t{INT64_MAX},
                                             std::string(),
                                             "#",
                                             "7",
                                             "9223372036854775807#1",
                                             "-9223372036854775808#2",
                                             "12#x",
                                             "99999999999999999999#3",
                                             "active#1",
                                             std::string("\xff\0#", 3),
                                             "5#6#7",
                                             "3#4"};
    reply_ = {};
    reply_.succeeded = random_.chance(0.5);
    for (auto rows = random_.below(3); rows > 0; --rows) {
      Row row{s.key, {}};
      for (auto values = random_.below(s.columns.size() + 2); values > 0; --values) {
        row.values.push_back(kLies[random_.below(kLies.size())]);
      }
      reply_.rows.push_back(row);
      reply_.elements.push_back(kLies[random_.below(kLies.size())]);
    }
  }
};

std::string job_text(const Job& job) {
  std::string text = job.name + "\n";
  for (const auto& s : job.statements) text += to_text(s) + "\n";
  if (job.program) {
    Deaf deaf;
    job.program(deaf);
    text += deaf.asked;
  }
  return text;
}

TEST(Workloads, EachHasItsPage) {
  for (const auto& info : all_workloads()) {
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(CUPEL_SOURCE_DIR) / info.page))
        << info.page;
  }
}

class EveryWorkload : public testing::TestWithParam<WorkloadInfo> {};
INSTANTIATE_TEST_SUITE_P(Workloads, EveryWorkload,
                         testing::ValuesIn(all_workloads().begin(), all_workloads().end()),
                         [](const auto& info) {
                           std::string name(info.param.name);
                           std::erase(name, '-');
                           return name;
                         });

// The store itself expects values that are new for each cell, and keys of the schema.
TEST_P(EveryWorkload, RunsOnASerialStore) {
  for (const bool tombstones : {true, false}) {
    auto options = small(GetParam());
    options.tombstones = tombstones;
    const auto workload = made(GetParam().name, options);
    SerialStore store(*workload);
    const auto ran = run(*workload, store, 1000);
    int done = 0, written = 0;
    for (const auto& r : ran) {
      EXPECT_FALSE(r.failed) << r.name << ": " << to_text(r.statements.back());
      EXPECT_FALSE(r.statements.empty());
      done += !r.given_up;
      written += std::any_of(r.statements.begin(), r.statements.end(), writes);
    }
    EXPECT_GT(done, 500);
    EXPECT_GT(written, 50);
  }
}

TEST_P(EveryWorkload, NeedsWhatItAsksForAndNoMore) {
  for (const bool tombstones : {true, false}) {
    auto options = small(GetParam());
    options.tombstones = tombstones;
    const auto workload = made(GetParam().name, options);
    SerialStore store(*workload);
    const auto needs = workload->needs();
    workload::Needs seen;
    seen.tables = workload->schema().tables.size() > 1;
    for (int i = 0; i < 2000; ++i) {
      const auto job = workload->next(static_cast<std::uint32_t>(i) % 4).value();
      const auto ran = store.run(job);
      (job.program ? seen.interactive : seen.multiple) |= ran.statements.size() > 1;
      for (const auto& s : ran.statements) {
        seen.ranges |= s.kind == StatementKind::kRange;
        seen.deletes |= s.kind == StatementKind::kInsert || s.kind == StatementKind::kDelete;
        seen.lists |= s.kind == StatementKind::kAppend;
        seen.compare_and_set |= s.kind == StatementKind::kCompareAndSet;
      }
    }
    EXPECT_EQ(needs.interactive, seen.interactive);
    EXPECT_EQ(needs.multiple, seen.multiple);
    EXPECT_EQ(needs.tables, seen.tables);
    EXPECT_EQ(needs.ranges, seen.ranges);
    EXPECT_EQ(needs.deletes, seen.deletes);
    EXPECT_EQ(needs.lists, seen.lists);
    EXPECT_EQ(needs.compare_and_set, seen.compare_and_set);
  }
}

TEST_P(EveryWorkload, LoadedAgreesWithLoad) {
  const auto workload = made(GetParam().name, small(GetParam()));
  std::size_t rows = 0;
  std::vector<Key> largest(workload->schema().tables.size());
  workload->load([&](std::uint32_t t, const Row& row) {
    ++rows;
    for (std::uint32_t c = 0; c < row.values.size(); ++c) {
      ASSERT_EQ(workload->loaded(t, row.key, c), row.values[c]);
    }
    largest[t] = std::max(largest[t], row.key);
  });
  for (std::uint32_t t = 0; t < largest.size(); ++t) {
    if (largest[t].empty())
      largest[t].assign(workload->schema().tables[t].key.size(), std::int64_t{1});
    for (std::size_t i = 0; i < largest[t].size(); ++i) {
      for (const Datum& outside :
           {Datum(std::int64_t{0}), Datum(std::int64_t{1} << 40), Datum("x")}) {
        auto key = largest[t];
        key[i] = outside;
        EXPECT_EQ(workload->loaded(t, key, 0), Datum());
      }
    }
  }
  const bool registers =
      GetParam().defaults.keys > 0 && workload->default_initial() == Datum(std::int64_t{0});
  if (registers) {
    EXPECT_EQ(rows, GetParam().defaults.keys);
  }
}

TEST_P(EveryWorkload, DependsOnTheSeedAndTheSessionAlone) {
  const auto alone = made(GetParam().name, small(GetParam()));
  const auto together = made(GetParam().name, small(GetParam()));
  auto options = small(GetParam());
  options.seed = 2;
  const auto other_seed = made(GetParam().name, options);
  int same = 0, same_session = 0;
  base::Random random(5);
  for (int i = 0; i < 300; ++i) {
    for (auto others = random.below(4); others > 0; --others) {
      (void)together->next(random.chance(0.5) ? 1 : 3);  // as threads would, in any order
    }
    const auto job = job_text(alone->next(2).value());
    ASSERT_EQ(job, job_text(together->next(2).value())) << "job " << i;
    same += job == job_text(other_seed->next(2).value());
    same_session += job == job_text(alone->next(0).value());
  }
  EXPECT_LT(same, 150);
  EXPECT_LT(same_session, 150);
}

TEST_P(EveryWorkload, SurvivesAnyAnswer) {
  const auto workload = made(GetParam().name, small(GetParam()));
  for (int i = 0; i < 2000; ++i) {
    const auto job = workload->next(static_cast<std::uint32_t>(i) % 4).value();
    Lying lying;
    if (job.program) job.program(lying);
    EXPECT_LT(lying.statements, 2000) << job.name;
    if (job.seen) {
      std::vector<Reply> replies;
      for (const auto& s : job.statements) replies.push_back(lying.execute(s));
      job.seen(job.statements, replies);
    }
  }
}

TEST_P(EveryWorkload, IsDescribed) {
  EXPECT_FALSE(GetParam().summary.empty());
  EXPECT_FALSE(GetParam().source.empty());
  static const std::regex kName("[a-z][a-z0-9_]*");
  const auto workload = made(GetParam().name, small(GetParam()));
  for (const auto& table : workload->schema().tables) {
    EXPECT_TRUE(std::regex_match(table.name, kName)) << table.name;
    EXPECT_GE(table.key.size(), 1u);
    EXPECT_LE(table.key.size(), 4u);
    std::set<std::string> names;
    for (const auto* columns : {&table.key, &table.columns}) {
      for (const auto& column : *columns) {
        EXPECT_TRUE(std::regex_match(column.name, kName)) << column.name;
        EXPECT_TRUE(names.insert(column.name).second)
            << table.name << " has two of " << column.name;
      }
    }
  }
}

// Key-value workloads.

TEST(General, HasTheSharesAskedFor) {
  WorkloadOptions options{.sessions = 3, .min_ops = 5, .max_ops = 9, .read_share = 0.8};
  options.read_only_share = 0.2;
  options.write_only_share = 0.3;
  options.rmw_share = 0.1;
  const auto workload = made("general", options);
  SerialStore store(*workload);
  const auto ran = run(*workload, store, 6000);
  const auto shares = shares_by_name(ran);
  EXPECT_NEAR(shares.at("read-only"), 0.2, 0.02);
  EXPECT_NEAR(shares.at("write-only"), 0.3, 0.02);
  EXPECT_NEAR(shares.at("read-modify-write"), 0.1, 0.02);
  EXPECT_NEAR(shares.at("transaction"), 0.4, 0.02);
  std::map<std::string, std::pair<double, double>> reads;  // by name: reads, all
  std::set<std::size_t> sizes;
  for (const auto& r : ran) {
    sizes.insert(r.statements.size());
    std::set<std::int64_t> read;
    for (const auto& s : r.statements) {
      reads[r.name].first += !writes(s);
      reads[r.name].second += 1;
      if (!writes(s)) read.insert(key_of(s));
      if (writes(s) && r.name == "read-modify-write") {
        EXPECT_TRUE(read.contains(key_of(s)));
      }
    }
  }
  EXPECT_EQ(sizes, (std::set<std::size_t>{5, 6, 7, 8, 9}));
  EXPECT_EQ(reads["read-only"].first, reads["read-only"].second);
  EXPECT_EQ(reads["write-only"].first, 0);
  EXPECT_NEAR(reads["transaction"].first / reads["transaction"].second, 0.8, 0.02);
  EXPECT_NEAR(reads["read-modify-write"].first / reads["read-modify-write"].second, 0.53, 0.03);
}

TEST(General, ASingleOperationOfReadModifyWriteIsStillBoth) {
  WorkloadOptions options{.min_ops = 1, .max_ops = 1};
  options.rmw_share = 1;
  const auto job = made("general", options)->next(0).value();
  ASSERT_EQ(job.statements.size(), 2u);
  EXPECT_EQ(job.statements[0].kind, StatementKind::kRead);
  EXPECT_EQ(job.statements[1].kind, StatementKind::kWrite);
  EXPECT_EQ(job.statements[0].key, job.statements[1].key);
}

TEST(General, KeysFollowTheDistribution) {
  const std::map<Distribution, double> kTopTenth = {{Distribution::kUniform, 0.10},
                                                    {Distribution::kHotspot, 0.40},
                                                    {Distribution::kExponential, 0.63},
                                                    {Distribution::kZipf, 0.68}};
  for (const auto& [distribution, expected] : kTopTenth) {
    WorkloadOptions options{.keys = 1000};
    options.distribution = distribution;
    const auto workload = made("general", options);
    double top = 0, all = 0;
    for (int i = 0; i < 5000; ++i) {
      const auto job = workload->next(0).value();
      for (const auto& s : job.statements) {
        ASSERT_GE(key_of(s), 1);
        ASSERT_LE(key_of(s), 1000);
        top += key_of(s) <= 100;
        ++all;
      }
    }
    EXPECT_NEAR(top / all, expected, 0.03) << workload::name(distribution);
  }
}

TEST(General, DuplicatesAreAShareOfTheWrites) {
  WorkloadOptions options;
  options.duplicates = 0.25;
  const auto workload = made("general", options);
  double few = 0, all = 0;
  std::set<std::string> values;
  for (int i = 0; i < 3000; ++i) {
    const auto job = workload->next(0).value();
    for (const auto& s : job.statements) {
      if (!writes(s)) continue;
      ++all;
      if (s.values[0] == Datum()) continue;
      ++few;
      values.insert(workload::to_string(s.values[0]));
    }
  }
  EXPECT_NEAR(few / all, 0.25, 0.02);
  EXPECT_EQ(values, (std::set<std::string>{"-1", "-2", "-3", "-4"}));
}

TEST(Mini, TransactionsAreMini) {
  for (const std::uint64_t keys : {1, 2, 100}) {
    WorkloadOptions options{.keys = keys};
    const auto workload = made("mini", options);
    std::set<std::string> shapes;
    for (int i = 0; i < 5000; ++i) {
      std::set<std::int64_t> read, written;
      std::string shape;
      const auto job = workload->next(0).value();
      for (const auto& s : job.statements) {
        shape += writes(s) ? 'w' : 'r';
        if (!writes(s)) {
          EXPECT_TRUE(read.insert(key_of(s)).second) << "read twice";
        } else {
          EXPECT_TRUE(read.contains(key_of(s))) << "written without a read";
          EXPECT_TRUE(written.insert(key_of(s)).second) << "written twice";
        }
      }
      EXPECT_TRUE(read.size() == 1 || read.size() == 2);
      EXPECT_LE(written.size(), 2u);
      shapes.insert(shape);
    }
    if (keys == 1) {
      EXPECT_EQ(shapes, (std::set<std::string>{"r", "rw"}));
    } else {
      EXPECT_EQ(shapes, (std::set<std::string>{"r", "rw", "rr", "rrw", "rwr", "rrww", "rwrw"}));
    }
  }
}

// A chain for each key: one insert-if-absent, then compare-and-sets.
TEST(Lightweight, EachKeyIsInsertedOnceAndThenSetFromWhatItHeld) {
  WorkloadOptions options{.sessions = 5, .keys = 20};
  const auto workload = made("lwt", options);
  SerialStore store(*workload);
  std::map<std::int64_t, Datum> held;
  int inserted = 0, set = 0, refused = 0, reads = 0;
  for (const auto& r : run(*workload, store, 5000)) {
    ASSERT_EQ(r.statements.size(), 1u);
    const auto& s = r.statements[0];
    if (!writes(s)) {
      ++reads;
      continue;
    }
    auto& holds = held[key_of(s)];
    EXPECT_EQ(r.replies[0].succeeded, holds == s.values[0]);
    EXPECT_EQ(r.name == "insert-if-absent", s.values[0] == Datum());
    if (!r.replies[0].succeeded) {
      ++refused;
      continue;
    }
    ++(holds == Datum() ? inserted : set);
    holds = s.values[1];
  }
  EXPECT_EQ(inserted, 20);
  EXPECT_GT(set, 800);
  EXPECT_GT(refused, 200);
  EXPECT_GT(reads, 2500);
}

TEST(LongFork, UpdatesOneKeyOrReadsAll) {
  const auto& info = *std::find_if(all_workloads().begin(), all_workloads().end(),
                                   [](const auto& i) { return i.name == "long-fork"; });
  const auto workload = made(info.name, info.defaults);
  EXPECT_TRUE(workload->needs().ranges);
  double reads = 0;
  for (int i = 0; i < 4000; ++i) {
    const auto job = workload->next(0).value();
    if (job.name == "read-only") {
      ++reads;
      ASSERT_EQ(job.statements.size(), 1u);
      ASSERT_EQ(job.statements[0].kind, StatementKind::kRange);
      ASSERT_EQ(job.statements[0].key, std::vector<Datum>{std::int64_t{1}});
      ASSERT_EQ(job.statements[0].high, std::vector<Datum>{std::int64_t{16}});
      continue;
    }
    ASSERT_EQ(job.statements.size(), 2u);
    ASSERT_FALSE(writes(job.statements[0]));
    ASSERT_TRUE(writes(job.statements[1]));
    ASSERT_EQ(job.statements[0].key, job.statements[1].key);
  }
  EXPECT_NEAR(reads / 4000, info.defaults.read_only_share, 0.025);
}

TEST(BlindW, IsAllReadsOrAllWritesOfEight) {
  for (const auto& [name, read_only] : {std::pair("blindw-rm", 0.9), std::pair("blindw-rw", 0.5)}) {
    const auto& info = *std::find_if(all_workloads().begin(), all_workloads().end(),
                                     [&](const auto& i) { return i.name == name; });
    EXPECT_EQ(info.defaults.keys, 2000u);
    const auto workload = made(name, info.defaults);
    double reads = 0;
    for (int i = 0; i < 4000; ++i) {
      const auto job = workload->next(0).value();
      ASSERT_EQ(job.statements.size(), 8u);
      const auto written = std::count_if(job.statements.begin(), job.statements.end(), writes);
      ASSERT_TRUE(written == 0 || written == 8);
      reads += written == 0;
    }
    EXPECT_NEAR(reads / 4000, read_only, 0.025);
  }
}

TEST(Ranges, HaveTheMixOfTheirName) {
  const std::map<std::string, std::map<std::string, double>> kMixes = {
      {"range-b", {{"range", .2}, {"insert", .2}, {"delete", .2}, {"read", .2}, {"write", .2}}},
      {"range-rqh",
       {{"range", .5}, {"insert", .125}, {"delete", .125}, {"read", .125}, {"write", .125}}},
      {"range-idh",
       {{"range", .1}, {"insert", .35}, {"delete", .35}, {"read", .1}, {"write", .1}}}};
  for (const auto& [name, mix] : kMixes) {
    for (const bool tombstones : {true, false}) {
      WorkloadOptions options{.sessions = 3, .min_ops = 8, .max_ops = 8, .keys = 50};
      options.tombstones = tombstones;
      const auto workload = made(name, options);
      SerialStore store(*workload);
      EXPECT_EQ(store.table(0).size(), 25u);
      const auto ran = run(*workload, store, 3000);
      const auto shares = shares_by_name(ran);
      for (const auto& [kind, share] : mix)
        EXPECT_NEAR(shares.at(kind), share, 0.03) << name << kind;
      int inserted = 0, deleted = 0;
      std::set<std::int64_t> made;
      for (const auto& r : ran) {
        ASSERT_EQ(r.statements.size(), 8u);
        const auto kind = r.name == "range"                   ? StatementKind::kRange
                          : r.name == "read"                  ? StatementKind::kRead
                          : r.name == "delete" && !tombstones ? StatementKind::kDelete
                                                              : StatementKind::kWrite;
        for (const auto& s : r.statements) {
          ASSERT_EQ(s.kind, kind);
          ASSERT_GE(key_of(s), 1);
          deleted += s.kind == StatementKind::kDelete;
          inserted += r.name == "insert";
          if (r.name == "insert" && key_of(s) > 50) made.insert(key_of(s));
        }
      }
      EXPECT_EQ(deleted > 0, !tombstones);
      EXPECT_NEAR(static_cast<double>(made.size()), 0.5 * inserted, 0.05 * inserted);
      EXPECT_LT(*made.rbegin(), 50 + 1.2 * static_cast<double>(made.size())) << "nearly dense";
    }
  }
}

TEST(Append, AbortedTransactionsRetireNothing) {
  WorkloadOptions options{.sessions = 2, .min_ops = 4, .max_ops = 4, .keys = 5};
  const auto workload = made("append", options);
  for (int i = 0; i < 2000; ++i) {
    const auto job = workload->next(static_cast<std::uint32_t>(i) % 2).value();
    for (const auto& statement : job.statements) ASSERT_LE(key_of(statement), 5);
  }
  SerialStore store(*workload);
  std::int64_t newest = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto ran = store.run(workload->next(static_cast<std::uint32_t>(i) % 2).value());
    for (const auto& statement : ran.statements) newest = std::max(newest, key_of(statement));
  }
  EXPECT_GT(newest, 20);
}

TEST(Append, ListsStayShortAndAreShared) {
  WorkloadOptions options{.sessions = 4, .min_ops = 1, .max_ops = 4, .keys = 10};
  const auto workload = made("append", options);
  EXPECT_EQ(workload->schema().tables[0].columns[0].type, ColumnType::kList);
  SerialStore store(*workload);
  std::size_t longest = 0;
  std::map<std::int64_t, std::set<int>> sessions_of_key;
  double reads = 0, all = 0;
  for (int i = 0; i < 8000; ++i) {
    const auto ran = store.run(workload->next(static_cast<std::uint32_t>(i) % 4).value());
    ASSERT_GE(ran.statements.size(), 1u);
    ASSERT_LE(ran.statements.size(), 4u);
    for (std::size_t k = 0; k < ran.statements.size(); ++k) {
      ++all;
      reads += !writes(ran.statements[k]);
      longest = std::max(longest, ran.replies[k].elements.size());
      sessions_of_key[key_of(ran.statements[k])].insert(i % 4);
    }
  }
  EXPECT_NEAR(reads / all, 0.5, 0.02);
  EXPECT_GT(longest, 50u);
  EXPECT_LT(longest, 200u);
  EXPECT_GT(sessions_of_key.size(), 50u);  // about one for each hundred appends
  for (const auto& [key, sessions] : sessions_of_key) {
    if (key < 50) {
      EXPECT_EQ(sessions.size(), 4u) << key;
    }
  }
}

TEST(Options, OutOfRangeAreDistinguished) {
  const auto error = [](auto change, std::string_view name = "general") {
    WorkloadOptions options;
    change(options);
    const auto result = make_workload(name, options);
    return result.ok() ? std::string("accepted") : result.error().to_string();
  };
  EXPECT_EQ(error([](auto& o) { o.sessions = 0; }), "found 0 sessions, expected 1 to 100000");
  EXPECT_EQ(error([](auto& o) { o.keys = 0; }), "found 0 keys, expected 1 to 1000000000");
  EXPECT_EQ(error([](auto& o) { o.min_ops = 9; }),
            "found 9 to 8 operations a transaction, expected a range in 1 to 1000000");
  EXPECT_EQ(error([](auto& o) { o.read_share = 1.5; }),
            "found a read share of 1.5, expected 0 to 1");
  EXPECT_EQ(error([](auto& o) { o.duplicates = std::nan(""); }),
            "found a share of duplicates of nan, expected 0 to 1");
  EXPECT_EQ(error([](auto& o) { o.read_only_share = o.rmw_share = 0.75; }),
            "found read-only, write-only and read-modify-write shares of 1.5 together, expected at "
            "most 1");
  EXPECT_EQ(error([](auto& o) { o.scale = 0; }, "tpcc"),
            "found a scale of 0, expected more than 0 and at most 1000");
  EXPECT_EQ(
      error([](auto&) {}, "tpcd"),
      "there is no workload `tpcd`. Did you mean `tpcc`? Write general, mini, lwt, blindw-rm, "
      "blindw-rw, long-fork, range-b, range-rqh, range-idh, append, tpcc, rubis, twitter, "
      "smallbank or courseware");
}

TEST(Cells, CarryAPayloadAndTheNumberOfTheirWrite) {
  EXPECT_EQ(workload::make_cell("90", 1742), Datum("90#1742"));
  EXPECT_EQ(workload::payload_of(Datum("a#b#7")), "a#b");
  EXPECT_EQ(workload::unique_of(Datum("a#b#7")), 7);
  for (const Datum& rubbish : {Datum(), Datum(std::int64_t{5}), Datum("5"), Datum("")}) {
    EXPECT_EQ(workload::payload_of(rubbish), "");
    EXPECT_EQ(workload::unique_of(rubbish), -1);
  }
  EXPECT_EQ(workload::unique_of(Datum("5#x")), -1);
  EXPECT_EQ(workload::number_of("-12"), -12);
  EXPECT_EQ(workload::number_of("12x", 3), 3);
  EXPECT_EQ(workload::number_of("99999999999999999999", 3), 3);
}

}  // namespace
}  // namespace cupel::test
