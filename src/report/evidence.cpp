// Evidence: see the header.
#include "report/evidence.hpp"

#include <fmt/format.h>

#include "report/wording.hpp"

namespace cupel::report {

std::vector<std::string> evidence_warnings(const Checked& checked) {
  if (!checked.analysis.evidence || checked.analysis.windows) return {};
  const auto& found = *checked.analysis.evidence;
  if (found.committed == 0) {
    return {"nothing committed: a history in which nothing happened satisfies every level"};
  }
  std::vector<std::string> warnings;
  if (found.few()) {
    const auto of = found.committed == found.transactions
                        ? counted(found.committed, "transaction")
                        : fmt::format("{} of {}", grouped(found.committed),
                                      counted(found.transactions, "transaction"));
    warnings.push_back(fmt::format("only {} committed, so the history shows little", of));
  }
  const bool alone = found.sessions == 1;
  if (alone) {
    warnings.emplace_back("all committed transactions are of one session, so none were concurrent");
  } else if (found.never_overlaps) {
    warnings.emplace_back("no two transactions overlap in time, so none were concurrent");
  }
  if (!found.reads) {
    warnings.emplace_back("no transaction read anything, so every order of them is possible");
  } else if (!alone && found.never_reads_others) {
    warnings.emplace_back(
        "no read returned a value that another session wrote, so the reads constrain little");
  }
  return warnings;
}

std::string evidence_text(const Checked& checked) {
  std::string text;
  for (const auto& warning : evidence_warnings(checked)) text += "  warning: " + warning + "\n";
  return text;
}

}  // namespace cupel::report
