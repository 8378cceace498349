// Propagate: see the header. Two literals of each clause are watched; what units say
// stays assigned for good.
#include "engine/certify/propagate.hpp"

#include <algorithm>

namespace cupel::certify {

Propagator::Propagator(std::size_t variables)
    : value_(2 * variables + 2, 0), watched_by_(2 * variables + 2) {}

void Propagator::assign(std::int32_t literal) {
  value_[slot(literal)] = 1;
  value_[slot(-literal)] = -1;
  assigned_.push_back(literal);
}

void Propagator::undo(std::size_t size) {
  while (assigned_.size() > size) {
    value_[slot(assigned_.back())] = value_[slot(-assigned_.back())] = 0;
    assigned_.pop_back();
  }
  next_ = size;
}

void Propagator::add_clause(std::span<const std::int32_t> clause) {
  if (contradiction_) return;
  // With what is assigned for good, so that the two watched literals are open.
  std::vector<std::int32_t> open;
  for (const auto literal : clause) {
    if (is_true(literal)) return;
    if (!is_false(literal) && std::find(open.begin(), open.end(), literal) == open.end())
      open.push_back(literal);
  }
  for (const auto literal : open) {
    if (std::find(open.begin(), open.end(), -literal) != open.end()) return;  // always true
  }
  if (open.empty()) {
    contradiction_ = true;
    return;
  }
  if (open.size() == 1) {
    assign(open.front());
    contradiction_ = !propagate();
    return;
  }
  const auto number = static_cast<std::uint32_t>(clauses_.size());
  watched_by_[slot(open[0])].push_back(number);
  watched_by_[slot(open[1])].push_back(number);
  clauses_.push_back(std::move(open));
}

bool Propagator::propagate() {
  while (next_ < assigned_.size()) {
    const auto now_false = -assigned_[next_++];
    auto& watchers = watched_by_[slot(now_false)];
    std::size_t kept = 0;
    for (std::size_t i = 0; i < watchers.size(); ++i) {
      auto& clause = clauses_[watchers[i]];
      if (clause[0] == now_false) std::swap(clause[0], clause[1]);
      const auto other =
          std::find_if(clause.begin() + 2, clause.end(), [this](auto l) { return !is_false(l); });
      if (!is_true(clause[0]) && other != clause.end()) {
        std::swap(clause[1], *other);
        watched_by_[slot(clause[1])].push_back(watchers[i]);
        continue;
      }
      watchers[kept++] = watchers[i];
      if (is_true(clause[0])) continue;
      if (is_false(clause[0])) {
        while (++i < watchers.size()) watchers[kept++] = watchers[i];
        watchers.resize(kept);
        return false;
      }
      assign(clause[0]);
    }
    watchers.resize(kept);
  }
  return true;
}

bool Propagator::follows(std::span<const std::int32_t> clause) {
  if (contradiction_) return true;
  const auto before = assigned_.size();
  bool contradicts = false;
  for (const auto literal : clause) {
    if (is_true(literal)) contradicts = true;
    if (!is_true(literal) && !is_false(literal)) assign(-literal);
  }
  contradicts = contradicts || !propagate();
  undo(before);
  return contradicts;
}

}  // namespace cupel::certify
