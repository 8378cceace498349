// Verify: an independent check of a certificate. It shares the History with decide.hpp, but no
// methods, clocks or solvers.
//
// For satisfied, everything is checked: the clocks are a happens-before, the linearization contains
// it, and every read returns what the axioms of the type allow for its visible updates. For
// violated, two steps: the omitted parts of the history may be omitted, and the rest has no
// execution (exhaustive_search.hpp). The second step is for cores of the size that explain() makes.
// With more than kMostOperations operations, or after too much work, the result is unknown.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crdt/model/history.hpp"

namespace cupel::crdt {

enum class CertificateStatus : std::uint8_t { kValid, kNotValid, kUnknown, kBadInput };

struct Verified {
  CertificateStatus status = CertificateStatus::kBadInput;
  std::string verdict;         // "satisfied" or "violated", as the certificate has it
  std::string reason;          // of all but kValid
  bool strict = false;         // it is about the axioms as printed
  bool by_deliveries = false;  // it is about the recorded deliveries, too
  // And then only: reads that had seen the same updates returned the same.
  bool converged_only = false;
};

inline constexpr std::size_t kMostOperations = 1500;

// How the history of a certificate is to be read.
struct CertificateHead {
  // None: it is no certificate, or names no type that is known.
  std::optional<Type> type = {};
  bool of_named_objects = false;
  // None: it says so in words that are not known.
  std::optional<UnknownOutcome> unknown_outcome = UnknownOutcome::kOpen;
};
CertificateHead head_of(std::string_view certificate);

Verified verify(const History& history, std::string_view certificate);

// The same of a certificate that was parsed.
Verified verify_parsed(const History& history, const nlohmann::json& certificate);
// For a violation of several objects: these operations of one as a history of their own, in `part`,
// if what is left out may be left out; else why not.
std::optional<Verified> take_part(const History& history, bool strict,
                                  const std::vector<OpId>& operations, History& part);
// The fields that all certificates have; nothing: they are right.
std::optional<Verified> wrong_head(const nlohmann::json& certificate, std::string_view type,
                                   std::uint64_t digest);

}  // namespace cupel::crdt
