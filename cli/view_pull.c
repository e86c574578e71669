/* Pulling a body by a spring (see view_pull.h).
 *
 * The spring of stiffness k = m w^2 with w = 8 / s is damped critically, F = k (to - p) - 2 m w v_p at the
 * point p = c + R at, so that the body follows the hand in about half a second whatever its mass; the pull is
 * at most 60 times the weight on earth, so that a body held through a floor does not hammer it.  The torque
 * is (p - c) x F and a drag on the spin, which calms what hangs on the spring.  Force and torque stay the
 * same over a frame: with w dt = 8 / 60 the spring is still far from what an explicit rule would not bear. */
#include "view_pull.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double rate = 8, most = 600; /* w, 1/s; the largest acceleration, m/s2 */

struct view_pull {
    abut_world_def world;
    abut_force_def *forces;
    abut_model *model;
    double (*values)[3]; /* two a body: force, torque */
    int bodies;
};

static bool give(void *user, double time, double *out, int count) {
    (void)time;
    memcpy(out, user, (size_t)(count < 3 ? count : 3) * sizeof *out);
    return true;
}

view_pull *view_pull_create(const abut_world_def *world, abut_error *error) {
    view_pull *p = calloc(1, sizeof *p);
    int bodies = world->body_count, count = world->force_count;
    if (!p) return NULL;
    p->world = *world, p->bodies = bodies;
    p->forces = calloc((size_t)count + 2 * (size_t)bodies + 1, sizeof *p->forces);
    p->values = calloc(2 * (size_t)bodies + 1, sizeof *p->values);
    if (p->forces && p->values) {
        if (count) memcpy(p->forces, world->forces, (size_t)count * sizeof *p->forces);
        for (int i = 0; i < bodies; i++) {
            if (world->bodies[i].fixed || world->bodies[i].kinematic) continue;
            for (int k = 0; k < 2; k++)
                p->forces[count++] = (abut_force_def){
                    .body = i, .is_torque = k == 1, .function = give, .user = p->values[2 * i + k]};
        }
        p->world.forces = p->forces, p->world.force_count = count;
        if (abut_model_create(NULL, &p->world, &p->model, error) == ABUT_OK) return p;
    }
    view_pull_free(p);
    return NULL;
}

const abut_model *view_pull_model(const view_pull *p) { return p->model; }

void view_pull_free(view_pull *p) {
    if (!p) return;
    abut_model_free(p->model);
    free(p->forces);
    free(p->values);
    free(p);
}

static void cross(const double *a, const double *b, double *out) {
    out[0] = a[1] * b[2] - a[2] * b[1], out[1] = a[2] * b[0] - a[0] * b[2],
    out[2] = a[0] * b[1] - a[1] * b[0];
}

void view_pull_aim(view_pull *p, const abut_sim *run, const view_grip *g) {
    memset(p->values, 0, 2 * (size_t)p->bodies * sizeof *p->values);
    if (g->body < 0 || g->body >= p->bodies) return;
    abut_mass mass = abut_model_body_mass(p->model, g->body);
    if (!isfinite(mass.mass)) return;
    abut_motion m = abut_sim_motion(run, g->body);
    abut_vec3 point = abut_pose_point((abut_pose){m.center, m.rotation}, g->at);
    double arm[3] = {point.x - m.center.x, point.y - m.center.y, point.z - m.center.z};
    double spin[3] = {m.spin.x, m.spin.y, m.spin.z}, turn[3];
    cross(spin, arm, turn);
    double velocity[3] = {m.velocity.x + turn[0], m.velocity.y + turn[1], m.velocity.z + turn[2]};
    double away[3] = {g->to.x - point.x, g->to.y - point.y, g->to.z - point.z};
    double w = rate * sqrt(g->stiffness), *force = p->values[2 * g->body], *torque = force + 3, size = 0;
    for (int i = 0; i < 3; i++) {
        force[i] = mass.mass * (w * w * away[i] - 2 * w * velocity[i]);
        size += force[i] * force[i];
    }
    double limit = most * mass.mass / sqrt(size);
    for (int i = 0; i < 3 && limit < 1; i++) force[i] *= limit;
    cross(arm, force, torque);
    double inertia = (mass.inertia[0] + mass.inertia[1] + mass.inertia[2]) / 3;
    for (int i = 0; i < 3; i++) torque[i] -= 2 * inertia * spin[i];
}
