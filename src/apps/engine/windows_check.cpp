// windows check: see the header.
#include "apps/engine/windows_check.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "apps/command.hpp"
#include "apps/engine/windows_final_reads.hpp"
#include "apps/units.hpp"
#include "base/interrupt.hpp"
#include "data/formats/cupel_stream.hpp"
#include "data/formats/decompress.hpp"
#include "data/formats/formats.hpp"
#include "data/formats/input.hpp"
#include "data/formats/open_file.hpp"
#include "data/formats/transaction_stream.hpp"
#include "data/history/builder.hpp"
#include "data/history/facts.hpp"
#include "data/history/times.hpp"
#include "engine/analysis/final_reads.hpp"
#include "engine/online/chain.hpp"
#include "engine/online/file_check.hpp"
#include "engine/online/file_plan.hpp"
#include "report/wording.hpp"

namespace cupel::apps {

using check::LevelResult;
using check::Verdict;
using levels::Level;
using online::Finding;
using Clock = std::chrono::steady_clock;

namespace {

// In the units of --memory-limit, rounded down.
std::string as_limit(std::uint64_t bytes) {
  constexpr std::uint64_t kKilo = 1024, kMega = kKilo * kKilo;
  return bytes < kMega ? fmt::format("{}K", bytes / kKilo) : fmt::format("{}M", bytes / kMega);
}

// One file, level by level.
class WindowsCheck {
 public:
  WindowsCheck(const std::string& file, const analysis::FileOptions& reading,
               const analysis::Options& options, const InWindows& how)
      : file_(file),
        options_(options),
        certificate_(how.certificate),
        first_bytes_(reading.first_bytes),
        going_on_(reading.going_on),
        is_jepsen_(reading.format == formats::Format::kJepsen),
        as_(reading.as),
        once_(file) {
    if (options.check.timeout_seconds) {
      deadline_ = how.began + std::chrono::duration_cast<Clock::duration>(
                                  std::chrono::duration<double>(*options.check.timeout_seconds));
    }
  }

  Found run(analysis::AnalyzedFile before) {
    auto planned = plan(before.analysis.whole);
    if (!planned.ok()) return std::move(planned).error();
    plan_ = *std::move(planned);
    if (going_on_ && plan_.doubtful_compares) {
      plan_.unfit = "a compare-and-set of a transaction that may still go on may still fail";
    }
    if (going_on_ && plan_.doubtful_nulls) {
      plan_.unfit = "a key that was read as null may still turn out to be a list";
    }
    if (!plan_.unfit.empty()) return with_reason(std::move(before), plan_.unfit);
    print_note(
        fmt::format("{}: does not fit into {} of memory, so it is decided in windows, as "
                    "`cupel watch` does",
                    file_, as_limit(options_.check.memory_limit_bytes)));
    for (auto& level : before.analysis.check.levels) {
      if (level.verdict != Verdict::kUnknown) known_[level.level] = std::move(level);
    }
    const auto asked = asked_levels(before.analysis.check.levels);
    if (asked.size() == 1) asked_ = asked.front();
    if (auto decided = decide_all(asked); !decided.ok()) return std::move(decided).error();
    if (auto decided = decide_final_reads(); !decided.ok()) return std::move(decided).error();
    if (auto same = unchanged(); !same.ok()) return std::move(same).error();
    return assembled(std::move(before), asked);
  }

 private:
  static bool stopped() { return base::interrupted(); }

  // `was_read`: as a whole, so that nothing of it is refused.
  base::Result<online::FilePlan> plan(bool was_read) const {
    auto source = open_();
    if (!source.ok()) return unfit(source.error(), was_read);
    if (const auto part = (*source)->fact("part"); !part.empty()) {
      return base::Error{.message = fmt::format("found the part of sessions {} of a run by several "
                                                "workers, expected the whole; `cupel merge` joins "
                                                "the parts",
                                                part),
                         .file = file_};
    }
    format_ = formats::holds_cupel(file_) ? "cupel" : "jepsen";
    auto planned = online::plan_of(**source, [this] { return stopped() || late(); });
    const auto drift = options_.check.clock_drift_ns;
    if (planned.ok() && drift != 0 && (*source)->fact("times") == "line order")
      return base::Error{.message = history::drift_without_clock(drift), .file = file_};
    ignored_ = (*source)->fact("ignored");
    not_ignored_ = (*source)->fact(history::kNotIgnored);
    kind_ = (*source)->fact("kind");
    data_gone_ = (*source)->fact(analysis::kDataGone);
    final_reads_failed_ = (*source)->fact(analysis::kFinalReadsFailed);
    final_readers_ = (*source)->fact(analysis::kFinalReaders);
    if (planned.ok() || format_ == "cupel") return planned;
    return unfit(planned.error(), was_read);
  }

  // Without the limit the same would be refused, unless only the reader of whole files understands
  // the lines.
  base::Result<online::FilePlan> unfit(const base::Error& why, bool was_read) const {
    if (!was_read && !why.limit_met && !formats::may_suit_the_whole(why) && has_op_maps(why))
      return why;
    online::FilePlan none;
    none.unfit = why.to_string();
    return none;
  }
  // A later line is wrong, so the first was an op map; or the beginning of the file says it.
  [[nodiscard]] bool has_op_maps(const base::Error& why) const {
    if (is_jepsen_ || why.line.value_or(1) > 1) return true;
    const auto bytes = formats::MappedFile::open_as_it_is(file_);
    if (!bytes.ok() || formats::is_compressed(bytes->bytes())) return false;
    const auto format = formats::detect(file_);
    return format.ok() && *format == formats::Format::kJepsen;
  }
  [[nodiscard]] bool late() const { return deadline_ && Clock::now() >= *deadline_; }

  static std::vector<Level> asked_levels(const std::vector<LevelResult>& levels) {
    std::vector<Level> asked;
    for (const auto& level : levels) asked.push_back(level.level);
    return asked;
  }

  // From the strongest on. What only a stronger level can say comes after that one.
  base::Status decide_all(const std::vector<Level>& asked) {
    const auto all = levels::all_levels();
    for (auto it = all.rbegin(); it != all.rend(); ++it) {
      const bool needed = std::any_of(asked.begin(), asked.end(), [&](Level level) {
        return !known_.contains(level) && (level == *it || online::watched_for(level) == *it);
      });
      if (!needed || online::watched_for(*it) != *it || follow(*it)) continue;
      if (auto decided = decide(*it, 0); !decided.ok()) return decided;
    }
    for (auto it = all.rbegin(); it != all.rend(); ++it) {
      if (std::find(asked.begin(), asked.end(), *it) == asked.end()) continue;
      if (known_.contains(*it) || follow(*it)) continue;
      const auto& watched = known_.at(online::watched_for(*it));
      if (watched.verdict == Verdict::kViolated) {
        if (auto decided = decide(*it, online::kSlide); !decided.ok()) return decided;
      } else {
        known_[*it] = watched;
        known_[*it].level = *it;
        known_[*it].violation.reset();
      }
    }
    return base::Ok{};
  }

  // From what is known already.
  bool follow(Level level) {
    if (known_.contains(level)) return true;
    for (const auto& [other, known] : known_) {
      const bool implied =
          (known.verdict == Verdict::kSatisfied && levels::implies(other, level)) ||
          (known.verdict == Verdict::kViolated && levels::implies(level, other));
      if (!implied || known.decided_by.starts_with("implied-by:")) continue;
      LevelResult result;
      result.level = level;
      result.verdict = known.verdict;
      result.decided_by = fmt::format("implied-by:{}", levels::name(other));
      known_[level] = std::move(result);
      return true;
    }
    return false;
  }

  base::Status decide(Level level, std::size_t slide) {
    const auto began = Clock::now();
    auto chain = begin_chain(level, slide);
    if (!chain.ok()) return std::move(chain).error();
    auto answer = online::check_file(open_, plan_,
                                     {.level = level,
                                      .drift = options_.check.clock_drift_ns,
                                      .memory_limit_bytes = options_.check.memory_limit_bytes,
                                      .deadline = deadline_,
                                      .slide = slide,
                                      .chain = *chain ? &**chain : nullptr,
                                      .stop = [] { return stopped(); }});
    if (!answer.ok()) {
      auto error = std::move(answer).error();
      if (error.file.empty()) error.file = file_;
      return error;
    }
    most_held_ = std::max(most_held_, answer->most_held);
    if (*chain && (*chain)->ended()) certified_ = level;
    LevelResult result;
    result.level = level;
    result.verdict = answer->finding == Finding::kSatisfied  ? Verdict::kSatisfied
                     : answer->finding == Finding::kViolated ? Verdict::kViolated
                     : answer->finding == Finding::kRefused  ? Verdict::kRefused
                                                             : Verdict::kUnknown;
    result.decided_by = result.verdict == Verdict::kRefused ? "" : "windows";
    result.detail = std::move(answer->why);
    result.seconds = std::chrono::duration<double>(Clock::now() - began).count();
    known_[level] = std::move(result);
    if (answer->window) {
      after_[level] = answer->transactions;
      windows_[level] = *std::move(answer->window);
    }
    ::malloc_trim(0);  // the limit is of what is resident
    return base::Ok{};
  }

  // From the strongest level on, so the first that is satisfied has the certificate.
  base::Result<std::optional<online::Chain>> begin_chain(Level level, std::size_t slide) const {
    std::optional<online::Chain> chain;
    if (certificate_.empty() || certified_ || slide > 0) return chain;
    const bool for_another = asked_ && online::watched_for(*asked_) == level;
    auto begun = online::Chain::begin(certificate_, level, for_another ? *asked_ : level,
                                      options_.check.clock_drift_ns);
    if (!begun.ok()) return std::move(begun).error();
    chain.emplace(std::move(begun).value());
    return chain;
  }

  void say_certificate() const {
    if (certificate_.empty()) return;
    if (certified_) {
      return print_note(fmt::format("{}: the certificate is of {}, window by window", certificate_,
                                    levels::name(*certified_)));
    }
    std::error_code ignored;
    std::filesystem::remove(certificate_, ignored);  // of a level that was not satisfied
    print_error(base::Error{
        .message = "no certificate was written: windows leave evidence of a level that is "
                   "satisfied, and none is",
        .file = certificate_});
  }

  // No window holds all that the final reads are about, so they are decided in passes of their own.
  base::Status decide_final_reads() {
    if (final_readers_.empty()) return base::Ok{};
    auto found =
        final_reads_in_passes(open_, plan_, final_readers_, options_.check.memory_limit_bytes,
                              [this] { return stopped() || late(); });
    if (!found.ok()) return std::move(found).error();
    final_reads_ = std::move(found).value();
    if (!final_reads_ && (stopped() || late()) && final_reads_failed_.empty())
      final_reads_failed_ = "the final reads are unchecked, because a limit was met";
    if (final_reads_ && final_reads_->left_out > 0) {
      print_note(
          fmt::format("{}: the final reads of {} more are wrong, which do not fit into memory",
                      file_, report::counted(final_reads_->left_out, "key")));
    }
    return base::Ok{};
  }

  // They are shown with a history of their own, unless a violation has one.
  void add_final_reads(analysis::AnalyzedFile& found, bool explains) {
    found.analysis.final_reads.reset();
    if (!final_reads_) return;
    if (!explains) {
      found.history = std::move(final_reads_->history);
      found.analysis.final_reads = std::move(final_reads_->found);
    } else if (!final_reads_->found.well()) {
      print_note(
          fmt::format("{}: {}, besides the violation", file_, final_reads_->found.in_words()));
    }
  }

  Found assembled(analysis::AnalyzedFile before, const std::vector<Level>& asked) {
    analysis::AnalyzedFile found;
    if (before.analysis.whole && !before.analysis.check.weakest_violated.empty()) {
      found = std::move(before);  // which explains what was violated by then
    } else {
      explain(found);
    }
    auto& result = found.analysis.check;
    const auto explained = std::exchange(result.levels, {});
    for (const Level level : asked) {
      auto mine = known_.at(level);
      if (mine.verdict == Verdict::kViolated && !mine.violation) add_violation(mine, explained);
      result.levels.push_back(std::move(mine));
    }
    check::note_extremes(result);
    analysis::Windows windows{.format = format_,
                              .transactions = plan_.transactions,
                              .committed = plan_.committed,
                              .sessions = plan_.sessions,
                              .operations = plan_.operations,
                              .keys = plan_.keys.size(),
                              .most_held = most_held_};
    say_certificate();
    for (const auto& level : result.levels) {
      if (level.decided_by != "windows") continue;
      windows.promises.emplace_back(level.level, online::watched_for(level.level) == level.level
                                                     ? online::promise_of(level.level)
                                                     : sliding_promise(level.level));
    }
    const bool explains = std::any_of(result.levels.begin(), result.levels.end(),
                                      [](const auto& level) { return level.violation; });
    if (explained_ && explains) windows.violated = {*explained_, after_.at(*explained_)};
    found.analysis.windows = std::move(windows);
    found.analysis.whole = true;
    add_final_reads(found, explains);
    for (const auto& [name, text] :
         {std::pair("ignored", ignored_), std::pair(history::kNotIgnored, not_ignored_),
          std::pair("kind", kind_), std::pair(analysis::kDataGone, data_gone_),
          std::pair(analysis::kFinalReadsFailed, final_reads_failed_)}) {
      if (text.empty()) continue;
      found.history = history::HistoryBuilder::with_metadata(std::move(found.history), name, text);
    }
    found.analysis.test_power.reset();
    return found;
  }

  static std::string sliding_promise(Level level) {
    return fmt::format(
        "{} is decided within any {} transactions in a row, because there is no bound on what "
        "would have to be held",
        levels::name(level), online::kSlideInWords);
  }

  // The window in which the weakest level is violated.
  void explain(analysis::AnalyzedFile& found) {
    found.history = std::move(history::HistoryBuilder()).finish().value();
    const auto all = levels::all_levels();
    const auto weakest =
        std::find_if(all.begin(), all.end(), [&](Level level) { return windows_.contains(level); });
    if (weakest == all.end()) return;
    explained_ = *weakest;
    auto options = options_;
    options.check.asked.clear();
    for (const auto& [level, known] : known_) {
      if (known.verdict == Verdict::kViolated) options.check.asked.push_back(level);
    }
    options.check.evidence = false;
    options.check.timeout_seconds.reset();
    options.whole_history = false;
    options.test_power = analysis::TestPower::kNever;
    options.fields = nullptr;
    found.history = std::move(windows_.at(*weakest));
    found.analysis = analysis::analyze(found.history, options);
  }

  static void add_violation(LevelResult& mine, const std::vector<LevelResult>& explained) {
    for (const auto& other : explained) {
      if (other.level != mine.level || other.verdict != Verdict::kViolated) continue;
      mine.violation = other.violation;
      mine.explained_at = other.explained_at;
    }
  }

  // Each level goes through the file once more, so it must stay as it is; the first bytes of a file
  // that grows do.
  [[nodiscard]] base::Status unchanged() const {
    if (first_bytes_ || !formats::has_changed(file_)) return base::Ok{};
    return base::Error{.message =
                           "changed while it was checked in windows, which read it several times. "
                           "Check it again when nothing writes to it, or use `cupel watch`",
                       .file = file_};
  }

  static Found with_reason(analysis::AnalyzedFile found, const std::string& why) {
    for (auto& level : found.analysis.check.levels) {
      if (level.verdict != Verdict::kUnknown) continue;
      level.detail += fmt::format("; it cannot be decided in windows either: {}", why);
    }
    return found;
  }

  const std::string file_;
  const analysis::Options& options_;
  const std::string certificate_;
  const std::optional<std::uint64_t> first_bytes_;
  const bool going_on_, is_jepsen_;
  std::optional<Level> asked_, certified_;
  std::optional<Clock::time_point> deadline_;
  const formats::Interpretation as_;
  const formats::OpenOnce once_;
  const online::OpenHistory open_ =
      [this]() -> base::Result<std::unique_ptr<history::TransactionSource>> {
    if (auto same = unchanged(); !same.ok()) return std::move(same).error();
    return formats::stream_history(file_, first_bytes_, as_);
  };
  mutable std::string format_, ignored_, not_ignored_, kind_, data_gone_, final_reads_failed_,
      final_readers_;
  online::FilePlan plan_;
  std::map<Level, LevelResult> known_;
  std::map<Level, history::History> windows_;
  std::map<Level, std::uint64_t> after_;  // how many transactions
  std::optional<Level> explained_;
  std::optional<WindowedFinalReads> final_reads_;
  std::size_t most_held_ = 0;
};

bool may_take_windows(const std::string& file, const analysis::FileOptions& reading,
                      const analysis::Options& options) {
  const bool format = !reading.format || *reading.format == formats::Format::kJepsen ||
                      *reading.format == formats::Format::kCupel;
  std::error_code unknown;
  const bool read_again = std::filesystem::is_regular_file(file, unknown) ||  // a pipe is not
                          std::filesystem::is_directory(file, unknown);
  return read_again && format && reading.initial.empty() && options.check.team == nullptr &&
         options.check.memory_limit_bytes > 0;
}

}  // namespace

std::optional<Found> surely_too_large(const std::string& file, const analysis::FileOptions& reading,
                                      const analysis::Options& options) {
  // Single operations may be decided while they are read, without being held.
  if (!may_take_windows(file, reading, options) ||
      options.check.asked == std::vector{Level::kLinearizable}) {
    return std::nullopt;
  }
  const auto bytes = formats::least_bytes_of_history(file);
  if (bytes <= options.check.memory_limit_bytes) return std::nullopt;
  analysis::AnalyzedFile found;
  found.analysis = analysis::unread(
      options, fmt::format("the history takes {} of memory at least", as_limit(bytes)));
  found.analysis.limit = base::Limit::kMemory;
  return found;
}

Found with_windows(const std::string& file, const analysis::FileOptions& reading,
                   const analysis::Options& options, const InWindows& how, Found found) {
  if (!found.ok() || found->analysis.limit != base::Limit::kMemory ||
      !may_take_windows(file, reading, options) || base::interrupted()) {
    return found;
  }
  const auto& levels = found->analysis.check.levels;
  if (std::none_of(levels.begin(), levels.end(),
                   [](const auto& level) { return level.verdict == Verdict::kUnknown; })) {
    return found;
  }
  auto before = std::move(found).value();
  if (before.analysis.check.weakest_violated.empty()) before.history = {};
  ::malloc_trim(0);  // the limit is of what is resident
  return WindowsCheck(file, reading, options, how).run(std::move(before));
}

}  // namespace cupel::apps
