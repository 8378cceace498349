// Sets and flags, as rows of membership.hpp. Sets (Shapiro et al. 2011, 3.3): add-wins and
// remove-wins, which differ only in the side that wins of concurrent updates; grow-only, which has
// no remove; two-phase, where a remove wins for good; and last-writer-wins, where each element has
// an order of its updates, as timestamps give it, and the last visible one counts. Flags:
// enable-wins and disable-wins.
#include "crdt/types/common_bugs.hpp"
#include "crdt/types/membership.hpp"

namespace cupel::crdt {

namespace {

TypeTraits set(TypeTraits::Membership membership, std::vector<TypeName> names, TypeBug bug) {
  const bool keeps = membership.for_good || names[0].grow_only;  // what is there is all of it
  TypeTraits traits{
      .names = std::move(names),
      .whole_read = Kind::kState,
      .bugs = {bug},
      .objects_are_elements = true,
      .reads_list_elements = true,
      .membership = membership,
      .order_by_object = membership.last_wins,
      .calls = {{"add", Kind::kUp, Argument::kElement, Answer::kAbsent, "the element"},
                {"remove", Kind::kDown, Argument::kElement, Answer::kAbsent, "the element",
                 "found a remove from a grow-only set"},
                {"contains", Kind::kTest, Argument::kElement, Answer::kBoolean,
                 "the element and what was returned, as in [\"a\",true]"},
                {"read", Kind::kState, Argument::kAbsent, Answer::kMembers,
                 "the array of the elements"}},
      .methods = "add, remove, contains or read of a set",
      .summary_of_no_order = "no order of the updates of one element fits all reads"};
  if (membership.last_wins)
    traits.injected = {"loses-update", "clock-apart"};
  else if (!keeps)
    traits.injected = {"loses-update", "applies-again", "reorders-updates"};
  return traits;
}

TypeTraits flag(bool up_wins, std::vector<TypeName> names, TypeBug bug) {
  return {.names = std::move(names),
          .whole_read = Kind::kTest,
          .bugs = {bug},
          .injected = {"loses-update", "applies-again", "reorders-updates"},
          .membership = TypeTraits::Membership{up_wins},
          .text_has_key = true,
          .calls = {{"enable", Kind::kUp},
                    {"disable", Kind::kDown},
                    {"read", Kind::kTest, Argument::kAbsent, Answer::kBoolean, "true or false"}},
          .methods = "enable, disable or read of a flag"};
}

}  // namespace

const ReplicatedType& add_wins_set() {
  static const MembershipType type(
      set({.up_wins = true}, {{"add-wins-set"}, {"aw-set"}, {"or-set"}},
          {"remove-kills-concurrent-add",
           "a remove that arrives also removes adds that it has not seen"}));
  return type;
}

const ReplicatedType& remove_wins_set() {
  static const MembershipType type(
      set({.up_wins = false}, {{"remove-wins-set"}, {"rw-set"}},
          {"add-undoes-concurrent-remove",
           "an add that arrives also undoes removes that it has not seen"}));
  return type;
}

const ReplicatedType& grow_only_set() {
  static const MembershipType type(
      set({.up_wins = true}, {{"grow-only-set", true}, {"g-set", true}},
          {"second-add-removes", "an add that arrives takes an element out that is there"}));
  return type;
}

const ReplicatedType& two_phase_set() {
  static const MembershipType type(
      set({.up_wins = false, .for_good = true}, {{"two-phase-set"}, {"2p-set"}},
          {"add-undoes-remove", "an add that arrives undoes the removes before it"}));
  return type;
}

const ReplicatedType& last_writer_wins_set() {
  static const MembershipType type(set({.up_wins = true, .last_wins = true},
                                       {{"last-writer-wins-set"}, {"lww-set"}, {"lww-element-set"}},
                                       ignores_timestamp()));
  return type;
}

const ReplicatedType& enable_wins_flag() {
  static const MembershipType type(
      flag(/*up_wins=*/true, {{"enable-wins-flag"}, {"ew-flag"}},
           {"disable-kills-concurrent-enable",
            "a disable that arrives also undoes enables that it has not seen"}));
  return type;
}

const ReplicatedType& disable_wins_flag() {
  static const MembershipType type(
      flag(/*up_wins=*/false, {{"disable-wins-flag"}, {"dw-flag"}},
           {"enable-undoes-concurrent-disable",
            "an enable that arrives also undoes disables that it has not seen"}));
  return type;
}

}  // namespace cupel::crdt
