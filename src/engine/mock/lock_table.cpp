// Grants, waits and deadlocks; see the header.
#include "engine/mock/lock_table.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace cupel::mock {

bool exclude_each_other(LockMode one, LockMode other) {
  constexpr std::size_t kModes = 6;
  // By LockMode: key share, share, no key update, update, gap, insertion.
  constexpr std::array<std::array<bool, kModes>, kModes> kExclude = {{
      {false, false, false, true, false, false},
      {false, false, true, true, false, false},
      {false, true, true, true, false, false},
      {true, true, true, true, false, false},
      {false, false, false, false, false, true},
      {false, false, false, false, true, false},
  }};
  return kExclude[static_cast<std::size_t>(one)][static_cast<std::size_t>(other)];
}

std::vector<Txn> LockTable::blockers(Txn owner, std::string_view name, LockMode mode) const {
  std::vector<Txn> found;
  const auto lock = locks_.find(name);
  if (lock == locks_.end()) return found;
  const auto in_the_way = [&](const Request& other) {
    return other.owner != owner && exclude_each_other(mode, other.mode);
  };
  bool holds = false;
  for (const Request& held : lock->second.held) {
    holds = holds || held.owner == owner;
    if (in_the_way(held)) found.push_back(held.owner);
  }
  for (const Request& waiting : lock->second.waiting) {
    if (holds || waiting.owner == owner) break;
    if (in_the_way(waiting)) found.push_back(waiting.owner);
  }
  return found;
}

bool LockTable::acquire(Txn owner, std::string_view name, LockMode mode) {
  if (!blockers(owner, name, mode).empty()) return false;
  stop_waiting(owner);
  auto lock = locks_.find(name);
  if (lock == locks_.end()) lock = locks_.emplace(std::string(name), Lock()).first;
  auto& held = lock->second.held;
  const bool has = std::any_of(held.begin(), held.end(), [&](const Request& request) {
    return request.owner == owner && request.mode == mode;
  });
  if (has) return true;
  held.push_back({owner, mode});
  names_[owner].push_back(lock->first);
  return true;
}

bool LockTable::wait(Txn owner, std::string_view name, LockMode mode) {
  if (!waits_.contains(owner)) {
    locks_[std::string(name)].waiting.push_back({owner, mode});
    waits_[owner] = {std::string(name), mode};
  }
  std::set<Txn> seen;
  std::vector<Txn> stack = blockers(owner, name, mode);
  while (!stack.empty()) {
    const Txn other = stack.back();
    stack.pop_back();
    if (other == owner) return false;
    const auto waits = waits_.find(other);
    if (!seen.insert(other).second || waits == waits_.end()) continue;
    for (const Txn next : blockers(other, waits->second.name, waits->second.mode))
      stack.push_back(next);
  }
  return true;
}

void LockTable::stop_waiting(Txn owner) {
  const auto waits = waits_.find(owner);
  if (waits == waits_.end()) return;
  const auto lock = locks_.find(waits->second.name);
  std::erase_if(lock->second.waiting,
                [&](const Request& request) { return request.owner == owner; });
  if (lock->second.held.empty() && lock->second.waiting.empty()) locks_.erase(lock);
  waits_.erase(waits);
}

bool LockTable::owns(Txn owner, std::string_view name) const {
  const auto lock = locks_.find(name);
  if (lock == locks_.end()) return false;
  return std::any_of(lock->second.held.begin(), lock->second.held.end(), [&](const Request& held) {
    return held.owner == owner &&
           (held.mode == LockMode::kUpdate || held.mode == LockMode::kNoKeyUpdate);
  });
}

void LockTable::release(Txn owner) {
  stop_waiting(owner);
  const auto names = names_.find(owner);
  if (names == names_.end()) return;
  for (const auto& name : names->second) {
    const auto lock = locks_.find(name);
    if (lock == locks_.end()) continue;  // it held the name in two modes
    std::erase_if(lock->second.held,
                  [&](const Request& request) { return request.owner == owner; });
    if (lock->second.held.empty() && lock->second.waiting.empty()) locks_.erase(lock);
  }
  names_.erase(names);
}

void LockTable::release(Txn owner, std::string_view name, LockMode mode) {
  const auto lock = locks_.find(name);
  if (lock == locks_.end()) return;
  const auto given_back = std::erase_if(lock->second.held, [&](const Request& request) {
    return request.owner == owner && request.mode == mode;
  });
  if (given_back == 0) return;
  auto& names = names_[owner];
  names.erase(std::find(names.begin(), names.end(), name));
  if (lock->second.held.empty() && lock->second.waiting.empty()) locks_.erase(lock);
}

void LockTable::clear() {
  locks_.clear();
  names_.clear();
  waits_.clear();
}

}  // namespace cupel::mock
