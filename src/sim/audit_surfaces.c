/* How deep two smooth surfaces overlap, without the places that the clock looks for: the samples of the finer
 * one, x, all over its patches, against the signed distance from the other, y, so that bodies which meet only
 * in curves are seen, too, and Newton's method for two surfaces has no part in it.
 *
 *   cells of x   that can meet a cell of y: neither their balls nor the slabs they lie in are apart
 *   samples      of these: the distance from y by the second order of its cells
 *   descents     from the deepest sample of each of these cells to where x is deepest in y near it, where
 *                that can be inside: what lies between the samples
 *   judged       by the closest point of the whole surface y (abut_surface_closest), at the ends
 *
 * Where no cells can meet, a point of x tells whether it lies in y as a whole. */
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
    ARRAY(const smooth_cell *) meeting; /* last cells of x that can meet one of y */
    bool met;                           /* there are some */
    mat3 turn;                          /* of x_in_y */
    abut_status status;
    abut_error *error;
    /* at work: a point in axes of y, how far to look, and the nearest found */
    vec3 point;
    double limit, nearest, distance, bent; /* bent: the largest curvature of y around the nearest */
    abut_surface_point foot;
    vec3 normal;             /* there */
    const smooth_cell *last; /* of y: where the point before was nearest */
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

/* The nearest of y within `limit` of the point (of x, from its centre of mass). */
static void look_around(auditor *a, vec3 point, double limit) {
    a->point = pose_point(a->x_in_y, point), a->limit = limit;
    a->nearest = a->distance = INFINITY;
    if (a->last && is_within(a, a->last)) stand_on(a, a->last);
    vec3 r = vec3_make(a->limit, a->limit, a->limit);
    box_tree_query(&a->y->faces, (box){vec3_sub(a->point, r), vec3_add(a->point, r)}, visit_below, a);
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

/* The least of f + g s + k s^2 / 2 where |s| <= r. */
static double least_of(double f, double g, double k, double r) {
    return k * r > g ? f - g * g / (2 * k) : f - g * r + k * r * r / 2;
}

/* Whether all of a last cell lies outside.  The middle does, at the distance f, where the distance rises by
 * g, and bends by no less than the least curvatures of both add up to; or, where the part of y below may be
 * smaller than the cell, the middle is farther than the cell reaches towards y and than y leaves its tangent
 * plane. */
static bool is_outside(auditor *a, const smooth_cell *c) {
    if (!c->regular) return false;
    look_around(a, c->p.c, 2 * c->radius);
    if (!isfinite(a->distance)) return false;
    double cosine = -vec3_dot(pose_vector(a->x_in_y, abut_partials_normal(&c->p)), a->normal);
    if (a->last->radius >= c->radius && cosine > 0.5) {
        double g = sqrt(fmax(1 - cosine * cosine, 0)) / cosine, k = c->least + a->last->least;
        if (isfinite(k))
            return least_of(a->distance, g, k, c->radius) > 0.05 * fabs(k) * c->radius * c->radius;
    }
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
        look_around(a, s->at, fmin(c->radius, bounds->pitch));
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

/* ---- cells that can meet */

/* Whether d is longer along the axis of the cell k than it and the cell `other` reach, whose axes make an
 * angle of the cosine c. */
static bool slab_parts(const smooth_cell *k, vec3 axis, const smooth_cell *other, double c, vec3 d) {
    double reach = k->thickness + fabs(c) * other->thickness + sqrt(fmax(1 - c * c, 0)) * other->radius;
    return fabs(vec3_dot(d, axis)) > reach;
}

static bool can_meet(const auditor *a, const smooth_cell *x, const smooth_cell *y) {
    vec3 d = vec3_sub(vec3_add(mat3_mul_vec(a->turn, x->center), a->x_in_y.position), y->center);
    double radii = x->radius + y->radius;
    if (vec3_length2(d) > radii * radii) return false;
    vec3 axis = mat3_mul_vec(a->turn, x->axis);
    double c = vec3_dot(axis, y->axis);
    return !slab_parts(y, y->axis, x, c, d) && !slab_parts(x, axis, y, c, d);
}

static bool add_meeting(auditor *a, const smooth_cell *c) {
    for (int64_t i = 0; i < a->meeting.count; i++)
        if (a->meeting.data[i] == c) return true;
    if (!array_push(a->checker->context, &a->meeting, c)) a->status = fail_memory(a->error);
    return a->status == ABUT_OK;
}

static bool meet(auditor *a, const smooth_cell *x, const smooth_cell *y) {
    if (!can_meet(a, x, y)) return true;
    if (x->count == 0 && y->count == 0) return add_meeting(a, x);
    bool part_x = y->count == 0 || (x->count > 0 && x->radius >= y->radius);
    const smooth_cell *parts =
        part_x ? &a->x->smooth->cells.data[x->first] : &a->y->smooth->cells.data[y->first];
    for (int i = 0; i < (part_x ? x : y)->count; i++)
        if (!(part_x ? meet(a, &parts[i], y) : meet(a, x, &parts[i]))) return false;
    return true;
}

static bool two_patches(void *user, int32_t i, int32_t j) {
    auditor *a = user;
    return meet(a, &a->x->smooth->cells.data[i], &a->y->smooth->cells.data[j]);
}

static void search_cells(auditor *a) {
    box_tree_pairs(&a->x->faces, &a->y->faces, pose_inverse(a->x_in_y), 0, two_patches, a);
    a->met = a->meeting.count > 0;
    for (int64_t i = 0; i < a->meeting.count && a->status == ABUT_OK; i++)
        if (!is_outside(a, a->meeting.data[i])) look_at_samples(a, a->meeting.data[i]);
}

enum { VOTES = 5 };

/* Nothing meets: all points of x lie in y, or none.  The cells of y tell of some, by the nearest foot; where
 * they do not say that these are outside, the closest point of the whole surface decides. */
static void judge_all(auditor *a) {
    const smooth_samples *all = a->x->smooth;
    int32_t count = all->first[all->patch_count];
    int outside = 0;
    for (int32_t i = 0; i < VOTES; i++) {
        vec3 at = all->samples[(int64_t)count * i / VOTES].at, p = pose_point(a->x_in_y, at);
        if (!box_overlap(a->y->bounds, (box){p, p})) return;
        look_around(a, at, 2 * a->y->radius);
        if (isfinite(a->distance)) outside += a->distance > 0 ? 1 : -1;
    }
    if (outside <= 0) judge(a, all->samples[0].at);
}

static bool begin(checker *c, int x, int y, double least, auditor *a, abut_error *error) {
    const contact_shape *sx = &c->model->bodies[x].shape, *sy = &c->model->bodies[y].shape;
    *a =
        (auditor){.checker = c, .x = sx, .y = sy, .mx = start_of(c, x), .my = start_of(c, y), .error = error};
    pose px = {a->mx.center, a->mx.rotation}, py = {a->my.center, a->my.rotation};
    a->x_in_y = pose_relative(px, py), a->least = least;
    a->turn = quat_matrix(a->x_in_y.rotation);
    return abut_surface_is_closed(sy->atlas);
}

/* The samples of x in y. */
static void search(auditor *a) {
    search_cells(a);
    for (int64_t i = 0; i < a->found.count && a->status == ABUT_OK; i++)
        if (!is_beaten(a, i)) go_down(a, &a->found.data[i]);
    array_free(a->checker->context, &a->found);
    array_free(a->checker->context, &a->meeting);
}

/* Mean distance of neighbouring samples. */
static double pitch_of(const contact_shape *s) {
    double sum = 0;
    for (int i = 0; i < s->smooth->patch_count; i++) sum += s->smooth->bounds[i].pitch;
    return sum / s->smooth->patch_count;
}

/* Where two bodies overlap, a part of the boundary of each lies in the other, or all of one body: so the
 * samples of one of them tell, the finer; of an open surface, which has no inside, those of the other do not.
 */
abut_status audit_surfaces_depth(checker *c, int a, int b, double least, double *depth, vec3 *at, vec3 *away,
                                 abut_error *error) {
    const contact_shape *sa = &c->model->bodies[a].shape, *sb = &c->model->bodies[b].shape;
    bool closed = abut_surface_is_closed(sb->atlas);
    bool turned = !closed || (abut_surface_is_closed(sa->atlas) && pitch_of(sb) < pitch_of(sa));
    auditor u;
    if (!begin(c, turned ? b : a, turned ? a : b, least, &u, error)) return ABUT_OK;
    search(&u);
    for (int k = 0; k < 2 && !u.met && u.status == ABUT_OK && u.depth == 0; k++) {
        if (k == 1) turned = !turned;
        if (k == 1 && !begin(c, turned ? b : a, turned ? a : b, least, &u, error)) break;
        judge_all(&u);
    }
    if (u.depth > *depth) *depth = u.depth, *at = u.at, *away = turned ? vec3_neg(u.away) : u.away;
    return u.status;
}
