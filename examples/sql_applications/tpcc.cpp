// TPC-C: a wholesale supplier's orders, payments and deliveries, after the specification
// (revision 5.11; the clauses are named). One warehouse, the tables' columns as far as a
// transaction or a condition needs them. 90 % of the transactions update, and deliveries
// are as frequent as orders, since four conditions are about orders that were delivered.
#include <array>

#include "application.hpp"

namespace cupel::applications {

namespace {

constexpr const char* kTables = R"(
CREATE TABLE warehouse (
  w_id int PRIMARY KEY, w_name varchar(10), w_tax numeric(4,4), w_ytd numeric(12,2));
CREATE TABLE district (
  d_w_id int, d_id int, d_name varchar(10), d_tax numeric(4,4), d_ytd numeric(12,2),
  d_next_o_id int, PRIMARY KEY (d_w_id, d_id));
CREATE TABLE customer (
  c_w_id int, c_d_id int, c_id int, c_first varchar(16), c_last varchar(16), c_credit varchar(2),
  c_discount numeric(4,4), c_balance numeric(12,2), c_ytd_payment numeric(12,2),
  c_payment_cnt int, c_delivery_cnt int, c_data varchar(500), PRIMARY KEY (c_w_id, c_d_id, c_id));
CREATE TABLE history (
  h_c_id int, h_c_d_id int, h_c_w_id int, h_d_id int, h_w_id int, h_date timestamp,
  h_amount numeric(6,2), h_data varchar(24));
CREATE TABLE item (
  i_id int PRIMARY KEY, i_name varchar(24), i_price numeric(5,2), i_data varchar(50));
CREATE TABLE stock (
  s_w_id int, s_i_id int, s_quantity int, s_dist varchar(24), s_ytd int, s_order_cnt int,
  s_remote_cnt int, s_data varchar(50), PRIMARY KEY (s_w_id, s_i_id));
CREATE TABLE orders (
  o_w_id int, o_d_id int, o_id int, o_c_id int, o_entry_d timestamp, o_carrier_id int,
  o_ol_cnt int, o_all_local int, PRIMARY KEY (o_w_id, o_d_id, o_id));
CREATE TABLE new_order (
  no_w_id int, no_d_id int, no_o_id int, PRIMARY KEY (no_w_id, no_d_id, no_o_id));
CREATE TABLE order_line (
  ol_w_id int, ol_d_id int, ol_o_id int, ol_number int, ol_i_id int, ol_supply_w_id int,
  ol_delivery_d timestamp, ol_quantity int, ol_amount numeric(6,2), ol_dist_info varchar(24),
  PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)))";

constexpr const char* kLoaded = "2024-01-01 00:00:00";
constexpr const char* kNow = "2024-01-02 00:00:00";

struct Condition {
  const char* name;
  const char* words;
  const char* offenders;  // counts what breaks it
};

// Clauses 3.3.2.1 to 3.3.2.12.
constexpr std::array<Condition, 12> kConditions = {{
    {"A1", "W_YTD is the sum of the districts' D_YTD",
     "SELECT count(*) FROM warehouse WHERE w_ytd <> "
     "(SELECT sum(d_ytd) FROM district WHERE d_w_id = w_id)"},
    {"A2", "D_NEXT_O_ID - 1 is the greatest O_ID, and the greatest NO_O_ID if there is one",
     "SELECT count(*) FROM district WHERE d_next_o_id - 1 <> "
     "(SELECT max(o_id) FROM orders WHERE o_w_id = d_w_id AND o_d_id = d_id) "
     "OR d_next_o_id - 1 <> "
     "(SELECT max(no_o_id) FROM new_order WHERE no_w_id = d_w_id AND no_d_id = d_id)"},
    {"A3", "the NO_O_ID of a district have no gap",
     "SELECT count(*) FROM district WHERE "
     "(SELECT max(no_o_id) - min(no_o_id) + 1 - count(*) FROM new_order "
     "WHERE no_w_id = d_w_id AND no_d_id = d_id) <> 0"},
    {"A4", "the sum of a district's O_OL_CNT is the number of its order lines",
     "SELECT count(*) FROM district WHERE "
     "(SELECT sum(o_ol_cnt) FROM orders WHERE o_w_id = d_w_id AND o_d_id = d_id) <> "
     "(SELECT count(*) FROM order_line WHERE ol_w_id = d_w_id AND ol_d_id = d_id)"},
    {"A5", "an order has no carrier if and only if it is in NEW-ORDER",
     "SELECT count(*) FROM orders WHERE (o_carrier_id IS NULL) <> EXISTS (SELECT 1 FROM new_order "
     "WHERE no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id)"},
    {"A6", "an order's O_OL_CNT is the number of its lines",
     "SELECT count(*) FROM orders WHERE o_ol_cnt <> (SELECT count(*) FROM order_line "
     "WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id)"},
    {"A7", "a line is not delivered if and only if its order has no carrier",
     "SELECT count(*) FROM order_line JOIN orders "
     "ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id "
     "WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)"},
    {"A8", "W_YTD is the sum of the warehouse's payments in HISTORY",
     "SELECT count(*) FROM warehouse WHERE w_ytd <> "
     "(SELECT sum(h_amount) FROM history WHERE h_w_id = w_id)"},
    {"A9", "D_YTD is the sum of the district's payments in HISTORY",
     "SELECT count(*) FROM district WHERE d_ytd <> "
     "(SELECT sum(h_amount) FROM history WHERE h_w_id = d_w_id AND h_d_id = d_id)"},
    {"A10", "C_BALANCE is what was delivered to the customer less the payments in HISTORY",
     "SELECT count(*) FROM customer WHERE c_balance <> "
     "(SELECT coalesce(sum(ol_amount), 0) FROM orders JOIN order_line "
     "ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id "
     "WHERE o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id "
     "AND ol_delivery_d IS NOT NULL) - "
     "(SELECT coalesce(sum(h_amount), 0) FROM history "
     "WHERE h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id)"},
    // The clause says 2100, the number of orders that are delivered at first; this is what
    // it becomes when deliveries go on.
    {"A11", "a district's orders less those in NEW-ORDER are the orders that were delivered",
     "SELECT count(*) FROM district WHERE "
     "(SELECT count(*) FROM orders WHERE o_w_id = d_w_id AND o_d_id = d_id) - "
     "(SELECT count(*) FROM new_order WHERE no_w_id = d_w_id AND no_d_id = d_id) <> "
     "(SELECT count(o_carrier_id) FROM orders WHERE o_w_id = d_w_id AND o_d_id = d_id)"},
    {"A12", "C_BALANCE and C_YTD_PAYMENT together are what was delivered to the customer",
     "SELECT count(*) FROM customer WHERE c_balance + c_ytd_payment <> "
     "(SELECT coalesce(sum(ol_amount), 0) FROM orders JOIN order_line "
     "ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id "
     "WHERE o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id "
     "AND ol_delivery_d IS NOT NULL)"},
}};

// 4.3.2.3: three syllables; the customers of this scale share two names.
std::string last_name(int customer) {
  return customer % 2 == 0 ? "BARBAROUGHT" : "BAROUGHTABLE";
}

// An amount of money as SQL writes it.
std::string money(std::int64_t cents) {
  const auto rest = cents % 100;
  return std::to_string(cents / 100) + (rest < 10 ? ".0" : ".") + std::to_string(rest);
}

class Tpcc final : public Application {
 public:
  explicit Tpcc(const TpccScale& scale) : scale_(scale) {
    for (const auto& condition : kConditions) {
      assertions_.push_back({condition.name, condition.words});
    }
  }

  [[nodiscard]] std::string name() const override {
    return scale_.duplicates ? "tpcc-duplicates" : "tpcc";
  }
  [[nodiscard]] const std::vector<Assertion>& assertions() const override { return assertions_; }

  void load(Client& client) override;
  void transact(Client& client, base::Random& random) override;
  std::vector<bool> violated(Client& client) override {
    std::vector<bool> violated;
    for (const auto& condition : kConditions) {
      violated.push_back(client.query(condition.offenders).integer() != 0);
    }
    return violated;
  }

 private:
  void order_new(Client& client, base::Random& random) const;
  void pay(Client& client, base::Random& random) const;
  void deliver(Client& client, base::Random& random) const;
  void status_of_order(Client& client, base::Random& random) const;
  void level_of_stock(Client& client, base::Random& random) const;

  [[nodiscard]] int district(base::Random& random) const {
    return static_cast<int>(random.between(1, scale_.districts));
  }
  [[nodiscard]] int customer(base::Random& random) const {
    return static_cast<int>(random.between(1, scale_.customers));
  }
  // 2.5.1.2: 60 % by last name, the one in the middle by first name.
  [[nodiscard]] std::int64_t customer(Client& client, base::Random& random, int district) const;

  TpccScale scale_;
  std::vector<Assertion> assertions_;
};

// 4.3.3.1: each customer has paid 10.00 and has one order; of the orders the newest third
// waits to be delivered, and the lines of the others cost nothing.
void Tpcc::load(Client& client) {
  constexpr int kPaid = 1000;
  std::string tables = kTables;
  if (scale_.duplicates) {
    for (const char* key :
         {", PRIMARY KEY (o_w_id, o_d_id, o_id)", ", PRIMARY KEY (no_w_id, no_d_id, no_o_id)",
          ",\n  PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)"}) {
      tables.erase(tables.find(key), std::string_view(key).size());
    }
  }
  client.run(tables);
  base::Random random(1);
  for (int i = 1; i <= scale_.items; ++i) {
    client.query("INSERT INTO item VALUES ($1, 'item', $2, 'data')", i,
                 money(random.between(100, 10000)));
    client.query("INSERT INTO stock VALUES (1, $1, $2, 'dist', 0, 0, 0, 'data')", i,
                 random.between(10, 100));
  }
  client.query("INSERT INTO warehouse VALUES (1, 'one', 0.1, $1)",
               money(std::int64_t{kPaid} * scale_.customers * scale_.districts));
  for (int d = 1; d <= scale_.districts; ++d) {
    client.query("INSERT INTO district VALUES (1, $1, 'district', 0.1, $2, $3)", d,
                 money(std::int64_t{kPaid} * scale_.customers), scale_.customers + 1);
    for (int c = 1; c <= scale_.customers; ++c) {
      client.query(
          "INSERT INTO customer VALUES (1, $1, $2, $3, $4, $5, 0.1, -10.00, 10.00, 1, 0, 'data')",
          d, c, "first " + std::to_string(c), last_name(c), c == 1 ? "BC" : "GC");
      client.query("INSERT INTO history VALUES ($1, $2, 1, $2, 1, $3, 10.00, 'loaded')", c, d,
                   kLoaded);
      const bool waits = c > scale_.customers - std::max(1, scale_.customers / 3);
      const auto lines = random.between(scale_.lines_min, scale_.lines_max);
      client.query("INSERT INTO orders VALUES (1, $1, $2, $2, $3, $4, $5, 1)", d, c, kLoaded,
                   waits ? Client::Cell() : Client::Cell("1"), lines);
      if (waits) client.query("INSERT INTO new_order VALUES (1, $1, $2)", d, c);
      for (std::int64_t line = 1; line <= lines; ++line) {
        client.query("INSERT INTO order_line VALUES (1, $1, $2, $3, $4, 1, $5, 5, $6, 'dist')", d,
                     c, line, random.between(1, scale_.items),
                     waits ? Client::Cell() : Client::Cell(kLoaded),
                     waits ? money(random.between(1, 999999)) : money(0));
      }
    }
  }
}

void Tpcc::transact(Client& client, base::Random& random) {
  const auto drawn = random.below(100);
  if (drawn < 35) {
    order_new(client, random);
  } else if (drawn < 55) {
    pay(client, random);
  } else if (drawn < 90) {
    deliver(client, random);
  } else if (drawn < 95) {
    status_of_order(client, random);
  } else {
    level_of_stock(client, random);
  }
}

std::int64_t Tpcc::customer(Client& client, base::Random& random, int district) const {
  const int any = customer(random);
  if (random.below(100) >= 60) return any;
  const auto named = client.query(
      "SELECT c_id FROM customer WHERE c_w_id = 1 AND c_d_id = $1 AND c_last = $2 ORDER BY c_first",
      district, last_name(any));
  if (named.rows.empty()) throw Refused{"02000", "no customer of this name"};
  return std::stoll(*named.rows[(named.rows.size() - 1) / 2][0]);
}

// 2.4.2.2
void Tpcc::order_new(Client& client, base::Random& random) const {
  const int d = district(random);
  const int c = customer(random);
  const auto lines = random.between(scale_.lines_min, scale_.lines_max);
  const bool of_unused_item = random.below(100) == 0;  // 2.4.1.4
  client.query("SELECT w_tax FROM warehouse WHERE w_id = 1");
  client.query(
      "SELECT c_discount, c_last, c_credit FROM customer "
      "WHERE c_w_id = 1 AND c_d_id = $1 AND c_id = $2",
      d, c);
  const auto order =
      client
          .query(
              "SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = 1 AND d_id = $1 FOR UPDATE",
              d)
          .integer();
  client.query("UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = 1 AND d_id = $1",
               d);
  client.query(
      "INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) "
      "VALUES (1, $1, $2, $3, $4, $5, 1)",
      d, order, c, kNow, lines);
  client.query("INSERT INTO new_order VALUES (1, $1, $2)", d, order);
  for (std::int64_t line = 1; line <= lines; ++line) {
    const auto item = of_unused_item && line == lines ? 0 : random.between(1, scale_.items);
    const auto quantity = random.between(1, 10);
    const auto price =
        client.query("SELECT i_price, i_name, i_data FROM item WHERE i_id = $1", item);
    if (price.rows.empty()) throw Rollback{};
    const auto stock = client.query(
        "SELECT s_quantity, s_dist, s_data FROM stock "
        "WHERE s_w_id = 1 AND s_i_id = $1 FOR UPDATE",
        item);
    const auto left = stock.integer() - quantity;
    client.query(
        "UPDATE stock SET s_quantity = $1, s_ytd = s_ytd + $2, s_order_cnt = s_order_cnt + 1 "
        "WHERE s_w_id = 1 AND s_i_id = $3",
        left >= 10 ? left : left + 91, quantity, item);
    client.query(
        "INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, "
        "ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info) "
        "VALUES (1, $1, $2, $3, $4, 1, $5::int, $5::int * $6::numeric, $7)",
        d, order, line, item, quantity, price.text(), stock.text(1));
  }
}

// 2.5.2.2
void Tpcc::pay(Client& client, base::Random& random) const {
  const int d = district(random);
  const auto amount = money(random.between(100, 500000));
  client.query("UPDATE warehouse SET w_ytd = w_ytd + $1 WHERE w_id = 1", amount);
  const auto warehouse = client.query("SELECT w_name FROM warehouse WHERE w_id = 1");
  client.query("UPDATE district SET d_ytd = d_ytd + $1 WHERE d_w_id = 1 AND d_id = $2", amount, d);
  client.query("SELECT d_name FROM district WHERE d_w_id = 1 AND d_id = $1", d);
  const auto c = customer(client, random, d);
  client.query(
      "UPDATE customer SET c_balance = c_balance - $1, c_ytd_payment = c_ytd_payment + $1, "
      "c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = 1 AND c_d_id = $2 AND c_id = $3",
      amount, d, c);
  const auto credit = client.query(
      "SELECT c_credit, c_data FROM customer WHERE c_w_id = 1 AND c_d_id = $1 AND c_id = $2", d, c);
  if (credit.text() == "BC") {
    const auto data =
        std::to_string(c) + " " + std::to_string(d) + " " + amount + " " + credit.text(1);
    client.query("UPDATE customer SET c_data = $1 WHERE c_w_id = 1 AND c_d_id = $2 AND c_id = $3",
                 data.substr(0, 500), d, c);
  }
  client.query("INSERT INTO history VALUES ($1, $2, 1, $2, 1, $3, $4, $5)", c, d, kNow, amount,
               warehouse.text() + "    district");
}

// 2.7.4.2, the districts in one transaction
void Tpcc::deliver(Client& client, base::Random& random) const {
  const auto carrier = random.between(1, 10);
  for (int d = 1; d <= scale_.districts; ++d) {
    const auto oldest = client.query(
        "SELECT no_o_id FROM new_order WHERE no_w_id = 1 AND no_d_id = $1 "
        "ORDER BY no_o_id LIMIT 1",
        d);
    if (oldest.rows.empty()) continue;
    const auto order = oldest.integer();
    client.query("DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = $1 AND no_o_id = $2", d,
                 order);
    const auto c =
        client
            .query("SELECT o_c_id FROM orders WHERE o_w_id = 1 AND o_d_id = $1 AND o_id = $2", d,
                   order)
            .integer();
    client.query(
        "UPDATE orders SET o_carrier_id = $1 WHERE o_w_id = 1 AND o_d_id = $2 AND o_id = $3",
        carrier, d, order);
    client.query(
        "UPDATE order_line SET ol_delivery_d = $1 "
        "WHERE ol_w_id = 1 AND ol_d_id = $2 AND ol_o_id = $3",
        kNow, d, order);
    const auto total = client.query(
        "SELECT sum(ol_amount) FROM order_line "
        "WHERE ol_w_id = 1 AND ol_d_id = $1 AND ol_o_id = $2",
        d, order);
    client.query(
        "UPDATE customer SET c_balance = c_balance + $1, c_delivery_cnt = c_delivery_cnt + 1 "
        "WHERE c_w_id = 1 AND c_d_id = $2 AND c_id = $3",
        total.text(), d, c);
  }
}

// 2.6.2.2
void Tpcc::status_of_order(Client& client, base::Random& random) const {
  const int d = district(random);
  const auto c = customer(client, random, d);
  client.query(
      "SELECT c_balance, c_first, c_last FROM customer "
      "WHERE c_w_id = 1 AND c_d_id = $1 AND c_id = $2",
      d, c);
  const auto order = client
                         .query(
                             "SELECT o_id, o_entry_d, o_carrier_id FROM orders "
                             "WHERE o_w_id = 1 AND o_d_id = $1 AND o_c_id = $2 "
                             "ORDER BY o_id DESC LIMIT 1",
                             d, c)
                         .integer();
  client.query(
      "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line "
      "WHERE ol_w_id = 1 AND ol_d_id = $1 AND ol_o_id = $2",
      d, order);
}

// 2.8.2.2
void Tpcc::level_of_stock(Client& client, base::Random& random) const {
  const int d = district(random);
  const auto threshold = random.between(10, 20);
  const auto next =
      client.query("SELECT d_next_o_id FROM district WHERE d_w_id = 1 AND d_id = $1", d).integer();
  client.query(
      "SELECT count(DISTINCT s_i_id) FROM order_line JOIN stock "
      "ON s_w_id = ol_w_id AND s_i_id = ol_i_id "
      "WHERE ol_w_id = 1 AND ol_d_id = $1 AND ol_o_id >= $2 AND ol_o_id < $3 "
      "AND s_quantity < $4",
      d, next - 20, next, threshold);
}

}  // namespace

std::unique_ptr<Application> tpcc(const TpccScale& scale) {
  return std::make_unique<Tpcc>(scale);
}

}  // namespace cupel::applications
