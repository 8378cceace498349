// The plugins of the library: the storage engine, and the settings that clients can change.
//
// The engine is called InnoDB, since applications ask for that engine by its name; the server runs
// without its own (--ignore-builtin-innodb). The server wants plugins that were compiled for its
// very version. This one takes the version of the server that loads it if that server has the same
// class of storage engines, function by function, as the headers it was compiled with.
#include <dlfcn.h>
#include <link.h>
#include <strings.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "mock/engines/mariadb/foreign_keys.hpp"
#include "mock/engines/mariadb/ha_cupel.hpp"
#include "mock/engines/mariadb/server.hpp"
#include "mock/engines/mariadb/session.hpp"

namespace cupel::engines::mariadb {

namespace {

handlerton* engine = nullptr;

char* socket_path = nullptr;
char* databases_state = nullptr;
char strong_constraints = 0;
char* known_levels = nullptr;
char* known_policies = nullptr;

// A value is empty, or one of those, with commas between.
int check_name(MYSQL_THD thd, void* save, st_mysql_value* value, const char* setting,
               const char* known) {
  char buffer[64];
  int size = sizeof buffer;
  const char* text = value->val_str(value, buffer, &size);
  const std::string name = text == nullptr ? "" : std::string(text, size);
  bool is_known = name.empty();
  for (const char* at = known; *at != '\0';) {
    const auto length = std::strcspn(at, ",");
    is_known = is_known || (length == name.size() && strncasecmp(at, name.c_str(), length) == 0);
    at += length + (at[length] == ',' ? 1 : 0);
  }
  if (!is_known && *known == '\0') {
    my_printf_error(ER_WRONG_VALUE_FOR_VAR,
                    "Variable '%s' can't be set to '%s': the level of a product is that of the "
                    "whole store. SET TRANSACTION ISOLATION LEVEL chooses a stronger one",
                    MYF(0), setting, name.c_str());
  } else if (!is_known) {
    my_printf_error(ER_WRONG_VALUE_FOR_VAR,
                    "Variable '%s' can't be set to '%s'. Available values: %s", MYF(0), setting,
                    name.c_str(), known);
  }
  *static_cast<const char**>(save) = thd_strmake(thd, name.c_str(), name.size());
  return is_known ? 0 : 1;
}

int check_level(MYSQL_THD thd, st_mysql_sys_var* /*variable*/, void* save, st_mysql_value* value) {
  return check_name(thd, save, value, "cupel_level", known_levels);
}

int check_policy(MYSQL_THD thd, st_mysql_sys_var* /*variable*/, void* save, st_mysql_value* value) {
  return check_name(thd, save, value, "cupel_policy", known_policies);
}

MYSQL_SYSVAR_STR(socket, socket_path, PLUGIN_VAR_RQCMDARG | PLUGIN_VAR_READONLY,
                 "The socket of cupel's mock store", nullptr, nullptr, "");
MYSQL_SYSVAR_BOOL(strong_constraints, strong_constraints, PLUGIN_VAR_OPCMDARG | PLUGIN_VAR_READONLY,
                  "Unique constraints are checked on what was committed last", nullptr, nullptr, 0);
MYSQL_SYSVAR_STR(levels, known_levels, PLUGIN_VAR_RQCMDARG | PLUGIN_VAR_READONLY,
                 "The values of cupel_level; empty: it has none", nullptr, nullptr, "");
MYSQL_SYSVAR_STR(policies, known_policies, PLUGIN_VAR_RQCMDARG | PLUGIN_VAR_READONLY,
                 "The values of cupel_policy", nullptr, nullptr, "");
MYSQL_THDVAR_STR(level, PLUGIN_VAR_RQCMDARG | PLUGIN_VAR_MEMALLOC,
                 "The isolation level of the next transactions; empty: that of cupel's --level",
                 check_level, nullptr, "");
MYSQL_THDVAR_STR(policy, PLUGIN_VAR_RQCMDARG | PLUGIN_VAR_MEMALLOC,
                 "How reads choose in the next transactions; empty: as cupel's --policy says",
                 check_policy, nullptr, "");

MYSQL_THDVAR_STR(session, PLUGIN_VAR_RQCMDARG | PLUGIN_VAR_MEMALLOC,
                 "The session's name in histories, before it uses a table; empty: the user's name",
                 nullptr, nullptr, "");

// NOWAIT and WAIT set it for their statement.
MYSQL_THDVAR_ULONG(lock_wait_timeout, PLUGIN_VAR_RQCMDARG,
                   "How many seconds a statement waits for a lock of a row", nullptr, nullptr, 50,
                   0, 100'000'000, 0);

// A session's transaction, of the databases' generation that it began in.
struct Session {
  std::uint32_t generation;
  Transaction transaction;
  RelatedTables related = {};
};

Session* session_of(THD* thd) {
  return static_cast<Session*>(thd_get_ha_data(thd, engine));
}

std::string session_name(THD* thd) {
  const char* chosen = THDVAR(thd, session);
  if (chosen != nullptr && *chosen != '\0') return chosen;
  const auto* user = thd->main_security_ctx.user;
  return user != nullptr ? user : "server";
}

int end_session(handlerton* /*hton*/, THD* thd) {
  delete session_of(thd);
  thd_set_ha_data(thd, engine, nullptr);
  return 0;
}

// The whole transaction, and not only one statement of it.
bool ends_all(THD* thd, bool all) {
  return all || !thd_test_options(thd, OPTION_NOT_AUTOCOMMIT | OPTION_BEGIN);
}

int commit(handlerton* /*hton*/, THD* thd, bool all) {
  auto* session = session_of(thd);
  if (session == nullptr) return 0;
  auto& transaction = session->transaction;
  transaction.end_statement(false);
  session->related.close();
  if (!ends_all(thd, all) || transaction.commit()) return 0;
  report_failure(transaction.failure());
  transaction.roll_back();
  return 1;
}

int roll_back(handlerton* /*hton*/, THD* thd, bool all) {
  auto* session = session_of(thd);
  if (session == nullptr) return 0;
  session->related.close();
  if (ends_all(thd, all)) {
    session->transaction.roll_back();
  } else {
    session->transaction.roll_back_statement();
    session->transaction.end_statement(true);
  }
  return 0;
}

// A transaction of XA would have to survive its session.
int prepare(handlerton* /*hton*/, THD* thd, bool all) {
  if (!all || !thd->transaction->xid_state.is_explicit_XA()) return 0;
  my_printf_error(ER_NOT_SUPPORTED_YET,
                  "A transaction that used tables of cupel's mock store cannot be prepared",
                  MYF(0));
  return 1;
}

int set_savepoint(handlerton* /*hton*/, THD* thd, void* savepoint) {
  *static_cast<std::size_t*>(savepoint) = transaction_of(thd).mark();
  return 0;
}

int roll_back_to_savepoint(handlerton* /*hton*/, THD* thd, void* savepoint) {
  transaction_of(thd).roll_back_to(*static_cast<std::size_t*>(savepoint));
  return 0;
}

int release_savepoint(handlerton* /*hton*/, THD* /*thd*/, void* /*savepoint*/) {
  return 0;
}

handler* make_handler(handlerton* hton, TABLE_SHARE* share, MEM_ROOT* memory) {
  return new (memory) ha_cupel(hton, share);
}

int start_engine(void* plugin) {
  static const char* no_files[] = {nullptr};
  engine = static_cast<handlerton*>(plugin);
  engine->create = make_handler;
  engine->flags = HTON_SUPPORTS_FOREIGN_KEYS;
  engine->tablefile_extensions = no_files;
  engine->close_connection = end_session;
  engine->commit = commit;
  engine->rollback = roll_back;
  engine->prepare = prepare;
  engine->savepoint_offset = sizeof(std::size_t);
  engine->savepoint_set = set_savepoint;
  engine->savepoint_rollback = roll_back_to_savepoint;
  engine->savepoint_release = release_savepoint;
  return 0;
}

// SET GLOBAL cupel_databases = 'keep' keeps the databases as they are, 'restore' makes them again
// from that. No client uses them then, and for 'restore' they are dropped before.
int change_databases(MYSQL_THD thd, st_mysql_sys_var* /*variable*/, void* save,
                     st_mysql_value* value) {
  char buffer[16];
  int size = sizeof buffer;
  const char* wanted = value->val_str(value, buffer, &size);
  const std::string action = wanted == nullptr ? "" : std::string(wanted, size);
  try {
    if (action == "keep") {
      catalog().keep(mysql_real_data_home);
    } else if (action == "restore") {
      const auto kept = catalog().restore(mysql_real_data_home);
      end_session(engine, thd);
      auto& transaction = transaction_of(thd);
      if (!transaction.copy_database(kept, catalog().generation())) {
        report_failure(transaction.failure());
        return 1;
      }
    } else {
      return 1;
    }
  } catch (const std::exception& failure) {
    my_printf_error(ER_UNKNOWN_ERROR, "%s", MYF(0), failure.what());
    return 1;
  }
  *static_cast<const char**>(save) = action == "keep" ? "keep" : "restore";
  return 0;
}

MYSQL_SYSVAR_STR(databases, databases_state, PLUGIN_VAR_NOCMDOPT | PLUGIN_VAR_MEMALLOC,
                 "For cupel: keeps or restores all databases", change_databases, nullptr, "");

st_mysql_sys_var* settings[] = {MYSQL_SYSVAR(socket),
                                MYSQL_SYSVAR(strong_constraints),
                                MYSQL_SYSVAR(levels),
                                MYSQL_SYSVAR(policies),
                                MYSQL_SYSVAR(level),
                                MYSQL_SYSVAR(policy),
                                MYSQL_SYSVAR(session),
                                MYSQL_SYSVAR(databases),
                                nullptr};

st_mysql_sys_var* engine_settings[] = {MYSQL_SYSVAR(lock_wait_timeout), nullptr};

// A new member function would move those behind it.
bool has_same_class_of_engines() {
  auto* theirs = static_cast<void**>(dlsym(RTLD_DEFAULT, "_ZTV7handler"));
  Dl_info info;
  ElfW(Sym)* symbol = nullptr;
  if (theirs == nullptr ||
      dladdr1(theirs, &info, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) == 0 ||
      symbol == nullptr) {
    return false;
  }
  const auto* server = info.dli_fbase;
  alignas(ha_cupel) unsigned char memory[sizeof(ha_cupel)];
  auto* made = ::new (memory) ha_cupel(nullptr, nullptr);
  constexpr std::size_t kBeforeFirst = 2;  // the offset to the top, the type
  void** ours = *reinterpret_cast<void***>(made) - kBeforeFirst;
  bool same = symbol->st_size > 0;
  for (std::size_t i = kBeforeFirst; i < symbol->st_size / sizeof(void*); ++i) {
    const bool is_theirs = dladdr(ours[i], &info) != 0 && info.dli_fbase == server;
    if (is_theirs && ours[i] != theirs[i]) same = false;
  }
  made->~ha_cupel();
  return same;
}

// 0: the server will refuse the plugin.
int interface_version() {
  char text[SERVER_VERSION_LENGTH + 1] = "";
  set_server_version(text, SERVER_VERSION_LENGTH);
  unsigned major = 0, minor = 0, patch = 0;
  if (std::sscanf(text, "%u.%u.%u", &major, &minor, &patch) != 3) return 0;
  const auto version = major * 10000 + minor * 100 + patch;
  const bool same_series = version / 100 == MYSQL_VERSION_ID / 100;
  return same_series && has_same_class_of_engines() ? static_cast<int>(version << 8) : 0;
}

st_mysql_daemon settings_plugin = {interface_version()};
st_mysql_storage_engine engine_plugin = {settings_plugin.interface_version};

}  // namespace

Catalog& catalog() {
  static Catalog all;
  return all;
}

bool constraints_are_strong() {
  return strong_constraints != 0;
}

std::chrono::milliseconds lock_wait_limit(THD* thd) {
  return std::chrono::seconds(THDVAR(thd, lock_wait_timeout));
}

Transaction& transaction_of(THD* thd) {
  auto* session = session_of(thd);
  const auto generation = catalog().generation();
  if (session != nullptr && session->generation != generation) {
    end_session(engine, thd);
    session = nullptr;
  }
  if (session == nullptr) {
    session = new Session{
        generation,
        Transaction({.socket = socket_path,
                     .database = generation,
                     .session = session_name(thd),
                     .client_port = thd->peer_port,
                     .interrupted = [thd] { return thd_kill_level(thd) != THD_IS_NOT_KILLED; },
                     .waits =
                         [thd](bool waits) {
                           thd_proc_info(thd, waits ? "Waiting for a lock of a row" : "Executing");
                         },
                     .statement =
                         [thd] {
                           constexpr std::size_t kLongest = 1000;
                           return std::string(thd->query(),
                                              std::min<std::size_t>(thd->query_length(), kLongest));
                         }})};
    thd_set_ha_data(thd, engine, session);
  }
  return session->transaction;
}

namespace {

Transaction::Isolation isolation_of(THD* thd) {
  switch (thd->tx_isolation) {
    case ISO_READ_UNCOMMITTED:
    case ISO_READ_COMMITTED:
      return Transaction::Isolation::kReadCommitted;
    case ISO_REPEATABLE_READ:
      return Transaction::Isolation::kRepeatableRead;
    case ISO_SERIALIZABLE:
      break;
  }
  return Transaction::Isolation::kSerializable;
}

}  // namespace

bool checks_foreign_keys(THD* thd) {
  return !thd_test_options(thd, OPTION_NO_FOREIGN_KEY_CHECKS);
}

RelatedTables& related_tables(THD* thd) {
  transaction_of(thd);  // makes the session
  return session_of(thd)->related;
}

Transaction& join_transaction(THD* thd) {
  auto& transaction = transaction_of(thd);
  transaction.begin_statement();
  const char* level = THDVAR(thd, level);
  const char* policy = THDVAR(thd, policy);
  transaction.choose(level != nullptr ? level : "", policy != nullptr ? policy : "",
                     isolation_of(thd));
  trans_register_ha(thd, false, engine, 0);
  if (!ends_all(thd, false)) trans_register_ha(thd, true, engine, 0);
  return transaction;
}

int error_of_failure(THD* thd, const StoreClient::Failure& failure) {
  thd->mark_transaction_to_rollback(true);
  switch (failure.trouble) {
    case StoreClient::Trouble::kInterrupted:
      return HA_ERR_ABORTED_BY_USER;
    case StoreClient::Trouble::kConflict:
    case StoreClient::Trouble::kDuplicate:
      return HA_ERR_LOCK_DEADLOCK;
    case StoreClient::Trouble::kInvalid:
    case StoreClient::Trouble::kLost:
    case StoreClient::Trouble::kTooLong:
      return HA_ERR_INTERNAL_ERROR;
  }
  return HA_ERR_INTERNAL_ERROR;
}

void report_failure(const StoreClient::Failure& failure) {
  const auto code = failure.trouble == StoreClient::Trouble::kConflict      ? ER_LOCK_DEADLOCK
                    : failure.trouble == StoreClient::Trouble::kDuplicate   ? ER_DUP_ENTRY
                    : failure.trouble == StoreClient::Trouble::kInvalid     ? ER_WRONG_VALUE_FOR_VAR
                    : failure.trouble == StoreClient::Trouble::kInterrupted ? ER_QUERY_INTERRUPTED
                                                                            : ER_UNKNOWN_ERROR;
  my_printf_error(code, "%s", MYF(0), failure.message.c_str());
}

}  // namespace cupel::engines::mariadb

using cupel::engines::mariadb::engine_plugin;
using cupel::engines::mariadb::engine_settings;
using cupel::engines::mariadb::settings;
using cupel::engines::mariadb::settings_plugin;
using cupel::engines::mariadb::start_engine;

maria_declare_plugin(cupel){MYSQL_DAEMON_PLUGIN,
                            &settings_plugin,
                            "cupel",
                            "cupel",
                            "The settings of cupel's mock store",
                            PLUGIN_LICENSE_GPL,
                            nullptr,
                            nullptr,
                            0x0100,
                            nullptr,
                            settings,
                            "1.0",
                            MariaDB_PLUGIN_MATURITY_STABLE},
    {MYSQL_STORAGE_ENGINE_PLUGIN,
     &engine_plugin,
     "InnoDB",
     "cupel",
     "Tables in cupel's mock store, as weak as its isolation level allows",
     PLUGIN_LICENSE_GPL,
     start_engine,
     nullptr,
     0x0100,
     nullptr,
     engine_settings,
     "1.0",
     MariaDB_PLUGIN_MATURITY_STABLE} maria_declare_plugin_end;
