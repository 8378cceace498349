// libpg_query as one function; see the header.
#include "sql/parse/tree.hpp"

#include <pg_query.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "sql/parse/scan_limits.hpp"
#include "sql/parse/sql_words.hpp"
#include "sql/value/scalar.hpp"

namespace cupel::sql {

namespace {

const Tree kMissing;
const Tree kEmpty = Tree::array();

// libpg_query asserts nothing about what it is given but a C string; it keeps its own
// limit of nesting (54001).
constexpr std::size_t kLongest = std::size_t{16} << 20;

// libpg_query 15-4.0 leaves negative integers out of its JSON as it leaves out zero. The
// number is then where the constant begins in the text: signs and brackets, then digits.
std::int64_t written_integer(std::string_view text, std::size_t at) {
  bool negative = false;
  for (; at < text.size() && std::string_view(" \t\r\n\f\v-(").find(text[at]) != text.npos; ++at) {
    if (text[at] == '-') negative = !negative;
  }
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data() + at, text.data() + text.size(), value);
  if (read.ec != std::errc()) not_supported("a comment between a sign and its number");
  return negative ? -value : value;
}

void restore_integers(Tree& tree, std::string_view text) {
  std::vector<Tree*> waiting{&tree};
  while (!waiting.empty()) {
    auto& node = *waiting.back();
    waiting.pop_back();
    if (!node.is_structured()) continue;
    if (node.is_object() && node.contains("A_Const")) {
      auto& constant = node["A_Const"];
      const auto at = constant.value("location", std::int64_t{-1});
      if (constant.contains("ival") && constant["ival"].empty() && at >= 0 &&
          static_cast<std::size_t>(at) < text.size() && text[static_cast<std::size_t>(at)] == '-') {
        constant["ival"]["ival"] = written_integer(text, static_cast<std::size_t>(at));
      }
      continue;
    }
    for (auto& child : node) waiting.push_back(&child);
  }
}

}  // namespace

std::vector<Tree> parse(std::string_view text) {
  if (text.size() > kLongest) raise("54000", "a statement of more than 16 MiB");
  if (!valid_utf8(text)) raise("22021", "invalid byte sequence for encoding \"UTF8\"");
  check_parser_limits(text);
  const std::string terminated(text);
  const auto result = pg_query_parse(terminated.c_str());
  const std::unique_ptr<const PgQueryParseResult, void (*)(const PgQueryParseResult*)> freed(
      &result, [](const PgQueryParseResult* it) { pg_query_free_parse_result(*it); });
  if (result.error != nullptr) {
    const std::string message = result.error->message;
    std::optional<std::uint32_t> position;
    if (result.error->cursorpos > 0) {
      position = static_cast<std::uint32_t>(result.error->cursorpos);
    }
    const bool deep = message.find("stack depth") != message.npos;
    throw SqlException{{deep ? "54001" : "42601", message, {}, position}};
  }
  auto tree = Tree::parse(result.parse_tree, nullptr, false);
  if (tree.is_discarded() || !tree.is_object()) {
    raise("XX000", "the parser's tree cannot be read");
  }
  restore_integers(tree, text);
  std::vector<Tree> statements;
  for (auto& statement : tree["stmts"]) {
    if (statement.contains("stmt")) statements.push_back(std::move(statement["stmt"]));
  }
  return statements;
}

std::string_view kind_of(const Tree& node) {
  if (!node.is_object() || node.empty()) return "";
  return node.begin().key();
}

const Tree& body_of(const Tree& node) {
  if (!node.is_object() || node.empty()) return kMissing;
  return node.begin().value();
}

void check_fields(const Tree& body, std::string_view kind,
                  std::initializer_list<std::string_view> fields) {
  if (!body.is_object()) return;
  for (auto at = body.begin(); at != body.end(); ++at) {
    if (at.key() == "location") continue;
    if (std::find(fields.begin(), fields.end(), at.key()) == fields.end()) {
      not_supported(in_sql(at.key()) + " in " + std::string(kind));
    }
  }
}

bool has(const Tree& body, const char* field) {
  return body.is_object() && body.contains(field);
}

const Tree& field(const Tree& body, const char* field) {
  return has(body, field) ? body[field] : kMissing;
}

const Tree& list(const Tree& body, const char* name) {
  const auto& found = field(body, name);
  return found.is_array() ? found : kEmpty;
}

std::string text_of(const Tree& body, const char* name) {
  const auto& found = field(body, name);
  return found.is_string() ? found.get<std::string>() : std::string();
}

std::int64_t number_of(const Tree& body, const char* name) {
  const auto& found = field(body, name);
  return found.is_number_integer() ? found.get<std::int64_t>() : 0;
}

bool flag_of(const Tree& body, const char* name) {
  const auto& found = field(body, name);
  return found.is_boolean() && found.get<bool>();
}

std::vector<std::string> strings_of(const Tree& body, const char* name) {
  std::vector<std::string> all;
  for (const auto& node : list(body, name)) {
    if (kind_of(node) != "String") not_supported("a name with " + in_sql(kind_of(node)));
    all.push_back(text_of(body_of(node), "sval"));
  }
  return all;
}

}  // namespace cupel::sql
