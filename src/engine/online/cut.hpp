// Cut: which transactions of a window may be forgotten.
//
// A window is a history that satisfies its level, with an order that shows it. A cut
// takes a set of its transactions out, after which each key starts with what the last
// of them wrote: everything that can follow is satisfied without them exactly if it is
// with them. docs/internals/algorithms/online.md has the rules and why they suffice.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/history/history.hpp"
#include "engine/levels/accesses.hpp"
#include "engine/levels/level.hpp"
#include "engine/levels/witness.hpp"

namespace cupel::online {

struct CutQuestion {
  const history::History& history;
  const levels::Accesses& accesses;  // with all outcomes open
  const levels::Witness& witness;
  levels::Level level;
  history::Time drift = 0;
  std::span<const std::uint8_t> continues;  // by session: more of it may come
  std::span<const std::uint8_t> open;       // by transaction: it has not ended
  std::span<const std::uint8_t> stays;      // by transaction: it is not to go yet
  // These may also be of a write that is not in the history yet. Sorted.
  std::span<const history::OpId> unsure_reads;
  // A session that is not in the history may go on: it has seen nothing of it.
  bool unseen_session = false;
  // At levels with real time: nothing that comes was invoked before.
  history::Time earliest = history::kNoTime;
  // By transaction: indeterminate, and it is a bet that nobody will read from it.
  std::span<const std::uint8_t> unread;
  // A bet that blind writes took effect in the order of the witness.
  bool bet_on_order = false;
};

// What a key holds after the cut.
struct Settled {
  history::KeyId key;
  // A register: the last write. A list: its appends among what is forgotten, in order.
  std::vector<history::OpId> writes;
};

struct Cut {
  std::vector<std::uint8_t> kept;  // by transaction
  std::size_t forgotten = 0;
  std::vector<Settled> settled;
  // Why the others stay: each is counted once, for the first reason.
  std::size_t uncovered = 0;       // some session may still not have seen it
  std::size_t undecided = 0;       // the order of two writers of a key is open
  std::size_t outcome = 0;         // indeterminate, and nobody has read from it
  bool lost_bet_possible = false;  // a bet was needed
};

Cut find_cut(const CutQuestion& question);

}  // namespace cupel::online
