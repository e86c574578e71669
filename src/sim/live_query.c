/* Questions between two steps: rays, points, shapes that move, against all bodies where they are
 * now.
 *
 * The tree holds the boxes that the last step began with; bodies have moved by at most `strayed` since. */
#include "contact/cast.h"
#include "sim/live.h"

typedef struct asker {
    const live *w;
    vec3 origin, d;
    int skip; /* a body that does not count */
    abut_live_hit *hit;
    bool found;
} asker;

static const collider *collider_of(const live *w, int body) { return w->colliders[w->shape_of[body]]; }

/* ---- rays */

static double try_ray(asker *a, int body, double limit) {
    cast_hit h;
    if (!cast_ray(collider_of(a->w, body), live_pose(a->w, body), a->origin, a->d, limit, &h)) return limit;
    /* of equally near bodies the one with the smallest number */
    if (a->found && (h.t > a->hit->t || (h.t == a->hit->t && body > a->hit->body))) return limit;
    *a->hit = (abut_live_hit){body, h.t, h.point, h.normal};
    a->found = true;
    return h.t;
}

static double visit_ray(void *user, int32_t item, double limit) {
    asker *a = user;
    double t = try_ray(a, item, limit);
    return t > 0 ? t : 1e-300;
}

bool abut_live_cast_ray(const abut_sim *run, abut_vec3 origin, abut_vec3 direction, double limit,
                        abut_live_hit *hit) {
    const live *w = run->live;
    double length = vec3_length(direction);
    if (!w || !w->tree_ready || !(length > 0) || !isfinite(length) || !(limit >= 0) ||
        !vec3_is_finite(origin))
        return false;
    asker a = {.w = w, .origin = origin, .d = vec3_scale(direction, 1 / length), .hit = hit};
    double far = isfinite(limit) ? limit : 1e30;
    for (int64_t k = 0; k < w->unbounded.count; k++) far = try_ray(&a, w->unbounded.data[k], far);
    bvh_ray(&w->tree, origin, a.d, far, w->strayed, visit_ray, &a);
    return a.found;
}

/* ---- points: the nearest body */

static void try_point(asker *a, int body, double limit) {
    cast_hit h;
    double reach = a->found ? a->hit->t : limit;
    if (!cast_point(collider_of(a->w, body), live_pose(a->w, body), a->origin, reach, &h)) return;
    if (a->found && (h.t > a->hit->t || (h.t == a->hit->t && body > a->hit->body))) return;
    *a->hit = (abut_live_hit){body, h.t, h.point, h.normal};
    a->found = true;
}

typedef struct point_asker {
    asker a;
    double limit;
} point_asker;

static bool visit_point(void *user, int32_t item) {
    point_asker *p = user;
    try_point(&p->a, item, p->limit);
    return true;
}

bool abut_live_cast_point(const abut_sim *run, abut_vec3 point, double limit, abut_live_hit *hit) {
    const live *w = run->live;
    if (!w || !w->tree_ready || !(limit >= 0) || !isfinite(limit) || !vec3_is_finite(point)) return false;
    point_asker p = {{.w = w, .origin = point, .hit = hit}, limit};
    for (int64_t k = 0; k < w->unbounded.count; k++) try_point(&p.a, w->unbounded.data[k], limit);
    bvh_query(&w->tree, box_grow((box){point, point}, limit + w->strayed), visit_point, &p);
    return p.a.found;
}

/* ---- shapes */

typedef struct shape_asker {
    const live *w;
    const collider *shape;
    cast_sweep sweep;
    abut_live_hit *hit;
    bool found;
} shape_asker;

static void try_sweep(shape_asker *s, int body) {
    pose p = live_pose(s->w, body);
    cast_sweep still = {p, p, s->w->body[body].center};
    abut_convex_cache cache = {0};
    cast_hit h;
    if (!cast_toi(s->shape, &s->sweep, collider_of(s->w, body), &still, 1e-6 * s->w->size, &cache, &h))
        return;
    if (s->found && (h.t > s->hit->t || (h.t == s->hit->t && body > s->hit->body))) return;
    *s->hit = (abut_live_hit){body, h.t, h.point, h.normal};
    s->found = true;
}

static bool visit_sweep(void *user, int32_t item) {
    try_sweep(user, item);
    return true;
}

abut_status abut_live_cast_shape(const abut_sim *run, const abut_shape *shape, abut_pose from, abut_pose to,
                                 abut_live_hit *hit, bool *found, abut_error *error) {
    const live *w = run->live;
    *found = false;
    if (!w || !w->tree_ready)
        return fail(error, ABUT_INVALID, "shapes are cast in a live run after its first step");
    collider *c = NULL;
    abut_status status = collider_create(w->context, shape, &c, error);
    if (status != ABUT_OK) return status;
    shape_asker s = {.w = w, .shape = c, .sweep = {from, to, vec3_zero()}, .hit = hit};
    for (int64_t k = 0; k < w->unbounded.count; k++) try_sweep(&s, w->unbounded.data[k]);
    box b = box_union(collider_bounds(c, from), collider_bounds(c, to));
    /* turning on the way reaches no farther than the shape's radius about its origin */
    double r = collider_radius(c, vec3_zero());
    b = box_union(b, box_grow(box_add_point(box_add_point(box_empty(), from.position), to.position), r));
    bvh_query(&w->tree, box_grow(b, w->strayed), visit_sweep, &s);
    collider_free(w->context, c);
    *found = s.found;
    return ABUT_OK;
}
