// Queues: enqueues and dequeues of elements.
//
// A bag (Jepsen's total-queue) has no order, so each element stands alone, and it may be enqueued
// several times. A history is linearizable if and only if, for each element, at the i-th end of a
// dequeue at least i enqueues have begun: let each enqueue happen when it begins, and each dequeue
// when it ends.
//
// A FIFO queue whose elements are enqueued once each is linearizable if and only if no element is
// overtaken: a and b with the enqueue of a before that of b, and the dequeue of b before that of a,
// or without one. The two relations are interval orders; a shortest cycle of their union alternates
// between them and has length two (as interval orders have no two unrelated pairs). An element that
// nobody dequeued leaves by a dequeue of unknown outcome, if it has to: such elements, by their
// deadlines, need as many that began by then. Without cycles, an order of the elements extends both
// relations, and the times at which each is possible in this order make the execution.
//
// Cost: sorting. Henzinger, Sezgin and Vafeiadis (CONCUR 2013) have the patterns of FIFO queues.
#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

#include "engine/objects/kinds.hpp"

namespace cupel::objects {

namespace {

using certify::ObjectPattern;
using history::Call;
using history::kNever;
using history::ObjectHistory;
using history::ObjectOp;
using history::Time;
using history::TxnStatus;

// The operations of one element.
struct QueueElement {
  std::uint32_t id = 0;
  std::vector<std::uint32_t> enqueues = {}, dequeues = {};  // possible ones; certain ones
  bool failed = false;                                      // an enqueue of it failed
};

class QueueDecision {
 public:
  QueueDecision(const ObjectHistory& history, Ops ops, ByElement& scratch)
      : h_(history), ops_(ops), numbers_(scratch) {}

  Answer run(bool fifo) {
    collect();
    Answer answer;
    answer.violation = find_excess();
    if (!answer.violation && fifo) {
      decide_fifo(answer);
    } else if (!answer.violation) {
      answer.order = bag_order();
    }
    numbers_.forget();
    if (answer.violation) {
      answer.verdict = Verdict::kViolated;
    } else if (answer.detail.empty()) {
      answer.verdict = Verdict::kSatisfied;
    }
    return answer;
  }

 private:
  // An element with the interval of its enqueue, which is over when it is dequeued, and that of its
  // dequeue. Never dequeued: from kNever on.
  struct Passage {
    Time enqueued_from, enqueued_by, dequeued_from = kNever, dequeued_by = kNever;
    std::uint32_t enqueue, dequeue = kNone;
  };

  QueueElement& element(std::uint32_t id) { return entry_of(id, numbers_, elements_); }

  void collect() {
    for (const auto id : ops_) {
      const ObjectOp& op = h_.ops[id];
      if (op.call == Call::kEnqueue) {
        auto& one = element(h_.values_of(op)[0]);
        if (op.possible()) {
          one.enqueues.push_back(id);
        } else {
          one.failed = true;
        }
      } else if (op.certain()) {
        element(h_.values_of(op)[0]).dequeues.push_back(id);
      } else if (op.status == TxnStatus::kIndeterminate) {
        pending_.push_back(id);
      } else if (op.status == TxnStatus::kCommitted) {
        silent_ = true;
      }
    }
  }

  [[nodiscard]] ObjectPattern pattern(std::string name, std::vector<std::uint32_t> ops,
                                      std::uint32_t element) const {
    return {.name = std::move(name),
            .object = h_.ops[ops_.front()].object,
            .ops = std::move(ops),
            .elements = {element}};
  }

  // More dequeues of an element had ended than enqueues had begun.
  std::optional<ObjectPattern> find_excess() {
    for (auto& one : elements_) {
      if (!one.dequeues.empty() && one.enqueues.empty())
        return pattern(one.failed ? "aborted-dequeue" : "thin-air-dequeue", {one.dequeues[0]},
                       one.id);
      std::sort(one.enqueues.begin(), one.enqueues.end(), [&](std::uint32_t a, std::uint32_t b) {
        return h_.ops[a].invoke < h_.ops[b].invoke;
      });
      std::sort(one.dequeues.begin(), one.dequeues.end(), [&](std::uint32_t a, std::uint32_t b) {
        return h_.ops[a].complete < h_.ops[b].complete;
      });
      for (std::size_t i = 0; i < one.dequeues.size(); ++i) {
        const bool begun =
            i < one.enqueues.size() && !h_.ops[one.dequeues[i]].precedes(h_.ops[one.enqueues[i]]);
        if (begun) continue;
        const auto end = one.dequeues.begin() + static_cast<std::ptrdiff_t>(i) + 1;
        return pattern("dequeued-too-often", {one.dequeues.begin(), end}, one.id);
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::vector<std::uint32_t> bag_order() const {
    std::vector<std::tuple<Time, bool, std::uint32_t>> all;
    for (const auto id : ops_) {
      const ObjectOp& op = h_.ops[id];
      if (op.call == Call::kEnqueue && op.possible()) {
        all.emplace_back(op.invoke, false, id);
      } else if (op.call == Call::kDequeue && op.certain()) {
        all.emplace_back(op.complete, true, id);
      }
    }
    std::sort(all.begin(), all.end());
    std::vector<std::uint32_t> order;
    for (const auto& [time, dequeue, id] : all) order.push_back(id);
    return order;
  }

  void decide_fifo(Answer& answer) {
    for (const auto& one : elements_) {
      // An enqueue of unknown outcome that nobody saw can only be in the way.
      if (one.dequeues.empty()) {
        const auto certain = std::count_if(one.enqueues.begin(), one.enqueues.end(),
                                           [&](auto id) { return h_.ops[id].certain(); });
        if (certain == 0) continue;
      }
      if (one.enqueues.size() > 1) {
        answer.detail =
            "an element was enqueued twice, and cupel decides FIFO queues of distinct elements "
            "only";
        return;
      }
      const ObjectOp& in = h_.ops[one.enqueues[0]];
      Passage passage{
          .enqueued_from = in.invoke, .enqueued_by = in.complete, .enqueue = one.enqueues[0]};
      if (!one.dequeues.empty()) {
        const ObjectOp& out = h_.ops[one.dequeues[0]];
        passage.dequeue = one.dequeues[0];
        passage.dequeued_from = std::max(out.invoke, in.invoke);
        passage.dequeued_by = out.complete;
        passage.enqueued_by = std::min(in.complete, out.complete);
      }
      passages_.push_back(passage);
    }
    std::sort(passages_.begin(), passages_.end(),
              [](const Passage& a, const Passage& b) { return a.enqueued_from < b.enqueued_from; });
    answer.violation = find_overtaken();
    if (!answer.violation) answer.violation = find_lost();
    if (answer.violation && answer.violation->name == "fifo-lost" && silent_) {
      answer.violation.reset();
      answer.detail = "a dequeue is ok without a value, so it may have taken a missing element";
    } else if (!answer.violation) {
      answer.order = fifo_order();
    }
  }

  [[nodiscard]] std::uint32_t element_of(const Passage& one) const {
    return h_.values_of(h_.ops[one.enqueue])[0];
  }

  // The elements by the ends of their enqueues.
  [[nodiscard]] std::vector<std::uint32_t> by_enqueued() const {
    std::vector<std::uint32_t> sorted(passages_.size());
    for (std::uint32_t i = 0; i < sorted.size(); ++i) sorted[i] = i;
    std::sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
      return passages_[a].enqueued_by < passages_[b].enqueued_by;
    });
    return sorted;
  }

  // For each b: of the dequeued elements whose enqueue was over when that of b began, the one that
  // was dequeued last. Was b dequeued before it?
  std::optional<ObjectPattern> find_overtaken() const {
    const auto sorted = by_enqueued();
    std::size_t over = 0;
    const Passage* last = nullptr;
    for (const auto& b : passages_) {
      for (; over < sorted.size() && passages_[sorted[over]].enqueued_by < b.enqueued_from;
           ++over) {
        const auto& a = passages_[sorted[over]];
        const bool dequeued = a.dequeue != kNone;
        if (dequeued && (last == nullptr || a.dequeued_from > last->dequeued_from)) last = &a;
      }
      if (last == nullptr || b.dequeue == kNone || last->dequeued_from <= b.dequeued_by) continue;
      auto found = pattern("fifo-order", {last->enqueue, b.enqueue, b.dequeue, last->dequeue},
                           element_of(*last));
      found.elements.push_back(element_of(b));
      return found;
    }
    return std::nullopt;
  }

  // Elements that nobody dequeued, and that have to leave before a later one is dequeued: each by a
  // dequeue of unknown outcome that began by then.
  std::optional<ObjectPattern> find_lost() {
    struct Due {
      Time by;
      std::uint32_t passage;
      const Passage* later;
    };
    // The later elements that are dequeued first, from the back.
    std::vector<const Passage*> first(passages_.size() + 1, nullptr);
    for (auto i = passages_.size(); i-- > 0;) {
      first[i] = first[i + 1];
      const auto& one = passages_[i];
      if (one.dequeue != kNone && (first[i] == nullptr || one.dequeued_by < first[i]->dequeued_by))
        first[i] = &one;
    }
    std::vector<Due> due;
    for (std::uint32_t i = 0; i < passages_.size(); ++i) {
      if (passages_[i].dequeue != kNone) continue;
      const auto after = std::partition_point(
          passages_.begin(), passages_.end(),
          [&](const Passage& one) { return one.enqueued_from <= passages_[i].enqueued_by; });
      const auto* later = first[static_cast<std::size_t>(after - passages_.begin())];
      if (later != nullptr) due.push_back({later->dequeued_by, i, later});
    }
    std::sort(due.begin(), due.end(), [](const Due& a, const Due& b) {
      return std::pair(a.by, a.passage) < std::pair(b.by, b.passage);
    });
    std::sort(pending_.begin(), pending_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return h_.ops[a].invoke < h_.ops[b].invoke;
    });
    for (std::size_t i = 0; i < due.size(); ++i) {
      const bool begun = i < pending_.size() && h_.ops[pending_[i]].invoke <= due[i].by;
      if (!begun) {
        // i + 1 elements have to leave, and i dequeues may have taken one.
        ObjectPattern found{.name = "fifo-lost", .object = h_.ops[ops_.front()].object};
        for (std::size_t j = 0; j <= i; ++j) {
          found.ops.push_back(passages_[due[j].passage].enqueue);
          found.ops.push_back(due[j].later->enqueue);
          found.ops.push_back(due[j].later->dequeue);
          found.elements.push_back(element_of(passages_[due[j].passage]));
        }
        return found;
      }
      auto& leaves = passages_[due[i].passage];
      leaves.dequeue = pending_[i];
      leaves.dequeued_from = std::max(h_.ops[pending_[i]].invoke, leaves.enqueued_from);
    }
    return std::nullopt;
  }

  // An order of the elements that extends both relations: repeatedly one that no other element has
  // to come before, in either.
  [[nodiscard]] std::vector<std::uint32_t> passage_order() const {
    const auto count = static_cast<std::uint32_t>(passages_.size());
    std::vector<std::uint32_t> begins(count), ends = by_enqueued(), leaving(count), left(count);
    for (std::uint32_t i = 0; i < count; ++i) begins[i] = leaving[i] = left[i] = i;
    std::sort(leaving.begin(), leaving.end(), [&](std::uint32_t a, std::uint32_t b) {
      return passages_[a].dequeued_from < passages_[b].dequeued_from;
    });
    std::sort(left.begin(), left.end(), [&](std::uint32_t a, std::uint32_t b) {
      return passages_[a].dequeued_by < passages_[b].dequeued_by;
    });
    std::vector<std::uint8_t> ready(count);  // in how many of the two relations
    std::vector<bool> taken(count);
    std::vector<std::uint32_t> both, order;
    std::uint32_t begin = 0, end = 0, leave = 0, gone = 0;
    const auto note = [&](std::uint32_t i) {
      if (++ready[i] == 2) both.push_back(i);
    };
    while (order.size() < count) {
      while (end < count && taken[ends[end]]) ++end;
      while (gone < count && taken[left[gone]]) ++gone;
      while (begin < count &&
             passages_[begins[begin]].enqueued_from <= passages_[ends[end]].enqueued_by) {
        note(begins[begin++]);
      }
      while (leave < count &&
             passages_[leaving[leave]].dequeued_from <= passages_[left[gone]].dequeued_by) {
        note(leaving[leave++]);
      }
      if (both.empty()) break;  // a cycle, which was excluded; the replay will tell
      taken[both.back()] = true;
      order.push_back(both.back());
      both.pop_back();
    }
    return order;
  }

  [[nodiscard]] std::vector<std::uint32_t> fifo_order() const {
    // Enqueues and dequeues, each at the first time at which it is possible.
    std::vector<std::tuple<Time, bool, std::size_t, std::uint32_t>> all;
    Time in = std::numeric_limits<Time>::min(), out = in;
    const auto passages = passage_order();
    for (std::size_t i = 0; i < passages.size(); ++i) {
      const auto& one = passages_[passages[i]];
      in = std::max(in, one.enqueued_from);
      all.emplace_back(in, false, i, one.enqueue);
      if (one.dequeue == kNone) continue;
      out = std::max({out, in, one.dequeued_from});
      all.emplace_back(out, true, i, one.dequeue);
    }
    std::sort(all.begin(), all.end());
    std::vector<std::uint32_t> order;
    for (const auto& [time, dequeue, place, id] : all) order.push_back(id);
    return order;
  }

  const ObjectHistory& h_;
  const Ops ops_;
  ByElement& numbers_;
  std::vector<QueueElement> elements_;
  std::vector<std::uint32_t> pending_;  // dequeues of unknown outcome
  bool silent_ = false;                 // a dequeue is ok, and its result is unknown
  std::vector<Passage> passages_;
};

}  // namespace

Answer decide_queue(const ObjectHistory& history, Ops ops, ByElement& scratch) {
  return QueueDecision(history, ops, scratch).run(history.kind == history::ObjectKind::kFifoQueue);
}

}  // namespace cupel::objects
