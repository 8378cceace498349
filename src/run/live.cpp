// Live: see the header.
#include "run/live.hpp"

#include <chrono>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "base/verdict.hpp"
#include "data/formats/formats.hpp"
#include "data/history/going_on.hpp"
#include "engine/check/check.hpp"
#include "engine/online/chain.hpp"
#include "engine/online/checker.hpp"
#include "engine/online/inbox.hpp"

namespace cupel::run {

using online::Checker;
using Clock = std::chrono::steady_clock;

class Live::Work {
 public:
  Work(const LiveOptions& options, std::string record, std::atomic<bool>& enough)
      : options_(options),
        record_(std::move(record)),
        enough_(enough),
        checker_({.level = options.level,
                  .drift = options.drift,
                  .sessions = options.sessions,
                  .memory_limit_bytes = options.memory_limit_bytes,
                  .evidence = !options.certificate.empty(),
                  .window_seconds = options.window_seconds},
                 record_, record_, [this](Checker::Question question) { return ask(question); }),
        thread_([this] { follow(); }) {}
  ~Work() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
  }

  LiveResult end() {
    over_ = true;
    thread_.join();
    end_chain();
    result_.certified = chain_ && chain_->satisfied();
    const auto& held = checker_.watch().window().held();
    result_.level = options_.level;
    result_.watched = checker_.watch().watched();
    result_.transactions = held.transactions;
    result_.most_held = checker_.most_held();
    result_.longest_look = checker_.watch().longest_look_seconds();
    return std::move(result_);
  }

 private:
  void follow() {
    online::Inbox inbox(/*follow=*/true);
    if (const auto opened = inbox.add(record_); !opened.ok()) return give_up(opened.error());
    if (!options_.certificate.empty()) {
      auto chain = online::Chain::begin(options_.certificate, checker_.watch().watched(),
                                        options_.level, options_.drift);
      if (!chain.ok()) return give_up(chain.error());
      chain_.emplace(std::move(chain).value());
      checker_.leave(*chain_);
    }
    while (!enough_) {
      const bool last = over_;
      const auto bytes =
          inbox.poll(std::chrono::milliseconds(last ? 0 : 5),
                     [this](std::size_t, std::string_view lines) { return checker_.take(lines); });
      if (!bytes.ok()) return give_up(bytes.error());
      const bool at_end = last && *bytes == 0;
      take(at_end ? checker_.finish() : checker_.look_if_due(*bytes == 0));
      if (at_end) return;
    }
  }

  void end_chain() {
    if (!chain_ || chain_->ended()) return;
    // The check at the end may say more.
    const bool violated = result_.state == base::Verdict::kViolated;
    const auto ended =
        chain_->end_unknown(violated              ? std::string_view("a violation was found")
                            : result_.why.empty() ? "the recorded history as a whole was asked"
                                                  : std::string_view(result_.why));
    if (!ended.ok()) result_.notes.push_back(ended.error().to_string());
  }

  void take(const base::Result<Checker::State>& state) {
    for (auto& note : checker_.take_notes()) result_.notes.push_back(std::move(note));
    if (!state.ok()) return give_up(state.error());
    if (*state == Checker::State::kSatisfied) return;
    const bool violated = *state == Checker::State::kViolated;
    result_.state = violated ? base::Verdict::kViolated : base::Verdict::kUnknown;
    result_.why = checker_.why();
    result_.found_at = std::chrono::duration<double>(Clock::now() - begin_).count();
    result_.operation_at = static_cast<double>(checker_.watch().stream(0).latest()) / 1e9;
    enough_ = true;
  }

  void give_up(const base::Error& error) {
    result_.state = base::Verdict::kUnknown;
    result_.why = error.to_string();
    enough_ = true;
  }

  // The record is checked as a whole when the load has ended.
  base::Result<Checker::State> ask(Checker::Question question) {
    if (question.certain || (question.certain_if_unique && options_.unique_values))
      return Checker::State::kViolated;
    base::Budget budget(question.seconds
                            ? std::optional(std::chrono::duration<double>(*question.seconds))
                            : std::nullopt,
                        options_.memory_limit_bytes);
    auto read = formats::read(record_, {.format = formats::Format::kJepsen, .budget = &budget});
    if (!read.ok()) {
      if (read.error().limit_met) return Checker::State::kUnknown;
      return std::move(read).error();
    }
    auto history = std::move(read).value();
    if (question.going_on) {
      const auto open = history::open_compares(history, history::going_on(history));
      history = history::with_open_compares(std::move(history), open);
    }
    check::Options asked;
    asked.asked = {options_.level};
    asked.clock_drift_ns = options_.drift;
    switch (check::check(history, asked, budget).levels.front().verdict) {
      case check::Verdict::kSatisfied:
        return Checker::State::kSatisfied;
      case check::Verdict::kViolated:
        return Checker::State::kViolated;
      default:
        return Checker::State::kUnknown;
    }
  }

  const LiveOptions options_;
  const std::string record_;
  std::atomic<bool>& enough_;
  const Clock::time_point begin_ = Clock::now();
  std::atomic<bool> over_ = false;
  Checker checker_;
  std::optional<online::Chain> chain_;
  LiveResult result_;
  std::thread thread_;
};

Live::Live(const LiveOptions& options, std::string record, std::atomic<bool>& enough)
    : work_(std::make_unique<Work>(options, std::move(record), enough)) {}
Live::~Live() = default;

LiveResult Live::end() {
  return work_->end();
}

}  // namespace cupel::run
