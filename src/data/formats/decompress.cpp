// Each library is asked for pieces of the content, so that limits are looked at between them.
#include "data/formats/decompress.hpp"

#include <fmt/format.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "data/formats/input.hpp"

namespace cupel::formats {

namespace {

constexpr std::size_t kPiece = 1 << 18;
// The largest of xz's own presets takes 65 MiB, and a header can ask for 4 GiB.
constexpr std::uint64_t kMostMemory = std::uint64_t{1} << 30;

// One library. `bytes` becomes what it has not yet used, and `piece` what it has written.
class Decompressor {
 public:
  enum class State : std::uint8_t { kGoing, kPartEnded, kBroken, kTooMuchMemory };

  Decompressor() = default;
  virtual ~Decompressor() = default;
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  virtual State step(std::string_view& bytes, std::array<char, kPiece>& piece,
                     std::size_t& written) = 0;
};

class Gzip : public Decompressor {
 public:
  Gzip() { ready_ = inflateInit2(&stream_, MAX_WBITS + 16) == Z_OK; }
  ~Gzip() override { inflateEnd(&stream_); }

  State step(std::string_view& bytes, std::array<char, kPiece>& piece,
             std::size_t& written) override {
    if (!ready_) return State::kBroken;
    const auto given = static_cast<uInt>(std::min<std::size_t>(bytes.size(), 1U << 30));
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = given;
    stream_.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream_.avail_out = kPiece;
    const int said = inflate(&stream_, Z_NO_FLUSH);
    bytes.remove_prefix(given - stream_.avail_in);
    written = kPiece - stream_.avail_out;
    if (said == Z_STREAM_END)
      return inflateReset(&stream_) == Z_OK ? State::kPartEnded : State::kBroken;
    return said == Z_OK || said == Z_BUF_ERROR ? State::kGoing : State::kBroken;
  }

 private:
  z_stream stream_ = {};
  bool ready_;
};

class Zstd : public Decompressor {
 public:
  State step(std::string_view& bytes, std::array<char, kPiece>& piece,
             std::size_t& written) override {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    ZSTD_outBuffer out{piece.data(), kPiece, 0};
    const auto said = ZSTD_decompressStream(stream_.get(), &out, &in);
    bytes.remove_prefix(in.pos);
    written = out.pos;
    if (ZSTD_isError(said) != 0) return State::kBroken;
    return said == 0 ? State::kPartEnded : State::kGoing;
  }

 private:
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> stream_{ZSTD_createDCtx(), &ZSTD_freeDCtx};
};

class Xz : public Decompressor {
 public:
  Xz() { ready_ = start(); }
  ~Xz() override { lzma_end(&stream_); }

  State step(std::string_view& bytes, std::array<char, kPiece>& piece,
             std::size_t& written) override {
    if (!ready_) return State::kBroken;
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(bytes.data());
    stream_.avail_in = bytes.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(piece.data());
    stream_.avail_out = kPiece;
    const auto said = lzma_code(&stream_, LZMA_RUN);
    bytes.remove_prefix(bytes.size() - stream_.avail_in);
    written = kPiece - stream_.avail_out;
    if (said == LZMA_STREAM_END) return start() ? State::kPartEnded : State::kBroken;
    if (said == LZMA_MEMLIMIT_ERROR) return State::kTooMuchMemory;
    return said == LZMA_OK || said == LZMA_BUF_ERROR ? State::kGoing : State::kBroken;
  }

 private:
  bool start() { return lzma_stream_decoder(&stream_, kMostMemory, 0) == LZMA_OK; }

  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool ready_;
};

template <typename Library>
std::unique_ptr<Decompressor> made() {
  return std::make_unique<Library>();
}

struct Compression {
  std::string_view start, name;
  std::unique_ptr<Decompressor> (*make)();
};
constexpr Compression kCompressions[] = {{"\x1f\x8b\x08", "gzip", made<Gzip>},
                                         {"\x28\xb5\x2f\xfd", "zstd", made<Zstd>},
                                         {std::string_view("\xfd\x37zXZ\0", 6), "xz", made<Xz>}};

const Compression* compression_of(std::string_view bytes) {
  const auto* known = std::find_if(std::begin(kCompressions), std::end(kCompressions),
                                   [&](const auto& one) { return bytes.starts_with(one.start); });
  return known == std::end(kCompressions) ? nullptr : known;
}

void look_at(base::Budget* budget, const std::string& content, std::size_t more) {
  if (budget == nullptr) return;
  const bool grows = content.size() + more > content.capacity();
  if (budget->exceeded() || (grows && budget->would_exceed(2 * content.size()))) throw Stopped{};
}

}  // namespace

bool is_compressed(std::string_view bytes) {
  return compression_of(bytes) != nullptr;
}

struct Decompression::State {
  State(std::string_view bytes, const Compression& of)
      : left(bytes), all(bytes.size()), compression(of), library(of.make()) {}

  std::string_view left;
  std::size_t all;
  const Compression& compression;
  std::unique_ptr<Decompressor> library;
  std::array<char, kPiece> piece = {};
  Decompressor::State state = Decompressor::State::kGoing;
};

Decompression::Decompression(std::string_view bytes) {
  state_ = std::make_unique<State>(bytes, *compression_of(bytes));
}
Decompression::Decompression(Decompression&&) noexcept = default;
Decompression& Decompression::operator=(Decompression&&) noexcept = default;
Decompression::~Decompression() = default;

base::Result<std::string_view> Decompression::next() {
  using Step = Decompressor::State;
  auto& s = *state_;
  // Zeros may fill the last block of a tape or a disk.
  while (s.state == Step::kGoing || s.left.find_first_not_of('\0') != std::string_view::npos) {
    std::size_t written = 0;
    const auto before = s.left.size();
    s.state = s.library->step(s.left, s.piece, written);
    if (s.state == Step::kBroken) {
      return base::Error{.message = fmt::format("found broken {} data near byte {}, expected a "
                                                "history that it compresses",
                                                s.compression.name, s.all - s.left.size())};
    }
    if (s.state == Step::kTooMuchMemory) {
      return base::Error{.message = fmt::format("found {} data that take more than 1 GiB of memory "
                                                "to decompress; compress them by a lower preset",
                                                s.compression.name)};
    }
    if (s.state == Step::kGoing && written == 0 && s.left.size() == before) {
      return base::Error{
          .message = fmt::format("the {} data end too early: the file is cut", s.compression.name)};
    }
    if (written > 0) return std::string_view(s.piece.data(), written);
  }
  return std::string_view();
}

base::Result<std::string> decompress(std::string_view bytes, base::Budget* budget) {
  Decompression pieces(bytes);
  std::string content;
  for (;;) {
    const auto piece = pieces.next();
    if (!piece.ok()) return piece.error();
    if (piece->empty()) return content;
    look_at(budget, content, piece->size());
    content.append(*piece);
  }
}

}  // namespace cupel::formats
