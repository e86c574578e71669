/* Complementarity: closed forms, exact integer arithmetic, Lemke against pivoting, and the validator on every
 * answer. */
#include "support.h"

#include "exact_lcp.h"
#include "lcp_trial.h"

/* The example of the header: z = (1/2, 0), w = (0, 3/2), by hand. */
static void test_example(void **unused) {
    (void)unused;
    double a[] = {2, 1, 1, 2}, b[] = {-1, 1}, z[2], w[2];
    abut_lcp problem = {.size = 2, .dense = a, .b = b};
    for (int method = 0; method < ABUT_LCP_METHOD_COUNT; method++) {
        abut_lcp_result result;
        assert_int_equal(solve(&problem, (abut_lcp_method)method, z, w, &result), ABUT_OK);
        assert_true(fabs(z[0] - 0.5) <= 1e-9 && fabs(z[1]) <= 1e-9 && fabs(w[0]) <= 1e-8 &&
                    fabs(w[1] - 1.5) <= 1e-8);
        assert_true(result.unique);
    }
}

static void test_empty(void **unused) {
    (void)unused;
    abut_lcp problem = {.size = 0};
    double none[1];
    for (int method = 0; method < ABUT_LCP_METHOD_COUNT; method++)
        assert_int_equal(solve(&problem, (abut_lcp_method)method, none, none, NULL), ABUT_OK);
}

/* One row a z + b: the solution is -b / a cut to the bounds; w what is left. Every kind of bounds, every sign
 * of b. */
static void test_one_row(void **unused) {
    (void)unused;
    double bounds[][2] = {{0, INF}, {-INF, INF}, {-INF, 3}, {-1, 2}, {2, 2}, {1, INF}, {-INF, -5}, {-3, -2}};
    double loads[] = {-30, -4, 0, 4, 30}, sizes[] = {1e-12, 1, 1e12};
    for (int k = 0; k < COUNT_OF(bounds); k++)
        for (int j = 0; j < COUNT_OF(loads); j++)
            for (int s = 0; s < COUNT_OF(sizes); s++)
                for (int method = 0; method < ABUT_LCP_METHOD_COUNT; method++) {
                    double a = 2 * sizes[s], b = loads[j] * sizes[s], z, w,
                           want = fmin(fmax(-b / a, bounds[k][0]), bounds[k][1]);
                    abut_lcp problem = {
                        .size = 1, .dense = &a, .b = &b, .lo = &bounds[k][0], .hi = &bounds[k][1]};
                    assert_int_equal(solve(&problem, (abut_lcp_method)method, &z, &w, NULL), ABUT_OK);
                    assert_true(fabs(z - want) <= 1e-9 * fmax(1, fabs(want)));
                    assert_true(fabs(w - (a * want + b)) <= 1e-8 * fmax(fabs(b), a));
                }
}

/* A four-legged table of weight W: w = 0, the forces sum to W, none is determined, those of least norm are
 * the plane W / 4 (1 + p sx + p sy) through the corners (sx, sy = +-1) that balances the load at (p, p) of
 * the half spans, while that is not negative (p <= 1/2). Over one leg (p = 1) that leg carries all, and
 * everything is determined, though all four w are 0. */
static void test_table(void **unused) {
    (void)unused;
    for (int place = 0; place <= 4; place++) {
        contact_problem p;
        contact_problem_stack(&p, 1, 0, 1, 1);
        double at = 0.25 * place, z[4], w[4], least[4], sum = 0;
        p.bodies[0].load[3] = -9.81 * 0.5 * at, p.bodies[0].load[4] = 9.81 * at; /* half spans 1 and 1/2 */
        contact_problem_assemble(&p);
        bool determined[4];
        abut_lcp_result result;
        assert_int_equal(solve(&p.lcp, ABUT_LCP_EXACT, z, w, &result), ABUT_OK);
        assert_int_equal(result.unique, place == 4);
        abut_lcp_solver *solver = abut_lcp_solver_create(NULL);
        assert_int_equal(abut_lcp_determine(solver, &p.lcp, z, w, determined, least, NULL), ABUT_OK);
        abut_lcp_solver_destroy(solver);
        for (int i = 0; i < 4; i++) {
            double sx = i & 1 ? 1 : -1, sy = i & 2 ? 1 : -1;
            double want = place == 4 ? 9.81 * (i == 3) : 9.81 / 4 * (1 + at * sx + at * sy);
            sum += z[i];
            assert_true(fabs(w[i]) <= 1e-12);
            if (place != 3) assert_true(fabs(least[i] - want) <= 1e-12 * 9.81);
            assert_int_equal(determined[i], place == 4);
        }
        assert_true(fabs(sum - 9.81) <= 1e-11);
        assert_true(abut_lcp_validate(&p.lcp, least, NULL) <= 1e-9);
        contact_problem_free(&p);
    }
}

/* The ray of an infeasible problem: d >= 0 where only lo is finite, A d = 0, b.d < 0. */
static void check_ray(const abut_lcp *p, const double *d) {
    double bd = 0, size = vector_size(d, p->size);
    assert_true(size > 0);
    for (int i = 0; i < p->size; i++) {
        double ad = 0, row = 0;
        for (int j = 0; j < p->size; j++)
            ad += p->dense[i * p->size + j] * d[j], row = fmax(row, fabs(p->dense[i * p->size + j]));
        assert_true(fabs(ad) <= 1e-9 * row * size);
        assert_true(d[i] >= 0 || (p->lo && isinf(p->lo[i])));
        assert_true(d[i] <= 0 || !p->hi || isinf(p->hi[i]));
        bd += p->b[i] * d[i];
    }
    assert_true(bd < 0);
}

static void test_infeasible(void **unused) {
    (void)unused;
    double z[3], w[3];
    abut_lcp_result result;
    /* two walls that approach a body between them */
    double squeeze[] = {1, -1, -1, 1}, b[] = {-1, -1};
    abut_lcp problem = {.size = 2, .dense = squeeze, .b = b};
    assert_int_equal(solve(&problem, ABUT_LCP_EXACT, z, w, &result), ABUT_INFEASIBLE);
    check_ray(&problem, w);
    assert_true(fabs(result.infeasible_by - 1) <= 1e-9); /* all of b lies along the ray */
    assert_int_equal(solve(&problem, ABUT_LCP_LEMKE, z, w, &result), ABUT_INFEASIBLE);
    check_ray(&problem, w);
    /* the same hinge twice, with different right sides; the nearest problem has their mean: z_0 + z_1 = 2 */
    double twice[] = {1, 1, 0, 1, 1, 0, 0, 0, 1}, c[] = {-1, -3, -2}, lo[] = {-INF, -INF, 0},
           hi[] = {INF, INF, INF};
    problem = (abut_lcp){.size = 3, .dense = twice, .b = c, .lo = lo, .hi = hi};
    assert_int_equal(solve(&problem, ABUT_LCP_LEMKE, z, w, &result), ABUT_INFEASIBLE);
    abut_lcp_solver *solver = abut_lcp_solver_create(NULL);
    abut_lcp_config config = abut_default_lcp_config();
    config.nearest = true;
    assert_int_equal(abut_lcp_solve(solver, &problem, &config, NULL, z, w, &result, NULL), ABUT_INFEASIBLE);
    abut_lcp_solver_destroy(solver);
    check_ray(&problem, w);
    assert_true(fabs(z[0] + z[1] - 2) <= 1e-9 && fabs(z[2] - 2) <= 1e-9);
    /* an empty row that b pulls down */
    double zero = 0, pull = -1;
    problem = (abut_lcp){.size = 1, .dense = &zero, .b = &pull};
    assert_int_equal(solve(&problem, ABUT_LCP_EXACT, z, w, &result), ABUT_INFEASIBLE);
    check_ray(&problem, w);
    /* redundant rows whose right sides differ by rounding only are not infeasible */
    c[1] = -1 - 1e-14;
    problem = (abut_lcp){.size = 3, .dense = twice, .b = c, .lo = lo, .hi = hi};
    assert_int_equal(solve(&problem, ABUT_LCP_EXACT, z, w, &result), ABUT_OK);
}

/* Integer problems A = B B^T, singular ones among them, against every active set in exact arithmetic. */
static void test_against_integers(void **unused) {
    (void)unused;
    uint64_t seed = 5;
    int infeasible = 0, several = 0;
    for (int trial = 0; trial < 4000; trial++) {
        int n = 1 + trial % EXACT_MOST, rank = 1 + support_int(&seed, 0, n - 1), solutions;
        long a[EXACT_MOST][EXACT_MOST] = {{0}}, b[EXACT_MOST], f[EXACT_MOST][EXACT_MOST];
        for (int i = 0; i < n; i++)
            for (int k = 0; k < rank; k++) f[i][k] = support_int(&seed, -4, 4);
        double dense[EXACT_MOST * EXACT_MOST], load[EXACT_MOST], z[EXACT_MOST], w[EXACT_MOST],
            want_z[EXACT_MOST], want_w[EXACT_MOST];
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                for (int k = 0; k < rank; k++) a[i][j] += f[i][k] * f[j][k];
                dense[i * n + j] = (double)a[i][j];
            }
        }
        /* b at random, or for a third of them in the range of A, where many solutions are degenerate */
        for (int i = 0; i < n; i++) {
            b[i] = trial % 3 ? support_int(&seed, -9, 9) : 0;
            for (int j = 0; j < n && trial % 3 == 0; j++) b[i] -= a[i][j] * ((trial / 3 + j) % 3);
            load[i] = (double)b[i];
        }
        bool solvable = exact_lcp(n, a, b, want_z, want_w, &solutions);
        abut_lcp problem = {.size = n, .dense = dense, .b = load};
        abut_lcp_method methods[] = {ABUT_LCP_EXACT, ABUT_LCP_LEMKE, ABUT_LCP_LP};
        for (int m = 0; m < COUNT_OF(methods); m++) {
            abut_lcp_result result;
            abut_status status = solve(&problem, methods[m], z, w, &result);
            assert_int_equal(status, solvable ? ABUT_OK : ABUT_INFEASIBLE);
            if (!solvable) check_ray(&problem, w);
            for (int i = 0; i < n && solvable; i++) {
                /* z as doubles cannot do better than `attainable`, times |A_LF A_FF^-1| for rows outside */
                assert_true(fabs(w[i] - want_w[i]) <=
                            (1e-9 + 100 * result.attainable) * fmax(1, vector_size(load, n)));
                if (result.unique)
                    assert_true(fabs(z[i] - want_z[i]) <= 1e-8 * fmax(1, vector_size(want_z, n)));
            }
            if (solvable && solutions > 1) assert_false(result.unique);
        }
        infeasible += !solvable, several += solutions > 1;
    }
    assert_true(infeasible > 100 && several > 100); /* both kinds were there */
}

/* Pivoting and Lemke agree on w; both satisfy the validator. */
static void test_against_lemke(void **unused) {
    (void)unused;
    for (int trial = 0; trial < 300; trial++) {
        contact_problem p;
        if (trial % 3 == 0)
            contact_problem_stack(&p, 1 + trial % 12, 0.25 * (trial % 7), 100, (uint64_t)trial);
        else if (trial % 3 == 1)
            contact_problem_wall(&p, 1 + trial % 3, 1 + trial % 4, (uint64_t)trial);
        else
            contact_problem_pile(&p, 2 + trial % 50, 100, trial % 2 ? 0.2 : 0, (uint64_t)trial);
        if (trial % 4 == 1) contact_problem_load(&p, 0.5);
        contact_problem_assemble(&p);
        int n = p.lcp.size;
        double z[256], w[256], other[256], v[256];
        assert_true(n <= 256);
        assert_int_equal(solve(&p.lcp, ABUT_LCP_EXACT, z, w, NULL), ABUT_OK);
        assert_int_equal(solve(&p.lcp, ABUT_LCP_LEMKE, other, v, NULL), ABUT_OK);
        for (int i = 0; i < n; i++) assert_true(fabs(w[i] - v[i]) <= 1e-8 * vector_size(p.b, n));
        contact_problem_free(&p);
    }
}

/* Lemke on matrices that are not symmetric: w = A z + b with A = P + K, P positive definite, K skew, has one
 * solution; it is made by choosing z and w first. */
static void test_lemke_general(void **unused) {
    (void)unused;
    uint64_t seed = 11;
    for (int trial = 0; trial < 500; trial++) {
        int n = 1 + trial % 20;
        double a[400], b[20], z[20], w[20], want[20], slack[20];
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++) {
                double k = random_range(&seed, -3, 3),
                       s = i == j ? (double)n : random_range(&seed, -0.5, 0.5);
                a[i * n + j] = s + (i == j ? 0 : k), a[j * n + i] = s - (i == j ? 0 : k);
            }
        for (int i = 0; i < n; i++) {
            bool active = random_unit(&seed) < 0.5;
            want[i] = active ? random_range(&seed, 0, 5) : 0,
            slack[i] = active ? 0 : random_range(&seed, 0, 5);
        }
        for (int i = 0; i < n; i++) {
            b[i] = slack[i];
            for (int j = 0; j < n; j++) b[i] -= a[i * n + j] * want[j];
        }
        abut_lcp problem = {.size = n, .dense = a, .b = b};
        assert_int_equal(solve(&problem, ABUT_LCP_LEMKE, z, w, NULL), ABUT_OK);
        for (int i = 0; i < n; i++)
            assert_true(fabs(z[i] - want[i]) <= 1e-10 && fabs(w[i] - slack[i]) <= 1e-9);
    }
    /* exact refuses such a matrix, with the place */
    double skew[] = {1, 2, -2, 1}, b[] = {-1, -1}, z[2], w[2];
    abut_lcp problem = {.size = 2, .dense = skew, .b = b};
    assert_int_equal(solve(&problem, ABUT_LCP_EXACT, z, w, NULL), ABUT_INVALID);
}

/* Hinge rows and boxes among contacts: Lemke's embedding of bounds against pivoting on the same rows. */
static void test_mixed_bounds(void **unused) {
    (void)unused;
    uint64_t seed = 3;
    for (int trial = 0; trial < 400; trial++) {
        contact_problem p;
        contact_problem_pile(&p, 2 + trial % 30, 10, 0.1, (uint64_t)trial + 1000);
        contact_problem_assemble(&p);
        int n = p.lcp.size;
        double lo[64], hi[64], z[64], w[64], other[64], v[64];
        for (int i = 0; i < n; i++) {
            int kind = support_int(&seed, 0, 4);
            lo[i] = kind == 1 || kind == 2 ? -INF : kind == 3 ? random_range(&seed, -9, 0) : 0;
            hi[i] = kind == 2 || kind == 3 ? random_range(&seed, 1, 9) : INF;
        }
        p.lcp.lo = lo, p.lcp.hi = hi;
        assert_int_equal(solve(&p.lcp, ABUT_LCP_EXACT, z, w, NULL), ABUT_OK);
        assert_int_equal(solve(&p.lcp, ABUT_LCP_LEMKE, other, v, NULL), ABUT_OK);
        for (int i = 0; i < n; i++) assert_true(fabs(w[i] - v[i]) <= 1e-8 * vector_size(p.b, n));
        contact_problem_free(&p);
    }
}

/* A block pushed sideways on one contact, rows (normal, tangential): the normal force is m g; friction holds
 * up to mu m g and then stays there. */
static void test_boxed_friction(void **unused) {
    (void)unused;
    double a[] = {0.5, 0, 0, 0.5}; /* m = 2 */
    int row[] = {-1, 0};
    double mu[] = {0, 0.4};
    for (int step = 0; step <= 20; step++) {
        double push = -10.0 + step, b[] = {-9.81, push / 2}, z[2], w[2], limit = 0.4 * 2 * 9.81;
        abut_lcp problem = {.size = 2, .dense = a, .b = b, .friction_row = row, .friction = mu};
        for (int method = 0; method < ABUT_LCP_METHOD_COUNT; method++) {
            abut_status status = solve(&problem, (abut_lcp_method)method, z, w, NULL);
            if (method == ABUT_LCP_LEMKE || method == ABUT_LCP_LP) {
                assert_int_equal(status, ABUT_UNSUPPORTED);
                continue;
            }
            assert_int_equal(status, ABUT_OK);
            assert_true(fabs(z[0] - 19.62) <= 1e-7 && fabs(z[1] - fmin(fmax(-push, -limit), limit)) <= 1e-7);
        }
    }
}

/* The overbalanced stack of Baraff's figure 1: V = {} is right while it stands; when it falls the guess is
 * not empty. Every answer of the heuristic equals the exact one, whatever it guessed. */
static void test_heuristic(void **unused) {
    (void)unused;
    int counts[4] = {0};
    for (int bricks = 1; bricks <= 6; bricks++)
        for (int k = 0; k < 8; k++) {
            contact_problem p;
            contact_problem_stack(&p, bricks, 0.25 * k, 1, 1);
            contact_problem_assemble(&p);
            double z[32], w[32], v[32];
            abut_lcp_result result;
            assert_int_equal(solve(&p.lcp, ABUT_LCP_LP, z, w, &result), ABUT_OK);
            assert_int_equal(solve(&p.lcp, ABUT_LCP_EXACT, z, v, NULL), ABUT_OK);
            bool stands = vector_size(v, p.lcp.size) <= 1e-9;
            for (int i = 0; i < p.lcp.size; i++) assert_true(fabs(w[i] - v[i]) <= 1e-8);
            assert_int_equal(result.guess == ABUT_LCP_NONE_VANISHES, stands);
            counts[result.guess]++;
            contact_problem_free(&p);
        }
    assert_true(counts[ABUT_LCP_NONE_VANISHES] > 0 &&
                counts[ABUT_LCP_GUESSED_VANISHING] + counts[ABUT_LCP_GUESSED_WRONG] > 0);
}

/* A warm start from any active set gives the same w; from the right one it takes no pivots, but for two rows
 * with z = 0 and w = 0 to rounding, which may change places. */
static void test_warm(void **unused) {
    (void)unused;
    uint64_t seed = 8;
    abut_lcp_solver *solver = abut_lcp_solver_create(NULL);
    for (int trial = 0; trial < 200; trial++) {
        contact_problem p;
        contact_problem_pile(&p, 2 + trial % 40, 10, 0.1, (uint64_t)trial);
        contact_problem_assemble(&p);
        int n = p.lcp.size;
        double z[64], w[64], v[64];
        uint8_t state[64];
        abut_lcp_config config = abut_default_lcp_config();
        abut_lcp_result result;
        assert_int_equal(abut_lcp_solve(solver, &p.lcp, &config, state, z, w, NULL, NULL), ABUT_OK);
        config.warm = true;
        assert_int_equal(abut_lcp_solve(solver, &p.lcp, &config, state, z, v, &result, NULL), ABUT_OK);
        assert_true(result.pivots <= 3);
        for (int i = 0; i < n; i++) state[i] = (uint8_t)support_int(&seed, 0, 2);
        assert_int_equal(abut_lcp_solve(solver, &p.lcp, &config, state, z, v, &result, NULL), ABUT_OK);
        for (int i = 0; i < n; i++) assert_true(fabs(w[i] - v[i]) <= 1e-9 * vector_size(p.b, n));
        contact_problem_free(&p);
    }
    abut_lcp_solver_destroy(solver);
}

/* Large piles, in which most contacts vanish: from nothing the active-set method solves them, from a state of
 * all rows free the block exchanges do; w is unique, so they must agree. */
static void test_piles_two_ways(void **unused) {
    (void)unused;
    abut_lcp_solver *solver = abut_lcp_solver_create(NULL);
    static double z[400], w[400], y[400], v[400];
    static uint8_t state[400];
    for (int trial = 0; trial < 60; trial++) {
        contact_problem p;
        contact_problem_pile(&p, 40 + 6 * trial,
                             trial % 3 == 0   ? 1
                             : trial % 3 == 1 ? 100
                                              : 1e4,
                             0.1, (uint64_t)trial + 77);
        contact_problem_assemble(&p);
        int n = p.lcp.size;
        abut_lcp_config config = abut_default_lcp_config();
        assert_int_equal(abut_lcp_solve(solver, &p.lcp, &config, NULL, z, w, NULL, NULL), ABUT_OK);
        assert_true(abut_lcp_validate(&p.lcp, z, NULL) <= 1e-9);
        config.warm = true;
        for (int i = 0; i < n; i++) state[i] = ABUT_LCP_FREE, y[i] = 0;
        assert_int_equal(abut_lcp_solve(solver, &p.lcp, &config, state, y, v, NULL, NULL), ABUT_OK);
        for (int i = 0; i < n; i++) assert_true(fabs(w[i] - v[i]) <= 1e-8 * vector_size(p.b, n));
        contact_problem_free(&p);
    }
    abut_lcp_solver_destroy(solver);
}

/* What a solver keeps of the last matrix never shows: after other loads and another problem the bits are
 * those of a new solver. */
static void test_kept_is_hidden(void **unused) {
    (void)unused;
    contact_problem p, other;
    contact_problem_wall(&p, 5, 6, 1), contact_problem_stack(&other, 12, 0.1, 1, 2);
    contact_problem_assemble(&p), contact_problem_assemble(&other);
    abut_lcp_config config = abut_default_lcp_config();
    abut_lcp_solver *solver = abut_lcp_solver_create(NULL);
    static double z[400], w[400], fresh[400];
    for (int step = 0; step < 12; step++) {
        contact_problem_load(&p, 1e-2);
        contact_problem_assemble(&p);
        if (step % 3 == 2)
            assert_int_equal(abut_lcp_solve(solver, &other.lcp, &config, NULL, z, w, NULL, NULL), ABUT_OK);
        assert_int_equal(abut_lcp_solve(solver, &p.lcp, &config, NULL, z, w, NULL, NULL), ABUT_OK);
        abut_lcp_solver *once = abut_lcp_solver_create(NULL);
        assert_int_equal(abut_lcp_solve(once, &p.lcp, &config, NULL, fresh, w, NULL, NULL), ABUT_OK);
        abut_lcp_solver_destroy(once);
        assert_memory_equal(z, fresh, (size_t)p.lcp.size * sizeof *z);
    }
    abut_lcp_solver_destroy(solver);
    contact_problem_free(&p), contact_problem_free(&other);
}

/* Compressed rows and the dense matrix are the same problem: the same bits. */
static void test_dense_is_sparse(void **unused) {
    (void)unused;
    contact_problem p;
    contact_problem_wall(&p, 3, 4, 1);
    contact_problem_assemble(&p);
    int n = p.lcp.size;
    double *dense = calloc((size_t)(n * n), sizeof *dense), *x = calloc((size_t)(4 * n), sizeof *x);
    assert_true(dense && x);
    /* entries that are 0 in the compressed rows are not stored in the dense form: leave them out of both */
    int end = 0;
    for (int i = 0, from = 0; i < n; i++) {
        int to = p.row_start[i + 1];
        for (int k = from; k < to; k++) {
            dense[i * n + p.column[k]] = p.value[k];
            if (p.value[k] != 0) p.column[end] = p.column[k], p.value[end++] = p.value[k];
        }
        from = to, p.row_start[i + 1] = end;
    }
    abut_lcp problem = {.size = n, .dense = dense, .b = p.b};
    assert_int_equal(solve(&p.lcp, ABUT_LCP_EXACT, x, x + n, NULL), ABUT_OK);
    assert_int_equal(solve(&problem, ABUT_LCP_EXACT, x + 2 * n, x + 3 * n, NULL), ABUT_OK);
    assert_memory_equal(x, x + 2 * n, (size_t)(2 * n) * sizeof *x);
    free(dense), free(x);
    contact_problem_free(&p);
}

static void test_hostile(void **unused) {
    (void)unused;
    double nan = (double)NAN, z[2], w[2], bad[] = {1, nan, nan, 1}, good[] = {1, 0, 0, 1}, b[] = {1, 1},
           bad_b[] = {INF, 1};
    double lo[] = {1, 0}, hi[] = {0, 1}, negative[] = {-1, 0, 0, 1};
    int start[] = {0, 1, 2}, column[] = {0, 7};
    abut_lcp problems[] = {{.size = 2, .dense = bad, .b = b},
                           {.size = 2, .dense = good, .b = bad_b},
                           {.size = 2, .dense = good, .b = b, .lo = lo, .hi = hi},
                           {.size = 2, .dense = negative, .b = b},
                           {.size = -1, .dense = good, .b = b},
                           {.size = 2, .b = b},
                           {.size = 2, .row_start = start, .column = column, .value = good, .b = b}};
    for (int i = 0; i < COUNT_OF(problems); i++) {
        abut_lcp_solver *solver = abut_lcp_solver_create(NULL);
        abut_lcp_config config = abut_default_lcp_config();
        abut_error error = {0};
        assert_int_equal(abut_lcp_solve(solver, &problems[i], &config, NULL, z, w, NULL, &error),
                         ABUT_INVALID);
        assert_true(error.message[0] != 0);
        abut_lcp_solver_destroy(solver);
    }
    /* symmetric with a positive diagonal, but indefinite: a status, not a wrong answer */
    double saddle[] = {1, 3, 3, 1}, down[] = {-1, -1};
    abut_lcp problem = {.size = 2, .dense = saddle, .b = down};
    abut_status status = solve(&problem, ABUT_LCP_EXACT, z, w, NULL);
    assert_true(status == ABUT_OK || status == ABUT_FAILED || status == ABUT_BUDGET);
    if (status == ABUT_OK) assert_true(abut_lcp_validate(&problem, z, NULL) <= 1e-9);
}

static abut_status attempt(const abut_context *context, void *user) {
    contact_problem *p = user;
    abut_lcp_solver *solver = abut_lcp_solver_create(context);
    if (!solver) return ABUT_NO_MEMORY;
    double z[64], w[64];
    bool determined[64];
    abut_status status = ABUT_OK;
    for (int method = 0; method < ABUT_LCP_METHOD_COUNT && status == ABUT_OK; method++) {
        abut_lcp_config config = abut_default_lcp_config();
        config.method = (abut_lcp_method)method;
        status = abut_lcp_solve(solver, &p->lcp, &config, NULL, z, w, NULL, NULL);
        if (status == ABUT_BUDGET && method >= ABUT_LCP_PGS) status = ABUT_OK;
        if (status == ABUT_OK && method == ABUT_LCP_EXACT)
            status = abut_lcp_determine(solver, &p->lcp, z, w, determined, NULL, NULL);
    }
    abut_lcp_solver_destroy(solver);
    return status;
}

static void test_memory(void **unused) {
    (void)unused;
    contact_problem p;
    contact_problem_pile(&p, 40, 10, 0.1, 4);
    contact_problem_assemble(&p);
    assert_true(support_fail_each(attempt, &p) > 3);
    contact_problem_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),         cmocka_unit_test(test_empty),
        cmocka_unit_test(test_one_row),         cmocka_unit_test(test_table),
        cmocka_unit_test(test_infeasible),      cmocka_unit_test(test_against_integers),
        cmocka_unit_test(test_against_lemke),   cmocka_unit_test(test_lemke_general),
        cmocka_unit_test(test_mixed_bounds),    cmocka_unit_test(test_boxed_friction),
        cmocka_unit_test(test_heuristic),       cmocka_unit_test(test_warm),
        cmocka_unit_test(test_dense_is_sparse), cmocka_unit_test(test_piles_two_ways),
        cmocka_unit_test(test_kept_is_hidden),  cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
