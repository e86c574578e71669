/* How deep two smooth surfaces overlap, without the places that the clock looks for: the samples of each, all
 * over its patches, against the signed distance from the other, so that bodies which meet only in curves are
 * seen, too, and normals, curvatures and Newton's method for two surfaces have no part in it.
 *
 *   cells of x   down its tree where a part of y is as near as the cell is large
 *   samples      of the last of them: the distance from y by the second order of its cells
 *   descents     from the deepest sample of each of these cells to where x is deepest in y near it, where
 * that can be inside: what lies between the samples judged       by the closest point of the whole surface y
 * (abut_surface_closest), at the ends
 *
 * Where no part of y is near any of x, a point of x tells whether it lies in y as a whole. */
#include "contact/smooth.h"
#include "sim/start.h"

/* The deepest sample of a cell of x, below the bulge of its patch. */
typedef struct deepest {
    const smooth_sample *sample;
    int patch;
    double distance, radius; /* from y; of the cell */
    abut_surface_point foot;
} deepest;

typedef struct auditor {
    checker *checker;
    const contact_shape *x, *y;
    motion mx, my;
    pose x_in_y;
    double least, depth; /* the deepest, deeper than least; */
    vec3 at, away;       /* where, and the way out of y */
    ARRAY(deepest) found;
    bool near; /* some part of y is near some of x */
    abut_status status;
    abut_error *error;
    /* at work: a point in axes of y, how far to look, and the nearest found */
    vec3 point;
    double limit, nearest, distance, bent; /* bent: the largest curvature of y around the nearest */
    abut_surface_point foot;
    vec3 normal;             /* there */
    const smooth_cell *last; /* of y: where the point before was nearest */
    bool any;
} auditor;

static abut_status ready_tree(checker *c, const abut_surface *surface, const abut_surface_tree **tree,
                              abut_error *error) {
    for (int64_t i = 0; i < c->surfaces.count; i++)
        if (c->surfaces.data[i].surface == surface) {
            *tree = c->surfaces.data[i].tree;
            return ABUT_OK;
        }
    ready_surface r = {.surface = surface};
    abut_status status = abut_surface_tree_build(c->context, surface, &r.tree, error);
    if (status != ABUT_OK) return status;
    *tree = r.tree;
    if (array_push(c->context, &c->surfaces, r)) return ABUT_OK;
    abut_surface_tree_free(c->context, r.tree);
    return fail_memory(error);
}

/* Depth of a point of x (from its centre of mass) in y, which is closed; negative outside. */
static abut_status depth_in(auditor *a, vec3 point, double *depth, vec3 *normal) {
    const abut_surface_tree *tree = NULL;
    abut_status status = ready_tree(a->checker, a->y->atlas, &tree, a->error);
    if (status != ABUT_OK) return status;
    vec3 x = vec3_add(pose_point(a->x_in_y, point), a->y->center);
    abut_closest near = abut_surface_closest(a->y->atlas, tree, x);
    abut_partials d;
    *depth = 0;
    if (!abut_surface_evaluate(a->y->atlas, near.place.patch, near.place.u, near.place.v, 1, &d))
        return ABUT_OK; /* an extraordinary vertex, which has no normal */
    *normal = abut_partials_normal(&d);
    *depth = vec3_dot(*normal, vec3_sub(x, near.point)) < 0 ? near.distance : -near.distance;
    return ABUT_OK;
}

/* ---- what is near a point */

static bool is_within(const auditor *a, const smooth_cell *c) {
    double far = a->limit + c->radius;
    return vec3_length2(vec3_sub(a->point, c->center)) <= far * far;
}

/* The foot on a last cell, if it lies in it: beyond, its second order tells nothing. */
static void stand_on(auditor *a, const smooth_cell *c) {
    smooth_foot f;
    if (!c->regular || !smooth_foot_find(c, &c->p, a->point, &f)) return;
    vec3 d = vec3_sub(a->point, f.p.c);
    double apart = vec3_length(d), far = 1.2 * c->size;
    if (apart >= a->nearest || f.step[0] * f.step[0] + f.step[1] * f.step[1] > far * far) return;
    vec3 n = abut_partials_normal(&f.p);
    a->nearest = apart, a->distance = vec3_dot(d, n), a->normal = n;
    a->limit = fmin(a->limit, apart);
    a->bent = fmax(fabs(c->least), fabs(c->most));
    a->foot = (abut_surface_point){c->patch, c->u + f.step[0], c->v + f.step[1]};
    a->last = c;
}

static void look_down(auditor *a, const smooth_cell *c) {
    if (c == a->last || !is_within(a, c)) return;
    for (int i = 0; i < c->count; i++) look_down(a, &a->y->smooth->cells.data[c->first + i]);
    if (c->count == 0) stand_on(a, c);
}

static bool visit_below(void *user, int32_t patch) {
    auditor *a = user;
    look_down(a, &a->y->smooth->cells.data[patch]);
    return true;
}

static bool touches_any(const auditor *a, const smooth_cell *c) {
    if (!is_within(a, c)) return false;
    for (int i = 0; i < c->count; i++)
        if (touches_any(a, &a->y->smooth->cells.data[c->first + i])) return true;
    return c->count == 0;
}

static bool visit_near(void *user, int32_t patch) {
    auditor *a = user;
    a->any = touches_any(a, &a->y->smooth->cells.data[patch]);
    return !a->any;
}

/* The patches of y within `limit` of the point (of x, from its centre of mass). */
static void look_around(auditor *a, vec3 point, double limit, box_tree_one *visit) {
    a->point = pose_point(a->x_in_y, point), a->limit = limit;
    a->nearest = a->distance = INFINITY, a->any = false;
    if (visit == visit_below && a->last && is_within(a, a->last)) stand_on(a, a->last);
    vec3 r = vec3_make(a->limit, a->limit, a->limit);
    box_tree_query(&a->y->faces, (box){vec3_sub(a->point, r), vec3_add(a->point, r)}, visit, a);
}

/* ---- samples and descents */

/* Whether the point of x lies in y. */
static bool judge(auditor *a, vec3 point) {
    double depth = 0;
    vec3 normal = vec3_zero();
    abut_status status = depth_in(a, point, &depth, &normal);
    if (status != ABUT_OK) a->status = status;
    if (depth > a->least && depth > a->depth) {
        a->depth = depth, a->at = vec3_add(a->mx.center, quat_rotate(a->mx.rotation, point));
        a->away = quat_rotate(a->my.rotation, normal);
    }
    return depth > a->least;
}

/* From a sample down to the deepest point near it. */
static void go_down(auditor *a, const deepest *from) {
    element x = {.kind = ELEMENT_PATCH, .p = vec3_neg(a->x->center), .patch = from->patch},
            y = {.kind = ELEMENT_PATCH, .p = vec3_neg(a->y->center), .patch = from->foot.patch};
    x.u = from->sample->u, x.v = from->sample->v, y.u = from->foot.u, y.v = from->foot.v;
    abut_partials p, q;
    if (!smooth_descend_between(a->x, &x, &a->mx, a->y, &y, &a->my) ||
        !abut_surface_evaluate(a->x->atlas, x.patch, x.u, x.v, 0, &p) ||
        !abut_surface_evaluate(a->y->atlas, y.patch, y.u, y.v, 1, &q)) {
        judge(a, from->sample->at);
        return;
    }
    vec3 at = vec3_add(p.c, x.p);
    vec3 d = vec3_sub(pose_point(a->x_in_y, at), vec3_add(q.c, y.p));
    /* behind this side of y may be outside again, beyond a thin wall that x goes through: then the sample */
    if (vec3_dot(d, abut_partials_normal(&q)) < -a->least && !judge(a, at)) judge(a, from->sample->at);
}

/* Whether all of a last cell lies outside: the middle does, farther than the cell reaches towards y and than
 * y leaves its tangent plane below it. */
static bool is_outside(auditor *a, const smooth_cell *c) {
    if (!c->regular) return false;
    look_around(a, c->p.c, 2 * c->radius, visit_below);
    if (!isfinite(a->distance)) return false;
    double angle = vec3_dot(pose_vector(a->x_in_y, c->axis), a->normal);
    double reaches = 2 * fabs(angle) * c->thickness + sqrt(fmax(1 - angle * angle, 0)) * c->radius;
    return a->distance > reaches + 0.5 * a->bent * c->radius * c->radius;
}

/* The samples of a last cell.  Between them the patch can be lower by its bulge. */
static void look_at_samples(auditor *a, const smooth_cell *c) {
    const smooth_samples *all = a->x->smooth;
    const smooth_bounds *bounds = &all->bounds[c->patch];
    deepest d = {.patch = c->patch, .distance = INFINITY, .radius = c->radius};
    for (int32_t i = all->first[c->patch]; i < all->first[c->patch + 1]; i++) {
        const smooth_sample *s = &all->samples[i];
        if (fabs(s->u - c->u) > c->size || fabs(s->v - c->v) > c->size) continue;
        look_around(a, s->at, fmin(c->radius, bounds->pitch), visit_below);
        if (a->distance < d.distance) d.distance = a->distance, d.sample = s, d.foot = a->foot;
    }
    if (d.distance <= bounds->bulge && !array_push(a->checker->context, &a->found, d))
        a->status = fail_memory(a->error);
}

/* Whether a cell beside it has a deeper sample (of equals: the first). */
static bool is_beaten(const auditor *a, int64_t k) {
    const deepest *d = &a->found.data[k];
    for (int64_t i = 0; i < a->found.count; i++) {
        const deepest *e = &a->found.data[i];
        bool deeper = e->distance < d->distance || (e->distance == d->distance && i < k);
        if (deeper && vec3_distance(e->sample->at, d->sample->at) <= d->radius + e->radius) return true;
    }
    return false;
}

static void search_cell(auditor *a, const smooth_cell *c) {
    look_around(a, c->center, c->radius, visit_near);
    if (!a->any || a->status != ABUT_OK) return;
    a->near = true;
    for (int i = 0; i < c->count; i++) search_cell(a, &a->x->smooth->cells.data[c->first + i]);
    if (c->count == 0 && !is_outside(a, c)) look_at_samples(a, c);
}

/* The samples of x in y. */
static abut_status depth_of(checker *c, int x, int y, double least, auditor *a, abut_error *error) {
    const contact_shape *sx = &c->model->bodies[x].shape, *sy = &c->model->bodies[y].shape;
    *a =
        (auditor){.checker = c, .x = sx, .y = sy, .mx = start_of(c, x), .my = start_of(c, y), .error = error};
    if (!abut_surface_is_closed(sy->atlas)) return ABUT_OK;
    pose px = {a->mx.center, a->mx.rotation}, py = {a->my.center, a->my.rotation};
    a->x_in_y = pose_relative(px, py), a->least = least;
    for (int i = 0; i < sx->smooth->patch_count; i++) search_cell(a, &sx->smooth->cells.data[i]);
    for (int64_t i = 0; i < a->found.count && a->status == ABUT_OK; i++)
        if (!is_beaten(a, i)) go_down(a, &a->found.data[i]);
    if (!a->near) judge(a, sx->smooth->samples[0].at);
    array_free(c->context, &a->found);
    return a->status;
}

abut_status audit_surfaces_depth(checker *c, int a, int b, double least, double *depth, vec3 *at, vec3 *away,
                                 abut_error *error) {
    for (int k = 0; k < 2; k++) {
        auditor u;
        abut_status status = depth_of(c, k ? b : a, k ? a : b, least, &u, error);
        if (status != ABUT_OK) return status;
        if (u.depth > *depth) *depth = u.depth, *at = u.at, *away = k ? vec3_neg(u.away) : u.away;
    }
    return ABUT_OK;
}
