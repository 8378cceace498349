// ProofBuilder: see the header. The depth of the recursion is at most the
// number of saturation rounds: reasons use only arcs of earlier rounds.
#include "engine/order/proof.hpp"

#include <algorithm>
#include <cassert>

#include "base/hash_table.hpp"

namespace cupel::order {

namespace {
// Nobody reads more cases than this.
constexpr std::uint32_t kMaxOrphanCases = 64;
// What a proof rests on is for the relaxation, where less only takes longer.
constexpr int kMaxLostCandidates = 256;
}  // namespace

std::uint32_t ProofBuilder::plain(Node from, Node to, ArcKind kind) {
  const auto [it, fresh] = by_ends_.try_emplace((static_cast<std::uint64_t>(from) << 32) | to,
                                                static_cast<std::uint32_t>(proof_.arcs.size()));
  if (fresh) proof_.arcs.push_back({from, to, kind, 0, kInitial, {}});
  return it->second;
}

std::uint32_t ProofBuilder::assumed(const Assumed& a, std::vector<std::uint32_t> because) {
  // What a known read saw is not assumed with the rest.
  if (a.kind == ArcKind::kAssumedOverwritten && a.seen != kUnresolved &&
      versions_.writer_of(a.read_or_object) == a.seen) {
    know(a.read_or_object, static_cast<std::uint32_t>(graph_.arcs().size()));
  }
  proof_.arcs.push_back(
      {a.from, a.to, a.kind, a.read_or_object, a.other, std::move(because), a.seen});
  return static_cast<std::uint32_t>(proof_.arcs.size() - 1);
}

std::vector<std::uint32_t> ProofBuilder::path(std::span<const EventGraph::Step> steps) {
  std::vector<std::uint32_t> result;
  for (std::size_t i = 0; i < steps.size();) {
    std::size_t j = i;
    if (problem_.is_helper(steps[i].to)) {
      while (problem_.is_helper(steps[j].to)) ++j;
      result.push_back(plain(steps[i].from, steps[j].to, ArcKind::kRealTime));
    } else if (steps[i].arc == EventGraph::kChainArc) {
      while (j + 1 < steps.size() && steps[j + 1].arc == EventGraph::kChainArc &&
             !problem_.is_helper(steps[j + 1].to)) {
        ++j;
      }
      const bool own = problem_.owner_of(steps[i].from) == problem_.owner_of(steps[j].to);
      result.push_back(plain(steps[i].from, steps[j].to, own ? ArcKind::kOwn : ArcKind::kChain));
    } else {
      result.push_back(arc(steps[i].arc));
    }
    i = j + 1;
  }
  return result;
}

std::vector<std::uint32_t> ProofBuilder::reason_path(Node from, Node to, std::uint32_t limit) {
  return path(graph_.path(from, to, limit));
}

// Why `candidate` cannot have been read, as the cycle that would be: the path
// reader → candidate and the read; or candidate → another writer → reader, where
// the read would have been overwritten. Empty when the budget ends first.
std::vector<std::uint32_t> ProofBuilder::excluding_cycle(std::uint32_t r, Owner candidate,
                                                         std::uint32_t limit) {
  const Read& read = problem_.reads[r];
  const Node begin = problem_.begin(read.owner);
  if (candidate != kInitial) {
    auto after = graph_.path(begin, problem_.commit(candidate), limit);
    if (!after.empty()) {
      auto cycle = path(after);
      cycle.push_back(
          assumed({problem_.commit(candidate), begin, ArcKind::kAssumedWriter, r, candidate}));
      return cycle;
    }
  }
  for (Slot s = versions_.first_slot(read.object); s < versions_.last_slot(read.object); ++s) {
    const Owner k = versions_.writer(s);
    if (k == candidate || k == read.owner) continue;
    const auto rank = graph_.rank(problem_.commit(k));  // cheap, before any search
    if (rank > graph_.rank(begin)) continue;
    if (candidate != kInitial && rank < graph_.rank(problem_.write_target(candidate))) continue;
    if (budget_.exceeded()) break;
    const auto visible = graph_.path(problem_.commit(k), begin, limit);
    if (visible.empty()) continue;
    std::vector<std::uint32_t> because;
    if (candidate != kInitial) {
      const auto order = graph_.path(problem_.write_target(candidate), problem_.commit(k), limit);
      if (order.empty()) continue;
      because = path(order);
    }
    const auto rest = path(visible);
    std::vector<std::uint32_t> cycle = {
        assumed({begin, problem_.commit(k), ArcKind::kAssumedOverwritten, r, k, candidate},
                std::move(because))};
    cycle.insert(cycle.end(), rest.begin(), rest.end());
    return cycle;
  }
  proof_.complete = false;
  return {};
}

std::vector<Exclusion> ProofBuilder::exclusions(std::uint32_t r, Owner kept, std::uint32_t limit) {
  const Read& read = problem_.reads[r];
  std::vector<Exclusion> result;
  for (auto c = read.first_candidate; c < read.last_candidate; ++c) {
    const Owner candidate = problem_.candidates[c];
    if (candidate == kept) continue;
    if (budget_.exceeded()) {
      proof_.complete = false;
      break;
    }
    result.push_back({candidate, excluding_cycle(r, candidate, limit)});
  }
  return result;
}

// For an independent checker: before an arc that uses what a read with several candidates
// saw comes why it saw that.
void ProofBuilder::know(std::uint32_t r, std::uint32_t limit) {
  const Read& read = problem_.reads[r];
  if (!problem_.whole_proofs || read.last_candidate - read.first_candidate == 1) return;
  const Owner w = versions_.writer_of(r);
  if (w == kUnresolved || !known_reads_.insert(r).second) return;
  if (w == kInitial) {
    auto excluded = exclusions(r, w, limit);
    const Node begin = problem_.begin(read.owner);
    proof_.arcs.push_back({begin,
                           begin,
                           ArcKind::kSawInitial,
                           r,
                           kInitial,
                           {},
                           kInitial,
                           Bound::kExact,
                           std::move(excluded)});
    return;
  }
  if (!looked_for_only_writers_) {
    looked_for_only_writers_ = true;
    for (std::uint32_t i = 0; i < graph_.arcs().size(); ++i) {
      if (graph_.arcs()[i].kind == ArcKind::kOnlyWriter)
        only_writer_.emplace(graph_.arcs()[i].read_or_object, i);
    }
  }
  arc(only_writer_.at(r));
}

std::uint32_t ProofBuilder::arc(std::uint32_t index) {
  if (const auto it = by_arc_.find(index); it != by_arc_.end()) return it->second;
  const KnownArc& known = graph_.arcs()[index];
  const std::uint32_t limit = graph_.arcs_before_round_of(index);
  std::vector<std::uint32_t> because;
  std::vector<Exclusion> excluded;
  Owner seen = kUnresolved;
  switch (known.kind) {
    case ArcKind::kInitialRead:
      know(known.read_or_object, limit);
      break;
    case ArcKind::kVisible:
      know(known.read_or_object, limit);
      because = reason_path(problem_.commit(known.other),
                            problem_.begin(problem_.reads[known.read_or_object].owner), limit);
      break;
    case ArcKind::kOverwritten:
      know(known.read_or_object, limit);
      seen = versions_.writer_of(known.read_or_object);
      because = reason_path(problem_.write_target(versions_.writer_of(known.read_or_object)),
                            problem_.commit(known.other), limit);
      break;
    case ArcKind::kNoOverlap:
      because = reason_path(problem_.write_target(problem_.owner_of(known.from)),
                            problem_.commit(known.other), limit);
      break;
    case ArcKind::kOnlyWriter:
      known_reads_.insert(known.read_or_object);
      excluded = exclusions(known.read_or_object, known.other, limit);
      for (const Exclusion& exclusion : excluded) {
        for (const auto i : exclusion.cycle) {
          const ProofArc& step = proof_.arcs[i];
          if (step.kind == ArcKind::kAssumedOverwritten) {
            because.insert(because.end(), step.because.begin(), step.because.end());
          } else if (step.kind != ArcKind::kAssumedWriter) {
            because.push_back(i);
          }
        }
      }
      break;
    default:
      break;
  }
  const auto place = static_cast<std::uint32_t>(proof_.arcs.size());
  proof_.arcs.push_back({known.from, known.to, known.kind, known.read_or_object, known.other,
                         std::move(because), seen, Bound::kExact, std::move(excluded)});
  by_arc_.emplace(index, place);
  return place;
}

void ProofBuilder::add_lost_candidates() {
  const auto limit = static_cast<std::uint32_t>(graph_.arcs().size());
  base::HashSet<std::uint32_t> done;
  int left = kMaxLostCandidates;
  for (std::size_t i = 0; i < proof_.arcs.size(); ++i) {  // grows
    if (!names_read(proof_.arcs[i].kind)) continue;
    const std::uint32_t r = proof_.arcs[i].read_or_object;
    const Read& read = problem_.reads[r];
    if (read.last_candidate - read.first_candidate == 1 || !done.insert(r).second) continue;
    const auto kept = open_->candidates(r);
    for (auto c = read.first_candidate; c < read.last_candidate; ++c) {
      const Owner w = problem_.candidates[c];
      if (std::find(kept.begin(), kept.end(), w) != kept.end()) continue;
      if (left-- == 0 || budget_.exceeded()) return;
      excluding_cycle(r, w, limit);
    }
  }
}

// So that no run of helpers or chain steps wraps around the end.
void ProofBuilder::rotate_to_event(std::vector<EventGraph::Step>& steps) const {
  const auto starts_run = [&](const EventGraph::Step& s) {
    return !problem_.is_helper(s.from) &&
           (s.arc != EventGraph::kChainArc || problem_.is_helper(s.to));
  };
  auto it = std::find_if(steps.begin(), steps.end(), starts_run);
  if (it != steps.end()) std::rotate(steps.begin(), it, steps.end());
}

void ProofBuilder::add_cycle(std::span<const EventGraph::Step> steps) {
  std::vector<EventGraph::Step> rotated(steps.begin(), steps.end());
  rotate_to_event(rotated);
  proof_.cycles.push_back(path(rotated));
}

void ProofBuilder::add_orphan(std::uint32_t r) {
  proof_.by_cases = true;
  const Read& read = problem_.reads[r];
  const auto limit = static_cast<std::uint32_t>(graph_.arcs().size());
  const auto shown =
      problem_.whole_proofs ? read.last_candidate : read.first_candidate + kMaxOrphanCases;
  const auto last = std::min(read.last_candidate, shown);
  for (auto c = read.first_candidate; c < last; ++c) {
    if (budget_.exceeded()) proof_.complete = false;
    if (!proof_.complete) break;
    auto cycle = excluding_cycle(r, problem_.candidates[c], limit);
    if (!cycle.empty()) proof_.cycles.push_back(std::move(cycle));
  }
  if (last != read.last_candidate) proof_.complete = false;
}

void ProofBuilder::add_exclusions(std::uint32_t r, std::span<const Owner> kept) {
  const Read& read = problem_.reads[r];
  const auto limit = static_cast<std::uint32_t>(graph_.arcs().size());
  for (auto c = read.first_candidate; c < read.last_candidate && proof_.complete; ++c) {
    const Owner candidate = problem_.candidates[c];
    if (std::find(kept.begin(), kept.end(), candidate) != kept.end()) continue;
    if (budget_.exceeded())
      proof_.complete = false;
    else
      proof_.cycles.push_back(excluding_cycle(r, candidate, limit));
  }
}

void ProofBuilder::add_case(std::span<const MixedStep> steps) {
  proof_.by_cases = true;
  // Start right after an assumed arc, so that no known stretch wraps around.
  std::vector<MixedStep> rotated(steps.begin(), steps.end());
  const auto last =
      std::find_if(rotated.begin(), rotated.end(), [](const auto& s) { return s.assumed; });
  assert(last != rotated.end() && "a known cycle is not a case");
  std::rotate(rotated.begin(), last, rotated.end());
  std::vector<std::uint32_t> cycle;
  std::vector<EventGraph::Step> stretch;
  const auto flush = [&] {
    const auto part = path(stretch);
    cycle.insert(cycle.end(), part.begin(), part.end());
    stretch.clear();
  };
  for (const MixedStep& step : rotated) {
    if (!step.assumed) {
      stretch.push_back(step.step);
      continue;
    }
    flush();
    cycle.push_back(assumed(step.arc));
  }
  flush();
  proof_.cycles.push_back(std::move(cycle));
}

}  // namespace cupel::order
