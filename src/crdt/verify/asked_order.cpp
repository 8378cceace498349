// Asked order: see the header.
#include "crdt/verify/asked_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "crdt/verify/semantics.hpp"
#include "crdt/verify/tree_order.hpp"

namespace cupel::crdt {

namespace {

// Beyond these the result is unknown.
constexpr std::uint64_t kMostSteps = 20'000'000'000;  // upwards
constexpr std::size_t kMostNamed = 5'000;             // operations
constexpr std::size_t kMostShownPairs = 100'000'000;
constexpr int kMostChoices = 100'000;

class AskedOrder {
 public:
  AskedOrder(const History& h, const SeenUpdates& seen, bool strict,
             std::vector<LastChoice> choices)
      : h_(h),
        seen_(seen),
        rules_(rules_of(h.type)),
        strict_(strict),
        choices_(std::move(choices)) {}

  OrderAnswer decide(const std::vector<OpId>& named) {
    std::set<OpId> ops(named.begin(), named.end());
    std::vector<std::pair<OpId, OpId>> asked;
    if (rules_.returns == Returns::kCharacters) {
      bool impossible = false;
      if (auto unknown = ask_for_characters(named, asked, impossible)) return {.unknown = *unknown};
      if (impossible) return {};
    }
    for (const auto& [first, second] : asked) ops.insert({first, second});
    for (const LastChoice& choice : choices_) {
      ops.insert(choice.last.begin(), choice.last.end());
      ops.insert(choice.others.begin(), choice.others.end());
    }
    if (ops.size() > kMostNamed)
      return {.unknown =
                  fmt::format("it rests on {} operations, more than the {} that are compared",
                              ops.size(), kMostNamed)};
    const std::vector<OpId> nodes(ops.begin(), ops.end());
    const auto number = [&](OpId id) {
      return static_cast<std::size_t>(std::lower_bound(nodes.begin(), nodes.end(), id) -
                                      nodes.begin());
    };
    After after(nodes.size());
    for (std::size_t a = 0; a < nodes.size(); ++a) {
      for (std::size_t b = 0; b < nodes.size(); ++b) {
        const Operation &one = h_.ops[nodes[a]], &other = h_.ops[nodes[b]];
        if (rules_.order_by_object && rules_.object(one) != rules_.object(other)) continue;
        if (one.replica == other.replica ? one.seq < other.seq
                                         : !is_read(one.kind) && seen_.sees(nodes[b], nodes[a]))
          after[a].push_back(b);
      }
    }
    for (const auto& [first, second] : asked) after[number(first)].push_back(number(second));
    for (LastChoice& choice : choices_) {
      for (auto* writes : {&choice.last, &choice.others}) {
        for (OpId& w : *writes) w = static_cast<OpId>(number(w));
      }
    }
    if (rules_.order_by_object) return {.fits = orders_from_end(after)};
    // Those without a choice first.
    std::stable_sort(choices_.begin(), choices_.end(),
                     [](const LastChoice& one, const LastChoice& other) {
                       return one.last.size() < other.last.size();
                     });
    int tries = kMostChoices;
    const bool fits = some_order_fits(0, after, tries);
    if (tries <= 0)
      return {.unknown = "its reads may have returned too many combinations of equal writes"};
    return {.fits = fits};
  }

 private:
  using After = std::vector<std::vector<std::size_t>>;  // by node: those after it

  // Orders of which only the last of some updates matters can be built from their end: whatever may
  // come last of what is left could come last of it in any order that fits. False: there is none.
  [[nodiscard]] bool orders_from_end(const After& after) const {
    const std::size_t count = after.size();
    std::vector<std::size_t> waits(count, 0);  // for nodes after it, for choices of others
    std::vector<std::vector<std::size_t>> before(count), chosen(count);
    for (std::size_t node = 0; node < count; ++node) {
      waits[node] += after[node].size();
      for (const auto later : after[node]) before[later].push_back(node);
    }
    for (std::size_t c = 0; c < choices_.size(); ++c) {
      for (const auto node : choices_[c].others) ++waits[node];
      for (const auto node : choices_[c].last) chosen[node].push_back(c);
    }
    std::vector<std::size_t> free;
    for (std::size_t node = 0; node < count; ++node) {
      if (waits[node] == 0) free.push_back(node);
    }
    const auto relieve = [&](std::size_t node) {
      if (--waits[node] == 0) free.push_back(node);
    };
    std::vector<bool> done(choices_.size(), false);
    std::size_t gone = 0;
    for (; gone < free.size(); ++gone) {
      const auto last = free[gone];
      for (const auto node : before[last]) relieve(node);
      for (const auto c : chosen[last]) {
        if (done[c]) continue;
        done[c] = true;
        for (const auto node : choices_[c].others) relieve(node);
      }
    }
    return gone == count;
  }

  // Is there no cycle, for some choice from here on?
  [[nodiscard]] bool some_order_fits(std::size_t at, After& after, int& tries) const {
    if (--tries <= 0) return true;
    const bool open = at < choices_.size();
    if ((!open || choices_[at].last.size() > 1) && has_cycle(after)) return false;
    if (!open) return true;
    for (const auto last : choices_[at].last) {
      for (const auto w : choices_[at].others) after[w].push_back(last);
      const bool fits = some_order_fits(at + 1, after, tries);
      for (const auto w : choices_[at].others) after[w].pop_back();
      if (fits) return true;
    }
    return false;
  }

  // What the reads that are named show. Neighbours say all, because the tree has one order.
  [[nodiscard]] std::optional<std::string> ask_for_characters(
      const std::vector<OpId>& named, std::vector<std::pair<OpId, OpId>>& asked,
      bool& impossible) const {
    if (strict_) return ask_for_strict_characters(named, asked);
    const TreeOrder tree(h_);
    for (const OpId id : named) {
      const auto list = h_.list(h_.ops[id]);
      for (std::size_t i = 1; h_.ops[id].kind == Kind::kList && i < list.size(); ++i) {
        const auto one = tree.asked(list[i - 1], list[i]);
        impossible = impossible || one.impossible;
        if (one.order) asked.push_back(*one.order);
        if (tree.work() > kMostSteps) return "its characters have too long a way up";
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] std::optional<std::string> ask_for_strict_characters(
      const std::vector<OpId>& named, std::vector<std::pair<OpId, OpId>>& asked) const {
    History lists;  // the additions, and the reads that are named
    lists.type = h_.type;
    for (const auto& key : h_.keys) lists.key(key);
    for (const auto& element : h_.elements) lists.element(element.key, element.text);
    const std::set<OpId> ops(named.begin(), named.end());
    std::vector<OpId> origin;
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      Operation op = h_.ops[id];
      if (op.kind != Kind::kInsert && !(op.kind == Kind::kList && ops.contains(id))) continue;
      op.replica = lists.replica("all");
      lists.add(op, h_.list(h_.ops[id]));
      origin.push_back(id);
    }
    if (shows_too_many_pairs(lists)) return "its reads show too many pairs";
    const auto required = Semantics(lists, strict_).required_order();
    for (const auto& [first, second] : *required) asked.emplace_back(origin[first], origin[second]);
    return std::nullopt;
  }

  static bool has_cycle(const After& after) {
    std::vector<std::size_t> before(after.size(), 0), free;
    for (const auto& next : after) {
      for (const auto to : next) ++before[to];
    }
    for (std::size_t a = 0; a < after.size(); ++a) {
      if (before[a] == 0) free.push_back(a);
    }
    std::size_t gone = 0;
    for (; gone < free.size(); ++gone) {
      for (const auto to : after[free[gone]]) {
        if (--before[to] == 0) free.push_back(to);
      }
    }
    return gone < after.size();
  }

  const History& h_;
  const SeenUpdates& seen_;
  const Rules& rules_;
  const bool strict_;
  std::vector<LastChoice> choices_;
};

}  // namespace

bool shows_too_many_pairs(const History& history) {
  std::size_t pairs = 0;
  for (const Operation& op : history.ops) {
    if (op.kind == Kind::kList) pairs += history.list(op).size() * history.list(op).size();
  }
  return pairs > kMostShownPairs;
}

OrderAnswer decide_asked_order(const History& history, const SeenUpdates& seen, bool strict,
                               const std::vector<OpId>& named, std::vector<LastChoice> choices) {
  return AskedOrder(history, seen, strict, std::move(choices)).decide(named);
}

}  // namespace cupel::crdt
