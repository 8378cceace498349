// The classes of Jepsen's checkers `set` and `set-full` (jepsen.checker 0.3.14), by their rules.
//
// `set` looks at the last read. `set-full` follows each element from its last add on: it is known
// once an add or a read with it has ended; present and absent are the reads with and without it
// that were invoked last. Elements that failed adds tried count as attempts in both.
//
// The reads without an element are looked at from the last one backwards, until each element has
// one: linear in the elements of all reads, if most reads have most elements.
#include <algorithm>
#include <limits>

#include "engine/objects/kinds.hpp"

namespace cupel::objects {

namespace {

using history::Call;
using history::ObjectHistory;
using history::ObjectOp;
using history::Time;
using history::TxnStatus;

struct Tracked {
  std::uint32_t id = 0;
  std::uint32_t added = 0;  // where its last add was invoked
  bool acknowledged = false;
  std::uint32_t known_place = kNone, present = 0, absent = 0;  // 0: none, else place + 1
  Time known = 0, absent_time = 0;
};

class SetRules {
 public:
  SetRules(const ObjectHistory& history, Ops ops, ByElement& scratch)
      : h_(history), ops_(ops), numbers_(scratch) {}

  Jepsen run() {
    for (const auto id : ops_) {
      const ObjectOp& op = h_.ops[id];
      if (op.call == Call::kAdd) {
        add(op);
      } else if (op.status == TxnStatus::kCommitted) {
        reads_.push_back(&op);
      }
    }
    auto found = h_.full ? by_set_full() : by_set();
    numbers_.forget();
    return found;
  }

 private:
  void add(const ObjectOp& op) {
    const auto id = h_.values_of(op)[0];
    if (numbers_.at(id) == kNone) {
      numbers_.set(id, static_cast<std::uint32_t>(tracked_.size()));
      tracked_.push_back({.id = id});
    }
    auto& one = tracked_[numbers_.at(id)];
    one.added = std::max(one.added, op.invoke_place);
    one.acknowledged = one.acknowledged || op.status == TxnStatus::kCommitted;
  }

  static void note(JepsenClass& found, std::uint32_t element) {
    ++found.count;
    if (found.elements.size() < kElementsListed) found.elements.push_back(element);
  }

  Jepsen by_set() {
    Jepsen result{.checker = "set"};
    const ObjectOp* last = nullptr;
    for (const auto* read : reads_) {
      if (last == nullptr || read->complete_place > last->complete_place) last = read;
    }
    if (last == nullptr || !last->known) {
      result.error = "the set was never read";
      return result;
    }
    JepsenClass lost{.name = "lost"}, unexpected{.name = "unexpected"},
        recovered{.name = "recovered"};
    std::vector<std::uint32_t> read(h_.values_of(*last).begin(), h_.values_of(*last).end());
    std::sort(read.begin(), read.end());
    read.erase(std::unique(read.begin(), read.end()), read.end());
    for (const auto id : read) {
      if (numbers_.at(id) == kNone) {
        note(unexpected, id);
      } else if (!tracked_[numbers_.at(id)].acknowledged) {
        note(recovered, id);
      }
    }
    for (const auto& one : tracked_) {
      if (one.acknowledged && !std::binary_search(read.begin(), read.end(), one.id))
        note(lost, one.id);
    }
    result.verdict =
        lost.count == 0 && unexpected.count == 0 ? Verdict::kSatisfied : Verdict::kViolated;
    result.classes = {std::move(lost), std::move(unexpected), std::move(recovered)};
    return result;
  }

  void know(Tracked& one, std::uint32_t place, Time time) const {
    if (place <= one.added || place >= one.known_place) return;
    one.known_place = place;
    one.known = time;
  }

  Jepsen by_set_full() {
    for (const auto id : ops_) {
      const ObjectOp& op = h_.ops[id];
      if (op.call == Call::kAdd && op.status == TxnStatus::kCommitted)
        know(tracked_[numbers_.at(h_.values_of(op)[0])], op.complete_place, op.complete);
    }
    for (const auto* read : reads_) {
      for (const auto id : h_.values_of(*read)) {
        const auto number = numbers_.at(id);
        if (number == kNone || read->complete_place <= tracked_[number].added) continue;
        know(tracked_[number], read->complete_place, read->complete);
        tracked_[number].present = std::max(tracked_[number].present, read->invoke_place + 1);
      }
    }
    find_absent();
    JepsenClass lost{.name = "lost"}, stale{.name = "stale"}, never{.name = "never-read"},
        stable{.name = "stable"};
    for (const auto& one : tracked_) {
      const bool known = one.known_place != kNone;
      if (one.present > one.absent) {
        ++stable.count;
        if (one.absent != 0 && is_stale(one)) note(stale, one.id);
      } else if (known && one.absent > one.present && one.known_place < one.absent - 1) {
        note(lost, one.id);
      } else {
        note(never, one.id);
      }
    }
    Jepsen result{.checker = "set-full"};
    result.verdict = lost.count > 0     ? Verdict::kViolated
                     : stable.count > 0 ? Verdict::kSatisfied
                                        : Verdict::kUnknown;
    if (result.verdict == Verdict::kUnknown) result.error = "no read shows an element for good";
    result.classes = {std::move(lost), std::move(stale), std::move(never), std::move(stable)};
    return result;
  }

  // Jepsen rounds the latency down to milliseconds.
  [[nodiscard]] bool is_stale(const Tracked& one) const {
    constexpr Time kMillisecond = 1'000'000;
    if (h_.times_are_places) return one.known_place < one.absent - 1;
    return one.absent_time + 1 - one.known >= kMillisecond;
  }

  // The read without the element that was invoked last, of those that ended after its add began.
  void find_absent() {
    auto reads = reads_;
    std::sort(reads.begin(), reads.end(), [](const ObjectOp* a, const ObjectOp* b) {
      return a->invoke_place < b->invoke_place;
    });
    std::vector<std::uint32_t> ended(reads.size());  // the last end of a read up to here
    for (std::size_t i = 0; i < reads.size(); ++i)
      ended[i] = std::max(i == 0 ? 0 : ended[i - 1], reads[i]->complete_place);
    std::vector<std::uint32_t> open(tracked_.size()), met(tracked_.size(), kNone);
    for (std::uint32_t i = 0; i < open.size(); ++i) open[i] = i;
    for (auto i = static_cast<std::uint32_t>(reads.size()); i-- > 0 && !open.empty();) {
      for (const auto id : h_.values_of(*reads[i])) {
        if (numbers_.at(id) != kNone) met[numbers_.at(id)] = i;
      }
      std::erase_if(open, [&](std::uint32_t number) {
        auto& one = tracked_[number];
        if (ended[i] <= one.added) return true;  // and every read before
        if (met[number] == i || reads[i]->complete_place <= one.added) return false;
        one.absent = reads[i]->invoke_place + 1;
        one.absent_time = reads[i]->invoke;
        return true;
      });
    }
  }

  const ObjectHistory& h_;
  const Ops ops_;
  ByElement& numbers_;
  std::vector<const ObjectOp*> reads_;
  std::vector<Tracked> tracked_;
};

}  // namespace

Jepsen jepsen_set(const ObjectHistory& history, Ops ops, ByElement& scratch) {
  return SetRules(history, ops, scratch).run();
}

}  // namespace cupel::objects
