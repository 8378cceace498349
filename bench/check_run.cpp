// CheckRun: see the header.
#include "bench/check_run.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace cupel::bench {

std::vector<std::string> command_of(const Case& one, const CheckRunOptions& options) {
  std::vector<std::string> command = {
      options.cupel, "check",   "--json",    "--no-history-analysis",
      "-l",          one.level, "--timeout", fmt::format("{}s", options.timeout_seconds)};
  if (options.threads != 0)
    command.insert(command.end(), {"--threads", std::to_string(options.threads)});
  command.insert(command.end(), options.more.begin(), options.more.end());
  command.push_back(one.history.string());
  return command;
}

base::Result<CheckRun> run(const Case& one, const CheckRunOptions& options) {
  const auto command = command_of(one, options);
  auto measured = measure(command);
  if (!measured.ok()) return std::move(measured).error();
  CheckRun one_run;
  one_run.cost = *std::move(measured);
  const auto failed = [&](const std::string& what) {
    return base::Error{
        .message = fmt::format("{} from {}\n{}", what, to_shell(command), one_run.cost.errors)};
  };
  if (one_run.cost.exit_code > 2) {
    return failed(fmt::format("exit code {}, expected 0, 1 or 2,", one_run.cost.exit_code));
  }
  try {
    const auto answer = nlohmann::json::parse(one_run.cost.output);
    const auto& levels = answer.at("levels");
    if (levels.size() != 1)
      return failed(fmt::format("answers for {} levels, expected one,", levels.size()));
    const auto& level = levels.at(0);
    one_run.verdict = level.at("verdict").get<std::string>();
    one_run.decided_by = level.at("decided_by").get<std::string>();
    one_run.detail = level.value("detail", "");
    const auto number = [&](const char* field) {
      return answer.at(field).is_null() ? 0 : answer.at(field).get<std::uint64_t>();
    };
    one_run.transactions = number("transactions");
    one_run.operations = number("operations");
    one_run.sessions = number("sessions");
    one_run.keys = number("keys");
    // A build from before there were stages has none, and can be compared all the same.
    if (answer.contains("stages")) {
      for (const auto& stage : answer.at("stages")) {
        one_run.stages.emplace_back(
            stage.at("stage").get<std::string>(),
            StageCost{stage.at("seconds").get<double>(), stage.at("cpu_seconds").get<double>()});
      }
    }
  } catch (const nlohmann::json::exception& error) {
    return failed(fmt::format("no answer ({})", error.what()));
  }
  const int expected = one_run.verdict == "satisfied" ? 0 : one_run.verdict == "violated" ? 1 : 2;
  if (one_run.cost.exit_code != expected) {
    return failed(fmt::format("exit code {} for {}", one_run.cost.exit_code, one_run.verdict));
  }
  return one_run;
}

}  // namespace cupel::bench
