// The answer to a check of objects: see the header.
#include "report/objects.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/budget.hpp"
#include "base/text/json.hpp"
#include "data/history/facts.hpp"
#include "data/history/ignored.hpp"
#include "data/history/naming.hpp"
#include "engine/explain/why/layout.hpp"
#include "report/wording.hpp"

namespace cupel::report {

namespace {

using history::ObjectHistory;
using levels::Level;
using objects::Verdict;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMostViolationsShown = 5, kMostViolationsListed = 100;
constexpr std::size_t kMostOfClass = 10;

// The objects that are violated, in their order.
std::vector<std::uint32_t> violated_objects(const CheckedObjects& checked, std::size_t most) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < checked.result.answers.size() && found.size() < most; ++i) {
    if (checked.result.answers[i].verdict == Verdict::kViolated) found.push_back(i);
  }
  return found;
}

std::string object_name(const ObjectHistory& history, std::uint32_t object) {
  return history.keyed ? fmt::format(" of {}", history::shown_key(history.objects.at(object)))
                       : std::string();
}

std::string count_text(const CheckedObjects& checked) {
  const ObjectHistory& h = checked.history;
  std::uint64_t ok = 0, failed = 0;
  for (const auto& op : h.ops) {
    ok += op.status == history::TxnStatus::kCommitted ? 1 : 0;
    failed += op.status == history::TxnStatus::kAborted ? 1 : 0;
  }
  return fmt::format(
      "  {}: {} ({} ok, {} failed, {} of unknown outcome) of {}, read as {}{}\n", h.fact("format"),
      counted(h.ops.size(), "operation"), grouped(ok), grouped(failed),
      grouped(h.ops.size() - ok - failed),
      h.processes.size() == 1 ? "1 process" : grouped(h.processes.size()) + " processes",
      h.fact("kind"), h.keyed ? ", " + counted(h.objects.size(), "key") : "");
}

std::string_view validity_of(Verdict verdict) {
  return verdict == Verdict::kSatisfied  ? "true"
         : verdict == Verdict::kViolated ? "false"
                                         : "unknown";
}

std::string jepsen_text(const CheckedObjects& checked) {
  const auto& jepsen = checked.result.jepsen;
  if (jepsen.checker.empty()) return {};
  auto text = fmt::format("\n  By the rules of Jepsen's {}: valid? {}{}\n", jepsen.checker,
                          validity_of(jepsen.verdict),
                          jepsen.error.empty() ? "" : ", since " + jepsen.error);
  for (const auto& one : jepsen.classes) {
    text += fmt::format("    {} {}", one.name, grouped(one.count));
    std::vector<std::string> names;
    for (const auto element : one.elements) {
      if (names.size() == kMostOfClass) break;
      names.push_back(history::shown(checked.history.elements.at(element)));
    }
    if (!names.empty()) text += fmt::format(": {}", fmt::join(names, " "));
    if (names.size() < one.count && !names.empty()) text += " …";
    text += "\n";
  }
  return text;
}

std::string violations_text(const CheckedObjects& checked) {
  std::string text;
  const auto& answers = checked.result.answers;
  for (const auto object : violated_objects(checked, kMostViolationsShown)) {
    const auto& pattern = *answers[object].violation;
    const auto line = fmt::format("{}{}: {}", pattern.name, object_name(checked.history, object),
                                  object_sentence(checked.history, pattern));
    text += "\n  " + explain::broken(line, 4, 2) + "\n";
  }
  const auto all =
      static_cast<std::size_t>(std::count_if(answers.begin(), answers.end(), [](const auto& one) {
        return one.verdict == Verdict::kViolated;
      }));
  if (all > kMostViolationsShown)
    text += fmt::format("  and {} more\n", counted(all - kMostViolationsShown, "object"));
  if (checked.result.verdict == Verdict::kUnknown)
    text +=
        "\n  " + explain::broken("unknown: linearizable: " + checked.result.detail, 4, 2) + "\n";
  return text;
}

Json object_scalar(history::ScalarView value) {
  switch (value.kind) {
    case history::ScalarKind::kNull:
      return nullptr;
    case history::ScalarKind::kInteger:
      return value.integer;
    default:
      return value.to_string();
  }
}

Json violations_json(const CheckedObjects& checked) {
  const ObjectHistory& h = checked.history;
  Json all = Json::array();
  for (const auto object : violated_objects(checked, kMostViolationsListed)) {
    const auto& pattern = *checked.result.answers[object].violation;
    Json one{{"name", pattern.name}, {"object", nullptr}};
    if (h.keyed) one["object"] = object_scalar(h.objects.at(object));
    one["operations"] = Json::array();
    for (const auto op : pattern.ops) one["operations"].push_back(h.ops[op].label);
    one["elements"] = Json::array();
    for (const auto element : pattern.elements)
      one["elements"].push_back(object_scalar(h.elements.at(element)));
    one["explanation"] = object_sentence(h, pattern);
    all.push_back(std::move(one));
  }
  return all;
}

Json jepsen_json(const CheckedObjects& checked) {
  const auto& jepsen = checked.result.jepsen;
  Json object{{"checker", jepsen.checker}};
  if (jepsen.verdict == Verdict::kUnknown) {
    object["valid"] = "unknown";
  } else {
    object["valid"] = jepsen.verdict == Verdict::kSatisfied;
  }
  if (!jepsen.error.empty()) object["error"] = jepsen.error;
  object["classes"] = Json::object();
  for (const auto& one : jepsen.classes) {
    Json elements = Json::array();
    for (const auto element : one.elements)
      elements.push_back(object_scalar(checked.history.elements.at(element)));
    object["classes"][one.name] = {{"count", one.count}, {"elements", std::move(elements)}};
  }
  return object;
}

void add_ids(std::string& out, std::string_view name, const std::vector<std::uint32_t>& ids) {
  fmt::format_to(std::back_inserter(out), ", \"{}\": [{}]", name, fmt::join(ids, ", "));
}

}  // namespace

Verdict verdict_at(Level level, const objects::Result& result) {
  constexpr auto kStrict = Level::kStrictSerializable;
  if (levels::is_single_object(level) || levels::implies(level, kStrict)) return result.verdict;
  if (result.verdict == Verdict::kSatisfied && levels::implies(kStrict, level))
    return Verdict::kSatisfied;
  return result.verdict == Verdict::kUnknown ? Verdict::kUnknown : Verdict::kRefused;
}

std::string object_lines(const CheckedObjects& checked, std::span<const Level> asked) {
  std::string text;
  for (const auto level : asked) {
    const auto verdict = verdict_at(level, checked.result);
    if (verdict == Verdict::kRefused) continue;
    text +=
        fmt::format("{}\t{}\t{}\n", checked.file, levels::name(level), base::to_string(verdict));
  }
  return text;
}

std::string object_explanation(const CheckedObjects& checked) {
  return violations_text(checked) + jepsen_text(checked);
}

std::string object_text(const CheckedObjects& checked) {
  const auto verdict = checked.result.verdict;
  const std::string_view first = verdict == Verdict::kSatisfied  ? "strongest satisfied"
                                 : verdict == Verdict::kViolated ? "weakest violated"
                                                                 : "unknown";
  return fmt::format("{}: {}: linearizable\n{}{}", checked.file, first, count_text(checked),
                     object_explanation(checked));
}

std::string object_json(const CheckedObjects& checked, std::span<const Level> asked) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  const ObjectHistory& h = checked.history;
  const auto count = [&](history::TxnStatus status) {
    return std::count_if(h.ops.begin(), h.ops.end(),
                         [&](const auto& op) { return op.status == status; });
  };
  Json object{{"file", checked.file},
              {"format", h.fact("format")},
              {"kind", h.fact("kind")},
              {"operations", h.ops.size()},
              {"ok", count(history::TxnStatus::kCommitted)},
              {"failed", count(history::TxnStatus::kAborted)},
              {"unknown_outcome", count(history::TxnStatus::kIndeterminate)},
              {"processes", h.processes.size()},
              {"objects", h.objects.size()},
              {"times", h.times_are_places ? "places" : "recorded"}};
  object["ignored"] = Json::array();
  for (const auto& [f, number] : history::ignored_op_maps(h.fact(history::kIgnored)))
    object["ignored"].push_back({{"f", f}, {"op_maps", number}});
  object["levels"] = Json::array();
  object["refused"] = Json::array();
  constexpr std::array kLinearizable = {Level::kLinearizable};
  for (const auto level : asked.empty() ? std::span<const Level>(kLinearizable) : asked) {
    const auto verdict = verdict_at(level, checked.result);
    if (verdict == Verdict::kRefused) {
      object["refused"].push_back({{"level", levels::name(level)}, {"reason", kRefusedOfObjects}});
      continue;
    }
    Json one{{"level", levels::name(level)},
             {"verdict", base::to_string(verdict)},
             {"seconds", std::round(checked.seconds * 1e6) / 1e6}};
    if (verdict == Verdict::kUnknown) one["detail"] = checked.result.detail;
    one["violations"] = verdict == Verdict::kViolated ? violations_json(checked) : Json::array();
    object["levels"].push_back(std::move(one));
  }
  object["jepsen"] = jepsen_json(checked);
  return text::dump(object) + "\n";
}

std::string object_certificate(const CheckedObjects& checked, std::uint64_t digest,
                               history::Time clock_drift_ns) {
  const auto& result = checked.result;
  auto out = fmt::format(
      "{{\"cupel_object_certificate\": 1,\n \"kind\": \"{}\",\n \"history\": {{\"digest\": "
      "\"{:016x}\", \"operations\": {}, \"objects\": {}}},\n \"clock_drift_ns\": {},\n "
      "\"verdict\": \"{}\",\n \"proofs\": [",
      history::name(checked.history.kind), digest, checked.history.ops.size(),
      checked.history.objects.size(), clock_drift_ns, base::to_string(result.verdict));
  bool first = true;
  for (std::uint32_t i = 0; i < result.answers.size(); ++i) {
    const auto& answer = result.answers[i];
    if (answer.verdict != result.verdict) continue;
    fmt::format_to(std::back_inserter(out), "{}\n  {{\"object\": {}", first ? "" : ",", i);
    first = false;
    if (answer.violation) {
      fmt::format_to(std::back_inserter(out), ", \"pattern\": \"{}\"", answer.violation->name);
      add_ids(out, "operations", answer.violation->ops);
      add_ids(out, "elements", answer.violation->elements);
    } else {
      add_ids(out, "order", answer.order);
    }
    out += '}';
    if (answer.violation) break;  // one is enough
  }
  return out + "]}\n";
}

}  // namespace cupel::report
