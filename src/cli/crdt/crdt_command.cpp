// cupel crdt: histories of replicated data types checked, certificates of them verified.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <iterator>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/budget.hpp"
#include "base/read_file.hpp"
#include "cli/certificate_file.hpp"
#include "cli/command.hpp"
#include "cli/crdt/crdt_proved.hpp"
#include "cli/crdt/crdt_report.hpp"
#include "cli/crdt/crdt_reproduce.hpp"
#include "cli/emit.hpp"
#include "cli/options.hpp"
#include "cli/spelling.hpp"
#include "cli/units.hpp"
#include "crdt/analysis/analyze.hpp"
#include "crdt/analysis/causal_order.hpp"
#include "crdt/analysis/certain.hpp"
#include "crdt/io/certificate.hpp"
#include "crdt/io/picture.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/io/recording_report.hpp"
#include "crdt/model/replicated_type.hpp"
#include "crdt/model/times.hpp"
#include "crdt/verify/verify_recording.hpp"
#include "crdt/workload/adapter.hpp"
#include "crdt/workload/adapter_run.hpp"
#include "crdt/workload/generate.hpp"
#include "crdt/workload/run.hpp"
#include "formats/decompress.hpp"
#include "text/json.hpp"

namespace cupel::cli {

namespace {

struct CrdtArguments {
  std::string type, spec, certificate, svg, timeout, memory_limit, shrink_time = "5s";
  std::vector<std::string> histories;
  std::string history;
  std::string context;
  std::string clock_drift;
  bool json = false, strict = false, witness = false, converge = false, converged_only = false;
  bool non_interleaving = false;
  bool proved = false;      // of verify
  std::string proved_text;  // then a file for the canonical text; empty: none
  unsigned threads = 0;
};

struct Limits {
  std::optional<std::chrono::duration<double>> timeout;
  std::uint64_t memory_bytes = 0;
  double shrink_seconds = 5;
  std::int64_t clock_drift_ns = 0;
  unsigned threads = 0;
};

template <typename T>
T or_refused(base::Result<T> result, const char* option) {
  if (!result.ok()) throw UsageError(option, result.error().message);
  return std::move(result).value();
}

crdt::NamedType type_or_refused(const std::string& name) {
  const auto type = crdt::type_of(name);
  if (!type) {
    const auto names = crdt::type_names();
    throw UsageError("--type", fmt::format("found `{}`, expected {}{}", name, one_of(names),
                                           did_you_mean(name, names)));
  }
  return *type;
}

// `--type list --spec weak` is another way to write `--type weak-list`.
struct SpecOfType {
  crdt::Type type;
  std::string_view spec;
  crdt::Type means;
};
constexpr std::array kSpecs = {
    SpecOfType{crdt::Type::kStrongList, "strong", crdt::Type::kStrongList},
    SpecOfType{crdt::Type::kStrongList, "weak", crdt::Type::kWeakList},
    SpecOfType{crdt::Type::kStrongList, "non-interleaving", crdt::Type::kNonInterleavingList},
    SpecOfType{crdt::Type::kLastWriterWinsRegister, "last-writer-wins",
               crdt::Type::kLastWriterWinsRegister},
    SpecOfType{crdt::Type::kLastWriterWinsRegister, "any-maximal", crdt::Type::kAnyMaximalRegister},
    SpecOfType{crdt::Type::kLastWriterWinsRegister, "multi-value", crdt::Type::kMultiValueRegister},
    SpecOfType{crdt::Type::kLastWriterWinsRegister, "max", crdt::Type::kMaxRegister},
    SpecOfType{crdt::Type::kMap, "last-writer-wins", crdt::Type::kMap},
    SpecOfType{crdt::Type::kMap, "remove-wins", crdt::Type::kRemoveWinsMap},
    SpecOfType{crdt::Type::kMap, "update-wins", crdt::Type::kUpdateWinsMap},
    SpecOfType{crdt::Type::kMap, "reset", crdt::Type::kResetMap}};

crdt::NamedType with_spec(crdt::NamedType type, const std::string& spec) {
  if (spec.empty()) return type;
  std::vector<std::string> own;
  for (const auto& known : kSpecs) {
    if (known.type != type.type) continue;
    if (known.spec == spec) return {known.means};
    own.emplace_back(known.spec);
  }
  throw UsageError(
      "--spec", fmt::format("found the type {} with --spec {}, expected {}", crdt::name(type.type),
                            spec, own.empty() ? "a list, a register or a map" : one_of(own)));
}

// --non-interleaving is another way to write --spec non-interleaving.
std::string spec_of(const CrdtArguments& arguments) {
  std::string other = "non-interleaving";
  if (!arguments.non_interleaving) return arguments.spec;
  if (!arguments.spec.empty() && arguments.spec != other)
    throw UsageError("--non-interleaving",
                     fmt::format("found --spec {}, too; leave out one of them", arguments.spec));
  return other;
}

crdt::NamedType type_or_refused(const std::string& name, const std::string& spec) {
  return with_spec(type_or_refused(name), spec);
}

void add_spec_options(Command& command, CrdtArguments& arguments) {
  command
      .add_flag("--non-interleaving", arguments.non_interleaving,
                "Of --type list: the same as --spec non-interleaving")
      ->group(kQuestionOptions);
  std::vector<std::string> names;
  for (const auto& known : kSpecs) {
    if (std::find(names.begin(), names.end(), known.spec) == names.end())
      names.emplace_back(known.spec);
  }
  command
      .add_option(
          "--spec", arguments.spec,
          "Of --type list: strong (one order of all characters; the default), weak (one "
          "order of each two that are visible together; the same as --type weak-list) or "
          "non-interleaving (strong, and runs inserted at one place are not mixed; the "
          "same as --type non-interleaving-list). Of --type register: last-writer-wins (the "
          "default), any-maximal, multi-value or max (the same as --type max-register). Of "
          "--type map, what wins over the remove "
          "of a key: last-writer-wins (the default), "
          "remove-wins, update-wins or reset (the same as --type reset-map)")
      ->type_name("SPEC")
      ->check(one_of_names(names))
      ->group(kQuestionOptions);
}

// `type`: a text, or several.
template <typename Types>
Option* add_type_option(Command& command, Types& type, const std::string& otherwise = "") {
  std::vector<std::string> names;
  for (const auto t : crdt::all_types()) names.emplace_back(crdt::name(t));
  return command
      .add_option(
          "-T,--type", type,
          fmt::format("The replicated data type: {}; or another name of one, such as or-set, "
                      "g-set, mvr, lww, pn-counter, rga{}",
                      one_of(names), otherwise))
      ->type_name("TYPE");
}

void add_strict_axioms_option(Command& command, bool& strict) {
  command
      .add_flag("--strict-axioms", strict,
                "Use the axioms exactly as Biswas's thesis prints them: arrays may show removed "
                "characters, and two concurrent writes of one value are forbidden (docs/crdt.md)")
      ->group(kQuestionOptions);
  command.add_flag("--letter", strict, "Deprecated: --strict-axioms")->hidden();
}

base::Result<std::string> contents(const std::string& file) {
  if (file == "-") {
    std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
    if (std::cin.bad())
      return base::Error{.message = "cannot read standard input to its end", .file = file};
    return decompressed(std::move(text), file);
  }
  std::error_code unknown;
  if (std::filesystem::is_directory(file, unknown))
    return base::Error{.message = "found a directory, expected a file", .file = file};
  return decompressed(base::read_file(file), file);
}

base::Result<std::string> lines_of(const std::string& file) {
  auto text = contents(file);
  if (!text.ok()) return text;
  // The recording failed or was lost: no verdict would be right.
  if (text->find_first_not_of(" \t\r\n") == std::string::npos) {
    return base::Error{.message = "found an empty file, expected operations, a line each",
                       .file = file};
  }
  return text;
}

// Without a type, the lines name objects and their types.
base::Result<crdt::Recording> recording_of(const std::string& lines, const std::string& file,
                                           std::optional<crdt::NamedType> type, unsigned threads,
                                           std::int64_t clock_drift_ns,
                                           crdt::UnknownOutcome unknown_outcome) {
  auto recording = crdt::read_recording(lines, file, type, threads, unknown_outcome);
  if (!recording.ok()) return recording;
  crdt::allow_clock_drift(recording->whole(), clock_drift_ns);
  crdt::share_times(*recording);
  return recording;
}

int code_of(crdt::Verdict verdict) {
  switch (verdict) {
    case crdt::Verdict::kSatisfied:
      return kSatisfied;
    case crdt::Verdict::kViolated:
      return kViolated;
    case crdt::Verdict::kUnknown:
      break;
  }
  return kUnknown;
}

std::optional<base::Error> refuse_without_deliveries(const std::string& file,
                                                     const crdt::History& typed,
                                                     const crdt::Context& deliveries,
                                                     const std::string& context) {
  const auto line = deliveries.unknown_outcome_line;
  if (!crdt::replicated_type(typed).traits().needs_deliveries) return std::nullopt;
  if (context != "ignored" && context != "checked" && deliveries.is_known()) return std::nullopt;
  return base::Error{
      .message = fmt::format(
          "the type {} is decided only with the deliveries that a history has; found {}, "
          "expected deliver lines (docs/formats/crdt.md#context) and --context trusted",
          crdt::name(typed.type),
          deliveries.is_known() ? "--context " + context
          : line != 0 ? "an update of unknown outcome, so that nobody can say who saw what"
                      : "none"),
      .file = file};
}

// Without deliveries cupel judges causal order. So a history that promises less is not judged
// without them, unless they are causal anyway.
std::optional<base::Error> refuse_to_ignore(const std::string& file,
                                            const crdt::Recording& recording) {
  const crdt::History& history = recording.whole();
  const auto& context = history.context;
  const char* const rule = context.rule == crdt::DeliveryRule::kFifo ? "fifo" : "applied";
  if (context.rule == crdt::DeliveryRule::kCausal) return std::nullopt;
  if (context.unknown_outcome_line != 0) {
    return base::Error{
        .message = fmt::format(
            "found an update of unknown outcome, so that nobody can say who saw what, in a history "
            "with the delivery `{}`. Without its deliveries cupel would go by causal order, which "
            "this delivery does not promise; expected an outcome, ok or fail",
            rule),
        .file = file,
        .line = context.unknown_outcome_line};
  }
  if (!context.is_known()) return std::nullopt;
  const auto known = crdt::Visibility::of(history);
  if (!known.ok()) {
    auto error = known.error();
    error.file = file;
    return error;
  }
  const auto early = crdt::early_update(history, *known);
  if (!early) return std::nullopt;
  const auto named = [&](crdt::OpId id) {
    return fmt::format("{} of replica {} (line {})", recording.text(id),
                       history.replicas[history.ops[id].replica], history.ops[id].line);
  };
  return base::Error{
      .message = fmt::format(
          "--context ignored: found that replica {} saw {} without {}, which replica {} had seen "
          "before. Without its deliveries cupel would go by causal order, which the delivery `{}` "
          "of this history does not promise; leave out --context ignored (after a run with an "
          "adapter, another run without the fault reordering can do with it)",
          history.replicas[early->replica], named(early->update), named(early->missing),
          history.replicas[history.ops[early->update].replica], rule),
      .file = file};
}

// Without deliveries: an error if they are asked for.
std::optional<base::Error> note_no_deliveries(const std::string& file, std::uint64_t unknown_line,
                                              const std::string& context) {
  if (!context.empty() && unknown_line != 0) {
    return base::Error{.message =
                           "found an update of unknown outcome, so that nobody can say who "
                           "saw what; expected none with --context " +
                           context,
                       .file = file,
                       .line = unknown_line};
  }
  if (!context.empty()) {
    return base::Error{.message = fmt::format("found no deliveries, expected deliver lines with "
                                              "--context {} (docs/formats/crdt.md)",
                                              context),
                       .file = file};
  }
  if (unknown_line != 0) {
    print_note(fmt::format("{}:{}: an update of unknown outcome; the deliveries are left out", file,
                           unknown_line));
  }
  return std::nullopt;
}

// What the operations had seen, if the history says it and --context does not leave it out.
base::Result<std::optional<crdt::Visibility>> visibility_of(const std::string& file,
                                                            const crdt::Recording& recording,
                                                            const std::string& context) {
  using Known = std::optional<crdt::Visibility>;
  const crdt::History& history = recording.whole();
  for (const auto& object : recording.objects) {
    if (auto error = refuse_without_deliveries(file, object.history, history.context, context))
      return std::move(*error);
  }
  if (context == "ignored" || !history.context.is_known()) {
    if (auto error = refuse_to_ignore(file, recording)) return std::move(*error);
  }
  if (context == "ignored") return Known();
  if (!history.context.is_known()) {
    if (auto error = note_no_deliveries(file, history.context.unknown_outcome_line, context))
      return std::move(*error);
    return Known();
  }
  auto known = crdt::Visibility::of(history);
  if (!known.ok()) {
    auto error = known.error();
    error.file = file;
    return error;
  }
  if (const auto late = crdt::late_update(history, *known)) {
    return base::Error{
        .message = fmt::format(
            "found that {} of replica {} had received {} of replica {} (line {}), which was "
            "invoked after it had ended; expected times of one clock, or --clock-drift",
            recording.text(late->op), history.replicas[history.ops[late->op].replica],
            recording.text(late->update), history.replicas[history.ops[late->update].replica],
            history.ops[late->update].line),
        .file = file,
        .line = history.ops[late->op].line};
  }
  return Known(std::move(known).value());
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

// The lines or the fields of the report; after a run with an adapter, those of the run, too.
void print_report(const crdt::RecordingReport& report, bool json, const CrdtRunReport* ran) {
  if (!json) {
    print(ran == nullptr ? crdt::as_text(report) : ran->in_text(crdt::as_text(report)));
    return;
  }
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  auto fields = crdt::json_of(report);
  if (ran != nullptr) ran->add_to(fields);
  print(text::dump(fields) + "\n");
}

// `visibility`: of known deliveries, or null.
crdt::AnalysisOptions analysis_options(const CrdtArguments& arguments, const Limits& limits,
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
  print_report(report, arguments.json, ran);
  int code = code_of(crdt::verdict_of(report.analysis));
  if (!arguments.certificate.empty())
    code = std::max(code, write_certificate(arguments.certificate, recording, report.analysis));
  if (!arguments.svg.empty() && !write_whole(arguments.svg, crdt::as_svg(report.of_object(0)),
                                             /*append=*/false, "the picture"))
    code = kBad;
  return code;
}

// One check of a history, or of a run (`ran`).
struct OneCheck {
  const std::string& file;
  const CrdtArguments& arguments;
  const Limits& limits;
  base::Budget& budget;
  const CrdtRunReport* ran = nullptr;
};

// Analyzes and reports.
int check_one(const OneCheck& check, crdt::Recording& recording) {
  const auto& [file, arguments, limits, budget, ran] = check;
  if (arguments.converged_only && arguments.context == "ignored") {
    print_error("found --converged-only with --context ignored, but it needs the deliveries");
    return kBad;
  }
  const auto visibility = visibility_of(file, recording, context_of(arguments));
  if (!visibility.ok()) {
    print_error(visibility.error());
    return kBad;
  }
  const auto* known = *visibility ? &**visibility : nullptr;
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
std::optional<int> check_certain(const OneCheck& check, std::uint64_t line,
                                 const ReadHistory& read) {
  const auto& [file, arguments, limits, budget, ran] = check;
  if (!arguments.context.empty() && arguments.context != "trusted") return std::nullopt;
  for (const auto outcome : {crdt::UnknownOutcome::kAbsent, crdt::UnknownOutcome::kAbsentUnread}) {
    auto recording = read(outcome);
    if (!recording.ok()) return std::nullopt;  // a line names such an update
    const auto known = visibility_of(file, *recording, context_of(arguments));
    if (!known.ok() || !*known) return std::nullopt;
    const crdt::Visibility& visibility = **known;
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

// Without a type, the lines name objects and their types.
int check_lines(const OneCheck& check, const std::string& lines,
                std::optional<crdt::NamedType> type) {
  const ReadHistory read = [&](crdt::UnknownOutcome outcome) {
    return recording_of(lines, check.file, type, check.limits.threads, check.limits.clock_drift_ns,
                        outcome);
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

int read_and_check(const std::string& file, std::optional<crdt::NamedType> type,
                   const CrdtArguments& arguments, const Limits& limits) {
  base::Budget budget(limits.timeout, limits.memory_bytes);
  const auto lines = lines_of(file);
  if (!lines.ok()) {
    print_error(lines.error());
    return kBad;
  }
  return check_lines({file, arguments, limits, budget}, *lines, type);
}

// Without a type, the histories name objects and their types.
int check(const CrdtArguments& arguments, std::optional<crdt::NamedType> type,
          const Limits& limits) {
  for (const auto& [file, what] : {std::pair{arguments.certificate, "the certificate"},
                                   std::pair{arguments.svg, "the picture"}}) {
    if (!file.empty() && !can_write(file, /*append=*/false, what)) return kBad;
  }
  int code = kSatisfied;
  for (const auto& file : arguments.histories) {
    code = std::max(code, read_and_check(file, type, arguments, limits));
    flush_output();
  }
  return code;
}

// The type of the history of a certificate: as asked for, or else as the certificate has it.
base::Result<crdt::NamedType> type_of_certificate(const CrdtArguments& arguments,
                                                  std::optional<crdt::NamedType> asked,
                                                  std::optional<crdt::Type> named) {
  if (!named) {
    if (asked) return *asked;  // that it is no certificate is said later
    return base::Error{.message =
                           "found no certificate that names a replicated data type, expected "
                           "what `cupel crdt check --certificate` writes",
                       .file = arguments.certificate};
  }
  if (asked && asked->type != *named) {
    return base::Error{
        .message = fmt::format("found a certificate of the type {}, but --type is {}; leave out "
                               "--type to take that of the certificate",
                               crdt::name(*named), arguments.type),
        .file = arguments.certificate};
  }
  return asked.value_or(crdt::NamedType{*named});
}

struct NamedVerified {
  std::string_view type;
  crdt::Verified verified;
  std::optional<ProvedWitness> proved = {};  // of a valid certificate, if asked for
  bool leaves_deliveries_out = false;        // that were recorded
  crdt::UnknownOutcome unknown_outcome = {};
  [[nodiscard]] bool is_valid() const { return verified.status == crdt::CertificateStatus::kValid; }
};

base::Result<crdt::UnknownOutcome> outcome_of_certificate(const CrdtArguments& arguments,
                                                          const crdt::CertificateHead& head) {
  if (head.unknown_outcome) return *head.unknown_outcome;
  return base::Error{
      .message = fmt::format("found other `unknown_outcomes`, expected \"{}\" or \"{}\"",
                             crdt::name(crdt::UnknownOutcome::kAbsent),
                             crdt::name(crdt::UnknownOutcome::kAbsentUnread)),
      .file = arguments.certificate};
}

base::Result<NamedVerified> verified_by(const CrdtArguments& arguments,
                                        std::optional<crdt::NamedType> asked,
                                        std::string_view certificate, std::int64_t drift_ns) {
  const auto head = crdt::head_of(certificate);
  std::optional<crdt::NamedType> type;  // none: of named objects
  if (asked || !head.of_named_objects) {
    const auto chosen = type_of_certificate(arguments, asked, head.type);
    if (!chosen.ok()) return chosen.error();
    type = *chosen;
  }
  const auto outcome = outcome_of_certificate(arguments, head);
  if (!outcome.ok()) return outcome.error();
  const auto lines = lines_of(arguments.history);
  if (!lines.ok()) return lines.error();
  auto recording =
      recording_of(*lines, arguments.history, type, arguments.threads, drift_ns, *outcome);
  if (!recording.ok()) return recording.error();
  NamedVerified named{type ? crdt::name(type->type) : crdt::kNamedObjects,
                      crdt::verify(*recording, certificate)};
  if (named.verified.status == crdt::CertificateStatus::kBadInput)
    return base::Error{.message = named.verified.reason, .file = arguments.certificate};
  // Of one object, only a valid certificate says so.
  if (named.is_valid() || !type) {
    named.unknown_outcome = *outcome;
    named.leaves_deliveries_out =
        recording->whole().context.is_known() && !named.verified.by_deliveries;
  }
  if (!named.is_valid() || !arguments.proved) return named;
  if (!type) {
    named.proved = ProvedWitness{.left_out = "histories of several types", .program = {}};
    return named;
  }
  auto proved = run_proved(recording->whole(), certificate, arguments.proved_text);
  if (!proved.ok()) return proved.error();
  named.proved = std::move(proved).value();
  return named;
}

// What a valid certificate is about, besides the history.
std::string terms_of(const NamedVerified& named, std::int64_t drift_ns) {
  std::string terms;
  if (named.verified.strict) terms += ", by the strict axioms";
  if (!named.is_valid()) return terms;
  if (named.unknown_outcome != crdt::UnknownOutcome::kOpen)
    terms += ", without its updates of unknown outcome";
  if (named.verified.converged_only) terms += ", convergence only";
  if (named.leaves_deliveries_out) terms += ", without the recorded deliveries";
  if (drift_ns > 0) terms += fmt::format(", clocks up to {} ns wrong", drift_ns);
  return terms;
}

void print_verified(const CrdtArguments& arguments, const NamedVerified& named,
                    std::int64_t drift_ns) {
  const crdt::Verified& verified = named.verified;
  const bool valid = verified.status == crdt::CertificateStatus::kValid,
             unknown = verified.status == crdt::CertificateStatus::kUnknown;
  const char* const word = valid ? "valid" : unknown ? "unknown" : "not valid";
  if (arguments.json) {
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    nlohmann::ordered_json json = {{"history", arguments.history},
                                   {"certificate", arguments.certificate},
                                   {"type", named.type},
                                   {"letter", verified.strict},
                                   {"verdict", verified.verdict},
                                   {"valid", nullptr},
                                   {"reason", nullptr}};
    json["deliveries"] = verified.by_deliveries;
    json["converged_only"] = verified.converged_only;
    json["unknown_outcomes"] = nullptr;
    if (named.unknown_outcome != crdt::UnknownOutcome::kOpen)
      json["unknown_outcomes"] = crdt::name(named.unknown_outcome);
    json["clock_drift_ns"] = drift_ns;
    if (!unknown) json["valid"] = valid;
    if (!valid) json["reason"] = verified.reason;
    if (named.proved) {
      json["proved"] = {{"all", named.proved->is_proved()},
                        {"left_out", nullptr},
                        {"agrees", nullptr},
                        {"sha256", nullptr}};
      if (!named.proved->left_out.empty()) {
        json["proved"]["left_out"] = named.proved->left_out;
      } else {
        json["proved"]["agrees"] = named.proved->program.agrees;
        json["proved"]["sha256"] = named.proved->program.digest;
      }
    }
    print(text::dump(json) + "\n");
  } else {
    print(fmt::format("{}: {}, {} for {}{}\n{}", arguments.certificate, word, verified.verdict,
                      arguments.history, terms_of(named, drift_ns),
                      valid ? "" : "  " + verified.reason + "\n"));
    if (named.proved) print(proved_text(*named.proved));
  }
}

int verify(const CrdtArguments& arguments, std::optional<crdt::NamedType> asked,
           std::int64_t drift_ns) {
  if (is_certificate(arguments.history)) {
    print_error(certificate_comes_second("crdt verify", arguments.history));
    return kBad;
  }
  const auto certificate = contents(arguments.certificate);
  if (!certificate.ok()) {
    print_error(certificate.error());
    return kBad;
  }
  if (const auto error = certificate_of_other("crdt verify", *certificate, arguments.certificate)) {
    print_error(*error);
    return kBad;
  }
  const auto verified = verified_by(arguments, asked, *certificate, drift_ns);
  if (!verified.ok()) {
    print_error(verified.error());
    return kBad;
  }
  print_verified(arguments, *verified, drift_ns);
  switch (verified->verified.status) {
    case crdt::CertificateStatus::kValid:
      return verified->proved && !verified->proved->is_proved() ? kViolated : kSatisfied;
    case crdt::CertificateStatus::kNotValid:
      return kViolated;
    case crdt::CertificateStatus::kUnknown:
      return kUnknown;
    case crdt::CertificateStatus::kBadInput:
      break;
  }
  return kBad;
}

std::int64_t clock_drift_of(const CrdtArguments& arguments) {
  if (arguments.clock_drift.empty()) return 0;
  return or_refused(parse_nanoseconds(arguments.clock_drift), "--clock-drift");
}

Limits limits_of(const CrdtArguments& arguments) {
  Limits limits;
  if (!arguments.timeout.empty())
    limits.timeout = std::chrono::duration<double>(
        or_refused(parse_duration(arguments.timeout, 1), "--timeout"));
  limits.memory_bytes = arguments.memory_limit.empty()
                            ? default_memory_limit()
                            : or_refused(parse_size(arguments.memory_limit), "--memory-limit");
  limits.shrink_seconds = or_refused(parse_duration(arguments.shrink_time, 1), "--shrink-time");
  limits.clock_drift_ns = clock_drift_of(arguments);
  limits.threads = arguments.threads;
  return limits;
}

void add_answer_options(Command& command, CrdtArguments& arguments) {
  add_strict_axioms_option(command, arguments.strict);
  add_spec_options(command, arguments);
  command
      .add_option("--context", arguments.context,
                  "Recorded deliveries: trusted (each read must fit them; the default if there are "
                  "any), checked (the history is also decided without them) or ignored")
      ->type_name("HOW")
      ->check(one_of_names({"trusted", "checked", "ignored"}))
      ->group(kQuestionOptions);
  command
      .add_flag(
          "--converged-only", arguments.converged_only,
          "Check only that reads which had seen the same updates return the same. Needs recorded "
          "deliveries")
      ->group(kQuestionOptions);
  command
      .add_option("--certificate", arguments.certificate,
                  "Write the evidence for the verdict to this file, for cupel crdt verify. One "
                  "history only")
      ->check(not_standard_output("the file to write"))
      ->type_name("FILE")
      ->group(kQuestionOptions);
  command
      .add_flag("--witness", arguments.witness,
                "If the history is satisfied, print an execution: the operations in order, each "
                "with the remote updates that it newly sees")
      ->group(kQuestionOptions);
  command
      .add_option("--timeout", arguments.timeout,
                  "Time limit for each history, reading included; then the verdict is unknown. "
                  "Seconds, or with a unit: 90, 90s, 5m. Default: none")
      ->type_name("DURATION")
      ->group(kCostOptions);
  command
      .add_option(
          "--memory-limit", arguments.memory_limit,
          "Limit on the resident memory of the process; beyond it the verdict is "
          "unknown. Bytes, or K, M, G: 512M, 4G. 0: none. Default: three quarters of the machine, "
          "and at most nine tenths of what is free")
      ->type_name("SIZE")
      ->group(kCostOptions);
  command
      .add_option("--shrink-time", arguments.shrink_time,
                  "Time limit for shrinking a violation before it is explained. Seconds, or "
                  "with a unit")
      ->type_name("DURATION")
      ->capture_default_str()
      ->group(kCostOptions);
  command
      .add_option("--threads", arguments.threads,
                  "Threads that read a long history and decide parts of it. The number never "
                  "changes a verdict. Default: 0, as many as the machine has")
      ->type_name("N")
      ->check(whole_number(0, std::numeric_limits<unsigned>::max()))
      ->group(kCostOptions);
  command.add_flag("--json", arguments.json, "Print one JSON object for each history, on one line");
  command
      .add_option(
          "--svg", arguments.svg,
          "Draw the history and its verdict as SVG: replicas as rows, deliveries as arrows. One "
          "history only")
      ->check(not_standard_output("the file to write"))
      ->type_name("FILE");
}

void refuse_without_type(const CrdtArguments& arguments) {
  for (const auto& [option, value] :
       {std::pair{"--spec", spec_of(arguments)}, std::pair{"--svg", arguments.svg}}) {
    if (!value.empty()) {
      throw UsageError(
          option, "found it without --type, expected the type of the one object that it is for");
    }
  }
}

void add_crdt_check(Command& app, Run& run) {
  auto* command = app.add_subcommand(
      "check",
      "Check the values that replicas returned against their data type, under causal consistency");
  auto arguments = std::make_shared<CrdtArguments>();
  command
      ->add_option("HISTORY", arguments->histories,
                   "Histories, JSON lines or EDN; - is standard input")
      ->required()
      ->type_name("");
  add_type_option(*command, arguments->type,
                  ". Without it, the history names objects and the type of each");
  command
      ->add_flag(
          "--converge", arguments->converge,
          "Also check that the last reads of all replicas agree, and report how long that took "
          "if times are recorded. Use it if every update was delivered at the end. The exit code "
          "is 1 if the reads differ, and 2 if no key has two such reads")
      ->group(kQuestionOptions);
  command
      ->add_option("--clock-drift", arguments->clock_drift,
                   "Largest error of the clocks that recorded the times. Widens every operation by "
                   "this on both sides. With ns, us, ms or s, as in 1ms; a bare number is "
                   "nanoseconds. Default: 0")
      ->type_name("DURATION")
      ->group(kQuestionOptions);
  add_answer_options(*command, *arguments);
  command->footer(
      "Prints one line FILE<TAB>TYPE<TAB>satisfied|violated|unknown for each file. The\n"
      "explanation of a violation follows, indented by two spaces.\n"
      "\n"
      "Exit code: 0 satisfied, 1 violated, 2 unknown, 3 bad input; the largest of all files.\n"
      "\n"
      "Examples:\n"
      "  cupel crdt check --type or-set history.jsonl\n"
      "  cupel crdt check objects_of_several_types.jsonl\n"
      "  cupel crdt check --type rga --timeout 1m --json history.edn | jq .verdict\n"
      "  cupel crdt check --type counter --certificate proof.json --svg picture.svg history.jsonl");
  command->callback([arguments, &run] {
    std::optional<crdt::NamedType> type;
    if (!arguments->type.empty()) type = type_or_refused(arguments->type, spec_of(*arguments));
    if (!type) refuse_without_type(*arguments);
    const auto limits = limits_of(*arguments);
    for (const auto& [option, file] :
         {std::pair{"--certificate", arguments->certificate}, std::pair{"--svg", arguments->svg}}) {
      if (file.empty()) continue;
      if (arguments->histories.size() > 1)
        throw UsageError(
            option, fmt::format("found {} histories, expected one", arguments->histories.size()));
      std::error_code unknown;
      if (std::filesystem::equivalent(file, arguments->histories[0], unknown) &&
          std::filesystem::is_regular_file(file, unknown)) {
        throw UsageError(
            option, fmt::format("found {}, which is the history; expected another file", file));
      }
    }
    if (!arguments->svg.empty() &&
        std::filesystem::path(arguments->svg).lexically_normal() ==
            std::filesystem::path(arguments->certificate).lexically_normal()) {
      throw UsageError(
          "--svg",
          fmt::format("found {}, which --certificate writes already; expected another file",
                      arguments->svg));
    }
    run = [arguments, type, limits] { return check(*arguments, type, limits); };
  });
}

void add_crdt_verify(Command& app, Run& run) {
  auto* command =
      app.add_subcommand("verify",
                         "Check the evidence for a verdict with code independent of check, "
                         "except for the reader and the digest");
  auto arguments = std::make_shared<CrdtArguments>();
  command
      ->add_option("HISTORY", arguments->history,
                   "The history that the certificate is for; - is standard input")
      ->required()
      ->type_name("");
  command
      ->add_option("CERTIFICATE", arguments->certificate,
                   "The file that cupel crdt check --certificate wrote; - is standard input")
      ->required()
      ->type_name("");
  add_type_option(*command, arguments->type, ". Default: that of the certificate");
  command->add_flag("--json", arguments->json, "Print one JSON object on one line");
  auto* proved = command->add_flag(
      "--proved", arguments->proved,
      "Check a certificate of satisfied with the verifier that is itself proved as well");
  command
      ->add_option(
          "--text", arguments->proved_text,
          "Keep the canonical text of the history, which --proved reads, in this file; - is "
          "standard output")
      ->type_name("FILE")
      ->needs(proved);
  command
      ->add_option("--clock-drift", arguments->clock_drift,
                   "Largest error of the clocks that recorded the times. Use the value that check "
                   "had. With ns, us, ms or s; a bare number is nanoseconds. Default: 0")
      ->type_name("DURATION");
  command->footer(
      "Exit code: 0 the certificate proves its verdict, 1 it does not, 2 unknown: the certificate\n"
      "has too many operations to try all their executions, 3 the history cannot be read or the\n"
      "file is not a certificate. With --proved, 0 also means that the proved verifier accepts "
      "it.\n"
      "\n"
      "Examples:\n"
      "  cupel crdt verify history.jsonl proof.json\n"
      "  cupel crdt verify --proved history.jsonl proof.json");
  command->callback([arguments, &run] {
    std::optional<crdt::NamedType> type;
    if (!arguments->type.empty()) type = type_or_refused(arguments->type);
    if (arguments->history == "-" && arguments->certificate == "-") {
      throw UsageError("CERTIFICATE",
                       "found - twice; standard input is the history or the certificate, "
                       "expected a file for the other");
    }
    const auto drift_ns = clock_drift_of(*arguments);
    run = [arguments, type, drift_ns] { return verify(*arguments, type, drift_ns); };
  });
}

// What replicas are asked: generate and run.
void add_request_options(Command& command, crdt::Requests& requests) {
  const char* group = "Operations";
  command.add_option("--replicas", requests.replicas, "Number of replicas")
      ->type_name("N")
      ->check(whole_number(1, 1000))
      ->capture_default_str()
      ->group(group);
  command.add_option("--keys", requests.keys, "Number of objects of the type")
      ->type_name("N")
      ->check(whole_number(1, 1000000))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--elements", requests.values, "Sets: number of elements that an object may have")
      ->type_name("N")
      ->check(whole_number(1, 1000000))
      ->capture_default_str()
      ->group(group);
  command.add_option("--read-share", requests.read_share, "Share of reads, from 0 to 1")
      ->type_name("SHARE")
      ->check(share())
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--duplicates", requests.duplicates,
                  "Registers: share of writes that repeat an earlier value, from 0 to 1")
      ->type_name("SHARE")
      ->check(share())
      ->capture_default_str()
      ->group(group);
  command.add_option("--seed", requests.seed, "The same options and seed give the same operations")
      ->type_name("N")
      ->check(whole_number(0, std::numeric_limits<std::uint64_t>::max()))
      ->capture_default_str()
      ->group(group);
}

struct CrdtGenerateArguments {
  std::vector<std::string> types;
  std::string output = "-";
  crdt::GenerateOptions options;

  bool edn = false, no_times = false, no_final_reads = false;
};

int generate(const CrdtGenerateArguments& arguments) {
  const auto recording = crdt::generate_recording(arguments.options);
  if (!recording.ok()) {
    print_error(recording.error());
    return kBad;
  }
  const auto text = crdt::write(*recording, arguments.edn || arguments.output.ends_with(".edn"));
  if (arguments.output == "-") {
    print(text);
    return kSatisfied;
  }
  return write_whole(arguments.output, text) ? kSatisfied : kBad;
}

void refuse_unknown_bug(const std::string& bug, const std::vector<crdt::NamedType>& asked) {
  if (bug.empty()) return;
  std::vector<std::string> known;
  for (const auto type : asked) {
    for (auto& its : crdt::bugs_of(type.type)) known.push_back(std::move(its));
    for (auto& its : crdt::injected_bugs_of(type.type)) known.push_back(std::move(its));
  }
  if (asked.size() > 1) known.emplace_back(crdt::kObjectsApart.name);
  if (std::find(known.begin(), known.end(), bug) != known.end()) return;
  std::string types;
  for (const auto type : asked)
    types += fmt::format("{}{}", types.empty() ? "" : ", ", crdt::name(type.type));
  throw UsageError("--bug", fmt::format("found `{}`, expected a bug of the type{} {}: {}{}", bug,
                                        asked.size() > 1 ? "s" : "", types, one_of(known),
                                        did_you_mean(bug, known)));
}

void add_crdt_generate(Command& app, Run& run) {
  auto* command = app.add_subcommand(
      "generate", "Write a history of simulated replicas, correct or with a bug");
  auto arguments = std::make_shared<CrdtGenerateArguments>();
  auto& options = arguments->options;
  add_type_option(*command, arguments->types,
                  ". May be repeated: then the history has an object of each type")
      ->required()
      ->allow_extra_args(false);
  command
      ->add_option("-o,--output", arguments->output, "The file to write. Default: standard output")
      ->type_name("FILE");
  command->add_flag("--edn", arguments->edn,
                    "Write EDN instead of JSON lines; the default if FILE ends in .edn");
  add_request_options(*command, options);
  const char* group = "Replicas";
  std::string bugs;
  for (const auto& bug : crdt::all_bugs()) {
    bugs += fmt::format("  {:33} {}\n", bug.name, bug.what);
  }
  bugs += fmt::format("  {:33} {}\n", crdt::kObjectsApart.name, crdt::kObjectsApart.what);
  command
      ->add_option("--ops", options.ops,
                   "Number of operations of all replicas together, without the final reads")
      ->type_name("N")
      ->check(whole_number(0, 100000000))
      ->capture_default_str()
      ->group(group);
  command
      ->add_option(
          "--delivery", options.delivery,
          "Probability that the next update of another replica arrives before an operation, from 0 "
          "to 1")
      ->type_name("SHARE")
      ->check(share())
      ->capture_default_str()
      ->group(group);
  command->add_option("--bug", options.bug, "Inject this bug; the list is below")
      ->type_name("BUG")
      ->group(group);
  command
      ->add_flag(
          "--no-final-reads", arguments->no_final_reads,
          "Leave out the last step, which delivers every update and lets every replica read every "
          "key")
      ->group(group);
  command
      ->add_flag("--context", options.context,
                 "Also write what each replica had received, as deliver lines")
      ->group(group);
  command->add_flag("--no-times", arguments->no_times, "Leave out the times of operations")
      ->group(group);
  command->footer(
      "Bugs (docs/crdt.md#generate lists their types):\n" + bugs +
      "\nExamples:\n"
      "  cupel crdt generate --type or-set --ops 1000 -o history.jsonl\n"
      "  cupel crdt generate --type rga --bug interleaves | cupel crdt check --type rga -\n"
      "  cupel crdt generate --type or-set --type counter --context | cupel crdt check -");
  command->callback([arguments, &run] {
    auto& asked = arguments->options;
    std::vector<crdt::NamedType> types;
    for (const auto& type : arguments->types) types.push_back(type_or_refused(type));
    refuse_unknown_bug(asked.bug, types);
    if (types.size() == 1)
      asked.type = types[0];
    else
      asked.types = types;
    asked.times = !arguments->no_times;
    asked.final_reads = !arguments->no_final_reads;
    run = [arguments] { return generate(*arguments); };
  });
}

struct CrdtRunArguments : CrdtArguments {
  std::string output, order = "causal", adapter, faults, edits, reproduce;
  bool names_replicas = false;
  crdt::RunOptions options;
};

// Where adapters and their libraries are. By itself cupel looks in the folders above the program,
// in share/cupel/adapters where it is installed and in adapters of the sources.
crdt::AdapterPlaces adapter_places() {
  const auto value = [](const char* variable) -> std::string {
    const char* text = std::getenv(variable);
    return text != nullptr ? text : "";
  };
  namespace fs = std::filesystem;
  std::error_code none;
  crdt::AdapterPlaces places{.adapters = value("CUPEL_ADAPTERS"),
                             .cache = value("CUPEL_ADAPTER_CACHE")};
  auto folder = fs::read_symlink("/proc/self/exe", none).parent_path();
  while (places.adapters.empty() && folder.has_relative_path()) {
    for (const char* at : {"share/cupel/adapters", "adapters"}) {
      if (fs::exists(folder / at / "harness.mjs", none)) places.adapters = (folder / at).string();
    }
    folder = folder.parent_path();
  }
  if (places.cache.empty()) {
    auto top = value("XDG_CACHE_HOME");
    if (const auto home = value("HOME"); top.empty() && !home.empty()) top = home + "/.cache";
    if (!top.empty()) places.cache = (fs::path(top) / "cupel/adapters").string();
  }
  return places;
}

// Those of --faults, or all that the object survives.
base::Result<std::vector<crdt::Hazard>> hazards_of(const std::string& faults,
                                                   const crdt::Library& library,
                                                   const crdt::ChosenObject& chosen) {
  if (faults.empty()) return chosen.survives;
  std::vector<std::string> promised;
  for (const auto hazard : chosen.survives)
    promised.emplace_back(crdt::kHazardNames[static_cast<std::size_t>(hazard)]);
  if (faults == "all") return chosen.survives;
  std::vector<crdt::Hazard> hazards;
  if (faults == "none") return hazards;
  for (const auto& name : split(faults, ',')) {
    const auto at = std::find(promised.begin(), promised.end(), name);
    if (at == promised.end()) {
      return base::Error{
          .message = fmt::format("--faults: found `{}`, but {} promises to survive {}{}", name,
                                 library.name, promised.empty() ? "none" : one_of(promised),
                                 did_you_mean(name, promised))};
    }
    hazards.push_back(chosen.survives[static_cast<std::size_t>(at - promised.begin())]);
  }
  const auto has = [&](crdt::Hazard hazard) {
    return std::find(hazards.begin(), hazards.end(), hazard) != hazards.end();
  };
  if (has(crdt::Hazard::kLoss) && !has(crdt::Hazard::kReordering)) {
    return base::Error{.message =
                           "--faults: found loss without reordering, expected both: what "
                           "follows a lost message comes out of order"};
  }
  return hazards;
}

// A concurrent trace says how many replicas there are, and what each of them has seen.
std::optional<base::Error> refuse_for_agents(const CrdtRunArguments& arguments) {
  if (arguments.names_replicas) {
    return base::Error{
        .message =
            "--replicas: found it with a concurrent trace, which has a replica for each "
            "agent and one more; leave it out"};
  }
  for (const auto& name : split(arguments.faults, ',')) {
    if (name == "join" || name == "crash") {
      return base::Error{
          .message = fmt::format("--faults: found `{}` with a concurrent trace, which says what "
                                 "each replica has seen; leave it out",
                                 name)};
    }
  }
  return std::nullopt;
}

// The editing trace of a file, which may be compressed.
base::Result<crdt::RecordedEdits> edits_of(const std::string& file) {
  auto bytes = contents(file);
  if (bytes.ok() && formats::is_compressed(*bytes)) {
    bytes = formats::decompress(*bytes, nullptr);
    if (!bytes.ok()) {
      auto error = bytes.error();
      error.file = file;
      return error;
    }
  }
  if (!bytes.ok()) return bytes.error();
  return crdt::read_edits(*bytes, file);
}

// Without a type, the run has several objects.
int check_run(CrdtRunArguments& arguments, const std::string& lines,
              std::optional<crdt::NamedType> type, const Limits& limits,
              const CrdtRunReport* ran = nullptr) {
  const bool kept = !arguments.output.empty();
  if (kept && !write_whole(arguments.output, lines, /*append=*/false, "the history")) return kBad;
  const std::string file = kept ? arguments.output : "the run";
  base::Budget budget(limits.timeout, limits.memory_bytes);
  return check_lines({file, arguments, limits, budget, ran}, lines, type);
}

// Nothing if it is one of the names, and something else was wrong.
std::string suggested(const std::string& word, const std::vector<std::string>& names) {
  const bool is_known = std::find(names.begin(), names.end(), word) != names.end();
  return is_known ? "" : did_you_mean(word, names);
}

// For an object, or else a type, that the library does not offer.
std::string suggested_object(const crdt::Library& library, const std::string& object,
                             const std::string& type) {
  std::vector<std::string> objects, types;
  for (const auto& [name, its] : library.objects) {
    objects.push_back(name);
    types.push_back(its);
  }
  // A weaker or stronger specification of a list that is there.
  const auto asked = crdt::type_of(type);
  for (const auto& [base, spec, means] : kSpecs) {
    const auto is_offered = [base = base](const std::string& its) {
      const auto offered = crdt::type_of(its);
      return offered && offered->type == base;
    };
    if (base == crdt::Type::kStrongList && base != means && asked && asked->type == means &&
        std::any_of(types.begin(), types.end(), is_offered))
      return fmt::format("; expected --type {} --spec {}", crdt::name(base), spec);
  }
  const bool is_known = std::find(objects.begin(), objects.end(), object) != objects.end();
  return object.empty() || is_known ? suggested(type, types) : suggested(object, objects);
}

// "list,map": the parts.
std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= list.size() && !list.empty();) {
    const auto comma = std::min(list.find(',', at), list.size());
    parts.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

// What is wrong with the names of several objects; `objects` or else `types` names them.
std::optional<base::Error> refuse_objects(const crdt::Library& library,
                                          const std::vector<std::string>& objects,
                                          const std::vector<std::string>& types) {
  if (!library.has_several)
    return base::Error{
        .message = fmt::format("found several objects, but the adapter of {} has one at a time",
                               library.name)};
  for (const auto* names : {&objects, &types}) {
    if (std::find(names->begin(), names->end(), "") != names->end())
      return base::Error{.message = "found an empty name among several objects, expected none"};
  }
  if (!objects.empty() && !types.empty() && objects.size() != types.size())
    return base::Error{
        .message = fmt::format("found {} names of objects with {} of --type, expected as many, or "
                               "names of one kind only",
                               objects.size(), types.size())};
  return std::nullopt;
}

// The objects of a run: one, or several in its place.
base::Result<base::Ok> choose_objects(const crdt::Library& library,
                                      const std::vector<std::string>& objects,
                                      const std::vector<std::string>& types,
                                      const CrdtRunArguments& arguments,
                                      crdt::AdapterRunOptions& options) {
  const auto count = std::max(objects.size(), types.size());
  if (count > 1) {
    if (auto error = refuse_objects(library, objects, types)) return std::move(*error);
  }
  for (std::size_t i = 0; i < std::max<std::size_t>(count, 1); ++i) {
    const std::string object = objects.empty() ? "" : objects[i];
    const std::string type = types.empty() ? "" : types[i];
    const auto chosen = crdt::choose_object(library, object, type);
    if (!chosen.ok()) {
      auto error = chosen.error();
      error.message += suggested_object(library, object, type);
      return error;
    }
    const auto same = [&](const auto& other) { return other.name == chosen->object; };
    if (std::any_of(options.objects.begin(), options.objects.end(), same))
      return base::Error{
          .message = fmt::format("found the object {} twice, expected each once; --keys makes more",
                                 chosen->object)};
    const auto hazards = hazards_of(arguments.faults, library, *chosen);
    if (!hazards.ok()) return hazards.error();
    if (i == 0) options.hazards = *hazards;
    std::erase_if(options.hazards, [&](crdt::Hazard hazard) {
      return std::find(hazards->begin(), hazards->end(), hazard) == hazards->end();
    });
    options.object += (i == 0 ? "" : ", ") + chosen->object;
    options.type = with_spec(chosen->type, spec_of(arguments));
    if (count > 1) options.objects.push_back({chosen->object, options.type});
  }
  if (count > 1) options.type = {};
  return base::Ok{};
}

// The edits of --trace, and what they decide of the run.
base::Result<base::Ok> take_edits(const CrdtRunArguments& arguments,
                                  crdt::AdapterRunOptions& options,
                                  std::optional<crdt::RecordedEdits>& edits) {
  std::vector<crdt::Type> types;
  for (const auto& object : options.objects) types.push_back(object.type.type);
  if (types.empty()) types = {options.type.type};
  const auto traced = crdt::traced_object(types);
  if (traced.candidates == 0) {
    return base::Error{.message = fmt::format("--trace: found an object of the type {}, expected a "
                                              "text or marked-text, such as --adapter yjs:text",
                                              crdt::name(types[0]))};
  }
  if (traced.candidates > 1)
    return base::Error{
        .message =
            fmt::format("--trace: found {} texts, expected one that is edited", traced.candidates)};
  auto read = edits_of(arguments.edits);
  if (!read.ok()) return read.error();
  edits = std::move(*read);
  options.edits = &*edits;
  options.keys = 1;
  if (edits->concurrent) {
    if (const auto error = refuse_for_agents(arguments)) return *error;
    options.replicas = edits->agents + 1;
  }
  return base::Ok{};
}

int run_adapter(CrdtRunArguments& arguments, const Limits& limits) {
  auto name = arguments.adapter;
  std::string object;
  if (const auto colon = name.rfind(':');
      colon != std::string::npos && name.find('/', colon) == std::string::npos) {
    object = name.substr(colon + 1);
    name.resize(colon);
  }
  const auto failed = [](base::Error error, const std::string& suggestion = "") {
    error.message += suggestion;
    print_error(error);
    return kBad;
  };
  const auto command = crdt::adapter_command(
      name, adapter_places(), +[](const std::string& folder) {
        print_note("npm installs the libraries of the adapters once, into " + folder);
      });
  if (!command.ok())
    return failed(command.error(), suggested(name, crdt::adapter_names(adapter_places())));
  auto adapter = crdt::Adapter::start(*command, arguments.options.timeout_seconds);
  if (!adapter.ok()) return failed(adapter.error());
  const auto& library = adapter->library();
  crdt::AdapterRunOptions options;
  static_cast<crdt::Requests&>(options) = arguments.options;
  options.ops = arguments.options.ops;
  options.delivery = arguments.options.delivery;
  options.keep_steps = !arguments.reproduce.empty();
  const auto objects = parts_of(object), types = parts_of(arguments.type);
  const auto chosen = choose_objects(library, objects, types, arguments, options);
  if (!chosen.ok()) return failed(chosen.error());
  std::optional<crdt::RecordedEdits> edits;
  if (!arguments.edits.empty()) {
    const auto read = take_edits(arguments, options, edits);
    if (!read.ok()) return failed(read.error());
  }
  const auto recorded = crdt::run(*adapter, options);
  if (!recorded.ok()) return failed(recorded.error());
  if (recorded->ends_as_traced == false && edits->concurrent) {
    print_note(
        "the last text is not the `endContent` of the trace; libraries place concurrent "
        "insertions in different orders");
  }
  arguments.converge = options.replicas > 1;
  const CrdtRunReport ran(library, options, *recorded);
  const auto type = options.objects.empty() ? std::optional(options.type) : std::nullopt;
  const int code = check_run(arguments, recorded->lines, type, limits, &ran);
  const bool wrong = ran.went_wrong();
  if (wrong && (arguments.json || code == kBad)) print_status(ran.wrong_text());
  if (options.keep_steps && (wrong || code == kViolated) &&
      !write_reproduction(*command, *adapter, options, *recorded,
                          {.file = arguments.reproduce,
                           .strict = arguments.strict,
                           .shrink_seconds = limits.shrink_seconds,
                           .memory_bytes = limits.memory_bytes,
                           .timeout_seconds = arguments.options.timeout_seconds}))
    return kBad;
  return wrong ? std::max<int>(code, kViolated) : code;
}

int run_replicas(CrdtRunArguments& arguments, const Limits& limits) {
  for (const auto& [file, what] :
       {std::pair{arguments.output, "the history"},
        std::pair{arguments.certificate, "the certificate"},
        std::pair{arguments.svg, "the picture"}, std::pair{arguments.reproduce, "the script"}}) {
    if (!file.empty() && !can_write(file, /*append=*/false, what)) return kBad;
  }
  if (!arguments.adapter.empty()) return run_adapter(arguments, limits);
  const auto recorded = crdt::run(arguments.options);
  if (!recorded.ok()) {
    print_error(recorded.error());
    return kBad;
  }
  arguments.converge = recorded->settled && arguments.options.replicas > 1;
  if (!recorded->settled)
    print_note("the replicas did not stop sending; convergence was not checked");
  if (recorded->messages == 0 && arguments.options.replicas > 1) {
    print_note(
        "no replica sent a message; unless the replicas have a network of their own, nothing "
        "was replicated");
  }
  if (!recorded->without_context.empty() && recorded->messages > 0)
    print_note(fmt::format("the deliveries are left out: {}", recorded->without_context));
  return check_run(arguments, recorded->lines, arguments.options.type, limits);
}

// --order and --repeats are the program's promise; an adapter says its own.
void refuse_for_adapter(Command& command, const CrdtRunArguments& arguments) {
  const bool adapter = !arguments.adapter.empty();
  if (!adapter && arguments.options.command.empty())
    throw UsageError("--adapter", "found neither --adapter nor --exec, expected one of them");
  for (const char* option : {"--exec", "--order", "--repeats"}) {
    if (adapter && command.get_option(option)->count() > 0)
      throw UsageError(option, "found it beside --adapter, expected one of them");
  }
  if (!adapter && !arguments.faults.empty())
    throw UsageError("--faults", "found it without --adapter; programs have --order and --repeats");
  if (!adapter && !arguments.edits.empty())
    throw UsageError("--trace", "found it without --adapter, expected a library that replays it");
  if (!adapter && !arguments.reproduce.empty())
    throw UsageError("--reproduce", "found it without --adapter, which writes the script");
  for (const char* option : {"--keys", "--ops"}) {
    if (!arguments.edits.empty() && command.get_option(option)->count() > 0)
      throw UsageError(option, "found it beside --trace, which replays the edits of one text");
  }
  if (!arguments.edits.empty() && !arguments.reproduce.empty())
    throw UsageError("--reproduce",
                     "found it beside --trace, expected one of them: a script is made by leaving "
                     "out requests, and the edits of a trace have positions that rest on all "
                     "edits before; without --trace, --ops makes as many random edits");
}

// Of a run with --adapter.
void add_adapter_options(Command& command, CrdtRunArguments& arguments, const char* group) {
  command
      .add_option("--faults", arguments.faults,
                  "Adapters: "
                  "reordering,duplicates,loss,restart,join,crash,clocks,files,exchange,compaction, "
                  "some of what the library promises to survive, or none. Default: all, which is "
                  "all that it promises")
      ->type_name("LIST")
      ->group(group);
  command
      .add_option("--trace", arguments.edits,
                  "Adapters' texts, with marks or without: replay this editing trace, JSON and "
                  "maybe compressed, in place "
                  "of random operations (docs/crdt-adapters.md#editing-traces)")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--reproduce", arguments.reproduce,
                  "Adapters: if something is wrong, run fewer and fewer of the requests again, and "
                  "write a short script in the library's own API that shows it")
      ->type_name("FILE")
      ->group(group);
}

void add_crdt_run(Command& app, Run& run) {
  auto* command = app.add_subcommand("run",
                                     "Run a library or your own programs as replicas, deliver "
                                     "their messages at random, and check what they return");
  auto arguments = std::make_shared<CrdtRunArguments>();
  auto& options = arguments->options;
  command
      ->add_option("--adapter", arguments->adapter,
                   "A library, such as yjs or automerge, or yjs:text for one of its objects, or "
                   "yjs:text,map for several in one document; or a "
                   "file of your own, with a slash in its path (docs/crdt-adapters.md)")
      ->type_name("NAME");
  command
      ->add_option("--exec", options.command, "The command that sh -c starts once for each replica")
      ->type_name("COMMAND");
  add_type_option(*command, arguments->type, ". May be left out for an object of an adapter");
  add_request_options(*command, options);
  const char* group = "Replicas";
  add_adapter_options(*command, *arguments, group);
  command
      ->add_option("--ops", options.ops,
                   "Number of operations of all replicas together, without the final reads")
      ->type_name("N")
      ->check(whole_number(0, 100000000))
      ->capture_default_str()
      ->group(group);
  command
      ->add_option(
          "--delivery", options.delivery,
          "Probability that the next message of another replica arrives before an operation, "
          "from 0 to 1")
      ->type_name("SHARE")
      ->check(share())
      ->capture_default_str()
      ->group(group);
  command
      ->add_option("--order", arguments->order,
                   "Order of delivery: causal, fifo (each sender's messages in order) or any")
      ->type_name("ORDER")
      ->capture_default_str()
      ->group(group);
  command
      ->add_option("--repeats", options.repeats,
                   "Share of messages that are delivered twice, from 0 to 1")
      ->type_name("SHARE")
      ->check(share())
      ->capture_default_str()
      ->group(group);
  command
      ->add_option("--answer-timeout", options.timeout_seconds,
                   "Seconds to wait for the answer of a replica")
      ->type_name("SECONDS")
      ->check(not_negative())
      ->capture_default_str()
      ->group(group);
  command
      ->add_option("-o,--output", arguments->output,
                   "Write the history to this file, as JSON lines")
      ->check(not_standard_output("the file to write"))
      ->type_name("FILE");
  add_answer_options(*command, *arguments);
  command->footer(
      "Exit code: 0 satisfied and converged, 1 violated or not converged, 2 unknown, 3 a replica\n"
      "does not start, exits early, or violates the protocol in docs/crdt.md#run.\n"
      "\n"
      "Examples:\n"
      "  cupel crdt run --adapter automerge --type counter\n"
      "  cupel crdt run --adapter loro --type list,map,counter\n"
      "  cupel crdt run --adapter delta-crdts:aworset --reproduce aworset.mjs\n"
      "  cupel crdt run --type or-set --exec 'python3 examples/replicated_set.py'\n"
      "  cupel crdt run --type counter --exec ./replica --replicas 5 --order any --repeats 0.1 "
      "--seed 7");
  command->callback([arguments, command, &run] {
    refuse_for_adapter(*command, *arguments);
    arguments->names_replicas = command->get_option("--replicas")->count() > 0;
    if (arguments->adapter.empty()) {
      if (arguments->type.empty()) throw UsageError("--type", "found none, expected a type");
      arguments->options.type = type_or_refused(arguments->type, spec_of(*arguments));
    }
    const std::vector<std::string> orders = {"causal", "fifo", "any"};
    const auto order = std::find(orders.begin(), orders.end(), arguments->order);
    if (order == orders.end())
      throw UsageError("--order",
                       fmt::format("found `{}`, expected {}", arguments->order, one_of(orders)));
    arguments->options.order = static_cast<crdt::Delivery>(order - orders.begin());
    const auto limits = limits_of(*arguments);
    run = [arguments, limits] { return run_replicas(*arguments, limits); };
  });
}

}  // namespace

void add_crdt(Command& app, Run& run) {
  auto* command = add_command(app, "crdt");
  command->require_subcommand(1);
  add_crdt_check(*command, run);
  add_crdt_verify(*command, run);
  add_crdt_generate(*command, run);
  add_crdt_run(*command, run);
  command->footer(
      "Checks the reads of replicas against the axioms of their type under causal consistency.\n"
      "The manual is docs/crdt.md.");
}

}  // namespace cupel::cli
