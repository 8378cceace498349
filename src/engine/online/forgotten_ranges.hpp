// Forgotten ranges: the range reads of transactions that a window has forgotten.
//
// They matter only if keys start with a value. A range read that does not return a key saw it
// absent, and the first operation on that key may come after the reader was forgotten. Then the
// key started with its value, so somebody must have deleted it before.
//
// Holds one reader for each pair of bounds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "data/history/scalar.hpp"
#include "data/history/state.hpp"
#include "engine/online/keys.hpp"

namespace cupel::online {

struct RangeReader {
  std::uint32_t session = 0;
  history::Time invoke = history::kNoTime, complete = history::kNoTime;
  std::uint32_t label = 0, place = 0;
};

class ForgottenRanges {
 public:
  // Every key that is known by now is accounted for: the reader was decided together with it.
  void add(history::ScalarView low, history::ScalarView high, const RangeReader& reader);

  struct Missing {
    Key key;
    RangeReader reader;
  };
  // A key that has appeared since, is in a range in every order of keys, and does not start absent.
  // `starts_absent`: of a key.
  template <typename StartsAbsent>
  std::optional<Missing> find_missing(const Keys& keys, const StartsAbsent& starts_absent) {
    for (; compared_ < keys.size(); ++compared_) {
      const Key key = static_cast<Key>(compared_);
      if (readers_.empty() || keys.is_list(key) || starts_absent(key)) continue;
      if (const auto* reader = reader_of(keys.name(key))) return Missing{key, *reader};
    }
    return std::nullopt;
  }

  void save(history::StateWriter& out) const;
  // `sessions`: how many there are.
  void load(history::StateReader& in, std::size_t sessions);

 private:
  [[nodiscard]] const RangeReader* reader_of(history::ScalarView key) const;

  history::ScalarTable bounds_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, RangeReader> readers_;  // by low and high
  std::size_t compared_ = 0;  // keys that are in no range, or were decided with all readers
};

}  // namespace cupel::online
