// Check of a recording of replicated data types: see the header.
#include "apps/crdt/crdt_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "apps/emit.hpp"
#include "apps/options.hpp"
#include "base/text/json.hpp"
#include "crdt/analysis/analyze.hpp"
#include "crdt/analysis/certain.hpp"
#include "crdt/analysis/trusted_deliveries.hpp"
#include "crdt/io/certificate.hpp"
#include "crdt/io/page.hpp"
#include "crdt/io/picture.hpp"
#include "crdt/io/recording_report.hpp"

namespace cupel::apps {

namespace {

int code_of(crdt::Verdict verdict) {
  switch (verdict) {
    case crdt::Verdict::kSatisfied:
      return kSatisfied;
    case crdt::Verdict::kViolated:
      return kViolated;
    case crdt::Verdict::kUnknown:
    case crdt::Verdict::kRefused:  // a replicated history is never refused
      break;
  }
  return kUnknown;
}

// --converged-only needs the deliveries.
std::string context_of(const CrdtArguments& arguments) {
  return arguments.converged_only && arguments.context.empty() ? "trusted" : arguments.context;
}

// kSatisfied, or kBad where it cannot be written.
int write_certificate(const std::string& file, const crdt::Recording& recording,
                      const crdt::RecordingAnalysis& analysis) {
  if (analysis.decided != crdt::Verdict::kUnknown) {
    const auto text = crdt::certificate_of(recording, analysis);
    return write_whole(file, text, /*append=*/false, "the certificate") ? kSatisfied : kBad;
  }
  print_error(base::Error{.message = "no certificate was written, because the verdict is unknown",
                          .file = file});
  return kSatisfied;
}

std::string page_of(const std::string& folder) {
  return (std::filesystem::path(folder) / "index.html").string();
}

// After a run with an adapter, with what it reports.
std::string text_of(const crdt::RecordingReport& report, const CrdtRunReport* ran) {
  auto text = crdt::as_text(report);
  return ran == nullptr ? text : ran->in_text(text);
}

// The lines or the fields of the report; after a run with an adapter, those of the run, too.
void print_report(const crdt::RecordingReport& report, const CrdtArguments& arguments,
                  const CrdtRunReport* ran) {
  if (!arguments.json) {
    print(text_of(report, ran));
    if (!arguments.page.empty()) print(fmt::format("  report: {}\n", page_of(arguments.page)));
    return;
  }
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  auto fields = crdt::json_of(report);
  if (ran != nullptr) ran->add_to(fields);
  print(text::dump(fields) + "\n");
}

// `visibility`: of known deliveries, or null.
crdt::AnalysisOptions analysis_options(const CrdtArguments& arguments, const CrdtLimits& limits,
                                       const crdt::Visibility* visibility) {
  return {.axioms = {.strict = arguments.strict},
          .visibility = visibility,
          .also_without = arguments.context == "checked",
          .converged_only = arguments.converged_only,
          .converge = arguments.converge,
          .shrink_seconds = limits.shrink_seconds,
          .memory_bytes = limits.memory_bytes,
          .threads = limits.threads};
}

// Prints, and writes the files that were requested. The exit code.
int report_one(const std::string& file, const crdt::Recording& recording,
               crdt::RecordingAnalysis analysis, const CrdtArguments& arguments,
               const CrdtRunReport* ran) {
  crdt::RecordingReport report{.file = file,
                               .recording = &recording,
                               .analysis = std::move(analysis),
                               .show_witness = arguments.witness,
                               .of_adapter = ran != nullptr};
  for (std::size_t o = 0; ran != nullptr && o < recording.objects.size(); ++o)
    ran->leave_out_crashed(recording.objects[o].history, report.analysis.objects[o].convergence);
  print_report(report, arguments, ran);
  int code = code_of(crdt::verdict_of(report.analysis));
  if (!arguments.certificate.empty())
    code = std::max(code, write_certificate(arguments.certificate, recording, report.analysis));
  if (!arguments.svg.empty() && !write_whole(arguments.svg, crdt::as_svg(report.of_object(0)),
                                             /*append=*/false, "the picture"))
    code = kBad;
  if (!arguments.page.empty() &&
      !write_whole(page_of(arguments.page), crdt::as_page(report, text_of(report, ran)),
                   /*append=*/false, "the report"))
    code = kBad;
  return code;
}

// Analyzes and reports.
int check_one(const CrdtCheck& check, crdt::Recording& recording) {
  const auto& [file, arguments, limits, budget, ran] = check;
  if (arguments.converged_only && arguments.context == "ignored") {
    print_error("found --converged-only with --context ignored, but it needs the deliveries");
    return kBad;
  }
  const auto trusted = crdt::trusted_deliveries(file, recording, context_of(arguments));
  if (!trusted.ok()) {
    print_error(trusted.error());
    return kBad;
  }
  if (!trusted->note.empty()) print_note(trusted->note);
  const auto* known = trusted->visibility ? &*trusted->visibility : nullptr;
  if (known != nullptr) crdt::deliver_to_objects(recording, *known);
  auto analysis = crdt::analyze(recording, analysis_options(arguments, limits, known), budget);
  return report_one(file, recording, std::move(analysis), arguments, ran);
}

void note_backward_clock(const std::string& file, std::uint64_t line) {
  if (line == 0) return;
  print_note(
      fmt::format("{}:{}: this operation ended before an earlier one of its process was "
                  "invoked; the times are left out",
                  file, line));
}

void note_certain(const std::string& file, std::uint64_t line, crdt::Verdict verdict) {
  print_note(
      fmt::format("{}:{}: an update of unknown outcome; {}", file, line,
                  verdict == crdt::Verdict::kSatisfied
                      ? "the history is checked as if no such update had happened"
                      : "the violation is of another key, so no such update has to do with it"));
}

// Reads the history of a check.
using ReadHistory = std::function<base::Result<crdt::Recording>(crdt::UnknownOutcome)>;

// Of a history whose deliveries cannot be used because of an update of unknown outcome, in `line`:
// reports what is certain, whatever such updates did (crdt/analysis/certain.hpp). `read` parses it
// without them. Nothing: nothing is certain.
std::optional<int> check_certain(const CrdtCheck& check, std::uint64_t line,
                                 const ReadHistory& read) {
  const auto& [file, arguments, limits, budget, ran] = check;
  if (!arguments.context.empty() && arguments.context != "trusted") return std::nullopt;
  for (const auto outcome : {crdt::UnknownOutcome::kAbsent, crdt::UnknownOutcome::kAbsentUnread}) {
    auto recording = read(outcome);
    if (!recording.ok()) return std::nullopt;  // a line names such an update
    const auto trusted = crdt::trusted_deliveries(file, *recording, context_of(arguments));
    if (!trusted.ok() || !trusted->visibility) return std::nullopt;
    const crdt::Visibility& visibility = *trusted->visibility;
    crdt::deliver_to_objects(*recording, visibility);
    auto options = analysis_options(arguments, limits, &visibility);
    const bool applied = recording->whole().context.rule == crdt::DeliveryRule::kApplied;
    if (!applied) options.shrink_seconds = 0;  // a violation is not certain
    // Last reads that were left out cannot be compared.
    if (outcome == crdt::UnknownOutcome::kAbsentUnread) options.converge = false;
    auto analysis = crdt::analyze(*recording, options, budget);
    const auto verdict = analysis.decided;
    const bool ended = verdict == crdt::Verdict::kUnknown && budget.limit() != base::Limit::kNone;
    if (ended || crdt::is_certain(*recording, analysis)) {
      if (!ended) note_certain(file, line, verdict);
      return report_one(file, *recording, std::move(analysis), arguments, ran);
    }
    if (!applied) break;
  }
  return std::nullopt;
}

}  // namespace

bool prepare_crdt_page(const std::string& folder) {
  if (folder.empty()) return true;
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem || !std::filesystem::is_directory(folder, problem)) {
    print_error(base::Error{
        .message = fmt::format("could not make the folder for the report: {}. Give --report a "
                               "folder that you may write to",
                               problem ? problem.message() : "it is a file"),
        .file = folder});
    return false;
  }
  return can_write(page_of(folder), /*append=*/false, "the report");
}

int check_crdt_lines(const CrdtCheck& check, const std::string& lines,
                     std::optional<crdt::NamedType> type) {
  const ReadHistory read = [&](crdt::UnknownOutcome outcome) {
    return read_crdt_recording(lines, check.file, type, check.limits.threads,
                               check.limits.clock_drift_ns, outcome);
  };
  auto recording = read(crdt::UnknownOutcome::kOpen);
  if (!recording.ok()) {
    print_error(recording.error());
    return kBad;
  }
  const crdt::History& whole = recording->whole();
  note_backward_clock(check.file, whole.backward_clock_line);
  if (const auto line = whole.context.unknown_outcome_line; line != 0) {
    if (const auto code = check_certain(check, line, read)) return *code;
  }
  return check_one(check, *recording);
}

}  // namespace cupel::apps
