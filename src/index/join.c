/* Joining the parts of polygons to regions: MergeRegions of Bouma and Vanecek 1992, section 4.3.
 *
 * The sides of all parts of one place are split where a corner of another part lies on them; sides that run
 * both ways lie between two parts and vanish; the rest is chained to loops, turning left as sharply as
 * possible so that regions which touch in a point stay separate.
 */
#include "index/index.h"

typedef struct flat_point {
    double x, y;
    vec3 at;
} flat_point;

typedef struct side {
    int32_t a, b;
    bool gone;
} side;

typedef struct loop {
    int64_t first, count; /* corners in `chain` */
    double area;
    int32_t outer; /* the loop that a hole belongs to, or -1 */
} loop;

typedef struct joiner {
    const abut_context *context;
    vec3 u, v;
    double tolerance;
    ARRAY(flat_point) points;
    ARRAY(side) sides;
    ARRAY(int32_t) chain;
    ARRAY(loop) loops;
} joiner;

static double cross2(flat_point a, flat_point b, flat_point c) {
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/* The number of the point, the same for points within tolerance. */
static int32_t point_number(joiner *j, vec3 at) {
    flat_point p = {vec3_dot(j->u, at), vec3_dot(j->v, at), at};
    for (int64_t i = 0; i < j->points.count; i++)
        if (fabs(j->points.data[i].x - p.x) <= j->tolerance &&
            fabs(j->points.data[i].y - p.y) <= j->tolerance)
            return (int32_t)i;
    return array_push(j->context, &j->points, p) ? (int32_t)j->points.count - 1 : -1;
}

/* Whether point p lies within the side, and where. */
static bool is_within(const joiner *j, int32_t a, int32_t b, int32_t p, double *t) {
    if (p == a || p == b) return false;
    flat_point pa = j->points.data[a], pb = j->points.data[b], pp = j->points.data[p];
    double dx = pb.x - pa.x, dy = pb.y - pa.y, length2 = dx * dx + dy * dy;
    *t = ((pp.x - pa.x) * dx + (pp.y - pa.y) * dy) / length2;
    return *t > 0 && *t < 1 && fabs(cross2(pa, pb, pp)) <= j->tolerance * sqrt(length2);
}

/* Sides are split in place at the first point within; the rest is appended and looked at later. */
static bool split_sides(joiner *j) {
    for (int64_t i = 0; i < j->sides.count; i++) {
        int32_t best = -1;
        double nearest = 2, t;
        side s = j->sides.data[i];
        for (int32_t p = 0; p < j->points.count; p++)
            if (is_within(j, s.a, s.b, p, &t) && t < nearest) nearest = t, best = p;
        if (best < 0) continue;
        side rest = {best, s.b, false};
        j->sides.data[i].b = best;
        if (!array_push(j->context, &j->sides, rest)) return false;
    }
    return true;
}

static void cancel_sides(joiner *j) {
    for (int64_t i = 0; i < j->sides.count; i++) {
        side *s = &j->sides.data[i];
        for (int64_t k = i + 1; k < j->sides.count && !s->gone; k++) {
            side *r = &j->sides.data[k];
            if (!r->gone && r->a == s->b && r->b == s->a) r->gone = s->gone = true;
        }
    }
}

/* How far to the left the way a -> b -> c turns, increasing with the angle from -pi to pi. */
static double turn_of(const joiner *j, int32_t a, int32_t b, int32_t c) {
    flat_point pa = j->points.data[a], pb = j->points.data[b], pc = j->points.data[c];
    double ux = pb.x - pa.x, uy = pb.y - pa.y, vx = pc.x - pb.x, vy = pc.y - pb.y;
    double lu = sqrt(ux * ux + uy * uy), lv = sqrt(vx * vx + vy * vy);
    double sine = (ux * vy - uy * vx) / (lu * lv), cosine = (ux * vx + uy * vy) / (lu * lv);
    return sine >= 0 ? 1 - cosine : cosine - 1;
}

static bool trace_loops(joiner *j) {
    for (int64_t i = 0; i < j->sides.count; i++) {
        if (j->sides.data[i].gone) continue;
        loop l = {.first = j->chain.count, .outer = -1};
        int32_t start = j->sides.data[i].a, before = start, here = j->sides.data[i].b;
        j->sides.data[i].gone = true;
        if (!array_push(j->context, &j->chain, start)) return false;
        while (here != start) {
            int64_t best = -1;
            double sharpest = -INFINITY;
            for (int64_t k = 0; k < j->sides.count; k++) {
                side s = j->sides.data[k];
                if (s.gone || s.a != here) continue;
                double turn = turn_of(j, before, here, s.b);
                if (turn > sharpest) sharpest = turn, best = k;
            }
            if (!array_push(j->context, &j->chain, here)) return false;
            if (best < 0) break; /* a gap narrower than the tolerance */
            before = here, here = j->sides.data[best].b;
            j->sides.data[best].gone = true;
        }
        l.count = j->chain.count - l.first;
        if (!array_push(j->context, &j->loops, l)) return false;
    }
    return true;
}

/* Corners that do not turn are dropped, and loops without area. */
static void tidy_loops(joiner *j) {
    for (int64_t i = 0; i < j->loops.count; i++) {
        loop *l = &j->loops.data[i];
        int32_t *c = j->chain.data + l->first;
        for (bool changed = true; changed && l->count > 2;) {
            changed = false;
            for (int64_t k = 0; k < l->count && l->count > 2; k++) {
                int32_t a = c[(k + l->count - 1) % l->count], p = c[k], b = c[(k + 1) % l->count];
                double t;
                if (a != b && !is_within(j, a, b, p, &t)) continue;
                memmove(c + k, c + k + 1, (size_t)(l->count - k - 1) * sizeof *c);
                l->count--, changed = true;
            }
        }
        double area = 0, around = 0;
        for (int64_t k = 0; k < l->count; k++) {
            flat_point p = j->points.data[c[k]], q = j->points.data[c[(k + 1) % l->count]],
                       o = j->points.data[c[0]];
            area += cross2(o, p, q) / 2;
            around += fabs(q.x - p.x) + fabs(q.y - p.y);
        }
        l->area = l->count < 3 || fabs(area) <= j->tolerance * around ? 0 : area;
    }
}

static bool contains(const joiner *j, const loop *l, flat_point p) {
    bool inside = false;
    const int32_t *c = j->chain.data + l->first;
    for (int64_t k = 0; k < l->count; k++) {
        flat_point a = j->points.data[c[k]], b = j->points.data[c[k + 1 < l->count ? k + 1 : 0]];
        if ((a.y > p.y) != (b.y > p.y)) inside ^= p.x < a.x + (b.x - a.x) * (p.y - a.y) / (b.y - a.y);
    }
    return inside;
}

/* A hole belongs to the smallest loop around the middle of one of its sides. */
static void place_holes(joiner *j) {
    for (int64_t i = 0; i < j->loops.count; i++) {
        loop *hole = &j->loops.data[i];
        if (hole->area >= 0) continue;
        flat_point p = j->points.data[j->chain.data[hole->first]],
                   q = j->points.data[j->chain.data[hole->first + 1]];
        flat_point middle = {(p.x + q.x) / 2, (p.y + q.y) / 2, p.at};
        for (int64_t k = 0; k < j->loops.count; k++) {
            const loop *l = &j->loops.data[k];
            if (l->area > 0 && contains(j, l, middle) &&
                (hole->outer < 0 || l->area < j->loops.data[hole->outer].area))
                hole->outer = (int32_t)k;
        }
    }
}

/* ---- the result */
static bool add_loop(const joiner *j, const loop *l, abut_regions *r) {
    const abut_context *context = j->context;
    if (!array_reserve_(context, (void **)&r->corner_start, &r->capacity[3], r->loop_count + 2,
                        sizeof *r->corner_start) ||
        !array_reserve_(context, (void **)&r->points, &r->capacity[4], r->corner_count + l->count,
                        sizeof *r->points))
        return false;
    for (int64_t k = 0; k < l->count; k++)
        r->points[r->corner_count++] = j->points.data[j->chain.data[l->first + k]].at;
    r->corner_start[++r->loop_count] = (int32_t)r->corner_count;
    return true;
}

static bool add_regions(const joiner *j, abut_place place, abut_regions *r) {
    const abut_context *context = j->context;
    for (int64_t i = 0; i < j->loops.count; i++) {
        const loop *outer = &j->loops.data[i];
        if (outer->area <= 0) continue;
        if (!array_reserve_(context, (void **)&r->places, &r->capacity[0], r->count + 1, sizeof *r->places) ||
            !array_reserve_(context, (void **)&r->areas, &r->capacity[1], r->count + 1, sizeof *r->areas) ||
            !array_reserve_(context, (void **)&r->loop_start, &r->capacity[2], r->count + 2,
                            sizeof *r->loop_start) ||
            !add_loop(j, outer, r))
            return false;
        double area = outer->area;
        for (int64_t k = 0; k < j->loops.count; k++) {
            const loop *hole = &j->loops.data[k];
            if (hole->area >= 0 || hole->outer != i) continue;
            if (!add_loop(j, hole, r)) return false;
            area += hole->area;
        }
        r->places[r->count] = place, r->areas[r->count] = area;
        r->loop_start[++r->count] = (int32_t)r->loop_count;
    }
    return true;
}

static bool join_place(joiner *j, const abut_parts *parts, abut_place place, abut_regions *regions) {
    j->points.count = j->sides.count = j->chain.count = j->loops.count = 0;
    for (int64_t i = 0; i < parts->count; i++) {
        if (parts->places[i].kind != place.kind || parts->places[i].id != place.id) continue;
        int32_t first = -1, last = -1;
        for (int32_t c = parts->start[i]; c < parts->start[i + 1]; c++) {
            int32_t p = point_number(j, parts->points[c]);
            side s = {last, p, false};
            if (p < 0 || (last >= 0 && last != p && !array_push(j->context, &j->sides, s))) return false;
            if (first < 0) first = p;
            last = p;
        }
        side s = {last, first, false};
        if (last != first && !array_push(j->context, &j->sides, s)) return false;
    }
    if (!split_sides(j)) return false;
    cancel_sides(j);
    if (!trace_loops(j)) return false;
    tidy_loops(j);
    place_holes(j);
    return add_regions(j, place, regions);
}

abut_status abut_parts_join(const abut_context *context, const abut_parts *parts, abut_vec3 normal,
                            double epsilon, abut_regions *regions, abut_error *error) {
    memset(regions, 0, sizeof *regions);
    joiner j = {.context = context, .tolerance = epsilon / 4};
    vec3 n = vec3_unit(normal);
    j.u = vec3_orthogonal(n), j.v = vec3_cross(n, j.u);
    bool good =
        array_reserve_(context, (void **)&regions->loop_start, &regions->capacity[2], 1, sizeof(int32_t)) &&
        array_reserve_(context, (void **)&regions->corner_start, &regions->capacity[3], 1, sizeof(int32_t));
    if (good) regions->loop_start[0] = regions->corner_start[0] = 0;
    for (int64_t i = 0; good && i < parts->count; i++) {
        bool seen = false;
        for (int64_t k = 0; k < i && !seen; k++)
            seen =
                parts->places[k].kind == parts->places[i].kind && parts->places[k].id == parts->places[i].id;
        if (!seen) good = join_place(&j, parts, parts->places[i], regions);
    }
    array_free(context, &j.points), array_free(context, &j.sides);
    array_free(context, &j.chain), array_free(context, &j.loops);
    if (good) return ABUT_OK;
    abut_regions_free(context, regions);
    return fail_memory(error);
}

void abut_regions_free(const abut_context *context, abut_regions *r) {
    mem_free(context, r->places, (size_t)r->capacity[0], sizeof *r->places);
    mem_free(context, r->areas, (size_t)r->capacity[1], sizeof *r->areas);
    mem_free(context, r->loop_start, (size_t)r->capacity[2], sizeof *r->loop_start);
    mem_free(context, r->corner_start, (size_t)r->capacity[3], sizeof *r->corner_start);
    mem_free(context, r->points, (size_t)r->capacity[4], sizeof *r->points);
    memset(r, 0, sizeof *r);
}
