// Marked text: decides a text with marks whose deliveries are known.
//
// The characters are those of a text (list_order.hpp). For a read and a mark of a range, a
// character that the read shows is
//   named    if the mark names it,
//   outside  if the replica of the mark showed it and did not name it,
//   new      otherwise.
// The mark covers what it names, and new characters between two that it names; it may cover new
// characters of which one neighbour that is not new is named, and any new one if the read shows
// none of its range. Of each name of a mark, a character shows the value of the last mark that
// covers it, in one order of the updates of the text.
//
// A mark that may cover helps only if it has the value that is shown. So each character of a read
// asks that of the marks that cover it, and those with its value that may, the last one has this
// value; last_update_order.hpp decides whether one order gives all that.
//
// Cost: operations × replicas, and for each read its characters and the ranges of the marks of
// which it shows something.
#pragma once

#include <optional>
#include <vector>

#include "crdt/model/marks.hpp"
#include "crdt/solve/context.hpp"

namespace cupel::crdt {

ContextDecision decide_known_marked_text(const KnownContext& context);

// The marks of one character and name, for a read. For explanations: it looks at every mark.
struct MarksOfCharacter {
  std::vector<OpId> covering, perhaps;
};
MarksOfCharacter marks_of_character(const History& history, const Visibility& visibility,
                                    const MarkIndex& marks, const MarkIndex::Shown& shown,
                                    OpId read);

// A character whose marks no order gives it: the first name of a mark that is wrong there.
struct WrongMark {
  MarkIndex::Mark shown;  // its value: kNone, if none is shown
  MarksOfCharacter marks;
};
std::optional<WrongMark> wrong_mark(const History& history, const Visibility& visibility,
                                    MarkIndex& marks, OpId read, std::uint32_t character);

}  // namespace cupel::crdt
