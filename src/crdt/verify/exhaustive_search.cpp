// Exhaustive search: two relations as bit matrices, a list of facts to propagate, and depth-first
// search.
#include "crdt/verify/exhaustive_search.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "crdt/model/times.hpp"
#include "crdt/verify/list_order_check.hpp"
#include "crdt/verify/semantics.hpp"

namespace cupel::crdt {

namespace {

constexpr std::uint64_t kMostWork =
    300'000'000;  // words of bit sets and pairs of updates looked at, about

class Matrix {
 public:
  explicit Matrix(std::size_t n) : words_((n + 63) / 64), bits_(n * words_, 0) {}
  [[nodiscard]] bool at(OpId row, OpId column) const {
    return bits_[row * words_ + column / 64] >> (column % 64) & 1;
  }
  void set(OpId row, OpId column) {
    bits_[row * words_ + column / 64] |= std::uint64_t{1} << (column % 64);
  }
  [[nodiscard]] std::size_t words() const { return words_; }
  // What is in `row` and not in `other_row` of the other.
  template <typename Do>
  void for_new(OpId row, const Matrix& other, OpId other_row, Do work) const {
    for (std::size_t w = 0; w < words_; ++w) {
      for (auto left = bits_[row * words_ + w] & ~other.bits_[other_row * words_ + w]; left != 0;
           left &= left - 1) {
        work(static_cast<OpId>(w * 64 + static_cast<std::size_t>(std::countr_zero(left))));
      }
    }
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

struct Fact {
  OpId first, second;
  bool before;  // false: first does not happen before second
};

// What is known of every execution that is left.
struct PartialOrder {
  explicit PartialOrder(std::size_t n) : past(n), future(n), never_past(n), never_future(n) {}
  Matrix past, future;              // past.at(b, a): a happens before b
  Matrix never_past, never_future;  // never_past.at(b, a): it does not
  [[nodiscard]] bool before(OpId a, OpId b) const { return past.at(b, a); }
  [[nodiscard]] bool never(OpId a, OpId b) const { return never_past.at(b, a); }
  [[nodiscard]] bool open(OpId a, OpId b) const { return !before(a, b) && !never(a, b); }
};

struct Claim {
  OpId read;
  const std::vector<OpId>* updates;
  bool returned;
  std::vector<OpId> winners = {}, losers = {};  // of the updates
  std::vector<OpId> overwriting = {};           // the losers that may overwrite a winner
};

// Of candidates: how many, and the last.
struct Some {
  std::size_t count = 0;
  OpId last = kNone;
  void add(OpId o) {
    ++count;
    last = o;
  }
};

class ExhaustiveSearch {
 public:
  ExhaustiveSearch(const History& h, bool strict)
      : h_(h),
        semantics_(h, strict),
        rules_(rules_of(h.type)),
        strict_(strict),
        n_(h.ops.size()),
        words_((n_ + 63) / 64) {}

  std::optional<bool> run() {
    PartialOrder known(n_);
    std::vector<Fact> facts;
    for (OpId o = 0; o < n_; ++o) {
      known.never_past.set(o, o);
      known.never_future.set(o, o);
    }
    for (const auto& line : h_.by_replica) {
      for (std::size_t i = 1; i < line.size(); ++i) facts.push_back({line[i - 1], line[i], true});
    }
    for (OpId a = 0; a < n_; ++a) {
      for (OpId b = 0; b < n_; ++b) {
        if (is_too_late(h_.ops[a], h_.ops[b])) facts.push_back({a, b, false});
      }
    }
    if (rules_.returns == Returns::kCharacters) {
      auto required = semantics_.required_order();
      if (!required) return false;
      required_ = std::move(*required);
    }
    for (OpId r = 0; r < n_; ++r) {
      const auto& op = h_.ops[r];
      if (rules_.returns == Returns::kMembership || rules_.returns == Returns::kLastUpdate)
        claims_of(r);
      if (!is_read(op.kind) && op.kind != Kind::kInsert && op.kind != Kind::kDelete) continue;
      constrained_.push_back(r);
    }
    for (Claim& claim : claims_) {
      for (const OpId u : *claim.updates) {
        ((h_.ops[u].kind == Kind::kUp) == rules_.up_wins ? claim.winners : claim.losers)
            .push_back(u);
      }
      if (!rules_.for_good) claim.overwriting = claim.losers;
    }
    const bool found = search(std::move(known), std::move(facts));
    if (found) return true;
    if (work_ > kMostWork) return std::nullopt;
    return false;
  }

 private:
  void claims_of(OpId r) {
    if (!is_read(h_.ops[r].kind)) return;
    for (const auto& [object, returned] : semantics_.claims(r))
      claims_.push_back({r, &semantics_.updates_of_object(object), returned});
  }

  // Draws what follows; false: a contradiction.
  bool close(PartialOrder& known, std::vector<Fact>& facts) {
    while (!facts.empty()) {
      const auto [a, b, before] = facts.back();
      facts.pop_back();
      if (before) {
        if (known.never(a, b)) return false;
        if (known.before(a, b)) continue;
        work_ += 5 * words_;
        known.past.set(b, a);
        known.future.set(a, b);
        known.past.for_new(a, known.past, b, [&, to = b](OpId x) {
          facts.push_back({x, to, true});
        });
        known.future.for_new(b, known.future, a, [&, from = a](OpId y) {
          facts.push_back({from, y, true});
        });
        facts.push_back({b, a, false});
        known.never_future.for_new(a, known.never_future, b, [&, from = b](OpId v) {
          facts.push_back({from, v, false});
        });
        known.never_past.for_new(b, known.never_past, a, [&, to = a](OpId u) {
          facts.push_back({u, to, false});
        });
      } else {
        if (known.before(a, b)) return false;
        if (known.never(a, b)) continue;
        work_ += 2 * words_;
        known.never_past.set(b, a);
        known.never_future.set(a, b);
        known.future.for_new(a, known.never_past, b, [&, to = b](OpId x) {
          facts.push_back({x, to, false});
        });
        known.past.for_new(b, known.never_future, a, [&, from = a](OpId y) {
          facts.push_back({from, y, false});
        });
      }
    }
    return true;
  }

  bool settle(PartialOrder& known, std::vector<Fact>& facts) {
    while (true) {
      if (!close(known, facts)) return false;
      if (work_ > kMostWork) return false;
      bool well = true;
      for (const Claim& claim : claims_) well = well && propagate_claim(known, claim, facts);
      for (std::size_t i = 0; i < constrained_.size() && well; ++i)
        well = propagate_operation(known, constrained_[i], facts);
      if (!well) return false;
      std::erase_if(facts, [&](const Fact& f) {
        return f.before ? known.before(f.first, f.second) : known.never(f.first, f.second);
      });
      if (facts.empty()) return linearizes(known);
    }
  }

  static void must(std::vector<Fact>& facts, OpId a, OpId b) { facts.push_back({a, b, true}); }
  static void cannot(std::vector<Fact>& facts, OpId a, OpId b) { facts.push_back({a, b, false}); }

  // None is no execution, one is what every execution has.
  static bool one_of(const std::vector<OpId>& candidates, const std::function<void(OpId)>& only) {
    if (candidates.empty()) return false;
    if (candidates.size() == 1) only(candidates[0]);
    return true;
  }

  bool propagate_claim(const PartialOrder& known, const Claim& claim, std::vector<Fact>& facts) {
    const OpId r = claim.read;
    if (rules_.returns == Returns::kLastUpdate) return propagate_last(known, claim, facts);
    work_ += claim.winners.size() * claim.losers.size() + 8;
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
      Some seen;
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

  // Last update wins: the updates that may be the last, of those that the read has seen.
  struct LastOnes {
    Some some = {};
    bool must_be = false;  // one of them is
  };
  LastOnes last_ones(const PartialOrder& known, const Claim& claim) {
    const OpId r = claim.read;
    work_ += claim.updates->size() * claim.updates->size();
    LastOnes found{.must_be = claim.returned};
    for (const OpId u : *claim.updates) {
      const bool up = h_.ops[u].kind == Kind::kUp;
      if (up && known.before(u, r)) found.must_be = true;
      const bool overwritten =
          std::any_of(claim.updates->begin(), claim.updates->end(),
                      [&](OpId v) { return known.before(u, v) && known.before(v, r); });
      if (up == claim.returned && !known.never(u, r) && !overwritten) found.some.add(u);
    }
    return found;
  }
  // The updates of the other side than the claim's.
  [[nodiscard]] static const std::vector<OpId>& others_of(const Claim& claim) {
    return claim.returned ? claim.losers : claim.winners;
  }

  bool propagate_last(const PartialOrder& known, const Claim& claim, std::vector<Fact>& facts) {
    const OpId r = claim.read;
    const auto [some, must_be] = last_ones(known, claim);
    if (some.count == 0) {
      if (must_be) return false;
      for (const OpId up : claim.winners) cannot(facts, up, r);
    } else if (some.count == 1 && must_be) {
      must(facts, some.last, r);
      for (const OpId other : others_of(claim)) {
        if (known.before(other, r)) cannot(facts, some.last, other);
      }
    }
    return true;
  }

  // Is there an order of each object's updates in which, for each read, an update of the side that
  // it shows, `possible` for it, comes after all of the other side that it surely has seen? Built
  // from its end: what may be the last of all could be the last in any order that fits. If what is
  // known is the happens-before, this decides; else it needs less than an execution does.
  template <typename Possible>
  [[nodiscard]] bool orders_updates(const PartialOrder& known, Possible possible) {
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
        work_ += left.size() * (left.size() + claims.size());
        const auto last = std::find_if(left.begin(), left.end(), [&](OpId u) {
          return std::none_of(left.begin(), left.end(),
                              [&](OpId v) { return known.before(u, v); }) &&
                 std::none_of(claims.begin(), claims.end(), [&](const Claim* claim) {
                   return known.before(u, claim->read) &&
                          (h_.ops[u].kind == Kind::kUp) != claim->returned;
                 });
        });
        if (last == left.end()) return false;
        std::erase_if(claims, [&](const Claim* claim) {
          return (h_.ops[*last].kind == Kind::kUp) == claim->returned &&
                 possible(*last, claim->read);
        });
        left.erase(last);
      }
    }
    return true;
  }

  // What may have overwritten the winner w.
  static Some overwriting(const PartialOrder& known, OpId w, OpId r, const Claim& claim) {
    Some over;
    for (const OpId l : claim.overwriting) {
      if (!known.never(w, l) && !known.never(l, r)) over.add(l);
    }
    return over;
  }
  // Winners that may not be overwritten; and whether nothing at all may have been seen
  // of a type that needs an add for its other answer.
  static std::pair<Some, bool> left_standing(const PartialOrder& known, const Claim& claim) {
    const OpId r = claim.read;
    Some standing;
    for (const OpId w : claim.winners) {
      const auto overwritten = [&](OpId l) { return known.before(l, r) && known.before(w, l); };
      if (!known.never(w, r) &&
          std::none_of(claim.overwriting.begin(), claim.overwriting.end(), overwritten))
        standing.add(w);
    }
    const bool nothing =
        !claim.returned && std::none_of(claim.losers.begin(), claim.losers.end(),
                                        [&](OpId l) { return known.before(l, r); });
    return {standing, nothing};
  }

  // By what reads return and not by the kind of the operation, which types share.
  bool propagate_operation(const PartialOrder& known, OpId r, std::vector<Fact>& facts) {
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

  bool names(std::uint32_t e, OpId r, std::vector<Fact>& facts) {
    if (semantics_.insert_of(e) == kNone || semantics_.insert_of(e) == r) return false;
    must(facts, semantics_.insert_of(e), r);
    return true;
  }

  bool shown(const PartialOrder& known, OpId r, std::vector<Fact>& facts) {
    const auto list = h_.list(h_.ops[r]);
    const std::set<std::uint32_t> here(list.begin(), list.end());
    if (here.size() != list.size()) return false;
    for (const auto e : list) {
      if (!names(e, r, facts)) return false;
    }
    for (const auto e : semantics_.elements_of(h_.ops[r].key)) {
      ++work_;
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

  bool values(const PartialOrder& known, OpId r, std::vector<Fact>& facts) {
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
      if (const auto it = sources.find(h_.ops[w].element);
          it != sources.end() && !known.never(w, r))
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

  [[nodiscard]] bool may_see_reset(const PartialOrder& known, OpId r) const {
    const auto& updates = semantics_.updates_of_key(h_.ops[r].key);
    return std::any_of(updates.begin(), updates.end(), [&](OpId u) {
      return h_.ops[u].kind == Kind::kReset && !known.never(u, r);
    });
  }

  // Of each replica so many updates have been seen; which numbers can add up to it?
  bool sum(const PartialOrder& known, OpId r, std::vector<Fact>& facts) {
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
        if (!known.never(u, r) && line.high + 2 == line.sums.size())
          line.high = line.sums.size() - 1;
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
      work_ += 8 * reached.back().size() * (line.high - line.low + 1);
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

  // Is there a linearization of what is known, as far as it goes? More that is known
  // leaves fewer, where each read has one source.
  [[nodiscard]] bool linearizes(const PartialOrder& known) {
    if (rules_.returns == Returns::kListed) {
      // What is surely seen, and not removed by anything that may be seen.
      const auto sure = [&](OpId u, OpId o) {
        return h_.ops[u].kind == Kind::kDelete ? !known.never(u, o) : known.before(u, o);
      };
      work_ += n_ * n_;
      return has_list_order(h_, sure, nullptr).value_or(true);
    }
    if (rules_.returns == Returns::kLastUpdate)
      return orders_updates(known, [&](OpId u, OpId r) { return !known.never(u, r); });
    if (rules_.returns != Returns::kLastWrite && rules_.returns != Returns::kCharacters)
      return true;
    std::vector<std::vector<OpId>> next(n_);
    const auto require = [&](OpId a, OpId b) { next[a].push_back(b); };
    for (const auto& [a, b] : required_) require(a, b);
    if (rules_.returns == Returns::kLastWrite) {
      for (const OpId r : constrained_) {
        if (!is_read(h_.ops[r].kind) || h_.list(h_.ops[r]).empty()) continue;
        OpId source = kNone;
        std::size_t sources = 0;
        for (const OpId w : semantics_.updates_of_key(h_.ops[r].key)) {
          if (h_.ops[w].element != h_.list(h_.ops[r])[0] || known.never(w, r)) continue;
          source = w;
          ++sources;
        }
        if (sources != 1) continue;
        for (const OpId w : semantics_.updates_of_key(h_.ops[r].key)) {
          if (w != source && known.before(w, r)) require(w, source);
        }
      }
    }
    return acyclic(known, next);
  }

  [[nodiscard]] bool acyclic(const PartialOrder& known,
                             const std::vector<std::vector<OpId>>& next) {
    if (!rules_.order_by_object) return acyclic_together(known, next);
    std::set<std::uint32_t> objects;
    for (OpId id = 0; id < n_; ++id) {
      if (!next[id].empty()) objects.insert(rules_.object(h_.ops[id]));
    }
    return std::all_of(objects.begin(), objects.end(), [&](std::uint32_t object) {
      auto of_object = next;
      for (OpId id = 0; id < n_; ++id) {
        if (rules_.object(h_.ops[id]) != object) of_object[id].clear();
      }
      return acyclic_together(known, of_object);
    });
  }

  [[nodiscard]] bool acyclic_together(const PartialOrder& known,
                                      const std::vector<std::vector<OpId>>& next) {
    work_ += n_ * words_;
    std::vector<std::uint32_t> waits(n_, 0);
    for (OpId a = 0; a < n_; ++a) {
      for (OpId b = 0; b < n_; ++b) waits[b] += known.before(a, b);
      for (const OpId b : next[a]) ++waits[b];
    }
    std::vector<OpId> ready;
    for (OpId o = 0; o < n_; ++o) {
      if (waits[o] == 0) ready.push_back(o);
    }
    std::size_t done = 0;
    while (!ready.empty()) {
      const OpId a = ready.back();
      ready.pop_back();
      ++done;
      const auto arrive = [&](OpId b) {
        if (--waits[b] == 0) ready.push_back(b);
      };
      for (OpId b = 0; b < n_; ++b) {
        if (known.before(a, b)) arrive(b);
      }
      for (const OpId b : next[a]) arrive(b);
    }
    return done == n_;
  }

  // With what is known as the happens-before: is every read right, and if not, which
  // open pair may change that? kNone twice: none, so that it is wrong for good.
  struct Pair {
    OpId first = kNone, second = kNone;
  };
  bool right(const PartialOrder& known, Pair& pair) {
    const auto below = [&](OpId a, OpId b) { return known.before(a, b); };
    // The claim with the fewest ways to become right.
    std::size_t fewest = 0;
    bool wrong_claim = false;
    for (const Claim& claim : claims_) {
      work_ += claim.winners.size() * claim.losers.size() + 8;
      const bool last = rules_.returns == Returns::kLastUpdate;
      const bool right =
          last ? semantics_.may_be_member(*claim.updates, claim.returned, claim.read, below)
               : semantics_.is_member(*claim.updates, claim.read, below) == claim.returned;
      if (right) continue;
      auto [ways, found] = last ? way_of_last(known, claim) : way_of(known, claim);
      if (found.first == kNone) found = open_of(known, claim.read, *claim.updates);
      if (found.first == kNone) return pair = {}, false;
      if (wrong_claim && ways >= fewest) continue;
      wrong_claim = true;
      fewest = ways;
      pair = found;
    }
    if (wrong_claim) return false;
    if (rules_.returns == Returns::kMembership) return true;
    if (rules_.returns == Returns::kLastUpdate) {
      if (orders_updates(known, below)) return true;
      return pair = open_of_last(known), false;
    }
    for (const OpId r : constrained_) {
      const bool last = rules_.returns == Returns::kLastWrite && is_read(h_.ops[r].kind);
      const bool wrong = last ? !last_writer(r, below) : semantics_.wrong(r, below).has_value();
      if (!wrong) continue;
      pair = h_.ops[r].kind == Kind::kValue
                 ? open_of_number(known, r)
                 : open_of(known, r, semantics_.updates_of_key(h_.ops[r].key));
      return false;
    }
    if (rules_.returns == Returns::kListed) return in_one_order(known, pair);
    if (rules_.returns != Returns::kLastWrite || chooses(known)) return true;
    for (const OpId r : constrained_) {
      pair = open_of(known, r, semantics_.updates_of_key(h_.ops[r].key));
      if (pair.first != kNone) break;
    }
    return false;
  }
  // Lists: an addition fits otherwise, if its replica has not seen as much.
  bool in_one_order(const PartialOrder& known, Pair& pair) {
    const auto below = [&](OpId a, OpId b) { return known.before(a, b); };
    const auto ordered = has_list_order(h_, below, nullptr);
    if (!ordered) work_ = kMostWork + 1;
    if (ordered.value_or(false)) return true;
    for (const OpId r : constrained_) {
      if (h_.ops[r].kind != Kind::kInsert) continue;
      pair = open_of(known, r, semantics_.updates_of_key(h_.ops[r].key));
      if (pair.first != kNone) return false;
    }
    return pair = {}, false;
  }
  [[nodiscard]] bool last_writer(OpId r, const Semantics::Below& below) const {
    return h_.list(h_.ops[r]).empty() ? semantics_.writes_seen(r, below).empty()
                                      : !semantics_.sources(r, below).empty();
  }

  // How many ways there are to make a wrong claim right, and an open pair of one of them.
  [[nodiscard]] std::pair<std::size_t, Pair> way_of(const PartialOrder& known,
                                                    const Claim& claim) const {
    const OpId r = claim.read;
    std::size_t fewest = h_.ops.size() + 1;
    Pair pair;
    if (claim.returned != rules_.up_wins) {
      for (const OpId w : claim.winners) {
        if (!known.before(w, r)) continue;
        if (std::any_of(claim.overwriting.begin(), claim.overwriting.end(),
                        [&](OpId l) { return known.before(w, l) && known.before(l, r); }))
          continue;
        const auto over = overwriting(known, w, r, claim);
        if (over.count >= fewest || over.count == 0) continue;
        fewest = over.count;
        pair = known.open(over.last, r) ? Pair{over.last, r} : Pair{w, over.last};
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
  std::pair<std::size_t, Pair> way_of_last(const PartialOrder& known, const Claim& claim) {
    const auto ones = last_ones(known, claim);
    const bool open = ones.some.count > 0 && known.open(ones.some.last, claim.read);
    return {ones.some.count, open ? Pair{ones.some.last, claim.read} : Pair{}};
  }

  // Of the claims that have one right answer only by a choice, the one with the fewest.
  Pair open_of_last(const PartialOrder& known) {
    Pair pair;
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
      pair = open_of(known, claim.read, *claim.updates);
    }
    return pair;
  }

  [[nodiscard]] Pair open_of(const PartialOrder& known, OpId r,
                             const std::vector<OpId>& updates) const {
    for (const OpId u : updates) {
      if (u != r && known.open(u, r)) return {u, r};
    }
    for (const OpId u : updates) {
      for (const OpId v : updates) {
        if (u != v && known.before(v, r) && known.open(u, v)) return {u, v};
      }
    }
    return {};
  }

  // A number depends on which updates are seen, and on what a reset among them had seen.
  [[nodiscard]] Pair open_of_number(const PartialOrder& known, OpId r) const {
    const auto& updates = semantics_.updates_of_key(h_.ops[r].key);
    for (const OpId u : updates) {
      if (known.open(u, r)) return {u, r};
    }
    for (const OpId reset : updates) {
      if (h_.ops[reset].kind != Kind::kReset || !known.before(reset, r)) continue;
      for (const OpId u : updates) {
        if (known.before(u, r) && known.open(u, reset)) return {u, reset};
      }
    }
    return {};
  }

  // Some source for each read of a last-writer-wins register, so that an order is left.
  bool chooses(const PartialOrder& known) {
    const auto below = [&](OpId a, OpId b) { return known.before(a, b); };
    std::vector<OpId> reads;
    for (const OpId r : constrained_) {
      if (is_read(h_.ops[r].kind) && !h_.list(h_.ops[r]).empty()) reads.push_back(r);
    }
    std::vector<std::vector<OpId>> next(n_);
    const std::function<bool(std::size_t)> choose = [&](std::size_t i) {
      if (work_ > kMostWork) return false;
      if (i == reads.size()) return acyclic(known, next);
      const auto sources = semantics_.sources(reads[i], below),
                 seen = semantics_.writes_seen(reads[i], below);
      for (const OpId w : sources) {
        for (const OpId other : seen) {
          if (other != w) next[other].push_back(w);
        }
        // Early where there is a choice.
        if ((sources.size() == 1 || acyclic(known, next)) && choose(i + 1)) return true;
        for (const OpId other : seen) {
          if (other != w) next[other].pop_back();
        }
      }
      return false;
    };
    return choose(0);
  }

  bool search(PartialOrder known, std::vector<Fact> facts) {
    work_ += n_ * words_;
    if (!settle(known, facts) || work_ > kMostWork) return false;
    Pair pair;
    if (right(known, pair)) return true;
    if (pair.first == kNone) return false;
    for (const bool before : {true, false}) {
      if (search(known, {{pair.first, pair.second, before}})) return true;
    }
    return false;
  }

  const History& h_;
  const Semantics semantics_;
  const Rules& rules_;
  bool strict_;
  std::size_t n_, words_;
  std::vector<Claim> claims_;
  std::vector<OpId> constrained_;
  std::vector<std::pair<OpId, OpId>> required_;
  std::uint64_t work_ = 0;
};

}  // namespace

std::optional<bool> has_execution(const History& history, bool strict) {
  return ExhaustiveSearch(history, strict).run();
}

}  // namespace cupel::crdt
