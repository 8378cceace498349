// crdt proved: `crdt verify --proved`. Writes history and witness as the canonical text and runs
// the program cupel-proved.
#pragma once

#include <string>
#include <string_view>

#include "apps/proved.hpp"
#include "base/result.hpp"
#include "crdt/io/canonical.hpp"

namespace cupel::apps {

struct ProvedWitness {
  std::string left_out;   // what is not proved of it, so that the program was not asked; else empty
  ProgramReport program;  // what it said
  [[nodiscard]] bool is_proved() const { return left_out.empty() && program.agrees; }
};

// Errors: the program is not there, a file cannot be written. `kept`: a file for the history's
// text; empty: none.
base::Result<ProvedWitness> run_proved(const crdt::History& history, std::string_view certificate,
                                       const std::string& kept);

// One or two lines.
std::string proved_text(const ProvedWitness& proved);

}  // namespace cupel::apps
