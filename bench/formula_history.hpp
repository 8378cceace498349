// FormulaHistory: histories that are as hard to check as a formula is to satisfy.
//
// The reduction from satisfiability to prefix consistency, snapshot isolation and
// serializability alike (Biswas, thesis, theorem 3.2.2): the history of a formula
// satisfies each of the three exactly if the formula has a model. Each variable is a pair
// of transactions whose commit order is its value, each literal a triple that ties its
// truth to that order, and a clause a cycle unless one of its literals is true.
//
// The thesis orders transactions by a session order that is no set of sessions: some have
// several predecessors. Here each such arc is a read of a key that nobody else writes,
// which orders the two transactions alike at every level, with and without sessions, and
// each transaction is alone in its session.
//
// Size: two transactions a variable, three a literal.
#pragma once

#include <cstdint>
#include <vector>

#include "data/history/history.hpp"

namespace cupel::bench {

// Clauses of literals: v is variable v (from 1), -v its negation. No clause is empty.
using Clause = std::vector<int>;
struct Formula {
  int variables = 0;
  std::vector<Clause> clauses;
};

// Clauses of three different variables each, signs and variables drawn by the seed. Near
// 4.26 clauses a variable half of them have a model, and the search is hardest.
Formula random_formula(int variables, int clauses, std::uint64_t seed);

// Has it a model? By CaDiCaL, of the formula itself.
bool has_model(const Formula& formula);

history::History history_of(const Formula& formula);

}  // namespace cupel::bench
