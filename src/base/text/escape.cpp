// Escapes: see the header. The Markdown is GitHub's dialect, which is the common one.
#include "base/text/escape.hpp"

#include <algorithm>
#include <cctype>

#include "base/utf8.hpp"
#include "base/visible.hpp"

namespace cupel::text {

namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20;
}

// Character by character; each that is not plain and no control of ASCII becomes U+FFFD.
template <typename Append>
void each_character(std::string_view text, Append append) {
  while (!text.empty()) {
    const auto [length, plain] = base::first_character(text);
    const auto character = text.substr(0, length);
    append(plain || is_control(character[0]) ? character : kReplacement);
    text.remove_prefix(length);
  }
}

std::string without_breaks(std::string_view text) {
  std::string line;
  each_character(text, [&](std::string_view c) { line += is_control(c[0]) ? " " : c; });
  return line;
}

std::size_t longest_run(std::string_view text, char c) {
  std::size_t longest = 0, run = 0;
  for (const char at : text) {
    run = at == c ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

}  // namespace

std::string as_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const auto length = base::utf8_length(text);
    valid += length == 0 ? kReplacement : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return valid;
}

std::string_view markup_entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    default:
      return {};
  }
}

std::string in_markup(std::string_view text, std::string_view kept) {
  std::string out;
  each_character(text, [&](std::string_view c) {
    if (const auto entity = markup_entity(c[0]); !entity.empty()) {
      out += entity;
    } else {
      out += is_control(c[0]) && kept.find(c[0]) == std::string_view::npos ? " " : c;
    }
  });
  return out;
}

std::string xml_text(std::string_view text) {
  std::string out;
  each_character(text, [&](std::string_view c) {
    if (const auto entity = markup_entity(c[0]); !entity.empty()) {
      out += entity;
    } else if (c == "\n" || c == "\t" || c == "\r") {
      out += "&#" + std::to_string(int{c[0]}) + ";";
    } else {
      out += is_control(c[0]) ? kReplacement : c;
    }
  });
  return out;
}

std::string markdown_text(std::string_view text) {
  std::string out;
  const auto line = without_breaks(text);
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool word_next =
        i + 1 < line.size() && std::isalnum(static_cast<unsigned char>(line[i + 1])) != 0;
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if ((c == '@' || c == '#') && word_next) {
      out += c;  // GitHub would notify that person, or link that issue
      out += "<!-- -->";
    } else if (c == ':' && line.compare(i, 3, "://") == 0) {
      out += "<!-- -->:";  // nor a link
    } else {
      if (std::string_view("\\`*_[]|~$").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string markdown_code(std::string_view text) {
  const auto line = without_breaks(text);
  const std::string fence(longest_run(line, '`') + 1, '`');
  const bool pad = line.empty() || line.front() == '`' || line.back() == '`' ||
                   (line.front() == ' ' && line.back() == ' ');
  return fence + (pad ? " " : "") + line + (pad ? " " : "") + fence;
}

std::string markdown_block(std::string_view text) {
  const auto valid = base::visible(text, "\n\t");
  const std::string fence(std::max<std::size_t>(3, longest_run(valid, '`') + 1), '`');
  return fence + "text\n" + valid + "\n" + fence + "\n";
}

std::string annotation_text(std::string_view text) {
  std::string out;
  for (const char c : without_commands(base::visible(text, "\n"))) {
    if (c == '%') {
      out += "%25";
    } else if (c == '\n') {
      out += "%0A";
    } else {
      out += c;
    }
  }
  return out;
}

std::string annotation_property(std::string_view text) {
  std::string out;
  for (const char c : annotation_text(text)) {
    if (c == ':') {
      out += "%3A";
    } else if (c == ',') {
      out += "%2C";
    } else {
      out += c;
    }
  }
  return out;
}

// The runner takes `::` after blanks at the start of a line, and `##[` anywhere in it.
std::string without_commands(std::string_view text) {
  std::string out;
  bool begins = true;  // nothing but blanks since the line began
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (begins && text.substr(i).starts_with("::")) {
      out += "\\u003a";
    } else if (c == '[' && i >= 2 && text.substr(i - 2, 2) == "##") {
      out += "\\u005b";
    } else {
      out += c;
    }
    begins = c == '\n' || (begins && std::isspace(static_cast<unsigned char>(c)) != 0);
  }
  return out;
}

}  // namespace cupel::text
