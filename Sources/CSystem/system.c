#define _GNU_SOURCE
#include "CSystem.h"

#include <poll.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#ifdef __linux__
#include <sys/statfs.h>

uint32_t userstore_file_system(const char *path) {
  struct statfs status;
  return statfs(path, &status) == 0 ? (uint32_t)status.f_type : 0;
}
#endif

int userstore_contains(const void *bytes, long count, const void *part, long part_count) {
  return part_count == 0 || memmem(bytes, (size_t)count, part, (size_t)part_count) != NULL;
}

static int argument_count;
static char **arguments;

#if defined(__APPLE__) || defined(__GLIBC__)
// The loader passes constructors what it passes to main.
__attribute__((constructor)) static void take_arguments(int count, char **values) {
  argument_count = count;
  arguments = values;
}
#elif defined(__linux__)
// musl passes them nothing. The kernel puts the arguments and their null in front of the environment, which is still where the
// kernel put it, above the stack, unless another constructor has already changed it.
extern char **environ;
__attribute__((constructor)) static void take_arguments(void) {
  if (!environ || (char *)environ < (char *)__builtin_frame_address(0)) return;
  char **first = environ - 1;
  intptr_t count = 0;
  while ((intptr_t)first[-1] != count) first--, count++;
  argument_count = (int)count;
  arguments = first;
}
#endif

char *const *userstore_arguments(int *count) {
  *count = argument_count;
  return arguments;
}

int userstore_rename_new(const char *path, const char *target) {
#if defined(__APPLE__)
  return renamex_np(path, target, RENAME_EXCL);
#elif defined(RENAME_NOREPLACE)
  return renameat2(AT_FDCWD, path, AT_FDCWD, target, RENAME_NOREPLACE);
#else
  // Older versions of musl, and glibc before 2.28.
  (void)path, (void)target;
  errno = ENOSYS;
  return -1;
#endif
}

int userstore_wait_readable(int first, int second, int64_t microseconds) {
  struct pollfd descriptors[2] = {{first, POLLIN, 0}, {second, POLLIN, 0}};
#ifdef __linux__
  struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
  int ready = ppoll(descriptors, 2, &time, 0);
#else
  int ready = poll(descriptors, 2, microseconds < 1000 ? 1 : (int)(microseconds / 1000));
#endif
  if (ready <= 0) return 0;
  return (descriptors[0].revents ? 1 : 0) | (descriptors[1].revents ? 2 : 0);
}

void userstore_name_thread(const void *name) {
#ifdef __APPLE__
  pthread_setname_np(name);
#else
  pthread_setname_np(pthread_self(), name);
#endif
}

#if __has_feature(thread_sanitizer)
void __tsan_acquire(void *address);
void __tsan_release(void *address);
void userstore_lock_taken(const void *lock) { __tsan_acquire((void *)lock); }
void userstore_lock_returned(const void *lock) { __tsan_release((void *)lock); }
#else
void userstore_lock_taken(const void *lock) { (void)lock; }
void userstore_lock_returned(const void *lock) { (void)lock; }
#endif
