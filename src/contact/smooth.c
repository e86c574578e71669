/* Smooth surfaces in contact: the shape, evaluating and following a place over the atlas. */
#include "contact/smooth.h"
#include "contact/patch.h"

enum { GRID = 6, FAN = 4, MOST_SAMPLES = ABUT_SIDES_MOST * FAN * FAN + 64, CROSSINGS = 64 };

/* ---- samples */

typedef struct sampler {
    double at[MOST_SAMPLES][2];
    double spacing;
    int count;
} sampler;

static void add_sample(sampler *s, double u, double v) {
    if (s->count < MOST_SAMPLES) s->at[s->count][0] = u, s->at[s->count++][1] = v;
}

/* The triangle a b c with n parts a side; without its side b c, which the next triangle of a fan has. */
static void add_triangle(sampler *s, const double *a, const double *b, const double *c, int n, bool whole) {
    for (int i = 0; i <= n; i++)
        for (int j = 0; i + j <= n; j++) {
            if (!whole && (i == n || j == 0)) continue;
            double x = (double)i / n, y = (double)j / n;
            add_sample(s, a[0] + x * (b[0] - a[0]) + y * (c[0] - a[0]),
                       a[1] + x * (b[1] - a[1]) + y * (c[1] - a[1]));
        }
}

static double apart(const double *a, const double *b) {
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]));
}

/* Points all over the domain: a grid for three and four sides, a fan around the middle for more. */
static void sample_domain(const abut_surface *surface, int patch, sampler *s) {
    double c[ABUT_SIDES_MOST][2], middle[2] = {0, 0};
    int sides = abut_surface_domain(surface, patch, c);
    s->count = 0, s->spacing = 0;
    for (int i = 0; i < sides; i++) s->spacing = fmax(s->spacing, apart(c[i], c[(i + 1) % sides]));
    s->spacing *= sides > 4 ? 1.3 / FAN : sides == 4 ? 1.5 / GRID : 1.05 / GRID;
    if (sides == 3) {
        add_triangle(s, c[0], c[1], c[2], GRID, true);
    } else if (sides == 4) {
        for (int i = 0; i <= GRID; i++)
            for (int j = 0; j <= GRID; j++) {
                double x = (double)i / GRID, y = (double)j / GRID, a = (1 - x) * (1 - y), b = x * (1 - y);
                double d = x * y, e = (1 - x) * y;
                add_sample(s, a * c[0][0] + b * c[1][0] + d * c[2][0] + e * c[3][0],
                           a * c[0][1] + b * c[1][1] + d * c[2][1] + e * c[3][1]);
            }
    } else {
        for (int i = 0; i < sides; i++) middle[0] += c[i][0] / sides, middle[1] += c[i][1] / sides;
        add_sample(s, middle[0], middle[1]);
        for (int i = 0; i < sides; i++) add_triangle(s, middle, c[i], c[(i + 1) % sides], FAN, false);
    }
}

/* The edges of the domain that a sample lies on: two at a corner. */
static void find_edges(const abut_surface *surface, int patch, smooth_sample *s) {
    double c[ABUT_SIDES_MOST][2];
    int sides = abut_surface_domain(surface, patch, c), count = 0;
    for (int i = 0; i < sides && count < 2; i++) {
        const double *a = c[i], *b = c[(i + 1) % sides];
        double cross = (b[0] - a[0]) * (s->v - a[1]) - (b[1] - a[1]) * (s->u - a[0]);
        if (fabs(cross) < 1e-9) s->edge[count++] = i;
    }
}

/* Whether the surface bends away from its outside in all directions (the second fundamental form with the
 * normal c_u x c_v is negative definite), or at least in none towards it, but for rounding. */
static void see_bend(smooth_samples *all, const abut_partials *p) {
    vec3 n = vec3_cross(p->u, p->v);
    double uu = vec3_dot(n, p->uu), uv = vec3_dot(n, p->uv), vv = vec3_dot(n, p->vv);
    double rounding = 1e-13 * vec3_length(n) *
                      (vec3_length(p->c) + vec3_length(p->uu) + vec3_length(p->uv) + vec3_length(p->vv));
    double mean = (uu + vv) / 2, half = (uu - vv) / 2;
    all->convex &= uu + vv < 0 && uu * vv > uv * uv;
    all->bulges &= mean + sqrt(half * half + uv * uv) <= rounding;
}

static abut_status sample_patches(const abut_context *context, contact_shape *shape, abut_error *error) {
    const abut_surface *surface = shape->atlas;
    int patches = abut_surface_patch_count(surface), total = 0;
    sampler s;
    smooth_samples *all = mem_calloc(context, 1, sizeof *all);
    if (!all) return fail_memory(error);
    shape->smooth = all;
    all->patch_count = patches;
    all->first = mem_calloc(context, (size_t)patches + 1, sizeof *all->first);
    all->spacing = mem_calloc(context, (size_t)patches, sizeof *all->spacing);
    all->pitch = mem_calloc(context, (size_t)patches, sizeof *all->pitch);
    if (!all->first || !all->spacing || !all->pitch) return fail_memory(error);
    for (int i = 0; i < patches; i++) {
        sample_domain(surface, i, &s);
        all->first[i] = total;
        total += s.count;
    }
    all->samples = mem_calloc(context, (size_t)total, sizeof *all->samples);
    if (!all->samples) return fail_memory(error);
    all->first[patches] = total;
    all->convex = all->bulges = true;
    for (int i = 0; i < patches; i++) {
        sample_domain(surface, i, &s);
        for (int k = 0; k < s.count; k++) {
            abut_partials p;
            if (abut_surface_evaluate(surface, i, s.at[k][0], s.at[k][1], 2, &p))
                see_bend(all, &p);
            else
                all->convex = all->bulges = false;
            smooth_sample *to = &all->samples[all->first[i] + k];
            *to = (smooth_sample){vec3_sub(p.c, shape->center), s.at[k][0], s.at[k][1], {-1, -1}};
            find_edges(surface, i, to);
        }
        all->spacing[i] = s.spacing;
        all->pitch[i] = box_diagonal(abut_surface_box(surface, i)) / FAN;
    }
    return ABUT_OK;
}

void smooth_shape_free(const abut_context *context, contact_shape *shape) {
    smooth_samples *all = shape->smooth;
    if (!all) return;
    if (all->samples)
        mem_free(context, all->samples, (size_t)all->first[all->patch_count], sizeof *all->samples);
    if (all->pitch) mem_free(context, all->pitch, (size_t)all->patch_count, sizeof *all->pitch);
    if (all->spacing) mem_free(context, all->spacing, (size_t)all->patch_count, sizeof *all->spacing);
    if (all->first) mem_free(context, all->first, (size_t)all->patch_count + 1, sizeof *all->first);
    mem_free(context, all, 1, sizeof *all);
    shape->smooth = NULL;
    if (shape->shape.kind != ABUT_SHAPE_SURFACE)
        abut_surface_free(context, (abut_surface *)(uintptr_t)shape->atlas);
    shape->atlas = NULL;
}

/* Boxes, samples and bounds from the atlas of a shape. */
static abut_status make(const abut_context *context, contact_shape *s, abut_error *error) {
    const abut_surface *surface = s->atlas;
    int patches = abut_surface_patch_count(surface);
    box *boxes = mem_alloc(context, (size_t)patches, sizeof *boxes);
    if (!boxes) return fail_memory(error);
    for (int i = 0; i < patches; i++) {
        abut_box b = abut_surface_box(surface, i);
        boxes[i] = (box){vec3_sub(b.lower, s->center), vec3_sub(b.upper, s->center)};
        vec3 reach = vec3_max(vec3_abs(boxes[i].lower), vec3_abs(boxes[i].upper));
        s->radius = fmax(s->radius, vec3_length(reach));
    }
    bool fine = box_tree_build(context, boxes, patches, &s->faces);
    mem_free(context, boxes, (size_t)patches, sizeof *boxes);
    return fine ? sample_patches(context, s, error) : fail_memory(error);
}

abut_status smooth_shape_make(const abut_context *context, contact_shape *s, abut_error *error) {
    s->atlas = s->shape.surface;
    abut_status status = make(context, s, error);
    if (status == ABUT_OK)
        s->bounds = s->faces.nodes[0].bounds;
    else
        contact_shape_free(context, s);
    return status;
}

abut_status smooth_shape_add(const abut_context *context, contact_shape *s, abut_error *error) {
    if (s->shape.kind != ABUT_SHAPE_ELLIPSOID || s->atlas) return ABUT_OK;
    abut_quadric q = abut_default_quadric(ABUT_PATCH_SPHERE);
    q.axes = (mat3){{s->shape.axes.x, 0, 0}, {0, s->shape.axes.y, 0}, {0, 0, s->shape.axes.z}};
    abut_surface *surface = NULL;
    abut_status status = abut_surface_quadric(context, &q, &surface, error);
    s->atlas = surface;
    double radius = s->radius;
    if (status == ABUT_OK) status = make(context, s, error);
    s->radius = radius;
    if (status != ABUT_OK && !s->smooth) {
        abut_surface_free(context, surface);
        s->atlas = NULL;
    }
    return status;
}

/* ---- evaluating */

typedef struct placed {
    contact_point point;
    patch_place places[2]; /* on a and on b, where they are patches */
    bool inside;           /* the domains of the patches */
    bool faces;            /* and the features of the other face it */
} placed;

/* The other element's own question, for a pair patch (of x) against e (of y); the normal from y to x. */
static bool other_faces(const contact_shape *y, const motion *my, const element *e, contact_feature f,
                        const element *patch, const contact_point *p, double t, double slack) {
    vec3 at = quat_unrotate(my->rotation, vec3_sub(p->at, my->center));
    return near_feature_faces(y, e, f, patch, quat_unrotate(my->rotation, p->normal), at, t, slack);
}

/* A patch of x against an element of y that is no patch; the normal points from y to x. */
static bool evaluate_one(const contact_shape *x, const motion *mx, const element *patch,
                         const contact_shape *y, const motion *my, const element *e, contact_feature f,
                         double slack, placed *out, patch_place *place) {
    double t = 0;
    bool found = e->kind == ELEMENT_PLANE
                     ? patch_plane(x->atlas, patch, mx, e, my, slack, &out->point, &out->inside, place)
                     : patch_point(x->atlas, patch, mx, e, my, slack, &out->point, &out->inside, place, &t);
    out->faces = found && out->inside && other_faces(y, my, e, f, patch, &out->point, t, slack);
    return found;
}

static bool evaluate(const near_pair *pair, const contact_shape *a, const motion *ma, const contact_shape *b,
                     const motion *mb, double slack, placed *out) {
    if (pair->a.kind == ELEMENT_PATCH && pair->b.kind == ELEMENT_PATCH) {
        bool found = patch_patch(a->atlas, &pair->a, ma, b->atlas, &pair->b, mb, slack, &out->point,
                                 &out->inside, out->places);
        out->faces = found && out->inside;
        return found;
    }
    if (pair->a.kind == ELEMENT_PATCH)
        return evaluate_one(a, ma, &pair->a, b, mb, &pair->b, pair->fb, slack, out, &out->places[0]);
    if (!evaluate_one(b, mb, &pair->b, a, ma, &pair->a, pair->fa, slack, out, &out->places[1])) return false;
    out->point.normal = vec3_neg(out->point.normal);
    out->point.normal_rate = vec3_neg(out->point.normal_rate);
    return true;
}

bool smooth_evaluate(const near_pair *pair, const contact_shape *a, const motion *ma, const contact_shape *b,
                     const motion *mb, double slack, contact_point *point, bool *faces) {
    placed p;
    if (!evaluate(pair, a, ma, b, mb, slack, &p)) return false;
    *point = p.point;
    if (faces) *faces = p.faces;
    return true;
}

/* ---- following */

/* Twice the width of the extended boundary, in parameters: abut_surface_settle() crosses there for certain.
 * The wider it is, the more the patches beyond their border differ in the velocity of the gap (difference of
 * curvatures times width times speed); this one keeps that below what counts as an approach. */
static const double extended = 2e-9;

static bool is_outside(const contact_shape *s, const element *e, const patch_place *place) {
    return e->kind == ELEMENT_PATCH &&
           abut_surface_outside(s->atlas, (abut_surface_point){e->patch, place->u, place->v}, NULL) >
               extended;
}

bool smooth_leaves(const near_pair *pair, const contact_shape *a, const motion *ma, const contact_shape *b,
                   const motion *mb, double slack) {
    placed p;
    return !evaluate(pair, a, ma, b, mb, slack, &p) || !p.faces || is_outside(a, &pair->a, &p.places[0]) ||
           is_outside(b, &pair->b, &p.places[1]);
}

/* Moves the element to the place found on it, over borders; how many were crossed, -1 where the surface ends.
 */
static int move_to(const contact_shape *s, element *e, contact_feature *f, const patch_place *place) {
    abut_surface_point at = {e->patch, place->u, place->v};
    double rate[2] = {place->u_rate, place->v_rate};
    int crossings = 0;
    abut_status status = abut_surface_settle(s->atlas, &at, rate, NULL, &crossings, NULL);
    e->patch = at.patch, e->u = at.u, e->v = at.v;
    f->id = at.patch;
    return status == ABUT_OK ? crossings : -1;
}

/* A place against a plane that is no longer the deepest near it moves on to the one that is. */
static bool descend(near_pair *pair, const contact_shape *a, const motion *ma, const contact_shape *b,
                    const motion *mb, double flat) {
    bool first = pair->a.kind == ELEMENT_PATCH;
    const element *plane = first ? &pair->b : &pair->a;
    if (plane->kind != ELEMENT_PLANE) return false;
    const motion *m = first ? ma : mb, *mp = first ? mb : ma;
    vec3 n = quat_unrotate(m->rotation, quat_rotate(mp->rotation, plane->d));
    return patch_descend((first ? a : b)->atlas, first ? &pair->a : &pair->b, n, flat);
}

static void set_walking(near_pair *pair, int walks) {
    if (pair->a.kind == ELEMENT_PATCH) pair->a.branch = walks;
    if (pair->b.kind == ELEMENT_PATCH) pair->b.branch = walks;
}

/* Over borders to where the place is; and, where it has ended there, down to the next (`descends`). */
static bool follow(near_pair *pair, const contact_shape *a, const motion *ma, const contact_shape *b,
                   const motion *mb, double slack, bool descends, contact_point *point, bool *faces,
                   int *crossings) {
    placed p;
    bool ends = false;
    int descended = descends ? 0 : 1;
    if (crossings) *crossings = 0;
    set_walking(pair, 1);
    for (int round = 0; round < CROSSINGS; round++) {
        if (!evaluate(pair, a, ma, b, mb, slack, &p)) {
            set_walking(pair, 0);
            return false;
        }
        int crossed = 0, one;
        if (pair->a.kind == ELEMENT_PATCH) {
            one = move_to(a, &pair->a, &pair->fa, &p.places[0]);
            ends |= one<0, crossed += one> 0 ? one : 0;
        }
        if (pair->b.kind == ELEMENT_PATCH) {
            one = move_to(b, &pair->b, &pair->fb, &p.places[1]);
            ends |= one<0, crossed += one> 0 ? one : 0;
        }
        if (crossings) *crossings += crossed;
        if (ends || (crossed == 0 && (p.faces || descended++ || !descend(pair, a, ma, b, mb, 0)))) break;
    }
    set_walking(pair, 0);
    *point = p.point;
    *faces = p.faces;
    return true;
}

bool smooth_follow(near_pair *pair, const contact_shape *a, const motion *ma, const contact_shape *b,
                   const motion *mb, double slack, contact_point *point, bool *faces, int *crossings) {
    return follow(pair, a, ma, b, mb, slack, true, point, faces, crossings);
}

bool smooth_follow_same(near_pair *pair, const contact_shape *a, const motion *ma, const contact_shape *b,
                        const motion *mb, double slack, contact_point *point, bool *faces) {
    return follow(pair, a, ma, b, mb, slack, false, point, faces, NULL);
}

bool smooth_jump(near_pair *pair, const contact_shape *a, const motion *ma, const contact_shape *b,
                 const motion *mb, double slack, contact_point *point, bool *faces) {
    return descend(pair, a, ma, b, mb, 0.05) && smooth_follow(pair, a, ma, b, mb, slack, point, faces, NULL);
}
