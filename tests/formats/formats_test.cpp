// The common entry point: detection by content, reading, writing, and what it says
// when it cannot.
#include "data/formats/formats.hpp"

#include <gtest/gtest.h>

#include "data/formats/input.hpp"
#include "data/history/builder.hpp"
#include "formats/files.hpp"
#include "formats/history_text.hpp"

namespace cupel::formats {
namespace {

using namespace history;

History tiny() {
  HistoryBuilder b;
  b.set_default_initial(b.value(0));
  b.begin(b.session("0"), TxnStatus::kCommitted, {.label = 0});
  b.write(b.key(1), b.value(2));
  b.read(b.key(3), b.value(0));
  b.end();
  return *std::move(b).finish();
}

TEST(Formats, NamesAndParses) {
  for (const auto format : {Format::kJepsen, Format::kPlume, Format::kAwdit, Format::kDbcop,
                            Format::kCobra, Format::kViper, Format::kCupel, Format::kKnossos}) {
    EXPECT_EQ(parse_format(name(format)), format);
  }
  EXPECT_EQ(parse_format("Plume"), std::nullopt);
}

TEST(Formats, DetectsByContentWhateverTheName) {
  const ScratchFolder folder;
  const auto detected = [&](std::string_view bytes) {
    const auto format = detect(folder.file("x.bin", bytes));
    return format.ok() ? std::string(name(*format)) : format.error().message;
  };
  EXPECT_EQ(detected("\n\nr(1,2,3,4)\n"), "plume");
  EXPECT_EQ(detected("\nw 1 2\n"), "awdit");
  EXPECT_EQ(detected("=====\n"), "awdit");
  EXPECT_EQ(detected(R"({"value": [["w", 1, 2, true]]})"), "viper");
  EXPECT_EQ(detected(R"({"type":"invoke","process":0,"f":"txn","value":[["w",1,2]]})"), "jepsen");
  EXPECT_EQ(detected("{:type :invoke, :process 0, :f :txn, :value [[:w 1 2]]}"), "jepsen");
  EXPECT_EQ(detected("INFO  jepsen.util - 0\t:invoke\t:read\tnil\n"), "knossos");
  EXPECT_EQ(detected(std::string("S\0\0\0\0\0\0\0\1C\0\0\0\0\0\0\0\1", 18)), "cobra");
  EXPECT_EQ(detected(std::string(40 + 24 + 8, '\0')), "dbcop");
}

TEST(Formats, AnUnknownFileIsAnErrorThatListsTheFormats) {
  const ScratchFolder folder;
  for (const std::string bytes : {"", "hello\n", "%PDF-1.4", "r", "<html>"}) {
    const auto path = folder.file("x", bytes);
    for (const auto& error : {detect(path).error(), read(path).error()}) {
      EXPECT_EQ(error.file, path);
      for (const Format format : all_formats()) {
        EXPECT_NE(error.message.find(name(format)), std::string::npos) << error.message;
      }
    }
  }
  const auto binary = folder.file("binary", std::string("\xff\0\x80\x01\x02", 5));
  EXPECT_TRUE(read(binary).error().message.starts_with("found binary data, expected a history"));
  std::filesystem::create_directories(folder.path("empty"));
  EXPECT_FALSE(detect(folder.path("empty")).ok());
  EXPECT_FALSE(read(folder.path("empty")).ok());
  EXPECT_EQ(read(folder.path("missing")).error().to_string(),
            folder.path("missing") + ": cannot open: No such file or directory");
}

TEST(Formats, AFileWithAnotherCompressionIsToBeDecompressedFirst) {
  const ScratchFolder folder;
  const auto bzip2 = folder.file("bzip2", "BZh91AY&SY");
  const auto lz4 = folder.file("lz4", "\x04\x22\x4d\x18 rest");
  for (const auto format : {std::optional<Format>(), std::optional(Format::kPlume)}) {
    const auto history = read(bzip2, {.format = format});
    ASSERT_FALSE(history.ok());
    EXPECT_EQ(history.error().message,
              "found a file compressed with bzip2, expected gzip, zstd, xz or none; decompress it "
              "first, as in `bzip2 -dc FILE | cupel check -`");
    EXPECT_TRUE(read(lz4, {.format = format})
                    .error()
                    .message.starts_with("found a file compressed with lz4, "));
  }
}

TEST(Formats, DirectoriesAreDetectedByWhatTheyHold) {
  const ScratchFolder folder;
  folder.file("viper/J1.log", "");
  folder.file("viper/J2.log", R"({"value": [["w", 1, 2, true]]})");
  folder.file("cobra/T1.log", std::string("S\0\0\0\0\0\0\0\1C\0\0\0\0\0\0\0\1", 18));
  folder.file("dbcop/history.bincode", std::string(40 + 24 + 8, '\0'));
  folder.file("odd/a.log", "text");
  EXPECT_EQ(*detect(folder.path("viper")), Format::kViper);
  EXPECT_EQ(*detect(folder.path("cobra")), Format::kCobra);
  EXPECT_EQ(*detect(folder.path("dbcop")), Format::kDbcop);
  EXPECT_FALSE(detect(folder.path("odd")).ok());
  EXPECT_TRUE(read(folder.path("viper")).ok());
  EXPECT_FALSE(read(folder.path("viper"), {.format = Format::kPlume}).ok());
  EXPECT_FALSE(read(folder.path("dbcop"), {.format = Format::kCobra}).ok());
}

TEST(Formats, AFormatThatIsNamedIsNotGuessed) {
  const ScratchFolder folder;
  const auto path = folder.file("x", "w 1 2\n");
  const auto h = read(path, {.format = Format::kPlume});
  ASSERT_FALSE(h.ok());
  EXPECT_EQ(h.error().line, 1u);
}

TEST(Formats, WritesWhatItReads) {
  const ScratchFolder folder;
  for (const auto format :
       {Format::kPlume, Format::kAwdit, Format::kDbcop, Format::kCupel, Format::kJepsen}) {
    const auto path = folder.path(std::string("x.") + std::string(name(format)));
    const auto status = write(tiny(), path, {.format = format});
    ASSERT_TRUE(status.ok()) << status.error().to_string();
    ASSERT_TRUE(detect(path).ok());
    EXPECT_EQ(*detect(path), format);
    const auto h = read(path);
    ASSERT_TRUE(h.ok()) << h.error().to_string();
    EXPECT_EQ(h->op_count(), 2u);
    EXPECT_EQ(h->metadata().at("format"), name(format));
  }
}

TEST(Formats, RefusesToWriteAndLeavesNothingBehind) {
  const ScratchFolder folder;
  for (const auto format : {Format::kCobra, Format::kViper, Format::kKnossos}) {
    const auto status = write(tiny(), folder.path("x"), {.format = format});
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.error().message.find("is only read"), std::string::npos);
  }
  HistoryBuilder b;
  b.begin(b.session("0"), TxnStatus::kIndeterminate, {});
  b.end();
  const auto path = folder.file("kept", "old");
  EXPECT_FALSE(write(*std::move(b).finish(), path, {.format = Format::kPlume}).ok());
  EXPECT_EQ(file_bytes(path), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  EXPECT_FALSE(write(tiny(), folder.path("no/such/folder"), {.format = Format::kPlume}).ok());
}

TEST(Input, ShowsAPieceOfBadInputShortAndPrintable) {
  EXPECT_EQ(shown("a\x01\n"), "'a\\x01\\x0a'");
  EXPECT_LT(shown(std::string(1000, 'x')).size(), 100u);
}

TEST(Input, LogsComeInTheOrderPeopleCount) {
  const ScratchFolder folder;
  for (const char* name : {"T10.log", "T2.log", "T1.log", "T02.log", "a.log", "T1.debug"})
    folder.file(name, "");
  const auto logs = session_logs(folder.path());
  ASSERT_TRUE(logs.ok());
  std::vector<std::string> names;
  for (const auto& path : *logs) names.push_back(stem(path));
  EXPECT_EQ(names, (std::vector<std::string>{"T1", "T02", "T2", "T10", "a"}));
}

}  // namespace
}  // namespace cupel::formats
