// Models of elle-cli that are objects: see the header.
#include "apps/engine/elle_objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/command.hpp"
#include "base/budget.hpp"
#include "base/text/json.hpp"
#include "data/history/facts.hpp"
#include "data/history/ignored.hpp"
#include "data/history/naming.hpp"
#include "engine/objects/check.hpp"
#include "report/objects.hpp"

namespace cupel::apps {

namespace {

using base::Verdict;
using Json = nlohmann::ordered_json;

// Jepsen's map, with our verdict beside it.
std::string elle_objects_json(const history::ObjectHistory& history,
                              const objects::Result& result) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  const auto& jepsen = result.jepsen;
  Json object;
  if (jepsen.verdict == Verdict::kUnknown) {
    object["valid?"] = "unknown";
    object["error"] = jepsen.error;
  } else {
    object["valid?"] = jepsen.verdict == Verdict::kSatisfied;
  }
  for (const auto& one : jepsen.classes) {
    object[one.name + "-count"] = one.count;
    Json elements = Json::array();
    for (const auto element : one.elements)
      elements.push_back(history::shown(history.elements.at(element)));
    object[one.name] = std::move(elements);
  }
  object["linearizable"] = base::to_string(result.verdict);
  object["kind"] = history.fact("kind");
  object["ignored"] = Json::array();
  for (const auto& [f, count] : history::ignored_op_maps(history.fact(history::kIgnored)))
    object["ignored"].push_back({{"f", f}, {"op_maps", count}});
  return text::dump_indented(object) + "\n";
}

}  // namespace

int check_elle_objects(const std::string& file, history::ObjectHistory& history,
                       const check::Options& options, bool json) {
  std::optional<std::chrono::duration<double>> timeout;
  if (options.timeout_seconds) timeout.emplace(*options.timeout_seconds);
  base::Budget budget(timeout, options.memory_limit_bytes);
  const auto result = objects::check(history, options.clock_drift_ns, budget);
  const auto& jepsen = result.jepsen;
  const char* const word = jepsen.verdict == Verdict::kSatisfied  ? "true"
                           : jepsen.verdict == Verdict::kViolated ? "false"
                                                                  : "unknown";
  print(json ? elle_objects_json(history, result) : fmt::format("{} \t {}\n", file, word));
  if (jepsen.verdict == Verdict::kUnknown)
    print_error(base::Error{.message = "unknown: " + jepsen.error, .file = file});
  const auto violated = std::find_if(result.answers.begin(), result.answers.end(),
                                     [](const auto& one) { return one.violation.has_value(); });
  if (jepsen.verdict == Verdict::kSatisfied && violated != result.answers.end()) {
    print_note(fmt::format("{}: passes by Jepsen's rules, and is not linearizable: {}: {}", file,
                           violated->violation->name,
                           report::object_sentence(history, *violated->violation)));
  }
  flush_output();
  return jepsen.verdict == Verdict::kSatisfied  ? kSatisfied
         : jepsen.verdict == Verdict::kViolated ? kViolated
                                                : kUnknown;
}

}  // namespace cupel::apps
