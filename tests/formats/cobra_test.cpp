// cobra logs: identities of versions, initial values, unfinished transactions.
#include "data/formats/cobra.hpp"

#include <gtest/gtest.h>

#include "data/formats/formats.hpp"
#include "formats/files.hpp"
#include "formats/history_text.hpp"

namespace cupel::formats {
namespace {

using namespace history;

std::string record(char type, std::initializer_list<std::int64_t> numbers) {
  std::string bytes(1, type);
  for (const auto n : numbers) {
    for (int i = 7; i >= 0; --i)
      bytes += static_cast<char>(static_cast<std::uint64_t>(n) >> (8 * i));
  }
  return bytes;
}
std::string S(std::int64_t txn) {
  return record('S', {txn});
}
std::string C(std::int64_t txn) {
  return record('C', {txn});
}
std::string W(std::int64_t id, std::int64_t key, std::int64_t value) {
  return record('W', {id, key, value});
}
std::string R(std::int64_t writer, std::int64_t id, std::int64_t key, std::int64_t value) {
  return record('R', {writer, id, key, value});
}
constexpr std::int64_t kInit = 0xbebeebee, kNull = 0xdeadbeef, kUnrecorded = 0xabddefee;

base::Result<History> read_logs(const std::vector<std::string>& logs) {
  std::vector<SessionLog> views;
  for (const auto& log : logs) views.push_back({"T" + std::to_string(views.size()) + ".log", log});
  return read_cobra(views, "d");
}
std::string read_text(const std::vector<std::string>& logs) {
  const auto history = read_logs(logs);
  return history.ok() ? text_of(*history) : history.error().to_string();
}

TEST(CobraReader, ValuesStayIntegersWhereTheyIdentifyTheirVersion) {
  EXPECT_EQ(read_text({S(1) + W(10, 5, 7) + C(1), S(2) + R(1, 10, 5, 7) + C(2)}),
            "T0: #1 w(5,7)\nT1: #2 r(5,7)\n");
}

TEST(CobraReader, EqualValuesOfDifferentWritesStayApart) {
  EXPECT_EQ(read_text({S(1) + W(10, 5, 7) + W(11, 6, 7) + C(1),
                       S(2) + W(12, 5, 7) + R(1, 10, 5, 7) + C(2)}),
            "T0: #1 w(5,7@10) w(6,7)\nT1: #2 w(5,7@12) r(5,7@10)\n");
}

TEST(CobraReader, AReadOfAnotherWriterIsAnotherVersion) {
  EXPECT_EQ(read_text({S(1) + W(10, 5, 7) + C(1), S(2) + R(3, 10, 5, 7) + C(2)}),
            "T0: #1 w(5,7@10)\nT1: #2 r(5,7@10/3)\n");
}

TEST(CobraReader, WithoutWriteIdsOnlyValuesLink) {
  EXPECT_EQ(read_text({S(1) + W(kUnrecorded, 5, 7) + C(1), S(2) + W(kUnrecorded, 5, 7) +
                                                               R(9, kUnrecorded, 5, 7) +
                                                               R(kInit, kUnrecorded, 6, 3) + C(2)}),
            "T0: #1 w(5,7)\nT1: #2 w(5,7) r(5,7) r(6,3)\n");
}

TEST(CobraReader, InitialReadsGiveTheInitialValueOfTheirKey) {
  const auto h = read_logs(
      {S(1) + R(kInit, kInit, 5, 7) + R(kNull, kNull, 6, 0) + C(1), S(2) + W(10, 5, 7) + C(2)});
  ASSERT_TRUE(h.ok()) << h.error().to_string();
  EXPECT_EQ(text_of(*h), "T0: #1 r(5,7) r(6,0)\nT1: #2 w(5,7@10)\n");
  EXPECT_EQ(h->value(h->initial_value(KeyId(0))), ScalarView::of(7));
  EXPECT_EQ(h->value(h->initial_value(KeyId(1))), ScalarView::of(0));
}

TEST(CobraReader, TwoInitialValuesOfAKeyAreAnError) {
  const auto h =
      read_logs({S(1) + R(kInit, kInit, 5, 7) + C(1), S(2) + R(kInit, kInit, 5, 8) + C(2)});
  ASSERT_FALSE(h.ok());
  EXPECT_EQ(h.error().message,
            "transaction 2 reads 8 as the initial value of key 5, another read found 7; expected "
            "one initial value a key");
}

TEST(CobraReader, TheLastTransactionWithoutCommitIsIndeterminate) {
  EXPECT_EQ(read_text({S(1) + W(10, 5, 7) + S(2) + C(2) + S(3) + W(11, 5, 8)}),
            "T0: aborted #1 w(5,7) | #2 | indeterminate #3 w(5,8)\n");
}

TEST(CobraReader, EveryCutEndsATransactionOrNamesAByte) {
  const auto log = S(1) + W(10, 5, 7) + R(kInit, kInit, 5, 7) + C(1);
  for (std::size_t cut = 1; cut < log.size(); ++cut) {
    const auto h = read_logs({log.substr(0, cut)});
    const bool between_records = cut == 9 || cut == 34 || cut == 67;
    EXPECT_EQ(h.ok(), between_records) << cut;
    EXPECT_EQ(h.ok() || h.error().byte.has_value(), true);
  }
}

TEST(CobraReader, NamesTheByteOfWhatIsMalformed) {
  EXPECT_EQ(read_text({S(1) + C(2)}),
            "T0.log: byte 9: found the commit of transaction 2 inside transaction 1");
  EXPECT_EQ(read_text({C(2)}),
            "T0.log: byte 0: found the commit of 2 outside a transaction, expected S");
  EXPECT_EQ(read_text({S(1) + C(1) + W(1, 2, 3)}),
            "T0.log: byte 18: found W outside a transaction, expected S");
  EXPECT_EQ(read_text({S(1) + "x"}),
            "T0.log: byte 9: found 'x', expected a record of type S, C, W or R");
  EXPECT_EQ(read_text({""}), "d: the logs hold no record, expected S, C, W and R");
}

TEST(CobraReader, IgnoresWhatIsNoLogAndCountsSessionsAsPeopleDo) {
  const ScratchFolder folder;
  folder.file("T10.log", S(2) + R(1, 10, 5, 7) + C(2));
  folder.file("T9.log", S(1) + W(10, 5, 7) + C(1));
  folder.file("T9.debug", "[DEBUG] Txn[1] start");
  folder.file("T9.error", "");
  const auto h = read(folder.path());
  ASSERT_TRUE(h.ok()) << h.error().to_string();
  EXPECT_EQ(text_of(*h), "T9: #1 w(5,7)\nT10: #2 r(5,7)\n");
}

// One log is no history: reads of the others would be thin-air reads.
TEST(CobraReader, ASingleLogIsRefusedUnlessItIsTheWhole) {
  const ScratchFolder folder, alone;
  const auto reader = S(2) + R(1, 10, 5, 7) + C(2), writer = S(1) + W(10, 5, 7) + C(1);
  const auto part = folder.file("T10.log", reader);
  folder.file("T9.log", writer);
  EXPECT_EQ(read(part).error().to_string(),
            part +
                ": found the log of one session, and T9.log is beside it: a history has the "
                "logs of all sessions. Name the folder, " +
                folder.path());
  // Without another log beside it, but with a read of one.
  const auto copy = alone.file("copy", reader);
  const auto refused = read(copy);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().to_string().find(
                copy + ": the log of one session reads 7 from key 5, which it did not write"),
            0U)
      << refused.error().to_string();
  EXPECT_NE(refused.error().message.find("Name the folder"), std::string::npos);
  EXPECT_FALSE(read(alone.file("values", S(2) + R(kUnrecorded, kUnrecorded, 5, 7) + C(2))).ok());
  const auto whole =
      read(alone.file("whole", writer + S(2) + R(1, 10, 5, 7) + R(kInit, kInit, 6, 0) + C(2)));
  ASSERT_TRUE(whole.ok()) << whole.error().to_string();
  EXPECT_EQ(whole->txn_count(), 2U);
  // A folder with one log says that it is the whole.
  const ScratchFolder stated;
  stated.file("T1.log", reader);
  EXPECT_TRUE(read(stated.path()).ok());
}

TEST(CobraRecorded, ApplicationBenchmarks) {
  struct Expected {
    const char* folder;
    std::size_t txns, ops;
  };
  for (const auto& known : {Expected{"polysi/rubis-10000", 9358, 35770 + 11257},
                            {"polysi/tpcc-10000", 13870, 256711 + 63506},
                            {"polysi/twitter-10000", 9571, 34384 + 15433},
                            {"veristrong/ser-violations/cock-G2", 446, 892 + 446},
                            {"veristrong/ser-violations/cock-blog", 21, 21},
                            {"veristrong/ser-violations/yuga-G2-a", 37190, 61383 + 25409}}) {
    CUPEL_RECORDED(folder, known.folder);
    const auto h = read(folder);
    ASSERT_TRUE(h.ok()) << h.error().to_string();
    EXPECT_EQ(h->metadata().at("format"), "cobra");
    EXPECT_EQ(h->txn_count(), known.txns) << folder;
    EXPECT_EQ(h->op_count(), known.ops) << folder;
  }
}

}  // namespace
}  // namespace cupel::formats
