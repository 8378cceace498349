// The end of a watch: see the header.
#include "apps/engine/watch_end.hpp"

#include <chrono>
#include <utility>

#include "base/budget.hpp"
#include "data/formats/formats.hpp"
#include "data/history/facts.hpp"
#include "engine/analysis/analyze.hpp"
#include "engine/analysis/evidence.hpp"
#include "engine/analysis/final_reads.hpp"
#include "report/evidence.hpp"
#include "report/final_reads.hpp"

namespace cupel::apps {

namespace {

// Without final reads a longer record is not read again: it hardly shows as little.
constexpr std::uint64_t kShortRecord = 64 << 20;
constexpr double kReadSeconds = 600;  // without --timeout

// None: it is long, or a limit was met.
std::optional<history::History> whole_record(const EndedWatch& watch) {
  const bool is_short = watch.first_bytes && *watch.first_bytes <= kShortRecord;
  if (!is_short && watch.fact(analysis::kFinalReaders).empty()) return std::nullopt;
  const std::chrono::duration<double> timeout(watch.options.timeout_seconds.value_or(kReadSeconds));
  base::Budget budget(timeout, watch.options.memory_limit_bytes);
  auto read = formats::read(watch.record, {.format = formats::Format::kJepsen,
                                           .budget = &budget,
                                           .as = watch.as,
                                           .first_bytes = watch.first_bytes});
  return read.ok() ? std::optional(std::move(read).value()) : std::nullopt;
}

WatchEnd from_record(const EndedWatch& watch, const history::History& history) {
  analysis::Analysis found;
  auto& level = found.check.levels.emplace_back();
  level.level = watch.level;
  level.verdict = base::Verdict::kSatisfied;
  found.final_reads = analysis::final_reads(history);
  found.evidence = analysis::evidence_of(history);
  const report::Checked checked{watch.name, history, found};
  const auto losses = analysis::losses_of(history, found.final_reads, watch.by_name);
  WatchEnd end{.losses = losses.verdict(),
               .why_unknown = report::final_reads_unknown(checked),
               .warnings = report::warnings_of(checked),
               .final_reads = report::final_reads_text(checked)};
  if (found.final_reads) end.final_reads_object = report::final_reads_object(checked);
  return end;
}

WatchEnd from_counts(const EndedWatch& watch) {
  analysis::Losses losses{.gone = watch.fact(analysis::kDataGone),
                          .failed = watch.fact(analysis::kFinalReadsFailed),
                          .by_name = watch.by_name};
  if (losses.gone.empty() && losses.failed.empty() && !watch.by_name &&
      !watch.fact(analysis::kFinalReaders).empty()) {
    losses.failed =
        "the recorded history did not fit into the limits, so its final reads are unchecked. Give "
        "`cupel check` more memory (--memory-limit)";
  }
  WatchEnd end{.losses = losses.verdict(),
               .why_unknown = report::unknown_whether_lost(losses.why_unknown())};
  if (!watch.counts) return end;
  const analysis::Evidence found{.transactions = watch.counts->transactions,
                                 .committed = watch.counts->committed};
  if (found.few())
    end.warnings.push_back(report::few_committed(found.committed, found.transactions));
  return end;
}

}  // namespace

WatchEnd end_of(const EndedWatch& watch) {
  const auto history = whole_record(watch);
  return history ? from_record(watch, *history) : from_counts(watch);
}

}  // namespace cupel::apps
