// cupel explain and cupel levels: the glossary.
#include <fmt/format.h>

#include <memory>

#include "cli/command.hpp"
#include "cli/spelling.hpp"
#include "explain/glossary.hpp"

namespace cupel::cli {

void add_explain(CLI::App& app, Run& run) {
  auto* command = app.add_subcommand("explain", "Say what a level or an anomaly means");
  auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("NAME", *words, "A level or an anomaly; without it, all are listed")
      ->type_name("");
  command->footer(
      "Examples:\n  cupel explain lost-update\n  cupel explain si\n  cupel explain G-single");
  command->callback([words, &run] {
    run = [words]() -> int {
      const auto name = CLI::detail::join(*words, " ");  // lost update, unquoted
      if (name.empty()) {
        print("Levels, weakest first\n\n" + explain::list_levels() + "\nAnomalies\n\n" +
              explain::list_anomalies());
        return kSatisfied;
      }
      const auto text = explain::describe(name);
      if (text.empty()) {
        auto names = anomaly_names();
        for (auto& level : level_names()) names.push_back(std::move(level));
        const auto suggestion = did_you_mean(name, names);
        complain(fmt::format(
            "found `{}`, which is neither a level nor an anomaly{} `cupel explain` lists them",
            name, suggestion.empty() ? ";" : suggestion));
        return kBad;
      }
      print(text);
      return kSatisfied;
    };
  });
  app.add_subcommand("levels", "List the isolation levels")->callback([&run] {
    run = []() -> int {
      print(explain::list_levels());
      return kSatisfied;
    };
  });
}

}  // namespace cupel::cli
