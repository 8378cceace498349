// The tables of settings, and their values checked; see the header.
#include "mock/sql/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "mock/sql/raised.hpp"

namespace cupel::mock::sql {

namespace {

std::string lowered(std::string_view text) {
  std::string low(text);
  for (auto& c : low) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return low;
}

enum class Takes : std::uint8_t {
  kNothing,  // nobody may set it
  kFixed,    // this value alone: others would mean something that is not done here
  kText,     // from here on what it says has no effect on an answer, or the session sees to it
  kBoolean,
  kWord,  // one of `range`
  kWhole,
  kReal,
  kTime,  // in milliseconds, unless a unit is said
  kSize,  // in kB, unless a unit is said
};

struct Setting {
  std::string_view name, value;
  Takes takes;
  std::string_view range = {};  // "least most" of kWhole and kReal, the words of kWord
};

constexpr std::string_view kMessages =
    "debug5 debug4 debug3 debug2 debug1 log notice warning error info debug";
constexpr std::string_view kAnyWhole = "0 2147483647";
constexpr std::string_view kCost = "0 1e308";

constexpr Setting kPostgres[] = {
    {"application_name", "", Takes::kText},
    {"array_nulls", "on", Takes::kBoolean},
    {"backslash_quote", "safe_encoding", Takes::kFixed},
    {"bytea_output", "hex", Takes::kWord, "hex escape"},
    {"check_function_bodies", "on", Takes::kBoolean},
    {"client_encoding", "UTF8", Takes::kFixed},
    {"client_min_messages", "notice", Takes::kWord, kMessages},
    {"constraint_exclusion", "partition", Takes::kWord, "partition on off"},
    {"cpu_index_tuple_cost", "0.005", Takes::kReal, kCost},
    {"cpu_operator_cost", "0.0025", Takes::kReal, kCost},
    {"cpu_tuple_cost", "0.01", Takes::kReal, kCost},
    {"cursor_tuple_fraction", "0.1", Takes::kReal, "0 1"},
    {"datestyle", "ISO, MDY", Takes::kFixed},
    {"deadlock_timeout", "1s", Takes::kTime},
    {"default_statistics_target", "100", Takes::kWhole, "1 10000"},
    {"default_table_access_method", "heap", Takes::kFixed},
    {"default_tablespace", "", Takes::kFixed},
    {"default_text_search_config", "pg_catalog.simple", Takes::kFixed},
    {"default_transaction_deferrable", "off", Takes::kBoolean},
    {"effective_cache_size", "4GB", Takes::kSize},
    {"enable_bitmapscan", "on", Takes::kBoolean},
    {"enable_hashagg", "on", Takes::kBoolean},
    {"enable_hashjoin", "on", Takes::kBoolean},
    {"enable_incremental_sort", "on", Takes::kBoolean},
    {"enable_indexonlyscan", "on", Takes::kBoolean},
    {"enable_indexscan", "on", Takes::kBoolean},
    {"enable_material", "on", Takes::kBoolean},
    {"enable_memoize", "on", Takes::kBoolean},
    {"enable_mergejoin", "on", Takes::kBoolean},
    {"enable_nestloop", "on", Takes::kBoolean},
    {"enable_partition_pruning", "on", Takes::kBoolean},
    {"enable_seqscan", "on", Takes::kBoolean},
    {"enable_sort", "on", Takes::kBoolean},
    {"enable_tidscan", "on", Takes::kBoolean},
    {"escape_string_warning", "on", Takes::kBoolean},
    {"extra_float_digits", "1", Takes::kWhole, "-15 3"},
    {"from_collapse_limit", "8", Takes::kWhole, "1 2147483647"},
    {"geqo", "on", Takes::kBoolean},
    {"geqo_threshold", "12", Takes::kWhole, "2 2147483647"},
    {"idle_in_transaction_session_timeout", "0", Takes::kTime},
    {"idle_session_timeout", "0", Takes::kTime},
    {"in_hot_standby", "off", Takes::kNothing},
    {"integer_datetimes", "on", Takes::kNothing},
    {"intervalstyle", "postgres", Takes::kWord, "postgres postgres_verbose sql_standard iso_8601"},
    {"is_superuser", "off", Takes::kNothing},
    {"jit", "off", Takes::kBoolean},
    {"jit_above_cost", "100000", Takes::kReal, "-1 1e308"},
    {"join_collapse_limit", "8", Takes::kWhole, "1 2147483647"},
    {"lc_collate", "C", Takes::kNothing},
    {"lc_ctype", "C.UTF-8", Takes::kNothing},
    {"lc_messages", "C", Takes::kFixed},
    {"lc_monetary", "C", Takes::kFixed},
    {"lc_numeric", "C", Takes::kFixed},
    {"lc_time", "C", Takes::kFixed},
    {"lock_timeout", "0", Takes::kTime},
    {"log_duration", "off", Takes::kBoolean},
    {"log_min_duration_statement", "-1", Takes::kWhole, "-1 2147483647"},
    {"log_min_error_statement", "error", Takes::kWord, kMessages},
    {"log_min_messages", "warning", Takes::kWord, kMessages},
    {"log_statement", "none", Takes::kWord, "none ddl mod all"},
    {"maintenance_work_mem", "64MB", Takes::kSize},
    {"max_identifier_length", "63", Takes::kNothing},
    {"max_parallel_maintenance_workers", "2", Takes::kWhole, "0 1024"},
    {"max_parallel_workers", "8", Takes::kWhole, "0 1024"},
    {"max_parallel_workers_per_gather", "2", Takes::kWhole, "0 1024"},
    {"max_prepared_transactions", "0", Takes::kNothing},
    {"parallel_setup_cost", "1000", Takes::kReal, kCost},
    {"parallel_tuple_cost", "0.1", Takes::kReal, kCost},
    {"password_encryption", "scram-sha-256", Takes::kWord, "scram-sha-256 md5"},
    {"plan_cache_mode", "auto", Takes::kWord, "auto force_generic_plan force_custom_plan"},
    {"quote_all_identifiers", "off", Takes::kBoolean},
    {"random_page_cost", "4", Takes::kReal, kCost},
    {"role", "none", Takes::kFixed},
    {"row_security", "on", Takes::kBoolean},
    {"search_path", "\"$user\", public", Takes::kText},
    {"seq_page_cost", "1", Takes::kReal, kCost},
    {"server_encoding", "UTF8", Takes::kNothing},
    {"server_version", "15.0 (cupel mock)", Takes::kNothing},
    {"server_version_num", "150000", Takes::kNothing},
    {"session_replication_role", "origin", Takes::kFixed},
    {"ssl", "off", Takes::kNothing},
    {"standard_conforming_strings", "on", Takes::kFixed},
    {"statement_timeout", "0", Takes::kTime},
    {"synchronous_commit", "on", Takes::kWord, "on off local remote_write remote_apply"},
    {"tcp_keepalives_count", "0", Takes::kWhole, kAnyWhole},
    {"tcp_keepalives_idle", "0", Takes::kWhole, kAnyWhole},
    {"tcp_keepalives_interval", "0", Takes::kWhole, kAnyWhole},
    {"temp_buffers", "8MB", Takes::kSize},
    {"timezone", "UTC", Takes::kFixed},
    {"transaction_deferrable", "off", Takes::kBoolean},
    {"transform_null_equals", "off", Takes::kFixed},
    {"work_mem", "4MB", Takes::kSize},
    {"xmloption", "content", Takes::kWord, "content document"},
    // The mock's own.
    {"cupel.database", "cupel", Takes::kNothing},
    {"cupel.version", "PostgreSQL 15.0 (cupel mock)", Takes::kNothing},
};

// What else PostgreSQL 15 knows.
constexpr std::string_view kOthers =
    " archive_cleanup_command archive_command archive_library archive_mode archive_timeout"
    " authentication_timeout autovacuum autovacuum_analyze_scale_factor"
    " autovacuum_analyze_threshold autovacuum_freeze_max_age autovacuum_max_workers"
    " autovacuum_multixact_freeze_max_age autovacuum_naptime autovacuum_vacuum_cost_delay"
    " autovacuum_vacuum_cost_limit autovacuum_vacuum_insert_scale_factor"
    " autovacuum_vacuum_insert_threshold autovacuum_vacuum_scale_factor"
    " autovacuum_vacuum_threshold autovacuum_work_mem backend_flush_after bgwriter_delay"
    " bgwriter_flush_after bgwriter_lru_maxpages bgwriter_lru_multiplier block_size bonjour"
    " bonjour_name checkpoint_completion_target checkpoint_flush_after checkpoint_timeout"
    " checkpoint_warning client_connection_check_interval cluster_name commit_delay"
    " commit_siblings compute_query_id config_file data_checksums data_directory"
    " data_directory_mode data_sync_retry db_user_namespace debug_assertions debug_pretty_print"
    " debug_print_parse debug_print_plan debug_print_rewritten default_toast_compression"
    " default_with_oids dynamic_library_path dynamic_shared_memory_type effective_io_concurrency"
    " enable_async_append enable_gathermerge enable_parallel_append enable_parallel_hash"
    " enable_partitionwise_aggregate enable_partitionwise_join event_source exit_on_error"
    " extension_destdir external_pid_file fsync full_page_writes geqo_effort geqo_generations"
    " geqo_pool_size geqo_seed geqo_selection_bias gin_fuzzy_search_limit gin_pending_list_limit"
    " hash_mem_multiplier hba_file hot_standby hot_standby_feedback huge_page_size huge_pages"
    " ident_file jit_inline_above_cost jit_optimize_above_cost jit_provider krb_caseins_users"
    " krb_server_keyfile listen_addresses lo_compat_privileges local_preload_libraries"
    " log_autovacuum_min_duration log_checkpoints log_connections log_destination log_directory"
    " log_disconnections log_error_verbosity log_executor_stats log_file_mode log_filename"
    " log_hostname log_line_prefix log_lock_waits log_min_duration_sample"
    " log_parameter_max_length log_parameter_max_length_on_error log_parser_stats"
    " log_planner_stats log_recovery_conflict_waits log_replication_commands log_rotation_age"
    " log_rotation_size log_startup_progress_interval log_statement_sample_rate"
    " log_statement_stats log_temp_files log_timezone log_transaction_sample_rate"
    " log_truncate_on_rotation logging_collector logical_decoding_work_mem"
    " maintenance_io_concurrency max_connections max_files_per_process max_function_args"
    " max_index_keys max_locks_per_transaction max_logical_replication_workers"
    " max_pred_locks_per_page max_pred_locks_per_relation max_pred_locks_per_transaction"
    " max_replication_slots max_slot_wal_keep_size max_stack_depth max_standby_archive_delay"
    " max_standby_streaming_delay max_sync_workers_per_subscription max_wal_senders max_wal_size"
    " max_worker_processes min_dynamic_shared_memory min_parallel_index_scan_size"
    " min_parallel_table_scan_size min_wal_size old_snapshot_threshold output_plugin_libraries"
    " parallel_leader_participation port primary_conninfo primary_slot_name promote_trigger_file"
    " recovery_end_command recovery_init_sync_method recovery_min_apply_delay recovery_prefetch"
    " recovery_target recovery_target_action recovery_target_inclusive recovery_target_lsn"
    " recovery_target_name recovery_target_time recovery_target_timeline recovery_target_xid"
    " recursive_worktable_factor restart_after_crash restore_command seed segment_size"
    " session_authorization session_preload_libraries shared_buffers shared_memory_size"
    " shared_memory_type shared_preload_libraries ssl_ca_file ssl_cert_file ssl_ciphers"
    " ssl_crl_dir ssl_crl_file ssl_dh_params_file ssl_ecdh_curve ssl_key_file ssl_library"
    " ssl_max_protocol_version ssl_min_protocol_version ssl_passphrase_command"
    " ssl_passphrase_command_supports_reload ssl_prefer_server_ciphers stats_fetch_consistency"
    " superuser_reserved_connections synchronize_seqscans synchronous_standby_names"
    " syslog_facility syslog_ident syslog_sequence_numbers syslog_split_messages tcp_user_timeout"
    " temp_file_limit temp_tablespaces timezone_abbreviations track_activities"
    " track_activity_query_size track_commit_timestamp track_counts track_functions"
    " track_io_timing track_wal_io_timing unix_socket_directories unix_socket_group"
    " unix_socket_permissions update_process_title vacuum_cost_delay vacuum_cost_limit"
    " vacuum_cost_page_dirty vacuum_cost_page_hit vacuum_cost_page_miss vacuum_defer_cleanup_age"
    " vacuum_failsafe_age vacuum_freeze_min_age vacuum_freeze_table_age"
    " vacuum_multixact_failsafe_age vacuum_multixact_freeze_min_age"
    " vacuum_multixact_freeze_table_age wal_block_size wal_buffers wal_compression"
    " wal_decode_buffer_size wal_init_zero wal_keep_size wal_level wal_log_hints"
    " wal_receiver_create_temp_slot wal_receiver_status_interval wal_receiver_timeout wal_recycle"
    " wal_retrieve_retry_interval wal_segment_size wal_sender_timeout wal_skip_threshold"
    " wal_sync_method wal_writer_delay wal_writer_flush_after xmlbinary ";

constexpr Setting kMysql[] = {
    {"auto_increment_increment", "1", Takes::kFixed},
    {"auto_increment_offset", "1", Takes::kFixed},
    {"character_set_client", "utf8mb4", Takes::kFixed},
    {"character_set_connection", "utf8mb4", Takes::kFixed},
    {"character_set_database", "utf8mb4", Takes::kFixed},
    {"character_set_results", "utf8mb4", Takes::kFixed},
    {"character_set_server", "utf8mb4", Takes::kFixed},
    {"character_set_system", "utf8mb3", Takes::kNothing},
    // Drivers say one when they connect; text compares by bytes all the same (docs/mock-sql.md).
    {"collation_connection", "utf8mb4_bin", Takes::kWord,
     "utf8mb4_bin utf8mb4_general_ci utf8mb4_unicode_ci utf8mb4_unicode_520_ci utf8mb4_0900_ai_ci "
     "utf8mb4_0900_bin utf8mb4_uca1400_ai_ci"},
    {"collation_database", "utf8mb4_bin", Takes::kFixed},
    {"collation_server", "utf8mb4_bin", Takes::kFixed},
    {"completion_type", "NO_CHAIN", Takes::kFixed},
    {"cupel.database", "cupel", Takes::kNothing},
    {"cupel.version", "8.0.0-cupel-mock", Takes::kNothing},
    {"default_storage_engine", "InnoDB", Takes::kFixed},
    {"div_precision_increment", "4", Takes::kFixed},
    {"foreign_key_checks", "1", Takes::kFixed},
    {"init_connect", "", Takes::kFixed},
    {"innodb_lock_wait_timeout", "50", Takes::kWhole, "0 1073741824"},
    {"interactive_timeout", "28800", Takes::kWhole, "1 31536000"},
    {"join_buffer_size", "262144", Takes::kWhole, "128 4294967295"},
    {"license", "Apache-2.0", Takes::kNothing},
    {"lock_wait_timeout", "86400", Takes::kWhole, "0 31536000"},
    {"lower_case_table_names", "1", Takes::kNothing},
    {"max_allowed_packet", "16777216", Takes::kWhole, "1024 1073741824"},
    {"max_execution_time", "0", Takes::kWhole, "0 4294967295"},
    {"max_heap_table_size", "16777216", Takes::kWhole, "16384 4294967295"},
    {"max_statement_time", "0", Takes::kReal, "0 31536000"},
    {"net_buffer_length", "16384", Takes::kWhole, "1024 1048576"},
    {"net_read_timeout", "30", Takes::kWhole, "1 31536000"},
    {"net_write_timeout", "60", Takes::kWhole, "1 31536000"},
    {"performance_schema", "0", Takes::kNothing},
    {"query_cache_size", "0", Takes::kNothing},
    {"query_cache_type", "OFF", Takes::kNothing},
    {"sort_buffer_size", "2097152", Takes::kWhole, "1024 4294967295"},
    {"sql_auto_is_null", "0", Takes::kFixed},
    {"sql_big_selects", "1", Takes::kBoolean},
    {"sql_mode", "STRICT_TRANS_TABLES", Takes::kText},
    {"sql_notes", "1", Takes::kBoolean},
    {"sql_quote_show_create", "1", Takes::kBoolean},
    {"sql_safe_updates", "0", Takes::kFixed},
    {"sql_select_limit", "18446744073709551615", Takes::kFixed},
    {"sql_warnings", "0", Takes::kBoolean},
    {"system_time_zone", "UTC", Takes::kNothing},
    {"time_zone", "SYSTEM", Takes::kFixed},
    {"tmp_table_size", "16777216", Takes::kWhole, "1024 4294967295"},
    {"unique_checks", "1", Takes::kBoolean},
    {"version", "8.0.0-cupel-mock", Takes::kNothing},
    {"version_comment", "cupel mock", Takes::kNothing},
    {"wait_timeout", "28800", Takes::kWhole, "1 31536000"},
};

const Setting* find(Dialect dialect, std::string_view name) {
  const auto in = [&](const auto& table) -> const Setting* {
    const auto found = std::find_if(std::begin(table), std::end(table),
                                    [&](const Setting& one) { return one.name == name; });
    return found == std::end(table) ? nullptr : &*found;
  };
  return dialect == Dialect::kMysql ? in(kMysql) : in(kPostgres);
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// A number and its unit, in the first unit; nullopt if it is none.
struct Unit {
  std::string_view name;
  double size;
};
constexpr Unit kTimes[] = {{"ms", 1},        {"us", 0.001},      {"s", 1000},
                           {"min", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
constexpr Unit kSizes[] = {{"kB", 1}, {"B", 1.0 / 1024}, {"MB", 1024}, {"GB", 1048576},
                           {"TB", 1073741824}};

std::optional<double> number_of_text(std::string_view& text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (wrong != std::errc{} || !std::isfinite(number)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return number;
}

template <std::size_t kCount>
std::optional<std::int64_t> measured(std::string_view text, const Unit (&units)[kCount]) {
  const auto number = number_of_text(text);
  if (!number) return std::nullopt;
  for (const auto& unit : units) {
    if (text != (text.empty() ? "" : unit.name)) continue;
    const double size = std::nearbyint(*number * unit.size);
    if (size < 0 || size > 2147483647) return std::nullopt;
    return static_cast<std::int64_t>(size);
  }
  return std::nullopt;
}

template <std::size_t kCount>
std::string in_units(std::int64_t size, const Unit (&units)[kCount]) {
  if (size == 0) return "0";
  std::string best;
  for (const auto& unit : units) {
    const auto whole = static_cast<std::int64_t>(unit.size);
    if (whole >= 1 && size % whole == 0) best = fmt::format("{}{}", size / whole, unit.name);
  }
  return best;
}

std::optional<bool> boolean(Dialect dialect, std::string_view value) {
  const auto text = lowered(value);
  const auto is = [&](std::string_view word, std::size_t least) {
    const bool whole = dialect == Dialect::kMysql;
    return whole ? text == word : text.size() >= least && word.starts_with(text);
  };
  if (text == "1" || is("on", 2) || is("true", 1) || is("yes", 1)) return true;
  if (text == "0" || is("off", 2) || is("false", 1) || is("no", 1)) return false;
  return std::nullopt;
}

// A value that says the same in other words.
bool means(const Setting& setting, std::string_view value) {
  const auto wanted = lowered(value);
  const auto plain = [](std::string text) {
    std::erase_if(text, [](char c) { return c == '-' || c == '_'; });
    return text;
  };
  if (plain(wanted) == plain(lowered(setting.value))) return true;
  const auto& name = setting.name;
  if (name == "timezone" || name == "time_zone") {
    return wanted == "utc" || wanted == "gmt" || wanted == "etc/utc" || wanted == "+00:00";
  }
  if (name == "datestyle") return wanted.starts_with("iso");
  if (name == "client_encoding") return wanted == "unicode";
  if (name.starts_with("lc_")) return wanted == "posix" || wanted.starts_with("c.");
  if (name.starts_with("character_set")) return wanted.starts_with("utf8") || wanted == "null";
  return false;
}

// The tables are in one schema.
void check_search_path(const std::string& value) {
  std::string list = value + ",";
  std::string one;
  for (const char c : list) {
    if (c == ' ' || c == '"' || c == '\'') continue;
    if (c != ',') {
      one += c;
    } else if (std::exchange(one, "") == "public") {
      return;
    }
  }
  raise("0A000", fmt::format("search_path = {} is not supported by the mock: all tables are in the "
                             "schema public, which has to be in it",
                             value));
}

// What changes the meaning of statements is not done here.
void check_sql_mode(const std::string& value) {
  bool strict = false;
  std::string one;
  for (const char c : value + ",") {
    if (c == ' ') continue;
    if (c != ',') {
      one += c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
      continue;
    }
    static constexpr std::string_view kDone[] = {
        "STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "NO_ENGINE_SUBSTITUTION", "NO_ZERO_DATE",
        "NO_ZERO_IN_DATE",     "ONLY_FULL_GROUP_BY", "NO_AUTO_CREATE_USER",   ""};
    if (std::find(std::begin(kDone), std::end(kDone), one) == std::end(kDone)) {
      not_supported("sql_mode " + one);
    }
    strict |= one.starts_with("STRICT");
    one.clear();
  }
  if (!strict) not_supported("sql_mode without STRICT_TRANS_TABLES");
}

}  // namespace

Settings first_settings(Dialect dialect) {
  Settings all;
  const auto add = [&](const auto& table) {
    for (const auto& one : table) all.emplace(one.name, one.value);
  };
  if (dialect == Dialect::kMysql) {
    add(kMysql);
  } else {
    add(kPostgres);
  }
  return all;
}

std::string shown_name(const std::string& name) {
  for (const std::string_view one : {"TimeZone", "DateStyle", "IntervalStyle"}) {
    if (lowered(one) == name) return std::string(one);
  }
  return name;
}

void unknown_setting(Dialect dialect, const std::string& name) {
  if (dialect == Dialect::kMysql) {
    raise("42704", fmt::format("Unknown system variable '{}', or one that the mock does not have",
                               name));
  }
  if (kOthers.find(" " + name + " ") != kOthers.npos) {
    not_supported(fmt::format("the setting {} of PostgreSQL", name));
  }
  raise("42704", fmt::format("unrecognized configuration parameter \"{}\"", name));
}

std::string checked_setting(Dialect dialect, const std::string& name, const std::string& value) {
  const auto* setting = find(dialect, name);
  if (setting == nullptr) {
    // PostgreSQL keeps whatever has a dot in its name for extensions and applications.
    const bool own = dialect == Dialect::kPostgres && name.find('.') != name.npos &&
                     !name.starts_with("cupel.");
    if (own) return value;
    unknown_setting(dialect, name);
  }
  const auto wrong = [&] [[noreturn]] (const std::string& expected) {
    throw Raised{{"22023", fmt::format("invalid value for parameter \"{}\": \"{}\"", name, value),
                  "expected " + expected, {}}};
  };
  const auto range = words_of(setting->range);
  const auto number_within = [&]() -> double {
    std::string_view text = value;
    const auto number = number_of_text(text);
    const auto least = std::stod(std::string(range[0])), most = std::stod(std::string(range[1]));
    if (!number || !text.empty() || *number < least || *number > most) {
      wrong(fmt::format("a number from {} to {}", range[0], range[1]));
    }
    return *number;
  };
  switch (setting->takes) {
    case Takes::kNothing:
      raise(dialect == Dialect::kMysql ? "22023" : "55P02",
            fmt::format("parameter \"{}\" cannot be changed", name));
    case Takes::kFixed:
      if (!means(*setting, value)) {
        raise("0A000", fmt::format("{} = {} is not supported by the mock, where it is {}", name,
                                   value, setting->value));
      }
      // As asked for where that is another name of the same, as PostgreSQL shows it.
      return name.ends_with("zone") ? value : std::string(setting->value);
    case Takes::kText:
      if (name == "search_path") check_search_path(value);
      if (name == "sql_mode") check_sql_mode(value);
      return value;
    case Takes::kBoolean: {
      const auto wanted = boolean(dialect, value);
      if (!wanted) wrong("a boolean");
      if (dialect == Dialect::kMysql) return *wanted ? "1" : "0";
      return *wanted ? "on" : "off";
    }
    case Takes::kWord: {
      const auto wanted = lowered(value);
      if (std::find(range.begin(), range.end(), wanted) != range.end()) return wanted;
      const auto truth = boolean(dialect, value);  // synchronous_commit = true
      if (truth && std::find(range.begin(), range.end(), *truth ? "on" : "off") != range.end()) {
        return *truth ? "on" : "off";
      }
      wrong("one of " + std::string(setting->range));
    }
    case Takes::kWhole: {
      const auto number = number_within();
      if (number != std::nearbyint(number)) wrong("a whole number");
      if (name == "extra_float_digits" && number < 1) {
        not_supported("extra_float_digits below 1, numbers that do not read back as the same");
      }
      return std::to_string(static_cast<std::int64_t>(number));
    }
    case Takes::kReal:
      return fmt::format("{}", number_within());
    case Takes::kTime: {
      const auto time = measured(value, kTimes);
      if (!time) wrong("a time in milliseconds, or with a unit: us, ms, s, min, h, d");
      return in_units(*time, kTimes);
    }
    case Takes::kSize: {
      const auto size = measured(value, kSizes);
      if (!size) wrong("a size in kB, or with a unit: B, kB, MB, GB, TB");
      return in_units(*size, kSizes);
    }
  }
  return value;
}

double milliseconds_of(const Settings& settings, std::string_view name) {
  const auto found = settings.find(name);
  if (found == settings.end()) return 0;
  return static_cast<double>(measured(found->second, kTimes).value_or(0));
}

}  // namespace cupel::mock::sql
