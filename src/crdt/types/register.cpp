// Register: see the header.
#include "crdt/types/register.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "crdt/explain/context_explainer.hpp"
#include "crdt/explain/read_explainer.hpp"
#include "crdt/model/element_json.hpp"
#include "crdt/solve/context.hpp"
#include "crdt/solve/encoder.hpp"
#include "crdt/workload/simulated_replica.hpp"

namespace cupel::crdt {

using Json = nlohmann::json;

std::string_view RegisterType::method(const Operation& op) const {
  return op.kind == Kind::kWrite ? "write" : "read";
}

ReplicatedType::Text RegisterType::text(const History& history, const Operation& op) const {
  if (op.kind == Kind::kWrite) return {{history.element_text(op.element)}, ""};
  return {{}, text_of_read(history, op)};
}

std::optional<std::string> RegisterType::parse(const ParsedCall& call) const {
  if (call.method == "write") {
    if (call.value.is_null()) return call.expected("the value that was written");
    call.op.kind = Kind::kWrite;
    call.op.element = call.element(call.value);
    return take_value(call);
  }
  if (call.method != "read") return call.unknown_method("write or read of a register");
  call.op.kind = Kind::kValues;
  if (call.indeterminate || call.value.is_null()) return std::nullopt;
  return parse_read(call);
}

Json RegisterType::value(const History& history, const Operation& op) const {
  return op.kind == Kind::kWrite ? element_json(history, op.element) : value_of(history, op);
}

Json RegisterType::argument(const History& history, const Operation& op) const {
  return op.kind == Kind::kWrite ? element_json(history, op.element) : Json();
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

bool encode_kept_write(Encoder& encoder, OpId read,
                       const std::function<Literal(OpId write, OpId other)>& keeps) {
  const History& h = encoder.history();
  const auto value = h.list(h.ops[read])[0];
  const auto& writes = encoder.updates_of(h.ops[read].key);
  Clause some;
  for (const OpId w : writes) {
    if (h.ops[w].element != value || encoder.seen(read, w) == encoder.never()) continue;
    const Literal v = encoder.new_variable();
    some.push_back(v);
    encoder.clause({-v, encoder.seen(read, w)});
    for (const OpId other : writes) {
      if (encoder.too_much()) return false;
      if (other == w || encoder.seen(read, other) == encoder.never()) continue;
      encoder.clause({-v, -encoder.seen(read, other), keeps(w, other)});
    }
  }
  encoder.clause(some);
  return true;
}

std::string SingleValueRegister::text_of_read(const History& history, const Operation& read) const {
  const auto list = history.list(read);
  return list.empty() ? "null" : history.element_text(list[0]);
}

std::optional<std::string> SingleValueRegister::parse_read(const ParsedCall& call) const {
  call.list.push_back(call.element(call.value));
  return std::nullopt;
}

Json SingleValueRegister::value_of(const History& history, const Operation& read) const {
  const auto list = history.list(read);
  return list.empty() ? Json() : element_json(history, list[0]);
}

}  // namespace cupel::crdt
