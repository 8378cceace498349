// Witness: the evidence for acceptance, in the words of the history.
//
// An order that anybody can replay (docs/reference/formats/certificate.md says what a
// replay asks of it at which level).
#pragma once

#include <cstdint>
#include <vector>

#include "data/history/history.hpp"
#include "engine/levels/derivation.hpp"
#include "engine/levels/level.hpp"

namespace cupel::levels {

// What a read that may have seen several saw; writer none(): the initial version.
struct ReadFrom {
  OpId read;
  KeyId key;
  TxnId writer;
};

struct Witness {
  Level level = Level::kReadCommitted;  // at which it is one: that asked, or one that implies it
  // The transactions that took effect. At levels with begin and commit each is there
  // twice, first its begin, then its commit. Empty at linearizable.
  std::vector<TxnId> order;
  struct OfKey {
    KeyId key;
    std::vector<TxnId> order;
  };
  std::vector<OfKey> by_key;         // linearizable
  std::vector<ReadFrom> reads_from;  // weak levels
  std::vector<Placing> placings;     // weak levels: elements appended twice
};

}  // namespace cupel::levels
