/* A system that grants few threads: preloaded into cupel (LD_PRELOAD), it lets pthread_create fail.
 *
 *   FAILING_THREADS_PROGRAM  the programs whose threads fail, by the beginning of their files' names
 *   FAILING_THREADS_GRANTED  how many threads are granted before, from 0 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int (*create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

static atomic_long asked;
static long granted = -1;

__attribute__((constructor)) static void begin(void) {
  const char* program = getenv("FAILING_THREADS_PROGRAM");
  const char* number = getenv("FAILING_THREADS_GRANTED");
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (program == NULL || number == NULL || length <= 0) return;
  path[length] = '\0';
  const char* const name = strrchr(path, '/');
  if (name != NULL && strncmp(name + 1, program, strlen(program)) == 0) granted = strtol(number, NULL, 10);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  static create next;
  if (next == NULL) next = (create)dlsym(RTLD_NEXT, "pthread_create");
  if (granted >= 0 && atomic_fetch_add(&asked, 1) >= granted) return EAGAIN;
  return next(thread, attributes, start, argument);
}
