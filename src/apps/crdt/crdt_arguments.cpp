// Arguments of `cupel crdt`: see the header.
#include "apps/crdt/crdt_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <limits>
#include <utility>

#include "apps/emit.hpp"
#include "apps/options.hpp"
#include "apps/spelling.hpp"
#include "apps/units.hpp"
#include "base/read_file.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/model/replicated_type.hpp"
#include "crdt/model/times.hpp"
#include "data/formats/decompress.hpp"

namespace cupel::apps {

namespace {

void add_spec_options(Command& command, CrdtArguments& arguments) {
  command
      .add_flag("--non-interleaving", arguments.non_interleaving,
                "Of --type list: the same as --spec non-interleaving")
      ->group(kQuestionOptions);
  std::vector<std::string> names;
  for (const auto& known : kCrdtSpecs) {
    if (std::find(names.begin(), names.end(), known.spec) == names.end())
      names.emplace_back(known.spec);
  }
  command
      .add_option(
          "--spec", arguments.spec,
          "Of --type list: strong (one order of all characters; the default), weak (one "
          "order of each two that are visible together; the same as --type weak-list) or "
          "non-interleaving (strong, and runs inserted at one place are not mixed; the "
          "same as --type non-interleaving-list). Of --type register: last-writer-wins (the "
          "default), any-maximal, multi-value or max (the same as --type max-register). Of "
          "--type map, what wins over the remove "
          "of a key: last-writer-wins (the default), "
          "remove-wins, update-wins or reset (the same as --type reset-map)")
      ->type_name("SPEC")
      ->check(one_of_names(names))
      ->group(kQuestionOptions);
}

// `type`: a text, or several.
template <typename Types>
Option* add_type_option_to(Command& command, Types& type, const std::string& otherwise = "") {
  std::vector<std::string> names;
  for (const auto t : crdt::all_types()) names.emplace_back(crdt::name(t));
  return command
      .add_option(
          "-T,--type", type,
          fmt::format("The replicated data type: {}; or another name of one, such as or-set, "
                      "g-set, mvr, lww, pn-counter, rga{}",
                      one_of(names), otherwise))
      ->type_name("TYPE");
}

void add_strict_axioms_option(Command& command, bool& strict) {
  command
      .add_flag("--strict-axioms", strict,
                "Use the axioms exactly as Biswas's thesis prints them: arrays may show removed "
                "characters, and two concurrent writes of one value are forbidden "
                "(docs/reference/crdt.md)")
      ->group(kQuestionOptions);
  command.add_flag("--letter", strict, "Deprecated: --strict-axioms")->hidden();
}

}  // namespace

crdt::NamedType crdt_type(const std::string& name) {
  const auto type = crdt::type_of(name);
  if (!type) {
    const auto names = crdt::type_names();
    throw UsageError("--type", fmt::format("found `{}`, expected {}{}", name, one_of(names),
                                           did_you_mean(name, names)));
  }
  return *type;
}

crdt::NamedType with_crdt_spec(crdt::NamedType type, const std::string& spec) {
  if (spec.empty()) return type;
  std::vector<std::string> own;
  for (const auto& known : kCrdtSpecs) {
    if (known.type != type.type) continue;
    if (known.spec == spec) return {known.means};
    own.emplace_back(known.spec);
  }
  throw UsageError(
      "--spec", fmt::format("found the type {} with --spec {}, expected {}", crdt::name(type.type),
                            spec, own.empty() ? "a list, a register or a map" : one_of(own)));
}

std::string crdt_spec(const CrdtArguments& arguments) {
  std::string other = "non-interleaving";
  if (!arguments.non_interleaving) return arguments.spec;
  if (!arguments.spec.empty() && arguments.spec != other)
    throw UsageError("--non-interleaving",
                     fmt::format("found --spec {}, too; leave out one of them", arguments.spec));
  return other;
}

crdt::NamedType crdt_type(const std::string& name, const std::string& spec) {
  return with_crdt_spec(crdt_type(name), spec);
}

std::int64_t crdt_clock_drift(const CrdtArguments& arguments) {
  if (arguments.clock_drift.empty()) return 0;
  return or_throw(parse_nanoseconds(arguments.clock_drift), "--clock-drift");
}

CrdtLimits crdt_limits(const CrdtArguments& arguments) {
  CrdtLimits limits;
  if (!arguments.timeout.empty())
    limits.timeout =
        std::chrono::duration<double>(or_throw(parse_duration(arguments.timeout, 1), "--timeout"));
  limits.memory_bytes = arguments.memory_limit.empty()
                            ? default_memory_limit()
                            : or_throw(parse_size(arguments.memory_limit), "--memory-limit");
  limits.shrink_seconds = or_throw(parse_duration(arguments.shrink_time, 1), "--shrink-time");
  limits.clock_drift_ns = crdt_clock_drift(arguments);
  limits.threads = arguments.threads;
  return limits;
}

Option* add_crdt_type_option(Command& command, std::string& type, const std::string& otherwise) {
  return add_type_option_to(command, type, otherwise);
}

Option* add_crdt_type_option(Command& command, std::vector<std::string>& types,
                             const std::string& otherwise) {
  return add_type_option_to(command, types, otherwise);
}

void add_crdt_answer_options(Command& command, CrdtArguments& arguments) {
  add_strict_axioms_option(command, arguments.strict);
  add_spec_options(command, arguments);
  command
      .add_option("--context", arguments.context,
                  "Recorded deliveries: trusted (each read must fit them; the default if there are "
                  "any), checked (the history is also decided without them) or ignored")
      ->type_name("HOW")
      ->check(one_of_names({"trusted", "checked", "ignored"}))
      ->group(kQuestionOptions);
  command
      .add_flag(
          "--converged-only", arguments.converged_only,
          "Check only that reads which had seen the same updates return the same. Needs recorded "
          "deliveries")
      ->group(kQuestionOptions);
  command
      .add_option("--certificate", arguments.certificate,
                  "Write the evidence for the verdict to this file, for cupel crdt verify. One "
                  "history only")
      ->check(not_standard_output("the file to write"))
      ->type_name("FILE")
      ->group(kQuestionOptions);
  command
      .add_flag("--witness", arguments.witness,
                "If the history is satisfied, print an execution: the operations in order, each "
                "with the remote updates that it newly sees")
      ->group(kQuestionOptions);
  command
      .add_option("--timeout", arguments.timeout,
                  "Time limit for each history, reading included; then the verdict is unknown. "
                  "Seconds, or with a unit: 90, 90s, 5m. Default: none")
      ->type_name("DURATION")
      ->group(kCostOptions);
  command
      .add_option(
          "--memory-limit", arguments.memory_limit,
          "Limit on the resident memory of the process; beyond it the verdict is "
          "unknown. Bytes, or K, M, G: 512M, 4G. 0: none. Default: three quarters of the machine, "
          "and at most nine tenths of what is free")
      ->type_name("SIZE")
      ->group(kCostOptions);
  command
      .add_option("--shrink-time", arguments.shrink_time,
                  "Time limit for shrinking a violation before it is explained. Seconds, or "
                  "with a unit")
      ->type_name("DURATION")
      ->capture_default_str()
      ->group(kCostOptions);
  command
      .add_option("--threads", arguments.threads,
                  "Threads that read a long history and decide parts of it. The number never "
                  "changes a verdict. Default: 0, as many as the machine has")
      ->type_name("N")
      ->check(whole_number(0, std::numeric_limits<unsigned>::max()))
      ->group(kCostOptions);
  command.add_flag("--json", arguments.json, "Print one JSON object for each history, on one line");
  command
      .add_option(
          "--svg", arguments.svg,
          "Draw the history and its verdict as SVG: replicas as rows, deliveries as arrows. One "
          "history only")
      ->check(not_standard_output("the file to write"))
      ->type_name("FILE");
  command
      .add_option(
          "--report", arguments.page,
          "Write a page to this folder: the verdict, pictures with deliveries as arrows, and "
          "the report as text. One history only")
      ->check(not_standard_output("the folder to write"))
      ->type_name("DIR");
}

void add_crdt_request_options(Command& command, crdt::Requests& requests) {
  const char* group = "Operations";
  command.add_option("--replicas", requests.replicas, "Number of replicas")
      ->type_name("N")
      ->check(whole_number(1, 1000))
      ->capture_default_str()
      ->group(group);
  command.add_option("--keys", requests.keys, "Number of objects of the type")
      ->type_name("N")
      ->check(whole_number(1, 1000000))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--elements", requests.values, "Sets: number of elements that an object may have")
      ->type_name("N")
      ->check(whole_number(1, 1000000))
      ->capture_default_str()
      ->group(group);
  command.add_option("--read-share", requests.read_share, "Share of reads, from 0 to 1")
      ->type_name("SHARE")
      ->check(share())
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--duplicates", requests.duplicates,
                  "Registers: share of writes that repeat an earlier value, from 0 to 1")
      ->type_name("SHARE")
      ->check(share())
      ->capture_default_str()
      ->group(group);
  command.add_option("--seed", requests.seed, "The same options and seed give the same operations")
      ->type_name("N")
      ->check(whole_number(0, std::numeric_limits<std::uint64_t>::max()))
      ->capture_default_str()
      ->group(group);
}

base::Result<std::string> crdt_contents(const std::string& file) {
  if (file == "-") {
    std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
    if (std::cin.bad())
      return base::Error{.message = "cannot read standard input to its end", .file = file};
    return decompressed(std::move(text), file);
  }
  std::error_code unknown;
  if (std::filesystem::is_directory(file, unknown))
    return base::Error{.message = "found a directory, expected a file", .file = file};
  return decompressed(base::read_file(file), file);
}

base::Result<std::string> crdt_lines(const std::string& file) {
  auto text = crdt_contents(file);
  if (!text.ok()) return text;
  // The recording failed or was lost: no verdict would be right.
  if (text->find_first_not_of(" \t\r\n") == std::string::npos) {
    return base::Error{.message = "found an empty file, expected operations, a line each",
                       .file = file};
  }
  return text;
}

base::Result<crdt::Recording> read_crdt_recording(const std::string& lines, const std::string& file,
                                                  std::optional<crdt::NamedType> type,
                                                  unsigned threads, std::int64_t clock_drift_ns,
                                                  crdt::UnknownOutcome unknown_outcome) {
  auto recording = crdt::read_recording(lines, file, type, threads, unknown_outcome);
  if (!recording.ok()) return recording;
  crdt::allow_clock_drift(recording->whole(), clock_drift_ns);
  crdt::share_times(*recording);
  return recording;
}

}  // namespace cupel::apps
