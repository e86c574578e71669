/* newton: systems r(x) = 0 with m equations and n unknowns, square or not, with or without full rank:
 * Gauss-Newton steps of least norm by rank-revealing QR, halved where the residual grows. */
#ifndef NUMERICS_NEWTON_H
#define NUMERICS_NEWTON_H

#include "base/base.h"

/* r (m entries) and, when `jacobian` is not NULL, dr/dx by rows (m * n). */
typedef abut_status newton_function(void *user, const double *x, double *r, double *jacobian);
typedef struct newton_config {
    double residual; /* done when max |r| is at most this: 1e-12 */
    double step;     /* or when max |dx| is at most this times (1 + max |x|): 1e-15 */
    double rank;     /* diagonal entries of R below this times the first are 0: 1e-10 */
    int budget;      /* steps: 50 */
} newton_config;
typedef struct newton_result {
    abut_status status; /* OK; FAILED: a least-squares point with r != 0, or no decrease; BUDGET */
    double residual;
    int steps, rank;
} newton_result;
newton_config newton_default_config(void);
abut_status newton_solve(arena *scratch, int m, int n, const newton_config *config, newton_function *f,
                         void *user, double *x, newton_result *result, abut_error *error);

#endif
