// Unsynced: what a power loss would take from a file: the bytes that were overwritten since the
// file was last synced, and what was its length.
//
// Only what a file holds is followed. Names, owners and modes last at once, as if each change of a
// folder were synced.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "databases/lab/server.hpp"

namespace cupel::lab {

// One file. Each call takes a descriptor of it for reading and writing.
class Unsynced {
 public:
  // Before bytes change, or before the file is cut off. Errors: the file cannot be read.
  base::Status keep(int file, std::uint64_t begin, std::uint64_t end);
  // All that it holds now lasts.
  void sync();
  [[nodiscard]] bool any() const { return length_.has_value(); }
  // The file is again as it was at the last sync.
  base::Status undo(int file, LostBytes& lost);

 private:
  static constexpr std::uint64_t kPage = 4096;
  std::optional<std::uint64_t> length_;         // then; none: nothing changed since
  std::map<std::uint64_t, std::string> pages_;  // by number; the last one may be short
};

}  // namespace cupel::lab
