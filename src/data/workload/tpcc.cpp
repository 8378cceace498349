// tpcc: TPC-C 5.11 by primary key. `scale` 1 is one warehouse, ten districts, 30 000
// customers and, a tenth of the standard's, 10 000 items; more is more warehouses,
// less is fewer customers and items.
//
// Deviations, all because statements are by primary key: a customer is found by
// number and not by name; a district counts its oldest undelivered order, a customer
// his last one; a payment's key is the number of its write. No orders are loaded.
// Amounts are in cents, shares in hundredths of a percent.
#include <algorithm>
#include <set>

#include "data/workload/application.hpp"
#include "data/workload/workload_spec.hpp"

namespace cupel::workload {

namespace {

enum : std::uint32_t {
  kWarehouse,
  kDistrict,
  kCustomer,
  kPayments,  // TPC-C's history
  kItem,
  kStock,
  kOrders,
  kNewOrder,
  kOrderLine
};
// Columns.
enum : std::uint32_t { kWarehouseTax = 1, kWarehouseYtd };
enum : std::uint32_t { kDistrictTax = 1, kDistrictYtd, kNextOrder, kNextDelivery };
enum : std::uint32_t {
  kCredit = 1,
  kDiscount,
  kBalance,
  kYtdPayment,
  kPaymentCount,
  kDeliveryCount,
  kLastOrder
};
enum : std::uint32_t { kPrice = 1 };
enum : std::uint32_t { kQuantity, kStockYtd, kOrderCount, kRemoteCount };
enum : std::uint32_t { kOrderCustomer, kCarrier, kLineCount };
enum : std::uint32_t { kLineItem, kSupply, kLineQuantity, kAmount, kDelivered };

constexpr std::int64_t kDistricts = 10, kCustomersOfDistrict = 3000, kItems = 10000;
constexpr std::int64_t kMinLines = 5, kMaxLines = 15;
constexpr std::int64_t kWhole = 10000;  // shares are of this

struct Line {
  std::int64_t item, supply, quantity;
};

struct Sizes {
  std::int64_t warehouses, customers, items;  // customers of a district
  explicit Sizes(double scale)
      : warehouses(scaled(1, scale)),
        customers(scaled(kCustomersOfDistrict, std::min(scale, 1.0), 3)),
        items(scaled(kItems, std::min(scale, 1.0), kMaxLines)) {}
};

// A number that follows from a key, so that nothing needs to be kept of what was loaded.
std::int64_t spread(std::int64_t seed, std::int64_t low, std::int64_t high) {
  return base::Random(static_cast<std::uint64_t>(seed)).between(low, high);
}

class Tpcc final : public Application {
 public:
  explicit Tpcc(const WorkloadOptions& o)
      : Application(o, tables(Sizes(o.scale)), true), sizes_(o.scale) {
    set_kinds({
        {"new-order", 45, [this](auto& r) { return new_order(r); }},
        {"payment", 43, [this](auto& r) { return payment(r); }},
        {"order-status", 4, [this](auto& r) { return order_status(r); }},
        {"delivery", 4, [this](auto& r) { return delivery(r); }},
        {"stock-level", 4, [this](auto& r) { return stock_level(r); }},
    });
  }

 private:
  static std::vector<TableSpec> tables(const Sizes& n) {
    using Payloads = std::vector<std::string>;
    const auto text = [](std::int64_t number) { return std::to_string(number); };
    return {
        {"warehouse",
         {"w"},
         {"name", "tax", "ytd"},
         {n.warehouses},
         [=](const RowKey& k) {
           return Payloads{"warehouse " + text(k[0]), text(spread(k[0], 0, 2000)), "0"};
         }},
        {"district",
         {"w", "d"},
         {"name", "tax", "ytd", "next_order", "next_delivery"},
         {n.warehouses, kDistricts},
         [=](const RowKey& k) {
           return Payloads{"district " + text(k[1]), text(spread(k[1], 0, 2000)), "0", "1", "1"};
         }},
        {"customer",
         {"w", "d", "c"},
         {"name", "credit", "discount", "balance", "ytd_payment", "payment_count", "delivery_count",
          "last_order"},
         {n.warehouses, kDistricts, n.customers},
         [=](const RowKey& k) {
           return Payloads{"customer " + text(k[2]),
                           k[2] % 10 == 0 ? "BC" : "GC",
                           text(spread(k[2], 0, 5000)),
                           "-1000",
                           "1000",
                           "1",
                           "0",
                           "0"};
         }},
        {"payments", {"payment"}, {"customer", "district", "amount"}},
        {"item",
         {"i"},
         {"name", "price"},
         {n.items},
         [=](const RowKey& k) {
           return Payloads{"item " + text(k[0]), text(spread(k[0], 100, 10000))};
         }},
        {"stock",
         {"w", "i"},
         {"quantity", "ytd", "order_count", "remote_count"},
         {n.warehouses, n.items},
         [=](const RowKey& k) {
           return Payloads{text(spread(k[1], 10, 100)), "0", "0", "0"};
         }},
        {"orders", {"w", "d", "o"}, {"customer", "carrier", "line_count"}},
        {"new_order", {"w", "d", "o"}, {"customer"}},
        {"order_line",
         {"w", "d", "o", "line"},
         {"item", "supply", "quantity", "amount", "delivered"}},
    };
  }

  // The standard's non-uniform numbers (clause 2.1.6) in 1 … high.
  static std::int64_t uneven(base::Random& random, std::int64_t a, std::int64_t high) {
    constexpr std::int64_t kC = 123;
    return ((random.between(0, a) | random.between(1, high)) + kC) % high + 1;
  }
  std::int64_t customer(base::Random& random) const {
    return uneven(random, 1023, sizes_.customers);
  }
  std::int64_t warehouse(base::Random& random) const {
    return random.between(1, sizes_.warehouses);
  }
  static std::int64_t district(base::Random& random) { return random.between(1, kDistricts); }
  // Any warehouse but this one, if there is another.
  std::int64_t remote(base::Random& random, std::int64_t home) const {
    if (sizes_.warehouses == 1) return home;
    const auto other = random.between(1, sizes_.warehouses - 1);
    return other + (other >= home);
  }

  // Clause 2.4. One in a hundred names an item that does not exist, and is given up.
  Program new_order(base::Random& random) const {
    const auto w = warehouse(random), d = district(random), c = customer(random);
    std::vector<Line> lines;
    for (auto count = random.between(kMinLines, kMaxLines); count > 0; --count) {
      const auto supply = random.chance(0.01) ? remote(random, w) : w;
      lines.push_back({uneven(random, 8191, sizes_.items), supply, random.between(1, 10)});
    }
    if (random.chance(0.01)) lines.back().item = sizes_.items + 1;
    return [=](Rows& rows) {
      const auto warehouse_tax = rows.read(kWarehouse, {w}, {kWarehouseTax}).number(0);
      const auto home = rows.read(kDistrict, {w, d}, {kDistrictTax, kNextOrder});
      const auto buyer = rows.read(kCustomer, {w, d, c}, {kDiscount, kLastOrder, kCredit});
      const auto order = home.number(1);
      if (!rows.ok()) return;
      rows.write(kDistrict, {w, d}, {{kNextOrder, order + 1}});
      rows.insert(kOrders, {w, d, order}, {std::to_string(c), "0", std::to_string(lines.size())});
      rows.insert(kNewOrder, {w, d, order}, {std::to_string(c)});
      rows.write(kCustomer, {w, d, c}, {{kLastOrder, order}});
      std::int64_t number = 0;
      for (const auto& line : lines) {
        const auto item = rows.read(kItem, {line.item}, {kPrice});
        if (!item.exists()) return rows.give_up();
        const RowKey stock_key = {line.supply, line.item};
        const auto stock =
            rows.read(kStock, stock_key, {kQuantity, kStockYtd, kOrderCount, kRemoteCount});
        if (!rows.ok()) return;
        const auto left = stock.number(0) - line.quantity;
        rows.write(kStock, stock_key,
                   {{kQuantity, left >= 10 ? left : left + 91},
                    {kStockYtd, stock.number(1) + line.quantity},
                    {kOrderCount, stock.number(2) + 1},
                    {kRemoteCount, stock.number(3) + (line.supply != w)}});
        const auto amount = line.quantity * item.number(0) *
                            (kWhole + warehouse_tax + home.number(0)) / kWhole *
                            (kWhole - buyer.number(0)) / kWhole;
        rows.insert(kOrderLine, {w, d, order, ++number},
                    {std::to_string(line.item), std::to_string(line.supply),
                     std::to_string(line.quantity), std::to_string(amount), "0"});
      }
    };
  }

  // Clause 2.5. With more than one warehouse, 15 % of the customers are of another.
  Program payment(base::Random& random) const {
    const auto w = warehouse(random), d = district(random);
    const bool away = random.chance(0.15);
    const auto customer_w = away ? remote(random, w) : w, customer_d = away ? district(random) : d;
    const auto c = customer(random), amount = random.between(100, 500000);
    return [=](Rows& rows) {
      const auto warehouse_ytd = rows.read(kWarehouse, {w}, {kWarehouseYtd}).number(0);
      const auto district_ytd = rows.read(kDistrict, {w, d}, {kDistrictYtd}).number(0);
      const RowKey who = {customer_w, customer_d, c};
      const auto payer = rows.read(kCustomer, who, {kBalance, kYtdPayment, kPaymentCount});
      if (!rows.ok()) return;
      rows.write(kWarehouse, {w}, {{kWarehouseYtd, warehouse_ytd + amount}});
      rows.write(kDistrict, {w, d}, {{kDistrictYtd, district_ytd + amount}});
      rows.write(kCustomer, who,
                 {{kBalance, payer.number(0) - amount},
                  {kYtdPayment, payer.number(1) + amount},
                  {kPaymentCount, payer.number(2) + 1}});
      rows.insert(kPayments, {rows.unique()},
                  {std::to_string(c), std::to_string(d), std::to_string(amount)});
    };
  }

  // Clause 2.6.
  Program order_status(base::Random& random) const {
    const auto w = warehouse(random), d = district(random), c = customer(random);
    return [=](Rows& rows) {
      const auto order = rows.read(kCustomer, {w, d, c}, {kBalance, kLastOrder}).number(1);
      if (order == 0) return;
      const auto lines = rows.read(kOrders, {w, d, order}, {kCarrier, kLineCount}).number(1);
      for (std::int64_t n = 1; n <= std::min(lines, kMaxLines); ++n) {
        rows.read(kOrderLine, {w, d, order, n}, {kLineItem, kLineQuantity, kAmount, kDelivered});
      }
    };
  }

  // Clause 2.7: the oldest undelivered order of each district.
  Program delivery(base::Random& random) const {
    const auto w = warehouse(random), carrier = random.between(1, 10);
    return [=](Rows& rows) {
      for (std::int64_t d = 1; d <= kDistricts && rows.ok(); ++d) {
        const auto home = rows.read(kDistrict, {w, d}, {kNextOrder, kNextDelivery});
        const auto order = home.number(1);
        if (order >= home.number(0)) continue;
        const auto what = rows.read(kOrders, {w, d, order}, {kOrderCustomer, kLineCount});
        if (!what.exists()) continue;
        std::int64_t total = 0;
        for (std::int64_t n = 1; n <= std::min(what.number(1), kMaxLines); ++n) {
          total += rows.read(kOrderLine, {w, d, order, n}, {kAmount}).number(0);
          if (rows.ok()) rows.write(kOrderLine, {w, d, order, n}, {{kDelivered, 1}});
        }
        const RowKey who = {w, d, what.number(0)};
        const auto buyer = rows.read(kCustomer, who, {kBalance, kDeliveryCount});
        if (!rows.ok()) return;
        rows.write(kDistrict, {w, d}, {{kNextDelivery, order + 1}});
        rows.erase(kNewOrder, {w, d, order});
        rows.write(kOrders, {w, d, order}, {{kCarrier, carrier}});
        rows.write(kCustomer, who,
                   {{kBalance, buyer.number(0) + total}, {kDeliveryCount, buyer.number(1) + 1}});
      }
    };
  }

  // Clause 2.8: the stock of all items in the last twenty orders of a district.
  Program stock_level(base::Random& random) const {
    constexpr std::int64_t kOrdersSeen = 20;
    const auto w = warehouse(random), d = district(random);
    return [=](Rows& rows) {
      const auto next = rows.read(kDistrict, {w, d}, {kNextOrder}).number(0);
      std::set<std::int64_t> items;
      for (auto order = std::max<std::int64_t>(1, next - kOrdersSeen); order < next && rows.ok();
           ++order) {
        const auto lines = rows.read(kOrders, {w, d, order}, {kLineCount}).number(0);
        for (std::int64_t n = 1; n <= std::min(lines, kMaxLines); ++n) {
          items.insert(rows.read(kOrderLine, {w, d, order, n}, {kLineItem}).number(0));
        }
      }
      for (const auto item : items) rows.read(kStock, {w, item}, {kQuantity});
    };
  }

  Sizes sizes_;
};

}  // namespace

extern constinit const WorkloadSpec kTpccWorkload{
    {.name = "tpcc",
     .summary = "wholesale supplier: new orders, payments, deliveries",
     .source = "TPC-C 5.11; sizes as in VIPER, section 7",
     .page = "docs/reference/workloads/tpcc.md"},
    [](const WorkloadOptions& options) -> WorkloadPointer {
      return std::make_unique<Tpcc>(options);
    }};

}  // namespace cupel::workload
