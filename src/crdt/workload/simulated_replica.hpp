// Simulated replica: the state of one replica of a type, operation-based as in Shapiro et al.
// 2011. Each type has its own in types/; a bug differs in one line. What is wrong at the way in, or
// with the clock, is the same for all types (InjectedBug).
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "crdt/model/history.hpp"

namespace cupel::crdt {

struct Update {
  Operation op;
  OpId id = kNone;
  std::vector<std::uint32_t> past;  // updates seen, by replica
  std::uint64_t stamp = 0;          // Lamport's, at a replica above all that it has seen
  std::vector<OpId> observed;       // what it overwrites
  std::uint32_t tie = 0;            // of equal stamps the larger is later: the replica's
};

enum class InjectedBug : std::uint8_t {
  kAbsent,
  kLosesUpdate,   // now and then what arrives is lost
  kAppliesAgain,  // now and then it is applied once more, later
  kReorders,      // now and then after what arrives next
  kClockApart,    // the timestamps of a replica are those of its clock, which is ahead
  kTiesByArrival  // of equal timestamps the one that arrives last is later
};

class SimulatedReplica {
 public:
  SimulatedReplica(const History& history, std::uint32_t self) : h_(history), self_(self) {}
  virtual ~SimulatedReplica() = default;
  SimulatedReplica(const SimulatedReplica&) = delete;
  SimulatedReplica& operator=(const SimulatedReplica&) = delete;

  void inject(InjectedBug bug) { bug_ = bug; }

  // Before it is applied: an update of this replica gets its stamp and what it overwrites.
  void prepare(Update& update) {
    constexpr std::uint64_t kAhead = 100;  // operations of the run
    update.stamp = ++clock_;
    update.tie = update.op.replica;
    if (bug_ == InjectedBug::kClockApart) update.stamp = update.id + 1 + kAhead * self_;
    observe(update);
  }
  void apply(const Update& update, base::Random& random) {
    clock_ = std::max(clock_, update.stamp);
    if (bug_ == InjectedBug::kTiesByArrival) {
      Update late = update;
      late.tie = ++arrivals_;
      change(late, random);
    } else if (is_remote(update)) {
      arrive(update, random);
    } else {
      change(update, random);
    }
  }
  // False: the request fails, and nothing happens.
  [[nodiscard]] virtual bool accepts(const Operation& /*update*/) { return true; }
  // Fills in what a read returns.
  virtual void answer(Operation& read, std::vector<std::uint32_t>& list) = 0;
  // The same; `names` takes elements that no request has named.
  virtual void answer(Operation& read, std::vector<std::uint32_t>& list, History& /*names*/) {
    answer(read, list);
  }
  // Elements that updates may name, by key.
  [[nodiscard]] virtual std::span<const std::vector<std::uint32_t>> visible() const { return {}; }

 protected:
  virtual void observe(Update& /*update*/) {}
  virtual void change(const Update& update, base::Random& random) = 0;
  // False: what comes later needs it.
  [[nodiscard]] virtual bool may_be_lost(const Update& /*update*/) const { return true; }
  [[nodiscard]] bool is_remote(const Update& update) const { return update.op.replica != self_; }
  // Grows a container of states to have one for this object.
  template <typename State>
  static State& at(std::vector<State>& states, std::uint32_t object) {
    if (object >= states.size()) states.resize(object + 1);
    return states[object];
  }

  const History& h_;

 private:
  void arrive(const Update& update, base::Random& random) {
    constexpr double kOften = 0.5;
    if (bug_ == InjectedBug::kLosesUpdate && may_be_lost(update) && random.chance(kOften)) return;
    if (bug_ == InjectedBug::kReorders && kept_.empty() && random.chance(kOften)) {
      kept_.push_back(update);
      return;
    }
    change(update, random);
    if (bug_ != InjectedBug::kReorders && bug_ != InjectedBug::kAppliesAgain) return;
    for (const Update& other : kept_) change(other, random);
    kept_.clear();
    if (bug_ == InjectedBug::kAppliesAgain && random.chance(kOften)) kept_.push_back(update);
  }

  std::uint32_t self_;
  std::uint64_t clock_ = 0;
  InjectedBug bug_ = InjectedBug::kAbsent;
  std::uint32_t arrivals_ = 0;
  std::vector<Update> kept_;  // for later
};

// As TypeTraits::simulate.
template <typename Replica>
std::unique_ptr<SimulatedReplica> simulate_by(const History& history, std::string_view bug,
                                              std::uint32_t self) {
  return std::make_unique<Replica>(history, bug, self);
}

// One request in the making (generate.hpp): `op` is the whole read of a key.
struct RequestChoice {
  Operation& op;
  bool read, down;       // what it is to be: a read; a remove, disable, dec
  std::uint32_t values;  // sets: number of different elements that a key may have
  double duplicates;
  History& history;
  base::Random& random;
  std::uint64_t& fresh;                                 // a number that no other value has
  std::vector<std::uint32_t>& written;                  // registers: values of this key
  std::span<const std::vector<std::uint32_t>> visible;  // by key, as the replica knows them
};

}  // namespace cupel::crdt
