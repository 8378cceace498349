// What the final reads of a run found, in words and as JSON; see engine/analysis/final_reads.hpp.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "report/render.hpp"

namespace cupel::report {

// A write that some node, or every node, does not have.
struct ReportedWrite {
  history::OpId op;
  history::TxnId txn;
  std::string clause;             // "appended 5 to key 7"
  std::string acknowledged = {};  // "11.035 s"; empty: no times
  std::string node = {};          // "node 0 (198.18.1.1:5432), primary"; empty: not known
  std::string fault = {};         // "during kill: 0", "0.165 s before failover: 0"; empty: none
  // Of an element of a list "missing on node 1 (…)", of a register's value "held by node 1 (…)";
  // empty for lost writes.
  std::string where = {};
};

// One key that lost acknowledged writes, or on which the nodes differ. Every output has the same
// parts.
struct FinalReadsFinding {
  std::string_view name;               // "lost-write" or "divergent-replicas"
  std::string key;                     // "key 7"
  std::uint64_t writes = 0;            // lost: how many; `by` has the last to begin
  std::vector<ReportedWrite> by = {};  // divergent: of what some node holds and another does not
  std::string holdings;  // "every node holds 5", "node 0 (…) holds 5, node 1 (…) holds 6"
  std::vector<history::OpId> found;  // the final reads
};

// Lost writes come first. At most `most` of each kind.
std::vector<FinalReadsFinding> final_reads_findings(const Checked& checked, std::size_t most);
// What is wrong, in sentences that need nothing else.
std::string sentences_of(const history::History& history, const FinalReadsFinding& finding);
// Its writers, then who read at the end.
std::vector<history::TxnId> transactions_of(const history::History& history,
                                            const FinalReadsFinding& finding);
// "T7 of session 3".
std::string writer_of(const history::History& history, const ReportedWrite& write);

// "100 keys on 3 nodes; 2 keys lost acknowledged writes"; empty if there are no final reads.
std::string final_reads_summary(const Checked& checked);
// "Final reads: …", then what is lost and where nodes differ, at most a few keys of each. Every
// line starts with two blanks; empty if the history has no final reads.
std::string final_reads_text(const Checked& checked);

// "it is unknown whether acknowledged writes are lost: WHY"; empty without a reason.
std::string unknown_whether_lost(std::string_view why);
// The same of analysis::Losses::why_unknown().
std::string final_reads_unknown(const Checked& checked);
// FinalReads::in_words().
std::string final_reads_verdict(const Checked& checked);
// Whether the final reads count for the verdict: a level that was asked for by name decides alone,
// unless data are gone as a whole.
bool final_reads_decide(const Checked& checked);

// {"nodes": […], "keys": N, "lost_writes": […], "divergent_replicas": […]}:
// docs/reference/commands.md.
nlohmann::ordered_json final_reads_object(const Checked& checked);

}  // namespace cupel::report
