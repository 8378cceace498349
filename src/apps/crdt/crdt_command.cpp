// cupel crdt: its commands, and `check`, which checks histories of replicated data types.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "apps/command.hpp"
#include "apps/crdt/crdt_arguments.hpp"
#include "apps/crdt/crdt_check.hpp"
#include "apps/crdt/crdt_subcommands.hpp"
#include "apps/emit.hpp"
#include "apps/options.hpp"
#include "base/budget.hpp"

namespace cupel::apps {

namespace {

int read_and_check(const std::string& file, std::optional<crdt::NamedType> type,
                   const CrdtArguments& arguments, const CrdtLimits& limits) {
  base::Budget budget(limits.timeout, limits.memory_bytes);
  const auto lines = crdt_lines(file);
  if (!lines.ok()) {
    print_error(lines.error());
    return kBad;
  }
  return check_crdt_lines({file, arguments, limits, budget}, *lines, type);
}

// Without a type, the histories name objects and their types.
int check_crdt(const CrdtArguments& arguments, std::optional<crdt::NamedType> type,
               const CrdtLimits& limits) {
  for (const auto& [file, what] : {std::pair{arguments.certificate, "the certificate"},
                                   std::pair{arguments.svg, "the picture"}}) {
    if (!file.empty() && !can_write(file, /*append=*/false, what)) return kBad;
  }
  if (!prepare_crdt_page(arguments.page)) return kBad;
  int code = kSatisfied;
  for (const auto& file : arguments.histories) {
    code = std::max(code, read_and_check(file, type, arguments, limits));
    flush_output();
  }
  return code;
}

void refuse_without_type(const CrdtArguments& arguments) {
  for (const auto& [option, value] :
       {std::pair{"--spec", crdt_spec(arguments)}, std::pair{"--svg", arguments.svg}}) {
    if (!value.empty()) {
      throw UsageError(
          option, "found it without --type, expected the type of the one object that it is for");
    }
  }
}

void add_crdt_check(Command& app, Run& run) {
  auto* command = app.add_subcommand(
      "check",
      "Check the values that replicas returned against their data type, under causal consistency");
  auto arguments = std::make_shared<CrdtArguments>();
  command
      ->add_option("HISTORY", arguments->histories,
                   "Histories, JSON lines or EDN; - is standard input")
      ->required()
      ->type_name("");
  add_crdt_type_option(*command, arguments->type,
                       ". Without it, the history names objects and the type of each");
  command
      ->add_flag(
          "--converge", arguments->converge,
          "Also check that the last reads of all replicas agree, and report how long that took "
          "if times are recorded. Use it if every update was delivered at the end. The exit code "
          "is 1 if the reads differ, and 2 if no key has two such reads")
      ->group(kQuestionOptions);
  command
      ->add_option("--clock-drift", arguments->clock_drift,
                   "Largest error of the clocks that recorded the times. Widens every operation by "
                   "this on both sides. With ns, us, ms or s, as in 1ms; a bare number is "
                   "nanoseconds. Default: 0")
      ->type_name("DURATION")
      ->group(kQuestionOptions);
  add_crdt_answer_options(*command, *arguments);
  command->footer(
      "Prints one line FILE<TAB>TYPE<TAB>satisfied|violated|unknown for each file. The\n"
      "explanation of a violation follows, indented by two spaces.\n"
      "\n"
      "Exit code: 0 satisfied, 1 violated, 2 unknown, 3 bad input; the largest of all files.\n"
      "\n"
      "Examples:\n"
      "  cupel crdt check --type or-set history.jsonl\n"
      "  cupel crdt check objects_of_several_types.jsonl\n"
      "  cupel crdt check --type rga --timeout 1m --json history.edn | jq .verdict\n"
      "  cupel crdt check --type counter --certificate proof.json --svg picture.svg history.jsonl\n"
      "  cupel crdt check --type text --report report history.jsonl");
  command->callback([arguments, &run] {
    std::optional<crdt::NamedType> type;
    if (!arguments->type.empty()) type = crdt_type(arguments->type, crdt_spec(*arguments));
    if (!type) refuse_without_type(*arguments);
    const auto limits = crdt_limits(*arguments);
    if (!arguments->page.empty() && arguments->histories.size() > 1) {
      throw UsageError(
          "--report", fmt::format("found {} histories, expected one", arguments->histories.size()));
    }
    for (const auto& [option, file] :
         {std::pair{"--certificate", arguments->certificate}, std::pair{"--svg", arguments->svg}}) {
      if (file.empty()) continue;
      if (arguments->histories.size() > 1)
        throw UsageError(
            option, fmt::format("found {} histories, expected one", arguments->histories.size()));
      std::error_code unknown;
      if (std::filesystem::equivalent(file, arguments->histories[0], unknown) &&
          std::filesystem::is_regular_file(file, unknown)) {
        throw UsageError(
            option, fmt::format("found {}, which is the history; expected another file", file));
      }
    }
    if (!arguments->svg.empty() &&
        std::filesystem::path(arguments->svg).lexically_normal() ==
            std::filesystem::path(arguments->certificate).lexically_normal()) {
      throw UsageError(
          "--svg",
          fmt::format("found {}, which --certificate writes already; expected another file",
                      arguments->svg));
    }
    run = [arguments, type, limits] { return check_crdt(*arguments, type, limits); };
  });
}

}  // namespace

void add_crdt(Command& app, Run& run) {
  auto* command = add_command(app, "crdt");
  command->require_subcommand(1);
  add_crdt_check(*command, run);
  add_crdt_verify(*command, run);
  add_crdt_generate(*command, run);
  add_crdt_run(*command, run);
  command->footer(
      "Checks the reads of replicas against the axioms of their type under causal consistency.\n"
      "The manual is docs/reference/crdt.md.");
}

}  // namespace cupel::apps
