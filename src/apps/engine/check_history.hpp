// check_history: what `cupel check` says of a history that was analyzed, for commands that come
// to the same point by another way.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/many_histories.hpp"
#include "apps/options.hpp"

namespace cupel::apps {

struct CheckArguments {
  std::vector<std::string> histories, levels;
  std::vector<std::string> emit, initial;
  InterpretationArguments as;
  std::string format, certificate, report, results, shard;
  LimitArguments limits;
  bool json = false, test_power = false;
  bool history_analysis = true;
};

// As options of the analysis; throws a usage error if the arguments contradict each other.
analysis::Options analysis_options(const CheckArguments& arguments);

// Writes the certificate of a check with evidence. False, after an error message, if it cannot be
// written.
struct CertificateOf {
  history::Time clock_drift_ns = 0;
  std::optional<std::uint64_t> first_bytes = {};  // of which the history is; none: all
};
bool write_certificate(const std::string& file, const history::History& history,
                       const check::CheckResult& result, const CertificateOf& of);

// Prints what was found, and writes the certificate and the report that are asked for. The exit
// code.
int print_checked_history(const std::string& file, const Found& found,
                          const CheckArguments& arguments);

}  // namespace cupel::apps
