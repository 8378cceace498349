// Marks by their number, and one pass over the tree that decodes them; see the header.
#include "sql/dialect/parser_marks.hpp"

#include <fmt/format.h>

#include <charconv>

#include "sql/parse/sql_words.hpp"

namespace cupel::sql {

namespace {

constexpr std::string_view kPrefix = "cupel mark ";

Tree name_node(const char* name) {
  return {{"String", {{"sval", name}}}};
}

// The fields of a SELECT that are ORDER BY and LIMIT of an UPDATE or DELETE.
void take_order(Tree& change, const Tree& select) {
  const auto& from = body_of(select);
  for (auto part = from.begin(); part != from.end(); ++part) {
    const auto& name = part.key();
    if (name == "targetList" || name == "op") continue;
    if (name == "limitOption" && part.value() != "LIMIT_OPTION_WITH_TIES") continue;
    if (name != "sortClause" && name != "limitCount") {
      raise("42601", fmt::format("{} is not allowed after ORDER BY or LIMIT of UPDATE and DELETE",
                                 in_sql(name)));
    }
    change.begin().value()[name] = part.value();
  }
}

// How a mark's words stand in the statement, for the parser's messages.
std::string_view written(const ParserMark& mark) {
  switch (mark.kind) {
    case ParserMark::Kind::kOutput:
      return mark.text;
    case ParserMark::Kind::kUnsigned:
    case ParserMark::Kind::kUnsignedDecimal:
      return "unsigned";
    case ParserMark::Kind::kStrippedChar:
      return "char";
    case ParserMark::Kind::kDeclaredType:
    case ParserMark::Kind::kRange:
      return "null";
    case ParserMark::Kind::kReplace:
      return "replace";
    case ParserMark::Kind::kGroupConcat:
      return "group_concat";
  }
  return "";
}

}  // namespace

void check_not_reserved(std::string_view name) {
  if (!name.starts_with(kPrefix)) return;
  raise("42602", fmt::format("the name \"{}\" is reserved by the mock; use a name that does not "
                             "begin with \"{}\"",
                             name, kPrefix.substr(0, kPrefix.size() - 1)));
}

std::string ParserMarks::encode(ParserMark mark) {
  marks_.push_back(std::move(mark));
  return fmt::format("\"{}{}\"", kPrefix, marks_.size() - 1);
}

const ParserMark* ParserMarks::decode(const Tree& name) const {
  if (!name.is_string()) return nullptr;
  const auto& text = name.get_ref<const std::string&>();
  if (!text.starts_with(kPrefix)) return nullptr;
  std::size_t number = marks_.size();
  std::from_chars(text.data() + kPrefix.size(), text.data() + text.size(), number);
  return number < marks_.size() ? &marks_[number] : nullptr;
}

void ParserMarks::decode_type(Tree& type) const {
  if (!has(type, "names")) return;
  auto& names = type["names"];
  const auto* mark = decode(field(body_of(names.back()), "sval"));
  if (mark == nullptr) return;
  const bool stripped = mark->kind == ParserMark::Kind::kStrippedChar;
  const char* plain = stripped                                    ? "varchar"
                      : mark->kind == ParserMark::Kind::kUnsigned ? "int8"
                                                                  : "numeric";
  names = Tree::array({name_node(plain)});
  type[stripped ? "stripped" : "unsigned"] = true;
}

void ParserMarks::decode_constraint(Tree& constraint) const {
  const auto* mark = decode(field(constraint, "conname"));
  if (mark == nullptr) return;
  constraint.erase("conname");
  if (mark->kind == ParserMark::Kind::kRange) {
    constraint["range"] = true;
  } else {
    constraint["declared"] = mark->text;
  }
}

void ParserMarks::decode_call(Tree& call) const {
  const auto& names = list(call, "funcname");
  if (names.empty() || decode(field(body_of(names.back()), "sval")) == nullptr) return;
  auto& arguments = call["args"];
  call["separator"] = text_of(field(body_of(arguments[0]), "sval"), "sval");
  arguments.erase(0);
  call["funcname"] = Tree::array({name_node("group_concat")});
}

void ParserMarks::decode_conflict(Tree& clause) const {
  if (decode(field(field(clause, "infer"), "conname")) == nullptr) return;
  clause.erase("infer");
  clause["action"] = "ONCONFLICT_REPLACE";
}

void ParserMarks::decode_all(Tree& tree) const {
  if (!tree.is_structured()) return;
  if (tree.is_object()) {
    for (auto part = tree.begin(); part != tree.end(); ++part) {
      auto& value = part.value();
      if (part.key() == "ResTarget") {
        if (const auto* mark = decode(field(value, "name"))) value["name"] = mark->text;
      } else if (part.key() == "typeName") {
        decode_type(value);
      } else if (part.key() == "Constraint") {
        decode_constraint(value);
      } else if (part.key() == "FuncCall") {
        decode_call(value);
      } else if (part.key() == "onConflictClause") {
        decode_conflict(value);
      }
    }
  }
  for (auto& part : tree) decode_all(part);
}

std::optional<Statement> ParserMarks::parse(const std::string& text) const {
  try {
    auto parsed = sql::parse(text);
    if (parsed.size() > 1) take_order(parsed[0].tree, parsed[1].tree);
    if (parsed.empty()) return std::nullopt;
    if (!marks_.empty()) decode_all(parsed[0].tree);
    return std::move(parsed[0]);
  } catch (SqlException& exception) {
    exception.error.position.reset();
    auto& message = exception.error.message;
    for (std::size_t number = 0; number < marks_.size(); ++number) {
      const auto name = fmt::format("\"{}{}\"", kPrefix, number);
      const auto at = message.find(name);
      if (at != message.npos) message.replace(at, name.size(), written(marks_[number]));
    }
    throw;
  }
}

}  // namespace cupel::sql
