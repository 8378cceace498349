// Final reads: see the header.
#include "report/final_reads.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analysis/final_reads.hpp"
#include "explain/why/words.hpp"
#include "report/wording.hpp"

namespace cupel::report {

namespace {

using analysis::FinalReads;
using history::History;
using history::OpId;
using history::OpKind;
using history::ValueId;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMostKeysShown = 5;
constexpr std::size_t kMostKeysListed = 1000;  // in JSON
constexpr std::size_t kMostElementsShown = 20;

std::string value_of(const History& history, OpId id) {
  const auto op = history.op(id);
  if (op.kind == OpKind::kCompareAndSet) {
    return history::shown(history.value(history.compare_and_set(op).desired));
  }
  if (op.kind != OpKind::kListRead) return history::shown(history.value(op.value));
  const auto list = history.list(op);
  std::string text = list.size() > kMostElementsShown ? "[… " : "[";
  const auto first = list.size() > kMostElementsShown ? list.size() - kMostElementsShown : 0;
  for (auto i = first; i < list.size(); ++i) {
    text += (i > first ? " " : "") + history::shown(history.value(list[i]));
  }
  return text + "]";
}

const std::string& node_of(const History& history, const FinalReads& reads, OpId id) {
  const auto session = history.session(history.txn_of(id));
  for (const auto& node : reads.nodes) {
    if (node.session == session) return node.name;
  }
  return reads.nodes.front().name;
}

// "node A holds 5, node B holds 6"; one answer if all are the same.
std::string holdings(const History& history, const FinalReads& reads,
                     const std::vector<OpId>& found) {
  std::string text;
  bool same = true;
  for (const auto id : found) {
    const auto value = value_of(history, id);
    same = same && value == value_of(history, found.front());
    text +=
        fmt::format("{}{} holds {}", text.empty() ? "" : ", ", node_of(history, reads, id), value);
  }
  if (!same || found.size() == 1) return text;
  return fmt::format("every node holds {}", value_of(history, found.front()));
}

std::string lost_line(const History& history, const FinalReads& reads,
                      const FinalReads::LostWrite& lost) {
  const auto txn = history.txn_of(lost.last);
  const auto end = history.complete(txn);
  const bool list = history.op(lost.last).kind == OpKind::kAppend;
  const auto value = value_of(history, lost.last);
  auto text = fmt::format("    lost-write on key {}: ", history::shown(history.key(lost.key)));
  text += lost.writes == 1 ? fmt::format("the {} of {}", list ? "append" : "write", value)
                           : fmt::format("{} {}, the last of them of {}", grouped(lost.writes),
                                         list ? "appends" : "writes", value);
  if (end != history::kNoTime && !history.times_are_places()) {
    text += fmt::format(", acknowledged at {:.3f} s", static_cast<double>(end) / 1e9);
  }
  return text + "; " + holdings(history, reads, lost.found) + "\n";
}

std::string more(std::size_t number) {
  return number <= kMostKeysShown
             ? std::string()
             : fmt::format("    and {} more\n", counted(number - kMostKeysShown, "key"));
}

}  // namespace

std::string final_reads_text(const Checked& checked) {
  const auto& found = checked.analysis.final_reads;
  if (!found) return {};
  auto text = fmt::format("  Final reads: {} on {}", counted(found->keys, "key"),
                          counted(found->nodes.size(), "node"));
  for (const auto& node : found->nodes) {
    if (node.keys == 0) text += fmt::format("; {} was not read", node.name);
  }
  if (found->keys_of_all < found->keys) {
    text += fmt::format("; {} were not read from every node, so that nothing is said of them",
                        counted(found->keys - found->keys_of_all, "key"));
  }
  if (found->well()) {
    if (found->keys_of_all == 0) return text + '\n';
    return text + (found->nodes.size() > 1 ? "; no acknowledged write is lost, the nodes agree\n"
                                           : "; no acknowledged write is lost\n");
  }
  if (!found->lost.empty()) {
    text += fmt::format("; {} lost acknowledged writes",
                        found->lost.size() == 1 ? "1 key" : counted(found->lost.size(), "key"));
  }
  if (!found->divergent.empty()) {
    text += fmt::format("; nodes differ on {}", counted(found->divergent.size(), "key"));
  }
  text += '\n';
  for (std::size_t i = 0; i < std::min(found->lost.size(), kMostKeysShown); ++i) {
    text += lost_line(checked.history, *found, found->lost[i]);
  }
  text += more(found->lost.size());
  for (std::size_t i = 0; i < std::min(found->divergent.size(), kMostKeysShown); ++i) {
    const auto& one = found->divergent[i];
    text += fmt::format("    divergent-replicas on key {}: {}\n",
                        history::shown(checked.history.key(one.key)),
                        holdings(checked.history, *found, one.found));
  }
  return text + more(found->divergent.size());
}

std::string final_reads_verdict(const Checked& checked) {
  const auto& found = checked.analysis.final_reads;
  if (!found) return {};
  std::string text = found->lost.empty() ? "" : "acknowledged writes are lost";
  if (!found->divergent.empty()) {
    text += text.empty() ? "the nodes differ at the end" : "; the nodes differ at the end";
  }
  return text;
}

Json final_reads_object(const Checked& checked) {
  const auto& found = *checked.analysis.final_reads;
  const auto& history = checked.history;
  Json object{
      {"nodes", Json::array()}, {"keys", found.keys}, {"keys_of_all_nodes", found.keys_of_all}};
  for (const auto& node : found.nodes) object["nodes"].push_back(node.name);
  const auto holding = [&](const std::vector<OpId>& reads) {
    Json all = Json::object();
    for (const auto id : reads) all[node_of(history, found, id)] = value_of(history, id);
    return all;
  };
  object["keys_with_lost_writes"] = found.lost.size();
  object["lost_writes"] = Json::array();
  for (const auto& lost : found.lost) {
    if (object["lost_writes"].size() == kMostKeysListed) break;
    object["lost_writes"].push_back({{"key", history::shown(history.key(lost.key))},
                                     {"writes", lost.writes},
                                     {"last", value_of(history, lost.last)},
                                     {"txn", history.label(history.txn_of(lost.last))},
                                     {"found", holding(lost.found)}});
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
