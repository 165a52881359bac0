// The watched paths of open descriptors.
#ifndef FAULTS_PATHS_H
#define FAULTS_PATHS_H

#include <limits.h>
#include <stdbool.h>

// The absolute path that a call names, or null if it is not watched. `buffer` has PATH_MAX bytes.
const char *paths_named(int folder, const char *path, char *buffer);
bool paths_is_recorded(const char *path);

void paths_opened(int descriptor, const char *path);
void paths_copied(int from, int to);
void paths_closed(int descriptor);
// The path of a descriptor, or null if it is not watched. The text lives as long as the process.
const char *paths_of(int descriptor);

#endif
