/* An inference server that keeps a schedule: the first token so long after a request arrived, then one token an
 * interval, whatever the client does. It measures what it really did, so that a client's claims can be compared
 * with the truth and not with the intention.
 *
 *     mock_schedule PORT FIRST_MS INTERVAL_MS [steps]        (PORT 0: any; "listening PORT" is printed)
 *
 * With "steps" all streams get their tokens at the same moments, as in an engine whose every step makes one token for
 * each; a first token then waits for the next of these moments.
 *
 * POST /v1/chat/completions streams "max_tokens" (or "max_completion_tokens") tokens. GET /v1/models lists "mock".
 * GET /requests lists each request in the order of arrival: when it arrived, when its first and its last token
 * were written (monotonic seconds, 0 for not yet), how many tokens were asked, by how many seconds its latest
 * token was late. Linux; one thread; epoll and a timerfd. */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS 4096
#define REQUEST_BYTES (256 * 1024)
#define RECORDS (1 << 20)

struct record { double arrival, first, last, late_max; int tokens; };
struct connection { char *in; size_t have; int streaming, sent, total; double due; struct record *record; };

static struct connection connections[CONNECTIONS];
static int streams[CONNECTIONS], stream_count;
static struct record *records;
static int record_count;
static double first_s, interval_s;
static int in_steps;
static int poller, timer;

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void send_all(int fd, const char *data, size_t size) {
    while (size > 0) {
        ssize_t n = send(fd, data, size, MSG_NOSIGNAL);
        if (n <= 0) return;
        data += n;
        size -= n;
    }
}

static size_t chunk(char *out, const char *format, ...) {
    char event[1024];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(event, sizeof event, format, arguments);
    va_end(arguments);
    return sprintf(out, "%x\r\n%s\r\n", n, event);
}

static void close_connection(int fd) {
    struct connection *c = &connections[fd];
    for (int i = 0; i < stream_count; i++)
        if (streams[i] == fd) streams[i--] = streams[--stream_count];
    c->streaming = 0;
    c->have = 0;
    close(fd);
}

static void answer(int fd, const char *body) {
    char head[256];
    int n = snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                     strlen(body));
    send_all(fd, head, n);
    send_all(fd, body, strlen(body));
}

static void list_requests(int fd) {
    char *body = malloc(64 + (size_t)record_count * 128);
    size_t n = sprintf(body, "[");
    for (int i = 0; i < record_count; i++) {
        struct record *r = &records[i];
        n += sprintf(body + n, "%s[%.6f,%.6f,%.6f,%d,%.6f]", i ? "," : "", r->arrival, r->first, r->last, r->tokens,
                     r->late_max);
    }
    sprintf(body + n, "]");
    answer(fd, body);
    free(body);
}

static void begin_stream(int fd, const char *body, double arrival) {
    struct connection *c = &connections[fd];
    const char *limit = strstr(body, "\"max_tokens\":");
    if (!limit) limit = strstr(body, "\"max_completion_tokens\":");
    c->total = limit ? atoi(strchr(limit, ':') + 1) : 16;
    if (c->total < 1) c->total = 1;
    c->sent = 0;
    c->streaming = 1;
    c->due = arrival + first_s;
    if (in_steps) c->due = ((long)(c->due / interval_s) + 1) * interval_s;
    if (record_count == RECORDS) fail("too many requests");
    c->record = &records[record_count++];
    memset(c->record, 0, sizeof *c->record);
    c->record->arrival = arrival;
    c->record->tokens = c->total;
    streams[stream_count++] = fd;
    char out[2048];
    size_t n = sprintf(out, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
    n += chunk(out + n, "data: {\"id\":\"chatcmpl-0\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"mock\","
                        "\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n");
    send_all(fd, out, n);
}

static int send_token(int fd) {
    struct connection *c = &connections[fd];
    char out[4096];
    size_t n = chunk(out, "data: {\"id\":\"chatcmpl-0\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"mock\","
                          "\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n");
    int final = ++c->sent == c->total;
    if (final) {
        n += chunk(out + n, "data: {\"id\":\"chatcmpl-0\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"mock\","
                            "\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}]}\n\n");
        n += chunk(out + n, "data: {\"id\":\"chatcmpl-0\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"mock\","
                            "\"choices\":[],\"usage\":{\"prompt_tokens\":8,\"completion_tokens\":%d,\"total_tokens\":%d}}\n\n",
                   c->total, c->total + 8);
        n += chunk(out + n, "data: [DONE]\n\n");
        n += sprintf(out + n, "0\r\n\r\n");
    }
    double written = now_s(), late = written - c->due;
    send_all(fd, out, n);
    if (c->sent == 1) c->record->first = written;
    c->record->last = written;
    if (late > c->record->late_max) c->record->late_max = late;
    c->due += interval_s;
    return final;
}

static void run_due(void) {
    double now = now_s();
    for (int i = 0; i < stream_count; i++) {
        int fd = streams[i], over = 0;
        while (!over && connections[fd].due <= now) over = send_token(fd);
        if (over) {
            connections[fd].streaming = 0;
            streams[i--] = streams[--stream_count];
        }
    }
}

static void arm(void) {
    struct itimerspec when = {0};
    double due = 1e18;
    for (int i = 0; i < stream_count; i++)
        if (connections[streams[i]].due < due) due = connections[streams[i]].due;
    if (stream_count > 0) {
        when.it_value.tv_sec = (time_t)due;
        when.it_value.tv_nsec = (long)((due - (time_t)due) * 1e9);
    }
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static void handle(int fd, double arrival) {
    struct connection *c = &connections[fd];
    char *end = strstr(c->in, "\r\n\r\n");
    if (!end) return;
    char *length = strcasestr(c->in, "content-length:");
    size_t body = length && length < end ? strtoul(length + 15, NULL, 10) : 0;
    if (c->have < (size_t)(end + 4 - c->in) + body) return;
    if (!strncmp(c->in, "POST ", 5)) begin_stream(fd, end + 4, arrival);
    else if (!strncmp(c->in, "GET /requests ", 14)) list_requests(fd);
    else answer(fd, "{\"object\":\"list\",\"data\":[{\"id\":\"mock\",\"object\":\"model\"}]}");
    c->have = 0;
}

static void readable(int fd) {
    struct connection *c = &connections[fd];
    ssize_t n = recv(fd, c->in + c->have, REQUEST_BYTES - 1 - c->have, MSG_DONTWAIT);
    if (n <= 0) {
        close_connection(fd);
        return;
    }
    c->have += n;
    c->in[c->have] = 0;
    handle(fd, now_s());
}

static void accept_one(int listener) {
    int one = 1, fd = accept(listener, NULL, NULL);
    if (fd < 0) return;
    if (fd >= CONNECTIONS) {
        close(fd);
        return;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (!connections[fd].in) connections[fd].in = malloc(REQUEST_BYTES);
    connections[fd].have = 0;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
}

static int listen_on(int port) {
    int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in where = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof where;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&where, size) || listen(listener, 1024)) fail("listen");
    getsockname(listener, (struct sockaddr *)&where, &size);
    printf("listening %d\n", ntohs(where.sin_port));
    fflush(stdout);
    return listener;
}

int main(int count, char **arguments) {
    if (count < 4 || count > 5) return 2;
    in_steps = count == 5 && !strcmp(arguments[4], "steps");
    first_s = atof(arguments[2]) / 1e3;
    interval_s = atof(arguments[3]) / 1e3;
    records = calloc(RECORDS, sizeof *records);
    poller = epoll_create1(0);
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    int listener = listen_on(atoi(arguments[1]));
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, ready[256];
    epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
    event.data.fd = timer;
    epoll_ctl(poller, EPOLL_CTL_ADD, timer, &event);
    for (;;) {
        arm();
        int n = epoll_wait(poller, ready, 256, -1);
        for (int i = 0; i < n; i++) {
            int fd = ready[i].data.fd;
            uint64_t ticks;
            if (fd == timer) (void)!read(timer, &ticks, sizeof ticks);
            else if (fd == listener) accept_one(listener);
            else readable(fd);
        }
        run_due();
    }
}
