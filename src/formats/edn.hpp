// EDN values as a chunk's cells: nil, numbers, strings, keywords, vectors and lists; everything
// else (maps, sets, symbols, characters, tagged values) is kept as canonical text.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "formats/jepsen_events.hpp"
#include "text/edn.hpp"

namespace cupel::formats {

class CellBuilder {
 public:
  using Value = jepsen::Cell;
  static constexpr std::string_view kInput = "file";

  explicit CellBuilder(jepsen::Chunk& chunk) : chunk_(&chunk) {}
  // Further values go into this chunk.
  void use(jepsen::Chunk& chunk) { chunk_ = &chunk; }

  bool fail(std::uint64_t byte, std::string message) {
    return chunk_->fail(byte, std::move(message));
  }
  static Value null() { return Value::null(); }
  static Value integer(std::int64_t value) { return Value::of(value); }
  bool string(std::string_view text, bool borrowed, std::size_t /*byte*/, Value& out) {
    out = Value::of(jepsen::Tag::kString, borrowed ? text : chunk_->keep(text));
    return true;
  }
  static bool keyword(std::string_view name, std::size_t /*byte*/, Value& out) {
    out = Value::of(jepsen::Tag::kKeyword, name);
    return true;
  }
  static bool symbol(std::string_view word, std::size_t /*byte*/, Value& out) {
    out = Value::of(jepsen::Tag::kLiteral, word);
    return true;
  }
  bool vector(std::span<Value> elements, Value& out) {
    out = chunk_->make_vector(elements.data(), elements.size());
    return true;
  }
  bool number(std::string_view digits, std::string_view word, std::size_t byte, Value& out);
  bool tagged(std::string_view tag, Value inner, std::size_t byte, Value& out);
  bool set(std::span<Value> elements, Value& out);
  bool map(std::span<Value> entries, Value& out);

 private:
  bool sorted(std::string_view open, std::vector<std::string> texts, jepsen::Tag tag, Value& out);

  jepsen::Chunk* chunk_;
};

class EdnReader : public text::EdnScanner<CellBuilder> {
 public:
  EdnReader(std::string_view bytes, jepsen::Chunk& chunk) : EdnScanner(bytes, CellBuilder(chunk)) {}
};

}  // namespace cupel::formats

extern template class cupel::text::EdnScanner<cupel::formats::CellBuilder>;
