// Reader of EDN values into a chunk's cells: nil, numbers, strings, keywords,
// vectors and lists; everything else (maps, sets, symbols, characters, tagged
// values) is kept as canonical text. Comments and #_ discards are passed over.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/jepsen_events.hpp"

namespace cupel::formats {

class EdnReader {
 public:
  EdnReader(std::string_view bytes, jepsen::Chunk& chunk) : bytes_(bytes), chunk_(&chunk) {}

  // Further values go into this chunk.
  void use(jepsen::Chunk& chunk) { chunk_ = &chunk; }

  // One value; false after setting the chunk's error. `depth` collections are open.
  bool value(jepsen::Cell& out, int depth = 0);

  // Passes over white space, commas and comments.
  void skip();
  [[nodiscard]] bool at_end() const { return at_ >= bytes_.size(); }
  [[nodiscard]] char peek() const { return bytes_[at_]; }
  void advance(std::size_t count = 1) { at_ += count; }
  [[nodiscard]] std::size_t position() const { return at_; }
  // A bare word: everything up to white space, a bracket, a quote or a comment.
  std::string_view token();
  bool fail(std::size_t byte, std::string message) {
    return chunk_->fail(byte, std::move(message));
  }

 private:
  bool string(jepsen::Cell& out);
  bool sequence(char close, int depth, jepsen::Cell& out);
  bool map_or_set(bool map, int depth, jepsen::Cell& out);
  bool dispatch(int depth, jepsen::Cell& out);
  bool word(jepsen::Cell& out);

  std::string_view bytes_;
  std::size_t at_ = 0;
  jepsen::Chunk* chunk_;
};

}  // namespace cupel::formats
