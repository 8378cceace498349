// Digest: a checksum of a history as read, by which a certificate knows it again.
//
// 64 bits over everything that decides a verdict: sessions and their order,
// transactions with status and times, operations with keys and values, initial
// values. Not over labels, session names and metadata. The same file read by the
// same format gives the same digest on every machine and with any number of
// threads. It detects histories that were mixed up; it is no defence against
// somebody who wants two with the same digest.
#pragma once

#include <cstdint>

#include "data/history/history.hpp"

namespace cupel::history {

// Linear.
std::uint64_t digest(const History& history);

}  // namespace cupel::history
