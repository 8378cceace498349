// Leave out: delta debugging by complements (Zeller and Hildebrandt, Simplifying and Isolating
// Failure-Inducing Input, 2002).
//
//   std::vector<int> units = …;
//   leave_out({.first = units.size() / 2}, [&] { return units.size(); },
//             [&](std::size_t begin, std::size_t end) -> std::optional<std::size_t> {
//               auto fewer = without(units, begin, end);
//               if (!fails(fewer)) return std::nullopt;
//               units = fewer;
//               return begin;
//             });
//
// Chunks of neighbouring units are left out as long as the rest still fails: first large chunks,
// then smaller ones, at last single units. Deviation from the paper: subsets alone are not tried,
// and the chunks do not grow again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace cupel::base {

struct Chunks {
  std::size_t first;  // units of a chunk in the first pass; 0: nothing is tried
  // Single units are tried again until none of them can be left out.
  bool to_the_end = false;
  // Units of a chunk in the next pass, at least one; `left`: units that are left.
  std::size_t (*next)(std::size_t chunk, std::size_t left) = +[](std::size_t chunk, std::size_t) {
    return chunk / 2;
  };
};

// `size()`: units that are left. `without(begin, end)` tries to leave out these units. If they are
// needed, it returns nothing; otherwise it leaves out them, or more, and returns the unit at which
// the pass goes on. `goes_on()` is asked before each attempt. True: the last pass left out some.
template <typename Size, typename Without, typename GoesOn>
bool leave_out(const Chunks& chunks, const Size& size, const Without& without,
               const GoesOn& goes_on) {
  for (auto chunk = chunks.first; chunk > 0;) {
    bool any = false;
    for (std::size_t at = 0; at < size();) {
      if (!goes_on()) return any;
      const auto end = std::min(at + chunk, size());
      const std::optional<std::size_t> next = without(at, end);
      any = any || next.has_value();
      at = next.value_or(end);
    }
    if (chunk == 1 && !(chunks.to_the_end && any)) return any;
    chunk = std::max<std::size_t>(chunks.next(chunk, size()), 1);
  }
  return false;
}

template <typename Size, typename Without>
bool leave_out(const Chunks& chunks, const Size& size, const Without& without) {
  return leave_out(chunks, size, without, [] { return true; });
}

// The units before `begin` and from `end` on.
template <typename Unit>
std::vector<Unit> without_range(const std::vector<Unit>& units, std::size_t begin,
                                std::size_t end) {
  std::vector<Unit> rest(units.begin(), units.begin() + static_cast<std::ptrdiff_t>(begin));
  rest.insert(rest.end(), units.begin() + static_cast<std::ptrdiff_t>(end), units.end());
  return rest;
}

}  // namespace cupel::base
