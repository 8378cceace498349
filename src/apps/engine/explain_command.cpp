// cupel explain and cupel levels: the glossary, and the formats of histories.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "apps/command.hpp"
#include "apps/command_line.hpp"
#include "apps/spelling.hpp"
#include "data/formats/format_spec.hpp"
#include "data/formats/formats.hpp"
#include "engine/explain/why/glossary.hpp"
#include "engine/levels/level.hpp"
#include "engine/levels/spec.hpp"

namespace cupel::apps {

namespace {

std::string levels_for_output() {
  return isatty(STDOUT_FILENO) != 0 ? explain::list_levels(100) : explain::list_levels();
}

// What each level implies directly.
std::string implications() {
  std::string text =
      "Each level implies the levels after it, and what they imply. A history that satisfies a "
      "level\nsatisfies every level that it implies.\n";
  for (const auto& spec : levels::kLevelSpecs) {
    std::vector<std::string_view> implied;
    for (const auto& weaker : spec.implies) {
      if (weaker) implied.push_back(levels::name(*weaker));
    }
    text += fmt::format("  {:<34} {}\n", spec.name,
                        implied.empty() ? "-" : fmt::format("{}", fmt::join(implied, ", ")));
  }
  return text;
}

// The page of a format: a sentence, the smallest file if it is text, and where to read on.
std::string format_text(const formats::FormatSpec& spec) {
  auto text = fmt::format("{}\n  A format of histories: {}. cupel {} it.\n", spec.name,
                          spec.description, spec.write != nullptr ? "reads and writes" : "reads");
  if (!spec.example.empty()) {
    text += spec.in_logs ? "\n  A smallest file of the directory:\n" : "\n  A smallest history:\n";
    for (const auto& line : split(std::string(spec.example), '\n'))
      if (!line.empty()) text += fmt::format("    {}\n", line);
  }
  return text + fmt::format("\n  More: {}\n", spec.page);
}

std::string format_json(const formats::FormatSpec& spec) {
  return nlohmann::ordered_json{{"format", spec.name},
                                {"description", spec.description},
                                {"written", spec.write != nullptr},
                                {"example", spec.example},
                                {"page", spec.page}}
             .dump() +
         "\n";
}

// Each level with its short name, and the levels that it implies directly.
std::string levels_json() {
  auto all = nlohmann::ordered_json::array();
  for (const auto level : levels::all_levels()) {
    auto implied = nlohmann::ordered_json::array();
    for (const auto& weaker : levels::spec_of(level).implies)
      if (weaker) implied.push_back(levels::name(*weaker));
    all.push_back({{"level", levels::name(level)},
                   {"short_name", levels::short_name(level)},
                   {"implies", std::move(implied)},
                   {"needs_times", levels::needs_real_time(level)}});
  }
  return nlohmann::ordered_json{{"levels", std::move(all)}}.dump() + "\n";
}

// Empty if it is neither a level, an anomaly nor a format.
std::string description_of(const std::string& name, bool as_json) {
  auto text = as_json ? explain::describe_json(name) : explain::describe(name);
  const auto format = formats::parse_format(name);
  if (!text.empty() || !format) return text;
  const auto& spec = formats::spec_of(*format);
  return as_json ? format_json(spec) : format_text(spec);
}

}  // namespace

void add_explain(Command& app, Run& run) {
  auto* command = add_command(app, "explain");
  auto words = std::make_shared<std::vector<std::string>>();
  command
      ->add_option("NAME", *words,
                   "A level, an anomaly or a format. Without it, levels and anomalies are listed")
      ->type_name("");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Print one JSON object on one line");
  command->footer(
      "Examples:\n  cupel explain lost-update\n  cupel explain si\n  cupel explain G-single\n  "
      "cupel explain TAP-n\n  cupel explain jepsen");
  command->callback([words, as_json, &run] {
    run = [words, as_json]() -> int {
      const auto name = fmt::format("{}", fmt::join(*words, " "));  // lost update, unquoted
      if (name.empty()) {
        if (*as_json) {
          print(explain::list_json());
        } else {
          print_text("Levels, weakest first\n\n" + levels_for_output() + "\n" +
                     explain::list_anomalies());
        }
        return kSatisfied;
      }
      const auto text = description_of(name, *as_json);
      if (text.empty()) {
        auto known = explain::glossary_names();
        for (auto& format : format_names()) known.push_back(std::move(format));
        const auto suggestion = did_you_mean(name, known);
        print_error(fmt::format(
            "found `{}`, which is no level, anomaly or format{} `cupel explain` lists levels and "
            "anomalies",
            name, suggestion.empty() ? ";" : suggestion));
        return kBad;
      }
      *as_json ? print(text) : print_text(text);
      return kSatisfied;
    };
  });
}

void add_levels(Command& app, Run& run) {
  auto* command = add_command(app, "levels");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Print one JSON object on one line");
  command->callback([as_json, &run] {
    run = [as_json]() -> int {
      *as_json ? print(levels_json()) : print_text(levels_for_output() + "\n" + implications());
      return kSatisfied;
    };
  });
}

}  // namespace cupel::apps
