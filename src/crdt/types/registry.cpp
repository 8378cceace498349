// Registry: the descriptions of the types, from the list in model/type.hpp.
#include <array>

#include "crdt/explain/read_explainer.hpp"
#include "crdt/model/replicated_type.hpp"
#include "crdt/solve/decide.hpp"

namespace cupel::crdt {

#define CUPEL_DECLARE(enumerator, maker) const ReplicatedType& maker();
CUPEL_REPLICATED_TYPES(CUPEL_DECLARE)
#undef CUPEL_DECLARE

namespace {

#define CUPEL_ENUMERATOR(enumerator, maker) Type::enumerator,
constexpr std::array kTypes = {CUPEL_REPLICATED_TYPES(CUPEL_ENUMERATOR)};
#undef CUPEL_ENUMERATOR

}  // namespace

const ReplicatedType& replicated_type(Type type) {
#define CUPEL_MAKE(enumerator, maker) &maker(),
  static const std::array<const ReplicatedType*, kTypes.size()> all = {
      CUPEL_REPLICATED_TYPES(CUPEL_MAKE)};
#undef CUPEL_MAKE
  return *all[static_cast<std::size_t>(type)];
}

std::string_view name(Type type) {
  return replicated_type(type).name();
}

std::span<const Type> all_types() {
  return kTypes;
}

std::optional<NamedType> type_of(std::string_view name) {
  for (const Type type : kTypes) {
    for (const TypeName& known : replicated_type(type).traits().names) {
      if (known.name == name) return NamedType{type, known.grow_only};
    }
  }
  return std::nullopt;
}

std::vector<std::string> type_names() {
  std::vector<std::string> names, aliases;
  for (const Type type : kTypes) {
    for (const TypeName& known : replicated_type(type).traits().names)
      (known.name == name(type) ? names : aliases).emplace_back(known.name);
  }
  names.insert(names.end(), aliases.begin(), aliases.end());
  return names;
}

// Types without a method of their own, and without a linearization.
std::optional<Decision> ReplicatedType::decide_quickly(const History& /*history*/,
                                                       const Axioms& /*axioms*/,
                                                       base::Budget& /*budget*/,
                                                       Effort /*effort*/) const {
  return std::nullopt;
}

void ReplicatedType::explain_cycle(const ArbitrationCycle& cycle) const {
  cycle.report("order-disagreement", "reads ask for orders that no linearization has");
}

}  // namespace cupel::crdt
