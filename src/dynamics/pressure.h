/* Pressure spread over a region of contact, and the friction of a rigid slip under it.
 *
 *      p(x) = max(0, k . f(x)),  f = (1, x, y)        an elastic foundation that does not pull
 *
 * with k such that p carries the load (N, N x_c, N y_c): uniform where the load stands over the centroid,
 * affine where it stands beside, on the pressed part of the region alone where the affine one would pull.
 *
 * All is in the plane of contact, in lengths of the region's size about its centroid: x, y are pure numbers,
 * a twist is (v_x, v_y, w size), a wrench (F_x, F_y, torque / size).
 *
 * A border is a list of pieces that together run around the region, which is on their left (holes the other
 * way round).  A piece is a rational quadratic curve: an edge, or an arc of less than half a turn. */
#ifndef DYNAMICS_PRESSURE_H
#define DYNAMICS_PRESSURE_H

#include "base/base.h"

typedef struct border_piece {
    double from[2], middle[2], to[2]; /* x(t) = ((1-t)^2 from + 2t(1-t) middle + t^2 to) / the same of the */
    double weight;                    /* weights 1, weight, 1;  an edge: middle = (from + to)/2, weight 1 */
} border_piece;

border_piece border_edge(const double from[2], const double to[2]);
/* The circle as eight arcs, counter-clockwise. */
void border_circle(const double center[2], double radius, border_piece out[8]);

/* m = integral of f f^T over the region. */
void border_moments(const border_piece *pieces, int count, double m[3][3]);

/* The part of the region where line . f >= 0.  `out` has room for BORDER_CLIPPED(count); returns how many. */
#define BORDER_CLIPPED(count) (4 * (count) + 4)
int border_clip(const border_piece *pieces, int count, const double line[3], border_piece *out);

/* g[w][j] = integral of f_j (d, x cross d)_w over the region, d = u/|u| the direction of the slip
 * u = v + w e_z cross x, to 1e-13 of its size wherever the centre of the rotation lies. */
void border_slip(const border_piece *pieces, int count, const double twist[3], double g[3][3]);

/* The pressed part for a load, and k.  `pressed` has room for BORDER_CLIPPED(count).  The part is no smaller
 * than a thousandth of the region: a load next to the border tips.  Returns the count of pieces. */
int pressure_fit(const border_piece *pieces, int count, const double load[3], border_piece *pressed,
                 double k[3]);

/* a y = b of three unknowns, by elimination with pivots; false where a is singular, y is then left as it is.
 */
bool pressure_solve3(const double a[3][3], const double b[3], double y[3]);

#endif
