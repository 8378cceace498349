// Reproduce: see the header.
#include "cli/crdt_reproduce.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <regex>

#include "base/budget.hpp"
#include "cli/emit.hpp"
#include "cli/options.hpp"
#include "crdt/analysis/analyze.hpp"
#include "crdt/io/reader.hpp"

namespace cupel::cli {

namespace {

// For one of many checks; what takes longer counts as not wrong.
constexpr double kCheckSeconds = 10;
constexpr double kShrinkSeconds = 60;

enum class Symptom : std::uint8_t { kNothing, kThrows, kViolated, kDiffers };

struct Checked {
  crdt::History history;
  crdt::Analysis analysis;
};

std::optional<Checked> checked(const crdt::AdapterRecorded& recorded,
                               const crdt::AdapterRunOptions& options,
                               const ReproduceArguments& arguments, Symptom symptom, bool explain) {
  auto history = crdt::read(recorded.lines, "the run", options.type);
  if (!history.ok()) return std::nullopt;
  const auto visibility = crdt::Visibility::of(*history);
  if (!visibility.ok()) return std::nullopt;
  base::Budget budget(std::chrono::duration<double>(kCheckSeconds), arguments.memory_bytes);
  auto analysis = crdt::analyze(*history,
                                {.axioms = {.strict = arguments.strict},
                                 .visibility = &*visibility,
                                 .converge = symptom == Symptom::kDiffers,
                                 .shrink_seconds = explain ? arguments.shrink_seconds : 0,
                                 .memory_bytes = arguments.memory_bytes},
                                budget);
  analysis.decision = {.verdict = analysis.decision.verdict};  // its clocks may be large
  return Checked{std::move(*history), std::move(analysis)};
}

// Of reads after which no process crashed: one that did had not received everything.
bool differs(const crdt::AdapterRecorded& recorded, const Checked& found) {
  if (!recorded.has_everything || !found.analysis.convergence) return false;
  const auto& history = found.history;
  const auto goes_on = [&](crdt::OpId id) {
    const auto& process = history.replicas[history.ops[id].replica];
    return std::find(recorded.processes.begin(), recorded.processes.end(), process) !=
           recorded.processes.end();
  };
  const auto& different = found.analysis.convergence->different;
  return std::any_of(different.begin(), different.end(), [&](const auto& reads) {
    return goes_on(reads.first) && goes_on(reads.second);
  });
}

// The script has no history whose lines could be meant.
std::string without_lines(const std::string& summary) {
  static const std::regex named("line [0-9]+ \\((replica [^)]*)\\)"), beside(" \\(line [0-9]+\\)");
  return std::regex_replace(std::regex_replace(summary, named, "$1"), beside, "");
}

Symptom symptom_of(const crdt::AdapterRecorded& recorded, const crdt::AdapterRunOptions& options,
                   const ReproduceArguments& arguments) {
  if (recorded.throws > 0) return Symptom::kThrows;
  const auto found = checked(recorded, options, arguments, Symptom::kDiffers, /*explain=*/false);
  if (!found) return Symptom::kNothing;
  if (found->analysis.decision.verdict == crdt::Verdict::kViolated) return Symptom::kViolated;
  return differs(recorded, *found) ? Symptom::kDiffers : Symptom::kNothing;
}

std::optional<crdt::Wrong> wrong_of(const crdt::AdapterRecorded& recorded,
                                    const crdt::AdapterRunOptions& options,
                                    const ReproduceArguments& arguments, Symptom symptom,
                                    bool explain) {
  if (symptom == Symptom::kThrows) {
    if (recorded.throws == 0) return std::nullopt;
    return crdt::Wrong{.name = "threw", .words = {recorded.first_throw}, .lines = {}};
  }
  if (recorded.throws > 0) return std::nullopt;
  const auto found = checked(recorded, options, arguments, symptom, explain);
  if (!found) return std::nullopt;
  if (symptom == Symptom::kDiffers) {
    if (!differs(recorded, *found)) return std::nullopt;
    return crdt::Wrong{.name = "not-converged",
                       .words = {"Every replica has received everything, and their reads differ."},
                       .lines = {}};
  }
  if (found->analysis.decision.verdict != crdt::Verdict::kViolated) return std::nullopt;
  crdt::Wrong wrong;
  if (const auto& explanation = found->analysis.explanation) {
    wrong.name = explanation->name;
    wrong.words = {without_lines(explanation->summary)};
    for (const auto& op : explanation->part.history.ops) {
      if (op.line > 0) wrong.lines.push_back(op.line);
    }
  }
  return wrong;
}

}  // namespace

bool write_reproduction(const crdt::AdapterCommand& command, crdt::Adapter& adapter,
                        const crdt::AdapterRunOptions& options,
                        const crdt::AdapterRecorded& recorded,
                        const ReproduceArguments& arguments) {
  const auto symptom = symptom_of(recorded, options, arguments);
  if (symptom == Symptom::kNothing) {
    print_note("nothing went wrong that a script could show, so none was written to " +
               arguments.file);
    return true;
  }
  const auto made = crdt::reproduce(
      adapter, options, recorded,
      [&](const crdt::AdapterRecorded& run, bool explain) {
        return wrong_of(run, options, arguments, symptom, explain);
      },
      kShrinkSeconds);
  if (!made.ok()) {
    print_error(made.error());
    return false;
  }
  const auto text = fmt::format("{}\n", fmt::join(made->program, "\n"));
  if (!write_whole(arguments.file, text, /*append=*/false, "the script")) return false;
  if (const auto why = crdt::refuted(command, arguments.file, *made, arguments.timeout_seconds)) {
    print_error(base::Error{.message = "the script does not show it by itself: " + *why,
                            .file = arguments.file});
    return false;
  }
  print_status(fmt::format("  {}: {} operations, found in {} runs; run once, it shows the same{}\n",
                           arguments.file, made->operations, made->replays,
                           made->minimal ? "" : " (the time to make it shorter was over)"));
  return true;
}

}  // namespace cupel::cli
