/* The local web server (see view_server.h).
 *
 * A request is answered only when all of these hold: it came to 127.0.0.1, it names this host and port in
 * Host, its Origin (if any; a socket must have one) is this server, it is a GET without a body, and its path
 * begins with the token.  Paths are compared with a list of names; none is ever used as the name of a file.
 */
#define _POSIX_C_SOURCE 200809L
#include "view_server.h"

#include "view_live.h"
#include "view_page.h"

#include <civetweb.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { TOKEN_BYTES = 16, SESSIONS_MOST = 8, ANSWER_MOST = 32 << 20, EVENTS_MOST = 100000 };

struct view_server {
    view_server_def def;
    struct mg_context *web;
    char token[2 * TOKEN_BYTES + 1], address[128], hosts[2][64];
    int port;
    view_gallery gallery;
    /* two handles, so that what takes long does not hold up the frames */
    abut_recording *recording, *second;
    pthread_mutex_t recording_lock, second_lock, session_lock;
    view_layout layout;
    /* behind second_lock: of the solid that was sliced last, and what the next click goes on from */
    view_index index;
    view_solids solids;
    replay again;
    int sessions;
};

/* ---- answers */

static void answer(struct mg_connection *c, int status, const char *word, const char *type, const void *body,
                   size_t size) {
    mg_printf(c,
              "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nCache-Control: no-store\r\n"
              "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n"
              "Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n"
              "Connection: %s\r\n\r\n",
              status, word, type, size, status == 200 ? "keep-alive" : "close");
    if (size) mg_write(c, body, size);
}

/* What is refused learns nothing. */
static int refuse(struct mg_connection *c, int status, const char *word) {
    answer(c, status, word, "text/plain", "", 0);
    return status;
}

static int answer_error(struct mg_connection *c, const abut_error *error) {
    answer(c, 422, "Unprocessable", "text/plain; charset=utf-8", error->message, strlen(error->message));
    return 422;
}

static int answer_json(struct mg_connection *c, json_t *document) {
    char *text = document ? json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(document);
    if (!text) return refuse(c, 500, "No memory");
    answer(c, 200, "OK", "application/json", text, strlen(text));
    free(text);
    return 200;
}

static int answer_file(struct mg_connection *c, const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return refuse(c, 404, "Not found");
    view_bytes bytes = {0};
    char chunk[8192];
    for (size_t n = fread(chunk, 1, sizeof chunk, file); n && bytes.size < ANSWER_MOST;
         n = fread(chunk, 1, sizeof chunk, file))
        view_put(&bytes, chunk, n);
    fclose(file);
    const char *dot = strrchr(path, '.');
    answer(c, 200, "OK",
           strcmp(dot, ".png") == 0   ? "image/png"
           : strcmp(dot, ".jpg") == 0 ? "image/jpeg"
                                      : "image/webp",
           bytes.data, bytes.size);
    view_bytes_free(&bytes);
    return 200;
}

/* ---- may it? */

static bool same_text(const char *a, const char *b) { return a && b && strcmp(a, b) == 0; }

/* Compares all of it, so that the time says nothing about where the first difference is. */
static bool has_token(const view_server *s, const char *path) {
    unsigned difference = 0;
    if (strnlen(path, 2 * TOKEN_BYTES + 2) < 2 * TOKEN_BYTES + 2 || path[0] != '/') return false;
    for (int i = 0; i < 2 * TOKEN_BYTES; i++) difference |= (unsigned)(path[1 + i] ^ s->token[i]);
    return difference == 0 && path[1 + 2 * TOKEN_BYTES] == '/';
}

static bool is_own_host(const view_server *s, const char *host) {
    return same_text(host, s->hosts[0]) || same_text(host, s->hosts[1]);
}

static bool is_own_origin(const view_server *s, const char *origin) {
    static const char scheme[] = "http://";
    return strncmp(origin, scheme, sizeof scheme - 1) == 0 && is_own_host(s, origin + sizeof scheme - 1);
}

/* The path behind the token; NULL: refuse. */
static const char *allowed_path(const view_server *s, const struct mg_connection *c, bool is_socket) {
    const struct mg_request_info *r = mg_get_request_info(c);
    const char *host = mg_get_header(c, "Host"), *origin = mg_get_header(c, "Origin");
    const char *path = r->local_uri_raw;
    if (!path || strcmp(r->remote_addr, "127.0.0.1") != 0) return NULL;
    if (!host || !is_own_host(s, host)) return NULL;
    if (origin ? !is_own_origin(s, origin) : is_socket) return NULL;
    if (!has_token(s, path)) return NULL;
    return path + 2 + 2 * TOKEN_BYTES;
}

/* ---- queries */

static bool query_number(const struct mg_request_info *r, const char *name, double low, double high,
                         double *number) {
    char text[64], *end;
    if (!r->query_string ||
        mg_get_var(r->query_string, strlen(r->query_string), name, text, sizeof text) <= 0)
        return false;
    *number = strtod(text, &end);
    return end != text && !*end && *number >= low && *number <= high;
}

static bool query_range(view_server *s, const struct mg_request_info *r, double *from, double *count) {
    return query_number(r, "from", 0, 1e15, from) && query_number(r, "count", 1, 1e6, count) &&
           *count * abut_recording_bodies(s->recording) * s->layout.scalar * s->layout.numbers <= ANSWER_MOST;
}

/* ---- blocks of a recording */

static abut_status make_ranged(view_server *s, const struct mg_request_info *r, const char *name,
                               view_bytes *out, bool *known, abut_error *error) {
    double from, count, stride = 1;
    bool frames = strcmp(name, "frames.bin") == 0;
    *known = (frames || strcmp(name, "contacts.bin") == 0) && query_range(s, r, &from, &count);
    if (!*known) return ABUT_INVALID;
    if (!frames) return view_contacts(s->recording, s->layout, (int64_t)from, (int64_t)count, out, error);
    if (!query_number(r, "stride", 1, 1e9, &stride)) stride = 1;
    return view_frames_apart(s->recording, s->layout, (int64_t)from, (int64_t)count, (int64_t)stride, out,
                             error);
}

static abut_status make_block(view_server *s, const struct mg_request_info *r, const char *name,
                              view_bytes *out, bool *known, abut_error *error) {
    double time;
    *known = true;
    if (strcmp(name, "geometry.bin") == 0) return view_geometry(s->recording, out, error);
    if (strcmp(name, "state.bin") == 0 && query_number(r, "t", 0, 1e15, &time))
        return view_state(s->recording, s->layout, time, out, error);
    return make_ranged(s, r, name, out, known, error);
}

/* What goes through the whole recording, or computes. */
static bool takes_long(const char *name) {
    static const char *const names[] = {"series.bin", "events.bin", "marks.bin",
                                        "track.bin",  "moment.bin", "touch.bin"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

static abut_status make_long_block(view_server *s, const struct mg_request_info *r, const char *name,
                                   view_bytes *out, bool *known, abut_error *error) {
    double time, body, stride, a, b, from, count, last = abut_recording_bodies(s->second) - 1;
    abut_recording *rec = s->second;
    *known = true;
    if (strcmp(name, "series.bin") == 0) return view_series(rec, out, error);
    bool some = query_number(r, "from", 0, 1e15, &from) && query_number(r, "count", 1, EVENTS_MOST, &count);
    if (strcmp(name, "marks.bin") == 0 && some) {
        if (!query_number(r, "stride", 1, 1e9, &stride)) stride = 1;
        return view_marks(rec, (int64_t)from, (int64_t)stride, (int64_t)count, out, error);
    }
    if (strcmp(name, "events.bin") == 0 && some)
        return view_event_rows(rec, (int64_t)from, (int64_t)count, out, error);
    if (strcmp(name, "events.bin") == 0) return view_event_rows(rec, 0, EVENTS_MOST, out, error);
    if (strcmp(name, "moment.bin") == 0 && query_number(r, "t", 0, 1e15, &time))
        return view_moment(rec, &s->again, s->layout, time, out, error);
    if (strcmp(name, "touch.bin") == 0 && query_number(r, "t", 0, 1e15, &time) &&
        query_number(r, "a", 0, last, &a) && query_number(r, "b", 0, last, &b))
        return view_touch(rec, &s->solids, s->layout, time, (int)a, (int)b, out, error);
    if (strcmp(name, "track.bin") == 0 && query_number(r, "body", 0, last, &body) &&
        query_number(r, "stride", 1, 1e15, &stride))
        return view_track(rec, (int)body, (int64_t)stride, out, error);
    *known = false;
    return ABUT_INVALID;
}

static int serve_bytes(view_server *s, struct mg_connection *c, const char *name) {
    const struct mg_request_info *r = mg_get_request_info(c);
    view_bytes out = {0};
    abut_error error = {0};
    bool known = true, is_long = takes_long(name);
    pthread_mutex_t *lock = is_long ? &s->second_lock : &s->recording_lock;
    pthread_mutex_lock(lock);
    abut_status status = (is_long ? make_long_block : make_block)(s, r, name, &out, &known, &error);
    pthread_mutex_unlock(lock);
    if (status == ABUT_OK) answer(c, 200, "OK", "application/octet-stream", out.data, out.size);
    view_bytes_free(&out);
    if (!known) return refuse(c, 404, "Not found");
    return status == ABUT_OK ? 200 : answer_error(c, &error);
}

static int serve_slice(view_server *s, struct mg_connection *c) {
    const struct mg_request_info *r = mg_get_request_info(c);
    double geometry, axis, at;
    json_t *out = NULL;
    abut_error error = {0};
    if (!query_number(r, "geometry", 0, 1e9, &geometry) || !query_number(r, "axis", 0, 2, &axis) ||
        !query_number(r, "at", 0, 1, &at))
        return refuse(c, 404, "Not found");
    pthread_mutex_lock(&s->second_lock);
    abut_status status = view_slice(s->second, &s->index, (int)geometry, (int)axis, at, &out, &error);
    pthread_mutex_unlock(&s->second_lock);
    return status == ABUT_OK ? answer_json(c, out) : answer_error(c, &error);
}

static int serve_head(view_server *s, struct mg_connection *c) {
    abut_error error = {0};
    pthread_mutex_lock(&s->recording_lock);
    json_t *head = view_head(s->recording, s->layout, &error);
    pthread_mutex_unlock(&s->recording_lock);
    return head ? answer_json(c, head) : answer_error(c, &error);
}

static int serve_data(view_server *s, struct mg_connection *c, const char *name, const char *scene) {
    bool head = strcmp(name, "head.json") == 0;
    if (head && scene)
        return answer_json(c, json_pack("{s:i,s:b,s:i}", "version", 1, "live", 1, "frames", 0));
    if (head && !s->recording)
        return answer_json(c, json_pack("{s:i,s:b,s:i}", "version", 1, "gallery", 1, "frames", 0));
    if (strcmp(name, "gallery.json") == 0 && s->gallery.count)
        return answer_json(c, view_gallery_json(&s->gallery));
    if (!s->recording || scene) return refuse(c, 404, "Not found");
    if (head) return serve_head(s, c);
    return strcmp(name, "slice.json") == 0 ? serve_slice(s, c) : serve_bytes(s, c, name);
}

/* ---- paths */

/* The scene that a path is about (NULL: none), and what is left of the path; false: no such scene. */
static bool split_scene(const view_server *s, const char **path, const char **scene) {
    *scene = s->def.scene;
    if (strncmp(*path, "scene/", 6) != 0) return true;
    const char *name = *path + 6, *slash = strchr(name, '/');
    char text[128];
    if (!slash || slash - name >= (ptrdiff_t)sizeof text) return false;
    snprintf(text, sizeof text, "%.*s", (int)(slash - name), name);
    const view_scene *found = view_gallery_find(&s->gallery, text);
    if (!found) return false;
    *scene = found->path, *path = slash + 1;
    return true;
}

static int handle(struct mg_connection *c, void *user) {
    view_server *s = user;
    const struct mg_request_info *r = mg_get_request_info(c);
    const char *path = allowed_path(s, c, false), *scene;
    if (!path) return refuse(c, 403, "Forbidden");
    if (strcmp(r->request_method, "GET") != 0 || r->content_length > 0)
        return refuse(c, 405, "Method not allowed");
    if (!split_scene(s, &path, &scene)) return refuse(c, 404, "Not found");
    if (!*path) {
        size_t size;
        const char *page = view_page(&size);
        answer(c, 200, "OK", "text/html; charset=utf-8", page, size);
        return 200;
    }
    if (strncmp(path, "data/", 5) == 0) return serve_data(s, c, path + 5, scene);
    if (strncmp(path, "picture/", 8) == 0) {
        const view_scene *found = view_gallery_find(&s->gallery, path + 8);
        if (found && found->has_picture) return answer_file(c, found->picture);
    }
    return refuse(c, 404, "Not found");
}

/* ---- sockets: one live run each */

typedef struct session {
    struct mg_connection *connection;
    view_live *live;
} session;

static bool send_to_page(void *user, bool text, const void *data, size_t size) {
    session *x = user;
    return mg_websocket_write(x->connection, text ? MG_WEBSOCKET_OPCODE_TEXT : MG_WEBSOCKET_OPCODE_BINARY,
                              data, size) > 0;
}

static bool live_path(const view_server *s, const struct mg_connection *c, const char **scene) {
    const char *path = allowed_path(s, c, true);
    return path && split_scene(s, &path, scene) && *scene && strcmp(path, "live") == 0;
}

static int socket_connect(const struct mg_connection *c, void *user) {
    view_server *s = user;
    const char *scene;
    if (!live_path(s, c, &scene)) return 1;
    pthread_mutex_lock(&s->session_lock);
    bool room = s->sessions < SESSIONS_MOST;
    s->sessions += room;
    pthread_mutex_unlock(&s->session_lock);
    return !room;
}

static void socket_ready(struct mg_connection *c, void *user) {
    view_server *s = user;
    const char *scene;
    session *x = calloc(1, sizeof *x);
    if (!x || !live_path(s, c, &scene)) {
        free(x);
        return;
    }
    x->connection = c;
    mg_set_user_connection_data(c, x);
    x->live = view_live_start(scene, s->def.root, send_to_page, x);
}

static int socket_data(struct mg_connection *c, int bits, char *data, size_t size, void *user) {
    (void)user;
    session *x = mg_get_user_connection_data(c);
    int kind = bits & 0x0f;
    if (kind == MG_WEBSOCKET_OPCODE_PING || kind == MG_WEBSOCKET_OPCODE_PONG) return 1;
    if (kind != MG_WEBSOCKET_OPCODE_TEXT || !(bits & 0x80) || size > 4096 || !x || !x->live) return 0;
    return view_live_message(x->live, data, size);
}

static void socket_close(const struct mg_connection *c, void *user) {
    view_server *s = user;
    session *x = mg_get_user_connection_data(c);
    if (x && x->live) view_live_stop(x->live);
    free(x);
    pthread_mutex_lock(&s->session_lock);
    s->sessions--;
    pthread_mutex_unlock(&s->session_lock);
}

/* ---- beginning and end */

static int keep_quiet(const struct mg_connection *c, const char *message) {
    (void)c, (void)message;
    return 1;
}

static bool make_token(char *out) {
    unsigned char bytes[TOKEN_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
    for (int i = 0; i < TOKEN_BYTES; i++) sprintf(out + 2 * i, "%02x", bytes[i]);
    return true;
}

static int open_subject(view_server *s) {
    abut_error error = {0};
    if (s->def.scene) return EXIT_DONE;
    if (!s->def.recording) return view_gallery_open(&s->gallery) ? EXIT_DONE : EXIT_WRONG;
    if (abut_recording_open(NULL, s->def.recording, &s->recording, &error) != ABUT_OK ||
        abut_recording_open(NULL, s->def.recording, &s->second, &error) != ABUT_OK)
        return cli_error(&error);
    s->layout = view_layout_of(s->recording);
    return EXIT_DONE;
}

static int open_port(view_server *s) {
    char ports[32];
    snprintf(ports, sizeof ports, "127.0.0.1:%d", s->def.port);
    const char *options[] = {"listening_ports",
                             ports,
                             "num_threads",
                             "200",
                             "request_timeout_ms",
                             "2000",
                             "websocket_timeout_ms",
                             "3600000",
                             "enable_keep_alive",
                             "yes",
                             "keep_alive_timeout_ms",
                             "1500",
                             "max_request_size",
                             "8192",
                             "enable_directory_listing",
                             "no",
                             "tcp_nodelay",
                             "1",
                             NULL};
    struct mg_callbacks callbacks = {.log_message = keep_quiet, .log_access = keep_quiet};
    struct mg_server_port opened[2];
    s->web = mg_start(&callbacks, s, options);
    if (!s->web || mg_get_server_ports(s->web, 2, opened) < 1)
        return cli_complain("view: port %d of 127.0.0.1 cannot be opened; is it in use? try --port 0",
                            s->def.port);
    s->port = opened[0].port;
    snprintf(s->hosts[0], sizeof s->hosts[0], "127.0.0.1:%d", s->port);
    snprintf(s->hosts[1], sizeof s->hosts[1], "localhost:%d", s->port);
    snprintf(s->address, sizeof s->address, "http://%s/%s/", s->hosts[0], s->token);
    mg_set_request_handler(s->web, "/", handle, s);
    mg_set_websocket_handler(s->web, "/", socket_connect, socket_ready, socket_data, socket_close, s);
    return EXIT_DONE;
}

int view_server_start(const view_server_def *def, view_server **server) {
    size_t size;
    if (!view_page(&size))
        return cli_complain("view: this build has no page; build with -DABUT_VIEWER=ON (needs Node and npm)");
    view_server *s = calloc(1, sizeof *s);
    if (!s) return cli_complain("view: no memory");
    s->def = *def;
    pthread_mutex_init(&s->recording_lock, NULL);
    pthread_mutex_init(&s->second_lock, NULL);
    pthread_mutex_init(&s->session_lock, NULL);
    mg_init_library(MG_FEATURES_WEBSOCKET);
    int status = make_token(s->token) ? open_subject(s) : cli_complain("view: no random numbers");
    if (status == EXIT_DONE) status = open_port(s);
    if (status != EXIT_DONE) {
        view_server_stop(s);
        return status;
    }
    *server = s;
    return EXIT_DONE;
}

const char *view_server_address(const view_server *s) { return s->address; }

void view_server_stop(view_server *s) {
    if (s->web) mg_stop(s->web);
    mg_exit_library();
    replay_free(&s->again);
    view_solids_free(&s->solids);
    abut_recording_close(s->recording);
    abut_recording_close(s->second);
    view_index_free(&s->index);
    view_gallery_close(&s->gallery);
    free(s);
}
