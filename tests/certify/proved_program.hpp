// The program cupel-proved, for tests: one process that is given many pairs of a history and a
// certificate's text.
#pragma once

#include <string>

#include "base/process.hpp"
#include "base/temp_dir.hpp"
#include "history/history.hpp"

namespace cupel::test {

class ProvedProgram {
 public:
  ProvedProgram();

  enum class Said { kProved, kNotProved, kBadInput };
  // Of a proof text (certify/proof_text.hpp).
  Said run(const history::History& history, const std::string& proof, history::Time drift);
  [[nodiscard]] const std::string& output() const { return output_; }

 private:
  base::TempDir folder_;
  base::Process process_;
  std::string output_;
};

}  // namespace cupel::test
