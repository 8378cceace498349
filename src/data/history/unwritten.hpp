// Unwritten: reads of what no transaction of a history wrote.
#pragma once

#include <cstdint>
#include <optional>

#include "base/hash_table.hpp"
#include "data/history/history.hpp"

namespace cupel::history {

// The values that operations of a history write to each key, elements of lists included, whatever
// became of their transactions. The history is borrowed.
class WrittenValues {
 public:
  explicit WrittenValues(const History& h);
  [[nodiscard]] bool has(KeyId key, ValueId value) const {
    return values_.contains(pair_of(key, value));
  }

 private:
  static std::uint64_t pair_of(KeyId key, ValueId value) {
    return (std::uint64_t{key.raw} << 32) | value.raw;
  }
  base::HashSet<std::uint64_t> values_;
};

// The first operation of a committed transaction that saw a value, an element or a row that no
// operation of the history writes and that is no initial value. Linear.
std::optional<OpId> first_unwritten_read(const History& h);

}  // namespace cupel::history
