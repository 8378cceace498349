// many histories: what `cupel check` does differently with several of them.
//
// They share the time in which violations are made small and the whole history is analyzed; very
// many also that in which the power of tests is measured. Short files are decided beside each
// other, and their reports written. Of very many, a table of the verdicts comes last, on standard
// error, and before it how far the check is, if that is a terminal and the answers go elsewhere.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/result_line.hpp"
#include "base/result.hpp"
#include "engine/analysis/analyze.hpp"
#include "engine/levels/level.hpp"

namespace cupel::apps {

// From so many on there is a table, and a report has pages only for histories that do not pass.
inline constexpr std::size_t kManyHistories = 20;

// The time for explanations beyond what the check itself finds. Thread-safe.
class ExplainTime {
 public:
  // `shared`: the histories have some seconds together; else each has what its options say.
  ExplainTime(bool shared, std::size_t histories)
      : shared_(shared), very_many_(histories >= kManyHistories) {}

  // For the next history: without making violations smaller, without analyzing the whole history
  // and, of very many, without the test power that nobody asked for, if there is no time left.
  [[nodiscard]] analysis::Options options(analysis::Options of) const;
  // What the history has taken.
  void spend(const analysis::Analysis& analysis);
  // A sentence about those that had no time; empty: all had.
  [[nodiscard]] std::string left_out() const;

 private:
  const bool shared_, very_many_;
  const double seconds_ = very_many_ ? 1 : 3;  // of very many, most would have none of three either
  mutable std::mutex mutex_;
  double left_ = seconds_;
  std::size_t left_out_ = 0;  // violated histories
  std::size_t without_power_ = 0;
};

using Found = base::Result<analysis::AnalyzedFile>;

// What to do with a history once it is analyzed, by its place among `files`. Several threads call
// it.
using Then = std::function<void(std::size_t place, const Found& found)>;

// The analyses of the first of these files, in their order: of one, or of several short ones beside
// each other. There is at least one file. `then` may be called again with another answer.
std::vector<Found> analyze_first(std::span<const std::string> files,
                                 const analysis::FileOptions& reading,
                                 const analysis::Options& options, ExplainTime& time,
                                 const Then& then);

// The verdicts of all histories.
class VerdictTable {
 public:
  explicit VerdictTable(std::size_t histories) : histories_(histories) {}

  void add(const Found& found);
  // That was decided before, or by another shard.
  void add(const ResultLine& result);
  // How far the check is, a line that the next one replaces.
  void show_progress() const;
  // Empty if there are few histories.
  [[nodiscard]] std::string text() const;
  // However many there are.
  [[nodiscard]] std::string whole_text() const;

 private:
  struct Counts {
    std::size_t satisfied = 0, violated = 0, unknown = 0, refused = 0;
  };
  void count(levels::Level level, check::Verdict verdict);

  std::size_t histories_, done_ = 0, violated_ = 0, unreadable_ = 0;
  std::map<levels::Level, Counts> by_level_;
};

}  // namespace cupel::apps
