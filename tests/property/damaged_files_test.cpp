// Damaged files: each format, cut at every byte and with every bit of its first 4 KB flipped. What
// comes of it is an error that names the file and the place, or a history of which the engine says
// what the oracle says. A format with checksums gives an error or the same history; with the
// checksums repaired it is as the others.
#include <gtest/gtest.h>
#include <zstd.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>

#include "data/formats/formats.hpp"
#include "data/history/digest.hpp"
#include "property/agreement.hpp"
#include "source_dir.hpp"
#include "support/history_language.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::formats {
namespace {

namespace fs = std::filesystem;
using history::History;

constexpr std::size_t kFlippedBytes = 4096;

// A lost update, a causal read, an aborted and an indeterminate transaction, in three sessions.
constexpr const char* kHistory =
    "init=0 a: r(1,0) w(1,1) ; r(2,0) w(2,2) | b: r(1,0) w(1,3) ; r(2,2) | c: !w(3,4) ; r(3,0) "
    "w(3,5)";

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void put(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class DamagedFiles : public testing::Test {
 protected:
  // The history as a file, or a folder, of this format.
  fs::path written(Format format, bool edn = false, const char* text = kHistory) {
    const auto whole = test::history_of(text);
    const auto path =
        fs::path(scratch_.path()) / ("h-" + std::string(name(format)) + (edn ? ".edn" : ""));
    const auto status = write(whole, path.string(), {.format = format, .edn = edn});
    EXPECT_TRUE(status.ok()) << name(format) << ": " << status.error().to_string();
    return path;
  }

  // A folder with one session's log, of those that the fuzz target begins with.
  void damage_logs(Format format) {
    for (const auto& log : fs::directory_iterator(std::string(CUPEL_SOURCE_DIR) + "/fuzz/corpus/" +
                                                  std::string(name(format)))) {
      const auto folder = fs::path(scratch_.path()) / log.path().stem();
      fs::create_directories(folder);
      fs::copy_file(log.path(), folder / "T1.log");
      damage(folder, folder / "T1.log", format);
    }
  }

  // Reads what is there now. `same`: a history that is read has to be this one.
  void look(const fs::path& path, std::optional<Format> format, const std::string& damage,
            const std::uint64_t* same) {
    ++reads_;
    const auto history = read(path.string(), {.format = format, .threads = 1});
    if (!history.ok()) {
      const auto& error = history.error();
      EXPECT_NE(error.file, "") << damage << ": " << error.message;
      EXPECT_NE(error.message, "") << damage;
      named_ += error.line || error.byte ? 1 : 0;
      ++errors_;
      return;
    }
    if (same != nullptr) {
      EXPECT_EQ(history::digest(*history), *same) << damage;
      return;
    }
    const auto wrong = test::disagreement(*history);
    EXPECT_EQ(wrong, "") << damage;
  }

  void damage(const fs::path& path, const fs::path& file, std::optional<Format> format,
              const std::uint64_t* same = nullptr) {
    const auto whole = bytes_of(file);
    ASSERT_FALSE(whole.empty()) << file;
    const auto shown = file.filename().string();
    for (std::size_t size = 0; size < whole.size() && !HasFailure(); ++size) {
      put(file, whole.substr(0, size));
      look(path, format, shown + " cut to " + std::to_string(size), same);
    }
    for (std::size_t at = 0; at < std::min(whole.size(), kFlippedBytes) && !HasFailure(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        auto bytes = whole;
        bytes[at] = static_cast<char>(bytes[at] ^ 1 << bit);
        put(file, bytes);
        look(path, format,
             shown + " with bit " + std::to_string(bit) + " of byte " + std::to_string(at), same);
      }
    }
    put(file, whole);
  }

  void damage_all(const fs::path& path, std::optional<Format> format) {
    damage(path, path, format);
  }

  void TearDown() override {
    RecordProperty("reads", std::to_string(reads_));
    std::printf("%zu damaged files: %zu errors, %zu of them with a line or a byte\n", reads_,
                errors_, named_);
  }

  test::ScratchFolder scratch_;
  std::size_t reads_ = 0, errors_ = 0, named_ = 0;
};

TEST_F(DamagedFiles, Jepsen) {
  damage_all(written(Format::kJepsen), Format::kJepsen);
}
TEST_F(DamagedFiles, JepsenEdn) {
  damage_all(written(Format::kJepsen, /*edn=*/true), Format::kJepsen);
}
TEST_F(DamagedFiles, Plume) {
  damage_all(written(Format::kPlume), Format::kPlume);
}
TEST_F(DamagedFiles, Awdit) {
  damage_all(
      written(Format::kAwdit, false, "init=0 a: r(1,0) w(1,1) | b: r(1,0) w(1,3) ; r(1,3) w(2,4)"),
      Format::kAwdit);
}
TEST_F(DamagedFiles, Dbcop) {
  damage_all(written(Format::kDbcop), Format::kDbcop);
}
TEST_F(DamagedFiles, Cobra) {
  damage_logs(Format::kCobra);
}
TEST_F(DamagedFiles, Viper) {
  damage_logs(Format::kViper);
}
TEST_F(DamagedFiles, Knossos) {
  const auto path = fs::path(scratch_.path()) / "h.log";
  put(path,
      "INFO  jepsen.util - 0\t:invoke\t:write\t1\nINFO  jepsen.util - 1\t:invoke\t:read\tnil\n"
      "INFO  jepsen.util - 0\t:ok\t:write\t1\nINFO  jepsen.util - 1\t:ok\t:read\t1\n"
      "INFO  jepsen.util - 0\t:invoke\t:cas\t[1 2]\nINFO  jepsen.util - 0\t:info\t:cas\t[1 2]\n");
  damage_all(path, Format::kKnossos);
}

// Recognised by content, too: a damaged file may look like another format.
TEST_F(DamagedFiles, OfAnyFormat) {
  for (const auto format : {Format::kPlume, Format::kDbcop}) damage_all(written(format), {});
}

TEST_F(DamagedFiles, CupelAndItsChecksums) {
  const auto path = written(Format::kCupel);
  const auto same = history::digest(read(path.string()).value());
  damage(path, path, Format::kCupel, &same);
}

TEST_F(DamagedFiles, Compressed) {
  const auto plain = written(Format::kPlume);
  const auto same = history::digest(read(plain.string()).value());
  for (const std::string tool : {"gzip -9", "zstd -q --check -19", "xz -9"}) {
    const auto path = plain.string() + "." + tool.substr(0, tool.find(' '));
    ASSERT_EQ(std::system((tool + " -c '" + plain.string() + "' > '" + path + "'").c_str()), 0)
        << tool;
    damage(path, path, {}, &same);
  }
}

// ---- .cupel, with checksums that are right

std::uint64_t fnv(std::string_view bytes, std::uint64_t hash = 0xcbf29ce484222325) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}
template <typename Integer>
void append(std::string& out, Integer value) {
  for (std::size_t i = 0; i < sizeof value; ++i) out += static_cast<char>(value >> (8 * i));
}
template <typename Integer>
Integer integer_at(const std::string& bytes, std::size_t at) {
  Integer value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

constexpr std::size_t kFileHeader = 16, kBlockHeader = 20;  // docs/reference/formats/cupel.md

struct Block {
  std::uint32_t column;
  std::string raw;
  bool packed;
};

std::vector<Block> blocks_of(const std::string& file) {
  std::vector<Block> blocks;
  for (std::size_t at = kFileHeader; at + kBlockHeader <= file.size();) {
    Block block{integer_at<std::uint32_t>(file, at), {}, true};
    const auto raw = integer_at<std::uint32_t>(file, at + 4);
    const auto stored = file.substr(at + kBlockHeader, integer_at<std::uint32_t>(file, at + 8));
    block.raw.resize(raw);
    const auto size = ZSTD_decompress(block.raw.data(), raw, stored.data(), stored.size());
    if (ZSTD_isError(size) != 0 || size != raw) {
      block.raw = stored;
      block.packed = false;
    }
    at += kBlockHeader + stored.size();
    blocks.push_back(std::move(block));
  }
  return blocks;
}

std::string file_of(const std::string& header, const std::vector<Block>& blocks) {
  std::string file = header;
  for (const auto& block : blocks) {
    auto stored = block.raw;
    if (block.packed) {
      stored.resize(ZSTD_compressBound(block.raw.size()));
      stored.resize(
          ZSTD_compress(stored.data(), stored.size(), block.raw.data(), block.raw.size(), 1));
    }
    std::string head;
    append(head, block.column);
    append(head, static_cast<std::uint32_t>(block.raw.size()));
    append(head, static_cast<std::uint32_t>(stored.size()));
    append(head, fnv(stored, fnv(head)));
    file += head + stored;
  }
  return file;
}

TEST_F(DamagedFiles, CupelWithRepairedChecksums) {
  const auto path = written(Format::kCupel);
  const auto whole = bytes_of(path);
  const auto same = history::digest(read(path.string()).value());
  const auto header = whole.substr(0, kFileHeader);
  const auto blocks = blocks_of(whole);
  ASSERT_GT(blocks.size(), 5U);
  put(path, file_of(header, blocks));
  const auto again = read(path.string());
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  ASSERT_EQ(history::digest(*again), same) << "the file was not taken apart and put together well";
  for (std::size_t b = 0; b < blocks.size() && !HasFailure(); ++b) {
    const auto name = "column " + std::to_string(blocks[b].column);
    auto changed = blocks;
    for (std::size_t size = 0; size < blocks[b].raw.size(); ++size) {
      changed[b].raw = blocks[b].raw.substr(0, size);
      put(path, file_of(header, changed));
      look(path, Format::kCupel, name + " cut to " + std::to_string(size), nullptr);
    }
    for (std::size_t at = 0; at < std::min(blocks[b].raw.size(), kFlippedBytes); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        changed[b].raw = blocks[b].raw;
        changed[b].raw[at] = static_cast<char>(changed[b].raw[at] ^ 1 << bit);
        put(path, file_of(header, changed));
        look(path, Format::kCupel,
             name + ", bit " + std::to_string(bit) + " of byte " + std::to_string(at), nullptr);
      }
    }
    changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(b));
    put(path, file_of(header, changed));
    look(path, Format::kCupel, "without " + name, nullptr);
  }
}

}  // namespace
}  // namespace cupel::formats
