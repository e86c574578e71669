/* Rows and their matrix (see row.h). */
#include "dynamics/row.h"

double row_dot(const row *r, const spatial *v) {
    double sum = 0;
    if (r->a >= 0) sum += spatial_dot(r->ja, v[r->a]);
    if (r->b >= 0) sum += spatial_dot(r->jb, v[r->b]);
    return sum;
}

void row_add_wrench(const row *r, double f, spatial *wrenches) {
    if (r->a >= 0) wrenches[r->a] = spatial_axpy(wrenches[r->a], f, r->ja);
    if (r->b >= 0) wrenches[r->b] = spatial_axpy(wrenches[r->b], f, r->jb);
}

/* w x (w x r) */
static vec3 centripetal(vec3 w, vec3 r) { return vec3_cross(w, vec3_cross(w, r)); }

static row bilateral(spatial ja, spatial jb, double error, double drift) {
    return (row){.a = -1,
                 .b = -1,
                 .ja = ja,
                 .jb = jb,
                 .drift = drift,
                 .error = error,
                 .lo = -INFINITY,
                 .hi = INFINITY};
}

/* C'' = e . (a_A + alpha_A x ra + w_A x (w_A x ra)) - the same of B */
row row_point_fixed(const motion *a, const motion *b, vec3 ra, vec3 rb, vec3 e) {
    vec3 d = vec3_sub(vec3_add(a->center, ra), vec3_add(b->center, rb));
    vec3 c = vec3_sub(centripetal(a->velocity.angular, ra), centripetal(b->velocity.angular, rb));
    return bilateral(spatial_force_at(e, ra), spatial_force_at(vec3_neg(e), rb), vec3_dot(e, d),
                     vec3_dot(e, c));
}

/* C'  = n . u + (w_B x n) . d, so that B is pushed at pa: its arm is rb + d
 * C'' drift = n . centripetal + 2 (w_B x n) . u + (w_B x (w_B x n)) . d */
row row_point_along(const motion *a, const motion *b, vec3 ra, vec3 rb, vec3 n) {
    vec3 d = vec3_sub(vec3_add(a->center, ra), vec3_add(b->center, rb));
    vec3 wa = a->velocity.angular, wb = b->velocity.angular;
    vec3 u = vec3_sub(spatial_velocity_at(a->velocity, ra), spatial_velocity_at(b->velocity, rb));
    vec3 c = vec3_sub(centripetal(wa, ra), centripetal(wb, rb));
    double drift = vec3_dot(n, c) + 2 * vec3_dot(vec3_cross(wb, n), u) + vec3_dot(centripetal(wb, n), d);
    return bilateral(spatial_force_at(n, ra), spatial_force_at(vec3_neg(n), vec3_add(rb, d)), vec3_dot(n, d),
                     drift);
}

/* With the unit vector e along d: C' = e . u, C'' = e . u' + (u.u - (e.u)^2) / |d| */
row row_distance(const motion *a, const motion *b, vec3 ra, vec3 rb, double length) {
    vec3 d = vec3_sub(vec3_add(a->center, ra), vec3_add(b->center, rb));
    double distance = vec3_length(d);
    vec3 e = distance > 0 ? vec3_scale(d, 1 / distance) : vec3_make(1, 0, 0);
    vec3 u = vec3_sub(spatial_velocity_at(a->velocity, ra), spatial_velocity_at(b->velocity, rb));
    row r = row_point_fixed(a, b, ra, rb, e);
    vec3 across = vec3_axpy(u, -vec3_dot(e, u), e);
    r.error = distance - length;
    if (distance > 0) r.drift += vec3_length2(across) / distance;
    return r;
}

/* C'  = (w_A - w_B) . (x x y)
 * C'' drift = (w_A x (w_A x x)) . y + x . (w_B x (w_B x y)) + 2 (w_A x x) . (w_B x y) */
row row_vectors(const motion *a, const motion *b, vec3 x, vec3 y) {
    vec3 wa = a->velocity.angular, wb = b->velocity.angular, c = vec3_cross(x, y);
    double drift = vec3_dot(centripetal(wa, x), y) + vec3_dot(x, centripetal(wb, y)) +
                   2 * vec3_dot(vec3_cross(wa, x), vec3_cross(wb, y));
    return bilateral((spatial){{0, 0, 0}, c}, (spatial){{0, 0, 0}, vec3_neg(c)}, vec3_dot(x, y), drift);
}

/* ---- A = J M^-1 J^T */

/* For each movable body the rows that touch it, ascending: the lists first[i] .. first[i+1]-1 of `rows`. */
typedef struct incidence {
    int *first, *rows;
} incidence;

static bool movable(const body_inertia *inertias, int body) {
    return body >= 0 && inertias[body].inverse_mass > 0;
}

static bool find_incidence(const row *rows, int count, const body_inertia *inertias, int bodies,
                           arena *scratch, incidence *out) {
    out->first = arena_alloc(scratch, (size_t)bodies + 2, sizeof(int));
    out->rows = arena_alloc(scratch, 2 * (size_t)count + 1, sizeof(int));
    if (!out->first || !out->rows) return false;
    int *next = out->first + 1; /* counts, shifted by one: after the fill `first` is in place */
    for (int i = 0; i < count; i++) {
        if (movable(inertias, rows[i].a)) next[rows[i].a + 1]++;
        if (movable(inertias, rows[i].b) && rows[i].b != rows[i].a) next[rows[i].b + 1]++;
    }
    for (int k = 0; k < bodies; k++) next[k + 1] += next[k];
    for (int i = 0; i < count; i++) {
        if (movable(inertias, rows[i].a)) out->rows[next[rows[i].a]++] = i;
        if (movable(inertias, rows[i].b) && rows[i].b != rows[i].a) out->rows[next[rows[i].b]++] = i;
    }
    return true;
}

/* The wrench of row r on one body, per unit multiplier. */
static spatial on_body(const row *r, int body) {
    if (r->a == body && r->b == body) return spatial_add(r->ja, r->jb);
    return r->a == body ? r->ja : r->jb;
}

/* Columns of row i: the ascending union of the lists of its bodies.  Counts only when column is NULL. */
static int merge_columns(const incidence *in, const body_inertia *inertias, const row *r, int self,
                         int *column) {
    int empty[1] = {0};
    const int *p = empty, *pe = empty, *q = empty, *qe = empty;
    if (movable(inertias, r->a)) p = in->rows + in->first[r->a], pe = in->rows + in->first[r->a + 1];
    if (movable(inertias, r->b) && r->b != r->a)
        q = in->rows + in->first[r->b], qe = in->rows + in->first[r->b + 1];
    int n = 0;
    if (p == pe && q == qe) { /* pushes nothing that moves: only a zero diagonal */
        if (column) column[0] = self;
        return 1;
    }
    while (p < pe || q < qe) {
        int next = q == qe || (p < pe && *p <= *q) ? *p : *q;
        if (p < pe && *p == next) p++;
        if (q < qe && *q == next) q++;
        if (column) column[n] = next;
        n++;
    }
    return n;
}

abut_status row_assemble(const row *rows, int count, const motion *motions, const body_inertia *inertias,
                         int body_count, arena *scratch, row_matrix *out, abut_error *error) {
    incidence in;
    spatial *ma = arena_alloc(scratch, (size_t)count + 1, sizeof *ma);
    spatial *mb = arena_alloc(scratch, (size_t)count + 1, sizeof *mb);
    out->size = count;
    out->start = arena_alloc(scratch, (size_t)count + 1, sizeof(int));
    if (!ma || !mb || !out->start || !find_incidence(rows, count, inertias, body_count, scratch, &in))
        return fail_memory(error);

    for (int i = 0; i < count; i++) /* M^-1 J^T */
    {
        const row *r = &rows[i];
        if (movable(inertias, r->a))
            ma[i] = body_apply(&inertias[r->a], motions[r->a].rotation, on_body(r, r->a));
        if (movable(inertias, r->b))
            mb[i] = body_apply(&inertias[r->b], motions[r->b].rotation, on_body(r, r->b));
        out->start[i + 1] = out->start[i] + merge_columns(&in, inertias, r, i, NULL);
    }
    out->column = arena_alloc(scratch, (size_t)out->start[count] + 1, sizeof(int));
    out->value = arena_alloc(scratch, (size_t)out->start[count] + 1, sizeof(double));
    if (!out->column || !out->value) return fail_memory(error);

    for (int i = 0; i < count;
         i++) { /* J M^-1 J^T, the upper triangle mirrored so that it is symmetric to the bit */
        const row *r = &rows[i];
        merge_columns(&in, inertias, r, i, out->column + out->start[i]);
        for (int k = out->start[i]; k < out->start[i + 1]; k++) {
            int lower = out->column[k] < i ? out->column[k] : i,
                upper = out->column[k] < i ? i : out->column[k];
            const row *rl = &rows[lower], *ru = &rows[upper];
            double sum = 0;
            if (movable(inertias, ru->a) && (rl->a == ru->a || rl->b == ru->a))
                sum += spatial_dot(on_body(rl, ru->a), ma[upper]);
            if (movable(inertias, ru->b) && ru->b != ru->a && (rl->a == ru->b || rl->b == ru->b))
                sum += spatial_dot(on_body(rl, ru->b), mb[upper]);
            out->value[k] = sum;
        }
    }
    return ABUT_OK;
}
