// ProgressLine: see the header.
#include "run/progress_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "report/wording.hpp"

namespace cupel::run {

namespace {

std::string time_left(const Progress& progress, const RunOptions& options, double seconds,
                      bool stopping) {
  if (stopping) return ", ending";
  constexpr double kOpenEnd = std::numeric_limits<double>::infinity();
  double left = options.time_limit > 0 ? options.time_limit - seconds : kOpenEnd;
  const auto done = static_cast<double>(progress.committed + progress.aborted + progress.unknown);
  if (options.txns > 0 && done > 0) {
    const auto all = static_cast<double>(options.txns * options.sessions);
    left = std::min(left, (all - done) / done * seconds);
  }
  if (left == kOpenEnd) return "";
  return left > 0 ? fmt::format(", {:.0f} s left", left) : ", ending";
}

}  // namespace

std::string progress_text(const Progress& progress, const RunOptions& options, double seconds,
                          bool stopping) {
  switch (progress.phase) {
    case Progress::Phase::kHealing:
      return fmt::format("{:.0f} s  the load is over, healing the faults ...", seconds);
    case Progress::Phase::kFinalReads:
      return fmt::format("{:.0f} s  the load is over, reading what the nodes hold ...", seconds);
    case Progress::Phase::kLoad:
      break;
  }
  const std::uint64_t committed = progress.committed;
  const auto begin = fmt::format("{:.0f} s  {} committed", seconds, report::grouped(committed));
  const auto rate =
      fmt::format(" ({:.0f}/s)", static_cast<double>(committed) / std::max(seconds, 1e-9));
  auto others = fmt::format(", {} aborted, {} unknown", report::grouped(progress.aborted),
                            report::grouped(progress.unknown));
  if (const auto waiting = progress.sessions_waiting.load(); waiting > 0) {
    others += fmt::format(", {}/{} disconnected", waiting, options.sessions);
  }
  others += time_left(progress, options, seconds, stopping);
  auto text = begin + rate + others;
  if (text.size() > kProgressWidth) text = begin + others;
  text.resize(std::min(text.size(), kProgressWidth));
  return text;
}

void ProgressLine::stage(Stage stage) {
  end();
  if (!write_) return;
  switch (stage) {
    case Stage::kStart:
      write_("starting the test server ...");
      break;
    case Stage::kPrepare:
      write_("making and filling the tables ...");
      break;
    case Stage::kRun:
      thread_ = std::thread([this] { show_run(); });
      break;
    case Stage::kEnd:
      write_("ending the load ...");
      break;
    case Stage::kRead:
      write_("reading the history ...");
      break;
    case Stage::kCheck:
      write_("checking ...");
      break;
  }
}

void ProgressLine::end() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    wake_.notify_one();
    thread_.join();
    over_ = false;
  }
  if (write_) write_("");
}

void ProgressLine::show_run() {
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, interval_, [&] { return over_; })) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    write_(progress_text(source_.progress, source_.options, passed.count(), source_.stopping));
  }
}

}  // namespace cupel::run
