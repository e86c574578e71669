/* Blocks from a recording (see view_blocks.h). */
#define _POSIX_C_SOURCE 200809L
#include "view_blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- bytes */

void view_put(view_bytes *b, const void *data, size_t size) {
    if (b->failed || size == 0) return;
    if (b->capacity - b->size < size) {
        size_t capacity = 2 * b->capacity + size + 256;
        char *grown = realloc(b->data, capacity);
        if (!grown) {
            b->failed = true;
            return;
        }
        b->data = grown, b->capacity = capacity;
    }
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

void view_put_f64(view_bytes *b, double number) { view_put(b, &number, sizeof number); }
void view_put_u32(view_bytes *b, uint32_t number) { view_put(b, &number, sizeof number); }
void view_put_vec3(view_bytes *b, abut_vec3 v) { view_put(b, &v, sizeof v); }

void view_put_scalar(view_bytes *b, view_layout layout, double number) {
    float narrow = (float)number;
    if (layout.scalar == 8)
        view_put(b, &number, sizeof number);
    else
        view_put(b, &narrow, sizeof narrow);
}

static void put_scalars(view_bytes *b, view_layout layout, abut_vec3 v) {
    view_put_scalar(b, layout, v.x), view_put_scalar(b, layout, v.y), view_put_scalar(b, layout, v.z);
}

void view_bytes_free(view_bytes *b) {
    free(b->data);
    *b = (view_bytes){0};
}

static abut_status no_memory(abut_error *error) {
    if (error) *error = (abut_error){.status = ABUT_NO_MEMORY, .message = "the memory is used up"};
    return ABUT_NO_MEMORY;
}

static abut_status done(const view_bytes *b, abut_error *error) {
    return b->failed ? no_memory(error) : ABUT_OK;
}

double view_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

view_layout view_layout_of(const abut_recording *r) {
    bool few = abut_recording_bodies(r) <= 150;
    return (view_layout){.scalar = few ? 8 : 4, .numbers = few ? 19 : 13};
}

/* ---- the head */

static json_t *body_json(const abut_recorded_body *b) {
    json_t *color = json_array();
    for (int i = 0; i < 4; i++) json_array_append_new(color, json_real((double)b->color[i]));
    return json_pack("{s:s,s:s,s:o,s:b,s:o,s:o,s:i}", "name", b->name, "shape", b->shape, "mass",
                     isinf(b->mass) ? json_null() : json_real(b->mass), "fixed", (int)b->fixed, "center",
                     cli_json_vec3(b->center), "color", color, "geometry", b->geometry);
}

/* [byte offset, count], and moves the offset behind the array. */
static json_t *place_json(size_t *offset, int64_t count, size_t item) {
    json_t *place = json_pack("[I,I]", (json_int_t)*offset, (json_int_t)count);
    *offset += (size_t)count * item;
    return place;
}

static json_t *geometry_json(const abut_recorded_geometry *g, size_t *offset) {
    json_t *size = json_array(), *out = json_object();
    for (int i = 0; i < 9; i++) json_array_append_new(size, json_real(g->size[i]));
    json_object_set_new(out, "kind", json_string(g->kind));
    json_object_set_new(out, "size", size);
    json_object_set_new(out, "points", place_json(offset, g->point_count, 3 * sizeof(float)));
    json_object_set_new(out, "normals",
                        place_json(offset, g->normals ? g->point_count : 0, 3 * sizeof(float)));
    json_object_set_new(out, "triangles", place_json(offset, g->triangle_count, 3 * sizeof(uint32_t)));
    json_object_set_new(out, "edges", place_json(offset, g->edge_count, 2 * sizeof(uint32_t)));
    return out;
}

static int count_geometries(abut_recording *r, abut_error *error) {
    int most = -1;
    abut_recorded_body b;
    for (int i = 0; i < abut_recording_bodies(r); i++) {
        if (abut_recording_body(r, i, &b, error) != ABUT_OK) return -1;
        if (b.geometry > most) most = b.geometry;
    }
    return most + 1;
}

static json_t *event_words(void) {
    json_t *words = json_array();
    for (int i = 0; i < ABUT_EVENT_KINDS; i++)
        json_array_append_new(words, json_string(abut_event_name((abut_event_kind)i)));
    return words;
}

static json_t *entity_words(void) {
    json_t *words = json_array();
    for (int i = ABUT_ENTITY_NONE; i <= ABUT_ENTITY_HINGE; i++)
        json_array_append_new(words, json_string(abut_entity_name((abut_entity_kind)i)));
    return words;
}

/* What the table `meta` has, as numbers where it is one, as JSON where it is that. */
static void set_meta(abut_recording *r, json_t *out, const char *key, const char *name) {
    const char *text = abut_recording_meta(r, key);
    char *end;
    if (!text) return;
    double number = strtod(text, &end);
    if (end != text && !*end && isfinite(number))
        json_object_set_new(out, name, json_real(number));
    else if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        json_object_set_new(out, name, json_boolean(text[0] == 't'));
    else
        json_object_set_new(out, name, json_string(text));
}

static void set_meta_json(abut_recording *r, json_t *out, const char *key) {
    const char *text = abut_recording_meta(r, key);
    json_t *value = text ? json_loads(text, 0, NULL) : NULL;
    if (value) json_object_set_new(out, key, value);
}

static const char *base_name(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "";
}

static void set_summary(abut_recording *r, json_t *head) {
    static const char *const audit_keys[] = {"deepest_overlap_m",
                                             "energy_error_relative",
                                             "momentum_error_relative",
                                             "complementarity_residual",
                                             "constraint_error_m",
                                             "promises_kept",
                                             "wall_s"};
    json_t *audit = json_object();
    for (size_t i = 0; i < sizeof audit_keys / sizeof *audit_keys; i++)
        set_meta(r, audit, audit_keys[i], audit_keys[i]);
    json_object_set_new(head, "audit", audit);
    const char *title = abut_recording_meta(r, "title"), *mode = abut_recording_meta(r, "mode"),
               *status = abut_recording_meta(r, "status"), *source = abut_recording_meta(r, "source");
    json_object_set_new(head, "title", json_string(title ? title : ""));
    json_object_set_new(head, "scene", json_string(base_name(abut_recording_meta(r, "scene"))));
    json_object_set_new(head, "mode", json_string(mode ? mode : ""));
    json_object_set_new(head, "status", json_string(status ? status : ""));
    json_object_set_new(head, "source", json_string(source ? source : ""));
    set_meta(r, head, "frame", "frame");
    set_meta(r, head, "duration", "duration");
    set_meta(r, head, "touching", "touching");
    set_meta_json(r, head, "camera");
    set_meta_json(r, head, "lights");
}

json_t *view_head(abut_recording *r, view_layout layout, abut_error *error) {
    json_t *bodies = json_array(), *geometries = json_array();
    int count = count_geometries(r, error);
    abut_status status = count < 0 ? ABUT_INVALID : ABUT_OK;
    for (int i = 0; i < abut_recording_bodies(r) && status == ABUT_OK; i++) {
        abut_recorded_body b;
        status = abut_recording_body(r, i, &b, error);
        if (status == ABUT_OK) json_array_append_new(bodies, body_json(&b));
    }
    size_t offset = 0;
    for (int i = 0; i < count && status == ABUT_OK; i++) {
        abut_recorded_geometry g;
        status = abut_recording_geometry(r, i, &g, error);
        if (status == ABUT_OK) json_array_append_new(geometries, geometry_json(&g, &offset));
    }
    json_t *head =
        json_pack("{s:i,s:s,s:b,s:I,s:f,s:i,s:i,s:o,s:o,s:o,s:o}", "version", 1, "abut", abut_version(),
                  "live", 0, "frames", (json_int_t)abut_recording_frames(r), "end", abut_recording_end(r),
                  "scalar", layout.scalar, "numbers", layout.numbers, "event_kinds", event_words(),
                  "entity_kinds", entity_words(), "bodies", bodies, "geometries", geometries);
    if (head && status == ABUT_OK) {
        json_object_set_new(head, "events", json_integer((json_int_t)abut_recording_event_count(r)));
        set_summary(r, head);
    }
    if (status == ABUT_OK && !head) no_memory(error);
    if (status == ABUT_OK) return head;
    json_decref(head);
    return NULL;
}

/* ---- geometry */

static void put_floats(view_bytes *out, const abut_vec3 *v, int64_t count) {
    view_layout narrow = {.scalar = 4};
    for (int64_t i = 0; i < count; i++) put_scalars(out, narrow, v[i]);
}

abut_status view_geometry(abut_recording *r, view_bytes *out, abut_error *error) {
    int count = count_geometries(r, error);
    if (count < 0) return ABUT_INVALID;
    for (int i = 0; i < count; i++) {
        abut_recorded_geometry g;
        abut_status status = abut_recording_geometry(r, i, &g, error);
        if (status != ABUT_OK) return status;
        put_floats(out, g.points, g.point_count);
        if (g.normals) put_floats(out, g.normals, g.point_count);
        view_put(out, g.triangles, (size_t)g.triangle_count * 3 * sizeof *g.triangles);
        view_put(out, g.edges, (size_t)g.edge_count * 2 * sizeof *g.edges);
    }
    return done(out, error);
}

/* ---- rows */

void view_put_series(view_bytes *out, double time, const abut_energy *e, double deepest_overlap) {
    view_put_f64(out, time);
    view_put_f64(out, e->kinetic), view_put_f64(out, e->potential);
    view_put_f64(out, e->dissipated), view_put_f64(out, e->work);
    view_put_vec3(out, e->momentum), view_put_vec3(out, e->angular_momentum);
    view_put_f64(out, deepest_overlap);
}

abut_status view_series(abut_recording *r, view_bytes *out, abut_error *error) {
    for (int64_t k = 0; k < abut_recording_frames(r); k++) {
        abut_frame f;
        abut_status status = abut_recording_frame(r, k, &f, error);
        if (status != ABUT_OK) return status;
        view_put_series(out, f.time, &f.energy, f.deepest_overlap);
    }
    return done(out, error);
}

void view_put_event(view_bytes *out, const abut_event *e) {
    double numbers[20] = {e->time,
                          (double)e->kind,
                          e->body[0],
                          e->body[1],
                          (double)e->entity[0].kind,
                          (double)e->entity[0].id,
                          (double)e->entity[1].kind,
                          (double)e->entity[1].id,
                          e->point.x,
                          e->point.y,
                          e->point.z,
                          e->normal.x,
                          e->normal.y,
                          e->normal.z,
                          e->impulse.x,
                          e->impulse.y,
                          e->impulse.z,
                          e->energy_before,
                          e->energy_after,
                          e->count};
    view_put(out, numbers, sizeof numbers);
}

typedef struct event_rows {
    view_bytes *out;
    int64_t left;
} event_rows;

static bool put_some(void *user, const abut_event *event) {
    event_rows *rows = user;
    if (rows->left-- <= 0) return false;
    view_put_event(rows->out, event);
    return true;
}

abut_status view_event_rows(abut_recording *r, int64_t from, int64_t count, view_bytes *out,
                            abut_error *error) {
    event_rows rows = {out, count};
    abut_status status = abut_recording_events_from(r, from, put_some, &rows, error);
    return status == ABUT_OK ? done(out, error) : status;
}

abut_status view_marks(abut_recording *r, int64_t from, int64_t stride, int64_t count, view_bytes *out,
                       abut_error *error) {
    abut_mark *marks = calloc((size_t)count + 1, sizeof *marks);
    if (!marks) return no_memory(error);
    int64_t n = abut_recording_marks(r, from, stride, count, marks, error);
    double largest = 0;
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, marks[i].impulse);
    view_put_f64(out, largest);
    for (int64_t i = 0; i < n; i++) view_put_f64(out, marks[i].time);
    for (int64_t i = 0; i < n; i++) {
        unsigned char kind = (unsigned char)marks[i].kind;
        view_put(out, &kind, 1);
    }
    free(marks);
    return n < 0 ? ABUT_INVALID : done(out, error);
}

void view_put_motion(view_bytes *out, view_layout layout, const abut_motion *m) {
    put_scalars(out, layout, m->center);
    view_put_scalar(out, layout, m->rotation.w);
    put_scalars(out, layout, (abut_vec3){m->rotation.x, m->rotation.y, m->rotation.z});
    put_scalars(out, layout, m->velocity);
    put_scalars(out, layout, m->spin);
    if (layout.numbers < 19) return;
    put_scalars(out, layout, m->acceleration);
    put_scalars(out, layout, m->spin_rate);
}

abut_status view_frames(abut_recording *r, view_layout layout, int64_t from, int64_t count, view_bytes *out,
                        abut_error *error) {
    return view_frames_apart(r, layout, from, count, 1, out, error);
}

abut_status view_frames_apart(abut_recording *r, view_layout layout, int64_t from, int64_t count,
                              int64_t stride, view_bytes *out, abut_error *error) {
    int bodies = abut_recording_bodies(r);
    abut_motion *motions = calloc((size_t)bodies + 1, sizeof *motions);
    if (!motions) return no_memory(error);
    abut_status status = ABUT_OK;
    for (int64_t i = 0; i < count && status == ABUT_OK; i++) {
        int64_t k = from + i * stride;
        if (k >= abut_recording_frames(r)) break;
        status = abut_recording_motions(r, k, motions, error);
        for (int b = 0; b < bodies && status == ABUT_OK; b++) view_put_motion(out, layout, &motions[b]);
    }
    free(motions);
    return status == ABUT_OK ? done(out, error) : status;
}

abut_status view_state(abut_recording *r, view_layout layout, double time, view_bytes *out,
                       abut_error *error) {
    for (int i = 0; i < abut_recording_bodies(r); i++) {
        abut_motion m;
        abut_status status = abut_recording_motion(r, i, time, &m, error);
        if (status != ABUT_OK) return status;
        view_put_motion(out, layout, &m);
    }
    return done(out, error);
}

abut_status view_track(abut_recording *r, int body, int64_t stride, view_bytes *out, abut_error *error) {
    view_layout full = {.scalar = 8, .numbers = 19};
    for (int64_t k = 0; k < abut_recording_frames(r); k += stride) {
        abut_motion m;
        abut_frame f;
        abut_status status = abut_recording_frame_motion(r, k, body, &m, error);
        if (status == ABUT_OK) status = abut_recording_frame(r, k, &f, error);
        if (status != ABUT_OK) return status;
        view_put_f64(out, f.time);
        view_put_motion(out, full, &m);
    }
    return done(out, error);
}

/* ---- contacts */

void view_put_contact(view_bytes *out, view_layout layout, int64_t frame, const abut_contact *c) {
    double numbers[17] = {(double)frame,
                          c->body[0],
                          c->body[1],
                          (double)c->representation,
                          c->dimension,
                          (double)c->entity[0].kind,
                          (double)c->entity[0].id,
                          (double)c->entity[1].kind,
                          (double)c->entity[1].id,
                          (double)c->state,
                          c->area,
                          c->center_of_pressure.x,
                          c->center_of_pressure.y,
                          c->center_of_pressure.z,
                          c->determined,
                          c->point_count,
                          c->loop_count ? c->loop_count + 3 * c->loop_start[c->loop_count] : 0};
    for (int i = 0; i < 17; i++) view_put_scalar(out, layout, numbers[i]);
    for (int i = 0; i < c->point_count; i++) {
        put_scalars(out, layout, c->points[i]);
        put_scalars(out, layout, c->normals[i]);
        put_scalars(out, layout, c->forces[i]);
    }
    for (int l = 0; l < c->loop_count; l++) {
        view_put_scalar(out, layout, c->loop_start[l + 1] - c->loop_start[l]);
        for (int32_t k = c->loop_start[l]; k < c->loop_start[l + 1]; k++)
            put_scalars(out, layout, c->corners[k]);
    }
}

abut_status view_contacts(abut_recording *r, view_layout layout, int64_t from, int64_t count, view_bytes *out,
                          abut_error *error) {
    for (int64_t k = from; k < from + count && k < abut_recording_frames(r); k++) {
        const abut_contact *contacts;
        int found = abut_recording_contacts(r, k, &contacts, error);
        if (found < 0) return error ? error->status : ABUT_INVALID;
        for (int i = 0; i < found; i++) view_put_contact(out, layout, k, &contacts[i]);
    }
    return done(out, error);
}

/* Two seconds for going from a snapshot to the time asked for. */
abut_status view_moment(abut_recording *r, replay *again, view_layout layout, double time, view_bytes *out,
                        abut_error *error) {
    const abut_contact *contacts;
    if (!again->work_most) again->deadline = view_clock() + 2;
    int count = replay_contacts(again, r, time, &contacts, error);
    if (count < 0) return error->status ? error->status : ABUT_INVALID;
    for (int i = 0; i < count; i++) view_put_contact(out, layout, -1, &contacts[i]);
    return done(out, error);
}
