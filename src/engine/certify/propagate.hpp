// Propagate: does a refutation refute? Clauses, and after them lemmas, each of which
// must follow by unit propagation: with all its literals false, the clauses so far
// force a contradiction (RUP; Goldberg & Novikov, DATE 2003).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cupel::certify {

class Propagator {
 public:
  explicit Propagator(std::size_t variables);

  // Literals: variables from 1, negative = false.
  void add_clause(std::span<const std::int32_t> clause);
  // Does the clause follow by unit propagation?
  [[nodiscard]] bool follows(std::span<const std::int32_t> clause);

 private:
  [[nodiscard]] static std::size_t slot(std::int32_t literal) {
    return 2 * static_cast<std::size_t>(literal < 0 ? -literal : literal) + (literal < 0 ? 1 : 0);
  }
  [[nodiscard]] bool is_true(std::int32_t literal) const { return value_[slot(literal)] > 0; }
  [[nodiscard]] bool is_false(std::int32_t literal) const { return value_[slot(literal)] < 0; }
  void assign(std::int32_t literal);
  // False if there is a contradiction.
  bool propagate();
  void undo(std::size_t size);

  std::vector<std::int8_t> value_;                      // by slot: 1 true, -1 false, 0 open
  std::vector<std::vector<std::uint32_t>> watched_by_;  // by slot: clauses that watch the literal
  std::vector<std::vector<std::int32_t>> clauses_;      // the first two literals are watched
  std::vector<std::int32_t> assigned_;
  std::size_t next_ = 0;
  bool contradiction_ = false;
};

}  // namespace cupel::certify
