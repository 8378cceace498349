// The table of PostgreSQL's settings, and their values checked; see the header.
//
// PostgreSQL counts some settings in blocks of 8 kB, reads C's octal and hexadecimal numbers,
// rounds a fraction to the next smaller unit first and then to whole ones, and shows a quantity in
// the largest unit that leaves no rest. So do we, and nothing else of it is interpreted here.
#include "sql/dialect/settings_postgres.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>

#include "base/text.hpp"
#include "sql/value/error.hpp"

namespace cupel::sql::postgres {

namespace {

enum class Takes : std::uint8_t {
  kReadOnly,
  kText,  // what it says has no effect on an answer, or a function below sees to it
  kBoolean,
  kFixedBoolean,  // one of its values alone: the other would mean something that is not done here
  kWord,
  kFixedWord,
  kWhole,
  kReal,
};

enum class Unit : std::uint8_t { kNone, kMilliseconds, kSeconds, kKilobytes, kBlocks };

struct Setting {
  std::string_view name, value;
  Takes takes;
  double least = 0, most = 0;
  Unit unit = Unit::kNone;
  // Of kWord: those that PostgreSQL's hint lists, in its order, and others ("other=shown").
  std::string_view words = {}, hidden = {};
};

constexpr double kMostWhole = 2147483647;
constexpr double kMostReal = std::numeric_limits<double>::max();

constexpr Setting boolean(std::string_view name, std::string_view value) {
  return {name, value, Takes::kBoolean};
}
constexpr Setting text(std::string_view name, std::string_view value) {
  return {name, value, Takes::kText};
}
// `when`: what PostgreSQL says after "cannot be changed".
constexpr Setting read_only(std::string_view name, std::string_view value,
                            std::string_view when = {}) {
  return {.name = name, .value = value, .takes = Takes::kReadOnly, .words = when};
}
constexpr Setting whole(std::string_view name, std::string_view value, double least,
                        double most = kMostWhole, Unit unit = Unit::kNone) {
  return {name, value, Takes::kWhole, least, most, unit};
}
constexpr Setting real(std::string_view name, std::string_view value, double least = 0,
                       double most = kMostReal) {
  return {name, value, Takes::kReal, least, most};
}
constexpr Setting word(std::string_view name, std::string_view value, std::string_view words,
                       std::string_view hidden = {}) {
  return {name, value, Takes::kWord, 0, 0, Unit::kNone, words, hidden};
}
constexpr Setting fixed_word(std::string_view name, std::string_view value, std::string_view words,
                             std::string_view hidden = {}) {
  return {name, value, Takes::kFixedWord, 0, 0, Unit::kNone, words, hidden};
}

constexpr std::string_view kSwitch = "true=on false=off yes=on no=off 1=on 0=off";
constexpr std::string_view kClientMessages =
    "debug5 debug4 debug3 debug2 debug1 log notice warning error";
constexpr std::string_view kServerMessages =
    "debug5 debug4 debug3 debug2 debug1 info notice warning error log fatal panic";

constexpr Setting kSettings[] = {
    text("application_name", ""),
    boolean("array_nulls", "on"),
    fixed_word("backslash_quote", "safe_encoding", "safe_encoding on off", kSwitch),
    word("bytea_output", "hex", "escape hex"),
    boolean("check_function_bodies", "on"),
    text("client_encoding", "UTF8"),
    word("client_min_messages", "notice", kClientMessages, "debug=debug2 info=info"),
    word("constraint_exclusion", "partition", "partition on off", kSwitch),
    real("cpu_index_tuple_cost", "0.005"),
    real("cpu_operator_cost", "0.0025"),
    real("cpu_tuple_cost", "0.01"),
    real("cursor_tuple_fraction", "0.1", 0, 1),
    text("datestyle", "ISO, MDY"),
    whole("deadlock_timeout", "1s", 1, kMostWhole, Unit::kMilliseconds),
    whole("default_statistics_target", "100", 1, 10000),
    text("default_table_access_method", "heap"),
    text("default_tablespace", ""),
    text("default_text_search_config", "pg_catalog.simple"),
    whole("effective_cache_size", "4GB", 1, kMostWhole, Unit::kBlocks),
    boolean("enable_bitmapscan", "on"),
    boolean("enable_hashagg", "on"),
    boolean("enable_hashjoin", "on"),
    boolean("enable_incremental_sort", "on"),
    boolean("enable_indexonlyscan", "on"),
    boolean("enable_indexscan", "on"),
    boolean("enable_material", "on"),
    boolean("enable_memoize", "on"),
    boolean("enable_mergejoin", "on"),
    boolean("enable_nestloop", "on"),
    boolean("enable_partition_pruning", "on"),
    boolean("enable_seqscan", "on"),
    boolean("enable_sort", "on"),
    boolean("enable_tidscan", "on"),
    boolean("escape_string_warning", "on"),
    whole("extra_float_digits", "1", -15, 3),
    whole("from_collapse_limit", "8", 1),
    boolean("geqo", "on"),
    whole("geqo_threshold", "12", 2),
    whole("idle_in_transaction_session_timeout", "0", 0, kMostWhole, Unit::kMilliseconds),
    whole("idle_session_timeout", "0", 0, kMostWhole, Unit::kMilliseconds),
    read_only("in_hot_standby", "off"),
    read_only("integer_datetimes", "on"),
    word("intervalstyle", "postgres", "postgres postgres_verbose sql_standard iso_8601"),
    read_only("is_superuser", "off"),
    boolean("jit", "off"),
    real("jit_above_cost", "100000", -1),
    whole("join_collapse_limit", "8", 1),
    read_only("lc_collate", "C"),
    read_only("lc_ctype", "C.UTF-8"),
    text("lc_messages", "C"),
    text("lc_monetary", "C"),
    text("lc_numeric", "C"),
    text("lc_time", "C"),
    whole("lock_timeout", "0", 0, kMostWhole, Unit::kMilliseconds),
    boolean("log_duration", "off"),
    whole("log_min_duration_statement", "-1", -1, kMostWhole, Unit::kMilliseconds),
    word("log_min_error_statement", "error", kServerMessages, "debug=debug2"),
    word("log_min_messages", "warning", kServerMessages, "debug=debug2"),
    word("log_statement", "none", "none ddl mod all"),
    whole("maintenance_work_mem", "64MB", 1024, kMostWhole, Unit::kKilobytes),
    read_only("max_identifier_length", "63"),
    whole("max_parallel_maintenance_workers", "2", 0, 1024),
    whole("max_parallel_workers", "8", 0, 1024),
    whole("max_parallel_workers_per_gather", "2", 0, 1024),
    read_only("max_prepared_transactions", "0", " without restarting the server"),
    real("parallel_setup_cost", "1000"),
    real("parallel_tuple_cost", "0.1"),
    word("password_encryption", "scram-sha-256", "md5 scram-sha-256"),
    word("plan_cache_mode", "auto", "auto force_generic_plan force_custom_plan"),
    boolean("quote_all_identifiers", "off"),
    real("random_page_cost", "4"),
    text("role", "none"),
    boolean("row_security", "on"),
    text("search_path", "\"$user\", public"),
    real("seq_page_cost", "1"),
    read_only("server_encoding", "UTF8"),
    read_only("server_version", "15.0 (cupel mock)"),
    read_only("server_version_num", "150000"),
    fixed_word("session_replication_role", "origin", "origin replica local"),
    read_only("ssl", "off", " now"),
    {"standard_conforming_strings", "on", Takes::kFixedBoolean},
    whole("statement_timeout", "0", 0, kMostWhole, Unit::kMilliseconds),
    word("synchronous_commit", "on", "local remote_write remote_apply on off", kSwitch),
    whole("tcp_keepalives_count", "0", 0),
    whole("tcp_keepalives_idle", "0", 0, kMostWhole, Unit::kSeconds),
    whole("tcp_keepalives_interval", "0", 0, kMostWhole, Unit::kSeconds),
    whole("temp_buffers", "8MB", 100, 1073741823, Unit::kBlocks),
    text("timezone", "UTC"),
    {"transform_null_equals", "off", Takes::kFixedBoolean},
    whole("work_mem", "4MB", 64, kMostWhole, Unit::kKilobytes),
    word("xmloption", "content", "content document"),
    // The mock's own.
    read_only("cupel.database", kFirstDatabase),
    read_only("cupel.version", kVersion),
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

// Encodings that PostgreSQL knows, without what is neither letter nor digit.
constexpr std::string_view kEncodings =
    " abc alt big5 euccn eucjis2004 eucjp euckr euctw gb18030 gbk iso88591 iso885910 iso885913"
    " iso885914 iso885915 iso885916 iso88592 iso88593 iso88594 iso88595 iso88596 iso88597 iso88598"
    " iso88599 johab koi8 koi8r koi8u latin1 latin10 latin2 latin3 latin4 latin5 latin6 latin7"
    " latin8 latin9 mskanji muleinternal shiftjis shiftjis2004 sjis sqlascii tcvn tcvn5712 uhc "
    "vscii"
    " win win1250 win1251 win1252 win1253 win1254 win1255 win1256 win1257 win1258 win866 win874"
    " win932 win936 win949 win950 windows1250 windows1251 windows1252 windows1253 windows1254"
    " windows1255 windows1256 windows1257 windows1258 windows866 windows874 windows932 windows936"
    " windows949 windows950 ";

// UTC's other names, as the time zone database spells them.
constexpr std::string_view kUtc[] = {
    "UTC",           "GMT",       "Etc/UTC",   "Etc/GMT",   "UCT",       "Etc/UCT",
    "Zulu",          "Etc/Zulu",  "Universal", "GMT0",      "GMT+0",     "GMT-0",
    "Etc/Universal", "Greenwich", "Etc/GMT0",  "Etc/GMT+0", "Etc/GMT-0", "Etc/Greenwich"};

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

const Setting* find(std::string_view name) {
  const auto* found = std::find_if(std::begin(kSettings), std::end(kSettings),
                                   [&](const Setting& one) { return one.name == name; });
  return found == std::end(kSettings) ? nullptr : found;
}

[[noreturn]] void wrong(std::string_view name, const std::string& value, std::string hint = {},
                        std::string detail = {}) {
  Error error{"22023", fmt::format("invalid value for parameter \"{}\": \"{}\"",
                                   shown_name(std::string(name)), value)};
  error.detail = std::move(detail);
  error.hint = std::move(hint);
  throw SqlException{std::move(error)};
}

[[noreturn]] void other_than(std::string_view name, const std::string& value,
                             std::string_view ours) {
  raise("0A000", fmt::format("{} = {} is not supported by the mock, where it is {}", name, value,
                             ours.empty() ? "empty" : ours));
}

// Units

struct Multiple {
  std::string_view name;
  double size;  // in the setting's own unit
};
// Largest first, as they are tried for what is shown.
constexpr Multiple kOfMilliseconds[] = {{"d", 86'400'000}, {"h", 3'600'000}, {"min", 60'000},
                                        {"s", 1000},       {"ms", 1},        {"us", 0.001}};
constexpr Multiple kOfSeconds[] = {{"d", 86'400}, {"h", 3600},   {"min", 60},
                                   {"s", 1},      {"ms", 0.001}, {"us", 0.000001}};
constexpr Multiple kOfKilobytes[] = {
    {"TB", 1073741824}, {"GB", 1048576}, {"MB", 1024}, {"kB", 1}, {"B", 1.0 / 1024}};
constexpr Multiple kOfBlocks[] = {
    {"TB", 134217728}, {"GB", 131072}, {"MB", 128}, {"kB", 1.0 / 8}, {"B", 1.0 / 8192}};

struct Units {
  std::string_view name;  // in "5 ms is outside the valid range"
  std::span<const Multiple> multiples;
  std::string_view hint;
};
constexpr std::string_view kTimeHint =
    R"(Valid units for this parameter are "us", "ms", "s", "min", "h", and "d".)";
constexpr std::string_view kSizeHint =
    R"(Valid units for this parameter are "B", "kB", "MB", "GB", and "TB".)";

Units units_of(Unit unit) {
  switch (unit) {
    case Unit::kMilliseconds:
      return {" ms", kOfMilliseconds, kTimeHint};
    case Unit::kSeconds:
      return {" s", kOfSeconds, kTimeHint};
    case Unit::kKilobytes:
      return {" kB", kOfKilobytes, kSizeHint};
    case Unit::kBlocks:
      return {" 8kB", kOfBlocks, kSizeHint};
    case Unit::kNone:
      break;
  }
  return {};
}

// Of what follows a number: in the setting's own unit, a fraction rounded to the next smaller one.
std::optional<double> in_own_unit(double number, std::string_view unit, const Units& units) {
  for (std::size_t at = 0; at < units.multiples.size(); ++at) {
    if (units.multiples[at].name != unit) continue;
    const double size = number * units.multiples[at].size;
    if (at + 1 == units.multiples.size()) return size;
    const double smaller = units.multiples[at + 1].size;
    return std::rint(size / smaller) * smaller;
  }
  return std::nullopt;
}

double whole_number(const Setting& setting, const std::string& value) {
  const auto units = units_of(setting.unit);
  const char* begin = value.c_str();
  char* end = nullptr;
  errno = 0;
  auto number = static_cast<double>(std::strtol(begin, &end, 0));  // 010 is 8
  if (*end == '.' || *end == 'e' || *end == 'E' || errno == ERANGE) {
    errno = 0;
    number = std::strtod(begin, &end);
  }
  if (end == begin || errno == ERANGE || std::isnan(number)) wrong(setting.name, value);
  std::string_view rest(end);
  while (!rest.empty() && is_space(rest.front())) rest.remove_prefix(1);
  if (!rest.empty()) {
    if (setting.unit == Unit::kNone) wrong(setting.name, value);
    while (is_space(rest.back())) rest.remove_suffix(1);
    const auto sized = in_own_unit(number, rest, units);
    if (!sized) wrong(setting.name, value, std::string(units.hint));
    number = *sized;
  }
  number = std::rint(number) + 0.0;  // and no -0
  if (number > kMostWhole || number < -kMostWhole - 1) {
    wrong(setting.name, value, "Value exceeds integer range.");
  }
  if (number < setting.least || number > setting.most) {
    raise("22023", fmt::format("{}{} is outside the valid range for parameter \"{}\" ({} .. {})",
                               number, units.name, setting.name, setting.least, setting.most));
  }
  return number;
}

std::string shown_whole(const Setting& setting, double number) {
  const auto whole = static_cast<std::int64_t>(number);
  if (whole <= 0 || setting.unit == Unit::kNone) return std::to_string(whole);
  for (const auto& unit : units_of(setting.unit).multiples) {
    if (unit.size <= 1 || whole % static_cast<std::int64_t>(unit.size) == 0) {
      return fmt::format("{}{}", static_cast<std::int64_t>(std::rint(number / unit.size)),
                         unit.name);
    }
  }
  return std::to_string(whole);
}

std::string digits(double number) {
  if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
  return fmt::format("{:g}", number);
}

std::string real_number(const Setting& setting, const std::string& value) {
  const char* begin = value.c_str();
  char* end = nullptr;
  errno = 0;
  const double number = std::strtod(begin, &end);
  std::string_view rest(end);
  while (!rest.empty() && is_space(rest.front())) rest.remove_prefix(1);
  if (end == begin || errno == ERANGE || std::isnan(number) || !rest.empty()) {
    wrong(setting.name, value);
  }
  if (number < setting.least || number > setting.most) {
    raise("22023",
          fmt::format("{} is outside the valid range for parameter \"{}\" ({} .. {})",
                      digits(number), setting.name, digits(setting.least), digits(setting.most)));
  }
  return digits(number);
}

// A beginning of on, off, true, false, yes or no, if it is no beginning of both of two.
std::optional<bool> truth(std::string_view value) {
  const auto text = base::to_lower(value);
  const auto begins = [&](std::string_view word, std::size_t least) {
    return text.size() >= least && word.starts_with(text);
  };
  if (text == "1" || begins("on", 2) || begins("true", 1) || begins("yes", 1)) return true;
  if (text == "0" || begins("off", 2) || begins("false", 1) || begins("no", 1)) return false;
  return std::nullopt;
}

[[noreturn]] void no_word(std::string_view name, const std::string& value,
                          const std::vector<std::string_view>& words) {
  Error error{"22023", fmt::format("invalid value for parameter \"{}\": \"{}\"", name, value)};
  error.hint = fmt::format("Available values: {}.", fmt::join(words, ", "));
  throw SqlException{std::move(error)};
}

std::string one_word(const Setting& setting, const std::string& value) {
  auto wanted = base::to_lower(value);
  const auto words = words_of(setting.words);
  if (std::find(words.begin(), words.end(), wanted) != words.end()) return wanted;
  for (const auto& other : words_of(setting.hidden)) {
    const auto middle = other.find('=');
    if (other.substr(0, middle) == wanted) return std::string(other.substr(middle + 1));
  }
  no_word(setting.name, value, words);
}

// Lists

// The names of a list, in lower case where they are not quoted; nullopt if it is none.
std::optional<std::vector<std::string>> names_of(std::string_view list) {
  std::vector<std::string> names;
  std::size_t at = 0;
  const auto skip = [&] {
    while (at < list.size() && is_space(list[at])) ++at;
  };
  skip();
  if (at == list.size()) return names;
  while (true) {
    std::string name;
    if (at < list.size() && list[at] == '"') {
      ++at;
      while (true) {
        const auto end = list.find('"', at);
        if (end == list.npos) return std::nullopt;
        name += list.substr(at, end - at);
        at = end + 1;
        if (at == list.size() || list[at] != '"') break;
        name += list[at++];
      }
    } else {
      while (at < list.size() && list[at] != ',' && !is_space(list[at])) name += list[at++];
      if (name.empty()) return std::nullopt;
      name = base::to_lower(name);
    }
    names.push_back(std::move(name));
    skip();
    if (at == list.size()) return names;
    if (list[at++] != ',') return std::nullopt;
    skip();
  }
}

std::string quoted_name(const std::string& name) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  const bool bare = !name.empty() && plain(name[0]) &&
                    std::all_of(name.begin(), name.end(),
                                [&](char c) { return plain(c) || (c >= '0' && c <= '9'); });
  if (bare) return name;
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

// The tables are in one schema.
std::string search_path(const std::string& value) {
  const auto names = names_of(value);
  if (!names) wrong("search_path", value, {}, "List syntax is invalid.");
  if (std::find(names->begin(), names->end(), "public") != names->end()) return value;
  raise("0A000", fmt::format("search_path = {} is not supported by the mock: all tables are in the "
                             "schema public, which has to be in it",
                             value));
}

// Dates are written as ISO 8601 has them, and read so too: their parts' order is kept and shown.
std::string date_style(const std::string& value, std::string_view now) {
  const auto words = names_of(value);
  if (!words) wrong("datestyle", value, {}, "List syntax is invalid.");
  std::string_view style, order;
  std::string other;
  const auto say = [&](std::string_view& part, std::string_view said) {
    if (!part.empty() && part != said) {
      wrong("datestyle", value, {}, "Conflicting \"datestyle\" specifications.");
    }
    part = said;
  };
  for (const auto& one : *words) {
    const auto word = base::to_lower(one);
    if (word == "iso") {
      say(style, "ISO");
    } else if (word == "sql" || word.starts_with("postgres") || word.starts_with("german")) {
      say(style, word[0] == 's' ? "SQL" : word[0] == 'p' ? "Postgres" : "German");
    } else if (word == "ymd") {
      say(order, "YMD");
    } else if (word == "dmy" || word.starts_with("euro")) {
      say(order, "DMY");
    } else if (word == "mdy" || word == "us" || word.starts_with("noneuro")) {
      say(order, "MDY");
    } else if (word == "default") {
      if (style.empty()) style = "ISO";
      if (order.empty()) order = "MDY";
    } else {
      wrong("datestyle", value, {}, fmt::format("Unrecognized key word: \"{}\".", one));
    }
  }
  if (!style.empty() && style != "ISO") other_than("datestyle", value, "ISO");
  if (order.empty()) order = now.size() >= 3 ? now.substr(now.size() - 3) : "MDY";
  return fmt::format("ISO, {}", order);
}

std::string time_zone(const std::string& value) {
  auto wanted = base::to_lower(value);
  for (const auto name : kUtc) {
    if (base::to_lower(name) == wanted) return std::string(name);
  }
  if (wanted == "+00:00" || wanted == "-00:00") return value;
  char* end = nullptr;
  errno = 0;
  const double hours = std::strtod(value.c_str(), &end);
  if (end != value.c_str() && *end == 0 && hours == 0) return "<+00>-00";
  other_than("TimeZone", value, "UTC");
}

std::string client_encoding(const std::string& value) {
  std::string plain;
  for (const char c : base::to_lower(value)) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) plain += c;
  }
  if (plain == "utf8" || plain == "unicode") return "UTF8";
  if (plain.empty() || kEncodings.find(" " + plain + " ") == kEncodings.npos) {
    wrong("client_encoding", value);
  }
  other_than("client_encoding", value, "UTF8");
}

std::string text_setting(const std::string& name, const std::string& value, std::string_view now) {
  if (name == "search_path") return search_path(value);
  if (name == "datestyle") return date_style(value, now);
  if (name == "timezone") return time_zone(value);
  if (name == "client_encoding") return client_encoding(value);
  if (name == "application_name") {
    auto shown = value;
    std::replace_if(
        shown.begin(), shown.end(), [](char c) { return c < 32 || c > 126; }, '?');
    return shown;
  }
  if (name.starts_with("lc_")) {
    for (const std::string_view plain : {"C", "POSIX", "C.UTF-8", "C.utf8"}) {
      if (value == plain) return value;
    }
    other_than(name, value, "C");
  }
  if (name == "default_text_search_config") {
    if (value == "simple" || value == "pg_catalog.simple") return "pg_catalog.simple";
    other_than(name, value, "pg_catalog.simple");
  }
  if (name == "default_tablespace") {
    if (value.empty() || value == "pg_default") return value;
    wrong(name, value, {}, fmt::format("Tablespace \"{}\" does not exist.", value));
  }
  if (name == "default_table_access_method") {
    if (value == "heap") return value;
    if (value.empty()) {
      wrong(name, value, {}, "default_table_access_method cannot be empty.");
    }
    wrong(name, value, {}, fmt::format("Table access method \"{}\" does not exist.", value));
  }
  if (name == "role") {
    if (value == "none") return value;
    other_than(name, value, "none");
  }
  return value;
}

// PostgreSQL keeps whatever has a dot in its name for extensions and applications, if its parts are
// plain names.
void check_own_name(const std::string& name) {
  bool begins = true, well = true;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                        static_cast<unsigned char>(c) >= 128;
    const bool later = (c >= '0' && c <= '9') || c == '$' || c == '.';
    well &= letter || (later && !begins);
    begins = c == '.';
  }
  if (well && !begins) return;
  Error error{"42602", fmt::format("invalid configuration parameter name \"{}\"", name)};
  error.detail = "Custom parameter names must be two or more simple identifiers separated by dots.";
  throw SqlException{std::move(error)};
}

}  // namespace

Settings first_settings() {
  Settings all;
  for (const auto& one : kSettings) all.emplace(one.name, one.value);
  return all;
}

SqlException unknown_setting(const std::string& name) {
  if (kOthers.find(" " + name + " ") != kOthers.npos) {
    return unsupported(fmt::format("the setting {} of PostgreSQL", name));
  }
  return {{"42704", fmt::format("unrecognized configuration parameter \"{}\"", name)}};
}

void check_changeable(const std::string& name) {
  const auto* setting = find(name);
  if (setting == nullptr || setting->takes != Takes::kReadOnly) return;
  raise("55P02", fmt::format("parameter \"{}\" cannot be changed{}", name, setting->words));
}

bool checked_boolean(const std::string& name, const std::string& value) {
  const auto wanted = truth(value);
  if (!wanted) raise("22023", fmt::format("parameter \"{}\" requires a Boolean value", name));
  return *wanted;
}

std::string checked_isolation(const std::string& name, const std::string& value) {
  auto wanted = base::to_lower(value);
  const std::vector<std::string_view> levels = {"serializable", "repeatable read", "read committed",
                                                "read uncommitted"};
  if (std::find(levels.begin(), levels.end(), wanted) == levels.end()) no_word(name, value, levels);
  return wanted;
}

std::string value_of_list(const std::string& name, const std::vector<std::string>& values) {
  const bool list = name == "search_path" || name == "datestyle";
  if (!list && values.size() > 1) {
    raise("22023", fmt::format("SET {} takes only one argument", name));
  }
  std::string text;
  for (const auto& value : values) {
    if (&value != &values.front()) text += ", ";
    text += name == "search_path" ? quoted_name(value) : value;
  }
  return text;
}

std::string checked_setting(const std::string& name, const std::string& value,
                            std::string_view now) {
  const auto* setting = find(name);
  if (setting == nullptr) {
    if (name.find('.') == name.npos || name.starts_with("cupel.")) throw unknown_setting(name);
    check_own_name(name);
    return value;
  }
  switch (setting->takes) {
    case Takes::kReadOnly:
      check_changeable(name);
      break;
    case Takes::kText:
      return text_setting(name, value, now);
    case Takes::kBoolean:
      return checked_boolean(name, value) ? "on" : "off";
    case Takes::kFixedBoolean:
      if (checked_boolean(name, value) != (setting->value == "on")) {
        other_than(name, value, setting->value);
      }
      return std::string(setting->value);
    case Takes::kWord:
      return one_word(*setting, value);
    case Takes::kFixedWord:
      if (one_word(*setting, value) != setting->value) other_than(name, value, setting->value);
      return std::string(setting->value);
    case Takes::kWhole: {
      const auto number = whole_number(*setting, value);
      if (name == "extra_float_digits" && number < 1) {
        not_supported("extra_float_digits below 1, numbers that do not read back as the same");
      }
      return shown_whole(*setting, number);
    }
    case Takes::kReal:
      return real_number(*setting, value);
  }
  return value;
}

double milliseconds_of(const Settings& settings, std::string_view name) {
  const auto found = settings.find(name);
  const auto* setting = find(name);
  if (found == settings.end() || setting == nullptr) return 0;
  return whole_number(*setting, found->second);
}

}  // namespace cupel::sql::postgres
