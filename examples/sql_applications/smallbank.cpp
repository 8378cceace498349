// SmallBank: checking and savings accounts, after Alomari, Cahill, Fekete and Röhm, "The
// Cost of Serializability on Platforms That Use Snapshot Isolation" (2008), and the
// transfer that OLTPBench adds. The money that comes in or leaves is known to the client,
// from what it heard of each transaction that committed.
#include <array>

#include "application.hpp"

namespace cupel::applications {

namespace {

constexpr int kCustomers = 5;
constexpr std::int64_t kLoaded = 1000;  // of each account

class SmallBank final : public Application {
 public:
  [[nodiscard]] std::string name() const override { return "smallbank"; }
  [[nodiscard]] const std::vector<Assertion>& assertions() const override { return assertions_; }

  void load(Client& client) override {
    client.run(
        "CREATE TABLE accounts (custid bigint PRIMARY KEY, name varchar(64) NOT NULL);"
        "CREATE TABLE savings (custid bigint PRIMARY KEY REFERENCES accounts, bal int NOT NULL);"
        "CREATE TABLE checking (custid bigint PRIMARY KEY REFERENCES accounts, bal int NOT NULL);"
        "CREATE INDEX idx_accounts_name ON accounts (name)");
    for (int i = 1; i <= kCustomers; ++i) {
      client.query("INSERT INTO accounts VALUES ($1, $2)", i, customer_name(i));
      client.query("INSERT INTO savings VALUES ($1, $2)", i, kLoaded);
      client.query("INSERT INTO checking VALUES ($1, $2)", i, kLoaded);
    }
    money_ = 2 * kLoaded * kCustomers;
  }

  void transact(Client& client, base::Random& random) override {
    coming_in_ = 0;
    const auto amount = random.between(1, 100);
    const int first = static_cast<int>(random.between(1, kCustomers));
    // Another one.
    const int second =
        static_cast<int>(first - 1 + random.between(1, kCustomers - 1)) % kCustomers + 1;
    switch (random.below(6)) {
      case 0:
        return amalgamate(client, first, second);
      case 1:
        return show_balance(client, first);
      case 2:
        return deposit_checking(client, first, amount);
      case 3:
        return send_payment(client, first, second, amount);
      case 4:
        return transact_savings(client, first, random.chance(0.5) ? amount : -amount);
      default:
        return write_check(client, first, amount);
    }
  }

  void ended(bool committed) override {
    if (committed) money_ += coming_in_;
  }

  std::vector<bool> violated(Client& client) override {
    const auto sum =
        client.query("SELECT (SELECT sum(bal) FROM savings) + (SELECT sum(bal) FROM checking)");
    return {sum.integer() != money_};
  }

 private:
  static std::string customer_name(int customer) { return "customer " + std::to_string(customer); }
  static std::int64_t id(Client& client, int customer) {
    return client.query("SELECT custid FROM accounts WHERE name = $1", customer_name(customer))
        .integer();
  }
  static std::int64_t savings(Client& client, std::int64_t id) {
    return client.query("SELECT bal FROM savings WHERE custid = $1", id).integer();
  }
  static std::int64_t checking(Client& client, std::int64_t id) {
    return client.query("SELECT bal FROM checking WHERE custid = $1", id).integer();
  }
  static void add_checking(Client& client, std::int64_t id, std::int64_t amount) {
    client.query("UPDATE checking SET bal = bal + $1 WHERE custid = $2", amount, id);
  }

  // All that one customer has goes to the other.
  static void amalgamate(Client& client, int from, int to) {
    const auto giver = id(client, from), taker = id(client, to);
    const auto total = savings(client, giver) + checking(client, giver);
    client.query("UPDATE savings SET bal = 0 WHERE custid = $1", giver);
    client.query("UPDATE checking SET bal = 0 WHERE custid = $1", giver);
    add_checking(client, taker, total);
  }

  static void show_balance(Client& client, int of) {
    const auto owner = id(client, of);
    savings(client, owner);
    checking(client, owner);
  }

  void deposit_checking(Client& client, int to, std::int64_t amount) {
    add_checking(client, id(client, to), amount);
    coming_in_ = amount;
  }

  static void send_payment(Client& client, int from, int to, std::int64_t amount) {
    const auto giver = id(client, from), taker = id(client, to);
    if (checking(client, giver) < amount) throw Rollback{};
    add_checking(client, giver, -amount);
    add_checking(client, taker, amount);
  }

  void transact_savings(Client& client, int of, std::int64_t amount) {
    const auto owner = id(client, of);
    if (savings(client, owner) + amount < 0) throw Rollback{};
    client.query("UPDATE savings SET bal = bal + $1 WHERE custid = $2", amount, owner);
    coming_in_ = amount;
  }

  // One more is taken from who overdraws.
  void write_check(Client& client, int of, std::int64_t amount) {
    const auto owner = id(client, of);
    const auto total = savings(client, owner) + checking(client, owner);
    const auto taken = total < amount ? amount + 1 : amount;
    add_checking(client, owner, -taken);
    coming_in_ = -taken;
  }

  std::vector<Assertion> assertions_ = {
      {"A13", "the total of all accounts is the initial total plus deposits minus withdrawals"}};
  std::int64_t money_ = 0;      // that should be in the bank
  std::int64_t coming_in_ = 0;  // by the transaction under way
};

}  // namespace

std::unique_ptr<Application> smallbank() {
  return std::make_unique<SmallBank>();
}

}  // namespace cupel::applications
