// Clocks: a happens-before relation as one vector clock per operation.
//
// clock[o][j] is the number of operations of replica j that happen before o. Every happens-before
// that contains the replica order has this form, because an operation is seen together with all
// earlier operations of its replica. Memory: operations × replicas, no matrix.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "crdt/model/history.hpp"

namespace cupel::crdt {

class Clocks {
 public:
  Clocks() = default;
  // Every operation sees those before it on its replica, and nothing else.
  explicit Clocks(const History& history);

  [[nodiscard]] std::span<const std::uint32_t> row(OpId op) const {
    return std::span(at_).subspan(op * width_, width_);
  }
  std::span<std::uint32_t> row(OpId op) { return std::span(at_).subspan(op * width_, width_); }
  [[nodiscard]] std::size_t width() const { return width_; }
  // Raises the clock of `to` so that it sees `from` and all that `from` sees.
  void deliver(const Operation& from_op, OpId from, OpId to);

 private:
  std::size_t width_ = 0;
  std::vector<std::uint32_t> at_;
};

// Does `first` happen before `second`? An operation does not before itself.
inline bool before(const History& history, const Clocks& clocks, OpId first, OpId second) {
  const Operation& op = history.ops[first];
  return clocks.row(second)[op.replica] > op.seq;
}

// Why one operation comes before another.
enum class Why : std::uint8_t {
  kReplicaOrder,
  kReceived,     // `to` had received `from`
  kReadFrom,     // `to` returned or used what `from` wrote
  kOverwritten,  // `read` saw `from` and did not return it: `to`, which it returned, came later
  kRemoved,      // `to` saw what was added and does not return it: it saw the remove `from`
  kListed,       // lists: `from` is in front of `to`, because of `read`, a read or an addition
  kArbitrated,   // `read` preferred `to` to `from`, or shows it before it: linearized later
};
struct Step {
  OpId from, to;
  Why why = Why::kReplicaOrder;
  OpId read = kNone;  // whose answer says so, if it is neither
  std::uint32_t shown = kNone,
                over = kNone;  // arrays: the characters as `read` shows them, in order
};

// A graph of steps over the operations, to which the replica order belongs unsaid.
class StepGraph {
 public:
  explicit StepGraph(const History& history);
  void add(const Step& step);
  // Forgets all but the first so many.
  void keep(std::size_t count);
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }

  // Clocks by the steps so far, and their order; nothing if there is a cycle.
  struct Closed {
    Clocks clocks;
    std::vector<OpId> order;
  };
  [[nodiscard]] std::optional<Closed> close() const;
  // A linear order that contains the steps and the replica order; the earliest in the
  // file first. Nothing if there is a cycle.
  [[nodiscard]] std::optional<std::vector<OpId>> order() const;
  // A shortest cycle through some operation of one; there must be one.
  [[nodiscard]] std::vector<Step> cycle() const;
  // A shortest path by the replica order and the first `limit` steps; empty if there is none.
  [[nodiscard]] std::vector<Step> path(OpId from, OpId to, std::size_t limit) const;

 private:
  // By operation, the number of its strongly connected component.
  [[nodiscard]] std::vector<std::uint32_t> components() const;

  const History& history_;
  std::vector<Step> steps_;
  std::vector<std::vector<std::uint32_t>> out_;  // by operation: steps
};

// A linear order that contains the happens-before and these steps too.
std::optional<std::vector<OpId>> linear_order(const History& history, const Clocks& clocks,
                                              std::span<const Step> steps);

}  // namespace cupel::crdt
