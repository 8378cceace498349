// Replicated growable arrays (thesis, algorithms 1 and 2).
//
// The constraints of the reads on the linearization (LinRGA) depend only on the lists: of two
// characters added after the same one, the later in the linearization stands first, followed by all
// characters added after it. Each pair of neighbours in a list gives one step, between the branches
// where their paths separate. The steps of other pairs follow, or close a cycle.
//
// Happens-before is the least relation that contains replica order and read-from. An operation
// reads the addAfter of each character that it names or shows. A read that has seen a character and
// does not show it has seen its remove. A sweep of the clocks may require more removes, until none
// does (algorithm 2's fixpoint). If a character was removed twice, several removes may be the one
// that was seen. One is guessed, and guessed again if a contradiction depends on it. If the guesses
// succeed, the result is a witness; if none does, the exact method decides.
//
// Cost: characters shown × log(characters), and per round (operations × replicas) plus the
// characters shown.

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/hash_table.hpp"
#include "crdt/solve/decide.hpp"
#include "crdt/solve/list_order.hpp"

namespace cupel::crdt {

std::vector<OpId> inserts_of(const History& history) {
  std::vector<OpId> inserts(history.elements.size(), kNone);
  for (OpId id = 0; id < history.ops.size(); ++id) {
    if (history.ops[id].kind != Kind::kInsert) continue;
    for (const auto e : history.changed(history.ops[id])) inserts[e] = id;
  }
  return inserts;
}

std::vector<std::uint32_t> neighbours_of(const History& history) {
  std::vector<std::uint32_t> neighbours(history.elements.size(), kNone);
  for (const Operation& op : history.ops) {
    if (op.kind != Kind::kInsert) continue;
    auto left = op.parent;
    for (const auto e : history.changed(op)) {
      neighbours[e] = left;
      left = e;
    }
  }
  return neighbours;
}

namespace {

// The tree of characters, each after its parent; jumps for lowest common ancestors.
class Tree {
 public:
  Tree(const History& history, const std::vector<OpId>& inserts)
      : history_(history), inserts_(inserts) {
    const std::size_t count = history.elements.size();
    depth_.assign(count, 0);
    jump_.assign(count, {});
    std::vector<std::uint8_t> state(count, 0);
    std::vector<std::uint32_t> stack;
    for (std::uint32_t e = 0; e < count; ++e) {
      for (auto at = e; at != kNone && state[at] == 0; at = parent(at)) {
        state[at] = 1;
        stack.push_back(at);
      }
      for (; !stack.empty(); stack.pop_back()) {
        const auto up = parent(stack.back());
        cyclic_ = cyclic_ || (up != kNone && state[up] != 2);
        settle(stack.back());
        state[stack.back()] = 2;
      }
    }
  }

  // A character that was added after one added after itself: no tree.
  [[nodiscard]] bool cyclic() const { return cyclic_; }

  // The character that is `steps` above.
  [[nodiscard]] std::uint32_t above(std::uint32_t e, std::uint32_t steps) const {
    // Skew-binary jumps (Myers 1983): logarithmic with one jump a node.
    const std::uint32_t target = depth_[e] - steps;
    while (depth_[e] > target)
      e = jump_[e] != kNone && depth_[jump_[e]] >= target ? jump_[e] : parent(e);
    return e;
  }
  // Where the two paths part: the branches below the lowest common ancestor; kNone for a
  // character that is the ancestor itself.
  [[nodiscard]] std::array<std::uint32_t, 2> part(std::uint32_t a, std::uint32_t b) const {
    const auto shallow = std::min(depth_[a], depth_[b]);
    auto x = above(a, depth_[a] - shallow), y = above(b, depth_[b] - shallow);
    if (x == y) {
      return {a == x ? kNone : above(a, depth_[a] - shallow - 1),
              b == y ? kNone : above(b, depth_[b] - shallow - 1)};
    }
    while (parent(x) != parent(y)) {
      // Equal depths have jumps of equal lengths.
      if (jump_[x] != kNone && jump_[x] != jump_[y]) {
        x = jump_[x];
        y = jump_[y];
      } else {
        x = parent(x);
        y = parent(y);
      }
    }
    return {x, y};
  }
  [[nodiscard]] std::uint32_t parent(std::uint32_t e) const {
    return inserts_[e] == kNone ? kNone : history_.ops[inserts_[e]].parent;
  }

 private:
  void settle(std::uint32_t e) {
    const auto up = parent(e);
    depth_[e] = up == kNone ? 1 : depth_[up] + 1;
    jump_[e] = kNone;
    if (up == kNone) return;
    const auto first = jump_[up];
    if (first == kNone) {
      // Depth 2 does not jump; deeper ones as far as two equal jumps reach.
      jump_[e] = up;
      return;
    }
    const auto second = jump_[first];
    const auto second_depth = second == kNone ? 0 : depth_[second];
    jump_[e] =
        second != kNone && depth_[up] - depth_[first] == depth_[first] - second_depth ? second : up;
  }

  const History& history_;
  const std::vector<OpId>& inserts_;
  std::vector<std::uint32_t> depth_, jump_;
  bool cyclic_ = false;
};

}  // namespace

ArrayOrder array_order(const History& history, const Axioms& axioms) {
  ArrayOrder result;
  const auto inserts = inserts_of(history);
  const Tree tree(history, inserts);
  if (tree.cyclic()) return result;  // no happens-before contains that, either
  const auto rooted = [&](std::uint32_t e) { return inserts[e] != kNone; };
  base::HashSet<std::uint64_t> said;
  std::vector<OpId> shown_by(history.elements.size(), kNone);
  for (OpId id = 0; id < history.ops.size(); ++id) {
    if (history.ops[id].kind != Kind::kList) continue;
    const auto list = history.list(history.ops[id]);
    for (const auto e : list) {
      if (shown_by[e] == id) {
        result.impossible = Step{inserts[e], id, Why::kArbitrated, id, e, e};
        return result;
      }
      shown_by[e] = id;
    }
    const auto compare = [&](std::uint32_t first, std::uint32_t second) {
      if (!rooted(first) || !rooted(second)) return true;
      const auto [x, y] = tree.part(first, second);
      if (x == kNone) return true;  // after its ancestor, as it should be
      if (y == kNone) {
        if (axioms.strict) return true;
        result.impossible =
            Step{inserts[second], inserts[first], Why::kArbitrated, id, first, second};
        return false;
      }
      // first stands before second: its branch is linearized later.
      if (said.insert((std::uint64_t{inserts[y]} << 32) | inserts[x]).second) {
        result.steps.push_back({inserts[y], inserts[x], Why::kArbitrated, id, first, second});
      }
      return true;
    };
    for (std::size_t i = 0; i + 1 < list.size(); ++i) {
      if (!compare(list[i], list[i + 1])) return result;
      // By the axioms as printed a character may stand before its ancestor, so that neighbours no
      // longer speak for all.
      for (std::size_t k = i + 2; axioms.strict && k < list.size(); ++k) compare(list[i], list[k]);
    }
  }
  return result;
}

namespace {

class Array {
 public:
  // `tree`: in tree order. Else any characters that the reads may show are right.
  Array(const History& history, const Axioms& axioms, bool tree)
      : history_(history),
        axioms_(axioms),
        tree_(tree),
        graph_(history),
        inserts_(inserts_of(history)),
        neighbours_(neighbours_of(history)) {}

  std::optional<Decision> decide(base::Budget& budget, int most_repairs) {
    removes_.resize(history_.elements.size());
    for (OpId id = 0; id < history_.ops.size(); ++id) {
      if (history_.ops[id].kind != Kind::kDelete) continue;
      for (const auto e : history_.changed(history_.ops[id])) removes_[e].push_back(id);
    }
    for (OpId id = 0; id < history_.ops.size(); ++id) {
      const Operation& op = history_.ops[id];
      if (op.kind == Kind::kInsert) {
        if (op.parent != kNone && !read_from(op.parent, id)) return alone(id, op.parent);
        continue;
      }
      for (const auto e : history_.changed(op)) {
        if (!read_from(e, id)) return alone(id, e);
      }
    }
    const auto order = tree_ ? array_order(history_, axioms_) : ArrayOrder();
    const std::size_t sure = graph_.steps().size();
    for (int repairs = 0;;) {
      if (budget.exceeded()) return std::nullopt;
      const std::size_t known = graph_.steps().size();
      auto closed = graph_.close();
      std::vector<Step> wrong;
      std::optional<Decision> found;
      if (!closed) {
        wrong = graph_.cycle();
        if (guesses_.empty()) return cycle_found(std::move(wrong));
      } else {
        if (order.impossible) return step_found({*order.impossible});
        open_.clear();
        wrong_.clear();
        found = sweep(*closed);
        if (found && guesses_.empty()) return found;
        if (found) wrong = std::move(wrong_);
      }
      if (wrong.empty() && !found) {
        if (graph_.steps().size() > known) continue;
        if (!open_.empty()) {
          // A cycle that is there without a guess would otherwise be looked for among guesses.
          if (guesses_.empty()) {
            for (const Step& step : order.steps) graph_.add(step);
            if (!graph_.order()) return cycle_found(graph_.cycle());
            graph_.keep(known);
          }
          if (!guess(*closed)) return std::nullopt;
          continue;
        }
        for (const Step& step : order.steps) graph_.add(step);
        auto linear = graph_.order();
        if (linear) {
          decision_ = {};
          decision_.verdict = Verdict::kSatisfied;
          decision_.decided_by = "array";
          decision_.witness = Witness{std::move(closed->clocks), std::move(*linear)};
          decision_.least = guesses_.empty();
          return std::move(decision_);
        }
        wrong = graph_.cycle();
        if (guesses_.empty()) return cycle_found(std::move(wrong));
      }
      // Some guess may be to blame: another is tried in its place.
      if (++repairs > most_repairs || !blame(wrong)) return std::nullopt;
      graph_.keep(sure);
      for (const auto& [open, remove] : guesses_)
        graph_.add({remove, open.first, Why::kRemoved, open.first, open.second});
    }
  }

 private:
  bool read_from(std::uint32_t e, OpId id) {
    if (inserts_[e] == kNone) return false;
    graph_.add({inserts_[e], id, Why::kReadFrom});
    return true;
  }

  // Along each replica: what it has newly seen, and what each read must make of it.
  std::optional<Decision> sweep(const StepGraph::Closed& closed) {
    std::vector<bool> shown(history_.elements.size(), false);
    for (const auto& line : history_.by_replica) {
      std::vector<std::uint32_t> seen(history_.replicas.size(), 0);
      std::vector<std::uint8_t> removed(history_.elements.size(), 0);
      std::vector<base::HashSet<std::uint32_t>> live_of(history_.keys.size());
      for (const OpId id : line) {
        if (history_.ops[id].kind != Kind::kList) continue;
        const auto row = closed.clocks.row(id);
        for (std::size_t j = 0; j < row.size(); ++j) {
          for (; seen[j] < row[j]; ++seen[j]) {
            const Operation& op = history_.ops[history_.by_replica[j][seen[j]]];
            if (is_read(op.kind)) continue;
            for (const auto e : history_.changed(op)) {
              if (op.kind == Kind::kDelete) {
                removed[e] = 1;
                live_of[op.key].erase(e);
              } else if (!removed[e]) {
                live_of[op.key].insert(e);
              }
            }
          }
        }
        const auto list = history_.list(history_.ops[id]);
        auto& live = live_of[history_.ops[id].key];
        for (const auto e : list) shown[e] = true;
        std::size_t alive_and_shown = 0;
        for (const auto e : list) {
          if (removed[e] && !axioms_.strict) return shown_after_remove(id, e, closed.clocks);
          alive_and_shown += live.contains(e);
        }
        if (alive_and_shown < live.size()) {
          std::vector<std::uint32_t> missing;
          for (const auto e : live) {
            if (!shown[e]) missing.push_back(e);
          }
          std::sort(missing.begin(), missing.end());
          for (const auto e : missing) {
            if (removes_[e].empty()) return hidden(id, e);
            if (removes_[e].size() > 1) {
              open_.emplace_back(id, e);
              live.erase(e);
              continue;
            }
            graph_.add({removes_[e][0], id, Why::kRemoved, id, e});
            // The next sweep finds it removed; this one need not say it again.
            live.erase(e);
          }
        }
        for (const auto e : list) shown[e] = false;
      }
    }
    return std::nullopt;
  }

  // Which remove has a read seen of a character that was removed twice? The one that
  // brings least along, of those that bring nothing along which this read or a later one
  // of its replica cannot have seen.
  bool guess(const StepGraph::Closed& closed) {
    const auto most = most_seen(closed.clocks);
    const std::size_t width = history_.replicas.size();
    for (const auto& open : open_) {
      const auto& [read, e] = open;
      if (guesses_.contains(open)) return false;  // it did not help
      const auto row = closed.clocks.row(read);
      OpId best = kNone;
      std::pair<bool, std::uint64_t> least;
      for (const OpId d : removes_[e]) {
        if (excluded_.contains({read, d})) continue;
        const auto past = closed.clocks.row(d);
        bool too_much = d > read || before(history_, closed.clocks, read, d);
        std::uint64_t brings = 0;
        for (std::size_t j = 0; j < width; ++j) {
          const auto count = j == history_.ops[d].replica ? history_.ops[d].seq + 1 : past[j];
          too_much = too_much || count > most[read * width + j];
          brings += count > row[j] ? count - row[j] : 0;
        }
        if (best != kNone && std::pair(too_much, brings) >= least) continue;
        best = d;
        least = {too_much, brings};
      }
      if (best == kNone) return false;
      guesses_[open] = best;
      graph_.add({best, read, Why::kRemoved, read, e});
    }
    return true;
  }

  // It adds what the read hides and no remove before it explains, or removes what the read shows.
  [[nodiscard]] bool cannot_be_seen(const Operation& update, const std::vector<bool>& shown,
                                    OpId read) const {
    return history_.any_changed(update, [&](std::uint32_t e) {
      if (update.kind == Kind::kDelete) return shown[e] && !axioms_.strict;
      const auto& removes = removes_[e];
      return update.kind == Kind::kInsert && !shown[e] && (removes.empty() || removes[0] > read);
    });
  }

  // How many operations of each replica each operation can have seen: no addition that
  // no remove hides, and no remove of what is shown. For guesses only: a remove that is
  // later in the file is taken for one that came later.
  std::vector<std::uint32_t> most_seen(const Clocks& clocks) {
    const std::size_t width = history_.replicas.size();
    std::vector<std::uint32_t> most(history_.ops.size() * width, kNone);
    std::vector<std::vector<std::vector<OpId>>> updates(history_.keys.size());
    for (auto& of_key : updates) of_key.resize(width);
    for (const auto& line : history_.by_replica) {
      for (const OpId id : line) {
        const Operation& op = history_.ops[id];
        if (!is_read(op.kind)) updates[op.key][op.replica].push_back(id);
      }
    }
    std::vector<bool> shown(history_.elements.size(), false);
    for (std::size_t i = 0; i < width; ++i) {
      std::vector<std::uint32_t> later(width, kNone);
      const auto& line = history_.by_replica[i];
      for (std::size_t at = line.size(); at-- > 0;) {
        const OpId id = line[at];
        const Operation& op = history_.ops[id];
        if (op.kind == Kind::kList) {
          const auto list = history_.list(op);
          for (const auto e : list) shown[e] = true;
          for (std::size_t j = 0; j < width; ++j) {
            if (j == i) continue;
            const auto& of_key = updates[op.key][j];
            auto u = std::partition_point(of_key.begin(), of_key.end(), [&](OpId o) {
              return history_.ops[o].seq < clocks.row(id)[j];
            });
            for (; u != of_key.end() && history_.ops[*u].seq < later[j]; ++u) {
              if (cannot_be_seen(history_.ops[*u], shown, id)) later[j] = history_.ops[*u].seq;
            }
          }
          for (const auto e : list) shown[e] = false;
        }
        std::copy(later.begin(), later.end(),
                  most.begin() + static_cast<std::ptrdiff_t>(id * width));
      }
    }
    return most;
  }

  // Excludes a guess that a contradiction rests on; false: none was found.
  bool blame(const std::vector<Step>& steps) {
    std::size_t left = 10'000;
    explained_.clear();
    return blame(steps, graph_.steps().size(), left);
  }
  bool blame(const std::vector<Step>& steps, std::size_t limit, std::size_t& left) {
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      if (step->why != Why::kRemoved) continue;
      const auto at = guesses_.find({step->to, step->shown});
      if (at == guesses_.end() || at->second != step->from) continue;
      excluded_.insert({step->to, step->from});
      guesses_.erase(at);
      return true;
    }
    // What was said because of a guess.
    for (const Step& step : steps) {
      if (step.why != Why::kRemoved || left == 0 || !explained_.insert(pair_of(step)).second)
        continue;
      --left;
      std::size_t index = 0;
      while (index < limit &&
             (graph_.steps()[index].why != Why::kRemoved ||
              graph_.steps()[index].from != step.from || graph_.steps()[index].to != step.to))
        ++index;
      if (index == limit) continue;
      if (blame(graph_.path(inserts_[graph_.steps()[index].shown], step.to, index), index, left))
        return true;
    }
    return false;
  }

  static std::uint64_t pair_of(const Step& step) {
    return (std::uint64_t{step.from} << 32) | step.to;
  }
  // With all those before it, down to the beginning or to where the core has them.
  void characters(std::uint32_t e, Core& core) {
    for (; e != kNone && in_core_.insert(e).second; e = neighbours_[e]) {
      core.elements.push_back(e);
      if (inserts_[e] != kNone) core.ops.push_back(inserts_[e]);
    }
  }
  void operation(OpId id, Core& core) {
    core.ops.push_back(id);
    const Operation& op = history_.ops[id];
    if (is_read(op.kind)) return;
    for (const auto e : history_.changed(op)) characters(e, core);
  }
  void evidence(const Step& step, Core& core) {
    operation(step.from, core);
    operation(step.to, core);
    if (step.read != kNone) core.ops.push_back(step.read);
    if (step.shown != kNone) {
      characters(step.shown, core);
      if (step.over != kNone) characters(step.over, core);
    }
    if (step.why == Why::kRemoved && explained_.insert(pair_of(step)).second) {
      std::size_t index = 0;
      while (graph_.steps()[index].why != Why::kRemoved ||
             graph_.steps()[index].from != step.from || graph_.steps()[index].to != step.to)
        ++index;
      evidence_of_path(inserts_[graph_.steps()[index].shown], step.to, index, core);
    }
  }
  void evidence_of_path(OpId from, OpId to, std::size_t limit, Core& core) {
    for (const Step& step : graph_.path(from, to, limit)) evidence(step, core);
  }

  std::optional<Decision> found(Violation violation) {
    // All removes of the characters in it, so that it stands by itself.
    auto& core = violation.core;
    std::sort(core.elements.begin(), core.elements.end());
    core.elements.erase(std::unique(core.elements.begin(), core.elements.end()),
                        core.elements.end());
    for (const auto e : core.elements)
      core.ops.insert(core.ops.end(), removes_[e].begin(), removes_[e].end());
    std::sort(core.ops.begin(), core.ops.end());
    core.ops.erase(std::unique(core.ops.begin(), core.ops.end()), core.ops.end());
    decision_.verdict = Verdict::kViolated;
    decision_.decided_by = "array";
    decision_.violation = std::move(violation);
    return std::move(decision_);
  }
  std::optional<Decision> alone(OpId id, std::uint32_t e) {
    Violation violation;
    violation.core.ops.push_back(id);
    violation.core.elements.push_back(e);
    const Operation& op = history_.ops[id];
    if (op.kind == Kind::kInsert) {
      // The character that was added after it cannot be without its own.
      for (const auto added : history_.changed(op)) violation.core.elements.push_back(added);
    }
    return found(std::move(violation));
  }
  void begin_core() {
    explained_.clear();
    in_core_.clear();
  }
  std::optional<Decision> hidden(OpId read, std::uint32_t e) {
    Violation violation;
    begin_core();
    violation.core.ops.push_back(read);
    characters(e, violation.core);
    if (!guesses_.empty())
      wrong_ = graph_.path(inserts_[e], read, graph_.steps().size());
    else
      evidence_of_path(inserts_[e], read, graph_.steps().size(), violation.core);
    return found(std::move(violation));
  }
  std::optional<Decision> shown_after_remove(OpId read, std::uint32_t e, const Clocks& clocks) {
    Violation violation;
    begin_core();
    violation.core.ops.push_back(read);
    characters(e, violation.core);
    for (const OpId remove : removes_[e]) {
      if (!before(history_, clocks, remove, read)) continue;
      violation.core.ops.push_back(remove);
      if (!guesses_.empty())
        wrong_ = graph_.path(remove, read, graph_.steps().size());
      else
        evidence_of_path(remove, read, graph_.steps().size(), violation.core);
      break;
    }
    return found(std::move(violation));
  }
  std::optional<Decision> step_found(const std::vector<Step>& steps) {
    Violation violation;
    begin_core();
    for (const Step& step : steps) evidence(step, violation.core);
    return found(std::move(violation));
  }
  std::optional<Decision> cycle_found(std::vector<Step> cycle) {
    Violation violation;
    begin_core();
    for (const Step& step : cycle) evidence(step, violation.core);
    violation.cycle = std::move(cycle);
    return found(std::move(violation));
  }

  const History& history_;
  const Axioms& axioms_;
  const bool tree_;
  StepGraph graph_;
  std::vector<OpId> inserts_;
  std::vector<std::uint32_t> neighbours_;
  std::vector<std::vector<OpId>> removes_;  // by element
  std::vector<std::pair<OpId, std::uint32_t>>
      open_;  // a read, and what it misses: which remove has it seen?
  std::map<std::pair<OpId, std::uint32_t>, OpId> guesses_;
  std::set<std::pair<OpId, OpId>> excluded_;  // a read, a remove that was guessed to be seen
  std::vector<Step> wrong_;                   // why what sweep() found is so
  base::HashSet<std::uint64_t> explained_;    // steps whose reason was gone into already
  base::HashSet<std::uint32_t> in_core_;      // with all those before it
  Decision decision_;
};

}  // namespace

std::optional<Decision> decide_array(const History& history, const Axioms& axioms,
                                     base::Budget& budget, int most_repairs) {
  return Array(history, axioms, /*tree=*/true).decide(budget, most_repairs);
}

std::optional<Decision> decide_characters(const History& history, base::Budget& budget,
                                          int most_repairs) {
  const Axioms axioms;
  return Array(history, axioms, /*tree=*/false).decide(budget, most_repairs);
}

Core core_of_list(const History& history, const std::vector<OpId>& operations) {
  const auto neighbours = neighbours_of(history);
  std::set<OpId> ops(operations.begin(), operations.end());
  std::set<std::uint32_t> elements;
  for (const OpId id : operations) {
    if (is_read(history.ops[id].kind)) continue;
    for (auto e : history.changed(history.ops[id])) {
      while (e != kNone && elements.insert(e).second) e = neighbours[e];
    }
  }
  for (OpId id = 0; id < history.ops.size(); ++id) {
    if (!is_read(history.ops[id].kind) &&
        history.any_changed(history.ops[id], [&](std::uint32_t e) { return elements.contains(e); }))
      ops.insert(id);
  }
  return {{ops.begin(), ops.end()}, {elements.begin(), elements.end()}};
}

namespace {

// A read that shows a character twice, and the addition of the character.
std::vector<OpId> shown_twice(const History& history) {
  const auto inserts = inserts_of(history);
  std::vector<OpId> shown_by(history.elements.size(), kNone);
  for (OpId id = 0; id < history.ops.size(); ++id) {
    if (!is_read(history.ops[id].kind)) continue;
    for (const auto e : history.list(history.ops[id])) {
      if (shown_by[e] == id && inserts[e] != kNone) return {id, inserts[e]};
      shown_by[e] = id;
    }
  }
  return {};
}

}  // namespace

std::optional<Decision> decide_list(const History& history, base::Budget& budget,
                                    int most_repairs) {
  Decision violated{.verdict = Verdict::kViolated, .decided_by = "list"};
  if (const auto twice = shown_twice(history); !twice.empty()) {
    violated.violation = Violation{.core = core_of_list(history, twice), .cycle = {}};
    return violated;
  }
  auto decision = decide_characters(history, budget, most_repairs);
  if (!decision || decision->verdict != Verdict::kSatisfied) return decision;
  decision->decided_by = "list";
  const Axioms axioms;
  const auto visibility =
      Visibility::of_clocks(history, decision->witness->clocks, decision->witness->order);
  const KnownContext least{history, visibility, axioms, budget};
  auto order = order_of_list(least, /*certain=*/false);
  if (order.verdict == Verdict::kSatisfied) {
    decision->witness->characters = std::move(order.characters);
    return decision;
  }
  order = order_of_list(least, /*certain=*/true);
  if (order.verdict != Verdict::kViolated) return std::nullopt;
  violated.violation = Violation{
      .core = order.by_steps_alone ? core_of_list(history, order.operations) : whole(history),
      .cycle = std::move(order.cycle)};
  return violated;
}

}  // namespace cupel::crdt
