// Rotation: see the header. A file that cannot be compressed (a full disk) stays as it is: nothing
// is lost, and a reader takes it as well.
#include "data/record/rotation.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <vector>

#include "base/descriptor.hpp"
#include "base/write_file.hpp"

namespace cupel::record {

namespace fs = std::filesystem;

namespace {

constexpr int kLevel = 3;  // zstd's own choice: 200 MB a second, a tenth of the size

// From one descriptor to the other. How many bytes came out; none: it failed.
std::optional<std::uint64_t> compress(int from, int to) {
  const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                   ZSTD_freeCCtx);
  if (!context) return std::nullopt;
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::vector<char> in(ZSTD_CStreamInSize()), out(ZSTD_CStreamOutSize());
  std::uint64_t written = 0;
  for (;;) {
    const auto got = ::read(from, in.data(), in.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    ZSTD_inBuffer input{in.data(), static_cast<std::size_t>(got), 0};
    const auto mode = got == 0 ? ZSTD_e_end : ZSTD_e_continue;
    for (std::size_t left = 1; left != 0;) {
      ZSTD_outBuffer output{out.data(), out.size(), 0};
      left = ZSTD_compressStream2(context.get(), &output, &input, mode);
      if (ZSTD_isError(left) != 0) return std::nullopt;
      if (mode == ZSTD_e_continue && input.pos == input.size) left = 0;
      for (std::size_t at = 0; at < output.pos;) {
        const auto count = ::write(to, out.data() + at, output.pos - at);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return std::nullopt;
        at += static_cast<std::size_t>(count);
      }
      written += output.pos;
    }
    if (got == 0) return written;
  }
}

}  // namespace

Rotation::~Rotation() {
  if (compressing_.joinable()) compressing_.join();
}

std::string Rotation::path_of(std::uint32_t number) const {
  return (fs::path(folder_) / fmt::format("history.{:05}.jsonl", number)).string();
}

std::string Rotation::make_folder() {
  std::error_code failed;
  fs::create_directories(folder_, failed);
  if (failed) return fmt::format("{}: could not make the folder: {}", folder_, failed.message());
  const auto index = (fs::path(folder_) / "history.index.jsonl").string();
  for (const auto& file : {path_of(1), path_of(1) + ".zst", index}) {
    if (!fs::exists(file, failed)) continue;
    return fmt::format("{}: is there already; name another folder for the history", file);
  }
  return "";
}

int Rotation::open() {
  content_ = {.number = content_.number + 1,
              .lines_before = content_.lines_before + content_.lines};
  return ::open(path_of(content_.number).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

std::size_t Rotation::fitting(std::string_view batch) const {
  const auto left = most_ > content_.bytes ? most_ - content_.bytes : 1;
  if (batch.size() <= left) return batch.size();
  const auto end = batch.find('\n', left - 1);
  return end == std::string_view::npos ? batch.size() : end + 1;
}

std::string Rotation::wrote(std::string_view batch, bool last, int& file) {
  content_.bytes += batch.size();
  content_.lines += static_cast<std::uint64_t>(std::count(batch.begin(), batch.end(), '\n'));
  if (content_.bytes < most_ && !last) return "";
  const auto full = content_;
  if (!last) {
    const int next = open();
    if (next < 0) {
      return fmt::format("{}: could not make the next file of the history: {}",
                         path_of(content_.number), std::strerror(errno));
    }
    if (::close(std::exchange(file, next)) != 0) {
      return fmt::format("{}: could not write the history: {}", path_of(full.number),
                         std::strerror(errno));
    }
  }
  if (compressing_.joinable()) compressing_.join();
  try {
    compressing_ = std::thread([this, full] { compress(full); });
  } catch (const std::system_error&) {  // no thread is free; this one has time for it
    compress(full);
  }
  if (last && compressing_.joinable()) compressing_.join();
  return "";
}

void Rotation::compress(const Content& content) {
  const auto path = path_of(content.number), packed = path + ".zst";
  const auto fresh = base::make_fresh_file(packed);
  if (!fresh.ok()) return;
  const base::Descriptor from(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const base::Descriptor to(::open(fresh->c_str(), O_WRONLY | O_CLOEXEC));
  const auto size = from && to ? record::compress(from.get(), to.get()) : std::nullopt;
  if (!size || ::fsync(to.get()) != 0 || std::rename(fresh->c_str(), packed.c_str()) != 0) {
    ::unlink(fresh->c_str());
    return;
  }
  const auto line = fmt::format(
      "{{\"file\":\"{}\",\"first_line\":{},\"lines\":{},\"bytes\":{},\"compressed_bytes\":{}}}\n",
      fs::path(packed).filename().string(), content.lines_before + 1, content.lines, content.bytes,
      *size);
  const auto index = (fs::path(folder_) / "history.index.jsonl").string();
  if (base::write_file(index, line, base::WriteMode::kAppend).ok()) ::unlink(path.c_str());
}

}  // namespace cupel::record
