// NATS JetStream, compare-and-set: two connections publish to one key at the same time, and both
// expect the same revision. At most one of them may be acknowledged.
//
//   cc -O1 nats_compare_and_set.c -o cas -lnats -lpthread
//   ./cas URL URL ROUNDS REPLICAS
//
// Uses the NATS client library only (libnats 3.4, Debian package libnats-dev).
#include <nats/nats.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static const char* urls[2];
static int rounds;
static uint64_t revision;
static bool acknowledged[2];
static pthread_barrier_t barrier;

static void check(natsStatus status, const char* what) {
  if (status == NATS_OK) return;
  fprintf(stderr, "%s: %s\n", what, natsStatus_GetText(status));
  exit(1);
}

static void* publisher(void* argument) {
  const int self = argument == &urls[1];
  natsConnection* connection = NULL;
  jsCtx* context = NULL;
  check(natsConnection_ConnectTo(&connection, urls[self]), "connect");
  check(natsConnection_JetStream(&context, connection, NULL), "JetStream");
  for (int i = 0; i < rounds; ++i) {
    pthread_barrier_wait(&barrier);
    jsPubOptions options;
    jsPubOptions_Init(&options);
    options.ExpectLastSubjectSeq = revision;
    jsErrCode code = 0;
    acknowledged[self] =
        js_Publish(NULL, context, "$KV.cas.key", "new", 3, &options, &code) == NATS_OK;
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

int main(int count, char** arguments) {
  if (count != 5) {
    fprintf(stderr, "usage: %s URL URL ROUNDS REPLICAS\n", arguments[0]);
    return 2;
  }
  urls[0] = arguments[1];
  urls[1] = arguments[2];
  rounds = atoi(arguments[3]);
  natsConnection* connection = NULL;
  jsCtx* context = NULL;
  check(natsConnection_ConnectTo(&connection, urls[0]), "connect");
  check(natsConnection_JetStream(&context, connection, NULL), "JetStream");
  kvConfig config;
  kvConfig_Init(&config);
  config.Bucket = "cas";
  config.Replicas = atoi(arguments[4]);
  kvStore* bucket = NULL;
  check(js_CreateKeyValue(&bucket, context, &config), "make the bucket");
  pthread_barrier_init(&barrier, NULL, 3);
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, publisher, &urls[i]);
  int one = 0, both = 0;
  for (int i = 0; i < rounds; ++i) {
    check(kvStore_PutString(&revision, bucket, "key", "old"), "put");
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    both += acknowledged[0] && acknowledged[1];
    one += acknowledged[0] != acknowledged[1];
  }
  printf(
      "of %d pairs of updates with the same expected revision, both were acknowledged: %d, one: "
      "%d\n",
      rounds, both, one);
  return both == 0 ? 0 : 1;
}
