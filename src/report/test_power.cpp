// What a test could show, in words.
#include "engine/explain/power/test_power.hpp"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "engine/explain/why/words.hpp"
#include "report/render.hpp"
#include "report/wording.hpp"

namespace cupel::report {

using power::Detection;

namespace {

// "61% (6,120 of 10,000)".
std::string share(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "none";
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  const auto digits = percent > 0 && percent < 1      ? fmt::format("{:.2g}", percent)
                      : percent > 99 && percent < 100 ? std::string("over 99")
                                                      : fmt::format("{:.0f}", percent);
  return fmt::format("{}% ({} of {})", digits, grouped(part), grouped(whole));
}

}  // namespace

std::string test_power_text(const Checked& checked) {
  if (!checked.analysis.test_power) return {};
  const power::TestPower& w = *checked.analysis.test_power;
  std::string text = "  Test power:\n";
  const auto line = [&](std::string_view what, const std::string& value) {
    text += fmt::format("    {:<24}{}\n", what, value);
  };
  const auto sampled = w.keys_sampled_one_in > 1
                           ? fmt::format(" (of one key in {})", w.keys_sampled_one_in)
                           : std::string();
  if (w.timed == 0) {
    line("concurrency", "not known: no times were recorded");
  } else {
    line("concurrency",
         fmt::format(
             "{:.1f} transactions open on average, at most {}{}", w.mean_open, grouped(w.most_open),
             w.transactions < checked.history.txn_count() ? ", the aborted ones left out" : ""));
    line("met on a key", share(w.met, w.timed) +
                             " transactions overlapped with another that touched a key of theirs, "
                             "one of the two writing" +
                             sampled);
  }
  line("reads that constrain", share(w.constraining, w.reads) + sampled);
  line("order known", share(w.ordered_keys, w.written_keys) + " of the keys written" + sampled);
  std::vector<std::string> seen;
  std::size_t rest = 0;
  for (const auto& anomaly : w.anomalies) {
    if (anomaly.detection == Detection::kDetected) {
      seen.push_back(anomaly.name);
    } else {
      ++rest;
    }
  }
  if (rest == 0 && !seen.empty()) {
    line("could have shown", fmt::format("all {} anomalies", seen.size()));
  } else if (!w.anomalies.empty()) {
    line("could have shown", fmt::format("{} of {} anomalies: {}", seen.size(), w.anomalies.size(),
                                         seen.empty() ? "none" : explain::enumerate(seen)));
  }
  for (const auto& anomaly : w.anomalies) {
    if (anomaly.detection == Detection::kDetected) continue;
    line(anomaly.detection == Detection::kImpossible ? "could not have shown"
         : anomaly.tried > 0                         ? "not found by name"
                                                     : "no place found for",
         fmt::format("{}: {}", anomaly.name, anomaly.reason));
  }
  if (w.transactions_sampled < checked.history.txn_count() && rest > 0 && !w.limit_met) {
    line("places looked for",
         fmt::format("in {} of {} transactions, the first of every session",
                     grouped(w.transactions_sampled), grouped(checked.history.txn_count())));
  }
  if (w.limit_met) line("not measured", "the rest: a limit was met");
  return text;
}

std::string test_power_line(const Checked& checked) {
  if (!checked.analysis.test_power || checked.analysis.test_power->anomalies.empty()) return {};
  const auto& anomalies = checked.analysis.test_power->anomalies;
  std::vector<std::string> not_shown;
  for (const auto& anomaly : anomalies) {
    if (anomaly.detection != Detection::kDetected) not_shown.push_back(anomaly.name);
  }
  if (not_shown.empty()) {
    return fmt::format("  could have shown all {} anomalies\n", anomalies.size());
  }
  constexpr std::size_t kMostNamed = 3;
  const auto missing = not_shown.size();
  if (missing > kMostNamed + 1) {
    not_shown.resize(kMostNamed);
    not_shown.push_back(fmt::format("{} more", missing - kMostNamed));
  }
  return fmt::format("  could have shown {} of {} anomalies, but not {} (--verbose says why)\n",
                     anomalies.size() - missing, anomalies.size(), explain::enumerate(not_shown));
}

}  // namespace cupel::report
