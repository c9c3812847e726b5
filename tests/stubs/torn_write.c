/* A process that is killed in the middle of its TORN_WRITE-th write to a file of the ledger: half of it is done. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static long writes;

static int fatal(int file) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    const char *at = getenv("TORN_WRITE");
    return strstr(path, "runs.sqlite") != NULL && at != NULL && ++writes == atol(at);
}

#define TORN(name, parameters, arguments, half)                               \
    ssize_t name parameters {                                                 \
        ssize_t (*next) parameters = (ssize_t (*) parameters)dlsym(RTLD_NEXT, #name); \
        if (fatal(file)) {                                                    \
            next half;                                                        \
            kill(getpid(), SIGKILL);                                          \
        }                                                                     \
        return next arguments;                                                \
    }

TORN(write, (int file, const void *data, size_t size), (file, data, size), (file, data, size / 2))
TORN(pwrite, (int file, const void *data, size_t size, off_t at), (file, data, size, at), (file, data, size / 2, at))
TORN(pwrite64, (int file, const void *data, size_t size, off64_t at), (file, data, size, at), (file, data, size / 2, at))
