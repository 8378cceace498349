// Non-interleaving order: see the header.
#include "crdt/solve/non_interleaving_order.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/parallel.hpp"
#include "crdt/solve/character_order.hpp"

namespace cupel::crdt {

namespace {

// Two characters, between which nothing stands that had not seen `seen`, one of them.
struct RunPair {
  std::uint32_t left, right, seen;
  OpId by;  // the addition of the other one
};

class RunOrderSearch {
 public:
  explicit RunOrderSearch(const KnownContext& context)
      : context_(context), h_(context.history), characters_(context) {
    find_runs();
    order_.emplace(characters_.key_begin());
  }

  ContextDecision run() {
    BetweenOrder& order = *order_;
    characters_.add_given(order);
    answer_ = order.run([&] { return misplaced(order); }, context_.budget);
    ContextDecision decision{.verdict = answer_.verdict};
    if (answer_.verdict == Verdict::kSatisfied) decision.characters = characters_.characters(order);
    return decision;
  }

  // After run() has found kViolated.
  [[nodiscard]] WrongRead wrong() const {
    auto mixed = mixed_in_one_read();
    return mixed ? std::move(*mixed) : why(*order_, answer_);
  }

 private:
  // What the character was added after: another one, or the beginning of its key, by its place
  // among the nodes of the key and after them.
  [[nodiscard]] std::size_t origin(std::uint32_t e) const {
    const auto begin = characters_.key_begin().begin() + h_.elements[e].key;
    const auto up = h_.ops[characters_.insert(e)].parent;
    return (up == kNone ? begin[1] : characters_.node(up)) - begin[0];
  }

  void find_runs() {
    struct Origin {
      std::uint32_t own = kNone;  // the last one added there, by this replica
      bool any = false, removed = false;
    };
    std::uint32_t self = 0;
    std::vector<Origin> origins;
    const auto begin = [&](std::uint32_t r) {
      self = r;
      std::fill(origins.begin(), origins.end(), Origin{});
    };
    const auto find_runs_of = [&](std::uint32_t key) {
      const auto& begins = characters_.key_begin();
      origins.resize(begins[key + 1] - begins[key] + 1);
      characters_.events().replay(
          key, begin,
          [&](OpId update) {
            const Operation& op = h_.ops[update];
            Origin& there = origins[origin(op.element)];
            if (op.kind == Kind::kDelete) {
              there.removed = true;
            } else {
              there.any = true;
              there.own = op.replica == self ? op.element : kNone;
            }
          },
          [&](OpId id) {
            const Operation& op = h_.ops[id];
            if (op.kind != Kind::kInsert) return true;
            const Origin& there = origins[origin(op.element)];
            if (!there.any && op.parent != kNone)
              pairs_.push_back({op.parent, op.element, op.parent, id});
            if (!there.removed && there.own != kNone)
              pairs_.push_back({op.element, there.own, there.own, id});
            return true;
          });
    };
    for (std::uint32_t key = 0; key < h_.keys.size(); ++key) find_runs_of(key);
    std::stable_sort(pairs_.begin(), pairs_.end(), [&](const RunPair& a, const RunPair& b) {
      return std::pair(h_.ops[a.by].replica, a.by) < std::pair(h_.ops[b.by].replica, b.by);
    });
  }

  [[nodiscard]] bool may_stand(std::uint32_t x, const RunPair& pair) const {
    return context_.visibility.sees(characters_.insert(x), characters_.insert(pair.seen));
  }

  std::vector<BetweenOrder::Misplaced> misplaced(const BetweenOrder& order) {
    auto found = characters_.misplaced(order);
    for (const RunPair& pair : pairs_) {
      if (order.is_open(h_.ops[pair.by].key)) look_in_run(pair, order, found);
    }
    return found;
  }

  void look_in_run(const RunPair& pair, const BetweenOrder& order,
                   std::vector<BetweenOrder::Misplaced>& found) const {
    int count = 0;
    const auto left = characters_.node(pair.left), right = characters_.node(pair.right);
    for (auto at = order.rank(left) + 1;
         at < order.rank(right) && count < OrderedCharacters::kMostMisplaced; ++at) {
      if (may_stand(characters_.element(order.at(at)), pair)) continue;
      found.push_back({left, right, order.at(at), pair.by});
      ++count;
    }
  }

  // A read that shows what may not stand there between two characters.
  [[nodiscard]] std::optional<WrongRead> mixed_in_one_read() const {
    std::vector<std::uint32_t> place(h_.elements.size());
    std::vector<OpId> shown_by(h_.elements.size(), kNone);
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      const Operation& op = h_.ops[id];
      if (op.kind != Kind::kList) continue;
      const auto list = h_.list(op);
      for (std::uint32_t i = 0; i < list.size(); ++i) {
        place[list[i]] = i;
        shown_by[list[i]] = id;
      }
      for (const RunPair& pair : pairs_) {
        if (shown_by[pair.left] != id || shown_by[pair.right] != id) continue;
        for (auto i = place[pair.left] + 1; i < place[pair.right]; ++i) {
          if (may_stand(list[i], pair)) continue;
          return WrongRead{
              .read = id,
              .object = list[i],
              .cycle = {},
              .operations = {id, characters_.insert(pair.left), characters_.insert(pair.right),
                             characters_.insert(list[i])}};
        }
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] WrongRead why(const BetweenOrder& order, const BetweenOrder::Answer& answer) const {
    WrongRead wrong;
    std::set<OpId> operations;
    for (const auto id : answer.why) {
      characters_.add_reasons(order.edge(id), operations);
      for (const RunPair& pair : pairs_) {
        if (pair.by == order.edge(id).by) operations.insert(characters_.insert(pair.seen));
      }
    }
    for (const auto id : answer.cycle) wrong.cycle.push_back(characters_.step(order.edge(id)));
    for (const OpId id : operations) {
      if (is_read(h_.ops[id].kind) || wrong.read == kNone) wrong.read = id;
    }
    wrong.object = characters_.element(order.edge(answer.why.front()).to);
    wrong.operations.assign(operations.begin(), operations.end());
    return wrong;
  }

  const KnownContext& context_;
  const History& h_;
  OrderedCharacters characters_;
  std::vector<RunPair> pairs_;
  std::optional<BetweenOrder> order_;
  BetweenOrder::Answer answer_;
};

// Else the content is wrong, and nothing is known of an order.
bool names_what_was_added(const History& h) {
  const auto inserts = inserts_of(h);
  const auto is_added = [&](std::uint32_t e) { return inserts[e] != kNone; };
  return std::all_of(h.ops.begin(), h.ops.end(), [&](const Operation& op) {
    if (is_read(op.kind)) return true;
    const auto changed = h.changed(op);
    return (op.parent == kNone || is_added(op.parent)) &&
           std::all_of(changed.begin(), changed.end(), is_added);
  });
}

}  // namespace

// Who keeps runs together is a list, so the search for the order of a list is for the others.
ContextDecision decide_known_non_interleaving(const KnownContext& context) {
  ContextDecision content;
  std::optional<RunOrderSearch> search;
  base::for_each_index(2, context.threads, [&](std::size_t order) {
    if (order == 0)
      content = known_characters(context);
    else if (names_what_was_added(context.history))
      search.emplace(context);
  });
  if (content.verdict == Verdict::kViolated) return content;
  if (!search) search.emplace(context);
  auto decision = search->run();
  if (decision.verdict == Verdict::kSatisfied) return decision;
  auto list = decide_known_list(context);
  if (list.verdict == Verdict::kViolated) return list;
  if (decision.verdict == Verdict::kViolated) decision.wrong = search->wrong();
  return decision;
}

}  // namespace cupel::crdt
