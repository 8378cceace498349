// Recording report: the reports of the objects (report.hpp) below one line.
#include "crdt/io/recording_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text/json.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::ordered_json;

std::size_t absent_of(const Recording& recording) {
  std::size_t count = 0;
  for (const ObjectHistory& object : recording.objects) count += object.history.absent.size();
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

std::string limit_text(const RecordingAnalysis& analysis) {
  for (const Analysis& object : analysis.objects) {
    if (object.decision.verdict != Verdict::kSatisfied) return {};
  }
  if (analysis.limit.empty()) return {};
  return fmt::format(
      "  each object is satisfied alone; a limit was met ({}) after {:.1f} s before one "
      "happens-before of all was found; recorded deliveries decide it "
      "(docs/reference/formats/crdt.md#context)\n",
      analysis.limit, analysis.seconds);
}

// Operations that have no common happens-before.
std::string together_text(const RecordingReport& report) {
  const auto& together = report.analysis.together;
  if (together.empty()) return {};
  const Recording& recording = *report.recording;
  std::string text = fmt::format(
      "  no-common-order: each object is satisfied alone, but no happens-before explains all of "
      "them\n  it takes {} of {} operations:\n",
      together.size(), recording.combined.ops.size());
  constexpr std::size_t kMost = 60;
  for (std::size_t i = 0; i < together.size(); ++i) {
    if (i == kMost && together.size() > kMost + 1)
      return text + fmt::format("    and {} more\n", together.size() - i);
    const auto [object, op] = recording.place[together[i]];
    const History& h = recording.objects[object].history;
    text += fmt::format("    line {}  replica {}  {}: {}\n", h.ops[op].line,
                        h.replicas[h.ops[op].replica], recording.objects[object].name, h.text(op));
  }
  return text;
}

// Both verdicts of a history whose deliveries were trusted and then left out.
std::string both_verdicts(const RecordingAnalysis& analysis) {
  const auto with = analysis.decided, without = *analysis.without_context;
  const bool differ = with != without && with != Verdict::kUnknown && without != Verdict::kUnknown;
  return fmt::format("  {}without the context: {}\n", differ ? "context-contradiction: " : "",
                     to_string(without));
}

}  // namespace

Report RecordingReport::of_object(std::size_t object) const {
  const ObjectHistory& its = recording->objects[object];
  return {.file = recording->is_named() ? its.name : file,
          .history = &its.history,
          .analysis = analysis.objects[object],
          .show_witness = show_witness,
          .visibility = analysis.visibility(object),
          .of_adapter = of_adapter};
}

std::string as_text(const RecordingReport& report) {
  if (!report.recording->is_named()) return as_text(report.of_object(0));
  const RecordingAnalysis& analysis = report.analysis;
  auto text = fmt::format("{}\t{}\t{}\n", report.file, kNamedObjects, to_string(analysis.decided));
  constexpr std::size_t kMostSatisfied = 20;
  bool is_explained = false;
  std::size_t satisfied = 0;
  for (std::size_t o = 0; o < analysis.objects.size(); ++o) {
    const auto verdict = analysis.objects[o].decision.verdict;
    if (verdict == Verdict::kSatisfied && ++satisfied > kMostSatisfied && !report.show_witness &&
        (!analysis.objects[o].convergence || analysis.objects[o].convergence->different.empty()))
      continue;
    auto one = report.of_object(o);
    if (verdict == Verdict::kViolated && is_explained) one.show_explanation = false;
    is_explained = is_explained || verdict == Verdict::kViolated;
    text += indented(as_text(one));
  }
  if (satisfied > kMostSatisfied && !report.show_witness)
    text += fmt::format("  {} objects are satisfied\n", satisfied);
  text += together_text(report) + limit_text(analysis);
  if (analysis.without_context) text += both_verdicts(analysis);
  return text;
}

Json json_of(const RecordingReport& report) {
  if (!report.recording->is_named()) return json_of(report.of_object(0));
  const RecordingAnalysis& analysis = report.analysis;
  const History& whole = report.recording->combined;
  Json json = {{"file", report.file},
               {"type", kNamedObjects},
               {"operations", whole.ops.size()},
               {"replicas", report.of_adapter ? replicas_of_run(whole) : processes_of(whole)},
               {"indeterminate", whole.indeterminate.size() + absent_of(*report.recording)},
               {"unknown_outcomes", nullptr},
               {"verdict", to_string(analysis.decided)},
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
  if (analysis.of_whole != nullptr)
    json["context"] = analysis.without_context ? "checked" : "trusted";
  if (analysis.without_context) json["without_context"] = to_string(*analysis.without_context);
  for (const OpId id : analysis.together) {
    const auto [object, op] = report.recording->place[id];
    const ObjectHistory& its = report.recording->objects[object];
    json["together"].push_back({{"object", Json::parse(its.name)},
                                {"operation", op},
                                {"text", its.history.text(op)},
                                {"line", its.history.ops[op].line}});
  }
  for (std::size_t o = 0; o < analysis.objects.size(); ++o) {
    auto one = json_of(report.of_object(o), "object");
    one["object"] = Json::parse(report.recording->objects[o].name);
    json["objects"].push_back(std::move(one));
  }
  return json;
}

}  // namespace cupel::crdt
