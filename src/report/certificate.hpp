// Certificate: the evidence for every verdict as one JSON document, for
// `cupel verify` or anybody else to check. docs/formats/certificate.md is its
// description.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/check.hpp"
#include "history/history.hpp"

namespace cupel::report {

struct Certificate {
  std::string json;  // ends with a line feed
  // Decided levels that are not in it, because a limit was met while their evidence
  // was put together.
  std::vector<levels::Level> missing;
};

// `result` is of a check with options.evidence. Linear in the evidence.
Certificate certificate(const history::History& history, const check::CheckResult& result,
                        history::Time clock_drift_ns);

}  // namespace cupel::report
