/* Mass properties by the divergence theorem: the signed tetrahedra from the frame's origin to the triangles
 * of each polygon's fan.  With D = a . (b x c) and s = a + b + c of a triangle,
 *
 *     volume      = sum D / 6
 *     first       = sum D s / 24
 *     second_ij   = sum D (s_i s_j + a_i a_j + b_i b_j + c_i c_j) / 120
 *
 * D is where a thin plate loses its digits (large products that cancel), so it is evaluated in double-double;
 * the sums are compensated (Neumaier).  Coordinates are scaled by a power of two to size 1, exactly, and are
 * not shifted: a shift would round every vertex.
 */
#include "solid/mass.h"

#include "math/dd.h"

#include <math.h>

/* a d - b c, with an error of the order u^2. */
static inline dd dd_minor(double a, double b, double c, double d) {
    dd p = two_product(a, d), q = two_product(b, c), s = two_sum(p.hi, -q.hi);
    return (dd){s.hi, s.lo + (p.lo - q.lo)};
}

/* a . (b x c), with an error of the order u^2 times the sum of the sizes of its six products. */
static inline dd dd_triple(vec3 a, vec3 b, vec3 c) {
    dd mx = dd_minor(b.y, b.z, c.y, c.z), my = dd_minor(b.z, b.x, c.z, c.x),
       mz = dd_minor(b.x, b.y, c.x, c.y);
    dd x = two_product(a.x, mx.hi), y = two_product(a.y, my.hi), z = two_product(a.z, mz.hi);
    dd xy = two_sum(x.hi, y.hi), xyz = two_sum(xy.hi, z.hi);
    double rest = (x.lo + a.x * mx.lo) + (y.lo + a.y * my.lo) + (z.lo + a.z * mz.lo) + xy.lo + xyz.lo;
    return two_sum(xyz.hi, rest);
}

/* Compensated sum: hi is the running sum, lo collects what each addition lost. */
static inline void dd_accumulate(dd *sum, double x) {
    dd s = two_sum(sum->hi, x);
    sum->hi = s.hi, sum->lo += s.lo;
}

/* ---- integrals */

enum { SECOND = 4, INTEGRALS = 10 }; /* 1; x y z; xx yy zz xy xz yz */

static void add_triangle(dd sums[INTEGRALS], dd *shell, vec3 a, vec3 b, vec3 c) {
    dd det = dd_triple(a, b, c);
    double d = det.hi;
    vec3 s = vec3_add(vec3_add(a, b), c);
    dd_accumulate(shell, d), shell->lo += det.lo;
    dd_accumulate(&sums[0], d), sums[0].lo += det.lo;
    dd_accumulate(&sums[1], d * s.x), dd_accumulate(&sums[2], d * s.y), dd_accumulate(&sums[3], d * s.z);
    dd_accumulate(&sums[4], d * (s.x * s.x + a.x * a.x + b.x * b.x + c.x * c.x));
    dd_accumulate(&sums[5], d * (s.y * s.y + a.y * a.y + b.y * b.y + c.y * c.y));
    dd_accumulate(&sums[6], d * (s.z * s.z + a.z * a.z + b.z * b.z + c.z * c.z));
    dd_accumulate(&sums[7], d * (s.x * s.y + a.x * a.y + b.x * b.y + c.x * c.y));
    dd_accumulate(&sums[8], d * (s.x * s.z + a.x * a.z + b.x * b.z + c.x * c.z));
    dd_accumulate(&sums[9], d * (s.y * s.z + a.y * a.z + b.y * b.z + c.y * c.z));
}

/* Central second moments from sums about the frame's origin: S_ij - V c_i c_j, the difference in
 * double-double. */
static double central_moment(dd second, dd volume, double ci, double cj) {
    dd shift = dd_scale(dd_scale(volume, ci), cj);
    return dd_value(dd_add(second, (dd){-shift.hi, -shift.lo}));
}

static mass_integrals finish(const dd sums[INTEGRALS], double unit) {
    mass_integrals m = {0};
    dd volume = {sums[0].hi / 6, 0}, second[6];
    volume = two_sum(dd_value(sums[0]) / 6, 0);
    if (!(volume.hi != 0)) return m;
    double c[3];
    for (int i = 0; i < 3; i++) c[i] = dd_value(sums[1 + i]) / 24 / volume.hi;
    for (int i = 0; i < 6; i++) second[i] = (dd){dd_value(sums[SECOND + i]) / 120, 0};
    double xx = central_moment(second[0], volume, c[0], c[0]),
           yy = central_moment(second[1], volume, c[1], c[1]);
    double zz = central_moment(second[2], volume, c[2], c[2]);
    double products[3] = {central_moment(second[3], volume, c[0], c[1]),
                          central_moment(second[4], volume, c[0], c[2]),
                          central_moment(second[5], volume, c[1], c[2])};
    double unit3 = unit * unit * unit, unit5 = unit3 * unit * unit;
    m.volume = volume.hi * unit3;
    m.center = vec3_scale(vec3_make(c[0], c[1], c[2]), unit);
    m.inertia[0] = (yy + zz) * unit5, m.inertia[1] = (xx + zz) * unit5, m.inertia[2] = (xx + yy) * unit5;
    for (int i = 0; i < 3; i++) m.inertia[3 + i] = -products[i] * unit5;
    return m;
}

mass_integrals mass_of_mesh(const topology *t, const int32_t *component, int32_t shell_count,
                            double *shell_volume, double *scratch_of_shells) {
    dd sums[INTEGRALS] = {{0, 0}};
    int exponent;
    frexp(t->diagonal, &exponent);
    double unit = ldexp(1, exponent), scale = ldexp(1, -exponent);
    for (int32_t k = 0; k < shell_count; k++) shell_volume[k] = scratch_of_shells[k] = 0;
    for (int32_t f = 0; f < t->face_count; f++) {
        int32_t first = topology_first(t, f), size = topology_size(t, f), k = component[f];
        vec3 a = vec3_scale(topology_at(t, first), scale), b = vec3_scale(topology_at(t, first + 1), scale);
        dd shell = {shell_volume[k], scratch_of_shells[k]};
        for (int32_t i = 2; i < size; i++) {
            vec3 c = vec3_scale(topology_at(t, first + i), scale);
            add_triangle(sums, &shell, a, b, c);
            b = c;
        }
        shell_volume[k] = shell.hi, scratch_of_shells[k] = shell.lo;
    }
    for (int32_t k = 0; k < shell_count; k++)
        shell_volume[k] = (shell_volume[k] + scratch_of_shells[k]) / 6 * (unit * unit * unit);
    return finish(sums, unit);
}
