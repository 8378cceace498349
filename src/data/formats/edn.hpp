// EDN values as a chunk's cells: nil, numbers, strings, keywords, vectors and lists; everything
// else (maps, sets, symbols, characters, tagged values) is kept as canonical text.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/edn.hpp"
#include "data/formats/jepsen_events.hpp"

namespace cupel::formats {

class CellBuilder {
 public:
  using Value = jepsen::Cell;
  static constexpr std::string_view kInput = "file";

  // The size of a cell has 32 bits; another limit is for tests.
  static constexpr std::size_t kMostText = 0xffffffff;

  explicit CellBuilder(jepsen::Chunk& chunk, std::size_t most_text = kMostText)
      : chunk_(&chunk), most_text_(most_text) {}
  // Further values go into this chunk.
  void use(jepsen::Chunk& chunk) { chunk_ = &chunk; }

  bool fail(std::uint64_t byte, std::string message) {
    return chunk_->fail(byte, std::move(message));
  }
  static Value null() { return Value::null(); }
  static Value integer(std::int64_t value) { return Value::of(value); }
  bool string(std::string_view text, bool borrowed, std::size_t byte, Value& out) {
    return cell(jepsen::Tag::kString, text, borrowed, byte, out);
  }
  bool keyword(std::string_view name, bool borrowed, std::size_t byte, Value& out) {
    return cell(jepsen::Tag::kKeyword, name, borrowed, byte, out);
  }
  bool symbol(std::string_view word, bool borrowed, std::size_t byte, Value& out) {
    return cell(jepsen::Tag::kLiteral, word, borrowed, byte, out);
  }
  bool vector(std::span<Value> elements, Value& out) {
    out = chunk_->make_vector(elements.data(), elements.size());
    return true;
  }
  bool number(std::string_view digits, std::string_view word, std::size_t byte, Value& out);
  bool tagged(std::string_view tag, Value inner, std::size_t byte, Value& out);
  bool set(std::span<Value> elements, std::size_t byte, Value& out);
  bool map(std::span<Value> entries, std::size_t byte, Value& out);

 private:
  bool distinct(std::vector<std::string> texts, std::string_view what, std::size_t byte);
  bool ratio(std::string_view digits, std::size_t byte, Value& out);
  bool sorted(std::string_view open, std::vector<std::string> texts, jepsen::Tag tag,
              std::size_t byte, Value& out);
  bool cell(jepsen::Tag tag, std::string_view text, bool borrowed, std::size_t byte, Value& out) {
    if (text.size() > most_text_) return too_long(byte);
    out = Value::of(tag, borrowed ? text : chunk_->keep(text));
    return true;
  }
  bool too_long(std::size_t byte);

  jepsen::Chunk* chunk_;
  std::size_t most_text_;
};

class EdnReader : public text::EdnScanner<CellBuilder> {
 public:
  EdnReader(std::string_view bytes, jepsen::Chunk& chunk,
            std::size_t most_text = CellBuilder::kMostText)
      : EdnScanner(bytes, CellBuilder(chunk, most_text)) {}
};

}  // namespace cupel::formats

extern template class cupel::text::EdnScanner<cupel::formats::CellBuilder>;
