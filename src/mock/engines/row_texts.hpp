// RowTexts: the contents of row versions, for people.
//
// A version that never changes is shown whole, "(7, chair, 10)", and versions of a row by the
// columns in which they differ, "stock=10" and "stock=9".
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::engines {

class RowTexts {
 public:
  struct Text {
    std::uint32_t columns = 0;  // which names they have
    std::string values = {};    // with kNextColumn between
  };

  // `text` is that of a Write.
  Text of(std::string_view text);
  // The columns in which the versions of a row differ. None: they are the same, or do not have the
  // same columns.
  [[nodiscard]] std::vector<std::size_t> differing(const std::vector<const Text*>& versions) const;
  // In words, with these columns alone; none: with all.
  [[nodiscard]] std::string words(const Text& text, const std::vector<std::size_t>& columns) const;

 private:
  std::vector<std::vector<std::string>> names_ = {{}};
  std::map<std::vector<std::string>, std::uint32_t> known_ = {{{}, 0}};
};

}  // namespace cupel::engines
