// The phrases: see the header.
#include "data/history/naming.hpp"

#include <algorithm>
#include <cctype>

#include "base/visible.hpp"

namespace cupel::history {

namespace {

constexpr std::size_t kLongest = 48;

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return base::visible(result + '"');
}

// Would a reader take it for a name: not for a number, null, a keyword, a phrase?
bool is_word(std::string_view text) {
  const auto plain = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || std::isalnum(byte) ||
           std::string_view("_-./:@#$").find(c) != std::string_view::npos;
  };
  if (text.empty() || text == "null" || text == "true" || text == "false") return false;
  const auto first = static_cast<unsigned char>(text.front());
  return (first >= 0x80 || std::isalpha(first) || text.front() == '_') &&
         std::all_of(text.begin(), text.end(), plain) && base::visible(text) == text;
}

}  // namespace

std::string cut(std::string text) {
  if (text.size() <= kLongest) return text;
  std::size_t end = kLongest - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  return text + "...";
}

std::string ordinal(std::size_t number) {
  const auto tens = number % 100;
  const char* suffix = "th";
  if (tens < 11 || tens > 13) {
    if (number % 10 == 1) suffix = "st";
    if (number % 10 == 2) suffix = "nd";
    if (number % 10 == 3) suffix = "rd";
  }
  return std::to_string(number) + suffix;
}

std::string transaction_name(const History& history, TxnId txn) {
  return txn.valid() ? "T" + std::to_string(history.label(txn)) : "the initial state";
}

std::string transaction_place(const History& history, TxnId txn) {
  return "session " + session_text(history, history.session(txn)) + ", its " +
         ordinal(history.place(txn)) + " transaction";
}

std::string transaction_in_full(const History& history, TxnId txn) {
  return transaction_name(history, txn) + " (" + transaction_place(history, txn) + ")";
}

std::string session_text(const History& history, SessionId session) {
  return cut(base::visible(history.session_name(session)));
}

std::string shown(ScalarView scalar) {
  if (scalar.kind != ScalarKind::kString) return cut(base::visible(scalar.to_string()));
  const std::string whole(scalar.text);
  const std::string begun = cut(whole);
  if (begun == whole) return quoted(whole);
  return quoted(std::string_view(begun).substr(0, begun.size() - 3)) + "...";
}

std::string shown_key(ScalarView scalar) {
  return scalar.kind == ScalarKind::kString && is_word(scalar.text) ? cut(scalar.to_string())
                                                                    : shown(scalar);
}

}  // namespace cupel::history
