// Trial: see the header.
#include "bench/trial.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace cupel::bench {

std::vector<std::string> command_of(const Case& one, const TrialOptions& options) {
  std::vector<std::string> command = {
      options.cupel, "check",   "--json",    "--no-survey",
      "-l",          one.level, "--timeout", fmt::format("{}s", options.timeout_seconds)};
  if (options.threads != 0)
    command.insert(command.end(), {"--threads", std::to_string(options.threads)});
  command.insert(command.end(), options.more.begin(), options.more.end());
  command.push_back(one.history.string());
  return command;
}

base::Result<Trial> run(const Case& one, const TrialOptions& options) {
  const auto command = command_of(one, options);
  auto measured = measure(command);
  if (!measured.ok()) return std::move(measured).error();
  Trial trial;
  trial.cost = *std::move(measured);
  const auto failed = [&](const std::string& what) {
    return base::Error{
        .message = fmt::format("{} from {}\n{}", what, to_shell(command), trial.cost.errors)};
  };
  if (trial.cost.exit_code > 2) {
    return failed(fmt::format("exit code {}, expected 0, 1 or 2,", trial.cost.exit_code));
  }
  try {
    const auto answer = nlohmann::json::parse(trial.cost.output);
    const auto& levels = answer.at("levels");
    if (levels.size() != 1)
      return failed(fmt::format("answers for {} levels, expected one,", levels.size()));
    const auto& level = levels.at(0);
    trial.verdict = level.at("verdict").get<std::string>();
    trial.decided_by = level.at("decided_by").get<std::string>();
    trial.detail = level.value("detail", "");
    const auto number = [&](const char* field) {
      return answer.at(field).is_null() ? 0 : answer.at(field).get<std::uint64_t>();
    };
    trial.transactions = number("transactions");
    trial.operations = number("operations");
    trial.sessions = number("sessions");
    trial.keys = number("keys");
    // A build from before there were stages has none, and can be compared all the same.
    if (answer.contains("stages")) {
      for (const auto& stage : answer.at("stages")) {
        trial.stages.emplace_back(
            stage.at("stage").get<std::string>(),
            StageCost{stage.at("seconds").get<double>(), stage.at("cpu_seconds").get<double>()});
      }
    }
  } catch (const nlohmann::json::exception& error) {
    return failed(fmt::format("no answer ({})", error.what()));
  }
  const int expected = trial.verdict == "satisfied" ? 0 : trial.verdict == "violated" ? 1 : 2;
  if (trial.cost.exit_code != expected) {
    return failed(fmt::format("exit code {} for {}", trial.cost.exit_code, trial.verdict));
  }
  return trial;
}

}  // namespace cupel::bench
