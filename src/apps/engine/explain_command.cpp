// cupel explain and cupel levels: the glossary.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <memory>

#include "apps/command.hpp"
#include "apps/spelling.hpp"
#include "engine/explain/why/glossary.hpp"
#include "engine/levels/level.hpp"

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

}  // namespace

void add_explain(Command& app, Run& run) {
  auto* command = add_command(app, "explain");
  auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("NAME", *words, "A level or an anomaly. Without it, all are listed")
      ->type_name("");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Print one JSON object on one line");
  command->footer(
      "Examples:\n  cupel explain lost-update\n  cupel explain si\n  cupel explain G-single\n  "
      "cupel explain TAP-n");
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
      const auto text = *as_json ? explain::describe_json(name) : explain::describe(name);
      if (text.empty()) {
        const auto suggestion = did_you_mean(name, explain::glossary_names());
        print_error(fmt::format(
            "found `{}`, which is neither a level nor an anomaly{} `cupel explain` lists them",
            name, suggestion.empty() ? ";" : suggestion));
        return kBad;
      }
      *as_json ? print(text) : print_text(text);
      return kSatisfied;
    };
  });
}

void add_levels(Command& app, Run& run) {
  add_command(app, "levels")->callback([&run] {
    run = []() -> int {
      print_text(levels_for_output() + "\n" + implications());
      return kSatisfied;
    };
  });
}

}  // namespace cupel::apps
