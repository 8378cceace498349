// Sets (Shapiro et al. 2011, 3.3): add-wins and remove-wins, which differ only in the side that
// wins of concurrent updates; grow-only, which has no remove; two-phase, where a remove wins for
// good; and last-writer-wins, where each element has an order of its updates, as timestamps give
// it, and the last visible one counts.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "crdt/model/element_json.hpp"
#include "crdt/types/common_bugs.hpp"
#include "crdt/types/membership.hpp"
#include "crdt/workload/simulated_replica.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;

TypeTraits traits_of(TypeTraits::Membership membership, std::vector<TypeName> names, TypeBug bug) {
  const bool keeps = membership.for_good || names[0].grow_only;  // what is there is all of it
  TypeTraits traits{.names = std::move(names),
                    .whole_read = Kind::kState,
                    .bugs = {bug},
                    .objects_are_elements = true,
                    .reads_list_elements = true,
                    .membership = membership,
                    .order_by_object = membership.last_wins};
  if (membership.last_wins)
    traits.injected = {"loses-update", "clock-apart"};
  else if (!keeps)
    traits.injected = {"loses-update", "applies-again", "reorders-updates"};
  return traits;
}

class Set final : public MembershipType {
 public:
  Set(TypeTraits::Membership membership, std::vector<TypeName> names, TypeBug bug)
      : MembershipType(traits_of(membership, std::move(names), bug), {"add", "remove"}) {}

  [[nodiscard]] std::string_view summary_of_no_order() const override {
    return "no order of the updates of one element fits all reads";
  }

  [[nodiscard]] std::string_view method(const Operation& op) const override {
    switch (op.kind) {
      case Kind::kUp:
        return words().up;
      case Kind::kDown:
        return words().down;
      case Kind::kTest:
        return "contains";
      default:
        return "read";
    }
  }

  [[nodiscard]] Text text(const History& history, const Operation& op) const override {
    if (op.kind == Kind::kState) return {{}, "{" + history.listed(op) + "}"};
    return {{history.element_text(op.element)},
            op.kind != Kind::kTest ? ""
            : op.returned          ? "true"
                                   : "false"};
  }

  std::optional<std::string> parse(const ParsedCall& call) const override {
    const Json& value = call.value;
    if (call.method == words().up || call.method == words().down) {
      if (value.is_null()) return call.expected("the element");
      call.op.kind = call.method == words().up ? Kind::kUp : Kind::kDown;
      call.op.element = call.element(value);
      if ((call.grow_only || only_grows()) && call.op.kind == Kind::kDown)
        return "found a remove from a grow-only set";
      return std::nullopt;
    }
    if (call.method == "contains") {
      call.op.kind = Kind::kTest;
      if (call.indeterminate) return std::nullopt;
      if (!value.is_array() || value.size() != 2 || value[0].is_null() || !value[1].is_boolean())
        return call.expected("the element and what was returned, as in [\"a\",true]");
      call.op.element = call.element(value[0]);
      call.op.returned = value[1].get<bool>();
      return std::nullopt;
    }
    if (call.method == "read") return parse_read(call);
    return call.unknown_method("add, remove, contains or read of a set");
  }

  [[nodiscard]] Json value(const History& history, const Operation& op) const override {
    switch (op.kind) {
      case Kind::kTest:
        return Json::array({element_json(history, op.element), op.returned});
      case Kind::kState:
        return list_json(history, op);
      default:
        return element_json(history, op.element);
    }
  }

  [[nodiscard]] Json argument(const History& history, const Operation& op) const override {
    return op.kind == Kind::kState ? Json() : element_json(history, op.element);
  }

  [[nodiscard]] Json value_of_read(const Operation& op, const Json& argument,
                                   const Json& answer) const override {
    return op.kind == Kind::kTest ? Json::array({argument, answer}) : answer;
  }

  void choose(RequestChoice& choice) const override {
    Operation& op = choice.op;
    if (choice.read && choice.random.chance(0.5)) return;
    op.kind = choice.read ? Kind::kTest : choice.down && !only_grows() ? Kind::kDown : Kind::kUp;
    std::uint64_t values = choice.values;
    if (elements_stay()) {  // more and more of them
      values += choice.fresh;
      if (choice.random.below(values) < choice.values) ++choice.fresh;
    }
    op.element =
        choice.history.element(op.key, fmt::format("\"e{}\"", choice.random.below(values)));
  }

 private:
  // In the end each is there for good, or not there for good.
  [[nodiscard]] bool elements_stay() const { return only_grows() || wins_for_good(); }

  static std::optional<std::string> parse_read(const ParsedCall& call) {
    call.op.kind = Kind::kState;
    if (call.indeterminate) return std::nullopt;
    if (!call.value.is_array()) return call.expected("the array of the elements");
    if (auto wrong = call.take_list("no null among the elements")) return wrong;
    auto sorted = call.list;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      return call.expected("each element once");
    return std::nullopt;
  }
};

}  // namespace

const ReplicatedType& add_wins_set() {
  static const Set type({.up_wins = true}, {{"add-wins-set"}, {"aw-set"}, {"or-set"}},
                        {"remove-kills-concurrent-add",
                         "a remove that arrives also removes adds that it has not seen"});
  return type;
}

const ReplicatedType& remove_wins_set() {
  static const Set type({.up_wins = false}, {{"remove-wins-set"}, {"rw-set"}},
                        {"add-undoes-concurrent-remove",
                         "an add that arrives also undoes removes that it has not seen"});
  return type;
}

const ReplicatedType& grow_only_set() {
  static const Set type(
      {.up_wins = true}, {{"grow-only-set", true}, {"g-set", true}},
      {"second-add-removes", "an add that arrives takes an element out that is there"});
  return type;
}

const ReplicatedType& two_phase_set() {
  static const Set type({.up_wins = false, .for_good = true}, {{"two-phase-set"}, {"2p-set"}},
                        {"add-undoes-remove", "an add that arrives undoes the removes before it"});
  return type;
}

const ReplicatedType& last_writer_wins_set() {
  static const Set type({.up_wins = true, .last_wins = true},
                        {{"last-writer-wins-set"}, {"lww-set"}, {"lww-element-set"}},
                        ignores_timestamp());
  return type;
}

}  // namespace cupel::crdt
