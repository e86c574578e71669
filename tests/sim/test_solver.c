/* The `solver` of a world: every one holds a stack without friction, the exact ones to the last digits, the
 * approximate ones to what they reach, and the audit says how far that is. */
#include "trial.h"

static const char *const solvers[] = {"exact", "lemke", "lp", "pgs", "nncg"};

/* Three boxes on each other: the floor carries 6 m g, the others 5 m g and 3 m g. */
static void test_every_solver_holds_a_stack(void **state) {
    (void)state;
    for (int k = 0; k < 5; k++) {
        trial t;
        char text[512];
        snprintf(text, sizeof text,
                 "world { gravity = {0, 0, -10}, frame = 1/50, solver = '%s' }\n" FLOOR
                 "for i = 1, 3 do body { shape = solid.box {1, 1, 0.5}, position = {0, 0, 0.5 * i - 0.25}, "
                 "mass = i } "
                 "end",
                 solvers[k]);
        start(&t, text);
        assert_int_equal(abut_scene_world(t.scene)->solver, k);
        bool exact = k <= ABUT_SOLVER_LP;
        const abut_contact *contacts;
        const double carried[3] = {60, 50, 30};
        int count = abut_sim_contacts(t.sim, &contacts);
        assert_int_equal(count, 3);
        for (int i = 0; i < count; i++) {
            double sum = 0;
            for (int p = 0; p < contacts[i].point_count; p++) sum += fabs(contacts[i].forces[p].z);
            close_to(sum, carried[i], exact ? 1e-9 : 0.6);
        }
        advance(&t, 0.2);
        for (int i = 1; i <= 3; i++) {
            abut_motion m = abut_sim_motion(t.sim, i);
            close_to(m.center.z, 0.5 * i - 0.25, exact ? 1e-12 : 1e-2);
        }
        abut_audit audit = abut_sim_audit(t.sim);
        assert_true(!exact || audit.complementarity_residual <= 1e-9);
        assert_int_equal(audit.storms, 0);
        if (audit.promises_kept || exact) {
            finish(&t);
        } else { /* what is said to be broken is the accuracy of the solver */
            assert_true(audit.complementarity_residual > 1e-6);
            abut_sim_free(t.sim), abut_model_free(t.model), abut_scene_free(t.scene);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_solver_holds_a_stack)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
