// Rotation: a recording of days as a folder of files, of which all but the last are compressed.
//
// The writer writes the part of its whole lines that is fitting() and then calls wrote(). When the
// file is full, the next one is there before the full one is compressed, so that a reader who sees
// a next file knows that nothing more comes to the one before. A thread compresses; the file gets
// its new name whole, then a line of the index, and only then the other one goes: whoever is killed
// in between leaves no gap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace cupel::record {

class Rotation {
 public:
  Rotation(std::string folder, std::uint64_t bytes) : folder_(std::move(folder)), most_(bytes) {}
  ~Rotation();
  Rotation(const Rotation&) = delete;
  Rotation& operator=(const Rotation&) = delete;

  // Why it cannot be: there is a recording in it already, or the system's reason. Else empty.
  std::string make_folder();
  // The next file; -1, and errno.
  int open();
  // How many bytes of `batch` go into this file: up to the end of the line that fills it.
  [[nodiscard]] std::size_t fitting(std::string_view batch) const;
  // `batch` was written to `file`, which is exchanged for the next one if it is full. `last`:
  // nothing more comes, and the rest is compressed too. Why that failed, or empty.
  std::string wrote(std::string_view batch, bool last, int& file);

 private:
  // What a file holds, for the index.
  struct Content {
    std::uint32_t number = 0;
    std::uint64_t bytes = 0, lines = 0, lines_before = 0;
  };
  void compress(const Content& content);
  [[nodiscard]] std::string path_of(std::uint32_t number) const;

  const std::string folder_;
  const std::uint64_t most_;
  Content content_;
  std::thread compressing_;
};

}  // namespace cupel::record
