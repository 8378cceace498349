// Certificates for tests: see the header.
#include "certify/certificates.hpp"

#include <fmt/format.h>

#include "data/history/digest.hpp"

namespace cupel::test {

Json empty_certificate(const history::History& history) {
  return {{"cupel_certificate", 1},
          {"history",
           {{"digest", fmt::format("{:016x}", history::digest(history))},
            {"transactions", history.txn_count()},
            {"operations", history.op_count()}}},
          {"clock_drift_ns", 0},
          {"answers", Json::array()},
          {"proofs", Json::array()}};
}

Json certificate(const history::History& history, std::string_view proof, history::Time drift) {
  Json result = empty_certificate(history);
  const Json parsed = Json::parse(proof);
  result["clock_drift_ns"] = drift;
  result["answers"].push_back(
      {{"level", parsed.at("level")}, {"verdict", parsed.at("verdict")}, {"proof", 0}});
  result["proofs"].push_back(parsed);
  return result;
}

std::string trouble(const history::History& history, const Json& certificate, history::Time drift) {
  const auto report = certify::verify(history, certificate.dump(), drift);
  if (report.validity == certify::Validity::kValid) return {};
  return report.reason.empty() ? "no reason was given" : report.reason;
}

std::string trouble(std::string_view history, std::string_view proof, history::Time drift) {
  const auto h = history_of(history);
  return trouble(h, certificate(h, proof, drift), drift);
}

}  // namespace cupel::test
