// The search through the stronger levels, and through the anomalies of each.
#include "mock/mocktest/failure_cause.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "base/budget.hpp"
#include "data/history/mask.hpp"
#include "engine/levels/level.hpp"

namespace cupel::mocktest {

namespace {

constexpr int kMostExcluded = 30;

// The committed transaction with reads that ended last.
std::optional<history::TxnId> find_last_reader(const history::History& history) {
  std::optional<history::TxnId> last;
  for (std::uint32_t at = 0; at < history.txn_count(); ++at) {
    const history::TxnId txn(at);
    if (history.status(txn) != history::TxnStatus::kCommitted) continue;
    if (last && history.label(txn) < history.label(*last)) continue;
    for (auto op = history.first_op(txn); op < history.last_op(txn); ++op) {
      if (history.kind(history::OpId(op)) == history::OpKind::kRead) last = txn;
    }
  }
  return last;
}

class CauseSearch {
 public:
  CauseSearch(const history::History& history, const analysis::Options& options)
      : history_(history),
        options_(options),
        budget_(options.check.timeout_seconds
                    ? std::optional(std::chrono::duration<double>(*options.check.timeout_seconds))
                    : std::nullopt,
                options.check.memory_limit_bytes),
        last_reader_(find_last_reader(history)),
        rest_(history) {}

  FailureCause run(mock::Level level, std::optional<levels::Level> ended_by) && {
    for (const auto stronger : mock::kLevels) {
      if (stronger <= level) continue;
      if (!look_at(*levels::parse_level(mock::name(stronger)))) break;
    }
    // Databases promise that; of a store that does, too, it shows that it was kept.
    if (!cause_.involves_last_reader && !cause_.unknown() && history_.has_all_times()) {
      look_at(levels::Level::kStrictSerializable);
    }
    if (ended_by && !was_checked(*ended_by)) {
      if (cause_.anomaly) {
        cause_.checks.push_back(analyze(history_, *ended_by, {}));
      } else if (!cause_.unknown()) {
        look_at(*ended_by);
      }
    }
    if (!cause_.anomaly) return std::move(cause_);
    if (last_reader_) {
      cause_.last_reader_session = history_.session_name(history_.session(*last_reader_));
    }
    cause_.counts = count(cause_.anomaly->analysis.check.levels.front().level);
    return std::move(cause_);
  }

 private:
  // False: no stronger level is to be checked.
  bool look_at(levels::Level level) {
    auto checked = analyze(history_, level, {.shrunk = !cause_.anomaly});
    cause_.checks.push_back(checked);
    const auto verdict = checked.check.levels.front().verdict;
    if (verdict == check::Verdict::kUnknown && !cause_.anomaly) return false;
    if (verdict != check::Verdict::kViolated) return true;
    if (cause_.anomaly) checked = analyze(rest_, level, {.shrunk = true});
    while (checked.check.levels.front().verdict == check::Verdict::kViolated) {
      if (!cause_.weakest_violated) cause_.weakest_violated = level;
      const auto reads = reads_of(checked.counterexamples);
      const bool involved = involves_last_reader(checked.counterexamples);
      const bool observed = !involved && observed_by_last_reader(checked.counterexamples);
      if (involved || !cause_.anomaly || (observed && !cause_.observed_by_last_reader)) {
        cause_.anomaly = FailureCause::Anomaly{rest_, std::move(checked)};
        cause_.observed_by_last_reader = observed;
      }
      cause_.involves_last_reader = involved;
      if (involved || !last_reader_ || reads.empty()) break;
      if (++cause_.excluded == kMostExcluded) break;
      rest_ = history::with_unknown(std::move(rest_), reads);
      checked = analyze(rest_, level, {.shrunk = true});
    }
    if (cause_.involves_last_reader) return false;
    return !cause_.anomaly || (last_reader_ && cause_.excluded < kMostExcluded);
  }

  [[nodiscard]] bool was_checked(levels::Level level) const {
    return std::any_of(cause_.checks.begin(), cause_.checks.end(), [&](const auto& checked) {
      return checked.check.levels.front().level == level;
    });
  }

  struct Steps {
    bool shrunk = false, counted = false;
  };
  analysis::Analysis analyze(const history::History& history, levels::Level level,
                             const Steps& steps) {
    auto options = options_;
    options.check.asked = {level};
    if (!steps.shrunk) options.shrink_seconds = 0;
    options.whole_history = steps.counted;
    options.test_power = analysis::TestPower::kNever;
    return analysis::analyze(history, options, budget_);
  }
  analysis::Analysis count(levels::Level level) {
    return analyze(history_, level, {.counted = true});
  }

  [[nodiscard]] std::vector<history::OpId> reads_of(
      const std::vector<explain::Counterexample>& counterexamples) const {
    std::vector<history::OpId> reads;
    for (const auto& counterexample : counterexamples) {
      for (const auto txn : counterexample.original_txn) {
        for (auto op = history_.first_op(txn); op < history_.last_op(txn); ++op) {
          reads.emplace_back(op);
        }
      }
    }
    return reads;
  }
  [[nodiscard]] bool involves_last_reader(
      const std::vector<explain::Counterexample>& counterexamples) const {
    for (const auto& counterexample : counterexamples) {
      for (const auto txn : counterexample.original_txn) {
        if (last_reader_ && txn == *last_reader_) return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool observed_by_last_reader(
      const std::vector<explain::Counterexample>& counterexamples) const {
    if (!last_reader_) return false;
    const auto observed = [&](history::OpId write) {
      const auto written = history_.op(write);
      if (written.kind != history::OpKind::kWrite) return false;
      for (auto op = history_.first_op(*last_reader_); op < history_.last_op(*last_reader_); ++op) {
        const auto read = history_.op(history::OpId(op));
        if (read.kind == history::OpKind::kRead && read.key == written.key &&
            read.value == written.value) {
          return true;
        }
      }
      return false;
    };
    for (const auto& counterexample : counterexamples) {
      for (const auto txn : counterexample.original_txn) {
        for (auto op = history_.first_op(txn); op < history_.last_op(txn); ++op) {
          if (observed(history::OpId(op))) return true;
        }
      }
    }
    return false;
  }

  const history::History& history_;
  const analysis::Options& options_;
  base::Budget budget_;
  const std::optional<history::TxnId> last_reader_;
  history::History rest_;  // without the reads of excluded anomalies
  FailureCause cause_;
};

}  // namespace

FailureCause find_failure_cause(const history::History& history, mock::Level level,
                                const analysis::Options& options,
                                std::optional<levels::Level> ended_by) {
  return CauseSearch(history, options).run(level, ended_by);
}

}  // namespace cupel::mocktest
