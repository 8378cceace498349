// cupel stats: what a history holds, without judging it.
#include <memory>
#include <vector>

#include "apps/command.hpp"
#include "apps/options.hpp"
#include "data/formats/input.hpp"
#include "data/formats/store_directory.hpp"
#include "report/stats.hpp"

namespace cupel::apps {

void add_stats(Command& app, Run& run) {
  struct Arguments {
    std::vector<std::string> histories, initial;
    InterpretationArguments as;
    std::string format;
    bool json = false;
  };
  auto* command = add_command(app, "stats");
  auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("HISTORY", arguments->histories,
                   "History files or directories; - is standard input")
      ->required()
      ->check(not_empty("a file or a folder"))
      ->type_name("");
  add_format_option(*command, arguments->format);
  add_initial_option(*command, arguments->initial);
  add_interpretation_options(*command, arguments->as);
  command->add_flag("--json", arguments->json,
                    "Print one JSON object for each history, on one line");
  command->footer(
      "Examples:\n  cupel stats history.jsonl\n  cupel stats --json histories/*.edn | jq "
      ".operations");
  command->callback([arguments, &run] {
    const auto format = format_of(arguments->format, "--format");
    run = [arguments, format, initial = initial_values(arguments->initial),
           as = interpretation(arguments->as)]() -> int {
      int code = kSatisfied;
      bool first = true;
      for (const auto& file : formats::histories_at(arguments->histories, format)) {
        const formats::OpenOnce once(file);
        const auto history = formats::read(file, {.format = format, .initial = initial, .as = as});
        if (!history.ok()) {
          print_error(history.error());
          code = kBad;
          continue;
        }
        const auto stats = report::compute_stats(*history);
        if (arguments->json) {
          print(report::stats_json(stats, file) + "\n");
        } else {
          if (!first) print("\n");
          print_text(report::stats_text(stats, file));
        }
        first = false;
      }
      return code;
    };
  });
}

}  // namespace cupel::apps
