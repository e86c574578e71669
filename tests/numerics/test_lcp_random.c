/* 100,000 random contact problems by pivoting, none may fail: 2 to 60 contacts in stacks, walls and piles,
 * with loads, doubled contacts and mass ratios to 1e8, each checked by the validator; every tenth also by
 * Lemke. The first argument is the number of problems (the fast test takes a few thousand).
 *
 * The residual must be 1e-9 of max |b|, or what doubles can express at all: a heavy body on a light one (1e8
 * : 1) needs forces of 1e9 that cancel to 10, so that rounding z alone leaves u |A||z|, which
 * result.attainable gives. */
#include "support.h"

#include "../../bench/contact_problem.h"

#include <stdlib.h>

static long count = 4000;

static void make(contact_problem *p, long k) {
    double ratio = pow(10, (double)(k % 9));
    int contacts = 2 + (int)(k * 7 % 59);
    uint64_t seed = (uint64_t)k * 7919 + 13;
    if (k % 3 == 0)
        contact_problem_stack(p, 1 + contacts / 4 % 15, 0.4 * (double)(k / 3 % 5), ratio, seed);
    else if (k % 3 == 1)
        contact_problem_wall(p, 1 + (int)(k % 4), contacts < 30 ? 1 : 2, seed);
    else
        contact_problem_pile(p, contacts, ratio, k % 2 ? 0.2 : 0, seed);
    for (int i = 0; i < p->body_count && k % 3 == 1;
         i++) { /* walls are regular: vary the masses after the fact */
        double m = pow(ratio, contact_random(p, 0, 1));
        p->bodies[i].mass *= m;
        for (int j = 0; j < 3; j++) p->bodies[i].inertia[j] *= m;
        for (int j = 0; j < 6; j++) p->bodies[i].load[j] *= m;
    }
    if (k % 4 == 1) contact_problem_load(p, k % 8 == 1 ? 0.1 : 2);
    contact_problem_assemble(p);
}

static void test_random(void **unused) {
    (void)unused;
    abut_lcp_solver *solver = abut_lcp_solver_create(NULL);
    double worst = 0;
    long limited = 0, compared = 0;
    for (long k = 0; k < count; k++) {
        contact_problem p;
        make(&p, k);
        int n = p.lcp.size;
        double z[128], w[128], other[128], v[128], size = 0;
        assert_true(n >= 1 && n <= 64);
        abut_lcp_config config = abut_default_lcp_config();
        config.skip_unique = true;
        abut_lcp_result result;
        abut_error error = {0};
        if (abut_lcp_solve(solver, &p.lcp, &config, NULL, z, w, &result, &error) != ABUT_OK)
            fail_msg("problem %ld, %d contacts: %s", k, n, error.message);
        double residual = abut_lcp_validate(&p.lcp, z, NULL);
        if (residual > 1e-9 + 8 * result.attainable)
            fail_msg("problem %ld, %d contacts: residual %g", k, n, residual);
        limited += residual > 1e-9;
        if (residual <= 1e-9) worst = fmax(worst, residual);
        for (int i = 0; i < n; i++) size = fmax(size, fabs(p.b[i]));
        config.method = ABUT_LCP_LEMKE;
        if (k % 10 == 0 && k % 9 < 5 &&
            abut_lcp_solve(solver, &p.lcp, &config, NULL, other, v, &result, NULL) == ABUT_OK) {
            for (int i = 0; i < n; i++)
                if (fabs(w[i] - v[i]) > 1e-7 * size)
                    fail_msg("problem %ld: w[%d] = %.17g, Lemke %.17g", k, i, w[i], v[i]);
            compared++;
        }
        contact_problem_free(&p);
    }
    abut_lcp_solver_destroy(solver);
    print_message("%ld problems, worst residual %.3g, %ld limited by doubles, %ld compared with Lemke\n",
                  count, worst, limited, compared);
    assert_true(compared >= count / 25);
}

int main(int argc, char **argv) {
    if (argc > 1) count = atol(argv[1]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
