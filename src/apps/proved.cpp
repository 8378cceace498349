// proved: see the header.
#include "apps/proved.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/command.hpp"
#include "apps/coq_file.hpp"
#include "base/budget.hpp"
#include "base/process.hpp"
#include "base/read_file.hpp"
#include "base/temp_dir.hpp"
#include "base/text/json.hpp"
#include "base/write_file.hpp"
#include "engine/certify/proof_text.hpp"

namespace cupel::apps {

namespace {

constexpr base::Seconds kForever{1e9};

base::Status write_history(const history::History& history, const std::string& file) {
  base::Status status = base::write_file(file, "");
  if (!status.ok()) return status;
  const auto wrong = certify::write_canonical(history, [&](std::string_view part) {
    if (status.ok()) status = base::write_file(file, part, base::WriteMode::kAppend);
  });
  if (wrong) return base::Error{.message = *wrong};
  return status;
}

// No file: nothing.
base::Status keep_coq(std::string_view history, std::string_view certificate, history::Time drift,
                      const std::string& file) {
  if (file.empty()) return base::Ok{};
  const auto coq = coq_file(history, certificate, drift);
  if (!coq.ok()) return coq.error();
  if (file != "-") return base::write_file(file, *coq);
  print(*coq);
  return base::Ok{};
}

// What the program prints of an answer: from the answer that it proved, not from this one.
std::string line_of(const certify::ProvenAnswer& answer, history::Time drift) {
  return fmt::format("proved {} {}, drift {} ns", answer.satisfied ? "satisfied" : "violated",
                     answer.level, drift);
}

// "": the program proved what the report says of the answers that it was given.
std::string disagreement(const CheckedCertificate& checked,
                         const std::vector<std::string>& left_out, const ProgramReport& said) {
  std::vector<std::string> expected;
  for (std::size_t i = 0; i < left_out.size(); ++i) {
    if (left_out[i].empty()) expected.push_back(line_of(checked.report.answers[i], checked.drift));
  }
  if (expected.empty() && said.proved.empty()) return "";
  if (!said.agrees) return said.output.empty() ? "the program does not agree" : said.output;
  if (said.proved == expected) return "";
  return fmt::format("the program says `{}`, expected `{}`", fmt::join(said.proved, "; "),
                     fmt::join(expected, "; "));
}

}  // namespace

base::Result<std::string> find_proved_program() {
  namespace fs = std::filesystem;
  std::error_code none;
  const auto folder = fs::read_symlink("/proc/self/exe", none).parent_path();
  const auto beside = folder / "cupel-proved",
             installed = folder.parent_path() / "libexec/cupel/cupel-proved";
  for (const auto& at : {beside, installed}) {
    if (fs::exists(at, none)) return at.string();
  }
  return base::Error{
      .message = fmt::format(
          "--proved needs the program cupel-proved, and there is neither {} nor {}; build and "
          "install cupel where OCaml is (Debian: ocaml-nox), which makes it",
          beside.string(), installed.string())};
}

base::Result<ProgramReport> run_program(std::vector<std::string> arguments) {
  const auto program = find_proved_program();
  if (!program.ok()) return program.error();
  arguments.insert(arguments.begin(), *program);
  auto process = base::Process::start({.arguments = std::move(arguments),
                                       .output = base::Stream::pipe(),
                                       .errors = base::Stream::output()});
  if (!process.ok()) return process.error();
  ProgramReport report;
  std::istringstream lines(process->read_all(kForever).value_or(""));
  std::string line;
  while (std::getline(lines, line)) {
    constexpr std::string_view kDigest = "digest ";
    if (line.starts_with(kDigest)) {
      report.digest = line.substr(kDigest.size());
    } else if (line.starts_with("proved ")) {
      report.proved.push_back(line);
    } else {
      report.output += (report.output.empty() ? "" : "; ") + line;
    }
  }
  const auto status = process->wait(kForever);
  if (!status || !status->known || status->signal != 0 || status->code > 1) {
    return base::Error{.message =
                           fmt::format("{} {}: {}", *program,
                                       status ? status->to_string() : std::string("did not end"),
                                       report.output)};
  }
  report.agrees = status->well();
  return report;
}

base::Result<ProvedReport> run_proved(const history::History& history,
                                      const CheckedCertificate& checked, const KeptFiles& kept) {
  if (const auto program = find_proved_program(); !program.ok()) return program.error();
  const auto folder = base::TempDir::make("cupel-proved-");
  if (!folder.ok()) return folder.error();
  const bool to_output = kept.text == "-";
  const std::string file = kept.text.empty() || to_output ? folder->file("history.txt") : kept.text;
  if (auto status = write_history(history, file); !status.ok()) return status.error();
  auto text = certify::proof_text(history, checked.certificate_json, checked.drift);
  if (!text.trouble.empty()) return base::Error{.message = text.trouble};
  const std::string certificate = folder->file("certificate.txt");
  if (auto status = base::write_file(certificate, text.text); !status.ok()) return status.error();
  if (!kept.coq.empty() || to_output) {
    const auto history_text = base::read_file(file);
    if (!history_text.ok()) return history_text.error();
    if (to_output) print(*history_text);
    if (auto status = keep_coq(*history_text, text.text, checked.drift, kept.coq); !status.ok())
      return status.error();
  }

  const auto said = run_program({file, certificate, std::to_string(checked.drift)});
  if (!said.ok()) return said.error();
  const std::string other = disagreement(checked, text.left_out, *said);
  ProvedReport report{.all = false,
                      .agrees = other.empty(),
                      .digest = said->digest,
                      .output = other,
                      .left_out = std::move(text.left_out)};
  report.all = report.agrees && !report.left_out.empty() &&
               std::all_of(report.left_out.begin(), report.left_out.end(),
                           [](const std::string& why) { return why.empty(); });
  return report;
}

std::string proved_text(const certify::Report& report, const ProvedReport& proved) {
  if (!proved.agrees) {
    return fmt::format(
        "not proved: the two verifiers disagree: {}. Please report this history and certificate\n",
        proved.output);
  }
  std::string text;
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < proved.left_out.size(); ++i) {
    if (proved.left_out[i].empty()) continue;
    ++left_out;
    text += fmt::format("not proved: {}: {}\n", report.answers[i].level, proved.left_out[i]);
  }
  return text + fmt::format("proved: {} of {} answers\ncanonical text: sha256 {}\n",
                            proved.left_out.size() - left_out, proved.left_out.size(),
                            proved.digest);
}

std::string with_proved(const std::string& json_line, const ProvedReport& proved) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  auto json = nlohmann::ordered_json::parse(json_line);
  auto& to = json["proved"];
  to = {{"all", proved.all}, {"agrees", proved.agrees}, {"sha256", proved.digest}};
  to["answers"] = nlohmann::ordered_json::array();
  for (const std::string& why : proved.left_out)
    to["answers"].push_back(proved.agrees && why.empty());
  return text::dump(json) + "\n";
}

}  // namespace cupel::apps
