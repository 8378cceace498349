// The program cupel-proved, for tests: one process that is given many pairs of a history and a
// certificate's text.
#pragma once

#include <string>
#include <vector>

#include "base/process.hpp"
#include "base/temp_dir.hpp"
#include "data/history/history.hpp"

namespace cupel::test {

class ProvedProgram {
 public:
  ProvedProgram();

  enum class Said { kProved, kNotProved, kBadInput };
  // Of a proof text (engine/certify/proof_text.hpp).
  Said run(const history::History& history, const std::string& proof, history::Time drift);
  // Of a replicated data type (crdt/io/canonical.hpp): two texts.
  Said run_replicated(const std::string& history, const std::string& witness);
  [[nodiscard]] const std::string& output() const { return output_; }
  // "satisfied causal" for each answer that it proved.
  [[nodiscard]] std::vector<std::string> proved() const;

 private:
  // Writes the two texts; the words before and after the names of their files.
  Said ask(const std::string& before, const std::string& history, const std::string& proof,
           const std::string& after);

  base::TempDir folder_;
  base::Process process_;
  std::string output_;
};

}  // namespace cupel::test
