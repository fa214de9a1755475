// A disk that fails on demand, for `scripts/attack disk`: preloaded, it reads the fault to inject from the file named by
// FAILING_DISK and makes writes to a store fail.
//
//   full      every write fails with ENOSPC
//   readonly  every write fails with EROFS
//   flush     the next flushes fail with EIO
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

// Whether the switch is on and the descriptor is one of a store: its name ends in .db, .db-wal or .db-journal.
static int fails(int descriptor, const char *wanted) {
  const char *switches = getenv("FAILING_DISK");
  char link[64], name[PATH_MAX], text[32] = "";
  if (!switches || access(switches, F_OK) != 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, name, sizeof name - 1);
  if (length < 0) return 0;
  name[length] = 0;
  if (!strstr(name, ".db")) return 0;
  FILE *file = fopen(switches, "r");
  if (!file) return 0;
  if (!fgets(text, sizeof text, file)) text[0] = 0;
  fclose(file);
  return strncmp(text, wanted, strlen(wanted)) == 0;
}

static int is_failing(int descriptor) {
  if (fails(descriptor, "full")) errno = ENOSPC;
  else if (fails(descriptor, "readonly")) errno = EROFS;
  else return 0;
  return 1;
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
  ssize_t (*real)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
  return is_failing(descriptor) ? -1 : real(descriptor, bytes, count, offset);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
  ssize_t (*real)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite");
  return is_failing(descriptor) ? -1 : real(descriptor, bytes, count, offset);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
  ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
  return is_failing(descriptor) ? -1 : real(descriptor, bytes, count);
}

static int flush(int descriptor, const char *name) {
  int (*real)(int) = dlsym(RTLD_NEXT, name);
  if (!fails(descriptor, "flush")) return real(descriptor);
  errno = EIO;
  return -1;
}

int fsync(int descriptor) { return flush(descriptor, "fsync"); }
int fdatasync(int descriptor) { return flush(descriptor, "fdatasync"); }
