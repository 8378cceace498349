// A recording: see the header.
#include "data/formats/recording.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/folder.hpp"
#include "data/formats/input.hpp"

namespace cupel::formats {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kBefore = "history.", kAfter = ".jsonl", kCompressed = ".zst";

// The greatest number of a file that is there; 0: none.
std::uint32_t last_part(const std::string& folder) {
  std::uint32_t last = 0;
  for (const auto& name : base::names_in_folder(folder).value_or(std::vector<std::string>())) {
    std::string_view text = name;
    if (text.ends_with(kCompressed)) text.remove_suffix(kCompressed.size());
    if (!text.starts_with(kBefore) || !text.ends_with(kAfter)) continue;
    text.remove_prefix(kBefore.size());
    text.remove_suffix(std::min(text.size(), kAfter.size()));
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) last = std::max(last, number);
  }
  return last;
}

}  // namespace

std::optional<std::string> recorded_part(const std::string& folder, std::uint32_t number) {
  auto path = (fs::path(folder) / fmt::format("{}{:05}{}", kBefore, number, kAfter)).string();
  std::error_code unknown;
  if (fs::is_regular_file(path, unknown)) return path;
  path += kCompressed;
  if (fs::is_regular_file(path, unknown)) return path;
  return std::nullopt;
}

bool is_recording(const std::string& path) {
  std::error_code unknown;
  return fs::is_directory(path, unknown) && recorded_part(path, 1).has_value();
}

base::Result<std::string> read_recording(const std::string& folder, base::Budget* budget) {
  std::string all;
  const auto last = last_part(folder);
  for (std::uint32_t number = 1; number <= last; ++number) {
    const auto part = recorded_part(folder, number);
    if (!part) {
      return base::Error{.message = fmt::format("found the files 1 to {} of a recording without "
                                                "number {}, expected all",
                                                last, number),
                         .file = folder};
    }
    auto file = MappedFile::open(*part, budget);
    // It may have been compressed since.
    if (!file.ok() && recorded_part(folder, number) != part) {
      file = MappedFile::open(*part + std::string(kCompressed), budget);
    }
    if (!file.ok()) return std::move(file).error();
    const auto bytes = file->bytes();
    if (budget != nullptr && budget->would_exceed(all.size() + 2 * bytes.size())) throw Stopped{};
    all += bytes;
  }
  return all;
}

base::Result<std::string> recorded_head(const std::string& folder, std::size_t bytes) {
  const auto failed = [&](const char* why) { return base::Error{.message = why, .file = folder}; };
  const auto part = recorded_part(folder, 1);
  std::ifstream file(part.value_or(""), std::ios::binary);
  std::string head(bytes, '\0');
  if (!part || !file) return failed("the first file of the recording cannot be read");
  if (!part->ends_with(kCompressed)) {
    file.read(head.data(), static_cast<std::streamsize>(bytes));
    head.resize(static_cast<std::size_t>(file.gcount()));
    return head;
  }
  const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                   ZSTD_freeDCtx);
  std::vector<char> in(ZSTD_DStreamInSize());
  ZSTD_outBuffer output{head.data(), head.size(), 0};
  while (output.pos < output.size && file) {
    file.read(in.data(), static_cast<std::streamsize>(in.size()));
    ZSTD_inBuffer input{in.data(), static_cast<std::size_t>(file.gcount()), 0};
    while (input.pos < input.size && output.pos < output.size) {
      if (ZSTD_isError(ZSTD_decompressStream(context.get(), &output, &input)) != 0) {
        return failed("the first file of the recording is damaged");
      }
    }
  }
  head.resize(output.pos);
  return head;
}

std::optional<std::uint64_t> recorded_bytes(const std::string& folder, std::uint32_t number) {
  std::ifstream index(fs::path(folder) / "history.index.jsonl", std::ios::binary);
  const auto name = fmt::format("\"{}{:05}{}{}\"", kBefore, number, kAfter, kCompressed);
  constexpr std::string_view kBytes = "\"bytes\":";
  for (std::string line; std::getline(index, line);) {
    const auto at = line.find(kBytes);
    if (line.find(name) == std::string::npos || at == std::string::npos) continue;
    std::uint64_t bytes = 0;
    const char* const first = line.data() + at + kBytes.size();
    if (std::from_chars(first, line.data() + line.size(), bytes).ec == std::errc()) return bytes;
  }
  return std::nullopt;
}

}  // namespace cupel::formats
