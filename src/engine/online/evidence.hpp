// Evidence: of a look that was satisfied, the order of what is forgotten now, and that of what
// stays.
//
// One order after the other, those of all looks are an order of the whole history: that is
// what a certificate by windows says (docs/reference/formats/certificate.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/history/history.hpp"
#include "engine/levels/witness.hpp"

namespace cupel::online {

struct Evidence {
  // Transactions by their number in the stream.
  struct ReadFrom {
    std::uint64_t transaction;
    std::uint32_t operation;  // of the transaction
    history::KeyId key;       // of the look's history
    std::optional<std::uint64_t> writer;
  };
  struct Place {
    history::KeyId key;
    std::uint32_t position;
    std::uint64_t transaction;
    std::uint32_t operation;
  };
  struct Part {
    std::vector<std::uint64_t> order;  // as in Witness
    std::vector<ReadFrom> reads_from;
    std::vector<Place> placings;
  };
  Part closed, rest;
  std::vector<std::uint64_t> gone;               // forgotten, and they never took place
  levels::Level level = levels::Level::kCausal;  // of the orders
  std::uint64_t transactions = 0, open = 0;      // that ended; that go on
  std::uint64_t history = 0, frontier = 0;       // digests, the second after the cut
};

// `kept`, `numbers`: by transaction of the history.
Evidence evidence_of(const history::History& history, const levels::Witness& witness,
                     std::span<const std::uint8_t> kept, std::span<const std::uint64_t> numbers);

}  // namespace cupel::online
