// Digest: a number of what the lines of a history say; a certificate names that of its history.
#pragma once

#include <cstdint>

#include "crdt/model/history.hpp"
#include "crdt/model/recording.hpp"

namespace cupel::crdt {

std::uint64_t digest(const History& history);
// Without what named objects had received, which follows from the whole.
std::uint64_t digest(const Recording& recording);

}  // namespace cupel::crdt
