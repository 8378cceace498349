// object check: see the header.
#include "apps/engine/object_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "apps/command.hpp"
#include "apps/emit.hpp"
#include "apps/result_line.hpp"
#include "base/budget.hpp"
#include "base/interrupt.hpp"
#include "data/history/facts.hpp"
#include "engine/objects/check.hpp"
#include "report/objects.hpp"
#include "report/render.hpp"

namespace cupel::apps {

namespace {

using base::Verdict;

void print_object_notes(const std::string& file, const history::ObjectHistory& history) {
  for (const auto* fact : {history::kCut, history::kNotIgnored}) {
    if (const auto text = history.fact(fact); !text.empty())
      print_note(fmt::format("{}: {}", file, text));
  }
  if (const auto ignored = history.fact(history::kIgnored); !ignored.empty())
    print_note(fmt::format("{}: left out: {}", file, report::ignored_text(ignored)));
}

// The worst code of the levels that are asked for. Prints an error for each that is refused.
int object_code(const std::string& file, const objects::Result& result,
                const std::vector<levels::Level>& asked) {
  const auto code_of = [](Verdict verdict) -> int {
    switch (verdict) {
      case Verdict::kSatisfied:
        return kSatisfied;
      case Verdict::kViolated:
        return kViolated;
      case Verdict::kUnknown:
        return kUnknown;
      case Verdict::kRefused:
        break;
    }
    return kBad;
  };
  if (asked.empty()) return code_of(result.verdict);
  int code = kSatisfied;
  for (const auto level : asked) {
    const auto verdict = report::verdict_at(level, result);
    code = std::max(code, code_of(verdict));
    if (verdict != Verdict::kRefused) continue;
    print_error(base::Error{.message = fmt::format("{} is refused: it {}", levels::name(level),
                                                   report::kRefusedOfObjects),
                            .file = file});
  }
  return code;
}

// For scripts, which tell the lines of levels from the others by two blanks.
std::string without_empty_lines(std::string_view text) {
  std::string lines;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = lines.empty() || lines.back() == '\n';
    if (!begins || text[i] != '\n') lines += text[i];
  }
  return lines;
}

// An error if the history of objects cannot have something that is asked for.
std::optional<base::Error> object_misfit(const std::string& file, const CheckArguments& arguments,
                                         const check::Options& options, bool places) {
  const auto error = [&](const char* message) {
    return base::Error{.message = message, .file = file};
  };
  if (!arguments.emit.empty() || !arguments.report.empty()) {
    return error(
        "--emit and --report are for histories of transactions, and this file is about "
        "objects. Leave them out");
  }
  if (places && options.clock_drift_ns != 0) {
    return error(
        "--clock-drift needs times, which this file does not have: its order is that of "
        "the lines. Leave it out");
  }
  return std::nullopt;
}

// An error if no operation succeeded: a verdict would say nothing.
std::optional<base::Error> nothing_succeeded(const std::string& file,
                                             const history::ObjectHistory& history) {
  const auto failed = std::count_if(history.ops.begin(), history.ops.end(), [](const auto& op) {
    return op.status == history::TxnStatus::kAborted;
  });
  if (std::any_of(history.ops.begin(), history.ops.end(),
                  [](const auto& op) { return op.status == history::TxnStatus::kCommitted; }))
    return std::nullopt;
  return base::Error{
      .message = fmt::format("no operation succeeded: {} failed, {} with an unknown outcome, so a "
                             "verdict would say nothing about the database. Record a run in which "
                             "operations succeed",
                             failed, history.ops.size() - static_cast<std::size_t>(failed)),
      .file = file};
}

}  // namespace

int print_objects(const std::string& file, history::ObjectHistory& history,
                  const CheckArguments& arguments, const check::Options& options,
                  const KeptResults* kept, VerdictTable& table) {
  if (auto wrong = object_misfit(file, arguments, options, history.times_are_places))
    return bad(*wrong);
  if (auto nothing = nothing_succeeded(file, history)) return bad(*nothing);
  print_object_notes(file, history);
  const auto began = std::chrono::steady_clock::now();
  std::optional<std::chrono::duration<double>> timeout;
  if (options.timeout_seconds) timeout.emplace(*options.timeout_seconds);
  base::Budget budget(timeout, options.memory_limit_bytes);
  const auto digest = history::digest(history);
  const auto result = objects::check(history, options.clock_drift_ns, budget);
  const report::CheckedObjects checked{
      file, history, result,
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count()};
  const auto line = report::object_json(checked, options.asked);
  if (arguments.json) {
    print(line);
  } else if (arguments.levels.empty()) {
    print_text(report::object_text(checked));
  } else {
    print_text(report::object_lines(checked, options.asked) +
               without_empty_lines(report::object_explanation(checked)));
  }
  int code = object_code(file, result, options.asked);
  if (!arguments.certificate.empty()) {
    if (result.verdict == Verdict::kUnknown) {
      print_error(base::Error{.message = "no certificate was written: the verdict is unknown",
                              .file = arguments.certificate});
    } else if (!write_whole(arguments.certificate,
                            report::object_certificate(checked, digest, options.clock_drift_ns),
                            /*append=*/false, "the certificate")) {
      code = kBad;
    }
  }
  if (const auto found = result_of(line)) table.add(*found);
  if (kept != nullptr && !base::interrupted()) {
    if (const auto done = kept->keep(file, {line, code, /*brief=*/false}); !done.ok())
      return bad(done.error());
  }
  flush_output();
  return code;
}

}  // namespace cupel::apps
