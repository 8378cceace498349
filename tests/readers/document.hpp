// Documents: values that JSON and EDN share, and writers of both that know nothing of the
// product's. A writer may choose at random among the spellings that mean the same: white space,
// escapes, comments, lists for vectors, the order of the members of a map.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "data/history/scalar.hpp"

namespace cupel::test {

struct Document {
  enum class Kind : std::uint8_t {
    kNull,
    kBoolean,  // integer
    kInteger,
    kNumber,  // a double or a large integer: spellings
    kString,
    kKeyword,
    kLiteral,  // any other EDN: text, as it is kept; JSON {"literal": text}
    kVector,
    kMap,  // members
  };
  Kind kind = Kind::kNull;
  std::int64_t integer = 0;
  std::string text = {};                         // of a number: as it is kept
  std::vector<std::string> json = {}, edn = {};  // spellings of a number or a literal
  std::vector<Document> items = {};
  std::vector<std::pair<std::string, Document>> members = {};

  static Document null() { return {}; }
  static Document of(std::int64_t value) { return {.kind = Kind::kInteger, .integer = value}; }
  static Document boolean(bool value) { return {.kind = Kind::kBoolean, .integer = value}; }
  static Document of(std::string_view text) {
    return {.kind = Kind::kString, .text = std::string(text)};
  }
  static Document keyword(std::string_view name) {
    return {.kind = Kind::kKeyword, .text = std::string(name)};
  }
  static Document literal(std::string_view text, std::vector<std::string> edn = {}) {
    return {.kind = Kind::kLiteral, .text = std::string(text), .edn = std::move(edn)};
  }
  static Document number(std::string_view text, std::vector<std::string> json,
                         std::vector<std::string> edn) {
    return {.kind = Kind::kNumber,
            .text = std::string(text),
            .json = std::move(json),
            .edn = std::move(edn)};
  }
  static Document vector(std::vector<Document> items) {
    return {.kind = Kind::kVector, .items = std::move(items)};
  }
  static Document map(std::vector<std::pair<std::string, Document>> members) {
    return {.kind = Kind::kMap, .members = std::move(members)};
  }
};

// The text by which cupel keeps a value that is no scalar: maps sorted, one blank between elements.
std::string canonical_text(const Document& document);
// As a key or a value of a history; `text` holds the text that is not the document's own.
history::ScalarView scalar_of(const Document& document, std::string& text);

struct Style {
  base::Random* random = nullptr;  // none: the plain spelling
  bool one_line = true;            // no line feed between tokens
  bool string_names = true;        // EDN: a name of a member may be a string
  bool tags = true;                // EDN: a discarded form may have a tag
};

std::string to_json(const Document& document, Style style = {});
std::string to_edn(const Document& document, Style style = {});
// The fields of an operation map: in EDN, its names and words are keywords or strings.
std::string op_map_to_edn(const Document& map, Style style = {});

// Of JSON text: one value. None: it is not JSON, or has a number or a text that EDN writes
// otherwise.
std::optional<Document> document_of(std::string_view json);

}  // namespace cupel::test
