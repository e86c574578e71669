/* Bodies that move by themselves: constant velocity and spin, or a function of time. */
#include "numerics/difference.h"
#include "sim/model.h"

/* exp(w t / 2) by Taylor's series of a halved angle and repeated squaring: no libm, so the bits are the same
 * everywhere.  The angle is halved until it is below 1/8, where eight terms reach rounding; k squarings lose
 * about k digits of the last place. */
static quat rotation_by(vec3 w, double t) {
    double angle = vec3_length(w) * fabs(t) / 2, scale = t / 2;
    int squarings = 0;
    for (; angle > 0.125 && squarings < 60; squarings++) angle /= 2, scale /= 2;
    vec3 u = vec3_scale(w, scale);
    double x = vec3_dot(u, u), cosine = 1, sinc = 1, term = 1;
    for (int k = 1; k < 9; k++) {
        term *= -x / ((2 * k - 1) * (2 * k));
        cosine += term;
        sinc += term / (2 * k + 1);
    }
    quat q = {cosine, sinc * u.x, sinc * u.y, sinc * u.z};
    for (int k = 0; k < squarings; k++) q = quat_mul(q, q);
    return quat_unit(q);
}

typedef struct sample {
    double x[7];
} sample;

static abut_status ask(const model_body *body, double time, sample *s, abut_error *error) {
    if (!body->function(body->user, time, s->x, 7))
        return fail(error, ABUT_CANCELLED, "the motion of body `%s` gave no answer at t = %.9g", body->name,
                    time);
    double norm = s->x[3] * s->x[3] + s->x[4] * s->x[4] + s->x[5] * s->x[5] + s->x[6] * s->x[6];
    bool fine = isfinite(norm) && norm > 1e-12;
    for (int i = 0; i < 3; i++) fine = fine && isfinite(s->x[i]);
    if (!fine)
        return fail(error, ABUT_INVALID,
                    "the motion of body `%s` at t = %.9g is not a finite position and quaternion; correct "
                    "the function",
                    body->name, time);
    for (int i = 3; i < 7; i++) s->x[i] /= sqrt(norm);
    return ABUT_OK;
}

/* Position, velocity and acceleration of the centre, and rotation, spin and its rate, from samples around the
 * time, and none before the start, where the function need not be defined; spin w = 2 q' q*, its rate 2 q''
 * q* without the scalar part. */
static abut_status from_function(const model_body *body, double time, motion *m, spatial *acceleration,
                                 abut_error *error) {
    const double h = 1e-3;
    const int at = difference_at(time, h);
    sample s[DIFFERENCE_SAMPLES];
    for (int i = 0; i < DIFFERENCE_SAMPLES; i++) {
        abut_status status = ask(body, time + (i - at) * h, &s[i], error);
        if (status != ABUT_OK) return status;
        /* q and -q are the same rotation: take the one near the sample before */
        double dot = 0;
        for (int k = 3; k < 7; k++) dot += i ? s[i].x[k] * s[i - 1].x[k] : 1;
        for (int k = 3; k < 7 && dot < 0; k++) s[i].x[k] = -s[i].x[k];
    }
    double first[7], second[7];
    for (int k = 0; k < 7; k++) {
        first[k] = difference_first(&s[0].x[k], 7, at, h);
        second[k] = difference_second(&s[0].x[k], 7, at, h);
    }
    const double *x = s[at].x;
    quat q = {x[3], x[4], x[5], x[6]};
    quat w = quat_mul((quat){first[3], first[4], first[5], first[6]}, quat_conj(q));
    quat a = quat_mul((quat){second[3], second[4], second[5], second[6]}, quat_conj(q));
    vec3 spin = {2 * w.x, 2 * w.y, 2 * w.z}, spin_rate = {2 * a.x, 2 * a.y, 2 * a.z};
    vec3 arm = quat_rotate(q, body->center);
    m->rotation = q;
    m->center = vec3_add(vec3_make(x[0], x[1], x[2]), arm);
    m->velocity.angular = spin;
    m->velocity.linear = vec3_add(vec3_make(first[0], first[1], first[2]), vec3_cross(spin, arm));
    if (acceleration) {
        vec3 turn = vec3_add(vec3_cross(spin_rate, arm), vec3_cross(spin, vec3_cross(spin, arm)));
        *acceleration = (spatial){vec3_add(vec3_make(second[0], second[1], second[2]), turn), spin_rate};
    }
    return ABUT_OK;
}

/* Samples of a stretch of time, and what is between them: peaks of the differences, and of the way, that the
 * samples miss. */
enum { SAMPLES = 64 };
#define BETWEEN 1.5

/* Where the centre and the rotation are at the k-th of them; the quaternion on the side of `near`. */
static bool sample_place(const model_body *b, double time, const double *near, double out[7]) {
    sample s;
    double dot = 0;
    if (ask(b, time, &s, NULL) != ABUT_OK) return false;
    for (int i = 3; i < 7; i++) dot += near ? near[i] * s.x[i] : 1;
    for (int i = 3; i < 7; i++) out[i] = dot < 0 ? -s.x[i] : s.x[i];
    vec3 arm = quat_rotate((quat){s.x[3], s.x[4], s.x[5], s.x[6]}, b->center);
    out[0] = s.x[0] + arm.x, out[1] = s.x[1] + arm.y, out[2] = s.x[2] + arm.z;
    return true;
}

static double size_of(const double *x, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

/* Derivatives by differences: the k-th of the samples over the k-th power of their distance. */
void model_kinematic_most(const abut_model *model, int body, double time, double h, kinematic_most *out) {
    const model_body *b = &model->bodies[body];
    double x[SAMPLES + 1][7], first[3], per = SAMPLES / h, scale = BETWEEN;
    *out = (kinematic_most){0};
    for (int k = 0; k <= SAMPLES; k++)
        if (!sample_place(b, time + h * k / SAMPLES, k ? x[k - 1] : NULL, x[k]))
            return; /* told when it is met */
    memcpy(first, x[0], sizeof first);
    for (int k = 1; k <= SAMPLES; k++) {
        double way[3] = {x[k][0] - first[0], x[k][1] - first[1], x[k][2] - first[2]};
        out->far = fmax(out->far, size_of(way, 3));
    }
    for (int order = 1; order < COUNT_OF(out->center); order++) {
        scale *= per;
        for (int k = 0; k + order <= SAMPLES; k++) {
            for (int i = 0; i < 7; i++) x[k][i] = x[k + 1][i] - x[k][i];
            out->center[order] = fmax(out->center[order], scale * size_of(x[k], 3));
            out->rotation[order] = fmax(out->rotation[order], scale * size_of(x[k] + 3, 4));
        }
    }
    out->far += out->center[1] / per;
}

static void at_constant_velocity(const model_body *b, double time, motion *m) {
    *m = b->start;
    m->center = vec3_axpy(b->start.center, time, b->start.velocity.linear);
    m->rotation = quat_mul(rotation_by(b->start.velocity.angular, time), b->start.rotation);
}

abut_status model_kinematic_place(const abut_model *model, int body, double time, motion *m,
                                  abut_error *error) {
    const model_body *b = &model->bodies[body];
    sample s;
    if (!b->function) return at_constant_velocity(b, time, m), ABUT_OK;
    abut_status status = ask(b, time, &s, error);
    if (status != ABUT_OK) return status;
    m->rotation = (quat){s.x[3], s.x[4], s.x[5], s.x[6]};
    m->center = vec3_add(vec3_make(s.x[0], s.x[1], s.x[2]), quat_rotate(m->rotation, b->center));
    return ABUT_OK;
}

abut_status model_kinematic_motion(const abut_model *model, int body, double time, motion *m,
                                   spatial *acceleration, abut_error *error) {
    const model_body *b = &model->bodies[body];
    if (b->function) return from_function(b, time, m, acceleration, error);
    at_constant_velocity(b, time, m);
    if (acceleration) *acceleration = (spatial){vec3_zero(), vec3_zero()};
    return ABUT_OK;
}
