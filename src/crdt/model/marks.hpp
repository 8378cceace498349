// Marks: how the history of a marked text has the names and values of marks, such as bold or a
// colour.
//
//   ["bold",true]                 a mark, the `parent` of a kMark. null takes the mark away
//   {"bold":{"true":"abd"}}       what a read shows, its `parent`: by name and value the
//   characters.
//                                 kNone: no marks
//
// Both are elements of the text. A read names its characters, so its marks are those of the
// characters that its list has, whatever else was left out of the list.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "crdt/model/history.hpp"

namespace cupel::crdt {

// The text of a mark as an element. Both are JSON.
std::string mark_text(std::string_view name, std::string_view value);

// What a read shows, mark by mark: name and value as JSON, and the characters.
using ShownMark = std::function<void(const std::string& name, const std::string& value,
                                     std::span<const std::uint32_t> characters)>;
void for_shown_marks(const History& history, const Operation& read, const ShownMark& found);

// The marks of a history as numbers, and what its reads show.
class MarkIndex {
 public:
  explicit MarkIndex(const History& history);

  struct Mark {
    std::uint32_t name = kNone;
    std::uint32_t value = kNone;  // kNone: it takes the mark away
    bool operator==(const Mark&) const = default;
    auto operator<=>(const Mark&) const = default;
  };
  // Of a kMark.
  [[nodiscard]] Mark of(OpId op) const { return marks_[op]; }
  // What a read shows: each mark of each character, ordered by the characters.
  struct Shown {
    std::uint32_t character;
    Mark mark;
    auto operator<=>(const Shown&) const = default;
  };
  [[nodiscard]] std::vector<Shown> shown(const Operation& read);
  // JSON.
  [[nodiscard]] const std::string& name(std::uint32_t name) const { return names_[name]; }
  [[nodiscard]] const std::string& value(std::uint32_t value) const { return values_[value]; }

 private:
  std::uint32_t name_number(const std::string& name);
  std::uint32_t value_number(const std::string& value);

  const History& h_;
  base::HashMap<std::string, std::uint32_t> name_ids_, value_ids_;
  std::vector<std::string> names_, values_;
  std::vector<Mark> marks_;  // by operation
};

}  // namespace cupel::crdt
