// proved: `verify --proved`. Writes history and certificate as the canonical text and runs the
// program cupel-proved, which is extracted from the proofs in proofs/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "data/history/history.hpp"
#include "engine/certify/verify.hpp"

namespace cupel::apps {

struct ProvedReport {
  bool all = false;     // every answer of the certificate is proved
  bool agrees = false;  // the program proved the answers that were written for it, and no others
  std::string digest;   // SHA-256 of the history's canonical text, as the program read it
  std::string output;   // what the program says, if it does not agree
  // By answer: why it was not given to the program; else empty.
  std::vector<std::string> left_out;
};

// Files that are kept; empty: none; -: standard output.
struct KeptFiles {
  std::string text;  // the history's canonical text
  std::string coq;   // text and certificate as theorems (coq_file.hpp)
};

// A certificate, and what the verifier in C++ says of it.
struct CheckedCertificate {
  std::string_view certificate_json;
  history::Time drift;
  const certify::Report& report;
};
// Errors: the program is not there, a file cannot be written, the certificate cannot be read.
base::Result<ProvedReport> run_proved(const history::History& history,
                                      const CheckedCertificate& checked, const KeptFiles& kept);

// The program cupel-proved: beside this one, or where it is installed.
base::Result<std::string> find_proved_program();

// What the program cupel-proved says of two texts.
struct ProgramReport {
  bool agrees = false;              // it accepts them
  std::string digest;               // SHA-256 of the history's text, as it read it
  std::vector<std::string> proved;  // a line for each answer
  std::string output;               // all other lines, as one
};
// Errors: the program is not there, or cannot read the texts.
base::Result<ProgramReport> run_program(std::vector<std::string> arguments);

// A sentence for each answer that is not proved, and one about the rest.
std::string proved_text(const certify::Report& report, const ProvedReport& proved);
// The JSON of a verification, with what is proved.
std::string with_proved(const std::string& json_line, const ProvedReport& proved);

}  // namespace cupel::apps
