// Claim rules: see the header.
#include "crdt/verify/claim_rules.hpp"

#include <algorithm>
#include <map>

namespace cupel::crdt {

ClaimRules::ClaimRules(const History& history, const Semantics& semantics, SearchWork& work)
    : h_(history), semantics_(semantics), rules_(semantics.rules()), work_(work) {
  if (rules_.returns != Returns::kMembership && rules_.returns != Returns::kLastUpdate) return;
  for (OpId r = 0; r < h_.ops.size(); ++r) {
    if (!is_read(h_.ops[r].kind)) continue;
    for (const auto& [object, returned] : semantics.claims(r))
      claims_.push_back({r, &semantics.updates_of_object(object), returned});
  }
  for (Claim& claim : claims_) {
    for (const OpId u : *claim.updates) {
      ((h_.ops[u].kind == Kind::kUp) == rules_.up_wins ? claim.winners : claim.losers).push_back(u);
    }
    if (!rules_.for_good) claim.overwriting = claim.losers;
  }
}

bool ClaimRules::propagate(const PartialOrder& known, OrderFacts& facts) {
  return std::all_of(claims_.begin(), claims_.end(),
                     [&](const Claim& claim) { return propagate_claim(known, claim, facts); });
}

// The pair is of the claim with the fewest ways to become right.
bool ClaimRules::are_right(const PartialOrder& known, OpenPair& pair) {
  const auto below = [&](OpId a, OpId b) { return known.before(a, b); };
  std::size_t fewest = 0;
  bool wrong_claim = false;
  for (const Claim& claim : claims_) {
    work_.done += claim.winners.size() * claim.losers.size() + 8;
    const bool last = rules_.returns == Returns::kLastUpdate;
    const bool right =
        last ? semantics_.may_be_member(*claim.updates, claim.returned, claim.read, below)
             : semantics_.is_member(*claim.updates, claim.read, below) == claim.returned;
    if (right) continue;
    auto [ways, found] = last ? way_of_last(known, claim) : way_of(known, claim);
    if (found.first == kNone) found = known.open_of(claim.read, *claim.updates);
    if (found.first == kNone) return pair = {}, false;
    if (wrong_claim && ways >= fewest) continue;
    wrong_claim = true;
    fewest = ways;
    pair = found;
  }
  return !wrong_claim;
}

bool ClaimRules::propagate_claim(const PartialOrder& known, const Claim& claim, OrderFacts& facts) {
  const OpId r = claim.read;
  if (rules_.returns == Returns::kLastUpdate) return propagate_last(known, claim, facts);
  work_.done += claim.winners.size() * claim.losers.size() + 8;
  if (claim.returned != rules_.up_wins) {
    for (const OpId w : claim.winners) {
      if (known.never(w, r)) continue;
      const auto over = overwriting(known, w, r, claim);
      if (known.before(w, r)) {
        if (over.count == 0) return false;
        if (over.count == 1) {
          must(facts, w, over.last);
          must(facts, over.last, r);
        }
      } else if (over.count == 0) {
        cannot(facts, w, r);
      }
    }
    if (!claim.returned) return true;
    Candidates seen;
    for (const OpId l : claim.losers) {
      if (!known.never(l, r)) seen.add(l);
    }
    if (seen.count == 1) must(facts, seen.last, r);
    return seen.count > 0;
  }
  const auto [standing, nothing] = left_standing(known, claim);
  if (standing.count == 0 && !nothing) return false;
  if (standing.count == 0) {
    for (const OpId l : claim.losers) cannot(facts, l, r);
  } else if (standing.count == 1 && !nothing) {
    const OpId w = standing.last;
    must(facts, w, r);
    for (const OpId l : claim.overwriting) {
      if (known.before(l, r)) cannot(facts, w, l);
      if (known.before(w, l)) cannot(facts, l, r);
    }
  }
  return true;
}

ClaimRules::LastOnes ClaimRules::last_ones(const PartialOrder& known, const Claim& claim) {
  const OpId r = claim.read;
  work_.done += claim.updates->size() * claim.updates->size();
  LastOnes found{.must_be = claim.returned};
  for (const OpId u : *claim.updates) {
    const bool up = h_.ops[u].kind == Kind::kUp;
    if (up && known.before(u, r)) found.must_be = true;
    const bool overwritten = std::any_of(claim.updates->begin(), claim.updates->end(), [&](OpId v) {
      return known.before(u, v) && known.before(v, r);
    });
    if (up == claim.returned && !known.never(u, r) && !overwritten) found.some.add(u);
  }
  return found;
}

bool ClaimRules::propagate_last(const PartialOrder& known, const Claim& claim, OrderFacts& facts) {
  const OpId r = claim.read;
  const auto [some, must_be] = last_ones(known, claim);
  if (some.count == 0) {
    if (must_be) return false;
    for (const OpId up : claim.winners) cannot(facts, up, r);
  } else if (some.count == 1 && must_be) {
    must(facts, some.last, r);
    for (const OpId other : claim.returned ? claim.losers : claim.winners) {
      if (known.before(other, r)) cannot(facts, some.last, other);
    }
  }
  return true;
}

// What may have overwritten the winner w.
Candidates ClaimRules::overwriting(const PartialOrder& known, OpId w, OpId r, const Claim& claim) {
  Candidates over;
  for (const OpId l : claim.overwriting) {
    if (!known.never(w, l) && !known.never(l, r)) over.add(l);
  }
  return over;
}
// Winners that may not be overwritten; and whether nothing at all may have been seen
// of a type that needs an add for its other answer.
std::pair<Candidates, bool> ClaimRules::left_standing(const PartialOrder& known,
                                                      const Claim& claim) {
  const OpId r = claim.read;
  Candidates standing;
  for (const OpId w : claim.winners) {
    const auto overwritten = [&](OpId l) { return known.before(l, r) && known.before(w, l); };
    if (!known.never(w, r) &&
        std::none_of(claim.overwriting.begin(), claim.overwriting.end(), overwritten))
      standing.add(w);
  }
  const bool nothing = !claim.returned && std::none_of(claim.losers.begin(), claim.losers.end(),
                                                       [&](OpId l) { return known.before(l, r); });
  return {standing, nothing};
}

bool ClaimRules::orders_updates(const PartialOrder& known,
                                const std::function<bool(OpId, OpId)>& possible) {
  std::map<const std::vector<OpId>*, std::vector<const Claim*>> of_object;
  for (const Claim& claim : claims_) {
    const bool shown =
        claim.returned || std::any_of(claim.winners.begin(), claim.winners.end(),
                                      [&](OpId up) { return known.before(up, claim.read); });
    if (shown) of_object[claim.updates].push_back(&claim);
  }
  for (auto& entry : of_object) {
    auto& claims = entry.second;
    std::vector<OpId> left = *entry.first;
    while (!left.empty()) {
      work_.done += left.size() * (left.size() + claims.size());
      const auto last = std::find_if(left.begin(), left.end(), [&](OpId u) {
        return std::none_of(left.begin(), left.end(), [&](OpId v) { return known.before(u, v); }) &&
               std::none_of(claims.begin(), claims.end(), [&](const Claim* claim) {
                 return known.before(u, claim->read) &&
                        (h_.ops[u].kind == Kind::kUp) != claim->returned;
               });
      });
      if (last == left.end()) return false;
      std::erase_if(claims, [&](const Claim* claim) {
        return (h_.ops[*last].kind == Kind::kUp) == claim->returned && possible(*last, claim->read);
      });
      left.erase(last);
    }
  }
  return true;
}

ClaimRules::Ways ClaimRules::way_of(const PartialOrder& known, const Claim& claim) const {
  const OpId r = claim.read;
  std::size_t fewest = h_.ops.size() + 1;
  OpenPair pair;
  if (claim.returned != rules_.up_wins) {
    for (const OpId w : claim.winners) {
      if (!known.before(w, r)) continue;
      if (std::any_of(claim.overwriting.begin(), claim.overwriting.end(),
                      [&](OpId l) { return known.before(w, l) && known.before(l, r); }))
        continue;
      const auto over = overwriting(known, w, r, claim);
      if (over.count >= fewest || over.count == 0) continue;
      fewest = over.count;
      pair = known.open(over.last, r) ? OpenPair{over.last, r} : OpenPair{w, over.last};
    }
    return {fewest, pair};
  }
  const auto [standing, nothing] = left_standing(known, claim);
  if (standing.count == 0) return {fewest, pair};
  const OpId w = standing.last;
  fewest = standing.count + nothing;
  if (known.open(w, r)) return {fewest, {w, r}};
  for (const OpId l : claim.overwriting) {
    if (known.before(l, r) && known.open(w, l)) return {fewest, {w, l}};
    if (known.before(w, l) && known.open(l, r)) return {fewest, {l, r}};
  }
  return {fewest, pair};
}

// The same where the last update wins.
ClaimRules::Ways ClaimRules::way_of_last(const PartialOrder& known, const Claim& claim) {
  const auto ones = last_ones(known, claim);
  const bool open = ones.some.count > 0 && known.open(ones.some.last, claim.read);
  return {ones.some.count, open ? OpenPair{ones.some.last, claim.read} : OpenPair{}};
}

OpenPair ClaimRules::open_of_last(const PartialOrder& known) {
  OpenPair pair;
  std::size_t fewest = 0;
  for (const Claim& claim : claims_) {
    const auto [some, must_be] = last_ones(known, claim);
    if (!must_be || some.count < 2 || (pair.first != kNone && some.count >= fewest)) continue;
    for (const OpId u : *claim.updates) {
      if (!known.open(u, claim.read)) continue;
      pair = {u, claim.read};
      fewest = some.count;
      break;
    }
  }
  for (const Claim& claim : claims_) {
    if (pair.first != kNone) break;
    pair = known.open_of(claim.read, *claim.updates);
  }
  return pair;
}

}  // namespace cupel::crdt
