/* Which entities of two solids come near each other: pairs of pieces, by descending both trees, and what is
 * near in a pair.
 *
 *   front   the node pairs at which the descent ended, each with the motion it is good for:
 *
 *        (root, root)                 a pair of boxes or pieces a distance d > reach apart stays so until the
 *         /      \                    solids have moved d - reach against each other; until then it is
 *      (·,·)    (·,·)  until 0.3      passed over.  `moved` adds up bounds of the motion from one question to
 *      /   \                          the next, so that `until` is compared with one number.
 *  until 0.1  near: asked each time
 */
#include "contact/touch.h"

typedef struct walk {
    touch_work *w;
    const touch_tree *a, *b;
    touch_placing at;
    double reach;
    double want;         /* the descent goes on until gaps are this much wider than reach */
    touch_turned box[2]; /* of B's nodes box_of[], turned last: the next pair mostly has one of them */
    int32_t box_of[2];
    abut_touch_cache *cache; /* NULL: nothing is remembered */
    touch_corner *turned;    /* the corners of B's piece `turned_piece`, in the frame of A */
    touch_piece turned_piece;
    int32_t turned_number;
} walk;

/* one instruction each where fmin would be a call */
static inline double smaller(double x, double y) { return x < y ? x : y; }
static inline double larger(double x, double y) { return x > y ? x : y; }

/* ---- a pair of pieces */

/* The gap between a plane and points: how far all of them are on one side of it. */
static double plane_gap(plane p, const touch_corner *c, int32_t count) {
    double low = INFINITY, high = -INFINITY;
    for (int32_t k = 0; k < count; k++) {
        double d = plane_distance(p, c[k].at);
        low = d < low ? d : low, high = d > high ? d : high;
    }
    return low > -high ? low : -high;
}

/* The widest gap beyond one of the sides of piece p. */
static double sides_gap(const touch_corner *p, int32_t count, const touch_corner *q, int32_t others,
                        double enough) {
    double best = -INFINITY;
    for (int32_t k = 0; k < count && best <= enough; k++) {
        double low = INFINITY;
        for (int32_t i = 0; i < others; i++) {
            double d = vec3_dot(p[k].side, vec3_sub(q[i].at, p[k].at));
            low = d < low ? d : low;
        }
        best = low > best ? low : best;
    }
    return best;
}

static void turn_piece(walk *s, int32_t number) {
    const touch_piece *p = &s->b->pieces[number];
    const touch_corner *c = s->b->corners + p->first;
    s->turned_number = number, s->turned_piece = *p;
    vec3 n = mat3_mul_vec(s->at.turn, p->plane.n);
    s->turned_piece.plane = (plane){n, p->plane.d + vec3_dot(n, s->at.shift)};
    for (int32_t k = 0; k < p->count; k++)
        s->turned[k] = (touch_corner){.at = vec3_add(mat3_mul_vec(s->at.turn, c[k].at), s->at.shift),
                                      .side = mat3_mul_vec(s->at.turn, c[k].side),
                                      .vertex = c[k].vertex,
                                      .edge = c[k].edge};
}

/* A lower bound of the distance of two pieces: the first gap above `enough`, or the widest. */
static double pieces_gap(const touch_piece *a, const touch_corner *ca, const touch_piece *b,
                         const touch_corner *cb, double enough) {
    double best = plane_gap(a->plane, cb, b->count);
    if (best <= enough) best = larger(best, plane_gap(b->plane, ca, a->count));
    if (best <= enough) best = larger(best, sides_gap(ca, a->count, cb, b->count, enough));
    if (best <= enough) best = larger(best, sides_gap(cb, b->count, ca, a->count, enough));
    return best;
}

/* Whether the segment x, y has a point within reach of the plane and of the inner side of all sides. */
static bool segment_near(const touch_piece *p, const touch_corner *c, vec3 x, vec3 y, double reach) {
    double t0 = 0, t1 = 1;
    for (int32_t k = -2; k < p->count; k++) { /* the plane from above, from below, the sides */
        double dx, dy;
        if (k < 0) {
            dx = plane_distance(p->plane, x), dy = plane_distance(p->plane, y);
            if (k == -2) dx = -dx, dy = -dy;
        } else {
            dx = vec3_dot(c[k].side, vec3_sub(x, c[k].at)), dy = vec3_dot(c[k].side, vec3_sub(y, c[k].at));
        }
        dx -= reach, dy -= reach;
        if (dx > 0 && dy > 0) return false;
        if (dx > 0) t0 = larger(t0, dx / (dx - dy));
        if (dy > 0) t1 = smaller(t1, dx / (dx - dy));
    }
    return t0 <= t1 + 1e-12;
}

static bool point_near(const touch_piece *p, const touch_corner *c, vec3 x, double reach) {
    if (fabs(plane_distance(p->plane, x)) > reach) return false;
    for (int32_t k = 0; k < p->count; k++)
        if (vec3_dot(c[k].side, vec3_sub(x, c[k].at)) > reach) return false;
    return true;
}

/* Marks the edges and vertices of piece p of solid i that come near piece q of the other. */
static bool mark_piece(walk *s, int i, const touch_piece *p, const touch_corner *cp, const touch_piece *q,
                       const touch_corner *cq, bool *any) {
    touch_work *w = s->w;
    for (int32_t k = 0; k < p->count; k++) {
        if (!segment_near(q, cq, cp[k].at, cp[k + 1 < p->count ? k + 1 : 0].at, s->reach)) continue;
        *any = true;
        if (cp[k].edge >= 0 && !touch_mark(w, i, INDEX_EDGE, cp[k].edge, TOUCH_NEAR)) return false;
        if (point_near(q, cq, cp[k].at, s->reach) &&
            !touch_mark(w, i, INDEX_VERTEX, cp[k].vertex, TOUCH_NEAR))
            return false;
    }
    return true;
}

/* Parallel, to what the index takes for lying on a plane. */
static bool may_lie_flat(const touch_piece *a, const touch_piece *b) {
    return fabs(vec3_dot(a->plane.n, b->plane.n)) >= 0.999;
}

static bool mark_pair(walk *s, const touch_piece *a, const touch_corner *ca, const touch_piece *b,
                      const touch_corner *cb) {
    bool any = false;
    if (!mark_piece(s, 0, a, ca, b, cb, &any) || !mark_piece(s, 1, b, cb, a, ca, &any)) return false;
    if (!any) return true;
    int flags = TOUCH_NEAR | (may_lie_flat(a, b) ? TOUCH_FLAT : 0);
    return touch_mark(s->w, 0, INDEX_FACE, a->face, flags) &&
           touch_mark(s->w, 1, INDEX_FACE, b->face, flags) &&
           touch_mark(s->w, 0, TOUCH_PIECE, a->piece, flags) &&
           touch_mark(s->w, 1, TOUCH_PIECE, b->piece, flags);
}

/* ---- the descent */

static bool remember(walk *s, int32_t i, int32_t j, double gap, int64_t *slot) {
    abut_touch_cache *c = s->cache;
    if (!c) return true;
    touch_front_pair end = {i, j};
    double until = gap > s->reach ? c->moved + (gap - s->reach) * (1 - 1e-9) : -1;
    if (*slot >= 0) {
        c->front.data[*slot] = end, c->until.data[*slot] = until;
        *slot = -1;
        return true;
    }
    return array_push(s->w->context, &c->front, end) && array_push(s->w->context, &c->until, until);
}

static bool meet_leaves(walk *s, int32_t i, int32_t j, double gap, int64_t *slot) {
    int32_t pa = ~s->a->nodes[i].right, pb = ~s->b->nodes[j].right;
    if (s->turned_number != pb) turn_piece(s, pb);
    const touch_piece *a = &s->a->pieces[pa], *b = &s->turned_piece;
    const touch_corner *ca = s->a->corners + a->first;
    gap = larger(gap, pieces_gap(a, ca, b, s->turned, s->reach + s->want));
    if (!remember(s, i, j, gap, slot)) return false;
    return gap > s->reach || mark_pair(s, a, ca, b, s->turned);
}

typedef struct open_pair {
    int32_t a, b;
    double gap;
} open_pair;

/* Deals with a pair of boxes that is this far apart: remembers it, or puts it on the stack. */
static bool take_pair(walk *s, open_pair x, open_pair *stack, int *depth, int64_t *slot) {
    x.gap -= s->at.rounding;
    if (x.gap > s->reach + s->want) return remember(s, x.a, x.b, x.gap, slot);
    if (s->a->nodes[x.a].right < 0 && s->b->nodes[x.b].right < 0)
        return meet_leaves(s, x.a, x.b, x.gap, slot);
    stack[(*depth)++] = x;
    return true;
}

static const touch_turned *turned_box(walk *s, int32_t node) {
    if (s->box_of[0] == node) return &s->box[0];
    if (s->box_of[1] == node) return &s->box[1];
    s->box[0] = touch_turn(&s->at, &s->b->nodes[node]), s->box_of[0] = node;
    return &s->box[0];
}

/* Splits the larger of two boxes; its halves share what is computed for the other. */
static bool split_pair(walk *s, open_pair x, open_pair *stack, int *depth, int64_t *slot) {
    const touch_node *a = s->a->nodes, *b = s->b->nodes, *na = a + x.a, *nb = b + x.b;
    open_pair left = x, right = x;
    if (na->right >= 0 && (nb->right < 0 || touch_node_size(na) >= touch_node_size(nb))) {
        const touch_turned *t = turned_box(s, x.b);
        left.a = x.a + 1, right.a = na->right;
        left.gap = touch_gap(a + left.a, t), right.gap = touch_gap(a + right.a, t);
    } else {
        left.b = x.b + 1, right.b = nb->right;
        s->box_of[0] = left.b, s->box[0] = touch_turn(&s->at, b + left.b);
        s->box_of[1] = right.b, s->box[1] = touch_turn(&s->at, b + right.b);
        left.gap = touch_gap(na, &s->box[0]), right.gap = touch_gap(na, &s->box[1]);
    }
    return take_pair(s, right, stack, depth, slot) && take_pair(s, left, stack, depth, slot);
}

/* Descends from the pair (i, j); its ends are remembered, the first of them in *slot if that is >= 0. */
static bool descend(walk *s, int32_t i, int32_t j, int64_t slot) {
    open_pair stack[256]; /* each tree is at most 80 high */
    int depth = 0;
    open_pair root = {i, j, touch_gap(&s->a->nodes[i], turned_box(s, j))};
    if (!take_pair(s, root, stack, &depth, &slot)) return false;
    while (depth) {
        open_pair x = stack[--depth];
        if (!split_pair(s, x, stack, &depth, &slot)) return false;
    }
    return true;
}

/* ---- from one question to the next */

/* How far a point of B may have moved in the frame of A: |R x + p - R' x - p'| with |x| <= r is at most
 * |p - p'| + 2 sin(angle / 2) r, and sin(angle / 2) is the vector part of the quaternion between. */
static double motion(const touch_tree *b, pose from, pose to) {
    quat between = quat_mul(quat_conj(from.rotation), to.rotation);
    double turn = 2 * sqrt(between.x * between.x + between.y * between.y + between.z * between.z);
    return (vec3_distance(from.position, to.position) + turn * b->radius) * (1 + 1e-12);
}

static bool start_anew(walk *s) {
    abut_touch_cache *c = s->cache;
    c->front.count = c->until.count = 0, c->moved = 0;
    if (!descend(s, 0, 0, -1)) return false;
    c->fresh = c->front.count;
    return true;
}

/* Whether the front belongs to these solids and this reach, and is worth keeping. */
static bool fits(const walk *s) {
    const abut_touch_cache *c = s->cache;
    return c->front.count && c->front.count <= 4 * c->fresh + 1024 &&
           c->solid[0] == s->w->s[0]->solid->hash && c->solid[1] == s->w->s[1]->solid->hash &&
           c->reach == s->reach;
}

static bool go_on(walk *s, pose b_in_a) {
    abut_touch_cache *c = s->cache;
    bool keep = fits(s);
    double step = keep ? motion(s->b, c->b_in_a, b_in_a) : 0;
    if (keep && step > 0.05 * s->b->radius) keep = false;
    c->solid[0] = s->w->s[0]->solid->hash, c->solid[1] = s->w->s[1]->solid->hash;
    c->reach = s->reach, c->b_in_a = b_in_a;
    if (!keep) return start_anew(s);
    c->moved += step;
    s->want = 4 * step;
    int64_t count = c->front.count; /* the ends behind are new */
    for (int64_t k = 0; k < count; k++)
        if (!(c->until.data[k] > c->moved) && !descend(s, c->front.data[k].a, c->front.data[k].b, k))
            return false;
    return true;
}

bool touch_pairs(touch_work *w) {
    walk s = {.w = w, .a = &w->s[0]->tree, .b = &w->s[1]->tree, .turned_number = -1, .box_of = {-1, -1}};
    s.reach = 2 * w->epsilon, s.cache = w->options->cache;
    pose b_in_a = pose_relative(touch_tree_frame(s.b, w->s[1]->solid, w->p[1]),
                                touch_tree_frame(s.a, w->s[0]->solid, w->p[0]));
    if (vec3_length(b_in_a.position) > s.a->radius + s.b->radius + s.reach) return true;
    s.at = touch_place(s.a, s.b, b_in_a);
    s.turned = mem_alloc(w->context, (size_t)s.b->most, sizeof *s.turned);
    if (!s.turned) return false;
    bool good = s.cache ? go_on(&s, b_in_a) : descend(&s, 0, 0, -1);
    if (!good && s.cache) s.cache->front.count = s.cache->until.count = 0;
    mem_free(w->context, s.turned, (size_t)s.b->most, sizeof *s.turned);
    return good;
}

/* ---- the cache */

abut_status abut_touch_cache_create(const abut_context *context, abut_touch_cache **cache,
                                    abut_error *error) {
    *cache = mem_calloc(context, 1, sizeof **cache);
    return *cache ? ABUT_OK : fail_memory(error);
}

void abut_touch_cache_free(const abut_context *context, abut_touch_cache *cache) {
    if (!cache) return;
    array_free(context, &cache->front);
    array_free(context, &cache->until);
    mem_free(context, cache, 1, sizeof *cache);
}
