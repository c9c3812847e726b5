/* A file system that grants no locks: every record lock is refused, as some network mounts do. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>

static int refused(int command) {
    return command == F_SETLK || command == F_SETLKW || command == F_GETLK;
}

#define REFUSING(name)                                                        \
    int name(int file, int command, ...) {                                    \
        va_list rest;                                                         \
        va_start(rest, command);                                              \
        void *value = va_arg(rest, void *);                                   \
        va_end(rest);                                                         \
        if (refused(command)) {                                               \
            errno = ENOLCK;                                                   \
            return -1;                                                        \
        }                                                                     \
        int (*next)(int, int, ...) = (int (*)(int, int, ...))dlsym(RTLD_NEXT, #name); \
        return next(file, command, value);                                    \
    }

REFUSING(fcntl)
REFUSING(fcntl64)
