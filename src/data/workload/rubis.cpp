// rubis: an auction site, after RUBiS (Cecchet, Marguerite, Zwaenepoel, OOPSLA 2002)
// in the form of Cobra's benchmark, whose mix it has but that bids take a third of
// the registrations. Size as in VIPER (section 7): 20 000 users, 80 000 items; users
// and items are chosen by the distribution, zipf by default.
//
// New users and items are numbered by the write that makes them, above those loaded;
// the newest of a region and of a category are found in its row.
#include <array>

#include "data/workload/application.hpp"
#include "data/workload/keys.hpp"
#include "data/workload/workload_spec.hpp"

namespace cupel::workload {

namespace {

enum : std::uint32_t { kRegions, kCategories, kUsers, kItems, kBids, kBuys, kComments };
enum : std::uint32_t { kCount = 1, kNewest };                     // of a region and of a category
enum : std::uint32_t { kRating = 1, kItemsSold, kCommentCount };  // of a user
enum : std::uint32_t { kSeller, kCategory, kQuantity, kMaxBid, kBidCount, kBuyPrice };
constexpr std::int64_t kRegionCount = 62, kCategoryCount = 20, kUserCount = 20000, kItemsOfUser = 4;

class Rubis final : public Application {
 public:
  explicit Rubis(const WorkloadOptions& o)
      : Application(o, tables(o), true),
        users_(scaled(kUserCount, o.scale)),
        items_(users_ * kItemsOfUser),
        user_keys_(o.distribution, static_cast<std::uint64_t>(users_)),
        item_keys_(o.distribution, static_cast<std::uint64_t>(items_)) {
    set_kinds({
        {"register-user", 5, [this](auto& r) { return register_user(r); }},
        {"register-item", 10, [this](auto& r) { return register_item(r); }},
        {"bid", 10, [this](auto& r) { return bid(r); }},
        {"buy-now", 15, [this](auto& r) { return buy_now(r); }},
        {"comment", 20, [this](auto& r) { return comment(r); }},
        {"browse", 40, [this](auto& r) { return browse(r); }},
    });
  }

 private:
  static std::vector<TableSpec> tables(const WorkloadOptions& o) {
    using Payloads = std::vector<std::string>;
    const auto users = scaled(kUserCount, o.scale);
    const auto named = [](const char* what) {
      return [what](const RowKey& key) {
        return Payloads{std::string(what) + ' ' + std::to_string(key[0]), "0", "0"};
      };
    };
    return {
        {"regions", {"region"}, {"name", "users", "newest"}, {kRegionCount}, named("region")},
        {"categories",
         {"category"},
         {"name", "items", "newest"},
         {kCategoryCount},
         named("category")},
        {"users",
         {"user_id"},
         {"nickname", "rating", "items", "comments"},
         {users},
         [](const RowKey& key) {
           return Payloads{"user " + std::to_string(key[0]), "0", std::to_string(kItemsOfUser),
                           "0"};
         }},
        {"items",
         {"item"},
         {"seller", "category", "quantity", "max_bid", "bids", "buy_price"},
         {users * kItemsOfUser},
         [](const RowKey& key) {
           return Payloads{std::to_string((key[0] - 1) / kItemsOfUser + 1),
                           std::to_string(key[0] % kCategoryCount + 1),
                           "1000",
                           "100",
                           "0",
                           "5000"};
         }},
        {"bids", {"item", "bid"}, {"bidder", "amount"}},
        {"buys", {"buy"}, {"item", "buyer", "quantity"}},
        {"comments", {"user_id", "comment"}, {"author", "item", "rating"}},
    };
  }

  std::int64_t user(base::Random& random) const {
    return static_cast<std::int64_t>(user_keys_.choose(random)) + 1;
  }
  std::int64_t item(base::Random& random) const {
    return static_cast<std::int64_t>(item_keys_.choose(random)) + 1;
  }
  // One more user in a region, or item in a category.
  static void add_newest(Rows& rows, std::uint32_t table, std::int64_t key, std::int64_t newest) {
    const auto count = rows.read(table, {key}, {kCount}).number(0);
    if (rows.ok()) rows.write(table, {key}, {{kCount, count + 1}, {kNewest, newest}});
  }

  Program register_user(base::Random& random) const {
    const auto region = random.between(1, kRegionCount);
    return [=, users = users_](Rows& rows) {
      const auto id = users + rows.unique();
      rows.insert(kUsers, {id}, {"user " + std::to_string(id), "0", "0", "0"});
      add_newest(rows, kRegions, region, id);
    };
  }

  Program register_item(base::Random& random) const {
    const auto seller = user(random), category = random.between(1, kCategoryCount);
    const auto price = random.between(100, 10000);
    return [=, items = items_](Rows& rows) {
      const auto id = items + rows.unique();
      const auto sold = rows.read(kUsers, {seller}, {kItemsSold}).number(0);
      if (!rows.ok()) return;
      rows.insert(kItems, {id},
                  {std::to_string(seller), std::to_string(category), "10", std::to_string(price),
                   "0", std::to_string(2 * price)});
      rows.write(kUsers, {seller}, {{kItemsSold, sold + 1}});
      add_newest(rows, kCategories, category, id);
    };
  }

  Program bid(base::Random& random) const {
    const auto what = item(random), bidder = user(random), more = random.between(1, 100);
    return [=](Rows& rows) {
      const auto row = rows.read(kItems, {what}, {kMaxBid, kBidCount});
      if (!rows.ok()) return;
      const auto amount = row.number(0) + more, number = row.number(1) + 1;
      rows.write(kBids, {what, number}, {{0, bidder}, {1, amount}});
      rows.write(kItems, {what}, {{kMaxBid, amount}, {kBidCount, number}});
    };
  }

  Program buy_now(base::Random& random) const {
    const auto what = item(random), buyer = user(random), quantity = random.between(1, 5);
    return [=](Rows& rows) {
      const auto left = rows.read(kItems, {what}, {kQuantity, kBuyPrice}).number(0) - quantity;
      if (left < 0) return rows.give_up();
      if (!rows.ok()) return;
      rows.write(kItems, {what}, {{kQuantity, left}});
      rows.insert(kBuys, {rows.unique()},
                  {std::to_string(what), std::to_string(buyer), std::to_string(quantity)});
    };
  }

  Program comment(base::Random& random) const {
    const auto author = user(random), about = user(random), what = item(random);
    const auto rating = random.between(-5, 5);
    return [=](Rows& rows) {
      const auto row = rows.read(kUsers, {about}, {kRating, kCommentCount});
      if (!rows.ok()) return;
      const auto number = row.number(1) + 1;
      rows.write(kComments, {about, number}, {{0, author}, {1, what}, {2, rating}});
      rows.write(kUsers, {about}, {{kRating, row.number(0) + rating}, {kCommentCount, number}});
    };
  }

  // The newest item of a category and four others, with their last bids, and the
  // ratings of three users.
  Program browse(base::Random& random) const {
    const auto category = random.between(1, kCategoryCount);
    std::array<std::int64_t, 4> items{};
    std::array<std::int64_t, 3> users{};
    for (auto& i : items) i = item(random);
    for (auto& u : users) u = user(random);
    return [=](Rows& rows) {
      const auto newest = rows.read(kCategories, {category}, {kCount, kNewest}).number(1);
      if (newest != 0) show(rows, newest);
      for (const auto i : items) show(rows, i);
      for (const auto u : users) rows.read(kUsers, {u}, {kRating});
    };
  }
  static void show(Rows& rows, std::int64_t what) {
    const auto bids = rows.read(kItems, {what}, {kSeller, kQuantity, kMaxBid, kBidCount}).number(3);
    if (bids > 0) rows.read(kBids, {what, bids}, {0, 1});
  }

  std::int64_t users_, items_;
  KeyDistribution user_keys_, item_keys_;
};

}  // namespace

extern constinit const WorkloadSpec kRubisWorkload{
    {.name = "rubis",
     .summary = "auctions: browse, bid, buy, comment",
     .source = "RUBiS; sizes as in VIPER, section 7",
     .page = "docs/reference/workloads/rubis.md",
     .defaults = {.distribution = Distribution::kZipf}},
    [](const WorkloadOptions& options) -> WorkloadPointer {
      return std::make_unique<Rubis>(options);
    }};

}  // namespace cupel::workload
