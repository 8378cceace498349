// Sets with adds and reads of all elements. Elements stay, so reads ordered by size say in which
// order the elements came: those of the smallest reads first. The blocks
//
//   adds of the elements of the smallest reads, these reads, adds of what the next larger reads
//   have besides, those reads, …, adds of elements that no read has
//
// are the same in every order, and within a block the order does not matter. So the history is
// linearizable if and only if the reads form a chain and no operation of a later block ended before
// one of an earlier block began. If an element is added several times, one add makes it: the one
// that began first. The others do nothing, so they may come at any time after it.
//
// Cost: linear in the elements of all reads, besides sorting.
#include <algorithm>
#include <limits>
#include <utility>

#include "engine/objects/kinds.hpp"

namespace cupel::objects {

namespace {

using certify::ObjectPattern;
using history::Call;
using history::ObjectHistory;
using history::ObjectOp;
using history::Time;

// An element of the object.
struct SetElement {
  std::uint32_t id = 0;
  std::uint32_t maker = kNone;       // the possible add that began first
  std::uint32_t block = kNone;       // of its first reads; kNone: no read has it
  std::uint32_t first_read = kNone;  // one of these
};

class SetDecision {
 public:
  SetDecision(const ObjectHistory& history, Ops ops, ByElement& scratch, base::Budget& budget)
      : h_(history), ops_(ops), numbers_(scratch), budget_(budget) {}

  Answer run() {
    collect();
    bool stopped = false;
    Answer answer;
    answer.violation = find_chain(stopped);
    if (!stopped && !answer.violation) answer.violation = walk_blocks();
    if (stopped) {
      answer.detail = kLimitMet;
    } else if (answer.violation) {
      answer.verdict = Verdict::kViolated;
    } else {
      answer.verdict = Verdict::kSatisfied;
      answer.order = order();
    }
    numbers_.forget();
    return answer;
  }

 private:
  // An operation of a block: position 2 j is adds, 2 j + 1 reads.
  struct Placed {
    std::uint32_t position, op;
  };

  SetElement& element(std::uint32_t id) { return entry_of(id, numbers_, elements_); }

  void collect() {
    for (const auto id : ops_) {
      const ObjectOp& op = h_.ops[id];
      if (op.call == Call::kRead) {
        if (op.certain()) reads_.push_back(id);
        continue;
      }
      if (!op.possible()) continue;
      auto& added = element(h_.values_of(op)[0]);
      if (op.certain()) adds_.push_back(id);
      if (added.maker == kNone || op.invoke < h_.ops[added.maker].invoke) added.maker = id;
    }
    std::stable_sort(reads_.begin(), reads_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return h_.ops[a].count < h_.ops[b].count;
    });
  }

  ObjectPattern pattern(std::string name, std::vector<std::uint32_t> ops,
                        std::vector<std::uint32_t> elements) const {
    return {.name = std::move(name),
            .object = h_.ops[ops_.front()].object,
            .ops = std::move(ops),
            .elements = std::move(elements)};
  }

  // Gives each element the block of the first reads that have it.
  std::optional<ObjectPattern> find_chain(bool& stopped) {
    std::uint64_t steps = 0, seen = 0;  // seen: elements that some read has by now
    std::vector<std::uint32_t> met;     // of each element: the read that had it last
    for (std::uint32_t i = 0; i < reads_.size(); ++i) {
      const ObjectOp& read = h_.ops[reads_[i]];
      if (i == 0 || read.count != h_.ops[reads_[i - 1]].count) ++blocks_;
      for (const auto id : h_.values_of(read)) {
        if ((++steps & 0xffff) == 0 && budget_.exceeded()) {
          stopped = true;
          return std::nullopt;
        }
        auto& one = element(id);
        const auto number = numbers_.at(id);
        if (met.size() <= number) met.resize(elements_.size(), kNone);
        if (met[number] == i) return pattern("set-duplicate", {reads_[i]}, {id});
        met[number] = i;
        if (one.maker == kNone) return unmade(reads_[i], id);
        if (one.block != kNone) continue;
        one.block = blocks_ - 1;
        one.first_read = reads_[i];
        ++seen;
      }
      if (seen > read.count) return fork(reads_[i], i, met);
    }
    return std::nullopt;
  }

  // An element of the read that nobody added, or only adds that failed.
  ObjectPattern unmade(std::uint32_t read, std::uint32_t id) const {
    const bool failed = std::any_of(ops_.begin(), ops_.end(), [&](std::uint32_t op) {
      return h_.ops[op].call == Call::kAdd && h_.values_of(h_.ops[op])[0] == id;
    });
    return pattern(failed ? "aborted-read" : "thin-air-read", {read}, {id});
  }

  // The read lacks an element of a read that is no larger, so it has one that this read lacks.
  ObjectPattern fork(std::uint32_t read, std::uint32_t round,
                     const std::vector<std::uint32_t>& met) {
    std::uint32_t lacking = 0, other = kNone;
    for (std::size_t i = 0; i < elements_.size() && other == kNone; ++i) {
      const bool has = i < met.size() && met[i] == round;
      if (elements_[i].block == kNone || has) continue;
      lacking = elements_[i].id;
      other = elements_[i].first_read;
    }
    const auto values = h_.values_of(h_.ops[other]);
    std::vector<std::uint32_t> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    for (const auto id : h_.values_of(h_.ops[read])) {
      if (std::binary_search(sorted.begin(), sorted.end(), id)) continue;
      return pattern("set-fork", {read, other}, {id, lacking});
    }
    return pattern("set-fork", {read, other}, {});  // cannot be; the verifier rejects it
  }

  [[nodiscard]] std::uint32_t number_of(std::uint32_t add) const {
    return numbers_.at(h_.values_of(h_.ops[add])[0]);
  }
  [[nodiscard]] const SetElement& added_by(std::uint32_t add) const {
    return elements_[number_of(add)];
  }

  // The blocks, one after the other. A later operation that ended before an earlier one began shows
  // one of the patterns.
  std::optional<ObjectPattern> walk_blocks() {
    for (const auto& one : elements_) {
      if (one.block != kNone) placed_.push_back({2 * one.block, one.maker});
    }
    for (const auto add : adds_) {
      const auto& one = added_by(add);
      if (one.block == kNone) {
        placed_.push_back({2 * blocks_, add});
      } else if (one.maker != add) {
        again_.push_back(add);
      }
    }
    for (std::uint32_t i = 0, block = kNone; i < reads_.size(); ++i) {
      if (i == 0 || h_.ops[reads_[i]].count != h_.ops[reads_[i - 1]].count) ++block;
      placed_.push_back({2 * block + 1, reads_[i]});
    }
    std::stable_sort(placed_.begin(), placed_.end(), [&](const Placed& a, const Placed& b) {
      return std::pair(a.position, h_.ops[a.op].invoke) <
             std::pair(b.position, h_.ops[b.op].invoke);
    });
    std::vector<std::uint32_t> latest(placed_.size() + 1, kNone);  // began last, before each
    for (std::size_t i = 0; i < placed_.size(); ++i) {
      const auto id = placed_[i].op;
      const auto before = latest[i];
      if (before != kNone && h_.ops[id].precedes(h_.ops[before])) return misplaced(id, before);
      latest[i + 1] = before == kNone || h_.ops[before].invoke < h_.ops[id].invoke ? id : before;
    }
    return repeated_adds(latest);
  }

  // Every certain add of an element ends after the blocks before its element have begun.
  std::optional<ObjectPattern> repeated_adds(const std::vector<std::uint32_t>& latest) const {
    for (const auto add : again_) {
      const auto position = 2 * added_by(add).block;
      const auto first =
          std::partition_point(placed_.begin(), placed_.end(),
                               [&](const Placed& one) { return one.position < position; });
      const auto before = latest[static_cast<std::size_t>(first - placed_.begin())];
      if (before != kNone && h_.ops[add].precedes(h_.ops[before])) return misplaced(add, before);
    }
    return std::nullopt;
  }

  // `late` ended before `early` began, and its block comes later.
  ObjectPattern misplaced(std::uint32_t late, std::uint32_t early) const {
    const ObjectOp &a = h_.ops[late], &b = h_.ops[early];
    if (b.call == Call::kRead) {
      // The read lacks something: the added element, or one of the larger read.
      if (a.call == Call::kAdd) return pattern("set-stale", {late, early}, {h_.values_of(a)[0]});
      const auto small = h_.values_of(b);
      std::vector<std::uint32_t> sorted(small.begin(), small.end());
      std::sort(sorted.begin(), sorted.end());
      for (const auto id : h_.values_of(a)) {
        if (!std::binary_search(sorted.begin(), sorted.end(), id))
          return pattern("set-stale", {late, early}, {id});
      }
    }
    const auto made = h_.values_of(b)[0];
    if (a.call == Call::kRead) return pattern("set-future", {late}, {made});
    // The first read of the later element does not have the earlier one.
    const auto witness = elements_[numbers_.at(made)].first_read;
    return pattern("set-reverse", {late, witness}, {h_.values_of(a)[0], made});
  }

  // Each placed operation at the time when it is possible; repeated adds wait for theirs.
  std::vector<std::uint32_t> order() const {
    struct Timed {
      Time time;
      std::size_t place;
      std::uint32_t op;
    };
    std::vector<Timed> all;
    Time now = std::numeric_limits<Time>::min();
    std::vector<Time> made(elements_.size(), now);
    for (const auto& one : placed_) {
      const ObjectOp& op = h_.ops[one.op];
      now = std::max(now, op.invoke);
      all.push_back({now, all.size(), one.op});
      if (op.call == Call::kAdd) made[number_of(one.op)] = now;
    }
    for (const auto add : again_)
      all.push_back({std::max(made[number_of(add)], h_.ops[add].invoke), all.size(), add});
    std::stable_sort(all.begin(), all.end(), [](const Timed& a, const Timed& b) {
      return std::pair(a.time, a.place) < std::pair(b.time, b.place);
    });
    std::vector<std::uint32_t> order;
    for (const auto& one : all) order.push_back(one.op);
    return order;
  }

  const ObjectHistory& h_;
  const Ops ops_;
  ByElement& numbers_;
  base::Budget& budget_;
  std::vector<SetElement> elements_;
  std::vector<std::uint32_t> reads_, adds_;  // certain ones; reads by size
  std::uint32_t blocks_ = 0;                 // sizes of reads
  std::vector<Placed> placed_;
  std::vector<std::uint32_t> again_;  // certain adds of what another add made
};

}  // namespace

Answer decide_set(const ObjectHistory& history, Ops ops, ByElement& scratch, base::Budget& budget) {
  return SetDecision(history, ops, scratch, budget).run();
}

}  // namespace cupel::objects
