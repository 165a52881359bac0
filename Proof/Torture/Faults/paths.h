// Which descriptor is open on which watched path.
#ifndef FAULTS_PATHS_H
#define FAULTS_PATHS_H

#include <limits.h>
#include <stdbool.h>

// The path that a call names, absolute; null when it is none of ours. `buffer` has PATH_MAX bytes.
const char *paths_named(int folder, const char *path, char *buffer);
bool paths_is_recorded(const char *path);

void paths_opened(int descriptor, const char *path);
void paths_copied(int from, int to);
void paths_closed(int descriptor);
// Null when it is open on none of ours; the text lives as long as the process.
const char *paths_of(int descriptor);

#endif
