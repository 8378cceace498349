// Read rules: see the header.
#include "crdt/verify/read_rules.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace cupel::crdt {

// By what reads return and not by the kind of the operation, which types share.
bool ReadRules::propagate(const PartialOrder& known, OpId r, OrderFacts& facts) {
  const auto& op = h_.ops[r];
  switch (rules_.returns) {
    case Returns::kSum:
    case Returns::kSumNotBelow0:
      return op.kind != Kind::kValue || sum(known, r, facts);
    case Returns::kSumSinceReset:
      return op.kind != Kind::kValue || may_see_reset(known, r) || sum(known, r, facts);
    case Returns::kMaximalWrites:
    case Returns::kLastWrite:
    case Returns::kAnyMaximal:
    case Returns::kGreatest:
      return op.kind != Kind::kValues || values(known, r, facts);
    case Returns::kCharacters:
    case Returns::kListed:
      if (op.kind == Kind::kInsert) return op.parent == kNone || names(op.parent, r, facts);
      if (op.kind == Kind::kDelete)
        return !h_.any_changed(op, [&](std::uint32_t e) { return !names(e, r, facts); });
      return op.kind != Kind::kList || shown(known, r, facts);
    default:
      return true;
  }
}

bool ReadRules::names(std::uint32_t e, OpId r, OrderFacts& facts) {
  if (semantics_.insert_of(e) == kNone || semantics_.insert_of(e) == r) return false;
  must(facts, semantics_.insert_of(e), r);
  return true;
}

bool ReadRules::shown(const PartialOrder& known, OpId r, OrderFacts& facts) {
  const auto list = h_.list(h_.ops[r]);
  const std::set<std::uint32_t> here(list.begin(), list.end());
  if (here.size() != list.size()) return false;
  for (const auto e : list) {
    if (!names(e, r, facts)) return false;
  }
  for (const auto e : semantics_.elements_of(h_.ops[r].key)) {
    ++work_.done;
    const OpId insert = semantics_.insert_of(e);
    if (insert == kNone) continue;
    std::vector<OpId> removes;
    for (const OpId u : semantics_.updates_of_element(e)) {
      if (h_.ops[u].kind != Kind::kDelete) continue;
      if (here.contains(e) && !strict_) cannot(facts, u, r);
      if (!known.never(u, r)) removes.push_back(u);
    }
    if (here.contains(e)) continue;
    if (known.before(insert, r)) {
      if (!one_of(removes, [&](OpId u) { must(facts, u, r); })) return false;
    } else if (removes.empty()) {
      cannot(facts, insert, r);
    }
  }
  return true;
}

bool ReadRules::values(const PartialOrder& known, OpId r, OrderFacts& facts) {
  const auto list = h_.list(h_.ops[r]);
  const auto& writes = semantics_.updates_of_key(h_.ops[r].key);
  if (list.empty()) {
    for (const OpId w : writes) cannot(facts, w, r);
    return true;
  }
  const std::set<std::uint32_t> returned(list.begin(), list.end());
  std::map<std::uint32_t, std::vector<OpId>> sources;
  for (const auto e : returned) sources[e];
  for (const OpId w : writes) {
    if (const auto it = sources.find(h_.ops[w].element); it != sources.end() && !known.never(w, r))
      it->second.push_back(w);
  }
  for (const auto& [e, some] : sources) {
    if (!one_of(some, [&](OpId w) { must(facts, w, r); })) return false;
  }
  if (rules_.returns != Returns::kMaximalWrites) return true;
  // A replica's later write has observed its earlier one, so what is returned, each time, is of
  // another replica.
  std::set<std::uint32_t> writers_of_any;
  for (const auto& [e, some] : sources) {
    std::set<std::uint32_t> writers;
    for (const OpId w : some) writers.insert(h_.ops[w].replica);
    if (std::count(list.begin(), list.end(), e) > std::ssize(writers)) return false;
    writers_of_any.merge(writers);
  }
  if (list.size() > writers_of_any.size()) return false;
  // What is seen and not returned is below something that is returned.
  for (const OpId w : writes) {
    if (returned.contains(h_.ops[w].element) || known.never(w, r)) continue;
    std::vector<OpId> over;
    for (const auto& [e, some] : sources) {
      for (const OpId o : some) {
        if (!known.never(w, o)) over.push_back(o);
      }
    }
    if (known.before(w, r)) {
      if (!one_of(over, [&](OpId o) { must(facts, w, o); })) return false;
      if (over.size() == 1) must(facts, over[0], r);
    } else if (over.empty()) {
      cannot(facts, w, r);
    }
  }
  for (const auto& [e, some] : sources) {
    for (const auto& [f, others] : sources) {
      if (e != f && some.size() == 1 && others.size() == 1) cannot(facts, some[0], others[0]);
    }
  }
  return true;
}

bool ReadRules::may_see_reset(const PartialOrder& known, OpId r) const {
  const auto& updates = semantics_.updates_of_key(h_.ops[r].key);
  return std::any_of(updates.begin(), updates.end(),
                     [&](OpId u) { return h_.ops[u].kind == Kind::kReset && !known.never(u, r); });
}

// Of each replica so many updates have been seen; which numbers can add up to it?
bool ReadRules::sum(const PartialOrder& known, OpId r, OrderFacts& facts) {
  const auto& op = h_.ops[r];
  std::map<std::uint32_t, std::vector<OpId>> lines;
  for (const OpId u : semantics_.updates_of_key(op.key)) lines[h_.ops[u].replica].push_back(u);
  struct Line {
    std::vector<OpId> updates;
    std::vector<std::int64_t> sums;  // by how many
    std::size_t low, high;
  };
  std::vector<Line> all;
  for (auto& [replica, updates] : lines) {
    std::sort(updates.begin(), updates.end(),
              [&](OpId a, OpId b) { return h_.ops[a].seq < h_.ops[b].seq; });
    Line line{updates, {0}, 0, 0};
    for (const OpId u : updates) {
      line.sums.push_back(line.sums.back() + h_.ops[u].amount);
      if (known.before(u, r)) line.low = line.sums.size() - 1;
      if (!known.never(u, r) && line.high + 2 == line.sums.size()) line.high = line.sums.size() - 1;
    }
    if (line.low > line.high) return false;
    all.push_back(std::move(line));
  }
  constexpr std::size_t kMostSums = 4000;
  std::vector<std::set<std::int64_t>> reached{{0}};
  for (const Line& line : all) {
    std::set<std::int64_t> next;
    for (const auto s : reached.back()) {
      for (auto q = line.low; q <= line.high; ++q) next.insert(s + line.sums[q]);
    }
    work_.done += 8 * reached.back().size() * (line.high - line.low + 1);
    if (next.size() > kMostSums) return true;
    reached.push_back(std::move(next));
  }
  if (!reached.back().contains(op.amount)) return false;
  std::set<std::int64_t> wanted{op.amount};
  for (std::size_t i = all.size(); i-- > 0;) {
    const Line& line = all[i];
    std::set<std::int64_t> before;
    auto low = line.high + 1, high = line.low;
    for (auto q = line.low; q <= line.high; ++q) {
      for (const auto s : wanted) {
        if (!reached[i].contains(s - line.sums[q])) continue;
        before.insert(s - line.sums[q]);
        low = std::min(low, q);
        high = std::max(high, q);
      }
    }
    if (low > 0) must(facts, line.updates[low - 1], r);
    if (high < line.updates.size()) cannot(facts, line.updates[high], r);
    wanted = std::move(before);
  }
  return true;
}

}  // namespace cupel::crdt
