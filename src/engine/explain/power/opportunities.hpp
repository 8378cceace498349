// Opportunities: transactions of a history that have the shape of an anomaly, and the answers
// to their reads with which they show it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/history/history.hpp"

namespace cupel::power {

using history::History;
using history::KeyId;
using history::OpId;
using history::SessionId;
using history::TxnId;

enum class ReadAnswer : std::uint8_t { kInitial, kWrite, kNothingWritten };

// What a read is made to return.
struct InjectedRead {
  OpId read;
  KeyId key;
  ReadAnswer what;
  OpId write = {};  // kWrite
};

struct Opportunity {
  std::vector<TxnId> transactions;  // in the order of the history, each once
  std::vector<InjectedRead> seen;
};

struct Opportunities {
  std::vector<Opportunity> found;  // at most `most`
  // If none was found: why there is none, or why none was looked for. `certain`: there
  // is none among the transactions looked at.
  std::string reason;
  bool certain = true;
};

// The transactions looked at: the first of every session, about `most_operations`.
std::vector<TxnId> sample(const History& history, std::size_t most_operations);

// Opportunities for one of workload::mini_transaction_anomalies() among the transactions given (in
// the order of the history).
class OpportunityFinder {
 public:
  OpportunityFinder(const History& history, std::span<const TxnId> transactions);
  [[nodiscard]] Opportunities find(std::string_view anomaly, std::size_t most) const;

 private:
  // What a transaction does to a key. Operations are none() where there is none.
  struct Touch {
    TxnId txn;
    SessionId session;
    KeyId key;
    bool committed, may_commit;
    OpId read, reread;  // before any write of its own: the first, the second
    OpId first_write, last_write;
    OpId read_after_write;   // sees its own write if all is well
    OpId read_after_two;     // after two writes of its own
    OpId read_before_write;  // any read that a write of its own follows ...
    OpId write_after_read;   // ... and that write
  };
  using Found = std::vector<Opportunity>;
  struct Shape;
  class PathSearch;
  static std::span<const Shape> shapes();
  static std::optional<Opportunity> alone(const Touch& start, OpId read, ReadAnswer answer,
                                          OpId write);
  static std::optional<Opportunity> read_by_another(const std::vector<Touch>& touches,
                                                    const Touch& start, OpId write);

  [[nodiscard]] const std::vector<Touch>& of(TxnId txn) const;
  [[nodiscard]] Opportunities simple(std::string_view anomaly, std::size_t most) const;
  [[nodiscard]] Opportunities two_keys(std::string_view anomaly, std::size_t most) const;
  [[nodiscard]] Opportunities causality(std::size_t most) const;
  void causality_of(const std::vector<Touch>& touches, bool loose, std::size_t& searches,
                    Opportunities& opportunities) const;
  [[nodiscard]] Opportunities long_fork(std::size_t most) const;
  [[nodiscard]] Opportunities write_skew(std::size_t most) const;

  const History& history_;
  std::vector<TxnId> txns_;
  std::vector<std::vector<Touch>> by_txn_;  // as txns_
  std::vector<std::vector<Touch>> by_key_;  // by KeyId; in the order of the history
  std::vector<std::uint32_t> number_;       // by TxnId: its opportunity in txns_, or none
  bool cut_ = false;                        // a range was too wide to be looked at whole
};

}  // namespace cupel::power
