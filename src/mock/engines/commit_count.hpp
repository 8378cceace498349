// CommitCount: how many transactions of a store have committed, in memory that an engine shares.
//
// A statement of the engine notes the number when it starts, and sees what was committed then: it
// may have passed the place already where a later version of a row is.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace cupel::engines {

class CommitCount {
 public:
  // Makes the file, which everybody may map to read the number: 4 bytes, in the machine's order.
  // Errors: it cannot be made.
  static base::Result<CommitCount> make(const std::string& file);
  CommitCount(CommitCount&& other) noexcept;
  CommitCount& operator=(CommitCount&&) = delete;
  ~CommitCount();

  void set(std::uint32_t commits);
  [[nodiscard]] std::uint32_t get() const;

 private:
  explicit CommitCount(std::uint32_t* shared) : shared_(shared) {}
  std::uint32_t* shared_;  // null: moved from
};

}  // namespace cupel::engines
