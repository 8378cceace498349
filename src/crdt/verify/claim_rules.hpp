// Claim rules: sets and flags in an exhaustive search (exhaustive_search.hpp). A claim is what a
// read says of one object, an element or a flag: that it is on, or off. Each claim adds the facts
// that every execution has.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "crdt/verify/partial_order.hpp"
#include "crdt/verify/semantics.hpp"

namespace cupel::crdt {

class ClaimRules {
 public:
  ClaimRules(const History& history, const Semantics& semantics, SearchWork& work);

  // False: a claim has no execution.
  [[nodiscard]] bool propagate(const PartialOrder& known, OrderFacts& facts);
  // With what is known as the happens-before: is every claim right? If not, an open pair that may
  // change that.
  [[nodiscard]] bool are_right(const PartialOrder& known, OpenPair& pair);
  // Is there an order of each object's updates in which, for each read, an update of the side that
  // it shows, `possible` for it, comes after all of the other side that it surely has seen? Built
  // from its end: what may be the last of all could be the last in any order that fits. If what is
  // known is the happens-before, this decides; else it needs less than an execution does.
  [[nodiscard]] bool orders_updates(const PartialOrder& known,
                                    const std::function<bool(OpId, OpId)>& possible);
  // Of the claims that have one right answer only by a choice, an open pair of the one with the
  // fewest.
  [[nodiscard]] OpenPair open_of_last(const PartialOrder& known);

 private:
  struct Claim {
    OpId read;
    const std::vector<OpId>* updates;
    bool returned;
    std::vector<OpId> winners = {}, losers = {};  // of the updates
    std::vector<OpId> overwriting = {};           // the losers that may overwrite a winner
  };
  // Last update wins: the updates that may be the last, of those that the read has seen.
  struct LastOnes {
    Candidates some = {};
    bool must_be = false;  // one of them is
  };
  // How many ways there are to make a wrong claim right, and an open pair of one of them.
  using Ways = std::pair<std::size_t, OpenPair>;

  bool propagate_claim(const PartialOrder& known, const Claim& claim, OrderFacts& facts);
  bool propagate_last(const PartialOrder& known, const Claim& claim, OrderFacts& facts);
  LastOnes last_ones(const PartialOrder& known, const Claim& claim);
  static Candidates overwriting(const PartialOrder& known, OpId w, OpId r, const Claim& claim);
  static std::pair<Candidates, bool> left_standing(const PartialOrder& known, const Claim& claim);
  [[nodiscard]] Ways way_of(const PartialOrder& known, const Claim& claim) const;
  Ways way_of_last(const PartialOrder& known, const Claim& claim);

  const History& h_;
  const Semantics& semantics_;
  const Rules& rules_;
  SearchWork& work_;
  std::vector<Claim> claims_;
};

}  // namespace cupel::crdt
