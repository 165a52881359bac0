#include "mutants.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static long active = -1;
/// A file with a byte for each mutant, shared by all processes of a test.
static volatile unsigned char *reached;
static long length;

__attribute__((constructor)) static void start(void) {
    const char *number = getenv("USERSTORE_MUTANT");
    if (number) active = atol(number);
    const char *path = getenv("USERSTORE_REACHED");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    struct stat status;
    if (fstat(file, &status) == 0 && status.st_size > 0) {
        void *map = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (map != MAP_FAILED) {
            reached = map;
            length = status.st_size;
        }
    }
    close(file);
}

bool mutant(long number) {
    if (reached && number < length) reached[number] = 1;
    return number == active;
}
