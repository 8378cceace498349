// Programs: what the sessions of a test issue to a store, and what came of it.
//
// A program is sessions of transactions of reads and writes; every write has a value of
// its own, so a history says who read from whom.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "engine/mock/store.hpp"

namespace cupel::test {

struct Step {
  bool write = false;
  int key = 0;
};
struct Program {
  // Each transaction's own level; empty: the same for all.
  std::vector<std::vector<mock::Level>> levels = {};
  std::vector<std::vector<std::vector<Step>>> sessions;
  [[nodiscard]] std::string to_string() const;  // "s0: r0 w1 ; w0 | s1: r1"
};

Program random_program(base::Random& random, int sessions, int transactions, int steps, int keys);

// What each read returned, by session, transaction and step: "n" or the number written.
using Outcome = std::string;

// Every outcome over all orders of the transactions and all choices of the store, of the
// runs in which all transactions commit.
std::set<Outcome> reached(const Program& program, mock::Level level);

// Every outcome that the oracle accepts.
std::set<Outcome> accepted(const Program& program, mock::Level level);

// The same of one order of the transactions, given by their sessions: a store that gets
// them in it can return each outcome in which nobody reads from who comes later.
using Order = std::vector<int>;
Order random_order(const Program& program, base::Random& random);
std::set<Outcome> reached(const Program& program, mock::Level level, const Order& order);
std::set<Outcome> accepted(const Program& program, mock::Level level, const Order& order);
// The same where transactions have levels of their own, by the axioms of Biswas & Enea:
// for every commit order, each transaction's reads at its level.
std::set<Outcome> accepted_mixed(const Program& program);
// How many outcomes accepted() has to ask about.
double outcome_count(const Program& program);

}  // namespace cupel::test
