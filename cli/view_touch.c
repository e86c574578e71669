/* Where two recorded bodies touch at an instant, also when they part at once: the region of an impact.
 *
 * Two solids: the regions of Bouma and Vanecek (abut/touch.h), with their holes.  A solid and a half-space:
 * the faces, edges and vertices within the touching distance of its plane.  Poses come from the dense output.
 * Nothing for other shapes, which touch in the event's point. */
#include "view_blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A body at the instant. */
typedef struct placed {
    abut_recorded_geometry shape;
    abut_pose pose; /* of the shape's origin */
    int body, geometry;
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
    p->body = body, p->geometry = b.geometry;
    return ABUT_OK;
}

/* ---- solids that are kept */

/* The solid of a body, built when it is first asked for. */
static abut_status find_solid(view_solids *all, const placed *p, abut_solid **solid, abut_error *error) {
    if (p->geometry >= all->count) {
        void *grown = realloc(all->kept, (size_t)(p->geometry + 1) * sizeof *all->kept);
        if (!grown) return ABUT_NO_MEMORY;
        all->kept = grown;
        memset(all->kept + all->count, 0, (size_t)(p->geometry + 1 - all->count) * sizeof *all->kept);
        all->count = p->geometry + 1;
    }
    *solid = all->kept[p->geometry].solid;
    if (*solid) return ABUT_OK;
    abut_status status = view_build_solid(&p->shape, solid, error);
    if (status == ABUT_OK) all->kept[p->geometry].solid = *solid;
    return status;
}

static abut_status find_ready(view_solids *all, const placed *p, abut_touch_solid **ready,
                              abut_error *error) {
    abut_solid *solid;
    abut_status status = find_solid(all, p, &solid, error);
    if (status == ABUT_OK && !all->kept[p->geometry].ready)
        status = abut_touch_solid_create(NULL, solid, &all->kept[p->geometry].ready, error);
    if (status == ABUT_OK) *ready = all->kept[p->geometry].ready;
    return status;
}

void view_solids_free(view_solids *all) {
    for (int i = 0; i < all->count; i++) {
        abut_touch_solid_free(NULL, all->kept[i].ready);
        abut_solid_free(NULL, all->kept[i].solid);
    }
    free(all->kept);
    *all = (view_solids){0};
}

/* A region of two bodies: its points, and its border where that is not their hull. */
typedef struct region {
    int dimension, count, loops;
    const abut_vec3 *points, *corners;
    const int32_t *loop_start;
    abut_vec3 normal, center;
    double area;
} region;

/* As a contact without forces: those of the instant are impulses. */
static void put_region(view_bytes *out, view_layout layout, const placed *a, const placed *b, region g) {
    abut_vec3 *normals = calloc((size_t)g.count + 1, sizeof *normals);
    abut_vec3 *forces = calloc((size_t)g.count + 1, sizeof *forces);
    for (int i = 0; i < g.count && normals; i++) normals[i] = g.normal;
    abut_contact contact = {.body = {a->body, b->body},
                            .dimension = g.dimension,
                            .point_count = g.count,
                            .points = g.points,
                            .normals = normals,
                            .forces = forces,
                            .area = g.area,
                            .center_of_pressure = g.center,
                            .loop_count = g.loops,
                            .loop_start = g.loop_start,
                            .corners = g.corners};
    if (normals && forces)
        view_put_contact(out, layout, -2, &contact);
    else
        out->failed = true;
    free(normals), free(forces);
}

/* ---- two solids */

/* The points are the corners of the region's hull; they are its border too where it has no dents and no
 * holes. */
static void put_touch(const abut_touch *touch, view_layout layout, const placed *a, const placed *b,
                      view_bytes *out) {
    for (int64_t i = 0; i < touch->region_count; i++) {
        const abut_touch_region *g = &touch->regions[i];
        const int32_t *start = touch->loop_start + g->first_loop;
        int32_t *from_zero = calloc((size_t)g->loops + 1, sizeof *from_zero);
        if (!from_zero) {
            out->failed = true;
            return;
        }
        for (int32_t l = 0; l <= g->loops; l++) from_zero[l] = start[l] - start[0];
        bool border = g->dimension == 2 && (g->loops > 1 || from_zero[1] != g->contacts);
        put_region(out, layout, a, b,
                   (region){.dimension = g->dimension,
                            .count = g->contacts,
                            .points = touch->contacts + g->first_contact,
                            .loops = border ? g->loops : 0,
                            .loop_start = from_zero,
                            .corners = touch->points + start[0],
                            .normal = g->normals[0],
                            .center = g->center,
                            .area = g->area});
        free(from_zero);
    }
}

static abut_status touch_solids(view_solids *all, const placed *a, const placed *b, double epsilon,
                                view_layout layout, view_bytes *out, abut_error *error) {
    abut_touch_solid *ready[2];
    abut_touch *touch = NULL;
    abut_touch_options options = {.epsilon = epsilon};
    abut_status status = find_ready(all, a, &ready[0], error);
    if (status == ABUT_OK) status = find_ready(all, b, &ready[1], error);
    if (status == ABUT_OK)
        status = abut_touch_find(NULL, ready[0], a->pose, ready[1], b->pose, &options, &touch, error);
    if (status == ABUT_OK) put_touch(touch, layout, a, b, out);
    abut_touch_free(NULL, touch);
    return status;
}

/* ---- a solid on a half-space: its maximal faces, edges and vertices in the plane */

typedef struct resting {
    const placed *a, *b;
    const abut_solid *solid;
    abut_pose pose;
    view_layout layout;
    view_bytes *out;
    abut_vec3 normal;   /* from b to a */
    bool reversed;      /* the solid is a: its faces are seen from the plane, their regions against it */
    bool *on, *covered; /* of each vertex: in the plane; in a region already */
    bool *flat;         /* of each face: in the plane */
    abut_vec3 *corners; /* of one region */
    int64_t *loop;      /* vertices of one loop */
    int32_t *loop_start;
    int64_t most; /* corners of a face */
} resting;

static abut_vec3 vertex_at(const resting *r, int64_t v) {
    return abut_pose_point(r->pose, abut_solid_vertex(r->solid, v));
}

/* Area and centroid of loops, holes counting against: a sum of triangles with the first corner. */
static double area_of(const resting *r, int loops, abut_vec3 *center) {
    abut_vec3 o = r->corners[0], moment = {0, 0, 0};
    double twice = 0;
    for (int l = 0; l < loops; l++)
        for (int32_t i = r->loop_start[l], end = r->loop_start[l + 1]; i < end; i++) {
            abut_vec3 p = r->corners[i], q = r->corners[i + 1 < end ? i + 1 : r->loop_start[l]];
            abut_vec3 s = {p.x - o.x, p.y - o.y, p.z - o.z}, t = {q.x - o.x, q.y - o.y, q.z - o.z};
            abut_vec3 c = {s.y * t.z - s.z * t.y, s.z * t.x - s.x * t.z, s.x * t.y - s.y * t.x};
            double d = dot(r->normal, c);
            twice += d;
            moment.x += d * (s.x + t.x), moment.y += d * (s.y + t.y), moment.z += d * (s.z + t.z);
        }
    double scale = twice > 0 ? 1 / (3 * twice) : 0;
    *center = (abut_vec3){o.x + scale * moment.x, o.y + scale * moment.y, o.z + scale * moment.z};
    return twice / 2;
}

/* The face as a region, if all of its border is in the plane. */
static void put_face(resting *r, int64_t face) {
    int64_t loops = abut_solid_face_loops(r->solid, face, NULL, NULL), count = 0;
    for (int64_t l = 0; l < loops; l++) {
        int64_t n = abut_solid_loop(r->solid, face, l, r->loop, r->most);
        r->loop_start[l] = (int32_t)count;
        for (int64_t i = 0; i < n; i++) {
            if (!r->on[r->loop[i]]) return;
            r->corners[count++] = vertex_at(r, r->loop[r->reversed ? n - 1 - i : i]);
        }
    }
    r->loop_start[loops] = (int32_t)count;
    for (int64_t l = 0; l < loops; l++) {
        int64_t n = abut_solid_loop(r->solid, face, l, r->loop, r->most);
        for (int64_t i = 0; i < n; i++) r->covered[r->loop[i]] = true;
    }
    r->flat[face] = true;
    region g = {.dimension = 2, .count = (int)count, .points = r->corners, .normal = r->normal};
    g.area = area_of(r, (int)loops, &g.center);
    g.loops = (int)loops, g.loop_start = r->loop_start, g.corners = r->corners;
    put_region(r->out, r->layout, r->a, r->b, g);
}

static void put_edge(resting *r, int64_t edge) {
    int64_t v[2], faces[2];
    abut_solid_edge(r->solid, edge, v, faces);
    if (!r->on[v[0]] || !r->on[v[1]] || r->flat[faces[0]] || r->flat[faces[1]]) return;
    abut_vec3 ends[2] = {vertex_at(r, v[0]), vertex_at(r, v[1])};
    abut_vec3 middle = {(ends[0].x + ends[1].x) / 2, (ends[0].y + ends[1].y) / 2,
                        (ends[0].z + ends[1].z) / 2};
    r->covered[v[0]] = r->covered[v[1]] = true;
    put_region(r->out, r->layout, r->a, r->b,
               (region){.dimension = 1, .count = 2, .points = ends, .normal = r->normal, .center = middle});
}

static void put_resting(resting *r, const abut_solid_facts *facts) {
    for (int64_t f = 0; f < facts->maximal_faces; f++) put_face(r, f);
    for (int64_t e = 0; e < facts->maximal_edges; e++) put_edge(r, e);
    for (int64_t v = 0; v < facts->maximal_vertices; v++) {
        abut_vec3 x = vertex_at(r, v);
        if (!r->on[v] || r->covered[v]) continue;
        put_region(r->out, r->layout, r->a, r->b,
                   (region){.dimension = 0, .count = 1, .points = &x, .normal = r->normal, .center = x});
    }
}

static abut_status touch_plane(view_solids *all, const placed *a, const placed *b, bool plane_first,
                               double epsilon, view_layout layout, view_bytes *out, abut_error *error) {
    const placed *plane = plane_first ? a : b, *body = plane_first ? b : a;
    const double *size = plane->shape.size;
    abut_vec3 n = turned(plane->pose.rotation, (abut_vec3){size[5], size[6], size[7]});
    double offset = size[8] + dot(n, plane->pose.position), sign = plane_first ? -1 : 1;
    abut_solid *solid = NULL;
    abut_status status = find_solid(all, body, &solid, error);
    if (status != ABUT_OK) return status;
    abut_solid_facts facts = abut_solid_facts_of(solid);
    /* there are no more vertices, faces or corners of a face than half-edges */
    size_t most = (size_t)(2 * facts.maximal_edges + 2);
    resting r = {.a = a, .b = b, .solid = solid, .pose = body->pose, .layout = layout, .out = out};
    r.normal = (abut_vec3){sign * n.x, sign * n.y, sign * n.z};
    r.reversed = !plane_first, r.most = (int64_t)most;
    r.on = calloc(most, sizeof *r.on), r.covered = calloc(most, sizeof *r.covered);
    r.flat = calloc(most, sizeof *r.flat), r.loop = calloc(most, sizeof *r.loop);
    r.corners = calloc(most, sizeof *r.corners), r.loop_start = calloc(most, sizeof *r.loop_start);
    if (r.on && r.covered && r.flat && r.loop && r.corners && r.loop_start) {
        for (int64_t v = 0; v < facts.maximal_vertices; v++)
            r.on[v] = fabs(dot(n, vertex_at(&r, v)) - offset) <= epsilon;
        put_resting(&r, &facts);
    } else
        out->failed = true;
    free(r.on), free(r.covered), free(r.flat), free(r.loop), free(r.corners), free(r.loop_start);
    return ABUT_OK;
}

/* Event times are accurate to 1e-9 s or so, and positions there to epsilon. */
abut_status view_touch(abut_recording *r, view_solids *all, view_layout layout, double time, int a, int b,
                       view_bytes *out, abut_error *error) {
    placed pa, pb;
    const char *text = abut_recording_meta(r, "touching");
    double epsilon = 4 * (text ? strtod(text, NULL) : 1e-6);
    abut_status status = place_body(r, a, time, &pa, error);
    if (status == ABUT_OK) status = place_body(r, b, time, &pb, error);
    if (status != ABUT_OK) return status;
    bool solid_a = strcmp(pa.shape.kind, "solid") == 0, solid_b = strcmp(pb.shape.kind, "solid") == 0;
    bool plane_a = strcmp(pa.shape.kind, "halfspace") == 0, plane_b = strcmp(pb.shape.kind, "halfspace") == 0;
    if (solid_a && solid_b) status = touch_solids(all, &pa, &pb, epsilon, layout, out, error);
    if ((solid_a && plane_b) || (plane_a && solid_b))
        status = touch_plane(all, &pa, &pb, plane_a, epsilon, layout, out, error);
    if (status == ABUT_OK && out->failed) status = ABUT_NO_MEMORY;
    return status;
}
