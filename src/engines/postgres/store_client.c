/* Requests and replies over the Unix socket; see the header. A message is its length, its kind and
   its body, all numbers little-endian. While a reply is awaited, the backend looks for interrupts:
   one that ends the statement closes the connection, and the store rolls back. A commit is not
   interrupted: nobody would know its outcome. */
#include "store_client.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "access/xact.h"
#include "commands/dbcommands.h"
#include "common/hashfn.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "own_writes.h"
#include "tcop/tcopprot.h"
#include "utils/backend_status.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "visibility.h"

char* store_socket_path = NULL;
char* transaction_level = NULL;
char* read_policy = NULL;

enum { kProtocol = 4, kPollMilliseconds = 20, kMostReply = 1 << 28, kLongestStatement = 1000 };
enum { kStoreRefuses = 1, kStoreKeepsStatements = 2 };
enum { kReadLatest = 1, kReadAbsent = 2, kReadFind = 4 };
enum { kLockShared = 1, kLockObserved = 2 };
enum { kWriteBase = 1, kWriteInsert = 2, kWriteChecked = 4 };
enum {
  kConflict = 0,
  kEnded = 1,
  kStopped = 2,
  kDuplicate = 3,
  kInvalid = 4,
  kDeadlock = 5
}; /* kinds of failures */

static int connection = -1;
static StringInfoData message; /* of the request, then of its reply */
static bool has_transaction = false;
static bool has_found = false;     /* rows that it may not have locked: its end may be refused */
static bool store_refuses = false; /* also transactions that only read */
static bool store_keeps_statements = false;
static uint64 reported_statement = 0; /* the hash of the text that the store knows; 0: of none */
static bool is_over = false;          /* the store ended the transaction */
static int over_code;
static char* over_text;

static const uint32* commits = NULL;

/* By the postmaster, for all backends. */
void map_store_commits(void) {
  char path[MAXPGPATH];
  void* mapped;
  int file;
  snprintf(path, sizeof path, "%s.commits", store_socket_path);
  file = open(path, O_RDONLY | O_CLOEXEC);
  mapped = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *commits, PROT_READ, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED)
    ereport(ERROR, (errcode_for_file_access(), errmsg("cannot map the file \"%s\": %m", path)));
  close(file);
  commits = mapped;
}

uint32 store_commits(void) {
  return __atomic_load_n(commits, __ATOMIC_ACQUIRE);
}

static void disconnect(void) {
  if (connection >= 0) close(connection);
  connection = -1;
}

static void fail_lost(const char* what) {
  int saved = errno;
  disconnect();
  errno = saved;
  ereport(ERROR, (errcode(ERRCODE_CONNECTION_FAILURE),
                  errmsg("the connection to cupel's mock store is lost: %s: %m", what)));
}

/* Numbers of `size` bytes. */
static void put_number(uint64 number, int size) {
  for (int i = 0; i < size; ++i) appendStringInfoCharMacro(&message, (char)(number >> (8 * i)));
}

static uint64 take_number(int size) {
  uint64 number = 0;
  if (message.len - message.cursor < size) {
    disconnect();
    ereport(ERROR, (errcode(ERRCODE_PROTOCOL_VIOLATION),
                    errmsg("cupel's mock store sent a reply that is too short")));
  }
  for (int i = 0; i < size; ++i)
    number |= (uint64)(unsigned char)message.data[message.cursor++] << (8 * i);
  return number;
}

static void put_text(const char* text) {
  size_t size = text == NULL ? 0 : strlen(text);
  put_number(size, 4);
  appendBinaryStringInfo(&message, text == NULL ? "" : text, (int)size);
}

static void start_message(char kind) {
  if (message.data == NULL) {
    MemoryContext before = MemoryContextSwitchTo(TopMemoryContext);
    initStringInfo(&message);
    MemoryContextSwitchTo(before);
  }
  resetStringInfo(&message);
  put_number(0, 4); /* the length, once it is known */
  appendStringInfoCharMacro(&message, kind);
}

/* False: the connection is lost. */
static bool send_message(void) {
  uint32 length = message.len - 4;
  for (int i = 0; i < 4; ++i) message.data[i] = (char)(length >> (8 * i));
  for (int sent = 0; sent < message.len;) {
    ssize_t size = send(connection, message.data + sent, message.len - sent, MSG_NOSIGNAL);
    if (size < 0 && errno != EINTR && errno != EAGAIN) return false;
    if (size > 0) sent += (int)size;
  }
  return true;
}

/* A request that is under way when an interrupt ends the statement leaves a reply that nobody
 * reads. */
static void look_for_interrupts(void) {
  if (!InterruptPending) return;
  PG_TRY();
  { CHECK_FOR_INTERRUPTS(); }
  PG_CATCH();
  {
    disconnect();
    PG_RE_THROW();
  }
  PG_END_TRY();
}

/* Fills `size` bytes. */
static void receive_bytes(char* bytes, int size) {
  for (int got = 0; got < size;) {
    ssize_t more = recv(connection, bytes + got, size - got, 0);
    if (more > 0) {
      got += (int)more;
    } else if (more == 0 || (errno != EAGAIN && errno != EINTR)) {
      fail_lost("no reply");
    } else {
      look_for_interrupts();
    }
  }
}

/* The reply's kind; its body is in `message`. */
static char receive_reply(void) {
  unsigned char head[4];
  uint32 length;
  receive_bytes((char*)head, sizeof head);
  length = head[0] | head[1] << 8 | head[2] << 16 | (uint32)head[3] << 24;
  if (length == 0 || length > kMostReply) {
    errno = EPROTO;
    fail_lost("bad length");
  }
  resetStringInfo(&message);
  enlargeStringInfo(&message, (int)length);
  receive_bytes(message.data, (int)length);
  message.len = (int)length;
  return (char)take_number(1);
}

static int code_of(int kind) {
  switch (kind) {
    case kEnded:
      return ERRCODE_IDLE_IN_TRANSACTION_SESSION_TIMEOUT;
    case kStopped:
      return ERRCODE_ADMIN_SHUTDOWN;
    case kDuplicate:
      return ERRCODE_UNIQUE_VIOLATION;
    case kInvalid:
      return ERRCODE_INVALID_PARAMETER_VALUE;
    case kDeadlock:
      return ERRCODE_T_R_DEADLOCK_DETECTED;
    default:
      return ERRCODE_T_R_SERIALIZATION_FAILURE;
  }
}

static void fail_over(void) {
  ereport(ERROR, (errcode(over_code), errmsg("%s", over_text)));
}

static void take_failure(void) {
  int size;
  over_code = code_of((int)take_number(1));
  size = (int)take_number(4);
  if (size > message.len - message.cursor) size = message.len - message.cursor;
  over_text =
      MemoryContextStrdup(TopTransactionContext, pnstrdup(message.data + message.cursor, size));
  is_over = true;
  fail_over();
}

static void open_socket(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  struct timeval poll = {.tv_usec = kPollMilliseconds * 1000};
  if (strlen(store_socket_path) >= sizeof address.sun_path)
    ereport(ERROR, (errcode(ERRCODE_CONFIG_FILE_ERROR), errmsg("cupel.socket is too long")));
  strcpy(address.sun_path, store_socket_path);
  connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection < 0 || connect(connection, (struct sockaddr*)&address, sizeof address) != 0)
    fail_lost("cannot connect");
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &poll, sizeof poll);
}

/* The session's name in the history: as the client calls itself. */
static const char* session_name(void) {
  if (application_name != NULL && application_name[0] != '\0') return application_name;
  return GetUserNameFromId(GetSessionUserId(), false);
}

static int client_port(void) {
  const struct sockaddr* address =
      MyBEEntry == NULL ? NULL : (const struct sockaddr*)&MyBEEntry->st_clientaddr.addr;
  if (address == NULL || address->sa_family != AF_INET) return 0;
  return ntohs(((const struct sockaddr_in*)address)->sin_port);
}

static void ensure_connection(void) {
  int flags;
  if (connection >= 0) return;
  open_socket();
  start_message('O');
  put_number(kProtocol, 1);
  put_number(MyDatabaseId, 4);
  put_text(get_database_name(MyDatabaseId));
  put_text(session_name());
  put_number(client_port(), 2);
  if (!send_message()) fail_lost("no greeting");
  if (receive_reply() != 'o') {
    disconnect();
    ereport(ERROR, (errcode(ERRCODE_PROTOCOL_VIOLATION),
                    errmsg("cupel's mock store rejected the connection"),
                    errhint("The access method and cupel are of different versions.")));
  }
  flags = (int)take_number(1);
  store_refuses = (flags & kStoreRefuses) != 0;
  store_keeps_statements = (flags & kStoreKeepsStatements) != 0;
}

/* What the client asks for, for explanations; enough of it. */
static void report_statement(void) {
  size_t size;
  uint64 hash;
  if (!store_keeps_statements || debug_query_string == NULL) return;
  size = Min(strlen(debug_query_string), kLongestStatement);
  hash = hash_bytes_extended((const unsigned char*)debug_query_string, (int)size, 0);
  if (hash == reported_statement) return;
  reported_statement = hash;
  start_message('T');
  put_number(size, 4);
  appendBinaryStringInfo(&message, debug_query_string, (int)size);
  if (!send_message()) fail_lost("no request");
}

static void ensure_transaction(void) {
  if (is_over) fail_over();
  if (connection < 0 && has_transaction) {
    errno = ENOTCONN;
    fail_lost("the transaction is over");
  }
  ensure_connection();
}

static int isolation(void) {
  if (XactIsoLevel == XACT_SERIALIZABLE) return 2;
  return XactIsoLevel == XACT_REPEATABLE_READ ? 1 : 0;
}

/* Before the first request of a transaction: its level and policy, if the client chose them. */
static void choose_level(void) {
  if (has_transaction ||
      (transaction_level[0] == '\0' && read_policy[0] == '\0' && isolation() == 0))
    return;
  start_message('B');
  put_text(transaction_level);
  put_text(read_policy);
  put_number(isolation(), 1);
  if (!send_message()) fail_lost("no request");
  if (receive_reply() != 'k') take_failure();
}

static void put_row(const RowId* row) {
  put_number(row->table, 4);
  put_number(row->block, 4);
  put_number(row->offset, 2);
}

static void take_position(ItemPointerData* position) {
  BlockNumber block = (BlockNumber)take_number(4);
  OffsetNumber offset = (OffsetNumber)take_number(2);
  ItemPointerSet(position, block, offset);
}

static void read_versions(const ReadRequest* request, Oid table, bool absent,
                          ItemPointerData* versions) {
  ensure_transaction();
  if (!request->latest) {
    choose_level();
    has_transaction = true;
    report_statement();
  }
  if (request->find) has_found = true;
  start_message('R');
  put_number(request->statement, 4);
  put_number(request->commits, 4);
  put_number((request->latest ? kReadLatest : 0) | (absent ? kReadAbsent : 0) |
                 (request->find ? kReadFind : 0),
             1);
  put_number(table, 4);
  put_number(request->count, 4);
  for (int i = 0; i < request->count; ++i) {
    put_number(request->rows[i].block, 4);
    put_number(request->rows[i].offset, 2);
  }
  if (!send_message()) fail_lost("no request");
  if (receive_reply() != 'v') take_failure();
  for (int i = 0; i < request->count; ++i) take_position(&versions[i]);
}

bool store_has_transaction(void) {
  return has_transaction;
}

void store_look(Oid table, uint32 statement, uint32 commits) {
  ReadRequest request = {.statement = statement, .commits = commits};
  read_versions(&request, table, true, NULL);
}

void store_read(const ReadRequest* request, ItemPointerData* versions) {
  read_versions(request, request->rows[0].table, false, versions);
}

void store_lock(const LockRequest* request, ItemPointerData* last) {
  ensure_transaction();
  choose_level();
  has_transaction = has_found = true;
  report_statement();
  start_message('L');
  put_number(request->statement, 4);
  put_number(request->commits, 4);
  put_row(request->row);
  put_number((request->shared ? kLockShared : 0) | (request->observed ? kLockObserved : 0), 1);
  if (!send_message()) fail_lost("no request");
  if (receive_reply() != 'v') take_failure();
  take_position(last);
}

void store_end_statement(uint32 statement) {
  if (!has_transaction || is_over || connection < 0) return;
  start_message('E');
  put_number(statement, 4);
  if (!send_message()) fail_lost("no request");
}

static void put_write(const FinalWrite* write, void* unused) {
  put_row(&write->row);
  put_number(
      ItemPointerIsValid(&write->version) ? ItemPointerGetBlockNumberNoCheck(&write->version) : 0,
      4);
  put_number(ItemPointerGetOffsetNumberNoCheck(&write->version), 2);
  put_number((write->base ? kWriteBase : 0) | (write->insert ? kWriteInsert : 0) |
                 (constraints_are_strong ? kWriteChecked : 0),
             1);
  put_text(write->table);
  put_text(write->key);
  put_text(write->value);
}

void store_commit(void) {
  int count = count_final_writes();
  if (is_over) fail_over();
  if (!has_transaction && count == 0) return;
  ensure_transaction();
  if (count == 0 && !has_found && !store_refuses) {
    start_message('F');
    if (!send_message()) fail_lost("no request");
    has_transaction = false;
    return;
  }
  choose_level();
  start_message('C');
  put_number(count, 4);
  for_each_final_write(put_write, NULL);
  /* Who cancels it now would not know whether the store has committed. */
  HOLD_INTERRUPTS();
  if (!send_message()) fail_lost("no request");
  has_transaction = true;
  if (receive_reply() != 'k') take_failure();
  has_transaction = false;
  RESUME_INTERRUPTS();
}

void store_abort(void) {
  if (has_transaction && !is_over && connection >= 0) {
    start_message('A');
    if (!send_message()) disconnect();
  }
}

void store_forget(void) {
  reported_statement = 0;
  has_transaction = has_found = is_over = false;
  over_text = NULL;
}

void store_copy_database(Oid from, Oid to) {
  ensure_connection();
  start_message('D');
  put_number(from, 4);
  put_number(to, 4);
  if (!send_message()) fail_lost("no request");
  if (receive_reply() != 'k') take_failure();
}
