#ifndef USERSTORE_CSYSTEM_H
#define USERSTORE_CSYSTEM_H

#include <stdint.h>

// Only what Swift cannot import: glibc shows these to _GNU_SOURCE alone, and Swift imports it without; its module map
// leaves <sys/statfs.h> out.

/// Waits until one of two descriptors is readable (a negative one is left out) or the time has passed.
/// Returns 0 for the time, bit 1 for the first, bit 2 for the second; a signal counts as the time.
int userstore_wait_readable(int first, int second, int64_t microseconds);

#ifdef __linux__
/// The number of the kind of file system that the path is on (statfs(2)); 0 when the system does not say.
uint32_t userstore_file_system(const char *path);
#endif

/// Renames a file to a name that nothing has, in one step. Returns 0, or -1 with errno: EEXIST when something has the
/// name; EINVAL, ENOSYS, ENOTSUP and others where the system or the file system cannot do it.
int userstore_rename_new(const char *path, const char *target);

/// Names the calling thread, for debuggers and `top -H`.
void userstore_name_thread(const char *name);

/// Tells the thread sanitizer that a lock was taken or given back; nothing in other builds.
void userstore_lock_taken(const void *lock);
void userstore_lock_returned(const void *lock);

#endif
