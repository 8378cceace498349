// Counters. If all adds have the same amount, the counter takes the values 0, 1, 2 … of that
// amount, and one add makes each step. Adds are taken as late as possible: an add when it ends, and
// for a read that ends, the adds that end first. Which add makes a step does not matter otherwise,
// and waiting never hurts, so the history is linearizable if and only if this never gets stuck.
//
// It gets stuck in two ways, and each is a pattern. No add is open that could bring the counter to
// the value of a read that ends: more was read than had been added. Or the counter is beyond the
// value of a read that begins. Let another read Y be the last before that took an add which had not
// ended when this read began; every add since then began after Y ended and ended before this read
// began, since adds that end first go first. So the two reads are too close to each other.
//
// Adds of other amounts: sums.cpp. Cost: sorting.
#include <algorithm>
#include <limits>
#include <map>
#include <queue>
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

// A read, or a read and one of the last that ended before it, with a difference that no choice of
// the adds between them explains. None: there is none, or the search would take long.
std::optional<ObjectPattern> counter_range(const ObjectHistory& history, Ops ops) {
  constexpr std::size_t kMostBefore = 8, kMostWork = std::size_t{1} << 28;
  std::vector<std::uint32_t> reads;
  for (const auto id : ops) {
    if (history.ops[id].call == Call::kRead && history.ops[id].certain()) reads.push_back(id);
  }
  if (reads.size() * ops.size() > kMostWork / kMostBefore) return std::nullopt;
  std::sort(reads.begin(), reads.end(), [&](std::uint32_t a, std::uint32_t b) {
    return history.ops[a].complete < history.ops[b].complete;
  });
  for (std::size_t i = 0; i < reads.size(); ++i) {
    ObjectPattern pattern{
        .name = "counter-range", .object = history.ops[reads[i]].object, .ops = {reads[i]}};
    if (certify::refute(history, pattern, ops).empty()) return pattern;
    std::size_t before = 0;
    for (auto j = i; j-- > 0 && before < kMostBefore;) {
      if (!history.ops[reads[j]].precedes(history.ops[reads[i]])) continue;
      ++before;
      pattern.ops = {reads[j], reads[i]};
      if (certify::refute(history, pattern, ops).empty()) return pattern;
    }
  }
  return std::nullopt;
}

class UnitCounter {
 public:
  // `amount`: of every add, but for those of nothing.
  UnitCounter(const ObjectHistory& history, Ops ops, std::int64_t amount)
      : h_(history), ops_(ops), amount_(amount) {}

  Answer run() {
    if (auto violation = schedule())
      return {.verdict = Verdict::kViolated, .violation = std::move(violation)};
    return {.verdict = Verdict::kSatisfied, .order = std::move(order_)};
  }

 private:
  struct Event {
    Time time;
    bool ends;
    std::uint32_t op;
    bool operator<(const Event& other) const {
      return std::tuple(time, ends, op) < std::tuple(other.time, other.ends, other.op);
    }
  };

  std::optional<ObjectPattern> schedule() {
    std::vector<Event> events;
    for (std::uint32_t id = 0; id < ops_.size(); ++id) {
      const ObjectOp& one = op(id);
      if (one.call == Call::kRead ? !one.certain() : !one.possible()) continue;
      events.push_back({one.invoke, false, id});
      if (one.complete != history::kNever) events.push_back({one.complete, true, id});
    }
    std::sort(events.begin(), events.end());
    done_.resize(ops_.size());
    for (const Event& event : events) {
      auto found = event.ends ? end(event.op) : begin(event.op);
      if (found) return found;
    }
    return std::nullopt;
  }

  // Operations are places among those of the object.
  [[nodiscard]] const ObjectOp& op(std::uint32_t id) const { return h_.ops[ops_[id]]; }

  std::optional<ObjectPattern> begin(std::uint32_t id) {
    const ObjectOp& one = op(id);
    if (one.call == Call::kAdd) {
      if (one.number != 0) {
        open_.emplace(one.complete, id);
      } else if (one.certain()) {
        finish(id);
      }
      return std::nullopt;
    }
    if (one.number % amount_ != 0) return pattern("counter-step", {id});
    const auto steps = one.number / amount_;
    if (steps < count_) return beyond(id);
    if (steps == count_) {
      finish(id);
    } else {
      waiting_[steps].push_back(id);
    }
    return std::nullopt;
  }

  std::optional<ObjectPattern> end(std::uint32_t id) {
    if (done_[id]) return std::nullopt;
    if (op(id).call == Call::kAdd) {
      while (!done_[id]) step();  // it is open, and no open one ends earlier
      return std::nullopt;
    }
    if (const auto possible = count_ + static_cast<std::int64_t>(open_.size());
        possible < op(id).number / amount_) {
      return pattern("counter-range", {id});
    }
    Time last = std::numeric_limits<Time>::min();
    while (!done_[id]) last = std::max(last, step());
    drives_.push_back({last, id});
    return std::nullopt;
  }

  // Takes the open add that ends first; when it ends.
  Time step() {
    const auto [ends, add] = open_.top();
    open_.pop();
    ++count_;
    finish(add);
    if (const auto readers = waiting_.find(count_); readers != waiting_.end()) {
      for (const auto read : readers->second) finish(read);
      waiting_.erase(readers);
    }
    return ends;
  }

  void finish(std::uint32_t id) {
    done_[id] = true;
    order_.push_back(ops_[id]);
  }

  // The counter is beyond the value of a read that begins.
  ObjectPattern beyond(std::uint32_t read) const {
    const auto begins = op(read).invoke;
    for (auto drive = drives_.rbegin(); drive != drives_.rend(); ++drive) {
      const bool backwards = op(drive->read).number / amount_ > op(read).number / amount_;
      if (drive->last >= begins || backwards) return pattern("counter-range", {drive->read, read});
    }
    return pattern("counter-range", {read});
  }

  [[nodiscard]] ObjectPattern pattern(std::string name, std::vector<std::uint32_t> ops) const {
    for (auto& id : ops) id = ops_[id];
    return {.name = std::move(name), .object = h_.ops[ops_.front()].object, .ops = std::move(ops)};
  }

  // A read that took adds when it ended, and the latest end of these.
  struct Drive {
    Time last;
    std::uint32_t read;
  };

  const ObjectHistory& h_;
  const Ops ops_;
  const std::int64_t amount_;
  std::int64_t count_ = 0;  // steps taken
  using ByEnd = std::pair<Time, std::uint32_t>;
  std::priority_queue<ByEnd, std::vector<ByEnd>, std::greater<>> open_;  // adds
  std::map<std::int64_t, std::vector<std::uint32_t>> waiting_;           // reads by steps
  std::vector<Drive> drives_;
  std::vector<bool> done_;
  std::vector<std::uint32_t> order_;
};

// Decides adds of several amounts. The search says only that no order exists; often two reads show
// it.
Answer decide_amounts(const ObjectHistory& history, Ops ops, base::Budget& budget) {
  SumsOf what{.initial = std::vector<std::int64_t>{0}};
  for (const auto id : ops) {
    const ObjectOp& op = history.ops[id];
    if (op.call == Call::kRead ? !op.certain() : !op.possible()) continue;
    SumOp one{.id = id, .invoke = op.invoke, .complete = op.complete};
    one.is_read = op.call == Call::kRead;
    if (one.is_read) {
      one.result = {op.number};
    } else {
      one.changes = {{0, op.number}};
    }
    what.ops.push_back(std::move(one));
  }
  auto answer = decide_sums(what, budget);
  if (answer.verdict == Verdict::kSatisfied) return answer;
  if (auto pattern = counter_range(history, ops)) {
    answer = {.verdict = Verdict::kViolated, .violation = std::move(pattern)};
  } else if (answer.violation) {
    answer.violation->object = history.ops[ops.front()].object;
  }
  return answer;
}

}  // namespace

Answer decide_counter(const ObjectHistory& history, Ops ops, base::Budget& budget) {
  std::int64_t amount = 0;
  bool equal = true;
  for (const auto id : ops) {
    const ObjectOp& op = history.ops[id];
    if (op.call != Call::kAdd || !op.possible() || op.number == 0) continue;
    equal = equal && (amount == 0 || amount == op.number);
    amount = op.number;
  }
  if (equal) return UnitCounter(history, ops, amount == 0 ? 1 : amount).run();
  return decide_amounts(history, ops, budget);
}

}  // namespace cupel::objects
