/* All places where one circle comes nearest to another, by isolating the roots of a polynomial: none is
 * missed.
 *
 * Seen from circle a (radius R, axis d), a point x of circle b at the angle t has the height z and the
 * distance s = sqrt(B) from the axis, and its distance from circle a is given by
 *
 *     f(t) = |x|^2 - 2 R s (+ R^2),     f' = A' - R B'/s,     A = |x|^2,  B = A - z^2.
 *
 * A and z are trigonometric polynomials of degree 1, so zeros of f' are among those of
 *
 *     g = A'^2 B - R^2 B'^2,     of degree 4  (the others belong to the far side of circle a).
 *
 * A quarter turn about the direction c is x(k) = p + r ((1 - k^2) c + 2 k c')/(1 + k^2) for |k| <= tan(1/16
 * turn), and there (1 + k^2)^4 g is a polynomial of degree 8.  In Bernstein's form it has at most as many
 * zeros in an interval as its coefficients change sign (Descartes); intervals with more than one change are
 * halved.  Between the ends of the intervals f' then changes its sign at most once: from minus to plus is a
 * minimum. */
#include "contact/element_placed.h"

enum { DEGREE = 8, SPLITS = 32 };
static const double quarter = 0.41421356237309503; /* tan(1/16 turn) */

typedef struct polynomial {
    double c[DEGREE + 1];
} polynomial;

static polynomial times(const polynomial *a, int da, const polynomial *b, int db) {
    polynomial p = {{0}};
    for (int i = 0; i <= da; i++)
        for (int j = 0; j <= db; j++) p.c[i + j] += a->c[i] * b->c[j];
    return p;
}

/* u cos + v sin + w, times 1 + k^2. */
static polynomial of_turn(double u, double v, double w) { return (polynomial){{w + u, 2 * v, w - u}}; }

/* The polynomial of the quarter turn about direction c of circle b; c2 = d_b x c. */
static polynomial critical(const placed *a, const placed *b, vec3 c, vec3 c2) {
    vec3 from = vec3_sub(b->p, a->p);
    double r = b->e->r, x = vec3_dot(from, c), y = vec3_dot(from, c2), h = vec3_dot(from, a->d);
    double zc = r * vec3_dot(c, a->d), zs = r * vec3_dot(c2, a->d);
    polynomial one = {{1, 0, 1}}, z = of_turn(zc, zs, h), z_rate = of_turn(zs, -zc, 0);
    polynomial A = of_turn(2 * r * x, 2 * r * y, vec3_dot(from, from) + r * r);
    polynomial A_rate = of_turn(2 * r * y, -2 * r * x, 0);
    polynomial B = times(&A, 2, &one, 2), z2 = times(&z, 2, &z, 2);
    polynomial B_rate = times(&A_rate, 2, &one, 2), zz = times(&z, 2, &z_rate, 2);
    for (int i = 0; i <= 4; i++) B.c[i] -= z2.c[i], B_rate.c[i] -= 2 * zz.c[i];
    polynomial A2 = times(&A_rate, 2, &A_rate, 2), g = times(&A2, 4, &B, 4),
               B2 = times(&B_rate, 4, &B_rate, 4);
    double R = a->e->r;
    for (int i = 0; i <= DEGREE; i++) g.c[i] -= R * R * B2.c[i];
    return g;
}

/* From powers of k to Bernstein's coefficients on |k| <= quarter: k = -q + 2 q s, and s^j is the sum over i
 * >= j of C(i, j)/C(8, j) times the i-th polynomial of Bernstein. */
static polynomial bernstein(const polynomial *p) {
    static const double choose[DEGREE + 1] = {1, 8, 28, 56, 70, 56, 28, 8, 1};
    polynomial s = {{0}}, out = {{0}};
    for (int i = DEGREE; i >= 0; i--) { /* Horner: s = s (2 q s - q) + p_i */
        for (int j = DEGREE; j >= 0; j--)
            s.c[j] = -quarter * s.c[j] + (j > 0 ? 2 * quarter * s.c[j - 1] : 0) + (j == 0 ? p->c[i] : 0);
    }
    for (int i = 0; i <= DEGREE; i++) {
        double binomial = 1; /* C(i, j) */
        for (int j = 0; j <= i; j++) {
            out.c[i] += binomial / choose[j] * s.c[j];
            binomial = binomial * (i - j) / (j + 1);
        }
    }
    return out;
}

static int changes(const polynomial *p, double zero) {
    int count = 0, last = 0;
    for (int i = 0; i <= DEGREE; i++) {
        int sign = p->c[i] > zero ? 1 : p->c[i] < -zero ? -1 : 0;
        if (sign != 0 && last != 0 && sign != last) count++;
        if (sign != 0) last = sign;
    }
    return count;
}

/* De Casteljau: the coefficients on both halves. */
static void halve(const polynomial *p, polynomial *left, polynomial *right) {
    polynomial w = *p;
    for (int k = 0; k <= DEGREE; k++) {
        left->c[k] = w.c[0], right->c[DEGREE - k] = w.c[DEGREE - k];
        for (int i = 0; i < DEGREE - k; i++) w.c[i] = (w.c[i] + w.c[i + 1]) / 2;
    }
}

/* Cuts the quarter into intervals with one zero at most; writes their upper ends, and returns how many.
 * Halving ends where nothing but rounding is left of the polynomial, or at a width that no minimum of its own
 * has. */
static int isolate(const polynomial *p, double ends[SPLITS + 1]) {
    struct {
        polynomial p;
        double lo, hi;
    } stack[SPLITS + 1];
    double size = 0;
    for (int i = 0; i <= DEGREE; i++) size = fmax(size, fabs(p->c[i]));
    int top = 1, count = 0;
    stack[0].p = *p, stack[0].lo = -quarter, stack[0].hi = quarter;
    while (top > 0) {
        top--;
        double lo = stack[top].lo, hi = stack[top].hi;
        bool whole = changes(&stack[top].p, 1e-15 * size) <= 1 || hi - lo < 1e-6 || count + top + 1 >= SPLITS;
        if (whole) {
            ends[count++] = hi;
            continue;
        }
        polynomial left, right;
        halve(&stack[top].p, &left, &right);
        stack[top].p = right, stack[top].lo = lo + (hi - lo) / 2, stack[top].hi = hi;
        stack[top + 1].p = left, stack[top + 1].lo = lo, stack[top + 1].hi = lo + (hi - lo) / 2;
        top += 2;
    }
    return count;
}

/* ---- the minima */

bool circle_nearest(const placed *c, vec3 q, circle_place *at) {
    vec3 e = vec3_sub(q, c->p), w = vec3_axpy(e, -vec3_dot(e, c->d), c->d);
    double length = vec3_length(w);
    if (!(length > 1e-12 * c->e->r)) return false;
    vec3 radial = vec3_scale(w, 1 / length);
    *at = (circle_place){vec3_axpy(c->p, c->e->r, radial), vec3_cross(c->d, radial), radial};
    return true;
}

typedef struct quarter_turn {
    const placed *a, *b;
    vec3 c, c2;
} quarter_turn;

/* f'/2 by arc length, and the place; f at the place. */
static double slope_at(const quarter_turn *q, double k, circle_place *at, double *value) {
    double w = 1 / (1 + k * k);
    vec3 radial = vec3_axpy(vec3_scale(q->c, (1 - k * k) * w), 2 * k * w, q->c2);
    *at = (circle_place){vec3_axpy(q->b->p, q->b->e->r, radial), vec3_cross(q->b->d, radial), radial};
    circle_place near;
    vec3 e = vec3_sub(at->x, q->a->p);
    if (circle_nearest(q->a, at->x, &near)) e = vec3_sub(at->x, near.x);
    *value = vec3_dot(e, e);
    return vec3_dot(e, at->along);
}

/* The zero of the slope between lo (negative) and hi (not negative): secants kept in the bracket, with a
 * bisection every third time. */
static void refine(const quarter_turn *q, double lo, double g_lo, double hi, double g_hi, circle_place *at,
                   double *value) {
    for (int i = 0; i < 80 && hi - lo > 1e-17; i++) {
        double k = i % 3 == 2 ? lo + (hi - lo) / 2 : lo + (hi - lo) * (g_lo / (g_lo - g_hi));
        if (!(k > lo && k < hi)) k = lo + (hi - lo) / 2;
        if (!(k > lo && k < hi)) break;
        double g = slope_at(q, k, at, value);
        if (g == 0) return;
        if (g > 0)
            hi = k, g_hi = g, g_lo *= 0.75;
        else
            lo = k, g_lo = g, g_hi *= 0.75;
    }
    slope_at(q, lo + (hi - lo) / 2, at, value);
}

/* Keeps the two lowest, the lower first. */
static int keep(circle_place out[2], double values[2], int count, const circle_place *at, double value) {
    int i = count == 0 || value < values[0] ? 0 : 1;
    if (i == 1 && count == 2 && value >= values[1]) return 2;
    if (i == 0 && count > 0) out[1] = out[0], values[1] = values[0];
    out[i] = *at, values[i] = value;
    return count < 2 ? count + 1 : 2;
}

int circles_minima(const placed *a, const placed *b, circle_place out[2]) {
    vec3 x = quat_rotate(b->m->rotation, vec3_orthogonal(b->e->d)), y = vec3_cross(b->d, x);
    const vec3 around[5] = {x, y, vec3_neg(x), vec3_neg(y), x};
    double values[2], value;
    int count = 0;
    for (int i = 0; i < 4; i++) {
        quarter_turn q = {a, b, around[i], around[i + 1]};
        polynomial g = critical(a, b, q.c, q.c2), p = bernstein(&g);
        double ends[SPLITS + 1], lo = -quarter;
        circle_place at;
        double g_lo = slope_at(&q, lo, &at, &value);
        int n = isolate(&p, ends);
        for (int k = 0; k < n; k++) {
            double g_hi = slope_at(&q, ends[k], &at, &value);
            if (g_lo < 0 && g_hi >= 0) {
                refine(&q, lo, g_lo, ends[k], fmax(g_hi, 1e-300), &at, &value);
                count = keep(out, values, count, &at, value);
            }
            lo = ends[k], g_lo = g_hi;
        }
    }
    return count;
}
