/* A scene that runs while somebody looks (see view_live.h).
 *
 *     page --> message --> wishes (mutex) --> thread: load, advance a frame, send --> page
 *
 * The thread owns scene, models and run; messages only change what is wished for.  A frame that takes longer
 * than its time is followed at once by the next; none is left out.  A pull goes on in a second model of the
 * same world that has a force on every body: the state moves over as a snapshot, and back when the hand lets
 * go. */
#define _POSIX_C_SOURCE 200809L
#include "view_live.h"

#include "view_pull.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PARAMS_MOST = 64 };

/* What the page wants; kept under the mutex. */
/* Frames that are on their way to the page: a page that is slower than the run slows it, instead of falling
 * behind more and more until the socket is full. */
enum { AHEAD_MOST = 10 };

typedef struct wishes {
    bool quit, running, restart, has_mode;
    int steps;
    int64_t seen; /* the last frame that the page has read; -1: it does not say */
    double pace;
    abut_mode mode;
    view_grip grip;
    struct {
        char name[64];
        double value;
    } set[PARAMS_MOST];
    int set_count;
} wishes;

struct view_live {
    char *path, *root;
    view_send *send;
    void *user;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    wishes wish;
    abut_sim *moving; /* the run while it advances */

    /* of the thread */
    abut_scene *scene;
    abut_world_def world;
    abut_model *model;
    view_pull *pull; /* made when first needed */
    abut_sim *run;
    bool pulled; /* the run is one of pull's model */
    bool deaf;   /* nothing can be sent any more */
    int64_t frame, events;
    view_bytes event_rows;
};

/* ---- sending */

static void send_bytes(view_live *l, bool text, const void *data, size_t size) {
    if (!l->deaf && !l->send(l->user, text, data, size)) l->deaf = true;
}

static void send_json(view_live *l, json_t *document) {
    char *text = document ? json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    if (text) send_bytes(l, true, text, strlen(text));
    free(text);
    json_decref(document);
}

static void send_state(view_live *l, const char *state, const char *message) {
    send_json(l, json_pack("{s:s,s:s}", "state", state, "message", message ? message : ""));
}

static void send_kind(view_live *l, uint32_t kind, uint32_t count, const view_bytes *body) {
    view_bytes message = {0};
    view_put_u32(&message, kind);
    view_put_u32(&message, count);
    view_put(&message, body->data, body->size);
    if (!message.failed) send_bytes(l, false, message.data, message.size);
    view_bytes_free(&message);
}

static void send_failure(view_live *l, const abut_error *error) {
    const abut_error *own = l->scene ? abut_scene_error(l->scene) : NULL;
    if (own) error = own;
    char text[1100];
    if (error->file[0])
        snprintf(text, sizeof text, "%s:%d: %s", error->file, error->line, error->message);
    else
        snprintf(text, sizeof text, "%s", error->message);
    pthread_mutex_lock(&l->mutex);
    l->wish.running = false;
    pthread_mutex_unlock(&l->mutex);
    send_state(l, "failed", text);
}

static void send_frame(view_live *l, double milliseconds) {
    view_layout full = {.scalar = 8, .numbers = 19};
    view_bytes frame = {0}, contacts = {0};
    abut_energy energy = abut_sim_energy(l->run);
    const abut_contact *list;
    int count = abut_sim_contacts(l->run, &list), bodies = abut_sim_bodies(l->run);
    view_put_f64(&frame, (double)l->frame);
    view_put_f64(&frame, milliseconds);
    view_put_f64(&frame, (double)l->events);
    view_put_f64(&frame, 0);
    view_put_series(&frame, abut_sim_time(l->run), &energy, abut_sim_audit(l->run).deepest_overlap);
    for (int i = 0; i < bodies; i++) {
        abut_motion m = abut_sim_motion(l->run, i);
        view_put_motion(&frame, full, &m);
    }
    for (int i = 0; i < count; i++) view_put_contact(&contacts, full, l->frame, &list[i]);
    if (l->event_rows.size)
        send_kind(l, 4, (uint32_t)(l->event_rows.size / (20 * sizeof(double))), &l->event_rows);
    l->event_rows.size = 0;
    send_kind(l, 3, count > 0 ? (uint32_t)count : 0, &contacts);
    send_kind(l, 2, (uint32_t)bodies, &frame);
    view_bytes_free(&frame);
    view_bytes_free(&contacts);
}

/* ---- hooks of the run */

static bool wants_on(view_live *l) {
    pthread_mutex_lock(&l->mutex);
    bool on = !l->wish.quit && !l->wish.restart;
    pthread_mutex_unlock(&l->mutex);
    return on && !l->deaf;
}

static bool on_event(void *user, const abut_event *event) {
    view_live *l = user;
    l->events++;
    view_put_event(&l->event_rows, event);
    return wants_on(l) && abut_scene_event(l->scene, l->model, event);
}

static bool on_segment(void *user, const abut_segment *segment) {
    (void)segment;
    return wants_on(user);
}

/* ---- loading */

static void unload(view_live *l) {
    abut_sim_free(l->run);
    view_pull_free(l->pull);
    abut_model_free(l->model);
    abut_scene_free(l->scene);
    l->run = NULL, l->pull = NULL, l->model = NULL, l->scene = NULL;
    l->pulled = false, l->frame = l->events = 0, l->event_rows.size = 0;
}

static void free_words(char **words) {
    for (int i = 0; words && words[i]; i++) free(words[i]);
    free(words);
}

static char **make_words(const wishes *w) {
    char **words = calloc((size_t)w->set_count + 1, sizeof *words), text[128];
    for (int i = 0; words && i < w->set_count; i++) {
        snprintf(text, sizeof text, "%s=%.17g", w->set[i].name, w->set[i].value);
        if (!(words[i] = strdup(text))) break;
    }
    return words;
}

static json_t *params_json(const abut_scene *scene) {
    const abut_param *params;
    json_t *list = json_array();
    int count = abut_scene_params(scene, &params);
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_pack("{s:s,s:f,s:f}", "name", params[i].name, "value",
                                              params[i].value, "initial", params[i].initial));
    return list;
}

/* Bodies and shapes as a recording has them: one is begun, read, and removed. */
static abut_status send_head(view_live *l, abut_error *error) {
    const char *folder = getenv("TMPDIR");
    char path[512];
    snprintf(path, sizeof path, "%s/abut-view-XXXXXX", folder && *folder ? folder : "/tmp");
    int file = mkstemp(path);
    if (file < 0) {
        *error = (abut_error){.status = ABUT_IO, .message = "no temporary file can be made; set TMPDIR"};
        return ABUT_IO;
    }
    close(file);
    abut_recorder *recorder = NULL;
    abut_recording *recording = NULL;
    view_bytes geometry = {0};
    json_t *head = NULL;
    abut_status status = abut_recorder_create(NULL, path, l->scene, l->model, NULL, &recorder, error);
    abut_recorder_free(recorder);
    if (status == ABUT_OK) status = abut_recording_open(NULL, path, &recording, error);
    if (status == ABUT_OK) {
        head = view_head(recording, (view_layout){.scalar = 8, .numbers = 19}, error);
        status = head ? view_geometry(recording, &geometry, error) : error->status;
    }
    if (status == ABUT_OK) {
        json_object_set_new(head, "live", json_true());
        json_object_set_new(head, "mode", json_string(l->world.mode == ABUT_LIVE ? "live" : "exact"));
        json_object_set_new(head, "params", params_json(l->scene));
        send_json(l, json_pack("{s:O}", "head", head));
        send_kind(l, 1, 0, &geometry);
    }
    json_decref(head);
    view_bytes_free(&geometry);
    abut_recording_close(recording);
    unlink(path);
    return status;
}

static bool load(view_live *l, const wishes *w) {
    abut_error error = {0};
    unload(l);
    char **words = make_words(w);
    abut_scene_options options = {.root = l->root, .set = (const char *const *)words};
    abut_status status = abut_scene_load(NULL, l->path, &options, &l->scene, &error);
    if (status == ABUT_OK) {
        l->world = *abut_scene_world(l->scene);
        if (w->has_mode) l->world.mode = w->mode;
        status = abut_model_create(NULL, &l->world, &l->model, &error);
    }
    free_words(words);
    abut_sim_options hooks = {.user = l, .event = on_event, .segment = on_segment};
    if (status == ABUT_OK) status = send_head(l, &error);
    if (status == ABUT_OK) status = abut_sim_create(NULL, l->model, &hooks, &l->run, &error);
    if (status != ABUT_OK) {
        send_failure(l, &error);
        return false;
    }
    send_frame(l, 0);
    return true;
}

/* ---- moving */

/* Between the model of the scene and the one with hands: the state goes over as a snapshot. */
static abut_status change_model(view_live *l, bool pulled, abut_error *error) {
    if (pulled == l->pulled) return ABUT_OK;
    if (pulled && !l->pull && !(l->pull = view_pull_create(&l->world, error)))
        return error->status != ABUT_OK ? error->status : ABUT_NO_MEMORY;
    size_t size = abut_sim_snapshot_size(l->run);
    void *block = malloc(size + 1);
    if (!block) return ABUT_NO_MEMORY;
    abut_sim_snapshot(l->run, block);
    abut_sim_options hooks = {.user = l, .event = on_event, .segment = on_segment};
    abut_sim *next = NULL;
    abut_status status = abut_sim_create_at(NULL, pulled ? view_pull_model(l->pull) : l->model, &hooks, block,
                                            size, &next, error);
    free(block);
    if (status != ABUT_OK) return status;
    abut_sim_free(l->run);
    l->run = next, l->pulled = pulled;
    return ABUT_OK;
}

/* Advances where a wish to end it can reach it. */
static abut_status move(view_live *l, double until, abut_error *error) {
    pthread_mutex_lock(&l->mutex);
    l->moving = l->run;
    pthread_mutex_unlock(&l->mutex);
    abut_status status = abut_sim_advance(l->run, until, error);
    pthread_mutex_lock(&l->mutex);
    l->moving = NULL;
    pthread_mutex_unlock(&l->mutex);
    return status;
}

/* With the mutex: a frame under way ends now. */
static void stop_moving(view_live *l) {
    if (l->moving) abut_sim_stop(l->moving);
}

static bool advance(view_live *l, const view_grip *grip) {
    abut_error error = {0};
    double began = view_clock(), from = abut_sim_time(l->run),
           until = (double)(l->frame + 1) * l->world.frame;
    abut_status status = change_model(l, grip->body >= 0, &error);
    if (status == ABUT_OK && l->pulled) view_pull_aim(l->pull, l->run, grip);
    if (status == ABUT_OK) status = move(l, until, &error);
    if (status == ABUT_OK && !abut_scene_every(l->scene, from, until)) status = ABUT_CANCELLED;
    if (status == ABUT_CANCELLED && !abut_scene_error(l->scene)) return true; /* restart or quit */
    if (status != ABUT_OK) {
        send_failure(l, &error);
        return false;
    }
    l->frame++;
    send_frame(l, 1e3 * (view_clock() - began));
    return true;
}

static void wait_until(view_live *l, double due) {
    struct timespec now;
    double left = due - view_clock();
    if (left <= 0) return;
    clock_gettime(CLOCK_REALTIME, &now);
    double at = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec + left;
    struct timespec until = {(time_t)at, (long)(1e9 * (at - floor(at)))};
    pthread_cond_timedwait(&l->changed, &l->mutex, &until);
}

static void *work(void *argument) {
    view_live *l = argument;
    double due = 0;
    bool told_running = false;
    pthread_mutex_lock(&l->mutex);
    while (!l->wish.quit && !l->deaf) {
        wishes w = l->wish;
        bool move = l->run && (w.running || w.steps > 0) && !w.restart;
        if (move && w.seen >= 0 && l->frame - w.seen >= AHEAD_MOST) {
            pthread_cond_wait(&l->changed, &l->mutex);
            continue;
        }
        if (move && w.steps == 0 && view_clock() < due) {
            wait_until(l, due);
            continue;
        }
        if (!w.restart && !move && told_running == (w.running && l->run)) {
            pthread_cond_wait(&l->changed, &l->mutex);
            continue;
        }
        l->wish.restart = false;
        if (w.restart) l->wish.running = l->wish.running && !w.restart, l->wish.grip.body = -1;
        if (w.restart) l->wish.seen = -1;
        if (l->wish.steps > 0) l->wish.steps--;
        pthread_mutex_unlock(&l->mutex);
        if (w.restart) load(l, &w);
        bool running = w.running && !w.restart && l->run;
        if (running != told_running) send_state(l, running ? "running" : "paused", NULL);
        told_running = running;
        if (move) {
            double frame = l->world.frame / w.pace, now = view_clock();
            due = due + frame > now - 0.1 ? due + frame : now; /* no race to make up for slow frames */
            if (!advance(l, &w.grip)) told_running = false;
        }
        pthread_mutex_lock(&l->mutex);
    }
    pthread_mutex_unlock(&l->mutex);
    unload(l);
    return NULL;
}

/* ---- messages */

static bool get_vec3(const json_t *list, abut_vec3 *v) {
    double x[3];
    if (json_array_size(list) != 3) return false;
    for (size_t i = 0; i < 3; i++) {
        x[i] = json_number_value(json_array_get(list, i));
        if (!json_is_number(json_array_get(list, i)) || !isfinite(x[i]) || fabs(x[i]) > 1e9) return false;
    }
    *v = (abut_vec3){x[0], x[1], x[2]};
    return true;
}

static bool set_params(wishes *w, json_t *set) {
    const char *name;
    json_t *value;
    int count = 0;
    json_object_foreach(set, name, value) {
        double number = json_number_value(value);
        if (!json_is_number(value) || !isfinite(number) || count == PARAMS_MOST ||
            strlen(name) >= sizeof w->set[0].name)
            return false;
        snprintf(w->set[count].name, sizeof w->set[0].name, "%s", name);
        w->set[count++].value = number;
    }
    w->set_count = count;
    return true;
}

static bool restart(wishes *w, const json_t *m) {
    json_t *set = json_object_get(m, "set");
    const char *mode = json_string_value(json_object_get(m, "mode"));
    if (set && !set_params(w, set)) return false;
    if (mode && strcmp(mode, "exact") != 0 && strcmp(mode, "live") != 0) return false;
    if (mode) w->has_mode = true, w->mode = mode[0] == 'l' ? ABUT_LIVE : ABUT_EXACT;
    w->restart = true, w->running = false, w->steps = 0;
    return true;
}

static bool pull(wishes *w, const json_t *m) {
    const json_t *body = json_object_get(m, "body"), *factor = json_object_get(m, "stiffness");
    double stiffness = factor ? json_number_value(factor) : 1;
    view_grip grip = {.stiffness = stiffness};
    if (!json_is_integer(body) || json_integer_value(body) < 0 || json_integer_value(body) > 1000000000)
        return false;
    if (!(stiffness > 0) || stiffness > 100) return false;
    grip.body = (int)json_integer_value(body);
    if (!get_vec3(json_object_get(m, "at"), &grip.at) || !get_vec3(json_object_get(m, "to"), &grip.to))
        return false;
    w->grip = grip;
    return true;
}

static bool obey(wishes *w, const json_t *m) {
    const char *word = json_string_value(json_object_get(m, "do"));
    if (!word) return false;
    if (strcmp(word, "start") == 0) return w->running = true;
    if (strcmp(word, "pause") == 0) return w->running = false, w->steps = 0, true;
    if (strcmp(word, "step") == 0) return w->running = false, w->steps += w->steps < 1000, true;
    if (strcmp(word, "restart") == 0) return restart(w, m);
    if (strcmp(word, "pull") == 0) return pull(w, m);
    if (strcmp(word, "release") == 0) return w->grip.body = -1, true;
    if (strcmp(word, "seen") == 0) {
        const json_t *frame = json_object_get(m, "frame");
        w->seen = json_integer_value(frame);
        return json_is_integer(frame) && w->seen >= 0;
    }
    if (strcmp(word, "pace") == 0) {
        double pace = json_number_value(json_object_get(m, "value"));
        if (pace >= 1e-3 && pace <= 100) w->pace = pace;
        return pace >= 1e-3 && pace <= 100;
    }
    return false;
}

bool view_live_message(view_live *l, const char *text, size_t size) {
    json_t *message = json_loadb(text, size, 0, NULL); /* refuses what is nested too deep */
    pthread_mutex_lock(&l->mutex);
    wishes changed = l->wish;
    bool good = json_is_object(message) && obey(&changed, message);
    if (good) l->wish = changed;
    if (good && changed.restart) stop_moving(l);
    pthread_cond_signal(&l->changed);
    pthread_mutex_unlock(&l->mutex);
    json_decref(message);
    return good;
}

/* ---- beginning and end */

view_live *view_live_start(const char *path, const char *root, view_send *send, void *user) {
    view_live *l = calloc(1, sizeof *l);
    if (!l) return NULL;
    l->path = strdup(path), l->root = root ? strdup(root) : NULL;
    l->send = send, l->user = user;
    l->wish = (wishes){.restart = true, .pace = 1, .seen = -1, .grip = {.body = -1}};
    pthread_mutex_init(&l->mutex, NULL);
    pthread_cond_init(&l->changed, NULL);
    if (l->path && pthread_create(&l->thread, NULL, work, l) == 0) return l;
    free(l->path), free(l->root), free(l);
    return NULL;
}

void view_live_stop(view_live *l) {
    pthread_mutex_lock(&l->mutex);
    l->wish.quit = true;
    stop_moving(l);
    pthread_cond_signal(&l->changed);
    pthread_mutex_unlock(&l->mutex);
    pthread_join(l->thread, NULL);
    pthread_mutex_destroy(&l->mutex);
    pthread_cond_destroy(&l->changed);
    view_bytes_free(&l->event_rows);
    free(l->path), free(l->root), free(l);
}
