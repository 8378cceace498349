// Partial order: what is known of the happens-before of every execution that is left. For each two
// operations it is known that the first happens before the second, or that it does not, or neither
// (an open pair). Both relations are bit matrices, closed under transitivity.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <vector>

#include "crdt/model/history.hpp"

namespace cupel::crdt {

class BitMatrix {
 public:
  explicit BitMatrix(std::size_t n) : words_((n + 63) / 64), bits_(n * words_, 0) {}
  [[nodiscard]] bool at(OpId row, OpId column) const {
    return bits_[row * words_ + column / 64] >> (column % 64) & 1;
  }
  void set(OpId row, OpId column) {
    bits_[row * words_ + column / 64] |= std::uint64_t{1} << (column % 64);
  }
  [[nodiscard]] std::size_t words() const { return words_; }
  // What is in `row` and not in `other_row` of the other.
  template <typename Do>
  void for_new(OpId row, const BitMatrix& other, OpId other_row, Do work) const {
    for (std::size_t w = 0; w < words_; ++w) {
      for (auto left = bits_[row * words_ + w] & ~other.bits_[other_row * words_ + w]; left != 0;
           left &= left - 1) {
        work(static_cast<OpId>(w * 64 + static_cast<std::size_t>(std::countr_zero(left))));
      }
    }
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

// Of two operations, whether the first happens before the second.
struct OrderFact {
  OpId first, second;
  bool before;
};
using OrderFacts = std::vector<OrderFact>;
inline void must(OrderFacts& facts, OpId a, OpId b) {
  facts.push_back({a, b, true});
}
inline void cannot(OrderFacts& facts, OpId a, OpId b) {
  facts.push_back({a, b, false});
}

// Two operations whose order is open. kNone: there are none.
struct OpenPair {
  OpId first = kNone, second = kNone;
};

// How much a search has done, in words of bit sets and pairs of updates looked at, about.
struct SearchWork {
  static constexpr std::uint64_t kMost = 300'000'000;
  std::uint64_t done = 0;
  [[nodiscard]] bool is_spent() const { return done > kMost; }
};

struct PartialOrder {
  explicit PartialOrder(std::size_t n) : past(n), future(n), never_past(n), never_future(n) {}
  BitMatrix past, future;              // past.at(b, a): a happens before b
  BitMatrix never_past, never_future;  // never_past.at(b, a): it does not

  [[nodiscard]] bool before(OpId a, OpId b) const { return past.at(b, a); }
  [[nodiscard]] bool never(OpId a, OpId b) const { return never_past.at(b, a); }
  [[nodiscard]] bool open(OpId a, OpId b) const { return !before(a, b) && !never(a, b); }
  // An open pair on which it depends what the operation has seen of these updates.
  [[nodiscard]] OpenPair open_of(OpId op, const std::vector<OpId>& updates) const;
  // Takes the facts and what follows from them; false: a contradiction.
  [[nodiscard]] bool close(OrderFacts& facts, SearchWork& work);
};

// Of candidates: how many, and the last.
struct Candidates {
  std::size_t count = 0;
  OpId last = kNone;
  void add(OpId o) {
    ++count;
    last = o;
  }
};

// Of a list of candidates none is no execution, one is what every execution has. False: none.
bool one_of(const std::vector<OpId>& candidates, const std::function<void(OpId)>& only);

}  // namespace cupel::crdt
