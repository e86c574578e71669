/* The cone program against its optimality conditions, which for a convex problem are the proof, and against
 * cases with a closed form. */
#include "numerics/cone_program.h"
#include "support.h"

#include <math.h>

static uint64_t state = 88172645463325252u;
static double uniform(void) { /* -1 .. 1, xorshift */
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (double)(state >> 11) / 4503599627370496.0 - 1;
}

#define close_to(a, b, allowed) assert_true(fabs((a) - (b)) <= (allowed))

static double times(const cone_row *r, const int first[2], const double *x) {
    double sum = 0;
    for (int k = 0; k < 2; k++)
        for (int i = 0; first[k] >= 0 && i < CONE_SPAN; i++) sum += r->value[k][i] * x[first[k] + i];
    return sum;
}

static double tip(const double *v, int d) { return d == 1 ? v[0] : v[0] - hypot(v[1], v[2]); }

/* x = E^T y + J^T z, E x + e = 0, s = J x + c, s and z in the cone, s . z = 0 */
static void check_conditions(const cone_program *p, double allowed) {
    double rest[600];
    for (int i = 0; i < p->size; i++) rest[i] = p->x[i];
    for (int k = 0; k < p->block_count; k++) {
        const cone_block *b = &p->blocks[k];
        double dot = 0;
        for (int d = 0; d < b->dimension; d++) {
            close_to(b->s[d], times(&b->row[d], b->first, p->x) + b->offset[d], allowed);
            dot += b->s[d] * b->z[d];
            for (int j = 0; j < 2; j++)
                for (int i = 0; b->first[j] >= 0 && i < CONE_SPAN; i++)
                    rest[b->first[j] + i] -= b->z[d] * b->row[d].value[j][i];
        }
        assert_true(tip(b->s, b->dimension) >= -allowed);
        assert_true(tip(b->z, b->dimension) >= -allowed);
        close_to(dot, 0, allowed);
    }
    for (int k = 0; k < p->equation_count; k++) {
        const cone_equation *e = &p->equations[k];
        close_to(times(&e->row, e->first, p->x) + e->offset, 0, allowed);
        for (int j = 0; j < 2; j++)
            for (int i = 0; e->first[j] >= 0 && i < CONE_SPAN; i++)
                rest[e->first[j] + i] -= e->y * e->row.value[j][i];
    }
    for (int i = 0; i < p->size; i++) close_to(rest[i], 0, allowed);
}

/* A weight on a slope of slope m/1 with friction mu, in coordinates where all masses are 1: free acceleration
 * (-1 along the normal, m along the slope).  It sticks for m <= mu: x takes all of it away.  Otherwise the
 * nearest point of the (relaxed) cone: s = c + x with s in K, z = x. */
static void test_slope(void **unused) {
    (void)unused;
    arena a;
    arena_init(&a, NULL);
    for (int i = 0; i <= 20; i++) {
        double mu = 0.5, m = 0.1 * i, x[6];
        cone_block b = {.first = {0, -1}, .dimension = 3};
        b.row[0].value[0][0] = 1, b.row[1].value[0][1] = b.row[2].value[0][2] = mu;
        b.offset[0] = -1, b.offset[1] = mu * m;
        cone_program p = {.size = 6, .blocks = &b, .block_count = 1, .x = x};
        cone_result r;
        assert_int_equal(cone_program_solve(&p, &a, &r), ABUT_OK);
        assert_true(r.solved);
        check_conditions(&p, i == 5 ? 1e-7 : 1e-9); /* s = 0 and z on its boundary */
        double slip = x[1] + m;
        if (m < mu - 1e-9) close_to(slip, 0, 1e-9);
        if (m > mu + 1e-9) {
            /* projection of the force (1, -m) on its friction cone: N = (1 + mu m)/(1 + mu^2), T = -mu N */
            double n = (1 + mu * m) / (1 + mu * mu);
            close_to(x[0], n, 1e-9);
            close_to(x[1], -mu * n, 1e-9);
        }
    }
    arena_free(&a);
}

static void fill(cone_row *r) {
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < CONE_SPAN; i++) r->value[k][i] = uniform();
}

/* Random problems that are strictly feasible by construction: c = s - J x for a point x and s inside the
 * cone. Redundant rows (each block twice) and redundant equations are among them. */
static void test_random(void **unused) {
    (void)unused;
    enum { BODIES = 8, BLOCKS = 40, EQUATIONS = 6 };
    arena a;
    arena_init(&a, NULL);
    for (int round = 0; round < 200; round++) {
        cone_block blocks[BLOCKS] = {0};
        cone_equation equations[EQUATIONS] = {0};
        double x[6 * BODIES], inside[6 * BODIES];
        for (int i = 0; i < 6 * BODIES; i++) inside[i] = uniform();
        int count = 1 + round % BLOCKS, held = round % (EQUATIONS + 1);
        for (int k = 0; k < count; k++) {
            cone_block *b = &blocks[k];
            int one = (int)(4 + 4 * uniform()) % BODIES, two = (one + 1 + k % (BODIES - 1)) % BODIES;
            b->first[0] = 6 * one, b->first[1] = k % 5 == 0 ? -1 : 6 * two, b->dimension = k % 3 == 0 ? 1 : 3;
            if (k % 4 == 3) { /* the same place again */
                *b = blocks[k - 1];
                continue;
            }
            double mu = 0.1 + 0.4 * (1 + uniform());
            for (int d = 0; d < b->dimension; d++) {
                fill(&b->row[d]);
                for (int j = 0; d > 0 && j < 12; j++) b->row[d].value[j / 6][j % 6] *= mu;
                double s = d == 0 ? 1 : 0.2 * uniform();
                b->offset[d] = s - times(&b->row[d], b->first, inside) - (d == 0 ? 0.9 : 0);
            }
        }
        for (int k = 0; k < held; k++) {
            cone_equation *e = &equations[k];
            e->first[0] = 6 * (k % 3), e->first[1] = 6 * (k % 3 + 2);
            fill(&e->row);
            e->offset = -times(&e->row, e->first, inside);
            if (k == 5) *e = equations[4];
        }
        cone_program p = {.size = 6 * BODIES,
                          .blocks = blocks,
                          .block_count = count,
                          .equations = equations,
                          .equation_count = held,
                          .x = x};
        cone_result r;
        assert_int_equal(cone_program_solve(&p, &a, &r), ABUT_OK);
        if (!r.solved) continue; /* with 0.9 taken off, a few are not strictly feasible */
        check_conditions(&p, 1e-7);
        assert_true(r.steps < 40);
    }
    arena_free(&a);
}

/* Two walls that squeeze a body: no strictly feasible point; it says so and ends. */
static void test_infeasible(void **unused) {
    (void)unused;
    arena a;
    arena_init(&a, NULL);
    double x[6];
    cone_block b[2] = {{.first = {0, -1}, .dimension = 1}, {.first = {0, -1}, .dimension = 1}};
    b[0].row[0].value[0][0] = 1, b[0].offset[0] = -1;
    b[1].row[0].value[0][0] = -1, b[1].offset[0] = -1;
    cone_program p = {.size = 6, .blocks = b, .block_count = 2, .x = x};
    cone_result r;
    assert_int_equal(cone_program_solve(&p, &a, &r), ABUT_OK);
    assert_false(r.solved);
    /* with a compliance both give way alike: z_1 - z_2 = x = 0, 0 = x - 1 + k z */
    p.compliance = 1e-3;
    assert_int_equal(cone_program_solve(&p, &a, &r), ABUT_OK);
    assert_true(r.solved);
    close_to(x[0], 0, 1e-9);
    close_to(b[0].z[0], 1e3, 1e-6);
    close_to(b[1].z[0], 1e3, 1e-6);
    arena_free(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_slope), cmocka_unit_test(test_random),
                                       cmocka_unit_test(test_infeasible)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
