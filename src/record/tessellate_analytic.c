/* Analytic shapes as triangles with the normals of the true surface.
 *
 * All but the half-space are solids of revolution about z: a profile of rings (radius, height, normal), each
 * of SLICES places.  Two rings at one height with two normals make a crease.  An ellipsoid is a sphere
 * stretched, its normals by the inverse. */
#include "record/tessellate.h"
#include "surface/surface.h"

enum { SLICES = 64, STACKS = 32 };

typedef struct ring {
    double radius, height;
    double out, up; /* unit normal */
} ring;

static bool add_ring(const abut_context *context, tessellation *t, double circle[SLICES][2], ring r) {
    for (int i = 0; i < SLICES; i++) {
        double c = circle[i][0], s = circle[i][1];
        if (!tessellation_point(context, t, vec3_make(r.radius * c, r.radius * s, r.height),
                                vec3_make(r.out * c, r.out * s, r.up)))
            return false;
    }
    return true;
}

/* Rings from the bottom up; cells that have shrunk to a point at a pole are left out. */
static bool join_rings(const abut_context *context, tessellation *t, const ring *rings, int count) {
    double circle[SLICES][2]; /* cosine, sine */
    for (int i = 0; i < SLICES; i++) turn(i, SLICES, &circle[i][0], &circle[i][1]);
    bool fine = tessellation_reserve(context, t, (int64_t)count * SLICES, 2 * (int64_t)count * SLICES);
    for (int j = 0; j < count && fine; j++) fine = add_ring(context, t, circle, rings[j]);
    for (int j = 0; j + 1 < count; j++)
        for (int i = 0; i < SLICES && fine; i++) {
            int64_t a = (int64_t)j * SLICES + i, b = (int64_t)j * SLICES + (i + 1) % SLICES;
            int64_t c = b + SLICES, d = a + SLICES;
            bool crease = rings[j].radius == rings[j + 1].radius && rings[j].height == rings[j + 1].height;
            if (rings[j].radius > 0 && !crease) fine = tessellation_triangle(context, t, a, b, c);
            if (rings[j + 1].radius > 0 && !crease && fine) fine = tessellation_triangle(context, t, a, c, d);
        }
    return fine;
}

/* A circle of the ring `j` as lines. */
static bool draw_rim(const abut_context *context, tessellation *t, int j) {
    for (int i = 0; i < SLICES; i++)
        if (!array_push(context, &t->edges, (int32_t)(j * SLICES + i)) ||
            !array_push(context, &t->edges, (int32_t)(j * SLICES + (i + 1) % SLICES)))
            return false;
    return true;
}

/* Half circles of the given radius, the lower about -half, the upper about +half; with half = 0 a sphere. */
static bool add_capsule(const abut_context *context, tessellation *t, double radius, double half) {
    ring rings[STACKS + 2];
    int count = 0;
    for (int j = 0; j <= STACKS; j++) {
        double up, out;
        turn(j, 2 * STACKS, &up, &out); /* from the north pole down */
        if (j == 0 || j == STACKS) out = 0;
        ring r = {radius * out, -radius * up, out, -up};
        bool equator = 2 * j == STACKS;
        if (2 * j <= STACKS) rings[count++] = (ring){r.radius, r.height - half, r.out, r.up};
        if (2 * j > STACKS || (equator && half > 0))
            rings[count++] = (ring){r.radius, r.height + half, r.out, r.up};
    }
    return join_rings(context, t, rings, count);
}

static bool add_cylinder(const abut_context *context, tessellation *t, double radius, double half) {
    const ring rings[] = {{0, -half, 0, -1},    {radius, -half, 0, -1}, {radius, -half, 1, 0},
                          {radius, half, 1, 0}, {radius, half, 0, 1},   {0, half, 0, 1}};
    return join_rings(context, t, rings, COUNT_OF(rings)) && draw_rim(context, t, 2) &&
           draw_rim(context, t, 3);
}

static void stretch(tessellation *t, vec3 axes) {
    for (int64_t i = 0; i < t->points.count; i++) {
        vec3 *p = &t->points.data[i], *n = &t->normals.data[i];
        *p = vec3_make(p->x * axes.x, p->y * axes.y, p->z * axes.z);
        *n = vec3_unit(vec3_make(n->x / axes.x, n->y / axes.y, n->z / axes.z));
    }
}

/* A cavity is seen from inside. */
static void turn_inside_out(tessellation *t) {
    for (int64_t i = 0; i < t->normals.count; i++) t->normals.data[i] = vec3_neg(t->normals.data[i]);
    for (int64_t i = 0; i + 2 < t->triangles.count; i += 3) {
        int32_t kept = t->triangles.data[i + 1];
        t->triangles.data[i + 1] = t->triangles.data[i + 2], t->triangles.data[i + 2] = kept;
    }
}

/* A square of the plane n . x = offset around the foot of `middle`. */
static bool add_plane(const abut_context *context, tessellation *t, vec3 n, double offset, vec3 middle,
                      double extent) {
    n = vec3_unit(n);
    vec3 foot = vec3_axpy(middle, offset - vec3_dot(n, middle), n);
    vec3 s = vec3_scale(vec3_orthogonal(n), extent), u = vec3_cross(n, s);
    static const int corner[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    for (int i = 0; i < 4; i++) {
        vec3 p = vec3_axpy(vec3_axpy(foot, corner[i][0], s), corner[i][1], u);
        if (!tessellation_point(context, t, p, n)) return false;
    }
    return tessellation_triangle(context, t, 0, 1, 2) && tessellation_triangle(context, t, 0, 2, 3);
}

abut_status tessellate_analytic(const abut_context *context, const abut_shape *shape, vec3 middle,
                                double extent, tessellation *t, abut_error *error) {
    bool fine = true;
    switch (shape->kind) {
    case ABUT_SHAPE_SPHERE:
    case ABUT_SHAPE_CAVITY: fine = add_capsule(context, t, shape->radius, 0); break;
    case ABUT_SHAPE_ELLIPSOID: fine = add_capsule(context, t, 1, 0); break;
    case ABUT_SHAPE_CAPSULE: fine = add_capsule(context, t, shape->radius, shape->length / 2); break;
    case ABUT_SHAPE_CYLINDER: fine = add_cylinder(context, t, shape->radius, shape->length / 2); break;
    case ABUT_SHAPE_HALFSPACE:
        fine = add_plane(context, t, shape->normal, shape->offset, middle, extent);
        break;
    case ABUT_SHAPE_NONE:
    case ABUT_SHAPE_SOLID:
    case ABUT_SHAPE_SURFACE: break;
    }
    if (!fine) return fail_memory(error);
    if (shape->kind == ABUT_SHAPE_ELLIPSOID) stretch(t, shape->axes);
    if (shape->kind == ABUT_SHAPE_CAVITY) turn_inside_out(t);
    return ABUT_OK;
}
