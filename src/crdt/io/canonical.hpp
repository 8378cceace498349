// Canonical text of replicated data types: a history, and the witness of a certificate that says
// satisfied, as the proved verifier reads them (docs/reference/formats/canonical.md).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "crdt/model/history.hpp"

namespace cupel::crdt {

// Those whose axioms are proved, in the order of their numbers in the text.
std::span<const Type> proved_types();

struct ProofTexts {
  std::string history, witness;
  std::string left_out;        // what of it is not proved, so that there is no text; else empty
  bool by_deliveries = false;  // the history's text has what each operation had received
};

// Of a certificate that is valid for the history. The texts of another one are refused by the
// program.
ProofTexts proof_texts(const History& history, std::string_view certificate);

}  // namespace cupel::crdt
