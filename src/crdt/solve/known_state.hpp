// Known state: what decisions of known deliveries (context.hpp) keep of one object at one replica,
// and the first read that is wrong.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "crdt/solve/context.hpp"

namespace cupel::crdt {

// The first wrong read of the file.
class FirstWrong {
 public:
  void add(OpId read, std::uint32_t object) {
    if (wrong_ && wrong_->read <= read) return;
    wrong_ = WrongRead{.read = read, .object = object};
  }
  [[nodiscard]] bool is_there() const { return wrong_.has_value(); }
  ContextDecision decision() {
    if (wrong_) return {.verdict = Verdict::kViolated, .wrong = std::move(wrong_)};
    return {.verdict = Verdict::kSatisfied};
  }

 private:
  std::optional<WrongRead> wrong_;
};

// The latest visible one of each replica.
class LatestOfEach {
 public:
  void add(const History& h, OpId update) {
    for (OpId& latest : latest_) {
      if (h.ops[latest].replica != h.ops[update].replica) continue;
      if (h.ops[latest].seq < h.ops[update].seq) latest = update;
      return;
    }
    latest_.push_back(update);
  }
  // Had one of them, other than itself, seen the update? A later one of a replica has seen what an
  // earlier one had seen.
  [[nodiscard]] bool saw(const Visibility& visibility, OpId update) const {
    return std::any_of(latest_.begin(), latest_.end(), [&](OpId latest) {
      return latest != update && visibility.sees(latest, update);
    });
  }
  [[nodiscard]] bool is_empty() const { return latest_.empty(); }

 private:
  std::vector<OpId> latest_;
};

// The updates of one object, at one replica, that no visible update of it had seen.
class MaximalUpdates {
 public:
  void take(const KnownContext& context, OpId update) {
    const bool overwritten = all_.saw(context.visibility, update);
    all_.add(context.history, update);
    if (overwritten) return;
    std::erase_if(maximal_, [&](OpId u) { return context.visibility.sees(update, u); });
    maximal_.push_back(update);
  }
  [[nodiscard]] const std::vector<OpId>& updates() const { return maximal_; }

 private:
  std::vector<OpId> maximal_;
  LatestOfEach all_;
};

}  // namespace cupel::crdt
