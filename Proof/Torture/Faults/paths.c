#define _GNU_SOURCE
#include "paths.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT = 4096 };

// Never freed, because another thread may be reading the path of a descriptor that is being closed.
static const char *open_paths[LIMIT];
static const char *folder;
static size_t folder_length;

__attribute__((constructor(102))) static void read_folder(void) {
  folder = getenv("FAULTS_FOLDER");
  folder_length = folder ? strlen(folder) : 0;
}

static bool is_watched(const char *path) {
  if (!folder || strncmp(path, folder, folder_length) != 0) return false;
  return path[folder_length] == '/' || path[folder_length] == '\0';
}

const char *paths_named(int directory, const char *path, char *buffer) {
  if (!folder || !path) return 0;
  if (path[0] == '/') return is_watched(path) ? path : 0;
  char start[PATH_MAX];
  const char *base = directory == AT_FDCWD ? getcwd(start, sizeof start) : paths_of(directory);
  if (!base || snprintf(buffer, PATH_MAX, "%s/%s", base, path) >= PATH_MAX) return 0;
  return is_watched(buffer) ? buffer : 0;
}

bool paths_is_recorded(const char *path) {
  size_t length = strlen(path);
  return length < 4 || strcmp(path + length - 4, "-shm") != 0;
}

static void set(int descriptor, const char *path) {
  if (descriptor >= 0 && descriptor < LIMIT) __atomic_store_n(&open_paths[descriptor], path, __ATOMIC_RELEASE);
}

void paths_opened(int descriptor, const char *path) { set(descriptor, path ? strdup(path) : 0); }
void paths_copied(int from, int to) { set(to, paths_of(from)); }
void paths_closed(int descriptor) { set(descriptor, 0); }

const char *paths_of(int descriptor) {
  if (descriptor < 0 || descriptor >= LIMIT) return 0;
  return __atomic_load_n(&open_paths[descriptor], __ATOMIC_ACQUIRE);
}
