// Report: see the header.
#include "crdt/io/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/budget.hpp"
#include "base/text/json.hpp"
#include "crdt/explain/read_explainer.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::ordered_json;

// The lines of the file for operations of the explanation, which have numbers of their own.
struct SourceLines {
  const History& history;
  const Explanation& explanation;
  [[nodiscard]] const Operation& of(OpId part_op) const {
    return history.ops[explanation.part.origin[part_op]];
  }
  [[nodiscard]] std::string line(OpId part_op) const {
    const auto line = of(part_op).line;
    return line == 0 ? std::string() : std::to_string(line);
  }
};

std::string witness_text(const Report& report) {
  const History& history = *report.history;
  const Witness& witness = *report.analysis.decision.witness;
  std::string text = "  an execution, each operation with what its replica had newly seen:\n";
  std::size_t replica_width = 0, text_width = 0;
  constexpr std::size_t kWidest = 48;
  for (const OpId id : witness.order) {
    replica_width = std::max(replica_width, history.replicas[history.ops[id].replica].size());
    text_width = std::max(text_width, std::min(kWidest, history.text(id).size()));
  }
  std::vector<std::size_t> position(history.ops.size());
  for (std::size_t i = 0; i < witness.order.size(); ++i) position[witness.order[i]] = i + 1;
  for (const OpId id : witness.order) {
    std::string sees;
    for (const OpId from : newly_seen(report, id)) {
      sees += fmt::format("{}{}", sees.empty() ? "sees " : ", ", position[from]);
    }
    auto line = fmt::format("    {:>4}  {:{}}  {:{}}  {}", position[id],
                            history.replicas[history.ops[id].replica], replica_width,
                            history.text(id), text_width, sees);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string explanation_text(const History& history, const Explanation& explanation) {
  std::string text = fmt::format("  {}: {}\n", explanation.name, explanation.summary);
  for (const auto& reason : explanation.because) text += "    " + reason + "\n";
  const auto& part = explanation.part.history;
  text += fmt::format("  it takes {} of {} operations:\n", part.ops.size(), history.ops.size());
  const SourceLines lines{history, explanation};
  std::size_t line_width = 0, replica_width = 0;
  for (OpId id = 0; id < part.ops.size(); ++id) {
    line_width = std::max(line_width, lines.line(id).size());
    replica_width = std::max(replica_width, part.replicas[part.ops[id].replica].size());
  }
  constexpr std::size_t kMost = 60;
  for (OpId id = 0; id < part.ops.size(); ++id) {
    if (id == kMost && part.ops.size() > kMost + 1) {
      text += fmt::format("    and {} more\n", part.ops.size() - id);
      break;
    }
    text +=
        fmt::format("    {}{:>{}}  replica {:{}}  {}{}\n", line_width == 0 ? "" : "line ",
                    lines.line(id), line_width, part.replicas[part.ops[id].replica], replica_width,
                    part.text(id), id == explanation.read ? "  <- this one" : "");
  }
  return text;
}

std::string milliseconds(std::int64_t nanoseconds) {
  return fmt::format("{:.3f} ms", static_cast<double>(nanoseconds) / 1e6);
}

// An update of the key that one of two reads had seen and the other had not.
std::string missing_text(const Report& report, OpId one, OpId other) {
  if (report.visibility == nullptr) return {};
  const History& h = *report.history;
  for (const auto& [without, with] : {std::pair(one, other), std::pair(other, one)}) {
    for (OpId u = 0; u < h.ops.size(); ++u) {
      if (is_read(h.ops[u].kind) || h.ops[u].key != h.ops[one].key ||
          report.visibility->sees(without, u) || !report.visibility->sees(with, u))
        continue;
      const auto line = h.ops[u].line;
      return fmt::format("; replica {} had not received {}{}", h.replicas[h.ops[without].replica],
                         with_replica(h, u), line == 0 ? "" : fmt::format(" (line {})", line));
    }
  }
  return "; both had received the same updates";
}

std::string convergence_text(const Report& report) {
  const History& history = *report.history;
  const Convergence& found = *report.analysis.convergence;
  std::string text;
  const auto of_replica = [&](OpId id) {
    return fmt::format("{} of replica {}", history.text(id),
                       history.replicas[history.ops[id].replica]);
  };
  if (found.keys == 0) {
    text +=
        "  whether they converged is not known: there is no key that two replicas have read after "
        "its last update\n";
  } else if (found.different.empty()) {
    text += fmt::format("  converged: the last reads of {} {} agree\n", found.keys,
                        found.keys == 1 ? "key" : "keys");
  } else {
    text += fmt::format("  not converged: the last reads of {} of {} keys differ\n",
                        found.different.size(), found.keys);
  }
  constexpr std::size_t kMost = 10;
  for (std::size_t i = 0; i < found.different.size() && i < kMost; ++i) {
    const auto& [one, other] = found.different[i];
    text += fmt::format("    {}: {}, but {}{}\n", history.keys[history.ops[one].key],
                        of_replica(one), of_replica(other), missing_text(report, one, other));
  }
  if (found.different.size() > kMost)
    text += fmt::format("    and {} more\n", found.different.size() - kMost);
  if (!found.unread.empty()) {
    const auto& [key, replica] = found.unread.front();
    text += fmt::format(
        "    nothing is known of {} of key and replica, without a read after the last update{} {} "
        "of "
        "replica {}\n",
        found.unread.size() == 1 ? "1 pair" : fmt::format("{} pairs", found.unread.size()),
        found.unread.size() == 1 ? ":" : ", such as", history.keys[key], history.replicas[replica]);
  }
  if (!found.nanoseconds.empty()) {
    text += fmt::format("    time to converge, at most: median {}, longest {}\n",
                        milliseconds(found.nanoseconds[found.nanoseconds.size() / 2]),
                        milliseconds(found.nanoseconds.back()));
  }
  return text;
}

Json operation_json(const History& history, OpId id) {
  const auto& op = history.ops[id];
  Json json = {
      {"operation", id}, {"replica", history.replicas[op.replica]}, {"text", history.text(id)}};
  if (op.line != 0) json["line"] = op.line;
  return json;
}

Json explanation_json(const History& history, const Explanation& explanation) {
  const auto origins = [&](const std::vector<OpId>& ops) {
    Json list = Json::array();
    for (const OpId id : ops) list.push_back(explanation.part.origin[id]);
    return list;
  };
  Json operations = Json::array(), cycle = Json::array();
  for (const OpId id : explanation.part.origin) operations.push_back(operation_json(history, id));
  for (const Step& step : explanation.cycle) {
    cycle.push_back({{"from", explanation.part.origin[step.from]},
                     {"to", explanation.part.origin[step.to]},
                     {"why", name(step.why)},
                     {"text", sentence(explanation.part.history, step)}});
  }
  Json read = nullptr;
  if (explanation.read != kNone) read = explanation.part.origin[explanation.read];
  return {{"name", explanation.name},
          {"summary", explanation.summary},
          {"because", explanation.because},
          {"read", read},
          {"must_have_seen", origins(explanation.must_see)},
          {"cannot_have_seen", origins(explanation.cannot_see)},
          {"cycle", cycle},
          {"operations", operations}};
}

}  // namespace

namespace {

// The updates of other replicas that became visible right before the operation.
std::vector<OpId> newly_arrived(const History& history, const Visibility& visibility,
                                const Operation& op) {
  const auto all = visibility.arrivals(op.replica);
  auto next = std::partition_point(all.begin(), all.end(), [&](OpId update) {
    return visibility.since(op.replica, update) < op.seq;
  });
  std::vector<OpId> news;
  for (; next != all.end() && visibility.since(op.replica, *next) == op.seq; ++next) {
    if (history.ops[*next].replica != op.replica) news.push_back(*next);
  }
  return news;
}

}  // namespace

bool has_execution(const Report& report) {
  const auto& witness = report.analysis.decision.witness;
  return witness && (witness->clocks.width() > 0 || report.visibility != nullptr);
}

std::size_t processes_of(const History& history) {
  return history.replicas.size() - history.indeterminate.size();
}

std::size_t replicas_of_run(const History& history) {
  std::set<std::string> replicas;
  for (const auto& process : history.replicas) {
    const std::size_t quote = process.starts_with('"') ? 1 : 0;
    replicas.insert(process.substr(quote, process.find('.') - quote));
  }
  return replicas.size();
}

std::string_view name(Why why) {
  switch (why) {
    case Why::kReplicaOrder:
      return "replica-order";
    case Why::kReceived:
      return "received";
    case Why::kReadFrom:
      return "read-from";
    case Why::kOverwritten:
      return "overwritten";
    case Why::kRemoved:
      return "removed";
    case Why::kListed:
      return "listed";
    case Why::kArbitrated:
      break;
  }
  return "arbitrated";
}

std::vector<OpId> newly_seen(const Report& report, OpId id) {
  const History& history = *report.history;
  const Operation& op = history.ops[id];
  const Clocks& clocks = report.analysis.decision.witness->clocks;
  if (clocks.width() == 0) return newly_arrived(history, *report.visibility, op);
  const auto row = clocks.row(id);
  std::vector<OpId> news;
  for (std::uint32_t j = 0; j < row.size(); ++j) {
    if (j == op.replica || row[j] == 0) continue;
    if (op.seq > 0 && clocks.row(history.by_replica[op.replica][op.seq - 1])[j] >= row[j]) continue;
    news.push_back(history.by_replica[j][row[j] - 1]);
  }
  std::vector<OpId> own;
  for (const OpId u : news) {
    if (std::none_of(news.begin(), news.end(),
                     [&](OpId v) { return before(history, clocks, u, v); })) {
      own.push_back(u);
    }
  }
  return own;
}

namespace {

// Both verdicts of a history whose deliveries were trusted and then left out.
std::string both_verdicts(const Analysis& analysis) {
  const auto with = analysis.decision.verdict, without = *analysis.without_context;
  if (with == without) return "  without the context: the same\n";
  if (with == Verdict::kViolated && without == Verdict::kSatisfied)
    return "  context-contradiction: other deliveries explain the reads, but not the recorded "
           "ones\n";
  if (with == Verdict::kSatisfied && without == Verdict::kViolated)
    return "  context-contradiction: only deliveries that are not causal explain the reads\n";
  return fmt::format("  without the context: {}\n", to_string(without));
}

}  // namespace

std::string as_text(const Report& report) {
  const History& history = *report.history;
  std::string text = fmt::format("{}\t{}\t{}\n", report.file, name(history.type),
                                 to_string(report.analysis.decision.verdict));
  if (history.ops.empty()) text += "  0 operations\n";
  if (report.analysis.decision.verdict == Verdict::kUnknown && history.has_unread()) {
    text += "  reads of keys with an update of unknown outcome were left out\n";
  } else if (report.analysis.decision.verdict == Verdict::kUnknown) {
    text += fmt::format(
        "  a limit was met ({}) after {:.1f} s{}\n", report.analysis.limit, report.analysis.seconds,
        report.analysis.limit == "size" ? ": more choices than the exact method takes on" : "");
  }
  if (report.analysis.explanation && report.show_explanation)
    text += explanation_text(history, *report.analysis.explanation);
  if (report.analysis.without_context) text += both_verdicts(report.analysis);
  if (report.analysis.convergence) text += convergence_text(report);
  if (report.show_witness && has_execution(report)) text += witness_text(report);
  return text;
}

std::string as_json(const Report& report) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  return text::dump(json_of(report)) + "\n";
}

Json json_of(const Report& report, const char* named) {
  const History& history = *report.history;
  Json json = {{named, report.file},
               {"type", name(history.type)},
               {"letter", report.analysis.axioms.strict},
               {"operations", history.ops.size()},
               {"replicas", processes_of(history)},
               {"keys", history.keys.size()},
               {"indeterminate", history.indeterminate.size() + history.absent.size()},
               {"unknown_outcomes", nullptr},
               {"verdict", to_string(report.analysis.decision.verdict)},
               {"decided_by", nullptr},
               {"seconds", report.analysis.seconds},
               {"context", nullptr},
               {"without_context", nullptr},
               {"limit", nullptr},
               {"explanation", nullptr}};
  if (history.unknown_outcome != UnknownOutcome::kOpen)
    json["unknown_outcomes"] = name(history.unknown_outcome);
  if (report.analysis.decision.verdict == Verdict::kUnknown) {
    json["limit"] = report.analysis.limit;
  } else {
    json["decided_by"] = report.analysis.decision.decided_by;
  }
  if (report.analysis.by_context)
    json["context"] = report.analysis.without_context ? "checked" : "trusted";
  if (report.analysis.without_context)
    json["without_context"] = to_string(*report.analysis.without_context);
  if (report.analysis.explanation)
    json["explanation"] = explanation_json(history, *report.analysis.explanation);
  if (report.show_witness && has_execution(report)) {
    Json execution = Json::array();
    for (const OpId id : report.analysis.decision.witness->order) {
      auto one = operation_json(history, id);
      one["newly_seen"] = newly_seen(report, id);
      execution.push_back(std::move(one));
    }
    json["witness"] = std::move(execution);
  }
  if (report.of_adapter) {
    json["replicas"] = replicas_of_run(history);
    json["processes"] = processes_of(history);
  }
  if (report.analysis.convergence) {
    const auto& found = *report.analysis.convergence;
    Json different = Json::array();
    for (const auto& [one, other] : found.different)
      different.push_back(
          {{"key", Json::parse(history.key_json(history.ops[one].key), nullptr, false)},
           {"reads", {one, other}}});
    json["convergence"] = {{"converged", nullptr},   {"keys", found.keys},
                           {"different", different}, {"unread", found.unread.size()},
                           {"median_ns", nullptr},   {"longest_ns", nullptr}};
    if (found.keys > 0) json["convergence"]["converged"] = found.different.empty();
    if (!found.nanoseconds.empty()) {
      json["convergence"]["median_ns"] = found.nanoseconds[found.nanoseconds.size() / 2];
      json["convergence"]["longest_ns"] = found.nanoseconds.back();
    }
  }
  return json;
}

}  // namespace cupel::crdt
