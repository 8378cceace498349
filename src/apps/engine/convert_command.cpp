// cupel convert: a history in another format, or a refusal where that format
// cannot hold it.
#include <fmt/format.h>

#include <memory>
#include <vector>

#include "apps/command.hpp"
#include "apps/options.hpp"
#include "apps/same_file.hpp"
#include "data/formats/extra_fields.hpp"
#include "data/formats/input.hpp"

namespace cupel::apps {

void add_convert(Command& app, Run& run) {
  struct Arguments {
    std::string in, out, output, from, to;
    std::vector<std::string> initial;
    InterpretationArguments as;
    bool edn = false;
  };
  auto* command = add_command(app, "convert");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("IN", arguments->in, "The history to read; - is standard input")
      ->required()
      ->check(not_empty("a file or a folder"))
      ->type_name("");
  command
      ->add_option("OUT", arguments->out,
                   "The file to write. An existing file is replaced only if the command succeeds. "
                   "- is standard output")
      ->type_name("");
  command->add_option("-o,--output", arguments->output, "The same as OUT")->type_name("OUT");
  command->add_option("-f,--from", arguments->from, "Format of IN. Default: recognised by content")
      ->type_name("FORMAT");
  add_initial_option(*command, arguments->initial);
  add_interpretation_options(*command, arguments->as);
  add_target_options(*command, arguments->to, arguments->edn, "OUT");
  command->footer(
      "Examples:\n  cupel convert history.edn history.jsonl\n"
      "  cupel convert -t cupel results/ history.cupel\n"
      "  zcat history.edn.gz | cupel convert -t plume - - | head");
  command->callback([arguments, &run] {
    const auto from = format_of(arguments->from, "--from");
    format_of(arguments->to, "--to");
    if (!arguments->output.empty()) std::swap(arguments->out, arguments->output);
    if (arguments->out.empty()) throw UsageError("OUT, the file to write, is required");
    if (!arguments->output.empty()) {
      throw UsageError("--output",
                       "the file to write is named twice, by OUT and by -o; leave out one");
    }
    run = [arguments, from, initial = initial_values(arguments->initial),
           as = interpretation(arguments->as)]() -> int {
      const auto options = write_options(arguments->out, arguments->to, arguments->edn);
      if (!options.ok()) {
        print_error(options.error());
        return kBad;
      }
      if (same_file(arguments->in, arguments->out)) {
        print_error(
            base::Error{.message = "is both the input and the output; name another file to write",
                        .file = arguments->out});
        return kBad;
      }
      const formats::OpenOnce once(arguments->in);
      const auto history =
          formats::read(arguments->in, {.format = from, .initial = initial, .as = as});
      if (!history.ok()) {
        print_error(history.error());
        return kBad;
      }
      note_interpretation(arguments->in, *history, /*kind=*/true);
      auto with_nodes = *options;
      formats::Nodes nodes;
      if (options->format == formats::Format::kCupel) {
        nodes = formats::nodes_of_file(arguments->in, history->fact("format"));
        with_nodes.nodes = &nodes;
      }
      return write_history(*history, arguments->out, with_nodes);
    };
  });
}

}  // namespace cupel::apps
