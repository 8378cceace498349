// Writers of documents: see the header.
#include "readers/document.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <span>

namespace cupel::test {

namespace {

using Kind = Document::Kind;

// A quoted text as EDN and JSON spell it alike: only what must be escaped is.
std::string plainly_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

// The characters of UTF-8 text.
std::vector<std::string_view> characters(std::string_view text) {
  std::vector<std::string_view> all;
  for (std::size_t at = 0; at < text.size();) {
    auto end = at + 1;
    while (end < text.size() && (text[end] & 0xc0) == 0x80) ++end;
    all.push_back(text.substr(at, end - at));
    at = end;
  }
  return all;
}

std::uint32_t code_of(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  std::uint32_t code = character.size() == 1 ? first : first & (0x7fu >> character.size());
  for (const char c : character.substr(1))
    code = code << 6 | (static_cast<unsigned char>(c) & 0x3f);
  return code;
}

class DocumentWriter {
 public:
  DocumentWriter(bool edn, Style style) : edn_(edn), style_(style) {}

  std::string take() { return std::move(out_); }

  void write(const Document& d) {
    switch (d.kind) {
      case Kind::kNull:
        out_ += edn_ ? "nil" : "null";
        break;
      case Kind::kBoolean:
        out_ += d.integer != 0 ? "true" : "false";
        break;
      case Kind::kInteger:
        integer(d.integer);
        break;
      case Kind::kNumber:
        out_ += one_of(edn_ ? d.edn : d.json);
        break;
      case Kind::kString:
        quoted(d.text);
        break;
      case Kind::kKeyword:
        keyword(d);
        break;
      case Kind::kLiteral:
        literal(d);
        break;
      case Kind::kVector:
        vector(d.items);
        break;
      case Kind::kMap:
        map(d);
    }
  }

  void op_map(const Document& d) {
    auto members = shuffled(d);
    out_ += '{';
    for (std::size_t i = 0; i < members.size(); ++i) {
      blanks(i > 0);
      word(members[i].first);
      blanks(true);
      const bool is_word = members[i].first == "type" || members[i].first == "f";
      if (is_word && members[i].second.kind == Kind::kString) {
        word(members[i].second.text);
      } else {
        write(members[i].second);
      }
    }
    if (chance(0.2)) out_ += "  ";
    out_ += '}';
  }

 private:
  bool chance(double p) { return style_.random != nullptr && style_.random->chance(p); }
  const std::string& one_of(const std::vector<std::string>& all) {
    return all[style_.random == nullptr ? 0 : style_.random->below(all.size())];
  }

  // White space, and in EDN comments and discarded forms. `needed`: at least one blank.
  void blanks(bool needed) {
    if (needed && edn_) out_ += chance(0.2) ? ", " : " ";
    if (!chance(0.25)) return;
    static constexpr std::string_view kSpace[] = {" ", "  ", "\t", "\r", "\n", "\n\n"};
    out_ += kSpace[style_.random->below(style_.one_line ? 3 : 6)];
    if (!edn_ || !chance(0.3)) return;
    static constexpr std::string_view kDiscards[] = {
        " #_ nil ", " #_ [1 {:a \"}\"}] ", " #_#_ 1 2 ", " #_ \"]\" ", ", , ", " #_ #inst \"x\" "};
    out_ += kDiscards[style_.random->below(style_.tags ? 6 : 5)];
    if (!style_.one_line && chance(0.5)) out_ += " ; } ] \" ) \\\n";
  }

  void word(const std::string& text) {
    if (!is_plain_keyword(text) || (style_.string_names && chance(0.1))) return quoted(text);
    out_ += ":" + text;
  }

  void integer(std::int64_t value) {
    if (edn_ && value >= 0 && chance(0.1)) out_ += '+';
    out_ += std::to_string(value);
    if (edn_ && chance(0.1)) out_ += 'N';
  }

  void quoted(std::string_view text) {
    if (style_.random == nullptr || chance(0.5)) {
      out_ += plainly_quoted(text);
      return;
    }
    out_ += '"';
    for (const auto character : characters(text)) {
      const auto code = code_of(character);
      if (code >= 0x20 && character != "\"" && character != "\\" && chance(0.7)) {
        out_ += character;
      } else if (character == "/" && chance(0.5)) {
        out_ += "\\/";
      } else if (code >= 0x10000) {
        const auto rest = code - 0x10000;
        out_ += fmt::format("\\u{:04x}\\u{:04X}", 0xd800 + (rest >> 10), 0xdc00 + (rest & 0x3ff));
      } else if (chance(0.5)) {
        out_ += fmt::format("\\u{:04X}", code);
      } else {
        const auto plain = plainly_quoted(character);
        out_ += plain.substr(1, plain.size() - 2);
      }
    }
    out_ += '"';
  }

  static bool is_plain_keyword(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '/' || c == '.';
    });
  }
  void keyword(const Document& d) {
    if (!edn_) return object("keyword", d.text);
    if (is_plain_keyword(d.text) && !chance(0.1)) {
      out_ += ":" + d.text;
    } else {
      out_ += "#cupel/keyword ";
      quoted(d.text);
    }
  }
  void literal(const Document& d) {
    if (!edn_) return object("literal", d.text);
    if (!d.edn.empty() && !chance(0.2)) {
      out_ += one_of(d.edn);
    } else {
      out_ += "#cupel/literal ";
      quoted(d.text);
    }
  }
  void object(std::string_view name, std::string_view text) {
    out_ += '{';
    quoted(name);
    out_ += ':';
    quoted(text);
    out_ += '}';
  }

  void vector(const std::vector<Document>& items) {
    const bool list = edn_ && chance(0.15);
    out_ += list ? '(' : '[';
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0 && !edn_) out_ += ',';
      blanks(i > 0);
      write(items[i]);
    }
    blanks(false);
    out_ += list ? ')' : ']';
  }

  std::vector<std::pair<std::string, Document>> shuffled(const Document& d) {
    auto members = d.members;
    if (style_.random != nullptr) style_.random->shuffle(std::span(members));
    return members;
  }
  void map(const Document& d) {
    const auto members = shuffled(d);
    out_ += '{';
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (i > 0 && !edn_) out_ += ',';
      blanks(i > 0);
      quoted(members[i].first);
      if (!edn_) {
        blanks(false);
        out_ += ':';
      }
      blanks(true);
      write(members[i].second);
    }
    blanks(false);
    out_ += '}';
  }

  const bool edn_;
  const Style style_;
  std::string out_;
};

std::optional<Document> converted(simdjson::dom::element element) {
  using simdjson::dom::element_type;
  switch (element.type()) {
    case element_type::NULL_VALUE:
      return Document::null();
    case element_type::BOOL:
      return Document::boolean(bool(element));
    case element_type::INT64:
      return Document::of(std::int64_t(element));
    case element_type::UINT64: {
      const auto digits = std::to_string(std::uint64_t(element));
      return Document::number(digits + "N", {digits}, {digits, digits + "N"});
    }
    case element_type::DOUBLE: {
      auto text = fmt::format("{}", double(element));
      if (text.find_first_of(".e") == std::string::npos) text += ".0";
      return Document::number(text, {text}, {text});
    }
    case element_type::STRING:
      return Document::of(std::string_view(element));
    case element_type::ARRAY: {
      std::vector<Document> items;
      for (const auto item : simdjson::dom::array(element)) {
        auto document = converted(item);
        if (!document) return std::nullopt;
        items.push_back(std::move(*document));
      }
      return Document::vector(std::move(items));
    }
    case element_type::OBJECT:
      break;
  }
  std::vector<std::pair<std::string, Document>> members;
  for (const auto field : simdjson::dom::object(element)) {
    auto document = converted(field.value);
    if (!document) return std::nullopt;
    members.emplace_back(std::string(field.key), std::move(*document));
  }
  if (members.size() == 1 && members[0].second.kind == Kind::kString) {
    const auto& text = members[0].second.text;
    if (members[0].first == "keyword") return Document::keyword(text);
    if (members[0].first == "literal") return Document::literal(text);
  }
  return Document::map(std::move(members));
}

}  // namespace

std::string canonical_text(const Document& d) {
  switch (d.kind) {
    case Kind::kNull:
      return "nil";
    case Kind::kBoolean:
      return d.integer != 0 ? "true" : "false";
    case Kind::kInteger:
      return std::to_string(d.integer);
    case Kind::kString:
      return plainly_quoted(d.text);
    case Kind::kKeyword:
      return ":" + d.text;
    case Kind::kNumber:
    case Kind::kLiteral:
      return d.text;
    case Kind::kVector: {
      std::string text = "[";
      for (const auto& item : d.items) {
        text += (text.size() > 1 ? " " : "") + canonical_text(item);
      }
      return text + "]";
    }
    case Kind::kMap:
      break;
  }
  std::vector<std::string> entries;
  for (const auto& [name, value] : d.members) {
    entries.push_back(plainly_quoted(name) + " " + canonical_text(value));
  }
  std::sort(entries.begin(), entries.end());
  std::string text = "{";
  for (const auto& entry : entries) text += (text.size() > 1 ? " " : "") + entry;
  return text + "}";
}

history::ScalarView scalar_of(const Document& d, std::string& text) {
  using history::ScalarView;
  switch (d.kind) {
    case Kind::kNull:
      return ScalarView::null();
    case Kind::kInteger:
      return ScalarView::of(d.integer);
    case Kind::kString:
      return ScalarView::of(std::string_view(d.text));
    case Kind::kKeyword:
      return ScalarView::keyword(d.text);
    default:
      text = canonical_text(d);
      return ScalarView::literal(text);
  }
}

std::string to_json(const Document& document, Style style) {
  DocumentWriter writer(/*edn=*/false, style);
  writer.write(document);
  return writer.take();
}

std::string to_edn(const Document& document, Style style) {
  DocumentWriter writer(/*edn=*/true, style);
  writer.write(document);
  return writer.take();
}

std::string op_map_to_edn(const Document& map, Style style) {
  DocumentWriter writer(/*edn=*/true, style);
  writer.op_map(map);
  return writer.take();
}

std::optional<Document> document_of(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::element element;
  if (parser.parse(json.data(), json.size(), /*realloc_if_needed=*/true).get(element)) {
    return std::nullopt;
  }
  return converted(element);
}

}  // namespace cupel::test
