// Columns as rows; see the header.
#include "sql/exec/describe.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sql/plan/query.hpp"

namespace cupel::sql {

std::vector<std::vector<Datum>> described(const std::string& name, const Tables& tables,
                                          const Dialect& dialect) {
  const auto table = tables.find(name);
  if (table == nullptr) raise("42P01", fmt::format("relation \"{}\" does not exist", name));
  std::vector<std::vector<Datum>> rows;
  for (std::size_t at = 0; at < table->columns.size(); ++at) {
    const auto& column = table->columns[at];
    const bool unique =
        std::any_of(table->uniques.begin(), table->uniques.end(),
                    [&](const Unique& one) { return one.columns == std::vector<std::size_t>{at}; });
    Datum otherwise;
    if (!column.default_value.is_null()) {
      std::vector<Type> none;
      Scope scope;
      Binder binder(tables, dialect, none);
      const auto value = binder.assigned(binder.expression(column.default_value, scope), column);
      if (value->kind == Expression::Kind::kConstant) {
        otherwise = dialect.shown(value->constant, column.type.type);
      } else if (kind_of(column.default_value) == "SQLValueFunction") {
        otherwise = "CURRENT_TIMESTAMP";
      } else {
        not_supported("DESCRIBE of a table with a computed default");
      }
    }
    const auto type =
        column.declared.empty() ? std::string(type_name(column.type.type)) : column.declared;
    const auto begins = [&](const auto& constraint) { return constraint.columns[0] == at; };
    const bool indexed =
        std::any_of(table->uniques.begin(), table->uniques.end(), begins) ||
        std::any_of(table->foreign_keys.begin(), table->foreign_keys.end(), begins);
    const bool key = table->in_key(at) || (table->key.empty() && unique && column.not_null);
    rows.push_back({column.name, type, column.not_null || table->in_key(at) ? "NO" : "YES",
                    key       ? "PRI"
                    : unique  ? "UNI"
                    : indexed ? "MUL"
                              : "",
                    otherwise, column.counter != nullptr ? "auto_increment" : ""});
  }
  return rows;
}

}  // namespace cupel::sql
