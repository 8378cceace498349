// SmallIntegers: an array from small integers to ids, in front of a slower
// lookup; what does not fit goes to that. For ids that are no keys or values
// (processes, say): ScalarTable does the same for those by itself.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace cupel::formats {

template <typename Id>
class SmallIntegers {
 public:
  // `input_bytes` bounds the table: an input of n bytes never costs more than
  // n bytes of table, so a tiny hostile file cannot ask for a large one.
  explicit SmallIntegers(std::size_t input_bytes)
      : limit_(std::min<std::uint64_t>(std::max<std::size_t>(input_bytes / sizeof(Id), 256), 1 << 26)) {}

  template <typename Intern>
  Id get(std::int64_t integer, Intern&& intern) {
    const auto index = static_cast<std::uint64_t>(integer);  // negatives are huge
    if (index >= ids_.size()) {
      if (index >= limit_) return intern(integer);
      ids_.resize(std::min<std::uint64_t>(limit_, std::max<std::uint64_t>(2 * index, 256)));
    }
    Id& id = ids_[index];
    if (!id.valid()) id = intern(integer);
    return id;
  }

 private:
  std::uint64_t limit_;
  std::vector<Id> ids_;
};

}  // namespace cupel::formats
