// RunReport: see the header.
#include "run/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "base/text/json.hpp"
#include "base/verdict.hpp"
#include "engine/levels/product.hpp"
#include "report/evidence.hpp"
#include "report/final_reads.hpp"
#include "report/promise.hpp"
#include "report/wording.hpp"
#include "run/faults/plan.hpp"

namespace cupel::run {

namespace {

std::string database_name(const drivers::Facts& facts) {
  return facts.version.empty() ? facts.product : facts.product + " " + facts.version;
}

std::string_view promise_source(const drivers::Facts& facts) {
  return levels::source_of_promise(facts.product, facts.isolation, facts.detail);
}

std::string pooler_text(const drivers::Facts& facts) {
  if (facts.pooler.empty()) return {};
  return fmt::format(
      "  connection pooler: cupel reaches {} through a pooler or proxy, {}\n", facts.product,
      facts.pooler == "session" ? "which gives each session a server connection of its own"
                                : "which gives each transaction any of its server connections");
}

constexpr std::size_t kMostFaults = 8;  // lines of the text; the file has all

// Of the lines "NUMBER HOST": both.
std::vector<std::pair<std::string, std::string>> hosts_of(const std::string& nodes) {
  std::vector<std::pair<std::string, std::string>> hosts;
  std::istringstream lines(nodes);
  for (std::string line; std::getline(lines, line);) {
    const auto blank = line.find(' ');
    hosts.emplace_back(line.substr(0, blank), line.substr(blank + 1));
  }
  return hosts;
}

// "0 is h:1, 1 is h:2".
std::string nodes_text(const std::string& nodes) {
  std::string text;
  for (const auto& [number, host] : hosts_of(nodes)) {
    text += fmt::format("{}{} is {}", text.empty() ? "" : ", ", number, host);
  }
  return text;
}

std::string faults_text(const CheckedRun& checked, bool in_full) {
  const auto& ran = checked.run;
  const auto failed = ran.failed_faults == 0
                          ? ""
                          : fmt::format(" ({} more failed and are not counted)", ran.failed_faults);
  auto text = fmt::format("  faults: {}{}, reconnects: {}\n", ran.faults, failed, ran.reconnects);
  if (in_full && !checked.nodes.empty())
    text += fmt::format("    nodes: {}\n", nodes_text(checked.nodes));
  if (checked.faults_file.empty() || !in_full) return text;
  std::size_t left = ran.fault_list.size();
  for (const auto& done : ran.fault_list) {
    if (left > 1 && left + kMostFaults == ran.fault_list.size()) break;
    --left;
    const auto end = !done.failed.empty() ? "  not caused"
                     : done.ended < 0     ? "  not healed"
                                          : fmt::format("to {:6.1f} s", done.ended);
    text += fmt::format("    {:6.1f} s {:<13} {}\n", done.began, end, done.what);
  }
  if (left > 0) text += fmt::format("    and {} more\n", left);
  return text;
}

std::string live_text(const LiveResult& live) {
  auto text = fmt::format("  watched live: {} {}", levels::name(live.level), to_string(live.state));
  if (live.state == base::Verdict::kViolated) {
    text += fmt::format(", found at {:.3f} s, {:.0f} ms after the last operation seen by then",
                        live.found_at, 1000 * std::max(0.0, live.found_at - live.operation_at));
  }
  if (live.state == base::Verdict::kUnknown) text += fmt::format(" ({})", live.why);
  text += fmt::format("; {} transactions, at most {} held\n", report::grouped(live.transactions),
                      report::grouped(live.most_held));
  for (const auto& note : live.notes) text += fmt::format("    {}\n", note);
  return text;
}

nlohmann::ordered_json live_json(const LiveResult& live) {
  nlohmann::ordered_json object = {
      {"level", levels::name(live.level)}, {"watched", levels::name(live.watched)},
      {"verdict", to_string(live.state)},  {"transactions", live.transactions},
      {"most_held", live.most_held},       {"longest_look_s", live.longest_look}};
  if (live.state == base::Verdict::kViolated) {
    object["found_at_s"] = live.found_at;
    object["operation_at_s"] = live.operation_at;
  }
  if (!live.why.empty()) object["detail"] = live.why;
  object["notes"] = live.notes;
  return object;
}

// "12 conflict, 3 deadlock and 2 other reasons".
std::string reasons_text(const RunResult& ran) {
  constexpr std::size_t kMostReasons = 3;
  std::vector<std::pair<std::uint64_t, std::string>> all;
  for (const auto& [reason, count] : ran.reasons) all.emplace_back(count, reason);
  if (ran.given_up > 0) all.emplace_back(ran.given_up, "given up by the program");
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), kMostReasons); ++i) {
    text +=
        fmt::format("{}{} {}", i == 0 ? "" : "; ", report::grouped(all[i].first), all[i].second);
  }
  if (all.size() > kMostReasons)
    text += fmt::format("; {} more reasons", all.size() - kMostReasons);
  return text.empty() ? text : "  not committed: " + text + "\n";
}

std::string jobs_text(const RunResult& ran) {
  if (ran.jobs.size() < 2) return {};
  auto text = fmt::format("    {:<24} {:>9} {:>9} {:>8} {:>9} {:>9}\n", "transaction", "committed",
                          "aborted", "unknown", "p50 ms", "p99 ms");
  for (const auto& [name, job] : ran.jobs) {
    text += fmt::format("    {:<24} {:>9} {:>9} {:>8} {:>9.2f} {:>9.2f}\n", name,
                        report::grouped(job.committed), report::grouped(job.aborted),
                        report::grouped(job.unknown), job.p50_ms, job.p99_ms);
  }
  return text;
}

std::string load_text(const CheckedRun& checked, std::uint64_t seed, bool in_full) {
  const auto& ran = checked.run;
  std::string text =
      fmt::format("{} at {}: workload {}, {} session{}, seed {}\n", database_name(checked.facts),
                  checked.facts.isolation, checked.workload, checked.sessions,
                  checked.sessions == 1 ? "" : "s", seed);
  if (in_full && !checked.facts.detail.empty())
    text += fmt::format("  settings: {}\n", checked.facts.detail);
  text += pooler_text(checked.facts);
  text += fmt::format(
      "  {} committed, {} aborted ({:.1f} %), {} unknown in {:.1f} s: {} commits/s, latency p50 "
      "{:.2f} ms, p99 {:.2f} ms\n",
      report::grouped(ran.committed), report::grouped(ran.aborted), 100 * ran.abort_rate(),
      report::grouped(ran.unknown), ran.seconds,
      report::grouped(static_cast<std::uint64_t>(static_cast<double>(ran.committed) /
                                                 std::max(ran.seconds, 1e-9))),
      ran.p50_ms, ran.p99_ms);
  text += reasons_text(ran);
  if (in_full) text += jobs_text(ran);
  if (ran.faults > 0 || ran.failed_faults > 0) text += faults_text(checked, in_full);
  if (checked.live) text += live_text(*checked.live);
  return text;
}

std::string files_text(const CheckedRun& checked, const std::string& page) {
  auto text = fmt::format("history: {}\n", checked.file);
  if (!page.empty()) text += fmt::format("report: {}\n", page);
  if (!checked.faults_file.empty())
    text += fmt::format("faults, as a plan for --fault-plan: {}\n", checked.faults_file);
  if (!checked.server_logs.empty())
    text += fmt::format("logs of the server: {}\n", checked.server_logs);
  return text;
}

// Why the weakest level decides, unless it was asked for; else empty.
std::string why_weakest(const CheckedRun& checked) {
  if (checked.promised || checked.by_name) return {};
  const auto& facts = checked.facts;
  const bool of_one_server = levels::promised(facts.product, facts.isolation).has_value();
  const auto why =
      !checked.no_promise.empty()
          ? fmt::format("nothing is promised of this run, since {}", checked.no_promise)
      : of_one_server
          ? fmt::format(
                "the promise of {} at {} is about one server, and the sessions used several",
                facts.product, facts.isolation)
          : fmt::format("{} promises none of cupel's levels at {}", facts.product, facts.isolation);
  return fmt::format("  ({}, so the weakest level decides; -l selects another)\n", why);
}

// For the product and its isolation level.
const char* promise_of(check::Verdict verdict) {
  switch (verdict) {
    case check::Verdict::kSatisfied:
      return ", as {} promises at {}";
    case check::Verdict::kViolated:
      return ", although {} promises it at {}";
    case check::Verdict::kUnknown:
    case check::Verdict::kRefused:
      break;
  }
  return "; {} promises it at {}";
}

std::string line_of_levels(const CheckedRun& checked, const std::string& names,
                           check::Verdict verdict, const report::TextStyle& style) {
  auto line = fmt::format("{}: {}", names, report::painted(verdict, style));
  if (checked.promised) {
    line += fmt::format(fmt::runtime(promise_of(verdict)), checked.facts.product,
                        checked.facts.isolation);
  }
  return line;
}

// A line for each level that was asked for; one for all that are satisfied.
std::string levels_lines(const CheckedRun& checked, const report::TextStyle& style) {
  std::string satisfied, text;
  for (const auto level : checked.asked) {
    const auto& result = checked.result(level);
    const std::string name(levels::name(level));
    if (result.verdict == check::Verdict::kSatisfied) {
      satisfied += (satisfied.empty() ? "" : ", ") + name;
      continue;
    }
    text += line_of_levels(checked, name, result.verdict, style);
    if (result.verdict == check::Verdict::kRefused) text += " (" + result.detail + ")";
    text += '\n';
  }
  if (satisfied.empty()) return text;
  return line_of_levels(checked, satisfied, check::Verdict::kSatisfied, style) + '\n' + text;
}

std::string verdict_text(const CheckedRun& checked, const report::TextStyle& style) {
  const auto& ran = checked.run;
  const auto answer = answer_of(checked);
  auto text = report::warnings_text(answer) + levels_lines(checked, style);
  if (checked.promised) text += fmt::format("  ({})\n", promise_source(checked.facts));
  text += why_weakest(checked);
  if (checked.loses()) {
    text += fmt::format("final reads: {}; see below\n", report::final_reads_verdict(answer));
  }
  const auto unknown = check::Verdict::kUnknown;
  if (checked.losses().verdict() == unknown && checked.verdict() == unknown) {
    text += "final reads: unknown, so the run is neither satisfied nor violated\n";
  }
  const auto answered = ran.committed + ran.aborted;
  if (ran.unknown > answered) {
    text += fmt::format(
        "  {:.0f} % of the outcomes are unknown. Each such transaction may have committed or not, "
        "whichever keeps the promise, so this run shows little\n",
        100 * static_cast<double>(ran.unknown) / static_cast<double>(answered + ran.unknown));
  }
  return text;
}

}  // namespace

report::Checked answer_of(const CheckedRun& checked) {
  return {checked.file, checked.history, checked.analysis, checked.asked};
}

std::string run_text(const CheckedRun& checked, std::uint64_t seed, const report::TextStyle& style,
                     const std::string& page) {
  const bool brief =
      checked.part || (checked.verdict() == check::Verdict::kSatisfied && !style.verbose);
  auto text = load_text(checked, seed, !brief);
  if (checked.part) return text + '\n' + files_text(checked, page);
  const auto answer = answer_of(checked);
  text += '\n' + verdict_text(checked, style);
  if (brief) {
    if (const auto other = report::not_promised_text(answer); !other.empty()) {
      text += fmt::format("  {}; --verbose and `cupel check` of the history show how\n", other);
    }
    if (checked.analysis.final_reads)
      text += fmt::format("  final reads: {}\n", report::final_reads_summary(answer));
    text += report::test_power_line(answer);
  } else {
    text += fmt::format("  {}\n\n", report::strongest_and_weakest(answer));
    text += report::levels_text(answer, style) + report::findings_text(answer, style);
  }
  return text + '\n' + files_text(checked, page);
}

std::string run_json(const CheckedRun& checked, std::uint64_t seed) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  using Json = nlohmann::ordered_json;
  const auto& ran = checked.run;
  Json run;
  run["database"] = checked.facts.product;
  run["version"] = checked.facts.version;
  run["isolation"] = checked.facts.isolation;
  if (!checked.facts.pooler.empty()) run["pooler"] = checked.facts.pooler;
  run["workload"] = checked.workload;
  run["sessions"] = checked.sessions;
  run["seed"] = seed;
  run["seconds"] = ran.seconds;
  run["committed"] = ran.committed;
  run["aborted"] = ran.aborted;
  run["given_up"] = ran.given_up;
  run["unknown"] = ran.unknown;
  run["abort_rate"] = ran.abort_rate();
  run["p50_ms"] = ran.p50_ms;
  run["p99_ms"] = ran.p99_ms;
  run["reconnects"] = ran.reconnects;
  for (const auto& [number, host] : hosts_of(checked.nodes)) run["nodes"][number] = host;
  run["faults"] = ran.faults;
  run["failed_faults"] = ran.failed_faults;
  if (!checked.faults_file.empty()) {
    run["fault_list"] = Json::parse(faults::plan_text(ran.fault_list));
    run["faults_file"] = checked.faults_file;
  }
  if (!checked.server_logs.empty()) run["server_logs"] = checked.server_logs;
  run["reasons"] = Json::object();
  for (const auto& [reason, count] : ran.reasons) run["reasons"][reason] = count;
  run["jobs"] = Json::object();
  for (const auto& [name, job] : ran.jobs) {
    run["jobs"][name] = {{"committed", job.committed}, {"aborted", job.aborted},
                         {"given_up", job.given_up},   {"unknown", job.unknown},
                         {"p50_ms", job.p50_ms},       {"p99_ms", job.p99_ms}};
  }
  run["asked"] = Json::array();
  for (const auto level : checked.asked) {
    run["asked"].push_back({{"level", levels::name(level)},
                            {"verdict", check::to_string(checked.result(level).verdict)},
                            {"promised", checked.promised}});
  }
  if (checked.promised) run["promise_source"] = promise_source(checked.facts);
  if (!ran.final_reads_failed.empty()) run["final_reads_failed"] = ran.final_reads_failed;
  run["warnings"] = ran.warnings;
  if (checked.live) run["live"] = live_json(*checked.live);
  auto text = report::json(answer_of(checked));
  text.resize(text.find_last_of('}'));
  return text + ",\"run\":" + text::dump(run) + "}\n";
}

}  // namespace cupel::run
