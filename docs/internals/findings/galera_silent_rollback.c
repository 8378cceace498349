// MariaDB Galera ends transactions without an error: galera-silent-rollback.md. Uses the client
// library only.
//
//   cc -O1 galera_silent_rollback.c -o silent $(mariadb_config --cflags --libs) -lpthread
//   ./silent PORT,PORT,PORT USER DATABASE SECONDS [LEVEL]
//
// Twelve sessions on the nodes of a cluster, at 127.0.0.1, run transactions of SELECT and UPDATE …
// v + 1 on 2,000 rows. After each answer that is no error, the status flag SERVER_STATUS_IN_TRANS
// must be set. At the end, the sum of v must be the number of updates in the transactions whose
// COMMIT was acknowledged.
#include <mysql.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kSessions = 12, kRows = 2000, kLongest = 60 };

static int ports[8], nodes;
static const char *user, *database, *level = "SERIALIZABLE";
static time_t stop_at;
static long commits, refused, ended, updates, before;

static int query(MYSQL* c, const char* text) {
  if (mysql_query(c, text)) return 1;
  MYSQL_RES* rows = mysql_store_result(c);
  if (rows) mysql_free_result(rows);
  return 0;
}

static int in_transaction(MYSQL* c) {
  unsigned status = 0;
  mariadb_get_infov(c, MARIADB_CONNECTION_SERVER_STATUS, &status);
  return (status & SERVER_STATUS_IN_TRANS) != 0;
}

static MYSQL* open_node(int port) {
  MYSQL* c = mysql_init(NULL);
  unsigned seconds = 20;
  mysql_options(c, MYSQL_OPT_READ_TIMEOUT, &seconds);
  if (mysql_real_connect(c, "127.0.0.1", user, NULL, database, port, NULL, 0)) return c;
  fprintf(stderr, "port %d: %s\n", port, mysql_error(c));
  exit(2);
}

// One transaction. Returns the number of its updates if COMMIT was acknowledged, otherwise -1.
static int transact(MYSQL* c, int session, unsigned* seed) {
  char text[100], lost[200] = "";
  int writes = 0, gone = 0;
  if (query(c, "START TRANSACTION")) return -1;
  const int count = 4 + rand_r(seed) % kLongest;
  for (int i = 0; i < count; i++) {
    const int row = 1 + rand_r(seed) % kRows, reads = rand_r(seed) % 10 < 6;
    snprintf(text, sizeof text,
             reads ? "SELECT v FROM t WHERE k = %d" : "UPDATE t SET v = v + 1 WHERE k = %d", row);
    if (query(c, text)) return -1;
    writes += !reads;
    if (!in_transaction(c) && !*lost) {
      snprintf(lost, sizeof lost, "statement %d of %d, %s", i + 1, count, text);
      gone = writes;
    }
  }
  if (query(c, "COMMIT")) return -1;
  if (*lost) {
    __sync_fetch_and_add(&ended, 1);
    __sync_fetch_and_add(&before, gone);
    printf("session %d, port %d: %s: no error, no transaction; COMMIT: OK\n", session,
           ports[session % nodes], lost);
  }
  return writes;
}

static void* run_session(void* argument) {
  const int session = (int)(long)argument;
  unsigned seed = 7919 * session + (unsigned)time(NULL);
  char text[100];
  MYSQL* c = open_node(ports[session % nodes]);
  snprintf(text, sizeof text, "SET SESSION TRANSACTION ISOLATION LEVEL %s", level);
  query(c, text);
  query(c, "SET innodb_lock_wait_timeout = 2");
  while (time(NULL) < stop_at) {
    const int writes = transact(c, session, &seed);
    if (writes >= 0) {
      __sync_fetch_and_add(&commits, 1);
      __sync_fetch_and_add(&updates, writes);
    } else {
      __sync_fetch_and_add(&refused, 1);
      if (mysql_errno(c) == 2006 || mysql_errno(c) == 2013) {
        printf("session %d: %s; the sum below does not count\n", session, mysql_error(c));
        break;
      }
      query(c, "ROLLBACK");
    }
  }
  mysql_close(c);
  return NULL;
}

static void create(MYSQL* c) {
  char text[100];
  query(c, "DROP TABLE IF EXISTS t");
  if (query(c, "CREATE TABLE t (k INT PRIMARY KEY, v INT) ENGINE = InnoDB"))
    fprintf(stderr, "%s\n", mysql_error(c));
  query(c, "START TRANSACTION");
  for (int k = 1; k <= kRows; k++) {
    snprintf(text, sizeof text, "INSERT INTO t VALUES (%d, 0)", k);
    query(c, text);
  }
  query(c, "COMMIT");
}

int main(int argc, char** argv) {
  if (argc < 5)
    return fprintf(stderr, "usage: silent PORT,PORT,PORT USER DATABASE SECONDS [LEVEL]\n"), 2;
  for (char* p = strtok(argv[1], ","); p && nodes < 8; p = strtok(NULL, ","))
    ports[nodes++] = atoi(p);
  user = argv[2];
  database = argv[3];
  if (argc > 5) level = argv[5];
  mysql_library_init(0, NULL, NULL);
  MYSQL* c = open_node(ports[0]);
  create(c);
  sleep(2);
  stop_at = time(NULL) + atoi(argv[4]);
  pthread_t threads[kSessions];
  for (long i = 0; i < kSessions; i++) pthread_create(&threads[i], NULL, run_session, (void*)i);
  for (int i = 0; i < kSessions; i++) pthread_join(threads[i], NULL);
  sleep(3);
  mysql_query(c, "SELECT SUM(v), VERSION() FROM t");
  MYSQL_RES* rows = mysql_store_result(c);
  MYSQL_ROW row = mysql_fetch_row(rows);
  printf("MariaDB %s, %s: %ld committed, %ld refused, %ld ended without an error\n", row[1], level,
         commits, refused, ended);
  printf(
      "%ld updates in acknowledged transactions, %s in the table: %ld missing. %ld updates were "
      "before such an end\n",
      updates, row[0], updates - atol(row[0]), before);
  return ended != 0;
}
