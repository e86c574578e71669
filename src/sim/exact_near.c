/* Near pairs of a group: all pairs of features that can meet within a window of time.
 *
 *   collected at t, for each pair of bodies with a reach (how far their surfaces can come towards each other)
 *   and a turn (how far they can rotate against each other) in the window; used for every step until the
 *   window ends.  A pair of bodies that has moved as far as its reach before (an impact made it faster) is
 *   collected anew for the rest of the window, alone.
 *
 * The window is chosen by what it costs: many pairs in a long one, many collections in short ones.  It is
 * doubled or halved from collection to collection, turning round whenever the cost per second got worse. */
#include "sim/exact.h"

/* What a step costs beside its near pairs, counted in near pairs. */
#define STEP_COST 300.0

static const contact_shape *shape_of(const exact *x, int local) {
    return &x->model->bodies[x->bodies[local]].shape;
}

bool exact_is_sunk(const exact *x, const exact_near *n) {
    return smooth_is_pair(&n->pair) && smooth_is_sunk_behind(shape_of(x, n->a), shape_of(x, n->b));
}

bool exact_near_at(const exact *x, const exact_near *n, contact_point *p, bool *faces) {
    bool both = true;
    if (smooth_is_pair(&n->pair)) {
        near_pair pair = n->pair;
        return smooth_follow_same(&pair, shape_of(x, n->a), &x->motions[n->a], shape_of(x, n->b),
                                  &x->motions[n->b], x->model->tolerance.touching, p, faces ? faces : &both);
    }
    return near_evaluate(&n->pair, shape_of(x, n->a), &x->motions[n->a], shape_of(x, n->b), &x->motions[n->b],
                         x->model->tolerance.touching, p, faces);
}

void exact_near_move(const exact *x, exact_near *n) {
    near_pair pair = n->pair;
    contact_point p;
    bool faces;
    if (smooth_is_pair(&pair) &&
        smooth_follow_same(&pair, shape_of(x, n->a), &x->motions[n->a], shape_of(x, n->b), &x->motions[n->b],
                           x->model->tolerance.touching, &p, &faces))
        n->pair = pair;
}

/* gap' = n . u */
double exact_gap_rate(const exact *x, int a, int b, const contact_point *p) {
    return vec3_dot(p->normal, contact_slip(p, &x->motions[a], &x->motions[b]));
}

bool exact_know_near(const exact *x, exact_near *n, contact_point *p) {
    n->known = exact_near_at(x, n, p, NULL);
    if (!n->known) return false;
    n->gap = p->gap, n->at = p->at, n->normal = p->normal;
    n->rate = exact_gap_rate(x, n->a, n->b, p);
    return true;
}

/* ---- how fast two bodies move against each other */

/* Of the points of the ball around a, moved with a, as seen from b:
 *     u = v_a - v_b - w_b x (c_a - c_b) + (w_a - w_b) x (p - c_a) */
static double speed_seen(const exact *x, int a, int b) {
    double r = shape_of(x, a)->radius;
    if (!isfinite(r)) return INFINITY;
    twist va = x->motions[a].velocity, vb = x->motions[b].velocity;
    vec3 arm = vec3_sub(x->motions[a].center, x->motions[b].center);
    vec3 u = vec3_sub(vec3_sub(va.linear, vb.linear), vec3_cross(vb.angular, arm));
    return vec3_length(u) + r * vec3_distance(va.angular, vb.angular);
}

static double relative_speed(const exact *x, const exact_pair *p) {
    return fmin(speed_seen(x, p->a, p->b), speed_seen(x, p->b, p->a));
}

/* Where a body was when the time step began that ended just now: x->y holds those that are integrated. */
static motion before_step(const exact *x, int i) {
    motion m = x->motions[i];
    const double *y = &x->y[BODY_NUMBERS * i];
    if (i < x->movable)
        m.center = vec3_make(y[0], y[1], y[2]), m.rotation = (quat){y[3], y[4], y[5], y[6]};
    else
        project_displace(&m, spatial_scale(m.velocity, -x->unseen));
    return m;
}

/* How far points of a went in that step as seen from b; |q - r| = 2 sin(angle / 4) of two rotations, and the
 * way of a point at the distance R is at most R times the angle. */
static double went_seen(const exact *x, int a, int b) {
    const motion a0 = before_step(x, a), b0 = before_step(x, b), *a1 = &x->motions[a], *b1 = &x->motions[b];
    double r = shape_of(x, a)->radius;
    if (!isfinite(r)) return INFINITY;
    vec3 p0 = quat_unrotate(b0.rotation, vec3_sub(a0.center, b0.center));
    vec3 p1 = quat_unrotate(b1->rotation, vec3_sub(a1->center, b1->center));
    quat q = quat_mul(quat_conj(b0.rotation), a0.rotation),
         s = quat_mul(quat_conj(b1->rotation), a1->rotation);
    double sign = q.w * s.w + q.x * s.x + q.y * s.y + q.z * s.z < 0 ? -1 : 1;
    double w = q.w - sign * s.w, i = q.x - sign * s.x, j = q.y - sign * s.y, k = q.z - sign * s.z;
    return vec3_distance(p0, p1) + 2.5 * r * sqrt(w * w + i * i + j * j + k * k);
}

/* Twice the way that they went, because what is pushed out of another body is pushed in rounds. */
double exact_unseen_depth(const exact *x, int meeting) {
    const exact_pair *p = &x->pairs[meeting];
    if (x->unseen == 0) return 0;
    return fmin(2 * fmin(went_seen(x, p->a, p->b), went_seen(x, p->b, p->a)), 0.02 * x->model->smallest);
}

double exact_unseen_most(const exact *x) {
    double most = 0;
    for (int i = 0; i < x->pair_count; i++) most = fmax(most, exact_unseen_depth(x, i));
    return most;
}

static double relative_spin(const exact *x, const exact_pair *p) {
    return vec3_distance(x->motions[p->a].velocity.angular, x->motions[p->b].velocity.angular);
}

/* Bounds for the acceleration of a body's surface and of its spin; gravity at least, because forces that hold
 * a body now can vanish; of one that follows a function the most of the frame. */
static double acceleration_of(const exact *x, int i, double *turning) {
    const spatial *a = i < x->movable ? &x->accelerations[i] : &x->prescribed[i];
    const kinematic_most *most = exact_most(x, i);
    double r = shape_of(x, i)->radius, spin = vec3_length(x->motions[i].velocity.angular);
    if (!isfinite(r)) r = 0;
    if (most) {
        *turning = 2 * most->rotation[2], spin = 2 * most->rotation[1];
        return most->center[2] + r * (*turning + spin * spin);
    }
    *turning = vec3_length(a->angular);
    double fall = vec3_length(a->linear) + r * (*turning + spin * spin);
    return i < x->movable ? fmax(fall, vec3_length(x->model->world.gravity)) : fall;
}

/* ---- collecting */

/* The balls around the two shapes are farther apart than reach. */
static bool far_apart(const exact *x, const exact_pair *p, double reach) {
    double distance = vec3_distance(x->motions[p->a].center, x->motions[p->b].center);
    return distance > shape_of(x, p->a)->radius + shape_of(x, p->b)->radius + reach;
}

/* Whether the place of the pair lies beyond the end of a line: the gap there says nothing of the features,
 * and where lines are nearly parallel it changes much faster than the bodies move. */
static bool is_beyond(const exact *x, const exact_near *n) {
    const element *a = &n->pair.a, *b = &n->pair.b;
    contact_point p;
    double s, t;
    if (!element_contact(a, &x->motions[n->a], b, &x->motions[n->b], n->pair.sign, &p, &s, &t)) return false;
    return (a->kind == ELEMENT_LINE && (s < a->lo || s > a->hi)) ||
           (b->kind == ELEMENT_LINE && (t < b->lo || t > b->hi));
}

bool exact_has_round_line(const near_pair *p) {
    bool line = p->a.kind == ELEMENT_LINE || p->b.kind == ELEMENT_LINE;
    return line && !smooth_is_pair(p) &&
           !(p->a.kind == ELEMENT_LINE && p->b.kind == ELEMENT_LINE && p->a.r + p->b.r == 0);
}

/* Near pairs that are degenerate, farther than reach, behind each other, or asleep for the whole window of h
 * cannot touch within it. */
static bool keep(exact *x, exact_near *n, double reach, double h) {
    exact_pair *pair = &x->pairs[n->meeting];
    exact_lay_down(x, n);
    pair->stray = pair->stray_limit; /* at most */
    n->asleep = exact_sleeps(x, n, x->time + h);
    pair->stray = 0;
    contact_point p;
    if (n->asleep) return false;
    if (!exact_know_near(x, n, &p))
        return exact_disc_is_rim(&n->pair); /* it lies flat, and may come to lean */
    if (p.gap > reach) return false;
    return p.gap >= -fmax(reach, 4 * x->model->tolerance.touching) || exact_is_sunk(x, n) ||
           (exact_has_round_line(&n->pair) && is_beyond(x, n));
}

/* How much of the time h a pair of bodies can go on with what was collected for it: 1 when all of it. */
static double part_of_pair(const exact_pair *p, double h, double speed, double spin) {
    double part = 1, far = speed * h, round = spin * h, stray = p->straying * h;
    if (p->moved + far > p->reach) part = fmin(part, fmax(p->reach - p->moved, 0) / far);
    if (p->stray + stray > p->stray_limit) part = fmin(part, fmax(p->stray_limit - p->stray, 0) / stray);
    if (p->turned + round > p->turn) part = fmin(part, fmax(p->turn - p->turned, 0) / round);
    return part;
}

/* The near pairs of the i-th pair of bodies, for a window of h. */
static bool collect_pair(exact *x, int i, double h, near_array *found) {
    const abut_context *context = &x->run->context;
    exact_pair *p = &x->pairs[i];
    double epsilon = x->model->tolerance.touching;
    double turn_a, turn_b, fall = acceleration_of(x, p->a, &turn_a) + acceleration_of(x, p->b, &turn_b);
    p->reach = 1.2 * (relative_speed(x, p) * h + 0.5 * fall * h * h) + 8 * epsilon;
    p->turn = 1.2 * (relative_spin(x, p) * h + 0.5 * (turn_a + turn_b) * h * h) + 1e-6;
    p->moved = p->turned = 0;
    /* what the accelerations change within h, for the whole of it; some of the speed for impacts */
    exact_start_field(x, p, 1.2 * fall * h * h + 0.05 * relative_speed(x, p) * h + 8 * epsilon);
    if (far_apart(x, p, p->reach)) return true;
    p->reach = fmin(p->reach, smooth_reach_most(shape_of(x, p->a), shape_of(x, p->b)));
    found->count = 0;
    near_window window = exact_window(x, p, h);
    bool fine = near_collect_window(context, shape_of(x, p->a), &x->motions[p->a], shape_of(x, p->b),
                                    &x->motions[p->b], &window, found);
    for (int64_t k = 0; k < found->count && fine; k++) {
        exact_near n = {.pair = found->data[k], .a = p->a, .b = p->b, .meeting = i};
        if (keep(x, &n, p->reach, h)) fine = array_push(context, &x->nears, n);
    }
    return fine;
}

/* Those of all pairs of bodies, or only of those for which what was collected does not last for h: one that
 * an impact made faster. */
static abut_status collect(exact *x, double h, bool all, abut_error *error) {
    const abut_context *context = &x->run->context;
    near_array found = {0};
    exact_near_array before = x->nears;
    x->nears = x->spare_nears, x->spare_nears = before;
    x->nears.count = 0, x->marked = false;
    if (all) x->counted = x->time;
    bool fine = true;
    int64_t next = 0;
    for (int i = 0; i < x->pair_count && fine; i++) {
        while (next < before.count && before.data[next].meeting < i) next++;
        if (all || part_of_pair(&x->pairs[i], h, x->pair_speeds[i], x->pair_spins[i]) < 1)
            fine = collect_pair(x, i, h, &found);
        else
            for (; next < before.count && before.data[next].meeting == i && fine; next++)
                fine = array_push(context, &x->nears, before.data[next]);
    }
    array_free(context, &found);
    contact_point p;
    if (fine && rolling_appeared(x, &p)) fine = array_push(context, &x->nears, x->appeared);
    return fine ? ABUT_OK : fail_memory(error);
}

/* The next window from what this one of h seconds cost.  One that the end of the frame cut says little. */
static void adapt_window(exact *x, double h) {
    double *window = &x->pace.window, frame = x->end - x->run->saved->time;
    if (!(h > 0) || h < 0.75 * fabs(*window)) return;
    double cost = ((double)x->nears.count + STEP_COST) / h;
    bool shorter = *window < 0;
    if (x->pace.cost > 0 && cost > x->pace.cost) shorter = !shorter;
    double next = shorter ? h / 2 : h * 2;
    if (next > frame) { /* no longer one is possible; a shorter one may pay */
        shorter = (double)x->nears.count > STEP_COST;
        next = shorter ? h / 2 : h;
    }
    next = fmax(next, 1e3 * x->model->tolerance.event);
    x->pace.cost = cost, *window = shorter ? -next : next;
}

/* ---- the window */

/* How much of the time h all pairs can go on with what was collected for them. */
static double part_within(const exact *x, double h) {
    double part = 1;
    for (int i = 0; i < x->pair_count; i++)
        part = fmin(part, part_of_pair(&x->pairs[i], h, x->pair_speeds[i], x->pair_spins[i]));
    return part;
}

/* Speeds of all pairs, no smaller than those given (with_old). */
static void measure(exact *x, bool with_old, double *speeds, double *spins) {
    for (int i = 0; i < x->pair_count; i++) {
        exact_pair *p = &x->pairs[i];
        double straying = 1.05 * exact_straying(x, p);
        p->straying = with_old ? fmax(p->straying, straying) : straying;
        double speed = 1.05 * relative_speed(x, &x->pairs[i]), spin = 1.05 * relative_spin(x, &x->pairs[i]);
        speeds[i] = with_old ? fmax(speeds[i], speed) : speed;
        spins[i] = with_old ? fmax(spins[i], spin) : spin;
    }
}

/* Whether what was collected lasts for h for any pair of bodies; else a new window is as good as the old. */
static bool any_lasts(const exact *x, double h) {
    for (int i = 0; i < x->pair_count; i++)
        if (part_of_pair(&x->pairs[i], h, x->pair_speeds[i], x->pair_spins[i]) == 1) return true;
    return false;
}

/* A new window: at the most to the end of the frame. */
static double window_of(const exact *x) {
    double h = x->end - x->time;
    bool shorter = x->pace.window != 0 && h > 1.1 * fabs(x->pace.window); /* no crumb is left */
    return shorter ? fabs(x->pace.window) : h;
}

abut_status exact_look_around(exact *x, double *limit, abut_error *error) {
    double h = fmin(*limit, x->near_until - x->time);
    measure(x, false, x->pair_speeds, x->pair_spins);
    bool over = !(x->near_until > x->time + x->model->tolerance.event);
    if (!over && part_within(x, h) == 1) {
        *limit = h;
        return ABUT_OK;
    }
    over = over || !any_lasts(x, x->near_until - x->time);
    h = over ? window_of(x) : x->near_until - x->time;
    abut_status status = collect(x, h, over, error);
    h *= part_within(x, h); /* smooth surfaces are seen so far only */
    if (over && x->pace.window == 0) x->pace.window = h;
    if (over) adapt_window(x, h);
    x->near_until = h < x->end - x->time ? x->time + h : x->end;
    *limit = fmin(*limit, h);
    return status;
}

void exact_measure_speeds(exact *x) { measure(x, true, x->pair_speeds, x->pair_spins); }

double exact_within_reach(exact *x, double start, double reached) {
    exact_measure_speeds(x);
    double h = reached - start, part = part_within(x, h);
    if (part == 1) return reached;
    if (!any_lasts(x, h)) x->near_until = start; /* collect again */
    return start + part * h;
}

void exact_count_moved(exact *x, double h) {
    for (int i = 0; i < x->pair_count; i++) {
        x->pairs[i].moved += x->pair_speeds[i] * h;
        x->pairs[i].turned += x->pair_spins[i] * h;
        x->pairs[i].stray += x->pairs[i].straying * h;
    }
    x->counted = x->time;
}

/* |d| + r |phi| of a body; immovable ones stay. */
static double shift_of(const exact *x, const spatial *shift, int i) {
    double r = shape_of(x, i)->radius;
    return i < x->movable ? vec3_length(shift[i].linear) + r * vec3_length(shift[i].angular) : 0;
}

void exact_count_shift(exact *x, const spatial *shift) {
    for (int i = 0; i < x->pair_count; i++) {
        exact_pair *p = &x->pairs[i];
        double far = shift_of(x, shift, p->a) + shift_of(x, shift, p->b);
        p->stray += far, p->moved += far;
    }
}
