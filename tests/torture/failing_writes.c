/* A disk that fails: preloaded into cupel (LD_PRELOAD), it lets writes to plain files fail.
 *
 *   FAILING_WRITES_PROGRAM  the programs whose writes fail, by the beginning of their files' names
 *   FAILING_WRITES_FROM     the first one that fails, from 1; 0: none does
 *   FAILING_WRITES_COUNT    how many fail from there on; 0: all
 *   FAILING_WRITES_HOW      "full" (ENOSPC), "error" (EIO) or "short" (half is written)
 *   FAILING_WRITES_TOTAL    a file for the number of writes that there were
 *
 * Calls that make what was written last (fsync, fdatasync, ftruncate) count as writes; they are not
 * short. Pipes, sockets and terminals do not fail. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum how { kFull, kError, kShort };

static atomic_long writes;
static long from, count;
static enum how how;
static int is_meant;

static long number_of(const char* name) {
  const char* text = getenv(name);
  return text == NULL ? 0 : strtol(text, NULL, 10);
}

__attribute__((constructor)) static void begin(void) {
  const char* program = getenv("FAILING_WRITES_PROGRAM");
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (program == NULL || length <= 0) return;
  path[length] = '\0';
  const char* slash = strrchr(path, '/');
  is_meant = strncmp(slash == NULL ? path : slash + 1, program, strlen(program)) == 0;
  from = number_of("FAILING_WRITES_FROM");
  count = number_of("FAILING_WRITES_COUNT");
  const char* text = getenv("FAILING_WRITES_HOW");
  how = text == NULL || strcmp(text, "full") == 0 ? kFull
        : strcmp(text, "error") == 0              ? kError
                                                  : kShort;
}

__attribute__((destructor)) static void end(void) {
  const char* path = getenv("FAILING_WRITES_TOTAL");
  if (!is_meant || path == NULL) return;
  const int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) return;
  char text[32];
  const int length = snprintf(text, sizeof text, "%ld\n", atomic_load(&writes));
  if (syscall(SYS_write, file, text, (size_t)length) != length) abort();
  syscall(SYS_close, file);
}

/* Does this write fail? */
static int fails(int file) {
  struct stat facts;
  if (!is_meant || fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode)) return 0;
  const long number = atomic_fetch_add(&writes, 1) + 1;
  return from != 0 && number >= from && (count == 0 || number < from + count);
}

static int refuse(void) {
  errno = how == kFull ? ENOSPC : EIO;
  return -1;
}

ssize_t write(int file, const void* bytes, size_t size) {
  if (fails(file)) {
    if (how != kShort) return refuse();
    if (size > 1) size /= 2;
  }
  return syscall(SYS_write, file, bytes, size);
}

ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
  if (fails(file)) {
    if (how != kShort) return refuse();
    if (size > 1) size /= 2;
  }
  return syscall(SYS_pwrite64, file, bytes, size, offset);
}
ssize_t pwrite64(int file, const void* bytes, size_t size, off_t offset) {
  return pwrite(file, bytes, size, offset);
}

/* Of a vector only the first part is written, if it is short. */
ssize_t writev(int file, const struct iovec* parts, int number) {
  if (fails(file)) {
    if (how != kShort) return refuse();
    for (int i = 0; i < number; ++i) {
      const size_t size = parts[i].iov_len;
      if (size > 0) return syscall(SYS_write, file, parts[i].iov_base, size > 1 ? size / 2 : size);
    }
  }
  return syscall(SYS_writev, file, parts, number);
}

int fsync(int file) {
  return how != kShort && fails(file) ? refuse() : (int)syscall(SYS_fsync, file);
}
int fdatasync(int file) {
  return how != kShort && fails(file) ? refuse() : (int)syscall(SYS_fdatasync, file);
}
int ftruncate(int file, off_t length) {
  return how != kShort && fails(file) ? refuse() : (int)syscall(SYS_ftruncate, file, length);
}
int ftruncate64(int file, off_t length) { return ftruncate(file, length); }
