// See the header.
#include "property/agreement.hpp"

#include <array>

#include "engine/certify/verify.hpp"
#include "engine/check/check.hpp"
#include "oracle/oracle.hpp"
#include "property/random_history.hpp"
#include "report/certificate.hpp"

namespace cupel::test {

using check::Verdict;
using levels::Level;

namespace {
constexpr double kMaxChoices = 400;
}

bool is_compared(const history::History& h) {
  return oracle::writer_choices(h) <= kMaxChoices;
}

std::string disagreement(const Sketch& sketch, unsigned threads) {
  return disagreement(build(sketch), threads);
}

std::string disagreement(const history::History& h, unsigned threads) {
  if (!is_compared(h)) return {};
  const bool single = oracle::is_single_object(h);
  check::Options options;
  options.asked.assign(levels::all_levels().begin(), levels::all_levels().end());
  options.threads = threads;
  const history::Time drift = drift_for(h);
  options.clock_drift_ns = drift;
  // Every other history: with the evidence, which must not change an answer.
  options.evidence = h.op_count() % 2 == 0;
  const auto result = check::check(h, options);
  std::string text;
  const auto report_error = [&](Level level, const std::string& what) {
    text += "  " + std::string(levels::name(level)) + ": " + what + "\n";
  };
  std::array<Verdict, levels::kLevelCount> verdict{};
  for (const auto& r : result.levels) {
    verdict[static_cast<std::size_t>(r.level)] = r.verdict;
    const std::string said(check::to_string(r.verdict));
    const bool defined = (!levels::needs_real_time(r.level) || h.has_all_times()) &&
                         (r.level != Level::kLinearizable || single);
    if (!defined) {
      if (r.verdict == Verdict::kSatisfied)
        report_error(r.level, "satisfied, but has no meaning here");
      continue;
    }
    const bool truth = oracle::oracle_satisfies(h, r.level, drift);
    if (r.verdict != (truth ? Verdict::kSatisfied : Verdict::kViolated)) {
      report_error(r.level, "engine " + said + " by " + r.decided_by + ", oracle " +
                                (truth ? "satisfied" : "violated"));
    }
  }
  if (options.evidence) {
    const auto made = report::certificate(h, result, drift);
    for (const Level level : made.missing) report_error(level, "not in the certificate");
    const auto report = certify::verify(h, made.json, drift);
    if (report.validity != certify::Validity::kValid) {
      text += "  certificate refused: " + report.reason + "\n";
    }
  }
  for (const Level strong : levels::all_levels()) {
    for (const Level weak : levels::all_levels()) {
      if (levels::implies(strong, weak) &&
          verdict[static_cast<std::size_t>(strong)] == Verdict::kSatisfied &&
          verdict[static_cast<std::size_t>(weak)] == Verdict::kViolated) {
        report_error(strong, "satisfied, but " + std::string(levels::name(weak)) + " violated");
      }
    }
  }
  return text;
}

std::string first_disagreement(std::uint64_t first, std::uint64_t count) {
  std::uint64_t compared = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Sketch sketch = random_sketch(kind_of_seed(seed), seed);
    compared += is_compared(build(sketch));
    if (disagreement(sketch).empty()) continue;
    const Sketch small = shrink(sketch, [](const Sketch& s) { return !disagreement(s).empty(); });
    return "seed " + std::to_string(seed) + " (" + std::string(name(kind_of_seed(seed))) +
           "):\n  " + to_text(sketch) + "\nshrunk:\n  " + to_text(small) + "\n" +
           disagreement(small);
  }
  if (2 * compared < count) return "only " + std::to_string(compared) + " were compared";
  return {};
}

}  // namespace cupel::test
