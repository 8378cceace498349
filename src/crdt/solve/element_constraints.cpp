// Element constraints: a complete decision for sets and flags, by bounds on clocks (bounds.hpp).
//
// An object has two kinds of updates, add and remove, and one of them wins. A read claims one of
// two things about an object:
// - The winning kind shows. Then the read has seen an update of that kind that no visible update of
//   the other kind has seen. (Or, if nothing was ever added, it has seen no update of the other
//   kind.)
// - The losing kind shows. Then each visible winner was seen by a visible loser. If the claim is
//   that the object was added, there is such a loser.
// Of a replica's winners only the last visible one matters, and of its losers the last one has seen
// most. So a claim depends on one winner and one loser per replica. If only one of them is
// possible, it must hold, which moves bounds. If several are possible, the search chooses the one
// that adds the fewest operations, and prefers those earlier in the file.
//
// With `in_order` no operation has seen a later one of the file. Most recorded histories have such
// an execution. This leaves less to choose and to propagate, but a contradiction proves nothing.
//
// Exponential at worst (thesis, theorem 2.2.1).
#include <algorithm>
#include <queue>

#include "crdt/model/replicated_type.hpp"
#include "crdt/solve/bounds.hpp"
#include "crdt/solve/decide.hpp"

namespace cupel::crdt {

namespace {

class ElementConstraints final : Bounds {
 public:
  ElementConstraints(const History& history, base::Budget& budget)
      : Bounds(history, budget), type_(replicated_type(history)) {}

  std::optional<Decision> decide(bool in_order, std::size_t most_contradictions) {
    const auto& membership = type_.traits().membership;
    if (!membership || membership->for_good || membership->last_wins) return std::nullopt;
    if (!reserve(20)) return std::nullopt;
    prepare();
    std::vector<OpId> order(h_.ops.size());
    for (OpId id = 0; id < order.size(); ++id) order[id] = id;
    start(order, [](OpId, auto) {});
    if (in_order) see_nothing_later();
    for (Number c = 0; c < claims_.size(); ++c) queue(c);
    const auto found =
        start_fits() && settle() ? search(most_contradictions) : SearchResult::kNoExecution;
    if (budget_.exceeded() || found == SearchResult::kGaveUp) return std::nullopt;
    Decision decision;
    decision.decided_by = "members";
    if (found == SearchResult::kNoExecution) {
      if (in_order) return std::nullopt;
      decision.verdict = Verdict::kViolated;
      decision.violation = Violation{core(), {}};
      return decision;
    }
    auto seen = clocks();
    auto sorted = linear_order(h_, seen, {});
    if (!sorted) return std::nullopt;
    decision.verdict = Verdict::kSatisfied;
    decision.witness = Witness{std::move(seen), std::move(*sorted)};
    return decision;
  }

 private:
  // The updates of an object on a replica, and the claims there, in its order; by place.
  struct Line {
    std::vector<Number> winners, losers;
    std::vector<Number> claims;
  };

  void prepare() {
    up_wins_ = type_.traits().membership->up_wins;
    claims_ = claims_of(h_);
    std::stable_sort(claims_.begin(), claims_.end(),
                     [](const Claim& a, const Claim& b) { return a.op < b.op; });
    lines_.resize(std::max(h_.elements.size(), h_.keys.size()) * width_);
    stamp_.assign(lines_.size() / width_, 0);
    first_claim_.assign(h_.ops.size() + 1, 0);
    for (Number c = 0; c < claims_.size(); ++c) {
      const Claim& claim = claims_[c];
      lines_[claim.element * width_ + h_.ops[claim.op].replica].claims.push_back(c);
      first_claim_[claim.op + 1] = c + 1;
    }
    for (std::size_t o = 1; o < first_claim_.size(); ++o)
      first_claim_[o] = std::max(first_claim_[o], first_claim_[o - 1]);
    for (const Operation& op : h_.ops) {
      if (is_read(op.kind)) continue;
      Line& l = lines_[object(op) * width_ + op.replica];
      (winner(op) ? l.winners : l.losers).push_back(op.seq);
    }
    queued_.assign(claims_.size(), false);
    offered_.assign(claims_.size(), false);
  }

  // Nothing from later in the file.
  void see_nothing_later() {
    std::vector<Number> before(width_, 0);
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      for (std::size_t j = 0; j < width_; ++j)
        most_[cell(id, j)] = std::min(most_[cell(id, j)], before[j]);
      ++before[h_.ops[id].replica];
    }
  }

  [[nodiscard]] std::uint32_t object(const Operation& op) const { return type_.object(op); }
  [[nodiscard]] bool winner(const Operation& op) const {
    return (op.kind == Kind::kUp) == up_wins_;
  }
  [[nodiscard]] const Line& of(std::uint32_t object, std::size_t replica) const {
    return lines_[object * width_ + replica];
  }

  // The last of these below `until`, the first not below `from`; kNone: there is none.
  static Number last_below(const std::vector<Number>& seqs, Number until) {
    const auto it = std::lower_bound(seqs.begin(), seqs.end(), until);
    return it == seqs.begin() ? kNone : *std::prev(it);
  }
  static Number first_from(const std::vector<Number>& seqs, Number from) {
    const auto it = std::lower_bound(seqs.begin(), seqs.end(), from);
    return it == seqs.end() ? kNone : *it;
  }
  // The first of these of `replica` whose bound for `of` is above.
  Number first_above(const std::vector<Number>& bounds, const std::vector<Number>& seqs,
                     std::size_t replica, std::size_t of, Number above) const {
    const std::size_t base = row(replica, of);
    const auto it = std::partition_point(seqs.begin(), seqs.end(),
                                         [&](Number s) { return bounds[base + s] <= above; });
    return it == seqs.end() ? kNone : *it;
  }
  [[nodiscard]] Number least(OpId op, std::size_t of) const { return least_[cell(op, of)]; }
  [[nodiscard]] Number most(OpId op, std::size_t of) const { return most_[cell(op, of)]; }
  [[nodiscard]] BoundIndex at(std::size_t replica, Number seq, std::size_t of) const {
    return {static_cast<Number>(replica), static_cast<Number>(of), seq};
  }

  void queue(Number claim) {
    if (queued_[claim]) return;
    queued_[claim] = true;
    queue_.push_back({claim, 0});
  }
  void unqueue(const Constraint& constraint) override { queued_[constraint.first] = false; }

  // Claims on the replica's operations of a stretch, of objects updated in [low, high) of `of`.
  void queue_seeing(const BoundIndex& at, Number begin, Number end, Number low, Number high) {
    const auto& ops = line(at.replica);
    if (high - low < end - begin) {
      for (Number s = low; s < high; ++s) {
        const Operation& update = h_.ops[line(at.of)[s]];
        if (is_read(update.kind)) continue;
        const auto& claims = of(object(update), at.replica).claims;
        auto c = std::partition_point(claims.begin(), claims.end(), [&](Number claim) {
          return h_.ops[claims_[claim].op].seq < begin;
        });
        for (; c != claims.end() && h_.ops[claims_[*c].op].seq < end; ++c) queue(*c);
      }
    } else {
      for (Number s = begin; s < end; ++s) {
        for (Number c = first_claim_[ops[s]]; c < first_claim_[ops[s] + 1]; ++c) queue(c);
      }
    }
  }
  // Claims of those that may have seen a loser of a stretch whose winners in [low, high) it
  // has newly seen, or can no longer have seen.
  void queue_losers(const BoundIndex& at, Number begin, Number end, Number low, Number high,
                    bool wins) {
    const auto& ops = line(at.replica);
    const auto queue_those = [&](std::uint32_t e, Number loser) {
      for (std::size_t k = 0; k < width_; ++k) {
        const auto& claims = of(e, k).claims;
        auto c = std::partition_point(claims.begin(), claims.end(), [&](Number claim) {
          return most(claims_[claim].op, at.replica) <= loser;
        });
        for (; c != claims.end(); ++c) {
          if (shows_winner(claims_[*c]) == wins) queue(*c);
        }
      }
    };
    if (high - low < end - begin) {
      for (Number s = low; s < high; ++s) {
        const Operation& update = h_.ops[line(at.of)[s]];
        if (is_read(update.kind) || !winner(update)) continue;
        const auto e = object(update);
        const Number loser = first_from(of(e, at.replica).losers, begin);
        if (loser != kNone && loser < end) queue_those(e, loser);
      }
    } else {
      ++epoch_;
      for (Number s = begin; s < end; ++s) {
        const Operation& update = h_.ops[ops[s]];
        if (is_read(update.kind) || winner(update)) continue;
        const auto e = object(update);
        if (stamp_[e] == epoch_) continue;
        stamp_[e] = epoch_;
        const Number w = first_from(of(e, at.of).winners, low);
        if (w != kNone && w < high) queue_those(e, s);
      }
    }
  }
  void on_raised(const BoundIndex& at, Number until, Number before, Number value) override {
    queue_seeing(at, at.seq, until, before, value);
    queue_losers(at, at.seq, until, before, value, true);
  }
  void on_lowered(const BoundIndex& at, Number begin, Number before, Number value) override {
    queue_seeing(at, begin, at.seq + 1, value, before);
    queue_losers(at, begin, at.seq + 1, value, before, false);
  }

  [[nodiscard]] bool shows_winner(const Claim& claim) const { return claim.returned == up_wins_; }

  // How many of `of` the losers of an object that it has certainly seen have certainly seen.
  struct Killed {
    Number count = 0;
    std::size_t replica = 0;
    Number loser = kNone;  // whose clock it is
  };
  [[nodiscard]] Killed killed(const Claim& claim, std::size_t j) const {
    Killed found;
    for (std::size_t k = 0; k < width_; ++k) {
      const Number d = last_below(of(claim.element, k).losers, least(claim.op, k));
      if (d == kNone) continue;
      const Number count = least_[row(k, j) + d];
      if (count > found.count) found = {count, k, d};
    }
    return found;
  }
  [[nodiscard]] bool any_loser(const Claim& claim) const {
    for (std::size_t k = 0; k < width_; ++k) {
      if (last_below(of(claim.element, k).losers, least(claim.op, k)) != kNone) return true;
    }
    return false;
  }

  // Is it so in the least clocks?
  [[nodiscard]] bool held(const Claim& claim) const {
    bool shows = false;
    for (std::size_t j = 0; j < width_ && !shows; ++j) {
      const Number a = last_below(of(claim.element, j).winners, least(claim.op, j));
      shows = a != kNone && killed(claim, j).count <= a;
    }
    if (up_wins_) return shows == claim.returned;
    return (!shows && any_loser(claim)) == claim.returned;
  }

  bool propagate(const Constraint& constraint) override {
    const Number c = constraint.first;
    if (++propagations_ % 256 == 0 && budget_.exceeded()) return false;
    const Claim& claim = claims_[c];
    if (!(shows_winner(claim) ? propagate_winner(c, claim) : propagate_loser(c, claim)))
      return false;
    if (!held(claim)) offer({claim.op, constraint});
    return true;
  }

  bool propagate_loser(Number c, const Claim& claim) {
    const OpId r = claim.op;
    const auto e = claim.element;
    if (claim.returned && !any_loser(claim)) {
      std::size_t only = width_, options = 0;
      Number why = kGiven;
      for (std::size_t k = 0; k < width_; ++k) {
        if (last_below(of(e, k).losers, most(r, k)) != kNone) {
          ++options;
          only = k;
        } else {
          why = reason(why, why_most_[cell(r, k)]);
        }
      }
      if (options == 0) {
        contradiction_ = {reason(why, kGiven, {c, 0}), kGiven};
        return false;
      }
      if (options == 1 &&
          !raise(index(r, only), of(e, only).losers.front() + 1, why, kGiven, {c, 0}))
        return false;
    }
    for (std::size_t j = 0; j < width_; ++j) {
      const auto& winners = of(e, j).winners;
      if (winners.empty() || winners.front() >= most(r, j)) continue;
      // What no loser that it may have seen can have seen it has not.
      const auto reach = [&](std::size_t k) -> std::pair<Number, Number> {
        const Number d = last_below(of(e, k).losers, most(r, k));
        return {d, d == kNone ? 0 : most_[row(k, j) + d]};
      };
      const auto beyond_reach = [&](std::size_t k, Number why) {
        if (of(e, k).losers.empty()) return why;
        const Number d = reach(k).first;
        why = reason(why, why_most_[cell(r, k)]);
        return d == kNone ? why : reason(why, why_most_[row(k, j) + d]);
      };
      Number farthest = 0;
      for (std::size_t k = 0; k < width_; ++k) farthest = std::max(farthest, reach(k).second);
      if (const Number w = first_from(winners, farthest); w != kNone && w < most(r, j)) {
        Number why = kGiven;
        for (std::size_t k = 0; k < width_; ++k) why = beyond_reach(k, why);
        if (!lower(index(r, j), w, why, kGiven, {c, 0})) return false;
      }
      const Number a = last_below(winners, least(r, j));
      if (a == kNone || killed(claim, j).count > a) continue;
      std::size_t only = width_, options = 0;
      for (std::size_t k = 0; k < width_; ++k) {
        if (reach(k).second <= a) continue;
        ++options;
        only = k;
      }
      if (options != 1) continue;  // not none, or the most had contradicted the least
      Number why = why_least_[cell(r, j)];
      for (std::size_t k = 0; k < width_; ++k) {
        if (k != only) why = beyond_reach(k, why);
      }
      const Number last = reach(only).first;
      const auto& losers = of(e, only).losers;
      const Number first = first_above(most_, losers, only, j, a);
      Number why_first = why;
      if (const Number d = last_below(losers, first); d != kNone)
        why_first = reason(why, why_most_[row(only, j) + d]);
      const Number why_last = reason(why, why_most_[cell(r, only)]);
      if (!raise(index(r, only), first + 1, why_first, kGiven, {c, 0})) return false;
      if (!raise(at(only, last, j), a + 1, why_last, kGiven, {c, 0})) return false;
    }
    return true;
  }

  bool propagate_winner(Number c, const Claim& claim) {
    const OpId r = claim.op;
    const auto e = claim.element;
    const bool may_be_nothing = !claim.returned && !any_loser(claim);
    std::size_t only = width_, options = 0;
    for (std::size_t j = 0; j < width_; ++j) {
      const Number a = last_below(of(e, j).winners, most(r, j));
      if (a == kNone || killed(claim, j).count > a) continue;
      ++options;
      only = j;
    }
    if (options + (may_be_nothing ? 1 : 0) > 1) return true;
    // Why not the others.
    Number why = kGiven;
    for (std::size_t j = 0; j < width_; ++j) {
      if (j == only || of(e, j).winners.empty()) continue;
      why = reason(why, why_most_[cell(r, j)]);
      if (last_below(of(e, j).winners, most(r, j)) == kNone) continue;
      const Killed k = killed(claim, j);
      why = reason(why, why_least_[cell(r, k.replica)]);
      why = reason(why, why_least_[row(k.replica, j) + k.loser]);
    }
    if (may_be_nothing) {
      for (std::size_t k = 0; k < width_; ++k) {
        const auto& losers = of(e, k).losers;
        if (!losers.empty() && !lower(index(r, k), losers.front(), why, kGiven, {c, 0}))
          return false;
      }
      return true;
    }
    if (!claim.returned) {
      for (std::size_t k = 0; k < width_; ++k) {
        if (last_below(of(e, k).losers, least(r, k)) == kNone) continue;
        why = reason(why, why_least_[cell(r, k)]);
        break;
      }
    }
    if (options == 0) {
      contradiction_ = {reason(why, kGiven, {c, 0}), kGiven};
      return false;
    }
    const auto& winners = of(e, only).winners;
    const Killed before = killed(claim, only);
    Number why_first = why;
    if (before.loser != kNone) {
      why_first = reason(why_first, why_least_[cell(r, before.replica)]);
      why_first = reason(why_first, why_least_[row(before.replica, only) + before.loser]);
    }
    const Number first = first_from(winners, before.count);
    if (!raise(index(r, only), first + 1, why_first, kGiven, {c, 0})) return false;
    const Number last = last_below(winners, most(r, only));
    const Number why_last = reason(why, why_most_[cell(r, only)]);
    for (std::size_t k = 0; k < width_; ++k) {
      const auto& losers = of(e, k).losers;
      if (const Number d = last_below(losers, least(r, k)); d != kNone) {
        if (!lower(at(k, d, only), last, why_last, why_least_[cell(r, k)], {c, 0})) return false;
      }
      const Number d = first_above(least_, losers, k, only, last);
      if (d != kNone && !lower(index(r, k), d, why_last, why_least_[row(k, only) + d], {c, 0}))
        return false;
    }
    return true;
  }

  void offer(const OpenChoice& open) override {
    if (offered_[open.constraint.first]) return;
    offered_[open.constraint.first] = true;
    open_.push(open);
  }

  // How much is new to a replica that has seen `to` if it sees the operation too.
  [[nodiscard]] double brings(OpId what, OpId to) const {
    double more = 0;
    for (std::size_t j = 0; j < width_; ++j) {
      const Number past = j == h_.ops[what].replica ? h_.ops[what].seq + 1 : least(what, j);
      const Number mine = least(to, j);
      more += past > mine ? past - mine : 0;
    }
    return what > to ? more + 1e6 : more;
  }

  bool choose() override {
    while (true) {
      if (open_.empty()) {
        bool all = true;
        for (Number c = 0; c < claims_.size(); ++c) {
          if (held(claims_[c])) continue;
          all = false;
          offer({claims_[c].op, {c, 0}});
        }
        if (all) return false;
      }
      const OpenChoice open = open_.top();
      open_.pop();
      const Number c = open.constraint.first;
      offered_[c] = false;
      const Claim& claim = claims_[c];
      if (held(claim)) {
        pass(open);
        continue;
      }
      best_ = {};
      if (shows_winner(claim))
        find_winner(claim);
      else
        find_losers(claim);
      if (!best_.found) {
        queue(c);  // propagate() finds the reason
        open_.push(open);
        offered_[c] = true;
        return true;
      }
      choose_least(open, best_.place, best_.value);
      return true;
    }
  }

  struct Best {
    bool found = false;
    double cost = 0;
    BoundIndex place = {};
    Number value = 0;
  };
  void consider(double cost, const BoundIndex& place, Number value) {
    if (!best_.found || cost < best_.cost) best_ = {true, cost, place, value};
  }

  void find_winner(const Claim& claim) {
    const OpId r = claim.op;
    for (std::size_t j = 0; j < width_; ++j) {
      const Number from = std::max(killed(claim, j).count, least(r, j));
      const Number a = first_from(of(claim.element, j).winners, from);
      if (a != kNone && a < most(r, j)) consider(brings(line(j)[a], r), index(r, j), a + 1);
    }
  }

  void find_losers(const Claim& claim) {
    const OpId r = claim.op;
    const auto e = claim.element;
    if (claim.returned && !any_loser(claim)) {
      for (std::size_t k = 0; k < width_; ++k) {
        const auto& losers = of(e, k).losers;
        if (!losers.empty() && losers.front() < most(r, k))
          consider(brings(line(k)[losers.front()], r), index(r, k), losers.front() + 1);
      }
      return;
    }
    for (std::size_t j = 0; j < width_; ++j) {
      const Number a = last_below(of(e, j).winners, least(r, j));
      if (a == kNone || killed(claim, j).count > a) continue;
      const OpId winner = line(j)[a];
      for (std::size_t k = 0; k < width_; ++k) {
        const auto& losers = of(e, k).losers;
        const Number possible = first_above(most_, losers, k, j, a);
        if (possible == kNone || possible >= most(r, k)) continue;
        if (const Number d = last_below(losers, least(r, k)); d != kNone && d >= possible)
          consider(brings(winner, line(k)[d]), at(k, d, j), a + 1);
        if (const Number d = first_above(least_, losers, k, j, a); d != kNone && d < most(r, k))
          consider(brings(line(k)[d], r), index(r, k), d + 1);
        if (const Number d = first_from(losers, std::max(least(r, k), possible));
            d != kNone && d < most(r, k) && least_[row(k, j) + d] <= a)
          consider(brings(winner, line(k)[d]) + brings(line(k)[d], r), at(k, d, j), a + 1);
      }
      return;
    }
  }

  // The claims that the last contradiction rests on.
  Core core() {
    Core found;
    std::vector<bool> objects(lines_.size() / width_, false);
    for (const Axiom& axiom : conflict_of(contradiction_).axioms) {
      found.ops.push_back(claims_[axiom.first].op);
      objects[claims_[axiom.first].element] = true;
    }
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      const Operation& op = h_.ops[id];
      if (!is_read(op.kind) && objects[object(op)]) found.ops.push_back(id);
    }
    std::sort(found.ops.begin(), found.ops.end());
    found.ops.erase(std::unique(found.ops.begin(), found.ops.end()), found.ops.end());
    for (std::uint32_t e = 0; type_.traits().objects_are_elements && e < objects.size(); ++e) {
      if (objects[e]) found.elements.push_back(e);
    }
    return found;
  }

  const ReplicatedType& type_;
  bool up_wins_ = true;
  std::vector<Claim> claims_;         // in the order of the file
  std::vector<Number> first_claim_;   // by operation, and after the last
  std::vector<Line> lines_;           // by object and replica
  std::vector<std::uint64_t> stamp_;  // by object: queued in epoch_
  std::uint64_t epoch_ = 0;
  std::size_t propagations_ = 0;
  Best best_;
  std::vector<bool> queued_, offered_;
  std::priority_queue<OpenChoice, std::vector<OpenChoice>, std::greater<>> open_;
};

}  // namespace

std::optional<Decision> decide_element_constraints(const History& history, base::Budget& budget,
                                                   bool in_order, std::size_t most_contradictions) {
  return ElementConstraints(history, budget).decide(in_order, most_contradictions);
}

}  // namespace cupel::crdt
