/* Contact points (Baraff 1989, section 4.2): forces at the vertices of the convex hull of a region do
 * whatever forces spread over it do.  A point is its own, a segment has its ends, an area the corners of the
 * hull of its outer loop, counter-clockwise seen from A; holes lie inside. */
#include "contact/touch.h"

typedef struct flat_point {
    double x, y;
    int32_t corner;
} flat_point;

static int left_to_right(const void *user, const void *a, const void *b) {
    (void)user;
    const flat_point *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return (p->y > q->y) - (p->y < q->y);
}

/* Whether the way p, q, r turns left at q by more than the tolerance: the distance of q from the line p r. */
static bool turns_left(flat_point p, flat_point q, flat_point r, double tolerance) {
    double dx = r.x - p.x, dy = r.y - p.y;
    return (q.x - p.x) * dy - (q.y - p.y) * dx > tolerance * sqrt(dx * dx + dy * dy);
}

/* Andrew's chains: below from left to right, above from right to left; `hull` has room for 2 count.  Returns
 * how many. */
static int64_t chains(const flat_point *sorted, int64_t count, flat_point *hull) {
    int64_t n = 0;
    for (int pass = 0; pass < 2; pass++) {
        int64_t base = n;
        for (int64_t i = 0; i < count; i++) {
            flat_point p = sorted[pass ? count - 1 - i : i];
            while (n >= base + 2 && !turns_left(hull[n - 2], hull[n - 1], p, 0)) n--;
            hull[n++] = p;
        }
        n--; /* the last is the first of the other chain */
    }
    return n;
}

/* Drops corners that stand out by no more than the tolerance; after the hull is known, since rounding may
 * order the points of an upright side in any way. */
static int64_t simplify(flat_point *hull, int64_t count, double tolerance) {
    for (int64_t i = 0; i < count && count > 3;) {
        flat_point before = hull[i > 0 ? i - 1 : count - 1], after = hull[i + 1 < count ? i + 1 : 0];
        if (turns_left(before, hull[i], after, tolerance)) {
            i++;
            continue;
        }
        memmove(hull + i, hull + i + 1, (size_t)(count - i - 1) * sizeof *hull);
        count--;
    }
    return count;
}

static bool put(touch_work *w, abut_touch_region *r, vec3 at) {
    abut_touch *t = w->out;
    if (!array_reserve_(w->context, (void **)&t->contacts, &t->capacity[3], t->contact_count + 1,
                        sizeof *t->contacts))
        return false;
    t->contacts[t->contact_count++] = at, r->contacts++;
    return true;
}

static bool put_hull(touch_work *w, abut_touch_region *r, int32_t first, int64_t count) {
    const vec3 *points = w->out->points;
    vec3 n = pose_vector(w->p[1], solid_faces(w->s[1]->solid)[r->b.id].plane.n), u = vec3_orthogonal(n),
         v = vec3_cross(n, u);
    flat_point *flat = mem_alloc(w->context, 3 * (size_t)count, sizeof *flat);
    if (!flat) return false;
    for (int64_t i = 0; i < count; i++) {
        vec3 d = vec3_sub(points[first + i], points[first]);
        flat[i] = (flat_point){vec3_dot(u, d), vec3_dot(v, d), (int32_t)(first + i)};
    }
    bool good = sort_stable(w->context, flat, (size_t)count, sizeof *flat, left_to_right, NULL);
    int64_t corners = good ? simplify(flat + count, chains(flat, count, flat + count), w->epsilon) : 0;
    for (int64_t i = 0; i < corners && good; i++) good = put(w, r, points[flat[count + i].corner]);
    mem_free(w->context, flat, 3 * (size_t)count, sizeof *flat);
    return good;
}

abut_status touch_points(touch_work *w) {
    const abut_touch *t = w->out;
    for (int64_t i = 0; i < t->region_count; i++) {
        abut_touch_region *r = &w->out->regions[i];
        int32_t first = t->loop_start[r->first_loop], count = t->loop_start[r->first_loop + 1] - first;
        r->first_contact = (int32_t)t->contact_count;
        bool good = true;
        if (r->dimension == 2)
            good = put_hull(w, r, first, count);
        else
            for (int32_t c = 0; c < count && good; c++) good = put(w, r, t->points[first + c]);
        if (!good) return fail_memory(w->error);
    }
    return ABUT_OK;
}
