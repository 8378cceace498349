// Packed scalars: the values of a history that is read once, in the order of their numbers, in as
// little memory as a look-up by number allows.
//
// Integers are held in groups of 128: where they are equally far apart, as the values of most
// workloads are, by the first and the distance; else each as its distance from the least, in 1, 2,
// 4 or 8 bytes. A group with a text in it is held as it is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "data/history/scalar.hpp"

namespace cupel::formats {

class PackedScalars {
 public:
  void add(history::ScalarView scalar);
  [[nodiscard]] std::size_t size() const { return groups_.size() * kGroup + open_.size(); }
  // `number` is below size(). Valid until the next add().
  [[nodiscard]] history::ScalarView at(std::size_t number) const;

 private:
  static constexpr std::size_t kGroup = 128;
  static constexpr std::size_t kSegmentBytes = 1 << 20;
  static constexpr std::uint8_t kEven = 0, kAsTheyAre = 255;  // else the bytes of each

  struct Scalar {
    history::ScalarKind kind;
    std::int64_t integer;
    std::string text;
  };
  struct Group {
    std::int64_t least = 0;   // or the first
    std::uint64_t place = 0;  // of its bytes, or of its scalars; or the distance
    std::uint8_t width = kEven;
  };
  void close_group();
  void pack(Group& group);

  std::vector<Scalar> open_;  // of the last group, which is not full
  std::vector<Group> groups_;
  std::vector<std::vector<std::uint8_t>> segments_;
  std::deque<Scalar> texts_;
};

}  // namespace cupel::formats
