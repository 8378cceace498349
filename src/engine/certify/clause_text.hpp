// Clauses of a refutation: literals, their text, and the search for hints.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "engine/certify/subject.hpp"

namespace cupel::certify {

struct EventRef {
  bool commit;
  TxnId txn;
  friend bool operator==(const EventRef&, const EventRef&) = default;
};

// A variable or its negation, as in proofs/Clauses.v.
struct Literal {
  enum Kind : std::uint8_t { kBefore, kSaw, kBounded, kBegins, kLives };
  bool positive = true;
  Kind kind = kBefore;
  // Events; or reader, place of the read, writer, of a bound 1 for "or an earlier one"; or key,
  // writer, place in the list.
  std::array<std::uint32_t, 4> parts = {};

  [[nodiscard]] Literal negated() const {
    Literal other = *this;
    other.positive = !positive;
    return other;
  }
  friend bool operator==(const Literal&, const Literal&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Literal& l) {
    return H::combine(std::move(h), l.positive, static_cast<int>(l.kind), l.parts);
  }
};

// x before y; of the two orders of two events one is the negation of the other.
Literal before(EventRef x, EventRef y);
Literal saw(TxnId reader, std::uint32_t place, TxnId writer);  // none(): the initial one
// The read saw the writer's version, or that of one of its session: an earlier one (`up`), or a
// later one.
Literal bounded(bool up, TxnId reader, std::uint32_t place, TxnId writer);
// The writer's appends to the list begin at this place.
Literal begins(KeyId key, TxnId writer, std::uint32_t at);
Literal lives(TxnId t);

struct Clause {
  std::uint32_t number;
  std::vector<Literal> literals;
};

class ClauseText {
 public:
  explicit ClauseText(std::string& text) : text_(text) {}

  // An axiom in words, and the clause that it gives.
  Clause given(std::string_view words, std::vector<Literal> literals);
  // The clause, if it follows from the others by unit propagation; with the hints for that.
  std::optional<Clause> derived(const std::vector<Literal>& literals,
                                const std::vector<Clause>& from);
  // The clause, which need not follow, with all the others as hints.
  Clause claimed(const std::vector<Literal>& literals, const std::vector<Clause>& from);

 private:
  Clause write(const std::vector<Literal>& literals, const std::vector<std::uint32_t>& hints);

  std::string& text_;
  std::uint32_t next_ = 0;
};

}  // namespace cupel::certify
