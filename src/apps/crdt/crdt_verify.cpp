// cupel crdt verify: certificates of histories of replicated data types.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/certificate_file.hpp"
#include "apps/command.hpp"
#include "apps/crdt/crdt_arguments.hpp"
#include "apps/crdt/crdt_proved.hpp"
#include "apps/crdt/crdt_subcommands.hpp"
#include "apps/emit.hpp"
#include "apps/options.hpp"
#include "base/budget.hpp"
#include "base/text/json.hpp"
#include "crdt/verify/verify_recording.hpp"

namespace cupel::apps {

namespace {

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
  const auto lines = crdt_lines(arguments.history);
  if (!lines.ok()) return lines.error();
  auto recording =
      read_crdt_recording(*lines, arguments.history, type, arguments.threads, drift_ns, *outcome);
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

int verify_crdt(const CrdtArguments& arguments, std::optional<crdt::NamedType> asked,
                std::int64_t drift_ns) {
  if (is_certificate(arguments.history)) {
    print_error(certificate_comes_second("crdt verify", arguments.history));
    return kBad;
  }
  const auto certificate = crdt_contents(arguments.certificate);
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

}  // namespace

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
  add_crdt_type_option(*command, arguments->type, ". Default: that of the certificate");
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
    if (!arguments->type.empty()) type = crdt_type(arguments->type);
    if (arguments->history == "-" && arguments->certificate == "-") {
      throw UsageError("CERTIFICATE",
                       "found - twice; standard input is the history or the certificate, "
                       "expected a file for the other");
    }
    const auto drift_ns = crdt_clock_drift(*arguments);
    run = [arguments, type, drift_ns] { return verify_crdt(*arguments, type, drift_ns); };
  });
}

}  // namespace cupel::apps
