/* What contact regions are found with: the tree of pieces holds every edge, its distances are those of all
 * pairs asked one by one, and a cache that is carried along a motion never changes an answer. */
#include "contact/touch.h"
#include "touch_part.h"

#include <stdio.h>

static void drop(part *p) { abut_touch_solid_free(NULL, p->ready), abut_solid_free(NULL, p->solid); }

static part shared_part(const char *name) {
    char path[128];
    abut_solid *solid = NULL;
    snprintf(path, sizeof path, "meshes/%s", name);
    assert_int_equal(abut_solid_load(NULL, support_shared(path), NULL, &solid, NULL), ABUT_OK);
    return ready(solid);
}

/* A prism over an outline like a comb, with reflex edges and, on top and bottom, concave faces. */
static part comb(void) {
    const double outline[12][2] = {{0, 0}, {5, 0}, {5, 2}, {4, 2}, {4, 1}, {3, 1},
                                   {3, 2}, {2, 2}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
    abut_solid *solid = NULL;
    assert_int_equal(abut_solid_prism(NULL, outline, 12, 1, &solid, NULL), ABUT_OK);
    return ready(solid);
}

/* ---- the tree */

static void check_tree(const part *p) {
    const touch_tree *t = &p->ready->tree;
    int32_t *seen = test_calloc((size_t)p->solid->edge_count, sizeof *seen);
    for (int32_t c = 0; c < t->corner_count; c++)
        if (t->corners[c].edge >= 0) seen[t->corners[c].edge]++;
    for (int32_t e = 0; e < p->solid->edge_count; e++) assert_int_equal(seen[e], 2);
    test_free(seen);
    /* every corner lies in the box of each node above its piece */
    for (int32_t piece = 0; piece < t->piece_count; piece++)
        for (int32_t n = 0;;) {
            const touch_node *node = &t->nodes[n];
            for (int32_t c = 0; c < t->pieces[piece].count; c++) {
                vec3 x = t->corners[t->pieces[piece].first + c].at;
                vec3 d = {x.x - (double)node->center[0], x.y - (double)node->center[1],
                          x.z - (double)node->center[2]};
                for (int k = 0; k < 3; k++)
                    assert_true(fabs(d.x * (double)node->axes[0][k] + d.y * (double)node->axes[1][k] +
                                     d.z * (double)node->axes[2][k]) <= (double)node->half[k]);
            }
            if (node->right < 0) {
                assert_int_equal(~node->right, piece);
                break;
            }
            int32_t right = node->right;
            while (t->nodes[right].right >= 0) right++;
            n = piece < ~t->nodes[right].right ? n + 1 : node->right;
        }
}

static void tree_holds_every_edge_and_corner(void **state) {
    (void)state;
    static const char *const names[] = {"solid/gear_z12.obj",           "solid/comb.obj",
                                        "solid/jigsaw_socket.obj",      "solid/nut_m10.obj",
                                        "real/trimesh_plate_holes.stl", "real/spot_low_resolution.obj",
                                        "broken/huge_coordinates.obj",  "broken/ngon_hole_bridge.obj"};
    part own = comb();
    check_tree(&own);
    drop(&own);
    for (int i = 0; i < COUNT_OF(names); i++) {
        part p = shared_part(names[i]);
        check_tree(&p);
        drop(&p);
    }
}

/* ---- distance */

/* Least of the distances of samples along all edges of one from the boundary of the other, which the B-rep
 * gives without any tree: an upper bound that is off by at most the step between samples. */
static double sampled(const part *a, pose pa, const part *b, pose pb, double step) {
    double best = INFINITY, t;
    pose there = pose_relative(solid_frame(a->solid, pa), solid_frame(b->solid, pb));
    for (int32_t e = 0; e < a->solid->edge_count; e++) {
        const int32_t *v = solid_edges(a->solid)[e].vertex;
        vec3 p = pose_point(there, solid_position(a->solid, v[0])),
             q = pose_point(there, solid_position(a->solid, v[1]));
        int many = 1 + (int)(vec3_distance(p, q) / step);
        for (int k = 0; k <= many; k++) {
            vec3 x = vec3_lerp(p, q, (double)k / many);
            for (int32_t f = 0; f < b->solid->edge_count; f++)
                best = fmin(best, sqrt(index_edge_distance2(b->solid, f, x, &t)));
            for (int32_t f = 0; f < b->solid->face_count; f++) {
                double d = fabs(plane_distance(solid_faces(b->solid)[f].plane, x));
                if (d < best && index_face_contains(b->solid, f, x)) best = d;
            }
        }
    }
    return best;
}

static void distance_is_that_of_all_pairs(void **state) {
    (void)state;
    part p[2] = {comb(), comb()};
    uint64_t seed = 11;
    const double step = 0.05;
    for (int i = 0; i < 60; i++) {
        pose a = support_pose(&seed, 2), b = support_pose(&seed, 2);
        b.position =
            vec3_axpy(a.position, 11 + random_unit(&seed), support_direction(&seed)); /* beyond overlap */
        double exact = abut_touch_distance(p[0].ready, a, p[1].ready, b);
        double other = fmin(sampled(&p[0], a, &p[1], b, step), sampled(&p[1], b, &p[0], a, step));
        assert_true(exact <= other + 1e-12 && exact >= other - step);
        assert_true(fabs(exact - abut_touch_distance(p[1].ready, b, p[0].ready, a)) < 1e-12);
    }
    drop(&p[0]), drop(&p[1]);
}

/* ---- the cache */

static void same_answers(const abut_touch *x, const abut_touch *y) {
    assert_int_equal(x->status, y->status);
    assert_int_equal(x->region_count, y->region_count);
    assert_int_equal(x->point_count, y->point_count);
    assert_true(x->depth == y->depth);
    for (int64_t i = 0; i < x->region_count; i++) {
        const abut_touch_region *r = &x->regions[i], *s = &y->regions[i];
        assert_true(r->a.kind == s->a.kind && r->a.id == s->a.id && r->b.kind == s->b.kind &&
                    r->b.id == s->b.id && r->area == s->area && r->normal_count == s->normal_count);
        assert_memory_equal(r->normals, s->normals, (size_t)r->normal_count * sizeof *r->normals);
    }
    if (x->point_count) assert_memory_equal(x->points, y->points, (size_t)x->point_count * sizeof *x->points);
}

/* A walk in the neighbourhood of contact: B moves and turns in small steps, now and then in a large one, and
 * comes back towards A when it is far. */
static void walk(const part *a, const part *b, pose start, int steps, double size, uint64_t seed,
                 int seen[3]) {
    abut_touch_cache *cache = NULL;
    assert_int_equal(abut_touch_cache_create(NULL, &cache, NULL), ABUT_OK);
    pose p = start;
    for (int i = 0; i < steps; i++) {
        double step = size * (support_int(&seed, 0, 50) == 0 ? 100 : random_unit(&seed));
        vec3 axis = support_direction(&seed), way = support_direction(&seed);
        if (i % 7 == 0) way = vec3_unit(vec3_sub(start.position, p.position));
        p.position = vec3_axpy(p.position, step, way);
        p.rotation = quat_mul(abut_quat_from_axis_angle(axis, step / 10), p.rotation);
        if (vec3_distance(p.position, start.position) > 20 * size) p = start;
        abut_touch_options cached = {.cache = cache, .all = i % 2};
        abut_touch_options plain = {.all = i % 2};
        abut_touch *x = NULL, *y = NULL;
        assert_int_equal(abut_touch_find(NULL, a->ready, pose_identity(), b->ready, p, &cached, &x, NULL),
                         ABUT_OK);
        assert_int_equal(abut_touch_find(NULL, a->ready, pose_identity(), b->ready, p, &plain, &y, NULL),
                         ABUT_OK);
        same_answers(x, y);
        seen[x->status]++;
        abut_touch_free(NULL, x), abut_touch_free(NULL, y);
    }
    abut_touch_cache_free(NULL, cache);
}

static void cache_changes_no_answer(void **state) {
    (void)state;
    part p[2] = {comb(), comb()};
    int seen[3] = {0};
    walk(&p[0], &p[1], (pose){{0, 2, 0}, {1, 0, 0, 0}}, 2000, 1e-3, 1, seen);
    walk(&p[0], &p[1], (pose){{0, 2, 0}, {1, 0, 0, 0}}, 2000, 2e-6, 2, seen); /* about epsilon */
    walk(&p[0], &p[1], (pose){{1, 3, 0}, {0, 0, 0, 1}}, 2000, 1e-2, 3, seen); /* teeth in teeth */
    for (int k = 0; k < 3; k++) assert_true(seen[k] > 100);
    drop(&p[0]), drop(&p[1]);
}

static void cache_changes_no_answer_of_meshes(void **state) {
    (void)state;
    part p[2] = {shared_part("solid/gear_z12.obj"), shared_part("solid/gear_z18.obj")};
    int seen[3] = {0};
    quat q = abut_quat_from_axis_angle((vec3){0, 0, 1}, 3.14159265358979323846 * 19 / 18);
    walk(&p[0], &p[1], (pose){{30, 0, 0}, q}, 800, 2e-3, 4, seen);
    walk(&p[1], &p[0], (pose){{-30, 0, 0}, q}, 200, 0.1, 5, seen);
    drop(&p[0]), drop(&p[1]);
    part r[2] = {shared_part("solid/bolt_m10.obj"), shared_part("solid/nut_m10.obj")};
    walk(&r[0], &r[1], (pose){{0, 0, 3}, {1, 0, 0, 0}}, 150, 5e-3, 6, seen);
    drop(&r[0]), drop(&r[1]);
    assert_true(seen[ABUT_APART] > 50 && seen[ABUT_PENETRATING] > 50);
}

/* One cache for one pair after the other: it notices. */
static void cache_fits_itself_to_other_solids(void **state) {
    (void)state;
    abut_solid *solid = NULL;
    abut_solid_box(NULL, 1, 1, 1, &solid, NULL);
    part p = comb(), q = ready(solid);
    abut_touch_cache *cache = NULL;
    assert_int_equal(abut_touch_cache_create(NULL, &cache, NULL), ABUT_OK);
    abut_touch_options options = {.cache = cache};
    for (int i = 0; i < 6; i++) {
        const part *b = i % 2 ? &q : &p;
        pose at = {{0.5, i % 2 ? 2.5 : 2, i % 2 ? 0.5 : 0}, {1, 0, 0, 0}};
        abut_touch *x = NULL, *y = NULL;
        if (i > 3) options.epsilon = 1e-3;
        abut_touch_options plain = {.epsilon = options.epsilon};
        assert_int_equal(abut_touch_find(NULL, p.ready, pose_identity(), b->ready, at, &options, &x, NULL),
                         ABUT_OK);
        assert_int_equal(abut_touch_find(NULL, p.ready, pose_identity(), b->ready, at, &plain, &y, NULL),
                         ABUT_OK);
        assert_int_equal(x->status, ABUT_TOUCHING);
        same_answers(x, y);
        abut_touch_free(NULL, x), abut_touch_free(NULL, y);
    }
    abut_touch_cache_free(NULL, cache);
    drop(&p), drop(&q);
}

static abut_status attempt(const abut_context *context, void *user) {
    const part *p = user;
    abut_touch_cache *cache = NULL;
    abut_status status = abut_touch_cache_create(context, &cache, NULL);
    for (int i = 0; i < 3 && status == ABUT_OK; i++) {
        abut_touch_options options = {.cache = cache};
        abut_touch *t = NULL;
        pose at = {{0, 2 + 1e-3 * i, 0}, {1, 0, 0, 0}};
        status = abut_touch_find(context, p->ready, pose_identity(), p->ready, at, &options, &t, NULL);
        if (status == ABUT_OK) assert_int_equal(t->status, i ? ABUT_APART : ABUT_TOUCHING);
        abut_touch_free(context, t);
    }
    abut_touch_cache_free(context, cache);
    return status;
}

static void memory_fails(void **state) {
    (void)state;
    part p = comb();
    assert_true(support_fail_each(attempt, &p) > 10);
    drop(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distance_is_that_of_all_pairs),
        cmocka_unit_test(cache_changes_no_answer),
        cmocka_unit_test(cache_fits_itself_to_other_solids),
        cmocka_unit_test(memory_fails),
        cmocka_unit_test(tree_holds_every_edge_and_corner),
        cmocka_unit_test(cache_changes_no_answer_of_meshes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
