/* Smooth pairs placed by contact coordinates (Kry 2000, section 4.2). */
#include "contact/rolling_kinematics.h"
#include "sim/model.h"

static abut_status half_of(const abut_model *m, int body, int patch, const double *place, rolling_half *half,
                           abut_error *error) {
    const model_body *b = &m->bodies[body];
    if (b->shape.shape.kind != ABUT_SHAPE_SURFACE)
        return fail(error, ABUT_INVALID,
                    "contact: body `%s` has no smooth surface; contact coordinates need two", b->name);
    int patches = abut_surface_patch_count(b->shape.shape.surface);
    if (patch < 0 || patch >= patches)
        return fail(error, ABUT_INVALID, "contact: body `%s` has no patch %d; it has %d", b->name, patch,
                    patches);
    abut_partials p;
    if (!abut_surface_evaluate(b->shape.shape.surface, patch, place[0], place[1], 3, &p) ||
        !rolling_half_at(&p, half))
        return fail(error, ABUT_INVALID, "contact: the surface of body `%s` is not regular at (%g, %g)",
                    b->name, place[0], place[1]);
    return ABUT_OK;
}

/* Velocity of the free body from the relative twist phi of a against b at the contact, in axes of a's contact
 * frame. */
static void set_velocity(model_body *a, model_body *b, bool a_is_free, vec3 angular, vec3 linear, vec3 at) {
    model_body *free_body = a_is_free ? a : b;
    const motion *other = a_is_free ? &b->start : &a->start;
    double sign = a_is_free ? 1 : -1;
    vec3 spin = vec3_axpy(other->velocity.angular, sign, angular);
    vec3 at_contact = vec3_axpy(motion_velocity_at(other, at), sign, linear);
    free_body->start.velocity.angular = spin;
    free_body->start.velocity.linear =
        vec3_add(at_contact, vec3_cross(spin, vec3_sub(free_body->start.center, at)));
}

abut_status model_place_rolling(abut_model *m, const abut_rolling_def *def, abut_error *error) {
    if (def->a < 0 || def->b < 0 || def->a >= m->body_count || def->b >= m->body_count || def->a == def->b)
        return fail(error, ABUT_INVALID, "contact: it needs two different bodies");
    model_body *a = &m->bodies[def->a], *b = &m->bodies[def->b];
    rolling_half one, two;
    abut_status status = half_of(m, def->a, def->patch_a, def->coordinates, &one, error);
    if (status == ABUT_OK) status = half_of(m, def->b, def->patch_b, def->coordinates + 2, &two, error);
    if (status != ABUT_OK) return status;
    if (!a->movable && !b->movable)
        return fail(error, ABUT_INVALID, "contact: one of the two bodies must be free to move");
    rolling_turn psi = {cos(def->coordinates[4]), sin(def->coordinates[4])};
    mat3 rotation;
    vec3 position;
    rolling_pose(&one, &two, psi, &rotation, &position);
    pose a_in_b = {position, quat_from_matrix(rotation)};
    pose pa = motion_pose(&a->start, a->center), pb = motion_pose(&b->start, b->center);
    if (a->movable) {
        pa = pose_mul(pb, a_in_b);
        a->start.rotation = quat_unit(pa.rotation), a->start.center = pose_point(pa, a->center);
    } else {
        pb = pose_mul(pa, pose_inverse(a_in_b));
        b->start.rotation = quat_unit(pb.rotation), b->start.center = pose_point(pb, b->center);
    }
    rolling_matrix h;
    vec3 angular, linear;
    rolling_h(&one, &two, psi, &h);
    rolling_twist(&h, def->rates, &angular, &linear);
    vec3 at = pose_point(pa, one.point);
    angular = quat_rotate(pa.rotation, mat3_mul_vec(one.frame, angular));
    linear = quat_rotate(pa.rotation, mat3_mul_vec(one.frame, linear));
    set_velocity(a, b, a->movable, angular, linear, at);
    return ABUT_OK;
}
