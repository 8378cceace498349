// guess_writers: see the header.
#include "engine/order/writer_guess.hpp"

#include <algorithm>
#include <queue>

#include "base/hash_table.hpp"
#include "engine/order/clocks.hpp"

namespace cupel::order {

namespace {

// How many candidates are weighed against each other where a read must add one.
constexpr std::size_t kCandidatesTried = 24;
// How far the search for one owner's reads goes.
constexpr std::size_t kNodesAnOwner = 500;
// A choice that makes a later owner's read wrong is worse than as many wrong reads of its own.
constexpr std::size_t kHarmToLater = 1000;
// Limits of so many pairs of an owner and a chain; a guess for more does without.
constexpr std::size_t kMostLimits = 64'000'000;
// Versions this near in the order may be the other way round, as those of the same moment are.
constexpr std::uint32_t kNear = 4;
// How often the order is changed by such pairs.
constexpr int kMostReorders = 8;

struct Swap {
  Owner later, earlier;
};

class Guesser {
 public:
  Guesser(const WriterGuessInput& input, std::vector<Owner>& writers, base::Budget& budget)
      : problem_(input.problem),
        visible_(input.visible),
        graph_(input.co.graph()),
        candidates_(input.candidates),
        hint_(input.hint),
        writers_(writers),
        budget_(budget) {}

  bool run() {
    order_owners();
    switch (visible_) {
      case Visible::kEarlierRead:
        break;
      case Visible::kDirect:
        note_sessions();
        break;
      case Visible::kCausal:
        if (!prepare_clocks() || !prepare_limits()) return false;
        break;
    }
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if ((i & 0x3ff) == 0 && budget_.exceeded()) return false;
      visit(order_[i]);
    }
    return true;
  }
  std::vector<std::uint32_t> take_ranks() { return std::move(rank_); }

 private:
  // Ranks count from 1; 0 is the initial owner's.
  [[nodiscard]] std::uint32_t rank(Owner o) const { return o == kInitial ? 0 : rank_[o]; }

  // Topological, the smallest hint first. Without hints: the middle between how
  // early and how late what is known lets the owner be.
  void order_owners() {
    const graph::Digraph known = graph_.digraph();
    std::vector<std::uint64_t> depth;
    if (hint_.empty()) {
      const auto topological = graph_.topological();
      std::vector<std::uint64_t> before(problem_.owner_count, 0), after(problem_.owner_count, 0);
      for (const Owner o : topological) {
        for (const auto& out : known.out(o))
          before[out.to] = std::max(before[out.to], before[o] + 1);
      }
      for (auto it = topological.rbegin(); it != topological.rend(); ++it) {
        for (const auto& out : known.out(*it)) after[*it] = std::max(after[*it], after[out.to] + 1);
      }
      const auto longest = before.empty() ? 0 : *std::max_element(before.begin(), before.end());
      for (Owner o = 0; o < problem_.owner_count; ++o)
        depth.push_back(before[o] + longest - after[o]);
      hint_ = depth;
    }
    std::vector<std::uint32_t> missing(problem_.owner_count, 0);
    for (Owner o = 0; o < problem_.owner_count; ++o) {
      for (const auto& out : known.out(o)) ++missing[out.to];
    }
    using Entry = std::pair<std::uint64_t, Owner>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (Owner o = 0; o < problem_.owner_count; ++o) {
      if (missing[o] == 0) ready.emplace(hint_[o], o);
    }
    rank_.assign(problem_.owner_count, 0);
    order_.reserve(problem_.owner_count);
    while (!ready.empty()) {
      const Owner o = ready.top().second;
      ready.pop();
      order_.push_back(o);
      rank_[o] = static_cast<std::uint32_t>(order_.size());
      for (const auto& out : known.out(o)) {
        if (--missing[out.to] == 0) ready.emplace(hint_[out.to], out.to);
      }
    }
  }

  // Candidates by rank; reads share lists, so each list is sorted once.
  std::span<const std::uint32_t> ranked(std::uint32_t r) {
    const auto of = candidates_[r];
    auto& list = ranked_[{of.data(), of.size()}];
    if (list.empty()) {
      for (const Owner w : of) list.push_back(rank(w));
      std::sort(list.begin(), list.end());
    }
    return list;
  }
  [[nodiscard]] Owner at_rank(std::uint32_t rank) const {
    return rank == 0 ? kInitial : order_[rank - 1];
  }

  void visit(Owner o) {
    pending_.clear();
    if (visible_ == Visible::kCausal) begin_clock(o);
    newest_.clear();
    const auto begin = problem_.read_first[o], end = problem_.read_first[o + 1];
    for (auto r = begin; r < end; ++r) {
      if (writers_[r] == kUnresolved) pending_.push_back(r);
    }
    if (visible_ == Visible::kEarlierRead) {
      if (!pending_.empty()) in_program_order(o);
      return;
    }
    for (auto r = begin; r < end; ++r) {
      if (writers_[r] != kUnresolved) see(writers_[r], o);
    }
    if (!pending_.empty() && !search(o)) settle(o);
    if (visible_ == Visible::kCausal) {
      for (const auto r : pending_) see(writers_[r], o);
      end_clock(o);
    }
  }

  // read-committed: only earlier reads count, so one pass does.
  void in_program_order(Owner o) {
    const auto begin = problem_.read_first[o], end = problem_.read_first[o + 1];
    auto seen = begin;
    for (auto r = begin; r < end; ++r) {
      for (; problem_.reads[seen].step < problem_.reads[r].step; ++seen) see(writers_[seen], o);
      if (writers_[r] == kUnresolved) choose(o, r);
    }
  }

  // The others: what one read adds may be visible to another. Backtracking over
  // the reads that must add something, each with its oldest candidates first;
  // false if that finds nothing soon, or nothing at all.
  bool search(Owner o) {
    unmet_.clear();
    const auto begin = problem_.read_first[o], end = problem_.read_first[o + 1];
    for (auto r = begin; r < end; ++r) {
      if (writers_[r] == kUnresolved || rank(writers_[r]) >= newest_visible(o, r)) continue;
      unmet_.insert(r);  // whatever is chosen
    }
    nodes_ = 0;
    if (descend(o)) return true;
    for (const auto r : pending_) writers_[r] = kUnresolved;
    return false;
  }

  bool descend(Owner o) {
    if (++nodes_ > kNodesAnOwner) return false;
    const auto begin = problem_.read_first[o], end = problem_.read_first[o + 1];
    std::uint32_t adds = kUnresolved;
    std::span<const std::uint32_t> options;
    std::ptrdiff_t fewest = 0;  // of the options, those that it may see
    for (auto r = begin; r < end; ++r) {
      const auto newest = newest_visible(o, r);
      if (writers_[r] != kUnresolved) {
        if (rank(writers_[r]) < newest && !unmet_.contains(r)) return false;
        continue;
      }
      const auto list = ranked(r);
      const auto first = std::lower_bound(list.begin(), list.end(), newest);
      if (first != list.end() && *first == newest) continue;
      const auto last = std::lower_bound(first, list.end(), rank_[o]);
      const auto some =
          std::count_if(first, last, [&](std::uint32_t w) { return may_see(o, at_rank(w)); });
      if (some == 0) return false;
      if (adds != kUnresolved && fewest <= some) continue;
      adds = r;
      fewest = some;
      options = std::span(first, last);
    }
    if (adds == kUnresolved) {
      for (const auto r : pending_) {
        if (writers_[r] == kUnresolved) writers_[r] = at_rank(newest_visible(o, r));
      }
      return true;
    }
    const auto newest_before = newest_;
    const auto clock_before = clock_;
    for (std::size_t i = 0; i < options.size() && nodes_ <= kNodesAnOwner; ++i) {
      if (!may_see(o, at_rank(options[i]))) continue;
      writers_[adds] = at_rank(options[i]);
      see(writers_[adds], o);
      if (descend(o)) return true;
      newest_ = newest_before;
      clock_ = clock_before;
    }
    writers_[adds] = kUnresolved;
    return false;
  }

  // Where the search fails: greedily, against the order if need be. What
  // one read adds may be visible to another, so until nothing is added; ranks only
  // grow, so it ends.
  void settle(Owner o) {
    added_.clear();
    bool changed = true;
    while (changed) {
      changed = false;
      for (const auto r : pending_) {
        const auto it = added_.find(r);
        if (it != added_.end() && (it->second || rank(writers_[r]) >= newest_visible(o, r)))
          continue;
        if (!choose(o, r)) continue;
        see(writers_[r], o);
        changed = true;
      }
    }
  }

  // True if the choice makes something visible that was not.
  bool choose(Owner o, std::uint32_t r) {
    const auto newest = newest_visible(o, r);
    const auto list = ranked(r);
    auto it = std::lower_bound(list.begin(), list.end(), newest);
    if (it != list.end() && *it == newest) {
      writers_[r] = at_rank(newest);
      return false;
    }
    const auto before = std::lower_bound(it, list.end(), rank_[o]);
    if (it == before) {  // an obstacle
      writers_[r] = it == list.begin() ? at_rank(list.front()) : at_rank(*(it - 1));
      added_[r] = true;
      return true;
    }
    auto best = it;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (std::size_t tried = 0; it != before && tried < kCandidatesTried && least != 0;
         ++it, ++tried) {
      const auto harm =
          contradictions(o, r, at_rank(*it), least) + (may_see(o, at_rank(*it)) ? 0 : kHarmToLater);
      if (harm < least) {
        least = harm;
        best = it;
      }
    }
    writers_[r] = at_rank(*best);
    added_[r] = false;
    return true;
  }

  // Reads of o, writers known, that `w` becoming visible would contradict in this order.
  std::size_t contradictions(Owner o, std::uint32_t for_read, Owner w, std::size_t enough) {
    std::size_t count = 0;
    const auto begin = problem_.read_first[o], end = problem_.read_first[o + 1];
    for (auto r = begin; r < end && count < enough; ++r) {
      if (r == for_read || writers_[r] == kUnresolved || writers_[r] == w) continue;
      if (visible_ == Visible::kEarlierRead &&
          problem_.reads[r].step <= problem_.reads[for_read].step)
        continue;
      const Object x = problem_.reads[r].object;
      const auto seen = rank(writers_[r]);
      const bool overwritten =
          (rank(w) > seen && writes(w, x)) ||
          (visible_ == Visible::kCausal && newest_in(clock_of(w), o, x) > seen);
      if (overwritten) ++count;
    }
    return count;
  }

  [[nodiscard]] bool writes(Owner o, Object x) const {
    if (o == kInitial) return false;
    const auto objects = problem_.writes(o);
    return std::binary_search(objects.begin(), objects.end(), x);
  }

  // The rank of the newest version of the read's object that is visible.
  std::uint32_t newest_visible(Owner o, std::uint32_t r) {
    const Object x = problem_.reads[r].object;
    if (visible_ == Visible::kCausal) return newest_in(std::span(clock_), o, x);
    std::uint32_t newest = visible_ == Visible::kDirect ? rank(session_writer_[r]) : 0;
    if (const auto it = newest_.find(x); it != newest_.end()) newest = std::max(newest, it->second);
    return newest;
  }

  // Makes `w` visible to o's reads.
  void see(Owner w, Owner o) {
    if (w == kInitial || w == o) return;
    if (visible_ == Visible::kCausal) {
      join(clock_of(w));
      auto& at = clock_[graph_.chain(w)];
      at = std::max(at, graph_.position(w));
      return;
    }
    // Only the objects that an open read asks for matter; walk the shorter side.
    const auto written = problem_.writes(w);
    const auto note = [&](Object x) {
      auto& newest = newest_[x];
      newest = std::max(newest, rank_[w]);
    };
    if (written.size() <= 4 * pending_.size()) {
      for (const Object x : written) note(x);
    } else {
      for (const auto r : pending_) {
        if (writes(w, problem_.reads[r].object)) note(problem_.reads[r].object);
      }
    }
  }

  // --- read-atomic: the last writer of each open read's object in its session ---

  void note_sessions() {
    session_writer_.assign(problem_.reads.size(), kInitial);
    base::HashMap<Owner, std::vector<Owner>> lone_after;
    for (const FixedArc& arc : problem_.fixed) {
      if (arc.kind == FixedKind::kSession) lone_after[arc.from].push_back(arc.to);
    }
    std::vector<Owner> last_writer(problem_.object_count, kInitial);
    const auto note = [&](Owner o) {
      for (auto r = problem_.read_first[o]; r < problem_.read_first[o + 1]; ++r) {
        session_writer_[r] = last_writer[problem_.reads[r].object];
      }
    };
    for (const auto& chain : problem_.chains) {
      // A lone owner's chain is itself; what is before it was noted with its session.
      const bool lone = chain.size() == 1;
      for (const Owner o : chain) {
        if (!lone) note(o);
        for (const Object x : problem_.writes(o)) last_writer[x] = o;
        if (const auto it = lone_after.find(o); it != lone_after.end()) {
          for (const Owner l : it->second) note(l);
        }
      }
      for (const Owner o : chain) {
        for (const Object x : problem_.writes(o)) last_writer[x] = kInitial;
      }
    }
  }

  // --- causal: clocks of what was seen, one entry a chain ---

  bool prepare_clocks() {
    const auto chains = graph_.chain_count();
    if (budget_.would_exceed(4ull * chains * problem_.owner_count)) return false;
    clocks_.assign(static_cast<std::size_t>(chains) * problem_.owner_count, 0);
    clock_.assign(chains, 0);
    for (const FixedArc& arc : problem_.fixed) {
      if (arc.kind == FixedKind::kSession) after_[arc.to] = arc.from;
    }
    // Writers by object and chain, in chain order.
    group_first_.assign(problem_.object_count + 1, 0);
    std::vector<std::vector<Owner>> of_object(problem_.object_count);
    for (const auto& chain : problem_.chains) {
      for (const Owner o : chain) {
        for (const Object x : problem_.writes(o)) of_object[x].push_back(o);
      }
    }
    for (Object x = 0; x < problem_.object_count; ++x) {
      for (const Owner o : of_object[x]) {
        const auto i = static_cast<std::uint32_t>(group_writer_.size());
        if (groups_.size() == group_first_[x] || groups_.back().chain != graph_.chain(o)) {
          groups_.push_back({graph_.chain(o), i, i});
        }
        group_writer_.push_back(o);
        groups_.back().last = i + 1;
      }
      group_first_[x + 1] = static_cast<std::uint32_t>(groups_.size());
    }
    return true;
  }
  [[nodiscard]] std::span<std::uint32_t> clock_of(Owner o) {
    return std::span(clocks_).subspan(static_cast<std::size_t>(o) * clock_.size(), clock_.size());
  }
  void join(std::span<const std::uint32_t> other) {
    for (std::size_t c = 0; c < clock_.size(); ++c) clock_[c] = std::max(clock_[c], other[c]);
  }
  void begin_clock(Owner o) {
    std::fill(clock_.begin(), clock_.end(), 0);
    const auto follow = [&](Owner before) {
      join(clock_of(before));
      auto& at = clock_[graph_.chain(before)];
      at = std::max(at, graph_.position(before));
    };
    if (graph_.previous(o) != graph::kNoNode) follow(graph_.previous(o));
    if (const auto it = after_.find(o); it != after_.end()) follow(it->second);
  }
  void end_clock(Owner o) { std::copy(clock_.begin(), clock_.end(), clock_of(o).begin()); }

  // How far along each chain an owner may see in this order. What is visible to it is visible to
  // those after it in its session and to those that surely read from it, whose reads must not miss
  // a newer version. So from the last owner to the first. Where the order cannot be, it is changed.
  bool prepare_limits() {
    if (clocks_.size() > kMostLimits) return true;
    if (budget_.would_exceed(4ull * clocks_.size())) return false;
    note_sure_clocks();
    auto fewest = std::numeric_limits<std::size_t>::max();
    for (int reorders = 0;; ++reorders) {
      limits_.assign(clocks_.size(), std::numeric_limits<std::uint32_t>::max());
      swaps_.clear();
      for (std::size_t i = order_.size(); i-- > 0;) {
        if ((i & 0x3ff) == 0 && budget_.exceeded()) return false;
        limit(order_[i]);
      }
      if (swaps_.size() >= fewest || swaps_.empty() || reorders == kMostReorders) return true;
      fewest = swaps_.size();
      reorder();
    }
  }

  // Of what is visible by known writers alone.
  void note_sure_clocks() {
    for (const Owner o : order_) {
      begin_clock(o);
      for (auto r = problem_.read_first[o]; r < problem_.read_first[o + 1]; ++r) {
        if (writers_[r] != kUnresolved) see(writers_[r], o);
      }
      end_clock(o);
    }
  }

  void reorder() {
    swapped_.assign(rank_.begin(), rank_.end());
    for (auto& hint : swapped_) hint *= 2;
    for (const auto [later, earlier] : swaps_)
      swapped_[later] = std::max(swapped_[later], std::uint64_t{2} * rank_[earlier] + 1);
    hint_ = swapped_;
    order_.clear();
    ranked_.clear();
    order_owners();
  }

  // Those after o have passed on to it what they may see.
  void limit(Owner o) {
    const auto begin = problem_.read_first[o], end = problem_.read_first[o + 1];
    const auto limits = limits_of(o);
    const auto pass_on = [&](Owner before) {
      const auto theirs = limits_of(before);
      for (std::size_t c = 0; c < limits.size(); ++c) theirs[c] = std::min(theirs[c], limits[c]);
    };
    for (auto r = begin; r < end; ++r) {
      if (writers_[r] != kUnresolved) none_newer(o, r, rank(writers_[r]));
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (auto r = begin; r < end; ++r) {
        if (writers_[r] == kUnresolved && none_newer_than_all(o, r)) changed = true;
      }
    }
    for (auto r = begin; r < end; ++r) {
      const Owner w = writers_[r] == kUnresolved ? only_choice(o, r) : writers_[r];
      if (w != kUnresolved && w != kInitial && w != o) pass_on(w);
    }
    if (graph_.previous(o) != graph::kNoNode) pass_on(graph_.previous(o));
    if (const auto it = after_.find(o); it != after_.end()) pass_on(it->second);
  }

  // An open read sees one of its candidates that o may see, so no version that is newer than them
  // all. If one surely is visible, the order is wrong.
  bool none_newer_than_all(Owner o, std::uint32_t r) {
    const auto list = ranked(r);
    auto it = std::lower_bound(list.begin(), list.end(), rank_[o]);
    do {
      if (it == list.begin()) return false;
      --it;
    } while (!may_see(o, at_rank(*it)));
    const auto sure = newest_in(clock_of(o), o, problem_.reads[r].object);
    if (sure <= *it) return none_newer(o, r, *it);
    if (*it != 0 && sure - *it <= kNear) swaps_.push_back({at_rank(*it), at_rank(sure)});
    return false;
  }

  // The candidate of an open read that alone is left, or kUnresolved.
  Owner only_choice(Owner o, std::uint32_t r) {
    const auto list = ranked(r);
    const auto sure = newest_in(clock_of(o), o, problem_.reads[r].object);
    Owner only = kUnresolved;
    for (auto it = std::lower_bound(list.begin(), list.end(), sure);
         it != list.end() && *it < rank_[o]; ++it) {
      if (!may_see(o, at_rank(*it))) continue;
      if (only != kUnresolved) return kUnresolved;
      only = at_rank(*it);
    }
    return only;
  }

  // o may see no version of the read's object after the one of that rank. False: as before.
  bool none_newer(Owner o, std::uint32_t r, std::uint32_t newest) {
    const Object x = problem_.reads[r].object;
    const auto limits = limits_of(o);
    bool changed = false;
    for (auto g = group_first_[x]; g < group_first_[x + 1]; ++g) {
      const Group& group = groups_[g];
      const auto begin = group_writer_.begin() + group.first,
                 end = group_writer_.begin() + group.last;
      auto newer = std::partition_point(begin, end, [&](Owner w) { return rank_[w] <= newest; });
      if (newer != end && *newer == o) ++newer;
      if (newer == end || graph_.position(*newer) > limits[group.chain]) continue;
      limits[group.chain] = graph_.position(*newer) - 1;
      changed = true;
    }
    return changed;
  }

  [[nodiscard]] std::span<std::uint32_t> limits_of(Owner o) {
    return std::span(limits_).subspan(static_cast<std::size_t>(o) * clock_.size(), clock_.size());
  }

  [[nodiscard]] bool may_see(Owner o, Owner w) {
    if (limits_.empty() || w == kInitial) return true;
    const auto limits = limits_of(o), clock = clock_of(w);
    if (graph_.position(w) > limits[graph_.chain(w)]) return false;
    for (std::size_t c = 0; c < limits.size(); ++c) {
      if (clock[c] > limits[c]) return false;
    }
    return true;
  }

  // The rank of the newest writer of x (but o) that the clock covers.
  std::uint32_t newest_in(std::span<const std::uint32_t> clock, Owner o, Object x) const {
    std::uint32_t newest = 0;
    for (auto g = group_first_[x]; g < group_first_[x + 1]; ++g) {
      const Group& group = groups_[g];
      const auto begin = group_writer_.begin() + group.first,
                 end = group_writer_.begin() + group.last;
      auto it = std::partition_point(
          begin, end, [&](Owner w) { return graph_.position(w) <= clock[group.chain]; });
      if (it == begin) continue;
      --it;
      if (*it == o) {
        if (it == begin) continue;
        --it;
      }
      newest = std::max(newest, rank_[*it]);
    }
    return newest;
  }

  struct Group {
    ChainId chain;
    std::uint32_t first, last;  // into group_writer_
  };

  const VisibilityProblem& problem_;
  const Visible visible_;
  const EventGraph& graph_;
  std::span<const std::span<const Owner>> candidates_;
  std::span<const std::uint64_t> hint_;
  std::vector<Owner>& writers_;
  base::Budget& budget_;
  std::vector<Owner> order_;
  std::vector<std::uint32_t> rank_;
  base::HashMap<std::pair<const Owner*, std::size_t>, std::vector<std::uint32_t>> ranked_;
  std::vector<std::uint32_t> pending_;  // the owner's open reads
  base::HashMap<std::uint32_t, bool>
      added_;  // those that made something visible; true: against the order
  base::HashMap<Object, std::uint32_t> newest_;  // by object: the rank of the newest visible writer
  base::HashSet<std::uint32_t> unmet_;           // resolved reads that nothing can help
  std::size_t nodes_ = 0;
  std::vector<Owner> session_writer_;  // by read
  std::vector<std::uint32_t> clocks_, clock_;
  std::vector<Swap> swaps_;
  std::vector<std::uint64_t> swapped_;  // hints
  std::vector<std::uint32_t> limits_;   // by owner and chain: the last position that it may see
  base::HashMap<Owner, Owner> after_;   // a lone owner's predecessor
  std::vector<std::uint32_t> group_first_;
  std::vector<Group> groups_;
  std::vector<Owner> group_writer_;
};

}  // namespace

bool guess_writers(const WriterGuessInput& input, std::vector<Owner>& writers,
                   std::vector<std::uint32_t>& rank, base::Budget& budget) {
  Guesser guesser(input, writers, budget);
  const bool finished = guesser.run();
  rank = guesser.take_ranks();
  return finished;
}

}  // namespace cupel::order
