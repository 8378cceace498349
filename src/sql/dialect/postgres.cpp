// PostgreSQL 15's dialect.
#include <algorithm>

#include "sql/dialect/dialect.hpp"
#include "sql/dialect/settings_postgres.hpp"

namespace cupel::sql {

namespace {

constexpr Dialect::Rules kPostgresRules = {
    .product = Product::kPostgres,
    .values = {.blanks_at_end_count = true, .evaluates_all_arguments = true},
    .names = {.qualifier_is_database = false,
              .tables_are_values = true,
              .having_sees_outputs = false,
              .hides_excluded = false},
    .queries = {.nulls_are_least = false,
                .order_by_null = false,
                .unsigned_integers = false,
                .counts_combinations = false,
                .sums_are_decimal = false,
                .null_in_extremes = false,
                .final_escape = true,
                .folds_minus_to_decimal = false,
                .parameters_are_literals = false},
    .writes = {.names_column_out_of_range = false,
               .sees_earlier_assignments = false,
               .needs_all_columns = false,
               .needs_defaults = false,
               .booleans_are_numbers = false,
               .conflict_of_any_key = false,
               .do_nothing_is_ignore = false,
               .zero_counts = false,
               .children_row_by_row = false,
               .changes_row_once = true,
               .updates_count = 1,
               .truncate_restarts_counters = false},
    .transactions = {.undo_settings = true,
                     .fail_with_statement = true,
                     .span_text = true,
                     .end_at_schema_changes = false,
                     .locks_are_writes = true,
                     .savepoints_replace = false,
                     .control_needs_block = true,
                     .autocommit_setting = false,
                     .deallocate = true}};

class Postgres : public Dialect {
 public:
  Postgres() : Dialect(kPostgresRules) {}

  [[nodiscard]] std::string_view version() const override { return postgres::kVersion; }
  [[nodiscard]] std::vector<ParsedStatement> statements(std::string_view text) const override {
    std::vector<ParsedStatement> all;
    for (auto& statement : parse(text)) all.push_back({std::move(statement), nullptr});
    return all;
  }

  [[nodiscard]] std::unique_ptr<Coercion> coercion(std::vector<Type>& parameters) const override {
    return std::make_unique<Coercion>(*this, parameters);
  }
  [[nodiscard]] Scalar assigned(const Scalar& value, Type from, const FullType& to) const override {
    return assign(value, from, to);
  }
  [[nodiscard]] Decimal average(const Decimal& total, std::int64_t count) const override {
    return total.divided_by(Decimal(count));
  }
  [[nodiscard]] Datum shown(const Scalar& value, Type type) const override {
    if (is_null(value)) return std::nullopt;
    return to_text(value, type);
  }

  [[nodiscard]] std::string first_isolation() const override { return "read committed"; }

  [[nodiscard]] Settings first_settings() const override { return postgres::first_settings(); }
  [[nodiscard]] std::string checked_setting(const std::string& name, const std::string& value,
                                            std::string_view now) const override {
    return postgres::checked_setting(name, value, now);
  }
  [[nodiscard]] SqlException unknown_setting(const std::string& name) const override {
    return postgres::unknown_setting(name);
  }
  void check_resettable(const std::string& name) const override {
    postgres::check_changeable(name);
    // A setting of an application.
    const bool own = name.find('.') != name.npos && !name.starts_with("cupel.");
    if (own) postgres::checked_setting(name, "", "");
  }
  [[nodiscard]] std::string value_of_list(const std::string& name,
                                          const std::vector<std::string>& values) const override {
    return postgres::value_of_list(name, values);
  }
  [[nodiscard]] std::optional<TransactionSetting> transaction_setting(
      std::string_view name) const override {
    using Of = TransactionSetting::Of;
    const bool session = name.starts_with("default_");
    if (session) name.remove_prefix(8);
    if (name == "transaction_isolation") return TransactionSetting{Of::kIsolation, session};
    if (name == "transaction_read_only") return TransactionSetting{Of::kReadOnly, session};
    if (name == "transaction_deferrable") return TransactionSetting{Of::kDeferrable, session};
    return std::nullopt;
  }
  [[nodiscard]] std::string isolation_from(const std::string& name,
                                           const std::string& value) const override {
    return postgres::checked_isolation(name, value);
  }
  [[nodiscard]] std::string isolation_text(const std::string& isolation) const override {
    return isolation;
  }
  [[nodiscard]] bool boolean_from(const std::string& name,
                                  const std::string& value) const override {
    return postgres::checked_boolean(name, value);
  }
  [[nodiscard]] std::string boolean_text(bool value) const override { return value ? "on" : "off"; }
  [[nodiscard]] bool shows(const Notice& notice, const Settings& settings) const override {
    const auto& least = settings.at("client_min_messages");
    return least != "error" && (least != "warning" || notice.warning);
  }

  [[nodiscard]] double statement_limit_ms(const Settings& settings,
                                          bool /*select*/) const override {
    return postgres::milliseconds_of(settings, "statement_timeout");
  }
  [[nodiscard]] double turn_limit_ms(const Settings& settings) const override {
    return postgres::milliseconds_of(settings, "lock_timeout");
  }
  [[nodiscard]] std::string turn_limit_message() const override {
    return "canceling statement due to lock timeout";
  }
  [[nodiscard]] std::optional<IdleLimit> idle_limit(const Settings& settings,
                                                    bool open) const override {
    const auto limit = postgres::milliseconds_of(
        settings, open ? "idle_in_transaction_session_timeout" : "idle_session_timeout");
    if (limit <= 0) return std::nullopt;
    return open ? IdleLimit{limit / 1000, "25P03",
                            "terminating connection due to idle-in-transaction timeout"}
                : IdleLimit{limit / 1000, "57P05",
                            "terminating connection due to idle-session timeout"};
  }
};

}  // namespace

const Dialect& postgres_dialect() {
  static const Postgres kDialect;
  return kDialect;
}

}  // namespace cupel::sql
