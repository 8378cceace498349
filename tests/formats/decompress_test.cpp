// Compressed histories: whole, cut anywhere, with a wrong byte, in parts, and larger than a limit.
#include "data/formats/decompress.hpp"

#include <gtest/gtest.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <string>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "data/formats/formats.hpp"
#include "data/formats/input.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::formats {
namespace {

using test::ScratchFolder;

std::string gzipped(const std::string& text) {
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstandard(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

std::string xz(const std::string& text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr,
                                    reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                                    reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size()),
            LZMA_OK);
  out.resize(size);
  return out;
}

struct Kind {
  const char* name;
  std::string (*compress)(const std::string& text);
};
constexpr Kind kKinds[] = {{"gzip", gzipped}, {"zstd", zstandard}, {"xz", xz}};

std::string lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += R"({"type":"ok","process":)" + std::to_string(i % 3) +
            R"(,"f":"txn","value":[["w","x",)" + std::to_string(i) + "]]}\n";
  }
  return text;
}

TEST(Decompress, GivesTheContent) {
  for (const auto& [name, compress] : kKinds) {
    for (const int count : {0, 1, 5, 3000}) {
      const auto text = lines(count);
      ASSERT_TRUE(is_compressed(compress(text))) << name;
      const auto content = decompress(compress(text), nullptr);
      ASSERT_TRUE(content.ok()) << name << ": " << content.error().message;
      EXPECT_EQ(*content, text) << name;
    }
    // A log that was appended to, and one at the end of a block.
    EXPECT_EQ(*decompress(compress("a\n") + compress("b\n"), nullptr), "a\nb\n") << name;
    EXPECT_EQ(*decompress(compress("a\n") + std::string(512, '\0'), nullptr), "a\n") << name;
  }
  EXPECT_FALSE(is_compressed("{\"type\":\"ok\"}"));
  EXPECT_FALSE(is_compressed(""));
}

TEST(Decompress, RefusesWhatIsCutOrBroken) {
  for (const auto& [name, compress] : kKinds) {
    const auto whole = compress(lines(50));
    for (std::size_t size = 6; size < whole.size(); ++size) {
      const auto content = decompress(whole.substr(0, size), nullptr);
      ASSERT_FALSE(content.ok()) << name << ", " << size << " bytes";
      EXPECT_EQ(content.error().message,
                std::string("the ") + name + " data end too early: the file is cut");
    }
    EXPECT_FALSE(decompress(whole + "rest", nullptr).ok()) << name;
    int refused = 0;
    for (std::size_t at = 6; at < whole.size(); ++at) {
      auto broken = whole;
      broken[at] = static_cast<char>(broken[at] ^ 0x10);
      const auto content = decompress(broken, nullptr);
      if (!content.ok()) ++refused;
    }
    EXPECT_GT(refused, 0) << name;
  }
  const auto broken = decompress(gzipped("a") + "rest", nullptr);
  EXPECT_EQ(broken.error().message,
            "found broken gzip data near byte 23, expected a history that it compresses");
}

TEST(Decompress, KeepsToTheMemoryLimit) {
  const std::string zeros(std::size_t{1} << 22, ' ');
  for (const auto& [name, compress] : kKinds) {
    base::Budget budget(std::nullopt, 1);
    EXPECT_THROW((void)decompress(compress(zeros), &budget), Stopped) << name;
    EXPECT_EQ(budget.limit(), base::Limit::kMemory) << name;
  }
}

TEST(Decompress, HistoriesAreReadAsTheirContent) {
  const ScratchFolder folder;
  const auto text = lines(30);
  const auto plain = read(folder.file("plain.jsonl", text));
  ASSERT_TRUE(plain.ok());
  for (const auto& [name, compress] : kKinds) {
    const auto path = folder.file(name, compress(text));
    const auto history = read(path);
    ASSERT_TRUE(history.ok()) << name << ": " << history.error().to_string();
    EXPECT_EQ(history->txn_count(), plain->txn_count());
    EXPECT_EQ(history->fact("format"), plain->fact("format"));
    const auto cut = folder.file("cut", compress(text).substr(0, 20));
    EXPECT_EQ(read(cut).error().to_string(),
              cut + ": the " + name + " data end too early: the file is cut");
  }
}

TEST(Decompress, ATarArchiveIsNoHistory) {
  const ScratchFolder folder;
  // The header of a file, its content, and two empty blocks.
  std::string archive(2048, '\0');
  archive.replace(0, 13, "history.jsonl");
  archive.replace(257, 8, "ustar  ");
  for (const auto& path :
       {folder.file("h.tar", archive), folder.file("h.tar.gz", gzipped(archive))}) {
    const auto history = read(path);
    ASSERT_FALSE(history.ok());
    EXPECT_EQ(history.error().to_string(),
              path +
                  ": found a tar archive, expected one history. Unpack it with `tar xf FILE`, "
                  "and name the file or the folder that was in it");
  }
  EXPECT_FALSE(detect(folder.path("h.tar")).ok());
}

}  // namespace
}  // namespace cupel::formats
