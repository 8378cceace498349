// Verification: what `cupel verify` says of a certificate, as text and JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "data/history/history.hpp"
#include "engine/certify/verify.hpp"

namespace cupel::report {

// Borrowed: it must outlive the call only.
struct Verified {
  const std::string &history, &certificate;  // as the user named them
  const certify::Report& report;             // not of Validity::kBadInput
  history::Time clock_drift_ns;
  // The certificate is of the beginning of the history alone.
  struct Prefix {
    std::uint64_t bytes, of_bytes, transactions;
  };
  std::optional<Prefix> prefix = {};
  // Why the second reader (engine/certify/plain_reader.hpp) did not read the history; empty: it
  // did, and both readers agree.
  std::string read_once = {};
};

std::string verification_text(const Verified& verified);
// One object on one line, newline included.
std::string verification_json(const Verified& verified);

}  // namespace cupel::report
