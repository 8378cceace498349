// The rows of a MariaDB table, without a server: indexes, copies, and what a transaction sees of
// them in a store.
#include "mock/engines/mariadb/row_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/temp_dir.hpp"
#include "mock/engines/mariadb/transaction.hpp"
#include "mock/engines/mariadb/weak_table.hpp"
#include "mock/engines/store_service.hpp"

namespace cupel::engines::mariadb {
namespace {

int compare_bytes(const unsigned char* one, const unsigned char* other, std::size_t length) {
  return std::memcmp(one, other, length);
}

std::string rows_in_order(const RowStore& store) {
  std::string text;
  for (const auto* entry : store.entries(0, compare_bytes, ""))
    text += entry->key + std::to_string(entry->row) + " ";
  return text;
}

TEST(RowStore, OrdersEntriesByKeyAndRow) {
  RowStore store(1);
  for (const char* key : {"bb", "ba", "ab", "ba"}) {
    const auto row = store.add_row("");
    store.add_entry(0, compare_bytes, key, row);
  }
  store.add_entry(0, compare_bytes, "ba", 2);  // is there already
  EXPECT_EQ(rows_in_order(store), "ab3 ba2 ba4 bb1 ");
  using Edge = RowStore::Edge;
  const auto from = [&](const char* start, Edge edge) {
    const auto* entry = store.first_from(0, compare_bytes, start, edge);
    return entry == nullptr ? "-" : entry->key + std::to_string(entry->row);
  };
  const auto before = [&](const char* start, Edge edge) {
    const auto* entry = store.last_before(0, compare_bytes, start, edge);
    return entry == nullptr ? "-" : entry->key + std::to_string(entry->row);
  };
  EXPECT_EQ(from("ba", Edge::kBefore), "ba2");
  EXPECT_EQ(from("ba", Edge::kAfter), "bb1");
  EXPECT_EQ(from("b", Edge::kBefore), "ba2");  // a prefix
  EXPECT_EQ(from("b", Edge::kAfter), "-");
  EXPECT_EQ(from("", Edge::kBefore), "ab3");
  EXPECT_EQ(before("ba", Edge::kBefore), "ab3");
  EXPECT_EQ(before("ba", Edge::kAfter), "ba4");
  EXPECT_EQ(before("a", Edge::kBefore), "-");
  EXPECT_EQ(before("", Edge::kAfter), "bb1");
  EXPECT_EQ(store.count_before(0, compare_bytes, "b", Edge::kBefore), 1u);
  EXPECT_EQ(store.count_before(0, compare_bytes, "", Edge::kAfter), 4u);
  EXPECT_EQ(store.entries(0, compare_bytes, "ba").size(), 2u);
  EXPECT_TRUE(store.entries(0, compare_bytes, "c").empty());
  // An entry is a place that insertions do not move.
  const auto* last = store.last_before(0, compare_bytes, "", Edge::kAfter);
  store.add_entry(0, compare_bytes, "aa", 1);
  store.add_entry(0, compare_bytes, "baa", 1);
  EXPECT_EQ(store.before(0, compare_bytes, *last)->key, "baa");
  EXPECT_TRUE(store.after(0, compare_bytes, *last, 3).empty());
  const auto* first = store.first_from(0, compare_bytes, "", Edge::kBefore);
  EXPECT_EQ(store.before(0, compare_bytes, *first), nullptr);
  EXPECT_EQ(store.after(0, compare_bytes, *first, 2).size(), 2u);
  EXPECT_EQ(store.after(0, compare_bytes, *first, 9).size(), 5u);
}

// Each reader finds every row that was there when it began once, and in order.
TEST(RowStore, IsReadWhileOthersInsert) {
  RowStore store(1);
  const auto key_of = [](int number) {
    auto text = std::to_string(number);
    return std::string(6 - text.size(), '0') + text;
  };
  constexpr int kThere = 300, kFirst = 100000;
  for (int i = 0; i < kThere; ++i)
    store.add_entry(0, compare_bytes, key_of(kFirst + i), store.add_row(""));
  std::atomic<bool> done = false;
  std::thread writer([&] {  // always before what is there
    for (int number = kFirst - 1; number > 0 && !done; --number)
      store.add_entry(0, compare_bytes, key_of(number), store.add_row(""));
  });
  const auto check = [&](const std::vector<std::string>& keys) {
    EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end(), std::less_equal<>()));
    EXPECT_EQ(std::count_if(keys.begin(), keys.end(),
                            [&](const auto& key) { return key >= key_of(kFirst); }),
              kThere);
  };
  for (int round = 0; round < 20; ++round) {
    std::vector<std::string> all, forward, backward;
    for (const auto* entry : store.entries(0, compare_bytes, "")) all.push_back(entry->key);
    check(all);
    const auto* entry = store.first_from(0, compare_bytes, key_of(kFirst), RowStore::Edge::kBefore);
    while (entry != nullptr) {
      forward.push_back(entry->key);
      const auto next = store.after(0, compare_bytes, *entry, 1);
      entry = next.empty() ? nullptr : next.front();
    }
    check(forward);
    entry = store.last_before(0, compare_bytes, "", RowStore::Edge::kAfter);
    while (entry != nullptr && entry->key >= key_of(kFirst)) {
      backward.insert(backward.begin(), entry->key);
      entry = store.before(0, compare_bytes, *entry);
    }
    check(backward);
  }
  done = true;
  writer.join();
}

TEST(RowStore, HasOneRowForAKey) {
  RowStore store(1);
  const auto row = store.row_of_key(0, compare_bytes, "aa", "a");
  EXPECT_NE(store.row_of_key(0, compare_bytes, "ab", "b"), row);
  EXPECT_EQ(store.row_of_key(0, compare_bytes, "aa", "A"), row);
  EXPECT_EQ(store.key_text(row), "a");
  EXPECT_EQ(store.entries(0, compare_bytes, "").size(), 2u);
}

TEST(RowStore, IsCopiedWithItsIndexes) {
  RowStore store(1);
  const auto row = store.add_row("7");
  const auto version = store.add_version("seven");
  store.add_entry(0, compare_bytes, "7", row);
  const RowStore copy(store);
  store.add_entry(0, compare_bytes, "6", store.add_row("6"));
  EXPECT_EQ(rows_in_order(copy), "71 ");
  EXPECT_EQ(copy.bytes(version), "seven");
  EXPECT_EQ(copy.key_text(row), "7");
  EXPECT_EQ(copy.row_count(), 1u);
}

TEST(RowStore, NumbersArePositionsOfTheStoreAndBack) {
  for (const std::uint32_t number : {0U, 1U, 2U, 65534U, 65535U, 65536U, 131070U, 131071U})
    EXPECT_EQ(number_at(position_of(number)), number);
  EXPECT_FALSE(position_of(0).valid());
  EXPECT_TRUE(position_of(65535).valid());
  EXPECT_TRUE(position_of(65536).valid());
}

class WeakTransaction : public testing::Test {
 protected:
  WeakTransaction() {
    mock::Options options;
    options.level = mock::Level::kStrongSessionSerializable;
    options.uniform = 0;
    options.latest = 1;
    service_ = std::move(*StoreService::start(folder_.file("store"), options));
    table_ = catalog_.make("./cupel/t", 0, TableKind::kWeak);
  }
  Transaction session(const std::string& name) {
    return Transaction({.socket = folder_.file("store"),
                        .database = 1,
                        .session = name,
                        .client_port = 0,
                        .interrupted = {}});
  }
  RowNumber insert(Transaction& transaction, const std::string& key, const std::string& value) {
    const auto row = table_->rows.add_row(key);
    write(transaction, row, value, true);
    return row;
  }
  void write(Transaction& transaction, RowNumber row, const std::string& value,
             bool insert = false) {
    transaction.write(table_, {.row = row,
                               .version = table_->rows.add_version(value),
                               .insert = insert,
                               .table_name = "t",
                               .value = value});
  }
  std::string seen(Transaction& transaction, RowNumber row) {
    transaction.begin_statement();
    const auto version = transaction.visible(table_, row, Transaction::Sight::kWeak);
    transaction.end_statement(!version);
    if (!version) return "failed: " + transaction.failure().message;
    return *version == 0 ? "nothing" : table_->rows.bytes(*version);
  }

  base::TempDir folder_ = std::move(*base::TempDir::make("cupel-test-"));
  std::unique_ptr<StoreService> service_;
  Catalog catalog_;
  TablePtr table_;
};

TEST_F(WeakTransaction, SeesItsOwnWritesAndWhatIsCommitted) {
  auto one = session("one"), other = session("other");
  const auto row = insert(one, "5", "five");
  EXPECT_EQ(seen(one, row), "five");
  EXPECT_EQ(seen(other, row), "nothing");
  other.roll_back();
  EXPECT_TRUE(one.commit());
  EXPECT_EQ(seen(other, row), "five");
  write(other, row, "V");
  EXPECT_EQ(seen(other, row), "V");
  EXPECT_TRUE(other.commit());
  EXPECT_EQ(seen(one, row), "V");
  one.roll_back();
  const auto history = service_->history();
  ASSERT_TRUE(history.ok());
  EXPECT_EQ(history->key(history::KeyId(0)).to_string(), "t(5)");
}

TEST_F(WeakTransaction, UndoesToAMark) {
  auto one = session("one");
  const auto row = insert(one, "5", "five");
  const auto mark = one.mark();
  write(one, row, "V");
  const auto second = insert(one, "6", "six");
  one.write(table_, {.row = row});
  EXPECT_EQ(seen(one, row), "nothing");
  one.roll_back_to(mark);
  EXPECT_EQ(seen(one, row), "five");
  EXPECT_EQ(seen(one, second), "nothing");
  one.roll_back();
  EXPECT_EQ(seen(one, row), "nothing");
}

TEST_F(WeakTransaction, InsertsAndDeletesARowThatOthersHaveWithoutDeletingTheirs) {
  auto one = session("one"), other = session("other");
  const auto row = insert(one, "5", "five");
  ASSERT_TRUE(one.commit());
  write(other, row, "mine", true);  // it did not see the first
  other.write(table_, {.row = row});
  ASSERT_TRUE(other.commit());
  EXPECT_EQ(seen(one, row), "five");
}

TEST_F(WeakTransaction, FailsUntilItIsRolledBack) {
  auto one = session("one");
  one.choose("none", "", Transaction::Isolation::kReadCommitted);
  const auto row = insert(one, "5", "five");
  EXPECT_FALSE(one.commit());
  EXPECT_EQ(one.failure().trouble, StoreClient::Trouble::kInvalid);
  EXPECT_FALSE(one.commit());
  one.roll_back();
  one.choose("causal", "latest", Transaction::Isolation::kReadCommitted);
  write(one, row, "five", true);
  EXPECT_TRUE(one.commit());
}

TEST_F(WeakTransaction, FailsIfTheStoreIsGone) {
  auto one = session("one");
  const auto row = insert(one, "5", "five");
  ASSERT_TRUE(one.commit());
  service_.reset();
  EXPECT_NE(seen(one, row).find("failed: the connection to cupel's mock store is lost"),
            std::string::npos);
  EXPECT_EQ(one.failure().trouble, StoreClient::Trouble::kLost);
}

TEST_F(WeakTransaction, KeepsTablesOfTheServerOutOfTheStore) {
  const auto strong = catalog_.make("./mysql/t", 0, TableKind::kStrong);
  auto one = session("one"), other = session("other");
  const auto row = strong->rows.add_row("");
  one.write(strong, {.row = row, .version = strong->rows.add_version("x"), .insert = true});
  EXPECT_EQ(other.visible(strong, row, Transaction::Sight::kWeak), VersionNumber{0});
  EXPECT_TRUE(one.commit());
  EXPECT_EQ(other.visible(strong, row, Transaction::Sight::kWeak), VersionNumber{1});
  EXPECT_EQ(service_->asked_for(), 0u);
}

TEST_F(WeakTransaction, DoesNotTakeBackWhatASequenceGave) {
  const auto sequence = catalog_.make("./cupel/s", 0, TableKind::kSequence);
  auto one = session("one"), other = session("other");
  const auto row = sequence->rows.add_row("");
  one.write(sequence, {.row = row, .version = sequence->rows.add_version("1")});
  EXPECT_EQ(other.visible(sequence, row, Transaction::Sight::kWeak), VersionNumber{1});
  one.roll_back();
  EXPECT_EQ(one.visible(sequence, row, Transaction::Sight::kWeak), VersionNumber{1});
}

TEST(Catalog, RestoresFilesAndRows) {
  namespace fs = std::filesystem;
  const auto folder = std::move(*base::TempDir::make("cupel-test-"));
  const fs::path data = folder.path() / "data";
  const auto write_file = [&](const char* name) {
    fs::create_directories((data / name).parent_path());
    std::ofstream(data / name) << name;
  };
  Catalog catalog;
  for (const char* name : {"cupel/t.frm", "mysql/user.frm"}) write_file(name);
  const auto table = catalog.make("./cupel/t", 0, TableKind::kWeak);
  table->rows.add_row("1");
  catalog.make("/tmp/#sql-1", 0, TableKind::kStrong);
  catalog.keep(data);
  write_file("cupel/u.frm");
  write_file("mysql/more.frm");
  table->rows.add_row("2");
  catalog.make("./cupel/u", 0, TableKind::kWeak);
  fs::remove_all(data / "cupel");  // as DROP DATABASE does
  EXPECT_EQ(catalog.restore(data), 1u);
  EXPECT_EQ(catalog.generation(), 2u);
  EXPECT_TRUE(fs::exists(data / "cupel/t.frm"));
  EXPECT_FALSE(fs::exists(data / "cupel/u.frm"));
  EXPECT_TRUE(fs::exists(data / "mysql/more.frm"));
  EXPECT_EQ(catalog.find("./cupel/t")->rows.row_count(), 1u);
  EXPECT_EQ(catalog.find("./cupel/t")->number, table->number);
  EXPECT_EQ(catalog.find("./cupel/u"), nullptr);
  EXPECT_NE(catalog.find("/tmp/#sql-1"), nullptr);
  EXPECT_EQ(catalog.restore(data), 1u);  // once more
  EXPECT_EQ(catalog.generation(), 3u);
}

}  // namespace
}  // namespace cupel::engines::mariadb
