/* What the tests of complementarity share. */
#ifndef TESTS_NUMERICS_LCP_TRIAL_H
#define TESTS_NUMERICS_LCP_TRIAL_H

#include "../../bench/contact_problem.h"

#define INF ((double)INFINITY)

static inline double vector_size(const double *x, int n) {
    double size = 0;
    for (int i = 0; i < n; i++) size = fmax(size, fabs(x[i]));
    return size;
}

static inline abut_status solve(const abut_lcp *problem, abut_lcp_method method, double *z, double *w,
                                abut_lcp_result *result) {
    abut_lcp_solver *solver = abut_lcp_solver_create(NULL);
    abut_lcp_config config = abut_default_lcp_config();
    config.method = method;
    assert_non_null(solver);
    abut_status status = abut_lcp_solve(solver, problem, &config, NULL, z, w, result, NULL);
    abut_lcp_solver_destroy(solver);
    if (status == ABUT_OK) assert_true(abut_lcp_validate(problem, z, NULL) <= 1e-9);
    return status;
}

#endif
