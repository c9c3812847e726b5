/*
 * What the stand-in for NVML (nvml_stub.c, which says how it is driven) stands on: settings from the
 * environment, exceptions, counters, and the macros that make one function of the library.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef int nvmlReturn_t;
typedef unsigned int uint;
typedef unsigned long long ull;
typedef struct { int index; uint reads; } *nvmlDevice_t;
typedef struct sample *nvmlGpmSample_t;
typedef struct event_set *nvmlEventSet_t;

enum { SUCCESS = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6,
       INSUFFICIENT_SIZE = 7, TIMEOUT = 10, VERSION_MISMATCH = 25, HANG = -1, VALUE = -2 };

#define MIB (1024ull * 1024ull)
#define TOTAL_MIB 143771ull
#define RESERVED_MIB 615ull
#define MAX_GPUS 16
#define MAX_RULES 32
#define MAX_LISTED 64
#define MAX_RATES 16
#define MAX_EVENTS 32
#define MAX_COUNTED 96
#define LINE 64

struct rule { char what[64]; int gpu, action; ull value; double from_s, to_s; };
struct listed { int gpu; uint pid; long long mib; };
struct process_v1 { uint pid; ull used; };
struct process_v2 { uint pid; ull used; uint gpu_instance, compute_instance; };
struct memory_v1 { ull total, free, used; };
struct memory_v2 { uint version; ull total, reserved, free, used; };
struct utilisation { uint gpu, memory; };
struct temperature { uint version, sensor; int celsius; };
struct sample { int gpu, taken; double at_s, received_mib; };
struct gpm_support { uint version, supported; };
struct gpm_metric { uint id; nvmlReturn_t code; double value; struct { const char *brief, *full, *unit; } info; };
/* The driver fills as many metrics as it is asked for, whatever room its caller's header gave the array. */
struct gpm_metrics { uint version, count; nvmlGpmSample_t first, second; struct gpm_metric metrics[1]; };
struct event { double at_s; int gpu; ull type, data; int given; };
struct event_set { ull wanted[MAX_GPUS]; };
struct event_data { nvmlDevice_t device; ull type, data; uint gpu_instance, compute_instance; };
struct field_value {
    uint field, scope;
    long long timestamp, latency;
    int type;
    nvmlReturn_t code;
    union { double d; uint u; unsigned long ul; ull u64; long long s64; } value;
};
struct rate { double from_s, to_s, mib_s; };
struct pci { char legacy[16]; uint domain, bus, device, id, subsystem; char bus_id[32]; };

static struct { int index; uint reads; } gpus[MAX_GPUS];
static struct rule rules[MAX_RULES];
static struct listed compute[MAX_LISTED], graphics[MAX_LISTED], links[MAX_LISTED], near[MAX_LISTED];
static int gpu_count, rule_count, compute_count, graphics_count, link_count, near_count, counted, initialised, starts;
static int order[MAX_GPUS], order_count;
static struct rate rates[MAX_RATES];
static int rate_count;
static struct event events[MAX_EVENTS];
static int event_count;
static double start_s, load_s;
static char *counts;
static ull tally[MAX_COUNTED];

static double now_s(void) {
    const char *given = getenv("NVML_STUB_CLOCK");
    struct timespec t;
    if (given && *given) return atof(given);
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void sleep_s(double seconds) {
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    if (seconds > 0) nanosleep(&t, NULL);
}

static double number(const char *name, double otherwise) {
    const char *text = getenv(name);
    return text && *text ? atof(text) : otherwise;
}

/* Settings. */

static void read_rule(char *text) {
    struct rule *rule = &rules[rule_count];
    char *at = strchr(text, '@'), *action = strpbrk(text, "=~"), *gpu;
    if (!action || rule_count == MAX_RULES) return;
    rule->action = *action == '~' ? VALUE : strncmp(action + 1, "hang", 4) ? atoi(action + 1) : HANG;
    rule->value = strtoull(action + 1, NULL, 0);
    *action = 0;
    gpu = strchr(text, ':');
    rule->gpu = gpu ? atoi(gpu + 1) : -1;
    if (gpu) *gpu = 0;
    snprintf(rule->what, sizeof rule->what, "%s", text);
    rule->from_s = at ? atof(at + 1) : -1e9;
    rule->to_s = at && strchr(at, '+') ? rule->from_s + atof(strchr(at, '+') + 1) : 1e9;
    rule_count++;
}

static void each(const char *name, const char *separator, void (*read)(char *)) {
    const char *text = getenv(name);
    char *copy = text ? strdup(text) : NULL, *state = NULL, *piece;
    for (piece = copy ? strtok_r(copy, separator, &state) : NULL; piece; piece = strtok_r(NULL, separator, &state))
        read(piece);
    free(copy);
}

static void read_listed(char *text, struct listed *into, int *count) {
    struct listed one;
    if (*count < MAX_LISTED && sscanf(text, "%d:%u:%lld", &one.gpu, &one.pid, &one.mib) == 3) into[(*count)++] = one;
}
static void read_compute(char *text) { read_listed(text, compute, &compute_count); }
static void read_graphics(char *text) { read_listed(text, graphics, &graphics_count); }
static void read_links(char *text) { read_listed(text, links, &link_count); }
static void read_near(char *text) { read_listed(text, near, &near_count); }

static void read_rate(char *text) {
    struct rate *rate = &rates[rate_count];
    if (rate_count < MAX_RATES && sscanf(text, "%lf:%lf:%lf", &rate->from_s, &rate->to_s, &rate->mib_s) == 3)
        rate_count++;
}

static void read_event(char *text) {
    struct event one = {0};
    int read = sscanf(text, "%lf:%d:%llu:%llu", &one.at_s, &one.gpu, &one.type, &one.data);
    if (event_count < MAX_EVENTS && read == 4) events[event_count++] = one;
}

static void read_order(char *text) {
    int gpu = atoi(text);
    if (order_count < MAX_GPUS && gpu >= 0 && gpu < MAX_GPUS) order[order_count++] = gpu;
}

static void open_counts(void) {
    const char *path = getenv("NVML_STUB_COUNTS");
    int file = path && *path ? open(path, O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
    if (file < 0) return;
    if (ftruncate(file, LINE * MAX_COUNTED) == 0) {
        counts = mmap(NULL, LINE * MAX_COUNTED, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (counts == MAP_FAILED) counts = NULL;
    }
    close(file);
}

__attribute__((constructor)) static void loaded(void) {
    int i;
    gpu_count = (int)number("NVML_STUB_GPUS", 8);
    if (gpu_count < 0 || gpu_count > MAX_GPUS) gpu_count = MAX_GPUS;
    for (i = 0; i < MAX_GPUS; i++) gpus[i].index = i;
    start_s = number("NVML_STUB_START", now_s());
    load_s = number("NVML_STUB_LOAD_S", 20);
    each("NVML_STUB_RULES", ";", read_rule);
    each("NVML_STUB_PROCESSES", ",", read_compute);
    each("NVML_STUB_GRAPHICS", ",", read_graphics);
    each("NVML_STUB_LINKS", ",", read_links);
    each("NVML_STUB_NEAR", ",", read_near);
    each("NVML_STUB_RENUMBER", ",", read_order);
    each("NVML_STUB_RECEIVED", ",", read_rate);
    each("NVML_STUB_EVENTS", ",", read_event);
    open_counts();
}

/* What every call passes through: it is counted, then an exception may apply. */

static void tally_call(const char *name, int *slot) {
    char line[LINE + 1];
    if (!counts) return;
    if (*slot < 0 && counted == MAX_COUNTED) return;
    if (*slot < 0) *slot = counted++;
    snprintf(line, sizeof line, "%-48s %14llu\n", name, ++tally[*slot]);
    memcpy(counts + LINE * *slot, line, LINE);
}

static const struct rule *exception(const char *function, const char *field, int gpu) {
    double at_s = now_s() - start_s;
    int i;
    for (i = 0; i < rule_count; i++) {
        const struct rule *rule = &rules[i];
        int named = !strcmp(rule->what, field) || !strcmp(rule->what, function);
        if (!named && (gpu < 0 || strcmp(rule->what, "*"))) continue;
        if ((rule->gpu < 0 || rule->gpu == gpu) && at_s >= rule->from_s && at_s < rule->to_s) return rule;
    }
    return NULL;
}

static nvmlReturn_t pass(const char *function, const char *field, int gpu, ull *value) {
    const struct rule *rule = exception(function, field, gpu);
    if (!initialised && strcmp(field, "init")) return UNINITIALIZED;
    if (!rule) return SUCCESS;
    if (rule->action == HANG) {
        sleep_s(start_s + rule->to_s - now_s());
        return SUCCESS;
    }
    if (rule->action == VALUE) *value = rule->value;
    return rule->action;
}

#define API __attribute__((visibility("default")))
#define COUNT static int slot = -1; tally_call(__func__, &slot)
/* Leaves the function when an exception says so. GIVEN is true when it named a value, held in value_. */
#define ENTER(field, gpu)                                                   \
    ull value_ = 0;                                                         \
    COUNT;                                                                  \
    nvmlReturn_t code_ = pass(__func__, field, gpu, &value_);               \
    int given_ = code_ == VALUE;                                            \
    (void)given_;                                                           \
    if (code_ != SUCCESS && !given_) return code_
#define DEVICE(field)                                                       \
    if (!device) return INVALID_ARGUMENT;                                   \
    ENTER(field, device->index)
#define NUMBER(name, field, type, expression)                               \
    API nvmlReturn_t name(nvmlDevice_t device, type *out) {                 \
        DEVICE(field);                                                      \
        *out = given_ ? (type)value_ : (type)(expression);                  \
        return SUCCESS;                                                     \
    }
#define TEXT(name, field, ...)                                              \
    API nvmlReturn_t name(nvmlDevice_t device, char *out, uint size) {      \
        DEVICE(field);                                                      \
        snprintf(out, size, __VA_ARGS__);                                   \
        return SUCCESS;                                                     \
    }
#define REFUSED(name)                                                       \
    API nvmlReturn_t name(void) { COUNT; return NOT_SUPPORTED; }
