// The iterations, several at a time.
#include "mock/mocktest/iterations.hpp"

#include <filesystem>
#include <limits>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "base/temp_dir.hpp"
#include "mock/mocktest/command_run.hpp"
#include "mock/mocktest/database_run.hpp"
#include "mock/mocktest/engine_run.hpp"
#include "mock/mocktest/output_text.hpp"

namespace cupel::mocktest {

namespace {

class Iterations {
 public:
  Iterations(const Test& test, const base::TempDir& folder, const std::atomic<bool>& stopped)
      : test_(test), folder_(folder), stopped_(stopped) {}

  // One iteration, unless an earlier one failed.
  void run(std::uint64_t number) {
    if (stopping(number)) return;
    auto options = test_.store;
    options.seed += number;
    if (!test_.database.empty()) return run_on_database(number, options.seed);
    if (test_.engine != Engine::kOwn) return run_on_engine(number, options);
    wire::StoreServer served(options);
    const auto output = folder_.file(std::to_string(number));
    const auto end = run_command(served, test_, options.seed,
                                 {.output = output, .stopping = [&] { return stopping(number); }});
    if (!end.ok()) return keep_error(end.error());
    ++finished_;
    if (test_.on_run) test_.on_run();
    if (served.store.asked_for() > 0) reached_store_ = true;
    if (end->failed()) {
      auto failed = failed_run(served, options.seed, *end, output);
      if (!failed.ok()) return keep_error(failed.error());
      keep_first(number, std::move(*failed));
    }
    std::error_code ignored;
    std::filesystem::remove(output, ignored);
  }

  base::Result<IterationResult> result() && {
    if (error_) return *std::move(error_);
    return IterationResult{
        .finished = finished_, .reached_store = reached_store_, .failed = std::move(failed_)};
  }

 private:
  void run_on_engine(std::uint64_t number, const mock::Options& options) {
    const auto output = folder_.file(std::to_string(number));
    const RunContext context{.output = output, .stopping = [&] { return stopping(number); }};
    auto runner = take_runner(context);
    if (!runner.ok()) return keep_error(runner.error());
    if (!*runner) return;  // stopped
    const auto end = (*runner)->run(options, context);
    if (!end.ok()) return keep_error(end.error());
    ++finished_;
    if (test_.on_run) test_.on_run();
    if ((*runner)->reached_store()) reached_store_ = true;
    if (end->failed()) {
      auto failed = (*runner)->failed_run(options.seed, *end, output);
      if (!failed.ok()) return keep_error(failed.error());
      keep_first(number, std::move(*failed));
    }
    std::error_code ignored;
    std::filesystem::remove(output, ignored);
    const std::lock_guard lock(mutex_);
    runners_.push_back(std::move(*runner));
  }

  void run_on_database(std::uint64_t number, std::uint64_t seed) {
    const auto output = folder_.file(std::to_string(number));
    const RunContext context{.output = output, .stopping = [&] { return stopping(number); }};
    auto* runner = database_runner();
    if (runner == nullptr) return;
    base::Random random(seed);
    const auto run = runner->run(
        seed, [&](const auto& waiting) { return random.below(waiting.size()); },
        [](const proxy::Footprint&) {}, context, test_.store.settle_ms);
    if (!run.ok()) return keep_error(run.error());
    ++finished_;
    if (test_.on_run) test_.on_run();
    if (run->reached) reached_store_ = true;
    if (run->end.failed()) {
      auto failed = runner->failed_run(*run, seed, output);
      if (!failed.ok()) {
        keep_error(failed.error());
      } else {
        keep_first(number, std::move(*failed));
      }
    }
    runner->drop(*run);
    std::error_code ignored;
    std::filesystem::remove(output, ignored);
  }

  // The one of all runs. Null: it does not start, or was stopped.
  DatabaseRunner* database_runner() {
    const std::lock_guard lock(database_mutex_);
    if (database_runner_ || stopped_ || has_error_) return database_runner_.get();
    auto runner = DatabaseRunner::start(
        test_, {.output = folder_.file("setup"), .stopping = [this] { return stopped_.load(); }});
    if (!runner.ok()) {
      keep_error(runner.error());
      return nullptr;
    }
    database_runner_ = std::move(*runner);
    return database_runner_.get();
  }

  // One that no other run uses, or a new one.
  base::Result<std::unique_ptr<EngineRunner>> take_runner(const RunContext& context) {
    {
      const std::lock_guard lock(mutex_);
      if (!runners_.empty()) {
        auto runner = std::move(runners_.back());
        runners_.pop_back();
        return runner;
      }
    }
    return EngineRunner::start(test_, context, stopped_);
  }

  [[nodiscard]] bool stopping(std::uint64_t number) const {
    return stopped_ || has_error_ || number > first_failed_;
  }
  void keep_error(base::Error error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    has_error_ = true;
  }
  void keep_first(std::uint64_t number, FailedRun failed) {
    const std::lock_guard lock(mutex_);
    if (number >= first_failed_) return;
    first_failed_ = number;
    failed_ = std::move(failed);
  }

  const Test& test_;
  const base::TempDir& folder_;
  const std::atomic<bool>& stopped_;
  std::mutex mutex_;  // of what follows, but for the atomic ones
  std::atomic<std::uint64_t> first_failed_ = std::numeric_limits<std::uint64_t>::max();
  std::atomic<std::uint64_t> finished_ = 0;
  std::atomic<bool> has_error_ = false, reached_store_ = false;
  std::optional<FailedRun> failed_;
  std::optional<base::Error> error_;
  std::vector<std::unique_ptr<EngineRunner>> runners_;  // that no run uses
  std::mutex database_mutex_;
  std::unique_ptr<DatabaseRunner> database_runner_;
};

}  // namespace

base::Result<IterationResult> run_iterations(const Test& test, const IterationOptions& options,
                                             const std::atomic<bool>& stopped) {
  const auto folder = base::TempDir::make("cupel-mock-");
  if (!folder.ok()) return folder.error();
  Iterations iterations(test, *folder, stopped);
  base::for_each_index(options.count, options.jobs,
                       [&](std::size_t number) { iterations.run(number); });
  return std::move(iterations).result();
}

}  // namespace cupel::mocktest
