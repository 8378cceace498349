// Text type: a list of characters in which one operation inserts or deletes a range. The axioms
// are those of lists (strong_list.hpp): a range is a character after its neighbour, and each
// further character after the one before it, all at once. A read returns a string, so each
// character of a text is inserted once: its value says which one it is
// (docs/reference/crdt.md#text). Texts with marks are texts, too (marked_text.cpp).
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "crdt/types/strong_list.hpp"

namespace cupel::crdt {

// The characters of a text that is UTF-8, which a read shows, at the end of the call's list.
void add_shown(const ParsedCall& call, History::Shown& shown, std::string_view text);

class TextType : public StrongListType {
 public:
  using StrongListType::StrongListType;

  [[nodiscard]] std::string_view method(const Operation& op) const override;
  [[nodiscard]] Text text(const History& history, const Operation& op) const override;
  std::optional<std::string> parse(const ParsedCall& call) const override;
  [[nodiscard]] std::unique_ptr<FlatCall> flat_call(std::string_view method,
                                                    std::string_view value) const override;
  [[nodiscard]] nlohmann::json value(const History& history, const Operation& op) const override;
  [[nodiscard]] nlohmann::json argument(const History& history, const Operation& op) const override;
  void choose(RequestChoice& choice) const override;

 protected:
  // "abc", the characters of a text.
  static std::string string_of(const History& history, std::span<const std::uint32_t> characters);
  // The same with quotes, and shortened.
  static std::string shown_text(const History& history, std::span<const std::uint32_t> characters);
  // The characters of a string, as elements of the key, at the end of the call's list. False: it is
  // no string, or has none and must.
  static bool take_characters(const ParsedCall& call, const nlohmann::json& value, bool empty);
  static bool add_characters(const ParsedCall& call, std::string_view text, bool empty);
  // A range of at most three of the characters that the replica knows, from a random one on.
  static std::vector<std::uint32_t> choose_range(RequestChoice& choice);
  static void set_range(RequestChoice& choice, const std::vector<std::uint32_t>& range);
};

// The bug of texts that no list has.
inline TypeBug removes_first_of_range() {
  return {"removes-first-of-range",
          "of a range that another replica deleted, only the first character goes"};
}

}  // namespace cupel::crdt
