#define _GNU_SOURCE
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "paths.h"
#include "plan.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int file = -1;
static int acknowledged = -1;

__attribute__((constructor(103))) static void open_record(void) {
  acknowledged = (int)plan_number("FAULTS_ACK", -1);
  const char *path = getenv("FAULTS_RECORD");
  if (!path) return;
  int opened = (int)syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  // A high number, for programs that count their descriptors or close the low ones.
  file = (int)syscall(SYS_fcntl, opened, F_DUPFD_CLOEXEC, 900);
  syscall(SYS_close, opened);
}

bool record_is_acknowledged(int descriptor) { return file >= 0 && descriptor == acknowledged; }

void record_begin(void) {
  if (file >= 0) pthread_mutex_lock(&mutex);
}

void record_end(void) {
  if (file >= 0) pthread_mutex_unlock(&mutex);
}

static void append(struct iovec *parts, int count) {
  // Writes to a file in memory are complete, unless it is full.
  if (syscall(SYS_writev, file, parts, count) < 0) abort();
}

void record(char operation, const char *path, uint64_t offset, const void *data, size_t length) {
  if (file < 0 || !paths_is_recorded(path)) return;
  int error = errno;
  uint16_t path_length = (uint16_t)strlen(path);
  uint64_t data_length = length;
  struct iovec parts[] = {
      {&operation, 1}, {&path_length, 2}, {(void *)path, path_length}, {&offset, 8}, {&data_length, 8}, {(void *)data, length},
  };
  append(parts, 6);
  errno = error;
}
