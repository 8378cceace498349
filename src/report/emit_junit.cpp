// The document is put together by hand: six elements, two kinds of places for text.
#include "report/emit_junit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/escape.hpp"
#include "report/final_reads.hpp"

namespace cupel::report {

using check::Verdict;
using text::xml_text;

namespace {

constexpr std::size_t kMostReported = 12;

// What the level is violated by: a message for the list, a text for the page.
struct Failure {
  std::string type = "violated", message, text;
};

// `findings`: all there are. A level that is violated because a weaker one is refers to
// that, where it is reported.
Failure failure_of(const std::vector<Finding>& findings, levels::Level level) {
  Failure failure;
  std::size_t count = 0;
  for (const auto& finding : findings) {
    std::vector<levels::Level> its = {finding.level};
    its.insert(its.end(), finding.levels.begin(), finding.levels.end());
    const auto it = std::find_if(its.begin(), its.end(),
                                 [&](const auto weaker) { return levels::implies(level, weaker); });
    if (it == its.end() || ++count > kMostReported) continue;
    const bool here = *it == level;
    const auto at = levels::name(*it);
    const auto title = title_of(finding.anomaly), sentence = sentence_of(finding.anomaly);
    const auto& text = here ? finding.anomaly.explanation : sentence;
    if (count > 1) {
      failure.text += fmt::format("Apart from that{}, {}: {}\n",
                                  here ? "" : fmt::format(", of {}", at), title, text);
      continue;
    }
    failure.type = finding.anomaly.name;
    failure.message = fmt::format("{}: {}", title, sentence);
    failure.text = fmt::format("{}: {}\n", title, text);
    if (!here) {
      failure.message = fmt::format("because {} is violated: {}", at, failure.message);
      failure.text = fmt::format("Violated because {} is:\n{}", at, failure.text);
    }
  }
  if (count > kMostReported) {
    failure.text +=
        fmt::format("... and {}{} more\n", findings.size() == kMostFindings ? "at least " : "",
                    count - kMostReported);
  }
  return failure;
}

}  // namespace

// Line breaks stay as they are outside attributes.
static std::string xml_body(std::string_view text) {
  auto body = xml_text(text);
  for (std::size_t at = 0; (at = body.find("&#10;", at)) != std::string::npos;) {
    body.replace(at, 5, "\n");
  }
  return body;
}

void Junit::close(const std::string& file, const Counts& counts, const std::string& cases) {
  suites_ += fmt::format(
      "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
      "time=\"{:.3f}\">\n{}  </testsuite>\n",
      xml_text(file), counts.tests, counts.failures, counts.errors, counts.skipped, counts.seconds,
      cases);
  all_.tests += counts.tests;
  all_.failures += counts.failures;
  all_.errors += counts.errors;
  all_.skipped += counts.skipped;
  all_.seconds += counts.seconds;
}

// A level that was asked for by name decides alone, as for the exit code.
void Junit::add_final_reads(const Checked& checked, Counts& counts, std::string& cases) {
  const auto unknown = final_reads_unknown(checked);
  if (!final_reads_decide(checked) && unknown.empty()) return;
  ++counts.tests;
  cases += fmt::format("    <testcase classname=\"{}\" name=\"final-reads\" time=\"0.000\"",
                       xml_text(checked.file));
  const auto lost = final_reads_decide(checked) ? final_reads_verdict(checked) : std::string();
  if (lost.empty() && unknown.empty()) {
    cases += "/>\n";
    return;
  }
  if (lost.empty()) {
    ++counts.errors;
    cases += fmt::format(">\n      <error type=\"unknown\" message=\"{}\"/>\n    </testcase>\n",
                         xml_text(unknown));
    return;
  }
  ++counts.failures;
  cases +=
      fmt::format(">\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n    </testcase>\n",
                  checked.analysis.final_reads->lost.empty() ? "divergent-replicas" : "lost-write",
                  xml_text(lost), xml_body(final_reads_text(checked)));
}

void Junit::add(const Emission& emission) {
  const Checked& checked = emission.checked;
  const auto findings = findings_of(checked);
  Counts counts;
  std::string cases;
  for (const auto& level : checked.analysis.check.levels) {
    ++counts.tests;
    counts.seconds += level.seconds;
    cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"",
                         xml_text(checked.file), levels::name(level.level), level.seconds);
    switch (level.verdict) {
      case Verdict::kSatisfied:
        cases += "/>\n";
        continue;
      case Verdict::kViolated: {
        ++counts.failures;
        const auto failure = failure_of(findings, level.level);
        cases +=
            fmt::format(">\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n",
                        xml_text(failure.type), xml_text(failure.message), xml_body(failure.text));
        break;
      }
      case Verdict::kUnknown:
        ++counts.errors;
        cases += fmt::format(">\n      <error type=\"unknown\" message=\"unknown: {}\"/>\n",
                             xml_text(level.detail));
        break;
      case Verdict::kRefused:
        ++counts.skipped;
        cases += fmt::format(">\n      <skipped message=\"refused: {}\"/>\n",
                             xml_text(without_own_name(level.level, level.detail)));
        break;
    }
    cases += "    </testcase>\n";
  }
  add_final_reads(checked, counts, cases);
  close(checked.file, counts, cases);
}

void Junit::add(const std::string& file, const base::Error& error) {
  const Counts counts{.tests = 1, .errors = 1};
  close(file, counts,
        fmt::format("    <testcase classname=\"{}\" name=\"read\" time=\"0.000\">\n      <error "
                    "type=\"bad-input\" message=\"{}\"/>\n    </testcase>\n",
                    xml_text(file), xml_text(error.to_string())));
}

std::string Junit::text() const {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"cupel\" tests=\"{}\" "
      "failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\">\n{}</testsuites>\n",
      all_.tests, all_.failures, all_.errors, all_.skipped, all_.seconds, suites_);
}

}  // namespace cupel::report
