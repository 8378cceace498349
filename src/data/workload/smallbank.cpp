// smallbank: Alomari, Cahill, Fekete, Röhm, The Cost of Serializability on Platforms
// That Use Snapshot Isolation, ICDE 2008; mix and amounts as in OLTPBench. Its
// write-check and balance make it the classic with anomalies under snapshot
// isolation: both accounts are read, one of them is written.
#include "data/workload/application.hpp"
#include "data/workload/keys.hpp"
#include "data/workload/workload_spec.hpp"

namespace cupel::workload {

namespace {

enum : std::uint32_t { kAccounts, kSavings, kChecking };
enum : std::uint32_t { kBalance = 0 };                            // column of savings and checking
constexpr std::int64_t kCustomers = 1000, kFirstBalance = 10000;  // in cents, as all amounts

class SmallBank final : public Application {
 public:
  explicit SmallBank(const WorkloadOptions& o)
      : Application(o, tables(customers_of(o)), false), keys_(o.distribution, customers_of(o)) {
    set_kinds({
        {"amalgamate", 15, [this](auto& r) { return amalgamate(r); }},
        {"balance", 15, [this](auto& r) { return balance(r); }},
        {"deposit-checking", 15, [this](auto& r) { return deposit_checking(r); }},
        {"send-payment", 25, [this](auto& r) { return send_payment(r); }},
        {"transact-savings", 15, [this](auto& r) { return transact_savings(r); }},
        {"write-check", 15, [this](auto& r) { return write_check(r); }},
    });
  }

 private:
  static std::uint64_t customers_of(const WorkloadOptions& o) {
    return static_cast<std::uint64_t>(scaled(kCustomers, o.scale, 2));
  }
  static std::vector<TableSpec> tables(std::uint64_t customers) {
    const RowKey extent = {static_cast<std::int64_t>(customers)};
    const auto rich = [](const RowKey&) { return std::vector{std::to_string(kFirstBalance)}; };
    return {{"accounts",
             {"customer"},
             {"name"},
             extent,
             [](const RowKey& key) { return std::vector{"customer " + std::to_string(key[0])}; }},
            {"savings", {"customer"}, {"balance"}, extent, rich},
            {"checking", {"customer"}, {"balance"}, extent, rich}};
  }

  std::int64_t customer(base::Random& random) const {
    return static_cast<std::int64_t>(keys_.choose(random)) + 1;
  }
  std::int64_t other_customer(base::Random& random, std::int64_t than) const {
    auto other = customer(random);
    while (other == than) other = customer(random);
    return other;
  }
  // The account must be there; else the transaction is given up.
  static bool known(Rows& rows, std::int64_t customer) {
    if (rows.read(kAccounts, {customer}, {0}).exists()) return true;
    rows.give_up();
    return false;
  }
  static std::int64_t read(Rows& rows, std::uint32_t table, std::int64_t customer) {
    return rows.read(table, {customer}, {kBalance}).number(0);
  }
  static void write(Rows& rows, std::uint32_t table, std::int64_t customer, std::int64_t amount) {
    rows.write(table, {customer}, {{kBalance, amount}});
  }

  // All that one customer has goes to the checking account of another.
  Program amalgamate(base::Random& random) const {
    const auto from = customer(random), to = other_customer(random, from);
    return [=](Rows& rows) {
      if (!known(rows, from) || !known(rows, to)) return;
      const auto all = read(rows, kSavings, from) + read(rows, kChecking, from);
      const auto had = read(rows, kChecking, to);
      if (!rows.ok()) return;
      write(rows, kSavings, from, 0);
      write(rows, kChecking, from, 0);
      write(rows, kChecking, to, had + all);
    };
  }

  Program balance(base::Random& random) const {
    const auto who = customer(random);
    return [=](Rows& rows) {
      if (!known(rows, who)) return;
      read(rows, kSavings, who);
      read(rows, kChecking, who);
    };
  }

  Program deposit_checking(base::Random& random) const {
    constexpr std::int64_t kDeposit = 130;
    const auto who = customer(random);
    return [=](Rows& rows) {
      if (!known(rows, who)) return;
      const auto had = read(rows, kChecking, who);
      if (rows.ok()) write(rows, kChecking, who, had + kDeposit);
    };
  }

  Program send_payment(base::Random& random) const {
    constexpr std::int64_t kPayment = 500;
    const auto from = customer(random), to = other_customer(random, from);
    return [=](Rows& rows) {
      if (!known(rows, from) || !known(rows, to)) return;
      const auto had = read(rows, kChecking, from);
      if (had < kPayment) return rows.give_up();
      const auto gets = read(rows, kChecking, to);
      if (!rows.ok()) return;
      write(rows, kChecking, from, had - kPayment);
      write(rows, kChecking, to, gets + kPayment);
    };
  }

  // Half deposits, half withdrawals; never below zero.
  Program transact_savings(base::Random& random) const {
    constexpr std::int64_t kAmount = 2020;
    const auto who = customer(random);
    const auto amount = random.chance(0.5) ? kAmount : -kAmount;
    return [=](Rows& rows) {
      if (!known(rows, who)) return;
      const auto had = read(rows, kSavings, who);
      if (had + amount < 0) return rows.give_up();
      if (rows.ok()) write(rows, kSavings, who, had + amount);
    };
  }

  // Overdrawing both accounts together costs a penalty of 1.
  Program write_check(base::Random& random) const {
    constexpr std::int64_t kCheck = 500, kPenalty = 100;
    const auto who = customer(random);
    return [=](Rows& rows) {
      if (!known(rows, who)) return;
      const auto savings = read(rows, kSavings, who), checking = read(rows, kChecking, who);
      if (!rows.ok()) return;
      const auto fee = savings + checking < kCheck ? kPenalty : 0;
      write(rows, kChecking, who, checking - kCheck - fee);
    };
  }

  KeyDistribution keys_;
};

}  // namespace

extern constinit const WorkloadSpec kSmallbankWorkload{
    {.name = "smallbank",
     .summary = "savings and checking accounts",
     .source = "Alomari et al., ICDE 2008; OLTPBench",
     .page = "docs/reference/workloads/smallbank.md",
     .defaults = {.distribution = Distribution::kHotspot}},
    [](const WorkloadOptions& options) -> WorkloadPointer {
      return std::make_unique<SmallBank>(options);
    }};

}  // namespace cupel::workload
