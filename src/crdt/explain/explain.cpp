// Explain: delta debugging (Zeller & Hildebrandt 2002) over what may be dropped, then
// the exact method asked what the read must have seen.
#include "crdt/explain/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace cupel::crdt {

namespace {

class Shrinker {
 public:
  Shrinker(const History& history, const Axioms& axioms, const ExplainOptions& options)
      : history_(history),
        axioms_(axioms),
        budget_(std::chrono::duration<double>(options.seconds), options.memory_bytes) {}

  Core run(Core core) {
    core = tidy(std::move(core));
    for (int round = 0; round < 3 && !budget_.exceeded(); ++round) {
      const auto size = core.ops.size() + core.elements.size();
      if (round == 0) core = first_reads(core);
      if (is_set(history_.type) || history_.type == Type::kGrowableArray)
        core = without_elements(core);
      core = without_reads(core);
      core = without_updates(core);
      if (core.ops.size() + core.elements.size() == size) break;
    }
    return core;
  }

 private:
  bool violated(const Core& core) {
    if (budget_.exceeded()) return false;
    const auto part = part_of(history_, core);
    return decide(part.history, axioms_, budget_).verdict == Verdict::kViolated;
  }

  // Without what no remaining read asks about.
  Core tidy(const Core& core) const {
    Core kept;
    const std::set<std::uint32_t> elements(core.elements.begin(), core.elements.end());
    std::set<std::uint32_t> asked;  // elements, or keys
    std::set<std::uint32_t> whole_keys;
    for (const OpId id : core.ops) {
      const auto& op = history_.ops[id];
      if (op.kind == Kind::kTest)
        asked.insert(is_set(history_.type) ? op.element : op.key);
      else if (is_read(op.kind) && op.kind != Kind::kState)
        asked.insert(op.key);
      if (op.kind == Kind::kState) whole_keys.insert(op.key);
    }
    for (const auto e : core.elements) {
      if (!is_set(history_.type) || whole_keys.contains(history_.elements[e].key) ||
          asked.contains(e))
        kept.elements.push_back(e);
    }
    for (const OpId id : core.ops) {
      const auto& op = history_.ops[id];
      bool needed = true;
      if (is_set(history_.type)) {
        needed = op.kind == Kind::kState ||
                 (elements.contains(op.element) &&
                  (asked.contains(op.element) || whole_keys.contains(op.key)));
      } else if (history_.type == Type::kGrowableArray) {
        needed = op.kind == Kind::kList || elements.contains(op.element);
      } else if (!is_read(op.kind)) {
        needed = asked.contains(op.key);
      }
      if (needed) kept.ops.push_back(id);
    }
    return kept;
  }

  // The least part of `units` that still does it; the core without the others.
  template <typename Unit>
  Core reduce(const Core& core, std::vector<Unit> units,
              const std::function<Core(const Core&, const std::set<Unit>&)>& without) {
    std::vector<Unit> kept = units;
    Core best = core;
    std::size_t chunk = (kept.size() + 1) / 2;
    while (chunk > 0 && !kept.empty()) {
      bool dropped = false;
      for (std::size_t at = 0; at < kept.size();) {
        if (budget_.exceeded()) return best;
        const auto end = std::min(at + chunk, kept.size());
        std::vector<Unit> rest(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(at));
        rest.insert(rest.end(), kept.begin() + static_cast<std::ptrdiff_t>(end), kept.end());
        std::set<Unit> gone(units.begin(), units.end());
        for (const auto& u : rest) gone.erase(u);
        Core trial = tidy(without(core, gone));
        if (violated(trial)) {
          kept = std::move(rest);
          best = std::move(trial);
          dropped = true;
        } else {
          at = end;
        }
      }
      if (chunk == 1 && !dropped) break;
      chunk = chunk == 1 ? 1 : (chunk + 1) / 2;
    }
    return best;
  }

  static Core without_ops(const Core& core, const std::set<OpId>& gone) {
    Core rest{{}, core.elements};
    for (const OpId id : core.ops) {
      if (!gone.contains(id)) rest.ops.push_back(id);
    }
    return rest;
  }

  // Reads of the file's beginning, up to the first that cannot be explained.
  Core first_reads(const Core& core) {
    std::vector<OpId> reads;
    for (const OpId id : core.ops) {
      if (is_read(history_.ops[id].kind)) reads.push_back(id);
    }
    std::size_t low = 0, high = reads.size();  // the first `high` do it
    Core best = core;
    while (low + 1 < high && !budget_.exceeded()) {
      const auto middle = (low + high) / 2;
      Core trial = tidy(
          without_ops(core, {reads.begin() + static_cast<std::ptrdiff_t>(middle), reads.end()}));
      if (violated(trial)) {
        high = middle;
        best = std::move(trial);
      } else {
        low = middle;
      }
    }
    return best;
  }

  Core without_reads(const Core& core) {
    std::vector<OpId> reads;
    for (const OpId id : core.ops) {
      if (is_read(history_.ops[id].kind)) reads.push_back(id);
    }
    return reduce<OpId>(core, std::move(reads), without_ops);
  }

  Core without_elements(const Core& core) {
    const auto inserts = inserts_of(history_);
    return reduce<std::uint32_t>(
        core, core.elements, [&](const Core& from, const std::set<std::uint32_t>& gone) {
          Core rest;
          for (const auto e : from.elements) {
            // A character goes with those before it on the way to the beginning.
            bool lost = gone.contains(e);
            std::size_t steps = 0;
            for (auto at = e; history_.type == Type::kGrowableArray && !lost &&
                              inserts[at] != kNone && steps++ < history_.elements.size();) {
              at = history_.ops[inserts[at]].parent;
              if (at == kNone) break;
              lost = gone.contains(at);
            }
            if (!lost) rest.elements.push_back(e);
          }
          const std::set<std::uint32_t> kept(rest.elements.begin(), rest.elements.end());
          for (const OpId id : from.ops) {
            const auto& op = history_.ops[id];
            if (op.element == kNone || kept.contains(op.element)) rest.ops.push_back(id);
          }
          return rest;
        });
  }

  Core without_updates(const Core& core) {
    // What each object's reads say: may its adds, or its removes, go?
    std::map<std::uint32_t, std::pair<bool, bool>> says;  // some read says false, true
    std::set<std::pair<std::uint32_t, std::uint32_t>> returned;
    const std::set<std::uint32_t> kept(core.elements.begin(), core.elements.end());
    for (const OpId id : core.ops) {
      const auto& op = history_.ops[id];
      const auto list = history_.list(op);
      if (op.kind == Kind::kTest) {
        auto& [no, yes] = says[is_set(history_.type) ? op.element : op.key];
        (op.returned ? yes : no) = true;
      } else if (op.kind == Kind::kState || op.kind == Kind::kList) {
        for (const auto e : core.elements) {
          if (history_.elements[e].key != op.key) continue;
          auto& [no, yes] = says[e];
          (std::find(list.begin(), list.end(), e) != list.end() ? yes : no) = true;
        }
      } else if (op.kind == Kind::kValues) {
        for (const auto e : list) returned.insert({op.key, e});
      }
    }
    std::vector<OpId> may_go;
    for (const OpId id : core.ops) {
      const auto& op = history_.ops[id];
      if (op.kind == Kind::kWrite && !returned.contains({op.key, op.element})) may_go.push_back(id);
      if (op.kind == Kind::kUp || op.kind == Kind::kDown) {
        const auto& [no, yes] = says[is_set(history_.type) ? op.element : op.key];
        if (op.kind == Kind::kUp ? !yes : !no) may_go.push_back(id);
      }
      if (op.kind == Kind::kDelete && !says[op.element].first) may_go.push_back(id);
    }
    return reduce<OpId>(core, std::move(may_go), without_ops);
  }

  const History& history_;
  const Axioms& axioms_;
  base::Budget budget_;
};

std::string of_replica(const History& h, OpId id) {
  return fmt::format("{} of replica {}", h.text(id), h.replicas[h.ops[id].replica]);
}

std::string listed(const History& h, const std::vector<OpId>& ops) {
  std::string text;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (i == 6 && ops.size() > 7) return text + fmt::format(" and {} more", ops.size() - i);
    text += (i == 0 ? "" : i + 1 == ops.size() ? " and " : ", ") + of_replica(h, ops[i]);
    if (const auto line = h.ops[ops[i]].line; line != 0) text += fmt::format(" (line {})", line);
  }
  return text;
}

class CycleReporter {
 public:
  CycleReporter(Explanation& told, const Axioms& axioms, base::Budget& budget)
      : told_(told), h_(told.part.history), axioms_(axioms), budget_(budget) {}

  void run(const Decision& decision) {
    if (decision.violation) told_.cycle = decision.violation->cycle;
    blame();
    if (!told_.cycle.empty()) {
      cycle();
    } else if (told_.read != kNone) {
      read();
    } else {
      told_.name = "used-unseen-character";
      told_.summary =
          fmt::format("{} names a character that its replica cannot have seen", of_replica(h_, 0));
    }
  }

 private:
  void cycle() {
    std::size_t arbitrated = 0;
    OpId asked = kNone, other = kNone;
    for (const Step& step : told_.cycle) {
      if (step.why == Why::kArbitrated) {
        ++arbitrated;
        if (asked == kNone)
          asked = step.read;
        else if (step.read != asked)
          other = step.read;
      }
      if (step.why == Why::kOverwritten || step.why == Why::kRemoved) asked = step.read;
    }
    if (asked != kNone) told_.read = std::max(asked, other == kNone ? asked : other);
    const bool array = h_.type == Type::kGrowableArray;
    const auto has = [&](Why why) {
      return std::any_of(told_.cycle.begin(), told_.cycle.end(),
                         [&](const Step& step) { return step.why == why; });
    };
    if (has(Why::kOverwritten)) {
      told_.name = "lost-sibling";
      told_.summary =
          "reads leave out writes that they have seen, so that what they return would have had to "
          "overwrite them, which happened before";
    } else if (has(Why::kRemoved)) {
      told_.name = "lost-character";
      told_.summary =
          "reads leave out characters that they have seen, so that they would have had to see "
          "removes that happened after";
    } else if (arbitrated == 0) {
      told_.name = "causality-cycle";
      told_.summary = "what was read came from operations that happened after the read";
    } else if (arbitrated == 1) {
      told_.name = array ? "order-against-causality" : "stale-read";
      told_.summary =
          array ? fmt::format(
                      "{} shows a character before one that was added in its sight, after the same "
                      "character",
                      of_replica(h_, told_.read))
                : fmt::format("{} returned a value although its replica had seen a later write",
                              of_replica(h_, told_.read));
    } else if (array && other == kNone) {
      told_.name = "interleaved-insertions";
      told_.summary = fmt::format(
          "{} mixes what was added behind two characters that stand behind the same one",
          of_replica(h_, told_.read));
    } else {
      told_.name = "order-disagreement";
      told_.summary = array ? "reads show characters in orders that no linearization has"
                            : "reads prefer writes in orders that no linearization (no assignment "
                              "of timestamps) has";
    }
    for (const Step& step : told_.cycle) told_.because.push_back(sentence(h_, step));
  }

  // All reads of what is left together have no execution, so that any of them could be
  // called the wrong one. The last, but of a set or a flag the last that returned the
  // side that has to give way, if there is one: a correct replica returns it seldom; best one
  // to which nothing was done but what would win. Of a read of the whole an element without
  // which it would be right.
  void blame() {
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      if (is_read(h_.ops[id].kind)) told_.read = id;
    }
    if (!is_set(h_.type) && !is_flag(h_.type)) return;
    std::vector<std::pair<int, Claim>> claims;
    for (const Claim& claim : claims_of(h_)) {
      bool up = false, down = false;
      for (const Operation& op : h_.ops) {
        if (is_read(op.kind) || (is_set(h_.type) ? op.element : op.key) != claim.element) continue;
        (op.kind == Kind::kUp ? up : down) = true;
      }
      const bool gave_way = claim.returned != up_wins(h_.type) && (up_wins(h_.type) ? up : down);
      const bool unopposed = gave_way && !(up && down);
      const int worth = claim.returned && !up  ? 4
                        : unopposed            ? 3
                        : gave_way             ? 2
                        : claim.returned || up ? 1
                                               : 0;
      claims.emplace_back(worth, claim);
    }
    std::reverse(claims.begin(), claims.end());
    std::stable_sort(claims.begin(), claims.end(),
                     [](const auto& one, const auto& other) { return one.first > other.first; });
    if (claims.empty()) return;
    claim_ = claims.front().second;
    constexpr int kMostTries = 20;
    int tries = 0;
    for (const auto& [worth, claim] : claims) {
      if (++tries > kMostTries || budget_.exceeded()) break;
      if (!would_be_right(claim)) continue;
      claim_ = claim;
      break;
    }
    told_.read = claim_.op;
  }

  // Is there an execution if the read had said the opposite of this element? Of a read that
  // says something of one alone there is, as there is one without the read.
  [[nodiscard]] bool would_be_right(const Claim& claim) const {
    if (h_.ops[claim.op].kind != Kind::kState) return true;
    History other = h_;
    Operation& op = other.ops[claim.op];
    const auto list = h_.list(op);
    std::vector<std::uint32_t> flipped(list.begin(), list.end());
    if (claim.returned)
      std::erase(flipped, claim.element);
    else
      flipped.push_back(claim.element);
    op.list_begin = static_cast<std::uint32_t>(other.lists.size());
    other.lists.insert(other.lists.end(), flipped.begin(), flipped.end());
    op.list_end = static_cast<std::uint32_t>(other.lists.size());
    return decide(other, axioms_, budget_).verdict == Verdict::kSatisfied;
  }

  // Is there an execution if this one update had not counted, or twice, for the read?
  [[nodiscard]] OpId would_explain(int times) {
    constexpr int kMostTries = 40;
    int tries = 0;
    std::set<std::int64_t> tried;
    for (const bool must : {true, false}) {
      for (OpId u = 0; u < h_.ops.size(); ++u) {
        const bool seen =
            std::find(told_.must_see.begin(), told_.must_see.end(), u) != told_.must_see.end();
        if (!concerns(h_.ops[u], h_.ops[told_.read]) || seen != must || h_.ops[u].amount == 0)
          continue;
        if (!tried.insert(h_.ops[u].amount).second || ++tries > kMostTries) continue;
        History other = h_;
        other.ops[told_.read].amount -= times * h_.ops[u].amount;
        if (decide(other, axioms_, budget_).verdict == Verdict::kSatisfied) return u;
      }
    }
    return kNone;
  }

  // Of counters: what the read must be at least and at most, and what would explain it.
  void sum(const std::string& what, std::int64_t least, std::int64_t most) {
    const auto amount = h_.ops[told_.read].amount;
    const std::string bounds =
        least == most    ? fmt::format("what it has seen adds up to {}", least)
        : amount < least ? fmt::format("what it has seen adds up to {} at least", least)
        : amount > most  ? fmt::format("what it can have seen adds up to {} at most", most)
                         : std::string("no updates that it can have seen together add up to that");
    const auto named = [&](OpId u, const char* how, const char* effect) {
      told_.name = fmt::format("{}-{}", how, h_.ops[u].amount < 0 ? "decrement" : "increment");
      told_.summary = fmt::format("{}, but {}; it would be right if {} {}", what, bounds,
                                  of_replica(h_, u), effect);
    };
    if (const OpId lost = would_explain(-1); lost != kNone) {
      named(lost, "lost", "had not been seen");
    } else if (const OpId twice = would_explain(1); twice != kNone) {
      named(twice, "doubled", "had counted twice");
    } else {
      told_.name = amount < least  ? "lost-increment"
                   : amount > most ? "increment-out-of-nothing"
                                   : "impossible-value";
      told_.summary = fmt::format("{}, but {}", what, bounds);
    }
  }

  // Of sets and flags.
  void member(const std::string& what) {
    bool up = false, down = false;
    for (const Operation& op : h_.ops) {
      if (is_read(op.kind) || (is_set(h_.type) ? op.element : op.key) != claim_.element) continue;
      (op.kind == Kind::kUp ? up : down) = true;
    }
    const bool flag = is_flag(h_.type), whole = h_.ops[told_.read].kind == Kind::kState;
    const std::string said = whole ? fmt::format("{} is {}in {}", h_.element_text(claim_.element),
                                                 claim_.returned ? "" : "not ", what)
                                   : what;
    const char* const add = flag ? "enable" : "add";
    const char* const remove = flag ? "disable" : "remove";
    if (claim_.returned && !up) {
      told_.name = "thin-air";
      told_.summary = fmt::format("{}, which nobody ever asked for by an {}", said, add);
    } else if (claim_.returned != up_wins(h_.type)) {
      const char* const winner = up_wins(h_.type) ? add : remove;
      const char* const loser = up_wins(h_.type) ? remove : add;
      told_.name =
          up && down ? fmt::format("concurrent-{}-lost", winner) : fmt::format("lost-{}", winner);
      told_.summary = up && down ? fmt::format(
                                       "{}, but it has seen {} {} that no {} it has seen can have "
                                       "seen: the {} must win",
                                       said, up_wins(h_.type) ? "an" : "a", winner, loser, winner)
                                 : fmt::format("{}, but it has seen {} {} and there is no {}", said,
                                               up_wins(h_.type) ? "an" : "a", winner, loser);
    } else {
      const char* const lost = up_wins(h_.type) ? remove : add;
      const char* const before = up_wins(h_.type) ? add : remove;
      told_.name = fmt::format("lost-{}", lost);
      told_.summary = fmt::format(
          "{}, but each {} that it can have seen was followed by {} {} that it has seen", said,
          before, up_wins(h_.type) ? "a" : "an", lost);
    }
  }

  [[nodiscard]] bool concerns(const Operation& update, const Operation& read) const {
    if (is_read(update.kind) || update.key != read.key) return false;
    return !is_set(h_.type) || update.element == claim_.element;
  }

  // What every execution of the others has this read see, and what none has.
  void visibility() {
    const auto& read = h_.ops[told_.read];
    constexpr std::size_t kMost = 80;
    std::size_t asked = 0;
    for (OpId u = 0; u < h_.ops.size() && asked < kMost; ++u) {
      if (!concerns(h_.ops[u], read)) continue;
      ++asked;
      const auto possible = [&](bool seen) {
        return decide_exact(h_, axioms_, budget_, {told_.read, {{u, seen}}}).verdict;
      };
      if (possible(false) == Verdict::kViolated)
        told_.must_see.push_back(u);
      else if (possible(true) == Verdict::kViolated)
        told_.cannot_see.push_back(u);
    }
    // That it has seen what its replica did goes without saying, unless that is all.
    std::vector<OpId> must_see;
    for (const OpId u : told_.must_see) {
      if (h_.ops[u].replica != read.replica) must_see.push_back(u);
    }
    if (must_see.empty()) must_see = told_.must_see;
    if (!must_see.empty())
      told_.because.push_back(fmt::format("it must have seen {}", listed(h_, must_see)));
    if (!told_.cannot_see.empty())
      told_.because.push_back(fmt::format("it cannot have seen {}", listed(h_, told_.cannot_see)));
    std::vector<OpId> others;
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      if (id != told_.read && is_read(h_.ops[id].kind)) others.push_back(id);
    }
    if (!others.empty())
      told_.because.push_back(fmt::format("that follows from the order of each replica and from {}",
                                          listed(h_, others)));
  }

  void read() {
    const auto& read = h_.ops[told_.read];
    const std::string what = of_replica(h_, told_.read);
    visibility();
    const auto any = [&](auto test) { return std::any_of(h_.ops.begin(), h_.ops.end(), test); };
    if (is_set(h_.type) || is_flag(h_.type)) {
      member(what);
    } else if (h_.type == Type::kCounter) {
      std::int64_t least = 0, most = 0;
      for (OpId u = 0; u < h_.ops.size(); ++u) {
        if (!concerns(h_.ops[u], read) ||
            std::find(told_.cannot_see.begin(), told_.cannot_see.end(), u) !=
                told_.cannot_see.end())
          continue;
        const bool must =
            std::find(told_.must_see.begin(), told_.must_see.end(), u) != told_.must_see.end();
        const auto amount = h_.ops[u].amount;
        least += must || amount < 0 ? amount : 0;
        most += must || amount > 0 ? amount : 0;
      }
      sum(what, least, most);
    } else if (is_register(h_.type)) {
      const auto list = h_.list(read);
      const auto unwritten = std::find_if(list.begin(), list.end(), [&](std::uint32_t e) {
        return !any(
            [&](const Operation& op) { return op.kind == Kind::kWrite && op.element == e; });
      });
      if (unwritten != list.end()) {
        told_.name = "thin-air";
        told_.summary =
            fmt::format("{} returned {}, which nobody wrote", what, h_.element_text(*unwritten));
      } else if (list.empty()) {
        told_.name = "lost-write";
        told_.summary = fmt::format("{} found no value, but it has seen a write", what);
      } else if (h_.type == Type::kLastWriterWinsRegister) {
        told_.name = "order-disagreement";
        told_.summary =
            fmt::format("no order of the writes explains {} and the reads before it", what);
      } else {
        const bool overwritten = std::any_of(list.begin(), list.end(),
                                             [&](std::uint32_t e) {
                                               return any([&](const Operation& op) {
                                                 return op.kind == Kind::kWrite && op.element == e;
                                               });
                                             }) &&
                                 list.size() > 1;
        if (!overwritten && is_stale(list[0])) {
          told_.name = "stale-read";
          told_.summary =
              fmt::format("{} returned a value although its replica had seen a later write", what);
          return;
        }
        told_.name = overwritten ? "wrong-siblings" : "lost-sibling";
        told_.summary = overwritten ? fmt::format(
                                          "{} does not return exactly the writes that it has seen "
                                          "and that none it has seen overwrote",
                                          what)
                                    : fmt::format(
                                          "{} leaves out a write that it has seen and that what it "
                                          "returned cannot have overwritten",
                                          what);
      }
    } else {
      array(what);
    }
  }

  // Every write of the value came before one that the read must have seen, by the order of
  // the replicas and by what other reads returned.
  [[nodiscard]] bool is_stale(std::uint32_t value) const {
    std::vector<std::vector<OpId>> writes(h_.elements.size());
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      if (h_.ops[id].kind == Kind::kWrite) writes[h_.ops[id].element].push_back(id);
    }
    StepGraph graph(h_);
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      if (id == told_.read) continue;
      for (const auto e : h_.list(h_.ops[id])) {
        if (writes[e].size() == 1) graph.add({writes[e][0], id, Why::kReadFrom});
      }
    }
    const auto closed = graph.close();
    return closed && std::all_of(writes[value].begin(), writes[value].end(), [&](OpId w) {
             return std::any_of(told_.must_see.begin(), told_.must_see.end(),
                                [&](OpId later) { return before(h_, closed->clocks, w, later); });
           });
  }

  void array(const std::string& what) {
    const auto& read = h_.ops[told_.read];
    const auto list = h_.list(read);
    const auto inserts = inserts_of(h_);
    const auto order = array_order(h_, axioms_);
    for (const auto e : list) {
      if (inserts[e] == kNone) {
        told_.name = "thin-air";
        told_.summary = fmt::format("{} shows {}, which nobody added", what, h_.element_text(e));
        return;
      }
    }
    if (order.impossible) {
      const bool twice = order.impossible->shown == order.impossible->over;
      told_.name = twice ? "character-twice" : "before-its-own";
      told_.summary = twice
                          ? fmt::format("{} shows {} twice", of_replica(h_, order.impossible->read),
                                        h_.element_text(order.impossible->shown))
                          : fmt::format("{} shows {} before {}, which it was added after",
                                        of_replica(h_, order.impossible->read),
                                        h_.element_text(order.impossible->shown),
                                        h_.element_text(order.impossible->over));
      return;
    }
    const bool missing =
        std::any_of(h_.elements.begin(), h_.elements.end(), [&](const Element& element) {
          const auto e = static_cast<std::uint32_t>(&element - h_.elements.data());
          return inserts[e] != kNone && std::find(list.begin(), list.end(), e) == list.end();
        });
    const bool removed = std::any_of(h_.ops.begin(), h_.ops.end(), [&](const Operation& op) {
      return op.kind == Kind::kDelete &&
             std::find(list.begin(), list.end(), op.element) != list.end();
    });
    if (removed) {
      told_.name = "removed-character-shown";
      told_.summary = fmt::format("{} shows a character whose remove it has seen", what);
    } else if (missing) {
      told_.name = "lost-character";
      told_.summary = fmt::format(
          "{} leaves out a character that it has seen, and it cannot have seen a remove of it",
          what);
    } else {
      told_.name = "order-disagreement";
      told_.summary = fmt::format("no order of the additions explains {}", what);
    }
  }

  Explanation& told_;
  Claim claim_{kNone, kNone, false};
  const History& h_;
  const Axioms& axioms_;
  base::Budget& budget_;
};

}  // namespace

std::string sentence(const History& h, const Step& step) {
  const auto from = of_replica(h, step.from), to = of_replica(h, step.to);
  switch (step.why) {
    case Why::kReplicaOrder:
      return fmt::format("{} was before {}, on the same replica", from, h.text(step.to));
    case Why::kReadFrom:
      return fmt::format("{} was before {}, which used it", from, to);
    case Why::kOverwritten:
      return fmt::format("{} was before {}: {} had seen the first and returned only the second",
                         from, to, of_replica(h, step.read));
    case Why::kRemoved:
      return fmt::format("{} was before {}, which had seen the character and does not show it",
                         from, to);
    case Why::kArbitrated:
      if (step.shown != kNone)
        return fmt::format("{} was linearized before {}: {} shows {} before {}", from, to,
                           of_replica(h, step.read), h.element_text(step.shown),
                           h.element_text(step.over));
      return fmt::format("{} was linearized before {}: {} had seen both and returned the second",
                         from, to, of_replica(h, step.read));
  }
  return {};
}

Explanation explain(const History& history, const Violation& violation, const Axioms& axioms,
                    const ExplainOptions& options) {
  Explanation told;
  // A second more than what making it small may take: the words need some of it.
  base::Budget budget(std::chrono::duration<double>(options.seconds + 1), options.memory_bytes);
  told.core = Shrinker(history, axioms, options).run(violation.core);
  told.part = part_of(history, told.core);
  const auto again = decide(told.part.history, axioms, budget);
  CycleReporter(told, axioms, budget).run(again);
  return told;
}

}  // namespace cupel::crdt
