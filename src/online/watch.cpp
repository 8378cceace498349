// Watch: see the header.
#include "online/watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

namespace cupel::online {

using levels::DecisionStatus;
using levels::Level;

namespace {

// Looks take at most this share of the time, where little comes.
constexpr int kShareOfLooks = 3;

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
      "{} has no bound on what must be held, so {} is watched, which implies it; when that one "
      "fails, the recorded history is asked",
      levels::name(level), levels::name(watched));
}

Watch::Watch(const WatchOptions& options)
    : options_(options),
      watched_(watched_for(options.level)),
      window_({.level = watched_,
               .drift = options.drift,
               .sessions = options.sessions,
               .forget_outcome_after = options.forget_outcome_after}),
      last_look_(std::chrono::steady_clock::now()) {}

Stream& Watch::add(std::string name, std::string sessions) {
  streams_.push_back(std::make_unique<Stream>(window_, std::move(name), std::move(sessions)));
  return *streams_.back();
}

bool Watch::due(bool idle) const {
  const auto fresh = window_.fresh();
  if (fresh == 0) return false;
  // Each transaction is then decided 1.5 times.
  if (fresh >= std::max(options_.least_batch, 2 * window_.held().held)) return true;
  const auto passed = std::chrono::steady_clock::now() - last_look_;
  return idle && passed >= std::max<std::chrono::steady_clock::duration>(options_.pause,
                                                                         kShareOfLooks * cost_);
}

Finding Watch::look() {
  const auto began = std::chrono::steady_clock::now();
  const auto from = window_.held().transactions - window_.fresh();
  base::Budget budget({}, options_.memory_limit_bytes);
  Look look;
  try {
    const base::AllocationWatch watch(&budget);
    look = window_.look(budget);
  } catch (const std::bad_alloc&) {
    if (budget.limit() == base::Limit::kNone) throw;
    look.status = DecisionStatus::kGaveUp;
    look.detail = "the memory limit was met";
  }
  ++looks_;
  last_look_ = std::chrono::steady_clock::now();
  cost_ = last_look_ - began;
  longest_ = std::max(longest_, std::chrono::duration<double>(cost_).count());
  switch (look.status) {
    case DecisionStatus::kSatisfied:
      break;
    case DecisionStatus::kViolated:
      if (look.sure && watched_ == options_.level) return Finding::kViolated;
      why_ =
          look.sure ? fmt::format("{} is violated", levels::name(watched_)) : window_.held().doubt;
      return Finding::kAsk;
    case DecisionStatus::kRefused:
      why_ = look.detail;
      return Finding::kRefused;
    case DecisionStatus::kGaveUp:
      why_ = fmt::format("{}; nothing is known from transaction {} on", look.detail, from);
      return Finding::kUnknown;
  }
  const auto limit = options_.memory_limit_bytes;
  if (limit != 0 && base::resident_bytes() > limit) {
    const auto& held = window_.held();
    why_ = fmt::format(
        "the memory limit was met with {} transactions held; nothing is known from transaction {} "
        "on",
        held.held, held.transactions);
    return Finding::kUnknown;
  }
  return Finding::kSatisfied;
}

}  // namespace cupel::online
