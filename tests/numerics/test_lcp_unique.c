/* What is unique in the solution of a complementarity problem: which forces are determined, which only in
 * sum, and what kind of matrix allows to say so. */
#include "support.h"

#include "lcp_trial.h"

/* The groups of a problem that is solved first; -1 where a force is determined. */
static int groups_of(const abut_lcp *problem, int *group, bool *sums) {
    double z[32], w[32];
    bool determined[32];
    int count = -1;
    assert_true(problem->size <= 32);
    assert_int_equal(solve(problem, ABUT_LCP_EXACT, z, w, NULL), ABUT_OK);
    abut_lcp_solver *solver = abut_lcp_solver_create(NULL);
    assert_int_equal(abut_lcp_determine(solver, problem, z, w, determined, NULL, NULL), ABUT_OK);
    assert_int_equal(abut_lcp_groups(solver, problem, determined, group, sums, &count, NULL), ABUT_OK);
    abut_lcp_solver_destroy(solver);
    return count;
}

static void expect_groups(const abut_lcp *problem, const int *want, int groups) {
    int group[32];
    bool sums[32];
    assert_int_equal(groups_of(problem, group, sums), groups);
    for (int i = 0; i < problem->size; i++) assert_int_equal(group[i], want[i]);
    for (int g = 0; g < groups; g++) assert_true(sums[g]);
}

/* Which forces are determined only in sum: A z is the same for all solutions, so where a group's contacts
 * carry one body along one normal the sum is its share of the weight. */
static void test_groups(void **unused) {
    (void)unused;
    contact_problem p;
    contact_problem_stack(&p, 1, 0, 1, 1); /* a table: one group of four */
    contact_problem_assemble(&p);
    expect_groups(&p.lcp, (int[]){0, 0, 0, 0}, 1);
    contact_problem_free(&p);
    contact_problem_stack(&p, 3, 0, 1, 1); /* three boxes: one group a face, though all are coupled */
    contact_problem_assemble(&p);
    expect_groups(&p.lcp, (int[]){0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}, 3);
    contact_problem_free(&p);
    contact_problem_init(&p, 1); /* two boxes side by side touch nothing in common */
    for (int i = 0; i < 2; i++)
        contact_add_face(&p, contact_add_box(&p, 5 * i, 0, 0.5, 1, 1, 0.5, 1 + i), -1);
    contact_problem_assemble(&p);
    expect_groups(&p.lcp, (int[]){0, 0, 0, 0, 1, 1, 1, 1}, 2);
    contact_problem_free(&p);
    const double up[3] = {0, 0, 1};
    contact_problem_init(&p,
                         1); /* three legs, one of them twice: these two together, the others by themselves */
    contact_add_box(&p, 0, 0, 0.5, 1, 1, 0.5, 1);
    contact_add_point(&p, 0, -1, (double[]){-1, -1, 0}, up),
        contact_add_point(&p, 0, -1, (double[]){1, -1, 0}, up);
    contact_add_point(&p, 0, -1, (double[]){0, 1, 0}, up),
        contact_add_point(&p, 0, -1, (double[]){0, 1, 0}, up);
    contact_problem_assemble(&p);
    expect_groups(&p.lcp, (int[]){-1, -1, 0, 0}, 1);
    contact_problem_free(&p);
    contact_problem_init(&p, 1); /* a beam on three supports in a line: forces a (1, -2, 1) apart */
    contact_add_box(&p, 0, 0, 0.5, 1, 1, 0.5, 1);
    for (int i = -1; i <= 1; i++) contact_add_point(&p, 0, -1, (double[]){i, 0, 0}, up);
    contact_problem_assemble(&p);
    expect_groups(&p.lcp, (int[]){0, 0, 0}, 1);
    contact_problem_free(&p);
    /* a body pressed between two walls: both forces may grow, and their sum with them */
    double squeeze[] = {1, -1, -1, 1}, b[] = {-1, 1};
    int group[2];
    bool sums[2];
    assert_int_equal(groups_of(&(abut_lcp){.size = 2, .dense = squeeze, .b = b}, group, sums), 1);
    assert_true(group[0] == 0 && group[1] == 0 && !sums[0]);
}

/* Where `determined` says so, z agrees with Lemke's solution, which is another vertex of the solutions; and
 * where the two differ it must not say so.  Least-norm solutions are solutions, and no longer than either. */
static void test_determined(void **unused) {
    (void)unused;
    int differ = 0, same = 0;
    abut_lcp_solver *solver = abut_lcp_solver_create(NULL);
    for (int trial = 0; trial < 300; trial++) {
        contact_problem p;
        if (trial % 3 == 0)
            contact_problem_stack(&p, 1 + trial % 4, 0.3 * (trial % 5), 10, (uint64_t)trial);
        else
            contact_problem_pile(&p, 2 + trial % 20, 10, 0.2, (uint64_t)trial);
        contact_problem_assemble(&p);
        double z[64], w[64], other[64], v[64], least[64], lengths[3] = {0, 0, 0};
        bool determined[64];
        int n = p.lcp.size;
        assert_int_equal(solve(&p.lcp, ABUT_LCP_EXACT, z, w, NULL), ABUT_OK);
        assert_int_equal(solve(&p.lcp, ABUT_LCP_LEMKE, other, v, NULL), ABUT_OK);
        assert_int_equal(abut_lcp_determine(solver, &p.lcp, z, w, determined, least, NULL), ABUT_OK);
        assert_true(abut_lcp_validate(&p.lcp, least, NULL) <= 1e-9);
        double size = vector_size(z, n);
        for (int i = 0; i < n; i++) {
            lengths[0] += z[i] * z[i], lengths[1] += other[i] * other[i], lengths[2] += least[i] * least[i];
            if (determined[i])
                assert_true(fabs(z[i] - other[i]) <= 1e-6 * size), same++;
            else
                differ++;
        }
        assert_true(sqrt(lengths[2]) <= sqrt(fmin(lengths[0], lengths[1])) * (1 + 1e-9));
        contact_problem_free(&p);
    }
    abut_lcp_solver_destroy(solver);
    assert_true(differ > 100 && same > 100);
}

static abut_lcp_kind kind_of(const abut_lcp *problem) {
    abut_lcp_solver *solver = abut_lcp_solver_create(NULL);
    abut_lcp_kind kind;
    assert_int_equal(abut_lcp_kind_of(solver, problem, &kind, NULL), ABUT_OK);
    abut_lcp_solver_destroy(solver);
    return kind;
}

/* A = G G' of r columns has the rank r; with 2 v v' (v.A v) / (v.v)^2 taken off, v.A v changes its sign; a
 * skew part changes nothing but the symmetry.  Rows in units that are 1e12 apart. */
static void test_kinds(void **unused) {
    (void)unused;
    enum { MOST = 24 };
    uint64_t seed = 5;
    for (int trial = 0; trial < 400; trial++) {
        int n = 1 + trial % MOST, r = trial % 3 == 0 ? n : 1 + (int)(random_unit(&seed) * (n - 0.001));
        double g[MOST][MOST], a[MOST * MOST], v[MOST], unit[MOST], part[MOST], b[MOST] = {0}, vv = 0, vav = 0;
        bool indefinite = trial % 4 == 1, skew = trial % 5 == 2 && n > 1;
        for (int i = 0; i < n; i++) {
            v[i] = random_range(&seed, -1, 1), vv += v[i] * v[i];
            unit[i] = trial % 7 == 0 ? pow(10, random_range(&seed, -6, 6)) : 1;
            for (int k = 0; k < r; k++) g[i][k] = random_range(&seed, -1, 1) + (i == k ? 3 : 0);
        }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double sum = 0;
                for (int k = 0; k < r; k++) sum += g[i][k] * g[j][k];
                a[i * n + j] = sum, vav += v[i] * sum * v[j];
            }
        for (int i = 0; i < n; i++) part[i] = sqrt(a[i * n + i]);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                if (indefinite) a[i * n + j] -= 2 * v[i] * v[j] * vav / (vv * vv);
                if (skew && i != j) a[i * n + j] += (i < j ? 0.5 : -0.5) * part[i] * part[j];
                a[i * n + j] *= unit[i] * unit[j];
            }
        abut_lcp_kind kind = kind_of(&(abut_lcp){.size = n, .dense = a, .b = b});
        assert_int_equal(kind.symmetric, !skew);
        assert_int_equal(kind.semidefinite, !indefinite);
        assert_int_equal(kind.definite, !indefinite && r == n);
    }
    double swap[] = {0, 1, 1, 0}, negative[] = {-1, 0, 0, 1}, zero[] = {0, 0, 0, 1}, b[] = {0, 0};
    assert_false(kind_of(&(abut_lcp){.size = 2, .dense = swap, .b = b}).semidefinite);
    assert_false(kind_of(&(abut_lcp){.size = 2, .dense = negative, .b = b}).semidefinite);
    assert_true(kind_of(&(abut_lcp){.size = 2, .dense = negative, .b = b}).symmetric);
    assert_true(kind_of(&(abut_lcp){.size = 2, .dense = zero, .b = b}).semidefinite);
    assert_false(kind_of(&(abut_lcp){.size = 2, .dense = zero, .b = b}).definite);
    assert_true(kind_of(&(abut_lcp){.size = 0}).definite);
}

/* (1/3, 1/3), (1, 0) and (0, 1) solve the first problem, which is indefinite: none is the only one.  In the
 * second, with a skew part, A is definite, and its solution is. */
static void test_unique_by_kind(void **unused) {
    (void)unused;
    double three[] = {1, 2, 2, 1}, one[] = {1, 2, -2, 1}, b[] = {-1, -1}, z[2], w[2];
    abut_lcp_result result;
    abut_lcp problem = {.size = 2, .dense = three, .b = b};
    for (int method = 0; method < ABUT_LCP_METHOD_COUNT; method++)
        if (solve(&problem, (abut_lcp_method)method, z, w, &result) == ABUT_OK) assert_false(result.unique);
    assert_int_equal(solve(&problem, ABUT_LCP_LEMKE, z, w, &result), ABUT_OK);
    problem.dense = one;
    assert_int_equal(solve(&problem, ABUT_LCP_LEMKE, z, w, &result), ABUT_OK);
    assert_true(result.unique);
    assert_true(fabs(z[0]) <= 1e-12 && fabs(z[1] - 1) <= 1e-12 && fabs(w[0] - 1) <= 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_determined),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_unique_by_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
