/* The kernels of the live solver, eight contacts at a time (Silcowitz et al., section 4: projected
 * Gauss-Seidel; here with soft contacts and sub-steps).  Included by live_solve.c for every processor, and by
 * live_solve_avx2.c.
 *
 * For a point with the arms ra + d, rb + d (those of the middle of the manifold, and d from there) and the
 * normal n (from B to A) the normal velocity is
 *
 *     u = n . (vA - vB) + na . wA - nb . wB + e . (wA - wB),     na = ra x n,  nb = rb x n,  e = d x n
 *     1 / mass = 1/mA + 1/mB + ja . IA^-1 ja + jb . IB^-1 jb,    ja = na + e,  jb = nb + e
 *
 * and one visit changes its impulse p >= 0 by
 *
 *     gap > 0:    dp = -mass (u + gap / h)                         may just close the gap in this sub-step
 *     gap <= 0:   dp = -mass scale (u + rate gap) - soften (p - q)+
 *                                                                  a damped spring, implicit (Catto 2011)
 *     relaxing:   dp = -mass u                                     takes out what the spring pushed
 *
 * The spring is stretched about the load q that the point has carried lately (a slow average of p), not about
 * none: so a stack at rest does not sag, and a change of load still meets a spring.  Below q the point is
 * rigid, (p - q)+ = 0: it rests at gap 0 with any load from 0 to q.  A spring that pulled p up to q there
 * would throw a point with less load out of its overlap, so that it opens, closes and is thrown again, and
 * the heap about it trembles and creeps for ever.
 *
 * Friction is one block a manifold: a force in the plane through the middle, |f| <= mu sum p, a couple about
 * the normal, |t| <= mu sum p |r| + spinning sum p, and rolling resistance, |c| <= rolling sum p.
 *
 * The impulse J of a visit is applied in doubles, v += J / m: the two bodies of a contact get the same one,
 * so that the momentum of both together stays to 2^-53.  Impulses are counted in w->unit kilograms. */
#ifndef SIM_LIVE_KERNELS_H
#define SIM_LIVE_KERNELS_H

#include "sim/live.h"

/* Velocities, or displacements, of the two bodies of a contact: of the centres against each other, and both
 * spins. */
typedef struct relative {
    lanes3 v, wa, wb;
} relative;

LANES_INLINE half_lanes narrow(four a) { return __builtin_convertvector(a, half_lanes); }

LANES_INLINE relative gather(const live_batch *c, const live_velocity *all) {
    half_lanes v[LANES], wa[LANES], wb[LANES];
    for (int i = 0; i < LANES; i++) {
        const live_velocity *a = &all[c->a[i]], *b = &all[c->b[i]];
        v[i] = narrow(a->v - b->v), wa[i] = narrow(a->w), wb[i] = narrow(b->w);
    }
    return (relative){lanes_columns(v), lanes_columns(wa), lanes_columns(wb)};
}

LANES_INLINE void change(live_velocity *v, double inverse, half_lanes impulse, half_lanes spin) {
    v->v += four_all(inverse) * __builtin_convertvector(impulse, four);
    v->w += __builtin_convertvector(spin, four);
}

/* The impulse J on A and -J on B, and the changes of their spins.  Immovable bodies are shared by the batches
 * of a colour, and never written. */
LANES_INLINE void scatter(const live_batch *c, live_velocity *all, lanes3 impulse, lanes3 wa, lanes3 wb) {
    half_lanes j[LANES], sa[LANES], sb[LANES];
    lanes_rows(impulse, j), lanes_rows(wa, sa), lanes_rows(wb, sb);
    for (int i = 0; i < LANES; i++) {
        if (c->moves_a >> i & 1) change(&all[c->a[i]], c->mass_a[i], j[i], sa[i]);
        if (c->moves_b >> i & 1) change(&all[c->b[i]], -c->mass_b[i], j[i], sb[i]);
    }
}

/* The place of the coupling of the points i and j. */
LANES_INLINE int coupled(int i, int j) { return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i; }

/* ---- prepare: masses from arms, in doubles, four of the eight lanes */

typedef struct view {
    four3 n, ra, rb, na, nb;
    four inverse;
    four_sym inertia_a, inertia_b;
} view;

LANES_INLINE view open_side(const live_batch *c, int side) {
    view v = {.n = four_open3(&c->n, side),
              .ra = four_open3(&c->ra, side),
              .rb = four_open3(&c->rb, side),
              .inverse = four_open(&c->inverse, side),
              .inertia_a = four_open_sym(&c->inertia_a, side),
              .inertia_b = four_open_sym(&c->inertia_b, side)};
    v.na = four_cross(v.ra, v.n), v.nb = four_cross(v.rb, v.n);
    return v;
}

LANES_INLINE four inverted(four a) { return four_pick(a > 0, 1 / a, four_all(0)); }

LANES_INLINE void prepare_point(live_batch *c, const view *v, int i, int side) {
    live_lane_point *k = &c->point[i];
    four3 d = four_open3(&k->e, side), e = four_cross(d, v->n); /* d stands there until now */
    four3 wa = four_mul_sym(&v->inertia_a, four_add3(v->na, e));
    four3 wb = four_mul_sym(&v->inertia_b, four_add3(v->nb, e));
    four_pack(&k->lever, side, four_sqrt(four_dot(d, d))), four_pack3(&k->e, side, e);
    four own = four_all(0);
    for (int j = 0; j <= i; j++) {
        four3 f = four_open3(&c->point[j].e, side);
        own = v->inverse + four_dot(four_add3(v->na, f), wa) + four_dot(four_add3(v->nb, f), wb);
        four_pack(&c->coupling[coupled(i, j)], side, own);
    }
    four_pack(&k->mass, side, inverted(own));
    k->now = k->gap;
}

LANES_INLINE four mobility(const view *c, four3 a, four3 b, four direct) {
    four3 ja = four_cross(c->ra, a), jb = four_cross(c->rb, a);
    four3 ka = four_cross(c->ra, b), kb = four_cross(c->rb, b);
    return direct * c->inverse + four_dot(ja, four_mul_sym(&c->inertia_a, ka)) +
           four_dot(jb, four_mul_sym(&c->inertia_b, kb));
}

/* The largest row sum of IA^-1 + IB^-1 bounds its eigenvalues; for balls it is exact. */
LANES_INLINE four spin_bound(const view *c) {
    four xx = c->inertia_a.xx + c->inertia_b.xx, yy = c->inertia_a.yy + c->inertia_b.yy;
    four zz = c->inertia_a.zz + c->inertia_b.zz, xy = c->inertia_a.xy + c->inertia_b.xy;
    four xz = c->inertia_a.xz + c->inertia_b.xz, yz = c->inertia_a.yz + c->inertia_b.yz;
    xy = four_max(xy, -xy), xz = four_max(xz, -xz), yz = four_max(yz, -yz);
    return inverted(four_max(xx + xy + xz, four_max(yy + xy + yz, zz + xz + yz)));
}

LANES_INLINE void prepare_side(live_batch *c, int side) {
    four zero = four_all(0), one = four_all(1);
    view v = open_side(c, side);
    four3 t1 = four_open3(&c->t1, side), t2 = four_cross(v.n, t1);
    four_pack3(&c->na, side, v.na), four_pack3(&c->nb, side, v.nb);
    for (int i = 0; i < c->points; i++) prepare_point(c, &v, i, side);
    four a = mobility(&v, t1, t1, one), b = mobility(&v, t1, t2, zero), d = mobility(&v, t2, t2, one);
    four inverse = inverted(a * d - b * b);
    four_pack(&c->k11, side, d * inverse), four_pack(&c->k12, side, -b * inverse);
    four_pack(&c->k22, side, a * inverse);
    four m = four_dot(v.n, four_mul_sym(&v.inertia_a, v.n)) + four_dot(v.n, four_mul_sym(&v.inertia_b, v.n));
    four_pack(&c->twist_mass, side, inverted(m));
    if (c->rolls) four_pack(&c->rolling_mass, side, spin_bound(&v));
}

static void prepare(live_batch *c) {
    for (int side = 0; side < 2; side++) prepare_side(c, side);
}

/* ---- impulses */

/* What a visit has done: the impulse on A, and the changes of both spins. */
typedef struct done {
    lanes3 impulse, wa, wb;
} done;

/* The impulse f on A at the middle of the manifold, and the couple t on A. */
LANES_INLINE done drag(const live_batch *c, lanes3 f, lanes3 t) {
    lanes3 ta = lanes_add3(lanes_cross(c->ra, f), t), tb = lanes_add3(lanes_cross(c->rb, f), t);
    lanes3 wb = lanes_mul_sym(&c->inertia_b, tb);
    return (done){f, lanes_mul_sym(&c->inertia_a, ta), {-wb.x, -wb.y, -wb.z}};
}

/* And impulses along the normal, of the sum p, with the moment m about the middle of the manifold. */
LANES_INLINE done push(const live_batch *c, lanes p, lanes3 m, const done *before) {
    lanes3 ta = lanes_axpy3(m, p, c->na), tb = lanes_axpy3(m, p, c->nb);
    return (done){lanes_axpy3(before->impulse, p, c->n),
                  lanes_add3(before->wa, lanes_mul_sym(&c->inertia_a, ta)),
                  lanes_sub3(before->wb, lanes_mul_sym(&c->inertia_b, tb))};
}

/* How fast, or how far, the middle of the manifold opens. */
LANES_INLINE lanes opening(const live_batch *c, const relative *q) {
    return lanes_dot(c->n, q->v) + (lanes_dot(c->na, q->wa) - lanes_dot(c->nb, q->wb));
}

/* The gaps where the bodies are after the displacements `moved`; they stay until bodies move again. */
LANES_INLINE void move_gaps(live_batch *c, int count, const relative *moved) {
    lanes shift = opening(c, moved);
    lanes3 turn = lanes_sub3(moved->wa, moved->wb);
    for (int i = 0; i < count; i++) {
        live_lane_point *k = &c->point[i];
        k->now = k->gap + (shift + lanes_dot(k->e, turn));
    }
}

static void place(live_batch *c, const live_velocity *displaced) {
    relative moved = gather(c, displaced);
    move_gaps(c, c->points, &moved);
}

/* The normal impulses of a manifold: forth and back over its points, among themselves by their couplings,
 * then their sum on the bodies. */
LANES_INLINE done solve_normals(live_batch *c, int count, const live_visit *visit, bool relax,
                                const relative *q, const done *before) {
    lanes zero = lanes_all(0), one = lanes_all(1), u[MANIFOLD_POINTS], p[MANIFOLD_POINTS],
          scale[MANIFOLD_POINTS], soften[MANIFOLD_POINTS];
    lanes rate = lanes_all((float)visit->soft.rate), part = lanes_all((float)visit->soft.scale),
          give = lanes_all((float)visit->soft.soften), inverse_h = lanes_all((float)visit->inverse_h),
          most = lanes_all((float)-visit->push);
    lanes slip = opening(c, q);
    lanes3 spin = lanes_sub3(q->wa, q->wb);
    for (int i = 0; i < count; i++) {
        const live_lane_point *k = &c->point[i];
        lanes gap = k->now;
        lanes_mask apart = gap > zero;
        lanes bias = lanes_pick(apart, gap * inverse_h, relax ? zero : lanes_max(rate * gap, most));
        u[i] = slip + lanes_dot(k->e, spin) + bias;
        scale[i] = relax ? k->mass : k->mass * lanes_pick(apart, one, part);
        soften[i] = relax ? zero : lanes_pick(apart, zero, give);
        p[i] = k->impulse;
    }
    for (int sweep = 0; sweep < 2; sweep++)
        for (int n = 0; n < count; n++) {
            int i = sweep ? count - 1 - n : n;
            lanes next = p[i] - scale[i] * u[i];
            if (!relax) next -= soften[i] * lanes_max(p[i] - c->point[i].steady, zero);
            next = lanes_max(next, zero);
            lanes change = next - p[i];
            p[i] = next;
            for (int j = 0; j < count; j++) u[j] += c->coupling[coupled(i, j)] * change;
        }
    lanes sum = zero;
    lanes3 moment = {zero, zero, zero};
    for (int i = 0; i < count; i++) {
        live_lane_point *k = &c->point[i];
        lanes change = p[i] - k->impulse;
        k->impulse = p[i];
        sum += change;
        moment = lanes_axpy3(moment, change, k->e);
    }
    return push(c, sum, moment, before);
}

/* ---- friction */

/* Back into the disc of a radius: what x, y, z are to be multiplied with. */
LANES_INLINE lanes shrink(lanes square, lanes limit) {
    lanes_mask over = square > limit * limit;
    lanes one = lanes_all(1);
    return lanes_pick(over, limit / lanes_sqrt(lanes_pick(over, square, one)), one);
}

/* The force in the plane: the 2 x 2 problem without the cone, then back to the cone. */
LANES_INLINE lanes3 solve_friction(live_batch *c, lanes limit, const relative *q) {
    lanes3 t1 = c->t1, t2 = lanes_cross(c->n, t1);
    lanes3 u = lanes_add3(q->v, lanes_sub3(lanes_cross(q->wa, c->ra), lanes_cross(q->wb, c->rb)));
    lanes u1 = lanes_dot(t1, u), u2 = lanes_dot(t2, u), old1 = c->friction1, old2 = c->friction2;
    lanes f1 = old1 - (c->k11 * u1 + c->k12 * u2), f2 = old2 - (c->k12 * u1 + c->k22 * u2);
    lanes part = shrink(f1 * f1 + f2 * f2, limit);
    c->friction1 = f1 * part, c->friction2 = f2 * part;
    return lanes_axpy3(lanes_scale3(t1, c->friction1 - old1), c->friction2 - old2, t2);
}

/* Resistance to rolling: the part of the relative spin in the plane. */
LANES_INLINE lanes3 solve_rolling(live_batch *c, lanes pressure, const relative *q) {
    lanes3 s = lanes_sub3(q->wa, q->wb), old = c->rolling;
    s = lanes_axpy3(s, -lanes_dot(s, c->n), c->n);
    lanes3 r = lanes_axpy3(old, -c->rolling_mass, s);
    c->rolling = lanes_scale3(r, shrink(lanes_dot(r, r), c->rolling_limit * pressure));
    return lanes_sub3(c->rolling, old);
}

/* All that friction does at a manifold. */
LANES_INLINE done solve_tangential(live_batch *c, int count, const relative *q) {
    lanes pressure = lanes_all(0), couple = lanes_all(0);
    for (int i = 0; i < count; i++) {
        pressure += c->point[i].impulse;
        couple += c->point[i].impulse * c->point[i].lever;
    }
    lanes spin = lanes_dot(c->n, lanes_sub3(q->wa, q->wb)), old = c->twist,
          most = c->coefficient * couple + c->spinning * pressure;
    c->twist = lanes_max(lanes_min(old - c->twist_mass * spin, most), -most);
    lanes3 t = lanes_scale3(c->n, c->twist - old);
    if (c->rolls) t = lanes_add3(t, solve_rolling(c, pressure, q));
    return drag(c, solve_friction(c, c->coefficient * pressure, q), t);
}

/* ---- all of a batch */

/* Batches lie one after the other, but each reaches over a page, where the processor's own prefetching ends:
 * in heaps larger than the caches every visit would wait for its first lines. */
enum { BATCHES_AHEAD = 3, USED = offsetof(live_batch, point) + 2 * sizeof(live_lane_point) };
PREFETCHES prefetch_batch(const live_batch *c) {
    const char *far = (const char *)(c + BATCHES_AHEAD);
    for (size_t i = 0; i < USED; i += CACHE_LINE) __builtin_prefetch(far + i, 0, 1);
}

/* Bodies of a batch lie anywhere: those of the next batch are asked for. */
PREFETCHES prefetch_bodies(const live_batch *c, const live_velocity *all) {
    for (int i = 0; i < LANES; i++) __builtin_prefetch(&all[c->a[i]]), __builtin_prefetch(&all[c->b[i]]);
}

static void warm(const live_batch *batches, int count, live_velocity *all) {
    for (int k = 0; k < count; k++) {
        const live_batch *c = &batches[k];
        prefetch_batch(c);
        if (k + 2 < count) prefetch_bodies(c + 2, all);
        lanes sum = lanes_all(0);
        lanes3 moment = {sum, sum, sum}, t2 = lanes_cross(c->n, c->t1), t = lanes_scale3(c->n, c->twist);
        for (int i = 0; i < c->points; i++) {
            lanes p = c->point[i].impulse;
            sum += p, moment = lanes_axpy3(moment, p, c->point[i].e);
        }
        if (c->rolls) t = lanes_add3(t, c->rolling);
        done d = drag(c, lanes_axpy3(lanes_scale3(c->t1, c->friction1), c->friction2, t2), t);
        d = push(c, sum, moment, &d);
        scatter(c, all, d.impulse, d.wa, d.wb);
    }
}

/* The sub-step ends with these impulses. */
LANES_INLINE void add_pushed(live_batch *c, int count) {
    lanes pressure = lanes_all(0);
    lanes3 t2 = lanes_cross(c->n, c->t1);
    for (int i = 0; i < count; i++) pressure += c->point[i].impulse;
    c->pushed = lanes_axpy3(c->pushed, pressure, c->n);
    c->pushed = lanes_axpy3(lanes_axpy3(c->pushed, c->friction1, c->t1), c->friction2, t2);
}

LANES_INLINE void visit_batch(live_batch *c, int count, live_velocity *all, const live_velocity *displaced,
                              const live_visit *visit, bool relax) {
    relative q = gather(c, all);
    done d = solve_tangential(c, count, &q);
    if (relax) { /* bodies have moved since the last visit */
        relative moved = gather(c, displaced);
        move_gaps(c, count, &moved);
    }
    q.v = lanes_axpy3(q.v, c->inverse, d.impulse);
    q.wa = lanes_add3(q.wa, d.wa), q.wb = lanes_add3(q.wb, d.wb);
    d = solve_normals(c, count, visit, relax, &q, &d);
    scatter(c, all, d.impulse, d.wa, d.wb);
    if (relax) add_pushed(c, count);
}

LANES_INLINE void visit_batches(live_batch *batches, int count, live_velocity *all,
                                const live_velocity *displaced, const live_visit *visit, bool relax) {
    for (int k = 0; k < count; k++) {
        live_batch *c = &batches[k];
        prefetch_batch(c);
        if (k + 2 < count) prefetch_bodies(c + 2, all);
        if (k + 2 < count && relax) prefetch_bodies(c + 2, displaced);
        switch (c->points) { /* each case with its loops unrolled */
        case 1: visit_batch(c, 1, all, displaced, visit, relax); break;
        case 2: visit_batch(c, 2, all, displaced, visit, relax); break;
        case 3: visit_batch(c, 3, all, displaced, visit, relax); break;
        default: visit_batch(c, 4, all, displaced, visit, relax); break;
        }
    }
}

static void solve(live_batch *c, int count, live_velocity *all, const live_velocity *moved,
                  live_visit visit) {
    if (visit.relax)
        visit_batches(c, count, all, moved, &visit, true);
    else
        visit_batches(c, count, all, moved, &visit, false);
}

#endif
