/* The dense output of a recording, looked at again: what one step hands to the next.
 *
 *     ---- step ----|---- step ----|            |---- step ----      of one body
 *                  v- v+           v-    rests   v+
 *
 * Places go on; velocities jump by J / m, J the sum of the impulses that the events of that instant give to
 * the body.  A body that is in no step rests.  Jumps and impulses of one body are put in order of time; those
 * that come within the accuracy of a time belong together, since a step may end there as well. */
#include "record/certify.h"

#include <stdio.h>

/* m (v+ - v-) counted negative, or an impulse. */
typedef struct change {
    double time;
    int32_t body;
    bool impulse;
    bool stepped; /* beside a time step of a storm, behind which places and velocities are corrected */
    vec3 value;
} change;

/* Velocities of contacts that are held are closed without an event (exact_chatter.c), each by no more than
 * the speed of rest; two such closings may come at one instant. */
#define HELD_SPEEDS 2

typedef struct walker {
    abut_segment last;
    double coefficients[ABUT_SEGMENT_NUMBERS * ABUT_SEGMENT_COEFFICIENTS];
    bool begun, straight;
} walker;

typedef struct paths {
    certifier *c;
    walker *walkers;
    bool *looked_at; /* moves, and hangs on no hinge */
    bool storms;
    int64_t frame; /* whose motions are at hand; -1: none */
    ARRAY(change) changes;
    bool out_of_memory;
} paths;

static double same_time(double t) { return 1e-9 * fmax(1, t); }

/* Jumps that would not matter if a thousand of them came together are not kept. */
static void note(paths *p, int body, double time, vec3 jump, bool stepped) {
    double m = abut_model_body_mass(p->c->model, body).mass;
    if (!stepped && vec3_length(jump) < 1e-5 * p->c->out->impulse_limit) return;
    change one = {.time = time, .body = body, .stepped = stepped, .value = vec3_scale(jump, -m)};
    if (!array_push(p->c->context, &p->changes, one)) p->out_of_memory = true;
}

static void note_place(paths *p, int body, double time, vec3 from, vec3 to) {
    abut_certificate *o = p->c->out;
    double off = vec3_distance(from, to);
    if (!(off > o->path_error)) return;
    o->path_error = off, o->path_time = time;
    snprintf(o->path_body, sizeof o->path_body, "%s", abut_model_body_name(p->c->model, body));
}

static bool take_impulse(void *user, const abut_event *e) {
    paths *p = user;
    if (e->kind != ABUT_EVENT_IMPACT && e->kind != ABUT_EVENT_IMPULSE_WITHOUT_IMPACT) return true;
    for (int k = 0; k < 2; k++) {
        if (e->body[k] < 0 || !p->looked_at[e->body[k]]) continue;
        change one = {.time = e->time, .body = e->body[k], .impulse = true};
        one.value = k ? vec3_neg(e->impulse) : e->impulse;
        if (!array_push(p->c->context, &p->changes, one)) p->out_of_memory = true;
    }
    return !p->out_of_memory;
}

/* ---- along the steps */

/* Time steps go straight; so does what nothing pulls, but that matters only where there were storms. */
static bool is_straight(const double *coefficients) {
    for (int k = 0; k < 3; k++)
        for (int i = 2; i < ABUT_SEGMENT_COEFFICIENTS; i++)
            if (coefficients[k * ABUT_SEGMENT_COEFFICIENTS + i] != 0) return false;
    return true;
}

/* The step that the body does next. */
static void go_on(paths *p, int body, const abut_segment *next) {
    walker *w = &p->walkers[body];
    bool straight = p->storms && is_straight(next->coefficients);
    abut_motion now = abut_segment_motion(next, 0, next->start);
    bool at_once = w->begun ? next->start <= w->last.end + same_time(next->start) : next->start <= 0;
    if (w->begun && at_once) {
        abut_motion before = abut_segment_motion(&w->last, 0, fmin(next->start, w->last.end));
        note(p, body, next->start, vec3_sub(now.velocity, before.velocity), straight || w->straight);
        if (!straight && !w->straight) note_place(p, body, next->start, before.center, now.center);
    } else if (w->begun) {
        abut_motion before = abut_segment_motion(&w->last, 0, w->last.end);
        note(p, body, w->last.end, vec3_neg(before.velocity), w->straight);
        note(p, body, next->start, now.velocity, straight);
        if (!w->straight) note_place(p, body, next->start, before.center, now.center);
    } else if (at_once) {
        note(p, body, 0, vec3_sub(now.velocity, p->c->world->bodies[body].velocity), straight);
    } else {
        note(p, body, next->start, now.velocity, straight);
    }
    memcpy(w->coefficients, next->coefficients, sizeof w->coefficients);
    w->last = *next, w->last.coefficients = w->coefficients;
    w->begun = true, w->straight = straight;
}

/* A step that ends with a frame ends where the frame has the body. */
static abut_status meet_frame(paths *p, int body, const abut_segment *step, abut_error *error) {
    double length = p->c->world->frame;
    int64_t frame = (int64_t)(step->end / length + 0.5);
    if (p->walkers[body].straight || frame >= p->c->recording->frame_count ||
        fabs((double)frame * length - step->end) > 1e-12)
        return ABUT_OK;
    abut_status status = ABUT_OK;
    if (frame != p->frame) status = abut_recording_motions(p->c->recording, frame, p->c->motions, error);
    if (status != ABUT_OK) return status;
    p->frame = frame;
    abut_motion end = abut_segment_motion(step, 0, step->end);
    note_place(p, body, step->end, end.center, p->c->motions[body].center);
    return ABUT_OK;
}

/* The numbers of one body in a step that a query stands on. */
static bool read_step(sqlite3_stmt *s, int entry, int body_count, int *body, double *coefficients) {
    const size_t size = sizeof(double) * ABUT_SEGMENT_NUMBERS * ABUT_SEGMENT_COEFFICIENTS;
    int32_t number;
    if ((size_t)sqlite3_column_bytes(s, 4) < ((size_t)entry + 1) * size) return false;
    memcpy(&number, (const char *)sqlite3_column_blob(s, 3) + (size_t)entry * sizeof number, sizeof number);
    memcpy(coefficients, (const char *)sqlite3_column_blob(s, 4) + (size_t)entry * size, size);
    *body = number;
    return number >= 0 && number < body_count;
}

static abut_status walk(paths *p, abut_error *error) {
    abut_recording *r = p->c->recording;
    sqlite3_stmt *s = NULL;
    const char *sql = "SELECT t0, t1, step, bodies, coefficients FROM segment ORDER BY t0, id";
    if (sqlite3_prepare_v2(r->db, sql, -1, &s, NULL) != SQLITE_OK) return recording_damaged(r, error);
    bool damaged = false;
    abut_status status = ABUT_OK;
    while (!damaged && status == ABUT_OK && sqlite3_step(s) == SQLITE_ROW) {
        int count = sqlite3_column_bytes(s, 3) / (int)sizeof(int32_t);
        for (int i = 0; i < count && !damaged && status == ABUT_OK; i++) {
            double numbers[ABUT_SEGMENT_NUMBERS * ABUT_SEGMENT_COEFFICIENTS];
            int body;
            abut_segment step = {.start = sqlite3_column_double(s, 0),
                                 .end = sqlite3_column_double(s, 1),
                                 .step = sqlite3_column_double(s, 2),
                                 .coefficients = numbers};
            damaged = !read_step(s, i, p->c->world->body_count, &body, numbers) || !(step.step > 0);
            if (damaged || !p->looked_at[body]) continue;
            go_on(p, body, &step);
            status = p->out_of_memory ? fail_memory(error) : meet_frame(p, body, &step, error);
        }
    }
    sqlite3_finalize(s);
    if (damaged) return fail_at(error, ABUT_INVALID, r->path, 0, "a step of the dense output is damaged");
    return status;
}

/* What has ended its last step before the recording ends rests since then. */
static void end_walks(paths *p) {
    for (int i = 0; i < p->c->world->body_count; i++) {
        walker *w = &p->walkers[i];
        if (!w->begun || w->last.end >= p->c->recording->end - same_time(p->c->recording->end)) continue;
        note(p, i, w->last.end, vec3_neg(abut_segment_motion(&w->last, 0, w->last.end).velocity),
             w->straight);
    }
}

/* ---- what belongs together */

static int by_body_and_time(const void *user, const void *a, const void *b) {
    (void)user;
    const change *x = a, *y = b;
    if (x->body != y->body) return x->body < y->body ? -1 : 1;
    return x->time < y->time ? -1 : x->time > y->time;
}

static void judge_instant(paths *p, const change *first, int64_t count) {
    vec3 jump = vec3_zero(), impulse = vec3_zero();
    bool stepped = false, struck = false;
    for (int64_t i = 0; i < count; i++) {
        vec3 *sum = first[i].impulse ? &impulse : &jump;
        *sum = vec3_add(*sum, first[i].value);
        stepped = stepped || first[i].stepped, struck = struck || first[i].impulse;
    }
    abut_certificate *o = p->c->out;
    double mass = abut_model_body_mass(p->c->model, first->body).mass;
    double off = vec3_length(vec3_add(jump, impulse)) / mass;
    if (stepped || !(off > o->impulse_error)) return;
    /* a program may have pushed the body between two frames (abut_sim_strike) */
    if (!struck && abut_recording_find_frame(p->c->recording, first->time) >= 0) return;
    o->impulse_error = off, o->impulse_time = first->time;
    snprintf(o->impulse_body, sizeof o->impulse_body, "%s", abut_model_body_name(p->c->model, first->body));
}

static abut_status judge_changes(paths *p, abut_error *error) {
    change *all = p->changes.data;
    int64_t n = p->changes.count;
    if (!sort_stable(p->c->context, all, (size_t)n, sizeof *all, by_body_and_time, NULL))
        return fail_memory(error);
    for (int64_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && all[k].body == all[i].body; k++)
            if (all[k].time - all[k - 1].time > same_time(all[k].time)) break;
        judge_instant(p, all + i, k - i);
    }
    return ABUT_OK;
}

abut_status certify_paths(certifier *c, abut_error *error) {
    size_t n = (size_t)c->world->body_count + 1;
    c->out->impulse_limit = HELD_SPEEDS * abut_model_tolerances(c->model).rest_speed;
    if (c->world->mode == ABUT_LIVE) return ABUT_OK;
    const char *stepped = abut_recording_meta(c->recording, "time_stepped_s");
    paths p = {.c = c, .frame = -1, .storms = !stepped || strcmp(stepped, "0") != 0};
    p.walkers = mem_calloc(c->context, n, sizeof *p.walkers);
    p.looked_at = mem_calloc(c->context, n, sizeof *p.looked_at);
    abut_status status = p.walkers && p.looked_at ? ABUT_OK : fail_memory(error);
    for (int i = 0; i < c->world->body_count && status == ABUT_OK; i++) p.looked_at[i] = certify_moves(c, i);
    for (int i = 0; i < c->world->hinge_count && status == ABUT_OK; i++)
        for (int k = 0; k < 2; k++) {
            int body = k ? c->world->hinges[i].b : c->world->hinges[i].a;
            if (body >= 0) p.looked_at[body] = false;
        }
    if (status == ABUT_OK) status = abut_recording_events(c->recording, take_impulse, &p, error);
    if (status == ABUT_OK) status = walk(&p, error);
    if (status == ABUT_OK) end_walks(&p);
    if (status == ABUT_OK) status = p.out_of_memory ? fail_memory(error) : judge_changes(&p, error);
    mem_free(c->context, p.walkers, n, sizeof *p.walkers);
    mem_free(c->context, p.looked_at, n, sizeof *p.looked_at);
    array_free(c->context, &p.changes);
    return status;
}
