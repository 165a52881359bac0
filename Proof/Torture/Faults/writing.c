// Reading, writing, truncating, and syncing open files.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "interpose.h"
#include "paths.h"
#include "plan.h"
#include "record.h"

// The offset of a write that has none.
static off64_t position_of(int descriptor) {
  int flags = fcntl(descriptor, F_GETFL);
  struct stat status;
  if (flags & O_APPEND && fstat(descriptor, &status) == 0) return status.st_size;
  return lseek64(descriptor, 0, SEEK_CUR);
}

// `CALL` calls the real function for `length` bytes at `OFFSET`.
#define WRITE(path, OFFSET, CALL)                                      \
  enum verdict verdict = plan_next(OP_WRITE, path);                    \
  if (verdict == FAIL) return -1;                                      \
  if (verdict == DO_HALF && length > 1) length /= 2;                   \
  record_begin();                                                      \
  off64_t offset = OFFSET;                                             \
  ssize_t written = CALL;                                              \
  if (written > 0) record('w', path, (uint64_t)offset, data, (size_t)written); \
  if (verdict == DIE_AFTER) plan_die();                                \
  record_end();                                                        \
  return written

static ssize_t acknowledge(int descriptor, const void *data, size_t length, ssize_t (*really)(int, const void *, size_t)) {
  record_begin();
  ssize_t written = really(descriptor, data, length);
  if (written > 0) record('a', "", 0, data, (size_t)written);
  record_end();
  return written;
}

ssize_t write(int descriptor, const void *data, size_t length) {
  REAL(write);
  if (record_is_acknowledged(descriptor)) return acknowledge(descriptor, data, length, real);
  const char *path = paths_of(descriptor);
  if (!path) return real(descriptor, data, length);
  WRITE(path, position_of(descriptor), real(descriptor, data, length));
}

#define PWRITE(name, type)                                             \
  ssize_t name(int descriptor, const void *data, size_t length, type place) { \
    REAL(name);                                                        \
    const char *path = paths_of(descriptor);                           \
    if (!path) return real(descriptor, data, length, place);           \
    WRITE(path, place, real(descriptor, data, length, place));         \
  }

PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

// Writes only the first part, because callers must expect short writes.
ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  REAL(writev);
  if (!paths_of(descriptor) && !record_is_acknowledged(descriptor)) return real(descriptor, parts, count);
  return count > 0 ? write(descriptor, parts[0].iov_base, parts[0].iov_len) : 0;
}

#define READ(path, CALL)                                               \
  enum verdict verdict = plan_next(OP_READ, path);                     \
  if (verdict == FAIL) return -1;                                      \
  ssize_t count = CALL;                                                \
  if (verdict == DIE_AFTER) plan_die();                                \
  return count

ssize_t read(int descriptor, void *data, size_t length) {
  REAL(read);
  const char *path = paths_of(descriptor);
  if (!path) return real(descriptor, data, length);
  READ(path, real(descriptor, data, length));
}

#define PREAD(name, type)                                              \
  ssize_t name(int descriptor, void *data, size_t length, type place) { \
    REAL(name);                                                        \
    const char *path = paths_of(descriptor);                           \
    if (!path) return real(descriptor, data, length, place);           \
    READ(path, real(descriptor, data, length, place));                 \
  }

PREAD(pread, off_t)
PREAD(pread64, off64_t)

static int sync_watched(int descriptor, const char *path, int (*really)(int)) {
  struct stat status;
  int is_folder = fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode);
  enum verdict verdict = plan_next(is_folder ? OP_FOLDER_SYNC : OP_SYNC, path);
  int error = errno;
  record_begin();
  int result = verdict == FAIL ? -1 : verdict == LIE ? 0 : really(descriptor);
  if (verdict != FAIL) error = errno;
  record(verdict == FAIL || verdict == LIE || result != 0 ? 'f' : is_folder ? 'D' : 's', path, 0, 0, 0);
  if (verdict == DIE_AFTER) plan_die();
  record_end();
  errno = error;
  return result;
}

#define SYNC(name)                                                     \
  int name(int descriptor) {                                           \
    REAL(name);                                                        \
    const char *path = paths_of(descriptor);                           \
    return path ? sync_watched(descriptor, path, real) : real(descriptor); \
  }

SYNC(fsync)
SYNC(fdatasync)

#define TRUNCATE(name, type)                                           \
  int name(int descriptor, type size) {                                \
    REAL(name);                                                        \
    const char *path = paths_of(descriptor);                           \
    if (!path) return real(descriptor, size);                          \
    enum verdict verdict = plan_next(OP_TRUNCATE, path);               \
    if (verdict == FAIL) return -1;                                    \
    record_begin();                                                    \
    int result = real(descriptor, size);                               \
    if (result == 0) record('t', path, (uint64_t)size, 0, 0);          \
    if (verdict == DIE_AFTER) plan_die();                              \
    record_end();                                                      \
    return result;                                                     \
  }

TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

// Can only lengthen the file.
#define ALLOCATE(name, type)                                           \
  int name(int descriptor, type start, type length) {                  \
    REAL(name);                                                        \
    const char *path = paths_of(descriptor);                           \
    if (!path) return real(descriptor, start, length);                 \
    enum verdict verdict = plan_next(OP_TRUNCATE, path);               \
    if (verdict == FAIL) return errno;                                 \
    record_begin();                                                    \
    int result = real(descriptor, start, length);                      \
    struct stat status;                                                \
    if (result == 0 && fstat(descriptor, &status) == 0) record('t', path, (uint64_t)status.st_size, 0, 0); \
    if (verdict == DIE_AFTER) plan_die();                              \
    record_end();                                                      \
    return result;                                                     \
  }

ALLOCATE(posix_fallocate, off_t)
ALLOCATE(posix_fallocate64, off64_t)
