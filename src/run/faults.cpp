// Commands by the shell: see the header.
#include "run/faults.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace cupel::run {

namespace {

constexpr base::Seconds kGrace{1};           // between SIGTERM and SIGKILL
constexpr base::Seconds kAfterInterrupt{5};  // that a repair is waited for then
constexpr base::Seconds kLook{0.05};
constexpr base::Seconds kToFinish{2};  // that a command which breaks things has at the end
// Not the command, which may hold a password.
constexpr std::string_view kNameInHistory = "fault";

std::chrono::steady_clock::duration seconds(double s) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(base::Seconds(s));
}

}  // namespace

Faults::Faults(const FaultOptions& options, Recorder& recorder)
    : options_(options), recorder_(recorder), next_(Clock::now() + seconds(options.every)) {}

// Detached, so that a server which the command starts outlives the command.
void Faults::start(const std::string& command) {
  command_ = command;
  started_ = Clock::now();
  auto process = base::Process::start({.arguments = {"/bin/sh", "-c", command},
                                       .errors = base::Stream::inherited(),
                                       .detached = true});
  if (process.ok()) {
    running_ = std::move(process).value();
  } else {
    not_started_ = process.error().message;
  }
}

std::optional<bool> Faults::outcome(base::Seconds wait) {
  if (!running_) {
    ++warnings_[not_started_];
    return false;
  }
  if (const auto status = running_->wait(wait)) {
    if (!status->well()) ++warnings_[fmt::format("`{}` {}", command_, status->to_string())];
    running_.reset();
    return status->well();
  }
  if (Clock::now() - started_ < seconds(options_.command_limit)) return std::nullopt;
  give_up(fmt::format("ran for over {} s and was ended", options_.command_limit));
  return false;
}

void Faults::give_up(const std::string& why) {
  running_->stop(kGrace);
  running_.reset();
  ++warnings_[fmt::format("`{}` {}", command_, why)];
}

void Faults::broken(bool well) {
  const auto now = Clock::now();
  if (well) {
    ++count_;
    recorder_.fault_begins(kNameInHistory);
    recorded_ = true;
    state_ = State::kBroken;
    next_ = now + seconds(options_.lasts);
  } else {
    ++failed_;
    to_repair_ = true;
    state_ = State::kWell;
    next_ = now + seconds(options_.every);
  }
}

void Faults::healed(bool well) {
  if (well) {
    if (std::exchange(recorded_, false)) recorder_.fault_ends(kNameInHistory);
    to_repair_ = false;
  }
  // What could not be repaired is tried again before anything else is broken.
  state_ = well ? State::kWell : State::kBroken;
  next_ = Clock::now() + seconds(options_.every);
}

void Faults::look() {
  if (options_.fault.empty()) return;
  const bool due = Clock::now() >= next_;
  switch (state_) {
    case State::kWell:
      if (!due) return;
      start(options_.fault);
      state_ = State::kBreaking;
      return;
    case State::kBreaking:
      if (const auto well = outcome(base::Seconds(0))) broken(*well);
      return;
    case State::kBroken:
      if (!due) return;
      if (options_.heal.empty()) return healed(true);
      start(options_.heal);
      state_ = State::kHealing;
      return;
    case State::kHealing:
      if (const auto well = outcome(base::Seconds(0))) healed(*well);
      return;
  }
}

void Faults::heal_at_end(const std::atomic<bool>& stop) {
  std::optional<Clock::time_point> stopped;
  for (;;) {
    if (const auto well = outcome(kLook)) return healed(*well);
    if (!stopped && stop) stopped = Clock::now();
    if (!stopped || Clock::now() - *stopped < kAfterInterrupt) continue;
    ++warnings_[fmt::format("`{}` still runs, and was not waited for", command_)];
    running_.reset();  // detached: it goes on
    return;
  }
}

// What comes into force only after the load has hit nothing: it is repaired, and is no fault.
void Faults::finish_breaking(const std::atomic<bool>& stop) {
  if (const auto well = outcome(base::Seconds(0))) return broken(*well);
  const auto until = Clock::now() + kToFinish;
  std::optional<bool> well;
  while (!well && !stop && Clock::now() < until) well = outcome(kLook);
  if (!well) give_up("was ended with the run");
  if (!well.value_or(false)) ++failed_;
  to_repair_ = true;
  state_ = State::kWell;
}

void Faults::end(const std::atomic<bool>& stop) {
  if (state_ == State::kBreaking) finish_breaking(stop);
  if (state_ == State::kWell && to_repair_) state_ = State::kBroken;
  if (state_ == State::kBroken && !options_.heal.empty()) {
    start(options_.heal);
    state_ = State::kHealing;
  }
  if (state_ == State::kHealing) heal_at_end(stop);
}

std::vector<std::string> Faults::warnings() const {
  std::vector<std::string> list;
  for (const auto& [text, times] : warnings_) {
    list.push_back("the fault command " + text +
                   (times == 1 ? "" : fmt::format(" ({} times)", times)));
  }
  return list;
}

}  // namespace cupel::run
