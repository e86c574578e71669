/* The kernels of the live solver, four contacts at a time (Silcowitz et al., section 4: projected
 * Gauss-Seidel; here with soft contacts and sub-steps).
 *
 * For a point with the arms ra + d, rb + d (those of the middle of the manifold, and d from there) and the
 * normal n (from B to A) the normal velocity is
 *
 *     u = n . (vA + wA x ra - vB - wB x rb) + e . (wA - wB),          e = d x n
 *     1 / mass = 1/mA + 1/mB + ja . IA^-1 ja + jb . IB^-1 jb,         ja = ra x n + e,  jb = rb x n + e
 *
 * and one visit changes its impulse p >= 0 by
 *
 *     gap > 0:    dp = -mass (u + gap / h)                         may just close the gap in this sub-step
 *     gap <= 0:   dp = -mass scale (u + rate gap) - soften (p - q) a damped spring, implicit (Catto 2011)
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

/* What both halves of a visit ask of a batch, opened once. */
typedef struct view {
    lanes3 n, ra, rb;
    lanes inverse_a, inverse_b;
    lanes_sym inertia_a, inertia_b;
} view;

LANES_INLINE view open_batch(const live_batch *c) {
    return (view){lanes_open3(c->n),
                  lanes_open3(c->ra),
                  lanes_open3(c->rb),
                  lanes_open(c->inverse_a),
                  lanes_open(c->inverse_b),
                  lanes_open_sym(&c->inertia_a),
                  lanes_open_sym(&c->inertia_b)};
}

/* Impulse f on A at the middle of the manifold, and the couple t on A. */
LANES_INLINE void drag(const view *c, lanes3 f, lanes3 t, quad *q) {
    lanes3 ta = lanes_add3(lanes_cross(c->ra, f), t), tb = lanes_add3(lanes_cross(c->rb, f), t);
    q->va = lanes_axpy3(q->va, c->inverse_a, f);
    q->vb = lanes_axpy3(q->vb, -c->inverse_b, f);
    q->wa = lanes_add3(q->wa, lanes_mul_sym(&c->inertia_a, ta));
    q->wb = lanes_sub3(q->wb, lanes_mul_sym(&c->inertia_b, tb));
}

/* The place of the coupling of the points i and j. */
LANES_INLINE int coupled(int i, int j) { return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i; }

/* ---- prepare: masses from arms */

LANES_INLINE void prepare_point(live_batch *c, const view *v, int i) {
    live_lane_point *k = &c->point[i];
    lanes3 d = lanes_open3(k->e), e = lanes_cross(d, v->n); /* d stands there until now */
    lanes3 ja = lanes_add3(lanes_cross(v->ra, v->n), e), jb = lanes_add3(lanes_cross(v->rb, v->n), e);
    lanes3 wa = lanes_mul_sym(&v->inertia_a, ja), wb = lanes_mul_sym(&v->inertia_b, jb);
    k->lever = lanes_pack(lanes_sqrt(lanes_dot(d, d))), k->e = lanes_pack3(e);
    lanes own = lanes_all(0);
    for (int j = 0; j <= i; j++) {
        lanes3 f = lanes_open3(c->point[j].e);
        lanes3 ka = lanes_add3(lanes_cross(v->ra, v->n), f), kb = lanes_add3(lanes_cross(v->rb, v->n), f);
        own = v->inverse_a + v->inverse_b + lanes_dot(ka, wa) + lanes_dot(kb, wb);
        c->coupling[coupled(i, j)] = lanes_pack(own);
    }
    k->mass = lanes_pack(lanes_pick(own > 0, 1 / own, lanes_all(0)));
}

LANES_INLINE lanes mobility(const view *c, lanes3 a, lanes3 b, lanes direct) {
    lanes3 ja = lanes_cross(c->ra, a), jb = lanes_cross(c->rb, a);
    lanes3 ka = lanes_cross(c->ra, b), kb = lanes_cross(c->rb, b);
    return direct * (c->inverse_a + c->inverse_b) + lanes_dot(ja, lanes_mul_sym(&c->inertia_a, ka)) +
           lanes_dot(jb, lanes_mul_sym(&c->inertia_b, kb));
}

/* The largest row sum of IA^-1 + IB^-1 bounds its eigenvalues; for balls it is exact. */
LANES_INLINE lanes spin_bound(const view *c) {
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
    view v = open_batch(c);
    lanes3 t1 = lanes_open3(c->t1), t2 = lanes_cross(v.n, t1);
    for (int i = 0; i < c->points; i++) prepare_point(c, &v, i);
    lanes a = mobility(&v, t1, t1, one), b = mobility(&v, t1, t2, zero);
    lanes d = mobility(&v, t2, t2, one), det = a * d - b * b;
    lanes inverse = lanes_pick(det > 0, 1 / det, zero);
    c->k11 = lanes_pack(d * inverse), c->k12 = lanes_pack(-b * inverse), c->k22 = lanes_pack(a * inverse);
    lanes m =
        lanes_dot(v.n, lanes_mul_sym(&v.inertia_a, v.n)) + lanes_dot(v.n, lanes_mul_sym(&v.inertia_b, v.n));
    c->twist_mass = lanes_pack(lanes_pick(m > 0, 1 / m, zero));
    c->rolling_mass = lanes_pack(spin_bound(&v));
}

/* ---- normal impulses */

/* Impulses along the normal, of the sum p, with the moment m about the middle of the manifold. */
LANES_INLINE void push(const view *c, lanes p, lanes3 m, quad *q) {
    lanes3 ta = lanes_axpy3(m, p, lanes_cross(c->ra, c->n)), tb = lanes_axpy3(m, p, lanes_cross(c->rb, c->n));
    q->va = lanes_axpy3(q->va, p * c->inverse_a, c->n);
    q->vb = lanes_axpy3(q->vb, -p * c->inverse_b, c->n);
    q->wa = lanes_add3(q->wa, lanes_mul_sym(&c->inertia_a, ta));
    q->wb = lanes_sub3(q->wb, lanes_mul_sym(&c->inertia_b, tb));
}

/* How fast the middle of the manifold opens. */
LANES_INLINE lanes opening(const view *c, const quad *q) {
    return lanes_dot(c->n, lanes_sub3(lanes_add3(q->va, lanes_cross(q->wa, c->ra)),
                                      lanes_add3(q->vb, lanes_cross(q->wb, c->rb))));
}

/* The normal impulses of a manifold: forth and back over its points, among themselves by their couplings,
 * then their sum on the bodies. */
LANES_INLINE void solve_normals(live_batch *c, const view *v, int count, const quad *moved,
                                const live_visit *visit, bool relax, quad *q) {
    lanes zero = lanes_all(0), one = lanes_all(1), u[MANIFOLD_POINTS], p[MANIFOLD_POINTS],
          scale[MANIFOLD_POINTS], soften[MANIFOLD_POINTS];
    lanes rate = lanes_all(visit->soft.rate), part = lanes_all(visit->soft.scale),
          give = lanes_all(visit->soft.soften), inverse_h = lanes_all(visit->inverse_h);
    lanes slip = opening(v, q), shift = opening(v, moved);
    lanes3 spin = lanes_sub3(q->wa, q->wb), turn = lanes_sub3(moved->wa, moved->wb);
    for (int i = 0; i < count; i++) {
        const live_lane_point *k = &c->point[i];
        lanes3 e = lanes_open3(k->e);
        lanes gap = lanes_open(k->gap) + shift + lanes_dot(e, turn), mass = lanes_open(k->mass);
        lanes_mask apart = gap > 0;
        lanes bias =
            lanes_pick(apart, gap * inverse_h, relax ? zero : lanes_max(rate * gap, lanes_all(-visit->push)));
        u[i] = slip + lanes_dot(e, spin) + bias;
        scale[i] = relax ? mass : mass * lanes_pick(apart, one, part);
        soften[i] = relax ? zero : lanes_pick(apart, zero, give);
        p[i] = lanes_open(k->impulse);
    }
    for (int sweep = 0; sweep < 2; sweep++)
        for (int n = 0; n < count; n++) {
            int i = sweep ? count - 1 - n : n;
            lanes steady = lanes_open(c->point[i].steady);
            lanes next = lanes_max(p[i] - scale[i] * u[i] - soften[i] * (p[i] - steady), zero);
            lanes change = next - p[i];
            p[i] = next;
            for (int j = 0; j < count; j++) u[j] += lanes_open(c->coupling[coupled(i, j)]) * change;
        }
    lanes sum = zero;
    lanes3 moment = {zero, zero, zero};
    for (int i = 0; i < count; i++) {
        live_lane_point *k = &c->point[i];
        packed next = lanes_pack(p[i]);
        lanes change = lanes_open(next) - lanes_open(k->impulse);
        k->impulse = next;
        sum += change;
        moment = lanes_axpy3(moment, change, lanes_open3(k->e));
    }
    push(v, sum, moment, q);
}

/* ---- friction */

/* Back into the disc of a radius: what x, y, z are to be multiplied with. */
LANES_INLINE lanes shrink(lanes square, lanes limit) {
    lanes_mask over = square > limit * limit;
    lanes one = lanes_all(1);
    return lanes_pick(over, limit / lanes_sqrt(lanes_pick(over, square, one)), one);
}

/* The force in the plane: the 2 x 2 problem without the cone, then back to the cone. */
LANES_INLINE lanes3 solve_friction(live_batch *c, const view *v, lanes limit, const quad *q) {
    lanes3 t1 = lanes_open3(c->t1), t2 = lanes_cross(v->n, t1);
    lanes3 u = lanes_sub3(lanes_add3(q->va, lanes_cross(q->wa, v->ra)),
                          lanes_add3(q->vb, lanes_cross(q->wb, v->rb)));
    lanes u1 = lanes_dot(t1, u), u2 = lanes_dot(t2, u), k12 = lanes_open(c->k12);
    lanes old1 = lanes_open(c->friction1), old2 = lanes_open(c->friction2);
    lanes f1 = old1 - (lanes_open(c->k11) * u1 + k12 * u2), f2 = old2 - (k12 * u1 + lanes_open(c->k22) * u2);
    lanes part = shrink(f1 * f1 + f2 * f2, limit);
    c->friction1 = lanes_pack(f1 * part), c->friction2 = lanes_pack(f2 * part);
    return lanes_axpy3(lanes_scale3(t1, lanes_open(c->friction1) - old1), lanes_open(c->friction2) - old2,
                       t2);
}

/* Resistance to rolling: the part of the relative spin in the plane. */
LANES_INLINE lanes3 solve_rolling(live_batch *c, const view *v, lanes pressure, const quad *q) {
    lanes3 s = lanes_sub3(q->wa, q->wb), old = lanes_open3(c->rolling);
    s = lanes_axpy3(s, -lanes_dot(s, v->n), v->n);
    lanes3 r = lanes_axpy3(old, -lanes_open(c->rolling_mass), s);
    lanes part = shrink(lanes_dot(r, r), lanes_open(c->rolling_limit) * pressure);
    c->rolling = lanes_pack3(lanes_scale3(r, part));
    return lanes_sub3(lanes_open3(c->rolling), old);
}

/* All that friction does at a manifold. */
LANES_INLINE void solve_tangential(live_batch *c, const view *v, quad *q) {
    lanes pressure = lanes_all(0), couple = lanes_all(0), mu = lanes_open(c->coefficient);
    for (int i = 0; i < c->points; i++) {
        lanes p = lanes_open(c->point[i].impulse);
        pressure += p;
        couple += p * lanes_open(c->point[i].lever);
    }
    lanes spin = lanes_dot(v->n, lanes_sub3(q->wa, q->wb)), old = lanes_open(c->twist),
          most = mu * couple + lanes_open(c->spinning) * pressure;
    c->twist = lanes_pack(lanes_max(lanes_min(old - lanes_open(c->twist_mass) * spin, most), -most));
    lanes3 t = lanes_scale3(v->n, lanes_open(c->twist) - old);
    if (c->rolls) t = lanes_add3(t, solve_rolling(c, v, pressure, q));
    drag(v, solve_friction(c, v, mu * pressure, q), t, q);
}

/* ---- all of a batch */

LANES_INLINE void warm_batches(const live_batch *batches, int count, live_velocity *all,
                               const uint8_t *movable) {
    for (int k = 0; k < count; k++) {
        const live_batch *c = &batches[k];
        quad q = gather_both(c, all);
        view v = open_batch(c);
        lanes sum = lanes_all(0);
        lanes3 moment = {sum, sum, sum}, t1 = lanes_open3(c->t1), t2 = lanes_cross(v.n, t1);
        for (int i = 0; i < c->points; i++) {
            lanes p = lanes_open(c->point[i].impulse);
            sum += p, moment = lanes_axpy3(moment, p, lanes_open3(c->point[i].e));
        }
        push(&v, sum, moment, &q);
        lanes3 f = lanes_axpy3(lanes_scale3(t1, lanes_open(c->friction1)), lanes_open(c->friction2), t2);
        drag(&v, f, lanes_axpy3(lanes_open3(c->rolling), lanes_open(c->twist), v.n), &q);
        scatter_both(c, all, movable, &q);
    }
}

/* Bodies of a batch lie anywhere: those of the batch after the next are asked for. */
LANES_INLINE void prefetch_bodies(const live_batch *c, const live_velocity *all,
                                  const live_velocity *displaced) {
    for (int i = 0; i < LANES; i++) {
        __builtin_prefetch(&all[c->a[i]]), __builtin_prefetch(&all[c->b[i]]);
        __builtin_prefetch(&displaced[c->a[i]]), __builtin_prefetch(&displaced[c->b[i]]);
    }
}

LANES_INLINE void solve_batches(live_batch *batches, int count, live_velocity *all,
                                const live_velocity *displaced, const uint8_t *movable,
                                const live_visit *visit, bool relax) {
    for (int k = 0; k < count; k++) {
        live_batch *c = &batches[k];
        if (k + 2 < count) prefetch_bodies(c + 2, all, displaced);
        quad q = gather_both(c, all), moved = gather_both(c, displaced);
        view v = open_batch(c);
        solve_tangential(c, &v, &q);
        switch (c->points) { /* each case with its loops unrolled */
        case 1: solve_normals(c, &v, 1, &moved, visit, relax, &q); break;
        case 2: solve_normals(c, &v, 2, &moved, visit, relax, &q); break;
        case 3: solve_normals(c, &v, 3, &moved, visit, relax, &q); break;
        default: solve_normals(c, &v, 4, &moved, visit, relax, &q); break;
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
                        const uint8_t *movable, live_visit visit) {
    if (visit.relax)
        solve_batches(c, count, all, moved, movable, &visit, true);
    else
        solve_batches(c, count, all, moved, movable, &visit, false);
}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))
AVX2 static void prepare_avx2(live_batch *c) { prepare_batch(c); }
AVX2 static void warm_avx2(const live_batch *c, int count, live_velocity *all, const uint8_t *movable) {
    warm_batches(c, count, all, movable);
}
AVX2 static void solve_avx2(live_batch *c, int count, live_velocity *all, const live_velocity *moved,
                            const uint8_t *movable, live_visit visit) {
    if (visit.relax)
        solve_batches(c, count, all, moved, movable, &visit, true);
    else
        solve_batches(c, count, all, moved, movable, &visit, false);
}
#endif

live_kernels live_choose_kernels(bool scalar) {
#if defined(__x86_64__)
    if (!scalar && __builtin_cpu_supports("avx2")) return (live_kernels){prepare_avx2, warm_avx2, solve_avx2};
#endif
    (void)scalar;
    return (live_kernels){prepare_plain, warm_plain, solve_plain};
}
