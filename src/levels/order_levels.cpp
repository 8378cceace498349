// decide_order_level: see the header.
#include "levels/order_levels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "levels/chain.hpp"
#include "levels/describe.hpp"
#include "levels/fates.hpp"

namespace cupel::levels {

namespace {

// The deepest stage that any part needed names the decision.
class StageTally {
 public:
  void see(order::Stage stage) { deepest_ = std::max(deepest_, stage); }
  [[nodiscard]] std::string text() const { return std::string(stage_name(deepest_)); }

 private:
  order::Stage deepest_ = order::Stage::kSaturation;
};

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
  TxnId suspect;
  StageTally stages;
  std::size_t chains_decided = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (by_key && chain_of_compare_and_sets(h, a, parts[i], given.drift)) {
      ++chains_decided;
      continue;
    }
    Described described = describe_order(h, a, parts[i], shape, given.drift);
    described.problem.max_proposals = proposals;
    const order::Outcome outcome = order::decide(described.problem, budget);
    stages.see(outcome.stage);
    if (outcome.answer == order::Answer::kYes) {
      if (given.unsure_compare_and_sets && !suspect.valid()) {
        std::vector<std::uint8_t> met(a.txns.size(), 0);
        note_met(given, described, outcome, met);
        std::vector<Owner> read_from;
        for (const auto w : outcome.writers) {
          if (w != order::kInitial) read_from.push_back(described.owners[w]);
        }
        suspect = find_suspect(given, read_from, &met);
      }
      continue;
    }
    Decision d;
    d.decided_by = stage_name(outcome.stage);
    if (outcome.answer == order::Answer::kGaveUp) {
      return {gave_up(budget, parts.size() == 1
                                  ? std::string(stage_name(outcome.stage))
                                  : fmt::format("{} of part {} of {}", stage_name(outcome.stage), i + 1, parts.size()))};
    }
    d.answer = Answer::kNo;
    d.violation.emplace();
    std::vector<Owner> writers;
    for (const auto& read : described.problem.reads) {
      writers.push_back(read.last_candidate - read.first_candidate == 1
                            ? described.problem.candidates[read.first_candidate]
                            : order::kUnresolved);
    }
    d.violation->derivation = translate(a, outcome.proof, shape.split, described.owners,
                                        described.keys, described.reads, writers);
    return {std::move(d)};
  }
  Decision d;
  d.answer = Answer::kYes;
  d.decided_by = chains_decided != 0 && chains_decided == parts.size() ? "chain" : stages.text();
  return {std::move(d), suspect};
}

}  // namespace cupel::levels
