// What a part of a history says by itself, whatever the rest of it is.
//
// Any order of the whole history that fits a level without session order and real time, without
// the transactions that are not held and without the reads that are taken for unknown, fits what
// is held. So a violation there is one of the whole. The one thing it takes for granted is that no
// forgotten transaction wrote a value that is held, too.
#pragma once

#include <vector>

#include "data/history/history.hpp"

namespace cupel::online {

// For history::with_unknown(): operations that may have seen what is not held. A read of the
// initial value is one, which may have been written or deleted again; so is a range, of which keys
// may be absent for what is forgotten. `frontier_known`: an initial value, if it is not null, was
// written by a forgotten transaction or by nobody, and reads of it stay.
std::vector<history::OpId> reads_of_others(const history::History& held, bool frontier_known);

// The history with, for each initial value that is read, a transaction of a session of its own that
// writes it: the part that is known of the forgotten one. It may stand anywhere, as the whole one
// may; that two of them were one transaction is left out, which permits more.
history::History with_writers_of_frontier(const history::History& held);

}  // namespace cupel::online
