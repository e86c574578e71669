/* Bodies that move by themselves: constant velocity and spin, or a function of time. */
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

/* Weights of five samples at distance h for 12 h f' and 12 h^2 f'' at the first, the second and the third of
 * them: the derivatives of the polynomial of degree four through them. */
static const double first_weights[3][5] = {{-25, 48, -36, 16, -3}, {-3, -10, 18, -6, 1}, {1, -8, 0, 8, -1}};
static const double second_weights[3][5] = {
    {35, -104, 114, -56, 11}, {11, -20, 6, 4, -1}, {-1, 16, -30, 16, -1}};

/* Position, velocity and acceleration of the centre, and rotation, spin and its rate, from samples around the
 * time, and none before the start, where the function need not be defined; spin w = 2 q' q*, its rate 2 q''
 * q* without the scalar part. */
static abut_status from_function(const model_body *body, double time, motion *m, spatial *acceleration,
                                 abut_error *error) {
    const double h = 1e-3;
    const int at = time >= 2 * h ? 2 : time >= h ? 1 : 0;
    sample s[5];
    for (int i = 0; i < 5; i++) {
        abut_status status = ask(body, time + (i - at) * h, &s[i], error);
        if (status != ABUT_OK) return status;
        /* q and -q are the same rotation: take the one near the sample before */
        double dot = 0;
        for (int k = 3; k < 7; k++) dot += i ? s[i].x[k] * s[i - 1].x[k] : 1;
        for (int k = 3; k < 7 && dot < 0; k++) s[i].x[k] = -s[i].x[k];
    }
    double first[7] = {0}, second[7] = {0};
    for (int k = 0; k < 7; k++) {
        for (int i = 0; i < 5; i++) {
            first[k] += first_weights[at][i] * s[i].x[k];
            second[k] += second_weights[at][i] * s[i].x[k];
        }
        first[k] /= 12 * h, second[k] /= 12 * h * h;
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

abut_status model_kinematic_motion(const abut_model *model, int body, double time, motion *m,
                                   spatial *acceleration, abut_error *error) {
    const model_body *b = &model->bodies[body];
    if (b->function) return from_function(b, time, m, acceleration, error);
    *m = b->start;
    m->center = vec3_axpy(b->start.center, time, b->start.velocity.linear);
    m->rotation = quat_mul(rotation_by(b->start.velocity.angular, time), b->start.rotation);
    if (acceleration) *acceleration = (spatial){vec3_zero(), vec3_zero()};
    return ABUT_OK;
}
