// Mark check: the marks of texts as the verifier reads the axioms
// (docs/reference/crdt.md#text-with-marks). It shares no code with solve/marked_text.hpp.
//
// Of two characters that a mark names and that a read shows next to each other, but for characters
// that are new to the mark, it covers all that is between them. Beyond those that it names it may
// cover the new ones as far as nothing else comes.
//
// Cost: for each read the ranges of all marks that it had seen.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "crdt/model/marks.hpp"
#include "crdt/verify/asked_order.hpp"
#include "crdt/verify/seen_updates.hpp"

namespace cupel::crdt {

class MarkCheck {
 public:
  MarkCheck(const History& history, const SeenUpdates& seen);

  // What is wrong with a read if the updates have this order: by update its place.
  std::optional<std::string> wrong_in_order(OpId read, const std::vector<std::size_t>& place);

  // False: it is wrong in every order.
  bool add_choices(OpId read, std::vector<LastChoice>& choices);

  [[nodiscard]] std::uint64_t work() const { return work_; }

 private:
  // The marks of one name at one character.
  struct Asked {
    std::uint32_t character;
    MarkIndex::Mark said;
    std::vector<OpId> covering, fitting;  // those that may cover it, if they fit what is said
  };
  // False from `visit` ends it.
  template <typename Visit>
  void for_asked(OpId read, Visit visit);
  void place_marks(OpId read);
  [[nodiscard]] bool is_new(OpId mark, std::uint32_t character);
  void may_cover_from(OpId mark, std::span<const std::uint32_t> list, std::size_t at, int step);
  [[nodiscard]] bool saw(OpId op, OpId update) {
    ++work_;
    return seen_.sees(op, update);
  }

  const History& h_;
  const SeenUpdates& seen_;
  MarkIndex index_;
  std::vector<std::vector<OpId>> marks_;    // by key
  std::vector<OpId> insert_;                // by element
  std::vector<std::vector<OpId>> removes_;  // by element
  // Of the read that is looked at.
  std::vector<std::size_t> at_;                      // by element: its place, from 1
  std::vector<std::vector<OpId>> covering_, maybe_;  // by place
  std::vector<OpId> hidden_;                         // marks of which nothing is shown
  std::uint64_t work_ = 0;
};

}  // namespace cupel::crdt
