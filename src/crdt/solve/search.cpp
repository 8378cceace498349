// Search: executions by delivery, for sets, flags and counters (thesis, algorithms 3 and 4). It
// accepts quickly and never rejects.
//
// As in the thesis, replicas advance one operation at a time, and updates are delivered to other
// replicas. The thesis delivers the whole state of a replica, so its search cannot find figures 2.5
// and 2.6. Here an update is delivered with the updates that it had seen, so every execution that
// keeps the order of the file can be found.
// - The operations run in the order of the file. If a read returns a wrong value, updates of its
//   object are delivered, the fewest that help.
// - Often none helps: an add cannot be gone if the later remove had not seen it. Then a random
//   number of operations is undone, more with each failure, and run again with other random
//   deliveries, also before operations that do not need them. The state of a replica is the clock
//   of its last operation and nothing else, so undoing costs nothing.
// - Counters are exact, so one delivery too many shows only hundreds of reads later. For at most
//   three replicas there is a plan: going backwards over the reads of a replica, it computes how
//   much of the other two the replica can have seen at most, a staircase of pairs. The search does
//   not go beyond.
//
// It gives up after a fixed amount of work.
#include <algorithm>
#include <queue>
#include <set>

#include "base/random.hpp"
#include "crdt/model/replicated_type.hpp"
#include "crdt/solve/context.hpp"
#include "crdt/solve/decide.hpp"

namespace cupel::crdt {

namespace {

using Number = std::uint32_t;
using Row = std::vector<Number>;

// The updates of each object on each replica.
class UpdateLines {
 public:
  // By place there.
  struct Line {
    std::vector<Number> all, wins, loses;
    std::vector<std::int64_t> sums;                       // counters: of the first so many
    std::vector<std::pair<std::int64_t, Number>> by_sum;  // and those, sorted
  };

  UpdateLines(const History& history, bool up_wins)
      : width_(history.replicas.size()),
        lines_(std::max(history.elements.size(), history.keys.size()) * width_) {
    const ReplicatedType& type = replicated_type(history);
    const Kind winner = up_wins ? Kind::kUp : Kind::kDown;
    for (const Operation& op : history.ops) {
      if (is_read(op.kind)) continue;
      Line& l = lines_[type.object(op) * width_ + op.replica];
      l.all.push_back(op.seq);
      if (op.kind == Kind::kInc) {
        if (l.sums.empty()) l.sums.push_back(0);
        l.sums.push_back(l.sums.back() + op.amount);
      } else {
        (op.kind == winner ? l.wins : l.loses).push_back(op.seq);
      }
    }
    for (Line& l : lines_) {
      for (Number n = 0; n < l.sums.size(); ++n) l.by_sum.emplace_back(l.sums[n], n);
      std::sort(l.by_sum.begin(), l.by_sum.end());
    }
  }

  [[nodiscard]] const Line& of(std::uint32_t object, std::size_t replica) const {
    return lines_[object * width_ + replica];
  }
  // How many of these are below `until`.
  static std::size_t below(std::span<const Number> numbers, Number until) {
    return static_cast<std::size_t>(std::lower_bound(numbers.begin(), numbers.end(), until) -
                                    numbers.begin());
  }
  static std::int64_t sum_of(const Line& l, Number until) {
    return l.all.empty() ? 0 : l.sums[below(l.all, until)];
  }

 private:
  const std::size_t width_;
  std::vector<Line> lines_;  // by object and replica
};

// Of counters of two or three replicas: for each read the most that may have been seen.
class CounterPlan {
 public:
  CounterPlan(const History& history, const UpdateLines& lines, base::Budget& budget)
      : h_(history), lines_(lines), budget_(budget), width_(history.replicas.size()) {}

  // The other two of three replicas; where there are fewer, the second says nothing.
  [[nodiscard]] std::size_t first_other(std::size_t replica) const {
    return (replica + 1) % width_;
  }
  [[nodiscard]] std::size_t second_other(std::size_t replica) const {
    return (replica + 2) % width_;
  }

  // Of other types, and more replicas, it is empty. False: there is no execution in the order of
  // the file.
  bool make() {
    if (!replicated_type(h_).traits().sums || width_ < 2 || width_ > 3) return true;
    guard_.resize(h_.ops.size());
    next_read_.assign(h_.ops.size(), kNone);
    static const UpdateLines::Line kEmptyLine;
    for (std::size_t r = 0; r < width_; ++r) {
      const auto &as = h_.by_replica[first_other(r)], &bs = h_.by_replica[second_other(r)];
      const bool second = width_ == 3;
      std::vector<Point> most{
          {static_cast<Number>(as.size()), second ? static_cast<Number>(bs.size()) : 0}};
      OpId next = kNone;
      for (std::size_t s = h_.by_replica[r].size(); s-- > 0;) {
        const OpId id = h_.by_replica[r][s];
        const Operation& op = h_.ops[id];
        if (op.kind == Kind::kValue) next = id;
        next_read_[id] = next;
        if (op.kind != Kind::kValue) continue;
        if (budget_.exceeded()) return false;
        const Point run{static_cast<Number>(UpdateLines::below(as, id)),
                        second ? static_cast<Number>(UpdateLines::below(bs, id)) : 0};
        for (Point& p : most) p = {std::min(p.x, run.x), std::min(p.y, run.y)};
        const auto& a = lines_.of(op.key, first_other(r));
        const auto& b = second ? lines_.of(op.key, second_other(r)) : kEmptyLine;
        const std::int64_t rest = op.amount - UpdateLines::sum_of(lines_.of(op.key, r), op.seq);
        std::vector<Point> found;
        const auto add = [&](Number x, Number limit) {
          // The last y up to the limit with the sum that is left.
          const std::int64_t left = rest - UpdateLines::sum_of(a, x);
          const auto seen = static_cast<Number>(UpdateLines::below(b.all, limit));
          if (b.all.empty()) {
            if (left == 0) found.push_back({x, limit});
            return;
          }
          const auto after =
              std::upper_bound(b.by_sum.begin(), b.by_sum.end(), std::pair(left, seen));
          if (after == b.by_sum.begin() || std::prev(after)->first != left) return;
          const Number n = std::prev(after)->second;
          found.push_back({x, n < b.all.size() ? std::min(limit, b.all[n]) : limit});
        };
        Number from = 0;
        for (const Point& p : maximal(std::move(most))) {
          for (auto n = UpdateLines::below(a.all, from); n < a.all.size() && a.all[n] < p.x; ++n)
            add(a.all[n], p.y);
          add(p.x, p.y);
          from = p.x + 1;
        }
        most = maximal(std::move(found));
        if (most.empty()) return false;
        guard_[id] = most;
      }
    }
    return true;
  }

  [[nodiscard]] bool is_empty() const { return guard_.empty(); }
  // The next read of the operation's replica, or itself; kNone: there is none.
  [[nodiscard]] OpId next_read(OpId op) const { return next_read_[op]; }
  // Of the first other replica.
  [[nodiscard]] Number most(OpId read) const { return guard_[read].back().x; }
  // May the read have seen this?
  [[nodiscard]] bool has(OpId read, const Row& row) const {
    const auto replica = h_.ops[read].replica;
    const Number x = row[first_other(replica)], y = width_ < 3 ? 0 : row[second_other(replica)];
    const auto& most = guard_[read];
    const auto p =
        std::partition_point(most.begin(), most.end(), [&](const Point& q) { return q.x < x; });
    return p != most.end() && p->y >= y;
  }

 private:
  struct Point {
    Number x, y;
  };

  // Those that no other is above, x ascending and y descending.
  static std::vector<Point> maximal(std::vector<Point> points) {
    std::sort(points.begin(), points.end(), [](const Point& p, const Point& q) {
      return std::pair(p.x, p.y) > std::pair(q.x, q.y);
    });
    std::vector<Point> kept;
    for (const Point& p : points) {
      if (kept.empty() || p.y > kept.back().y) kept.push_back(p);
    }
    std::reverse(kept.begin(), kept.end());
    return kept;
  }

  const History& h_;
  const UpdateLines& lines_;
  base::Budget& budget_;
  const std::size_t width_;
  std::vector<std::vector<Point>> guard_;  // by read
  std::vector<OpId> next_read_;            // by operation
};

class Search {
 public:
  Search(const History& history, base::Budget& budget)
      : h_(history),
        type_(replicated_type(history)),
        budget_(budget),
        width_(history.replicas.size()),
        lines_(history, up_wins_),
        plan_(history, lines_, budget),
        clocks_(history),
        random_(1) {}

  std::optional<Decision> decide() {
    if (!type_.traits().membership && !type_.traits().sums) return std::nullopt;
    prepare();
    if (!plan_.make() || !search()) return std::nullopt;
    auto order = linear_order(h_, clocks_, {});
    if (!order) return std::nullopt;
    Decision decision;
    decision.verdict = Verdict::kSatisfied;
    decision.decided_by = "search";
    decision.witness = Witness{std::move(clocks_), std::move(*order)};
    if (type_.traits().order_by_object && !orders_objects(*decision.witness)) return std::nullopt;
    return decision;
  }

 private:
  // Is there an order of the updates of each object that makes each read right?
  bool orders_objects(Witness& witness) {
    const auto visibility = Visibility::of_clocks(h_, witness.clocks, witness.order);
    auto known = decide_known_last_updates({h_, visibility, {}, budget_});
    witness.writes = std::move(known.writes);
    return known.verdict == Verdict::kSatisfied;
  }

  void prepare() {
    now_.assign(width_, Row(width_, 0));
    if (type_.traits().sums) return;
    claims_ = claims_of(h_);
    claims_of_op_.assign(h_.ops.size(), {0, 0});
    for (std::uint32_t c = 0; c < claims_.size(); ++c) {
      auto& [begin, end] = claims_of_op_[claims_[c].op];
      if (end == 0) begin = c;
      end = c + 1;
    }
  }

  // False: given up.
  bool search() {
    constexpr double kEager[] = {0, 0, 0.05, 0.1, 0.2, 0.4, 0.7};
    constexpr std::size_t kFewest = 4;
    // After this, sets and flags have another method (element_constraints.cpp), counters only
    // SAT.
    const std::size_t count = h_.ops.size(),
                      most_work = 2000 + (type_.traits().sums ? 100 : 20) * count;
    std::size_t at = 0, farthest = 0, back = kFewest;
    while (at < count) {
      if (++work_ % 64 == 0 && budget_.exceeded()) return false;
      if (run(static_cast<OpId>(at))) {
        if (++at <= farthest) continue;
        farthest = at;
        back = std::max(kFewest, back - back / 10);
        continue;
      }
      if (work_ > most_work || width_ < 2 || at == 0) return false;
      for (auto some = 1 + random_.below(std::min(back, at)); some > 0; --some)
        take_back(static_cast<OpId>(--at));
      back = std::min(back + 1 + back / 8, count);
      eager_ = kEager[random_.below(std::size(kEager))];
      noise_ = 2 * random_.unit();
      counted_ = static_cast<Counted>(std::min<std::uint64_t>(random_.below(5), 2));
    }
    return true;
  }

  void take_back(OpId id) {
    const Operation& op = h_.ops[id];
    auto& row = now_[op.replica];
    if (op.seq == 0) {
      std::fill(row.begin(), row.end(), 0);
      return;
    }
    const auto before = clocks_.row(h_.by_replica[op.replica][op.seq - 1]);
    std::copy(before.begin(), before.end(), row.begin());
    row[op.replica] = op.seq;
  }

  bool run(OpId id) {
    const Operation& op = h_.ops[id];
    auto& row = now_[op.replica];
    for (std::size_t j = 0; eager_ > 0 && j < width_; ++j) {
      while (j != op.replica && row[j] < now_[j][j] && random_.chance(eager_)) {
        auto then = row;
        deliver(then, h_.by_replica[j][row[j]]);
        if (!plan_.is_empty() && plan_.next_read(id) != kNone &&
            !plan_.has(plan_.next_read(id), then))
          break;
        row = std::move(then);
      }
    }
    if (is_read(op.kind) && !(plan_.is_empty() ? reach(id) : reach_planned(id))) {
      take_back(id);
      return false;
    }
    std::copy(row.begin(), row.end(), clocks_.row(id).begin());
    row[op.replica] = op.seq + 1;
    return true;
  }

  void deliver(Row& row, OpId update) const {
    const auto past = clocks_.row(update);
    for (std::size_t j = 0; j < width_; ++j) row[j] = std::max(row[j], past[j]);
    auto& own = row[h_.ops[update].replica];
    own = std::max(own, h_.ops[update].seq + 1);
  }

  [[nodiscard]] std::int64_t value(const Row& row, std::uint32_t key) const {
    std::int64_t sum = 0;
    for (std::size_t j = 0; j < width_; ++j) {
      const UpdateLines::Line& l = lines_.of(key, j);
      if (!l.all.empty()) sum += l.sums[UpdateLines::below(l.all, row[j])];
    }
    return sum;
  }

  // Is the object on, for a replica that has seen this?
  [[nodiscard]] bool holds(const Row& row, std::uint32_t object) {
    bool any_loser = false;
    last_.assign(width_, kNone);
    for (std::size_t k = 0; k < width_; ++k) {
      const auto& loses = lines_.of(object, k).loses;
      if (const auto seen = UpdateLines::below(loses, row[k]); seen > 0) {
        last_[k] = h_.by_replica[k][loses[seen - 1]];
        any_loser = true;
      }
    }
    // Only the last winner of a replica can be maximal, and the last loser has seen most.
    for (std::size_t j = 0; j < width_; ++j) {
      const auto& wins = lines_.of(object, j).wins;
      const auto seen = UpdateLines::below(wins, row[j]);
      if (seen == 0) continue;
      const bool overwritten =
          !wins_for_good_ && std::any_of(last_.begin(), last_.end(), [&](OpId l) {
            return l != kNone && clocks_.row(l)[j] > wins[seen - 1];
          });
      if (!overwritten) return up_wins_;
    }
    return up_wins_ ? false : any_loser;
  }

  // Last writer wins: may the last update that the replica has seen be what the read says? Which
  // one is the last is decided in the end.
  [[nodiscard]] bool may_hold(const Row& row, const Claim& claim) {
    last_.assign(width_, kNone);
    bool any = false;
    for (std::size_t k = 0; k < width_; ++k) {
      const auto& all = lines_.of(claim.element, k).all;
      const auto seen = UpdateLines::below(all, row[k]);
      if (seen == 0) continue;
      last_[k] = h_.by_replica[k][all[seen - 1]];
      any = true;
    }
    if (!any) return !claim.returned;
    const Kind kind = claim.returned ? Kind::kUp : Kind::kDown;
    return std::any_of(last_.begin(), last_.end(), [&](OpId u) {
      return u != kNone && h_.ops[u].kind == kind &&
             std::none_of(last_.begin(), last_.end(), [&](OpId other) {
               return other != kNone && other != u &&
                      clocks_.row(other)[h_.ops[u].replica] > h_.ops[u].seq;
             });
    });
  }

  // An object of which a read would be wrong; nothing if none.
  std::optional<std::uint32_t> wrong(OpId id, const Row& row) {
    const Operation& op = h_.ops[id];
    ++work_;
    if (op.kind == Kind::kValue)
      return value(row, op.key) == op.amount ? std::nullopt : std::optional(op.key);
    const auto [begin, end] = claims_of_op_[id];
    const auto count = end - begin;
    const auto first = count > 1 ? random_.below(count) : 0;
    for (std::uint32_t k = 0; k < count; ++k) {
      const Claim& claim = claims_[begin + (k + first) % count];
      const bool fits =
          last_wins_ ? may_hold(row, claim) : holds(row, claim.element) == claim.returned;
      if (!fits) return claim.element;
    }
    return std::nullopt;
  }

  // Deliveries, the fewest first, until the read is right.
  bool reach(OpId id) {
    constexpr std::size_t kMostTried = 100;
    struct Node {
      double cost;
      std::uint32_t wrong;
      Row row;
      bool operator<(const Node& o) const { return cost > o.cost; }
    };
    const Operation& op = h_.ops[id];
    auto& row = now_[op.replica];
    const auto object = wrong(id, row);
    if (!object) return true;
    std::priority_queue<Node> open;
    std::set<Row> known;
    open.push({0, *object, row});
    for (std::size_t tried = 0; !open.empty() && tried < kMostTried; ++tried) {
      const Node node = open.top();
      open.pop();
      for (std::size_t j = 0; j < width_; ++j) {
        if (j == op.replica) continue;
        const auto& updates = lines_.of(node.wrong, j).all;
        const auto next = UpdateLines::below(updates, node.row[j]);
        if (next == updates.size() || updates[next] >= now_[j][j]) continue;
        Node then{node.cost, 0, node.row};
        deliver(then.row, h_.by_replica[j][updates[next]]);
        if (!known.insert(then.row).second) continue;
        const auto still = wrong(id, then.row);
        if (!still) {
          row = std::move(then.row);
          return true;
        }
        then.wrong = *still;
        double more = 0;
        for (std::size_t k = 0; k < width_; ++k) more += then.row[k] - node.row[k];
        then.cost += more * (1 + noise_ * random_.unit());
        open.push(std::move(then));
      }
    }
    return false;
  }

  // As reach(), of what the plan covers: of all that is right what costs least.
  bool reach_planned(OpId id) {
    const Operation& op = h_.ops[id];
    auto& row = now_[op.replica];
    const std::size_t a = plan_.first_other(op.replica), b = plan_.second_other(op.replica);
    const std::int64_t rest =
        op.amount - UpdateLines::sum_of(lines_.of(op.key, op.replica), op.seq);
    std::optional<Row> best;
    double least = 0;
    const auto offer = [&](Row then) {
      const UpdateLines::Line& l = lines_.of(op.key, b);
      while (plan_.has(id, then)) {
        ++work_;
        const std::int64_t left = rest - UpdateLines::sum_of(lines_.of(op.key, a), then[a]);
        if (width_ < 3 ? left == 0 : UpdateLines::sum_of(l, then[b]) == left) {
          const double cost = (counted_ == Counted::kSecond ? 0.0 : then[a] - row[a]) +
                              (counted_ == Counted::kFirst ? 0.0 : then[b] - row[b]);
          const double noisy = cost * (1 + noise_ * random_.unit());
          if (!best || noisy < least) {
            least = noisy;
            best = std::move(then);
          }
          return;
        }
        if (width_ < 3) return;
        // The next sum that fits; with its past comes more of the first, and then another.
        const auto seen = static_cast<Number>(UpdateLines::below(l.all, then[b]));
        const auto fits = std::upper_bound(l.by_sum.begin(), l.by_sum.end(), std::pair(left, seen));
        if (fits == l.by_sum.end() || fits->first != left) return;
        const Number last = l.all[fits->second - 1];
        if (last >= now_[b][b]) return;
        deliver(then, h_.by_replica[b][last]);
      }
    };
    offer(row);
    const auto& updates = lines_.of(op.key, a).all;
    const Number most = plan_.most(id);
    for (auto n = UpdateLines::below(updates, row[a]); n < updates.size() && updates[n] < most;
         ++n) {
      auto then = row;
      deliver(then, h_.by_replica[a][updates[n]]);
      offer(std::move(then));
    }
    if (!best) return false;
    row = std::move(*best);
    return true;
  }

  const History& h_;
  const ReplicatedType& type_;
  const TypeTraits::Membership membership_ =
      type_.traits().membership.value_or(TypeTraits::Membership{.up_wins = false});
  const bool up_wins_ = membership_.up_wins, wins_for_good_ = membership_.for_good,
             last_wins_ = membership_.last_wins;
  base::Budget& budget_;
  const std::size_t width_;
  const UpdateLines lines_;
  CounterPlan plan_;
  Clocks clocks_;
  base::Random random_;
  // How the next operations run: chance of deliveries that were not needed, how far from the
  // cheapest what is delivered may be, and, planned, which of the other replicas counts.
  enum class Counted : std::uint8_t { kFirst, kSecond, kBoth };
  double eager_ = 0, noise_ = 0;
  Counted counted_ = Counted::kBoth;
  std::size_t work_ = 0;
  std::vector<Row> now_;  // what each replica has seen
  std::vector<OpId> last_;
  std::vector<Claim> claims_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> claims_of_op_;
};

}  // namespace

std::optional<Decision> decide_search(const History& history, const Axioms&, base::Budget& budget) {
  return Search(history, budget).decide();
}

}  // namespace cupel::crdt
