// Many histories: see the header.
#include "apps/many_histories.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "apps/command.hpp"
#include "base/interrupt.hpp"
#include "base/parallel.hpp"
#include "report/wording.hpp"

namespace cupel::apps {

namespace {

using check::Verdict;

bool is_violated(const analysis::Analysis& analysis) {
  const auto& levels = analysis.check.levels;
  return std::any_of(levels.begin(), levels.end(),
                     [](const auto& level) { return level.verdict == Verdict::kViolated; });
}

bool is_unknown(const Found& found) {
  if (!found.ok()) return false;
  const auto& levels = found->analysis.check.levels;
  return !found->analysis.whole || std::any_of(levels.begin(), levels.end(), [](const auto& level) {
    return level.verdict == Verdict::kUnknown;
  });
}

// A long file has all threads for itself. So has a folder, and what can be read once only.
bool is_short(const std::string& file) {
  constexpr std::uintmax_t kMost = 1 << 20;
  std::error_code problem;
  if (!std::filesystem::is_regular_file(file, problem)) return false;
  const auto size = std::filesystem::file_size(file, problem);
  return !problem && size <= kMost;
}

}  // namespace

analysis::Options ExplainTime::options(analysis::Options of) const {
  if (!shared_) return of;
  const std::lock_guard lock(mutex_);
  if (left_ > 0) return of;
  of.shrink_seconds = 0;
  of.whole_history = false;
  if (very_many_ && of.test_power == analysis::TestPower::kIfPassed)
    of.test_power = analysis::TestPower::kNever;
  return of;
}

void ExplainTime::spend(const analysis::Analysis& analysis) {
  if (!shared_) return;
  double spent = 0;
  for (const auto& stage : analysis.stages) {
    if (stage.name == "explain" || stage.name == "history-analysis" ||
        (very_many_ && stage.name == "test-power")) {
      spent += stage.seconds;
    }
  }
  const std::lock_guard lock(mutex_);
  if (left_ <= 0) ++(is_violated(analysis) ? left_out_ : without_power_);
  left_ -= spent;
}

std::string ExplainTime::left_out() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  if (left_out_ > 0) {
    text = fmt::format("{} violated {} explained as they are, not made smaller",
                       report::grouped(left_out_), left_out_ == 1 ? "history is" : "histories are");
  }
  if (very_many_ && without_power_ > 0) {
    text += fmt::format("{}of {} that passed the test power was not measured",
                        text.empty() ? "" : ", and ", report::grouped(without_power_));
  }
  if (text.empty()) return {};
  return fmt::format("explanations took {} s, so {}; check one alone, or give --shrink-time",
                     seconds_, text);
}

std::vector<Found> analyze_first(std::span<const std::string> files,
                                 const analysis::FileOptions& reading,
                                 const analysis::Options& options, ExplainTime& time,
                                 const Then& then) {
  const std::size_t beside = options.check.team == nullptr ? 96 : 1;  // a team has one at a time
  std::size_t count = 0;
  while (count < std::min(files.size(), beside) && is_short(files[count])) ++count;
  count = std::max<std::size_t>(count, 1);
  std::vector<std::optional<Found>> found(count);
  base::for_each_index(count, count == 1 ? 1 : options.check.threads, [&](std::size_t i) {
    auto its = time.options(options);
    if (count > 1) its.check.threads = 1;
    found[i].emplace(analysis::analyze_file(files[i], reading, its));
    if (found[i]->ok()) time.spend((*found[i])->analysis);
    then(i, *found[i]);
  });
  std::vector<Found> all;
  all.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    // The memory may have been that of those beside it.
    if (count > 1 && options.check.memory_limit_bytes != 0 && is_unknown(*found[i])) {
      found[i].emplace(analysis::analyze_file(files[i], reading, time.options(options)));
      then(i, *found[i]);
    }
    all.push_back(*std::move(found[i]));
  }
  return all;
}

void VerdictTable::add(const Found& found) {
  ++done_;
  if (!found.ok()) {
    ++unreadable_;
    return;
  }
  violated_ += is_violated(found->analysis) ? 1 : 0;
  for (const auto& level : found->analysis.check.levels) count(level.level, level.verdict);
}

void VerdictTable::add(const ResultLine& result) {
  ++done_;
  bool violated = false;
  for (const auto& [level, verdict] : result.verdicts) {
    count(level, verdict);
    violated = violated || verdict == Verdict::kViolated;
  }
  violated_ += violated ? 1 : 0;
}

void VerdictTable::count(levels::Level level, Verdict verdict) {
  Counts& counts = by_level_[level];
  counts.satisfied += verdict == Verdict::kSatisfied ? 1 : 0;
  counts.violated += verdict == Verdict::kViolated ? 1 : 0;
  counts.unknown += verdict == Verdict::kUnknown ? 1 : 0;
  counts.refused += verdict == Verdict::kRefused ? 1 : 0;
}

void VerdictTable::show_progress() const {
  if (histories_ < kManyHistories || isatty(STDERR_FILENO) == 0 || isatty(STDOUT_FILENO) != 0)
    return;
  print_in_place(fmt::format("{} of {} histories, {} violated{}", report::grouped(done_),
                             report::grouped(histories_), report::grouped(violated_),
                             done_ == histories_ ? "\n" : ""));
}

std::string VerdictTable::text() const {
  return histories_ < kManyHistories ? std::string() : whole_text();
}

std::string VerdictTable::whole_text() const {
  auto text = fmt::format("{} {}, {} violated", report::grouped(done_),
                          done_ == 1 ? "history" : "histories", report::grouped(violated_));
  if (unreadable_ > 0) text += fmt::format(", {} could not be read", report::grouped(unreadable_));
  constexpr const char* kRow = "{:<36}{:>10}{:>10}{:>10}{:>10}";
  text += "\n" + fmt::format(kRow, "", "satisfied", "violated", "unknown", "refused") + "\n";
  for (const auto& [level, counts] : by_level_) {
    text += fmt::format(kRow, levels::name(level), report::grouped(counts.satisfied),
                        report::grouped(counts.violated), report::grouped(counts.unknown),
                        report::grouped(counts.refused)) +
            "\n";
  }
  return text;
}

}  // namespace cupel::apps
