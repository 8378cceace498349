/* A clock of their own for the processes of a node: preloaded into them (LD_PRELOAD), it answers in
   the C library's place what time it is, by the settings that cupel writes (settings.h). The
   monotonic clock stays what it is, as on a machine whose clock is set.

   Debian's libfaketime does not serve: Redis does not start with it (its memory allocator asks
   for the time before libfaketime is ready), its rate cannot change without a jump, and it opens a
   file each time that it is asked.

   Nothing here allocates memory, since allocators ask for the time too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "settings.h"

#define SECOND 1000000000LL

static const struct ClockSettings* settings(void) {
  static _Atomic(struct ClockSettings*) mapped;
  struct ClockSettings* found = atomic_load(&mapped);
  if (found != NULL) return found == MAP_FAILED ? NULL : found;
  if (environ == NULL) return NULL; /* the process is not ready yet */
  const char* path = getenv(CUPEL_CLOCK_VARIABLE);
  const int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  found = MAP_FAILED;
  if (file >= 0) {
    found = mmap(NULL, sizeof *found, PROT_READ, MAP_SHARED, file, 0);
    close(file);
  }
  atomic_store(&mapped, found);
  return found == MAP_FAILED ? NULL : found;
}

static int64_t nanoseconds(const struct timespec* time) {
  return time->tv_sec * SECOND + time->tv_nsec;
}

static struct timespec to_time(int64_t from) {
  struct timespec time = {from / SECOND, from % SECOND};
  if (time.tv_nsec < 0) {
    time.tv_nsec += SECOND;
    --time.tv_sec;
  }
  return time;
}

/* What the node's clock shows when the machine's shows `now`. */
static int64_t shown(int64_t now) {
  const volatile struct ClockSettings* from = settings();
  if (from == NULL) return now;
  struct ClockSettings copy;
  uint32_t before;
  do {
    before = __atomic_load_n(&from->sequence, __ATOMIC_ACQUIRE);
    copy = *from;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
  } while (before % 2 != 0 || before != __atomic_load_n(&from->sequence, __ATOMIC_RELAXED));
  const int64_t gone = now - copy.since;
  int64_t result = now + copy.offset;
  if (copy.rate != 1) result += (int64_t)((double)gone * (copy.rate - 1));
  if (copy.period > 0 && gone >= 0 && gone % copy.period < copy.period / 2) result += copy.jump;
  return result;
}

static int machine_time(clockid_t clock, struct timespec* time) {
  return (int)syscall(SYS_clock_gettime, clock, time);
}

/* What the machine's clock shows when a wait ends that the node's clock is to end. */
static struct timespec deadline(const struct timespec* of_node) {
  struct timespec now;
  if (machine_time(CLOCK_REALTIME, &now) != 0) return *of_node;
  const int64_t machine = nanoseconds(&now);
  return to_time(machine + nanoseconds(of_node) - shown(machine));
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  const int failed = machine_time(clock, time);
  if (failed == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    *time = to_time(shown(nanoseconds(time)));
  }
  return failed;
}

int gettimeofday(struct timeval* restrict time, void* restrict zone) {
  (void)zone;
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  *time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t* result) {
  struct timespec now = {-1, 0};
  (void)clock_gettime(CLOCK_REALTIME, &now);
  if (result != NULL) *result = now.tv_sec;
  return now.tv_sec;
}

int timespec_get(struct timespec* time, int base) {
  return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, time) == 0 ? base : 0;
}

/* Waits until a moment, which only the clock gives a meaning. The others of the C library that take
   one (timer_settime, mq_timedreceive …) are not used by the servers that cupel starts. */
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int pthread_cond_timedwait(pthread_cond_t* restrict condition, pthread_mutex_t* restrict mutex,
                           const struct timespec* restrict until) {
  static __typeof__(&pthread_cond_timedwait) next;
  if (next == NULL)
    next = (__typeof__(next))dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
  if (next == NULL) next = NEXT(pthread_cond_timedwait);
  /* A condition may have the monotonic clock, which begins with the machine: not 30 years ago. */
  if (until->tv_sec < 1000000000) return next(condition, mutex, until);
  const struct timespec moment = deadline(until);
  return next(condition, mutex, &moment);
}

int pthread_cond_clockwait(pthread_cond_t* restrict condition, pthread_mutex_t* restrict mutex,
                           clockid_t clock, const struct timespec* restrict until) {
  static __typeof__(&pthread_cond_clockwait) next;
  if (next == NULL) next = NEXT(pthread_cond_clockwait);
  if (clock != CLOCK_REALTIME) return next(condition, mutex, clock, until);
  const struct timespec moment = deadline(until);
  return next(condition, mutex, clock, &moment);
}

int pthread_mutex_timedlock(pthread_mutex_t* restrict mutex,
                            const struct timespec* restrict until) {
  static __typeof__(&pthread_mutex_timedlock) next;
  if (next == NULL) next = NEXT(pthread_mutex_timedlock);
  const struct timespec moment = deadline(until);
  return next(mutex, &moment);
}

int sem_timedwait(sem_t* restrict semaphore, const struct timespec* restrict until) {
  static __typeof__(&sem_timedwait) next;
  if (next == NULL) next = NEXT(sem_timedwait);
  const struct timespec moment = deadline(until);
  return next(semaphore, &moment);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec* time,
                    struct timespec* left) {
  static __typeof__(&clock_nanosleep) next;
  if (next == NULL) next = NEXT(clock_nanosleep);
  if (clock != CLOCK_REALTIME || (flags & TIMER_ABSTIME) == 0)
    return next(clock, flags, time, left);
  const struct timespec moment = deadline(time);
  return next(clock, flags, &moment, left);
}
