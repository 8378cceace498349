// Jepsen's store: which file of a run is read, folders of runs, and the binary forms.
#include "data/formats/store_directory.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/formats/formats.hpp"
#include "formats/files.hpp"

namespace cupel::formats {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEdn = "{:process 1, :time 1, :type :ok, :f :txn, :value [[:append 1 1]]}\n";
constexpr const char* kText = "0\t:invoke\t:write\t3\n0\t:ok\t:write\t3\n";
constexpr const char* kLog =
    "INFO [2017-08-19 06:23:31,518] jepsen worker 0 - jepsen.util 0\t:invoke\t:write\t3\n"
    "INFO [2017-08-19 06:23:31,520] jepsen worker 0 - jepsen.util 0\t:ok\t:write\t3\n";

class StoreDirectory : public testing::Test {
 protected:
  // A file of the run store/NAME/TIME.
  std::string put(const std::string& run, const std::string& name, std::string_view bytes) {
    fs::create_directories(folder_.path(run));
    return folder_.file(run + "/" + name, bytes);
  }
  std::string format_of(const std::string& run, ReadOptions options = {}) {
    const auto history = read(folder_.path(run), options);
    return history.ok() ? history->fact("format") : history.error().to_string();
  }

  ScratchFolder folder_;
};

TEST_F(StoreDirectory, TheBestFormOfARunIsRead) {
  put("r", "results.edn", "{:valid? true}");
  put("r", "jepsen.log", kLog);
  EXPECT_EQ(history_of_run(folder_.path("r"), std::nullopt), folder_.path("r/jepsen.log"));
  EXPECT_EQ(format_of("r"), "knossos");
  put("r", "history.txt", kText);
  EXPECT_EQ(history_of_run(folder_.path("r"), std::nullopt), folder_.path("r/history.txt"));
  put("r", "history.edn", kEdn);
  EXPECT_EQ(format_of("r"), "jepsen");
  EXPECT_EQ(detect(folder_.path("r")).value(), Format::kJepsen);
  // -f takes a file in that format.
  EXPECT_EQ(format_of("r", {.format = Format::kKnossos}), "knossos");
  fs::create_directory_symlink("r", folder_.path("latest"));
  EXPECT_EQ(format_of("latest"), "jepsen");
}

TEST_F(StoreDirectory, ACompressedHistoryOfARunIsRead) {
  put("r", "jepsen.log", kLog);
  const auto packed = put("r", "history.edn", kEdn);
  ASSERT_EQ(std::system(("gzip -q " + packed).c_str()), 0);
  ASSERT_FALSE(fs::exists(packed));
  EXPECT_EQ(format_of("r"), "jepsen");
  EXPECT_EQ(histories_at({folder_.path("r")}, std::nullopt),
            std::vector<std::string>{packed + ".gz"});
  // The file itself comes first.
  put("r", "history.edn", "broken");
  EXPECT_NE(format_of("r"), "jepsen");
}

TEST_F(StoreDirectory, AnEmptyFileHidesNoOther) {
  put("r", "history.edn", "");
  put("r", "jepsen.log", kLog);
  // A run in which nothing happened has an empty history.edn, and lines in its log.
  EXPECT_EQ(history_of_run(folder_.path("r"), std::nullopt), folder_.path("r/history.edn"));
  put("r", "history.txt", "");
  EXPECT_EQ(history_of_run(folder_.path("r"), std::nullopt), folder_.path("r/history.edn"));
  put("r", "history.txt", kText);
  EXPECT_EQ(history_of_run(folder_.path("r"), std::nullopt), folder_.path("r/history.txt"));
}

TEST_F(StoreDirectory, AFolderOfRunsHasAHistoryForEach) {
  put("store/etcd/20261101T120000", "history.edn", kEdn);
  put("store/etcd/20261101T130000", "jepsen.log", kLog);
  put("store/etcd/20261101T130000/n1", "etcd.log", "nothing");
  put("store/zk/20261101T120000", "test.jepsen", "JEPSEN");
  fs::create_directory_symlink("20261101T120000", folder_.path("store/etcd/latest"));
  fs::create_directory_symlink("etcd/20261101T130000", folder_.path("store/current"));
  const std::vector<std::string> all = {folder_.path("store/etcd/20261101T120000/history.edn"),
                                        folder_.path("store/etcd/20261101T130000/jepsen.log"),
                                        folder_.path("store/zk/20261101T120000")};
  EXPECT_EQ(histories_at({folder_.path("store")}, std::nullopt), all);
  EXPECT_EQ(histories_at({folder_.path("store/etcd"), "-", all[0]}, std::nullopt),
            (std::vector<std::string>{all[0], all[1], "-", all[0]}));
  EXPECT_EQ(histories_at({folder_.path("store/etcd/latest")}, std::nullopt),
            std::vector<std::string>{folder_.path("store/etcd/latest/history.edn")});
  EXPECT_EQ(format_of("store").find(": found a folder of 3 runs of Jepsen, expected one history"),
            folder_.path("store").size());
  // A store with one run is that run, for commands that take one history, too.
  put("single/etcd/20261101T120000", "history.edn", kEdn);
  EXPECT_EQ(format_of("single"), "jepsen");
  EXPECT_EQ(detect(folder_.path("single")).value(), Format::kJepsen);
  fs::create_directories(folder_.path("none"));
  EXPECT_NE(format_of("none").find(": found a folder without a history"), std::string::npos);
  // Folders of other formats stay what they are.
  put("viper", "J0.log", R"({"value": [["w", 1, 7, true]]})");
  put("dbcop", "history.bincode", "");
  for (const auto* name : {"viper", "dbcop", "missing"}) {
    EXPECT_EQ(histories_at({folder_.path(name)}, std::nullopt),
              std::vector<std::string>{folder_.path(name)});
  }
}

TEST_F(StoreDirectory, BinaryFormsNameTheFileToUse) {
  const auto jepsen = put("r", "test.jepsen", std::string("JEPSEN\0\0\0\1", 10));
  const auto fressian = put("r", "test.fressian", "\xee\x81\x01");
  EXPECT_NE(format_of("r").find("found test.jepsen, which is Jepsen's binary form, but none of "
                                "history.edn, history.txt or jepsen.log"),
            std::string::npos)
      << format_of("r");
  EXPECT_FALSE(detect(folder_.path("r")).ok());
  EXPECT_NE(format_of("r/test.jepsen").find("Use history.edn, history.txt or jepsen.log of the"),
            std::string::npos);
  put("r", "history.txt", kText);
  for (const auto* name : {"r/test.jepsen", "r/test.fressian"}) {
    EXPECT_NE(format_of(name).find("Use " + folder_.path("r/history.txt") + " instead"),
              std::string::npos)
        << format_of(name);
  }
}

TEST_F(StoreDirectory, ARunMayHaveNoOperations) {
  put("r", "history.edn", "");
  const auto history = read(folder_.path("r"));
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  EXPECT_EQ(history->txn_count(), 0U);
  EXPECT_EQ(history->fact(kNothingHappened), "yes");
  EXPECT_FALSE(read(folder_.file("other.edn", "")).ok());
  EXPECT_TRUE(read(folder_.file("vector.edn", "[]\n")).ok());
}

}  // namespace
}  // namespace cupel::formats
