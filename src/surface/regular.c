/* Whether bodies can touch a surface: each patch must have a tangent plane up to its border.
 *
 * Where c_u x c_v vanishes (a pole, where an edge of a Bezier patch is shrunk to a point; a face of a cage
 * without area) there are no contact coordinates: a place there can neither be found by Newton's method nor
 * be followed, and a body would fall through. */
#include "surface/surface.h"

/* A place of a patch: a corner, a quarter of an edge, or the middle of the domain. */
enum { ON_EDGE = 4 };
static void place_of(const abut_surface *s, const patch *p, int k, double at[2]) {
    at[0] = at[1] = 0;
    if (k < ON_EDGE * p->sides) {
        const double *a = surface_corner(s, p->first + k / ON_EDGE),
                     *b = surface_corner(s, p->first + (k / ON_EDGE + 1) % p->sides);
        double t = (double)(k % ON_EDGE) / ON_EDGE;
        for (int i = 0; i < 2; i++) at[i] = a[i] + t * (b[i] - a[i]);
        return;
    }
    for (int i = 0; i < p->sides; i++)
        for (int c = 0; c < 2; c++) at[c] += surface_corner(s, p->first + i)[c] / p->sides;
}

/* |c_u x c_v| against the largest |c_u|^2 + |c_v|^2 of the patch: 1e-10 is far below what a needle has, and
 * far above the rounding of what is collapsed. */
static abut_status check_patch(const abut_surface *s, int index, abut_error *error) {
    const patch *p = surface_patch(s, index);
    double size = 0, least = INFINITY, where[2] = {0, 0};
    for (int k = 0; k <= ON_EDGE * p->sides; k++) {
        double at[2];
        partials c;
        place_of(s, p, k, at);
        if (!patch_evaluate(s, p, at[0], at[1], 1, &c)) continue; /* tangents of no meaning in size */
        double area = vec3_length(vec3_cross(c.u, c.v));
        size = fmax(size, vec3_length2(c.u) + vec3_length2(c.v));
        if (!(area >= least)) least = area, where[0] = at[0], where[1] = at[1];
    }
    if (least > 1e-10 * size) return ABUT_OK;
    return fail(
        error, ABUT_UNSUPPORTED,
        "patch %d has no tangent plane at %g, %g: an edge of its net is shrunk to a point, or faces of "
        "its cage have no area; use patches without poles (a Loop cage, an ellipsoid), or remove such "
        "faces",
        index, where[0], where[1]);
}

abut_status abut_surface_check(const abut_surface *s, abut_error *error) {
    for (int p = 0; p < s->patch_count; p++) {
        abut_status status = check_patch(s, p, error);
        if (status != ABUT_OK) return status;
    }
    return ABUT_OK;
}
