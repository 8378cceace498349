// Context check: certificates of histories whose deliveries are known.
//
// seen_updates.hpp computes what each operation had seen. Then each replica is gone through once,
// with the state of each object as the axioms define it: of a set, the updates that no visible one
// of the other side observed; of a register, the writes that no visible write observed. For
// satisfied, every read is checked, and the linearization if the type has one. For violated, one of
// the operations named is wrong by itself, or those named ask for an order with a cycle, whichever
// of several equal writes a read returned. It shares no code with model/visibility.hpp and
// solve/context.hpp.
//
// Cost: (operations + deliveries) × replicas + the sizes of the reads, for lists with a logarithm;
// of a cycle, the square of the operations named. With the strict axioms the reads of an array cost
// the square of their sizes.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "crdt/verify/verify.hpp"

namespace cupel::crdt {

Verified check_context(const History& history, const nlohmann::json& certificate, bool strict);

// The same of a certificate of satisfied that has clocks instead of a context: `clocks`, of each
// operation, of each replica how many operations it has seen. They are a happens-before within the
// order of the certificate.
Verified check_orders(const History& history, const nlohmann::json& certificate, bool strict,
                      std::span<const std::uint32_t> clocks);

}  // namespace cupel::crdt
