#include "record/export_scene.h"

#include <stdio.h>

enum { MEMORY_DEFAULT = 64 << 20 };

/* Lengths beyond this are damage, not geometry: their squares must fit into single precision, as glTF has. */
static const double length_most = 1e18;

static bool is_length(double x) { return fabs(x) < length_most; } /* false for NaN */

static bool is_place(vec3 v) { return is_length(v.x) && is_length(v.y) && is_length(v.z); }

/* ---- shapes */

static abut_shape_kind kind_of_word(const char *word) {
    for (int k = 0; k <= ABUT_SHAPE_SURFACE; k++)
        if (strcmp(word, abut_shape_name((abut_shape_kind)k)) == 0) return (abut_shape_kind)k;
    return ABUT_SHAPE_NONE;
}

/* Each triangle gets points of its own, all with the triangle's normal: a solid has creases, and its flat
 * faces are flat.  Triangles without an area are left out. */
static bool draw_flat(const abut_context *context, const abut_recorded_geometry *g, tessellation *t) {
    if (!tessellation_reserve(context, t, 3 * g->triangle_count, g->triangle_count)) return false;
    for (int64_t i = 0; i < g->triangle_count; i++) {
        vec3 p[3];
        for (int k = 0; k < 3; k++) p[k] = g->points[g->triangles[3 * i + k]];
        vec3 n = vec3_unit(vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0])));
        if (!(vec3_length2(n) > 0.5)) continue;
        int64_t first = t->points.count;
        for (int k = 0; k < 3; k++)
            if (!tessellation_point(context, t, p[k], n)) return false;
        if (!tessellation_triangle(context, t, first, first + 1, first + 2)) return false;
    }
    return true;
}

static bool draw_smooth(const abut_context *context, const abut_recorded_geometry *g, tessellation *t) {
    bool fine = tessellation_reserve(context, t, g->point_count, g->triangle_count);
    for (int64_t i = 0; i < g->point_count && fine; i++) {
        vec3 n = vec3_unit(g->normals[i]);
        fine = tessellation_point(context, t, g->points[i], vec3_length2(n) > 0.5 ? n : vec3_make(0, 0, 1));
    }
    for (int64_t i = 0; i < g->triangle_count && fine; i++) {
        const int32_t *v = g->triangles + 3 * i;
        fine = tessellation_triangle(context, t, v[0], v[1], v[2]);
    }
    return fine;
}

static void measure_shape(export_shape *s) {
    s->bounds = box_empty();
    s->radius = 0;
    for (int64_t i = 0; i < s->drawn.points.count; i++) {
        vec3 p = s->drawn.points.data[i];
        s->bounds = box_add_point(s->bounds, p);
        s->radius = fmax(s->radius, vec3_length(p));
    }
    if (s->kind == ABUT_SHAPE_HALFSPACE || s->kind == ABUT_SHAPE_CAVITY) s->radius = INFINITY;
}

/* Numbers that a shape of its kind can have. */
static bool is_sound(const export_shape *s) {
    const abut_recorded_geometry *g = &s->recorded;
    const abut_shape *a = &s->analytic;
    bool fine = true;
    for (int i = 0; i < 9; i++) fine &= is_length(g->size[i]);
    for (int64_t i = 0; i < g->point_count; i++) fine &= is_place(g->points[i]);
    for (int64_t i = 0; i < 64 * g->patch_count; i++) fine &= is_length(g->patches[i]);
    if (s->kind == ABUT_SHAPE_ELLIPSOID) fine &= a->axes.x > 0 && a->axes.y > 0 && a->axes.z > 0;
    if (s->kind == ABUT_SHAPE_HALFSPACE) fine &= vec3_length(a->normal) > 0;
    return fine;
}

/* Reads a geometry and draws all but half-spaces, whose size depends on the others. */
static abut_status read_shape(export_scene *scene, int geometry, export_shape *s, abut_error *error) {
    abut_recorded_geometry *g = &s->recorded;
    abut_status status = abut_recording_geometry(scene->recording, geometry, g, error);
    if (status != ABUT_OK) return status;
    s->kind = kind_of_word(g->kind);
    const double *n = g->size;
    s->analytic = (abut_shape){.kind = s->kind,
                               .radius = n[0],
                               .length = n[1],
                               .axes = {n[2], n[3], n[4]},
                               .normal = {n[5], n[6], n[7]},
                               .offset = n[8]};
    if (!is_sound(s)) return fail(error, ABUT_INVALID, "geometry %d of the recording is damaged", geometry);
    if (s->kind == ABUT_SHAPE_SOLID || s->kind == ABUT_SHAPE_SURFACE)
        status =
            (g->normals ? draw_smooth(scene->context, g, &s->drawn) : draw_flat(scene->context, g, &s->drawn))
                ? ABUT_OK
                : fail_memory(error);
    else if (s->kind != ABUT_SHAPE_HALFSPACE)
        status = tessellate_analytic(scene->context, &s->analytic, vec3_zero(), 1, &s->drawn, error);
    measure_shape(s);
    return status;
}

/* ---- bodies */

/* Where the scene gives no colour: fixed bodies grey, the others one after the other of these. */
static void choose_color(const abut_recorded_body *b, int number, double color[4]) {
    static const double palette[][3] = {{0.35, 0.55, 0.78}, {0.87, 0.52, 0.32}, {0.44, 0.66, 0.42},
                                        {0.78, 0.42, 0.44}, {0.56, 0.49, 0.71}, {0.60, 0.50, 0.40},
                                        {0.85, 0.62, 0.76}, {0.78, 0.71, 0.35}};
    abut_body_def standard = abut_default_body();
    bool none = b->color[3] == 0 || memcmp(b->color, standard.color, sizeof standard.color) == 0;
    for (int k = 0; k < 4; k++) {
        double c = b->color[k];
        if (none) c = k == 3 ? 1 : b->fixed ? 0.62 : palette[number % COUNT_OF(palette)][k];
        color[k] = c > 0 ? fmin(c, 1) : 0; /* also for NaN */
    }
}

static abut_status read_bodies(export_scene *s, abut_error *error) {
    map64 shape_of = {0};
    abut_status status = ABUT_OK;
    int chosen = 0;
    for (int i = 0; i < s->body_count && status == ABUT_OK; i++) {
        abut_recorded_body b;
        status = abut_recording_body(s->recording, i, &b, error);
        if (status != ABUT_OK) break;
        export_body *out = &s->bodies[i];
        *out = (export_body){.name = b.name, .fixed = b.fixed, .center = b.center};
        choose_color(&b, chosen, out->color);
        chosen += !b.fixed;
        int32_t *shape = map64_put(s->context, &shape_of, (uint32_t)b.geometry, -1);
        if (!shape) status = fail_memory(error);
        if (status == ABUT_OK && *shape < 0) {
            status = read_shape(s, b.geometry, &s->shapes[s->shape_count], error);
            *shape = s->shape_count++; /* also after a failure: it is freed with the others */
        }
        if (status == ABUT_OK) out->shape = *shape;
        if (status == ABUT_OK && !is_place(b.center))
            status = fail(error, ABUT_INVALID, "body %d of the recording is damaged", i);
    }
    map64_free(s->context, &shape_of);
    return status;
}

/* ---- frames */

static abut_status choose_frames(export_scene *s, const abut_export_options *o, abut_error *error) {
    int64_t all = abut_recording_frames(s->recording), every = o->every > 1 ? o->every : 1, met = 0;
    s->frames = mem_alloc(s->context, (size_t)all + 1, sizeof *s->frames);
    s->times = mem_alloc(s->context, (size_t)all + 1, sizeof *s->times);
    if (!s->frames || !s->times) return fail_memory(error);
    for (int64_t i = 0; i < all; i++) {
        abut_frame f;
        abut_status status = abut_recording_frame(s->recording, i, &f, error);
        if (status != ABUT_OK) return status;
        double behind = s->frame_count ? s->times[s->frame_count - 1] : -INFINITY;
        if (!(f.time >= o->begin - 1e-9) || !(f.time <= o->end + 1e-9) || !(f.time > behind)) continue;
        if (met++ % every == 0) s->frames[s->frame_count] = i, s->times[s->frame_count++] = f.time;
    }
    if (s->frame_count == 0)
        return fail(error, ABUT_INVALID,
                    all == 0 ? "the recording has no frame yet; run the scene further"
                             : "the recording has no frame in that range: it goes from 0 to %.9g s",
                    abut_recording_end(s->recording));
    double span = s->times[s->frame_count - 1] - s->times[0];
    s->rate = s->frame_count > 1 && span > 0 ? (double)(s->frame_count - 1) / span : 60;
    if (!(s->rate < 1e12)) s->rate = 60; /* damaged times */
    return ABUT_OK;
}

abut_status export_frame_motions(export_scene *s, int64_t frame, abut_error *error) {
    abut_status status = abut_recording_motions(s->recording, s->frames[frame], s->motions, error);
    for (int i = 0; i < s->body_count && status == ABUT_OK; i++) {
        quat q = s->motions[i].rotation;
        double norm2 = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
        if (!is_place(s->motions[i].center) || !(norm2 > 0.5 && norm2 < 2))
            status =
                fail(error, ABUT_INVALID, "frame %lld of the recording is damaged: body `%.200s` is nowhere",
                     (long long)s->frames[frame], s->bodies[i].name);
    }
    return status;
}

pose export_pose(const export_body *body, const abut_motion *m) {
    quat q = quat_unit(m->rotation);
    return (pose){vec3_sub(m->center, quat_rotate(q, body->center)), q};
}

/* Which bodies move, where all of them are at the first frame, and where they get to. */
static abut_status survey(export_scene *s, abut_error *error) {
    s->bounds = s->swept = box_empty();
    double sum = 0;
    int count = 0;
    for (int64_t f = 0; f < s->frame_count; f++) {
        abut_status status = export_frame_motions(s, f, error);
        if (status != ABUT_OK) return status;
        for (int i = 0; i < s->body_count; i++) {
            export_body *b = &s->bodies[i];
            double radius = s->shapes[b->shape].radius;
            pose p = export_pose(b, &s->motions[i]);
            if (f == 0) {
                b->start = p;
                if (isfinite(radius))
                    s->bounds =
                        box_union(s->bounds, box_grow(box_add_point(box_empty(), p.position), radius));
                if (isfinite(radius) && !b->fixed) sum += radius, count++;
            }
            b->moves |= memcmp(&p, &b->start, sizeof p) != 0;
            if (isfinite(radius)) s->swept = box_add_point(s->swept, p.position);
        }
    }
    if (s->bounds.lower.x > s->bounds.upper.x) s->bounds = s->swept = (box){{-1, -1, -1}, {1, 1, 1}};
    s->size = count && sum > 0 ? sum / count : fmax(box_diagonal(s->bounds) / 4, 1e-6);
    return ABUT_OK;
}

/* Half-spaces reach beyond all that moves, but not more than a hundred times the size of the start. */
static abut_status draw_halfspaces(export_scene *s, abut_error *error) {
    double start = box_diagonal(s->bounds), swept = box_diagonal(box_union(s->bounds, s->swept));
    double extent = fmin(1.5 * swept, 100 * start) + 2 * start;
    abut_status status = ABUT_OK;
    for (int i = 0; i < s->body_count && status == ABUT_OK; i++) {
        export_shape *shape = &s->shapes[s->bodies[i].shape];
        if (shape->kind != ABUT_SHAPE_HALFSPACE || shape->drawn.points.count) continue;
        vec3 middle = pose_unpoint(s->bodies[i].start, box_center(s->bounds));
        status = tessellate_analytic(s->context, &shape->analytic, middle, extent, &shape->drawn, error);
        measure_shape(shape);
    }
    return status;
}

/* ---- opening and closing */

static bool count_key(void *user, int slot, int64_t frame, export_mark mark) {
    export_slot *s = &((export_scene *)user)->slots.data[slot];
    if (s->keys++ == 0) s->first = mark;
    s->last = frame;
    return true;
}

/* The largest force sets the length of the arrows; then the slots are made and their changes counted. */
static abut_status survey_contacts(export_scene *s, abut_error *error) {
    if (s->without_contacts) return ABUT_OK;
    for (int64_t f = 0; f < s->frame_count; f++) {
        const abut_contact *contacts;
        int count = abut_recording_contacts(s->recording, s->frames[f], &contacts, error);
        if (count < 0) return error->status;
        for (int i = 0; i < count; i++)
            for (int k = 0; k < contacts[i].point_count; k++) {
                double force = vec3_length(contacts[i].forces[k]);
                if (isfinite(force)) s->largest_force = fmax(s->largest_force, force);
            }
    }
    s->metres_per_newton = s->largest_force > 1e-200 ? 2 * s->size / s->largest_force : 0;
    return export_walk_slots(s, count_key, s, error);
}

abut_status export_scene_open(const abut_context *context, abut_recording *recording,
                              const abut_export_options *options, export_scene *s, abut_error *error) {
    *s = (export_scene){.context = context, .recording = recording, .track_first = -1, .key_first = -1};
    s->without_contacts = options->without_contacts || options->format == ABUT_EXPORT_CSV;
    s->memory = options->memory ? options->memory : MEMORY_DEFAULT;
    s->title = abut_recording_meta(recording, "title");
    s->body_count = abut_recording_bodies(recording);
    size_t bodies = (size_t)s->body_count;
    s->bodies = mem_calloc(context, bodies + 1, sizeof *s->bodies);
    s->shapes = mem_calloc(context, bodies + 1, sizeof *s->shapes);
    s->motions = mem_calloc(context, bodies + 1, sizeof *s->motions);
    abut_status status = s->bodies && s->shapes && s->motions ? ABUT_OK : fail_memory(error);
    if (status == ABUT_OK) status = choose_frames(s, options, error);
    if (status == ABUT_OK) status = read_bodies(s, error);
    if (status == ABUT_OK) status = survey(s, error);
    if (status == ABUT_OK) status = draw_halfspaces(s, error);
    if (status == ABUT_OK) status = survey_contacts(s, error);
    if (status == ABUT_OK) status = export_read_view(s, error);
    return status;
}

void export_scene_close(export_scene *s) {
    const abut_context *context = s->context;
    size_t bodies = (size_t)s->body_count + 1, frames = (size_t)abut_recording_frames(s->recording) + 1;
    for (int i = 0; i < s->shape_count; i++) tessellation_free(context, &s->shapes[i].drawn);
    mem_free(context, s->bodies, bodies, sizeof *s->bodies);
    mem_free(context, s->shapes, bodies, sizeof *s->shapes);
    mem_free(context, s->motions, bodies, sizeof *s->motions);
    mem_free(context, s->frames, frames, sizeof *s->frames);
    mem_free(context, s->times, frames, sizeof *s->times);
    mem_free(context, s->lights, (size_t)s->light_count, sizeof *s->lights);
    mem_free(context, s->track, s->track_capacity, sizeof *s->track);
    array_free(context, &s->slots);
    array_free(context, &s->groups);
    array_free(context, &s->visible);
    array_free(context, &s->keys);
    array_free(context, &s->key_starts);
    map64_free(context, &s->slot_of);
    map64_free(context, &s->group_of);
}

/* ---- columns out of rows */

static quat quat_near(quat q, quat to) {
    double dot = q.w * to.w + q.x * to.x + q.y * to.y + q.z * to.z;
    return dot < 0 ? (quat){-q.w, -q.x, -q.y, -q.z} : q;
}

static abut_status read_tracks(export_scene *s, int first, abut_error *error) {
    size_t frames = (size_t)s->frame_count, fit = s->memory / (frames * sizeof *s->track);
    if (fit < 1) fit = 1;
    if (fit > (size_t)s->body_count) fit = (size_t)s->body_count;
    if (!s->track) {
        s->track = mem_alloc(s->context, fit * frames, sizeof *s->track);
        if (!s->track) return fail_memory(error);
        s->track_capacity = fit * frames;
    }
    int count = (int)fit < s->body_count - first ? (int)fit : s->body_count - first;
    for (int64_t f = 0; f < s->frame_count; f++) {
        abut_status status = export_frame_motions(s, f, error);
        if (status != ABUT_OK) return status;
        for (int i = 0; i < count; i++) {
            pose *p = &s->track[(size_t)i * frames + (size_t)f];
            *p = export_pose(&s->bodies[first + i], &s->motions[first + i]);
            if (f > 0) p->rotation = quat_near(p->rotation, p[-1].rotation);
        }
    }
    s->track_first = first, s->track_bodies = count;
    return ABUT_OK;
}

const pose *export_track(export_scene *s, int body, abut_error *error) {
    bool here = s->track_first >= 0 && body >= s->track_first && body < s->track_first + s->track_bodies;
    if (!here && read_tracks(s, body, error) != ABUT_OK) return NULL;
    return s->track + (size_t)(body - s->track_first) * (size_t)s->frame_count;
}

/* Keys of the slots from key_first on go to where the counts say; key_starts moves along while they fill. */
static bool keep_key(void *user, int slot, int64_t frame, export_mark mark) {
    export_scene *s = user;
    int i = slot - s->key_first;
    if (i < 0 || i >= s->key_slots) return true;
    s->keys.data[s->key_starts.data[i]++] = (export_key){frame, mark};
    return true;
}

static abut_status read_keys(export_scene *s, int first, abut_error *error) {
    int64_t most = (int64_t)(s->memory / sizeof(export_key)), total = 0;
    int count = 0;
    s->key_starts.count = 0;
    while (first + count < s->slots.count) {
        int64_t keys = s->slots.data[first + count].keys;
        if (count && total + keys > most) break;
        if (!array_push(s->context, &s->key_starts, total)) return fail_memory(error);
        total += keys, count++;
    }
    if (!array_reserve(s->context, &s->keys, total)) return fail_memory(error);
    s->key_first = first, s->key_slots = count;
    abut_status status = export_walk_slots(s, keep_key, s, error);
    for (int i = 0; i < count; i++) s->key_starts.data[i] -= s->slots.data[first + i].keys;
    if (status != ABUT_OK) s->key_first = -1, s->key_slots = 0;
    return status;
}

const export_key *export_slot_keys(export_scene *s, int slot, abut_error *error) {
    bool here = s->key_first >= 0 && slot >= s->key_first && slot < s->key_first + s->key_slots;
    if (!here && read_keys(s, slot, error) != ABUT_OK) return NULL;
    return s->keys.data + s->key_starts.data[slot - s->key_first];
}
