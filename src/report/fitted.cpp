// Paragraph by paragraph: see the header. Nothing marks the lines that continue another one. A line
// does if its first word would not have fitted on the line before, which is how they were broken.
#include "report/fitted.hpp"

#include <algorithm>
#include <vector>

#include "engine/explain/why/layout.hpp"

namespace cupel::report {

namespace {

constexpr std::size_t kBrokenAt = explain::kTextWidth + 2;  // reports indent explanations by two
constexpr std::size_t kHanging = 4;

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

// The word and what breaking keeps together with it: broken at one column, it stands alone.
std::size_t first_word(std::string_view line) {
  const auto one = explain::broken(line.substr(indent_of(line)), 0, 0, 1);
  return explain::columns(std::string_view(one).substr(0, one.find('\n')));
}

// Where the last column of a table begins; 0: the line has one column.
std::size_t last_column(std::string_view line) {
  const auto gap = line.rfind("  ");
  return gap == std::string_view::npos || gap < indent_of(line) ? 0 : gap + 2;
}

bool continues(std::string_view before, std::string_view line, std::size_t indent,
               std::size_t hanging) {
  const auto own = indent_of(line);
  // Reports indent what they broke.
  if (indent == 0 || own == line.size() || own <= indent || (hanging != 0 && own != hanging))
    return false;
  // "Let:" and "Interleaving:" head what is below them.
  const auto words = line.substr(own);
  if (words.ends_with(':') && words.find(' ') == std::string_view::npos) return false;
  // Breaking leaves one space between two words, so a line with columns is a row of a table.
  if (last_column(line) != 0) return false;
  const auto used = explain::columns(before);
  // A line that is too long itself was not broken: it is a text of its own.
  return used <= kBrokenAt && used + 1 + first_word(line) > kBrokenAt;
}

std::string broken_row(std::string_view line, std::size_t hanging, std::size_t columns) {
  const auto indent = indent_of(line);
  const auto last = last_column(line);
  const auto rest = line.substr(last == 0 ? indent : last);
  const auto before = line.substr(0, last == 0 ? indent : last);
  const auto used = explain::columns(before);
  if (last == 0 || used * 5 <= columns * 3) {
    if (hanging == 0) hanging = last == 0 ? indent + (indent == 0 ? 2 : kHanging) : used;
    return std::string(before) + explain::broken(rest, hanging, used, columns);
  }
  // A column too far to the right begins a line of its own.
  const auto end = before.find_last_not_of(' ') + 1;
  return broken_row(before.substr(0, end), indent + kHanging, columns) + '\n' +
         std::string(indent + kHanging, ' ') +
         explain::broken(rest, indent + kHanging, indent + kHanging, columns);
}

}  // namespace

std::string fitted(std::string_view text, std::size_t columns) {
  std::vector<std::string_view> lines;
  for (std::size_t from = 0; from < text.size();) {
    const auto end = std::min(text.find('\n', from), text.size());
    lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  std::string out;
  for (std::size_t i = 0; i < lines.size();) {
    const auto indent = indent_of(lines[i]);
    std::string whole(lines[i]);
    std::size_t next = i + 1, hanging = 0;
    for (; next < lines.size() && continues(lines[next - 1], lines[next], indent, hanging);
         ++next) {
      hanging = indent_of(lines[next]);
      (whole += ' ') += lines[next].substr(hanging);
    }
    const bool fits = std::all_of(lines.begin() + static_cast<std::ptrdiff_t>(i),
                                  lines.begin() + static_cast<std::ptrdiff_t>(next),
                                  [&](auto line) { return explain::columns(line) <= columns; });
    if (fits || whole.find('\t') != std::string::npos) {
      for (; i < next; ++i) (out += lines[i]) += '\n';
    } else {
      (out += broken_row(whole, hanging, columns)) += '\n';
    }
    i = next;
  }
  if (!text.empty() && text.back() != '\n') out.pop_back();
  return out;
}

}  // namespace cupel::report
