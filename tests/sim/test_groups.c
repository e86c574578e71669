/* Groups on threads: bodies that cannot meet are moved apart from each other, and the bits are the same for
 * any number of threads, because accounts are added in the order of the groups. */
#include "trial.h"

/* Heaps that fall over each other, a pendulum, bodies driven by functions of the scene, and bodies that fly
 * into the bounds of others. */
static const char *const scene_text =
    "world { frame = 1/60, duration = 0.5 }\n"
    "material { restitution = 0.2, friction = 0.3 }\n" FLOOR "for i = 1, 5 do for k = 1, 2 do\n"
    "  body { name = 'box' .. i .. k, shape = solid.box {0.5, 0.4, 0.3}, rotation = {0.1 * k + 0.05 * i, 1, "
    "0, 0},\n"
    "         position = {3 * i + 0.05 * k, 0.03 * k, 0.4 * k} }\n"
    "end end\n"
    "body { name = 'ball', shape = sphere {0.1}, position = {-3, 0, 0.3}, velocity = {4, 0, 1} }\n"
    "body { name = 'bob', shape = sphere {0.1}, position = {-3, 4, 1} }\n"
    "hinge.ball { 'bob', at = {-3, 4, 2} }\n"
    "body { name = 'pushed', shape = sphere {0.1}, position = {-3, 8, 0.1} }\n"
    "force { 'pushed', value = function(t) return {2 * t, 0, 0} end }\n"
    "body { name = 'lift', shape = solid.box {1, 1, 0.1}, position = {-3, 12, 0.5}, kinematic = true,\n"
    "       motion = function(t) return {-3, 12, 0.5 + 0.1 * t * t}, {1, 0, 0, 0} end }\n"
    "body { name = 'lifted', shape = sphere {0.1}, position = {-3, 12, 0.65} }\n";

typedef struct outcome {
    uint64_t hash, sequence;
    abut_energy energy;
    abut_audit audit;
    int64_t steps;
} outcome;

static bool mix_event(void *user, const abut_event *e) {
    uint64_t *sum = user;
    double time = e->time;
    uint64_t bits;
    memcpy(&bits, &time, sizeof bits);
    *sum = (*sum ^ bits ^ ((uint64_t)e->kind << 32) ^ (uint64_t)(uint32_t)e->body[0]) * 0x9e3779b97f4a7c15u;
    return true;
}

static bool mix_segment(void *user, const abut_segment *s) {
    uint64_t *sum = user;
    for (int i = 0; i < s->body_count * ABUT_SEGMENT_NUMBERS * ABUT_SEGMENT_COEFFICIENTS; i++) {
        uint64_t bits;
        memcpy(&bits, &s->coefficients[i], sizeof bits);
        *sum = (*sum ^ bits ^ (uint64_t)(uint32_t)s->bodies[0]) * 0x9e3779b97f4a7c15u;
    }
    return true;
}

static outcome run_with(int threads) {
    abut_workers *pool = threads > 1 ? abut_workers_create(NULL, threads) : NULL;
    abut_context context = {0};
    if (pool) context.parallel = abut_workers_parallel(pool);
    abut_scene *scene = NULL;
    abut_model *model = NULL;
    abut_sim *sim = NULL;
    abut_error error = {0};
    outcome out = {0};
    abut_sim_options options = {.user = &out.sequence, .event = mix_event, .segment = mix_segment};
    assert_int_equal(
        abut_scene_read(&context, scene_text, strlen(scene_text), "test.lua", ".", NULL, &scene, &error),
        ABUT_OK);
    assert_int_equal(abut_model_create(&context, abut_scene_world(scene), &model, &error), ABUT_OK);
    if (abut_sim_create(&context, model, &options, &sim, &error) != ABUT_OK) fail_msg("%s", error.message);
    for (int k = 1; k <= 30; k++)
        if (abut_sim_advance(sim, k / 60.0, &error) != ABUT_OK) fail_msg("%s", error.message);
    out.hash = abut_sim_hash(sim), out.energy = abut_sim_energy(sim), out.audit = abut_sim_audit(sim);
    out.steps = abut_sim_steps(sim);
    if (!out.audit.promises_kept) fail_msg("a promise was broken: %s", out.audit.broken);
    abut_sim_free(sim), abut_model_free(model), abut_scene_free(scene);
    abut_workers_destroy(pool);
    return out;
}

static void test_the_same_bits_on_any_threads(void **state) {
    (void)state;
    outcome one = run_with(1);
    for (int threads = 2; threads <= 4; threads++) {
        outcome many = run_with(threads);
        assert_true(one.hash == many.hash);
        assert_true(one.sequence == many.sequence); /* events and dense output, in the same order */
        assert_int_equal(one.steps, many.steps);
        assert_memory_equal(&one.energy, &many.energy, sizeof one.energy);
        assert_true(one.audit.energy_error == many.audit.energy_error);
        assert_true(one.audit.deepest_overlap == many.audit.deepest_overlap);
    }
}

/* Two worlds far from each other in one scene move as each of them alone does. */
static void test_groups_do_not_feel_each_other(void **state) {
    (void)state;
    const char *base = "world { frame = 1/60 }\nmaterial { restitution = 0.5, friction = 0.2 }\n" FLOOR;
    const char *left = "body { name = 'l', shape = solid.box {1, 0.5, 0.4}, position = {0, 0, 1}, rotation = "
                       "{0.3, 1, 1, 0} }\n";
    const char *right =
        "body { name = 'r', shape = sphere {0.2}, position = {50, 0, 0.7}, velocity = {1, 2, 0} }\n";
    char text[1024];
    abut_motion alone[2], both[2];
    for (int k = 0; k < 3; k++) {
        trial t;
        snprintf(text, sizeof text, "%s%s%s", base, k != 1 ? left : "", k != 0 ? right : "");
        start(&t, text);
        advance(&t, 1);
        for (int i = 0; i < 2; i++) {
            int body = abut_model_find_body(t.model, i == 0 ? "l" : "r");
            if (body >= 0) (k == 2 ? both : alone)[i] = abut_sim_motion(t.sim, body);
        }
        finish(&t);
    }
    /* epsilon and rest_speed are those of the smallest body, so the paths agree only as far as they matter */
    for (int i = 0; i < 2; i++) {
        close_to(both[i].center.x, alone[i].center.x, 1e-6);
        close_to(both[i].center.y, alone[i].center.y, 1e-6);
        close_to(both[i].center.z, alone[i].center.z, 1e-6);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_bits_on_any_threads),
        cmocka_unit_test(test_groups_do_not_feel_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
