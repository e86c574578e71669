/* Places where a smooth surface comes near another body: candidates from the trees of boxes, starts from
 * those samples of a patch that are nearer than the samples around them, Newton's method, and the walk over
 * the atlas to where the place really is.  A sample on the border is left out where the neighbour has a
 * nearer one: the walk from there comes over the border.  Places that several starts lead to are kept once.
 */
#include "contact/patch.h"
#include "contact/smooth.h"

/* A sample of a patch of x (and of one of y, -1 where it is no surface), and how far it is. */
typedef struct candidate {
    int32_t i, j, sample_x, sample_y;
    double distance;
    abut_surface_point at[2]; /* of two surfaces: the start on each */
    bool closest[2];          /* which is not the sample, but a closest point */
} candidate;

typedef struct collector {
    const abut_context *context;
    const contact_shape *x, *y; /* x is the surface; y the other */
    const motion *mx, *my;
    bool swapped; /* y is body a of the pairs */
    bool born;    /* only where a place can be born */
    double bends; /* least curvature of y */
    double reach;
    near_array *out;
    int64_t first;
    /* the element of y at work */
    element e;
    contact_feature f;
    ARRAY(candidate) candidates;
    map64 known;                 /* number of each candidate */
    ARRAY(contact_point) points; /* of the pairs in `out` from `first` on */
} collector;

/* Appends the pair after following it, unless its place is there already. */
static bool add(collector *c, near_pair pair) {
    const contact_shape *a = c->swapped ? c->y : c->x, *b = c->swapped ? c->x : c->y;
    const motion *ma = c->swapped ? c->my : c->mx, *mb = c->swapped ? c->mx : c->my;
    contact_point p;
    bool faces;
    if (!(smooth_is_pair(&pair) ? smooth_follow(&pair, a, ma, b, mb, 0, &p, &faces, NULL)
                                : near_evaluate(&pair, a, ma, b, mb, 0, &p, NULL)))
        return true;
    if (!(p.gap <= c->reach)) return true;
    if (!(p.gap >= -fmax(c->reach, 0.25 * c->x->radius)) && !smooth_is_sunk_behind(a, b)) return true;
    double close = 1e-7 * c->x->radius;
    for (int64_t i = c->first; i < c->out->count; i++) {
        const near_pair *old = &c->out->data[i];
        const contact_feature *f = c->swapped ? &old->fa : &old->fb, *g = c->swapped ? &pair.fa : &pair.fb;
        if (g->kind != FEATURE_SMOOTH && (f->kind != g->kind || f->id != g->id)) continue;
        const contact_point *q = &c->points.data[i - c->first];
        if (vec3_distance(p.at, q->at) <= close && vec3_distance(p.normal, q->normal) <= 1e-6) return true;
    }
    return array_push(c->context, &c->points, p) && array_push(c->context, c->out, pair);
}

static uint64_t key_of(int32_t i, int32_t j) { return (uint64_t)(uint32_t)i << 32 | (uint32_t)j; }

/* Whether the pair of patches (i, j) is known and has a sample nearer than `less`. */
static bool is_nearer(const collector *c, int32_t i, int32_t j, double less) {
    const int32_t *k = map64_get(&c->known, key_of(i, j));
    return k && c->candidates.data[*k].distance < less;
}

/* Whether it lies on a border with a nearer sample beyond.  Samples on a common border differ by rounding. */
static bool is_beaten(const collector *c, const candidate *a) {
    double less = a->distance - 1e-12 * c->x->radius;
    int patch, other;
    for (int k = 0; k < 2; k++) {
        int edge = a->closest[0] ? -1 : c->x->smooth->samples[a->sample_x].edge[k];
        if (edge >= 0 && abut_surface_neighbour(c->x->atlas, a->i, edge, &patch, &other) &&
            is_nearer(c, patch, a->j, less))
            return true;
        edge = a->j >= 0 && !a->closest[1] ? c->y->smooth->samples[a->sample_y].edge[k] : -1;
        if (edge >= 0 && abut_surface_neighbour(c->y->atlas, a->j, edge, &patch, &other) &&
            is_nearer(c, a->i, patch, less))
            return true;
    }
    return false;
}

/* The nearest of a pair of patches comes first: it is the one that is known. */
static bool add_candidate(collector *c, candidate a) {
    return map64_put(c->context, &c->known, key_of(a.i, a.j), (int32_t)c->candidates.count) &&
           array_push(c->context, &c->candidates, a);
}

static bool add_place(collector *c, element e) {
    contact_feature f = {FEATURE_SMOOTH, e.patch};
    return add(c, c->swapped ? (near_pair){c->e, e, c->f, f, 1} : (near_pair){e, c->e, f, c->f, 1});
}

/* Places that the borders around one hide. */
static bool look_beyond(collector *c, const element *from) {
    double corners[ABUT_SIDES_MOST][2];
    int sides = abut_surface_domain(c->x->atlas, from->patch, corners);
    for (int edge = 0; edge < sides; edge++) {
        element e = *from;
        if (smooth_beyond(c->x->atlas, &e, edge, c->mx, &c->e, c->my) && !add_place(c, e)) return false;
    }
    return true;
}

static element patch_element(const contact_shape *s, abut_surface_point at) {
    return (element){
        .kind = ELEMENT_PATCH, .p = vec3_neg(s->center), .patch = at.patch, .u = at.u, .v = at.v};
}

static bool add_patch(collector *c, abut_surface_point start) {
    element e = patch_element(c->x, start);
    if (!(c->x->smooth->bounds[start.patch].least_curvature > 0) && c->e.kind != ELEMENT_PATCH &&
        !smooth_descend(c->x->atlas, &e, c->mx, &c->e, c->my))
        return true;
    return add_place(c, e) && (!c->born || c->e.kind == ELEMENT_PATCH || look_beyond(c, &e));
}

/* Distance of a point from the element, in the axes of y: signed for a plane, which is what a patch must be
 * deepest in. */
static double distance_to(const element *e, vec3 x) {
    vec3 d = vec3_sub(x, e->p);
    if (e->kind == ELEMENT_PLANE) return vec3_dot(e->d, d);
    if (e->kind == ELEMENT_POINT) return vec3_length(d);
    if (e->kind == ELEMENT_CAVITY) return e->r - vec3_length(d);
    double t = vec3_dot(e->d, d);
    if (e->kind == ELEMENT_CIRCLE) {
        double out = vec3_length(vec3_axpy(d, -t, e->d)) - e->r;
        return sqrt(out * out + t * t);
    }
    t = t < e->lo ? e->lo : t > e->hi ? e->hi : t;
    return vec3_length(vec3_axpy(d, -t, e->d));
}

/* The surface of a ball or capsule lies so far from its point or line. */
static double offset_of(const element *e) {
    return e->kind == ELEMENT_POINT || e->kind == ELEMENT_LINE ? e->r : 0;
}

enum { MOST_SAMPLES = 1024 };

/* Whether no sample around it is nearer (of equals: none before it). */
static bool is_least(const smooth_sample *s, const double *distance, int count, int k, double spacing) {
    for (int i = 0; i < count; i++) {
        double u = s[i].u - s[k].u, v = s[i].v - s[k].v;
        if (u * u + v * v > spacing * spacing) continue;
        if (distance[i] < distance[k] || (distance[i] == distance[k] && i < k)) return false;
    }
    return true;
}

/* The corners of a flat patch as points of the body, against the plane at work. */
static bool add_corners(collector *c, int32_t patch) {
    const smooth_samples *all = c->x->smooth;
    contact_feature f = {FEATURE_SMOOTH, patch};
    for (int32_t i = all->first[patch]; i < all->first[patch + 1]; i++) {
        if (all->samples[i].edge[1] < 0) continue;
        element e = {.kind = ELEMENT_POINT, .p = all->samples[i].at};
        if (!add(c, c->swapped ? (near_pair){c->e, e, c->f, f, 1} : (near_pair){e, c->e, f, c->f, 1}))
            return false;
    }
    return true;
}

/* Whether the patch can have a place against the element at work: the normal there is opposite to that of a
 * plane, and perpendicular to a line. */
static bool can_have_place(const collector *c, const smooth_bounds *bounds, pose x_in_y) {
    double along = vec3_dot(pose_vector(x_in_y, bounds->axis), c->e.d);
    if (bounds->cosine <= 0) return true;
    if (c->e.kind == ELEMENT_PLANE) return -along >= bounds->cosine;
    return c->e.kind != ELEMENT_LINE || fabs(along) <= bounds->sine;
}

/* A patch against the element at work. */
static bool visit_patch(void *user, int32_t patch) {
    collector *c = user;
    const smooth_samples *all = c->x->smooth;
    const smooth_bounds *bounds = &all->bounds[patch];
    if (c->born && !smooth_can_appear(bounds->least_curvature, c->bends)) return true;
    pose px = {c->mx->center, c->mx->rotation}, py = {c->my->center, c->my->rotation};
    pose x_in_y = pose_relative(px, py);
    if (!can_have_place(c, bounds, x_in_y)) return true;
    double distance[MOST_SAMPLES];
    distance[0] = INFINITY;
    int32_t first = all->first[patch], best = 0;
    int count = all->first[patch + 1] - first;
    if (count > MOST_SAMPLES) count = MOST_SAMPLES;
    for (int i = 0; i < count; i++) {
        distance[i] = distance_to(&c->e, pose_point(x_in_y, all->samples[first + i].at));
        if (distance[i] < distance[best]) best = i;
    }
    /* no point of the patch comes closer than reach */
    double between = c->e.kind == ELEMENT_PLANE ? bounds->bulge : bounds->pitch;
    if (distance[best] > c->reach + offset_of(&c->e) + between) return true;
    if (bounds->flat && c->e.kind == ELEMENT_PLANE) return c->born || add_corners(c, patch);
    if (!add_candidate(
            c, (candidate){.i = patch, .j = -1, .sample_x = first + best, .distance = distance[best]}))
        return false;
    for (int i = 0; i < count; i++)
        if (i != best && is_least(all->samples + first, distance, count, i, bounds->spacing) &&
            !add_candidate(c,
                           (candidate){.i = patch, .j = -1, .sample_x = first + i, .distance = distance[i]}))
            return false;
    return true;
}

/* Samples do not tell where a narrow valley is lowest: the nearest of every patch that comes so near that it
 * may reach the other body between its samples is a start.  Places farther away are found when they get
 * there. */
static bool may_be_lower(const collector *c, const candidate *b) {
    if (b->j >= 0) return false;
    const smooth_bounds *bounds = &c->x->smooth->bounds[b->i];
    const int32_t *nearest = map64_get(&c->known, key_of(b->i, b->j));
    double near = c->e.kind == ELEMENT_PLANE ? bounds->bulge : 0.5 * bounds->pitch + offset_of(&c->e);
    return !(bounds->least_curvature > 0) && b == &c->candidates.data[*nearest] && b->distance <= near;
}

/* The candidates that no neighbour beats become pairs. */
static bool take_candidates(collector *c) {
    bool fine = true;
    for (int64_t k = 0; k < c->candidates.count && fine; k++) {
        const candidate *b = &c->candidates.data[k];
        if (is_beaten(c, b) && !may_be_lower(c, b)) continue;
        const smooth_sample *s = &c->x->smooth->samples[b->sample_x];
        if (b->j >= 0) {
            c->e = patch_element(c->y, b->at[1]);
            c->f = (contact_feature){FEATURE_SMOOTH, b->at[1].patch};
        }
        fine = add_patch(c, b->j >= 0 ? b->at[0] : (abut_surface_point){b->i, s->u, s->v});
    }
    c->candidates.count = 0;
    map64_free(c->context, &c->known);
    c->known = (map64){0};
    return fine;
}

/* ---- analytic others */

static box element_box(const collector *c, const element *e) {
    pose px = {c->mx->center, c->mx->rotation}, py = {c->my->center, c->my->rotation};
    pose y_in_x = pose_relative(py, px);
    box b = box_empty();
    vec3 low = e->p, high = e->p;
    if (e->kind == ELEMENT_CAVITY)
        return (box){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
    if (e->kind == ELEMENT_LINE) low = vec3_axpy(e->p, e->lo, e->d), high = vec3_axpy(e->p, e->hi, e->d);
    b = box_add_point(box_add_point(b, pose_point(y_in_x, low)), pose_point(y_in_x, high));
    return box_grow(b, e->r + c->reach);
}

static bool collect_elements(collector *c) {
    for (int i = 0; i < c->y->element_count; i++) {
        c->e = c->y->elements[i], c->f = c->y->features[i];
        /* the points on the rim of a cylinder are for its flat ends on planes */
        if (c->y->shape.kind == ABUT_SHAPE_CYLINDER && c->e.kind == ELEMENT_POINT) continue;
        if (c->e.kind == ELEMENT_PLANE) {
            vec3 n = quat_unrotate(c->mx->rotation, quat_rotate(c->my->rotation, c->e.d));
            vec3 p = vec3_add(c->my->center, quat_rotate(c->my->rotation, c->e.p));
            double d = vec3_dot(n, quat_unrotate(c->mx->rotation, vec3_sub(p, c->mx->center)));
            if (!box_tree_below(&c->x->faces, n, d + c->reach, visit_patch, c)) return false;
        } else if (!box_tree_query(&c->x->faces, element_box(c, &c->e), visit_patch, c)) {
            return false;
        }
        if (!take_candidates(c)) return false;
    }
    return true;
}

/* ---- solids */

/* The axis-parallel box around a moved one. */
static box moved_box(box b, pose p) {
    mat3 r = quat_matrix(p.rotation);
    vec3 middle = pose_point(p, vec3_scale(vec3_add(b.lower, b.upper), 0.5));
    vec3 h = vec3_scale(vec3_sub(b.upper, b.lower), 0.5);
    vec3 e = vec3_axpy(vec3_axpy(vec3_scale(vec3_abs(r.cx), h.x), h.y, vec3_abs(r.cy)), h.z, vec3_abs(r.cz));
    return (box){vec3_sub(middle, e), vec3_add(middle, e)};
}

typedef element element_of(const contact_shape *s, int32_t item);

/* Patches near one feature of a solid. */
typedef struct feature_query {
    collector *c;
    element_of *make;
    feature_kind kind;
} feature_query;

static bool visit_feature(void *user, int32_t item) {
    feature_query *q = user;
    collector *c = q->c;
    c->e = q->make(c->y, item), c->f = (contact_feature){q->kind, item};
    box b = element_box(c, &c->e);
    if (q->kind == FEATURE_FACE) { /* its box is that of its corners */
        pose px = {c->mx->center, c->mx->rotation}, py = {c->my->center, c->my->rotation};
        b = box_grow(moved_box(contact_shape_face_box(c->y, item), pose_relative(py, px)), c->reach);
    }
    return box_tree_query(&c->x->faces, b, visit_patch, c) && take_candidates(c);
}

static bool collect_solid(collector *c) {
    pose px = {c->mx->center, c->mx->rotation}, py = {c->my->center, c->my->rotation};
    box region = box_grow(moved_box(c->x->bounds, pose_relative(px, py)), c->reach);
    feature_query vertices = {c, contact_shape_vertex, FEATURE_VERTEX},
                  edges = {c, contact_shape_edge, FEATURE_EDGE},
                  faces = {c, contact_shape_face, FEATURE_FACE};
    return box_tree_query(&c->y->vertices, region, visit_feature, &vertices) &&
           box_tree_query(&c->y->edges, region, visit_feature, &edges) &&
           box_tree_query(&c->y->faces, region, visit_feature, &faces);
}

/* ---- two surfaces */

/* Whether a patch of x and one of y, at x_in_y, can have normals that are opposite to each other: the angle
 * between the axes of their cones (one turned round) is at most the sum of their half-angles. */
static bool can_face(const smooth_bounds *x, const smooth_bounds *y, pose x_in_y) {
    double sine = x->sine * y->cosine + x->cosine * y->sine;
    if (x->cosine <= 0 || y->cosine <= 0 || sine <= 0) return true;
    double cosine = x->cosine * y->cosine - x->sine * y->sine;
    return -vec3_dot(pose_vector(x_in_y, x->axis), y->axis) >= cosine;
}

/* The nearest samples of two clusters, the first moved; *least is the square of their distance. */
static void nearest_of(const collector *c, const smooth_cluster *a, const smooth_cluster *b, pose x_in_y,
                       double *least, candidate *best) {
    const smooth_sample *sx = c->x->smooth->samples, *sy = c->y->smooth->samples;
    for (int32_t k = a->first; k < a->first + a->count; k++) {
        vec3 p = pose_point(x_in_y, sx[k].at);
        for (int32_t l = b->first; l < b->first + b->count; l++) {
            double d = vec3_length2(vec3_sub(p, sy[l].at));
            if (d < *least) *least = d, best->sample_x = k, best->sample_y = l;
        }
    }
}

enum { TURNS = 3 };

/* Samples that are far apart do not tell which part of a finer surface is near: all feet of a table are
 * measured from one sample of a large bowl, and only the one beside it seems to be near.  So the start on the
 * coarser surface (0: x, 1: y) becomes the closest point to the sample of the finer, that the nearest sample
 * to this point, and so on; each turn is nearer. */
static void come_closest(const collector *c, candidate *b, int coarse) {
    const contact_shape *s = coarse == 0 ? c->x : c->y, *other = coarse == 0 ? c->y : c->x;
    const motion *ms = coarse == 0 ? c->mx : c->my, *mo = coarse == 0 ? c->my : c->mx;
    int32_t *sample = coarse == 0 ? &b->sample_y : &b->sample_x, patch = coarse == 0 ? b->j : b->i;
    const smooth_sample *samples = other->smooth->samples;
    pose p = {ms->center, ms->rotation}, po = {mo->center, mo->rotation}, s_in_other = pose_relative(p, po);
    element e = patch_element(s, b->at[coarse]);
    int32_t last = -1;
    for (int turn = 0; turn < TURNS && *sample != last; turn++) {
        element point = {.kind = ELEMENT_POINT, .p = samples[*sample].at};
        abut_partials d;
        if (!smooth_descend(s->atlas, &e, ms, &point, mo) ||
            !abut_surface_evaluate(s->atlas, e.patch, e.u, e.v, 0, &d))
            return;
        vec3 at = pose_point(s_in_other, vec3_add(d.c, e.p));
        last = *sample;
        b->distance = vec3_distance(at, samples[last].at);
        b->at[coarse] = (abut_surface_point){e.patch, e.u, e.v}, b->closest[coarse] = true;
        for (int32_t i = other->smooth->first[patch]; i < other->smooth->first[patch + 1]; i++) {
            double distance = vec3_distance(at, samples[i].at);
            if (distance < b->distance) b->distance = distance, *sample = i;
        }
    }
}

/* The starts of a pair of patches, from its nearest samples. */
static void put_starts(const collector *c, candidate *b) {
    const smooth_samples *sx = c->x->smooth, *sy = c->y->smooth;
    const smooth_sample *x = &sx->samples[b->sample_x], *y = &sy->samples[b->sample_y];
    b->at[0] = (abut_surface_point){b->i, x->u, x->v}, b->at[1] = (abut_surface_point){b->j, y->u, y->v};
    if (!smooth_can_appear(sx->least_curvature, sy->least_curvature)) return; /* there is one place only */
    int coarse = sx->bounds[b->i].pitch >= sy->bounds[b->j].pitch ? 0 : 1;
    come_closest(c, b, coarse);
    x = &sx->samples[b->sample_x], y = &sy->samples[b->sample_y];
    if (coarse == 0)
        b->at[1] = (abut_surface_point){b->j, y->u, y->v};
    else
        b->at[0] = (abut_surface_point){b->i, x->u, x->v};
}

/* Starts from the nearest pair of samples, unless no point of the one comes closer to the other than reach.
 */
static bool two_patches(void *user, int32_t i, int32_t j) {
    collector *c = user;
    const smooth_samples *sx = c->x->smooth, *sy = c->y->smooth;
    const smooth_bounds *bx = &sx->bounds[i], *by = &sy->bounds[j];
    pose px = {c->mx->center, c->mx->rotation}, py = {c->my->center, c->my->rotation};
    pose x_in_y = pose_relative(px, py);
    double far = c->reach + bx->pitch + by->pitch, least = far * far;
    if (c->born && !smooth_can_appear(bx->least_curvature, by->least_curvature)) return true;
    if (vec3_distance(pose_point(x_in_y, bx->center), by->center) > far + bx->radius + by->radius ||
        !can_face(bx, by, x_in_y))
        return true;
    candidate best = {.i = i, .j = j, .sample_x = -1, .sample_y = -1};
    for (int32_t k = bx->first; k < bx->first + bx->count; k++) {
        const smooth_cluster *a = &sx->clusters.data[k];
        vec3 center = pose_point(x_in_y, a->center);
        for (int32_t l = by->first; l < by->first + by->count; l++) {
            const smooth_cluster *b = &sy->clusters.data[l];
            double apart = vec3_distance(center, b->center) - a->radius - b->radius;
            if (apart < 0 || apart * apart < least) nearest_of(c, a, b, x_in_y, &least, &best);
        }
    }
    best.distance = sqrt(least);
    if (best.sample_x < 0) return true;
    put_starts(c, &best);
    return add_candidate(c, best);
}

static bool collect_surfaces(collector *c) {
    pose px = {c->mx->center, c->mx->rotation}, py = {c->my->center, c->my->rotation};
    return box_tree_pairs(&c->x->faces, &c->y->faces, pose_relative(py, px), c->reach, two_patches, c) &&
           take_candidates(c);
}

bool smooth_shapes_known(abut_shape_kind other) {
    return other == ABUT_SHAPE_NONE || other == ABUT_SHAPE_SURFACE || other == ABUT_SHAPE_HALFSPACE ||
           other == ABUT_SHAPE_SPHERE || other == ABUT_SHAPE_CAPSULE || other == ABUT_SHAPE_SOLID ||
           other == ABUT_SHAPE_ELLIPSOID || other == ABUT_SHAPE_CYLINDER || other == ABUT_SHAPE_CAVITY;
}

bool smooth_is_sunk_behind(const contact_shape *a, const contact_shape *b) {
    const contact_shape *s = a->shape.kind == ABUT_SHAPE_HALFSPACE ? b : a, *other = s == a ? b : a;
    return other->shape.kind == ABUT_SHAPE_HALFSPACE && s->atlas && abut_surface_is_closed(s->atlas);
}

double smooth_reach_most(const contact_shape *a, const contact_shape *b) {
    bool flat = a->shape.kind == ABUT_SHAPE_HALFSPACE || b->shape.kind == ABUT_SHAPE_HALFSPACE;
    bool smooth = a->shape.kind == ABUT_SHAPE_SURFACE || b->shape.kind == ABUT_SHAPE_SURFACE;
    return smooth && !flat ? 0.25 * fmin(a->radius, b->radius) : INFINITY;
}

bool smooth_collect(const abut_context *context, const contact_shape *a, const motion *ma,
                    const contact_shape *b, const motion *mb, double reach, bool born, near_array *out) {
    bool swapped = a->shape.kind != ABUT_SHAPE_SURFACE;
    collector c = {.context = context,
                   .x = swapped ? b : a,
                   .y = swapped ? a : b,
                   .mx = swapped ? mb : ma,
                   .my = swapped ? ma : mb,
                   .swapped = swapped,
                   .born = born,
                   .bends = smooth_least_curvature(swapped ? a : b),
                   .reach = reach,
                   .out = out,
                   .first = out->count};
    if (c.y->shape.kind == ABUT_SHAPE_NONE) return true;
    c.reach = fmin(reach, smooth_reach_most(a, b));
    bool fine = c.y->shape.kind == ABUT_SHAPE_SOLID ? collect_solid(&c)
                : c.y->smooth                       ? collect_surfaces(&c)
                                                    : collect_elements(&c);
    array_free(context, &c.candidates);
    map64_free(context, &c.known);
    array_free(context, &c.points);
    return fine;
}
