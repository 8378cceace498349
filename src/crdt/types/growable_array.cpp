// Replicated growable array: a read shows the characters that were added and not removed, in the
// order of the linearization (thesis, figure 2.2; solve/array.cpp).
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

namespace {

using Json = nlohmann::json;

// An addAfter or remove of unknown outcome did not happen if no operation can have added the
// character that it names: that may be the work of one that failed, or of another that did
// not happen. What a read shows is left to the decision.
History without_unnamed(const History& history) {
  std::vector<bool> unknown(history.replicas.size(), false);
  for (const auto r : history.indeterminate) unknown[r] = true;
  std::vector<bool> added(history.elements.size(), false), shown(history.elements.size(), false);
  std::vector<std::vector<OpId>> waiting(history.elements.size());  // by what they name
  std::vector<std::uint32_t> fresh;
  const auto add = [&](std::uint32_t e) {
    if (!added[e]) fresh.push_back(e);
    added[e] = true;
  };
  for (OpId id = 0; id < history.ops.size(); ++id) {
    const Operation& op = history.ops[id];
    for (const auto e : history.list(op)) shown[e] = true;
    if (op.kind != Kind::kInsert) continue;
    if (unknown[op.replica] && op.parent != kNone)
      waiting[op.parent].push_back(id);
    else
      add(op.element);
  }
  while (!fresh.empty()) {
    const auto e = fresh.back();
    fresh.pop_back();
    for (const OpId id : waiting[e]) add(history.ops[id].element);
  }
  History kept;
  kept.type = history.type;
  for (const Operation& whole : history.ops) {
    Operation op = whole;
    const auto named = op.kind == Kind::kInsert ? op.parent : op.element;
    const bool is_shown = op.kind == Kind::kInsert && shown[op.element];
    if (unknown[op.replica] && named != kNone && !added[named] && !is_shown) continue;
    op.replica = kept.replica(history.replicas[op.replica]);
    op.key = kept.key(history.keys[op.key]);
    const auto element = [&](std::uint32_t e) {
      return e == kNone ? kNone : kept.element(op.key, history.elements[e].text);
    };
    if (unknown[whole.replica]) kept.indeterminate.push_back(op.replica);
    op.parent = element(op.parent);
    op.element = element(op.element);
    std::vector<std::uint32_t> list;
    for (const auto e : history.list(whole)) list.push_back(element(e));
    kept.add(op, list);
  }
  return kept;
}

// What the operations name and show must have been seen; removes of it must not, or must.
class ArrayEncoding {
 public:
  explicit ArrayEncoding(Encoder& encoder)
      : encoder_(encoder),
        h_(encoder.history()),
        inserts_(inserts_of(h_)),
        removes_(h_.elements.size()),
        characters_(h_.keys.size()) {
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      const Operation& op = h_.ops[id];
      if (op.kind == Kind::kDelete) removes_[op.element].push_back(id);
      if (op.kind == Kind::kInsert) characters_[op.key].push_back(op.element);
    }
  }

  void encode(OpId id) {
    const Operation& op = h_.ops[id];
    if (op.kind == Kind::kList) {
      encode_list(id);
    } else if (const auto used = op.kind == Kind::kInsert ? op.parent : op.element; used != kNone) {
      must_see(id, used);
    }
  }

 private:
  void must_see(OpId id, std::uint32_t e) {
    if (inserts_[e] == kNone)
      encoder_.clause({});
    else
      encoder_.clause({encoder_.seen(id, inserts_[e])});
  }

  void encode_list(OpId read) {
    std::vector<bool> shown(h_.elements.size(), false);
    for (const auto e : h_.list(h_.ops[read])) {
      shown[e] = true;
      must_see(read, e);
      for (const OpId d : removes_[e]) {
        if (!encoder_.axioms().strict) encoder_.clause({-encoder_.seen(read, d)});
      }
    }
    for (const auto e : characters_[h_.ops[read].key]) {
      if (shown[e]) continue;
      Clause one{-encoder_.seen(read, inserts_[e])};
      for (const OpId d : removes_[e]) one.push_back(encoder_.seen(read, d));
      encoder_.clause(one);
    }
  }

  Encoder& encoder_;
  const History& h_;
  std::vector<OpId> inserts_;
  std::vector<std::vector<OpId>> removes_;              // by element
  std::vector<std::vector<std::uint32_t>> characters_;  // by key
};

class Replica final : public SimulatedReplica {
 public:
  Replica(const History& history, std::string_view bug, std::uint32_t self)
      : SimulatedReplica(history, self),
        ignores_stamp_(bug == "ignores-timestamp"),
        interleaves_(bug == "interleaves"),
        texts_(history.keys.size()),
        visible_(history.keys.size()) {}

  void answer(Operation& read, std::vector<std::uint32_t>& list) override {
    for (const auto& c : texts_[read.key]) {
      if (!c.removed) list.push_back(c.element);
    }
  }

  [[nodiscard]] std::span<const std::vector<std::uint32_t>> visible() const override {
    return visible_;
  }

 private:
  struct Character {
    std::uint32_t element;
    std::uint32_t parent;
    std::uint64_t stamp;
    std::uint32_t replica;
    bool removed;
  };

  void change(const Update& update, base::Random& /*random*/) override {
    auto& text = texts_[update.op.key];
    auto& visible = visible_[update.op.key];
    const auto find = [&](std::uint32_t e) {
      return std::find_if(text.begin(), text.end(),
                          [&](const Character& c) { return c.element == e; });
    };
    if (update.op.kind == Kind::kDelete) {
      // Out of order it may not be there; then it will never be removed.
      if (const auto at = find(update.op.element); at != text.end()) at->removed = true;
      std::erase(visible, update.op.element);
      return;
    }
    auto at = text.begin();
    if (update.op.parent != kNone) {
      at = find(update.op.parent);
      if (at != text.end()) ++at;
    }
    // What was added later after the same character, and what comes after that, has a
    // larger stamp each.
    const auto is_later = [&](const Character& c) {
      return std::pair(c.stamp, c.replica) > std::pair(update.stamp, update.op.replica);
    };
    while (at != text.end() && is_later(*at)) {
      if (is_remote(update) && ignores_stamp_) break;
      if (is_remote(update) && interleaves_ && at->parent != update.op.parent) break;
      ++at;
    }
    text.insert(at, {update.op.element, update.op.parent, update.stamp, update.op.replica, false});
    visible.push_back(update.op.element);
  }

  const bool ignores_stamp_, interleaves_;
  std::vector<std::vector<Character>> texts_;
  std::vector<std::vector<std::uint32_t>> visible_;
};

class GrowableArray final : public ReplicatedType {
 public:
  GrowableArray()
      : ReplicatedType(
            {.names = {{"growable-array"}, {"replicated-growable-array"}, {"rga"}},
             .whole_read = Kind::kList,
             .bugs = {{"ignores-timestamp",
                       "the update that arrives last wins: the register keeps it, the array puts "
                       "it first"},
                      {"interleaves",
                       "a character that arrives is inserted correctly among older siblings, but "
                       "into the middle of the text that follows a newer one"}},
             .reads_list_elements = true,
             .updates_use_elements = true}) {}

  [[nodiscard]] std::string_view method(const Operation& op) const override {
    return op.kind == Kind::kInsert ? "addAfter" : op.kind == Kind::kDelete ? "remove" : "read";
  }

  [[nodiscard]] Text text(const History& history, const Operation& op) const override {
    if (op.kind == Kind::kList) return {{}, "[" + history.listed(op) + "]"};
    if (op.kind == Kind::kDelete) return {{history.element_text(op.element)}, ""};
    return {{op.parent == kNone ? "null" : history.element_text(op.parent),
             history.element_text(op.element)},
            ""};
  }

  std::optional<std::string> parse(const ParsedCall& call) const override {
    const Json& value = call.value;
    Operation& op = call.op;
    if (call.method == "addAfter" || call.method == "add-after") {
      const char* const kTwo =
          "the character before (null: the beginning) and the new one, as in [null,\"a\"]";
      if (!value.is_array() || value.size() != 2 || value[1].is_null()) return call.expected(kTwo);
      op.kind = Kind::kInsert;
      op.parent = value[0].is_null() ? kNone : call.element(value[0]);
      op.element = call.element(value[1]);
      if (op.parent == op.element) return call.expected("two different characters");
      return std::nullopt;
    }
    if (call.method == "remove") {
      if (value.is_null()) return call.expected("the character");
      op.kind = Kind::kDelete;
      op.element = call.element(value);
      return std::nullopt;
    }
    if (call.method != "read") return call.unknown_method("addAfter, remove or read of an array");
    op.kind = Kind::kList;
    if (call.indeterminate) return std::nullopt;
    return call.take_list("the array of the characters, none of them null");
  }

  [[nodiscard]] History without_impossible(History history) const override {
    return without_unnamed(history);
  }

  [[nodiscard]] Json value(const History& history, const Operation& op) const override {
    return op.kind == Kind::kList ? list_json(history, op) : argument(history, op);
  }

  [[nodiscard]] Json argument(const History& history, const Operation& op) const override {
    if (op.kind == Kind::kList) return {};
    if (op.kind == Kind::kDelete) return element_json(history, op.element);
    return Json::array({element_json(history, op.parent), element_json(history, op.element)});
  }

  void choose(RequestChoice& choice) const override {
    if (choice.read) return;
    Operation& op = choice.op;
    const auto& known = choice.visible[op.key];
    if (!known.empty() && choice.down) {
      op.kind = Kind::kDelete;
      op.element = known[choice.random.below(known.size())];
      return;
    }
    op.kind = Kind::kInsert;
    op.parent = known.empty() || choice.random.chance(0.25)
                    ? kNone
                    : known[choice.random.below(known.size())];
    op.element =
        choice.history.element(op.key, fmt::format("\"{}-{}\"", op.replica, choice.fresh++));
  }

  std::optional<Decision> decide_quickly(const History& history, const Axioms& axioms,
                                         base::Budget& budget, Effort effort) const override {
    constexpr int kFewRepairs = 12, kMostRepairs = 200;
    return decide_array(history, axioms, budget,
                        effort == Effort::kFirst ? kFewRepairs : kMostRepairs);
  }

  bool encode(Encoder& encoder) const override {
    ArrayEncoding encoding(encoder);
    for (const OpId id : encoder.nodes()) {
      if (encoder.budget_exceeded()) return false;
      if (!encoder.is_probed(id)) encoding.encode(id);
    }
    const auto order = array_order(encoder.history(), encoder.axioms());
    if (order.impossible) encoder.clause({});
    for (const Step& step : order.steps) encoder.linearize(step);
    return true;
  }

  [[nodiscard]] ContextDecision decide_context(const KnownContext& context) const override {
    return decide_known_array(context);
  }

  [[nodiscard]] std::unique_ptr<SimulatedReplica> simulate(const History& history,
                                                           std::string_view bug,
                                                           std::uint32_t self) const override {
    return std::make_unique<Replica>(history, bug, self);
  }

  // A remove of a character that every read shows.
  [[nodiscard]] bool update_may_go(const Operation& update,
                                   const ReadClaims& claims) const override {
    return update.kind == Kind::kDelete && !claims.is_missing(update.element);
  }

  void explain_cycle(const ArbitrationCycle& cycle) const override {
    if (cycle.one_step) {
      cycle.report("order-against-causality",
                   fmt::format("{} shows a character before one that was added in its sight, after "
                               "the same character",
                               cycle.read()));
    } else if (cycle.one_read) {
      cycle.report(
          "interleaved-insertions",
          fmt::format("{} mixes what was added after two characters that come after the same "
                      "one",
                      cycle.read()));
    } else {
      cycle.report("order-disagreement",
                   "reads show characters in orders that no linearization has");
    }
  }

  void explain_read(ReadExplainer& explainer) const override {
    const History& h = explainer.history();
    const auto list = h.list(explainer.read());
    const auto inserts = inserts_of(h);
    for (const auto e : list) {
      if (inserts[e] != kNone) continue;
      explainer.report("thin-air", fmt::format("{} shows {}, which nobody added", explainer.text(),
                                               h.element_text(e)));
      return;
    }
    const auto order = array_order(h, explainer.axioms());
    if (order.impossible) {
      explain_impossible(explainer, *order.impossible);
      return;
    }
    const auto is_shown = [&](std::uint32_t e) {
      return std::find(list.begin(), list.end(), e) != list.end();
    };
    bool missing = false;
    for (std::uint32_t e = 0; e < h.elements.size(); ++e)
      missing = missing || (inserts[e] != kNone && !is_shown(e));
    const bool removed = explainer.any_operation(
        [&](const Operation& op) { return op.kind == Kind::kDelete && is_shown(op.element); });
    if (removed) {
      explainer.report(
          "removed-character-shown",
          fmt::format("{} shows a character whose remove it has seen", explainer.text()));
    } else if (missing) {
      explainer.report("lost-character",
                       fmt::format("{} leaves out a character that it has seen, and it cannot have "
                                   "seen a remove of it",
                                   explainer.text()));
    } else {
      explainer.report("order-disagreement",
                       fmt::format("no order of the additions explains {}", explainer.text()));
    }
  }

  void explain_received(ContextExplainer& explainer) const override {
    if (explainer.explain_content()) return;
    const History& h = explainer.history();
    const auto inserts = inserts_of(h);
    const auto list = h.list(explainer.read());
    const auto of = explainer.object();
    // The object stands before the one that it was added after.
    auto above = h.ops[inserts[of]].parent;
    while (above != kNone &&
           std::find(std::find(list.begin(), list.end(), of), list.end(), above) == list.end())
      above = h.ops[inserts[above]].parent;
    explainer.report("before-its-own",
                     fmt::format("{} shows {} before {}, which it was added after",
                                 explainer.where(), h.element_text(of), h.element_text(above)),
                     {inserts[of]}, {above});
  }

 private:
  // One read shows a character twice, or before the one that it was added after.
  static void explain_impossible(ReadExplainer& explainer, const Step& step) {
    const History& h = explainer.history();
    const std::string read = with_replica(h, step.read), shown = h.element_text(step.shown);
    if (step.shown == step.over) {
      explainer.report("character-twice", fmt::format("{} shows {} twice", read, shown));
    } else {
      explainer.report("before-its-own",
                       fmt::format("{} shows {} before {}, which it was added after", read, shown,
                                   h.element_text(step.over)));
    }
  }
};

}  // namespace

const ReplicatedType& growable_array() {
  static const GrowableArray type;
  return type;
}

}  // namespace cupel::crdt
