// Register: see the header.
#include "crdt/types/register.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "crdt/explain/context_explainer.hpp"
#include "crdt/explain/read_explainer.hpp"
#include "crdt/solve/context.hpp"
#include "crdt/solve/encoder.hpp"
#include "crdt/workload/simulated_replica.hpp"

namespace cupel::crdt {

std::vector<CallForm> RegisterType::forms(Argument written, Answer read,
                                          std::string_view expected) {
  return {{"write", Kind::kWrite, written, Answer::kAbsent, "the value that was written"},
          {"read", Kind::kValues, Argument::kAbsent, read, expected}};
}

bool RegisterType::encode(Encoder& encoder) const {
  const History& h = encoder.history();
  for (const OpId id : encoder.nodes()) {
    if (encoder.budget_exceeded()) return false;
    const Operation& op = h.ops[id];
    if (encoder.is_probed(id) || op.kind != Kind::kValues) continue;
    if (h.list(op).empty()) {
      for (const OpId w : encoder.updates_of(op.key)) encoder.clause({-encoder.seen(id, w)});
    } else if (!encode_read(encoder, id)) {
      return false;
    }
  }
  return true;
}

void RegisterType::choose(RequestChoice& choice) const {
  if (choice.read) return;
  choice.op.kind = Kind::kWrite;
  auto& written = choice.written;
  if (!written.empty() && choice.random.chance(choice.duplicates)) {
    choice.op.element = written[choice.random.below(written.size())];
  } else {
    choice.op.element = choice.history.element(choice.op.key, std::to_string(choice.fresh++));
    written.push_back(choice.op.element);
  }
}

void RegisterType::explain_read(ReadExplainer& explainer) const {
  const auto list = explainer.history().list(explainer.read());
  const auto unwritten = std::find_if(list.begin(), list.end(), [&](std::uint32_t e) {
    return !explainer.any_operation(
        [&](const Operation& op) { return op.kind == Kind::kWrite && op.element == e; });
  });
  if (unwritten != list.end()) {
    explainer.report("thin-air", fmt::format("{} returned {}, which nobody wrote", explainer.text(),
                                             explainer.history().element_text(*unwritten)));
  } else if (list.empty()) {
    explainer.report("lost-write",
                     fmt::format("{} found no value, but it has seen a write", explainer.text()));
  } else {
    explain_values(explainer);
  }
}

bool RegisterType::is_replaced(const ContextExplainer& explainer, OpId first, OpId second) const {
  return first != second && explainer.sees(second, first);
}

void RegisterType::explain_received(ContextExplainer& explainer) const {
  const History& h = explainer.history();
  const auto visible = explainer.visible(Kind::kWrite);
  const auto list = h.list(explainer.read());
  const auto writes_of = [&](std::uint32_t value, const std::vector<OpId>& writes) {
    std::vector<OpId> found;
    for (const OpId w : writes) {
      if (h.ops[w].element == value) found.push_back(w);
    }
    return found;
  };
  const auto over = [&](OpId w) {
    const auto found = std::find_if(visible.begin(), visible.end(),
                                    [&](OpId v) { return is_replaced(explainer, w, v); });
    return found == visible.end() ? kNone : *found;
  };
  for (const auto value : list) {
    const std::string claim =
        fmt::format("{} returned {}", explainer.where(), h.element_text(value));
    const auto seen = writes_of(value, visible);
    const auto elsewhere = writes_of(value, explainer.not_visible(Kind::kWrite));
    if (seen.empty()) {
      explainer.report(elsewhere.empty() ? "thin-air" : "not-received",
                       elsewhere.empty() ? fmt::format("{}, which nobody wrote", claim)
                                         : fmt::format("{}; it had not received {}", claim,
                                                       explainer.text(elsewhere[0])),
                       elsewhere);
      return;
    }
    if (std::all_of(seen.begin(), seen.end(), [&](OpId w) { return over(w) != kNone; })) {
      explainer.report("stale-read",
                       fmt::format("{}; it had received {}, {}", claim,
                                   explainer.text(over(seen[0])), replacement()),
                       {seen[0], over(seen[0])});
      return;
    }
    const auto kept =
        std::count_if(seen.begin(), seen.end(), [&](OpId w) { return over(w) == kNone; });
    if (std::count(list.begin(), list.end(), value) > kept) {
      explainer.report("value-twice",
                       fmt::format("{} more often than the writes of it that it had received and "
                                   "that nothing had overwritten",
                                   claim),
                       seen);
      return;
    }
  }
  for (const OpId w : visible) {
    const bool returned = std::find(list.begin(), list.end(), h.ops[w].element) != list.end();
    if (returned || over(w) != kNone) continue;
    const bool ordered = !list.empty() && name_of_missing() == "order-disagreement";
    explainer.report(
        list.empty() ? "lost-write" : std::string(name_of_missing()),
        !ordered
            ? fmt::format("{} does not return {}; it had received {}, and nothing that had "
                          "overwritten it",
                          explainer.where(), h.element_text(h.ops[w].element), explainer.text(w))
            : fmt::format("no order of the writes explains {} and the other reads",
                          explainer.where()),
        {w});
    return;
  }
  // --strict-axioms: two concurrent writes of one value.
  explainer.report(
      "wrong-siblings",
      fmt::format("{} had received two concurrent writes of one value", explainer.where()),
      visible);
}

}  // namespace cupel::crdt
