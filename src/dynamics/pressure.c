/* Integrals over regions of contact, as integrals along their borders (see pressure.h).
 *
 * With x = o + r (y - o), y on the border, 0 <= r <= 1, the element of area is r dr (y - o) x dy.  From the
 * centre o of the rotation the direction of slip is the same along every ray, so that the integral over r is
 * that of a polynomial, and one along the border is left:
 *
 *      integral f d dA         = sum over pieces   (f(o)/6 + f(y)/3) d(y) (y - o) x dy
 *      integral f (x-o) x d dA = sum over pieces   (f(o)/12 + f(y)/4) s |y - o| (y - o) x dy     s = sign(w)
 *
 * A part of a piece is integrated by Gauss' rule of 12 points where o is at least its length away from its
 * middle (the nearest singularity in the complex plane is then on an ellipse with 3.7 = 2 + sqrt(3) as sum of
 * its half-axes: 3.7^-24 = 2e-14 is left), and halved otherwise.  Where o is far from the whole region the
 * fan from there would cancel; then it is spread from the centroid, with Gauss' rule along the rays. */
#include "dynamics/pressure.h"

#include "numerics/dense.h"

#include <math.h>

enum { GAUSS = 12, HALVINGS = 32, FIT_STEPS = 40 };
static const double node[GAUSS / 2] = {0.98156063424671925069, 0.90411725637047485668,
                                       0.76990267419430468704, 0.58731795428661744730,
                                       0.36783149899818019375, 0.12523340851146891547};
static const double share[GAUSS / 2] = {0.04717533638651182719, 0.10693932599531843096,
                                        0.16007832854334622633, 0.20316742672306592175,
                                        0.23349253653835480876, 0.24914704581340278500};

/* Node and weight of point i of Gauss' rule on [0, 1]. */
static double gauss(int i, double *weight) {
    int k = i < GAUSS / 2 ? i : GAUSS - 1 - i;
    *weight = share[k] / 2;
    return 0.5 + (i < GAUSS / 2 ? -0.5 : 0.5) * node[k];
}

/* ---- pieces */

border_piece border_edge(const double from[2], const double to[2]) {
    return (border_piece){
        {from[0], from[1]}, {(from[0] + to[0]) / 2, (from[1] + to[1]) / 2}, {to[0], to[1]}, 1};
}

/* An arc of an eighth of a turn has the crossing of its end tangents, times the cosine of a sixteenth. */
void border_circle(const double center[2], double radius, border_piece out[8]) {
    const double h = 0.70710678118654752440, cosine = 0.92387953251128675613;
    const double unit[9][2] = {{1, 0}, {h, h}, {0, 1}, {-h, h}, {-1, 0}, {-h, -h}, {0, -1}, {h, -h}, {1, 0}};
    for (int i = 0; i < 8; i++) {
        border_piece *p = &out[i];
        p->weight = cosine;
        for (int k = 0; k < 2; k++) {
            double middle = (unit[i][k] + unit[i + 1][k]) / (2 * cosine); /* = cosine * the crossing */
            p->from[k] = center[k] + radius * unit[i][k], p->to[k] = center[k] + radius * unit[i + 1][k];
            p->middle[k] = cosine * center[k] + radius * middle;
        }
    }
}

/* y(t), and its derivative by t. */
static void at(const border_piece *p, double t, double y[2], double rate[2]) {
    double s = 1 - t, w = s * s + 2 * s * t * p->weight + t * t, w1 = 2 * (s - t) * (p->weight - 1);
    for (int k = 0; k < 2; k++) {
        double x = s * s * p->from[k] + 2 * s * t * p->middle[k] + t * t * p->to[k];
        double x1 = 2 * (s * (p->middle[k] - p->from[k]) + t * (p->to[k] - p->middle[k]));
        y[k] = x / w, rate[k] = (x1 - y[k] * w1) / w;
    }
}

static double cross(const double a[2], const double b[2]) { return a[0] * b[1] - a[1] * b[0]; }
static double length(const double a[2]) { return sqrt(a[0] * a[0] + a[1] * a[1]); }

void border_moments(const border_piece *pieces, int count, double m[3][3]) {
    memset(m, 0, 9 * sizeof(double));
    for (int i = 0; i < count; i++)
        for (int j = 0; j < GAUSS; j++) {
            double weight, y[2], rate[2], t = gauss(j, &weight);
            at(&pieces[i], t, y, rate);
            double area = weight * cross(y, rate);
            m[0][0] += area / 2, m[0][1] += area * y[0] / 3, m[0][2] += area * y[1] / 3;
            m[1][1] += area * y[0] * y[0] / 4, m[1][2] += area * y[0] * y[1] / 4;
            m[2][2] += area * y[1] * y[1] / 4;
        }
    m[1][0] = m[0][1], m[2][0] = m[0][2], m[2][1] = m[1][2];
}

/* ---- clipping */

/* The part of a piece between s and t: the polar form of its homogeneous coordinates, end weights made 1. */
static border_piece part(const border_piece *p, double s, double t) {
    const double pairs[3][2] = {{s, s}, {s, t}, {t, t}};
    double x[3][3];
    for (int i = 0; i < 3; i++) {
        double a = pairs[i][0], b = pairs[i][1];
        double w0 = (1 - a) * (1 - b), w1 = (1 - a) * b + a * (1 - b), w2 = a * b;
        for (int k = 0; k < 2; k++) x[i][k] = w0 * p->from[k] + w1 * p->middle[k] + w2 * p->to[k];
        x[i][2] = w0 + w1 * p->weight + w2;
    }
    double between = sqrt(x[0][2] * x[2][2]);
    border_piece out = {.weight = x[1][2] / between};
    for (int k = 0; k < 2; k++)
        out.from[k] = x[0][k] / x[0][2], out.middle[k] = x[1][k] / between, out.to[k] = x[2][k] / x[2][2];
    return out;
}

/* Where a0 (1-t)^2 + 2 a1 t (1-t) + a2 t^2 vanishes inside (0, 1), ascending. */
static int crossings(double a0, double a1, double a2, double t[2]) {
    double a = a0 - 2 * a1 + a2, b = a1 - a0, size = fabs(a0) + fabs(a1) + fabs(a2), roots[2];
    int found = 0, count = 0;
    double root = b * b - a * a0;
    if (fabs(a) <= 1e-14 * size) {
        if (b != 0) roots[found++] = -a0 / (2 * b);
    } else if (root >= 0) {
        double q = -(b + (b < 0 ? -sqrt(root) : sqrt(root)));
        roots[found++] = q / a;
        if (q != 0) roots[found++] = a0 / q;
    }
    if (found == 2 && roots[0] > roots[1]) {
        double swap = roots[0];
        roots[0] = roots[1], roots[1] = swap;
    }
    for (int i = 0; i < found; i++)
        if (roots[i] > 0 && roots[i] < 1 && (count == 0 || roots[i] > t[count - 1])) t[count++] = roots[i];
    return count;
}

static double along(const double line[3], const double x[2], double weight) {
    return weight * line[0] + line[1] * x[0] + line[2] * x[1];
}

static bool same(const double a[2], const double b[2]) { return a[0] == b[0] && a[1] == b[1]; }

/* An edge from the end of the last part to `to`, where there is a way to go. */
static void join(border_piece *out, int *kept, int first, const double to[2]) {
    if (*kept == first || same(out[*kept - 1].to, to)) return;
    border_piece edge = border_edge(out[*kept - 1].to, to);
    out[(*kept)++] = edge;
}

/* Parts are kept in order; where a loop leaves the half-plane and comes back, an edge along the line joins
 * the ends.  Joins that lie on each other run both ways and cancel. */
int border_clip(const border_piece *pieces, int count, const double line[3], border_piece *out) {
    int kept = 0, first = 0; /* part of the loop at work */
    for (int i = 0; i < count; i++) {
        const border_piece *p = &pieces[i];
        double ends[4] = {0}, t[2];
        int cuts =
            crossings(along(line, p->from, 1), along(line, p->middle, p->weight), along(line, p->to, 1), t);
        for (int k = 0; k < cuts; k++) ends[k + 1] = t[k];
        ends[cuts + 1] = 1;
        for (int k = 0; k <= cuts; k++) {
            double middle[2], rate[2];
            at(p, (ends[k] + ends[k + 1]) / 2, middle, rate);
            if (along(line, middle, 1) < 0) continue;
            border_piece piece = cuts ? part(p, ends[k], ends[k + 1]) : *p;
            join(out, &kept, first, piece.from);
            out[kept++] = piece;
        }
        bool ends_loop = i + 1 == count || !same(p->to, pieces[i + 1].from);
        if (ends_loop && kept > first) join(out, &kept, first, out[first].from);
        if (ends_loop) first = kept;
    }
    return kept;
}

/* ---- slip */

/* What a point of the border adds: forces and torque about o (third) for f(o), f(y) with these shares. */
typedef struct fan {
    const double *o;
    double sign;
    double (*g)[3];
} fan;

static void add_fan_point(const fan *f, const double y[2], const double rate[2], double weight) {
    double arm[2] = {y[0] - f->o[0], y[1] - f->o[1]}, r = length(arm);
    if (!(r > 0)) return;
    double area = weight * cross(arm, rate), d[2] = {-f->sign * arm[1] / r, f->sign * arm[0] / r};
    const double here[3] = {1, y[0], y[1]}, there[3] = {1, f->o[0], f->o[1]};
    for (int j = 0; j < 3; j++) {
        double force = area * (there[j] / 6 + here[j] / 3);
        f->g[0][j] += force * d[0], f->g[1][j] += force * d[1];
        f->g[2][j] += force * cross(f->o, d) + area * f->sign * r * (there[j] / 12 + here[j] / 4);
    }
}

/* The part [s, t] of a piece, halved towards o. */
static void add_fan(const fan *f, const border_piece *p, double s, double t, int depth) {
    double y[2], rate[2], ends[2][2], half = (s + t) / 2;
    at(p, half, y, rate);
    at(p, s, ends[0], ends[1]);
    double arm[2] = {y[0] - f->o[0], y[1] - f->o[1]}, reach[2] = {y[0] - ends[0][0], y[1] - ends[0][1]};
    double size = length(reach);
    if (length(arm) < 2 * size && depth > 0) {
        add_fan(f, p, s, half, depth - 1);
        add_fan(f, p, half, t, depth - 1);
        return;
    }
    for (int j = 0; j < GAUSS; j++) {
        double weight, at_t = s + (t - s) * gauss(j, &weight);
        at(p, at_t, y, rate);
        add_fan_point(f, y, rate, weight * (t - s));
    }
}

/* Rays from the centroid, for a centre of rotation far away: the slip hardly turns over the region. */
static void add_rays(const border_piece *p, const double twist[3], double g[3][3]) {
    for (int j = 0; j < GAUSS; j++) {
        double weight, share_r, y[2], rate[2], t = gauss(j, &weight);
        at(p, t, y, rate);
        double area = weight * cross(y, rate);
        for (int i = 0; i < GAUSS; i++) {
            double r = gauss(i, &share_r), x[2] = {r * y[0], r * y[1]}, part_r = area * share_r * r;
            double d[2] = {twist[0] - twist[2] * x[1], twist[1] + twist[2] * x[0]}, speed = length(d);
            const double f[3] = {part_r, part_r * x[0], part_r * x[1]};
            d[0] /= speed, d[1] /= speed;
            for (int k = 0; k < 3; k++)
                g[0][k] += f[k] * d[0], g[1][k] += f[k] * d[1], g[2][k] += f[k] * cross(x, d);
        }
    }
}

void border_slip(const border_piece *pieces, int count, const double twist[3], double g[3][3]) {
    double radius = 0;
    memset(g, 0, 9 * sizeof(double));
    for (int i = 0; i < count; i++) radius = fmax(radius, length(pieces[i].from));
    bool far = length(twist) >= 4 * radius * fabs(twist[2]);
    if (far && !(length(twist) > 0)) return;
    if (far) {
        for (int i = 0; i < count; i++) add_rays(&pieces[i], twist, g);
        return;
    }
    /* u(o) = v + w e_z x o = 0 */
    double o[2] = {-twist[1] / twist[2], twist[0] / twist[2]};
    fan f = {o, twist[2] < 0 ? -1 : 1, g};
    for (int i = 0; i < count; i++) add_fan(&f, &pieces[i], 0, 1, HALVINGS);
}

/* ---- the pressure of a load */

bool pressure_solve3(const double a[3][3], const double b[3], double y[3]) {
    double m[9], x[3];
    memcpy(m, a, sizeof m), memcpy(x, b, sizeof x);
    if (!dense_eliminate(3, 3, m, x, 0)) return false;
    memcpy(y, x, sizeof x);
    return true;
}

/* Newton's method: the affine pressure of the load on the part that was pressed says which part is.  It makes
 * the gradient of a convex function vanish: the integral of p^2 / 2, less load . k. */
int pressure_fit(const border_piece *pieces, int count, const double load[3], border_piece *pressed,
                 double k[3]) {
    double whole[3][3], m[3][3], line[3] = {0, 0, 0}, next[3];
    border_moments(pieces, count, whole);
    memset(k, 0, 3 * sizeof(double));
    int now = border_clip(pieces, count, line, pressed);
    memcpy(m, whole, sizeof m);
    for (int step = 0; step < FIT_STEPS && pressure_solve3((const double(*)[3])m, load, next); step++) {
        double change = 0, size = 0;
        for (int i = 0; i < 3; i++)
            change = fmax(change, fabs(next[i] - k[i])), size = fmax(size, fabs(next[i]));
        memcpy(k, next, sizeof next);
        if (change <= 1e-14 * size) break;
        now = border_clip(pieces, count, k, pressed);
        border_moments(pressed, now, m);
        if (m[0][0] < 1e-3 * whole[0][0]) return border_clip(pieces, count, line, pressed);
        memcpy(line, k, sizeof line);
    }
    return now;
}
