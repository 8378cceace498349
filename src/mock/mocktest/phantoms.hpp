// Phantoms: a transaction looked for rows and missed one that a concurrent transaction inserted.
//
// The recorder of a store writes the read of a missing row as a read of null, and that of a true
// database as a read of "absent". A client that reads in one transaction and writes in the next
// acts on what it read until the latter ends, so that counts as concurrent too. A phantom need not
// violate a level: with one of the two dependencies alone the history is serializable.
#pragma once

#include <string>
#include <vector>

#include "data/history/history.hpp"

namespace cupel::mocktest {

struct Phantom {
  history::TxnId reader, inserter;
  history::KeyId row;
};

// In the order of the readers; for each reader and inserter one row. `most` of them.
std::vector<Phantom> find_phantoms(const history::History& history, std::size_t most);

// "T0 (session alice, its 1st transaction) did not find account(2), which T1 (session bob, its 1st
// transaction) inserted at the same time."
std::string sentence_of(const history::History& history, const Phantom& phantom);

}  // namespace cupel::mocktest
