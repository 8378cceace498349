// Sums: counters with several amounts, and banks. The state is a vector of sums, changes add to it,
// and a read returns all of it.
//
// Changes commute, so each can wait for its own end, or for the next read after it. A read can wait
// until some operation ends; what is applied before it has begun by then. So only reads branch:
// when an operation ends, the members of a frontier are closed under
//
//   (applied changes, satisfied reads)  →  the same, with changes Y that bring the sums to what an
//                                          open read returned, and this read
//
// and only members with the operation remain. A frontier without members is a violation. A member
// lists the open operations that are in it. The subsets Y are searched with bounds for each sum.
// Exponential in the open operations: a budget ends it, and the verdict is unknown.
//
// Without known initial sums, the first read that a member satisfies says them.
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "engine/objects/kinds.hpp"

namespace cupel::objects {

namespace {

using certify::ObjectPattern;
using history::Call;
using history::ObjectHistory;
using history::ObjectOp;
using history::Time;

constexpr std::size_t kMostMembers = 1 << 17, kMostOpen = 4096;
constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 26;

using Sums = std::vector<std::int64_t>;

class SumsDecision {
 public:
  SumsDecision(const SumsOf& what, base::Budget& budget) : w_(what), budget_(budget) {}

  Answer run() {
    std::vector<std::tuple<Time, bool, std::uint32_t>> events;
    for (std::uint32_t i = 0; i < w_.ops.size(); ++i) {
      events.emplace_back(w_.ops[i].invoke, false, i);
      if (w_.ops[i].complete != history::kNever) events.emplace_back(w_.ops[i].complete, true, i);
    }
    std::sort(events.begin(), events.end());
    Member first{.sums = w_.initial.value_or(Sums(w_.width)), .known = w_.initial.has_value()};
    frontier_.insert(std::move(first));
    for (const auto& [time, ends, op] : events) {
      if (!ends) {
        open_.push_back(op);
        if (open_.size() > kMostOpen) return {.detail = "too many operations are open at a time"};
        continue;
      }
      if (!finish(op)) return {.detail = why_};
      if (frontier_.empty())
        return {.verdict = Verdict::kViolated, .violation = ObjectPattern{.name = "no-order"}};
    }
    return {.verdict = Verdict::kSatisfied, .order = order_of(*frontier_.begin())};
  }

 private:
  // A part of an execution. `done`: the open operations that are in it, in order.
  struct Member {
    Sums sums;
    bool known = true;  // else the sums are those of the changes alone
    std::vector<std::uint32_t> done = {};
    std::uint32_t last = kNone;  // of log_; not part of the identity

    bool operator<(const Member& other) const {
      return std::tie(known, done, sums) < std::tie(other.known, other.done, other.sums);
    }
  };
  struct Logged {
    std::uint32_t op, before;
  };

  // Each step asks once; false: a limit is met.
  bool step() {
    if (++steps_ > kMostSteps || ((steps_ & 0xfff) == 0 && budget_.exceeded())) {
      why_ = steps_ > kMostSteps ? "the search for an order was too long" : kLimitMet;
      return false;
    }
    return true;
  }

  // The operation ends: only members that have it remain.
  bool finish(std::uint32_t op) {
    std::set<Member> all = frontier_;
    std::vector<Member> todo(all.begin(), all.end());
    while (!todo.empty()) {
      auto member = std::move(todo.back());
      todo.pop_back();
      if (!step()) return false;
      for (const auto read : open_) {
        if (!w_.ops[read].is_read || has(member, read)) continue;
        if (!satisfy(member, read, all, todo)) return false;
      }
    }
    std::set<Member> next;
    for (const auto& member : all) {
      Member after = member;
      if (!has(after, op)) {
        if (w_.ops[op].is_read) continue;
        apply(after, op);
      }
      std::erase(after.done, op);
      next.insert(std::move(after));
    }
    frontier_ = std::move(next);
    std::erase(open_, op);
    return true;
  }

  static bool has(const Member& member, std::uint32_t op) {
    return std::binary_search(member.done.begin(), member.done.end(), op);
  }

  void take(Member& member, std::uint32_t op) {
    member.done.insert(std::lower_bound(member.done.begin(), member.done.end(), op), op);
    log_.push_back({op, member.last});
    member.last = static_cast<std::uint32_t>(log_.size() - 1);
  }
  void apply(Member& member, std::uint32_t op) {
    for (const auto& [place, amount] : w_.ops[op].changes) member.sums[place] += amount;
    take(member, op);
  }

  // Every set of open changes that brings the member to what the read returned.
  bool satisfy(const Member& member, std::uint32_t read, std::set<Member>& all,
               std::vector<Member>& todo) {
    std::vector<std::uint32_t> changes;
    for (const auto op : open_) {
      if (!w_.ops[op].is_read && !has(member, op)) changes.push_back(op);
    }
    // The least and the most that the changes from each on can add to each sum.
    std::vector<Sums> least(changes.size() + 1, Sums(w_.width)), most = least;
    for (auto i = changes.size(); i-- > 0;) {
      least[i] = least[i + 1];
      most[i] = most[i + 1];
      for (const auto& [place, amount] : w_.ops[changes[i]].changes)
        (amount < 0 ? least : most)[i][place] += amount;
    }
    Sums missing(w_.width);
    for (std::size_t i = 0; i < missing.size() && member.known; ++i)
      missing[i] = w_.ops[read].result[i] - member.sums[i];
    std::vector<std::uint32_t> chosen;
    const auto choose = [&](const auto& self, std::size_t i) -> bool {
      if (!step()) return false;
      for (std::size_t place = 0; place < missing.size() && member.known; ++place) {
        if (missing[place] < least[i][place] || missing[place] > most[i][place]) return true;
      }
      if (i == changes.size()) {
        Member next = member;
        for (const auto op : chosen) apply(next, op);
        next.sums = w_.ops[read].result;
        next.known = true;
        take(next, read);
        if (all.insert(next).second) todo.push_back(std::move(next));
        if (all.size() <= kMostMembers) return true;
        why_ = "the search for an order has too many branches";
        return false;
      }
      const auto& change = w_.ops[changes[i]].changes;
      for (const auto& [place, amount] : change) missing[place] -= amount;
      chosen.push_back(changes[i]);
      const bool more = self(self, i + 1);
      chosen.pop_back();
      for (const auto& [place, amount] : change) missing[place] += amount;
      return more && self(self, i + 1);
    };
    return choose(choose, 0);
  }

  [[nodiscard]] std::vector<std::uint32_t> order_of(const Member& member) const {
    std::vector<std::uint32_t> order;
    for (auto at = member.last; at != kNone; at = log_[at].before)
      order.push_back(w_.ops[log_[at].op].id);
    std::reverse(order.begin(), order.end());
    return order;
  }

  const SumsOf& w_;
  base::Budget& budget_;
  std::set<Member> frontier_;
  std::vector<std::uint32_t> open_;
  std::vector<Logged> log_;
  std::uint64_t steps_ = 0;
  std::string why_;
};

}  // namespace

Answer decide_sums(const SumsOf& what, base::Budget& budget) {
  std::int64_t total = 0;
  const auto add = [&](std::int64_t number) {
    return number == std::numeric_limits<std::int64_t>::min() ||
           __builtin_add_overflow(total, number < 0 ? -number : number, &total);
  };
  bool too_large = false;
  for (const auto& op : what.ops) {
    for (const auto& [place, amount] : op.changes) too_large = too_large || add(amount);
  }
  constexpr auto kMost = std::int64_t{1} << 61;
  for (const auto& op : what.ops) {
    for (const auto number : op.result) too_large = too_large || number > kMost || number < -kMost;
  }
  if (too_large || total > kMost) return {.detail = "the numbers are too large"};
  return SumsDecision(what, budget).run();
}

}  // namespace cupel::objects
