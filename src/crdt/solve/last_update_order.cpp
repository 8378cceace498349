// Last update order: see the header. A deadlock of updates and reads that wait for each other says
// why there is none.
#include "crdt/solve/last_update_order.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "crdt/model/replicated_type.hpp"
#include "crdt/solve/object_orders.hpp"

namespace cupel::crdt {

namespace {

// Lists of numbers in one array: each pair is an item of the list of its first.
class Lists {
 public:
  Lists() = default;
  Lists(std::size_t count, std::span<const std::pair<std::uint32_t, std::uint32_t>> pairs)
      : begin_(count + 1, 0), items_(pairs.size()) {
    for (const auto& [of, item] : pairs) ++begin_[of + 1];
    for (std::size_t i = 0; i < count; ++i) begin_[i + 1] += begin_[i];
    auto next = begin_;
    for (const auto& [of, item] : pairs) items_[next[of]++] = item;
  }
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t list) const {
    return std::span(items_).subspan(begin_[list], begin_[list + 1] - begin_[list]);
  }

 private:
  std::vector<std::size_t> begin_;
  std::vector<std::uint32_t> items_;
};

class LastUpdateOrder {
 public:
  LastUpdateOrder(const KnownContext& context, const KeyEvents& events,
                  const LastUpdateClaims& claims, const ValueOfUpdate& value)
      : context_(context),
        events_(events),
        h_(context.history),
        type_(replicated_type(h_)),
        all_claims_(claims),
        claims_(claims.claims()),
        value_(value) {}

  ContextDecision order() {
    find_steps();
    std::vector<OpId> ready, placed;
    placed_.assign(h_.ops.size(), false);
    resolved_.assign(claims_.size(), false);
    std::size_t updates = 0;
    const auto offer = [&](OpId u) {
      if (waits_[u] == 0 && blocks_[u] == 0) ready.push_back(u);
    };
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      if (is_read(h_.ops[id].kind)) continue;
      ++updates;
      offer(id);
    }
    while (!ready.empty()) {
      const OpId u = ready.back();
      ready.pop_back();
      placed.push_back(u);
      placed_[u] = true;
      for (const OpId before : earlier_.of(u)) {
        --waits_[before];
        offer(before);
      }
      for (const auto c : claims_of_.of(u)) {
        if (resolved_[c]) continue;
        resolved_[c] = true;
        for (const OpId other : all_claims_.updates(claims_[c])) {
          if (value_(other) == claims_[c].value) continue;
          --blocks_[other];
          offer(other);
        }
      }
    }
    if (placed.size() < updates) {
      later_ = Lists(h_.ops.size(), steps_);
      return {.verdict = Verdict::kViolated, .wrong = why()};
    }
    std::reverse(placed.begin(), placed.end());
    return {.verdict = Verdict::kSatisfied, .writes = updates_by_object(h_, placed)};
  }

 private:
  void find_steps() {
    blocks_.assign(h_.ops.size(), 0);
    waits_.assign(h_.ops.size(), 0);
    const auto add = [&](OpId before, OpId after) {
      steps_.emplace_back(before, after);
      ++waits_[before];
    };
    std::vector<OpId> last(count_of_objects(h_), kNone);
    for (const auto& line : h_.by_replica) {
      std::vector<std::uint32_t> touched;
      for (const OpId id : line) {
        if (is_read(h_.ops[id].kind)) continue;
        OpId& before = last[type_.object(h_.ops[id])];
        if (before != kNone) add(before, id);
        before = id;
        touched.push_back(type_.object(h_.ops[id]));
      }
      for (const auto object : touched) last[object] = kNone;
    }
    for_seen_updates(h_, events_, add);
    std::vector<std::pair<OpId, std::uint32_t>> backward, claims;
    backward.reserve(steps_.size());
    for (const auto& [before, after] : steps_) backward.emplace_back(after, before);
    earlier_ = Lists(h_.ops.size(), backward);
    for (std::uint32_t c = 0; c < claims_.size(); ++c) {
      for (const OpId u : all_claims_.updates(claims_[c])) {
        claims.emplace_back(u, c);
        if (value_(u) != claims_[c].value) ++blocks_[u];
      }
    }
    claims_of_ = Lists(h_.ops.size(), claims);
  }

  // From an update that a read keeps from its place, by an update that the read wants to be last,
  // to the next such update.
  struct Way {
    std::vector<Step> steps;
    OpId end;
  };

  [[nodiscard]] std::vector<Way> ways(OpId from) const {
    const auto all = claims_of_.of(from);
    const LastUpdateClaim& claim =
        claims_[*std::find_if(all.begin(), all.end(), [&](std::uint32_t c) {
          return !resolved_[c] && value_(from) != claims_[c].value;
        })];
    std::vector<Way> found;
    for (const OpId w : all_claims_.updates(claim)) {
      if (value_(w) != claim.value) continue;
      Way way{{{from, w, Why::kArbitrated, claim.read}}, w};
      while (waits_[way.end] > 0) {
        const auto later = later_.of(way.end);
        const OpId next =
            *std::find_if(later.begin(), later.end(), [&](OpId u) { return !placed_[u]; });
        way.steps.push_back(step_of_past(way.end, next));
        way.end = next;
      }
      if (way.steps.size() > 2 && context_.visibility.sees(way.end, w))
        way.steps = {way.steps[0], step_of_past(w, way.end)};
      found.push_back(std::move(way));
    }
    return found;
  }

  [[nodiscard]] Step step_of_past(OpId from, OpId to) const {
    const bool same = h_.ops[from].replica == h_.ops[to].replica;
    return {from, to, same ? Why::kReplicaOrder : Why::kReceived};
  }

  // Updates and reads that wait for each other: whatever way one goes, it comes to another one.
  struct Deadlock {
    std::set<OpId> operations;
    std::map<OpId, Way> only_way;  // where there is one
  };

  [[nodiscard]] Deadlock deadlock(OpId start) const {
    Deadlock found;
    std::set<OpId> known = {start};
    std::vector<OpId> open = {start};
    while (!open.empty()) {
      const OpId from = open.back();
      open.pop_back();
      auto all = ways(from);
      for (const Way& way : all) {
        for (const Step& step : way.steps) found.operations.insert({step.from, step.to});
        found.operations.insert(way.steps[0].read);
        if (known.insert(way.end).second) open.push_back(way.end);
      }
      if (all.size() == 1) found.only_way.emplace(from, std::move(all[0]));
    }
    return found;
  }

  // The smallest of some.
  [[nodiscard]] WrongRead why() const {
    constexpr int kMostTries = 100;
    constexpr std::size_t kSmall = 4;  // two updates, two reads
    std::optional<Deadlock> best;
    OpId at = kNone;
    int tries = 0;
    for (OpId id = 0; id < h_.ops.size() && tries < kMostTries; ++id) {
      if (is_read(h_.ops[id].kind) || placed_[id] || waits_[id] > 0) continue;
      ++tries;
      Deadlock found = deadlock(id);
      if (best && found.operations.size() >= best->operations.size()) continue;
      best = std::move(found);
      at = id;
      if (best->operations.size() <= kSmall) break;
    }
    // The only way as long as there is one, until an update comes again.
    std::vector<OpId> path;
    while (best->only_way.contains(at) && std::find(path.begin(), path.end(), at) == path.end()) {
      path.push_back(at);
      at = best->only_way.at(at).end;
    }
    WrongRead wrong;
    for (auto it = std::find(path.begin(), path.end(), at); it != path.end(); ++it) {
      const auto& steps = best->only_way.at(*it).steps;
      wrong.cycle.insert(wrong.cycle.end(), steps.begin(), steps.end());
    }
    if (wrong.cycle.empty())
      wrong.operations.assign(best->operations.begin(), best->operations.end());
    return wrong;
  }

  const KnownContext& context_;
  const KeyEvents& events_;
  const History& h_;
  const ReplicatedType& type_;
  const LastUpdateClaims& all_claims_;
  const std::vector<LastUpdateClaim>& claims_;
  const ValueOfUpdate& value_;
  std::vector<std::pair<OpId, OpId>> steps_;  // an update, and one whose replica had seen it
  // By update: what its replica had seen, and, if there is no order, who had seen it; how many of
  // the latter are not placed.
  Lists earlier_, later_;
  std::vector<std::uint32_t> waits_;
  // By update: the claims about it, and how many of them want another one to be last.
  Lists claims_of_;
  std::vector<std::uint32_t> blocks_;
  std::vector<bool> placed_, resolved_;  // by update, by claim
};

}  // namespace

ContextDecision order_of_last_updates(const KnownContext& context, const KeyEvents& events,
                                      const LastUpdateClaims& claims, const ValueOfUpdate& value) {
  return LastUpdateOrder(context, events, claims, value).order();
}

}  // namespace cupel::crdt
