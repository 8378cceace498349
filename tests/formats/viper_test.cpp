// viper JSON: every kind of operation, initial values, malformed lines.
#include "data/formats/viper.hpp"

#include <gtest/gtest.h>

#include "data/formats/formats.hpp"
#include "formats/files.hpp"
#include "formats/history_text.hpp"

namespace cupel::formats {
namespace {

using namespace history;

base::Result<History> read_logs(const std::vector<std::string>& logs) {
  std::vector<SessionLog> views;
  for (const auto& log : logs) views.push_back({"J" + std::to_string(views.size()) + ".log", log});
  return read_viper(views, "d");
}
std::string read_text(const std::vector<std::string>& logs) {
  const auto history = read_logs(logs);
  return history.ok() ? text_of(*history) : history.error().to_string();
}
std::string initial(const History& h, std::int64_t key) {
  for (std::size_t k = 0; k < h.key_count(); ++k) {
    if (h.key(KeyId(k)) == ScalarView::of(key))
      return h.value(h.initial_value(KeyId(k))).to_string();
  }
  return "no such key";
}

TEST(ViperReader, ReadsEveryKindOfOperation) {
  EXPECT_EQ(
      read_text(
          {R"({"value": [["w", 1, -5, true], ["r", 2, "nil", false], ["w", 3, 8, false]]})"
           "\n\n"
           R"({"value": [["i", 4, 11, "nil", false, true, true, "i"], ["d", 1, 12, -5, false, true]]})",
           R"({"value": [["range", 1, 9, [{"id": 4, "val": 11}], [{"id": 1, "val": 12}]]]})"
           "\r\n"
           R"({"value": [["d", 4, 13, 11, false, false], ["range", "nil", "nil", [], []]]})"}),
      "J0: #0 w(1,-5) r(2,null) | #1 r(4,null) insert(4,11) r(1,-5) delete(1,12)\n"
      "J1: #2 range(1..9,4=11,1=12) | #3 range(null..nil)\n");
}

TEST(ViperReader, ARangeMayReturnAKeySeveralTimes) {
  EXPECT_EQ(
      read_text(
          {R"({"value": [["range", 1, 9, [{"id": 4, "val": 11}, {"id": 4, "val": 13}], [{"id": 4, "val": 12}]]]})"}),
      "J0: #0 range(1..9,4=11,4=13,4=12)\n");
}

TEST(ViperReader, AnUnboundedRangeHoldsEveryKey) {
  const auto h = read_logs(
      {R"({"value": [["w", 1, 1, true], ["w", "a", 2, true], ["range", "nil", "nil", [], []]]})"});
  ASSERT_TRUE(h.ok());
  const auto range = h->range(h->op(OpId(2)));
  EXPECT_EQ(h->keys_between(h->value(range.low), h->value(range.high)).size(), 2u);
}

TEST(ViperReader, AnInitialTransactionGivesTheInitialValues) {
  for (
      const std::string line :
      {R"({"value": [["w", 1, 7, true], ["w", 2, 8, true]], "isInitial": true})",
       R"({"value": [["range", "nil", "nil", [{"id": 1, "val": 7}], [{"id": 2, "val": 8}]]], "isInitial": true})"}) {
    const auto h = read_logs({line, R"({"value": [["r", 1, 7, false], ["r", 3, 99, false]]})"});
    ASSERT_TRUE(h.ok()) << h.error().to_string();
    EXPECT_EQ(text_of(*h), "J1: #0 r(1,7) r(3,99)\n");
    EXPECT_EQ(initial(*h, 1), "7");
    EXPECT_EQ(initial(*h, 2), "8");
    EXPECT_EQ(initial(*h, 3), "null");  // read from thin air, and stays so
  }
}

// Invocations would count as transactions.
TEST(ViperReader, RefusesOpMaps) {
  const auto h = read_logs({R"({"type": "invoke", "process": 0, "value": [["w", 1, 7, true]]})"});
  ASSERT_FALSE(h.ok());
  EXPECT_NE(h.error().to_string().find("-f jepsen"), std::string::npos) << h.error().to_string();
}

TEST(ViperReader, UnknownValuesAreInitialOnlyWhereReadsAgree) {
  const auto h = read_logs(
      {R"({"value": [["r", 1, 7, false], ["r", 2, 8, false], ["w", 3, 5, false], ["r", 4, "nil", false]]})",
       R"({"value": [["r", 1, 7, false], ["r", 2, 9, false], ["r", 3, 5, false], ["r", 4, 6, false]]})"});
  ASSERT_TRUE(h.ok());
  EXPECT_EQ(initial(*h, 1), "7");
  EXPECT_EQ(initial(*h, 2), "null");  // 8 and 9
  EXPECT_EQ(initial(*h, 3), "null");  // a write that failed wrote 5
  EXPECT_EQ(initial(*h, 4), "null");  // absent and 6
  EXPECT_EQ(h->metadata().at("note"), "initial values inferred for 1 key");
}

// One log is no history: the values of other sessions would be initial values, or from thin air.
TEST(ViperReader, ASingleLogIsRefusedUnlessItIsTheWhole) {
  const ScratchFolder folder, alone;
  const std::string reader = R"({"value":[["r",1,10,false]]})"
                             "\n",
                    writer = R"({"value":[["w",1,10,true]]})"
                             "\n",
                    load = R"({"isInitial":true,"value":[["w",1,10,true]]})"
                           "\n";
  const auto part = folder.file("J1.log", reader);
  folder.file("J2.log", writer);
  EXPECT_EQ(read(part).error().to_string(),
            part +
                ": found the log of one session, and J2.log is beside it: a history has the "
                "logs of all sessions. Name the folder, " +
                folder.path());
  const auto copy = alone.file("copy", reader);
  const auto refused = read(copy);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().to_string().find(
                copy + ": the log of one session reads the value 10, which it did not write"),
            0U)
      << refused.error().to_string();
  EXPECT_TRUE(read(alone.file("own", writer + reader)).ok());
  EXPECT_TRUE(read(alone.file("loaded", load + reader)).ok());
  EXPECT_TRUE(read(alone.file("absent", R"({"value":[["r",1,null,false]]})")).ok());
  const ScratchFolder stated;
  stated.file("J1.log", reader);
  EXPECT_TRUE(read(stated.path()).ok());
}

TEST(ViperReader, NamesTheLineOfWhatIsMalformed) {
  const std::string good = R"({"value": [["w", 1, 7, true]]})";
  for (const std::string line :
       {R"({"value": [["w", 1, 7, true]])", R"([1])", R"({"values": []})", R"({"value": 1})",
        R"({"value": [["x", 1, 7, true]]})", R"({"value": [["w", 1]]})",
        R"({"value": [["w", 1, 7, 3]]})", R"({"value": [["w", [1], 7, true]]})",
        R"({"value": [["w", null, 7, true]]})", R"({"value": [[]]})",
        R"({"value": [["range", 1, 2, [{"id": 1}], []]]})",
        R"({"value": [["range", 1, 2, 3, []]]})", R"({"value": [], "isInitial": 1})",
        R"({"value": [["r", 1, 7, false]], "isInitial": true})", "\x01"}) {
    const auto h = read_logs({good + "\n" + line + "\n" + good});
    ASSERT_FALSE(h.ok()) << line;
    EXPECT_EQ(h.error().line, 2u) << line;
    EXPECT_EQ(h.error().file, "J0.log");
    EXPECT_NE(h.error().message.find("expected"), std::string::npos);
  }
  EXPECT_FALSE(read_logs({""}).ok());
  EXPECT_FALSE(
      read_logs({R"({"value":[],"isInitial":true})", R"({"value":[],"isInitial":true})"}).ok());
}

TEST(ViperRecorded, BlindWrites) {
  struct Expected {
    const char* folder;
    std::size_t txns, ops;
    const char* note;
  };
  for (const auto& known :
       {Expected{"veristrong/viper-1000", 962, 3720 + 3976,
                 "initial values inferred for 2758 keys"},
        {"veristrong/viper-4000", 3852, 14872 + 15944, "initial values inferred for 4871 keys"}}) {
    CUPEL_RECORDED(folder, known.folder);
    const auto h = read(folder);
    ASSERT_TRUE(h.ok()) << h.error().to_string();
    EXPECT_EQ(h->metadata().at("format"), "viper");
    EXPECT_EQ(h->txn_count(), known.txns);
    EXPECT_EQ(h->op_count(), known.ops);
    EXPECT_EQ(h->metadata().at("note"), known.note);
  }
}

}  // namespace
}  // namespace cupel::formats
