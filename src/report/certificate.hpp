// Certificate: the evidence for every verdict as one JSON document, for
// `cupel verify` or anybody else to check. docs/reference/formats/certificate.md is its
// description.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/history/history.hpp"
#include "engine/check/check.hpp"

namespace cupel::report {

struct Certificate {
  std::string json;  // ends with a line feed
  // Decided levels that are not in it, because a limit was met while their evidence
  // was put together.
  std::vector<levels::Level> missing;
};

// `result` is of a check with options.evidence. Linear in the evidence.
// `first_bytes`: the history is that of so many bytes of a file, which may still grow.
Certificate certificate(const history::History& history, const check::CheckResult& result,
                        history::Time clock_drift_ns,
                        std::optional<std::uint64_t> first_bytes = {});

}  // namespace cupel::report
