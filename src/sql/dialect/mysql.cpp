// MySQL 8.0's dialect, on PostgreSQL's parser: mysql_text.cpp rewrites its statements for it.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.hpp"
#include "sql/dialect/dialect.hpp"
#include "sql/dialect/mysql_coercion.hpp"
#include "sql/dialect/mysql_statements.hpp"
#include "sql/dialect/mysql_text.hpp"
#include "sql/dialect/parser_marks.hpp"
#include "sql/dialect/settings_mysql.hpp"

namespace cupel::sql {

namespace {

constexpr Dialect::Rules kMysqlRules = {
    .product = Product::kMysql,
    .values = {.blanks_at_end_count = false, .evaluates_all_arguments = false},
    .names = {.qualifier_is_database = true,
              .tables_are_values = false,
              .having_sees_outputs = true,
              .hides_excluded = true},
    .queries = {.nulls_are_least = true,
                .order_by_null = true,
                .unsigned_integers = true,
                .counts_combinations = true,
                .sums_are_decimal = true,
                .null_in_extremes = true,
                .final_escape = false,
                .folds_minus_to_decimal = true,
                .parameters_are_literals = true},
    .writes = {.names_column_out_of_range = true,
               .sees_earlier_assignments = true,
               .needs_all_columns = true,
               .needs_defaults = true,
               .booleans_are_numbers = true,
               .conflict_of_any_key = true,
               .do_nothing_is_ignore = true,
               .zero_counts = true,
               .children_row_by_row = true,
               .changes_row_once = false,
               .updates_count = 2,
               .truncate_restarts_counters = true},
    .transactions = {.undo_settings = false,
                     .fail_with_statement = false,
                     .span_text = false,
                     .end_at_schema_changes = true,
                     .locks_are_writes = false,
                     .savepoints_replace = true,
                     .control_needs_block = false,
                     .autocommit_setting = true,
                     .deallocate = false}};

class Mysql : public Dialect {
 public:
  Mysql() : Dialect(kMysqlRules) {}

  [[nodiscard]] std::string_view version() const override { return mysql::kVersion; }
  [[nodiscard]] std::vector<ParsedStatement> statements(std::string_view text) const override {
    std::vector<ParsedStatement> all;
    for (auto& tokens : mysql_statements(text)) {
      if (is_own_statement(tokens)) {
        all.push_back({std::nullopt, own_statement(std::move(tokens))});
        continue;
      }
      ParserMarks marks;
      const auto rewritten = as_postgres(tokens, marks);
      if (auto statement = marks.parse(rewritten)) all.push_back({std::move(statement), nullptr});
    }
    return all;
  }
  // PostgreSQL's errors of types: MySQL turns any type into any other, and the mock does not.
  [[nodiscard]] Error reported(const Error& error) const override {
    static constexpr std::string_view kOfTypes[] = {"42804", "42725", "42846", "42883"};
    if (std::find(std::begin(kOfTypes), std::end(kOfTypes), error.sqlstate) == std::end(kOfTypes)) {
      return error;
    }
    auto changed = error;
    changed.sqlstate = "0A000";
    changed.message = "a change of types is not supported by the mock: " + error.message;
    return changed;
  }

  [[nodiscard]] std::unique_ptr<Coercion> coercion(std::vector<Type>& parameters) const override {
    return std::make_unique<MysqlCoercion>(*this, parameters);
  }
  [[nodiscard]] Scalar assigned(const Scalar& value, Type from, const FullType& to) const override {
    return assign_leading_number(value, from, to);
  }
  [[nodiscard]] Decimal average(const Decimal& total, std::int64_t count) const override {
    return total.quotient_hiding_digits(Decimal(count));
  }
  [[nodiscard]] Datum shown(const Scalar& value, Type type) const override {
    if (is_null(value)) return std::nullopt;
    if (type == Type::kBoolean) return std::get<bool>(value) ? "1" : "0";
    if (type == Type::kDouble || type == Type::kReal) {
      return mysql_text_of(std::get<double>(value), type == Type::kReal);
    }
    return to_text(value, type);
  }
  [[nodiscard]] Type shown_type(Type type) const override {
    return type == Type::kBoolean ? Type::kSmallint : type;
  }

  [[nodiscard]] std::string first_isolation() const override { return "repeatable read"; }
  [[nodiscard]] mock::Level least_level(const std::string& isolation) const override {
    // InnoDB's reads a snapshot but loses updates.
    if (isolation == "repeatable read") return mock::Level::kPrefix;
    return Dialect::least_level(isolation);
  }

  [[nodiscard]] Settings first_settings() const override { return mysql::first_settings(); }
  [[nodiscard]] std::string checked_setting(const std::string& name, const std::string& value,
                                            std::string_view /*now*/) const override {
    return mysql::checked_setting(name, value);
  }
  [[nodiscard]] SqlException unknown_setting(const std::string& name) const override {
    return mysql::unknown_setting(name);
  }
  void check_resettable(const std::string& name) const override {
    if (name == "transaction_isolation" || name == "transaction_read_only" ||
        name == "transaction_deferrable") {
      not_supported("RESET " + name);
    }
  }
  [[nodiscard]] std::string value_of_list(
      const std::string& /*name*/, const std::vector<std::string>& /*values*/) const override {
    not_supported("a list of values of SET");
  }
  [[nodiscard]] std::optional<TransactionSetting> transaction_setting(
      std::string_view name) const override {
    using Of = TransactionSetting::Of;
    if (name == "transaction_isolation" || name == "tx_isolation") {
      return TransactionSetting{Of::kIsolation, true};
    }
    if (name == "default_transaction_isolation") {
      return TransactionSetting{Of::kIsolation, true, false};
    }
    if (name == "transaction_read_only" || name == "tx_read_only") {
      return TransactionSetting{Of::kReadOnly, true};
    }
    return std::nullopt;
  }
  [[nodiscard]] std::string isolation_from(const std::string& /*name*/,
                                           const std::string& value) const override {
    return base::to_lower(value, "-", ' ');
  }
  [[nodiscard]] std::string isolation_text(const std::string& isolation) const override {
    std::string text = isolation;
    std::transform(text.begin(), text.end(), text.begin(), [](char c) {
      return c == ' ' ? '-' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    });
    return text;
  }
  [[nodiscard]] bool boolean_from(const std::string& name,
                                  const std::string& value) const override {
    try {
      return std::get<bool>(from_text(value, {Type::kBoolean}));
    } catch (const SqlException&) {
      raise("22023", fmt::format("found {} = {}, expected on or off", name, value));
    }
  }
  [[nodiscard]] std::string boolean_text(bool value) const override { return value ? "1" : "0"; }
  [[nodiscard]] bool shows(const Notice& /*notice*/, const Settings& /*settings*/) const override {
    return true;
  }

  [[nodiscard]] double statement_limit_ms(const Settings& settings, bool select) const override {
    const auto all = 1000 * std::stod(settings.at("max_statement_time"));
    const auto of_select = select ? std::stod(settings.at("max_execution_time")) : 0;
    return all > 0 && of_select > 0 ? std::min(all, of_select) : std::max(all, of_select);
  }
  [[nodiscard]] double turn_limit_ms(const Settings& settings) const override {
    return std::max(1000 * std::stod(settings.at("innodb_lock_wait_timeout")), 1.0);
  }
  [[nodiscard]] std::string turn_limit_message() const override {
    return "Lock wait timeout exceeded; try restarting transaction";
  }
  [[nodiscard]] std::optional<IdleLimit> idle_limit(const Settings& settings,
                                                    bool /*open*/) const override {
    return IdleLimit{std::stod(settings.at("wait_timeout")), "57P05",
                     "The client was disconnected because of inactivity (wait_timeout)"};
  }
};

}  // namespace

const Dialect& mysql_dialect() {
  static const Mysql kDialect;
  return kDialect;
}

}  // namespace cupel::sql
