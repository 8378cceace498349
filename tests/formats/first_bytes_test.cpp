// The beginning of a file that may still grow: read, and read once in its order, as a file that
// ends there, also of a compressed file and of a recording of several.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "data/formats/formats.hpp"
#include "data/formats/line_pieces.hpp"
#include "data/formats/transaction_stream.hpp"
#include "data/history/digest.hpp"
#include "data/history/streamed.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::formats {
namespace {

std::string lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    for (const auto* type : {"invoke", "ok"}) {
      text +=
          fmt::format(R"({{"type":"{}","process":{},"f":"txn","value":[["w","x",{}]],"time":{}}})"
                      "\n",
                      type, i % 3, i, 2 * i + (*type == 'o' ? 1 : 0));
    }
  }
  return text;
}

std::uint64_t streamed(const std::string& path, std::uint64_t bytes) {
  auto source = stream_history(path, bytes);
  EXPECT_TRUE(source.ok());
  history::StreamedTransaction txn;
  std::uint64_t count = 0;
  for (;; ++count) {
    const auto more = (*source)->next(txn);
    EXPECT_TRUE(more.ok()) << more.error().to_string();
    if (!more.ok() || !*more) return count;
  }
}

TEST(FirstBytes, AreReadAsAFileThatEndsThere) {
  const test::ScratchFolder folder;
  // More than a piece, and the end of one within.
  const auto text = lines(20'000), beginning = lines(15'000);
  ASSERT_GT(beginning.size(), std::size_t{2} << 20);
  const auto whole = folder.file("whole.jsonl", text), cut = folder.file("cut.jsonl", beginning);
  const auto parts = folder.path("parts");
  std::filesystem::create_directory(parts);
  const auto half = lines(10'000).size();
  std::ofstream(parts + "/history.00001.jsonl") << text.substr(0, half);
  std::ofstream(parts + "/history.00002.jsonl") << text.substr(half);
  const auto expected = read(cut);
  ASSERT_TRUE(expected.ok());
  for (const auto& path : {whole, parts}) {
    std::uint64_t bytes = 0;
    ReadOptions options;
    options.first_bytes = beginning.size();
    options.content_bytes = &bytes;
    const auto prefix = read(path, options);
    ASSERT_TRUE(prefix.ok()) << prefix.error().to_string();
    EXPECT_EQ(history::digest(*prefix), history::digest(*expected)) << path;
    EXPECT_EQ(bytes, text.size());
    EXPECT_EQ(streamed(path, beginning.size()), 15'000u) << path;
    EXPECT_EQ(streamed(path, text.size() + 1), 20'000u) << path;
  }
}

TEST(FirstBytes, AreWholeLines) {
  const test::ScratchFolder folder;
  const auto text = lines(2'000);
  EXPECT_EQ(whole_lines(folder.file("whole", text)), text.size());
  EXPECT_EQ(whole_lines(folder.file("cut", text + std::string(200'000, 'x'))), text.size());
  const std::string last = R"({"type":"ok","value":"}"})";
  EXPECT_EQ(whole_lines(folder.file("open", text + last)), text.size() + last.size());
  EXPECT_EQ(whole_lines(folder.file("alone", last)), last.size());
  const auto longer = R"({"type":"ok","value":")" + std::string(200'000, '}') + R"("})";
  EXPECT_EQ(whole_lines(folder.file("long", text + longer)), text.size() + longer.size());
  EXPECT_EQ(whole_lines(folder.file("half", text + last.substr(0, last.size() - 1))), text.size());
  EXPECT_EQ(whole_lines(folder.file("begun", "{\"type\"")), 0u);
  EXPECT_EQ(whole_lines(folder.file("empty", "")), 0u);
  EXPECT_EQ(whole_lines(folder.path()), std::nullopt);
  EXPECT_EQ(whole_lines(folder.file("packed.gz", "\x1f\x8b\x08 packed\n")), std::nullopt);
}

}  // namespace
}  // namespace cupel::formats
