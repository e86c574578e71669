/* Contact problems built from boxes, for tests and benchmarks: stacks, walls, random piles, with masses and
 * loads.
 *
 *     contact_problem p;
 *     contact_problem_wall(&p, 6, 5, 1);        // 5 courses of 6 bricks
 *     contact_problem_assemble(&p);             // p.lcp is ready for abut_lcp_solve
 *     contact_problem_free(&p);
 *
 * A = J M^-1 J^T and b = J M^-1 f without velocity terms: b lies in the range of J M^-1/2, so every one of
 * these problems has a solution (it is a nonnegative least-squares problem). Frictionless; body -1 is the
 * ground.
 */
#ifndef CONTACT_PROBLEM_H
#define CONTACT_PROBLEM_H

#include "abut/complementarity.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct contact_body {
    double at[3], half[3];   /* centre, half edge lengths */
    double mass, inertia[3]; /* about the axes of the world */
    double load[6];          /* force and torque */
} contact_body;
typedef struct contact_point {
    int a, b; /* the normal points from b to a; b = -1: the ground */
    double at[3], normal[3];
} contact_point;
typedef struct contact_problem {
    contact_body *bodies;
    contact_point *contacts;
    int body_count, contact_count, body_room, contact_room;
    uint64_t seed;
    double (*jacobian)[12]; /* row i: of body a, then of body b */
    double (*scaled)[12];   /* the same times M^-1 */
    int *row_start, *column;
    double *value, *b;
    int *mirror, row_room; /* of the matrix so far, and its room */
    size_t entry_room;
    int *first, *list;    /* contacts of a body: list[first[i]] .. list[first[i+1]-1], by rising number */
    double (*inverse)[4]; /* of a body: 1 / mass, 1 / inertia */
    int list_room, body_list_room;
    abut_lcp lcp;
} contact_problem;

/* splitmix64 */
static inline double contact_random(contact_problem *p, double lo, double hi) {
    uint64_t x = (p->seed += 0x9e3779b97f4a7c15u);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u, x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return lo + (hi - lo) * (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

static inline void contact_problem_init(contact_problem *p, uint64_t seed) {
    memset(p, 0, sizeof *p);
    p->seed = seed;
}

static inline void contact_problem_free(contact_problem *p) {
    free(p->bodies), free(p->contacts), free(p->jacobian), free(p->scaled), free(p->row_start),
        free(p->column), free(p->value), free(p->b), free(p->mirror), free(p->first), free(p->list),
        free(p->inverse);
    memset(p, 0, sizeof *p);
}

/* A box under gravity. */
static inline int contact_add_box(contact_problem *p, double x, double y, double z, double hx, double hy,
                                  double hz, double mass) {
    if (p->body_count == p->body_room) {
        p->body_room = 2 * p->body_room + 16;
        p->bodies = (contact_body *)realloc(p->bodies, (size_t)p->body_room * sizeof *p->bodies);
        if (!p->bodies) abort();
    }
    contact_body body = {
        {x, y, z},
        {hx, hy, hz},
        mass,
        {mass * (hy * hy + hz * hz) / 3, mass * (hx * hx + hz * hz) / 3, mass * (hx * hx + hy * hy) / 3},
        {0, 0, -9.81 * mass, 0, 0, 0}};
    p->bodies[p->body_count] = body;
    return p->body_count++;
}

static inline void contact_add_point(contact_problem *p, int a, int b, const double at[3],
                                     const double normal[3]) {
    if (p->contact_count == p->contact_room) {
        p->contact_room = 2 * p->contact_room + 16;
        p->contacts = (contact_point *)realloc(p->contacts, (size_t)p->contact_room * sizeof *p->contacts);
        if (!p->contacts) abort();
    }
    contact_point *c = &p->contacts[p->contact_count++];
    c->a = a, c->b = b;
    for (int i = 0; i < 3; i++) c->at[i] = at[i], c->normal[i] = normal[i];
}

/* The four corners of the rectangle in which box a stands on box b (or on the ground, over its whole lower
 * face). */
static inline void contact_add_face(contact_problem *p, int a, int b) {
    const contact_body *A = &p->bodies[a];
    double lo[2], hi[2], up[3] = {0, 0, 1};
    for (int i = 0; i < 2; i++) {
        lo[i] = A->at[i] - A->half[i], hi[i] = A->at[i] + A->half[i];
        if (b < 0) continue;
        lo[i] = fmax(lo[i], p->bodies[b].at[i] - p->bodies[b].half[i]);
        hi[i] = fmin(hi[i], p->bodies[b].at[i] + p->bodies[b].half[i]);
    }
    if (!(lo[0] < hi[0] && lo[1] < hi[1])) return;
    for (int corner = 0; corner < 4; corner++) {
        double at[3] = {corner & 1 ? hi[0] : lo[0], corner & 2 ? hi[1] : lo[1], A->at[2] - A->half[2]};
        contact_add_point(p, a, b, at, up);
    }
}

/* Boxes on each other, each shifted by `offset` in x (Baraff's figure 1 for large offsets); masses spread by
 * `ratio`. */
static inline void contact_problem_stack(contact_problem *p, int boxes, double offset, double ratio,
                                         uint64_t seed) {
    contact_problem_init(p, seed);
    for (int i = 0; i < boxes; i++) {
        double mass = pow(ratio, contact_random(p, 0, 1));
        int a = contact_add_box(p, offset * i, 0, 0.5 + i, 1, 0.5, 0.5, mass);
        contact_add_face(p, a, i - 1);
    }
}

/* Bricks in running bond: each stands on two. */
static inline void contact_problem_wall(contact_problem *p, int columns, int courses, uint64_t seed) {
    contact_problem_init(p, seed);
    for (int c = 0; c < courses; c++)
        for (int i = 0; i < columns; i++) {
            int a = contact_add_box(p, 2.0 * i + (c & 1), 0, 0.5 + c, 1, 0.5, 0.5, 1);
            if (c == 0) contact_add_face(p, a, -1);
            for (int k = -1; k <= 1 && c > 0; k++)
                if (i + k >= 0 && i + k < columns) contact_add_face(p, a, (c - 1) * columns + i + k);
        }
}

/* A heap: bodies at random heights, each in touch with up to `supports` bodies below it (or the ground) at 1
 * to 4 points, with normals that lean; masses spread by `ratio`; some contacts twice. */
static inline void contact_problem_pile(contact_problem *p, int contacts, double ratio, double doubled,
                                        uint64_t seed) {
    contact_problem_init(p, seed);
    while (p->contact_count < contacts) {
        double mass = pow(ratio, contact_random(p, 0, 1)), level = floor(p->body_count / 8.0), r[5];
        for (int i = 0; i < 5; i++)
            r[i] = contact_random(p, i < 2 ? 0 : 0.3,
                                  i < 2 ? 8 : 1); /* one by one: the same for every compiler */
        int a = contact_add_box(p, r[0], r[1], 0.5 + level, r[2], r[3], r[4], mass);
        int supports = 1 + (int)contact_random(p, 0, 3);
        for (int s = 0; s < supports; s++) {
            int back = 1 + (int)contact_random(p, 0, 12), b = a - back < 0 ? -1 : a - back;
            double slant = contact_random(p, 0, 1) < 0.5 ? 0 : 0.7, lean[2];
            for (int i = 0; i < 2; i++) lean[i] = slant * contact_random(p, -1, 1);
            double normal[3] = {lean[0], lean[1], 1},
                   length = sqrt(1 + lean[0] * lean[0] + lean[1] * lean[1]);
            for (int i = 0; i < 3; i++) normal[i] /= length;
            int points = 1 + (int)contact_random(p, 0, 4);
            for (int k = 0; k < points && p->contact_count < contacts; k++) {
                double at[3];
                for (int i = 0; i < 3; i++)
                    at[i] =
                        p->bodies[a].at[i] + p->bodies[a].half[i] * (i == 2 ? -1 : contact_random(p, -1, 1));
                contact_add_point(p, a, b, at, normal);
                if (contact_random(p, 0, 1) < doubled && p->contact_count < contacts)
                    contact_add_point(p, a, b, at, normal);
            }
        }
    }
}

/* Random forces and torques on top of the weight, of `size` times the weight. */
static inline void contact_problem_load(contact_problem *p, double size) {
    for (int i = 0; i < p->body_count; i++)
        for (int k = 0; k < 6; k++)
            p->bodies[i].load[k] += p->bodies[i].mass * 9.81 * size * contact_random(p, -1, 1);
}

/* Row i of J: (n, r_a x n) for body a, -(n, r_b x n) for body b. */
static inline void contact_jacobian(const contact_problem *p, int i, double row[12]) {
    const contact_point *c = &p->contacts[i];
    memset(row, 0, 12 * sizeof *row);
    for (int side = 0; side < 2; side++) {
        int body = side ? c->b : c->a;
        double sign = side ? -1 : 1, r[3], *out = row + 6 * side;
        const double *n = c->normal;
        if (body < 0) continue;
        for (int k = 0; k < 3; k++) r[k] = c->at[k] - p->bodies[body].at[k], out[k] = sign * n[k];
        out[3] = sign * (r[1] * n[2] - r[2] * n[1]), out[4] = sign * (r[2] * n[0] - r[0] * n[2]),
        out[5] = sign * (r[0] * n[1] - r[1] * n[0]);
    }
}

/* Row i of J M^-1. */
static inline void contact_scale(const contact_problem *p, int i) {
    for (int side = 0; side < 2; side++) {
        int body = side ? p->contacts[i].b : p->contacts[i].a;
        const double none[4] = {0}, *inverse = body < 0 ? none : p->inverse[body];
        for (int k = 0; k < 3; k++) {
            p->scaled[i][6 * side + k] = p->jacobian[i][6 * side + k] * inverse[0];
            p->scaled[i][6 * side + 3 + k] = p->jacobian[i][6 * side + 3 + k] * inverse[1 + k];
        }
    }
}

static inline double contact_dot6(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

/* A_ij: over the bodies that contacts i and j share; a contact has two different ones. */
static inline double contact_entry(const contact_problem *p, int i, int j) {
    const contact_point *c = &p->contacts[i], *d = &p->contacts[j];
    const double *row = p->scaled[i], *other = p->jacobian[j];
    double sum = 0;
    if (c->a == d->a) sum += contact_dot6(row, other);
    if (c->a == d->b) sum += contact_dot6(row, other + 6);
    if (c->b >= 0 && c->b == d->b) sum += contact_dot6(row + 6, other + 6);
    if (c->b >= 0 && c->b == d->a) sum += contact_dot6(row + 6, other);
    return sum;
}

/* p->first and p->list, and the inverse masses. */
static inline void contact_lists(contact_problem *p) {
    if (p->list_room < p->contact_count || p->body_list_room < p->body_count) {
        free(p->first), free(p->list), free(p->inverse);
        p->first = (int *)malloc((size_t)(p->body_count + 2) * sizeof(int));
        p->list = (int *)malloc((size_t)(2 * p->contact_count + 1) * sizeof(int));
        p->inverse = (double(*)[4])malloc((size_t)(p->body_count + 1) * sizeof *p->inverse);
        if (!p->first || !p->list || !p->inverse) abort();
        p->list_room = p->contact_count, p->body_list_room = p->body_count;
    }
    int *first = p->first;
    memset(first, 0, (size_t)(p->body_count + 2) * sizeof *first);
    for (int i = 0; i < p->contact_count; i++) {
        first[p->contacts[i].a + 2]++;
        if (p->contacts[i].b >= 0) first[p->contacts[i].b + 2]++;
    }
    for (int k = 0; k < p->body_count; k++) {
        first[k + 2] += first[k + 1];
        p->inverse[k][0] = 1 / p->bodies[k].mass;
        for (int i = 0; i < 3; i++) p->inverse[k][1 + i] = 1 / p->bodies[k].inertia[i];
    }
    for (int i = 0; i < p->contact_count; i++) {
        p->list[first[p->contacts[i].a + 1]++] = i;
        if (p->contacts[i].b >= 0) p->list[first[p->contacts[i].b + 1]++] = i;
    }
}

/* b_i = J_i M^-1 f */
static inline double contact_load(const contact_problem *p, int i) {
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        int body = side ? p->contacts[i].b : p->contacts[i].a;
        if (body >= 0) sum += contact_dot6(p->scaled[i] + 6 * side, p->bodies[body].load);
    }
    return sum;
}

/* Memory for the rows; what is there for the same number of contacts is used again. */
static inline void contact_problem_reserve(contact_problem *p, size_t entries) {
    size_t n = (size_t)p->contact_count + 1;
    if (p->row_room != p->contact_count) {
        free(p->jacobian), free(p->scaled), free(p->row_start), free(p->b), free(p->mirror);
        p->scaled = (double(*)[12])malloc(n * sizeof *p->scaled);
        p->jacobian = (double(*)[12])malloc(n * sizeof *p->jacobian);
        p->row_start = (int *)malloc(n * sizeof(int)), p->mirror = (int *)malloc(n * sizeof(int));
        p->b = (double *)malloc(n * sizeof(double));
        p->row_room = p->contact_count;
    }
    if (p->entry_room < entries) {
        free(p->column), free(p->value);
        p->column = (int *)malloc(entries * sizeof(int));
        p->value = (double *)malloc(entries * sizeof(double));
        p->entry_room = entries;
    }
    if (!p->jacobian || !p->scaled || !p->row_start || !p->mirror || !p->b || !p->column || !p->value)
        abort();
}

/* Row i of A: the contacts of its two bodies, merged by number. Entries left of the diagonal were computed
 * with the rows above: mirror[j] is the next of row j's, right of its diagonal, to be copied. */
static inline int contact_row(contact_problem *p, int i, int end) {
    const int *first = p->first, *list = p->list;
    int a = p->contacts[i].a, b = p->contacts[i].b, x = first[a], y = b >= 0 ? first[b] : 0,
        last = b >= 0 ? first[b + 1] : 0;
    while (x < first[a + 1] || y < last) {
        int j = x < first[a + 1] && (y >= last || list[x] <= list[y]) ? list[x] : list[y];
        x += x < first[a + 1] && list[x] == j, y += y < last && list[y] == j;
        p->column[end] = j;
        p->value[end++] = j < i ? p->value[p->mirror[j]++] : contact_entry(p, i, j);
        if (j == i) p->mirror[i] = end;
    }
    return end;
}

/* p->lcp from bodies, contacts and loads. */
static inline void contact_problem_assemble(contact_problem *p) {
    int n = p->contact_count;
    size_t entries = 1;
    contact_lists(p);
    for (int i = 0; i < n; i++)
        for (int side = 0; side < 2; side++) {
            int body = side ? p->contacts[i].b : p->contacts[i].a;
            if (body >= 0) entries += (size_t)(p->first[body + 1] - p->first[body]);
        }
    contact_problem_reserve(p, entries);
    for (int i = 0; i < n; i++) contact_jacobian(p, i, p->jacobian[i]), contact_scale(p, i);
    p->row_start[0] = 0;
    for (int i = 0; i < n; i++) {
        p->row_start[i + 1] = contact_row(p, i, p->row_start[i]);
        p->b[i] = contact_load(p, i);
    }
    memset(&p->lcp, 0, sizeof p->lcp);
    p->lcp.size = n, p->lcp.row_start = p->row_start, p->lcp.column = p->column, p->lcp.value = p->value,
    p->lcp.b = p->b;
}

#endif
