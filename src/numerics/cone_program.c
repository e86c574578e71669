/* The interior-point method (see cone_program.h).
 *
 *     r_x = x - J^T z - E^T y,   r_e = E x + e,   r_s = s - J x - c - k z,   s o z = mu (1, 0, 0)
 *
 * with the compliance k.  With the scaling W of the cone (W z = W^-1 s = lambda) and D = (W^2 + k)^-1 a step
 * solves
 *
 *     (1 + J^T D J) dx - E^T dy = -r_x + J^T D (W t + r_s),    E dx = -r_e
 *     dz = D (W t + r_s - J dx),     ds = J dx + k dz - r_s,     lambda o t = r_c
 *
 *     predictor  r_c = -lambda o lambda
 *     corrector  r_c = sigma mu (1, 0, 0) - lambda o lambda - (W^-1 ds_a) o (W dz_a) */
#include "numerics/cone_program.h"

#include <math.h>

typedef struct scaling {
    double along[2];       /* unit: the eigenvectors of W are (1, along), (1, -along), (0, across) */
    double eigen[3];       /* with these eigenvalues */
    double lambda[3], det; /* det = lambda . J lambda */
    double ds[3], dz[3];   /* the step */
    double cross[3];       /* (W^-1 ds_a) o (W dz_a) */
    double soft[3];        /* eigenvalues of (W^2 + k)^-1 */
} scaling;

typedef struct solver {
    cone_program *p;
    scaling *scales;
    double *factor; /* lower triangle, size x size */
    int *first;     /* of each row of it: its first column that is not zero */
    double *dx, *rx;
    double *columns; /* factor^-1 E^T, and the Schur complement of the equations */
    double *schur, *dy;
    double unit; /* the largest offset */
} solver;

/* ---- rows */

static double row_times(const cone_row *r, const int first[2], const double *x) {
    double sum = 0;
    for (int k = 0; k < 2; k++)
        for (int i = 0; first[k] >= 0 && i < CONE_SPAN; i++) sum += r->value[k][i] * x[first[k] + i];
    return sum;
}

static void row_add(const cone_row *r, const int first[2], double factor, double *x) {
    for (int k = 0; k < 2; k++)
        for (int i = 0; first[k] >= 0 && i < CONE_SPAN; i++) x[first[k] + i] += factor * r->value[k][i];
}

/* ---- the cone */

static double determinant(const double s[3]) {
    /* (s0 - |s1|)(s0 + |s1|): no cancellation of squares near the boundary */
    double t = sqrt(s[1] * s[1] + s[2] * s[2]);
    return (s[0] - t) * (s[0] + t);
}

/* u o v = (u . v, u0 v1 + v0 u1) */
static void product(int d, const double *u, const double *v, double *out) {
    double first = u[0] * v[0];
    for (int i = 1; i < d; i++) first += u[i] * v[i], out[i] = u[0] * v[i] + v[0] * u[i];
    out[0] = first;
}

/* t with lambda o t = r */
static void divide(int d, const double *lambda, double det, const double *r, double *t) {
    if (d == 1) {
        t[0] = r[0] / lambda[0];
        return;
    }
    double dot = lambda[1] * r[1] + lambda[2] * r[2];
    t[0] = (lambda[0] * r[0] - dot) / det;
    for (int i = 1; i < 3; i++) t[i] = (r[i] - lambda[i] * t[0]) / lambda[0];
}

/* v in the axes of the eigenvectors, and back. */
static void to_axes(const scaling *c, int d, const double *v, double *out) {
    const double h = 0.70710678118654752440;
    if (d == 1) {
        out[0] = v[0];
        return;
    }
    double t = v[1] * c->along[0] + v[2] * c->along[1];
    double across = v[2] * c->along[0] - v[1] * c->along[1];
    out[0] = h * (v[0] + t), out[1] = h * (v[0] - t), out[2] = across;
}

static void from_axes(const scaling *c, int d, const double *v, double *out) {
    const double h = 0.70710678118654752440;
    if (d == 1) {
        out[0] = v[0];
        return;
    }
    double t = h * (v[0] - v[1]), across = v[2];
    out[0] = h * (v[0] + v[1]);
    out[1] = t * c->along[0] - across * c->along[1];
    out[2] = t * c->along[1] + across * c->along[0];
}

/* W v (sign 1) or W^-1 v (sign -1) */
static void scale(const scaling *c, int d, double sign, const double *v, double *out) {
    double u[3];
    to_axes(c, d, v, u);
    for (int i = 0; i < d; i++) u[i] = sign > 0 ? u[i] * c->eigen[i] : u[i] / c->eigen[i];
    from_axes(c, d, u, out);
}

/* The scaling point of s and z,
 *     W = eta [w0, w1^T; w1, 1 + w1 w1^T / (1 + w0)],   w = (s + J z) / 2 gamma,   gamma^2 = (1 + s.z) / 2
 * with s, z over the roots of their determinants, eta^4 = det s / det z; and lambda without cancellation near
 * the boundary of the cone:
 *     lambda = sqrt(det) (gamma, ((gamma + s0) z1 + (gamma + z0) s1) / (s0 + z0 + 2 gamma))
 * False where one of them left its cone by rounding. */
static bool make_scaling(const cone_block *b, double k, scaling *c) {
    if (!(b->s[0] > 0) || !(b->z[0] > 0)) return false;
    if (b->dimension == 1) {
        c->eigen[0] = sqrt(b->s[0] / b->z[0]);
        c->lambda[0] = sqrt(b->s[0] * b->z[0]), c->det = c->lambda[0] * c->lambda[0];
    } else {
        double ds = determinant(b->s), dz = determinant(b->z);
        if (!(ds > 0) || !(dz > 0)) return false;
        double rs = 1 / sqrt(ds), rz = 1 / sqrt(dz), dot = 0, w[3];
        for (int i = 0; i < 3; i++) dot += b->s[i] * rs * b->z[i] * rz;
        double gamma = sqrt((1 + fmax(dot, 1)) / 2);
        for (int i = 1; i < 3; i++) w[i] = (b->s[i] * rs - b->z[i] * rz) / (2 * gamma);
        double tangent = sqrt(w[1] * w[1] + w[2] * w[2]), eta = sqrt(sqrt(ds / dz));
        double p = sqrt(1 + tangent * tangent) + tangent;
        c->along[0] = tangent > 0 ? w[1] / tangent : 1, c->along[1] = tangent > 0 ? w[2] / tangent : 0;
        c->eigen[0] = eta * p, c->eigen[1] = eta / p, c->eigen[2] = eta;
        double s0 = b->s[0] * rs, z0 = b->z[0] * rz, size = sqrt(sqrt(ds) * sqrt(dz));
        c->lambda[0] = size * gamma, c->det = size * size;
        for (int i = 1; i < 3; i++)
            c->lambda[i] =
                size * ((gamma + s0) * b->z[i] * rz + (gamma + z0) * b->s[i] * rs) / (s0 + z0 + 2 * gamma);
    }
    for (int i = 0; i < b->dimension; i++) c->soft[i] = 1 / (c->eigen[i] * c->eigen[i] + k);
    return true;
}

/* v = D (W t + r) */
static void soften(const scaling *c, int d, const double *t, const double *r, double *v) {
    double a[3], b[3];
    to_axes(c, d, t, a);
    to_axes(c, d, r, b);
    for (int i = 0; i < d; i++) a[i] = (c->eigen[i] * a[i] + b[i]) * c->soft[i];
    from_axes(c, d, a, v);
}

/* Rounding can put a point that is next to the boundary of the cone on it: a few units inside again. */
static void stay_inside(int d, double *s) {
    if (d == 3) s[0] = fmax(s[0], sqrt(s[1] * s[1] + s[2] * s[2]) * (1 + 1e-14));
}

/* The largest step along d from s that stays in the cone; det is the determinant of s. */
static double longest(int dimension, const double *s, double det, const double *d) {
    if (dimension == 1) return d[0] < 0 ? -s[0] / d[0] : INFINITY;
    /* (s0 + a d0)^2 = |s1 + a d1|^2 :  A a^2 + 2 B a + C = 0 */
    double a = d[0] * d[0] - d[1] * d[1] - d[2] * d[2];
    double b = s[0] * d[0] - s[1] * d[1] - s[2] * d[2], c = det;
    double root = b * b - a * c, step = INFINITY;
    if (root >= 0) {
        root = sqrt(root);
        double q = -(b + (b >= 0 ? root : -root)),
               r[2] = {a != 0 ? q / a : INFINITY, q != 0 ? c / q : INFINITY};
        for (int i = 0; i < 2; i++)
            if (r[i] > 0 && r[i] < step) step = r[i];
    }
    if (d[0] < 0) step = fmin(step, -s[0] / d[0]);
    return step;
}

/* ---- the matrix 1 + J^T D J */

static void mark_first(int *first, const int span[2]) {
    if (span[0] < 0 || span[1] < 0) return;
    int low = span[0] < span[1] ? span[0] : span[1], high = span[0] < span[1] ? span[1] : span[0];
    for (int i = 0; i < CONE_SPAN; i++)
        if (low < first[high + i]) first[high + i] = low;
}

static void find_envelope(solver *v) {
    for (int i = 0; i < v->p->size; i++) v->first[i] = i - i % CONE_SPAN;
    for (int b = 0; b < v->p->block_count; b++) mark_first(v->first, v->p->blocks[b].first);
}

/* += sum over the scaled rows f of f f^T */
static void add_block(solver *v, const cone_block *b, const scaling *c) {
    double scaled[3][2 * CONE_SPAN];
    for (int k = 0; k < 2 * CONE_SPAN; k++) {
        double column[3] = {0}, out[3] = {0};
        for (int i = 0; i < b->dimension; i++) column[i] = b->row[i].value[k / CONE_SPAN][k % CONE_SPAN];
        to_axes(c, b->dimension, column, out);
        for (int i = 0; i < b->dimension; i++) scaled[i][k] = out[i] * sqrt(c->soft[i]);
    }
    for (int k = 0; k < 2 * CONE_SPAN; k++) {
        if (b->first[k / CONE_SPAN] < 0) continue;
        int row = b->first[k / CONE_SPAN] + k % CONE_SPAN;
        for (int l = 0; l < 2 * CONE_SPAN; l++) {
            if (b->first[l / CONE_SPAN] < 0) continue;
            int column = b->first[l / CONE_SPAN] + l % CONE_SPAN;
            if (column > row) continue;
            double sum = 0;
            for (int i = 0; i < b->dimension; i++) sum += scaled[i][k] * scaled[i][l];
            v->factor[(size_t)row * v->p->size + column] += sum;
        }
    }
}

/* Sum of a_k b_k with four partial sums. */
static double dot4(const double *a, const double *b, int n) {
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    int i = 0;
    for (; i + 4 <= n; i += 4)
        s0 += a[i] * b[i], s1 += a[i + 1] * b[i + 1], s2 += a[i + 2] * b[i + 2], s3 += a[i + 3] * b[i + 3];
    for (; i < n; i++) s0 += a[i] * b[i];
    return (s0 + s1) + (s2 + s3);
}

/* L L^T inside the envelope.  A direction that active cones hold altogether keeps nothing but rounding of the
 * 1 on the diagonal: it gets that much. */
static bool factorize(double *a, const int *first, int n) {
    for (int i = 0; i < n; i++) {
        double *row = a + (size_t)i * n;
        for (int j = first[i]; j <= i; j++) {
            const double *other = a + (size_t)j * n;
            int from = first[i] > first[j] ? first[i] : first[j];
            double rest = row[j] - (j > from ? dot4(row + from, other + from, j - from) : 0);
            if (j < i) {
                row[j] = rest / other[j];
            } else {
                if (!isfinite(rest)) return false;
                row[i] = sqrt(fmax(rest, 1e-14 * row[i]));
            }
        }
    }
    return true;
}

static void substitute(const double *l, const int *first, int n, double *x) {
    for (int i = 0; i < n; i++) {
        const double *row = l + (size_t)i * n;
        x[i] = (x[i] - dot4(row + first[i], x + first[i], i - first[i])) / row[i];
    }
}

static void substitute_back(const double *l, const int *first, int n, double *x) {
    for (int i = n - 1; i >= 0; i--) {
        const double *row = l + (size_t)i * n;
        x[i] /= row[i];
        for (int k = first[i]; k < i; k++) x[k] -= row[k] * x[i];
    }
}

/* The Schur complement of the equations, E (L L^T)^-1 E^T, with what rounding leaves of redundant ones filled
 * up. */
static bool factor_equations(solver *v) {
    int n = v->p->size, m = v->p->equation_count;
    double most = 0;
    for (int i = 0; i < m; i++) {
        double *column = v->columns + (size_t)i * n;
        memset(column, 0, (size_t)n * sizeof *column);
        row_add(&v->p->equations[i].row, v->p->equations[i].first, 1, column);
        substitute(v->factor, v->first, n, column);
        for (int j = 0; j <= i; j++)
            v->schur[(size_t)i * m + j] = dot4(column, v->columns + (size_t)j * n, n);
        most = fmax(most, v->schur[(size_t)i * m + i]);
    }
    for (int i = 0; i < m; i++) v->schur[(size_t)i * m + i] += 1e-13 * most;
    for (int i = 0; i < m; i++) { /* a dense factorization: every row begins in column 0 */
        double *row = v->schur + (size_t)i * m;
        for (int j = 0; j <= i; j++) {
            double rest = row[j] - dot4(row, v->schur + (size_t)j * m, j);
            if (j < i)
                row[j] = rest / v->schur[(size_t)j * m + j];
            else if (!(rest > 0))
                return false;
            else
                row[i] = sqrt(rest);
        }
    }
    return true;
}

static bool make_factor(solver *v) {
    int n = v->p->size;
    for (int i = 0; i < n; i++) {
        double *row = v->factor + (size_t)i * n;
        memset(row + v->first[i], 0, (size_t)(i - v->first[i]) * sizeof *row);
        row[i] = 1;
    }
    for (int b = 0; b < v->p->block_count; b++) {
        if (!make_scaling(&v->p->blocks[b], v->p->compliance, &v->scales[b])) return false;
        add_block(v, &v->p->blocks[b], &v->scales[b]);
    }
    return factorize(v->factor, v->first, n) && factor_equations(v);
}

/* ---- one Newton step */

/* dx, dy from the right-hand side in dx: L L^T dx - E^T dy = g, E dx = -r_e. */
static void solve_step(solver *v) {
    int n = v->p->size, m = v->p->equation_count;
    substitute(v->factor, v->first, n, v->dx);
    for (int i = 0; i < m; i++) {
        const cone_equation *e = &v->p->equations[i];
        double error = row_times(&e->row, e->first, v->p->x) + e->offset;
        v->dy[i] = -error - dot4(v->columns + (size_t)i * n, v->dx, n);
    }
    for (int i = 0; i < m; i++)
        v->dy[i] = (v->dy[i] - dot4(v->schur + (size_t)i * m, v->dy, i)) / v->schur[(size_t)i * m + i];
    for (int i = m - 1; i >= 0; i--) {
        v->dy[i] /= v->schur[(size_t)i * m + i];
        for (int k = 0; k < i; k++) v->dy[k] -= v->schur[(size_t)i * m + k] * v->dy[i];
    }
    for (int i = 0; i < m; i++)
        for (int k = 0; k < n; k++) v->dx[k] += v->dy[i] * v->columns[(size_t)i * n + k];
    substitute_back(v->factor, v->first, n, v->dx);
}

/* r_s of a cone. */
static void cone_error(const cone_block *b, const double *x, double compliance, double *r) {
    for (int i = 0; i < b->dimension; i++)
        r[i] = b->s[i] - row_times(&b->row[i], b->first, x) - b->offset[i] - compliance * b->z[i];
}

/* t of a cone: lambda o t = target (1, 0, 0) - lambda o lambda - cross */
static void complement(const cone_block *b, const scaling *c, double target, bool corrector, double *t) {
    double r[3];
    product(b->dimension, c->lambda, c->lambda, r);
    for (int i = 0; i < b->dimension; i++)
        r[i] = (i == 0 ? target : 0) - r[i] - (corrector ? c->cross[i] : 0);
    divide(b->dimension, c->lambda, c->det, r, t);
}

static void newton(solver *v, double target, bool corrector) {
    cone_program *p = v->p;
    double t[3], r[3], u[3];
    for (int i = 0; i < p->size; i++) v->dx[i] = -v->rx[i];
    for (int k = 0; k < p->block_count; k++) {
        const cone_block *b = &p->blocks[k];
        const scaling *c = &v->scales[k];
        complement(b, c, target, corrector, t);
        cone_error(b, p->x, p->compliance, r);
        soften(c, b->dimension, t, r, u);
        for (int i = 0; i < b->dimension; i++) row_add(&b->row[i], b->first, u[i], v->dx);
    }
    solve_step(v);
    for (int k = 0; k < p->block_count; k++) {
        const cone_block *b = &p->blocks[k];
        scaling *c = &v->scales[k];
        complement(b, c, target, corrector, t);
        cone_error(b, p->x, p->compliance, r);
        for (int i = 0; i < b->dimension; i++)
            u[i] = row_times(&b->row[i], b->first, v->dx) - r[i], r[i] = -u[i];
        soften(c, b->dimension, t, r, c->dz);
        for (int i = 0; i < b->dimension; i++) c->ds[i] = u[i] + p->compliance * c->dz[i];
    }
}

/* Seen from lambda, which lies deep inside where s and z do not. */
static double step_length(const solver *v) {
    double step = INFINITY, u[3];
    for (int k = 0; k < v->p->block_count; k++) {
        int d = v->p->blocks[k].dimension;
        const scaling *c = &v->scales[k];
        scale(c, d, -1, c->ds, u);
        step = fmin(step, longest(d, c->lambda, c->det, u));
        scale(c, d, 1, c->dz, u);
        step = fmin(step, longest(d, c->lambda, c->det, u));
    }
    return step;
}

static double mean_gap(const cone_program *p) {
    double sum = 0;
    for (int k = 0; k < p->block_count; k++)
        for (int i = 0; i < p->blocks[k].dimension; i++) sum += p->blocks[k].s[i] * p->blocks[k].z[i];
    return p->block_count ? sum / p->block_count : 0;
}

/* r_x, and the largest error of all equations. */
static double measure(solver *v) {
    cone_program *p = v->p;
    double most = 0, r[3];
    memcpy(v->rx, p->x, (size_t)p->size * sizeof *v->rx);
    for (int k = 0; k < p->block_count; k++) {
        const cone_block *b = &p->blocks[k];
        cone_error(b, p->x, p->compliance, r);
        for (int i = 0; i < b->dimension; i++) {
            row_add(&b->row[i], b->first, -b->z[i], v->rx);
            most = fmax(most, fabs(r[i]));
        }
    }
    for (int i = 0; i < p->equation_count; i++) {
        const cone_equation *e = &p->equations[i];
        row_add(&e->row, e->first, -e->y, v->rx);
        most = fmax(most, fabs(row_times(&e->row, e->first, p->x) + e->offset));
    }
    for (int i = 0; i < p->size; i++) most = fmax(most, fabs(v->rx[i]));
    return most;
}

/* Predictor, corrector, step.  False where rounding ends the progress. */
static bool advance(solver *v, double gap, double residual) {
    cone_program *p = v->p;
    if (!make_factor(v)) return false;
    newton(v, 0, false);
    double step = fmin(step_length(v), 1), rest = 1 - step;
    /* s.z must not run ahead of the equations, or the steps end at the boundary */
    double target = gap * (residual > 10 * gap && residual > 1e-12 ? fmax(rest, 0.3) : rest * rest * rest);
    for (int k = 0; k < p->block_count; k++) {
        scaling *c = &v->scales[k];
        int d = p->blocks[k].dimension;
        double a[3], b[3];
        scale(c, d, -1, c->ds, a);
        scale(c, d, 1, c->dz, b);
        product(d, a, b, c->cross);
    }
    newton(v, target, true);
    step = fmin(0.95 * step_length(v), 1);
    if (step < 0.1) { /* too close to the boundary: back towards the middle */
        newton(v, 0.9 * gap, false);
        step = fmin(0.95 * step_length(v), 1);
    }
    if (!(step > 1e-6) || !isfinite(step)) return false;
    for (int i = 0; i < p->size; i++) p->x[i] += step * v->dx[i];
    for (int i = 0; i < p->equation_count; i++) p->equations[i].y += step * v->dy[i];
    for (int k = 0; k < p->block_count; k++) {
        cone_block *b = &p->blocks[k];
        for (int i = 0; i < b->dimension; i++)
            b->s[i] += step * v->scales[k].ds[i], b->z[i] += step * v->scales[k].dz[i];
        stay_inside(b->dimension, b->s);
        stay_inside(b->dimension, b->z);
    }
    return true;
}

/* ---- scales: offsets of size 1, normal rows of length 1 */

static double row_length(const cone_row *r, const int first[2]) {
    double sum = 0;
    for (int k = 0; k < 2; k++)
        for (int i = 0; first[k] >= 0 && i < CONE_SPAN; i++) sum += r->value[k][i] * r->value[k][i];
    return sum > 0 ? sqrt(sum) : 1;
}

static void stretch(cone_row *r, double factor) {
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < CONE_SPAN; i++) r->value[k][i] *= factor;
}

/* Rows and offsets times 1 / (length of the block's first row); offsets over their largest. */
static void normalize(solver *v, double *lengths) {
    cone_program *p = v->p;
    double most = 0;
    for (int k = 0; k < p->block_count; k++) {
        cone_block *b = &p->blocks[k];
        lengths[k] = row_length(&b->row[0], b->first);
        for (int i = 0; i < b->dimension; i++) {
            stretch(&b->row[i], 1 / lengths[k]), b->offset[i] /= lengths[k];
            most = fmax(most, fabs(b->offset[i]));
        }
    }
    for (int i = 0; i < p->equation_count; i++) {
        cone_equation *e = &p->equations[i];
        double length = lengths[p->block_count + i] = row_length(&e->row, e->first);
        stretch(&e->row, 1 / length), e->offset /= length;
        most = fmax(most, fabs(e->offset));
    }
    v->unit = most > 0 ? most : 1;
    for (int k = 0; k < p->block_count; k++)
        for (int i = 0; i < p->blocks[k].dimension; i++) {
            p->blocks[k].offset[i] /= v->unit;
            p->blocks[k].s[i] = p->blocks[k].z[i] = i == 0;
        }
    for (int i = 0; i < p->equation_count; i++) p->equations[i].offset /= v->unit, p->equations[i].y = 0;
    memset(p->x, 0, (size_t)p->size * sizeof *p->x);
}

static void restore(solver *v, const double *lengths) {
    cone_program *p = v->p;
    for (int k = 0; k < p->block_count; k++) {
        cone_block *b = &p->blocks[k];
        for (int i = 0; i < b->dimension; i++) {
            stretch(&b->row[i], lengths[k]), b->offset[i] *= lengths[k] * v->unit;
            b->s[i] *= lengths[k] * v->unit, b->z[i] *= v->unit / lengths[k];
        }
    }
    for (int i = 0; i < p->equation_count; i++) {
        cone_equation *e = &p->equations[i];
        double length = lengths[p->block_count + i];
        stretch(&e->row, length), e->offset *= length * v->unit, e->y *= v->unit / length;
    }
    for (int i = 0; i < p->size; i++) p->x[i] *= v->unit;
}

static bool allocate(solver *v, arena *scratch, double **lengths) {
    size_t n = (size_t)v->p->size, m = (size_t)v->p->equation_count, b = (size_t)v->p->block_count;
    v->scales = arena_alloc(scratch, b + 1, sizeof *v->scales);
    v->factor = arena_alloc(scratch, n * n + 1, sizeof(double));
    v->first = arena_alloc(scratch, n + 1, sizeof(int));
    v->dx = arena_alloc(scratch, n + 1, sizeof(double));
    v->rx = arena_alloc(scratch, n + 1, sizeof(double));
    v->columns = arena_alloc(scratch, n * m + 1, sizeof(double));
    v->schur = arena_alloc(scratch, m * m + 1, sizeof(double));
    v->dy = arena_alloc(scratch, m + 1, sizeof(double));
    *lengths = arena_alloc(scratch, b + m + 1, sizeof(double));
    return v->scales && v->factor && v->first && v->dx && v->rx && v->columns && v->schur && v->dy &&
           *lengths;
}

abut_status cone_program_solve(cone_program *p, arena *scratch, cone_result *result) {
    arena_mark mark = arena_save(scratch);
    solver v = {.p = p};
    double *lengths, tolerance = p->tolerance > 0 ? p->tolerance : 1e-18;
    int budget = p->budget > 0 ? p->budget : 60;
    *result = (cone_result){0};
    if (!allocate(&v, scratch, &lengths)) {
        arena_restore(scratch, mark);
        return ABUT_NO_MEMORY;
    }
    normalize(&v, lengths);
    find_envelope(&v);
    double last = INFINITY;
    for (;;) {
        result->residual = measure(&v), result->gap = mean_gap(p);
        bool done = result->gap <= tolerance && result->residual <= 1e-12;
        /* close to the end a step that no longer helps says that rounding is reached */
        bool stuck = result->residual <= 1e-9 && result->gap <= 1e-13 && result->gap > 0.3 * last;
        last = result->gap;
        if (done || stuck || result->steps >= budget || !advance(&v, result->gap, result->residual)) break;
        result->steps++;
    }
    result->solved = result->residual <= 1e-7 && result->gap <= 1e-12;
    restore(&v, lengths);
    arena_restore(scratch, mark);
    return ABUT_OK;
}
