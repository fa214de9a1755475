// A disk that loses unflushed writes at a power failure: preloaded, it keeps a copy of every store with only the flushed
// writes, in the folder named by FORGETFUL_DISK. To simulate a power failure, the test kills the process and replaces the
// files by the copies.
//
// With FORGETFUL_DISK_LIES set it confirms flushes and copies nothing: a disk that ignores flushes, or a store that
// never flushes.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

struct range { off_t begin; size_t length; };
struct file {
  char name[PATH_MAX];
  int kept;
  struct range *noted;
  size_t count, capacity;
};

static struct file files[16];
static int known;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static ssize_t real_write_at(int descriptor, const void *bytes, size_t count, off_t offset) {
  static ssize_t (*real)(int, const void *, size_t, off_t);
  if (!real) real = dlsym(RTLD_NEXT, "pwrite64");
  return real(descriptor, bytes, count, offset);
}

// Copies a part of the file to what the disk keeps.
static void keep(struct file *file, int descriptor, off_t begin, size_t length) {
  char bytes[65536];
  while (length > 0) {
    ssize_t got = pread(descriptor, bytes, length < sizeof bytes ? length : sizeof bytes, begin);
    if (got <= 0) return;
    real_write_at(file->kept, bytes, got, begin);
    begin += got;
    length -= got;
  }
}

// The store that the descriptor is one of; null for everything else. What is there when it is met first is on the disk.
static struct file *store(int descriptor) {
  const char *folder = getenv("FORGETFUL_DISK");
  char link[64], name[PATH_MAX], copy[PATH_MAX * 2];
  if (!folder) return NULL;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, name, sizeof name - 1);
  if (length < 0) return NULL;
  name[length] = 0;
  char *end = strrchr(name, '.'), *base = strrchr(name, '/');
  if (!end || !base || (strcmp(end, ".db") && strcmp(end, ".db-wal") && strcmp(end, ".db-journal"))) return NULL;
  for (int i = 0; i < known; i++) if (!strcmp(files[i].name, name)) return &files[i];
  if (known == sizeof files / sizeof *files) return NULL;
  struct file *file = &files[known];
  snprintf(copy, sizeof copy, "%s/%s", folder, base + 1);
  file->kept = open(copy, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (file->kept < 0) return NULL;
  strcpy(file->name, name);
  known++;
  return file;
}

static void note(int descriptor, off_t begin, ssize_t length) {
  if (length <= 0) return;
  pthread_mutex_lock(&lock);
  struct file *file = store(descriptor);
  if (file && file->count == file->capacity) {
    size_t capacity = file->capacity ? file->capacity * 2 : 1024;
    struct range *more = realloc(file->noted, capacity * sizeof *more);
    if (!more) abort();
    file->noted = more;
    file->capacity = capacity;
  }
  if (file) file->noted[file->count++] = (struct range){begin, length};
  pthread_mutex_unlock(&lock);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
  ssize_t written = real_write_at(descriptor, bytes, count, offset);
  note(descriptor, offset, written);
  return written;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
  return pwrite64(descriptor, bytes, count, offset);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
  ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
  off_t offset = lseek(descriptor, 0, SEEK_CUR);
  ssize_t written = real(descriptor, bytes, count);
  if (offset >= 0) note(descriptor, offset, written);
  return written;
}

static int flush(int descriptor) {
  struct stat now;
  // As long as a disk takes, so that the power may fail between a write and its flush.
  if (getenv("FORGETFUL_DISK")) usleep(4000);
  pthread_mutex_lock(&lock);
  struct file *file = store(descriptor);
  if (file && !getenv("FORGETFUL_DISK_LIES")) {
    for (size_t i = 0; i < file->count; i++) keep(file, descriptor, file->noted[i].begin, file->noted[i].length);
    file->count = 0;
    if (fstat(descriptor, &now) == 0 && ftruncate(file->kept, now.st_size) != 0) abort();
  }
  pthread_mutex_unlock(&lock);
  return 0;
}

int fsync(int descriptor) { return flush(descriptor); }
int fdatasync(int descriptor) { return flush(descriptor); }
