/* B-spline and NURBS surfaces, split into bicubic Bezier patches at their knots.
 *
 * Inserting knots until every knot has full multiplicity gives the Bezier points of a span [a, b]; they are
 * the blossom of its polynomial at (a,..,a,b,..,b), which de Boor's algorithm computes with another
 * parameter in each step (Ramshaw).  Lower degrees are raised to 3. */
#include "surface/surface.h"

enum { CUBIC = 3 };
typedef struct point4 {
    double x[4];
} point4;

static point4 mix(point4 a, point4 b, double t) {
    for (int i = 0; i < 4; i++) a.x[i] = (1 - t) * a.x[i] + t * b.x[i];
    return a;
}

/* The blossom at x[0..degree-1] of the polynomial of span `k` (knots[k] < knots[k+1]); control points are
 * points[stride * i]. */
static point4 boor(const double *knots, int degree, int k, const point4 *points, int stride,
                   const double *x) {
    point4 d[CUBIC + 1];
    for (int i = 0; i <= degree; i++) d[i] = points[(int64_t)stride * (k - degree + i)];
    for (int r = 1; r <= degree; r++)
        for (int i = degree; i >= r; i--) {
            int j = k - degree + i;
            d[i] = mix(d[i - 1], d[i], (x[r - 1] - knots[j]) / (knots[j + degree - r + 1] - knots[j]));
        }
    return d[degree];
}

/* The four cubic Bezier points of span k. */
static void span_points(const double *knots, int degree, int k, const point4 *points, int stride,
                        point4 out[4]) {
    for (int i = 0; i <= degree; i++) {
        double x[CUBIC];
        for (int j = 0; j < degree; j++) x[j] = knots[j < degree - i ? k : k + 1];
        out[i] = boor(knots, degree, k, points, stride, x);
    }
    /* raising degree n to n + 1: q_i = i/(n+1) p_(i-1) + (1 - i/(n+1)) p_i */
    for (int n = degree; n < CUBIC; n++) {
        out[n + 1] = out[n];
        for (int i = n; i > 0; i--) out[i] = mix(out[i], out[i - 1], (double)i / (n + 1));
    }
}

static abut_status check_direction(char name, int degree, int count, const double *knots, abut_error *error) {
    if (degree < 1 || degree > CUBIC)
        return fail(error, ABUT_UNSUPPORTED,
                    "degree %d in %c; degrees 1 to 3 are supported, reduce the degree", degree, name);
    if (count <= degree || count > 1 << 12)
        return fail(error, ABUT_INVALID, "%d control points in %c; degree %d needs %d to %d", count, name,
                    degree, degree + 1, 1 << 12);
    for (int i = 0; i < count + degree + 1; i++) {
        if (!isfinite(knots[i]) || (i > 0 && knots[i] < knots[i - 1]))
            return fail(error, ABUT_INVALID, "knot %d in %c is %g; knots must be finite and not decrease", i,
                        name, knots[i]);
        if (i > degree && i < count && knots[i] == knots[i - degree - 1])
            return fail(error, ABUT_INVALID,
                        "knot %g in %c has multiplicity above the degree; the surface would fall apart there",
                        knots[i], name);
    }
    if (!(knots[degree] < knots[count]))
        return fail(error, ABUT_INVALID, "the knots in %c span nothing; give a non-empty range", name);
    return ABUT_OK;
}

static int spans_of(int degree, int count, const double *knots, int *spans) {
    int n = 0;
    for (int k = degree; k < count; k++)
        if (knots[k] < knots[k + 1]) {
            if (spans) spans[n] = k;
            n++;
        }
    return n;
}

static void bezier_net(const abut_nurbs *s, const point4 *net, int ku, int kv, vec3 *points,
                       double *weights) {
    point4 rows[4][CUBIC + 1], out[4];
    for (int j = 0; j <= s->degree_v; j++) {
        point4 row[4];
        span_points(s->knots_u, s->degree_u, ku, net + (int64_t)s->count_u * (kv - s->degree_v + j), 1, row);
        for (int i = 0; i < 4; i++) rows[i][j] = row[i];
    }
    for (int i = 0; i < 4; i++) {
        /* the column's points stand at 0..degree_v, as if the span's first point were number kv - degree */
        span_points(s->knots_v + (kv - s->degree_v), s->degree_v, s->degree_v, rows[i], 1, out);
        for (int j = 0; j < 4; j++) {
            double w = out[j].x[3];
            points[4 * j + i] = vec3_make(out[j].x[0] / w, out[j].x[1] / w, out[j].x[2] / w);
            weights[4 * j + i] = w;
        }
    }
}

static abut_status check_net(const abut_nurbs *s, abut_error *error) {
    for (int i = 0; i < s->count_u * s->count_v; i++) {
        int row = i / s->count_u, column = i % s->count_u;
        if (!vec3_is_finite(s->points[i]))
            return fail(error, ABUT_INVALID, "control point %d of row %d is not finite; give numbers", column,
                        row);
        if (s->weights && (!(s->weights[i] > 0) || !isfinite(s->weights[i])))
            return fail(error, ABUT_INVALID,
                        "weight %d of row %d is %g; weights must be positive, or the surface has poles",
                        column, row, s->weights[i]);
    }
    return ABUT_OK;
}

abut_status abut_surface_nurbs(const abut_context *context, const abut_nurbs *s, abut_surface **surface,
                               abut_error *error) {
    abut_status status = check_direction('u', s->degree_u, s->count_u, s->knots_u, error);
    if (status == ABUT_OK) status = check_direction('v', s->degree_v, s->count_v, s->knots_v, error);
    if (status == ABUT_OK) status = check_net(s, error);
    if (status != ABUT_OK) return status;
    size_t count = (size_t)s->count_u * (size_t)s->count_v;
    int nu = spans_of(s->degree_u, s->count_u, s->knots_u, NULL),
        nv = spans_of(s->degree_v, s->count_v, s->knots_v, NULL);
    size_t patches = (size_t)nu * (size_t)nv;
    point4 *net = mem_alloc(context, count, sizeof *net);
    int *spans = mem_alloc(context, (size_t)(nu + nv), sizeof *spans);
    vec3 *points = mem_alloc(context, 16 * patches, sizeof *points);
    double *weights = mem_alloc(context, 16 * patches, sizeof *weights);
    if (!net || !spans || !points || !weights) {
        status = fail_memory(error);
    } else {
        for (size_t i = 0; i < count; i++) {
            double w = s->weights ? s->weights[i] : 1;
            net[i] = (point4){{s->points[i].x * w, s->points[i].y * w, s->points[i].z * w, w}};
        }
        spans_of(s->degree_u, s->count_u, s->knots_u, spans);
        spans_of(s->degree_v, s->count_v, s->knots_v, spans + nu);
        for (size_t p = 0; p < patches; p++)
            bezier_net(s, net, spans[p % (size_t)nu], spans[nu + (int)(p / (size_t)nu)], points + 16 * p,
                       weights + 16 * p);
        status = abut_surface_rational(context, points, s->weights ? weights : NULL, (int64_t)patches,
                                       surface, error);
    }
    mem_free(context, net, count, sizeof *net);
    mem_free(context, spans, (size_t)(nu + nv), sizeof *spans);
    mem_free(context, points, 16 * patches, sizeof *points);
    mem_free(context, weights, 16 * patches, sizeof *weights);
    return status;
}
