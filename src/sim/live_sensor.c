/* Sensors: which bodies touch a shape, once when asked, or told after each step as touches begin and end.
 *
 *     before   2  5  9          sorted lists of bodies; what is only in the first ended,
 *     now      2  7  9          what is only in the second began */
#include "sim/live.h"

typedef struct asker {
    const live *w;
    const collider *shape;
    pose at;
    int skip; /* a body that does not count */
    int_array *found;
    bool fine;
} asker;

static void try_body(asker *q, int body) {
    const live *w = q->w;
    manifold found[COLLIDER_ROOM];
    manifold_config config = manifold_default_config();
    if (body == q->skip || w->shape_of[body] < 0) return;
    config.reach = 0;
    int n = collider_collide(q->shape, q->at, w->colliders[w->shape_of[body]], live_pose(w, body), &config,
                             NULL, 0, found, COLLIDER_ROOM);
    bool touches = false;
    for (int k = 0; k < n; k++) touches |= found[k].count > 0;
    if (touches && !array_push(w->context, q->found, body)) q->fine = false;
}

static bool visit(void *user, int32_t item) {
    try_body(user, item);
    return true;
}

/* Fills `found` with the bodies that touch the shape, in ascending order; false: memory is out. */
static bool find_touching(const live *w, const collider *shape, pose at, int skip, int_array *found) {
    asker q = {w, shape, at, skip, found, true};
    found->count = 0;
    if (collider_is_bounded(shape)) {
        for (int64_t k = 0; k < w->unbounded.count; k++) try_body(&q, w->unbounded.data[k]);
        bvh_query(&w->tree, box_grow(collider_bounds(shape, at), w->strayed), visit, &q);
    } else {
        for (int i = 0; i < w->bodies; i++)
            if (w->leaves[i] != BVH_NONE) try_body(&q, i);
    }
    if (q.fine) sort_ints(found->data, found->count);
    return q.fine;
}

/* ---- once */

abut_status abut_live_sense(const abut_sim *run, const abut_shape *shape, abut_pose at, int *bodies,
                            int capacity, int *count, abut_error *error) {
    const live *w = run->live;
    *count = 0;
    if (!w || !w->tree_ready)
        return fail(error, ABUT_INVALID, "a sensor works in a live run after its first step");
    collider *c = NULL;
    int_array found = {0};
    abut_status status = collider_create(w->context, shape, &c, error);
    if (status != ABUT_OK) return status;
    if (!find_touching(w, c, at, -1, &found)) status = fail_memory(error);
    for (int64_t i = 0; status == ABUT_OK && i < found.count && i < capacity; i++) bodies[i] = found.data[i];
    if (status == ABUT_OK) *count = (int)found.count;
    array_free(w->context, &found);
    collider_free(w->context, c);
    return status;
}

/* ---- after each step */

abut_status abut_live_add_sensor(abut_sim *run, const abut_shape *shape, int body, abut_pose at, int *sensor,
                                 abut_error *error) {
    live *w = run->live;
    if (!w) return fail(error, ABUT_INVALID, "a sensor needs a live run; this one is exact");
    if (body < -1 || body >= w->bodies)
        return fail(error, ABUT_INVALID, "a sensor on body %d: there are %d; -1 means the world", body,
                    w->bodies);
    live_sensor fresh = {.body = body, .at = at};
    abut_status status = collider_create(w->context, shape, &fresh.shape, error);
    if (status != ABUT_OK) return status;
    if (!array_push(w->context, &w->sensors, fresh)) {
        collider_free(w->context, fresh.shape);
        return fail_memory(error);
    }
    *sensor = (int)w->sensors.count - 1;
    return ABUT_OK;
}

static bool tell(live *w, int sensor, int body, bool begins) {
    abut_live_sensed e = {sensor, body, begins};
    return array_push(w->context, &w->sensed, e);
}

static bool compare(live *w, int sensor, const int_array *before, const int_array *now) {
    int64_t i = 0, k = 0;
    bool fine = true;
    while (fine && (i < before->count || k < now->count)) {
        int x = i < before->count ? before->data[i] : w->bodies,
            y = k < now->count ? now->data[k] : w->bodies;
        if (x < y) fine = tell(w, sensor, x, false);
        if (y < x) fine = tell(w, sensor, y, true);
        i += x <= y, k += y <= x;
    }
    return fine;
}

bool live_sensors(live *w) {
    w->sensed.count = 0;
    for (int64_t i = 0; i < w->sensors.count; i++) {
        live_sensor *s = &w->sensors.data[i];
        pose at = s->body < 0 ? s->at : pose_mul(live_pose(w, s->body), s->at);
        if (!find_touching(w, s->shape, at, s->body, &s->next)) return false;
        if (!compare(w, (int)i, &s->touching, &s->next)) return false;
        int_array swap = s->touching;
        s->touching = s->next, s->next = swap;
    }
    return true;
}

void live_sensors_free(live *w) {
    for (int64_t i = 0; i < w->sensors.count; i++) {
        live_sensor *s = &w->sensors.data[i];
        collider_free(w->context, s->shape);
        array_free(w->context, &s->touching), array_free(w->context, &s->next);
    }
    array_free(w->context, &w->sensors), array_free(w->context, &w->sensed);
}

int abut_live_sensor_events(const abut_sim *run, const abut_live_sensed **events) {
    *events = run->live ? run->live->sensed.data : NULL;
    return run->live ? (int)run->live->sensed.count : 0;
}

int abut_live_sensor_bodies(const abut_sim *run, int sensor, const int **bodies) {
    *bodies = NULL;
    if (!run->live || sensor < 0 || sensor >= run->live->sensors.count) return 0;
    *bodies = run->live->sensors.data[sensor].touching.data;
    return (int)run->live->sensors.data[sensor].touching.count;
}
