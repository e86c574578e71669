/* Bodies: mass properties, Newton-Euler, energy and momentum (see body.h). */
#include "dynamics/body.h"

#include "base/base.h"
#include "math/angle.h"
#include "math/eigen.h"

body_inertia body_immovable(void) { return (body_inertia){.mass = INFINITY}; }

mat3 body_tensor(const double e[6]) {
    return (mat3){{e[0], e[3], e[4]}, {e[3], e[1], e[5]}, {e[4], e[5], e[2]}};
}

mat3 body_tensor_rotate(mat3 inertia, quat q) {
    mat3 r = quat_matrix(q);
    return mat3_mul(mat3_mul(r, inertia), mat3_transpose(r));
}

/* Steiner: I + m (d.d 1 - d d^T) */
mat3 body_tensor_shift(mat3 inertia, double mass, vec3 d) {
    double dd = vec3_length2(d);
    mat3 s = mat3_sub(mat3_diagonal(dd, dd, dd), mat3_outer(d, d));
    return mat3_add(inertia, mat3_scale(s, mass));
}

static bool is_symmetric(mat3 m, double scale) {
    double worst = fmax(fabs(m.cx.y - m.cy.x), fmax(fabs(m.cx.z - m.cz.x), fabs(m.cy.z - m.cz.y)));
    return worst <= 1e-12 * scale;
}

abut_status body_inertia_make(double mass, mat3 inertia, body_inertia *out, abut_error *error) {
    *out = body_immovable();
    if (!(isfinite(mass) && mass > 0))
        return fail(error, ABUT_INVALID, "the mass is %g; give a positive number of kilograms", mass);
    double scale = fmax(vec3_max_abs(inertia.cx), fmax(vec3_max_abs(inertia.cy), vec3_max_abs(inertia.cz)));
    if (!(isfinite(scale) && is_symmetric(inertia, scale)))
        return fail(error, ABUT_INVALID,
                    "the inertia is not a symmetric matrix of finite numbers; give xx yy zz "
                    "xy xz yz in kg m^2");
    vec3 moment;
    mat3 axes;
    sym3_eigen(inertia, &moment, &axes);
    if (!(moment.x > 0))
        return fail(error, ABUT_INVALID,
                    "the smallest principal moment of inertia is %g; all three must be positive", moment.x);
    if (moment.z > (moment.x + moment.y) * (1 + 1e-6))
        return fail(
            error, ABUT_INVALID,
            "the principal moments of inertia are %g, %g, %g; no body has one that exceeds the sum of the "
            "other two",
            moment.x, moment.y, moment.z);
    /* the inverse from the principal axes keeps symmetry and full accuracy for needles */
    mat3 d = mat3_diagonal(1 / moment.x, 1 / moment.y, 1 / moment.z);
    mat3 inverse = mat3_mul(mat3_mul(axes, d), mat3_transpose(axes));
    if (inertia.cx.y == 0 && inertia.cx.z == 0 && inertia.cy.z == 0)
        inverse = mat3_diagonal(1 / inertia.cx.x, 1 / inertia.cy.y, 1 / inertia.cz.z);
    *out = (body_inertia){mass, 1 / mass, inertia, inverse};
    return ABUT_OK;
}

body_inertia body_slowed(const body_inertia *body, double linear, double angular) {
    body_inertia out = *body;
    out.mass += linear, out.inverse_mass = 1 / out.mass;
    if (!(angular > 0)) return out;
    out.inertia = mat3_add(out.inertia, mat3_diagonal(angular, angular, angular));
    out.inverse_inertia = mat3_inverse(out.inertia);
    return out;
}

static body_mass mass_of_ellipsoid(vec3 a, double density) {
    double m = density * (4.0 / 3) * ANGLE_PI * a.x * a.y * a.z;
    double xx = a.x * a.x, yy = a.y * a.y, zz = a.z * a.z;
    return (body_mass){m, {0, 0, 0}, mat3_diagonal(m / 5 * (yy + zz), m / 5 * (xx + zz), m / 5 * (xx + yy))};
}

static body_mass mass_of_cylinder(double r, double h, double density) {
    double m = density * ANGLE_PI * r * r * h, across = m / 12 * (3 * r * r + h * h);
    return (body_mass){m, {0, 0, 0}, mat3_diagonal(across, across, m / 2 * r * r)};
}

/* The cylinder between the centres, and two halves of a sphere whose centres of mass stand 3r/8 outside:
 *     across: m_s (2/5 r^2 + L^2/4 + 3/8 L r),  along: 2/5 m_s r^2 */
static body_mass mass_of_capsule(double r, double length, double density) {
    body_mass c = mass_of_cylinder(r, length, density);
    double m = density * (4.0 / 3) * ANGLE_PI * r * r * r;
    double across = m * (0.4 * r * r + length * length / 4 + 0.375 * length * r), along = 0.4 * m * r * r;
    return (body_mass){c.mass + m, {0, 0, 0}, mat3_add(c.inertia, mat3_diagonal(across, across, along))};
}

abut_status body_mass_of_shape(const abut_shape *shape, double density, body_mass *out, abut_error *error) {
    if (!(isfinite(density) && density > 0))
        return fail(error, ABUT_INVALID, "the density is %g; give a positive number of kg/m^3", density);
    double r = shape->radius;
    switch (shape->kind) {
    case ABUT_SHAPE_SPHERE: *out = mass_of_ellipsoid(vec3_make(r, r, r), density); break;
    case ABUT_SHAPE_ELLIPSOID: *out = mass_of_ellipsoid(shape->axes, density); break;
    case ABUT_SHAPE_CAPSULE: *out = mass_of_capsule(r, shape->length, density); break;
    case ABUT_SHAPE_CYLINDER: *out = mass_of_cylinder(r, shape->length, density); break;
    default:
        return fail(error, ABUT_UNSUPPORTED,
                    "a %s has no mass of its own; give mass, inertia and center, or make "
                    "the body fixed",
                    abut_shape_name(shape->kind));
    }
    if (!(isfinite(out->mass) && out->mass > 0))
        return fail(error, ABUT_INVALID, "the %s has the mass %g; its lengths must be positive",
                    abut_shape_name(shape->kind), out->mass);
    return ABUT_OK;
}

/* R D R^T v without forming the product */
static vec3 tensor_mul(mat3 tensor, quat rotation, vec3 v) {
    return quat_rotate(rotation, mat3_mul_vec(tensor, quat_unrotate(rotation, v)));
}

spatial body_apply(const body_inertia *body, quat rotation, spatial wrench) {
    if (body->inverse_mass == 0) return (spatial){{0, 0, 0}, {0, 0, 0}};
    return (spatial){vec3_scale(wrench.linear, body->inverse_mass),
                     tensor_mul(body->inverse_inertia, rotation, wrench.angular)};
}

spatial body_momentum(const body_inertia *body, quat rotation, spatial velocity) {
    if (body->inverse_mass == 0) return (spatial){{0, 0, 0}, {0, 0, 0}};
    return (spatial){vec3_scale(velocity.linear, body->mass),
                     tensor_mul(body->inertia, rotation, velocity.angular)};
}

spatial body_accelerate(const body_inertia *body, const motion *m, spatial wrench) {
    if (body->inverse_mass == 0) return (spatial){{0, 0, 0}, {0, 0, 0}};
    vec3 w = m->velocity.angular, l = tensor_mul(body->inertia, m->rotation, w);
    wrench.angular = vec3_sub(wrench.angular, vec3_cross(w, l));
    return body_apply(body, m->rotation, wrench);
}

mat3 body_inverse_inertia(const body_inertia *body, quat rotation) {
    return body_tensor_rotate(body->inverse_inertia, rotation);
}

double body_kinetic_energy(const body_inertia *body, const motion *m) {
    return spatial_dot(body_momentum(body, m->rotation, m->velocity), m->velocity) / 2;
}

vec3 body_angular_momentum(const body_inertia *body, const motion *m, vec3 about) {
    spatial p = body_momentum(body, m->rotation, m->velocity);
    return vec3_add(p.angular, vec3_cross(vec3_sub(m->center, about), p.linear));
}
