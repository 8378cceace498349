// Families: which types a test of sets, flags or registers is about.
#pragma once

#include <vector>

#include "crdt/model/replicated_type.hpp"

namespace cupel::crdt {

inline bool is_set(Type t) {
  return t == Type::kAddWinsSet || t == Type::kRemoveWinsSet || t == Type::kGrowOnlySet ||
         t == Type::kTwoPhaseSet || t == Type::kLastWriterWinsSet;
}
inline bool is_flag(Type t) {
  return t == Type::kEnableWinsFlag || t == Type::kDisableWinsFlag;
}
inline bool is_register(Type t) {
  return t == Type::kMultiValueRegister || t == Type::kLastWriterWinsRegister ||
         t == Type::kLastWriterWinsMap || t == Type::kAnyMaximalRegister || t == Type::kMaxRegister;
}
inline bool is_map(Type t) {
  return t == Type::kMap || t == Type::kRemoveWinsMap || t == Type::kUpdateWinsMap ||
         t == Type::kResetMap;
}

inline std::vector<Type> decided_without_deliveries() {
  std::vector<Type> types(all_types().begin(), all_types().end());
  std::erase_if(types, [](Type type) { return replicated_type(type).traits().needs_deliveries; });
  return types;
}

// Those that element_constraints.cpp decides.
inline bool has_element_constraints(Type t) {
  return is_flag(t) || (is_set(t) && t != Type::kTwoPhaseSet && t != Type::kLastWriterWinsSet);
}

}  // namespace cupel::crdt
