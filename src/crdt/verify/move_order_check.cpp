// Move order check. A given order is followed, and undone as far as a move that arrives late asks
// for. To try all orders, the reads are computed from their end: where a node is depends on its
// last move that has an effect, and that on where others were before. Each comparison of two moves
// that nothing decides yet is tried both ways. What was decided carries the set of choices that it
// follows from, so that a contradiction goes back to the last choice that it depends on. Before a
// read is computed, it is looked at what it may show however the open pairs are decided; and the
// moves that the certificate names are compared before the others.
#include "crdt/verify/move_order_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <map>
#include <set>

namespace cupel::crdt {

namespace {

constexpr std::uint32_t kTop = kNone - 1, kGone = kNone - 2;  // the root, removed

std::uint32_t moved_to(const Operation& op) {
  return op.kind == Kind::kDelete ? kGone : op.parent == kNone ? kTop : op.parent;
}

// The tree that a read lists: by node where it is.
std::map<std::uint32_t, std::uint32_t> listed_tree(const History& h, const Operation& read) {
  std::map<std::uint32_t, std::uint32_t> tree;
  const auto list = h.list(read);
  for (std::size_t i = 0; i + 1 < list.size(); i += 2)
    tree[list[i]] = list[i] == list[i + 1] ? kTop : list[i + 1];
  return tree;
}

// Following one order.
class FollowedTrees {
 public:
  explicit FollowedTrees(const History& h) : h_(h), where_(h.elements.size(), kNone) {}

  void begin() {
    std::fill(where_.begin(), where_.end(), kNone);
    done_.clear();
    nodes_.clear();
  }
  void arrive(OpId move, const std::vector<std::size_t>& place) {
    auto& moves = done_[h_.ops[move].key];
    nodes_[h_.ops[move].key].insert(h_.ops[move].element);
    const auto at = std::upper_bound(
        moves.begin(), moves.end(), place[move],
        [&](std::size_t here, const Move& other) { return here < place[other.id]; });
    const auto first = static_cast<std::size_t>(at - moves.begin());
    for (auto i = moves.size(); i-- > first;) where_[h_.ops[moves[i].id].element] = moves[i].from;
    moves.insert(at, Move{move, kNone});
    for (auto i = first; i < moves.size(); ++i) {
      const Operation& op = h_.ops[moves[i].id];
      moves[i].from = where_[op.element];
      auto up = moved_to(op);
      while (up < kGone && up != op.element) up = where_[up];
      if (up != op.element) where_[op.element] = moved_to(op);
    }
  }
  // Its nodes that are below the root are those listed, each where it is listed.
  [[nodiscard]] bool shows(const Operation& read) const {
    const auto tree = listed_tree(h_, read);
    for (const auto& [node, above] : tree) {
      if (where_[node] != above) return false;
    }
    const auto nodes = nodes_.find(read.key);
    if (nodes == nodes_.end()) return true;
    return std::all_of(nodes->second.begin(), nodes->second.end(), [&](std::uint32_t node) {
      const auto above = where_[node];
      return tree.contains(node) || (above != kTop && !tree.contains(above));
    });
  }

 private:
  struct Move {
    OpId id;
    std::uint32_t from;  // where the node was
  };
  const History& h_;
  std::vector<std::uint32_t> where_;                        // by node
  std::map<std::uint32_t, std::vector<Move>> done_;         // by key
  std::map<std::uint32_t, std::set<std::uint32_t>> nodes_;  // by key: that were moved
};

constexpr std::size_t kMostOpenPairs = 512;  // at one time
constexpr std::size_t kMostComparedMoves = 2'000;
constexpr std::uint64_t kMostMoveSteps = 200'000'000;

using Choices = std::bitset<kMostOpenPairs>;

// All orders.
class AllMoveOrders {
 public:
  AllMoveOrders(const History& h, const SeenUpdates& seen, std::span<const OpId> reads,
                std::span<const OpId> named)
      : h_(h), number_(h.ops.size(), kNone) {
    std::set<OpId> all;
    for (const OpId id : reads) {
      Read read{listed_tree(h, h.ops[id]), {}};
      for (const auto& entry : seen.log(h.ops[id].replica)) {
        const Operation& op = h.ops[entry.update];
        if (entry.place > h.ops[id].seq || op.key != h.ops[id].key) continue;
        read.moves[op.element].push_back(entry.update);
        all.insert(entry.update);
      }
      reads_.push_back(std::move(read));
    }
    for (const OpId id : all) {
      number_[id] = static_cast<std::uint32_t>(moves_.size());
      moves_.push_back(id);
    }
    if (moves_.size() > kMostComparedMoves) return;
    for (const OpId id : named) {
      if (number_[id] != kNone) named_.push_back(number_[id]);
    }
    set_happens_before(seen);
  }

  std::optional<bool> run() {
    if (moves_.size() > kMostComparedMoves) return std::nullopt;
    const auto found = search(0);
    if (gave_up_) return std::nullopt;
    return !found.has_value();
  }

 private:
  struct Read {
    std::map<std::uint32_t, std::uint32_t> tree;
    std::map<std::uint32_t, std::vector<OpId>> moves;  // by node
  };
  struct Undecided {
    std::uint32_t a, b;
  };
  // Where a node is, and the choices that say so.
  struct Where {
    std::uint32_t at;
    Choices because;
  };
  using Known = std::map<std::pair<std::uint32_t, OpId>, Where>;

  // Closed under transitivity, which some rules of delivery are not.
  void set_happens_before(const SeenUpdates& seen) {
    const auto count = moves_.size();
    std::vector<std::bitset<kMostComparedMoves>> after(count);
    for (std::size_t a = 0; a < count; ++a) {
      const Operation& op = h_.ops[moves_[a]];
      for (std::size_t b = 0; b < count; ++b)
        after[a][b] = h_.ops[moves_[b]].key == op.key && seen.sees(moves_[b], moves_[a]);
    }
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t a = 0; a < count; ++a) {
        if (after[a][k]) after[a] |= after[k];
      }
    }
    because_.emplace_back();
    is_before_.assign(count * count, kNone);
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b < count; ++b) {
        if (after[a][b]) is_before_[a * count + b] = 0;
      }
    }
  }

  [[nodiscard]] std::uint32_t& reason(std::uint32_t a, std::uint32_t b) {
    return is_before_[a * moves_.size() + b];
  }
  [[nodiscard]] bool is_before(std::uint32_t a, std::uint32_t b) { return reason(a, b) != kNone; }

  // With all that follows; neither is before the other.
  void add(std::uint32_t a, std::uint32_t b, const Choices& because) {
    std::vector<std::uint32_t> from = {a}, to = {b};
    for (std::uint32_t x = 0; x < moves_.size(); ++x) {
      if (x != a && is_before(x, a)) from.push_back(x);
      if (x != b && is_before(b, x)) to.push_back(x);
    }
    for (const auto x : from) {
      for (const auto y : to) {
        ++steps_;
        if (is_before(x, y)) continue;
        Choices all = because;
        if (x != a) all |= because_[reason(x, a)];
        if (y != b) all |= because_[reason(b, y)];
        reason(x, y) = static_cast<std::uint32_t>(because_.size());
        because_.push_back(all);
        trail_.emplace_back(x, y);
      }
    }
  }

  // Is the first before the second? Throws what is not decided.
  bool compare(OpId first, OpId second, Choices& because) {
    const auto a = number_[first], b = number_[second];
    if (++steps_ > kMostMoveSteps) gave_up_ = true;
    if (is_before(a, b)) {
      because |= because_[reason(a, b)];
      return true;
    }
    if (!is_before(b, a)) throw Undecided{a, b};
    because |= because_[reason(b, a)];
    return false;
  }

  // Where the node is in the read's tree before that move; kNone: at the end.
  Where where(const Read& read, std::uint32_t node, OpId end, Known& known) {
    if (const auto it = known.find({node, end}); it != known.end()) return it->second;
    Where found{kNone, {}};
    std::vector<OpId> before;
    if (const auto own = read.moves.find(node); own != read.moves.end()) {
      for (const OpId move : own->second) {
        if (end == kNone || compare(move, end, found.because)) before.push_back(move);
      }
    }
    while (!before.empty()) {
      auto last = before.begin();
      for (auto it = before.begin() + 1; it != before.end(); ++it) {
        if (compare(*last, *it, found.because)) last = it;
      }
      const OpId move = *last;
      before.erase(last);
      auto up = moved_to(h_.ops[move]);
      while (up < kGone && up != node) {
        const Where next = where(read, up, move, known);
        found.because |= next.because;
        up = next.at;
      }
      if (up == node) continue;
      found.at = moved_to(h_.ops[move]);
      break;
    }
    known[{node, end}] = found;
    return found;
  }

  // Which moves of a node may be its last one with an effect before that move, however the open
  // pairs are decided, and the choices by which no other is. `none`: it may be that none is.
  struct Maybe {
    std::vector<OpId> moves;
    Choices because;
    bool none;
  };
  Maybe maybe(const Read& read, std::uint32_t node, OpId end, Known& sure) {
    Maybe found{{}, {}, true};
    const auto own = read.moves.find(node);
    if (own == read.moves.end()) return found;
    std::vector<OpId> floors;  // before it, and have an effect
    for (const OpId move : own->second) {
      ++steps_;
      if (end != kNone && is_before(number_[end], number_[move])) {
        found.because |= because_[reason(number_[end], number_[move])];
        continue;
      }
      found.moves.push_back(move);
      if (end != kNone && !is_before(number_[move], number_[end])) continue;
      if (is_sure(read, move, sure).at != kNone) floors.push_back(move);
    }
    found.none = floors.empty();
    const auto add_floor = [&](OpId floor) {
      found.because |= sure.at({kNone, floor}).because;
      if (end != kNone) found.because |= because_[reason(number_[floor], number_[end])];
    };
    if (!floors.empty()) add_floor(floors[0]);
    std::erase_if(found.moves, [&](OpId move) {
      const auto floor = std::find_if(floors.begin(), floors.end(), [&](OpId other) {
        ++steps_;
        return is_before(number_[move], number_[other]);
      });
      if (floor == floors.end()) return false;
      add_floor(*floor);
      found.because |= because_[reason(number_[move], number_[*floor])];
      return true;
    });
    return found;
  }

  // Has the move an effect, however the open pairs are decided? kNone: it may have none.
  Where is_sure(const Read& read, OpId move, Known& sure) {
    if (const auto it = sure.find({kNone, move}); it != sure.end()) return it->second;
    const auto node = h_.ops[move].element;
    Where found{moved_to(h_.ops[move]), {}};
    std::vector<std::uint32_t> ways = {found.at};
    std::set<std::uint32_t> known(ways.begin(), ways.end());
    for (std::size_t i = 0; i < ways.size() && found.at != kNone; ++i) {
      if (ways[i] == node) found.at = kNone;
      if (ways[i] >= kGone || found.at == kNone) continue;
      const Maybe above = maybe(read, ways[i], move, sure);
      found.because |= above.because;
      for (const OpId other : above.moves) {
        if (known.insert(moved_to(h_.ops[other])).second) ways.push_back(moved_to(h_.ops[other]));
      }
    }
    return sure[{kNone, move}] = found;
  }

  // The choices that make a read wrong, however the open pairs are decided, as far as is seen.
  std::optional<Choices> surely_wrong(const Read& read) {
    Known sure;
    for (const auto& [node, moves] : read.moves) {
      const auto listed = read.tree.find(node);
      Maybe last = maybe(read, node, kNone, sure);
      if (listed != read.tree.end()) {
        const bool well = std::any_of(last.moves.begin(), last.moves.end(), [&](OpId move) {
          return moved_to(h_.ops[move]) == listed->second;
        });
        if (!well) return last.because;
        continue;
      }
      // What is not listed ends in the removed, by way of others that are not listed.
      std::vector<std::uint32_t> ways = {node};
      std::set<std::uint32_t> known = {node};
      Choices because;
      bool well = false;
      for (std::size_t i = 0; i < ways.size() && !well; ++i) {
        last = maybe(read, ways[i], kNone, sure);
        because |= last.because;
        well = last.none;
        for (const OpId move : last.moves) {
          const auto to = moved_to(h_.ops[move]);
          well = well || to == kGone;
          if (to != kTop && !read.tree.contains(to) && known.insert(to).second) ways.push_back(to);
        }
      }
      if (!well) return because;
    }
    return std::nullopt;
  }

  // The choices that make a read wrong; nothing: all are right.
  std::optional<Choices> wrong_choices() {
    for (const Read& read : reads_) {
      if (auto because = surely_wrong(read)) return because;
    }
    for (std::size_t a = 0; a < named_.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const auto one = named_[a], other = named_[b];
        if (h_.ops[moves_[one]].key == h_.ops[moves_[other]].key && !is_before(one, other) &&
            !is_before(other, one))
          throw Undecided{other, one};
      }
    }
    std::optional<Undecided> open;
    for (const Read& read : reads_) {
      Known known;
      const auto wrong = [&](std::uint32_t node) -> std::optional<Choices> {
        try {
          const Where found = where(read, node, kNone, known);
          const auto listed = read.tree.find(node);
          const bool well = listed != read.tree.end()
                                ? found.at == listed->second
                                : found.at != kTop && !read.tree.contains(found.at);
          if (!well) return found.because;
        } catch (const Undecided& pair) {  // another node may be wrong already
          if (!open) open = pair;
        }
        return std::nullopt;
      };
      for (const auto& [node, above] : read.tree) {
        if (auto because = wrong(node)) return because;
      }
      for (const auto& [node, moves] : read.moves) {
        if (auto because = read.tree.contains(node) ? std::nullopt : wrong(node)) return because;
      }
    }
    if (open) throw *open;
    return std::nullopt;
  }

  // The choices, of those made, that leave no order; nothing: there is one.
  std::optional<Choices> search(std::size_t depth) {
    Undecided open{};
    try {
      return wrong_choices();
    } catch (const Undecided& pair) {
      open = pair;
    }
    gave_up_ = gave_up_ || depth == kMostOpenPairs || steps_ > kMostMoveSteps;
    if (gave_up_) return Choices();
    Choices all;
    for (const auto& [a, b] : {open, Undecided{open.b, open.a}}) {
      const auto trail = trail_.size(), reasons = because_.size();
      Choices own;
      own.set(depth);
      add(a, b, own);
      const auto conflict = search(depth + 1);
      while (trail_.size() > trail) {
        reason(trail_.back().first, trail_.back().second) = kNone;
        trail_.pop_back();
      }
      because_.resize(reasons);
      if (!conflict || gave_up_ || !conflict->test(depth)) return conflict;
      all |= *conflict;
    }
    all.reset(depth);
    return all;
  }

  const History& h_;
  std::vector<std::uint32_t> number_;  // by operation: among the moves
  std::vector<OpId> moves_;
  std::vector<Read> reads_;
  std::vector<std::uint32_t> named_;      // moves, as in number_
  std::vector<std::uint32_t> is_before_;  // by two moves: why; kNone: not known
  std::vector<Choices> because_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> trail_;
  std::uint64_t steps_ = 0;
  bool gave_up_ = false;
};

}  // namespace

bool is_tree(const History& history, const Operation& read) {
  const auto tree = listed_tree(history, read);
  if (2 * tree.size() != history.list(read).size()) return false;
  // From the root down, each is reached.
  std::map<std::uint32_t, std::vector<std::uint32_t>> below;
  for (const auto& [node, above] : tree) below[above].push_back(node);
  std::vector<std::uint32_t> reached = {kTop};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const auto next = below.find(reached[i]);
    if (next != below.end())
      reached.insert(reached.end(), next->second.begin(), next->second.end());
  }
  return reached.size() == tree.size() + 1;
}

std::optional<std::string> wrong_tree(const History& history, const SeenUpdates& seen,
                                      const std::vector<std::size_t>& place) {
  FollowedTrees trees(history);
  for (std::uint32_t r = 0; r < history.replicas.size(); ++r) {
    trees.begin();
    const auto log = seen.log(r);
    std::size_t next = 0;
    for (const OpId id : history.by_replica[r]) {
      if (history.ops[id].kind != Kind::kTree) continue;
      for (; next < log.size() && log[next].place <= history.ops[id].seq; ++next)
        trees.arrive(log[next].update, place);
      if (!trees.shows(history.ops[id]))
        return fmt::format("{} shows another tree than the order", history.text(id));
    }
  }
  return std::nullopt;
}

std::optional<bool> has_move_order(const History& history, const SeenUpdates& seen,
                                   std::span<const OpId> reads, std::span<const OpId> named) {
  return AllMoveOrders(history, seen, reads, named).run();
}

}  // namespace cupel::crdt
