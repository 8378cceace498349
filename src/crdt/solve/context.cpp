// Known context: see the header.
#include "crdt/solve/context.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "base/hash_table.hpp"
#include "crdt/model/replicated_type.hpp"
#include "crdt/solve/known_state.hpp"
#include "crdt/solve/list_order.hpp"
#include "crdt/solve/weak_list_order.hpp"

namespace cupel::crdt {

StepGraph known_order(const KnownContext& context) {
  const History& h = context.history;
  StepGraph graph(h);
  for (std::uint32_t r = 0; r < h.replicas.size(); ++r) {
    const auto arrivals = context.visibility.arrivals(r);
    std::vector<OpId> latest(h.replicas.size(), kNone);  // of those that arrive together
    std::vector<std::uint32_t> senders;
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      const auto place = context.visibility.since(r, arrivals[i]);
      const auto from = h.ops[arrivals[i]].replica;
      if (from != r) {
        if (latest[from] == kNone) senders.push_back(from);
        if (latest[from] == kNone || h.ops[latest[from]].seq < h.ops[arrivals[i]].seq)
          latest[from] = arrivals[i];
      }
      if (i + 1 < arrivals.size() && context.visibility.since(r, arrivals[i + 1]) == place)
        continue;
      for (const auto sender : senders) {
        if (place < h.by_replica[r].size())
          graph.add({latest[sender], h.by_replica[r][place], Why::kReceived});
        latest[sender] = kNone;
      }
      senders.clear();
    }
  }
  return graph;
}

ContextDecision decide_context(const KnownContext& context) {
  auto decision = replicated_type(context.history).traits().decide_context(context);
  if (context.budget.limit() != base::Limit::kNone) return {};
  if (decision.verdict == Verdict::kSatisfied && decision.order.empty())
    decision.order = context.visibility.order();
  return decision;
}

namespace {

// Which of the maximal writes a read returned is left open: a read of a value that several of them
// wrote.
struct LastWriteChoice {
  OpId read;
  std::vector<OpId> candidates, others;
};

class KnownLastWrite {
 public:
  explicit KnownLastWrite(const KnownContext& context)
      : context_(context), h_(context.history), graph_(known_order(context)) {}

  ContextDecision decide() {
    std::vector<MaximalUpdates> states;
    replay(
        context_,
        [&](std::uint32_t) {
          states.assign(h_.keys.size(), {});
          asked_.assign(h_.keys.size(), {});
        },
        [&](OpId write) { states[h_.ops[write].key].take(context_, write); },
        [&](OpId id) {
          if (context_.budget.exceeded()) return false;
          return h_.ops[id].kind != Kind::kValues || ask(id, states[h_.ops[id].key].updates());
        });
    if (wrong_.is_there()) return wrong_.decision();
    return order();
  }

 private:
  // The steps that a read asks for. False: it is wrong by itself.
  bool ask(OpId read, const std::vector<OpId>& maximal) {
    const Operation& op = h_.ops[read];
    const auto list = h_.list(op);
    std::vector<OpId> candidates, others;
    for (const OpId w : maximal) {
      const bool returned = !list.empty() && h_.ops[w].element == list[0];
      (returned ? candidates : others).push_back(w);
    }
    if (list.empty() ? !maximal.empty() : candidates.empty()) {
      wrong_.add(read, op.key);
      return false;
    }
    if (others.empty()) return true;
    if (candidates.size() > 1) {
      choices_.push_back({read, candidates, others});
      return true;
    }
    auto& before = asked_[op.key];
    if (before.first == candidates[0] && before.second == others) return true;
    prefer(read, candidates[0], others);
    before = {candidates[0], std::move(others)};
    return true;
  }

  void prefer(OpId read, OpId last, const std::vector<OpId>& others) {
    for (const OpId other : others) graph_.add({other, last, Why::kArbitrated, read});
  }

  ContextDecision order() {
    auto order = graph_.order();
    if (!order) {
      return {.verdict = Verdict::kViolated,
              .wrong = WrongRead{.read = kNone, .object = kNone, .cycle = graph_.cycle()}};
    }
    Conflict conflict;
    if (choose(*order, conflict)) {
      return {.verdict = Verdict::kSatisfied, .order = std::move(*order)};
    }
    if (context_.budget.limit() != base::Limit::kNone) return {};
    const auto& operations = conflict.operations;
    return {.verdict = Verdict::kViolated,
            .wrong = WrongRead{.operations = {operations.begin(), operations.end()}}};
  }

  // Why no choice of some reads fits: the reads that the cycles are about, and all operations.
  struct Conflict {
    std::set<OpId> reads, operations;
    void add(const Conflict& other) {
      reads.insert(other.reads.begin(), other.reads.end());
      operations.insert(other.operations.begin(), other.operations.end());
    }
  };

  [[nodiscard]] Conflict conflict_of_cycle() const {
    Conflict conflict;
    for (const Step& step : graph_.cycle()) {
      conflict.operations.insert({step.from, step.to});
      if (step.read == kNone) continue;
      conflict.reads.insert(step.read);
      conflict.operations.insert(step.read);
    }
    return conflict;
  }

  // A read that the order does not fulfil, by each of its candidates, the latest of the order
  // first; then the others. It leaves the order that fits. If a contradiction does not depend on
  // the read, no other candidate helps.
  bool choose(std::vector<OpId>& order, Conflict& conflict) {
    std::vector<std::uint32_t> place(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    const auto earlier = [&](OpId a, OpId b) { return place[a] < place[b]; };
    const auto latest = [&](const std::vector<OpId>& writes) {
      return *std::max_element(writes.begin(), writes.end(), earlier);
    };
    const auto open =
        std::find_if(choices_.begin(), choices_.end(), [&](const LastWriteChoice& choice) {
          return earlier(latest(choice.candidates), latest(choice.others));
        });
    if (open == choices_.end()) return true;
    auto candidates = open->candidates;
    std::sort(candidates.begin(), candidates.end(), earlier);
    for (auto c = candidates.rbegin(); c != candidates.rend(); ++c) {
      if (context_.budget.exceeded()) return false;
      const auto steps = graph_.steps().size();
      prefer(open->read, *c, open->others);
      Conflict one;
      if (auto next = graph_.order()) {
        if (choose(*next, one)) {
          order = std::move(*next);
          return true;
        }
      } else {
        one = conflict_of_cycle();
      }
      graph_.keep(steps);
      if (context_.budget.limit() != base::Limit::kNone) return false;
      if (!one.reads.contains(open->read)) {
        conflict = std::move(one);
        return false;
      }
      conflict.add(one);
    }
    conflict.operations.insert(open->read);
    return false;
  }

  const KnownContext& context_;
  const History& h_;
  StepGraph graph_;
  // By key, what the read before asked for: the last write, and those before it.
  std::vector<std::pair<OpId, std::vector<OpId>>> asked_;
  std::vector<LastWriteChoice> choices_;
  FirstWrong wrong_;
};

// Which characters a replica shows: added, and not removed.
class KnownCharacters {
 public:
  explicit KnownCharacters(const KnownContext& context)
      : context_(context),
        h_(context.history),
        added_(h_.elements.size(), false),
        removed_(h_.elements.size(), false),
        listed_(h_.elements.size(), kNone) {}

  ContextDecision decide() {
    const ElementsOfKeys elements(h_);
    replay_by_key(
        context_,
        [&](std::uint32_t key, std::uint32_t) {
          for (const auto e : elements.of(key)) added_[e] = removed_[e] = false;
          shown_ = 0;
        },
        [&](OpId update) {
          const Operation& op = h_.ops[update];
          if (op.kind == Kind::kMark) return;
          for (const auto e : h_.changed(op)) {
            const bool before = is_shown(e);
            (op.kind == Kind::kInsert ? added_ : removed_)[e] = true;
            const bool now = is_shown(e);
            if (now && !before) ++shown_;
            if (before && !now) --shown_;
          }
        },
        [&](OpId id) { return is_right(id); });
    return wrong_.decision();
  }

 private:
  [[nodiscard]] bool is_shown(std::uint32_t e) const { return added_[e] && !removed_[e]; }

  bool is_right(OpId id) {
    if (context_.budget.exceeded()) return false;
    const Operation& op = h_.ops[id];
    if (!is_read(op.kind)) {
      const auto named = op.kind == Kind::kInsert ? std::span(&op.parent, 1) : h_.changed(op);
      const auto unknown = std::find_if(named.begin(), named.end(),
                                        [&](std::uint32_t e) { return e != kNone && !added_[e]; });
      if (unknown == named.end()) return true;
      wrong_.add(id, *unknown);
      return false;
    }
    if (op.kind != Kind::kList) return true;
    std::size_t removed = 0;
    for (const auto e : h_.list(op)) {
      const bool twice = listed_[e] == id;
      listed_[e] = id;
      removed += is_shown(e) ? 0 : 1;
      const bool allowed = context_.axioms.strict ? added_[e] : is_shown(e);
      if (allowed && !twice) continue;
      wrong_.add(id, e);
      return false;
    }
    if (h_.list(op).size() - removed == shown_) return true;
    for (std::uint32_t e = 0; e < h_.elements.size(); ++e) {
      if (h_.elements[e].key != op.key || !is_shown(e) || listed_[e] == id) continue;
      wrong_.add(id, e);
      break;
    }
    return false;
  }

  const KnownContext& context_;
  const History& h_;
  std::vector<bool> added_, removed_;  // by element
  std::vector<OpId> listed_;           // by element: the last read that lists it
  std::size_t shown_ = 0;              // how many, of the key that is replayed
  FirstWrong wrong_;
};

// One counter at one replica. take() returns how many updates changed what counts.
class PlainSum {
 public:
  std::size_t take(const KnownContext& context, OpId update) {
    sum_ += context.history.ops[update].amount;
    return 1;
  }
  [[nodiscard]] std::int64_t sum() const { return sum_; }

 private:
  std::int64_t sum_ = 0;
};

// The same: the increments that no visible reset had seen.
class ResettableSum {
 public:
  std::size_t take(const KnownContext& context, OpId update) {
    const Operation& op = context.history.ops[update];
    const auto before = standing_.size();
    if (op.kind == Kind::kReset) {
      resets_.add(context.history, update);
      std::erase_if(standing_, [&](OpId u) {
        if (!context.visibility.sees(update, u)) return false;
        sum_ -= context.history.ops[u].amount;
        return true;
      });
    } else if (!resets_.saw(context.visibility, update)) {
      standing_.push_back(update);
      sum_ += op.amount;
    }
    return op.kind == Kind::kReset ? 1 + before - standing_.size() : 1;
  }
  [[nodiscard]] std::int64_t sum() const { return sum_; }

 private:
  std::vector<OpId> standing_;
  LatestOfEach resets_;
  std::int64_t sum_ = 0;
};

// A read that is wrong by another amount than the one before, on the same replica: of these the one
// between which fewest updates arrived, because few then show it. `least` holds for every read.
template <typename State>
ContextDecision decide_sum(const KnownContext& context,
                           std::int64_t least = std::numeric_limits<std::int64_t>::min()) {
  const History& h = context.history;
  struct Counter {
    State state;
    std::int64_t returned = 0, excess = 0;  // of the last read
    std::size_t changes = 0;                // since then
  };
  std::vector<Counter> counters;
  std::optional<WrongRead> wrong;
  std::pair<std::size_t, OpId> fewest;
  replay(
      context, [&](std::uint32_t) { counters.assign(h.keys.size(), {}); },
      [&](OpId update) {
        Counter& counter = counters[h.ops[update].key];
        counter.changes += counter.state.take(context, update);
      },
      [&](OpId id) {
        if (context.budget.exceeded()) return false;
        const Operation& op = h.ops[id];
        if (op.kind != Kind::kValue) return true;
        Counter& counter = counters[op.key];
        const auto excess = op.amount - counter.state.sum();
        const bool below = op.amount < least && counter.returned >= least;
        const std::pair size(counter.changes, id);
        if ((below || (excess != 0 && excess != counter.excess)) && (!wrong || size < fewest)) {
          wrong = WrongRead{.read = id, .object = op.key};
          fewest = size;
        }
        counter.returned = op.amount;
        counter.excess = excess;
        counter.changes = 0;
        return true;
      });
  if (wrong) return {.verdict = Verdict::kViolated, .wrong = std::move(wrong)};
  return {.verdict = Verdict::kSatisfied};
}

// Reads of registers that are right or wrong for the state of their key. `State` has take().
template <typename State, typename IsRight>
ContextDecision decide_by_state(const KnownContext& context, IsRight is_right) {
  const History& h = context.history;
  std::vector<State> states;
  FirstWrong wrong;
  replay(
      context, [&](std::uint32_t) { states.assign(h.keys.size(), {}); },
      [&](OpId update) { states[h.ops[update].key].take(context, update); },
      [&](OpId id) {
        if (context.budget.exceeded()) return false;
        const Operation& op = h.ops[id];
        if (op.kind != Kind::kValues || is_right(op, states[op.key])) return true;
        wrong.add(id, op.key);
        return false;
      });
  return wrong.decision();
}

// The greatest visible write of one register, at one replica.
class GreatestWrite {
 public:
  void take(const KnownContext& context, OpId write) {
    const auto& ops = context.history.ops;
    if (write_ == kNone || ops[write_].amount < ops[write].amount) write_ = write;
  }
  [[nodiscard]] OpId write() const { return write_; }

 private:
  OpId write_ = kNone;
};

}  // namespace

ContextDecision decide_known_sum(const KnownContext& context) {
  return decide_sum<PlainSum>(context);
}

ContextDecision decide_known_bounded_sum(const KnownContext& context) {
  return decide_sum<PlainSum>(context, 0);
}

ContextDecision decide_known_resettable_sum(const KnownContext& context) {
  return decide_sum<ResettableSum>(context);
}

ContextDecision decide_known_any_maximal(const KnownContext& context) {
  const History& h = context.history;
  return decide_by_state<MaximalUpdates>(
      context, [&](const Operation& read, const MaximalUpdates& state) {
        const auto list = h.list(read);
        if (list.empty()) return state.updates().empty();
        return std::any_of(state.updates().begin(), state.updates().end(),
                           [&](OpId w) { return h.ops[w].element == list[0]; });
      });
}

ContextDecision decide_known_greatest(const KnownContext& context) {
  const History& h = context.history;
  return decide_by_state<GreatestWrite>(
      context, [&](const Operation& read, const GreatestWrite& state) {
        const auto list = h.list(read);
        const OpId w = state.write();
        return w == kNone ? list.empty() : !list.empty() && h.ops[w].element == list[0];
      });
}

ContextDecision decide_known_siblings(const KnownContext& context) {
  const History& h = context.history;
  return decide_by_state<MaximalUpdates>(
      context, [&](const Operation& read, const MaximalUpdates& state) {
        std::vector<std::uint32_t> right;
        for (const OpId w : state.updates()) right.push_back(h.ops[w].element);
        std::sort(right.begin(), right.end());
        const auto list = h.list(read);
        std::vector<std::uint32_t> returned(list.begin(), list.end());
        std::sort(returned.begin(), returned.end());
        // No value more often than it was written.
        if (!std::includes(right.begin(), right.end(), returned.begin(), returned.end()))
          return false;
        const auto distinct = std::unique(right.begin(), right.end());
        const bool repeated = distinct != right.end();
        right.erase(distinct, right.end());
        returned.erase(std::unique(returned.begin(), returned.end()), returned.end());
        return returned == right && !(repeated && context.axioms.strict);
      });
}

ContextDecision decide_known_last_write(const KnownContext& context) {
  return KnownLastWrite(context).decide();
}

ContextDecision known_characters(const KnownContext& context) {
  const Axioms axioms;
  const KnownContext not_strict{context.history, context.visibility, axioms, context.budget};
  return KnownCharacters(not_strict).decide();
}

ContextDecision decide_known_list(const KnownContext& context) {
  auto content = known_characters(context);
  if (content.verdict != Verdict::kSatisfied) return content;
  auto order = order_of_list(context, /*certain=*/false);
  content.verdict = order.verdict;
  content.characters = std::move(order.characters);
  if (order.verdict == Verdict::kViolated)
    content.wrong =
        WrongRead{.cycle = std::move(order.cycle), .operations = std::move(order.operations)};
  return content;
}

ContextDecision decide_known_weak_list(const KnownContext& context) {
  auto strong = decide_known_list(context);
  const bool order_is_wrong = !strong.wrong || strong.wrong->read == kNone;
  if (strong.verdict == Verdict::kSatisfied || !order_is_wrong) return strong;
  auto weak = weak_order_of_list(context);
  ContextDecision decision{.verdict = weak.verdict, .pairs = std::move(weak.pairs)};
  if (weak.verdict == Verdict::kViolated)
    decision.wrong =
        WrongRead{.cycle = std::move(weak.cycle), .operations = std::move(weak.operations)};
  return decision;
}

ContextDecision decide_known_array(const KnownContext& context) {
  auto content = KnownCharacters(context).decide();
  if (content.verdict == Verdict::kViolated) return content;
  const auto asked = array_order(context.history, context.axioms);
  if (asked.impossible) {
    return {.verdict = Verdict::kViolated,
            .wrong = WrongRead{
                .read = asked.impossible->read, .object = asked.impossible->shown, .cycle = {}}};
  }
  StepGraph graph = known_order(context);
  for (const Step& step : asked.steps) graph.add(step);
  auto order = graph.order();
  if (order) return {.verdict = Verdict::kSatisfied, .order = std::move(*order)};
  return {.verdict = Verdict::kViolated,
          .wrong = WrongRead{.read = kNone, .object = kNone, .cycle = graph.cycle()}};
}

}  // namespace cupel::crdt
