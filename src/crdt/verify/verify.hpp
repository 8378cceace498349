// Verify: a second opinion on a certificate. Shares the History, and none of the
// methods, clocks or solvers of decide.hpp.
//
// Satisfied is checked in full: the clocks are a happens-before, the linearization
// contains it, and every read returns what the type's axioms make of what it has seen.
// Violated is checked in two steps: nothing was left out that a history may not lose,
// and what is left has no execution (exhaustive_search.hpp). The second is for cores as explain()
// makes them: beyond kMostOperations, or where there is too much to try, the answer is
// unknown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "crdt/model/history.hpp"

namespace cupel::crdt {

enum class CertificateStatus : std::uint8_t { kValid, kNotValid, kUnknown, kBadInput };

struct Verified {
  CertificateStatus status = CertificateStatus::kBadInput;
  std::string verdict;  // "satisfied" or "violated", as the certificate has it
  std::string reason;   // of all but kValid
  bool strict = false;  // it is about the axioms as printed
};

inline constexpr std::size_t kMostOperations = 1500;

Verified verify(const History& history, std::string_view certificate);

// Of what the operations say; a certificate names it.
std::uint64_t digest(const History& history);

}  // namespace cupel::crdt
