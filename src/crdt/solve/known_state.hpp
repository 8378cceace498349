// Known state: what decisions of known deliveries (context.hpp) keep of one object at one replica,
// and the first read that is wrong.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
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

// The elements of each key.
class ElementsOfKeys {
 public:
  explicit ElementsOfKeys(const History& h) : begin_(h.keys.size() + 1, 0) {
    for (const Element& element : h.elements) ++begin_[element.key + 1];
    for (std::size_t key = 0; key < h.keys.size(); ++key) begin_[key + 1] += begin_[key];
    elements_.resize(h.elements.size());
    auto next = begin_;
    for (std::uint32_t e = 0; e < h.elements.size(); ++e) elements_[next[h.elements[e].key]++] = e;
  }
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t key) const {
    return std::span(elements_).subspan(begin_[key], begin_[key + 1] - begin_[key]);
  }

 private:
  std::vector<std::size_t> begin_;  // by key
  std::vector<std::uint32_t> elements_;
};

// The latest visible one of each replica.
class LatestOfEach {
 public:
  void add(const History& h, OpId update) {
    const Operation& op = h.ops[update];
    for (Latest& latest : latest_) {
      if (latest.replica != op.replica) continue;
      if (latest.seq < op.seq) latest = {update, op.replica, op.seq};
      return;
    }
    latest_.push_back({update, op.replica, op.seq});
  }
  // Had one of them, other than itself, seen the update? A later one of a replica has seen what an
  // earlier one had seen.
  [[nodiscard]] bool saw(const Visibility& visibility, OpId update) const {
    return std::any_of(latest_.begin(), latest_.end(), [&](const Latest& latest) {
      return latest.update != update && visibility.since(latest.replica, update) <= latest.seq;
    });
  }
  [[nodiscard]] bool is_empty() const { return latest_.empty(); }
  void clear() { latest_.clear(); }

 private:
  struct Latest {
    OpId update;
    std::uint32_t replica, seq;
  };
  std::vector<Latest> latest_;
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
  void clear() {
    maximal_.clear();
    all_.clear();
  }

 private:
  std::vector<OpId> maximal_;
  LatestOfEach all_;
};

}  // namespace cupel::crdt
