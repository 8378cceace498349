// Counters: a read returns the sum of the increments and decrements that its replica has seen.
//
// - A resettable counter has resets. A reset undoes the updates that it had seen: concurrent ones
//   stay (Weidner and Almeida: An Oblivious Observed-Reset Embeddable Replicated Counter, PaPoC
//   2022).
// - A bounded counter is never below 0: a replica decrements only what it has incremented itself
//   (Shapiro et al. 2011, 3.1.4; Balegas et al.: Extending Eventually Consistent Cloud Databases
//   for Enforcing Numeric Invariants, SRDS 2015, where replicas give each other rights).
//
// In SAT the value of a read is a sum over replicas, with a variable for each partial sum that can
// still give the right total. Cost: for each read, the updates of its key times the sums. Of a
// resettable counter any part of the updates may count, so there can be as many sums as the
// greatest of them; with more than 10,000 for a key, no more is encoded and the result is unknown.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "crdt/explain/context_explainer.hpp"
#include "crdt/explain/read_explainer.hpp"
#include "crdt/solve/context.hpp"
#include "crdt/solve/encoder.hpp"
#include "crdt/workload/simulated_replica.hpp"

namespace cupel::crdt {

namespace {

// The sums that a read may return, replica by replica.
class SumEncoding {
 public:
  SumEncoding(Encoder& encoder, OpId read)
      : encoder_(encoder),
        h_(encoder.history()),
        read_(read),
        amount_(h_.ops[read].amount),
        levels_(encoder.replicas()) {}

  // False: the budget is spent.
  bool encode() {
    collect_levels();
    collect_reachable();
    std::map<std::int64_t, Literal> sums{{own_, encoder_.always()}};
    if (own_ + least_[0] > amount_ || own_ + most_[0] < amount_) {
      encoder_.clause({});
      return true;
    }
    for (std::size_t p = 0; p < others_.size(); ++p) {
      if (!add_replica(p, sums)) return false;
    }
    return true;
  }

 private:
  // Seen at least, and their sum.
  using Levels = std::vector<std::pair<std::uint32_t, std::int64_t>>;

  void collect_levels() {
    const Operation& op = h_.ops[read_];
    for (const OpId u : encoder_.updates_of(op.key)) {
      const Operation& update = h_.ops[u];
      if (update.replica == op.replica) {
        if (encoder_.place(u) < encoder_.own(read_)) own_ += update.amount;
        continue;
      }
      Levels& of_replica = levels_[update.replica];
      if (of_replica.empty()) of_replica.emplace_back(0, 0);
      of_replica.emplace_back(encoder_.place(u) + 1, of_replica.back().second + update.amount);
    }
    for (std::size_t j = 0; j < levels_.size(); ++j) {
      if (!levels_[j].empty()) others_.push_back(j);
    }
  }

  // What the replicas from each on can add.
  void collect_reachable() {
    least_.assign(others_.size() + 1, 0);
    most_.assign(others_.size() + 1, 0);
    for (std::size_t p = others_.size(); p-- > 0;) {
      const Levels& of_replica = levels_[others_[p]];
      const auto [low, high] =
          std::minmax_element(of_replica.begin(), of_replica.end(),
                              [](const auto& a, const auto& b) { return a.second < b.second; });
      least_[p] = least_[p + 1] + low->second;
      most_[p] = most_[p + 1] + high->second;
    }
  }

  bool add_replica(std::size_t p, std::map<std::int64_t, Literal>& sums) {
    std::map<std::int64_t, Literal> next;
    const std::size_t replica = others_[p];
    const Levels& of_replica = levels_[replica];
    for (const auto& [sum, state] : sums) {
      for (std::size_t q = 0; q < of_replica.size(); ++q) {
        if (encoder_.too_much()) return false;
        const std::int64_t then = sum + of_replica[q].second;
        Clause one{-state, -encoder_.at_least(read_, replica, of_replica[q].first)};
        if (q + 1 < of_replica.size())
          one.push_back(encoder_.at_least(read_, replica, of_replica[q + 1].first));
        if (then + least_[p + 1] <= amount_ && amount_ <= then + most_[p + 1]) {
          auto& v = next[then];
          if (v == 0) v = p + 1 == others_.size() ? encoder_.always() : encoder_.new_variable();
          one.push_back(v);
        }
        encoder_.clause(one);
      }
    }
    sums = std::move(next);
    return true;
  }

  Encoder& encoder_;
  const History& h_;
  const OpId read_;
  const std::int64_t amount_;
  std::int64_t own_ = 0;  // the sum of its own replica's updates
  std::vector<Levels> levels_;
  std::vector<std::size_t> others_;
  std::vector<std::int64_t> least_, most_;
};

// The sum of the updates that a read has seen and no reset that it has seen: the sums so far, one
// variable for each, update by update.
class ResettableEncoding {
 public:
  ResettableEncoding(Encoder& encoder, OpId read, std::size_t& room)
      : encoder_(encoder), h_(encoder.history()), read_(read), room_(room) {}

  // False: the budget is spent, or there are too many sums.
  bool encode() {
    std::map<std::int64_t, Literal> sums{{0, encoder_.always()}};
    const auto& updates = encoder_.updates_of(h_.ops[read_].key);
    for (const OpId u : updates) {
      if (h_.ops[u].kind == Kind::kReset) continue;
      const Literal counts = counting(u, updates);
      if (counts == encoder_.never()) continue;
      std::map<std::int64_t, Literal> next;
      for (const auto& [sum, state] : sums) {
        if (encoder_.too_much() || room_ == 0) return false;
        --room_;
        add(next, sum, {-state, counts});
        add(next, sum + h_.ops[u].amount, {-state, -counts});
      }
      sums = std::move(next);
    }
    for (const auto& [sum, state] : sums) {
      if (sum != h_.ops[read_].amount) encoder_.clause({-state});
    }
    return true;
  }

 private:
  void add(std::map<std::int64_t, Literal>& sums, std::int64_t sum, Clause unless) {
    auto& state = sums[sum];
    if (state == 0) state = encoder_.new_variable();
    unless.push_back(state);
    encoder_.clause(unless);
  }

  // Seen, and by no reset that is seen, both ways.
  Literal counting(OpId update, const std::vector<OpId>& updates) {
    const Literal seen = encoder_.seen(read_, update);
    if (seen == encoder_.never()) return seen;
    const Literal counts = encoder_.new_variable();
    Clause otherwise{counts, -seen};
    encoder_.clause({-counts, seen});
    for (const OpId r : updates) {
      if (h_.ops[r].kind != Kind::kReset) continue;
      const Literal undone = encoder_.both(encoder_.seen(read_, r), encoder_.seen(r, update));
      if (undone == encoder_.never()) continue;
      otherwise.push_back(undone);
      encoder_.clause({-counts, -encoder_.seen(read_, r), -encoder_.seen(r, update)});
    }
    encoder_.clause(otherwise);
    return counts;
  }

  Encoder& encoder_;
  const History& h_;
  const OpId read_;
  std::size_t& room_;
};

class CounterReplica final : public SimulatedReplica {
 public:
  CounterReplica(const History& history, std::string_view bug, std::uint32_t self)
      : SimulatedReplica(history, self), loses_(!bug.empty()) {}

  void answer(Operation& read, std::vector<std::uint32_t>& /*list*/) override {
    read.amount = at(sums_, read.key);
  }

 private:
  void change(const Update& update, base::Random& random) override {
    std::int64_t& sum = at(sums_, update.op.key);
    if (loses_ && is_remote(update) && random.chance(0.1)) return;
    sum += update.op.amount;
  }

  const bool loses_;
  std::vector<std::int64_t> sums_;
};

// It keeps the updates that no reset has undone.
class ResettableReplica final : public SimulatedReplica {
 public:
  ResettableReplica(const History& history, std::string_view bug, std::uint32_t self)
      : SimulatedReplica(history, self), has_bug_(!bug.empty()) {}

  void answer(Operation& read, std::vector<std::uint32_t>& /*list*/) override {
    read.amount = 0;
    for (const OpId u : at(standing_, read.key)) read.amount += h_.ops[u].amount;
  }

 private:
  void observe(Update& update) override {
    if (update.op.kind != Kind::kReset) return;
    update.observed = at(standing_, update.op.key);
    std::sort(update.observed.begin(), update.observed.end());
  }

  void change(const Update& update, base::Random& /*random*/) override {
    auto& standing = at(standing_, update.op.key);
    if (update.op.kind == Kind::kInc) {
      standing.push_back(update.id);
      return;
    }
    if (has_bug_) standing.clear();
    std::erase_if(standing, [&](OpId u) {
      return std::binary_search(update.observed.begin(), update.observed.end(), u);
    });
  }

  const bool has_bug_;
  std::vector<std::vector<OpId>> standing_;  // by key
};

// It decrements what it has incremented itself.
class BoundedReplica final : public SimulatedReplica {
 public:
  BoundedReplica(const History& history, std::string_view bug, std::uint32_t self)
      : SimulatedReplica(history, self), has_bug_(!bug.empty()) {}

  void answer(Operation& read, std::vector<std::uint32_t>& /*list*/) override {
    read.amount = at(all_, read.key);
  }
  [[nodiscard]] bool accepts(const Operation& op) override {
    // The bug: it takes what others have incremented, and others may take, too.
    return op.amount + at(has_bug_ ? all_ : own_, op.key) >= 0;
  }

 private:
  void change(const Update& update, base::Random& /*random*/) override {
    at(all_, update.op.key) += update.op.amount;
    if (!is_remote(update)) at(own_, update.op.key) += update.op.amount;
  }

  const bool has_bug_;
  std::vector<std::int64_t> all_, own_;  // by key: the sum
};

enum class CounterKind : std::uint8_t { kPlain, kResettable, kBounded };

TypeTraits traits_of(CounterKind kind, std::vector<TypeName> names, TypeBug bug) {
  TypeTraits traits{
      .names = std::move(names),
      .whole_read = Kind::kValue,
      .bugs = {bug},
      .injected = {"loses-update", "applies-again"},
      .sums = kind != CounterKind::kResettable,
      .calls = {{"inc", Kind::kInc, Argument::kIncrease},
                {"dec",
                 Kind::kInc,
                 Argument::kDecrease,
                 Answer::kAbsent,
                 {},
                 "found a dec of a grow-only counter"},
                {"read", Kind::kValue, Argument::kAbsent, Answer::kSum}},
      .methods = "inc, dec or read of a counter",
      .decide_context = kind == CounterKind::kBounded ? decide_known_bounded_sum : decide_known_sum,
      .simulate = kind == CounterKind::kBounded ? simulate_by<BoundedReplica>
                                                : simulate_by<CounterReplica>};
  if (kind == CounterKind::kResettable) {
    traits.injected.emplace_back("reorders-updates");
    traits.calls.insert(traits.calls.begin(), {"reset", Kind::kReset});
    traits.methods = "inc, dec, reset or read of a counter";
    traits.decide_context = decide_known_resettable_sum;
    traits.simulate = simulate_by<ResettableReplica>;
  }
  return traits;
}

class Counter final : public ReplicatedType {
 public:
  Counter(CounterKind kind, std::vector<TypeName> names, TypeBug bug)
      : ReplicatedType(traits_of(kind, std::move(names), bug)), kind_(kind) {}

  void choose(RequestChoice& choice) const override {
    if (choice.read) return;
    if (kind_ == CounterKind::kResettable && choice.random.chance(0.1)) {
      choice.op.kind = Kind::kReset;
      return;
    }
    if (kind_ == CounterKind::kBounded && !choice.down) choice.down = choice.random.chance(0.4);
    choice.op.kind = Kind::kInc;
    choice.op.amount = choice.random.between(1, 3) * (choice.down ? -1 : 1);
  }

  // A read below 0 is wrong by itself. One of a resettable counter is, if all increments of its key
  // are less, or all decrements more, whatever was reset.
  std::optional<Decision> decide_quickly(const History& history, const Axioms& /*axioms*/,
                                         base::Budget& /*budget*/,
                                         Effort /*effort*/) const override {
    const auto sums = all_sums(history);
    for (OpId id = 0; id < history.ops.size(); ++id) {
      const Operation& read = history.ops[id];
      Core core{.ops = {id}, .elements = {}};
      if (kind_ == CounterKind::kResettable && is_out_of_bounds(read, sums)) {
        core.ops.clear();
        for (OpId u = 0; u < history.ops.size(); ++u) {
          const Operation& op = history.ops[u];
          const bool same = op.amount != 0 && (op.amount > 0) == (read.amount > 0);
          if (u == id || (!is_read(op.kind) && op.key == read.key && same)) core.ops.push_back(u);
        }
      } else if (!is_below_bound(read)) {
        continue;
      }
      return Decision{.verdict = Verdict::kViolated,
                      .decided_by = "bound",
                      .violation = Violation{.core = std::move(core), .cycle = {}}};
    }
    return std::nullopt;
  }

  [[nodiscard]] bool update_may_go(const Operation& update,
                                   const ReadClaims& claims) const override {
    return kind_ == CounterKind::kBounded && claims.returned_below_zero(update.key);
  }

  bool encode(Encoder& encoder) const override {
    // Sums of a resettable counter, by key: with more, SAT does not end.
    std::vector<std::size_t> room(encoder.history().keys.size(), 10'000);
    for (const OpId id : encoder.nodes()) {
      if (encoder.budget_exceeded()) return false;
      const Operation& op = encoder.history().ops[id];
      if (encoder.is_probed(id) || op.kind != Kind::kValue) continue;
      if (is_below_bound(op)) encoder.clause({});
      if (kind_ == CounterKind::kResettable
              ? !ResettableEncoding(encoder, id, room[op.key]).encode()
              : !SumEncoding(encoder, id).encode())
        return false;
    }
    return true;
  }

  void explain_read(ReadExplainer& explainer) const override {
    if (is_below_bound(explainer.read())) {
      explainer.report("below-zero", explainer.text());
      return;
    }
    if (kind_ == CounterKind::kResettable) {
      const auto sums = all_sums(explainer.history());
      if (is_out_of_bounds(explainer.read(), sums)) {
        const auto [least, most] = sums[explainer.read().key];
        const bool above = explainer.read().amount > most;
        explainer.report(above ? "increment-out-of-nothing" : "impossible-value",
                         fmt::format("{}, but all {} add up to {}", explainer.text(),
                                     above ? "increments" : "decrements", above ? most : least));
        return;
      }
      explainer.report("impossible-value",
                       fmt::format("{}, but no updates and resets that it can have seen give that",
                                   explainer.text()));
      return;
    }
    const History& h = explainer.history();
    const auto amount = explainer.read().amount;
    const auto [least, most] = bounds(explainer);
    const std::string why =
        least == most    ? fmt::format("what it has seen adds up to {}", least)
        : amount < least ? fmt::format("what it has seen adds up to {} at least", least)
        : amount > most  ? fmt::format("what it can have seen adds up to {} at most", most)
                         : std::string("no updates that it can have seen together add up to that");
    const auto report = [&](OpId u, const char* how, const char* effect) {
      explainer.report(fmt::format("{}-{}", how, h.ops[u].amount < 0 ? "decrement" : "increment"),
                       fmt::format("{}, but {}; it would be right if {} {}", explainer.text(), why,
                                   with_replica(h, u), effect));
    };
    if (const OpId lost = would_explain(explainer, -1); lost != kNone) {
      report(lost, "lost", "had not been seen");
    } else if (const OpId twice = would_explain(explainer, 1); twice != kNone) {
      report(twice, "doubled", "had counted twice");
    } else {
      explainer.report(amount < least  ? "lost-increment"
                       : amount > most ? "increment-out-of-nothing"
                                       : "impossible-value",
                       fmt::format("{}, but {}", explainer.text(), why));
    }
  }

  void explain_received(ContextExplainer& explainer) const override {
    const History& h = explainer.history();
    const auto now = what_counts(explainer, [](OpId) { return true; });
    const auto [updates_shown, difference, claim] = what_shows(explainer, now);
    const auto& shown = updates_shown;  // a lambda cannot capture it by the other name
    if (difference == 0) {
      explainer.report("below-zero", claim, shown);
      return;
    }
    // Best one that came since the read before.
    const auto with = [&](const std::vector<OpId>& updates, std::int64_t amount) {
      for (const bool recent : {true, false}) {
        for (const OpId u : updates) {
          if (h.ops[u].amount == amount &&
              std::binary_search(shown.begin(), shown.end(), u) == recent)
            return u;
        }
      }
      return kNone;
    };
    const auto named = [&](const char* how, OpId u) {
      return fmt::format("{}-{}", how, h.ops[u].amount < 0 ? "decrement" : "increment");
    };
    const auto beside = [&](OpId u) {
      std::vector<OpId> operations = shown;
      operations.push_back(u);
      return operations;
    };
    const auto again = explainer.received_again();
    if (const OpId twice = with(again, difference); twice != kNone) {
      explainer.report(named("doubled", twice),
                       fmt::format("{}; it would be right if {}, which it had received more than "
                                   "once, had counted twice",
                                   claim, explainer.text(twice)),
                       beside(twice));
    } else if (const OpId lost = with(now.standing, -difference); lost != kNone) {
      explainer.report(named("lost", lost),
                       fmt::format("{}; it would be right without {}", claim, explainer.text(lost)),
                       beside(lost));
    } else if (const OpId counted = with(now.standing, difference); counted != kNone) {
      explainer.report(named("doubled", counted),
                       fmt::format("{}; it would be right if {} had counted twice", claim,
                                   explainer.text(counted)),
                       beside(counted));
    } else if (const OpId back = with(now.undone, difference); back != kNone) {
      std::vector<OpId> operations = now.resets;
      operations.push_back(back);
      explainer.report(
          "lost-reset",
          fmt::format("{}; it would be right if {} were not undone", claim, explainer.text(back)),
          operations);
    } else if (const OpId early = with(explainer.not_visible(Kind::kInc), difference);
               early != kNone) {
      explainer.report("not-received",
                       fmt::format("{}; it would be right with {}, which it had not received",
                                   claim, explainer.text(early)),
                       {early});
    } else {
      explainer.report("impossible-value", claim, shown);
    }
  }

 private:
  // What of the updates that a read had received, as far as they are wanted, gives its value.
  struct Counted {
    std::vector<OpId> standing, undone;
    std::vector<OpId> resets;  // the last of each replica: it had seen what its earlier ones had
    std::int64_t sum = 0;
  };
  template <typename Wanted>
  static Counted what_counts(const ContextExplainer& explainer, Wanted wanted) {
    const History& h = explainer.history();
    Counted counted;
    std::map<std::uint32_t, OpId> last_resets;
    for (const OpId r : explainer.visible(Kind::kReset)) {
      if (!wanted(r)) continue;
      OpId& last = last_resets.try_emplace(h.ops[r].replica, r).first->second;
      if (h.ops[last].seq < h.ops[r].seq) last = r;
    }
    for (const auto& [replica, reset] : last_resets) counted.resets.push_back(reset);
    for (const OpId u : explainer.visible(Kind::kInc)) {
      if (!wanted(u)) continue;
      const bool gone = std::any_of(counted.resets.begin(), counted.resets.end(),
                                    [&](OpId r) { return explainer.sees(r, u); });
      (gone ? counted.undone : counted.standing).push_back(u);
      if (!gone) counted.sum += h.ops[u].amount;
    }
    return counted;
  }

  // The operations that show a wrong sum: the updates; or the read before, and what came since and
  // changes it, if that is fewer, or if that read was wrong, too.
  struct Shown {
    std::vector<OpId> operations;
    std::int64_t difference;
    std::string claim;
  };
  static Shown what_shows(ContextExplainer& explainer, const Counted& now) {
    const auto returned = explainer.read().amount;
    Shown shown{
        now.standing, returned - now.sum,
        fmt::format("{} returned {}; what it had received{} adds up to {}", explainer.where(),
                    returned, now.resets.empty() ? "" : " and no reset undoes", now.sum)};
    const OpId before = explainer.previous_read();
    if (before == kNone) return shown;
    const auto then =
        what_counts(explainer, [&](OpId update) { return explainer.sees(before, update); });
    const auto excess = explainer.history().ops[before].amount - then.sum;
    std::vector<OpId> since = {before};
    std::set_symmetric_difference(now.standing.begin(), now.standing.end(), then.standing.begin(),
                                  then.standing.end(), std::back_inserter(since));
    for (const OpId reset : now.resets) {
      if (!explainer.sees(before, reset)) since.push_back(reset);
    }
    if (excess == 0 && since.size() >= now.standing.size()) return shown;
    std::sort(since.begin(), since.end());
    shown.operations = std::move(since);
    shown.difference -= excess;
    const auto change =
        fmt::format("{} returned {}, and what it had received since changes it by {}",
                    explainer.where(before), then.sum + excess, now.sum - then.sum);
    if (excess == 0)
      explainer.because(change);
    else
      shown.claim = fmt::format("{} returned {}; {}", explainer.where(), returned, change);
    return shown;
  }

  [[nodiscard]] bool is_below_bound(const Operation& op) const {
    return kind_ == CounterKind::kBounded && op.kind == Kind::kValue && op.amount < 0;
  }

  // By key: of all decrements, and of all increments.
  using Sums = std::vector<std::pair<std::int64_t, std::int64_t>>;
  static Sums all_sums(const History& history) {
    Sums sums(history.keys.size());
    for (const Operation& op : history.ops) {
      if (op.kind != Kind::kInc) continue;
      (op.amount < 0 ? sums[op.key].first : sums[op.key].second) += op.amount;
    }
    return sums;
  }
  static bool is_out_of_bounds(const Operation& op, const Sums& sums) {
    const auto& [least, most] = sums[op.key];
    return op.kind == Kind::kValue && (op.amount < least || op.amount > most);
  }

  // What the read must be at least and at most.
  static std::pair<std::int64_t, std::int64_t> bounds(const ReadExplainer& explainer) {
    const History& h = explainer.history();
    std::int64_t least = 0, most = 0;
    for (OpId u = 0; u < h.ops.size(); ++u) {
      if (!explainer.concerns(h.ops[u]) || explainer.cannot_see(u)) continue;
      const bool must = explainer.must_see(u);
      const auto amount = h.ops[u].amount;
      least += must || amount < 0 ? amount : 0;
      most += must || amount > 0 ? amount : 0;
    }
    return {least, most};
  }

  // Is there an execution if this one update had not counted, or twice, for the read?
  static OpId would_explain(const ReadExplainer& explainer, int times) {
    constexpr int kMostTries = 40;
    const History& h = explainer.history();
    int tries = 0;
    std::set<std::int64_t> tried;
    for (const bool must : {true, false}) {
      for (OpId u = 0; u < h.ops.size(); ++u) {
        const auto amount = h.ops[u].amount;
        if (!explainer.concerns(h.ops[u]) || explainer.must_see(u) != must || amount == 0) continue;
        if (!tried.insert(amount).second || ++tries > kMostTries) continue;
        History other = h;
        other.ops[explainer.id()].amount -= times * amount;
        if (explainer.would_be_right(other)) return u;
      }
    }
    return kNone;
  }

  const CounterKind kind_;
};

}  // namespace

const ReplicatedType& counter() {
  static const Counter type(
      CounterKind::kPlain,
      {{"counter"},
       {"replicated-counter"},
       {"pn-counter"},
       {"g-counter", true},
       {"grow-only-counter", true}},
      {"loses-increment", "now and then an update that arrives is not added"});
  return type;
}

const ReplicatedType& resettable_counter() {
  static const Counter type(CounterKind::kResettable, {{"resettable-counter"}},
                            {"reset-undoes-concurrent-increment",
                             "a reset that arrives also undoes increments that it has not seen"});
  return type;
}

const ReplicatedType& bounded_counter() {
  static const Counter type(
      CounterKind::kBounded, {{"bounded-counter"}},
      {"spends-rights-of-others",
       "a replica decrements what others have incremented and may decrement, too"});
  return type;
}

}  // namespace cupel::crdt
