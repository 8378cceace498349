// certain: whether an answer holds, whatever the updates of unknown outcome did.
//
// With known deliveries nobody can say who saw such an update, its own replica included. But it may
// as well not have happened: a history that is satisfied without it is satisfied. And where the
// deliveries say what each replica had applied (the rule `applied`), it has no influence on other
// keys: what is violated there is violated. By the other rules it has, since what came after it may
// have been held back where it did not arrive.
#pragma once

#include "crdt/analysis/analyze.hpp"

namespace cupel::crdt {

// Of a history that was read without the updates of unknown outcome (UnknownOutcome).
bool is_certain(const History& history, const Analysis& analysis);
bool is_certain(const Recording& recording, const RecordingAnalysis& analysis);

}  // namespace cupel::crdt
