// The document is put together by hand: six elements, two kinds of places for text.
#include "report/emit_junit.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cupel::report {

using check::Verdict;

namespace {

constexpr std::size_t kAnomaliesTold = 5;
constexpr std::size_t kFindings = 1000;

// What the level is violated by: a message for the list, a text for the page.
struct Failure {
  std::string type, message, text;
};

Failure failure_of(const Emission& emission, const check::LevelResult& level) {
  const Checked& checked = emission.checked;
  // A level that is violated because a weaker one is refers to that, where it is told.
  check::LevelResult told_at = level;
  const auto& weakest = checked.result.weakest_violated;
  for (const auto& other : checked.result.levels) {
    if (other.level != level.level && levels::implies(level.level, other.level) &&
        std::find(weakest.begin(), weakest.end(), other.level) != weakest.end()) {
      told_at = other;
    }
  }
  const auto at = told_at.explained_at.value_or(told_at.level);
  std::vector<explain::Anomaly> anomalies;
  std::size_t count = 0;
  for (const auto& example : checked.counterexamples) {
    if (example.level == at) anomalies.push_back(example.anomaly);
  }
  if (anomalies.empty() && told_at.violation) {
    anomalies = explain::explain(checked.history, at, by_cause(checked, told_at).violation,
                                 {.fields = checked.fields});
  }
  Failure failure;
  for (const auto& anomaly : anomalies) {
    if (++count > kAnomaliesTold) break;
    if (failure.type.empty()) {
      failure.type = anomaly.name;
      failure.message = title_of(anomaly) + ": " + sentence_of(anomaly);
    }
    // A violation of a weaker level is told there.
    const auto& told = at == level.level ? anomaly.explanation : sentence_of(anomaly);
    failure.text += title_of(anomaly) + ": " + told + "\n";
  }
  if (count > kAnomaliesTold) {
    failure.text += fmt::format("... and {} more\n", anomalies.size() - kAnomaliesTold);
  }
  if (at != level.level) {
    failure.message = fmt::format("because {} is violated: {}", levels::name(at), failure.message);
    failure.text = fmt::format("Violated because {} is:\n{}", levels::name(at), failure.text);
  }
  for (const auto& finding : further_of(checked, kFindings)) {
    if (!levels::implies(level.level, finding.level)) continue;
    const bool here = finding.level == level.level;
    failure.text += fmt::format("Apart from that{}, {}: {}\n",
                                here ? "" : fmt::format(", of {}", levels::name(finding.level)),
                                title_of(finding.anomaly),
                                here ? finding.anomaly.explanation : sentence_of(finding.anomaly));
  }
  if (failure.type.empty()) failure.type = "violated";
  return failure;
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string out;
  const auto valid = as_utf8(text);
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const char c = valid[i];
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':
        out += "&#10;";
        break;
      case '\t':
        out += "&#9;";
        break;
      case '\r':
        out += "&#13;";
        break;
      default:
        // U+FFFE and U+FFFF are no characters of XML either.
        if (valid.compare(i, 3, "\xef\xbf\xbe") == 0 || valid.compare(i, 3, "\xef\xbf\xbf") == 0) {
          out += "\xef\xbf\xbd";
          i += 2;
        } else if (byte < 0x20) {
          out += "\xef\xbf\xbd";
        } else {
          out += c;
        }
    }
  }
  return out;
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

void Junit::add(const Emission& emission) {
  const Checked& checked = emission.checked;
  Counts counts;
  std::string cases;
  for (const auto& level : checked.result.levels) {
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
        const auto failure = failure_of(emission, level);
        std::string body = xml_text(failure.text);
        // Line breaks stay as they are outside attributes.
        for (std::size_t at; (at = body.find("&#10;")) != std::string::npos;) {
          body.replace(at, 5, "\n");
        }
        cases += fmt::format(">\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n",
                             xml_text(failure.type), xml_text(failure.message), body);
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
