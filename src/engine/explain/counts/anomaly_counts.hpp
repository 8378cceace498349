// Anomaly counts: how often each anomaly occurs in a whole history.
//
// Not by looking for one cycle after the other: each count is of something that one
// scan finds, and says what (docs/reference/anomalies.md, "Counts", has the same words):
//
//   the internal kinds           reads (one of several keys: a read for each)
//   non-monotonic-read           transactions with a read of x that missed a write of x by a
//                                transaction from which an earlier read is
//   session-guarantee-violation  ... by the last transaction before it in its session that wrote x
//   fractured-read               ... by a transaction from which any of its reads is; or two
//                                reads, of x and y, from two writers each of both x and y
//   causality-violation          ... by a transaction in its past, (so ∪ wr)+: of each session, the
//                                last one there that wrote x; not of a key that the transaction
//                                read twice with different values
//   G1c, G1c-process             sets of transactions each in the past of each other, all that
//                                belong together; G1c if reads alone close a cycle
//   long-fork                    pairs of versions, one of x and one of y, such that a
//                                transaction read the first and what the second overwrote, and
//                                another the second and what the first overwrote
//   lost-update                  versions that more than one transaction read and then overwrote
//   write-skew                   pairs of transactions that each overwrote what the other read, of
//                                different keys, and that are no lost update of a common key
//
// A read of x missed a write of x by k if the version that it saw is older than k's:
// it is the initial version, its writer is in the past of k, or list reads say so. A
// read counts under the first of these names alone, a transaction under each name
// once. Transactions are the counting ones of engine/levels/accesses.hpp; reads of keys that
// they have written themselves are not meant. Who overwrote a version:
// Versions::overwriters(). Reads that missed a write in their past take no part in
// long forks and write skews.
//
// Exact, in these words, where every read has one possible writer (and the versions
// of each key a known order: long-fork and write-skew) and no bound was met; else
// what was counted is there for certain, and more may be.
//
// Cost: one pass of vector clocks, and for each read one look at each session that
// wrote its key, both in key order and on all threads; neither where the history is
// known to be causally consistent. The rest is near-linear. Long
// forks and write skews stop at a bound of steps, linear in operations.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.hpp"
#include "data/history/history.hpp"
#include "engine/explain/counts/causal_past.hpp"
#include "engine/explain/counts/versions.hpp"

namespace cupel::counts {

inline constexpr std::size_t kKeysNamed = 5;  // of a count, at most

struct AnomalyCount {
  std::string name;
  std::uint64_t count = 0;
  bool exact = true;            // false: at least so many
  std::vector<KeyId> keys;      // the first few of the keys concerned, ascending
  std::uint64_t key_count = 0;  // all of them
};

// What a read may take part in: a bit each.
enum class Mark : std::uint8_t {
  kNonMonotonicRead,
  kSessionGuarantee,
  kFracturedRead,
  kCausality,
  kLongFork,
  kLostUpdate,
  kWriteSkew,
};
inline constexpr std::size_t kMarkCount = 7;
std::string_view name(Mark mark);  // "non-monotonic-read" ...

// What is known before the counting. Changes what it costs, not what is counted.
struct PriorResult {
  // levels::collect_accesses() of the history, with the first of its list choices and
  // all outcomes open. Null: not yet collected.
  std::shared_ptr<const Accesses> accesses;
  // The history is causally consistent: no read missed anything in its transaction's
  // past, and causality goes in no cycles.
  bool causal = false;
  unsigned threads = 0;  // 0: as many as the machine has
};

class AnomalyCounts {
 public:
  // The history must outlive it. Stops where the budget ends: see finished().
  AnomalyCounts(const History& history, base::Budget& budget, PriorResult known = {});
  ~AnomalyCounts();
  AnomalyCounts(const AnomalyCounts&) = delete;
  AnomalyCounts& operator=(const AnomalyCounts&) = delete;

  [[nodiscard]] bool finished() const { return finished_; }
  // In order of severity (severity.hpp); what was not found is left out.
  [[nodiscard]] const std::vector<AnomalyCount>& counts() const { return counts_; }

  // What the counts rest on. accesses(), versions() and marks() are empty or half done
  // if not finished().
  [[nodiscard]] const Accesses& accesses() const { return *accesses_; }
  [[nodiscard]] const Versions* versions() const { return versions_.get(); }
  [[nodiscard]] bool marked(std::uint32_t read, Mark mark) const {
    return (marks_[read] >> static_cast<unsigned>(mark) & 1) != 0;
  }
  // The internal anomalies that count: one for each kind and read.
  [[nodiscard]] const std::vector<levels::InternalAnomaly>& internal() const { return internal_; }

 private:
  class Tally;
  class MissedReads;
  bool scan(base::Budget& budget);
  void count_internal(Tally& tally);
  void count_cycles(Tally& tally) const;
  bool count_missed(Tally& tally, base::Budget& budget);
  struct Writers;
  [[nodiscard]] Writers committed_writers() const;
  [[nodiscard]] std::vector<std::uint8_t> suspects(const Writers& writers,
                                                   base::Budget& budget) const;
  [[nodiscard]] bool may_miss_a_source(Owner o, std::vector<std::uint32_t>& reads) const;
  void count_lost_updates(Tally& tally);
  bool count_write_skews(Tally& tally, base::Budget& budget);
  bool count_long_forks(Tally& tally, base::Budget& budget);
  [[nodiscard]] bool older(Version seen, Version other) const;
  [[nodiscard]] bool missed(std::uint32_t read) const;
  void mark(std::uint32_t read, Mark with) {
    marks_[read] = static_cast<std::uint8_t>(marks_[read] | 1u << static_cast<unsigned>(with));
  }

  const History& history_;
  bool lists_open_ = false;
  bool finished_ = false;
  const PriorResult known_;
  std::shared_ptr<const Accesses> accesses_;
  std::unique_ptr<Versions> versions_;
  std::unique_ptr<CausalPast> past_;
  std::vector<std::uint8_t> marks_;  // by read
  std::vector<levels::InternalAnomaly> internal_;
  std::vector<AnomalyCount> counts_;
};

}  // namespace cupel::counts
