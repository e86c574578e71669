/* Forces of a step, and the bodies that move by themselves.  Functions of the scene are asked once a step, in
 * the calling thread: forces and motors at its middle, motions at its end. */
#include "sim/live.h"

static abut_status ask_force(const live *w, const model_force *f, double time, vec3 *value,
                             abut_error *error) {
    double v[3] = {f->value.x, f->value.y, f->value.z};
    const char *name = w->model->bodies[f->body].name;
    if (f->function && !f->function(f->user, time, v, 3))
        return fail(error, ABUT_CANCELLED, "the force on body `%s` gave no answer at t = %.9g", name, time);
    *value = vec3_make(v[0], v[1], v[2]);
    if (!vec3_is_finite(*value))
        return fail(error, ABUT_INVALID,
                    "the force on body `%s` at t = %.9g is not finite; correct the function", name, time);
    return ABUT_OK;
}

abut_status live_apply_forces(live *w, double time, abut_error *error) {
    double middle = time + w->dt / 2;
    for (int i = 0; i < w->bodies; i++) {
        const live_body *b = &w->body[i];
        w->constant[i] = (spatial){
            b->movable ? vec3_scale(w->model->world.gravity, b->inertia.mass) : vec3_zero(), vec3_zero()};
    }
    for (int i = 0; i < w->model->force_count; i++) {
        const model_force *f = &w->model->forces[i];
        vec3 value = {0, 0, 0};
        abut_status status = ask_force(w, f, middle, &value, error);
        if (status != ABUT_OK) return status;
        spatial *sum = &w->constant[f->body];
        if (f->is_torque)
            sum->angular = vec3_add(sum->angular, value);
        else
            *sum =
                spatial_add(*sum, spatial_force_at(value, quat_rotate(w->motions[f->body].rotation, f->at)));
    }
    for (int i = 0; i < w->model->hinge_count; i++) {
        const hinge *h = &w->model->hinges[i].h;
        double rate;
        if (!h->has_motor) continue;
        abut_status status = hinge_motor_speed(h, middle, &w->motor_speeds[i], &rate, error);
        if (status != ABUT_OK) return status;
    }
    memcpy(w->wrenches, w->constant, (size_t)w->bodies * sizeof *w->wrenches);
    return ABUT_OK;
}

/* Over the step a kinematic body has the constant velocity that takes it to where it is at the end. */
abut_status live_move_kinematic(live *w, double time, abut_error *error) {
    for (int i = 0; i < w->bodies; i++) {
        if (!w->body[i].kinematic) continue;
        motion *m = &w->motions[i], *end = &w->kinematic_end[i];
        abut_status status =
            model_kinematic_motion(w->model, i, time + w->dt, end, &w->run->accelerations[i], error);
        if (status != ABUT_OK) return status;
        m->velocity.linear = vec3_scale(vec3_sub(end->center, m->center), 1 / w->dt);
        if (!w->model->bodies[i].function) continue;
        /* the rotation between the two poses: vector part 2 sin(angle/2) axis, to third order the angle */
        quat q = quat_mul(end->rotation, quat_conj(m->rotation));
        double sign = q.w < 0 ? -1 : 1;
        vec3 u = {sign * q.x, sign * q.y, sign * q.z};
        double s2 = vec3_dot(u, u);
        m->velocity.angular = vec3_scale(u, 2 * (1 + s2 / 6 + 3 * s2 * s2 / 40) / w->dt);
    }
    return ABUT_OK;
}

/* ---- springs, at each sub-step */

typedef struct end {
    int body;
    vec3 at, arm, velocity;
} end;

static end spring_end(const live *w, int body, vec3 at) {
    if (body < 0) return (end){-1, at, vec3_zero(), vec3_zero()};
    const motion *m = &w->motions[body];
    vec3 arm = quat_rotate(m->rotation, at);
    spatial v = {live_vec3(w->velocities[body + 1].v), live_vec3(w->velocities[body + 1].w)};
    return (end){body, vec3_add(m->center, arm), arm, spatial_velocity_at(v, arm)};
}

static double mobility(const live *w, const end *e, vec3 n) {
    if (e->body < 0 || !w->movable[e->body + 1]) return 0;
    spatial wrench = spatial_force_at(n, e->arm);
    return spatial_dot(wrench, body_apply(&w->body[e->body].inertia, w->motions[e->body].rotation, wrench));
}

static void pull_end(live *w, const end *e, vec3 force) {
    if (e->body >= 0)
        w->wrenches[e->body] = spatial_add(w->wrenches[e->body], spatial_force_at(force, e->arm));
}

/* A spring pulls with k (|d| - l) + c |d|'; one too stiff or too damped for the step is taken implicitly,
 *     f = (k (x + h x') + c x') / (1 + h (c + h k) / m),
 * which is stable for any k and c. */
void live_springs(live *w) {
    if (w->model->spring_count == 0) return;
    memcpy(w->wrenches, w->constant, (size_t)w->bodies * sizeof *w->wrenches);
    for (int i = 0; i < w->model->spring_count; i++) {
        const model_spring *s = &w->model->springs[i];
        end a = spring_end(w, s->a, s->at_a), b = spring_end(w, s->b, s->at_b);
        vec3 d = vec3_sub(b.at, a.at);
        double length = vec3_length(d), h = w->h;
        if (!(length > 0)) continue;
        vec3 n = vec3_scale(d, 1 / length);
        double rate = vec3_dot(n, vec3_sub(b.velocity, a.velocity)), stretch = length - s->length;
        double m = mobility(w, &a, n) + mobility(w, &b, n);
        double stiff = h * (s->damping + h * s->stiffness) * m;
        double pull = s->stiffness * stretch + s->damping * rate;
        if (stiff > 0.25) pull = (pull + h * s->stiffness * rate) / (1 + stiff);
        pull_end(w, &a, vec3_scale(n, pull));
        pull_end(w, &b, vec3_scale(n, -pull));
    }
}
