/* Requests and replies over the Unix socket; see the header. A message is its length, its kind and
   its body, all numbers little-endian. While a reply is awaited, the backend looks for interrupts:
   one that ends the statement closes the connection, and the store rolls back. A commit is not
   interrupted: nobody would know its outcome.

   A request whose reply is known unless it fails is not waited for: its reply is read before that
   of the next that is, or when the statement ends (store_settle). */
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
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/params.h"
#include "nodes/pg_list.h"
#include "own_writes.h"
#include "portability/instr_time.h"
#include "statement.h"
#include "tcop/pquery.h"
#include "tcop/tcopprot.h"
#include "utils/backend_status.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "visibility.h"

char* store_socket_path = NULL;
char* transaction_level = NULL;
char* read_policy = NULL;

enum { kPositionSize = 6 }; /* bytes */
enum {
  kProtocol = 5,
  kPollMilliseconds = 20,
  kSoonMicroseconds = 50,
  kLongestMessage = 1 << 28,
  kLargestKept = 1 << 20, /* bytes of memory for requests, of a connection between transactions */
  kLongestStatement = 1000,
  kLongestParameter = 40,
  kLongestParameters = 200,
  kParametersMark = 0x1e
};
enum { kStoreRefuses = 1, kStoreKeepsStatements = 2 };
enum { kReadLatest = 1, kReadAbsent = 2, kReadFind = 4, kReadWantsLast = 8 };
enum { kLockShared = 1, kLockObserved = 2, kLockFound = 8 };
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
static StringInfoData requests;        /* that are not sent yet */
static int complete = 0;               /* so many bytes of them are whole messages */
static StringInfoData message;         /* the last reply */
static char came[1 << 16];             /* that came from the store, */
static int came_at = 0, came_size = 0; /* taken up to here, of so many bytes */

enum { kMostExpected = 64 }; /* few enough to be in the socket while nobody reads them */
/* A reply that was not waited for. */
typedef struct Expected {
  char kind;
  const Statement* reader; /* of a read: whose, what gets known, of how many rows */
  SeenRow** seen;          /* NULL: nobody needs it any more */
  int count;
} Expected;
static Expected expected[kMostExpected];
static int expected_count = 0;
static uint64 taken = 0; /* so many were taken before them */
static int unread = 0;   /* replies in all, also to requests that are not sent yet */
static int stale = 0;    /* of them, the first so many are of transactions that are over */
static bool has_transaction = false;
static bool has_found = false;     /* rows that it may not have locked: its end may be refused */
static bool store_refuses = false; /* also transactions that only read */
static bool store_keeps_statements = false;
static uint64 reported_statement = 0; /* the hash of the text that the store knows; 0: of none */
static List* early_statements = NIL;  /* texts that it does not know yet: it has no transaction */
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

static void expect_none(void) {
  taken += expected_count;
  expected_count = 0;
}

static void disconnect(void) {
  if (connection >= 0) close(connection);
  connection = -1;
  requests.len = complete = came_at = came_size = 0;
  expect_none();
  unread = stale = 0;
}

static void fail_lost(const char* what) {
  int saved = errno;
  disconnect();
  errno = saved;
  ereport(ERROR, (errcode(ERRCODE_CONNECTION_FAILURE),
                  errmsg("the connection to cupel's mock store is lost: %s: %m", what)));
}

/* Numbers of `size` bytes. */
static inline void put_number(uint64 number, int size) {
  char* bytes;
  if (requests.maxlen - requests.len <= size) enlargeStringInfo(&requests, size);
  bytes = requests.data + requests.len;
  for (int i = 0; i < size; ++i) bytes[i] = (char)(number >> (8 * i));
  requests.len += size;
}

static void fail_short(void) {
  disconnect();
  ereport(ERROR, (errcode(ERRCODE_PROTOCOL_VIOLATION),
                  errmsg("cupel's mock store sent a reply that is too short")));
}

static inline uint64 take_number(int size) {
  uint64 number = 0;
  if (message.len - message.cursor < size) fail_short();
  for (int i = 0; i < size; ++i)
    number |= (uint64)(unsigned char)message.data[message.cursor + i] << (8 * i);
  message.cursor += size;
  return number;
}

static void put_text(const char* text) {
  size_t size = text == NULL ? 0 : strlen(text);
  put_number(size, 4);
  appendBinaryStringInfo(&requests, text == NULL ? "" : text, (int)size);
}

static void start_message(char kind) {
  if (requests.data == NULL) {
    MemoryContext before = MemoryContextSwitchTo(TopMemoryContext);
    initStringInfo(&requests);
    if (message.data == NULL) initStringInfo(&message);
    MemoryContextSwitchTo(before);
  }
  requests.len = complete; /* an error may have left half a message */
  put_number(0, 4);        /* the length, once it is known */
  put_number((unsigned char)kind, 1);
}

static void end_message(bool has_reply) {
  uint32 length = requests.len - complete - 4;
  for (int i = 0; i < 4; ++i) requests.data[complete + i] = (char)(length >> (8 * i));
  complete = requests.len;
  if (has_reply) ++unread;
}

static void fail_request(void) {
  fail_lost("no request");
}

/* False: the connection is lost. */
static bool send_requests(void) {
  for (int sent = 0; sent < complete;) {
    ssize_t size = send(connection, requests.data + sent, complete - sent, MSG_NOSIGNAL);
    if (size < 0 && errno != EINTR && errno != EAGAIN) return false;
    if (size > 0) sent += (int)size;
  }
  requests.len = complete = 0;
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

/* A reply mostly comes sooner than a process wakes up that sleeps, so who waits looks again and
   again first: as mock/wire/short_wait.hpp, of which this is the C. */
static ssize_t receive_soon(char* bytes, int size) {
  static uint32 in_vain = 0, skipped = 0;
  instr_time began, now;
  if (skipped > 0) {
    --skipped;
    return -1;
  }
  INSTR_TIME_SET_CURRENT(began);
  do {
    ssize_t got = recv(connection, bytes, size, MSG_DONTWAIT);
    if (got >= 0) {
      in_vain = 0;
      return got;
    }
    if (errno != EAGAIN && errno != EINTR) return got;
    INSTR_TIME_SET_CURRENT(now);
    INSTR_TIME_SUBTRACT(now, began);
  } while (INSTR_TIME_GET_MICROSEC(now) < kSoonMicroseconds);
  in_vain = Min(in_vain + 1, 6);
  skipped = (1 << in_vain) - 1;
  return -1;
}

/* At least one byte. */
static int receive_some(char* bytes, int size) {
  ssize_t got = receive_soon(bytes, size);
  while (got < 0) {
    got = recv(connection, bytes, size, 0);
    if (got < 0 && errno != EAGAIN && errno != EINTR) fail_lost("no reply");
    if (got < 0) look_for_interrupts();
  }
  if (got == 0) fail_lost("no reply");
  return (int)got;
}

/* Fills `size` bytes, from what has come already as far as it goes. */
static void receive_bytes(char* bytes, int size) {
  while (size > 0) {
    int there = Min(came_size - came_at, size);
    if (there == 0) {
      came_at = came_size = 0; /* if it fails */
      came_size = receive_some(came, sizeof came);
      continue;
    }
    memcpy(bytes, came + came_at, there);
    came_at += there;
    bytes += there;
    size -= there;
  }
}

/* The next reply's kind; its body is in `message`. */
static char receive_reply(void) {
  unsigned char head[4];
  uint32 length;
  receive_bytes((char*)head, sizeof head);
  length = head[0] | head[1] << 8 | head[2] << 16 | (uint32)head[3] << 24;
  if (length == 0 || length > kLongestMessage) {
    errno = EPROTO;
    fail_lost("bad length");
  }
  resetStringInfo(&message);
  enlargeStringInfo(&message, (int)length);
  receive_bytes(message.data, (int)length);
  message.len = (int)length;
  --unread;
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

/* The reply is not the one that a request has if all is well. */
static void take_failure(char kind) {
  int size;
  stale = unread;
  expect_none();
  if (kind != 'f') {
    errno = EPROTO;
    fail_lost("another reply than expected");
  }
  over_code = code_of((int)take_number(1));
  size = (int)take_number(4);
  if (size > message.len - message.cursor) size = message.len - message.cursor;
  over_text =
      MemoryContextStrdup(TopTransactionContext, pnstrdup(message.data + message.cursor, size));
  is_over = true;
  fail_over();
}

static inline void take_position(ItemPointerData* position) {
  const unsigned char* bytes = (const unsigned char*)message.data + message.cursor;
  if (message.len - message.cursor < kPositionSize) fail_short();
  ItemPointerSet(position, bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (BlockNumber)bytes[3] << 24,
                 (OffsetNumber)(bytes[4] | bytes[5] << 8));
  message.cursor += kPositionSize;
}

/* The versions in the reply to a read. */
static void take_versions(const Expected* read, char kind) {
  uint32 as_of = kind == 'l' ? (uint32)take_number(4) : kAllCommits;
  for (int i = 0; i < read->count; ++i) {
    SeenVersion* version = &read->seen[i]->version;
    take_position(&version->version);
    version->last_as_of = kind == 'l' && take_number(1) != 0 ? as_of : kAllCommits;
    read->seen[i]->known = true;
  }
  pfree(read->seen);
}

/* The first so many replies that were not waited for; an error if one of the requests failed. */
static void take_expected(int count) {
  if (!send_requests()) fail_request();
  for (; stale > 0; --stale) receive_reply();
  for (int i = 0; i < count; ++i) {
    char kind = receive_reply();
    if (kind != expected[i].kind) take_failure(kind);
    if (expected[i].seen != NULL) take_versions(&expected[i], kind);
  }
  taken += count;
  expected_count -= count;
  memmove(expected, expected + count, expected_count * sizeof(Expected));
}

void store_settle(void) {
  if (expected_count > 0 && connection >= 0) take_expected(expected_count);
}

/* The reply to the last request. */
static char await_reply(void) {
  take_expected(expected_count);
  return receive_reply();
}

/* The reply to the last request is not waited for. */
static void expect_read(char kind, const Statement* reader, SeenRow** seen, int count) {
  if (expected_count == kMostExpected) take_expected(expected_count);
  expected[expected_count++] =
      (Expected){.kind = kind, .reader = reader, .seen = seen, .count = count};
}

static void expect_reply(char kind) {
  expect_read(kind, NULL, NULL, 0);
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
  end_message(true);
  if (await_reply() != 'o') {
    disconnect();
    ereport(ERROR, (errcode(ERRCODE_PROTOCOL_VIOLATION),
                    errmsg("cupel's mock store rejected the connection"),
                    errhint("The access method and cupel are of different versions.")));
  }
  flags = (int)take_number(1);
  store_refuses = (flags & kStoreRefuses) != 0;
  store_keeps_statements = (flags & kStoreKeepsStatements) != 0;
}

/* The values of the parameters of what the client executes, "$1 = '5', $2 = NULL"; NULL: it has
   none. */
static char* parameters_of_client(void) {
  ParamListInfo parameters;
  char* text;
  if (ActivePortal == NULL || ActivePortal->portalParams == NULL ||
      ActivePortal->sourceText == NULL || strcmp(ActivePortal->sourceText, debug_query_string) != 0)
    return NULL;
  parameters = ActivePortal->portalParams;
  /* Of those of a function that runs nothing is known here. */
  if (parameters->numParams == 0 || parameters->paramFetch != NULL) return NULL;
  text = BuildParamLogString(parameters, NULL, kLongestParameter);
  if (text != NULL && strlen(text) > kLongestParameters)
    text[pg_mbcliplen(text, (int)strlen(text), kLongestParameters)] = '\0';
  return text;
}

/* What the client asks for, for explanations; enough of it. The parameters stand before the text,
   between two marks. */
static char* statement_of_client(void) {
  StringInfoData text;
  char* parameters;
  initStringInfo(&text);
  parameters = parameters_of_client();
  if (parameters != NULL) {
    appendStringInfo(&text, "%c%s%c", kParametersMark, parameters, kParametersMark);
    pfree(parameters);
  }
  appendBinaryStringInfo(&text, debug_query_string,
                         (int)Min(strlen(debug_query_string), kLongestStatement));
  return text.data;
}

static void report_text(const char* text) {
  start_message('T');
  put_text(text);
  end_message(false);
}

/* Those that have asked the store for nothing so far. */
static void report_early_statements(void) {
  ListCell* cell;
  foreach (cell, early_statements) report_text(lfirst(cell));
  early_statements = NIL; /* its memory is that of the transaction */
}

static void report_statement(void) {
  char* text;
  uint64 hash;
  report_early_statements();
  if (!store_keeps_statements || debug_query_string == NULL) return;
  text = statement_of_client();
  hash = hash_bytes_extended((const unsigned char*)text, (int)strlen(text), 0);
  if (hash != reported_statement) report_text(text);
  reported_statement = hash;
  pfree(text);
}

void store_note_statement(void) {
  MemoryContext before;
  char* text;
  uint64 hash;
  if (debug_query_string == NULL || is_over) return;
  ensure_connection();
  if (!store_keeps_statements) return;
  if (has_transaction) {
    report_statement();
    return;
  }
  before = MemoryContextSwitchTo(TopTransactionContext);
  text = statement_of_client();
  hash = hash_bytes_extended((const unsigned char*)text, (int)strlen(text), 0);
  if (hash != reported_statement) early_statements = lappend(early_statements, text);
  reported_statement = hash;
  MemoryContextSwitchTo(before);
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
  end_message(true);
  expect_reply('k');
}

static void put_row(const RowId* row) {
  put_number(row->table, 4);
  put_number(row->block, 4);
  put_number(row->offset, 2);
}

/* Before each request of a transaction. */
static void begin_request(void) {
  ensure_transaction();
  choose_level();
  has_transaction = true;
  report_statement();
}

/* Into room that is there. Byte by byte, of which the compiler makes few stores. */
static inline void put_position(const RowId* row) {
  char* bytes = requests.data + requests.len;
  bytes[0] = (char)row->block;
  bytes[1] = (char)(row->block >> 8);
  bytes[2] = (char)(row->block >> 16);
  bytes[3] = (char)(row->block >> 24);
  bytes[4] = (char)row->offset;
  bytes[5] = (char)(row->offset >> 8);
  requests.len += kPositionSize;
}

static void put_read(const ReadRequest* request, Oid table, bool absent) {
  start_message('R');
  put_number(request->statement, 4);
  put_number(request->commits, 4);
  put_number((request->latest ? kReadLatest : 0) | (absent ? kReadAbsent : 0) |
                 (request->find ? kReadFind | kReadWantsLast : 0),
             1);
  put_number(table, 4);
  put_number(request->count, 4);
  enlargeStringInfo(&requests, request->count * kPositionSize);
  for (int i = 0; i < request->count; ++i) put_position(&request->rows[i]);
  end_message(true);
}

bool store_has_transaction(void) {
  return has_transaction;
}

void store_look(Oid table, uint32 statement, uint32 commits) {
  ReadRequest request = {.statement = statement, .commits = commits};
  begin_request();
  put_read(&request, table, true);
  expect_reply('v');
}

uint64 store_ask(const ReadRequest* request, const Statement* reader, SeenRow** seen) {
  if (request->latest) {
    ensure_transaction();
  } else {
    begin_request();
  }
  if (request->find) has_found = true;
  put_read(request, request->rows[0].table, false);
  expect_read(request->find && !request->latest ? 'l' : 'v', reader, seen, request->count);
  return store_last_asked();
}

uint64 store_last_asked(void) {
  return taken + expected_count;
}

void store_send(void) {
  if (connection >= 0 && !send_requests()) fail_request();
}

void store_take(uint64 asked) {
  if (asked > taken) take_expected((int)(asked - taken));
}

void store_forget_reads(const Statement* reader) {
  for (int i = 0; i < expected_count; ++i) {
    if (expected[i].reader == reader) expected[i].seen = NULL;
  }
}

static void ask_lock(const LockRequest* request, bool found) {
  begin_request();
  has_found = true;
  start_message('L');
  put_number(request->statement, 4);
  put_number(request->commits, 4);
  put_row(request->row);
  put_number((request->shared ? kLockShared : 0) | (request->observed ? kLockObserved : 0) |
                 (found ? kLockFound : 0),
             1);
  end_message(true);
}

void store_lock(const LockRequest* request, ItemPointerData* last) {
  char kind;
  ask_lock(request, false);
  kind = await_reply();
  if (kind != 'v') take_failure(kind);
  take_position(last);
}

void store_lock_found(const LockRequest* request) {
  ask_lock(request, true);
  expect_reply('k');
}

void store_end_statement(uint32 statement) {
  if (!has_transaction || is_over || connection < 0) return;
  start_message('E');
  put_number(statement, 4);
  end_message(false);
  if (!send_requests()) fail_request();
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
  char kind;
  if (is_over) fail_over();
  if (!has_transaction && count == 0) return;
  ensure_transaction();
  if (count == 0 && !has_found && !store_refuses) {
    store_settle();
    start_message('F');
    end_message(false);
    if (!send_requests()) fail_request();
    has_transaction = false;
    return;
  }
  choose_level();
  report_early_statements();
  start_message('C');
  put_number(count, 4);
  for_each_final_write(put_write, NULL);
  if (requests.len - complete > kLongestMessage) {
    requests.len = complete;
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("the transaction changes more than cupel's mock store takes at a time, "
                           "256 MB"),
                    errhint("Commit more often.")));
  }
  end_message(true);
  /* Who cancels it now would not know whether the store has committed. */
  HOLD_INTERRUPTS();
  has_transaction = true;
  kind = await_reply();
  if (kind != 'k') take_failure(kind);
  has_transaction = false;
  RESUME_INTERRUPTS();
}

void store_abort(void) {
  stale = unread;
  expect_none();
  if ((has_transaction || is_over) && connection >= 0) {
    start_message('A');
    end_message(false);
    if (!send_requests()) disconnect();
  }
}

void store_forget(void) {
  reported_statement = 0;
  early_statements = NIL;
  has_transaction = has_found = is_over = false;
  over_text = NULL;
  if (requests.len == 0 && requests.maxlen > kLargestKept) {
    pfree(requests.data);
    requests.data = NULL;
    requests.maxlen = 0;
  }
}

void store_copy_database(Oid from, Oid to) {
  char kind;
  ensure_connection();
  start_message('D');
  put_number(from, 4);
  put_number(to, 4);
  end_message(true);
  kind = await_reply();
  if (kind != 'k') take_failure(kind);
}
