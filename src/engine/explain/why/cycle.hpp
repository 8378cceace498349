// Cycle: the structure of a violation, and the names that follow from it.
//
// Begin and commit of a transaction are made one (kOwn edges vanish) and session
// edges that follow each other become one. Adya's names are then read off the
// kinds of the edges, as in Elle (Kingsbury & Alvaro, VLDB 2020). Our deviation:
// Elle knows the version orders, we deduce them, so a forced edge counts with the
// cycle that there would be without it. A ww edge that is forced because a reader
// missed the write is no circular information flow, because nobody saw that
// order; its cycle is reader -rw-> the missed write -> ... -> reader.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/explain/why/words.hpp"
#include "engine/levels/derivation.hpp"
#include "engine/levels/level.hpp"

namespace cupel::explain {

using levels::Derivation;
using levels::Edge;
using levels::EdgeKind;
using levels::Reason;

// An edge of a contracted path; `index` is its place in the derivation (of the
// first, where session edges were joined).
struct PathEdge {
  Edge edge;
  std::uint32_t index;
};
using Path = std::vector<PathEdge>;

Path contracted(const Derivation& derivation, std::span<const std::uint32_t> path);

// A read that missed a write which had to be visible to it.
struct Miss {
  TxnId reader, writer;
  KeyId key;
  OpId write;  // of `writer`; may be none()
  OpId read;   // of `reader`; may be none()
  Path path;   // how `writer` is visible to `reader`
};

// What a name needs to be put in a sentence. Fields that the name does not use
// are empty.
struct Named {
  std::string name, adya;
  std::optional<Miss> miss;         // reads that missed a visible write
  std::vector<TxnId> transactions;  // lost-update: the two; write-skew: the two;
                                    // long-fork: reader, its writer, reader, its writer
  std::vector<KeyId> keys;          // lost-update: the key; write-skew: of each rw edge
};

// `cycles`: the one cycle, or the cycle of each case. Not empty.
Named name_of(const History& history, const Words& words, levels::Level level,
              const Derivation& derivation, const std::vector<Path>& cycles);

}  // namespace cupel::explain
