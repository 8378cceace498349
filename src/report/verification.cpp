// See the header.
#include "report/verification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/budget.hpp"
#include "base/text/json.hpp"
#include "report/wording.hpp"

namespace cupel::report {

std::string verification_json(const Verified& verified) {
  const auto& report = verified.report;
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  nlohmann::ordered_json answers = nlohmann::ordered_json::array();
  for (const auto& a : report.answers) {
    answers.push_back({{"level", a.level},
                       {"verdict", a.satisfied ? "satisfied" : "violated"},
                       {"proof", a.proof},
                       {"proven_by", a.how},
                       {"proven_for", a.by_level.empty() ? a.level : a.by_level}});
  }
  const bool valid = report.validity == certify::Validity::kValid;
  nlohmann::ordered_json result = {{"history", verified.history},
                                   {"certificate", verified.certificate},
                                   {"valid", valid},
                                   {"reason", nullptr},
                                   {"clock_drift_ns", verified.clock_drift_ns},
                                   {"answers", std::move(answers)}};
  if (!valid) result["reason"] = report.reason;
  if (const auto& prefix = verified.prefix) {
    result["prefix"] = {{"bytes", prefix->bytes},
                        {"of_bytes", prefix->of_bytes},
                        {"transactions", prefix->transactions}};
  }
  const bool twice = verified.read_once.empty();
  result["second_reader"] = {{"used", twice}, {"reason", nullptr}};
  if (!twice) result["second_reader"]["reason"] = verified.read_once;
  return text::dump(result) + "\n";
}

std::string verification_text(const Verified& verified) {
  const auto& report = verified.report;
  if (report.validity != certify::Validity::kValid) {
    return fmt::format("{}: not valid\n  {}\n", verified.certificate, report.reason);
  }
  std::size_t width = 0;
  for (const auto& a : report.answers) width = std::max(width, a.level.size());
  const auto& prefix = verified.prefix;
  std::string text =
      prefix
          ? fmt::format("{}: valid for the first {} transactions of {}, its first {} bytes of {}",
                        verified.certificate, grouped(prefix->transactions), verified.history,
                        grouped(prefix->bytes), grouped(prefix->of_bytes))
          : fmt::format("{}: valid for {}", verified.certificate, verified.history);
  if (verified.clock_drift_ns != 0)
    text += fmt::format(", clocks up to {} ns wrong", verified.clock_drift_ns);
  text += "\n";
  for (const auto& a : report.answers) {
    text += fmt::format("  {:{}}  {}  proven by {}", a.level, width,
                        a.satisfied ? "satisfied" : "violated ", a.how);
    if (!a.by_level.empty()) {
      text += fmt::format(" for {}, {}", a.by_level,
                          a.satisfied ? "a stronger level" : "a weaker level");
    }
    text += "\n";
  }
  if (prefix) {
    text +=
        "  Of the whole history this says nothing: transactions that had not ended by then count "
        "as "
        "of unknown outcome.\n";
  }
  text += verified.read_once.empty()
              ? "  Two independent readers read the same history.\n"
              : fmt::format("  The history was read once: {}.\n", verified.read_once);
  return text;
}

}  // namespace cupel::report
