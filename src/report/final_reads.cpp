// Final reads: see the header.
#include "report/final_reads.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/visible.hpp"
#include "data/history/naming.hpp"
#include "data/history/times.hpp"
#include "engine/analysis/final_reads.hpp"
#include "engine/analysis/levels_by_name.hpp"
#include "engine/explain/why/layout.hpp"
#include "engine/explain/why/words.hpp"
#include "report/nodes.hpp"
#include "report/timeline.hpp"
#include "report/wording.hpp"

namespace cupel::report {

namespace {

using analysis::FinalReads;
using history::History;
using history::kNoTime;
using history::OpId;
using history::OpKind;
using history::Time;
using history::TxnId;
using history::ValueId;
using Json = nlohmann::ordered_json;

analysis::Losses losses(const Checked& checked) {
  return analysis::losses_of(checked.history, checked.analysis.final_reads,
                             analysis::levels_by_name(checked.analysis.check.levels.size()));
}

constexpr std::size_t kMostKeysShown = 5;
constexpr std::size_t kMostKeysListed = 1000;  // in JSON
constexpr std::size_t kMostElementsShown = 6, kMostElementsListed = 20;
constexpr std::size_t kMostWritesShown = 2;  // of a key on which the nodes differ

std::string value_of(const History& history, OpId id, std::size_t most = kMostElementsListed) {
  const auto op = history.op(id);
  if (op.kind == OpKind::kCompareAndSet) {
    return history::shown(history.value(history.compare_and_set(op).desired));
  }
  if (op.kind != OpKind::kListRead) return history::shown(history.value(op.value));
  const auto list = history.list(op);
  std::string text = list.size() > most ? "[… " : "[";
  const auto first = list.size() > most ? list.size() - most : 0;
  for (auto i = first; i < list.size(); ++i) {
    text += (i > first ? " " : "") + history::shown(history.value(list[i]));
  }
  return text + "]";
}

std::string seconds(Time time) {
  return fmt::format("{:.3f} s", static_cast<double>(time) / 1e9);
}

// The words for what the final reads of one history found.
class Describer {
 public:
  explicit Describer(const Checked& checked)
      : history_(checked.history),
        reads_(*checked.analysis.final_reads),
        fields_(checked.analysis.fields),
        faults_(faults_of(checked.history)) {}

  FinalReadsFinding lost(const FinalReads::LostWrite& one) {
    return {.name = "lost-write",
            .key = key(one.key),
            .writes = one.writes,
            .by = {write(one.last)},
            .holdings = holdings(one.found),
            .found = one.found};
  }

  FinalReadsFinding divergent(const FinalReads::DivergentKey& one) {
    FinalReadsFinding finding{.name = "divergent-replicas",
                              .key = key(one.key),
                              .holdings = holdings(one.found),
                              .found = one.found};
    for (const auto id : one.writes) {
      finding.by.push_back(write(id));
      finding.by.back().where = where(id, one.found);
    }
    return finding;
  }

  [[nodiscard]] const std::string& node_of(OpId id) const {
    const auto session = history_.session(history_.txn_of(id));
    for (const auto& node : reads_.nodes) {
      if (node.session == session) return node.name;
    }
    return reads_.nodes.front().name;
  }

  // What a fault did at this time, or the nearest fault before or after it.
  [[nodiscard]] std::string fault_at(Time time) const {
    std::string during, near;
    Time distance = std::numeric_limits<Time>::max();
    for (const auto& fault : faults_) {
      const bool ended = fault.to != kNoTime && fault.to < time;
      if (fault.from <= time && !ended) {
        during += (during.empty() ? "during " : " and ") + fault.what;
        continue;
      }
      const auto gap =
          ended ? history::between(fault.to, time) : history::between(time, fault.from);
      if (gap >= distance) continue;
      distance = gap;
      near = fmt::format("{} {} {}", seconds(gap), ended ? "after" : "before", fault.what);
    }
    return during.empty() ? near : during;
  }

 private:
  [[nodiscard]] std::string key(history::KeyId key) const {
    return explain::Words(history_, {}).key(key);
  }

  [[nodiscard]] ReportedWrite write(OpId id) const {
    const auto txn = history_.txn_of(id);
    ReportedWrite write{.op = id,
                        .txn = txn,
                        .clause = explain::Words(history_, std::span(&txn, 1)).write_clause(id)};
    const auto node = node_in(fields_, history_.label(txn));
    if (!node.name.empty()) {
      write.node = numbered_name(history_, node.name) + (node.role.empty() ? "" : ", ") + node.role;
    }
    const auto end = history_.complete(txn);
    if (end == kNoTime || history_.times_are_places()) return write;
    write.acknowledged = seconds(end);
    write.fault = fault_at(end);
    return write;
  }

  // "node 0 holds 5, node 1 holds 6"; one answer if all are the same.
  [[nodiscard]] std::string holdings(const std::vector<OpId>& found) const {
    std::string text;
    bool same = found.size() > 1;
    for (const auto id : found) {
      const auto value = value_of(history_, id, kMostElementsShown);
      same = same && value_of(history_, id) == value_of(history_, found.front());
      text += fmt::format("{}{} holds {}", text.empty() ? "" : ", ",
                          numbered_name(history_, node_of(id)), value);
    }
    return same ? "every node holds " + value_of(history_, found.front(), kMostElementsShown)
                : text;
  }

  [[nodiscard]] bool holds(OpId read, OpId write) const {
    const auto op = history_.op(read), written = history_.op(write);
    const auto value = written.kind == OpKind::kCompareAndSet
                           ? history_.compare_and_set(written).desired
                           : written.value;
    if (op.kind != OpKind::kListRead) return op.value == value;
    const auto list = history_.list(op);
    return std::find(list.begin(), list.end(), value) != list.end();
  }

  // A register's value that a node lacks may have been replaced there, so that it is not missing.
  [[nodiscard]] std::string where(OpId write, const std::vector<OpId>& found) const {
    const bool element = history_.op(write).kind == OpKind::kAppend;
    std::vector<std::string> nodes;
    for (const auto read : found) {
      if (holds(read, write) != element) nodes.push_back(numbered_name(history_, node_of(read)));
    }
    if (nodes.empty()) return {};
    return (element ? "missing on " : "held by ") + explain::enumerate(nodes);
  }

  const History& history_;
  const FinalReads& reads_;
  const explain::FieldsByLabel& fields_;
  std::vector<Fault> faults_;
};

std::string sentence_of(const History& history, const ReportedWrite& write) {
  auto text = fmt::format("{} {}", writer_of(history, write), write.clause);
  if (!write.acknowledged.empty()) text += ", acknowledged at " + write.acknowledged;
  if (!write.node.empty()) {
    text += fmt::format("{} by {}", write.acknowledged.empty() ? ", acknowledged" : "", write.node);
  }
  if (!write.fault.empty()) text += ", " + write.fault;
  if (!write.where.empty()) text += "; " + write.where;
  return text + ".";
}

std::string lines_of(const History& history, const FinalReadsFinding& finding) {
  const auto text =
      fmt::format("{} on {}: {}", finding.name, finding.key, sentences_of(history, finding));
  return "    " + explain::broken(text, 6, 2) + "\n";
}

}  // namespace

std::vector<FinalReadsFinding> final_reads_findings(const Checked& checked, std::size_t most) {
  std::vector<FinalReadsFinding> all;
  const auto& found = checked.analysis.final_reads;
  if (!found) return all;
  Describer describer(checked);
  for (std::size_t i = 0; i < std::min(found->lost.size(), most); ++i) {
    all.push_back(describer.lost(found->lost[i]));
  }
  for (std::size_t i = 0; i < std::min(found->divergent.size(), most); ++i) {
    all.push_back(describer.divergent(found->divergent[i]));
  }
  return all;
}

std::vector<TxnId> transactions_of(const History& history, const FinalReadsFinding& finding) {
  std::vector<TxnId> txns;
  for (const auto& write : finding.by) txns.push_back(write.txn);
  for (const auto id : finding.found) txns.push_back(history.txn_of(id));
  return txns;
}

std::string writer_of(const History& history, const ReportedWrite& write) {
  return fmt::format("{} of session {}", history::transaction_name(history, write.txn),
                     history::session_text(history, history.session(write.txn)));
}

std::string sentences_of(const History& history, const FinalReadsFinding& finding) {
  // The name of a host stays as it is.
  const bool name =
      !finding.holdings.starts_with("every ") && !finding.holdings.starts_with("node ");
  const auto held = (name ? finding.holdings : explain::capitalised(finding.holdings)) + ".";
  if (finding.name == "lost-write") {
    const auto lost =
        finding.writes == 1
            ? std::string("No node has it.")
            : fmt::format("No node has it, nor {} of {} before.",
                          counted(finding.writes - 1, "acknowledged write"), finding.key);
    return fmt::format("{} {} {}", sentence_of(history, finding.by.front()), lost, held);
  }
  auto text = held;
  for (std::size_t i = 0; i < std::min(finding.by.size(), kMostWritesShown); ++i) {
    text += " " + sentence_of(history, finding.by[i]);
  }
  return text;
}

std::string final_reads_summary(const Checked& checked) {
  const auto& found = checked.analysis.final_reads;
  if (!found) return {};
  auto text =
      fmt::format("{} on {}", counted(found->keys, "key"), counted(found->nodes.size(), "node"));
  for (const auto& node : found->nodes) {
    if (node.keys == 0) text += fmt::format("; {} was not read", base::visible(node.name));
  }
  if (found->keys_of_all < found->keys) {
    text += fmt::format("; {} were not read from every node, so that nothing is said of them",
                        counted(found->keys - found->keys_of_all, "key"));
  }
  if (found->well()) {
    if (found->keys_of_all == 0) return text;
    return text + (found->nodes.size() > 1 ? "; they show no lost write, and the nodes agree"
                                           : "; they show no lost write");
  }
  if (!found->lost.empty()) {
    text += fmt::format("; {} lost acknowledged writes", counted(found->lost.size(), "key"));
  }
  if (!found->divergent.empty()) {
    text += fmt::format("; nodes differ on {}", counted(found->divergent.size(), "key"));
  }
  return text;
}

std::string unknown_whether_lost(std::string_view why) {
  return why.empty() ? ""
                     : fmt::format("it is unknown whether acknowledged writes are lost: {}",
                                   base::visible(why));
}

std::string final_reads_unknown(const Checked& checked) {
  return unknown_whether_lost(losses(checked).why_unknown());
}

std::string final_reads_text(const Checked& checked) {
  const auto& found = checked.analysis.final_reads;
  if (!found) return {};
  auto text = fmt::format("  Final reads: {}\n", final_reads_summary(checked));
  const auto findings = final_reads_findings(checked, kMostKeysShown);
  for (std::size_t i = 0; i < findings.size(); ++i) {
    text += lines_of(checked.history, findings[i]);
    const bool last = i + 1 == findings.size() || findings[i + 1].name != findings[i].name;
    const auto all =
        findings[i].name == "lost-write" ? found->lost.size() : found->divergent.size();
    if (last && all > kMostKeysShown) {
      text += fmt::format("    and {} more\n", counted(all - kMostKeysShown, "key"));
    }
  }
  return text;
}

std::string final_reads_verdict(const Checked& checked) {
  const auto& found = checked.analysis.final_reads;
  return found ? found->in_words() : std::string();
}

bool final_reads_decide(const Checked& checked) {
  const auto found = losses(checked);
  return checked.analysis.final_reads && (!found.by_name || !found.gone.empty());
}

Json final_reads_object(const Checked& checked) {
  const auto& found = *checked.analysis.final_reads;
  const auto& history = checked.history;
  const Describer describer(checked);
  Json object{
      {"nodes", Json::array()}, {"keys", found.keys}, {"keys_of_all_nodes", found.keys_of_all}};
  for (const auto& node : found.nodes) object["nodes"].push_back(node.name);
  const auto holding = [&](const std::vector<OpId>& reads) {
    Json all = Json::object();
    for (const auto id : reads) all[describer.node_of(id)] = value_of(history, id);
    return all;
  };
  object["keys_with_lost_writes"] = found.lost.size();
  object["lost_writes"] = Json::array();
  for (const auto& lost : found.lost) {
    if (object["lost_writes"].size() == kMostKeysListed) break;
    const auto txn = history.txn_of(lost.last);
    Json one{{"key", history::shown(history.key(lost.key))},
             {"writes", lost.writes},
             {"last", value_of(history, lost.last)},
             {"txn", history.label(txn)}};
    if (const auto node = node_in(checked.analysis.fields, history.label(txn)); !node.name.empty())
      one["node"] = node.name;
    if (const auto end = history.complete(txn); end != kNoTime && !history.times_are_places()) {
      one["acknowledged"] = end;
      if (auto fault = describer.fault_at(end); !fault.empty()) one["fault"] = std::move(fault);
    }
    one["found"] = holding(lost.found);
    object["lost_writes"].push_back(std::move(one));
  }
  object["divergent_keys"] = found.divergent.size();
  object["divergent_replicas"] = Json::array();
  for (const auto& one : found.divergent) {
    if (object["divergent_replicas"].size() == kMostKeysListed) break;
    object["divergent_replicas"].push_back(
        {{"key", history::shown(history.key(one.key))}, {"found", holding(one.found)}});
  }
  return object;
}

}  // namespace cupel::report
