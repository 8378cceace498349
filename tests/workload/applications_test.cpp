// The application workloads, on a serial store: what their sources say must always
// hold, holds, and their mixes are as given. Programs that lose money serially could
// prove nothing about a database.
#include <numeric>

#include "data/workload/cells.hpp"
#include "workload/serial_store.hpp"

namespace cupel::test {
namespace {

using workload::make_workload;
using workload::WorkloadOptions;

// A workload on its store, and what its tables hold, as numbers and payloads.
class Application {
 public:
  Application(std::string_view name, double scale,
              workload::Distribution distribution = workload::Distribution::kUniform) {
    WorkloadOptions options{.sessions = 3, .distribution = distribution};
    options.scale = scale;
    workload_ = std::move(make_workload(name, options)).value();
    store_ = std::make_unique<SerialStore>(*workload_);
  }

  // The next job of the next session.
  Ran run() {
    auto ran = store_->run(workload_->next(turn_++ % 3).value());
    EXPECT_FALSE(ran.failed) << ran.name;
    counts_[ran.name] += 1;
    given_up_[ran.name] += ran.given_up;
    return ran;
  }
  void run(int jobs) {
    while (jobs-- > 0) run();
  }

  [[nodiscard]] const RowsByKey& table(std::string_view name) const {
    return store_->table(index(name));
  }
  [[nodiscard]] static std::string text(const std::vector<Datum>& row, std::size_t column) {
    return std::string(workload::payload_of(row.at(column)));
  }
  [[nodiscard]] static std::int64_t number(const std::vector<Datum>& row, std::size_t column) {
    const auto value = workload::number_of(text(row, column), INT64_MIN);
    EXPECT_NE(value, INT64_MIN) << text(row, column) << " is no number";
    return value;
  }
  [[nodiscard]] static std::int64_t part(const Key& key, std::size_t i) {
    return std::get<std::int64_t>(key.at(i));
  }
  [[nodiscard]] std::int64_t number(std::string_view name, const Key& key,
                                    std::size_t column) const {
    return number(table(name).at(key), column);
  }
  // The sum of a column.
  [[nodiscard]] std::int64_t sum(std::string_view name, std::size_t column) const {
    std::int64_t total = 0;
    for (const auto& [key, row] : table(name)) total += number(row, column);
    return total;
  }

  void expect_mix(const std::map<std::string, double>& percent) const {
    double total = 0;
    for (const auto& [name, count] : counts_) total += count;
    EXPECT_EQ(counts_.size(), percent.size());
    for (const auto& [name, share] : percent) {
      EXPECT_NEAR(100 * counts_.at(name) / total, share, 2.5) << name;
    }
  }
  [[nodiscard]] double given_up_share(const std::string& name) const {
    return given_up_.at(name) / counts_.at(name);
  }

 private:
  [[nodiscard]] std::uint32_t index(std::string_view name) const {
    const auto& tables = workload_->schema().tables;
    for (std::uint32_t t = 0; t < tables.size(); ++t) {
      if (tables[t].name == name) return t;
    }
    ADD_FAILURE() << "no table " << name;
    return 0;
  }

  std::unique_ptr<workload::Workload> workload_;
  std::unique_ptr<SerialStore> store_;
  std::uint32_t turn_ = 0;
  std::map<std::string, double> counts_, given_up_;
};

Key key(std::initializer_list<std::int64_t> parts) {
  return {parts.begin(), parts.end()};
}

// TPC-C, clause 3.3.2, conditions 1 to 4 and 12, and its like for stock.
void expect_consistent(const Application& tpcc) {
  std::map<std::int64_t, std::int64_t> district_ytd;
  std::size_t orders = 0, undelivered = 0;
  for (const auto& [k, row] : tpcc.table("district")) {
    const auto w = Application::part(k, 0), d = Application::part(k, 1);
    district_ytd[w] += Application::number(row, 2);
    const auto next = Application::number(row, 3), next_delivery = Application::number(row, 4);
    ASSERT_LE(next_delivery, next);
    for (std::int64_t o = 1; o < next; ++o) {  // order numbers are dense
      ++orders;
      ASSERT_TRUE(tpcc.table("orders").contains(key({w, d, o}))) << o;
      const bool waits = o >= next_delivery;
      undelivered += waits;
      ASSERT_EQ(tpcc.table("new_order").contains(key({w, d, o})), waits);
      ASSERT_EQ(tpcc.number("orders", key({w, d, o}), 1) == 0, waits) << "carrier";
      const auto lines = tpcc.number("orders", key({w, d, o}), 2);
      ASSERT_GE(lines, 5);
      ASSERT_LE(lines, 15);
      for (std::int64_t n = 1; n <= lines; ++n) {
        ASSERT_EQ(tpcc.number("order_line", key({w, d, o, n}), 4) == 0, waits);
      }
      ASSERT_FALSE(tpcc.table("order_line").contains(key({w, d, o, lines + 1})));
    }
  }
  EXPECT_EQ(tpcc.table("orders").size(), orders);
  EXPECT_EQ(tpcc.table("new_order").size(), undelivered);
  for (const auto& [k, row] : tpcc.table("warehouse")) {
    EXPECT_EQ(Application::number(row, 2), district_ytd[Application::part(k, 0)]);
  }
  EXPECT_EQ(tpcc.sum("payments", 2), tpcc.sum("warehouse", 2));

  std::map<Key, std::int64_t> delivered;                       // by customer
  std::map<Key, std::pair<std::int64_t, std::int64_t>> taken;  // by stock: quantity, lines
  for (const auto& [k, row] : tpcc.table("order_line")) {
    const Key order(k.begin(), k.begin() + 3);
    auto customer =
        key({Application::part(k, 0), Application::part(k, 1), tpcc.number("orders", order, 0)});
    if (Application::number(row, 4) != 0) delivered[customer] += Application::number(row, 3);
    auto& stock = taken[key({Application::number(row, 1), Application::number(row, 0)})];
    stock.first += Application::number(row, 2);
    stock.second += 1;
  }
  for (const auto& [k, row] : tpcc.table("customer")) {
    ASSERT_EQ(Application::number(row, 3) + Application::number(row, 4), delivered[k]);
    const auto last = Application::number(row, 7);
    if (last != 0) {
      ASSERT_EQ(
          tpcc.number("orders", key({Application::part(k, 0), Application::part(k, 1), last}), 0),
          Application::part(k, 2));
    }
  }
  for (const auto& [k, row] : tpcc.table("stock")) {
    ASSERT_EQ(Application::number(row, 1), taken[k].first);
    ASSERT_EQ(Application::number(row, 2), taken[k].second);
    ASSERT_GE(Application::number(row, 0), 0);
  }
}

TEST(Tpcc, StaysConsistent) {
  for (const double scale : {0.01, 2.0}) {
    Application tpcc("tpcc", scale);
    EXPECT_EQ(tpcc.table("warehouse").size(), scale < 1 ? 1u : 2u);
    EXPECT_EQ(tpcc.table("district").size(), scale < 1 ? 10u : 20u);
    EXPECT_EQ(tpcc.table("customer").size(), scale < 1 ? 300u : 60000u);
    tpcc.run(3000);
    expect_consistent(tpcc);
    tpcc.expect_mix({{"new-order", 45},
                     {"payment", 43},
                     {"order-status", 4},
                     {"delivery", 4},
                     {"stock-level", 4}});
    EXPECT_NEAR(tpcc.given_up_share("new-order"), 0.01, 0.008);
    EXPECT_EQ(tpcc.given_up_share("payment"), 0);
    EXPECT_GT(tpcc.sum("customer", 6), 300) << "deliveries";
    EXPECT_EQ(tpcc.sum("stock", 3) > 0, scale > 1) << "items from another warehouse";
  }
}

TEST(SmallBank, MoneyIsConservedWhereItShouldBe) {
  Application bank("smallbank", 0.02, workload::Distribution::kHotspot);
  const auto money = [&] { return bank.sum("savings", 0) + bank.sum("checking", 0); };
  EXPECT_EQ(money(), 20 * 20000);
  std::map<std::string, std::set<std::int64_t>> changes;
  auto before = money();
  for (int i = 0; i < 5000; ++i) {
    const auto ran = bank.run();
    changes[ran.name].insert(money() - before);
    before = money();
    if (ran.name == "balance") {
      EXPECT_EQ(ran.statements.size(), 3u);
    }
  }
  using Set = std::set<std::int64_t>;
  EXPECT_EQ(changes["amalgamate"], Set{0});
  EXPECT_EQ(changes["send-payment"], Set{0});
  EXPECT_EQ(changes["balance"], Set{0});
  EXPECT_EQ(changes["deposit-checking"], Set{130});
  EXPECT_EQ(changes["transact-savings"], (Set{-2020, 0, 2020}));
  EXPECT_EQ(changes["write-check"], (Set{-600, -500}));
  for (const auto& [k, row] : bank.table("savings")) EXPECT_GE(Application::number(row, 0), 0);
  bank.expect_mix({{"amalgamate", 15},
                   {"balance", 15},
                   {"deposit-checking", 15},
                   {"send-payment", 25},
                   {"transact-savings", 15},
                   {"write-check", 15}});
}

TEST(Courseware, CapacityIsNeverExceededAndRemovedCoursesAreEmpty) {
  Application school("courseware", 1);
  bool full = false, gone = false;
  for (int i = 0; i < 4000; ++i) {
    school.run();
    std::map<std::int64_t, std::int64_t> taken;
    std::set<std::int64_t> seated;
    for (const auto& [k, row] : school.table("seats")) {
      const auto student = Application::number(row, 0);
      if (student == 0) continue;
      ++taken[Application::part(k, 0)];
      ASSERT_TRUE(seated.insert(student).second) << "in two seats";
      const auto& who = school.table("students").at(key({student}));
      ASSERT_EQ(Application::text(who, 0), "active");
      ASSERT_EQ(Application::number(who, 1), Application::part(k, 0));
      ASSERT_EQ(Application::number(who, 2), Application::part(k, 1));
    }
    for (const auto& [k, row] : school.table("courses")) {
      const auto count = taken[Application::part(k, 0)];
      ASSERT_LE(count, Application::number(row, 1));
      full |= count == Application::number(row, 1);
      if (Application::text(row, 0) != "active") {
        gone = true;
        ASSERT_EQ(count, 0);
      }
    }
  }
  EXPECT_TRUE(full);
  EXPECT_TRUE(gone);
  school.expect_mix({{"enrol", 40},
                     {"drop", 15},
                     {"register", 10},
                     {"deregister", 5},
                     {"open-course", 5},
                     {"remove-course", 5},
                     {"query", 20}});
  EXPECT_LT(school.given_up_share("enrol"), 0.8);
}

// The rows of a table under each first key column are numbered 1, 2 … as `counted` says.
void expect_dense(const Application& application, std::string_view rows, std::string_view counters,
                  std::size_t counted) {
  std::size_t all = 0;
  for (const auto& [k, row] : application.table(counters)) {
    const auto count = Application::number(row, counted);
    all += static_cast<std::size_t>(count);
    for (std::int64_t n = 1; n <= count; ++n) {
      ASSERT_TRUE(application.table(rows).contains(key({Application::part(k, 0), n})));
    }
  }
  EXPECT_EQ(application.table(rows).size(), all);
  EXPECT_GT(all, 0u);
}

TEST(Twitter, CountsAgree) {
  Application twitter("twitter", 0.05, workload::Distribution::kZipf);
  EXPECT_EQ(twitter.table("users").size(), 50u);
  twitter.run(5000);
  expect_dense(twitter, "tweets", "users", 1);
  std::map<std::int64_t, std::int64_t> followers, follows;
  for (const auto& [k, row] : twitter.table("follows")) {
    const auto whom = Application::number(row, 0);
    if (whom == 0) continue;
    ++follows[Application::part(k, 0)];
    ++followers[whom];
  }
  for (const auto& [k, row] : twitter.table("users")) {
    EXPECT_EQ(Application::number(row, 2), followers[Application::part(k, 0)]);
    EXPECT_EQ(Application::number(row, 3), follows[Application::part(k, 0)]);
  }
  EXPECT_GT(followers.size(), 25u);
  twitter.expect_mix({{"new-tweet", 20},
                      {"follow", 40},
                      {"timeline", 10},
                      {"show-follow", 10},
                      {"show-tweets", 20}});
}

TEST(Rubis, BidsSalesAndCommentsAddUp) {
  Application site("rubis", 0.01, workload::Distribution::kZipf);
  EXPECT_EQ(site.table("users").size(), 200u);
  EXPECT_EQ(site.table("items").size(), 800u);
  site.run(6000);
  expect_dense(site, "bids", "items", 4);
  expect_dense(site, "comments", "users", 3);
  std::map<std::int64_t, std::int64_t> bought, rating;
  for (const auto& [k, row] : site.table("buys"))
    bought[Application::number(row, 0)] += Application::number(row, 2);
  for (const auto& [k, row] : site.table("comments"))
    rating[Application::part(k, 0)] += Application::number(row, 2);
  for (const auto& [k, row] : site.table("items")) {
    const auto item = Application::part(k, 0), bids = Application::number(row, 4);
    if (item <= 800) {
      EXPECT_EQ(Application::number(row, 2), 1000 - bought[item]);
    }
    if (bids > 0) {
      EXPECT_EQ(site.number("bids", key({item, bids}), 1), Application::number(row, 3));
    }
  }
  for (const auto& [k, row] : site.table("users")) {
    EXPECT_EQ(Application::number(row, 1), rating[Application::part(k, 0)]);
  }
  EXPECT_EQ(site.table("users").size(), 200u + static_cast<unsigned>(site.sum("regions", 1)));
  EXPECT_EQ(site.table("items").size(), 800u + static_cast<unsigned>(site.sum("categories", 1)));
  EXPECT_EQ(site.sum("users", 2), static_cast<std::int64_t>(site.table("items").size()));
  site.expect_mix({{"register-user", 5},
                   {"register-item", 10},
                   {"bid", 10},
                   {"buy-now", 15},
                   {"comment", 20},
                   {"browse", 40}});
}

TEST(Applications, FullSizesAreThoseOfThePapers) {
  const auto sizes = [](std::string_view name) {
    const auto workload = std::move(make_workload(name, {})).value();
    std::map<std::string, int> rows;
    workload->load(
        [&](std::uint32_t table, const Row&) { ++rows[workload->schema().tables[table].name]; });
    return rows;
  };
  auto tpcc = sizes("tpcc"), rubis = sizes("rubis"), twitter = sizes("twitter");
  EXPECT_EQ(tpcc["warehouse"], 1);
  EXPECT_EQ(tpcc["district"], 10);
  EXPECT_EQ(tpcc["customer"], 30000);
  EXPECT_EQ(rubis["users"], 20000);
  EXPECT_EQ(rubis["items"], 80000);
  EXPECT_EQ(twitter["users"], 1000);
}

}  // namespace
}  // namespace cupel::test
