// Corruption: see the header.
#include "databases/lab/disk/corrupt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/random.hpp"

namespace cupel::lab {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kStretch = 4096;
constexpr std::uint64_t kByte = 8;
constexpr auto kRecent = std::chrono::minutes(1);

struct Candidate {
  fs::file_time_type written;
  std::string name;  // below the folder
  std::uint64_t size;
};

// In the order of their names, so that the seed decides.
std::vector<Candidate> candidates(const std::string& folder) {
  std::vector<Candidate> files;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) {
    if (entry.is_symlink(ignored) || !entry.is_regular_file(ignored)) continue;
    // Smaller ones are locks, versions and settings.
    const auto size = entry.file_size(ignored);
    if (ignored || size < kStretch) continue;
    files.push_back(
        {entry.last_write_time(ignored), fs::relative(entry.path(), folder).string(), size});
  }
  if (files.empty()) return files;
  const auto newest =
      std::max_element(files.begin(), files.end(), [](const auto& a, const auto& b) {
        return a.written < b.written;
      })->written;
  std::erase_if(files, [&](const auto& file) { return file.written + kRecent < newest; });
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return files;
}

}  // namespace

base::Result<std::string> flip_bits(const std::string& folder, std::uint64_t bits,
                                    std::uint64_t seed) {
  const auto files = candidates(folder);
  if (files.empty()) {
    return base::Error{.message = "found no file with 4 KiB of data that could be corrupted",
                       .file = folder};
  }
  base::Random random(seed);
  const auto& chosen = files[random.below(files.size())];
  const auto begin = random.below(chosen.size / kStretch) * kStretch;
  const auto path = folder + "/" + chosen.name;
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  std::string bytes(kStretch, 0);
  file.seekg(static_cast<std::streamoff>(begin));
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  std::vector<std::uint64_t> places(kStretch * kByte);
  for (std::uint64_t i = 0; i < places.size(); ++i) places[i] = i;
  random.shuffle(std::span(places));
  places.resize(std::min<std::size_t>(bits, places.size()));
  for (const auto place : places) {
    auto& byte = bytes[place / kByte];
    byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1U << (place % kByte)));
  }
  file.seekp(static_cast<std::streamoff>(begin));
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.flush();
  if (!file) return base::Error{.message = "cannot be read and written", .file = path};
  return fmt::format("{}: {} bit{} from byte {} on", chosen.name, places.size(),
                     places.size() == 1 ? "" : "s", begin);
}

}  // namespace cupel::lab
