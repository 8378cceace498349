// Op set-up: see the header. Linear in the writes.
#include "data/formats/op_setup.hpp"

#include <algorithm>

#include "base/hash_table.hpp"

namespace cupel::formats::jepsen {

std::vector<bool> initial_contents(std::span<const SetUp> set_ups, history::Time others_begin) {
  std::vector<bool> contents(set_ups.size());
  // By key, who wrote it at last. One of unknown outcome may come before those that overlap it.
  base::HashMap<std::uint32_t, std::vector<std::pair<std::size_t, std::uint32_t>>> writers;
  for (std::size_t i = 0; i < set_ups.size(); ++i) {
    const auto& one = set_ups[i];
    const bool timed = one.end_time != history::kNoTime && others_begin != history::kNoTime;
    contents[i] = one.committed && one.ended && (!timed || one.end_time <= others_begin);
    if (one.ended && one.failed) continue;
    for (const auto& [key, value] : one.writes) {
      auto& of_key = writers[key];
      if (!of_key.empty() && of_key.back().first == i) of_key.pop_back();
      of_key.emplace_back(i, value);
    }
  }
  for (const auto& [key, of_key] : writers) {
    const auto& [first, held] = of_key.front();
    const auto& ended = set_ups[first].ended;
    bool same = true, surely_first = true;
    for (const auto& [i, value] : of_key) {
      same = same && value == held;
      surely_first = surely_first && (i == first || (ended && set_ups[i].invoked > ended));
    }
    if (same) continue;
    for (const auto& [i, value] : of_key) contents[i] = contents[i] && i == first && surely_first;
  }
  return contents;
}

}  // namespace cupel::formats::jepsen
