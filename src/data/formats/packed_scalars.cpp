// Packed scalars: see the header.
#include "data/formats/packed_scalars.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cupel::formats {

using history::ScalarKind;
using history::ScalarView;

void PackedScalars::add(ScalarView scalar) {
  open_.push_back({scalar.kind, scalar.integer, std::string(scalar.text)});
  if (open_.size() == kGroup) close_group();
}

void PackedScalars::close_group() {
  Group group;
  const bool integers = std::all_of(open_.begin(), open_.end(), [](const Scalar& scalar) {
    return scalar.kind == ScalarKind::kInteger;
  });
  if (integers) {
    pack(group);
  } else {
    group.width = kAsTheyAre;
    group.place = texts_.size();
    for (auto& scalar : open_) texts_.push_back(std::move(scalar));
  }
  groups_.push_back(group);
  open_.clear();
}

void PackedScalars::pack(Group& group) {
  const auto bits = [&](std::size_t i) { return static_cast<std::uint64_t>(open_[i].integer); };
  const std::uint64_t distance = bits(1) - bits(0);
  std::size_t even = 1;
  while (even < kGroup && bits(even) - bits(even - 1) == distance) ++even;
  if (even == kGroup) {
    group.least = open_.front().integer;
    group.place = distance;
    return;
  }
  const auto [least, most] =
      std::minmax_element(open_.begin(), open_.end(),
                          [](const Scalar& a, const Scalar& b) { return a.integer < b.integer; });
  group.least = least->integer;
  const auto base = static_cast<std::uint64_t>(group.least);
  const auto range = static_cast<std::uint64_t>(most->integer) - base;
  group.width = range < 1u << 8 ? 1 : range < 1u << 16 ? 2 : range >> 32 == 0 ? 4 : 8;
  const std::size_t bytes = kGroup * group.width;
  if (segments_.empty() || segments_.back().size() + bytes > kSegmentBytes) {
    segments_.emplace_back().reserve(kSegmentBytes);
  }
  auto& segment = segments_.back();
  group.place = (segments_.size() - 1) * kSegmentBytes + segment.size();
  for (std::size_t i = 0; i < kGroup; ++i) {
    const std::uint64_t offset = bits(i) - base;
    for (std::size_t b = 0; b < group.width; ++b) {
      segment.push_back(static_cast<std::uint8_t>(offset >> (8 * b)));
    }
  }
}

ScalarView PackedScalars::at(std::size_t number) const {
  const auto shown = [](const Scalar& scalar) {
    return ScalarView{scalar.kind, scalar.integer, scalar.text};
  };
  const std::size_t which = number / kGroup, place = number % kGroup;
  if (which == groups_.size()) return shown(open_[place]);
  const auto& group = groups_[which];
  if (group.width == kAsTheyAre) return shown(texts_[group.place + place]);
  auto integer = static_cast<std::uint64_t>(group.least);
  if (group.width == kEven) {
    integer += place * group.place;
  } else {
    const auto at = group.place + place * group.width;
    const auto& segment = segments_[at / kSegmentBytes];
    std::uint64_t offset = 0;
    for (std::size_t b = 0; b < group.width; ++b) {
      offset |= std::uint64_t{segment[at % kSegmentBytes + b]} << (8 * b);
    }
    integer += offset;
  }
  return ScalarView::of(static_cast<std::int64_t>(integer));
}

}  // namespace cupel::formats
