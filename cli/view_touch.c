/* Where two recorded bodies touch at an instant, also when they part at once: the region of an impact.
 *
 * Two solids: the regions of Bouma and Vanecek (abut/touch.h).  A solid and a half-space: the vertices within
 * the touching distance of its plane, in order around their middle.  Poses come from the dense output.
 * Nothing for other shapes, which touch in the event's point. */
#include "view_blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A body at the instant. */
typedef struct placed {
    abut_recorded_geometry shape;
    abut_pose pose; /* of the shape's origin */
    int body;
} placed;

static abut_vec3 turned(abut_quat q, abut_vec3 v) { return abut_pose_point((abut_pose){{0, 0, 0}, q}, v); }

static double dot(abut_vec3 a, abut_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static abut_status place_body(abut_recording *r, int body, double time, placed *p, abut_error *error) {
    abut_recorded_body b;
    abut_motion m;
    abut_status status = abut_recording_body(r, body, &b, error);
    if (status == ABUT_OK) status = abut_recording_geometry(r, b.geometry, &p->shape, error);
    if (status == ABUT_OK) status = abut_recording_motion(r, body, time, &m, error);
    if (status != ABUT_OK) return status;
    abut_vec3 c = turned(m.rotation, b.center);
    p->pose = (abut_pose){{m.center.x - c.x, m.center.y - c.y, m.center.z - c.z}, m.rotation};
    p->body = body;
    return ABUT_OK;
}

/* Contacts without forces: those of the instant are impulses. */
static bool put_region(view_bytes *out, view_layout layout, const placed *a, const placed *b, int dimension,
                       const abut_vec3 *points, int count, abut_vec3 normal, double area) {
    abut_vec3 *normals = calloc((size_t)count + 1, sizeof *normals),
              *forces = calloc((size_t)count + 1, sizeof *forces), center = {0, 0, 0};
    bool fine = normals && forces;
    for (int i = 0; i < count && fine; i++) {
        normals[i] = normal;
        center.x += points[i].x / count, center.y += points[i].y / count, center.z += points[i].z / count;
    }
    abut_contact contact = {.body = {a->body, b->body},
                            .dimension = dimension,
                            .point_count = count,
                            .points = points,
                            .normals = normals,
                            .forces = forces,
                            .area = area,
                            .center_of_pressure = center};
    if (fine) view_put_contact(out, layout, -2, &contact);
    free(normals), free(forces);
    return fine;
}

/* ---- two solids */

static void put_touch(const abut_touch *touch, view_layout layout, const placed *a, const placed *b,
                      view_bytes *out) {
    for (int64_t i = 0; i < touch->region_count; i++) {
        const abut_touch_region *g = &touch->regions[i];
        int32_t first = touch->loop_start[g->first_loop], end = touch->loop_start[g->first_loop + 1];
        if (!put_region(out, layout, a, b, g->dimension, touch->points + first, end - first, g->normals[0],
                        g->area))
            out->failed = true;
    }
}

static abut_status touch_solids(const placed *a, const placed *b, double epsilon, view_layout layout,
                                view_bytes *out, abut_error *error) {
    const placed *both[2] = {a, b};
    abut_solid *solids[2] = {NULL, NULL};
    abut_touch_solid *ready[2] = {NULL, NULL};
    abut_touch *touch = NULL;
    abut_status status = ABUT_OK;
    for (int i = 0; i < 2 && status == ABUT_OK; i++) {
        status = view_build_solid(&both[i]->shape, &solids[i], error);
        if (status == ABUT_OK) status = abut_touch_solid_create(NULL, solids[i], &ready[i], error);
    }
    abut_touch_options options = {.epsilon = epsilon};
    if (status == ABUT_OK)
        status = abut_touch_find(NULL, ready[0], a->pose, ready[1], b->pose, &options, &touch, error);
    if (status == ABUT_OK) put_touch(touch, layout, a, b, out);
    abut_touch_free(NULL, touch);
    for (int i = 0; i < 2; i++) abut_touch_solid_free(NULL, ready[i]), abut_solid_free(NULL, solids[i]);
    return status;
}

/* ---- a solid on a half-space */

typedef struct corner {
    abut_vec3 point;
    double angle;
} corner;

static int by_angle(const void *a, const void *b) {
    double x = ((const corner *)a)->angle, y = ((const corner *)b)->angle;
    return x < y ? -1 : x > y;
}

/* Angles around the middle, in two axes of the plane. */
static void order_corners(corner *corners, int count, abut_vec3 n) {
    abut_vec3 u = fabs(n.x) < 0.6 ? (abut_vec3){0, n.z, -n.y} : (abut_vec3){n.z, 0, -n.x};
    abut_vec3 v = {n.y * u.z - n.z * u.y, n.z * u.x - n.x * u.z, n.x * u.y - n.y * u.x};
    double mu = 0, mv = 0;
    for (int i = 0; i < count; i++)
        mu += dot(corners[i].point, u) / count, mv += dot(corners[i].point, v) / count;
    for (int i = 0; i < count; i++)
        corners[i].angle = atan2(dot(corners[i].point, v) - mv, dot(corners[i].point, u) - mu);
    qsort(corners, (size_t)count, sizeof *corners, by_angle);
}

static double area_of(const abut_vec3 *p, int count, abut_vec3 n) {
    double twice = 0;
    for (int i = 2; i < count; i++) {
        abut_vec3 s = {p[i - 1].x - p[0].x, p[i - 1].y - p[0].y, p[i - 1].z - p[0].z},
                  t = {p[i].x - p[0].x, p[i].y - p[0].y, p[i].z - p[0].z};
        twice += dot(n, (abut_vec3){s.y * t.z - s.z * t.y, s.z * t.x - s.x * t.z, s.x * t.y - s.y * t.x});
    }
    return fabs(twice) / 2;
}

static abut_status touch_plane(const placed *a, const placed *b, bool plane_first, double epsilon,
                               view_layout layout, view_bytes *out) {
    const placed *plane = plane_first ? a : b, *solid = plane_first ? b : a;
    const double *size = plane->shape.size;
    abut_vec3 n = turned(plane->pose.rotation, (abut_vec3){size[5], size[6], size[7]});
    double offset = size[8] + dot(n, plane->pose.position);
    corner *corners = calloc((size_t)solid->shape.point_count + 1, sizeof *corners);
    abut_vec3 *points = calloc((size_t)solid->shape.point_count + 1, sizeof *points);
    int count = 0;
    for (int64_t i = 0; corners && points && i < solid->shape.point_count; i++) {
        abut_vec3 x = abut_pose_point(solid->pose, solid->shape.points[i]);
        if (fabs(dot(n, x) - offset) <= epsilon) corners[count++].point = x;
    }
    if (corners && points && count) {
        if (count > 2) order_corners(corners, count, n);
        for (int i = 0; i < count; i++) points[i] = corners[i].point;
        double area = area_of(points, count, n), sign = plane_first ? -1 : 1;
        int dimension = count == 1 ? 0 : area > epsilon * epsilon ? 2 : 1;
        abut_vec3 normal = {sign * n.x, sign * n.y, sign * n.z};
        if (!put_region(out, layout, a, b, dimension, points, count, normal, dimension == 2 ? area : 0))
            out->failed = true;
    }
    if (!corners || !points) out->failed = true;
    free(corners), free(points);
    return ABUT_OK;
}

/* Event times are accurate to 1e-9 s or so, and positions there to epsilon. */
abut_status view_touch(abut_recording *r, view_layout layout, double time, int a, int b, view_bytes *out,
                       abut_error *error) {
    placed pa, pb;
    const char *text = abut_recording_meta(r, "touching");
    double epsilon = 4 * (text ? strtod(text, NULL) : 1e-6);
    abut_status status = place_body(r, a, time, &pa, error);
    if (status == ABUT_OK) status = place_body(r, b, time, &pb, error);
    if (status != ABUT_OK) return status;
    bool solid_a = strcmp(pa.shape.kind, "solid") == 0, solid_b = strcmp(pb.shape.kind, "solid") == 0;
    bool plane_a = strcmp(pa.shape.kind, "halfspace") == 0, plane_b = strcmp(pb.shape.kind, "halfspace") == 0;
    if (solid_a && solid_b) status = touch_solids(&pa, &pb, epsilon, layout, out, error);
    if ((solid_a && plane_b) || (plane_a && solid_b))
        status = touch_plane(&pa, &pb, plane_a, epsilon, layout, out);
    if (status == ABUT_OK && out->failed) status = ABUT_NO_MEMORY;
    return status;
}
