// Proof text: a certificate as the proved verifier reads it (docs/reference/formats/canonical.md).
//
// An order is written as it is. A proof of a violation becomes a refutation by clauses
// (refutation.hpp). A proof that uses a rule without a counterpart there is left out, and so
// are the answers that point at it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/certify/canonical.hpp"
#include "engine/certify/refutation.hpp"

namespace cupel::certify {

struct ProofText {
  std::string trouble;  // no certificate of this history; else empty
  std::string text;
  // By answer of the certificate: why it is not in the text; else empty.
  std::vector<std::string> left_out;
};

// `checked`: the verifier in C++ has accepted the certificate. If not, what the certificate claims
// is written as it stands, wrong or not, where the text has words for it.
ProofText proof_text(const history::History& history, std::string_view certificate_json,
                     history::Time clock_drift_ns, Checked checked = Checked::kYes);

}  // namespace cupel::certify
