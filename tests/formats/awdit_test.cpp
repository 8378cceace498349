// awdit text: what is read, what is refused and where, what is written.
#include "data/formats/awdit.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "data/formats/formats.hpp"
#include "data/history/builder.hpp"
#include "formats/files.hpp"
#include "formats/history_text.hpp"

namespace cupel::formats {
namespace {

using namespace history;

std::string read_text(std::string_view bytes) {
  const auto history = read_awdit(bytes, "f");
  return history.ok() ? text_of(*history) : history.error().to_string();
}

std::string written(const History& h) {
  std::ostringstream out;
  const auto status = write_awdit(h, out);
  return status.ok() ? out.str() : "refused: " + status.error().message;
}

TEST(AwditReader, DashesEndTransactionsEqualsEndSessions) {
  EXPECT_EQ(read_text("w 0 1\nr 1 0\n-----\nr 0 1\n=====\nw 1 2"),
            "0: #0 w(0,1) r(1,0) | #1 r(0,1)\n1: #2 w(1,2)\n");
  EXPECT_EQ(read_text("\n w  0\t1 \r\n---\r\n\nr 0 1\n"), "0: #0 w(0,1) | #1 r(0,1)\n");
  EXPECT_EQ(read_text("w 0 1\n-----\n=====\n"), "0: #0 w(0,1)\n");
}

// 1 may have been 12.
TEST(AwditReader, ALastLineMayHaveNoEndUnlessItAccuses) {
  EXPECT_NE(read_text("w 0 12\n-----\n=====\nr 0 1").find("its number may be cut"),
            std::string::npos);
  for (const char* whole : {"r 0 12", "r 0 1\n", "r 0 0", "w 0 1", "r 0 1\n-----"})
    EXPECT_EQ(read_text(std::string("w 0 12\n-----\n=====\n") + whole).find("cut"),
              std::string::npos)
        << whole;
}

TEST(AwditReader, AnEmptySessionIsFine) {
  EXPECT_EQ(read_text("=====\nw 0 1\n=====\n=====\nr 0 1\n=====\n"),
            "0: -\n1: #0 w(0,1)\n2: -\n3: #1 r(0,1)\n");
}

TEST(AwditReader, NamesTheLineOfWhatIsMalformed) {
  for (const std::string line : {"w 1", "w 1 2 3", "x 1 2", "w1 2", "w 1 x", "--", "--=--", "===-",
                                 "w 1 9223372036854775808", "r"}) {
    const auto h = read_awdit("w 1 1\n" + line + "\nr 1 1\n", "f");
    ASSERT_FALSE(h.ok()) << line;
    EXPECT_EQ(h.error().line, 2u) << line;
    EXPECT_NE(h.error().message.find("expected `r key value`"), std::string::npos);
  }
  EXPECT_FALSE(read_awdit("", "f").ok());
  EXPECT_FALSE(read_awdit("-----\n", "f").ok());
}

TEST(AwditWriter, WritesBackWhatItRead) {
  for (const std::string text :
       {"w 0 1\nr 1 0\n-----\nr 0 1\n=====\nw 1 2\n", "=====\nw 0 1\n=====\n=====\n"}) {
    const auto h = read_awdit(text, "f");
    ASSERT_TRUE(h.ok());
    EXPECT_EQ(written(*h), text);
  }
}

TEST(AwditWriter, RefusesAnAbortedTransaction) {
  HistoryBuilder b;
  b.begin(b.session("a"), TxnStatus::kAborted, {.label = 3});
  b.write(b.key(1), b.value(1));
  b.end();
  EXPECT_TRUE(written(*std::move(b).finish())
                  .starts_with("refused: T3 (session a, its 1st transaction) is aborted"));
}

TEST(AwditRecorded, EveryFileRoundTrips) {
  CUPEL_RECORDED(folder, "awdit");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file() || entry.path().extension() != ".txt") continue;
    const auto h = read(entry.path().string());
    ASSERT_TRUE(h.ok()) << h.error().to_string();
    EXPECT_EQ(h->metadata().at("format"), "awdit");
    const auto back = read_awdit(written(*h), "back");
    ASSERT_TRUE(back.ok()) << back.error().to_string();
    EXPECT_EQ(text_of(*back), text_of(*h));
    ++files;
  }
  EXPECT_GE(files, 20u);
}

}  // namespace
}  // namespace cupel::formats
