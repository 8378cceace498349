// Chain: lightweight transactions on one object, in linear time.
//
// Where every operation that counts is a read-modify-write of one version, the
// versions form one chain from the initial one, which neither the sessions nor
// real time may contradict (MTC, algorithm 2). Deviation: indeterminate
// transactions and reads with several possible writers are left to the engine.
#pragma once

#include "levels/accesses.hpp"
#include "levels/describe.hpp"

namespace cupel::levels {

// `part` has one key. True: it is linearizable. False: not of this shape, or not
// linearizable; the engine decides then, and finds the proof. `chain`: the owners
// in their order.
bool chain_of_compare_and_sets(const History& history, const Accesses& accesses, const Part& part,
                               history::Time clock_drift_ns, std::vector<Owner>& chain);

}  // namespace cupel::levels
