/* Places of two smooth surfaces, against brute force: one of them is a ball, or a hollow ball, made of six
 * patches, whose signed distance is known in closed form, so that the places are the local minima of that
 * over the other one; or a dish of one Bezier patch, from which the distance is that of the closest point, by
 * bounds (abut_surface_closest).  Those are looked for on a dense grid of points, without any of the bounds,
 * cones and Newton steps of the search.  Cylinders that are nearly parallel have the distance of their axes.
 */
#include "contact/smooth.h"
#include "support.h"

#include <stdio.h>

static uint64_t seed = 11;

static contact_shape make(abut_surface *surface) {
    contact_shape s;
    abut_error error = {0};
    abut_shape shape = {.kind = ABUT_SHAPE_SURFACE, .surface = surface};
    if (contact_shape_create(NULL, &shape, vec3_zero(), &s, &error) != ABUT_OK ||
        smooth_shape_add(NULL, &s, &error) != ABUT_OK)
        fail_msg("%s", error.message);
    return s;
}

/* A quarter of the inside of a cylinder of radius r around the y axis, from -r to r along it, below. */
static abut_surface *trough(double r) {
    const double arc[6] = {0, 0, 0, 1, 1, 1}, line[4] = {0, 0, 1, 1}, h = sqrt(0.5);
    vec3 points[6];
    double weights[6];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++) {
            points[3 * j + i] = vec3_make((i - 1) * r * h, (2 * j - 1) * r, i == 1 ? -r / h : -r * h);
            weights[3 * j + i] = i == 1 ? h : 1;
        }
    abut_nurbs n = {2, 1, 3, 2, arc, line, points, weights};
    abut_surface *surface = NULL;
    abut_error error = {0};
    if (abut_surface_nurbs(NULL, &n, &surface, &error) != ABUT_OK) fail_msg("%s", error.message);
    return surface;
}

static abut_surface *ball(double r) {
    abut_quadric q = abut_default_quadric(ABUT_PATCH_SPHERE);
    q.axes = (mat3){{r, 0, 0}, {0, r, 0}, {0, 0, r}};
    abut_surface *surface = NULL;
    if (abut_surface_quadric(NULL, &q, &surface, NULL) != ABUT_OK) fail_msg("no ball");
    return surface;
}

/* ---- brute force */

enum { GRID = 24, SIDE = GRID + 1 };

typedef struct brute {
    vec3 at[SIDE][SIDE];
    double distance[SIDE][SIDE];
    bool inside[SIDE][SIDE];
} brute;

/* What the places are looked for against: the ball (r > 0), the trough (r < 0), or any surface (r = 0). */
typedef struct against {
    double r;
    const contact_shape *shape;
    abut_surface_tree *tree;
} against;

/* Signed distance. */
static double distance_from(const against *o, vec3 x) {
    if (o->r != 0) return o->r > 0 ? vec3_length(x) - o->r : -o->r - sqrt(x.x * x.x + x.z * x.z);
    vec3 from = vec3_add(x, o->shape->center);
    abut_closest near = abut_surface_closest(o->shape->atlas, o->tree, from);
    abut_partials p;
    abut_surface_evaluate(o->shape->atlas, near.place.patch, near.place.u, near.place.v, 1, &p);
    return vec3_dot(abut_partials_normal(&p), vec3_sub(from, near.point)) < 0 ? -near.distance
                                                                              : near.distance;
}

/* Whether a part of the patch can be nearer than reach: its samples lie in a ball around the first. */
static bool comes_near(const contact_shape *s, const motion *m, int patch, const against *o, double reach) {
    const smooth_samples *all = s->smooth;
    vec3 middle = all->samples[all->first[patch]].at;
    double radius = 0;
    for (int32_t i = all->first[patch]; i < all->first[patch + 1]; i++)
        radius = fmax(radius, vec3_distance(all->samples[i].at, middle));
    vec3 at = vec3_add(m->center, quat_rotate(m->rotation, middle));
    return distance_from(o, at) <= reach + 1.5 * radius;
}

static void look(const contact_shape *s, const motion *m, int patch, const against *o, brute *b) {
    double corners[ABUT_SIDES_MOST][2], low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    int sides = abut_surface_domain(s->atlas, patch, corners);
    for (int i = 0; i < sides; i++)
        for (int k = 0; k < 2; k++)
            low[k] = fmin(low[k], corners[i][k]), high[k] = fmax(high[k], corners[i][k]);
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            abut_surface_point at = {patch, low[0] + (high[0] - low[0]) * i / GRID,
                                     low[1] + (high[1] - low[1]) * j / GRID};
            abut_partials p;
            b->inside[i][j] = abut_surface_outside(s->atlas, at, NULL) <= 1e-12;
            abut_surface_evaluate(s->atlas, patch, at.u, at.v, 0, &p);
            b->at[i][j] = vec3_add(m->center, quat_rotate(m->rotation, vec3_sub(p.c, s->center)));
            b->distance[i][j] = b->inside[i][j] ? distance_from(o, b->at[i][j]) : INFINITY;
        }
}

/* Whether the grid point is nearer than all around it; *apart receives how far these are. */
static bool is_least(const brute *b, int i, int j, double *apart) {
    *apart = 0;
    for (int k = -1; k <= 1; k++)
        for (int l = -1; l <= 1; l++) {
            if (k == 0 && l == 0) continue;
            if (!b->inside[i + k][j + l] || b->distance[i + k][j + l] <= b->distance[i][j]) return false;
            *apart = fmax(*apart, vec3_distance(b->at[i][j], b->at[i + k][j + l]));
        }
    return b->inside[i][j];
}

/* Every least point of the grid that is nearer than reach has a place beside it, no farther than it is. */
static int compare(const contact_shape *s, const motion *m, const against *o, double reach) {
    const contact_shape *round = o->shape;
    static brute b;
    motion still = {.rotation = {1, 0, 0, 0}};
    near_array found = {0};
    assert_true(smooth_collect(NULL, s, m, round, &still, reach, false, &found));
    int count = 0;
    for (int patch = 0; patch < s->smooth->patch_count; patch++) {
        if (!comes_near(s, m, patch, o, reach)) continue;
        look(s, m, patch, o, &b);
        for (int i = 1; i < GRID; i++)
            for (int j = 1; j < GRID; j++) {
                double apart, distance = b.distance[i][j];
                if (!(distance < reach) || !is_least(&b, i, j, &apart)) continue;
                bool there = false;
                for (int64_t k = 0; k < found.count; k++) {
                    contact_point p;
                    bool faces;
                    if (!smooth_evaluate(&found.data[k], s, m, round, &still, 1e-9, &p, &faces)) continue;
                    vec3 on = vec3_axpy(p.at, p.gap, p.normal);
                    there |= p.gap <= distance + 1e-12 && vec3_distance(on, b.at[i][j]) <= 3 * apart;
                }
                if (!there)
                    fail_msg("no place beside (%g %g %g), %g away, on patch %d (%d %d) of %d places",
                             b.at[i][j].x, b.at[i][j].y, b.at[i][j].z, distance, patch, i, j,
                             (int)found.count);
                count++;
            }
    }
    array_free(NULL, &found);
    return count;
}

/* ---- two places on one pair of patches */

/* z = h (-a xy + x^2 y^2 + c (x^2 + y^2)) over [-1, 1]^2 as a bicubic patch with the outside below, by
 * interpolation at 0, 1/3, 2/3, 1: two wells where x = y = +-sqrt(a / 2 - c), a saddle between them. */
static abut_surface *two_wells(double h) {
    const double inverse[4][4] = {/* control points of the cubic through four values */
                                  {1, 0, 0, 0},
                                  {-5.0 / 6, 3, -1.5, 1.0 / 3},
                                  {1.0 / 3, -1.5, 3, -5.0 / 6},
                                  {0, 0, 0, 1}};
    vec3 values[4][4], points[16];
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++) {
            double x = 1 - 2.0 * i / 3, y = 2.0 * j / 3 - 1; /* x runs backwards: the outside is below */
            values[j][i] = vec3_make(x, y, h * (-1.2 * x * y + x * x * y * y + 0.2 * (x * x + y * y)));
        }
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++) {
            vec3 sum = vec3_zero();
            for (int k = 0; k < 4; k++)
                for (int l = 0; l < 4; l++) sum = vec3_axpy(sum, inverse[j][k] * inverse[i][l], values[k][l]);
            points[4 * j + i] = sum;
        }
    abut_surface *surface = NULL;
    if (abut_surface_bezier(NULL, points, 1, &surface, NULL) != ABUT_OK) fail_msg("no patch");
    return surface;
}

static void two_places_on_one_pair_of_patches_are_found(void **state) {
    (void)state;
    const double heights[] = {1, 0.3, 0.1, 0.05};
    int count = 0;
    for (int k = 0; k < COUNT_OF(heights); k++) {
        abut_surface *wells = two_wells(heights[k]), *globe = ball(100);
        contact_shape a = make(wells), b = make(globe);
        for (int i = 0; i < 40; i++) {
            motion m = {.rotation = {1, 0, 0, 0}};
            m.center = vec3_make(random_range(&seed, -1, 1), random_range(&seed, -1, 1),
                                 100.0 + 0.7 * heights[k] + random_range(&seed, -0.1, 0.1) * heights[k]);
            count += compare(&a, &m, &(against){100, &b, NULL}, 0.3);
        }
        contact_shape_free(NULL, &a);
        contact_shape_free(NULL, &b);
        abut_surface_free(NULL, wells);
        abut_surface_free(NULL, globe);
    }
    print_message("%d places\n", count);
    assert_true(count >= 200); /* of 2 in 160 poses; flat wells go over the border of the patch */
}

/* ---- a body with many feet */

/* A slab of n by n cells, every other one drawn out below into a foot. */
static abut_surface *many_feet(int n) {
    enum { TEXT = 1 << 16 };
    static char text[TEXT];
    size_t used = 0;
    int w = n + 1;
    for (int k = 0; k < 3; k++) /* layers: below the feet, below and above the slab */
        for (int j = 0; j <= n; j++)
            for (int i = 0; i <= n; i++)
                used += (size_t)snprintf(text + used, TEXT - used, "v %g %g %g\n", i - n / 2.0, j - n / 2.0,
                                         k == 0   ? -0.8
                                         : k == 1 ? 0.0
                                                  : 0.5);
    for (int k = 0; k < 2; k++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) {
#define FOOT(x, y)    ((x) >= 0 && (y) >= 0 && (x) < n && (y) < n && (x) % 2 == 0 && (y) % 2 == 0)
#define FULL(x, y, z) ((z) == 1 ? (x) >= 0 && (y) >= 0 && (x) < n && (y) < n : (z) == 0 && FOOT(x, y))
                if (!FULL(i, j, k)) continue;
                int c[8]; /* corners of the cell: x fastest, then y, z */
                for (int q = 0; q < 8; q++)
                    c[q] = 1 + i + (q & 1) + w * (j + (q >> 1 & 1)) + w * w * (k + (q >> 2));
                const int quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                         {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
                const int ways[6][3] = {{0, 0, -1}, {0, 0, 1}, {0, -1, 0}, {0, 1, 0}, {-1, 0, 0}, {1, 0, 0}};
                for (int f = 0; f < 6; f++)
                    if (!FULL(i + ways[f][0], j + ways[f][1], k + ways[f][2]))
                        used += (size_t)snprintf(text + used, TEXT - used, "f %d %d %d %d\n", c[quads[f][0]],
                                                 c[quads[f][1]], c[quads[f][2]], c[quads[f][3]]);
#undef FULL
#undef FOOT
            }
    abut_mesh *mesh = NULL;
    abut_surface *surface = NULL;
    abut_error error = {0};
    abut_loop_options options = abut_default_loop_options();
    options.form = ABUT_LOOP_SMOOTH;
    if (abut_mesh_read(NULL, text, used, ABUT_FORMAT_OBJ, "feet.obj", &mesh, &error) != ABUT_OK ||
        abut_surface_loop(NULL, mesh, &options, &surface, &error) != ABUT_OK)
        fail_msg("%s", error.message);
    abut_mesh_free(NULL, mesh);
    return surface;
}

/* On a ball, and in a trough which is one patch below all feet. */
static void all_feet_are_found(void **state) {
    (void)state;
    abut_surface *feet = many_feet(5);
    contact_shape a = make(feet);
    const double radii[] = {1000, 30, -1000, -60, -25};
    int count = 0;
    for (int k = 0; k < COUNT_OF(radii); k++) {
        double r = radii[k];
        abut_surface *other = r > 0 ? ball(r) : trough(-r);
        contact_shape b = make(other);
        for (int i = 0; i < 3; i++) {
            vec3 up = vec3_unit(vec3_make(random_range(&seed, -0.3, 0.3), 0, 1)),
                 lean = support_vec(&seed, 0.02);
            /* z of the body turned to `up`, leaning a little, after some turn about it; feet at the wall */
            vec3 to = vec3_unit(vec3_add(up, lean)), z = vec3_make(0, 0, 1), axis = vec3_cross(z, to);
            quat turn = quat_unit((quat){1 + vec3_dot(z, to), axis.x, axis.y, axis.z});
            quat about = quat_unit((quat){1, 0, 0, random_range(&seed, -1, 1)});
            motion m = {.rotation = quat_mul(turn, about), .center = vec3_scale(up, r + 0.75)};
            count += compare(&a, &m, &(against){r, &b, NULL}, 0.4);
        }
        contact_shape_free(NULL, &b);
        abut_surface_free(NULL, other);
    }
    print_message("%d places\n", count);
    assert_true(count >= 60);
    contact_shape_free(NULL, &a);
    abut_surface_free(NULL, feet);
}

/* z = (x^2 + y^2) / 24 + ..., 12 wide, as one bicubic patch with the outside above: its control points lie
 * anywhere in 0.4 around those of the paraboloid. */
static abut_surface *dish(void) {
    vec3 points[16];
    const double at[4] = {-6, -2, 2, 6}, square[4] = {36, -12, -12, 36}; /* of x and of x^2 */
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++)
            points[4 * j + i] =
                vec3_make(at[i], at[j], (square[i] + square[j]) / 24 + random_range(&seed, -0.4, 0.4));
    abut_surface *surface = NULL;
    if (abut_surface_bezier(NULL, points, 1, &surface, NULL) != ABUT_OK) fail_msg("no dish");
    return surface;
}

/* In uneven dishes that are one patch below all feet, upright and leaning. */
static void all_feet_are_found_in_a_dish(void **state) {
    (void)state;
    abut_surface *feet = many_feet(3);
    contact_shape a = make(feet);
    int count = 0;
    for (int k = 0; k < 6; k++) {
        abut_surface *other = dish();
        contact_shape b = make(other);
        against o = {0, &b, NULL};
        assert_int_equal(abut_surface_tree_build(NULL, other, &o.tree, NULL), ABUT_OK);
        vec3 lean = support_vec(&seed, 0.15);
        motion m = {.rotation = quat_unit((quat){1, lean.x, lean.y, random_range(&seed, -1, 1)}),
                    .center = {random_range(&seed, -1, 1), random_range(&seed, -1, 1), 1.0}};
        count += compare(&a, &m, &o, 0.6);
        abut_surface_tree_free(NULL, o.tree);
        contact_shape_free(NULL, &b);
        abut_surface_free(NULL, other);
    }
    print_message("%d places\n", count);
    assert_true(count >= 10);
    contact_shape_free(NULL, &a);
    abut_surface_free(NULL, feet);
}

/* ---- nearly parallel cylinders */

static void cylinders_that_are_nearly_parallel_have_one_place(void **state) {
    (void)state;
    abut_quadric q = abut_default_quadric(ABUT_PATCH_CYLINDER);
    q.low = -2, q.high = 2;
    abut_surface *surface = NULL;
    assert_int_equal(abut_surface_quadric(NULL, &q, &surface, NULL), ABUT_OK);
    contact_shape rod = make(surface);
    const double angles[] = {1, 0.1, 0.01, 1e-3};
    for (int i = 0; i < 200; i++) {
        double angle = angles[i % COUNT_OF(angles)], gap = random_range(&seed, -0.1, 0.1);
        motion a = {.rotation = support_rotation(&seed)};
        /* the other one: turned about its x axis, moved along it, and along its own axis */
        quat tilt = quat_unit((quat){1, angle / 2, 0, 0});
        motion b = {.rotation = quat_mul(a.rotation, tilt)};
        vec3 along = quat_rotate(tilt, vec3_make(0, 0, random_range(&seed, -1, 1)));
        b.center = quat_rotate(a.rotation, vec3_add(vec3_make(2 + gap, 0, 0), along));
        near_array found = {0};
        assert_true(smooth_collect(NULL, &rod, &a, &rod, &b, 0.3, false, &found));
        int count = 0;
        for (int64_t k = 0; k < found.count; k++) {
            contact_point p;
            bool faces;
            if (!smooth_evaluate(&found.data[k], &rod, &a, &rod, &b, 1e-9, &p, &faces) || !faces) continue;
            vec3 normal = quat_rotate(a.rotation, vec3_make(-1, 0, 0));
            if (!(fabs(p.gap - gap) <= 1e-9 && vec3_distance(p.normal, normal) <= 1e-6))
                fail_msg("gap %.12g instead of %.12g at the angle %g", p.gap, gap, angle);
            count++;
        }
        if (count != 1) fail_msg("%d places at the angle %g and the gap %g", count, angle, gap);
        array_free(NULL, &found);
    }
    contact_shape_free(NULL, &rod);
    abut_surface_free(NULL, surface);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_places_on_one_pair_of_patches_are_found),
        cmocka_unit_test(all_feet_are_found),
        cmocka_unit_test(all_feet_are_found_in_a_dish),
        cmocka_unit_test(cylinders_that_are_nearly_parallel_have_one_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
