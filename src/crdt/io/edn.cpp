// EDN: the JSON value for each part of an EDN value.
#include "crdt/io/edn.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text/edn.hpp"
#include "base/text/json.hpp"
#include "base/utf8.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;

class JsonBuilder {
 public:
  using Value = Json;
  static constexpr std::string_view kInput = "line";

  explicit JsonBuilder(base::Error& error) : error_(&error) {}

  bool fail(std::uint64_t byte, std::string message) {
    *error_ = {.message = std::move(message), .byte = byte};
    return false;
  }
  static Json null() { return {}; }
  static Json integer(std::int64_t value) { return value; }
  bool string(std::string_view text, bool /*borrowed*/, std::size_t byte, Json& out) {
    // An invalid byte would break every text that quotes it.
    for (auto rest = text; !rest.empty();) {
      const auto length = base::utf8_length(rest);
      if (length == 0) return fail(byte, "found a word that is no UTF-8");
      rest.remove_prefix(length);
    }
    out = text;
    return true;
  }
  bool keyword(std::string_view name, bool /*borrowed*/, std::size_t byte, Json& out) {
    return string(name, true, byte, out);
  }
  bool symbol(std::string_view word, bool /*borrowed*/, std::size_t byte, Json& out) {
    if (word == "true" || word == "false") {
      out = word == "true";
      return true;
    }
    return string(word, true, byte, out);
  }
  bool number(std::string_view digits, std::string_view word, std::size_t byte, Json& out) {
    if (auto reason = text::beyond_bounds(digits)) return fail(byte, std::move(*reason));
    out = Json::parse(digits, nullptr, false);
    return out.is_number() ||
           fail(byte,
                fmt::format("found the number `{}`, expected a whole or a decimal one", word));
  }
  // A record such as #jepsen.history.Op{…}.
  bool tagged(std::string_view tag, Json inner, std::size_t byte, Json& out) {
    if (!inner.is_object())
      return fail(byte, fmt::format("found `#{}`, expected a set or a record", tag));
    out = std::move(inner);
    return true;
  }
  static bool vector(std::span<Json> elements, Json& out) {
    out = Json::array();
    for (Json& element : elements) out.push_back(std::move(element));
    return true;
  }
  static bool set(std::span<Json> elements, std::size_t /*byte*/, Json& out) {
    return vector(elements, out);
  }
  bool map(std::span<Json> entries, std::size_t byte, Json& out) {
    out = Json::object();
    for (std::size_t i = 0; i < entries.size(); i += 2) {
      const Json& key = entries[i];
      auto name = key.is_string() ? key.get<std::string>() : text::dump(key);
      if (out.contains(name))
        return fail(byte, fmt::format("found the key {} twice in one map, expected it once",
                                      text::dump_excerpt(key)));
      out[std::move(name)] = std::move(entries[i + 1]);
    }
    return true;
  }

 private:
  base::Error* error_;
};

}  // namespace

base::Result<Json> parse_edn(std::string_view line) {
  base::Error error;
  text::EdnScanner scanner(line, JsonBuilder(error));
  Json out(Json::value_t::discarded);
  if (!scanner.skip_discards()) return error;
  if (scanner.at_end()) return out;
  if (!scanner.value(out) || !scanner.skip_discards()) return error;
  if (scanner.at_end()) return out;
  scanner.fail(
      scanner.position(),
      fmt::format("found `{}` after the value, expected one EDN map a line", scanner.token()));
  return error;
}

}  // namespace cupel::crdt
