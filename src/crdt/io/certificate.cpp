// Certificates as JSON; docs/reference/crdt.md has the fields.
#include "crdt/io/certificate.hpp"

#include <fmt/format.h>

#include "crdt/verify/digest.hpp"

namespace cupel::crdt {

namespace {

std::string unknown_outcomes(const History& history) {
  const auto word = name(history.unknown_outcome);
  return word.empty() ? "" : fmt::format(",\"unknown_outcomes\":\"{}\"", word);
}

std::string head(const History& history, const Axioms& axioms, const char* verdict) {
  return fmt::format(
      "{{\"cupel_crdt_certificate\":1,\"type\":\"{}\",\"letter\":{},\"history\":\"{:016x}\","
      "\"verdict\":\"{}\"{}",
      name(history.type), axioms.strict, digest(history), verdict, unknown_outcomes(history));
}

template <typename Numbers>
std::string joined(const Numbers& numbers) {
  std::string text = "[";
  for (const auto n : numbers) text += (text.size() > 1 ? "," : "") + std::to_string(n);
  return text + "]";
}

// Lists: the order of the characters, of pairs of them, or of places. Maps: that of the writes of
// each key.
std::string own_orders(const Witness& witness) {
  std::string text;
  if (!witness.characters.empty()) text += ",\n\"characters\":" + joined(witness.characters);
  if (!witness.pairs.empty()) text += ",\n\"pairs\":" + joined(witness.pairs);
  if (!witness.writes.empty()) text += ",\n\"writes\":" + joined(witness.writes);
  if (!witness.positions.empty()) text += ",\n\"positions\":" + joined(witness.positions);
  return text;
}

}  // namespace

std::string certificate_of_witness(const History& history, const Axioms& axioms,
                                   const Witness& witness) {
  std::string text = head(history, axioms, "satisfied") + ",\"clocks\":[";
  for (OpId id = 0; id < history.ops.size(); ++id)
    text += (id == 0 ? "\n" : ",\n") + joined(witness.clocks.row(id));
  return text + "],\n\"order\":" + joined(witness.order) + own_orders(witness) + "}\n";
}

std::string certificate_of_core(const History& history, const Axioms& axioms, const Core& core) {
  return head(history, axioms, "violated") + ",\"operations\":" + joined(core.ops) +
         ",\"elements\":" + joined(core.elements) + "}\n";
}

std::string certificate_of_context(const History& history, const Analysis& analysis) {
  const auto& witness = analysis.decision.witness;
  return head(history, analysis.axioms, witness ? "satisfied" : "violated") +
         fmt::format(
             ",\"context\":\"{}\",\"{}\":{}{}}}\n",
             analysis.decision.decided_by == "converged-only" ? "converged-only" : "trusted",
             witness ? "order" : "operations",
             joined(witness ? witness->order : analysis.explanation->core.ops),
             witness ? own_orders(*witness) : "");
}

std::string certificate_of(const History& history, const Analysis& analysis) {
  if (analysis.by_context) return certificate_of_context(history, analysis);
  return analysis.decision.witness
             ? certificate_of_witness(history, analysis.axioms, *analysis.decision.witness)
             : certificate_of_core(history, analysis.axioms, analysis.explanation->core);
}

std::string certificate_of(const Recording& recording, const RecordingAnalysis& analysis) {
  if (!recording.is_named())
    return certificate_of(recording.objects[0].history, analysis.objects[0]);
  const bool violated = analysis.decided == Verdict::kViolated;
  std::string objects;
  for (std::size_t o = 0; o < analysis.objects.size(); ++o) {
    const Analysis& object = analysis.objects[o];
    if (violated && object.decision.verdict != Verdict::kViolated) continue;
    auto own = certificate_of(recording.objects[o].history, object);
    own.pop_back();  // its line feed
    objects += fmt::format("{}\n{{\"object\":{},\"certificate\":{}}}", objects.empty() ? "" : ",",
                           recording.objects[o].name, own);
    if (violated) break;
  }
  return fmt::format(
      "{{\"cupel_crdt_certificate\":1,\"type\":\"{}\",\"letter\":{},\"history\":\"{:016x}\","
      "\"verdict\":\"{}\"{}{},\"objects\":[{}]}}\n",
      kNamedObjects, analysis.axioms.strict, digest(recording), violated ? "violated" : "satisfied",
      unknown_outcomes(recording.combined),
      analysis.together.empty() ? "" : ",\"together\":" + joined(analysis.together), objects);
}

}  // namespace cupel::crdt
