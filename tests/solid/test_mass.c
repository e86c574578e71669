/* Mass properties: exact integer arithmetic, closed forms, additivity, and rigid motions of the shared
 * solids.
 *
 *     test_mass          a few motions of each solid
 *     test_mass motions  10,000 random rigid motions, spread over the solids of shared/meshes/solid
 */
#include "math/eigen.h"
#include "solid/mass.h"
#include "solid/mesh_kit.h"

#include <stdio.h>

static const char *const solids[] = {"bolt_m10",        "chain3",        "chain_link", "comb",
                                     "dovetail_female", "dovetail_male", "gear_z12",   "gear_z18",
                                     "jigsaw_knob",     "jigsaw_socket", "l_bracket",  "linked_rings",
                                     "nut_m10",         "trefoil_tube"};

static int motions_of_each = 20;

/* ---- exact integers */

/* A tower of unit columns: heights h(x, y) over a grid, random integers, scaled and sheared by integers.  All
 * sums of the divergence theorem are integers below 2^127, so the exact answer is known. */
__extension__ typedef __int128 wide;
typedef struct exact {
    wide volume6, first24[3], second120[6];
} exact;

static void exact_add(exact *e, const vec3 p[3]) {
    wide v[3][3], s[3];
    for (int i = 0; i < 3; i++) v[i][0] = (wide)p[i].x, v[i][1] = (wide)p[i].y, v[i][2] = (wide)p[i].z;
    for (int k = 0; k < 3; k++) s[k] = v[0][k] + v[1][k] + v[2][k];
    wide d = v[0][0] * (v[1][1] * v[2][2] - v[1][2] * v[2][1]) +
             v[0][1] * (v[1][2] * v[2][0] - v[1][0] * v[2][2]) +
             v[0][2] * (v[1][0] * v[2][1] - v[1][1] * v[2][0]);
    static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    e->volume6 += d;
    for (int k = 0; k < 3; k++) e->first24[k] += d * s[k];
    for (int k = 0; k < 6; k++) {
        int i = pair[k][0], j = pair[k][1];
        e->second120[k] += d * (s[i] * s[j] + v[0][i] * v[0][j] + v[1][i] * v[1][j] + v[2][i] * v[2][j]);
    }
}

/* A box with integer corners under a random integer matrix of positive determinant. */
static void random_parallelepiped(mesh_kit *kit, uint64_t *state) {
    int m[3][3], det;
    do {
        for (int i = 0; i < 9; i++) m[i / 3][i % 3] = support_int(state, -9, 9);
        det = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
              m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
              m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    } while (det < 20);
    memset(kit, 0, sizeof *kit);
    kit_add_box(kit, vec3_make(0, 0, 0), vec3_make(support_int(state, 1, 40), support_int(state, 1, 40), 7),
                true, 1);
    int shift[3] = {support_int(state, -500, 500), support_int(state, -500, 500),
                    support_int(state, -500, 500)};
    for (int64_t i = 0; i < kit->point_count; i++) {
        vec3 p = kit->points[i];
        kit->points[i] = vec3_make(m[0][0] * p.x + m[0][1] * p.y + m[0][2] * p.z + shift[0],
                                   m[1][0] * p.x + m[1][1] * p.y + m[1][2] * p.z + shift[1],
                                   m[2][0] * p.x + m[2][1] * p.y + m[2][2] * p.z + shift[2]);
    }
}

static void assert_named_near(double got, double want, double scale, double tolerance) {
    if (!(fabs(got - want) <= tolerance * fabs(scale))) fail_msg("%.17g, wanted %.17g", got, want);
}

static void test_integers(void **unused) {
    (void)unused;
    static mesh_kit kit;
    uint64_t state = 1;
    for (int round = 0; round < 300; round++) {
        random_parallelepiped(&kit, &state);
        exact e = {0};
        for (int64_t f = 0; f < kit.face_count; f++) {
            vec3 p[3];
            for (int i = 0; i < 3; i++) p[i] = kit.points[kit.corners[3 * f + i]];
            exact_add(&e, p);
        }
        abut_mesh mesh = kit_mesh(&kit);
        abut_solid *solid = NULL;
        abut_error error = {0};
        if (abut_solid_build(NULL, &mesh, NULL, &solid, &error)) fail_msg("%s", error.message);
        abut_mass m = abut_solid_mass(solid, 1);
        double volume = (double)e.volume6 / 6, c[3], second[6];
        assert_named_near(m.mass, volume, volume, 2e-16);
        static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
        /* central moments over a common denominator: 120 V6 M_ij - 25 F_i F_j ... all in long double from
           exact integers: S_ij/120 - F_i F_j / (24^2 V6 / 6) */
        for (int k = 0; k < 3; k++) c[k] = (double)((long double)e.first24[k] / 4 / (long double)e.volume6);
        for (int k = 0; k < 6; k++) {
            long double fi = (long double)e.first24[pair[k][0]], fj = (long double)e.first24[pair[k][1]];
            second[k] = (double)((long double)e.second120[k] / 120 - fi * fj / 96 / (long double)e.volume6);
        }
        double size = 600; /* of the coordinates: the centre is a mean of them */
        assert_named_near(m.center.x, c[0], size, 1e-15);
        assert_named_near(m.center.y, c[1], size, 1e-15);
        assert_named_near(m.center.z, c[2], size, 1e-15);
        /* the tensor is a difference of moments about the origin, which are volume * size^2 */
        double want[6] = {second[1] + second[2],
                          second[0] + second[2],
                          second[0] + second[1],
                          -second[3],
                          -second[4],
                          -second[5]};
        for (int k = 0; k < 6; k++) assert_named_near(m.inertia[k], want[k], volume * size * size, 2e-15);
        abut_solid_free(NULL, solid);
    }
}

/* A plate 1e6 times thinner than long, turned: plain double loses six digits there. */
static void test_thin_plate(void **unused) {
    (void)unused;
    static mesh_kit kit;
    kit_add_box(&kit, vec3_make(0, 0, 0), vec3_make(1, 1, 0x1p-20), true, 1);
    /* a rotation with rational entries of small denominators, times 9: exact in double */
    double r[3][3] = {{1, 8, 4}, {8, 1, -4}, {-4, 4, -7}};
    for (int64_t i = 0; i < kit.point_count; i++) {
        vec3 p = kit.points[i];
        kit.points[i] = vec3_make(r[0][0] * p.x + r[0][1] * p.y + r[0][2] * p.z,
                                  r[1][0] * p.x + r[1][1] * p.y + r[1][2] * p.z,
                                  r[2][0] * p.x + r[2][1] * p.y + r[2][2] * p.z);
    }
    abut_mesh mesh = kit_mesh(&kit);
    abut_mesh_facts facts;
    abut_error error = {0};
    assert_int_equal(abut_mesh_facts_of(NULL, &mesh, 1e-9, &facts, &error), ABUT_OK);
    /* det(r) = 9^3 */
    assert_named_near(fabs(facts.volume), 729 * 0x1p-20, 729 * 0x1p-20, 1e-15);
}

/* Cutting a solid in two adds up: volumes, first and second moments about the origin. */
static void test_cut_box(void **unused) {
    (void)unused;
    static mesh_kit kit[3];
    double cut = 0.37;
    kit_add_box(&kit[0], vec3_make(-1, -2, 3), vec3_make(1, 0.5, 4), false, 1);
    kit_add_box(&kit[1], vec3_make(-1, -2, 3), vec3_make(cut, 0.5, 4), false, 1);
    kit_add_box(&kit[2], vec3_make(cut, -2, 3), vec3_make(1, 0.5, 4), false, 1);
    abut_mass m[3];
    for (int i = 0; i < 3; i++) {
        abut_mesh mesh = kit_mesh(&kit[i]);
        abut_solid *solid = NULL;
        assert_int_equal(abut_solid_build(NULL, &mesh, NULL, &solid, NULL), ABUT_OK);
        m[i] = abut_solid_mass(solid, 3);
        abut_solid_free(NULL, solid);
    }
    assert_named_near(m[0].mass, m[1].mass + m[2].mass, m[0].mass, 1e-15);
    assert_named_near(m[0].center.x * m[0].mass, m[1].center.x * m[1].mass + m[2].center.x * m[2].mass,
                      m[0].mass, 1e-15);
    double about_origin[3];
    for (int i = 0; i < 3; i++)
        about_origin[i] =
            m[i].inertia[1] + m[i].mass * (m[i].center.x * m[i].center.x + m[i].center.z * m[i].center.z);
    assert_named_near(about_origin[0], about_origin[1] + about_origin[2], about_origin[0], 1e-15);
}

/* ---- rigid motions */

static void principal(const double inertia[6], double out[3]) {
    mat3 m = {{inertia[0], inertia[3], inertia[4]},
              {inertia[3], inertia[1], inertia[5]},
              {inertia[4], inertia[5], inertia[2]}};
    vec3 values;
    mat3 axes;
    sym3_eigen(m, &values, &axes);
    out[0] = values.x, out[1] = values.y, out[2] = values.z;
}

/* Moves the vertices of a topology in place.  Rounding the moved coordinates changes the solid itself by u
 * per coordinate, which is a relative change of volume of the order u D area / volume: far below 1e-12 here.
 */
static void move_solid(const char *name, uint64_t *state, int motions) {
    char path[64];
    snprintf(path, sizeof path, "meshes/solid/%s.obj", name);
    abut_mesh *mesh = NULL;
    abut_error error = {0};
    if (abut_mesh_load(NULL, support_shared(path), &mesh, &error)) fail_msg("%s", error.message);
    topology t;
    if (topology_make(&t, NULL, mesh, 1e-9, &error)) fail_msg("%s", error.message);
    int32_t *shell = scratch_clear(&t.memory, t.face_count, sizeof *shell);
    vec3 *start = scratch_take(&t.memory, t.vertex_count, sizeof *start);
    memcpy(start, t.position, (size_t)t.vertex_count * sizeof *start);
    double rest[2], moments[3], moved[3];
    mass_integrals m = mass_of_mesh(&t, shell, 1, rest, rest + 1);
    principal(m.inertia, moments);
    for (int i = 0; i < motions; i++) {
        pose p = support_pose(state, t.diagonal);
        for (int32_t v = 0; v < t.vertex_count; v++) t.position[v] = pose_point(p, start[v]);
        mass_integrals n = mass_of_mesh(&t, shell, 1, rest, rest + 1);
        principal(n.inertia, moved);
        assert_named_near(n.volume, m.volume, m.volume, 1e-12);
        for (int k = 0; k < 3; k++) assert_named_near(moved[k], moments[k], moments[k], 1e-12);
        vec3 center = pose_point(p, m.center);
        assert_true(vec3_distance(center, n.center) <= 1e-13 * t.diagonal);
    }
    topology_free(&t);
    abut_mesh_free(NULL, mesh);
}

static void test_motions(void **unused) {
    (void)unused;
    uint64_t state = 7;
    for (int i = 0; i < COUNT_OF(solids); i++) move_solid(solids[i], &state, motions_of_each);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_integers), cmocka_unit_test(test_thin_plate),
                                       cmocka_unit_test(test_cut_box), cmocka_unit_test(test_motions)};
    if (argc > 1 && strcmp(argv[1], "motions") == 0) motions_of_each = 10000 / COUNT_OF(solids) + 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
