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

enum { kProtocol = 5, kPollMilliseconds = 20, kMostReply = 1 << 28, kLongestStatement = 1000 };
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
static StringInfoData requests; /* that are not sent yet */
static int complete = 0;        /* so many bytes of them are whole messages */
static StringInfoData message;  /* the last reply */

enum { kMostExpected = 64 };         /* few enough to be in the socket while nobody reads them */
static char expected[kMostExpected]; /* kinds of replies that were not waited for */
static int expected_count = 0;
static int unread = 0; /* replies in all, also to requests that are not sent yet */
static int stale = 0;  /* of them, the first so many are of transactions that are over */
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
  requests.len = complete = 0;
  expected_count = unread = stale = 0;
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

static inline uint64 take_number(int size) {
  uint64 number = 0;
  if (message.len - message.cursor < size) {
    disconnect();
    ereport(ERROR, (errcode(ERRCODE_PROTOCOL_VIOLATION),
                    errmsg("cupel's mock store sent a reply that is too short")));
  }
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
    initStringInfo(&message);
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

/* The next reply's kind; its body is in `message`. */
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
  expected_count = 0;
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

/* All replies that were not waited for; an error if one of the requests failed. */
static void take_all_expected(void) {
  if (!send_requests()) fail_request();
  for (; stale > 0; --stale) receive_reply();
  for (int i = 0; i < expected_count; ++i) {
    char kind = receive_reply();
    if (kind != expected[i]) take_failure(kind);
  }
  expected_count = 0;
}

void store_settle(void) {
  if (expected_count > 0 && connection >= 0) take_all_expected();
}

/* The reply to the last request. */
static char await_reply(void) {
  take_all_expected();
  return receive_reply();
}

/* The reply to the last request is not waited for. */
static void expect_reply(char kind) {
  expected[expected_count++] = kind;
  if (expected_count == kMostExpected) take_all_expected();
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
  appendBinaryStringInfo(&requests, debug_query_string, (int)size);
  end_message(false);
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

static void put_read(const ReadRequest* request, Oid table, bool absent) {
  start_message('R');
  put_number(request->statement, 4);
  put_number(request->commits, 4);
  put_number((request->latest ? kReadLatest : 0) | (absent ? kReadAbsent : 0) |
                 (request->find ? kReadFind | kReadWantsLast : 0),
             1);
  put_number(table, 4);
  put_number(request->count, 4);
  for (int i = 0; i < request->count; ++i) {
    put_number(request->rows[i].block, 4);
    put_number(request->rows[i].offset, 2);
  }
  end_message(true);
}

static void take_position(ItemPointerData* position) {
  BlockNumber block = (BlockNumber)take_number(4);
  OffsetNumber offset = (OffsetNumber)take_number(2);
  ItemPointerSet(position, block, offset);
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

void store_read(const ReadRequest* request, SeenVersion* versions) {
  uint32 as_of = kAllCommits;
  char kind;
  if (request->latest) {
    ensure_transaction();
  } else {
    begin_request();
  }
  if (request->find) has_found = true;
  put_read(request, request->rows[0].table, false);
  kind = await_reply();
  if (kind != (request->find && !request->latest ? 'l' : 'v')) take_failure(kind);
  if (kind == 'l') as_of = (uint32)take_number(4);
  for (int i = 0; i < request->count; ++i) {
    take_position(&versions[i].version);
    versions[i].last_as_of = kind == 'l' && take_number(1) != 0 ? as_of : kAllCommits;
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
  if (!send_requests()) fail_request(); /* the store works meanwhile */
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
  store_settle();
  if (count == 0 && !has_found && !store_refuses) {
    start_message('F');
    end_message(false);
    if (!send_requests()) fail_request();
    has_transaction = false;
    return;
  }
  choose_level();
  start_message('C');
  put_number(count, 4);
  for_each_final_write(put_write, NULL);
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
  expected_count = 0;
  if ((has_transaction || is_over) && connection >= 0) {
    start_message('A');
    end_message(false);
    if (!send_requests()) disconnect();
  }
}

void store_forget(void) {
  reported_statement = 0;
  has_transaction = has_found = is_over = false;
  over_text = NULL;
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
