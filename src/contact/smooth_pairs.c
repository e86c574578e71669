/* Where two smooth surfaces can have a place: down the trees of cells of both, all pairs of cells except
 * those that cannot have one, because
 *
 *   - their balls, or the slabs they lie in, are farther apart than reach, or deeper in each other than
 * places are looked for,
 *   - no normal of the one is opposite to a normal of the other,
 *   - none of their points lie over each other along such a normal: X - Y = g n for a place, so the distance
 *     of the two middles from the double cone of the normals is at most the sum of the radii,
 *   - in some direction the one bends away from the other everywhere: what would be a place there is none
 * that is nearest.
 *
 * A pair of last cells in which the curvatures add up to something positive everywhere has one place at most;
 * where a step of Newton's method from their middles leaves both by far, it is not in them. */
#include "contact/patch.h"
#include "contact/smooth.h"

typedef struct searcher {
    const smooth_samples *x, *y;
    pose x_in_y;
    mat3 turn; /* of x_in_y */
    double reach, depth;
    bool born;
    smooth_pair_visit *visit;
    void *user;
} searcher;

/* Whether two cells, at x_in_y, can have normals that are opposite to each other: the angle between the axes
 * of their cones (one turned round) is at most the sum of their half-angles. */
static bool can_face(const smooth_cell *x, vec3 x_axis, const smooth_cell *y) {
    double sine = x->sine * y->cosine + x->cosine * y->sine;
    if (x->cosine <= 0 || y->cosine <= 0 || sine <= 0) return true;
    double cosine = x->cosine * y->cosine - x->sine * y->sine;
    return -vec3_dot(x_axis, y->axis) >= cosine;
}

/* Distance of d from the double cone of angle (cosine, sine) around +-axis, or less. */
static double from_cone(vec3 d, vec3 axis, double cosine, double sine) {
    double along = vec3_dot(d, axis);
    double across = sqrt(fmax(vec3_length2(d) - along * along, 0));
    return across * cosine - fabs(along) * sine;
}

/* How far the cell k reaches along the axis, with which its own makes the angle of cosine c. */
static double extent(const smooth_cell *k, double c) {
    return fabs(c) * k->thickness + sqrt(fmax(1 - c * c, 0)) * k->radius;
}

/* A cell whose normals lie around `axis`, and another one whose middle is at d from its middle, with `angle`
 * the cosine between their axes: whether a place can be closer than reach, and no deeper than the depth. */
static bool slabs_meet(const searcher *s, const smooth_cell *k, vec3 axis, const smooth_cell *other, vec3 d,
                       double angle) {
    double along = vec3_dot(d, axis), thick = k->thickness + extent(other, angle);
    return along - thick <= s->reach && along + thick >= -s->depth;
}

/* Between two bodies that overlap, curvatures are larger than at the surface: a tenth is kept for that. */
static bool bends_away(double one, double two) { return one + two < -0.1 * fmax(fabs(one), fabs(two)); }

static bool can_have_place(const searcher *s, const smooth_cell *x, const smooth_cell *y) {
    vec3 d = vec3_sub(vec3_add(mat3_mul_vec(s->turn, x->center), s->x_in_y.position), y->center);
    double radii = x->radius + y->radius, far = radii + s->reach;
    if (vec3_length2(d) > far * far) return false;
    if (bends_away(x->least_most, y->most) || bends_away(y->least_most, x->most)) return false;
    vec3 axis = mat3_mul_vec(s->turn, x->axis);
    if (!can_face(x, axis, y)) return false;
    double angle = vec3_dot(axis, y->axis);
    return (x->cosine <= 0 || (from_cone(d, axis, x->cosine, x->sine) <= radii &&
                               slabs_meet(s, x, axis, y, vec3_neg(d), angle))) &&
           (y->cosine <= 0 ||
            (from_cone(d, y->axis, y->cosine, y->sine) <= radii && slabs_meet(s, y, y->axis, x, d, angle)));
}

/* A hollow is tighter seen across a gap: k / (1 + g k). */
static double across_gap(double curvature, double gap) {
    if (curvature >= 0) return curvature;
    return 1 + gap * curvature > 0 ? curvature / (1 + gap * curvature) : -INFINITY;
}

static bool has_one_place(const searcher *s, const smooth_cell *x, const smooth_cell *y) {
    double gap = fmax(s->reach, 0);
    return x->cosine > 0 && y->cosine > 0 && !smooth_can_appear(x->least, across_gap(y->least, gap)) &&
           !smooth_can_appear(across_gap(x->least, gap), y->least);
}

/* ---- two last cells */

/* How wrong the normal at a foot can be: the curvature differs within the cell by as much, times its radius.
 */
static double error_of(const smooth_cell *c) {
    return fmin(0.5 * (c->least_most - c->least) * c->radius, 0.5);
}

/* Whether the cell k, whose middle is p and whose axis and way are given in the same axes as the foot, can
 * have a place with the points around the foot: feet of its points are as far from it as they are from the
 * middle, or half as far again, across a gap of a third of the radius of a hollow. */
static bool stands_over(const searcher *s, const smooth_cell *k, vec3 middle, vec3 axis, vec3 way,
                        const smooth_cell *below, vec3 below_center, const smooth_foot *f) {
    double radius = 1.5 * k->radius, bent = fmax(fabs(below->least), fabs(below->most)) * radius;
    if (vec3_distance(f->p.c, below_center) > below->radius + radius) return false;
    double error = error_of(below), turn = error + fmin(bent, 1);
    vec3 out = abut_partials_normal(&f->p), n = vec3_neg(out);
    if (fabs(vec3_dot(n, way)) > k->turn[0] + turn || fabs(vec3_triple(n, axis, way)) > k->turn[1] + turn ||
        vec3_dot(n, axis) < -turn)
        return false;
    double gap = vec3_dot(out, vec3_sub(middle, f->p.c)), angle = vec3_dot(out, axis);
    double thick = 2 * extent(k, angle) + bent * radius + error * radius;
    return gap - thick <= s->reach && gap + thick >= -s->depth;
}

/* Of a pair with one place at most: a step of Newton's method that goes farther than this many times the size
 * of a cell leads away: the normals turn little, and the Jacobian with them, so that it is right to a part of
 * its length. */
#define BY_FAR 3

static bool leads_away(const double *step, const smooth_cell *c) {
    return step[0] * step[0] + step[1] * step[1] > BY_FAR * BY_FAR * c->size * c->size;
}

/* The smaller of the cells stands over its foot on the larger one. */
static bool meet_last(searcher *s, const smooth_cell *x, const smooth_cell *y) {
    smooth_pair pair = {.x = x, .y = y, .step = INFINITY, .one = has_one_place(s, x, y)};
    pair.at[0] = (abut_surface_point){x->patch, x->u, x->v};
    pair.at[1] = (abut_surface_point){y->patch, y->u, y->v};
    if (!x->regular || !y->regular) return s->visit(s->user, &pair);
    abut_partials px = patch_moved(&x->p, s->turn, s->x_in_y.position);
    vec3 axis = mat3_mul_vec(s->turn, x->axis), way = mat3_mul_vec(s->turn, x->way);
    vec3 center = vec3_add(mat3_mul_vec(s->turn, x->center), s->x_in_y.position);
    smooth_foot f;
    const abut_partials *on_x = &px, *on_y = &y->p;
    if (x->radius <= y->radius) {
        if (!smooth_foot_find(y, &y->p, px.c, &f)) return s->visit(s->user, &pair);
        if (!stands_over(s, x, px.c, axis, way, y, y->center, &f)) return true;
        on_y = &f.p, pair.at[1].u += f.step[0], pair.at[1].v += f.step[1];
    } else {
        if (!smooth_foot_find(x, &px, y->p.c, &f)) return s->visit(s->user, &pair);
        if (!stands_over(s, y, y->p.c, y->axis, y->way, x, center, &f)) return true;
        on_x = &f.p, pair.at[0].u += f.step[0], pair.at[0].v += f.step[1];
    }
    double step[4];
    if (patch_patch_step(on_x, on_y, step)) {
        if (pair.one && (leads_away(step, x) || leads_away(step + 2, y))) return true;
        pair.ahead = vec3_axpy(vec3_axpy(on_x->c, step[0], on_x->u), step[1], on_x->v);
        pair.step = vec3_distance(pair.ahead, on_x->c);
    }
    return s->visit(s->user, &pair);
}

static bool meet(searcher *s, const smooth_cell *x, const smooth_cell *y) {
    if (!can_have_place(s, x, y)) return true;
    if (x->count == 0 && y->count == 0) return meet_last(s, x, y);
    if (y->count == 0 || (x->count > 0 && x->radius >= y->radius)) {
        for (int i = 0; i < x->count; i++)
            if (!meet(s, &s->x->cells.data[x->first + i], y)) return false;
    } else {
        for (int i = 0; i < y->count; i++)
            if (!meet(s, x, &s->y->cells.data[y->first + i])) return false;
    }
    return true;
}

static bool two_patches(void *user, int32_t i, int32_t j) {
    searcher *s = user;
    if (s->born && !smooth_can_appear(s->x->bounds[i].least_curvature, s->y->bounds[j].least_curvature))
        return true;
    return meet(s, &s->x->cells.data[i], &s->y->cells.data[j]);
}

bool smooth_pairs(const contact_shape *x, const motion *mx, const contact_shape *y, const motion *my,
                  double reach, double depth, bool born, smooth_pair_visit *visit, void *user) {
    pose px = {mx->center, mx->rotation}, py = {my->center, my->rotation};
    searcher s = {.x = x->smooth,
                  .y = y->smooth,
                  .x_in_y = pose_relative(px, py),
                  .reach = reach,
                  .depth = depth,
                  .born = born,
                  .visit = visit,
                  .user = user};
    s.turn = quat_matrix(s.x_in_y.rotation);
    return box_tree_pairs(&x->faces, &y->faces, pose_relative(py, px), reach, two_patches, &s);
}
