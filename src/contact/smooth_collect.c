/* Places where a smooth surface comes near another body: candidates from the trees of boxes, starts from
 * those samples of a patch that are nearer than the samples around them (of two surfaces from pairs of cells,
 * smooth_pairs.c), Newton's method, and the walk over the atlas to where the place really is.  A sample on
 * the border is left out where the neighbour has a nearer one: the walk from there comes over the border.
 * Places that several starts lead to are kept once.
 */
#include "contact/patch.h"
#include "contact/smooth.h"

/* A sample of a patch, and how far it is. */
typedef struct candidate {
    int32_t patch, sample;
    double distance;
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
    ARRAY(vec3) ends;            /* of two surfaces: where starts have led, on x in axes of y */
} collector;

/* Between two bodies places that are deeper are on their far sides. */
static double depth_most(const collector *c) { return fmax(c->reach, 0.25 * c->x->radius); }

/* The point on x of a place, in axes of y. */
static vec3 end_of(const collector *c, const contact_point *p) {
    vec3 at = c->swapped ? p->at : vec3_axpy(p->at, p->gap, p->normal);
    return quat_unrotate(c->my->rotation, vec3_sub(at, c->my->center));
}

/* Appends the pair after following it, unless its place is there already. */
static bool add(collector *c, near_pair pair) {
    const contact_shape *a = c->swapped ? c->y : c->x, *b = c->swapped ? c->x : c->y;
    const motion *ma = c->swapped ? c->my : c->mx, *mb = c->swapped ? c->mx : c->my;
    contact_point p;
    bool faces;
    if (!(smooth_is_pair(&pair) ? smooth_follow(&pair, a, ma, b, mb, 0, &p, &faces, NULL)
                                : near_evaluate(&pair, a, ma, b, mb, 0, &p, NULL)))
        return true;
    if (c->y->smooth && !array_push(c->context, &c->ends, end_of(c, &p))) return false;
    if (!(p.gap <= c->reach)) return true;
    if (!(p.gap >= -depth_most(c)) && !smooth_is_sunk_behind(a, b)) return true;
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

/* Whether the patch is known and has a sample nearer than `less`. */
static bool is_nearer(const collector *c, int32_t patch, double less) {
    const int32_t *k = map64_get(&c->known, (uint64_t)patch);
    return k && c->candidates.data[*k].distance < less;
}

/* Whether it lies on a border with a nearer sample beyond.  Samples on a common border differ by rounding. */
static bool is_beaten(const collector *c, const candidate *a) {
    double less = a->distance - 1e-12 * c->x->radius;
    int patch, other;
    for (int k = 0; k < 2; k++) {
        int edge = c->x->smooth->samples[a->sample].edge[k];
        if (edge >= 0 && abut_surface_neighbour(c->x->atlas, a->patch, edge, &patch, &other) &&
            is_nearer(c, patch, less))
            return true;
    }
    return false;
}

/* The nearest of a patch comes first: it is the one that is known. */
static bool add_candidate(collector *c, candidate a) {
    return map64_put(c->context, &c->known, (uint64_t)a.patch, (int32_t)c->candidates.count) &&
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
    if (!(c->x->smooth->bounds[start.patch].least_curvature > 0) &&
        !smooth_descend(c->x->atlas, &e, c->mx, &c->e, c->my))
        return true;
    return add_place(c, e) && (!c->born || look_beyond(c, &e));
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
    if (!add_candidate(c, (candidate){patch, first + best, distance[best]})) return false;
    for (int i = 0; i < count; i++)
        if (i != best && is_least(all->samples + first, distance, count, i, bounds->spacing) &&
            !add_candidate(c, (candidate){patch, first + i, distance[i]}))
            return false;
    return true;
}

/* Samples do not tell where a narrow valley is lowest: the nearest of every patch that comes so near that it
 * may reach the other body between its samples is a start.  Places farther away are found when they get
 * there. */
static bool may_be_lower(const collector *c, const candidate *b) {
    const smooth_bounds *bounds = &c->x->smooth->bounds[b->patch];
    const int32_t *nearest = map64_get(&c->known, (uint64_t)b->patch);
    double near = c->e.kind == ELEMENT_PLANE ? bounds->bulge : 0.5 * bounds->pitch + offset_of(&c->e);
    return !(bounds->least_curvature > 0) && b == &c->candidates.data[*nearest] && b->distance <= near;
}

/* The candidates that no neighbour beats become pairs. */
static bool take_candidates(collector *c) {
    bool fine = true;
    for (int64_t k = 0; k < c->candidates.count && fine; k++) {
        const candidate *b = &c->candidates.data[k];
        if (is_beaten(c, b) && !may_be_lower(c, b)) continue;
        const smooth_sample *s = &c->x->smooth->samples[b->sample];
        fine = add_patch(c, (abut_surface_point){b->patch, s->u, s->v});
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

/* Whether a start from cells that have no more than one place has led to it already: the next step of
 * Newton's method goes there, to a quarter of its length. */
static bool is_found(const collector *c, const smooth_pair *pair) {
    for (int64_t i = 0; i < c->ends.count && pair->one; i++)
        if (vec3_distance(c->ends.data[i], pair->ahead) <= 0.25 * pair->step + 0.05 * pair->x->radius)
            return true;
    return false;
}

/* From a start to a place: by Newton's method where there is no more than one, otherwise first by descent, on
 * the finer surface, whose cell is smaller. */
static bool start_between(void *user, const smooth_pair *pair) {
    collector *c = user;
    if (is_found(c, pair)) return true;
    element ex = patch_element(c->x, pair->at[0]), ey = patch_element(c->y, pair->at[1]);
    if (!pair->one &&
        !(pair->x->radius <= pair->y->radius ? smooth_descend_between(c->x, &ex, c->mx, c->y, &ey, c->my)
                                             : smooth_descend_between(c->y, &ey, c->my, c->x, &ex, c->mx)))
        return true;
    c->e = ey, c->f = (contact_feature){FEATURE_SMOOTH, ey.patch};
    return add_place(c, ex);
}

static bool collect_surfaces(collector *c) {
    return smooth_pairs(c->x, c->mx, c->y, c->my, c->reach, depth_most(c), c->born, start_between, c);
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
    array_free(context, &c.ends);
    return fine;
}
