/* Which pairs may touch in this step.
 *
 * A body's box is its bounds, swept by its velocity over the step and grown by half the reach and a little
 * more, so that it is kept while the body hardly moves; a pair is a candidate when the two boxes meet.  The
 * pairs of boxes that did not change are those of the last step: of a heap at rest all.  The tree of fat
 * boxes only makes the others fast: it gives a superset (`near`), which is filtered, sorted by body numbers,
 * and merged.  So the list depends on the boxes alone, which belong to the state, and not on how the tree
 * came about: a restored run, which lists all pairs anew, has the same one. */
#include "sim/live.h"

enum { NEAR_BLOCK = 256, AHEAD = 6 };
#define KEPT 0.005 /* of the smallest body: a box is kept while no point leaves its place by more */

/* ---- shapes */

static bool same_shape(const abut_shape *s, const abut_shape *t) {
    return s->kind == t->kind && s->solid == t->solid && s->surface == t->surface && s->radius == t->radius &&
           s->length == t->length && s->axes.x == t->axes.x && s->axes.y == t->axes.y &&
           s->axes.z == t->axes.z && s->normal.x == t->normal.x && s->normal.y == t->normal.y &&
           s->normal.z == t->normal.z && s->offset == t->offset;
}

/* Bodies with the same shape share a collider; the last few shapes are looked at, which finds all in scenes
 * that are made of a few kinds of bodies. */
static int find_shape(const live *w, int body) {
    const abut_shape *s = &w->model->bodies[body].shape.shape;
    for (int i = body - 1; i >= 0 && i > body - 64; i--)
        if (same_shape(s, &w->model->bodies[i].shape.shape)) return w->shape_of[i];
    return -1;
}

abut_status live_shapes_create(live *w, abut_error *error) {
    for (int i = 0; i < w->bodies; i++) {
        const model_body *b = &w->model->bodies[i];
        abut_shape_kind kind = b->shape.shape.kind;
        w->shape_of[i] = -1, w->leaves[i] = BVH_NONE;
        if (kind == ABUT_SHAPE_NONE) continue;
        w->shape_of[i] = find_shape(w, i);
        if (w->shape_of[i] < 0) {
            abut_error inner = {0};
            abut_status status =
                collider_create(w->context, &b->shape.shape, &w->colliders[w->collider_count], &inner);
            if (status != ABUT_OK) return fail(error, status, "body `%s`: %s", b->name, inner.message);
            w->shape_of[i] = w->collider_count++;
        }
        const collider *c = w->colliders[w->shape_of[i]];
        w->body[i].rims =
            kind == ABUT_SHAPE_CYLINDER || kind == ABUT_SHAPE_ELLIPSOID || kind == ABUT_SHAPE_SURFACE;
        w->body[i].ball = kind == ABUT_SHAPE_SPHERE && vec3_length2(b->center) == 0;
        w->faceted[i] = kind == ABUT_SHAPE_SOLID || kind == ABUT_SHAPE_HALFSPACE;
        w->radii[i] = collider_radius(c, b->center);
        w->body[i].bounded = collider_is_bounded(c), w->body[i].core = collider_core(c);
        w->alone[i] = collider_room(c, c) == 1, w->body[i].light = collider_is_light(c);
        if (!collider_is_bounded(c) && !array_push(w->context, &w->unbounded, i)) return fail_memory(error);
    }
    for (int i = 0; i < w->model->hinge_count; i++) {
        const model_hinge *h = &w->model->hinges[i];
        if (h->collide || h->h.b < 0) continue;
        uint64_t a = (uint64_t)(h->h.a < h->h.b ? h->h.a : h->h.b), b = (uint64_t)(h->h.a + h->h.b) - a;
        if (!map64_put(w->context, &w->apart, a << 32 | b, 1)) return fail_memory(error);
    }
    if (!collider_gather(w->context, w->colliders, w->collider_count, &w->collider_block))
        return fail_memory(error);
    return ABUT_OK;
}

void live_shapes_free(live *w) {
    for (int i = 0; i < w->collider_count; i++) collider_free(w->context, w->colliders[i]);
    collider_block_free(w->context, &w->collider_block);
    map64_free(w->context, &w->apart);
}

/* ---- the tree */

bool live_may_touch(const live *w, int a, int b) {
    const live_body *x = &w->body[a], *y = &w->body[b];
    if (!x->movable && !y->movable) return false;
    if (x->group != 0 && x->group == y->group) return false;
    return w->apart.count == 0 || !map64_get(&w->apart, (uint64_t)a << 32 | (uint64_t)b);
}

typedef struct finder {
    live *w;
    int body;
    bool fine;
} finder;

/* A pair of two bodies that both roam is reported by the smaller one. */
static bool report_near(void *user, int32_t other) {
    finder *f = user;
    live *w = f->w;
    if (other == f->body || (w->roams[other] && other < f->body)) return true;
    live_pair p = {f->body < other ? f->body : other, f->body < other ? other : f->body};
    if (!live_may_touch(w, p.a, p.b)) return true;
    f->fine = array_push(w->context, &w->near, p);
    return f->fine;
}

static live_drift drift_of(const live *w, int body) {
    const motion *m = &w->motions[body];
    vec3 way = vec3_scale(m->velocity.linear, w->dt);
    if (w->movable[body + 1])
        way = vec3_axpy(way, w->dt * w->dt * w->body[body].inertia.inverse_mass, w->constant[body].linear);
    double r = isfinite(w->radii[body]) ? w->radii[body] : 0;
    return (live_drift){way, fmin(vec3_length(m->velocity.angular) * w->dt, 2) * r + w->wanders[body]};
}

static box swept_box(const live *w, int body) {
    box b = collider_bounds(w->colliders[w->shape_of[body]], live_pose(w, body));
    const live_drift *d = &w->drifts[body];
    vec3 zero = vec3_zero();
    b.lower = vec3_add(b.lower, vec3_min(d->way, zero)), b.upper = vec3_add(b.upper, vec3_max(d->way, zero));
    return box_grow(b, w->reach / 2 + KEPT * w->size + d->swing);
}

/* How far any point of a body has moved since its box was made; by turning, at most 4 sin(angle / 4) r. */
static double moved_since(const live *w, int body) {
    const live_placed *p = &w->placed[body];
    quat q = w->motions[body].rotation, r = p->rotation;
    double dq = (q.w - r.w) * (q.w - r.w) + (q.x - r.x) * (q.x - r.x) + (q.y - r.y) * (q.y - r.y) +
                (q.z - r.z) * (q.z - r.z);
    return vec3_distance(w->motions[body].center, p->center) + 2 * sqrt(dq) * w->radii[body];
}

/* Whether its box is that of all of this step too. */
static bool keeps_box(const live *w, int body) {
    const live_drift *d = &w->drifts[body];
    quat r = w->placed[body].rotation;
    bool has_box = r.w != 0 || r.x != 0 || r.y != 0 || r.z != 0;
    return has_box && moved_since(w, body) + vec3_length(d->way) + d->swing <= KEPT * w->size;
}

/* Fetches what the boxes of the next bodies ask for, some bodies ahead for each stage. */
static void prefetch_shapes(const live *w, int body) {
    for (int stage = COLLIDER_ITSELF; stage <= COLLIDER_VERTICES; stage++) {
        int i = body + (COLLIDER_VERTICES + 1 - stage) * AHEAD;
        if (i < w->bodies && w->shape_of[i] >= 0) collider_prefetch(w->colliders[w->shape_of[i]], stage);
    }
}

static void make_boxes(live *w, const live_stage *s, int first, int end) {
    (void)s;
    for (int i = first; i < end; i++) {
        w->drifts[i] = drift_of(w, i);
        w->renewed[i] = w->body[i].bounded && !keeps_box(w, i);
        if (!w->renewed[i]) continue;
        prefetch_shapes(w, i);
        w->boxes[i] = swept_box(w, i);
        w->placed[i] = (live_placed){w->motions[i].center, w->motions[i].rotation};
    }
}

/* Gives moving bodies their new boxes; those that left their fat boxes roam. */
static bool update_tree(live *w) {
    double margin = LIVE_MARGIN * w->size;
    live_share(w, LIVE_BROAD, w->bodies, LIVE_BODY_BLOCK, make_boxes);
    for (int i = 0; i < w->bodies; i++) {
        bool fresh = w->leaves[i] == BVH_NONE;
        w->roams[i] = false;
        if (!w->body[i].bounded || !(fresh || w->renewed[i])) continue;
        vec3 d = vec3_scale(w->motions[i].velocity.linear, 2 * w->dt);
        if (fresh) {
            w->leaves[i] = bvh_insert(w->context, &w->tree, bvh_fatten(w->boxes[i], margin, d), i);
            if (w->leaves[i] == BVH_NONE) return false;
            w->roams[i] = true;
        } else {
            w->roams[i] = bvh_move(&w->tree, w->leaves[i], w->boxes[i], margin, d);
        }
    }
    w->tree_ready = true;
    return true;
}

/* The pairs of those that roam anew. */
bool live_update_near(live *w) {
    int64_t kept = 0;
    for (int64_t i = 0; i < w->near.count; i++) {
        live_pair p = w->near.data[i];
        if (!w->roams[p.a] && !w->roams[p.b]) w->near.data[kept++] = p;
    }
    w->near.count = kept;
    for (int i = 0; i < w->bodies; i++) {
        if (!w->roams[i]) continue;
        finder f = {w, i, true};
        bvh_query(&w->tree, w->tree.nodes[w->leaves[i]].bounds, report_near, &f);
        if (!f.fine) return false;
    }
    return true;
}

/* ---- unbounded bodies: half-spaces by the farthest corner of the box, others always */

typedef struct wall {
    bool everywhere; /* no half-space */
    vec3 n;
    double d; /* n . x <= d within */
} wall;

static wall wall_of(const live *w, int unbounded) {
    const abut_shape *s = &w->model->bodies[unbounded].shape.shape;
    if (s->kind != ABUT_SHAPE_HALFSPACE) return (wall){.everywhere = true};
    pose p = live_pose(w, unbounded);
    vec3 n = quat_rotate(p.rotation, vec3_unit(s->normal));
    return (wall){false, n, s->offset / vec3_length(s->normal) + vec3_dot(n, p.position)};
}

static bool reaches(const live *w, const wall *a, const box *b) {
    vec3 c = box_center(*b), half = vec3_scale(vec3_sub(b->upper, b->lower), 0.5);
    return a->everywhere || vec3_dot(a->n, c) - vec3_dot(vec3_abs(a->n), half) - a->d <= w->reach / 2;
}

/* A wall that has moved has all its pairs anew. */
static void renew_walls(live *w) {
    for (int64_t k = 0; k < w->unbounded.count; k++) {
        int u = w->unbounded.data[k];
        const motion *m = &w->motions[u];
        live_placed now = {m->center, m->rotation};
        w->renewed[u] = memcmp(&now, &w->placed[u], sizeof now) != 0;
        w->placed[u] = now;
    }
}

static bool add_unbounded(live *w) {
    for (int64_t k = 0; k < w->unbounded.count; k++) {
        int u = w->unbounded.data[k];
        wall a = wall_of(w, u);
        for (int i = 0; i < w->bodies; i++) {
            if (i == u || w->leaves[i] == BVH_NONE || !(w->renewed[u] || w->renewed[i])) continue;
            live_pair p = {i < u ? i : u, i < u ? u : i};
            if (!reaches(w, &a, &w->boxes[i]) || !live_may_touch(w, p.a, p.b)) continue;
            if (!array_push(w->context, &w->extra, p)) return false;
        }
    }
    return true;
}

/* ---- sorting by a, then b: two passes of counting */

static void pass(live *w, const live_pair *from, live_pair *to, int64_t n, bool by_a) {
    int *count = w->buckets.data;
    memset(count, 0, ((size_t)w->bodies + 1) * sizeof *count);
    for (int64_t i = 0; i < n; i++) count[(by_a ? from[i].a : from[i].b) + 1]++;
    for (int i = 0; i < w->bodies; i++) count[i + 1] += count[i];
    for (int64_t i = 0; i < n; i++) to[count[by_a ? from[i].a : from[i].b]++] = from[i];
}

static bool sort_extra(live *w) {
    int64_t n = w->extra.count;
    if (n == 0) return true;
    if (!array_reserve(w->context, &w->sorting, n) || !array_reserve(w->context, &w->buckets, w->bodies + 2))
        return false;
    pass(w, w->extra.data, w->sorting.data, n, false);
    pass(w, w->sorting.data, w->extra.data, n, true);
    return true;
}

/* ---- the pairs of new boxes, and those of the last step that have none */

static void test_near(live *w, const live_stage *s, int first, int end) {
    (void)s;
    for (int i = first; i < end; i++) {
        live_pair p = w->near.data[i], next = w->near.data[i + AHEAD < end ? i + AHEAD : i];
        w->meets.data[i] = false;
        if (w->renewed[next.a] || w->renewed[next.b])
            prefetch_lines(&w->boxes[next.a], sizeof *w->boxes),
                prefetch_lines(&w->boxes[next.b], sizeof *w->boxes);
        if (w->renewed[p.a] || w->renewed[p.b]) w->meets.data[i] = box_overlap(w->boxes[p.a], w->boxes[p.b]);
    }
}

static bool list_extra(live *w) {
    int64_t n = w->near.count;
    w->extra.count = 0;
    if (!memchr(w->renewed, true, (size_t)w->bodies)) return true;
    if (!array_reserve(w->context, &w->meets, n) || !array_reserve(w->context, &w->extra, n)) return false;
    live_share(w, LIVE_BROAD, n, NEAR_BLOCK, test_near);
    for (int64_t i = 0; i < n; i++)
        if (w->meets.data[i]) w->extra.data[w->extra.count++] = w->near.data[i];
    return add_unbounded(w) && sort_extra(w);
}

static bool comes_before(live_pair p, live_pair q) { return p.a != q.a ? p.a < q.a : p.b < q.b; }

static bool merge_pairs(live *w) {
    const live_pair_array *old = &w->known.list;
    int64_t kept = w->pairs_hold ? old->count : 0, count = 0, k = 0;
    if (!array_reserve(w->context, &w->pairs.list, kept + w->extra.count + 1)) return false;
    live_pair *out = w->pairs.list.data;
    const live_pair *extra = w->extra.data;
    for (int64_t i = 0; i < kept; i++) {
        live_pair p = old->data[i];
        if (w->renewed[p.a] || w->renewed[p.b]) continue;
        for (; k < w->extra.count && comes_before(extra[k], p); k++) out[count++] = extra[k];
        out[count++] = p;
    }
    for (; k < w->extra.count; k++) out[count++] = extra[k];
    w->pairs.list.count = count;
    return true;
}

bool live_broad(live *w) {
    if (!update_tree(w) || !live_update_near(w)) return false;
    renew_walls(w);
    if (!w->pairs_hold) memset(w->renewed, true, (size_t)w->bodies);
    bool fine = list_extra(w) && merge_pairs(w);
    w->pairs_hold = false; /* until the narrow phase has gone through it */
    w->times.pairs = (int)w->pairs.list.count;
    return fine;
}
