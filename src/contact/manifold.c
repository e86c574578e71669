/* Manifolds pair by pair; see the table in manifold.h.  Each way collects points, the last step keeps four.
 */
#include "contact/manifold.h"
#include "convex/pair.h"

manifold_config manifold_default_config(void) { return (manifold_config){.reach = 0.02, .angle = 0.2}; }

bool manifold_shape_fits(const manifold_shape *s) {
    return s->is_halfspace || shape_most_corners(&s->convex) <= MANIFOLD_ROOM / 2 - 1;
}

/* Two bits of kind and thirty of number for each feature. */
uint64_t manifold_id(abut_feature a, abut_feature b) {
    uint64_t x = (uint64_t)a.kind << 30 | ((uint32_t)a.id & 0x3fffffffu);
    uint64_t y = (uint64_t)b.kind << 30 | ((uint32_t)b.id & 0x3fffffffu);
    return x << 32 | y;
}

/* Points of a pair while they are collected. */
typedef struct collection {
    manifold_point points[MANIFOLD_ROOM];
    int count;
    double reach;
} collection;

static void collect(collection *c, vec3 a, vec3 b, double gap, abut_feature fa, abut_feature fb) {
    if (gap > c->reach || c->count == MANIFOLD_ROOM) return;
    c->points[c->count++] = (manifold_point){vec3_lerp(a, b, 0.5), gap, manifold_id(fa, fb)};
}

static abut_feature vertex(int32_t id) { return (abut_feature){ABUT_FEATURE_VERTEX, id}; }
static abut_feature face(int32_t id) { return (abut_feature){ABUT_FEATURE_FACE, id}; }

/* ---- thinning out */

#define LEAN 0.2 /* radians: features that face each other within it take part whole */

static double area(vec3 n, vec3 a, vec3 b, vec3 c) {
    return vec3_dot(n, vec3_cross(vec3_sub(b, a), vec3_sub(c, a)));
}

/* How much the point adds to the first `chosen` of the picks: depth, distance, area, area beyond a side of
 * the triangle.  A point that is farther away than the deepest by d meets the other body only after a turn by
 * d over its distance, so it counts as if it lay nearer by d / LEAN: without that the upper corners of a
 * plate that leans, a hair farther out than the lower ones, were chosen in their place.  False: it adds
 * nothing. */
static bool gain(const manifold_point *p, const int *pick, int chosen, vec3 n, int i, double *out) {
    *out = -p[i].gap;
    if (chosen == 0) return true;
    double nearer = (fmax(p[i].gap, 0) - fmax(p[pick[0]].gap, 0)) / LEAN;
    double side = vec3_distance(p[chosen == 1 ? i : pick[1]].at, p[pick[0]].at);
    if (chosen == 1) {
        *out = side * (side - nearer);
        return side > 0;
    }
    double wide = area(n, p[pick[0]].at, p[pick[1]].at, p[chosen == 2 ? i : pick[2]].at);
    if (chosen == 2) {
        *out = fabs(wide) - side * nearer;
        return wide != 0;
    }
    *out = -INFINITY;
    for (int k = 0; k < 3; k++) {
        vec3 from = p[pick[k]].at, to = p[pick[(k + 1) % 3]].at;
        double beyond = area(n, from, to, p[i].at) * (wide > 0 ? -1 : 1);
        if (beyond > 0) *out = fmax(*out, beyond - vec3_distance(from, to) * nearer);
    }
    return *out > -INFINITY;
}

/* A choice of points under way. */
typedef struct choice {
    const manifold_point *p;
    int count, chosen, pick[MANIFOLD_POINTS];
    vec3 n;
    const manifold_config *config;
} choice;

static bool is_picked(const choice *c, int i) {
    for (int k = 0; k < c->chosen; k++)
        if (c->pick[k] == i) return true;
    return false;
}

/* Of either order of the two shapes. */
static bool has_borne(const choice *c, int i) {
    uint64_t id = c->p[i].id, turned = id << 32 | id >> 32;
    for (int k = 0; k < c->config->bearing_count; k++)
        if (c->config->bearing[k] == id || c->config->bearing[k] == turned) return true;
    return false;
}

/* The point with a gap of at most `most` that adds most to those that are chosen; -1: all lie within. */
static int best_of(const choice *c, double most, bool bearing) {
    double best = -INFINITY, more;
    int next = -1;
    for (int i = 0; i < c->count; i++) {
        if (c->p[i].gap > most || (bearing && !has_borne(c, i))) continue;
        if (gain(c->p, c->pick, c->chosen, c->n, i, &more) && more > best) best = more, next = i;
    }
    return next;
}

/* Adds points with a gap of at most `most`; true: there are enough of them. */
static bool pick_within(choice *c, double most) {
    int found = 0;
    for (int i = 0; i < c->count; i++) found += c->p[i].gap <= most;
    if (found <= MANIFOLD_POINTS) {
        for (int i = 0; i < c->count; i++)
            if (c->p[i].gap <= most && !is_picked(c, i)) c->pick[c->chosen++] = i;
        return found == MANIFOLD_POINTS;
    }
    while (c->chosen < MANIFOLD_POINTS) {
        int next = c->chosen > 0 && c->config->bearing_count > 0 ? best_of(c, most, true) : -1;
        if (next < 0) next = best_of(c, most, false);
        if (next < 0) break;
        c->pick[c->chosen++] = next;
    }
    return true;
}

void manifold_thin_out(const manifold_point *p, int count, vec3 n, const manifold_config *config,
                       manifold *out) {
    choice c = {.p = p, .count = count, .n = n, .config = config};
    if (!pick_within(&c, config->soon) && !pick_within(&c, config->near)) pick_within(&c, INFINITY);
    /* in the order of the polygon, so that the same points come in the same order */
    out->count = 0;
    for (int i = 0; i < count; i++)
        if (is_picked(&c, i)) out->points[out->count++] = p[i];
}

/* ---- a half-space and a shape */

/* What a plane n . x = d (world, n the contact normal) asks of a shape. */
typedef struct plane_view {
    const abut_convex *a;
    pose at;
    vec3 n, facing, lowest; /* facing: against n in the axes of A; lowest: the support, world */
    double d, slope;
} plane_view;

static void collect_below(const plane_view *v, vec3 x, int32_t id, collection *c) {
    double gap = vec3_dot(v->n, x) - v->d;
    collect(c, x, vec3_axpy(x, -gap, v->n), gap, vertex(id), face(0));
}

/* Whether the vertex takes part: seen from the lowest one it rises by less than the angle. */
static bool is_flat(const plane_view *v, vec3 x) {
    vec3 from = vec3_sub(x, v->lowest);
    double rise = vec3_dot(v->n, from);
    return rise <= v->slope * sqrt(fmax(vec3_length2(from) - rise * rise, 0));
}

/* All vertices of a hull that take part, from the lowest one to neighbours of those that do.  Those of one
 * face would not do: where faces meet at less than the angle, a hull that lies on one of them sinks in with
 * the others, tips over to the next, and rocks for ever. */
static void collect_vertices(const plane_view *v, int32_t support, collection *c) {
    const abut_hull *h = v->a->hull;
    int32_t list[MANIFOLD_ROOM] = {support};
    int count = 1;
    collect_below(v, v->lowest, support, c);
    for (int i = 0; i < count; i++) {
        int32_t from = list[i];
        for (int32_t k = hull_star_start(h)[from]; k < hull_star_start(h)[from + 1]; k++) {
            int32_t to = hull_stars(h)[k].vertex;
            vec3 x = pose_point(v->at, vec3_add(h->center, hull_vertex(h, to)));
            bool known = false;
            for (int j = 0; j < count && !known; j++) known = list[j] == to;
            if (known || count == MANIFOLD_ROOM || vec3_dot(v->n, x) - v->d > c->reach || !is_flat(v, x))
                continue;
            list[count++] = to;
            collect_below(v, x, to, c);
        }
    }
}

static void collect_corners(const plane_view *v, int32_t support, double angle, collection *c) {
    int32_t id, edge;
    abut_feature f = shape_feature(v->a, v->facing, support, angle);
    int before = c->count;
    for (int i = 0; i < shape_corner_count(v->a, f); i++) {
        vec3 corner = vec3_add(shape_center(v->a), shape_corner(v->a, f, v->facing, i, &id, &edge));
        collect_below(v, pose_point(v->at, corner), id, c);
    }
    if (c->count == before) collect_below(v, v->lowest, -1, c);
}

/* A shape over the plane n . x = d (world); the contact normal is n. */
static void collide_plane(const abut_convex *a, pose pa, vec3 n, double d, double angle, collection *c) {
    int32_t support;
    plane_view v = {a, pa, n, quat_unrotate(pa.rotation, vec3_neg(n)), vec3_zero(), d, angle};
    v.lowest = pose_point(pa, vec3_add(shape_center(a), shape_support(a, v.facing, &support)));
    if (vec3_dot(n, v.lowest) - d > c->reach) return;
    if (a->kind == ABUT_CONVEX_HULL)
        collect_vertices(&v, support, c);
    else
        collect_corners(&v, support, angle, c);
}

/* ---- points and segments with a radius: spheres and capsules */

typedef struct segment {
    vec3 p, e; /* p + s e, 0 <= s <= 1; e = 0 for a sphere */
    double radius;
} segment;

static bool is_round(const manifold_shape *s) {
    return !s->is_halfspace &&
           (s->convex.kind == ABUT_CONVEX_SPHERE || s->convex.kind == ABUT_CONVEX_CAPSULE);
}

static segment core_of(const abut_convex *s, pose p) {
    double half = s->kind == ABUT_CONVEX_CAPSULE ? s->length / 2 : 0;
    vec3 e = quat_rotate(p.rotation, vec3_make(0, 0, half));
    return (segment){vec3_sub(p.position, e), vec3_scale(e, 2), s->radius};
}

static double clamp01(double x) { return fmin(1, fmax(0, x)); }

/* The parameters of the closest points of two segments: the free minimum of |p + s e - q - t f|^2, then each
 * parameter in turn clamped and the other one found anew. */
static void closest_parameters(const segment *a, const segment *b, double *s, double *t) {
    vec3 d = vec3_sub(b->p, a->p);
    double ee = vec3_length2(a->e), ff = vec3_length2(b->e), ef = vec3_dot(a->e, b->e);
    double de = vec3_dot(d, a->e), df = vec3_dot(d, b->e), det = ee * ff - ef * ef;
    *s = det > 1e-12 * ee * ff ? clamp01((de * ff - df * ef) / det) : 0;
    *t = ff > 0 ? clamp01((ef * *s - df) / ff) : 0;
    *s = ee > 0 ? clamp01((ef * *t + de) / ee) : 0;
}

static void collect_round(const segment *a, const segment *b, double s, double t, vec3 n, int32_t id,
                          collection *c) {
    vec3 x = vec3_axpy(a->p, s, a->e), y = vec3_axpy(b->p, t, b->e);
    double gap = vec3_dot(n, vec3_sub(x, y)) - a->radius - b->radius;
    collect(c, vec3_axpy(x, -a->radius, n), vec3_axpy(y, b->radius, n), gap, vertex(id), vertex(id));
}

static vec3 collide_round(const segment *a, const segment *b, double angle, collection *c) {
    double s, t, t0, t1, ee = vec3_length2(a->e), ff = vec3_length2(b->e), ef = vec3_dot(a->e, b->e);
    closest_parameters(a, b, &s, &t);
    vec3 v = vec3_sub(vec3_axpy(a->p, s, a->e), vec3_axpy(b->p, t, b->e));
    vec3 n = vec3_length2(v) > 0 ? vec3_unit(v) : vec3_unit(vec3_cross(a->e, b->e));
    if (vec3_length2(n) <= 0) n = ee > 0 ? vec3_orthogonal(vec3_unit(a->e)) : vec3_make(0, 0, 1);
    /* nearly parallel: the two ends of the common piece of b */
    bool parallel = ee > 0 && ff > 0 && ef * ef >= (1 - angle * angle) * ee * ff;
    if (parallel) {
        t0 = clamp01(vec3_dot(vec3_sub(a->p, b->p), b->e) / ff);
        t1 = clamp01(vec3_dot(vec3_sub(vec3_add(a->p, a->e), b->p), b->e) / ff);
        parallel = fabs(t1 - t0) * sqrt(ff) > 1e-3 * (a->radius + b->radius);
    }
    if (!parallel) {
        collect_round(a, b, s, t, n, 0, c);
        return n;
    }
    for (int k = 0; k < 2; k++) {
        double at = k ? t1 : t0;
        double on = clamp01(vec3_dot(vec3_sub(vec3_axpy(b->p, at, b->e), a->p), a->e) / ee);
        collect_round(a, b, on, at, n, k, c);
    }
    return n;
}

/* ---- a sphere or capsule and a hull: A is the hull */

/* The piece of the segment above the face, cut by the planes through the face's edges along its normal. */
static bool cut_by_face(const abut_hull *h, const hull_face *f, vec3 p, vec3 e, double t[2]) {
    for (int i = 0; i < f->corner_count; i++) {
        vec3 x = hull_vertex(h, hull_corners(h)[f->first_corner + i].vertex);
        vec3 y = hull_vertex(h, hull_corners(h)[f->first_corner + (i + 1) % f->corner_count].vertex);
        vec3 inward = vec3_cross(f->n, vec3_sub(y, x));
        double d0 = vec3_dot(inward, vec3_sub(p, x)), d1 = d0 + vec3_dot(inward, e);
        if (d0 < 0 && d1 < 0) return false;
        if (d0 < 0) t[0] = fmax(t[0], d0 / (d0 - d1));
        if (d1 < 0) t[1] = fmin(t[1], d0 / (d0 - d1));
    }
    return t[0] <= t[1];
}

/* False when the cores overlap: then the general way is needed. */
static bool collide_hull_round(const abut_convex *hull, pose ph, const abut_convex *round, pose pr,
                               double angle, collection *c, vec3 *n) {
    convex_pair p = {.a = hull, .b = round, .ra = quat_matrix(ph.rotation), .rb = quat_matrix(pr.rotation)};
    vec3 center = pose_point(ph, shape_center(hull)), on_hull, v;
    p.c = vec3_sub(pr.position, center), p.size = shape_radius(hull) + shape_radius(round);
    int steps;
    if (!convex_closest_cores(&p, &on_hull, &v, &steps)) return false;
    double far = vec3_length(v);
    *n = vec3_scale(v, 1 / far);
    if (far - round->radius > c->reach) return true;
    /* the face that the capsule may lie on */
    const abut_hull *h = hull->hull;
    vec3 facing = vec3_neg(mat3_tmul_vec(p.ra, *n));
    segment core = core_of(round, pr);
    abut_feature f = hull_feature(h, facing, hull_support(h, facing), angle);
    if (round->kind == ABUT_CONVEX_CAPSULE && f.kind == ABUT_FEATURE_FACE) {
        const hull_face *hf = &hull_faces(h)[f.id];
        vec3 q = mat3_tmul_vec(p.ra, vec3_sub(core.p, center)), e = mat3_tmul_vec(p.ra, core.e);
        double t[2] = {0, 1};
        bool lies = fabs(vec3_dot(hf->n, e)) <= angle * vec3_length(e);
        if (lies && cut_by_face(h, hf, q, e, t) && t[1] - t[0] > 1e-3) {
            double least = INFINITY;
            for (int k = 0; k < 2; k++) {
                vec3 x = vec3_axpy(core.p, t[k], core.e);
                double height = vec3_dot(hf->n, vec3_axpy(q, t[k], e)) - hf->d;
                vec3 a = vec3_axpy(x, -height, mat3_mul_vec(p.ra, hf->n)),
                     b = vec3_axpy(x, round->radius, *n);
                collect(c, a, b, height - round->radius, f, vertex(k));
                least = fmin(least, height);
            }
            /* nearest beside the face: that point too */
            if (far >= least - 1e-9 * p.size) return true;
        }
    }
    vec3 a = vec3_add(center, on_hull), b = vec3_axpy(vec3_sub(a, v), round->radius, *n);
    collect(c, a, b, far - round->radius, face(0), vertex(2));
    return true;
}

/* ---- all else: growth distance and features */

/* Overlaps of more than that part of the smaller core are told along the shortest way, where one of the two
 * is flat or long: the ray between the centres of round ones leaves by the nearest side, or by one hardly
 * farther.
 */
#define DEEP 0.02
#define LONG 2.5 /* its radius, by its core: of a cube 1.7, of a regular tetrahedron 3 */

static bool is_long(const manifold_shape *s) { return shape_radius(&s->convex) > LONG * s->core; }

static vec3 collide_general(const manifold_shape *x, pose pa, const manifold_shape *y, pose pb,
                            const manifold_config *config, abut_convex_cache *cache, collection *c) {
    const abut_convex *a = &x->convex, *b = &y->convex;
    abut_convex_point points[MANIFOLD_ROOM];
    double deep = is_long(x) || is_long(y) ? DEEP * fmin(x->core, y->core) : 0;
    abut_convex_options options = {.angle = config->angle, .far_distance = config->reach, .deep = deep};
    abut_convex_result r = {.points = points, .capacity = MANIFOLD_ROOM};
    if (convex_query(a, pa, b, pb, &options, cache, &r) != ABUT_OK || r.is_far) return r.normal;
    for (int i = 0; i < r.point_count; i++)
        collect(c, points[i].a, points[i].b, points[i].distance, points[i].feature[0], points[i].feature[1]);
    return r.normal;
}

/* ---- */

void manifold_turn(manifold *m) {
    m->normal = vec3_neg(m->normal);
    for (int i = 0; i < m->count; i++) m->points[i].id = m->points[i].id << 32 | m->points[i].id >> 32;
}

void manifold_collide(const manifold_shape *a, pose pa, const manifold_shape *b, pose pb,
                      const manifold_config *config, abut_convex_cache *cache, manifold *out) {
    collection c;
    c.count = 0, c.reach = config->reach;
    out->count = 0, out->normal = vec3_zero(), out->key = 0;
    if (a->is_halfspace || (is_round(a) && !b->is_halfspace && !is_round(b))) {
        if (b->is_halfspace) return; /* two half-spaces */
        manifold_collide(b, pb, a, pa, config, cache, out);
        manifold_turn(out);
        return;
    }
    if (b->is_halfspace) {
        out->normal = quat_rotate(pb.rotation, vec3_unit(b->normal));
        double d = b->offset / vec3_length(b->normal) + vec3_dot(out->normal, pb.position);
        collide_plane(&a->convex, pa, out->normal, d, config->angle, &c);
    } else if (is_round(a)) {
        segment p = core_of(&a->convex, pa), q = core_of(&b->convex, pb);
        out->normal = collide_round(&p, &q, config->angle, &c);
    } else if (!(a->convex.kind == ABUT_CONVEX_HULL && is_round(b) &&
                 collide_hull_round(&a->convex, pa, &b->convex, pb, config->angle, &c, &out->normal))) {
        out->normal = collide_general(a, pa, b, pb, config, cache, &c);
    }
    manifold_thin_out(c.points, c.count, out->normal, config, out);
}
