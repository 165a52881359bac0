// Opening, copying, and closing descriptors, and locks.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interpose.h"
#include "paths.h"
#include "plan.h"
#include "record.h"

// A function of the C library, called with the arguments of openat.
typedef int opener(int folder, const char *path, int flags, mode_t mode);

static void note_opened(const char *path, int flags, int existed) {
  if (!existed && flags & O_CREAT) record('c', path, 0, 0, 0);
  else if (flags & O_TRUNC) record('t', path, 0, 0, 0);
}

static int open_watched(opener *open_really, int folder, const char *path, int flags, mode_t mode) {
  char buffer[PATH_MAX];
  const char *name = paths_named(folder, path, buffer);
  if (!name) {
    int descriptor = open_really(folder, path, flags, mode);
    if (descriptor >= 0) paths_closed(descriptor);
    return descriptor;
  }
  enum verdict verdict = plan_next(OP_OPEN, name);
  if (verdict == FAIL) return -1;
  record_begin();
  struct stat status;
  int existed = fstatat(folder, path, &status, 0) == 0;
  int descriptor = open_really(folder, path, flags, mode);
  if (descriptor >= 0) {
    note_opened(name, flags, existed);
    paths_opened(descriptor, name);
  }
  if (verdict == DIE_AFTER) plan_die();
  record_end();
  return descriptor;
}

#define OPENER(name, call)                                             \
  static int name##_really(int folder, const char *path, int flags, mode_t mode) { \
    REAL(name);                                                        \
    (void)folder, (void)flags, (void)mode;                             \
    return call;                                                       \
  }

static mode_t mode_of(int flags, va_list arguments) {
  return flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

#define OPEN(name)                                                     \
  OPENER(name, real(path, flags, mode))                                \
  int name(const char *path, int flags, ...) {                         \
    va_list arguments;                                                 \
    va_start(arguments, flags);                                        \
    mode_t mode = mode_of(flags, arguments);                           \
    va_end(arguments);                                                 \
    return open_watched(name##_really, AT_FDCWD, path, flags, mode);   \
  }

#define OPENAT(name)                                                   \
  OPENER(name, real(folder, path, flags, mode))                        \
  int name(int folder, const char *path, int flags, ...) {             \
    va_list arguments;                                                 \
    va_start(arguments, flags);                                        \
    mode_t mode = mode_of(flags, arguments);                           \
    va_end(arguments);                                                 \
    return open_watched(name##_really, folder, path, flags, mode);     \
  }

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

// The fortified functions, which the compiler calls if there is no mode.
#define OPEN_2(name)                                                   \
  int name(const char *path, int flags);                               \
  OPENER(name, real(path, flags))                                      \
  int name(const char *path, int flags) { return open_watched(name##_really, AT_FDCWD, path, flags, 0); }

#define OPENAT_2(name)                                                 \
  int name(int folder, const char *path, int flags);                   \
  OPENER(name, real(folder, path, flags))                              \
  int name(int folder, const char *path, int flags) { return open_watched(name##_really, folder, path, flags, 0); }

OPEN_2(__open_2)
OPEN_2(__open64_2)
OPENAT_2(__openat_2)
OPENAT_2(__openat64_2)

int creat(const char *path, mode_t mode) { return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return open64(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

int close(int descriptor) {
  REAL(close);
  // Before it is closed, because another thread may then get the same number.
  paths_closed(descriptor);
  return real(descriptor);
}

int dup(int descriptor) {
  REAL(dup);
  int copy = real(descriptor);
  if (copy >= 0) paths_copied(descriptor, copy);
  return copy;
}

int dup2(int descriptor, int wanted) {
  REAL(dup2);
  int copy = real(descriptor, wanted);
  if (copy >= 0) paths_copied(descriptor, copy);
  return copy;
}

int dup3(int descriptor, int wanted, int flags) {
  REAL(dup3);
  int copy = real(descriptor, wanted, flags);
  if (copy >= 0) paths_copied(descriptor, copy);
  return copy;
}

static int takes_lock(int command, const struct flock *lock) {
  int locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
  return locks && lock->l_type != F_UNLCK;
}

typedef int controller(int descriptor, int command, void *argument);

static int control(controller *really, int descriptor, int command, void *argument) {
  const char *path = paths_of(descriptor);
  if (!path) return really(descriptor, command, argument);
  enum verdict verdict = takes_lock(command, argument) ? plan_next(OP_LOCK, path) : GO_ON;
  if (verdict == FAIL) return -1;
  int result = really(descriptor, command, argument);
  if (verdict == DIE_AFTER) plan_die();
  if (result >= 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC)) paths_copied(descriptor, result);
  return result;
}

// The third argument, if there is one, is as wide as a pointer on every system that this runs on.
#define CONTROL(name)                                                  \
  static int name##_really(int descriptor, int command, void *argument) { \
    REAL(name);                                                        \
    return real(descriptor, command, argument);                        \
  }                                                                    \
  int name(int descriptor, int command, ...) {                         \
    va_list arguments;                                                 \
    va_start(arguments, command);                                      \
    void *argument = va_arg(arguments, void *);                        \
    va_end(arguments);                                                 \
    return control(name##_really, descriptor, command, argument);      \
  }

CONTROL(fcntl)
CONTROL(fcntl64)
