// Removing, changing, and adding names.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interpose.h"
#include "paths.h"
#include "plan.h"
#include "record.h"

// `CALL` calls the real function. `LETTER` and `DATA` are recorded.
#define NAMING(OPERATION, path, CALL, LETTER, DATA)                    \
  enum verdict verdict = plan_next(OPERATION, path);                   \
  if (verdict == FAIL) return -1;                                      \
  record_begin();                                                      \
  int result = CALL;                                                   \
  const char *data = DATA;                                             \
  if (result == 0 && LETTER) record(LETTER, path, 0, data, data ? strlen(data) : 0); \
  if (verdict == DIE_AFTER) plan_die();                                \
  record_end();                                                        \
  return result

int unlink(const char *path) {
  REAL(unlink);
  char buffer[PATH_MAX];
  const char *name = paths_named(AT_FDCWD, path, buffer);
  if (!name) return real(path);
  NAMING(OP_UNLINK, name, real(path), 'u', 0);
}

int unlinkat(int folder, const char *path, int flags) {
  REAL(unlinkat);
  char buffer[PATH_MAX];
  const char *name = flags & AT_REMOVEDIR ? 0 : paths_named(folder, path, buffer);
  if (!name) return real(folder, path, flags);
  NAMING(OP_UNLINK, name, real(folder, path, flags), 'u', 0);
}

int remove(const char *path) {
  REAL(remove);
  struct stat status;
  return lstat(path, &status) == 0 && !S_ISDIR(status.st_mode) ? unlink(path) : real(path);
}

// Moves from or to another folder are not watched.
#define TWO_NAMES(OPERATION, LETTER, FOLDER_A, A, FOLDER_B, B, CALL)   \
  char buffer_a[PATH_MAX], buffer_b[PATH_MAX];                         \
  const char *from = paths_named(FOLDER_A, A, buffer_a), *to = paths_named(FOLDER_B, B, buffer_b); \
  if (!from || !to) return CALL;                                       \
  NAMING(OPERATION, from, CALL, LETTER, to)

int rename(const char *a, const char *b) {
  REAL(rename);
  TWO_NAMES(OP_RENAME, 'r', AT_FDCWD, a, AT_FDCWD, b, real(a, b));
}

int renameat(int folder_a, const char *a, int folder_b, const char *b) {
  REAL(renameat);
  TWO_NAMES(OP_RENAME, 'r', folder_a, a, folder_b, b, real(folder_a, a, folder_b, b));
}

int renameat2(int folder_a, const char *a, int folder_b, const char *b, unsigned flags) {
  REAL(renameat2);
  TWO_NAMES(OP_RENAME, 'r', folder_a, a, folder_b, b, real(folder_a, a, folder_b, b, flags));
}

int link(const char *a, const char *b) {
  REAL(link);
  TWO_NAMES(OP_LINK, 'l', AT_FDCWD, a, AT_FDCWD, b, real(a, b));
}

int linkat(int folder_a, const char *a, int folder_b, const char *b, int flags) {
  REAL(linkat);
  TWO_NAMES(OP_LINK, 'l', folder_a, a, folder_b, b, real(folder_a, a, folder_b, b, flags));
}

int utimensat(int folder, const char *path, const struct timespec times[2], int flags) {
  REAL(utimensat);
  char buffer[PATH_MAX];
  const char *name = paths_named(folder, path, buffer);
  if (!name) return real(folder, path, times, flags);
  NAMING(OP_TOUCH, name, real(folder, path, times, flags), 0, 0);
}
