// Bounds: propagation of a bound that moved, and the search. See the header.
#include "crdt/solve/bounds.hpp"

#include <algorithm>

namespace cupel::crdt {

bool Bounds::reserve(std::size_t bytes_a_cell) {
  if (budget_.would_exceed(h_.ops.size() * width_ * bytes_a_cell)) return false;
  start_.assign(width_, 0);
  for (std::size_t i = 1; i < width_; ++i) start_[i] = start_[i - 1] + line(i - 1).size();
  return true;
}

Clocks Bounds::clocks() const {
  Clocks all(h_);
  for (OpId id = 0; id < h_.ops.size(); ++id) {
    for (std::size_t j = 0; j < width_; ++j) all.row(id)[j] = least_[cell(id, j)];
  }
  return all;
}

Number Bounds::reason(Number first, Number second, Axiom axiom) {
  if (axiom.first == kNone) {
    if (first == kGiven || first == second) return second;
    if (second == kGiven) return first;
  }
  reasons_.push_back({first, second, axiom});
  return static_cast<Number>(reasons_.size() - 1);
}

bool Bounds::start_fits() {
  for (std::size_t c = 0; c < least_.size(); ++c) {
    if (least_[c] <= most_[c]) continue;
    contradiction_ = {why_least_[c], why_most_[c]};
    return false;
  }
  return true;
}

void Bounds::start_most() {
  for (std::size_t i = 0; i < width_; ++i) {
    for (std::size_t j = 0; j < width_; ++j) {
      if (i == j) continue;
      const std::size_t seen = row(j, i), mine = row(i, j), length = line(j).size();
      Number first = 0;
      for (Number s = 0; s < line(i).size(); ++s) {
        while (first < length && least_[seen + first] <= s) ++first;
        if (first == length) break;
        if (most_[mine + s] <= first) continue;
        most_[mine + s] = first;
        why_most_[mine + s] = why_least_[seen + first];
      }
    }
  }
}

bool Bounds::raise(const BoundIndex& at, Number value, Number first, Number second, Axiom axiom) {
  const std::size_t base = row(at.replica, at.of);
  if (least_[base + at.seq] >= value) return true;
  const Number why = reason(first, second, axiom);
  if (value > most_[base + at.seq]) {
    contradiction_ = {why, why_most_[base + at.seq]};
    return false;
  }
  const std::size_t length = line(at.replica).size();
  const Number before = least_[base + at.seq];
  std::size_t end = base + at.seq;
  for (; end < base + length && least_[end] < value;) {
    const std::size_t begin = end;
    while (end < base + length && why_least_[end] == why_least_[begin] &&
           least_[end] == least_[begin] && least_[end] < value)
      ++end;
    if (!levels_.empty())
      trail_.push_back(
          {begin, static_cast<Number>(end - begin), least_[begin], why_least_[begin], false});
  }
  std::fill(least_.begin() + static_cast<std::ptrdiff_t>(base + at.seq),
            least_.begin() + static_cast<std::ptrdiff_t>(end), value);
  std::fill(why_least_.begin() + static_cast<std::ptrdiff_t>(base + at.seq),
            why_least_.begin() + static_cast<std::ptrdiff_t>(end), why);
  moved_.push_back({at, false});
  on_raised(at, static_cast<Number>(end - base), before, value);
  return true;
}

bool Bounds::lower(const BoundIndex& at, Number value, Number first, Number second, Axiom axiom) {
  const std::size_t base = row(at.replica, at.of);
  if (most_[base + at.seq] <= value) return true;
  const Number why = reason(first, second, axiom);
  if (value < least_[base + at.seq]) {
    contradiction_ = {why, why_least_[base + at.seq]};
    return false;
  }
  const Number before = most_[base + at.seq];
  std::size_t begin = base + at.seq + 1;
  for (; begin > base && most_[begin - 1] > value;) {
    const std::size_t end = begin;
    while (begin > base && why_most_[begin - 1] == why_most_[end - 1] &&
           most_[begin - 1] == most_[end - 1])
      --begin;
    if (!levels_.empty())
      trail_.push_back(
          {begin, static_cast<Number>(end - begin), most_[end - 1], why_most_[end - 1], true});
  }
  std::fill(most_.begin() + static_cast<std::ptrdiff_t>(begin),
            most_.begin() + static_cast<std::ptrdiff_t>(base + at.seq + 1), value);
  std::fill(why_most_.begin() + static_cast<std::ptrdiff_t>(begin),
            why_most_.begin() + static_cast<std::ptrdiff_t>(base + at.seq + 1), why);
  moved_.push_back({at, true});
  on_lowered(at, static_cast<Number>(begin - base), before, value);
  return true;
}

void Bounds::choose_least(const OpenChoice& open, const BoundIndex& at, Number value) {
  levels_.push_back({trail_.size(), passed_.size(), learned_.size(),
                     static_cast<Number>(reasons_.size()), at, value});
  passed_.push_back(open);
  raise(at, value, kGiven, kGiven, {kChosen, static_cast<Number>(levels_.size() - 1)});
}

bool Bounds::settle() {
  bool possible = true;
  std::size_t m = 0, a = 0;
  while (possible && (m < moved_.size() || a < queue_.size())) {
    if (a < queue_.size()) {
      const Constraint constraint = queue_[a++];
      unqueue(constraint);
      possible = propagate(constraint);
    } else {
      const MovedBound moved = moved_[m++];
      possible = moved.upper ? propagate_lowered(moved.at) : propagate_raised(moved.at);
    }
  }
  for (; a < queue_.size(); ++a) unqueue(queue_[a]);
  moved_.clear();
  queue_.clear();
  return possible;
}

bool Bounds::propagate_raised(const BoundIndex& at) {
  const std::size_t mine = row(at.replica, at.of) + at.seq;
  const Number value = least_[mine];
  const Number why = why_least_[mine];
  // It has seen the last of these, and what that has seen.
  const BoundIndex last{at.of, 0, value - 1};
  for (Number j = 0; j < width_; ++j) {
    const std::size_t of_last = row(at.of, j) + last.seq;
    const std::size_t of_mine = row(at.replica, j) + at.seq;
    if (!raise({at.replica, j, at.seq}, least_[of_last], why, why_least_[of_last])) return false;
    if (!lower({at.of, j, last.seq}, most_[of_mine], why, why_most_[of_mine])) return false;
  }
  for (Number i = 0; i < width_; ++i) {
    if (i == at.replica) continue;
    const std::size_t length = line(i).size();
    // The first there that has seen it has seen as much.
    const auto seen = least_.begin() + static_cast<std::ptrdiff_t>(row(i, at.replica));
    const auto first = static_cast<Number>(
        std::upper_bound(seen, seen + static_cast<std::ptrdiff_t>(length), at.seq) - seen);
    if (first < length &&
        !raise({i, at.of, first}, value, why_least_[row(i, at.replica) + first], why))
      return false;
    // The last there that cannot have seen as much has not seen it.
    const auto bound = most_.begin() + static_cast<std::ptrdiff_t>(row(i, at.of));
    const auto enough = static_cast<Number>(
        std::lower_bound(bound, bound + static_cast<std::ptrdiff_t>(length), value) - bound);
    if (enough > 0 &&
        !lower({i, at.replica, enough - 1}, at.seq, why_most_[row(i, at.of) + enough - 1], why))
      return false;
  }
  return true;
}

bool Bounds::propagate_lowered(const BoundIndex& at) {
  const std::size_t mine = row(at.replica, at.of) + at.seq;
  const Number value = most_[mine];
  const Number why = why_most_[mine];
  for (Number j = 0; j < width_; ++j) {
    if (j == at.replica) continue;
    // Nor has what it has seen.
    const std::size_t seen = row(at.replica, j) + at.seq;
    if (const Number count = least_[seen];
        count > 0 && !lower({j, at.of, count - 1}, value, why_least_[seen], why))
      return false;
    if (j == at.of) continue;
    // It has not seen what has seen more.
    const std::size_t length = line(j).size();
    const auto counts = least_.begin() + static_cast<std::ptrdiff_t>(row(j, at.of));
    const auto first = static_cast<Number>(
        std::upper_bound(counts, counts + static_cast<std::ptrdiff_t>(length), value) - counts);
    if (first < length &&
        !lower({at.replica, j, at.seq}, first, why_least_[row(j, at.of) + first], why))
      return false;
  }
  return true;
}

void Bounds::undo() {
  const Level& level = levels_.back();
  while (trail_.size() > level.trail) {
    const TrailEntry& s = trail_.back();
    auto& values = s.upper ? most_ : least_;
    auto& reasons = s.upper ? why_most_ : why_least_;
    std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(s.begin), s.count, s.value);
    std::fill_n(reasons.begin() + static_cast<std::ptrdiff_t>(s.begin), s.count, s.reason);
    trail_.pop_back();
  }
  for (; passed_.size() > level.passed; passed_.pop_back()) offer(passed_.back());
  reasons_.resize(level.reasons);
  learned_.resize(level.learned);
  levels_.pop_back();
}

Bounds::Conflict Bounds::conflict_of(std::pair<Number, Number> of) {
  Conflict found;
  std::vector<Number> stack{of.first, of.second}, marked;
  marked_.resize(reasons_.size(), false);
  while (!stack.empty()) {
    const Number at = stack.back();
    stack.pop_back();
    if (at == kGiven || marked_[at]) continue;
    marked_[at] = true;
    marked.push_back(at);
    const Reason& r = reasons_[at];
    if (r.axiom.first == kChosen) {
      found.levels.push_back(r.axiom.second);
      continue;
    }
    if (r.axiom.first == kLearned) {
      const auto& learned = learned_[r.axiom.second];
      found.axioms.insert(found.axioms.end(), learned.begin(), learned.end());
    } else if (r.axiom.first != kNone) {
      found.axioms.push_back(r.axiom);
    }
    stack.push_back(r.first);
    stack.push_back(r.second);
  }
  for (const Number m : marked) marked_[m] = false;
  std::sort(found.levels.begin(), found.levels.end());
  const auto both = [](const Axiom& a) { return std::pair(a.first, a.second); };
  std::sort(found.axioms.begin(), found.axioms.end(),
            [&](const Axiom& a, const Axiom& b) { return both(a) < both(b); });
  const auto twice =
      std::unique(found.axioms.begin(), found.axioms.end(),
                  [&](const Axiom& a, const Axiom& b) { return both(a) == both(b); });
  found.axioms.erase(twice, found.axioms.end());
  return found;
}

Bounds::SearchResult Bounds::search(std::size_t most_contradictions) {
  std::size_t contradictions = 0;
  while (choose()) {
    if (budget_.exceeded()) return SearchResult::kGaveUp;
    while (!settle()) {
      if (budget_.exceeded()) return SearchResult::kGaveUp;
      Conflict why = conflict_of(contradiction_);
      if (why.levels.empty()) return SearchResult::kNoExecution;
      if (++contradictions > most_contradictions) return SearchResult::kGaveUp;
      // The last of these choices is wrong as long as the others stand.
      const Number wrong = why.levels.back();
      why.levels.pop_back();
      const Level level = levels_[wrong];
      while (levels_.size() > wrong) undo();
      Number rests = kGiven;
      for (const Number l : why.levels) rests = reason(rests, levels_[l].reasons);
      learned_.push_back(std::move(why.axioms));
      // The choice was possible, so that this is.
      lower(level.at, level.value - 1, rests, kGiven,
            {kLearned, static_cast<Number>(learned_.size() - 1)});
    }
  }
  return SearchResult::kExecution;
}

}  // namespace cupel::crdt
