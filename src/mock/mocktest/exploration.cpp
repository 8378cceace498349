// The runs of an exploration, one after another.
#include "mock/mocktest/exploration.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>
#include <system_error>
#include <utility>

#include "base/temp_dir.hpp"
#include "engine/mock/explore.hpp"
#include "mock/mocktest/command_run.hpp"
#include "mock/mocktest/output_text.hpp"

namespace cupel::mocktest {

namespace {

class Exploration {
 public:
  Exploration(const Test& test, const ExplorationOptions& options, const base::TempDir& folder,
              const std::atomic<bool>& stopped)
      : test_(test), options_(options), folder_(folder), stopped_(stopped), store_(test.store) {
    store_.choose = [this](std::size_t of) {
      if (first_run_) offered_.push_back(of);
      return explorer_->choose(of);
    };
    store_.before_turn = [this](const mock::Progress& progress) {
      explorer_->reached(in_order_ ? progress.in_order : progress.history, progress.turns);
    };
    restart();
  }

  base::Result<ExplorationResult> run() && {
    const std::uint64_t most = options_.choices ? 1 : options_.max_runs;
    while (!result_.exhausted && result_.runs < most && !stopped_) {
      const auto next = run_once();
      if (!next.ok()) return next.error();
      if (*next == Next::kEnd) break;
    }
    result_.states = states_.size();
    result_.diverged = explorer_->diverged();
    result_.settle_ms = store_.settle_ms;
    return std::move(result_);
  }

 private:
  enum class Next { kContinue, kEnd };

  // Forgets what was found, but for the number of runs.
  void restart() {
    if (options_.choices) {
      explorer_.emplace(*options_.choices);
    } else {
      explorer_.emplace();
    }
    states_.clear();
    result_.histories = result_.failures = 0;
    result_.failed.reset();
  }

  base::Result<Next> run_once() {
    wire::StoreServer served(store_);
    const auto output = folder_.file(std::to_string(result_.runs));
    const auto end = run_command(served, test_, store_.seed, context(output));
    if (!end.ok()) return end.error();
    if (end->kind == CommandEnd::Kind::kStopped) return Next::kEnd;
    ++result_.runs;
    if (test_.on_run) test_.on_run();
    if (served.store.asked_for() > 0) result_.reached_store = true;
    if (!result_.reached_store && end->failed()) {
      auto failed = failed_run(served, store_.seed, *end, output);
      if (!failed.ok()) return failed.error();
      result_.failed = std::move(*failed);
      return Next::kEnd;
    }
    if (first_run_ && result_.reached_store && !options_.choices) {
      const auto late = look_for_late_clients(end->failed());
      if (!late.ok()) return late.error();
      result_.late_clients = *late;
      if (raise_settle()) return Next::kContinue;
    }
    first_run_ = false;
    if (served.store.mixed() && !in_order_ && !options_.choices) {
      in_order_ = true;  // engine/mock/explore.hpp says why
      restart();
      return Next::kContinue;
    }
    result_.exhausted = !explorer_->next(served.store.digest());
    if (!explorer_->repeated()) {
      if (auto counted = count(served, *end, output); !counted.ok()) return counted.error();
    }
    std::error_code ignored;
    std::filesystem::remove(output, ignored);
    return Next::kContinue;
  }

  // A history that no run had before.
  base::Status count(const wire::StoreServer& served, const CommandEnd& end,
                     const std::string& output) {
    ++result_.histories;
    states_.insert(options_.states == StateKind::kOutput ? contents_of(output)
                                                         : served.store.observed());
    if (!end.failed() || ++result_.failures > 1) return base::Ok{};
    auto failed = failed_run(served, store_.seed, end, output);
    if (!failed.ok()) return std::move(failed).error();
    result_.failed = std::move(*failed);
    result_.failed_number = result_.runs;
    result_.failed_choices = explorer_->choices();
    return base::Ok{};
  }

  // Repeats the first run with a longer settle time. A client that starts too late in each run is
  // never chosen, and nothing else would show it.
  base::Result<LateClients> look_for_late_clients(bool first_failed) {
    auto longer = store_;
    longer.settle_ms = longer_settle_ms(store_.settle_ms);
    longer.before_turn = {};
    std::vector<std::size_t> offered;
    longer.choose = [&](std::size_t of) {
      offered.push_back(of);
      return std::size_t{0};
    };
    wire::StoreServer served(longer);
    // No other run has this number.
    const auto output = folder_.file("repeated");
    const auto end = run_command(served, test_, longer.seed, context(output));
    if (!end.ok()) return end.error();
    std::error_code ignored;
    std::filesystem::remove(output, ignored);
    if (end->kind == CommandEnd::Kind::kStopped) return LateClients::kUnknown;
    if (offered != offered_) return LateClients::kOtherChoices;
    return end->failed() && !first_failed ? LateClients::kFailed : LateClients::kNone;
  }

  // True if the exploration starts again with a longer settle time.
  bool raise_settle() {
    if (!raises_settle(options_, result_, store_.settle_ms)) return false;
    offered_.clear();
    restart();
    return true;
  }

  [[nodiscard]] RunContext context(const std::string& output) const {
    return {.output = output, .stopping = [this] { return stopped_.load(); }};
  }

  const Test& test_;
  const ExplorationOptions& options_;
  const base::TempDir& folder_;
  const std::atomic<bool>& stopped_;
  mock::Options store_;
  std::optional<mock::Explorer> explorer_;
  bool in_order_ = false;  // the order of transactions counts: their levels are mixed
  bool first_run_ = true;
  std::vector<std::size_t> offered_;  // in the first run, between how many each choice was
  std::set<std::string> states_;
  ExplorationResult result_;
};

}  // namespace

base::Result<ExplorationResult> explore(const Test& test, const ExplorationOptions& options,
                                        const std::atomic<bool>& stopped) {
  const auto folder = base::TempDir::make("cupel-mock-");
  if (!folder.ok()) return folder.error();
  return Exploration(test, options, *folder, stopped).run();
}

double longer_settle_ms(double settle_ms) {
  return std::max(250.0, 2 * settle_ms);
}

bool raises_settle(const ExplorationOptions& options, ExplorationResult& result,
                   double& settle_ms) {
  constexpr double kLongestMs = 1000;
  const auto longer = longer_settle_ms(settle_ms);
  if (result.late_clients != LateClients::kOtherChoices || !options.may_raise_settle ||
      longer > kLongestMs) {
    return false;
  }
  if (options.on_settle_raised) options.on_settle_raised(settle_ms, longer);
  settle_ms = longer;
  result.runs = 0;
  result.late_clients = LateClients::kNone;
  return true;
}

}  // namespace cupel::mocktest
