// Oracle: all strict partial orders that contain the replica order, by deciding each
// pair of operations in turn and closing; then the axioms as they are printed.
#include "oracle.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>

#include "crdt/model/marks.hpp"
#include "document_oracle.hpp"

namespace cupel::crdt {

namespace {

using Mask = std::uint32_t;

class Oracle {
 public:
  Oracle(const History& history, bool strict)
      : h_(history), strict_(strict), n_(history.ops.size()) {}
  Oracle(const History& history, TestOfPast test)
      : h_(history), strict_(false), n_(history.ops.size()), test_(std::move(test)) {}

  bool run() {
    std::vector<Mask> past(n_, 0);
    for (const auto& line : h_.by_replica) {
      Mask before = 0;
      for (const OpId id : line) {
        past[id] = before;
        before |= bit(id);
      }
    }
    std::vector<Mask> apart(n_, 0);
    return next(past, apart, 0);
  }

  [[nodiscard]] bool axioms(const std::vector<Mask>& past) const {
    for (OpId o = 0; o < n_; ++o) {
      for (OpId u = 0; u < n_; ++u) {
        if ((past[o] & bit(u)) && h_.ops[o].replica != h_.ops[u].replica &&
            h_.ops[u].begun > h_.ops[o].ended)
          return false;
      }
    }
    switch (h_.type) {
      case Type::kAddWinsSet:
      case Type::kEnableWinsFlag:
      case Type::kRemoveWinsSet:
      case Type::kDisableWinsFlag:
        return sets(past);
      case Type::kGrowOnlySet:
      case Type::kTwoPhaseSet:
        return added_and_not_removed(past);
      case Type::kLastWriterWinsSet:
        return last_updates(past);
      case Type::kCounter:
        return counters(past);
      case Type::kResettableCounter:
        return resettable(past);
      case Type::kBoundedCounter:
        return counters(past) && none_below_zero();
      case Type::kMultiValueRegister:
        return multi_value(past);
      case Type::kLastWriterWinsRegister:
      case Type::kLastWriterWinsMap:
        return last_writer(past, 0, {});
      case Type::kAnyMaximalRegister:
        return any_maximal(past);
      case Type::kMaxRegister:
        return greatest(past);
      case Type::kGrowableArray:
        return array(past);
      case Type::kStrongList:
      case Type::kText:
        return characters(past, false) && list(past);
      case Type::kNonInterleavingList:
        return characters(past, false) &&
               list(past, [&](const auto& order) { return keeps_runs(order, past); });
      case Type::kMarkedText:
        return characters(past, false) && list(past) && marks(past);
      case Type::kWeakList:
        return characters(past, false) && weak_list(past, 0, {});
      case Type::kMovableList:
        return movable_list(past);
      case Type::kTree:
        return trees(past);
      case Type::kMap:
      case Type::kRemoveWinsMap:
      case Type::kUpdateWinsMap:
      case Type::kResetMap:
        return document_is_admitted(h_, past);
    }
    return false;
  }

 private:
  static Mask bit(std::size_t i) { return Mask{1} << i; }

  bool next(const std::vector<Mask>& past, const std::vector<Mask>& apart, std::size_t pair) const {
    for (; pair < n_ * n_; ++pair) {
      const auto a = pair / n_, b = pair % n_;
      if (a >= b || h_.ops[a].replica == h_.ops[b].replica) continue;
      if ((past[b] & bit(a)) || (past[a] & bit(b)) || (apart[a] & bit(b))) continue;
      auto separate = apart;
      separate[a] |= bit(b);
      separate[b] |= bit(a);
      if (next(past, separate, pair + 1)) return true;
      for (const auto& [first, second] : {std::pair{a, b}, std::pair{b, a}}) {
        auto with = past;
        const Mask added = past[first] | bit(first);
        bool well = !(added & bit(second));
        for (std::size_t o = 0; o < n_ && well; ++o) {
          if (o == second || (past[o] & bit(second))) {
            with[o] |= added;
            well = !(with[o] & bit(o)) && !(with[o] & apart[o]);
          }
        }
        if (well && next(with, apart, pair + 1)) return true;
      }
      return false;
    }
    return test_ ? test_(past) : axioms(past);
  }

  // ReadFromMaximal and ReadAllMaximals: what is read is exactly the maximal ones.
  [[nodiscard]] std::vector<OpId> maximals(const std::vector<Mask>& past, OpId read,
                                           const std::function<bool(OpId)>& related) const {
    std::vector<OpId> found;
    for (OpId o = 0; o < n_; ++o) {
      if (!(past[read] & bit(o)) || !related(o)) continue;
      bool maximal = true;
      for (OpId other = 0; other < n_; ++other) {
        if (other != o && (past[read] & bit(other)) && related(other) && (past[other] & bit(o)))
          maximal = false;
      }
      if (maximal) found.push_back(o);
    }
    return found;
  }

  bool sets(const std::vector<Mask>& past) const {
    const bool set = h_.type == Type::kAddWinsSet || h_.type == Type::kRemoveWinsSet;
    const bool add_wins = h_.type == Type::kAddWinsSet || h_.type == Type::kEnableWinsFlag;
    for (OpId r = 0; r < n_; ++r) {
      const auto& read = h_.ops[r];
      if (read.kind != Kind::kTest && read.kind != Kind::kState) continue;
      const std::size_t objects = set ? h_.elements.size() : h_.keys.size();
      for (std::uint32_t x = 0; x < objects; ++x) {
        if (read.kind == Kind::kTest && x != (set ? read.element : read.key)) continue;
        if (read.kind == Kind::kState && h_.elements[x].key != read.key) continue;
        bool returned = read.returned;
        if (read.kind == Kind::kState) {
          const auto list = h_.list(read);
          returned = std::find(list.begin(), list.end(), x) != list.end();
        }
        const auto rf = maximals(past, r, [&](OpId o) {
          return !is_read(h_.ops[o].kind) && (set ? h_.ops[o].element : h_.ops[o].key) == x;
        });
        const bool reads_add =
            std::any_of(rf.begin(), rf.end(), [&](OpId o) { return h_.ops[o].kind == Kind::kUp; });
        const bool reads_remove = std::any_of(
            rf.begin(), rf.end(), [&](OpId o) { return h_.ops[o].kind == Kind::kDown; });
        // RetValSet(contains, true, add), or RetValSet(contains, false, remove) with the
        // initial remove that has no operation.
        const bool expected = add_wins ? reads_add : !(reads_remove || rf.empty());
        if (returned != expected) return false;
      }
    }
    return true;
  }

  // An element is there with a visible add and no visible remove.
  bool added_and_not_removed(const std::vector<Mask>& past) const {
    for (OpId r = 0; r < n_; ++r) {
      const auto& read = h_.ops[r];
      if (!is_read(read.kind)) continue;
      const auto list = h_.list(read);
      for (std::uint32_t e = 0; e < h_.elements.size(); ++e) {
        if (h_.elements[e].key != read.key) continue;
        if (read.kind == Kind::kTest && e != read.element) continue;
        const auto sees = [&](Kind kind) {
          for (OpId u = 0; u < n_; ++u) {
            if ((past[r] & bit(u)) && h_.ops[u].kind == kind && h_.ops[u].element == e) return true;
          }
          return false;
        };
        const bool returned = read.kind == Kind::kTest
                                  ? read.returned
                                  : std::find(list.begin(), list.end(), e) != list.end();
        if (returned != (sees(Kind::kUp) && !sees(Kind::kDown))) return false;
      }
    }
    return true;
  }

  // For each element some order of all its updates contains happens-before, and each read shows it
  // if the last update of the order that the read has seen is an add.
  bool last_updates(const std::vector<Mask>& past) const {
    for (std::uint32_t e = 0; e < h_.elements.size(); ++e) {
      std::vector<OpId> order;
      for (OpId u = 0; u < n_; ++u) {
        if (!is_read(h_.ops[u].kind) && h_.ops[u].element == e) order.push_back(u);
      }
      bool found = false;
      do {
        found = order_shows(past, e, order);
      } while (!found && std::next_permutation(order.begin(), order.end()));
      if (!found) return false;
    }
    return true;
  }

  bool order_shows(const std::vector<Mask>& past, std::uint32_t e,
                   const std::vector<OpId>& order) const {
    Mask later = 0;
    for (auto u = order.rbegin(); u != order.rend(); ++u) {
      if (past[*u] & later) return false;
      later |= bit(*u);
    }
    for (OpId r = 0; r < n_; ++r) {
      const auto& read = h_.ops[r];
      if (!is_read(read.kind) || h_.elements[e].key != read.key ||
          (read.kind == Kind::kTest && read.element != e))
        continue;
      const auto list = h_.list(read);
      const bool returned = read.kind == Kind::kTest
                                ? read.returned
                                : std::find(list.begin(), list.end(), e) != list.end();
      bool on = false;
      for (const OpId u : order) {
        if (past[r] & bit(u)) on = h_.ops[u].kind == Kind::kUp;
      }
      if (on != returned) return false;
    }
    return true;
  }

  bool counters(const std::vector<Mask>& past) const {
    for (OpId r = 0; r < n_; ++r) {
      if (h_.ops[r].kind != Kind::kValue) continue;
      std::int64_t sum = 0;
      for (OpId o = 0; o < n_; ++o) {
        if ((past[r] & bit(o)) && h_.ops[o].kind == Kind::kInc && h_.ops[o].key == h_.ops[r].key)
          sum += h_.ops[o].amount;
      }
      if (sum != h_.ops[r].amount) return false;
    }
    return true;
  }

  bool none_below_zero() const {
    return std::none_of(h_.ops.begin(), h_.ops.end(), [](const Operation& op) {
      return op.kind == Kind::kValue && op.amount < 0;
    });
  }

  // The sum of the visible updates u for which there is no visible reset that observed u.
  bool resettable(const std::vector<Mask>& past) const {
    for (OpId r = 0; r < n_; ++r) {
      if (h_.ops[r].kind != Kind::kValue) continue;
      std::int64_t sum = 0;
      for (OpId u = 0; u < n_; ++u) {
        if (!(past[r] & bit(u)) || h_.ops[u].kind != Kind::kInc || h_.ops[u].key != h_.ops[r].key)
          continue;
        bool undone = false;
        for (OpId z = 0; z < n_; ++z)
          undone = undone || (h_.ops[z].kind == Kind::kReset && h_.ops[z].key == h_.ops[r].key &&
                              (past[r] & bit(z)) && (past[z] & bit(u)));
        if (!undone) sum += h_.ops[u].amount;
      }
      if (sum != h_.ops[r].amount) return false;
    }
    return true;
  }

  bool any_maximal(const std::vector<Mask>& past) const {
    for (OpId r = 0; r < n_; ++r) {
      if (h_.ops[r].kind != Kind::kValues) continue;
      const auto rf = maximals(past, r, [&](OpId o) {
        return h_.ops[o].kind == Kind::kWrite && h_.ops[o].key == h_.ops[r].key;
      });
      const auto list = h_.list(h_.ops[r]);
      const bool found = std::any_of(rf.begin(), rf.end(), [&](OpId o) {
        return !list.empty() && h_.ops[o].element == list[0];
      });
      if (!(list.empty() ? rf.empty() : found)) return false;
    }
    return true;
  }

  bool greatest(const std::vector<Mask>& past) const {
    for (OpId r = 0; r < n_; ++r) {
      if (h_.ops[r].kind != Kind::kValues) continue;
      OpId most = kNone;
      for (OpId w = 0; w < n_; ++w) {
        if (!(past[r] & bit(w)) || h_.ops[w].kind != Kind::kWrite || h_.ops[w].key != h_.ops[r].key)
          continue;
        if (most == kNone || std::stoll(h_.elements[h_.ops[most].element].text) <
                                 std::stoll(h_.elements[h_.ops[w].element].text))
          most = w;
      }
      const auto list = h_.list(h_.ops[r]);
      if (most == kNone ? !list.empty() : list.empty() || list[0] != h_.ops[most].element)
        return false;
    }
    return true;
  }

  bool multi_value(const std::vector<Mask>& past) const {
    for (OpId r = 0; r < n_; ++r) {
      if (h_.ops[r].kind != Kind::kValues) continue;
      const auto rf = maximals(past, r, [&](OpId o) {
        return h_.ops[o].kind == Kind::kWrite && h_.ops[o].key == h_.ops[r].key;
      });
      const auto list = h_.list(h_.ops[r]);
      for (const OpId o : rf) {
        if (std::find(list.begin(), list.end(), h_.ops[o].element) == list.end()) return false;
      }
      for (const auto v : list) {
        const auto count =
            std::count_if(rf.begin(), rf.end(), [&](OpId o) { return h_.ops[o].element == v; });
        if (count == 0 || (strict_ && count > 1)) return false;
        if (count < std::count(list.begin(), list.end(), v)) return false;
      }
    }
    return true;
  }

  using Arcs = std::vector<std::pair<OpId, OpId>>;

  bool last_writer(const std::vector<Mask>& past, OpId r, const Arcs& lin) const {
    if (r == n_ && h_.type == Type::kLastWriterWinsRegister) return acyclic(past, lin);
    for (std::uint32_t key = 0; r == n_ && key < h_.keys.size(); ++key) {
      Arcs of_key;  // some total order of the writes of each key
      for (const auto& arc : lin) {
        if (h_.ops[arc.first].key == key) of_key.push_back(arc);
      }
      if (!acyclic(past, of_key)) return false;
    }
    if (r == n_) return true;
    if (h_.ops[r].kind != Kind::kValues) return last_writer(past, r + 1, lin);
    const auto list = h_.list(h_.ops[r]);
    const auto sees_write = [&](OpId o) {
      return (past[r] & bit(o)) && h_.ops[o].kind == Kind::kWrite && h_.ops[o].key == h_.ops[r].key;
    };
    if (list.empty()) {
      for (OpId o = 0; o < n_; ++o) {
        if (sees_write(o)) return false;
      }
      return last_writer(past, r + 1, lin);
    }
    for (OpId w = 0; w < n_; ++w) {  // which write it reads from
      if (!sees_write(w) || h_.ops[w].element != list[0]) continue;
      Arcs more = lin;
      for (OpId o = 0; o < n_; ++o) {
        if (o != w && sees_write(o)) more.emplace_back(o, w);
      }
      if (last_writer(past, r + 1, more)) return true;
    }
    return false;
  }

  // Does a total order contain both?
  bool acyclic(const std::vector<Mask>& past, const Arcs& arcs) const {
    std::vector<Mask> before(past);
    for (const auto& [a, b] : arcs) before[b] |= bit(a);
    Mask done = 0;
    for (std::size_t round = 0; round < n_; ++round) {
      std::size_t chosen = n_;
      for (std::size_t o = 0; o < n_ && chosen == n_; ++o) {
        if (!(done & bit(o)) && (before[o] & ~done) == 0) chosen = o;
      }
      if (chosen == n_) return false;
      done |= bit(chosen);
    }
    return true;
  }

  // The characters of the reads, whatever their order.
  bool characters(const std::vector<Mask>& past, bool strict) const {
    std::vector<OpId> insert(h_.elements.size(), kNone);
    for (OpId o = 0; o < n_; ++o) {
      if (h_.ops[o].kind != Kind::kInsert) continue;
      for (const auto e : h_.changed(h_.ops[o])) insert[e] = o;
    }
    const auto sees_insert = [&](OpId o, std::uint32_t e) {
      return insert[e] != kNone && (past[o] & bit(insert[e]));
    };
    for (OpId o = 0; o < n_; ++o) {
      const auto& op = h_.ops[o];
      if (op.kind == Kind::kInsert && op.parent != kNone && !sees_insert(o, op.parent))
        return false;
      if (op.kind == Kind::kDelete &&
          h_.any_changed(op, [&](std::uint32_t e) { return !sees_insert(o, e); }))
        return false;
      if (op.kind != Kind::kList) continue;
      const auto list = h_.list(op);
      for (const auto e : list) {
        if (!sees_insert(o, e) || std::count(list.begin(), list.end(), e) != 1) return false;
      }
      for (std::uint32_t e = 0; e < h_.elements.size(); ++e) {
        if (h_.elements[e].key != op.key) continue;
        bool sees_remove = false;
        for (OpId d = 0; d < n_; ++d)
          sees_remove = sees_remove || ((past[o] & bit(d)) && removes(d, e));
        const bool shown = std::find(list.begin(), list.end(), e) != list.end();
        if (!shown && sees_insert(o, e) && !sees_remove) return false;
        if (shown && sees_remove && !strict) return false;
      }
    }
    return true;
  }

  // Does some order of these updates that contains happens-before fit each operation?
  bool some_order(std::vector<OpId> order, const std::vector<Mask>& past,
                  const std::function<bool(const std::vector<OpId>&, OpId)>& fits) const {
    do {
      bool well = true;
      for (std::size_t i = 0; i < order.size(); ++i) {
        for (std::size_t j = i + 1; j < order.size(); ++j)
          well = well && !(past[order[i]] & bit(order[j]));
      }
      for (OpId r = 0; r < n_ && well; ++r) well = fits(order, r);
      if (well) return true;
    } while (std::next_permutation(order.begin(), order.end()));
    return false;
  }

  // For each text, some order of its marks that contains happens-before gives each character that a
  // read shows the marks that it shows.
  bool marks(const std::vector<Mask>& past) const {
    for (OpId o = 0; o < n_; ++o) {
      const auto& op = h_.ops[o];
      const auto not_seen = [&](std::uint32_t e) {
        for (OpId i = 0; i < n_; ++i) {
          if (inserts(i, e) && (past[o] & bit(i))) return false;
        }
        return true;
      };
      if (op.kind == Kind::kMark && h_.any_changed(op, not_seen)) return false;
    }
    for (std::uint32_t key = 0; key < h_.keys.size(); ++key) {
      std::vector<OpId> updates;
      for (OpId o = 0; o < n_; ++o) {
        if (h_.ops[o].kind == Kind::kMark && h_.ops[o].key == key) updates.push_back(o);
      }
      const auto fits = [&](const std::vector<OpId>& order, OpId r) {
        return h_.ops[r].kind != Kind::kList || h_.ops[r].key != key || marked(order, past, r);
      };
      if (!some_order(std::move(updates), past, fits)) return false;
    }
    return true;
  }
  [[nodiscard]] bool inserts(OpId i, std::uint32_t e) const {
    return h_.ops[i].kind == Kind::kInsert &&
           h_.any_changed(h_.ops[i], [&](std::uint32_t other) { return other == e; });
  }
  [[nodiscard]] bool names(OpId mark, std::uint32_t e) const {
    return h_.any_changed(h_.ops[mark], [&](std::uint32_t other) { return other == e; });
  }
  [[nodiscard]] bool is_new(OpId mark, std::uint32_t e, const std::vector<Mask>& past) const {
    bool inserted = false, removed = false;
    for (OpId u = 0; u < n_; ++u) {
      if (!(past[mark] & bit(u))) continue;
      inserted = inserted || inserts(u, e);
      removed = removed || removes(u, e);
    }
    return !inserted || removed;
  }
  enum class Cover { kNo, kPerhaps, kYes };
  [[nodiscard]] Cover covers(OpId mark, OpId read, std::size_t at,
                             const std::vector<Mask>& past) const {
    const auto list = h_.list(h_.ops[read]);
    if (names(mark, list[at])) return Cover::kYes;
    if (!is_new(mark, list[at], past)) return Cover::kNo;
    if (std::none_of(list.begin(), list.end(), [&](std::uint32_t e) { return names(mark, e); }))
      return Cover::kPerhaps;
    // The nearest ones that are not new, on both sides.
    const auto is_named = [&](std::ptrdiff_t step) {
      auto i = static_cast<std::ptrdiff_t>(at) + step;
      const auto size = static_cast<std::ptrdiff_t>(list.size());
      const auto here = [&] { return list[static_cast<std::size_t>(i)]; };
      while (i >= 0 && i < size && !names(mark, here()) && is_new(mark, here(), past)) i += step;
      return i >= 0 && i < size && names(mark, here());
    };
    const bool left = is_named(-1), right = is_named(1);
    return left && right ? Cover::kYes : left || right ? Cover::kPerhaps : Cover::kNo;
  }
  // Each name of a mark at each character: of some of the marks that may cover it, and those that
  // do, the last one has the value that is shown.
  bool marked(const std::vector<OpId>& order, const std::vector<Mask>& past, OpId read) const {
    const auto list = h_.list(h_.ops[read]);
    std::map<std::pair<std::uint32_t, std::string>, std::string> shown;
    for_shown_marks(h_, h_.ops[read],
                    [&](const std::string& name, const std::string& value,
                        std::span<const std::uint32_t> characters) {
                      for (const auto e : characters) shown[{e, name}] = value;
                    });
    std::map<OpId, std::pair<std::string, std::string>> marks;
    std::set<std::string> names_of_marks;
    for (const auto& [at, value] : shown) names_of_marks.insert(at.second);
    for (const OpId o : order) {
      const std::string& text = h_.elements[h_.ops[o].parent].text;  // ["bold",true]
      const auto comma = text.find(',');
      marks[o] = {text.substr(1, comma - 1), text.substr(comma + 1, text.size() - comma - 2)};
      names_of_marks.insert(marks[o].first);
    }
    for (std::size_t at = 0; at < list.size(); ++at) {
      for (const auto& name : names_of_marks) {
        const auto there = shown.find({list[at], name});
        const std::string said = there == shown.end() ? "null" : there->second;
        std::vector<OpId> perhaps;
        Mask surely = 0;
        for (const OpId o : order) {
          if (marks[o].first != name || !(past[read] & bit(o))) continue;
          const auto cover = covers(o, read, at, past);
          if (cover == Cover::kYes) surely |= bit(o);
          if (cover == Cover::kPerhaps) perhaps.push_back(o);
        }
        bool found = false;
        for (Mask some = 0; some < bit(perhaps.size()); ++some) {
          Mask all = surely;
          for (std::size_t i = 0; i < perhaps.size(); ++i) {
            if (some & bit(i)) all |= bit(perhaps[i]);
          }
          std::string value = "null";
          for (const OpId o : order) {
            if (all & bit(o)) value = marks[o].second;
          }
          found = found || value == said;
        }
        if (!found) return false;
      }
    }
    return true;
  }

  // Each operation from this one on returns its characters in some order, and no two of them have
  // different orders of two characters: `fronts` has the first in front of the second. An addition
  // whose neighbour is not shown orders it, too.
  using Fronts = std::set<std::pair<std::uint32_t, std::uint32_t>>;
  bool weak_list(const std::vector<Mask>& past, OpId o, const Fronts& fronts) const {
    if (o == n_) return true;
    const auto& op = h_.ops[o];
    std::vector<std::uint32_t> state;
    for (std::uint32_t e = 0; e < h_.elements.size(); ++e) {
      bool added = false, removed = false;
      for (OpId u = 0; u < n_; ++u) {
        if (!(past[o] & bit(u)) && u != o) continue;
        added = added || (h_.ops[u].kind == Kind::kInsert && h_.ops[u].element == e);
        removed = removed || removes(u, e);
      }
      if (h_.elements[e].key != op.key || !added) continue;
      if (!removed || (op.kind == Kind::kInsert && op.parent == e)) state.push_back(e);
    }
    const auto list = h_.list(op);
    if (op.kind == Kind::kList) state.assign(list.begin(), list.end());
    do {
      auto with = fronts;
      bool well = true;
      for (std::size_t i = 0; i < state.size(); ++i) {
        for (std::size_t k = i + 1; k < state.size(); ++k) {
          well = well && !fronts.contains({state[k], state[i]});
          with.insert({state[i], state[k]});
        }
        if (op.kind == Kind::kInsert && state[i] == op.element)
          well = well && (i == 0 ? kNone : state[i - 1]) == op.parent;
      }
      if (well && weak_list(past, o + 1, with)) return true;
    } while (op.kind != Kind::kList && std::next_permutation(state.begin(), state.end()));
    return false;
  }

  // For each key, some order of all its moves that contains happens-before makes the trees that the
  // reads show, one move after the other, those below the node itself left out.
  bool trees(const std::vector<Mask>& past) const {
    for (OpId o = 0; o < n_; ++o) {
      const auto& op = h_.ops[o];
      const auto named = op.kind == Kind::kMove     ? op.parent
                         : op.kind == Kind::kDelete ? op.element
                                                    : kNone;
      if (named == kNone) continue;
      bool seen = false;
      for (OpId m = 0; m < n_; ++m)
        seen =
            seen || ((past[o] & bit(m)) && !is_read(h_.ops[m].kind) && h_.ops[m].element == named);
      if (!seen) return false;
    }
    for (std::uint32_t key = 0; key < h_.keys.size(); ++key) {
      std::vector<OpId> updates;
      for (OpId o = 0; o < n_; ++o) {
        if (!is_read(h_.ops[o].kind) && h_.ops[o].key == key) updates.push_back(o);
      }
      const auto fits = [&](const std::vector<OpId>& order, OpId r) {
        return h_.ops[r].kind != Kind::kTree || h_.ops[r].key != key || makes(order, past[r], r);
      };
      if (!some_order(std::move(updates), past, fits)) return false;
    }
    return true;
  }
  bool makes(const std::vector<OpId>& order, Mask seen, OpId read) const {
    const std::uint32_t gone = kNone - 1;
    std::map<std::uint32_t, std::uint32_t> parent;  // kNone: none
    const auto is_under = [&](std::uint32_t node, std::uint32_t above) {
      while (node != above && parent.contains(node)) node = parent.at(node);
      return node == above;
    };
    for (const OpId o : order) {
      if (!(seen & bit(o))) continue;
      const auto& op = h_.ops[o];
      const auto to = op.kind == Kind::kDelete ? gone : op.parent;
      if (!is_under(to, op.element)) parent[op.element] = to;
    }
    std::set<std::pair<std::uint32_t, std::uint32_t>> tree, shown;
    for (const auto& [node, above] : parent) {
      if (is_under(node, kNone)) tree.insert({node, above});
    }
    const auto list = h_.list(h_.ops[read]);
    for (std::size_t i = 0; i < list.size(); i += 2)
      shown.insert({list[i], list[i] == list[i + 1] ? kNone : list[i + 1]});
    return tree == shown && 2 * shown.size() == list.size();
  }

  [[nodiscard]] bool is_move(OpId o) const {
    return h_.ops[o].kind == Kind::kInsert || h_.ops[o].kind == Kind::kMove;
  }

  // For each key, one order says which move of an element is the last, and another one where the
  // places are: any two orders of the insertions and moves of the key, the first with
  // happens-before of each element.
  bool movable_list(const std::vector<Mask>& past) const {
    for (OpId o = 0; o < n_; ++o) {
      const auto& op = h_.ops[o];
      if (is_read(op.kind)) continue;
      for (const auto named : {op.parent, op.kind == Kind::kInsert ? kNone : op.element}) {
        bool seen = named == kNone;
        for (OpId u = 0; u < n_; ++u)
          seen = seen || ((past[o] & bit(u)) && is_move(u) && h_.ops[u].element == named);
        if (!seen) return false;
      }
    }
    for (std::uint32_t key = 0; key < h_.keys.size(); ++key) {
      std::vector<OpId> turns;
      for (OpId o = 0; o < n_; ++o) {
        if (is_move(o) && h_.ops[o].key == key) turns.push_back(o);
      }
      bool found = false;
      do {
        bool well = true;
        for (std::size_t i = 0; i < turns.size(); ++i) {
          for (std::size_t j = i + 1; j < turns.size(); ++j) {
            const bool same = h_.ops[turns[i]].element == h_.ops[turns[j]].element;
            well = well && !(same && (past[turns[i]] & bit(turns[j])));
          }
        }
        auto places = turns;
        std::sort(places.begin(), places.end());
        while (well && !found) {
          found = stands(turns, places, past, key);
          if (!std::next_permutation(places.begin(), places.end())) break;
        }
      } while (!found && std::next_permutation(turns.begin(), turns.end()));
      if (!found) return false;
    }
    return true;
  }
  bool stands(const std::vector<OpId>& turns, const std::vector<OpId>& places,
              const std::vector<Mask>& past, std::uint32_t key) const {
    const auto last = [&](OpId o, std::uint32_t e) {
      OpId move = kNone;
      for (const OpId m : turns) {
        if ((past[o] & bit(m)) && h_.ops[m].element == e) move = m;
      }
      return move;
    };
    for (OpId o = 0; o < n_; ++o) {
      const auto& op = h_.ops[o];
      if (op.key != key || op.kind == Kind::kDelete) continue;
      std::vector<OpId> shown;  // in order
      for (const OpId m : places) {
        bool there = last(o, h_.ops[m].element) == m;
        for (OpId d = 0; d < n_; ++d) {
          const bool removes = h_.ops[d].kind == Kind::kDelete && (past[o] & bit(d));
          there = there && !(removes && h_.ops[d].element == h_.ops[m].element &&
                             last(d, h_.ops[d].element) == m);
        }
        if (there || (is_move(o) && m == o)) shown.push_back(m);
      }
      if (op.kind == Kind::kList) {
        std::vector<std::uint32_t> elements;
        for (const OpId m : shown) elements.push_back(h_.ops[m].element);
        const auto list = h_.list(op);
        if (!std::equal(elements.begin(), elements.end(), list.begin(), list.end())) return false;
        continue;
      }
      // Its new place: after its neighbour, and nothing else that is shown is between them.
      const OpId left = op.parent == kNone ? kNone : last(o, op.parent);
      const auto at = [&](OpId m) { return std::find(places.begin(), places.end(), m); };
      auto from = places.begin();
      if (left != kNone) from = at(left) + 1;
      if (from > at(o)) return false;
      for (const OpId m : shown) {
        if (h_.ops[m].element != op.element && at(m) >= from && at(m) < at(o)) return false;
      }
    }
    return true;
  }

  using Added = std::pair<std::uint32_t, OpId>;  // a character, and by what

  bool removes(OpId d, std::uint32_t e) const {
    return h_.ops[d].kind == Kind::kDelete &&
           h_.any_changed(h_.ops[d], [&](std::uint32_t other) { return other == e; });
  }

  // Some order of all characters of each key fits the lists, and each addition: of what it sees,
  // nothing is between it and its neighbour.
  bool list(
      const std::vector<Mask>& past, const std::function<bool(const std::vector<Added>&)>& also =
                                         [](const auto&) { return true; }) const {
    for (std::uint32_t key = 0; key < h_.keys.size(); ++key) {
      std::vector<Added> order;
      for (OpId o = 0; o < n_; ++o) {
        if (h_.ops[o].kind != Kind::kInsert || h_.ops[o].key != key) continue;
        for (const auto e : h_.changed(h_.ops[o])) order.emplace_back(e, o);
      }
      std::sort(order.begin(), order.end());
      bool found = false;
      do {
        found = fits(order, key, past) && also(order);
      } while (!found && std::next_permutation(order.begin(), order.end()));
      if (!found) return false;
    }
    return true;
  }
  // Forward: if b was added after a, and its replica had seen nothing else that was, what stands
  // between them had seen a. Backward: the same of what one replica put in front of its own last
  // character at one place, and that character.
  bool keeps_runs(const std::vector<Added>& order, const std::vector<Mask>& past) const {
    const auto place = [&](std::uint32_t e) {
      std::size_t i = 0;
      while (order[i].first != e) ++i;
      return i;
    };
    const auto all_saw = [&](std::size_t from, std::size_t to, OpId seen) {
      for (auto x = from + 1; x < to; ++x) {
        if (!(past[order[x].second] & bit(seen))) return false;
      }
      return true;
    };
    for (std::size_t b = 0; b < order.size(); ++b) {
      const OpId o = order[b].second;
      const auto a = h_.ops[o].parent;
      bool first = a != kNone;
      for (const auto& [e, by] : order)
        first = first && !(h_.ops[by].parent == a && (past[o] & bit(by)));
      if (first && !all_saw(place(a), b, order[place(a)].second)) return false;
      const auto next = run_next(order, b, past);
      if (next != kNone && !all_saw(b, place(next), order[place(next)].second)) return false;
    }
    return true;
  }
  // What the replica of b added last after the same character: it has since seen no other such
  // addition, and no remove of one.
  std::uint32_t run_next(const std::vector<Added>& order, std::size_t b,
                         const std::vector<Mask>& past) const {
    const OpId o = order[b].second;
    OpId own = kNone;
    for (const auto& [e, by] : order) {
      if (h_.ops[by].parent != h_.ops[o].parent || !(past[o] & bit(by))) continue;
      for (OpId d = 0; d < n_; ++d) {
        if ((past[o] & bit(d)) && removes(d, e)) return kNone;
      }
      if (h_.ops[by].replica == h_.ops[o].replica &&
          (own == kNone || h_.ops[own].seq < h_.ops[by].seq))
        own = by;
    }
    if (own == kNone) return kNone;
    for (const auto& [e, by] : order) {
      if (by != own && h_.ops[by].parent == h_.ops[o].parent && (past[o] & bit(by)) &&
          !(past[own] & bit(by)))
        return kNone;
    }
    return h_.ops[own].element;
  }

  static bool removes_or_marks(const Operation& op) {
    return op.kind == Kind::kDelete || op.kind == Kind::kMark;
  }
  bool fits(const std::vector<Added>& order, std::uint32_t key,
            const std::vector<Mask>& past) const {
    std::vector<std::size_t> place(h_.elements.size(), 0);
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i].first] = i + 1;
    for (OpId o = 0; o < n_; ++o) {
      const auto& op = h_.ops[o];
      if (op.key != key) continue;
      const auto list = h_.list(op);
      for (std::size_t i = 1; !removes_or_marks(op) && i < list.size(); ++i) {
        if (place[list[i - 1]] > place[list[i]]) return false;
      }
      if (op.kind != Kind::kInsert) continue;
      // A range is not split, so only its first character has a place to be checked besides.
      const auto range = h_.changed(op);
      const auto left = op.parent == kNone ? 0 : place[op.parent], here = place[range.back()];
      if (left > place[range.front()]) return false;
      for (const auto& [e, x] : order) {
        bool shown = (past[o] & bit(x)) != 0;
        for (OpId d = 0; d < n_; ++d) shown = shown && !((past[o] & bit(d)) && removes(d, e));
        if (shown && left < place[e] && place[e] < here) return false;
      }
    }
    return true;
  }

  bool array(const std::vector<Mask>& past) const {
    if (!characters(past, strict_)) return false;
    std::vector<OpId> insert(h_.elements.size(), kNone);
    for (OpId o = 0; o < n_; ++o) {
      if (h_.ops[o].kind == Kind::kInsert) insert[h_.ops[o].element] = o;
    }
    // rf* over addAfter: is x an ancestor of y, or y itself?
    const auto leads = [&](OpId x, OpId y) {
      for (OpId at = y;;) {
        if (at == x) return true;
        const auto parent = h_.ops[at].parent;
        if (parent == kNone) return false;
        at = insert[parent];
      }
    };
    Arcs lin;
    for (OpId r = 0; r < n_; ++r) {
      if (h_.ops[r].kind != Kind::kList) continue;
      const auto list = h_.list(h_.ops[r]);
      for (std::size_t i = 0; i < list.size(); ++i) {
        for (std::size_t k = i + 1; k < list.size(); ++k) {
          const OpId o4 = insert[list[i]], o3 = insert[list[k]];  // arg(o4) stands before arg(o3)
          if (!strict_ && leads(o3, o4)) return false;
          for (OpId o1 = 0; o1 < n_; ++o1) {
            for (OpId o2 = 0; o2 < n_; ++o2) {
              if (o1 == o2 || h_.ops[o1].kind != Kind::kInsert || h_.ops[o2].kind != Kind::kInsert)
                continue;
              if (h_.ops[o1].key != h_.ops[o2].key || h_.ops[o1].parent != h_.ops[o2].parent)
                continue;
              if (leads(o1, o3) && leads(o2, o4)) lin.emplace_back(o1, o2);
            }
          }
        }
      }
    }
    return acyclic(past, lin);
  }

  const History& h_;
  bool strict_;
  std::size_t n_;
  TestOfPast test_ = {};
};

}  // namespace

bool admitted_by_oracle(const History& history, bool strict) {
  return Oracle(history, strict).run();
}

bool any_happens_before(const History& history, const TestOfPast& test) {
  return Oracle(history, test).run();
}

bool admitted_with(const History& history, const std::vector<std::uint32_t>& past, bool strict) {
  for (OpId o = 0; o < history.ops.size(); ++o) {
    for (OpId p = 0; p < history.ops.size(); ++p) {
      if (!(past[o] & (1U << p))) continue;
      if (p == o || (past[p] & ~past[o])) return false;
    }
    for (OpId p = 0; p < history.ops.size(); ++p) {
      if (history.ops[p].replica == history.ops[o].replica &&
          history.ops[p].seq < history.ops[o].seq && !(past[o] & (1U << p)))
        return false;
    }
  }
  return Oracle(history, strict).axioms(past);
}

bool admitted_as_seen(const History& history, const std::vector<std::uint32_t>& seen, bool strict) {
  return Oracle(history, strict).axioms(seen);
}

}  // namespace cupel::crdt
