/* Forces of a step, and the bodies that move by themselves.  Functions of the scene are asked once a step, in
 * the calling thread: forces and motors at its middle, motions at the end of each of its sub-steps. */
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

/* ---- bodies that move by themselves
 *
 * In each sub-step such a body has the constant velocity that takes it to where it is at the end of that
 * one.  (With the mean velocity of the step in all of them a box that slips on a shaken table felt the table
 * turn round up to half a step late.)  It goes at the largest pace of all islands, which is not known before
 * they are; no island has a larger one than its bodies. */

static int times_of(const live *w) { return w->substeps << w->drive_pace; }
static double drive_length(const live *w) { return w->h / (1 << w->drive_pace); }

static bool list_drivers(live *w) {
    w->drivers.count = w->drive_pace = 0;
    for (int i = 0; i < w->bodies; i++) {
        if (w->rests[i].pace > w->drive_pace) w->drive_pace = w->rests[i].pace;
        if (w->body[i].kinematic && !array_push(w->context, &w->drivers, i)) return false;
    }
    w->drives.count = w->drivers.count * (times_of(w) + 1);
    return array_reserve(w->context, &w->drives, w->drives.count);
}

static motion *drive_of(live *w, int time, int64_t driver) {
    return &w->drives.data[time * w->drivers.count + driver];
}

/* The velocity from one place to another; without a function the spin is what it always was. */
static twist velocity_between(const live *w, int body, const motion *from, const motion *to, double t) {
    twist v = {vec3_scale(vec3_sub(to->center, from->center), 1 / t), w->motions[body].velocity.angular};
    if (!w->model->bodies[body].function) return v;
    /* the rotation between the two poses: vector part 2 sin(angle/2) axis, to fifth order the angle */
    quat q = quat_mul(to->rotation, quat_conj(from->rotation));
    double sign = q.w < 0 ? -1 : 1;
    vec3 u = {sign * q.x, sign * q.y, sign * q.z};
    double s2 = vec3_dot(u, u);
    v.angular = vec3_scale(u, 2 * (1 + s2 / 6 + 3 * s2 * s2 / 40) / t);
    return v;
}

/* Where a body is at the time of that number after the start; at the last one, with its velocity there. */
static abut_status ask_place(live *w, int body, int number, double start, motion *out, abut_error *error) {
    if (number < times_of(w))
        return model_kinematic_place(w->model, body, start + number * drive_length(w), out, error);
    abut_status status = model_kinematic_motion(w->model, body, start + w->dt, &w->kinematic_end[body],
                                                &w->run->accelerations[body], error);
    *out = w->kinematic_end[body];
    return status;
}

/* The mean velocity of the step, from which boxes and contacts are foretold, and how far any point of the
 * body leaves that motion in between. */
static void note_wandering(live *w, int64_t driver) {
    int body = w->drivers.data[driver];
    motion *m = &w->motions[body];
    double turned = 0, far = 0, radius = isfinite(w->radii[body]) ? w->radii[body] : 0, h = drive_length(w);
    m->velocity = velocity_between(w, body, m, &w->kinematic_end[body], w->dt);
    for (int k = 0; k < times_of(w); k++) {
        const motion *d = drive_of(w, k, driver);
        turned += vec3_length(velocity_between(w, body, d, drive_of(w, k + 1, driver), h).angular) * h;
        far = fmax(far, vec3_distance(d->center, vec3_axpy(m->center, k * h, m->velocity.linear)));
    }
    w->wanders[body] = far + fmax(turned - vec3_length(m->velocity.angular) * w->dt, 0) * radius;
}

/* Asks all functions, in the order of time. */
abut_status live_move_kinematic(live *w, double time, abut_error *error) {
    if (!list_drivers(w)) return fail_memory(error);
    for (int64_t j = 0; j < w->drivers.count; j++) *drive_of(w, 0, j) = w->motions[w->drivers.data[j]];
    for (int k = 1; k <= times_of(w); k++)
        for (int64_t j = 0; j < w->drivers.count; j++) {
            abut_status status = ask_place(w, w->drivers.data[j], k, time, drive_of(w, k, j), error);
            if (status != ABUT_OK) return status;
        }
    for (int64_t j = 0; j < w->drivers.count; j++) note_wandering(w, j);
    return ABUT_OK;
}

/* The place where they begin one of the shortest sub-steps, and their velocity in it and before. */
void live_drive(live *w, int substep) {
    int finer = w->finest > w->drive_pace ? w->finest - w->drive_pace : 0; /* than they were asked for */
    int each = finer ? 1 : 1 << (w->drive_pace - w->finest);
    if (substep & ((1 << finer) - 1)) return;
    substep >>= finer;
    for (int64_t j = 0; j < w->drivers.count; j++) {
        const motion *from = drive_of(w, substep * each, j), *to = drive_of(w, (substep + 1) * each, j);
        int body = w->drivers.data[j];
        twist v = velocity_between(w, body, from, to, w->h / (1 << w->finest) * (1 << finer));
        w->motions[body].center = from->center, w->motions[body].rotation = from->rotation;
        w->before[body + 1] = w->velocities[body + 1];
        w->velocities[body + 1] = (live_velocity){live_four(v.linear), live_four(v.angular)};
    }
}
