/* The end of a time step: what overlaps is pushed out.
 *
 *   caught   places that ran over a corner within the step, where the bodies face each other nowhere
 *   at once  all pressed places back to gap 0 by one mass-weighted projection (exact_correct.c)
 *   one by one, by sweeps, where places that nearly depend on each other would move the bodies far */
#include "sim/exact.h"

enum { PUSH_ROUNDS = 12, SWEEP_ROUNDS = 4, SWEEPS = 30 };

/* The farthest point of a feature along n, in the world; of a face the plane across n through `at` stands for
 * it, the plane in which the two bodies touched. */
static double reach_along(const exact *x, int body, const element *e, vec3 n, vec3 at) {
    const motion *m = &x->motions[body];
    if (e->kind == ELEMENT_PLANE) return vec3_dot(n, at);
    vec3 far = element_farthest(e, quat_unrotate(m->rotation, n));
    return vec3_dot(n, vec3_add(m->center, quat_rotate(m->rotation, far)));
}

/* What overlaps by d does so in every direction.  Two plates that slid on each other and have parted are
 * apart across the plane that they touched in, however far their edges have passed each other along it: an
 * edge of a pin's shoulder that was taken for d = 0.6 mm deep pushed the pin through the arms that it holds.
 */
static bool is_apart(const exact *x, const exact_near *n, const abut_event *lost, double depth) {
    const element *e[2] = {&n->pair.a, &n->pair.b};
    for (int i = 0; i < 2; i++)
        if (e[i]->kind != ELEMENT_PLANE && !element_is_convex(e[i])) return false;
    double low = -reach_along(x, n->a, &n->pair.a, vec3_neg(lost->normal), lost->point);
    double high = reach_along(x, n->b, &n->pair.b, lost->normal, lost->point);
    return low - high > -fmax(4 * x->model->tolerance.touching, 0.1 * depth);
}

/* Whether a near pair has the overlap of two bodies whose places ran over a corner within the step.  Bodies
 * that overlap by d face each other nowhere there: places on both sides of the corner lie beyond its ends, by
 * d times the tangent of the angle at which it is passed. */
static bool is_behind_corner(const exact *x, const exact_near *n, const abut_event *lost) {
    double epsilon = x->model->tolerance.touching;
    contact_point p;
    bool faces;
    if (smooth_is_pair(&n->pair) || !exact_near_at(x, n, &p, NULL)) return false;
    if (p.gap > -0.05 * epsilon || p.gap < -4 * epsilon - exact_unseen_depth(x, n->meeting)) return false;
    if (is_apart(x, n, lost, -p.gap)) return false;
    return near_evaluate(&n->pair, &x->model->bodies[x->bodies[n->a]].shape, &x->motions[n->a],
                         &x->model->bodies[x->bodies[n->b]].shape, &x->motions[n->b], epsilon - 2 * p.gap, &p,
                         &faces) &&
           faces;
}

static bool touch_each_other(const exact *x, int a, int b) {
    for (int64_t i = 0; i < x->contacts.count; i++)
        if (x->contacts.data[i].a == a && x->contacts.data[i].b == b) return true;
    return false;
}

bool exact_catch_lost(exact *x, const pair_marks *before) {
    for (int k = 0; k < before->count; k++) {
        int a = before->items[k].a, b = before->items[k].b;
        if (touch_each_other(x, a, b)) continue;
        for (int64_t i = 0; i < x->nears.count; i++) {
            exact_near *n = &x->nears.data[i];
            if (n->a != a || n->b != b || !is_behind_corner(x, n, &before->items[k].lost)) continue;
            if (!exact_add_touch(x, n)) return false;
            x->contacts.data[x->contacts.count - 1].pressed = true;
        }
    }
    return true;
}

/* What overlaps at the end of the step, where its features still face each other, is pressed too. */
static bool press_overlaps(exact *x) {
    bool any = false;
    for (int64_t i = 0; i < x->contacts.count; i++) {
        group_contact *c = &x->contacts.data[i];
        exact_near n = {.pair = x->touches.data[i].pair, .a = c->a, .b = c->b};
        contact_point p;
        bool faces;
        if (c->pressed || !exact_near_at(x, &n, &p, &faces) || !faces) continue;
        if (p.gap < -0.05 * x->model->tolerance.touching) c->pressed = any = true;
    }
    return any;
}

/* ---- all at once */

static abut_status push_out(exact *x, abut_error *error) {
    press_overlaps(x);
    for (int round = 0; round < PUSH_ROUNDS; round++) {
        abut_status status = exact_correct_positions(x, x->time, error);
        if (status == ABUT_FAILED) status = exact_drop_degenerate(x, error); /* it lost its single place */
        /* what is pushed out of one body may be pushed into another that it did not touch before */
        if (status == ABUT_OK) status = exact_update_touches(x, false, 0, error);
        if (status != ABUT_OK || !press_overlaps(x)) return status;
    }
    return ABUT_OK;
}

/* How far the farthest surface is from where the bodies were. */
static double farthest_shift(const exact *x, const motion *before) {
    double most = 0;
    for (int i = 0; i < x->movable; i++) {
        double r = x->model->bodies[x->bodies[i]].shape.radius;
        quat d = quat_mul(x->motions[i].rotation, quat_conj(before[i].rotation));
        double turn = 2 * sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
        most = fmax(most, vec3_distance(x->motions[i].center, before[i].center) + r * turn);
    }
    return most;
}

/* ---- one by one */

/* A hinge row is brought to zero, a gap to zero or more. */
typedef struct pushed_row {
    row r;
    double wrong, mobility; /* C before, J M^-1 J^T */
    bool both;
} pushed_row;

static double mobility_of(const exact *x, const row *r) {
    double sum = 0;
    if (r->a >= 0)
        sum += spatial_dot(r->ja, body_apply(&x->inertias[r->a], x->motions[r->a].rotation, r->ja));
    if (r->b >= 0)
        sum += spatial_dot(r->jb, body_apply(&x->inertias[r->b], x->motions[r->b].rotation, r->jb));
    return sum;
}

static int list_rows(exact *x, pushed_row *list) {
    group g = exact_group(x);
    int count = 0;
    for (int i = 0; i < x->row_count; i++)
        if (isinf(x->rows[i].lo) && isinf(x->rows[i].hi))
            list[count++] = (pushed_row){.r = x->rows[i], .wrong = x->rows[i].error, .both = true};
    for (int64_t i = 0; i < x->contacts.count; i++)
        if (x->contacts.data[i].pressed)
            list[count++] = (pushed_row){.r = group_normal_row(&g, &x->contacts.data[i]),
                                         .wrong = x->contacts.data[i].point.gap};
    for (int i = 0; i < count; i++) list[i].mobility = mobility_of(x, &list[i].r);
    return count;
}

/* d += M^-1 J^T f,  f = -(C + J d) / (J M^-1 J^T), only where a gap is negative */
static void sweep(const exact *x, const pushed_row *p, spatial *d) {
    double wrong = p->wrong + row_dot(&p->r, d);
    if (!(p->mobility > 0) || (!p->both && wrong >= 0)) return;
    double f = -wrong / p->mobility;
    const int bodies[2] = {p->r.a, p->r.b};
    const spatial parts[2] = {p->r.ja, p->r.jb};
    for (int k = 0; k < 2; k++) {
        int i = bodies[k];
        if (i < 0) continue;
        d[i] = spatial_add(d[i],
                           body_apply(&x->inertias[i], x->motions[i].rotation, spatial_scale(parts[k], f)));
    }
}

static abut_status sweep_out(exact *x, abut_error *error) {
    double powers[2];
    for (int round = 0; round < SWEEP_ROUNDS; round++) {
        abut_status status = exact_prepare(x, x->time, powers, error);
        if (status != ABUT_OK) return status == ABUT_FAILED ? ABUT_OK : status;
        size_t n = (size_t)x->contacts.count + (size_t)x->row_count + 1;
        pushed_row *list = arena_alloc(x->arena, n, sizeof *list);
        spatial *d = arena_alloc(x->arena, (size_t)x->count + 1, sizeof *d);
        if (!list || !d) return fail_memory(error);
        int count = list_rows(x, list);
        for (int k = 0; k < SWEEPS; k++)
            for (int i = 0; i < count; i++) sweep(x, &list[i], d);
        for (int i = 0; i < x->movable; i++) project_displace(&x->motions[i], d[i]);
        exact_count_shift(x, d);
        exact_forget_places(x);
        status = exact_update_touches(x, false, 0, error);
        if (status != ABUT_OK) return status;
        press_overlaps(x);
    }
    return ABUT_OK;
}

/* What the hinges miss, with what they missed before. */
static abut_status measure_hinges(exact *x, double missed, abut_error *error) {
    double powers[2];
    abut_status status = exact_apply(x, x->time, powers, error);
    for (int i = 0; i < x->row_count && status == ABUT_OK; i++)
        if (isinf(x->rows[i].lo) && isinf(x->rows[i].hi)) missed = fmax(missed, fabs(x->rows[i].error));
    x->account->constraint_error = missed;
    return status;
}

/* ---- the call */

/* Places that nearly depend on each other ask for a shift far larger than what they overlap by: one of more
 * than a twentieth of what could pass unseen in the step is taken back, unless it is within eight times the
 * overlap itself, which is what a body that turns out of the way may move. */
abut_status exact_push_out(exact *x, abut_error *error) {
    motion *before = arena_alloc(x->arena, (size_t)x->movable + 1, sizeof *before);
    if (!before) return fail_memory(error);
    memcpy(before, x->motions, (size_t)x->movable * sizeof *before);
    double missed = x->account->constraint_error;
    double most = fmax(0.05 * exact_unseen_most(x) + 10 * x->model->tolerance.touching, 8 * exact_deepest(x));
    abut_status status = push_out(x, error);
    for (int way = 0; way < 2 && status == ABUT_OK && farthest_shift(x, before) > most; way++) {
        memcpy(x->motions, before, (size_t)x->movable * sizeof *before);
        exact_forget_places(x);
        status = exact_update_touches(x, false, 0, error);
        if (status == ABUT_OK && way == 0) press_overlaps(x), status = sweep_out(x, error);
        if (status == ABUT_OK) status = measure_hinges(x, missed, error);
    }
    return status;
}
