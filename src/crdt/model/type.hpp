// Types: the list of the replicated data types, one line each.
//
// The enum, the names and the lookups come from this list. A line names the enumerator and the
// function that makes the type's description (replicated_type.hpp), in types/.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#define CUPEL_REPLICATED_TYPES(LINE)                       \
  LINE(kAddWinsSet, add_wins_set)                          \
  LINE(kRemoveWinsSet, remove_wins_set)                    \
  LINE(kGrowOnlySet, grow_only_set)                        \
  LINE(kTwoPhaseSet, two_phase_set)                        \
  LINE(kLastWriterWinsSet, last_writer_wins_set)           \
  LINE(kEnableWinsFlag, enable_wins_flag)                  \
  LINE(kDisableWinsFlag, disable_wins_flag)                \
  LINE(kMultiValueRegister, multi_value_register)          \
  LINE(kLastWriterWinsRegister, last_writer_wins_register) \
  LINE(kLastWriterWinsMap, last_writer_wins_map)           \
  LINE(kAnyMaximalRegister, any_maximal_register)          \
  LINE(kMaxRegister, max_register)                         \
  LINE(kCounter, counter)                                  \
  LINE(kResettableCounter, resettable_counter)             \
  LINE(kBoundedCounter, bounded_counter)                   \
  LINE(kGrowableArray, growable_array)                     \
  LINE(kStrongList, strong_list)                           \
  LINE(kWeakList, weak_list)                               \
  LINE(kNonInterleavingList, non_interleaving_list)        \
  LINE(kMovableList, movable_list)                         \
  LINE(kText, replicated_text)                             \
  LINE(kMarkedText, marked_text)                           \
  LINE(kTree, replicated_tree)                             \
  LINE(kMap, nested_map)                                   \
  LINE(kRemoveWinsMap, remove_wins_map)                    \
  LINE(kUpdateWinsMap, update_wins_map)                    \
  LINE(kResetMap, reset_map)

namespace cupel::crdt {

enum class Type : std::uint8_t {
#define CUPEL_ENUMERATOR(enumerator, maker) enumerator,
  CUPEL_REPLICATED_TYPES(CUPEL_ENUMERATOR)
#undef CUPEL_ENUMERATOR
};

// "add-wins-set" and so on.
std::string_view name(Type type);
std::span<const Type> all_types();

struct NamedType {
  Type type;
  bool grow_only = false;  // removes, disables and decrements are refused
  bool operator==(const NamedType&) const = default;
};
// Also aliases: or-set, g-set, pn-counter, rga … None: no such type.
std::optional<NamedType> type_of(std::string_view name);
// The names and then the aliases, for messages and help.
std::vector<std::string> type_names();

}  // namespace cupel::crdt
