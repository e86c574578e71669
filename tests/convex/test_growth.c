/* Growth distance, normal and contact points against brute force, for the thirteen families of pairs that
 * are known to break such code: random hulls apart and overlapping, exact face touch, gaps and overlaps of
 * 1e-3, parallel edges, coincident centres, identical poses, needles, plates, slabs. */
#include "brute.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { POSES = 1000 };

/* What a family makes of a random state: two hulls (owned by the family) and their poses. */
typedef struct setup {
    const abut_hull *a, *b;
    pose pa, pb;
} setup;
typedef struct store {
    abut_hull *hull[8];
    int count;
} store;
typedef void family(store *s, uint64_t *seed, int i, setup *out);

static abut_hull *box_hull(double x, double y, double z) {
    abut_hull *h = NULL;
    assert_int_equal(abut_hull_box(NULL, x, y, z, &h, NULL), ABUT_OK);
    return h;
}

static void pair_of_random(store *s, uint64_t *seed, int i, int n, double apart, setup *out) {
    if (s->count == 0 || i % 50 == 0) {
        for (int k = 0; k < s->count; k++) abut_hull_free(NULL, s->hull[k]);
        s->hull[0] = brute_random_hull(seed, n, 0.5), s->hull[1] = brute_random_hull(seed, n, 0.5),
        s->count = 2;
    }
    out->a = s->hull[0], out->b = s->hull[1];
    out->pa = (pose){vec3_scale(brute_random_direction(seed), 3), brute_random_rotation(seed)};
    out->pb =
        (pose){vec3_axpy(out->pa.position, apart, brute_random_direction(seed)), brute_random_rotation(seed)};
}

static void random_apart(store *s, uint64_t *seed, int i, setup *out) {
    pair_of_random(s, seed, i, 8 << (i / 50 % 6 < 3 ? 2 : i / 50 % 6 - 3), random_range(seed, 1.15, 3), out);
}
static void random_overlap(store *s, uint64_t *seed, int i, setup *out) {
    pair_of_random(s, seed, i, 8 << (i / 50 % 6 < 3 ? 2 : i / 50 % 6 - 3), random_range(seed, 0.01, 0.8),
                   out);
}
static void random_large(store *s, uint64_t *seed, int i, setup *out) {
    pair_of_random(s, seed, i, i / 50 % 2 ? 128 : 256, random_range(seed, 0.05, 2), out);
}

static void boxes_at(store *s, uint64_t *seed, double gap, setup *out) {
    if (s->count == 0) s->hull[0] = box_hull(1, 1, 1), s->hull[1] = box_hull(1.5, 0.75, 0.5), s->count = 2;
    out->a = s->hull[0], out->b = s->hull[1];
    /* faces in touch, turned about the contact normal by any angle, then all of it anywhere */
    double angle = random_range(seed, -4, 4);
    pose world = {vec3_scale(brute_random_direction(seed), 2), brute_random_rotation(seed)};
    pose relative = {{random_range(seed, -0.3, 0.3), random_range(seed, -0.3, 0.3), 0.75 + gap},
                     abut_quat_from_axis_angle((vec3){0, 0, 1}, angle)};
    out->pa = world, out->pb = pose_mul(world, relative);
}
static void face_touch(store *s, uint64_t *seed, int i, setup *out) { (void)i, boxes_at(s, seed, 0, out); }
static void face_gap(store *s, uint64_t *seed, int i, setup *out) { (void)i, boxes_at(s, seed, 1e-3, out); }
static void face_overlap(store *s, uint64_t *seed, int i, setup *out) {
    (void)i, boxes_at(s, seed, -1e-3, out);
}

/* Two unit boxes standing on edges, one upside down on the other: ridge on ridge, shifted along it. */
static void parallel_edges(store *s, uint64_t *seed, int i, setup *out) {
    if (s->count == 0) s->hull[0] = box_hull(1, 1, 1), s->count = 1;
    out->a = out->b = s->hull[0];
    quat tilt = abut_quat_from_axis_angle((vec3){1, 0, 0}, 0.78539816339744830962);
    double gap = i % 3 == 0 ? 0 : i % 3 == 1 ? 1e-3 : -1e-3;
    pose world = i % 2 ? (pose){vec3_scale(brute_random_direction(seed), 2), brute_random_rotation(seed)}
                       : pose_identity();
    out->pa = pose_mul(world, (pose){{0, 0, 0}, tilt});
    out->pb = pose_mul(world, (pose){{random_range(seed, -0.7, 0.7), 0, 1.41421356237309504880 + gap}, tilt});
}

static void coincident_centres(store *s, uint64_t *seed, int i, setup *out) {
    pair_of_random(s, seed, i, 32, 0, out);
    /* put the centres of mass, not the origins, on each other */
    vec3 ca = pose_point(out->pa, out->a->center), cb = quat_rotate(out->pb.rotation, out->b->center);
    out->pb.position = vec3_sub(ca, cb);
}
static void identical_boxes(store *s, uint64_t *seed, int i, setup *out) {
    boxes_at(s, seed, 0, out);
    out->b = out->a = s->hull[i % 2], out->pb = out->pa;
}
static void identical_hulls(store *s, uint64_t *seed, int i, setup *out) {
    pair_of_random(s, seed, i, 32, 0, out);
    out->b = out->a, out->pb = out->pa;
}

/* 1000 : 1, crossing near their middles at a random angle, apart by up to `range`. */
static void needles(store *s, uint64_t *seed, double low, double high, setup *out) {
    if (s->count == 0) s->hull[0] = box_hull(10, 0.01, 0.01), s->count = 1;
    out->a = out->b = s->hull[0];
    pose world = {vec3_scale(brute_random_direction(seed), 2), brute_random_rotation(seed)};
    quat spin = quat_mul(abut_quat_from_axis_angle((vec3){0, 0, 1}, random_range(seed, 0.02, 3.1)),
                         abut_quat_from_axis_angle((vec3){1, 0, 0}, random_range(seed, -3, 3)));
    vec3 at = {random_range(seed, -2, 2), random_range(seed, -0.01, 0.01), random_range(seed, low, high)};
    out->pa = world, out->pb = pose_mul(world, (pose){at, spin});
}
static void needles_crossing(store *s, uint64_t *seed, int i, setup *out) {
    (void)i, needles(s, seed, -0.009, 0.009, out);
}
static void needles_near(store *s, uint64_t *seed, int i, setup *out) {
    (void)i, needles(s, seed, 0.0101, 0.03, out);
}

static void plates(store *s, uint64_t *seed, int i, setup *out) {
    if (s->count == 0) s->hull[0] = box_hull(1, 1, 1e-4), s->count = 1;
    out->a = out->b = s->hull[0];
    pose world = {vec3_scale(brute_random_direction(seed), 2), brute_random_rotation(seed)};
    quat spin = abut_quat_from_axis_angle((vec3){0, 0, 1}, random_range(seed, -3, 3));
    if (i % 2)
        spin = quat_mul(spin, abut_quat_from_axis_angle((vec3){1, 0, 0}, random_range(seed, -0.5, 0.5)));
    vec3 at = {random_range(seed, -0.4, 0.4), random_range(seed, -0.4, 0.4),
               i % 4 < 2 ? 1e-4 : random_range(seed, 0, 3e-4)};
    out->pa = world, out->pb = pose_mul(world, (pose){at, spin});
}

static void box_on_slab(store *s, uint64_t *seed, int i, setup *out) {
    if (s->count == 0) s->hull[0] = box_hull(1, 1, 1), s->hull[1] = box_hull(100, 100, 1), s->count = 2;
    out->a = s->hull[0], out->b = s->hull[1];
    quat spin = abut_quat_from_axis_angle((vec3){0, 0, 1}, random_range(seed, -3, 3));
    if (i % 4 == 3)
        spin = quat_mul(spin, abut_quat_from_axis_angle((vec3){1, 0, 0}, random_range(seed, -0.5, 0.5)));
    double gap = i % 4 == 0 ? 0 : i % 4 == 1 ? 1e-3 : i % 4 == 2 ? -1e-3 : random_range(seed, -0.2, 0.5);
    vec3 at = {random_range(seed, -49, 49), random_range(seed, -49, 49), 1 + gap};
    out->pb = pose_identity(), out->pa = (pose){at, spin};
}

/* ---- */

typedef struct tally {
    double growth, distance, point, misfit; /* largest errors */
    long steps;
    int most_steps, wrong, unaligned, points;
} tally;

/* Contact points: on the planes of their features, displaced along the normal, and their corners those of the
 * exact intersection. */
static void check_points(const brute_hull *a, const brute_hull *b, const abut_convex_result *r, tally *t) {
    vec3 n = vec3_neg(r->normal);
    double ha = brute_reach(a, n), hb = brute_reach(b, vec3_neg(n));
    vec3 c = vec3_sub(b->center, a->center);
    for (int i = 0; i < r->point_count; i++) {
        const abut_convex_point *p = &r->points[i];
        vec3 from_a = vec3_sub(p->a, a->center), from_b = vec3_sub(p->b, b->center);
        t->point = fmax(t->point, fabs(vec3_dot(n, from_a) - ha));
        t->point = fmax(t->point, fabs(vec3_dot(n, from_b) + hb));
        t->point = fmax(t->point, fabs(p->distance - r->distance));
        if (r->is_aligned) {
            vec3 apart = vec3_axpy(vec3_sub(p->a, p->b), -p->distance, r->normal);
            t->point = fmax(t->point, vec3_length(apart));
        } else { /* scaled back from the touch of the grown shapes: a - b = c / growth about the centres */
            t->point = fmax(t->point, vec3_distance(vec3_sub(from_a, from_b), vec3_scale(c, 1 / r->growth)));
        }
    }
    t->points += r->point_count, t->unaligned += !r->is_aligned;
    t->misfit = fmax(t->misfit, brute_misfit(a, b, r));
}

static void check_pose(const setup *s, brute_hull *a, brute_hull *b, abut_convex_cache *cache, tally *t) {
    abut_convex_point points[128];
    abut_convex_result r = {.points = points, .capacity = 128};
    abut_convex sa = abut_convex_hull(s->a), sb = abut_convex_hull(s->b);
    abut_error error = {0};
    if (abut_convex_distance(&sa, s->pa, &sb, s->pb, NULL, cache, &r, &error) != ABUT_OK) {
        print_error("%s\n", error.message);
        t->wrong++;
        return;
    }
    brute_place(a, s->a, s->pa), brute_place(b, s->b, s->pb);
    vec3 n = vec3_neg(r.normal), c = vec3_sub(b->center, a->center);
    brute_answer exact = brute_growth(a, b, s->a->edge_count * s->b->edge_count > 3000);
    t->growth = fmax(t->growth, fabs(r.growth - fmax(exact.growth, 0)));
    /* apart or overlapping by more than a dozen roundings of the coordinates: no excuse */
    double gap = vec3_dot(exact.n, c) - brute_extent(a, b, exact.n), size = s->a->radius + s->b->radius;
    t->wrong += fabs(gap) > 1e-14 * size && (r.growth > 1) != (gap > 0);
    t->distance = fmax(t->distance, fabs(r.distance - (vec3_dot(n, c) - brute_extent(a, b, n))));
    if (r.is_coincident) t->distance = fmax(t->distance, fabs(-r.distance - exact.least_extent));
    t->steps += r.iterations, t->most_steps = r.iterations > t->most_steps ? r.iterations : t->most_steps;
    check_points(a, b, &r, t);
}

static const struct {
    const char *name;
    family *make;
} families[] = {
    {"random apart, 8 to 64", random_apart},
    {"random overlapping", random_overlap},
    {"random of 128 and 256", random_large},
    {"faces touch", face_touch},
    {"faces, gap 1e-3", face_gap},
    {"faces, overlap 1e-3", face_overlap},
    {"parallel edges", parallel_edges},
    {"coincident centres", coincident_centres},
    {"identical boxes", identical_boxes},
    {"identical hulls", identical_hulls},
    {"needles crossing", needles_crossing},
    {"needles near", needles_near},
    {"plates", plates},
    {"box on slab", box_on_slab},
};

static void test_families(void **state) {
    (void)state;
    print_message("%-24s %9s %9s %9s %9s %6s %5s %9s %6s\n", "family", "growth", "distance", "points",
                  "polygon", "steps", "most", "unaligned", "count");
    bool fine = true;
    for (int f = 0; f < COUNT_OF(families); f++) {
        uint64_t seed = 20261115 + (uint64_t)f;
        store s = {0};
        brute_hull a = {0}, b = {0};
        tally t = {0};
        for (int i = 0; i < POSES; i++) {
            setup at;
            families[f].make(&s, &seed, i, &at);
            check_pose(&at, &a, &b, NULL, &t);
        }
        print_message("%-24s %9.1e %9.1e %9.1e %9.1e %6.1f %5d %9d %6d%s\n", families[f].name, t.growth,
                      t.distance, t.point, t.misfit, (double)t.steps / POSES, t.most_steps, t.unaligned,
                      t.points, t.wrong ? " WRONG" : "");
        fine = fine && t.wrong == 0 && t.growth <= 1e-9 && t.distance <= 1e-9 && t.point <= 1e-9 &&
               t.misfit <= 1e-9;
        for (int k = 0; k < s.count; k++) abut_hull_free(NULL, s.hull[k]);
        brute_free(&a), brute_free(&b);
    }
    assert_true(fine);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_families)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
