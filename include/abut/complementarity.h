/* abut/complementarity.h: linear complementarity problems with bounds, the equations of contact.
 *
 *     double a[] = {2, 1, 1, 2}, b[] = {-1, 1}, z[2], w[2];
 *     abut_lcp problem = {.size = 2, .dense = a, .b = b};
 *     abut_lcp_solver *solver = abut_lcp_solver_create(NULL);
 *     abut_lcp_config config = abut_default_lcp_config();
 *     abut_lcp_result result;
 *     if (abut_lcp_solve(solver, &problem, &config, NULL, z, w, &result, NULL) == ABUT_OK)
 *         printf("z = %g %g, residual %g\n", z[0], z[1], result.residual); // z = 0.5 0
 *     abut_lcp_solver_destroy(solver);
 *
 * The problem (Baraff 1989, equations 10 to 16, with f = z, chi-double-dot = w and -b for his b):
 *
 *     w = A z + b,   lo <= z <= hi,   w_i >= 0 where z_i = lo_i,   w_i <= 0 where z_i = hi_i,   w_i = 0
 * between.
 *
 * A contact has lo = 0, hi = infinity; a hinge row has lo = -infinity, hi = infinity; a motor or a friction
 * box has both bounds.  For positive semidefinite A (every frictionless contact problem) w is unique, z may
 * not be. The functions know arrays only, keep no global state, and give the same bits for the same arrays.
 */
#ifndef ABUT_COMPLEMENTARITY_H
#define ABUT_COMPLEMENTARITY_H

#include "abut/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The problem.  A is given dense (row by row) or as compressed rows: row i has the entries value[k] in the
 * columns column[k], k = row_start[i] .. row_start[i+1]-1, in any order, no column twice.  Exact, PGS and
 * NNCG need A symmetric (both triangles stored) and positive semidefinite; Lemke takes any A. */
typedef struct abut_lcp {
    int size;
    const double *dense; /* size * size, or NULL */
    const int *row_start;
    const int *column;
    const double *value;
    const double *b;
    const double *lo, *hi; /* NULL: all 0, all +infinity; entries may be infinite */
    /* Boxed friction, optional: where friction_row[i] = j >= 0 the bounds of row i are -+ friction[i] *
     * max(z_j, 0) and lo[i], hi[i] are ignored.  Row j must not itself be bounded by another row.  Exact
     * finds these bounds by repeated solution (each with the bounds of the last), which may end with
     * ABUT_BUDGET for large friction; PGS and NNCG move them along.  Lemke and LP refuse them: write a
     * friction cone as a general problem there. */
    const int *friction_row;
    const double *friction;
} abut_lcp;

/* X(constant, word, sentence) */
#define ABUT_LCP_SOLVER_LIST(X)                                                                       \
    X(EXACT, "exact",                                                                                 \
      "block principal pivoting on a sparse factorisation, refined; any positive semidefinite A")     \
    X(LEMKE, "lemke", "Lemke's path with the lexicographic rule; any A, dense")                       \
    X(LP, "lp",                                                                                       \
      "Baraff's heuristic of 1989, section 6, with a linear program; exact where the guess is wrong") \
    X(PGS, "pgs", "projected Gauss-Seidel; approximate")                                              \
    X(NNCG, "nncg", "nonsmooth nonlinear conjugate gradients on projected Gauss-Seidel; approximate")
typedef enum abut_lcp_method {
#define ABUT_LCP_CONSTANT(name, word, sentence) ABUT_LCP_##name,
    ABUT_LCP_SOLVER_LIST(ABUT_LCP_CONSTANT)
#undef ABUT_LCP_CONSTANT
        ABUT_LCP_METHOD_COUNT
} abut_lcp_method;
ABUT_API const char *abut_lcp_method_name(abut_lcp_method method); /* "exact" */

/* Where z_i stands.  An array of these is the active set: the memory that makes the next solution fast. */
typedef enum abut_lcp_state {
    ABUT_LCP_FREE = 0,     /* w_i = 0 */
    ABUT_LCP_AT_LOWER = 1, /* z_i = lo_i */
    ABUT_LCP_AT_UPPER = 2  /* z_i = hi_i */
} abut_lcp_state;

typedef struct abut_lcp_config {
    abut_lcp_method method; /* EXACT */
    double tolerance;       /* accepted residual, relative to the size of b: 1e-9 */
    int budget;             /* pivots (exact, lemke) or sweeps (pgs, nncg); 0: a default from the size */
    bool warm;    /* start from state[] and z, as the last solution left them; wrong ones cost time, not the
                     answer */
    bool nearest; /* exact, infeasible problem: also solve the nearest feasible one (see result.infeasible_by)
                   */
    bool skip_unique; /* do not find out result.unique, which costs as much as a solution where A is singular
                       */
    bool skip_checks; /* the caller vouches for indices, finite numbers and symmetry */
} abut_lcp_config;
ABUT_API abut_lcp_config abut_default_lcp_config(void);

/* What Baraff's heuristic did (method LP). */
typedef enum abut_lcp_guess {
    ABUT_LCP_NO_GUESS,          /* another method was asked for */
    ABUT_LCP_NONE_VANISHES,     /* V = {} was right (section 6.2) */
    ABUT_LCP_GUESSED_VANISHING, /* V from the minimum-sum force was right (section 6.3) */
    ABUT_LCP_GUESSED_WRONG      /* neither was; the answer is the exact solver's */
} abut_lcp_guess;

typedef struct abut_lcp_result {
    abut_status
        status; /* OK, INFEASIBLE, FAILED, BUDGET, INVALID, NO_MEMORY, UNSUPPORTED: what the call returned */
    double residual;    /* abut_lcp_validate's measure of the returned z */
    double attainable;  /* what rounding z to doubles may cost: u max(|A||z| + |b|) / max|b|, u = 2^-53 */
    int pivots;         /* rows that changed sides (exact), pivots (lemke), sweeps (pgs, nncg) */
    int factorizations; /* exact: of the matrix of the free rows */
    int proximal_steps; /* exact: refinements of the singular problem */
    bool unique; /* z was shown to be the only solution (A definite, or symmetric and semidefinite; no boxed
                    friction) */
    abut_lcp_guess guess; /* method LP */
    double infeasible_by; /* INFEASIBLE: smallest relative change of b, in the mass-scaled norm, that gives a
                             solution */
} abut_lcp_result;

/* A solver owns scratch memory and the ordering of the last sparsity pattern, nothing that changes an answer.
 * One for each thread. NULL when memory is out. */
typedef struct abut_lcp_solver abut_lcp_solver;
ABUT_API abut_lcp_solver *abut_lcp_solver_create(const abut_context *context);
ABUT_API void abut_lcp_solver_destroy(abut_lcp_solver *solver);

/* Solves.  `state` (size entries, or NULL) is read when config.warm is set, and always written; z and w have
 * `size` entries and are always written when the problem could be read. OK: z solves to config.tolerance (or
 * to 8 result.attainable where that is larger). w_i is exactly 0 for free rows. INFEASIBLE: shown by the ray
 * d in w: lo, hi allow z + t d for every t > 0, A d = 0 to rounding, b.d < 0 (for Lemke with general A: the
 * ray of its last pivot). z is the best found, or the nearest problem's solution. */
ABUT_API abut_status abut_lcp_solve(abut_lcp_solver *solver, const abut_lcp *problem,
                                    const abut_lcp_config *config, uint8_t *state, double *z, double *w,
                                    abut_lcp_result *result, abut_error *error);

/* The residual of z, from the definition, in doubled precision:
 *     max_i A_ii |z_i - clamp(z_i - (A z + b)_i / A_ii, lo_i, hi_i)| / max_i |b_i|
 * (divided by 1 where b = 0). It is 0 exactly for a solution. `worst`, if not NULL, gets the row. */
ABUT_API double abut_lcp_validate(const abut_lcp *problem, const double *z, int *worst);

/* What A is, to rounding: x.Ax >= 0 for all x (semidefinite), > 0 for x != 0 (definite: then the solution is
 * the only one, also where A is not symmetric).  Exact, PGS and NNCG are for symmetric and semidefinite A,
 * abut_lcp_determine and abut_lcp_groups too. */
typedef struct abut_lcp_kind {
    bool symmetric, semidefinite, definite;
} abut_lcp_kind;
ABUT_API abut_status abut_lcp_kind_of(abut_lcp_solver *solver, const abut_lcp *problem, abut_lcp_kind *kind,
                                      abut_error *error);

/* For a solution (z, w) of a semidefinite problem: which components are the same in every solution, and the
 * solution of least Euclidean norm (both may be NULL; least may be z itself). A box on four corners: no
 * single force is determined, their sum is. */
ABUT_API abut_status abut_lcp_determine(abut_lcp_solver *solver, const abut_lcp *problem, const double *z,
                                        const double *w, bool *determined, double *least, abut_error *error);

/* Which of the others are determined only together: group[i] = -1 where determined[i] (as abut_lcp_determine
 * wrote it), otherwise the number of its group, 0, 1, ... by their first rows. A change of one solution into
 * another within a group needs no other group, and no group falls apart further (coupled rows beyond 1,000
 * are one group).  sums[g] (size entries or NULL) tells whether the sum of z over group g is the same in
 * every solution: a box on four corners is one group, and its sum the weight; a body pressed between two
 * walls is one whose sum is not. count, if not NULL, gets the number of groups. */
ABUT_API abut_status abut_lcp_groups(abut_lcp_solver *solver, const abut_lcp *problem, const bool *determined,
                                     int *group, bool *sums, int *count, abut_error *error);

#ifdef __cplusplus
}
#endif
#endif
