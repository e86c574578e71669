/* Between contacts and batches: lanes of a batch from its contacts, and impulses back into them. */
#include "sim/live.h"

#define MEAN_SECONDS 0.25
#define TILT_SECONDS 1.0
#define BAND         0.05

static void set3(lanes3 *v, int lane, vec3 x) { v->x[lane] = x.x, v->y[lane] = x.y, v->z[lane] = x.z; }
static vec3 get3(const lanes3 *v, int lane) { return (vec3){v->x[lane], v->y[lane], v->z[lane]}; }

static void set_mass(lanes *inverse, lanes_sym *inertia, int lane, const live_mass *m) {
    (*inverse)[lane] = m->inverse;
    inertia->xx[lane] = m->inertia[0], inertia->yy[lane] = m->inertia[1], inertia->zz[lane] = m->inertia[2];
    inertia->xy[lane] = m->inertia[3], inertia->xz[lane] = m->inertia[4], inertia->yz[lane] = m->inertia[5];
}

/* The contact point half way between the witnesses, from the world's origin. */
static vec3 middle_of(const live *w, const live_contact *c, const live_point *p) {
    const motion *a = &w->motions[c->a], *b = &w->motions[c->b];
    vec3 x = vec3_add(a->center, quat_rotate(a->rotation, p->on_a));
    vec3 y = vec3_add(b->center, quat_rotate(b->rotation, p->on_b));
    return vec3_lerp(x, y, 0.5);
}

/* Friction holds with the static coefficient while the manifold did not slip, otherwise with the sliding one.
 */
static double coefficient_of(const live_contact *c, const model_material *m) {
    return c->flags & LIVE_SLIPS ? m->friction.slide : m->friction.stick;
}

static void fill_lane(live *w, live_batch *batch, int lane, const live_contact *c) {
    const motion *a = &w->motions[c->a], *b = &w->motions[c->b];
    const model_material *m = live_material(w, c->a, c->b);
    batch->a[lane] = c->a + 1, batch->b[lane] = c->b + 1;
    set_mass(&batch->inverse_a, &batch->inertia_a, lane, &w->masses[c->a + 1]);
    set_mass(&batch->inverse_b, &batch->inertia_b, lane, &w->masses[c->b + 1]);
    vec3 t1 = vec3_orthogonal(c->normal), t2 = vec3_cross(c->normal, t1), middle = vec3_zero();
    set3(&batch->n, lane, c->normal), set3(&batch->t1, lane, t1), set3(&batch->t2, lane, t2);
    for (int i = 0; i < c->count; i++) {
        const live_point *p = &c->points[i];
        vec3 at = middle_of(w, c, p);
        middle = vec3_add(middle, at);
        set3(&batch->point[i].ja, lane, vec3_sub(at, a->center));
        set3(&batch->point[i].jb, lane, vec3_sub(at, b->center));
        batch->point[i].steady[lane] = p->steady;
        batch->point[i].gap[lane] = p->gap, batch->point[i].impulse[lane] = p->normal;
    }
    middle = vec3_scale(middle, 1.0 / c->count);
    set3(&batch->ra, lane, vec3_sub(middle, a->center)), set3(&batch->rb, lane, vec3_sub(middle, b->center));
    batch->friction1[lane] = vec3_dot(c->friction, t1), batch->friction2[lane] = vec3_dot(c->friction, t2);
    batch->twist[lane] = c->twist;
    set3(&batch->rolling, lane, vec3_axpy(c->rolling, -vec3_dot(c->rolling, c->normal), c->normal));
    batch->coefficient[lane] = coefficient_of(c, m);
    batch->spinning[lane] = m->friction.spinning, batch->rolling_limit[lane] = m->friction.rolling;
    const live_softness *s = w->movable[c->a + 1] && w->movable[c->b + 1] ? &w->soft : &w->soft_static;
    batch->rate[lane] = s->rate, batch->scale[lane] = s->scale, batch->soften[lane] = s->soften;
}

static void prepare_batch(live *w, live_batch *batch) {
    int32_t contact[LANES];
    memcpy(contact, batch->contact, sizeof contact);
    memset(batch, 0, sizeof *batch);
    memcpy(batch->contact, contact, sizeof contact);
    for (int k = 0; k < LANES; k++) {
        if (contact[k] < 0) continue;
        const live_contact *c = &w->contacts.data[contact[k]];
        fill_lane(w, batch, k, c);
        if (c->count > batch->points) batch->points = c->count;
        batch->rolls |= batch->rolling_limit[k] > 0;
    }
    /* a lane with fewer points than its neighbours: points that are never reached */
    for (int k = 0; k < LANES; k++)
        for (int i = contact[k] < 0 ? 0 : w->contacts.data[contact[k]].count; i < batch->points; i++)
            batch->point[i].gap[k] = 1e30;
    w->kernels.prepare(batch);
}

static void prepare_block(void *argument, int block) {
    live *w = argument;
    int64_t first = (int64_t)block * LIVE_BLOCK, end = first + LIVE_BLOCK;
    for (int64_t i = first; i < end && i < w->batch_count; i++) prepare_batch(w, &w->batches[i]);
}

void live_prepare(live *w) { live_share(w, w->times.prepare, w->batch_count, LIVE_BLOCK, prepare_block); }

/* ---- and back */

/* A load becomes the usual one with lag T:  q' = (LIVE_USUAL p - q) / T,  where it differs by more than the
 * band.  Nine tenths, and the band, because the loads of a heap are not determined: what follows them to the
 * end lets them wander from support to support, and the heap creeps. */
static double renew(double usual, double load, double share, double band) {
    double off = LIVE_USUAL * load - usual;
    return fabs(off) > band ? share * off : 0;
}

/* The usual load of each point: the mean of the manifold follows fast, and the differences between points,
 * which carry a tilting body, slowly.  A mode of stiffness K about which gravity tilts with G, damped by c,
 * is stable under such a lag while T > K / (c (K - G)); a column of n boxes has K - G ~ n^-3, so that T of
 * the differences bounds the height of towers, and T of the mean does not. */
static void renew_usual(const live *w, live_contact *c, double pressure) {
    double load = pressure / c->count, mean = 0;
    for (int i = 0; i < c->count; i++) mean += c->points[i].steady / c->count;
    double fast = w->dt / (w->dt + MEAN_SECONDS), slow = w->dt / (w->dt + TILT_SECONDS);
    double all = renew(mean, load, fast, BAND * load);
    for (int i = 0; i < c->count; i++) {
        live_point *p = &c->points[i];
        p->steady += all + renew(p->steady - mean, p->normal - load, slow, BAND * load);
    }
}

static void store_lane(live *w, const live_batch *batch, int lane, live_contact *c) {
    double pressure = 0;
    for (int i = 0; i < c->count; i++) {
        live_point *p = &c->points[i];
        p->normal = batch->point[i].impulse[lane];
        pressure += p->normal;
    }
    renew_usual(w, c, pressure);
    vec3 f = vec3_scale(get3(&batch->t1, lane), batch->friction1[lane]);
    c->friction = vec3_axpy(f, batch->friction2[lane], get3(&batch->t2, lane));
    c->twist = batch->twist[lane], c->rolling = get3(&batch->rolling, lane);
    double limit = batch->coefficient[lane] * pressure;
    c->flags &= ~(LIVE_TOUCHING | LIVE_SLIPS);
    if (pressure > 0) c->flags |= LIVE_TOUCHING;
    if (pressure > 0 && vec3_length(c->friction) >= limit * (1 - 1e-9)) c->flags |= LIVE_SLIPS;
}

static void store_block(void *argument, int block) {
    live *w = argument;
    int64_t first = (int64_t)block * LIVE_BLOCK, end = first + LIVE_BLOCK;
    for (int64_t i = first; i < end && i < w->batch_count; i++)
        for (int k = 0; k < LANES; k++)
            if (w->batches[i].contact[k] >= 0)
                store_lane(w, &w->batches[i], k, &w->contacts.data[w->batches[i].contact[k]]);
}

void live_store(live *w) { live_share(w, w->times.store, w->batch_count, LIVE_BLOCK, store_block); }
