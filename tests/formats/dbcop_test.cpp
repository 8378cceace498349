// dbcop bincode: flags, hostile lengths, real files, round trips.
#include "data/formats/dbcop.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "data/formats/formats.hpp"
#include "data/history/builder.hpp"
#include "formats/files.hpp"
#include "formats/history_text.hpp"

namespace cupel::formats {
namespace {

using namespace history;

struct Event {
  bool write;
  std::uint64_t variable, value;
  std::uint8_t success = 1;
};
struct Txn {
  std::vector<Event> events;
  std::uint8_t committed = 1;
};

std::string u64(std::uint64_t n) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(n >> (8 * i));
  return bytes;
}

std::string bincode(const std::vector<std::vector<Txn>>& sessions,
                    const std::string& info = "PostgreSQL") {
  std::string bytes = u64(0) + u64(99) + u64(99) + u64(99) + u64(99);  // counts nobody may rely on
  bytes += u64(info.size()) + info + u64(0) + u64(0) + u64(sessions.size());
  for (const auto& session : sessions) {
    bytes += u64(session.size());
    for (const auto& txn : session) {
      bytes += u64(txn.events.size());
      for (const auto& e : txn.events) {
        bytes += static_cast<char>(e.write);
        bytes += u64(e.variable) + u64(e.value);
        bytes += static_cast<char>(e.success);
      }
      bytes += static_cast<char>(txn.committed);
    }
  }
  return bytes;
}

std::string read_text(const std::string& bytes) {
  const auto history = read_dbcop(bytes, "f");
  return history.ok() ? text_of(*history) : history.error().to_string();
}

std::string written(const History& h) {
  std::ostringstream out;
  const auto status = write_dbcop(h, out);
  return status.ok() ? out.str() : "refused: " + status.error().message;
}

TEST(DbcopReader, FailedEventsDidNotHappenUncommittedTransactionsAreAborted) {
  EXPECT_EQ(
      read_text(bincode(
          {{{{{true, 1, 5}, {true, 2, 6, 0}, {false, 1, 5}}}, {{{true, 1, 7}}, 0}}, {}, {{{}}}})),
      "0: #0 w(1,5) r(1,5) | aborted #1 w(1,7)\n1: -\n2: #2\n");
}

TEST(DbcopReader, FlagsThatNobodySetSayNothing) {
  EXPECT_EQ(read_text(bincode({{{{{true, 1, 5, 0}, {false, 2, 0, 0}}, 0}}})),
            "0: #0 w(1,5) r(2,0)\n");
  EXPECT_EQ(read_text(bincode({{{{{true, 1, 5, 0}}, 1}, {{{true, 1, 6, 0}}, 0}}})),
            "0: #0 w(1,5) | aborted #1 w(1,6)\n");
  EXPECT_EQ(read_text(bincode({{{{{true, 1, 5, 1}}, 0}}})), "0: aborted #0 w(1,5)\n");
}

TEST(DbcopReader, KeepsTheFactsOfTheHeader) {
  const auto h = read_dbcop(bincode({{{{{false, 1, 0}}}}}), "f");
  ASSERT_TRUE(h.ok());
  EXPECT_EQ(h->metadata().at("database"), "PostgreSQL");
  EXPECT_EQ(h->initial_value(KeyId(0)), h->op(OpId(0)).value);
}

TEST(DbcopReader, EveryCutNamesAByte) {
  const auto bytes = bincode({{{{{true, 1, 5}}}}, {{{{false, 1, 5}}}}});
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    const auto h = read_dbcop(std::string_view(bytes).substr(0, cut), "f");
    ASSERT_FALSE(h.ok()) << cut;
    EXPECT_TRUE(h.error().byte.has_value()) << cut;
    EXPECT_LE(*h.error().byte, cut);
  }
  const auto longer = read_dbcop(bytes + "x", "f");
  ASSERT_FALSE(longer.ok());
  EXPECT_EQ(longer.error().byte, bytes.size());
}

TEST(DbcopReader, HostileLengthsAreErrors) {
  const auto bytes = bincode({{{{{true, 1, 5}}}}});
  const std::size_t lengths[] = {40, 40 + 8 + 10, 66, 74, 82, 90};
  for (const auto at : lengths) {
    for (const auto length : {std::uint64_t{1} << 63, ~std::uint64_t{0}, std::uint64_t{1} << 40}) {
      auto hostile = bytes;
      hostile.replace(at, 8, u64(length));
      const auto h = read_dbcop(hostile, "f");
      ASSERT_FALSE(h.ok()) << at;
      EXPECT_EQ(h.error().byte, at);
      EXPECT_NE(h.error().message.find("expected at most"), std::string::npos) << h.error().message;
    }
  }
  auto flag = bytes;
  flag.back() = 2;
  EXPECT_EQ(read_text(flag), "f: byte " + std::to_string(bytes.size() - 1) +
                                 ": found 2 as the success flag of a transaction, expected 0 or 1");
}

TEST(DbcopWriter, WritesBackWhatItRead) {
  const auto bytes = bincode({{{{{true, 1, 5}, {false, 1, 5}}}, {{{true, 1, 7}}, 0}}, {}, {{{}}}});
  const auto h = read_dbcop(bytes, "f");
  ASSERT_TRUE(h.ok());
  const auto again = written(*h);
  EXPECT_EQ(again.substr(40), bytes.substr(40));
  EXPECT_EQ(read_text(again), text_of(*h));
}

TEST(DbcopWriter, RefusesAnIndeterminateTransaction) {
  HistoryBuilder b;
  b.begin(b.session("a"), TxnStatus::kIndeterminate, {.label = 3});
  b.end();
  EXPECT_TRUE(written(*std::move(b).finish())
                  .starts_with("refused: T3 (session a, its 1st transaction) is indeterminate"));
}

TEST(DbcopRecorded, PolySI) {
  CUPEL_RECORDED(folder, "polysi/violations/dgraph");  // a directory that holds the file
  const auto h = read(folder);
  ASSERT_TRUE(h.ok()) << h.error().to_string();
  EXPECT_EQ(h->txn_count(), 800u);
  EXPECT_EQ(h->op_count(), 16000u);
  EXPECT_EQ(h->metadata().at("database"), "Dgraph");
  std::size_t aborted = 0;
  for (std::size_t t = 0; t < h->txn_count(); ++t)
    aborted += h->status(TxnId(t)) == TxnStatus::kAborted;
  EXPECT_EQ(aborted, 320u);
  EXPECT_EQ(written(*h).substr(40), file_bytes(folder + "/history.bincode").substr(40));
}

TEST(DbcopRecorded, EveryFileIsRead) {
  CUPEL_RECORDED(folder, "");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().filename() != "history.bincode") continue;
    const auto h = read(entry.path().string());
    ASSERT_TRUE(h.ok()) << h.error().to_string();
    EXPECT_EQ(h->metadata().at("format"), "dbcop");
    EXPECT_GT(h->op_count(), 0u);
    ++files;
  }
  EXPECT_GE(files, 100u);
}

}  // namespace
}  // namespace cupel::formats
