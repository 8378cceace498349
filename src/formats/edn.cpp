// What a chunk keeps of EDN: see the header. The text of a map or a set is sorted, so that two
// ways to print it are one scalar.
#include "formats/edn.hpp"

#include <absl/strings/charconv.h>

#include <algorithm>
#include <cmath>

template class cupel::text::EdnScanner<cupel::formats::CellBuilder>;

namespace cupel::formats {

using jepsen::Cell;
using jepsen::Tag;

namespace {

std::string clipped(std::string_view text) {
  return text.size() <= 40 ? std::string(text) : std::string(text.substr(0, 40)) + "…";
}

}  // namespace

bool CellBuilder::sorted(std::string_view open, std::vector<std::string> texts, Tag tag,
                         Cell& out) {
  std::sort(texts.begin(), texts.end());
  std::string text(open);
  for (std::size_t i = 0; i < texts.size(); ++i) text += (i == 0 ? "" : " ") + texts[i];
  out = Cell::of(tag, chunk_->keep(text + "}"));
  return true;
}

bool CellBuilder::set(std::span<Cell> elements, Cell& out) {
  std::vector<std::string> texts(elements.size());
  for (std::size_t i = 0; i < texts.size(); ++i) canonical(*chunk_, elements[i], texts[i]);
  return sorted("#{", std::move(texts), Tag::kLiteral, out);
}

bool CellBuilder::map(std::span<Cell> entries, Cell& out) {
  std::vector<std::string> texts(entries.size() / 2);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    canonical(*chunk_, entries[2 * i], texts[i]);
    texts[i] += ' ';
    canonical(*chunk_, entries[2 * i + 1], texts[i]);
  }
  return sorted("{", std::move(texts), Tag::kMap, out);
}

bool CellBuilder::tagged(std::string_view tag, Cell inner, std::size_t /*byte*/, Cell& out) {
  // Our own, for what other formats' keys and values need.
  if ((tag == "cupel/literal" || tag == "cupel/keyword") && inner.tag == Tag::kString) {
    out = inner;
    out.tag = tag == "cupel/literal" ? Tag::kLiteral : Tag::kKeyword;
    return true;
  }
  std::string text = "#" + std::string(tag) + " ";
  canonical(*chunk_, inner, text);
  out = Cell::of(inner.tag == Tag::kMap ? Tag::kMap : Tag::kLiteral, chunk_->keep(text));
  return true;
}

bool CellBuilder::number(std::string_view number, std::string_view word, std::size_t byte,
                         Cell& out) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const char* const first = number.data();
  const char* const last = first + number.size();
  const auto whole_end = std::find_if_not(first + (*first == '-'), last, is_digit);
  if (whole_end == last || (whole_end + 1 == last && *whole_end == 'N')) {  // beyond 64 bits
    std::string digits(first, whole_end);
    const auto zeros = digits.find_first_not_of('0', digits[0] == '-');
    digits.erase(digits[0] == '-', zeros - (digits[0] == '-'));
    out = Cell::of(Tag::kLiteral, chunk_->keep(digits + "N"));
    return true;
  }
  double real = 0;
  const auto parsed = absl::from_chars(first, last, real);
  if (parsed.ptr == last) {
    out = Cell::of(Tag::kLiteral, parsed.ec == std::errc() && std::isfinite(real)
                                      ? chunk_->keep(jepsen::canonical_double(real))
                                      : word);
    return true;
  }
  // A ratio or a decimal: kept as written.
  const bool ratio_or_decimal = std::all_of(first, last, [&](char c) {
    return is_digit(c) || std::string_view("/.MeE-+").find(c) != std::string_view::npos;
  });
  if (ratio_or_decimal) {
    out = Cell::of(Tag::kLiteral, word);
    return true;
  }
  return fail(byte, "found " + clipped(word) + ", expected a number");
}

}  // namespace cupel::formats
