// ProgressLine: see the header.
#include "run/progress_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "report/wording.hpp"

namespace cupel::run {

std::string progress_text(const Progress& progress, const RunOptions& options, double seconds,
                          bool stopping) {
  const std::uint64_t committed = progress.committed, aborted = progress.aborted,
                      unknown = progress.unknown;
  std::string text = fmt::format("{:.0f} s  {} committed ({:.0f}/s), {} aborted, {} unknown",
                                 seconds, report::grouped(committed),
                                 static_cast<double>(committed) / std::max(seconds, 1e-9),
                                 report::grouped(aborted), report::grouped(unknown));
  if (const auto waiting = progress.sessions_waiting.load(); waiting > 0) {
    text += fmt::format(", {} of {} sessions without a connection", waiting, options.sessions);
  }
  constexpr double kOpenEnd = std::numeric_limits<double>::infinity();
  double left = options.time_limit > 0 ? options.time_limit - seconds : kOpenEnd;
  const auto done = static_cast<double>(committed + aborted + unknown);
  if (options.txns > 0 && done > 0) {
    const auto all = static_cast<double>(options.txns * options.sessions);
    left = std::min(left, (all - done) / done * seconds);
  }
  if (left < kOpenEnd) text += fmt::format(", {:.0f} s left", std::max(0.0, left));
  if (stopping) text += ", ending";
  return text;
}

void ProgressLine::stage(Stage stage) {
  end();
  if (!write_) return;
  switch (stage) {
    case Stage::kPrepare:
      write_("making and filling the tables ...");
      break;
    case Stage::kRun:
      thread_ = std::thread([this] { show_run(); });
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
