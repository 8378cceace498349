// EDN: a recursive descent over one value.
#include "crdt/io/edn.hpp"

#include <fmt/format.h>

#include <charconv>

#include "text/depth.hpp"
#include "text/json.hpp"

namespace cupel::crdt {

namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  base::Result<nlohmann::json> whole() {
    nlohmann::json out;
    if (!value(out, 0)) return error_;
    skip();
    if (at_ < text_.size())
      return failed(fmt::format("found `{}` after the value, expected one EDN map a line", word()));
    return out;
  }

 private:
  base::Error failed(std::string message) { return {.message = std::move(message), .byte = at_}; }
  bool fail(std::string message) {
    error_ = failed(std::move(message));
    return false;
  }
  void skip() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == ',' || c == '\r' || c == '\n')
        ++at_;
      else if (c == ';')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else
        break;
    }
  }
  std::string_view word() {
    const auto end = std::min(text_.find_first_of(" \t\r\n,;()[]{}\"", at_), text_.size());
    const auto found = text_.substr(at_, end - at_);
    return found;
  }
  bool sequence(char close, nlohmann::json& out, int depth) {
    if (depth > text::kMaxDepth)
      return fail(fmt::format("found more than {} collections within each other", text::kMaxDepth));
    out = nlohmann::json::array();
    while (true) {
      skip();
      if (at_ >= text_.size())
        return fail(fmt::format("the line ends where `{}` was expected", close));
      if (text_[at_] == close) return ++at_, true;
      nlohmann::json element;
      if (!value(element, depth)) return false;
      out.push_back(std::move(element));
    }
  }
  bool map(nlohmann::json& out, int depth) {
    nlohmann::json flat;
    if (!sequence('}', flat, depth)) return false;
    if (flat.size() % 2 != 0) return fail("found a map with a key without a value");
    out = nlohmann::json::object();
    for (std::size_t i = 0; i < flat.size(); i += 2) {
      out[flat[i].is_string() ? flat[i].get<std::string>() : text::dump(flat[i])] = flat[i + 1];
    }
    return true;
  }
  bool string(nlohmann::json& out) {
    const auto begin = at_++;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    if (at_ >= text_.size()) return fail("found a string without its end");
    ++at_;
    out = nlohmann::json::parse(text_.substr(begin, at_ - begin), nullptr, false);
    if (!out.is_string())
      return fail("found a string with an escape that EDN does not have, or that is no UTF-8");
    return true;
  }
  bool value(nlohmann::json& out, int depth) {
    skip();
    if (at_ >= text_.size()) return fail("the line ends where a value was expected");
    const char c = text_[at_];
    if (c == '[' || c == '(') return ++at_, sequence(c == '[' ? ']' : ')', out, depth + 1);
    if (c == '{') return ++at_, map(out, depth + 1);
    if (c == '"') return string(out);
    if (c == '#') {
      if (text_.substr(at_, 2) == "#{") return at_ += 2, sequence('}', out, depth + 1);
      ++at_;
      const auto tag = word();  // a record such as #jepsen.history.Op{…}
      if (tag.empty() || at_ + tag.size() >= text_.size() || text_[at_ + tag.size()] != '{') {
        return fail(fmt::format("found `#{}`, expected a set or a record", tag));
      }
      at_ += tag.size() + 1;
      return map(out, depth + 1);
    }
    const auto found = word();
    if (found.empty()) return fail(fmt::format("found `{}`, expected a value", c));
    at_ += found.size();
    if (found == "nil")
      out = nullptr;
    else if (found == "true" || found == "false")
      out = found == "true";
    else if (found[0] == ':')
      out = std::string(found.substr(1));
    else if ((found[0] >= '0' && found[0] <= '9') ||
             (found.size() > 1 && (found[0] == '-' || found[0] == '+') && found[1] >= '0' &&
              found[1] <= '9')) {
      auto digits = found.substr(found[0] == '+' ? 1 : 0);
      std::int64_t number = 0;
      const auto [end, wrong] =
          std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (wrong == std::errc() && end == digits.data() + digits.size()) {
        out = number;
      } else {
        if (auto reason = text::beyond_bounds(digits)) return fail(std::move(*reason));
        out = nlohmann::json::parse(digits, nullptr, false);
        if (!out.is_number())
          return fail(
              fmt::format("found the number `{}`, expected a whole or a decimal one", found));
      }
    } else {
      out = std::string(found);
    }
    // An invalid byte would break every text that quotes it.
    if (out.is_string() && nlohmann::json::parse(text::dump(out), nullptr, false) != out) {
      return fail("found a word that is no UTF-8");
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  base::Error error_;
};

}  // namespace

base::Result<nlohmann::json> parse_edn(std::string_view text) {
  return Parser(text).whole();
}

}  // namespace cupel::crdt
