// Comments apart, blanks made one; see the header.
#include "mock/mocktest/statement_lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/mock/store.hpp"

namespace cupel::mocktest {

namespace {

constexpr std::size_t kLongestText = 140, kLongestSource = 60;

bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// Without blanks at its ends, and one between words.
std::string squeezed(std::string_view text) {
  std::string made;
  for (const char c : text) {
    if (!is_blank(c)) {
      made += c;
    } else if (!made.empty() && made.back() != ' ') {
      made += ' ';
    }
  }
  while (!made.empty() && (made.back() == ' ' || made.back() == ';')) made.pop_back();
  return made;
}

std::string cut(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  return text + "…";
}

struct Parts {
  std::string text;
  std::vector<std::string> comments;
};

// The end of what begins at `at` with a quotation mark, or the end of the text.
std::size_t end_of_quoted(std::string_view sql, std::size_t at) {
  const auto end = sql.find(sql[at], at + 1);
  return end == sql.npos ? sql.size() : end + 1;
}

// A statement that was cut may end in a comment or in quotation marks.
Parts parts_of(std::string_view sql) {
  Parts parts;
  for (std::size_t at = 0; at < sql.size();) {
    const auto rest = sql.substr(at);
    std::size_t end = at + 1;
    if (rest[0] == '\'' || rest[0] == '"' || rest[0] == '`') {
      end = end_of_quoted(sql, at);
      parts.text += sql.substr(at, end - at);
    } else if (rest.starts_with("--")) {
      end = std::min(sql.find('\n', at), sql.size());
      parts.comments.push_back(squeezed(sql.substr(at + 2, end - at - 2)));
      parts.text += ' ';
    } else if (rest.starts_with("/*")) {
      const auto close = std::min(sql.find("*/", at + 2), sql.size());
      end = std::min(close + 2, sql.size());
      parts.comments.push_back(squeezed(sql.substr(at + 2, close - at - 2)));
      parts.text += ' ';
    } else {
      parts.text += rest[0];
    }
    at = end;
  }
  return parts;
}

std::optional<int> digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

// URL encoding, and \' for a quotation mark.
std::string decoded(std::string_view value) {
  std::string made;
  for (std::size_t at = 0; at < value.size(); ++at) {
    const auto high = at + 2 < value.size() ? digit(value[at + 1]) : std::nullopt;
    const auto low = at + 2 < value.size() ? digit(value[at + 2]) : std::nullopt;
    if (value[at] == '%' && high && low) {
      made += static_cast<char>(*high * 16 + *low);
      at += 2;
    } else if (value[at] != '\\') {
      made += value[at];
    }
  }
  // What is no text of one line stays encoded.
  const bool printable = std::none_of(made.begin(), made.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' || c == 127;
  });
  return printable ? made : std::string(value);
}

// key='value',key='value' of sqlcommenter; nullopt: it is another comment.
std::optional<std::map<std::string, std::string>> tags_of(std::string_view comment) {
  std::map<std::string, std::string> tags;
  while (true) {
    while (!comment.empty() && (comment[0] == ' ' || comment[0] == ',')) comment.remove_prefix(1);
    if (comment.empty()) break;
    const auto equals = comment.find("='");
    if (equals == comment.npos || equals == 0) return std::nullopt;
    auto end = equals + 2;
    while (end < comment.size() && comment[end] != '\'') end += comment[end] == '\\' ? 2 : 1;
    if (end >= comment.size()) return std::nullopt;
    tags[decoded(comment.substr(0, equals))] =
        decoded(comment.substr(equals + 2, end - equals - 2));
    comment.remove_prefix(end + 1);
  }
  return tags.empty() ? std::nullopt : std::optional(tags);
}

// "shop/views.py:12", where the tags name a file.
std::string place_in(const std::map<std::string, std::string>& tags) {
  const auto first_of = [&](std::initializer_list<const char*> names) -> std::string {
    for (const auto* name : names) {
      const auto found = tags.find(name);
      if (found != tags.end()) return found->second;
    }
    return {};
  };
  const auto file = first_of({"file", "filepath", "file_name", "source_location"});
  const auto line = first_of({"line", "lineno", "line_number"});
  if (!file.empty()) return line.empty() ? file : file + ":" + line;
  std::vector<std::string> all;
  for (const auto& [name, value] : tags) all.push_back(name + "=" + value);
  return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace

std::string statement_line(std::string_view sql) {
  std::string parameters;
  if (!sql.empty() && sql.front() == mock::kParametersMark) {
    const auto end = std::min(sql.find(mock::kParametersMark, 1), sql.size());
    parameters = cut(squeezed(sql.substr(1, end - 1)), kLongestText);
    sql.remove_prefix(std::min(end + 1, sql.size()));
  }
  const auto parts = parts_of(sql);
  std::vector<std::string> sources;
  for (const auto& comment : parts.comments) {
    const auto tags = tags_of(comment);
    const auto source = tags ? place_in(*tags) : comment;
    if (!source.empty()) sources.push_back(source);
  }
  auto line = cut(squeezed(parts.text), kLongestText);
  if (!parameters.empty()) line += " [" + parameters + "]";
  if (sources.empty()) return line;
  const auto source = cut(fmt::format("{}", fmt::join(sources, ", ")), kLongestSource);
  return line + (line.empty() ? "-- " : " -- ") + source;
}

explain::FieldsByLabel statement_fields(
    const std::map<std::uint32_t, std::vector<std::string>>& statements) {
  explain::FieldsByLabel fields;
  for (const auto& [label, texts] : statements) {
    for (const auto& text : texts) {
      auto line = statement_line(text);
      if (!line.empty()) {
        fields[label].emplace_back(std::string(explain::kStatementField), std::move(line));
      }
    }
  }
  return fields;
}

}  // namespace cupel::mocktest
