// Mixed report: the reports of the objects (report.hpp) below one line.
#include "crdt/io/mixed_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/budget.hpp"
#include "crdt/io/report.hpp"
#include "text/json.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::ordered_json;

Report report_of(const MixedReport& report, std::size_t object) {
  const auto& visibility = report.analysis.visibility;
  return {.file = report.history->objects[object].name,
          .history = &report.history->objects[object].history,
          .analysis = report.analysis.objects[object],
          .show_witness = report.show_witness,
          .visibility = visibility.empty() ? nullptr : &visibility[object],
          .of_adapter = report.of_adapter};
}

std::size_t absent_of(const MixedHistory& history) {
  std::size_t count = 0;
  for (const MixedObject& object : history.objects) count += object.history.absent.size();
  return count;
}

std::string indented(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines += "  ";
    lines += text.substr(0, end + 1);
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::string limit_text(const MixedAnalysis& analysis) {
  for (const Analysis& object : analysis.objects) {
    if (object.decision.verdict != Verdict::kSatisfied) return {};
  }
  if (analysis.limit.empty()) return {};
  return fmt::format(
      "  each object is satisfied alone; a limit was met ({}) after {:.1f} s before one "
      "happens-before of all was found; recorded deliveries decide it "
      "(docs/formats/crdt.md#context)\n",
      analysis.limit, analysis.seconds);
}

// Operations that have no common happens-before.
std::string together_text(const MixedReport& report) {
  const auto& together = report.analysis.together;
  if (together.empty()) return {};
  const MixedHistory& history = *report.history;
  std::string text = fmt::format(
      "  no-common-order: each object is satisfied alone, but no happens-before explains all of "
      "them\n  it takes {} of {} operations:\n",
      together.size(), history.whole.ops.size());
  constexpr std::size_t kMost = 60;
  for (std::size_t i = 0; i < together.size(); ++i) {
    if (i == kMost && together.size() > kMost + 1)
      return text + fmt::format("    and {} more\n", together.size() - i);
    const auto [object, op] = history.place[together[i]];
    const History& h = history.objects[object].history;
    text += fmt::format("    line {}  replica {}  {}: {}\n", h.ops[op].line,
                        h.replicas[h.ops[op].replica], history.objects[object].name, h.text(op));
  }
  return text;
}

// Both verdicts of a history whose deliveries were trusted and then left out.
std::string both_verdicts(const MixedAnalysis& analysis) {
  const auto with = analysis.decided, without = *analysis.without_context;
  const bool differ = with != without && with != Verdict::kUnknown && without != Verdict::kUnknown;
  return fmt::format("  {}without the context: {}\n", differ ? "context-contradiction: " : "",
                     name(without));
}

}  // namespace

std::string as_text(const MixedReport& report) {
  const MixedAnalysis& analysis = report.analysis;
  auto text = fmt::format("{}\t{}\t{}\n", report.file, kMixedType, name(analysis.decided));
  constexpr std::size_t kMostSatisfied = 20;
  bool is_explained = false;
  std::size_t satisfied = 0;
  for (std::size_t o = 0; o < analysis.objects.size(); ++o) {
    const auto verdict = analysis.objects[o].decision.verdict;
    if (verdict == Verdict::kSatisfied && ++satisfied > kMostSatisfied && !report.show_witness &&
        (!analysis.objects[o].convergence || analysis.objects[o].convergence->different.empty()))
      continue;
    auto one = report_of(report, o);
    if (verdict == Verdict::kViolated && is_explained) one.analysis.explanation.reset();
    is_explained = is_explained || verdict == Verdict::kViolated;
    text += indented(as_text(one));
  }
  if (satisfied > kMostSatisfied && !report.show_witness)
    text += fmt::format("  {} objects are satisfied\n", satisfied);
  text += together_text(report) + limit_text(analysis);
  if (analysis.without_context) text += both_verdicts(analysis);
  return text;
}

std::string as_json(const MixedReport& report) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  return text::dump(json_of(report)) + "\n";
}

Json json_of(const MixedReport& report) {
  const MixedAnalysis& analysis = report.analysis;
  const History& whole = report.history->whole;
  Json json = {{"file", report.file},
               {"type", kMixedType},
               {"operations", whole.ops.size()},
               {"replicas", report.of_adapter ? replicas_of_run(whole) : processes_of(whole)},
               {"indeterminate", whole.indeterminate.size() + absent_of(*report.history)},
               {"unknown_outcomes", nullptr},
               {"verdict", name(analysis.decided)},
               {"seconds", analysis.seconds},
               {"context", nullptr},
               {"without_context", nullptr},
               {"limit", nullptr},
               {"together", nullptr},
               {"objects", Json::array()}};
  if (report.of_adapter) json["processes"] = processes_of(whole);
  if (whole.unknown_outcome != UnknownOutcome::kOpen)
    json["unknown_outcomes"] = name(whole.unknown_outcome);
  if (!analysis.limit.empty()) json["limit"] = analysis.limit;
  if (!analysis.visibility.empty())
    json["context"] = analysis.without_context ? "checked" : "trusted";
  if (analysis.without_context) json["without_context"] = name(*analysis.without_context);
  for (const OpId id : analysis.together) {
    const auto [object, op] = report.history->place[id];
    const MixedObject& its = report.history->objects[object];
    json["together"].push_back({{"object", Json::parse(its.name)},
                                {"operation", op},
                                {"text", its.history.text(op)},
                                {"line", its.history.ops[op].line}});
  }
  for (std::size_t o = 0; o < analysis.objects.size(); ++o) {
    auto one = json_of(report_of(report, o), "object");
    one["object"] = Json::parse(report.history->objects[o].name);
    json["objects"].push_back(std::move(one));
  }
  return json;
}

}  // namespace cupel::crdt
