// Read rules: numbers, values and characters in an exhaustive search (exhaustive_search.hpp). What
// an operation returned, or names, adds the facts that every execution has.
#pragma once

#include "crdt/verify/partial_order.hpp"
#include "crdt/verify/semantics.hpp"

namespace cupel::crdt {

class ReadRules {
 public:
  ReadRules(const History& history, const Semantics& semantics, bool strict, SearchWork& work)
      : h_(history),
        semantics_(semantics),
        rules_(semantics.rules()),
        strict_(strict),
        work_(work) {}

  // False: there is no execution.
  [[nodiscard]] bool propagate(const PartialOrder& known, OpId op, OrderFacts& facts);

 private:
  bool names(std::uint32_t e, OpId r, OrderFacts& facts);
  bool shown(const PartialOrder& known, OpId r, OrderFacts& facts);
  bool values(const PartialOrder& known, OpId r, OrderFacts& facts);
  [[nodiscard]] bool may_see_reset(const PartialOrder& known, OpId r) const;
  bool sum(const PartialOrder& known, OpId r, OrderFacts& facts);

  const History& h_;
  const Semantics& semantics_;
  const Rules& rules_;
  const bool strict_;
  SearchWork& work_;
};

}  // namespace cupel::crdt
