/* Charts of quadrics and of the torus.  Only square roots are used, so that the bits are the same everywhere
 * and the charts are regular: the central projection of a cube's face on the sphere, and of a square's side
 * on the circle, circle(u) = (1, u) / sqrt(1 + u^2).  Every chart is x = origin + axes f(u, v).
 *
 * The sphere's six charts are the faces of a cube; chart `part` has f = turned (u, v, 1) / sqrt(1 + u^2 +
 * v^2). Data: origin(3), axes by columns (9), ratio. */
#include "surface/jet.h"
#include "surface/surface.h"

typedef struct jet3 {
    jet x, y, z;
} jet3;

static jet times(jet f, jet g) { return jet_mul(f, g, 3); }
static jet times_linear(jet f, double g, double by_u, double by_v) {
    return jet_mul_linear(f, g, by_u, by_v, 3);
}
static jet3 jet3_scale(jet3 f, jet s) { return (jet3){times(f.x, s), times(f.y, s), times(f.z, s)}; }

/* The faces of the cube: +z, -z, +x, -x, +y, -y.  (u, v, 1) -> the point on the face, keeping orientation. */
static jet3 cube_face(int part, double u, double v) {
    jet a = jet_linear(u, 1, 0), b = jet_linear(v, 0, 1), one = jet_constant(1), minus = jet_constant(-1);
    switch (part) {
    case 0: return (jet3){a, b, one};
    case 1: return (jet3){b, a, minus};
    case 2: return (jet3){one, a, b};
    case 3: return (jet3){minus, b, a};
    case 4: return (jet3){b, one, a};
    default: return (jet3){a, minus, b};
    }
}

/* (cos, sin) of the quarter `part` of the circle, as a jet in the parameter t with gradient (by_u, by_v) */
static void circle(int part, double t, double by_u, double by_v, jet *cosine, jet *sine) {
    jet x = jet_linear(t, by_u, by_v), sum = times_linear(x, t, by_u, by_v);
    sum.d[0] += 1;
    jet c = jet_inverse_sqrt(sum), s = times_linear(c, t, by_u, by_v);
    *cosine = part == 0 ? c : part == 1 ? jet_scale(s, -1) : part == 2 ? jet_scale(c, -1) : s;
    *sine = part == 0 ? s : part == 1 ? c : part == 2 ? jet_scale(s, -1) : jet_scale(c, -1);
}

static jet3 unit_chart(abut_patch_kind kind, int part, double u, double v, double ratio) {
    jet3 f = {jet_linear(u, 1, 0), jet_linear(v, 0, 1), jet_constant(0)};
    jet cosine, sine, c2, s2;
    switch (kind) {
    case ABUT_PATCH_SPHERE: {
        f = cube_face(part, u, v);
        jet sum = jet_add(times(f.x, f.x), jet_add(times(f.y, f.y), times(f.z, f.z)));
        return jet3_scale(f, jet_inverse_sqrt(sum));
    }
    case ABUT_PATCH_CYLINDER:
        circle(part, u, 1, 0, &cosine, &sine);
        return (jet3){cosine, sine, jet_linear(v, 0, 1)};
    case ABUT_PATCH_CONE:
        circle(part, u, 1, 0, &cosine, &sine);
        return (jet3){times_linear(cosine, v, 0, 1), times_linear(sine, v, 0, 1), jet_linear(v, 0, 1)};
    case ABUT_PATCH_PARABOLOID: f.z = jet_add(times(f.x, f.x), times(f.y, f.y)); return f;
    case ABUT_PATCH_SADDLE: f.z = jet_add(times(f.x, f.x), jet_scale(times(f.y, f.y), -1)); return f;
    case ABUT_PATCH_TORUS: {
        circle(part % 4, u, 1, 0, &cosine, &sine);
        circle(part / 4, v, 0, 1, &c2, &s2);
        jet radius = jet_scale(c2, ratio);
        radius.d[0] += 1;
        return (jet3){times(radius, cosine), times(radius, sine), jet_scale(s2, ratio)};
    }
    default: return f; /* the plane */
    }
}

void quadric_evaluate(const double *data, abut_patch_kind kind, int part, double u, double v, int order,
                      partials *out) {
    jet3 f = unit_chart(kind, part, u, v, data[12]);
    vec3 cx = {data[3], data[4], data[5]}, cy = {data[6], data[7], data[8]},
         cz = {data[9], data[10], data[11]};
    vec3 *to = (vec3 *)out;
    int end = partials_count(order);
    partials_clear(out, order);
    for (int k = 0; k < end; k++)
        to[k] = vec3_axpy(vec3_axpy(vec3_scale(cx, f.x.d[k]), f.y.d[k], cy), f.z.d[k], cz);
    out->c = vec3_add(out->c, vec3_make(data[0], data[1], data[2]));
}
