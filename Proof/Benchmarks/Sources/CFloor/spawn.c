#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include "floor.h"

extern char **environ;

int floor_spawn(char *const *arguments) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t child;
  int status = -1;
  if (posix_spawnp(&child, arguments[0], &actions, 0, arguments, environ) != 0 || waitpid(child, &status, 0) < 0) status = -1;
  posix_spawn_file_actions_destroy(&actions);
  return status < 0 || !WIFEXITED(status) ? -1 : WEXITSTATUS(status);
}
