// Escaping and numbers; on the path of every recorded operation.
#include "data/record/json_text.hpp"

#include <simdjson.h>

#include <algorithm>
#include <charconv>

namespace cupel::record {

namespace {

constexpr char kHex[] = "0123456789abcdef";

bool plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

void append_escaped(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace

void append_json(std::string& out, std::int64_t integer) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, integer).ptr;
  out.append(digits, end);
}

void append_json(std::string& out, std::string_view text) {
  if (std::all_of(text.begin(), text.end(), plain)) {
    out += '"';
    out += text;
    out += '"';
    return;
  }
  if (simdjson::validate_utf8(text.data(), text.size())) return append_escaped(out, text);
  out += "\"x'";
  for (const char c : text) {
    out += kHex[static_cast<unsigned char>(c) >> 4];
    out += kHex[static_cast<unsigned char>(c) & 15];
  }
  out += "'\"";
}

void append_json(std::string& out, const Scalar& scalar) {
  if (const auto* integer = std::get_if<std::int64_t>(&scalar)) {
    append_json(out, *integer);
  } else if (const auto* text = std::get_if<std::string>(&scalar)) {
    append_json(out, std::string_view(*text));
  } else {
    out += "null";
  }
}

}  // namespace cupel::record
