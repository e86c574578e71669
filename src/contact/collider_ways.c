/* Ways out of an overlap of a solid with dents (A) and a curved shape (B): which of them B must take.
 *
 * A place where the two overlap has a point x of B, a point y of A on its boundary, and x = y - d n: a way
 * out of the length d.  Not each is one.  Beneath a face on the far side of the solid x lies in another place
 * altogether, or outside; from within a thin wall two ways lead out, and the longer one is none.
 *
 *     ________________       A translation that parts the two has to bring each point of B out of A, and each
 *    |    y           |      point of A out of B.  So
 *    |....|...        |
 *     \   x  B :      |          d <= distance of x from the boundary of A, x inside A       (1)
 *      '......'       |          d <= distance of y from the surface of B, y inside B        (2)
 *
 * each prove that none is shorter than d.  Places for which one of the two holds are contacts: what they tell
 * is never deeper than the overlap is.  In shallow overlaps one of them holds wherever B is smooth.
 *
 * Where neither does (a rim near an edge), there is an overlap at least, if x is inside A or y inside B. Such
 * a way counts while it is short and no shorter one leads out of the same part.
 *
 * All that does not explain an overlap, if nothing pushes though there is one (by such a place, or by what
 * the cells of the index say), or if a vertex of A is deeper in B than anything pushes.  Then B is deep
 * inside, or at a saddle (a vertex of edges that bend towards each other), where it may touch several faces
 * and edges at once and none of them alone.  All features farther and farther away are asked, and the
 * shortest way counts that leads B out of all cells, as far as it is proved; at a saddle the vertex pushes by
 * itself. */
#include "contact/collider_curved.h"
#include "contact/element.h"

/* How much of a length has to be left to be as long: of (1) and (2), and where B is asked whether it is free
 * of the cells. */
static const double MUCH = 0.99;

/* ---- telling */

static void tell_point(curved_search *q, vec3 n, const curved_point *at) {
    if (at->gap > q->config->reach) return;
    gather_add(q->found, (gather_point){.at = pose_point(q->frame, vec3_axpy(at->x, -at->gap / 2, n)),
                                        .normal = vec3_neg(pose_vector(q->frame, n)),
                                        .gap = at->gap,
                                        .id = manifold_id(at->a, at->b),
                                        .vertex = -1});
}

static void tell(curved_search *q, const curved_place *p) {
    for (int i = 0; i < p->count; i++) tell_point(q, p->n, &p->points[i]);
}

/* ---- judging */

static vec3 other_end(const curved_way *w) { return vec3_axpy(w->at.x, -w->at.gap, w->n); }

static double depth_in_b(const curved_search *q, vec3 y) {
    cast_hit hit;
    return cast_point(q->b, q->pb, y, INFINITY, &hit) ? -hit.t : 0;
}

/* Of a point inside A; no more than `most`. */
static double depth_in_a(const curved_search *q, vec3 x, double most) {
    vec3 on, normal, point = vec3_add(x, q->boundary->solid->origin);
    if (!boundary_holds(q->boundary, x)) return 0;
    return boundary_nearest(q->boundary, point, &most, &on, &normal) ? -most : most;
}

/* The depth of y in an ellipsoid is at most the way to its surface straight away from its centre. */
static double most_depth_in_b(const curved_search *q, vec3 y) {
    if (q->shape->kind != ABUT_CONVEX_ELLIPSOID) return INFINITY;
    vec3 x = pose_unpoint(q->pb, y), e = q->shape->axes;
    double u = vec3_length(vec3_make(x.x / e.x, x.y / e.y, x.z / e.z));
    return u > 0 ? vec3_length(x) * (1 / u - 1) : INFINITY;
}

/* (1) or (2) */
static bool must_take(const curved_search *q, const curved_way *w) {
    double d = -MUCH * w->at.gap;
    vec3 y = other_end(w);
    return (most_depth_in_b(q, y) >= d && depth_in_b(q, y) >= d) || depth_in_a(q, w->at.x, d) >= d;
}

static bool shows_overlap(const curved_search *q, const curved_way *w) {
    return depth_in_a(q, w->at.x, 2 * q->slack) > q->slack || depth_in_b(q, other_end(w)) > q->slack;
}

/* Whether two ways lead out of one part that A and B share: they come nearer to each other than w is long, or
 * what lies half way between them is in both. */
static bool is_same_part(const curved_search *q, const curved_way *w, const curved_way *other) {
    vec3 p[2] = {w->at.x, other_end(w)}, r[2] = {other->at.x, other_end(other)};
    if (vec3_length(element_between(p, r)) < -w->at.gap) return true;
    vec3 middle = vec3_lerp(vec3_lerp(p[0], p[1], 0.5), vec3_lerp(r[0], r[1], 0.5), 0.5);
    return boundary_holds(q->boundary, middle) && depth_in_b(q, middle) > 0;
}

/* Whether B, made smaller and moved, has a part of a cell. */
static bool meets_cells(const curved_search *q, double scale, vec3 by) {
    abut_convex small = *q->shape;
    small.radius *= scale, small.length *= scale, small.axes = vec3_scale(small.axes, scale);
    pose at = q->pb;
    at.position = vec3_add(vec3_add(at.position, by), q->boundary->solid->origin);
    return collider_cells_meet(&q->a->cells, &small, at, collider_bounds(q->b, at));
}

static bool leads_out(const curved_search *q, const curved_way *w) {
    return !meets_cells(q, MUCH, vec3_scale(w->n, -w->at.gap));
}

/* ---- offers */

/* When the room is used up the longest way makes place. */
static void keep_way(curved_search *q, curved_way w) {
    if (q->way_count < CURVED_WAYS) {
        q->ways[q->way_count++] = w;
        return;
    }
    int longest = 0;
    for (int i = 1; i < CURVED_WAYS; i++)
        if (q->ways[i].at.gap < q->ways[longest].at.gap) longest = i;
    if (w.at.gap > q->ways[longest].at.gap) q->ways[longest] = w;
}

void curved_offer(curved_search *q, const curved_place *p) {
    if (p->count == 0) return;
    curved_way w = {.n = p->n, .at = p->points[0]};
    for (int i = 1; i < p->count; i++)
        if (p->points[i].gap < w.at.gap) w.at = p->points[i];
    bool counts = !q->is_deep && w.at.gap >= -q->slack;
    /* where B lies flat, any point that is as deep may prove it */
    for (int i = 0; i < p->count && !counts && !q->is_deep; i++) {
        curved_way also = {.n = p->n, .at = p->points[i]};
        counts = also.at.gap <= MUCH * w.at.gap && must_take(q, &also);
    }
    if (counts) tell(q, p);
    w.counts = counts;
    if (w.at.gap < -q->slack) keep_way(q, w);
}

/* ---- ways that are not proved */

/* Whether a shorter way, that counts or may count, leads out of the same part. */
static bool is_doubtful(const curved_search *q, int way) {
    const curved_way *w = &q->ways[way];
    for (int i = 0; i < q->way_count; i++) {
        const curved_way *other = &q->ways[i];
        if (other->at.gap > w->at.gap && (other->counts || other->is_real) && is_same_part(q, w, other))
            return true;
    }
    return false;
}

/* Of the short ones those that count: the longest that leads out of all cells; 0: none does. */
static double settle_short(curved_search *q) {
    const double little = 0.25 * fmin(q->b->core, q->boundary->depth);
    double longest = 0;
    for (int i = 0; i < q->way_count; i++) {
        curved_way *w = &q->ways[i];
        w->is_real = !w->counts && -w->at.gap <= little && shows_overlap(q, w);
    }
    for (int i = 0; i < q->way_count; i++) {
        const curved_way *w = &q->ways[i];
        if (!w->is_real || is_doubtful(q, i)) continue;
        tell_point(q, w->n, &w->at);
        if (-w->at.gap > longest && leads_out(q, w)) longest = -w->at.gap;
    }
    return longest;
}

/* Whether what was told explains the overlap: something pushes, and no vertex of A is deeper in B than that.
 */
static bool settle_near(curved_search *q) {
    double longest = settle_short(q);
    for (int i = 0; i < q->way_count; i++)
        if (q->ways[i].counts) longest = fmax(longest, -q->ways[i].at.gap);
    return longest > 0 && longest >= -MUCH * q->corner.at.gap;
}

static bool overlaps(const curved_search *q) {
    if (q->corner.at.gap < -q->slack) return true;
    for (int i = 0; i < q->way_count; i++)
        if (shows_overlap(q, &q->ways[i])) return true;
    return meets_cells(q, MUCH, vec3_zero());
}

/* ---- deep inside */

/* The least translation that is proved: by (1) and (2) with the ends of all ways, the vertex that is deepest
 * in B and the middle of B; and by (2) with a point of A within k B, which is (1 - k) times the radius of a
 * ball in B away from B's surface. */
static double proved_depth(const curved_search *q) {
    enum { HALVINGS = 6 };
    double most = fmax(-q->corner.at.gap, depth_in_a(q, q->pb.position, q->size)), free = 0;
    double meets = meets_cells(q, MUCH, vec3_zero()) ? MUCH : 1;
    for (int i = 0; i < q->way_count; i++) {
        most = fmax(most, depth_in_b(q, other_end(&q->ways[i])));
        most = fmax(most, depth_in_a(q, q->ways[i].at.x, q->size));
    }
    for (int i = 0; i < HALVINGS && meets < 1; i++) {
        double middle = (meets + free) / 2;
        *(meets_cells(q, middle, vec3_zero()) ? &meets : &free) = middle;
    }
    return fmax(most, (1 - meets) * q->b->core);
}

/* The shortest way not yet tried, of those that are known to be all up to their length; -1: none. */
static int next_way(const curved_search *q, double all) {
    int best = -1;
    for (int i = 0; i < q->way_count; i++)
        if (!q->ways[i].is_tried && -q->ways[i].at.gap <= all &&
            (best < 0 || q->ways[i].at.gap > q->ways[best].at.gap))
            best = i;
    return best;
}

/* The shortest way that leads out of all cells; NULL: none up to that length does. */
static const curved_way *find_way_out(curved_search *q, double all) {
    for (int i = next_way(q, all); i >= 0; i = next_way(q, all)) {
        q->ways[i].is_tried = true;
        if (leads_out(q, &q->ways[i])) return &q->ways[i];
    }
    return NULL;
}

static void tell_at_most(curved_search *q, const curved_way *w, double depth) {
    curved_point at = w->at;
    at.gap = fmax(at.gap, -depth);
    tell_point(q, w->n, &at);
}

/* Out of the hull of the solid, if by nothing else. */
static void leave_hull(curved_search *q, double depth) {
    manifold m;
    pose pa = q->frame, pb = pose_mul(q->frame, q->pb);
    pa.position = vec3_sub(pa.position, pose_vector(q->frame, q->boundary->solid->origin));
    manifold_collide(&q->a->convex, pa, &q->b->convex, pb, q->config, NULL, &m);
    for (int i = 0; i < m.count; i++)
        gather_add(q->found, (gather_point){.at = m.points[i].at,
                                            .normal = m.normal,
                                            .gap = fmax(m.points[i].gap, -depth),
                                            .id = m.points[i].id,
                                            .vertex = -1});
}

/* A still shorter way may slide along several faces at once, so that no more is told of its length than is
 * proved.  At a saddle that is the rule: what leads out in one piece is a long way round, and the vertex
 * takes its shortest way out of B. */
void curved_leave(curved_search *q) {
    const curved_way *w = NULL;
    box near = collider_bounds(q->b, q->pb);
    q->is_deep = true;
    for (double all = 2 * q->b->core; !w && all < 4 * q->size; all *= 2) {
        q->way_count = 0;
        curved_find(q, box_grow(near, all));
        w = find_way_out(q, all);
    }
    double depth = proved_depth(q);
    if (!(depth > q->slack)) return;
    if (q->corner.at.gap < -q->slack && !(w && -w->at.gap <= 2 * depth))
        tell_at_most(q, &q->corner, depth);
    else if (w)
        tell_at_most(q, w, depth);
    else
        leave_hull(q, depth);
}

void curved_settle(curved_search *q) {
    if (!settle_near(q) && overlaps(q)) curved_leave(q);
}
