/* Contact points of element pairs, against finite differences of the motion and against direct closest-point
 * searches. */
#include "base/base.h"
#include "contact/element.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static uint64_t seed = 7;

/* One draw after the other: within an expression compilers choose the order. */
static vec3 random_vector(double size) {
    double x = random_range(&seed, -size, size), y = random_range(&seed, -size, size);
    return vec3_make(x, y, random_range(&seed, -size, size));
}

static motion random_motion(vec3 center) {
    vec3 q = random_vector(1), v = random_vector(1), w = random_vector(1);
    return (motion){center, quat_unit((quat){q.x, q.y, q.z, 0.1}), {v, w}};
}

/* The motion after a time h with constant velocities, exact to second order: enough for central differences.
 */
static motion advance(motion m, double h) {
    quat r = quat_rate(m.rotation, m.velocity.angular);
    vec3 w = m.velocity.angular;
    double half = -vec3_dot(w, w) / 8; /* q'' = -|w|^2/4 q */
    quat q = m.rotation;
    motion n = m;
    n.center = vec3_axpy(m.center, h, m.velocity.linear);
    n.rotation = quat_unit((quat){q.w * (1 + half * h * h) + h * r.w, q.x * (1 + half * h * h) + h * r.x,
                                  q.y * (1 + half * h * h) + h * r.y, q.z * (1 + half * h * h) + h * r.z});
    return n;
}

static element random_element(element_kind kind) {
    vec3 p = random_vector(0.2), d = vec3_unit(random_vector(1));
    element e = {.kind = kind, .p = p, .d = d, .lo = -1, .hi = 1};
    if (kind == ELEMENT_POINT || kind == ELEMENT_LINE) e.r = random_range(&seed, 0.01, 0.2);
    if (kind == ELEMENT_CIRCLE) e.r = 0.4;
    if (kind == ELEMENT_CAVITY) e.r = 5;
    if (kind == ELEMENT_ELLIPSOID) e.axes = vec3_make(0.3, 0.5, 0.2);
    return e;
}

static void assert_near(vec3 a, vec3 b, double tolerance) {
    if (!(vec3_distance(a, b) <= tolerance))
        fail_msg("(%.12g %.12g %.12g) is not (%.12g %.12g %.12g)", a.x, a.y, a.z, b.x, b.y, b.z);
}

/* Central differences with the step h and h/2: each has an error of h^2 f'''/6 + u/h, so that the difference
 * of the two bounds what is left of (4 f(h/2) - f(h))/3, however near the pose is to a degenerate one. */
typedef struct differences {
    vec3 at, normal;
    double gap;
} differences;

static differences difference(const element *a, motion ma, const element *b, motion mb, double h) {
    contact_point before, after;
    motion a0 = advance(ma, -h), a1 = advance(ma, h), b0 = advance(mb, -h), b1 = advance(mb, h);
    if (!element_contact(a, &a0, b, &b0, 1, &before, NULL, NULL)) fail();
    if (!element_contact(a, &a1, b, &b1, 1, &after, NULL, NULL)) fail();
    return (differences){vec3_scale(vec3_sub(after.at, before.at), 0.5 / h),
                         vec3_scale(vec3_sub(after.normal, before.normal), 0.5 / h),
                         (after.gap - before.gap) / (2 * h)};
}

static void check_rates(const element *a, motion ma, const element *b, motion mb) {
    contact_point now;
    if (!element_contact(a, &ma, b, &mb, 1, &now, NULL, NULL)) fail();
    differences f = difference(a, ma, b, mb, 2e-5), g = difference(a, ma, b, mb, 1e-5);
    double k = 3 + vec3_length(now.at_rate) + vec3_length(now.normal_rate), rounding = 2e-9 * k;
    vec3 at = vec3_scale(vec3_sub(vec3_scale(g.at, 4), f.at), 1 / 3.0),
         normal = vec3_scale(vec3_sub(vec3_scale(g.normal, 4), f.normal), 1 / 3.0);
    assert_near(now.at_rate, at, rounding + vec3_distance(f.at, g.at));
    assert_near(now.normal_rate, normal, rounding + vec3_distance(f.normal, g.normal));
    if (vec3_distance(f.at, g.at) > 1e-3 * k) fail_msg("differences that say nothing");
    double first = vec3_dot(now.normal, contact_slip(&now, &ma, &mb));
    /* gap' = n . u holds with u taken at the two closest material points; at one common place it differs by
     * gap * |w| */
    double slack = rounding + fabs(f.gap - g.gap) + fabs(now.gap) * 4;
    if (!(fabs(g.gap - first) <= slack)) fail_msg("gap' %g is not n.u %g (gap %g)", g.gap, first, now.gap);
    assert_near(vec3_scale(now.normal, vec3_length(now.normal)), now.normal, 1e-12);
}

static void every_pair_has_the_rates_of_finite_differences(void **state) {
    (void)state;
    int pairs = 0;
    for (int ka = ELEMENT_POINT; ka <= ELEMENT_CAVITY; ka++)
        for (int kb = ELEMENT_POINT; kb <= ELEMENT_CAVITY; kb++) {
            if (!element_pair_is_known((element_kind)ka, (element_kind)kb)) continue;
            pairs++;
            for (int i = 0; i < 200; i++) {
                bool cavity = ka == ELEMENT_CAVITY || kb == ELEMENT_CAVITY;
                element a = random_element((element_kind)ka), b = random_element((element_kind)kb);
                motion ma = random_motion(vec3_make(0, 0, cavity ? 1.0 : 3.0)),
                       mb = random_motion(vec3_zero());
                contact_point p;
                /* keep away from the degenerate poses, where third derivatives blow up */
                if (ka == ELEMENT_LINE && kb == ELEMENT_LINE) {
                    vec3 da = quat_rotate(ma.rotation, a.d), db = quat_rotate(mb.rotation, b.d);
                    if (vec3_length(vec3_cross(da, db)) < 0.5) continue;
                }
                if (ka == ELEMENT_CIRCLE || kb == ELEMENT_CIRCLE) {
                    vec3 da = quat_rotate(ma.rotation, a.d), db = quat_rotate(mb.rotation, b.d);
                    if (vec3_length(vec3_cross(da, db)) < 0.5) continue;
                }
                if (ka == ELEMENT_LINE && (kb == ELEMENT_CIRCLE || kb == ELEMENT_LINE) && i % 2) a.r = 0;
                if (ka == ELEMENT_CIRCLE && kb == ELEMENT_CIRCLE && i % 2) mb.center.z = 2.4;
                if (!element_contact(&a, &ma, &b, &mb, 1, &p, NULL, NULL)) continue;
                if (cavity && p.gap < 1) continue;
                /* nor as deep in an ellipsoid as its least radius of curvature, 0.2^2 / 0.5: from there on
                 * two ways out may be as long as each other, and a line is deepest just where they are */
                bool round = ka == ELEMENT_ELLIPSOID || kb == ELEMENT_ELLIPSOID;
                if (round && p.gap + a.r + b.r < -0.08) continue;
                check_rates(&a, ma, &b, mb);
            }
        }
    assert_int_equal(pairs, 16 + 6 + 6); /* four kinds with each other, three with planes and cavities */
}

/* Swapping the bodies turns the normal and nothing else. */
static void the_order_of_the_bodies_turns_the_normal(void **state) {
    (void)state;
    for (int i = 0; i < 1000; i++) {
        element a = random_element(i % 2 ? ELEMENT_POINT : ELEMENT_ELLIPSOID),
                b = random_element(ELEMENT_PLANE);
        motion ma = random_motion(random_vector(2)), mb = random_motion(random_vector(2));
        contact_point p, q;
        assert_true(element_contact(&a, &ma, &b, &mb, 1, &p, NULL, NULL));
        assert_true(element_contact(&b, &mb, &a, &ma, 1, &q, NULL, NULL));
        assert_near(p.normal, vec3_neg(q.normal), 0);
        assert_near(p.at, q.at, 0);
        assert_true(p.gap == q.gap);
    }
}

/* A tip found in closed form is the extreme point: no sample of the shape is deeper. */
static void the_tip_of_an_ellipsoid_is_its_deepest_point(void **state) {
    (void)state;
    element e = random_element(ELEMENT_ELLIPSOID), f = {.kind = ELEMENT_PLANE, .d = {0, 0, 1}};
    motion ground = {.rotation = {1, 0, 0, 0}};
    for (int i = 0; i < 50; i++) {
        motion m = random_motion(vec3_make(0, 0, 1));
        contact_point p;
        assert_true(element_contact(&e, &m, &f, &ground, 1, &p, NULL, NULL));
        double deepest = INFINITY;
        for (int k = 0; k < 4000; k++) {
            vec3 s = vec3_unit(random_vector(1));
            vec3 local = vec3_add(e.p, vec3_make(e.axes.x * s.x, e.axes.y * s.y, e.axes.z * s.z));
            deepest = fmin(deepest, vec3_add(m.center, quat_rotate(m.rotation, local)).z);
        }
        assert_true(p.gap <= deepest + 1e-12 && p.gap > deepest - 0.02);
    }
}

/* A random point of an element, in the world. */
static vec3 sample_of(const element *e, const motion *m) {
    vec3 local = e->p, s = vec3_unit(random_vector(1));
    if (e->kind == ELEMENT_LINE) local = vec3_axpy(e->p, random_range(&seed, -4, 4), e->d);
    if (e->kind == ELEMENT_CIRCLE)
        local = vec3_axpy(e->p, e->r, vec3_unit(vec3_axpy(s, -vec3_dot(s, e->d), e->d)));
    if (e->kind == ELEMENT_ELLIPSOID)
        local = vec3_add(e->p, vec3_make(e->axes.x * s.x, e->axes.y * s.y, e->axes.z * s.z));
    return vec3_add(m->center, quat_rotate(m->rotation, local));
}

/* The point of an element nearest to x, by a search that knows only how to sample: samples that are halved
 * around the best one. */
static vec3 improve(const element *e, const motion *m, vec3 best, vec3 x, double size) {
    for (int k = 0; k < 40; k++) {
        vec3 q = sample_of(e, m);
        vec3 p = vec3_lerp(best, q, random_range(&seed, 0, size)); /* off the element: put it back */
        vec3 local = quat_unrotate(m->rotation, vec3_sub(p, m->center));
        if (e->kind == ELEMENT_CIRCLE) {
            vec3 w = vec3_sub(local, e->p);
            w = vec3_axpy(w, -vec3_dot(w, e->d), e->d);
            local = vec3_axpy(e->p, e->r / vec3_length(w), w);
        }
        if (e->kind == ELEMENT_ELLIPSOID) {
            vec3 w = vec3_sub(local, e->p), u = {w.x / e->axes.x, w.y / e->axes.y, w.z / e->axes.z};
            local = vec3_axpy(e->p, 1 / vec3_length(u), w);
        }
        p = vec3_add(m->center, quat_rotate(m->rotation, local));
        if (vec3_distance(p, x) < vec3_distance(best, x)) best = p;
    }
    return best;
}

/* Distance by sampling: never smaller than the true one. */
static double searched_distance(const element *a, const motion *ma, const element *b, const motion *mb) {
    double least = INFINITY;
    for (int start = 0; start < 3; start++) {
        vec3 x = vec3_zero(), y = vec3_zero();
        double d = INFINITY;
        for (int k = 0; k < 300; k++) {
            vec3 p = sample_of(a, ma), q = sample_of(b, mb);
            if (vec3_distance(p, q) < d) d = vec3_distance(p, q), x = p, y = q;
        }
        for (double size = 0.3; size > 1e-5; size *= 0.8)
            x = improve(a, ma, x, y, size), y = improve(b, mb, y, x, size);
        least = fmin(least, vec3_distance(x, y));
    }
    return least;
}

/* The nearest place of a pair: over both branches where a rim has two. */
static double closest_distance(element a, const motion *ma, element b, const motion *mb) {
    double least = INFINITY;
    for (int branch = 0; branch < 2; branch++) {
        contact_point p;
        a.branch = b.branch = branch;
        if (!element_contact(&a, ma, &b, mb, 1, &p, NULL, NULL)) continue;
        double offsets = (a.kind == ELEMENT_POINT || a.kind == ELEMENT_LINE ? a.r : 0) +
                         (b.kind == ELEMENT_POINT || b.kind == ELEMENT_LINE ? b.r : 0);
        least = fmin(least, fabs(p.gap + offsets));
    }
    return least;
}

static void the_gap_is_the_distance_found_by_searching(void **state) {
    (void)state;
    for (int ka = ELEMENT_POINT; ka <= ELEMENT_ELLIPSOID; ka++)
        for (int kb = ka; kb <= ELEMENT_ELLIPSOID; kb++)
            for (int i = 0; i < 30 && !(ka == ELEMENT_LINE && kb == ELEMENT_LINE); i++) {
                element a = random_element((element_kind)ka), b = random_element((element_kind)kb);
                motion ma = random_motion(vec3_make(0, 0, i % 3 ? 1.5 : 4)), mb = random_motion(vec3_zero());
                double found = closest_distance(a, &ma, b, &mb),
                       searched = searched_distance(&a, &ma, &b, &mb);
                if (searched < 0.05) continue; /* they may cross */
                if (!(found <= searched + 1e-9 && found > searched - 0.02))
                    fail_msg("%d-%d: %.9g is not %.9g", ka, kb, found, searched);
            }
}

/* An ellipsoid in a cavity: each branch ends at a place whose normal points away from the centre, and the
 * farther of the two is the farthest of all, wherever the centre is.  By symmetry the farthest place is on
 * the same side of the longest axis as the ellipsoid's centre lies from the cavity's, where one branch
 * begins. */
static void no_place_in_a_cavity_is_farther(void **state) {
    (void)state;
    element wall = {.kind = ELEMENT_CAVITY, .r = 5};
    for (int i = 0; i < 4000; i++) {
        motion still = {vec3_zero(), quat_identity(), {vec3_zero(), vec3_zero()}};
        motion m = {random_vector(i % 2 ? 2 : 0.3), quat_unit((quat){1, i % 7, i % 5, i % 3}),
                    still.velocity};
        element e = {.kind = ELEMENT_ELLIPSOID};
        e.axes = vec3_abs(random_vector(1)), e.axes = vec3_add(e.axes, vec3_make(0.05, 0.05, 0.05));
        double farthest = 0, searched = 0;
        for (e.branch = 0; e.branch < 2; e.branch++) {
            contact_point p;
            if (!element_contact(&e, &m, &wall, &still, 1, &p, NULL, NULL)) continue;
            farthest = fmax(farthest, 5 - p.gap);
            assert_near(p.at, vec3_scale(p.normal, p.gap - 5), 1e-7); /* from z along the normal */
        }
        for (int k = 0; k < 400; k++) { /* directions all round, by the golden angle */
            double height = 1 - (2 * k + 1) / 400.0, ring = sqrt(1 - height * height),
                   turn = 2.399963229728653 * k;
            vec3 u = {ring * cos(turn) * e.axes.x, ring * sin(turn) * e.axes.y, height * e.axes.z};
            searched = fmax(searched, vec3_length(vec3_add(m.center, quat_rotate(m.rotation, u))));
        }
        assert_true(farthest >= searched - 1e-12);
    }
}

/* Needles and discs: where Newton's method goes astray, the projection still finds the nearest place. */
static void extreme_ellipsoids_are_found(void **state) {
    (void)state;
    for (int i = 0; i < 3000; i++) {
        element e = {.kind = ELEMENT_ELLIPSOID,
                     .axes = {random_range(&seed, 0.001, 1), random_range(&seed, 0.001, 1), 1}};
        element x = {.kind = ELEMENT_POINT};
        motion m = {.rotation = {1, 0, 0, 0}}, at = {.center = random_vector(1.5), .rotation = {1, 0, 0, 0}};
        if (i % 4 == 0) at.center.x = 0;
        if (i % 7 == 0) at.center.y = 0;
        vec3 u = {at.center.x / e.axes.x, at.center.y / e.axes.y, at.center.z / e.axes.z};
        contact_point p;
        if (vec3_length(u) <= 1 || !element_contact(&x, &at, &e, &m, 1, &p, NULL, NULL)) continue;
        vec3 v = {p.at.x / e.axes.x, p.at.y / e.axes.y, p.at.z / e.axes.z};
        assert_true(fabs(vec3_length(v) - 1) < 1e-12);
        assert_true(p.gap >= 0);
        /* the place, the gap and the normal lead back to the point */
        assert_near(vec3_axpy(p.at, p.gap, p.normal), at.center, 1e-12);
    }
}

/* A sphere as an ellipsoid of equal axes, a circle about a point: known by hand. */
static void equal_axes_are_spheres(void **state) {
    (void)state;
    for (int i = 0; i < 300; i++) {
        element e = {.kind = ELEMENT_ELLIPSOID, .axes = {0.3, 0.3, 0.3}},
                s = {.kind = ELEMENT_POINT, .r = 0.3};
        element other = random_element((element_kind)(i % 4));
        if (i % 4 == ELEMENT_POINT && i % 8 == 0) other = random_element(ELEMENT_CAVITY);
        motion m = random_motion(vec3_make(0, 0, other.kind == ELEMENT_CAVITY ? 0.7 : 2.5)),
               mo = random_motion(vec3_zero());
        contact_point p, q;
        assert_true(element_contact(&e, &m, &other, &mo, 1, &p, NULL, NULL));
        assert_true(element_contact(&s, &m, &other, &mo, 1, &q, NULL, NULL));
        assert_true(fabs(p.gap - q.gap) < 1e-12);
        assert_near(p.normal, q.normal, 1e-9);
        assert_near(p.normal_rate, q.normal_rate, 1e-8);
    }
}

static void degenerate_pairs_are_refused(void **state) {
    (void)state;
    motion m = {.rotation = {1, 0, 0, 0}};
    contact_point p;
    element l = {.kind = ELEMENT_LINE, .d = {1, 0, 0}, .r = 0.1},
            c = {.kind = ELEMENT_CIRCLE, .d = {0, 0, 1}, .r = 1};
    element f = {.kind = ELEMENT_PLANE, .d = {0, 0, 1}};
    assert_false(element_contact(&l, &m, &l, &m, 1, &p, NULL, NULL));
    assert_false(element_contact(&c, &m, &f, &m, 1, &p, NULL, NULL));
    element v = {.kind = ELEMENT_POINT};
    assert_false(element_contact(&v, &m, &v, &m, 1, &p, NULL, NULL));
}

/* Balls with one centre are as deep in each other as both are thick, in any direction; in a cavity a ball has
 * all the room there is. */
static void round_things_with_one_centre_overlap(void **state) {
    (void)state;
    motion m = random_motion(vec3_make(1, 2, 3));
    contact_point p;
    element o = {.kind = ELEMENT_POINT, .r = 1}, v = {.kind = ELEMENT_POINT, .r = 0.5};
    element l = {.kind = ELEMENT_LINE, .d = {1, 0, 0}, .lo = -1, .hi = 1, .r = 0.1},
            h = {.kind = ELEMENT_CAVITY, .r = 3};
    const struct {
        const element *other;
        double gap;
    } rows[] = {{&v, -1.5}, {&l, -1.1}, {&h, 2}};
    for (int i = 0; i < 3; i++) {
        assert_true(element_contact(&o, &m, rows[i].other, &m, 1, &p, NULL, NULL));
        assert_true(fabs(p.gap - rows[i].gap) < 1e-12);
        assert_true(fabs(vec3_length(p.normal) - 1) < 1e-12);
        if (rows[i].other == &l) assert_true(fabs(vec3_dot(p.normal, quat_rotate(m.rotation, l.d))) < 1e-12);
    }
}

/* All minima of the distance from a rim to a line, by walking around it in small steps, against the two
 * places of the pair; also where the two are close together, the line lies in the plane of the rim or along
 * its axis. */
static void every_place_of_a_rim_at_a_line_is_found(void **state) {
    (void)state;
    enum { STEPS = 3000 };
    const motion still = {.rotation = {1, 0, 0, 0}};
    int twice = 0;
    for (int k = 0; k < 3000; k++) {
        element rim = {.kind = ELEMENT_CIRCLE, .d = vec3_unit(random_vector(1)), .r = 0.4};
        element line = {.kind = ELEMENT_LINE, .d = vec3_unit(random_vector(1)), .lo = -9, .hi = 9, .r = 1e-3};
        vec3 across = vec3_unit(vec3_cross(line.d, rim.d));
        if (k % 5 == 1) line.d = vec3_unit(vec3_axpy(line.d, -vec3_dot(line.d, rim.d), rim.d)); /* q = 0 */
        if (k % 5 == 2) line.d = vec3_unit(vec3_axpy(vec3_cross(rim.d, across), 0.05, rim.d));
        if (k % 50 == 3) line.d = rim.d;
        line.p = k % 2 ? random_vector(0.5) : vec3_axpy(vec3_scale(across, 0.3), 0.02, random_vector(1));
        vec3 x = vec3_orthogonal(rim.d), y = vec3_cross(rim.d, x), places[8];
        double before[2] = {0, 0};
        int count = 0;
        for (int i = 0; i < STEPS + 2; i++) {
            double angle = 2 * 3.14159265358979323846 * i / STEPS;
            vec3 at = vec3_axpy(vec3_scale(x, 0.4 * cos(angle)), 0.4 * sin(angle), y);
            vec3 e = vec3_sub(at, line.p);
            double d = vec3_length(vec3_axpy(e, -vec3_dot(e, line.d), line.d));
            if (i >= 2 && before[1] < before[0] && before[1] <= d && count < 8) places[count++] = at;
            before[0] = before[1], before[1] = d;
        }
        if (count > 2 || k % 50 == 3) continue; /* equal all around */
        twice += count == 2;
        int found = 0;
        for (int branch = 0; branch < 2; branch++) {
            contact_point p;
            double s, t;
            rim.branch = branch;
            if (!element_contact(&line, &still, &rim, &still, 1, &p, &s, &t) || t < 0) continue;
            double nearest = INFINITY;
            for (int i = 0; i < count; i++) nearest = fmin(nearest, vec3_distance(p.at, places[i]));
            if (nearest > 4e-3) fail_msg("rim %d branch %d: %g m from any minimum", k, branch, nearest);
            found++;
        }
        if (found < count) fail_msg("rim %d: %d of %d minima", k, found, count);
    }
    assert_true(twice > 500);
}

/* Two rims: every minimum of the distance from one to the other that a dense sampling sees is a place of the
 * pair, the lowest always, also where the rims are nearly equal, nearly coaxial, nearly in one plane, or
 * hardly part. */
static void every_place_of_two_rims_is_found(void **state) {
    (void)state;
    enum { STEPS = 4000 };
    const motion still = {.rotation = {1, 0, 0, 0}};
    int twice = 0;
    for (int k = 0; k < 4000; k++) {
        element a = {.kind = ELEMENT_CIRCLE, .d = vec3_unit(random_vector(1)), .r = 0.4};
        element b = {
            .kind = ELEMENT_CIRCLE, .d = vec3_unit(random_vector(1)), .r = random_range(&seed, 0.05, 0.6)};
        b.p = random_vector(k % 3 ? 0.5 : 0.05);
        if (k % 7 == 1) b.r = 0.4 + random_range(&seed, -1e-3, 1e-3);
        if (k % 7 == 2) b.d = vec3_unit(vec3_axpy(a.d, 0.02, random_vector(1)));
        if (k % 7 == 3)
            b.p = vec3_axpy(vec3_scale(a.d, random_range(&seed, -0.3, 0.3)), 0.01, random_vector(1));
        if (k % 7 == 4) b.d = vec3_unit(vec3_axpy(b.d, -vec3_dot(a.d, b.d), a.d));
        vec3 x = vec3_orthogonal(b.d), y = vec3_cross(b.d, x);
        double before[2] = {0, 0}, lowest = INFINITY;
        int count = 0;
        for (int i = 0; i < STEPS + 2; i++) {
            double angle = 2 * 3.14159265358979323846 * i / STEPS;
            vec3 at = vec3_add(b.p, vec3_axpy(vec3_scale(x, b.r * cos(angle)), b.r * sin(angle), y));
            double z = vec3_dot(at, a.d), s = vec3_length(vec3_axpy(at, -z, a.d));
            double d = sqrt(z * z + (s - a.r) * (s - a.r));
            count += i >= 2 && before[1] < before[0] && before[1] <= d;
            before[0] = before[1], before[1] = d, lowest = fmin(lowest, d);
        }
        twice += count == 2;
        int found = 0;
        double nearest = INFINITY;
        for (int branch = 0; branch < 2; branch++) {
            contact_point p;
            a.branch = b.branch = branch;
            if (!element_contact(&a, &still, &b, &still, 1, &p, NULL, NULL)) continue;
            double z = vec3_dot(p.at, a.d), s = vec3_length(vec3_axpy(p.at, -z, a.d));
            nearest = fmin(nearest, sqrt(z * z + (s - a.r) * (s - a.r)));
            found++;
        }
        if (found > 0 && nearest > lowest + 1e-12)
            fail_msg("rims %d: %.17g, a sample has %.17g", k, nearest, lowest);
        if (found < (count < 2 ? count : 2)) fail_msg("rims %d: %d of %d minima", k, found, count);
    }
    assert_true(twice > 500);
}

/* A rim of one of the kinds that are hard: thin and flat ellipsoids, rims within and around them, under the
 * flat end, nearly on the axis of a spheroid that looks nearly the same all around. */
static void hard_rim(int k, element *rim, element *ellipsoid) {
    static const double axes[][3] = {{0.3, 0.5, 0.2}, {0.3, 0.3, 0.2},    {1, 0.05, 0.04},
                                     {1, 0.9, 0.03},  {0.3, 0.3, 0.3001}, {2, 0.1, 1}};
    const double *a = axes[k % COUNT_OF(axes)];
    *ellipsoid = (element){.kind = ELEMENT_ELLIPSOID, .axes = vec3_make(a[0], a[1], a[2])};
    *rim = (element){.kind = ELEMENT_CIRCLE, .d = vec3_unit(random_vector(1)), .p = random_vector(0.8)};
    rim->r = exp(random_range(&seed, log(0.01), log(3)));
    if (k % 4 == 1) rim->p = vec3_scale(rim->p, 0.05);
    if (k % 4 == 2) {
        rim->d = vec3_unit(vec3_axpy(vec3_make(0, 0, 1), 1e-3, random_vector(1)));
        rim->p = vec3_axpy(vec3_make(0, 0, random_range(&seed, -1, 1)), 1e-3, random_vector(1));
    }
}

/* No place of a dense sampling of the rim is nearer to the ellipsoid than the one that is found, to rounding
 * where the rim can touch (its radius leads towards the ellipsoid), else to 1e-9 of the rim, as the search
 * has it. */
static void no_place_of_a_rim_is_nearer_to_an_ellipsoid(void **state) {
    (void)state;
    enum { STEPS = 1000 };
    const motion still = {.rotation = {1, 0, 0, 0}};
    int faces = 0, refused = 0;
    for (int k = 0; k < 3000; k++) {
        element rim, ellipsoid;
        contact_point p, q;
        hard_rim(k, &rim, &ellipsoid);
        if (!element_contact(&rim, &still, &ellipsoid, &still, 1, &p, NULL, NULL)) {
            refused++;
            continue;
        }
        vec3 x = vec3_orthogonal(rim.d), y = vec3_cross(rim.d, x), on = vec3_axpy(p.at, p.gap, p.normal);
        bool can_touch = vec3_dot(p.normal, vec3_sub(on, rim.p)) <= 0;
        faces += can_touch;
        if (fabs(vec3_distance(on, rim.p) - rim.r) > 1e-12) fail_msg("rim %d: the place is not on it", k);
        for (int i = 0; i < STEPS; i++) {
            double angle = 2 * 3.14159265358979323846 * i / STEPS;
            element at = {.kind = ELEMENT_POINT};
            at.p = vec3_add(rim.p, vec3_axpy(vec3_scale(x, rim.r * cos(angle)), rim.r * sin(angle), y));
            if (!element_contact(&at, &still, &ellipsoid, &still, 1, &q, NULL, NULL)) continue;
            if (q.gap < p.gap - (can_touch ? 1e-13 : 1e-9 * rim.r))
                fail_msg("rim %d: %.17g, a sample has %.17g", k, p.gap, q.gap);
        }
    }
    assert_true(faces > 300);
    if (refused > 30) fail_msg("%d refused", refused);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_has_the_rates_of_finite_differences),
        cmocka_unit_test(the_order_of_the_bodies_turns_the_normal),
        cmocka_unit_test(the_tip_of_an_ellipsoid_is_its_deepest_point),
        cmocka_unit_test(the_gap_is_the_distance_found_by_searching),
        cmocka_unit_test(no_place_in_a_cavity_is_farther),
        cmocka_unit_test(extreme_ellipsoids_are_found),
        cmocka_unit_test(equal_axes_are_spheres),
        cmocka_unit_test(every_place_of_a_rim_at_a_line_is_found),
        cmocka_unit_test(every_place_of_two_rims_is_found),
        cmocka_unit_test(no_place_of_a_rim_is_nearer_to_an_ellipsoid),
        cmocka_unit_test(degenerate_pairs_are_refused),
        cmocka_unit_test(round_things_with_one_centre_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
