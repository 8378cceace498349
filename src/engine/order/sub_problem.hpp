// SubProblem: a few owners of a problem, with what is left of its chains or without any.
//
// Why it is sound. Let S be a set of owners, and P|S the problem of the owners S with
// all their writes, the fixed arcs between them (through helpers too), their order in the chains
// or none, and those of their reads all of whose candidates are in S or initial. A solution of P,
// restricted to the events of S, is one of P|S: that a is before b does not depend on what else is
// there, each condition of problem.hpp is about the order of two events, and each of P|S is one of
// P. (Its reads kept their candidates, so the version that a read saw is in P|S; its versions are
// ordered as before; leaving out a writer or a reader only takes conditions away.) So no solution
// of P|S means no solution of P, whichever S is chosen.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/hash_table.hpp"
#include "engine/order/problem.hpp"

namespace cupel::order {

// What a problem has of each owner: its reads, and the fixed arcs at either end.
struct OwnerTables {
  explicit OwnerTables(const Problem& problem);

  std::vector<std::uint32_t> read_first;   // owner o's reads are [read_first[o], read_first[o + 1])
  std::vector<std::uint32_t> fixed_first;  // its arcs are fixed[fixed_first[o] .. [o + 1])
  std::vector<std::uint32_t> fixed;
};

class SubProblem {
 public:
  enum class Chains : std::uint8_t {
    kNone,
    kAsWhole,  // but for those that are optional there
  };
  // `owners` ascending. Keeps references to `whole`. Owner i of the sub-problem is owners[i].
  SubProblem(const Problem& whole, const OwnerTables& tables, std::vector<Owner> owners,
             Chains chains = Chains::kNone);

  [[nodiscard]] const Problem& problem() const { return sub_; }
  // Stage 3 gives up after so many proposals, or sooner where the whole says so.
  void limit_proposals(std::uint64_t max) {
    sub_.max_proposals = std::min(sub_.max_proposals, max);
  }

  // Puts a proof of the sub-problem into the numbers of the whole.
  void translate(Proof& proof) const;

 private:
  void number_objects(const OwnerTables& tables);
  void add_chains(Chains chains);
  void add_owners(const OwnerTables& tables);
  void add_read(Owner i, std::uint32_t r);
  void add_fixed_arcs(const OwnerTables& tables);
  [[nodiscard]] Object object(Object x) const;
  [[nodiscard]] bool contains(Node v) const;
  [[nodiscard]] Node node(Node v) const;   // of the sub-problem
  [[nodiscard]] Node whole(Node v) const;  // the other way

  const Problem& whole_;
  Problem sub_;
  std::vector<Owner> owners_;
  base::HashMap<Owner, Owner> number_;  // by owner of the whole
  std::vector<Object> objects_;         // of the whole, ascending
  std::vector<std::uint32_t> reads_;    // of the whole, by read of the sub-problem
  std::vector<Node> helpers_;           // of the whole, ascending
};

}  // namespace cupel::order
