// Feeds a history to a window, event by event in one of the interleavings in which
// recorders may deliver it, and asks at every beginning whether the window says what
// the engine says of that beginning as a whole.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/history/streamed.hpp"
#include "engine/levels/level.hpp"
#include "support/history_language.hpp"

namespace cupel::test {

struct PrefixRun {
  std::string difference;  // empty: none
  bool violated = false;
  bool asked = false;  // not sure, and rightly so
  // Looks that could not tell yet: a compare-and-set of a transaction that is going on has been
  // seen, or another write of the same value.
  std::size_t waited = 0;
  std::size_t looks = 0, transactions = 0, forgotten = 0;
  std::string doubt;
};

// `every`: how many events come between two looks.
PrefixRun compare_prefixes(const Sketch& sketch, levels::Level level, history::Time drift,
                           std::uint64_t seed, unsigned every = 1);

// The same of a window that slides over so many transactions: it may miss what is wrong, and may
// ask in vain only where a value is written twice. `violated`: found; `asked`: in vain.
PrefixRun compare_sliding(const Sketch& sketch, levels::Level level, std::uint64_t seed,
                          std::size_t slide);

// Up to the first violation of the stronger level that is watched for this one: what is held may
// say that this one is violated as well only if it is (or a value is written twice).
struct AloneRun {
  std::string difference;  // empty: none
  bool found = false, violated = false;
  std::size_t forgotten = 0;
};
AloneRun compare_alone(const Sketch& sketch, levels::Level level, std::uint64_t seed);

// Windows that are given up at random: what is found later must be violated (or a value is written
// twice). `found`: after one was given up.
AloneRun compare_given_up(const Sketch& sketch, levels::Level level, std::uint64_t seed);

// The same to the end of the history, with a certificate by windows.
struct CertifiedRun {
  bool satisfied = false;  // else: violated or refused, and there is no certificate
  std::string chain;
  // As a reader of the history would give them.
  std::vector<history::StreamedTransaction> transactions;
  std::vector<history::TransactionSource::Initial> initial;
  history::ScalarTable keys;
  std::vector<std::uint8_t> lists;  // by key
};
CertifiedRun certify_run(const Sketch& sketch, levels::Level level, history::Time drift,
                         std::uint64_t seed, unsigned every);

// Transactions with compare-and-sets and other operations, many of which fail, in overlapping
// sessions that read what they wrote before they end.
Sketch compare_sketch(std::uint64_t seed);

// Some reads of empty lists, of keys that are appended to, as reads of null.
Sketch with_null_lists(Sketch sketch, std::uint64_t seed);

// Keys that start with a value, and range reads of them, with deletes. Now and then a range read
// does not return a key, which may appear only later.
Sketch range_sketch(std::uint64_t seed);

// Longer than those of property/random_history.hpp, so that much is forgotten: a store that now
// and then lets a transaction read something old.
Sketch long_sketch(std::uint64_t seed);

}  // namespace cupel::test
