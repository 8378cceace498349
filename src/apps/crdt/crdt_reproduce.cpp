// Reproduce: see the header.
#include "apps/crdt/crdt_reproduce.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <regex>
#include <utility>
#include <vector>

#include "apps/emit.hpp"
#include "apps/options.hpp"
#include "base/budget.hpp"
#include "crdt/analysis/analyze.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/model/recording.hpp"
#include "crdt/model/visibility.hpp"

namespace cupel::apps {

namespace {

// For one of many checks; what takes longer counts as not wrong.
constexpr double kCheckSeconds = 10;
constexpr double kShrinkSeconds = 60;

enum class Symptom : std::uint8_t { kNothing, kThrows, kViolated, kDiffers };

// One object of a run, and what is found out about it.
struct Checked {
  std::string object;  // as JSON; empty: it is the only one
  crdt::History history;
  crdt::Analysis analysis;
};

// Nothing: the lines are no history, or it cannot be known who saw what.
std::vector<Checked> checked(const crdt::AdapterRecorded& recorded,
                             const crdt::AdapterRunOptions& options,
                             const ReproduceArguments& arguments, Symptom symptom, bool explain) {
  base::Budget budget(std::chrono::duration<double>(kCheckSeconds), arguments.memory_bytes);
  crdt::AnalysisOptions asked{.axioms = {.strict = arguments.strict},
                              .converge = symptom == Symptom::kDiffers,
                              .shrink_seconds = explain ? arguments.shrink_seconds : 0,
                              .memory_bytes = arguments.memory_bytes};
  std::vector<Checked> found;
  const auto type = options.objects.empty() ? std::optional(options.type) : std::nullopt;
  auto recording = crdt::read_recording(recorded.lines, "the run", type);
  if (!recording.ok()) return {};
  const auto visibility = crdt::Visibility::of(recording->whole());
  if (!visibility.ok()) return {};
  crdt::deliver_to_objects(*recording, *visibility);
  asked.visibility = &*visibility;
  auto analysis = crdt::analyze(*recording, asked, budget);
  for (std::size_t o = 0; o < recording->objects.size(); ++o) {
    auto& object = recording->objects[o];
    analysis.objects[o].decision = {.verdict = analysis.objects[o].decision.verdict};  // clocks
    found.push_back({object.name, std::move(object.history), std::move(analysis.objects[o])});
  }
  return found;
}

bool is_violated(const Checked& object) {
  return object.analysis.decision.verdict == crdt::Verdict::kViolated;
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

// What the script has to show. Of several objects, it is the one that the run is reported for.
struct Sought {
  Symptom symptom = Symptom::kNothing;
  std::string object = {};  // as JSON; kViolated and kDiffers
};

Sought symptom_of(const crdt::AdapterRecorded& recorded, const crdt::AdapterRunOptions& options,
                  const ReproduceArguments& arguments) {
  if (recorded.throws > 0) return {Symptom::kThrows};
  const auto found = checked(recorded, options, arguments, Symptom::kDiffers, /*explain=*/false);
  for (const Checked& object : found) {
    if (is_violated(object)) return {Symptom::kViolated, object.object};
  }
  for (const Checked& object : found) {
    if (differs(recorded, object)) return {Symptom::kDiffers, object.object};
  }
  return {};
}

std::optional<crdt::Wrong> wrong_of(const crdt::AdapterRecorded& recorded,
                                    const crdt::AdapterRunOptions& options,
                                    const ReproduceArguments& arguments, const Sought& sought,
                                    bool explain) {
  const Symptom symptom = sought.symptom;
  if (symptom == Symptom::kThrows) {
    if (recorded.throws == 0) return std::nullopt;
    return crdt::Wrong{.name = "threw", .words = {recorded.first_throw}, .lines = {}};
  }
  if (recorded.throws > 0) return std::nullopt;
  const auto found = checked(recorded, options, arguments, symptom, explain);
  const auto object = std::find_if(found.begin(), found.end(),
                                   [&](const Checked& one) { return one.object == sought.object; });
  if (object == found.end()) return std::nullopt;
  if (symptom == Symptom::kDiffers) {
    if (!differs(recorded, *object)) return std::nullopt;
    return crdt::Wrong{.name = "not-converged",
                       .words = {"Every replica has received everything, and their reads differ."},
                       .lines = {}};
  }
  if (!is_violated(*object)) return std::nullopt;
  crdt::Wrong wrong;
  if (const auto& explanation = object->analysis.explanation) {
    wrong.name = explanation->name;
    wrong.words = {(object->object.empty() ? "" : object->object + ": ") +
                   without_lines(explanation->summary)};
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
  const auto sought = symptom_of(recorded, options, arguments);
  if (sought.symptom == Symptom::kNothing) {
    print_note("nothing went wrong that a script could show, so none was written to " +
               arguments.file);
    return true;
  }
  const auto made = crdt::reproduce(
      adapter, options, recorded,
      [&](const crdt::AdapterRecorded& run, bool explain) {
        return wrong_of(run, options, arguments, sought, explain);
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

}  // namespace cupel::apps
