/* The dynamic box tree against all boxes: any sequence of insertions, moves, removals, refits and rebuilds,
 * with the validator after each; pairs, regions and rays as brute force finds them; the same bits for the
 * same calls. */
#include "contact/bvh.h"
#include "support.h"

#include <stdlib.h>

enum { MOST = 400 };

typedef struct world {
    bvh tree;
    box tight[MOST];
    int32_t leaf[MOST]; /* BVH_NONE: not there */
} world;

static box random_box(uint64_t *seed, double span) {
    vec3 c = support_vec(seed, span), e = support_vec(seed, 0.5);
    return (box){vec3_sub(c, vec3_abs(e)), vec3_add(c, vec3_abs(e))};
}

static void check(const world *w) {
    abut_error error = {0};
    if (bvh_validate(&w->tree, &error) != ABUT_OK) print_error("%s\n", error.message);
    assert_int_equal(error.status, ABUT_OK);
    for (int i = 0; i < MOST; i++) {
        if (w->leaf[i] == BVH_NONE) continue;
        box fat = w->tree.nodes[w->leaf[i]].bounds;
        assert_int_equal(bvh_item(&w->tree, w->leaf[i]), i);
        assert_true(box_overlap(fat, w->tight[i]) && fat.lower.x <= w->tight[i].lower.x &&
                    fat.upper.z >= w->tight[i].upper.z);
    }
}

/* One random operation; what it is depends on the seed only. */
static void change(world *w, uint64_t *seed, const abut_context *context) {
    int i = support_int(seed, 0, MOST - 1), what = support_int(seed, 0, 99);
    if (w->leaf[i] == BVH_NONE) {
        w->tight[i] = random_box(seed, 5);
        w->leaf[i] = bvh_insert(context, &w->tree, bvh_fatten(w->tight[i], 0.1, vec3_zero()), i);
        assert_int_not_equal(w->leaf[i], BVH_NONE);
    } else if (what < 20) {
        bvh_remove(&w->tree, w->leaf[i]);
        w->leaf[i] = BVH_NONE;
    } else if (what < 90) {
        vec3 d = support_vec(seed, what < 60 ? 0.05 : 3);
        w->tight[i] = (box){vec3_add(w->tight[i].lower, d), vec3_add(w->tight[i].upper, d)};
        bvh_move(&w->tree, w->leaf[i], w->tight[i], 0.1, vec3_scale(d, 2));
    } else if (what < 97) {
        w->tight[i] = random_box(seed, 5);
        bvh_set(&w->tree, w->leaf[i], w->tight[i]);
        bvh_refit(&w->tree);
    } else {
        assert_true(bvh_rebuild(context, &w->tree));
    }
}

typedef struct found {
    uint8_t pair[MOST][MOST];
    int count;
} found;

static bool mark_pair(void *user, int32_t a, int32_t b) {
    found *f = user;
    assert_true(a < b);
    f->pair[a][b]++, f->count++;
    return true;
}

static void check_pairs(const world *w, found *f) {
    memset(f, 0, sizeof *f);
    assert_true(bvh_pairs(&w->tree, mark_pair, f));
    int expected = 0;
    for (int i = 0; i < MOST; i++)
        for (int j = i + 1; j < MOST; j++) {
            if (w->leaf[i] == BVH_NONE || w->leaf[j] == BVH_NONE) continue;
            bool overlap = box_overlap(w->tree.nodes[w->leaf[i]].bounds, w->tree.nodes[w->leaf[j]].bounds);
            assert_int_equal(f->pair[i][j], overlap);
            expected += overlap;
        }
    assert_int_equal(f->count, expected);
}

typedef struct region_search {
    box region;
    uint8_t seen[MOST];
} region_search;

static bool mark_item(void *user, int32_t item) {
    ((region_search *)user)->seen[item]++;
    return true;
}

static void check_region(const world *w, uint64_t *seed) {
    region_search s = {.region = random_box(seed, 5)};
    assert_true(bvh_query(&w->tree, s.region, mark_item, &s));
    for (int i = 0; i < MOST; i++) {
        bool there = w->leaf[i] != BVH_NONE;
        assert_int_equal(s.seen[i], there && box_overlap(s.region, w->tree.nodes[w->leaf[i]].bounds));
    }
}

/* The first fat box on a ray, by slabs written out independently: sampling the sign of every plane. */
static double first_hit(box b, vec3 o, vec3 d) {
    double enter = 0, leave = INFINITY;
    for (int k = 0; k < 3; k++) {
        double x = vec3_at(o, k), v = vec3_at(d, k), lo = vec3_at(b.lower, k), hi = vec3_at(b.upper, k);
        if (v == 0) {
            if (x < lo || x > hi) return INFINITY;
            continue;
        }
        double s = (lo - x) / v, t = (hi - x) / v;
        enter = fmax(enter, fmin(s, t)), leave = fmin(leave, fmax(s, t));
    }
    return enter <= leave ? enter : INFINITY;
}

typedef struct ray_search {
    const world *w;
    vec3 o, d;
    double nearest;
    int visits;
} ray_search;

static double visit_ray(void *user, int32_t item, double limit) {
    ray_search *s = user;
    double t = first_hit(s->w->tree.nodes[s->w->leaf[item]].bounds, s->o, s->d);
    s->visits++;
    assert_true(s->nearest == limit || limit == 20);
    if (t < s->nearest) s->nearest = t;
    return s->nearest;
}

static void check_ray(const world *w, uint64_t *seed, int i) {
    vec3 d = support_direction(seed);
    if (i % 3 == 0) d = vec3_make(i % 2, 0, 1 - i % 2); /* along an axis */
    ray_search s = {.w = w, .o = support_vec(seed, 8), .d = d, .nearest = 20};
    bvh_ray(&w->tree, s.o, s.d, 20, 0, visit_ray, &s);
    double nearest = 20;
    for (int k = 0; k < MOST; k++)
        if (w->leaf[k] != BVH_NONE)
            nearest = fmin(nearest, first_hit(w->tree.nodes[w->leaf[k]].bounds, s.o, s.d));
    assert_true(s.nearest == nearest);
}

static void start(world *w) {
    bvh_init(&w->tree);
    for (int i = 0; i < MOST; i++) w->leaf[i] = BVH_NONE;
}

static void test_random(void **state) {
    (void)state;
    uint64_t seed = 1;
    world *w = malloc(sizeof *w);
    found *f = malloc(sizeof *f);
    start(w);
    check(w);
    for (int i = 0; i < 20000; i++) {
        change(w, &seed, NULL);
        if (i < 300 || i % 50 == 0) check(w);
        if (i % 200 == 0) check_pairs(w, f);
        if (i % 10 == 0) check_region(w, &seed), check_ray(w, &seed, i / 10);
    }
    int32_t height = w->tree.nodes[w->tree.root].height;
    assert_true(height <= 1.44 * log2(w->tree.leaf_count + 2) + 2);
    for (int i = 0; i < MOST; i++)
        if (w->leaf[i] != BVH_NONE) bvh_remove(&w->tree, w->leaf[i]), w->leaf[i] = BVH_NONE;
    check(w);
    assert_int_equal(w->tree.leaf_count, 0);
    bvh_free(NULL, &w->tree);
    free(w), free(f);
}

/* Sorted insertion, the classic way to make a list of a tree: the height stays logarithmic, and a query in a
 * thousand boxes looks at few. */
static void test_sorted(void **state) {
    (void)state;
    bvh tree;
    bvh_init(&tree);
    for (int i = 0; i < 100000; i++) {
        box b = {{i, 0, 0}, {i + 0.5, 1, 1}};
        assert_int_not_equal(bvh_insert(NULL, &tree, b, i), BVH_NONE);
    }
    assert_int_equal(bvh_validate(&tree, NULL), ABUT_OK);
    assert_true(tree.nodes[tree.root].height <= 24);
    assert_true(bvh_rebuild(NULL, &tree));
    assert_int_equal(bvh_validate(&tree, NULL), ABUT_OK);
    assert_int_equal(tree.nodes[tree.root].height, 17);
    bvh_free(NULL, &tree);
}

/* The same calls: the same bytes. */
static void test_deterministic(void **state) {
    (void)state;
    uint64_t hash[2];
    for (int run = 0; run < 2; run++) {
        uint64_t seed = 5;
        world *w = malloc(sizeof *w);
        start(w);
        for (int i = 0; i < 5000; i++) change(w, &seed, NULL);
        hash[run] = hash64(w->tree.nodes, (size_t)w->tree.used * sizeof *w->tree.nodes, 0);
        bvh_free(NULL, &w->tree);
        free(w);
    }
    assert_true(hash[0] == hash[1]);
}

static abut_status attempt(const abut_context *context, void *user) {
    (void)user;
    uint64_t seed = 7;
    bvh tree;
    bvh_init(&tree);
    abut_status status = ABUT_OK;
    for (int i = 0; i < 100 && status == ABUT_OK; i++)
        if (bvh_insert(context, &tree, random_box(&seed, 3), i) == BVH_NONE) status = ABUT_NO_MEMORY;
    if (status == ABUT_OK && !bvh_rebuild(context, &tree)) status = ABUT_NO_MEMORY;
    assert_int_equal(bvh_validate(&tree, NULL), ABUT_OK);
    bvh_free(context, &tree);
    return status;
}

static void test_memory(void **state) {
    (void)state;
    support_fail_each(attempt, NULL);
    /* with room for all, insertion and moving allocate nothing */
    support_memory memory = {0};
    abut_context context = support_context(&memory);
    bvh tree;
    bvh_init(&tree);
    uint64_t seed = 9;
    assert_true(bvh_reserve(&context, &tree, 1000));
    int64_t before = memory.requests;
    for (int i = 0; i < 1000; i++) {
        int32_t leaf = bvh_insert(&context, &tree, random_box(&seed, 3), i);
        bvh_move(&tree, leaf, random_box(&seed, 3), 0.1, vec3_zero());
    }
    assert_int_equal(memory.requests, before);
    bvh_free(&context, &tree);
    support_assert_freed(&memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_sorted),
                                       cmocka_unit_test(test_deterministic), cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
