/* The inside of an S-patch that fills a hole: close to the limit surface it replaces.
 *
 * fill.c fixes the patch to first order along its boundary.  What lies inside then follows by extrapolation,
 * and the more sides, the worse: the hole's corners are sharper than those of the regular n-gon, and from
 * valence 9 on the patch would overshoot and fold.  So a polynomial of degree 6 times the bubble m^2
 * (s_patch.c), which is zero to second order on the boundary, is fitted by least squares to points of the
 * limit surface.
 *
 * First roughly, to points at like places: along a spoke the limit surface moves as s^(1/kappa), lambda^kappa
 * = 1/2 (lambda the subdominant eigenvalue), so the place at size s of sector i belongs to the size s^kappa
 * there. Only a constant is fitted, with many sides a quadratic: the parameters of the limit surface have
 * kinks along the spokes that must not come into the patch.  Then, four times, to the feet of the patch's own
 * points on the limit surface, which moves them along the normal and leaves the parameters smooth. */
#include "surface/surface.h"

enum { RINGS = 8, STEPS = 6, COUNT = S_PATCH_INNER };

vec3 limit_foot(const double *stam, int64_t each, int n, vec3 x, int i, double b1, double b2) {
    double best = INFINITY;
    vec3 foot = x;
    for (int step = 0; step < 12; step++) {
        partials p;
        bool regular = stam_evaluate(stam + each * i, n, 0, b1, b2, 1, &p);
        vec3 d = vec3_sub(x, p.c);
        if (vec3_length(d) < best) best = vec3_length(d), foot = p.c;
        double uu = vec3_dot(p.u, p.u), uv = vec3_dot(p.u, p.v), vv = vec3_dot(p.v, p.v),
               det = uu * vv - uv * uv, du = vec3_dot(p.u, d), dv = vec3_dot(p.v, d);
        if (!regular || !(det > 0)) break;
        double step1 = (vv * du - uv * dv) / det, step2 = (uu * dv - uv * du) / det;
        if (fabs(step1) + fabs(step2) < 1e-10) break;
        b1 += step1, b2 += step2;
        /* a step over a spoke goes on in the next sector, one over the border stays on it */
        if (b2 < 0)
            i = i > 0 ? i - 1 : n - 1, b2 = fmax(b1, 0), b1 = 0;
        else if (b1 < 0)
            i = i + 1 < n ? i + 1 : 0, b1 = b2, b2 = 0;
        double sum = b1 + b2;
        if (sum > 1) b1 /= sum, b2 /= sum;
    }
    return foot;
}

/* x^(k/8) by square roots: the same bits everywhere */
static double eighths(double x, int k) {
    double root = sqrt(sqrt(sqrt(x))), power = 1;
    for (int i = 0; i < k; i++) power *= root;
    return power;
}

/* kappa in eighths, from lambda = 3/8 + cos(2 pi/n)/4 */
static int kappa_of(int n) {
    double c, s;
    turn(1, n, &c, &s);
    int best = 1;
    for (int k = 1; k <= 16; k++)
        if (fabs(eighths(0.375 + 0.25 * c, k) - 0.5) < fabs(eighths(0.375 + 0.25 * c, best) - 0.5)) best = k;
    return best;
}

/* Normal equations of the least-squares problem; solved by Cholesky's method after a slight lift of the
 * diagonal, as high powers are nearly dependent on a small polygon. */
typedef struct normal_equations {
    double a[COUNT][COUNT];
    vec3 b[COUNT];
} normal_equations;

static bool solve(normal_equations *e, vec3 x[COUNT]) {
    for (int i = 0; i < COUNT; i++) e->a[i][i] = e->a[i][i] > 0 ? e->a[i][i] * (1 + 1e-9) : 1;
    for (int j = 0; j < COUNT; j++) {
        for (int k = 0; k < j; k++) e->a[j][j] -= e->a[j][k] * e->a[j][k];
        if (!(e->a[j][j] > 0)) return false;
        e->a[j][j] = sqrt(e->a[j][j]);
        for (int i = j + 1; i < COUNT; i++) {
            for (int k = 0; k < j; k++) e->a[i][j] -= e->a[i][k] * e->a[j][k];
            e->a[i][j] /= e->a[j][j];
        }
    }
    for (int i = 0; i < COUNT; i++) {
        x[i] = e->b[i];
        for (int k = 0; k < i; k++) x[i] = vec3_axpy(x[i], -e->a[i][k], x[k]);
        x[i] = vec3_scale(x[i], 1 / e->a[i][i]);
    }
    for (int i = COUNT - 1; i >= 0; i--) {
        for (int k = i + 1; k < COUNT; k++) x[i] = vec3_axpy(x[i], -e->a[k][i], x[k]);
        x[i] = vec3_scale(x[i], 1 / e->a[i][i]);
    }
    return true;
}

/* What each coefficient of the inner polynomial adds at (u, v), up to a degree. */
static void inner_row(double bubble, double u, double v, int degree, double row[COUNT]) {
    double pv = bubble;
    memset(row, 0, COUNT * sizeof *row);
    for (int j = 0; j <= degree; j++, pv *= v) {
        double p = pv;
        for (int i = 0; i + j <= degree; i++, p *= u) row[TRIANGLE(i, j)] = p;
    }
}

/* One sample at (u, v): the inner polynomial shall add `missing` there. */
static void add_sample(normal_equations *e, double bubble, double u, double v, int degree, vec3 missing) {
    double row[COUNT];
    inner_row(bubble, u, v, degree, row);
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k <= i; k++) e->a[i][k] += row[i] * row[k];
        e->b[i] = vec3_axpy(e->b[i], row[i], missing);
    }
}

/* Where the patch is compared with the limit surface. */
typedef struct sample {
    int sector;
    double u, v, b1, b2; /* of the patch; weights of the limit's sector at the like place */
    double bubble;
    vec3 base; /* without the inner polynomial */
} sample;

static int take_samples(double *data, int n, sample *samples) {
    double corners[ABUT_SIDES_MOST][2];
    int kappa = kappa_of(n), count = 0;
    s_patch_corners(n, corners);
    data[3 * n + 1] = 0;
    for (int i = 0; i < n; i++)
        for (int r = 0; r < RINGS; r++)
            for (int k = 0; k < STEPS; k++) {
                const double *a = corners[i], *b = corners[(i + 1) % n];
                double size = (r + 0.5) / RINGS, b2 = size * k / STEPS, b1 = size - b2;
                double stretch = eighths(size, kappa) / size;
                sample x = {
                    i,          b1 * a[0] + b2 * b[0], b1 * a[1] + b2 * b[1], b1 * stretch, b2 * stretch, 0,
                    vec3_zero()};
                partials p;
                s_patch_evaluate(data, n, x.u, x.v, 0, &p);
                x.base = p.c, x.bubble = s_patch_bubble(data, n, x.u, x.v);
                samples[count++] = x;
            }
    return count;
}

static bool fit_once(const sample *samples, int count, int n, const double *stam, int64_t each, int degree,
                     bool like_places, vec3 inner[COUNT]) {
    normal_equations e;
    memset(&e, 0, sizeof e);
    for (int k = 0; k < count; k++) {
        const sample *x = &samples[k];
        partials limit;
        vec3 want, now = x->base;
        if (like_places) {
            stam_evaluate(stam + each * x->sector, n, 0, x->b1, x->b2, 0, &limit);
            want = limit.c;
        } else {
            double row[COUNT];
            inner_row(x->bubble, x->u, x->v, S_PATCH_DEGREE, row);
            for (int i = 0; i < COUNT; i++) now = vec3_axpy(now, row[i], inner[i]);
            want = limit_foot(stam, each, n, now, x->sector, x->b1, x->b2);
        }
        add_sample(&e, x->bubble, x->u, x->v, degree, vec3_sub(want, x->base));
    }
    return solve(&e, inner);
}

bool s_patch_fit_limit(double *data, int sides, const double *stam, int64_t each) {
    sample samples[ABUT_SIDES_MOST * RINGS * STEPS];
    vec3 inner[COUNT];
    int count = take_samples(data, sides, samples);
    bool fitted = fit_once(samples, count, sides, stam, each, sides < 9 ? 0 : 2, true, inner);
    for (int k = 0; k < 4 && fitted; k++)
        fitted = fit_once(samples, count, sides, stam, each, S_PATCH_DEGREE, false, inner);
    for (int k = 0; k < COUNT && fitted; k++)
        memcpy(s_patch_inner(data, sides) + 4 * k, &inner[k], sizeof(vec3));
    data[3 * sides + 1] = fitted ? COUNT : 0;
    return fitted;
}
