// Simulated replica: the state of one replica of a type, operation-based as in Shapiro et al.
// 2011. Each type has its own in types/; a bug differs in one line.
#pragma once

#include <algorithm>
#include <span>
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
};

class SimulatedReplica {
 public:
  SimulatedReplica(const History& history, std::uint32_t self) : h_(history), self_(self) {}
  virtual ~SimulatedReplica() = default;
  SimulatedReplica(const SimulatedReplica&) = delete;
  SimulatedReplica& operator=(const SimulatedReplica&) = delete;

  // Before it is applied: an update of this replica gets its stamp and what it overwrites.
  void prepare(Update& update) {
    update.stamp = ++clock_;
    observe(update);
  }
  void apply(const Update& update, base::Random& random) {
    clock_ = std::max(clock_, update.stamp);
    change(update, random);
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
  [[nodiscard]] bool is_remote(const Update& update) const { return update.op.replica != self_; }
  // Grows a container of states to have one for this object.
  template <typename State>
  static State& at(std::vector<State>& states, std::uint32_t object) {
    if (object >= states.size()) states.resize(object + 1);
    return states[object];
  }

  const History& h_;

 private:
  std::uint32_t self_;
  std::uint64_t clock_ = 0;
};

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
