// Op set-up: which operations of init and setup are the initial contents of the database
// (docs/reference/formats/jepsen.md#set-up). They are no transactions then: what they wrote
// precedes everything.
//
// An operation is one of these if all that it does is to write, if it committed, and if nobody else
// had begun. A recorder may call operations so that were not the first, so every doubt leaves a
// transaction: one that writes what another one writes too is the content only if it certainly came
// first.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "data/history/history.hpp"

namespace cupel::formats::jepsen {

// Metadata of a history: how many operations are its initial contents.
inline constexpr const char* kSetUp = "set-up";

// One that began before everybody else.
struct SetUp {
  // The places of its events in the source. None: it had no invocation; it ended later, or never.
  std::optional<std::uint64_t> invoked, ended;
  bool committed = false, failed = false;  // by then; neither: nobody knows
  history::Time end_time = history::kNoTime;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> writes;  // key and value
};

// In the order in which they ended. `others_begin`: the time of the first invocation of another
// operation.
std::vector<bool> initial_contents(std::span<const SetUp> set_ups, history::Time others_begin);

}  // namespace cupel::formats::jepsen
