// Test power: could a test that found nothing have found something?
//
// A satisfied history proves little if its transactions never met, if its reads were
// of keys that nobody writes, or if no transaction has the shape in which an anomaly
// shows. Three measures: how many transactions met in time, how much of what was read constrains
// the order, and which of the 14 anomalies the workload could have shown. The last is
// found by injection: in transactions of the history itself, with their own operations
// and keys, reads are given the answers that a database with that anomaly would have
// given, and the engine is asked. The other transactions are left out, so that what is
// seen is what this shape of transactions can show. (workload::inject_anomaly() brings
// transactions, sessions and keys of its own, so that it fits every workload and says nothing about
// this one.)
//
// Cost: O(n log n) in the operations for the first two, on a sample of the keys of a
// large history; the injection looks at a bounded sample of the transactions and checks
// histories of a few transactions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.hpp"
#include "data/history/history.hpp"

namespace cupel::power {

// Could the workload have shown an anomaly?
enum class Detection : std::uint8_t {
  kDetected,    // injected in its transactions, and found under its name
  kImpossible,  // no transactions of the history have the shape for it
  kNotFound,    // no opportunity was found among those looked at; nothing is proven
};
std::string_view to_string(Detection detection);  // "seen", "impossible", "not-found"

struct Anomaly {
  std::string name;  // of workload::mini_transaction_anomalies()
  Detection detection = Detection::kNotFound;
  std::uint32_t tried = 0, seen = 0;         // opportunities
  std::vector<history::TxnId> transactions;  // kDetected: one of the opportunities
  std::string reason;                        // kImpossible, kNotFound: a clause without a full stop
};

struct TestPower {
  // Concurrency, of the transactions with both times.
  std::uint64_t transactions = 0;  // that may have happened (not aborted)
  std::uint64_t timed = 0;         // of these, with both times; 0: nothing is known of it
  double mean_open = 0;            // open at a time, averaged over the span
  std::uint64_t most_open = 0;
  // Pairs of transactions that touch a common key, at least one writing it, and of these
  // the pairs that overlapped in time, counted for each key; and the transactions that
  // overlapped with such another one.
  std::uint64_t pairs = 0, pairs_overlapped = 0, met = 0;

  // Reads of committed transactions, one a key, and those that say something about the
  // order: of another transaction's version, or of the initial one of a key that
  // another transaction wrote.
  std::uint64_t reads = 0, constraining = 0;

  // Keys that were written, and those of whose versions the order is fully known: one
  // writer, a list read with every element, or chains (a transaction that read a version
  // before it wrote the next, a session that saw or wrote one and then another). A lower
  // bound: what the engine forces from the rest is not counted.
  std::uint64_t written_keys = 0, ordered_keys = 0;
  std::uint64_t ordered_by_one_writer = 0, ordered_by_list = 0, ordered_by_chain = 0;
  std::uint64_t keys_sampled_one_in =
      1;  // the numbers of keys and reads are of every so manieth key

  std::vector<Anomaly> anomalies;          // the 14, in their order
  std::uint64_t transactions_sampled = 0;  // looked at for opportunities
  bool limit_met = false;  // the budget ended; what is there is right, the rest is missing
};

// Deterministic unless the budget ends.
TestPower measure(const history::History& history, base::Budget& budget);

}  // namespace cupel::power
