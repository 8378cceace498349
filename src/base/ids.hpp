// Strong ids: one distinct integer type per kind of thing, so that a key can
// never be passed where a transaction is meant. They cost what a uint32_t costs.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace cupel::base {

template <typename Tag>
struct Id {
  using Raw = std::uint32_t;
  static constexpr Raw kNoneRaw = std::numeric_limits<Raw>::max();

  Raw raw = kNoneRaw;

  constexpr Id() = default;
  constexpr explicit Id(std::size_t value) : raw(static_cast<Raw>(value)) {}

  static constexpr Id none() { return Id(); }
  [[nodiscard]] constexpr bool valid() const { return raw != kNoneRaw; }
  [[nodiscard]] constexpr std::size_t index() const { return raw; }

  friend constexpr auto operator<=>(Id, Id) = default;

  template <typename H>
  friend H AbslHashValue(H state, Id id) {
    return H::combine(std::move(state), id.raw);
  }
};

}  // namespace cupel::base

template <typename Tag>
struct std::hash<cupel::base::Id<Tag>> {
  std::size_t operator()(cupel::base::Id<Tag> id) const noexcept {
    return std::hash<std::uint32_t>{}(id.raw);
  }
};
