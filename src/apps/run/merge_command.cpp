// cupel merge: joins what shards and workers left: results of `check --json`, folders of campaigns,
// histories of one database.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "apps/command.hpp"
#include "apps/many_histories.hpp"
#include "apps/options.hpp"
#include "apps/result_line.hpp"
#include "apps/same_file.hpp"
#include "apps/terminal.hpp"
#include "apps/units.hpp"
#include "base/budget.hpp"
#include "base/read_file.hpp"
#include "base/write_file.hpp"
#include "data/formats/formats.hpp"
#include "data/formats/input.hpp"
#include "data/merge/join.hpp"
#ifndef CUPEL_CORE
#include "run/campaign.hpp"
#endif

namespace cupel::apps {

namespace {

namespace fs = std::filesystem;

struct MergeArguments {
  std::vector<std::string> inputs, offsets;
  std::string output, to, format, drift;
  InterpretationArguments as;
  bool edn = false, no_times = false, json = false;
};

// What the inputs are. All are of one kind.
enum class InputKind { kHistories, kResults, kCampaigns };

InputKind kind_of(const std::string& input) {
  std::error_code none;
#ifndef CUPEL_CORE
  if (fs::is_directory(input, none) && run::is_campaign_folder(input)) return InputKind::kCampaigns;
#endif
  if (!fs::is_regular_file(input, none)) return InputKind::kHistories;
  if (fs::file_size(input, none) == 0) return InputKind::kResults;  // of a shard without tasks
  const auto content = formats::MappedFile::open(input);
  if (!content.ok()) return InputKind::kHistories;  // whose reader says what is wrong with it
  const auto line = content->bytes().substr(0, content->bytes().find('\n'));
  return begins_as_result(std::string(line)) ? InputKind::kResults : InputKind::kHistories;
}

const char* name_of_kind(InputKind kind) {
  switch (kind) {
    case InputKind::kHistories:
      return "a history";
    case InputKind::kResults:
      return "results of `cupel check --json`";
    case InputKind::kCampaigns:
      return "the folder of a campaign";
  }
  return "";
}

// The results of many histories, by their names.
class Results {
 public:
  base::Status add(const std::string& path) {
    const auto content = decompressed(base::read_file(path), path);
    if (!content.ok()) return content.error();
    std::istringstream in(*content);
    std::string line;
    for (std::uint64_t number = 1; std::getline(in, line); ++number) {
      const auto result = result_of(line);
      if (!result || in.eof()) {
        return base::Error{.message =
                               "found no whole line of `cupel check --json`, expected one; "
                               "run the shard again",
                           .file = path,
                           .line = number};
      }
      const auto [it, added] = by_file_.try_emplace(result->file, Entry{line, *result});
      if (!added && it->second.result.verdicts != result->verdicts) {
        return base::Error{.message = fmt::format("found other verdicts about {} than before; "
                                                  "expected results of the same histories at the "
                                                  "same levels",
                                                  result->file),
                           .file = path,
                           .line = number};
      }
    }
    if (in.bad()) throw std::bad_alloc();  // which the stream takes for an end of the text
    return base::Ok{};
  }

  [[nodiscard]] std::string lines() const {
    std::string text;
    for (const auto& [file, entry] : by_file_) text += entry.line + '\n';
    return text;
  }

  // The table of `cupel check`.
  [[nodiscard]] std::string table() const {
    VerdictTable table(by_file_.size());
    for (const auto& [file, entry] : by_file_) table.add(entry.result);
    return table.whole_text();
  }

  // As `cupel check` exits.
  [[nodiscard]] int code() const {
    int code = kSatisfied;
    for (const auto& [file, entry] : by_file_) code = std::max(code, entry.result.code);
    return code;
  }

 private:
  struct Entry {
    std::string line;
    ResultLine result;
  };

  std::map<std::string, Entry> by_file_;
};

int merge_results(const MergeArguments& arguments) {
  Results results;
  for (const auto& input : arguments.inputs) {
    if (const auto added = results.add(input); !added.ok()) return bad(added.error());
  }
  if (arguments.output.empty() || arguments.output == "-") {
    print(results.lines());
  } else if (const auto written = base::replace_file(arguments.output, results.lines());
             !written.ok()) {
    return bad(written.error());
  }
  print_status(results.table());
  return results.code();
}

#ifndef CUPEL_CORE
int merge_campaigns(const MergeArguments& arguments) {
  if (arguments.output.empty() && arguments.inputs.size() > 1) {
    throw UsageError("--output",
                     "found several campaigns and no folder for the whole, expected one");
  }
  const auto into = arguments.output.empty() ? arguments.inputs.front() : arguments.output;
  const auto summary = run::merge_campaigns(arguments.inputs, into);
  if (!summary.ok()) return bad(summary.error());
  arguments.json     ? print(run::summary_json(*summary))
  : output_columns() ? print_text(run::summary_text(*summary))
                     : print(run::summary_markdown(*summary));
  return run::exit_code(*summary);
}
#endif

// "-1.5ms", "20us": nanoseconds.
std::int64_t offset_of(const std::string& text) {
  const bool negative = text.starts_with('-');
  const auto size = or_throw(parse_nanoseconds(negative ? text.substr(1) : text), "--clock-offset");
  return negative ? -size : size;
}

merge::JoinOptions join_options(const MergeArguments& arguments) {
  merge::JoinOptions options{.times = !arguments.no_times};
  if (!arguments.drift.empty()) {
    options.drift = or_throw(parse_nanoseconds(arguments.drift), "--clock-drift");
  }
  for (const auto& text : arguments.offsets) options.offsets.push_back(offset_of(text));
  if (options.offsets.empty()) return options;
  if (!options.drift) {
    throw UsageError(
        "--clock-offset",
        "found without --clock-drift, expected both: how far the offsets may be wrong. "
        "0 if they are exact");
  }
  if (options.offsets.size() + 1 != arguments.inputs.size()) {
    throw UsageError("--clock-offset",
                     fmt::format("found {} of them for {} histories, expected one "
                                 "for each but the first",
                                 options.offsets.size(), arguments.inputs.size()));
  }
  options.offsets.insert(options.offsets.begin(), 0);
  return options;
}

int merge_histories(const MergeArguments& arguments) {
  if (arguments.output.empty()) {
    // What is no history should not be told that it needs a file.
    for (const auto& input : arguments.inputs) {
      const auto format = formats::detect(input);
      if (!format.ok()) return bad(format.error());
    }
    throw UsageError("--output", "found no file for the whole history, expected one");
  }
  const auto options = join_options(arguments);
  const auto target = write_options(arguments.output, arguments.to, arguments.edn);
  if (!target.ok()) return bad(target.error());
  const auto parts = merge::read_parts(
      arguments.inputs,
      {.format = format_of(arguments.format, "--format"), .as = interpretation(arguments.as)});
  if (!parts.ok()) return bad(parts.error());
  const auto joined = merge::join(*parts, options);
  if (!joined.ok()) return bad(joined.error());
  for (const auto& note : joined->notes) print_note(note);
  for (std::size_t i = 1; i < joined->clocks.size(); ++i) {
    const auto& clock = joined->clocks[i];
    print_status(fmt::format("{}: clock {:+.3f} ms from the first, known to {:.3f} ms\n",
                             arguments.inputs[i], static_cast<double>(clock.middle()) / 1e6,
                             static_cast<double>(clock.error() + joined->drift) / 1e6));
  }
  note_interpretation(arguments.output, joined->history, /*kind=*/true);
  return write_history(joined->history, arguments.output, *target);
}

int merge_inputs(const MergeArguments& arguments) {
  const auto as = interpretation(arguments.as);
  for (const auto& input : arguments.inputs) {
    if (input == "-") {
      return bad(base::Error{.message = "merge reads files; give a named pipe instead of -"});
    }
    if (!fs::exists(input)) {
      return bad(base::Error{.message = "there is no such file or folder", .file = input});
    }
  }
  // Results may be very many, so each is opened when it is read.
  std::deque<formats::OpenOnce> once;
  once.emplace_back(arguments.inputs.front());
  const auto kind = kind_of(arguments.inputs.front());
  for (const auto& input : arguments.inputs) {
    if (kind == InputKind::kHistories) once.emplace_back(input);
    if (kind != InputKind::kCampaigns && same_file(input, arguments.output)) {
      throw UsageError("--output", fmt::format("found {}, which is one of the inputs; expected "
                                               "another file",
                                               arguments.output));
    }
    const auto found = kind_of(input);
    if (found == kind) continue;
    return bad(base::Error{.message = fmt::format("found {}, expected {} as the first is",
                                                  name_of_kind(found), name_of_kind(kind)),
                           .file = input});
  }
  if (kind != InputKind::kHistories && !as.empty()) {
    throw UsageError(as.kind ? "--kind" : "--ignore",
                     fmt::format("it applies to histories, and the inputs are {}",
                                 kind == InputKind::kResults ? "results" : "campaigns"));
  }
  switch (kind) {
    case InputKind::kHistories:
      return merge_histories(arguments);
    case InputKind::kResults:
      return merge_results(arguments);
    case InputKind::kCampaigns:
#ifndef CUPEL_CORE
      return merge_campaigns(arguments);
#endif
      break;
  }
  return kBad;
}

}  // namespace

void add_merge(Command& app, Run& run) {
  auto* command = add_command(app, "merge");
  auto arguments = std::make_shared<MergeArguments>();
  command
      ->add_option(
          "INPUT", arguments->inputs,
          "Files of `cupel check --json`, folders of `cupel campaign`, or the histories of "
          "the workers of one run. All of one kind")
      ->required()
      ->check(not_empty("a file or a folder"))
      ->type_name("");
  command
      ->add_option("-o,--output", arguments->output,
                   "Where the whole goes: a file (results; default: standard output), a folder "
                   "(campaigns; default: the only one), or a history")
      ->check(not_empty("where to write"))
      ->type_name("FILE");
  command->add_flag("--json", arguments->json, "Print the table of campaigns as one JSON object");
  const char* histories = "Histories";
  add_format_option(*command, arguments->format);
  add_interpretation_options(*command, arguments->as);
  add_target_options(*command, arguments->to, arguments->edn, "FILE");
  command
      ->add_option("--clock-offset", arguments->offsets,
                   "What to add to the times of the second history, of the third … Default: "
                   "measured, by who read whose writes. Once for each")
      ->type_name("DURATION")
      ->allow_extra_args(false)
      ->group(histories);
  command
      ->add_option("--clock-drift", arguments->drift,
                   "How far the clocks may leave their pace, or given offsets be wrong. Every "
                   "interval is widened by it on both sides")
      ->type_name("DURATION")
      ->group(histories);
  command
      ->add_flag("--no-times", arguments->no_times,
                 "Leave the times out: no level of real time is then decided")
      ->group(histories);
  command->footer(
      "Examples:\n"
      "  cupel merge results-*.jsonl -o results.jsonl\n"
      "  cupel merge campaign-folder\n"
      "  cupel merge worker-*.jsonl -o history.cupel && cupel check history.cupel\n"
      "\n"
      "Exit code: of results and campaigns as `cupel check`; of histories 0 or 3.");
  command->callback([arguments, &run] { run = [arguments] { return merge_inputs(*arguments); }; });
}

}  // namespace cupel::apps
