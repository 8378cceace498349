// What MySQL says and PostgreSQL's grammar has no place for, carried through PostgreSQL's parser.
//
// mysql_text.cpp rewrites MySQL's tokens to text for that parser. A mark is a name in this text,
// "cupel mark 3", whose number is its place in a list of typed marks. parse() takes the text
// through the parser and turns each mark into a field of the tree that the parser itself never
// writes, so that the planner reads fields and compares no names:
//
//   mark               stands for                  field of the tree
//   kOutput            the name of an output       ResTarget.name: the name itself, of any length
//   kUnsigned          the type of a column        TypeName int8 with "unsigned": true
//   kUnsignedDecimal   the type of a column        TypeName numeric with "unsigned": true
//   kStrippedChar      the type of a column        TypeName varchar with "stripped": true
//   kDeclaredType      the name of a NULL          Constraint "declared": the type as DESCRIBE
//                      constraint                  shows it
//   kRange             the name of a CHECK         Constraint "range": true; what it refuses is
//                      constraint                  out of the column's range
//   kReplace           the constraint of an        OnConflictClause.action "ONCONFLICT_REPLACE"
//                      ON CONFLICT clause
//   kGroupConcat       a function, whose first     FuncCall group_concat with "separator": this
//                      argument is the separator   argument, which is taken away
//
// ORDER BY and LIMIT of UPDATE and DELETE stand in a SELECT after the statement, and become the
// fields sortClause and limitCount of the statement.
//
// A statement that uses such a name itself is refused: check_not_reserved().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/parse/tree.hpp"

namespace cupel::sql {

struct ParserMark {
  enum class Kind : std::uint8_t {
    kOutput,
    kUnsigned,
    kUnsignedDecimal,
    kStrippedChar,
    kDeclaredType,
    kRange,
    kReplace,
    kGroupConcat
  };
  Kind kind;
  std::string text = {};  // of kOutput and kDeclaredType
};

// Raises 42602.
void check_not_reserved(std::string_view name);

// The marks of one statement.
class ParserMarks {
 public:
  // The name that stands for the mark in the text, in its quotes.
  std::string encode(ParserMark mark);
  // The statement that the text is, its marks decoded; nullopt if the text is empty. Raises as
  // sql::parse() does, without a position: it would be one of the rewritten text.
  [[nodiscard]] std::optional<Statement> parse(const std::string& text) const;

 private:
  [[nodiscard]] const ParserMark* decode(const Tree& name) const;
  void decode_all(Tree& tree) const;
  void decode_type(Tree& type) const;
  void decode_constraint(Tree& constraint) const;
  void decode_call(Tree& call) const;
  void decode_conflict(Tree& clause) const;

  std::vector<ParserMark> marks_;
};

}  // namespace cupel::sql
