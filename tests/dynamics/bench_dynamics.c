/* Dynamics without a peer: no other engine gives these numbers by themselves.  Microseconds and growth of
 *
 *     assembly    A = J M^-1 J^T and b of all contact and hinge rows
 *     forces      resting forces of the whole group from nothing (exact, with residual), and again with the
 *                 remembered active set, as in the next step of the integrator
 *     impact      the group falls at 1 m/s: one simultaneous impact, e = 1/2
 *
 * for stacks of boxes on four corners each, a bob hung by a ball hinge on every fourth box.  It sees the
 * library's own headers, as the tests do: the public ones have no groups.  Frictionless. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "dynamics/forces.h"
#include "dynamics/hinge.h"
#include "dynamics/impact.h"

#include "abut/complementarity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_BODIES = 200, MOST_CONTACTS = 520, MOST_ROWS = 120 };

typedef struct scene {
    motion motions[MOST_BODIES];
    body_inertia inertias[MOST_BODIES];
    spatial wrenches[MOST_BODIES], x[MOST_BODIES];
    group_contact contacts[MOST_CONTACTS];
    row rows[MOST_ROWS];
    uint8_t row_states[MOST_ROWS];
    contact_load loads[MOST_CONTACTS];
    contact_impulse impulses[MOST_CONTACTS];
    double multipliers[MOST_ROWS];
    group g;
    arena memory;
    group_scratch scratch;
} scene;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void require(abut_status status, const char *what) {
    if (status == ABUT_OK) return;
    fprintf(stderr, "bench_dynamics: %s: %s\n", what, abut_status_name(status));
    exit(1);
}

static int add_body(scene *s, double mass, vec3 center) {
    int i = s->g.body_count++;
    require(body_inertia_make(mass, mat3_diagonal(mass / 6, mass / 6, mass / 6), &s->inertias[i], NULL),
            "body");
    s->motions[i] = (motion){.center = center, .rotation = {1, 0, 0, 0}};
    s->wrenches[i] = (spatial){{0, 0, -9.81 * mass}, {0, 0, 0}};
    return i;
}

/* The lower corners of box a on box b; a little to the side, so that loads differ. */
static void add_corners(scene *s, int a, int b) {
    for (int k = 0; k < 4; k++) {
        vec3 c = s->motions[a].center,
             at = {c.x + (k & 1 ? 0.4 : -0.4), c.y + (k & 2 ? 0.4 : -0.4), c.z - 0.5};
        s->contacts[s->g.contact_count++] =
            (group_contact){.a = a, .b = b, .point = {.at = at, .normal = {0, 0, 1}}, .restitution = 0.5};
    }
}

static void hang(scene *s, int brick) {
    abut_hinge_def def = abut_default_hinge();
    hinge h;
    def.kind = ABUT_HINGE_BALL, def.at = s->motions[brick].center, def.b = brick;
    def.a = add_body(s, 0.5, vec3_add(s->motions[brick].center, (vec3){0.1, 0.2, -0.3}));
    require(hinge_compile(&def, &s->motions[def.a], &s->motions[brick], &h, NULL), "hinge");
    s->g.row_count += hinge_rows(&h, &s->motions[def.a], &s->motions[brick], 0, s->rows + s->g.row_count);
}

static void build(scene *s, int contacts) {
    s->g = (group){.motions = s->motions,
                   .inertias = s->inertias,
                   .wrenches = s->wrenches,
                   .rows = s->rows,
                   .row_states = s->row_states,
                   .contacts = s->contacts};
    for (int i = 0, below = -1; s->g.contact_count < contacts; i++) {
        int brick = add_body(s, 1 + i % 3, (vec3){0.01 * (i % 5), 0.02 * (i % 3), 0.5 + i});
        add_corners(s, brick, below);
        if (i % 4 == 3) hang(s, brick);
        below = brick;
    }
}

static void forget(scene *s) {
    for (int i = 0; i < s->g.contact_count; i++) s->contacts[i].pressed = false;
    memset(s->row_states, 0, sizeof s->row_states);
}

typedef void job(scene *s);
static double residual;

static void assemble(scene *s) {
    row *rows = arena_alloc(&s->memory, (size_t)(s->g.row_count + s->g.contact_count), sizeof *rows);
    spatial *base = arena_alloc(&s->memory, (size_t)s->g.body_count, sizeof *base);
    double *b = arena_alloc(&s->memory, (size_t)(s->g.row_count + s->g.contact_count), sizeof *b);
    row_matrix matrix;
    if (!rows || !base || !b) abort();
    int count = s->g.row_count;
    memcpy(rows, s->rows, (size_t)count * sizeof *rows);
    for (int i = 0; i < s->g.contact_count; i++) rows[count++] = group_normal_row(&s->g, &s->contacts[i]);
    group_free_accelerations(&s->g, base);
    for (int i = 0; i < count; i++) b[i] = row_dot(&rows[i], base) + rows[i].drift;
    require(row_assemble(rows, count, s->motions, s->inertias, s->g.body_count, &s->memory, &matrix, NULL),
            "assembly");
}

static void solve_again(scene *s) {
    forces_config config = forces_default_config();
    forces_result result;
    require(forces_solve(&s->g, &config, &s->scratch, s->x, s->loads, s->multipliers, &result, NULL),
            "forces");
    residual = fmax(residual, result.residual);
}

static void solve_fresh(scene *s) {
    forget(s);
    solve_again(s);
}

static void hit(scene *s) {
    impact_config config = impact_default_config();
    impact_result result;
    for (int i = 0; i < s->g.body_count; i++) s->motions[i].velocity = (spatial){{0, 0, -1}, {0, 0, 0}};
    require(impact_solve(&s->g, &config, &s->scratch, s->x, s->impulses, s->multipliers, &result, NULL),
            "impact");
    for (int i = 0; i < s->g.body_count; i++) s->motions[i].velocity = (spatial){{0, 0, 0}, {0, 0, 0}};
}

/* Best of many, in microseconds. */
static double best_time(scene *s, job *run) {
    double best = 1e300, begin = now();
    for (int i = 0; i < 200 && (i < 3 || now() - begin < 0.3); i++) {
        arena_mark mark = arena_save(&s->memory);
        double t = now();
        run(s);
        best = fmin(best, now() - t);
        arena_restore(&s->memory, mark);
    }
    return 1e6 * best;
}

int main(void) {
    static const int sizes[] = {10, 50, 100, 200, 500};
    static job *const jobs[] = {assemble, solve_fresh, solve_again, hit};
    double last[COUNT_OF(jobs)] = {0}, last_size = 0;
    printf("microseconds, and growth as a power of the contacts\n%8s %6s  %16s %16s %16s %16s   %s\n",
           "contacts", "hinges", "assembly", "forces", "again", "impact", "residual");
    for (int i = 0; i < COUNT_OF(sizes); i++) {
        scene *s = calloc(1, sizeof *s);
        if (!s) return 1;
        arena_init(&s->memory, NULL);
        s->scratch = (group_scratch){&s->memory, abut_lcp_solver_create(NULL)};
        build(s, sizes[i]);
        printf("%8d %6d ", s->g.contact_count, s->g.row_count / 3);
        residual = 0;
        for (int k = 0; k < COUNT_OF(jobs); k++) {
            double t = best_time(s, jobs[k]);
            if (last_size > 0)
                printf(" %10.1f ^%4.2f", t, log(t / last[k]) / log(s->g.contact_count / last_size));
            else
                printf(" %10.1f      ", t);
            last[k] = t;
        }
        printf("   %8.1e\n", residual);
        last_size = s->g.contact_count;
        abut_lcp_solver_destroy(s->scratch.lcp);
        arena_free(&s->memory);
        free(s);
    }
    return 0;
}
