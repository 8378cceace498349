// Flags: enable-wins and disable-wins, which differ only in the side that wins.
#include <nlohmann/json.hpp>

#include "crdt/types/membership.hpp"
#include "crdt/workload/simulated_replica.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;

TypeTraits traits_of(bool up_wins, std::vector<TypeName> names, TypeBug bug) {
  return {.names = std::move(names),
          .whole_read = Kind::kTest,
          .bugs = {bug},
          .injected = {"loses-update", "applies-again", "reorders-updates"},
          .membership = TypeTraits::Membership{up_wins},
          .text_has_key = true};
}

class Flag final : public MembershipType {
 public:
  Flag(bool up_wins, std::vector<TypeName> names, TypeBug bug)
      : MembershipType(traits_of(up_wins, std::move(names), bug), {"enable", "disable"}) {}

  [[nodiscard]] std::string_view method(const Operation& op) const override {
    return op.kind == Kind::kUp ? words().up : op.kind == Kind::kDown ? words().down : "read";
  }

  [[nodiscard]] Text text(const History& /*history*/, const Operation& op) const override {
    return {{}, op.kind != Kind::kTest ? "" : op.returned ? "true" : "false"};
  }

  std::optional<std::string> parse(const ParsedCall& call) const override {
    if (call.method == words().up || call.method == words().down) {
      call.op.kind = call.method == words().up ? Kind::kUp : Kind::kDown;
      return std::nullopt;
    }
    if (call.method != "read") return call.unknown_method("enable, disable or read of a flag");
    call.op.kind = Kind::kTest;
    if (call.indeterminate) return std::nullopt;
    if (!call.value.is_boolean()) return call.expected("true or false");
    call.op.returned = call.value.get<bool>();
    return std::nullopt;
  }

  [[nodiscard]] Json value(const History& /*history*/, const Operation& op) const override {
    return op.kind == Kind::kTest ? Json(op.returned) : Json();
  }

  [[nodiscard]] Json argument(const History& /*history*/, const Operation& /*op*/) const override {
    return {};
  }

  void choose(RequestChoice& choice) const override {
    if (!choice.read) choice.op.kind = choice.down ? Kind::kDown : Kind::kUp;
  }
};

}  // namespace

const ReplicatedType& enable_wins_flag() {
  static const Flag type(/*up_wins=*/true, {{"enable-wins-flag"}, {"ew-flag"}},
                         {"disable-kills-concurrent-enable",
                          "a disable that arrives also undoes enables that it has not seen"});
  return type;
}

const ReplicatedType& disable_wins_flag() {
  static const Flag type(/*up_wins=*/false, {{"disable-wins-flag"}, {"dw-flag"}},
                         {"enable-undoes-concurrent-disable",
                          "an enable that arrives also undoes disables that it has not seen"});
  return type;
}

}  // namespace cupel::crdt
