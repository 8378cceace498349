// Scalars: what a key or a value can be, interned into dense ids.
//
// A history holds each distinct key and each distinct value once, in a
// ScalarTable; operations hold 4-byte ids. Equality of ids is equality of
// scalars: the integer 1 and the string "1" differ.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"

namespace cupel::history {

enum class ScalarKind : std::uint8_t {
  kNull,     // null, nil, absent
  kInteger,  // signed, 64 bits
  kString,
  kKeyword,  // an EDN keyword, without its colon
  kLiteral,  // anything else, kept as it was written: true, 1.5, #inst "…"
};

// A borrowed scalar. `text` is unused for kNull and kInteger, `integer` for the rest.
struct ScalarView {
  ScalarKind kind = ScalarKind::kNull;
  std::int64_t integer = 0;
  std::string_view text = {};

  static ScalarView null() { return {}; }
  static ScalarView of(std::int64_t value) { return {ScalarKind::kInteger, value, {}}; }
  static ScalarView of(std::string_view value) { return {ScalarKind::kString, 0, value}; }
  static ScalarView keyword(std::string_view name) { return {ScalarKind::kKeyword, 0, name}; }
  static ScalarView literal(std::string_view text) { return {ScalarKind::kLiteral, 0, text}; }

  // Total order: by kind, then numerically or byte by byte. Range reads use it.
  friend bool operator<(const ScalarView& a, const ScalarView& b) {
    if (a.kind != b.kind) return a.kind < b.kind;
    if (a.kind == ScalarKind::kInteger) return a.integer < b.integer;
    return a.text < b.text;
  }
  friend bool operator==(const ScalarView& a, const ScalarView& b) = default;

  // As shown to people: null, 7, abc, :abc. Not quoted.
  [[nodiscard]] std::string to_string() const;
};

// Dense ids 0, 1, 2 … in order of first interning. 9 bytes an integer; text is
// held once in an arena. The lookup index exists only while building.
class ScalarTable {
 public:
  ScalarTable();
  ~ScalarTable();
  ScalarTable(ScalarTable&&) noexcept;
  ScalarTable& operator=(ScalarTable&&) noexcept;
  ScalarTable(const ScalarTable& other);  // without the index
  ScalarTable& operator=(const ScalarTable& other);

  std::uint32_t intern(ScalarView scalar);
  std::uint32_t intern(std::int64_t integer);
  // Also once the index has been dropped: then linear.
  std::uint32_t find_or_add(ScalarView scalar);
  // Soon to be interned: brings its place in the lookup index near.
  void prefetch(std::int64_t integer) const;

  [[nodiscard]] std::size_t size() const { return kinds_.size(); }
  [[nodiscard]] ScalarView at(std::uint32_t id) const;
  // Linear once the index has been dropped, else constant.
  [[nodiscard]] std::optional<std::uint32_t> find(ScalarView scalar) const;

  void drop_index();
  [[nodiscard]] std::uint64_t resident_bytes() const;

 private:
  std::uint32_t add(ScalarView scalar);  // which is not there yet

  struct Index;
  std::vector<ScalarKind> kinds_;
  std::vector<std::uint64_t> payload_;   // the integer, or an index into text_end_
  std::vector<std::uint64_t> text_end_;  // text i is arena_[text_end_[i-1] .. text_end_[i])
  std::vector<char> arena_;
  std::unique_ptr<Index> index_;
};

}  // namespace cupel::history
