// Nearby: see nearby.hpp.
#include "engine/order/nearby.hpp"

#include <algorithm>
#include <vector>

#include "engine/order/sub_problem.hpp"

namespace cupel::order {

namespace {

// Reads with more of them are left out.
constexpr std::uint32_t kCandidates = 64;
constexpr std::uint64_t kProposals = 1'000;
// Of more, with those that they may have read from, nothing is asked.
constexpr std::size_t kMostOwners = 20'000;

// Of the events that did not run, the one that should have first.
std::optional<Owner> first_late(const Problem& problem, std::span<const Node> ran) {
  std::vector<std::uint8_t> has_run(problem.node_count(), 0);
  for (const Node v : ran) has_run[v] = 1;
  std::optional<Owner> first;
  for (Owner o = 0; o < problem.owner_count; ++o) {
    const bool late = has_run[problem.begin(o)] == 0 || has_run[problem.commit(o)] == 0;
    if (late && (!first || problem.hint[o] < problem.hint[*first])) first = o;
  }
  return first;
}

std::vector<Owner> owners_around(const Problem& problem, Owner middle) {
  const auto distance = [&](Owner o) {
    const auto a = problem.hint[o], b = problem.hint[middle];
    return a < b ? b - a : a - b;
  };
  std::vector<Owner> owners(problem.owner_count);
  for (Owner o = 0; o < problem.owner_count; ++o) owners[o] = o;
  if (owners.size() <= problem.nearby_owners) return owners;
  const auto last = owners.begin() + problem.nearby_owners;
  std::nth_element(owners.begin(), last, owners.end(), [&](Owner a, Owner b) {
    const auto of_a = distance(a), of_b = distance(b);
    return of_a != of_b ? of_a < of_b : a < b;
  });
  owners.erase(last, owners.end());
  return owners;
}

}  // namespace

std::optional<OrderResult> refute_nearby(const Problem& problem, std::span<const Node> ran,
                                         base::Budget& budget) {
  const auto middle = first_late(problem, ran);
  if (!middle) return std::nullopt;
  std::vector<Owner> owners = owners_around(problem, *middle);
  const OwnerTables tables(problem);
  const std::size_t near = owners.size();
  for (std::size_t i = 0; i < near; ++i) {
    for (auto r = tables.read_first[owners[i]]; r < tables.read_first[owners[i] + 1]; ++r) {
      const Read& read = problem.reads[r];
      if (read.last_candidate - read.first_candidate > kCandidates) continue;
      for (auto c = read.first_candidate; c < read.last_candidate; ++c) {
        if (problem.candidates[c] != kInitial) owners.push_back(problem.candidates[c]);
      }
    }
  }
  std::sort(owners.begin(), owners.end());
  owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
  if (owners.size() > kMostOwners) return std::nullopt;
  SubProblem sub(problem, tables, std::move(owners), SubProblem::Chains::kAsWhole);
  sub.limit_proposals(kProposals);
  OrderResult result = decide(sub.problem(), budget);
  if (result.solvability != Solvability::kNo) return std::nullopt;
  sub.translate(result.proof);
  return result;
}

}  // namespace cupel::order
