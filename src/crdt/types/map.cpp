// Map: a document of nested values (model/document.hpp), in four policies about the removal of a
// key (solve/document.hpp). Decided with known deliveries only.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "crdt/explain/context_explainer.hpp"
#include "crdt/explain/read_explainer.hpp"
#include "crdt/solve/document.hpp"
#include "crdt/types/document_calls.hpp"
#include "crdt/types/map_replica.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;

// The words about a place, and the operations that show it.
class PlaceExplainer {
 public:
  PlaceExplainer(const KnownContext& context, MapPolicy policy, const WrongRead& wrong)
      : context_(context), h_(context.history), index_(h_), policy_(policy), wrong_(wrong) {}

  void explain(Explanation& explanation) {
    if (wrong_.read == kNone) {
      explain_order();
    } else if (h_.ops[wrong_.read].kind == Kind::kDocument) {
      place_ = wrong_.object;
      explain_read();
    } else {
      const OpId put = index_.at(wrong_.object).put;
      report(
          "used-unseen-value",
          fmt::format("{} names {}, which {}", where(wrong_.read), h_.elements[wrong_.object].text,
                      put == kNone ? "nobody put anywhere" : "it had not received"),
          {put});
    }
    explanation.name = std::move(name_);
    explanation.summary = std::move(summary_);
    operations_.insert(wrong_.read);
    operations_.erase(kNone);
    explanation.core.ops.assign(operations_.begin(), operations_.end());
    explanation.part = part();
    for (const auto e : explanation.part.elements) explanation.core.elements.push_back(e);
    std::sort(explanation.core.elements.begin(), explanation.core.elements.end());
    add_cycle(explanation);
  }

 private:
  [[nodiscard]] bool sees(OpId op, OpId update) const {
    return context_.visibility.sees(op, update);
  }
  [[nodiscard]] std::string line_of(OpId id) const {
    return h_.ops[id].line == 0 ? "" : fmt::format(" (line {})", h_.ops[id].line);
  }
  [[nodiscard]] std::string text(OpId id) const { return with_replica(h_, id) + line_of(id); }
  [[nodiscard]] std::string where(OpId id) const {
    const auto line = h_.ops[id].line;
    if (line == 0) return with_replica(h_, id);
    return fmt::format("line {} (replica {})", line, h_.replicas[h_.ops[id].replica]);
  }

  void report(std::string name, std::string summary, const std::vector<OpId>& operations) {
    name_ = std::move(name);
    summary_ = std::move(summary);
    operations_.insert(operations.begin(), operations.end());
  }

  // What the read shows at the place; kNone: nothing.
  [[nodiscard]] std::uint32_t shown_at(OpId read, std::uint32_t place) const {
    std::uint32_t shown = kNone;
    for_shown(h_, index_, h_.ops[read], [&](const ShownItem& item) {
      if (item.element == place) shown = item.value;
    });
    return shown;
  }

  // Updates of the place: puts of a value or of any, removes.
  [[nodiscard]] std::vector<OpId> updates(Kind kind, bool seen, std::uint32_t value = kNone) const {
    std::vector<OpId> found;
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      const Operation& op = h_.ops[id];
      if (op.kind == kind && op.element == place_ && sees(wrong_.read, id) == seen &&
          (value == kNone || op.parent == value))
        found.push_back(id);
    }
    return found;
  }

  // What is done to a value, or within it.
  [[nodiscard]] std::vector<OpId> updates_within(std::uint32_t value) const {
    std::vector<OpId> found;
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      const Operation& op = h_.ops[id];
      const bool counts =
          !is_read(op.kind) && !(op.kind == Kind::kDelete && index_.is_place(op.element));
      if (!counts || !sees(wrong_.read, id)) continue;
      auto node = index_.node_of(op);
      while (node != value && index_.place_of(node) != kNone)
        node = index_.at(index_.place_of(node)).node;
      if (node == value) found.push_back(id);
    }
    return found;
  }

  // The removes that may take a value from the place: its own, by kReset also those of the places
  // above.
  [[nodiscard]] std::vector<OpId> removes() const {
    std::set<std::uint32_t> places = {place_};
    for (auto node = index_.at(place_).node;
         policy_ == MapPolicy::kReset && index_.place_of(node) != kNone;
         node = index_.at(index_.place_of(node)).node) {
      if (index_.is_place(index_.place_of(node))) places.insert(index_.place_of(node));
    }
    std::vector<OpId> found;
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      const Operation& op = h_.ops[id];
      if (op.kind == Kind::kDelete && places.contains(op.element) && sees(wrong_.read, id))
        found.push_back(id);
    }
    return found;
  }

  void explain_read() {
    const auto shown = shown_at(wrong_.read, place_);
    const std::string path = path_text(h_, place_);
    if (shown == kNone) {
      explain_missing(path);
      return;
    }
    const std::string claim =
        fmt::format("{} shows {} at {}", where(wrong_.read), h_.elements[shown].text, path);
    const auto puts = updates(Kind::kPut, true, shown);
    if (puts.empty()) {
      const auto others = updates(Kind::kPut, false, shown);
      if (others.empty())
        report("thin-air", claim + ", which nobody put there", {});
      else
        report("not-received", fmt::format("{}; it had not received {}", claim, text(others[0])),
               others);
      return;
    }
    // Of each of its puts, an update that had seen it.
    std::vector<OpId> operations = puts;
    OpId overwrite = kNone, remove = kNone;
    for (const OpId put : puts) {
      const auto later = [&](const std::vector<OpId>& all) {
        const auto found =
            std::find_if(all.begin(), all.end(), [&](OpId u) { return sees(u, put); });
        return found == all.end() ? kNone : *found;
      };
      OpId by = later(updates(Kind::kPut, true));
      if (by != kNone) overwrite = by;
      if (by == kNone) remove = by = later(removes());
      if (by != kNone) operations.push_back(by);
    }
    if (overwrite != kNone) {
      report(
          "stale-read",
          fmt::format("{}; it had received {}, which had overwritten it", claim, text(overwrite)),
          operations);
      return;
    }
    const bool within = policy_ == MapPolicy::kUpdateWins || policy_ == MapPolicy::kReset;
    add_removes_of(shown, within, operations);
    report("removed-value-shown",
           fmt::format("{}; it had received {}, which had seen that put{}", claim, text(remove),
                       within ? ", and removes that had seen every update of it" : ""),
           operations);
  }

  // Removes that together had seen all that is done to the value.
  void add_removes_of(std::uint32_t value, bool within, std::vector<OpId>& operations) const {
    if (!within || !index_.is_container(value)) return;
    std::vector<OpId> open = updates_within(value);
    for (const OpId remove : removes()) {
      const auto before = open.size();
      std::erase_if(open, [&](OpId u) { return sees(remove, u); });
      if (open.size() < before) operations.push_back(remove);
    }
  }

  void explain_missing(const std::string& path) {
    const auto all = candidates_at(context_, policy_, wrong_.read, place_);
    const auto put = std::find_if(all.begin(), all.end(),
                                  [&](OpId id) { return h_.ops[id].kind == Kind::kPut; });
    const std::string claim = fmt::format("{} shows nothing at {}", where(wrong_.read), path);
    if (put == all.end()) {
      report("lost-put", claim, all);
      return;
    }
    const auto taken = removes();
    const auto is_taken = [&](OpId u) {
      return std::any_of(taken.begin(), taken.end(), [&](OpId r) { return sees(r, u); });
    };
    if (!is_taken(*put)) {
      report("lost-put",
             fmt::format("{}; it had received {}, and no put or remove of it that had seen that",
                         claim, text(*put)),
             {*put});
      return;
    }
    const auto within = updates_within(h_.ops[*put].parent);
    const auto standing =
        std::find_if(within.begin(), within.end(), [&](OpId u) { return !is_taken(u); });
    std::vector<OpId> operations = {*put};
    const auto remove =
        std::find_if(taken.begin(), taken.end(), [&](OpId r) { return sees(r, *put); });
    operations.push_back(*remove);
    if (standing != within.end()) operations.push_back(*standing);
    report("concurrent-update-lost",
           fmt::format("{}; it had received {}, which no remove that it had received had seen: "
                       "this update must keep the value",
                       claim, standing == within.end() ? text(*put) : text(*standing)),
           operations);
  }

  void explain_order() {
    std::set<OpId> ops(wrong_.operations.begin(), wrong_.operations.end());
    for (const Step& step : wrong_.cycle) ops.insert({step.from, step.to, step.read});
    ops.erase(kNone);
    for (const OpId id : ops) {
      if (!is_read(h_.ops[id].kind)) place_ = h_.ops[id].element;
    }
    report("order-disagreement",
           fmt::format("no order of the updates of {} explains what these reads show there",
                       path_text(h_, place_)),
           {ops.begin(), ops.end()});
  }

  // The place as a key of a document, named by its path: the operations in words, and of reads what
  // they show there.
  [[nodiscard]] Part part() const {
    Part part;
    History& small = part.history;
    small.type = h_.type;
    const auto element = [&](std::uint32_t e, std::uint32_t key, const std::string& text) {
      const auto there = small.element(key, text);
      if (there == part.elements.size()) part.elements.push_back(e);
      return there;
    };
    for (const OpId id : operations_) {
      Operation op = h_.ops[id];
      op.replica = small.replica(h_.replicas[op.replica]);
      op.key = small.key(h_.keys[op.key]);
      std::vector<std::uint32_t> list;
      if (op.kind == Kind::kDocument) {
        op.element = element(place_, op.key, flat(place_));
        const auto shown = shown_at(id, place_);
        if (shown != kNone) list = {op.element, element(shown, op.key, h_.elements[shown].text)};
        if (shown != kNone && index_.kind_of(shown) == ValueKind::kCounter &&
            index_.is_container(shown))
          add_number(id, shown, op.key, element, list);
      } else {
        flatten(op, id, small, element, list);
      }
      op.list_begin = op.list_end = 0;
      small.add(op, list);
      part.origin.push_back(id);
    }
    return part;
  }

  template <typename MakeElement>
  void add_number(OpId read, std::uint32_t counter, std::uint32_t key, const MakeElement& element,
                  std::vector<std::uint32_t>& list) const {
    for (const auto e : h_.list(h_.ops[read])) {
      if (index_.at(e).is_member && index_.at(e).node == counter)
        list.push_back(element(e, key, h_.elements[e].text));
    }
  }

  // The text of a place of a document whose key is the path.
  [[nodiscard]] std::string flat(std::uint32_t place) const {
    return member_text("", path_text(h_, place));
  }

  template <typename MakeElement>
  void flatten(Operation& op, OpId id, History& small, const MakeElement& element,
               std::vector<std::uint32_t>& list) const {
    const Operation& whole = h_.ops[id];
    const auto of = [&](std::uint32_t e) {
      if (e == kNone) return kNone;
      return element(e, op.key, index_.is_place(e) ? flat(e) : h_.elements[e].text);
    };
    // The path of the container that it is made to.
    const auto node = index_.node_of(whole);
    if (whole.kind != Kind::kPut && index_.place_of(node) != kNone &&
        !index_.is_place(whole.element))
      small.note_put(of(index_.place_of(node)), of(node));
    for (const auto e : h_.list(whole)) list.push_back(of(e));
    op.element = of(whole.element);
    op.parent = of(whole.parent);
  }

  void add_cycle(Explanation& explanation) const {
    const auto& origin = explanation.part.origin;
    const auto part_op = [&](OpId id) {
      const auto at = std::lower_bound(origin.begin(), origin.end(), id);
      return id == kNone ? kNone : static_cast<OpId>(at - origin.begin());
    };
    explanation.read = part_op(wrong_.read);
    for (Step step : wrong_.cycle) {
      step.from = part_op(step.from);
      step.to = part_op(step.to);
      step.read = part_op(step.read);
      step.shown = step.over = kNone;
      explanation.cycle.push_back(step);
      explanation.because.push_back(sentence(explanation.part.history, step));
    }
  }

  const KnownContext& context_;
  const History& h_;
  const DocumentIndex index_;
  const MapPolicy policy_;
  const WrongRead& wrong_;
  std::uint32_t place_ = kNone;
  std::string name_, summary_;
  std::set<OpId> operations_;
};

class NestedMap final : public ReplicatedType {
 public:
  NestedMap(std::vector<TypeName> names, MapPolicy policy)
      : ReplicatedType(TypeTraits{
            .names = std::move(names),
            .whole_read = Kind::kDocument,
            .bugs = bugs_of_map(policy),
            .injected = policy == MapPolicy::kLastWriterWins
                            ? std::vector<std::string_view>{"clock-apart"}
                            : std::vector<std::string_view>{},
            .objects_are_elements = true,
            .reads_list_elements = true,
            .order_by_object = true,
            .needs_deliveries = true,
            .decide_context =
                [policy](const KnownContext& context) {
                  return decide_document(context, policy).decision;
                },
            .simulate =
                [policy](const History& history, std::string_view bug, std::uint32_t self) {
                  return make_map_replica(history, bug, self, policy);
                }}),
        policy_(policy) {}

  [[nodiscard]] std::string_view method(const Operation& op) const override {
    return method_of_document_call(op);
  }
  [[nodiscard]] Text text(const History& history, const Operation& op) const override {
    return text_of_document_call(history, op);
  }
  std::optional<std::string> parse(const ParsedCall& call) const override {
    return parse_document_call(call);
  }
  [[nodiscard]] Json value(const History& history, const Operation& op) const override {
    return value_of_document_call(history, op);
  }
  [[nodiscard]] Json argument(const History& history, const Operation& op) const override {
    return argument_of_document_call(history, op);
  }
  // A read of a path has the path before what was found there.
  [[nodiscard]] Json value_of_read(const Operation& op, const Json& argument,
                                   const Json& answer) const override {
    return op.element == kNone ? answer : Json::array({argument[0], answer});
  }

  // Without deliveries maps are refused (TypeTraits::needs_deliveries).
  bool encode(Encoder& /*encoder*/) const override { return false; }
  void explain_read(ReadExplainer& explainer) const override {
    explainer.report("order-disagreement", "no deliveries explain the reads");
  }
  void explain_received(ContextExplainer& explainer) const override {
    explainer.report("order-disagreement", "no order explains the reads", {});
  }

  bool explain_known(const KnownContext& context, const WrongRead& wrong,
                     const ExplainOptions& options, Explanation& explanation) const override {
    base::Budget budget;
    const KnownContext own{context.history, context.visibility, context.axioms, budget};
    auto again = decide_document(own, policy_);
    if (!again.part) {
      PlaceExplainer(own, policy_, wrong).explain(explanation);
      return true;
    }
    const DocumentPart& part = *again.part;
    const auto visibility = context.visibility.of_part(part.history, part.origin);
    explanation =
        explain_context(part.history, visibility, *again.wrong_in_part, context.axioms, options);
    std::set<std::uint32_t> keys;
    for (const OpId id : explanation.part.origin) keys.insert(part.history.ops[id].key);
    if (keys.size() == 1)
      explanation.summary =
          fmt::format("at {}, {}", part.history.keys[*keys.begin()], explanation.summary);
    explanation.part.history.key("");  // so that texts name the path
    for (auto* ops : {&explanation.core.ops, &explanation.part.origin}) {
      for (OpId& id : *ops) id = part.origin[id];
    }
    auto& ops = explanation.core.ops;  // one may have several parts
    ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
    std::vector<std::uint32_t> elements;
    for (const auto e : explanation.core.elements) {
      if (part.elements[e] != kNone) elements.push_back(part.elements[e]);
    }
    explanation.core.elements = std::move(elements);
    return true;
  }

  void choose(RequestChoice& choice) const override { choose_map_request(choice); }

 private:
  const MapPolicy policy_;
};

}  // namespace

const ReplicatedType& nested_map() {
  static const NestedMap type({{"map"}, {"document"}}, MapPolicy::kLastWriterWins);
  return type;
}
const ReplicatedType& remove_wins_map() {
  static const NestedMap type({{"remove-wins-map"}}, MapPolicy::kRemoveWins);
  return type;
}
const ReplicatedType& update_wins_map() {
  static const NestedMap type({{"update-wins-map"}}, MapPolicy::kUpdateWins);
  return type;
}
const ReplicatedType& reset_map() {
  static const NestedMap type({{"reset-map"}}, MapPolicy::kReset);
  return type;
}

}  // namespace cupel::crdt
