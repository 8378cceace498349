// Evidence: see the header.
#include "report/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/visible.hpp"
#include "engine/analysis/final_reads.hpp"
#include "report/final_reads.hpp"
#include "report/wording.hpp"

namespace cupel::report {

std::string few_committed(std::uint64_t committed, std::uint64_t transactions) {
  const auto of = committed == transactions ? counted(committed, "transaction")
                                            : fmt::format("{} of {}", grouped(committed),
                                                          counted(transactions, "transaction"));
  return fmt::format("only {} committed, so the history shows little", of);
}

std::vector<std::string> evidence_warnings(const Checked& checked) {
  if (!checked.analysis.evidence || checked.analysis.windows) return {};
  const auto& found = *checked.analysis.evidence;
  if (found.committed == 0) {
    return {"nothing committed: a history in which nothing happened satisfies every level"};
  }
  std::vector<std::string> warnings;
  if (found.few()) warnings.push_back(few_committed(found.committed, found.transactions));
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

std::vector<std::string> warnings_of(const Checked& checked) {
  auto warnings = evidence_warnings(checked);
  if (auto unknown = final_reads_unknown(checked); !unknown.empty())
    warnings.insert(warnings.begin(), std::move(unknown));
  // Why it is unknown says it too, unless another reason does.
  const auto gone = checked.history.fact(analysis::kDataGone);
  const bool said =
      !warnings.empty() && warnings.front().find(base::visible(gone)) != std::string::npos;
  if (!gone.empty() && !said) warnings.insert(warnings.begin(), base::visible(gone));
  return warnings;
}

std::string warnings_text(const Checked& checked) {
  std::string text;
  for (const auto& warning : warnings_of(checked)) text += "  warning: " + warning + "\n";
  return text;
}

std::string warnings_text_by_file(const Checked& checked) {
  std::string text;
  for (const auto& warning : warnings_of(checked)) {
    text += fmt::format("  warning: {}: {}\n", base::visible(checked.file), warning);
  }
  return text;
}

namespace {

base::Error nothing_committed(const std::string& file, std::string_view counts) {
  return {.message = fmt::format("no transaction committed{}, so a verdict would say nothing about "
                                 "the database. Record a run in which transactions commit",
                                 counts),
          .file = file};
}

}  // namespace

base::Error nothing_committed(const std::string& file) {
  return nothing_committed(file, "");
}

std::optional<base::Error> nothing_committed(const Checked& checked) {
  const auto& levels = checked.analysis.check.levels;
  const bool violated = std::any_of(levels.begin(), levels.end(), [](const auto& level) {
    return level.verdict == check::Verdict::kViolated;
  });
  if (violated) return std::nullopt;
  if (const auto& windows = checked.analysis.windows) {
    if (windows->transactions == 0 || windows->committed > 0) return std::nullopt;
    return nothing_committed(checked.file, "");
  }
  const auto& found = checked.analysis.evidence;
  if (!found || !found->nothing_committed()) return std::nullopt;
  std::uint64_t aborted = 0;
  const auto& h = checked.history;
  for (std::uint32_t t = 0; t < h.txn_count(); ++t) {
    aborted += h.status(history::TxnId(t)) == history::TxnStatus::kAborted ? 1 : 0;
  }
  return nothing_committed(checked.file,
                           fmt::format(": {} aborted, {} with an unknown outcome", grouped(aborted),
                                       grouped(found->transactions - aborted)));
}

}  // namespace cupel::report
