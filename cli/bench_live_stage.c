/* Stages and figures of `abut bench live`. */
#include "bench_live.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void stage_open(stage *s) {
    memset(s, 0, sizeof *s);
    s->world = abut_default_world();
    s->world.mode = ABUT_LIVE, s->world.step = 1.0 / 60;
    s->world.material.friction = (abut_friction){0.6, 0.6, 0, 0};
    s->options = abut_default_live_options();
    s->options.sleep = false;
}

void stage_close(stage *s) {
    abut_sim_free(s->run);
    abut_model_free(s->model);
    for (int i = 0; i < s->solid_count; i++) abut_solid_free(NULL, s->solids[i]);
    free(s->solids);
    free(s->bodies);
}

/* Room for one more in a list of pointers or bodies; a benchmark without memory ends. */
static void *grow(void *list, int count, int *capacity, size_t size) {
    if (count < *capacity) return list;
    *capacity = *capacity ? 2 * *capacity : 64;
    list = realloc(list, (size_t)*capacity * size);
    if (list) return list;
    cli_complain("no memory for the scene");
    exit(EXIT_NOT_MET);
}

abut_body_def *stage_add(stage *s, abut_shape shape, double x, double y, double z) {
    s->bodies = grow(s->bodies, s->count, &s->capacity, sizeof *s->bodies);
    abut_body_def *b = &s->bodies[s->count++];
    *b = abut_default_body();
    b->shape = shape, b->position = (abut_vec3){x, y, z};
    return b;
}

void stage_add_floor(stage *s) {
    stage_add(s, abut_shape_halfspace((abut_vec3){0, 0, 1}, 0), 0, 0, 0)->fixed = true;
}

abut_shape stage_keep(stage *s, abut_status status, abut_solid *solid, const abut_error *error) {
    if (status != ABUT_OK) {
        cli_error(error);
        exit(EXIT_NOT_MET);
    }
    s->solids = grow(s->solids, s->solid_count, &s->solid_capacity, sizeof *s->solids);
    s->solids[s->solid_count++] = solid;
    return abut_shape_solid(solid);
}

abut_shape stage_box(stage *s, double side) {
    abut_solid *solid = NULL;
    abut_error error;
    abut_status status = abut_solid_box(NULL, side, side, side, &solid, &error);
    return stage_keep(s, status, solid, &error);
}

void stage_start(stage *s) {
    abut_error error;
    s->world.bodies = s->bodies, s->world.body_count = s->count;
    abut_status status = abut_model_create(NULL, &s->world, &s->model, &error);
    if (status == ABUT_OK) status = abut_sim_create(NULL, s->model, NULL, &s->run, &error);
    if (status != ABUT_OK) {
        cli_error(&error);
        exit(EXIT_NOT_MET);
    }
    if (s->world.mode == ABUT_LIVE) abut_live_set_options(s->run, &s->options);
}

static double now(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void stage_steps(stage *s, int count) {
    abut_error error;
    double start = now();
    for (int i = 0; i < count && !s->is_broken; i++)
        if (abut_sim_advance(s->run, abut_sim_time(s->run) + s->world.step, &error) != ABUT_OK) {
            cli_error(&error);
            s->is_broken = true;
        }
    s->seconds += now() - start;
}

abut_motion stage_motion(const stage *s, int body) { return abut_sim_motion(s->run, body); }

/* ---- overlap */

static abut_vec3 turn(abut_quat q, abut_vec3 v) {
    abut_vec3 u = {q.x, q.y, q.z};
    abut_vec3 t = {2 * (u.y * v.z - u.z * v.y), 2 * (u.z * v.x - u.x * v.z), 2 * (u.x * v.y - u.y * v.x)};
    return (abut_vec3){v.x + q.w * t.x + u.y * t.z - u.z * t.y, v.y + q.w * t.y + u.z * t.x - u.x * t.z,
                       v.z + q.w * t.z + u.x * t.y - u.y * t.x};
}

/* The pose of the shape's origin, which is not the centre of mass. */
static abut_pose shape_pose(const stage *s, int body) {
    abut_motion m = stage_motion(s, body);
    abut_vec3 c = turn(m.rotation, abut_model_body_mass(s->model, body).center);
    return (abut_pose){{m.center.x - c.x, m.center.y - c.y, m.center.z - c.z}, m.rotation};
}

static void add_depth(stage_overlap *o, double depth) {
    if (!(depth > 0)) return;
    if (depth > o->most) o->most = depth;
    o->mean += depth, o->pairs++;
}

static double depth_in_plane(const stage *s, const abut_hull *h, abut_pose p, const abut_shape *plane) {
    (void)s;
    double most = 0;
    for (int64_t v = 0; v < abut_hull_facts_of(h).vertices; v++) {
        abut_vec3 x = turn(p.rotation, abut_hull_vertex(h, v));
        double d = plane->normal.x * (x.x + p.position.x) + plane->normal.y * (x.y + p.position.y) +
                   plane->normal.z * (x.z + p.position.z);
        if (plane->offset - d > most) most = plane->offset - d;
    }
    return most;
}

stage_overlap stage_measure(stage *s) {
    stage_overlap o = {0};
    abut_hull **hulls = calloc((size_t)s->count + 1, sizeof *hulls);
    abut_pose *poses = calloc((size_t)s->count + 1, sizeof *poses);
    for (int i = 0; hulls && i < s->count; i++)
        if (s->bodies[i].shape.kind == ABUT_SHAPE_SOLID)
            abut_hull_of_solid(NULL, s->bodies[i].shape.solid, &hulls[i], NULL);
    for (int i = 0; hulls && poses && i < s->count; i++) poses[i] = shape_pose(s, i);
    for (int i = 0; hulls && poses && i < s->count; i++) {
        abut_convex a = abut_convex_hull(hulls[i]);
        for (int k = 0; k < s->count && hulls[i]; k++) {
            abut_convex b = abut_convex_hull(hulls[k]);
            abut_convex_gap gap;
            if (s->bodies[k].shape.kind == ABUT_SHAPE_HALFSPACE)
                add_depth(&o, depth_in_plane(s, hulls[i], poses[i], &s->bodies[k].shape));
            if (k <= i || !hulls[k]) continue;
            double reach = abut_hull_facts_of(hulls[i]).radius + abut_hull_facts_of(hulls[k]).radius;
            abut_vec3 x = poses[i].position, y = poses[k].position;
            if (fabs(x.x - y.x) + fabs(x.y - y.y) + fabs(x.z - y.z) > 3 * reach) continue;
            if (abut_convex_closest(&a, poses[i], &b, poses[k], &gap, NULL) == ABUT_OK)
                add_depth(&o, -gap.distance);
        }
    }
    for (int i = 0; hulls && i < s->count; i++) abut_hull_free(NULL, hulls[i]);
    free(hulls), free(poses);
    if (o.pairs) o.mean /= o.pairs;
    return o;
}
