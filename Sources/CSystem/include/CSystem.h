#ifndef USERSTORE_CSYSTEM_H
#define USERSTORE_CSYSTEM_H

#include <stdint.h>

// Only what Swift cannot import: glibc declares these functions only with _GNU_SOURCE, and Swift imports it without; its module
// map lacks <sys/statfs.h>.

/// The arguments that the system passed to the program, of which `count` are before the null; null if it passed none.
///
/// Swift's CommandLine reads them from /proc/self/cmdline on Linux, and is empty without /proc: in some containers and jails, or
/// where a file system is mounted over it.
char *const *userstore_arguments(int *count);

/// Waits until one of two descriptors is readable (a negative one is ignored), or for the time.
/// Returns bit 1 for the first and bit 2 for the second; 0 after the time, or a signal.
int userstore_wait_readable(int first, int second, int64_t microseconds);

#ifdef __linux__
/// Returns the magic number of the path's file system (statfs(2)); 0 if the system does not say.
uint32_t userstore_file_system(const char *path);
#endif

/// Renames a file to a name that does not exist, in one step. Returns 0, or -1 with errno: EEXIST if the name exists; EINVAL,
/// ENOSYS, ENOTSUP and others if the system or the file system does not support it.
int userstore_rename_new(const char *path, const char *target);

/// Whether bytes contain others, in time that grows with their sum and not with their product: memmem(3).
int userstore_contains(const void *bytes, long count, const void *part, long part_count);

/// Names the calling thread, for debuggers and `top -H`.
void userstore_name_thread(const void *name);

/// Reports to the thread sanitizer that a lock was acquired or released; does nothing in other builds.
void userstore_lock_taken(const void *lock);
void userstore_lock_returned(const void *lock);

#endif
