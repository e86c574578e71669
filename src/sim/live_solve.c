/* The kernels of the live solver, four contacts at a time (Silcowitz et al., section 4: projected
 * Gauss-Seidel; here with soft contacts and sub-steps).
 *
 * For a point with the arms ra, rb and the normal n (from B to A) the normal velocity is
 *
 *     u = n . (vA - vB) + ja . wA - jb . wB,          ja = ra x n,  jb = rb x n
 *     1 / mass = 1/mA + 1/mB + ja . IA^-1 ja + jb . IB^-1 jb
 *
 * and one visit changes its impulse p >= 0 by
 *
 *     gap > 0:    dp = -mass (u + gap / h)                         may close the gap in this sub-step, no
 * more gap <= 0:   dp = -mass scale (u + rate gap) - soften (p - q) a damped spring, implicit (Catto 2011)
 *     relaxing:   dp = -mass u                                     takes out what the spring pushed
 *
 * The spring is stretched about the load q that the point has carried lately (a slow average of p), not about
 * none: so a stack at rest does not sag, and a change of load still meets a spring.
 *
 * Friction is one block a manifold: a force in the plane through the middle, |f| <= mu sum p, a couple about
 * the normal, |t| <= mu sum p |r| + spinning sum p, and rolling resistance, |c| <= rolling sum p. */
#include "sim/live.h"

typedef struct quad {
    lanes3 va, wa, vb, wb;
} quad;

LANES_INLINE void gather(const live_velocity *all, const int32_t slot[LANES], lanes3 *v, lanes3 *w) {
    lanes r[4] = {all[slot[0]].v, all[slot[1]].v, all[slot[2]].v, all[slot[3]].v};
    lanes_turn(r);
    *v = (lanes3){r[0], r[1], r[2]};
    lanes s[4] = {all[slot[0]].w, all[slot[1]].w, all[slot[2]].w, all[slot[3]].w};
    lanes_turn(s);
    *w = (lanes3){s[0], s[1], s[2]};
}

/* Immovable bodies are shared by the batches of a colour, and never written. */
LANES_INLINE void scatter(live_velocity *all, const int32_t slot[LANES], const uint8_t *movable, lanes3 v,
                          lanes3 w) {
    lanes zero = lanes_all(0), r[4] = {v.x, v.y, v.z, zero}, s[4] = {w.x, w.y, w.z, zero};
    lanes_turn(r);
    lanes_turn(s);
    for (int i = 0; i < LANES; i++)
        if (movable[slot[i]]) all[slot[i]].v = r[i], all[slot[i]].w = s[i];
}

LANES_INLINE quad gather_both(const live_batch *c, const live_velocity *all) {
    quad q;
    gather(all, c->a, &q.va, &q.wa);
    gather(all, c->b, &q.vb, &q.wb);
    return q;
}

LANES_INLINE void scatter_both(const live_batch *c, live_velocity *all, const uint8_t *movable,
                               const quad *q) {
    scatter(all, c->a, movable, q->va, q->wa);
    scatter(all, c->b, movable, q->vb, q->wb);
}

/* Impulse p along the normal at a point. */
LANES_INLINE void push(const live_batch *c, const live_lane_point *k, lanes p, quad *q) {
    q->va = lanes_axpy3(q->va, p * c->inverse_a, c->n);
    q->vb = lanes_axpy3(q->vb, -p * c->inverse_b, c->n);
    q->wa = lanes_axpy3(q->wa, p, lanes_mul_sym(&c->inertia_a, k->ja));
    q->wb = lanes_axpy3(q->wb, -p, lanes_mul_sym(&c->inertia_b, k->jb));
}

/* Impulse f on A at the middle of the manifold, and the couple t on A. */
LANES_INLINE void drag(const live_batch *c, lanes3 f, lanes3 t, quad *q) {
    lanes3 ta = lanes_add3(lanes_cross(c->ra, f), t), tb = lanes_add3(lanes_cross(c->rb, f), t);
    q->va = lanes_axpy3(q->va, c->inverse_a, f);
    q->vb = lanes_axpy3(q->vb, -c->inverse_b, f);
    q->wa = lanes_add3(q->wa, lanes_mul_sym(&c->inertia_a, ta));
    q->wb = lanes_sub3(q->wb, lanes_mul_sym(&c->inertia_b, tb));
}

/* ---- prepare: masses from arms */

LANES_INLINE void prepare_point(live_batch *c, int i) {
    live_lane_point *k = &c->point[i];
    lanes3 ra = k->ja, rb = k->jb; /* the arms stand here until now */
    lanes3 d = lanes_sub3(ra, c->ra);
    k->lever = lanes_sqrt(lanes_dot(d, d));
    k->ja = lanes_cross(ra, c->n), k->jb = lanes_cross(rb, c->n);
    lanes3 wa = lanes_mul_sym(&c->inertia_a, k->ja), wb = lanes_mul_sym(&c->inertia_b, k->jb);
    for (int j = 0; j <= i; j++)
        c->coupling[i][j] =
            c->inverse_a + c->inverse_b + lanes_dot(c->point[j].ja, wa) + lanes_dot(c->point[j].jb, wb);
    lanes m = c->coupling[i][i];
    k->mass = lanes_pick(m > 0, 1 / m, lanes_all(0));
}

LANES_INLINE lanes mobility(const live_batch *c, lanes3 a, lanes3 b, lanes direct) {
    lanes3 ja = lanes_cross(c->ra, a), jb = lanes_cross(c->rb, a);
    lanes3 ka = lanes_cross(c->ra, b), kb = lanes_cross(c->rb, b);
    return direct * (c->inverse_a + c->inverse_b) + lanes_dot(ja, lanes_mul_sym(&c->inertia_a, ka)) +
           lanes_dot(jb, lanes_mul_sym(&c->inertia_b, kb));
}

/* The largest row sum of IA^-1 + IB^-1 bounds its eigenvalues; for balls it is exact. */
LANES_INLINE lanes spin_bound(const live_batch *c) {
    lanes zero = lanes_all(0), most = zero;
    lanes xx = c->inertia_a.xx + c->inertia_b.xx, yy = c->inertia_a.yy + c->inertia_b.yy;
    lanes zz = c->inertia_a.zz + c->inertia_b.zz, xy = c->inertia_a.xy + c->inertia_b.xy;
    lanes xz = c->inertia_a.xz + c->inertia_b.xz, yz = c->inertia_a.yz + c->inertia_b.yz;
    xy = lanes_max(xy, -xy), xz = lanes_max(xz, -xz), yz = lanes_max(yz, -yz);
    most = lanes_max(xx + xy + xz, lanes_max(yy + xy + yz, zz + xz + yz));
    return lanes_pick(most > 0, 1 / most, zero);
}

LANES_INLINE void prepare_batch(live_batch *c) {
    lanes zero = lanes_all(0), one = lanes_all(1);
    for (int i = 0; i < c->points; i++) prepare_point(c, i);
    lanes a = mobility(c, c->t1, c->t1, one), b = mobility(c, c->t1, c->t2, zero);
    lanes d = mobility(c, c->t2, c->t2, one), det = a * d - b * b;
    lanes inverse = lanes_pick(det > 0, 1 / det, zero);
    c->k11 = d * inverse, c->k12 = -b * inverse, c->k22 = a * inverse;
    lanes m = lanes_dot(c->n, lanes_mul_sym(&c->inertia_a, c->n)) +
              lanes_dot(c->n, lanes_mul_sym(&c->inertia_b, c->n));
    c->twist_mass = lanes_pick(m > 0, 1 / m, zero);
    c->rolling_mass = spin_bound(c);
}

/* ---- warm start */

LANES_INLINE void warm_batches(const live_batch *batches, int count, live_velocity *all,
                               const uint8_t *movable) {
    for (int k = 0; k < count; k++) {
        const live_batch *c = &batches[k];
        quad q = gather_both(c, all);
        for (int i = 0; i < c->points; i++) push(c, &c->point[i], c->point[i].impulse, &q);
        lanes3 f = lanes_axpy3(lanes_scale3(c->t1, c->friction1), c->friction2, c->t2);
        lanes3 t = lanes_axpy3(c->rolling, c->twist, c->n);
        drag(c, f, t, &q);
        scatter_both(c, all, movable, &q);
    }
}

/* ---- solve */

/* The normal impulses of a manifold: forth and back over its points, among themselves by their couplings,
 * then their sum on the bodies. */
LANES_INLINE void solve_normals(live_batch *c, int count, const quad *moved, lanes inverse_h, lanes most,
                                bool relax, quad *q) {
    lanes zero = lanes_all(0), one = lanes_all(1), u[MANIFOLD_POINTS], p[MANIFOLD_POINTS],
          scale[MANIFOLD_POINTS], soften[MANIFOLD_POINTS];
    lanes slip = lanes_dot(c->n, lanes_sub3(q->va, q->vb)),
          shift = lanes_dot(c->n, lanes_sub3(moved->va, moved->vb));
    for (int i = 0; i < count; i++) {
        const live_lane_point *k = &c->point[i];
        lanes gap = k->gap + shift + lanes_dot(k->ja, moved->wa) - lanes_dot(k->jb, moved->wb);
        lanes_mask apart = gap > 0;
        lanes bias = lanes_pick(apart, gap * inverse_h, relax ? zero : lanes_max(c->rate * gap, -most));
        u[i] = slip + lanes_dot(k->ja, q->wa) - lanes_dot(k->jb, q->wb) + bias;
        scale[i] = relax ? k->mass : k->mass * lanes_pick(apart, one, c->scale);
        soften[i] = relax ? zero : lanes_pick(apart, zero, c->soften);
        p[i] = k->impulse;
    }
    for (int sweep = 0; sweep < 2; sweep++)
        for (int n = 0; n < count; n++) {
            int i = sweep ? count - 1 - n : n;
            lanes next = lanes_max(p[i] - scale[i] * u[i] - soften[i] * (p[i] - c->point[i].steady), zero);
            lanes change = next - p[i];
            p[i] = next;
            for (int j = 0; j < count; j++) u[j] += (j <= i ? c->coupling[i][j] : c->coupling[j][i]) * change;
        }
    lanes sum = zero;
    lanes3 ta = {zero, zero, zero}, tb = ta;
    for (int i = 0; i < count; i++) {
        live_lane_point *k = &c->point[i];
        lanes change = p[i] - k->impulse;
        k->impulse = p[i];
        sum += change;
        ta = lanes_axpy3(ta, change, k->ja), tb = lanes_axpy3(tb, change, k->jb);
    }
    q->va = lanes_axpy3(q->va, sum * c->inverse_a, c->n);
    q->vb = lanes_axpy3(q->vb, -sum * c->inverse_b, c->n);
    q->wa = lanes_add3(q->wa, lanes_mul_sym(&c->inertia_a, ta));
    q->wb = lanes_sub3(q->wb, lanes_mul_sym(&c->inertia_b, tb));
}

/* The force in the plane: the 2 x 2 problem without the cone, then back to the cone. */
LANES_INLINE lanes3 solve_friction(live_batch *c, lanes limit, const quad *q) {
    lanes3 u = lanes_sub3(lanes_add3(q->va, lanes_cross(q->wa, c->ra)),
                          lanes_add3(q->vb, lanes_cross(q->wb, c->rb)));
    lanes u1 = lanes_dot(c->t1, u), u2 = lanes_dot(c->t2, u);
    lanes f1 = c->friction1 - (c->k11 * u1 + c->k12 * u2), f2 = c->friction2 - (c->k12 * u1 + c->k22 * u2);
    lanes square = f1 * f1 + f2 * f2;
    lanes_mask over = square > limit * limit;
    lanes shrink = lanes_pick(over, limit / lanes_sqrt(lanes_pick(over, square, lanes_all(1))), lanes_all(1));
    f1 *= shrink, f2 *= shrink;
    lanes3 change = lanes_axpy3(lanes_scale3(c->t1, f1 - c->friction1), f2 - c->friction2, c->t2);
    c->friction1 = f1, c->friction2 = f2;
    return change;
}

/* Resistance to rolling: the part of the relative spin in the plane. */
LANES_INLINE lanes3 solve_rolling(live_batch *c, lanes pressure, const quad *q) {
    lanes3 s = lanes_sub3(q->wa, q->wb);
    s = lanes_axpy3(s, -lanes_dot(s, c->n), c->n);
    lanes3 r = lanes_axpy3(c->rolling, -c->rolling_mass, s);
    lanes limit = c->rolling_limit * pressure, square = lanes_dot(r, r);
    lanes_mask over = square > limit * limit;
    lanes shrink = lanes_pick(over, limit / lanes_sqrt(lanes_pick(over, square, lanes_all(1))), lanes_all(1));
    r = lanes_scale3(r, shrink);
    lanes3 change = lanes_sub3(r, c->rolling);
    c->rolling = r;
    return change;
}

/* All that friction does at a manifold. */
LANES_INLINE void solve_tangential(live_batch *c, quad *q) {
    lanes pressure = lanes_all(0), couple = lanes_all(0);
    for (int i = 0; i < c->points; i++) {
        pressure += c->point[i].impulse;
        couple += c->point[i].impulse * c->point[i].lever;
    }
    lanes spin = lanes_dot(c->n, lanes_sub3(q->wa, q->wb)),
          most = c->coefficient * couple + c->spinning * pressure;
    lanes turn = lanes_max(lanes_min(c->twist - c->twist_mass * spin, most), -most);
    lanes3 t = lanes_scale3(c->n, turn - c->twist);
    c->twist = turn;
    if (c->rolls) t = lanes_add3(t, solve_rolling(c, pressure, q));
    lanes3 f = solve_friction(c, c->coefficient * pressure, q);
    drag(c, f, t, q);
}

LANES_INLINE void solve_batches(live_batch *batches, int count, live_velocity *all,
                                const live_velocity *displaced, const uint8_t *movable, double inverse_h,
                                double most, bool relax) {
    lanes rate = lanes_all(inverse_h), limit = lanes_all(most);
    for (int k = 0; k < count; k++) {
        live_batch *c = &batches[k];
        quad q = gather_both(c, all), moved = gather_both(c, displaced);
        solve_tangential(c, &q);
        switch (c->points) { /* each case with its loops unrolled */
        case 1: solve_normals(c, 1, &moved, rate, limit, relax, &q); break;
        case 2: solve_normals(c, 2, &moved, rate, limit, relax, &q); break;
        case 3: solve_normals(c, 3, &moved, rate, limit, relax, &q); break;
        default: solve_normals(c, 4, &moved, rate, limit, relax, &q); break;
        }
        scatter_both(c, all, movable, &q);
    }
}

/* ---- the same code for both kinds of processor */

static void prepare_plain(live_batch *c) { prepare_batch(c); }
static void warm_plain(const live_batch *c, int count, live_velocity *all, const uint8_t *movable) {
    warm_batches(c, count, all, movable);
}
static void solve_plain(live_batch *c, int count, live_velocity *all, const live_velocity *moved,
                        const uint8_t *movable, double inverse_h, double most, bool relax) {
    if (relax)
        solve_batches(c, count, all, moved, movable, inverse_h, most, true);
    else
        solve_batches(c, count, all, moved, movable, inverse_h, most, false);
}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))
AVX2 static void prepare_avx2(live_batch *c) { prepare_batch(c); }
AVX2 static void warm_avx2(const live_batch *c, int count, live_velocity *all, const uint8_t *movable) {
    warm_batches(c, count, all, movable);
}
AVX2 static void solve_avx2(live_batch *c, int count, live_velocity *all, const live_velocity *moved,
                            const uint8_t *movable, double inverse_h, double most, bool relax) {
    if (relax)
        solve_batches(c, count, all, moved, movable, inverse_h, most, true);
    else
        solve_batches(c, count, all, moved, movable, inverse_h, most, false);
}
#endif

live_kernels live_choose_kernels(bool scalar) {
#if defined(__x86_64__)
    if (!scalar && __builtin_cpu_supports("avx2")) return (live_kernels){prepare_avx2, warm_avx2, solve_avx2};
#endif
    (void)scalar;
    return (live_kernels){prepare_plain, warm_plain, solve_plain};
}
