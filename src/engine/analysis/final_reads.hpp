// final_reads: what the last reads of a run say that no level does.
//
// When a run is over and everything is repaired, the recorder may read every key once more from
// every node (Recorder::final_reader; `cupel run` does where there were faults or several hosts).
// Nobody writes any more, so:
//
//   lost-write          an acknowledged write is on no node, though nothing could replace it: a
//                       list lacks the element; or what every node holds of a register was written
//                       by transactions that all had ended before the write's began
//   divergent-replicas  two nodes hold different values of one key
//
// Neither follows from an isolation level: a serializable database may order the clients'
// transactions as it likes, and an asynchronous replica may lag. After a quiet time they are what
// users mean by losing data. Nothing is said where it can be doubted: values that several
// transactions wrote count for the last of them; what a transaction of unknown outcome wrote may
// have come at any time, also between the reads of two nodes; and on a node that was not read there
// may be every write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/history/facts.hpp"
#include "data/history/history.hpp"
#include "engine/check/check.hpp"

namespace cupel::analysis {

struct FinalReads {
  struct Node {
    std::string name;
    history::SessionId session;  // that read from it
    std::uint64_t keys = 0;      // that it answered
  };
  struct LostWrite {
    history::KeyId key;
    std::uint64_t writes = 0;  // acknowledged, that are gone; the last to begin is
    history::OpId last;
    std::vector<history::OpId> found;  // the final reads of the key
  };
  struct DivergentKey {
    history::KeyId key;
    std::vector<history::OpId> found;
    // Of what some node holds and another does not, the writes; the last to begin come first.
    std::vector<history::OpId> writes = {};
  };
  std::vector<Node> nodes;
  std::uint64_t keys = 0;               // that were read from some node
  std::uint64_t keys_of_all = 0;        // that were read from every node: no other can be lost
  std::vector<LostWrite> lost;          // in the order of the keys
  std::vector<DivergentKey> divergent;  // in the order of the keys

  [[nodiscard]] bool well() const { return lost.empty() && divergent.empty(); }
  // "acknowledged writes are lost", "the nodes differ at the end", both, or nothing.
  [[nodiscard]] std::string in_words() const;
};

// At most so many writes are named of a key on which nodes differ.
inline constexpr std::size_t kMostDivergentWrites = 8;

using history::kDataGone;
using history::kFinalReaders;
using history::kFinalReadsFailed;

// What a recorded run says, beside its levels, of the writes that it acknowledged.
struct Losses {
  bool shown = false;    // by the final reads
  std::string gone;      // kDataGone
  std::string failed;    // kFinalReadsFailed
  bool by_name = false;  // the user named the levels that decide

  // The one rule for every command and library. What the final reads show is a violation, but not
  // beside levels by name, unless data are gone as a whole. Reads that failed, and data that are
  // gone though no write is known to be lost, are unknown: the table may have held writes that the
  // final reads do not cover, and may have lost none.
  [[nodiscard]] check::Verdict verdict() const;
  // Why it is unknown whether more writes are lost; empty: it is known.
  [[nodiscard]] std::string why_unknown() const;
};
// `reads`: final_reads(history).
Losses losses_of(const history::History& history, const std::optional<FinalReads>& reads,
                 bool levels_by_name);

// The sessions that made them, by number; empty: there are none.
std::vector<FinalReads::Node> readers_of(const history::History& history);

// None: the history has no final reads. Without times no write of a register is called lost.
std::optional<FinalReads> final_reads(const history::History& history);

}  // namespace cupel::analysis
