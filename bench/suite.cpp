// suite: every case (cases.hpp) by the real program, its answer checked against the known
// one before anything is timed.
//
//   suite --size small --cupel build/release/cupel --output build/bench
//
// Writes OUTPUT/SIZE.jsonl, the machine on the first line and then a case a line, and
// OUTPUT/SIZE.md, the same as tables; tools/bench_plots.py draws the plots from the former.
// Histories that are made are kept in OUTPUT/histories. Exit code: 0 all well, 1 an answer
// was wrong or none, 2 some were unknown, 3 bad usage.
#include <fmt/format.h>
#include <sys/utsname.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <thread>

#include "bench/cases.hpp"
#include "bench/check_run.hpp"
#include "golden/collection.hpp"

namespace {

using namespace cupel::bench;
using cupel::base::Status;
using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

// A history that takes this long is not run once more for its answer alone.
constexpr double kLongSeconds = 5;

struct Arguments {
  std::string size = "small", cupel, output, only;
  int runs = 5;
  bool list = false, make_only = false;
  CheckRunOptions run_options;
};

struct CaseResult {
  Case what;
  std::string expected, failure;  // failure: wrong, or why there is no answer
  std::vector<CheckRun> runs;     // of the right answer
  [[nodiscard]] bool unknown() const { return !runs.empty() && runs.front().verdict == "unknown"; }
};

template <typename Of>
double median_of(const CaseResult& result, const Of& of) {
  std::vector<double> values;
  for (const CheckRun& one_run : result.runs) values.push_back(of(one_run));
  return median(std::move(values));
}

double rounded(double seconds) {
  return std::round(seconds * 1e6) / 1e6;
}

CaseResult measured(const Case& one, const Arguments& arguments) {
  CaseResult result{one, known_verdict(one), {}, {}};
  const auto once = [&]() -> std::optional<CheckRun> {
    auto one_run = run(one, arguments.run_options);
    if (!one_run.ok()) {
      result.failure = one_run.error().to_string();
      return std::nullopt;
    }
    if (one_run->verdict != result.expected && one_run->verdict != "unknown") {
      result.failure = fmt::format("WRONG: {}, expected {}: {}", one_run->verdict, result.expected,
                                   to_shell(command_of(one, arguments.run_options)));
      return std::nullopt;
    }
    return *std::move(one_run);
  };
  auto first = once();
  if (!first) return result;
  // An unknown verdict is not repeated.
  const bool unknown = first->verdict == "unknown";
  if (unknown || arguments.runs == 1 || first->cost.wall_seconds >= kLongSeconds)
    result.runs.push_back(*std::move(first));
  while (!unknown && result.runs.size() < static_cast<std::size_t>(arguments.runs)) {
    auto next = once();
    if (!next) return result;
    if (next->verdict == "unknown") {
      result.runs = {*std::move(next)};
      break;
    }
    result.runs.push_back(*std::move(next));
  }
  return result;
}

Json machine(const Arguments& arguments) {
  utsname system{};
  uname(&system);
  std::string processor = "?";
  std::ifstream cpus("/proc/cpuinfo");
  for (std::string line; std::getline(cpus, line);) {
    if (line.starts_with("model name")) {
      processor = line.substr(line.find(':') + 2);
      break;
    }
  }
  double load = 0;
  ::getloadavg(&load, 1);
  return {{"size", arguments.size},
          {"system", fmt::format("{} {}", system.sysname, system.machine)},
          {"processor", processor},
          {"hardware_threads", std::thread::hardware_concurrency()},
          {"compiler", "g++ " __VERSION__},
          {"load_at_start", load},
          {"runs", arguments.runs},
          {"timeout_seconds", arguments.run_options.timeout_seconds},
          {"threads", arguments.run_options.threads}};
}

Json json_of(const CaseResult& result, const Arguments& arguments) {
  const Case& one = result.what;
  Json object{{"case", one.name()}, {"group", one.group}, {"series", one.series},
              {"value", one.value}, {"level", one.level}, {"expected", result.expected}};
  if (one.recipe) object["recipe"] = one.recipe->to_string();
  object["command"] = to_shell(command_of(one, arguments.run_options));
  if (!result.failure.empty()) {
    object["failure"] = result.failure;
    return object;
  }
  const CheckRun& one_run = result.runs.front();
  object["verdict"] = one_run.verdict;
  if (!one_run.detail.empty()) object["detail"] = one_run.detail;
  object["decided_by"] = one_run.decided_by;
  object["transactions"] = one_run.transactions;
  object["operations"] = one_run.operations;
  object["sessions"] = one_run.sessions;
  object["keys"] = one_run.keys;
  object["wall_seconds"] =
      rounded(median_of(result, [](const CheckRun& t) { return t.cost.wall_seconds; }));
  object["cpu_seconds"] =
      rounded(median_of(result, [](const CheckRun& t) { return t.cost.cpu_seconds(); }));
  object["user_seconds"] =
      rounded(median_of(result, [](const CheckRun& t) { return t.cost.user_seconds; }));
  object["peak_bytes"] =
      median_of(result, [](const CheckRun& t) { return static_cast<double>(t.cost.peak_bytes); });
  Json walls = Json::array(), cpus = Json::array();
  for (const CheckRun& t : result.runs) {
    walls.push_back(rounded(t.cost.wall_seconds));
    cpus.push_back(rounded(t.cost.cpu_seconds()));
  }
  object["wall_of_each"] = std::move(walls);
  object["cpu_of_each"] = std::move(cpus);
  Json stages = Json::object();
  for (const auto& [stage, cost] : one_run.stages) {
    const auto of = [&, name = stage](double StageCost::*part) {
      return rounded(median_of(result, [&](const CheckRun& t) {
        for (const auto& [other, its] : t.stages) {
          if (other == name) return its.*part;
        }
        return 0.0;
      }));
    };
    stages[stage] = {{"seconds", of(&StageCost::seconds)},
                     {"cpu_seconds", of(&StageCost::cpu_seconds)}};
  }
  object["stages"] = std::move(stages);
  return object;
}

// Seconds with three digits that count.
std::string seconds_text(double seconds) {
  if (seconds < 0.0005) return "0";
  return seconds < 0.1 ? fmt::format("{:.4f}", seconds) : fmt::format("{:.3g}", seconds);
}

std::string table(const std::string& group, const std::vector<Json>& rows) {
  constexpr const char* kStages[] = {"read",   "describe", "saturation", "schedule",
                                     "refine", "parts",    "explain"};
  std::string text = fmt::format(
      "\n## {}\n\n| series | value | level | verdict | decided by | transactions | operations | "
      "wall | CPU | "
      "peak, MB |",
      group);
  std::string line = "\n|---|---|---|---|---|---:|---:|---:|---:|---:|";
  for (const char* stage : kStages) {
    text += fmt::format(" {} |", stage);
    line += "---:|";
  }
  text += line + "\n";
  for (const Json& row : rows) {
    text += fmt::format("| {} | {} | {} |", row.at("series").get<std::string>(),
                        row.at("value").get<std::string>(), row.at("level").get<std::string>());
    if (row.contains("failure")) {
      text += " **no right answer** |\n";
      continue;
    }
    text += fmt::format(
        " {} | {} | {} | {} | {} | {} | {:.0f} |", row.at("verdict").get<std::string>(),
        row.at("decided_by").get<std::string>(), row.at("transactions").get<std::uint64_t>(),
        row.at("operations").get<std::uint64_t>(),
        seconds_text(row.at("wall_seconds").get<double>()),
        seconds_text(row.at("cpu_seconds").get<double>()),
        row.at("peak_bytes").get<double>() / 1e6);
    for (const char* stage : kStages) {
      const auto& stages = row.at("stages");
      text +=
          fmt::format(" {} |", stages.contains(stage)
                                   ? seconds_text(stages.at(stage).at("cpu_seconds").get<double>())
                                   : "");
    }
    text += "\n";
  }
  return text;
}

bool has_collection() {
  return fs::exists(cupel::golden::collection_folder() / "expected.tsv");
}

int main_of(const Arguments& arguments) {
  const auto size = parse_size(arguments.size);
  const fs::path output = arguments.output;
  std::vector<Case> wanted;
  const std::regex only(arguments.only.empty() ? ".*" : arguments.only);
  for (auto& one : cases(*size, output / "histories")) {
    if (std::regex_search(one.name(), only)) wanted.push_back(std::move(one));
  }
  if (wanted.empty()) {
    fmt::print(stderr, "suite: found no case named like `{}`; see --list\n", arguments.only);
    return 3;
  }
  if (*size != Size::kTiny && !has_collection()) {
    fmt::print(
        stderr,
        "suite: the published histories are omitted: found no expected.tsv in {}; name their "
        "folder in CUPEL_HISTORIES\n",
        cupel::golden::collection_folder().string());
  }
  if (arguments.list) {
    for (const auto& one : wanted) fmt::print("{}\n", one.name());
    return 0;
  }
  fs::create_directories(output);
  const fs::path lines = output / (arguments.size + ".jsonl");
  std::ofstream results(lines);
  const Json about = machine(arguments);
  results << about.dump() << "\n";
  std::vector<std::string> groups;
  std::map<std::string, std::vector<Json>> rows;
  std::size_t wrong = 0, unknown = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Case& one = wanted[i];
    const auto made = make(one, arguments.cupel);
    if (!made.ok()) {
      fmt::print(stderr, "{}: {}\n", one.name(), made.error().to_string());
      ++wrong;
      continue;
    }
    if (arguments.make_only) continue;
    const CaseResult result = measured(one, arguments);
    Json row = json_of(result, arguments);
    if (!result.failure.empty()) {
      ++wrong;
      fmt::print(stderr, "\n{}\n  {}\n", one.name(), result.failure);
    } else {
      if (result.unknown()) {
        ++unknown;
        fmt::print(stderr, "\nUNKNOWN: {}\n  {}\n  {}\n", one.name(), row.value("detail", ""),
                   row.at("command").get<std::string>());
      }
      fmt::print("{:4}/{} {:9} {:>9} s {:>6.0f} MB  {}\n", i + 1, wanted.size(),
                 row.at("verdict").get<std::string>(),
                 seconds_text(row.at("wall_seconds").get<double>()),
                 row.at("peak_bytes").get<double>() / 1e6, one.name());
      std::fflush(stdout);
    }
    results << row.dump() << std::endl;
    if (!rows.contains(one.group)) groups.push_back(one.group);
    rows[one.group].push_back(std::move(row));
  }
  if (arguments.make_only) return wrong != 0 ? 1 : 0;
  std::ofstream tables(output / (arguments.size + ".md"));
  tables << fmt::format(
      "# The suite, {}\n\n{}, {}, {} hardware threads, {}; medians of {} runs; seconds; stages by "
      "CPU time. "
      "Load at the start: {:.1f}.\n",
      arguments.size, about.at("system").get<std::string>(),
      about.at("processor").get<std::string>(), about.at("hardware_threads").get<unsigned>(),
      about.at("compiler").get<std::string>(), arguments.runs,
      about.at("load_at_start").get<double>());
  for (const auto& group : groups) tables << table(group, rows[group]);
  results.flush();
  tables.flush();
  if (!results || !tables) {
    fmt::print(stderr, "suite: {} cannot be written\n", output.string());
    return 3;
  }
  fmt::print("\n{} cases: {} right, {} unknown, {} without a right answer; {} and .md\n",
             wanted.size(), wanted.size() - wrong - unknown, unknown, wrong, lines.string());
  return wrong != 0 ? 1 : unknown != 0 ? 2 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Check and measure the suite of histories with the cupel program");
  app.add_option("--size", arguments.size, "The size of the suite: tiny, small or full")
      ->check(CLI::IsMember({"tiny", "small", "full"}))
      ->capture_default_str();
  app.add_option("--cupel", arguments.cupel, "The program to measure")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--output", arguments.output, "The folder for results and generated histories")
      ->required();
  app.add_option("--runs", arguments.runs, "Runs of each case")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--timeout", arguments.run_options.timeout_seconds,
                 "Time limit of each run in seconds")
      ->capture_default_str();
  app.add_option("--threads", arguments.run_options.threads,
                 "Threads of each run. 0: as many as the machine has")
      ->capture_default_str();
  app.add_option("--only", arguments.only,
                 "Only the cases whose names match this regular expression");
  app.add_flag("--list", arguments.list, "List the cases");
  app.add_flag("--make-only", arguments.make_only, "Generate the histories, but measure nothing");
  try {
    app.parse(argc, argv);
    arguments.run_options.cupel = arguments.cupel;
    return main_of(arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 3;
  } catch (const std::regex_error& error) {
    fmt::print(stderr, "suite: --only: {}\n", error.what());
    return 3;
  } catch (const std::exception& error) {
    fmt::print(stderr, "suite: {}\n", error.what());
    return 1;
  }
}
