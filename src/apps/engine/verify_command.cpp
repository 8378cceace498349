// cupel verify: a second opinion. Checks the certificate that check --certificate
// wrote against the history, with code that shares nothing with check.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/certificate_file.hpp"
#include "apps/command.hpp"
#include "apps/options.hpp"
#include "apps/proved.hpp"
#include "apps/units.hpp"
#include "data/formats/input.hpp"
#include "data/formats/inspect.hpp"
#include "data/formats/line_pieces.hpp"
#include "data/formats/transaction_stream.hpp"
#include "data/history/object_history.hpp"
#include "engine/certify/object_certificate.hpp"
#include "engine/certify/plain_reader.hpp"
#include "engine/certify/verify.hpp"
#include "engine/certify/windows.hpp"
#include "report/verification.hpp"

namespace cupel::apps {

namespace {

struct VerifyArguments {
  std::string history, certificate, format, clock_drift;
  std::vector<std::string> initial;
  InterpretationArguments as;
  bool json = false, proved = false;
  KeptFiles kept;  // with `proved`
};

base::Result<std::string> contents(const std::string& file) {
  if (file == "-") {
    std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
    if (std::cin.bad())
      return base::Error{.message = "cannot read standard input to its end", .file = file};
    return decompressed(std::move(text), file);
  }
  std::error_code unknown;
  if (std::filesystem::is_directory(file, unknown)) {
    return base::Error{
        .message = "found a directory; expected a certificate, which check --certificate writes",
        .file = file};
  }
  const auto content = formats::MappedFile::open(file);
  if (content.ok()) return std::string(content->bytes());
  auto error = content.error();
  error.message += "; expected a certificate, which check --certificate writes";
  return error;
}

// Is the certificate one by windows?
bool is_by_windows(const std::string& file) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(file, unknown)) return false;
  auto lines = formats::LinePieces::open(file);
  if (!lines.ok()) return false;
  const auto piece = lines->next();
  return piece.ok() && certify::is_chain(piece->substr(0, piece->find('\n')));
}

using Prefix = std::optional<report::Verified::Prefix>;

int print_report(const VerifyArguments& arguments, const certify::Report& report,
                 history::Time drift, const Prefix& prefix, const std::string& read_once) {
  if (report.validity == certify::Validity::kBadInput) {
    print_error(base::Error{.message = report.reason, .file = arguments.certificate});
    return kBad;
  }
  const report::Verified verified{arguments.history, arguments.certificate, report, drift, prefix,
                                  read_once};
  arguments.json ? print(report::verification_json(verified))
                 : print_text(report::verification_text(verified));
  return report.validity == certify::Validity::kValid ? kSatisfied : kViolated;
}

// The history, and which part of it.
struct Subject {
  base::Result<history::History> history;
  Prefix prefix = {};
  std::string too_short = {};  // why the certificate cannot be of it
  std::string read_once = {};  // why the second reader did not read it; empty: it did
};

// The same history by the second reader, or why there is none.
struct SecondReading {
  std::optional<base::Result<certify::PlainHistory>> plain;
  std::string reason = "the second reader reads files of operation maps, in JSON or EDN";
};

// An error if the two readers differ, or if the second one cannot read the file.
base::Status compare_readers(const VerifyArguments& arguments, const history::History& history,
                             SecondReading& second, std::string& read_once) {
  if (second.plain && !second.plain->ok()) {
    auto error = std::move(*second.plain).error();
    error.message = fmt::format(
        "the second reader of verify rejects a history that the first one reads: {}. One of the "
        "two is wrong: report this, with the history",
        error.message);
    return error;
  }
  if (second.plain && !(*second.plain)->unread.empty()) second.reason = (*second.plain)->unread;
  if (!second.plain || !(*second.plain)->unread.empty()) {
    read_once = second.reason;
    return base::Ok{};
  }
  const auto found = certify::compare(history, **second.plain, arguments.initial.empty());
  if (found.empty()) return base::Ok{};
  return base::Error{.message = fmt::format("the two readers of verify read different histories: "
                                            "{}. One of them is wrong: report this, with the "
                                            "history",
                                            found),
                     .file = arguments.history};
}

// Of a file that grew after the certificate was written, that part which it is of.
Subject read_history(const VerifyArguments& arguments, formats::ReadOptions reading,
                     std::string_view certificate) {
  std::uint64_t size = 0;
  reading.first_bytes = certify::first_bytes_of(certificate);
  reading.content_bytes = &size;
  SecondReading second;
  const formats::Inspect read_again = [&](formats::Format format, std::string_view content) {
    if (format != formats::Format::kJepsen) return;
    second.plain = certify::read_plainly(
        content, arguments.history,
        {.ignore = reading.as.ignore,
         .transactions = reading.as.kind == formats::Workload::kTransactions});
  };
  Subject subject{formats::read_and_inspect(arguments.history, reading, read_again)};
  if (!subject.history.ok()) return subject;
  auto same = compare_readers(arguments, *subject.history, second, subject.read_once);
  if (!same.ok()) {
    subject.history = std::move(same).error();
    return subject;
  }
  const auto bytes = reading.first_bytes;
  if (!bytes) return subject;
  if (*bytes > size) {
    subject.too_short = fmt::format(
        "the certificate is of the first {} bytes of a history, and this one has {}", *bytes, size);
  } else if (*bytes < size) {
    subject.prefix = {*bytes, size, subject.history->txn_count()};
  }
  return subject;
}

certify::Report report_of(const Subject& subject, std::string_view certificate,
                          history::Time drift) {
  if (subject.too_short.empty()) {
    return certify::verify_answers(*subject.history, certificate, drift);
  }
  return {.validity = certify::Validity::kNotValid, .reason = subject.too_short, .answers = {}};
}

// History and certificate side by side, each read once.
int verify_by_windows(const VerifyArguments& arguments, const formats::ReadOptions& reading,
                      history::Time drift) {
  if (arguments.proved || !arguments.initial.empty()) {
    throw UsageError(arguments.proved ? "--proved" : "--initial",
                     "found a certificate by windows, which goes without it");
  }
  const auto failed = [](const base::Error& error) {
    print_error(error);
    return kBad;
  };
  auto source = formats::holds_cupel(arguments.history)
                    ? formats::stream_history(arguments.history, {}, reading.as)
                    : formats::stream_transactions(arguments.history, reading.as);
  if (!source.ok()) return failed(source.error());
  auto lines = formats::LinePieces::open(arguments.certificate);
  if (!lines.ok()) return failed(lines.error());
  std::string_view piece;
  const certify::NextLine next = [&]() -> base::Result<std::optional<std::string_view>> {
    if (piece.empty()) {
      auto more = lines->next();
      if (!more.ok()) return std::move(more).error();
      piece = *more;
      if (piece.empty()) return std::optional<std::string_view>();
    }
    const auto line = piece.substr(0, piece.find('\n'));
    piece.remove_prefix(line.size() + 1);
    return std::optional(line);
  };
  const auto chain = certify::verify_windows(**source, next, drift);
  if (!chain.ok()) return failed(chain.error());
  if (!chain->violation) {
    return print_report(arguments, chain->report, drift, {},
                        "a certificate by windows is checked while the history is read");
  }
  // What is violated is shown on the history as a whole.
  const auto subject = read_history(arguments, reading, *chain->violation);
  if (!subject.history.ok()) return failed(subject.history.error());
  return print_report(arguments, report_of(subject, *chain->violation, drift), drift,
                      subject.prefix, subject.read_once);
}

int verify_of_objects(const VerifyArguments& arguments, formats::ReadOptions reading,
                      history::Time drift, std::string_view certificate) {
  if (arguments.proved) {
    return bad({.message = "--proved cannot be used with a certificate of objects: the proved "
                           "verifier knows transactions only",
                .file = arguments.certificate});
  }
  history::ObjectHistory objects;
  reading.objects = &objects;
  const auto history = formats::read(arguments.history, reading);
  if (!history.ok()) return bad(history.error());
  if (objects.metadata.empty()) {
    return bad({.message = "found a history of transactions, and the certificate is of objects",
                .file = arguments.history});
  }
  return print_report(arguments, certify::verify_objects(objects, certificate, drift), drift, {},
                      "the second reader reads files of transactions and registers");
}

int verify(const VerifyArguments& arguments, const formats::ReadOptions& reading,
           history::Time drift) {
  const formats::OpenOnce history_once(arguments.history), once(arguments.certificate);
  if (is_certificate(arguments.history)) {
    print_error(certificate_comes_second("verify", arguments.history));
    return kBad;
  }
  if (is_by_windows(arguments.certificate)) return verify_by_windows(arguments, reading, drift);
  const auto certificate = contents(arguments.certificate);
  if (certificate.ok()) {
    if (const auto error = certificate_of_other("verify", *certificate, arguments.certificate)) {
      print_error(*error);
      return kBad;
    }
  }
  if (certificate.ok() && certify::is_object_certificate(*certificate))
    return verify_of_objects(arguments, reading, drift, *certificate);
  const auto subject =
      read_history(arguments, reading, certificate.ok() ? std::string_view(*certificate) : "");
  if (!subject.history.ok()) {
    print_error(subject.history.error());
    return kBad;
  }
  if (!certificate.ok()) {
    print_error(certificate.error());
    return kBad;
  }
  const auto report = report_of(subject, *certificate, drift);
  if (report.validity == certify::Validity::kBadInput) {
    print_error(base::Error{.message = report.reason, .file = arguments.certificate});
    return kBad;
  }
  const report::Verified verified{arguments.history, arguments.certificate, report, drift,
                                  subject.prefix,    subject.read_once};
  std::string text =
      arguments.json ? report::verification_json(verified) : report::verification_text(verified);
  bool well = report.validity == certify::Validity::kValid;
  if (arguments.proved && well) {
    const auto proved = run_proved(
        *subject.history, {.certificate_json = *certificate, .drift = drift, .report = report},
        arguments.kept);
    if (!proved.ok()) {
      print_error(proved.error());
      return kBad;
    }
    text = arguments.json ? with_proved(text, *proved) : text + proved_text(report, *proved);
    well = proved->all;
  }
  arguments.json ? print(text) : print_text(text);
  return well ? kSatisfied : kViolated;
}

}  // namespace

void add_verify(Command& app, Run& run) {
  auto* command = add_command(app, "verify");
  auto arguments = std::make_shared<VerifyArguments>();
  command
      ->add_option("HISTORY", arguments->history,
                   "The history of the certificate. - is standard input")
      ->required()
      ->type_name("");
  command
      ->add_option("CERTIFICATE", arguments->certificate,
                   "The file that `check --certificate` wrote. - is standard input")
      ->required()
      ->type_name("");
  add_format_option(*command, arguments->format);
  command->add_flag("--json", arguments->json, "Print one JSON object on one line");
  auto* proved =
      command->add_flag("--proved", arguments->proved,
                        "Check the certificate with the verifier that is itself proved as well");
  command
      ->add_option(
          "--text", arguments->kept.text,
          "Keep the canonical text of the history, which --proved reads, in this file. - is "
          "standard output")
      ->type_name("FILE")
      ->needs(proved);
  command
      ->add_option("--coq", arguments->kept.coq,
                   "Write history and certificate to this file, as theorems that Coq can check "
                   "(proofs/Text.v). - is standard output")
      ->type_name("FILE")
      ->needs(proved);
  command
      ->add_option(
          "--clock-drift", arguments->clock_drift,
          "Largest error of the clients' clocks. Use the value that check had. The certificate "
          "cannot set it. With ns, us, ms or s; a bare number is nanoseconds. Default: 0")
      ->type_name("DURATION");
  add_initial_option(*command, arguments->initial);
  add_interpretation_options(*command, arguments->as, /*objects=*/true);
  command->footer(
      "Exit code: 0 the certificate proves every verdict in it, 1 it does not (the output says\n"
      "which step is wrong), 3 the history cannot be read or the file is not a certificate.\n"
      "With --proved, 0 also means that the proved verifier accepts every verdict.\n"
      "\n"
      "Examples:\n"
      "  cupel check --certificate proof.json history.jsonl\n"
      "  cupel verify history.jsonl proof.json\n"
      "  cupel verify --json history.jsonl proof.json | jq .valid\n"
      "  cupel verify --proved history.jsonl proof.json");
  command->callback([arguments, &run] {
    const formats::ReadOptions reading{.format = format_of(arguments->format, "--format"),
                                       .initial = initial_values(arguments->initial),
                                       .as = interpretation(arguments->as, /*objects=*/true)};
    if (arguments->history == "-" && arguments->certificate == "-") {
      throw UsageError("CERTIFICATE",
                       "found - twice; standard input is the history or the "
                       "certificate, expected a file for the other");
    }
    history::Time drift = 0;
    if (!arguments->clock_drift.empty()) {
      drift = or_throw(parse_nanoseconds(arguments->clock_drift), "--clock-drift");
    }
    run = [arguments, reading, drift] { return verify(*arguments, reading, drift); };
  });
}

}  // namespace cupel::apps
