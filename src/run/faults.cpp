// Commands by the shell; a command that fails is a warning, not the end.
#include "run/faults.hpp"

#include <fmt/format.h>

#include <string_view>

namespace cupel::run {

namespace {

constexpr base::Seconds kLongestCommand{300};
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
  auto process = base::Process::start({.arguments = {"/bin/sh", "-c", command},
                                       .errors = base::Stream::inherited(),
                                       .detached = true});
  if (process.ok()) {
    running_ = std::move(process).value();
  } else {
    warnings_.push_back(process.error().message);
  }
}

bool Faults::idle(base::Seconds wait) {
  if (!running_) return true;
  const auto status = running_->wait(wait);
  if (!status) return false;
  if (!status->well()) {
    warnings_.push_back(fmt::format("the command `{}` {}", command_, status->to_string()));
  }
  running_.reset();
  return true;
}

void Faults::look() {
  if (options_.fault.empty() || Clock::now() < next_ || !idle(base::Seconds(0))) return;
  if (!broken_) {
    ++count_;
    recorder_.fault_begins(kNameInHistory);
    start(options_.fault);
    next_ = Clock::now() + seconds(options_.lasts);
  } else {
    if (!options_.heal.empty()) start(options_.heal);
    recorder_.fault_ends(kNameInHistory);
    next_ = Clock::now() + seconds(options_.every);
  }
  broken_ = !broken_;
}

void Faults::end() {
  const auto finish = [&] {
    if (!idle(kLongestCommand)) {
      running_->signal(15);
      warnings_.push_back(fmt::format("the command `{}` ran for over {} s and was ended", command_,
                                      kLongestCommand.count()));
      running_.reset();
    }
  };
  finish();
  if (broken_ && !options_.heal.empty()) {
    start(options_.heal);
    finish();
    recorder_.fault_ends(kNameInHistory);
  }
  broken_ = false;
}

}  // namespace cupel::run
