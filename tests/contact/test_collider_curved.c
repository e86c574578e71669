/* Solids with dents (torus, L, U) against cylinders and ellipsoids of many forms, in and around them.
 *
 * Whether two of them overlap is asked triangle by triangle of the solid's boundary, in closed form: a
 * triangle has a part of a convex shape if one of its sides has one, or if a point that the shape has in the
 * triangle's plane lies within it; and where no triangle has one, the shape's centre is inside or outside.
 *
 *   - A told depth is no more than the least translation that parts the two: none by less than 0.99 of it
 *     does (0.99 is what collider_ways.c leaves to rounding).
 *   - Overlaps are told, and nothing else is: the shape a little smaller overlaps, and nothing pushes; the
 *     shape as it is does not, and something does.
 *   - Each contact that is apart is a point of the surface of one and of the boundary of the other, along its
 * normal.
 *   - Apart, the least gap is the distance of the nearest cell of the solid, by GJK. */
#include "contact/boundary.h"
#include "contact/cast.h"
#include "convex/pair.h"
#include "make_collider.h"

enum { MOST_TRIANGLES = 400, MOST_CELLS = 200, RANDOM_WAYS = 60 };

typedef struct subject {
    abut_solid *solid;
    boundary boundary;
    collider *collider;
    vec3 triangles[MOST_TRIANGLES][3]; /* stored frame */
    int count, last;                   /* last: that was hit, asked first */
    abut_hull *cells[MOST_CELLS];
    int cell_count;
} subject;

/* ---- the solid */

/* The convex pieces of all faces, as fans. */
static void list_triangles(subject *s) {
    const abut_index *index = s->boundary.index;
    for (int64_t p = 0; p < index->piece_count; p++) {
        int32_t from = index_piece_corners(index)[p], to = index_piece_corners(index)[p + 1];
        const int32_t *corner = index_corners(index);
        for (int32_t k = from + 1; k + 1 < to; k++) {
            assert_true(s->count < MOST_TRIANGLES);
            s->triangles[s->count][0] = solid_position(s->solid, corner[from]);
            s->triangles[s->count][1] = solid_position(s->solid, corner[k]);
            s->triangles[s->count++][2] = solid_position(s->solid, corner[k + 1]);
        }
    }
}

static void list_cells(subject *s) {
    abut_cells cells = {0};
    assert_int_equal(abut_index_cells(NULL, s->boundary.index, s->solid, &cells, NULL), ABUT_OK);
    assert_true(cells.count <= MOST_CELLS);
    for (int64_t i = 0; i < cells.count; i++) {
        int32_t from = cells.corner_start[cells.facet_start[i]],
                to = cells.corner_start[cells.facet_start[i + 1]];
        if (abut_hull_create(NULL, cells.points + from, to - from, &s->cells[s->cell_count], NULL) == ABUT_OK)
            s->cell_count++;
    }
    abut_cells_free(NULL, &cells);
}

/* 0: a torus, 1: an L, 2: a U */
static void make_subject(int kind, subject *s) {
    const double l[6][2] = {{-0.2, -0.1}, {0.2, -0.1}, {0.2, 0}, {0, 0}, {0, 0.2}, {-0.2, 0.2}};
    const double u[8][2] = {{-0.2, -0.15}, {0.2, -0.15}, {0.2, 0.15},  {0.12, 0.15},
                            {0.12, -0.05}, {-0.1, -0.1}, {-0.12, 0.2}, {-0.2, 0.2}};
    *s = (subject){.solid = NULL};
    abut_status status = kind == 0   ? abut_solid_torus(NULL, 0.2, 0.07, 10, 6, &s->solid, NULL)
                         : kind == 1 ? abut_solid_prism(NULL, l, 6, 0.2, &s->solid, NULL)
                                     : abut_solid_prism(NULL, u, 8, 0.15, &s->solid, NULL);
    assert_int_equal(status, ABUT_OK);
    assert_int_equal(boundary_create(NULL, s->solid, &s->boundary, NULL), ABUT_OK);
    s->collider = make(abut_shape_solid(s->solid));
    list_triangles(s);
    list_cells(s);
}

static void free_subject(subject *s) {
    for (int i = 0; i < s->cell_count; i++) abut_hull_free(NULL, s->cells[i]);
    collider_free(NULL, s->collider), boundary_free(NULL, &s->boundary), abut_solid_free(NULL, s->solid);
}

/* ---- the shape */

static abut_shape scaled(abut_shape s, double k) {
    s.radius *= k, s.length *= k, s.axes = vec3_scale(s.axes, k);
    return s;
}

static abut_convex convex_of(const abut_shape *s) {
    switch (s->kind) {
    case ABUT_SHAPE_SPHERE: return abut_convex_sphere(s->radius);
    case ABUT_SHAPE_CAPSULE: return abut_convex_capsule(s->radius, s->length);
    case ABUT_SHAPE_CYLINDER: return abut_convex_cylinder(s->radius, s->length);
    default: return abut_convex_ellipsoid(s->axes.x, s->axes.y, s->axes.z);
    }
}

static bool is_round(const abut_shape *s) {
    return s->kind == ABUT_SHAPE_SPHERE || s->kind == ABUT_SHAPE_CAPSULE;
}

/* The square of the distance of x + t d, 0 <= t <= 1, from the segment -h .. h of the z axis:  f(t) is convex
 * and piecewise quadratic, and least at an end, where the nearest point of the axis is an end, or within. */
static double distance2_from_axis(vec3 x, vec3 d, double h) {
    double cross = d.x * d.x + d.y * d.y, all = cross + d.z * d.z, least = INFINITY;
    double at[] = {0,
                   1,
                   all > 0 ? -(x.x * d.x + x.y * d.y + (x.z - h) * d.z) / all : 0,
                   all > 0 ? -(x.x * d.x + x.y * d.y + (x.z + h) * d.z) / all : 0,
                   cross > 0 ? -(x.x * d.x + x.y * d.y) / cross : 0,
                   d.z != 0 ? (h - x.z) / d.z : 0,
                   d.z != 0 ? (-h - x.z) / d.z : 0};
    for (int k = 0; k < 7; k++) {
        vec3 y = vec3_axpy(x, fmin(1, fmax(0, at[k])), d);
        double z = fmax(0, fabs(y.z) - h);
        least = fmin(least, y.x * y.x + y.y * y.y + z * z);
    }
    return least;
}

/* The part of x + t d, 0 <= t <= 1, for which a t^2 + 2 b t + c < 0, cut with from .. to. */
static void cut_quadratic(double a, double b, double c, double *from, double *to) {
    double det = b * b - a * c;
    if (a > 0 && det > 0) {
        *from = fmax(*from, (-b - sqrt(det)) / a), *to = fmin(*to, (-b + sqrt(det)) / a);
    } else if (!(a <= 0 && c < 0)) {
        *to = -INFINITY;
    }
}

/* Whether the segment (shape axes) has a point inside. */
static bool has_part(const abut_shape *s, vec3 x, vec3 end) {
    vec3 d = vec3_sub(end, x);
    double from = 0, to = 1;
    if (is_round(s)) return distance2_from_axis(x, d, s->length / 2) < s->radius * s->radius;
    if (s->kind == ABUT_SHAPE_ELLIPSOID) {
        vec3 e = s->axes;
        x = vec3_make(x.x / e.x, x.y / e.y, x.z / e.z), d = vec3_make(d.x / e.x, d.y / e.y, d.z / e.z);
        cut_quadratic(vec3_dot(d, d), vec3_dot(x, d), vec3_dot(x, x) - 1, &from, &to);
    } else {
        cut_quadratic(d.x * d.x + d.y * d.y, x.x * d.x + x.y * d.y,
                      x.x * x.x + x.y * x.y - s->radius * s->radius, &from, &to);
        cut_quadratic(d.z * d.z, x.z * d.z, x.z * x.z - s->length * s->length / 4, &from, &to);
    }
    return from < to;
}

/* Whether y, in the triangle's plane, lies within. */
static bool is_within(const vec3 t[3], vec3 n, vec3 y) {
    for (int k = 0; k < 3; k++)
        if (vec3_triple(n, vec3_sub(t[(k + 1) % 3], t[k]), vec3_sub(y, t[k])) < 0) return false;
    return true;
}

/* A triangle in shape axes. */
static bool triangle_has_part(const abut_shape *s, const vec3 t[3]) {
    for (int k = 0; k < 3; k++)
        if (has_part(s, t[k], t[(k + 1) % 3])) return true;
    abut_convex c = convex_of(s);
    vec3 n = vec3_cross(vec3_sub(t[1], t[0]), vec3_sub(t[2], t[0]));
    vec3 low = abut_convex_support(&c, vec3_neg(n)), high = abut_convex_support(&c, n);
    double below = vec3_dot(n, vec3_sub(low, t[0])), above = vec3_dot(n, vec3_sub(high, t[0]));
    return below < 0 && above > 0 && is_within(t, n, vec3_lerp(low, high, below / (below - above)));
}

/* The pose is that of the shape in the solid's stored frame. */
static bool overlap(subject *a, const abut_shape *s, pose p) {
    for (int i = 0; i < a->count; i++) {
        int at = (a->last + i) % a->count;
        vec3 t[3];
        for (int k = 0; k < 3; k++) t[k] = pose_unpoint(p, a->triangles[at][k]);
        if (triangle_has_part(s, t)) {
            a->last = at;
            return true;
        }
    }
    return boundary_contains(&a->boundary, vec3_add(p.position, a->solid->origin));
}

/* ---- what is told */

typedef struct told {
    manifold m[COLLIDER_ROOM];
    int count;
    double least;
} told;

/* Poses in A's stored frame. */
static told tell(const subject *a, const collider *b, pose p, double reach, double angle) {
    manifold_config config = {.reach = reach, .angle = angle, .all_places = true};
    told t = {.least = INFINITY};
    pose frame = {vec3_neg(a->solid->origin), {1, 0, 0, 0}}; /* the shape's axes seen from the stored ones */
    t.count = collider_collide(a->collider, frame, b, p, &config, NULL, 0, t.m, COLLIDER_ROOM);
    for (int i = 0; i < t.count; i++)
        for (int k = 0; k < t.m[i].count; k++) t.least = fmin(t.least, t.m[i].points[k].gap);
    return t;
}

/* Points that do not overlap lie on both boundaries.  Those of a group, whose normals are within a tenth of a
 * radian of the one they have in common, are off by a tenth of their gap; the sides of a polygon of 16
 * corners that stands for the end of a cylinder by r (1 - cos(pi / 16)) < 0.02 r. */
static void check_witnesses(const subject *a, const collider *b, pose p, const told *t, double chord) {
    const bool ends_too = chord < 0; /* of a capsule that leans, the far end's own point is inside it */
    for (int i = 0; i < t->count; i++)
        for (int k = 0; k < t->m[i].count; k++) {
            const manifold_point *c = &t->m[i].points[k];
            vec3 x = vec3_axpy(c->at, -c->gap / 2, t->m[i].normal),
                 y = vec3_axpy(c->at, c->gap / 2, t->m[i].normal), on, normal;
            double far = 1e300, off = 1e-6 + 0.1 * c->gap;
            cast_hit hit;
            if (c->gap < 0) continue;
            assert_true(boundary_nearest(&a->boundary, vec3_add(y, a->solid->origin), &far, &on, &normal));
            assert_true(cast_point(b, p, x, INFINITY, &hit));
            if (fabs(far) > off) fail_msg("a contact is %g off the boundary", far);
            if ((ends_too ? hit.t : fabs(hit.t)) > off + fmax(chord, 0))
                fail_msg("a contact is %g off the surface", hit.t);
        }
}

/* ---- the least translation */

static bool frees(subject *a, const abut_shape *s, pose p, vec3 way) {
    p.position = vec3_add(p.position, way);
    return !overlap(a, s, p);
}

/* Along the normals of all faces and edges, and in random directions, not all the way. */
static void check_no_shorter(subject *a, const abut_shape *s, pose p, double depth, uint64_t *seed,
                             int round) {
    const abut_solid *solid = a->solid;
    for (int i = 0; i < solid->face_count + solid->edge_count + RANDOM_WAYS; i++) {
        vec3 n = support_direction(seed);
        if (i < solid->face_count) {
            n = solid_faces(solid)[i].plane.n;
        } else if (i < solid->face_count + solid->edge_count) {
            const solid_edge *e = &solid_edges(solid)[i - solid->face_count];
            n = vec3_add(solid_faces(solid)[solid_coedges(solid)[e->coedge[0]].face].plane.n,
                         solid_faces(solid)[solid_coedges(solid)[e->coedge[1]].face].plane.n);
            if (!(vec3_length(n) > 0.01)) continue;
            n = vec3_unit(n);
        }
        double part = i % 3 == 0 ? 0.5 : 0.989;
        if (frees(a, s, p, vec3_scale(n, part * depth)))
            fail_msg("round %d: told to be %g deep, but %g parts them", round, depth, part * depth);
    }
}

/* ---- */

static double cell_distance(const subject *a, const abut_shape *s, pose p) {
    abut_convex shape = convex_of(s);
    double least = INFINITY;
    pose frame = {vec3_neg(a->solid->origin), {1, 0, 0, 0}};
    for (int i = 0; i < a->cell_count; i++) {
        abut_convex cell = abut_convex_hull(a->cells[i]);
        abut_convex_gap gap;
        assert_int_equal(abut_convex_closest(&cell, frame, &shape, p, &gap, NULL), ABUT_OK);
        least = fmin(least, gap.distance);
    }
    return least;
}

typedef struct tally {
    int met, apart, near, deepest_mm;
} tally;

static void try_pose(subject *a, const abut_shape *s, const collider *b, pose p, uint64_t *seed, int round,
                     tally *count) {
    const abut_shape smaller = scaled(*s, 0.9999);
    const double chord = s->kind == ABUT_SHAPE_CYLINDER ? 0.02 * s->radius : is_round(s) ? -1 : 0;
    told t = tell(a, b, p, 0.02, 0.2);
    check_witnesses(a, b, p, &t, chord);
    if (overlap(a, &smaller, p)) {
        count->met++;
        if (!(t.least < 0)) fail_msg("round %d: an overlap pushes nothing", round);
    } else if (!overlap(a, s, p)) {
        count->apart++;
        if (t.least < -1e-8) fail_msg("round %d: pushed by %g out of nothing", round, t.least);
        double distance = fmax(0, cell_distance(a, s, p)); /* GJK has no distance where they touch */
        t = tell(a, b, p, 0.1, 0);
        check_witnesses(a, b, p, &t, fmin(chord, 0));
        if (distance < 0.099 && fabs(t.least - distance) > 1e-6)
            fail_msg("round %d: a gap of %g is told as %g", round, distance, t.least);
        count->near += distance < 0.1;
        return;
    }
    count->deepest_mm = (int)fmax(count->deepest_mm, -1000 * t.least);
    if (t.least < -1e-6) check_no_shorter(a, s, p, -t.least, seed, round);
}

static void try_shape(int kind, abut_shape s, int rounds, uint64_t seed) {
    subject a;
    make_subject(kind, &a);
    collider *b = make(s);
    tally count = {0};
    for (int round = 0; round < rounds; round++) {
        pose p = support_pose(&seed, 0.3);
        if (round % 4 == 0) p.position = support_vec(&seed, 0.05); /* in the hole */
        if (round % 8 < 2) p.rotation = (quat){1, 0, 0, 0};        /* flat on faces, along edges */
        try_pose(&a, &s, b, p, &seed, round, &count);
        /* a little deeper than where they touch, from outside */
        vec3 d = support_direction(&seed);
        double out = 0, in = 1;
        for (int k = 0; k < 40; k++) {
            double middle = (out + in) / 2;
            pose at = {vec3_scale(d, 1 - middle), p.rotation};
            *(overlap(&a, &s, at) ? &in : &out) = middle;
        }
        double deeper = (round % 3) * (round % 3) * 0.004;
        try_pose(&a, &s, b, (pose){vec3_scale(d, 1 - out - deeper), p.rotation}, &seed, round, &count);
    }
    assert_true(count.met > rounds / 8 && count.apart > rounds / 8 && count.near > rounds / 16);
    if (count.deepest_mm < 5) fail_msg("no deep overlap was among them");
    collider_free(NULL, b);
    free_subject(&a);
}

static void test_ellipsoids(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        try_shape(kind, abut_shape_ellipsoid(0.2, 0.15, 0.1), 400, 11 + (uint64_t)kind);
        try_shape(kind, abut_shape_ellipsoid(0.06, 0.05, 0.07), 400, 21 + (uint64_t)kind);
        try_shape(kind, abut_shape_ellipsoid(0.3, 0.2, 0.02), 400, 31 + (uint64_t)kind);
        try_shape(kind, abut_shape_ellipsoid(0.02, 0.03, 0.3), 400, 41 + (uint64_t)kind);
    }
}

static void test_cylinders(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        try_shape(kind, abut_shape_cylinder(0.12, 0.25), 400, 51 + (uint64_t)kind);
        try_shape(kind, abut_shape_cylinder(0.05, 0.1), 400, 61 + (uint64_t)kind);
        try_shape(kind, abut_shape_cylinder(0.25, 0.04), 400, 71 + (uint64_t)kind);
        try_shape(kind, abut_shape_cylinder(0.03, 0.6), 400, 81 + (uint64_t)kind);
    }
}

static void test_capsules(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        try_shape(kind, abut_shape_capsule(0.1, 0.2), 400, 91 + (uint64_t)kind);
        try_shape(kind, abut_shape_capsule(0.04, 0.05), 400, 101 + (uint64_t)kind);
        try_shape(kind, abut_shape_capsule(0.013, 0.33), 400, 111 + (uint64_t)kind);
        try_shape(kind, abut_shape_capsule(0.02, 0.6), 400, 121 + (uint64_t)kind);
    }
}

static void test_spheres(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        try_shape(kind, abut_shape_sphere(0.15), 400, 131 + (uint64_t)kind);
        try_shape(kind, abut_shape_sphere(0.06), 400, 141 + (uint64_t)kind);
        try_shape(kind, abut_shape_sphere(0.01), 400, 151 + (uint64_t)kind);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ellipsoids), cmocka_unit_test(test_cylinders),
                                       cmocka_unit_test(test_capsules), cmocka_unit_test(test_spheres)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
