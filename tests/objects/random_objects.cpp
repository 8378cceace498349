// Random histories: see the header.
#include "objects/random_objects.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace cupel::objects_test {

namespace {

using history::Call;
using history::kNever;
using history::ObjectHistory;
using history::ObjectKind;
using history::ObjectOp;
using history::ScalarView;
using history::Time;
using history::TxnStatus;

class Maker {
 public:
  Maker(ObjectKind kind, std::mt19937& random) : random_(random) {
    h_.kind = kind;
    h_.times_are_places = true;
  }

  ObjectHistory make() {
    const auto objects = chance(10) ? 2 : 1;
    for (int i = 0; i < objects; ++i) h_.objects.intern(ScalarView::of(std::int64_t(i)));
    for (std::int64_t i = 0; i < 10; ++i) h_.elements.intern(ScalarView::of(i));
    h_.processes = {"0"};
    for (int i = 0; i < objects; ++i) add_object(static_cast<std::uint32_t>(i));
    spoil();
    for (std::uint32_t i = 0; i < h_.ops.size(); ++i) h_.ops[i].label = i;
    return std::move(h_);
  }

 private:
  bool chance(int percent) { return below(100) < percent; }
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

  // An operation, with the moment at which it happens in the legal run.
  struct Planned {
    ObjectOp op;
    double at = 0;
    std::vector<std::uint32_t> values = {};
    std::vector<std::int64_t> balances = {};  // of a bank's read, beside the values
  };

  void add_object(std::uint32_t object) {
    const int count = 3 + below(5);
    std::vector<Planned> all(static_cast<std::size_t>(count));
    const double width = chance(50) ? 0.5 : chance(50) ? 1.5 : 4;
    std::vector<std::pair<double, std::size_t>> ends;
    for (std::size_t i = 0; i < all.size(); ++i) {
      auto& one = all[i];
      one.op.object = object;
      one.at = uniform() * count;
      ends.emplace_back(one.at - uniform() * width, 2 * i);
      ends.emplace_back(one.at + uniform() * width, 2 * i + 1);
    }
    std::sort(ends.begin(), ends.end());
    // Some times are equal.
    Time time = 0;
    for (const auto& [at, place] : ends) {
      time += chance(90) ? 1 : 0;
      auto& op = all[place / 2].op;
      (place % 2 == 0 ? op.invoke : op.complete) = time;
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
    std::vector<std::uint32_t> state;
    sum_ = 0;
    next_id_ = 0;
    for (auto& one : all) {
      outcome(one.op);
      act(one, state);
    }
    for (auto& one : all) {
      one.op.first = h_.values.size();
      one.op.count = static_cast<std::uint32_t>(one.values.size());
      h_.values.insert(h_.values.end(), one.values.begin(), one.values.end());
      one.balances.resize(one.values.size());
      h_.numbers.insert(h_.numbers.end(), one.balances.begin(), one.balances.end());
      h_.ops.push_back(one.op);
    }
  }

  double uniform() { return static_cast<double>(random_() % 10000) / 10000; }

  void outcome(ObjectOp& op) {
    const int number = below(100);
    op.status = number < 75   ? TxnStatus::kCommitted
                : number < 92 ? TxnStatus::kIndeterminate
                              : TxnStatus::kAborted;
    if (op.status == TxnStatus::kIndeterminate) op.complete = kNever;
  }

  // Lets the operation happen in the legal run. An operation of unknown outcome happens or not.
  void act(Planned& one, std::vector<std::uint32_t>& state) {
    const bool happens = one.op.status == TxnStatus::kCommitted ||
                         (one.op.status == TxnStatus::kIndeterminate && chance(50));
    switch (h_.kind) {
      case ObjectKind::kSet:
        return act_set(one, state, happens);
      case ObjectKind::kCounter:
        return act_counter(one, happens);
      case ObjectKind::kUniqueIds:
        return act_ids(one);
      case ObjectKind::kFifoQueue:
      case ObjectKind::kBag:
        return act_queue(one, state, happens);
      case ObjectKind::kBank:
        return act_bank(one, happens);
    }
  }

  void act_set(Planned& one, std::vector<std::uint32_t>& state, bool happens) {
    if (chance(45)) {
      one.op.call = Call::kRead;
      one.op.known = one.op.status == TxnStatus::kCommitted && !chance(5);
      if (!one.op.known) return;
      one.values = state;
      std::shuffle(one.values.begin(), one.values.end(), random_);
      return;
    }
    one.op.call = Call::kAdd;
    const auto element = static_cast<std::uint32_t>(below(chance(20) ? 2 : 6));
    one.values = {element};
    if (happens && std::find(state.begin(), state.end(), element) == state.end())
      state.push_back(element);
  }

  void act_counter(Planned& one, bool happens) {
    if (chance(40)) {
      one.op.call = Call::kRead;
      one.op.known = one.op.status == TxnStatus::kCommitted && !chance(5);
      if (one.op.known) one.op.number = sum_;
      return;
    }
    one.op.call = Call::kAdd;
    one.op.number = amounts_ == 0 ? 2 : amounts_ == 1 ? 1 + below(3) : below(7) - 3;
    if (happens) sum_ += one.op.number;
  }

  void act_ids(Planned& one) {
    one.op.call = Call::kGenerate;
    one.op.known = one.op.status == TxnStatus::kCommitted && !chance(5);
    if (one.op.known) one.values = {next_id_++ % 6};
  }

  // A dequeue that finds nothing returns an element that nobody enqueued, rarely.
  void act_queue(Planned& one, std::vector<std::uint32_t>& state, bool happens) {
    const bool fifo = h_.kind == ObjectKind::kFifoQueue;
    if (chance(55)) {
      one.op.call = Call::kEnqueue;
      one.values = {fifo ? next_id_++ : static_cast<std::uint32_t>(below(4))};
      if (happens) state.push_back(one.values[0]);
      return;
    }
    one.op.call = Call::kDequeue;
    one.op.known = one.op.status == TxnStatus::kCommitted;
    // Unknown results of ok dequeues leave FIFO queues undecided.
    const auto place = fifo || state.empty() ? 0 : random_() % state.size();
    if (one.op.known && state.empty()) {
      if (chance(90)) {
        one.op.status = TxnStatus::kAborted;
        one.op.known = false;
      } else {
        one.values = {static_cast<std::uint32_t>(below(6))};
      }
      return;
    }
    if (state.empty() || !happens) return;
    if (one.op.known) one.values = {state[place]};
    state.erase(state.begin() + static_cast<std::ptrdiff_t>(place));
  }

  void act_bank(Planned& one, bool happens) {
    if (chance(45)) {
      one.op.call = Call::kRead;
      one.op.known = one.op.status == TxnStatus::kCommitted && !chance(5);
      if (!one.op.known) return;
      one.values = {0, 1};
      one.balances = {10 - sum_, 5 + sum_};
      return;
    }
    one.op.call = Call::kTransfer;
    const auto from = static_cast<std::uint32_t>(below(2));
    one.values = {from, chance(95) ? 1 - from : from};
    one.op.number = 1 + below(4);
    if (happens && one.values[0] != one.values[1])
      sum_ += from == 0 ? one.op.number : -one.op.number;
  }

  // Changes that may make the history violated.
  void spoil() {
    if (chance(15)) return;
    const int changes = 1 + below(5);
    for (int i = 0; i < changes; ++i) {
      auto& op = h_.ops[static_cast<std::size_t>(below(static_cast<int>(h_.ops.size())))];
      auto& other = h_.ops[static_cast<std::size_t>(below(static_cast<int>(h_.ops.size())))];
      switch (below(4)) {
        case 0:  // the results of two operations
          if (op.object == other.object && op.call == other.call && op.known == other.known) {
            std::swap(op.first, other.first);
            std::swap(op.count, other.count);
            std::swap(op.number, other.number);
          }
          break;
        case 1:  // intervals, of operations with the same outcome
          if (op.status == other.status) {
            std::swap(op.invoke, other.invoke);
            std::swap(op.complete, other.complete);
          }
          break;
        case 2:  // one element less, or another one
          op.number += op.number != 0 || chance(30) ? (chance(50) ? amounts_ == 0 ? 2 : 1 : -1) : 0;
          if ((op.call == Call::kGenerate || op.call == Call::kDequeue) && op.count > 0)
            h_.values[op.first] = static_cast<std::uint32_t>(below(6));
          if (h_.kind == ObjectKind::kBank && op.call == Call::kRead && op.count > 0) {
            const auto amount = 1 + below(2);
            h_.numbers[op.first] += amount;
            if (chance(80)) h_.numbers[op.first + 1] -= amount;
          } else if (op.call == Call::kRead && op.known && op.count > 0) {
            if (chance(50)) {
              --op.count;
            } else {
              h_.values[op.first] = static_cast<std::uint32_t>(below(6));
            }
          }
          break;
        default:  // a shorter interval
          if (op.status == TxnStatus::kCommitted && op.complete > op.invoke + 1) {
            (chance(50) ? op.invoke : op.complete) = (op.invoke + op.complete) / 2;
          }
          break;
      }
    }
  }

  std::mt19937& random_;
  ObjectHistory h_;
  std::int64_t sum_ = 0;
  int amounts_ = below(3);  // of a counter: equal ones, several ones, also negative ones
  std::uint32_t next_id_ = 0;
};

}  // namespace

ObjectHistory random_objects(ObjectKind kind, std::mt19937& random) {
  return Maker(kind, random).make();
}

}  // namespace cupel::objects_test
