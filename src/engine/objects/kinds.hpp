// The kinds of objects. Each has a file of its own for the decision of one object, and one for the
// classes of Jepsen's checker.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/objects/check.hpp"

namespace cupel::objects {

inline constexpr std::uint32_t kNone = 0xffffffff;

// A number for each element of a history, for one object after the other: forgetting the numbers of
// an object costs as much as it has set.
class ByElement {
 public:
  explicit ByElement(std::size_t elements) : numbers_(elements, kNone) {}
  [[nodiscard]] std::uint32_t at(std::uint32_t element) const { return numbers_[element]; }
  void set(std::uint32_t element, std::uint32_t number) {
    if (numbers_[element] == kNone) touched_.push_back(element);
    numbers_[element] = number;
  }
  void forget() {
    for (const auto element : touched_) numbers_[element] = kNone;
    touched_.clear();
  }

 private:
  std::vector<std::uint32_t> numbers_, touched_;
};

// The entry of an element, which is made when it is first asked for.
template <typename Entry>
Entry& entry_of(std::uint32_t element, ByElement& numbers, std::vector<Entry>& entries) {
  if (numbers.at(element) == kNone) {
    numbers.set(element, static_cast<std::uint32_t>(entries.size()));
    entries.push_back({.id = element});
  }
  return entries[numbers.at(element)];
}

// The elements of a class of Jepsen's that are listed.
inline constexpr std::size_t kElementsListed = 100;

inline constexpr const char* kLimitMet = "a limit of time or memory was met";

using Ops = std::span<const std::uint32_t>;

// The question that sums.cpp decides: changes of a vector of sums, and reads of all of it.
struct SumOp {
  std::uint32_t id = 0;  // in the history
  history::Time invoke = 0, complete = history::kNever;
  bool is_read = false;
  std::vector<std::pair<std::uint32_t, std::int64_t>> changes = {};  // by place
  std::vector<std::int64_t> result = {};                             // of a read
};
struct SumsOf {
  std::uint32_t width = 1;
  std::optional<std::vector<std::int64_t>> initial = {};  // none: the first read says them
  std::vector<SumOp> ops = {};  // the possible changes and the certain reads
};
// A violation is a pattern without operations.
Answer decide_sums(const SumsOf& what, base::Budget& budget);

Answer decide_counter(const history::ObjectHistory& history, Ops ops, base::Budget& budget);
Jepsen jepsen_counter(const history::ObjectHistory& history, Ops ops);

Answer decide_bank(const history::ObjectHistory& history, Ops ops, ByElement& scratch,
                   base::Budget& budget);
Jepsen jepsen_bank(const history::ObjectHistory& history, Ops ops);

Answer decide_unique_ids(const history::ObjectHistory& history, Ops ops, ByElement& scratch);
Jepsen jepsen_unique_ids(const history::ObjectHistory& history, Ops ops, ByElement& scratch);

Answer decide_queue(const history::ObjectHistory& history, Ops ops, ByElement& scratch);
Jepsen jepsen_queue(const history::ObjectHistory& history, Ops ops, ByElement& scratch);

Answer decide_set(const history::ObjectHistory& history, Ops ops, ByElement& scratch,
                  base::Budget& budget);
Jepsen jepsen_set(const history::ObjectHistory& history, Ops ops, ByElement& scratch);

}  // namespace cupel::objects
