/* Colliders of solids made of cubes, convex and with dents, that touch exactly: against each other on the
 * grid, carried along by any motion, which rounds all of it.
 *
 * The oracle counts cubes.  Solids that share none are nowhere deeper in each other than rounding, wherever
 * they touch; where a square of one lies on a square of the other, that is told, with its normal.  Pushed
 * together by a little across the squares that look one way, they are as deep as that: what they share then
 * is a plate of that thickness, at least a square wide.  Half of the rounds are of solids that fit into each
 * other, a peg in a hole without play, an L in an L. */
#include "make_collider.h"
#include "make_cubes.h"

enum { SHAPES = 80, ROUNDS = 3000 };
#define ROUNDING 1e-12 /* of places some units from the origin, and of motions */

typedef struct library {
    cubes of[SHAPES];
    abut_solid *solid[SHAPES];
    collider *collider[SHAPES];
} library;

static bool is_full(const cubes *s, const int at[3]) { return voxel_at(s, at[0], at[1], at[2]); }

/* Whether the cubes of `a`, and those of `b` moved by the offset, share any; how many squares of `a` that
 * look along each of the six directions (axis, then sign) lie on squares of `b`. */
static bool compare(const cubes *a, const cubes *b, const int offset[3], int squares[6]) {
    bool share = false;
    memset(squares, 0, 6 * sizeof *squares);
    for (int v = 0; v < VOXELS * VOXELS * VOXELS; v++) {
        int x[3] = {v / VOXELS / VOXELS, v / VOXELS % VOXELS, v % VOXELS};
        if (!is_full(a, x)) continue;
        int y[3] = {x[0] - offset[0], x[1] - offset[1], x[2] - offset[2]};
        share |= is_full(b, y);
        for (int k = 0; k < 6; k++) {
            int beyond[3] = {y[0], y[1], y[2]}, own[3] = {x[0], x[1], x[2]};
            beyond[k / 2] += k % 2 ? 1 : -1, own[k / 2] += k % 2 ? 1 : -1;
            squares[k] += is_full(b, beyond) && !is_full(a, own);
        }
    }
    return share;
}

static vec3 direction(int k) {
    double sign = k % 2 ? 1 : -1;
    return vec3_make(k / 2 == 0 ? sign : 0, k / 2 == 1 ? sign : 0, k / 2 == 2 ? sign : 0);
}

static double least_of(const manifold *m, int count) {
    double least = INFINITY;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < m[i].count; j++) least = fmin(least, m[i].points[j].gap);
    return least;
}

/* The least gap that is told with a normal along n (from B to A), within a thousandth of a radian. */
static double gap_along(const manifold *m, int count, vec3 n) {
    double least = INFINITY;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < m[i].count && vec3_dot(m[i].normal, n) > 1 - 5e-7; j++)
            least = fmin(least, m[i].points[j].gap);
    return least;
}

typedef struct pair {
    const library *l;
    int a, b;
    vec3 offset; /* of b from a */
    pose world;
} pair;

/* Told either way round; normals in the axes of the grid, from B to A. */
static int collide(const pair *p, bool turned, manifold m[COLLIDER_ROOM]) {
    const manifold_config config = {.reach = 0.2, .angle = 0.2};
    pose pa = p->world, pb = pose_mul(p->world, (pose){p->offset, quat_identity()});
    const collider *a = p->l->collider[p->a], *b = p->l->collider[p->b];
    int count = turned ? collider_collide(b, pb, a, pa, &config, NULL, 0, m, COLLIDER_ROOM)
                       : collider_collide(a, pa, b, pb, &config, NULL, 0, m, COLLIDER_ROOM);
    for (int i = 0; i < count; i++) {
        vec3 n = quat_unrotate(p->world.rotation, m[i].normal);
        m[i].normal = turned ? vec3_neg(n) : n;
    }
    return count;
}

static void check_touching(const pair *p, const int squares[6]) {
    manifold m[COLLIDER_ROOM];
    for (int turned = 0; turned < 2; turned++) {
        int count = collide(p, turned, m);
        if (count > 0) assert_true(least_of(m, count) >= -ROUNDING);
        for (int k = 0; k < 6; k++) /* b lies beyond the squares: the normal leads back */
            if (squares[k]) assert_true(gap_along(m, count, vec3_neg(direction(k))) <= ROUNDING);
    }
}

static void check_pushed(const pair *p, int k, double push) {
    pair q = *p;
    manifold m[COLLIDER_ROOM];
    q.offset = vec3_axpy(p->offset, -push, direction(k));
    for (int turned = 0; turned < 2; turned++) {
        int count = collide(&q, turned, m);
        assert_near(least_of(m, count), -push, ROUNDING);
        assert_near(gap_along(m, count, vec3_neg(direction(k))), -push, ROUNDING);
    }
}

/* Whether the topmost cubes of a shape along an axis are those of the lowest: it can be stacked on itself. */
static bool is_stackable(const cubes *s, int axis, int *height) {
    *height = 0;
    for (int v = 0; v < VOXELS * VOXELS * VOXELS; v++) {
        int x[3] = {v / VOXELS / VOXELS, v / VOXELS % VOXELS, v % VOXELS};
        if (is_full(s, x) && x[axis] >= *height) *height = x[axis] + 1;
    }
    for (int v = 0; v < VOXELS * VOXELS; v++) {
        int low[3] = {0}, high[3] = {0};
        low[(axis + 1) % 3] = high[(axis + 1) % 3] = v % VOXELS;
        low[(axis + 2) % 3] = high[(axis + 2) % 3] = v / VOXELS;
        high[axis] = *height - 1;
        if (is_full(s, low) != is_full(s, high)) return false;
    }
    return true;
}

/* A shape on itself, pressed in and a little aside: nothing leads out but the way up.  (The ends of reflex
 * edges, just inside the walls of the dent below, were told to lead out sideways: stacks fell.) */
static void check_stack(const library *l, int shape, int axis, int height, uint64_t *seed) {
    pair p = {.l = l, .a = shape, .b = shape, .world = support_pose(seed, 3)};
    manifold m[COLLIDER_ROOM];
    vec3 up = direction(2 * axis + 1);
    p.offset = vec3_scale(up, height - 1e-3);
    for (int k = 1; k < 3; k++)
        p.offset = vec3_axpy(p.offset, random_range(seed, -1e-4, 1e-4), direction(2 * ((axis + k) % 3) + 1));
    for (int turned = 0; turned < 2; turned++) {
        int count = collide(&p, turned, m);
        assert_near(least_of(m, count), -1e-3, ROUNDING);
        for (int i = 0; i < count; i++)
            if (least_of(&m[i], 1) < -1e-9) assert_near(vec3_dot(m[i].normal, up), -1, 1e-9);
    }
}

static void fill(library *l) {
    choose_cubes(l->of, SHAPES);
    for (int i = 0; i < SHAPES; i++) {
        l->solid[i] = make_cubes(&l->of[i], 1);
        l->collider[i] = make(abut_shape_solid(l->solid[i]));
    }
}

static void clear(library *l) {
    for (int i = 0; i < SHAPES; i++) collider_free(NULL, l->collider[i]), abut_solid_free(NULL, l->solid[i]);
}

static void test_cubes(void **state) {
    (void)state;
    static library l;
    fill(&l);
    uint64_t seed = 11;
    int touching = 0, pushed = 0;
    while (touching < ROUNDS) {
        pair p = {.l = &l, .a = support_int(&seed, 0, SHAPES - 1), .b = support_int(&seed, 0, SHAPES - 1)};
        int offset[3], squares[6], ways = 0;
        for (int k = 0; k < 3; k++) offset[k] = support_int(&seed, -VOXELS, VOXELS);
        if (compare(&l.of[p.a], &l.of[p.b], offset, squares)) continue;
        p.offset = vec3_make(offset[0], offset[1], offset[2]);
        p.world = touching % 8 > 1 ? support_pose(&seed, 3) : pose_identity();
        for (int k = 0; k < 6; k++) ways += squares[k] > 0;
        if (touching % 2 && ways < 2) continue;
        check_touching(&p, squares);
        for (int k = 0; k < 6; k++)
            if (squares[k]) check_pushed(&p, k, touching % 4 < 2 ? 1e-3 : 1e-6), pushed++;
        touching++;
    }
    assert_true(pushed > ROUNDS);
    clear(&l);
}

static void test_stacks(void **state) {
    (void)state;
    static library l;
    fill(&l);
    uint64_t seed = 5;
    int stacks = 0, height;
    for (int shape = 0; shape < SHAPES; shape++)
        for (int axis = 0; axis < 3; axis++) {
            if (!is_stackable(&l.of[shape], axis, &height)) continue;
            for (int round = 0; round < 20; round++) check_stack(&l, shape, axis, height, &seed);
            stacks++;
        }
    assert_true(stacks > 100);
    clear(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cubes), cmocka_unit_test(test_stacks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
