// decide_order_level: see the header.
#include "levels/order_levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/parallel.hpp"
#include "levels/chain.hpp"
#include "levels/describe.hpp"
#include "levels/fates.hpp"

namespace cupel::levels {

namespace {

// What came of one part.
struct PartResult {
  bool by_chain = false;
  order::Stage stage = order::Stage::kSaturation;
  Decision decision;  // kYes without text; kGaveUp without detail
  TxnId suspect = TxnId::none();
};

PartResult decide_part(const Given& given, const Part& part, const LevelShape& shape,
                       base::Budget& budget, std::uint64_t proposals) {
  const Accesses& a = given.accesses;
  Described described = describe_order(given.history, a, part, shape, given.drift, budget);
  if (budget.exceeded()) return {};
  described.problem.max_proposals = proposals;
  const order::Outcome outcome = order::decide(described.problem, budget);
  PartResult result;
  result.stage = outcome.stage;
  if (outcome.answer == order::Answer::kGaveUp) return result;
  if (outcome.answer == order::Answer::kYes) {
    result.decision.answer = Answer::kYes;
    if (!given.unsure_compare_and_sets) return result;
    std::vector<std::uint8_t> met(a.txns.size(), 0);
    note_met(given, described, outcome, met);
    std::vector<Owner> read_from;
    for (const auto w : outcome.writers) {
      if (w != order::kInitial) read_from.push_back(described.owners[w]);
    }
    result.suspect = find_suspect(given, read_from, &met);
    return result;
  }
  result.decision.answer = Answer::kNo;
  result.decision.decided_by = stage_name(outcome.stage);
  const base::AllocationWatch unwatched(nullptr);  // what is proven is not lost for want of words
  result.decision.violation.emplace();
  std::vector<Owner> writers;
  for (const auto& read : described.problem.reads) {
    writers.push_back(read.last_candidate - read.first_candidate == 1
                          ? described.problem.candidates[read.first_candidate]
                          : order::kUnresolved);
  }
  result.decision.violation->derivation =
      translate(a, outcome.proof, shape.split, described.owners, described.keys, described.reads, writers);
  return result;
}

}  // namespace

Judged decide_order_level(const Given& given, Level level, base::Budget& budget, std::uint64_t proposals) {
  const History& h = given.history;
  const Accesses& a = given.accesses;
  const LevelShape shape = shape_of(level);
  std::vector<Part> parts;
  bool by_key = false;
  if (level == Level::kLinearizable) {
    parts = split_by_key(h, a);
    by_key = true;
  } else if (needs_real_time(level)) {
    parts = {whole(a)};
  } else {
    parts = split_into_parts(h, a, has_session_order(level));
  }
  // The answer is that of the first part, by number, that says no; else of the first
  // that does not know. A part is left out only if one with a smaller number is known
  // to say no, so whatever the threads do, all parts up to that first one are decided.
  std::vector<PartResult> results(parts.size());
  std::atomic<std::size_t> stop{parts.size()};
  base::for_each_index(parts.size(), given.threads, [&](std::size_t i) {
    if (i > stop) return;
    const base::AllocationWatch watch(&budget);
    PartResult& result = results[i];
    if (by_key && chain_of_compare_and_sets(h, a, parts[i], given.drift)) {
      result.by_chain = true;
      result.decision.answer = Answer::kYes;
    } else {
      result = decide_part(given, parts[i], shape, budget, proposals);
    }
    if (result.decision.answer != Answer::kNo) return;
    std::size_t known = stop;
    while (i < known && !stop.compare_exchange_weak(known, i)) {
    }
  });
  if (const std::size_t i = stop; i < parts.size()) return {std::move(results[i].decision)};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (results[i].decision.answer == Answer::kYes) continue;
    const std::string stage(stage_name(results[i].stage));
    return {gave_up(budget, parts.size() == 1
                                ? stage
                                : fmt::format("{} of part {} of {}", stage, i + 1, parts.size()))};
  }
  // The deepest stage that any part needed names the decision.
  order::Stage deepest = order::Stage::kSaturation;
  bool all_chains = !parts.empty();
  TxnId suspect;
  for (const PartResult& result : results) {
    all_chains = all_chains && result.by_chain;
    deepest = std::max(deepest, result.stage);
    if (!suspect.valid()) suspect = result.suspect;
  }
  Decision d;
  d.answer = Answer::kYes;
  d.decided_by = all_chains ? "chain" : std::string(stage_name(deepest));
  return {std::move(d), suspect};
}

}  // namespace cupel::levels
