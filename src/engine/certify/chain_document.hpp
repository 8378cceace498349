// Chain document: the lines of a certificate by windows as data, every field known and every number
// in range. Nothing is proven yet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "data/history/scalar.hpp"
#include "engine/certify/levels_table.hpp"

namespace cupel::certify {

struct OwnedScalar {
  history::ScalarKind kind = history::ScalarKind::kNull;
  std::int64_t integer = 0;
  std::string text;
  [[nodiscard]] history::ScalarView view() const { return {kind, integer, text}; }
};

struct ChainHead {
  Level level = Level::kCausal;  // of the windows
  std::optional<Level> asked;    // that it implies
  std::int64_t clock_drift_ns = 0;
};
struct ChainReadFrom {
  std::uint64_t transaction;
  std::uint32_t operation;  // of the transaction
  OwnedScalar key;
  std::optional<std::uint64_t> writer;
};
struct ChainPlace {
  OwnedScalar key;
  std::uint32_t position;
  std::uint64_t transaction;
  std::uint32_t operation;  // of the transaction
};
struct ChainWindow {
  std::uint64_t number = 0;
  std::uint64_t transactions = 0;  // of the history that have been read
  std::string history, frontier;   // digests; the second may be missing
  Level level = Level::kCausal;    // of the order
  std::vector<std::uint64_t> order, gone;
  std::vector<ChainReadFrom> reads_from;
  std::vector<ChainPlace> placings;
};
struct ChainEnd {
  enum { kSatisfied, kViolated, kUnknown } how = kSatisfied;
  std::uint64_t windows = 0, transactions = 0;
  std::string history, why, certificate;
};

struct ChainTrouble {
  std::string what;
};
// One of these, or what was found and expected.
using ChainLine = std::variant<ChainTrouble, ChainHead, ChainWindow, ChainEnd>;

// `level`: what a window is of if it does not say.
ChainLine parse_chain_line(std::string_view line, Level level);

}  // namespace cupel::certify
