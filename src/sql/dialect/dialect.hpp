// All that differs between PostgreSQL and MySQL. Whoever plans or runs a statement asks for a
// difference by its name and never which database it is. What is a fact is data: rules(). What
// takes work is a function. The rules of types and operators are those of coercion().
//
//   const auto& dialect = dialect_of(Product::kMysql);
//   if (dialect.rules().writes.children_row_by_row) …
//   result.rows.push_back(dialect.shown(value, type));
//
// postgres.cpp and mysql.cpp are the two dialects.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mock/store.hpp"
#include "sql/dialect/coercion.hpp"
#include "sql/dialect/product.hpp"
#include "sql/dialect/settings.hpp"
#include "sql/parse/tree.hpp"
#include "sql/value/result.hpp"
#include "sql/value/value_rules.hpp"

namespace cupel::sql {

class SessionControl;

// A statement in words that PostgreSQL's parser does not have.
class OwnStatement {
 public:
  virtual ~OwnStatement() = default;
  [[nodiscard]] virtual std::string command() const = 0;  // "show"
  [[nodiscard]] virtual bool has_rows() const = 0;
  [[nodiscard]] virtual Result run(SessionControl& session) const = 0;
};

// A statement of a text: one of these.
struct ParsedStatement {
  std::optional<Statement> statement;
  std::shared_ptr<const OwnStatement> own;
};

class Dialect {
 public:
  struct NameRules {
    bool qualifier_is_database;  // of a table: the one database, whatever it is called; or a schema
    bool tables_are_values;      // a table's name is its row; tables have system columns
    bool having_sees_outputs;    // HAVING knows the names of outputs
    bool hides_excluded;         // columns of `excluded` are found by its name only
  };
  struct QueryRules {
    bool nulls_are_least;          // ascending, they come first
    bool order_by_null;            // ORDER BY NULL is no order
    bool unsigned_integers;        // there are; otherwise such a column is a decimal
    bool counts_combinations;      // count(DISTINCT a, b)
    bool sums_are_decimal;         // of integers of any width
    bool null_in_extremes;         // greatest() and least() with a null are null
    bool final_escape;             // LIKE of a pattern that ends with its escape is 22025
    bool folds_minus_to_decimal;   // minus of a constant that is the least integer
    bool parameters_are_literals;  // and not values of a type that is inferred
  };
  struct WriteRules {
    bool names_column_out_of_range;  // an error of a value has its column and row
    bool sees_earlier_assignments;   // SET a = 1, b = a: those to its left
    bool needs_all_columns;          // VALUES without names of columns gives all of them
    bool needs_defaults;             // a column without default and NULL must be given
    bool booleans_are_numbers;       // in any column
    bool conflict_of_any_key;        // ON CONFLICT DO UPDATE without columns
    bool do_nothing_is_ignore;       // ON CONFLICT DO NOTHING is INSERT IGNORE
    bool zero_counts;                // NULL and 0 ask AUTO_INCREMENT; another value moves it
    bool children_row_by_row;        // foreign keys hold after each row, not in the end alone
    bool changes_row_once;           // ON CONFLICT DO UPDATE may not change a row twice
    std::uint64_t updates_count;     // rows that INSERT counts for one that it changed
    bool truncate_restarts_counters;
  };
  struct TransactionRules {
    bool undo_settings;          // ROLLBACK undoes SET
    bool fail_with_statement;    // an error fails the transaction, not its statement alone
    bool span_text;              // several statements in one text are one
    bool end_at_schema_changes;  // a change of the schema commits before and after
    bool locks_are_writes;       // FOR UPDATE is refused where writes are
    bool savepoints_replace;     // an earlier one of the same name
    bool control_needs_block;    // COMMIT, SAVEPOINT and such are of an open transaction
    bool autocommit_setting;
    bool deallocate;  // DEALLOCATE
  };
  struct Rules {
    Product product;
    ValueRules values;
    NameRules names;
    QueryRules queries;
    WriteRules writes;
    TransactionRules transactions;
  };

  explicit Dialect(const Rules& rules) : rules_(rules) {}
  virtual ~Dialect() = default;
  Dialect(const Dialect&) = delete;
  Dialect& operator=(const Dialect&) = delete;
  [[nodiscard]] const Rules& rules() const { return rules_; }

  // What version() says.
  [[nodiscard]] virtual std::string_view version() const = 0;
  // The statements of a text; empty ones are left out. Raises 42601 and what the parser raises.
  [[nodiscard]] virtual std::vector<ParsedStatement> statements(std::string_view text) const = 0;
  // An error as a client sees it.
  [[nodiscard]] virtual Error reported(const Error& error) const { return error; }

  // The types of a statement with these parameters.
  [[nodiscard]] virtual std::unique_ptr<Coercion> coercion(std::vector<Type>& parameters) const = 0;
  // A value as it is assigned to a column. Raises class 22.
  [[nodiscard]] virtual Scalar assigned(const Scalar& value, Type from,
                                        const FullType& to) const = 0;
  [[nodiscard]] virtual Decimal average(const Decimal& total, std::int64_t count) const = 0;
  // A value and its type as a client sees them.
  [[nodiscard]] virtual Datum shown(const Scalar& value, Type type) const = 0;
  [[nodiscard]] virtual Type shown_type(Type type) const { return type; }

  // The isolation of a session at first: "read committed".
  [[nodiscard]] virtual std::string first_isolation() const = 0;
  // The least that the database gives for the standard's name. Raises 22023.
  [[nodiscard]] virtual mock::Level least_level(const std::string& isolation) const;

  // Settings. Names are in lower case; settings.hpp says what is raised.
  [[nodiscard]] virtual Settings first_settings() const = 0;
  [[nodiscard]] virtual std::string checked_setting(const std::string& name,
                                                    const std::string& value,
                                                    std::string_view now) const = 0;
  [[nodiscard]] virtual SqlException unknown_setting(const std::string& name) const = 0;
  virtual void check_resettable(const std::string& name) const = 0;
  // The values of SET name = a, b as one. Raises 22023.
  [[nodiscard]] virtual std::string value_of_list(const std::string& name,
                                                  const std::vector<std::string>& values) const = 0;
  // Of a setting of transactions, whose value the session keeps.
  [[nodiscard]] virtual std::optional<TransactionSetting> transaction_setting(
      std::string_view name) const = 0;
  [[nodiscard]] virtual std::string isolation_from(const std::string& name,
                                                   const std::string& value) const = 0;
  [[nodiscard]] virtual std::string isolation_text(const std::string& isolation) const = 0;
  [[nodiscard]] virtual bool boolean_from(const std::string& name,
                                          const std::string& value) const = 0;
  [[nodiscard]] virtual std::string boolean_text(bool value) const = 0;
  [[nodiscard]] virtual bool shows(const Notice& notice, const Settings& settings) const = 0;

  // Limits in milliseconds, 0 for none.
  [[nodiscard]] virtual double statement_limit_ms(const Settings& settings, bool select) const = 0;
  [[nodiscard]] virtual double turn_limit_ms(const Settings& settings) const = 0;
  [[nodiscard]] virtual std::string turn_limit_message() const = 0;
  // `open`: in a transaction.
  [[nodiscard]] virtual std::optional<IdleLimit> idle_limit(const Settings& settings,
                                                            bool open) const = 0;

 private:
  Rules rules_;
};

const Dialect& dialect_of(Product product);
const Dialect& postgres_dialect();
const Dialect& mysql_dialect();

}  // namespace cupel::sql
