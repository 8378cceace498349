// cupel check: reads, checks, prints. The ladder without -l, one line a level
// with it.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "apps/command.hpp"
#include "apps/emit.hpp"
#include "apps/engine/check_history.hpp"
#include "apps/engine/crdt_hint.hpp"
#include "apps/engine/kept_results.hpp"
#include "apps/engine/object_check.hpp"
#include "apps/engine/report_folder.hpp"
#include "apps/engine/windows_check.hpp"
#include "apps/interrupt.hpp"
#include "apps/many_histories.hpp"
#include "apps/options.hpp"
#include "apps/result_line.hpp"
#include "apps/slow_note.hpp"
#include "apps/spelling.hpp"
#include "apps/version.hpp"
#include "base/interrupt.hpp"
#include "base/read_file.hpp"
#include "data/formats/input.hpp"
#include "data/formats/label_lines.hpp"
#include "data/formats/store_directory.hpp"
#include "data/history/naming.hpp"
#include "data/history/text_order.hpp"
#include "data/history/times.hpp"
#include "engine/analysis/analyze.hpp"
#include "engine/analysis/clocks_back.hpp"
#include "engine/analysis/first_reads.hpp"
#include "engine/analysis/levels_by_name.hpp"
#include "engine/analysis/unsure_absences.hpp"
#include "engine/explain/why/words.hpp"
#include "report/certificate.hpp"
#include "report/evidence.hpp"
#include "report/final_reads.hpp"
#include "report/render.hpp"
#include "report/wording.hpp"

namespace cupel::apps {

namespace {

// The command line that shows it again: what changes the answer, not what it costs. Standard input
// cannot be read again: empty.
std::string command_of(const std::string& file, const CheckArguments& arguments) {
  if (file == "-") return {};
  std::string command = "cupel check";
  for (const auto& level : arguments.levels) command += " -l " + shell_word(level);
  if (!arguments.format.empty()) command += " -f " + shell_word(arguments.format);
  if (!arguments.limits.clock_drift.empty()) {
    command += " --clock-drift " + shell_word(arguments.limits.clock_drift);
  }
  for (const auto& text : arguments.initial) command += " --initial " + shell_word(text);
  command += arguments.as.words();
  return command + " " + shell_word(file);
}

// What is given for every history alike.
using Report = std::optional<base::Result<ReportFolder::Written>>;  // none: it is not written

struct Outputs {
  Emitter& emitter;
  std::optional<ReportFolder>& folder;
  const KeptResults* kept = nullptr;  // borrowed; none: they are not kept
};

Report write_report(const std::optional<ReportFolder>& folder, std::size_t number,
                    const std::string& file, const Found& found) {
  if (!folder || !found.ok() || found->objects || base::interrupted()) return std::nullopt;
  const report::Checked checked{file, found->history, found->analysis};
  if (report::nothing_committed(checked)) return std::nullopt;
  return folder->write(number, checked);
}

// An error in place of a history in which nothing committed.
Found with_evidence(const std::string& file, Found found) {
  if (!found.ok() || found->objects) return found;
  auto nothing = report::nothing_committed({file, found->history, found->analysis});
  return nothing ? Found(*std::move(nothing)) : std::move(found);
}

void report_unreadable(const std::string& file, base::Error error, const Outputs& outputs) {
  error.message += crdt_hint(file);
  print_error(error);
  outputs.emitter.add(file, error);
  if (outputs.folder) outputs.folder->add(file, error);
}

// What the history may have left out, if the first reads say so.
void hint_at_start(const report::Checked& checked) {
  const auto& levels = checked.analysis.check.levels;
  const bool violated = std::any_of(levels.begin(), levels.end(), [](const auto& level) {
    return level.verdict == check::Verdict::kViolated;
  });
  const auto start = violated ? analysis::unwritten_start(checked.history)
                              : std::optional<analysis::UnwrittenStart>();
  if (!start) return;
  const auto value = checked.history.value(start->value);
  // Others may have been written first, or be lists.
  const auto all = checked.history.key_count();
  const auto keys = start->keys == all
                        ? std::string("every key was")
                        : fmt::format("{} of {} keys {}", report::grouped(start->keys),
                                      report::grouped(all), start->keys == 1 ? "was" : "were");
  print_note(
      fmt::format("{}: {} first read as {}, which no transaction wrote; if keys start with it, add "
                  "--initial {}",
                  checked.file, keys, history::shown(value), shell_word(history::shown(value))));
}

// A client's clock that went back, where the verdict depends on it.
void hint_at_clocks(const report::Checked& checked, history::Time drift) {
  const auto& levels = checked.analysis.check.levels;
  const bool matters = std::any_of(levels.begin(), levels.end(), [](const auto& level) {
    return levels::needs_real_time(level.level) && level.verdict == check::Verdict::kViolated;
  });
  const auto back = matters ? analysis::clocks_back(checked.history) : std::nullopt;
  if (!back || back->most <= 2 * drift) return;
  const auto& h = checked.history;
  print_note(fmt::format(
      "{}: a client's clock went back: {} ended {} before {} was invoked{}; that alone violates "
      "levels of real time; --clock-drift {}ns allows for it",
      checked.file, history::transaction_in_full(h, back->later),
      explain::duration(history::between(h.complete(back->later), h.invoke(back->earlier))),
      history::transaction_in_full(h, back->earlier),
      back->count == 1 ? "" : fmt::format(", the first of {}", report::grouped(back->count)),
      (back->most + 1) / 2));
}

// Which keys no range read is said to have seen absent, though it did not return them.
void report_unsure_absences(const report::Checked& checked) {
  const auto unsure = analysis::unsure_absences(checked.history);
  if (!unsure) return;
  const bool one = unsure->count == 1;
  print_note(fmt::format(
      "{}: databases order some keys differently, so {} {} did not return {} not taken as absent; "
      "the first is {}, from {} to {}",
      checked.file, report::grouped(unsure->count),
      one ? "key that a range read" : "keys that range reads", one ? "is" : "are",
      history::shown_key(unsure->key), history::shown_bound(unsure->low),
      history::shown_bound(unsure->high)));
}

bool is_in_windows(const Found& found) {
  return found.ok() && found->analysis.windows.has_value();
}

void print_checked(const report::Checked& checked, const CheckArguments& arguments,
                   Emitter& emitter) {
  if (!checked.history.fact(formats::kNothingHappened).empty()) {
    print_note(fmt::format("{}: {}", checked.file, report::kNothingWasTested));
  }
  note_interpretation(checked.file, checked.history, !arguments.levels.empty());
  if (const auto missing = checked.history.fact("not ignored"); !missing.empty())
    print_note(fmt::format("{}: {}", checked.file, missing));
  if (!checked.analysis.windows) {
    hint_at_start(checked);
    hint_at_clocks(checked, check_options(arguments.levels, arguments.limits).clock_drift_ns);
    report_unsure_absences(checked);
  }
  if (emitter.any()) {
    emitter.add({checked, command_of(checked.file, arguments),
                 formats::lines_of_labels(checked.file, checked.history.fact("format"),
                                          report::labels_of(checked))});
  }
  if (arguments.json) {
    print(report::json(checked));
  } else if (emitter.instead_of_text()) {
    // It was given above, or will be when all histories are.
  } else if (arguments.levels.empty()) {
    print_text(report::ladder(
        checked,
        {.colour = use_colour(), .verbose = verbose(), .test_power = arguments.test_power}));
  } else {
    print_text(report::warnings_text_by_file(checked) + report::lines(checked) +
               report::windows_text(checked) +
               report::explanation(checked, {.colour = use_colour(), .verbose = verbose()}) +
               report::final_reads_text(checked) + report::test_power_text(checked));
  }
}

// The exit code.
int write_files(const report::Checked& checked, const CheckArguments& arguments,
                const check::Options& options, std::optional<std::uint64_t> first_bytes,
                std::optional<ReportFolder>& folder, Report& report) {
  int code = kSatisfied;
  const bool said = arguments.certificate.empty() || checked.analysis.windows;  // in windows_check
  if (!said && !checked.analysis.whole) {
    // Nothing can be said of a history that was not read, not even which it is.
    std::error_code ignored;
    print_error(base::Error{
        .message = fmt::format(
            "no certificate was written: a limit was met while the history was read{}",
            std::filesystem::exists(arguments.certificate, ignored) ? "; this file is of before"
                                                                    : ""),
        .file = arguments.certificate});
  } else if (!said &&
             !write_certificate(arguments.certificate, checked.history, checked.analysis.check,
                                {options.clock_drift_ns, first_bytes})) {
    code = kBad;
  }
  if (folder && (base::interrupted() || !report)) {
    print_error("no report was written, because the check was interrupted");
  } else if (folder && report->ok()) {
    folder->add(**std::move(report));
  } else if (folder) {
    print_error(report->error());
    code = kBad;
  }
  return code;
}

// The exit code. Prints an error for each level that -l names and refused.
int code_of(const std::string& file, const check::CheckResult& result, bool by_name) {
  int code = kSatisfied;
  for (const auto& level : result.levels) {
    switch (level.verdict) {
      case check::Verdict::kSatisfied:
        break;
      case check::Verdict::kViolated:
        code = std::max<int>(code, kViolated);
        break;
      case check::Verdict::kUnknown:
        code = std::max<int>(code, kUnknown);
        break;
      case check::Verdict::kRefused:
        if (!by_name) break;  // the ladder asks what can be asked
        // The reason names the level: "linearizable is about …".
        print_error(
            base::Error{.message = fmt::format("{} is refused: it {}", levels::name(level.level),
                                               report::without_own_name(level.level, level.detail)),
                        .file = file});
        code = kBad;
        break;
    }
  }
  return code;
}

// The exit code of a check, with what the final reads of a recorded run say, as `run` has it.
int with_final_reads(int code, const analysis::AnalyzedFile& found, bool by_name) {
  const auto losses = analysis::losses_of(found.history, found.analysis.final_reads, by_name);
  return exit_code_with(losses.verdict(), code);
}

// Where the time of a check went.
std::string stages_text(const std::string& file, const analysis::Analysis& analysis) {
  std::string text = fmt::format("cupel: {}:", file);
  for (const auto& stage : analysis.stages) {
    text += fmt::format(" {} {:.3f} s,", stage.name, stage.seconds);
  }
  text.back() = '\n';
  return text;
}

// Was there no time for what a history alone would have been told?
bool is_brief(const analysis::Analysis& analysis, const CheckArguments& arguments) {
  const auto& levels = analysis.check.levels;
  const bool violated = std::any_of(levels.begin(), levels.end(), [](const auto& level) {
    return level.verdict == check::Verdict::kViolated;
  });
  if (violated) return arguments.history_analysis && !analysis.whole_history;
  return arguments.levels.empty() && !analysis.test_power;
}

// The exit code.
int print_found(const std::string& file, const Found& found, const CheckArguments& arguments,
                const check::Options& options, const Outputs& outputs, Report report) {
  if (!found.ok()) {
    report_unreadable(file, found.error(), outputs);
    return kBad;
  }
  const report::Checked checked{file, found->history, found->analysis};
  print_checked(checked, arguments, outputs.emitter);
  if (const auto& error = checked.analysis.fields_error) {
    auto warning = *error;
    warning.message = "warning: " + warning.message;
    print_error(warning);
  }
  if (verbose()) print_detail(stages_text(file, found->analysis));
  if (base::interrupted()) print_error(interrupted_check(file));
  const int written =
      write_files(checked, arguments, options, found->first_bytes, outputs.folder, report);
  const bool by_name = analysis::levels_by_name(found->analysis.check.levels.size());
  const int code = std::max(
      written, with_final_reads(code_of(file, found->analysis.check, by_name), *found, by_name));
  if (outputs.kept != nullptr && checked.analysis.whole && !base::interrupted()) {
    const bool brief = is_brief(checked.analysis, arguments);
    if (const auto done = outputs.kept->keep(file, {report::json(checked), code, brief});
        !done.ok()) {
      return bad(done.error());
    }
  }
  return code;
}

// What is written may neither be a history that is read nor another thing written.
void refuse_overwriting(const CheckArguments& arguments, const Emitter& emitter) {
  auto outputs = emitter.files();
  for (auto& [name, file] : outputs) name = "--emit " + name;
  if (!arguments.certificate.empty()) outputs.emplace_back("--certificate", arguments.certificate);
  const auto same = [](const std::string& a, const std::string& b) {
    std::error_code unknown;
    if (std::filesystem::equivalent(a, b, unknown))
      return std::filesystem::is_regular_file(a, unknown);
    return std::filesystem::path(a).lexically_normal() ==
           std::filesystem::path(b).lexically_normal();
  };
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& [name, file] = outputs[i];
    for (const auto& history : arguments.histories) {
      if (same(file, history)) {
        throw UsageError(
            name, fmt::format("found {}, which is the history; expected another file", file));
      }
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (same(file, outputs[j].second)) {
        throw UsageError(
            name, fmt::format("found {}, which {} writes already; expected another file", file,
                              outputs[j].first));
      }
    }
  }
}

}  // namespace

analysis::Options analysis_options(const CheckArguments& arguments) {
  analysis::Options options;
  options.check = check_options(arguments.levels, arguments.limits);
  options.check.evidence = !arguments.certificate.empty();
  options.shrink_seconds = shrink_seconds(arguments.limits);
  options.whole_history = arguments.history_analysis;
  options.test_power =
      arguments.test_power ? analysis::TestPower::kAlways : analysis::TestPower::kIfPassed;
  if (!arguments.certificate.empty() && arguments.histories.size() > 1) {
    throw UsageError(
        "--certificate",
        fmt::format("found {} histories, expected one: a certificate is of one history",
                    arguments.histories.size()));
  }
  return options;
}

bool write_certificate(const std::string& file, const history::History& history,
                       const check::CheckResult& result, const CertificateOf& of) {
  const auto made = report::certificate(history, result, of.clock_drift_ns, of.first_bytes);
  for (const levels::Level level : made.missing) {
    print_error(fmt::format(
        "{} is not in the certificate: a limit was met while its evidence was put together",
        levels::name(level)));
  }
  return write_whole(file, made.json, /*append=*/false, "the certificate");
}

int print_checked_history(const std::string& file, const Found& found,
                          const CheckArguments& arguments) {
  Emitter emitter(arguments.emit, /*several=*/false);
  std::optional<ReportFolder> folder;
  if (!arguments.report.empty()) {
    folder.emplace(arguments.report, 1);
    if (const auto made = folder->prepare(); !made.ok()) return bad(made.error());
  }
  int code = print_found(file, found, arguments, analysis_options(arguments).check,
                         {emitter, folder}, write_report(folder, 0, file, found));
  if (const auto done = folder ? folder->finish() : base::Ok{}; !done.ok())
    code = bad(done.error());
  if (!emitter.finish()) code = kBad;
  return code;
}

namespace {

// What a process of a team that is not the first does with the histories: it reads each, and
// answers until the first process is done with it.
int help_with_each(const CheckArguments& arguments, const analysis::Options& options,
                   const analysis::FileOptions& reading) {
  const auto& others = *processes();
  for (const auto& file : arguments.histories) {
    const auto history = formats::read(file, {.format = reading.format,
                                              .threads = options.check.threads,
                                              .initial = reading.initial,
                                              .as = reading.as});
    std::optional<check::TeamMember> member;
    // What is wrong with the file, the first process says.
    if (history.ok()) member.emplace(*history, options.check, others.part);
    while (const auto question = others.question()) {
      others.answer(member ? member->answer(*question) : std::string());
    }
  }
  return kSatisfied;
}

// Everything but the history that the answer depends on.
std::string question_of(const CheckArguments& arguments) {
  std::string question(version());
  const auto add = [&](std::string_view text) { (question += '\0') += text; };
  for (const auto& text : arguments.levels) add(text);
  add("initial");
  for (const auto& text : arguments.initial) add(text);
  add(arguments.as.words());
  add(arguments.format);
  const auto& limits = arguments.limits;
  for (const auto& text :
       {limits.timeout, limits.memory_limit, limits.clock_drift, limits.shrink_time})
    add(text);
  add(arguments.history_analysis ? "analysis" : "");
  add(arguments.test_power ? "power" : "");
  return question;
}

// More histories than are checked beside each other.
constexpr std::size_t kMostAtOnce = 100;

// What was decided before, by the place of the history.
using KnownResults = std::map<std::size_t, KeptResults::Result>;

KnownResults known_results(const std::vector<std::string>& histories, KeptResults* kept) {
  KnownResults known;
  for (std::size_t i = 0; kept != nullptr && i < histories.size(); ++i) {
    if (auto result = kept->find(histories[i])) known.emplace(i, *std::move(result));
  }
  if (!known.empty()) {
    print_note(fmt::format("{} of these histories {} decided before", report::grouped(known.size()),
                           known.size() == 1 ? "was" : "were"));
  }
  return known;
}

// There is no limit of time by default: a check that gives up could have decided. So whoever waits
// at a terminal is told how to end it.
std::unique_ptr<SlowNote> note_if_slow(const std::string& file, const check::Options& options) {
  const bool seen = verbose() || isatty(STDERR_FILENO) != 0;
  if (options.timeout_seconds || options.team != nullptr || !seen) return nullptr;
  return std::make_unique<SlowNote>(
      fmt::format("{}: the check goes on. --timeout limits it, and Ctrl-C ends it with what is "
                  "decided by then",
                  file == "-" ? "standard input" : file));
}

// The worst exit code.
int check_each(const CheckArguments& arguments, const analysis::Options& options,
               const analysis::FileOptions& reading, const Outputs& outputs,
               const KnownResults& known) {
  const std::span<const std::string> files = arguments.histories;
  const bool apart =
      arguments.levels.empty() && !arguments.json && !outputs.emitter.instead_of_text();
  ExplainTime time(/*shared=*/files.size() > 1 && !options.shrink_seconds, files.size());
  VerdictTable table(files.size());
  std::vector<Report> reports(files.size());
  int code = kSatisfied;
  for (std::size_t next = 0; next < files.size();) {
    if (const auto before = known.find(next); before != known.end()) {
      print(before->second.line);
      if (const auto result = result_of(before->second.line)) table.add(*result);
      code = std::max(code, before->second.code);
      ++next;
      continue;
    }
    if (base::interrupted()) {
      print_error(base::Error{.message = "not checked: interrupted before", .file = files[next++]});
      code = std::max<int>(code, kUnknown);
      continue;
    }
    const std::size_t begin = next;
    const auto after = known.lower_bound(next);
    const auto count = (after == known.end() ? files.size() : after->first) - next;
    const auto report = [&, begin](std::size_t i, const Found& found) {
      const auto place = begin + i;
      reports[place] = write_report(outputs.folder, place, files[place], found);
    };
    const auto began = std::chrono::steady_clock::now();
    std::deque<formats::OpenOnce> once;  // until all that is said of them has been looked up
    for (const auto& file : files.subspan(next, std::min(count, kMostAtOnce)))
      once.emplace_back(file);
    auto too_large = surely_too_large(files[next], reading, options);
    std::vector<Found> several;
    if (too_large) {
      several.push_back(*std::move(too_large));
    } else {
      const auto slow = note_if_slow(files[next], options.check);
      several = analyze_first(files.subspan(next, count), reading, options, time, report);
    }
    for (std::size_t i = 0; i < several.size(); ++i) {
      const auto& file = files[begin + i];
      several[i] = with_windows(file, reading, options, {began, arguments.certificate},
                                std::move(several[i]));
      if (is_in_windows(several[i])) report(i, several[i]);
      several[i] = with_evidence(file, std::move(several[i]));
    }
    if (options.check.team != nullptr) options.check.team->ask("");  // the history is done
    for (const auto& found : several) {
      if (next > 0 && apart) print("\n");
      if (found.ok() && found->objects) {
        code = std::max(code, print_objects(files[next++], *found->objects, arguments,
                                            options.check, outputs.kept, table));
        continue;
      }
      code = std::max(code, print_found(files[next], found, arguments, options.check, outputs,
                                        std::move(reports[next])));
      flush_output();
      table.add(found);
      ++next;
    }
    table.show_progress();
  }
  if (const auto note = time.left_out(); !note.empty()) print_note(note);
  print_status(table.text());
  return code;
}

// On standard output if it has text, which begins with two blanks below the lines for scripts.
void say_report(const std::string& page, const CheckArguments& arguments, const Emitter& emitter) {
  if (arguments.json || emitter.instead_of_text()) {
    print_note("the report is " + page);
  } else {
    print_text(fmt::format("{}  report: {}\n", arguments.levels.empty() ? "\n" : "", page));
  }
}

int check_all(CheckArguments& arguments, const analysis::Options& options,
              const analysis::FileOptions& reading, Emitter& emitter) {
  // Before hours of checking.
  if (!emitter.can_write_all() ||
      (!arguments.certificate.empty() &&
       !can_write(arguments.certificate, /*append=*/false, "the certificate"))) {
    return kBad;
  }
  std::optional<ReportFolder> folder;
  if (!arguments.report.empty()) {
    folder.emplace(arguments.report, arguments.histories.size());
    if (const auto made = folder->prepare(); !made.ok()) {
      print_error(made.error());
      return kBad;
    }
  }
  std::optional<Interruptible> interruptible;
  // Nothing wakes who waits for standard input, so there a signal ends the program at once.
  if (std::find(arguments.histories.begin(), arguments.histories.end(), "-") ==
      arguments.histories.end()) {
    interruptible.emplace().begin_check();
  }
  std::optional<KeptResults> kept;
  if (!arguments.results.empty()) {
    kept.emplace(arguments.results, question_of(arguments), arguments.histories.size() > 1);
    if (const auto made = kept->prepare(); !made.ok()) return bad(made.error());
  }
  auto* const keeping = kept ? &*kept : nullptr;
  int code = check_each(arguments, options, reading, {emitter, folder, keeping},
                        known_results(arguments.histories, keeping));
  if (const auto done = folder ? folder->finish() : base::Ok{}; !done.ok()) {
    print_error(done.error());
    code = kBad;
  }
  if (!emitter.finish()) code = kBad;
  if (folder && folder->wrote() && code != kBad) say_report(folder->page(), arguments, emitter);
  return code;
}

// The histories of a shard, in their order on the command line. They are shared out in the order of
// their names: machines may expand histories/*.edn in another order.
void take_shard(CheckArguments& arguments) {
  const auto shard = shard_of(arguments.shard);
  if (shard.is_all()) return;
  if (std::find(arguments.histories.begin(), arguments.histories.end(), "-") !=
      arguments.histories.end()) {
    throw UsageError("--shard", "found standard input among the histories, expected files");
  }
  const std::set<std::string> names(arguments.histories.begin(), arguments.histories.end());
  std::set<std::string> own;
  std::size_t task = 0;
  for (const auto& name : names) {
    if (shard.takes(task++)) own.insert(name);
  }
  std::erase_if(arguments.histories, [&](const auto& name) { return !own.contains(name); });
  if (!arguments.report.empty()) {
    // The shards share the folder, and each has an index.
    arguments.report = (std::filesystem::path(arguments.report) /
                        fmt::format("shard-{}-of-{}", shard.number, shard.of))
                           .string();
  }
  if (own.empty()) {
    print_note(fmt::format("shard {} has none of the {} histories", shard.text(), names.size()));
  }
}

// All arguments looked at, ready to run.
Run prepared(const std::shared_ptr<CheckArguments>& arguments) {
  arguments->histories =
      formats::histories_at(arguments->histories, format_of(arguments->format, "--format"));
  take_shard(*arguments);
  auto options = analysis_options(*arguments);
  if (const auto* others = processes(); others != nullptr) {
    options.check.team = others->team;
    const auto& files = arguments->histories;
    if (std::find(files.begin(), files.end(), "-") != files.end()) {
      throw UsageError("found standard input, which only one process can read; expected files");
    }
  }
  auto emitter = std::make_shared<Emitter>(arguments->emit, arguments->histories.size() > 1);
  if (arguments->json && emitter->instead_of_text()) {
    throw UsageError(
        "--emit",
        "found no file, but --json writes to standard output already; name a file, as in "
        "--emit sql=FILE");
  }
  const analysis::FileOptions reading{
      .format = format_of(arguments->format, "--format"),
      .verdicts_only = !arguments->json && arguments->report.empty() && arguments->emit.empty(),
      .initial = initial_values(arguments->initial),
      .as = interpretation(arguments->as, /*objects=*/true),
      .objects = true};
  if (!arguments->results.empty()) {
    const auto& files = arguments->histories;
    if (!arguments->json || !arguments->report.empty() || emitter->any() ||
        !arguments->certificate.empty() ||
        std::find(files.begin(), files.end(), "-") != files.end()) {
      throw UsageError(
          "--results",
          "it goes with --json and files, and not with --report, --emit, --certificate or "
          "standard input: only the lines of --json are kept");
    }
    if (processes() != nullptr)
      throw UsageError("--results", "one process of MPI cannot keep results");
  }
  refuse_overwriting(*arguments, *emitter);
  if (processes() != nullptr && processes()->is_helper()) {
    return [arguments, options, reading] { return help_with_each(*arguments, options, reading); };
  }
  return [arguments, options, reading, emitter] {
    return check_all(*arguments, options, reading, *emitter);
  };
}

}  // namespace

void add_check(Command& app, Run& run) {
  auto* command = add_command(app, "check");
  auto arguments = std::make_shared<CheckArguments>();
  command
      ->add_option(
          "HISTORY", arguments->histories,
          "History files, the directories that dbcop, cobra and viper use, or a run of Jepsen's "
          "store directory or a folder of runs (history.edn, else history.txt, else jepsen.log). "
          "- is standard input")
      ->required()
      ->check(not_empty("a file or a folder"))
      ->type_name("");
  command
      ->add_option(
          "-l,--level", arguments->levels,
          "Levels to decide, separated by commas. May be repeated. Default: every level that "
          "applies to the history")
      ->type_name("LEVEL")
      ->allow_extra_args(false)
      ->group(kQuestionOptions);
  add_initial_option(*command, arguments->initial);
  add_interpretation_options(*command, arguments->as, /*objects=*/true);
  add_limit_options(*command, "The time for one history: to read it and to decide all levels",
                    arguments->limits);
  command
      ->add_option("--certificate", arguments->certificate,
                   "Write the evidence for every verdict to this file. `cupel verify` checks it. "
                   "One history "
                   "only")
      ->check(not_standard_output("the file to write"))
      ->type_name("FILE")
      ->group(kQuestionOptions);
  command
      ->add_flag("--test-power", arguments->test_power,
                 "Also report what the test could show: which transactions overlap in time, and "
                 "which anomalies this workload can reveal. Default: only if -l is not given "
                 "and the check passes")
      ->group(kQuestionOptions);
  command->add_flag("--worth", arguments->test_power, "Deprecated: --test-power")->hidden();
  command
      ->add_flag("--history-analysis,!--no-history-analysis", arguments->history_analysis,
                 "If a level is violated: count each anomaly in the whole history, and search for "
                 "further violations that are independent of the first. The search takes at most 2 "
                 "s plus a tenth "
                 "of the check's time. Default: --history-analysis")
      ->group(kCostOptions);
  command
      ->add_flag("--survey,!--no-survey", arguments->history_analysis,
                 "Deprecated: --history-analysis")
      ->hidden();
  add_format_option(*command, arguments->format);
  add_shard_option(*command, "histories", arguments->shard);
  command->add_flag("--json", arguments->json,
                    "Print one JSON object for each history, on one line");
  command
      ->add_option(
          "--results", arguments->results,
          "With --json: keep each line in this folder, and do not check again what is there "
          "from an earlier time. Shards may share it")
      ->check(not_standard_output("the folder to keep results in"))
      ->type_name("DIR");
  command
      ->add_option("--report", arguments->report,
                   "Write a page (index.html) to this folder: verdicts, statistics, a timeline and "
                   "pictures of the violations. Also write the pictures as .dot and .svg files")
      ->check(not_standard_output("the folder to write to"))
      ->type_name("DIR");
  command
      ->add_option("--emit", arguments->emit,
                   "Write the violations as markdown, sql, plume, jepsen, junit, sarif or github. "
                   "Several are separated by commas; may be repeated. Without =FILE the output "
                   "replaces the text on standard output. github goes to $GITHUB_STEP_SUMMARY if "
                   "that is set")
      ->type_name("FORMAT[=FILE]")
      ->allow_extra_args(false);
  command->footer(
      "With -l, each file and level gets one line FILE<TAB>LEVEL<TAB>satisfied|violated|unknown.\n"
      "The explanations follow the lines of a file, indented by two spaces.\n"
      "If -l names a level for which the history lacks facts (real time without times), this is\n"
      "an error, exit code 3. Without -l, such a level is refused and does not change the exit\n"
      "code.\n"
      "\n"
      "Examples:\n"
      "  cupel check history.jsonl\n"
      "  cupel check -l snapshot-isolation,serializable histories/*.edn | grep -v '^  '\n"
      "  cupel check store/latest\n"
      "  cupel check -l strict --clock-drift 1ms --timeout 5m history.jsonl\n"
      "  cupel check --emit sql history.jsonl > try.sql\n"
      "  cupel check -l si --emit junit=report.xml --emit github histories/*.jsonl\n"
      "  cupel check --json history.jsonl | jq -r '.levels[] | [.level, .verdict] | @tsv'");
  command->callback([arguments, &run] { run = prepared(arguments); });
}

}  // namespace cupel::apps
