// Line pieces: a text file as pieces of whole lines, for readers that go through it once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"
#include "base/result.hpp"
#include "formats/input.hpp"

namespace cupel::formats {

class LinePieces {
 public:
  // A file, a recording (formats/recording.hpp), or "-". A compressed file is decompressed into
  // memory, of a recording one file at a time.
  static base::Result<LinePieces> open(const std::string& path);

  // Whole lines, some megabytes; valid until the next call. Empty at the end. A last line without
  // an end is not among them.
  base::Result<std::string_view> next();

 private:
  base::Status open_part(const std::string& path);
  // False: there is none left.
  base::Result<bool> next_part();
  base::Result<std::size_t> fill(char* to, std::size_t size);

  std::string path_, folder_;
  std::uint32_t part_ = 0;
  base::Descriptor file_;
  MappedFile packed_;
  std::size_t packed_at_ = 0;
  bool is_packed_ = false;
  std::string buffer_;
  std::size_t given_ = 0;  // of buffer_: the lines of the last call
};

}  // namespace cupel::formats
