// cupel crdt generate: histories of simulated replicas.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "apps/command.hpp"
#include "apps/crdt/crdt_arguments.hpp"
#include "apps/crdt/crdt_subcommands.hpp"
#include "apps/emit.hpp"
#include "apps/options.hpp"
#include "apps/spelling.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/workload/generate.hpp"

namespace cupel::apps {

namespace {

struct CrdtGenerateArguments {
  std::vector<std::string> types;
  std::string output = "-";
  crdt::GenerateOptions options;

  bool edn = false, no_times = false, no_final_reads = false;
};

int generate_crdt(const CrdtGenerateArguments& arguments) {
  const auto recording = crdt::generate_recording(arguments.options);
  if (!recording.ok()) {
    print_error(recording.error());
    return kBad;
  }
  const auto text = crdt::write(*recording, arguments.edn || arguments.output.ends_with(".edn"));
  if (arguments.output == "-") {
    print(text);
    return kSatisfied;
  }
  return write_whole(arguments.output, text) ? kSatisfied : kBad;
}

void refuse_unknown_bug(const std::string& bug, const std::vector<crdt::NamedType>& asked) {
  if (bug.empty()) return;
  std::vector<std::string> known;
  for (const auto type : asked) {
    for (auto& its : crdt::bugs_of(type.type)) known.push_back(std::move(its));
    for (auto& its : crdt::injected_bugs_of(type.type)) known.push_back(std::move(its));
  }
  if (asked.size() > 1) known.emplace_back(crdt::kObjectsApart.name);
  if (std::find(known.begin(), known.end(), bug) != known.end()) return;
  std::string types;
  for (const auto type : asked)
    types += fmt::format("{}{}", types.empty() ? "" : ", ", crdt::name(type.type));
  throw UsageError("--bug", fmt::format("found `{}`, expected a bug of the type{} {}: {}{}", bug,
                                        asked.size() > 1 ? "s" : "", types, one_of(known),
                                        did_you_mean(bug, known)));
}

}  // namespace

void add_crdt_generate(Command& app, Run& run) {
  auto* command = app.add_subcommand(
      "generate", "Write a history of simulated replicas, correct or with a bug");
  auto arguments = std::make_shared<CrdtGenerateArguments>();
  auto& options = arguments->options;
  add_crdt_type_option(*command, arguments->types,
                       ". May be repeated: then the history has an object of each type")
      ->required()
      ->allow_extra_args(false);
  command
      ->add_option("-o,--output", arguments->output, "The file to write. Default: standard output")
      ->type_name("FILE");
  command->add_flag("--edn", arguments->edn,
                    "Write EDN instead of JSON lines; the default if FILE ends in .edn");
  add_crdt_request_options(*command, options);
  const char* group = "Replicas";
  std::string bugs;
  for (const auto& bug : crdt::all_bugs()) {
    bugs += fmt::format("  {:33} {}\n", bug.name, bug.what);
  }
  bugs += fmt::format("  {:33} {}\n", crdt::kObjectsApart.name, crdt::kObjectsApart.what);
  command
      ->add_option("--ops", options.ops,
                   "Number of operations of all replicas together, without the final reads")
      ->type_name("N")
      ->check(whole_number(0, 100000000))
      ->capture_default_str()
      ->group(group);
  command
      ->add_option(
          "--delivery", options.delivery,
          "Probability that the next update of another replica arrives before an operation, from 0 "
          "to 1")
      ->type_name("SHARE")
      ->check(share())
      ->capture_default_str()
      ->group(group);
  command->add_option("--bug", options.bug, "Inject this bug; the list is below")
      ->type_name("BUG")
      ->group(group);
  command
      ->add_flag(
          "--no-final-reads", arguments->no_final_reads,
          "Leave out the last step, which delivers every update and lets every replica read every "
          "key")
      ->group(group);
  command
      ->add_flag("--context", options.context,
                 "Also write what each replica had received, as deliver lines")
      ->group(group);
  command->add_flag("--no-times", arguments->no_times, "Leave out the times of operations")
      ->group(group);
  command->footer(
      "Bugs (docs/reference/crdt.md#generate lists their types):\n" + bugs +
      "\nExamples:\n"
      "  cupel crdt generate --type or-set --ops 1000 -o history.jsonl\n"
      "  cupel crdt generate --type rga --bug interleaves | cupel crdt check --type rga -\n"
      "  cupel crdt generate --type or-set --type counter --context | cupel crdt check -");
  command->callback([arguments, &run] {
    auto& asked = arguments->options;
    std::vector<crdt::NamedType> types;
    for (const auto& type : arguments->types) types.push_back(crdt_type(type));
    refuse_unknown_bug(asked.bug, types);
    if (types.size() == 1)
      asked.type = types[0];
    else
      asked.types = types;
    asked.times = !arguments->no_times;
    asked.final_reads = !arguments->no_final_reads;
    run = [arguments] { return generate_crdt(*arguments); };
  });
}

}  // namespace cupel::apps
