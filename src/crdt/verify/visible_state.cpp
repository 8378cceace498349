// Visible state: see the header.
#include "crdt/verify/visible_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "crdt/verify/move_order_check.hpp"

namespace cupel::crdt {

VisibleState::VisibleState(const History& history, Sees sees, bool strict)
    : h_(history),
      sees_(std::move(sees)),
      rules_(rules_of(history.type)),
      strict_(strict && rules_.returns != Returns::kListed),
      listed_(history.elements.size(), 0) {}

void VisibleState::begin() {
  members_.assign(h_.keys.size(), 0);
  switch (rules_.returns) {
    case Returns::kMembership:
    case Returns::kLastUpdate:
      objects_.assign(rules_.objects_are_elements ? h_.elements.size() : h_.keys.size(), {});
      break;
    case Returns::kMaximalWrites:
    case Returns::kLastWrite:
    case Returns::kAnyMaximal:
    case Returns::kGreatest:
      objects_.assign(h_.keys.size(), {});
      break;
    case Returns::kSumSinceReset:
      objects_.assign(h_.keys.size(), {});
      sums_.assign(h_.keys.size(), 0);
      break;
    case Returns::kSum:
    case Returns::kSumNotBelow0:
      sums_.assign(h_.keys.size(), 0);
      break;
    case Returns::kCharacters:
    case Returns::kListed:
    case Returns::kMoved:
    case Returns::kTree:
      added_.assign(h_.elements.size(), false);
      removed_.assign(h_.elements.size(), false);
      break;
    case Returns::kDocument:  // document_check.hpp
      break;
  }
}

void VisibleState::arrive(OpId update) {
  switch (rules_.returns) {
    case Returns::kMembership:
      arrive_at_set(update);
      break;
    case Returns::kLastUpdate:
      arrive_at_last_update(update);
      break;
    case Returns::kMaximalWrites:
    case Returns::kLastWrite:
    case Returns::kAnyMaximal:
      arrive_at_register(update);
      break;
    case Returns::kGreatest: {
      auto& greatest = objects_[h_.ops[update].key].standing;
      if (greatest.empty() || h_.ops[greatest[0]].amount < h_.ops[update].amount)
        greatest = {update};
      break;
    }
    case Returns::kSumSinceReset:
      arrive_at_counter(update);
      break;
    case Returns::kSum:
    case Returns::kSumNotBelow0:
      sums_[h_.ops[update].key] += h_.ops[update].amount;
      break;
    case Returns::kCharacters:
    case Returns::kListed:
      arrive_at_list(update);
      break;
    case Returns::kMoved:
      if (h_.ops[update].kind != Kind::kDelete) added_[h_.ops[update].element] = true;
      break;
    case Returns::kTree:
      added_[h_.ops[update].element] = true;
      break;
    case Returns::kDocument:
      break;
  }
}

void VisibleState::keep_last(std::vector<OpId>& opponents, OpId update) const {
  const auto same = std::find_if(opponents.begin(), opponents.end(), [&](OpId other) {
    return h_.ops[other].replica == h_.ops[update].replica;
  });
  if (same == opponents.end())
    opponents.push_back(update);
  else if (h_.ops[*same].seq < h_.ops[update].seq)
    *same = update;
}

bool VisibleState::is_observed(OpId update, const std::vector<OpId>& opponents) {
  work_ += opponents.size();
  return std::any_of(opponents.begin(), opponents.end(),
                     [&](OpId other) { return other != update && sees_(other, update); });
}

void VisibleState::forget_observed(std::vector<OpId>& standing, OpId by) {
  work_ += standing.size();
  std::erase_if(standing, [&](OpId update) { return sees_(by, update); });
}

// "Each element with a visible add that no visible remove observed"; remove-wins: "with a visible
// add, if for each visible remove there is a visible add that observed it"; for good: "and no
// visible remove".
void VisibleState::arrive_at_set(OpId update) {
  const Operation& op = h_.ops[update];
  Object& object = objects_[rules_.object(op)];
  if ((op.kind == Kind::kUp) == rules_.up_wins) {
    // Who observed the later one of a replica, had seen the earlier one; but not if the lines say
    // what was applied, in any order.
    if (h_.context.rule != DeliveryRule::kApplied) {
      std::erase_if(object.standing, [&](OpId other) {
        return h_.ops[other].replica == op.replica && h_.ops[other].seq < op.seq;
      });
    }
    if (rules_.for_good || !is_observed(update, object.opponents))
      object.standing.push_back(update);
  } else {
    keep_last(object.opponents, update);
    if (!rules_.for_good) forget_observed(object.standing, update);
  }
  const bool now = rules_.up_wins ? !object.standing.empty()
                                  : object.standing.empty() && !object.opponents.empty();
  count(op.key, object.is_on, now);
  object.is_on = now;
}

void VisibleState::arrive_at_register(OpId update) {
  Object& object = objects_[rules_.object(h_.ops[update])];
  forget_observed(object.standing, update);
  if (!is_observed(update, object.opponents)) object.standing.push_back(update);
  keep_last(object.opponents, update);
}

// Surely on, if all updates that may be the last are adds.
void VisibleState::arrive_at_last_update(OpId update) {
  arrive_at_register(update);
  Object& object = objects_[rules_.object(h_.ops[update])];
  const auto adds = [&](OpId u) { return h_.ops[u].kind == Kind::kUp; };
  const bool now = std::all_of(object.standing.begin(), object.standing.end(), adds);
  object.may_be_on = std::any_of(object.standing.begin(), object.standing.end(), adds);
  count(h_.ops[update].key, object.is_on, now);
  object.is_on = now;
}

bool VisibleState::may_be(std::uint32_t object, bool on) const {
  return on ? objects_[object].may_be_on : !objects_[object].is_on;
}

// "The updates that no visible reset observed".
void VisibleState::arrive_at_counter(OpId update) {
  const Operation& op = h_.ops[update];
  auto& [standing, resets, is_on, may_be_on] = objects_[op.key];
  if (op.kind == Kind::kReset) {
    keep_last(resets, update);
    forget_observed(standing, update);
    sums_[op.key] = 0;
    for (const OpId u : standing) sums_[op.key] += h_.ops[u].amount;
  } else if (!is_observed(update, resets)) {
    standing.push_back(update);
    sums_[op.key] += op.amount;
  }
}

void VisibleState::count(std::uint32_t key, bool before, bool now) {
  if (now && !before) ++members_[key];
  if (before && !now) --members_[key];
}

void VisibleState::arrive_at_list(OpId update) {
  const Operation& op = h_.ops[update];
  if (op.kind == Kind::kMark) return;
  for (const auto e : h_.changed(op)) {
    const bool before = is_shown(e);
    (op.kind == Kind::kInsert ? added_ : removed_)[e] = true;
    count(op.key, before, is_shown(e));
  }
}

std::optional<std::string> VisibleState::wrong(OpId id) {
  if (rules_.returns == Returns::kDocument) return std::nullopt;
  const Operation& op = h_.ops[id];
  bool right = true;
  switch (op.kind) {
    case Kind::kTest:
      right = rules_.returns == Returns::kLastUpdate
                  ? may_be(rules_.object(op), op.returned)
                  : objects_[rules_.object(op)].is_on == op.returned;
      break;
    case Kind::kState:
      right = is_right_set(op);
      break;
    case Kind::kValue:
      right = op.amount == sums_[op.key] &&
              (op.amount >= 0 || rules_.returns != Returns::kSumNotBelow0);
      break;
    case Kind::kValues:
      right = is_right_register(op);
      break;
    case Kind::kInsert:
    case Kind::kMove:
      right = op.parent == kNone || added_[op.parent];
      if (rules_.returns == Returns::kMoved && op.kind == Kind::kMove)
        right = right && added_[op.element];
      break;
    case Kind::kDelete:
    case Kind::kMark:
      right = !h_.any_changed(op, [&](std::uint32_t e) { return !added_[e]; });
      break;
    case Kind::kList:
      right = is_right_list(op);
      break;
    case Kind::kTree:
      right = is_tree(h_, op);
      break;
    case Kind::kUp:
    case Kind::kDown:
    case Kind::kInc:
    case Kind::kReset:
    case Kind::kWrite:
    case Kind::kPut:
    case Kind::kDocument:
      break;
  }
  if (right) return std::nullopt;
  return fmt::format("{} does not fit what it had seen", h_.text(id));
}

bool VisibleState::is_right_set(const Operation& op) {
  ++reads_;
  std::size_t count = 0;
  for (const auto e : h_.list(op)) {
    if (!objects_[e].is_on && !objects_[e].may_be_on) return false;
    count += listed_[e] != reads_ && objects_[e].is_on ? 1 : 0;
    listed_[e] = reads_;
  }
  return count == members_[op.key];
}

bool VisibleState::is_right_register(const Operation& op) const {
  const auto& maximal = objects_[op.key].standing;
  const auto list = h_.list(op);
  if (rules_.returns != Returns::kMaximalWrites) {
    if (list.empty()) return maximal.empty();
    return std::any_of(maximal.begin(), maximal.end(),
                       [&](OpId w) { return h_.ops[w].element == list[0]; });
  }
  std::vector<std::uint32_t> values, returned(list.begin(), list.end());
  for (const OpId w : maximal) values.push_back(h_.ops[w].element);
  std::sort(values.begin(), values.end());
  std::sort(returned.begin(), returned.end());
  if (!std::includes(values.begin(), values.end(), returned.begin(), returned.end())) return false;
  returned.erase(std::unique(returned.begin(), returned.end()), returned.end());
  if (strict_) return values == returned;
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values == returned;
}

bool VisibleState::is_right_list(const Operation& op) {
  ++reads_;
  std::size_t shown = 0;
  for (const auto e : h_.list(op)) {
    if (listed_[e] == reads_ || !added_[e] || (removed_[e] && !strict_)) return false;
    listed_[e] = reads_;
    shown += removed_[e] ? 0 : 1;
  }
  // Of movable lists, the moves say which are shown (movable_list_check.hpp).
  return rules_.returns == Returns::kMoved || shown == members_[op.key];
}

}  // namespace cupel::crdt
