// ProofBuilder: see the header. The depth of the recursion is at most the
// number of saturation rounds: reasons use only arcs of earlier rounds.
#include "order/proof.hpp"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <cassert>

namespace cupel::order {

namespace {
// Nobody reads more cases than this.
constexpr std::uint32_t kMaxOrphanCases = 64;
// What a proof rests on is for loosening chains, where less only takes longer.
constexpr int kMaxLostCandidates = 256;
}  // namespace

std::uint32_t ProofBuilder::plain(Node from, Node to, ArcKind kind) {
  const auto [it, fresh] = by_ends_.try_emplace((static_cast<std::uint64_t>(from) << 32) | to,
                                                static_cast<std::uint32_t>(proof_.arcs.size()));
  if (fresh) proof_.arcs.push_back({from, to, kind, 0, kInitial, {}});
  return it->second;
}

std::uint32_t ProofBuilder::assumed(const Assumed& a, std::vector<std::uint32_t> because) {
  proof_.arcs.push_back({a.from, a.to, a.kind, a.read_or_object, a.other, std::move(because)});
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

// Why `candidate` cannot have been read: the path reader → candidate, or the
// path candidate → another writer → reader (then *between is that writer).
std::vector<std::uint32_t> ProofBuilder::exclusion(const Read& read, Owner candidate,
                                                   std::uint32_t limit, Owner* between) {
  *between = kInitial;
  const Node begin = problem_.begin(read.owner);
  if (candidate != kInitial) {
    auto after = graph_.path(begin, problem_.commit(candidate), limit);
    if (!after.empty()) return path(after);
  }
  for (Slot s = versions_.first_slot(read.object); s < versions_.last_slot(read.object); ++s) {
    const Owner k = versions_.writer(s);
    if (k == candidate || k == read.owner) continue;
    const auto rank = graph_.rank(problem_.commit(k));  // cheap, before any search
    if (rank > graph_.rank(begin)) continue;
    if (candidate != kInitial && rank < graph_.rank(problem_.write_target(candidate))) continue;
    if (budget_.exceeded()) return {};
    const auto visible = graph_.path(problem_.commit(k), begin, limit);
    if (visible.empty()) continue;
    std::vector<std::uint32_t> because;
    if (candidate != kInitial) {
      const auto order = graph_.path(problem_.write_target(candidate), problem_.commit(k), limit);
      if (order.empty()) continue;
      because = path(order);
    }
    *between = k;
    const auto rest = path(visible);
    because.insert(because.end(), rest.begin(), rest.end());
    return because;
  }
  return {};
}

std::uint32_t ProofBuilder::arc(std::uint32_t index) {
  if (const auto it = by_arc_.find(index); it != by_arc_.end()) return it->second;
  const KnownArc& known = graph_.arcs()[index];
  const std::uint32_t limit = graph_.arcs_before_round_of(index);
  std::vector<std::uint32_t> because;
  switch (known.kind) {
    case ArcKind::kVisible:
      because = reason_path(problem_.commit(known.other),
                            problem_.begin(problem_.reads[known.read_or_object].owner), limit);
      break;
    case ArcKind::kOverwritten:
      because = reason_path(problem_.write_target(versions_.writer_of(known.read_or_object)),
                            problem_.commit(known.other), limit);
      break;
    case ArcKind::kNoOverlap:
      because = reason_path(problem_.write_target(problem_.owner_of(known.from)),
                            problem_.commit(known.other), limit);
      break;
    case ArcKind::kOnlyWriter: {
      const Read& read = problem_.reads[known.read_or_object];
      for (auto c = read.first_candidate; c < read.last_candidate && !budget_.exceeded(); ++c) {
        if (problem_.candidates[c] == known.other) continue;
        Owner between;
        const auto why = exclusion(read, problem_.candidates[c], limit, &between);
        because.insert(because.end(), why.begin(), why.end());
      }
      break;
    }
    default:
      break;
  }
  const auto place = static_cast<std::uint32_t>(proof_.arcs.size());
  proof_.arcs.push_back({known.from, known.to, known.kind, known.read_or_object, known.other,
                         std::move(because)});
  by_arc_.emplace(index, place);
  return place;
}

void ProofBuilder::add_lost_candidates() {
  const auto limit = static_cast<std::uint32_t>(graph_.arcs().size());
  absl::flat_hash_set<std::uint32_t> done;
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
      Owner between;
      exclusion(read, w, limit, &between);
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
  const Node begin = problem_.begin(read.owner);
  const auto limit = static_cast<std::uint32_t>(graph_.arcs().size());
  const auto last = std::min(read.last_candidate, read.first_candidate + kMaxOrphanCases);
  for (auto c = read.first_candidate; c < last && !budget_.exceeded(); ++c) {
    const Owner w = problem_.candidates[c];
    Owner between;
    auto why = exclusion(read, w, limit, &between);
    std::vector<std::uint32_t> cycle;
    if (between == kInitial) {
      cycle = why;
      cycle.push_back(assumed({problem_.commit(w), begin, ArcKind::kAssumedWriter, r, w}));
    } else {
      const Node k = problem_.commit(between);
      const auto visible = reason_path(k, begin, limit);
      cycle.push_back(assumed({begin, k, ArcKind::kAssumedOverwritten, r, between}, why));
      cycle.insert(cycle.end(), visible.begin(), visible.end());
    }
    proof_.cycles.push_back(std::move(cycle));
  }
}

void ProofBuilder::add_case(std::span<const MixedStep> steps) {
  proof_.by_cases = true;
  // Start right after an assumed arc, so that no known stretch wraps around.
  std::vector<MixedStep> rotated(steps.begin(), steps.end());
  const auto last = std::find_if(rotated.begin(), rotated.end(), [](const auto& s) { return s.assumed; });
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
