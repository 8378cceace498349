// Character order: the characters of lists as nodes of a between order (between_order.hpp), for
// the searches that differ in which characters may stand between two others.
//
// The nodes are those of a key together, in an order that contains happens-before. Reads, and the
// neighbours after which characters were added, give steps. Between a new character and its
// neighbour no character stands that the replica then shows.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "crdt/solve/between_order.hpp"
#include "crdt/solve/context.hpp"

namespace cupel::crdt {

class OrderedCharacters {
 public:
  explicit OrderedCharacters(const KnownContext& context);

  [[nodiscard]] std::uint32_t element(std::uint32_t node) const { return element_of_[node]; }
  [[nodiscard]] std::uint32_t node(std::uint32_t element) const { return node_of_[element]; }
  [[nodiscard]] OpId insert(std::uint32_t element) const { return inserts_[element]; }
  // By key, and the end: its first node.
  [[nodiscard]] const std::vector<std::uint32_t>& key_begin() const { return key_begin_; }
  [[nodiscard]] const KeyEvents& events();

  // The steps of reads and neighbours.
  void add_given(BetweenOrder& order) const;
  // Visible characters between a neighbour and a new character, for all additions to the keys that
  // are open; some of them at least. `unsure`: elements that are left out.
  [[nodiscard]] std::vector<BetweenOrder::Misplaced> misplaced(
      const BetweenOrder& order, const std::vector<bool>* unsure = nullptr);
  static constexpr int kMostMisplaced = 4;  // in front of a character; the next round finds more

  [[nodiscard]] std::vector<std::uint32_t> characters(const BetweenOrder& order) const;
  // What a step of the order rests on, and the step in terms of the history.
  void add_reasons(const BetweenOrder::Edge& edge, std::set<OpId>& operations) const;
  [[nodiscard]] Step step(const BetweenOrder::Edge& edge) const;

 private:
  void misplaced_in(std::uint32_t key, const KeyEvents& events, const BetweenOrder& order,
                    const std::vector<bool>* unsure,
                    std::vector<BetweenOrder::Misplaced>& found) const;

  const KnownContext& context_;
  const History& h_;
  const std::vector<OpId> inserts_;              // by element
  const std::vector<std::uint32_t> neighbours_;  // by element
  std::vector<std::uint32_t> element_of_, node_of_, key_begin_;
  std::optional<KeyEvents> events_;
};

}  // namespace cupel::crdt
