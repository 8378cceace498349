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
// lists the open operations that are in it. A member is dropped if an open read can never be
// satisfied from it, whichever changes begin before the read ends. The subsets Y are searched with
// bounds for each sum. Exponential in the open operations: a budget ends it, and the verdict is
// unknown.
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
using history::Time;

constexpr std::size_t kMostMembers = 1 << 17, kMostOpen = 4096;
constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 26;

using Sums = std::vector<std::int64_t>;

// The sets of changes that bring sums to a result.
class Choice {
 public:
  Choice(const SumsOf& what, const Sums& from, const Sums& to,
         const std::vector<std::uint32_t>& changes)
      : w_(what), changes_(changes), missing_(to) {
    for (std::size_t i = 0; i < missing_.size(); ++i) missing_[i] -= from[i];
    // The least and the most that the changes from each on can add to each sum.
    least_.resize(changes.size() + 1, Sums(what.width));
    most_ = least_;
    for (auto i = changes.size(); i-- > 0;) {
      least_[i] = least_[i + 1];
      most_[i] = most_[i + 1];
      for (const auto& [place, amount] : w_.ops[changes[i]].changes)
        (amount < 0 ? least_ : most_)[i][place] += amount;
    }
  }
  // Every set will do: the sums are not known.
  void take_any() { any_ = true; }

  // Calls `step` before each step and `found` with each set, until one of them returns false.
  template <typename Step, typename Found>
  bool search(const Step& step, const Found& found, std::size_t i = 0) {
    if (!step()) return false;
    for (std::size_t place = 0; place < missing_.size() && !any_; ++place) {
      if (missing_[place] < least_[i][place] || missing_[place] > most_[i][place]) return true;
    }
    if (i == changes_.size()) return found(chosen_);
    const auto& change = w_.ops[changes_[i]].changes;
    for (const auto& [place, amount] : change) missing_[place] -= amount;
    chosen_.push_back(changes_[i]);
    const bool more = search(step, found, i + 1);
    chosen_.pop_back();
    for (const auto& [place, amount] : change) missing_[place] += amount;
    return more && search(step, found, i + 1);
  }

 private:
  const SumsOf& w_;
  const std::vector<std::uint32_t>& changes_;
  Sums missing_;
  std::vector<Sums> least_, most_;
  std::vector<std::uint32_t> chosen_;
  bool any_ = false;
};

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
    for (const auto& [time, ends, op] : events) {
      if (!ends) begins_.push_back(op);
    }
    Member first{.sums = w_.initial.value_or(Sums(w_.width)), .known = w_.initial.has_value()};
    frontier_.insert(std::move(first));
    for (const auto& [time, ends, op] : events) {
      if (!ends) {
        open_.push_back(op);
        ++begun_;
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
    std::erase(open_, op);
    if (next.size() > 1) {
      std::erase_if(next, [&](const Member& member) { return is_lost(member); });
    }
    frontier_ = std::move(next);
    return why_.empty();
  }

  // Whether an open read can never be satisfied: no choice of the changes that are not applied and
  // begin before it ends brings the member to its result. Many changes are not looked at.
  bool is_lost(const Member& member) {
    constexpr std::size_t kMostChanges = 24;
    if (!member.known) return false;
    for (const auto read : open_) {
      if (!w_.ops[read].is_read || has(member, read)) continue;
      std::vector<std::uint32_t> changes;
      for (const auto op : open_) {
        if (!w_.ops[op].is_read && !has(member, op)) changes.push_back(op);
      }
      for (auto i = begun_; i < begins_.size() && changes.size() <= kMostChanges; ++i) {
        const auto& next = w_.ops[begins_[i]];
        if (next.invoke > w_.ops[read].complete) break;
        if (!next.is_read) changes.push_back(begins_[i]);
      }
      if (changes.size() > kMostChanges) continue;
      bool found = false;
      Choice choice(w_, member.sums, w_.ops[read].result, changes);
      const auto note = [&](const std::vector<std::uint32_t>& /*chosen*/) {
        found = true;
        return false;
      };
      choice.search([&] { return step(); }, note);
      if (!found) return why_.empty();
    }
    return false;
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
    const auto add = [&](const std::vector<std::uint32_t>& chosen) {
      Member next = member;
      for (const auto op : chosen) apply(next, op);
      next.sums = w_.ops[read].result;
      next.known = true;
      take(next, read);
      if (all.insert(next).second) todo.push_back(std::move(next));
      if (all.size() <= kMostMembers) return true;
      why_ = "the search for an order has too many branches";
      return false;
    };
    Choice choice(w_, member.sums, w_.ops[read].result, changes);
    if (!member.known) choice.take_any();
    return choice.search([&] { return step(); }, add);
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
  std::vector<std::uint32_t> begins_;  // the operations by their begins
  std::size_t begun_ = 0;              // of these
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
