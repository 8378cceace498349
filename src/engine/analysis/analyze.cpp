// The steps of an analysis: see the header.
#include "engine/analysis/analyze.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <string_view>
#include <utility>

#include "data/formats/extra_fields.hpp"
#include "data/history/builder.hpp"
#include "data/history/going_on.hpp"
#include "data/history/mask.hpp"
#include "data/history/object_history.hpp"
#include "data/history/times.hpp"
#include "engine/explain/shrink/shrink.hpp"
#include "engine/levels/product.hpp"
#include "engine/levels/streamed_zones.hpp"

namespace cupel::analysis {

using check::Verdict;
using history::History;
using levels::Level;

namespace {

using Lap = base::Stopwatch::Lap;
constexpr auto kWhole = base::Stopwatch::Within::kWhole;

constexpr double kLeastShrinkSeconds = 1, kMostShrinkSeconds = 5;
// Explained at most, of the internal anomalies of a level: as many as --json lists.
constexpr std::size_t kMostAnomalies = 1000;
// The operations above which a history is decided while it is read.
constexpr std::size_t kLeastStreamed = 4'000'000;

std::optional<std::chrono::duration<double>> timeout_of(const check::Options& options) {
  if (!options.timeout_seconds) return std::nullopt;
  return std::chrono::duration<double>(*options.timeout_seconds);
}

// Is nothing violated, or nothing that the database promised?
bool passed(const History& history, const check::CheckResult& result) {
  const auto promised = levels::promised(history);
  for (const auto& level : result.levels) {
    if (level.verdict == Verdict::kViolated &&
        (!promised || levels::implies(*promised, level.level))) {
      return false;
    }
    if (level.verdict == Verdict::kUnknown && promised == level.level) return false;
  }
  return !result.strongest_satisfied.empty();
}

// One analysis: its steps, in the order in which they are taken.
class Pipeline {
 public:
  Pipeline(const History& history, const Options& options, base::Budget& budget)
      : history_(history), options_(options), budget_(budget) {}

  Analysis run() && {
    found_.check = check::check(history_, options_.check, budget_);
    shrink_seconds_ = shrink_seconds();
    shrink();
    if (options_.whole_history) look_at_whole_history();
    found_.final_reads = final_reads(history_);
    weigh_evidence();
    explain();
    measure_test_power();
    return std::move(found_);
  }

 private:
  [[nodiscard]] double shrink_seconds() const {
    if (options_.shrink_seconds) return *options_.shrink_seconds;
    double check_seconds = 0;
    for (const auto& level : found_.check.levels) check_seconds += level.seconds;
    return std::clamp(check_seconds, kLeastShrinkSeconds, kMostShrinkSeconds);
  }

  [[nodiscard]] shrink::Options shrink_for(double seconds) const {
    return {.seconds = seconds,
            .memory_limit_bytes = options_.check.memory_limit_bytes,
            .clock_drift_ns = options_.check.clock_drift_ns};
  }

  void shrink() {
    if (shrink_seconds_ <= 0) return;
    const Lap lap(budget_.stopwatch(), "explain", kWhole);
    const auto began = base::Budget::Clock::now();
    const double seconds = std::min(shrink_seconds_, std::max(budget_.seconds_left(), 1.0));
    found_.counterexamples = shrink::counterexamples(history_, found_.check, shrink_for(seconds));
    // The time is for further causes as well, but first for what is shown first.
    shrink_seconds_ -= std::chrono::duration<double>(base::Budget::Clock::now() - began).count();
  }

  void look_at_whole_history() {
    const Lap lap(budget_.stopwatch(), "history-analysis", kWhole);
    found_.whole_history = counts::analyze_history(history_, found_.check, options_.check, budget_);
    if (!found_.whole_history) return;
    if (shrink_seconds_ > 0) shrink_causes(found_.whole_history->causes);
    counts::count_reported(history_, found_.counterexamples, *found_.whole_history);
  }

  void shrink_causes(counts::RootCauses& causes) const {
    const base::Budget left(
        std::chrono::duration<double>(std::min(shrink_seconds_, budget_.seconds_left())), 0);
    for (auto& cause : causes.found) {
      if (cause.from_check || left.seconds_left() <= 0) continue;
      cause.small =
          shrink::shrink(history_, cause.level, cause.violation, shrink_for(left.seconds_left()));
      if (!cause.small) continue;
      shrink::file_at_weakest(*cause.small, shrink_for(left.seconds_left()));
      cause.level = cause.small->level;
    }
    counts::sort(causes);
  }

  // Counterexamples are explained with what of their transactions is left out, and with the fields
  // of the source.
  void explain() {
    const auto small = counterexamples();
    const auto labels = labels_explained(small);
    if (labels.empty()) return;
    const Lap lap(budget_.stopwatch(), "explain", kWhole);
    if (options_.fields) look_up_fields(labels);
    for (auto* one : small) explain::explain_again(*one, history_, &found_.fields);
  }

  void look_up_fields(const std::set<std::uint32_t>& labels) {
    auto fields = options_.fields(labels, budget_);
    if (fields.ok()) {
      found_.fields = std::move(fields).value();
    } else {
      found_.fields_error = std::move(fields).error();
    }
  }

  [[nodiscard]] std::vector<explain::Counterexample*> counterexamples() {
    std::vector<explain::Counterexample*> all;
    for (auto& one : found_.counterexamples) all.push_back(&one);
    if (!found_.whole_history) return all;
    for (auto& cause : found_.whole_history->causes.found) {
      if (cause.small) all.push_back(&*cause.small);
    }
    return all;
  }

  // Of the transactions that explanations list.
  [[nodiscard]] std::set<std::uint32_t> labels_explained(
      const std::vector<explain::Counterexample*>& small) const {
    std::set<std::uint32_t> labels;
    for (const auto* one : small) {
      for (std::size_t t = 0; t < one->history.txn_count(); ++t) {
        labels.insert(one->history.label(history::TxnId(t)));
      }
    }
    if (!options_.fields) return labels;
    add_writers(labels);
    const auto add = [&](Level at, levels::Violation violation) {
      if (violation.internal.size() > kMostAnomalies) violation.internal.resize(kMostAnomalies);
      for (const auto& anomaly : explain::explain(history_, at, violation)) {
        for (const auto txn : anomaly.listed) labels.insert(history_.label(txn));
      }
    };
    if (found_.whole_history) {
      for (const auto& cause : found_.whole_history->causes.found) {
        if (!cause.small) add(cause.level, cause.violation);
      }
    }
    std::set<Level> seen;  // many levels share one violation
    for (const auto& level : found_.check.levels) {
      const auto at = level.explained_at.value_or(level.level);
      if (level.violation && seen.insert(at).second) add(at, *level.violation);
    }
    return labels;
  }

  // Of what the final reads found to be lost, or not everywhere.
  void add_writers(std::set<std::uint32_t>& labels) const {
    if (!found_.final_reads) return;
    const auto add = [&](history::OpId write) {
      labels.insert(history_.label(history_.txn_of(write)));
    };
    const auto& lost = found_.final_reads->lost;
    const auto& divergent = found_.final_reads->divergent;
    for (std::size_t i = 0; i < std::min(lost.size(), kMostAnomalies); ++i) add(lost[i].last);
    for (std::size_t i = 0; i < std::min(divergent.size(), kMostAnomalies); ++i) {
      for (const auto write : divergent[i].writes) add(write);
    }
  }

  void weigh_evidence() {
    bool satisfied = false;
    for (const auto& level : found_.check.levels) {
      if (level.verdict == Verdict::kViolated) return;
      satisfied = satisfied || level.verdict == Verdict::kSatisfied;
    }
    const bool well = !found_.final_reads || found_.final_reads->well();
    if (satisfied && well) found_.evidence = evidence_of(history_);
  }

  void measure_test_power() {
    const bool asked = options_.test_power == TestPower::kAlways ||
                       (options_.test_power == TestPower::kIfPassed &&
                        options_.check.asked.empty() && passed(history_, found_.check));
    if (!asked) return;
    const Lap lap(budget_.stopwatch(), "test-power", kWhole);
    try {
      const base::AllocationWatch watch(&budget_);
      found_.test_power = power::measure(history_, budget_);
    } catch (const std::bad_alloc&) {  // by the watch, or the system's own limit
      if (budget_.limit() == base::Limit::kNone) throw;
      found_.test_power.emplace();
      found_.test_power->limit_met = true;
    }
  }

  const History& history_;
  const Options& options_;
  base::Budget& budget_;
  double shrink_seconds_ = 0;  // left
  Analysis found_;
};

// Whether a long history of single operations is linearizable, decided while it is read. None where
// something else is asked, or where only the owner of the history knows.
std::optional<check::CheckResult> decide_while_reading(const std::string& path,
                                                       const FileOptions& file,
                                                       const Options& options,
                                                       base::Budget& budget) {
  if (!file.verdicts_only || file.masked || file.going_on || file.first_bytes ||
      options.test_power == TestPower::kAlways ||
      options.check.asked != std::vector{Level::kLinearizable} ||
      options.check.clock_drift_ns != 0 || options.check.evidence) {
    return std::nullopt;
  }
  levels::StreamedZones zones(budget);
  const Lap lap(budget.stopwatch(), "read");
  if (!formats::stream(path,
                       {.format = file.format,
                        .threads = options.check.threads,
                        .budget = &budget,
                        .initial = file.initial,
                        .as = file.as},
                       kLeastStreamed, zones)) {
    return std::nullopt;
  }
  const auto decided_by = zones.decide();
  if (!decided_by) return std::nullopt;
  check::CheckResult result;
  auto& level = result.levels.emplace_back();
  level.level = Level::kLinearizable;
  level.verdict = Verdict::kSatisfied;
  level.decided_by = std::string(*decided_by);
  result.strongest_satisfied = {Level::kLinearizable};
  return result;
}

History empty_history() {
  return std::move(history::HistoryBuilder()).finish().value();
}

}  // namespace

Analysis analyze(const History& history, const Options& options) {
  base::Budget budget(timeout_of(options.check), options.check.memory_limit_bytes);
  return analyze(history, options, budget);
}

Analysis analyze(const History& history, const Options& options, base::Budget& budget) {
  return Pipeline(history, options, budget).run();
}

Analysis unread(const Options& options, const std::string& detail) {
  Analysis found;
  found.check = check::unread(options.check, detail);
  found.whole = false;
  return found;
}

base::Result<AnalyzedFile> analyze_file(const std::string& path, const FileOptions& file,
                                        const Options& options) {
  base::Budget budget(timeout_of(options.check), options.check.memory_limit_bytes);
  if (auto result = decide_while_reading(path, file, options, budget)) {
    return AnalyzedFile{.history = empty_history(), .analysis = {.check = *std::move(result)}};
  }
  Source source(path);
  std::shared_ptr<history::ObjectHistory> objects;
  if (file.objects) objects = std::make_shared<history::ObjectHistory>();
  auto read = [&] {
    const Lap lap(budget.stopwatch(), "read");
    return formats::read(path, {.format = file.format,
                                .threads = options.check.threads,
                                .budget = &budget,
                                .initial = file.initial,
                                .as = file.as,
                                .first_bytes = file.first_bytes,
                                .objects = objects.get()});
  }();
  if (!read.ok() && !read.error().limit_met) return std::move(read).error();
  AnalyzedFile result{empty_history(), {}};
  if (read.ok() && objects && !objects->metadata.empty()) {
    result.objects = std::move(objects);
    return result;
  }
  if (read.ok()) {
    result.history = std::move(read).value();
    if (file.going_on) {
      const auto open = history::open_compares(result.history, history::going_on(result.history));
      result.left_open = !open.failed.empty() || !open.reads.empty();
      if (result.left_open) {
        result.history = history::with_open_compares(std::move(result.history), open);
      }
    }
    if (file.masked) {
      const auto reads = file.masked(result.history);
      result.history = history::with_unknown(std::move(result.history), reads);
    }
    if (const auto part = result.history.fact("part"); !part.empty()) {
      return base::Error{
          .message = fmt::format("found the part of sessions {} of a run by several workers, "
                                 "expected the whole: without the others, what they wrote seems to "
                                 "come from nobody; `cupel merge` joins them",
                                 part),
          .file = path};
    }
    const auto drift = options.check.clock_drift_ns;
    if (auto refusal = history::drift_refusal(result.history, drift))
      return base::Error{.message = *std::move(refusal), .file = path};
    auto with_fields = options;
    if (!with_fields.fields) with_fields.fields = fields_of_file(std::move(source), result.history);
    result.analysis = analyze(result.history, with_fields, budget);
  } else {
    result.analysis = unread(options, read.error().message);
  }
  result.analysis.stages = budget.stopwatch().stages();
  result.analysis.limit = budget.limit();
  result.first_bytes = file.first_bytes;
  return result;
}

FieldsOfLabels fields_of_file(Source source, const History& history) {
  return [source = std::move(source), format = history.fact("format")](
             const std::set<std::uint32_t>& labels,
             base::Budget& budget) -> base::Result<explain::FieldsByLabel> {
    if (!formats::has_extra_fields(format)) return explain::FieldsByLabel();
    auto fields = formats::extra_fields(source.path(), format, labels, &budget);
    if (source.is_unchanged()) return fields;  // also while it was read
    return base::Error{.message =
                           "the file has changed since the history was read, so the "
                           "explanations do not show its other fields; read it again",
                       .file = source.path()};
  };
}

}  // namespace cupel::analysis
