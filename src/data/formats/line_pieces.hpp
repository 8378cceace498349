// Line pieces: a text file as pieces of whole lines, for readers that go through it once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "data/formats/decompress.hpp"
#include "data/formats/input.hpp"
#include "data/formats/open_file.hpp"

namespace cupel::formats {

// Up to the end of its last whole line or map, the bytes of a file that may still grow. None: it is
// no regular file, or compressed.
std::optional<std::uint64_t> whole_lines(const std::string& path);

class LinePieces {
 public:
  // A file, a recording (data/formats/recording.hpp), or "-". What is compressed is decompressed
  // piece by piece. A last line without an end may have been cut while it was written, unless it is
  // a whole map.
  enum class LastLine : std::uint8_t { kLeaveOut, kTake };
  // `first_bytes`: of the content only so many, as ReadOptions (formats.hpp).
  static base::Result<LinePieces> open(const std::string& path, LastLine last = LastLine::kLeaveOut,
                                       std::optional<std::uint64_t> first_bytes = {});

  // Whole lines, about a megabyte; valid until the next call. Empty at the end.
  base::Result<std::string_view> next();

 private:
  base::Status open_part(const std::string& path);
  // False: there is none left.
  base::Result<bool> next_part();
  base::Result<std::size_t> fill(char* to, std::size_t size);
  base::Result<std::size_t> read_some(char* to, std::size_t size);
  base::Result<std::string> read_rest(std::string_view begin);

  std::string path_, folder_;
  LastLine last_ = LastLine::kLeaveOut;
  std::optional<std::uint64_t> left_;  // bytes of the content; none: all
  std::uint32_t part_ = 0;
  OpenFile file_;
  bool is_file_ = false;  // a regular one: it is read at places of its own
  std::uint64_t at_ = 0;
  std::string head_;                          // of what is no file: bytes that have been read
  MappedFile packed_;                         // a compressed file
  std::shared_ptr<const std::string> piped_;  // what came compressed from elsewhere
  std::optional<Decompression> unpacked_;
  std::string_view rest_;  // of its last piece
  std::string buffer_;
  std::size_t given_ = 0;  // of buffer_: the lines of the last call
};

}  // namespace cupel::formats
