/* Parts of patches, in a tree: the search for the places of two surfaces (smooth_pairs.c) and the audit of
 * overlap go down it.
 *
 *   cells   [ patch 0 | patch 1 | ... | children of 0 | ... ]
 *
 * A cell has a ball around its points, a cone around its normals, and its least curvature.  A patch of more
 * than four sides is parted into triangles around its middle; a triangle or quadrangle into four, until its
 * normals turn little and it is small.  The bounds of a cell without children are those of 7 or 9 points on
 * it, widened by what can lie between them; the others hold those of their children. */
#include "contact/smooth.h"

/* Normals of a cell that is not parted differ from their mean by less than this: 0.25 rad.  A degree 4 of the
 * patch leaves little room for a second place in it (and there it is searched from several starts). */
#define TURNS_LITTLE 0.9689
/* And it is no larger than this part of the body, so that its second order tells enough of it. */
#define SMALL 0.125
enum { DEEPEST = 5, POINTS_MOST = 9 };

/* Points of a cell; the middle is the last. */
typedef struct looked {
    vec3 at[POINTS_MOST], normal[POINTS_MOST];
    double curvature[POINTS_MOST][2], second, cosine;
    vec3 axis;
    int count;
    abut_partials p; /* at the last, */
    bool regular;    /* which has them */
} looked;

typedef struct builder {
    const abut_context *context;
    const contact_shape *shape;
    int patch;
} builder;

static void look_at(const builder *b, const double at[2], looked *l) {
    abut_partials *p = &l->p;
    l->regular = abut_surface_evaluate(b->shape->atlas, b->patch, at[0], at[1], 2, p);
    int k = l->count++;
    l->at[k] = p->c = vec3_sub(p->c, b->shape->center);
    l->normal[k] = vec3_unit(vec3_cross(p->u, p->v));
    l->curvature[k][0] = -INFINITY, l->curvature[k][1] = INFINITY;
    if (!l->regular) return;
    smooth_curvatures(p, l->curvature[k]);
    l->second = fmax(l->second, fmax(vec3_length(p->uu), vec3_length(p->vv)) + vec3_length(p->uv));
}

/* Corners, middles of edges, and the middle. */
static void look(const builder *b, double corners[][2], int sides, looked *l) {
    double middle[2] = {0, 0}, between[2];
    l->count = 0, l->second = 0;
    for (int i = 0; i < sides; i++) {
        const double *from = corners[i], *to = corners[(i + 1) % sides];
        for (int k = 0; k < 2; k++) between[k] = (from[k] + to[k]) / 2, middle[k] += from[k] / sides;
        look_at(b, from, l);
        look_at(b, between, l);
    }
    look_at(b, middle, l);
    vec3 sum = vec3_zero();
    for (int i = 0; i < l->count; i++) sum = vec3_add(sum, l->normal[i]);
    l->axis = vec3_unit(sum), l->cosine = 1;
    for (int i = 0; i < l->count; i++) l->cosine = fmin(l->cosine, vec3_dot(l->axis, l->normal[i]));
}

static void set_cone(smooth_cell *c, vec3 axis, double cosine) {
    c->axis = axis, c->cosine = cosine > 0 ? cosine : -1;
    c->sine = sqrt(fmax(1 - c->cosine * c->cosine, 0));
}

/* The least and the largest of the curvatures at the points, and by half of what they differ farther. */
static void range_of(const looked *l, int which, double *low, double *high) {
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < l->count; i++)
        least = fmin(least, l->curvature[i][which]), most = fmax(most, l->curvature[i][which]);
    bool fine = isfinite(least) && isfinite(most);
    *low = fine ? least - 0.5 * (most - least) : -INFINITY;
    *high = fine ? most + 0.5 * (most - least) : INFINITY;
}

/* The box around the normals in the plane of the cell, along the principal axes of what they scatter: wider
 * by a third, and by a thousandth for what is straight at all points. */
static void bound_turn(smooth_cell *c, const looked *l) {
    vec3 e = vec3_orthogonal(l->axis), f = vec3_cross(l->axis, e);
    double xx = 0, xy = 0, yy = 0, turn[2] = {0, 0};
    for (int i = 0; i < l->count; i++) {
        double x = vec3_dot(l->normal[i], e), y = vec3_dot(l->normal[i], f);
        xx += x * x, xy += x * y, yy += y * y;
    }
    /* (a, b) is an eigenvector of the scatter: one of the two forms is far from zero, or all are alike */
    double half = (xx - yy) / 2, root = sqrt(half * half + xy * xy);
    double a = half >= 0 ? half + root : xy, b = half >= 0 ? xy : root - half;
    c->way = root > 0 ? vec3_unit(vec3_axpy(vec3_scale(e, a), b, f)) : e;
    for (int i = 0; i < l->count; i++) {
        turn[0] = fmax(turn[0], fabs(vec3_dot(l->normal[i], c->way)));
        turn[1] = fmax(turn[1], fabs(vec3_triple(l->normal[i], l->axis, c->way)));
    }
    for (int k = 0; k < 2; k++) c->turn[k] = 4.0 / 3 * turn[k] + 1e-3;
}

/* The bounds from the points, half the width of the cell apart: the surface leaves planes through three of
 * them by h^2 / 6 times its second derivative (known at the points only, so half as much again), and the cone
 * of normals is wider by a third. */
static void bound(smooth_cell *c, const looked *l) {
    double unused, bulge = 0.25 * c->size * c->size * l->second;
    box around = box_empty();
    for (int i = 0; i < l->count; i++) around = box_add_point(around, l->at[i]);
    c->center = box_center(around), c->radius = c->thickness = bulge;
    for (int i = 0; i < l->count; i++) {
        vec3 d = vec3_sub(l->at[i], c->center);
        c->radius = fmax(c->radius, vec3_length(d) + bulge);
        c->thickness = fmax(c->thickness, fabs(vec3_dot(d, l->axis)) + bulge);
    }
    range_of(l, 0, &c->least, &c->least_most);
    range_of(l, 1, &unused, &c->most);
    set_cone(c, l->axis, 1 - 16.0 / 9 * (1 - l->cosine) - 1e-6);
    bound_turn(c, l);
    c->p = l->p, c->regular = l->regular;
}

/* Around the bounds of the children: cos(t + a) = cos t cos a - sin t sin a. */
static void bound_children(smooth_cell *c, const smooth_cell *children) {
    vec3 sum = vec3_zero(), middle = vec3_zero();
    for (int i = 0; i < c->count; i++) {
        sum = vec3_add(sum, children[i].axis);
        middle = vec3_axpy(middle, 1.0 / c->count, children[i].center);
    }
    vec3 axis = vec3_unit(sum);
    double cosine = 1;
    c->center = middle, c->radius = c->thickness = 0;
    c->least = INFINITY, c->least_most = c->most = -INFINITY;
    for (int i = 0; i < c->count; i++) {
        const smooth_cell *k = &children[i];
        vec3 d = vec3_sub(k->center, middle);
        double t = vec3_dot(axis, k->axis), s = sqrt(fmax(1 - t * t, 0));
        c->radius = fmax(c->radius, vec3_length(d) + k->radius);
        c->thickness = fmax(c->thickness, fabs(vec3_dot(d, axis)) + fabs(t) * k->thickness + s * k->radius);
        c->least = fmin(c->least, k->least), c->least_most = fmax(c->least_most, k->least_most);
        c->most = fmax(c->most, k->most);
        cosine = k->cosine > 0 && t > 0 ? fmin(cosine, t * k->cosine - s * k->sine) : -1;
    }
    set_cone(c, axis, cosine);
}

static bool make_cell(const builder *b, int32_t at, double corners[][2], int sides, int depth);

/* The corners of part i of a cell: of the fan around the middle, of the four triangles (the last between the
 * middles of the edges), or of the four quadrangles.  Returns how many corners. */
static int part_of(double corners[][2], int sides, const double middle[2], int i, double part[4][2]) {
    for (int k = 0; k < 2; k++) {
        double here = corners[i % sides][k], next = corners[(i + 1) % sides][k],
               last = corners[(i + sides - 1) % sides][k];
        if (sides > 4)
            part[0][k] = middle[k], part[1][k] = here, part[2][k] = next;
        else if (sides == 4)
            part[0][k] = here, part[1][k] = (here + next) / 2, part[2][k] = middle[k],
            part[3][k] = (here + last) / 2;
        else if (i < 3)
            part[0][k] = here, part[1][k] = (here + next) / 2, part[2][k] = (here + last) / 2;
        else
            for (int j = 0; j < 3; j++) part[j][k] = (corners[j][k] + corners[(j + 1) % 3][k]) / 2;
    }
    return sides == 4 ? 4 : 3;
}

static bool make_children(const builder *b, int32_t at, double corners[][2], int sides, int depth) {
    smooth_samples *all = b->shape->smooth;
    int32_t first = (int32_t)all->cells.count, count = sides > 4 ? sides : 4;
    double middle[2] = {all->cells.data[at].u, all->cells.data[at].v}, part[4][2];
    all->cells.data[at].first = first, all->cells.data[at].count = count;
    for (int i = 0; i < count; i++)
        if (!array_push(b->context, &all->cells, (smooth_cell){0})) return false;
    for (int i = 0; i < count; i++) {
        int n = part_of(corners, sides, middle, i, part);
        if (!make_cell(b, first + i, part, n, depth + 1)) return false;
    }
    bound_children(&all->cells.data[at], &all->cells.data[first]);
    return true;
}

static bool make_cell(const builder *b, int32_t at, double corners[][2], int sides, int depth) {
    smooth_cell *c = &b->shape->smooth->cells.data[at];
    *c = (smooth_cell){.patch = b->patch};
    for (int i = 0; i < sides; i++) c->u += corners[i][0] / sides, c->v += corners[i][1] / sides;
    for (int i = 0; i < sides; i++) {
        double u = corners[i][0] - c->u, v = corners[i][1] - c->v;
        c->size = fmax(c->size, sqrt(u * u + v * v));
    }
    if (sides > 4) return make_children(b, at, corners, sides, depth);
    looked l;
    look(b, corners, sides, &l);
    bound(c, &l);
    bool parts = l.cosine < TURNS_LITTLE || c->radius > SMALL * b->shape->radius;
    return !parts || depth >= DEEPEST || make_children(b, at, corners, sides, depth);
}

bool smooth_cells_make(const abut_context *context, contact_shape *shape) {
    smooth_samples *all = shape->smooth;
    double corners[ABUT_SIDES_MOST][2];
    if (all->cells.count > 0) return true;
    for (int i = 0; i < all->patch_count; i++)
        if (!array_push(context, &all->cells, (smooth_cell){0})) return false;
    for (int i = 0; i < all->patch_count; i++) {
        builder b = {context, shape, i};
        if (!make_cell(&b, i, corners, abut_surface_domain(shape->atlas, i, corners), 0)) return false;
    }
    return true;
}

/* ---- the foot of a point */

static abut_partials moved_by(const abut_partials *p, const double d[2]) {
    abut_partials q = *p;
    q.u = vec3_axpy(vec3_axpy(p->u, d[0], p->uu), d[1], p->uv);
    q.v = vec3_axpy(vec3_axpy(p->v, d[0], p->uv), d[1], p->vv);
    vec3 u = vec3_lerp(p->u, q.u, 0.5), v = vec3_lerp(p->v, q.v, 0.5);
    q.c = vec3_axpy(vec3_axpy(p->c, d[0], u), d[1], v);
    return q;
}

enum { ROUNDS = 3 };

/* (X - point) . X_i = 0 with the metric alone, so that it does not diverge where the point is far; three
 * rounds for a cell that turns little. */
bool smooth_foot_find(const smooth_cell *cell, const abut_partials *p, vec3 point, smooth_foot *f) {
    f->step[0] = f->step[1] = 0, f->p = *p;
    for (int i = 0; i < ROUNDS; i++) {
        const abut_partials *q = &f->p;
        vec3 d = vec3_sub(point, q->c);
        double uu = vec3_length2(q->u), uv = vec3_dot(q->u, q->v), vv = vec3_length2(q->v),
               a = vec3_dot(d, q->u), b = vec3_dot(d, q->v), det = uu * vv - uv * uv;
        if (!(det > 0)) return false;
        f->step[0] += (vv * a - uv * b) / det, f->step[1] += (uu * b - uv * a) / det;
        double far = sqrt(f->step[0] * f->step[0] + f->step[1] * f->step[1]), most = 2 * cell->size;
        if (far > most) f->step[0] *= most / far, f->step[1] *= most / far;
        f->p = moved_by(p, f->step);
    }
    return true;
}
