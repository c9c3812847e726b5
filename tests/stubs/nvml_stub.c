/*
 * A stand-in for NVIDIA's management library, for tests: enough of NVML's public interface for a monitor to
 * run unchanged on a machine without a GPU. Written against the documented interface; contains no code of
 * the real library.
 *
 * Build:  gcc -O1 -shared -fPIC -Wl,-soname,libnvidia-ml.so.1 -o DIR/libnvidia-ml.so.1 nvml_stub.c
 * Use:    LD_LIBRARY_PATH=DIR program
 *
 * Every GPU is of one kind (143771 MiB, 700 W, PCIe 5 x16) and lives through the load of a model: idle,
 * context, weights (memory ramps), a jump for the KV cache, capture, ready. GPU n lags by n/100 of a load.
 *
 * Environment:
 *   NVML_STUB_GPUS       number of GPUs, 0 to 16 (8)
 *   NVML_STUB_START      the load's start on CLOCK_MONOTONIC, seconds (when the library was loaded)
 *   NVML_STUB_CLOCK      what the clock shows, in its stead; a program may change it as it runs (setenv)
 *   NVML_STUB_LOAD_S     length of the load in seconds (20)
 *   NVML_STUB_STEP_MIB   when set, memory grows by that much at each reading instead of by time
 *   NVML_STUB_DRIVER     driver version (580.159.04)
 *   NVML_STUB_MIG        1: MIG is enabled on every GPU
 *   NVML_STUB_PCIE_MS    how long PcieThroughput blocks (0)
 *   NVML_STUB_RENUMBER   which GPUs every start of the library after the first shows, in this order: "0,2,3"
 *   NVML_STUB_PROCESSES  compute processes: "gpu:pid:MiB,..."; MiB -1 means "not available"
 *   NVML_STUB_GRAPHICS   graphics processes, likewise
 *   NVML_STUB_LINKS      NVLinks: "gpu:other:number,..." from each end; other 99 is a switch (none: not supported)
 *   NVML_STUB_NEAR       nvmlGpuTopologyLevel_t of pairs: "gpu:other:level,..." (else 50, another socket)
 *   NVML_STUB_RECEIVED   what comes over PCIe, by GPM: "from:to:MiB/s,..." in seconds after the start of the load
 *                        (the weights, over their part of the load)
 *   NVML_STUB_EVENTS     what the driver reports: "at:gpu:type:data,..." in seconds after the start of the load, the
 *                        type and data as in nvmlEventData_t; gpu -1 names none
 *   NVML_STUB_COUNTS     file that always holds the number of calls: a line "name count" for each function;
 *                        for one process at a time
 *   NVML_STUB_RULES      exceptions, first match wins, joined by ";":  WHAT[:GPU] ACTION [@FROM[+FOR]]
 *                        WHAT is a field (memory, utilisation, power, limit, temperature, clock, reasons,
 *                        ecc, pcie, processes, topology, mig, facts, handle, init, count, gpm_support, gpm_alloc,
 *                        gpm_sample, gpm_metrics, gpm_value, gpm_sm, gpm_tensor,
 *                        gpm_dram, gpm_nvlink, gpm_free, events, event_types,
 *                        recovery; memory_busy: of utilisation the memory's alone, which
 *                        else is given with it), a function's name, or "*"
 *                        (every call about a GPU). ACTION is "=CODE" (return this nvmlReturn_t), "~VALUE"
 *                        (succeed with this number) or "=hang" (do not return before FROM + FOR).
 *                        FROM and FOR are seconds after the start of the load. Without them: always.
 *                        "*:3=15@2" loses GPU 3 after 2 s; "memory:1=hang@1+0.5" hangs once.
 */
#include "nvml_stub.h"

/* The load that the GPUs live through. */

enum { IDLE, CONTEXT, WEIGHTS, KV_CACHE, CAPTURE, READY };

static double part(nvmlDevice_t device) { return (now_s() - start_s) / load_s - device->index / 100.0; }

static int phase(nvmlDevice_t device) {
    double t = part(device);
    return t < 0.1 ? IDLE : t < 0.15 ? CONTEXT : t < 0.7 ? WEIGHTS : t < 0.75 ? KV_CACHE : t < 0.95 ? CAPTURE : READY;
}

static ull used_mib(nvmlDevice_t device) {
    double step = number("NVML_STUB_STEP_MIB", -1);
    if (step >= 0) return ((ull)step * device->reads++) % (TOTAL_MIB - RESERVED_MIB);
    switch (phase(device)) {
        case IDLE: return 0;
        case CONTEXT: return 691;
        case WEIGHTS: return 691 + (ull)((part(device) - 0.15) / 0.55 * 61486.0);
        case KV_CACHE: return 130135;
        case CAPTURE: return 130135 + (ull)((part(device) - 0.75) / 0.2 * 1900.0);
        default: return 132035;
    }
}

static uint milliwatts(nvmlDevice_t device) {
    static const uint by_phase[] = {84000, 128000, 129000, 130000, 430000, 130000};
    return by_phase[phase(device)] + 137u * (uint)device->index;
}

static uint busy(nvmlDevice_t device) {
    static const uint by_phase[] = {0, 3, 9, 0, 60, 0};
    return by_phase[phase(device)];
}

/* The library. */

static nvmlReturn_t begin(const char *function, int *slot) {
    ull value = 0;
    nvmlReturn_t code;
    tally_call(function, slot);
    code = pass(function, "init", -1, &value);
    if (code == SUCCESS) initialised++, starts++;
    return code;
}
API nvmlReturn_t nvmlInitWithFlags(uint flags) { static int slot = -1; (void)flags; return begin(__func__, &slot); }
API nvmlReturn_t nvmlInit_v2(void) { static int slot = -1; return begin(__func__, &slot); }
API nvmlReturn_t nvmlInit(void) { static int slot = -1; return begin(__func__, &slot); }
static int shown(void) { return starts > 1 && order_count ? order_count : gpu_count; }
API nvmlReturn_t nvmlShutdown(void) {
    COUNT;
    if (!initialised) return UNINITIALIZED;
    initialised--;
    return SUCCESS;
}
API const char *nvmlErrorString(nvmlReturn_t code) {
    static char text[32];
    snprintf(text, sizeof text, "stub error %d", code);
    return text;
}
API nvmlReturn_t nvmlSystemGetDriverVersion(char *out, uint size) {
    const char *version = getenv("NVML_STUB_DRIVER");
    ENTER("facts", -1);
    snprintf(out, size, "%s", version && *version ? version : "580.159.04");
    return SUCCESS;
}
API nvmlReturn_t nvmlSystemGetNVMLVersion(char *out, uint size) {
    ENTER("facts", -1);
    snprintf(out, size, "13.580.159.04");
    return SUCCESS;
}
API nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *out) { ENTER("facts", -1); *out = 13000; return SUCCESS; }
API nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *out) { return nvmlSystemGetCudaDriverVersion(out); }
API nvmlReturn_t nvmlDeviceGetCount_v2(uint *out) {
    ENTER("count", -1);
    *out = given_ ? (uint)value_ : (uint)shown();
    return SUCCESS;
}
API nvmlReturn_t nvmlDeviceGetCount(uint *out) { return nvmlDeviceGetCount_v2(out); }
API nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(uint index, nvmlDevice_t *out) {
    ENTER("handle", (int)index);
    if (index >= (uint)shown()) return INVALID_ARGUMENT;
    *out = (nvmlDevice_t)&gpus[starts > 1 && order_count ? order[index] : (int)index];
    return SUCCESS;
}
API nvmlReturn_t nvmlDeviceGetHandleByIndex(uint index, nvmlDevice_t *out) {
    return nvmlDeviceGetHandleByIndex_v2(index, out);
}

/* What does not change. */

TEXT(nvmlDeviceGetName, "facts", "NVIDIA H200")
TEXT(nvmlDeviceGetUUID, "facts", "GPU-00000000-0000-4000-8000-%012d", device->index)
API nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, struct pci *out) {
    DEVICE("facts");
    memset(out, 0, sizeof *out);
    out->bus = (uint)(0x10 + device->index);
    out->id = 0x233510de;
    snprintf(out->legacy, sizeof out->legacy, "0000:%02X:00.0", out->bus);
    snprintf(out->bus_id, sizeof out->bus_id, "00000000:%02X:00.0", out->bus);
    return SUCCESS;
}
/* The other end of a link, -1 for none: links are numbered in the order in which they are listed. */
static int far_end(int gpu, uint link) {
    int i;
    for (i = 0; i < link_count; i++) {
        if (links[i].gpu != gpu) continue;
        if (link < (uint)links[i].mib) return (int)links[i].pid;
        link -= (uint)links[i].mib;
    }
    return -1;
}
API nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, uint link, uint *out) {
    DEVICE("topology");
    if (!link_count) return NOT_SUPPORTED;
    if (link >= 18) return INVALID_ARGUMENT;
    *out = given_ ? (uint)value_ : far_end(device->index, link) >= 0;
    return SUCCESS;
}
API nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, uint link, struct pci *out) {
    DEVICE("topology");
    memset(out, 0, sizeof *out);
    out->bus = (uint)(0x10 + far_end(device->index, link));
    snprintf(out->bus_id, sizeof out->bus_id, "00000000:%02X:00.0", out->bus);
    return SUCCESS;
}
API nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t device, nvmlDevice_t other, uint *out) {
    int i;
    DEVICE("topology");
    *out = given_ ? (uint)value_ : 50;
    for (i = 0; i < near_count && !given_; i++)
        if (near[i].gpu == device->index && (int)near[i].pid == other->index) *out = (uint)near[i].mib;
    return SUCCESS;
}
NUMBER(nvmlDeviceGetIndex, "facts", uint, device->index)
NUMBER(nvmlDeviceGetMinorNumber, "facts", uint, device->index)
NUMBER(nvmlDeviceGetEnforcedPowerLimit, "limit", uint, 700000)
NUMBER(nvmlDeviceGetPowerManagementLimit, "limit", uint, 700000)
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, "facts", uint, 5)
NUMBER(nvmlDeviceGetMaxPcieLinkWidth, "facts", uint, 16)
NUMBER(nvmlDeviceGetPersistenceMode, "facts", uint, 1)
NUMBER(nvmlDeviceGetDisplayActive, "facts", uint, 0)
NUMBER(nvmlDeviceGetDisplayMode, "facts", uint, 0)
NUMBER(nvmlDeviceGetComputeMode, "facts", uint, 0)
NUMBER(nvmlDeviceGetPerformanceState, "facts", uint, 0)
NUMBER(nvmlDeviceGetPowerState, "facts", uint, 0)
API nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, uint *current, uint *pending) {
    DEVICE("mig");
    *current = *pending = given_ ? (uint)value_ : (uint)number("NVML_STUB_MIG", 0);
    return SUCCESS;
}
API nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, uint *current, uint *pending) {
    DEVICE("ecc");
    *current = *pending = 1;
    return SUCCESS;
}
API nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, uint type, uint *out) {
    DEVICE("facts");
    *out = type == 2 ? 3201 : 1980;
    return SUCCESS;
}
API nvmlReturn_t nvmlDeviceGetTemperatureThreshold(nvmlDevice_t device, uint type, uint *out) {
    DEVICE("facts");
    *out = type == 0 ? 92 : 89;
    return SUCCESS;
}

/* What does. */

API nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, struct memory_v1 *out) {
    DEVICE("memory");
    out->total = given_ ? value_ : TOTAL_MIB * MIB;
    out->used = given_ ? value_ : (RESERVED_MIB + used_mib(device)) * MIB;
    out->free = out->total - out->used;
    return SUCCESS;
}
API nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, struct memory_v2 *out) {
    DEVICE("memory");
    if (out->version != (sizeof *out | 2u << 24)) return VERSION_MISMATCH;
    out->total = given_ ? value_ : TOTAL_MIB * MIB;
    out->reserved = given_ ? value_ : RESERVED_MIB * MIB;
    out->used = given_ ? value_ : used_mib(device) * MIB;
    out->free = given_ ? value_ : out->total - out->reserved - out->used;
    return SUCCESS;
}
API nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, struct utilisation *out) {
    DEVICE("utilisation");
    if (number("NVML_STUB_MIG", 0) > 0) return NOT_SUPPORTED;
    const struct rule *memory = exception("", "memory_busy", device->index);
    out->gpu = given_ ? (uint)value_ : busy(device);
    out->memory = memory ? (uint)memory->value : given_ ? (uint)value_ : busy(device) / 2;
    return SUCCESS;
}
NUMBER(nvmlDeviceGetPowerUsage, "power", uint, milliwatts(device))
API nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t device, struct temperature *out) {
    DEVICE("temperature");
    if (out->version != (sizeof *out | 1u << 24)) return VERSION_MISMATCH;
    out->celsius = given_ ? (int)value_ : 31 + (int)busy(device) / 3 + device->index;
    return SUCCESS;
}
API nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, uint sensor, uint *out) {
    DEVICE("temperature");
    (void)sensor;
    *out = given_ ? (uint)value_ : 31 + busy(device) / 3 + (uint)device->index;
    return SUCCESS;
}
API nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, uint type, uint *out) {
    DEVICE("clock");
    *out = given_ ? (uint)value_ : type == 2 ? 3201 : phase(device) == IDLE ? 345 : 1980;
    return SUCCESS;
}
NUMBER(nvmlDeviceGetCurrentClocksEventReasons, "reasons", ull, phase(device) == CAPTURE ? 4 : phase(device) == IDLE)
NUMBER(nvmlDeviceGetCurrentClocksThrottleReasons, "reasons", ull, phase(device) == CAPTURE ? 4 : phase(device) == IDLE)
API nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, uint type, uint counter, ull *out) {
    DEVICE("ecc");
    (void)type, (void)counter;
    *out = given_ ? value_ : 0;
    return SUCCESS;
}
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, "pcie", uint, phase(device) == IDLE ? 1 : 5)
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, "pcie", uint, 16)
API nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device, uint counter, uint *out) {
    DEVICE("pcie");
    sleep_s(number("NVML_STUB_PCIE_MS", 0) / 1e3);
    *out = phase(device) == WEIGHTS && counter == 1 ? 3700000 : 1000;
    return SUCCESS;
}
NUMBER(nvmlDeviceGetTotalEnergyConsumption, "power", ull, (now_s() - start_s) * 129000.0)
API nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t device, uint *out, uint *period) {
    DEVICE("utilisation");
    *out = 0, *period = 167000;
    return SUCCESS;
}
API nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t device, uint *out, uint *period) {
    DEVICE("utilisation");
    *out = 0, *period = 167000;
    return SUCCESS;
}

/*
 * GPM: samples of counters, and means between two of them. Known are PCIe receive (21), and the use of
 * multiprocessors (2), tensor cores (5) and memory (10) and what came over NVLink (60), all as of the second sample.
 */

static int samples_held;

static double received_mib(nvmlDevice_t device) {
    double at_s = now_s() - start_s, part_ = part(device), sum = 0, to_s;
    int i;
    if (!rate_count) {
        sum = part_ < 0.15 ? 0 : part_ > 0.7 ? 0.55 : part_ - 0.15;
        return sum / 0.55 * 61486.0 * 1.075;
    }
    for (i = 0; i < rate_count; i++) {
        to_s = at_s < rates[i].to_s ? at_s : rates[i].to_s;
        if (to_s > rates[i].from_s) sum += (to_s - rates[i].from_s) * rates[i].mib_s;
    }
    return sum;
}
static double activity(uint metric, nvmlDevice_t device) {
    static const double sm[] = {0, 0, 1, 0, 62, 0}, tensor[] = {0, 0, 0, 0, 4, 0}, dram[] = {0, 0, 2, 0, 48, 0};
    static const double nvlink[] = {0, 0, 0, 0, 250, 0};
    int now = phase(device);
    return metric == 2 ? sm[now] : metric == 5 ? tensor[now] : metric == 10 ? dram[now] : nvlink[now];
}
static int known_metric(uint id) { return id == 2 || id == 5 || id == 10 || id == 21 || id == 60; }
static const char *metric_field(uint id) {
    return id == 2 ? "gpm_sm" : id == 5 ? "gpm_tensor" : id == 10 ? "gpm_dram" : id == 60 ? "gpm_nvlink" : "gpm_value";
}
API nvmlReturn_t nvmlGpmQueryDeviceSupport(nvmlDevice_t device, struct gpm_support *out) {
    DEVICE("gpm_support");
    if (out->version != 1) return VERSION_MISMATCH;
    out->supported = given_ ? (uint)value_ : 1;
    return SUCCESS;
}
API nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t *out) {
    ENTER("gpm_alloc", -1);
    *out = calloc(1, sizeof **out);
    samples_held++;
    return SUCCESS;
}
API nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t sample) {
    ENTER("gpm_free", -1);
    if (!sample) return INVALID_ARGUMENT;
    free(sample);
    samples_held--;
    return SUCCESS;
}
API int nvml_stub_samples_held(void) { return samples_held; }
API nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t device, nvmlGpmSample_t sample) {
    DEVICE("gpm_sample");
    if (!sample) return INVALID_ARGUMENT;
    if (number("NVML_STUB_MIG", 0) > 0) return NOT_SUPPORTED;
    sample->gpu = device->index, sample->taken = 1;
    sample->at_s = now_s(), sample->received_mib = received_mib(device);
    return SUCCESS;
}
API nvmlReturn_t nvmlGpmMetricsGet(struct gpm_metrics *asked) {
    const struct rule *rule;
    struct sample *first = asked->first, *second = asked->second;
    uint i;
    ENTER("gpm_metrics", first ? first->gpu : -1);
    if (asked->version != 1) return VERSION_MISMATCH;
    if (!first || !second || !first->taken || !second->taken || first->gpu != second->gpu) return INVALID_ARGUMENT;
    if (second->at_s <= first->at_s) return INVALID_ARGUMENT;
    for (i = 0; i < asked->count; i++) {
        struct gpm_metric *metric = &asked->metrics[i];
        rule = exception("", metric_field(metric->id), first->gpu);
        metric->code = !known_metric(metric->id) ? NOT_SUPPORTED : rule && rule->action > 0 ? rule->action : SUCCESS;
        if (metric->code == SUCCESS && rule && rule->action == VALUE)
            metric->value = (double)rule->value;
        else if (metric->code == SUCCESS && metric->id != 21)
            metric->value = activity(metric->id, (nvmlDevice_t)&gpus[first->gpu]);
        else if (metric->code == SUCCESS)
            metric->value = (second->received_mib - first->received_mib) / (second->at_s - first->at_s);
        metric->info.brief = metric->info.full = metric_field(metric->id), metric->info.unit = "";
    }
    return SUCCESS;
}

/* Process lists: the first call asks for the size, the second for the entries. */

static nvmlReturn_t list(nvmlDevice_t device, const struct listed *from, int known, uint *count, void *out,
                         size_t size) {
    uint room = *count, i, held = 0;
    for (i = 0; i < (uint)known; i++) {
        struct process_v2 one = {from[i].pid, from[i].mib < 0 ? ~0ull : (ull)from[i].mib * MIB, ~0u, ~0u};
        if (from[i].gpu != device->index) continue;
        if (out && held < room) memcpy((char *)out + size * held, &one, size);
        held++;
    }
    *count = held;
    return held > (out ? room : 0) ? INSUFFICIENT_SIZE : SUCCESS;
}
#define PROCESSES(name, from, layout)                                                \
    API nvmlReturn_t name(nvmlDevice_t device, uint *count, void *out) {             \
        DEVICE("processes");                                                         \
        return list(device, from, from##_count, count, out, sizeof(struct layout));  \
    }
PROCESSES(nvmlDeviceGetComputeRunningProcesses, compute, process_v1)
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v2, compute, process_v2)
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3, compute, process_v2)
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses, graphics, process_v1)
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v2, graphics, process_v2)
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3, graphics, process_v2)
API nvmlReturn_t nvmlDeviceGetProcessUtilization(void) { COUNT; return NOT_FOUND; }

/* Events: each is given once, to a set that asks for its kind of its GPU. */

static int sets_held;

API nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *out) {
    ENTER("events", -1);
    *out = calloc(1, sizeof **out);
    sets_held++;
    return SUCCESS;
}
API nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set) {
    ENTER("events", -1);
    if (!set) return INVALID_ARGUMENT;
    free(set);
    sets_held--;
    return SUCCESS;
}
API int nvml_stub_event_sets_held(void) { return sets_held; }
NUMBER(nvmlDeviceGetSupportedEventTypes, "event_types", ull, 65439)
API nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, ull types, nvmlEventSet_t set) {
    DEVICE("events");
    if (!set) return INVALID_ARGUMENT;
    if (types & ~65439ull) return NOT_SUPPORTED;
    set->wanted[device->index] |= types;
    return SUCCESS;
}
API nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, struct event_data *out, uint timeout_ms) {
    int i;
    ENTER("events", -1);
    if (!set) return INVALID_ARGUMENT;
    for (i = 0; i < event_count; i++) {
        struct event *one = &events[i];
        if (one->given || now_s() - start_s < one->at_s) continue;
        if (one->gpu >= 0 && !(set->wanted[one->gpu] & one->type)) continue;
        one->given = 1;
        memset(out, 0, sizeof *out);
        out->device = one->gpu < 0 ? NULL : (nvmlDevice_t)&gpus[one->gpu];
        out->type = one->type, out->data = one->data;
        return SUCCESS;
    }
    sleep_s(timeout_ms / 1000.0);
    return TIMEOUT;
}
/* Of the many fields only the recovery action is known: none is needed, unless an exception names another. */
API nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, struct field_value *values) {
    int i;
    DEVICE("recovery");
    for (i = 0; i < count; i++) {
        values[i].code = values[i].field == 230 ? SUCCESS : NOT_SUPPORTED;
        values[i].type = 1, values[i].value.u = given_ ? (uint)value_ : 0;
    }
    return SUCCESS;
}

REFUSED(nvmlDeviceGetFanSpeed)
REFUSED(nvmlDeviceGetDriverModel)
REFUSED(nvmlDeviceGetDriverModel_v2)
REFUSED(nvmlDeviceGetBAR1MemoryInfo)
REFUSED(nvmlDeviceGetCudaComputeCapability)
