// Watch: see the header.
#include "engine/online/watch.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <new>

#include "base/interrupt.hpp"
#include "base/verdict.hpp"

namespace cupel::online {

using base::Verdict;
using levels::Level;

namespace {

// Between two looks, where little comes, pass so many times the time that the processor took for
// one, so that the database has the rest: of the processor, because on a busy machine a look lasts
// longer and costs no more. But a violation is not to wait for longer than that. A window that
// slides is never small.
constexpr int kPausePerLook = 40, kPausePerSlide = 3;
constexpr std::chrono::milliseconds kLongestPause{50};

std::chrono::nanoseconds processor_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace

Level watched_for(Level level) {
  switch (level) {
    case Level::kReadCommitted:
    case Level::kReadAtomic:
      return Level::kCausal;
    case Level::kSnapshotIsolation:
      return Level::kStrongSessionSnapshotIsolation;
    case Level::kGeneralizedSnapshotIsolation:
      return Level::kStrongSnapshotIsolation;
    case Level::kSerializable:
      return Level::kStrongSessionSerializable;
    default:
      return level;
  }
}

std::string promise_of(Level level) {
  const Level watched = watched_for(level);
  if (watched == level) {
    return fmt::format("{} is decided exactly, at every moment", levels::name(level));
  }
  return fmt::format(
      "{} has no bound on what must be held, so {} is watched, which implies it; if that one "
      "fails, any {} transactions in a row are watched, and the recorded history is asked now and "
      "then and at the end",
      levels::name(level), levels::name(watched), kSlideInWords);
}

std::string unknown_after(std::uint64_t decided) {
  if (decided == 0) return "nothing is known of any transaction";
  return fmt::format("nothing is known from transaction {} on", decided + 1);
}

Watch::Watch(const WatchOptions& options)
    : options_(options),
      watched_(options.slide > 0 ? options.level : watched_for(options.level)),
      window_({.level = watched_,
               .drift = options.drift,
               .sessions = options.sessions,
               .doubt_ends_session = options.doubt_ends_session,
               .forget_outcome_after = options.forget_outcome_after,
               .bet_above = options.bets ? WindowOptions().bet_above
                                         : std::numeric_limits<std::size_t>::max(),
               .slide = options.slide,
               .evidence = options.evidence}),
      last_look_(std::chrono::steady_clock::now()) {}

Stream& Watch::add(std::string name, std::string sessions) {
  streams_.push_back(
      std::make_unique<Stream>(window_, std::move(name), std::move(sessions), options_.as));
  return *streams_.back();
}

bool Watch::due(bool idle) const {
  const auto fresh = window_.fresh();
  if (fresh == 0) return false;
  // Each transaction is then decided 1.5 times.
  if (fresh >= std::max(options_.least_batch, 2 * window_.held().held)) return true;
  if (!idle) return false;
  using Pause = std::chrono::nanoseconds;
  const auto pause = std::max<Pause>(
      options_.pause,
      slides() ? kPausePerSlide * cost_ : std::min<Pause>(kPausePerLook * cost_, kLongestPause));
  return std::chrono::steady_clock::now() - last_look_ >= pause;
}

bool Watch::is_late() const {
  return options_.deadline && std::chrono::steady_clock::now() >= *options_.deadline;
}

Finding Watch::give_up() {
  given_up_ = {decided_ + 1, window_.held().transactions};
  watched_ = options_.level;
  window_.give_up(watched_, kSlide);
  return Finding::kGivenUp;
}

Finding Watch::look(bool ended) {
  const auto began = std::chrono::steady_clock::now();
  const auto processor_began = processor_time();
  const auto from = window_.held().transactions - window_.fresh();
  std::optional<std::chrono::duration<double>> left;
  if (options_.deadline) left = *options_.deadline - began;
  if (options_.window_seconds) {
    const std::chrono::duration<double> of_window(*options_.window_seconds);
    left = std::min(left.value_or(of_window), of_window);
  }
  base::Budget budget(left, options_.memory_limit_bytes);
  Look look;
  try {
    const base::AllocationWatch watch(&budget);
    look = window_.look(budget, ended);
    violated_alone_ = look.status == Verdict::kViolated && watched_ != options_.level &&
                      window_.violates_alone(options_.level, budget);
  } catch (const std::bad_alloc&) {
    if (budget.limit() == base::Limit::kNone) throw;
    look.status = Verdict::kUnknown;
    look.detail = "the memory limit was met";
  }
  ++looks_;
  last_look_ = std::chrono::steady_clock::now();
  cost_ = processor_time() - processor_began;
  longest_ = std::max(longest_, std::chrono::duration<double>(last_look_ - began).count());
  switch (look.status) {
    case Verdict::kSatisfied:
      break;
    case Verdict::kViolated:
      if (look.sure && watched_ == options_.level) return Finding::kViolated;
      why_ = look.sure              ? fmt::format("{} is violated", levels::name(watched_))
             : !look.detail.empty() ? look.detail
             : slides()             ? std::string("a value may have been written twice")
                                    : window_.held().doubt;
      return Finding::kAsk;
    case Verdict::kRefused:
      why_ = look.detail;
      return Finding::kRefused;
    case Verdict::kUnknown:
      why_ = look.detail;
      decided_ = from;
      return budget.limit() == base::Limit::kTime && options_.window_seconds &&
                     !base::interrupted() && !is_late()
                 ? give_up()
                 : Finding::kUnknown;
  }
  const auto limit = options_.memory_limit_bytes;
  if (limit != 0 && base::resident_bytes() > limit) ::malloc_trim(0);  // freed pieces count as well
  if (limit != 0 && base::resident_bytes() > limit) {
    const auto& held = window_.held();
    why_ = fmt::format("the memory limit was met with {} transactions held", held.held);
    decided_ = held.transactions;
    return Finding::kUnknown;
  }
  return Finding::kSatisfied;
}

void Watch::save(StateWriter& out) const {
  out.number(looks_);
  window_.save(out);
  for (const auto& stream : streams_) stream->save(out);
}

void Watch::load(StateReader& in) {
  looks_ = in.number();
  window_.load(in);
  for (const auto& stream : streams_) stream->load(in);
}

}  // namespace cupel::online
