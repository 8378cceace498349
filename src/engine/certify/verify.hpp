// Verify: does a certificate prove what it says of a history?
//
// The second opinion on every verdict. It reads the history and the certificate
// (docs/reference/formats/certificate.md) and nothing else: no file of the engine, whose
// code may be wrong. Its soundness rests on docs/reference/levels.md and on the rules of
// the certificate's page, each of which is checked by one function here:
//   document    JSON into structs, every number in range
//   replay      satisfied, order levels: the order, replayed by value
//   weak        satisfied, weak levels: the formula phi under a total order
//   violated    violated: the cases of it
//   internal    violated: what is wrong inside one transaction or one read
//   derivation  violated: edges with their reasons, cycles, clauses
//   propagate   the refutation of the clauses, by unit propagation
//
// Cost: linear for an order level satisfied; O(n^1.5) for read-committed and
// read-atomic, O(n * sessions) for causal; for a violated one the size of the
// certificate, with an index of all writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/history/history.hpp"

namespace cupel::certify {

enum class Validity : std::uint8_t {
  kValid,
  kNotValid,  // a certificate, but it does not prove what it says of this history
  kBadInput,  // no certificate of a version that is known here
};

struct ProvenAnswer {
  std::string level;
  bool satisfied;
  std::size_t proof;  // its number in the certificate
  std::string how;    // "an order of 1,000 transactions", "a cycle of 3 edges"
  // The level of the proof, if it is another one, by which this one follows.
  std::string by_level;
};

struct Report {
  Validity validity = Validity::kBadInput;
  std::string reason;  // not kValid: which proof, which step, what was found and expected
  std::vector<ProvenAnswer> answers;  // kValid: what is proven, in the order of the certificate
};

// Ends the reason why a certificate is about another history: the same file is another one if it is
// read in another way.
inline constexpr std::string_view kReadAsChecked =
    ". If it is the same file, give verify the --initial, --kind and --ignore that check had";

// Of how many bytes, the first of a file, the certificate is. None: of the whole. It proves
// nothing: whoever reads the history takes these alone, and says so.
std::optional<std::uint64_t> first_bytes_of(std::string_view certificate_json);

// How far wrong the recorded times may be is the caller's to say, not the certificate's: with
// clocks that are wrong by years every order fits. What is proven for less is so for more where
// it says satisfied, the other way round where it says violated; what does not hold at
// `clock_drift_ns` is rejected, and the reason names the certificate's own.
Report verify(const history::History& history, std::string_view certificate_json,
              history::Time clock_drift_ns = 0);

// The same for a user: a certificate that answers for no level is not valid.
Report verify_answers(const history::History& history, std::string_view certificate_json,
                      history::Time clock_drift_ns);

}  // namespace cupel::certify
