// Timeline: what a page needs of a history to draw it in time, as JSON that fits
// into a given size whatever the history's.
//
// Two views of one thing. A coarse grid over the whole history, sessions by time,
// counts transactions. In front of it stand single transactions with their
// operations: all, if they fit, else those nearest in time to the ones that
// matter. Where a history has no times, a transaction's time is its place in its
// session, as a share of the session's length.
//
//   {"clock":true,                       has it times?
//    "places":false,                     are they places of the file?
//    "from":0,                           the place that is 0 below; of true times always 0
//    "to":5000,"total":3,"shown":3,
//    "sessions":[[0,"a",0,2],…],          index, name, first transaction, how many
//    "keys":["x",…],
//    "ids":[0,1,…],"labels":[7,8,…],"status":"cca",
//    "start":[0,20,…],"length":[10,-1,…], -1: its end was not seen
//    "ops":[[0,0,5,1,0,6],…],             kind, key, value, three for each operation
//    "windows":[[0,900],…],               times between which everything is shown
//    "grid":{"columns":240,"rows":[[0,1],…],"count":[…],"failed":[…]},
//    "pace":{"commits":[…],"p50":[…],"p99":[…]},
//                                         by column of the grid: what committed then, how long
//                                         half and 99 % of it took at most (-1: nothing did);
//                                         without the final reads; null without true times
//    "nodes":{"names":["node 0 (h:1)",…], "short":["node 0",…],
//             "of":[0,-1,…],"role":"pr-…",  of each transaction: its node (-1: not known), whether
//                                         that was the primary, a replica, or nobody says
//             "commits":[[3,0,…],…],"roles":["p-r…",…]},
//                                         of each node, by column of the grid: what committed
//                                         there, without the final reads; null if fewer than two
//                                         nodes are known
//    "faults":[[100,200,"kill"],…],       -1: not healed
//    "marked":[[0,1],…]}                  transactions of each violation
#pragma once

#include <span>
#include <string>
#include <vector>

#include "data/history/history.hpp"
#include "report/nodes.hpp"

namespace cupel::report {

struct TimelineOptions {
  std::size_t most_bytes = 3'000'000;
  std::vector<history::TxnId> also = {};  // shown as well, whatever happens
  const NodesByLabel* nodes = nullptr;    // borrowed; none: not known
};

// `marked`: the transactions of each violation; they are shown whatever happens.
// Times are nanoseconds from the first invocation. O(n log n) in the transactions.
// Same history, same bytes. No `<` in it: it may stand in a script element.
std::string timeline_json(const history::History& history,
                          std::span<const std::vector<history::TxnId>> marked,
                          const TimelineOptions& options = {});

// A time in which something was done to the database, as the history's metadata
// "faults" says: a line for each, "FROM TO WHAT", TO being "-" if no end was seen.
struct Fault {
  history::Time from, to;  // to: kNoTime if it was not seen to end
  std::string what;
};
std::vector<Fault> faults_of(const history::History& history);

}  // namespace cupel::report
