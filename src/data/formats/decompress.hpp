// decompress: files as gzip, zstd and xz leave them, several parts after one another included.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/budget.hpp"
#include "base/result.hpp"

namespace cupel::formats {

// Does a file that begins so have one of these three compressions?
bool is_compressed(std::string_view bytes);

// The content of a file for which that is true. Errors: broken or incomplete data. May throw
// Stopped (input.hpp), if it is given a budget: of memory, too, since a small file can have a large
// content.
base::Result<std::string> decompress(std::string_view bytes, base::Budget* budget);

// The same piece by piece, for whoever need not hold all of it. `bytes` is borrowed.
class Decompression {
 public:
  explicit Decompression(std::string_view bytes);
  Decompression(Decompression&&) noexcept;
  Decompression& operator=(Decompression&&) noexcept;
  ~Decompression();

  // Valid until the next call. Empty: that was all.
  base::Result<std::string_view> next();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cupel::formats
