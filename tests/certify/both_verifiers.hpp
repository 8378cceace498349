// The verifier in C++ and the one that is proved, for tests that compare what they say.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/random.hpp"
#include "certify/proved_program.hpp"
#include "engine/check/check.hpp"
#include "engine/levels/spec.hpp"
#include "support/history_language.hpp"

namespace cupel::test {

// With evidence, of one level.
check::CheckResult check_at(const history::History& h, levels::Level level, history::Time drift);

// A line dropped, repeated or swapped, or a number changed.
std::string changed_text(const std::string& text, base::Random& random);
// A value, a status or a time of the history changed, or an operation dropped.
Sketch changed_history(Sketch sketch, base::Random& random);
// A build of what is no history fails; then there is nothing to compare.
std::optional<history::History> built(const Sketch& sketch);

class BothVerifiers {
 public:
  // What both say of a certificate of the history. "": they agree. A certificate that the one in
  // C++ rejects is translated as it stands, wrong or not; if the proved one accepts that, which may
  // be, its answers must be those of the engine.
  std::string compare(const history::History& h, const std::string& json, history::Time drift);
  // If the changed text is accepted, its answers are those of the engine.
  std::string compare_text(const history::History& h, const std::string& text, history::Time drift);

  // Certificates that the one in C++ rejected, without those that the reader rejects; and on how
  // many of them the other one was asked as well.
  [[nodiscard]] std::size_t rejected() const { return rejected_; }
  [[nodiscard]] std::size_t rejected_and_shown() const { return rejected_and_shown_; }
  // How often they said what, and what was accepted in C++ alone, because a rule is not proved.
  [[nodiscard]] const std::map<std::string, std::size_t>& seen() const { return seen_; }
  [[nodiscard]] const std::map<std::string, std::size_t>& left_out() const { return left_out_; }

 private:
  // Of the answers that the program proved last. "": none is wrong.
  std::string unlike_the_engine(const history::History& h, history::Time drift) const;

  ProvedProgram program_;
  std::size_t rejected_ = 0, rejected_and_shown_ = 0;
  std::map<std::string, std::size_t> seen_, left_out_;
};

}  // namespace cupel::test
