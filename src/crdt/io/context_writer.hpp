// Context writer: the lines that context_reader.hpp takes, between the operations.
#pragma once

#include <string>
#include <vector>

#include "crdt/model/history.hpp"

namespace cupel::crdt {

class ContextWriter {
 public:
  ContextWriter(const History& history, bool edn);

  // The line of the rule, if the history has a context and the rule is not the usual one.
  [[nodiscard]] std::string rule() const;
  // The lines before the operation at this place of its replica, each once.
  std::string before(std::uint32_t replica, std::uint32_t seq);
  // Those after the last operations.
  std::string rest();

 private:
  [[nodiscard]] std::string line(std::uint32_t reception) const;
  [[nodiscard]] std::string names(const Reception& reception) const;
  [[nodiscard]] std::string message(std::uint32_t sent) const;
  [[nodiscard]] std::string name(const NamedUpdates& named) const;

  const History& history_;
  const bool edn_;
  std::vector<std::uint32_t> numbers_;   // by operation: updates of its replica before
  std::vector<std::uint32_t> messages_;  // by reception: messages of its replica before
  std::vector<std::vector<std::uint32_t>> receptions_;  // by replica
  std::vector<std::uint32_t> next_;                     // by replica
  std::vector<bool> met_;                               // by replica: a line of it was written
  std::vector<std::uint32_t> in_order_;                 // those
};

}  // namespace cupel::crdt
